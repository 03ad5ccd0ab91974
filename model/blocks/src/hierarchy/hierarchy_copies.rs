//! `hierarchy_copies`: operands that are read from the MRF and kept in the ORF. `docs/blocks/hierarchy_copies.md`.

use super::shape::ENTRY_BITS;
use crate::hierarchy::HierarchyShape;
use crate::mrf::{MAX_COLLECTORS, MAX_PORTS};
use crate::{LANES, OPERANDS, WARP_DATA_BITS, WarpData, field, ports};

const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;

ports! {
    /// Inputs of [`HierarchyCopies`].
    pub struct HierarchyCopiesIn(s: &HierarchyShape) {
        /// What the MRF gave the instruction.
        offer_data_i: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS).count(s.mrf.sources()),
        /// Lanes of the instruction.
        offer_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("offer_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction is taken.
        note_valid_i: u8 = field(s.ports()),
        /// Its tag.
        note_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("note_valid_i"),
        /// Bit 3p+k: its source k is copied.
        note_copy_i: u8 = field(s.mrf.sources()),
        /// To this entry.
        note_entry_i: [u8; MAX_SOURCES] = field(ENTRY_BITS).count(s.mrf.sources()).valid_by("note_copy_i"),
        /// Its slot.
        note_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("note_valid_i"),
        /// It goes to a private unit.
        note_private_i: u8 = field(s.ports()),
        /// An instruction has all its operands, at dispatch port p.
        offer_valid_i: u8 = field(s.ports()),
        /// Its tag.
        offer_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("offer_valid_i"),
        /// It is dispatched at this edge.
        go_i: u8 = field(s.ports()),
        /// The copy of port p is written at this edge.
        copy_ready_i: u8 = field(s.ports()),
    }
}

ports! {
    /// Outputs of [`HierarchyCopies`].
    pub struct HierarchyCopiesOut(s: &HierarchyShape) {
        /// Data of the first copy of port p.
        copy_data_o: [WarpData; MAX_PORTS] =
            field(WARP_DATA_BITS).count(s.ports()).valid_by("copy_valid_o").early(),
        /// Its lanes.
        copy_mask_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("copy_valid_o").early(),
        /// The instruction has copies, and there is no room for them.
        hold_o: u8 = field(s.ports()),
        /// A copy of port p waits.
        copy_valid_o: u8 = field(s.ports()).early(),
        /// Its slot.
        copy_slot_o: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("copy_valid_o").early(),
        /// Its entry.
        copy_entry_o: [u8; MAX_PORTS] = field(ENTRY_BITS).count(s.ports()).valid_by("copy_valid_o").early(),
        /// Its instruction is for a private unit.
        copy_private_o: u8 = field(s.ports()).early(),
        /// It is not written at this edge.
        wait_o: u8 = field(s.ports()),
    }
}

ports! {
    /// State of [`HierarchyCopies`].
    pub struct HierarchyCopiesProbe(s: &HierarchyShape) {
        /// Data of the copies of each port.
        left_data_q: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS).count(s.mrf.sources()).valid_by("left_q"),
        /// Bit 3i+k: source k of tag i is copied.
        copy_q: u64 = field(OPERANDS * s.tags()),
        /// Lanes of the copies of each port.
        left_mask_q: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("left_q"),
        /// The entry that source k of tag i is copied to.
        entry_q: [u8; OPERANDS * MAX_COLLECTORS] = field(ENTRY_BITS).count(OPERANDS * s.tags()).valid_by("copy_q"),
        /// Slot of tag i.
        slot_q: [u8; MAX_COLLECTORS] = field(s.slot_w()).count(s.tags()).valid_by("copy_q"),
        /// It goes to a private unit.
        private_q: [u8; MAX_COLLECTORS] = field(1).count(s.tags()).valid_by("copy_q"),
        /// Copies that are still to be written.
        left_q: u8 = field(s.mrf.sources()),
        /// Their instruction was for a private unit.
        left_private_q: u8 = field(s.ports()),
        /// Its slot.
        left_slot_q: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("left_q"),
        /// The entry of each.
        left_entry_q: [u8; MAX_SOURCES] = field(ENTRY_BITS).count(s.mrf.sources()).valid_by("left_q"),
    }
}
