//! `coalescer`: combines lanes into lines of 128 bytes. `docs/blocks/coalescer.md`.

use crate::memory::access::{Access, Header, atomic, kind, lanes_where, masked};
use crate::mrf::bits::set_bits;
use crate::shape::SmShape;
use crate::{Block, LANES, Ports, REG_BITS, WARP_BITS, WarpData, field, ports};

/// Width of a line's number; the highest bit says that it is in local memory.
pub const LINE_BITS: u32 = 26;
/// Width of a byte's place in a line.
pub const OFFSET_BITS: u32 = 7;
const LOCAL: u32 = 1 << (LINE_BITS - 1);

ports! {
    /// Inputs of [`Coalescer`].
    pub struct CoalescerIn(s: &SmShape) {
        /// Address of each lane.
        addr_i: WarpData = field(1024).valid_by("valid_i"),
        /// Source c of each lane.
        store_i: WarpData = field(1024).valid_by("valid_i"),
        /// Source b of each lane.
        compare_i: WarpData = field(1024).valid_by("valid_i"),
        /// Handle's constant word, channel and access of a texture fetch.
        texture_i: u32 = field(LINE_BITS).valid_by("valid_i"),
        /// Lanes that are offered.
        lanes_i: u32 = field(32).valid_by("valid_i"),
        /// Words of local memory of a thread.
        local_words_i: u16 = field(16),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Lanes are offered.
        valid_i: u8 = field(1),
        /// The addresses are in local memory.
        local_i: u8 = field(1).valid_by("valid_i"),
        /// Warp of the lanes that are offered.
        warp_i: u8 = field(WARP_BITS).valid_by("valid_i"),
        /// Kind of access: 0 load, 1 store, 2 atomic operation, 3 texture fetch.
        kind_i: u8 = field(2).valid_by("valid_i"),
        /// Bytes as a power of two.
        size_i: u8 = field(2).valid_by("valid_i"),
        /// Sign extension.
        signed_i: u8 = field(1).valid_by("valid_i"),
        /// Atomic operation.
        atomic_i: u8 = field(4).valid_by("valid_i"),
        /// A register is written.
        reg_valid_i: u8 = field(1).valid_by("valid_i"),
        /// Register that is written.
        reg_i: u8 = field(REG_BITS).valid_by("reg_valid_i"),
        /// The access is a load that is to pass the data cache by.
        bypass_i: u8 = field(1).valid_by("valid_i"),
        /// No lane is left after this pass.
        last_i: u8 = field(1).valid_by("valid_i"),
        /// The line table has room.
        row_room_i: u8 = field(1),
        /// A request is taken at this edge if also valid.
        mem_req_ready_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`Coalescer`].
    pub struct CoalescerOut(s: &SmShape) {
        /// Source c of each lane, or a for the last request of a texture fetch; 0 for loads and in lanes outside.
        mem_req_data_o: WarpData = field(1024).valid_by("mem_req_valid_o").early().shows("data_q"),
        /// Source b of each lane for compare and swap and for the last request of a texture fetch, otherwise 0.
        mem_req_compare_o: WarpData = field(1024).valid_by("mem_req_valid_o").early().shows("compare_q"),
        /// Lanes served at this edge.
        served_o: u32 = field(32),
        /// Line of the pass; 0 without one.
        pass_line_o: u32 = field(LINE_BITS),
        /// Lanes of the row.
        row_mask_o: u32 = field(32).valid_by("row_valid_o"),
        /// Line of the request; what a texture fetch says of the texture.
        mem_req_line_o: u32 = field(LINE_BITS).valid_by("mem_req_valid_o").early().shows("line_q"),
        /// Lanes of the request.
        mem_req_mask_o: u32 = field(32).valid_by("mem_req_valid_o").early().shows("mask_q"),
        /// A row for the line table at this edge.
        row_valid_o: u8 = field(1),
        /// Warp of the row.
        row_warp_o: u8 = field(WARP_BITS).valid_by("row_valid_o"),
        /// A register is written.
        row_reg_valid_o: u8 = field(1).valid_by("row_valid_o"),
        /// Register that is written.
        row_reg_o: u8 = field(REG_BITS).valid_by("row_reg_valid_o"),
        /// Bytes as a power of two.
        row_size_o: u8 = field(2).valid_by("row_valid_o"),
        /// Sign extension.
        row_signed_o: u8 = field(1).valid_by("row_valid_o"),
        /// The answer has a word for each lane instead of a line.
        row_lanewise_o: u8 = field(1).valid_by("row_valid_o"),
        /// Last of its instruction.
        row_done_o: u8 = field(1).valid_by("row_valid_o"),
        /// Place of each lane's first byte in the line.
        row_offset_o: [u8; LANES] = field(OFFSET_BITS).count(LANES).valid_by("row_valid_o"),
        /// A request is offered.
        mem_req_valid_o: u8 = field(1).early().shows("req_valid_q"),
        /// Kind of access: 0 load, 1 store, 2 atomic operation, 3 texture fetch.
        mem_req_kind_o: u8 = field(2).valid_by("mem_req_valid_o").early().shows("kind_q"),
        /// Atomic operation.
        mem_req_atomic_o: u8 = field(4).valid_by("mem_req_valid_o").early().shows("atomic_q"),
        /// Bytes as a power of two.
        mem_req_size_o: u8 = field(2).valid_by("mem_req_valid_o").early().shows("size_q"),
        /// The request is a load that is to pass the data cache by.
        bypass_o: u8 = field(1).valid_by("mem_req_valid_o").early().shows("bypass_q"),
        /// An answer is expected.
        mem_req_answer_o: u8 = field(1).valid_by("mem_req_valid_o").early().shows("answer_q"),
        /// Warp of the request.
        mem_req_warp_o: u8 = field(WARP_BITS).valid_by("mem_req_valid_o").early().shows("warp_q"),
        /// Place of each lane's first byte in the line.
        mem_req_offset_o: [u8; LANES] =
            field(OFFSET_BITS).count(LANES).valid_by("mem_req_valid_o").early().shows("offset_q"),
    }
}

