//! The bit "private": accesses of shared memory that lie in the private part of a block's shared memory, below a bound
//! (`docs/scratchpad-compiler.md`).
//!
//! It does not matter which variable an access uses; only the range of its address counts. A forward analysis over the thread's control-flow graph
//! computes the lowest and the highest value that a lane may find in each register. A shuffle reads a register of another lane that executes the same
//! instruction, so the range is the same.

use super::flow::successors;
use crate::scratchpad::mutation::{Mutation, broken};
use gpurf_isa::image::Kernel;
use gpurf_isa::machine::BLOCK_THREADS;
use gpurf_isa::modifiers::{Addition, AtomicSpace, Extremum, Half, LoadType, Space, Special, StoreType};
use gpurf_isa::{Instruction, Op, Operand, PredicateSource, Reg, Slot};

/// Number of visits of an instruction after which ranges that still grow are widened to powers of two.
const ROUNDS: u32 = 8;

/// The maximum number of threads of a block in each dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Threads([u32; 3]);

impl Threads {
    /// Unknown block dimensions: the machine's maximum.
    pub const ANY: Self = Self([BLOCK_THREADS; 3]);

    /// The dimensions of a known block.
    pub fn of_block(threads: [u32; 3]) -> Self {
        Self(threads)
    }

    /// The dimensions of a kernel's blocks, by its `.reqntid` or `.maxntid`.
    pub fn of(kernel: &Kernel) -> Self {
        let most = kernel.max_threads.unwrap_or(BLOCK_THREADS).min(BLOCK_THREADS);
        Self(kernel.required_threads.unwrap_or([most; 3]))
    }
}

/// The values that a register may hold: the lowest and the highest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Range {
    low: u32,
    high: u32,
}

impl Range {
    const ANY: Self = Self { low: 0, high: u32::MAX };

    const fn one(value: u32) -> Self {
        Self { low: value, high: value }
    }

    const fn below(count: u32) -> Self {
        Self { low: 0, high: count.saturating_sub(1) }
    }

    fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The range of numbers modulo 2^32: exact if all of them overflow equally often, else any word.
    fn modulo(low: i128, high: i128) -> Self {
        let word = 1i128 << 32;
        if low.div_euclid(word) == high.div_euclid(word) || broken(Mutation::NoOverflow) {
            Self { low: low.rem_euclid(word) as u32, high: high.rem_euclid(word) as u32 }
        } else {
            Self::ANY
        }
    }

    /// Moves a bound that has changed so far that it will not change often: the upper one to the next power of two less one, the lower one to 0.
    fn widened(self, old: Self) -> Self {
        let high = u32::MAX.checked_shr(self.high.leading_zeros()).unwrap_or(0);
        Self {
            low: if self.low == old.low { self.low } else { 0 },
            high: if self.high == old.high { self.high } else { high },
        }
    }

    /// The value, if there is only one.
    fn constant(self) -> Option<u32> {
        (self.low == self.high).then_some(self.low)
    }
}

/// The ranges of all registers.
type State = Vec<Range>;

/// Marks the accesses of finished code that lie below a bound, and removes the marks of all others. With a bound of 0 there are none.
pub fn mark(code: &mut [Instruction], private_bytes: u32, threads: Threads) {
    code.iter_mut().for_each(|instruction| instruction.control.private = false);
    if private_bytes == 0 || !code.iter().any(Instruction::may_be_shared) {
        return;
    }
    let leads = leaders(code);
    let states = states(code, &leads, threads);
    // Code that is never reached gets no marks.
    for (start, state) in states.into_iter().enumerate() {
        let Some(mut state) = state else { continue };
        let behind = (start + 1..=code.len()).find(|&pc| leads[pc]).unwrap_or(code.len());
        for instruction in &mut code[start..behind] {
            instruction.control.private = is_private(instruction, &state, private_bytes);
            step(instruction, &mut state, threads);
        }
    }
}

