//! What each operation does to a warp.
//!
//! An operation is chosen once for all lanes; the loops over lanes inside are plain, so that the compiler can make vector code of them.

mod atomic;
mod control;
mod float;
mod integer;
mod memory;
mod texture;

pub use memory::{Target, load_bytes, store_bytes};

use gpurf_isa::Op;
use gpurf_isa::modifiers::{Addition, Combine, IntegerCombine, Shuffle, Special, Vote};

use crate::commit::{Commit, Effect, Issue, Observer, WarpId};
use crate::context::{Accesses, Context};
use crate::fault::{FaultKind, LaneFault};
use crate::lanes::{Lanes, Mask, WIDTH, lanes_of, test2};
use crate::program::{Decoded, PREDICATE_SINK};
use crate::warp::Warp;

/// Whether a warp can continue after a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It can continue.
    On,
    /// It waits or has ended.
    Stop,
}

/// Executes the next instruction of a warp that neither waits nor has ended.
#[inline(always)]
pub fn step<O: Observer>(context: &mut Context<'_, O>, warp: &mut Warp) -> Result<Step, LaneFault> {
    let pc = warp.stack.top.pc;
    let active = warp.stack.top.mask;
    let Some(&ins) = context.program.code.get(pc as usize) else {
        return Err(LaneFault::new(active.trailing_zeros() as usize, FaultKind::PastEnd));
    };
    let mask = active & warp.condition(ins.guard);
    if O::TRACES {
        trace(context, warp, &ins, mask);
    }
    let step = match ins.op {
        Op::Bra {} => {
            let spins = ins.target <= pc && mask != 0 && context.loops(warp);
            warp.stack.branch(mask, ins.target, ins.reconvergence);
            // A warp that spins need not use the rest of its turn.
            if spins { Step::Stop } else { Step::On }
        }
        _ if mask == 0 => {
            warp.stack.advance(pc + 1);
            Step::On
        }
        Op::Exit {} => {
            warp.stack.exit(mask);
            if warp.stack.is_done() { Step::Stop } else { Step::On }
        }
        Op::Bar { id } => return control::barrier(context, warp, &ins, id.number(), mask),
        Op::Atom { .. } | Op::Cas { .. } => return atomic::perform(context, warp, &ins, mask),
        Op::Ld { .. } | Op::St { .. } | Op::Tex { .. } if context.accesses != Accesses::Free => {
            return memory::perform(context, warp, &ins, mask);
        }
        _ => {
            execute(context, warp, &ins, mask)?;
            warp.stack.advance(pc + 1);
            Step::On
        }
    };
    context.count(warp, mask);
    Ok(step)
}

/// Reports an instruction to the observer before it takes effect.
fn trace<O: Observer>(context: &mut Context<'_, O>, warp: &Warp, ins: &Decoded, mask: Mask) {
    let (top, program) = (warp.stack.top, context.program);
    context.observer.issue(&Issue {
        warp: WarpId { block: context.state.index, warp: warp.number },
        number: warp.issued,
        pc: top.pc,
        instruction: &program.instructions[top.pc as usize],
        active: top.mask,
        mask,
        living: warp.stack.living,
        depth: warp.stack.depth(),
        sources: [warp.row(ins.a), warp.b(program, ins.b), warp.row(ins.c)],
        s: warp.condition(ins.s),
    });
}

