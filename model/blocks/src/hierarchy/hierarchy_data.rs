//! `hierarchy_data`: the arrays of ORF and LRF. `docs/blocks/hierarchy_data.md`.

use super::shape::{BANK_BITS, ENTRY_BITS, MAX_LRF_BANKS};
use crate::hierarchy::HierarchyShape;
use crate::mrf::bits::{is_set, set_bits};
use crate::ram::Storage;
use crate::{Block, LANES, LaneMask, Memory, OPERANDS, Ports, WARP_DATA_BITS, WarpData, field, ports};

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
        /// Tag of the instruction that is taken.
        move_tag_i: u8 = field(s.tag_w()).valid_by("move_valid_i"),
        /// Slot of the instruction that is taken.
        move_slot_i: u8 = field(s.local_w()).valid_by("move_valid_i"),
        /// Sources that are read from the ORF.
        move_orf_i: u8 = field(OPERANDS).valid_by("move_valid_i"),
        /// Sources that are read from the LRF.
        move_lrf_i: u8 = field(OPERANDS).valid_by("move_valid_i"),
        /// Read port of the ORF that serves each source.
        move_port_i: [u8; OPERANDS] = field(2).count(OPERANDS).valid_by("move_orf_i"),
        /// Entry of the ORF that each source is read from.
        move_entry_i: [u8; OPERANDS] = field(ENTRY_BITS).count(OPERANDS).valid_by("move_orf_i"),
        /// Read ports of the ORF that read.
        move_orf_read_i: u8 = field(OPERANDS).valid_by("move_valid_i"),
        /// Banks of the LRF that are read.
        move_lrf_read_i: u8 = field(MAX_LRF_BANKS).valid_by("move_valid_i"),
        /// The ORF is written at this edge.
        orf_valid_i: u8 = field(1),
        /// Slot whose ORF is written.
        orf_slot_i: u8 = field(s.local_w()).valid_by("orf_valid_i"),
        /// Entry of the ORF that is written.
        orf_entry_i: u8 = field(ENTRY_BITS).valid_by("orf_valid_i"),
        /// The LRF is written at this edge.
        lrf_valid_i: u8 = field(1),
        /// Slot whose LRF is written.
        lrf_slot_i: u8 = field(s.local_w()).valid_by("lrf_valid_i"),
        /// Bank of the LRF that is written.
        lrf_bank_i: u8 = field(BANK_BITS).valid_by("lrf_valid_i"),
    }
}

ports! {
    /// Outputs of [`HierarchyData`].
    pub struct HierarchyDataOut(s: &HierarchyShape) {
        /// Operands that land.
        land_data_o: [WarpData; OPERANDS] = field(WARP_DATA_BITS).count(OPERANDS).valid_by("land_fill_o").early(),
        /// Operands have come.
        land_valid_o: u8 = field(1).early(),
        /// Tag of the instruction whose operands have come.
        land_tag_o: u8 = field(s.tag_w()).valid_by("land_valid_o").early(),
        /// Sources whose operands have come.
        land_fill_o: u8 = field(OPERANDS).early(),
    }
}

ports! {
    /// State of [`HierarchyData`].
    pub struct HierarchyDataProbe(s: &HierarchyShape) {
        /// Word that each port of the ORF reads for the instruction in D.
        d_index_q: [u16; OPERANDS] = field(s.index_w()).count(OPERANDS).valid_by("d_orf_read_q"),
        /// An instruction is in D.
        d_move_q: u8 = field(1),
        /// Operands are in O.
        o_land_q: u8 = field(1),
        /// Tag of the instruction in D.
        d_tag_q: u8 = field(s.tag_w()).valid_by("d_move_q"),
        /// Slot of the instruction in D.
        d_slot_q: u8 = field(s.local_w()).valid_by("d_move_q"),
        /// Sources of the instruction in D that are read from the ORF.
        d_orf_q: u8 = field(OPERANDS).valid_by("d_move_q"),
        /// Sources of the instruction in D that are read from the LRF.
        d_lrf_q: u8 = field(OPERANDS).valid_by("d_move_q"),
        /// Read ports of the ORF that read.
        d_orf_read_q: u8 = field(OPERANDS).valid_by("d_move_q"),
        /// Banks of the LRF that are read.
        d_lrf_read_q: u8 = field(MAX_LRF_BANKS).valid_by("d_move_q"),
        /// Read port of the ORF that serves each source of the instruction in D.
        d_port_q: [u8; OPERANDS] = field(2).count(OPERANDS).valid_by("d_orf_q"),
        /// Tag of the instruction in O.
        o_tag_q: u8 = field(s.tag_w()).valid_by("o_land_q"),
        /// Sources of the instruction in O that have come from the ORF.
        o_orf_q: u8 = field(OPERANDS).valid_by("o_land_q"),
        /// Sources of the instruction in O that have come from the LRF.
        o_lrf_q: u8 = field(OPERANDS).valid_by("o_land_q"),
        /// Read port of the ORF that served each source of the instruction in O.
        o_port_q: [u8; OPERANDS] = field(2).count(OPERANDS).valid_by("o_orf_q"),
    }
}

