//! `hierarchy_entries`: what a strand has written, and what is in flight. `docs/blocks/hierarchy_entries.md`.

use super::shape::{BANK_BITS, ENTRY_BITS, MAX_ORF_ENTRIES, MAX_PLACES, PLACE_BITS, PLACE_SET_BITS};
use crate::hierarchy::HierarchyShape;
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{is_set, pack, set_bits};
use crate::sizes::MAX_ACTIVE;
use crate::{Block, Decode, LANES, Ports, REG_BITS, field, ports};

/// Fields of `hierarchy_entries_event_t`, most significant first.
pub const HIERARCHY_ENTRIES_EVENT: &[(&str, u32)] = &[("strand_end", 2), ("strand_void", 2), ("unwritten", 2)];

ports! {
    /// Inputs of [`HierarchyEntries`].
    pub struct HierarchyEntriesIn(s: &HierarchyShape) {
        /// Slots that are to be emptied.
        flush_i: u64 = field(s.active),
        /// Lanes of the instruction that is taken.
        take_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("take_valid_i"),
        /// Lanes of the ORF that are written.
        orf_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("orf_valid_i"),
        /// Lanes of the LRF that are written.
        lrf_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("lrf_valid_i"),
        /// Places that the instruction reads.
        take_read_i: [u16; MAX_PORTS] = field(PLACE_SET_BITS).count(s.ports()).valid_by("take_valid_i"),
        /// Places that the instruction copies to.
        take_copy_i: [u16; MAX_PORTS] = field(PLACE_SET_BITS).count(s.ports()).valid_by("take_valid_i"),
        /// The place that the result of the instruction goes to.
        take_result_i: [u16; MAX_PORTS] = field(PLACE_SET_BITS).count(s.ports()).valid_by("take_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction is taken on port p.
        take_valid_i: u8 = field(s.ports()),
        /// Slot of the instruction that is taken, or that ends its strand.
        take_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()),
        /// Register written.
        take_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("take_valid_i"),
        /// The result goes to the MRF too.
        take_both_i: u8 = field(s.ports()),
        /// The instruction that issues on port p ends its strand.
        end_i: u8 = field(s.ports()),
        /// A result comes on bus b, of a warp in a slot.
        look_valid_i: u8 = field(s.ports()),
        /// Slot of the warp of the result on bus b.
        look_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("look_valid_i"),
        /// Register of the result on bus b.
        look_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("look_valid_i"),
        /// The ORF of port c's slots is written at this edge.
        orf_valid_i: u8 = field(s.ports()),
        /// Slot of the array whose ORF is written.
        orf_slot_i: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("orf_valid_i"),
        /// Entry of the ORF that is written.
        orf_entry_i: [u8; MAX_PORTS] = field(ENTRY_BITS).count(s.ports()).valid_by("orf_valid_i"),
        /// The LRF of port c's slots is written at this edge.
        lrf_valid_i: u8 = field(s.ports()),
        /// Slot of the array whose LRF is written.
        lrf_slot_i: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("lrf_valid_i"),
        /// Bank of the LRF that is written.
        lrf_bank_i: [u8; MAX_PORTS] = field(BANK_BITS).count(s.ports()).valid_by("lrf_valid_i"),
    }
}

ports! {
    /// Outputs of [`HierarchyEntries`].
    pub struct HierarchyEntriesOut(s: &HierarchyShape) {
        /// Slots to be emptied to which nothing is under way.
        flush_done_o: u64 = field(s.active),
        /// Slots without a valid lane.
        void_o: u64 = field(s.active).early(),
        /// Places of each slot that wait.
        wait_o: [u16; MAX_ACTIVE] = field(PLACE_SET_BITS).count(s.active).early(),
        /// A place waits for the result on bus b.
        look_match_o: u8 = field(s.ports()),
        /// Place that waits for the result on bus b; 0 without one.
        look_place_o: [u8; MAX_PORTS] = field(PLACE_BITS).count(s.ports()),
        /// The result on bus b goes to the MRF too.
        look_both_o: u8 = field(s.ports()),
        /// Events: `hierarchy_entries_event_t`.
        event_o: u8 = field(6).shown(Decode::Packed(HIERARCHY_ENTRIES_EVENT)),
    }
}

ports! {
    /// State of [`HierarchyEntries`].
    pub struct HierarchyEntriesProbe(s: &HierarchyShape) {
        /// Lanes of each place that the strand has written.
        valid_q: [u32; MAX_PLACES] = field(LANES).count(s.active * s.places()),
        /// Lanes of each place that are to come.
        wait_q: [u32; MAX_PLACES] = field(LANES).count(s.active * s.places()),
        /// Places of each slot for which a result is to come, not a copy.
        result_q: [u16; MAX_ACTIVE] = field(s.places() as u32).count(s.active),
        /// Places of each slot whose result goes to the MRF too.
        both_q: [u16; MAX_ACTIVE] = field(s.places() as u32).count(s.active),
        /// Register that each place waits for.
        reg_q: [u8; MAX_PLACES] = field(REG_BITS).count(s.active * s.places()).valid_by("wait_q"),
    }
}

