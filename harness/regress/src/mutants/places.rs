//! The locksteps, sizes and policies in which a mutant runs.

use gpurf_blocks::config::{
    BankPorts, Config, MrfConfig, PowerMode, ReadOrder, Reference, Replacement, Scheduler, SmConfig,
};

use super::{Family, Mutant, Parameters};
use crate::{COVERAGE_FROM_CYCLES, KernelInputs, LockstepJob, Project, suite};

/// A small SM and register file: mutants show within a few cycles, and it builds fast. Designs that it does not select have small sizes too.
pub(super) fn config() -> Config {
    let base = Config::BASELINE;
    let mut small = Config {
        mrf: MrfConfig { banks: 4, collectors: 4, issue_ports: 2, kilobytes: 8, tag_bits: 16, ..base.mrf },
        sm: SmConfig {
            warps: 8,
            code_words: 64,
            const_kilobytes: 4,
            shared_kilobytes: 4,
            line_rows: 4,
            active_warps: 4,
            patience: 3,
            ..base.sm
        },
        ..base
    };
    suite::FAMILIES.iter().for_each(|family| (family.shrink)(&mut small));
    small
}

/// The parameters of a block's RTL in a configuration.
pub(super) fn parameters(block: &str, config: &Config) -> Parameters {
    let entry = gpurf_sm::find(block).expect("a block of the list");
    (entry.twin)(config).declaration().parameters.clone()
}

/// The blocks in whose lockstep a mutant runs, in this order.
pub(super) fn locksteps(mutant: &Mutant) -> Vec<&str> {
    let module = mutant.module.as_str();
    let in_register_file = gpurf_sm::find("mrf").is_some_and(|mrf| mrf.contains(module));
    match (in_register_file, module) {
        (true, "mrf") | (false, _) => vec![module],
        // The netlist of the crossbar has no memory that could be filled, but the crossbar's own lockstep needs one.
        (true, "mrf_crossbar") if mutant.family == Family::Netlist => vec!["mrf"],
        (true, _) => vec!["mrf", module],
    }
}

/// The configurations in which a mutant of a module runs: one for each policy that affects the module.
pub fn policies(module: &str) -> Vec<Config> {
    let base = config();
    let own = suite::FAMILIES.iter().find(|family| (family.is_own)(module));
    let mut all = match own {
        Some(family) => (family.mutated)(module, base),
        None => shared(module, base),
    };
    if all.is_empty() {
        all.push(base);
    }
    let others = suite::FAMILIES.iter().filter(|family| !(family.is_own)(module));
    all.extend(others.flat_map(|family| (family.mutated)(module, base)));
    all
}

/// The configuration of a module's netlist, which has one size: the small one, or, if that does not have the module, the first one that does.
pub(super) fn of_netlist(module: &str) -> Config {
    let all = policies(module);
    let small = config();
    if all.contains(&small) { small } else { all[0] }
}

/// The configurations for a module that does not belong to a design.
fn shared(module: &str, base: Config) -> Vec<Config> {
    let with = |change: &dyn Fn(&mut Config)| suite::changed(base, change);
    match module {
        "ram_1r1w" => vec![with(&|c| c.mrf.ports = BankPorts::Separate)],
        "operand_stage" => {
            let alone = suite::alone(base);
            vec![base, alone, suite::changed(alone, |c| c.mrf.read_order = ReadOrder::RoundRobin), suite::places(base)]
        }
        "cache" | "cache_tags" => {
            let unified = suite::with_policies(suite::with_unified(base));
            vec![base, with(&|c| c.cache.replacement = Replacement::Fifo), suite::with_policies(base), unified]
        }
        "cache_access" => vec![base, suite::with_unified(base)],
        "warp_scheduler" => vec![base, with(&|c| c.sm.scheduler = Scheduler::RoundRobin), suite::sharing(base)],
        "mrf" => {
            let round_robin = with(&|c| c.mrf.read_order = ReadOrder::RoundRobin);
            let unified = suite::with_unified(base);
            vec![base, round_robin, suite::places(base), unified, suite::with_separate_ports(unified)]
        }
        "unified_bank" => {
            let unified = suite::with_unified(base);
            vec![unified, suite::with_separate_ports(unified)]
        }
        "unified_shared" => {
            let unified = suite::with_unified(base);
            vec![unified, suite::with_policies(unified)]
        }
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
            suite::places(base),
            suite::with_unified(base),
        ],
        // With two ports the line table and the side queue never request the same bus.
        "writeback" => {
            let alone = suite::alone(base);
            vec![base, alone, suite::changed(alone, |c| c.mrf.issue_ports = 1)]
        }
        "power_states" => {
            let modes = [PowerMode::AlwaysOn, PowerMode::SleepAlways, PowerMode::Hints, PowerMode::Greener];
            modes.map(|mode| suite::powered(base, mode)).into()
        }
        "access_table" => [1, 2, 3].map(|entries| suite::tabled(base, entries)).into(),
        // Short periods first: only upper bits of the counts need long ones.
        "address_unit" => vec![base, suite::scratchpad(base)],
        "share_throttle" => {
            let external = suite::compared(base, 16, Reference::External);
            vec![base, external, suite::compared(base, 16, Reference::Held), suite::throttled(base, 65_535)]
        }
        _ if module.starts_with("mrf") || module.starts_with("ram_") => {
            vec![base, with(&|c| c.mrf.read_order = ReadOrder::RoundRobin)]
        }
        _ => vec![base],
    }
}

