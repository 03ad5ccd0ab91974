//! Liveness of values: which values may be read later.
//!
//! Two rules make it right for a machine in which lanes that do not execute a write keep the old value. First, a guarded write does not end a value's
//! life, so the old value stays live through it. Second, a value is live only where it may have been written before, so that a value that is only
//! written under a guard is not live from the kernel's start.
//!
//! The second rule serves the sharing of registers between values. [`Liveness::exact`] omits it: it determines which values a lane may read, or keep
//! under a guard, before it has written them ([`super::entry`]). Once these values are written at the entry, both variants agree.
//!
//! This is liveness on the thread's control-flow graph. The two sides of a divergent branch run one after the other in the same warp registers, but
//! each lane has its own part of the register, reads only what it wrote itself, and follows one path through the graph. So the thread's graph is the
//! right one to decide which values may share a register. The module [`crate::marks::liveness`] decides after which instruction a register of
//! finished code is dead, for a lane and for a whole warp.

use crate::mir::{BlockId, Class, Function, Inst, V, cfg};
use std::collections::HashSet;

/// A set of values.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Set(Vec<u64>);

impl Set {
    fn new(n: usize) -> Self {
        Self(vec![0; n.div_ceil(64)])
    }

    /// Adds a value. Returns whether it is new.
    pub fn insert(&mut self, v: V) -> bool {
        let (word, bit) = (&mut self.0[v.index() / 64], 1 << (v.0 % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Removes a value.
    pub fn remove(&mut self, v: V) {
        self.0[v.index() / 64] &= !(1 << (v.0 % 64));
    }

    /// Whether the set contains a value.
    pub fn contains(&self, v: V) -> bool {
        self.0[v.index() / 64] & 1 << (v.0 % 64) != 0
    }

    /// The values, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = V> + '_ {
        self.0.iter().enumerate().flat_map(|(w, &bits)| {
            let mut bits = bits;
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros();
                (bits != 0).then(|| {
                    bits &= bits - 1;
                    V(w as u32 * 64 + bit)
                })
            })
        })
    }

    fn merge(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            changed |= *b & !*a != 0;
            *a |= b;
        }
        changed
    }

    fn keep(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }
}

/// Liveness of the values of one class.
#[derive(Debug)]
pub struct Liveness {
    class: Class,
    /// Whether values are live even where no instruction can have written them, and a guarded write counts as a read of the old value.
    exact: bool,
    /// The values that are live at each block's end.
    pub out: Vec<Set>,
    /// The values that may have been written before each block's start.
    pub written: Vec<Set>,
}

impl Liveness {
    /// Liveness of a function's values of this class.
    pub fn new(f: &Function, class: Class) -> Self {
        let n = f.classes.len();
        let order = cfg::reverse_postorder(f);
        let this = |v: &V| f.classes[v.index()] == class;

        let mut written = vec![Set::new(n); f.blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for &b in &order {
                let mut set = written[b.index()].clone();
                f.blocks[b.index()].insts.iter().flat_map(Inst::defs).filter(this).for_each(|v| _ = set.insert(v));
                for s in f.blocks[b.index()].term.successors() {
                    changed |= written[s.index()].merge(&set);
                }
            }
        }

        Self { class, exact: false, out: vec![Set::new(n); f.blocks.len()], written }.solve(f)
    }

    /// Liveness of a function's values of this class; values that no instruction has written are live too.
    pub fn exact(f: &Function, class: Class) -> Self {
        let nothing = vec![Set::new(f.classes.len()); f.blocks.len()];
        Self { class, exact: true, out: nothing.clone(), written: nothing }.solve(f)
    }

    /// Iterates backward until nothing changes.
    fn solve(mut self, f: &Function) -> Self {
        let n = f.classes.len();
        let order = cfg::reverse_postorder(f);
        let mut at_start = vec![Set::new(n); f.blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for &b in order.iter().rev() {
                let mut set = Set::new(n);
                for s in f.blocks[b.index()].term.successors() {
                    set.merge(&at_start[s.index()]);
                }
                self.out[b.index()] = set;
                let mut set = self.walk(f, b, |_, _, _| {});
                if !self.exact {
                    set.keep(&self.written[b.index()]);
                }
                changed |= at_start[b.index()].merge(&set);
            }
        }
        self
    }

    /// Walks a block backwards; `visit` gets each instruction's number, the instruction, and the values that are live after it. Returns the values
    /// that are live at the block's start.
    pub fn walk(&self, f: &Function, b: BlockId, mut visit: impl FnMut(usize, &Inst, &Set)) -> Set {
        let block = &f.blocks[b.index()];
        let this = |v: &V| f.classes[v.index()] == self.class;
        let mut live = self.out[b.index()].clone();
        block.term.predicate().iter().filter(|v| this(v)).for_each(|&v| _ = live.insert(v));
        let first = self.first_writes(f, b);
        for (i, inst) in block.insts.iter().enumerate().rev() {
            visit(i, inst, &live);
            for v in inst.defs().filter(this) {
                if !inst.is_partial() || first.contains(&(i, v)) {
                    live.remove(v);
                } else if self.exact {
                    live.insert(v);
                }
            }
            inst.uses().filter(this).for_each(|v| _ = live.insert(v));
        }
        live
    }

    /// Guarded writes of values that cannot have been written before: there is no old value to keep.
    fn first_writes(&self, f: &Function, b: BlockId) -> HashSet<(usize, V)> {
        let block = &f.blocks[b.index()];
        let mut out = HashSet::new();
        if self.exact || !block.insts.iter().any(Inst::is_partial) {
            return out;
        }
        let mut written = self.written[b.index()].clone();
        for (i, inst) in block.insts.iter().enumerate() {
            for v in inst.defs().filter(|v| f.classes[v.index()] == self.class) {
                if written.insert(v) && inst.is_partial() {
                    out.insert((i, v));
                }
            }
        }
        out
    }
}