ports! {
    /// State of [`Coalescer`] that no output shows.
    pub struct CoalescerProbe(s: &SmShape) {
        /// The request with the third coordinate of the fetch at hand has been made.
        third_q: u8 = field(1),
    }
}

/// A request to global memory: everything a pass does in one line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    /// Source c of each lane; 0 for loads and in lanes outside.
    pub data: WarpData,
    /// Source b of each lane for compare and swap, otherwise 0.
    pub compare: WarpData,
    /// Line.
    pub line: u32,
    /// Lanes.
    pub mask: u32,
    /// Place of each lane's first byte in the line, 0 in lanes outside.
    pub offset: [u8; LANES],
    /// Kind of access: see [`kind`].
    pub kind: u8,
    /// Atomic operation: see [`atomic`].
    pub atomic: u8,
    /// Bytes as a power of two.
    pub size: u8,
    /// The request is a load that bypasses the data cache.
    pub bypass: bool,
    /// An answer is expected.
    pub answer: bool,
    /// Warp.
    pub warp: u8,
}

/// A row for the line table: what the lanes of a request take from its answer.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Header of the result.
    pub header: Header,
    /// Place of each lane's first byte in the line, 0 in lanes outside.
    pub offset: &'a [u8; LANES],
    /// Bytes as a power of two.
    pub size: u8,
    /// Sign extension.
    pub signed: bool,
    /// The answer has a word for each lane instead of a line.
    pub lanewise: bool,
}

/// The line of a pass, or the first request of a texture fetch with a third coordinate, which serves no lane.
#[derive(Clone, Copy, Debug)]
pub struct LinePass {
    line: u32,
    served: u32,
    /// The request carries the third coordinate.
    third: bool,
    offset: [u8; LANES],
}

impl LinePass {
    /// Lanes that are served.
    #[inline]
    pub fn served(&self) -> u32 {
        self.served
    }

    /// The line, if lanes are served.
    #[inline]
    pub fn line(&self) -> Option<u32> {
        (!self.third).then_some(self.line)
    }

