//! Lists of lockstep jobs.

use std::sync::Arc;

use gpurf_blocks::config::{
    Allocation, BankPorts, CheckRule, Config, Gather, LockRule, MemoryPorts, MrfConfig, PowerMode, ReadOrder,
    Reference, Replacement, Schedule, Scheduler, SharedResource, SmConfig, preset, presets,
};
use gpurf_blocks::designs::DESIGNS;
use gpurf_blocks::registry;

use gpurf_stimulus::program::{Weights, themes};

use crate::{COVERAGE_FROM_CYCLES, Inputs, KernelInputs, LockstepJob, ProgramInputs, Project};

/// The runs of the suites for a design besides the main register file, declared in a file with the design's name.
pub(crate) struct Family {
    /// Name of the design. Its main preset is a build of the SM.
    design: &'static str,
    /// The kernel on which mutants of the SM itself run with this design.
    kernel: &'static str,
    /// Whether a block is run in the family's configurations only.
    pub(crate) is_own: fn(&str) -> bool,
    /// Configurations of a block in the whole suite; blocks outside the design may have some as well.
    few: fn(&str) -> Vec<Config>,
    /// Further configurations in the long runs.
    more: fn(&str) -> Vec<Config>,
    /// The configuration in which the audit inverts the registers of a block, if it is not the default.
    audited: fn(&str) -> Option<Config>,
    /// Selects the design in the small configuration of mutants, if it is the one that they have, and makes its sizes small.
    pub(crate) shrink: fn(&mut Config),
    /// Configurations in which mutants of a block run, derived from that small one: all of them for a block of the family, further ones for another
    /// block.
    pub(crate) mutated: fn(&str, Config) -> Vec<Config>,
    /// Blocks that run whole in the default suite too: mistakes in them have been found late.
    runs_whole: &'static [&'static str],
    /// How many times longer than others these blocks are run.
    stretch: &'static [(&'static str, u64)],
    /// Sizes of the design with which the cost of a cycle is measured.
    sizes: &'static [Sweep],
}

/// A size of the SM, and values of it from small to large.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// The preset that has it.
    pub preset: &'static str,
    /// Its key.
    pub key: &'static str,
    /// Its values.
    pub values: &'static [usize],
}

/// The sizes of all designs.
pub(crate) fn sizes() -> impl Iterator<Item = &'static Sweep> {
    FAMILIES.iter().flat_map(|family| family.sizes)
}

impl Family {
    /// The configuration of its main preset.
    pub(crate) fn config(&self) -> Config {
        DESIGNS.iter().find(|design| design.name == self.design).expect("a design").config()
    }

    /// The job of its kernel in that configuration.
    pub(crate) fn job(&self, project: &Project, seed: u64) -> LockstepJob {
        kernel(KernelInputs::of_project(project, self.kernel), self.config(), seed)
    }
}

macro_rules! designs {
    ($($design:ident)+) => {
        $(mod $design;)+

        /// The families, design by design.
        pub(crate) const FAMILIES: &[Family] = &[$($design::FAMILY),+];
    };
}

gpurf_blocks::each_design!(designs);

/// A copy of a configuration with a change.
pub(crate) fn changed(mut config: Config, change: impl Fn(&mut Config)) -> Config {
    change(&mut config);
    config
}

/// Two issue ports, single-ported banks with as many entries as the baseline's, 48 warps.
pub(crate) fn two_ports(mut config: Config) -> Config {
    let kilobytes = config.mrf.kilobytes / 4;
    config.mrf =
        MrfConfig { banks: 4, ports: BankPorts::Shared, collectors: 4, issue_ports: 2, kilobytes, ..config.mrf };
    config.sm.warps = 48;
    config
}

/// A configuration without slots, and with the main register file alone.
pub(crate) fn alone(config: Config) -> Config {
    let Config { mrf, sm, memory, .. } = config;
    Config { mrf, sm: SmConfig { active_warps: 0, ..sm }, memory, ..Config::BASELINE }
}

/// Registers with power states.
pub(crate) fn powered(mut config: Config, mode: PowerMode) -> Config {
    (config.power.present, config.power.mode, config.compiler.power_threshold) = (true, mode, 3);
    config
}

