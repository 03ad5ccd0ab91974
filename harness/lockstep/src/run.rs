//! Runs the two sides.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use gpurf_blocks::Role;
use verilated::RtlFailure;

use crate::blame::Blame;
use crate::memory::{differing_memories, lose_in_rtl, lose_in_twin};
use crate::trail::{CHUNK, Trail};
use crate::{
    Cause, Difference, Divergence, Environment, Events, Lockstep, LostWord, Records, Rng, RunOutcome, RunPlan, Side,
    Spreads, Stimulus, fill_memories,
};

/// Cycles of reset before cycle 0; nothing is compared in them.
pub const RESET_CYCLES: usize = 4;

impl Lockstep {
    /// Runs a stimulus from reset. `observe` sees the inputs and the model's compared part of every cycle that was found equal.
    /// `stop` is looked at between chunks.
    pub fn run(
        &mut self,
        stimulus: &mut dyn Stimulus,
        plan: &RunPlan,
        observe: &mut dyn FnMut(&[u8], &[u8]),
        stop: &AtomicBool,
    ) -> RunOutcome {
        let mut observe = |inputs: &[u8], compared: &[u8]| {
            observe(inputs, compared);
            true
        };
        let mut trail = Trail::new(self);
        Run::new(self, &mut trail, Source::Recorded(stimulus), *plan, &mut observe).run(stop)
    }

    /// Runs each side in an environment of its own, from reset until both environments end the run. `observe` sees the inputs and the model's compared
    /// part of every cycle that was found equal, and says whether the cycle made progress (see [`RunPlan::idle_limit`]). `stop` is looked at
    /// between chunks.
    pub fn run_reactive(
        &mut self,
        rtl: &mut dyn Environment,
        model: &mut dyn Environment,
        plan: &RunPlan,
        observe: &mut dyn FnMut(&[u8], &[u8]) -> bool,
        stop: &AtomicBool,
    ) -> RunOutcome {
        let mut trail = Trail::new(self);
        self.go_on(&mut trail, rtl, model, plan, observe, stop)
    }

    /// As [`Lockstep::run_reactive`], in stretches: the first one begins at reset, each further one where the one before has ended, without a cycle
    /// between them. After a failure there is none.
    pub fn go_on(
        &mut self,
        trail: &mut Trail,
        rtl: &mut dyn Environment,
        model: &mut dyn Environment,
        plan: &RunPlan,
        observe: &mut dyn FnMut(&[u8], &[u8]) -> bool,
        stop: &AtomicBool,
    ) -> RunOutcome {
        Run::new(self, trail, Source::Reactive { rtl, model }, *plan, observe).run(stop)
    }
}

/// Where the inputs of both sides come from.
pub(crate) enum Source<'a> {
    /// One stimulus: the RTL gets what the model got.
    Recorded(&'a mut dyn Stimulus),
    /// An environment for each side.
    Reactive {
        /// The RTL's.
        rtl: &'a mut dyn Environment,
        /// The model's.
        model: &'a mut dyn Environment,
    },
}

impl Source<'_> {
    /// Words that the model's environment takes the values of, after a cycle with this compared part.
    pub(crate) fn lost_in_model(&mut self, compared: &[u8]) -> &[LostWord] {
        match self {
            Self::Recorded(_) => &[],
            Self::Reactive { model, .. } => model.lost(compared),
        }
    }

    /// The same of the RTL's environment.
    pub(crate) fn lost_in_rtl(&mut self, compared: &[u8]) -> &[LostWord] {
        match self {
            Self::Recorded(_) => &[],
            Self::Reactive { rtl, .. } => rtl.lost(compared),
        }
    }
}

/// Sees every cycle that was found equal; gives whether it made progress.
pub(crate) type Observe<'a> = dyn FnMut(&[u8], &[u8]) -> bool + 'a;

/// A run in progress. The next cycle to compare is the number of cycles found equal.
pub(crate) struct Run<'a> {
    pub side: &'a mut Lockstep,
    pub source: Source<'a>,
    plan: RunPlan,
    observe: &'a mut Observe<'a>,
    pub trail: &'a mut Trail,
    pub input_bytes: usize,
    pub output_bytes: usize,
    /// Cycles in a row without progress.
    idle: u64,
    pub outcome: RunOutcome,
}

/// What the model did of a chunk.
pub(crate) struct Ahead {
    /// The first cycle that it has not done.
    pub end: u64,
    /// There are no further inputs.
    pub ended: bool,
    /// It has panicked in that cycle.
    panic: Option<String>,
}

