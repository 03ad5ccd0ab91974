//! The machine that computes the values of a sequence.

use super::{IntRelation, Machine};
use crate::float::{self, Relation};
use crate::integer::{self, FunnelMode};
use crate::mufu::{self, Function};
use crate::{IntType, Mode, Rounding, SIGN, convert};

/// Computes a sequence on bit patterns, with this crate's own operations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evaluate;

impl Machine for Evaluate {
    type Value = u32;
    type Predicate = bool;

    fn constant(&mut self, bits: u32) -> u32 {
        bits
    }
    fn fadd(&mut self, a: u32, b: u32, mode: Mode) -> u32 {
        float::add(a, b, mode)
    }
    fn fmul(&mut self, a: u32, b: u32, mode: Mode) -> u32 {
        float::mul(a, b, mode)
    }
    fn ffma(&mut self, a: u32, b: u32, c: u32, mode: Mode) -> u32 {
        float::fma(a, b, c, mode)
    }
    fn mufu(&mut self, function: Function, a: u32, ftz: bool) -> u32 {
        mufu::approximate(function, a, ftz)
    }
    fn fset(&mut self, relation: Relation, a: u32, b: u32, ftz: bool) -> bool {
        float::compare(relation, a, b, ftz)
    }
    fn negate(&mut self, a: u32) -> u32 {
        a ^ SIGN
    }
    fn absolute(&mut self, a: u32) -> u32 {
        a & !SIGN
    }
    fn int_to_float(&mut self, a: u32, signed: bool, rounding: Rounding) -> u32 {
        convert::from_integer(u64::from(a), IntType { bits: 32, signed }, Mode::rounded(rounding))
    }
    fn float_to_int(&mut self, a: u32, signed: bool, rounding: Rounding) -> u32 {
        convert::to_integer(a, IntType { bits: 32, signed }, rounding, false) as u32
    }
    fn iadd(&mut self, a: u32, b: u32) -> u32 {
        a.wrapping_add(b)
    }
    fn isub(&mut self, a: u32, b: u32) -> u32 {
        a.wrapping_sub(b)
    }
    fn iadd_carry(&mut self, a: u32, b: u32, carry: Option<bool>) -> (u32, bool) {
        integer::add_carry(a, b, carry.unwrap_or(false))
    }
    fn isub_carry(&mut self, a: u32, b: u32, carry: Option<bool>) -> (u32, bool) {
        integer::add_carry(a, !b, carry.unwrap_or(true))
    }
    fn imad(&mut self, a: u32, b: u32, c: u32) -> u32 {
        a.wrapping_mul(b).wrapping_add(c)
    }
    fn imul_hi(&mut self, a: u32, b: u32) -> u32 {
        integer::mul_hi_unsigned(a, b)
    }
    fn lop3(&mut self, a: u32, b: u32, c: u32, table: u8) -> u32 {
        integer::lop3(a, b, c, table)
    }
    fn not(&mut self, a: u32) -> u32 {
        !a
    }
    fn shift_left(&mut self, a: u32, amount: u32) -> u32 {
        integer::shift_left(a, amount)
    }
    fn shift_right(&mut self, a: u32, amount: u32, signed: bool) -> u32 {
        integer::shift_right(a, amount, signed)
    }
    fn funnel_left(&mut self, low: u32, high: u32, amount: u32) -> u32 {
        integer::funnel_left(low, high, amount, FunnelMode::Clamp)
    }
    fn funnel_right(&mut self, low: u32, high: u32, amount: u32) -> u32 {
        integer::funnel_right(low, high, amount, FunnelMode::Clamp)
    }
    fn leading_zeros(&mut self, a: u32) -> u32 {
        a.leading_zeros()
    }
    fn iset(&mut self, relation: IntRelation, signed: bool, a: u32, b: u32) -> bool {
        relation.holds(signed, a, b)
    }
    fn select(&mut self, predicate: bool, a: u32, b: u32) -> u32 {
        if predicate { a } else { b }
    }
    fn both(&mut self, p: bool, q: bool) -> bool {
        p && q
    }
    fn either(&mut self, p: bool, q: bool) -> bool {
        p || q
    }
    fn branch<const N: usize>(
        &mut self,
        predicate: bool,
        then: impl FnOnce(&mut Self) -> [u32; N],
        otherwise: impl FnOnce(&mut Self) -> [u32; N],
    ) -> [u32; N] {
        if predicate { then(self) } else { otherwise(self) }
    }
}

impl IntRelation {
    /// Whether the relation holds for `a` and `b`.
    pub fn holds(self, signed: bool, a: u32, b: u32) -> bool {
        let order = if signed { (a as i32).cmp(&(b as i32)) } else { a.cmp(&b) };
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterEqual => order.is_ge(),
        }
    }
}
