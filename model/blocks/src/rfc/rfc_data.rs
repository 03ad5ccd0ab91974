//! `rfc_data`: the data array of the cache. `docs/blocks/rfc_data.md`.

use crate::ram::Storage;
use crate::shape::ActiveShape;
use crate::{Block, LANES, Memory, OPERANDS, WARP_DATA_BITS, WarpData, field, ports};

ports! {
    /// Inputs of [`RfcData`].
    pub struct RfcDataIn(s: &ActiveShape) {
        /// Data of a result.
        write_data_i: WarpData = field(WARP_DATA_BITS).valid_by("write_valid_i"),
        /// Its lanes.
        write_mask_i: u32 = field(LANES).valid_by("write_valid_i"),
        /// The entry that it goes to.
        write_index_i: u16 = field(s.index_w()).valid_by("write_valid_i"),
        /// What each read port reads.
        read_index_i: [u16; OPERANDS] = field(s.index_w()).count(OPERANDS).valid_by("read_i"),
        /// What an eviction reads.
        evict_index_i: u16 = field(s.index_w()).valid_by("evict_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction leaves T.
        move_valid_i: u8 = field(1),
        /// Its tag.
        move_tag_i: u8 = field(s.tag_w()).valid_by("move_valid_i"),
        /// Sources with lanes in the cache.
        move_fill_i: u8 = field(OPERANDS).valid_by("move_valid_i"),
        /// The read port that serves each.
        move_port_i: [u8; OPERANDS] = field(2).count(OPERANDS).valid_by("move_fill_i"),
        /// Read ports that read.
        read_i: u8 = field(OPERANDS).valid_by("move_valid_i"),
        /// An eviction reads.
        evict_valid_i: u8 = field(1),
        /// On this port.
        evict_port_i: u8 = field(2).valid_by("evict_valid_i"),
        /// A result's tags are written in this cycle.
        write_valid_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`RfcData`].
    pub struct RfcDataOut(s: &ActiveShape) {
        /// Operands that land.
        land_data_o: [WarpData; OPERANDS] = field(WARP_DATA_BITS).count(OPERANDS).valid_by("land_fill_o").early(),
        /// Data of an eviction.
        evict_data_o: WarpData = field(WARP_DATA_BITS).valid_by("evict_data_valid_o").early(),
        /// Operands of an instruction are there.
        land_valid_o: u8 = field(1).early(),
        /// Its tag.
        land_tag_o: u8 = field(s.tag_w()).valid_by("land_valid_o").early(),
        /// For which sources.
        land_fill_o: u8 = field(OPERANDS).valid_by("land_valid_o").early(),
        /// Data of an eviction is there.
        evict_data_valid_o: u8 = field(1).early(),
    }
}

ports! {
    /// State of [`RfcData`].
    pub struct RfcDataProbe(s: &ActiveShape) {
        /// Data of the result in D.
        d_write_data_q: WarpData = field(WARP_DATA_BITS).valid_by("d_write_q"),
        /// Its lanes.
        d_write_mask_q: u32 = field(LANES).valid_by("d_write_q"),
        /// Its entry.
        d_write_index_q: u16 = field(s.index_w()).valid_by("d_write_q"),
        /// What each port reads for the instruction in D.
        d_index_q: [u16; OPERANDS] = field(s.index_w()).count(OPERANDS).valid_by("d_read_q"),
        /// What the eviction in D reads.
        d_evict_index_q: u16 = field(s.index_w()).valid_by("d_evict_q"),
        /// An instruction is in D.
        d_move_q: u8 = field(1),
        /// An eviction is.
        d_evict_q: u8 = field(1),
        /// A result is.
        d_write_q: u8 = field(1),
        /// Operands are in O.
        o_land_q: u8 = field(1),
        /// An eviction is.
        o_evict_q: u8 = field(1),
        /// Tag of the instruction in D.
        d_tag_q: u8 = field(s.tag_w()).valid_by("d_move_q"),
        /// Its sources with lanes in the cache.
        d_fill_q: u8 = field(OPERANDS).valid_by("d_move_q"),
        /// The ports that serve them.
        d_port_q: [u8; OPERANDS] = field(2).count(OPERANDS).valid_by("d_fill_q"),
        /// Ports that read.
        d_read_q: u8 = field(OPERANDS).valid_by("d_move_q"),
        /// The eviction's port.
        d_evict_port_q: u8 = field(2).valid_by("d_evict_q"),
        /// Tag of the instruction in O.
        o_tag_q: u8 = field(s.tag_w()).valid_by("o_land_q"),
        /// Its sources with lanes in the cache.
        o_fill_q: u8 = field(OPERANDS).valid_by("o_land_q"),
        /// The ports that serve them.
        o_port_q: [u8; OPERANDS] = field(2).count(OPERANDS).valid_by("o_fill_q"),
        /// The eviction's port.
        o_evict_port_q: u8 = field(2).valid_by("o_evict_q"),
    }
}

/// Three read ports and one write port over the entries of a cache (RFC paper, figure 5), with the D and O stages around them.
pub struct RfcData {
    ram: [Storage; OPERANDS],
}

impl Block for RfcData {
    const NAME: &'static str = "rfc_data";
    const PARAMETERS: &'static [&'static str] = &["Slots", "Entries", "TagW"];
    const CHILDREN: &'static [&'static str] = &["ram_1r1w"];

    type Shape = ActiveShape;
    type In = RfcDataIn;
    type Out = RfcDataOut;
    type Probe = RfcDataProbe;

    fn new(shape: &ActiveShape) -> Self {
        Self { ram: std::array::from_fn(|_| Storage::new(shape.words())) }
    }

    fn early(&self, _: &mut RfcDataOut) {}

    fn late(&mut self, _: &RfcDataIn, _: &mut RfcDataOut) {}

    fn clock(&mut self, _: &RfcDataIn, _: &RfcDataOut) {}

    fn probe(&self, _: &RfcDataIn, _: &RfcDataOut, _: &mut RfcDataProbe) {}

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let mut memories = Vec::new();
        for (k, ram) in self.ram.iter_mut().enumerate() {
            let (words, rdata_q) = ram.contents();
            let path = format!("gen_port[{k}].u_ram");
            memories.push(Memory::of_warps(format!("{path}.mem_q"), Self::NAME, words));
            memories.push(Memory::of_warps(format!("{path}.rdata_q"), Self::NAME, rdata_q));
        }
        memories
    }
}
