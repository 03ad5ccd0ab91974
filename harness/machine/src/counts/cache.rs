//! A replay of the data cache: which lines are present or requested, and what a request finds, from the sentences of `docs/cache.md`.
//!
//! The SM says when a request leaves and when an answer is taken. Their outcomes are counted here.

use std::collections::VecDeque;

use gpurf_blocks::cache::CACHE_EVENT;
use gpurf_blocks::config::{Config, Replacement};
use gpurf_blocks::low_bit;
use gpurf_oracle::lanes_of;

use super::seen::Seen;
use super::words::{Place, Tally, Word};
use crate::memory::LINE;
use crate::memory::kind::{LOAD, STORE, TEXTURE};

/// The event word that is counted: outcomes of requests and answers. Waits are not counted here.
pub const WORDS: &[Word] = &[Word {
    fields: CACHE_EVENT,
    at: Place::Cache,
    only: &[
        "cache_hit",
        "cache_merge",
        "cache_miss",
        "cache_store",
        "cache_store_hit",
        "cache_store_full",
        "cache_atomic",
        "cache_invalidate",
        "cache_close",
        "cache_fill",
        "cache_drop",
        "cache_part",
        "cache_serve",
    ],
}];

/// The bits of the events that say what happens to the current answer.
const FILLS: [(&str, u64); 3] =
    [("cache_fill", bit("cache_fill")), ("cache_drop", bit("cache_drop")), ("cache_part", bit("cache_part"))];
const FILL_WAIT: u64 = bit("cache_fill_wait");
const SERVE: u64 = bit("cache_serve");
const STORE_FULL: u64 = bit("cache_store_full");

const fn bit(name: &str) -> u64 {
    1 << low_bit(CACHE_EVENT, name)
}

/// A request that waits for its answer.
struct Miss {
    line: u32,
    /// Loads may join it, and its line may be installed.
    open: bool,
    /// Number of rows that wait for the answer.
    rows: u64,
}

/// The replay of a cache.
pub struct Replay {
    ways: usize,
    fifo: bool,
    /// A store of all bytes of a line allocates it; loads bypass the cache if their hints say so.
    full_stores: bool,
    hints: bool,
    /// The number of lines is chosen anew at each launch.
    unified: bool,
    /// The cache has at least one line.
    has_lines: bool,
    /// Lines of each set, the most recently used first.
    sets: Vec<Vec<u32>>,
    misses: VecDeque<Miss>,
    /// Present while an answer has arrived and has not been used up: whether its whole line exists.
    answer: Option<bool>,
}

impl Replay {
    /// A replay for an SM that has just been reset; `None` if it has no cache.
    pub fn new(config: &Config) -> Option<Self> {
        let (lines, ways) = (config.cache.lines(), config.cache.ways);
        (lines != 0).then(|| Self {
            ways,
            fifo: config.cache.replacement == Replacement::Fifo,
            full_stores: config.cache.full_stores,
            hints: config.cache.hints,
            unified: config.unified.is_present(),
            has_lines: true,
            sets: vec![Vec::new(); lines / ways],
            misses: VecDeque::new(),
            answer: None,
        })
    }

    fn set(&mut self, line: u32) -> &mut Vec<u32> {
        let sets = self.sets.len();
        &mut self.sets[line as usize % sets]
    }

    fn has(&mut self, line: u32) -> bool {
        self.set(line).contains(&line)
    }

    /// Marks a line that is present as used.
    fn touch(&mut self, line: u32) {
        if self.fifo {
            return;
        }
        let set = self.set(line);
        set.retain(|&other| other != line);
        set.insert(0, line);
    }

