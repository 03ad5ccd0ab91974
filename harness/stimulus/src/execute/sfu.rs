//! `sfu`.

use gpurf_arith::{INFINITY, ONE, SIGN};
use gpurf_blocks::LANES;
use gpurf_blocks::config::Config;
use gpurf_blocks::execute::{GROUP, Sfu, SfuIn, SfuOut, SfuProbe};
use gpurf_blocks::instruction::{Instruction, NO_REG, RolesFields, unit};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use super::own_unit;
use crate::driver::{Reset, any_instruction, lane_mask};
use crate::floats::{awkward, beside, near};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<Sfu, SfuDriver, SfuCover>();

pub(crate) struct SfuDriver {
    reset: Reset,
}

knobs! {
    pub(crate) struct SfuKnobs {
        offer: "an instruction is offered" = [50, 300, 1000],
        ready: "a result is taken" = [200, 900, 1000],
        none: "the register, or the argument, is none" = [0, 100],
        partial: "lanes are inactive" = [0, 300, 900],
        alike: "all lanes have the same argument" = [0, 200],
        awkward: "an argument is an awkward number" = [50, 400],
        flush: "subnormals are flushed" = [200, 700],
        strange: "an instruction is one that never comes" = [0, 50],
        only: "not a chance: the function of every instruction, plus 1, unless 0" = [0],
        // More often than in other blocks, since a reset can meet many states of this one.
        reset = [0, 5, 20, 60],
    }
}

/// Number of functions.
const FUNCTIONS: u64 = 7;
const RECIPROCAL: u64 = 0;
const EXP2: u64 = 3;
const LOG2: u64 = 4;
const SIN: u64 = 5;
const COS: u64 = 6;

/// An argument of a function, mostly in the range in which the function's values vary.
fn argument(rng: &mut Rng, function: u64, awkward_ones: u32) -> u32 {
    if rng.chance(awkward_ones) {
        return awkward(rng);
    }
    let any = rng.next_u64() as u32;
    match function {
        _ if rng.chance(200) => any,
        // Results that are subnormal, or too large.
        RECIPROCAL if rng.chance(300) => {
            let end = if rng.chance(500) { 0x7e80_0000 } else { 0x0020_0000 };
            any & SIGN | (end + (any & 0x0fff_ffff) % 0x0180_0000)
        }
        EXP2 => match rng.below(4) {
            // Between -150 and 129.
            0 => any & SIGN | (0x4300_0000 + (any & 0x1f_ffff)),
            1 => near(rng, 120, 10),
            2 => near(rng, 127 - 25, 3),
            _ => near(rng, 130, 5),
        },
        LOG2 => match rng.below(3) {
            0 => beside(rng, ONE, 40),
            1 => near(rng, 126, 2) & !SIGN,
            _ => any & !SIGN,
        },
        SIN | COS => match rng.below(4) {
            // Around multiples of a quarter turn, and where the small ones begin.
            0 => {
                let quarters = rng.below(64) as f32 * std::f32::consts::FRAC_PI_2;
                beside(rng, quarters.to_bits(), 3) | any & SIGN
            }
            1 => near(rng, 127 - 11, 4),
            2 => near(rng, 130, 6),
            _ => near(rng, 127, 40),
        },
        _ => near(rng, 1 + (any % 253), 2),
    }
}

impl Driver for SfuDriver {
    type In = SfuIn;
    type Knobs = SfuKnobs;

    fn new(_: &SmShape, _: &Config) -> Self {
        Self { reset: Reset::default() }
    }

    fn unreached(_: &SmShape, _: &Config) -> Vec<Unreached> {
        vec![own_unit(), Unreached::field::<Instruction>("instruction_i", "op", 0..=6, "only MUFU comes here")]
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &SfuKnobs, i: &mut SfuIn) {
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.valid_i = rng.chance(knobs.offer).into();
        i.result_ready_i = rng.chance(knobs.ready).into();
        i.src_valid_i = 0;
        if i.valid_i == 0 {
            return;
        }
        i.warp_i = rng.below(64) as u8;
        i.mask_i = lane_mask(rng, knobs.partial);
        i.src_valid_i = (!rng.chance(knobs.none)).into();
        let strange = rng.chance(knobs.strange);
        let function = match knobs.only {
            0 if strange => FUNCTIONS,
            0 => rng.below(FUNCTIONS),
            only => u64::from(only - 1) % FUNCTIONS,
        };
        let awkward_ones = knobs.awkward;
        if rng.chance(knobs.alike) {
            i.data_i.0 = [argument(rng, function, awkward_ones); LANES];
        } else {
            i.data_i.0.fill_with(|| argument(rng, function, awkward_ones));
        }
        let flush = u64::from(rng.chance(knobs.flush));
        let d = if rng.chance(knobs.none) { NO_REG } else { rng.below(NO_REG.into()) as u8 };
        // Fields that the unit does not read are random. The opcode is that of MUFU, the only one that comes here.
        let mut given = any_instruction(rng);
        given.op = given.op & !(0xf << 28) & !0x7f | 0x38 | function << 28 | flush << 31;
        given.roles = RolesFields { d, unit: unit::SFU, ..given.roles.fields() }.into();
        i.instruction_i = given.into();
    }
}

