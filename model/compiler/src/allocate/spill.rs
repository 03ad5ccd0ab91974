//! Spilling: a value without a register is kept in local memory or recomputed; a spilled predicate is kept in a word.

use super::Allocation;
use crate::mir::{Class, Function, Inst, Origin, Pred, Term, V, Val};
use gpurf_isa::Op;
use gpurf_isa::modifiers::*;
use std::collections::HashMap;

/// Spills values, and counts what it does.
#[derive(Debug)]
pub struct Spiller {
    start: u32,
    next: u32,
    temporary: Vec<bool>,
    spilled: u32,
    recomputed: u32,
    spilled_predicates: u32,
    loads: u32,
    stores: u32,
}

/// Where a spilled value is kept.
#[derive(Clone, Debug)]
enum Home {
    /// In local memory, at this address.
    Memory(u32),
    /// Nowhere: this instruction recomputes it.
    Again(Inst),
    /// In this word, which is 1 if the predicate is true and 0 if not.
    Word(V),
}

impl Home {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Memory(a), Self::Memory(b)) => a == b,
            (Self::Word(a), Self::Word(b)) => a == b,
            _ => false,
        }
    }
}

impl Spiller {
    /// Spills to local memory from address `start` on.
    pub fn new(start: u32) -> Self {
        let next = start.next_multiple_of(4);
        Self {
            start,
            next,
            temporary: Vec::new(),
            spilled: 0,
            recomputed: 0,
            spilled_predicates: 0,
            loads: 0,
            stores: 0,
        }
    }

    /// Whether spilling created this value, which then lives only from one instruction to the next.
    pub fn is_temporary(&self, v: V) -> bool {
        self.temporary.get(v.index()).copied().unwrap_or(false)
    }

    /// Copies the counts into `allocation`.
    pub fn report(&self, allocation: &mut Allocation) {
        allocation.spilled = self.spilled;
        allocation.recomputed = self.recomputed;
        allocation.spilled_predicates = self.spilled_predicates;
        allocation.loads = self.loads;
        allocation.stores = self.stores;
        allocation.spill_bytes = self.next - self.start;
    }

    fn value(&mut self, f: &mut Function, class: Class) -> V {
        let v = f.value(class);
        self.temporary.resize(f.classes.len(), false);
        self.temporary[v.index()] = true;
        v
    }

    /// Spills groups of values. The values of a group share one home.
    pub fn spill(&mut self, f: &mut Function, class: Class, groups: &[Vec<V>]) {
        let mut homes = HashMap::new();
        for group in groups {
            let home = self.home(f, class, group);
            group.iter().for_each(|&v| _ = homes.insert(v, home.clone()));
        }
        for b in 0..f.blocks.len() {
            let insts = std::mem::take(&mut f.blocks[b].insts);
            let mut rewrite = Rewrite { spiller: self, f, homes: &homes, out: Vec::new(), held: Vec::new() };
            for inst in insts {
                rewrite.inst(inst);
            }
            let line = rewrite.f.blocks[b].term_line;
            if let Term::Branch { when: Pred::Reg(v, negated), then, otherwise } = rewrite.f.blocks[b].term
                && homes.contains_key(&v)
            {
                let temporary = rewrite.load(v, line);
                rewrite.f.blocks[b].term = Term::Branch { when: Pred::Reg(temporary, negated), then, otherwise };
            }
            let out = rewrite.out;
            f.blocks[b].insts = out;
        }
    }

    fn home(&mut self, f: &mut Function, class: Class, group: &[V]) -> Home {
        if class == Class::Predicate {
            self.spilled_predicates += 1;
            return Home::Word(f.value(Class::General));
        }
        if let &[v] = group
            && let Some(inst) = recomputable(f, v)
        {
            self.recomputed += 1;
            return Home::Again(inst);
        }
        self.spilled += 1;
        let at = self.next;
        self.next += 4;
        Home::Memory(at)
    }
}

/// The instruction that computes a value, if there is only one and it gives the same result anywhere in the kernel: it reads only constants, special
/// registers or parameters.
fn recomputable(f: &Function, v: V) -> Option<Inst> {
    let mut writers = f.blocks.iter().flat_map(|b| &b.insts).filter(|i| i.d == Some(v));
    let inst = writers.next()?;
    let anywhere = match inst.op {
        Op::Mov {} | Op::Ldc { .. } => inst.uses().next().is_none(),
        Op::S2r { source } => source != Special::ActiveMask && !inst.op.reads_time(),
        _ => false,
    };
    (anywhere && writers.next().is_none() && !inst.is_partial()).then(|| inst.clone())
}

/// An instruction that moves or recomputes a spilled value.
const fn made(op: Op, line: u32) -> Inst {
    Inst { origin: Origin::Spill, ..Inst::new(op, line) }
}

/// Why an instruction is superfluous.
enum Void {
    /// Its result is recomputed at each use.
    Again,
    /// It copies a value to another one with the same home.
    Copy { to: V, from: V },
}

struct Rewrite<'a> {
    spiller: &'a mut Spiller,
    f: &'a mut Function,
    homes: &'a HashMap<V, Home>,
    out: Vec<Inst>,
    /// Spilled values that the previous instruction had in a temporary, as (value, temporary); the next instruction uses them without a load.
    held: Vec<(V, V)>,
}

