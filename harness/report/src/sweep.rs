//! Many runs: kernels at configurations of the model, and on the oracle.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use gpurf_blocks::config::{Config, Start};
use gpurf_compiler::Schedule;
use gpurf_compiler::hierarchy::HierarchyOptions;
use gpurf_energy::Traffic;
use gpurf_isa::Image;
use gpurf_launch::{Init, Manifest};
use gpurf_machine::{LaunchError, Machine, ModelEngine, Settings, Statistics};
use gpurf_oracle::host::{Engine, OracleError, RunError, Session};
use gpurf_oracle::levels::LevelCounts;
use gpurf_oracle::{FaultKind, Options, Oracle};
use gpurf_regress::golden::digest_of;
use gpurf_regress::run_all;
use serde::{Deserialize, Serialize};

use crate::follow::{CacheEngine, FollowedCache};
use crate::kept::Kept;
use crate::levels::{self, LevelEngine, LevelError, Strands};
use crate::row::{PerKernel, mean};
use crate::usage::{Usage, UsageEngine};

/// What the kernels of a report run on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// The project's kernels on their large data, which fill the SM.
    Large,
    /// The project's kernels on little data.
    Small,
    /// Kernels of the user.
    Own,
}

impl Size {
    /// The same in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Large => "large runs",
            Self::Small => "small runs",
            Self::Own => "own kernels",
        }
    }
}

/// A kernel that reports run: a launch manifest and its machine code.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// What rows call it.
    pub name: String,
    /// How commands name its manifest.
    pub path: String,
    /// The manifest.
    pub manifest: Manifest,
    /// The machine code.
    pub image: Image,
    /// The order of its instructions.
    pub schedule: Schedule,
    /// What it runs on.
    pub size: Size,
}

impl Kernel {
    /// A digest of what decides its results: manifest, contents of the files that it names, machine code, order of instructions. Nothing where a file cannot be
    /// read: a run says so.
    fn digest(&self) -> Option<String> {
        let Manifest { buffers, symbols, checks, .. } = &self.manifest;
        let inits = buffers.iter().map(|buffer| &buffer.init).chain(symbols.iter().map(|symbol| &symbol.init));
        let inputs = inits.filter_map(|init| match init {
            Init::File(file) => Some(file.as_path()),
            Init::Zero | Init::Iota | Init::Random { .. } | Init::Values(_) => None,
        });
        let files = inputs.chain(checks.iter().map(|check| check.expected.as_path()));
        let contents = |file: &Path| std::fs::read(file).ok().map(|bytes| digest_of(&bytes));
        let contents: Vec<String> = files.map(contents).collect::<Option<_>>()?;
        let image = serde_json::to_string(&self.image).ok()?;
        let all = format!("{:?} {} {image} {}", self.manifest, contents.join(" "), self.schedule.name());
        Some(digest_of(all.as_bytes()))
    }

    /// Registers of a thread: the most of any of the image's kernels.
    pub fn registers(&self) -> u16 {
        self.image.kernels.iter().map(|kernel| kernel.registers).max().unwrap_or(0)
    }
}

/// A configuration: a preset, and what is set on top of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Point {
    /// The preset.
    pub preset: &'static str,
    /// Settings, `key=value`.
    pub set: Vec<String>,
}

impl Point {
    /// A preset.
    pub fn preset(preset: &'static str) -> Self {
        Self { preset, set: Vec::new() }
    }

    /// With one more setting.
    pub fn with(mut self, setting: impl Into<String>) -> Self {
        self.set.push(setting.into());
        self
    }

    /// The options that choose it.
    pub fn options(&self) -> String {
        self.set.iter().fold(format!("--preset {}", self.preset), |text, setting| format!("{text} --set {setting}"))
    }
}

/// What one run counted.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Cycles.
    pub cycles: u64,
    /// Counts of events, by name.
    pub events: BTreeMap<Cow<'static, str>, u64>,
    /// Values of the fields whose values are counted one by one.
    pub spreads: BTreeMap<Cow<'static, str>, BTreeMap<u64, u64>>,
}

