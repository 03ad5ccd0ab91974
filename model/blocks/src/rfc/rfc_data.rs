//! `rfc_data`: the data array of the cache. `docs/blocks/rfc_data.md`.

use crate::mrf::bits::{is_set, set_bits};
use crate::ram::Storage;
use crate::rfc::RfcShape;
use crate::{Block, LANES, LaneMask, Memory, OPERANDS, Ports, WARP_DATA_BITS, WarpData, field, ports};

ports! {
    /// Inputs of [`RfcData`].
    pub struct RfcDataIn(s: &RfcShape) {
        /// Data of a result.
        write_data_i: WarpData = field(WARP_DATA_BITS).valid_by("write_valid_i"),
        /// Data of the write in D.
        spill_data_i: WarpData = field(WARP_DATA_BITS).valid_by("spill_i"),
        /// Lanes of the result.
        write_mask_i: u32 = field(LANES).valid_by("write_valid_i"),
        /// Entry that the result goes to.
        write_index_i: u16 = field(s.index_w()).valid_by("write_valid_i"),
        /// Entry that each read port reads.
        read_index_i: [u16; OPERANDS] = field(s.index_w()).count(OPERANDS).valid_by("read_i"),
        /// Entry that the eviction reads.
        evict_index_i: u16 = field(s.index_w()).valid_by("evict_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction leaves T.
        move_valid_i: u8 = field(1),
        /// Tag of the instruction that leaves T.
        move_tag_i: u8 = field(s.tag_w()).valid_by("move_valid_i"),
        /// Sources with lanes in the cache.
        move_fill_i: u8 = field(OPERANDS).valid_by("move_valid_i"),
        /// Read port that serves each source.
        move_port_i: [u8; OPERANDS] = field(2).count(OPERANDS).valid_by("move_fill_i"),
        /// Read ports that read.
        read_i: u8 = field(OPERANDS).valid_by("move_valid_i"),
        /// An eviction reads.
        evict_valid_i: u8 = field(1),
        /// Read port of the eviction.
        evict_port_i: u8 = field(2).valid_by("evict_valid_i"),
        /// A result's tags are written in this cycle.
        write_valid_i: u8 = field(1),
        /// The data of the write in D come now.
        spill_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`RfcData`].
    pub struct RfcDataOut(s: &RfcShape) {
        /// Operands that land.
        land_data_o: [WarpData; OPERANDS] = field(WARP_DATA_BITS).count(OPERANDS).valid_by("land_fill_o").early(),
        /// Data of an eviction.
        evict_data_o: WarpData = field(WARP_DATA_BITS).valid_by("evict_data_valid_o").early(),
        /// Operands have come.
        land_valid_o: u8 = field(1).early(),
        /// Tag of the instruction whose operands have come.
        land_tag_o: u8 = field(s.tag_w()).valid_by("land_valid_o").early(),
        /// Sources whose operands have come.
        land_fill_o: u8 = field(OPERANDS).valid_by("land_valid_o").early(),
        /// Data of an eviction has come.
        evict_data_valid_o: u8 = field(1).early(),
    }
}

ports! {
    /// State of [`RfcData`].
    pub struct RfcDataProbe(s: &RfcShape) {
        /// Data of the result in D.
        d_write_data_q: WarpData = field(WARP_DATA_BITS).valid_by("d_write_q"),
        /// Lanes of the result in D.
        d_write_mask_q: u32 = field(LANES).valid_by("d_write_q"),
        /// Entry of the result in D.
        d_write_index_q: u16 = field(s.index_w()).valid_by("d_write_q"),
        /// Entry that each port reads for the instruction in D.
        d_index_q: [u16; OPERANDS] = field(s.index_w()).count(OPERANDS).valid_by("d_read_q"),
        /// Entry that the eviction in D reads.
        d_evict_index_q: u16 = field(s.index_w()).valid_by("d_evict_q"),
        /// An instruction is in D.
        d_move_q: u8 = field(1),
        /// An eviction is in D.
        d_evict_q: u8 = field(1),
        /// A result is in D.
        d_write_q: u8 = field(1),
        /// Operands are in O.
        o_land_q: u8 = field(1),
        /// An eviction is in O.
        o_evict_q: u8 = field(1),
        /// Tag of the instruction in D.
        d_tag_q: u8 = field(s.tag_w()).valid_by("d_move_q"),
        /// Sources of the instruction in D with lanes in the cache.
        d_fill_q: u8 = field(OPERANDS).valid_by("d_move_q"),
        /// Read port that serves each source of the instruction in D.
        d_port_q: [u8; OPERANDS] = field(2).count(OPERANDS).valid_by("d_fill_q"),
        /// Read ports that read for the instruction in D.
        d_read_q: u8 = field(OPERANDS).valid_by("d_move_q"),
        /// Read port of the eviction in D.
        d_evict_port_q: u8 = field(2).valid_by("d_evict_q"),
        /// Tag of the instruction in O.
        o_tag_q: u8 = field(s.tag_w()).valid_by("o_land_q"),
        /// Sources of the instruction in O with lanes in the cache.
        o_fill_q: u8 = field(OPERANDS).valid_by("o_land_q"),
        /// Read port that served each source of the instruction in O.
        o_port_q: [u8; OPERANDS] = field(2).count(OPERANDS).valid_by("o_fill_q"),
        /// Read port of the eviction in O.
        o_evict_port_q: u8 = field(2).valid_by("o_evict_q"),
    }
}

/// An instruction that leaves T.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Move {
    pub(crate) tag: u8,
    /// Sources with lanes in the cache, and the read port that serves each.
    pub(crate) fill: u8,
    pub(crate) port: [u8; OPERANDS],
    /// Read ports that perform a read, and the entry that each reads.
    pub(crate) read: u8,
    pub(crate) index: [u16; OPERANDS],
}

