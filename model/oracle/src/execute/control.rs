//! Barriers and warp-wide synchronisation.

use crate::commit::Observer;
use crate::context::Context;
use crate::execute::Step;
use crate::fault::{FaultKind, LaneFault};
use crate::lanes::{Lanes, Mask, WIDTH};
use crate::program::Decoded;
use crate::warp::{Waiting, Warp};

/// The warp arrives at a barrier.
pub fn barrier<O: Observer>(
    context: &mut Context<'_, O>,
    warp: &mut Warp,
    ins: &Decoded,
    id: u8,
    mask: Mask,
) -> Result<Step, LaneFault> {
    let lane = mask.trailing_zeros() as usize;
    let living = warp.stack.living;
    if mask != living {
        let kind = FaultKind::BarrierDivergence { id, arrived: mask.count_ones(), living: living.count_ones() };
        return Err(LaneFault::new(lane, kind));
    }
    let counts = warp.b(context.program, ins.b);
    let count = counts.0[lane];
    let problem = if crate::lanes::lanes_of(mask).any(|other| counts.0[other] != count) {
        Some("is not the same for all threads")
    } else if !count.is_multiple_of(WIDTH as u32) {
        Some("is no multiple of 32")
    } else if count > context.geometry.threads().next_multiple_of(WIDTH as u32) {
        Some("is more than the block has")
    } else {
        context.state.barriers[usize::from(id)]
            .arrive(count)
            .then_some("is not that of the warps which wait there already")
    };
    if let Some(problem) = problem {
        return Err(LaneFault::new(lane, FaultKind::BarrierCount { id, count, problem }));
    }
    warp.waiting = Waiting::Barrier(id);
    let pc = warp.stack.top.pc;
    context.count(warp, mask);
    warp.stack.advance(pc + 1);
    Ok(Step::Stop)
}

/// Checks that the active lanes are the living lanes of the mask.
pub fn warpsync(warp: &Warp, masks: &Lanes, active: Mask) -> Result<(), LaneFault> {
    let living = warp.stack.living;
    for lane in crate::lanes::lanes_of(active) {
        let mask = masks.0[lane];
        if mask & living != active {
            return Err(LaneFault::new(lane, FaultKind::WarpDivergence { mask, active, living }));
        }
    }
    Ok(())
}
