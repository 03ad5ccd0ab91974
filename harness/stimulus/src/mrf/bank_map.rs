//! `mrf_bank_map`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MrfBankMapIn, MrfBankMapOut, MrfShape};
use gpurf_lockstep::Rng;

use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct BankMapDriver(MrfShape);

const EDGE: usize = 0;

impl Driver for BankMapDriver {
    type In = MrfBankMapIn;
    const KNOBS: &'static [Knob] =
        &[Knob { name: "edge", doc: "a value at the end of its range", values: &[0, 200, 600] }];

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self(*shape)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut MrfBankMapIn) {
        let mut pick = |range: u64| {
            if rng.chance(knobs.get(EDGE)) { [0, range - 1][rng.below(2) as usize] } else { rng.below(range) }
        };
        inputs.warp_i = pick(64) as u8;
        inputs.reg_i = pick(256) as u8;
        inputs.base_i = pick(self.0.depth as u64) as u16;
    }
}

pub(crate) struct BankMapCover(MrfShape);

impl Cover for BankMapCover {
    type In = MrfBankMapIn;
    type Out = MrfBankMapOut;
    type Probe = NoProbe<MrfShape>;

    fn points(_: &MrfShape) -> Vec<&'static str> {
        vec!["first bank", "last bank", "bank wraps", "entry wraps", "entry is the base"]
    }

    fn new(shape: &MrfShape) -> Self {
        Self(*shape)
    }

    fn observe(
        &mut self,
        i: &MrfBankMapIn,
        o: &MrfBankMapOut,
        _: &NoProbe<MrfShape>,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let banks = self.0.banks;
        let row = usize::from(i.base_i) + usize::from(i.reg_i) / banks;
        let points = [
            ("first bank", o.bank_o == 0),
            ("last bank", usize::from(o.bank_o) == banks - 1),
            ("bank wraps", usize::from(i.warp_i) % banks + usize::from(i.reg_i) % banks >= banks),
            ("entry wraps", row >= self.0.depth),
            ("entry is the base", o.entry_o == i.base_i),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
