//! The random generator of `init = { random = .. }`: the same values on every machine.
//!
//! Element `i` of a buffer with seed `s` comes from the 64 bits `x = mix(s + (i + 1) * 0x9e3779b97f4a7c15)`, all modulo
//! 2^64, where `mix` is that of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
//!
//! - Integers: `min + floor(x * (max - min + 1) / 2^64)`, from `min` to `max`, both included.
//! - Floats: `min + (max - min) * u` with `u = floor(x / 2^11) / 2^53`, which is in `0 <= u < 1`. The operations are those
//!   of double precision, each rounded to nearest even; `f32` is rounded from that at the end, and a result
//!   that rounding put outside `min ..= max` is set to the nearer of the two.

use crate::{Scalar, Type};

/// The 64 random bits of element `index` for `seed`.
pub fn bits(seed: u64, index: u64) -> u64 {
    let x = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Element `index` of the sequence for `seed`, of type `ty`, from `min` to `max`, which are of that type.
pub(crate) fn element(seed: u64, index: u64, ty: Type, min: Scalar, max: Scalar) -> Scalar {
    let x = bits(seed, index);
    if ty.is_float() {
        let (low, high) = (min.as_f64(), max.as_f64());
        let u = (x >> 11) as f64 / (1u64 << 53) as f64;
        let value = low + (high - low) * u;
        return match ty {
            Type::F32 => Scalar::from_f32((value as f32).clamp(low as f32, high as f32)),
            _ => Scalar::from_f64(value.clamp(low, high)),
        };
    }
    let (low, high) = (min.as_integer(), max.as_integer());
    // At most 2^64 values, so the product fits.
    let count = (high - low + 1) as u128;
    Scalar::from_integer(ty, low + ((u128::from(x) * count) >> 64) as i128)
}
