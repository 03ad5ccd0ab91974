//! Settings that a report may be made with, one at a time, to see which of them its rows depend on.

/// What `--try usual` tries: each part of the machine that the papers leave open, or of which ours has its own number, in both directions where there are two.
///
/// Each report takes those that change one of its machines.
pub const USUAL: &[&str] = &[
    "compiler.schedule=none",
    "compiler.schedule=tree",
    "compiler.schedule=latency",
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
    "cache.kilobytes=0",
    "cache.kilobytes=16",
    "cache.kilobytes=32",
    "cache.kilobytes=64",
    "cache.misses=16",
    "sm.alu_latency=2",
    "sm.alu_latency=4",
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
    "sm.stay=true",
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
    "rfc.replacement=lru",
    "rfc.live=true",
    "rfc.bypass=true",
    "rfc.loads=true",
    "rfc.reads=true",
    "rfc.release=true",
    "rfc.prompt=true",
    "hrf.load_entries=2",
    "hrf.load_entries=16",
    "hrf.buffer_entries=32",
    "hrf.write_latency=2",
    "hrf.write_latency=8",
    "hrf.read_latency=2",
    "hrf.powered_entries=8",
    "hrf.powered_entries=32",
    "hrf.wake_cycles=1",
    "steal.eager=true",
    "steal.unread=true",
    "steal.redirect=true",
    "steal.drop=true",
    "power.wake_sleep=2",
    "power.wake_off=4",
    "power.table_entries=1",
    "power.table_entries=4",
    "share.lock=first",
    "share.owner_first=false",
    "share.check=mark",
    "share.throttle=1000",
    "unified.gather=aggressive",
    "launch.cache_kilobytes=64",
    "launch.cache_kilobytes=256",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::reports;

    /// A misspelt key or a value out of range would be tried nowhere.
    #[test]
    fn each_usual_setting_changes_a_machine_of_some_report() {
        assert_eq!(BTreeSet::from_iter(USUAL).len(), USUAL.len(), "each is there once");
        // The order of instructions is the kernels'.
        let machines = USUAL.iter().copied().filter(|setting| !setting.starts_with("compiler.schedule="));
        let taken =
            |setting: &str| reports().any(|report| matches!(report.plan(&[]).with_setting(setting), Ok(Some(_))));
        let idle: Vec<_> = machines.filter(|setting| !taken(setting)).collect();
        assert_eq!(idle, [""; 0], "no report takes them");
    }
}
