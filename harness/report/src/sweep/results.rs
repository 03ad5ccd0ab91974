//! The counts of a sweep's runs, by kernel and configuration.

use std::borrow::Cow;
#[cfg(test)]
use std::collections::BTreeSet;
use std::collections::{BTreeMap, HashMap, HashSet};

use gpurf_blocks::config::Config;
use gpurf_energy::Traffic;
use gpurf_machine::Statistics;
use gpurf_oracle::levels::LevelCounts;
use serde::{Deserialize, Serialize};

use super::SweepError;
use super::kernel::{Kernel, Size};
use super::plan::{Point, SweepPlan};
use super::task::{Outcome, What};
use crate::code::Code;
use crate::follow::FollowedCache;
use crate::levels::{self, LevelOptions, Strands};
use crate::row::{Absent, PerKernel, mean};
use crate::usage::Usage;

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

/// The results of a sweep, without those of runs that were interrupted or failed.
#[derive(Debug)]
pub struct Results<'a> {
    /// The kernels.
    pub kernels: &'a [Kernel],
    measured: BTreeMap<Point, BTreeMap<String, Measured>>,
    usage: BTreeMap<String, Usage>,
    levels: HashMap<LevelOptions, BTreeMap<String, Strands>>,
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
        levels: impl Fn(&Kernel, &LevelOptions) -> Option<LevelCounts>,
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
    pub(super) fn none(kernels: &'a [Kernel]) -> Self {
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
    pub(super) fn put(&mut self, kernel: &Kernel, what: What<'_>, outcome: Outcome) {
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
    pub fn levels(&self, options: &LevelOptions, value: impl Fn(&LevelCounts) -> f64) -> Option<PerKernel> {
        let sum = |strands: &Strands| {
            let mut all = LevelCounts::default();
            strands.values().for_each(|counts| all += *counts);
            all
        };
        Some(self.strands(options)?.iter().map(|(name, strands)| (name.clone(), value(&sum(strands)))).collect())
    }

    /// Accesses in each strand of each kernel; `None` unless all runs completed.
    pub fn strands(&self, options: &LevelOptions) -> Option<&BTreeMap<String, Strands>> {
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
