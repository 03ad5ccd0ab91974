//! The nets between the blocks of the register hierarchy, as lockstep compares them.

use std::mem::offset_of;

use super::super::shape::{BANK_BITS, ENTRY_BITS, MAX_LRF_BANKS, PLACE_BITS, PLACE_SET_BITS};
use super::MAX_SOURCES;
use crate::hierarchy::{
    HIERARCHY_ENTRIES_EVENT, HierarchyCopies, HierarchyCopiesProbe, HierarchyData, HierarchyDataProbe,
    HierarchyEntries, HierarchyEntriesProbe, HierarchyLevels, HierarchyResults, HierarchyResultsProbe, HierarchyShape,
};
use crate::mrf::{MAX_PORTS, Mrf, MrfProbe};
use crate::ports::renamed;
use crate::rfc::{RfcOperands, RfcOperandsProbe};
use crate::{Block, Decode, Field, LANES, OPERANDS, Ports, REG_BITS, WARP_DATA_BITS, WarpData, field, ports};

const LEVELS: &str = HierarchyLevels::NAME;
const ENTRIES: &str = HierarchyEntries::NAME;
const DATA: &str = HierarchyData::NAME;
const RESULTS: &str = HierarchyResults::NAME;
const COPIES: &str = HierarchyCopies::NAME;
const LATCHES: &str = RfcOperands::NAME;