/// An instruction that is taken: its places as sets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Take {
    pub(crate) mask: u32,
    pub(crate) read: u16,
    pub(crate) copy: u16,
    pub(crate) result: u16,
    pub(crate) slot: u8,
    /// Register written.
    pub(crate) reg: u8,
    /// The result goes to the MRF too.
    pub(crate) both: bool,
}

/// Lanes of a place that are written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Landing {
    pub(crate) mask: u32,
    /// Slot of all slots.
    pub(crate) slot: u8,
    pub(crate) place: u8,
}

/// The place that waits for a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) place: u8,
    /// The MRF gets the result too.
    pub(crate) both: bool,
}

/// State of a place.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Lanes that the strand has written.
    valid: u32,
    /// Lanes that are still to be written.
    wait: u32,
    /// The place waits for a result, not a copy; the result goes to the MRF too.
    result: bool,
    both: bool,
    /// Register for whose value the place waits.
    reg: u8,
}

/// For each place of each slot: the lanes that its strand has written, and the lanes that are still to be written (hazards 2, 3, 4, 7).
///
/// A direct caller asks which place waits for a result ([`look`](Self::look)). At the edge it reports what is written, what is taken, whose strand ends
/// and which slots are emptied, in this order.
#[derive(Clone)]
pub struct HierarchyEntries {
    shape: HierarchyShape,
    places: Box<[Place]>,
    /// Derived from the places: places of each slot that wait, slots with such a place, and slots with a valid lane.
    wait: [u16; MAX_ACTIVE],
    waiting: u64,
    full: u64,
    /// Set by the last `late`, used at the clock edge: slots to be emptied in which no place waits.
    flush_done: u64,
}

impl HierarchyEntries {
    /// Slots without a valid lane.
    #[inline]
    pub(crate) fn void(&self) -> u64 {
        !self.full & u64::MAX >> (u64::BITS as usize - self.shape.active)
    }

    /// Places of each slot that wait.
    #[inline]
    pub(crate) fn waits(&self) -> &[u16; MAX_ACTIVE] {
        &self.wait
    }

    /// Slots with a place that waits.
    #[inline]
    pub(crate) fn waiting(&self) -> u64 {
        self.waiting
    }

    /// The places of a slot that are in a set and that the machine has.
    #[inline]
    fn elements(&self, slot: u8, set: u16) -> impl Iterator<Item = usize> + use<> {
        let shape = self.shape;
        set_bits(set).filter_map(move |place| shape.element(slot.into(), place))
    }

    /// The place of a slot that waits for a result of this register.
    #[inline]
    pub(crate) fn look(&self, slot: u8, reg: u8) -> Option<Match> {
        let wait = *self.wait.get(usize::from(slot))?;
        let found = set_bits(wait).find_map(|place| {
            let here = &self.places[self.shape.element(slot.into(), place)?];
            (here.result && here.reg == reg).then_some((place, here.both))
        });
        found.map(|(place, both)| Match { place: place as u8, both })
    }

    /// Whether an instruction reads a lane of a place that its strand has not written.
    #[inline]
    pub(crate) fn is_unwritten(&self, take: &Take) -> bool {
        self.elements(take.slot, take.read).any(|i| self.places[i].valid & take.mask != take.mask)
    }

    /// Whether the end of a strand discards lanes.
    #[inline]
    pub(crate) fn has_lanes(&self, slot: u8) -> bool {
        is_set(self.full, slot.into())
    }

    /// Clock edge at which lanes of a place are written.
    #[inline]
    pub(crate) fn landed(&mut self, landing: &Landing) {
        let Landing { mask, slot, place } = *landing;
        let Some(i) = self.shape.element(slot.into(), place.into()) else { return };
        self.places[i].wait &= !mask;
        if self.places[i].wait == 0 {
            self.note_wait(slot, place.into(), false);
        }
    }

    /// Clock edge at which an instruction is taken.
    #[inline]
    pub(crate) fn taken(&mut self, take: &Take) {
        for place in set_bits(take.copy | take.result) {
            let Some(i) = self.shape.element(take.slot.into(), place) else { continue };
            let here = &mut self.places[i];
            here.valid |= take.mask;
            here.wait |= take.mask;
            (here.result, here.both, here.reg) = (is_set(take.result, place), take.both, take.reg);
            let Place { valid, wait, .. } = *here;
            self.full |= u64::from(valid != 0) << take.slot;
            self.note_wait(take.slot, place, wait != 0);
        }
    }

    #[inline]
    fn note_wait(&mut self, slot: u8, place: usize, waits: bool) {
        let set = &mut self.wait[usize::from(slot)];
        *set = *set & !(1 << place) | u16::from(waits) << place;
        self.waiting = self.waiting & !(1 << slot) | u64::from(*set != 0) << slot;
    }

