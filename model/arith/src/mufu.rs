//! The approximate functions: table and quadratic interpolation in fixed point.
//!
//! All seven work alike. The argument becomes an index into a table of 64 or 128 rows and a fraction `t` of the row's
//! interval, of 16 to 19 bits. A row holds three fixed-point coefficients, and the value is `c0 + c1 t + c2 t^2`: a
//! squarer, two multipliers and an adder. One rounding to nearest even, in [`crate::float`]'s own rounder, ends it;
//! so subnormal arguments and results are supported and cost a shifter, and `.ftz` masks them away.
//!
//! [`tables`] has the sizes and how the coefficients are made; `docs/arithmetic.md` has the measured errors.

mod algebraic;
mod exponential;
pub mod tables;
mod trigonometric;

use crate::float::{Class, classify};
use crate::{INFINITY, Mode, NAN, ONE, SIGN};

/// One of the functions of the special function unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Function {
    /// `1 / a` (`rcp.approx`)
    Reciprocal,
    /// `1 / sqrt(a)` (`rsqrt.approx`)
    ReciprocalSquareRoot,
    /// `sqrt(a)` (`sqrt.approx`)
    SquareRoot,
    /// `2^a` (`ex2.approx`)
    Exp2,
    /// `log2(a)` (`lg2.approx`)
    Log2,
    /// `sin(a)`, `a` in radians (`sin.approx`)
    Sin,
    /// `cos(a)`, `a` in radians (`cos.approx`)
    Cos,
}

impl Function {
    /// All seven, in the order of the declaration.
    pub const ALL: [Self; 7] =
        [Self::Reciprocal, Self::ReciprocalSquareRoot, Self::SquareRoot, Self::Exp2, Self::Log2, Self::Sin, Self::Cos];
}

/// The function's value at `a`; with `ftz` subnormal inputs and results become zero, their sign kept. NaN, infinities
/// and zeros give what the tables of the PTX ISA say.
pub fn approximate(function: Function, a: u32, ftz: bool) -> u32 {
    let mode = if ftz { Mode::FTZ } else { Mode::IEEE };
    let x = match classify(a, ftz) {
        Class::Nan => return NAN,
        Class::Infinite { negative } => return at_infinity(function, negative),
        Class::Finite(x) if x.significand == 0 => return at_zero(function, x.negative),
        Class::Finite(x) => x.normalized(23),
    };
    match function {
        Function::Reciprocal => algebraic::reciprocal(x, mode),
        Function::ReciprocalSquareRoot | Function::SquareRoot | Function::Log2 if x.negative => NAN,
        Function::ReciprocalSquareRoot => algebraic::reciprocal_square_root(x, mode),
        Function::SquareRoot => algebraic::square_root(x, mode),
        Function::Exp2 => exponential::exp2(x, mode),
        Function::Log2 => exponential::log2(x, mode),
        Function::Sin => trigonometric::sin(x, mode),
        Function::Cos => trigonometric::cos(x, mode),
    }
}

fn at_infinity(function: Function, negative: bool) -> u32 {
    match function {
        Function::Reciprocal => signed(0, negative),
        Function::Sin | Function::Cos => NAN,
        Function::Exp2 => {
            if negative {
                0
            } else {
                INFINITY
            }
        }
        _ if negative => NAN,
        Function::ReciprocalSquareRoot => 0,
        Function::SquareRoot | Function::Log2 => INFINITY,
    }
}

fn at_zero(function: Function, negative: bool) -> u32 {
    match function {
        Function::Reciprocal | Function::ReciprocalSquareRoot => signed(INFINITY, negative),
        Function::SquareRoot | Function::Sin => signed(0, negative),
        Function::Exp2 | Function::Cos => ONE,
        Function::Log2 => signed(INFINITY, true),
    }
}

fn signed(magnitude: u32, negative: bool) -> u32 {
    magnitude | if negative { SIGN } else { 0 }
}
