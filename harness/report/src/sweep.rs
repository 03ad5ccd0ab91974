//! Sweeps: many runs of kernels on configurations of the model, and on the oracle.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gpurf_blocks::config::{Config, ConfigError, SharedResource, Start};
use gpurf_compiler::RegisterOrder;
use gpurf_compiler::hierarchy::HierarchyOptions;
use gpurf_energy::Traffic;
use gpurf_isa::Image;
use gpurf_launch::{Init, Manifest};
use gpurf_machine::{
    Foreseen, LaunchDemand, LaunchError, Machine, ModelEngine, SampledEngine, Settings, Statistics, demands,
};
use gpurf_oracle::host::{Engine, OracleError, RunError, Session};
use gpurf_oracle::levels::LevelCounts;
use gpurf_oracle::{FaultKind, Options, Oracle};
use gpurf_regress::golden::digest_of;
use gpurf_regress::{REGISTERS, compiled_for, run_all};
use gpurf_sm::residency::{Room, Sharing};
use gpurf_stimulus::program::compiler_options;
use serde::{Deserialize, Serialize};

use crate::code::Code;
use crate::follow::FollowedCache;
use crate::kept::Kept;
use crate::levels::{self, Strands};
use crate::row::{Absent, PerKernel, mean};
use crate::usage::Usage;
use crate::watched::{WatchError, WatchedEngine};

/// The default number of cycles after which no new block of a launch starts (docs/reports.md, "Samples").
pub const SAMPLE: u64 = 200_000;

/// The data on which the kernels of a report run.
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
    /// The size in words.
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
    /// Its name in rows.
    pub name: String,
    /// Its manifest's path in commands.
    pub path: String,
    /// The manifest.
    pub manifest: Manifest,
    /// The machine code.
    pub image: Image,
    /// Its source, for machines that need code of their own; `None` if the source is assembly.
    pub ptx: Option<Ptx>,
    /// How it is compiled.
    pub code: Code,
    /// The data on which it runs.
    pub size: Size,
    /// The name of other data than a report usually has, on which it runs: only points on these data run it.
    pub data: Option<String>,
    /// Cycles after which no new block of a launch starts on the model, which then takes its counts as a sample of the launch; `None`: all blocks
    /// run.
    pub sample: Option<u64>,
}

impl Kernel {
    /// A digest of everything that decides its results: manifest, contents of the files that the manifest names, machine code, PTX, and compiler
    /// choices, as the PTX is compiled again for some machines. `None` if a file cannot be read: the run then reports the error.
    fn digest(&self) -> Option<String> {
        let Manifest { buffers, symbols, checks, .. } = &self.manifest;
        let inits = buffers.iter().map(|buffer| &buffer.init).chain(symbols.iter().map(|symbol| &symbol.init));
        let inputs = inits.filter_map(|init| match init {
            Init::File(file) => Some(file.as_path()),
            Init::Zero
            | Init::Iota
            | Init::Random { .. }
            | Init::Values(_)
            | Init::Layout(_)
            | Init::Addresses { .. }
            | Init::Source => None,
        });
        let files = inputs.chain(checks.iter().map(|check| check.expected.as_path()));
        let contents = |file: &Path| std::fs::read(file).ok().map(|bytes| digest_of(&bytes));
        let contents: Vec<String> = files.map(contents).collect::<Option<_>>()?;
        let image = serde_json::to_string(&self.image).ok()?;
        let ptx = self.ptx.as_ref().map(|ptx| (self.code.settings(), ptx.text.as_str()));
        let all = format!("{:?} {} {image} {ptx:?}", self.manifest, contents.join(" "));
        Some(digest_of(all.as_bytes()))
    }

    /// The resources that each of its launches needs.
    pub fn demands(&self) -> impl Iterator<Item = LaunchDemand<'_>> {
        demands(&self.manifest, &self.image)
    }

    /// Whether a block of each launch fits the SM of a configuration.
    pub fn fits(&self, config: &Config) -> bool {
        self.demands().all(|LaunchDemand { demand, threads, .. }| {
            Room::of_launch(config, threads).residency(&demand, Sharing::of(config)).hosts > 0
        })
    }

    /// Registers of a thread: the maximum over the image's kernels.
    pub fn registers(&self) -> u16 {
        self.image.kernels.iter().map(|kernel| kernel.registers).max().unwrap_or(0)
    }
}

/// A file of PTX.
#[derive(Clone, Debug)]
pub struct Ptx {
    /// Its name for the compiler.
    pub name: String,
    /// Its contents.
    pub text: String,
}

/// A configuration: a preset with settings, and the kernels that are run on it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Point {
    /// The preset.
    pub preset: &'static str,
    /// Settings, `key=value`.
    pub set: Vec<String>,
    /// Whether times of results are measured in addition to events.
    pub measured: bool,
    /// Whether kernels are skipped if not even one of their blocks fits.
    pub fitting: bool,
    /// If present, only kernels whose names start with this are run.
    pub only: Option<&'static str>,
    /// The data on which kernels are run; `None`: the report's usual data.
    pub data: Option<&'static str>,
}

impl Point {
    /// A preset without settings, for all kernels.
    pub fn preset(preset: &'static str) -> Self {
        Self { preset, set: Vec::new(), measured: false, fitting: false, only: None, data: None }
    }

    /// Adds a setting.
    pub fn with(mut self, setting: impl Into<String>) -> Self {
        self.set.push(setting.into());
        self
    }

    /// The same configuration, with times of results measured.
    pub fn measured(self) -> Self {
        Self { measured: true, ..self }
    }

