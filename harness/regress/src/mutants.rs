//! Can the check fail? RTL is broken on purpose, and the lockstep has to notice and to name the block.
//!
//! * *Hand-written* mutants are the bugs that designers make: a text in a module's source is replaced when the mutant is run. They are listed
//!   in `tests/mutants/*.toml`.
//! * *Generated* mutants come from Yosys' `mutate` on a module's netlist: a pin inverted or stuck. One netlist carries all mutants of a module and a
//!   variable selects one, so that a module costs one build.
//!
//! A mutant of the register file runs in the whole of it, where the block has to be found, and, if that does not notice it, alone in its
//! block's own lockstep; one of the SM's other blocks in its own lockstep. A mutant that nothing notices is a hole in the check, unless it is proven that it cannot be noticed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use gpurf_blocks::config::{
    BankPorts, Config, HrfConfig, MrfConfig, PRESETS, ReadOrder, Replacement, RfcConfig, Scheduler, SmConfig,
    StealConfig,
};
use gpurf_blocks::{Declaration, Net, Role};
use gpurf_lockstep::{Cause, Lockstep, Outcome, Plan, report};
use serde::{Deserialize, Serialize};
use verilated::{Options, Toolchain};

use crate::{
    COVERAGE_FROM_CYCLES, JobError, KernelInputs, Project, RtlSources, RunResult, request, run_all, run_job, suite,
};

/// Cycles after which a mutant counts as not noticed: so many does a block get in the default suite.
const CYCLES: u64 = COVERAGE_FROM_CYCLES;
/// Seconds of processor time that a proof of equivalence may take.
const PROOF_LIMIT_S: u32 = 120;
/// Name of the variable that selects a generated mutant.
const SELECT: &str = "mutant_sel";

/// A small SM and register file: mutants differ from it in a few cycles, and it builds fast.
const CONFIG: Config = Config {
    mrf: MrfConfig { banks: 4, collectors: 4, issue_ports: 2, kilobytes: 8, tag_bits: 16, ..PRESETS[0].config.mrf },
    sm: SmConfig {
        warps: 8,
        code_words: 64,
        const_kilobytes: 4,
        shared_kilobytes: 4,
        line_rows: 4,
        active_warps: 4,
        patience: 3,
        ..PRESETS[0].config.sm
    },
    rfc: RfcConfig { entries: 4, live: true, bypass: true, ..PRESETS[0].config.rfc },
    hrf: HrfConfig { buffer_entries: 20, load_entries: 4, gating: true, ..PRESETS[0].config.hrf },
    orf: PRESETS[0].config.orf,
    lrf: PRESETS[0].config.lrf,
    steal: StealConfig { read: true, write: true, ..PRESETS[0].config.steal },
    memory: PRESETS[0].config.memory,
};

/// How a mutant is made.
#[derive(Clone, Debug)]
enum Change {
    /// A text of the source is replaced.
    Text { find: String, replace: String },
    /// Selected in a netlist.
    Select { netlist: PathBuf, select: u16 },
}

/// A broken module.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The module that is broken.
    pub module: String,
    /// What was done to it.
    pub name: String,
    /// Whether Yosys made it.
    pub generated: bool,
    /// Why it cannot be noticed, where that is known.
    pub equivalent: Option<String>,
    change: Change,
}

impl Mutant {
    /// The module's source with the fault; nothing of one that Yosys made.
    ///
    /// # Errors
    /// When the module's source cannot be read.
    pub fn source(&self, project: &Project) -> Result<Option<String>, JobError> {
        match &self.change {
            Change::Text { find, replace } => {
                source(project, &self.module).map(|text| Some(text.replace(find, replace)))
            }
            Change::Select { .. } => Ok(None),
        }
    }
}

/// What the lockstep said.
#[derive(Clone, Debug, Serialize)]
pub struct Caught {
    /// In which block's lockstep.
    pub lockstep: String,
    /// In which cycle.
    pub cycle: u64,
    /// The block that the report names.
    pub blamed: String,
    /// By an assertion of the RTL and not by a difference.
    pub assertion: bool,
    /// The first signal or memory that differs, or what the assertion said.
    pub first: String,
}

