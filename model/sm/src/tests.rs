//! Declarations of the SM.

use std::collections::BTreeSet;

use gpurf_blocks::Role;
use gpurf_blocks::config::{Config, Start, presets};

use super::ENTRY;

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