/// An instruction that neither changes control flow nor waits.
fn execute<O: Observer>(
    context: &mut Context<'_, O>,
    warp: &mut Warp,
    ins: &Decoded,
    mask: Mask,
) -> Result<(), LaneFault> {
    let program = context.program;
    let b = |warp: &Warp| *warp.b(program, ins.b);
    let values = match ins.op {
        // RELSSP has no effect here; only observers use it.
        Op::Nop {} | Op::Membar { .. } | Op::Relssp {} => return Ok(()),
        Op::Warpsync {} => return control::warpsync(warp, warp.b(program, ins.b), mask),
        Op::Trap {} => {
            let lane = mask.trailing_zeros() as usize;
            return Err(LaneFault::new(lane, FaultKind::Trap { code: b(warp).0[lane] }));
        }
        Op::Bra {} | Op::Exit {} | Op::Bar { .. } | Op::Atom { .. } | Op::Cas { .. } => {
            unreachable!("the caller has dealt with {}", ins.op.mnemonic())
        }

        Op::Mov {} => b(warp),
        Op::Sel {} => {
            let mut values = b(warp);
            values.merge(warp.row(ins.a), warp.condition(ins.s));
            values
        }
        Op::S2r { source: Special::TimeLow } => Lanes::splat(context.time(warp)? as u32),
        Op::S2r { source: Special::TimeHigh } => Lanes::splat((context.time(warp)? >> 32) as u32),
        Op::S2r { source } => special(context, warp, source, mask),
        Op::Shfl { mode, clamp, segment } => {
            let (values, in_range) = shuffle(
                warp.row(ins.a),
                warp.b(program, ins.b),
                mode,
                clamp.number().into(),
                segment.number().into(),
                mask,
            );
            write_predicate(context, warp, ins, in_range, mask);
            values
        }
        Op::Vote { mode } => {
            let votes = warp.condition(ins.s) & mask;
            let result = match mode {
                Vote::All => votes == mask,
                Vote::Any => votes != 0,
                Vote::Uniform => votes == mask || votes == 0,
            };
            write_predicate(context, warp, ins, if result { Mask::MAX } else { 0 }, mask);
            return Ok(());
        }
        Op::Ballot {} => Lanes::splat(warp.condition(ins.s) & mask),
        Op::Plop { combine: how } => {
            let values = combine(how, warp.condition(ins.s), warp.condition(ins.t));
            write_predicate(context, warp, ins, values, mask);
            return Ok(());
        }

        Op::Iadd { mode } if ins.p == PREDICATE_SINK => {
            integer::sum(mode, warp.row(ins.a), warp.b(program, ins.b), warp.condition(ins.s))
        }
        Op::Iadd { mode } => {
            let (values, carries) = integer::add(mode, warp.row(ins.a), warp.b(program, ins.b), warp.condition(ins.s));
            write_predicate(context, warp, ins, carries, mask);
            values
        }
        Op::Imad { half, signed } => {
            let product = integer::product(half, signed, warp.row(ins.a), warp.b(program, ins.b));
            let (c, s) = (warp.row(ins.c), warp.condition(ins.s));
            if ins.p == PREDICATE_SINK {
                integer::sum(Addition::Add, &product, c, s)
            } else {
                let (values, carries) = integer::add(Addition::Add, &product, c, s);
                write_predicate(context, warp, ins, carries, mask);
                values
            }
        }
        Op::Imnmx { which, signed } => integer::extremum(which, signed, warp.row(ins.a), warp.b(program, ins.b)),
        Op::Isetp { comparison, signed, combine: how } => {
            let (x, y) = (warp.row(ins.a), warp.b(program, ins.b));
            let result = integer::compare(comparison, signed, x, y);
            let s = warp.condition(ins.s);
            let values = match how {
                IntegerCombine::And => result & s,
                IntegerCombine::Or => result | s,
                IntegerCombine::Xor => result ^ s,
                IntegerCombine::Extended => {
                    let equal = test2(x, y, |x, y| x == y);
                    result & !equal | s & equal
                }
            };
            write_predicate(context, warp, ins, values, mask);
            return Ok(());
        }
        Op::Lop3 { lut } => integer::logic(lut.number(), warp.row(ins.a), warp.b(program, ins.b), warp.row(ins.c)),
        Op::Shf { direction, range } => {
            integer::funnel(direction, range, warp.row(ins.a), warp.b(program, ins.b), warp.row(ins.c))
        }
        Op::Shl {}
        | Op::Shr { .. }
        | Op::Bfe { .. }
        | Op::Bfi {}
        | Op::Prmt {}
        | Op::Popc {}
        | Op::Clz {}
        | Op::Brev {}
        | Op::Dp4a { .. }
        | Op::Dp2a { .. } => integer::on_bits(ins.op, warp.row(ins.a), warp.b(program, ins.b), warp.row(ins.c)),

        Op::Fadd { .. } | Op::Fmul { .. } | Op::Ffma { .. } | Op::Fmnmx { .. } | Op::I2f { .. } | Op::F2i { .. } => {
            float::compute(ins.op, warp.row(ins.a), warp.b(program, ins.b), warp.row(ins.c), mask)
        }
        Op::Frnd { .. } | Op::Mufu { .. } => {
            float::compute(ins.op, warp.row(ins.a), warp.b(program, ins.b), warp.row(ins.c), mask)
        }
        Op::Fsetp { comparison, ftz, combine: how } => {
            let result = float::compare(comparison, ftz, warp.row(ins.a), warp.b(program, ins.b));
            let values = combine(how, result, warp.condition(ins.s));
            write_predicate(context, warp, ins, values, mask);
            return Ok(());
        }

        Op::Ld { space, kind, align, bypass: _ } => memory::load(context, warp, ins, space, kind, align, mask)?,
        Op::Tex { access, channel } => texture::fetch(context, warp, ins, access, channel, mask)?,
        Op::Ldc { kind, align } => memory::load_constant(context, warp, ins, kind, align, mask)?,
        Op::St { space, kind, align } => {
            memory::store(context, warp, ins, space, kind, align, mask)?;
            memory::report_store(context, warp, ins, space, kind, mask);
            return Ok(());
        }
    };
    write(context, warp, ins, &values, mask);
    Ok(())
}