impl Measured {
    /// Cycles, and counts of events.
    pub fn new(cycles: u64, events: impl IntoIterator<Item = (&'static str, u64)>) -> Self {
        let events = events.into_iter().map(|(name, count)| (name.into(), count)).collect();
        Self { cycles, events, ..Self::default() }
    }

    /// The sum of an event; an event that is not there is a defect of the report.
    pub fn event(&self, name: &str) -> u64 {
        self.events.get(name).copied().unwrap_or(0)
    }

    /// How often a field had each of its values.
    pub fn spread(&self, name: &str) -> BTreeMap<u64, u64> {
        self.spreads.get(name).cloned().unwrap_or_default()
    }

    /// An event a cycle.
    pub fn a_cycle(&self, name: &str) -> f64 {
        crate::ratio(self.event(name) as f64, self.cycles as f64)
    }

    /// Instructions of warps a cycle.
    pub fn ipc(&self) -> f64 {
        crate::ratio(self.event("issue") as f64, self.cycles as f64)
    }
}

impl From<Statistics> for Measured {
    fn from(statistics: Statistics) -> Self {
        let spreads = statistics.spreads.into_iter().map(|(name, values)| (name.into(), values)).collect();
        Self { spreads, ..Self::new(statistics.cycles, statistics.events) }
    }
}

/// Why a run gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The configuration, the kernel, or both together: the user's choice.
    #[error("{0}")]
    Input(String),
    /// The kernel does not do on the model what it should.
    #[error("{0}")]
    Failed(String),
    /// Somebody wanted the run to end.
    #[error("interrupted")]
    Interrupted,
}

/// Who is told what is going on.
pub trait Watcher: Sync {
    /// A run begins.
    fn begin(&self, index: usize, name: &RunName);
    /// A run has ended, or its result was there.
    fn end(&self, index: usize, name: &RunName, how: Ended<'_>);
}

/// How a run has ended.
#[derive(Clone, Copy, Debug)]
pub enum Ended<'a> {
    /// It has a result.
    Ran,
    /// Its result was on disk.
    Kept,
    /// It has none.
    Failed(&'a SweepError),
}

/// A run in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunName {
    /// The kernel.
    pub kernel: String,
    /// What runs it.
    pub engine: &'static str,
    /// The configuration, or what is counted.
    pub what: String,
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, on the {}", self.kernel, self.what, self.engine)
    }
}

/// What to run.
#[derive(Clone, Debug, Default)]
pub struct SweepPlan {
    /// Configurations of the model, each once.
    points: BTreeSet<Point>,
    /// Whether values are to be counted on the oracle.
    usage: bool,
    /// Software-managed hierarchies whose accesses are to be counted on the oracle, each once.
    levels: Vec<HierarchyOptions>,
    /// Caches that are to be followed through the program on the oracle, each once.
    caches: Vec<FollowedCache>,
}

impl SweepPlan {
    /// One more configuration.
    pub fn point(&mut self, point: Point) {
        self.points.insert(point);
    }

    /// Values are to be counted.
    pub fn usage(&mut self) {
        self.usage = true;
    }

    /// Accesses to the levels of a software-managed hierarchy are to be counted.
    pub fn levels(&mut self, options: HierarchyOptions) {
        if !self.levels.contains(&options) {
            self.levels.push(options);
        }
    }

    /// A cache is to be followed.
    pub fn cache(&mut self, cache: FollowedCache) {
        if !self.caches.contains(&cache) {
            self.caches.push(cache);
        }
    }

    /// The configurations of the model.
    pub fn points(&self) -> impl Iterator<Item = &Point> {
        self.points.iter()
    }

    /// What this one and another one have to run.
    pub fn join(&mut self, other: Self) {
        self.points.extend(other.points);
        self.usage |= other.usage;
        other.levels.into_iter().for_each(|options| self.levels(options));
        other.caches.into_iter().for_each(|cache| self.cache(cache));
    }

