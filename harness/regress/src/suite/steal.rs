//! Shapes and policies of the register file whose idle banks are stolen.

use gpurf_blocks::config::{Config, ReadOrder, Scheduler, StealConfig};

use super::{Family, alone, changed};

/// The runs of the suites for this design.
pub(super) const FAMILY: Family = Family {
    design: "steal",
    kernel: "srad",
    is_own: |block| block.starts_with("steal"),
    few,
    more,
    audited,
    shrink: |c| c.steal = StealConfig { read: true, write: true, ..c.steal },
    mutated,
    // In the operand stage an older read rarely holds a result back.
    runs_whole: &["steal"],
    stretch: &[("steal", 6), ("operand_stage", 2)],
    sizes: &[],
};

/// Configurations in which mutants run.
fn mutated(block: &str, base: Config) -> Vec<Config> {
    let with = |change: &dyn Fn(&mut Config)| changed(base, change);
    let stolen = changed(alone(base), |c| c.steal = StealConfig { present: true, ..base.steal });
    match block {
        // With one port there is only one candidate, and each of its operands matters.
        "steal" => vec![
            base,
            with(&|c| (c.steal.eager, c.steal.unread, c.mrf.read_order) = (true, true, ReadOrder::RoundRobin)),
            with(&|c| (c.steal.redirect, c.steal.drop) = (true, true)),
            with(&|c| c.mrf.issue_ports = 1),
        ],
        // With two ports a bus is always available.
        "steal_dependence" | "steal_return" => vec![base, with(&|c| c.mrf.issue_ports = 1)],
        // Three slots for each port: with two, all halves are the same.
        "two_level_scheduler" => {
            let slots = changed(stolen, |c| c.sm.active_warps = 6);
            vec![slots, round_robin(slots)]
        }
        "warp_scheduler" => vec![stolen, round_robin(stolen)],
        "operand_stage" => vec![stolen],
        _ => Vec::new(),
    }
}

/// Numbers of banks: those of the paper's sweep, and fewer.
const BANKS: [usize; 4] = [4, 8, 16, 32];

/// The paper's file: eight banks, two schedulers.
fn paper() -> Config {
    FAMILY.config()
}

fn shape(banks: usize, ports: usize) -> Config {
    let mut config = paper();
    (config.mrf.banks, config.mrf.issue_ports) = (banks, ports);
    config
}

/// Few entries and few collectors: free places are rare, and the same registers are accessed again.
fn small(ports: usize) -> Config {
    let mut config = shape(4, ports);
    (config.mrf.kilobytes, config.mrf.collectors, config.sm.warps) = (16, 4, 16);
    config
}

/// The straps of the file by number: *read*, *write*, *eager*, order among reads, *unread*, *redirect*, *drop*, lowest first.
fn policy(mut config: Config, number: usize) -> Config {
    let strap = |bit: usize| number >> bit & 1 == 1;
    let (read, write, eager, unread) = (strap(0), strap(1), strap(2), strap(4));
    config.steal = StealConfig { read, write, eager, unread, redirect: strap(5), drop: strap(6), ..config.steal };
    config.mrf.read_order = if strap(3) { ReadOrder::RoundRobin } else { ReadOrder::Oldest };
    config
}

fn round_robin(mut config: Config) -> Config {
    config.sm.scheduler = Scheduler::RoundRobin;
    config
}

fn slots(mut config: Config, active: usize) -> Config {
    (config.sm.active_warps, config.sm.patience) = (active, 5);
    config
}

/// The configuration of the audit: for the whole file that of the paper, which parks values.
fn audited(block: &str) -> Option<Config> {
    (block == "steal").then(paper)
}

/// Configurations of a block in the whole suite. The straps of the arbiter are drawn by its stimulus.
fn few(block: &str) -> Vec<Config> {
    match block {
        "steal" => vec![
            policy(paper(), 0b0011),
            policy(small(2), 0b110_1011),
            policy(shape(32, 2), 0b001_0010),
            policy(shape(8, 1), 0b1001),
            policy(small(1), 0b100_0010),
            policy(shape(16, 2), 0b0101),
            policy(shape(32, 1), 0b1000),
            policy(shape(4, 2), 0b010_0111),
            // Comparisons are judged in the last configuration; that with a candidate's warp is evaluated with read stealing only.
            policy(shape(16, 1), 0b111_1111),
        ],
        "warp_scheduler" => vec![paper(), round_robin(paper()), shape(8, 1), round_robin(shape(8, 1))],
        "two_level_scheduler" => vec![
            slots(paper(), 6),
            slots(round_robin(shape(8, 1)), 8),
            changed(slots(round_robin(paper()), 6), |c| c.sm.handover = true),
            changed(slots(shape(8, 1), 8), |c| c.sm.handover = true),
        ],
        "operand_stage" => vec![policy(paper(), 0b0011), policy(small(1), 0b111_1111)],
        _ if block.starts_with("steal_") => vec![paper(), shape(16, 1), small(2)],
        _ => Vec::new(),
    }
}