impl Rewrite<'_> {
    fn inst(&mut self, mut inst: Inst) {
        if let Some(void) = self.void(&inst) {
            if let Void::Copy { to, from } = void {
                // A temporary that held the old value of `to` no longer does; one that holds `from` holds the new value.
                self.held.retain(|(v, _)| *v != to);
                if let Some(&(_, t)) = self.held.iter().find(|(v, _)| *v == from) {
                    self.held.push((to, t));
                }
            }
            return;
        }
        let line = inst.line;
        let mut held = Vec::new();
        let mut read = |this: &mut Self, v: V| {
            if !this.homes.contains_key(&v) {
                return v;
            }
            if let Some(&(_, t)) = held.iter().chain(&this.held).find(|(old, _)| *old == v) {
                held.push((v, t));
                return t;
            }
            let t = this.load(v, line);
            held.push((v, t));
            t
        };
        let partial = inst.is_partial();
        for slot in 0..3 {
            if let Val::Reg(v) = inst.src[slot] {
                inst.src[slot] = Val::Reg(read(self, v));
            }
        }
        let mut predicate = |this: &mut Self, p: Pred| match p {
            Pred::Reg(v, negated) => Pred::Reg(read(this, v), negated),
            Pred::Const(_) => p,
        };
        inst.guard = predicate(self, inst.guard);
        inst.s = predicate(self, inst.s);
        inst.t = predicate(self, inst.t);
        let mut stores = Vec::new();
        for (class, slot) in [(Class::General, &mut inst.d), (Class::Predicate, &mut inst.p)] {
            let Some(v) = *slot else { continue };
            let Some(home) = self.homes.get(&v).cloned() else { continue };
            // Lanes that the guard disables keep the old value: it is loaded first and stored again with the new one.
            let t = if partial { self.load(v, line) } else { self.spiller.value(self.f, class) };
            *slot = Some(t);
            held.retain(|(old, _)| *old != v);
            held.push((v, t));
            stores.push((home, t));
        }
        self.out.push(inst);
        for (home, t) in stores {
            let store = match home {
                Home::Memory(at) => {
                    self.spiller.stores += 1;
                    let op = Op::St { space: Space::Local, kind: StoreType::B32, align: Alignment::Natural };
                    Inst { src: [Val::ZERO, Val::ZERO, Val::Reg(t)], offset: at as i32, ..made(op, line) }
                }
                Home::Word(word) => Inst {
                    d: Some(word),
                    src: [Val::ZERO, Val::Imm(1), Val::ZERO],
                    // The predicate is negated and the operands swapped: a 1 as first source would need a register.
                    s: Pred::Reg(t, true),
                    ..made(Op::Sel {}, line)
                },
                Home::Again(_) => unreachable!("its only writer has gone"),
            };
            self.out.push(store);
        }
        self.held = held;
    }

    /// Why spilling has made an instruction superfluous, if it has.
    fn void(&self, inst: &Inst) -> Option<Void> {
        let to = inst.defs().next()?;
        let home = self.homes.get(&to)?;
        if let Home::Again(_) = home {
            return Some(Void::Again);
        }
        let from = match inst.op {
            Op::Mov {} => inst.src[1].register(),
            Op::Plop { combine: Combine::And } if inst.t == Pred::TRUE => match inst.s {
                Pred::Reg(v, false) => Some(v),
                _ => None,
            },
            _ => None,
        };
        from.filter(|from| self.homes.get(from).is_some_and(|other| other.is_same(home)))
            .map(|from| Void::Copy { to, from })
    }

    /// Loads a spilled value into a temporary.
    fn load(&mut self, v: V, line: u32) -> V {
        let class = self.f.classes[v.index()];
        let t = self.spiller.value(self.f, class);
        let inst = match &self.homes[&v] {
            Home::Memory(at) => {
                self.spiller.loads += 1;
                let op = Op::Ld { space: Space::Local, kind: LoadType::B32, align: Alignment::Natural, bypass: false };
                Inst { d: Some(t), offset: *at as i32, ..made(op, line) }
            }
            Home::Again(inst) => Inst { d: Some(t), line, ..inst.clone() },
            Home::Word(word) => {
                let op = Op::Isetp { comparison: IntegerComparison::Ne, signed: false, combine: IntegerCombine::And };
                Inst { p: Some(t), src: [Val::Reg(*word), Val::ZERO, Val::ZERO], ..made(op, line) }
            }
        };
        self.out.push(inst);
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mir::Block;

    #[test]
    fn after_a_copy_to_its_own_home_a_value_is_in_the_temporary_of_the_other() {
        // As at the end of a loop: the counter's next value is computed from the counter, and copied to it.
        let (counter, next) = (V(0), V(1));
        let add = Op::Iadd { mode: Addition::Add };
        let src = [Val::Reg(counter), Val::Imm(1), Val::ZERO];
        let add = Inst { d: Some(next), src, s: Pred::FALSE, ..Inst::new(add, 1) };
        let src = [Val::ZERO, Val::Reg(next), Val::ZERO];
        let copy = Inst { d: Some(counter), src, ..Inst::new(Op::Mov {}, 1) };
        let store = Op::St { space: Space::Global, kind: StoreType::B32, align: Alignment::Natural };
        let read = Inst { src: [Val::ZERO, Val::ZERO, Val::Reg(counter)], ..Inst::new(store, 1) };
        let blocks = vec![Block { insts: vec![add, copy, read], term: Term::Exit, term_line: 1 }];
        let mut f = Function { blocks, classes: vec![Class::General; 2], addresses: Vec::new() };
        Spiller::new(0).spill(&mut f, Class::General, &[vec![counter, next]]);
        let insts = &f.blocks[0].insts;
        let sum = insts.iter().find(|i| matches!(i.op, Op::Iadd { .. })).and_then(|i| i.d);
        assert!(!insts.iter().any(|i| i.op == Op::Mov {}), "{insts:?}");
        assert_eq!(insts.last().and_then(|i| i.src[2].register()), sum, "{insts:?}");
    }
}
