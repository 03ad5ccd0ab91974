//! `instruction_buffer`: decoded instructions that wait for issue. `docs/blocks/instruction_buffer.md`.

use crate::instruction::{PC_BITS, Roles};
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{is_set, set_bits};
use crate::shape::SmShape;
use crate::sizes::MAX_WARPS;
use crate::{Block, Memory, Packed, PackedMemory, WARP_BITS, field, packed, ports};

ports! {
    /// Inputs of [`InstructionBuffer`].
    pub struct InstructionBufferIn(s: &SmShape) {
        /// Operation word of the instruction.
        push_op_i: [u64; MAX_PORTS] = field(64).count(s.ports()).valid_by("push_valid_i"),
        /// Control word of the instruction.
        push_ctl_i: [u64; MAX_PORTS] = field(64).count(s.ports()).valid_by("push_valid_i"),
        /// Roles of the instruction.
        push_roles_i: [u64; MAX_PORTS] = packed::<Roles>().count(s.ports()).valid_by("push_valid_i"),
        /// The head of warp w leaves at this edge.
        pop_i: u64 = field(s.warps),
        /// Address of the instruction.
        push_pc_i: [u32; MAX_PORTS] = field(PC_BITS).count(s.ports()).valid_by("push_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction arrives from fetch path p.
        push_valid_i: u8 = field(s.ports()),
        /// Warp of the instruction.
        push_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("push_valid_i"),
    }
}

ports! {
    /// Outputs of [`InstructionBuffer`].
    pub struct InstructionBufferOut(s: &SmShape) {
        /// Operation word of each head.
        head_op_o: [u64; MAX_WARPS] = field(64).count(s.warps).valid_by("head_valid_o").early(),
        /// Control word of each head.
        head_ctl_o: [u64; MAX_WARPS] = field(64).count(s.warps).valid_by("head_valid_o").early(),
        /// Roles of each head.
        head_roles_o: [u64; MAX_WARPS] = packed::<Roles>().count(s.warps).valid_by("head_valid_o").early(),
        /// Fewer than two instructions are there.
        room_o: u64 = field(s.warps).early(),
        /// The warp has a head.
        head_valid_o: u64 = field(s.warps).early(),
        /// Address of each head.
        head_pc_o: [u32; MAX_WARPS] = field(PC_BITS).count(s.warps).valid_by("head_valid_o").early(),
    }
}

ports! {
    /// State of [`InstructionBuffer`] that no output shows.
    pub struct InstructionBufferProbe(s: &SmShape) {
        /// Place of each warp's oldest instruction.
        first_q: u64 = field(s.warps),
        /// Instructions of each warp.
        count_q: [u8; MAX_WARPS] = field(2).count(s.warps),
    }
}

/// A decoded instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decoded {
    /// Operation word.
    pub op: u64,
    /// Control word.
    pub ctl: u64,
    /// Roles.
    pub roles: Roles,
    /// Address.
    pub pc: u32,
}

/// Places of a warp.
const PLACES: usize = 2;

/// Two decoded instructions for each warp, so that one can be fetched while another waits. Payloads are kept in 32-bit
/// pieces, as [`Memory`] asks for them.
#[derive(Clone)]
pub struct InstructionBuffer {
    warps: u64,
    /// The bits of a warp's number that are used.
    number_mask: usize,
    /// The counts of all warps as bit planes: bit 0 and bit 1.
    count_q: [u64; 2],
    first_q: u64,
    pc_q: Box<[u32]>,
    op_q: Box<[[u32; 2]]>,
    ctl_q: Box<[[u32; 2]]>,
    roles_q: Box<[[u32; 2]]>,
}