/// Registers with power states, and a table of accesses with `entries` entries for each warp.
pub(crate) fn tabled(config: Config, entries: usize) -> Config {
    changed(powered(config, PowerMode::Greener), |c| c.power.table_entries = entries)
}

/// Registers that are allocated one by one.
pub(crate) fn places(config: Config) -> Config {
    changed(alone(config), |c| c.mrf.allocation = Allocation::Registers)
}

/// As [`places`], with blocks that share registers.
pub(crate) fn sharing(config: Config) -> Config {
    changed(places(config), |c| c.share.present = true)
}

/// Registers that are allocated one by one, and blocks that share scratchpad memory.
pub(crate) fn scratchpad(config: Config) -> Config {
    changed(sharing(config), |c| c.share.resource = SharedResource::Scratchpad)
}

/// Blocks that share registers, with throttled non-owners; `period`: the cycles of a period.
pub(crate) fn throttled(config: Config, period: usize) -> Config {
    changed(sharing(config), |c| c.share.throttle = period)
}

/// As [`throttled`], with another reference of the throttle.
pub(crate) fn compared(config: Config, period: usize, reference: Reference) -> Config {
    changed(throttled(config, period), |c| c.share.reference = reference)
}

/// The 60 parameter sets of the register file: banks, kind of port, collectors, issue ports; 128 KB each.
pub fn all_shapes() -> Vec<MrfConfig> {
    let mut shapes = Vec::new();
    for banks in [2, 4, 8, 16, 32] {
        for ports in [BankPorts::Shared, BankPorts::Separate] {
            for collectors in [4, 8, 16] {
                for issue_ports in [1, 2] {
                    shapes.push(MrfConfig { banks, ports, collectors, issue_ports, ..Config::default().mrf });
                }
            }
        }
    }
    shapes
}

/// A choice of these 60 in which every pair of values of two parameters occurs.
pub fn pairwise_shapes() -> Vec<MrfConfig> {
    fn pairs(s: &MrfConfig) -> [(u8, usize, usize); 6] {
        let v = [s.banks, s.ports as usize, s.collectors, s.issue_ports];
        let pair = |i: usize, j: usize| ((4 * i + j) as u8, v[i], v[j]);
        [pair(0, 1), pair(0, 2), pair(0, 3), pair(1, 2), pair(1, 3), pair(2, 3)]
    }
    let all = all_shapes();
    let mut open: std::collections::BTreeSet<_> = all.iter().flat_map(pairs).collect();
    let mut chosen = Vec::new();
    // Greedy: takes the shape that covers the most remaining pairs; of equals the first.
    while !open.is_empty() {
        let gain = |s: &MrfConfig| pairs(s).iter().filter(|p| open.contains(*p)).count();
        let best = *all.iter().rev().max_by_key(|s| gain(s)).expect("there are shapes");
        for pair in pairs(&best) {
            open.remove(&pair);
        }
        chosen.push(best);
    }
    chosen
}

/// A random job.
pub fn random(block: &str, config: Config, seed: u64, cycles: u64) -> LockstepJob {
    LockstepJob::new(block, config, seed, cycles, Inputs::Random)
}

/// Every block but `mrf`, in each variant that changes its behaviour: `cycles` each, or a multiple if its situations are rare.
pub fn leaf_blocks(seed: u64, cycles: u64) -> Vec<LockstepJob> {
    let names = registry::blocks().map(|b| b.name).filter(|&n| n != "mrf");
    names
        .flat_map(|block| {
            let cycles = cycles * stretch(block);
            variants(block).into_iter().map(move |config| random(block, config, seed, cycles))
        })
        .collect()
}

/// As [`leaf_blocks`], in further shapes, which only the long runs have. The number of cycles is the same, so that they are judged by the same rules.
pub fn further_shapes(seed: u64, cycles: u64) -> Vec<LockstepJob> {
    let names = registry::blocks().map(|b| b.name);
    names
        .flat_map(|block| {
            let configs = FAMILIES.iter().flat_map(move |family| (family.more)(block));
            let cycles = cycles * stretch(block);
            configs.map(move |config| random(block, config, seed, cycles))
        })
        .collect()
}