/// Further configurations of the long run: every policy with every number of banks, and both numbers of issue ports with each policy and each number
/// of banks.
fn more(block: &str) -> Vec<Config> {
    let with_banks = |number: usize| BANKS.into_iter().enumerate().map(move |(b, banks)| (number, b, banks));
    match block {
        "steal" => (0..16)
            .flat_map(with_banks)
            .map(|(number, b, banks)| {
                let unread = (number ^ number >> 3) & 1;
                let (redirect, drop) = ((number ^ number >> 2) & 1, (number >> 1 ^ number >> 3) & 1);
                let shape = shape(banks, 1 + (number.count_ones() as usize + b) % 2);
                let mut config = policy(shape, number | unread << 4 | redirect << 5 | drop << 6);
                config.mrf.collectors = [4, 8, 16][(number + b) % 3];
                config
            })
            .collect(),
        _ if block.starts_with("steal_") => {
            BANKS.into_iter().flat_map(|banks| [1, 2].map(|ports| shape(banks, ports))).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Project;
    use crate::regression::{Overrides, RegressionPlan, Work};

    #[test]
    fn every_configuration_is_allowed() {
        for block in ["steal", "steal_arbiter", "warp_scheduler", "two_level_scheduler", "operand_stage"] {
            for config in few(block).into_iter().chain(more(block)) {
                let start = gpurf_blocks::config::Start::Preset("baseline");
                assert_eq!(Config::load(start, &config.settings()), Ok(config), "{block}");
            }
        }
    }

    #[test]
    fn every_strap_has_both_values_with_every_shape() {
        let straps: [fn(&Config) -> bool; 7] = [
            |c| c.steal.read,
            |c| c.steal.write,
            |c| c.steal.eager,
            |c| c.mrf.read_order == ReadOrder::RoundRobin,
            |c| c.steal.unread,
            |c| c.steal.redirect,
            |c| c.steal.drop,
        ];
        for strap in straps {
            let both = |of: &dyn Fn(&Config) -> bool, configs: &[Config]| {
                for value in [true, false] {
                    assert!(configs.iter().any(|c| of(c) && strap(c) == value));
                }
            };
            both(&|_| true, &few("steal"));
            for ports in [1, 2] {
                both(&|c| c.mrf.issue_ports == ports, &few("steal"));
                for banks in BANKS {
                    both(&|c| c.mrf.banks == banks && c.mrf.issue_ports == ports, &more("steal"));
                }
            }
        }
    }

    #[test]
    fn stealing_is_run_with_all_banks_kinds_and_policies() {
        let project = Project::find();
        let plan =
            RegressionPlan::load(&project, &project.root.join("tests/regress.toml"), "nightly", Overrides::default());
        let cases = plan.unwrap().cases;
        let configs = |of: fn(&Work) -> bool| {
            let of = cases.iter().filter(move |case| of(&case.work));
            of.map(|case| case.config().unwrap()).filter(|c| c.steal.present).collect::<Vec<Config>>()
        };
        let file = configs(|work| matches!(work, Work::Block { block, .. } if block == "steal"));
        let (kernels, programs) =
            (configs(|w| matches!(w, Work::Kernel { .. })), configs(|w| matches!(w, Work::Program { .. })));
        for banks in [4, 8, 16, 32] {
            for kind in [(true, false), (false, true), (true, true)] {
                let has = |c: &&Config| c.mrf.banks == banks && (c.steal.read, c.steal.write) == kind;
                assert!(file.iter().any(|c| has(&c)), "{banks} banks, {kind:?}");
                for of in [&kernels, &programs] {
                    let policies: BTreeSet<(bool, bool)> = of
                        .iter()
                        .filter(has)
                        .map(|c| (c.sm.active_warps > 0, c.sm.scheduler == Scheduler::RoundRobin))
                        .collect();
                    for policy in [(false, false), (false, true), (true, false)] {
                        assert!(policies.contains(&policy), "{banks} banks, {kind:?}, {policy:?}");
                    }
                }
            }
        }
    }
}
