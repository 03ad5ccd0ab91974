//! `hierarchy_levels`: where an instruction's operands are. `docs/blocks/hierarchy_levels.md`.

use super::shape::{ENTRY_BITS, LEVEL_BITS, MAX_LRF_BANKS, PLACE_SET_BITS};
use crate::hierarchy::HierarchyShape;
use crate::{OPERANDS, REG_BITS, field, ports};

ports! {
    /// Inputs of [`HierarchyLevels`].
    pub struct HierarchyLevelsIn(s: &HierarchyShape) {
        /// An instruction is offered.
        valid_i: u8 = field(1),
        /// Its sources that are registers.
        src_valid_i: u8 = field(OPERANDS).valid_by("valid_i"),
        /// Their levels.
        src_level_i: [u8; OPERANDS] = field(LEVEL_BITS).count(OPERANDS).valid_by("src_valid_i"),
        /// Register written; 255: none.
        dst_i: u8 = field(REG_BITS).valid_by("valid_i"),
        /// Level of the result.
        dst_level_i: u8 = field(LEVEL_BITS).valid_by("valid_i"),
        /// Long-latency operation.
        long_i: u8 = field(1).valid_by("valid_i"),
    }
}

ports! {
    /// Outputs of [`HierarchyLevels`].
    pub struct HierarchyLevelsOut(s: &HierarchyShape) {
        /// Places that are read.
        read_place_o: u16 = field(PLACE_SET_BITS),
        /// Places that are copied to.
        copy_place_o: u16 = field(PLACE_SET_BITS),
        /// The place that the result goes to; empty: the MRF only.
        result_place_o: u16 = field(PLACE_SET_BITS),
        /// Sources that are read from the MRF.
        mrf_o: u8 = field(OPERANDS),
        /// From the ORF.
        orf_o: u8 = field(OPERANDS),
        /// From the LRF.
        lrf_o: u8 = field(OPERANDS),
        /// Sources that are read from the MRF and copied to the ORF.
        copy_o: u8 = field(OPERANDS),
        /// ORF entry that each source is read from or copied to; 0 without.
        entry_o: [u8; OPERANDS] = field(ENTRY_BITS).count(OPERANDS),
        /// Read port of the ORF that serves each source; 0 without.
        port_o: [u8; OPERANDS] = field(2).count(OPERANDS),
        /// Read ports of the ORF that read.
        orf_read_o: u8 = field(OPERANDS),
        /// Banks of the LRF that are read.
        lrf_read_o: u8 = field(MAX_LRF_BANKS),
        /// The result goes to the MRF too.
        both_o: u8 = field(1),
    }
}