#[inline]
fn join([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << u32::BITS | u64::from(low)
}

#[inline]
fn split(word: u64) -> [u32; 2] {
    [word as u32, (word >> u32::BITS) as u32]
}

impl InstructionBuffer {
    /// The warps that have a head.
    #[inline]
    pub fn head_valid(&self) -> u64 {
        self.count_q[0] | self.count_q[1]
    }

    /// The warps that have fewer than two instructions.
    #[inline]
    pub fn room(&self) -> u64 {
        self.warps & !self.count_q[1]
    }

    /// Roles of the head of a warp; meaningful while there is one.
    #[inline]
    pub fn roles(&self, warp: usize) -> Roles {
        Roles(join(self.roles_q[self.oldest(warp)]))
    }

    /// The head of a warp; meaningful while there is one.
    #[inline]
    pub fn head(&self, warp: usize) -> Decoded {
        let place = self.oldest(warp);
        Decoded {
            op: join(self.op_q[place]),
            ctl: join(self.ctl_q[place]),
            roles: Roles(join(self.roles_q[place])),
            pc: self.pc_q[place],
        }
    }

    #[inline]
    fn oldest(&self, warp: usize) -> usize {
        PLACES * warp + (self.first_q >> warp & 1) as usize
    }

    /// The edge at which an instruction's payload arrives, also in reset. It comes before [`count`](Self::count). Until
    /// reset has been clocked in the warp need not exist: the place that its lowest bits name is written, if there is
    /// one.
    #[inline]
    pub fn write(&mut self, warp: u8, instruction: &Decoded) {
        let warp = usize::from(warp) & self.number_mask;
        if !is_set(self.warps, warp) {
            return;
        }
        let place = PLACES * warp + ((self.first_q ^ self.count_q[0]) >> warp & 1) as usize;
        self.pc_q[place] = instruction.pc;
        self.op_q[place] = split(instruction.op);
        self.ctl_q[place] = split(instruction.ctl);
        self.roles_q[place] = split(instruction.roles.0);
    }

    /// An edge: warps of `push` get an instruction, heads of `pop` leave.
    #[inline]
    pub fn count(&mut self, push: u64, pop: u64) {
        let (more, less) = (push & !pop, pop & !push);
        let [low, high] = self.count_q;
        self.count_q = [low ^ (more | less), high ^ (more & low | less & !low)];
        self.first_q ^= pop;
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        (self.count_q, self.first_q) = ([0; 2], 0);
    }
}

impl Block for InstructionBuffer {
    const NAME: &'static str = "instruction_buffer";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts"];

    const PACKED_MEMORIES: &'static [PackedMemory] = &[("roles_q", Roles::layout)];

    type Shape = SmShape;
    type In = InstructionBufferIn;
    type Out = InstructionBufferOut;
    type Probe = InstructionBufferProbe;

    fn new(shape: &SmShape) -> Self {
        let places = PLACES * shape.warps;
        Self {
            warps: shape.all_warps(),
            number_mask: shape.warps.next_power_of_two() - 1,
            count_q: [0; 2],
            first_q: 0,
            pc_q: vec![0; places].into(),
            op_q: vec![[0; 2]; places].into(),
            ctl_q: vec![[0; 2]; places].into(),
            roles_q: vec![[0; 2]; places].into(),
        }
    }

    fn early(&self, out: &mut InstructionBufferOut) {
        (out.room_o, out.head_valid_o) = (self.room(), self.head_valid());
        for w in 0..self.warps.count_ones() as usize {
            let head = if self.head_valid() >> w & 1 == 1 { self.head(w) } else { NO_INSTRUCTION };
            (out.head_pc_o[w], out.head_op_o[w]) = (head.pc, head.op);
            (out.head_ctl_o[w], out.head_roles_o[w]) = (head.ctl, head.roles.0);
        }
    }

    fn late(&mut self, _: &InstructionBufferIn, _: &mut InstructionBufferOut) {}

    fn clock(&mut self, inputs: &InstructionBufferIn, _: &InstructionBufferOut) {
        let mut push = 0;
        for p in set_bits(inputs.push_valid_i) {
            let instruction = Decoded {
                op: inputs.push_op_i[p],
                ctl: inputs.push_ctl_i[p],
                roles: Roles(inputs.push_roles_i[p]),
                pc: inputs.push_pc_i[p],
            };
            self.write(inputs.push_warp_i[p], &instruction);
            push |= 1 << inputs.push_warp_i[p];
        }
        if inputs.rst_ni == 0 {
            self.reset();
        } else {
            self.count(self.warps & push, inputs.pop_i);
        }
    }

    fn probe(&self, _: &InstructionBufferIn, _: &InstructionBufferOut, probe: &mut InstructionBufferProbe) {
        probe.first_q = self.first_q;
        probe.count_q = [0; MAX_WARPS];
        for w in set_bits(self.head_valid()) {
            probe.count_q[w] = (self.count_q[0] >> w & 1 | (self.count_q[1] >> w & 1) << 1) as u8;
        }
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let memory = |path: &str, words, bits| Memory { path: path.into(), block: Self::NAME, words, bits };
        vec![
            memory("pc_q", &mut self.pc_q, PC_BITS),
            memory("op_q", self.op_q.as_flattened_mut(), u64::BITS),
            memory("ctl_q", self.ctl_q.as_flattened_mut(), u64::BITS),
            memory("roles_q", self.roles_q.as_flattened_mut(), Roles::BITS),
        ]
    }
}

/// What stands for the head of a warp that has none.
const NO_INSTRUCTION: Decoded = Decoded { op: 0, ctl: 0, roles: Roles(0), pc: 0 };

#[cfg(test)]
mod tests;
