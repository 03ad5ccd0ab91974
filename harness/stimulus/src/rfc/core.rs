//! What surrounds the register file cache in an SM, as far as it matters to it: warps that have slots and give them up, instructions whose registers are
//! not pending, and their results.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::rfc::{MAX_TAGS, RfcShape};
use gpurf_blocks::shape::MAX_WARPS;
use gpurf_lockstep::Rng;

use crate::driver::{Names, alias, lane_mask};

/// An instruction as the scheduler issues it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    pub(crate) warp: u8,
    pub(crate) slot: u8,
    pub(crate) mask: u32,
    /// Its sources; `NO_REG` where there is none.
    pub(crate) sources: [u8; OPERANDS],
    /// Bit k: last read of source k.
    pub(crate) last: u8,
    pub(crate) dst: u8,
    pub(crate) long: bool,
    pub(crate) bypass: bool,
    pub(crate) past: bool,
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

/// What the cache did in a cycle.
#[derive(Default)]
pub(crate) struct Done {
    /// Instructions taken on each port, with their numbers.
    pub(crate) taken: [Option<(usize, Instruction)>; 2],
    /// Numbers of those that were dispatched.
    pub(crate) dispatched: [Option<usize>; 2],
    /// Results taken on each bus.
    pub(crate) written: [Option<Offer>; 2],
    /// Results that are where they go.
    pub(crate) done: u8,
    /// Slots of which nothing is left.
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
    drop: bool,
    /// Instructions in the operand stage, and results that are waited for.
    resident: usize,
    short: usize,
}

/// Rows of two warps: odd, and so many that every bit of a first row is both 0 and 1, of the warps of each port.
const ROWS: usize = 23;

/// Names of registers.
const REGISTERS: usize = NO_REG as usize;

#[derive(Clone, Copy)]
struct Warp {
    alive: bool,
    slot: Option<usize>,
    pending: [u64; 4],
    long: usize,
    /// Lanes of each register that may be in an LRF, which shared units do not reach; the register that came there last.
    upper: [u32; REGISTERS],
    newest: u8,
}

impl Default for Warp {
    fn default() -> Self {
        Self { alive: false, slot: None, pending: [0; 4], long: 0, upper: [0; REGISTERS], newest: 0 }
    }
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

/// The result in a bus' latch.
#[derive(Clone, Copy)]
struct Latched {
    warp: usize,
    register: u8,
    last: bool,
    long: bool,
}

pub(crate) struct Core {
    shape: RfcShape,
    time: u64,
    warps: Vec<Warp>,
    slots: Vec<Slot>,
    held: [Option<Instruction>; MAX_TAGS],
    pending: Vec<Pending>,
    latch: [Option<Latched>; 2],
    /// The warp that each port looks at first for a free slot.
    turn: [usize; 2],
    /// Buses on which results are offered now: they come in bursts.
    open: [bool; 2],
    /// Registers in use: as many as twice the entries, and some.
    registers: Names,
}

knobs! {
    pub(crate) struct CoreKnobs {
        offer: "an active warp issues" = [200, 600, 1000],
        register: "a source is a register" = [300, 700, 1000],
        equal: "a source is the register of another one" = [0, 300],
        few: "the register is one of the first ones" = [0, 500, 950],
        last: "a source is a last read" = [0, 200, 700],
        long: "an operation has a long latency" = [0, 100, 500],
        bypass: "a result is marked to go around" = [0, 100, 500],
        parts: "a result comes in parts" = [0, 300],
        slow: "a result takes its time" = [0, 300, 900],
        result: "a result is offered" = [100, 600, 1000],
        leave: "a warp gives its slot up" = [0, 5, 40],
        end: "a warp ends" = [0, 1, 15],
        one: "it is the port's first slot that issues" = [0, 500, 900],
        inactive: "lanes are inactive" = [0, 300, 900],
        past: "a result is marked to go past the LRF" = [0, 200, 800],
        sweep: "results go through all registers, so that each needs an entry" = [0, 0, 900],
    }
}

impl Core {
    pub(crate) fn new(shape: &RfcShape) -> Self {
        let mut core = Self {
            shape: *shape,
            time: 0,
            warps: vec![Warp::default(); MAX_WARPS],
            slots: Vec::new(),
            held: [None; MAX_TAGS],
            pending: Vec::new(),
            latch: [None; 2],
            turn: [0; 2],
            open: [true; 2],
            registers: Names::new(2 * shape.entries + 4, REGISTERS as u64),
        };
        core.clear();
        core
    }

