//! Shapes and policies of the two-level scheduler and of the register file cache.

use gpurf_blocks::config::{BankPorts, Config, PowerMode, ReadOrder, Replacement, RfcConfig, Scheduler, preset};
use gpurf_blocks::sizes::MAX_WARPS;

use super::{Family, Sweep, changed, powered, two_ports, with_unified};

/// The runs of the suites for this design.
pub(super) const FAMILY: Family = Family {
    design: "rfc",
    kernel: "needle",
    is_own: |block| block.starts_with("rfc") || block == "two_level_scheduler",
    few,
    more,
    audited: |_| None,
    shrink: |c| c.rfc = RfcConfig { entries: 4, live: true, bypass: true, ..c.rfc },
    mutated,
    runs_whole: &[],
    stretch: &[("two_level_scheduler", 3), ("rfc_tags", 3), ("rfc_lrf", 3), ("rfc", 6), ("rfc_power", 2)],
    sizes: &[Sweep { preset: "rfc", key: "rfc.entries", values: &[1, 2, 4, 8, 16] }],
};

/// A cache with one issue port, as the RFC paper has it.
fn one() -> Config {
    preset("rfc").expect("a preset").config
}

/// A cache with two issue ports, and slots that are no power of two.
fn two() -> Config {
    let mut config = two_ports(one());
    (config.sm.active_warps, config.rfc.entries) = (6, 4);
    config
}

/// The straps of the cache by number: *live*, LRU, *bypass*, *loads*, order among reads, *release*, *prompt*, lowest first.
fn cache_policy(mut config: Config, number: usize) -> Config {
    let strap = |bit: usize| number >> bit & 1 == 1;
    config.rfc.live = strap(0);
    config.rfc.replacement = if strap(1) { Replacement::Lru } else { Replacement::Fifo };
    (config.rfc.bypass, config.rfc.loads) = (strap(2), strap(3));
    config.mrf.read_order = if strap(4) { ReadOrder::RoundRobin } else { ReadOrder::Oldest };
    (config.rfc.release, config.rfc.prompt) = (strap(5), strap(6));
    config
}

/// With or without an LRF above the cache, and with or without reads that allocate.
fn levels(mut config: Config, lrf: bool, reads: bool) -> Config {
    (config.rfc.lrf, config.rfc.reads) = (lrf, reads);
    config
}

/// Gives the words of the main register file power states, for the maximum number of warps.
fn states(config: Config, mode: PowerMode) -> Config {
    changed(powered(config, mode), |c| c.sm.warps = MAX_WARPS)
}

fn scheduler_policy(mut config: Config, scheduler: Scheduler, stay: bool, patience: usize) -> Config {
    config.sm.scheduler = scheduler;
    (config.sm.stay, config.sm.patience) = (stay, patience);
    config
}

fn entries(mut config: Config, entries: usize) -> Config {
    config.rfc.entries = entries;
    config
}

/// Configurations in which mutants run: the small configuration has a cache.
fn mutated(block: &str, base: Config) -> Vec<Config> {
    let with = |change: &dyn Fn(&mut Config)| changed(base, change);
    let others = || {
        let other = |c: &mut Config| {
            let rfc = RfcConfig { replacement: Replacement::Lru, loads: true, prompt: true, ..c.rfc };
            c.rfc = RfcConfig { live: false, bypass: false, ..rfc };
        };
        let paper = |c: &mut Config| (c.rfc.release, c.rfc.prompt) = (true, true);
        vec![base, with(&other), with(&|c| c.rfc.replacement = Replacement::Lru), with(&paper)]
    };
    let above = || with(&|c| (c.rfc.lrf, c.rfc.reads) = (true, true));
    match block {
        "two_level_scheduler" => vec![
            base,
            with(&|c| c.sm.scheduler = Scheduler::RoundRobin),
            with(&|c| c.sm.patience = 0),
            with(&|c| c.sm.stay = true),
            handed(base),
        ],
        "rfc" => others().into_iter().chain([above(), states(base, PowerMode::Greener)]).collect(),
        "rfc_tags" => others(),
        "rfc_results" => vec![base, with(&|c| c.rfc.release = true)],
        "rfc_evictions" => vec![base, with(&|c| c.rfc.prompt = true)],
        "rfc_lrf" => vec![base, with(&|c| c.rfc.live = false)],
        "rfc_power" => vec![powered(base, PowerMode::Greener), powered(base, PowerMode::Hints)],
        "operand_stage" => vec![above()],
        _ => Vec::new(),
    }
}

