//! In which locksteps, sizes and policies a mutant runs.

use gpurf_blocks::config::{
    BankPorts, Config, HrfConfig, MrfConfig, ReadOrder, Replacement, RfcConfig, Scheduler, SmConfig, StealConfig,
};

use super::{Family, Mutant, Parameters};
use crate::{COVERAGE_FROM_CYCLES, KernelInputs, LockstepJob, Project, suite};

/// A small SM and register file: mutants differ from it in a few cycles, and it builds fast.
pub(super) const CONFIG: Config = Config {
    mrf: MrfConfig { banks: 4, collectors: 4, issue_ports: 2, kilobytes: 8, tag_bits: 16, ..Config::BASELINE.mrf },
    sm: SmConfig {
        warps: 8,
        code_words: 64,
        const_kilobytes: 4,
        shared_kilobytes: 4,
        line_rows: 4,
        active_warps: 4,
        patience: 3,
        ..Config::BASELINE.sm
    },
    rfc: RfcConfig { entries: 4, live: true, bypass: true, ..Config::BASELINE.rfc },
    hrf: HrfConfig { buffer_entries: 20, load_entries: 4, gating: true, ..Config::BASELINE.hrf },
    orf: Config::BASELINE.orf,
    lrf: Config::BASELINE.lrf,
    steal: StealConfig { read: true, write: true, ..Config::BASELINE.steal },
    memory: Config::BASELINE.memory,
};

/// The parameters of a block's RTL in a configuration.
pub(super) fn parameters(block: &str, config: &Config) -> Parameters {
    let entry = gpurf_sm::find(block).expect("a block of the list");
    (entry.twin)(config).declaration().parameters.clone()
}

/// The blocks in whose lockstep a mutant runs, in order.
pub(super) fn locksteps(mutant: &Mutant) -> Vec<&str> {
    let module = mutant.module.as_str();
    let in_register_file = gpurf_sm::find("mrf").is_some_and(|mrf| mrf.contains(module));
    match (in_register_file, module) {
        (true, "mrf") | (false, _) => vec![module],
        // The netlist of the crossbar has no memory that could be filled, which its own lockstep needs.
        (true, "mrf_crossbar") if mutant.family == Family::Netlist => vec!["mrf"],
        (true, _) => vec!["mrf", module],
    }
}

