//! `steal_return`.

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::steal::{StealReturn, StealReturnIn, StealReturnOut, StealReturnProbe};
use gpurf_lockstep::Rng;

use super::pick;
use crate::driver::{Reset, Twin, ports};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<StealReturn, ReturnDriver, ReturnCover>();

/// Driver of `steal_return`. It keeps which banks have a value; a twin tells when a value finds a bus.
pub(crate) struct ReturnDriver {
    shape: MrfShape,
    reset: Reset,
    twin: Twin<StealReturn>,
    parked: u32,
}

knobs! {
    pub(crate) struct ReturnKnobs {
        head: "a queue has a result" = [100, 500, 950],
        park: "it is parked" = [100, 500, 900],
        fetch: "a value comes back when a bus is free" = [100, 600, 1000],
        force: "a value is forced back" = [0, 300, 1000],
        soon: "it is one that has just been parked" = [0, 500],
        reset,
    }
}

impl Driver for ReturnDriver {
    type In = StealReturnIn;
    type Knobs = ReturnKnobs;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), twin: Twin::new(shape), parked: 0 }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &ReturnKnobs, i: &mut StealReturnIn) {
        let shape = self.shape;
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.head_valid_i = ports(rng, shape.issue_ports, knobs.head);
        i.park_valid_i = i.head_valid_i & ports(rng, shape.issue_ports, knobs.park);
        let mut places = !self.parked & (u32::MAX >> (32 - shape.banks));
        for p in 0..shape.issue_ports {
            i.park_bank_i[p] = rng.below(shape.banks as u64) as u8;
            if i.park_valid_i >> p & 1 == 1 {
                match pick(rng, places) {
                    Some(b) => {
                        i.park_bank_i[p] = b;
                        places &= !(1 << b);
                    }
                    None => i.park_valid_i &= !(1 << p),
                }
            }
        }
        for b in 0..shape.banks {
            (i.parked_bank_i[b], i.parked_entry_i[b]) =
                (rng.below(shape.banks as u64) as u8, rng.below(shape.depth as u64) as u16);
        }
        i.fetch_valid_i = 0;
        i.fetch_bank_i = rng.below(shape.banks as u64) as u8;
        self.twin.late(i);
        let out = &self.twin.out;
        let fresh = out.fresh_o & self.parked;
        let from = if fresh != 0 && rng.chance(knobs.soon) { fresh } else { self.parked };
        let comes = out.bus_free_o == 1 && rng.chance(knobs.fetch) || out.bus_any_o == 1 && rng.chance(knobs.force);
        if let Some(b) = pick(rng, from).filter(|_| comes) {
            (i.fetch_valid_i, i.fetch_bank_i) = (1, b);
        }
        self.twin.late(i);
        self.twin.clock(i);
        self.parked &= !(u32::from(i.fetch_valid_i) << i.fetch_bank_i);
        for p in (0..shape.issue_ports).filter(|p| i.park_valid_i >> p & 1 == 1) {
            self.parked |= 1 << i.park_bank_i[p];
        }
        if i.rst_ni == 0 {
            self.parked = 0;
        }
    }
}

pub(crate) struct ReturnCover {
    shape: MrfShape,
}

#[cover]
impl ReturnCover {
    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(&mut self, i: &StealReturnIn, o: &StealReturnOut, _: &StealReturnProbe, points: &mut Points) {
        let (running, two) = (i.rst_ni == 1, self.shape.issue_ports == 2);
        let all = (1u8 << self.shape.issue_ports) - 1;
        let (fetch, land, full) = (i.fetch_valid_i == 1 && running, o.land_valid_o == 1, i.head_valid_i == all);
        let fresh = o.fresh_o >> i.fetch_bank_i & 1 == 1;
        let met = i.head_valid_i >> o.land_port_o & 1 == 1;
        point!("a value is parked", running && i.park_valid_i != 0);
        point!("a value is fetched, a bus is free", fetch && !full);
        point!("a value is fetched, no queue is empty", fetch && full);
        point!("a value lands", land);
        point!("a landing directly after another one", land && fetch);
        point!("a landing meets the result of its bus", land && met);
        point!("a value is fetched directly after its parking", fetch && fresh);
        point!("a value is fetched later", fetch && !fresh);
        point!("the turn begins anew", fetch && usize::from(i.fetch_bank_i) + 1 == self.shape.banks);
        point!("a value lands in the bank that it comes from", land && o.land_bank_o == o.land_source_o);
        // With one port, a full queue leaves no bus while a value lands.
        point!("no bus at all", o.bus_any_o == 0, given = self.shape.issue_ports == 1);
        point!("no queue is empty, and nothing lands", full && !land);
        point!("reset with a landing", !running && land);
        point!("a fetch in reset", !running && i.fetch_valid_i == 1);
        #[given(self.shape.issue_ports == 2)]
        {
            point!("two values are parked", running && i.park_valid_i == 3);
            point!("a value takes bus 1, as queue 0 is full", fetch && two && i.head_valid_i == 1);
            point!("a value takes bus 0, as queue 1 is full", fetch && two && i.head_valid_i == 2);
            point!("a value takes bus 0, both queues are full", fetch && full && !land);
            point!(
                "a value takes bus 1, both queues are full, and another one lands on bus 0",
                fetch && two && full && land && o.land_port_o == 0
            );
            point!(
                "a value takes bus 0, both queues are full, and another one lands on bus 1",
                fetch && full && land && o.land_port_o == 1
            );
            point!("a landing meets the result of the other bus only", land && two && i.head_valid_i != 0 && !met);
        }
    }
}
