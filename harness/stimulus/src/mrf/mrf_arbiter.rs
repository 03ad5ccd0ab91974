//! `mrf_arbiter`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MAX_COLLECTORS, MrfArbiter, MrfArbiterIn, MrfArbiterOut, MrfArbiterProbe, MrfShape};
use gpurf_lockstep::Rng;

use crate::driver::{Names, Reset, ports};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<MrfArbiter, ArbiterDriver, ArbiterCover>();

pub(crate) struct ArbiterDriver {
    shape: MrfShape,
    straps: u8,
    reset: Reset,
    /// Collectors from the oldest to the youngest.
    order: [u8; MAX_COLLECTORS],
    /// Entries: so few that accesses meet at one.
    entries: Names,
}

knobs! {
    pub(crate) struct ArbiterKnobs {
        request: "a slot requests" = [20, 100, 400, 900],
        write: "a write waits" = [50, 500, 950],
        crowd: "a request or write goes to bank 0" = [0, 300, 900],
        hazard: "a write goes to the register of a request" = [0, 100, 500],
        shuffle: "two collectors change places in age" = [100, 900],
        reset,
    }
}

impl Driver for ArbiterDriver {
    type In = MrfArbiterIn;
    type Knobs = ArbiterKnobs;

    fn new(shape: &MrfShape, config: &Config) -> Self {
        Self {
            shape: *shape,
            straps: config.straps(),
            reset: Reset::default(),
            order: std::array::from_fn(|c| c as u8),
            entries: Names::new(8, shape.depth as u64),
        }
    }

    fn unreached(shape: &MrfShape, _: &Config) -> Vec<Unreached> {
        Unreached::age("older_i", shape.collectors).collect()
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &ArbiterKnobs, inputs: &mut MrfArbiterIn) {
        let shape = self.shape;
        let collectors = shape.collectors;
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        inputs.cfg_i = self.straps;
        if rng.chance(knobs.shuffle) {
            self.order.swap(rng.below(collectors as u64) as usize, rng.below(collectors as u64) as usize);
        }
        self.entries.renew(rng);
        let mut older = 0;
        for &collector in &self.order[..collectors] {
            inputs.older_i[usize::from(collector)] = older;
            older |= 1 << collector;
        }
        let bank = |rng: &mut Rng| if rng.chance(knobs.crowd) { 0 } else { rng.below(shape.banks as u64) as u8 };
        inputs.req_valid_i = rng.mask(shape.slots() as u32, knobs.request);
        for slot in 0..shape.slots() {
            inputs.req_bank_i[slot] = bank(rng);
            inputs.req_entry_i[slot] = self.entries.draw(rng) as u16;
        }
        for collector in 0..collectors {
            inputs.req_groups_i[collector] = rng.below(9) as u8;
        }
        inputs.write_valid_i = ports(rng, shape.issue_ports, knobs.write);
        for port in 0..shape.issue_ports {
            inputs.write_bank_i[port] = bank(rng);
            inputs.write_entry_i[port] = self.entries.draw(rng) as u16;
            inputs.write_groups_i[port] = rng.below(9) as u8;
            if rng.chance(knobs.hazard) {
                let slot = rng.below(shape.slots() as u64) as usize;
                (inputs.write_bank_i[port], inputs.write_entry_i[port]) =
                    (inputs.req_bank_i[slot], inputs.req_entry_i[slot]);
            }
        }
    }
}

pub(crate) struct ArbiterCover {
    shape: MrfShape,
}

#[cover]
impl ArbiterCover {
    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(&mut self, i: &MrfArbiterIn, o: &MrfArbiterOut, p: &MrfArbiterProbe, points: &mut Points) {
        let shape = &self.shape;
        let slots = (0..shape.slots()).filter(|s| i.req_valid_i >> s & 1 == 1);
        let writes: Vec<usize> = (0..shape.issue_ports).filter(|w| i.write_valid_i >> w & 1 == 1).collect();
        let at = |slot: usize| (i.req_bank_i[slot], i.req_entry_i[slot]);
        let to = |write: usize| (i.write_bank_i[write], i.write_entry_i[write]);
        let requests: Vec<usize> = slots.collect();
        let held = |write: usize| requests.iter().any(|&s| at(s) == to(write));
        let granted = |slot: usize| o.grant_o >> slot & 1 == 1;
        let waits = |write: usize| !held(write) && o.write_grant_o >> write & 1 == 0;
        // Whether the bank served another slot, of the same collector (`mine`) or of another one, while this slot waited.
        let loses_to = |slot: usize, mine: bool| {
            requests.iter().any(|&s| granted(s) && at(s).0 == at(slot).0 && (s / OPERANDS == slot / OPERANDS) == mine)
        };
        let denied = |mine: bool| requests.iter().any(|&s| !granted(s) && loses_to(s, mine));
        let blocking = |slot: usize| writes.iter().any(|&w| to(w) == at(slot));
        let overtakes = |slot: usize| {
            blocking(slot)
                && granted(slot)
                && requests.iter().any(|&s| s != slot && !blocking(s) && at(s).0 == at(slot).0)
        };
        let both = writes.len() == 2;
        point!("read granted", o.grant_o != 0);
        point!("write granted", o.write_grant_o != 0);
        point!("write held by a read", writes.iter().any(|&w| held(w)));
        point!("blocking read before another", requests.iter().any(|&s| overtakes(s)));
        point!("conflict inside an instruction", denied(true));
        point!("conflict between instructions", denied(false));
        point!("reset with requests", i.rst_ni == 0 && !requests.is_empty());
        point!("read and write in one bank", o.read_valid_o & o.bank_write_valid_o != 0, given = self.shape.dual_port);
        point!(
            "read waits for a write",
            !shape.dual_port && requests.iter().any(|&s| !granted(s) && o.bank_write_valid_o >> at(s).0 & 1 == 1),
            given = !self.shape.dual_port
        );
        point!(
            "write waits for a blocking read",
            !shape.dual_port && writes.iter().any(|&w| waits(w) && o.read_valid_o >> to(w).0 & 1 == 1),
            given = self.shape.issue_ports == 2 && !self.shape.dual_port
        );
        #[given(self.shape.issue_ports == 2)]
        {
            point!("two writes to two banks", o.write_grant_o == 3);
            point!("two writes to one bank", both && to(0).0 == to(1).0 && !held(0) && !held(1));
            point!("second queue's turn", both && to(0).0 == to(1).0 && o.write_grant_o == 2 && p.turn_q == 1);
        }
    }
}
