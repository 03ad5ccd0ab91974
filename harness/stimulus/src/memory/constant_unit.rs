//! `constant_unit`.

use gpurf_blocks::WarpData;
use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::{Instruction, NO_REG, RolesFields, cause, modifiers, opcode};
use gpurf_blocks::memory::{ConstantUnit, ConstantUnitIn, ConstantUnitOut, ConstantUnitProbe};
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_lockstep::Rng;

use super::lanes::{set_lanes, some_lanes};
use crate::driver::{Reset, Twin, any_instruction};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<ConstantUnit, ConstantUnitDriver, ConstantUnitCover>();

const S2R: u8 = 0x12;
const LDC: u8 = 0x42;

pub(crate) struct ConstantUnitDriver {
    /// Bytes of constant memory.
    end: u64,
    reset: Reset,
    /// Follows the inputs, to know which lanes are offered to which unit.
    twin: Twin<ConstantUnit>,
}

knobs! {
    pub(crate) struct ConstantUnitKnobs {
        offer: "an instruction is offered" = [200, 800, 1000],
        serve: "a unit serves lanes" = [200, 800, 1000],
        few: "it serves some of them, not all" = [0, 100, 600],
        special: "it is S2R" = [50, 500],
        fault: "an LDC is at fault" = [0, 200, 600],
        partial: "lanes do not take part" = [0, 500, 900],
        // More often than in other blocks, since the states that a reset has to hit are short.
        reset = [0, 5, 20, 60],
    }
}

/// Why a bit of the operation word keeps its value.
const NOT_IN_AN_OPCODE: &str = "no operation of the unit differs in it";

impl Driver for ConstantUnitDriver {
    type In = ConstantUnitIn;
    type Knobs = ConstantUnitKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { end: 4 * shape.const_words as u64, reset: Reset::default(), twin: Twin::new(shape) }
    }

    fn unreached(_: &SmShape, _: &Config) -> Vec<Unreached> {
        [0..=0, 1..=1, 2..=2, 3..=3, 5..=5]
            .map(|bits| Unreached::field::<Instruction>("instruction_i", "op", bits, NOT_IN_AN_OPCODE))
            .into()
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &ConstantUnitKnobs, inputs: &mut ConstantUnitIn) {
        self.twin.early();
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        let offered = self.twin.out.lanes_o;
        let served = if !rng.chance(knobs.serve) {
            0
        } else if !rng.chance(knobs.few) {
            offered
        } else if rng.chance(500) {
            offered & offered.wrapping_neg()
        } else {
            offered & rng.next_u64() as u32
        };
        let to = |valid: u8| if valid == 1 { served } else { 0 };
        inputs.constant_served_i = to(self.twin.out.constant_valid_o);
        inputs.special_served_i = to(self.twin.out.special_valid_o);
        inputs.valid_i = rng.chance(knobs.offer).into();
        inputs.src_valid_i = 0;
        if inputs.valid_i == 1 {
            self.instruction(rng, knobs, inputs);
        }
        self.twin.late(inputs);
        self.twin.clock(inputs);
    }
}

impl ConstantUnitDriver {
    fn instruction(&self, rng: &mut Rng, knobs: &ConstantUnitKnobs, inputs: &mut ConstantUnitIn) {
        inputs.warp_i = rng.below(MAX_WARPS as u64) as u8;
        inputs.mask_i = some_lanes(rng, knobs.partial);
        let special = rng.chance(knobs.special);
        let (kind, align) = (rng.below(5) as u32, if rng.chance(500) { 0 } else { rng.below(4) as u32 });
        let m =
            if special { rng.next_u64() as u32 & 0xffff } else { kind | align << 3 | (rng.next_u64() as u32 & 0xffe0) };
        let offset = match rng.below(4) {
            0 => 0,
            1 => rng.below(256) as i32 - 128,
            _ => (rng.next_u64() as i32) >> 8,
        };
        // Fields that the unit does not read are random.
        let mut any = any_instruction(rng);
        let d = if rng.chance(800) { rng.below(NO_REG.into()) as u8 } else { NO_REG };
        any.op = u64::from(if special { S2R } else { LDC })
            | any.op & 0x0fff_ff80
            | u64::from(m & 15) << 28
            | (any.op >> 32 & 0xff) << 32
            | u64::from(offset.cast_unsigned() & 0xff_ffff) << 40;
        any.ctl = any.ctl & !0xf_ff00 | u64::from(m >> 4) << 8;
        any.roles = RolesFields { d, ..any.roles.fields() }.into();
        inputs.instruction_i = any.into();

        // Without a base the offset is the address of all lanes.
        inputs.src_valid_i = u8::from(!special && rng.chance(950));
        rng.fill(&mut inputs.data_i.0);
        if special {
            return;
        }
        let size = kind / 2;
        let step = [1, 8, 16, 16][align as usize].max(1 << size);
        let wrong = if rng.chance(knobs.fault) { some_lanes(rng, 1000) & inputs.mask_i } else { 0 };
        let (two_kinds, fault) = (rng.chance(500), rng.below(6));
        let only = rng.below(self.end);
        let spread = rng.chance(700);
        let mut base = WarpData(inputs.data_i.0);
        for lane in set_lanes(inputs.mask_i) {
            let below = match rng.below(8) {
                0 => self.end,
                1 => self.end.saturating_sub(rng.below(64)),
                2 => rng.below(256).min(self.end),
                _ if spread => rng.below(self.end),
                _ => only,
            };
            let mut address = below.saturating_sub(step) / step * step;
            if wrong >> lane & 1 == 1 {
                address = match if two_kinds { rng.below(6) } else { fault } {
                    0 => address + 1,
                    1 => address + (1 << size),
                    2 => self.end.div_ceil(step) * step,
                    3 => 0x1_0000_0000 - step,
                    // A bit that an address of the memory does not have.
                    4 => address ^ 1 << (17 + rng.below(15)),
                    _ => rng.next_u64() & 0xffff_ffff,
                };
            }
            base.0[lane] = (address as u32).wrapping_sub(offset.cast_unsigned());
        }
        inputs.data_i = base;
    }
}

