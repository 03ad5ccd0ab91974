//! Proves that every read of finished code finds its value at the level that the instruction names.
//!
//! One lane is followed along every path of the control-flow graph. The state is what is certain about the lane: the register whose present value
//! each entry of ORF and LRF holds, and the registers whose present value the MRF holds. While a lane waits for others of its warp, they may make the
//! contents void ([`divergence`]). Otherwise lanes do not affect each other: each has its own part of every entry.
//!
//! The check uses nothing of the allocation: neither its strands nor its values nor its liveness.

mod divergence;
mod rules;

use std::fmt;

use gpurf_isa::{Instruction, LrfBank, OrfEntry, Reg, ResultLevel, SourceLevel, Upper};

use super::HierarchyOptions;
use crate::marks::flow::{Registers, successors};
use divergence::Waits;

/// What is wrong with the levels or the strand end of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// On some path the entry does not hold the register's present value.
    NotThere(Reg, Upper),
    /// On some path the MRF does not hold the register's present value.
    NotInMrf(Reg),
    /// The machine has no such entry or bank.
    NoSuchLevel(Upper),
    /// This LRF bank cannot be read in this source slot.
    WrongBank(Upper),
    /// An instruction of a shared unit reads this register in the LRF.
    SharedReadOfLrf(Reg),
    /// An instruction of a shared unit writes this register to the LRF.
    SharedResultInLrf(Reg),
    /// A result of long latency goes to a level above the MRF.
    LongLatencyAbove(Reg),
    /// Source slots that read the same register name different levels.
    SlotsDisagree(Reg),
    /// The instruction also uses the entry that a source is copied to in another way.
    CopyCollides(OrfEntry),
    /// The encoding does not allow these two levels together.
    TwoLevels(Upper),
    /// A backward branch does not end its strand.
    OpenBackwardBranch,
    /// A predecessor of the target of a backward branch does not end its strand.
    OpenLoop,
    /// A barrier does not end its strand.
    OpenBarrier,
    /// On some path the warp is descheduled in the middle of a strand.
    DescheduledInStrand,
    /// A branch that may diverge does not end its strand, and one of its sides may make the contents void (hazard 3).
    OpenBranch,
    /// A predecessor of a reconvergence point does not end its strand, and one of the branch's sides may make the contents void.
    OpenMeeting,
}

/// An instruction whose levels or strand end are wrong.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("instruction {pc}, `{text}`: {wrong}")]
pub struct CheckError {
    /// The instruction.
    pub pc: usize,
    /// Its text.
    pub text: String,
    /// What is wrong.
    pub wrong: Wrong,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThere(register, level) => {
                write!(f, "{register} is read in {level}, which on some path does not hold its present value")
            }
            Self::NotInMrf(register) => {
                write!(f, "{register} is read in the MRF, which on some path does not hold its present value")
            }
            Self::NoSuchLevel(level) => write!(f, "the machine has no {level}"),
            Self::WrongBank(level) => write!(f, "{level} is not the bank of this slot"),
            Self::SharedReadOfLrf(register) => write!(f, "a shared unit reads {register} in the LRF"),
            Self::SharedResultInLrf(register) => write!(f, "a shared unit writes {register} to the LRF"),
            Self::LongLatencyAbove(register) => {
                write!(f, "{register} is a result of long latency and goes to a level above the MRF")
            }
            Self::SlotsDisagree(register) => write!(f, "the slots of {register} have different levels"),
            Self::CopyCollides(entry) => {
                write!(f, "a source is copied to ORF{}, which the instruction also uses otherwise", entry.number())
            }
            Self::TwoLevels(level) => write!(f, "the encoding has no result that goes to the MRF and {level}"),
            Self::OpenBackwardBranch => f.write_str("a backward branch has to end its strand"),
            Self::OpenLoop => f.write_str("the target of a backward branch has to begin a strand on every path"),
            Self::OpenBarrier => f.write_str("a barrier has to end its strand"),
            Self::DescheduledInStrand => {
                f.write_str("the warp is descheduled, and on some path its strand has not ended")
            }
            Self::OpenBranch => {
                f.write_str("a branch with a side that may make ORF and LRF void has to end its strand")
            }
            Self::OpenMeeting => {
                f.write_str("where a side that may make ORF and LRF void meets the other one, a strand has to begin")
            }
        }
    }
}

