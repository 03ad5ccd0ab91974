//! `mrf_crossbar`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MrfCrossbarIn, MrfCrossbarOut, MrfCrossbarProbe, MrfShape};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, ports};
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct CrossbarDriver {
    shape: MrfShape,
    reset: Reset,
    /// Banks whose data slots take in the coming cycle: these must have some.
    promised: u32,
}

const FILL: usize = 0;
const STRAY: usize = 1;
const DISPATCH: usize = 2;

impl Driver for CrossbarDriver {
    type In = MrfCrossbarIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "fill", doc: "a slot is filled", values: &[20, 100, 500, 1000] },
        Knob { name: "stray", doc: "a bank has data that no slot takes", values: &[0, 200] },
        Knob { name: "dispatch", doc: "operands are handed on", values: &[200, 900] },
        RESET,
    ];

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), promised: 0 }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut MrfCrossbarIn) {
        let shape = self.shape;
        inputs.rst_ni = self.reset.next(rng, knobs.get(3));
        inputs.read_data_valid_i = self.promised | rng.mask(shape.banks as u32, knobs.get(STRAY)) as u32;
        for bank in (0..shape.banks).filter(|b| inputs.read_data_valid_i >> b & 1 == 1) {
            rng.fill(&mut inputs.read_data_i[bank].0);
        }
        inputs.fill_i = rng.mask(shape.slots() as u32, knobs.get(FILL));
        self.promised = 0;
        for slot in 0..shape.slots() {
            inputs.fill_bank_i[slot] = rng.below(shape.banks as u64) as u8;
            if inputs.fill_i >> slot & 1 == 1 && inputs.rst_ni == 1 {
                self.promised |= 1 << inputs.fill_bank_i[slot];
            }
        }
        inputs.dispatch_valid_i = ports(rng, shape.issue_ports, knobs.get(DISPATCH));
        for port in 0..shape.issue_ports {
            inputs.dispatch_col_i[port] = rng.below(shape.collectors as u64) as u8;
        }
    }
}

pub(crate) struct CrossbarCover(MrfShape);

impl Cover for CrossbarCover {
    type In = MrfCrossbarIn;
    type Out = MrfCrossbarOut;
    type Probe = MrfCrossbarProbe;

    fn points(shape: &MrfShape) -> Vec<&'static str> {
        let mut points = vec![
            "one bank into two slots",
            "all slots of a collector",
            "handed on while filled",
            "reset while filling",
            "data of a bank that no slot takes",
        ];
        if shape.issue_ports == 2 {
            points.extend(["two ports hand on", "one collector at both ports"]);
        }
        points
    }

    fn new(shape: &MrfShape) -> Self {
        Self(*shape)
    }

    fn observe(
        &mut self,
        i: &MrfCrossbarIn,
        _: &MrfCrossbarOut,
        p: &MrfCrossbarProbe,
        hit: &mut dyn FnMut(&'static str),
    ) {
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
        let points = [
            ("one bank into two slots", shared),
            ("all slots of a collector", whole),
            ("handed on while filled", i.dispatch_valid_i & 1 == 1 && p.fill_q >> first & 7 != 0),
            ("reset while filling", p.fill_q != 0 && i.rst_ni == 0),
            ("data of a bank that no slot takes", i.read_data_valid_i & !taken != 0),
            ("two ports hand on", both),
            ("one collector at both ports", both && i.dispatch_col_i[0] == i.dispatch_col_i[1]),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
