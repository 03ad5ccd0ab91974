//! `constant_memory`: parameters and constants. `docs/blocks/constant_memory.md`.

use crate::memory::access::{Access, Answer, Asked, extract, kind, lanes_where};
use crate::mrf::bits::set_bits;
use crate::ram::Words;
use crate::shape::SmShape;
use crate::{Block, LANES, Memory, Ports, REG_BITS, WARP_BITS, WarpData, field, ports};

ports! {
    /// Inputs of [`ConstantMemory`].
    pub struct ConstantMemoryIn(s: &SmShape) {
        /// Address of each lane of the constant unit.
        direct_addr_i: WarpData = field(1024).valid_by("direct_valid_i"),
        /// Address of each lane of the memory pipeline.
        addr_i: WarpData = field(1024).valid_by("valid_i"),
        /// The host's word.
        const_data_i: u32 = field(32).valid_by("const_we_i"),
        /// Lanes that the constant unit offers.
        direct_lanes_i: u32 = field(32).valid_by("direct_valid_i"),
        /// Lanes that the memory pipeline offers.
        lanes_i: u32 = field(32).valid_by("valid_i"),
        /// Address of the constant that the host writes.
        const_addr_i: u16 = field(s.const_w()).valid_by("const_we_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// The host writes a word.
        const_we_i: u8 = field(1),
        /// The constant unit offers lanes.
        direct_valid_i: u8 = field(1),
        /// The constant unit's result queue has room.
        direct_room_i: u8 = field(1),
        /// Warp of the constant unit's lanes.
        direct_warp_i: u8 = field(WARP_BITS).valid_by("direct_valid_i"),
        /// Bytes as a power of two, of the constant unit.
        direct_size_i: u8 = field(2).valid_by("direct_valid_i"),
        /// Sign extension, of the constant unit.
        direct_signed_i: u8 = field(1).valid_by("direct_valid_i"),
        /// The constant unit's instruction writes a register.
        direct_reg_valid_i: u8 = field(1).valid_by("direct_valid_i"),
        /// Register that the constant unit's instruction writes.
        direct_reg_i: u8 = field(REG_BITS).valid_by("direct_reg_valid_i"),
        /// No lane of the constant unit's is left after this pass.
        direct_last_i: u8 = field(1).valid_by("direct_valid_i"),
        /// The memory pipeline offers lanes.
        valid_i: u8 = field(1),
        /// The side queue has room.
        room_i: u8 = field(1),
        /// Warp of the lanes that are offered.
        warp_i: u8 = field(WARP_BITS).valid_by("valid_i"),
        /// Bytes as a power of two.
        size_i: u8 = field(2).valid_by("valid_i"),
        /// Sign extension.
        signed_i: u8 = field(1).valid_by("valid_i"),
        /// A register is written.
        reg_valid_i: u8 = field(1).valid_by("valid_i"),
        /// Register that is written.
        reg_i: u8 = field(REG_BITS).valid_by("reg_valid_i"),
        /// No lane is left after this pass.
        last_i: u8 = field(1).valid_by("valid_i"),
    }
}

ports! {
    /// Outputs of [`ConstantMemory`].
    pub struct ConstantMemoryOut(s: &SmShape) {
        /// Lanes of the constant unit's register.
        direct_result_data_o: WarpData = field(1024).valid_by("direct_result_reg_valid_o").early(),
        /// Lanes of the memory pipeline's register.
        result_data_o: WarpData = field(1024).valid_by("result_reg_valid_o").early().shows("data_q"),
        /// Lanes of the constant unit served at this edge.
        direct_served_o: u32 = field(32),
        /// Lanes of the memory pipeline served at this edge.
        served_o: u32 = field(32),
        /// Lanes of the constant unit's result.
        direct_result_mask_o: u32 = field(32).valid_by("direct_result_valid_o").early(),
        /// Lanes of the result.
        result_mask_o: u32 = field(32).valid_by("result_valid_o").early().shows("mask_q"),
        /// A result for the constant unit is offered.
        direct_result_valid_o: u8 = field(1).early(),
        /// Warp of the constant unit's result.
        direct_result_warp_o: u8 = field(WARP_BITS).valid_by("direct_result_valid_o").early(),
        /// The constant unit's result is the last of its instruction.
        direct_result_done_o: u8 = field(1).valid_by("direct_result_valid_o").early(),
        /// The constant unit's result writes a register.
        direct_result_reg_valid_o: u8 = field(1).early(),
        /// Register of the constant unit's result.
        direct_result_reg_o: u8 = field(REG_BITS).valid_by("direct_result_reg_valid_o").early(),
        /// A result for the memory pipeline is offered.
        result_valid_o: u8 = field(1).early().shows("result_valid_q"),
        /// Warp of the result.
        result_warp_o: u8 = field(WARP_BITS).valid_by("result_valid_o").early().shows("warp_q"),
        /// The result is the last of its instruction.
        result_done_o: u8 = field(1).valid_by("result_valid_o").early().shows("done_q"),
        /// A register is written.
        result_reg_valid_o: u8 = field(1).early().shows_while("reg_valid_q", "result_valid_o"),
        /// Register of the result.
        result_reg_o: u8 = field(REG_BITS).valid_by("result_reg_valid_o").early().shows("reg_q"),
    }
}

ports! {
    /// State of [`ConstantMemory`] that no output shows.
    pub struct ConstantMemoryProbe(s: &SmShape) {
        /// Byte of each lane in the word, two bits a lane.
        byte_q: u64 = field(2 * LANES).valid_by("first_valid_q"),
        /// Lanes of the first stage.
        first_mask_q: u32 = field(32).valid_by("first_valid_q"),
        /// The first stage has something.
        first_valid_q: u8 = field(1),
        /// The first stage holds an access from the constant unit.
        first_direct_q: u8 = field(1).valid_by("first_valid_q"),
        /// Warp in the first stage.
        first_warp_q: u8 = field(WARP_BITS).valid_by("first_valid_q"),
        /// A register is written.
        first_reg_valid_q: u8 = field(1).valid_by("first_valid_q"),
        /// Register that is written.
        first_reg_q: u8 = field(REG_BITS).valid_by("first_reg_valid_q"),
        /// Bytes as a power of two.
        first_size_q: u8 = field(2).valid_by("first_valid_q"),
        /// Sign extension.
        first_signed_q: u8 = field(1).valid_by("first_valid_q"),
        /// The result in the first stage is the last of its instruction.
        first_done_q: u8 = field(1).valid_by("first_valid_q"),
    }
}

/// Parameters and constants. Serves one word a cycle to all lanes that want it, because most of the time constants are the same
/// for all threads. The constant unit goes first, and gets its results a cycle earlier than the memory pipeline.
#[derive(Clone)]
pub struct ConstantMemory {
    ram: Words,
    /// Selects a word's address.
    word_mask: u32,
    first_q: Option<Asked>,
    first_direct_q: bool,
    byte_q: u64,
    /// The result that follows from the first stage and the RAM's output.
    first: Answer,
    result_valid_q: bool,
    result_q: Answer,
}

impl ConstantMemory {
    /// The result for the memory pipeline.
    #[inline]
    pub fn result(&self) -> Option<&Answer> {
        self.result_valid_q.then_some(&self.result_q)
    }

    /// The result for the constant unit.
    #[inline]
    pub fn direct_result(&self) -> Option<&Answer> {
        (self.first_q.is_some() && self.first_direct_q).then_some(&self.first)
    }

    /// Whether nothing is in flight, so that an edge without an access does nothing.
    #[inline]
    pub fn idle(&self) -> bool {
        self.first_q.is_none() && !self.result_valid_q
    }

    /// The lanes that are served while there is room: those that want the word of the lowest one.
    #[inline]
    pub fn served(access: &Access<'_>) -> u32 {
        let word = |lane: usize| access.addr.0[lane] >> 2;
        let wanted = word(access.lanes.trailing_zeros() as usize % LANES);
        lanes_where(|lane| word(lane) == wanted) & access.lanes
    }

    /// Clock edge: the access whose pass it is, the lanes served (none without room), whether no lane is left after them, and
    /// whether the constant unit asks. [`write`](Self::write) follows, so that a word at the same edge is read as it was.
    pub fn advance(&mut self, access: &Access<'_>, served: u32, last: bool, direct: bool) {
        self.collect();
        if served == 0 {
            return;
        }
        let address = |lane: usize| access.addr.0[lane];
        self.ram.read((address(served.trailing_zeros() as usize) >> 2 & self.word_mask) as usize);
        let asked = Asked::of(access, served, last);
        let Asked { header, size, signed } = asked;
        (self.first_q, self.first_direct_q) = (Some(asked), direct);
        self.byte_q = set_bits(served).fold(0, |bytes, lane| bytes | u64::from(address(lane) & 3) << (2 * lane));
        self.first.header = header;
        if header.reg.is_some() {
            let word = self.ram.rdata() as u32;
            self.first.data = WarpData::ZERO;
            for lane in set_bits(served) {
                self.first.data.0[lane] = extract(word, address(lane), size, signed);
            }
        }
    }

    /// Clock edge when nothing is offered.
    #[inline]
    pub fn collect(&mut self) {
        self.result_valid_q = self.first_q.take().is_some() && !self.first_direct_q;
        if self.result_valid_q {
            self.result_q.header = self.first.header;
            if self.first.header.reg.is_some() {
                self.result_q.data = self.first.data;
            }
        }
    }

    /// The host writes a word, also in reset.
    #[inline]
    pub fn write(&mut self, address: u32, data: u32) {
        self.ram.write(address as usize, data.into(), u32::MAX.into());
    }

    /// Clock edge in reset. It follows the edge of the RAM.
    #[inline]
    pub fn reset(&mut self) {
        self.first_q = None;
        self.result_valid_q = false;
    }
}

impl ConstantMemoryIn {
    /// The access that the memory pipeline offers.
    fn access(&self) -> Option<Access<'_>> {
        (self.valid_i != 0).then(|| Access {
            lanes: self.lanes_i,
            warp: self.warp_i,
            kind: kind::LOAD,
            size: self.size_i,
            signed: self.signed_i != 0,
            atomic: 0,
            reg: (self.reg_valid_i != 0).then_some(self.reg_i),
            addr: &self.addr_i,
            store: &WarpData::ZERO,
            compare: &WarpData::ZERO,
            bypass: false,
            texture: 0,
        })
    }

    /// The access that the constant unit offers.
    fn direct_access(&self) -> Option<Access<'_>> {
        (self.direct_valid_i != 0).then(|| Access {
            lanes: self.direct_lanes_i,
            warp: self.direct_warp_i,
            kind: kind::LOAD,
            size: self.direct_size_i,
            signed: self.direct_signed_i != 0,
            atomic: 0,
            reg: (self.direct_reg_valid_i != 0).then_some(self.direct_reg_i),
            addr: &self.direct_addr_i,
            store: &WarpData::ZERO,
            compare: &WarpData::ZERO,
            bypass: false,
            texture: 0,
        })
    }
}

