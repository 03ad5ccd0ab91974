//! The streaming multiprocessor: the twins of `gpurf-blocks`, composed as `rtl/sm/sm.sv` composes the modules.
//!
//! [`Sm`] is a block like any other: the same ports, a record for each cycle, memories. What is compared inside it follows from its blocks: all
//! their outputs, as the nets of the RTL, and the registers that no output shows. It is written from `docs/blocks/sm.md`.

mod nets;
mod ports;
mod sm;

pub use nets::{Outputs, SmProbe, States};
pub use ports::{SM_EVENT, SmIn, SmOut};
pub use sm::Sm;

use gpurf_blocks::registry;
pub use gpurf_blocks::registry::Entry;

/// The SM in the form in which the other blocks are listed.
pub const ENTRY: Entry = Entry {
    packages: &["execute/fp_pkg", "execute/sfu_tables_pkg"],
    ..registry::entry::<Sm>("sm/sm", "the streaming multiprocessor", &[])
};

/// The block of that name, the SM included.
pub fn find(name: &str) -> Option<&'static Entry> {
    if name == ENTRY.name { Some(&ENTRY) } else { registry::find(name) }
}

/// Every block, leaves first, the SM last.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    registry::blocks().chain(std::iter::once(&ENTRY))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use gpurf_blocks::Role;
    use gpurf_blocks::config::{Config, Start};

    use super::ENTRY;

    #[test]
    fn every_signal_has_a_name_of_its_own_and_its_valid() {
        let settings = ["mrf.issue_ports=2", "sm.warps=48"];
        let shapes = [
            ("baseline", &[][..]),
            ("baseline", &settings),
            ("two-level", &settings),
            ("rfc", &[]),
            ("rfc", &settings),
            ("rfc-hw3", &settings),
            ("rfc-hw3", &["rfc.reads=true"]),
            ("hrf", &[]),
            ("stt-only", &[]),
            ("hrf-sram", &[]),
            ("orf", &settings),
            ("lrf-orf-split", &[]),
            ("steal-8", &[]),
            ("steal-8", &["mrf.issue_ports=1", "sm.active_warps=8"]),
        ];
        for (preset, settings) in shapes {
            let config = Config::load(Start::Preset(preset), settings).expect("a configuration");
            // Making the declaration checks the valids.
            let twin = (ENTRY.twin)(&config);
            let signals = &twin.declaration().signals;
            let names: BTreeSet<&str> = signals.iter().map(|s| s.field.name).collect();
            assert_eq!(names.len(), signals.len());
            assert!(signals.iter().filter(|s| s.role == Role::Probe).count() > 300);
        }
    }
}
