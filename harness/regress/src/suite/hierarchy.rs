//! Shapes of the register hierarchy that software manages.

use gpurf_blocks::config::{BankPorts, Config, ReadOrder};
use gpurf_isa::LastResultFile;

use super::{Family, Sweep, two_ports, with_unified};

/// The runs of the suites for this design.
pub(super) const FAMILY: Family = Family {
    design: "hierarchy",
    kernel: "scan",
    is_own: |block| block.starts_with("hierarchy"),
    few,
    more,
    audited: |_| None,
    shrink: |_| {},
    mutated: |_, _| Vec::new(),
    runs_whole: &[],
    stretch: &[("hierarchy", 3)],
    sizes: &[Sweep { preset: "lrf-orf-split", key: "orf.entries", values: &[1, 2, 4, 8] }],
};

/// A hierarchy with this number of ORF entries and this kind of LRF, with one issue port as in the thesis.
fn one(entries: usize, banks: LastResultFile) -> Config {
    let mut config = FAMILY.config();
    (config.orf.entries, config.lrf.banks) = (entries, banks);
    config
}

/// The same with two issue ports, and a number of slots that is no power of two.
fn two(entries: usize, banks: LastResultFile) -> Config {
    let mut config = two_ports(one(entries, banks));
    (config.mrf.read_order, config.sm.active_warps) = (ReadOrder::RoundRobin, 6);
    config
}

/// Configurations of a block in the whole suite: every kind of LRF, as many entries as their indices allow and fewer, one issue port and two.
/// Comparisons are judged in the last configuration, so the one with a single entry is not the last.
fn few(block: &str) -> Vec<Config> {
    match block {
        "hierarchy" => vec![
            one(3, LastResultFile::Split),
            with_unified(one(3, LastResultFile::Split)),
            two(8, LastResultFile::Unified),
            with_unified(two(8, LastResultFile::Unified)),
            one(1, LastResultFile::None),
            two(5, LastResultFile::Split),
        ],
        "hierarchy_entries" => {
            vec![
                one(3, LastResultFile::Split),
                two(8, LastResultFile::Unified),
                one(1, LastResultFile::None),
                two(5, LastResultFile::Split),
            ]
        }
        "hierarchy_levels" => {
            vec![one(3, LastResultFile::Split), one(1, LastResultFile::None), one(8, LastResultFile::Unified)]
        }
        "hierarchy_scoreboard" | "hierarchy_data" => {
            vec![one(3, LastResultFile::Split), one(1, LastResultFile::None), two(8, LastResultFile::Unified)]
        }
        // The other blocks do not depend on entries and LRF.
        _ if block.starts_with("hierarchy_") => vec![one(3, LastResultFile::Split), two(3, LastResultFile::Split)],
        _ => Vec::new(),
    }
}

/// Further configurations of the long run: numbers of entries with each kind of LRF and each number of issue ports.
fn more(block: &str) -> Vec<Config> {
    if !block.starts_with("hierarchy") {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (e, entries) in [1, 2, 3, 5, 6, 8].into_iter().enumerate() {
        for (l, banks) in [LastResultFile::None, LastResultFile::Unified, LastResultFile::Split].into_iter().enumerate()
        {
            let mut config = if (e + l) % 2 == 0 { one(entries, banks) } else { two(entries, banks) };
            config.sm.active_warps = [4, 8, 32][(e + 2 * l) % 3];
            config.mrf.ports = [BankPorts::Separate, BankPorts::Shared][(e / 2 + l) % 2];
            all.push(config);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpurf_blocks::config::Start;

    #[test]
    fn every_configuration_is_allowed() {
        let blocks = gpurf_blocks::hierarchy::BLOCKS.iter().map(|entry| entry.name);
        for config in blocks.flat_map(|block| few(block).into_iter().chain(more(block))) {
            assert_eq!(Config::load(Start::Preset("baseline"), &config.settings()), Ok(config));
        }
    }

    #[test]
    fn the_long_run_has_every_pair() {
        let configs = more("hierarchy");
        let has = |of: &dyn Fn(&Config) -> bool| assert!(configs.iter().any(of));
        for entries in [1, 2, 3, 5, 6, 8] {
            for banks in [LastResultFile::None, LastResultFile::Unified, LastResultFile::Split] {
                has(&|c| c.orf.entries == entries && c.lrf.banks == banks);
            }
            for ports in [1, 2] {
                has(&|c| c.orf.entries == entries && c.mrf.issue_ports == ports);
            }
        }
    }
}
