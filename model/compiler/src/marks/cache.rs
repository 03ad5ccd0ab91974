//! The bits "RFC bypass" and "LRF bypass": results that should not be written to a level of the hierarchy.
//!
//! Both depend on which instructions read a result before the warp is descheduled; RFC and LRF are emptied at that point. An instruction with the
//! deschedule mark reads its own sources after that point.

use super::Pass;
use super::deschedule::is_barrier_of_all;
use super::flow::{Registers, backward, sources};
use gpurf_isa::Instruction;

/// The passes by name.
pub(super) const BYPASS: (&str, Pass) = ("RFC bypass", mark_cache);
pub(super) const LRF_BYPASS: (&str, Pass) = ("LRF bypass", mark_lrf);

/// Marks results that no instruction reads before the warp is descheduled (RFC paper 5.3). Results of long-latency operations bypass the RFC without
/// the mark.
fn mark_cache(code: &mut [Instruction]) {
    let soon = read_soon(code, |_| true);
    for (instruction, soon) in code.iter_mut().zip(soon) {
        let unread = instruction.destination().is_some_and(|register| !soon.contains(register));
        instruction.control.bypass.cache = unread && !instruction.is_long_latency();
    }
}

/// Marks results of the private datapath that a shared unit may read before the warp is descheduled (hierarchy thesis 6.5.2): no shared unit can read
/// the LRF. Results of other units do not go to the LRF.
fn mark_lrf(code: &mut [Instruction]) {
    let soon = read_soon(code, |instruction| !instruction.unit().is_private());
    for (instruction, soon) in code.iter_mut().zip(soon) {
        let shared = instruction.destination().is_some_and(|register| soon.contains(register));
        instruction.control.bypass.lrf = shared && instruction.unit().is_private();
    }
}

/// For each instruction, the registers that one of the `readers` may read after it, before the warp is descheduled.
fn read_soon(code: &[Instruction], readers: impl Fn(&Instruction) -> bool) -> Vec<Registers> {
    backward(code, |pc, behind| {
        let instruction = &code[pc];
        if instruction.control.deschedule {
            return Registers::NONE;
        }
        let behind = if is_barrier_of_all(instruction) { Registers::NONE } else { behind };
        let kept = match instruction.destination() {
            // Lanes that the guard disables keep the old value.
            Some(register) if !instruction.is_guarded() => behind.without(register),
            _ => behind,
        };
        if readers(instruction) { kept.union(sources(instruction)) } else { kept }
    })
}
