//! `two_level_scheduler`.

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::issue::{TwoLevelScheduler, TwoLevelSchedulerIn};
use gpurf_blocks::shape::{ActiveShape, Straps};
use gpurf_lockstep::Rng;

use super::InFlight;
use crate::driver::{Reset, Twin, ports};
use crate::{Driver, Unreached};

mod cover;

pub(crate) use cover::TwoLevelSchedulerCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry =
    crate::entry::<TwoLevelScheduler, TwoLevelSchedulerDriver, TwoLevelSchedulerCover>();

/// Driver of `two_level_scheduler`. It keeps track of what is in flight of each warp, so that only instructions that have issued end. A twin tells
/// which warps issue and which have a slot.
pub(crate) struct TwoLevelSchedulerDriver {
    shape: ActiveShape,
    straps: Straps,
    reset: Reset,
    twin: Twin<TwoLevelScheduler>,
    warps: Vec<InFlight>,
    alive: u64,
    held: u64,
    head: u64,
    mark: u64,
    operand: u64,
    branch: u64,
    /// Warps that the ports have named as candidates.
    named: u64,
    /// The stretch: cycles that are left, whether one warp of each port issues all through it, and whether that warp has no rival.
    stretch: (u64, bool, bool),
    /// Whether there has been no stretch yet.
    first: bool,
}

knobs! {
    pub(crate) struct TwoLevelSchedulerKnobs {
        clear: "a head may issue" = [50, 300, 700, 1000],
        operand: "a head goes to the operand stage" = [300, 700, 950],
        branch: "it is a branch instead" = [100, 500, 1000],
        ready: "the operand stage takes an instruction on a port" = [200, 900],
        stop: "nothing issues" = [0, 0, 200],
        start: "a warp begins" = [20, 100, 500],
        end: "a warp ends" = [0, 5, 50],
        hold: "a warp comes to a barrier" = [0, 10, 100],
        release: "a warp continues after it" = [1, 20, 200],
        head: "a warp gets its next head" = [200, 600, 1000],
        mark: "a head is marked" = [0, 20, 300],
        long: "an operation has a long latency" = [0, 200, 700],
        dispatch: "an instruction leaves the operand stage" = [50, 400, 950],
        complete: "a register is complete" = [50, 400, 950],
        flushed: "nothing is left of a slot" = [50, 500, 1000],
        stray: "warps begin while something of them is under way" = [0, 0, 300],
        reset,
        void: "nothing is lost if a warp leaves its slot" = [20, 700, 1000, 1000],
        candidate: "an operand of a candidate is read" = [0, 300, 900],
    }
}

/// Cycles of a stretch; and the patience from which on there have to be stretches in which one warp issues without a pause.
const STRETCH: u64 = 12_000;
const PATIENT: u16 = 100;

impl Driver for TwoLevelSchedulerDriver {
    type In = TwoLevelSchedulerIn;
    type Knobs = TwoLevelSchedulerKnobs;

    fn new(shape: &ActiveShape, config: &Config) -> Self {
        Self {
            shape: *shape,
            straps: Straps::of(config),
            reset: Reset::default(),
            twin: Twin::new(shape),
            warps: vec![InFlight::default(); shape.warps],
            alive: 0,
            held: 0,
            head: 0,
            mark: 0,
            operand: 0,
            branch: 0,
            named: 0,
            stretch: (0, false, false),
            first: true,
        }
    }

