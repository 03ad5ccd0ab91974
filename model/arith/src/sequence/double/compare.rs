//! Comparisons, minimum and maximum.

use super::{INFINITY_64, is_nan_64, nan_64};
use crate::SIGN;
use crate::float::Relation;
use crate::sequence::integer::sign;
use crate::sequence::wide::select_64;
use crate::sequence::{IntRelation, Machine, Pair};

/// `setp.f64`
pub fn double_compare<M: Machine>(m: &mut M, relation: Relation, a: Pair<M::Value>, b: Pair<M::Value>) -> M::Predicate {
    use Relation::*;
    let zero = m.constant(0);
    // Zeros are equal, whatever their signs are.
    let of_zeros = |m: &mut M, relation| {
        let mask = m.constant(!SIGN);
        // (a | b) & mask
        let high = m.lop3(a.high, b.high, mask, 0xa8);
        let all = m.lop3(a.low, b.low, high, 0xfe);
        m.iset(relation, false, all, zero)
    };
    let of_bits = |m: &mut M, relation| {
        let low = m.xor(a.low, b.low);
        // a ^ b | low
        let all = m.lop3(a.high, b.high, low, 0xbe);
        m.iset(relation, false, all, zero)
    };
    let holds = match relation {
        Ordered => return ordered(m, a, b),
        Unordered => return unordered(m, a, b),
        Equal | EqualUnordered => {
            let (same, zeros) = (of_bits(m, IntRelation::Equal), of_zeros(m, IntRelation::Equal));
            m.either(same, zeros)
        }
        NotEqual | NotEqualUnordered => {
            let (differ, numbers) = (of_bits(m, IntRelation::NotEqual), of_zeros(m, IntRelation::NotEqual));
            m.both(differ, numbers)
        }
        Less | LessUnordered | Greater | GreaterUnordered => {
            let swap = matches!(relation, Greater | GreaterUnordered);
            let below = if swap { is_below(m, b, a) } else { is_below(m, a, b) };
            let numbers = of_zeros(m, IntRelation::NotEqual);
            m.both(below, numbers)
        }
        LessEqual | LessEqualUnordered | GreaterEqual | GreaterEqualUnordered => {
            let swap = matches!(relation, LessEqual | LessEqualUnordered);
            let at_least = if swap { is_at_least(m, b, a) } else { is_at_least(m, a, b) };
            let zeros = of_zeros(m, IntRelation::Equal);
            m.either(at_least, zeros)
        }
    };
    match relation {
        Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual => {
            let ordered = ordered(m, a, b);
            m.both(holds, ordered)
        }
        _ => {
            let unordered = unordered(m, a, b);
            m.either(holds, unordered)
        }
    }
}

/// `min.f64`: -0 is below +0, and the result is NaN only if both operands are.
pub fn double_minimum<M: Machine>(m: &mut M, a: Pair<M::Value>, b: Pair<M::Value>) -> Pair<M::Value> {
    let first = is_at_least(m, b, a);
    extremum(m, first, a, b)
}

/// `max.f64`: as [`double_minimum`].
pub fn double_maximum<M: Machine>(m: &mut M, a: Pair<M::Value>, b: Pair<M::Value>) -> Pair<M::Value> {
    let first = is_at_least(m, a, b);
    extremum(m, first, a, b)
}

/// `a` if the predicate is set and `b` otherwise, except for NaN.
fn extremum<M: Machine>(m: &mut M, first: M::Predicate, a: Pair<M::Value>, b: Pair<M::Value>) -> Pair<M::Value> {
    let result = select_64(m, first, a, b);
    let (nan_a, nan_b) = (is_nan(m, a), is_nan(m, b));
    let result = select_64(m, nan_b, a, result);
    let result = select_64(m, nan_a, b, result);
    let both = m.both(nan_a, nan_b);
    let nan = nan_64(m);
    select_64(m, both, nan, result)
}

/// Bits that are ordered as unsigned integers as the numbers are; -0 is below +0.
fn key<M: Machine>(m: &mut M, x: Pair<M::Value>) -> Pair<M::Value> {
    let ones = sign(m, x.high);
    let sign_bit = m.constant(SIGN);
    // high ^ (ones | sign_bit)
    Pair { low: m.xor(x.low, ones), high: m.lop3(x.high, ones, sign_bit, 0x1e) }
}

fn is_at_least<M: Machine>(m: &mut M, a: Pair<M::Value>, b: Pair<M::Value>) -> M::Predicate {
    let (a, b) = (key(m, a), key(m, b));
    let (_, carry) = m.isub_carry(a.low, b.low, None);
    m.isub_carry(a.high, b.high, Some(carry)).1
}

/// Whether `a < b`, as `b - a - 1` borrows nothing.
fn is_below<M: Machine>(m: &mut M, a: Pair<M::Value>, b: Pair<M::Value>) -> M::Predicate {
    let (a, b) = (key(m, a), key(m, b));
    let inverted = m.not(a.low);
    let (_, carry) = m.iadd_carry(b.low, inverted, None);
    m.isub_carry(b.high, a.high, Some(carry)).1
}

fn is_nan<M: Machine>(m: &mut M, x: Pair<M::Value>) -> M::Predicate {
    let magnitude = m.absolute(x.high);
    is_nan_64(m, x.low, magnitude)
}

fn is_number<M: Machine>(m: &mut M, x: Pair<M::Value>) -> M::Predicate {
    let (zero, infinity) = (m.constant(0), m.constant(INFINITY_64));
    let magnitude = m.absolute(x.high);
    let (_, carry) = m.isub_carry(zero, x.low, None);
    m.isub_carry(infinity, magnitude, Some(carry)).1
}

fn ordered<M: Machine>(m: &mut M, a: Pair<M::Value>, b: Pair<M::Value>) -> M::Predicate {
    let (a, b) = (is_number(m, a), is_number(m, b));
    m.both(a, b)
}

fn unordered<M: Machine>(m: &mut M, a: Pair<M::Value>, b: Pair<M::Value>) -> M::Predicate {
    let (a, b) = (is_nan(m, a), is_nan(m, b));
    m.either(a, b)
}
