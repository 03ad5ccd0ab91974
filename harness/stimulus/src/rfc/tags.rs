//! `rfc_tags`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::rfc::RfcShape;
use gpurf_blocks::rfc::{RfcTags, RfcTagsIn};
use gpurf_blocks::shape::{MAX_ACTIVE, cfg_of_block};
use gpurf_lockstep::Rng;

use crate::driver::{Names, RESET, Reset, Twin, lane_mask};
use crate::{Driver, Knob, Knobs};

mod cover;

pub(crate) use cover::TagsCover;

/// A result that waits for the cache.
#[derive(Clone, Copy)]
struct Result {
    kill: bool,
    slot: u8,
    register: u8,
    mask: u32,
    /// The MRF has it too.
    clean: bool,
    /// Register and lanes that the slot loses.
    take: Option<(u8, u32)>,
}

/// Knows by a twin when a slot is clean, and when a result has been performed.
pub(crate) struct TagsDriver {
    shape: RfcShape,
    straps: u8,
    reset: Reset,
    twin: Twin<RfcTags>,
    result: Option<Result>,
    /// Slots that are being emptied, and those of them that are dropped.
    flush: u64,
    drop: u64,
    /// Cycles for which a slot goes on flushing when nothing is left of it.
    rest: [u8; MAX_ACTIVE],
    registers: Names,
}

const LOOK: usize = 0;
const MOVE: usize = 1;
const SOURCE: usize = 2;
const SAME: usize = 3;
const LAST: usize = 4;
const OP: usize = 5;
const KILL: usize = 6;
const ROOM: usize = 7;
const FLUSH: usize = 8;
const DROP: usize = 9;
const FEW: usize = 10;
const ONE: usize = 11;
const PARTIAL: usize = 12;
const STRAY: usize = 13;
const VICTIM: usize = 14;
const CLEAN: usize = 15;
const TAKE: usize = 16;

impl Driver for TagsDriver {
    type In = RfcTagsIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "look", doc: "an instruction is in T", values: &[100, 600, 1000] },
        Knob { name: "move", doc: "it leaves T", values: &[100, 700, 1000] },
        Knob { name: "source", doc: "a source is a register", values: &[300, 700, 1000, 1000] },
        Knob { name: "same", doc: "a source is the register of another one", values: &[0, 300] },
        Knob { name: "last", doc: "a source is a last read", values: &[0, 200, 800] },
        Knob { name: "op", doc: "a result comes", values: &[100, 500, 950] },
        Knob { name: "kill", doc: "it has gone around", values: &[0, 200, 700] },
        Knob { name: "room", doc: "an eviction can be taken", values: &[100, 700, 1000] },
        Knob { name: "flush", doc: "a slot is to be emptied", values: &[0, 10, 60] },
        Knob { name: "drop", doc: "it is dropped", values: &[100, 500] },
        Knob { name: "few", doc: "the register is one of as many as there are entries", values: &[0, 500, 950, 1000] },
        Knob { name: "one", doc: "the slot is one of two", values: &[0, 700, 1000] },
        Knob { name: "partial", doc: "lanes are inactive", values: &[0, 300, 900] },
        Knob { name: "stray", doc: "a result is withdrawn, last reads of a register differ", values: &[0, 100] },
        Knob {
            name: "victim",
            doc: "source a is what makes room next, the others are there too",
            values: &[0, 100, 400],
        },
        Knob { name: "clean", doc: "what is written is clean", values: &[0, 0, 300] },
        Knob { name: "take", doc: "a write takes lanes of another register away", values: &[0, 500] },
        RESET,
    ];

    fn new(shape: &RfcShape, config: &Config) -> Self {
        Self {
            shape: *shape,
            straps: cfg_of_block(config, "rfc_tags") as u8,
            reset: Reset::default(),
            twin: Twin::new(shape),
            result: None,
            flush: 0,
            drop: 0,
            rest: [0; MAX_ACTIVE],
            registers: Names::new(2 * shape.entries + 2, NO_REG.into()),
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut RfcTagsIn) {
        let slots = self.shape.cache_slots();
        self.twin.early();
        self.registers.renew(rng);
        i.rst_ni = self.reset.next(rng, knobs.get(17));
        i.cfg_i = self.straps;
        self.change_flush(rng, knobs);
        i.flush_i = self.flush;
        // Without flush it means nothing.
        i.drop_i = self.drop | !self.flush & rng.mask(slots as u32, 200);
        i.evict_room_i = rng.chance(knobs.get(ROOM)).into();
        self.operation(rng, knobs, i);
        self.look(rng, knobs, i);
        self.twin.late(i);
        if self.twin.out.op_ready_o == 1 {
            self.result = None;
        }
        self.twin.clock(i);
        if i.rst_ni == 0 {
            (self.flush, self.result) = (0, None);
        }
    }
}

