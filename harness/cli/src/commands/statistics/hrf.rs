//! Counts of the hybrid register file.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Count, Part, share};
use crate::output::grouped;

/// Accesses of STT-RAM and write buffers: registers as the instructions name them, data in groups of four lanes.
#[derive(Clone, Debug, Serialize)]
pub struct HybridStats {
    /// Registers read of which all lanes were in the buffer.
    pub hits: u64,
    /// Some of them were.
    pub partial: u64,
    /// None was.
    pub misses: u64,
    /// Groups read as operands from buffers.
    pub read_groups: u64,
    /// Groups read from STT-RAM.
    pub stt_ram_read_groups: u64,
    /// Groups of results written to buffers.
    pub write_groups: u64,
    /// Groups written to STT-RAM.
    pub stt_ram_write_groups: u64,
    /// Of these, groups that came out of buffers.
    pub drain_groups: u64,
    /// Groups of results for warps that were not active.
    pub load_groups: u64,
    /// Groups of results that went straight into STT-RAM.
    pub direct_groups: u64,
    /// Results written to an entry that their register had.
    pub coalesced: u64,
    /// Cycles in which a result waited for power.
    pub wait_wake: u64,
    /// For its bank, as the buffer was full or there is none.
    pub wait_full: u64,
    /// For a place in its bank's queue.
    pub wait_load: u64,
    /// Cycles in which the pipeline stood still.
    pub frozen_cycles: u64,
    /// The part of the time in which the upper entries of a buffer have no power.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gated: Option<f64>,
    /// Active periods by the entries that they used.
    pub period_entries: BTreeMap<u64, u64>,
}

impl HybridStats {
    fn of(run: &Count<'_>) -> Self {
        let Count { config, statistics } = run;
        let cycles = &statistics.cycles;
        let count = |name: &str| run.of(name);
        let gated = |cycles: u64| if cycles == 0 { 0.0 } else { count("hrf_gated") as f64 / (2 * cycles) as f64 };
        Self {
            hits: count("hrf_hit"),
            partial: count("hrf_partial"),
            misses: count("hrf_miss"),
            read_groups: count("hrf_read_groups"),
            stt_ram_read_groups: count("read_groups"),
            write_groups: count("hrf_write_groups"),
            stt_ram_write_groups: count("write_groups"),
            drain_groups: count("hrf_drain_groups"),
            load_groups: count("hrf_load_groups"),
            direct_groups: count("hrf_direct_groups"),
            coalesced: count("hrf_coalesced"),
            wait_wake: count("hrf_wait_wake"),
            wait_full: count("hrf_wait_full"),
            wait_load: count("hrf_wait_load"),
            frozen_cycles: count("hrf_frozen"),
            gated: config.hrf.gating.then(|| gated(*cycles)),
            period_entries: statistics.spreads.get("hrf_period_entries").cloned().unwrap_or_default(),
        }
    }

    fn rows(&self, cycles: u64, row: &mut dyn FnMut(&str, String, String)) {
        let registers = self.hits + self.partial + self.misses;
        let reads = self.read_groups + self.stt_ram_read_groups;
        let results = self.write_groups + self.load_groups + self.direct_groups;
        let rows = [
            ("registers read: in the buffer", self.hits, registers),
            ("registers read: some lanes in the buffer", self.partial, registers),
            ("registers read: in STT-RAM", self.misses, registers),
            ("groups read: buffers", self.read_groups, reads),
            ("groups read: STT-RAM", self.stt_ram_read_groups, reads),
            ("groups of results: to buffers", self.write_groups, results),
            ("groups of results: warp not active", self.load_groups, results),
            ("groups of results: straight to STT-RAM", self.direct_groups, results),
            ("groups written to STT-RAM, by those of results", self.stt_ram_write_groups, results),
            ("groups drained", self.drain_groups, self.stt_ram_write_groups),
            ("results to an entry that is there", self.coalesced, 0),
            ("results waiting: for power", self.wait_wake, 0),
            ("results waiting: buffer full", self.wait_full, 0),
            ("results waiting: queue full", self.wait_load, 0),
            ("cycles that stand still for a write", self.frozen_cycles, cycles),
        ];
        for (name, number, whole) in rows {
            row(name, grouped(number), share(number, whole));
        }
        if let Some(gated) = self.gated {
            row("time without power, upper entries", String::new(), format!("{:.1} %", 100.0 * gated));
        }
        let periods: u64 = self.period_entries.values().sum();
        let used: u64 = self.period_entries.iter().map(|(entries, times)| entries * times).sum();
        let average = if periods == 0 { 0.0 } else { used as f64 / periods as f64 };
        let most = self.period_entries.keys().last().copied().unwrap_or(0);
        row("entries used in an active period, on average", format!("{average:.1}"), String::new());
        row("entries used in an active period, at most", grouped(most), String::new());
    }
}

/// The part of a run's statistics.
pub(super) fn part(count: &Count<'_>) -> Part {
    let stats = HybridStats::of(count);
    Part::new("hybrid", &stats, |row| stats.rows(count.statistics.cycles, row))
}
