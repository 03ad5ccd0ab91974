//! `alternating_scheduler`.

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::issue::{AlternatingScheduler, AlternatingSchedulerIn};
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, Twin, ports};
use crate::{Driver, Knob, Knobs, Unaliased, Unreached};

mod cover;

pub(crate) use cover::AlternatingSchedulerCover;

/// What is under way of a warp.
#[derive(Clone, Default)]
struct Under {
    /// Instructions in the operand stage.
    resident: usize,
    /// Registers that are to be written.
    registers: Vec<u8>,
}

/// Keeps what is under way of each warp, so that nothing leaves that has not come, and a twin, to know who issues.
pub(crate) struct AlternatingSchedulerDriver {
    shape: SmShape,
    patience: u16,
    reset: Reset,
    twin: Twin<AlternatingScheduler>,
    warps: Vec<Under>,
    alive: u64,
    held: u64,
    head: u64,
    mark: u64,
    operand: u64,
    /// Cycles that are left of the stretch, whether the active warp issues all through it, and whether it has no rival.
    stretch: (u64, bool, bool),
    /// No stretch has been yet.
    first: bool,
}

const CLEAR: usize = 0;
const OPERAND: usize = 1;
const READY: usize = 2;
const STOP: usize = 3;
const START: usize = 4;
const END: usize = 5;
const HOLD: usize = 6;
const RELEASE: usize = 7;
const HEAD: usize = 8;
const MARK: usize = 9;
const LONG: usize = 10;
const DISPATCH: usize = 11;
const COMPLETE: usize = 12;
const FLUSHED: usize = 13;
const STRAY: usize = 14;
const PARITY: usize = 15;

/// Instructions of a warp in the operand stage, and registers that are to be written, at most: what the counts have room for.
const MOST: (usize, usize) = (60, 200);
/// Cycles of a stretch, and patience from which on one is needed in which a warp issues on and on.
const STRETCH: u64 = 12_000;
const PATIENT: u16 = 100;

