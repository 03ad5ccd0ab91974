//! The test kernels on a design of the register file: it changes nothing but time.

use gpurf_kernels::{KERNELS, Kernel};
use gpurf_lockstep::Events;
use gpurf_machine::{Settings, Statistics};

use super::{alone, run, settings};

/// A kernel leaves out one configuration for each of these many cycles that it takes.
const CYCLES: u64 = 15_000;

/// Calls `each` with each kernel, at most every third of these configurations, and the place of the configuration. Long kernels run in fewer
/// configurations: the longest would take most of the time. (All kernels at all presets: goldens, and regressions.)
pub fn spread(sets: &[&[&str]], mut each: impl FnMut(&'static Kernel, &[&str], usize) -> Statistics) {
    for (k, kernel) in KERNELS.iter().enumerate() {
        let mut places: Vec<usize> = (k % 3..sets.len()).step_by(3).collect();
        // Long kernels leave out different configurations.
        if k / 3 % 2 == 1 {
            places.reverse();
        }
        let mut places = places.into_iter();
        while let Some(place) = places.next() {
            let left_out = each(kernel, sets[place], place).cycles / CYCLES;
            for _ in 0..left_out {
                places.next();
            }
        }
    }
}

/// Every kernel commits what the oracle says, and its events are what was counted ([`spread`]). Events are counted a third time, and all fields of these event words
/// count something, but for some.
pub fn commits(sets: &[&[&str]], words: &[&[(&str, u32)]], seldom: &[&str]) {
    let mut events = Events::new();
    spread(sets, |kernel, set, _| committed(kernel, set, &mut events));
    let never = words.iter().copied().flatten().map(|(name, _)| *name).filter(|name| events[name] == 0);
    let never: Vec<&str> = never.filter(|name| !seldom.contains(name)).collect();
    assert_eq!(never, [""; 0]);
}

/// Runs a kernel, which commits what the oracle says, and adds its events.
pub fn committed(kernel: &Kernel, set: &[&str], events: &mut Events) -> Statistics {
    let statistics = run(kernel, set, 64);
    let judged = statistics.judged.unwrap();
    assert!(judged.undecided == 0 || kernel.name == "bfs", "{} {set:?}", kernel.name);
    assert!(judged.writes > 1000, "{} {set:?}", kernel.name);
    assert_eq!(judged.counts > 0, judged.equal > 0, "{} {set:?}", kernel.name);
    statistics.events.iter().for_each(|(name, count)| *events.entry(name).or_default() += count);
    statistics
}

/// Skipped cycles are counted as if they had been run.
pub fn skips(sets: &[&[&str]]) {
    for set in sets {
        let mut in_all = 0;
        for name in ["crc32", "needle", "radixSort", "countBytes", "vectorAdd", "srad"] {
            let (statistics, buffers, skipped) = alone(name, settings(set));
            let every = alone(name, Settings { skip: false, ..settings(set) });
            assert_eq!((statistics, buffers, 0), every, "{name} {set:?}");
            in_all += skipped;
        }
        // Where each write takes long, a kernel may leave no cycle empty.
        assert!(in_all > 0 || set.contains(&"memory.latency=1"), "{set:?}");
    }
}
