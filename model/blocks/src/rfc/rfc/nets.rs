//! The nets between the blocks of the register file cache, as lockstep compares them.

use std::mem::offset_of;

use super::MAX_SOURCES;
use crate::mrf::{MAX_PORTS, Mrf, MrfProbe};
use crate::ports::renamed;
use crate::rfc::{
    RFC_TAGS_EVENT, RfcData, RfcDataProbe, RfcEvictions, RfcEvictionsProbe, RfcOperands, RfcOperandsProbe, RfcResults,
    RfcResultsProbe, RfcTags, RfcTagsProbe,
};
use crate::shape::ActiveShape;
use crate::{
    Block, Decode, Field, LANES, OPERANDS, Ports, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData, field, ports,
};

ports! {
    /// Nets between the blocks of `Rfc`, and its own state.
    pub struct RfcNets(s: &ActiveShape) {
        /// Operands that come from each cache.
        data_land_data: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS).count(s.mrf.sources()).valid_by("data_land_fill")
            .early().from_each(RfcData::NAME, OPERANDS).to(RfcOperands::NAME),
        /// Data of evictions.
        data_evict_data: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("data_evict_data_valid")
            .early().from_each(RfcData::NAME, 1).to_each(RfcEvictions::NAME, 1),
        /// Values offered to the MRF's queues.
        evictions_offer_data: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("evictions_offer_valid")
            .early().from_each(RfcEvictions::NAME, 1).to(RfcResults::NAME),
        /// Data of each cache's operation.
        results_op_data: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("results_op_valid")
            .from(RfcResults::NAME).to_each(RfcData::NAME, 1),
        /// What goes to the MRF.
        mrf_write_data: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("mrf_write_valid")
            .from(RfcResults::NAME).to(Mrf::NAME),
        /// What the MRF offers.
        mrf_dispatch_data: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS).count(s.mrf.sources())
            .valid_by("mrf_dispatch_src_valid").early().from("mrf_crossbar").to(RfcOperands::NAME),
        /// Slots of each cache without a dirty lane.
        tags_clean: [u64; MAX_PORTS] = field(s.cache_slots() as u32).count(s.ports()).early().from_each(RfcTags::NAME, 1),
        /// Slots of each cache of which a value is on its way.
        evictions_busy: [u64; MAX_PORTS] =
            field(s.cache_slots() as u32).count(s.ports()).early().from_each(RfcEvictions::NAME, 1),
        /// Slots of which nothing is left.
        flush_done: u64 = field(s.active),
        /// Events of the tags.
        tags_event: [u32; MAX_PORTS] =
            field(31).count(s.ports()).from_each(RfcTags::NAME, 1).shown(Decode::Packed(RFC_TAGS_EVENT)),
        /// Lanes of each source that are in the cache.
        tags_hit_mask: [u32; MAX_SOURCES] =
            field(LANES).count(s.mrf.sources()).from_each(RfcTags::NAME, OPERANDS).to(RfcOperands::NAME),
        /// Lanes to write back.
        tags_evict_mask: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("tags_evict_valid")
            .from_each(RfcTags::NAME, 1).to_each(RfcEvictions::NAME, 1),
        /// Lanes of the values offered to the MRF.
        evictions_offer_mask: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("evictions_offer_valid")
            .early().from_each(RfcEvictions::NAME, 1).to(RfcResults::NAME),
        /// Lanes of each cache's operation.
        results_op_mask: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("results_op_valid")
            .from(RfcResults::NAME).to_each(RfcTags::NAME, 1).to_each(RfcData::NAME, 1),
        /// Lanes that go to the MRF.
        mrf_write_mask: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("mrf_write_valid")
            .from(RfcResults::NAME).to(Mrf::NAME),
        /// Lanes of the instruction in T.
        mask_q: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("tag_valid_q"),
        /// The entry that serves each source.
        tags_hit_index: [u16; MAX_SOURCES] =
            field(s.index_w()).count(s.mrf.sources()).from_each(RfcTags::NAME, OPERANDS).to_each(RfcData::NAME, OPERANDS),
        /// The entry of each cache's operation.
        tags_op_index: [u16; MAX_PORTS] =
            field(s.index_w()).count(s.ports()).from_each(RfcTags::NAME, 1).to_each(RfcData::NAME, 1),
        /// The entry that is evicted.
        tags_evict_index: [u16; MAX_PORTS] = field(s.index_w()).count(s.ports()).valid_by("tags_evict_valid")
            .from_each(RfcTags::NAME, 1).to_each(RfcData::NAME, 1),
        /// First rows of the warps of the values offered to the MRF.
        evictions_offer_base: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("evictions_offer_valid")
            .early().from_each(RfcEvictions::NAME, 1).to(RfcResults::NAME),
        /// First row of the warp of what goes to the MRF.
        mrf_write_base: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("mrf_write_valid")
            .from(RfcResults::NAME).to("mrf_bank_map"),
        /// First row of the warp of the instruction in T.
        base_q: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("tag_valid_q"),
        /// An instruction is in T of port p.
        tag_valid_q: u8 = field(s.ports()),
        /// Its warp.
        warp_q: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("tag_valid_q"),
        /// Its tag.
        tag_q: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("tag_valid_q"),
        /// Its sources.
        src_valid_q: [u8; MAX_PORTS] = field(OPERANDS).count(s.ports()).valid_by("tag_valid_q"),
        /// Its slot within the cache.
        slot_q: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("tag_valid_q"),
        /// Its last reads.
        last_q: [u8; MAX_PORTS] = field(OPERANDS).count(s.ports()).valid_by("tag_valid_q"),
        /// Registers of its sources.
        src_reg_q: [u8; MAX_SOURCES] = field(REG_BITS).count(s.mrf.sources()).valid_by("tag_valid_q"),
        /// The read port that serves each source.
        tags_hit_port: [u8; MAX_SOURCES] =
            field(2).count(s.mrf.sources()).from_each(RfcTags::NAME, OPERANDS).to_each(RfcData::NAME, OPERANDS),
        /// Read ports that read.
        tags_read: [u8; MAX_PORTS] = field(OPERANDS).count(s.ports()).from_each(RfcTags::NAME, 1).to_each(RfcData::NAME, 1),
        /// Cache p performs its operation.
        tags_op_ready: u8 = field(s.ports()).from_each(RfcTags::NAME, 1).to(RfcResults::NAME),
        /// An eviction begins.
        tags_evict_valid: u8 =
            field(s.ports()).from_each(RfcTags::NAME, 1).to_each(RfcData::NAME, 1).to_each(RfcEvictions::NAME, 1),
        /// Its read port.
        tags_evict_port: [u8; MAX_PORTS] = field(2).count(s.ports()).valid_by("tags_evict_valid")
            .from_each(RfcTags::NAME, 1).to_each(RfcData::NAME, 1),
        /// Its slot.
        tags_evict_slot: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("tags_evict_valid")
            .from_each(RfcTags::NAME, 1).to_each(RfcEvictions::NAME, 1),
        /// Its register.
        tags_evict_reg: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("tags_evict_valid")
            .from_each(RfcTags::NAME, 1).to_each(RfcEvictions::NAME, 1),
        /// Operands have come.
        data_land_valid: u8 = field(s.ports()).early().from_each(RfcData::NAME, 1).to(RfcOperands::NAME),
        /// The tag of their instruction.
        data_land_tag: [u8; MAX_PORTS] =
            field(s.tag_w()).count(s.ports()).valid_by("data_land_valid").early().from_each(RfcData::NAME, 1).to(RfcOperands::NAME),
        /// For which sources.
        data_land_fill: u8 = field(s.mrf.sources()).early().from_each(RfcData::NAME, OPERANDS).to(RfcOperands::NAME),
        /// Data of an eviction has come.
        data_evict_data_valid: u8 =
            field(s.ports()).early().from_each(RfcData::NAME, 1).to_each(RfcEvictions::NAME, 1),
        /// There is room for an eviction.
        evictions_room: u8 = field(s.ports()).early().from_each(RfcEvictions::NAME, 1).to_each(RfcTags::NAME, 1),
        /// A value is offered to the MRF's queue.
        evictions_offer_valid: u8 = field(s.ports()).early().from_each(RfcEvictions::NAME, 1).to(RfcResults::NAME),
        /// Its warp.
        evictions_offer_warp: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("evictions_offer_valid")
            .early().from_each(RfcEvictions::NAME, 1).to(RfcResults::NAME),
        /// Its register.
        evictions_offer_reg: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("evictions_offer_valid")
            .early().from_each(RfcEvictions::NAME, 1).to(RfcResults::NAME),
        /// Sources of the instruction in T that are on their way to the MRF.
        evictions_look_match: [u8; MAX_PORTS] =
            field(OPERANDS).count(s.ports()).valid_by("tag_valid_q").from_each(RfcEvictions::NAME, 1),
        /// Warps of the results in the latches.
        results_result_warp: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("results_valid_q")
            .early().from(RfcResults::NAME).to(RfcEvictions::NAME),
        /// Their registers.
        results_result_reg: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("results_valid_q")
            .early().from(RfcResults::NAME).to(RfcEvictions::NAME),
        /// An operation on cache p.
        results_op_valid: u8 = field(s.ports()).from(RfcResults::NAME).to_each(RfcTags::NAME, 1).to_each(RfcData::NAME, 1),
        /// It takes lanes away.
        results_op_kill: u8 = field(s.ports()).from(RfcResults::NAME).to_each(RfcTags::NAME, 1).to_each(RfcData::NAME, 1),
        /// Its slot.
        results_op_slot: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("results_op_valid")
            .from(RfcResults::NAME).to_each(RfcTags::NAME, 1),
        /// Its register.
        results_op_reg: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("results_op_valid")
            .from(RfcResults::NAME).to_each(RfcTags::NAME, 1),
        /// It comes from a private unit.
        results_op_private: u8 = field(s.ports()).from(RfcResults::NAME),
        /// The eviction offered is taken.
        results_evict_ready: u8 = field(s.ports()).from(RfcResults::NAME).to_each(RfcEvictions::NAME, 1),
        /// It goes into its bank.
        results_evict_done: u8 = field(s.ports()).from(RfcResults::NAME).to_each(RfcEvictions::NAME, 1),
        /// The result in latch b goes into the MRF's queue.
        results_around: u8 = field(s.ports()).from(RfcResults::NAME),
        /// It comes from a private unit.
        results_around_private: u8 = field(s.ports()).from(RfcResults::NAME),
        /// The result in latch b waits.
        results_wait: u8 = field(s.ports()).from(RfcResults::NAME),
        /// The MRF takes an instruction.
        mrf_issue_ready: u8 = field(s.ports()).early().from("mrf_allocator"),
        /// It is offered one.
        mrf_issue_valid: u8 = field(s.ports()).to("mrf_allocator"),
        /// Sources that are read there.
        mrf_issue_src_valid: u8 = field(s.mrf.sources()).to("mrf_collector"),
        /// Something is offered to the MRF's queue.
        mrf_write_valid: u8 = field(s.ports()).from(RfcResults::NAME).to("mrf_write_queue"),
        /// It takes it.
        mrf_write_ready: u8 = field(s.ports()).early().from_each("mrf_write_queue", 1).to(RfcResults::NAME),
        /// Its warp.
        mrf_write_warp: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("mrf_write_valid")
            .from(RfcResults::NAME).to("mrf_bank_map"),
        /// Its register.
        mrf_write_reg: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("mrf_write_valid")
            .from(RfcResults::NAME).to("mrf_bank_map"),
        /// It goes into its bank.
        mrf_write_done: u8 = field(s.ports()).early().from(Mrf::NAME).to(RfcResults::NAME),
        /// The MRF offers an instruction.
        mrf_dispatch_valid: u8 = field(s.ports()).early().from(Mrf::NAME).to(RfcOperands::NAME),
        /// It is taken.
        mrf_dispatch_ready: u8 = field(s.ports()).from(RfcOperands::NAME).to("mrf_allocator"),
        /// Its tag.
        mrf_dispatch_tag: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("mrf_dispatch_valid")
            .early().from(Mrf::NAME).to(RfcOperands::NAME),
        /// Its sources that came from there.
        mrf_dispatch_src_valid: u8 = field(s.mrf.sources()).early().from(Mrf::NAME).to(RfcOperands::NAME),
        /// An instruction leaves T.
        leave: u8 = field(s.ports()).to_each(RfcTags::NAME, 1).to_each(RfcData::NAME, 1).to(RfcOperands::NAME),
        /// It waits for an eviction.
        stall: u8 = field(s.ports()),
    }
}