    /// Clock edge at which a slot's strand ends, or its warp leaves it.
    #[inline]
    pub(crate) fn voided(&mut self, slot: u8) {
        if !is_set(self.full, slot.into()) {
            return;
        }
        self.full &= !(1 << slot);
        let places = self.shape.places();
        self.places[usize::from(slot) * places..][..places].iter_mut().for_each(|place| place.valid = 0);
    }

    /// Clock edge in reset: nothing is valid, nothing waits.
    pub(crate) fn reset(&mut self) {
        for place in &mut self.places {
            *place = Place { reg: place.reg, ..Place::default() };
        }
        (self.wait, self.waiting, self.full) = ([0; MAX_ACTIVE], 0, 0);
    }
}

/// The event word: strands that end, strands that discard lanes, instructions that read unwritten lanes.
pub(crate) fn entries_event(ends: u32, voids: u32, unwritten: u32) -> u8 {
    pack(HIERARCHY_ENTRIES_EVENT, [ends, voids, unwritten]) as u8
}

/// The instruction that is taken on port `p`.
fn take(inputs: &HierarchyEntriesIn, p: usize) -> Take {
    Take {
        mask: inputs.take_mask_i[p],
        read: inputs.take_read_i[p],
        copy: inputs.take_copy_i[p],
        result: inputs.take_result_i[p],
        slot: inputs.take_slot_i[p],
        reg: inputs.take_reg_i[p],
        both: is_set(inputs.take_both_i, p),
    }
}

impl Block for HierarchyEntries {
    const NAME: &'static str = "hierarchy_entries";
    const PARAMETERS: &'static [&'static str] = &["IssuePorts", "Active", "Entries", "LrfBanks"];

    type Shape = HierarchyShape;
    type In = HierarchyEntriesIn;
    type Out = HierarchyEntriesOut;
    type Probe = HierarchyEntriesProbe;

    fn new(shape: &HierarchyShape) -> Self {
        Self {
            shape: *shape,
            places: vec![Place::default(); shape.active * shape.places()].into(),
            wait: [0; MAX_ACTIVE],
            waiting: 0,
            full: 0,
            flush_done: 0,
        }
    }

    fn early(&self, out: &mut HierarchyEntriesOut) {
        (out.void_o, out.wait_o) = (self.void(), self.wait);
    }

    fn late(&mut self, inputs: &HierarchyEntriesIn, out: &mut HierarchyEntriesOut) {
        self.flush_done = inputs.flush_i & !self.waiting;
        out.flush_done_o = self.flush_done;
        (out.look_match_o, out.look_place_o, out.look_both_o) = Default::default();
        for b in set_bits(inputs.look_valid_i) {
            if let Some(Match { place, both }) = self.look(inputs.look_slot_i[b], inputs.look_reg_i[b]) {
                out.look_match_o |= 1 << b;
                out.look_place_o[b] = place;
                out.look_both_o |= u8::from(both) << b;
            }
        }
        let unwritten = set_bits(inputs.take_valid_i).filter(|&p| self.is_unwritten(&take(inputs, p)));
        let voids = set_bits(inputs.end_i).filter(|&p| self.has_lanes(inputs.take_slot_i[p]));
        out.event_o = entries_event(inputs.end_i.count_ones(), voids.count() as u32, unwritten.count() as u32);
    }

    fn clock(&mut self, inputs: &HierarchyEntriesIn, _: &HierarchyEntriesOut) {
        let ports = self.shape.ports() as u8;
        for c in set_bits(inputs.orf_valid_i) {
            let slot = inputs.orf_slot_i[c] * ports + c as u8;
            self.landed(&Landing { mask: inputs.orf_mask_i[c], slot, place: inputs.orf_entry_i[c] });
        }
        for c in set_bits(inputs.lrf_valid_i) {
            let slot = inputs.lrf_slot_i[c] * ports + c as u8;
            let place = inputs.lrf_bank_i[c] + MAX_ORF_ENTRIES as u8;
            self.landed(&Landing { mask: inputs.lrf_mask_i[c], slot, place });
        }
        for p in set_bits(inputs.take_valid_i) {
            self.taken(&take(inputs, p));
        }
        for p in set_bits(inputs.end_i) {
            self.voided(inputs.take_slot_i[p]);
        }
        for s in set_bits(self.flush_done) {
            self.voided(s as u8);
        }
        if inputs.rst_ni == 0 {
            self.reset();
        }
    }

    fn probe(&self, _: &HierarchyEntriesIn, _: &HierarchyEntriesOut, probe: &mut HierarchyEntriesProbe) {
        *probe = HierarchyEntriesProbe::zeroed();
        let each = self.shape.places();
        for (i, place) in self.places.iter().enumerate() {
            (probe.valid_q[i], probe.wait_q[i]) = (place.valid, place.wait);
            probe.result_q[i / each] |= u16::from(place.result) << (i % each);
            probe.both_q[i / each] |= u16::from(place.both) << (i % each);
            probe.reg_q[i] = if place.wait == 0 { 0 } else { place.reg };
        }
    }
}

#[cfg(test)]
mod tests;
