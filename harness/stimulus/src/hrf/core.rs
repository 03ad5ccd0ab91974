//! The surroundings of the hybrid register file in an SM, as far as they matter to it: one active warp, others that take turns, instructions whose
//! registers are not pending, and their results.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::hrf::{HrfShape, PARITIES};
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::mrf::MAX_COLLECTORS;
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_lockstep::Rng;

use crate::driver::{alias, lane_mask};
use crate::surroundings::{Offer, Pending, Results, latency, parts};

/// An instruction as the scheduler issues it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    pub(crate) warp: u8,
    pub(crate) mask: u32,
    /// Its sources; `NO_REG` where there is none.
    pub(crate) sources: [u8; OPERANDS],
    dst: u8,
    long: bool,
}

/// What the file did in a cycle.
#[derive(Default)]
pub(crate) struct Done {
    /// The instruction taken, with its number.
    pub(crate) taken: Option<(usize, Instruction)>,
    /// The number of the instruction that was dispatched.
    pub(crate) dispatched: Option<usize>,
    /// The result taken.
    pub(crate) written: Option<Offer>,
    /// Whether the result in the latch has reached its destination.
    pub(crate) done: bool,
    /// Slots that have been flushed.
    pub(crate) flushed: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    None,
    Active,
    /// The warp gives up at this clock edge.
    Leaving,
    Draining,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    warp: usize,
    flush: bool,
    drop: bool,
}

#[derive(Clone, Copy, Default)]
struct Warp {
    alive: bool,
    pending: u64,
    long: usize,
    /// Its active lanes, while it is on one path of a divergent region.
    mask: u32,
}

pub(crate) struct Core {
    registers: u64,
    depth: usize,
    /// Numbers of the warps, and the entries of their first registers.
    names: Vec<u8>,
    bases: Vec<u16>,
    collectors: usize,
    state: State,
    /// Slot of the warp that is or was active last.
    current: usize,
    slots: [Slot; PARITIES],
    warps: Vec<Warp>,
    /// Number of instructions of the active warp in the file, and of its pending results of short operations.
    resident: usize,
    short: usize,
    held: [Option<Instruction>; MAX_COLLECTORS],
    pub(crate) results: Results,
    /// The warp from which the search for the next one begins.
    turn: usize,
    /// The register that was written last.
    last: u8,
    /// Registers that the warp has written since it became active; then the number of entries of a buffer.
    written: u64,
    entries: usize,
}

knobs! {
    pub(crate) struct CoreKnobs {
        offer: "the active warp issues" = [200, 600, 1000],
        register: "a source is a register" = [300, 700, 1000],
        equal: "a source is the register of another one" = [0, 300],
        few: "the register is one of the first four" = [0, 0, 500, 950, 1000],
        long: "an operation has a long latency" = [50, 300, 800],
        parts: "a result comes in parts" = [0, 300],
        slow: "a result takes its time" = [0, 300, 900],
        result: "a result is offered" = [100, 600, 1000],
        leave: "the warp gives up" = [3, 10, 60, 300],
        end: "it ends" = [0, 3, 20],
        again: "a warp that has given up is the next one if it can be" = [0, 400, 900],
        diverge: "a warp takes another path" = [0, 20, 200],
        inactive: "lanes are inactive on it" = [0, 300, 900],
        alone: "only warps of the parity of the last one are ready" = [0, 0, 950],
    }
}

/// Chance, in a thousand, that the pending results for other warps of the active warp's bank come together: as a rule, when the active warp has
/// filled its buffer, and when it gives up.
const BURST: u32 = 5;
const BURST_WHEN_FULL: u32 = 80;
const BURST_AT_END: u32 = 120;
/// Chance, in a thousand, that a warp ends when it has just become active, while the other one drains.
const END_AT_ONCE: u32 = 25;

/// The number of registers of a thread that is mostly used with buffers of this size.
fn usual_registers(entries: usize) -> usize {
    (entries + 6).min(64)
}