ports! {
    /// Nets between the blocks of `Hierarchy`, which has no state of its own.
    pub struct HierarchyNets(s: &HierarchyShape) {
        /// Operands that come from ORF and LRF of each port.
        data_land_data: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS).count(s.mrf.sources()).valid_by("data_land_fill")
            .early().from_each(DATA, OPERANDS).to(LATCHES),
        /// Data for the ORF of each port.
        results_orf_data: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("results_orf_valid")
            .early().from(RESULTS).to_each(DATA, 1),
        /// Data for its LRF.
        results_lrf_data: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("results_lrf_valid")
            .early().from(RESULTS).to_each(DATA, 1),
        /// Data of copies.
        copies_copy_data: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("copies_copy_valid")
            .early().from(COPIES).to(RESULTS),
        /// What the MRF offers.
        mrf_dispatch_data: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS).count(s.mrf.sources())
            .valid_by("mrf_dispatch_src_valid").early().from("mrf_crossbar").to(LATCHES).to(COPIES),
        /// Lanes of each source that come from ORF or LRF: all or none.
        operands_move_hit: [u32; MAX_SOURCES] = field(LANES).count(s.mrf.sources()).valid_by("take").to(LATCHES),
        /// Lanes of the ORF of each port that are written.
        results_orf_mask: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("results_orf_valid")
            .early().from(RESULTS).to(ENTRIES).to_each(DATA, 1),
        /// Lanes of the LRF.
        results_lrf_mask: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("results_lrf_valid")
            .early().from(RESULTS).to(ENTRIES).to_each(DATA, 1),
        /// Lanes of copies.
        copies_copy_mask: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("copies_copy_valid")
            .early().from(COPIES).to(RESULTS),
        /// Places that the instruction on port p reads.
        levels_read_place: [u16; MAX_PORTS] = field(PLACE_SET_BITS).count(s.ports()).from_each(LEVELS, 1).to(ENTRIES),
        /// Places that it copies to.
        levels_copy_place: [u16; MAX_PORTS] = field(PLACE_SET_BITS).count(s.ports()).from_each(LEVELS, 1).to(ENTRIES),
        /// The place that its result goes to.
        levels_result_place: [u16; MAX_PORTS] = field(PLACE_SET_BITS).count(s.ports()).from_each(LEVELS, 1).to(ENTRIES),
        /// An instruction is taken.
        take: u8 = field(s.ports()).to(ENTRIES).to(COPIES).to_each(DATA, 1).to(LATCHES),
        /// Sources that are read from the MRF.
        levels_mrf: u8 = field(s.mrf.sources()).from_each(LEVELS, OPERANDS).to("mrf_collector"),
        /// From the ORF.
        levels_orf: u8 = field(s.mrf.sources()).from_each(LEVELS, OPERANDS).to_each(DATA, OPERANDS),
        /// From the LRF.
        levels_lrf: u8 = field(s.mrf.sources()).from_each(LEVELS, OPERANDS).to_each(DATA, OPERANDS),
        /// Sources that are copied.
        levels_copy: u8 = field(s.mrf.sources()).from_each(LEVELS, OPERANDS).to(COPIES),
        /// Entries of sources.
        levels_entry: [u8; MAX_SOURCES] =
            field(ENTRY_BITS).count(s.mrf.sources()).from_each(LEVELS, OPERANDS).to_each(DATA, OPERANDS).to(COPIES),
        /// Read ports that serve them.
        levels_port: [u8; MAX_SOURCES] = field(2).count(s.mrf.sources()).from_each(LEVELS, OPERANDS).to_each(DATA, OPERANDS),
        /// Read ports of the ORF that read.
        levels_orf_read: u8 = field(s.mrf.sources()).from_each(LEVELS, OPERANDS).to_each(DATA, OPERANDS),
        /// Banks of the LRF that are read.
        levels_lrf_read: u8 = field(MAX_LRF_BANKS * s.ports()).from_each(LEVELS, MAX_LRF_BANKS).to_each(DATA, MAX_LRF_BANKS),
        /// The result goes to the MRF too.
        levels_both: u8 = field(s.ports()).from_each(LEVELS, 1).to(ENTRIES),
        /// A place waits for the result on bus b.
        look_match: u8 = field(s.ports()).from(ENTRIES).to(RESULTS),
        /// Which.
        look_place: [u8; MAX_PORTS] = field(PLACE_BITS).count(s.ports()).from(ENTRIES).to(RESULTS),
        /// It goes to the MRF too.
        look_both: u8 = field(s.ports()).from(ENTRIES).to(RESULTS),
        /// Events of `hierarchy_entries`.
        entries_event: u8 = field(6).from(ENTRIES).shown(Decode::Packed(HIERARCHY_ENTRIES_EVENT)),
        /// Operands have come.
        data_land_valid: u8 = field(s.ports()).early().from_each(DATA, 1).to(LATCHES),
        /// The tag of their instruction.
        data_land_tag: [u8; MAX_PORTS] =
            field(s.tag_w()).count(s.ports()).valid_by("data_land_valid").early().from_each(DATA, 1).to(LATCHES),
        /// For which sources.
        data_land_fill: u8 = field(s.mrf.sources()).early().from_each(DATA, OPERANDS).to(LATCHES),
        /// The result on bus b is of a warp in a slot.
        results_look_valid: u8 = field(s.ports()).from(RESULTS).to(ENTRIES),
        /// This slot.
        results_look_slot: [u8; MAX_PORTS] =
            field(s.slot_w()).count(s.ports()).valid_by("results_look_valid").from(RESULTS).to(ENTRIES),
        /// Its register.
        results_look_reg: [u8; MAX_PORTS] =
            field(REG_BITS).count(s.ports()).valid_by("results_look_valid").from(RESULTS).to(ENTRIES),
        /// The copy of dispatch port p is written at this edge.
        results_copy_ready: u8 = field(s.ports()).early().from(RESULTS).to(COPIES),
        /// The ORF of port c's slots is written.
        results_orf_valid: u8 = field(s.ports()).early().from(RESULTS).to(ENTRIES).to_each(DATA, 1),
        /// In which slot.
        results_orf_slot: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("results_orf_valid")
            .early().from(RESULTS).to(ENTRIES).to_each(DATA, 1),
        /// Which entry.
        results_orf_entry: [u8; MAX_PORTS] = field(ENTRY_BITS).count(s.ports()).valid_by("results_orf_valid")
            .early().from(RESULTS).to(ENTRIES).to_each(DATA, 1),
        /// With a copy.
        results_orf_copy: u8 = field(s.ports()).early().from(RESULTS),
        /// From, or for, a private unit.
        results_orf_private: u8 = field(s.ports()).early().from(RESULTS),
        /// The LRF of port c's slots is written.
        results_lrf_valid: u8 = field(s.ports()).early().from(RESULTS).to(ENTRIES).to_each(DATA, 1),
        /// In which slot.
        results_lrf_slot: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("results_lrf_valid")
            .early().from(RESULTS).to(ENTRIES).to_each(DATA, 1),
        /// Which bank.
        results_lrf_bank: [u8; MAX_PORTS] = field(BANK_BITS).count(s.ports()).valid_by("results_lrf_valid")
            .early().from(RESULTS).to(ENTRIES).to_each(DATA, 1),
        /// From a private unit.
        results_lrf_private: u8 = field(s.ports()).early().from(RESULTS),
        /// The result on bus b goes into the MRF's queue.
        results_mrf_valid: u8 = field(s.ports()).from(RESULTS).to("mrf_write_queue"),
        /// Latch b has a result that is not written at this edge.
        results_wait: u8 = field(s.ports()).early().from(RESULTS),
        /// The instruction at dispatch port p waits for the copy latches.
        copies_hold: u8 = field(s.ports()).early().from(COPIES),
        /// A copy of port p waits.
        copies_copy_valid: u8 = field(s.ports()).early().from(COPIES).to(RESULTS),
        /// Its slot.
        copies_copy_slot: [u8; MAX_PORTS] =
            field(s.slot_w()).count(s.ports()).valid_by("copies_copy_valid").early().from(COPIES).to(RESULTS),
        /// Its entry.
        copies_copy_entry: [u8; MAX_PORTS] =
            field(ENTRY_BITS).count(s.ports()).valid_by("copies_copy_valid").early().from(COPIES).to(RESULTS),
        /// It is for a private unit.
        copies_copy_private: u8 = field(s.ports()).early().from(COPIES).to(RESULTS),
        /// It is not written at this edge.
        copies_wait: u8 = field(s.ports()).early().from(COPIES),
        /// An instruction has all its operands.
        operands_dispatch_valid: u8 = field(s.ports()).early().from(LATCHES).to(COPIES),
        /// Its sources that came from registers.
        operands_dispatch_src_valid: u8 = field(s.mrf.sources()).early().from(LATCHES),
        /// It goes, as far as the unit and the copy latches are concerned.
        operands_dispatch_ready: u8 = field(s.ports()).to(LATCHES),
        /// The MRF's queue b takes a result.
        mrf_write_ready: u8 = field(s.ports()).early().from_each("mrf_write_queue", 1).to(RESULTS),
        /// What is in it goes into its bank.
        mrf_write_done: u8 = field(s.ports()).early().from(Mrf::NAME).to(RESULTS),
        /// The MRF offers an instruction.
        mrf_dispatch_valid: u8 = field(s.ports()).early().from(Mrf::NAME).to(LATCHES),
        /// It is taken.
        mrf_dispatch_ready: u8 = field(s.ports()).from(LATCHES).to("mrf_allocator"),
        /// Its tag.
        mrf_dispatch_tag: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("mrf_dispatch_valid")
            .early().from(Mrf::NAME).to(LATCHES).to(COPIES),
        /// Its sources that came from there.
        mrf_dispatch_src_valid: u8 = field(s.mrf.sources()).early().from(Mrf::NAME).to(LATCHES),
    }
}

