//! Division of integers by way of the approximate reciprocal.

use super::{Machine, Pair};

/// A quotient and its remainder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division<T> {
    /// `a / b`, rounded toward zero.
    pub quotient: T,
    /// `a - quotient * b`.
    pub remainder: T,
}

/// `a / b` and `a % b`, unsigned (`div.u32`, `rem.u32`). Division by zero: all ones, and `a`.
pub fn divide_unsigned<M: Machine>(m: &mut M, a: M::Value, b: M::Value) -> Division<M::Value> {
    let _ = (m, a, b);
    todo!()
}

/// `a / b` and `a % b`, signed; the remainder has the sign of `a` (`div.s32`, `rem.s32`).
pub fn divide_signed<M: Machine>(m: &mut M, a: M::Value, b: M::Value) -> Division<M::Value> {
    let _ = (m, a, b);
    todo!()
}

/// `a / b` and `a % b`, unsigned (`div.u64`, `rem.u64`). Division by zero: all ones, and `a`.
pub fn divide_unsigned_64<M: Machine>(m: &mut M, a: Pair<M::Value>, b: Pair<M::Value>) -> Division<Pair<M::Value>> {
    let _ = (m, a, b);
    todo!()
}

/// `a / b` and `a % b`, signed; the remainder has the sign of `a` (`div.s64`, `rem.s64`).
pub fn divide_signed_64<M: Machine>(m: &mut M, a: Pair<M::Value>, b: Pair<M::Value>) -> Division<Pair<M::Value>> {
    let _ = (m, a, b);
    todo!()
}
