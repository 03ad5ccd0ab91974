//! Judges where a program reads and writes its values in the register hierarchy, by what its warps do.
//!
//! The compiler's checker proves on the control-flow graph that every read finds its value (`docs/hierarchy.md`). This judge does not use the graph:
//! it tracks the contents of MRF, ORF and LRF in each lane of each warp, and reports an instruction that reads a level which does not hold the
//! register's present value, or that uses the hierarchy in a way that no hardware offers. It sees lanes as the SIMT stack runs them, one side of a
//! branch after the other, and also counts accesses by level.
//!
//! A judge is an [`Observer`] of one launch ([`crate::Oracle::run_observed`]).

mod contents;
mod counts;

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use gpurf_isa::{Instruction, LastResultFile, Op, Reg, ResultLevel, Slot, SourceLevel, Upper};

use crate::commit::{Issue, Observer, WarpId};
use crate::lanes::Mask;
use contents::{Contents, Found};

pub use counts::{Accesses, LevelCounts, groups};

/// The register hierarchy of a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Levels {
    /// ORF entries of a thread.
    pub orf_entries: u8,
    /// The kind of LRF.
    pub lrf: LastResultFile,
    /// Whether ORF and LRF keep their contents when a warp is descheduled or waits at a barrier, as only the limit study's ideal machine does (thesis
    /// 6.6.3).
    pub keep_when_descheduled: bool,
}

/// A wrong use of a level.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WrongLevel {
    /// The strand has not written the entry that is read.
    Void(Upper),
    /// The entry that is read does not hold the register's present value.
    Another(Upper),
    /// The MRF does not have the register's present value.
    Stale,
    /// The machine has no such entry or bank.
    NoSuchLevel(Upper),
    /// A source of this slot cannot be read from the bank.
    WrongBank(Upper),
    /// A shared unit reads or writes the LRF.
    SharedUnit(Upper),
    /// A long-latency result is written above the MRF.
    LongLatency(Upper),
    /// Two slots read the same register from different levels.
    SlotsDisagree,
    /// An instruction copies a source to an entry that it also uses in another way.
    CopyCollides(Upper),
    /// A backward branch or a barrier does not end its strand.
    OpenStrand,
    /// The warp is descheduled while ORF or LRF holds values of living lanes: their strand has not ended.
    DescheduledInStrand,
}

impl fmt::Display for WrongLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Void(level) => write!(f, "{level}, which the strand has not written"),
            Self::Another(level) => write!(f, "{level}, which does not hold its present value"),
            Self::Stale => f.write_str("the MRF, which does not hold its present value"),
            Self::NoSuchLevel(level) => write!(f, "{level}, which the machine does not have"),
            Self::WrongBank(level) => write!(f, "{level}, which is not the bank of this slot"),
            Self::SharedUnit(level) => write!(f, "{level}, which shared units do not reach"),
            Self::LongLatency(level) => write!(f, "{level}, to which results of long latency do not go"),
            Self::SlotsDisagree => f.write_str("two levels, one in each slot"),
            Self::CopyCollides(level) => write!(f, "{level}, which it uses otherwise and copies a source to"),
            Self::OpenStrand => f.write_str("a backward branch or a barrier that does not end its strand"),
            Self::DescheduledInStrand => f.write_str("a place in the middle of a strand where the warp is descheduled"),
        }
    }
}

/// An instruction that uses the hierarchy wrongly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LevelFault {
    /// What is wrong.
    pub wrong: WrongLevel,
    /// The instruction.
    pub pc: u32,
    /// The register, if the fault concerns one.
    pub register: Option<Reg>,
    /// The lanes concerned.
    pub lanes: Mask,
    /// The warp.
    pub warp: WarpId,
}

impl fmt::Display for LevelFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wrong, pc, register, lanes, warp: WarpId { block, warp } } = self;
        write!(f, "block {block}, warp {warp}, instruction {pc}, lanes {lanes:08x}: ")?;
        match register {
            Some(register) => write!(f, "{register} at {wrong}"),
            None => write!(f, "{wrong}"),
        }
    }
}