/// How many times longer than others a block is run: if slots have to fill, drain and empty before a situation occurs, it is rare.
pub(crate) fn stretch(block: &str) -> u64 {
    match block {
        "block_launcher" | "unified_shared" => return 2,
        "scratchpad_locks" => return 4,
        // Its queue of results has to fill.
        "cache" => return 8,
        _ => {}
    }
    let mut all = FAMILIES.iter().flat_map(|family| family.stretch);
    all.find(|(name, _)| *name == block).map_or(1, |&(_, times)| times)
}

/// Allows random runs to end when they have reached everything that they have to reach. All mistakes that `gpurf mutate` generates in the RTL
/// (`docs/mutants.md`) are found within an eighth of a whole run, except for one in each of two blocks, which run whole.
fn ending_early(jobs: &mut [LockstepJob]) {
    let all = FAMILIES.iter().flat_map(|family| family.runs_whole).chain(&["alu"]);
    for job in jobs {
        job.may_end_early = matches!(job.inputs, Inputs::Random) && all.clone().all(|block| *block != job.block);
    }
}

/// The configuration in which the comparisons of a block's RTL are judged. They need a build of their own, so there is only one: the last of those in
/// which the suite runs the block.
///
/// # Panics
/// When the suite does not run the block: a mistake in its lists.
pub fn of_comparisons(block: &str) -> Config {
    variants(block).pop().expect("a block has a configuration")
}

/// The configuration in which the audit inverts a block's registers unless another one is selected: it uses all of them.
pub fn audited(block: &str) -> Config {
    // The number of registers has an effect in this mode only.
    if block == "power_states" {
        return powered(Config::default(), PowerMode::SleepAlways);
    }
    FAMILIES.iter().find_map(|family| (family.audited)(block)).unwrap_or_default()
}

/// Whether a run of this many random cycles of a block has to reach everything that its stimulus requires.
pub fn is_judged(block: &str, cycles: u64) -> bool {
    cycles >= judged_from(block)
}

/// The least number of random cycles of a block that have to reach everything that its stimulus requires.
pub fn judged_from(block: &str) -> u64 {
    COVERAGE_FROM_CYCLES * stretch(block)
}

/// A data cache of this size.
fn cache(kilobytes: usize, ways: usize, replacement: Replacement) -> Config {
    let cache =
        |c: &mut Config| (c.cache.kilobytes, c.cache.ways, c.cache.replacement) = (kilobytes, ways, replacement);
    changed(Config::default(), cache)
}

/// Sets how many requests of a data cache may wait, and how many parts of loads.
fn waiting(config: Config, misses: usize, rows: usize) -> Config {
    let present = |c: &mut Config| c.cache.kilobytes = c.cache.kilobytes.max(1);
    changed(changed(config, present), |c| (c.cache.misses, c.sm.line_rows) = (misses, rows))
}

/// The machine with so little unified memory that small kernels fill the limited parts.
fn unified() -> Config {
    preset("unified-tiny").expect("a preset").config
}

/// The machine with as much unified memory as in the thesis.
fn unified_large() -> Config {
    preset("unified-384").expect("a preset").config
}

/// A configuration with the further policies that straps select: stores of whole lines allocate, loads follow their hints, clusters combine words of
/// several banks.
pub(crate) fn with_policies(config: Config) -> Config {
    changed(config, |c| {
        (c.cache.full_stores, c.cache.hints) = (true, true);
        if c.unified.is_present() {
            c.unified.gather = Gather::Aggressive;
        }
    })
}

/// Unified memory with separate ports for registers and memory.
pub(crate) fn with_separate_ports(config: Config) -> Config {
    changed(config, |c| c.unified.ports = MemoryPorts::Separate)
}

/// A configuration with as little unified memory as [`unified`].
pub(crate) fn with_unified(config: Config) -> Config {
    let Config { unified, cache, .. } = unified();
    let change = |c: &mut Config| {
        (c.unified, c.cache) = (unified, cache);
        (c.mrf.banks, c.mrf.ports) = (4, BankPorts::Separate);
    };
    changed(config, change)
}

