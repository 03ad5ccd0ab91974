//! `rfc_lrf`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::rfc::RfcShape;
use gpurf_blocks::rfc::{RfcLrf, RfcLrfIn};
use gpurf_blocks::shape::cfg_of_block;
use gpurf_blocks::sizes::MAX_ACTIVE;
use gpurf_lockstep::Rng;

use super::Emptying;
use crate::Driver;
use crate::driver::{Names, Reset, Twin, alias, lane_mask};

mod cover;

pub(crate) use cover::LrfCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<RfcLrf, LrfDriver, LrfCover>();

/// A result that waits.
#[derive(Clone, Copy)]
struct Result {
    kill: bool,
    upper: bool,
    slot: u8,
    register: u8,
    mask: u32,
    data: [u32; 32],
}

/// Driver of `rfc_lrf`. A twin tells which registers are here, when a slot is clean, and when a result has been performed.
pub(crate) struct LrfDriver {
    shape: RfcShape,
    straps: u8,
    reset: Reset,
    twin: Twin<RfcLrf>,
    result: Option<Result>,
    emptying: Emptying,
    registers: Names,
}

knobs! {
    pub(crate) struct LrfKnobs {
        look: "an instruction is in T" = [100, 600, 1000],
        r#move: "it leaves T" = [100, 700, 1000],
        source: "a source is a register" = [300, 700, 1000],
        here: "a source is the register that its slot has here" = [100, 600, 900],
        last: "a source is a last read" = [0, 200, 800],
        op: "a result comes" = [100, 500, 950],
        upper: "it is written here" = [300, 700, 1000],
        kill: "another one has gone around" = [0, 500, 1000],
        same: "its register is the one that its slot has here" = [0, 300, 800],
        ready: "the cache performs it" = [100, 700, 1000],
        room: "an eviction can be taken" = [100, 700, 1000],
        flush: "a slot is to be emptied" = [0, 10, 60],
        drop: "it is dropped" = [100, 500],
        one: "the slot is one of two" = [0, 700, 1000],
        partial: "lanes are inactive" = [0, 300, 900],
        stray: "a result is withdrawn, or of a slot that does not exist" = [0, 0, 100],
        reset,
    }
}

impl Driver for LrfDriver {
    type In = RfcLrfIn;
    type Knobs = LrfKnobs;

    fn new(shape: &RfcShape, config: &Config) -> Self {
        Self {
            shape: *shape,
            straps: cfg_of_block(config, "rfc_lrf") as u8,
            reset: Reset::default(),
            twin: Twin::new(shape),
            result: None,
            emptying: Emptying::none(),
            registers: Names::new(8, NO_REG.into()),
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &LrfKnobs, i: &mut RfcLrfIn) {
        self.twin.early();
        self.registers.renew(rng);
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.cfg_i = self.straps;
        let slots = self.shape.cache_slots();
        let begun = self.emptying.step(rng, slots, self.twin.out.clean_o, knobs.flush, knobs.drop);
        // A result that is written to a slot lands before the slot begins to be flushed.
        self.result = self.result.filter(|result| result.kill || begun >> result.slot & 1 == 0);
        i.flush_i = self.emptying.flush;
        i.drop_i = self.emptying.drop_input(rng, slots);
        i.flush_ready_i = rng.chance(knobs.room).into();
        let tags = self.twin.probe(i).tag_q;
        self.operation(rng, knobs, &tags, i);
        self.look(rng, knobs, &tags, i);
        i.low_ready_i = 0;
        self.twin.late(i);
        // The cache always takes lanes away.
        i.low_ready_i = (self.twin.out.low_kill_o == 1 || rng.chance(knobs.ready)).into();
        self.twin.late(i);
        // Shared units read nothing here.
        let found = self.twin.out.hit_mask_o != [0; OPERANDS];
        i.look_private_i = (i.look_valid_i == 1 && (found && i.look_move_i == 1 || rng.chance(600))).into();
        if self.twin.out.op_ready_o == 1 {
            self.result = None;
        }
        self.twin.clock(i);
        if i.rst_ni == 0 {
            (self.emptying.flush, self.result) = (0, None);
        }
    }
}

impl LrfDriver {
    /// A slot, or a number that no slot has.
    fn slot(&self, rng: &mut Rng, knobs: &LrfKnobs) -> u8 {
        let (slots, numbers) = (self.shape.cache_slots() as u64, 1u64 << self.shape.local_w());
        if slots < numbers && rng.chance(knobs.stray) {
            return (slots + rng.below(numbers - slots)) as u8;
        }
        let few = rng.chance(knobs.one);
        rng.below(if few { slots.min(2) } else { slots }) as u8
    }