/// The two-level scheduler with handover of slots, above a register file that keeps nothing for a slot.
fn handed(config: Config) -> Config {
    let base = preset("two-level").expect("a preset").config;
    let mut sm = config.sm;
    sm.handover = true;
    Config { mrf: config.mrf, sm, ..base }
}

/// Configurations of a block in the whole suite: few shapes, and policies so that every strap has both values.
fn few(block: &str) -> Vec<Config> {
    let (greedy, round_robin) = (Scheduler::GreedyThenOldest, Scheduler::RoundRobin);
    match block {
        "two_level_scheduler" => vec![
            scheduler_policy(one(), greedy, false, 2048),
            scheduler_policy(one(), round_robin, false, 3),
            scheduler_policy(two(), greedy, true, 0),
            scheduler_policy(two(), round_robin, false, 0),
            handed(scheduler_policy(two(), greedy, false, 3)),
            handed(scheduler_policy(one(), round_robin, true, 0)),
            scheduler_policy(two(), greedy, false, 4095),
        ],
        // One entry for each slot, and a number of entries that is no power of two. The former is not the last configuration, because comparisons are
        // judged there.
        "rfc_tags" => vec![
            cache_policy(one(), 0b0000),
            cache_policy(one(), 0b0011),
            cache_policy(two(), 0b0001),
            cache_policy(entries(two(), 1), 0b0001),
            cache_policy(two(), 0b0010),
            cache_policy(one(), 0b100_0001),
            cache_policy(two(), 0b100_0010),
        ],
        "rfc" => vec![
            cache_policy(one(), 0b0_0000),
            cache_policy(one(), 0b1_1111),
            cache_policy(two(), 0b0_0101),
            cache_policy(two(), 0b1_1010),
            cache_policy(entries(two(), 1), 0b0_0111),
            cache_policy(one(), 0b110_0001),
            cache_policy(two(), 0b010_0000),
            levels(cache_policy(two(), 0b110_0011), true, true),
            levels(cache_policy(one(), 0b0_0001), true, false),
            levels(cache_policy(two(), 0b1_0100), false, true),
            levels(cache_policy(two(), 0b0_1011), true, true),
            with_unified(cache_policy(one(), 0b0_0001)),
            with_unified(levels(cache_policy(two(), 0b1_0010), true, true)),
            states(cache_policy(one(), 0b0_0001), PowerMode::Hints),
            states(levels(cache_policy(two(), 0b0_0001), true, true), PowerMode::Greener),
            states(cache_policy(two(), 0b1_0001), PowerMode::Greener),
        ],
        "rfc_power" => vec![
            states(one(), PowerMode::Hints),
            powered(one(), PowerMode::Greener),
            states(two(), PowerMode::AlwaysOn),
            changed(powered(two(), PowerMode::Hints), |c| c.sm.warps = 8),
            states(two(), PowerMode::Greener),
        ],
        // Numbers of slots that are a power of two, and that are not.
        "rfc_lrf" => vec![cache_policy(one(), 0b0001), cache_policy(two(), 0b0000), cache_policy(two(), 0b0001)],
        "rfc_evictions" => vec![one(), two(), cache_policy(one(), 0b100_0000), cache_policy(two(), 0b100_0000)],
        "rfc_results" => vec![one(), two(), cache_policy(one(), 0b010_0000), cache_policy(two(), 0b010_0000)],
        _ if block.starts_with("rfc_") || block == "writeback" => vec![one(), two()],
        "operand_stage" => vec![
            cache_policy(one(), 0b0_0110),
            cache_policy(two(), 0b1_1001),
            cache_policy(two(), 0b0_0111),
            cache_policy(one(), 0b110_0001),
            levels(cache_policy(one(), 0b0_0001), true, false),
            with_unified(cache_policy(one(), 0b0_0001)),
            levels(cache_policy(two(), 0b0_0001), true, true),
            states(cache_policy(two(), 0b0_0001), PowerMode::Greener),
        ],
        _ => Vec::new(),
    }
}