/// Reads of an instruction that is taken.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Move {
    pub(crate) tag: u8,
    /// Slot of the port.
    pub(crate) slot: u8,
    /// Sources that are read from the ORF, and from the LRF.
    pub(crate) orf: u8,
    pub(crate) lrf: u8,
    /// Read ports of the ORF that serve the sources, entries of the sources, read ports that read.
    pub(crate) port: [u8; OPERANDS],
    pub(crate) entry: [u8; OPERANDS],
    pub(crate) orf_read: u8,
    /// Banks of the LRF that are read.
    pub(crate) lrf_read: u8,
}

/// Lanes of an entry, or of a bank, that are written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Write {
    pub(crate) mask: u32,
    /// Slot of the port.
    pub(crate) slot: u8,
    /// Entry of the ORF, or bank of the LRF.
    pub(crate) within: u8,
}

/// ORF and LRF of a port's slots, with the stages D and O around them: three read ports and one write port over all entries of the ORF, one of each for each bank of
/// the LRF (hierarchy thesis 6.2.2).
#[derive(Clone)]
pub struct HierarchyData {
    orf: [Storage; OPERANDS],
    lrf: Vec<Storage>,
    slots: u8,
    entries: u16,
    index_bits: u16,
    d_move_q: bool,
    o_land_q: bool,
    d: Move,
    d_index_q: [u16; OPERANDS],
    o_tag_q: u8,
    o_orf_q: u8,
    o_lrf_q: u8,
    o_port_q: [u8; OPERANDS],
}

impl HierarchyData {
    /// Tag and sources of the operands that have arrived.
    #[inline]
    pub(crate) fn land(&self) -> Option<(u8, u8)> {
        self.o_land_q.then_some((self.o_tag_q, self.o_orf_q | self.o_lrf_q))
    }

    /// Data of source `k`, which has arrived.
    #[inline]
    pub(crate) fn land_data(&self, k: usize) -> &WarpData {
        if is_set(self.o_lrf_q, k)
            && let Some(bank) = self.lrf.get(k).or(self.lrf.first())
        {
            return bank.rdata();
        }
        self.orf.get(usize::from(self.o_port_q[k])).unwrap_or(&self.orf[0]).rdata()
    }

    /// Whether no operand is in flight.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        !(self.d_move_q | self.o_land_q)
    }

    /// Clock edge at which an instruction advances, and one may be taken. It comes before the writes of this edge: a read gets the old value of an entry.
    #[inline]
    pub(crate) fn advance(&mut self, running: bool, moved: Option<&Move>) {
        if moved.is_none() && self.is_idle() {
            return;
        }
        if self.d_move_q {
            self.read();
            (self.o_tag_q, self.o_orf_q, self.o_lrf_q) = (self.d.tag, self.d.orf, self.d.lrf);
            self.o_port_q = self.d.port;
        }
        self.o_land_q = running && self.d_move_q && self.d.orf | self.d.lrf != 0;
        self.d_move_q = running && moved.is_some();
        if let Some(moved) = moved {
            self.d = *moved;
            for k in set_bits(moved.orf_read) {
                self.d_index_q[k] =
                    (self.entries * u16::from(moved.slot) + u16::from(moved.entry[k])) & self.index_bits;
            }
        }
    }

    #[inline]
    fn read(&mut self) {
        for k in set_bits(self.d.orf_read) {
            let index = self.d_index_q[k];
            if index < self.entries * u16::from(self.slots) {
                self.orf[k].read(index);
            }
        }
        for b in set_bits(self.d.lrf_read) {
            if let Some(bank) = self.lrf.get_mut(b).filter(|_| self.d.slot < self.slots) {
                bank.read(self.d.slot.into());
            }
        }
    }

    /// Clock edge at which lanes of an ORF entry are written.
    #[inline]
    pub(crate) fn write_orf(&mut self, write: &Write, data: &WarpData) {
        let index = self.entries * u16::from(write.slot) + u16::from(write.within);
        if index < self.entries * u16::from(self.slots) {
            for ram in &mut self.orf {
                ram.write(index, data, LaneMask(write.mask));
            }
        }
    }

    /// Clock edge at which lanes of an LRF bank are written.
    #[inline]
    pub(crate) fn write_lrf(&mut self, write: &Write, data: &WarpData) {
        if write.slot < self.slots
            && let Some(bank) = self.lrf.get_mut(usize::from(write.within))
        {
            bank.write(write.slot.into(), data, LaneMask(write.mask));
        }
    }
}