/// The number of warps, with this many registers each.
fn warps(depth: usize, registers: usize) -> usize {
    (PARITIES * (depth / registers)).min(8)
}

impl Core {
    /// Few warps, so that each of them often becomes active again. Each has more registers than a small buffer holds; with a large buffer it has the
    /// most that are possible. The registers of the first warp wrap from the end of its bank to the beginning.
    pub(crate) fn new(shape: &HrfShape) -> Self {
        let (depth, registers) = (shape.mrf.depth, usual_registers(shape.buffer_entries));
        let warps = warps(depth, registers);
        let base = |warp: usize| ((warp / PARITIES * registers + depth - 3) % depth) as u16;
        Self {
            registers: registers as u64,
            depth,
            names: (0..warps as u8).collect(),
            bases: (0..warps).map(base).collect(),
            collectors: shape.mrf.collectors,
            state: State::None,
            current: 1,
            slots: [Slot::default(), Slot { warp: 1, ..Slot::default() }],
            warps: vec![Warp { mask: u32::MAX, ..Warp::default() }; warps],
            resident: 0,
            short: 0,
            held: [None; MAX_COLLECTORS],
            results: Results::new(1),
            turn: 0,
            last: 0,
            written: 0,
            entries: shape.buffer_entries,
        }
    }

    /// Number of a warp.
    pub(crate) fn name(&self, warp: u8) -> u8 {
        self.names[usize::from(warp)]
    }

    /// The entry of a warp's first register.
    pub(crate) fn base(&self, warp: u8) -> u16 {
        self.bases[usize::from(warp)]
    }

    /// Chooses other warps, with other numbers, of which many differ in one bit, and another number of registers.
    fn divide(&mut self, rng: &mut Rng) {
        let registers = if rng.chance(600) { usual_registers(self.entries) } else { 4 + rng.below(61) as usize };
        let (warps, places) = (warps(self.depth, registers), self.depth / registers);
        let first = rng.below(self.depth as u64) as usize;
        let from = rng.below(places as u64) as usize;
        let base = |warp: usize| {
            let place = (from + warp / PARITIES) % places;
            ((first + place * registers) % self.depth) as u16
        };
        self.bases = (0..warps).map(base).collect();
        self.names.clear();
        while self.names.len() < warps {
            let count = self.names.len();
            let known = self.names.get(rng.below(count.max(1) as u64) as usize).copied();
            let name = match known {
                Some(known) if rng.chance(700) => alias(rng, known.into(), MAX_WARPS as u64) as u8,
                _ => rng.below(MAX_WARPS as u64) as u8,
            };
            if usize::from(name) % PARITIES == count % PARITIES && !self.names.contains(&name) {
                self.names.push(name);
            }
        }
        self.registers = registers as u64;
        self.warps = vec![Warp { mask: u32::MAX, ..Warp::default() }; warps];
        self.slots = [Slot::default(), Slot { warp: 1, ..Slot::default() }];
        (self.turn, self.last) = (0, 0);
    }

    /// Reset.
    pub(crate) fn clear(&mut self, rng: &mut Rng) {
        (self.state, self.current) = (State::None, 1);
        self.slots.iter_mut().for_each(|slot| (slot.flush, slot.drop) = (false, false));
        self.warps.fill(Warp { mask: u32::MAX, ..Warp::default() });
        (self.resident, self.short) = (0, 0);
        self.held = [None; MAX_COLLECTORS];
        self.results.clear();
        if rng.chance(500) {
            self.divide(rng);
        }
    }

    fn slots_where(&self, holds: impl Fn(&Slot) -> bool) -> u8 {
        self.slots.iter().enumerate().fold(0, |set, (b, slot)| set | u8::from(holds(slot)) << b)
    }

    /// Slots that have a warp.
    pub(crate) fn valid(&self) -> u8 {
        self.flush() | if self.state == State::None { 0 } else { 1 << self.current }
    }

