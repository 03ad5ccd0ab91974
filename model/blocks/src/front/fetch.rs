//! `fetch`: which warp fetches, and from where. `docs/blocks/fetch.md`.

use crate::instruction::PC_BITS;
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{first_from, set_bits};
use crate::ram::Words;
use crate::shape::{MAX_WARPS, SmShape, WARP_NUMBERS};
use crate::{Block, Memory, WARP_BITS, field, ports};

ports! {
    /// Inputs of [`Fetch`].
    pub struct FetchIn(s: &SmShape) {
        /// Operation word that the host writes.
        code_op_i: u64 = field(64).valid_by("code_we_i"),
        /// Control word that the host writes.
        code_ctl_i: u64 = field(64).valid_by("code_we_i"),
        /// The warp's instruction buffer has room for one more.
        room_i: u64 = field(s.warps),
        /// The warp may not fetch now.
        held_i: u64 = field(s.warps),
        /// Where the warp of a resume goes on.
        resume_pc_i: [u32; MAX_PORTS + 1] = field(PC_BITS).count(s.ports() + 1).valid_by("resume_valid_i"),
        /// Reconvergence point of each warp's group.
        reconvergence_i: [u32; MAX_WARPS] = field(PC_BITS).count(s.warps),
        /// Where the host writes.
        code_addr_i: u16 = field(s.code_w()).valid_by("code_we_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// The host writes an instruction at this edge.
        code_we_i: u8 = field(1),
        /// A warp begins at address 0.
        start_valid_i: u8 = field(1),
        /// Which.
        start_warp_i: u8 = field(WARP_BITS).valid_by("start_valid_i"),
        /// A warp goes on.
        resume_valid_i: u8 = field(s.ports() + 1),
        /// Which.
        resume_warp_i: [u8; MAX_PORTS + 1] = field(WARP_BITS).count(s.ports() + 1).valid_by("resume_valid_i"),
        /// The instruction at decode may send the group elsewhere.
        decode_stop_i: u8 = field(1).valid_by("decode_valid_o"),
    }
}

ports! {
    /// Outputs of [`Fetch`].
    pub struct FetchOut(s: &SmShape) {
        /// Its operation word.
        decode_op_o: u64 = field(64).valid_by("decode_valid_o").early(),
        /// Its control word.
        decode_ctl_o: u64 = field(64).valid_by("decode_valid_o").early(),
        /// Its address.
        decode_pc_o: u32 = field(PC_BITS).valid_by("decode_valid_o").early(),
        /// An instruction has been read.
        decode_valid_o: u8 = field(1).early(),
        /// Its warp.
        decode_warp_o: u8 = field(WARP_BITS).valid_by("decode_valid_o").early(),
    }
}

ports! {
    /// State of [`Fetch`] that no output shows.
    pub struct FetchProbe(s: &SmShape) {
        /// The warp's fetch goes on.
        running_q: u64 = field(s.warps),
        /// The address of each warp's next fetch.
        pc_q: [u32; MAX_WARPS] = field(PC_BITS).count(s.warps).valid_by("running_q"),
        /// The warp that is asked first.
        rr_q: u8 = field(WARP_BITS),
    }
}

/// An instruction that has been read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fetched {
    /// Operation word.
    pub op: u64,
    /// Control word.
    pub ctl: u64,
    /// Its address.
    pub pc: u32,
    /// Its warp.
    pub warp: u8,
}

/// Keeps the fetch address of each warp and reads the code memory, one instruction a cycle. Behind an instruction that
/// may send the group elsewhere a warp waits until the SIMT stack says where it goes on, so nothing is fetched on a
/// wrong path.
pub struct Fetch {
    /// What numbers a warp's address modulo the code memory's depth.
    code_mask: u32,
    running_q: u64,
    pc_q: [u32; WARP_NUMBERS],
    rr_q: u8,
    warps: u8,
    valid_q: bool,
    warp_q: u8,
    fetch_pc_q: u32,
    op_ram: Words,
    ctl_ram: Words,
}

/// The next address.
#[inline]
fn next(pc: u32) -> u32 {
    (pc + 1) & ((1 << PC_BITS) - 1)
}

impl Fetch {
    /// The instruction at decode.
    #[inline]
    pub fn fetched(&self) -> Option<Fetched> {
        self.valid_q.then(|| Fetched {
            op: self.op_ram.rdata(),
            ctl: self.ctl_ram.rdata(),
            pc: self.fetch_pc_q,
            warp: self.warp_q,
        })
    }

    /// The warp that fetches in this cycle.
    #[inline]
    pub fn chosen(&self, room: u64, held: u64) -> Option<usize> {
        let at_decode = u64::from(self.valid_q) << self.warp_q;
        first_from(self.running_q & room & !held & !at_decode, self.rr_q.into())
    }