/// What came of a mutant.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// The broken module.
    pub module: String,
    /// What was done to it.
    pub name: String,
    /// Whether Yosys made it.
    pub generated: bool,
    /// How it was noticed, if it was.
    pub caught: Option<Caught>,
    /// Whether the report names the broken module.
    pub located: bool,
    /// Why it cannot be noticed: stated in the list, or proven by Yosys.
    pub equivalent: Option<String>,
    /// Of a generated one that survived, what the attempt at a proof said: different (for inputs of any kind), out of time, or unknown.
    pub proof: Option<String>,
}

/// Totals of a mutation run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Mutants run.
    pub mutants: usize,
    /// Noticed.
    pub caught: usize,
    /// Noticed, and the report names the module.
    pub located: usize,
    /// Shown to be equivalent to the original.
    pub equivalent: usize,
    /// Neither: holes.
    pub survived: usize,
    /// Median of the cycles until a mutant is noticed.
    pub median_cycles: u64,
}

/// A list of hand-written mutants on disk.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MutantFile {
    mutant: Vec<MutantEntry>,
}

/// One of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MutantEntry {
    module: String,
    name: String,
    find: String,
    replace: String,
    equivalent: Option<String>,
}

/// A generated list.
#[derive(Deserialize)]
struct NetlistFile {
    mutants: Vec<NetlistEntry>,
}

/// One of them.
#[derive(Deserialize)]
struct NetlistEntry {
    select: u16,
    description: String,
}

/// The hand-written mutants of the modules that `wanted` accepts.
///
/// # Errors
/// When a list cannot be read, or a text to replace does not occur exactly once in its module.
pub fn hand_written(project: &Project, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<Mutant>, JobError> {
    let folder = project.root.join("tests/mutants");
    let unreadable =
        |path: &Path, e: &dyn std::fmt::Display| JobError::Input(format!("cannot read {}: {e}", path.display()));
    let listing = std::fs::read_dir(&folder).map_err(|e| unreadable(&folder, &e))?;
    let mut files: Vec<PathBuf> = listing.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    files.sort();
    let mut mutants = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).map_err(|e| unreadable(&path, &e))?;
        let list: MutantFile = toml::from_str(&text).map_err(|e| unreadable(&path, &e))?;
        for entry in list.mutant.into_iter().filter(|m| wanted(&m.module)) {
            let source = source(project, &entry.module)?;
            let occurs = source.matches(&entry.find).count();
            if occurs != 1 {
                let name = &entry.name;
                return Err(JobError::Input(format!(
                    "{}: mutant {name:?}: its text occurs {occurs} times in {}",
                    path.display(),
                    entry.module
                )));
            }
            let change = Change::Text { find: entry.find, replace: entry.replace };
            let MutantEntry { module, name, equivalent, .. } = entry;
            mutants.push(Mutant { module, name, generated: false, equivalent, change });
        }
    }
    Ok(mutants)
}

/// The source text of a module.
fn source(project: &Project, module: &str) -> Result<String, JobError> {
    let entry = gpurf_sm::find(module).ok_or_else(|| JobError::Input(format!("there is no module {module}")))?;
    let path = project.rtl().join(entry.path).with_extension("sv");
    std::fs::read_to_string(&path).map_err(|e| JobError::Input(format!("cannot read {}: {e}", path.display())))
}

