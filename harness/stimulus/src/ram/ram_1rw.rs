//! `ram_1rw`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::ram::{Ram1rw, Ram1rwIn, Ram1rwOut};
use gpurf_lockstep::Rng;

use super::{RamKnobs, address, lanes_written};
use crate::driver::lane_mask;
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<Ram1rw, Ram1rwDriver, Ram1rwCover>();

pub(crate) struct Ram1rwDriver(MrfShape);

impl Driver for Ram1rwDriver {
    type In = Ram1rwIn;
    type Knobs = RamKnobs;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self(*shape)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &RamKnobs, inputs: &mut Ram1rwIn) {
        inputs.en_i = rng.chance(knobs.access).into();
        inputs.we_i = rng.chance(knobs.write).into();
        inputs.addr_i = address(rng, knobs, self.0.depth);
        inputs.wmask_i = lane_mask(rng, knobs.partial);
        rng.fill(&mut inputs.wdata_i.0);
    }
}

pub(crate) struct Ram1rwCover {
    last_write: Option<u16>,
}

#[cover]
impl Ram1rwCover {
    const LANES: [&str; 3] = ["all lanes", "some lanes", "no lane"];

    fn new(_: &MrfShape, _: &Config) -> Self {
        Self { last_write: None }
    }

    fn observe(&mut self, inputs: &Ram1rwIn, _: &Ram1rwOut, _: &NoProbe<MrfShape>, points: &mut Points) {
        let written = self.last_write.take();
        match (inputs.en_i, inputs.we_i) {
            (0, 1) => point!("disabled with we_i", true),
            (0, _) => {}
            (_, 0) => {
                point!("read", true);
                point!("read after write of the same word", written == Some(inputs.addr_i));
            }
            _ => {
                self.last_write = Some(inputs.addr_i);
                point!("write {LANES[lanes_written(inputs.wmask_i)]}", true);
            }
        }
    }
}
