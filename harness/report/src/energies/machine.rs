//! Which events can be counted, and which blocks a machine has.

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

/// Those of one machine.
fn events(config: &Config) -> Vec<&'static str> {
    EventTotals::new((gpurf_sm::ENTRY.twin)(config).declaration()).by_name().into_keys().collect()
}

/// The modules that a machine is made of, the SM first: of its register file those of its design, whether or not a size leaves one of them out.
pub fn modules(config: &Config) -> Vec<&'static str> {
    let design = Organisation::of(config).design().name;
    let twin = (gpurf_sm::ENTRY.twin)(config);
    let mut modules = vec![gpurf_sm::ENTRY.name];
    // What is compared inside the SM says which of its blocks are there.
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

/// A design may have another one inside it.
fn inside_of(design: &str, name: &str) -> bool {
    name == design || gpurf_sm::find(design).is_some_and(|entry| entry.children.contains(&name))
}
