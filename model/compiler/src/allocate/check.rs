//! Checks an allocation by following values through registers, along every way through the kernel.
//!
//! The state at a point says which values each register holds, whatever way led there. A read of a value from a register
//! that may hold another one is an error, and so is a read after a guarded write over a register whose old value was not
//! the one that the other lanes are to keep. Shares nothing with the allocator but the result.

use super::Allocation;
use crate::mir::{Class, Function, Inst, Pred, V, Val, cfg};
use gpurf_isa::Op;
use gpurf_isa::modifiers::Combine;
use std::collections::{BTreeMap, BTreeSet};

/// Which values a register of a class holds; a value that was never written is held by any.
type State = BTreeMap<(bool, u8), BTreeSet<V>>;

/// The first place where a register does not hold what is read from it, in words.
pub fn check(f: &Function, allocation: &Allocation) -> Result<(), String> {
    let order = cfg::reverse_postorder(f);
    let mut at_start: Vec<Option<(State, BTreeSet<V>)>> = vec![None; f.blocks.len()];
    at_start[0] = Some((State::new(), BTreeSet::new()));
    let mut changed = true;
    while changed {
        changed = false;
        for &b in &order {
            let Some((mut state, mut known)) = at_start[b.index()].clone() else { continue };
            for inst in &f.blocks[b.index()].insts {
                step(f, allocation, &mut state, &mut known, inst, &mut |_| {});
            }
            for s in f.blocks[b.index()].term.successors() {
                let new = match &at_start[s.index()] {
                    None => (state.clone(), known.clone()),
                    Some(old) => merge(old, &(state.clone(), known.clone())),
                };
                if at_start[s.index()].as_ref() != Some(&new) {
                    at_start[s.index()] = Some(new);
                    changed = true;
                }
            }
        }
    }
    let mut error = None;
    for &b in &order {
        let Some((mut state, mut known)) = at_start[b.index()].clone() else { continue };
        let block = &f.blocks[b.index()];
        for inst in &block.insts {
            step(f, allocation, &mut state, &mut known, inst, &mut |text| {
                error.get_or_insert_with(|| format!("block {}, PTX line {}: {text} in {inst:?}", b.0, inst.line));
            });
        }
        if let Some(p) = block.term.predicate()
            && known.contains(&p)
            && !holds(f, allocation, &state, p)
        {
            error.get_or_insert_with(|| format!("block {}: the branch reads another predicate than {p:?}", b.0));
        }
    }
    error.map_or(Ok(()), Err)
}

/// What holds on both ways. A value that one way has not written is whatever it is: there, any register holds it.
fn merge(old: &(State, BTreeSet<V>), new: &(State, BTreeSet<V>)) -> (State, BTreeSet<V>) {
    let mut state = State::new();
    for (way, other) in [(old, new), (new, old)] {
        for (r, set) in &way.0 {
            let elsewhere = other.0.get(r);
            let kept = set.iter().filter(|v| elsewhere.is_some_and(|s| s.contains(v)) || !other.1.contains(v));
            let kept: Vec<V> = kept.copied().collect();
            if !kept.is_empty() {
                state.entry(*r).or_default().extend(kept);
            }
        }
    }
    (state, &old.1 | &new.1)
}

fn register(f: &Function, allocation: &Allocation, v: V) -> Option<(bool, u8)> {
    Some((f.classes[v.index()] == Class::Predicate, allocation.place[v.index()]?))
}

fn holds(f: &Function, allocation: &Allocation, state: &State, v: V) -> bool {
    register(f, allocation, v).and_then(|r| state.get(&r)).is_some_and(|set| set.contains(&v))
}

fn step(
    f: &Function,
    allocation: &Allocation,
    state: &mut State,
    known: &mut BTreeSet<V>,
    inst: &Inst,
    complain: &mut dyn FnMut(String),
) {
    for v in inst.uses().filter(|v| known.contains(v)) {
        if !holds(f, allocation, state, v) {
            complain(format!("{v:?} is not in its register"));
        }
    }
    // A copy lets the destination's register hold all that the source's held.
    let source = match inst.op {
        Op::Mov {} => match inst.src[1] {
            Val::Reg(v) => Some(v),
            _ => None,
        },
        Op::Plop { combine: Combine::And } if inst.t == Pred::TRUE => match inst.s {
            Pred::Reg(v, false) => Some(v),
            _ => None,
        },
        _ => None,
    };
    let copied = source
        .filter(|_| !inst.is_partial())
        .and_then(|v| register(f, allocation, v))
        .and_then(|r| state.get(&r).cloned())
        .unwrap_or_default();
    for d in inst.defs() {
        let Some(r) = register(f, allocation, d) else {
            complain(format!("{d:?} has no register"));
            continue;
        };
        // Lanes that the guard leaves out keep what the register holds. If that is not the old value, it is nothing that
        // may be read: the next read complains.
        let lost = inst.is_partial() && known.contains(&d) && !holds(f, allocation, state, d);
        state.values_mut().for_each(|set| _ = set.remove(&d));
        let mut set = copied.clone();
        set.remove(&d);
        if !lost {
            set.insert(d);
        }
        state.insert(r, set);
        known.insert(d);
    }
}
