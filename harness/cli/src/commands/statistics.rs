//! The counts of a run, and ratios computed from them.

mod cache;
mod schedulers;
mod share;
mod unified;

use std::collections::BTreeMap;

use gpurf_blocks::config::Config;
use gpurf_blocks::designs::Organisation;
use gpurf_machine::trace::bank_accesses;
use gpurf_machine::{Judged, Statistics};
use gpurf_oracle::Counts;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::cycles::Cycles;
use crate::output::{self, Cell, grouped, numbers, words};

/// Counts of a run, and ratios of them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// Number of launches, with each pass counted.
    pub launches: u64,
    /// Instructions issued by warps.
    pub instructions: u64,
    /// Instructions executed by threads.
    pub thread_instructions: u64,
    /// Values that only an engine with cycles has.
    #[serde(flatten)]
    pub timed: Option<Timed>,
}

/// Ratios of counts; a ratio with denominator 0 is 0.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Timed {
    /// Instructions of warps per cycle.
    pub ipc: f64,
    /// Fraction of the 32 lanes that execute an instruction, on average.
    pub simd_efficiency: f64,
    /// Accesses to the register file's banks, as a fraction of the possible accesses.
    pub bank_utilisation: f64,
    /// Lanes served by a line of 128 bytes, on average.
    pub lanes_per_line: f64,
    /// Lanes served by a pass of shared memory, on average.
    pub lanes_per_shared_pass: f64,
    /// Number of issue slots: ports times cycles.
    pub issue_slots: u64,
    /// Statistics of the scheduler, of sharing and caches, and of the register file's design.
    #[serde(flatten, serialize_with = "by_name")]
    pub parts: Vec<Part>,
    /// Results of the comparison with the oracle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oracle: Option<OracleStats>,
}

/// The inputs of a part of the statistics.
struct Count<'a> {
    config: &'a Config,
    statistics: &'a Statistics,
}

impl Count<'_> {
    /// The count of an event.
    fn of(&self, name: &str) -> u64 {
        self.statistics.events.get(name).copied().unwrap_or(0)
    }

    /// The sum of the counts of several events.
    fn sum(&self, names: &[&str]) -> u64 {
        names.iter().map(|name| self.of(name)).sum()
    }

    /// The average count of an event per cycle.
    fn average(&self, name: &str) -> f64 {
        let cycles = self.statistics.cycles;
        if cycles == 0 { 0.0 } else { self.of(name) as f64 / cycles as f64 }
    }
}

/// A part of the statistics: its name and members in JSON, and its rows in the table (name, count, share).
#[derive(Clone, Debug)]
pub struct Part {
    name: &'static str,
    members: serde_json::Map<String, Value>,
    rows: Vec<[String; 3]>,
}

impl Part {
    fn new(name: &'static str) -> Self {
        Self { name, members: serde_json::Map::new(), rows: Vec::new() }
    }

    /// Adds a member to the JSON only.
    fn member(&mut self, key: &str, value: impl Into<Value>) {
        self.members.insert(key.to_owned(), value.into());
    }

    /// Adds a row to the table only.
    fn row(&mut self, text: &str, count: String, share: String) {
        self.rows.push([text.to_owned(), count, share]);
    }

    /// Adds counts: the name in JSON, the count, the text of the row, and the count of which it is a share; 0: no share.
    fn counts(&mut self, counts: &[(&str, u64, &str, u64)]) {
        for &(key, count, text, whole) in counts {
            self.member(key, count);
            self.row(text, grouped(count), share(count, whole));
        }
    }

    /// Adds averages: the name in JSON, the value, and the text of the row, which shows it with this number of decimals.
    fn averages(&mut self, decimals: usize, averages: &[(&str, f64, &str)]) {
        for &(key, average, text) in averages {
            self.member(key, average);
            self.row(text, format!("{average:.decimals$}"), String::new());
        }
    }

    /// Adds a part to this part: an object in JSON, and further rows of the table.
    fn inner(&mut self, part: Self) {
        self.member(part.name, part.members);
        self.rows.extend(part.rows);
    }
}

/// Serializes parts as members of the enclosing object.
fn by_name<S: Serializer>(parts: &[Part], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(parts.iter().map(|part| (part.name, &part.members)))
}

/// The parts that a configuration has: scheduler, sharing, data cache, unified memory and design.
fn parts(count: &Count<'_>) -> Vec<Part> {
    let shared = share::part(count).into_iter().chain(cache::part(count)).chain(unified::part(count));
    schedulers::part(count).into_iter().chain(shared).chain(design(count)).collect()
}

macro_rules! designs {
    ($($design:ident)+) => {
        $(mod $design;)+

        /// The part of the design, if it has one.
        fn design(count: &Count<'_>) -> Option<Part> {
            match Organisation::of(count.config).design().name {
                $(stringify!($design) => Some($design::part(count)),)+
                _ => None,
            }
        }
    };
}

gpurf_blocks::each_design!(designs);

/// A share in percent; empty if the whole is 0.
fn share(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}

/// Results of the oracle's comparison of launches.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OracleStats {
    /// Launches in which every warp wrote the oracle's values.
    pub equal: u64,
    /// Launches with differences that are inconclusive, because blocks see each other's plain stores.
    pub undecided: u64,
    /// Number of writes compared.
    pub writes: u64,
    /// Sums of the register file's events that an independent count confirms, for each launch separately.
    pub counts: u64,
}

impl Stats {
    /// Statistics of the functional engine.
    pub fn functional(launches: u64, counts: Counts) -> Self {
        let Counts { instructions, thread_instructions } = counts;
        Self { launches, instructions, thread_instructions, timed: None }
    }

    /// Statistics of an engine with cycles.
    pub fn timed(config: &Config, statistics: &Statistics) -> Self {
        let count = |name: &str| statistics.events.get(name).copied().unwrap_or(0);
        let ratio = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let (instructions, thread_instructions) = (count("issue"), count("issue_lanes"));
        let bank_slots = statistics.cycles * bank_accesses(config);
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
            parts: parts(&Count { config, statistics }),
            oracle,
        };
        Self { launches: statistics.launches, instructions, thread_instructions, timed: Some(timed) }
    }
}

/// Rows of the table that are counts: text, event, and the event of which it is a share, if any.
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
    ("constants and special registers", "constants", Some("issue")),
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
    ("bytes read from memory", "memory_read_bytes", None),
    ("bytes written to memory", "memory_written_bytes", None),
    ("shared memory passes", "shared", None),
    ("shared memory passes with conflicts", "shared_conflict", Some("shared")),
    ("constant passes", "constant", None),
    ("constant passes with conflicts", "constant_conflict", Some("constant")),
    ("constant accesses of loads waiting", "constant_wait", None),
    ("results waiting", "result_wait", None),
];

/// The text of an event in the table; `None` if the table does not show it.
pub fn words_of(event: &str) -> Option<&'static str> {
    COUNTS.iter().find(|(_, name, _)| *name == event).map(|(words, ..)| *words)
}

/// Stands for the number of issue slots, which is not an event.
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
    timed
        .parts
        .iter()
        .flat_map(|part| &part.rows)
        .for_each(|[name, count, share]| row(name, count.clone(), share.clone()));
    if let Some(OracleStats { equal, undecided, writes, counts }) = timed.oracle {
        row("launches equal to the oracle's", grouped(equal), none());
        row("launches that the oracle cannot judge", grouped(undecided), none());
        row("writes compared with the oracle", grouped(writes), none());
        row("event sums confirmed by a third count", grouped(counts), none());
    }
    output::table(&[words("statistic"), numbers("count"), numbers("share")], &rows)
}