    /// The row for the line table, if an answer is expected.
    #[inline]
    pub fn row(&self, access: &Access<'_>, last: bool) -> Option<Row<'_>> {
        (access.answers() && !self.third).then_some(Row {
            header: Header { mask: self.served, warp: access.warp, reg: access.reg, done: last },
            offset: &self.offset,
            size: access.size,
            signed: access.signed,
            lanewise: matches!(access.kind, kind::ATOMIC | kind::TEXTURE),
        })
    }
}

/// Serves global and local memory. A pass serves one line, that of the lowest lane left, for all lanes that fall into it. The
/// request goes into a register at the SM's boundary, so that no path leaves the SM and comes back within a cycle.
#[derive(Clone)]
pub struct Coalescer {
    req_valid_q: bool,
    third_q: bool,
    request_q: Request,
    /// Set by the last `late`, used at the clock edge.
    pass: Option<LinePass>,
}

impl Coalescer {
    /// The request at the boundary.
    #[inline]
    pub fn request(&self) -> Option<&Request> {
        self.req_valid_q.then_some(&self.request_q)
    }

    /// What is done at this edge, if anything: a pass, or the first request of a texture fetch.
    pub fn pass(
        &self,
        access: &Access<'_>,
        local: bool,
        local_words: u16,
        row_room: bool,
        ready: bool,
    ) -> Option<LinePass> {
        let free = !self.req_valid_q || ready;
        if !free || access.lanes == 0 {
            return None;
        }
        if access.has_third() && !self.third_q {
            return Some(LinePass { line: access.texture, served: 0, third: true, offset: [0; LANES] });
        }
        if access.answers() && !row_room {
            return None;
        }
        if access.kind == kind::TEXTURE {
            return Some(LinePass { line: access.texture, served: access.lanes, third: false, offset: [0; LANES] });
        }
        let lowest = access.lanes.trailing_zeros() as usize;
        let mut pass = LinePass { line: 0, served: 0, third: false, offset: [0; LANES] };
        if local {
            // Words of a warp's threads lie side by side.
            let first = u32::from(access.warp) * u32::from(local_words);
            let line = |lane: usize| LOCAL + first.wrapping_add(access.addr.0[lane] >> 2) % LOCAL;
            pass.line = line(lowest);
            pass.served = lanes_where(|lane| line(lane) == pass.line) & access.lanes;
            for lane in set_bits(pass.served) {
                pass.offset[lane] = (lane << 2) as u8 | (access.addr.0[lane] & 3) as u8;
            }
        } else {
            pass.line = access.addr.0[lowest] >> OFFSET_BITS;
            pass.served = lanes_where(|lane| access.addr.0[lane] >> OFFSET_BITS == pass.line) & access.lanes;
            for lane in set_bits(pass.served) {
                pass.offset[lane] = access.addr.0[lane] as u8 % (1 << OFFSET_BITS);
            }
        }
        Some(pass)
    }

    /// Clock edge with a pass.
    pub fn perform(&mut self, access: &Access<'_>, pass: &LinePass) {
        let request = &mut self.request_q;
        self.req_valid_q = true;
        (request.kind, request.atomic, request.size) = (access.kind, access.atomic, access.size);
        let lanes = if pass.third { access.lanes } else { pass.served };
        (request.line, request.mask, request.offset) = (pass.line, lanes, pass.offset);
        (request.answer, request.warp) = (access.answers() && !pass.third, access.warp);
        request.bypass = access.kind == kind::LOAD && access.bypass;
        let fetches = access.kind == kind::TEXTURE && !pass.third;
        self.third_q = pass.third || self.third_q && !fetches;
        request.data = match access.kind {
            kind::LOAD => WarpData::ZERO,
            _ if fetches => masked(access.addr, lanes),
            _ => masked(access.store, lanes),
        };
        let compares = fetches || access.kind == kind::ATOMIC && access.atomic == atomic::CAS;
        request.compare = if compares { masked(access.compare, lanes) } else { WarpData::ZERO };
    }

    /// Clock edge without a pass.
    #[inline]
    pub fn wait(&mut self, ready: bool) {
        self.req_valid_q &= !ready;
    }