/// What lockstep compares inside `Rfc`: its nets and its state, the registers of its blocks, and all that is compared inside the MRF.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct RfcProbe {
    /// Inside the MRF.
    pub mrf: MrfProbe,
    /// Between the blocks.
    pub nets: RfcNets,
    /// Registers of the blocks.
    pub tags: [RfcTagsProbe; MAX_PORTS],
    /// Those of the data arrays.
    pub data: [RfcDataProbe; MAX_PORTS],
    /// Those of the evictions.
    pub evictions: [RfcEvictionsProbe; MAX_PORTS],
    /// Those of the latches of results.
    pub results: RfcResultsProbe,
    /// Those of the operand latches.
    pub operands: RfcOperandsProbe,
}

// SAFETY: `repr(C)`, made of such structs, with their alignments.
unsafe impl Ports for RfcProbe {
    type Shape = ActiveShape;

    fn fields(s: &ActiveShape) -> Vec<Field> {
        let mut fields = RfcNets::fields(s);
        fields.iter_mut().for_each(|f| f.offset += offset_of!(Self, nets));
        let mut add = |of: Vec<Field>, block: &'static str, prefix: &str, instance: &str, offset: usize| {
            fields.extend(of.into_iter().map(|f| renamed(f, prefix).from(block).inside(instance, offset)));
        };
        for p in 0..s.ports() {
            let instance = |name: &str| format!("gen_cache[{p}].u_{name}");
            let at = offset_of!(Self, tags) + p * size_of::<RfcTagsProbe>();
            add(RfcTagsProbe::fields(s), RfcTags::NAME, &format!("tags{p}_"), &instance("tags"), at);
            let at = offset_of!(Self, data) + p * size_of::<RfcDataProbe>();
            add(RfcDataProbe::fields(s), RfcData::NAME, &format!("data{p}_"), &instance("data"), at);
            let at = offset_of!(Self, evictions) + p * size_of::<RfcEvictionsProbe>();
            add(
                RfcEvictionsProbe::fields(s),
                RfcEvictions::NAME,
                &format!("evictions{p}_"),
                &instance("evictions"),
                at,
            );
        }
        let at = offset_of!(Self, results);
        add(RfcResultsProbe::fields(s), RfcResults::NAME, "results_", "u_results", at);
        add(RfcOperandsProbe::fields(s), RfcOperands::NAME, "operands_", "u_operands", offset_of!(Self, operands));
        fields.extend(MrfProbe::fields(&s.mrf).into_iter().map(|mut f| {
            // Ports of the MRF that are nets here.
            f.valid_by = match f.valid_by {
                Some("issue_src_valid_i") => Some("mrf_issue_src_valid"),
                Some("write_valid_i") => Some("mrf_write_valid"),
                other => other,
            };
            f.inside("u_mrf", offset_of!(Self, mrf))
        }));
        fields
    }
}
