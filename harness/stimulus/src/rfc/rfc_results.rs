//! `rfc_results`.

use gpurf_blocks::WARP_BITS;
use gpurf_blocks::config::Config;
use gpurf_blocks::rfc::RfcShape;
use gpurf_blocks::rfc::{RfcResults, RfcResultsIn};
use gpurf_lockstep::Rng;

use crate::driver::{Names, Reset, Twin, alias, any_write, lane_mask, ports};
use crate::{Driver, Unaliased, Unreached};

mod cover;

pub(crate) use cover::ResultsCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<RfcResults, ResultsDriver, ResultsCover>();

/// Driver of `rfc_results`. It keeps which warp has which slot and what is in the MRF's queues; a twin tells what goes there.
pub(crate) struct ResultsDriver {
    shape: RfcShape,
    reset: Reset,
    twin: Twin<RfcResults>,
    /// Warp of each slot.
    slots: Vec<Option<u8>>,
    flush: u64,
    /// Queues of the MRF that are full, and buses whose result is in one of them.
    full: u8,
    sent: u8,
    /// Number of notes made at the beginning. The note of a register that has none has an arbitrary value, which the twin does not know, so every
    /// register that may get a result is noted first.
    noted: usize,
    /// The few registers that many results are for.
    registers: Names,
}

/// Number of warp numbers.
const WARPS: u64 = 1 << WARP_BITS;

knobs! {
    pub(crate) struct ResultsKnobs {
        write: "a result is offered" = [100, 500, 950],
        few: "its register is one of eight" = [500, 1000],
        note: "an instruction is taken" = [100, 500, 950],
        around: "its result goes around" = [0, 300, 900],
        take: "a free slot is taken" = [20, 200, 1000],
        leave: "a slot becomes free" = [0, 10, 100],
        flush: "a slot begins, or ends, to be emptied" = [0, 10, 100],
        ready: "a cache takes a result" = [100, 700, 1000],
        r#match: "a result's register is on its way to the MRF" = [0, 100, 600],
        evict: "an eviction is offered" = [0, 200, 800],
        done: "what is in the MRF's queue goes into its bank" = [50, 500, 1000],
        near: "the warp of a result is one of two slots'" = [0, 500, 1000],
        partial: "lanes are inactive" = [0, 500],
        same: "both notes are of one register of one slot" = [0, 0, 50],
        hold: "a cache takes no result" = [0, 0, 100, 600],
        past: "a result goes past the LRF" = [0, 300, 900],
        reset,
    }
}

/// Number of registers; 255 is none.
const ALL: usize = 255;

impl Driver for ResultsDriver {
    type In = RfcResultsIn;
    type Knobs = ResultsKnobs;

    fn new(shape: &RfcShape, _: &Config) -> Self {
        Self {
            shape: *shape,
            reset: Reset::default(),
            twin: Twin::new(shape),
            slots: vec![None; shape.active],
            flush: 0,
            full: 0,
            sent: 0,
            noted: 0,
            registers: Names::new(8, ALL as u64),
        }
    }

    fn unreached(shape: &RfcShape, _: &Config) -> Vec<Unreached> {
        Unreached::parity(&["note_slot_i"], shape.ports())
    }

    fn unaliased(_: &RfcShape, _: &Config) -> Vec<Unaliased> {
        Unaliased::ports(&["32'(slot[b]) % IssuePorts == c"])
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &ResultsKnobs, i: &mut RfcResultsIn) {
        let count = self.shape.ports();
        self.registers.renew(rng);
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.reset);
        let noted = self.noted == self.shape.cache_slots() * ALL;
        if noted {
            self.change_slots(rng, knobs);
        } else {
            // Any warp of the slot's port.
            self.slots = (0..self.shape.active).map(|s| Some(s as u8)).collect();
        }
        i.slot_valid_i = 0;
        for (s, warp) in self.slots.iter().enumerate() {
            i.slot_valid_i |= u64::from(warp.is_some()) << s;
            i.slot_warp_i[s] = warp.unwrap_or_else(|| rng.below(64) as u8);
        }
        i.flush_i = self.flush;
        self.notes(rng, knobs, i);
        i.write_valid_i = if noted { ports(rng, count, knobs.write) } else { 0 };
        i.evict_valid_i = ports(rng, count, knobs.evict);
        i.match_i = ports(rng, count, knobs.r#match);
        for b in 0..count {
            let (warp, register) = (self.warp(rng, knobs), self.register(rng, knobs));
            i.write_i[b] = any_write(rng, knobs.partial, warp, register);
            i.write_base_i[b] = rng.below(self.shape.mrf.depth as u64) as u16;
            rng.fill(&mut i.write_data_i[b].0);
            if i.evict_valid_i >> b & 1 == 1 {
                (i.evict_warp_i[b], i.evict_reg_i[b]) = (self.warp(rng, knobs), self.register(rng, knobs));
                i.evict_base_i[b] = rng.below(self.shape.mrf.depth as u64) as u16;
                i.evict_mask_i[b] = lane_mask(rng, knobs.partial);
                rng.fill(&mut i.evict_data_i[b].0);
            }
        }
        // A queue has room for one result, and takes the next one as that one goes into its bank.
        i.mrf_done_i = self.full & ports(rng, count, knobs.done);
        i.mrf_ready_i = (!self.full | i.mrf_done_i) & ((1 << count) - 1);
        // Whether a cache performs an operation depends on whether it is a kill, which it always performs.
        (i.op_ready_i, i.hold_i) = (0, ports(rng, count, knobs.hold));
        self.twin.late(i);
        let out = &self.twin.out;
        i.op_ready_i = out.op_valid_o & (out.op_kill_o | ports(rng, count, knobs.ready));
        self.twin.late(i);
        self.full = self.full & !i.mrf_done_i | self.twin.out.mrf_valid_o & i.mrf_ready_i;
        let out = &self.twin.out;
        let taken = i.write_valid_i & out.write_ready_o;
        self.sent = (self.sent | out.around_o) & !out.write_done_o & !taken;
        // A register whose result bypasses the cache at this edge is not noted at the same time.
        for p in 0..count {
            let warp = self.slots[usize::from(i.note_slot_i[p])];
            if warp.is_some_and(|warp| self.has_sent(warp, Some(i.note_reg_i[p]))) {
                i.note_valid_i &= !(1 << p);
            }
        }
        self.twin.clock(i);
        if i.rst_ni == 0 {
            (self.full, self.sent) = (0, 0);
        }
    }
}

