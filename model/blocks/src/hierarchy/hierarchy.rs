//! `hierarchy`: the software-managed register hierarchy. `docs/blocks/hierarchy.md`.

mod nets;

pub use nets::{HierarchyNets, HierarchyProbe};

use super::shape::{LEVEL_BITS, PLACE_SET_BITS};
use crate::hierarchy::{HierarchyEntries, HierarchyResults, HierarchyShape};
use crate::mrf::{MAX_PORTS, MRF_EVENT, Mrf};
use crate::rfc::RfcOperands;
use crate::shape::MAX_ACTIVE;
use crate::{Block, Decode, LANES, OPERANDS, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData, field, ports};

pub(crate) const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;

/// Fields of `hierarchy_event_t`, most significant first. Others of the SM's event words have the page's names, so these begin with the hierarchy's.
pub const HIERARCHY_EVENT: &[(&str, u32)] = &[
    ("hierarchy_orf_read_groups", 6),
    ("hierarchy_orf_read_shared_groups", 6),
    ("hierarchy_lrf_a_read_groups", 5),
    ("hierarchy_lrf_b_read_groups", 5),
    ("hierarchy_lrf_c_read_groups", 5),
    ("hierarchy_mrf_shared_groups", 6),
    ("hierarchy_mrf_write_shared_groups", 5),
    ("hierarchy_orf_write_groups", 5),
    ("hierarchy_orf_write_shared_groups", 5),
    ("hierarchy_copy_groups", 5),
    ("hierarchy_copy_shared_groups", 5),
    ("hierarchy_lrf_write_groups", 5),
];

/// Fields of `hierarchy_count_event_t`, most significant first.
pub const HIERARCHY_COUNT_EVENT: &[(&str, u32)] = &[
    ("hierarchy_mrf_none", 2),
    ("hierarchy_mrf_one", 2),
    ("hierarchy_mrf_two", 2),
    ("hierarchy_mrf_three", 2),
    ("hierarchy_orf_read", 3),
    ("hierarchy_lrf_read", 3),
    ("hierarchy_orf_write", 2),
    ("hierarchy_lrf_write", 2),
    ("hierarchy_copy", 2),
    ("hierarchy_both", 2),
    ("hierarchy_mrf_only", 2),
    ("hierarchy_strand_end", 2),
    ("hierarchy_strand_void", 2),
    ("hierarchy_result_wait", 2),
    ("hierarchy_copy_wait", 2),
    ("hierarchy_dispatch_hold", 2),
    ("hierarchy_unwritten", 2),
];

