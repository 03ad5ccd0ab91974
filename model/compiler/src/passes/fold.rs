//! Simplifies a single instruction.

use super::known::Definitions;
use crate::mir::{Inst, Pred, Val};
use gpurf_isa::Op;
use gpurf_isa::modifiers::*;

/// The result of folding an instruction.
pub enum Folded {
    /// The instruction cannot be simplified.
    Same,
    /// A simpler instruction with the same results.
    To(Inst),
    /// The results are known; each result that the instruction has is present.
    Known(Option<Val>, Option<Pred>),
}

fn value(v: Val) -> Folded {
    Folded::Known(Some(v), None)
}

fn number(bits: u32) -> Folded {
    value(Val::Imm(bits))
}

fn truth(p: Pred) -> Folded {
    Folded::Known(None, Some(p))
}

fn to(inst: &Inst, op: Op, src: [Val; 3]) -> Folded {
    Folded::To(Inst { op, src, s: Pred::TRUE, ..inst.clone() })
}

/// Folds an instruction whose operands have already been simplified.
pub fn fold(inst: &Inst, definitions: &Definitions) -> Folded {
    let [a, b, c] = inst.src;
    let (x, y, z) = (a.constant(), b.constant(), c.constant());
    match inst.op {
        Op::Mov {} => value(b),
        Op::Plop { combine } => plop(combine, inst.s, inst.t),
        Op::Sel {} => match inst.s {
            Pred::Const(s) => value(if s { a } else { b }),
            Pred::Reg(..) if a == b => value(a),
            Pred::Reg(..) => Folded::Same,
        },
        Op::Iadd { mode } => iadd(inst, mode),
        Op::Imad { half, signed } => imad(inst, half, signed),
        Op::Lop3 { lut } => lop3(inst, lut.number(), definitions),
        Op::Shl {} => match (x, y) {
            (_, Some(0)) => value(a),
            (Some(0), _) => number(0),
            (_, Some(32..)) => number(0),
            (Some(x), Some(y)) => number(x << y),
            _ => Folded::Same,
        },
        Op::Shr { signed } => match (x, y) {
            (_, Some(0)) => value(a),
            (Some(0), _) => number(0),
            (Some(x), Some(y)) => {
                number(if signed { (x as i32 >> y.min(31)) as u32 } else { x.checked_shr(y).unwrap_or(0) })
            }
            (_, Some(32..)) if !signed => number(0),
            // The value has no sign bit, so an arithmetic shift by its width gives zero.
            (_, Some(y)) if signed && u32::from(definitions.width(a).unsigned) <= y.min(31) => number(0),
            _ => Folded::Same,
        },
        Op::Shf { direction, range } => {
            let amount = y.map(|y| if range == ShiftRange::Wrap { y & 31 } else { y.min(32) });
            match (amount, direction, x, z) {
                (Some(0), Direction::Left, ..) => value(c),
                (Some(0), Direction::Right, ..) => value(a),
                (Some(32), Direction::Left, ..) => value(a),
                (Some(32), Direction::Right, ..) => value(c),
                (Some(n), Direction::Left, Some(0), _) => to(inst, Op::Shl {}, [c, Val::Imm(n), Val::ZERO]),
                (Some(n), Direction::Right, _, Some(0)) => {
                    to(inst, Op::Shr { signed: false }, [a, Val::Imm(n), Val::ZERO])
                }
                _ => Folded::Same,
            }
        }
        Op::Bfe { signed } => {
            let Some(y) = y else { return Folded::Same };
            let (at, length) = (y & 0xff, y >> 8 & 0xff);
            if at == 0 && length > 0 {
                let width = definitions.width(a);
                if u32::from(if signed { width.signed } else { width.unsigned }) <= length {
                    return value(a);
                }
            }
            match x {
                Some(x) if at < 32 && length > 0 && at + length <= 32 => {
                    let top = x << (32 - at - length);
                    let down = 32 - length;
                    number(if signed { (top as i32 >> down) as u32 } else { top >> down })
                }
                _ => Folded::Same,
            }
        }
        Op::Imnmx { which, signed } => match (x, y) {
            (Some(x), Some(y)) => {
                let less = if signed { (x as i32) < y as i32 } else { x < y };
                number(if less == (which == Extremum::Min) { x } else { y })
            }
            _ if a == b => value(a),
            _ => Folded::Same,
        },
        Op::Isetp { comparison, signed, combine } => isetp(inst, comparison, signed, combine),
        Op::Prmt {} => match (x, y, z) {
            (_, Some(y), _) if y & 0x7777 == 0x3210 && y & 0x8888 == 0 => value(a),
            (_, Some(y), _) if y & 0x7777 == 0x7654 && y & 0x8888 == 0 => value(c),
            (Some(x), Some(y), Some(z)) if y & 0x8888 == 0 => {
                let bytes = u64::from(z) << 32 | u64::from(x);
                number((0..4).map(|n| (bytes >> ((y >> (4 * n) & 7) * 8) & 0xff) as u32 * (1 << (8 * n))).sum())
            }
            _ => Folded::Same,
        },
        Op::Popc {} => x.map_or(Folded::Same, |x| number(x.count_ones())),
        Op::Clz {} => x.map_or(Folded::Same, |x| number(x.leading_zeros())),
        Op::Brev {} => x.map_or(Folded::Same, |x| number(x.reverse_bits())),
        _ => Folded::Same,
    }
}

