//! `hierarchy_data`: the arrays of ORF and LRF. `docs/blocks/hierarchy_data.md`.

use super::shape::{BANK_BITS, ENTRY_BITS, MAX_LRF_BANKS};
use crate::hierarchy::HierarchyShape;
use crate::{LANES, OPERANDS, WARP_DATA_BITS, WarpData, field, ports};

ports! {
    /// Inputs of [`HierarchyData`].
    pub struct HierarchyDataIn(s: &HierarchyShape) {
        /// Data for the ORF.
        orf_data_i: WarpData = field(WARP_DATA_BITS).valid_by("orf_valid_i"),
        /// Data for the LRF.
        lrf_data_i: WarpData = field(WARP_DATA_BITS).valid_by("lrf_valid_i"),
        /// Lanes of the ORF that are written.
        orf_mask_i: u32 = field(LANES).valid_by("orf_valid_i"),
        /// Lanes of the LRF that are written.
        lrf_mask_i: u32 = field(LANES).valid_by("lrf_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction is taken.
        move_valid_i: u8 = field(1),
        /// Its tag.
        move_tag_i: u8 = field(s.tag_w()).valid_by("move_valid_i"),
        /// Its slot.
        move_slot_i: u8 = field(s.local_w()).valid_by("move_valid_i"),
        /// Sources that are read from the ORF.
        move_orf_i: u8 = field(OPERANDS).valid_by("move_valid_i"),
        /// From the LRF.
        move_lrf_i: u8 = field(OPERANDS).valid_by("move_valid_i"),
        /// Read port of the ORF that serves each source.
        move_port_i: [u8; OPERANDS] = field(2).count(OPERANDS).valid_by("move_orf_i"),
        /// Its entry.
        move_entry_i: [u8; OPERANDS] = field(ENTRY_BITS).count(OPERANDS).valid_by("move_orf_i"),
        /// Read ports of the ORF that read.
        move_orf_read_i: u8 = field(OPERANDS).valid_by("move_valid_i"),
        /// Banks of the LRF that are read.
        move_lrf_read_i: u8 = field(MAX_LRF_BANKS).valid_by("move_valid_i"),
        /// The ORF is written at this edge.
        orf_valid_i: u8 = field(1),
        /// In which slot.
        orf_slot_i: u8 = field(s.local_w()).valid_by("orf_valid_i"),
        /// Which entry.
        orf_entry_i: u8 = field(ENTRY_BITS).valid_by("orf_valid_i"),
        /// The LRF is written at this edge.
        lrf_valid_i: u8 = field(1),
        /// In which slot.
        lrf_slot_i: u8 = field(s.local_w()).valid_by("lrf_valid_i"),
        /// Which bank.
        lrf_bank_i: u8 = field(BANK_BITS).valid_by("lrf_valid_i"),
    }
}

ports! {
    /// Outputs of [`HierarchyData`].
    pub struct HierarchyDataOut(s: &HierarchyShape) {
        /// Operands that land.
        land_data_o: [WarpData; OPERANDS] = field(WARP_DATA_BITS).count(OPERANDS).valid_by("land_fill_o").early(),
        /// Operands of an instruction are there.
        land_valid_o: u8 = field(1).early(),
        /// Its tag.
        land_tag_o: u8 = field(s.tag_w()).valid_by("land_valid_o").early(),
        /// For which sources.
        land_fill_o: u8 = field(OPERANDS).early(),
    }
}

ports! {
    /// State of [`HierarchyData`].
    pub struct HierarchyDataProbe(s: &HierarchyShape) {
        /// What each port of the ORF reads for the instruction in D.
        d_index_q: [u16; OPERANDS] = field(s.index_w()).count(OPERANDS).valid_by("d_orf_read_q"),
        /// An instruction is in D.
        d_move_q: u8 = field(1),
        /// Operands are in O.
        o_land_q: u8 = field(1),
        /// Tag of the instruction in D.
        d_tag_q: u8 = field(s.tag_w()).valid_by("d_move_q"),
        /// Its slot.
        d_slot_q: u8 = field(s.local_w()).valid_by("d_move_q"),
        /// Its sources that are read from the ORF.
        d_orf_q: u8 = field(OPERANDS).valid_by("d_move_q"),
        /// From the LRF.
        d_lrf_q: u8 = field(OPERANDS).valid_by("d_move_q"),
        /// Read ports of the ORF that read.
        d_orf_read_q: u8 = field(OPERANDS).valid_by("d_move_q"),
        /// Banks of the LRF that are read.
        d_lrf_read_q: u8 = field(MAX_LRF_BANKS).valid_by("d_move_q"),
        /// Read ports that serve its sources.
        d_port_q: [u8; OPERANDS] = field(2).count(OPERANDS).valid_by("d_orf_q"),
        /// Tag of the instruction in O.
        o_tag_q: u8 = field(s.tag_w()).valid_by("o_land_q"),
        /// Its sources that have come from the ORF.
        o_orf_q: u8 = field(OPERANDS).valid_by("o_land_q"),
        /// From the LRF.
        o_lrf_q: u8 = field(OPERANDS).valid_by("o_land_q"),
        /// Read ports that serve them.
        o_port_q: [u8; OPERANDS] = field(2).count(OPERANDS).valid_by("o_orf_q"),
    }
}