ports! {
    /// Inputs of [`Hierarchy`].
    pub struct HierarchyIn(s: &HierarchyShape) {
        /// Data of a result.
        write_data_i: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Slots that have a warp.
        slot_valid_i: u64 = field(s.active),
        /// Slots that are to be emptied.
        flush_i: u64 = field(s.active),
        /// Their warps have ended.
        drop_i: u64 = field(s.active),
        /// Active lanes.
        issue_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("issue_valid_i"),
        /// Lanes to write.
        write_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("write_valid_i"),
        /// First row of the warp's registers.
        issue_base_i: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("issue_valid_i"),
        /// First row of the warp's registers.
        write_base_i: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("write_valid_i"),
        /// The warp of each slot.
        slot_warp_i: [u8; MAX_ACTIVE] = field(WARP_BITS).count(s.active).valid_by("slot_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Strap: order among the reads of a bank.
        cfg_i: u8 = field(1),
        /// An instruction is offered on port p.
        issue_valid_i: u8 = field(s.ports()),
        /// Its place in the operand stage.
        issue_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("issue_valid_i"),
        /// Warp.
        issue_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Slot of the warp; also where an instruction ends its strand that does not come here.
        issue_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()),
        /// Bit 3p+k: source k of port p is a register.
        issue_src_valid_i: u8 = field(s.mrf.sources()),
        /// Register name.
        issue_src_reg_i: [u8; MAX_SOURCES] = field(REG_BITS).count(s.mrf.sources()).valid_by("issue_src_valid_i"),
        /// Level of the source.
        issue_src_level_i: [u8; MAX_SOURCES] = field(LEVEL_BITS).count(s.mrf.sources()).valid_by("issue_src_valid_i"),
        /// Register written; 255: none.
        issue_dst_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Level of the result.
        issue_dst_level_i: [u8; MAX_PORTS] = field(LEVEL_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Long-latency operation.
        issue_long_i: u8 = field(s.ports()),
        /// It goes to a private unit.
        issue_private_i: u8 = field(s.ports()),
        /// The instruction that issues on port p ends its strand.
        issue_end_i: u8 = field(s.ports()),
        /// A result is offered on bus p.
        write_valid_i: u8 = field(s.ports()),
        /// Warp of the result.
        write_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Register name of the result.
        write_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// It comes from a private unit.
        write_private_i: u8 = field(s.ports()),
        /// The instruction offered on dispatch port p is taken at this edge if also valid.
        dispatch_ready_i: u8 = field(s.ports()),
    }
}

ports! {
    /// Outputs of [`Hierarchy`].
    pub struct HierarchyOut(s: &HierarchyShape) {
        /// Operands.
        dispatch_data_o: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS)
            .count(s.mrf.sources()).valid_by("dispatch_src_valid_o").early().from(RfcOperands::NAME),
        /// Events: `hierarchy_event_t`.
        event_o: u64 = field(63).shown(Decode::Packed(HIERARCHY_EVENT)),
        /// Events: `hierarchy_count_event_t`.
        count_event_o: u64 = field(36).shown(Decode::Packed(HIERARCHY_COUNT_EVENT)),
        /// Events of the MRF: `mrf_event_t`.
        mrf_event_o: u64 = field(50).from(Mrf::NAME).shown(Decode::Packed(MRF_EVENT)),
        /// Nothing is under way to slot s, which is to be emptied.
        flush_done_o: u64 = field(s.active).from(HierarchyEntries::NAME),
        /// No lane of slot s holds what its strand may still read.
        void_o: u64 = field(s.active).early().from(HierarchyEntries::NAME),
        /// Active lanes as issued.
        dispatch_mask_o: [u32; MAX_PORTS] =
            field(LANES).count(s.ports()).valid_by("dispatch_valid_o").early().from(Mrf::NAME),
        /// Places of slot s to which something is under way.
        wait_o: [u16; MAX_ACTIVE] = field(PLACE_SET_BITS).count(s.active).early().from(HierarchyEntries::NAME),
        /// The instruction on port p is taken at this edge if also valid.
        issue_ready_o: u8 = field(s.ports()).early().from("mrf_allocator"),
        /// The result on bus p is taken at this edge if also valid.
        write_ready_o: u8 = field(s.ports()).early().from(HierarchyResults::NAME),
        /// The result that was taken last on bus p is where it goes from this edge on.
        write_done_o: u8 = field(s.ports()).early().from(HierarchyResults::NAME),
        /// Its warp.
        write_done_warp_o: [u8; MAX_PORTS] =
            field(WARP_BITS).count(s.ports()).valid_by("write_done_o").early().from(HierarchyResults::NAME),
        /// Its register name.
        write_done_reg_o: [u8; MAX_PORTS] =
            field(REG_BITS).count(s.ports()).valid_by("write_done_o").early().from(HierarchyResults::NAME),
        /// An instruction with all its operands is offered.
        dispatch_valid_o: u8 = field(s.ports()).early(),
        /// Tag as issued.
        dispatch_tag_o: [u8; MAX_PORTS] =
            field(s.tag_w()).count(s.ports()).valid_by("dispatch_valid_o").early().from(Mrf::NAME),
        /// Warp as issued.
        dispatch_warp_o: [u8; MAX_PORTS] =
            field(WARP_BITS).count(s.ports()).valid_by("dispatch_valid_o").early().from(Mrf::NAME),
        /// Bit 3p+k: `dispatch_valid_o[p]` and source k came from a register.
        dispatch_src_valid_o: u8 = field(s.mrf.sources()).early(),
    }
}
