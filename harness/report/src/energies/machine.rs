//! Which events machines count, and which blocks a machine has.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use gpurf_blocks::config::{Config, presets};
use gpurf_blocks::designs::{DESIGNS, Organisation};
use gpurf_lockstep::EventTotals;

/// Every event that some machine counts.
pub fn known_events() -> &'static BTreeSet<&'static str> {
    static KNOWN: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    KNOWN.get_or_init(|| presets().flat_map(|preset| events(&preset.config)).collect())
}

/// Every event that one machine counts.
fn events(config: &Config) -> Vec<&'static str> {
    EventTotals::new((gpurf_sm::ENTRY.twin)(config).declaration()).by_name().into_keys().collect()
}

/// The modules of a machine, the SM first. For the register file these are the modules of its design, even those that a configured size leaves out.
pub fn modules(config: &Config) -> Vec<&'static str> {
    let design = Organisation::of(config).design().name;
    let twin = (gpurf_sm::ENTRY.twin)(config);
    let mut modules = vec![gpurf_sm::ENTRY.name];
    // The signals compared inside the SM name the blocks that are present.
    let inside = twin.declaration().signals.iter().filter_map(|signal| signal.field.block);
    let mut waiting: Vec<&'static str> = inside.collect();
    while let Some(name) = waiting.pop() {
        if modules.contains(&name) {
            continue;
        }
        modules.push(name);
        if let Some(entry) = gpurf_sm::find(name) {
            waiting
                .extend(entry.children.iter().copied().filter(|child| !is_design(child) || inside_of(design, child)));
            if entry.designs {
                waiting.push(design);
            }
        }
    }
    modules
}

fn is_design(name: &str) -> bool {
    DESIGNS.iter().any(|design| design.name == name)
}

/// Whether a design is `name` or has it inside: a design may contain another one.
fn inside_of(design: &str, name: &str) -> bool {
    name == design || gpurf_sm::find(design).is_some_and(|entry| entry.children.contains(&name))
}
