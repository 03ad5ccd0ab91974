//! Operations that take several instructions: exact division and square root, integer division, 64-bit conversions, half precision and double
//! precision.
//!
//! Each sequence is written once, over the [`Machine`] trait. With [`Evaluate`] it computes on bit patterns, and is tested that way. With a
//! compiler's machine, whose values are virtual registers, the same code emits the instructions. So the tested code is the code that runs.
//!
//! A sequence is straight-line code with selects, except for a few calls of [`Machine::branch`]: a short usual path and a long rare one. Neither side
//! has an effect other than its values, so computing both and selecting is correct too.

mod double;
mod evaluate;
mod float;
mod half;
mod integer;
mod machine;
mod round;
mod wide;

pub use double::{
    double_add, double_compare, double_divide, double_fma, double_from_float, double_from_signed,
    double_from_signed_64, double_from_unsigned, double_from_unsigned_64, double_integral, double_maximum,
    double_minimum, double_multiply, double_reciprocal_approximate, double_reciprocal_root_approximate,
    double_saturated, double_square_root, float_from_double, integer_64_from_double, integer_from_double,
};
pub use evaluate::Evaluate;
pub use float::{divide, divide_approximate, divide_full, reciprocal, square_root};
pub use half::{float_from_half, half_add, half_flushed, half_fma, half_from_float, half_multiply, half_saturated};
pub use integer::{Division, divide_signed, divide_signed_64, divide_unsigned, divide_unsigned_64};
pub use machine::{IntRelation, Machine, Pair};
pub use wide::{float_from_signed_64, float_from_unsigned_64, signed_64_from_float, unsigned_64_from_float};