/// Rows of each function's table.
const ROWS: [u8; 7] = [128, 128, 128, 64, 128, 64, 64];

/// The exponent of a number's leading one.
fn leading(a: u32) -> i32 {
    let magnitude = a & !SIGN;
    let field = (magnitude >> 23) as i32;
    if field == 0 { -118 - magnitude.leading_zeros() as i32 } else { field - 127 }
}

pub(crate) struct SfuCover;

#[cover]
impl SfuCover {
    const FUNCTIONS: [&str; 7] =
        ["reciprocal", "reciprocal square root", "square root", "2^x", "log2", "sine", "cosine"];
    const QUARTERS: [&str; 4] = ["first", "second", "third", "fourth"];

    fn new(_: &SmShape, _: &Config) -> Self {
        Self
    }

    fn observe(&mut self, i: &SfuIn, o: &SfuOut, p: &SfuProbe, points: &mut Points) {
        let (offered, taken, reset) = (i.valid_i == 1, i.valid_i & o.ready_o == 1, i.rst_ni == 0);
        let (busy, first, second) = (p.busy_q == 1, p.valid1_q == 1, p.valid2_q == 1);
        let result = o.result_valid_o == 1;
        let waits = result && i.result_ready_i == 0;
        let stands = |beat: u8| waits && busy && p.beat_q == beat;
        let of_first = first && !waits && !reset;
        let group = (p.mask1_q >> (8 * p.beat1_q)) as u8;
        point!("taken by an idle unit", taken && !busy && !first && !second && !result);
        point!("taken after the last lanes of another one", taken && busy);
        point!("refused: lanes are left", offered && busy && p.beat_q != 3 && !waits);
        point!("refused: a result waits", offered && waits);
        point!("a result waits, nothing at hand", waits && !busy);
        point!("a result waits before the first lanes", stands(0));
        point!("a result waits before the second lanes", stands(1));
        point!("a result waits before the third lanes", stands(2));
        point!("a result waits, both stages full", waits && first && second);
        point!(
            "a result leaves as the first lanes of the next are written",
            result && !waits && second && p.beat2_q == 0
        );
        point!("a result leaves, none follows", result && !waits && !busy && !first && !second);
        point!("both stages full, of two instructions", first && second && p.beat1_q == 0 && p.beat2_q == 3);
        point!("reset with everything full", reset && busy && first && second && result);
        point!("offered in reset", reset && offered);
        point!("no destination", result && o.result_reg_valid_o == 0);
        point!("no register as argument", taken && i.src_valid_i == 0);
        point!("no active lane", result && o.result_mask_o == 0);
        point!("some active lanes", result && !matches!(o.result_mask_o, 0 | u32::MAX));
        point!("no active lane in a group", of_first && group == 0);
        point!("a function that never comes", of_first && p.function1_q == 7);
        if busy && !waits && !reset {
            Self::arguments(p, points);
        }
        if of_first {
            Self::rows(p, group, points);
        }
    }