/// Watches a launch.
#[derive(Debug)]
pub struct LevelJudge {
    levels: Levels,
    /// The block that runs; blocks run one after the other.
    block: u64,
    warps: HashMap<u32, Warp>,
    faults: Vec<LevelFault>,
    /// Counts of each strand, by the instruction that it begins with.
    strands: BTreeMap<u32, LevelCounts>,
}

/// The state of a running warp.
#[derive(Debug)]
struct Warp {
    contents: Contents,
    /// The first instruction of the warp's present strand; none between strands.
    strand: Option<u32>,
}

impl LevelJudge {
    /// Number of faults that are kept: the first ones.
    const KEPT: usize = 100;

    /// A judge of a launch on this machine.
    pub fn new(levels: Levels) -> Self {
        Self { levels, block: 0, warps: HashMap::new(), faults: Vec::new(), strands: BTreeMap::new() }
    }

    /// Ends the launch: returns the faults, at most the first hundred, and the counts.
    pub fn finish(self) -> (Vec<LevelFault>, LevelCounts) {
        let mut all = LevelCounts::default();
        self.strands.into_values().for_each(|counts| all += counts);
        (self.faults, all)
    }

    /// Like [`Self::finish`], with the counts of each strand, by the instruction that it begins with.
    pub fn finish_by_strand(self) -> (Vec<LevelFault>, BTreeMap<u32, LevelCounts>) {
        (self.faults, self.strands)
    }

    fn complain(&mut self, at: &Issue<'_>, wrong: WrongLevel, register: Option<Reg>, lanes: Mask) {
        if lanes != 0 && self.faults.len() < Self::KEPT {
            self.faults.push(LevelFault { wrong, pc: at.pc, register, lanes, warp: at.warp });
        }
    }

    fn warp(&mut self, warp: WarpId) -> &mut Warp {
        self.warps.entry(warp.warp).or_insert_with(|| Warp { contents: Contents::new(), strand: None })
    }

    fn contents(&mut self, warp: WarpId) -> &mut Contents {
        &mut self.warp(warp).contents
    }

    /// Whether the warp gives up its slot after an instruction and loses the contents of ORF and LRF.
    fn waits(&self, instruction: &Instruction) -> bool {
        matches!(instruction.op, Op::Bar { .. }) && !self.levels.keep_when_descheduled
    }

    /// Reports a level that the machine does not have.
    fn exists(&mut self, at: &Issue<'_>, level: Upper, register: Reg) {
        let there = match level {
            Upper::Orf(entry) => entry.number() < self.levels.orf_entries,
            Upper::Lrf(bank) => bank.number() < self.levels.lrf.banks(),
        };
        if !there {
            self.complain(at, WrongLevel::NoSuchLevel(level), Some(register), at.mask);
        }
    }

    /// Checks that concern the whole warp, before the instruction takes effect. Descheduling empties ORF and LRF.
    fn begin(&mut self, at: &Issue<'_>) {
        let instruction = at.instruction;
        if instruction.control.deschedule && !self.levels.keep_when_descheduled {
            let middle = self.contents(at.warp).written() & at.living;
            self.contents(at.warp).clear();
            self.complain(at, WrongLevel::DescheduledInStrand, None, middle);
        }
        let goes_back = instruction.target().is_some_and(|target| target.number() <= at.pc);
        if (goes_back || self.waits(instruction)) && !instruction.control.strand_end {
            self.complain(at, WrongLevel::OpenStrand, None, at.active);
        }
    }

    fn read(&mut self, at: &Issue<'_>, slot: Slot, register: Reg) {
        let (instruction, lanes) = (at.instruction, at.mask);
        let private = instruction.unit().is_private();
        let here = instruction.control.source_level(slot);
        if instruction.sources().any(|(slot, same)| same == register && instruction.control.source_level(slot) != here)
        {
            self.complain(at, WrongLevel::SlotsDisagree, Some(register), lanes);
        }
        match here {
            SourceLevel::Mrf | SourceLevel::MrfCopied(_) => {
                let stale = self.contents(at.warp).stale(register) & lanes;
                self.complain(at, WrongLevel::Stale, Some(register), stale);
            }
            SourceLevel::Upper(level) => {
                self.exists(at, level, register);
                if let Upper::Lrf(bank) = level {
                    if !private {
                        self.complain(at, WrongLevel::SharedUnit(level), Some(register), lanes);
                    }
                    if !self.levels.lrf.serves(slot, bank) {
                        self.complain(at, WrongLevel::WrongBank(level), Some(register), lanes);
                    }
                }
                let Found { void, other } = self.contents(at.warp).find(level, register, lanes);
                self.complain(at, WrongLevel::Void(level), Some(register), void);
                self.complain(at, WrongLevel::Another(level), Some(register), other);
            }
        }
    }