/// Whether an access lies below the bound.
fn is_private(instruction: &Instruction, state: &State, private_bytes: u32) -> bool {
    let Some(bytes) = shared_bytes(instruction.op) else { return false };
    let address = of(state, instruction.a);
    let offset = if broken(Mutation::NoOffset) { 0 } else { i128::from(instruction.offset.bytes()) };
    let at = Range::modulo(i128::from(address.low) + offset, i128::from(address.high) + offset);
    let bytes = if broken(Mutation::AtBound) { 0 } else { bytes };
    at.low <= at.high && u64::from(at.high) + u64::from(bytes) <= private_bytes.into()
}

/// Size of an access to shared memory in bytes; `None` for other instructions.
const fn shared_bytes(op: Op) -> Option<u32> {
    match op {
        Op::Ld { space: Space::Shared, kind, .. } => Some(match kind {
            LoadType::U8 | LoadType::S8 => 1,
            LoadType::U16 | LoadType::S16 => 2,
            LoadType::B32 => 4,
        }),
        Op::St { space: Space::Shared, kind, .. } => Some(match kind {
            StoreType::B8 => 1,
            StoreType::B16 => 2,
            StoreType::B32 => 4,
        }),
        Op::Atom { space: AtomicSpace::Shared, .. } | Op::Cas { space: AtomicSpace::Shared } => Some(4),
        _ => None,
    }
}

/// The starts of straight lines of code: the first instruction, instructions after branches and exits, and branch targets.
fn leaders(code: &[Instruction]) -> Vec<bool> {
    let mut leads = vec![false; code.len() + 1];
    leads[0] = true;
    for (pc, instruction) in code.iter().enumerate() {
        if matches!(instruction.op, Op::Bra {} | Op::Exit {} | Op::Trap {}) {
            leads[pc + 1] = true;
        }
        if let Some(to) = instruction.target().filter(|to| to.index() < code.len()) {
            leads[to.index()] = true;
        }
    }
    // The end of the code ends the last line.
    leads[code.len()] = true;
    leads
}

/// The ranges at the start of each straight line that can be reached.
fn states(code: &[Instruction], leads: &[bool], threads: Threads) -> Vec<Option<State>> {
    let mut states: Vec<Option<State>> = vec![None; code.len()];
    let mut rounds = vec![0u32; code.len()];
    states[0] = Some(vec![Range::ANY; Reg::ZERO.index()]);
    let mut open = vec![0];
    while let Some(mut pc) = open.pop() {
        let mut state = states[pc].clone().expect("what is open has been reached");
        step(&code[pc], &mut state, threads);
        while !leads[pc + 1] {
            pc += 1;
            step(&code[pc], &mut state, threads);
        }
        for to in successors(code, pc) {
            let Some(there) = &mut states[to] else {
                states[to] = Some(state.clone());
                open.push(to);
                continue;
            };
            if broken(Mutation::FirstWay) {
                continue;
            }
            let mut changed = false;
            for (old, new) in there.iter_mut().zip(&state) {
                let mut joined = old.hull(*new);
                if joined != *old && rounds[to] >= ROUNDS {
                    joined = joined.widened(*old);
                }
                changed |= joined != *old;
                *old = joined;
            }
            if changed {
                rounds[to] += 1;
                open.push(to);
            }
        }
    }
    states
}

fn of(state: &State, register: Reg) -> Range {
    state.get(register.index()).copied().unwrap_or(Range::one(0))
}

/// Updates the ranges for an instruction.
fn step(instruction: &Instruction, state: &mut State, threads: Threads) {
    let Some(d) = instruction.destination() else { return };
    let new = result(instruction, state, threads);
    let old = &mut state[d.index()];
    // Lanes that the guard disables keep the old value.
    let keeps = instruction.is_guarded() && !broken(Mutation::GuardEndsRange);
    *old = if keeps { old.hull(new) } else { new };
}

