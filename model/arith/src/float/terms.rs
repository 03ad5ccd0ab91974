//! The operands of an operation before anything is added or rounded.

use super::{Class, Finite, classify, product, round, saturate, sum};
use crate::{INFINITY, Mode, NAN, SIGN};

/// The exact terms of an operation, before anything is added or rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terms {
    /// The result is known: infinite, or NaN; clamped already, if the mode says so.
    Known(u32),
    /// One exact value.
    One(Finite),
    /// Two exact values, to be added.
    Two(Finite, Finite),
}

impl Terms {
    /// The terms of `a + b`: the operands.
    #[inline(always)]
    pub fn of_sum(a: u32, b: u32, mode: Mode) -> Self {
        match (classify(a, mode.ftz), classify(b, mode.ftz)) {
            (Class::Finite(a), Class::Finite(b)) => Self::Two(a, b),
            (Class::Nan, _) | (_, Class::Nan) => Self::nan(mode),
            (Class::Infinite { negative: a }, Class::Infinite { negative: b }) if a != b => Self::nan(mode),
            (Class::Infinite { negative }, _) | (_, Class::Infinite { negative }) => Self::infinity(negative, mode),
        }
    }

    /// The term of `a * b`: the product.
    #[inline(always)]
    pub fn of_product(a: u32, b: u32, mode: Mode) -> Self {
        let negative = (a ^ b) & SIGN != 0;
        match (classify(a, mode.ftz), classify(b, mode.ftz)) {
            (Class::Finite(a), Class::Finite(b)) => Self::One(product(a, b)),
            (Class::Nan, _) | (_, Class::Nan) => Self::nan(mode),
            (Class::Finite(x), _) | (_, Class::Finite(x)) if x.significand == 0 => Self::nan(mode),
            _ => Self::infinity(negative, mode),
        }
    }

    /// The terms of `a * b + c`: the product and c.
    #[inline(always)]
    pub fn of_fused(a: u32, b: u32, c: u32, mode: Mode) -> Self {
        let negative = (a ^ b) & SIGN != 0;
        let addend = classify(c, mode.ftz);
        match (classify(a, mode.ftz), classify(b, mode.ftz)) {
            (Class::Finite(a), Class::Finite(b)) => match addend {
                Class::Finite(c) => Self::Two(product(a, b), c),
                Class::Infinite { negative } => Self::infinity(negative, mode),
                Class::Nan => Self::nan(mode),
            },
            (Class::Nan, _) | (_, Class::Nan) => Self::nan(mode),
            (Class::Finite(x), _) | (_, Class::Finite(x)) if x.significand == 0 => Self::nan(mode),
            _ => match addend {
                Class::Nan => Self::nan(mode),
                Class::Infinite { negative: other } if other != negative => Self::nan(mode),
                _ => Self::infinity(negative, mode),
            },
        }
    }

    /// The rounded sum.
    #[inline(always)]
    pub fn result(self, mode: Mode) -> u32 {
        match self {
            Self::Known(value) => value,
            Self::One(x) => round(x, mode),
            Self::Two(x, y) => round(sum(x, y, mode.rounding), mode),
        }
    }

    pub(crate) fn nan(mode: Mode) -> Self {
        Self::Known(if mode.sat { 0 } else { NAN })
    }

    pub(crate) fn infinity(negative: bool, mode: Mode) -> Self {
        let bits = INFINITY | if negative { SIGN } else { 0 };
        Self::Known(if mode.sat { saturate(bits) } else { bits })
    }
}
