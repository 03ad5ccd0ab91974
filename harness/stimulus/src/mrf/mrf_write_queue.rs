//! `mrf_write_queue`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MrfShape, MrfWriteQueue, MrfWriteQueueIn, MrfWriteQueueOut};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, lane_mask};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<MrfWriteQueue, WriteQueueDriver, WriteQueueCover>();

pub(crate) struct WriteQueueDriver {
    shape: MrfShape,
    reset: Reset,
}

knobs! {
    pub(crate) struct WriteQueueKnobs {
        push: "a result is offered" = [100, 500, 950],
        pop: "the head is taken" = [100, 500, 950],
        partial: "its mask leaves lanes out" = [0, 500, 1000],
        reset,
    }
}

impl Driver for WriteQueueDriver {
    type In = MrfWriteQueueIn;
    type Knobs = WriteQueueKnobs;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default() }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &WriteQueueKnobs, inputs: &mut MrfWriteQueueIn) {
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        inputs.push_valid_i = rng.chance(knobs.push).into();
        inputs.pop_i = rng.chance(knobs.pop).into();
        inputs.push_bank_i = rng.below(self.shape.banks as u64) as u8;
        inputs.push_entry_i = rng.below(self.shape.depth as u64) as u16;
        inputs.push_warp_i = rng.below(64) as u8;
        inputs.push_reg_i = rng.below(256) as u8;
        inputs.push_mask_i = lane_mask(rng, knobs.partial);
        if inputs.push_valid_i == 1 {
            rng.fill(&mut inputs.push_data_i.0);
        }
    }
}

pub(crate) struct WriteQueueCover;

#[cover]
impl WriteQueueCover {
    fn new(_: &MrfShape, _: &Config) -> Self {
        Self
    }

    fn observe(&mut self, i: &MrfWriteQueueIn, o: &MrfWriteQueueOut, _: &NoProbe<MrfShape>, points: &mut Points) {
        let (push, full, pop) = (i.push_valid_i == 1, o.head_valid_o == 1, i.pop_i == 1);
        point!("push into empty", push && !full);
        point!("push refused", push && full && !pop);
        point!("push while popped", push && full && pop);
        point!("pop without push", !push && full && pop);
        point!("pop of nothing", !full && pop);
        point!("no lane", full && o.head_mask_o == 0);
        point!("all lanes", full && o.head_mask_o == u32::MAX);
        point!("reset while full", full && i.rst_ni == 0);
    }
}
