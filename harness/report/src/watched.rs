//! One run of a kernel's launches on the oracle, with all observers that count something.
//!
//! Observers do not change what a program does on the oracle, so one run of a kernel serves all counts.

use std::collections::BTreeMap;

use gpurf_energy::Traffic;
use gpurf_isa::Instruction;
use gpurf_isa::image::Kernel;
use gpurf_oracle::host::{Engine, KernelLaunch, OracleError};
use gpurf_oracle::{Issue, Launch, Memory, Observer, Oracle, Program};

use crate::follow::{CacheObserver, Flushed, FollowedCache};
use crate::levels::{self, LevelError, LevelOptions, Levelled, Profile, Strands};
use crate::usage::{Usage, UsageObserver};

/// Runs launches on the oracle with observers.
#[derive(Debug)]
pub struct WatchedEngine {
    oracle: Oracle,
    usage: Option<Usage>,
    caches: Vec<CacheObserver>,
    level_options: Vec<LevelOptions>,
    /// The kernels of the launches, by name.
    kernels: BTreeMap<String, Profiled>,
}

/// A kernel, with the profiles of its strands.
#[derive(Debug)]
struct Profiled {
    /// The code with the ends of strands marked.
    ended: Vec<Instruction>,
    /// The code with the levels of each hierarchy.
    levelled: Vec<Levelled>,
    /// One profile for each distinct strand rule of the hierarchies.
    profiles: Vec<Profile>,
}

/// Why a launch has no counts.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The program has a fault.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// The assignment of levels has a fault: a defect of the compiler.
    #[error("a defect of the compiler: {0}")]
    Level(#[from] Box<LevelError>),
}

impl WatchedEngine {
    /// An engine with this oracle, without any observer.
    pub fn new(oracle: Oracle) -> Self {
        Self { oracle, usage: None, caches: Vec::new(), level_options: Vec::new(), kernels: BTreeMap::new() }
    }

    /// Requests counts of the use of values.
    pub fn usage(&mut self) {
        self.usage = Some(Usage::default());
    }

    /// Requests the simulation of a cache.
    pub fn cache(&mut self, cache: FollowedCache) {
        self.caches.push(CacheObserver::new(cache));
    }

    /// Requests counts of the accesses to the levels of a hierarchy.
    pub fn levels(&mut self, options: LevelOptions) {
        self.level_options.push(options);
    }

    /// The use of values, if it was requested.
    pub fn counted_usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    /// The traffic of a cache, if it was requested.
    pub fn counted_cache(&self, cache: &FollowedCache) -> Option<Traffic> {
        self.caches.iter().find(|observer| observer.cache == *cache).map(|observer| observer.traffic)
    }

    /// Accesses to the levels of a hierarchy, by strand, if they were requested.
    pub fn counted_levels(&self, options: &LevelOptions) -> Option<Strands> {
        let place = self.level_options.iter().position(|counted| counted == options)?;
        let of = |(name, kernel): (&String, &Profiled)| {
            let counts = kernel.counts(place).map(|(first, counts)| ((name.clone(), first), counts));
            counts.collect::<Vec<_>>()
        };
        Some(self.kernels.iter().flat_map(of).collect())
    }
}

impl Profiled {
    fn new(kernel: &Kernel, options: &[LevelOptions]) -> Result<Self, Box<LevelError>> {
        let mut ended = kernel.clone();
        levels::end_strands(&mut ended);
        let levelled = options.iter().map(|options| Levelled::new(kernel, *options)).collect::<Result<Vec<_>, _>>()?;
        let mut profiles: Vec<Profile> = Vec::new();
        for rule in levelled.iter().map(Levelled::strands) {
            if profiles.iter().all(|profile| profile.rule != rule) {
                profiles.push(Profile::new(rule));
            }
        }
        Ok(Self { ended: ended.code, levelled, profiles })
    }

    /// Accesses to the levels of the hierarchy at index `place`, by strand.
    fn counts(&self, place: usize) -> impl Iterator<Item = (u32, gpurf_oracle::levels::LevelCounts)> + '_ {
        let levelled = &self.levelled[place];
        let rule = levelled.strands();
        self.profiles.iter().filter(move |profile| profile.rule == rule).flat_map(|profile| levelled.counts(profile))
    }
}

impl Engine for WatchedEngine {
    type Error = WatchError;

    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), WatchError> {
        let program = Program::new(launch.kernel, launch.source).map_err(OracleError::from)?;
        if !self.kernels.contains_key(&launch.kernel.name) {
            let profiled = Profiled::new(launch.kernel, &self.level_options)?;
            self.kernels.insert(launch.kernel.name.clone(), profiled);
        }
        let kernel = self.kernels.get_mut(&launch.kernel.name).expect("it is there");
        self.caches.iter_mut().for_each(CacheObserver::begin);
        kernel.profiles.iter_mut().for_each(Profile::begin);
        let mut watchers = Watchers {
            usage: self.usage.as_ref().map(|_| UsageObserver::default()),
            caches: &mut self.caches,
            ended: &kernel.ended,
            profiles: &mut kernel.profiles,
        };
        let launch = Launch { program: &program, geometry: launch.geometry, constant: launch.constant };
        self.oracle.run_observed(&launch, memory, &mut watchers).map_err(OracleError::Fault)?;
        if let (Some(all), Some(observer)) = (&mut self.usage, watchers.usage) {
            all.add(&observer.finish());
        }
        Ok(())
    }
}

/// All observers of a launch.
struct Watchers<'a> {
    usage: Option<UsageObserver>,
    caches: &'a mut [CacheObserver],
    /// The code with the ends of strands marked, for caches that are flushed there, and for values that cross them.
    ended: &'a [Instruction],
    profiles: &'a mut [Profile],
}

impl Observer for Watchers<'_> {
    const TRACES: bool = true;

    fn issue(&mut self, at: &Issue<'_>) {
        let ended = Issue { instruction: &self.ended[at.pc as usize], ..*at };
        if let Some(usage) = &mut self.usage {
            usage.issue(&ended);
        }
        for cache in &mut *self.caches {
            cache.issue(if cache.cache.flushed == Flushed::StrandEnds { &ended } else { at });
        }
        self.profiles.iter_mut().for_each(|profile| profile.issue(at));
    }
}
