//! What surrounds the register hierarchy in an SM, as far as it matters to it: warps that have slots and give them up, instructions that the compiler might
//! have written and whose registers and places do not wait, and their results.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::hierarchy::{HierarchyEntriesProbe, HierarchyShape, MAX_ORF_ENTRIES, PLACES};
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::mrf::MAX_COLLECTORS;
use gpurf_blocks::shape::MAX_WARPS;
use gpurf_lockstep::Rng;

use super::{UPPER, element, is_there, number, one_of, place_of, places};
use crate::driver::{Names, alias, lane_mask};

/// An instruction as the scheduler issues it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    pub(crate) warp: u8,
    pub(crate) slot: u8,
    pub(crate) mask: u32,
    /// Its sources; `NO_REG` where there is none.
    pub(crate) sources: [u8; OPERANDS],
    pub(crate) levels: [u8; OPERANDS],
    pub(crate) dst: u8,
    pub(crate) dst_level: u8,
    pub(crate) long: bool,
    pub(crate) private: bool,
}

/// A result that is offered on a bus.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    pub(crate) warp: u8,
    pub(crate) register: u8,
    pub(crate) mask: u32,
    pub(crate) private: bool,
    /// Which of those under way.
    result: usize,
}

/// What the hierarchy did in a cycle.
#[derive(Default)]
pub(crate) struct Done {
    /// Instructions taken on each port, with their tags.
    pub(crate) taken: [Option<(usize, Instruction)>; 2],
    /// Tags of those that were dispatched.
    pub(crate) dispatched: [Option<usize>; 2],
    /// Results taken on each bus.
    pub(crate) written: [Option<Offer>; 2],
    /// Results that are where they go.
    pub(crate) done: u8,
    /// Slots to which nothing is under way.
    pub(crate) flushed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    Active,
    /// It gives its slot up at this edge.
    Leaving,
    Draining,
    Flushing,
}

#[derive(Clone, Copy)]
struct Slot {
    state: State,
    warp: usize,
    /// Instructions in the operand stage, and results that are waited for.
    resident: usize,
    short: usize,
}

#[derive(Clone, Copy, Default)]
struct Warp {
    slot: Option<usize>,
    pending: [u64; 4],
    long: usize,
}

/// A result under way: it comes in parts.
struct Pending {
    warp: u8,
    register: u8,
    parts: Vec<u32>,
    bus: usize,
    at: u64,
    long: bool,
    private: bool,
}

/// The result behind a bus.
#[derive(Clone, Copy)]
struct Latched {
    warp: usize,
    register: u8,
    last: bool,
    long: bool,
}

pub(crate) struct Core {
    shape: HierarchyShape,
    time: u64,
    warps: Vec<Warp>,
    slots: Vec<Slot>,
    held: [Option<Instruction>; MAX_COLLECTORS],
    pending: Vec<Pending>,
    latch: [Option<Latched>; 2],
    /// The warp that each port looks at first for a free slot.
    turn: [usize; 2],
    /// Buses on which results are offered now: they come in bursts.
    open: [bool; 2],
    registers: Names,
}

/// Rows of two warps: odd, and so many that every bit of a first row is both 0 and 1, of the warps of each port.
const ROWS: usize = 23;
/// Registers in use, and the first ones of them.
const REGISTERS: usize = 16;
const FIRST: usize = 5;

knobs! {
    pub(crate) struct CoreKnobs {
        offer: "an active warp issues" = [200, 600, 1000],
        register: "a source is a register" = [300, 700, 1000],
        above: "it is read from a place that has its lanes" = [300, 700, 950],
        copy: "one that is read from the MRF is copied" = [0, 300, 900],
        few: "places and registers are the first ones" = [0, 500, 950],
        upper: "a result goes to a place" = [300, 700, 1000],
        bank: "to a bank of the LRF, if to a place" = [0, 300, 800],
        both: "and to the MRF" = [100, 600],
        absent: "a level names a place that is not there" = [0, 100, 400],
        long: "an operation has a long latency" = [0, 50, 300],
        shared: "an operation is for a unit that is shared" = [100, 500],
        parts: "a result comes in parts" = [0, 300],
        slow: "a result takes its time" = [0, 300, 900],
        result: "a result is offered" = [100, 600, 1000],
        leave: "a warp gives its slot up" = [0, 5, 40],
        one: "it is the port's first slot that issues" = [0, 500, 900],
        inactive: "lanes are inactive" = [0, 300, 900],
    }
}