/// All runs of a block in the whole suite: their sizes are larger than those of [`policies`], so a mutant runs there only if it was not detected before.
pub(super) fn of_suite(block: &str, seed: u64) -> impl Iterator<Item = LockstepJob> + '_ {
    suite::leaf_blocks(seed, COVERAGE_FROM_CYCLES).into_iter().filter(move |job| job.block == block)
}

/// Kernels on which a mutant runs in the SM, until one of them detects it.
const MACHINE_KERNELS: [&str; 4] = ["radixSort", "countBytes", "collatz", "crc32"];

/// Runs in the SM for a mutant of a part of the SM.
pub(super) fn kernels(project: &Project, seed: u64) -> Vec<LockstepJob> {
    let of = |name: &&str| suite::kernel(KernelInputs::of_project(project, name), Config::default(), seed);
    MACHINE_KERNELS.iter().map(of).collect()
}

/// Runs for a mutant of the SM itself: kernels, launches that fault, and a program of each theme, with one issue port, with two, and with each family of register files.
pub(super) fn whole_machine(project: &Project, seed: u64) -> Vec<LockstepJob> {
    let mut two = Config::default();
    two.mrf.issue_ports = 2;
    two.sm.scheduler = Scheduler::RoundRobin;
    let mut jobs = kernels(project, seed);
    jobs.extend(suite::faults(project, Config::default(), seed));
    jobs.push(suite::clocks(project, Config::default(), seed));
    jobs.extend(suite::few_programs(Config::default(), seed));
    jobs.extend(kernels(project, seed).into_iter().map(|job| LockstepJob { config: two, ..job }));
    jobs.extend(suite::few_programs(two, seed));
    for family in suite::FAMILIES {
        let config = family.config();
        jobs.push(family.job(project, seed));
        jobs.extend(suite::few_programs(config, seed));
        if config.mrf.issue_ports == 2 {
            jobs.extend(suite::faults(project, config, seed));
        }
    }
    for config in suite::services() {
        let jobs_there = kernels(project, seed).into_iter().map(|job| LockstepJob { config, ..job });
        jobs.extend(suite::fitting(jobs_there.collect()));
        jobs.extend(suite::few_programs(config, seed));
    }
    jobs
}

/// The configurations of [`whole_machine`].
pub(super) fn machine_shapes(project: &Project) -> Vec<Config> {
    whole_machine(project, 0).into_iter().map(|job| job.config).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::Change;

    /// A mutant without any run would count as one that survives.
    #[test]
    fn every_netlist_runs_in_some_lockstep() {
        let mut others = Vec::new();
        for entry in gpurf_sm::all().filter(|entry| entry.name != gpurf_sm::ENTRY.name) {
            let mutant = Mutant {
                module: entry.name.to_owned(),
                name: String::new(),
                family: Family::Netlist,
                operator: None,
                equivalent: None,
                readers: Vec::new(),
                change: Change::Netlist { folder: Default::default(), select: 1 },
            };
            let size = of_netlist(entry.name);
            let runs = |block: &&str| {
                policies(entry.name).iter().any(|policy| parameters(block, policy) == parameters(block, &size))
            };
            assert!(locksteps(&mutant).iter().any(runs), "{}", entry.name);
            if size != config() {
                others.push(entry.name);
            }
        }
        assert!(others.contains(&"unified_bank"), "{others:?}");
    }
}
