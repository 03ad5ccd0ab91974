//! `hrf_bank`: one bank of STT-RAM. `docs/blocks/hrf_bank.md`.

use super::hrf_loads::BankWrite;
use super::shape::HrfShape;
use crate::ram::Storage;
use crate::{Block, LANES, LaneMask, Memory, WARP_DATA_BITS, WarpData, field, ports};

ports! {
    /// Inputs of [`HrfBank`].
    pub struct HrfBankIn(s: &HrfShape) {
        /// Data of a write.
        write_data_i: WarpData = field(WARP_DATA_BITS).valid_by("write_valid_i"),
        /// Lanes of the write that is offered.
        write_mask_i: u32 = field(LANES).valid_by("write_valid_i"),
        /// Entry of the write that is offered.
        write_entry_i: u16 = field(s.entry_w()).valid_by("write_valid_i"),
        /// Entry that is read.
        read_entry_i: u16 = field(s.entry_w()).valid_by("read_valid_i"),
        /// Straps: write latency, read latency less 1.
        cfg_i: u8 = field(6),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A read is offered.
        read_valid_i: u8 = field(1),
        /// A write is offered.
        write_valid_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`HrfBank`].
    pub struct HrfBankOut(s: &HrfShape) {
        /// Data of a read.
        read_data_o: WarpData = field(WARP_DATA_BITS).valid_by("read_data_valid_o").early(),
        /// A read could begin at this edge.
        read_ready_o: u8 = field(1).early(),
        /// A write could be taken at this edge.
        write_ready_o: u8 = field(1).early(),
        /// A write is under way.
        writing_o: u8 = field(1).early(),
        /// Data of a read is there.
        read_data_valid_o: u8 = field(1).early(),
    }
}

ports! {
    /// State of [`HrfBank`].
    pub struct HrfBankProbe(s: &HrfShape) {
        /// Data of the write in progress.
        data_q: WarpData = field(WARP_DATA_BITS).valid_by("write_left_q"),
        /// Lanes of the write in progress.
        mask_q: u32 = field(LANES).valid_by("write_left_q"),
        /// Entry of the write in progress.
        entry_q: u16 = field(s.entry_w()).valid_by("write_left_q"),
        /// Cycles left of the write in progress.
        write_left_q: u8 = field(4),
        /// Cycles that the read under way still takes.
        read_left_q: u8 = field(3),
    }
}

/// Half of the main register file. One access at a time; straps set the latencies (hybrid paper, table 1).
#[derive(Clone)]
pub struct HrfBank {
    ram: Storage,
    write_left_q: u8,
    read_left_q: u8,
    write: BankWrite,
    data_q: WarpData,
}

impl HrfBank {
    /// Whether a read could begin.
    #[inline]
    pub(crate) fn read_ready(&self) -> bool {
        self.write_left_q == 0 && self.read_left_q <= 1
    }

    /// Whether a write could be taken.
    #[inline]
    pub(crate) fn write_ready(&self) -> bool {
        self.write_left_q <= 1 && self.read_left_q <= 1
    }

    /// Whether a write is in progress.
    #[inline]
    pub(crate) fn writing(&self) -> bool {
        self.write_left_q != 0
    }

    /// Whether no access is in progress.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.write_left_q == 0 && self.read_left_q == 0
    }

    /// The data of the last read.
    #[inline]
    pub(crate) fn output(&self) -> &WarpData {
        self.ram.rdata()
    }

    /// Data of the read that is complete.
    #[inline]
    pub(crate) fn read_data(&self) -> Option<&WarpData> {
        (self.read_left_q == 1).then(|| self.output())
    }

    /// The clock edge. Offered accesses are taken if the bank is ready; a write goes first. Payload moves in reset too.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        running: bool,
        straps: u8,
        read: Option<u16>,
        write: Option<(BankWrite, &WarpData)>,
    ) {
        let write = write.filter(|_| self.write_ready());
        let read = read.filter(|_| self.read_ready() && write.is_none());
        if self.write_left_q == 1 {
            self.ram.write(self.write.entry, &self.data_q, LaneMask(self.write.mask));
        }
        self.write_left_q = self.write_left_q.saturating_sub(1);
        self.read_left_q = self.read_left_q.saturating_sub(1);
        if let Some((write, data)) = write {
            (self.write, self.data_q) = (write, *data);
            self.write_left_q = (straps & 0xf).max(1);
        }
        if let Some(entry) = read {
            self.ram.read(entry);
            self.read_left_q = (straps >> 4 & 0b11) + 1;
        }
        if !running {
            (self.write_left_q, self.read_left_q) = (0, 0);
        }
    }
}

impl Block for HrfBank {
    const NAME: &'static str = "hrf_bank";
    const PARAMETERS: &'static [&'static str] = &["Depth"];
    const CELLS: &'static [&'static str] = &["ram_1rw"];

    type Shape = HrfShape;
    type In = HrfBankIn;
    type Out = HrfBankOut;
    type Probe = HrfBankProbe;

    fn new(shape: &HrfShape) -> Self {
        Self {
            ram: Storage::new(shape.mrf.depth),
            write_left_q: 0,
            read_left_q: 0,
            write: BankWrite::default(),
            data_q: WarpData::ZERO,
        }
    }

    fn early(&self, out: &mut HrfBankOut) {
        (out.read_ready_o, out.write_ready_o) = (self.read_ready().into(), self.write_ready().into());
        out.writing_o = self.writing().into();
        let data = self.read_data();
        out.read_data_valid_o = data.is_some().into();
        if let Some(data) = data {
            out.read_data_o = *data;
        }
    }

    fn late(&mut self, _: &HrfBankIn, _: &mut HrfBankOut) {}

    fn clock(&mut self, inputs: &HrfBankIn, _: &HrfBankOut) {
        let read = (inputs.read_valid_i != 0).then_some(inputs.read_entry_i);
        let write = BankWrite { mask: inputs.write_mask_i, entry: inputs.write_entry_i };
        let write = (inputs.write_valid_i != 0).then_some((write, &inputs.write_data_i));
        self.advance(inputs.rst_ni != 0, inputs.cfg_i, read, write);
    }

    fn probe(&self, _: &HrfBankIn, _: &HrfBankOut, probe: &mut HrfBankProbe) {
        (probe.write_left_q, probe.read_left_q) = (self.write_left_q, self.read_left_q);
        if self.writing() {
            (probe.mask_q, probe.entry_q, probe.data_q) = (self.write.mask, self.write.entry, self.data_q);
        }
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let (words, rdata_q) = self.ram.contents();
        vec![Memory::of_warps("u_ram.mem_q", Self::NAME, words), Memory::of_warps("u_ram.rdata_q", Self::NAME, rdata_q)]
    }
}

#[cfg(test)]
mod tests;