/// Modules whose netlists are mutated. Wiring (`mrf`, `operand_stage`, `sm`) is left to hand-written mutants, because a netlist of it has none of the nets that the
/// harness looks for; so are `rfc_lrf` and `predicate_file`, whose words are registers of their own: the seed could not fill
/// them as the twin's.
const NETLISTS: &[&str] = &[
    "mrf_bank_map",
    "mrf_write_queue",
    "mrf_allocator",
    "mrf_collector",
    "mrf_arbiter",
    "mrf_bank",
    "mrf_crossbar",
    "rfc_tags",
    "rfc_evictions",
    "rfc_results",
    "rfc_operands",
    "rfc_fills",
    "rfc_data",
    "hrf_bank",
    "hrf_buffer",
    "hrf_rcm",
    "hrf_drain",
    "hrf_loads",
    "hrf_power",
    "hrf_results",
    "hrf_reads",
    "hrf_operands",
    "hierarchy_data",
    "hierarchy_levels",
    "hierarchy_entries",
    "hierarchy_results",
    "hierarchy_copies",
    "hierarchy_scoreboard",
    "steal_candidates",
    "steal_collector",
    "steal_table",
    "steal_dependence",
    "steal_arbiter",
    "steal_return",
    "fetch",
    "decode",
    "instruction_buffer",
    "scoreboard",
    "warp_scheduler",
    "two_level_scheduler",
    "alternating_scheduler",
    "issue_stage",
    "simt_stack",
    "dispatcher",
    "alu",
    "fp_unit",
    "sfu",
    "result_queue",
    "writeback",
    "lane_crossbar",
    "special_registers",
    "address_unit",
    "coalescer",
    "line_table",
    "constant_memory",
    "shared_memory",
    "barrier_unit",
    "block_launcher",
    "fault_unit",
];

/// Makes `count` generated mutants, spread over the modules that `wanted` accepts.
///
/// # Errors
/// When pyosys is not installed or refuses a module.
pub fn generated(
    project: &Project,
    wanted: &dyn Fn(&str) -> bool,
    count: usize,
    seed: u64,
) -> Result<Vec<Mutant>, JobError> {
    let modules: Vec<&str> = NETLISTS.iter().copied().filter(|m| wanted(m)).collect();
    let mut mutants = Vec::new();
    for (index, module) in modules.iter().enumerate() {
        // The remainder goes to the first ones.
        let share = count / modules.len() + usize::from(index < count % modules.len());
        if share == 0 {
            continue;
        }
        let folder = project.root.join("target/mutants").join(module);
        let mut command = python(project, "netlist_mutants.py")?;
        command
            .args(["--module", module, "-n", &share.to_string(), "--seed", &seed.to_string()])
            .arg("--out")
            .arg(&folder);
        command.arg("-I").arg(project.rtl());
        let entry = gpurf_sm::find(module).expect("a module of the list");
        for (name, value) in &parameters(module, &CONFIG) {
            command.arg("-G").arg(format!("{name}={value}"));
        }
        command.args(shapes((entry.twin)(&CONFIG).declaration()));
        for cell in entry.modules().filter(|module| module.starts_with("ram_")) {
            command.args(["--blackbox", cell]);
        }
        command.arg(project.rtl().join("gpurf_pkg.sv"));
        let files = entry.packages.iter().chain(entry.sources.iter().rev());
        command.args(files.map(|s| project.rtl().join(s).with_extension("sv")));
        run(command, &format!("{module} (Yosys writes {})", folder.join("yosys.log").display()))?;
        let path = folder.join("mutants.json");
        let text = std::fs::read_to_string(&path)
            .map_err(|e| JobError::Build(format!("cannot read {}: {e}", path.display())))?;
        let list: NetlistFile =
            serde_json::from_str(&text).map_err(|e| JobError::Build(format!("cannot read {}: {e}", path.display())))?;
        mutants.extend(list.mutants.into_iter().map(|entry| Mutant {
            module: (*module).to_owned(),
            name: entry.description,
            generated: true,
            equivalent: None,
            change: Change::Select { netlist: folder.clone(), select: entry.select },
        }));
    }
    Ok(mutants)
}

