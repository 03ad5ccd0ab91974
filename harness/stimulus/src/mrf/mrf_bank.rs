//! `mrf_bank`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MrfBank, MrfBankIn, MrfBankOut, MrfShape};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, lane_mask};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<MrfBank, BankDriver, BankCover>();

pub(crate) struct BankDriver {
    shape: MrfShape,
    reset: Reset,
}

knobs! {
    pub(crate) struct BankKnobs {
        read: "a read" = [100, 500, 950],
        write: "a write" = [100, 500, 950],
        partial: "a write leaves lanes out" = [0, 300, 900],
        near: "the entry is one of the first four" = [0, 300, 900],
        reset,
    }
}

impl Driver for BankDriver {
    type In = MrfBankIn;
    type Knobs = BankKnobs;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default() }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &BankKnobs, inputs: &mut MrfBankIn) {
        let depth = self.shape.depth;
        let range = if rng.chance(knobs.near) { depth.min(4) } else { depth } as u64;
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        inputs.write_valid_i = rng.chance(knobs.write).into();
        // A single port serves a read or a write.
        let free = self.shape.dual_port || inputs.write_valid_i == 0;
        inputs.read_valid_i = (free && rng.chance(knobs.read)).into();
        inputs.read_entry_i = rng.below(range) as u16;
        inputs.write_entry_i = rng.below(range) as u16;
        inputs.write_mask_i = lane_mask(rng, knobs.partial);
        if inputs.write_valid_i == 1 {
            rng.fill(&mut inputs.write_data_i.0);
        }
    }
}

pub(crate) struct BankCover {
    shape: MrfShape,
    last_write: Option<u16>,
}

#[cover]
impl BankCover {
    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, last_write: None }
    }

    fn observe(&mut self, i: &MrfBankIn, _: &MrfBankOut, _: &NoProbe<MrfShape>, points: &mut Points) {
        let written = self.last_write.take();
        let (read, write, reset) = (i.read_valid_i == 1, i.write_valid_i == 1, i.rst_ni == 0);
        self.last_write = write.then_some(i.write_entry_i);
        let one = i.read_entry_i == i.write_entry_i;
        point!("read", read);
        point!("write", write);
        point!("partial write", write && i.write_mask_i != u32::MAX);
        point!("read after write of the same entry", read && written == Some(i.read_entry_i));
        point!("read under reset", read && reset);
        point!("write under reset", write && reset);
        point!(
            "read and write of one entry",
            self.shape.dual_port && read && write && one,
            given = self.shape.dual_port
        );
        point!(
            "read and write of two entries",
            self.shape.dual_port && read && write && !one,
            given = self.shape.dual_port
        );
    }
}
