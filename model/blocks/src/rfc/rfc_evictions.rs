//! `rfc_evictions`: values on their way from the cache to the MRF. `docs/blocks/rfc_evictions.md`.

use crate::mrf::MAX_PORTS;
use crate::shape::ActiveShape;
use crate::{Block, LANES, Memory, OPERANDS, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData, field, ports};

/// Values that have room.
pub const PLACES: usize = 4;

ports! {
    /// Inputs of [`RfcEvictions`].
    pub struct RfcEvictionsIn(s: &ActiveShape) {
        /// Data of the oldest eviction that has none yet.
        data_i: WarpData = field(WARP_DATA_BITS).valid_by("data_valid_i"),
        /// Lanes of the eviction that begins.
        push_mask_i: u32 = field(LANES).valid_by("push_valid_i"),
        /// First row of its warp.
        push_base_i: u16 = field(s.mrf.entry_w()).valid_by("push_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An eviction begins.
        push_valid_i: u8 = field(1),
        /// Of which slot.
        push_slot_i: u8 = field(s.local_w()).valid_by("push_valid_i"),
        /// Its warp.
        push_warp_i: u8 = field(WARP_BITS).valid_by("push_valid_i"),
        /// Its register.
        push_reg_i: u8 = field(REG_BITS).valid_by("push_valid_i"),
        /// Data comes.
        data_valid_i: u8 = field(1),
        /// The value offered is taken at this edge.
        offer_ready_i: u8 = field(1),
        /// The oldest value goes into its bank at this edge.
        done_i: u8 = field(1),
        /// Warp of the instruction in T.
        look_warp_i: u8 = field(WARP_BITS),
        /// Its sources.
        look_reg_i: [u8; OPERANDS] = field(REG_BITS).count(OPERANDS),
        /// Warps of the results in the latches.
        result_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()),
        /// Their registers.
        result_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()),
    }
}

ports! {
    /// Outputs of [`RfcEvictions`].
    pub struct RfcEvictionsOut(s: &ActiveShape) {
        /// The value that is offered to the MRF's queue.
        offer_data_o: WarpData = field(WARP_DATA_BITS).valid_by("offer_valid_o").early(),
        /// Slots of which a value is here.
        busy_o: u64 = field(s.cache_slots() as u32).early(),
        /// Its lanes.
        offer_mask_o: u32 = field(LANES).valid_by("offer_valid_o").early(),
        /// First row of its warp.
        offer_base_o: u16 = field(s.mrf.entry_w()).valid_by("offer_valid_o").early(),
        /// There is room.
        room_o: u8 = field(1).early(),
        /// A value is offered.
        offer_valid_o: u8 = field(1).early(),
        /// Its warp.
        offer_warp_o: u8 = field(WARP_BITS).valid_by("offer_valid_o").early(),
        /// Its register.
        offer_reg_o: u8 = field(REG_BITS).valid_by("offer_valid_o").early(),
        /// Sources of the instruction in T that are here.
        look_match_o: u8 = field(OPERANDS),
        /// Results whose registers are here.
        result_match_o: u8 = field(s.ports()),
    }
}

ports! {
    /// State of [`RfcEvictions`].
    pub struct RfcEvictionsProbe(s: &ActiveShape) {
        /// Place of the oldest value.
        first_q: u8 = field(2),
        /// Values.
        count_q: u8 = field(3),
        /// Those that have their data.
        arrived_q: u8 = field(3),
        /// The oldest is in the MRF's queue.
        sent_q: u8 = field(1),
    }
}

/// A ring of values that the cache has given up and that are not in their banks yet.
pub struct RfcEvictions {
    mask_q: [u32; PLACES],
    data_q: [WarpData; PLACES],
}

impl Block for RfcEvictions {
    const NAME: &'static str = "rfc_evictions";
    const PARAMETERS: &'static [&'static str] = &["Slots", "IssuePorts", "Depth"];

    type Shape = ActiveShape;
    type In = RfcEvictionsIn;
    type Out = RfcEvictionsOut;
    type Probe = RfcEvictionsProbe;

    fn new(_: &ActiveShape) -> Self {
        Self { mask_q: [0; PLACES], data_q: [WarpData::ZERO; PLACES] }
    }

    fn early(&self, _: &mut RfcEvictionsOut) {}

    fn late(&mut self, _: &RfcEvictionsIn, _: &mut RfcEvictionsOut) {}

    fn clock(&mut self, _: &RfcEvictionsIn, _: &RfcEvictionsOut) {}

    fn probe(&self, _: &RfcEvictionsIn, _: &RfcEvictionsOut, _: &mut RfcEvictionsProbe) {}

    fn memories(&mut self) -> Vec<Memory<'_>> {
        vec![
            Memory { path: "mask_q".into(), block: Self::NAME, words: &mut self.mask_q, bits: LANES as u32 },
            Memory::of_warps("data_q", Self::NAME, &mut self.data_q),
        ]
    }
}
