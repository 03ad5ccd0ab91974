//! `instruction_buffer`.

use gpurf_blocks::config::Config;
use gpurf_blocks::front::{
    InstructionBuffer, InstructionBufferIn, InstructionBufferOut, InstructionBufferProbe, roles,
};
use gpurf_blocks::instruction::PC_BITS;
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::{Block, Ports};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset};
use crate::front::instruction;
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct InstructionBufferDriver {
    shape: SmShape,
    reset: Reset,
    /// Follows the inputs, to know where there is room and who has a head.
    twin: InstructionBuffer,
}

const PUSH: usize = 0;
const POP: usize = 1;
const FEW: usize = 2;

impl Driver for InstructionBufferDriver {
    type In = InstructionBufferIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "push", doc: "an instruction arrives", values: &[200, 900, 1000] },
        Knob { name: "pop", doc: "a head leaves", values: &[10, 50, 300, 900] },
        Knob { name: "few", doc: "the instruction is of one of the first four warps", values: &[0, 500, 950] },
        Knob { values: &[0, 5, 40], ..RESET },
    ];

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), twin: InstructionBuffer::new(shape) }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut InstructionBufferIn) {
        let warps = self.shape.warps;
        inputs.rst_ni = self.reset.next(rng, knobs.get(3));
        inputs.pop_i = self.twin.head_valid() & rng.mask(warps as u32, knobs.get(POP));
        let range = if rng.chance(knobs.get(FEW)) { 4 } else { warps as u64 };
        inputs.push_warp_i = rng.below(range) as u8;
        let room = (self.twin.room() | inputs.pop_i) >> inputs.push_warp_i & 1 == 1;
        inputs.push_valid_i = (room && rng.chance(knobs.get(PUSH))).into();
        inputs.push_pc_i = rng.below(1 << PC_BITS) as u32;
        (inputs.push_op_i, inputs.push_ctl_i) = instruction(rng, 100);
        inputs.push_roles_i = roles(inputs.push_op_i, inputs.push_ctl_i).0;
        self.twin.clock(inputs, &InstructionBufferOut::zeroed());
    }
}

pub(crate) struct InstructionBufferCover {
    shape: SmShape,
}

impl Cover for InstructionBufferCover {
    type In = InstructionBufferIn;
    type Out = InstructionBufferOut;
    type Probe = InstructionBufferProbe;

    fn points(_: &SmShape) -> Vec<&'static str> {
        vec![
            "first instruction of a warp",
            "second instruction of a warp",
            "into place 0",
            "into place 1",
            "push into a full warp whose head leaves",
            "the only instruction leaves as one arrives",
            "one of two leaves",
            "the last one leaves",
            "two warps pop",
            "push of one warp and pop of another",
            "last warp",
            "all of the first four warps full",
            "nothing there",
            "reset with instructions",
            "push in reset",
            "push into the second place in reset",
        ]
    }

    fn new(shape: &SmShape) -> Self {
        Self { shape: *shape }
    }

    fn observe(
        &mut self,
        i: &InstructionBufferIn,
        o: &InstructionBufferOut,
        p: &InstructionBufferProbe,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let (pushed, running) = (usize::from(i.push_warp_i), i.rst_ni == 1);
        let push = i.push_valid_i == 1;
        let (count, popped) = (p.count_q[pushed], i.pop_i >> pushed & 1 == 1);
        let place = (p.first_q >> pushed & 1) as u8 ^ count & 1;
        let pops_with = |count: u8| (0..self.shape.warps).any(|w| i.pop_i >> w & 1 == 1 && p.count_q[w] == count);
        let points = [
            ("first instruction of a warp", running && push && count == 0),
            ("second instruction of a warp", running && push && count == 1 && !popped),
            ("into place 0", running && push && place == 0),
            ("into place 1", running && push && place == 1),
            ("push into a full warp whose head leaves", running && push && count == 2),
            ("the only instruction leaves as one arrives", running && push && count == 1 && popped),
            ("one of two leaves", running && pops_with(2)),
            ("the last one leaves", running && pops_with(1)),
            ("two warps pop", running && i.pop_i.count_ones() >= 2),
            ("push of one warp and pop of another", running && push && !popped && i.pop_i != 0),
            ("last warp", running && push && pushed == self.shape.warps - 1),
            ("all of the first four warps full", o.room_o & 0xf == 0),
            ("nothing there", o.head_valid_o == 0),
            ("reset with instructions", !running && o.head_valid_o != 0),
            ("push in reset", !running && push && count == 0),
            ("push into the second place in reset", !running && push && place == 1),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
