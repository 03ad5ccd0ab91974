//! What a run of `fp_unit` reached.

use gpurf_arith::float::{self, Finite, flush, is_nan, round, sum};
use gpurf_arith::{INFINITY, Mode, Rounding, SIGN};
use gpurf_blocks::LANES;
use gpurf_blocks::execute::{FpUnitIn, FpUnitOut, FpUnitProbe};
use gpurf_blocks::instruction::{NO_PRED, NO_REG, Roles, constant, modifiers, opcode};
use gpurf_blocks::shape::SmShape;

use super::points::{ADDED, ARITHMETIC, COMPARISONS, GENERAL, NEVER, ROUNDED, SPECIAL};
use super::{F2I, FADD, FFMA, FMNMX, FMUL, FRND, FSETP, I2F};
use crate::Cover;

pub(crate) struct FpUnitCover {
    /// What was taken in the cycle before: it is in stage 1 now.
    taken: Option<Box<FpUnitIn>>,
}

/// The bits of a value behind the last place of its result: the first of them, whether any later one is set; and the last place.
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

impl Cover for FpUnitCover {
    type In = FpUnitIn;
    type Out = FpUnitOut;
    type Probe = FpUnitProbe;

    fn points(_: &SmShape) -> Vec<&'static str> {
        let mut points: Vec<&'static str> = Vec::new();
        points.extend(GENERAL);
        points.extend(SPECIAL);
        points.extend(COMPARISONS.iter().filter(|name| !name.is_empty()));
        points.extend(ROUNDED.iter().flatten());
        points.extend(ARITHMETIC.iter().flatten().filter(|name| !NEVER.contains(name)));
        points.extend(ADDED.iter().flatten());
        points
    }

    fn new(_: &SmShape) -> Self {
        Self { taken: None }
    }

    fn observe(&mut self, i: &FpUnitIn, o: &FpUnitOut, p: &FpUnitProbe, hit: &mut dyn FnMut(&'static str)) {
        let (offered, taken, reset) = (i.valid_i == 1, i.valid_i & o.ready_o == 1, i.rst_ni == 0);
        let (first, second, third) = (p.valid1_q == 1, p.valid2_q == 1, o.result_valid_o == 1);
        let waits = third && i.result_ready_i == 0;
        let (reg, pred) = (o.result_reg_valid_o == 1, o.result_pred_valid_o == 1);
        let (roles, code) = (Roles(i.roles_i), opcode(i.op_i));
        let known = (FADD..=FRND).contains(&code);
        let no_source = |k: usize| offered && known && i.src_valid_i >> k & 1 == 0;
        let others = if code == FSETP { roles.d() != NO_REG } else { roles.p() != NO_PRED };
        let general = [
            first && second && third,
            first && second && waits && offered,
            first && second && waits && !offered,
            waits && second && !first,
            waits && first && !second,
            second && !third,
            waits && taken,
            third && !waits && taken,
            !first && !second && !third && taken,
            third && !waits && !first && !second && !taken,
            reset && first && second && third,
            reset && offered,
            third && !reg && !pred,
            reg && !pred,
            !reg && pred,
            reg && pred,
            third && o.result_mask_o == 0,
            third && !matches!(o.result_mask_o, 0 | u32::MAX),
            offered && roles.b_constant() == 1,
            no_source(1) && code < I2F && roles.b_constant() == 0,
            no_source(0),
            no_source(2) && code == FFMA,
            taken && !known,
            taken && known && others,
        ];
        GENERAL.into_iter().zip(general).filter(|p| p.1).for_each(|p| hit(p.0));
        if let Some(given) = self.taken.take().filter(|_| first) {
            values(&given, p, hit);
        }
        if taken && !reset {
            self.taken = Some(Box::new(*i));
        }
    }
}

/// Points of the instruction in stage 1, which was taken with these inputs.
fn values(i: &FpUnitIn, p: &FpUnitProbe, hit: &mut dyn FnMut(&'static str)) {
    let (code, m) = (opcode(i.op_i), modifiers(i.op_i, i.ctl_i));
    let b_constant = Roles(i.roles_i).b_constant() == 1;
    let operand = |k: usize, l: usize| match i.src_valid_i >> k & 1 {
        1 => i.data_i[k].0[l],
        _ if k == 1 && b_constant => constant(i.op_i),
        _ => 0,
    };
    let negative = |mask: u32, l: usize| mask >> l & 1 == 1;
    let exponent = |bits: u16| i32::from((bits << 6) as i16 >> 6);
    let mode = Mode { rounding: Rounding::ALL[usize::from(p.rounding1_q)], ftz: p.ftz1_q == 1, sat: p.sat1_q == 1 };
    // One hit for all lanes: a point that only one lane reaches counts as much.
    let mut reached: Vec<&'static str> = Vec::new();
    let mut point = |name: &'static str, holds: bool| {
        if holds && !reached.iter().any(|known| std::ptr::eq(*known, name)) {
            reached.push(name);
        }
    };
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
        lane.special(&mut point);
        let place = match code {
            FADD => 0,
            FMUL => 1,
            FFMA => 2,
            I2F => 3,
            F2I | FRND => 4,
            _ => continue,
        };
        lane.rounded(&ROUNDED[place], &mut point);
        if let Some(names) = ARITHMETIC.get(place) {
            lane.arithmetic(names, &mut point);
        }
        match code {
            FADD => lane.added(&ADDED[0], &mut point),
            FFMA => lane.added(&ADDED[1], &mut point),
            _ => {}
        }
    }
    reached.into_iter().for_each(hit);
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