impl Ahead {
    /// Whether it can go on.
    pub(crate) fn goes_on(&self) -> bool {
        !self.ended && self.panic.is_none()
    }
}

/// Why the RTL follows no further.
pub(crate) enum Stop {
    /// The RTL has settled in this cycle and stands in front of its edge; the trail has what it does.
    Differ(Vec<Difference>),
    /// The environment of this side has ended, the other's has not.
    Ended(Side),
    /// The RTL failed.
    Failed(RtlFailure),
    Hung,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        side: &'a mut Lockstep,
        trail: &'a mut Trail,
        source: Source<'a>,
        plan: RunPlan,
        observe: &'a mut Observe<'a>,
    ) -> Self {
        let cycles = trail.cycles.unwrap_or(0);
        let slow_compares = trail.slow_compares;
        let declaration = side.comparator.declaration();
        Self {
            source,
            plan,
            observe,
            trail,
            input_bytes: declaration.input_bytes,
            output_bytes: declaration.output_bytes,
            idle: 0,
            outcome: RunOutcome {
                cycles,
                cause: None,
                capture: None,
                events: Events::new(),
                spreads: Spreads::new(),
                slow_compares,
            },
            side,
        }
    }

    /// From reset, or from where the trail ends, to the end.
    pub(crate) fn run(mut self, stop: &AtomicBool) -> RunOutcome {
        let ready = if self.trail.cycles.is_none() { self.reset() } else { Ok(()) };
        match ready {
            Ok(()) => self.compare(stop),
            Err(failure) => self.outcome.cause = Some(Cause::Assertion { cycle: 0, failure }),
        }
        self.trail.cycles = Some(self.outcome.cycles);
        self.trail.slow_compares = self.outcome.slow_compares;
        self.outcome.events = self.trail.totals.by_name();
        self.outcome.spreads = self.trail.totals.spreads();
        self.outcome
    }

    /// Random inputs under reset, on both sides; the comparison begins after it. Memories are filled before the last of these
    /// cycles: until reset has been clocked in, registers of any value may write them.
    fn reset(&mut self) -> Result<(), RtlFailure> {
        let declaration = self.side.comparator.declaration().clone();
        let seed = self.plan.seed;
        let Some(reset) = declaration.signal("rst_ni") else {
            fill_memories(&mut *self.side.twin, &mut self.side.rtl, seed);
            return Ok(());
        };
        let reset = reset.field.offset;
        let [mut record, mut model] = [(); 2].map(|()| Records::zeroed(declaration.record_bytes, 1));
        let mut rng = Rng::new(seed, "inputs under reset");
        for cycle in 0..RESET_CYCLES {
            if cycle + 1 == RESET_CYCLES {
                fill_memories(&mut *self.side.twin, &mut self.side.rtl, seed);
            }
            for signal in declaration.signals.iter().filter(|s| s.role == Role::Input) {
                randomise(&mut rng, &signal.field, record.get_mut(0));
            }
            record.get_mut(0)[reset] = 0;
            self.side.rtl.cycles(record.all_mut(), 1).1?;
            let (inputs, compared) = model.get_mut(0).split_at_mut(self.input_bytes);
            inputs.copy_from_slice(&record.get(0)[..self.input_bytes]);
            self.side.twin.cycle(inputs, compared);
        }
        Ok(())
    }

    fn compare(&mut self, stop: &AtomicBool) {
        loop {
            if stop.load(Ordering::Relaxed) {
                return self.end(Cause::Interrupted, None);
            }
            let before = self.outcome.cycles;
            let wanted = (self.plan.cycles - before).min(CHUNK as u64).min(Trail::until_turn(before));
            let ahead = self.run_ahead(before, wanted);
            let ended = ahead.ended;
            if !self.follow_up(ahead) {
                return;
            }
            let now = self.outcome.cycles;
            let over = ended || now == self.plan.cycles;
            let due = before / self.plan.memory_every != now / self.plan.memory_every;
            let equal = !(over || due) || self.compare_memories();
            if over || !equal {
                return;
            }
        }
    }

    /// Runs the model for up to `wanted` cycles from `cycle` on.
    fn run_ahead(&mut self, cycle: u64, wanted: u64) -> Ahead {
        let mut ahead = Ahead { end: cycle, ended: false, panic: None };
        // The model must not take the harness down with it: the waveform is wanted most when it panics.
        let run = catch_unwind(AssertUnwindSafe(|| {
            while ahead.end < cycle + wanted && !ahead.ended {
                match self.step_model(ahead.end) {
                    true => ahead.end += 1,
                    false => ahead.ended = true,
                }
            }
        }));
        ahead.panic = run.err().map(|panic| panic_message(&*panic));
        ahead
    }

    /// One cycle of the model; false when there are no further inputs.
    fn step_model(&mut self, cycle: u64) -> bool {
        if !self.drive_model(cycle) {
            return false;
        }
        let (inputs, compared) = self.trail.cycle_mut(cycle).split_at_mut(self.input_bytes);
        self.side.twin.cycle(inputs, compared);
        lose_in_twin(&mut *self.side.twin, self.source.lost_in_model(compared));
        true
    }

    /// The model's inputs of a cycle; false when there are none.
    fn drive_model(&mut self, cycle: u64) -> bool {
        let (input_bytes, output_bytes) = (self.input_bytes, self.output_bytes);
        let model = match &mut self.source {
            Source::Recorded(stimulus) => return stimulus.next(&mut self.trail.cycle_mut(cycle)[..input_bytes]),
            Source::Reactive { model, .. } => model,
        };
        let Some(before) = cycle.checked_sub(1) else {
            let inputs = &mut self.trail.cycle_mut(cycle)[..input_bytes];
            inputs.fill(0);
            return model.drive(None, inputs);
        };
        let (before, now) = self.trail.pair_mut(before, cycle);
        let (inputs, compared) = before.split_at(input_bytes);
        now[..input_bytes].copy_from_slice(inputs);
        model.drive(Some(&compared[..output_bytes]), &mut now[..input_bytes])
    }

    /// Lets the RTL follow a chunk. Returns whether the sides are equal and may go on.
    fn follow_up(&mut self, ahead: Ahead) -> bool {
        // What observes is no part of the RTL: it may panic like the model.
        let followed = catch_unwind(AssertUnwindSafe(|| self.follow(&ahead)));
        let cycle = self.outcome.cycles;
        let stop = match followed {
            Err(panic) => {
                self.end(Cause::Panicked { cycle, message: panic_message(&*panic) }, None);
                return false;
            }
            Ok(None) => match ahead.panic {
                None => return true,
                Some(message) => {
                    self.end(Cause::Panicked { cycle, message }, None);
                    return false;
                }
            },
            Ok(Some(stop)) => stop,
        };
        match stop {
            Stop::Hung => self.end(Cause::Hung { cycle: cycle - 1, since: cycle - self.idle }, None),
            Stop::Ended(side) => {
                let (differences, memories, blame) = (Vec::new(), Vec::new(), Blame::of_environment(&[]));
                let divergence = Divergence { cycle, differences, memories, ended: Some(side), blame };
                self.end(Cause::Diverged(divergence), None);
            }
            Stop::Differ(differences) => {
                let cause = self.diverged(differences);
                let behind = self.behind_difference(&ahead);
                self.end(cause, Some(behind));
            }
            Stop::Failed(failure) => {
                let behind = if failure.fatal { None } else { Some(self.behind_failure(&ahead)) };
                // The cycle whose edge failed was sampled and equal.
                self.end(Cause::Assertion { cycle: cycle.saturating_sub(1), failure }, behind);
            }
        }
        false
    }

    /// The RTL's cycles up to where the model is, and what they were.
    fn follow(&mut self, ahead: &Ahead) -> Option<Stop> {
        let (equal, stop) = match self.source {
            Source::Recorded(_) => self.follow_recorded(ahead.end),
            Source::Reactive { .. } => self.follow_reactive(ahead),
        };
        while self.outcome.cycles < equal {
            let record = self.trail.cycle(self.outcome.cycles);
            let (inputs, compared) = record.split_at(self.input_bytes);
            self.idle = if (self.observe)(inputs, compared) { 0 } else { self.idle + 1 };
            self.trail.add_events(self.outcome.cycles);
            self.outcome.cycles += 1;
            if self.plan.idle_limit.is_some_and(|limit| self.idle >= limit.max(1)) {
                return Some(Stop::Hung);
            }
        }
        stop
    }

    /// The RTL on the inputs that the model got, up to `end`: up to where it is equal, and why no further.
    fn follow_recorded(&mut self, end: u64) -> (u64, Option<Stop>) {
        let mut cycle = self.outcome.cycles;
        while cycle < end {
            let (records, actual) = self.trail.from(cycle);
            let followed = self.side.rtl.follow(records, (end - cycle) as usize, actual);
            cycle += followed.done as u64;
            let mut result = followed.result;
            if followed.differs {
                let (records, actual) = self.trail.from(cycle);
                actual[..self.input_bytes].copy_from_slice(&records[..self.input_bytes]);
                let differences = self.differences(cycle);
                if !differences.is_empty() {
                    return (cycle, Some(Stop::Differ(differences)));
                }
                result = self.side.rtl.edge();
                cycle += 1;
            }
            if let Err(failure) = result {
                return (cycle, Some(Stop::Failed(failure)));
            }
        }
        (cycle, None)
    }

    /// The RTL in its own environment, as far as the model is.
    fn follow_reactive(&mut self, ahead: &Ahead) -> (u64, Option<Stop>) {
        let mut cycle = self.outcome.cycles;
        while cycle < ahead.end {
            if !self.drive_rtl(cycle) {
                return (cycle, Some(Stop::Ended(Side::Rtl)));
            }
            let (expected, own) = self.trail.from(cycle);
            let comparator = &self.side.comparator;
            if expected[..self.input_bytes] != own[..self.input_bytes] {
                let mut differences = comparator.input_differences(expected, own);
                if !differences.is_empty() {
                    // Should it fail, its edge will say so.
                    let _ = self.side.rtl.settle(own);
                    differences.extend(comparator.differences(expected, own));
                    return (cycle, Some(Stop::Differ(differences)));
                }
            }
            let followed = self.side.rtl.follow_with(own, expected);
            let mut result = followed.result;
            if followed.differs {
                let differences = self.differences(cycle);
                if !differences.is_empty() {
                    return (cycle, Some(Stop::Differ(differences)));
                }
                result = self.side.rtl.edge();
            }
            cycle += if followed.differs { 1 } else { followed.done as u64 };
            if let Err(failure) = result {
                return (cycle, Some(Stop::Failed(failure)));
            }
            // The model's record: where it means something the RTL's is equal.
            let compared = &self.trail.cycle(cycle - 1)[self.input_bytes..];
            lose_in_rtl(&mut self.side.rtl, self.source.lost_in_rtl(compared));
        }
        let goes_on = ahead.ended && self.drive_rtl(cycle);
        (cycle, goes_on.then_some(Stop::Ended(Side::Model)))
    }

    /// The RTL's inputs of a cycle from its environment; false when there are none.
    fn drive_rtl(&mut self, cycle: u64) -> bool {
        let Source::Reactive { rtl, .. } = &mut self.source else { return false };
        let (inputs, compared) = self.trail.rtl.get_mut(0).split_at_mut(self.input_bytes);
        rtl.drive((cycle > 0).then_some(&compared[..self.output_bytes]), inputs)
    }

    /// In what the model's cycle differs from the RTL's, of which all is in the trail.
    fn differences(&mut self, cycle: u64) -> Vec<Difference> {
        self.outcome.slow_compares += 1;
        self.side.comparator.differences(self.trail.cycle(cycle), self.trail.rtl.get(0))
    }

    /// Compares all memories whole. Returns whether they are equal.
    fn compare_memories(&mut self) -> bool {
        let memories = differing_memories(&mut *self.side.twin, &mut self.side.rtl);
        let Some(first) = memories.first() else { return true };
        let blame = Blame { block: first.block.into(), ..Blame::default() };
        let (cycle, differences) = (self.outcome.cycles, Vec::new());
        let divergence = Divergence { cycle, differences, memories, ended: None, blame };
        self.end(Cause::Diverged(divergence), None);
        false
    }
}

/// Random bits in every element of an input, within its width.
fn randomise(rng: &mut Rng, field: &gpurf_blocks::Field, record: &mut [u8]) {
    for element in 0..field.count {
        let start = field.offset + element * field.elem_bytes;
        if field.elem_bytes > 8 {
            for chunk in record[start..start + field.elem_bytes].chunks_exact_mut(8) {
                chunk.copy_from_slice(&rng.next_u64().to_le_bytes());
            }
        } else {
            let value = rng.next_u64() & (u64::MAX >> (64 - field.bits));
            record[start..start + field.elem_bytes].copy_from_slice(&value.to_le_bytes()[..field.elem_bytes]);
        }
    }
}

pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("the model panicked").to_owned()
}
