//! Which variables of shared memory an access may touch: those whose address its own may come from.
//!
//! To be run right behind lowering, where instructions that take a variable's address still say so ([`Inst::variables`]). Afterwards an access says
//! which variables it may touch, and other instructions say nothing.

use super::Variables;
use super::mutation::{Mutation, broken};
use crate::mir::{Function, Inst, Pred, Val};
use gpurf_isa::Op;

/// Finds the variables of all accesses.
pub fn run(f: &mut Function) {
    // A register has the variables of all instructions that write it.
    let mut of_register = vec![Variables::NONE; f.classes.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for inst in f.blocks.iter().flat_map(|block| &block.insts) {
            let Some(d) = inst.d else { continue };
            if broken(Mutation::GuardedWrites) && inst.guard != Pred::TRUE {
                continue;
            }
            let old = of_register[d.index()];
            let result = result(inst, |v| of(&of_register, v));
            let new = if broken(Mutation::LastWrite) { result } else { old.union(result) };
            of_register[d.index()] = new;
            changed |= new != old && !broken(Mutation::LastWrite);
        }
    }
    for inst in f.blocks.iter_mut().flat_map(|block| &mut block.insts) {
        inst.variables = match inst.may_be_shared() {
            true => accessed(inst, of(&of_register, inst.src[0])),
            false => Variables::NONE,
        };
    }
}

fn of(registers: &[Variables], value: Val) -> Variables {
    value.register().map_or(Variables::NONE, |v| registers[v.index()])
}

/// The variables whose address may be in the result.
fn result(inst: &Inst, of: impl Fn(Val) -> Variables) -> Variables {
    match inst.op {
        // What was stored may have been an address.
        Op::Ld { .. } if broken(Mutation::LoadsAreNumbers) => Variables::NONE,
        Op::Shfl { .. } if broken(Mutation::ShufflesAreNumbers) => Variables::NONE,
        Op::Ld { .. } | Op::Atom { .. } | Op::Cas { .. } | Op::Shfl { .. } => Variables::ALL,
        // Parameters come from the host.
        Op::Ldc { .. } | Op::S2r { .. } => Variables::NONE,
        Op::Sel {} if broken(Mutation::FirstOfSelection) => of(inst.src[0]),
        _ => inst.src.into_iter().map(of).fold(inst.variables, Variables::union),
    }
}

/// The variables that an access may touch, given those of its address register. An address that is a number may be that of any.
fn accessed(inst: &Inst, base: Variables) -> Variables {
    let known = base.union(inst.variables);
    if known.is_empty() { Variables::ALL } else { known }
}
