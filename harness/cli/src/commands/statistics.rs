//! What a run counted, and what follows from it.

mod hybrid;

use std::collections::BTreeMap;

use gpurf_blocks::config::{BankPorts, Config};
use gpurf_machine::{Judged, Statistics};
use gpurf_oracle::Counts;
use hybrid::{AlternatingStats, HybridStats};
use serde::Serialize;

use super::run::Cycles;
use crate::output::{self, Cell, grouped, numbers, words};

/// Counts of events by name.
type Events = BTreeMap<&'static str, u64>;

/// Counts of a run, and ratios of them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// Launches, each pass counted.
    pub launches: u64,
    /// Instructions issued by warps.
    pub instructions: u64,
    /// Instructions executed by threads.
    pub thread_instructions: u64,
    /// What only an engine with cycles knows.
    #[serde(flatten)]
    pub timed: Option<Timed>,
}

/// Ratios of counts; a ratio of nothing is zero.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Timed {
    /// Instructions of warps a cycle.
    pub ipc: f64,
    /// Lanes that execute an instruction, of 32.
    pub simd_efficiency: f64,
    /// Accesses of the register file's banks, of those they could make.
    pub bank_utilisation: f64,
    /// Lanes served by a line of 128 bytes.
    pub lanes_per_line: f64,
    /// Lanes served by a pass of shared memory.
    pub lanes_per_shared_pass: f64,
    /// Issue slots: ports times cycles.
    pub issue_slots: u64,
    /// Of the two-level scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub two_level: Option<TwoLevelStats>,
    /// Of the alternating scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternating: Option<AlternatingStats>,
    /// Of the register file cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rfc: Option<RfcStats>,
    /// Of the hybrid register file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hybrid: Option<HybridStats>,
    /// Of bank stealing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal: Option<StealStats>,
    /// What the oracle has said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oracle: Option<OracleStats>,
}

/// Slots of the two-level scheduler, on average, and why they were given up.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TwoLevelStats {
    /// Slots whose warp may issue.
    pub active: f64,
    /// Slots in which something is still under way, although their warp has left.
    pub draining: f64,
    /// Slots that are being emptied.
    pub flushing: f64,
    /// Warps that are ready and wait for a slot.
    pub ready: f64,
    /// Slots taken.
    pub activations: u64,
    /// Slots given up, by cause.
    pub leave_end: u64,
    /// The warp waits at a barrier.
    pub leave_barrier: u64,
    /// Its next instruction is marked: it needs the result of a long-latency operation.
    pub leave_mark: u64,
    /// It has issued for long while others were ready.
    pub leave_patience: u64,
}

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

/// What became of reads and results where idle banks are stolen.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StealStats {
    /// Operands read before their instruction issued.
    pub stolen: u64,
    /// Times that a port's candidate was stolen for.
    pub steals: u64,
    /// Those of them that nobody has used.
    pub wasted: u64,
    /// Results written into their own bank, opposed by nobody.
    pub write_normal: u64,
    /// Written although others want the bank, since there was no place to park them.
    pub write_forced: u64,
    /// Of these those that do not have all lanes, and are never parked.
    pub write_partial: u64,
    /// Results parked.
    pub write_parked: u64,
    /// Parked values that were fetched in the cycle right after.
    pub return_next: u64,
    /// Fetched later, when their bank and a bus were free.
    pub return_later: u64,
    /// Fetched because a read, a write or a new value of the free entry waited for it.
    pub return_forced: u64,
    /// Cycles that reads waited for a parked value.
    pub wait_parked: u64,
    /// Cycles that other reads waited, as a forced fetch or a landing value had their bank.
    pub wait_return: u64,
    /// Banks that hold a parked value, on average.
    pub parked: f64,
    /// Banks with a free entry that is empty, on average.
    pub places: f64,
    /// The compiler's hints that were taken.
    pub hints: u64,
    /// Those that were not.
    pub hints_ignored: u64,
}

impl StealStats {
    fn of(events: &Events, cycles: u64) -> Self {
        let count = |name: &str| events.get(name).copied().unwrap_or(0);
        let average = |name: &str| if cycles == 0 { 0.0 } else { count(name) as f64 / cycles as f64 };
        Self {
            stolen: count("stolen"),
            steals: count("steal"),
            wasted: count("wasted"),
            write_normal: count("write_normal"),
            write_forced: count("write_forced"),
            write_partial: count("write_partial"),
            write_parked: count("write_parked"),
            return_next: count("return_next"),
            return_later: count("return_later"),
            return_forced: count("return_forced"),
            wait_parked: count("wait_parked"),
            wait_return: count("wait_return"),
            parked: average("parked"),
            places: average("places"),
            hints: count("hint"),
            hints_ignored: count("hint_ignored"),
        }
    }