/// The baseline, and other configurations that change the behaviour of a block.
fn variants(block: &str) -> Vec<Config> {
    let base = Config::default();
    let mut all: Vec<Config> = FAMILIES.iter().flat_map(|family| (family.few)(block)).collect();
    if FAMILIES.iter().any(|family| (family.is_own)(block)) {
        return all;
    }
    let two = two_ports(base);
    let unified_with = |change: &dyn Fn(&mut Config)| changed(unified(), change);
    match block {
        // These blocks exist with unified memory only: with few rows, and with as many as in the thesis.
        "unified_bank" => return vec![unified(), unified_large(), with_separate_ports(unified())],
        "unified_arbiter" => return vec![unified(), unified_large()],
        "unified_shared" => {
            return vec![
                with_policies(unified_with(&|c| c.sm.shared_bandwidth = 64)),
                unified_with(&|c| c.sm.shared_bandwidth = 32),
                unified(),
                with_policies(unified_large()),
            ];
        }
        _ => {}
    }
    let with = |change: &dyn Fn(&mut Config)| changed(base, change);
    let two_with = |change: &dyn Fn(&mut Config)| changed(two, change);
    all.push(base);
    all.extend(match block {
        "mrf_bank" => vec![with(&|c| c.mrf.ports = BankPorts::Separate)],
        "mrf_allocator" | "mrf_crossbar" => vec![two],
        "mrf_arbiter" => vec![
            two_with(&|c| c.mrf.read_order = ReadOrder::RoundRobin),
            two_with(&|c| c.mrf.ports = BankPorts::Separate),
            two_with(&|c| (c.mrf.ports, c.mrf.read_order) = (BankPorts::Separate, ReadOrder::RoundRobin)),
        ],
        "operand_stage" => vec![two, with_unified(two), unified()],
        "fetch" | "scoreboard" | "simt_stack" | "predicate_file" | "issue_stage" | "dispatcher" | "writeback"
        | "barrier_unit" | "fault_unit" | "front_operands" | "share_locks" | "scratchpad_locks" => {
            vec![two]
        }
        "address_unit" => vec![two, scratchpad(base), scratchpad(two)],
        "block_launcher" => {
            let uneven = two_with(&|c| c.sm.shared_kilobytes = 48);
            vec![uneven, unified(), unified_large(), places(base), places(two)]
        }
        // The longest period uses all bits of the counters; one round of it is longer than a run.
        "share_throttle" => {
            let [external, held] =
                [Reference::External, Reference::Held].map(|reference| compared(base, 40, reference));
            vec![throttled(base, 65_535), throttled(base, 40), external, held]
        }
        "register_places" => vec![with(&|c| c.mrf.banks = 4), with(&|c| c.mrf.banks = 32)],
        "instruction_buffer" => vec![with(&|c| c.sm.warps = 8), two],
        "warp_scheduler" => {
            let round_robin = |c: &mut Config| c.sm.scheduler = Scheduler::RoundRobin;
            vec![with(&round_robin), two, two_with(&round_robin), sharing(base), changed(sharing(two), round_robin)]
        }
        "result_queue" => vec![with(&|c| c.sm.shared_latency = 4)],
        "shared_memory" => {
            // Rows that are no power of two.
            let uneven = |c: &mut Config| (c.sm.shared_bandwidth, c.sm.shared_kilobytes) = (64, 48);
            vec![with(&uneven), with(&|c| c.sm.shared_bandwidth = 32)]
        }
        "line_table" => vec![with(&|c| c.sm.line_rows = 4)],
        // Direct mapped, three ways, two sets, tags that do not fill a word of their cells.
        "cache_tags" => {
            vec![
                unified(),
                unified_with(&|c| (c.cache.ways, c.cache.kilobytes) = (1, 16)),
                unified_large(),
                cache(3, 3, Replacement::Lru),
                cache(2, 8, Replacement::Lru),
                cache(512, 2, Replacement::Fifo),
            ]
        }
        // Sets of misses and rows that are wide, and the smallest.
        "cache_misses" => vec![waiting(base, 128, 128), waiting(base, 4, 4)],
        // Entries that are no power of two.
        "cache_access" => vec![unified(), waiting(cache(48, 3, Replacement::Lru), 64, 8)],
        "cache_results" => vec![with(&|c| (c.sm.line_rows, c.sm.shared_latency) = (4, 4))],
        "cache" => vec![
            changed(waiting(cache(1, 1, Replacement::Lru), 4, 4), |c| c.cache.full_stores = true),
            with_policies(waiting(cache(2, 8, Replacement::Fifo), 32, 16)),
            with_policies(unified()),
            unified_with(&|c| {
                (c.cache.ways, c.cache.replacement, c.sm.line_rows) = (4, Replacement::Fifo, 8);
                c.cache.full_stores = true;
            }),
            // So many rows that the queue of hits fills.
            changed(with_policies(cached()), |c| c.sm.line_rows = 64),
        ],
        "power_states" => {
            let one = [PowerMode::AlwaysOn, PowerMode::SleepAlways, PowerMode::Hints].map(|mode| powered(base, mode));
            let two = [PowerMode::SleepAlways, PowerMode::Greener].map(|mode| powered(two, mode));
            one.into_iter().chain(two).collect()
        }
        "access_table" => vec![tabled(base, 4), tabled(two, 1), tabled(two, 4)],
        _ => Vec::new(),
    });
    all
}

