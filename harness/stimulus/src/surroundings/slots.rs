//! Warps that have slots and give them up, instructions whose registers are not pending, and their results.

use std::fmt::Debug;

use gpurf_blocks::OPERANDS;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_lockstep::Rng;

use super::{Offer, Pending, Registers, Results, latency, numbered};
use crate::unified::register_in;

/// The parts of the surroundings that a design defines.
pub(crate) trait Design: Sized {
    /// The knobs of the design.
    type Knobs;
    /// Additional marks of its instructions.
    type Marks: Copy + Debug;
    /// Whether warps end, and others begin in their place.
    const ENDS: bool;
    /// Whether a register is complete when its result is taken, and not only when the result has reached its destination.
    const TAKEN: bool = false;

    /// Chances of the events that all designs have.
    fn chances(knobs: &Self::Knobs) -> Chances;

    /// The parts in which a result comes.
    fn parts(rng: &mut Rng, knobs: &Self::Knobs, instruction: &Instruction<Self::Marks>) -> Vec<u32>;

    /// The warp from which a port begins its search when this warp has taken a slot.
    fn after(rng: &mut Rng, warp: usize) -> usize;

    /// Begins a cycle.
    fn begin(&mut self, rng: &mut Rng);

    /// An instruction with a result was taken.
    fn taken(&mut self, _instruction: &Instruction<Self::Marks>) {}

    /// A warp has no slot any more.
    fn freed(&mut self, _warp: usize) {}

    /// Reset.
    fn clear(&mut self) {}
}

/// Chances of the events that all designs have.
pub(crate) struct Chances {
    /// A result is offered; it takes its time.
    pub(crate) result: u32,
    pub(crate) slow: u32,
    /// A warp gives up its slot; a warp ends.
    pub(crate) leave: u32,
    pub(crate) end: u32,
    /// Only the port's first active slot issues.
    pub(crate) one: u32,
}

/// An instruction as the scheduler issues it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction<M> {
    pub(crate) warp: u8,
    pub(crate) slot: u8,
    pub(crate) mask: u32,
    /// Its sources; `NO_REG` where there is none.
    pub(crate) sources: [u8; OPERANDS],
    pub(crate) dst: u8,
    pub(crate) long: bool,
    pub(crate) private: bool,
    pub(crate) marks: M,
}

/// What the file did in a cycle.
pub(crate) struct Done<M> {
    /// Instructions taken on each port, with their tags.
    pub(crate) taken: [Option<(usize, Instruction<M>)>; 2],
    /// Tags of those that were dispatched.
    pub(crate) dispatched: [Option<usize>; 2],
    /// Results taken on each bus.
    pub(crate) written: [Option<Offer>; 2],
    /// Buses whose result has reached its destination.
    pub(crate) done: u8,
    /// Slots that have been flushed.
    pub(crate) flushed: u64,
}

impl<M: Copy> Default for Done<M> {
    fn default() -> Self {
        Self { taken: [None; 2], dispatched: [None; 2], written: [None; 2], done: 0, flushed: 0 }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    Active,
    /// The warp gives up its slot at this clock edge.
    Leaving,
    Draining,
    Flushing,
}

#[derive(Clone, Copy)]
struct Slot {
    state: State,
    warp: usize,
    drop: bool,
    /// Number of instructions in the operand stage, and of pending results of short operations.
    resident: usize,
    short: usize,
}

#[derive(Clone, Copy, Default)]
struct Warp {
    /// Whether the warp runs, in designs in which warps end.
    alive: bool,
    slot: Option<usize>,
    pending: Registers,
    long: usize,
}

/// Rows of two warps together. The number is odd, and so large that every bit of a first row is 0 for some and 1 for other warps of each port.
const ROWS: usize = 23;

/// First row of a warp in a file with `depth` rows.
pub(crate) fn base_among(warp: usize, depth: usize) -> usize {
    warp * ROWS / 2 % depth
}

/// The surroundings of a design with slots.
pub(crate) struct Slots<D: Design> {
    pub(crate) design: D,
    ports: usize,
    /// The register file.
    file: MrfShape,
    /// Rows of a warp, if the file's number of rows is no power of two and row numbers do not wrap.
    rows: Option<usize>,
    warps: Vec<Warp>,
    slots: Vec<Slot>,
    /// The instruction of each tag.
    held: Vec<Option<Instruction<D::Marks>>>,
    pub(crate) results: Results,
    /// The warp from which each port begins its search for one that takes a free slot.
    turn: [usize; 2],
}

impl<D: Design> Slots<D> {
    pub(crate) fn around(design: D, ports: usize, slots: usize, tags: usize, file: &MrfShape) -> Self {
        let free = Slot { state: State::Free, warp: 0, drop: false, resident: 0, short: 0 };
        Self {
            design,
            ports,
            file: *file,
            rows: None,
            warps: vec![Warp::default(); MAX_WARPS],
            slots: vec![free; slots],
            held: vec![None; tags],
            results: Results::new(2),
            turn: [0; 2],
        }
    }