/// The instruction that was taken in the previous cycle.
#[derive(Clone, Copy, Default)]
struct Taken {
    op: u64,
    ctl: u64,
    mask: u32,
    base: bool,
    a: WarpData,
}

pub(crate) struct ConstantUnitCover {
    end: u32,
    taken: Option<Taken>,
}

#[cover]
impl ConstantUnitCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { end: 4 * shape.const_words as u32, taken: None }
    }

    fn observe(&mut self, i: &ConstantUnitIn, o: &ConstantUnitOut, p: &ConstantUnitProbe, points: &mut Points) {
        self.situations(i, o, p, points);
        let taken = i.valid_i == 1 && o.ready_o == 1 && i.rst_ni == 1;
        self.taken = taken.then(|| Taken {
            op: i.instruction_i.op(),
            ctl: i.instruction_i.ctl(),
            mask: i.mask_i,
            base: i.src_valid_i == 1,
            a: if i.src_valid_i == 1 { i.data_i } else { WarpData::ZERO },
        });
    }

    fn situations(&self, i: &ConstantUnitIn, o: &ConstantUnitOut, p: &ConstantUnitProbe, points: &mut Points) {
        let (busy, reset, offered) = (o.busy_o == 1, i.rst_ni == 0, i.valid_i == 1);
        let served = i.constant_served_i | i.special_served_i;
        let taken = offered && o.ready_o == 1 && !reset;
        let t = self.taken.unwrap_or_default();
        let constant = self.taken.is_some() && opcode(t.op) == LDC;
        let new = constant && busy;
        let align = modifiers(t.op, t.ctl) >> 3 & 3;
        let fault = |number: u8| o.fault_valid_o == 1 && o.fault_cause_o == number;
        let offset = ((t.op >> 32) as u32).cast_signed() >> 8;
        let address = |lane: usize| t.a.0[lane].wrapping_add(offset.cast_unsigned());
        let first = address(t.mask.trailing_zeros() as usize % 32);
        let ends_at = |end: u32| set_lanes(t.mask).any(|lane| address(lane).wrapping_add(1 << o.size_o) == end);
        let is = |size: u8, signed: u8| new && (o.size_o, o.signed_o) == (size, signed);
        point!("a constant", new);
        point!("a special register", busy && p.special_q == 1);
        point!("unsigned byte", is(0, 0));
        point!("signed byte", is(0, 1));
        point!("unsigned half", is(1, 0));
        point!("signed half", is(1, 1));
        point!("word", is(2, 0));
        point!("aligned to 8", new && align == 1);
        point!("aligned to 16", new && align == 2);
        point!("the base is zero", new && !t.base);
        point!("the offset is negative", new && offset < 0);
        point!("up to the end", new && ends_at(self.end));
        point!("lanes outside the mask", new && t.mask != u32::MAX);
        point!("misaligned", fault(cause::MISALIGNED));
        point!("misaligned as the first part of 8 bytes", fault(cause::MISALIGNED) && align == 1);
        point!("misaligned as the first part of 16 bytes", fault(cause::MISALIGNED) && align == 2);
        point!("out of bounds", fault(cause::OUT_OF_BOUNDS));
        point!("out of bounds: the very next address", fault(cause::OUT_OF_BOUNDS) && o.fault_value_o == self.end);
        point!("out of bounds: the highest address", fault(cause::OUT_OF_BOUNDS) && o.fault_value_o >= 0xffff_fff0);
        point!("fault of a lane that is not the first", o.fault_valid_o == 1 && constant && o.fault_value_o != first);
        point!("fault while the next instruction is taken", o.fault_valid_o == 1 && taken);
        point!("taken while idle", taken && !busy);
        point!("taken with the last pass", taken && busy);
        point!("refused", offered && o.ready_o == 0);
        point!("last pass, none follows", o.last_o == 1 && !offered);
        point!("lanes are left", busy && served != 0 && o.last_o == 0);
        point!("nothing is served", busy && served == 0);
        point!("no register", busy && o.reg_valid_o == 0);
        point!("reset while busy", reset && busy);
        point!("reset with a fault", reset && o.fault_valid_o == 1);
        point!("offered under reset", reset && offered);
    }
}