/// The register file in these shapes, with the two orders among reads in turn, so that both are run; then one whose registers are allocated one by
/// one, and those that serve as memory too.
pub fn mrf(shapes: &[MrfConfig], seed: u64, cycles: u64) -> Vec<LockstepJob> {
    let orders = [ReadOrder::Oldest, ReadOrder::RoundRobin].into_iter().cycle();
    let configs = shapes
        .iter()
        .zip(orders)
        .map(|(&shape, read_order)| Config { mrf: MrfConfig { read_order, ..shape }, ..Config::default() });
    let one_by_one = places(two_ports(Config::default()));
    let for_memory = [unified(), with_unified(two_ports(Config::default())), with_separate_ports(unified())];
    configs.chain([one_by_one]).chain(for_memory).map(|config| random("mrf", config, seed, cycles)).collect()
}

/// Test kernels that together have everything: divergent loops, barriers with shared memory, atomic operations, shuffles, votes, local and constant
/// memory, several launches; in floating point divisions, roots, exponentials, comparisons.
pub const KERNELS: [&str; 18] = [
    "blackScholes",
    "collatz",
    "compact",
    "countBytes",
    "cp",
    "crc32",
    "gameOfLife",
    "kmeans",
    "mergeSort",
    "needle",
    "pathfinder",
    "radixSort",
    "reduction",
    "sad",
    "scan",
    "sortingNetworks",
    "srad",
    "transpose",
];

/// Launches that end with a fault, of `tests/kernels/faults`: one for each cause at least, and for each source of `fault_unit`.
pub const FAULTS: [&str; 24] = [
    "barrier-count",
    "barrier-count-even",
    "barrier-divergence",
    "barrier-divergence-odd",
    "constant-out-of-bounds",
    "constant-written",
    "does-not-fit",
    "local-atomic",
    "local-out-of-bounds",
    "misaligned",
    "no-such-atomic",
    "no-such-load",
    "no-such-store",
    "no-such-texel",
    "past-the-end",
    "past-the-end-even",
    "shared-out-of-bounds",
    "together-issue-stage",
    "trap",
    "trap-last-warp",
    "trap-second-block",
    "warp-divergence",
    "warp-divergence-odd",
    "wide-address",
];

/// The SM on every launch of [`FAULTS`].
pub fn faults(project: &Project, config: Config, seed: u64) -> Vec<LockstepJob> {
    let inputs = |name: &&str| KernelInputs::of_project(project, &format!("faults/{name}"));
    FAULTS.iter().map(|name| kernel(inputs(name), config, seed)).collect()
}

/// The SM on a kernel that reads clocks. The lower word of the time overflows during the run, and the upper one is not small.
pub fn clocks(project: &Project, config: Config, seed: u64) -> LockstepJob {
    let late = changed(config, |c| c.sm.start_time = 0x1234_5678_ffff_f800);
    kernel(KernelInputs::of_project(project, "launch/clocks"), late, seed)
}

