//! What single precision operations compute: at once, and step by step.

use gpurf_arith::float::{Finite, Relation, Terms, add, compare, fma, max, min, mul, sum};
use gpurf_arith::{IntType, Mode, NAN, Rounding, SIGN, convert};

use crate::LANES;
use crate::execute::result::{each_lane, lanes_where};

/// An operation with its modifiers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Operation {
    pub(super) opcode: u8,
    pub(super) modifiers: u32,
}

/// What a lane works on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) c: u32,
}

/// What all lanes work on.
#[derive(Clone, Copy)]
pub(super) struct Lanes<'a> {
    pub(super) a: &'a [u32; LANES],
    pub(super) b: &'a [u32; LANES],
    pub(super) c: &'a [u32; LANES],
    pub(super) s: u32,
    pub(super) mask: u32,
}

impl Lanes<'_> {
    pub(super) fn lane(&self, l: usize) -> Lane {
        Lane { a: self.a[l], b: self.b[l], c: self.c[l] }
    }

    /// A value for each lane of the mask, where computing one takes long.
    #[inline]
    fn active(&self, value: impl Fn(usize) -> u32) -> [u32; LANES] {
        let (mut values, mut left) = ([0; LANES], self.mask);
        while left != 0 {
            let l = left.trailing_zeros() as usize;
            values[l] = value(l);
            left &= left - 1;
        }
        values
    }
}

/// A result of the host's arithmetic as bits, with the one NaN.
#[inline]
fn bits(value: f32) -> u32 {
    if value.is_nan() { NAN } else { value.to_bits() }
}

/// The comparisons of FSETP.
const COMPARISONS: [Option<Relation>; 16] = [
    Some(Relation::Equal),
    Some(Relation::NotEqual),
    Some(Relation::Less),
    Some(Relation::LessEqual),
    Some(Relation::Greater),
    Some(Relation::GreaterEqual),
    None,
    None,
    Some(Relation::EqualUnordered),
    Some(Relation::NotEqualUnordered),
    Some(Relation::LessUnordered),
    Some(Relation::LessEqualUnordered),
    Some(Relation::GreaterUnordered),
    Some(Relation::GreaterEqualUnordered),
    Some(Relation::Ordered),
    Some(Relation::Unordered),
];

impl Operation {
    fn flag(self, bit: u32) -> bool {
        self.modifiers >> bit & 1 == 1
    }

    /// The sign bit, if a modifier inverts an operand.
    fn sign(self, bit: u32) -> u32 {
        if self.flag(bit) { SIGN } else { 0 }
    }

    fn rounding(self) -> Rounding {
        Rounding::ALL[self.modifiers as usize & 3]
    }

    fn integer(self, bit: u32) -> IntType {
        if self.flag(bit) { IntType::S32 } else { IntType::U32 }
    }

    /// How its result is rounded.
    pub(super) fn mode(self) -> Mode {
        match self.opcode {
            0x30..=0x32 | 0x37 => Mode { rounding: self.rounding(), ftz: self.flag(2), sat: self.flag(3) },
            0x35 => Mode::rounded(self.rounding()),
            _ => Mode::IEEE,
        }
    }

    /// Whether two values are added.
    pub(super) fn adds(self) -> bool {
        matches!(self.opcode, 0x30 | 0x32)
    }

    /// The operands as the arithmetic takes them: their signs inverted where the modifiers say so.
    fn signed(self, lane: Lane) -> Lane {
        let Lane { a, b, c } = lane;
        match self.opcode {
            0x30 => Lane { a: a ^ self.sign(4), b: b ^ self.sign(5), c },
            0x31 => Lane { a: a ^ self.sign(4), ..lane },
            0x32 => Lane { a: a ^ self.sign(4), b, c: c ^ self.sign(5) },
            _ => lane,
        }
    }

    /// Stage 1 of a lane: the final value, or what is left to add and to round.
    pub(super) fn terms(self, lane: Lane) -> Terms {
        let (mode, Lane { a, b, c }) = (self.mode(), self.signed(lane));
        match self.opcode {
            0x30 => Terms::of_sum(a, b, mode),
            0x31 => Terms::of_product(a, b, mode),
            0x32 => Terms::of_fused(a, b, c, mode),
            0x33 => Terms::Known(self.extremum(a, b)),
            0x35 => Terms::One(convert::exact_integer(a.into(), self.integer(2))),
            0x36 => Terms::Known(self.to_integer(a)),
            0x37 => convert::integral_terms(a, mode),
            _ => Terms::Known(0),
        }
    }

    /// Stage 2 of a lane: its value before rounding; none where it is final.
    pub(super) fn sum(self, terms: Terms) -> Option<Finite> {
        match terms {
            Terms::Known(_) => None,
            Terms::One(x) => Some(x),
            Terms::Two(x, y) => Some(sum(x, y, self.mode().rounding)),
        }
    }

    fn extremum(self, a: u32, b: u32) -> u32 {
        let (ftz, nan) = (self.flag(1), self.flag(2));
        if self.flag(0) { max(a, b, ftz, nan) } else { min(a, b, ftz, nan) }
    }

    fn to_integer(self, a: u32) -> u32 {
        convert::to_integer(a, self.integer(3), self.rounding(), self.flag(2)) as u32
    }

    /// The lanes of the predicate; what it says of lanes outside the mask means nothing.
    pub(super) fn predicate(self, lanes: Lanes<'_>) -> u32 {
        if self.opcode != 0x34 {
            return 0;
        }
        let (comparison, ftz) = (COMPARISONS[self.modifiers as usize >> 7 & 15], self.flag(11));
        let holds = comparison.map_or(0, |relation| lanes_where(|l| compare(relation, lanes.a[l], lanes.b[l], ftz)));
        match self.modifiers >> 12 & 3 {
            0 => holds & lanes.s,
            1 => holds | lanes.s,
            2 => holds ^ lanes.s,
            _ => 0,
        }
    }

    /// The whole operation, the fastest way there is: to nearest even with subnormals kept, the host's arithmetic is this one. What it says of
    /// lanes outside the mask means nothing.
    pub(super) fn compute(self, lanes: Lanes<'_>) -> [u32; LANES] {
        let Lanes { a, b, c, .. } = lanes;
        let mode = self.mode();
        let native = mode == Mode::IEEE;
        let (first, second) = (self.sign(4), self.sign(5));
        let float = f32::from_bits;
        match self.opcode {
            0x30 if native => each_lane(|l| bits(float(a[l] ^ first) + float(b[l] ^ second))),
            0x30 => lanes.active(|l| add(a[l] ^ first, b[l] ^ second, mode)),
            0x31 if native => each_lane(|l| bits(float(a[l] ^ first) * float(b[l]))),
            0x31 => lanes.active(|l| mul(a[l] ^ first, b[l], mode)),
            0x32 if native => lanes.active(|l| bits(float(a[l] ^ first).mul_add(float(b[l]), float(c[l] ^ second)))),
            0x32 => lanes.active(|l| fma(a[l] ^ first, b[l], c[l] ^ second, mode)),
            0x33 => each_lane(|l| self.extremum(a[l], b[l])),
            0x35 => {
                let from = self.integer(2);
                lanes.active(|l| convert::from_integer(a[l].into(), from, mode))
            }
            0x36 => lanes.active(|l| self.to_integer(a[l])),
            0x37 => lanes.active(|l| convert::round_to_integral(a[l], mode)),
            _ => [0; LANES],
        }
    }
}