/// Runs the proof for a machine with this hierarchy.
///
/// # Errors
/// The first instruction for which the proof fails.
pub fn check(code: &[Instruction], options: &HierarchyOptions) -> Result<(), Box<CheckError>> {
    let fault = |pc: usize, wrong| Box::new(CheckError { pc, text: code[pc].to_string(), wrong });
    rules::of_strands(code, options).map_err(|(pc, wrong)| fault(pc, wrong))?;
    for (pc, instruction) in code.iter().enumerate() {
        rules::of_levels(instruction, options).map_err(|wrong| fault(pc, wrong))?;
    }
    let waits = Waits::of(code, options);
    for (pc, known) in follow(code, &waits, options).into_iter().enumerate() {
        // Unreachable instructions are not wrong.
        if let Some(known) = known {
            known.finds_all(&code[pc], options).map_err(|wrong| fault(pc, wrong))?;
        }
    }
    waits.begin_strands(code).map_err(|(pc, wrong)| fault(pc, wrong))
}

/// What is certain about a lane before each instruction that it can reach.
fn follow(code: &[Instruction], waits: &Waits, options: &HierarchyOptions) -> Vec<Option<Known>> {
    let mut fronts: Vec<Option<Known>> = vec![None; code.len()];
    let mut open = vec![0];
    if let Some(first) = fronts.first_mut() {
        *first = Some(Known::START);
    }
    while let Some(pc) = open.pop() {
        let Some(front) = fronts.get(pc).copied().flatten() else { continue };
        let behind = front.behind(&code[pc], options);
        for to in successors(code, pc) {
            let mut arriving = behind;
            if waits.are_void(code, pc, to) {
                arriving.forget();
            }
            let new = fronts[to].map_or(arriving, |old| old.and(&arriving));
            if fronts[to] != Some(new) {
                fronts[to] = Some(new);
                open.push(to);
            }
        }
    }
    fronts
}

/// Number of places above the MRF: entries of the ORF, then banks of the LRF.
const PLACES: usize = (OrfEntry::COUNT + LrfBank::COUNT) as usize;

fn place(level: Upper) -> usize {
    usize::from(match level {
        Upper::Orf(entry) => entry.number(),
        Upper::Lrf(bank) => OrfEntry::COUNT + bank.number(),
    })
}

/// What is certain about a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Known {
    /// The register whose present value each entry holds.
    above: [Option<Reg>; PLACES],
    /// Registers whose present value the MRF may not hold.
    not_in_mrf: Registers,
}

impl Known {
    /// The state when the kernel starts.
    const START: Self = Self { above: [None; PLACES], not_in_mrf: Registers::NONE };

    /// What is certain if either state is possible.
    fn and(&self, other: &Self) -> Self {
        let mut both = *self;
        for (mine, other) in both.above.iter_mut().zip(other.above) {
            *mine = mine.filter(|register| other == Some(*register));
        }
        both.not_in_mrf = self.not_in_mrf.union(other.not_in_mrf);
        both
    }

    /// Makes the contents of ORF and LRF void.
    fn forget(&mut self) {
        self.above = [None; PLACES];
    }

    /// The state when the warp is about to issue an instruction.
    fn at_issue(mut self, instruction: &Instruction, options: &HierarchyOptions) -> Self {
        if rules::leaves(instruction, options) {
            self.forget();
        }
        self
    }

    /// The state after an instruction.
    fn behind(&self, instruction: &Instruction, options: &HierarchyOptions) -> Self {
        let front = self.at_issue(instruction, options);
        let mut behind = front.executed(instruction);
        if instruction.is_guarded() {
            behind = behind.and(&front);
        }
        if rules::voids(instruction, options) {
            behind.forget();
        }
        behind
    }

    /// The state after an instruction that the lane executes.
    fn executed(mut self, instruction: &Instruction) -> Self {
        for (slot, register) in instruction.sources() {
            if let SourceLevel::MrfCopied(entry) = instruction.control.source_level(slot) {
                self.above[place(Upper::Orf(entry))] = Some(register);
            }
        }
        let Some(register) = instruction.destination() else { return self };
        for old in self.above.iter_mut().filter(|held| **held == Some(register)) {
            *old = None;
        }
        let (above, in_mrf) = match instruction.control.result_level {
            ResultLevel::Mrf => (None, true),
            ResultLevel::Upper(level) => (Some(level), false),
            ResultLevel::Both(level) => (Some(level), true),
        };
        if let Some(level) = above {
            self.above[place(level)] = Some(register);
        }
        self.not_in_mrf = if in_mrf { self.not_in_mrf.without(register) } else { self.not_in_mrf.with(register) };
        self
    }

    /// Whether an instruction finds every register that it reads.
    fn finds_all(&self, instruction: &Instruction, options: &HierarchyOptions) -> Result<(), Wrong> {
        let known = self.at_issue(instruction, options);
        for (slot, register) in instruction.sources() {
            match instruction.control.source_level(slot) {
                SourceLevel::Upper(level) if known.above[place(level)] != Some(register) => {
                    return Err(Wrong::NotThere(register, level));
                }
                SourceLevel::Mrf | SourceLevel::MrfCopied(_) if known.not_in_mrf.contains(register) => {
                    return Err(Wrong::NotInMrf(register));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
