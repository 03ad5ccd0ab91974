//! `hierarchy_entries`: what a strand has written, and what is under way. `docs/blocks/hierarchy_entries.md`.

use super::shape::{BANK_BITS, ENTRY_BITS, MAX_PLACES, PLACE_BITS, PLACE_SET_BITS};
use crate::hierarchy::HierarchyShape;
use crate::mrf::MAX_PORTS;
use crate::shape::MAX_ACTIVE;
use crate::{Decode, LANES, REG_BITS, field, ports};

/// Fields of `hierarchy_entries_event_t`, most significant first.
pub const HIERARCHY_ENTRIES_EVENT: &[(&str, u32)] = &[("strand_end", 2), ("strand_void", 2), ("unwritten", 2)];

ports! {
    /// Inputs of [`HierarchyEntries`].
    pub struct HierarchyEntriesIn(s: &HierarchyShape) {
        /// Slots that are to be emptied.
        flush_i: u64 = field(s.active),
        /// Their warps have ended.
        drop_i: u64 = field(s.active),
        /// Lanes of the instruction that is taken.
        take_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("take_valid_i"),
        /// Lanes of the ORF that are written.
        orf_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("orf_valid_i"),
        /// Lanes of the LRF that are written.
        lrf_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("lrf_valid_i"),
        /// Places that the instruction reads.
        take_read_i: [u16; MAX_PORTS] = field(PLACE_SET_BITS).count(s.ports()).valid_by("take_valid_i"),
        /// Places that it copies to.
        take_copy_i: [u16; MAX_PORTS] = field(PLACE_SET_BITS).count(s.ports()).valid_by("take_valid_i"),
        /// The place that its result goes to.
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
        /// Its slot.
        look_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("look_valid_i"),
        /// Its register.
        look_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("look_valid_i"),
        /// The ORF of port c's slots is written at this edge.
        orf_valid_i: u8 = field(s.ports()),
        /// In which slot.
        orf_slot_i: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("orf_valid_i"),
        /// Which entry.
        orf_entry_i: [u8; MAX_PORTS] = field(ENTRY_BITS).count(s.ports()).valid_by("orf_valid_i"),
        /// The LRF of port c's slots is written at this edge.
        lrf_valid_i: u8 = field(s.ports()),
        /// In which slot.
        lrf_slot_i: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("lrf_valid_i"),
        /// Which bank.
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
        /// Which; 0 without.
        look_place_o: [u8; MAX_PORTS] = field(PLACE_BITS).count(s.ports()),
        /// The result goes to the MRF too.
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
        /// Lanes that are to come.
        wait_q: [u32; MAX_PLACES] = field(LANES).count(s.active * s.places()),
        /// Places of each slot for which a result is to come, not a copy.
        result_q: [u16; MAX_ACTIVE] = field(s.places() as u32).count(s.active),
        /// Those whose result goes to the MRF too.
        both_q: [u16; MAX_ACTIVE] = field(s.places() as u32).count(s.active),
        /// Register that each place waits for.
        reg_q: [u8; MAX_PLACES] = field(REG_BITS).count(s.active * s.places()).valid_by("wait_q"),
    }
}
