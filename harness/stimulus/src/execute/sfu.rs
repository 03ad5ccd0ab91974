//! `sfu`.

use gpurf_arith::{INFINITY, ONE, SIGN};
use gpurf_blocks::LANES;
use gpurf_blocks::config::Config;
use gpurf_blocks::execute::{GROUP, SfuIn, SfuOut, SfuProbe};
use gpurf_blocks::instruction::{NO_REG, unit};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use super::own_unit;
use crate::driver::{RESET, Reset, lane_mask};
use crate::floats::{awkward, beside, near};
use crate::{Cover, Driver, Knob, Knobs, Unreached};

pub(crate) struct SfuDriver {
    reset: Reset,
}

const OFFER: usize = 0;
const READY: usize = 1;
const NONE: usize = 2;
const PARTIAL: usize = 3;
const ALIKE: usize = 4;
const AWKWARD: usize = 5;
const FLUSH: usize = 6;
const STRANGE: usize = 7;
const ONLY: usize = 8;

/// Functions that there are.
const FUNCTIONS: u64 = 7;
const RECIPROCAL: u64 = 0;
const EXP2: u64 = 3;
const LOG2: u64 = 4;
const SIN: u64 = 5;
const COS: u64 = 6;

/// An argument of a function: where it has its values.
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
    const KNOBS: &'static [Knob] = &[
        Knob { name: "offer", doc: "an instruction is offered", values: &[50, 300, 1000] },
        Knob { name: "ready", doc: "a result is taken", values: &[200, 900, 1000] },
        Knob { name: "none", doc: "the register, or the argument, is none", values: &[0, 100] },
        Knob { name: "partial", doc: "lanes are inactive", values: &[0, 300, 900] },
        Knob { name: "alike", doc: "all lanes have the same argument", values: &[0, 200] },
        Knob { name: "awkward", doc: "an argument is an awkward number", values: &[50, 400] },
        Knob { name: "flush", doc: "subnormals are flushed", values: &[200, 700] },
        Knob { name: "strange", doc: "an instruction is one that never comes", values: &[0, 50] },
        Knob { name: "only", doc: "not a chance: the function of every instruction, plus 1, unless 0", values: &[0] },
        // More often than in others: there is much to be caught in it.
        Knob { values: &[0, 5, 20, 60], ..RESET },
    ];

    fn new(_: &SmShape, _: &Config) -> Self {
        Self { reset: Reset::default() }
    }

    fn unreached(_: &SmShape, _: &Config) -> Vec<Unreached> {
        vec![own_unit(), Unreached::bits("op_i", 0..=6, "only MUFU comes here")]
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut SfuIn) {
        i.rst_ni = self.reset.next(rng, knobs.get(9));
        i.valid_i = rng.chance(knobs.get(OFFER)).into();
        i.result_ready_i = rng.chance(knobs.get(READY)).into();
        i.src_valid_i = 0;
        if i.valid_i == 0 {
            return;
        }
        i.warp_i = rng.below(64) as u8;
        i.mask_i = lane_mask(rng, knobs.get(PARTIAL));
        i.src_valid_i = (!rng.chance(knobs.get(NONE))).into();
        let strange = rng.chance(knobs.get(STRANGE));
        let function = match knobs.get(ONLY) {
            0 if strange => FUNCTIONS,
            0 => rng.below(FUNCTIONS),
            only => u64::from(only - 1) % FUNCTIONS,
        };
        let awkward_ones = knobs.get(AWKWARD);
        if rng.chance(knobs.get(ALIKE)) {
            i.data_i.0 = [argument(rng, function, awkward_ones); LANES];
        } else {
            i.data_i.0.fill_with(|| argument(rng, function, awkward_ones));
        }
        let flush = u64::from(rng.chance(knobs.get(FLUSH)));
        let d = if rng.chance(knobs.get(NONE)) { NO_REG } else { rng.below(NO_REG.into()) as u8 };
        // What the unit does not look at is anything; the opcode too: only one comes.
        i.op_i = rng.next_u64() & !(0xf << 28) & !0x7f | 0x38 | function << 28 | flush << 31;
        i.ctl_i = rng.next_u64();
        i.roles_i = rng.below(1 << 24) | u64::from(d) << 24 | rng.below(1 << 17) << 32 | u64::from(unit::SFU) << 49;
    }
}