/// The job for a kernel on the SM.
pub fn kernel(inputs: KernelInputs, config: Config, seed: u64) -> LockstepJob {
    LockstepJob::new(gpurf_sm::ENTRY.name, config, seed, 0, Inputs::Kernel(inputs))
}

/// The SM on every kernel of [`KERNELS`].
pub fn kernels(project: &Project, config: Config, seed: u64) -> Vec<LockstepJob> {
    KERNELS.iter().map(|name| kernel(KernelInputs::of_project(project, name), config, seed)).collect()
}

/// The SM on `count` random programs, with consecutive seeds from `seed` on: with these weights, or with those of all themes in turn.
pub fn programs(config: Config, seed: u64, count: u64, weights: Option<(&str, &Weights)>) -> Vec<LockstepJob> {
    let themes: Vec<ProgramInputs> = match weights {
        Some((name, weights)) => {
            vec![ProgramInputs { name: name.to_owned(), weights: Arc::new(weights.clone()), all_themes: false }]
        }
        None => {
            let inputs = |theme: &themes::Theme| {
                let weights = Arc::new(theme.weights());
                ProgramInputs { name: theme.name.to_owned(), weights, all_themes: true }
            };
            themes::of(&config).map(inputs).collect()
        }
    };
    let job = |(number, inputs): (u64, &ProgramInputs)| program(inputs.clone(), config, seed.wrapping_add(number));
    (0..count).zip(themes.iter().cycle()).map(job).collect()
}

/// The job for a random program on the SM.
pub(crate) fn program(inputs: ProgramInputs, config: Config, seed: u64) -> LockstepJob {
    LockstepJob::new(gpurf_sm::ENTRY.name, config, seed, 0, Inputs::Program(inputs))
}

/// Random programs of the default suite: one of each theme.
pub fn few_programs(config: Config, seed: u64) -> Vec<LockstepJob> {
    programs(config, seed, themes::of(&config).count() as u64, None)
}

/// Random programs of the long run at each configuration.
const MANY_PROGRAMS: u64 = 500;

/// Gives the jobs the orders of instructions that a compiler may choose, in turn, alternately with addresses of 64 and of 32 bits. The machine is the
/// same and needs no other build. `first` is the position in this sequence of the first job.
fn in_all_orders(mut jobs: Vec<LockstepJob>, first: usize) -> Vec<LockstepJob> {
    let orders = [Schedule::None, Schedule::Latency, Schedule::Tree].into_iter().cycle().skip(first);
    let bits = [64, 64, 64, 32, 32, 32].into_iter().cycle().skip(first);
    for ((job, order), bits) in jobs.iter_mut().zip(orders).zip(bits) {
        (job.config.compiler.schedule, job.config.compiler.address_bits) = (order, bits);
    }
    jobs
}

/// The jobs of `make cosim WHOLE=1`: the SM on [`KERNELS`], on some random programs and, with one and two issue ports, on launches that fault; at the
/// baseline, at the preset of each family of register files, with power states (also below other levels), with blocks that share a resource, with a
/// data cache, and with unified memory; all blocks in all their variants; and the register file at the baseline and at a pairwise choice of shapes.
/// The SM comes first, because its build is the longest.
pub fn whole(project: &Project, seed: u64, cycles: u64) -> Vec<LockstepJob> {
    let mut jobs = machines(project, seed, 1);
    jobs.extend(leaf_blocks(seed, cycles));
    jobs.push(random("mrf", Config::default(), seed, cycles));
    jobs.extend(mrf(&pairwise_shapes(), seed, cycles));
    jobs
}

/// The default suite runs one in this many of the whole suite's kernels and programs at machines other than the baseline.
const CHOICE: usize = 3;

