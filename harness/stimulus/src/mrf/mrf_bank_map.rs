//! `mrf_bank_map`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MrfBankMap, MrfBankMapIn, MrfBankMapOut, MrfShape};
use gpurf_lockstep::Rng;

use crate::unified::register_in;
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<MrfBankMap, BankMapDriver, BankMapCover>();

pub(crate) struct BankMapDriver(MrfShape);

knobs! {
    pub(crate) struct BankMapKnobs {
        edge: "a value at the end of its range" = [0, 200, 600],
    }
}

impl Driver for BankMapDriver {
    type In = MrfBankMapIn;
    type Knobs = BankMapKnobs;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self(*shape)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &BankMapKnobs, inputs: &mut MrfBankMapIn) {
        let mut pick = |range: u64| {
            if rng.chance(knobs.edge) { [0, range - 1][rng.below(2) as usize] } else { rng.below(range) }
        };
        inputs.warp_i = pick(64) as u8;
        inputs.reg_i = pick(256) as u8;
        inputs.base_i = pick(self.0.depth as u64) as u16;
        inputs.reg_i = register_in(&self.0, inputs.base_i, inputs.reg_i);
    }
}

pub(crate) struct BankMapCover(MrfShape);

#[cover]
impl BankMapCover {
    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self(*shape)
    }

    fn observe(&mut self, i: &MrfBankMapIn, o: &MrfBankMapOut, _: &NoProbe<MrfShape>, points: &mut Points) {
        let banks = self.0.banks;
        let row = usize::from(i.base_i) + usize::from(i.reg_i) / banks;
        point!("first bank", o.bank_o == 0);
        point!("last bank", usize::from(o.bank_o) == banks - 1);
        point!("bank wraps", usize::from(i.warp_i) % banks + usize::from(i.reg_i) % banks >= banks);
        // If the number of rows is no power of two, row numbers do not wrap.
        point!("entry wraps", row >= self.0.depth, given = !self.0.unified);
        point!("the last entry", usize::from(o.entry_o) == self.0.depth - 1, given = self.0.unified);
        point!("entry is the base", o.entry_o == i.base_i);
    }
}