    /// The number of runs.
    pub fn runs(&self, kernels: usize) -> usize {
        kernels * (self.points.len() + self.levels.len() + self.caches.len() + usize::from(self.usage))
    }

    /// The runs, by name.
    pub fn names(&self, kernels: &[Kernel]) -> Vec<RunName> {
        self.tasks(kernels).map(|task| task.name()).collect()
    }

    /// The runs: a configuration after the other, so that an early end leaves whole rows.
    fn tasks<'a>(&'a self, kernels: &'a [Kernel]) -> impl Iterator<Item = Task<'a>> {
        let oracle = self.usage.then_some(What::Usage).into_iter().chain(self.levels.iter().map(What::Levels));
        let oracle = oracle.chain(self.caches.iter().map(What::Cache));
        let all = oracle.chain(self.points.iter().map(What::Model));
        all.flat_map(|what| kernels.iter().map(move |kernel| Task { kernel, what }))
    }
}

/// What runs gave. Where some were interrupted or went wrong, what is left.
#[derive(Debug)]
pub struct Results<'a> {
    /// The kernels.
    pub kernels: &'a [Kernel],
    measured: BTreeMap<Point, BTreeMap<String, Measured>>,
    usage: BTreeMap<String, Usage>,
    levels: HashMap<HierarchyOptions, BTreeMap<String, Strands>>,
    caches: HashMap<FollowedCache, BTreeMap<String, Traffic>>,
    /// What went wrong.
    pub errors: Vec<SweepError>,
}

/// One run.
struct Task<'a> {
    kernel: &'a Kernel,
    what: What<'a>,
}

/// What is counted.
#[derive(Clone, Copy)]
enum What<'a> {
    /// Events of the model at a configuration.
    Model(&'a Point),
    /// Values, on the oracle.
    Usage,
    /// Accesses to the levels of a software-managed hierarchy, on the oracle.
    Levels(&'a HierarchyOptions),
    /// Accesses of a cache, on the oracle.
    Cache(&'a FollowedCache),
}

/// What a run counted.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Measured(Measured),
    Usage(Box<Usage>),
    #[serde(with = "levels::list")]
    Levels(Strands),
    Cache(Box<Traffic>),
}

/// Runs everything whose result is not on disk, on so many threads.
pub fn sweep<'a>(
    plan: &SweepPlan,
    kernels: &'a [Kernel],
    threads: usize,
    stop: &'static AtomicBool,
    kept: &Kept,
    watcher: &impl Watcher,
) -> Results<'a> {
    let tasks: Vec<Task<'_>> = plan.tasks(kernels).collect();
    let digests: HashMap<&str, Option<String>> =
        kernels.iter().map(|kernel| (kernel.name.as_str(), kernel.digest())).collect();
    let key = |task: &Task<'_>| {
        let kernel = digests[task.kernel.name.as_str()].as_ref()?;
        Some(kept.key(&format!("kernel {} {kernel}, {}", task.kernel.name, task.what.key())))
    };
    let keys: Vec<Option<String>> = tasks.iter().map(key).collect();
    let mut done: Vec<(usize, Result<Outcome, SweepError>)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (index, task) in tasks.iter().enumerate() {
        match keys[index].as_ref().and_then(|key| kept.read(key)) {
            Some(outcome) => {
                watcher.end(index, &task.name(), Ended::Kept);
                done.push((index, Ok(outcome)));
            }
            None => open.push(index),
        }
    }
    let work = |&index: &usize| {
        if stop.load(Ordering::Relaxed) {
            return Err(SweepError::Interrupted);
        }
        watcher.begin(index, &tasks[index].name());
        let outcome = tasks[index].run(stop);
        if let (Ok(outcome), Some(key)) = (&outcome, &keys[index]) {
            kept.write(key, outcome);
        }
        outcome
    };
    let ended = |place: usize, outcome: &Result<Outcome, SweepError>| {
        let index = open[place];
        watcher.end(index, &tasks[index].name(), outcome.as_ref().err().map_or(Ended::Ran, Ended::Failed));
    };
    let outcomes = run_all(&open, threads, work, ended);
    done.extend(open.iter().copied().zip(outcomes));
    // Errors are in the order of the plan, whatever was there before.
    done.sort_by_key(|(index, _)| *index);
    let mut results = Results::none(kernels);
    for (index, outcome) in done {
        let task = &tasks[index];
        let name = task.kernel.name.clone();
        match (outcome, task.what) {
            (Ok(Outcome::Measured(measured)), What::Model(point)) => {
                results.measured.entry(point.clone()).or_default().insert(name, measured);
            }
            (Ok(Outcome::Levels(strands)), What::Levels(options)) => {
                results.levels.entry(*options).or_default().insert(name, strands);
            }
            (Ok(Outcome::Cache(traffic)), What::Cache(cache)) => {
                results.caches.entry(*cache).or_default().insert(name, *traffic);
            }
            (Ok(Outcome::Usage(usage)), _) => {
                results.usage.insert(name, *usage);
            }
            (Ok(Outcome::Measured(_) | Outcome::Levels(_) | Outcome::Cache(_)), _) => {}
            (Err(error), _) => results.errors.push(error),
        }
    }
    results
}

