//! The bits "RFC bypass" and "LRF bypass": results that are better kept out of a level of the hierarchy.
//!
//! Both ask who reads a result before the warp is descheduled, when RFC and LRF are emptied anyway. A marked instruction
//! reads its own sources after that point.

use super::Pass;
use super::deschedule::is_barrier_of_all;
use super::flow::{Registers, backward, sources};
use gpurf_isa::Instruction;

/// The passes by name.
pub(super) const BYPASS: (&str, Pass) = ("RFC bypass", mark_cache);
pub(super) const LRF_BYPASS: (&str, Pass) = ("LRF bypass", mark_lrf);

/// Marks results that nothing reads before the warp is descheduled (RFC paper 5.3). Those of long-latency operations go
/// around the RFC without it.
fn mark_cache(code: &mut [Instruction]) {
    let soon = read_soon(code, |_| true);
    for (instruction, soon) in code.iter_mut().zip(soon) {
        let unread = instruction.destination().is_some_and(|register| !soon.contains(register));
        instruction.control.bypass.cache = unread && !instruction.is_long_latency();
    }
}

/// Marks results of the private datapath that a shared unit may read before the warp is descheduled (hierarchy thesis
/// 6.5.2): no shared unit reaches the LRF. Results of other units do not go to the LRF.
fn mark_lrf(code: &mut [Instruction]) {
    let soon = read_soon(code, |instruction| !instruction.unit().is_private());
    for (instruction, soon) in code.iter_mut().zip(soon) {
        let shared = instruction.destination().is_some_and(|register| soon.contains(register));
        instruction.control.bypass.lrf = shared && instruction.unit().is_private();
    }
}

/// For each instruction the registers that one of the `readers` may read after it, before the warp is descheduled.
fn read_soon(code: &[Instruction], readers: impl Fn(&Instruction) -> bool) -> Vec<Registers> {
    backward(code, |pc, behind| {
        let instruction = &code[pc];
        if instruction.control.deschedule {
            return Registers::NONE;
        }
        let behind = if is_barrier_of_all(instruction) { Registers::NONE } else { behind };
        let kept = match instruction.destination() {
            // Lanes that a guard leaves out keep the old value.
            Some(register) if !instruction.is_guarded() => behind.without(register),
            _ => behind,
        };
        if readers(instruction) { kept.union(sources(instruction)) } else { kept }
    })
}