    /// Slots that have to be flushed.
    pub(crate) fn flush(&self) -> u8 {
        self.slots_where(|slot| slot.flush)
    }

    /// Slots that have to be flushed without writing anything.
    pub(crate) fn drop(&self) -> u8 {
        self.slots_where(|slot| slot.flush && slot.drop)
    }

    /// The warp of a slot.
    pub(crate) fn warp_of(&self, slot: usize) -> u8 {
        self.slots[slot].warp as u8
    }

    fn warp(&mut self) -> &mut Warp {
        &mut self.warps[self.slots[self.current].warp]
    }

    /// Begins a cycle: decides whether the active warp ends or gives up.
    pub(crate) fn begin(&mut self, rng: &mut Rng, knobs: &CoreKnobs) {
        self.results.begin(rng, knobs.result);
        // When the buffer may be full, or is about to be flushed, its bank's queue has to fill too.
        let burst = match self.state {
            State::None => 0,
            State::Leaving | State::Draining => BURST_AT_END,
            _ if self.written.count_ones() as usize >= self.entries => BURST_WHEN_FULL,
            _ => BURST,
        };
        if rng.chance(burst) {
            let active = self.slots[self.current].warp;
            let current = self.current;
            let bank = |warp: u8| usize::from(warp) % PARITIES == current && usize::from(warp) != active;
            self.results.hasten(bank, Some);
        }
        if self.state == State::None {
            return;
        }
        let ends = rng.chance(knobs.end);
        let path = rng.chance(knobs.diverge).then(|| lane_mask(rng, knobs.inactive));
        let warp = self.warp();
        (warp.alive, warp.mask) = (warp.alive && !ends, path.unwrap_or(warp.mask));
        let alive = warp.alive;
        if self.state == State::Active && (!alive || rng.chance(knobs.leave)) {
            self.state = State::Leaving;
        }
    }

    /// The instruction that is offered, and its number.
    pub(crate) fn instruction(&self, rng: &mut Rng, knobs: &CoreKnobs) -> Option<(usize, Instruction)> {
        if self.state != State::Active || !rng.chance(knobs.offer) {
            return None;
        }
        // If no collector is free, it is offered nonetheless, and not taken.
        let number = (0..self.collectors).find(|&n| self.held[n].is_none()).unwrap_or(0);
        let warp = self.slots[self.current].warp;
        let Warp { pending, mask, .. } = self.warps[warp];
        let mut sources = [NO_REG; OPERANDS];
        for k in 0..OPERANDS {
            if rng.chance(knobs.register) {
                let same = k > 0 && rng.chance(knobs.equal);
                sources[k] = if same { sources[k - 1] } else { self.register(rng, knobs) };
            }
        }
        let dst = if rng.chance(150) { NO_REG } else { self.register(rng, knobs) };
        let waits = |register: u8| register != NO_REG && pending >> register & 1 == 1;
        if sources.iter().any(|&register| waits(register)) || waits(dst) {
            return None;
        }
        let long = dst != NO_REG && rng.chance(knobs.long);
        Some((number, Instruction { warp: warp as u8, mask, sources, dst, long }))
    }

    fn register(&self, rng: &mut Rng, knobs: &CoreKnobs) -> u8 {
        let few = rng.chance(knobs.few);
        match rng.below(4) {
            0 => self.last,
            1 if rng.chance(200) => alias(rng, self.last.into(), self.registers) as u8,
            _ => rng.below(if few { 4 } else { self.registers }) as u8,
        }
    }