/// The configurations in which a mutant of a module runs: one for each policy that the module knows.
pub fn policies(module: &str) -> Vec<Config> {
    let mut base = CONFIG;
    if module == "ram_1r1w" {
        base.mrf.ports = BankPorts::Separate;
    }
    let with = |change: &dyn Fn(&mut Config)| {
        let mut config = base;
        change(&mut config);
        config
    };
    match module {
        "two_level_scheduler" => vec![
            base,
            with(&|c| c.sm.scheduler = Scheduler::RoundRobin),
            with(&|c| c.sm.patience = 0),
            with(&|c| c.sm.stay = true),
            // Three slots a port: of two any halves are the same.
            with(&|c| (c.rfc.entries, c.steal.present, c.sm.active_warps) = (0, true, 6)),
            with(&|c| {
                (c.rfc.entries, c.steal.present, c.sm.active_warps) = (0, true, 6);
                c.sm.scheduler = Scheduler::RoundRobin;
            }),
        ],
        "rfc" | "rfc_tags" => {
            let other = |c: &mut Config| {
                let entries = c.rfc.entries;
                c.rfc = RfcConfig {
                    entries,
                    replacement: Replacement::Lru,
                    loads: true,
                    live: false,
                    bypass: false,
                    ..c.rfc
                };
            };
            let both = |c: &mut Config| c.rfc.replacement = Replacement::Lru;
            let mut all = vec![base, with(&other), with(&both)];
            if module == "rfc" {
                all.push(with(&|c| (c.rfc.lrf, c.rfc.reads) = (true, true)));
            }
            all
        }
        "rfc_lrf" => vec![base, with(&|c| c.rfc.live = false)],
        "alternating_scheduler" => vec![base, with(&|c| c.sm.patience = 0)],
        "hrf_results" => vec![base, with(&|c| c.hrf.buffer_entries = 0)],
        // Straps mean something where there is such a file.
        "hrf" => {
            let file = |c: &mut Config| (c.rfc.entries, c.hrf.stt_ram, c.mrf.kilobytes) = (0, true, 32);
            let small = |c: &mut Config| {
                file(c);
                let hrf = HrfConfig { buffer_entries: 6, load_entries: 2, powered_entries: 4, ..c.hrf };
                c.hrf = HrfConfig { write_latency: 9, read_latency: 2, ..hrf };
            };
            let none = |c: &mut Config| {
                file(c);
                c.hrf.buffer_entries = 0;
            };
            vec![with(&file), with(&small), with(&none)]
        }
        "operand_stage" => {
            let none = |c: &mut Config| (c.sm.active_warps, c.rfc.entries) = (0, 0);
            let above = |c: &mut Config| (c.rfc.lrf, c.rfc.reads) = (true, true);
            let stolen = |c: &mut Config| {
                none(c);
                c.steal.present = true;
            };
            let order = |c: &mut Config| {
                none(c);
                c.mrf.read_order = ReadOrder::RoundRobin;
            };
            vec![base, with(&none), with(&order), with(&above), with(&stolen)]
        }
        "warp_scheduler" => vec![
            base,
            with(&|c| c.sm.scheduler = Scheduler::RoundRobin),
            with(&|c| (c.rfc.entries, c.steal.present) = (0, true)),
            with(&|c| {
                (c.rfc.entries, c.steal.present, c.sm.scheduler) = (0, true, Scheduler::RoundRobin);
            }),
        ],
        // With one port a candidate is alone, and every operand of it counts.
        "steal" => vec![
            base,
            with(&|c| (c.steal.eager, c.mrf.read_order) = (true, ReadOrder::RoundRobin)),
            with(&|c| c.mrf.issue_ports = 1),
        ],
        // With two ports there is always a bus.
        "steal_dependence" | "steal_return" => vec![base, with(&|c| c.mrf.issue_ports = 1)],
        "shared_memory" => {
            vec![base, with(&|c| c.sm.shared_bandwidth = 64), with(&|c| c.sm.shared_bandwidth = 32)]
        }
        // More than 16 blocks of one warp.
        "block_launcher" => vec![
            base,
            with(&|c| {
                c.sm.warps = 24;
                c.mrf.kilobytes = 32;
            }),
        ],
        // With two ports the line table and the side queue never ask for the same bus.
        "writeback" => vec![base, with(&|c| c.mrf.issue_ports = 1)],
        _ if module.starts_with("mrf") || module.starts_with("ram_") => {
            vec![base, with(&|c| c.mrf.read_order = ReadOrder::RoundRobin)]
        }
        _ => vec![base],
    }
}

/// What the default suite runs of a block: sizes larger than those of [`policies`], so that a mutant runs there only if nothing else noticed it.
pub(super) fn of_suite(block: &str, seed: u64) -> impl Iterator<Item = LockstepJob> + '_ {
    suite::leaf_blocks(seed, COVERAGE_FROM_CYCLES).into_iter().filter(move |job| job.block == block)
}

/// Kernels on which a mutant runs in the SM, until one of them notices it.
const MACHINE_KERNELS: [&str; 4] = ["radixSort", "countBytes", "collatz", "crc32"];

/// What a mutant of a part of the SM runs on in the SM.
pub(super) fn kernels(project: &Project, seed: u64) -> Vec<LockstepJob> {
    let of = |name: &&str| suite::kernel(KernelInputs::of_project(project, name), Config::default(), seed);
    MACHINE_KERNELS.iter().map(of).collect()
}

/// What a mutant of the SM itself runs on: kernels, launches that fault, and a program of each theme, with one issue port, with two, and with each family of register files.
pub(super) fn whole_machine(project: &Project, seed: u64) -> Vec<LockstepJob> {
    let mut two = Config::default();
    two.mrf.issue_ports = 2;
    two.sm.scheduler = Scheduler::RoundRobin;
    let mut jobs = kernels(project, seed);
    jobs.extend(suite::faults(project, Config::default(), seed));
    jobs.extend(suite::programs(Config::default(), seed, suite::FEW_PROGRAMS, None));
    jobs.extend(kernels(project, seed).into_iter().map(|job| LockstepJob { config: two, ..job }));
    jobs.extend(suite::programs(two, seed, suite::FEW_PROGRAMS, None));
    for (config, kernel) in suite::families(project, seed) {
        jobs.push(kernel);
        jobs.extend(suite::programs(config, seed, suite::FEW_PROGRAMS, None));
        if config.mrf.issue_ports == 2 {
            jobs.extend(suite::faults(project, config, seed));
        }
    }
    jobs
}

/// The configurations of [`whole_machine`].
pub(super) fn machine_shapes(project: &Project) -> Vec<Config> {
    whole_machine(project, 0).into_iter().map(|job| job.config).collect()
}