/// Points of a function.
macro_rules! function {
    ($name:literal) => {
        [
            $name,
            concat!($name, ", flushing"),
            concat!($name, " of NaN"),
            concat!($name, " of infinity"),
            concat!($name, " of -infinity"),
            concat!($name, " of 0"),
            concat!($name, " of -0"),
            concat!($name, " of a negative number"),
            concat!($name, " of a subnormal number"),
            concat!($name, " of a subnormal number, flushed"),
            concat!($name, ", first row"),
            concat!($name, ", last row"),
        ]
    };
}

const OF_FUNCTION: [[&str; 12]; 7] = [
    function!("reciprocal"),
    function!("reciprocal square root"),
    function!("square root"),
    function!("2^x"),
    function!("log2"),
    function!("sine"),
    function!("cosine"),
];

/// Rows of each function's table.
const ROWS: [u8; 7] = [128, 128, 128, 64, 128, 64, 64];

const SINE: [&str; 4] = ["sine, first quarter", "sine, second quarter", "sine, third quarter", "sine, fourth quarter"];
const COSINE: [&str; 4] =
    ["cosine, first quarter", "cosine, second quarter", "cosine, third quarter", "cosine, fourth quarter"];

const GENERAL: [&str; 20] = [
    "taken by an idle unit",
    "taken behind the last lanes of another one",
    "refused: lanes are left",
    "refused: a result waits",
    "a result waits, nothing at hand",
    "a result waits before the first lanes",
    "a result waits before the second lanes",
    "a result waits before the third lanes",
    "a result waits, both stages full",
    "a result leaves as the first lanes of the next are written",
    "a result leaves, nothing behind it",
    "both stages full, of two instructions",
    "reset with everything full",
    "offered in reset",
    "no destination",
    "no register as argument",
    "no active lane",
    "some active lanes",
    "no active lane in a group",
    "a function that never comes",
];

const SPECIAL: [&str; 17] = [
    "reciprocal, subnormal result",
    "reciprocal, too large",
    "reciprocal, result flushed",
    "2^x, subnormal result",
    "2^x, result flushed",
    "2^x, too large",
    "2^x, too small",
    "2^x, cut off, positive",
    "2^x, cut off, negative",
    "2^x of a number near 0",
    "2^x of a negative number near 0",
    "log2, negative",
    "log2 of 1",
    "log2 beside 1",
    "sine of a small angle",
    "cosine of a small angle",
    "sine of a huge angle",
];

/// The exponent of a number's leading one.
fn leading(a: u32) -> i32 {
    let magnitude = a & !SIGN;
    let field = (magnitude >> 23) as i32;
    if field == 0 { -118 - magnitude.leading_zeros() as i32 } else { field - 127 }
}

pub(crate) struct SfuCover;

impl Cover for SfuCover {
    type In = SfuIn;
    type Out = SfuOut;
    type Probe = SfuProbe;

    fn points(_: &SmShape) -> Vec<&'static str> {
        let mut points: Vec<&'static str> = OF_FUNCTION.as_flattened().to_vec();
        points.extend(SINE);
        points.extend(COSINE);
        points.extend(GENERAL);
        points.extend(SPECIAL);
        points
    }

    fn new(_: &SmShape) -> Self {
        Self
    }

    fn observe(&mut self, i: &SfuIn, o: &SfuOut, p: &SfuProbe, hit: &mut dyn FnMut(&'static str)) {
        let (offered, taken, reset) = (i.valid_i == 1, i.valid_i & o.ready_o == 1, i.rst_ni == 0);
        let (busy, first, second) = (p.busy_q == 1, p.valid1_q == 1, p.valid2_q == 1);
        let result = o.result_valid_o == 1;
        let waits = result && i.result_ready_i == 0;
        let stands = |beat: u8| waits && busy && p.beat_q == beat;
        let of_first = first && !waits && !reset;
        let group = (p.mask1_q >> (8 * p.beat1_q)) as u8;
        let general = [
            taken && !busy && !first && !second && !result,
            taken && busy,
            offered && busy && p.beat_q != 3 && !waits,
            offered && waits,
            waits && !busy,
            stands(0),
            stands(1),
            stands(2),
            waits && first && second,
            result && !waits && second && p.beat2_q == 0,
            result && !waits && !busy && !first && !second,
            first && second && p.beat1_q == 0 && p.beat2_q == 3,
            reset && busy && first && second && result,
            reset && offered,
            result && o.result_reg_valid_o == 0,
            taken && i.src_valid_i == 0,
            result && o.result_mask_o == 0,
            result && !matches!(o.result_mask_o, 0 | u32::MAX),
            of_first && group == 0,
            of_first && p.function1_q == 7,
        ];
        GENERAL.into_iter().zip(general).filter(|p| p.1).for_each(|p| hit(p.0));
        if busy && !waits && !reset {
            arguments(p, hit);
        }
        if of_first {
            rows(p, group, hit);
        }
    }
}