    /// The register that a slot has here, one that differs in a bit, or any of a few.
    fn register(&self, rng: &mut Rng, chance: u32, tags: &[u8; MAX_ACTIVE], slot: u8) -> u8 {
        let here = tags[usize::from(slot)];
        if rng.chance(chance) {
            return here;
        }
        (if rng.chance(300) { alias(rng, here.into(), NO_REG.into()) } else { self.registers.draw(rng) }) as u8
    }

    fn look(&self, rng: &mut Rng, knobs: &LrfKnobs, tags: &[u8; MAX_ACTIVE], i: &mut RfcLrfIn) {
        i.look_slot_i = self.slot(rng, knobs);
        // Reads of the slot that is being written have to be as frequent as reads of other slots.
        if let Some(result) = self.result.filter(|_| rng.chance(300)) {
            i.look_slot_i = result.slot;
        }
        let free = self.emptying.flush >> i.look_slot_i & 1 == 0;
        i.look_valid_i = (free && rng.chance(knobs.look)).into();
        i.look_move_i = (i.look_valid_i == 1 && rng.chance(knobs.r#move)).into();
        i.look_mask_i = lane_mask(rng, knobs.partial);
        i.look_src_valid_i = rng.mask(OPERANDS as u32, knobs.source) as u8;
        i.look_last_i = rng.mask(OPERANDS as u32, knobs.last) as u8;
        for k in 0..OPERANDS {
            i.look_reg_i[k] = self.register(rng, knobs.here, tags, i.look_slot_i);
        }
    }

    fn operation(&mut self, rng: &mut Rng, knobs: &LrfKnobs, tags: &[u8; MAX_ACTIVE], i: &mut RfcLrfIn) {
        if self.result.is_some() && rng.chance(knobs.stray) {
            self.result = None;
        }
        // A flush needs a cycle without a result.
        let rests = self.emptying.flush & !self.emptying.drop & !self.twin.out.clean_o != 0 && rng.chance(600);
        if self.result.is_none() && !rests && rng.chance(knobs.op) {
            let (mut slot, mut upper) = (self.slot(rng, knobs), rng.chance(knobs.upper));
            // A result of a long operation comes while its slot is being flushed.
            let emptied = self.emptying.flush != 0 && rng.chance(100);
            if emptied {
                (slot, upper) = (self.emptying.flush.trailing_zeros() as u8, false);
            }
            let kill = emptied || !upper && rng.chance(knobs.kill);
            if kill || self.emptying.flush >> slot & 1 == 0 {
                let register = self.register(rng, knobs.same, tags, slot);
                let mut result =
                    Result { kill, upper, slot, register, mask: lane_mask(rng, knobs.partial), data: [0; 32] };
                rng.fill(&mut result.data);
                self.result = Some(result);
            }
        }
        i.op_valid_i = self.result.is_some().into();
        if let Some(result) = &self.result {
            (i.op_kill_i, i.op_upper_i) = (result.kill.into(), result.upper.into());
            (i.op_slot_i, i.op_reg_i, i.op_mask_i) = (result.slot, result.register, result.mask);
            i.op_data_i.0 = result.data;
        }
    }
}
