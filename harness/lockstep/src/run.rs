//! Runs the two sides.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use gpurf_blocks::Role;
use verilated::Failure;

use crate::blame::{self, Blame};
use crate::events::EventTotals;
use crate::memory::differing_memories;
use crate::{
    Capture, Cause, Difference, Divergence, Environment, Events, Lockstep, Outcome, Plan, Records, Rng, Side, Stimulus,
    fill_memories,
};

/// Cycles of reset before cycle 0; nothing is compared in them.
pub const RESET_CYCLES: usize = 4;
/// Cycles kept before a difference.
const HISTORY: usize = 256;
/// Cycles run on behind a difference.
const RUN_ON: usize = 32;
/// Cycles that one side runs before the other follows: each side's code and data stay in the processor's caches.
const CHUNK: usize = 64;
/// Records in the flight recorder: the history, and a chunk in front of it.
const RING: usize = (HISTORY + RUN_ON).next_multiple_of(CHUNK) + CHUNK;

/// Where the inputs of both sides come from.
pub(crate) enum Source<'a> {
    /// One stimulus: the model gets what the RTL got.
    Recorded(&'a mut dyn Stimulus),
    /// An environment for each side.
    Reactive {
        /// The RTL's.
        rtl: &'a mut dyn Environment,
        /// The model's.
        model: &'a mut dyn Environment,
    },
}

/// Sees every cycle that was found equal; gives whether it made progress.
type Observe<'a> = dyn FnMut(&[u8], &[u8]) -> bool + 'a;

/// A run in progress. Cycle `c` of the RTL is in record `c % RING` of the ring. The next cycle to compare is the number of cycles found equal.
pub(crate) struct Run<'a> {
    side: &'a mut Lockstep,
    source: Source<'a>,
    plan: Plan,
    observe: &'a mut Observe<'a>,
    ring: Records,
    /// The RTL's inputs of the cycle before, for its environment.
    driven: Records,
    /// The model's cycle.
    model: Records,
    input_bytes: usize,
    totals: EventTotals,
    /// Cycles in a row without progress.
    idle: u64,
    outcome: Outcome,
}

/// What the RTL did of a chunk.
struct Ahead {
    /// Cycles it ran.
    sampled: usize,
    /// There are no further inputs.
    ended: bool,
    result: Result<(), Failure>,
}

/// Why the model follows no further.
enum Stop {
    Differ(Vec<Difference>),
    /// The environment of this side has ended, the other's has not.
    Ended(Side),
    Hung,
}

impl<'a> Run<'a> {
    pub(crate) fn new(side: &'a mut Lockstep, source: Source<'a>, plan: Plan, observe: &'a mut Observe<'a>) -> Self {
        let declaration = side.comparator.declaration();
        let (size, input_bytes) = (declaration.record_bytes, declaration.input_bytes);
        Self {
            source,
            plan,
            observe,
            ring: Records::zeroed(size, RING),
            driven: Records::zeroed(input_bytes, 1),
            model: Records::zeroed(size, 1),
            input_bytes,
            totals: EventTotals::new(declaration),
            idle: 0,
            outcome: Outcome { cycles: 0, cause: None, capture: None, events: Events::new(), slow_compares: 0 },
            side,
        }
    }

    /// From reset to the end.
    pub(crate) fn run(mut self, stop: &AtomicBool) -> Outcome {
        match self.reset() {
            Ok(()) => self.compare(stop),
            Err(failure) => self.outcome.cause = Some(Cause::Assertion { cycle: 0, failure }),
        }
        self.outcome.events = self.totals.by_name();
        self.outcome
    }