    fn rows(&self, reads: u64, row: &mut dyn FnMut(&str, String, String)) {
        let results = self.write_normal + self.write_forced + self.write_parked;
        let rows = [
            ("operands stolen", self.stolen, reads),
            ("warps issued by theft", self.steals, 0),
            ("thefts for nothing", self.wasted, self.steals),
            ("results written without stealing", self.write_normal, results),
            ("results forced", self.write_forced, results),
            ("results forced: not all lanes", self.write_partial, results),
            ("results parked", self.write_parked, results),
            ("parked values returned in the next cycle", self.return_next, self.write_parked),
            ("parked values returned later", self.return_later, self.write_parked),
            ("parked values forced back", self.return_forced, self.write_parked),
            ("reads waiting: for a parked value", self.wait_parked, reads),
            ("reads waiting: for a return", self.wait_return, reads),
            ("hints taken", self.hints, self.hints + self.hints_ignored),
        ];
        for (name, number, whole) in rows {
            row(name, grouped(number), share(number, whole));
        }
        for (name, average) in
            [("parked values, on average", self.parked), ("places to park in, on average", self.places)]
        {
            row(name, format!("{average:.2}"), String::new());
        }
    }
}

impl TwoLevelStats {
    fn of(events: &Events, cycles: u64) -> Self {
        let count = |name: &str| events.get(name).copied().unwrap_or(0);
        let average = |name: &str| if cycles == 0 { 0.0 } else { count(name) as f64 / cycles as f64 };
        Self {
            active: average("active"),
            draining: average("drain"),
            flushing: average("flush"),
            ready: average("ready"),
            activations: count("activate"),
            leave_end: count("leave_end"),
            leave_barrier: count("leave_barrier"),
            leave_mark: count("leave_mark"),
            leave_patience: count("leave_patience"),
        }
    }

    fn rows(&self, row: &mut dyn FnMut(&str, String, String)) {
        let averages = [
            ("active slots, on average", self.active),
            ("draining slots, on average", self.draining),
            ("flushing slots, on average", self.flushing),
            ("warps ready for a slot, on average", self.ready),
        ];
        for (name, average) in averages {
            row(name, format!("{average:.2}"), String::new());
        }
        row("slots taken", grouped(self.activations), String::new());
        let causes = [
            ("slots given up: end", self.leave_end),
            ("slots given up: barrier", self.leave_barrier),
            ("slots given up: long-latency operation", self.leave_mark),
            ("slots given up: patience", self.leave_patience),
        ];
        for (name, number) in causes {
            row(name, grouped(number), share(number, self.activations));
        }
    }
}

impl RfcStats {
    fn of(config: &Config, events: &Events) -> Self {
        let count = |name: &str| events.get(name).copied().unwrap_or(0);
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

/// A part of a whole in percent; nothing of nothing.
fn share(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}

/// What the oracle has said about launches.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OracleStats {
    /// Launches in which each warp wrote what the oracle says.
    pub equal: u64,
    /// Launches with differences that say nothing, since blocks see each other's plain stores.
    pub undecided: u64,
    /// Writes compared.
    pub writes: u64,
    /// Sums of the register file's events that a count of what was done confirms, of each launch anew.
    pub counts: u64,
}

impl Stats {
    /// Of the functional engine.
    pub fn functional(launches: u64, counts: Counts) -> Self {
        let Counts { instructions, thread_instructions } = counts;
        Self { launches, instructions, thread_instructions, timed: None }
    }