impl Block for HierarchyData {
    const NAME: &'static str = "hierarchy_data";
    const PARAMETERS: &'static [&'static str] = &["Slots", "Entries", "LrfBanks", "TagW"];
    const CELLS: &'static [&'static str] = &["ram_1r1w"];

    type Shape = HierarchyShape;
    type In = HierarchyDataIn;
    type Out = HierarchyDataOut;
    type Probe = HierarchyDataProbe;

    fn new(shape: &HierarchyShape) -> Self {
        Self {
            orf: std::array::from_fn(|_| Storage::new(shape.words())),
            lrf: (0..shape.lrf_banks).map(|_| Storage::new(shape.port_slots())).collect(),
            slots: shape.port_slots() as u8,
            entries: shape.entries as u16,
            index_bits: ((1u32 << shape.index_w()) - 1) as u16,
            d_move_q: false,
            o_land_q: false,
            d: Move::default(),
            d_index_q: [0; OPERANDS],
            o_tag_q: 0,
            o_orf_q: 0,
            o_lrf_q: 0,
            o_port_q: [0; OPERANDS],
        }
    }

    fn early(&self, out: &mut HierarchyDataOut) {
        let (tag, fill) = self.land().unwrap_or_default();
        (out.land_valid_o, out.land_tag_o, out.land_fill_o) = (self.o_land_q.into(), tag, fill);
        for k in set_bits(fill) {
            out.land_data_o[k] = *self.land_data(k);
        }
    }

    fn late(&mut self, _: &HierarchyDataIn, _: &mut HierarchyDataOut) {}

    fn clock(&mut self, inputs: &HierarchyDataIn, _: &HierarchyDataOut) {
        let moved = Move {
            tag: inputs.move_tag_i,
            slot: inputs.move_slot_i,
            orf: inputs.move_orf_i,
            lrf: inputs.move_lrf_i,
            port: inputs.move_port_i,
            entry: inputs.move_entry_i,
            orf_read: inputs.move_orf_read_i,
            lrf_read: inputs.move_lrf_read_i,
        };
        self.advance(inputs.rst_ni != 0, (inputs.move_valid_i != 0).then_some(&moved));
        if inputs.orf_valid_i != 0 {
            let write = Write { mask: inputs.orf_mask_i, slot: inputs.orf_slot_i, within: inputs.orf_entry_i };
            self.write_orf(&write, &inputs.orf_data_i);
        }
        if inputs.lrf_valid_i != 0 {
            let write = Write { mask: inputs.lrf_mask_i, slot: inputs.lrf_slot_i, within: inputs.lrf_bank_i };
            self.write_lrf(&write, &inputs.lrf_data_i);
        }
    }

    fn probe(&self, _: &HierarchyDataIn, _: &HierarchyDataOut, probe: &mut HierarchyDataProbe) {
        *probe = HierarchyDataProbe::zeroed();
        (probe.d_move_q, probe.o_land_q) = (self.d_move_q.into(), self.o_land_q.into());
        if self.d_move_q {
            let Move { tag, slot, orf, lrf, port, orf_read, lrf_read, .. } = self.d;
            (probe.d_tag_q, probe.d_slot_q, probe.d_orf_q, probe.d_lrf_q) = (tag, slot, orf, lrf);
            (probe.d_port_q, probe.d_orf_read_q, probe.d_lrf_read_q) = (port, orf_read, lrf_read);
            probe.d_index_q = self.d_index_q;
        }
        if self.o_land_q {
            (probe.o_tag_q, probe.o_orf_q, probe.o_lrf_q) = (self.o_tag_q, self.o_orf_q, self.o_lrf_q);
            probe.o_port_q = self.o_port_q;
        }
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let orf = self.orf.iter_mut().enumerate().map(|(k, ram)| (format!("gen_orf[{k}].u_ram"), ram));
        let lrf = self.lrf.iter_mut().enumerate().map(|(b, ram)| (format!("gen_lrf[{b}].u_ram"), ram));
        let mut memories = Vec::new();
        for (path, ram) in orf.chain(lrf) {
            let (words, rdata_q) = ram.contents();
            memories.push(Memory::of_warps(format!("{path}.mem_q"), Self::NAME, words));
            memories.push(Memory::of_warps(format!("{path}.rdata_q"), Self::NAME, rdata_q));
        }
        memories
    }
}

#[cfg(test)]
mod tests;