fn result(i: &Instruction, state: &State, threads: Threads) -> Range {
    let [a, b, c] = Slot::ALL.map(|slot| match (slot, i.b) {
        (Slot::B, Operand::Imm(value)) => Range::one(value),
        _ => i.source(slot).map_or(Range::one(0), |register| of(state, register)),
    });
    // The first predicate source as a number.
    let s = match i.s {
        PredicateSource::TRUE => Range::one(1),
        PredicateSource::FALSE => Range::one(0),
        _ => Range { low: 0, high: 1 },
    };
    let wide = |r: Range| (i128::from(r.low), i128::from(r.high));
    let ((a0, a1), (b0, b1), (c0, c1), (s0, s1)) = (wide(a), wide(b), wide(c), wide(s));
    let positive = |r: Range| r.high <= i32::MAX as u32;
    match i.op {
        Op::Mov {} => b,
        Op::Sel {} => a.hull(b),
        // A lane that does not execute the shuffle gives 0.
        Op::Shfl { .. } => a.hull(Range::one(0)),
        Op::Iadd { mode: Addition::Add } => Range::modulo(a0 + b0 + s0, a1 + b1 + s1),
        // The operation is a + !b + s.
        Op::Iadd { mode: Addition::Subtract } => Range::modulo(a0 - b1 - 1 + s0, a1 - b0 - 1 + s1),
        Op::Imad { half: Half::Low, .. } => Range::modulo(a0 * b0 + c0 + s0, a1 * b1 + c1 + s1),
        Op::Shl {} => match b.constant() {
            Some(32..) => Range::one(0),
            Some(by) => Range::modulo(a0 << by, a1 << by),
            None => Range::ANY,
        },
        Op::Shr { signed } if !signed || positive(a) => match b.constant() {
            Some(32..) => Range::one(0),
            Some(by) => Range { low: a.low >> by, high: a.high >> by },
            None => Range { low: 0, high: a.high },
        },
        Op::Bfe { signed: false } => match b.constant() {
            Some(field) => {
                let (at, bits) = (field & 0xff, field >> 8 & 0xff);
                let most = if bits >= 32 { u32::MAX } else { (1 << bits) - 1 };
                Range { low: 0, high: a.high.checked_shr(at).unwrap_or(0).min(most) }
            }
            None => Range::ANY,
        },
        Op::Lop3 { lut } => logic(lut.number(), [a, b, c]),
        Op::Imnmx { which, signed } if !signed || (positive(a) && positive(b)) => match which {
            Extremum::Min => Range { low: a.low.min(b.low), high: a.high.min(b.high) },
            Extremum::Max => Range { low: a.low.max(b.low), high: a.high.max(b.high) },
        },
        Op::Popc {} | Op::Clz {} => Range { low: 0, high: 32 },
        Op::Ld { kind: LoadType::U8, .. } | Op::Ldc { kind: LoadType::U8, .. } => Range::below(1 << 8),
        Op::Ld { kind: LoadType::U16, .. } | Op::Ldc { kind: LoadType::U16, .. } => Range::below(1 << 16),
        Op::S2r { source } => {
            let [x, y, z] = if broken(Mutation::ThreadIsLane) { [32; 3] } else { threads.0 };
            match source {
                Special::TidX => Range::below(x),
                Special::TidY => Range::below(y),
                Special::TidZ => Range::below(z),
                Special::LaneId | Special::WarpId => Range::below(32),
                _ => Range::ANY,
            }
        }
        _ => Range::ANY,
    }
}

/// The range of a bitwise function of three sources. If the function of three zeros is zero, the result has no bit above the highest bit of all
/// sources. If zeros of one source give zeros, the result is at most that source.
fn logic(lut: u8, sources: [Range; 3]) -> Range {
    if lut & 1 == 1 {
        return Range::ANY;
    }
    let highest = sources.map(|r| r.high);
    let bits = highest.iter().map(|high| 32 - high.leading_zeros()).max().unwrap_or(0);
    let mut high = if bits == 32 { u32::MAX } else { (1 << bits) - 1 };
    for (table, most) in [0xf0u8, 0xcc, 0xaa].into_iter().zip(highest) {
        if lut & !table == 0 {
            high = high.min(most);
        }
    }
    Range { low: 0, high }
}
