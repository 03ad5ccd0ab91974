//! The RAM cells.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::ram::{Ram1r1wIn, Ram1r1wOut, Ram1rwIn, Ram1rwOut};
use gpurf_lockstep::Rng;

use crate::driver::lane_mask;
use crate::{Driver, Points, cover};

/// Stimulus of its blocks.
pub(crate) const BLOCKS: &[crate::Entry] =
    &[crate::entry::<Ram1rwDriver, Ram1rwCover>("ram_1rw"), crate::entry::<Ram1r1wDriver, Ram1r1wCover>("ram_1r1w")];

knobs! {
    pub(crate) struct RamKnobs {
        access: "an access" = [100, 500, 950, 1000],
        write: "it writes" = [200, 500, 800],
        partial: "a write leaves lanes out" = [0, 300, 900],
        near: "the word is one of the first four" = [0, 300, 900],
    }
}

fn address(rng: &mut Rng, knobs: &RamKnobs, depth: usize) -> u16 {
    let range = if rng.chance(knobs.near) { depth.min(4) } else { depth };
    rng.below(range as u64) as u16
}

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

/// Whether a mask has all lanes, some or none.
fn lanes_written(mask: u32) -> usize {
    match mask {
        u32::MAX => 0,
        0 => 2,
        _ => 1,
    }
}

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