    fn unreached(shape: &ActiveShape, _: &Config) -> Vec<Unreached> {
        Unreached::warps(&["dispatch_warp_i", "reg_warp_i"], shape.warps)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &TwoLevelSchedulerKnobs, inputs: &mut TwoLevelSchedulerIn) {
        let count = self.shape.ports();
        if self.stretch.0 == 0 {
            let long = self.straps.patience == 0 || self.straps.patience >= PATIENT || self.straps.stay;
            // The first stretch is steady, so that a count reaches its end early in a run.
            let steady = long && (self.first || rng.chance(if self.straps.stay { 200 } else { 600 }));
            self.stretch = (STRETCH, steady, steady && (self.first || rng.chance(300)));
            self.first = false;
        }
        self.stretch.0 -= 1;
        let steady = self.stretch.1;
        self.twin.early();
        inputs.rst_ni = self.reset.next(rng, if steady { 0 } else { knobs.reset });
        inputs.cfg_i = self.straps.two_level();
        self.change_warps(rng, knobs, steady);
        (inputs.alive_i, inputs.held_i) = (self.alive, self.held);
        (inputs.head_valid_i, inputs.mark_i) = (self.head, self.mark);
        (inputs.operand_i, inputs.branch_i) = (self.operand, self.branch);
        let room = (0..self.shape.warps).filter(|&w| self.warps[w].has_room()).fold(0u64, |set, w| set | 1 << w);
        inputs.clear_i =
            room & self.head & if steady { self.first_warps() } else { rng.mask(self.shape.warps as u32, knobs.clear) };
        // The head of a warp that was named and has not issued does not change, unless the warp has ended.
        inputs.clear_i |= self.named & self.head;
        // Without candidates this input has no meaning.
        inputs.candidate_issue_i = ports(rng, count, if steady { 0 } else { knobs.candidate });
        inputs.ready_i = if steady { 3 } else { ports(rng, count, knobs.ready) } & ((1 << count) - 1);
        inputs.stop_i = (!steady && rng.chance(knobs.stop)).into();
        inputs.flush_done_i = rng.mask(self.shape.active as u32, knobs.flushed);
        inputs.void_i = rng.mask(self.shape.active as u32, knobs.void);

        self.leave(rng, knobs, steady, inputs);
        inputs.set_valid_i = 0;
        self.twin.late(inputs);
        self.set(rng, knobs, inputs);
        self.twin.late(inputs);
        self.twin.clock(inputs);
        let out = &self.twin.out;
        self.head &= !out.pop_o;
        let named = (0..count).filter(|p| out.candidate_valid_o >> p & 1 == 1);
        self.named = named.fold(0, |set, p| set | 1 << out.candidate_warp_o[p]);
        if inputs.rst_ni == 0 {
            self.warps.fill(InFlight::default());
            (self.alive, self.held, self.head, self.named) = (0, 0, 0, 0);
        }
    }
}

impl TwoLevelSchedulerDriver {
    /// Heads come, warps begin and end, and wait at barriers.
    fn change_warps(&mut self, rng: &mut Rng, knobs: &TwoLevelSchedulerKnobs, steady: bool) {
        let warps = self.shape.warps;
        let any = |rng: &mut Rng| rng.below(warps as u64) as usize;
        let new = !self.head & self.alive & rng.mask(warps as u32, if steady { 1000 } else { knobs.head });
        self.head |= new;
        let operand = rng.mask(warps as u32, knobs.operand);
        let branch = !operand & rng.mask(warps as u32, knobs.branch);
        let mark = rng.mask(warps as u32, if steady { 0 } else { knobs.mark });
        let take = |old: u64, next: u64| old & !new | next & new;
        (self.operand, self.branch, self.mark) =
            (take(self.operand, operand), take(self.branch, branch), take(self.mark, mark));
        // Several reasons to leave may come at once.
        if !steady {
            self.held |= new & mark & rng.mask(warps as u32, knobs.hold);
        }
        if self.stretch.2 {
            self.alive &= self.first_warps();
        } else if rng.chance(knobs.start) {
            let w = any(rng);
            let under = &self.warps[w];
            if under.is_idle() || rng.chance(knobs.stray) {
                self.alive |= 1 << w;
                self.held &= !(1 << w);
            }
        }
        // If nothing else makes a warp leave, more of them end.
        let end = knobs.end * if self.straps.stay { 4 } else { 1 };
        if rng.chance(if steady { 1 } else { end }) {
            // Sometimes two at once, or all.
            let other = match rng.below(20) {
                0..6 => 1 << self.any_of_slots(rng),
                6 => u64::MAX,
                _ => 0,
            };
            let gone = !(1 << self.any_of_slots(rng) | other);
            (self.alive, self.head) = (self.alive & gone, self.head & gone);
        }
        if !steady && self.named != 0 && rng.chance(end) {
            let gone = !(1 << self.named.trailing_zeros());
            (self.alive, self.head) = (self.alive & gone, self.head & gone);
        }
        if !steady && rng.chance(knobs.hold) {
            let which = if rng.chance(50) { u64::MAX } else { 1 << self.any_of_slots(rng) };
            self.held |= self.alive & which;
        }
        self.held &= !rng.mask(warps as u32, knobs.release);
    }

