//! `fetch`: which warp fetches, and from where. `docs/blocks/fetch.md`.

use crate::instruction::PC_BITS;
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{first_from, is_set, set_bits};
use crate::ram::Words;
use crate::shape::SmShape;
use crate::sizes::{MAX_WARPS, WARP_NUMBERS};
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
        /// Address at which the warp's fetch resumes.
        resume_pc_i: [u32; MAX_PORTS + 1] = field(PC_BITS).count(s.ports() + 1).valid_by("resume_valid_i"),
        /// Reconvergence point of each warp's group.
        reconvergence_i: [u32; MAX_WARPS] = field(PC_BITS).count(s.warps),
        /// Address of the instruction that the host writes.
        code_addr_i: u32 = field(s.code_w()).valid_by("code_we_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// The host writes an instruction at this edge.
        code_we_i: u8 = field(1),
        /// A warp begins at address 0.
        start_valid_i: u8 = field(1),
        /// Warp that begins.
        start_warp_i: u8 = field(WARP_BITS).valid_by("start_valid_i"),
        /// A warp goes on.
        resume_valid_i: u8 = field(s.ports() + 1),
        /// Warp whose fetch resumes.
        resume_warp_i: [u8; MAX_PORTS + 1] = field(WARP_BITS).count(s.ports() + 1).valid_by("resume_valid_i"),
        /// The instruction of path p at decode may send the group elsewhere.
        decode_stop_i: u8 = field(s.ports()).valid_by("decode_valid_o"),
    }
}

ports! {
    /// Outputs of [`Fetch`].
    pub struct FetchOut(s: &SmShape) {
        /// Operation word of the instruction that path p has read.
        decode_op_o: [u64; MAX_PORTS] = field(64).count(s.ports()).valid_by("decode_valid_o").early(),
        /// Control word of the instruction that path p has read.
        decode_ctl_o: [u64; MAX_PORTS] = field(64).count(s.ports()).valid_by("decode_valid_o").early(),
        /// Address of the instruction that path p has read.
        decode_pc_o: [u32; MAX_PORTS] =
            field(PC_BITS).count(s.ports()).valid_by("decode_valid_o").early().shows("fetch_pc_q"),
        /// Path p has read an instruction.
        decode_valid_o: u8 = field(s.ports()).early().shows("valid_q"),
        /// Warp of the instruction that path p has read.
        decode_warp_o: [u8; MAX_PORTS] =
            field(WARP_BITS).count(s.ports()).valid_by("decode_valid_o").early().shows("warp_q"),
    }
}

ports! {
    /// State of [`Fetch`] that no output shows.
    pub struct FetchProbe(s: &SmShape) {
        /// The warp's fetch goes on.
        running_q: u64 = field(s.warps),
        /// The address of each warp's next fetch.
        pc_q: [u32; MAX_WARPS] = field(PC_BITS).count(s.warps).valid_by("running_q"),
        /// The warp that each path asks first.
        rr_q: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()),
    }
}

/// An instruction that has been read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fetched {
    /// Operation word.
    pub op: u64,
    /// Control word.
    pub ctl: u64,
    /// Address of the instruction.
    pub pc: u32,
    /// Warp of the instruction.
    pub warp: u8,
}

/// Keeps the fetch address of each warp and reads the code memory, one instruction a cycle for each issue port: its warps
/// have a fetch path of their own, with a copy of the code. After an instruction that may redirect its group, a warp
/// waits until the SIMT stack gives the next address, so nothing is fetched on a wrong path.
#[derive(Clone)]
pub struct Fetch {
    /// Mask that takes an address modulo the code memory's depth.
    code_mask: u32,
    running_q: u64,
    pc_q: [u32; WARP_NUMBERS],
    warps: u8,
    paths: Vec<Path>,
}

/// The fetch path of an issue port.
#[derive(Clone)]
struct Path {
    /// Warps of the path.
    own: u64,
    rr_q: u8,
    valid_q: bool,
    warp_q: u8,
    fetch_pc_q: u32,
    op_ram: Words,
    ctl_ram: Words,
}

impl Path {
    fn new(shape: &SmShape, p: usize) -> Self {
        Self {
            own: shape.own_warps(p),
            rr_q: 0,
            valid_q: false,
            warp_q: 0,
            fetch_pc_q: 0,
            op_ram: Words::new(shape.code_words, u64::BITS),
            ctl_ram: Words::new(shape.code_words, u64::BITS),
        }
    }

    /// The warp whose instruction is at decode.
    #[inline]
    fn at_decode(&self) -> u64 {
        u64::from(self.valid_q) << self.warp_q
    }

    #[inline]
    fn read(&mut self, addr: u32) {
        self.op_ram.read(addr as usize);
        self.ctl_ram.read(addr as usize);
    }
}

/// The next address.
#[inline]
fn next(pc: u32) -> u32 {
    (pc + 1) & ((1 << PC_BITS) - 1)
}

impl Fetch {
    /// The instruction of path `p` at decode.
    #[inline]
    pub fn fetched(&self, p: usize) -> Option<Fetched> {
        let path = &self.paths[p];
        path.valid_q.then(|| Fetched {
            op: path.op_ram.rdata(),
            ctl: path.ctl_ram.rdata(),
            pc: path.fetch_pc_q,
            warp: path.warp_q,
        })
    }

    /// Whether no instruction is at decode.
    pub fn is_idle(&self) -> bool {
        self.paths.iter().all(|path| !path.valid_q)
    }

