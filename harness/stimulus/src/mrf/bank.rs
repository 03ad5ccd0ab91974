//! `mrf_bank`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MrfBankIn, MrfBankOut, MrfShape};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, lane_mask};
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct BankDriver {
    shape: MrfShape,
    reset: Reset,
}

const READ: usize = 0;
const WRITE: usize = 1;
const PARTIAL: usize = 2;
const NEAR: usize = 3;

impl Driver for BankDriver {
    type In = MrfBankIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "read", doc: "a read", values: &[100, 500, 950] },
        Knob { name: "write", doc: "a write", values: &[100, 500, 950] },
        Knob { name: "partial", doc: "a write leaves lanes out", values: &[0, 300, 900] },
        Knob { name: "near", doc: "the entry is one of the first four", values: &[0, 300, 900] },
        RESET,
    ];

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default() }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut MrfBankIn) {
        let depth = self.shape.depth;
        let range = if rng.chance(knobs.get(NEAR)) { depth.min(4) } else { depth } as u64;
        inputs.rst_ni = self.reset.next(rng, knobs.get(4));
        inputs.write_valid_i = rng.chance(knobs.get(WRITE)).into();
        // A single port serves a read or a write.
        let free = self.shape.dual_port || inputs.write_valid_i == 0;
        inputs.read_valid_i = (free && rng.chance(knobs.get(READ))).into();
        inputs.read_entry_i = rng.below(range) as u16;
        inputs.write_entry_i = rng.below(range) as u16;
        inputs.write_mask_i = lane_mask(rng, knobs.get(PARTIAL));
        if inputs.write_valid_i == 1 {
            rng.fill(&mut inputs.write_data_i.0);
        }
    }
}

pub(crate) struct BankCover {
    dual_port: bool,
    last_write: Option<u16>,
}

impl Cover for BankCover {
    type In = MrfBankIn;
    type Out = MrfBankOut;
    type Probe = NoProbe<MrfShape>;

    fn points(shape: &MrfShape) -> Vec<&'static str> {
        let mut points = vec![
            "read",
            "write",
            "partial write",
            "read after write of the same entry",
            "read under reset",
            "write under reset",
        ];
        if shape.dual_port {
            points.extend(["read and write of one entry", "read and write of two entries"]);
        }
        points
    }

    fn new(shape: &MrfShape) -> Self {
        Self { dual_port: shape.dual_port, last_write: None }
    }

    fn observe(&mut self, i: &MrfBankIn, _: &MrfBankOut, _: &NoProbe<MrfShape>, hit: &mut dyn FnMut(&'static str)) {
        let written = self.last_write.take();
        let (read, write, reset) = (i.read_valid_i == 1, i.write_valid_i == 1, i.rst_ni == 0);
        self.last_write = write.then_some(i.write_entry_i);
        let one = i.read_entry_i == i.write_entry_i;
        let points = [
            ("read", read),
            ("write", write),
            ("partial write", write && i.write_mask_i != u32::MAX),
            ("read after write of the same entry", read && written == Some(i.read_entry_i)),
            ("read under reset", read && reset),
            ("write under reset", write && reset),
            ("read and write of one entry", self.dual_port && read && write && one),
            ("read and write of two entries", self.dual_port && read && write && !one),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