impl Driver for AlternatingSchedulerDriver {
    type In = AlternatingSchedulerIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "clear", doc: "a head may issue", values: &[50, 300, 700, 1000] },
        Knob { name: "operand", doc: "a head goes to the operand stage", values: &[300, 700, 950] },
        Knob { name: "ready", doc: "the operand stage takes an instruction", values: &[200, 900] },
        Knob { name: "stop", doc: "nothing issues", values: &[0, 0, 200] },
        Knob { name: "start", doc: "a warp begins", values: &[20, 100, 500] },
        Knob { name: "end", doc: "a warp ends", values: &[0, 10, 100] },
        Knob { name: "hold", doc: "a warp comes to a barrier", values: &[0, 50, 300] },
        Knob { name: "release", doc: "a warp goes on behind it", values: &[1, 20, 200] },
        Knob { name: "head", doc: "a warp gets its next head", values: &[200, 600, 1000] },
        Knob { name: "mark", doc: "a head is marked", values: &[0, 50, 400] },
        Knob { name: "long", doc: "an operation has a long latency", values: &[50, 400, 900] },
        Knob { name: "dispatch", doc: "an instruction leaves the operand stage", values: &[50, 400, 950] },
        Knob { name: "complete", doc: "a register is complete", values: &[20, 200, 950] },
        Knob { name: "flushed", doc: "nothing is left of a slot", values: &[10, 100, 1000] },
        Knob { name: "stray", doc: "warps begin while something of them is under way", values: &[0, 0, 300] },
        Knob { name: "parity", doc: "warps of one parity only begin", values: &[0, 0, 900] },
        Knob { values: &[0, 10, 30], ..RESET },
    ];

    fn new(shape: &SmShape, config: &Config) -> Self {
        Self {
            shape: *shape,
            patience: Straps::of(config).patience,
            reset: Reset::default(),
            twin: Twin::new(shape),
            warps: vec![Under::default(); shape.warps],
            alive: 0,
            held: 0,
            head: 0,
            mark: 0,
            operand: 0,
            stretch: (0, false, false),
            first: true,
        }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        Unreached::warps(&["dispatch_warp_i", "reg_warp_i"], shape.warps)
    }

    fn unaliased(shape: &SmShape, _: &Config) -> Vec<Unaliased> {
        let current = "only the current warp has instructions in the operand stage";
        let mut all = vec![Unaliased::bits("dispatch_warp_i == warp", 0..=u32::MAX, current)];
        let none = shape.warps.next_power_of_two().ilog2()..=u32::MAX;
        all.push(Unaliased::bits("reg_warp_i == warp", none, "the shape has no such warp"));
        all
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut AlternatingSchedulerIn) {
        if self.stretch.0 == 0 {
            let long = self.patience == 0 || self.patience >= PATIENT;
            // The first one is steady, so that the count comes to its end early in a run.
            let steady = long && (self.first || rng.chance(750));
            self.stretch = (STRETCH, steady, steady && (self.first || rng.chance(200)));
            self.first = false;
        }
        self.stretch.0 -= 1;
        let steady = self.stretch.1;
        self.twin.early();
        i.rst_ni = self.reset.next(rng, if steady { 0 } else { knobs.get(16) });
        i.cfg_i = self.patience;
        self.change_warps(rng, knobs, steady);
        (i.alive_i, i.held_i) = (self.alive, self.held);
        (i.head_valid_i, i.mark_i, i.operand_i) = (self.head, self.mark, self.operand);
        let room = |under: &Under| under.resident < MOST.0 && under.registers.len() < MOST.1;
        let room = (0..self.shape.warps).filter(|&w| room(&self.warps[w])).fold(0u64, |set, w| set | 1 << w);
        let clear = if steady { 1000 } else { knobs.get(CLEAR) };
        i.clear_i = room & self.head & rng.mask(self.shape.warps as u32, clear);
        i.ready_i = (steady || rng.chance(knobs.get(READY))).into();
        i.stop_i = (!steady && rng.chance(knobs.get(STOP))).into();
        i.flush_done_i = ports(rng, 2, knobs.get(FLUSHED));
        if rng.chance(100) {
            // Both at once, or none.
            i.flush_done_i = if i.flush_done_i == 0 { 0 } else { 3 };
        }
        self.leave(rng, knobs, steady, i);
        i.set_valid_i = 0;
        self.twin.late(i);
        self.set(rng, knobs, i);
        self.twin.late(i);
        self.twin.clock(i);
        self.head &= !self.twin.out.pop_o;
        if i.rst_ni == 0 {
            self.warps.fill(Under::default());
            (self.alive, self.held, self.head) = (0, 0, 0);
        }
    }
}

impl AlternatingSchedulerDriver {
    /// Heads come, warps begin and end, and wait at barriers.
    fn change_warps(&mut self, rng: &mut Rng, knobs: &Knobs, steady: bool) {
        let warps = self.shape.warps;
        let new = !self.head & self.alive & rng.mask(warps as u32, if steady { 1000 } else { knobs.get(HEAD) });
        self.head |= new;
        let operand = rng.mask(warps as u32, knobs.get(OPERAND));
        let mark = rng.mask(warps as u32, if steady { 0 } else { knobs.get(MARK) });
        let take = |old: u64, next: u64| old & !new | next & new;
        (self.operand, self.mark) = (take(self.operand, operand), take(self.mark, mark));
        if !steady {
            // Several reasons to go may come at once.
            self.held |= new & mark & rng.mask(warps as u32, knobs.get(HOLD));
        }
        if self.stretch.2 {
            let only = 1 << self.in_slot(rng);
            self.alive |= only;
            (self.alive, self.held) = (self.alive & only, 0);
        } else if rng.chance(knobs.get(START)) {
            let w = rng.below(warps as u64) as usize & if rng.chance(knobs.get(PARITY)) { !1 } else { !0 };
            let under = &self.warps[w];
            if under.resident == 0 && under.registers.is_empty() || rng.chance(knobs.get(STRAY)) {
                self.alive |= 1 << w;
                self.held &= !(1 << w);
            }
        }
        if !self.stretch.2 && rng.chance(if steady { 1 } else { knobs.get(END) }) {
            // Sometimes two at once.
            let other = if rng.chance(300) { 1 << self.any(rng) } else { 0 };
            let gone = !(1 << self.any(rng) | other);
            (self.alive, self.head) = (self.alive & gone, self.head & gone);
        }
        if !steady && rng.chance(knobs.get(HOLD)) {
            self.held |= self.alive & 1 << self.any(rng);
        }
        self.held &= !rng.mask(warps as u32, knobs.get(RELEASE));
    }

