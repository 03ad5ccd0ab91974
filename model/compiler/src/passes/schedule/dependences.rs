//! The dependences between a block's instructions: which instruction must come before which.

use crate::mir::{Block, Inst, V};
use gpurf_isa::modifiers::{AtomicSpace, Space, StoreType};
use gpurf_isa::{Op, Unit};
use std::collections::HashMap;

/// Maximum number of accesses that are compared one by one; the next access comes after all of them. This bounds the number of pairs in a long block.
const COMPARED: usize = 256;

/// A dependence: another instruction must come after this one.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The later instruction.
    pub to: usize,
    /// Cycles between the two issues after which the later instruction no longer waits for the earlier one.
    pub latency: u32,
}

/// The dependences of a block's instructions, by their numbers.
#[derive(Debug)]
pub struct Dependences {
    /// For each instruction, the edges to those that must come after it.
    pub next: Vec<Vec<Edge>>,
    /// For each instruction, the number of edges from those that must come before it.
    pub before: Vec<usize>,
    /// For each instruction, those that must come before it: first those whose results it reads, in the order of its slots, then the others.
    pub needs: Vec<Vec<usize>>,
    /// The instruction that computes the predicate of the branch at the block's end.
    pub branch: Option<usize>,
}

/// Cycles from the issue of an instruction to the issue of one that reads its result (RFC paper, table 4: 8 for arithmetic, 20 for special functions
/// and shared memory, 400 for memory). All operations of the shared memory unit have that unit's latency.
pub const fn latency(op: Op) -> u32 {
    match op.unit() {
        Unit::Alu | Unit::Control => 8,
        Unit::Sfu | Unit::SharedMemory => 20,
        Unit::GlobalMemory => 400,
    }
}

/// The memory that an access touches, as far as it is known.
#[derive(Clone, Copy)]
struct Access {
    space: Space,
    writes: bool,
    /// Whether it keeps its order among all others.
    ordered: bool,
    /// The bytes, if they are known.
    bytes: Option<Bytes>,
}

/// A range of bytes relative to a base.
#[derive(Clone, Copy)]
struct Bytes {
    /// The base registers, each with the instruction of the block that wrote it, if any.
    base: [Option<(V, Option<usize>)>; 2],
    from: i64,
    to: i64,
}

impl Access {
    /// Whether two accesses must keep their order, since they may touch the same byte and one of them writes it, or one of them is ordered.
    ///
    /// Different offsets from the same base distinguish accesses of a thread. They are not used in shared memory: in older programs the lanes of a
    /// warp exchange values there without a barrier, so another lane may access the byte that a lane writes.
    fn conflicts(&self, other: &Self) -> bool {
        if self.ordered || other.ordered {
            return true;
        }
        let may_be_the_same =
            self.space == other.space || self.space == Space::Generic || other.space == Space::Generic;
        if !(self.writes || other.writes) || !may_be_the_same {
            return false;
        }
        match (self.bytes, other.bytes) {
            (Some(a), Some(b)) if self.space == other.space && self.space != Space::Shared && a.base == b.base => {
                a.from < b.to && b.from < a.to
            }
            _ => true,
        }
    }
}

/// Whether no instruction that touches memory or other lanes may move across this one.
fn is_fence(op: Op) -> bool {
    matches!(
        op,
        Op::Bar { .. } | Op::Warpsync { .. } | Op::Membar { .. } | Op::Trap { .. } | Op::Nop {} | Op::Relssp {}
    )
}

/// The state of the search for dependences.
struct Finder {
    found: Dependences,
    /// The instruction that wrote each register last, and those that have read it since.
    writer: HashMap<V, usize>,
    readers: HashMap<V, Vec<usize>>,
    /// The last fence; the instructions since then that must not move across a fence; and the memory accesses among them.
    fence: Option<usize>,
    held: Vec<usize>,
    accesses: Vec<(usize, Access)>,
    /// The last instruction that reads a clock; no instruction moves across it.
    clock: Option<usize>,
}

impl Dependences {
    /// Finds the dependences of a block.
    pub fn new(block: &Block) -> Self {
        let n = block.insts.len();
        let found = Self { next: vec![Vec::new(); n], before: vec![0; n], needs: vec![Vec::new(); n], branch: None };
        let mut finder = Finder {
            found,
            writer: HashMap::new(),
            readers: HashMap::new(),
            fence: None,
            held: Vec::new(),
            accesses: Vec::new(),
            clock: None,
        };
        for (i, inst) in block.insts.iter().enumerate() {
            finder.registers(i, inst, |w| latency(block.insts[w].op));
            finder.effects(i, inst);
            finder.clocks(i, inst);
        }
        finder.found.branch = block.term.predicate().and_then(|p| finder.writer.get(&p).copied());
        finder.found
    }
}

