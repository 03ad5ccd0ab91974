//! Explains why each value is at its level.

use std::fmt;

use gpurf_isa::{Instruction, Slot};

use super::HierarchyOptions;
use super::strands::{Cause, Strands};
use super::values::{Read, Values, Write};

/// Why a result or a source uses the MRF.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The value comes from another strand (or from another basic block, if values across branches are disabled), and a copy to the ORF does not pay.
    Outside,
    /// On some path, the read gets an older value.
    Uncertain,
    /// It is a result of long latency.
    LongLatency,
    /// The result is not read in its strand.
    NotRead,
    /// Some lane needs the result in the MRF.
    LiveOut,
    /// An entry would cost more energy than it saves.
    NoSaving,
    /// No entry is free.
    NoEntry,
    /// The result would have to be written to two levels, which the encoding does not allow.
    Encoding,
    /// The access is after the shortened part of the value's range that found an entry.
    Shortened,
    /// There is only an LRF, which has no room for the value or may not hold it.
    NotForLrf,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Outside => "from outside, a copy does not pay",
            Self::Uncertain => "an older value on some path",
            Self::LongLatency => "a result of long latency",
            Self::NotRead => "not read in its strand",
            Self::LiveOut => "needed after its range",
            Self::NoSaving => "costs more than it saves",
            Self::NoEntry => "no entry is free",
            Self::Encoding => "would need two levels",
            Self::Shortened => "after the range that has an entry",
            Self::NotForLrf => "not for the LRF",
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asked => "asked for",
            Self::LongLatency => "a result of long latency is needed next",
            Self::BackwardBranch => "backward branch",
            Self::LoopHead => "a loop begins",
            Self::Barrier => "barrier",
            Self::Merge => "paths of different strands meet",
            Self::Divergence => "a strand ends on one of its sides",
        })
    }
}

/// The outcome for each operand of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// For each instruction the first one of its strand.
    pub strands: Vec<usize>,
    /// The instructions after which a strand ends, and why.
    pub ends: Vec<Option<Cause>>,
    /// Why the result goes to the MRF, if it does.
    results: Vec<Option<Reason>>,
    /// Why sources a, b, c are read in the MRF, if they are.
    sources: Vec<[Option<Reason>; 3]>,
}

impl Explanation {
    /// The explanation before any value is placed.
    pub(super) fn new(strands: &Strands) -> Self {
        let length = strands.of.len();
        Self {
            strands: strands.of.clone(),
            ends: strands.ends.clone(),
            results: vec![None; length],
            sources: vec![[None; 3]; length],
        }
    }

    /// Why the result of an instruction goes to the MRF, if it does.
    pub fn result(&self, pc: usize) -> Option<Reason> {
        self.results[pc]
    }

    /// Why a source of an instruction is read in the MRF, if it is.
    pub fn source(&self, pc: usize, slot: Slot) -> Option<Reason> {
        self.sources[pc][slot.index()]
    }

    /// Records the reasons that hold for a region's values before any of them is placed.
    pub(super) fn before(&mut self, values: &Values, options: &HierarchyOptions) {
        for write in &values.writes {
            let reason = match write {
                Write { long: true, .. } => Reason::LongLatency,
                Write { reads, .. } if reads.is_empty() => Reason::NotRead,
                Write { .. } if options.orf_entries == 0 => Reason::NotForLrf,
                Write { .. } => Reason::Uncertain,
            };
            self.write_stays(write, reason);
        }
        for read in &values.reads {
            self.read_stays(read, read.source.reason(options));
        }
    }

    pub(super) fn write_stays(&mut self, write: &Write, reason: Reason) {
        self.results[write.pc] = Some(reason);
    }

    pub(super) fn read_stays(&mut self, read: &Read, reason: Reason) {
        for slot in read.slots() {
            self.sources[read.pc][slot.index()] = Some(reason);
        }
    }

    pub(super) fn write_is_placed(&mut self, write: &Write, to_mrf: bool) {
        self.results[write.pc] = to_mrf.then_some(Reason::LiveOut);
    }

    pub(super) fn read_is_placed(&mut self, read: &Read) {
        for slot in read.slots() {
            self.sources[read.pc][slot.index()] = None;
        }
    }

    /// One instruction's explanation as text: each operand's register and level, and why it is not above the MRF.
    pub fn words(&self, pc: usize, instruction: &Instruction) -> String {
        let mut words = Vec::new();
        let mut word = |name: &str, register, level: String, reason: Option<Reason>| {
            let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
            words.push(format!("{name} {register} {level}{reason}"));
        };
        if let Some(register) = instruction.destination() {
            word("d", register, instruction.control.result_level.to_string(), self.result(pc));
        }
        for (slot, register) in instruction.sources() {
            let level = instruction.control.source_level(slot).to_string();
            word(&slot.letter().to_string(), register, level, self.source(pc, slot));
        }
        if let Some(cause) = self.ends[pc] {
            words.push(format!("the strand ends: {cause}"));
        }
        words.join("; ")
    }
}
