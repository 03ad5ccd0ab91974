//! Settings with which `--try` repeats a report, one at a time, to show which of them its rows depend on.

use crate::report::Definition;

/// Settings that `--try usual` tries on the machines of all designs: parameters that the papers leave open, or for which we use a number of our own,
/// in both directions where possible.
const COMMON: &[&str] = &[
    "compiler.schedule=none",
    "compiler.schedule=tree",
    "compiler.schedule=latency",
    "compiler.address_bits=32",
    "compiler.address_bits=64",
    "compiler.register_order=first_use",
    "memory.latency=100",
    "memory.latency=200",
    "memory.latency=800",
    "memory.bandwidth=8",
    "memory.bandwidth=32",
    "memory.bandwidth=64",
    "memory.bandwidth=128",
    "memory.granule=32",
    "memory.granule=128",
    "memory.row_cycles=40",
    "memory.row_cycles=100",
    "memory.l2_kilobytes=64",
    "memory.l2_kilobytes=1024",
    "memory.texture_kilobytes=0",
    "memory.texture_kilobytes=48",
    "cache.kilobytes=0",
    "cache.kilobytes=16",
    "cache.kilobytes=32",
    "cache.kilobytes=64",
    "cache.misses=16",
    "sm.alu_latency=2",
    "sm.alu_latency=4",
    "sm.alu_latency=12",
    "sm.alu_latency=16",
    "sm.sfu_latency=8",
    "sm.sfu_latency=32",
    "sm.shared_latency=4",
    "sm.shared_latency=32",
    "sm.shared_bandwidth=32",
    "sm.shared_bandwidth=64",
    "sm.shared_bandwidth=128",
    "sm.line_rows=8",
    "sm.line_rows=16",
    "sm.line_rows=128",
    "sm.scheduler=round_robin",
    "sm.scheduler=greedy_then_oldest",
    "sm.blocks=8",
    "sm.warps=24",
    "sm.warps=32",
    "sm.warps=48",
    "sm.active_warps=4",
    "sm.active_warps=16",
    "sm.patience=0",
    "sm.patience=64",
    "sm.handover=true",
    "mrf.banks=4",
    "mrf.banks=8",
    "mrf.banks=16",
    "mrf.banks=32",
    "mrf.ports=1rw",
    "mrf.ports=1r1w",
    "mrf.collectors=4",
    "mrf.collectors=16",
    "mrf.issue_ports=2",
    "mrf.kilobytes=256",
    "mrf.kilobytes=512",
    "mrf.allocation=registers",
];

/// The settings that `--try usual` tries in a report: those of all designs, then those of its own. A setting is run only if it changes one of the
/// report's machines.
pub fn usual(report: &Definition) -> impl Iterator<Item = &'static str> + use<> {
    COMMON.iter().chain(report.settings).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Code, reports};

    /// A misspelt key or a value out of range would never be tried.
    #[test]
    fn each_usual_setting_changes_a_machine() {
        let changes =
            |report: &Definition, setting: &str| matches!(report.plan(&[]).with_setting(setting), Ok(Some(_)));
        for report in reports() {
            let all: Vec<_> = usual(report).collect();
            assert_eq!(BTreeSet::from_iter(&all).len(), all.len(), "{}: each is there once", report.name);
            let idle: Vec<_> = report.settings.iter().filter(|setting| !changes(report, setting)).collect();
            assert!(idle.is_empty(), "{} takes none of {idle:?}", report.name);
        }
        // Compiler settings belong to the kernels, not to the machines.
        let machines = COMMON.iter().filter(|setting| Code::PTX.with_setting(setting).is_none());
        let idle: Vec<_> = machines.filter(|setting| !reports().any(|report| changes(report, setting))).collect();
        assert!(idle.is_empty(), "no report takes {idle:?}");
    }
}
