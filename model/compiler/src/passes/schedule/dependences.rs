//! Which instruction of a block has to stand before which.

use crate::mir::{Block, Inst, V};
use gpurf_isa::modifiers::{AtomicSpace, Space, StoreType};
use gpurf_isa::{Op, Unit};
use std::collections::HashMap;

/// Accesses that are compared one by one; the next one comes after all of them. That bounds the pairs in a long block.
const COMPARED: usize = 256;

/// One instruction before another one.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The later one.
    pub to: usize,
    /// Cycles from issue to issue after which the later one does not wait for the earlier one.
    pub latency: u32,
}

/// The dependences of a block's instructions, by their numbers.
#[derive(Debug)]
pub struct Dependences {
    /// Of each instruction, which ones come after it.
    pub next: Vec<Vec<Edge>>,
    /// Of each instruction, how many come before it, an edge each.
    pub before: Vec<usize>,
    /// Of each instruction, who has to stand in front of it: first those whose results it reads, in the order of its slots,
    /// then the others.
    pub needs: Vec<Vec<usize>>,
    /// Who computes the predicate on which the block ends.
    pub branch: Option<usize>,
}

/// Cycles from the issue of an instruction to that of one that reads its result (RFC paper, table 4: 8 for arithmetic, 20
/// for special functions and shared memory, 400 for memory). What has the unit of shared memory has its latency.
pub const fn latency(op: Op) -> u32 {
    match op.unit() {
        Unit::Alu | Unit::Control => 8,
        Unit::Sfu | Unit::SharedMemory => 20,
        Unit::GlobalMemory => 400,
    }
}

/// Where an access goes, as far as it can be seen.
#[derive(Clone, Copy)]
struct Access {
    space: Space,
    writes: bool,
    /// Keeps its place among all others.
    ordered: bool,
    /// Which bytes, where that can be said.
    bytes: Option<Bytes>,
}

/// Bytes from a base on.
#[derive(Clone, Copy)]
struct Bytes {
    /// The base registers, as written by these instructions of the block.
    base: [Option<(V, Option<usize>)>; 2],
    from: i64,
    to: i64,
}

impl Access {
    /// Whether two accesses may touch the same byte, one of them writing.
    ///
    /// Offsets from one base tell accesses of a thread apart. In shared memory they are not used: lanes of a warp there
    /// exchange values without a barrier in older programs, and the byte that a lane writes is another lane's.
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

/// Whether nothing that touches memory or other lanes may pass the instruction.
fn is_fence(op: Op) -> bool {
    matches!(
        op,
        Op::Bar { .. } | Op::Warpsync { .. } | Op::Membar { .. } | Op::Trap { .. } | Op::Nop {} | Op::Relssp {}
    )
}

/// What is being found.
struct Finder {
    found: Dependences,
    /// Who wrote a register last, and who has read it since.
    writer: HashMap<V, usize>,
    readers: HashMap<V, Vec<usize>>,
    /// The last fence, what may not pass it since, and the accesses among that.
    fence: Option<usize>,
    held: Vec<usize>,
    accesses: Vec<(usize, Access)>,
    /// The last instruction that reads a clock: nothing passes it.
    clock: Option<usize>,
}

impl Dependences {
    /// Of a block.
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
                // Lanes that the guard leaves out keep the old value, so a guarded write waits for it.
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

    /// What stands between two reads of a clock stays there.
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

    /// Orders an instruction after everything since the last fence, and all that follows after it.
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
            // Of a load it is enough to know where it ends at the latest.
            Op::Ld { space, .. } => (space, false, Some(4)),
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
        // A register is the same value as long as nothing has written it in between.
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