    /// An edge at which `chosen` fetches. It comes first: the words are those of before the edge, and what the other
    /// methods say of a warp wins. `decode_stop` and `reconvergence` are those of the instruction at decode.
    #[inline]
    pub fn advance(&mut self, chosen: Option<usize>, decode_stop: bool, reconvergence: u32) {
        if self.valid_q && (decode_stop || next(self.fetch_pc_q) == reconvergence) {
            self.running_q &= !(1 << self.warp_q);
        }
        self.read(chosen);
        self.valid_q = chosen.is_some();
        if let Some(w) = chosen {
            self.warp_q = w as u8;
            self.fetch_pc_q = self.pc_q[w];
            self.pc_q[w] = next(self.pc_q[w]);
            self.rr_q = if w + 1 == usize::from(self.warps) { 0 } else { w as u8 + 1 };
        }
    }

    /// The edge at which a warp goes on elsewhere.
    #[inline]
    pub fn resume(&mut self, warp: u8, pc: u32) {
        self.running_q |= 1 << warp;
        self.pc_q[usize::from(warp)] = pc;
    }

    /// The edge at which a warp begins.
    #[inline]
    pub fn start(&mut self, warp: u8) {
        self.resume(warp, 0);
    }

    /// An edge in reset, at which `chosen` fetches all the same: RAM cells know no reset.
    pub fn reset(&mut self, chosen: Option<usize>) {
        self.read(chosen);
        (self.running_q, self.valid_q, self.rr_q) = (0, false, 0);
    }

    /// The edge at which the host writes an instruction, also in reset. It comes last.
    #[inline]
    pub fn write_code(&mut self, addr: u16, op: u64, ctl: u64) {
        self.op_ram.write(addr.into(), op, u64::MAX);
        self.ctl_ram.write(addr.into(), ctl, u64::MAX);
    }

    #[inline]
    fn read(&mut self, chosen: Option<usize>) {
        if let Some(w) = chosen {
            let addr = (self.pc_q[w] & self.code_mask) as usize;
            self.op_ram.read(addr);
            self.ctl_ram.read(addr);
        }
    }
}

impl Block for Fetch {
    const NAME: &'static str = "fetch";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts", "CodeWords"];

    type Shape = SmShape;
    type In = FetchIn;
    type Out = FetchOut;
    type Probe = FetchProbe;

    fn new(shape: &SmShape) -> Self {
        Self {
            code_mask: shape.code_words as u32 - 1,
            running_q: 0,
            pc_q: [0; WARP_NUMBERS],
            rr_q: 0,
            warps: shape.warps as u8,
            valid_q: false,
            warp_q: 0,
            fetch_pc_q: 0,
            op_ram: Words::new(shape.code_words, u64::BITS),
            ctl_ram: Words::new(shape.code_words, u64::BITS),
        }
    }

    fn early(&self, out: &mut FetchOut) {
        let fetched = self.fetched();
        out.decode_valid_o = fetched.is_some().into();
        let Fetched { op, ctl, pc, warp } = fetched.unwrap_or(Fetched { op: 0, ctl: 0, pc: 0, warp: 0 });
        (out.decode_op_o, out.decode_ctl_o, out.decode_pc_o, out.decode_warp_o) = (op, ctl, pc, warp);
    }

    fn late(&mut self, _: &FetchIn, _: &mut FetchOut) {}

    fn clock(&mut self, inputs: &FetchIn, _: &FetchOut) {
        let chosen = self.chosen(inputs.room_i, inputs.held_i);
        if inputs.rst_ni == 0 {
            self.reset(chosen);
        } else {
            let reconvergence = inputs.reconvergence_i.get(usize::from(self.warp_q)).copied().unwrap_or_default();
            self.advance(chosen, inputs.decode_stop_i != 0, reconvergence);
            for k in set_bits(inputs.resume_valid_i) {
                self.resume(inputs.resume_warp_i[k], inputs.resume_pc_i[k]);
            }
            if inputs.start_valid_i != 0 {
                self.start(inputs.start_warp_i);
            }
        }
        if inputs.code_we_i != 0 {
            self.write_code(inputs.code_addr_i, inputs.code_op_i, inputs.code_ctl_i);
        }
    }

    fn probe(&self, _: &FetchIn, _: &FetchOut, probe: &mut FetchProbe) {
        (probe.running_q, probe.rr_q) = (self.running_q, self.rr_q);
        probe.pc_q = [0; MAX_WARPS];
        for w in set_bits(self.running_q).take_while(|&w| w < MAX_WARPS) {
            probe.pc_q[w] = self.pc_q[w];
        }
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let op = self.op_ram.memories("u_op_ram", Self::NAME);
        op.into_iter().chain(self.ctl_ram.memories("u_ctl_ram", Self::NAME)).collect()
    }
}

#[cfg(test)]
mod tests;