/// The jobs of `make cosim`, a selection of the whole suite: the SM at the baseline on everything that the whole suite has, at each other machine on
/// a part of it; every block in one variant, the one in which comparisons are judged; the register file in four shapes. The rest runs at night
/// (`tests/regress.toml`).
pub fn standard(project: &Project, seed: u64, cycles: u64) -> Vec<LockstepJob> {
    let mut jobs = machines(project, seed, CHOICE);
    let names = registry::blocks().map(|b| b.name).filter(|&n| n != "mrf");
    jobs.extend(names.map(|block| random(block, of_comparisons(block), seed, cycles * stretch(block))));
    let shapes = pairwise_shapes();
    jobs.push(random("mrf", Config::default(), seed, cycles));
    // The last two shapes of the choice, one with each order among reads, and one with unified memory and two issue ports.
    let of_choice = shapes.len() - 2..shapes.len();
    let for_memory = with_unified(two_ports(Config::default()));
    let files = mrf(&shapes, seed, cycles).into_iter().enumerate();
    let chosen = files.filter(|(at, job)| of_choice.contains(at) || job.config == for_memory);
    jobs.extend(chosen.map(|(_, job)| job));
    ending_early(&mut jobs);
    jobs
}

/// The jobs of the SM. At the baseline: all kernels and programs of the suite, launches that fault, and the kernel that reads clocks. At each other
/// machine: one in `choice` of the kernels and programs, other ones at each machine; with each family of register files also the kernel that reads
/// clocks.
fn machines(project: &Project, seed: u64, choice: usize) -> Vec<LockstepJob> {
    let chosen = |jobs: Vec<LockstepJob>, number: usize| {
        jobs.into_iter().enumerate().filter(move |(at, _)| (at + number).is_multiple_of(choice)).map(|(_, job)| job)
    };
    let mut jobs = in_all_orders(kernels(project, Config::default(), seed), 0);
    jobs.extend(few_programs(Config::default(), seed));
    jobs.extend(faults(project, Config::default(), seed));
    jobs.push(clocks(project, Config::default(), seed));
    for (number, family) in FAMILIES.iter().enumerate() {
        let config = family.config();
        jobs.extend(chosen(in_all_orders(kernels(project, config, seed), number + 1), number));
        jobs.extend(chosen(few_programs(config, seed), number));
        jobs.push(clocks(project, config, seed));
        if config.mrf.issue_ports == 2 {
            // These cover the fault sources of the second port.
            jobs.extend(faults(project, config, seed));
        }
    }
    for (number, config) in services().into_iter().enumerate() {
        let all = in_all_orders(fitting(kernels(project, config, seed)).collect(), number);
        jobs.extend(chosen(all, number));
        // Policies that straps select need no other build.
        let programs = few_programs(if config.cache.kilobytes == 0 { config } else { with_policies(config) }, seed);
        jobs.extend(chosen(programs, number));
    }
    jobs
}

/// The machines whose registers have power states with all features: with the main register file alone, and with levels above it.
pub(crate) fn power_states() -> Vec<Config> {
    let all = presets().map(|preset| preset.config);
    all.filter(|config| config.power.present && config.power.mode == PowerMode::Greener).collect()
}

/// The machine whose blocks share registers, with a file so small that blocks share even in small grids.
pub(crate) fn shared_registers() -> Config {
    changed(preset("share-registers").expect("a preset").config, |c| c.mrf.kilobytes = 32)
}

/// The machine whose blocks share scratchpad memory, with so little of it that blocks share even in small grids.
pub(crate) fn shared_scratchpad() -> Config {
    changed(preset("share-scratchpad").expect("a preset").config, |c| c.sm.shared_kilobytes = SMALL_SCRATCHPAD)
}

/// KB of scratchpad memory of a machine in which small grids share it.
const SMALL_SCRATCHPAD: usize = 8;

/// Kernels whose blocks need more than [`SMALL_SCRATCHPAD`].
const LARGE_BLOCKS: [&str; 1] = ["radixSort"];

/// The jobs without those whose kernels do not fit into a small scratchpad memory.
pub(crate) fn fitting(jobs: Vec<LockstepJob>) -> impl Iterator<Item = LockstepJob> {
    let fits = |job: &LockstepJob| {
        let Inputs::Kernel(kernel) = &job.inputs else { return true };
        let large = kernel.manifest.file_stem().is_some_and(|stem| LARGE_BLOCKS.iter().any(|name| stem == *name));
        !large || job.config.sm.shared_kilobytes > SMALL_SCRATCHPAD
    };
    jobs.into_iter().filter(fits)
}

/// The machine with a data cache so small that small kernels cause evictions.
fn cached() -> Config {
    preset("cached-tiny").expect("a preset").config
}