/// A result whose tags are written: the lanes and the entry.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Write {
    pub(crate) mask: u32,
    pub(crate) index: u16,
}

/// Three read ports and one write port over the entries of a cache (RFC paper, figure 5), with the D and O stages around them.
#[derive(Clone)]
pub struct RfcData {
    ram: [Storage; OPERANDS],
    words: u16,
    d_move_q: bool,
    d_evict_q: bool,
    d_write_q: bool,
    o_land_q: bool,
    o_evict_q: bool,
    d: Move,
    d_evict_port_q: u8,
    d_evict_index_q: u16,
    d_write: Write,
    d_write_data_q: WarpData,
    o_tag_q: u8,
    o_fill_q: u8,
    o_port_q: [u8; OPERANDS],
    o_evict_port_q: u8,
}

impl RfcData {
    /// Tag and sources of the operands that are at the outputs, in stage O.
    #[inline]
    pub(crate) fn land(&self) -> Option<(u8, u8)> {
        self.o_land_q.then_some((self.o_tag_q, self.o_fill_q))
    }

    /// Data of source `k`, whose operand must be at the outputs.
    #[inline]
    pub(crate) fn land_data(&self, k: usize) -> &WarpData {
        self.output(self.o_port_q[k])
    }

    /// Data of an eviction, if it is at the outputs.
    #[inline]
    pub(crate) fn evict_data(&self) -> Option<&WarpData> {
        self.o_evict_q.then(|| self.output(self.o_evict_port_q))
    }

    /// The output of a read port; the output of port 0 if the port does not exist.
    #[inline]
    fn output(&self, port: u8) -> &WarpData {
        self.ram.get(usize::from(port)).unwrap_or(&self.ram[0]).rdata()
    }

    /// Whether no operation is in D or O.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        !(self.d_move_q | self.d_evict_q | self.d_write_q | self.o_land_q | self.o_evict_q)
    }

    /// The clock edge. `evict`: port and entry; `write`: a result, and its data; `spill`: data of the write in D, if a spill. No stage stalls.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        running: bool,
        moved: Option<&Move>,
        evict: Option<(u8, u16)>,
        write: Option<(Write, &WarpData)>,
        spill: Option<&WarpData>,
    ) {
        if moved.is_none() && evict.is_none() && write.is_none() && self.is_idle() {
            return;
        }
        self.access(spill);
        (self.o_land_q, self.o_evict_q) = (running && self.d_move_q && self.d.fill != 0, running && self.d_evict_q);
        if self.d_move_q {
            (self.o_tag_q, self.o_fill_q, self.o_port_q) = (self.d.tag, self.d.fill, self.d.port);
        }
        if self.d_evict_q {
            self.o_evict_port_q = self.d_evict_port_q;
        }
        (self.d_move_q, self.d_evict_q, self.d_write_q) =
            (running && moved.is_some(), running && evict.is_some(), running && write.is_some());
        if let Some(moved) = moved {
            let held = self.d.index;
            self.d = *moved;
            for k in set_bits(!moved.read & 0b111) {
                self.d.index[k] = held[k];
            }
        }
        if let Some((port, index)) = evict {
            (self.d_evict_port_q, self.d_evict_index_q) = (port, index);
        }
        if let Some((write, data)) = write {
            (self.d_write, self.d_write_data_q) = (write, *data);
        }
    }

    /// The accesses of the arrays. Reads come first, so that a hit reads the value that the entry had when its tag was looked up.
    #[inline]
    fn access(&mut self, spill: Option<&WarpData>) {
        for (k, ram) in self.ram.iter_mut().enumerate() {
            let index = if self.d_evict_q && usize::from(self.d_evict_port_q) == k {
                self.d_evict_index_q
            } else if self.d_move_q && is_set(self.d.read, k) {
                self.d.index[k]
            } else {
                continue;
            };
            if index < self.words {
                ram.read(index);
            }
        }
        let Write { mask, index } = self.d_write;
        if self.d_write_q && index < self.words {
            let data = spill.unwrap_or(&self.d_write_data_q);
            for ram in &mut self.ram {
                ram.write(index, data, LaneMask(mask));
            }
        }
    }
}

