//! `rfc_tags`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::rfc::RfcShape;
use gpurf_blocks::rfc::{RfcTags, RfcTagsIn};
use gpurf_blocks::shape::cfg_of_block;
use gpurf_lockstep::Rng;

use super::Emptying;
use crate::Driver;
use crate::driver::{Names, Reset, Twin, lane_mask};

mod cover;

pub(crate) use cover::TagsCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<RfcTags, TagsDriver, TagsCover>();

/// A result that waits for the cache.
#[derive(Clone, Copy)]
struct Result {
    kill: bool,
    slot: u8,
    register: u8,
    mask: u32,
    /// Whether the MRF has it too.
    clean: bool,
    /// Register and lanes that the slot loses.
    take: Option<(u8, u32)>,
}

/// Driver of `rfc_tags`. A twin tells when a slot is clean, and when a result has been performed.
pub(crate) struct TagsDriver {
    shape: RfcShape,
    straps: u8,
    reset: Reset,
    twin: Twin<RfcTags>,
    result: Option<Result>,
    emptying: Emptying,
    registers: Names,
}

knobs! {
    pub(crate) struct TagsKnobs {
        look: "an instruction is in T" = [100, 600, 1000],
        r#move: "it leaves T" = [100, 700, 1000],
        source: "a source is a register" = [300, 700, 1000, 1000],
        same: "a source is the register of another one" = [0, 300],
        last: "a source is a last read" = [0, 200, 800],
        op: "a result comes" = [100, 500, 950],
        kill: "it has gone around" = [0, 200, 700],
        room: "an eviction can be taken" = [100, 700, 1000],
        flush: "a slot is to be emptied" = [0, 10, 60],
        drop: "it is dropped" = [100, 500],
        few: "the register is one of as many as there are entries" = [0, 500, 950, 1000],
        one: "the slot is one of two" = [0, 700, 1000],
        partial: "lanes are inactive" = [0, 300, 900],
        stray: "a result is withdrawn, last reads of a register differ" = [0, 100],
        victim: "source a is what makes room next, the others are there too" = [0, 100, 400],
        clean: "what is written is clean" = [0, 0, 300],
        take: "a write takes lanes of another register away" = [0, 500],
        reset,
    }
}

impl Driver for TagsDriver {
    type In = RfcTagsIn;
    type Knobs = TagsKnobs;

    fn new(shape: &RfcShape, config: &Config) -> Self {
        Self {
            shape: *shape,
            straps: cfg_of_block(config, "rfc_tags") as u8,
            reset: Reset::default(),
            twin: Twin::new(shape),
            result: None,
            emptying: Emptying::none(),
            registers: Names::new(2 * shape.entries + 2, NO_REG.into()),
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &TagsKnobs, i: &mut RfcTagsIn) {
        let slots = self.shape.cache_slots();
        self.twin.early();
        self.registers.renew(rng);
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.cfg_i = self.straps;
        let begun = self.emptying.step(rng, slots, self.twin.out.clean_o, knobs.flush, knobs.drop);
        // A result that waits for a slot lands before the slot begins to be flushed.
        self.result = self.result.filter(|result| result.kill || begun >> result.slot & 1 == 0);
        i.flush_i = self.emptying.flush;
        i.drop_i = self.emptying.drop_input(rng, slots);
        i.evict_room_i = rng.chance(knobs.room).into();
        self.operation(rng, knobs, i);
        self.look(rng, knobs, i);
        self.twin.late(i);
        if self.twin.out.op_ready_o == 1 {
            self.result = None;
        }
        self.twin.clock(i);
        if i.rst_ni == 0 {
            (self.emptying.flush, self.result) = (0, None);
        }
    }
}

impl TagsDriver {
    fn slot(&self, rng: &mut Rng, knobs: &TagsKnobs) -> u8 {
        let slots = self.shape.cache_slots() as u64;
        let few = rng.chance(knobs.one);
        rng.below(if few { slots.min(2) } else { slots }) as u8
    }

    fn register(&self, rng: &mut Rng, knobs: &TagsKnobs) -> u8 {
        let few = rng.chance(knobs.few);
        (if few { self.registers.first(rng, self.shape.entries) } else { self.registers.draw(rng) }) as u8
    }