type Point<'a> = dyn FnMut(&'static str, bool) + 'a;

impl Lane {
    fn flag(&self, bit: u32) -> bool {
        self.m >> bit & 1 == 1
    }

    /// The value that stage 3 rounds.
    fn sum(&self) -> Finite {
        if matches!(self.code, FADD | FFMA) { sum(self.x, self.y, self.mode.rounding) } else { self.x }
    }

    /// What is dropped, and the sign.
    fn rounds(&self) -> Option<(bool, bool, bool)> {
        // F2I and FRND round in the first stage: their operand, on its way to an integer.
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

    fn rounded(&self, names: &[&'static str; 12], point: &mut Point<'_>) {
        let rounding = self.m as usize & 3;
        point(names[rounding], true);
        let Some((half, rest, odd)) = self.rounds() else { return };
        let nearest = rounding == 0;
        point(names[4], !half && !rest);
        point(names[5], nearest && !half && rest);
        point(names[6], nearest && half && !rest && !odd);
        point(names[7], nearest && half && !rest && odd);
        point(names[8], nearest && half && rest);
        for way in 1..4 {
            point(names[8 + way], rounding == way && (half || rest));
        }
    }

    fn arithmetic(&self, names: &[&'static str; 18], point: &mut Point<'_>) {
        let Self { mode, .. } = *self;
        let operands = &self.s[..if self.code == FFMA { 3 } else { 2 }];
        let any = |holds: fn(u32) -> bool| operands.iter().any(|&a| holds(a));
        let nan = any(is_nan);
        let plain = Mode { sat: false, ..mode };
        let (kept, result) = match self.known {
            Some(value) => (value, value),
            None => (round(self.sum(), plain), round(self.sum(), mode)),
        };
        let invalid =
            !nan && self.known.is_some() && (is_nan(kept) || mode.sat && any(is_infinite) && self.is_invalid());
        point(names[0], mode.ftz);
        point(names[1], mode.sat);
        point(names[2], nan);
        point(names[3], !nan && any(is_infinite) && !invalid);
        point(names[4], invalid);
        point(names[5], !mode.ftz && any(is_subnormal));
        point(names[6], mode.ftz && any(is_subnormal));
        point(names[16], mode.sat && nan);
        point(names[17], mode.sat && self.known.is_some() && result == gpurf_arith::ONE);
        if self.known.is_some() {
            return;
        }
        let value = self.sum();
        let (half, rest, _) = dropped(value);
        let unflushed = round(value, Mode { ftz: false, ..plain });
        let leading = value.exponent + 63 - value.significand.leading_zeros() as i32;
        point(names[7], value.significand == 0);
        point(names[8], is_subnormal(kept));
        point(names[9], is_subnormal(kept) && (half || rest));
        point(names[10], value.significand != 0 && unflushed & !SIGN == 0x80_0000 && leading < -126);
        point(names[11], mode.ftz && is_subnormal(unflushed));
        point(names[12], is_infinite(kept));
        point(names[13], kept & !SIGN == INFINITY - 1 && leading > 127);
        point(names[14], mode.sat && kept & SIGN != 0);
        point(names[15], mode.sat && kept > gpurf_arith::ONE && kept & SIGN == 0);
    }

    /// Whether infinities meet as they must not.
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

    fn added(&self, names: &[&'static str; 12], point: &mut Point<'_>) {
        if self.known.is_some() {
            return;
        }
        let (x, y, sum) = (self.x, self.y, self.sum());
        let (opposite, zeros) = (x.negative != y.negative, (x.significand == 0, y.significand == 0));
        point(names[3], zeros == (true, true) && !opposite);
        point(names[4], zeros == (true, true) && opposite);
        point(names[5], zeros == (true, false));
        point(names[6], zeros == (false, true));
        if zeros != (false, false) {
            return;
        }
        let top = |value: Finite| value.exponent + 63 - value.significand.leading_zeros() as i32;
        let difference = top(x) - top(y);
        let down = self.mode.rounding == Rounding::Down;
        point(names[0], sum.significand == 0 && !down);
        point(names[1], sum.significand == 0 && down);
        point(names[2], sum.significand != 0 && top(sum) < top(x) - 12 && top(sum) < top(y) - 12);
        point(names[7], difference < 0);
        point(names[8], difference == 0 && opposite && sum.negative == y.negative && sum.significand != 0);
        point(names[9], difference.abs() >= 64);
        point(names[10], (40..64).contains(&difference.abs()));
        point(names[11], !opposite && top(sum) > top(x).max(top(y)));
    }

    fn special(&self, point: &mut Point<'_>) {
        let [a, b, _] = self.s;
        let (zero, negative) = (|a: u32| a & !SIGN == 0, |a: u32| a & SIGN != 0);
        let zeros = zero(a) && zero(b) && a != b;
        let (nan_a, nan_b) = (is_nan(a), is_nan(b));
        let magnitude = f32::from_bits(a).abs();
        match self.code {
            FADD => {
                point("FADD a inverted", self.flag(4));
                point("FADD b inverted", self.flag(5));
            }
            FMUL => point("FMUL inverted", self.flag(4)),
            FFMA => {
                point("FFMA product inverted", self.flag(4));
                point("FFMA c inverted", self.flag(5));
            }
            FMNMX => {
                point("FMNMX minimum", !self.flag(0));
                point("FMNMX maximum", self.flag(0));
                point("FMNMX of a number and NaN", nan_b && !nan_a && !self.flag(2));
                point("FMNMX of NaN and a number", nan_a && !nan_b && !self.flag(2));
                point("FMNMX of a number and NaN, NaN wanted", nan_a != nan_b && self.flag(2));
                point("FMNMX of two NaN", nan_a && nan_b);
                point("FMNMX of +0 and -0", zeros);
                point("FMNMX of equals", a == b);
                point("FMNMX of negatives", negative(a) && negative(b) && a != b && !nan_a && !nan_b);
                point("FMNMX of a subnormal, flushed", self.flag(1) && (is_subnormal(a) || is_subnormal(b)));
            }
            FSETP => {
                let comparison = COMPARISONS[self.m as usize >> 7 & 15];
                point(comparison, !comparison.is_empty());
                point("FSETP: a comparison that never comes", comparison.is_empty());
                let combinations = ["FSETP and", "FSETP or", "FSETP xor", "FSETP: a combination that never comes"];
                point(combinations[self.m as usize >> 12 & 3], true);
                point("FSETP of NaN and a number", nan_a && !nan_b);
                point("FSETP of a number and NaN", nan_b && !nan_a);
                point("FSETP of equals", a == b && !nan_a);
                point("FSETP of +0 and -0", zeros);
                point("FSETP of negatives", negative(a) && negative(b) && a != b && !nan_a && !nan_b);
                point("FSETP of different signs", (a ^ b) & SIGN != 0 && !nan_a && !nan_b);
                let flushed = self.flag(11) && is_subnormal(a) && (is_subnormal(b) || zero(b)) && a != b;
                point("FSETP of subnormals, flushed", flushed);
            }
            I2F => {
                point("I2F signed, negative", self.flag(2) && negative(a));
                point("I2F unsigned, above 2^31", !self.flag(2) && negative(a));
                point("I2F of 0", a == 0);
                point("I2F of the smallest signed number", self.flag(2) && a == SIGN);
            }
            F2I => {
                let signed = self.flag(3);
                point("F2I of NaN", nan_a);
                point("F2I of an infinity", is_infinite(a));
                point("F2I signed, too large", signed && !negative(a) && magnitude >= 2f32.powi(31));
                point("F2I signed, too small", signed && negative(a) && magnitude > 2f32.powi(31));
                point("F2I unsigned, too large", !signed && !negative(a) && magnitude >= 2f32.powi(32));
                point("F2I unsigned of a negative number", !signed && negative(a) && magnitude >= 1.0);
                point("F2I of a subnormal, flushed, up", self.flag(2) && self.m & 3 == 3 && is_subnormal(a));
            }
            FRND => {
                point("FRND of NaN", nan_a);
                point("FRND of an infinity", is_infinite(a));
                point("FRND of an integer of 2^23 or more", magnitude >= 2f32.powi(23) && magnitude.is_finite());
                let to_zero = self.known.is_none() && self.x.significand == 0;
                point("FRND of a negative number to -0", to_zero && negative(a) && !zero(a) && !self.mode.sat);
                point("FRND clamped to 1", self.mode.sat && !negative(a) && magnitude > 1.5 && magnitude.is_finite());
                point("FRND of a subnormal, flushed, up", self.flag(2) && self.m & 3 == 3 && is_subnormal(a));
            }
            _ => {}
        }
    }
}
