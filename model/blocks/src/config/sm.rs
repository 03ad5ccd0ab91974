//! The part of a configuration that is about the SM and the memory outside it; see `docs/sm.md`.

use serde::{Deserialize, Serialize};
use toml::Spanned;

/// The streaming multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SmConfig {
    /// Shape: resident warps.
    pub warps: usize,
    /// Shape: instructions of the code memory.
    pub code_words: usize,
    /// Shape: capacity of the constant memory.
    pub const_kilobytes: usize,
    /// Shape: capacity of shared memory.
    pub shared_kilobytes: usize,
    /// Shape: lines in flight.
    pub line_rows: usize,
    /// Policy: which warp issues.
    pub scheduler: Scheduler,
    /// Policy: cycles from dispatch until the ALU's result is offered, or, from 4 on, the single precision unit's (hierarchy thesis, table 4.4).
    pub alu_latency: usize,
    /// Policy: the same for shared memory, constants and shuffles.
    pub shared_latency: usize,
    /// Policy: the same for special functions.
    pub sfu_latency: usize,
    /// Policy: bytes a cycle of shared memory (128: hierarchy thesis 2.4.2; 32: its table 4.4).
    pub shared_bandwidth: usize,
    /// Shape: slots of the two-level scheduler; 0: a single level.
    pub active_warps: usize,
    /// Shape: one warp is active at a time, and even and odd ones take turns.
    pub alternate: bool,
    /// Policy: with two levels, a warp gives its slot up at its end only.
    pub stay: bool,
    /// Policy: with two levels, instructions that an active warp may issue while a pending one is ready; 0: no limit.
    pub patience: usize,
}

/// Which warp issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheduler {
    /// Loose round-robin.
    RoundRobin,
    /// Greedy, then oldest.
    GreedyThenOldest,
}

/// Global memory, a part of the testbench.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryConfig {
    /// Cycles from a request to its answer, when nothing is in front of it.
    pub latency: usize,
    /// Bytes a cycle.
    pub bandwidth: usize,
}

impl SmConfig {
    /// Table 4.4 of the hierarchy thesis, with the scheduler of the interfaces' baseline.
    pub(super) const BASELINE: Self = Self {
        warps: 32,
        code_words: 4096,
        const_kilobytes: 68,
        shared_kilobytes: 64,
        line_rows: 64,
        scheduler: Scheduler::GreedyThenOldest,
        alu_latency: 8,
        shared_latency: 20,
        sfu_latency: 20,
        shared_bandwidth: 128,
        active_warps: 0,
        alternate: false,
        stay: false,
        patience: 2048,
    };
}

impl MemoryConfig {
    /// Of every preset.
    pub const BASELINE: Self = Self { latency: 400, bandwidth: 16 };
}

/// Notes where a number came from and takes it over.
pub(super) type Number<'a> = dyn FnMut(&'static str, Option<Spanned<usize>>, &mut usize) + 'a;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SmLayer {
    warps: Option<Spanned<usize>>,
    code_words: Option<Spanned<usize>>,
    const_kilobytes: Option<Spanned<usize>>,
    shared_kilobytes: Option<Spanned<usize>>,
    line_rows: Option<Spanned<usize>>,
    scheduler: Option<Scheduler>,
    alu_latency: Option<Spanned<usize>>,
    shared_latency: Option<Spanned<usize>>,
    sfu_latency: Option<Spanned<usize>>,
    shared_bandwidth: Option<Spanned<usize>>,
    active_warps: Option<Spanned<usize>>,
    alternate: Option<bool>,
    stay: Option<bool>,
    patience: Option<Spanned<usize>>,
}

impl SmLayer {
    pub(super) fn apply(self, to: &mut SmConfig, number: &mut Number<'_>) {
        number("sm.warps", self.warps, &mut to.warps);
        number("sm.code_words", self.code_words, &mut to.code_words);
        number("sm.const_kilobytes", self.const_kilobytes, &mut to.const_kilobytes);
        number("sm.shared_kilobytes", self.shared_kilobytes, &mut to.shared_kilobytes);
        number("sm.line_rows", self.line_rows, &mut to.line_rows);
        number("sm.alu_latency", self.alu_latency, &mut to.alu_latency);
        number("sm.shared_latency", self.shared_latency, &mut to.shared_latency);
        number("sm.sfu_latency", self.sfu_latency, &mut to.sfu_latency);
        number("sm.shared_bandwidth", self.shared_bandwidth, &mut to.shared_bandwidth);
        number("sm.active_warps", self.active_warps, &mut to.active_warps);
        number("sm.patience", self.patience, &mut to.patience);
        to.scheduler = self.scheduler.unwrap_or(to.scheduler);
        to.alternate = self.alternate.unwrap_or(to.alternate);
        to.stay = self.stay.unwrap_or(to.stay);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemoryLayer {
    latency: Option<Spanned<usize>>,
    bandwidth: Option<Spanned<usize>>,
}

impl MemoryLayer {
    pub(super) fn apply(self, to: &mut MemoryConfig, number: &mut Number<'_>) {
        number("memory.latency", self.latency, &mut to.latency);
        number("memory.bandwidth", self.bandwidth, &mut to.bandwidth);
    }
}
