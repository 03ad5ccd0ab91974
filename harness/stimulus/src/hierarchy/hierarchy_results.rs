//! `hierarchy_results`.

use gpurf_blocks::WARP_BITS;
use gpurf_blocks::config::Config;
use gpurf_blocks::hierarchy::{HierarchyResults, HierarchyResultsIn, HierarchyShape, MAX_LRF_BANKS, MAX_ORF_ENTRIES};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, Twin, alias, any_write, lane_mask, ports};
use crate::{Driver, Unaliased};

mod cover;

pub(crate) use cover::ResultsCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<HierarchyResults, ResultsDriver, ResultsCover>();

/// A copy that waits at a dispatch port.
#[derive(Clone, Copy)]
struct Copy {
    slot: u8,
    entry: u8,
    mask: u32,
    private: bool,
}

/// Driver of `hierarchy_results`. It keeps which warp has which slot, the copies that wait, and which queues of the MRF are full.
pub(crate) struct ResultsDriver {
    shape: HierarchyShape,
    reset: Reset,
    twin: Twin<HierarchyResults>,
    /// Warp of each slot.
    slots: Vec<Option<u8>>,
    copies: [Option<Copy>; 2],
    /// Queues of the MRF that are full.
    full: u8,
}

/// Number of warp numbers.
const WARPS: u64 = 1 << WARP_BITS;

knobs! {
    pub(crate) struct ResultsKnobs {
        write: "a result is offered" = [100, 500, 950],
        near: "its warp is one of two slots'" = [0, 500, 1000],
        r#match: "a place waits for it" = [100, 600, 1000],
        bank: "a bank of the LRF" = [0, 300, 900],
        both: "the MRF gets it too" = [0, 300, 900],
        copy: "a copy comes" = [0, 200, 800],
        one: "copies are for one array" = [0, 900],
        done: "what is in the MRF's queue goes into its bank" = [50, 500, 1000],
        slot: "a slot gets another warp, or none" = [2, 30, 200],
        partial: "lanes are inactive" = [0, 500],
        reset,
    }
}

impl Driver for ResultsDriver {
    type In = HierarchyResultsIn;
    type Knobs = ResultsKnobs;

    fn new(shape: &HierarchyShape, _: &Config) -> Self {
        Self {
            shape: *shape,
            reset: Reset::default(),
            twin: Twin::new(shape),
            slots: vec![None; shape.active],
            copies: [None; 2],
            full: 0,
        }
    }

    fn unaliased(_: &HierarchyShape, _: &Config) -> Vec<Unaliased> {
        Unaliased::ports(&["32'(copy_slot_i[b]) % IssuePorts == c", "32'(slot_q[b]) % IssuePorts == c"])
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &ResultsKnobs, i: &mut HierarchyResultsIn) {
        let count = self.shape.ports();
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.reset);
        self.change_slots(rng, knobs);
        i.slot_valid_i = 0;
        for (s, warp) in self.slots.iter().enumerate() {
            i.slot_valid_i |= u64::from(warp.is_some()) << s;
            i.slot_warp_i[s] = warp.unwrap_or_else(|| rng.below(64) as u8);
        }
        i.write_valid_i = ports(rng, count, knobs.write);
        for b in 0..count {
            let (warp, register) = (self.warp(rng, knobs), rng.below(255) as u8);
            i.write_i[b] = any_write(rng, knobs.partial, warp, register);
            rng.fill(&mut i.write_data_i[b].0);
        }
        self.copies(rng, knobs, i);
        // A queue has room for one result, and takes the next one as that one goes into its bank.
        i.mrf_done_i = self.full & ports(rng, count, knobs.done);
        i.mrf_ready_i = (!self.full | i.mrf_done_i) & ((1 << count) - 1);
        (i.look_match_i, i.look_both_i) = (0, 0);
        self.twin.late(i);
        let looks = self.twin.out.look_valid_o;
        i.look_match_i = looks & ports(rng, count, knobs.r#match);
        i.look_both_i = i.look_match_i & ports(rng, count, knobs.both);
        for b in 0..count {
            let bank = rng.chance(knobs.bank);
            let place = if bank {
                MAX_ORF_ENTRIES as u64 + rng.below(MAX_LRF_BANKS as u64)
            } else {
                rng.below(MAX_ORF_ENTRIES as u64)
            };
            i.look_place_i[b] = if i.look_match_i >> b & 1 == 1 { place as u8 } else { 0 };
        }
        self.twin.late(i);
        let out = &self.twin.out;
        self.full = self.full & !i.mrf_done_i | out.mrf_valid_o & i.mrf_ready_i;
        for p in (0..count).filter(|p| out.copy_ready_o >> p & 1 == 1) {
            self.copies[p] = None;
        }
        self.twin.clock(i);
        if i.rst_ni == 0 {
            (self.full, self.copies) = (0, [None; 2]);
        }
    }
}

impl ResultsDriver {
    fn change_slots(&mut self, rng: &mut Rng, knobs: &ResultsKnobs) {
        for s in 0..self.shape.active {
            if rng.chance(knobs.slot) {
                // A warp is in one slot only. The block does not require a warp of the slot's port. The warp's number may differ from that of another
                // slot's warp in one bit.
                let near = self.slots[rng.below(self.slots.len() as u64) as usize].filter(|_| rng.chance(300));
                let warp = match near {
                    Some(warp) => alias(rng, warp.into(), WARPS),
                    None => rng.below(WARPS),
                } as u8;
                let free = !self.slots.contains(&Some(warp));
                self.slots[s] = Some(warp).filter(|_| free && rng.chance(900));
            }
        }
    }

    fn warp(&self, rng: &mut Rng, knobs: &ResultsKnobs) -> u8 {
        let some = if rng.chance(knobs.near) { self.shape.active.min(2) } else { self.shape.active };
        let slot = rng.below(some as u64) as usize;
        // Some warps are in no slot; some of these differ in one bit from a warp that is.
        let any = rng.below(WARPS) as u8;
        match (self.slots[slot], rng.below(20)) {
            (None, _) | (_, 0) => any,
            (Some(warp), 1) => alias(rng, warp.into(), WARPS) as u8,
            (Some(warp), _) => warp,
        }
    }

    fn copies(&mut self, rng: &mut Rng, knobs: &ResultsKnobs, i: &mut HierarchyResultsIn) {
        let one = rng.chance(knobs.one);
        let count = self.shape.ports();
        (i.copy_valid_i, i.copy_private_i) = (0, 0);
        for p in 0..count {
            if self.copies[p].is_none() && rng.chance(knobs.copy) {
                let local = rng.below(self.shape.port_slots() as u64) as usize;
                let array = if one { 0 } else { rng.below(count as u64) as usize };
                self.copies[p] = Some(Copy {
                    slot: (local * count + array) as u8,
                    entry: rng.below(MAX_ORF_ENTRIES as u64) as u8,
                    mask: lane_mask(rng, knobs.partial),
                    private: rng.chance(500),
                });
                rng.fill(&mut i.copy_data_i[p].0);
            }
            let Some(copy) = self.copies[p] else { continue };
            i.copy_valid_i |= 1 << p;
            i.copy_private_i |= u8::from(copy.private) << p;
            (i.copy_slot_i[p], i.copy_entry_i[p], i.copy_mask_i[p]) = (copy.slot, copy.entry, copy.mask);
        }
    }
}
