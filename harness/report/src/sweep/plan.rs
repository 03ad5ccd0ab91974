//! What a sweep runs: configurations of the model, and quantities that are counted on the oracle.

use std::collections::{BTreeSet, HashMap};

use gpurf_blocks::config::{Config, ConfigError, Start};

use super::kernel::Kernel;
use super::task::{RunName, Task, What};
use crate::follow::FollowedCache;
use crate::levels::LevelOptions;

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
    pub(super) levels: Vec<LevelOptions>,
    /// Caches that are simulated in program order on the oracle, without duplicates.
    pub(super) caches: Vec<FollowedCache>,
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
    pub fn levels(&mut self, options: LevelOptions) {
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
    pub(super) fn changed(&self, setting: &str) -> impl Iterator<Item = (&Point, Point)> {
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
    pub(super) fn tasks<'a>(&'a self, kernels: &'a [Kernel]) -> Vec<Task<'a>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::{Measured, Results};
    use crate::usage::Usage;

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
}