impl Block for RfcData {
    const NAME: &'static str = "rfc_data";
    const PARAMETERS: &'static [&'static str] = &["Slots", "Entries", "TagW"];
    const CELLS: &'static [&'static str] = &["ram_1r1w"];

    type Shape = RfcShape;
    type In = RfcDataIn;
    type Out = RfcDataOut;
    type Probe = RfcDataProbe;

    fn new(shape: &RfcShape) -> Self {
        Self {
            ram: std::array::from_fn(|_| Storage::new(shape.words())),
            words: shape.words() as u16,
            d_move_q: false,
            d_evict_q: false,
            d_write_q: false,
            o_land_q: false,
            o_evict_q: false,
            d: Move::default(),
            d_evict_port_q: 0,
            d_evict_index_q: 0,
            d_write: Write::default(),
            d_write_data_q: WarpData::ZERO,
            o_tag_q: 0,
            o_fill_q: 0,
            o_port_q: [0; OPERANDS],
            o_evict_port_q: 0,
        }
    }

    fn early(&self, out: &mut RfcDataOut) {
        let (tag, fill) = self.land().unwrap_or_default();
        (out.land_valid_o, out.land_tag_o, out.land_fill_o) = (self.o_land_q.into(), tag, fill);
        for k in set_bits(fill) {
            out.land_data_o[k] = *self.land_data(k);
        }
        out.evict_data_valid_o = self.o_evict_q.into();
        if let Some(data) = self.evict_data() {
            out.evict_data_o = *data;
        }
    }

    fn late(&mut self, _: &RfcDataIn, _: &mut RfcDataOut) {}

    fn clock(&mut self, inputs: &RfcDataIn, _: &RfcDataOut) {
        let moved = (inputs.move_valid_i != 0).then_some(Move {
            tag: inputs.move_tag_i,
            fill: inputs.move_fill_i,
            port: inputs.move_port_i,
            read: inputs.read_i,
            index: inputs.read_index_i,
        });
        let evict = (inputs.evict_valid_i != 0).then_some((inputs.evict_port_i, inputs.evict_index_i));
        let write = Write { mask: inputs.write_mask_i, index: inputs.write_index_i };
        let write = (inputs.write_valid_i != 0).then_some((write, &inputs.write_data_i));
        let spill = (inputs.spill_i != 0).then_some(&inputs.spill_data_i);
        self.advance(inputs.rst_ni != 0, moved.as_ref(), evict, write, spill);
    }

    fn probe(&self, _: &RfcDataIn, _: &RfcDataOut, probe: &mut RfcDataProbe) {
        let data = probe.d_write_data_q;
        *probe = RfcDataProbe { d_write_data_q: data, ..RfcDataProbe::zeroed() };
        if self.d_move_q {
            (probe.d_tag_q, probe.d_fill_q, probe.d_port_q) = (self.d.tag, self.d.fill, self.d.port);
            (probe.d_read_q, probe.d_index_q) = (self.d.read, self.d.index);
        }
        if self.d_evict_q {
            (probe.d_evict_port_q, probe.d_evict_index_q) = (self.d_evict_port_q, self.d_evict_index_q);
        }
        if self.d_write_q {
            (probe.d_write_mask_q, probe.d_write_index_q) = (self.d_write.mask, self.d_write.index);
            probe.d_write_data_q = self.d_write_data_q;
        }
        (probe.d_move_q, probe.d_evict_q) = (self.d_move_q.into(), self.d_evict_q.into());
        probe.d_write_q = self.d_write_q.into();
        (probe.o_land_q, probe.o_evict_q) = (self.o_land_q.into(), self.o_evict_q.into());
        if self.o_land_q {
            (probe.o_tag_q, probe.o_fill_q, probe.o_port_q) = (self.o_tag_q, self.o_fill_q, self.o_port_q);
        }
        if self.o_evict_q {
            probe.o_evict_port_q = self.o_evict_port_q;
        }
    }

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

#[cfg(test)]
mod tests;
