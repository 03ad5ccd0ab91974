//! Counts of the register file cache.

use serde::Serialize;

use super::{Count, Part, share};
use crate::output::grouped;

/// Accesses of cache and main register file: registers as the instructions name them, data in groups of four lanes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RfcStats {
    /// Registers read of which all lanes were in the cache.
    pub hits: u64,
    /// Some of them were.
    pub partial: u64,
    /// None was.
    pub misses: u64,
    /// Groups read as operands from the cache.
    pub read_groups: u64,
    /// Groups read from the main register file.
    pub mrf_read_groups: u64,
    /// Groups of results written to the cache.
    pub write_groups: u64,
    /// Groups written to the main register file: results that went around, evictions, flushes.
    pub mrf_write_groups: u64,
    /// Of these, groups of evictions and flushes, each of which was read from the cache.
    pub evict_groups: u64,
    /// Values written back because another one needed the entry.
    pub evictions: u64,
    /// Values written back because the warp gave its slot up.
    pub flushes: u64,
    /// Values that made room without a write, because they were dead.
    pub dead: u64,
    /// Groups of operands put into the cache as they were read from the main register file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill_groups: Option<u64>,
    /// Accesses of the LRF above the cache, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lrf: Option<LrfStats>,
}

/// Accesses of the LRF, in groups of four lanes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LrfStats {
    /// Read as operands.
    pub read_groups: u64,
    /// Results written.
    pub write_groups: u64,
    /// Read because another result came, and written to the cache.
    pub spill_groups: u64,
    /// Read because the warp gave its slot up, and written to the main register file.
    pub flush_groups: u64,
}

impl RfcStats {
    fn of(run: &Count<'_>) -> Self {
        let (config, count) = (run.config, |name: &str| run.of(name));
        Self {
            hits: count("rfc_hit"),
            partial: count("rfc_partial"),
            misses: count("rfc_miss"),
            read_groups: count("rfc_read_groups"),
            mrf_read_groups: count("read_groups"),
            write_groups: count("rfc_write_groups"),
            mrf_write_groups: count("write_groups"),
            evict_groups: count("rfc_evict_groups"),
            evictions: count("rfc_evict"),
            flushes: count("rfc_flush"),
            dead: count("rfc_dead"),
            fill_groups: config.rfc.reads.then(|| count("rfc_fill_groups")),
            lrf: config.rfc.lrf.then(|| LrfStats {
                read_groups: count("rfc_lrf_read_groups"),
                write_groups: count("rfc_lrf_write_groups"),
                spill_groups: count("rfc_lrf_spill_groups"),
                flush_groups: count("rfc_lrf_flush_groups"),
            }),
        }
    }

    fn rows(&self, row: &mut dyn FnMut(&str, String, String)) {
        let above = |of: fn(&LrfStats) -> u64| self.lrf.as_ref().map_or(0, of);
        let registers = self.hits + self.partial + self.misses;
        let reads = self.read_groups + self.mrf_read_groups + above(|lrf| lrf.read_groups);
        let writes = self.write_groups + self.mrf_write_groups + above(|lrf| lrf.write_groups);
        let rows = [
            ("RFC hits", self.hits, registers),
            ("RFC hits of some lanes", self.partial, registers),
            ("RFC misses", self.misses, registers),
            ("groups read: RFC", self.read_groups, reads),
            ("groups read: MRF", self.mrf_read_groups, reads),
            ("groups written: RFC", self.write_groups, writes),
            ("groups written: MRF", self.mrf_write_groups, writes),
            ("groups evicted or flushed", self.evict_groups, self.mrf_write_groups),
            ("values evicted", self.evictions, 0),
            ("values flushed", self.flushes, 0),
            ("values dead when replaced", self.dead, 0),
        ];
        let lrf = self.lrf.map(|lrf| {
            [
                ("groups read: LRF", lrf.read_groups, reads),
                ("groups written: LRF", lrf.write_groups, writes),
                ("groups from the LRF to the RFC", lrf.spill_groups, lrf.write_groups),
                ("groups from the LRF to the MRF", lrf.flush_groups, lrf.write_groups),
            ]
        });
        let fills = self.fill_groups.map(|groups| ("groups read and allocated", groups, reads));
        for (name, number, whole) in rows.into_iter().chain(lrf.into_iter().flatten()).chain(fills) {
            row(name, grouped(number), share(number, whole));
        }
    }
}

/// The part of a run's statistics.
pub(super) fn part(count: &Count<'_>) -> Part {
    let stats = RfcStats::of(count);
    Part::new("rfc", &stats, |row| stats.rows(row))
}
