//! Liveness of registers in finished code: which registers are read after an instruction.
//!
//! There are two questions, whose answers differ where lanes diverge:
//!
//! * [`of_lane`]: does a lane that executes the instruction read its own part of the register again? A lane follows one path through the thread's
//!   control-flow graph and reads only its own part. Shuffles are no exception: they read from lanes that execute the same shuffle, for which it is a
//!   read of their own part. So the thread's graph answers this question.
//! * [`of_warp`]: does any lane of the warp read the register? While one side of a branch runs, the other side's lanes wait, at the branch's target
//!   or at the reconvergence point. The registers that they read from there on are live all that time, whatever the running lanes write.

use super::flow::{Registers, backward, side, sources};
use gpurf_isa::Instruction;

/// For each instruction, the registers that a lane may still read after it. A guarded write does not end a register's life: a lane that the guard
/// disables keeps the old value.
pub fn of_lane(code: &[Instruction]) -> Vec<Registers> {
    let reads: Vec<Registers> = code.iter().map(sources).collect();
    backward(code, |pc, behind| kept(&code[pc], behind).union(reads[pc]))
}

/// For each instruction, the registers that any lane of the warp may still read after it.
pub fn of_warp(code: &[Instruction]) -> Vec<Registers> {
    let lane = of_lane(code);
    let at = |pc: usize| front(&code[pc], lane[pc]);
    let mut warp = lane.clone();
    for (pc, branch) in code.iter().enumerate().filter(|(_, instruction)| instruction.may_diverge()) {
        let Some(target) = branch.target().map(|target| target.index()) else { continue };
        let meet = branch.reconvergence.map(|meet| meet.index());
        let falling = side(code, pc + 1, meet);
        let taken = side(code, target, meet);
        // The side that falls through runs first; the taken lanes wait for it at the target.
        let waiting = if Some(target) == meet { Registers::NONE } else { at(target) };
        let meeting = meet.map_or(Registers::NONE, at);
        for (pc, live) in warp.iter_mut().enumerate() {
            if falling[pc] {
                *live = live.union(waiting);
            }
            if falling[pc] || taken[pc] {
                *live = live.union(meeting);
            }
        }
    }
    warp
}

/// The registers that are live before an instruction, given those that are live after it.
pub fn front(instruction: &Instruction, behind: Registers) -> Registers {
    kept(instruction, behind).union(sources(instruction))
}

/// The registers that are live after an instruction and that it does not overwrite.
fn kept(instruction: &Instruction, behind: Registers) -> Registers {
    match instruction.destination() {
        Some(register) if !instruction.is_guarded() => behind.without(register),
        _ => behind,
    }
}
