//! Single precision: add, multiply, fused multiply-add, minimum, maximum, comparison, sign operations.
//!
//! NaN: every NaN input is treated alike, and a result that is NaN is [`NAN`](crate::NAN). The operations that only touch the sign ([`abs`], [`neg`],
//! [`copysign`]) are bit operations and return a NaN unchanged except for its sign.
//!
//! Addition, multiplication and fused multiply-add consist of steps between which a pipeline has registers: operands unpacked and multiplied
//! ([`Terms`]), the sum ([`sum`]), rounding ([`round`]).

mod compare;
mod finite;
mod terms;

pub use compare::{Relation, compare, max, min};
pub(crate) use finite::round_up;
pub use finite::{Class, Finite, classify, product, round, sum};
pub use terms::Terms;

use crate::{INFINITY, Mode, SIGN};

/// `a + b`.
pub fn add(a: u32, b: u32, mode: Mode) -> u32 {
    Terms::of_sum(a, b, mode).result(mode)
}

/// `a - b`.
pub fn sub(a: u32, b: u32, mode: Mode) -> u32 {
    add(a, b ^ SIGN, mode)
}

/// `a * b`.
pub fn mul(a: u32, b: u32, mode: Mode) -> u32 {
    Terms::of_product(a, b, mode).result(mode)
}

/// `a * b + c`, rounded once.
pub fn fma(a: u32, b: u32, c: u32, mode: Mode) -> u32 {
    Terms::of_fused(a, b, c, mode).result(mode)
}

/// `|a|`; with `ftz` a subnormal becomes +0.
pub fn abs(a: u32, ftz: bool) -> u32 {
    flush(a, ftz) & !SIGN
}

/// `-a`; with `ftz` a subnormal becomes zero of the other sign.
pub fn neg(a: u32, ftz: bool) -> u32 {
    flush(a, ftz) ^ SIGN
}

/// The magnitude of `magnitude` with the sign of `sign`. PTX's `copysign a, b` is `copysign(b, a)`.
pub fn copysign(magnitude: u32, sign: u32) -> u32 {
    magnitude & !SIGN | sign & SIGN
}

/// `a` with a subnormal replaced by zero of its sign, if `ftz`.
pub fn flush(a: u32, ftz: bool) -> u32 {
    if ftz && a & INFINITY == 0 { a & SIGN } else { a }
}

/// True for every NaN.
pub fn is_nan(a: u32) -> bool {
    a & !SIGN > INFINITY
}

/// `.sat` applied to a result: clamped to 0.0 ..= 1.0; NaN, negative values and -0.0 become +0.0.
pub fn saturate(a: u32) -> u32 {
    if is_nan(a) || a & SIGN != 0 { 0 } else { a.min(crate::ONE) }
}
