//! The bit "deschedule": the instruction is the first to need the result of a long-latency operation.
//!
//! A warp that reaches such an instruction gives up its active slot until *all* of its long-latency operations are complete, so that none is in
//! flight after it. A barrier that all lanes reach does the same by itself. An instruction is marked if, on some path to it, a register that it reads
//! or overwrites is the result of a long-latency operation and no such point has been passed since.

use super::flow::{Registers, forward};
use gpurf_isa::{Instruction, Op};

/// Marks the instructions.
///
/// A mark that one path requires takes effect on all paths, so each mark may make others unnecessary. Marks are first set in the order of the code,
/// each effective at once. Then the marks that are not needed, given the others, are removed, as long as the remaining ones suffice.
pub fn mark(code: &mut [Instruction]) {
    let mut marked = vec![false; code.len()];
    forward(code, |pc, coming| {
        marked[pc] |= needs(&code[pc], coming);
        behind(&code[pc], marked[pc], coming)
    });
    loop {
        let fewer = needed(code, &marked);
        let enough = needed(code, &fewer).iter().zip(&fewer).all(|(needed, marked)| *marked || !*needed);
        if fewer == marked || !enough {
            break;
        }
        marked = fewer;
    }
    for (instruction, marked) in code.iter_mut().zip(marked) {
        instruction.control.deschedule = marked;
    }
}

/// The instructions that need the mark, given this set of marks.
fn needed(code: &[Instruction], marked: &[bool]) -> Vec<bool> {
    let coming = forward(code, |pc, coming| behind(&code[pc], marked[pc], coming));
    code.iter().zip(coming).map(|(instruction, coming)| needs(instruction, coming)).collect()
}

/// Whether an instruction reads or overwrites a register whose value is still pending.
fn needs(instruction: &Instruction, coming: Registers) -> bool {
    let mut touched = instruction.sources().map(|(_, register)| register).chain(instruction.destination());
    touched.any(|register| coming.contains(register))
}

/// The registers whose values are pending after an instruction.
fn behind(instruction: &Instruction, marked: bool, coming: Registers) -> Registers {
    let still = if marked || is_barrier_of_all(instruction) { Registers::NONE } else { coming };
    match instruction.destination() {
        Some(register) if instruction.is_long_latency() => still.with(register),
        _ => still,
    }
}

/// Whether every lane that reaches the instruction waits at a barrier, so that the warp is certainly descheduled.
pub fn is_barrier_of_all(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Bar { .. }) && !instruction.is_guarded()
}
