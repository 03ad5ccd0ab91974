//! Counts of the hybrid register file: accesses of STT-RAM and write buffers, registers as the instructions name them, data in groups of four
//! lanes.

use super::{Count, Part};
use crate::output::grouped;

/// The part of a run's statistics.
pub(super) fn part(run: &Count<'_>) -> Part {
    let of = |name: &str| run.of(name);
    let cycles = run.statistics.cycles;
    let registers = run.sum(&["hrf_hit", "hrf_partial", "hrf_miss"]);
    let reads = run.sum(&["hrf_read_groups", "read_groups"]);
    let results = run.sum(&["hrf_write_groups", "hrf_load_groups", "hrf_direct_groups"]);
    let written = of("write_groups");
    let mut part = Part::new("hybrid");
    part.counts(&[
        ("hits", of("hrf_hit"), "registers read: in the buffer", registers),
        ("partial", of("hrf_partial"), "registers read: some lanes in the buffer", registers),
        ("misses", of("hrf_miss"), "registers read: in STT-RAM", registers),
        ("read_groups", of("hrf_read_groups"), "groups read: buffers", reads),
        ("stt_ram_read_groups", of("read_groups"), "groups read: STT-RAM", reads),
        ("write_groups", of("hrf_write_groups"), "groups of results: to buffers", results),
        ("load_groups", of("hrf_load_groups"), "groups of results: warp not active", results),
        ("direct_groups", of("hrf_direct_groups"), "groups of results: straight to STT-RAM", results),
        ("stt_ram_write_groups", written, "groups written to STT-RAM, by those of results", results),
        ("drain_groups", of("hrf_drain_groups"), "groups drained", written),
        ("coalesced", of("hrf_coalesced"), "results to an existing entry", 0),
        ("wait_wake", of("hrf_wait_wake"), "results waiting: for power", 0),
        // Waits for its bank, because the buffer is full or absent; waits for a place in its bank's queue.
        ("wait_full", of("hrf_wait_full"), "results waiting: buffer full", 0),
        ("wait_load", of("hrf_wait_load"), "results waiting: queue full", 0),
        ("frozen_cycles", of("hrf_frozen"), "cycles frozen for a write", cycles),
    ]);
    if run.config.hrf.gating {
        // The fraction of time in which the upper entries of a buffer have no power.
        let gated = if cycles == 0 { 0.0 } else { of("hrf_gated") as f64 / (2 * cycles) as f64 };
        part.member("gated", gated);
        part.row("time without power, upper entries", String::new(), format!("{:.1} %", 100.0 * gated));
    }
    // Active periods by the number of entries that they used.
    let entries = run.statistics.spreads.get("hrf_period_entries").cloned().unwrap_or_default();
    let periods: u64 = entries.values().sum();
    let used: u64 = entries.iter().map(|(entries, times)| entries * times).sum();
    let average = if periods == 0 { 0.0 } else { used as f64 / periods as f64 };
    let most = entries.keys().last().copied().unwrap_or(0);
    part.row("entries used in an active period, on average", format!("{average:.1}"), String::new());
    part.row("entries used in an active period, at most", grouped(most), String::new());
    part.member("period_entries", serde_json::json!(entries));
    part
}
