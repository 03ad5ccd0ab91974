//! Checks an allocation by following values through registers, along every path through the kernel.
//!
//! The state at a point holds, for each register, the values that it holds on every path to that point. Reading a value from a register that may hold
//! another value is an error. So is reading a value after a guarded write to a register that did not hold the value before: the lanes that the guard
//! disables have lost it. The check shares nothing with the allocator but the result.

use super::Allocation;
use crate::mir::{Class, Function, Inst, Pred, V, Val, cfg};
use gpurf_isa::Op;
use gpurf_isa::modifiers::Combine;
use std::collections::{BTreeMap, BTreeSet};

/// The values that each register of a class holds. A value that was never written counts as held by any register.
type State = BTreeMap<(bool, u8), BTreeSet<V>>;

/// Returns the first place where a register does not hold the value that is read from it, as text.
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

/// Merges two paths: keeps what holds on both. A value that one path has not written is undefined on that path, so any register may hold it there.
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
    // After a copy, the destination's register also holds every value that the source's register held.
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
        // Lanes that the guard disables keep what the register holds. If that is not the old value of `d`, no register holds `d` in all lanes, and
        // the next read of it is an error.
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