impl What<'_> {
    /// All that is chosen.
    fn key(self) -> String {
        match self {
            What::Model(point) => format!("model {}", point.options()),
            What::Usage => "values".to_owned(),
            What::Levels(options) => format!("{options:?}"),
            What::Cache(cache) => format!("{cache:?}"),
        }
    }
}

impl Task<'_> {
    fn name(&self) -> RunName {
        let (engine, what) = match self.what {
            What::Model(point) => ("model", point.options()),
            What::Usage => ("oracle", "values".to_owned()),
            What::Levels(options) => ("oracle", levels::name(options)),
            What::Cache(cache) => ("oracle", format!("a cache of {}", cache.entries)),
        };
        RunName { kernel: self.kernel.name.clone(), engine, what }
    }

    fn run(&self, stop: &'static AtomicBool) -> Result<Outcome, SweepError> {
        let Kernel { manifest, image, .. } = self.kernel;
        let mut session = Session::new(manifest, image).map_err(|e| SweepError::Input(e.to_string()))?;
        let oracle = || Oracle::new(Options { stop: Some(stop), ..Options::default() });
        match self.what {
            What::Model(point) => {
                let config = Config::load(Start::Preset(point.preset), &point.set)
                    .map_err(|e| SweepError::Input(e.to_string()))?;
                let mut engine = ModelEngine::new(Settings { stop, ..Settings::new(config) });
                self.launches(&mut session, &mut engine, |error| match error {
                    LaunchError::Interrupted => SweepError::Interrupted,
                    LaunchError::Refused(_) => SweepError::Input(self.sentence(error)),
                    _ => SweepError::Failed(self.sentence(error)),
                })?;
                Ok(Outcome::Measured(engine.statistics().into()))
            }
            What::Usage => {
                let mut engine = UsageEngine::new(oracle());
                self.launches(&mut session, &mut engine, |error| self.oracle_error(error, error))?;
                Ok(Outcome::Usage(Box::new(engine.usage)))
            }
            What::Levels(options) => {
                let mut engine = LevelEngine::new(oracle(), *options);
                self.launches(&mut session, &mut engine, |error| match error {
                    LevelError::Oracle(oracle) => self.oracle_error(oracle, error),
                    LevelError::Level(_) => SweepError::Failed(self.sentence(error)),
                })?;
                Ok(Outcome::Levels(engine.strands))
            }
            What::Cache(cache) => {
                let mut engine = CacheEngine::new(oracle(), *cache);
                self.launches(&mut session, &mut engine, |error| self.oracle_error(error, error))?;
                Ok(Outcome::Cache(Box::new(engine.traffic)))
            }
        }
    }

    fn oracle_error(&self, error: &OracleError, word: &dyn std::fmt::Display) -> SweepError {
        match error {
            OracleError::Fault(fault) if matches!(fault.kind, FaultKind::Stopped) => SweepError::Interrupted,
            _ => SweepError::Failed(self.sentence(word)),
        }
    }

    /// Runs the launches and looks at what they left.
    fn launches<E: Engine>(
        &self,
        session: &mut Session<'_>,
        engine: &mut E,
        word: impl FnOnce(&E::Error) -> SweepError,
    ) -> Result<(), SweepError> {
        session.run(engine).map_err(|error| match &error {
            RunError::Engine(error) => word(error),
            RunError::Passes { .. } | RunError::Fault { .. } => SweepError::Failed(self.sentence(&error)),
        })?;
        let checks = session.checks().map_err(|e| SweepError::Input(e.to_string()))?;
        match checks.iter().find(|row| !row.ok) {
            Some(row) => Err(SweepError::Failed(self.sentence(&format!("buffer {} is wrong", row.buffer)))),
            None => Ok(()),
        }
    }

    fn sentence(&self, what: &dyn std::fmt::Display) -> String {
        let Kernel { path, schedule, .. } = self.kernel;
        let order = match schedule {
            Schedule::None => String::new(),
            other => format!(" --set compiler.schedule={}", other.name()),
        };
        let again = match self.what {
            What::Model(point) => format!("gpurf run {path} --engine model {}{order}", point.options()),
            What::Usage | What::Cache(_) => format!("gpurf run {path} --engine functional{order}"),
            What::Levels(_) => format!("gpurf report hierarchy --kernel {path} --schedule {}", schedule.name()),
        };
        format!("{}: {what}\n  again: {again}", self.kernel.name)
    }
}