/// What a netlist, which has only vectors, does not say. Registers that are arrays get their shape back, so that they are compared; a proof has to know
/// which outputs are payloads.
fn shapes(declaration: &Declaration) -> Vec<String> {
    let mut arguments = Vec::new();
    for signal in &declaration.signals {
        let (field, count) = (&signal.field, signal.field.count);
        if signal.role == Role::Probe && field.array && matches!(field.net, Net::Own) {
            arguments.extend(["--array".to_owned(), format!("{}={count}", field.name)]);
        }
        let valid = signal.valid.map(|index| &declaration.signals[index]).filter(|valid| valid.role != Role::Probe);
        if let (Role::Output, Some(valid)) = (signal.role, valid) {
            let elements = if valid.field.array { valid.field.count } else { 0 };
            arguments
                .extend(["--payload".to_owned(), format!("{}={count},{}={elements}", field.name, valid.field.name)]);
        }
    }
    arguments
}

/// A Python program of `scripts/` in the environment that has pyosys.
fn python(project: &Project, script: &str) -> Result<Command, JobError> {
    let python = project.root.join("target/venv/bin/python");
    if !python.exists() {
        let message = "generated mutants need pyosys; get it with: scripts/bootstrap.sh --mutants";
        return Err(JobError::Build(message.to_owned()));
    }
    let mut command = Command::new(python);
    command.arg(project.root.join("scripts").join(script));
    Ok(command)
}

/// Standard output of a command that has to succeed.
fn run(mut command: Command, what: &str) -> Result<String, JobError> {
    let output = command.output().map_err(|e| JobError::Build(format!("{what}: {e}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(JobError::Build(format!("{what}: {}", String::from_utf8_lossy(&output.stderr).trim_end())))
}

/// Where mutants have to be noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the lockstep of their block, or of the register file.
    Blocks,
    /// In the lockstep of the whole SM, on kernels.
    Machine,
}

/// Kernels on which a mutant runs in the SM, until one of them notices it.
const MACHINE_KERNELS: [&str; 4] = ["radixSort", "countBytes", "collatz", "crc32"];

/// Every n-th mutant of each module, so that a module has `count` of them.
pub fn sample(mutants: Vec<Mutant>, count: usize) -> Vec<Mutant> {
    let mut of_module: BTreeMap<String, Vec<Mutant>> = BTreeMap::new();
    for mutant in mutants {
        of_module.entry(mutant.module.clone()).or_default().push(mutant);
    }
    let chosen = of_module.into_values().flat_map(|list| {
        let step = list.len().div_ceil(count).max(1);
        list.into_iter().step_by(step).collect::<Vec<_>>()
    });
    chosen.collect()
}

/// Runs mutants on `threads` threads; `done` is told of each verdict.
///
/// # Errors
/// The first thing that could not be built or run.
pub fn run_mutants(
    bench: &Bench<'_>,
    mutants: &[Mutant],
    threads: usize,
    done: impl Fn(&Verdict) + Sync,
) -> Result<Vec<Verdict>, JobError> {
    let trial = Trial { bench };
    let originals: Vec<Mutant> = originals(mutants).collect();
    let intact = run_all(&originals, threads, |m| trial.intact(m), |_, _| {});
    intact.into_iter().collect::<Result<Vec<()>, _>>()?;
    let verdicts = run_all(
        mutants,
        threads,
        // Whoever wants it to end does not want every mutant built first.
        |m| if bench.stop.load(Ordering::Relaxed) { Err(interrupted()) } else { trial.verdict(m) },
        |_, v| {
            if let Ok(verdict) = v {
                done(verdict);
            }
        },
    );
    verdicts.into_iter().collect()
}

/// For each netlist among the mutants, the selection of its original.
fn originals(mutants: &[Mutant]) -> impl Iterator<Item = Mutant> {
    let mut netlists = BTreeMap::new();
    for mutant in mutants {
        if let Change::Select { netlist, .. } = &mutant.change {
            let change = Change::Select { netlist: netlist.clone(), select: 0 };
            netlists.entry(netlist).or_insert(Mutant { name: "the original".into(), change, ..mutant.clone() });
        }
    }
    netlists.into_values()
}

/// Totals.
pub fn summary(verdicts: &[Verdict]) -> Summary {
    let mut cycles: Vec<u64> = verdicts.iter().filter_map(|v| v.caught.as_ref()).map(|c| c.cycle).collect();
    cycles.sort_unstable();
    let caught = cycles.len();
    let equivalent = verdicts.iter().filter(|v| v.caught.is_none() && v.equivalent.is_some()).count();
    Summary {
        mutants: verdicts.len(),
        caught,
        located: verdicts.iter().filter(|v| v.located).count(),
        equivalent,
        survived: verdicts.len() - caught - equivalent,
        median_cycles: cycles.get(caught / 2).copied().unwrap_or_default(),
    }
}

/// Numbers for the scratch folders of this process.
static SCRATCH: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// What mutants are run with.
pub struct Bench<'a> {
    /// The checkout.
    pub project: &'a Project,
    /// Verilator and a C++ compiler.
    pub tools: &'a Toolchain,
    /// Where they have to be noticed.
    pub place: Place,
    /// Seed of the runs.
    pub seed: u64,
    /// Raised to end early.
    pub stop: &'static AtomicBool,
}

struct Trial<'a> {
    bench: &'a Bench<'a>,
}