impl Core {
    pub(crate) fn new(shape: &HierarchyShape) -> Self {
        let mut core = Self {
            shape: *shape,
            time: 0,
            warps: vec![Warp::default(); MAX_WARPS],
            slots: Vec::new(),
            held: [None; MAX_COLLECTORS],
            pending: Vec::new(),
            latch: [None; 2],
            turn: [0; 2],
            open: [true; 2],
            registers: Names::new(REGISTERS, NO_REG.into()),
        };
        core.clear();
        core
    }

    /// First row of a warp.
    pub(crate) fn base(&self, warp: u8) -> u16 {
        (usize::from(warp) * ROWS / 2 % self.shape.mrf.depth) as u16
    }

    /// Reset.
    pub(crate) fn clear(&mut self) {
        let none = Slot { state: State::Free, warp: 0, resident: 0, short: 0 };
        self.slots = vec![none; self.shape.active];
        self.warps.fill(Warp::default());
        (self.held, self.latch) = ([None; MAX_COLLECTORS], [None; 2]);
        self.pending.clear();
    }

    fn slots_where(&self, holds: impl Fn(&Slot) -> bool) -> u64 {
        self.slots.iter().enumerate().fold(0, |set, (s, slot)| set | u64::from(holds(slot)) << s)
    }

    pub(crate) fn valid(&self) -> u64 {
        self.slots_where(|slot| slot.state != State::Free)
    }

    pub(crate) fn flush(&self) -> u64 {
        self.slots_where(|slot| slot.state == State::Flushing)
    }

    pub(crate) fn warp_of(&self, slot: usize) -> u8 {
        self.slots[slot].warp as u8
    }

    /// Begins a cycle: who gives its slot up.
    pub(crate) fn begin(&mut self, rng: &mut Rng, knobs: &CoreKnobs) {
        self.time += 1;
        self.registers.renew(rng);
        for open in &mut self.open {
            if rng.chance(60) {
                *open = rng.chance(knobs.result);
            }
        }
        for slot in &mut self.slots {
            if slot.state == State::Active && rng.chance(knobs.leave) {
                slot.state = State::Leaving;
            }
        }
    }

    /// A slot of the port whose warp may issue.
    pub(crate) fn slot(&self, rng: &mut Rng, knobs: &CoreKnobs, port: usize) -> Option<usize> {
        let count = self.shape.ports();
        let active = |s: &usize| s % count == port && self.slots[*s].state == State::Active;
        let active: Vec<usize> = (0..self.shape.active).filter(active).collect();
        let some = if rng.chance(knobs.one) { active.len().min(1) } else { active.len() };
        one_of(rng, &active[..some])
    }