    /// Copies a source to its ORF entry, after all sources have been read.
    fn copy(&mut self, at: &Issue<'_>, slot: Slot, register: Reg) {
        let SourceLevel::MrfCopied(entry) = at.instruction.control.source_level(slot) else { return };
        let level = Upper::Orf(entry);
        self.exists(at, level, register);
        if uses_otherwise(at.instruction, level, register) {
            self.complain(at, WrongLevel::CopyCollides(level), Some(register), at.mask);
        }
        self.contents(at.warp).put(level, register, at.mask);
    }

    fn write(&mut self, at: &Issue<'_>, register: Reg) {
        let (instruction, lanes) = (at.instruction, at.mask);
        let (level, in_mrf) = levels_of(instruction.control.result_level);
        self.contents(at.warp).write(register, lanes, in_mrf);
        let Some(level) = level else { return };
        self.exists(at, level, register);
        if instruction.is_long_latency() {
            self.complain(at, WrongLevel::LongLatency(level), Some(register), lanes);
        }
        if matches!(level, Upper::Lrf(_)) && !instruction.unit().is_private() {
            self.complain(at, WrongLevel::SharedUnit(level), Some(register), lanes);
        }
        self.contents(at.warp).put(level, register, lanes);
    }

    fn count(&mut self, at: &Issue<'_>) {
        let (instruction, groups) = (at.instruction, counts::groups(at.mask));
        let strand = *self.warp(at.warp).strand.get_or_insert(at.pc);
        self.strands.entry(strand).or_default().add(instruction, 1, groups);
    }
}

/// The upper level that a result is written to, and whether it is written to the MRF.
fn levels_of(result: ResultLevel) -> (Option<Upper>, bool) {
    match result {
        ResultLevel::Mrf => (None, true),
        ResultLevel::Upper(level) => (Some(level), false),
        ResultLevel::Both(level) => (Some(level), true),
    }
}

/// The registers that an instruction reads, each with its first slot.
fn distinct(instruction: &Instruction) -> impl Iterator<Item = (Slot, Reg)> + use<'_> {
    let is_first = |(slot, register): &(Slot, Reg)| {
        instruction.sources().find(|(_, same)| same == register).is_some_and(|(first, _)| first == *slot)
    };
    instruction.sources().filter(is_first)
}

/// Whether an instruction that copies a register to an entry also reads the entry, copies another register there or writes its result there.
fn uses_otherwise(instruction: &Instruction, entry: Upper, register: Reg) -> bool {
    let by_source = instruction.sources().any(|(slot, other)| match instruction.control.source_level(slot) {
        SourceLevel::Mrf => false,
        SourceLevel::MrfCopied(to) => Upper::Orf(to) == entry && other != register,
        SourceLevel::Upper(level) => level == entry,
    });
    let by_result = levels_of(instruction.control.result_level).0 == Some(entry);
    by_source || by_result && instruction.destination().is_some()
}

impl Observer for LevelJudge {
    const TRACES: bool = true;

    fn issue(&mut self, at: &Issue<'_>) {
        if at.warp.block != self.block {
            self.block = at.warp.block;
            self.warps.clear();
        }
        let instruction = at.instruction;
        self.begin(at);
        if at.mask != 0 {
            self.count(at);
            for (slot, register) in instruction.sources() {
                self.read(at, slot, register);
            }
            for (slot, register) in instruction.sources() {
                self.copy(at, slot, register);
            }
            if let Some(register) = instruction.destination() {
                self.write(at, register);
            }
        }
        if instruction.control.strand_end || self.waits(instruction) {
            self.contents(at.warp).clear();
            self.warp(at.warp).strand = None;
        }
    }
}
