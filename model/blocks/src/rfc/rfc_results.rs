//! `rfc_results`: where a result goes. `docs/blocks/rfc_results.md`.

use crate::mrf::MAX_PORTS;
use crate::shape::{ActiveShape, MAX_ACTIVE};
use crate::{Block, LANES, Memory, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData, field, ports};

/// Registers of a warp, as a set in words.
const REGISTER_WORDS: usize = 8;

ports! {
    /// Inputs of [`RfcResults`].
    pub struct RfcResultsIn(s: &ActiveShape) {
        /// Data of a result.
        write_data_i: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Data of an eviction.
        evict_data_i: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("evict_valid_i"),
        /// Slots that have a warp.
        slot_valid_i: u64 = field(s.active as u32),
        /// Slots that are being emptied.
        flush_i: u64 = field(s.active as u32),
        /// Lanes of a result.
        write_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("write_valid_i"),
        /// Lanes of an eviction.
        evict_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("evict_valid_i"),
        /// First row of a result's warp.
        write_base_i: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("write_valid_i"),
        /// First row of an eviction's warp.
        evict_base_i: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("evict_valid_i"),
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
        /// An instruction is taken that writes a register.
        note_valid_i: u8 = field(s.ports()),
        /// Its slot.
        note_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("note_valid_i"),
        /// The register.
        note_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("note_valid_i"),
        /// Its result goes around the cache.
        note_around_i: u8 = field(s.ports()),
        /// Cache c performs its operation at this edge.
        op_ready_i: u8 = field(s.ports()),
        /// The register of the result in latch b is on its way from a cache to the MRF.
        match_i: u8 = field(s.ports()),
        /// An eviction of cache b is offered.
        evict_valid_i: u8 = field(s.ports()),
        /// Its warp.
        evict_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("evict_valid_i"),
        /// Its register.
        evict_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("evict_valid_i"),
        /// The MRF's queue b takes what is offered.
        mrf_ready_i: u8 = field(s.ports()),
        /// What it holds goes into its bank at this edge.
        mrf_done_i: u8 = field(s.ports()),
    }
}

ports! {
    /// Outputs of [`RfcResults`].
    pub struct RfcResultsOut(s: &ActiveShape) {
        /// Data of a cache's operation.
        op_data_o: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("op_valid_o"),
        /// Data for the MRF's queue b.
        mrf_data_o: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("mrf_valid_o"),
        /// Lanes of the operation.
        op_mask_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("op_valid_o"),
        /// Lanes for the MRF.
        mrf_mask_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("mrf_valid_o"),
        /// First row of the warp for the MRF.
        mrf_base_o: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("mrf_valid_o"),
        /// The result on bus b is taken at this edge if also valid.
        write_ready_o: u8 = field(s.ports()),
        /// The result in latch b is where it goes from this edge on.
        write_done_o: u8 = field(s.ports()),
        /// Its warp.
        write_done_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("write_done_o"),
        /// Its register.
        write_done_reg_o: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("write_done_o"),
        /// An operation on cache c.
        op_valid_o: u8 = field(s.ports()),
        /// It takes lanes away; 0 without an operation.
        op_kill_o: u8 = field(s.ports()),
        /// Its slot within the cache.
        op_slot_o: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("op_valid_o"),
        /// Its register.
        op_reg_o: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("op_valid_o"),
        /// It comes from a private unit; 0 without an operation.
        op_private_o: u8 = field(s.ports()),
        /// Warps of the results in the latches.
        result_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("valid_q").early(),
        /// Their registers.
        result_reg_o: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("valid_q").early(),
        /// The eviction of cache b is taken.
        evict_ready_o: u8 = field(s.ports()),
        /// It goes into its bank.
        evict_done_o: u8 = field(s.ports()),
        /// Something for the MRF's queue b.
        mrf_valid_o: u8 = field(s.ports()),
        /// Its warp.
        mrf_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("mrf_valid_o"),
        /// Its register.
        mrf_reg_o: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("mrf_valid_o"),
        /// The result in latch b goes into the MRF's queue at this edge.
        around_o: u8 = field(s.ports()),
        /// It comes from a private unit; 0 where none goes.
        around_private_o: u8 = field(s.ports()),
        /// The result in latch b waits.
        wait_o: u8 = field(s.ports()),
    }
}

ports! {
    /// State of [`RfcResults`].
    pub struct RfcResultsProbe(s: &ActiveShape) {
        /// Data of the result in latch b.
        data_q: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("valid_q"),
        /// Its lanes.
        mask_q: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("valid_q"),
        /// First row of its warp.
        base_q: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("valid_q"),
        /// A result is in latch b.
        valid_q: u8 = field(s.ports()),
        /// It is in the MRF's queue.
        sent_q: u8 = field(s.ports()),
        /// What is in the MRF's queue b is an eviction.
        queue_evict_q: u8 = field(s.ports()),
        /// The bus that goes first at cache c.
        turn_q: u8 = field(s.ports()),
    }
}

/// A latch at the end of each result bus, and the choice between cache and MRF.
pub struct RfcResults {
    slots: usize,
    /// Registers of each slot whose results go around.
    around_q: Box<[[u32; REGISTER_WORDS]]>,
}

impl Block for RfcResults {
    const NAME: &'static str = "rfc_results";
    const PARAMETERS: &'static [&'static str] = &["IssuePorts", "Active", "Depth"];

    type Shape = ActiveShape;
    type In = RfcResultsIn;
    type Out = RfcResultsOut;
    type Probe = RfcResultsProbe;

    fn new(shape: &ActiveShape) -> Self {
        Self { slots: shape.active, around_q: vec![[0; REGISTER_WORDS]; shape.active].into() }
    }

    fn early(&self, _: &mut RfcResultsOut) {}

    fn late(&mut self, _: &RfcResultsIn, _: &mut RfcResultsOut) {}

    fn clock(&mut self, _: &RfcResultsIn, _: &RfcResultsOut) {}

    fn probe(&self, _: &RfcResultsIn, _: &RfcResultsOut, _: &mut RfcResultsProbe) {}

    fn memories(&mut self) -> Vec<Memory<'_>> {
        vec![Memory {
            path: "around_q".into(),
            block: Self::NAME,
            words: self.around_q.as_flattened_mut(),
            bits: 1 << REG_BITS,
        }]
    }
}