    /// Any warp, more often one that has a slot.
    fn any_of_slots(&self, rng: &mut Rng) -> usize {
        let slot = rng.below(self.shape.active as u64) as usize;
        let taken = self.twin.out.slot_valid_o >> slot & 1 == 1;
        if taken && rng.chance(600) {
            self.twin.out.slot_warp_o[slot].into()
        } else {
            rng.below(self.shape.warps as u64) as usize
        }
    }

    /// The warp of each port's first active slot.
    fn first_warps(&self) -> u64 {
        let (out, count) = (&self.twin.out, self.shape.ports());
        let first = |p: usize| (0..self.shape.active).find(|&s| s % count == p && out.slot_valid_o >> s & 1 == 1);
        (0..count).filter_map(first).fold(0, |set, s| set | 1 << out.slot_warp_o[s])
    }

    /// Instructions leave the operand stage, and registers are complete.
    fn leave(&mut self, rng: &mut Rng, knobs: &TwoLevelSchedulerKnobs, steady: bool, inputs: &mut TwoLevelSchedulerIn) {
        (inputs.dispatch_valid_i, inputs.reg_valid_i) = (0, 0);
        let warps = self.shape.warps;
        // The warp of the first port's dispatch; or, if it has none, the warp at which its search began.
        let mut same = 0;
        for p in 0..self.shape.ports() {
            // Without its valid signal it may be any number.
            (inputs.dispatch_warp_i[p], inputs.reg_warp_i[p]) = (rng.below(64) as u8, rng.below(64) as u8);
            // Searches from some warp on for the first one with something in flight; often from the same warp for both ports.
            let first = if p == 1 && rng.chance(600) { same } else { rng.below(warps as u64) };
            same = first;
            let order = |n: usize| (first as usize + n) % warps;
            let chance = |knob: u32| if steady { 950 } else { knob };
            if let Some(w) =
                (0..warps).map(order).find(|&w| self.warps[w].resident > 0 && rng.chance(chance(knobs.dispatch)))
            {
                inputs.dispatch_valid_i |= 1 << p;
                inputs.dispatch_warp_i[p] = w as u8;
                same = w as u64;
                self.warps[w].resident -= 1;
            }
            let chance = chance(knobs.complete);
            if let Some(w) = (0..warps).map(order).find(|&w| !self.warps[w].registers.is_empty() && rng.chance(chance))
            {
                inputs.reg_valid_i |= 1 << p;
                (inputs.reg_warp_i[p], inputs.reg_i[p]) = (w as u8, self.warps[w].complete(rng));
            }
        }
    }

    /// An instruction that issues goes to the operand stage, if its head says so.
    fn set(&mut self, rng: &mut Rng, knobs: &TwoLevelSchedulerKnobs, inputs: &mut TwoLevelSchedulerIn) {
        let issued = self.twin.out.issue_valid_o;
        inputs.set_long_i = ports(rng, self.shape.ports(), knobs.long);
        for p in 0..self.shape.ports() {
            inputs.set_d_i[p] = if rng.chance(150) { NO_REG } else { rng.next_u64() as u8 };
            let w = usize::from(self.twin.out.issue_warp_o[p]);
            if issued >> p & 1 == 0 {
                // Without an issue the valid signal has no meaning.
                inputs.set_valid_i |= u8::from(rng.chance(300)) << p;
                continue;
            }
            if self.operand >> w & 1 == 0 {
                continue;
            }
            // A register that is complete at this edge may be the destination of the next instruction.
            let complete = (0..self.shape.ports())
                .find(|&b| inputs.reg_valid_i >> b & 1 == 1 && usize::from(inputs.reg_warp_i[b]) == w);
            if let Some(b) = complete.filter(|_| rng.chance(400)) {
                inputs.set_d_i[p] = inputs.reg_i[b];
            } else if rng.chance(600) && inputs.set_d_i[p] != NO_REG {
                inputs.set_d_i[p] %= 8;
            }
            inputs.set_valid_i |= 1 << p;
            inputs.set_d_i[p] = self.warps[w].issue(inputs.set_d_i[p]);
        }
    }
}