#[cfg(test)]
impl<'a> Results<'a> {
    /// Results that no run gave: of each kernel, at each configuration, on the oracle.
    pub fn made(
        kernels: &'a [Kernel],
        plan: &SweepPlan,
        run: impl Fn(&Kernel, &Point) -> Option<Measured>,
        usage: &Usage,
        levels: impl Fn(&Kernel, &HierarchyOptions) -> Option<LevelCounts>,
    ) -> Self {
        let mut results = Self::none(kernels);
        for kernel in kernels {
            for point in &plan.points {
                let measured = results.measured.entry(point.clone()).or_default();
                measured.extend(run(kernel, point).map(|run| (kernel.name.clone(), run)));
            }
            results.usage.insert(kernel.name.clone(), usage.clone());
            for options in &plan.levels {
                let counted = results.levels.entry(*options).or_default();
                let strands = |counts| Strands::from([((kernel.name.clone(), 0), counts)]);
                counted.extend(levels(kernel, options).map(|counts| (kernel.name.clone(), strands(counts))));
            }
            for cache in &plan.caches {
                let traffic = run(kernel, &crate::cached::two(cache.entries as u32))
                    .map(|run| (kernel.name.clone(), crate::cached::of_cache(&run)));
                results.caches.entry(*cache).or_default().extend(traffic);
            }
        }
        results
    }
}

impl<'a> Results<'a> {
    /// Of no runs yet.
    fn none(kernels: &'a [Kernel]) -> Self {
        Self {
            kernels,
            measured: BTreeMap::new(),
            usage: BTreeMap::new(),
            levels: HashMap::new(),
            caches: HashMap::new(),
            errors: Vec::new(),
        }
    }
}