impl Trial<'_> {
    /// A netlist whose original is noticed would make every mutant of it look caught.
    fn intact(&self, original: &Mutant) -> Result<(), JobError> {
        let Change::Select { netlist, select } = &original.change else { return Ok(()) };
        match self.noticed(original, &netlist_sources(netlist, &original.module), Some(*select))? {
            None => Ok(()),
            Some(caught) => Err(JobError::Build(format!(
                "the netlist of {} differs from its module without a mutant: cycle {}, block {}, {}",
                original.module, caught.cycle, caught.blamed, caught.first
            ))),
        }
    }

    fn verdict(&self, mutant: &Mutant) -> Result<Verdict, JobError> {
        let scratch = self.bench.project.root.join("target/mutants");
        let unwritable = |e: std::io::Error| JobError::Build(format!("cannot write in {}: {e}", scratch.display()));
        let (rtl, select, folder) = match &mutant.change {
            Change::Text { find, replace } => {
                let number = SCRATCH.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let folder = scratch.join(format!("hand-{}-{number}", std::process::id()));
                std::fs::create_dir_all(&folder).map_err(unwritable)?;
                let file = folder.join(format!("{}.sv", mutant.module));
                let text = source(self.bench.project, &mutant.module)?.replace(find, replace);
                std::fs::write(&file, text).map_err(unwritable)?;
                let overrides = vec![(mutant.module.clone(), file)];
                (RtlSources { overrides, ..RtlSources::default() }, None, Some(folder))
            }
            Change::Select { netlist, select } => (netlist_sources(netlist, &mutant.module), Some(*select), None),
        };
        let caught = self.noticed(mutant, &rtl, select);
        if let Some(folder) = folder {
            std::fs::remove_dir_all(folder).map_err(unwritable)?;
        }
        let caught = caught?;
        let located = caught.as_ref().is_some_and(|c| located(&mutant.module, &c.blamed));
        let (mut equivalent, mut proof) = (mutant.equivalent.clone(), None);
        if let (None, None, Change::Select { netlist, select }) = (&caught, &equivalent, &mutant.change) {
            match self.proof(netlist, *select)? {
                said if said == "equivalent" => equivalent = Some("proven equivalent by Yosys".to_owned()),
                said => proof = Some(said),
            }
        }
        let Mutant { module, name, generated, .. } = mutant.clone();
        Ok(Verdict { module, name, generated, caught, located, equivalent, proof })
    }

    /// Runs the mutant under each policy that matters to it: a part of the register file there first, then in its own lockstep.
    fn noticed(&self, mutant: &Mutant, rtl: &RtlSources, select: Option<u16>) -> Result<Option<Caught>, JobError> {
        let module = mutant.module.as_str();
        if self.bench.place == Place::Machine {
            return self.noticed_by_kernels(rtl);
        }
        for block in locksteps(mutant) {
            for config in policies(module) {
                // A netlist has one size; policies are straps.
                if select.is_some() && parameters(block, &config) != parameters(block, &CONFIG) {
                    continue;
                }
                if let Some(caught) = self.lockstep(block, &config, rtl, select)? {
                    return Ok(Some(caught));
                }
            }
        }
        Ok(None)
    }

    /// Runs the mutant in the SM, on one kernel after the other.
    fn noticed_by_kernels(&self, rtl: &RtlSources) -> Result<Option<Caught>, JobError> {
        let Bench { project, tools, seed, stop, .. } = *self.bench;
        for name in MACHINE_KERNELS {
            let kernel = KernelInputs::of_project(project, name);
            let mut job = suite::kernel(kernel, Config::default(), seed);
            job.keep_failure = false;
            let options = Options { optimise: false, ..Options::default() };
            let result = run_job(project, tools, &job, rtl, &options, stop)?;
            let (blamed, first) = match &result.divergence {
                Some(divergence) => (divergence.block.clone(), divergence.port.clone()),
                None => (module_of(&result.report), first_line(&result.report)),
            };
            let assertion = result.result == RunResult::Assertion;
            match result.result {
                RunResult::Pass => {}
                RunResult::Interrupted => return Err(interrupted()),
                RunResult::ProbesAbsent => return Err(JobError::Build(result.report)),
                _ => {
                    let cycle = result.failing_cycle.unwrap_or(result.cycles);
                    return Ok(Some(Caught { lockstep: job.block, cycle, blamed, assertion, first }));
                }
            }
        }
        Ok(None)
    }

    fn lockstep(
        &self,
        block: &str,
        config: &Config,
        rtl: &RtlSources,
        select: Option<u16>,
    ) -> Result<Option<Caught>, JobError> {
        let options = Options {
            optimise: select.is_some(),
            knobs: select.iter().map(|_| SELECT.to_owned()).collect(),
            netlist: select.is_some(),
            ..Options::default()
        };
        let request = request(self.bench.project, block, config, rtl, options)?;
        // A mutant that does not build is noticed by the tools, not by the lockstep: then the list has to be mended.
        let library = self.bench.tools.build(&request)?;
        let Ok(mut instance) = library.instance(self.bench.seed) else {
            let first = "it failed while it was constructed".to_owned();
            return Ok(Some(Caught { lockstep: block.into(), cycle: 0, blamed: block.into(), assertion: true, first }));
        };
        for index in 0..instance.state_count() {
            let value = select.unwrap_or_default().to_le_bytes();
            instance.state(index).bytes.copy_from_slice(&value);
        }
        let twin = gpurf_sm::find(block).map(|b| (b.twin)(config)).expect("found by request");
        let mut sides = Lockstep::new(twin, instance, library.absent());
        let mut stimulus = gpurf_stimulus::random(block, config, self.bench.seed);
        let plan = Plan { seed: self.bench.seed, cycles: CYCLES, memory_every: 4096, idle_limit: None };
        let outcome = sides.run(&mut *stimulus, &plan, &mut |_, _| {}, self.bench.stop);
        caught(block, &outcome, sides.comparator.declaration())
    }

    /// What Yosys says about a mutant and the original: equivalent, or another word of `prove_equivalent.py`.
    fn proof(&self, netlist: &Path, select: u16) -> Result<String, JobError> {
        let mut command = python(self.bench.project, "prove_equivalent.py")?;
        command.arg(netlist).args(["--select", &select.to_string(), "--limit", &PROOF_LIMIT_S.to_string()]);
        let text = run(command, "prove_equivalent.py")?;
        let unreadable = |e: &dyn std::fmt::Display| JobError::Build(format!("prove_equivalent.py: {e}: {text}"));
        let mut verdicts: BTreeMap<String, String> = serde_json::from_str(&text).map_err(|e| unreadable(&e))?;
        verdicts.remove(&select.to_string()).ok_or_else(|| unreadable(&"no verdict"))
    }
}