    /// The same configuration, run only with the kernels that fit.
    pub fn fitting(self) -> Self {
        Self { fitting: true, ..self }
    }

    /// The same configuration, run only with the kernels whose names start with `name`.
    pub fn only(self, name: &'static str) -> Self {
        Self { only: Some(name), ..self }
    }

    /// The same configuration, run only with the kernels that have other data of this name.
    pub fn on(self, data: &'static str) -> Self {
        Self { data: Some(data), ..self }
    }

    /// Whether this configuration is run with a kernel.
    pub fn runs(&self, kernel: &Kernel) -> bool {
        let named = self.only.is_none_or(|name| kernel.name.starts_with(name)) && kernel.data.as_deref() == self.data;
        named && (!self.fitting || self.config().is_ok_and(|config| kernel.fits(&config)))
    }

    /// The value that this point itself sets for the key of a setting.
    fn own(&self, setting: &str) -> Option<&str> {
        let key = setting.split_once('=').map_or(setting, |(key, _)| key);
        self.set.iter().rev().find_map(|set| set.strip_prefix(key)?.strip_prefix('='))
    }

    /// The whole configuration: all sizes and policies.
    ///
    /// # Errors
    /// If there is no such preset, key or value.
    pub fn config(&self) -> Result<Config, ConfigError> {
        Config::load(Start::Preset(self.preset), &self.set)
    }

    /// The command-line options that choose this configuration.
    pub fn options(&self) -> String {
        self.set.iter().fold(format!("--preset {}", self.preset), |text, setting| format!("{text} --set {setting}"))
    }
}

/// The counts of one run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Cycles.
    pub cycles: u64,
    /// Counts of events, by name.
    pub events: BTreeMap<Cow<'static, str>, u64>,
    /// Distributions of the fields whose values are counted one by one.
    pub spreads: BTreeMap<Cow<'static, str>, BTreeMap<u64, u64>>,
}

impl Measured {
    /// Cycles, and counts of events.
    pub fn new(cycles: u64, events: impl IntoIterator<Item = (&'static str, u64)>) -> Self {
        let events = events.into_iter().map(|(name, count)| (name.into(), count)).collect();
        Self { cycles, events, ..Self::default() }
    }

    /// The count of an event, or 0 if it was not counted; a report that names no existing event has a defect.
    pub fn event(&self, name: &str) -> u64 {
        self.events.get(name).copied().unwrap_or(0)
    }

    /// The number of times that a field had each of its values.
    pub fn spread(&self, name: &str) -> BTreeMap<u64, u64> {
        self.spreads.get(name).cloned().unwrap_or_default()
    }

    /// The average count of an event per cycle.
    pub fn a_cycle(&self, name: &str) -> f64 {
        crate::ratio(self.event(name) as f64, self.cycles as f64)
    }

    /// Instructions of warps per cycle.
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

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The configuration, the kernel, or their combination is invalid: the user's choice.
    #[error("{0}")]
    Input(String),
    /// The kernel's results on the model are wrong.
    #[error("{0}")]
    Failed(String),
    /// The user ended the run.
    #[error("interrupted")]
    Interrupted,
}

/// Receives the progress of a sweep.
pub trait Watcher: Sync {
    /// A run begins.
    fn begin(&self, index: usize, name: &RunName);
    /// A run has ended, or its result was already on disk.
    fn end(&self, index: usize, name: &RunName, how: Ended<'_>);
}

/// How a run has ended.
#[derive(Clone, Copy, Debug)]
pub enum Ended<'a> {
    /// It ran and has a result.
    Ran,
    /// Its result was already on disk.
    Kept,
    /// It has no result.
    Failed(&'a SweepError),
}

/// A run, described in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunName {
    /// The kernel.
    pub kernel: String,
    /// The engine that runs it.
    pub engine: &'static str,
    /// The configuration, or the quantity that is counted.
    pub what: String,
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, on the {}", self.kernel, self.what, self.engine)
    }
}

/// The runs of a sweep.
#[derive(Clone, Debug, Default)]
pub struct SweepPlan {
    /// Configurations of the model, without duplicates.
    points: BTreeSet<Point>,
    /// Configurations that only the reasons of rows need.
    experiments: BTreeSet<Point>,
    /// Whether the use of values is counted on the oracle.
    usage: bool,
    /// Software-managed hierarchies whose accesses are counted on the oracle, without duplicates.
    levels: Vec<HierarchyOptions>,
    /// Caches that are simulated in program order on the oracle, without duplicates.
    caches: Vec<FollowedCache>,
}

impl SweepPlan {
    /// Adds a configuration.
    pub fn point(&mut self, point: Point) {
        self.points.insert(point);
    }

    /// Adds a configuration that only the reason of a row needs.
    pub fn experiment(&mut self, point: Point) {
        self.experiments.insert(point);
    }

    /// Requests counts of the use of values.
    pub fn usage(&mut self) {
        self.usage = true;
    }

    /// Requests counts of the accesses to the levels of a software-managed hierarchy.
    pub fn levels(&mut self, options: HierarchyOptions) {
        if !self.levels.contains(&options) {
            self.levels.push(options);
        }
    }

    /// Requests the simulation of a cache in program order.
    pub fn cache(&mut self, cache: FollowedCache) {
        if !self.caches.contains(&cache) {
            self.caches.push(cache);
        }
    }

    /// All configurations of the model, including those of experiments.
    pub fn points(&self) -> impl Iterator<Item = &Point> {
        self.points.union(&self.experiments)
    }

    /// The plan without the experiments.
    pub fn without_experiments(self) -> Self {
        Self { experiments: BTreeSet::new(), ..self }
    }