    /// A warp that has a slot; any if there is none.
    fn in_slot(&self, rng: &mut Rng) -> usize {
        let out = &self.twin.out;
        let active = out.slot_valid_o & !out.flush_o;
        match active.trailing_zeros() {
            b @ 0..2 => out.slot_warp_o[b as usize].into(),
            _ => rng.below(self.shape.warps as u64) as usize,
        }
    }

    /// Any warp, often the active one or one that is being written back.
    fn any(&self, rng: &mut Rng) -> usize {
        match rng.below(10) {
            0..5 => self.in_slot(rng),
            5..8 => self.flushing(rng),
            _ => rng.below(self.shape.warps as u64) as usize,
        }
    }

    /// A warp whose slot is being emptied; any if there is none.
    fn flushing(&self, rng: &mut Rng) -> usize {
        let out = &self.twin.out;
        match out.flush_o.trailing_zeros() {
            b @ 0..2 => out.slot_warp_o[b as usize].into(),
            _ => rng.below(self.shape.warps as u64) as usize,
        }
    }

    /// Instructions leave the operand stage, and registers are complete.
    fn leave(&mut self, rng: &mut Rng, knobs: &Knobs, steady: bool, i: &mut AlternatingSchedulerIn) {
        (i.dispatch_valid_i, i.reg_valid_i) = (0, 0);
        // Without its valid it is any number.
        (i.dispatch_warp_i, i.reg_warp_i) = (rng.below(64) as u8, rng.below(64) as u8);
        let warps = self.shape.warps;
        let current = self.in_slot(rng);
        // Results of warps whose number differs in one bit from that of the current one.
        let near = |w: &usize| (w ^ current).is_power_of_two() && !self.warps[*w].registers.is_empty();
        let near: Vec<usize> = (0..warps).filter(near).collect();
        let is_near = rng.chance(400) && !near.is_empty();
        let first = match is_near {
            true => near[rng.below(near.len() as u64) as usize],
            false => self.any(rng),
        };
        let order = |n: usize| (first + n) % warps;
        let chance = |knob: usize| if steady { 950 } else { knobs.get(knob) };
        if let Some(w) = (0..warps).find(|&w| self.warps[w].resident > 0 && rng.chance(chance(DISPATCH))) {
            (i.dispatch_valid_i, i.dispatch_warp_i) = (1, w as u8);
            self.warps[w].resident -= 1;
        }
        let complete = if is_near { 900 } else { chance(COMPLETE) };
        if let Some(w) = (0..warps).map(order).find(|&w| !self.warps[w].registers.is_empty() && rng.chance(complete)) {
            let registers = &mut self.warps[w].registers;
            let register = registers.swap_remove(rng.below(registers.len() as u64) as usize);
            (i.reg_valid_i, i.reg_warp_i, i.reg_i) = (1, w as u8, register);
        }
    }

    /// What issues goes to the operand stage, where its head says so.
    fn set(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut AlternatingSchedulerIn) {
        i.set_long_i = rng.chance(knobs.get(LONG)).into();
        i.set_d_i = if rng.chance(150) { NO_REG } else { rng.next_u64() as u8 };
        let w = usize::from(self.twin.out.issue_warp_o);
        if self.twin.out.issue_valid_o == 0 {
            // Without an issue it means nothing.
            i.set_valid_i = rng.chance(300).into();
            return;
        }
        if self.operand >> w & 1 == 0 {
            return;
        }
        // The register that is complete at this edge may be the next one's.
        if i.reg_valid_i == 1 && usize::from(i.reg_warp_i) == w && rng.chance(400) {
            i.set_d_i = i.reg_i;
        } else if rng.chance(600) && i.set_d_i != NO_REG {
            i.set_d_i %= 8;
        }
        let under = &mut self.warps[w];
        if under.registers.contains(&i.set_d_i) {
            i.set_d_i = NO_REG;
        }
        i.set_valid_i = 1;
        under.resident += 1;
        if i.set_d_i != NO_REG {
            under.registers.push(i.set_d_i);
        }
    }
}
