//! Atomic operations.

use gpurf_isa::Op;
use gpurf_isa::modifiers::{Atomic, AtomicSpace, Modifier, Space};

use super::memory::{Target, addresses, check_aligned};
use super::{Step, report, write};
use crate::commit::{Effect, Observer};
use crate::context::Context;
use crate::fault::{Access, FaultKind, LaneFault};
use crate::lanes::{Lanes, Mask, lanes_of};
use crate::program::{Decoded, commutes};
use crate::warp::Warp;

/// What an atomic operation does to a word.
struct Update {
    what: What,
    /// The kind for conflict notes, if operations of this kind commute and the result is unused.
    kind: Option<u32>,
    operands: Lanes,
    compared: Lanes,
}

enum What {
    Function(Atomic),
    CompareAndSwap,
}

impl Update {
    fn apply(&self, m: u32, lane: usize, global: bool) -> u32 {
        let c = self.operands.0[lane];
        match self.what {
            What::CompareAndSwap if m == self.compared.0[lane] => c,
            What::CompareAndSwap => m,
            What::Function(function) => match function {
                Atomic::Add => m.wrapping_add(c),
                Atomic::MinU32 => m.min(c),
                Atomic::MinS32 => (m as i32).min(c as i32) as u32,
                Atomic::MaxU32 => m.max(c),
                Atomic::MaxS32 => (m as i32).max(c as i32) as u32,
                Atomic::Inc if m >= c => 0,
                Atomic::Inc => m + 1,
                Atomic::Dec if m == 0 || m > c => c,
                Atomic::Dec => m - 1,
                Atomic::And => m & c,
                Atomic::Or => m | c,
                Atomic::Xor => m ^ c,
                Atomic::Exch => c,
                Atomic::AddF32 => {
                    let mode = if global { gpurf_arith::Mode::FTZ } else { gpurf_arith::Mode::IEEE };
                    gpurf_arith::float::add(m, c, mode)
                }
            },
        }
    }
}

/// ATOM and CAS; lanes in ascending order.
pub fn perform<O: Observer>(
    context: &mut Context<'_, O>,
    warp: &mut Warp,
    ins: &Decoded,
    mask: Mask,
) -> Result<Step, LaneFault> {
    let Some(granted) = context.grant(warp, mask)? else { return Ok(Step::Stop) };
    let (space, what, kind, compared) = match ins.op {
        Op::Atom { space, operation } => {
            let kind = (ins.unused && commutes(operation)).then(|| operation.bits());
            (space, What::Function(operation), kind, Lanes::ZERO)
        }
        _ => (cas_space(ins.op), What::CompareAndSwap, None, *warp.b(context.program, ins.b)),
    };
    let space = match space {
        AtomicSpace::Global => Space::Global,
        AtomicSpace::Shared => Space::Shared,
        AtomicSpace::Generic => Space::Generic,
    };
    let addresses = match what {
        // The upper word of a CAS address is zero.
        What::CompareAndSwap => {
            let low = warp.row(ins.a);
            std::array::from_fn(|lane| u64::from(low.0[lane]).wrapping_add(ins.offset as u64) & u64::from(u32::MAX))
        }
        What::Function(_) => addresses(context, warp, ins, space),
    };
    let update = Update { what, kind, operands: *warp.row(ins.c), compared };
    let mut values = Lanes::ZERO;
    for lane in lanes_of(granted) {
        let target = Target::of(space, addresses[lane]);
        check_aligned(Access::Atomic, lane, target, addresses[lane], 4)?;
        values.0[lane] = context.update_one(warp, lane, target, &update)?;
    }
    if O::ACTIVE {
        let addresses = addresses.map(|address| Target::of(space, address).generic());
        report(context, warp, granted, Effect::Atomic { addresses: &addresses, occurrence: warp.atomics });
    }
    write(context, warp, ins, &values, granted);
    if !context.is_whole(warp, mask, granted) {
        return Ok(Step::Stop);
    }
    warp.atomics += 1;
    let pc = warp.stack.top.pc;
    warp.stack.advance(pc + 1);
    context.count(warp, mask);
    Ok(Step::On)
}

fn cas_space(op: Op) -> AtomicSpace {
    match op {
        Op::Cas { space } => space,
        _ => AtomicSpace::Global,
    }
}

impl<O: Observer> Context<'_, O> {
    fn update_one(&mut self, warp: &mut Warp, lane: usize, target: Target, update: &Update) -> Result<u32, LaneFault> {
        let (old, changed) = match target {
            Target::Global(address) => {
                let place = self.place(warp, Access::Atomic, lane, address, 4)?;
                if let (Some((conflicts, note)), Some(kind)) = (self.conflicts, update.kind) {
                    conflicts.accumulate(note, kind, place);
                }
                let word = self.memory.word(place);
                let new = |old| Some(update.apply(old, lane, true));
                let relaxed = std::sync::atomic::Ordering::Relaxed;
                let old = word.fetch_update(relaxed, relaxed, new).unwrap_or_else(|old| old);
                (old, update.apply(old, lane, true) != old)
            }
            Target::Shared(address) => {
                let updated = self.state.shared.update(address, |old| update.apply(old, lane, false));
                updated.map_err(|fault| self.shared_fault(Access::Atomic, lane, address, *fault))?
            }
            Target::Local(_) => return Err(LaneFault::new(lane, FaultKind::LocalAtomic)),
            Target::Constant(_) => {
                return Err(LaneFault::new(lane, FaultKind::ConstantWrite { access: Access::Atomic }));
            }
        };
        self.changes += u64::from(changed);
        Ok(old)
    }
}