    /// Clock edge in reset.
    #[inline]
    pub fn reset(&mut self) {
        (self.req_valid_q, self.third_q) = (false, false);
    }
}

impl CoalescerIn {
    fn access(&self) -> Option<Access<'_>> {
        (self.valid_i != 0).then(|| Access {
            lanes: self.lanes_i,
            warp: self.warp_i,
            kind: self.kind_i,
            size: self.size_i,
            signed: self.signed_i != 0,
            atomic: self.atomic_i,
            reg: (self.reg_valid_i != 0).then_some(self.reg_i),
            addr: &self.addr_i,
            store: &self.store_i,
            compare: &self.compare_i,
            bypass: self.bypass_i != 0,
            texture: self.texture_i,
        })
    }
}

impl Block for Coalescer {
    const NAME: &'static str = "coalescer";
    const PARAMETERS: &'static [&'static str] = &[];

    type Shape = SmShape;
    type In = CoalescerIn;
    type Out = CoalescerOut;
    type Probe = CoalescerProbe;

    fn new(_: &SmShape) -> Self {
        Self { req_valid_q: false, third_q: false, request_q: Request::default(), pass: None }
    }

    fn early(&self, out: &mut CoalescerOut) {
        *out = CoalescerOut::zeroed();
        let Some(request) = self.request() else { return };
        out.mem_req_valid_o = 1;
        (out.mem_req_data_o, out.mem_req_compare_o) = (request.data, request.compare);
        (out.mem_req_line_o, out.mem_req_mask_o) = (request.line, request.mask);
        (out.mem_req_offset_o, out.mem_req_warp_o) = (request.offset, request.warp);
        (out.mem_req_kind_o, out.mem_req_atomic_o) = (request.kind, request.atomic);
        (out.mem_req_size_o, out.mem_req_answer_o) = (request.size, request.answer.into());
        out.bypass_o = request.bypass.into();
    }

    fn late(&mut self, inputs: &CoalescerIn, out: &mut CoalescerOut) {
        let access = inputs.access();
        let (room, ready) = (inputs.row_room_i != 0, inputs.mem_req_ready_i != 0);
        self.pass = access
            .as_ref()
            .and_then(|access| self.pass(access, inputs.local_i != 0, inputs.local_words_i, room, ready));
        out.served_o = self.pass.as_ref().map_or(0, LinePass::served);
        out.pass_line_o = self.pass.as_ref().and_then(LinePass::line).unwrap_or_default();
        let row = access.as_ref().zip(self.pass.as_ref()).and_then(|(a, pass)| pass.row(a, inputs.last_i != 0));
        out.row_valid_o = row.is_some().into();
        if let Some(Row { header, offset, size, signed, lanewise }) = row {
            (out.row_mask_o, out.row_warp_o, out.row_offset_o) = (header.mask, header.warp, *offset);
            (out.row_reg_valid_o, out.row_reg_o) = (header.reg.is_some().into(), header.reg.unwrap_or_default());
            (out.row_size_o, out.row_signed_o) = (size, signed.into());
            (out.row_lanewise_o, out.row_done_o) = (lanewise.into(), header.done.into());
        } else {
            (out.row_mask_o, out.row_warp_o, out.row_offset_o) = (0, 0, [0; LANES]);
            (out.row_reg_valid_o, out.row_reg_o) = (0, 0);
            (out.row_size_o, out.row_signed_o) = (0, 0);
            (out.row_lanewise_o, out.row_done_o) = (0, 0);
        }
    }

    fn clock(&mut self, inputs: &CoalescerIn, _: &CoalescerOut) {
        match (inputs.access(), self.pass) {
            _ if inputs.rst_ni == 0 => self.reset(),
            (Some(access), Some(pass)) => self.perform(&access, &pass),
            _ => self.wait(inputs.mem_req_ready_i != 0),
        }
    }

    fn probe(&self, _: &CoalescerIn, _: &CoalescerOut, probe: &mut CoalescerProbe) {
        probe.third_q = self.third_q.into();
    }
}

#[cfg(test)]
mod tests;
