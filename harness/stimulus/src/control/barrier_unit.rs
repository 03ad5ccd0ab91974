//! `barrier_unit`.

use gpurf_blocks::config::Config;
use gpurf_blocks::control::{BarrierUnit, BarrierUnitIn, BarrierUnitOut, BarrierUnitProbe};
use gpurf_blocks::instruction::constant as constant_of;
use gpurf_blocks::shape::{BLOCK_SLOTS, SmShape};
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_blocks::{Block, OPERANDS, Ports};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, alias, any_instruction, lane_mask, ports};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<BarrierUnit, BarrierUnitDriver, BarrierUnitCover>();

/// Driver of `barrier_unit`, as the warps: which are alive, in which block, which issue a BAR, and when it arrives.
pub(crate) struct BarrierUnitDriver {
    shape: SmShape,
    reset: Reset,
    /// Follows the inputs, to know which warps wait.
    twin: BarrierUnit,
    out: BarrierUnitOut,
    probe: BarrierUnitProbe,
    alive: u64,
    /// Warps whose BAR had a wrong number of threads: they wait for ever.
    stuck: u64,
    slots: [u8; MAX_WARPS],
}

knobs! {
    pub(crate) struct BarrierUnitKnobs {
        hold: "a warp issues a BAR" = [100, 500, 950],
        arrive: "a BAR arrives" = [200, 900],
        id: "its number is not the usual one of its block" = [0, 100, 500],
        counted: "it says for how many threads it waits" = [0, 300, 1000],
        wrong: "it says so wrongly" = [0, 20, 300],
        end: "a warp ends" = [0, 50, 300],
        start: "a warp begins" = [100, 800],
        stray: "what begins, or issues a BAR, is any warp" = [0, 200, 500],
        reset,
    }
}

/// Lowest bit of the barrier's number in the operation word.
const ID_LOW: u32 = 28;

impl Driver for BarrierUnitDriver {
    type In = BarrierUnitIn;
    type Knobs = BarrierUnitKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self {
            shape: *shape,
            reset: Reset::default(),
            twin: BarrierUnit::new(shape),
            out: BarrierUnitOut::zeroed(),
            probe: BarrierUnitProbe::zeroed(),
            alive: all(shape),
            stuck: 0,
            slots: [0; MAX_WARPS],
        }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        let mut all = Unreached::warps(&["hold_warp_i", "arrive_warp_i", "start_warp_i"], shape.warps);
        if shape.ports() == 1 {
            all.push(Unreached::all("arrive_port_i", "there is one port"));
        }
        all
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &BarrierUnitKnobs, inputs: &mut BarrierUnitIn) {
        self.twin.early(&mut self.out);
        self.twin.probe(inputs, &self.out, &mut self.probe);
        let (held, arrived) = (self.out.held_o, self.probe.arrived_q);
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        if held == 0 && rng.chance(20) {
            self.divide(rng);
        }
        inputs.slot_i = self.slots;
        inputs.alive_i = self.alive;
        let open = self.twin.opening(self.alive, &self.slots);
        self.hold(rng, knobs, held, open, inputs);
        self.arrive(rng, knobs, held & !arrived & !self.stuck, inputs);
        self.start(rng, knobs, open, inputs);

        self.twin.late(inputs, &mut self.out);
        self.twin.clock(inputs, &self.out);
        self.twin.early(&mut self.out);
        if self.out.fault_valid_o == 1 {
            self.stuck |= 1 << self.out.fault_warp_o;
        }
        if inputs.start_valid_i == 1 {
            self.alive |= 1 << inputs.start_warp_i;
            self.stuck &= !(1 << inputs.start_warp_i);
        }
        if inputs.rst_ni == 0 {
            self.stuck = 0;
        }
        // A warp that waits at a barrier does not end.
        if rng.chance(knobs.end) {
            let warp = rng.below(self.shape.warps as u64);
            self.alive &= !(1 << warp) | self.out.held_o & !self.stuck;
        }
    }
}

impl BarrierUnitDriver {
    /// Blocks of one to eight warps, one after another, as the launcher makes them.
    fn divide(&mut self, rng: &mut Rng) {
        let size = 1 + rng.below(8) as usize;
        let first = rng.below(BLOCK_SLOTS as u64) as usize;
        self.slots = std::array::from_fn(|w| ((first + w / size) % BLOCK_SLOTS) as u8);
    }

    fn warp(&self, rng: &mut Rng) -> u8 {
        rng.below(self.shape.warps as u64) as u8
    }

    fn hold(&self, rng: &mut Rng, knobs: &BarrierUnitKnobs, held: u64, open: u64, inputs: &mut BarrierUnitIn) {
        inputs.hold_valid_i = 0;
        let offered = ports(rng, self.shape.ports(), knobs.hold);
        let mut free = self.alive & !held;
        for p in 0..self.shape.ports() {
            let stray = rng.chance(knobs.stray);
            let warp = match stray {
                true if open != 0 => any(rng, open),
                true => any(rng, self.alive),
                false => any(rng, free),
            };
            let Some(warp) = warp.filter(|_| offered >> p & 1 == 1) else { continue };
            free &= !(1 << warp);
            inputs.hold_valid_i |= 1 << p;
            inputs.hold_warp_i[p] = warp;
        }
    }