    /// Each machine, and the machine with one setting changed, without the experiments. A machine that sets the key itself is in the plan for that
    /// value and keeps it, unless all machines set the same value. A machine stays as it is if it refuses the setting, or if its warps keep their
    /// slots (`sm.stay`) and would be more than the slots.
    fn changed(&self, setting: &str) -> impl Iterator<Item = (&Point, Point)> {
        let mut values = self.points.iter().map(|point| point.own(setting));
        let first = values.next().flatten();
        let same = first.is_some() && values.all(|value| value == first);
        self.points.iter().map(move |point| {
            let changed = point.clone().with(setting);
            // Slots that warps never give up have to hold all warps of a block, or its barriers never open.
            let runs = changed.config().is_ok_and(|c| !c.sm.stay || c.sm.active_warps >= c.sm.warps);
            let keeps = point.own(setting).is_some() && !same || !runs;
            (point, if keeps { point.clone() } else { changed })
        })
    }

    /// The plan with one setting changed on all machines, without the experiments; `None` if this changes no machine.
    ///
    /// # Errors
    /// If no machine accepts the setting: the error of the first machine.
    pub fn with_setting(&self, setting: &str) -> Result<Option<Self>, ConfigError> {
        let pairs: Vec<(&Point, Point)> = self.changed(setting).collect();
        if pairs.iter().any(|(a, b)| *a != b && a.config().ok() != b.config().ok()) {
            let points = pairs.into_iter().map(|(_, changed)| changed).collect();
            return Ok(Some(Self { points, ..self.clone().without_experiments() }));
        }
        self.points.first().map_or(Ok(()), |point| point.clone().with(setting).config().map(|_| ())).map(|()| None)
    }

    /// Adds the runs of another plan.
    pub fn join(&mut self, other: Self) {
        self.points.extend(other.points);
        self.experiments.extend(other.experiments);
        self.usage |= other.usage;
        other.levels.into_iter().for_each(|options| self.levels(options));
        other.caches.into_iter().for_each(|cache| self.cache(cache));
    }

    /// The number of runs, if every configuration is run with all kernels.
    pub fn runs(&self, kernels: usize) -> usize {
        kernels * (self.machines().len() + usize::from(self.oracle().next().is_some()))
    }

    /// The runs, by name.
    pub fn names(&self, kernels: &[Kernel]) -> Vec<RunName> {
        self.tasks(kernels).iter().map(Task::name).collect()
    }

    /// The quantities that are counted on the oracle.
    fn oracle(&self) -> impl Iterator<Item = What<'_>> {
        let values = self.usage.then_some(What::Usage).into_iter();
        values.chain(self.levels.iter().map(What::Levels)).chain(self.caches.iter().map(What::Cache))
    }

    /// The configurations of the model, grouped by machine: different points may have the same configuration.
    fn machines(&self) -> Vec<Vec<What<'_>>> {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut machines: Vec<Vec<What<'_>>> = Vec::new();
        for what in self.points().map(What::Model) {
            let place = *places.entry(what.key()).or_insert(machines.len());
            if place == machines.len() {
                machines.push(Vec::new());
            }
            machines[place].push(what);
        }
        machines
    }

    /// The runs. On the oracle, one run of each kernel counts everything; on the model, one configuration follows the other, so that rows are
    /// complete if the sweep ends early.
    fn tasks<'a>(&'a self, kernels: &'a [Kernel]) -> Vec<Task<'a>> {
        let oracle: Vec<What<'a>> = self.oracle().collect();
        let oracle = Some(oracle).filter(|counted| !counted.is_empty());
        let all = oracle.into_iter().chain(self.machines());
        let task = |whats: &[What<'a>], kernel: &'a Kernel| {
            let whats: Vec<What<'a>> = whats.iter().copied().filter(|what| what.runs(kernel)).collect();
            (!whats.is_empty()).then_some(Task { kernel, whats })
        };
        all.flat_map(|whats| kernels.iter().filter_map(move |kernel| task(&whats, kernel))).collect()
    }
}

/// The results of a sweep, without those of runs that were interrupted or failed.
#[derive(Debug)]
pub struct Results<'a> {
    /// The kernels.
    pub kernels: &'a [Kernel],
    measured: BTreeMap<Point, BTreeMap<String, Measured>>,
    usage: BTreeMap<String, Usage>,
    levels: HashMap<HierarchyOptions, BTreeMap<String, Strands>>,
    caches: HashMap<FollowedCache, BTreeMap<String, Traffic>>,
    /// What rows lack that could be computed with other kernels.
    lacking: std::cell::RefCell<Vec<Absent>>,
    /// With a setting of all machines changed: the machine that ran in place of each.
    changed: BTreeMap<Point, Point>,
    /// Lookups of configurations, hierarchies and caches that no plan contains: such a lookup never has a result.
    #[cfg(test)]
    unplanned: std::cell::RefCell<BTreeSet<String>>,
    /// The errors of failed runs.
    pub errors: Vec<SweepError>,
}

/// One run of a kernel: on the oracle, for everything that is counted there; or on one machine of the model, for all points that have its
/// configuration.
struct Task<'a> {
    kernel: &'a Kernel,
    whats: Vec<What<'a>>,
}

