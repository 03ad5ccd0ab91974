//! `rfc_operands`: operands from cache and MRF come together. `docs/blocks/rfc_operands.md`.

use crate::mrf::MAX_PORTS;
use crate::shape::{ActiveShape, MAX_TAGS};
use crate::{Block, LANES, Memory, OPERANDS, WARP_DATA_BITS, WarpData, field, ports};

const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;

ports! {
    /// Inputs of [`RfcOperands`].
    pub struct RfcOperandsIn(s: &ActiveShape) {
        /// What the cache gives.
        land_data_i: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS).count(s.mrf.sources()).valid_by("land_fill_i"),
        /// What the MRF offers.
        mrf_data_i: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS).count(s.mrf.sources()).valid_by("mrf_src_valid_i"),
        /// Lanes of each source that come from the cache.
        move_hit_i: [u32; MAX_SOURCES] = field(LANES).count(s.mrf.sources()).valid_by("move_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction leaves T of port p.
        move_valid_i: u8 = field(s.ports()),
        /// Its tag.
        move_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("move_valid_i"),
        /// They have come.
        land_valid_i: u8 = field(s.ports()),
        /// The tag of the instruction.
        land_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("land_valid_i"),
        /// Which sources.
        land_fill_i: u8 = field(s.mrf.sources()),
        /// The MRF offers an instruction on dispatch port p.
        mrf_valid_i: u8 = field(s.ports()),
        /// Its tag.
        mrf_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("mrf_valid_i"),
        /// Its sources that came from there.
        mrf_src_valid_i: u8 = field(s.mrf.sources()),
        /// The instruction on dispatch port p is taken.
        dispatch_ready_i: u8 = field(s.ports()),
    }
}

ports! {
    /// Outputs of [`RfcOperands`].
    pub struct RfcOperandsOut(s: &ActiveShape) {
        /// Operands.
        dispatch_data_o: [WarpData; MAX_SOURCES] =
            field(WARP_DATA_BITS).count(s.mrf.sources()).valid_by("dispatch_src_valid_o"),
        /// What the MRF offers on port p is taken.
        mrf_ready_o: u8 = field(s.ports()),
        /// An instruction with all its operands is offered.
        dispatch_valid_o: u8 = field(s.ports()),
        /// Its sources that came from the MRF or the cache.
        dispatch_src_valid_o: u8 = field(s.mrf.sources()),
    }
}

ports! {
    /// State of [`RfcOperands`].
    pub struct RfcOperandsProbe(s: &ActiveShape) {
        /// Instructions for which nothing is to come from the cache any more.
        got_q: u32 = field(s.tags() as u32),
    }
}

/// Keeps what the cache gave for each instruction until the MRF's collectors have the rest, and offers the instruction.
pub struct RfcOperands {
    tags: usize,
    hit_q: [u32; OPERANDS * MAX_TAGS],
    data_q: [WarpData; OPERANDS * MAX_TAGS],
}

impl Block for RfcOperands {
    const NAME: &'static str = "rfc_operands";
    const PARAMETERS: &'static [&'static str] = &["IssuePorts", "Tags"];

    type Shape = ActiveShape;
    type In = RfcOperandsIn;
    type Out = RfcOperandsOut;
    type Probe = RfcOperandsProbe;

    fn new(shape: &ActiveShape) -> Self {
        Self { tags: shape.tags(), hit_q: [0; OPERANDS * MAX_TAGS], data_q: [WarpData::ZERO; OPERANDS * MAX_TAGS] }
    }

    fn early(&self, _: &mut RfcOperandsOut) {}

    fn late(&mut self, _: &RfcOperandsIn, _: &mut RfcOperandsOut) {}

    fn clock(&mut self, _: &RfcOperandsIn, _: &RfcOperandsOut) {}

    fn probe(&self, _: &RfcOperandsIn, _: &RfcOperandsOut, _: &mut RfcOperandsProbe) {}

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let sources = OPERANDS * self.tags;
        vec![
            Memory { path: "hit_q".into(), block: Self::NAME, words: &mut self.hit_q[..sources], bits: LANES as u32 },
            Memory::of_warps("data_q", Self::NAME, &mut self.data_q[..sources]),
        ]
    }
}