impl TagsDriver {
    /// Slots begin to be emptied, and are free when nothing is left and their values are in their banks.
    fn change_flush(&mut self, rng: &mut Rng, knobs: &Knobs) {
        for slot in 0..self.shape.cache_slots() {
            let bit = 1 << slot;
            if self.flush & bit == 0 {
                if rng.chance(knobs.get(FLUSH)) {
                    self.flush |= bit;
                    self.drop &= !bit;
                    self.drop |= u64::from(rng.chance(knobs.get(DROP))) << slot;
                    self.rest[slot] = 1 + rng.below(6) as u8;
                    // What waits for this slot has landed before.
                    self.result = self.result.filter(|result| result.kill || usize::from(result.slot) != slot);
                }
            } else if (self.twin.out.clean_o | self.drop) & bit != 0 {
                self.rest[slot] -= 1;
                if self.rest[slot] == 0 {
                    (self.flush, self.drop) = (self.flush & !bit, self.drop & !bit);
                }
            }
        }
    }

    fn slot(&self, rng: &mut Rng, knobs: &Knobs) -> u8 {
        let slots = self.shape.cache_slots() as u64;
        let few = rng.chance(knobs.get(ONE));
        rng.below(if few { slots.min(2) } else { slots }) as u8
    }

    fn register(&self, rng: &mut Rng, knobs: &Knobs) -> u8 {
        let few = rng.chance(knobs.get(FEW));
        (if few { self.registers.first(rng, self.shape.entries) } else { self.registers.draw(rng) }) as u8
    }

    fn look(&self, rng: &mut Rng, knobs: &Knobs, i: &mut RfcTagsIn) {
        let victim = rng.chance(knobs.get(VICTIM));
        i.look_slot_i = self.slot(rng, knobs);
        if let Some(result) = self.result.filter(|result| victim && !result.kill && rng.chance(700)) {
            i.look_slot_i = result.slot;
        }
        let free = self.flush >> i.look_slot_i & 1 == 0;
        i.look_valid_i = (free && rng.chance(knobs.get(LOOK))).into();
        i.look_move_i = (i.look_valid_i == 1 && rng.chance(knobs.get(MOVE))).into();
        i.look_mask_i = lane_mask(rng, knobs.get(PARTIAL));
        i.look_src_valid_i = rng.mask(OPERANDS as u32, knobs.get(SOURCE)) as u8;
        i.look_last_i = rng.mask(OPERANDS as u32, knobs.get(LAST)) as u8;
        for k in 0..OPERANDS {
            i.look_reg_i[k] = self.register(rng, knobs);
            let same = k > 0 && rng.chance(knobs.get(SAME));
            // Three that differ need all read ports.
            if same || k > 0 && i.look_reg_i[..k].contains(&i.look_reg_i[k]) {
                i.look_reg_i[k] =
                    if same { i.look_reg_i[rng.below(k as u64) as usize] } else { self.register(rng, knobs) };
            }
        }
        if victim {
            i.look_reg_i = self.victim(i, i.look_slot_i);
            i.look_last_i |= u8::from(rng.chance(300));
        }
        if rng.chance(knobs.get(STRAY)) {
            return;
        }
        // All slots of a register say the same.
        for k in 1..OPERANDS {
            if let Some(first) = (0..k).find(|&l| i.look_reg_i[l] == i.look_reg_i[k]) {
                i.look_last_i = i.look_last_i & !(1 << k) | (i.look_last_i >> first & 1) << k;
            }
        }
    }

    /// The register that makes room next in a slot, and its neighbours.
    fn victim(&self, i: &RfcTagsIn, slot: u8) -> [u8; OPERANDS] {
        let (probe, slot, entries) = (self.twin.probe(i), usize::from(slot), self.shape.entries);
        let first = slot * entries;
        let oldest = (first..first + entries).find(|&e| probe.older_q[e] == 0).unwrap_or(first);
        let fifo = first + usize::from(probe.next_q[slot]);
        let next = if self.straps >> 1 & 1 == 1 { oldest } else { fifo };
        std::array::from_fn(|k| probe.tag_q[first + (next - first + k) % entries])
    }

    /// The register of an entry of a slot.
    fn entry(&self, rng: &mut Rng, i: &RfcTagsIn, slot: u8) -> u8 {
        let entries = self.shape.entries;
        self.twin.probe(i).tag_q[usize::from(slot) * entries + rng.below(entries as u64) as usize]
    }

    fn operation(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut RfcTagsIn) {
        if self.result.is_some() && rng.chance(knobs.get(STRAY)) {
            self.result = None;
        }
        // A flush needs a cycle without a result.
        let rests = self.flush & !self.drop & !self.twin.out.clean_o != 0 && rng.chance(600);
        if self.result.is_none() && !rests && rng.chance(knobs.get(OP)) {
            let (slot, kill) = (self.slot(rng, knobs), rng.chance(knobs.get(KILL)));
            if kill || self.flush >> slot & 1 == 0 {
                let (register, mask) = (self.register(rng, knobs), lane_mask(rng, knobs.get(PARTIAL)));
                let clean = !kill && rng.chance(knobs.get(CLEAN));
                // Of the slot's entries: what makes room next, or any.
                let next = rng.chance(300).then(|| self.victim(i, slot)[0]);
                let any = rng.chance(500).then(|| self.entry(rng, i, slot));
                let take = (!kill && rng.chance(knobs.get(TAKE))).then(|| {
                    let register = next.or(any).unwrap_or_else(|| self.register(rng, knobs));
                    (register, lane_mask(rng, knobs.get(PARTIAL)))
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
