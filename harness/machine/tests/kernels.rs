//! The test kernels on the model of the SM: buffers right, commits as the oracle says.

mod common;

use common::{INTEGERS, compiled, settings};
use gpurf_kernels::{Case, KERNELS, Kernel};
use gpurf_machine::{LaunchError, Machine, Misfit, ModelEngine, Statistics};
use gpurf_oracle::host::{RunError, Session};

/// Runs a kernel's small manifest; nothing if the SM has no unit for it.
fn run(kernel: &Kernel, set: &[&str], registers: u16) -> Option<Statistics> {
    let case = Case::load(kernel.name).unwrap();
    let mut session = Session::new(case.manifest(), &compiled(kernel.name, registers).image).unwrap();
    let mut engine = ModelEngine::judged(settings(set));
    match session.run(&mut engine) {
        Ok(_) => {}
        Err(RunError::Engine(LaunchError::Refused(refusal)))
            if matches!(refusal.misfit, Misfit::Operations { .. } | Misfit::SharedFloatAtomic) =>
        {
            return None;
        }
        Err(error) => panic!("{} {set:?}: {error}", kernel.name),
    }
    for row in session.checks().unwrap() {
        assert!(row.ok, "{} {set:?}: {row:?}", kernel.name);
    }
    Some(engine.statistics())
}

#[test]
fn kernels_leave_what_they_must_and_commit_what_the_oracle_says() {
    for kernel in KERNELS {
        let Some(statistics) = run(kernel, &[], 64) else {
            assert!(!INTEGERS.contains(&kernel.name), "{}", kernel.name);
            continue;
        };
        let judged = statistics.judged.unwrap();
        assert_eq!((judged.equal, judged.undecided), (statistics.launches, 0), "{}", kernel.name);
        assert!(judged.writes > 1000, "{}", kernel.name);
    }
}

#[test]
fn sizes_and_policies_change_nothing_but_time() {
    let configurations: [&[&str]; 5] = [
        &["mrf.issue_ports=2", "sm.scheduler=round_robin"],
        &["mrf.banks=4", "mrf.ports=1r1w", "mrf.collectors=4", "sm.warps=8"],
        &["sm.shared_bandwidth=32", "memory.latency=1", "memory.bandwidth=128", "sm.warps=48"],
        &["sm.line_rows=4", "memory.bandwidth=1", "mrf.issue_ports=2", "mrf.banks=2"],
        &["sm.alu_latency=2", "sm.shared_latency=4", "mrf.read_order=round_robin", "mrf.kilobytes=64"],
    ];
    for kernel in KERNELS.iter().filter(|kernel| INTEGERS.contains(&kernel.name)) {
        let mut cycles = Vec::new();
        for set in configurations {
            // Few registers: some values live in local memory.
            let statistics = run(kernel, set, 16).unwrap();
            assert_eq!(statistics.judged.unwrap().undecided, 0);
            cycles.push(statistics.cycles);
        }
        cycles.sort_unstable();
        cycles.dedup();
        assert_eq!(cycles.len(), configurations.len(), "{}", kernel.name);
    }
}