/// A quantity that a run counts.
#[derive(Clone, Copy)]
enum What<'a> {
    /// Events of the model in a configuration.
    Model(&'a Point),
    /// Values, on the oracle.
    Usage,
    /// Accesses to the levels of a software-managed hierarchy, on the oracle.
    Levels(&'a HierarchyOptions),
    /// Accesses of a cache simulated in program order, on the oracle.
    Cache(&'a FollowedCache),
}

/// The counts of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Measured(Measured),
    Usage(Box<Usage>),
    #[serde(with = "levels::list")]
    Levels(Strands),
    Cache(Box<Traffic>),
}

/// Makes all runs whose results are not on disk, on `threads` threads.
pub fn sweep<'a>(
    plan: &SweepPlan,
    kernels: &'a [Kernel],
    threads: usize,
    stop: &'static AtomicBool,
    kept: &Kept,
    watcher: &impl Watcher,
) -> Results<'a> {
    let tasks: Vec<Task<'_>> = plan.tasks(kernels);
    let digests: HashMap<&str, Option<String>> =
        kernels.iter().map(|kernel| (kernel.name.as_str(), kernel.digest())).collect();
    let key = |task: &Task<'_>, what: What<'_>| {
        let kernel = digests[task.kernel.name.as_str()].as_ref()?;
        let sample = task.kernel.sample.filter(|_| matches!(what, What::Model(_)));
        let sample = sample.map_or_else(String::new, |limit| format!(", a sample of {limit} cycles"));
        Some(kept.key(&format!("kernel {} {kernel}, {}{sample}", task.kernel.name, what.key())))
    };
    let foreseen: HashMap<&str, Arc<Foreseen>> =
        kernels.iter().map(|kernel| (kernel.name.as_str(), Arc::default())).collect();
    let there = |task: &Task<'_>, what: What<'_>| kept.read(&key(task, what)?);
    let mut results = Results::none(kernels);
    let mut open: Vec<(usize, Task<'_>)> = Vec::new();
    for (index, task) in tasks.into_iter().enumerate() {
        let mut left = Vec::new();
        for &what in &task.whats {
            match there(&task, what) {
                Some(outcome) => results.put(task.kernel, what, outcome),
                None => left.push(what),
            }
        }
        if left.is_empty() {
            watcher.end(index, &task.name(), Ended::Kept);
        } else {
            open.push((index, Task { whats: left, ..task }));
        }
    }
    let work = |(index, task): &(usize, Task<'_>)| {
        if stop.load(Ordering::Relaxed) {
            return Err(SweepError::Interrupted);
        }
        watcher.begin(*index, &task.name());
        let outcomes = task.run(stop, &foreseen[task.kernel.name.as_str()])?;
        for (what, outcome) in task.whats.iter().zip(&outcomes) {
            if let Some(key) = key(task, *what) {
                kept.write(&key, outcome);
            }
        }
        Ok(outcomes)
    };
    let ended = |place: usize, outcome: &Result<Vec<Outcome>, SweepError>| {
        let (index, task) = &open[place];
        watcher.end(*index, &task.name(), outcome.as_ref().err().map_or(Ended::Ran, Ended::Failed));
    };
    let outcomes = run_all(&open, threads, work, ended);
    // Errors are in the order of the plan, whatever results were already on disk.
    for ((_, task), outcomes) in open.iter().zip(outcomes) {
        match outcomes {
            Ok(outcomes) => {
                task.whats.iter().zip(outcomes).for_each(|(&what, outcome)| results.put(task.kernel, what, outcome));
            }
            Err(error) => results.errors.push(error),
        }
    }
    results
}

impl What<'_> {
    /// A text that identifies the quantity. Points with the same configuration have the same text.
    fn key(self) -> String {
        match self {
            What::Model(point) => match point.config() {
                Ok(config) => {
                    let measured = if point.measured { ", measured" } else { "" };
                    format!("model {}{measured}", config.settings().join(" "))
                }
                Err(_) => format!("model {}", point.options()),
            },
            What::Usage => "values".to_owned(),
            What::Levels(options) => format!("{options:?}"),
            What::Cache(cache) => format!("{cache:?}"),
        }
    }

    /// Whether the quantity is counted for a kernel.
    fn runs(self, kernel: &Kernel) -> bool {
        match self {
            What::Model(point) => point.runs(kernel),
            What::Usage | What::Levels(_) | What::Cache(_) => true,
        }
    }

    /// The quantity in words.
    fn words(self) -> String {
        match self {
            What::Model(point) if point.measured => format!("{}, measured", point.options()),
            What::Model(point) => point.options(),
            What::Usage => "values".to_owned(),
            What::Levels(options) => levels::name(options),
            What::Cache(cache) => format!("a cache of {}", cache.entries),
        }
    }
}

/// A kernel's code with the register names, levels and marks that a configuration requires. Options on scratchpad memory take effect before register
/// allocation, so for these the PTX is compiled again.
fn marked<'a>(kernel: &'a Kernel, config: &Config) -> Result<Cow<'a, Image>, SweepError> {
    let Kernel { manifest, image, ptx, code, .. } = kernel;
    let options = compiler_options(config, REGISTERS);
    let shares = config.share.present && config.share.resource == SharedResource::Scratchpad;
    if let Some(Ptx { name, text }) = ptx.as_ref().filter(|_| shares || options.scratchpad != Default::default()) {
        let compiled = compiled_for(text, name, &code.on(config), REGISTERS, manifest);
        return compiled.map(|compiled| Cow::Owned(compiled.image)).map_err(|e| SweepError::Input(e.to_string()));
    }
    let renamed = options.register_order != RegisterOrder::Allocated;
    if !renamed && !options.have_levels() && options.power_threshold == 0 {
        return Ok(Cow::Borrowed(image));
    }
    let mut image = image.clone();
    for code in image.kernels.iter_mut().map(|kernel| &mut kernel.code) {
        gpurf_compiler::name_registers(code, options.register_order);
        gpurf_compiler::mark(code, &options);
    }
    Ok(Cow::Owned(image))
}

