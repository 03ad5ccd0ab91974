//! Conversions of 64-bit integers, and the double precision steps inside `sinf` and `cosf`.

use super::{Machine, Pair};
use crate::Rounding;

/// `cvt.<rounding>.f32.u64`
pub fn float_from_unsigned_64<M: Machine>(m: &mut M, a: Pair<M::Value>, rounding: Rounding) -> M::Value {
    let _ = (m, a, rounding);
    todo!()
}

/// `cvt.<rounding>.f32.s64`
pub fn float_from_signed_64<M: Machine>(m: &mut M, a: Pair<M::Value>, rounding: Rounding) -> M::Value {
    let _ = (m, a, rounding);
    todo!()
}

/// `cvt.<rounding>i.u64.f32`; a subnormal is a zero if `ftz`.
pub fn unsigned_64_from_float<M: Machine>(m: &mut M, a: M::Value, rounding: Rounding, ftz: bool) -> Pair<M::Value> {
    let _ = (m, a, rounding, ftz);
    todo!()
}

/// `cvt.<rounding>i.s64.f32`; a subnormal is a zero if `ftz`.
pub fn signed_64_from_float<M: Machine>(m: &mut M, a: M::Value, rounding: Rounding, ftz: bool) -> Pair<M::Value> {
    let _ = (m, a, rounding, ftz);
    todo!()
}

/// `cvt.rn.f64.s64`
pub fn double_from_signed_64<M: Machine>(m: &mut M, a: Pair<M::Value>) -> Pair<M::Value> {
    let _ = (m, a);
    todo!()
}

/// `mul.rn.f64`
pub fn double_multiply<M: Machine>(m: &mut M, a: Pair<M::Value>, b: Pair<M::Value>) -> Pair<M::Value> {
    let _ = (m, a, b);
    todo!()
}

/// `cvt.rn.f32.f64`; a subnormal result is a zero if `ftz`.
pub fn float_from_double<M: Machine>(m: &mut M, a: Pair<M::Value>, ftz: bool) -> M::Value {
    let _ = (m, a, ftz);
    todo!()
}