/// Writes the destination.
#[inline(always)]
pub(super) fn write<O: Observer>(
    context: &mut Context<'_, O>,
    warp: &mut Warp,
    ins: &Decoded,
    values: &Lanes,
    mask: Mask,
) {
    warp.rows[ins.d as usize].merge(values, mask);
    if O::ACTIVE && ins.d < context.program.registers {
        report(context, warp, mask, Effect::Register { register: ins.d as u8, values });
    }
}

/// Writes the predicate destination.
#[inline(always)]
fn write_predicate<O: Observer>(
    context: &mut Context<'_, O>,
    warp: &mut Warp,
    ins: &Decoded,
    values: Mask,
    mask: Mask,
) {
    warp.set_predicate(ins.p, values, mask);
    if O::ACTIVE && usize::from(ins.p) < gpurf_isa::Predicate::COUNT {
        report(context, warp, mask, Effect::Predicate { predicate: ins.p, values });
    }
}

/// Reports an effect to the observer.
fn report<O: Observer>(context: &mut Context<'_, O>, warp: &Warp, mask: Mask, effect: Effect<'_>) {
    let id = WarpId { block: context.state.index, warp: warp.number };
    context.observer.commit(&Commit { warp: id, number: warp.issued, pc: warp.stack.top.pc, mask, effect });
}

fn combine(how: Combine, x: Mask, y: Mask) -> Mask {
    match how {
        Combine::And => x & y,
        Combine::Or => x | y,
        Combine::Xor => x ^ y,
    }
}

fn special<O: Observer>(context: &Context<'_, O>, warp: &Warp, source: Special, mask: Mask) -> Lanes {
    let geometry = &context.geometry;
    let base = warp.number * WIDTH as u32;
    let [x, y, _] = geometry.block;
    match source {
        Special::TidX => Lanes::number(|lane| (base + lane) % x),
        Special::TidY => Lanes::number(|lane| (base + lane) / x % y),
        Special::TidZ => Lanes::number(|lane| (base + lane) / x / y),
        Special::NtidX => Lanes::splat(geometry.block[0]),
        Special::NtidY => Lanes::splat(geometry.block[1]),
        Special::NtidZ => Lanes::splat(geometry.block[2]),
        Special::CtaidX => Lanes::splat(context.state.block[0]),
        Special::CtaidY => Lanes::splat(context.state.block[1]),
        Special::CtaidZ => Lanes::splat(context.state.block[2]),
        Special::NctaidX => Lanes::splat(geometry.grid[0]),
        Special::NctaidY => Lanes::splat(geometry.grid[1]),
        Special::NctaidZ => Lanes::splat(geometry.grid[2]),
        Special::LaneId => Lanes::number(|lane| lane),
        Special::WarpId => Lanes::splat(warp.number),
        Special::LaneMaskEq => Lanes::number(|lane| 1 << lane),
        Special::LaneMaskLt => Lanes::number(|lane| (1 << lane) - 1),
        Special::LaneMaskLe => Lanes::number(|lane| u32::MAX >> (31 - lane)),
        Special::LaneMaskGt => Lanes::number(|lane| !(u32::MAX >> (31 - lane))),
        Special::LaneMaskGe => Lanes::number(|lane| u32::MAX << lane),
        Special::ActiveMask => Lanes::splat(mask),
        Special::DynamicSharedSize => Lanes::splat(geometry.dynamic_shared),
        Special::TimeLow | Special::TimeHigh => unreachable!("the caller has dealt with the time"),
    }
}

/// The values of other lanes, and whether each lane's choice is in range (PTX ISA, "shfl.sync"). A lane whose choice is out of range keeps its own
/// value; one whose choice is in range but does not execute the instruction gets 0.
fn shuffle(values: &Lanes, choice: &Lanes, mode: Shuffle, clamp: u32, segment: u32, active: Mask) -> (Lanes, Mask) {
    let mut result = *values;
    let mut in_range = 0;
    for lane in lanes_of(active) {
        let (own, b) = (lane as u32, choice.0[lane] & 31);
        let max = own & segment | clamp & !segment;
        let min = own & segment;
        let (from, valid) = match mode {
            Shuffle::Up => (own.wrapping_sub(b), own.wrapping_sub(b) as i32 >= max as i32),
            Shuffle::Down => (own + b, own + b <= max),
            Shuffle::Butterfly => (own ^ b, own ^ b <= max),
            Shuffle::Index => (min | b & !segment, (min | b & !segment) <= max),
        };
        if valid {
            in_range |= 1 << lane;
            result.0[lane] = if active >> from & 1 == 1 { values.0[from as usize] } else { 0 };
        }
    }
    (result, in_range)
}