    fn look(&self, rng: &mut Rng, knobs: &TagsKnobs, i: &mut RfcTagsIn) {
        let victim = rng.chance(knobs.victim);
        i.look_slot_i = self.slot(rng, knobs);
        if let Some(result) = self.result.filter(|result| victim && !result.kill && rng.chance(700)) {
            i.look_slot_i = result.slot;
        }
        let free = self.emptying.flush >> i.look_slot_i & 1 == 0;
        i.look_valid_i = (free && rng.chance(knobs.look)).into();
        i.look_move_i = (i.look_valid_i == 1 && rng.chance(knobs.r#move)).into();
        i.look_mask_i = lane_mask(rng, knobs.partial);
        i.look_src_valid_i = rng.mask(OPERANDS as u32, knobs.source) as u8;
        i.look_last_i = rng.mask(OPERANDS as u32, knobs.last) as u8;
        for k in 0..OPERANDS {
            i.look_reg_i[k] = self.register(rng, knobs);
            let same = k > 0 && rng.chance(knobs.same);
            // Three different registers need all read ports.
            if same || k > 0 && i.look_reg_i[..k].contains(&i.look_reg_i[k]) {
                i.look_reg_i[k] =
                    if same { i.look_reg_i[rng.below(k as u64) as usize] } else { self.register(rng, knobs) };
            }
        }
        if victim {
            i.look_reg_i = self.victim(i, i.look_slot_i);
            i.look_last_i |= u8::from(rng.chance(300));
        }
        if rng.chance(knobs.stray) {
            return;
        }
        // All slots of a register have the same mark.
        for k in 1..OPERANDS {
            if let Some(first) = (0..k).find(|&l| i.look_reg_i[l] == i.look_reg_i[k]) {
                i.look_last_i = i.look_last_i & !(1 << k) | (i.look_last_i >> first & 1) << k;
            }
        }
    }

    /// The register of the entry that is replaced next in a slot, and those of the entries after it.
    fn victim(&self, i: &RfcTagsIn, slot: u8) -> [u8; OPERANDS] {
        let (probe, slot, entries) = (self.twin.probe(i), usize::from(slot), self.shape.entries);
        let first = slot * entries;
        let oldest = (first..first + entries).find(|&e| probe.older_q[e] == 0).unwrap_or(first);
        let fifo = first + usize::from(probe.next_q[slot]);
        let next = if self.straps >> 1 & 1 == 1 { oldest } else { fifo };
        std::array::from_fn(|k| probe.tag_q[first + (next - first + k) % entries])
    }

    /// The register of one of a slot's entries.
    fn entry(&self, rng: &mut Rng, i: &RfcTagsIn, slot: u8) -> u8 {
        let entries = self.shape.entries;
        self.twin.probe(i).tag_q[usize::from(slot) * entries + rng.below(entries as u64) as usize]
    }

    fn operation(&mut self, rng: &mut Rng, knobs: &TagsKnobs, i: &mut RfcTagsIn) {
        if self.result.is_some() && rng.chance(knobs.stray) {
            self.result = None;
        }
        // A flush needs a cycle without a result.
        let rests = self.emptying.flush & !self.emptying.drop & !self.twin.out.clean_o != 0 && rng.chance(600);
        if self.result.is_none() && !rests && rng.chance(knobs.op) {
            let (slot, kill) = (self.slot(rng, knobs), rng.chance(knobs.kill));
            if kill || self.emptying.flush >> slot & 1 == 0 {
                let (register, mask) = (self.register(rng, knobs), lane_mask(rng, knobs.partial));
                let clean = !kill && rng.chance(knobs.clean);
                // A register of the slot's entries: of the one that is replaced next, or of any.
                let next = rng.chance(300).then(|| self.victim(i, slot)[0]);
                let any = rng.chance(500).then(|| self.entry(rng, i, slot));
                let take = (!kill && rng.chance(knobs.take)).then(|| {
                    let register = next.or(any).unwrap_or_else(|| self.register(rng, knobs));
                    (register, lane_mask(rng, knobs.partial))
                });
                self.result = Some(Result { kill, slot, register, mask, clean, take });
            }
        }
        i.op_valid_i = self.result.is_some().into();
        (i.op_clean_i, i.take_valid_i) = (0, 0);
        if let Some(result) = self.result {
            i.op_kill_i = result.kill.into();
            (i.op_slot_i, i.op_reg_i, i.op_mask_i) = (result.slot, result.register, result.mask);
            (i.op_clean_i, i.take_valid_i) = (result.clean.into(), result.take.is_some().into());
            (i.take_reg_i, i.take_mask_i) = result.take.unwrap_or_default();
        }
    }
}