/// The parameters of a block's RTL in a configuration.
fn parameters(block: &str, config: &Config) -> Vec<(&'static str, u64)> {
    let entry = gpurf_sm::find(block).expect("a block of the list");
    (entry.twin)(config).declaration().parameters.clone()
}

/// The RTL with a module's netlist in its place.
fn netlist_sources(netlist: &Path, module: &str) -> RtlSources {
    let overrides = vec![(module.to_owned(), netlist.join(format!("{module}.sv")))];
    let extra = vec![netlist.join(format!("{module}_netlist.v"))];
    RtlSources { overrides, extra, ..RtlSources::default() }
}

/// The blocks in whose lockstep a mutant runs, in order.
fn locksteps(mutant: &Mutant) -> Vec<&str> {
    let module = mutant.module.as_str();
    let in_register_file = gpurf_sm::find("mrf").is_some_and(|mrf| mrf.contains(module));
    match (in_register_file, module) {
        (true, "mrf") | (false, _) => vec![module],
        // The netlist of the crossbar has no memory that could be filled, which its own lockstep needs.
        (true, "mrf_crossbar") if mutant.generated => vec!["mrf"],
        (true, _) => vec!["mrf", module],
    }
}

/// The configurations in which a mutant of a module runs: one for each policy that the module knows.
fn policies(module: &str) -> Vec<Config> {
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
            with(&|c| (c.steal.present, c.sm.active_warps) = (true, 6)),
            with(&|c| (c.steal.present, c.sm.active_warps, c.sm.scheduler) = (true, 6, Scheduler::RoundRobin)),
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
            let file = |c: &mut Config| (c.hrf.stt_ram, c.mrf.kilobytes) = (true, 32);
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
            with(&|c| c.steal.present = true),
            with(&|c| (c.steal.present, c.sm.scheduler) = (true, Scheduler::RoundRobin)),
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

/// Whether a report that names `blamed` names the broken module. A RAM cell has no boundary of its own inside a block: there the block that holds it
/// stands for it.
fn located(module: &str, blamed: &str) -> bool {
    let holds = |block: &str| gpurf_sm::find(block).is_some_and(|block| block.contains(module));
    blamed == module || module.starts_with("ram_") && blamed != "sm" && blamed != "mrf" && holds(blamed)
}

fn interrupted() -> JobError {
    JobError::Build("interrupted".to_owned())
}

/// The module whose assertion failed. `[0] %Error: mrf_bank.sv:62: Assertion failed in TOP.mrf...`: the file is the module.
pub(crate) fn module_of(message: &str) -> String {
    let file = message.split(".sv:").next().unwrap_or_default();
    file.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default().to_owned()
}

fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}

fn caught(block: &str, outcome: &Outcome, declaration: &Declaration) -> Result<Option<Caught>, JobError> {
    let lockstep = block.to_owned();
    match &outcome.cause {
        None => Ok(None),
        Some(Cause::Diverged(d)) => {
            let memory = || d.memories.first().map(|memory| memory.path.clone()).unwrap_or_default();
            let first = d.differences.first().map_or_else(memory, |first| report::name(declaration, first));
            Ok(Some(Caught { lockstep, cycle: d.cycle, blamed: d.blame.block.clone(), assertion: false, first }))
        }
        Some(Cause::Assertion { cycle, failure }) => {
            let blamed = module_of(&failure.message);
            let first = first_line(&failure.message);
            Ok(Some(Caught { lockstep, cycle: *cycle, blamed, assertion: true, first }))
        }
        Some(Cause::Panicked { cycle, message }) => {
            Err(JobError::Build(format!("the model panicked in cycle {cycle}: {message}")))
        }
        Some(Cause::Hung { cycle, .. }) => Err(JobError::Build(format!("no progress on either side in cycle {cycle}"))),
        Some(Cause::Interrupted) => Err(interrupted()),
    }
}
