//! The RAM cells.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::ram::{Ram1r1wIn, Ram1r1wOut, Ram1rwIn, Ram1rwOut};
use gpurf_lockstep::Rng;

use crate::driver::lane_mask;
use crate::{Cover, Driver, Knob, Knobs};

const ACCESS: usize = 0;
const WRITE: usize = 1;
const PARTIAL: usize = 2;
const NEAR: usize = 3;
const KNOBS: &[Knob] = &[
    Knob { name: "access", doc: "an access", values: &[100, 500, 950, 1000] },
    Knob { name: "write", doc: "it writes", values: &[200, 500, 800] },
    Knob { name: "partial", doc: "a write leaves lanes out", values: &[0, 300, 900] },
    Knob { name: "near", doc: "the word is one of the first four", values: &[0, 300, 900] },
];

fn address(rng: &mut Rng, knobs: &Knobs, depth: usize) -> u16 {
    let range = if rng.chance(knobs.get(NEAR)) { depth.min(4) } else { depth };
    rng.below(range as u64) as u16
}

pub(crate) struct Ram1rwDriver(MrfShape);

impl Driver for Ram1rwDriver {
    type In = Ram1rwIn;
    const KNOBS: &'static [Knob] = KNOBS;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self(*shape)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut Ram1rwIn) {
        inputs.en_i = rng.chance(knobs.get(ACCESS)).into();
        inputs.we_i = rng.chance(knobs.get(WRITE)).into();
        inputs.addr_i = address(rng, knobs, self.0.depth);
        inputs.wmask_i = lane_mask(rng, knobs.get(PARTIAL));
        rng.fill(&mut inputs.wdata_i.0);
    }
}

pub(crate) struct Ram1rwCover {
    last_write: Option<u16>,
}

impl Cover for Ram1rwCover {
    type In = Ram1rwIn;
    type Out = Ram1rwOut;
    type Probe = NoProbe<MrfShape>;

    fn points(_: &MrfShape) -> Vec<&'static str> {
        vec![
            "read",
            "write all lanes",
            "write some lanes",
            "write no lane",
            "read after write of the same word",
            "disabled with we_i",
        ]
    }

    fn new(_: &MrfShape) -> Self {
        Self { last_write: None }
    }

    fn observe(&mut self, inputs: &Ram1rwIn, _: &Ram1rwOut, _: &NoProbe<MrfShape>, hit: &mut dyn FnMut(&'static str)) {
        let written = self.last_write.take();
        match (inputs.en_i, inputs.we_i) {
            (0, 1) => hit("disabled with we_i"),
            (0, _) => {}
            (_, 0) => {
                hit("read");
                if written == Some(inputs.addr_i) {
                    hit("read after write of the same word");
                }
            }
            _ => {
                self.last_write = Some(inputs.addr_i);
                hit(mask_point(inputs.wmask_i));
            }
        }
    }
}

fn mask_point(mask: u32) -> &'static str {
    match mask {
        u32::MAX => "write all lanes",
        0 => "write no lane",
        _ => "write some lanes",
    }
}

pub(crate) struct Ram1r1wDriver(MrfShape);

impl Driver for Ram1r1wDriver {
    type In = Ram1r1wIn;
    const KNOBS: &'static [Knob] = KNOBS;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self(*shape)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut Ram1r1wIn) {
        inputs.re_i = rng.chance(knobs.get(ACCESS)).into();
        inputs.we_i = rng.chance(knobs.get(WRITE)).into();
        inputs.raddr_i = address(rng, knobs, self.0.depth);
        inputs.waddr_i = address(rng, knobs, self.0.depth);
        inputs.wmask_i = lane_mask(rng, knobs.get(PARTIAL));
        rng.fill(&mut inputs.wdata_i.0);
    }
}

pub(crate) struct Ram1r1wCover {
    last_write: Option<u16>,
}

impl Cover for Ram1r1wCover {
    type In = Ram1r1wIn;
    type Out = Ram1r1wOut;
    type Probe = NoProbe<MrfShape>;

    fn points(_: &MrfShape) -> Vec<&'static str> {
        vec![
            "read",
            "write all lanes",
            "write some lanes",
            "write no lane",
            "read after write of the same word",
            "read and write of one word",
            "read and write of two words",
        ]
    }

    fn new(_: &MrfShape) -> Self {
        Self { last_write: None }
    }

    fn observe(
        &mut self,
        inputs: &Ram1r1wIn,
        _: &Ram1r1wOut,
        _: &NoProbe<MrfShape>,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let written = self.last_write.take();
        if inputs.re_i == 1 {
            hit("read");
            if written == Some(inputs.raddr_i) {
                hit("read after write of the same word");
            }
        }
        if inputs.we_i == 1 {
            self.last_write = Some(inputs.waddr_i);
            hit(mask_point(inputs.wmask_i));
            if inputs.re_i == 1 {
                let one = inputs.raddr_i == inputs.waddr_i;
                hit(if one { "read and write of one word" } else { "read and write of two words" });
            }
        }
    }
}