/// Points of the lanes that go into stage 1.
fn arguments(p: &SfuProbe, hit: &mut dyn FnMut(&'static str)) {
    let function = usize::from(p.function_q);
    let Some(names) = OF_FUNCTION.get(function) else { return };
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
    let of = [
        true,
        ftz,
        any(&|a| a & !SIGN > INFINITY),
        any(&|a| a == INFINITY),
        any(&|a| a == INFINITY | SIGN),
        any(&|a| a == 0),
        any(&|a| a == SIGN),
        any(&|a| number(a) && negative(a)),
        any(&|a| subnormal(a)) && !ftz,
        any(&|a| subnormal(a)) && ftz,
    ];
    names.iter().zip(of).filter(|p| p.1).for_each(|p| hit(p.0));

    let is = |wanted: u64| function as u64 == wanted;
    let value = |a: u32| f64::from(f32::from_bits(a));
    let quarter = |a: u32| {
        let turns = value(a).abs() / std::f64::consts::FRAC_PI_2;
        (number(a) && turns > 0.01 && turns < 1000.0 && turns.fract() > 0.01).then_some(turns as usize % 4)
    };
    for (name, wanted) in SINE.into_iter().zip(0..4) {
        if is(SIN) && any(&|a| quarter(a) == Some(wanted)) {
            hit(name);
        }
    }
    for (name, wanted) in COSINE.into_iter().zip(0..4) {
        if is(COS) && any(&|a| quarter(a) == Some(wanted)) {
            hit(name);
        }
    }
    let smallest = f64::from(f32::MIN_POSITIVE);
    let reciprocal = |a: u32| 1.0 / value(a).abs();
    let within = |a: u32, low: f64, high: f64| number(a) && value(a) > low && value(a) < high;
    let points = [
        ("reciprocal, subnormal result", is(RECIPROCAL) && !ftz && any(&|a| number(a) && reciprocal(a) < smallest)),
        ("reciprocal, result flushed", is(RECIPROCAL) && ftz && any(&|a| number(a) && reciprocal(a) < smallest)),
        ("reciprocal, too large", is(RECIPROCAL) && any(&|a| number(a) && reciprocal(a) > f64::from(f32::MAX))),
        ("2^x, subnormal result", is(EXP2) && !ftz && any(&|a| within(a, -149.0, -126.5))),
        ("2^x, result flushed", is(EXP2) && ftz && any(&|a| within(a, -149.0, -126.5))),
        ("2^x, too large", is(EXP2) && any(&|a| within(a, 128.0, 256.0))),
        ("2^x, too small", is(EXP2) && any(&|a| within(a, -256.0, -151.0))),
        ("2^x, cut off, positive", is(EXP2) && any(&|a| number(a) && !negative(a) && leading(a) >= 8)),
        ("2^x, cut off, negative", is(EXP2) && any(&|a| number(a) && negative(a) && leading(a) >= 8)),
        ("2^x of a number near 0", is(EXP2) && any(&|a| number(a) && !negative(a) && leading(a) < -20)),
        ("2^x of a negative number near 0", is(EXP2) && any(&|a| number(a) && negative(a) && leading(a) < -20)),
        ("log2, negative", is(LOG2) && any(&|a| within(a, 0.0, 1.0))),
        ("log2 of 1", is(LOG2) && any(&|a| a == ONE)),
        ("log2 beside 1", is(LOG2) && any(&|a| (0x3f7f_fff0..0x3f80_0010).contains(&a) && a != ONE)),
        ("sine of a small angle", is(SIN) && any(&|a| number(a) && leading(a) < -9)),
        ("cosine of a small angle", is(COS) && any(&|a| number(a) && leading(a) < -13)),
        ("sine of a huge angle", is(SIN) && any(&|a| number(a) && leading(a) > 57)),
    ];
    points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
}

/// Points of the group in stage 1, of which these elements take part.
fn rows(p: &SfuProbe, group: u8, hit: &mut dyn FnMut(&'static str)) {
    let function = usize::from(p.function1_q);
    let Some(names) = OF_FUNCTION.get(function) else { return };
    let looked_up = group & !p.final1_q & !p.direct1_q;
    let any = |row: u8| (0..GROUP).any(|k| looked_up >> k & 1 == 1 && p.row1_q[k] == row);
    if any(0) {
        hit(names[10]);
    }
    if any(ROWS[function] - 1) {
        hit(names[11]);
    }
}
