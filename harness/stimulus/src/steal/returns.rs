//! `steal_return`.

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::steal::{StealReturn, StealReturnIn, StealReturnOut, StealReturnProbe};
use gpurf_lockstep::Rng;

use super::pick;
use crate::driver::{RESET, Reset, Twin, ports};
use crate::{Cover, Driver, Knob, Knobs};

/// Keeps which banks have a value, and a twin, to know when a value finds a bus.
pub(crate) struct ReturnDriver {
    shape: MrfShape,
    reset: Reset,
    twin: Twin<StealReturn>,
    parked: u32,
}

const HEAD: usize = 0;
const PARK: usize = 1;
const FETCH: usize = 2;
const FORCE: usize = 3;
const SOON: usize = 4;

impl Driver for ReturnDriver {
    type In = StealReturnIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "head", doc: "a queue has a result", values: &[100, 500, 950] },
        Knob { name: "park", doc: "it is parked", values: &[100, 500, 900] },
        Knob { name: "fetch", doc: "a value comes back when a bus is free", values: &[100, 600, 1000] },
        Knob { name: "force", doc: "a value is forced back", values: &[0, 300, 1000] },
        Knob { name: "soon", doc: "it is one that has just been parked", values: &[0, 500] },
        RESET,
    ];

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), twin: Twin::new(shape), parked: 0 }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut StealReturnIn) {
        let shape = self.shape;
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.get(5));
        i.head_valid_i = ports(rng, shape.issue_ports, knobs.get(HEAD));
        i.park_valid_i = i.head_valid_i & ports(rng, shape.issue_ports, knobs.get(PARK));
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
        let from = if fresh != 0 && rng.chance(knobs.get(SOON)) { fresh } else { self.parked };
        let comes =
            out.bus_free_o == 1 && rng.chance(knobs.get(FETCH)) || out.bus_any_o == 1 && rng.chance(knobs.get(FORCE));
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

impl Cover for ReturnCover {
    type In = StealReturnIn;
    type Out = StealReturnOut;
    type Probe = StealReturnProbe;

    fn points(shape: &MrfShape) -> Vec<&'static str> {
        let mut points = vec![
            "a value is parked",
            "a value is fetched, a bus is free",
            "a value is fetched, no queue is empty",
            "a value lands",
            "a landing right behind another one",
            "a landing meets the result of its bus",
            "a value is fetched right behind its parking",
            "a value is fetched later",
            "the turn begins anew",
            "a value lands in the bank that it comes from",
            "no bus at all",
            "no queue is empty, and nothing lands",
            "reset with a landing",
            "a fetch in reset",
        ];
        if shape.issue_ports == 2 {
            points.extend([
                "two values are parked",
                "a value takes bus 1, as queue 0 is full",
                "a value takes bus 0, as queue 1 is full",
                "a value takes bus 0, both queues are full",
                "a value takes bus 1, both queues are full, and another one lands on bus 0",
                "a value takes bus 0, both queues are full, and another one lands on bus 1",
                "a landing meets the result of the other bus only",
            ]);
            // With one port a full queue is no bus while something lands.
            points.retain(|&point| point != "no bus at all");
        }
        points
    }

    fn new(shape: &MrfShape) -> Self {
        Self { shape: *shape }
    }

    fn observe(
        &mut self,
        i: &StealReturnIn,
        o: &StealReturnOut,
        _: &StealReturnProbe,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let (running, two) = (i.rst_ni == 1, self.shape.issue_ports == 2);
        let all = (1u8 << self.shape.issue_ports) - 1;
        let (fetch, land, full) = (i.fetch_valid_i == 1 && running, o.land_valid_o == 1, i.head_valid_i == all);
        let fresh = o.fresh_o >> i.fetch_bank_i & 1 == 1;
        let met = i.head_valid_i >> o.land_port_o & 1 == 1;
        let points = [
            ("a value is parked", running && i.park_valid_i != 0),
            ("a value is fetched, a bus is free", fetch && !full),
            ("a value is fetched, no queue is empty", fetch && full),
            ("a value lands", land),
            ("a landing right behind another one", land && fetch),
            ("a landing meets the result of its bus", land && met),
            ("a value is fetched right behind its parking", fetch && fresh),
            ("a value is fetched later", fetch && !fresh),
            ("the turn begins anew", fetch && usize::from(i.fetch_bank_i) + 1 == self.shape.banks),
            ("a value lands in the bank that it comes from", land && o.land_bank_o == o.land_source_o),
            ("no bus at all", o.bus_any_o == 0),
            ("no queue is empty, and nothing lands", full && !land),
            ("reset with a landing", !running && land),
            ("a fetch in reset", !running && i.fetch_valid_i == 1),
            ("two values are parked", running && i.park_valid_i == 3),
            ("a value takes bus 1, as queue 0 is full", fetch && two && i.head_valid_i == 1),
            ("a value takes bus 0, as queue 1 is full", fetch && two && i.head_valid_i == 2),
            ("a value takes bus 0, both queues are full", fetch && full && !land),
            (
                "a value takes bus 1, both queues are full, and another one lands on bus 0",
                fetch && two && full && land && o.land_port_o == 0,
            ),
            (
                "a value takes bus 0, both queues are full, and another one lands on bus 1",
                fetch && full && land && o.land_port_o == 1,
            ),
            ("a landing meets the result of the other bus only", land && two && i.head_valid_i != 0 && !met),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