impl Finder {
    fn edge(&mut self, from: usize, to: usize, latency: u32) {
        debug_assert!(from < to);
        self.found.next[from].push(Edge { to, latency });
        self.found.before[to] += 1;
        self.found.needs[to].push(from);
    }

    fn registers(&mut self, i: usize, inst: &Inst, latency: impl Fn(usize) -> u32) {
        for v in inst.uses() {
            if let Some(&w) = self.writer.get(&v) {
                self.edge(w, i, latency(w));
            }
            self.readers.entry(v).or_default().push(i);
        }
        for v in inst.defs() {
            let readers = self.readers.remove(&v).unwrap_or_default();
            readers.into_iter().filter(|&r| r != i).for_each(|r| self.edge(r, i, 0));
            if let Some(w) = self.writer.insert(v, i) {
                // Lanes that the guard disables keep the old value, so a guarded write waits for it.
                self.edge(w, i, if inst.is_partial() { latency(w) } else { 1 });
            }
        }
    }

    fn effects(&mut self, i: usize, inst: &Inst) {
        if is_fence(inst.op) {
            self.order_behind_all(i);
            return;
        }
        if !inst.has_effect() && inst.is_pure() {
            return;
        }
        if let Some(fence) = self.fence {
            self.edge(fence, i, 0);
        }
        if let Some(access) = self.access(inst) {
            if self.accesses.len() >= COMPARED {
                self.order_behind_all(i);
                self.accesses.push((i, access));
                self.held.push(i);
                return;
            }
            let earlier: Vec<usize> =
                self.accesses.iter().filter(|(_, other)| access.conflicts(other)).map(|&(at, _)| at).collect();
            earlier.into_iter().for_each(|at| self.edge(at, i, 0));
            self.accesses.push((i, access));
        }
        self.held.push(i);
    }

    /// Instructions between two reads of a clock stay between them.
    fn clocks(&mut self, i: usize, inst: &Inst) {
        if inst.op.reads_time() {
            (self.clock.map_or(0, |clock| clock + 1)..i).for_each(|at| self.edge(at, i, 0));
        }
        if let Some(clock) = self.clock {
            self.edge(clock, i, 0);
        }
        if inst.op.reads_time() {
            self.clock = Some(i);
        }
    }

    /// Orders an instruction after all since the last fence, and before all that follow.
    fn order_behind_all(&mut self, i: usize) {
        let held = std::mem::take(&mut self.held);
        held.into_iter().chain(self.fence).for_each(|at| self.edge(at, i, 0));
        self.fence = Some(i);
        self.accesses.clear();
    }

    fn access(&self, inst: &Inst) -> Option<Access> {
        let of_atomic = |space| match space {
            AtomicSpace::Global => Space::Global,
            AtomicSpace::Shared => Space::Shared,
            AtomicSpace::Generic => Space::Generic,
        };
        let (space, writes, length) = match inst.op {
            // For a load, an upper bound of its length is sufficient.
            Op::Ld { space, .. } => (space, false, Some(4)),
            Op::Tex { .. } => (Space::Global, false, None),
            Op::St { space, kind, .. } => {
                let length = match kind {
                    StoreType::B8 => 1,
                    StoreType::B16 => 2,
                    StoreType::B32 => 4,
                };
                (space, true, Some(length))
            }
            Op::Atom { space, .. } | Op::Cas { space } => (of_atomic(space), true, None),
            _ => return None,
        };
        // A register holds the same value as long as no instruction has written it.
        let name = |v: V| (v, self.writer.get(&v).copied());
        let is_plain = |v: &crate::mir::Val| v.register().is_some() || *v == crate::mir::Val::ZERO;
        let bytes = length.filter(|_| inst.src[..2].iter().all(is_plain)).map(|length| {
            let base = [inst.src[0], inst.src[1]].map(|v| v.register().map(name));
            let from = i64::from(inst.offset);
            Bytes { base, from, to: from + length }
        });
        Some(Access { space, writes, ordered: inst.ordered, bytes })
    }
}