    /// Random inputs under reset, on both sides; the comparison begins behind it. Memories are filled before the last of these
    /// cycles: until reset has been clocked in, registers of any value may write them.
    fn reset(&mut self) -> Result<(), Failure> {
        let declaration = self.side.comparator.declaration().clone();
        let seed = self.plan.seed;
        let Some(reset) = declaration.signal("rst_ni") else {
            fill_memories(&mut *self.side.twin, &mut self.side.rtl, seed);
            return Ok(());
        };
        let reset = reset.field.offset;
        let mut record = Records::zeroed(declaration.record_bytes, 1);
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
            let (inputs, compared) = self.model.get_mut(0).split_at_mut(self.input_bytes);
            inputs.copy_from_slice(&record.get(0)[..self.input_bytes]);
            self.side.twin.cycle(inputs, compared);
        }
        Ok(())
    }

    fn compare(&mut self, stop: &AtomicBool) {
        loop {
            if stop.load(Ordering::Relaxed) {
                return self.end(Cause::Interrupted, Records::new(self.ring.size()));
            }
            let before = self.outcome.cycles;
            let ahead = self.run_ahead(before, (self.plan.cycles - before).min(CHUNK as u64) as usize);
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

    /// Runs the RTL for up to `wanted` cycles from `cycle` on, the first of a chunk.
    fn run_ahead(&mut self, cycle: u64, wanted: usize) -> Ahead {
        if let Source::Recorded(stimulus) = &mut self.source {
            // The whole chunk in one call: what recorded inputs are for.
            let (start, size) = (place(cycle), self.ring.size());
            let records = &mut self.ring.all_mut()[start * size..(start + wanted) * size];
            let given = records
                .chunks_exact_mut(size)
                .map_while(|r| stimulus.next(&mut r[..self.input_bytes]).then_some(()))
                .count();
            let (sampled, result) = self.side.rtl.cycles(records, given);
            return Ahead { sampled, ended: given < wanted, result };
        }
        let mut ahead = Ahead { sampled: 0, ended: false, result: Ok(()) };
        while ahead.sampled < wanted && ahead.result.is_ok() && !ahead.ended {
            match self.step_rtl(cycle + ahead.sampled as u64) {
                Some((sampled, result)) => {
                    ahead.sampled += sampled;
                    ahead.result = result;
                }
                None => ahead.ended = true,
            }
        }
        ahead
    }

    /// One cycle of the RTL; `None` when there are no further inputs.
    fn step_rtl(&mut self, cycle: u64) -> Option<(usize, Result<(), Failure>)> {
        let (at, size) = (place(cycle), self.ring.size());
        let given = match &mut self.source {
            Source::Recorded(stimulus) => stimulus.next(&mut self.ring.get_mut(at)[..self.input_bytes]),
            Source::Reactive { rtl, .. } => {
                let previous = cycle.checked_sub(1).map(|c| &self.ring.get(place(c))[self.input_bytes..]);
                let given = rtl.drive(previous, self.driven.get_mut(0));
                self.ring.get_mut(at)[..self.input_bytes].copy_from_slice(self.driven.get(0));
                given
            }
        };
        given.then(|| self.side.rtl.cycles(&mut self.ring.all_mut()[at * size..(at + 1) * size], 1))
    }

    /// Lets the model follow a chunk. Returns whether the sides are equal and may go on.
    fn follow_up(&mut self, ahead: Ahead) -> bool {
        let end = self.outcome.cycles + ahead.sampled as u64;
        let over = ahead.ended || ahead.result.as_ref().is_err_and(|f| f.fatal);
        // The model must not take the harness down with it: the waveform is wanted most when it panics.
        let followed = catch_unwind(AssertUnwindSafe(|| self.follow(end, ahead.ended)));
        let cycle = self.outcome.cycles;
        let mut model = Records::new(self.ring.size());
        let cause = match followed {
            Err(panic) => Cause::Panicked { cycle, message: panic_message(&*panic) },
            Ok(Some(Stop::Hung)) => Cause::Hung { cycle: cycle - 1, since: cycle - self.idle },
            Ok(Some(Stop::Ended(side))) => {
                let (differences, memories, blame) = (Vec::new(), Vec::new(), Blame::of_environment(&[]));
                Cause::Diverged(Divergence { cycle, differences, memories, ended: Some(side), blame })
            }
            Ok(Some(Stop::Differ(differences))) => {
                let cause = self.diverged(differences);
                model.push(self.model.get(0));
                self.run_on(end, over, &mut model);
                cause
            }
            Ok(None) => {
                let Err(failure) = ahead.result else { return true };
                self.run_on(end, over, &mut model);
                // The cycle whose edge failed was sampled and equal.
                Cause::Assertion { cycle: cycle.saturating_sub(1), failure }
            }
        };
        self.end(cause, model);
        false
    }

    /// The model's cycles up to `end`. `ended`: the RTL has no inputs there.
    fn follow(&mut self, end: u64, ended: bool) -> Option<Stop> {
        while self.outcome.cycles < end {
            let cycle = self.outcome.cycles;
            if !self.step_model(cycle) {
                return Some(Stop::Ended(Side::Model));
            }
            let differences = self.differences(cycle);
            if !differences.is_empty() {
                return Some(Stop::Differ(differences));
            }
            self.totals.add(self.model.get(0));
            let (inputs, compared) = self.model.get(0).split_at(self.input_bytes);
            self.idle = if (self.observe)(inputs, compared) { 0 } else { self.idle + 1 };
            self.outcome.cycles += 1;
            if self.plan.idle_limit.is_some_and(|limit| self.idle >= limit.max(1)) {
                return Some(Stop::Hung);
            }
        }
        let goes_on = ended && matches!(self.source, Source::Reactive { .. }) && self.drive_model(end);
        goes_on.then_some(Stop::Ended(Side::Rtl))
    }

    /// One cycle of the model; false when there are no further inputs.
    fn step_model(&mut self, cycle: u64) -> bool {
        let given = self.drive_model(cycle);
        if given {
            let (inputs, compared) = self.model.get_mut(0).split_at_mut(self.input_bytes);
            self.side.twin.cycle(inputs, compared);
        }
        given
    }

    /// The model's inputs of a cycle; false when there are none.
    fn drive_model(&mut self, cycle: u64) -> bool {
        let (inputs, compared) = self.model.get_mut(0).split_at_mut(self.input_bytes);
        match &mut self.source {
            Source::Recorded(_) => {
                inputs.copy_from_slice(&self.ring.get(place(cycle))[..self.input_bytes]);
                true
            }
            Source::Reactive { model, .. } if cycle == 0 => {
                // Reset has left its inputs here.
                inputs.fill(0);
                model.drive(None, inputs)
            }
            Source::Reactive { model, .. } => model.drive(Some(compared), inputs),
        }
    }

    /// In what the model's cycle differs from the RTL's.
    fn differences(&mut self, cycle: u64) -> Vec<Difference> {
        let comparator = &self.side.comparator;
        let (model, rtl) = (self.model.get(0), self.ring.get(place(cycle)));
        let mut differences = Vec::new();
        if matches!(self.source, Source::Reactive { .. }) && model[..self.input_bytes] != rtl[..self.input_bytes] {
            differences = comparator.input_differences(model, rtl);
        }
        if !comparator.surely_equal(model, rtl) {
            self.outcome.slow_compares += 1;
            differences.extend(comparator.differences(model, rtl));
        }
        differences
    }

    /// The first differing cycle.
    fn diverged(&self, differences: Vec<Difference>) -> Cause {
        let cycle = self.outcome.cycles;
        let comparator = &self.side.comparator;
        let inputs: Vec<usize> = differences.iter().map(|d| d.signal).filter(|&s| comparator.is_input(s)).collect();
        // Everything before was equal, so nothing but the environments can make inputs differ.
        let blame = if inputs.is_empty() {
            blame::find(comparator, self.model.get(0), self.ring.get(place(cycle)))
        } else {
            Blame::of_environment(&inputs)
        };
        Cause::Diverged(Divergence { cycle, differences, memories: Vec::new(), ended: None, blame })
    }

    /// After a failure both sides go on alone for some cycles, each with its own environment. `model` has what the model has done of
    /// the cycles that are not known to be equal, `end` is the first cycle the RTL has not done; `over`: nor can it.
    fn run_on(&mut self, mut end: u64, over: bool, model: &mut Records) {
        let first = self.outcome.cycles;
        let last = first + RUN_ON as u64;
        // The ring is a circle; a chunk never crosses its end, but the run-on may.
        while end <= last && !over {
            let Some((sampled, result)) = self.step_rtl(end) else { break };
            end += sampled as u64;
            if sampled == 0 || result.is_err_and(|f| f.fatal) {
                break;
            }
        }
        for cycle in first + model.len() as u64..end.min(last + 1) {
            if !catch_unwind(AssertUnwindSafe(|| self.step_model(cycle))).unwrap_or(false) {
                break;
            }
            model.push(self.model.get(0));
        }
    }

    /// Ends the run: keeps the cycles before, in which both sides are equal, and those in `model` behind them.
    fn end(&mut self, cause: Cause, model: Records) {
        let (next, behind) = (self.outcome.cycles, model.len() as u64);
        let first_cycle = next - (HISTORY as u64).min(next).min(RING as u64 - behind.max(1));
        let mut rtl = Records::new(self.ring.size());
        (first_cycle..next).for_each(|cycle| rtl.push(self.ring.get(place(cycle))));
        let mut both = rtl.clone();
        for (index, cycle) in (next..next + behind).enumerate() {
            rtl.push(self.ring.get(place(cycle)));
            both.push(model.get(index));
        }
        self.outcome.capture = Some(Capture { first_cycle, rtl, model: both });
        self.outcome.cause = Some(cause);
    }

    /// Compares all memories whole. Returns whether they are equal.
    fn compare_memories(&mut self) -> bool {
        let memories = differing_memories(&mut *self.side.twin, &mut self.side.rtl);
        let Some(first) = memories.first() else { return true };
        let blame = Blame { block: first.block.into(), instance: None, signals: Vec::new() };
        let (cycle, differences) = (self.outcome.cycles, Vec::new());
        let divergence = Divergence { cycle, differences, memories, ended: None, blame };
        self.end(Cause::Diverged(divergence), Records::new(self.ring.size()));
        false
    }
}

/// The record of a cycle.
fn place(cycle: u64) -> usize {
    (cycle % RING as u64) as usize
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

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("the model panicked").to_owned()
}
