//! `alternating_scheduler`.

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::issue::{AlternatingScheduler, AlternatingSchedulerIn};
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_lockstep::Rng;

use super::InFlight;
use crate::driver::{Reset, Twin, ports};
use crate::{Driver, Unaliased, Unreached};

mod cover;

pub(crate) use cover::AlternatingSchedulerCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry =
    crate::entry::<AlternatingScheduler, AlternatingSchedulerDriver, AlternatingSchedulerCover>();

/// Driver of `alternating_scheduler`. It keeps track of what is in flight of each warp, so that only instructions that have issued end. A twin tells
/// which warp issues.
pub(crate) struct AlternatingSchedulerDriver {
    shape: SmShape,
    patience: u16,
    reset: Reset,
    twin: Twin<AlternatingScheduler>,
    warps: Vec<InFlight>,
    alive: u64,
    held: u64,
    head: u64,
    mark: u64,
    operand: u64,
    /// The stretch: cycles that are left, whether the active warp issues all through it, and whether that warp has no rival.
    stretch: (u64, bool, bool),
    /// Whether there has been no stretch yet.
    first: bool,
}

knobs! {
    pub(crate) struct AlternatingSchedulerKnobs {
        clear: "a head may issue" = [50, 300, 700, 1000],
        operand: "a head goes to the operand stage" = [300, 700, 950],
        ready: "the operand stage takes an instruction" = [200, 900],
        stop: "nothing issues" = [0, 0, 200],
        start: "a warp begins" = [20, 100, 500],
        end: "a warp ends" = [0, 10, 100],
        hold: "a warp comes to a barrier" = [0, 50, 300],
        release: "a warp continues after it" = [1, 20, 200],
        head: "a warp gets its next head" = [200, 600, 1000],
        mark: "a head is marked" = [0, 50, 400],
        long: "an operation has a long latency" = [50, 400, 900],
        dispatch: "an instruction leaves the operand stage" = [50, 400, 950],
        complete: "a register is complete" = [20, 200, 950],
        flushed: "nothing is left of a slot" = [10, 100, 1000],
        stray: "warps begin while something of them is under way" = [0, 0, 300],
        parity: "warps of one parity only begin" = [0, 0, 900],
        reset = [0, 10, 30],
    }
}

/// Cycles of a stretch; and the patience from which on there have to be stretches in which one warp issues without a pause.
const STRETCH: u64 = 12_000;
const PATIENT: u16 = 100;

impl Driver for AlternatingSchedulerDriver {
    type In = AlternatingSchedulerIn;
    type Knobs = AlternatingSchedulerKnobs;

