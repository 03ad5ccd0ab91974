//! Coverage of `fp_unit`.

use gpurf_arith::float::{self, Finite, flush, is_nan, round, sum};
use gpurf_arith::{INFINITY, Mode, Rounding, SIGN};
use gpurf_blocks::LANES;
use gpurf_blocks::config::Config;
use gpurf_blocks::execute::{FpUnitIn, FpUnitOut, FpUnitProbe};
use gpurf_blocks::instruction::{NO_PRED, NO_REG, constant, modifiers, opcode};
use gpurf_blocks::shape::SmShape;

use super::{F2I, FADD, FFMA, FMNMX, FMUL, FRND, FSETP, I2F};
use crate::{Points, cover};

pub(crate) struct FpUnitCover {
    /// The inputs of the instruction that was taken in the previous cycle: it is in stage 1 now.
    taken: Option<Box<FpUnitIn>>,
}

/// The bits of a value after the last place of its result: the first of them, whether any later one is set; and the last place.
fn dropped(x: Finite) -> (bool, bool, bool) {
    if x.significand == 0 {
        return (false, false, false);
    }
    let shift = x.significand.leading_zeros();
    let below_normal = (1 - (x.exponent - shift as i32 + 63 + 127)).max(0) as u32;
    let places = (40 + below_normal).min(126);
    let aligned = u128::from(x.significand << shift);
    let bit = |place: u32| aligned >> place & 1 == 1;
    (bit(places - 1), aligned & ((1 << (places - 1)) - 1) != 0, bit(places))
}