    /// The clock edge.
    pub(crate) fn end(&mut self, rng: &mut Rng, knobs: &CoreKnobs, done: &Done) {
        self.turns(rng, knobs, done.flushed);
        for latched in self.results.done(done.done.into()) {
            let warp = &mut self.warps[usize::from(latched.warp)];
            warp.pending &= !(1 << latched.register);
            warp.long -= usize::from(latched.long);
            self.short -= usize::from(!latched.long);
        }
        if let Some(offer) = done.written {
            self.results.taken(rng, knobs.slow, &[(0, offer)]);
            self.last = offer.register;
            if usize::from(offer.warp) == self.slots[self.current].warp {
                self.written |= 1 << offer.register;
            }
        }
        if let Some(instruction) = done.dispatched.and_then(|number| self.held[number].take()) {
            self.dispatch(rng, knobs, &instruction);
        }
        if let Some((number, instruction)) = done.taken {
            self.held[number] = Some(instruction);
            self.resident += 1;
            if instruction.dst != NO_REG {
                let warp = self.warp();
                warp.pending |= 1 << instruction.dst;
                warp.long += usize::from(instruction.long);
                self.short += usize::from(!instruction.long);
            }
        }
    }

    /// Slots get other warps.
    fn turns(&mut self, rng: &mut Rng, knobs: &CoreKnobs, flushed: u8) {
        let flushing = self.flush();
        match self.state {
            State::None => self.take_turn(rng, knobs, flushing),
            State::Active => {}
            State::Leaving => self.state = State::Draining,
            State::Draining if self.resident == 0 && self.short == 0 => {
                let slot = &mut self.slots[self.current];
                (slot.flush, slot.drop) = (true, !self.warps[slot.warp].alive);
                self.state = State::None;
                // Results of long operations may come just now, for other warps of the bank too.
                let soon = |now| rng.chance(500).then(|| now + rng.below(12));
                self.results.hasten(|warp| usize::from(warp) % PARITIES == self.current, soon);
            }
            State::Draining => {}
        }
        for (b, slot) in self.slots.iter_mut().enumerate() {
            slot.flush &= flushed >> b & 1 == 0;
        }
    }

    /// The next warp becomes active, one of the other parity if one is ready, but only if its slot is free.
    fn take_turn(&mut self, rng: &mut Rng, knobs: &CoreKnobs, flushing: u8) {
        let is_free = |slots: &[Slot], w: usize| slots.iter().all(|slot| !slot.flush || slot.warp != w);
        for (w, warp) in self.warps.iter_mut().enumerate() {
            // A warp of another block begins when nothing of the old one is left.
            warp.alive |= warp.long == 0 && is_free(&self.slots, w) && rng.chance(100);
        }
        let ready = |w: usize| self.warps[w].alive && self.warps[w].long == 0 && is_free(&self.slots, w);
        let ready: Vec<usize> =
            (0..self.warps.len()).map(|n| (self.turn + n) % self.warps.len()).filter(|&w| ready(w)).collect();
        let of = |parity: usize| ready.iter().copied().find(|w| w % PARITIES == parity);
        let other = of(1 - self.current).filter(|_| !rng.chance(knobs.alone));
        let Some(warp) = other.or_else(|| of(self.current)) else { return };
        let slot = warp % PARITIES;
        if flushing >> slot & 1 == 1 {
            return;
        }
        let before = self.slots[slot].warp;
        let warp = if ready.contains(&before) && rng.chance(knobs.again) { before } else { warp };
        self.slots[slot].warp = warp;
        (self.state, self.current, self.turn) = (State::Active, slot, warp + 1);
        self.written = 0;
        if flushing != 0 && rng.chance(END_AT_ONCE) {
            self.warps[warp].alive = false;
        }
    }

    fn dispatch(&mut self, rng: &mut Rng, knobs: &CoreKnobs, instruction: &Instruction) {
        self.resident -= 1;
        if instruction.dst == NO_REG {
            return;
        }
        let Instruction { warp, dst, mask, long, .. } = *instruction;
        let parts = parts(mask, true, || rng.chance(knobs.parts).then(|| rng.next_u64() as u32));
        let after = latency(rng, knobs.slow, long, 1, 600);
        self.results.start(after, Pending { warp, register: dst, parts, bus: 0, long, private: rng.chance(500) });
    }
}