    fn arrive(&self, rng: &mut Rng, knobs: &BarrierUnitKnobs, coming: u64, inputs: &mut BarrierUnitIn) {
        let port = rng.below(self.shape.ports() as u64) as usize;
        inputs.arrive_port_i = port as u8;
        for p in 0..self.shape.ports() {
            inputs.arrive_warp_i[p] = self.warp(rng);
            inputs.arrive_mask_i[p] = lane_mask(rng, 500).max(1);
            inputs.arrive_instruction_i[p] = any_instruction(rng).into();
        }
        inputs.arrive_src_valid_i = rng.mask(self.shape.mrf.sources() as u32, 500) as u8;
        if rng.chance(100) {
            // The contents of other sources have no meaning.
            let source = rng.below(self.shape.mrf.sources() as u64) as usize;
            rng.fill(&mut inputs.arrive_data_i[source].0);
        }
        inputs.arrive_valid_i = 0;
        let Some(warp) = any(rng, coming).filter(|_| rng.chance(knobs.arrive)) else { return };
        (inputs.arrive_valid_i, inputs.arrive_warp_i[port]) = (1, warp);
        // The usual number of a block is that of its slot: all numbers occur.
        let slot = self.slots[usize::from(warp)];
        let id = if rng.chance(knobs.id) { rng.below(16) } else { slot.into() };
        let threads = if rng.chance(knobs.wrong) {
            [1, 16, 31, 33, 48, 1535, 1537, 1568, 1 << 11, u64::from(u32::MAX), u64::from(u32::MAX - 31)]
                [rng.below(11) as usize]
        } else if rng.chance(knobs.counted) {
            32 * [1 + rng.below(4), 1 + rng.below(4), 1 + rng.below(48), 48][rng.below(4) as usize]
        } else {
            0
        };
        let mut given = inputs.arrive_instruction_i[port].fields();
        given.op = given.op & !(0xf << ID_LOW) | id << ID_LOW;
        let source = OPERANDS * port + 1;
        inputs.arrive_src_valid_i &= !(1 << source);
        let mut roles = given.roles.fields();
        roles.b_constant = 0;
        if rng.chance(500) && (threads != 0 || rng.chance(100)) {
            roles.b_constant = 1;
            given.op = given.op & u64::from(u32::MAX) | threads << u32::BITS;
        } else if threads != 0 || rng.chance(200) {
            inputs.arrive_src_valid_i |= 1 << source;
            self.register(rng, knobs, threads as u32, source, inputs);
        }
        given.roles = roles.into();
        inputs.arrive_instruction_i[port] = given.into();
    }

    /// Source b in a register: the same in all lanes of the mask, unless it is to be wrong.
    fn register(
        &self,
        rng: &mut Rng,
        knobs: &BarrierUnitKnobs,
        threads: u32,
        source: usize,
        inputs: &mut BarrierUnitIn,
    ) {
        let mask = inputs.arrive_mask_i[source / OPERANDS];
        let lanes = &mut inputs.arrive_data_i[source].0;
        for (lane, value) in lanes.iter_mut().enumerate() {
            let counts = mask >> lane & 1 == 1;
            *value = if counts { threads } else { 32 * rng.below(49) as u32 };
        }
        if rng.chance(knobs.wrong) {
            let lane = rng.below(lanes.len() as u64) as usize;
            let bit = alias(rng, threads.into(), 1 << u32::BITS) as u32;
            lanes[lane] = if rng.chance(700) { bit } else { 32 * rng.below(49) as u32 };
        }
    }

    fn start(&self, rng: &mut Rng, knobs: &BarrierUnitKnobs, open: u64, inputs: &mut BarrierUnitIn) {
        let stray = rng.chance(knobs.stray);
        let able = if stray { all(&self.shape) } else { all(&self.shape) & !self.alive | self.stuck };
        let arriving = inputs.arrive_warp_i[usize::from(inputs.arrive_port_i)];
        // Mostly a warp that is subject to another event in the same cycle.
        let warp = match rng.below(5) {
            0..3 if stray && open != 0 => any(rng, open),
            1 if stray => Some(inputs.hold_warp_i[0]),
            2 if stray => Some(arriving),
            _ => any(rng, able),
        };
        let warp = warp.unwrap_or_default();
        inputs.start_valid_i = (able >> warp & 1 == 1 && rng.chance(knobs.start)).into();
        inputs.start_warp_i = warp;
    }
}

/// Every warp.
fn all(shape: &SmShape) -> u64 {
    u64::MAX >> (u64::BITS as usize - shape.warps)
}

/// One of the warps of a set.
fn any(rng: &mut Rng, set: u64) -> Option<u8> {
    let first = rng.below(u64::BITS.into()) as u32;
    (set != 0).then(|| ((set.rotate_right(first).trailing_zeros() + first) % u64::BITS) as u8)
}

