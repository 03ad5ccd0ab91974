//! Conversions between integers and single precision, and rounding to an integral value.

use crate::float::{Class, Finite, Terms, classify, flush, is_nan, saturate};
use crate::{IntType, Mode, NAN, Rounding};

/// The single precision value of the integer in the low bits of `value` (`cvt.f32.<from>`). `mode.ftz` has no effect.
pub fn from_integer(value: u64, from: IntType, mode: Mode) -> u32 {
    crate::float::round(exact_integer(value, from), mode)
}

/// The integer in the low bits of `value`, which [`from_integer`] rounds.
pub fn exact_integer(value: u64, from: IntType) -> Finite {
    let value = from.value(value);
    Finite { negative: value < 0, significand: value.unsigned_abs() as u64, exponent: 0 }
}

/// The integer value of `a` (`cvt.<rounding>i.<to>.f32`), in the low `to.bits` bits and extended to 64 bits as the type
/// says. A value outside the type gives the nearest value of the type. NaN gives 0 for types of up to 32 bits and 2^63
/// for types of 64 bits (PTX ISA, "cvt").
pub fn to_integer(a: u32, to: IntType, rounding: Rounding, ftz: bool) -> u64 {
    match classify(a, ftz) {
        Class::Nan => {
            if to.bits == 64 {
                1 << 63
            } else {
                0
            }
        }
        Class::Infinite { negative } => clamp(to, negative),
        // 2^64 and more: outside every type.
        Class::Finite(x) if x.exponent > 40 => clamp(to, x.negative),
        Class::Finite(x) => {
            let magnitude = integral(x.negative, x.significand, x.exponent, rounding);
            let value = if x.negative { -i128::from(magnitude) } else { i128::from(magnitude) };
            value.clamp(to.min(), to.max()) as u64
        }
    }
}

/// `a` rounded to an integral value (`cvt.rni.f32.f32` and the like). The sign of a zero result is that of `a`.
pub fn round_to_integral(a: u32, mode: Mode) -> u32 {
    integral_terms(a, mode).result(mode)
}

/// The value that [`round_to_integral`] converts to a float: the integer, or `a` itself where its last place is 1 or
/// more.
pub fn integral_terms(a: u32, mode: Mode) -> Terms {
    match classify(a, mode.ftz) {
        Class::Nan => Terms::nan(mode),
        Class::Infinite { negative } => Terms::infinity(negative, mode),
        Class::Finite(x) if x.exponent >= 0 => Terms::One(x),
        Class::Finite(x) => {
            let significand = integral(x.negative, x.significand, x.exponent, mode.rounding);
            Terms::One(Finite { negative: x.negative, significand, exponent: 0 })
        }
    }
}

/// `a` itself, flushed and clamped as `mode` says (`cvt.sat.f32.f32`, `cvt.ftz.f32.f32`); NaN becomes canonical.
pub fn float_to_float(a: u32, mode: Mode) -> u32 {
    let value = if is_nan(a) { NAN } else { flush(a, mode.ftz) };
    if mode.sat { saturate(value) } else { value }
}

/// The integer `value` of type `from` as type `to`, extended to 64 bits as `to` says: its low bits, or with `sat`
/// the nearest value of `to` (`cvt.sat.<to>.<from>`).
pub fn integer_to_integer(value: u64, from: IntType, to: IntType, sat: bool) -> u64 {
    let exact = from.value(value);
    let value = if sat { exact.clamp(to.min(), to.max()) } else { exact };
    to.value(value as u64) as u64
}

fn clamp(to: IntType, negative: bool) -> u64 {
    (if negative { to.min() } else { to.max() }) as u64
}

/// `significand * 2^exponent` rounded to an integer. The significand has up to 24 bits, the exponent is at most 40.
fn integral(negative: bool, significand: u64, exponent: i32, rounding: Rounding) -> u64 {
    if exponent >= 0 {
        return significand << exponent;
    }
    // Beyond 25 places everything is below one half, and the dropped bits are the whole value.
    let places = (-exponent).min(26) as u32;
    let kept = significand >> places;
    let half = significand >> (places - 1) & 1 != 0;
    let sticky = significand & ((1 << (places - 1)) - 1) != 0;
    kept + u64::from(crate::float::round_up(rounding, negative, kept & 1 != 0, half, sticky))
}
