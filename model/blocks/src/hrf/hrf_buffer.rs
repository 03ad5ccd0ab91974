//! `hrf_buffer`: one write buffer. `docs/blocks/hrf_buffer.md`.

use super::shape::{BUFFER_REG_BITS, HrfShape, MAX_BUFFER};
use crate::mrf::bits::set_bits;
use crate::ram::Storage;
use crate::{Block, LANES, LaneMask, Memory, OPERANDS, WARP_DATA_BITS, WarpData, field, ports};

ports! {
    /// Inputs of [`HrfBuffer`].
    pub struct HrfBufferIn(s: &HrfShape) {
        /// Data of a result.
        write_data_i: WarpData = field(WARP_DATA_BITS).valid_by("write_valid_i"),
        /// Lanes of the result.
        write_mask_i: u32 = field(LANES).valid_by("write_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A result is written at this edge.
        write_valid_i: u8 = field(1),
        /// The result takes a new entry.
        write_new_i: u8 = field(1).valid_by("write_valid_i"),
        /// Entry that the result goes to.
        write_index_i: u8 = field(s.index_w()).valid_by("write_valid_i"),
        /// Register of the result.
        write_reg_i: u8 = field(BUFFER_REG_BITS).valid_by("write_valid_i"),
        /// Entries asked for.
        look_index_i: [u8; OPERANDS] = field(s.index_w()).count(OPERANDS),
        /// Read ports that read at this edge.
        read_i: u8 = field(OPERANDS),
        /// Entry that each read port reads.
        read_index_i: [u8; OPERANDS] = field(s.index_w()).count(OPERANDS).valid_by("read_i"),
        /// Port 0 reads for a drain.
        drain_read_i: u8 = field(1),
        /// Entry that port 0 reads for a drain.
        drain_index_i: u8 = field(s.index_w()).valid_by("drain_read_i"),
        /// All entries become free at this edge.
        empty_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`HrfBuffer`].
    pub struct HrfBufferOut(s: &HrfShape) {
        /// Data that each port read last.
        read_data_o: [WarpData; OPERANDS] = field(WARP_DATA_BITS).count(OPERANDS).early(),
        /// Valid lanes of the entries asked for.
        look_lanes_o: [u32; OPERANDS] = field(LANES).count(OPERANDS),
        /// Valid lanes of the entry that a drain reads.
        drain_lanes_o: u32 = field(LANES).valid_by("drain_read_i"),
        /// Register of the entry that a drain reads.
        drain_reg_o: u8 = field(BUFFER_REG_BITS).valid_by("drain_read_i"),
        /// Entries in use.
        used_o: u8 = field(s.used_w()).early(),
    }
}

ports! {
    /// State of [`HrfBuffer`].
    pub struct HrfBufferProbe(s: &HrfShape) {
        /// Entries in use.
        used_q: u8 = field(s.used_w()),
    }
}

/// The write of a result, without its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BufferWrite {
    /// Lanes.
    pub(crate) mask: u32,
    /// Entry.
    pub(crate) index: u8,
    /// Register.
    pub(crate) reg: u8,
    /// The write takes a new entry.
    pub(crate) new: bool,
}

/// A write buffer of SRAM (hybrid paper 4.4): each entry has a warp register, its lanes and its number. Entries are used from 0 up: a drain needs no
/// search.
#[derive(Clone)]
pub struct HrfBuffer {
    entries: usize,
    used_bits: u8,
    used_q: u8,
    reg_q: [u32; MAX_BUFFER],
    lanes_q: [u32; MAX_BUFFER],
    ram: [Storage; OPERANDS],
}

impl HrfBuffer {
    /// Entries in use.
    #[inline]
    pub(crate) fn used(&self) -> u8 {
        self.used_q
    }

    /// Valid lanes of an entry.
    #[inline]
    pub(crate) fn lanes(&self, index: u8) -> u32 {
        self.lanes_q[usize::from(index) % MAX_BUFFER]
    }

    /// Register of an entry.
    #[inline]
    pub(crate) fn reg(&self, index: u8) -> u8 {
        self.reg_q[usize::from(index) % MAX_BUFFER] as u8
    }