    /// Points of the lanes that go into stage 1.
    fn arguments(p: &SfuProbe, points: &mut Points) {
        let function = usize::from(p.function_q);
        if function >= Self::FUNCTIONS.len() {
            return;
        }
        let ftz = p.ftz_q == 1;
        let lanes = GROUP * usize::from(p.beat_q)..GROUP * usize::from(p.beat_q + 1);
        let values: Vec<u32> = lanes.filter(|l| p.mask_q >> l & 1 == 1).map(|l| p.argument_q.0[l]).collect();
        if values.is_empty() {
            return;
        }
        let any = |holds: &dyn Fn(u32) -> bool| values.iter().any(|&a| holds(a));
        let subnormal = |a: u32| a & INFINITY == 0 && a & !SIGN != 0;
        let number = |a: u32| a & !SIGN < INFINITY && a & !SIGN != 0 && !(ftz && subnormal(a));
        let negative = |a: u32| a & SIGN != 0;
        point!("{FUNCTIONS[function]}", true);
        point!("{FUNCTIONS[function]}, flushing", ftz);
        point!("{FUNCTIONS[function]} of NaN", any(&|a| a & !SIGN > INFINITY));
        point!("{FUNCTIONS[function]} of infinity", any(&|a| a == INFINITY));
        point!("{FUNCTIONS[function]} of -infinity", any(&|a| a == INFINITY | SIGN));
        point!("{FUNCTIONS[function]} of 0", any(&|a| a == 0));
        point!("{FUNCTIONS[function]} of -0", any(&|a| a == SIGN));
        point!("{FUNCTIONS[function]} of a negative number", any(&|a| number(a) && negative(a)));
        point!("{FUNCTIONS[function]} of a subnormal number", any(&|a| subnormal(a)) && !ftz);
        point!("{FUNCTIONS[function]} of a subnormal number, flushed", any(&|a| subnormal(a)) && ftz);

        let is = |wanted: u64| function as u64 == wanted;
        let value = |a: u32| f64::from(f32::from_bits(a));
        let quarter = |a: u32| {
            let turns = value(a).abs() / std::f64::consts::FRAC_PI_2;
            (number(a) && turns > 0.01 && turns < 1000.0 && turns.fract() > 0.01).then_some(turns as usize % 4)
        };
        for wanted in 0..4 {
            let reached = any(&|a| quarter(a) == Some(wanted));
            point!("sine, {QUARTERS[wanted]} quarter", is(SIN) && reached);
            point!("cosine, {QUARTERS[wanted]} quarter", is(COS) && reached);
        }
        let smallest = f64::from(f32::MIN_POSITIVE);
        let reciprocal = |a: u32| 1.0 / value(a).abs();
        let within = |a: u32, low: f64, high: f64| number(a) && value(a) > low && value(a) < high;
        point!(
            "reciprocal, subnormal result",
            is(RECIPROCAL) && !ftz && any(&|a| number(a) && reciprocal(a) < smallest)
        );
        point!("reciprocal, result flushed", is(RECIPROCAL) && ftz && any(&|a| number(a) && reciprocal(a) < smallest));
        point!("reciprocal, too large", is(RECIPROCAL) && any(&|a| number(a) && reciprocal(a) > f64::from(f32::MAX)));
        point!("2^x, subnormal result", is(EXP2) && !ftz && any(&|a| within(a, -149.0, -126.5)));
        point!("2^x, result flushed", is(EXP2) && ftz && any(&|a| within(a, -149.0, -126.5)));
        point!("2^x, too large", is(EXP2) && any(&|a| within(a, 128.0, 256.0)));
        point!("2^x, too small", is(EXP2) && any(&|a| within(a, -256.0, -151.0)));
        point!("2^x, cut off, positive", is(EXP2) && any(&|a| number(a) && !negative(a) && leading(a) >= 8));
        point!("2^x, cut off, negative", is(EXP2) && any(&|a| number(a) && negative(a) && leading(a) >= 8));
        point!("2^x of a number near 0", is(EXP2) && any(&|a| number(a) && !negative(a) && leading(a) < -20));
        point!("2^x of a negative number near 0", is(EXP2) && any(&|a| number(a) && negative(a) && leading(a) < -20));
        point!("log2, negative", is(LOG2) && any(&|a| within(a, 0.0, 1.0)));
        point!("log2 of 1", is(LOG2) && any(&|a| a == ONE));
        point!("log2 beside 1", is(LOG2) && any(&|a| (0x3f7f_fff0..0x3f80_0010).contains(&a) && a != ONE));
        point!("sine of a small angle", is(SIN) && any(&|a| number(a) && leading(a) < -9));
        point!("cosine of a small angle", is(COS) && any(&|a| number(a) && leading(a) < -13));
        point!("sine of a huge angle", is(SIN) && any(&|a| number(a) && leading(a) > 57));
    }

    /// Points of the group in stage 1; `group` are those of its lanes that take part.
    fn rows(p: &SfuProbe, group: u8, points: &mut Points) {
        let function = usize::from(p.function1_q);
        if function >= Self::FUNCTIONS.len() {
            return;
        }
        let looked_up = group & !p.final1_q & !p.direct1_q;
        let any = |row: u8| (0..GROUP).any(|k| looked_up >> k & 1 == 1 && p.row1_q[k] == row);
        point!("{FUNCTIONS[function]}, first row", any(0));
        point!("{FUNCTIONS[function]}, last row", any(ROWS[function] - 1));
    }
}
