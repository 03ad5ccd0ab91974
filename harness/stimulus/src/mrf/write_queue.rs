//! `mrf_write_queue`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MrfShape, MrfWriteQueueIn, MrfWriteQueueOut};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, lane_mask};
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct WriteQueueDriver {
    shape: MrfShape,
    reset: Reset,
}

const PUSH: usize = 0;
const POP: usize = 1;
const PARTIAL: usize = 2;

impl Driver for WriteQueueDriver {
    type In = MrfWriteQueueIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "push", doc: "a result is offered", values: &[100, 500, 950] },
        Knob { name: "pop", doc: "the head is taken", values: &[100, 500, 950] },
        Knob { name: "partial", doc: "its mask leaves lanes out", values: &[0, 500, 1000] },
        RESET,
    ];

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default() }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut MrfWriteQueueIn) {
        inputs.rst_ni = self.reset.next(rng, knobs.get(3));
        inputs.push_valid_i = rng.chance(knobs.get(PUSH)).into();
        inputs.pop_i = rng.chance(knobs.get(POP)).into();
        inputs.push_bank_i = rng.below(self.shape.banks as u64) as u8;
        inputs.push_entry_i = rng.below(self.shape.depth as u64) as u16;
        inputs.push_warp_i = rng.below(64) as u8;
        inputs.push_reg_i = rng.below(256) as u8;
        inputs.push_mask_i = lane_mask(rng, knobs.get(PARTIAL));
        if inputs.push_valid_i == 1 {
            rng.fill(&mut inputs.push_data_i.0);
        }
    }
}

pub(crate) struct WriteQueueCover;

impl Cover for WriteQueueCover {
    type In = MrfWriteQueueIn;
    type Out = MrfWriteQueueOut;
    type Probe = NoProbe<MrfShape>;

    fn points(_: &MrfShape) -> Vec<&'static str> {
        vec![
            "push into empty",
            "push refused",
            "push while popped",
            "pop without push",
            "pop of nothing",
            "no lane",
            "all lanes",
            "reset while full",
        ]
    }

    fn new(_: &MrfShape) -> Self {
        Self
    }

    fn observe(
        &mut self,
        i: &MrfWriteQueueIn,
        o: &MrfWriteQueueOut,
        _: &NoProbe<MrfShape>,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let (push, full, pop) = (i.push_valid_i == 1, o.head_valid_o == 1, i.pop_i == 1);
        let points = [
            ("push into empty", push && !full),
            ("push refused", push && full && !pop),
            ("push while popped", push && full && pop),
            ("pop without push", !push && full && pop),
            ("pop of nothing", !full && pop),
            ("no lane", full && o.head_mask_o == 0),
            ("all lanes", full && o.head_mask_o == u32::MAX),
            ("reset while full", full && i.rst_ni == 0),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
