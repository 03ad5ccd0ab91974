//! `fp_unit`.

mod cover;
mod operands;
mod points;

use gpurf_blocks::config::Config;
use gpurf_blocks::execute::FpUnitIn;
use gpurf_blocks::instruction::{NO_PRED, NO_REG, unit};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

pub(crate) use cover::FpUnitCover;

use super::own_unit;
use crate::driver::{RESET, Reset, lane_mask};
use crate::{Driver, Knob, Knobs, Unaliased, Unreached};

pub(crate) struct FpUnitDriver {
    reset: Reset,
}

const OFFER: usize = 0;
const READY: usize = 1;
const NONE: usize = 2;
const CONSTANT: usize = 3;
const PARTIAL: usize = 4;
const ALIKE: usize = 5;
const AWKWARD: usize = 6;
const MEETING: usize = 7;
const USUAL: usize = 8;
const STRANGE: usize = 9;
const ONLY: usize = 10;

/// An operation of the unit.
pub(crate) struct Row {
    pub(crate) opcode: u8,
    /// Sources: a, a and b, or all three.
    sources: usize,
    /// It writes a predicate instead of a register.
    compares: bool,
    /// Bits of the modifiers that mean something, besides those of a comparison.
    modifiers: u32,
    /// Those of them that say how it rounds, flushes and clamps.
    mode: u32,
}

const fn row(opcode: u8, sources: usize, modifiers: u32, mode: u32) -> Row {
    Row { opcode, sources, compares: false, modifiers, mode }
}

const FADD: u8 = 0x30;
const FMUL: u8 = 0x31;
const FFMA: u8 = 0x32;
const FMNMX: u8 = 0x33;
const FSETP: u8 = 0x34;
const I2F: u8 = 0x35;
const F2I: u8 = 0x36;
const FRND: u8 = 0x37;

const OPERATIONS: [Row; 8] = [
    row(FADD, 2, 0x3f, 0xf),
    row(FMUL, 2, 0x1f, 0xf),
    row(FFMA, 3, 0x3f, 0xf),
    row(FMNMX, 2, 0x7, 0),
    Row { compares: true, ..row(FSETP, 2, 1 << 11, 0) },
    row(I2F, 1, 0x7, 0x3),
    row(F2I, 1, 0xf, 0),
    row(FRND, 1, 0xf, 0xf),
];

/// Comparisons that there are.
const COMPARISONS: [u32; 14] = [0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];

impl Driver for FpUnitDriver {
    type In = FpUnitIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "offer", doc: "an instruction is offered", values: &[100, 800, 1000] },
        Knob { name: "ready", doc: "a result is taken", values: &[200, 900, 1000, 1000] },
        Knob { name: "none", doc: "a register or predicate is none", values: &[0, 200] },
        Knob { name: "constant", doc: "b is the constant", values: &[0, 400] },
        Knob { name: "partial", doc: "lanes are inactive", values: &[0, 300, 900] },
        Knob { name: "alike", doc: "all lanes have the same operand", values: &[0, 200] },
        Knob { name: "awkward", doc: "an operand's numbers are awkward ones", values: &[200, 500] },
        Knob {
            name: "meeting",
            doc: "operands cancel, or their result is just between two values",
            values: &[300, 900],
        },
        Knob { name: "usual", doc: "results are rounded to nearest even, subnormals kept", values: &[0, 200] },
        Knob { name: "strange", doc: "an instruction is one that never comes", values: &[0, 200] },
        Knob { name: "only", doc: "not a chance: the opcode of every instruction, unless 0", values: &[0] },
        RESET,
    ];

    fn new(_: &SmShape, _: &Config) -> Self {
        Self { reset: Reset::default() }
    }

    fn unreached(_: &SmShape, _: &Config) -> Vec<Unreached> {
        vec![own_unit()]
    }

    fn unaliased(_: &SmShape, _: &Config) -> Vec<Unaliased> {
        vec![Unaliased::bits("x != y", 0..=30, "two infinities differ in their signs only")]
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut FpUnitIn) {
        i.rst_ni = self.reset.next(rng, knobs.get(11));
        i.valid_i = rng.chance(knobs.get(OFFER)).into();
        i.result_ready_i = rng.chance(knobs.get(READY)).into();
        i.src_valid_i = 0;
        if i.valid_i == 0 {
            return;
        }
        let only = OPERATIONS.iter().find(|row| u32::from(row.opcode) == knobs.get(ONLY));
        let operation = only.unwrap_or_else(|| &OPERATIONS[rng.below(8) as usize]);
        let there = |rng: &mut Rng, has: bool| has && !rng.chance(knobs.get(NONE));
        i.warp_i = rng.below(64) as u8;
        i.mask_i = lane_mask(rng, knobs.get(PARTIAL));
        i.s_i = rng.next_u64() as u32;

        // What there is not: the page says what it gives.
        let strange = rng.chance(knobs.get(STRANGE));
        let opcode = if strange && rng.chance(300) { rng.below(1 << 7) as u8 } else { operation.opcode };
        let m = match rng.below(4) {
            _ if !strange => modifiers(rng, knobs, operation),
            // The comparisons and the combination that there are not, if it compares.
            0 => 6 << 7 | rng.below(1 << 8) as u32,
            1 => 3 << 12 | rng.below(1 << 12) as u32,
            _ => rng.below(1 << 16) as u32,
        };

        let b_is_constant = operation.sources > 1 && rng.chance(knobs.get(CONSTANT));
        for k in 0..operation.sources {
            if there(rng, k != 1 || !b_is_constant) {
                i.src_valid_i |= 1 << k;
            }
        }
        let constant = operands::fill(rng, knobs, operation, m, i);
        let d = if there(rng, !operation.compares || strange) { rng.below(NO_REG.into()) as u8 } else { NO_REG };
        let p = if there(rng, operation.compares || strange) { rng.below(NO_PRED.into()) as u8 } else { NO_PRED };
        // Fields of the words that say what the roles say are anything: the unit reads the roles.
        i.op_i = u64::from(opcode) | rng.below(1 << 21) << 7 | u64::from(m & 0xf) << 28 | u64::from(constant) << 32;
        i.ctl_i = rng.next_u64() & !0xfff00 | u64::from(m >> 4) << 8;
        i.roles_i = rng.below(1 << 24)
            | u64::from(d) << 24
            | rng.below(1 << 13) << 32
            | u64::from(p) << 45
            | u64::from(b_is_constant) << 48
            | u64::from(unit::FP) << 49;
    }
}

/// Modifiers that the operation has; what it does not look at is anything.
fn modifiers(rng: &mut Rng, knobs: &Knobs, operation: &Row) -> u32 {
    let mut m = rng.below(1 << 16) as u32;
    if operation.compares {
        let comparison = COMPARISONS[rng.below(14) as usize];
        m = m & !(0x1f << 7 | 3 << 12) | comparison << 7 | (rng.below(2) as u32) << 11 | (rng.below(3) as u32) << 12;
    } else if rng.chance(500) {
        m &= operation.modifiers;
    }
    if rng.chance(knobs.get(USUAL)) {
        m &= !operation.mode;
    }
    m
}