    fn new(shape: &SmShape, config: &Config) -> Self {
        Self {
            shape: *shape,
            patience: Straps::of(config).patience,
            reset: Reset::default(),
            twin: Twin::new(shape),
            warps: vec![InFlight::default(); shape.warps],
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

    fn drive(&mut self, rng: &mut Rng, knobs: &AlternatingSchedulerKnobs, i: &mut AlternatingSchedulerIn) {
        if self.stretch.0 == 0 {
            let long = self.patience == 0 || self.patience >= PATIENT;
            // The first stretch is steady, so that the count reaches its end early in a run.
            let steady = long && (self.first || rng.chance(750));
            self.stretch = (STRETCH, steady, steady && (self.first || rng.chance(200)));
            self.first = false;
        }
        self.stretch.0 -= 1;
        let steady = self.stretch.1;
        self.twin.early();
        i.rst_ni = self.reset.next(rng, if steady { 0 } else { knobs.reset });
        i.cfg_i = self.patience;
        self.change_warps(rng, knobs, steady);
        (i.alive_i, i.held_i) = (self.alive, self.held);
        (i.head_valid_i, i.mark_i, i.operand_i) = (self.head, self.mark, self.operand);
        let room = (0..self.shape.warps).filter(|&w| self.warps[w].has_room()).fold(0u64, |set, w| set | 1 << w);
        let clear = if steady { 1000 } else { knobs.clear };
        i.clear_i = room & self.head & rng.mask(self.shape.warps as u32, clear);
        i.ready_i = (steady || rng.chance(knobs.ready)).into();
        i.stop_i = (!steady && rng.chance(knobs.stop)).into();
        i.flush_done_i = ports(rng, 2, knobs.flushed);
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
            self.warps.fill(InFlight::default());
            (self.alive, self.held, self.head) = (0, 0, 0);
        }
    }
}

impl AlternatingSchedulerDriver {
    /// Heads come, warps begin and end, and wait at barriers.
    fn change_warps(&mut self, rng: &mut Rng, knobs: &AlternatingSchedulerKnobs, steady: bool) {
        let warps = self.shape.warps;
        let new = !self.head & self.alive & rng.mask(warps as u32, if steady { 1000 } else { knobs.head });
        self.head |= new;
        let operand = rng.mask(warps as u32, knobs.operand);
        let mark = rng.mask(warps as u32, if steady { 0 } else { knobs.mark });
        let take = |old: u64, next: u64| old & !new | next & new;
        (self.operand, self.mark) = (take(self.operand, operand), take(self.mark, mark));
        if !steady {
            // Several reasons to leave may come at once.
            self.held |= new & mark & rng.mask(warps as u32, knobs.hold);
        }
        if self.stretch.2 {
            let only = 1 << self.in_slot(rng);
            self.alive |= only;
            (self.alive, self.held) = (self.alive & only, 0);
        } else if rng.chance(knobs.start) {
            let w = rng.below(warps as u64) as usize & if rng.chance(knobs.parity) { !1 } else { !0 };
            let under = &self.warps[w];
            if under.is_idle() || rng.chance(knobs.stray) {
                self.alive |= 1 << w;
                self.held &= !(1 << w);
            }
        }
        if !self.stretch.2 && rng.chance(if steady { 1 } else { knobs.end }) {
            // Sometimes two at once.
            let other = if rng.chance(300) { 1 << self.any(rng) } else { 0 };
            let gone = !(1 << self.any(rng) | other);
            (self.alive, self.head) = (self.alive & gone, self.head & gone);
        }
        if !steady && rng.chance(knobs.hold) {
            self.held |= self.alive & 1 << self.any(rng);
        }
        self.held &= !rng.mask(warps as u32, knobs.release);
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

    /// Any warp, often the active one or one whose slot is being flushed.
    fn any(&self, rng: &mut Rng) -> usize {
        match rng.below(10) {
            0..5 => self.in_slot(rng),
            5..8 => self.flushing(rng),
            _ => rng.below(self.shape.warps as u64) as usize,
        }
    }

    /// A warp whose slot is being flushed; any warp if there is none.
    fn flushing(&self, rng: &mut Rng) -> usize {
        let out = &self.twin.out;
        match out.flush_o.trailing_zeros() {
            b @ 0..2 => out.slot_warp_o[b as usize].into(),
            _ => rng.below(self.shape.warps as u64) as usize,
        }
    }

    /// Instructions leave the operand stage, and registers are complete.
    fn leave(
        &mut self,
        rng: &mut Rng,
        knobs: &AlternatingSchedulerKnobs,
        steady: bool,
        i: &mut AlternatingSchedulerIn,
    ) {
        (i.dispatch_valid_i, i.reg_valid_i) = (0, 0);
        // Without its valid signal it may be any number.
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
        let dispatch = if steady { 950 } else { knobs.dispatch };
        if let Some(w) = (0..warps).find(|&w| self.warps[w].resident > 0 && rng.chance(dispatch)) {
            (i.dispatch_valid_i, i.dispatch_warp_i) = (1, w as u8);
            self.warps[w].resident -= 1;
        }
        let complete = if is_near {
            900
        } else if steady {
            950
        } else {
            knobs.complete
        };
        if let Some(w) = (0..warps).map(order).find(|&w| !self.warps[w].registers.is_empty() && rng.chance(complete)) {
            (i.reg_valid_i, i.reg_warp_i, i.reg_i) = (1, w as u8, self.warps[w].complete(rng));
        }
    }

    /// An instruction that issues goes to the operand stage, if its head says so.
    fn set(&mut self, rng: &mut Rng, knobs: &AlternatingSchedulerKnobs, i: &mut AlternatingSchedulerIn) {
        i.set_long_i = rng.chance(knobs.long).into();
        i.set_d_i = if rng.chance(150) { NO_REG } else { rng.next_u64() as u8 };
        let w = usize::from(self.twin.out.issue_warp_o);
        if self.twin.out.issue_valid_o == 0 {
            // Without an issue the valid signal has no meaning.
            i.set_valid_i = rng.chance(300).into();
            return;
        }
        if self.operand >> w & 1 == 0 {
            return;
        }
        // A register that is complete at this edge may be the destination of the next instruction.
        if i.reg_valid_i == 1 && usize::from(i.reg_warp_i) == w && rng.chance(400) {
            i.set_d_i = i.reg_i;
        } else if rng.chance(600) && i.set_d_i != NO_REG {
            i.set_d_i %= 8;
        }
        (i.set_valid_i, i.set_d_i) = (1, self.warps[w].issue(i.set_d_i));
    }
}
