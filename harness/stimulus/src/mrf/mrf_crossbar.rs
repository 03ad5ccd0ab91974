//! `mrf_crossbar`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MrfCrossbar, MrfCrossbarIn, MrfCrossbarOut, MrfCrossbarProbe, MrfShape};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, ports};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<MrfCrossbar, CrossbarDriver, CrossbarCover>();

pub(crate) struct CrossbarDriver {
    shape: MrfShape,
    reset: Reset,
    /// Banks whose data slots take in the next cycle: their data have to be valid then.
    promised: u32,
}

knobs! {
    pub(crate) struct CrossbarKnobs {
        fill: "a slot is filled" = [20, 100, 500, 1000],
        stray: "a bank has data that no slot takes" = [0, 200],
        dispatch: "operands are handed on" = [200, 900],
        reset,
    }
}

impl Driver for CrossbarDriver {
    type In = MrfCrossbarIn;
    type Knobs = CrossbarKnobs;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), promised: 0 }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &CrossbarKnobs, inputs: &mut MrfCrossbarIn) {
        let shape = self.shape;
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        inputs.read_data_valid_i = self.promised | rng.mask(shape.banks as u32, knobs.stray) as u32;
        for bank in (0..shape.banks).filter(|b| inputs.read_data_valid_i >> b & 1 == 1) {
            rng.fill(&mut inputs.read_data_i[bank].0);
        }
        inputs.fill_i = rng.mask(shape.slots() as u32, knobs.fill);
        self.promised = 0;
        for slot in 0..shape.slots() {
            inputs.fill_bank_i[slot] = rng.below(shape.banks as u64) as u8;
            if inputs.fill_i >> slot & 1 == 1 && inputs.rst_ni == 1 {
                self.promised |= 1 << inputs.fill_bank_i[slot];
            }
        }
        inputs.dispatch_valid_i = ports(rng, shape.issue_ports, knobs.dispatch);
        for port in 0..shape.issue_ports {
            inputs.dispatch_col_i[port] = rng.below(shape.collectors as u64) as u8;
        }
    }
}

pub(crate) struct CrossbarCover(MrfShape);

#[cover]
impl CrossbarCover {
    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self(*shape)
    }

    fn observe(&mut self, i: &MrfCrossbarIn, _: &MrfCrossbarOut, p: &MrfCrossbarProbe, points: &mut Points) {
        let mut taken = 0u32;
        let mut shared = false;
        for slot in (0..self.0.slots()).filter(|s| p.fill_q >> s & 1 == 1) {
            let bank = 1 << p.fill_bank_q[slot];
            shared |= taken & bank != 0;
            taken |= bank;
        }
        let whole = (0..self.0.collectors).any(|c| p.fill_q >> (OPERANDS * c) & 7 == 7);
        let first = OPERANDS * usize::from(i.dispatch_col_i[0]);
        let both = i.dispatch_valid_i == 3;
        point!("one bank into two slots", shared);
        point!("all slots of a collector", whole);
        point!("handed on while filled", i.dispatch_valid_i & 1 == 1 && p.fill_q >> first & 7 != 0);
        point!("reset while filling", p.fill_q != 0 && i.rst_ni == 0);
        point!("data of a bank that no slot takes", i.read_data_valid_i & !taken != 0);
        point!("two ports hand on", both, given = self.0.issue_ports == 2);
        point!(
            "one collector at both ports",
            both && i.dispatch_col_i[0] == i.dispatch_col_i[1],
            given = self.0.issue_ports == 2
        );
    }
}
