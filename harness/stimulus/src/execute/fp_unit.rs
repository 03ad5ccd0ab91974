//! `fp_unit`.

mod cover;
mod operands;

use gpurf_blocks::config::Config;
use gpurf_blocks::execute::{FpUnit, FpUnitIn};
use gpurf_blocks::instruction::{NO_PRED, NO_REG, RolesFields, unit};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

pub(crate) use cover::FpUnitCover;

use super::own_unit;
use crate::driver::{Reset, any_instruction, lane_mask};
use crate::{Driver, Unaliased, Unreached};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<FpUnit, FpUnitDriver, FpUnitCover>();

pub(crate) struct FpUnitDriver {
    reset: Reset,
}

knobs! {
    pub(crate) struct FpUnitKnobs {
        offer: "an instruction is offered" = [100, 800, 1000],
        ready: "a result is taken" = [200, 900, 1000, 1000],
        none: "a register or predicate is none" = [0, 200],
        constant: "b is the constant" = [0, 400],
        partial: "lanes are inactive" = [0, 300, 900],
        alike: "all lanes have the same operand" = [0, 200],
        awkward: "an operand's numbers are awkward ones" = [200, 500],
        meeting: "operands cancel, or their result is just between two values" = [300, 900],
        usual: "results are rounded to nearest even, subnormals kept" = [0, 200],
        strange: "an instruction is one that never comes" = [0, 200],
        only: "not a chance: the opcode of every instruction, unless 0" = [0],
        reset,
    }
}

/// An operation of the unit.
pub(crate) struct Row {
    pub(crate) opcode: u8,
    /// Number of sources: a; a and b; or all three.
    sources: usize,
    /// Whether it writes a predicate instead of a register.
    compares: bool,
    /// Bits of the modifiers that it uses, except for those of a comparison.
    modifiers: u32,
    /// Those of them that select rounding, flushing and clamping.
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

/// The comparisons that exist.
const COMPARISONS: [u32; 14] = [0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];

impl Driver for FpUnitDriver {
    type In = FpUnitIn;
    type Knobs = FpUnitKnobs;

    fn new(_: &SmShape, _: &Config) -> Self {
        Self { reset: Reset::default() }
    }

    fn unreached(_: &SmShape, _: &Config) -> Vec<Unreached> {
        vec![own_unit()]
    }

    fn unaliased(_: &SmShape, _: &Config) -> Vec<Unaliased> {
        vec![Unaliased::bits("x != y", 0..=30, "two infinities differ in their signs only")]
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &FpUnitKnobs, i: &mut FpUnitIn) {
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.valid_i = rng.chance(knobs.offer).into();
        i.result_ready_i = rng.chance(knobs.ready).into();
        i.src_valid_i = 0;
        if i.valid_i == 0 {
            return;
        }
        let only = OPERATIONS.iter().find(|row| u32::from(row.opcode) == knobs.only);
        let operation = only.unwrap_or_else(|| &OPERATIONS[rng.below(8) as usize]);
        let there = |rng: &mut Rng, has: bool| has && !rng.chance(knobs.none);
        i.warp_i = rng.below(64) as u8;
        i.mask_i = lane_mask(rng, knobs.partial);

        // Encodings that do not exist: the page defines their results.
        let strange = rng.chance(knobs.strange);
        let opcode = if strange && rng.chance(300) { rng.below(1 << 7) as u8 } else { operation.opcode };
        let m = match rng.below(4) {
            _ if !strange => modifiers(rng, knobs, operation),
            // Comparisons and a combination that do not exist, if the operation compares.
            0 => 6 << 7 | rng.below(1 << 8) as u32,
            1 => 3 << 12 | rng.below(1 << 12) as u32,
            _ => rng.below(1 << 16) as u32,
        };

        let b_is_constant = operation.sources > 1 && rng.chance(knobs.constant);
        for k in 0..operation.sources {
            if there(rng, k != 1 || !b_is_constant) {
                i.src_valid_i |= 1 << k;
            }
        }
        let constant = operands::fill(rng, knobs, operation, m, i);
        let d = if there(rng, !operation.compares || strange) { rng.below(NO_REG.into()) as u8 } else { NO_REG };
        let p = if there(rng, operation.compares || strange) { rng.below(NO_PRED.into()) as u8 } else { NO_PRED };
        // Fields of the words that repeat the roles are random: the unit reads the roles.
        let mut given = any_instruction(rng);
        given.op = u64::from(opcode) | given.op & 0xfff_ff80 | u64::from(m & 0xf) << 28 | u64::from(constant) << 32;
        given.ctl = given.ctl & !0xfff00 | u64::from(m >> 4) << 8;
        let b_constant = b_is_constant.into();
        given.roles = RolesFields { unit: unit::FP, b_constant, p, d, ..given.roles.fields() }.into();
        i.instruction_i = given.into();
    }
}

/// Modifiers that the operation has; bits that it does not read are random.
fn modifiers(rng: &mut Rng, knobs: &FpUnitKnobs, operation: &Row) -> u32 {
    let mut m = rng.below(1 << 16) as u32;
    if operation.compares {
        let comparison = COMPARISONS[rng.below(14) as usize];
        m = m & !(0x1f << 7 | 3 << 12) | comparison << 7 | (rng.below(2) as u32) << 11 | (rng.below(3) as u32) << 12;
    } else if rng.chance(500) {
        m &= operation.modifiers;
    }
    if rng.chance(knobs.usual) {
        m &= !operation.mode;
    }
    m
}