fn plop(combine: Combine, s: Pred, t: Pred) -> Folded {
    match (combine, s, t) {
        (Combine::And, Pred::Const(true), p) | (Combine::And, p, Pred::Const(true)) => truth(p),
        (Combine::And, Pred::Const(false), _) | (Combine::And, _, Pred::Const(false)) => truth(Pred::FALSE),
        (Combine::Or, Pred::Const(false), p) | (Combine::Or, p, Pred::Const(false)) => truth(p),
        (Combine::Or, Pred::Const(true), _) | (Combine::Or, _, Pred::Const(true)) => truth(Pred::TRUE),
        (Combine::Xor, Pred::Const(false), p) | (Combine::Xor, p, Pred::Const(false)) => truth(p),
        (Combine::Xor, Pred::Const(true), p) | (Combine::Xor, p, Pred::Const(true)) => truth(p.not()),
        (Combine::And | Combine::Or, p, q) if p == q => truth(p),
        _ => Folded::Same,
    }
}

fn iadd(inst: &Inst, mode: Addition) -> Folded {
    let [a, b, _] = inst.src;
    let both = |value: Val, carry: bool| Folded::Known(Some(value), Some(Pred::Const(carry)));
    let Pred::Const(s) = inst.s else { return Folded::Same };
    if let (Some(x), Some(y)) = (a.constant(), b.constant()) {
        let (x, y) = match mode {
            Addition::Add => (x, y),
            Addition::Subtract => (x, !y),
            Addition::ReverseSubtract => (!x, y),
        };
        let sum = u64::from(x) + u64::from(y) + u64::from(s);
        return both(Val::Imm(sum as u32), sum >> 32 != 0);
    }
    match (mode, a, b, s) {
        (Addition::Add, Val::Imm(0), v, false) | (Addition::Add, v, Val::Imm(0), false) => both(v, false),
        // a - 0 does not borrow.
        (Addition::Subtract, v, Val::Imm(0), true) => both(v, true),
        (Addition::Subtract, v, w, true) if v == w => both(Val::ZERO, true),
        _ => Folded::Same,
    }
}

fn imad(inst: &Inst, half: Half, signed: bool) -> Folded {
    let [a, b, c] = inst.src;
    // A single constant factor is treated as the second one.
    let (a, b) = if a.constant().is_some() && b.constant().is_none() { (b, a) } else { (a, b) };
    let Some(y) = b.constant() else { return Folded::Same };
    let plain = inst.p.is_none() && inst.s == Pred::FALSE;
    let sum = |product: Val| {
        Folded::To(Inst { op: Op::Iadd { mode: Addition::Add }, src: [product, c, Val::ZERO], ..inst.clone() })
    };
    if let Some(x) = a.constant() {
        let product =
            if signed { (i64::from(x as i32) * i64::from(y as i32)) as u64 } else { u64::from(x) * u64::from(y) };
        return sum(Val::Imm(if half == Half::Low { product as u32 } else { (product >> 32) as u32 }));
    }
    match (half, y) {
        (_, 0) => sum(Val::ZERO),
        (Half::Low, 1) => sum(a),
        (Half::High, 1) if !signed => sum(Val::ZERO),
        (Half::Low, _) if y.is_power_of_two() && plain && c == Val::ZERO => {
            to(inst, Op::Shl {}, [a, Val::Imm(y.trailing_zeros()), Val::ZERO])
        }
        // As a signed factor, the highest power of two is negative.
        (Half::High, _) if y.is_power_of_two() && plain && c == Val::ZERO && !(signed && y == 1 << 31) => {
            let shift = 32 - y.trailing_zeros();
            to(inst, Op::Shr { signed }, [a, Val::Imm(shift), Val::ZERO])
        }
        _ => Folded::Same,
    }
}