pub(crate) struct BarrierUnitCover {
    shape: SmShape,
}

#[cover]
impl BarrierUnitCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(&mut self, i: &BarrierUnitIn, o: &BarrierUnitOut, p: &BarrierUnitProbe, points: &mut Points) {
        self.opening(i, o, p, points);
        self.arrival(i, points);
    }

    fn opening(&self, i: &BarrierUnitIn, o: &BarrierUnitOut, p: &BarrierUnitProbe, points: &mut Points) {
        let warps = self.shape.warps;
        let arrived = p.arrived_q;
        let from_scan = arrived >> p.scan_q << p.scan_q;
        let looked_at = if from_scan != 0 { from_scan } else { arrived }.trailing_zeros() as usize % warps;
        let of = |holds: &dyn Fn(usize) -> bool| (0..warps).filter(|&w| holds(w)).fold(0u64, |set, w| set | 1 << w);
        let block = of(&|w| i.slot_i[w] == i.slot_i[looked_at]);
        let number = of(&|w| arrived >> w & 1 == 1 && p.id_q[w] == p.id_q[looked_at]);
        let here = if arrived == 0 { 0 } else { block & number };
        let count = u32::from(p.count_q[looked_at]);
        let (opens, all) = (o.open_o != 0, count == 0);
        let missing = (i.alive_i & block & !here).count_ones();
        let held = |p: usize| i.hold_valid_i >> p & 1 == 1;
        let start = if i.start_valid_i == 1 { 1u64 << i.start_warp_i } else { 0 };
        let holds = (0..self.shape.ports()).filter(|&p| held(p)).fold(0u64, |set, p| set | 1 << i.hold_warp_i[p]);
        let comes = if i.arrive_valid_i == 1 { 1u64 << i.arrive_warp_i[usize::from(i.arrive_port_i)] } else { 0 };
        point!("a barrier of a whole block opens", opens && all);
        point!("a barrier of some warps opens", opens && !all);
        point!("a barrier opens without a warp that has ended", opens && all && block & !i.alive_i != 0);
        point!("more have come than a barrier waits for", opens && !all && here.count_ones() > count);
        point!("a barrier of one warp opens", opens && count == 1 && here.count_ones() == 1);
        point!("a whole block, but for one warp", here != 0 && all && missing == 1);
        point!("some warps, but for one", here != 0 && !all && here.count_ones() + 1 == count);
        point!("two barriers of one block", arrived != 0 && arrived & block & !number != 0);
        point!("one number in two blocks", arrived != 0 && number & !block != 0);
        point!("the search wraps around", arrived != 0 && from_scan == 0);
        point!("the search rests away from the first warp", arrived == 0 && p.scan_q != 0);
        point!("the last warp is looked at", arrived != 0 && looked_at == warps - 1);
        point!("a warp comes while another's barrier opens", opens && comes != 0);
        point!("hold wins over opening", o.open_o & holds & !start != 0);
        point!("start wins over hold", start & holds != 0);
        point!("start wins over opening", start & o.open_o != 0);
        point!("start wins over arrival", start & comes != 0);
        point!("a warp begins that was held", start & o.held_o != 0);
        point!("reset while warps wait", i.rst_ni == 0 && arrived != 0);
        point!("two warps issue a BAR", i.hold_valid_i == 0b11, given = self.shape.ports() == 2);
        point!(
            "a BAR of port 1 arrives",
            i.arrive_valid_i == 1 && i.arrive_port_i == 1,
            given = self.shape.ports() == 2
        );
    }

    fn arrival(&self, i: &BarrierUnitIn, points: &mut Points) {
        let port = usize::from(i.arrive_port_i);
        let instruction = &i.arrive_instruction_i[port];
        let (comes, mask) = (i.arrive_valid_i == 1, i.arrive_mask_i[port]);
        let source = OPERANDS * port + 1;
        let register = comes && i.arrive_src_valid_i >> source & 1 == 1;
        let constant = comes && !register && instruction.roles().b_constant() == 1;
        let lanes = &i.arrive_data_i[source].0;
        let first = lanes[mask.trailing_zeros() as usize % lanes.len()];
        let other = |counts: u32| (0..lanes.len()).any(|l| mask >> l & 1 == counts && lanes[l] != first);
        let threads = if register { first } else { constant_of(instruction.op()) };
        let given = register || constant;
        point!("the number of threads is a constant", constant);
        point!("the number of threads is in a register", register);
        point!("there is no number of threads", comes && !given);
        point!("lanes that do not count hold something else", register && other(0) && !other(1));
        point!("fault: lanes differ", register && other(1) && threads % 32 == 0 && threads <= 1536);
        point!("fault: no multiple of 32", given && threads % 32 != 0 && threads <= 1536);
        point!("fault: too many", given && threads % 32 == 0 && threads > 1536);
        point!("the most threads there can be", given && threads == 1536);
    }
}
