//! Moves constants to where instructions can hold them: only source b takes a constant. Operands are exchanged if that
//! helps; otherwise a `MOV` loads the constant into a register shortly before its use.

use crate::mir::{Class, Function, Inst, Pred, V, Val};
use gpurf_isa::modifiers::*;
use gpurf_isa::{Op, Slots};
use std::collections::HashMap;

/// Number of following instructions of the block that may reuse a constant in a register. Beyond that, keeping the
/// register occupied costs more than another `MOV`.
const REUSE: usize = 16;

/// Turns every instruction into one that the machine has.
pub fn run(f: &mut Function) {
    let Function { blocks, classes, .. } = f;
    for block in blocks {
        let mut held: HashMap<u32, (V, usize)> = HashMap::new();
        let mut out = Vec::with_capacity(block.insts.len());
        for mut inst in std::mem::take(&mut block.insts) {
            exchange(&mut inst);
            for slot in 0..3 {
                let Some(bits) = inst.src[slot].constant().filter(|&bits| needs_register(&inst, slot, bits)) else {
                    continue;
                };
                let register = match held.get(&bits) {
                    Some(&(v, at)) if out.len() - at < REUSE => v,
                    _ => {
                        classes.push(Class::General);
                        let v = V(classes.len() as u32 - 1);
                        let mov = Inst::new(Op::Mov {}, inst.line);
                        out.push(Inst { d: Some(v), src: [Val::ZERO, Val::Imm(bits), Val::ZERO], ..mov });
                        held.insert(bits, (v, out.len()));
                        v
                    }
                };
                inst.src[slot] = Val::Reg(register);
            }
            out.push(inst);
        }
        block.insts = out;
    }
}

fn needs_register(inst: &Inst, slot: usize, bits: u32) -> bool {
    let slots = inst.op.slots();
    let used = slots.has([Slots::A, Slots::B, Slots::C][slot]);
    let constant = slot == 1 && slots.b_constant();
    // Zero needs no constant: every source can be RZ.
    used && bits != 0 && !constant
}

/// Moves a constant from slot a or c to slot b if the operation allows it.
fn exchange(inst: &mut Inst) {
    let [a, b, c] = inst.src;
    let in_a = a.constant().is_some_and(|x| x != 0) && b.constant().is_none();
    let swapped = [b, a, c];
    match &mut inst.op {
        Op::Lop3 { lut } => {
            let is = |v: Val| v.constant().is_some_and(|x| x != 0);
            if is(a) && !is(b) {
                *lut = permuted(*lut, [1, 0, 2]);
                inst.src = [b, a, c];
            } else if is(c) && !is(b) {
                *lut = permuted(*lut, [0, 2, 1]);
                inst.src = [a, c, b];
            }
        }
        _ if !in_a => {}
        Op::Iadd { mode } => {
            *mode = match *mode {
                Addition::Add => Addition::Add,
                Addition::Subtract => Addition::ReverseSubtract,
                Addition::ReverseSubtract => Addition::Subtract,
            };
            inst.src = swapped;
        }
        Op::Imad { .. } | Op::Imnmx { .. } | Op::Fmul { .. } | Op::Ffma { .. } | Op::Fmnmx { .. } => inst.src = swapped,
        Op::Fadd { neg_a, neg_b, .. } => {
            std::mem::swap(neg_a, neg_b);
            inst.src = swapped;
        }
        Op::Isetp { comparison, .. } => {
            *comparison = match *comparison {
                IntegerComparison::Lt => IntegerComparison::Gt,
                IntegerComparison::Le => IntegerComparison::Ge,
                IntegerComparison::Gt => IntegerComparison::Lt,
                IntegerComparison::Ge => IntegerComparison::Le,
                same => same,
            };
            inst.src = swapped;
        }
        Op::Fsetp { comparison, .. } => {
            use FloatComparison::*;
            *comparison = match *comparison {
                Lt => Gt,
                Le => Ge,
                Gt => Lt,
                Ge => Le,
                Ltu => Gtu,
                Leu => Geu,
                Gtu => Ltu,
                Geu => Leu,
                same => same,
            };
            inst.src = swapped;
        }
        Op::Sel {} => {
            if let Pred::Reg(..) = inst.s {
                inst.s = inst.s.not();
                inst.src = swapped;
            }
        }
        _ => {}
    }
}

/// The truth table for operands in another order: operand `n` of the new one is operand `from[n]` of the old one.
fn permuted(lut: TruthTable, from: [usize; 3]) -> TruthTable {
    let old = lut.number();
    let new = (0..8u8).fold(0, |out, index| {
        let mut source = 0;
        for (n, &o) in from.iter().enumerate() {
            if index & (4 >> n) != 0 {
                source |= 4 >> o;
            }
        }
        out | (old >> source & 1) << index
    });
    TruthTable::new(new).expect("eight bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_follow_their_operands() {
        let a_and_not_b = TruthTable::new(0x30).expect("a table");
        assert_eq!(permuted(a_and_not_b, [1, 0, 2]).number(), 0x0c);
        assert_eq!(permuted(a_and_not_b, [0, 2, 1]).number(), 0x50);
    }
}
