//! The approximate functions: table and quadratic interpolation in fixed point.
//!
//! All seven work alike. The argument becomes an index into a table of 64 or 128 rows and a fraction `t` of the row's interval, of 16 to 19 bits. A
//! row holds three fixed-point coefficients, and the value is `c0 + c1 t + c2 t^2`: a squarer, two multipliers and an adder. [`crate::float`]'s
//! rounder then rounds the value once to nearest even; so subnormal arguments and results are supported at the cost of a shifter, and `.ftz` masks
//! them.
//!
//! A pipeline has registers between the three steps ([`reduce`], [`Reduced::interpolate`], rounding).
//!
//! [`tables`] describes the sizes and how the coefficients are made; `docs/arithmetic.md` has the measured errors.

mod algebraic;
mod exponential;
pub mod tables;
mod trigonometric;

use crate::float::{Class, Finite, classify, round};
use crate::{INFINITY, Mode, NAN, ONE, SIGN};
use tables::{EXP2, FRACTION_BITS, LOG2, RECIPROCAL, RECIPROCAL_SQUARE_ROOT, Row, SIN, SQUARE_ROOT};

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

impl Function {
    /// Its table.
    fn table(self) -> &'static [Row] {
        match self {
            Self::Reciprocal => &RECIPROCAL,
            Self::ReciprocalSquareRoot => &RECIPROCAL_SQUARE_ROOT,
            Self::SquareRoot => &SQUARE_ROOT,
            Self::Exp2 => &EXP2,
            Self::Log2 => &LOG2,
            Self::Sin | Self::Cos => &SIN,
        }
    }

    /// Bits of the fraction `t` of a row's interval.
    const fn t_bits(self) -> u32 {
        match self {
            Self::Reciprocal | Self::Log2 => 16,
            Self::ReciprocalSquareRoot | Self::SquareRoot => 17,
            Self::Exp2 | Self::Sin | Self::Cos => 19,
        }
    }

    /// Binary places of the interpolated value.
    const fn places(self) -> i32 {
        (FRACTION_BITS + self.t_bits()) as i32
    }
}

/// An argument in the form that the interpolation takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reduced {
    /// The result's sign, except for a logarithm, whose value has its own sign.
    pub negative: bool,
    /// For a logarithm the argument's exponent, which is added to the table's value; otherwise the exponent of the result's last place.
    pub exponent: i32,
    /// Row of the function's table.
    pub row: usize,
    /// Place in the row's interval; if `direct` the result's significand.
    pub t: u32,
    /// The result is `t * 2^exponent`: the sine of a small argument.
    pub direct: bool,
}

impl Reduced {
    /// The function's value before it is rounded.
    #[inline(always)]
    pub fn interpolate(self, function: Function) -> Finite {
        let Self { negative, exponent, row, t, direct } = self;
        if direct {
            return Finite { negative, significand: t.into(), exponent };
        }
        let value = function.table()[row].value(t, function.t_bits());
        match function {
            Function::Log2 => {
                let sum = exponential::log2_sum(exponent, value);
                Finite { negative: sum < 0, significand: sum.unsigned_abs(), exponent: -function.places() }
            }
            // The parabola may pass just below zero at angle 0, where the sine is zero.
            _ => Finite { negative, significand: value.max(0) as u64, exponent },
        }
    }
}

/// The function's value at `a`; with `ftz` subnormal inputs and results become zero, their sign kept. NaN, infinities
/// and zeros give what the tables of the PTX ISA say.
pub fn approximate(function: Function, a: u32, ftz: bool) -> u32 {
    match reduce(function, a, ftz) {
        Ok(reduced) => round(reduced.interpolate(function), if ftz { Mode::FTZ } else { Mode::IEEE }),
        Err(known) => known,
    }
}

/// The argument in the form that the interpolation takes.
///
/// # Errors
/// The function's value, where it is known without interpolation.
#[inline(always)]
pub fn reduce(function: Function, a: u32, ftz: bool) -> Result<Reduced, u32> {
    let x = match classify(a, ftz) {
        Class::Nan => return Err(NAN),
        Class::Infinite { negative } => return Err(at_infinity(function, negative)),
        Class::Finite(x) if x.significand == 0 => return Err(at_zero(function, x.negative)),
        Class::Finite(x) => x.normalized(23),
    };
    match function {
        Function::Reciprocal => Ok(algebraic::reciprocal(x)),
        Function::ReciprocalSquareRoot | Function::SquareRoot | Function::Log2 if x.negative => Err(NAN),
        Function::ReciprocalSquareRoot | Function::SquareRoot => Ok(algebraic::root(function, x)),
        Function::Exp2 => Ok(exponential::exp2(x)),
        Function::Log2 => Ok(exponential::log2(x)),
        Function::Sin => Ok(trigonometric::sin(x)),
        Function::Cos => trigonometric::cos(x).ok_or(ONE),
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