    /// The instruction that the warp of a slot would issue, if nothing that it uses is under way.
    pub(crate) fn instruction(
        &self,
        rng: &mut Rng,
        knobs: &CoreKnobs,
        s: usize,
        entries: &HierarchyEntriesProbe,
    ) -> Option<Instruction> {
        if !rng.chance(knobs.offer) {
            return None;
        }
        let warp = &self.warps[self.slots[s].warp];
        let pending = |r: u8| r != NO_REG && warp.pending[usize::from(r / 64)] >> (r % 64) & 1 == 1;
        let lanes = |place: usize| entries.valid_q[element(&self.shape, s, place)];
        let waits = |level: u8| {
            place_of(&self.shape, level).is_some_and(|place| entries.wait_q[element(&self.shape, s, place)] != 0)
        };
        let long = rng.chance(knobs.long);
        let private = !long && !rng.chance(knobs.shared);
        let mut mask = lane_mask(rng, knobs.inactive);
        let some: Vec<usize> = places(&self.shape).filter(|&place| lanes(place) != 0).collect();
        if let Some(place) = one_of(rng, &some).filter(|_| rng.chance(knobs.above)) {
            mask = lanes(place) & if rng.chance(800) { u32::MAX } else { rng.next_u64() as u32 };
        }
        if mask == 0 {
            // It would go on as a no-operation.
            return None;
        }
        let split = self.shape.lrf_banks > 1;
        let may_read =
            |k: usize, place: usize| place < MAX_ORF_ENTRIES || private && (!split || place == MAX_ORF_ENTRIES + k);
        let (mut sources, mut levels) = ([NO_REG; OPERANDS], [0u8; OPERANDS]);
        for k in 0..OPERANDS {
            if !rng.chance(knobs.register) {
                continue;
            }
            sources[k] = self.register(rng, knobs);
            let readable: Vec<usize> =
                places(&self.shape).filter(|&place| may_read(k, place) && mask & !lanes(place) == 0).collect();
            let above = one_of(rng, &readable).filter(|_| rng.chance(knobs.above));
            levels[k] = match above {
                Some(place) => 1 + place as u8,
                None if rng.chance(knobs.copy) => UPPER + 1 + self.entry(rng, knobs),
                None if rng.chance(knobs.absent) => self.absent(rng),
                None => 0,
            };
            // Two copies to one entry are of one register.
            if let Some(j) = (0..k).find(|&j| levels[k] >= UPPER && levels[j] == levels[k]) {
                sources[k] = sources[j];
            }
        }
        let dst = if rng.chance(150) { NO_REG } else { self.register(rng, knobs) };
        let mut dst_level = self.result_level(rng, knobs, private);
        let copied = |level: &u8| *level >= UPPER && number(*level) == number(dst_level);
        if long || levels.iter().any(copied) {
            dst_level = 0;
        }
        let clear = !sources.iter().any(|&r| pending(r))
            && !pending(dst)
            && !levels.iter().any(|&level| waits(level))
            && !waits(dst_level);
        let (warp, slot) = (self.slots[s].warp as u8, s as u8);
        clear.then_some(Instruction { warp, slot, mask, sources, levels, dst, dst_level, long, private })
    }

    fn result_level(&self, rng: &mut Rng, knobs: &CoreKnobs, private: bool) -> u8 {
        if !rng.chance(knobs.upper) {
            return 0;
        }
        let level = if rng.chance(knobs.absent) {
            self.absent(rng)
        } else if private && self.shape.lrf_banks > 0 && rng.chance(knobs.bank) {
            (MAX_ORF_ENTRIES + 1) as u8 + rng.below(self.shape.lrf_banks as u64) as u8
        } else {
            1 + self.entry(rng, knobs)
        };
        level | if rng.chance(knobs.both) { UPPER } else { 0 }
    }

    fn entry(&self, rng: &mut Rng, knobs: &CoreKnobs) -> u8 {
        let entries = self.shape.entries as u64;
        let few = rng.chance(knobs.few);
        rng.below(if few { entries.min(2) } else { entries }) as u8
    }

    /// A level without a top bit that names a place which is not there, or nothing.
    fn absent(&self, rng: &mut Rng) -> u8 {
        let absent: Vec<u8> =
            (0..15).filter(|&p| p >= PLACES || !is_there(&self.shape, p)).map(|p| p as u8 + 1).collect();
        one_of(rng, &absent).unwrap_or(0)
    }

    fn register(&self, rng: &mut Rng, knobs: &CoreKnobs) -> u8 {
        let few = rng.chance(knobs.few);
        (if few { self.registers.first(rng, FIRST) } else { self.registers.draw(rng) }) as u8
    }

    /// The result that is offered on a bus.
    pub(crate) fn offer(&self, bus: usize) -> Option<Offer> {
        let result = self.pending.iter().position(|r| r.bus == bus && r.at <= self.time)?;
        let Pending { warp, register, parts, private, .. } = &self.pending[result];
        let offer = Offer { warp: *warp, register: *register, mask: parts[0], private: *private, result };
        self.open[bus].then_some(offer)
    }

    /// The tag that a port's instruction gets: the (p+1)-th lowest that is free.
    pub(crate) fn tag(&self, port: usize) -> Option<usize> {
        (0..self.shape.tags()).filter(|&n| self.held[n].is_none()).nth(port)
    }

