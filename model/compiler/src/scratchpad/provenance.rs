//! Which variables of shared memory an access may touch: those from whose address the access's own address may be computed.
//!
//! Must run directly after lowering, when instructions that use a variable's address still name the variable ([`Inst::variables`]). Afterwards an
//! access names the variables that it may touch, and other instructions name none.

use super::Variables;
use super::mutation::{Mutation, broken};
use crate::mir::{Function, Inst, Pred, Val};
use gpurf_isa::Op;

/// Finds the variables of all accesses.
pub fn run(f: &mut Function) {
    let of_register = of_registers(f);
    for inst in f.blocks.iter_mut().flat_map(|block| &mut block.insts) {
        inst.variables = match inst.may_be_shared() {
            true => accessed(inst, of(&of_register, inst.src[0])),
            false => Variables::NONE,
        };
    }
}

/// The variables whose address may be in each register, over all instructions that write it.
fn of_registers(f: &Function) -> Vec<Variables> {
    let mut of_register = vec![Variables::NONE; f.classes.len()];
    let insts: Vec<&Inst> = f.blocks.iter().flat_map(|block| &block.insts).filter(|inst| counts(inst)).collect();
    let mut readers = vec![Vec::new(); f.classes.len()];
    let mut last_writer = vec![0; f.classes.len()];
    for (i, inst) in insts.iter().enumerate() {
        inst.general_sources().for_each(|v| readers[v.index()].push(i));
        inst.d.into_iter().for_each(|d| last_writer[d.index()] = i);
    }
    let mut open: Vec<usize> = (0..insts.len()).collect();
    while let Some(i) = open.pop() {
        let Some(d) = insts[i].d else { continue };
        if broken(Mutation::LastWrite) && last_writer[d.index()] != i {
            continue;
        }
        let old = of_register[d.index()];
        let new = old.union(result(insts[i], |v| of(&of_register, v)));
        if new != old {
            of_register[d.index()] = new;
            open.extend(&readers[d.index()]);
        }
    }
    of_register
}

/// Whether an instruction's result counts for its register: always, except for a mutation in tests.
fn counts(inst: &Inst) -> bool {
    !(broken(Mutation::GuardedWrites) && inst.guard != Pred::TRUE)
}

fn of(registers: &[Variables], value: Val) -> Variables {
    value.register().map_or(Variables::NONE, |v| registers[v.index()])
}

/// The variables whose address may be in the result.
fn result(inst: &Inst, of: impl Fn(Val) -> Variables) -> Variables {
    match inst.op {
        // A loaded value may be an address that was stored.
        Op::Ld { .. } if broken(Mutation::LoadsAreNumbers) => Variables::NONE,
        Op::Shfl { .. } if broken(Mutation::ShufflesAreNumbers) => Variables::NONE,
        Op::Ld { .. } | Op::Tex { .. } | Op::Atom { .. } | Op::Cas { .. } | Op::Shfl { .. } => Variables::ALL,
        // Parameters come from the host, and cannot be addresses of shared memory.
        Op::Ldc { .. } | Op::S2r { .. } => Variables::NONE,
        Op::Sel {} if broken(Mutation::FirstOfSelection) => of(inst.src[0]),
        _ => inst.src.into_iter().map(of).fold(inst.variables, Variables::union),
    }
}

/// The variables that an access may touch, given those of its address register. An address computed from numbers alone may be that of any variable.
fn accessed(inst: &Inst, base: Variables) -> Variables {
    let known = base.union(inst.variables);
    if known.is_empty() { Variables::ALL } else { known }
}
