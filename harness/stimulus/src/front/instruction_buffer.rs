//! `instruction_buffer`.

use gpurf_blocks::config::Config;
use gpurf_blocks::front::{
    InstructionBuffer, InstructionBufferIn, InstructionBufferOut, InstructionBufferProbe, roles,
};
use gpurf_blocks::instruction::PC_BITS;
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::{Block, Ports};
use gpurf_lockstep::Rng;

use crate::driver::Reset;
use crate::front::instruction;
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry =
    crate::entry::<InstructionBuffer, InstructionBufferDriver, InstructionBufferCover>();

pub(crate) struct InstructionBufferDriver {
    shape: SmShape,
    reset: Reset,
    /// Follows the inputs, to know where there is room and which warps have a head.
    twin: InstructionBuffer,
}

knobs! {
    pub(crate) struct InstructionBufferKnobs {
        push: "an instruction arrives" = [200, 900, 1000],
        pop: "a head leaves" = [10, 50, 300, 900],
        few: "the instruction is of one of the first four warps" = [0, 500, 950],
        reset = [0, 5, 40],
    }
}

impl Driver for InstructionBufferDriver {
    type In = InstructionBufferIn;
    type Knobs = InstructionBufferKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), twin: InstructionBuffer::new(shape) }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        let mut all = Unreached::warps(&["push_warp_i"], shape.warps);
        all.extend(Unreached::parity(&["push_warp_i"], shape.ports()));
        all
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &InstructionBufferKnobs, inputs: &mut InstructionBufferIn) {
        let warps = self.shape.warps;
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        inputs.pop_i = self.twin.head_valid() & rng.mask(warps as u32, knobs.pop);
        let paths = self.shape.ports();
        inputs.push_valid_i = 0;
        for p in 0..paths {
            let range = if rng.chance(knobs.few) { 4 } else { warps as u64 };
            // Each path has its own warps.
            let warp = p + paths * rng.below(range / paths as u64) as usize;
            inputs.push_warp_i[p] = warp as u8;
            let room = (self.twin.room() | inputs.pop_i) >> warp & 1 == 1;
            inputs.push_valid_i |= u8::from(room && rng.chance(knobs.push)) << p;
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

/// An instruction that arrives: its warp, how many instructions that warp has, whether its head leaves, and the place where the instruction goes.
type Push = (usize, u8, bool, u8);

#[cover]
impl InstructionBufferCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(
        &mut self,
        i: &InstructionBufferIn,
        o: &InstructionBufferOut,
        probe: &InstructionBufferProbe,
        points: &mut Points,
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
        point!("first instruction of a warp", running && any(&|push| push.1 == 0));
        point!("second instruction of a warp", running && any(&|push| push.1 == 1 && !push.2));
        point!("into place 0", running && any(&|push| push.3 == 0));
        point!("into place 1", running && any(&|push| push.3 == 1));
        point!("push into a full warp whose head leaves", running && any(&|push| push.1 == 2));
        point!("the only instruction leaves as one arrives", running && any(&|push| push.1 == 1 && push.2));
        point!("one of two leaves", running && pops_with(2));
        point!("the last one leaves", running && pops_with(1));
        point!("two warps pop", running && i.pop_i.count_ones() >= 2);
        point!("push of one warp and pop of another", running && any(&|push| !push.2) && i.pop_i != 0);
        point!("last warp", running && any(&|push| push.0 == self.shape.warps - 1));
        point!("all of the first four warps full", o.room_o & 0xf == 0);
        point!("nothing there", o.head_valid_o == 0);
        point!("reset with instructions", !running && o.head_valid_o != 0);
        point!("push in reset", !running && any(&|push| push.1 == 0));
        point!("push into the second place in reset", !running && any(&|push| push.3 == 1));
        #[given(self.shape.ports() == 2)]
        {
            point!("two instructions arrive", running && two);
            point!("only path 1's arrives", running && i.push_valid_i == 2);
            point!(
                "two arrive, one into place 0 and one into place 1",
                running && two && any(&|push| push.3 == 0) && any(&|push| push.3 == 1)
            );
            point!(
                "two arrive at full warps whose heads leave",
                running && two && pushes.iter().all(|push| push.1 == 2)
            );
            point!("two arrive in reset", !running && two);
        }
    }
}