/// The machines with features outside of the register file's designs: power states, blocks that share a resource, a data cache, unified memory.
pub(crate) fn services() -> Vec<Config> {
    power_states().into_iter().chain([shared_registers(), shared_scratchpad(), cached(), unified()]).collect()
}

/// Seeds per shape of the pairwise choice in the long run.
const SEEDS: u64 = 5;

/// The presets on which the long run has all kernels.
const KERNEL_PRESETS: [&str; 2] = ["baseline", "mrf-1r1w"];

/// Cycles of a period of the throttle in the long run: few, so that its level changes often.
const THROTTLE: usize = 50;

/// The jobs of `gpurf cosim --all-shapes`: the SM on kernels and on random programs at several presets, with one and two issue ports, with throttled
/// non-owners, with a data cache, and with unified memory; all blocks; the register file in all 60 shapes, and the pairwise choice with four more
/// seeds.
pub fn complete(project: &Project, seed: u64, cycles: u64) -> Vec<LockstepJob> {
    let mut jobs = Vec::new();
    for preset in presets().filter(|p| KERNEL_PRESETS.contains(&p.name)) {
        jobs.extend(kernels(project, preset.config, seed));
        jobs.extend(programs(preset.config, seed, MANY_PROGRAMS, None));
        let mut two = preset.config;
        two.mrf.issue_ports = 2;
        two.sm.scheduler = Scheduler::RoundRobin;
        jobs.extend(kernels(project, two, seed));
        jobs.extend(programs(two, seed, MANY_PROGRAMS, None));
    }
    for reference in [Reference::Sampled, Reference::External] {
        let throttled = changed(shared_registers(), |c| (c.share.throttle, c.share.reference) = (THROTTLE, reference));
        jobs.extend(kernels(project, throttled, seed));
        jobs.extend(programs(throttled, seed, MANY_PROGRAMS, None));
    }
    for check in [CheckRule::Probe, CheckRule::Mark] {
        for lock in [LockRule::Oldest, LockRule::First] {
            let config = changed(shared_scratchpad(), |c| (c.share.check, c.share.lock) = (check, lock));
            jobs.extend(programs(config, seed, MANY_PROGRAMS, None));
        }
    }
    let two = changed(cached(), |c| (c.mrf.issue_ports, c.cache.replacement) = (2, Replacement::Fifo));
    let two_unified = changed(unified(), |c| c.mrf.issue_ports = 2);
    let large = with_policies(with_unified(unified_large()));
    for config in [cached(), with_policies(two), unified(), with_policies(two_unified), large] {
        jobs.extend(kernels(project, config, seed));
        jobs.extend(programs(config, seed, MANY_PROGRAMS, None));
    }
    jobs.extend(leaf_blocks(seed, cycles));
    jobs.extend(further_shapes(seed, cycles));
    jobs.extend(mrf(&all_shapes(), seed, cycles));
    for further in 1..SEEDS {
        jobs.extend(mrf(&pairwise_shapes(), seed + further, cycles));
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_sixty_shapes() {
        let shapes = all_shapes();
        assert_eq!(shapes.len(), 60);
        assert!(shapes.iter().all(|s| s.kilobytes == 128));
    }

    #[test]
    fn the_pairwise_choice_has_every_pair() {
        let chosen = pairwise_shapes();
        assert!(chosen.len() < 25, "{}", chosen.len());
        for banks in [2, 4, 8, 16, 32] {
            for collectors in [4, 8, 16] {
                assert!(chosen.iter().any(|s| s.banks == banks && s.collectors == collectors));
            }
            for ports in [BankPorts::Shared, BankPorts::Separate] {
                assert!(chosen.iter().any(|s| s.banks == banks && s.ports == ports));
                assert!(chosen.iter().any(|s| s.banks == banks && s.issue_ports == ports as usize + 1));
            }
        }
        for collectors in [4, 8, 16] {
            for ports in [BankPorts::Shared, BankPorts::Separate] {
                assert!(chosen.iter().any(|s| s.collectors == collectors && s.ports == ports));
                assert!(chosen.iter().any(|s| s.collectors == collectors && s.issue_ports == ports as usize + 1));
            }
        }
    }
}