    /// First row of a warp.
    pub(crate) fn base(&self, warp: u8) -> u16 {
        let base = match self.rows {
            Some(rows) => usize::from(warp) * rows,
            None => base_among(warp.into(), self.file.depth),
        };
        base as u16
    }

    /// A register that the warp has, in place of this one.
    pub(crate) fn register_of(&self, warp: u8, register: u8) -> u8 {
        register_in(&self.file, self.base(warp), register)
    }

    /// Gives each warp this many rows; only warps whose rows exist get slots. Only in reset.
    pub(crate) fn divide(&mut self, rows: usize) {
        self.rows = Some(rows);
    }

    /// Reset.
    pub(crate) fn clear(&mut self) {
        self.design.clear();
        self.slots.fill(Slot { state: State::Free, warp: 0, drop: false, resident: 0, short: 0 });
        self.warps.fill(Warp::default());
        self.held.fill(None);
        self.results.clear();
    }

    fn slots_where(&self, holds: impl Fn(&Slot) -> bool) -> u64 {
        self.slots.iter().enumerate().fold(0, |set, (s, slot)| set | u64::from(holds(slot)) << s)
    }

    /// Slots that have a warp.
    pub(crate) fn valid(&self) -> u64 {
        self.slots_where(|slot| slot.state != State::Free)
    }

    /// Slots that have to be flushed.
    pub(crate) fn flush(&self) -> u64 {
        self.slots_where(|slot| slot.state == State::Flushing)
    }

    /// Slots that have to be flushed without writing anything.
    pub(crate) fn drop(&self) -> u64 {
        self.slots_where(|slot| slot.state == State::Flushing && slot.drop)
    }

    /// The warp of a slot.
    pub(crate) fn warp_of(&self, slot: usize) -> u8 {
        self.slots[slot].warp as u8
    }

    /// Whether a result to this register is pending, for the warp of a slot.
    pub(crate) fn is_pending(&self, slot: usize, register: u8) -> bool {
        self.warps[self.slots[slot].warp].pending.has(register)
    }

    /// Begins a cycle: chooses the warps that end, and those that give up their slots.
    pub(crate) fn begin(&mut self, rng: &mut Rng, knobs: &D::Knobs) {
        self.design.begin(rng);
        let Chances { result, leave, end, .. } = D::chances(knobs);
        self.results.begin(rng, result);
        for slot in self.slots.iter_mut().filter(|slot| slot.state != State::Free) {
            let alive = &mut self.warps[slot.warp].alive;
            *alive &= !(D::ENDS && rng.chance(end));
            if slot.state == State::Active && (!*alive || rng.chance(leave)) {
                slot.state = State::Leaving;
            }
        }
    }

    /// Slots of a port of which one may issue.
    pub(crate) fn may_issue(&self, rng: &mut Rng, knobs: &D::Knobs, port: usize) -> Vec<usize> {
        let active = |s: &usize| s % self.ports == port && self.slots[*s].state == State::Active;
        let mut active: Vec<usize> = (0..self.slots.len()).filter(active).collect();
        if rng.chance(D::chances(knobs).one) {
            active.truncate(1);
        }
        active
    }

    /// The tag that a port's instruction gets: the (port + 1)-th lowest free one.
    pub(crate) fn tag(&self, port: usize) -> Option<usize> {
        (0..self.held.len()).filter(|&n| self.held[n].is_none()).nth(port)
    }

