//! Declarations of the SM, and the descriptions of every block's signals.

use std::collections::BTreeSet;

use gpurf_blocks::Role;
use gpurf_blocks::config::{Config, Start, presets};

use super::{ENTRY, all};

mod rfc;

/// Every signal has a name of its own. Making the declaration checks the valids.
fn check(config: &Config) {
    let twin = (ENTRY.twin)(config);
    let signals = &twin.declaration().signals;
    let names: BTreeSet<&str> = signals.iter().map(|s| s.field.name).collect();
    assert_eq!(names.len(), signals.len(), "{:?}", config.settings());
    assert!(signals.iter().filter(|s| s.role == Role::Probe).count() > 300);
}

#[test]
fn every_signal_has_a_name_of_its_own_and_its_valid() {
    let mut checked = 0;
    for preset in presets() {
        let changes: [&[&str]; 3] =
            [&[], &["mrf.issue_ports=2", "sm.warps=48"], &["mrf.issue_ports=1", "sm.active_warps=8"]];
        // Some designs refuse a number of ports or of slots.
        let allowed = changes.iter().filter_map(|settings| Config::load(Start::Preset(preset.name), settings).ok());
        checked += allowed.inspect(check).count();
    }
    assert!(checked > 2 * presets().count(), "{checked}");
}

/// Beginnings of a description that speaks of the declaration above it, or that does not say what the signal is.
const DEPENDENT: &str = "It, Its, They, Them, Their, These, Those, This, That, Which, What, Who, Whose, Where, When, Why, How, So, And, Ones, \
                         Likewise, With, Without, The same, The other, The others, Of it, Of this, Of these, Of which, In it, In this, \
                         In these, In which, On this, To this, From this, From which, From here, From there, For which, By which, By whom";

/// Why a reader who sees nothing but the description of a signal would not understand it.
fn fault_of_description(doc: &str) -> Option<&'static str> {
    let begins = |words: &str| {
        let rest = doc.strip_prefix(words);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_'))
    };
    if doc.is_empty() {
        Some("empty")
    } else if !doc.ends_with('.') {
        Some("no full stop")
    } else if !doc.contains(' ') {
        Some("one word")
    } else if DEPENDENT.split(", ").any(begins) {
        Some("no subject of its own")
    } else if [" does.", " is.", "'s."].iter().any(|end| doc.ends_with(end)) {
        Some("no end of its own")
    } else {
        None
    }
}

/// A report on a difference prints the description of one signal, without those around it.
#[test]
fn every_description_of_a_signal_stands_alone() {
    let mut faults = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for preset in presets() {
        for settings in [&[] as &[&str], &["mrf.issue_ports=2"]] {
            let Ok(config) = Config::load(Start::Preset(preset.name), settings) else { continue };
            for block in all() {
                let twin = (block.twin)(&config);
                for signal in &twin.declaration().signals {
                    let field = &signal.field;
                    seen.insert((block.name, field.name));
                    if let Some(fault) = fault_of_description(field.doc) {
                        faults.insert(format!("{} {}: {fault}: {:?}", block.name, field.name, field.doc));
                    }
                }
            }
        }
    }
    assert!(seen.len() > 2000, "{}", seen.len());
    let list: Vec<&str> = faults.iter().map(String::as_str).collect();
    assert!(list.is_empty(), "{} descriptions:\n{}", list.len(), list.join("\n"));
}

#[test]
fn a_description_that_does_not_stand_alone_is_found() {
    for doc in [
        "",
        "Its warp.",
        "Which.",
        "It.",
        "Without write-back.",
        "Warp.",
        "The same.",
        "A warp begins",
        "An eviction is.",
    ] {
        assert!(fault_of_description(doc).is_some(), "{doc}");
    }
    for doc in ["Warp of the result.", "Itself a warp.", "Number in its block of the warp.", "The sample of a lane."] {
        assert_eq!(fault_of_description(doc), None, "{doc}");
    }
}