    /// Observes a cycle.
    pub fn observe(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        let (o, inputs, out) = (&seen.cycle.probe.outputs, seen.cycle.inputs, seen.cycle.out);
        if inputs.rst_ni == 0 {
            self.sets.iter_mut().for_each(Vec::clear);
            self.misses.clear();
            self.answer = None;
            return;
        }
        // Whether there was an answer before this cycle's answer arrives.
        let at_hand = self.answer.is_some();
        let request = (o.coalescer.mem_req_valid_o & o.cache.req_ready_o == 1)
            .then_some((o.coalescer.mem_req_kind_o, o.coalescer.mem_req_line_o));
        let says = |bit: u64| out.cache_event_o & bit != 0;
        let fill = FILLS.into_iter().find(|(_, bit)| says(*bit)).map(|(name, _)| name);
        let first = self.misses.front().map(|miss| (miss.line, miss.open));
        let stays = fill.is_none() && at_hand && first.is_some_and(|(_, open)| open);
        if stays && !says(FILL_WAIT) {
            tally.object(|| "an answer is neither taken nor waits".to_owned());
        }
        // Rows are served from the current answer; rows that join in this cycle wait for the next answer.
        if says(SERVE) {
            match self.misses.front_mut().filter(|miss| at_hand && miss.rows > 0) {
                Some(miss) => {
                    miss.rows -= 1;
                    tally.add("cache_serve", 1u64);
                }
                None => tally.object(|| "a row takes its lanes from an answer that is not there".to_owned()),
            }
        }
        // The line to replace is chosen by the state before this cycle's request.
        let victim = match (fill, first) {
            (Some(_), Some((line, _))) => self.victim(line),
            _ => None,
        };
        let full = request.filter(|&(kind, line)| self.may_be_full(kind, line, seen)).map(|(_, line)| line);
        self.full_store(full, says(STORE_FULL), fill.is_some(), seen, tally);
        let bypass = self.hints && o.coalescer.bypass_o == 1;
        let used = request.and_then(|(kind, line)| self.leave((kind, bypass), line, out.mem_req_answer_o == 1, tally));
        if let Some(line) = full.filter(|_| says(STORE_FULL)) {
            self.install(line, tally);
        }
        if let Some(name) = fill {
            self.fill(name, victim, used, seen, tally);
        }
        // A miss ends when it is closed and no row waits for it. Closing takes one cycle.
        let over = |miss: &Miss| !miss.open && miss.rows == 0;
        if at_hand && first.is_some_and(|(_, open)| !open) && self.misses.front().is_some_and(over) {
            self.misses.pop_front();
            self.answer = None;
        }
        if inputs.mem_rsp_valid_i & out.mem_rsp_ready_o == 1 {
            if self.answer.is_some() || self.misses.is_empty() {
                tally.object(|| "an answer is taken that no request waits for".to_owned());
            }
            self.answer = Some(u32::from(inputs.mem_rsp_present_i) == LINE && inputs.mem_rsp_fault_i == 0);
        }
        if inputs.launch_valid_i == 1 && out.busy_o == 0 {
            self.sets.iter_mut().for_each(Vec::clear);
            if self.unified {
                self.has_lines = inputs.launch_cache_i != 0;
                self.sets.resize(((1 << inputs.launch_cache_i) / self.ways).max(1), Vec::new());
            }
        }
    }

    /// Whether a request is a store of all bytes of a line that is not present, and the cache has lines.
    fn may_be_full(&mut self, kind: u8, line: u32, seen: &Seen<'_>) -> bool {
        if !(self.full_stores && kind == STORE && self.has_lines) || self.has(line) {
            return false;
        }
        let request = &seen.cycle.probe.outputs.coalescer;
        let bytes = 1u128 << (1u32 << request.mem_req_size_o);
        let written = lanes_of(request.mem_req_mask_o)
            .fold(0u128, |all, lane| all | (bytes - 1) << request.mem_req_offset_o[lane]);
        written == u128::MAX
    }

    /// A store of all bytes allocates a line, unless its data cannot be taken or its way is pinned; both occur only while a hit is pending.
    fn full_store(&mut self, full: Option<u32>, kept: bool, fills: bool, seen: &Seen<'_>, tally: &mut Tally) {
        let access = &seen.cycle.probe.states.cache.access;
        let Some(line) = full else {
            if kept {
                tally.object(|| {
                    "a store takes a place that is not of all bytes of a line, or whose line is there".to_owned()
                });
            }
            return;
        };
        let free = access.pin_valid_o == 0;
        if kept {
            tally.add("cache_store_full", 1u64);
        } else if free {
            tally.object(|| format!("a store of all of line {line:#x} takes no place, and nothing is in its way"));
        }
        if fills && (kept || free) {
            tally.object(|| "an answer is taken while a store of all bytes takes its place".to_owned());
        }
    }