/// What lockstep compares inside `Hierarchy`: its nets, the registers of its blocks, and all that is compared inside the MRF.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct HierarchyProbe {
    /// Inside the MRF.
    pub mrf: MrfProbe,
    /// Between the blocks.
    pub nets: HierarchyNets,
    /// Registers of the arrays.
    pub data: [HierarchyDataProbe; MAX_PORTS],
    /// Those of what is known of the places.
    pub entries: HierarchyEntriesProbe,
    /// Those of the latches of results.
    pub results: HierarchyResultsProbe,
    /// Those of the latches of copies.
    pub copies: HierarchyCopiesProbe,
    /// Those of the operand latches.
    pub operands: RfcOperandsProbe,
}

// SAFETY: `repr(C)`, made of such structs, with their alignments.
unsafe impl Ports for HierarchyProbe {
    type Shape = HierarchyShape;

    fn fields(s: &HierarchyShape) -> Vec<Field> {
        let mut fields = HierarchyNets::fields(s);
        fields.iter_mut().for_each(|f| f.offset += offset_of!(Self, nets));
        let mut add = |of: Vec<Field>, block: &'static str, prefix: &str, instance: &str, offset: usize| {
            fields.extend(of.into_iter().map(|f| renamed(f, prefix).from(block).inside(instance, offset)));
        };
        for p in 0..s.ports() {
            let at = offset_of!(Self, data) + p * size_of::<HierarchyDataProbe>();
            add(HierarchyDataProbe::fields(s), DATA, &format!("data{p}_"), &format!("gen_port[{p}].u_data"), at);
        }
        let at = offset_of!(Self, entries);
        add(HierarchyEntriesProbe::fields(s), ENTRIES, "entries_", "u_entries", at);
        let at = offset_of!(Self, results);
        add(HierarchyResultsProbe::fields(s), RESULTS, "results_", "u_results", at);
        add(HierarchyCopiesProbe::fields(s), COPIES, "copies_", "u_copies", offset_of!(Self, copies));
        let at = offset_of!(Self, operands);
        add(RfcOperandsProbe::fields(&s.operands()), LATCHES, "operands_", "u_operands", at);
        fields.extend(MrfProbe::fields(&s.mrf).into_iter().map(|mut f| {
            // Ports of the MRF that are nets here.
            f.valid_by = match f.valid_by {
                Some("issue_src_valid_i") => Some("levels_mrf"),
                Some("write_valid_i") => Some("results_mrf_valid"),
                other => other,
            };
            f.inside("u_mrf", offset_of!(Self, mrf))
        }));
        fields
    }
}