    /// The clock edge.
    pub(crate) fn end(&mut self, rng: &mut Rng, knobs: &D::Knobs, done: &Done<D::Marks>) {
        self.give_out(rng);
        self.give_up(rng, done.flushed);
        let written = self.results.done(done.done);
        let taken = self.results.taken(rng, D::chances(knobs).slow, &numbered(&done.written));
        for latched in if D::TAKEN { taken } else { written } {
            let warp = &mut self.warps[usize::from(latched.warp)];
            warp.pending.put(latched.register, false);
            match warp.slot {
                Some(slot) if !latched.long => self.slots[slot].short -= 1,
                _ => {
                    warp.long -= 1;
                    // Its warp may get a slot again while the result is in its latch.
                    if D::TAKEN && warp.slot.is_none() && rng.chance(300) {
                        self.turn[usize::from(latched.warp) % self.ports] = latched.warp.into();
                    }
                }
            }
        }
        for &tag in done.dispatched.iter().flatten() {
            if let Some(instruction) = self.held[tag].take() {
                self.dispatch(rng, knobs, &instruction);
            }
        }
        for (tag, instruction) in done.taken.iter().flatten() {
            self.take(*tag, instruction);
        }
    }

    /// Free slots are taken by warps of their port that have no pending long-latency operation.
    fn give_out(&mut self, rng: &mut Rng) {
        for (w, warp) in self.warps.iter_mut().enumerate() {
            // A warp of another block begins when nothing of the old one is left.
            let left = warp.slot.is_none() && warp.long == 0 && !self.results.holds(w);
            warp.alive |= !D::ENDS || left && rng.chance(100);
        }
        for port in 0..self.ports {
            let of_port = |n: &usize| n % self.ports == port;
            let free = (0..self.slots.len()).filter(of_port).find(|&s| self.slots[s].state == State::Free);
            let there = |w: usize| self.rows.is_none_or(|rows| w * rows < self.file.depth);
            let free_of = |warp: &Warp| warp.alive && warp.slot.is_none() && warp.long == 0;
            let ready = |w: &usize| free_of(&self.warps[*w]) && there(*w);
            let warp = (0..MAX_WARPS).map(|n| (self.turn[port] + n) % MAX_WARPS).filter(of_port).find(ready);
            if let (Some(s), Some(w)) = (free, warp) {
                self.slots[s] = Slot { state: State::Active, warp: w, drop: false, resident: 0, short: 0 };
                self.warps[w].slot = Some(s);
                self.turn[port] = D::after(rng, w);
            }
        }
    }

    /// Slots become free step by step.
    fn give_up(&mut self, rng: &mut Rng, flushed: u64) {
        for (s, slot) in self.slots.iter_mut().enumerate() {
            let warp = &mut self.warps[slot.warp];
            match slot.state {
                State::Leaving => slot.state = State::Draining,
                State::Draining if slot.resident == 0 && slot.short == 0 => {
                    (slot.state, slot.drop) = (State::Flushing, !warp.alive);
                    if D::ENDS {
                        // Results of long operations may come just now.
                        let soon = |now| rng.chance(300).then(|| now + rng.below(8));
                        self.results.hasten(|warp| usize::from(warp) == slot.warp, soon);
                    }
                }
                State::Flushing if flushed >> s & 1 == 1 => {
                    (slot.state, warp.slot) = (State::Free, None);
                    self.design.freed(slot.warp);
                }
                _ => {}
            }
        }
    }

    fn dispatch(&mut self, rng: &mut Rng, knobs: &D::Knobs, instruction: &Instruction<D::Marks>) {
        let Instruction { warp, slot, dst, long, private, .. } = *instruction;
        self.slots[usize::from(slot)].resident -= 1;
        if dst != NO_REG {
            let parts = D::parts(rng, knobs, instruction);
            let after = latency(rng, D::chances(knobs).slow, long, 1, 200);
            let bus = rng.below(self.ports as u64) as usize;
            self.results.start(after, Pending { warp, register: dst, parts, bus, long, private });
        }
    }

    fn take(&mut self, tag: usize, instruction: &Instruction<D::Marks>) {
        self.held[tag] = Some(*instruction);
        let slot = &mut self.slots[usize::from(instruction.slot)];
        slot.resident += 1;
        if instruction.dst != NO_REG {
            self.design.taken(instruction);
            let warp = &mut self.warps[slot.warp];
            warp.pending.put(instruction.dst, true);
            *(if instruction.long { &mut warp.long } else { &mut slot.short }) += 1;
        }
    }
}
