//! Rules for the levels of a single instruction, and for where strands must end.

use gpurf_isa::{Instruction, Op, OrfEntry, ResultLevel, Slot, SourceLevel, Upper};

use super::super::{Encoding, HierarchyOptions};
use super::Wrong;
use crate::marks::flow::successors;

/// Whether the warp is descheduled before an instruction and loses the contents of ORF and LRF.
pub fn leaves(instruction: &Instruction, options: &HierarchyOptions) -> bool {
    instruction.control.deschedule && !options.keep_when_descheduled
}

/// Whether the contents of ORF and LRF are void for the whole warp after an instruction.
pub fn voids(instruction: &Instruction, options: &HierarchyOptions) -> bool {
    instruction.control.strand_end || waits(instruction, options)
}

fn waits(instruction: &Instruction, options: &HierarchyOptions) -> bool {
    matches!(instruction.op, Op::Bar { .. }) && !options.keep_when_descheduled
}

/// Checks where strands must end. Returns the instruction at fault.
pub fn of_strands(code: &[Instruction], options: &HierarchyOptions) -> Result<(), (usize, Wrong)> {
    let mut heads = vec![false; code.len()];
    for (pc, instruction) in code.iter().enumerate() {
        if let Some(target) = instruction.target().filter(|target| target.index() <= pc) {
            heads[target.index()] = true;
            if !instruction.control.strand_end {
                return Err((pc, Wrong::OpenBackwardBranch));
            }
        }
        if waits(instruction, options) && !instruction.control.strand_end {
            return Err((pc, Wrong::OpenBarrier));
        }
    }
    for (pc, instruction) in code.iter().enumerate().filter(|(_, instruction)| !instruction.control.strand_end) {
        for to in successors(code, pc) {
            if heads[to] {
                return Err((pc, Wrong::OpenLoop));
            }
            if leaves(&code[to], options) {
                return Err((to, Wrong::DescheduledInStrand));
            }
        }
        debug_assert!(!waits(instruction, options));
    }
    Ok(())
}

/// Checks the levels of an instruction's operands.
pub fn of_levels(instruction: &Instruction, options: &HierarchyOptions) -> Result<(), Wrong> {
    let control = &instruction.control;
    let private = instruction.unit().is_private();
    for (slot, register) in instruction.sources() {
        let level = control.source_level(slot);
        if instruction.sources().any(|(other, same)| same == register && control.source_level(other) != level) {
            return Err(Wrong::SlotsDisagree(register));
        }
        match level {
            SourceLevel::Mrf => {}
            SourceLevel::MrfCopied(entry) => {
                exists(Upper::Orf(entry), options)?;
                if is_used_otherwise(instruction, slot, entry) {
                    return Err(Wrong::CopyCollides(entry));
                }
            }
            SourceLevel::Upper(level) => {
                exists(level, options)?;
                if let Upper::Lrf(bank) = level {
                    if !private {
                        return Err(Wrong::SharedReadOfLrf(register));
                    }
                    if !options.lrf.serves(slot, bank) {
                        return Err(Wrong::WrongBank(level));
                    }
                }
            }
        }
    }
    let Some(register) = instruction.destination() else { return Ok(()) };
    let (level, both) = match control.result_level {
        ResultLevel::Mrf => return Ok(()),
        ResultLevel::Upper(level) => (level, false),
        ResultLevel::Both(level) => (level, true),
    };
    exists(level, options)?;
    let is_lrf = matches!(level, Upper::Lrf(_));
    let allowed = match options.encoding {
        Encoding::Free => true,
        Encoding::SingleLevel => !both,
        Encoding::LrfMrfOnly => !both || is_lrf,
    };
    if instruction.is_long_latency() {
        Err(Wrong::LongLatencyAbove(register))
    } else if is_lrf && !private {
        Err(Wrong::SharedResultInLrf(register))
    } else if !allowed {
        Err(Wrong::TwoLevels(level))
    } else {
        Ok(())
    }
}

/// Checks that the machine has this level.
fn exists(level: Upper, options: &HierarchyOptions) -> Result<(), Wrong> {
    let there = match level {
        Upper::Orf(entry) => entry.number() < options.orf_entries,
        Upper::Lrf(bank) => bank.number() < options.lrf.banks(),
    };
    if there { Ok(()) } else { Err(Wrong::NoSuchLevel(level)) }
}

/// Whether the instruction also reads or writes the entry that a source is copied to, or copies another register to it.
fn is_used_otherwise(instruction: &Instruction, slot: Slot, entry: OrfEntry) -> bool {
    let here = Upper::Orf(entry);
    let register = instruction.source(slot);
    let by_source =
        instruction.sources().any(|(other, other_register)| match instruction.control.source_level(other) {
            SourceLevel::Mrf => false,
            SourceLevel::MrfCopied(other) => other == entry && Some(other_register) != register,
            SourceLevel::Upper(level) => level == here,
        });
    let by_result = match instruction.control.result_level {
        ResultLevel::Mrf => false,
        ResultLevel::Upper(level) | ResultLevel::Both(level) => level == here && instruction.destination().is_some(),
    };
    by_source || by_result
}
