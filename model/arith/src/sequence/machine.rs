//! The primitives over which the sequences are written.

use crate::float::Relation;
use crate::mufu::Function;
use crate::{Mode, Rounding};

/// A comparison of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IntRelation {
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
    /// `a < b`
    Less,
    /// `a <= b`
    LessEqual,
    /// `a > b`
    Greater,
    /// `a >= b`
    GreaterEqual,
}

/// A 64-bit value in two registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<V> {
    /// Bits 31 to 0.
    pub low: V,
    /// Bits 63 to 32.
    pub high: V,
}

/// A machine with 32-bit registers and predicates. Each method is one instruction, or an immediate operand of one.
///
/// [`Machine::negate`], [`Machine::absolute`] and [`Machine::not`] are operand modifiers where the machine has them,
/// and logic instructions where it does not. The default bodies are for machines without that instruction.
pub trait Machine {
    /// A 32-bit value.
    type Value: Copy;
    /// A predicate.
    type Predicate: Copy;

    /// A constant.
    fn constant(&mut self, bits: u32) -> Self::Value;

    /// [`crate::float::add`]
    fn fadd(&mut self, a: Self::Value, b: Self::Value, mode: Mode) -> Self::Value;
    /// [`crate::float::mul`]
    fn fmul(&mut self, a: Self::Value, b: Self::Value, mode: Mode) -> Self::Value;
    /// [`crate::float::fma`]
    fn ffma(&mut self, a: Self::Value, b: Self::Value, c: Self::Value, mode: Mode) -> Self::Value;
    /// [`crate::mufu::approximate`]
    fn mufu(&mut self, function: Function, a: Self::Value, ftz: bool) -> Self::Value;
    /// [`crate::float::compare`]
    fn fset(&mut self, relation: Relation, a: Self::Value, b: Self::Value, ftz: bool) -> Self::Predicate;
    /// The sign bit inverted; nothing is flushed.
    fn negate(&mut self, a: Self::Value) -> Self::Value;
    /// The sign bit cleared; nothing is flushed.
    fn absolute(&mut self, a: Self::Value) -> Self::Value;
    /// [`crate::convert::from_integer`] of 32 bits.
    fn int_to_float(&mut self, a: Self::Value, signed: bool, rounding: Rounding) -> Self::Value;
    /// [`crate::convert::to_integer`] of 32 bits.
    fn float_to_int(&mut self, a: Self::Value, signed: bool, rounding: Rounding) -> Self::Value;

    /// `a + b`
    fn iadd(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// `a - b`
    fn isub(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// `a + b + carry` and its carry out; without a carry in, `carry` is 0.
    fn iadd_carry(
        &mut self,
        a: Self::Value,
        b: Self::Value,
        carry: Option<Self::Predicate>,
    ) -> (Self::Value, Self::Predicate);
    /// `a + !b + carry` and its carry out, which is set when nothing was borrowed; without a carry in, `carry` is 1:
    /// `a - b`.
    fn isub_carry(
        &mut self,
        a: Self::Value,
        b: Self::Value,
        carry: Option<Self::Predicate>,
    ) -> (Self::Value, Self::Predicate);
    /// The low word of `a * b + c`.
    fn imad(&mut self, a: Self::Value, b: Self::Value, c: Self::Value) -> Self::Value;
    /// The high word of the unsigned product `a * b`.
    fn imul_hi(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// [`crate::integer::lop3`]
    fn lop3(&mut self, a: Self::Value, b: Self::Value, c: Self::Value, table: u8) -> Self::Value;
    /// All bits inverted.
    fn not(&mut self, a: Self::Value) -> Self::Value;
    /// [`crate::integer::shift_left`]
    fn shift_left(&mut self, a: Self::Value, amount: Self::Value) -> Self::Value;
    /// [`crate::integer::shift_right`]
    fn shift_right(&mut self, a: Self::Value, amount: Self::Value, signed: bool) -> Self::Value;
    /// [`crate::integer::funnel_left`], clamping.
    fn funnel_left(&mut self, low: Self::Value, high: Self::Value, amount: Self::Value) -> Self::Value;
    /// [`crate::integer::funnel_right`], clamping.
    fn funnel_right(&mut self, low: Self::Value, high: Self::Value, amount: Self::Value) -> Self::Value;
    /// The number of zero bits above the highest set one; 32 for 0.
    fn leading_zeros(&mut self, a: Self::Value) -> Self::Value;
    /// A comparison of integers.
    fn iset(&mut self, relation: IntRelation, signed: bool, a: Self::Value, b: Self::Value) -> Self::Predicate;

    /// `a` if the predicate is set, else `b`.
    fn select(&mut self, predicate: Self::Predicate, a: Self::Value, b: Self::Value) -> Self::Value;
    /// Whether both predicates are set.
    fn both(&mut self, p: Self::Predicate, q: Self::Predicate) -> Self::Predicate;
    /// Whether at least one of the predicates is set.
    fn either(&mut self, p: Self::Predicate, q: Self::Predicate) -> Self::Predicate;
    /// The values of `then` if the predicate is set, else those of `otherwise`. The sides have no effect other than
    /// their values.
    fn branch<const N: usize>(
        &mut self,
        predicate: Self::Predicate,
        then: impl FnOnce(&mut Self) -> [Self::Value; N],
        otherwise: impl FnOnce(&mut Self) -> [Self::Value; N],
    ) -> [Self::Value; N]
    where
        Self: Sized;

    /// `a & b`
    fn and(&mut self, a: Self::Value, b: Self::Value) -> Self::Value {
        self.lop3(a, b, b, 0xc0)
    }
    /// `a | b`
    fn or(&mut self, a: Self::Value, b: Self::Value) -> Self::Value {
        self.lop3(a, b, b, 0xfc)
    }
    /// `c - a * b`, rounded once: [`Machine::ffma`] with the product negated.
    fn fnma(&mut self, a: Self::Value, b: Self::Value, c: Self::Value, mode: Mode) -> Self::Value {
        let minus_a = self.negate(a);
        self.ffma(minus_a, b, c, mode)
    }
    /// The high word of the unsigned product `a * b`, plus `c`.
    fn imad_hi(&mut self, a: Self::Value, b: Self::Value, c: Self::Value) -> Self::Value {
        let product = self.imul_hi(a, b);
        self.iadd(product, c)
    }
    /// The low word, or if `high` the high word, of the unsigned product `a * b`, plus `c + carry`, and the carry out
    /// of the additions; without a carry in, `carry` is 0.
    fn imad_carry(
        &mut self,
        high: bool,
        a: Self::Value,
        b: Self::Value,
        c: Self::Value,
        carry: Option<Self::Predicate>,
    ) -> (Self::Value, Self::Predicate) {
        let zero = self.constant(0);
        let product = if high { self.imul_hi(a, b) } else { self.imad(a, b, zero) };
        self.iadd_carry(product, c, carry)
    }
    /// Whether a comparison of integers holds and the predicate `and` is set.
    fn iset_and(
        &mut self,
        relation: IntRelation,
        signed: bool,
        a: Self::Value,
        b: Self::Value,
        and: Self::Predicate,
    ) -> Self::Predicate {
        let compared = self.iset(relation, signed, a, b);
        self.both(compared, and)
    }
    /// `a ^ b`
    fn xor(&mut self, a: Self::Value, b: Self::Value) -> Self::Value {
        self.lop3(a, b, b, 0x3c)
    }
}