    /// Puts a line that was not present into the cache, possibly in place of another one.
    fn install(&mut self, line: u32, tally: &mut Tally) {
        let victim = self.victim(line);
        let set = self.set(line);
        if set.contains(&line) {
            tally.object(|| format!("line {line:#x} is installed twice"));
        }
        set.retain(|&other| Some(other) != victim);
        set.insert(0, line);
    }

    /// A request leaves; returns the line that it uses.
    fn leave(&mut self, (kind, bypass): (u8, bool), line: u32, answer: bool, tally: &mut Tally) -> Option<u32> {
        if kind == TEXTURE {
            // It has no line. The answer of its last request takes a place among the others.
            if answer {
                self.misses.push_back(Miss { line, open: false, rows: 1 });
            }
            return None;
        }
        let hit = self.has(line);
        let open = self.misses.iter().position(|miss| miss.open && miss.line == line);
        if kind == LOAD && bypass {
            self.misses.push_back(Miss { line, open: false, rows: 1 });
            tally.add("cache_miss", 1u64);
            return None;
        }
        if kind == LOAD {
            if hit {
                tally.add("cache_hit", 1u64);
                self.touch(line);
                return Some(line);
            }
            let (event, miss) = match open {
                Some(miss) => ("cache_merge", miss),
                None => {
                    self.misses.push_back(Miss { line, open: self.has_lines, rows: 0 });
                    ("cache_miss", self.misses.len() - 1)
                }
            };
            tally.add(event, 1u64);
            self.misses[miss].rows += 1;
            return None;
        }
        if let Some(miss) = open {
            self.misses[miss].open = false;
            tally.add("cache_close", 1u64);
        }
        if kind == STORE {
            tally.add("cache_store", 1u64);
            tally.add("cache_store_hit", u64::from(hit));
            return hit.then(|| {
                self.touch(line);
                line
            });
        }
        tally.add("cache_atomic", 1u64);
        tally.add("cache_invalidate", u64::from(hit));
        self.set(line).retain(|&other| other != line);
        if answer {
            self.misses.push_back(Miss { line, open: false, rows: 1 });
        }
        None
    }

    /// The line that is replaced by another one; `None` if a way is free.
    fn victim(&mut self, line: u32) -> Option<u32> {
        let ways = self.ways;
        let set = self.set(line);
        if set.len() == ways { set.last().copied() } else { None }
    }

    /// The current answer is taken. `victim` is replaced by its line; `used` is the line that a request uses in this cycle.
    fn fill(&mut self, name: &'static str, victim: Option<u32>, used: Option<u32>, seen: &Seen<'_>, tally: &mut Tally) {
        let whole = self.answer;
        let Some(miss) = self.misses.front_mut().filter(|miss| miss.open && whole.is_some()) else {
            return tally.object(|| "an answer is taken that is not there, or whose miss is closed".to_owned());
        };
        miss.open = false;
        let line = miss.line;
        if whole == Some(false) {
            return tally.add("cache_part", 1u64);
        }
        let sets = self.sets.len();
        let access = &seen.cycle.probe.states.cache.access;
        let read = (access.pin_valid_o == 1).then(|| usize::from(access.pin_entry_o) % sets);
        if name == "cache_drop" {
            // The way of the victim is about to be read or written.
            let is_pinned = victim.is_some() && victim == used || read == Some(line as usize % sets);
            if !is_pinned {
                tally.object(|| format!("line {line:#x} is not installed, and nothing pins its way"));
            }
            return tally.add("cache_drop", 1u64);
        }
        tally.add("cache_fill", 1u64);
        if victim.is_some() && victim == used {
            tally.object(|| format!("line {line:#x} takes the place of one that is used in the same cycle"));
        }
        let set = self.set(line);
        if set.contains(&line) {
            tally.object(|| format!("line {line:#x} is installed twice"));
        }
        set.retain(|&other| Some(other) != victim);
        set.insert(0, line);
    }
}