/// Further configurations of the long run: entries and slots in every pair, issue ports and kinds of bank with each of them.
fn more(block: &str) -> Vec<Config> {
    let (greedy, round_robin) = (Scheduler::GreedyThenOldest, Scheduler::RoundRobin);
    let mut all = Vec::new();
    match block {
        "two_level_scheduler" => {
            for (number, active) in [2, 4, 6, 8, 16, 32, 48].into_iter().enumerate() {
                for (base, scheduler) in [(one(), greedy), (two(), round_robin)] {
                    let mut config = scheduler_policy(base, scheduler, number % 3 == 2, [1, 5, 40][number % 3]);
                    config.sm.active_warps = active;
                    config.sm.warps = if active <= 8 { 8 } else { 48 };
                    all.push(config);
                }
            }
        }
        _ if block.starts_with("rfc") || ["front_operands", "operand_stage"].contains(&block) => {
            for (e, entries) in [1, 4, 6, 8, 13, 16].into_iter().enumerate() {
                for (a, active) in [4, 8, 32].into_iter().enumerate() {
                    let mut config = if (e + a) % 2 == 0 { one() } else { two() };
                    (config.sm.active_warps, config.rfc.entries) = (active, entries);
                    config.mrf.ports = [BankPorts::Separate, BankPorts::Shared][(e / 2 + a) % 2];
                    let (number, above) = (3 * e + a, (3 * e + a) / 2 % 4);
                    all.push(levels(cache_policy(config, 5 * number + 1), above & 1 == 1, above & 2 == 2));
                }
            }
        }
        _ => {}
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: [&str; 2] = ["rfc", "rfc_tags"];

    #[test]
    fn every_configuration_is_allowed() {
        for block in ["two_level_scheduler", "rfc", "operand_stage"] {
            for config in few(block).into_iter().chain(more(block)) {
                let start = gpurf_blocks::config::Start::Preset("baseline");
                assert_eq!(Config::load(start, &config.settings()), Ok(config), "{block}");
            }
        }
    }

    #[test]
    fn every_strap_of_the_cache_has_both_values() {
        for block in BLOCKS {
            for configs in [few(block), more(block)] {
                let straps = |of: &dyn Fn(&Config) -> bool| configs.iter().any(of) && !configs.iter().all(of);
                assert!(straps(&|c| c.rfc.live) && straps(&|c| c.rfc.replacement == Replacement::Lru), "{block}");
            }
        }
        for configs in [few("rfc"), more("rfc")] {
            let straps = |of: &dyn Fn(&Config) -> bool| configs.iter().any(of) && !configs.iter().all(of);
            assert!(straps(&|c| c.rfc.bypass) && straps(&|c| c.rfc.loads));
            assert!(straps(&|c| c.rfc.release) && straps(&|c| c.rfc.prompt));
            assert!(straps(&|c| c.mrf.read_order == ReadOrder::Oldest));
            assert!(straps(&|c| c.rfc.lrf) && straps(&|c| c.rfc.reads));
        }
    }

    #[test]
    fn the_long_run_has_every_pair() {
        let configs = more("rfc");
        let has = |of: &dyn Fn(&Config) -> bool| assert!(configs.iter().any(of));
        for ports in [1, 2] {
            for kind in [BankPorts::Shared, BankPorts::Separate] {
                has(&|c| c.mrf.issue_ports == ports && c.mrf.ports == kind);
                for above in [true, false] {
                    has(&|c| c.mrf.issue_ports == ports && c.rfc.lrf == above);
                    has(&|c| c.mrf.issue_ports == ports && c.rfc.reads == above);
                }
                for entries in [1, 4, 6, 8, 13, 16] {
                    has(&|c| c.mrf.issue_ports == ports && c.rfc.entries == entries);
                    has(&|c| c.mrf.ports == kind && c.rfc.entries == entries);
                }
                for active in [4, 8, 32] {
                    has(&|c| c.mrf.issue_ports == ports && c.sm.active_warps == active);
                    has(&|c| c.mrf.ports == kind && c.sm.active_warps == active);
                }
            }
        }
    }
}