#[cover]
impl FpUnitCover {
    const ROUNDED: [&str; 5] = ["FADD", "FMUL", "FFMA", "I2F", "F2I or FRND"];
    const ARITHMETIC: [&str; 3] = ["FADD", "FMUL", "FFMA"];
    /// Operations whose subnormal results may be inexact; a subnormal sum is exact.
    const INEXACT: [&str; 2] = ["FMUL", "FFMA"];
    const ADDED: [&str; 2] = ["FADD", "FFMA"];
    const COMPARISONS: [&str; 14] =
        ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];

    fn new(_: &SmShape, _: &Config) -> Self {
        Self { taken: None }
    }

    fn observe(&mut self, i: &FpUnitIn, o: &FpUnitOut, p: &FpUnitProbe, points: &mut Points) {
        let (offered, taken, reset) = (i.valid_i == 1, i.valid_i & o.ready_o == 1, i.rst_ni == 0);
        let (first, second) = (p.valid1_q == 1, p.valid2_q == 1);
        let waits = second && i.result_ready_i == 0;
        let (reg, pred) = (o.result_reg_valid_o == 1, o.result_pred_valid_o == 1);
        let (roles, code) = (i.instruction_i.roles(), opcode(i.instruction_i.op()));
        let known = (FADD..=FRND).contains(&code);
        let no_source = |k: usize| offered && known && i.src_valid_i >> k & 1 == 0;
        let others = if code == FSETP { roles.d() != NO_REG } else { roles.p() != NO_PRED };
        point!("an instruction in each stage", first && second);
        point!("every stage waits, instruction refused", first && waits && offered);
        point!("every stage waits, none offered", first && waits && !offered);
        point!("stage 2 waits, stage 1 is empty", waits && !first);
        point!("stage 1 moves on, nothing in front of it", first && !second);
        point!("taken while a result waits", waits && taken);
        point!("taken as a result leaves", second && !waits && taken);
        point!("taken by an idle unit", !first && !second && taken);
        point!("the last result leaves", second && !waits && !first && !taken);
        point!("reset with an instruction in each stage", reset && first && second);
        point!("offered in reset", reset && offered);
        point!("no destination", second && !reg && !pred);
        point!("register only", reg && !pred);
        point!("predicate only", !reg && pred);
        point!("register and predicate", reg && pred);
        point!("no active lane", second && o.result_mask_o == 0);
        point!("some active lanes", second && !matches!(o.result_mask_o, 0 | u32::MAX));
        point!("b is the constant", offered && roles.b_constant() == 1);
        point!("b is neither register nor constant", no_source(1) && code < I2F && roles.b_constant() == 0);
        point!("a is no register", no_source(0));
        point!("c is no register", no_source(2) && code == FFMA);
        point!("an opcode that never comes", taken && !known);
        point!("a destination that the operation does not have", taken && known && others);
        if let Some(given) = self.taken.take().filter(|_| first) {
            // Each point counts once for all lanes, so that a point that only one lane reaches counts as much.
            points.once(|points| Self::values(&given, p, points));
        }
        if taken && !reset {
            self.taken = Some(Box::new(*i));
        }
    }

    /// Points of the instruction in stage 1, which was taken with these inputs.
    fn values(i: &FpUnitIn, p: &FpUnitProbe, points: &mut Points) {
        let given = i.instruction_i.fields();
        let (code, m) = (opcode(given.op), modifiers(given.op, given.ctl));
        let b_constant = given.roles.b_constant() == 1;
        let operand = |k: usize, l: usize| match i.src_valid_i >> k & 1 {
            1 => i.data_i[k].0[l],
            _ if k == 1 && b_constant => constant(given.op),
            _ => 0,
        };
        let negative = |mask: u32, l: usize| mask >> l & 1 == 1;
        let exponent = |bits: u16| i32::from((bits << 6) as i16 >> 6);
        let mode = Mode { rounding: Rounding::ALL[usize::from(p.rounding1_q)], ftz: p.ftz1_q == 1, sat: p.sat1_q == 1 };
        for l in (0..LANES).filter(|l| i.mask_i >> l & 1 == 1) {
            let lane = Lane {
                code,
                m,
                s: [operand(0, l), operand(1, l), operand(2, l)],
                known: negative(p.final1_q, l).then_some(p.value1_q[l]),
                x: Finite {
                    negative: negative(p.x_negative1_q, l),
                    significand: p.x_significand1_q[l],
                    exponent: exponent(p.x_exponent1_q[l]),
                },
                y: Finite {
                    negative: negative(p.y_negative1_q, l),
                    significand: p.y_significand1_q[l].into(),
                    exponent: exponent(p.y_exponent1_q[l]),
                },
                mode,
            };
            Self::special(&lane, points);
            let place = match code {
                FADD => 0,
                FMUL => 1,
                FFMA => 2,
                I2F => 3,
                F2I | FRND => 4,
                _ => continue,
            };
            Self::rounded(&lane, place, points);
            if place < Self::ARITHMETIC.len() {
                Self::arithmetic(&lane, place, points);
            }
            match code {
                FADD => Self::added(&lane, 0, points),
                FFMA => Self::added(&lane, 1, points),
                _ => {}
            }
        }
    }

    fn rounded(lane: &Lane, place: usize, points: &mut Points) {
        let rounding = lane.m as usize & 3;
        point!("{ROUNDED[place]} to nearest even", rounding == 0);
        point!("{ROUNDED[place]} toward zero", rounding == 1);
        point!("{ROUNDED[place]} down", rounding == 2);
        point!("{ROUNDED[place]} up", rounding == 3);
        let Some((half, rest, odd)) = lane.rounds() else { return };
        let nearest = rounding == 0;
        point!("{ROUNDED[place]}: exact", !half && !rest);
        point!("{ROUNDED[place]}: below the middle of two values", nearest && !half && rest);
        point!("{ROUNDED[place]}: in the middle, to the even value below", nearest && half && !rest && !odd);
        point!("{ROUNDED[place]}: in the middle, to the even value above", nearest && half && !rest && odd);
        point!("{ROUNDED[place]}: above the middle of two values", nearest && half && rest);
        let inexact = half || rest;
        point!("{ROUNDED[place]}: inexact, toward zero", rounding == 1 && inexact);
        point!("{ROUNDED[place]}: inexact, down", rounding == 2 && inexact);
        point!("{ROUNDED[place]}: inexact, up", rounding == 3 && inexact);
    }

    fn arithmetic(lane: &Lane, place: usize, points: &mut Points) {
        let mode = lane.mode;
        let operands = &lane.s[..if lane.code == FFMA { 3 } else { 2 }];
        let any = |holds: fn(u32) -> bool| operands.iter().any(|&a| holds(a));
        let nan = any(is_nan);
        let plain = Mode { sat: false, ..mode };
        let (kept, result) = match lane.known {
            Some(value) => (value, value),
            None => (round(lane.sum(), plain), round(lane.sum(), mode)),
        };
        let invalid =
            !nan && lane.known.is_some() && (is_nan(kept) || mode.sat && any(is_infinite) && lane.is_invalid());
        point!("{ARITHMETIC[place]}: flushing", mode.ftz);
        point!("{ARITHMETIC[place]}: clamping", mode.sat);
        point!("{ARITHMETIC[place]}: NaN", nan);
        point!("{ARITHMETIC[place]}: an infinite operand", !nan && any(is_infinite) && !invalid);
        point!("{ARITHMETIC[place]}: an invalid operation", invalid);
        point!("{ARITHMETIC[place]}: a subnormal operand", !mode.ftz && any(is_subnormal));
        point!("{ARITHMETIC[place]}: a subnormal operand flushed", mode.ftz && any(is_subnormal));
        point!("{ARITHMETIC[place]}: NaN clamped", mode.sat && nan);
        point!("{ARITHMETIC[place]}: infinity clamped", mode.sat && lane.known.is_some() && result == gpurf_arith::ONE);
        if lane.known.is_some() {
            return;
        }
        let value = lane.sum();
        let (half, rest, _) = dropped(value);
        let unflushed = round(value, Mode { ftz: false, ..plain });
        let leading = value.exponent + 63 - value.significand.leading_zeros() as i32;
        point!("{ARITHMETIC[place]}: zero", value.significand == 0);
        point!("{ARITHMETIC[place]}: subnormal result", is_subnormal(kept));
        point!("{INEXACT[place.wrapping_sub(1)]}: subnormal result, inexact", is_subnormal(kept) && (half || rest));
        point!(
            "{INEXACT[place.wrapping_sub(1)]}: rounded up to the smallest normal value",
            value.significand != 0 && unflushed & !SIGN == 0x80_0000 && leading < -126
        );
        point!("{ARITHMETIC[place]}: subnormal result flushed", mode.ftz && is_subnormal(unflushed));
        point!("{ARITHMETIC[place]}: too large, infinite", is_infinite(kept));
        point!(
            "{ARITHMETIC[place]}: too large, the largest finite value",
            kept & !SIGN == INFINITY - 1 && leading > 127
        );
        point!("{ARITHMETIC[place]}: clamped to 0", mode.sat && kept & SIGN != 0);
        point!("{ARITHMETIC[place]}: clamped to 1", mode.sat && kept > gpurf_arith::ONE && kept & SIGN == 0);
    }

    fn added(lane: &Lane, place: usize, points: &mut Points) {
        if lane.known.is_some() {
            return;
        }
        let (x, y, sum) = (lane.x, lane.y, lane.sum());
        let (opposite, zeros) = (x.negative != y.negative, (x.significand == 0, y.significand == 0));
        point!("{ADDED[place]}: zeros of one sign", zeros == (true, true) && !opposite);
        point!("{ADDED[place]}: zeros of different signs", zeros == (true, true) && opposite);
        point!("{ADDED[place]}: x is zero", zeros == (true, false));
        point!("{ADDED[place]}: y is zero", zeros == (false, true));
        if zeros != (false, false) {
            return;
        }
        let top = |value: Finite| value.exponent + 63 - value.significand.leading_zeros() as i32;
        let difference = top(x) - top(y);
        let down = lane.mode.rounding == Rounding::Down;
        point!("{ADDED[place]}: cancels, +0", sum.significand == 0 && !down);
        point!("{ADDED[place]}: cancels down, -0", sum.significand == 0 && down);
        point!(
            "{ADDED[place]}: nearly cancels",
            sum.significand != 0 && top(sum) < top(x) - 12 && top(sum) < top(y) - 12
        );
        point!("{ADDED[place]}: y is the larger one", difference < 0);
        point!(
            "{ADDED[place]}: exponents are equal, y is the larger one",
            difference == 0 && opposite && sum.negative == y.negative && sum.significand != 0
        );
        point!("{ADDED[place]}: nothing of the lower one is left", difference.abs() >= 64);
        point!("{ADDED[place]}: some of the lower one is left", (40..64).contains(&difference.abs()));
        point!("{ADDED[place]}: the sum is carried", !opposite && top(sum) > top(x).max(top(y)));
    }

    fn special(lane: &Lane, points: &mut Points) {
        let [a, b, _] = lane.s;
        let (zero, negative) = (|a: u32| a & !SIGN == 0, |a: u32| a & SIGN != 0);
        let zeros = zero(a) && zero(b) && a != b;
        let (nan_a, nan_b) = (is_nan(a), is_nan(b));
        let magnitude = f32::from_bits(a).abs();
        match lane.code {
            FADD => {
                point!("FADD a inverted", lane.flag(4));
                point!("FADD b inverted", lane.flag(5));
            }
            FMUL => point!("FMUL inverted", lane.flag(4)),
            FFMA => {
                point!("FFMA product inverted", lane.flag(4));
                point!("FFMA c inverted", lane.flag(5));
            }
            FMNMX => {
                point!("FMNMX minimum", !lane.flag(0));
                point!("FMNMX maximum", lane.flag(0));
                point!("FMNMX of a number and NaN", nan_b && !nan_a && !lane.flag(2));
                point!("FMNMX of NaN and a number", nan_a && !nan_b && !lane.flag(2));
                point!("FMNMX of a number and NaN, NaN wanted", nan_a != nan_b && lane.flag(2));
                point!("FMNMX of two NaN", nan_a && nan_b);
                point!("FMNMX of +0 and -0", zeros);
                point!("FMNMX of equals", a == b);
                point!("FMNMX of negatives", negative(a) && negative(b) && a != b && !nan_a && !nan_b);
                point!("FMNMX of a subnormal, flushed", lane.flag(1) && (is_subnormal(a) || is_subnormal(b)));
            }
            FSETP => {
                let comparison = lane.m as usize >> 7 & 15;
                // There are no 6 and 7.
                let known = comparison / 2 != 3;
                let named = if comparison < 6 { comparison } else { comparison - 2 };
                point!("FSETP {COMPARISONS[named]}", known);
                point!("FSETP: a comparison that never comes", !known);
                let combination = lane.m >> 12 & 3;
                point!("FSETP and", combination == 0);
                point!("FSETP or", combination == 1);
                point!("FSETP xor", combination == 2);
                point!("FSETP: a combination that never comes", combination == 3);
                point!("FSETP of NaN and a number", nan_a && !nan_b);
                point!("FSETP of a number and NaN", nan_b && !nan_a);
                point!("FSETP of equals", a == b && !nan_a);
                point!("FSETP of +0 and -0", zeros);
                point!("FSETP of negatives", negative(a) && negative(b) && a != b && !nan_a && !nan_b);
                point!("FSETP of different signs", (a ^ b) & SIGN != 0 && !nan_a && !nan_b);
                let flushed = lane.flag(11) && is_subnormal(a) && (is_subnormal(b) || zero(b)) && a != b;
                point!("FSETP of subnormals, flushed", flushed);
            }
            I2F => {
                point!("I2F signed, negative", lane.flag(2) && negative(a));
                point!("I2F unsigned, above 2^31", !lane.flag(2) && negative(a));
                point!("I2F of 0", a == 0);
                point!("I2F of the smallest signed number", lane.flag(2) && a == SIGN);
            }
            F2I => {
                let signed = lane.flag(3);
                point!("F2I of NaN", nan_a);
                point!("F2I of an infinity", is_infinite(a));
                point!("F2I signed, too large", signed && !negative(a) && magnitude >= 2f32.powi(31));
                point!("F2I signed, too small", signed && negative(a) && magnitude > 2f32.powi(31));
                point!("F2I unsigned, too large", !signed && !negative(a) && magnitude >= 2f32.powi(32));
                point!("F2I unsigned of a negative number", !signed && negative(a) && magnitude >= 1.0);
                point!("F2I of a subnormal, flushed, up", lane.flag(2) && lane.m & 3 == 3 && is_subnormal(a));
            }
            FRND => {
                point!("FRND of NaN", nan_a);
                point!("FRND of an infinity", is_infinite(a));
                point!("FRND of an integer of 2^23 or more", magnitude >= 2f32.powi(23) && magnitude.is_finite());
                let to_zero = lane.known.is_none() && lane.x.significand == 0;
                point!("FRND of a negative number to -0", to_zero && negative(a) && !zero(a) && !lane.mode.sat);
                point!("FRND clamped to 1", lane.mode.sat && !negative(a) && magnitude > 1.5 && magnitude.is_finite());
                point!("FRND of a subnormal, flushed, up", lane.flag(2) && lane.m & 3 == 3 && is_subnormal(a));
            }
            _ => {}
        }
    }
}