/// The truth table with one operand fixed to `bit`.
fn restrict(lut: u8, operand: usize, bit: u8) -> u8 {
    let weight = 4 >> operand;
    (0..8).fold(0, |out, index| {
        let fixed = if bit == 1 { index | weight } else { index & !weight };
        out | (lut >> fixed & 1) << index
    })
}

fn lop3(inst: &Inst, lut: u8, definitions: &Definitions) -> Folded {
    let mut new = lut;
    let mut src = inst.src;
    for (n, operand) in inst.src.iter().enumerate() {
        match operand.constant() {
            Some(0) => new = restrict(new, n, 0),
            Some(u32::MAX) => new = restrict(new, n, 1),
            _ => {}
        }
    }
    // If two operands are the same register, both have the same bit.
    for (n, m) in [(0, 1), (0, 2), (1, 2)] {
        if src[n] == src[m] && src[n].register().is_some() {
            let (wn, wm) = (4 >> n, 4 >> m);
            new = (0..8u8).fold(0, |out, index| {
                let other = if index & wn != 0 { index | wm } else { index & !wm };
                out | (new >> other & 1) << index
            });
        }
    }
    for (n, operand) in src.iter_mut().enumerate() {
        if restrict(new, n, 0) == restrict(new, n, 1) {
            *operand = Val::ZERO;
        }
    }
    match new {
        0x00 => return number(0),
        0xff => return number(u32::MAX),
        0xf0 => return value(src[0]),
        0xcc => return value(src[1]),
        0xaa => return value(src[2]),
        _ => {}
    }
    if let [Some(x), Some(y), Some(z)] = src.map(Val::constant) {
        let bit = |n: u32| new >> ((x >> n & 1) << 2 | (y >> n & 1) << 1 | z >> n & 1) & 1;
        return number((0..32).map(|n| u32::from(bit(n)) << n).sum());
    }
    // A mask that clears no bit of the value.
    if new == 0xc0 {
        for (v, mask) in [(src[0], src[1]), (src[1], src[0])] {
            let ones = mask.constant().map_or(0, u32::trailing_ones);
            if u32::from(definitions.width(v).unsigned) <= ones {
                return value(v);
            }
        }
    }
    if new == lut && src == inst.src {
        return Folded::Same;
    }
    to(inst, Op::Lop3 { lut: TruthTable::new(new).expect("eight bits") }, src)
}

/// Whether a comparison of two numbers holds.
pub fn holds(comparison: IntegerComparison, signed: bool, a: u32, b: u32) -> bool {
    let order = if signed { (a as i32).cmp(&(b as i32)) } else { a.cmp(&b) };
    match comparison {
        IntegerComparison::Eq => order.is_eq(),
        IntegerComparison::Ne => order.is_ne(),
        IntegerComparison::Lt => order.is_lt(),
        IntegerComparison::Le => order.is_le(),
        IntegerComparison::Gt => order.is_gt(),
        IntegerComparison::Ge => order.is_ge(),
    }
}

fn isetp(inst: &Inst, comparison: IntegerComparison, signed: bool, combine: IntegerCombine) -> Folded {
    let [a, b, _] = inst.src;
    let known = match (a, b) {
        (Val::Imm(x), Val::Imm(y)) => {
            if combine == IntegerCombine::Extended && x == y {
                return truth(inst.s);
            }
            Some(holds(comparison, signed, x, y))
        }
        _ if a == b => {
            if combine == IntegerCombine::Extended {
                return truth(inst.s);
            }
            Some(matches!(comparison, IntegerComparison::Eq | IntegerComparison::Le | IntegerComparison::Ge))
        }
        // In an unsigned comparison, no number is below zero.
        (_, Val::Imm(0)) if !signed && combine != IntegerCombine::Extended => match comparison {
            IntegerComparison::Lt => Some(false),
            IntegerComparison::Ge => Some(true),
            _ => None,
        },
        _ => None,
    };
    match (known, combine, inst.s) {
        (Some(k), IntegerCombine::Extended, _) => truth(Pred::Const(k)),
        (Some(true), IntegerCombine::And, s) | (Some(false), IntegerCombine::Or | IntegerCombine::Xor, s) => truth(s),
        (Some(false), IntegerCombine::And, _) | (_, IntegerCombine::And, Pred::Const(false)) => truth(Pred::FALSE),
        (Some(true), IntegerCombine::Or, _) | (_, IntegerCombine::Or, Pred::Const(true)) => truth(Pred::TRUE),
        (Some(true), IntegerCombine::Xor, s) => truth(s.not()),
        _ => Folded::Same,
    }
}