    /// First row of a warp.
    pub(crate) fn base(&self, warp: u8) -> u16 {
        (usize::from(warp) * ROWS / 2 % self.shape.mrf.depth) as u16
    }

    /// Reset: all begins anew.
    pub(crate) fn clear(&mut self) {
        let none = Slot { state: State::Free, warp: 0, drop: false, resident: 0, short: 0 };
        self.slots = vec![none; self.shape.active];
        self.warps.fill(Warp::default());
        (self.held, self.latch) = ([None; MAX_TAGS], [None; 2]);
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

    pub(crate) fn drop(&self) -> u64 {
        self.slots_where(|slot| slot.state == State::Flushing && slot.drop)
    }

    pub(crate) fn warp_of(&self, slot: usize) -> u8 {
        self.slots[slot].warp as u8
    }

    /// Begins a cycle: who ends, and who gives its slot up.
    pub(crate) fn begin(&mut self, rng: &mut Rng, knobs: &CoreKnobs) {
        self.time += 1;
        self.registers.renew(rng);
        for open in &mut self.open {
            if rng.chance(60) {
                *open = rng.chance(knobs.result);
            }
        }
        for slot in &mut self.slots {
            if slot.state == State::Free {
                continue;
            }
            let alive = &mut self.warps[slot.warp].alive;
            *alive &= !rng.chance(knobs.end);
            if slot.state == State::Active && (!*alive || rng.chance(knobs.leave)) {
                slot.state = State::Leaving;
            }
        }
    }

    /// The instruction that a port offers.
    pub(crate) fn instruction(&self, rng: &mut Rng, knobs: &CoreKnobs, port: usize) -> Option<Instruction> {
        if !rng.chance(knobs.offer) {
            return None;
        }
        let count = self.shape.ports();
        let active = |s: &usize| s % count == port && self.slots[*s].state == State::Active;
        let active: Vec<usize> = (0..self.shape.active).filter(active).collect();
        let of_all = if rng.chance(knobs.one) { active.len().min(1) } else { active.len() };
        if active.is_empty() {
            return None;
        }
        let slot = active[rng.below(of_all as u64) as usize];
        let warp = &self.warps[self.slots[slot].warp];
        let pending = |r: u8| warp.pending[usize::from(r / 64)] >> (r % 64) & 1 == 1;
        let mut sources = [NO_REG; OPERANDS];
        let mut last = rng.mask(OPERANDS as u32, knobs.last) as u8;
        for k in 0..OPERANDS {
            if rng.chance(knobs.register) {
                let same = k > 0 && rng.chance(knobs.equal);
                sources[k] = if same { sources[rng.below(k as u64) as usize] } else { self.register(rng, knobs) };
            }
            // All slots of a register say the same; of none they say nothing.
            match (0..k).find(|&l| sources[l] == sources[k]) {
                _ if sources[k] == NO_REG => last &= !(1 << k),
                Some(l) => last = last & !(1 << k) | (last >> l & 1) << k,
                None => {}
            }
        }
        let dst = match rng.below(20) {
            0..3 => NO_REG,
            3..5 if self.shape.lrf => warp.newest,
            _ if rng.chance(knobs.sweep) => self.registers.nth(self.time) as u8,
            _ => self.register(rng, knobs),
        };
        if sources.iter().any(|&r| r != NO_REG && pending(r)) || dst != NO_REG && pending(dst) {
            return None;
        }
        let mask = lane_mask(rng, knobs.inactive);
        // What may be in the LRF is for private units only.
        let upper = |r: u8| self.shape.lrf && r != NO_REG && warp.upper[usize::from(r)] & mask != 0;
        let held = sources.into_iter().any(upper);
        let long = !held && dst != NO_REG && rng.chance(knobs.long);
        Some(Instruction {
            warp: self.slots[slot].warp as u8,
            slot: slot as u8,
            mask,
            sources,
            last,
            dst,
            long,
            bypass: dst != NO_REG && rng.chance(knobs.bypass),
            past: rng.chance(knobs.past),
            private: held || !long && rng.chance(700),
        })
    }

    fn register(&self, rng: &mut Rng, knobs: &CoreKnobs) -> u8 {
        let few = rng.chance(knobs.few);
        (if few { self.registers.first(rng, self.shape.entries + 1) } else { self.registers.draw(rng) }) as u8
    }

    /// The result that is offered on a bus.
    pub(crate) fn offer(&self, bus: usize) -> Option<Offer> {
        let result = self.pending.iter().position(|r| r.bus == bus && r.at <= self.time)?;
        let Pending { warp, register, parts, private, .. } = &self.pending[result];
        let offer = Offer { warp: *warp, register: *register, mask: parts[0], private: *private, result };
        self.open[bus].then_some(offer)
    }

    /// The number that a port's instruction gets: the (p+1)-th lowest that is free.
    pub(crate) fn number(&self, port: usize) -> Option<usize> {
        (0..self.shape.tags()).filter(|&n| self.held[n].is_none()).nth(port)
    }

    /// The edge.
    pub(crate) fn end(&mut self, rng: &mut Rng, knobs: &CoreKnobs, done: &Done) {
        self.give_out(rng);
        for (s, slot) in self.slots.iter_mut().enumerate() {
            match slot.state {
                State::Leaving => slot.state = State::Draining,
                State::Draining if slot.resident == 0 && slot.short == 0 => {
                    (slot.state, slot.drop) = (State::Flushing, !self.warps[slot.warp].alive);
                    // What takes long may well come just now.
                    for result in self.pending.iter_mut().filter(|result| usize::from(result.warp) == slot.warp) {
                        result.at = if rng.chance(300) { self.time + rng.below(8) } else { result.at };
                    }
                }
                State::Flushing if done.flushed >> s & 1 == 1 => {
                    slot.state = State::Free;
                    (self.warps[slot.warp].slot, self.warps[slot.warp].upper) = (None, [0; REGISTERS]);
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
        for number in done.dispatched.iter().flatten() {
            self.dispatch(rng, knobs, *number);
        }
        for (number, instruction) in done.taken.iter().flatten() {
            self.take(*number, *instruction);
        }
    }

    /// Free slots are taken by warps of their port that have no long-latency operation under way.
    fn give_out(&mut self, rng: &mut Rng) {
        let (count, warps) = (self.shape.ports(), MAX_WARPS);
        for warp in &mut self.warps {
            // Another block's warp, when nothing of the old one is left.
            warp.alive |= warp.slot.is_none() && warp.long == 0 && rng.chance(100);
        }
        for port in 0..count {
            let free = (0..self.shape.active).find(|&s| s % count == port && self.slots[s].state == State::Free);
            let ready = |w: &usize| {
                let warp = &self.warps[*w];
                w % count == port && warp.alive && warp.slot.is_none() && warp.long == 0
            };
            let warp = (0..warps).map(|n| (self.turn[port] + n) % warps).find(ready);
            if let (Some(s), Some(w)) = (free, warp) {
                self.slots[s] = Slot { state: State::Active, warp: w, drop: false, resident: 0, short: 0 };
                self.warps[w].slot = Some(s);
                // One whose number differs in a bit may be next.
                self.turn[port] = if rng.chance(300) { alias(rng, w as u64, warps as u64) as usize } else { w + 1 };
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

    fn dispatch(&mut self, rng: &mut Rng, knobs: &CoreKnobs, number: usize) {
        let Some(instruction) = self.held[number].take() else { return };
        self.slots[usize::from(instruction.slot)].resident -= 1;
        if instruction.dst == NO_REG {
            return;
        }
        let mut parts = vec![instruction.mask];
        while parts.len() < 4 && rng.chance(knobs.parts) {
            let some = rng.next_u64() as u32;
            let whole = parts.pop().unwrap_or(0);
            parts.extend([whole & some, whole & !some]);
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

    fn take(&mut self, number: usize, instruction: Instruction) {
        self.held[number] = Some(instruction);
        let slot = &mut self.slots[usize::from(instruction.slot)];
        let warp = &mut self.warps[slot.warp];
        slot.resident += 1;
        if instruction.dst != NO_REG {
            warp.pending[usize::from(instruction.dst / 64)] |= 1 << (instruction.dst % 64);
            let upper = &mut warp.upper[usize::from(instruction.dst)];
            *upper &= !instruction.mask;
            if instruction.private && !instruction.past {
                *upper |= instruction.mask;
                warp.newest = instruction.dst;
            }
            *(if instruction.long { &mut warp.long } else { &mut slot.short }) += 1;
        }
    }
}