/// A lane in stage 1.
struct Lane {
    code: u8,
    m: u32,
    s: [u32; 3],
    known: Option<u32>,
    x: Finite,
    y: Finite,
    mode: Mode,
}

fn is_subnormal(a: u32) -> bool {
    a & INFINITY == 0 && a & !SIGN != 0
}

fn is_infinite(a: u32) -> bool {
    a & !SIGN == INFINITY
}

impl Lane {
    fn flag(&self, bit: u32) -> bool {
        self.m >> bit & 1 == 1
    }

    /// The value that is rounded.
    fn sum(&self) -> Finite {
        if matches!(self.code, FADD | FFMA) { sum(self.x, self.y, self.mode.rounding) } else { self.x }
    }

    /// The bits that are dropped, as [`dropped`] returns them; `None`: the value is not rounded.
    fn rounds(&self) -> Option<(bool, bool, bool)> {
        // F2I and FRND round in the first stage, in which they convert their operand to an integer.
        if matches!(self.code, F2I | FRND) {
            let a = flush(self.s[0], self.flag(2));
            let field = (a >> 23 & 0xff) as i32;
            if field == 0xff || field >= 150 {
                return None;
            }
            let significand = u64::from(a & 0x7f_ffff | if field == 0 { 0 } else { 0x80_0000 }) << 32;
            let places = (150 - field.max(1) + 32).clamp(1, 63) as u32;
            let bit = |place: u32| significand >> place & 1 == 1;
            return Some((bit(places - 1), significand & ((1 << (places - 1)) - 1) != 0, bit(places)));
        }
        self.known.is_none().then(|| dropped(self.sum()))
    }

    /// Whether the operation is invalid: its operands are no NaN, but its result is one.
    fn is_invalid(&self) -> bool {
        let [a, b, c] = self.s;
        let sign = |bit: u32| if self.flag(bit) { SIGN } else { 0 };
        let plain = Mode { sat: false, ..self.mode };
        is_nan(match self.code {
            FADD => float::add(a ^ sign(4), b ^ sign(5), plain),
            FMUL => float::mul(a ^ sign(4), b, plain),
            _ => float::fma(a ^ sign(4), b, c ^ sign(5), plain),
        })
    }
}