    /// The edge.
    pub(crate) fn end(&mut self, rng: &mut Rng, knobs: &CoreKnobs, done: &Done) {
        self.give_out(rng);
        for (s, slot) in self.slots.iter_mut().enumerate() {
            match slot.state {
                State::Leaving => slot.state = State::Draining,
                State::Draining if slot.resident == 0 && slot.short == 0 => slot.state = State::Flushing,
                State::Flushing if done.flushed >> s & 1 == 1 => {
                    slot.state = State::Free;
                    self.warps[slot.warp].slot = None;
                }
                _ => {}
            }
        }
        for bus in (0..2).filter(|bus| done.done >> bus & 1 == 1) {
            let Some(latched) = self.latch[bus].take() else { continue };
            if latched.last {
                self.complete(latched);
            }
        }
        let mut spent = Vec::new();
        for (bus, offer) in done.written.iter().enumerate().filter_map(|(bus, offer)| Some((bus, (*offer)?))) {
            let result = &mut self.pending[offer.result];
            result.parts.remove(0);
            result.at = self.time + 1 + if rng.chance(knobs.slow) { rng.below(20) } else { 0 };
            let last = result.parts.is_empty();
            self.latch[bus] =
                Some(Latched { warp: offer.warp.into(), register: offer.register, last, long: result.long });
            spent.extend(last.then_some(offer.result));
        }
        spent.sort_unstable();
        spent.into_iter().rev().for_each(|result| drop(self.pending.remove(result)));
        for tag in done.dispatched.iter().flatten() {
            self.dispatch(rng, knobs, *tag);
        }
        for (tag, instruction) in done.taken.iter().flatten() {
            self.take(*tag, *instruction);
        }
    }

    /// Free slots are taken by warps of their port that have no long-latency operation under way.
    fn give_out(&mut self, rng: &mut Rng) {
        let (count, warps) = (self.shape.ports(), MAX_WARPS);
        for port in 0..count {
            let free = (0..self.shape.active).find(|&s| s % count == port && self.slots[s].state == State::Free);
            let ready = |w: &usize| w % count == port && self.warps[*w].slot.is_none() && self.warps[*w].long == 0;
            let warp = (0..warps).map(|n| (self.turn[port] + n) % warps).find(ready);
            if let (Some(s), Some(w)) = (free, warp) {
                self.slots[s] = Slot { state: State::Active, warp: w, resident: 0, short: 0 };
                self.warps[w].slot = Some(s);
                // The same warp may come back at once; or one whose number differs in a bit may be next.
                self.turn[port] = match rng.below(10) {
                    0..3 => w,
                    3..6 => alias(rng, w as u64, warps as u64) as usize,
                    _ => w + 1,
                };
            }
        }
    }

    fn complete(&mut self, latched: Latched) {
        let warp = &mut self.warps[latched.warp];
        warp.pending[usize::from(latched.register / 64)] &= !(1 << (latched.register % 64));
        match warp.slot {
            Some(slot) if !latched.long => self.slots[slot].short -= 1,
            _ => warp.long -= 1,
        }
    }

    fn dispatch(&mut self, rng: &mut Rng, knobs: &CoreKnobs, tag: usize) {
        let Some(instruction) = self.held[tag].take() else { return };
        self.slots[usize::from(instruction.slot)].resident -= 1;
        if instruction.dst == NO_REG {
            return;
        }
        let mut parts = vec![instruction.mask];
        while parts.len() < 4 && !instruction.private && rng.chance(knobs.parts) {
            let some = rng.next_u64() as u32;
            let whole = parts.pop().unwrap_or(0);
            // Each part has a lane.
            parts.extend([whole & some, whole & !some].into_iter().filter(|&part| part != 0));
        }
        let slow = rng.chance(knobs.slow);
        let latency = match (instruction.long, slow) {
            (true, true) => 40 + rng.below(200),
            (true, false) => 1 + rng.below(24),
            (false, true) => 4 + rng.below(20),
            (false, false) => 1,
        };
        self.pending.push(Pending {
            warp: instruction.warp,
            register: instruction.dst,
            parts,
            bus: rng.below(self.shape.ports() as u64) as usize,
            at: self.time + latency,
            long: instruction.long,
            private: instruction.private,
        });
    }

    fn take(&mut self, tag: usize, instruction: Instruction) {
        self.held[tag] = Some(instruction);
        let slot = &mut self.slots[usize::from(instruction.slot)];
        let warp = &mut self.warps[slot.warp];
        slot.resident += 1;
        if instruction.dst != NO_REG {
            warp.pending[usize::from(instruction.dst / 64)] |= 1 << (instruction.dst % 64);
            *(if instruction.long { &mut warp.long } else { &mut slot.short }) += 1;
        }
    }
}