impl Block for ConstantMemory {
    const NAME: &'static str = "constant_memory";
    const PARAMETERS: &'static [&'static str] = &["ConstWords"];
    const CELLS: &'static [&'static str] = &["ram_1r1w"];

    type Shape = SmShape;
    type In = ConstantMemoryIn;
    type Out = ConstantMemoryOut;
    type Probe = ConstantMemoryProbe;

    fn new(shape: &SmShape) -> Self {
        Self {
            ram: Words::new(shape.const_words, u32::BITS),
            word_mask: (1 << shape.const_w()) - 1,
            first_q: None,
            first_direct_q: false,
            byte_q: 0,
            first: Answer::NOTHING,
            result_valid_q: false,
            result_q: Answer::NOTHING,
        }
    }

    fn early(&self, out: &mut ConstantMemoryOut) {
        *out = ConstantMemoryOut::zeroed();
        if let Some(Answer { header, data }) = self.direct_result() {
            out.direct_result_valid_o = 1;
            (out.direct_result_warp_o, out.direct_result_mask_o) = (header.warp, header.mask);
            out.direct_result_done_o = header.done.into();
            if let Some(reg) = header.reg {
                (out.direct_result_reg_valid_o, out.direct_result_reg_o) = (1, reg);
                out.direct_result_data_o = *data;
            }
        }
        if let Some(Answer { header, data }) = self.result() {
            out.result_valid_o = 1;
            (out.result_warp_o, out.result_mask_o, out.result_done_o) = (header.warp, header.mask, header.done.into());
            if let Some(reg) = header.reg {
                (out.result_reg_valid_o, out.result_reg_o, out.result_data_o) = (1, reg, *data);
            }
        }
    }

    fn late(&mut self, inputs: &ConstantMemoryIn, out: &mut ConstantMemoryOut) {
        let direct = inputs.direct_access().filter(|_| inputs.direct_room_i != 0);
        let access = inputs.access().filter(|_| inputs.room_i != 0 && direct.is_none());
        out.direct_served_o = direct.map_or(0, |access| Self::served(&access));
        out.served_o = access.map_or(0, |access| Self::served(&access));
    }

    fn clock(&mut self, inputs: &ConstantMemoryIn, out: &ConstantMemoryOut) {
        let direct = inputs.direct_access().filter(|_| out.direct_served_o != 0);
        match (direct, inputs.access()) {
            (Some(access), _) => self.advance(&access, out.direct_served_o, inputs.direct_last_i != 0, true),
            (None, Some(access)) => self.advance(&access, out.served_o, inputs.last_i != 0, false),
            (None, None) if self.idle() => {}
            (None, None) => self.collect(),
        }
        if inputs.const_we_i != 0 {
            self.write(inputs.const_addr_i.into(), inputs.const_data_i);
        }
        if inputs.rst_ni == 0 {
            self.reset();
        }
    }

    fn probe(&self, _: &ConstantMemoryIn, _: &ConstantMemoryOut, probe: &mut ConstantMemoryProbe) {
        *probe = ConstantMemoryProbe::zeroed();
        if let Some(Asked { header, size, signed }) = self.first_q {
            (probe.first_valid_q, probe.first_direct_q) = (1, self.first_direct_q.into());
            (probe.first_mask_q, probe.first_warp_q) = (header.mask, header.warp);
            (probe.first_reg_valid_q, probe.first_reg_q) =
                (header.reg.is_some().into(), header.reg.unwrap_or_default());
            (probe.first_size_q, probe.first_signed_q) = (size, signed.into());
            (probe.first_done_q, probe.byte_q) = (header.done.into(), self.byte_q);
        }
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        self.ram.memories("u_ram", Self::NAME).into()
    }
}

#[cfg(test)]
mod tests;