    /// The warp that path `p` fetches for in this cycle.
    #[inline]
    pub fn chosen(&self, p: usize, room: u64, held: u64) -> Option<usize> {
        let path = &self.paths[p];
        first_from(self.running_q & room & !held & !path.at_decode() & path.own, path.rr_q.into())
    }

    /// Clock edge at which path `p` fetches for `chosen`. Call it first: it reads the words from before the edge, and the
    /// other methods override it for a warp. `decode_stop` and `reconvergence` belong to the path's instruction at decode.
    #[inline]
    pub fn advance(&mut self, p: usize, chosen: Option<usize>, decode_stop: bool, reconvergence: u32) {
        let path = &mut self.paths[p];
        if path.valid_q && (decode_stop || next(path.fetch_pc_q) == reconvergence) {
            self.running_q &= !(1 << path.warp_q);
        }
        path.valid_q = chosen.is_some();
        if let Some(w) = chosen {
            path.read(self.pc_q[w] & self.code_mask);
            path.warp_q = w as u8;
            path.fetch_pc_q = self.pc_q[w];
            self.pc_q[w] = next(self.pc_q[w]);
            path.rr_q = if w + 1 == usize::from(self.warps) { 0 } else { w as u8 + 1 };
        }
    }

    /// Clock edge at which a warp continues at another address.
    #[inline]
    pub fn resume(&mut self, warp: u8, pc: u32) {
        self.running_q |= 1 << warp;
        self.pc_q[usize::from(warp)] = pc;
    }

    /// Clock edge at which a warp begins.
    #[inline]
    pub fn start(&mut self, warp: u8) {
        self.resume(warp, 0);
    }

    /// Clock edge in reset. The paths still fetch for `chosen`: RAM cells have no reset.
    pub fn reset(&mut self, chosen: &[Option<usize>; MAX_PORTS]) {
        for (path, chosen) in self.paths.iter_mut().zip(chosen) {
            if let Some(w) = *chosen {
                path.read(self.pc_q[w] & self.code_mask);
            }
            (path.valid_q, path.rr_q) = (false, 0);
        }
        self.running_q = 0;
    }

    /// Clock edge at which the host writes an instruction, also in reset. It comes last.
    #[inline]
    pub fn write_code(&mut self, addr: u32, op: u64, ctl: u64) {
        for path in &mut self.paths {
            path.op_ram.write(addr as usize, op, u64::MAX);
            path.ctl_ram.write(addr as usize, ctl, u64::MAX);
        }
    }
}

impl Block for Fetch {
    const NAME: &'static str = "fetch";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts", "CodeWords"];
    const CELLS: &'static [&'static str] = &["ram_1r1w"];

    type Shape = SmShape;
    type In = FetchIn;
    type Out = FetchOut;
    type Probe = FetchProbe;

    fn new(shape: &SmShape) -> Self {
        Self {
            code_mask: shape.code_words as u32 - 1,
            running_q: 0,
            pc_q: [0; WARP_NUMBERS],
            warps: shape.warps as u8,
            paths: (0..shape.ports()).map(|p| Path::new(shape, p)).collect(),
        }
    }

    fn early(&self, out: &mut FetchOut) {
        out.decode_valid_o = 0;
        for p in 0..self.paths.len() {
            let fetched = self.fetched(p);
            out.decode_valid_o |= u8::from(fetched.is_some()) << p;
            let Fetched { op, ctl, pc, warp } = fetched.unwrap_or(Fetched { op: 0, ctl: 0, pc: 0, warp: 0 });
            (out.decode_op_o[p], out.decode_ctl_o[p]) = (op, ctl);
            (out.decode_pc_o[p], out.decode_warp_o[p]) = (pc, warp);
        }
    }

    fn late(&mut self, _: &FetchIn, _: &mut FetchOut) {}

    fn clock(&mut self, inputs: &FetchIn, _: &FetchOut) {
        let mut chosen = [None; MAX_PORTS];
        for (p, chosen) in chosen.iter_mut().enumerate().take(self.paths.len()) {
            *chosen = self.chosen(p, inputs.room_i, inputs.held_i);
        }
        if inputs.rst_ni == 0 {
            self.reset(&chosen);
        } else {
            for (p, &chosen) in chosen.iter().enumerate().take(self.paths.len()) {
                let warp = usize::from(self.paths[p].warp_q);
                let reconvergence = inputs.reconvergence_i.get(warp).copied().unwrap_or_default();
                self.advance(p, chosen, is_set(inputs.decode_stop_i, p), reconvergence);
            }
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
        (probe.running_q, probe.rr_q) = (self.running_q, [0; MAX_PORTS]);
        for (rr_q, path) in probe.rr_q.iter_mut().zip(&self.paths) {
            *rr_q = path.rr_q;
        }
        probe.pc_q = [0; MAX_WARPS];
        for w in set_bits(self.running_q).take_while(|&w| w < MAX_WARPS) {
            probe.pc_q[w] = self.pc_q[w];
        }
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let mut all = Vec::new();
        for (p, path) in self.paths.iter_mut().enumerate() {
            all.extend(path.op_ram.memories(&format!("gen_path[{p}].u_op_ram"), Self::NAME));
            all.extend(path.ctl_ram.memories(&format!("gen_path[{p}].u_ctl_ram"), Self::NAME));
        }
        all
    }
}

#[cfg(test)]
mod tests;
