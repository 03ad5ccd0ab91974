//! Operands of single precision operations.

use gpurf_arith::{INFINITY, Mode, float as arith};
use gpurf_blocks::LANES;
use gpurf_blocks::execute::FpUnitIn;
use gpurf_lockstep::Rng;

use super::{F2I, FADD, FFMA, FMNMX, FMUL, FRND, FSETP, FpUnitKnobs, I2F, Row};
use crate::floats::{FRACTION, SIGN, awkward, beside, float, near};

/// The kind of numbers that an operand has.
#[derive(Clone, Copy)]
enum Kind {
    Awkward,
    /// Any bits.
    Any,
    /// Exponents around this field.
    Near(u32),
}

impl Kind {
    fn number(self, rng: &mut Rng) -> u32 {
        match self {
            Self::Awkward => awkward(rng),
            Self::Any => rng.next_u64() as u32,
            Self::Near(middle) => near(rng, middle, 14),
        }
    }
}

/// An integer for a conversion to a float: of any size, around a power of two, or with the first bit that is dropped set.
fn integer(rng: &mut Rng) -> u32 {
    let shift = rng.below(8) as u32;
    let value = match rng.below(4) {
        0 => rng.next_u64() as u32 >> rng.below(32),
        1 => (1u32 << rng.below(32)).wrapping_add(rng.below(5) as u32).wrapping_sub(2),
        2 => (1 << 24 | rng.next_u64() as u32 & 0xff_fffe | 1) << (shift % 7),
        _ => ((1 << 24 | rng.next_u64() as u32 & 0xff_fffe | 1) << (shift % 7))
            .wrapping_add(rng.below(3) as u32)
            .wrapping_sub(1),
    };
    if rng.chance(500) { value } else { value.wrapping_neg() }
}

/// A float for a conversion to an integer: around those with a fraction of one half, and around the ends of the types.
fn fractional(rng: &mut Rng) -> u32 {
    match rng.below(4) {
        // An exponent from 2^-3 to 2^26, with the last place and the half at its end.
        0 => {
            let exponent = rng.below(30) as u32;
            let place = (26 - exponent as i32).clamp(0, 23) as u32;
            let fraction = rng.next_u64() as u32 & FRACTION >> place << place;
            float(rng, 124 + exponent, fraction | 1 << place.saturating_sub(1))
        }
        1 => near(rng, 127, 4),
        2 => near(rng, 127 + 30, 3),
        _ => {
            let ends = [0x4eff_ffff, 0x4f00_0000, 0x4f7f_ffff, 0x4f80_0000, 0x4b00_0000, 0x4aff_ffff, 0x3f00_0000];
            let end = ends[rng.below(ends.len() as u64) as usize] | (rng.below(2) as u32) << 31;
            beside(rng, end, 1)
        }
    }
}

/// Numbers at the ends of the range: infinite, large, small, subnormal.
fn end(rng: &mut Rng) -> u32 {
    let ends =
        [INFINITY, INFINITY - 1, 0x7f00_0000, 0x7380_0000, 0x7300_0001, 0x0100_0000, 0x0080_0001, 0x007f_ffff, 1, 0];
    ends[rng.below(ends.len() as u64) as usize] | (rng.below(2) as u32) << 31
}

/// Fills the sources; returns the constant of the instruction, which takes the place of b if b is no register.
pub(super) fn fill(rng: &mut Rng, knobs: &FpUnitKnobs, operation: &Row, m: u32, i: &mut FpUnitIn) -> u32 {
    let middle = 1 + rng.below(254) as u32;
    for words in i.data_i.iter_mut().take(operation.sources) {
        let kind = if rng.chance(knobs.awkward) {
            Kind::Awkward
        } else if rng.chance(300) {
            Kind::Any
        } else {
            Kind::Near(middle)
        };
        let number = |rng: &mut Rng| match operation.opcode {
            I2F if rng.chance(900) => integer(rng),
            F2I | FRND if rng.chance(500) => fractional(rng),
            _ => kind.number(rng),
        };
        if rng.chance(knobs.alike) {
            words.0 = [number(rng); LANES];
        } else {
            words.0.fill_with(|| number(rng));
        }
    }
    if rng.chance(knobs.meeting) {
        meeting(rng, operation, m, i);
    }
    match rng.below(3) {
        0 => awkward(rng),
        1 => near(rng, middle, 14),
        _ => rng.next_u64() as u32,
    }
}

/// Operands that are related to each other.
fn meeting(rng: &mut Rng, operation: &Row, m: u32, i: &mut FpUnitIn) {
    let sign = |bit: u32| (m >> bit & 1) << 31;
    let how = rng.below(6);
    let [a, b, c] = &mut i.data_i;
    for lane in 0..LANES {
        let (a, b, c) = (&mut a.0[lane], &mut b.0[lane], &mut c.0[lane]);
        match operation.opcode {
            // Numbers at the ends.
            FADD if how == 5 => (*a, *b) = (near(rng, 1, 1), near(rng, 1, 1)),
            FADD | FMUL | FFMA if how == 4 => (*a, *b, *c) = (end(rng), end(rng), end(rng)),
            // A product just below the smallest normal value, that rounds to it.
            FMUL | FFMA if how == 5 => {
                let below = 1 + rng.below(30) as u32;
                *a = float(rng, 127 - below, FRACTION);
                *b = float(rng, below, 0);
                *c = float(rng, 0, 0);
            }
            // The operands cancel, completely or but for a few units in the last place.
            FADD if how < 2 => *b = beside(rng, *a, how * 2) ^ SIGN ^ sign(4) ^ sign(5),
            // One operand is half a unit in the last place of the other one, or next to that.
            FADD => {
                let field = 30 + rng.below(224) as u32;
                *a = float(rng, field, *a);
                let half = float(rng, field - 24, 0);
                *b = beside(rng, half, u64::from(how == 3));
            }
            // Significands of 12 and 13 bits have a product of 25 or less: exact, or in the middle of two values; with exponents in the middle, or at
            // the ends where results are subnormal or too large.
            FMUL | FFMA if how < 2 => {
                let field = 64 + rng.below(126) as u32;
                let sum = match rng.below(4) {
                    0 => 127 - 14 + rng.below(20) as u32,
                    1 => 102 + rng.below(26) as u32,
                    2 => 254 + 125 + rng.below(6) as u32,
                    _ => 254 - 20 + rng.below(40) as u32,
                };
                *a = float(rng, field.clamp(sum.saturating_sub(254), sum), (*a | 1 << 11) >> 11 << 11);
                *b = float(rng, sum - (*a >> 23 & 0xff), (*b | 1 << 12) >> 12 << 12);
                *c = if how == 0 { awkward(rng) } else { float(rng, 0, 0) };
            }
            // The addend cancels the product, completely or nearly.
            FFMA => {
                *a = near(rng, 127, 10);
                *b = near(rng, 127, 10);
                if how == 2 {
                    // The product is a float.
                    (*a, *b) = (*a >> 12 << 12, *b >> 12 << 12);
                }
                let product = arith::mul(*a ^ sign(4), *b, Mode::IEEE) ^ SIGN ^ sign(5);
                *c = beside(rng, product, u64::from(how == 3));
            }
            FMNMX | FSETP if how < 4 => {
                *b = match how {
                    0 => *a,
                    1 => beside(rng, *a, 1),
                    2 => *a ^ SIGN,
                    // They differ in one bit.
                    _ => *a ^ 1 << rng.below(31),
                };
            }
            _ => {}
        }
    }
}