impl Task<'_> {
    fn name(&self) -> RunName {
        let first = self.whats.first().copied();
        let engine = if matches!(first, Some(What::Model(_))) { "model" } else { "oracle" };
        let what = match (first, self.whats.len()) {
            (Some(only), 1) => only.words(),
            (Some(What::Model(point)), _) => point.options(),
            (_, counted) => format!("{counted} things to count"),
        };
        RunName { kernel: self.kernel.name.clone(), engine, what }
    }

    /// Makes the run; returns the outcome of each of its quantities.
    fn run(&self, stop: &'static AtomicBool, foreseen: &Arc<Foreseen>) -> Result<Vec<Outcome>, SweepError> {
        let Kernel { manifest, image, .. } = self.kernel;
        let session = |image| Session::new(manifest, image).map_err(|e| SweepError::Input(e.to_string()));
        if let Some(What::Model(point)) = self.whats.first() {
            let config = point.config().map_err(|e| SweepError::Input(e.to_string()))?;
            let marked = marked(self.kernel, &config)?;
            let measured = self.run_model(&mut session(&*marked)?, config, point.measured, stop, foreseen)?;
            return Ok(vec![Outcome::Measured(measured); self.whats.len()]);
        }
        let mut session = session(image)?;
        let mut engine = WatchedEngine::new(Oracle::new(Options { stop: Some(stop), ..Options::default() }));
        for what in &self.whats {
            match what {
                What::Usage => engine.usage(),
                What::Levels(options) => engine.levels(**options),
                What::Cache(cache) => engine.cache(**cache),
                What::Model(_) => {}
            }
        }
        self.launches(&mut session, &mut engine, |error| match error {
            WatchError::Oracle(oracle) => self.oracle_error(oracle, error),
            WatchError::Level(_) => SweepError::Failed(self.sentence(error)),
        })?;
        let counted = |what: &What<'_>| match what {
            What::Usage => engine.counted_usage().cloned().map(|usage| Outcome::Usage(Box::new(usage))),
            What::Levels(options) => engine.counted_levels(options).map(Outcome::Levels),
            What::Cache(cache) => engine.counted_cache(cache).map(|traffic| Outcome::Cache(Box::new(traffic))),
            What::Model(_) => None,
        };
        Ok(self.whats.iter().map(|what| counted(what).expect("the engine counts what it was asked for")).collect())
    }

    fn run_model(
        &self,
        session: &mut Session<'_>,
        config: Config,
        measure: bool,
        stop: &'static AtomicBool,
        foreseen: &Arc<Foreseen>,
    ) -> Result<Measured, SweepError> {
        let settings = Settings { stop, measure, ..Settings::new(config) };
        let word = |error: &LaunchError| match error {
            LaunchError::Interrupted => SweepError::Interrupted,
            LaunchError::Refused(_) => SweepError::Input(self.sentence(error)),
            _ => SweepError::Failed(self.sentence(error)),
        };
        let statistics = match self.kernel.sample {
            Some(limit) => {
                let mut engine = SampledEngine::sharing(settings, limit, foreseen.clone());
                self.launches(session, &mut engine, word)?;
                engine.statistics()
            }
            None => {
                let mut engine = ModelEngine::new(settings);
                self.launches(session, &mut engine, word)?;
                engine.statistics()
            }
        };
        Ok(statistics.into())
    }

    fn oracle_error(&self, error: &OracleError, word: &dyn std::fmt::Display) -> SweepError {
        match error {
            OracleError::Fault(fault) if matches!(fault.kind, FaultKind::Stopped) => SweepError::Interrupted,
            _ => SweepError::Failed(self.sentence(word)),
        }
    }

    /// Runs the launches and checks their results.
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
        let Kernel { path, code, .. } = self.kernel;
        let (path, settings) = (gpurf_lockstep::quoted(path), code.settings());
        let again = match self.whats.first() {
            Some(What::Model(point)) => format!("gpurf run {path} --engine model {}{settings}", point.options()),
            Some(What::Levels(_)) => format!("gpurf report hierarchy --kernel {path}{}", code.options(None)),
            _ => format!("gpurf run {path} --engine functional{settings}"),
        };
        format!("{}: {what}\n  again: {again}", self.kernel.name)
    }
}

#[cfg(test)]
impl<'a> Results<'a> {
    /// The lookups so far that no plan contains.
    pub fn unplanned(&self) -> BTreeSet<String> {
        self.unplanned.borrow().clone()
    }

