//! `hierarchy_results`: where a result goes, and who writes the arrays. `docs/blocks/hierarchy_results.md`.

use super::shape::{BANK_BITS, ENTRY_BITS, PLACE_BITS};
use crate::hierarchy::HierarchyShape;
use crate::mrf::MAX_PORTS;
use crate::shape::MAX_ACTIVE;
use crate::{LANES, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData, field, ports};

ports! {
    /// Inputs of [`HierarchyResults`].
    pub struct HierarchyResultsIn(s: &HierarchyShape) {
        /// Data of a result.
        write_data_i: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Data of a copy.
        copy_data_i: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("copy_valid_i"),
        /// Slots that have a warp.
        slot_valid_i: u64 = field(s.active),
        /// Lanes of a result.
        write_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("write_valid_i"),
        /// Lanes of a copy.
        copy_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("copy_valid_i"),
        /// The warp of each slot.
        slot_warp_i: [u8; MAX_ACTIVE] = field(WARP_BITS).count(s.active).valid_by("slot_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A result is offered on bus b.
        write_valid_i: u8 = field(s.ports()),
        /// Its warp.
        write_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Its register.
        write_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// It comes from a private unit.
        write_private_i: u8 = field(s.ports()),
        /// A place waits for it.
        look_match_i: u8 = field(s.ports()),
        /// Which.
        look_place_i: [u8; MAX_PORTS] = field(PLACE_BITS).count(s.ports()),
        /// The MRF gets it too.
        look_both_i: u8 = field(s.ports()),
        /// A copy of dispatch port p waits.
        copy_valid_i: u8 = field(s.ports()),
        /// Its slot.
        copy_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("copy_valid_i"),
        /// Its entry.
        copy_entry_i: [u8; MAX_PORTS] = field(ENTRY_BITS).count(s.ports()).valid_by("copy_valid_i"),
        /// It is for a private unit.
        copy_private_i: u8 = field(s.ports()),
        /// The MRF's queue b takes a result.
        mrf_ready_i: u8 = field(s.ports()),
        /// What is in it goes into its bank at this edge.
        mrf_done_i: u8 = field(s.ports()),
    }
}

ports! {
    /// Outputs of [`HierarchyResults`].
    pub struct HierarchyResultsOut(s: &HierarchyShape) {
        /// Data for the ORF of array c.
        orf_data_o: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("orf_valid_o"),
        /// Data for its LRF.
        lrf_data_o: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("lrf_valid_o"),
        /// Lanes of the ORF.
        orf_mask_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("orf_valid_o"),
        /// Lanes of the LRF.
        lrf_mask_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("lrf_valid_o"),
        /// The result on bus b is taken at this edge if also valid.
        write_ready_o: u8 = field(s.ports()),
        /// The result that was taken last on bus b is everywhere where it goes from this edge on.
        write_done_o: u8 = field(s.ports()),
        /// Its warp.
        write_done_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("write_done_o"),
        /// Its register.
        write_done_reg_o: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("write_done_o"),
        /// The result on bus b is of a warp in a slot.
        look_valid_o: u8 = field(s.ports()),
        /// This slot.
        look_slot_o: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("look_valid_o"),
        /// Its register.
        look_reg_o: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("look_valid_o"),
        /// The copy of dispatch port p is written at this edge.
        copy_ready_o: u8 = field(s.ports()),
        /// The ORF of array c is written at this edge.
        orf_valid_o: u8 = field(s.ports()),
        /// Slot of the array.
        orf_slot_o: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("orf_valid_o"),
        /// Entry.
        orf_entry_o: [u8; MAX_PORTS] = field(ENTRY_BITS).count(s.ports()).valid_by("orf_valid_o"),
        /// It is a copy.
        orf_copy_o: u8 = field(s.ports()),
        /// It comes from a private unit, or is a copy for one.
        orf_private_o: u8 = field(s.ports()),
        /// The LRF of array c is written at this edge.
        lrf_valid_o: u8 = field(s.ports()),
        /// Slot of the array.
        lrf_slot_o: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("lrf_valid_o"),
        /// Bank.
        lrf_bank_o: [u8; MAX_PORTS] = field(BANK_BITS).count(s.ports()).valid_by("lrf_valid_o"),
        /// It comes from a private unit.
        lrf_private_o: u8 = field(s.ports()),
        /// The result on bus b goes into the MRF's queue at this edge.
        mrf_valid_o: u8 = field(s.ports()),
        /// Latch b has a result that is not written at this edge.
        wait_o: u8 = field(s.ports()),
    }
}

ports! {
    /// State of [`HierarchyResults`].
    pub struct HierarchyResultsProbe(s: &HierarchyShape) {
        /// Data of the result in latch b.
        data_q: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("valid_q"),
        /// Its lanes.
        mask_q: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("valid_q"),
        /// A result is in latch b.
        valid_q: u8 = field(s.ports()),
        /// The result that was taken last on bus b was one of a private unit.
        private_q: u8 = field(s.ports()),
        /// The bus that goes first at array c.
        turn_q: u8 = field(s.ports()),
        /// The dispatch port whose copy goes first at array c.
        copy_turn_q: u8 = field(s.ports()),
        /// Slot of the result in latch b.
        slot_q: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("valid_q"),
        /// Its place.
        place_q: [u8; MAX_PORTS] = field(PLACE_BITS).count(s.ports()).valid_by("valid_q"),
    }
}
