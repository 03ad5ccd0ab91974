//! `ram_1r1w`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::ram::{Ram1r1w, Ram1r1wIn, Ram1r1wOut};
use gpurf_lockstep::Rng;

use super::{RamKnobs, address, lanes_written};
use crate::driver::lane_mask;
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<Ram1r1w, Ram1r1wDriver, Ram1r1wCover>();

pub(crate) struct Ram1r1wDriver(MrfShape);

impl Driver for Ram1r1wDriver {
    type In = Ram1r1wIn;
    type Knobs = RamKnobs;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self(*shape)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &RamKnobs, inputs: &mut Ram1r1wIn) {
        inputs.re_i = rng.chance(knobs.access).into();
        inputs.we_i = rng.chance(knobs.write).into();
        inputs.raddr_i = address(rng, knobs, self.0.depth);
        inputs.waddr_i = address(rng, knobs, self.0.depth);
        inputs.wmask_i = lane_mask(rng, knobs.partial);
        rng.fill(&mut inputs.wdata_i.0);
    }
}

pub(crate) struct Ram1r1wCover {
    last_write: Option<u16>,
}

#[cover]
impl Ram1r1wCover {
    const LANES: [&str; 3] = ["all lanes", "some lanes", "no lane"];

    fn new(_: &MrfShape, _: &Config) -> Self {
        Self { last_write: None }
    }

    fn observe(&mut self, inputs: &Ram1r1wIn, _: &Ram1r1wOut, _: &NoProbe<MrfShape>, points: &mut Points) {
        let written = self.last_write.take();
        if inputs.re_i == 1 {
            point!("read", true);
            point!("read after write of the same word", written == Some(inputs.raddr_i));
        }
        if inputs.we_i == 1 {
            self.last_write = Some(inputs.waddr_i);
            point!("write {LANES[lanes_written(inputs.wmask_i)]}", true);
            if inputs.re_i == 1 {
                let one = inputs.raddr_i == inputs.waddr_i;
                point!("read and write of one word", one);
                point!("read and write of two words", !one);
            }
        }
    }
}