    /// Data of the last read of port `k`.
    #[inline]
    pub(crate) fn data(&self, k: usize) -> &WarpData {
        self.ram[k].rdata()
    }

    /// The clock edge. Ports in `read` read `index`; port 0 reads for a `drain`. In reset nothing is read or written.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        running: bool,
        write: Option<(BufferWrite, &WarpData)>,
        read: u8,
        index: [u8; OPERANDS],
        drain: Option<u8>,
        empty: bool,
    ) {
        if !running {
            self.used_q = 0;
            return;
        }
        for k in set_bits(read) {
            self.ram[k].read(index[k].into());
        }
        if let Some(index) = drain {
            self.ram[0].read(index.into());
        }
        if let Some((BufferWrite { mask, index, reg, new }, data)) = write {
            for ram in &mut self.ram {
                ram.write(index.into(), data, LaneMask(mask));
            }
            let index = usize::from(index) % MAX_BUFFER;
            if new {
                (self.reg_q[index], self.lanes_q[index]) = (reg.into(), mask);
                self.used_q = self.used_q.wrapping_add(1) & self.used_bits;
            } else {
                self.lanes_q[index] |= mask;
            }
        }
        if empty {
            self.used_q = 0;
        }
    }
}

impl Block for HrfBuffer {
    const NAME: &'static str = "hrf_buffer";
    const PARAMETERS: &'static [&'static str] = &["BufferEntries"];
    const CELLS: &'static [&'static str] = &["ram_1r1w"];

    type Shape = HrfShape;
    type In = HrfBufferIn;
    type Out = HrfBufferOut;
    type Probe = HrfBufferProbe;

    fn new(shape: &HrfShape) -> Self {
        Self {
            entries: shape.buffer_entries,
            used_bits: u8::MAX >> (u8::BITS - shape.used_w()),
            used_q: 0,
            reg_q: [0; MAX_BUFFER],
            lanes_q: [0; MAX_BUFFER],
            ram: std::array::from_fn(|_| Storage::new(shape.buffer_entries)),
        }
    }

    fn early(&self, out: &mut HrfBufferOut) {
        out.used_o = self.used_q;
        for k in 0..OPERANDS {
            out.read_data_o[k] = *self.data(k);
        }
    }

    fn late(&mut self, inputs: &HrfBufferIn, out: &mut HrfBufferOut) {
        out.look_lanes_o = inputs.look_index_i.map(|index| self.lanes(index));
        let drains = inputs.drain_read_i != 0;
        (out.drain_reg_o, out.drain_lanes_o) =
            if drains { (self.reg(inputs.drain_index_i), self.lanes(inputs.drain_index_i)) } else { (0, 0) };
    }

    fn clock(&mut self, inputs: &HrfBufferIn, _: &HrfBufferOut) {
        let write = BufferWrite {
            mask: inputs.write_mask_i,
            index: inputs.write_index_i,
            reg: inputs.write_reg_i,
            new: inputs.write_new_i != 0,
        };
        let write = (inputs.write_valid_i != 0).then_some((write, &inputs.write_data_i));
        let drain = (inputs.drain_read_i != 0).then_some(inputs.drain_index_i);
        let (running, empty) = (inputs.rst_ni != 0, inputs.empty_i != 0);
        self.advance(running, write, inputs.read_i, inputs.read_index_i, drain, empty);
    }

    fn probe(&self, _: &HrfBufferIn, _: &HrfBufferOut, probe: &mut HrfBufferProbe) {
        probe.used_q = self.used_q;
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let (entries, block) = (self.entries, Self::NAME);
        let words = |path: &str, words, bits| Memory { path: path.into(), block, words, bits };
        let mut memories = vec![
            words("reg_q", &mut self.reg_q[..entries], BUFFER_REG_BITS),
            words("lanes_q", &mut self.lanes_q[..entries], LANES as u32),
        ];
        for (k, ram) in self.ram.iter_mut().enumerate() {
            let (words, rdata_q) = ram.contents();
            let path = format!("gen_port[{k}].u_ram");
            memories.push(Memory::of_warps(format!("{path}.mem_q"), block, words));
            memories.push(Memory::of_warps(format!("{path}.rdata_q"), block, rdata_q));
        }
        memories
    }
}

#[cfg(test)]
mod tests;
