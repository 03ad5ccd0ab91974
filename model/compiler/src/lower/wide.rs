//! 64-bit integer arithmetic on pairs of words.

use crate::mir::{Builder, Pred, Val};
use gpurf_isa::modifiers::*;

/// A 64-bit value: the low word and the high word.
pub type Pair = [Val; 2];

/// A constant.
pub const fn constant(bits: u64) -> Pair {
    [Val::Imm(bits as u32), Val::Imm((bits >> 32) as u32)]
}

/// `a + b`
pub fn add(b: &mut Builder, x: Pair, y: Pair) -> Pair {
    let (low, carry) = b.add_carry(Addition::Add, x[0], y[0], Pred::FALSE);
    let (high, _) = b.add_carry(Addition::Add, x[1], y[1], carry);
    [low, high]
}

/// `a - b`
pub fn sub(b: &mut Builder, x: Pair, y: Pair) -> Pair {
    let (low, carry) = b.add_carry(Addition::Subtract, x[0], y[0], Pred::TRUE);
    let (high, _) = b.add_carry(Addition::Subtract, x[1], y[1], carry);
    [low, high]
}

/// Extends a word to 64 bits, with its sign or with zeros.
pub fn extend(b: &mut Builder, signed: bool, x: Val) -> Pair {
    [x, if signed { b.shr(true, x, Val::Imm(31)) } else { Val::ZERO }]
}

/// The 64-bit product of two words, plus `c`.
pub fn mad_words(b: &mut Builder, signed: bool, x: Val, y: Val, c: Pair) -> Pair {
    if c == constant(0) {
        return [b.mad(x, y, Val::ZERO), b.mad_high(signed, x, y, Val::ZERO)];
    }
    let (low, carry) = b.mad_carry(Half::Low, x, y, c[0], Pred::FALSE);
    let op = gpurf_isa::Op::Imad { half: Half::High, signed };
    let high = b.op_s(op, [x, y, c[1]], carry);
    [low, high]
}

/// The low 64 bits of `x * y + c`.
pub fn mad_low(b: &mut Builder, x: Pair, y: Pair, c: Pair) -> Pair {
    let [low, high] = mad_words(b, false, x[0], y[0], c);
    let high = b.mad(x[0], y[1], high);
    [low, b.mad(x[1], y[0], high)]
}

/// The high 64 bits of `x * y`.
pub fn mul_high(b: &mut Builder, signed: bool, x: Pair, y: Pair) -> Pair {
    // Columns of 32 bits: low * low contributes its upper word, the cross products two words each, high * high the
    // rest.
    let ll = b.mad_high(false, x[0], y[0], Val::ZERO);
    let lh = mad_words(b, false, x[0], y[1], [ll, Val::ZERO]);
    let (_, carry_1) = b.mad_carry(Half::Low, x[1], y[0], lh[0], Pred::FALSE);
    let op = gpurf_isa::Op::Imad { half: Half::High, signed: false };
    // The upper word of a product plus a carry cannot overflow.
    let hl = b.op_s(op, [x[1], y[0], Val::ZERO], carry_1);
    let (low, carry) = b.mad_carry(Half::Low, x[1], y[1], lh[1], Pred::FALSE);
    let high = b.op_s(op, [x[1], y[1], Val::ZERO], carry);
    let mut product = add(b, [low, high], [hl, Val::ZERO]);
    if signed {
        // A negative factor was counted 2^64 too large, so the other factor is subtracted from the upper half.
        for (factor, other) in [(x, y), (y, x)] {
            let sign = b.shr(true, factor[1], Val::Imm(31));
            let masked = [b.and(other[0], sign), b.and(other[1], sign)];
            product = sub(b, product, masked);
        }
    }
    product
}

/// `x << amount`; zero if the amount is 64 or more.
pub fn shl(b: &mut Builder, x: Pair, amount: Val) -> Pair {
    if let Some(n) = amount.constant() {
        return match n {
            0 => x,
            1..32 => {
                let high = b.funnel(Direction::Left, ShiftRange::Wrap, x[0], x[1], amount);
                [b.shl(x[0], amount), high]
            }
            32..64 => [Val::ZERO, b.shl(x[0], Val::Imm(n - 32))],
            _ => constant(0),
        };
    }
    // Below 32, the high word is the funnel shift; from 32 on, the low word has moved into the high one by `amount -
    // 32`. A shift of a word by 32 or more gives zero, so the low word is right from 32 on, and the high word from 64
    // on.
    let beyond = b.sub(amount, Val::Imm(32));
    let short = b.compare(IntegerComparison::Lt, false, amount, Val::Imm(32));
    let funnel = b.funnel(Direction::Left, ShiftRange::Wrap, x[0], x[1], amount);
    let moved = b.shl(x[0], beyond);
    [b.shl(x[0], amount), b.select(short, funnel, moved)]
}

/// `x >> amount`; zero or the sign if the amount is 64 or more.
pub fn shr(b: &mut Builder, signed: bool, x: Pair, amount: Val) -> Pair {
    if let Some(n) = amount.constant() {
        let n = n.min(64);
        if n == 0 {
            return x;
        }
        if n < 32 {
            let low = b.funnel(Direction::Right, ShiftRange::Wrap, x[0], x[1], Val::Imm(n));
            return [low, b.shr(signed, x[1], Val::Imm(n))];
        }
        let fill = if signed { b.shr(true, x[1], Val::Imm(31)) } else { Val::ZERO };
        let low = if n == 32 { x[1] } else { b.shr(signed, x[1], Val::Imm(n - 32)) };
        return [low, fill];
    }
    let beyond = b.sub(amount, Val::Imm(32));
    let short = b.compare(IntegerComparison::Lt, false, amount, Val::Imm(32));
    let funnel = b.funnel(Direction::Right, ShiftRange::Wrap, x[0], x[1], amount);
    let moved = b.shr(signed, x[1], beyond);
    [b.select(short, funnel, moved), b.shr(signed, x[1], amount)]
}

/// `-x`
pub fn negate(b: &mut Builder, x: Pair) -> Pair {
    sub(b, constant(0), x)
}

/// `s ? x : y`
pub fn select(b: &mut Builder, s: Pred, x: Pair, y: Pair) -> Pair {
    [b.select(s, x[0], y[0]), b.select(s, x[1], y[1])]
}