    /// Results made without runs: of each kernel, in each configuration and on the oracle.
    pub fn made(
        kernels: &'a [Kernel],
        plan: &SweepPlan,
        run: impl Fn(&Kernel, &Point) -> Option<Measured>,
        usage: &Usage,
        levels: impl Fn(&Kernel, &HierarchyOptions) -> Option<LevelCounts>,
    ) -> Self {
        let mut results = Self::none(kernels);
        for kernel in kernels {
            for point in plan.points() {
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
    /// No results.
    fn none(kernels: &'a [Kernel]) -> Self {
        Self {
            kernels,
            measured: BTreeMap::new(),
            usage: BTreeMap::new(),
            levels: HashMap::new(),
            caches: HashMap::new(),
            lacking: Default::default(),
            changed: BTreeMap::new(),
            #[cfg(test)]
            unplanned: Default::default(),
            errors: Vec::new(),
        }
    }

    /// Adds an outcome.
    fn put(&mut self, kernel: &Kernel, what: What<'_>, outcome: Outcome) {
        let name = kernel.name.clone();
        match (outcome, what) {
            (Outcome::Measured(measured), What::Model(point)) => {
                self.measured.entry(point.clone()).or_default().insert(name, measured);
            }
            (Outcome::Levels(strands), What::Levels(options)) => {
                self.levels.entry(*options).or_default().insert(name, strands);
            }
            (Outcome::Cache(traffic), What::Cache(cache)) => {
                self.caches.entry(*cache).or_default().insert(name, *traffic);
            }
            (Outcome::Usage(usage), What::Usage) => {
                self.usage.insert(name, *usage);
            }
            // The outcome of another kind of run. This cannot happen, because its key would differ.
            (Outcome::Measured(_) | Outcome::Levels(_) | Outcome::Cache(_) | Outcome::Usage(_), _) => {}
        }
    }
}

impl<'a> Results<'a> {
    /// The results of a plan's machines with one setting changed, under the machines' original names.
    ///
    /// A machine that sets the value itself is left out if another machine becomes the same with the setting: a row that compares both would compare
    /// a machine with itself.
    pub fn with_setting(&self, plan: &SweepPlan, setting: &str) -> Results<'a> {
        let pairs = || plan.changed(setting);
        let became: HashSet<String> = pairs()
            .filter(|(point, changed)| *point != changed)
            .map(|(_, changed)| What::Model(&changed).key())
            .collect();
        let run = |(point, changed): (&Point, Point)| {
            let same = *point == changed && became.contains(&What::Model(point).key());
            (!same).then_some((point.clone(), self.measured.get(&changed)?.clone()))
        };
        Results {
            kernels: self.kernels,
            measured: pairs().filter_map(run).collect(),
            usage: self.usage.clone(),
            levels: self.levels.clone(),
            caches: self.caches.clone(),
            lacking: Default::default(),
            changed: pairs().map(|(point, changed)| (point.clone(), changed)).collect(),
            #[cfg(test)]
            unplanned: Default::default(),
            errors: Vec::new(),
        }
    }
}

impl Results<'_> {
    /// The compiler choices for the kernels; those of the PTX if there are no kernels.
    pub fn code(&self) -> Code {
        self.kernels.first().map_or(Code::PTX, |kernel| kernel.code)
    }

    /// Cycles after which no new block of a launch starts on the model, if launches are sampled.
    pub fn sample(&self) -> Option<u64> {
        self.kernels.first().and_then(|kernel| kernel.sample)
    }

    /// The data on which the kernels run; [`Size::Own`] if there are no kernels.
    pub fn size(&self) -> Size {
        self.kernels.first().map_or(Size::Own, |kernel| kernel.size)
    }

    /// A value of each kernel, from its run in a configuration; `None` unless the runs of all kernels completed.
    pub fn each(&self, point: &Point, value: impl Fn(&Measured) -> f64) -> Option<PerKernel> {
        let measured = self.at(point).filter(|measured| measured.len() == self.kernels.len())?;
        Some(measured.iter().map(|(name, measured)| (name.clone(), value(measured))).collect())
    }

    /// A kernel's run at a configuration.
    pub fn run(&self, kernel: &str, point: &Point) -> Option<&Measured> {
        self.at(point)?.get(kernel)
    }

    /// Notes that rows are missing for a reason that is not an error of a run.
    pub fn lacks(&self, absent: Absent) {
        let mut lacking = self.lacking.borrow_mut();
        if !lacking.contains(&absent) {
            lacking.push(absent);
        }
    }

    /// What has been noted so far.
    pub fn lacking(&self) -> Vec<Absent> {
        self.lacking.borrow().clone()
    }

    /// Whether a kernel runs in a configuration: on the machine that ran as this configuration.
    pub fn runs(&self, point: &Point, kernel: &Kernel) -> bool {
        self.changed.get(point).unwrap_or(point).runs(kernel)
    }

    /// The sizes and policies of the machine that ran as this configuration; `None` if there is no such machine.
    pub fn config(&self, point: &Point) -> Option<Config> {
        self.changed.get(point).unwrap_or(point).config().ok()
    }

    /// The runs in a configuration, by kernel.
    fn at(&self, point: &Point) -> Option<&BTreeMap<String, Measured>> {
        self.found(self.measured.get(point), || point.options())
    }

    /// The result of a lookup. A test records the lookup if there is none.
    fn found<T>(&self, there: Option<T>, name: impl FnOnce() -> String) -> Option<T> {
        #[cfg(test)]
        if there.is_none() {
            self.unplanned.borrow_mut().insert(name());
        }
        #[cfg(not(test))]
        let _ = name;
        there
    }

    /// A value of each kernel, from its runs in two configurations; `None` unless all runs completed.
    pub fn both(&self, a: &Point, b: &Point, value: impl Fn(&Measured, &Measured) -> f64) -> Option<PerKernel> {
        let [a, b] = [a, b].map(|point| self.at(point).filter(|m| m.len() == self.kernels.len()));
        let b = b?;
        Some(a?.iter().map(|(name, measured)| (name.clone(), value(measured, &b[name]))).collect())
    }

    /// A value of each kernel, from the use of its values; `None` unless all runs completed.
    pub fn usage(&self, value: impl Fn(&Usage) -> f64) -> Option<PerKernel> {
        let all = self.usage.len() == self.kernels.len();
        all.then(|| self.usage.iter().map(|(name, usage)| (name.clone(), value(usage))).collect())
    }

    /// A value of each kernel, from its accesses to the levels of a software-managed hierarchy; `None` unless all runs completed.
    pub fn levels(&self, options: &HierarchyOptions, value: impl Fn(&LevelCounts) -> f64) -> Option<PerKernel> {
        let sum = |strands: &Strands| {
            let mut all = LevelCounts::default();
            strands.values().for_each(|counts| all += *counts);
            all
        };
        Some(self.strands(options)?.iter().map(|(name, strands)| (name.clone(), value(&sum(strands)))).collect())
    }

    /// Accesses in each strand of each kernel; `None` unless all runs completed.
    pub fn strands(&self, options: &HierarchyOptions) -> Option<&BTreeMap<String, Strands>> {
        self.found(self.levels.get(options), || levels::name(options))
            .filter(|kernels| kernels.len() == self.kernels.len())
    }

    /// A value of each kernel, from the accesses of a cache simulated in program order; `None` unless all runs completed.
    pub fn followed(&self, cache: &FollowedCache, value: impl Fn(&Traffic) -> f64) -> Option<PerKernel> {
        let kernels = self.found(self.caches.get(cache), || format!("{cache:?}"));
        let kernels = kernels.filter(|kernels| kernels.len() == self.kernels.len())?;
        Some(kernels.iter().map(|(name, traffic)| (name.clone(), value(traffic))).collect())
    }

    /// The use of values in each kernel that ran.
    pub fn usages(&self) -> impl Iterator<Item = &Usage> {
        self.usage.values()
    }

    /// The command that makes a part of a report, for one kernel or for all.
    pub fn part_command(&self, report: &str, part: &str, kernel: Option<&str>) -> String {
        let kernel =
            kernel.map_or_else(String::new, |name| format!(" --kernel {}", gpurf_lockstep::quoted(self.path(name))));
        format!("gpurf report {report} --only {part}{kernel}")
    }

    /// A kernel's manifest in commands.
    fn path<'a>(&'a self, kernel: &'a str) -> &'a str {
        self.kernels.iter().find(|k| k.name == kernel).map_or(kernel, |k| k.path.as_str())
    }
}

/// A value in one configuration relative to that in another, for each kernel.
pub fn by(results: &Results<'_>, a: &Point, b: &Point, value: impl Fn(&Measured) -> f64) -> Option<PerKernel> {
    results.both(a, b, |a, b| crate::ratio(value(a), value(b)))
}

/// The mean over kernels of a value in a configuration.
pub fn mean_of(results: &Results<'_>, point: &Point, value: impl Fn(&Measured) -> f64) -> Option<f64> {
    results.each(point, value).map(|values| mean(&values))
}

#[cfg(test)]
impl SweepPlan {
    /// Requests accesses to the levels of a hierarchy with three entries, for tests that need only different options.
    pub(crate) fn some_levels(&mut self, partial_ranges: bool) {
        self.levels(HierarchyOptions { orf_entries: 3, partial_ranges, ..HierarchyOptions::NONE });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel compiled as a report compiles it.
    fn kernel(name: &str) -> Kernel {
        let path = |ending: &str| format!("{}/../../tests/kernels/{name}.{ending}", env!("CARGO_MANIFEST_DIR"));
        let ptx = Ptx { name: path("ptx"), text: std::fs::read_to_string(path("ptx")).unwrap() };
        let options = gpurf_compiler::Options { registers: REGISTERS, ..Default::default() };
        Kernel {
            name: name.to_owned(),
            path: path("toml"),
            manifest: Manifest::load(path("toml").as_ref()).unwrap(),
            image: gpurf_compiler::compile(&ptx.text, &ptx.name, &options).unwrap().image,
            ptx: Some(ptx),
            code: Code::PTX,
            size: Size::Small,
            data: None,
            sample: None,
        }
    }

    /// Compiler options that leave the common code unchanged may change the code of machines that share scratchpad memory.
    #[test]
    fn results_are_those_of_a_kernels_code() {
        let codes = [None, Some("compiler.schedule=tree"), Some("compiler.address_bits=32")];
        let code =
            |setting: Option<&str>| setting.map_or(Code::PTX, |setting| Code::PTX.with_setting(setting).unwrap());
        let [plain, tree, narrow] = codes.map(|setting| Kernel { code: code(setting), ..kernel("saxpy") });
        assert_eq!(plain.digest(), kernel("saxpy").digest());
        assert_ne!(plain.digest(), tree.digest());
        assert_ne!(plain.digest(), narrow.digest());
    }

    /// A setting changes all machines of a plan, except those that set the key themselves and those that refuse the setting; experiments are dropped.
    #[test]
    fn a_setting_changes_the_machines_of_a_plan() {
        let [plain, chosen] = [Point::preset("baseline"), Point::preset("baseline").with("memory.latency=5")];
        let unified = Point::preset("unified-384");
        let mut plan = SweepPlan::default();
        [&plain, &chosen, &unified].into_iter().for_each(|point| plan.point(point.clone()));
        plan.experiment(Point::preset("baseline").with("memory.latency=9"));
        let set = |setting: &str| -> Vec<String> {
            let changed = plan.with_setting(setting).unwrap().unwrap();
            changed.points().map(Point::options).collect()
        };
        let far = "--set memory.latency=800";
        assert_eq!(
            set("memory.latency=800"),
            [
                "--preset baseline --set memory.latency=5".to_owned(),
                format!("--preset baseline {far}"),
                format!("--preset unified-384 {far}")
            ]
        );
        // Unified memory has four columns of banks, and refuses eight banks.
        let banks = set("mrf.banks=8");
        assert!(banks.contains(&"--preset unified-384".to_owned()) && banks.len() == 3, "{banks:?}");
        assert_eq!(plan.with_setting("memory.latency=400").unwrap().map(|_| ()), None, "all have that");
        assert!(plan.with_setting("memory.latency=-1").is_err() && plan.with_setting("mrf.wings=2").is_err());
        // A value that all machines set belongs to the common machine, and is not what they compare.
        let mut slow = SweepPlan::default();
        ["8", "16"].into_iter().for_each(|banks| {
            slow.point(Point::preset("baseline").with("memory.latency=5").with(format!("mrf.banks={banks}")));
        });
        let latencies = |plan: &SweepPlan| -> Vec<usize> {
            plan.points().map(|point| point.config().unwrap().memory.latency).collect()
        };
        assert_eq!(latencies(&slow.with_setting("memory.latency=800").unwrap().unwrap()), [800, 800]);
        assert_eq!(slow.with_setting("mrf.banks=8").unwrap().map(|_| ()), None);
        // Results of the changed machines take the place of those of the plan's machines.
        let kernels = crate::testing::kernels(&["a"]);
        let changed = plan.with_setting("memory.latency=800").unwrap().unwrap();
        let cycles = |_: &Kernel, point: &Point| Some(Measured::new(point.config().unwrap().memory.latency as u64, []));
        let mut all = plan.clone();
        all.join(changed);
        let results = Results::made(&kernels, &all, cycles, &Usage::default(), |_, _| None);
        let latency = |results: &Results<'_>, point: &Point| results.run("a", point).map(|run| run.cycles);
        assert_eq!([&plain, &chosen, &unified].map(|point| latency(&results, point)), [400, 5, 400].map(Some));
        let changed = results.with_setting(&plan, "memory.latency=800");
        let machines = [&plain, &chosen, &unified].map(|point| changed.config(point).unwrap().memory.latency);
        assert_eq!(machines, [800, 5, 800], "sizes are those of the machine that ran");
        assert_eq!([&plain, &chosen, &unified].map(|point| latency(&changed, point)), [800, 5, 800].map(Some));
        // Two machines that become the same are not compared.
        let mut all = plan.clone();
        all.join(plan.with_setting("memory.latency=5").unwrap().unwrap());
        let results = Results::made(&kernels, &all, cycles, &Usage::default(), |_, _| None);
        let changed = results.with_setting(&plan, "memory.latency=5");
        assert_eq!([&plain, &chosen, &unified].map(|point| latency(&changed, point)), [Some(5), None, Some(5)]);
    }

    /// A report compiles a kernel once; the names and marks for each configuration are those that the compiler makes.
    #[test]
    fn code_for_a_configuration_is_what_the_compiler_makes_for_it() {
        let kernel = kernel("srad");
        let Ptx { name, text } = kernel.ptx.as_ref().unwrap();
        let settings = ["compiler.register_order=first_use", "compiler.power_threshold=3"];
        for chosen in [&settings[..0], &settings[..1], &settings[1..], &settings] {
            let config = Config::load(Start::Preset("baseline"), chosen).unwrap();
            let expected = compiled_for(text, name, &config, REGISTERS, &kernel.manifest).unwrap().image;
            assert_eq!(*marked(&kernel, &config).unwrap(), expected, "{chosen:?}");
            assert_eq!(expected == kernel.image, chosen.is_empty(), "{chosen:?}");
        }
    }

    /// Layout, releases and private marks require code of their own, with the kernel's instruction order and address width.
    #[test]
    fn code_for_scratchpad_sharing_is_compiled_for_it() {
        let kernel = kernel("countBytes");
        let coded = ["compiler.schedule=latency", "compiler.address_bits=32"];
        let code = coded.iter().fold(Code::PTX, |code, setting| code.with_setting(setting).unwrap());
        let in_code = Kernel { code, ..kernel.clone() };
        let Ptx { name, text } = kernel.ptx.as_ref().unwrap();
        let half = "share.private=5";
        let settings = ["compiler.share_layout=minimal", "compiler.relssp=optimal"];
        let mut codes = vec![kernel.image.clone()];
        for chosen in [&settings[..1], &settings[1..], &settings].map(|settings| [&[half], settings].concat()) {
            let config = Config::load(Start::Preset("share-scratchpad"), &chosen).unwrap();
            let code = marked(&kernel, &config).unwrap().into_owned();
            assert_eq!(
                code,
                compiled_for(text, name, &config, REGISTERS, &kernel.manifest).unwrap().image,
                "{chosen:?}"
            );
            let set = [&chosen[..], &coded].concat();
            let set = Config::load(Start::Preset("share-scratchpad"), &set).unwrap();
            let expected = compiled_for(text, name, &set, REGISTERS, &kernel.manifest).unwrap().image;
            assert_eq!(*marked(&in_code, &config).unwrap(), expected, "{chosen:?}");
            codes.push(code);
        }
        let differ = |(place, code): (usize, &Image)| codes[..place].iter().all(|other| other != code);
        assert!(codes.iter().enumerate().all(differ), "each has code of its own");
        let plain = Config::load(Start::Preset("fermi-16k"), &[] as &[&str]).unwrap();
        assert!(matches!(marked(&kernel, &plain).unwrap(), Cow::Borrowed(_)));
        // Assembly code stays unchanged.
        let assembly = Kernel { ptx: None, ..kernel };
        let config = Config::load(Start::Preset("share-scratchpad"), &settings[..2]).unwrap();
        assert_eq!(*marked(&assembly, &config).unwrap(), assembly.image);
    }
}
