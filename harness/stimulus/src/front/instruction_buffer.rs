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
use crate::{Cover, Driver, Knob, Knobs, Unreached};

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

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        let mut all = Unreached::warps(&["push_warp_i"], shape.warps);
        all.extend(Unreached::parity(&["push_warp_i"], shape.ports()));
        all
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut InstructionBufferIn) {
        let warps = self.shape.warps;
        inputs.rst_ni = self.reset.next(rng, knobs.get(3));
        inputs.pop_i = self.twin.head_valid() & rng.mask(warps as u32, knobs.get(POP));
        let paths = self.shape.ports();
        inputs.push_valid_i = 0;
        for p in 0..paths {
            let range = if rng.chance(knobs.get(FEW)) { 4 } else { warps as u64 };
            // Each path has its own warps.
            let warp = p + paths * rng.below(range / paths as u64) as usize;
            inputs.push_warp_i[p] = warp as u8;
            let room = (self.twin.room() | inputs.pop_i) >> warp & 1 == 1;
            inputs.push_valid_i |= u8::from(room && rng.chance(knobs.get(PUSH))) << p;
            inputs.push_pc_i[p] = rng.below(1 << PC_BITS) as u32;
            (inputs.push_op_i[p], inputs.push_ctl_i[p]) = instruction(rng, 100);
            inputs.push_roles_i[p] = roles(inputs.push_op_i[p], inputs.push_ctl_i[p]).0;
        }
        self.twin.clock(inputs, &InstructionBufferOut::zeroed());
    }
}

pub(crate) struct InstructionBufferCover {
    shape: SmShape,
}

/// Of an instruction that arrives: its warp, what that has, whether its head leaves, where it goes.
type Push = (usize, u8, bool, u8);

impl Cover for InstructionBufferCover {
    type In = InstructionBufferIn;
    type Out = InstructionBufferOut;
    type Probe = InstructionBufferProbe;

    fn points(shape: &SmShape) -> Vec<&'static str> {
        let mut points = vec![
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
        ];
        if shape.ports() == 2 {
            points.extend([
                "two instructions arrive",
                "only path 1's arrives",
                "two arrive, one into place 0 and one into place 1",
                "two arrive at full warps whose heads leave",
                "two arrive in reset",
            ]);
        }
        points
    }

    fn new(shape: &SmShape) -> Self {
        Self { shape: *shape }
    }

    fn observe(
        &mut self,
        i: &InstructionBufferIn,
        o: &InstructionBufferOut,
        probe: &InstructionBufferProbe,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let running = i.rst_ni == 1;
        let pushes: Vec<Push> = (0..self.shape.ports())
            .filter(|p| i.push_valid_i >> p & 1 == 1)
            .map(|p| {
                let warp = usize::from(i.push_warp_i[p]);
                let count = probe.count_q[warp];
                (warp, count, i.pop_i >> warp & 1 == 1, (probe.first_q >> warp & 1) as u8 ^ count & 1)
            })
            .collect();
        let any = |holds: &dyn Fn(&Push) -> bool| pushes.iter().any(holds);
        let two = pushes.len() == 2;
        let pops_with = |count: u8| (0..self.shape.warps).any(|w| i.pop_i >> w & 1 == 1 && probe.count_q[w] == count);
        let points = [
            ("first instruction of a warp", running && any(&|push| push.1 == 0)),
            ("second instruction of a warp", running && any(&|push| push.1 == 1 && !push.2)),
            ("into place 0", running && any(&|push| push.3 == 0)),
            ("into place 1", running && any(&|push| push.3 == 1)),
            ("push into a full warp whose head leaves", running && any(&|push| push.1 == 2)),
            ("the only instruction leaves as one arrives", running && any(&|push| push.1 == 1 && push.2)),
            ("one of two leaves", running && pops_with(2)),
            ("the last one leaves", running && pops_with(1)),
            ("two warps pop", running && i.pop_i.count_ones() >= 2),
            ("push of one warp and pop of another", running && any(&|push| !push.2) && i.pop_i != 0),
            ("last warp", running && any(&|push| push.0 == self.shape.warps - 1)),
            ("all of the first four warps full", o.room_o & 0xf == 0),
            ("nothing there", o.head_valid_o == 0),
            ("reset with instructions", !running && o.head_valid_o != 0),
            ("push in reset", !running && any(&|push| push.1 == 0)),
            ("push into the second place in reset", !running && any(&|push| push.3 == 1)),
            ("two instructions arrive", running && two),
            ("only path 1's arrives", running && i.push_valid_i == 2),
            (
                "two arrive, one into place 0 and one into place 1",
                running && two && any(&|push| push.3 == 0) && any(&|push| push.3 == 1),
            ),
            ("two arrive at full warps whose heads leave", running && two && pushes.iter().all(|push| push.1 == 2)),
            ("two arrive in reset", !running && two),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