impl ResultsDriver {
    fn register(&self, rng: &mut Rng, knobs: &ResultsKnobs) -> u8 {
        let few = rng.chance(knobs.few);
        (if few { self.registers.draw(rng) } else { rng.below(ALL as u64) }) as u8
    }

    /// Warps take slots and leave them, and slots are flushed.
    fn change_slots(&mut self, rng: &mut Rng, knobs: &ResultsKnobs) {
        for s in 0..self.shape.active {
            if self.slots[s].is_some() {
                // A result that has bypassed the cache once does not come back to it.
                let around = self.slots[s].is_some_and(|warp| self.has_sent(warp, None));
                if rng.chance(knobs.flush) && (self.flush >> s & 1 == 0 || !around) {
                    self.flush ^= 1 << s;
                }
                if rng.chance(knobs.leave) {
                    (self.slots[s], self.flush) = (None, self.flush & !(1 << s));
                }
            } else if rng.chance(knobs.take) {
                // A warp is in one slot only. The block does not require a warp of the slot's port. The warp's number may differ from that of another
                // slot's warp in one bit.
                let near = self.slots[rng.below(self.slots.len() as u64) as usize].filter(|_| rng.chance(300));
                let warp = match near {
                    Some(warp) => alias(rng, warp.into(), WARPS),
                    // Or it is the warp of a result that waits.
                    None if rng.chance(300) => {
                        self.twin.out.result_warp_o[rng.below(self.shape.ports() as u64) as usize].into()
                    }
                    None => rng.below(WARPS),
                } as u8;
                if !self.slots.contains(&Some(warp)) && !self.has_sent(warp, None) {
                    self.slots[s] = Some(warp);
                }
            }
        }
    }

    /// Whether a result of a warp, to a register or to any, is in a queue of the MRF.
    fn has_sent(&self, warp: u8, register: Option<u8>) -> bool {
        let out = &self.twin.out;
        (0..self.shape.ports()).any(|b| {
            self.sent >> b & 1 == 1
                && out.result_warp_o[b] == warp
                && register.is_none_or(|register| out.result_reg_o[b] == register)
        })
    }

    fn warp(&self, rng: &mut Rng, knobs: &ResultsKnobs) -> u8 {
        let near = rng.chance(knobs.near);
        let slot = rng.below(if near { self.shape.active.min(2) } else { self.shape.active } as u64) as usize;
        // Some warps are in no slot; some of these differ in one bit from a warp that is.
        let any = rng.below(WARPS) as u8;
        match (self.slots[slot], rng.below(10)) {
            (None, _) | (_, 0) => any,
            (Some(warp), 1) => alias(rng, warp.into(), WARPS) as u8,
            (Some(warp), _) => warp,
        }
    }

    fn notes(&mut self, rng: &mut Rng, knobs: &ResultsKnobs, i: &mut RfcResultsIn) {
        let count = self.shape.ports();
        i.note_valid_i = 0;
        i.note_around_i = ports(rng, count, knobs.around);
        i.note_past_i = ports(rng, count, knobs.past);
        if self.noted < self.shape.cache_slots() * ALL {
            for p in 0..count {
                i.note_slot_i[p] = (self.noted / ALL * count + p) as u8;
                i.note_reg_i[p] = (self.noted % ALL) as u8;
                i.note_valid_i |= 1 << p;
            }
            self.noted += 1;
            return;
        }
        for p in 0..count {
            let near = rng.chance(knobs.near);
            let local = rng.below(if near { 1 } else { self.shape.cache_slots() } as u64) as usize;
            let slot = local * count + p;
            i.note_slot_i[p] = slot as u8;
            i.note_reg_i[p] = self.register(rng, knobs);
            // A register is not noted either while its result is in a queue of the MRF.
            let free = self.slots[slot].is_some_and(|warp| !self.has_sent(warp, Some(i.note_reg_i[p])));
            i.note_valid_i |= u8::from(free && rng.chance(knobs.note)) << p;
        }
        if i.note_valid_i == 3 && rng.chance(knobs.same) {
            (i.note_slot_i[1], i.note_reg_i[1]) = (i.note_slot_i[0], i.note_reg_i[0]);
        }
    }
}