    /// Of an engine with cycles.
    pub fn timed(config: &Config, statistics: &Statistics) -> Self {
        let count = |name: &str| statistics.events.get(name).copied().unwrap_or(0);
        let ratio = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let (instructions, thread_instructions) = (count("issue"), count("issue_lanes"));
        let ports = if config.mrf.ports == BankPorts::Separate { 2 } else { 1 };
        let bank_slots = statistics.cycles * config.mrf.banks as u64 * ports;
        let oracle = statistics.judged.map(|judged| {
            let Judged { equal, undecided, writes, counts } = judged;
            OracleStats { equal, undecided, writes, counts }
        });
        let timed = Timed {
            ipc: ratio(instructions, statistics.cycles),
            simd_efficiency: ratio(thread_instructions, 32 * instructions),
            bank_utilisation: ratio(count("read") + count("write"), bank_slots),
            lanes_per_line: ratio(count("line_lanes"), count("line")),
            lanes_per_shared_pass: ratio(count("shared_lanes"), count("shared")),
            issue_slots: statistics.cycles * config.mrf.issue_ports as u64,
            two_level: (config.sm.active_warps != 0 && !config.sm.alternate)
                .then(|| TwoLevelStats::of(&statistics.events, statistics.cycles)),
            alternating: config.sm.alternate.then(|| AlternatingStats::of(&statistics.events)),
            hybrid: config.hrf.stt_ram.then(|| HybridStats::of(config, statistics)),
            rfc: (config.rfc.entries != 0).then(|| RfcStats::of(config, &statistics.events)),
            steal: config.steal.present.then(|| StealStats::of(&statistics.events, statistics.cycles)),
            oracle,
        };
        Self { launches: statistics.launches, instructions, thread_instructions, timed: Some(timed) }
    }
}

/// Rows of the table that are counts: name, event, and the event whose count is the whole, if any.
const COUNTS: &[(&str, &str, Option<&str>)] = &[
    ("issue slots lost: no warp alive", "stall_empty", Some(SLOTS)),
    ("issue slots lost: all at barriers", "stall_barrier", Some(SLOTS)),
    ("issue slots lost: nothing fetched", "stall_fetch", Some(SLOTS)),
    ("issue slots lost: operands pending", "stall_scoreboard", Some(SLOTS)),
    ("issue slots lost: not active", "stall_inactive", Some(SLOTS)),
    ("issue slots lost: collectors full", "stall_collector", Some(SLOTS)),
    ("issue slots lost: other", "stall_other", Some(SLOTS)),
    ("instructions to the ALUs", "alu", Some("issue")),
    ("instructions of single precision", "fp", Some("issue")),
    ("special functions", "sfu", Some("issue")),
    ("instructions to the memory pipeline", "memory", Some("issue")),
    ("bank reads", "read", None),
    ("bank writes", "write", None),
    ("reads waiting: same instruction", "conflict_intra", Some("read")),
    ("reads waiting: other instruction", "conflict_inter", Some("read")),
    ("reads waiting: for a write", "conflict_read_write", Some("read")),
    ("writes waiting: for a bank", "conflict_write", Some("write")),
    ("writes waiting: for an older read", "write_held", Some("write")),
    ("lines of memory", "line", None),
    ("lines waiting", "line_wait", None),
    ("shared memory passes", "shared", None),
    ("shared memory passes with conflicts", "shared_conflict", Some("shared")),
    ("constant passes", "constant", None),
    ("constant passes with conflicts", "constant_conflict", Some("constant")),
    ("results waiting", "result_wait", None),
];

/// The whole of lost issue slots, which is no event.
const SLOTS: &str = "";

/// Events and ratios as a table.
pub fn table(stats: &Stats, cycles: &Cycles) -> String {
    let timed = stats.timed.clone().unwrap_or_default();
    let percent = |part: f64| format!("{:.1} %", 100.0 * part);
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut row = |name: &str, count: String, share: String| rows.push(vec![name.into(), count.into(), share.into()]);
    let none = String::new;
    row("cycles", grouped(cycles.cycles), none());
    row("instructions", grouped(stats.instructions), none());
    row("instructions a cycle", format!("{:.3}", timed.ipc), none());
    row("SIMD efficiency", none(), percent(timed.simd_efficiency));
    let count = |name: &str, events: &BTreeMap<&str, u64>| events.get(name).copied().unwrap_or(0);
    for (name, event, whole) in COUNTS {
        let number = count(event, &cycles.events);
        let whole = whole.map(|whole| if whole == SLOTS { timed.issue_slots } else { count(whole, &cycles.events) });
        let share = whole.filter(|&whole| whole > 0).map_or_else(none, |whole| percent(number as f64 / whole as f64));
        row(name, grouped(number), share);
        match *event {
            "write" => row("bank utilisation", none(), percent(timed.bank_utilisation)),
            "line" => row("lanes a line", format!("{:.2}", timed.lanes_per_line), none()),
            "shared" => row("lanes a pass of shared memory", format!("{:.2}", timed.lanes_per_shared_pass), none()),
            _ => {}
        }
    }
    if let Some(two_level) = &timed.two_level {
        two_level.rows(&mut row);
    }
    if let Some(alternating) = &timed.alternating {
        alternating.rows(cycles.cycles, &mut row);
    }
    if let Some(rfc) = &timed.rfc {
        rfc.rows(&mut row);
    }
    if let Some(hybrid) = &timed.hybrid {
        hybrid.rows(cycles.cycles, &mut row);
    }
    if let Some(steal) = &timed.steal {
        steal.rows(count("read", &cycles.events), &mut row);
    }
    if let Some(OracleStats { equal, undecided, writes, counts }) = timed.oracle {
        row("launches as the oracle says", grouped(equal), none());
        row("launches it cannot judge", grouped(undecided), none());
        row("writes compared with the oracle", grouped(writes), none());
        row("sums of events counted a third time", grouped(counts), none());
    }
    output::table(&[words("statistic"), numbers("count"), numbers("share")], &rows)
}
