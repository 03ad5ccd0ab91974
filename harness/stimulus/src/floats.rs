//! Corner cases of floating-point numbers.

use gpurf_lockstep::Rng;

/// The sign bit.
pub(crate) const SIGN: u32 = 1 << 31;
/// Bits of the fraction.
pub(crate) const FRACTION: u32 = (1 << 23) - 1;

/// A float from its exponent field and fraction, with any sign.
pub(crate) fn float(rng: &mut Rng, field: u32, fraction: u32) -> u32 {
    (rng.below(2) as u32) << 31 | (field & 0xff) << 23 | fraction & FRACTION
}

/// Zeros, both ends of the subnormals and of the normals, powers of two and their neighbours, infinities, NaN.
pub(crate) fn awkward(rng: &mut Rng) -> u32 {
    let (near, any, power) = (rng.below(3) as u32, rng.next_u64() as u32, 1 + rng.below(253) as u32);
    match rng.below(12) {
        0 => float(rng, 0, 0),
        1 => float(rng, 0, 1 + near),
        2 => float(rng, 0, FRACTION - near),
        3 => float(rng, 0, 1 << (any % 23)),
        4 => float(rng, 1, near),
        5 => float(rng, 254, FRACTION - near),
        6 => float(rng, 255, 0),
        7 => float(rng, 255, if near == 0 { 1 } else { any | 1 << 22 }),
        8 => float(rng, 127, near),
        // A power of two, or one of its neighbours.
        _ => ((power << 23) + near - 1) | any & SIGN,
    }
}

/// A number whose exponent field is `middle` or at most `spread` from it. One in four has few significant bits, so that results are exact or halfway
/// between two values.
pub(crate) fn near(rng: &mut Rng, middle: u32, spread: u32) -> u32 {
    let field = (middle + rng.below(2 * u64::from(spread) + 1) as u32).saturating_sub(spread).min(254);
    let bits = rng.next_u64();
    let fraction = if bits >> 62 == 0 { (bits as u32) << (bits >> 32 & 15) << 8 } else { bits as u32 };
    float(rng, field, fraction)
}

/// A number of the same sign that differs by at most `places` units in the last place.
pub(crate) fn beside(rng: &mut Rng, number: u32, places: u64) -> u32 {
    let moved = (number & !SIGN).wrapping_add(rng.below(2 * places + 1) as u32).saturating_sub(places as u32);
    number & SIGN | moved & !SIGN
}