impl Results<'_> {
    /// The order of the kernels' instructions; without kernels, that of the PTX.
    pub fn schedule(&self) -> Schedule {
        self.kernels.first().map_or(Schedule::None, |kernel| kernel.schedule)
    }

    /// What the kernels run on; without kernels, nothing of the project's.
    pub fn size(&self) -> Size {
        self.kernels.first().map_or(Size::Own, |kernel| kernel.size)
    }

    /// A value for each kernel, from its run at a configuration; nothing unless all of them ran to their end.
    pub fn each(&self, point: &Point, value: impl Fn(&Measured) -> f64) -> Option<PerKernel> {
        let measured = self.measured.get(point).filter(|measured| measured.len() == self.kernels.len())?;
        Some(measured.iter().map(|(name, measured)| (name.clone(), value(measured))).collect())
    }

    /// A value for each kernel, from its runs at two configurations.
    pub fn both(&self, a: &Point, b: &Point, value: impl Fn(&Measured, &Measured) -> f64) -> Option<PerKernel> {
        let [a, b] = [a, b].map(|point| self.measured.get(point).filter(|m| m.len() == self.kernels.len()));
        let b = b?;
        Some(a?.iter().map(|(name, measured)| (name.clone(), value(measured, &b[name]))).collect())
    }

    /// A value for each kernel, from the use of its values.
    pub fn usage(&self, value: impl Fn(&Usage) -> f64) -> Option<PerKernel> {
        let all = self.usage.len() == self.kernels.len();
        all.then(|| self.usage.iter().map(|(name, usage)| (name.clone(), value(usage))).collect())
    }

    /// A value for each kernel, from its accesses to the levels of a software-managed hierarchy.
    pub fn levels(&self, options: &HierarchyOptions, value: impl Fn(&LevelCounts) -> f64) -> Option<PerKernel> {
        let sum = |strands: &Strands| {
            let mut all = LevelCounts::default();
            strands.values().for_each(|counts| all += *counts);
            all
        };
        Some(self.strands(options)?.iter().map(|(name, strands)| (name.clone(), value(&sum(strands)))).collect())
    }

    /// Accesses in each strand of each kernel, likewise.
    pub fn strands(&self, options: &HierarchyOptions) -> Option<&BTreeMap<String, Strands>> {
        self.levels.get(options).filter(|kernels| kernels.len() == self.kernels.len())
    }

    /// A value for each kernel, from what a cache reads and writes in program order.
    pub fn followed(&self, cache: &FollowedCache, value: impl Fn(&Traffic) -> f64) -> Option<PerKernel> {
        let kernels = self.caches.get(cache).filter(|kernels| kernels.len() == self.kernels.len())?;
        Some(kernels.iter().map(|(name, traffic)| (name.clone(), value(traffic))).collect())
    }

    /// The use of values in each kernel that ran.
    pub fn usages(&self) -> impl Iterator<Item = &Usage> {
        self.usage.values()
    }

    /// The command that makes a part of a report, for one kernel or all of them.
    pub fn part_command(&self, report: &str, part: &str, kernel: Option<&str>) -> String {
        let kernel = kernel.map_or_else(String::new, |name| format!(" --kernel {}", self.path(name)));
        format!("gpurf report {report} --only {part}{kernel}")
    }

    /// How commands name a kernel's manifest.
    fn path<'a>(&'a self, kernel: &'a str) -> &'a str {
        self.kernels.iter().find(|k| k.name == kernel).map_or(kernel, |k| k.path.as_str())
    }
}

/// A value at one configuration by that at another one, of each kernel.
pub fn by(results: &Results<'_>, a: &Point, b: &Point, value: impl Fn(&Measured) -> f64) -> Option<PerKernel> {
    results.both(a, b, |a, b| crate::ratio(value(a), value(b)))
}

/// The mean over kernels of a value at a configuration.
pub fn mean_of(results: &Results<'_>, point: &Point, value: impl Fn(&Measured) -> f64) -> Option<f64> {
    results.each(point, value).map(|values| mean(&values))
}

#[cfg(test)]
impl SweepPlan {
    /// Accesses to levels of three entries: for tests that ask only whether options differ.
    pub(crate) fn some_levels(&mut self, partial_ranges: bool) {
        self.levels(HierarchyOptions { orf_entries: 3, partial_ranges, ..HierarchyOptions::NONE });
    }
}
