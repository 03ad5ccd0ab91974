//! Runs the two sides.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use gpurf_blocks::Role;
use verilated::{Instance, RtlFailure};

use crate::ahead::{AHEAD, Queue};
use crate::blame::Blame;
use crate::memory::{differing_memories, lose_in_rtl};
use crate::model::{Feed, Model};
use crate::registers::{CopyError, copy_state};
use crate::trail::Trail;
use crate::watch::{Equal, Observe, Watch};
use crate::{
    Cause, Comparator, Difference, Divergence, Environment, EventTotals, Events, Lockstep, LostWord, Records, Rng,
    RunOutcome, RunPlan, Side, Spreads, Stimulus, fill_memories,
};

/// Cycles of reset before cycle 0; nothing is compared in them.
pub const RESET_CYCLES: usize = 4;

/// Bytes of the stack of the model's thread.
const STACK: usize = 16 << 20;

impl Lockstep {
    /// Runs a stimulus from reset. `observe` sees the inputs and the model's compared part of every cycle that was found equal.
    /// `stop` is looked at between chunks.
    pub fn run(
        &mut self,
        stimulus: &mut (dyn Stimulus + Send),
        plan: &RunPlan,
        observe: &mut (dyn FnMut(&[u8], &[u8]) + Send),
        stop: &AtomicBool,
    ) -> RunOutcome {
        let mut trail = Trail::new(self);
        self.run_on(&mut trail, stimulus, plan, observe, stop)
    }

    /// As [`Lockstep::run`], in stretches: the first one begins at reset, each further one where the one before has ended. After a failure there is none.
    pub fn run_on(
        &mut self,
        trail: &mut Trail,
        stimulus: &mut (dyn Stimulus + Send),
        plan: &RunPlan,
        observe: &mut (dyn FnMut(&[u8], &[u8]) + Send),
        stop: &AtomicBool,
    ) -> RunOutcome {
        Run::new(self, trail, Feed::Recorded(stimulus), None, *plan, observe, stop).run()
    }

    /// Runs each side in an environment of its own, from reset until both environments end the run. `observe` sees the inputs and the model's compared
    /// part of every cycle that was found equal. `stop` is looked at between chunks.
    pub fn run_reactive(
        &mut self,
        rtl: &mut dyn Environment,
        model: &mut (dyn Environment + Send),
        plan: &RunPlan,
        observe: &mut (dyn FnMut(&[u8], &[u8]) + Send),
        stop: &AtomicBool,
    ) -> RunOutcome {
        let mut trail = Trail::new(self);
        self.go_on(&mut trail, rtl, model, plan, observe, stop)
    }

    /// As [`Lockstep::run_reactive`], in stretches: the first one begins at reset, each further one where the one before has ended, without a cycle
    /// between them. After a failure there is none.
    ///
    /// After a failure the model's environment may be further than the RTL's, which has got as far as the failure's cycles are kept.
    pub fn go_on(
        &mut self,
        trail: &mut Trail,
        rtl: &mut dyn Environment,
        model: &mut (dyn Environment + Send),
        plan: &RunPlan,
        observe: &mut (dyn FnMut(&[u8], &[u8]) + Send),
        stop: &AtomicBool,
    ) -> RunOutcome {
        Run::new(self, trail, Feed::Reactive(model), Some(rtl), *plan, observe, stop).run()
    }
}

impl Lockstep {
    /// Gives the RTL, which has not run yet, the state of the model, in whatever cycle that stands. The run continues with a trail of [`Trail::met`].
    /// The RTL has to be built with [`verilated::Options::state`].
    ///
    /// # Errors
    /// Registers that nothing of the model shows; a failure of the RTL.
    pub fn meet(&mut self) -> Result<(), CopyError> {
        let declaration = self.comparator.declaration();
        let mut record = Records::zeroed(declaration.record_bytes, 1);
        // What the RTL does by itself when it begins is done in reset.
        for _ in 0..RESET_CYCLES {
            self.rtl.cycles(record.all_mut(), 1).1.map_err(CopyError::Rtl)?;
        }
        copy_state(&*self.twin, &mut self.rtl, &self.comparator)
    }
}

/// A run in progress: the model goes ahead, the RTL follows.
pub(crate) struct Run<'a> {
    pub model: Model<'a>,
    pub rtl: Follower<'a>,
    /// Nothing while two threads run: their queue has it.
    watch: Option<Watch<'a>>,
}

/// The RTL's side, and what is known of the run. The next cycle to compare is the number of cycles found equal.
pub(crate) struct Follower<'a> {
    pub rtl: &'a mut Instance,
    pub comparator: &'a Comparator,
    /// `None`: it gets the model's inputs.
    pub environment: Option<&'a mut dyn Environment>,
    plan: RunPlan,
    /// The model's records are compared by way of a copy.
    mirrored: bool,
    pub trail: &'a mut Trail,
    pub input_bytes: usize,
    pub output_bytes: usize,
    /// Cycles in a row without progress.
    idle: u64,
    /// Raised when the user ends the run.
    pub stop: &'a AtomicBool,
    pub outcome: RunOutcome,
}

/// Why the RTL follows no further.
pub(crate) enum Stop {
    /// The RTL has settled in this cycle and stands in front of its edge; the trail has what it does.
    Differ(Vec<Difference>),
    /// The environment of this side has ended, the other's has not.
    Ended(Side),
    /// The RTL failed.
    Failed(RtlFailure),
    /// The model panicked, or an environment or what observes did.
    Panicked(String),
    Hung,
    Interrupted,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        side: &'a mut Lockstep,
        trail: &'a mut Trail,
        feed: Feed<'a>,
        environment: Option<&'a mut dyn Environment>,
        plan: RunPlan,
        observe: &'a mut Observe<'a>,
        stop: &'a AtomicBool,
    ) -> Self {
        let cycles = trail.cycles.unwrap_or(0);
        let slow_compares = trail.slow_compares;
        let Lockstep { twin, rtl, comparator } = side;
        let declaration = comparator.declaration();
        let (input_bytes, output_bytes) = (declaration.input_bytes, declaration.output_bytes);
        let outcome = RunOutcome {
            cycles,
            cause: None,
            capture: None,
            events: Events::new(),
            spreads: Spreads::new(),
            slow_compares,
        };
        let history = trail.history.take();
        let totals = trail.totals.take().unwrap_or_else(|| EventTotals::new(declaration));
        let mirrored = plan.threads > 1 && environment.is_some();
        let lines = mirrored.then(|| trail.lines.clone());
        Self {
            watch: Some(Watch::new(observe, totals, input_bytes, cycles)),
            model: Model::new(&mut **twin, feed, plan, cycles, trail.last(), lines, history),
            rtl: Follower {
                rtl,
                comparator,
                environment,
                plan,
                mirrored,
                trail,
                input_bytes,
                output_bytes,
                idle: 0,
                stop,
                outcome,
            },
        }
    }

    /// From reset, or from where the trail ends, to the end.
    pub(crate) fn run(mut self) -> RunOutcome {
        let ready = if self.rtl.trail.cycles.is_none() { self.reset() } else { Ok(()) };
        match ready {
            Ok(()) => self.compare(),
            Err(failure) => self.rtl.outcome.cause = Some(Cause::Assertion { cycle: 0, failure }),
        }
        let Follower { trail, mut outcome, .. } = self.rtl;
        trail.history = self.model.history;
        trail.cycles = Some(outcome.cycles);
        trail.slow_compares = outcome.slow_compares;
        if let Some(Watch { totals, .. }) = self.watch {
            outcome.events = totals.by_name();
            outcome.spreads = totals.spreads();
            trail.totals = Some(totals);
        }
        outcome
    }

    /// Random inputs under reset, on both sides; the comparison begins after it. Memories are filled before the last of these
    /// cycles: until reset has been clocked in, registers of any value may write them.
    fn reset(&mut self) -> Result<(), RtlFailure> {
        let declaration = self.rtl.comparator.declaration();
        let (seed, input_bytes) = (self.rtl.plan.seed, self.rtl.input_bytes);
        let (twin, rtl) = (&mut *self.model.twin, &mut *self.rtl.rtl);
        let Some(reset) = declaration.signal("rst_ni") else {
            fill_memories(twin, rtl, seed);
            return Ok(());
        };
        let reset = reset.field.offset;
        let [mut record, mut model] = [(); 2].map(|()| Records::zeroed(declaration.record_bytes, 1));
        let mut rng = Rng::new(seed, "inputs under reset");
        for cycle in 0..RESET_CYCLES {
            if cycle + 1 == RESET_CYCLES {
                fill_memories(twin, rtl, seed);
            }
            for signal in declaration.signals.iter().filter(|s| s.role == Role::Input) {
                randomise(&mut rng, &signal.field, record.get_mut(0));
            }
            record.get_mut(0)[reset] = 0;
            rtl.cycles(record.all_mut(), 1).1?;
            let (inputs, compared) = model.get_mut(0).split_at_mut(input_bytes);
            inputs.copy_from_slice(&record.get(0)[..input_bytes]);
            twin.cycle(inputs, compared);
        }
        Ok(())
    }

    fn compare(&mut self) {
        loop {
            // Up to a cycle before which both sides wait.
            let reached = if self.rtl.plan.threads > 1 { self.side_by_side() } else { self.in_turns() };
            if let Err(stop) = reached {
                return self.stopped(stop);
            }
            let over = self.rtl.is_over();
            let equal = !(over || self.rtl.is_due()) || self.compare_memories();
            if over || !equal {
                return;
            }
        }
    }

    /// The model runs a chunk, the RTL follows, and so on.
    fn in_turns(&mut self) -> Result<(), Stop> {
        loop {
            self.rtl.check()?;
            let mut chunk = self.rtl.trail.open(self.rtl.outcome.cycles);
            self.model.fill(&mut chunk);
            let last = chunk.last;
            self.rtl.trail.keep(chunk);
            let (equal, followed) = self.rtl.follow();
            self.watch.iter_mut().zip(&equal).for_each(|(watch, equal)| watch.see(equal));
            self.observed()?;
            followed?;
            if last {
                return Ok(());
            }
        }
    }

    /// The model runs ahead on a thread of its own.
    fn side_by_side(&mut self) -> Result<(), Stop> {
        let watch = self.watch.take().expect("only the queue takes it, and gives it back");
        let Self { model, rtl, .. } = self;
        let first = rtl.trail.open(rtl.outcome.cycles);
        let others = (1..AHEAD).map(|_| rtl.trail.spare());
        let queue = Queue::new(std::iter::once(first).chain(others).collect(), watch);
        let followed = thread::scope(|scope| {
            let thread = thread::Builder::new().name("model".into()).stack_size(STACK);
            thread.spawn_scoped(scope, || model.run_ahead(&queue)).expect("the system gives a thread");
            rtl.follow_queue(&queue)
        });
        let (full, free, watch) = queue.end();
        self.watch = Some(watch);
        rtl.trail.give_back(free, rtl.outcome.cycles);
        full.into_iter().for_each(|chunk| rtl.trail.keep_ahead(chunk));
        self.observed()?;
        followed
    }

    /// Ends the run where what observes panicked, if it did.
    fn observed(&mut self) -> Result<(), Stop> {
        let Some(watch) = &mut self.watch else { return Ok(()) };
        let Some(message) = watch.panicked.take() else { return Ok(()) };
        self.rtl.outcome.cycles = watch.next;
        Err(Stop::Panicked(message))
    }

    /// Ends the run for this reason.
    fn stopped(&mut self, stop: Stop) {
        let (cycle, idle) = (self.rtl.outcome.cycles, self.rtl.idle);
        match stop {
            Stop::Interrupted => self.end(Cause::Interrupted, None),
            Stop::Panicked(message) => self.end(Cause::Panicked { cycle, message }, None),
            Stop::Hung => self.hung(Cause::Hung { cycle: cycle - 1, since: cycle - idle }),
            Stop::Ended(side) => {
                let (differences, memories, blame) = (Vec::new(), Vec::new(), Blame::of_environment(&[]));
                let divergence = Divergence { cycle, differences, memories, ended: Some(side), blame };
                self.end(Cause::Diverged(divergence), None);
            }
            Stop::Differ(differences) => {
                let cause = self.rtl.diverged(differences);
                let behind = self.behind_difference();
                self.end(cause, Some(behind));
            }
            Stop::Failed(failure) => {
                let behind = if failure.fatal { None } else { Some(self.behind_failure()) };
                // The cycle whose edge failed was sampled and equal.
                self.end(Cause::Assertion { cycle: cycle.saturating_sub(1), failure }, behind);
            }
        }
    }

    /// Ends a run without progress, if the two sides are equal in all else. The model may be ahead: its memories are those in front of the cycle that it
    /// has come to, so the RTL first follows up to that one.
    fn hung(&mut self, cause: Cause) {
        let cycles = self.rtl.outcome.cycles;
        self.rtl.plan.idle = None;
        let (_, followed) = self.rtl.follow();
        if let Err(stop) = followed {
            return self.stopped(stop);
        }
        if self.compare_memories() {
            self.rtl.outcome.cycles = cycles;
            self.end(cause, None);
        }
    }

    /// Compares all memories whole. Returns whether they are equal.
    fn compare_memories(&mut self) -> bool {
        let memories = differing_memories(self.model.twin, self.rtl.rtl);
        let Some(first) = memories.first() else { return true };
        let blame = Blame { block: first.block.into(), ..Blame::default() };
        let (cycle, differences) = (self.rtl.outcome.cycles, Vec::new());
        let divergence = Divergence { cycle, differences, memories, ended: None, blame };
        self.end(Cause::Diverged(divergence), None);
        false
    }
}

impl Follower<'_> {
    /// Whether the user ends the run.
    fn check(&self) -> Result<(), Stop> {
        if self.stop.load(Ordering::Relaxed) { Err(Stop::Interrupted) } else { Ok(()) }
    }

    /// Whether there is nothing more to compare.
    fn is_over(&self) -> bool {
        self.outcome.cycles == self.plan.cycles || self.trail.newest().is_some_and(|chunk| chunk.ended)
    }

    /// Whether memories are compared in front of this cycle.
    fn is_due(&self) -> bool {
        self.outcome.cycles.is_multiple_of(self.plan.memory_every)
    }

    /// Follows the model's thread until that waits.
    fn follow_queue(&mut self, queue: &Queue<'_>) -> Result<(), Stop> {
        let _end = queue.end_with_this();
        loop {
            self.check()?;
            let Some(chunk) = queue.take() else {
                return Err(Stop::Panicked("the model's thread ended".to_owned()));
            };
            let last = chunk.last;
            self.trail.keep(chunk);
            let spare = self.trail.spare();
            let (equal, followed) = self.follow();
            queue.give(spare, equal);
            followed?;
            if last {
                return Ok(());
            }
        }
    }

    /// Lets the RTL follow the chunk that was kept last, to its end. Gives the cycles found equal, and why there are not more.
    fn follow(&mut self) -> (Option<Equal>, Result<(), Stop>) {
        let Some(chunk) = self.trail.newest().cloned() else { return (None, Ok(())) };
        let (from, end) = (self.outcome.cycles, chunk.end());
        // An environment is no part of the RTL: it may panic like the model, in the cycle that it has come to.
        let followed = catch_unwind(AssertUnwindSafe(|| match self.environment {
            Some(_) => self.follow_reactive(end, chunk.ended),
            None => self.follow_recorded(end),
        }));
        let (to, stop) =
            followed.unwrap_or_else(|panic| (self.outcome.cycles, Some(Stop::Panicked(panic_message(&*panic)))));
        self.outcome.cycles = to;
        let panic = || chunk.panic.clone().map(Stop::Panicked);
        let stop = stop.or_else(panic).map_or(Ok(()), Err);
        (Some(Equal { chunk, from, to }), stop)
    }

    /// Whether a cycle that was found equal is the last one that the run may go on without progress.
    fn is_hung(&mut self, cycle: u64) -> bool {
        let Some(idle) = self.plan.idle else { return false };
        let (inputs, compared) = self.trail.expected(cycle, self.mirrored).split_at(self.input_bytes);
        self.idle = if (idle.progress)(inputs, compared) { 0 } else { self.idle + 1 };
        self.idle >= idle.limit.max(1)
    }

    /// The RTL on the inputs that the model got, up to `end`: up to where it is equal, and why no further.
    fn follow_recorded(&mut self, end: u64) -> (u64, Option<Stop>) {
        let mut cycle = self.outcome.cycles;
        while cycle < end {
            let (records, actual) = self.trail.from(cycle);
            let followed = self.rtl.follow(records, (end - cycle) as usize, actual);
            cycle += followed.done as u64;
            let mut result = followed.result;
            if followed.differs {
                let (records, actual) = self.trail.from(cycle);
                actual[..self.input_bytes].copy_from_slice(&records[..self.input_bytes]);
                let differences = self.differences(cycle);
                if !differences.is_empty() {
                    return (cycle, Some(Stop::Differ(differences)));
                }
                result = self.rtl.edge();
                cycle += 1;
            }
            if let Err(failure) = result {
                return (cycle, Some(Stop::Failed(failure)));
            }
        }
        (cycle, None)
    }

    /// The RTL in its own environment, up to `end`; `ended`: the model's environment ends the run there.
    fn follow_reactive(&mut self, end: u64, ended: bool) -> (u64, Option<Stop>) {
        let mut cycle = self.outcome.cycles;
        while cycle < end {
            if !self.drive(cycle) {
                return (cycle, Some(Stop::Ended(Side::Rtl)));
            }
            let (expected, own) = self.trail.sides(cycle, self.mirrored);
            let comparator = self.comparator;
            if expected[..self.input_bytes] != own[..self.input_bytes] {
                let mut differences = comparator.input_differences(expected, own);
                if !differences.is_empty() {
                    // The environments differ, whatever the RTL says of such inputs.
                    let _ = self.rtl.settle(own);
                    differences.extend(comparator.differences(expected, own));
                    return (cycle, Some(Stop::Differ(differences)));
                }
            }
            let followed = self.rtl.follow_with(own, expected);
            let mut result = followed.result;
            if followed.differs {
                let differences = self.differences(cycle);
                if !differences.is_empty() {
                    return (cycle, Some(Stop::Differ(differences)));
                }
                result = self.rtl.edge();
            }
            cycle += if followed.differs { 1 } else { followed.done as u64 };
            if let Err(failure) = result {
                return (cycle, Some(Stop::Failed(failure)));
            }
            // The model's record: where it means something the RTL's is equal.
            let compared = &self.trail.cycle(cycle - 1)[self.input_bytes..];
            lose_in_rtl(self.rtl, lost(&mut self.environment, compared));
            self.outcome.cycles = cycle;
            if self.is_hung(cycle - 1) {
                return (cycle, Some(Stop::Hung));
            }
        }
        let goes_on = ended && self.drive(cycle);
        (cycle, goes_on.then_some(Stop::Ended(Side::Model)))
    }

    /// The RTL's inputs of a cycle from its environment; false when there are none.
    fn drive(&mut self, cycle: u64) -> bool {
        let Some(environment) = &mut self.environment else { return false };
        let (inputs, compared) = self.trail.rtl.get_mut(0).split_at_mut(self.input_bytes);
        environment.drive((cycle > 0).then_some(&compared[..self.output_bytes]), inputs)
    }

    /// In what the model's cycle differs from the RTL's, of which all is in the trail.
    fn differences(&mut self, cycle: u64) -> Vec<Difference> {
        self.outcome.slow_compares += 1;
        self.comparator.differences(self.trail.cycle(cycle), self.trail.rtl.get(0))
    }
}

/// Words that an environment takes the values of, after a cycle with this compared part.
pub(crate) fn lost<'e>(environment: &'e mut Option<&mut dyn Environment>, compared: &[u8]) -> &'e [LostWord] {
    environment.as_mut().map_or(&[], |environment| environment.lost(compared))
}

/// Random bits in every element of an input, within its width.
fn randomise(rng: &mut Rng, field: &gpurf_blocks::Field, record: &mut [u8]) {
    for element in 0..field.count {
        let start = field.offset + element * field.elem_bytes;
        for (word, part) in record[start..start + field.elem_bytes].chunks_mut(8).enumerate() {
            let bits = field.bits - u64::BITS * word as u32;
            let value = rng.next_u64() & (u64::MAX >> u64::BITS.saturating_sub(bits));
            part.copy_from_slice(&value.to_le_bytes()[..part.len()]);
        }
    }
}

pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("the model panicked").to_owned()
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::instruction::Instruction;
    use gpurf_blocks::{Field, Packed, Ports, WARP_DATA_BITS, WarpData, field, packed, ports};

    use super::*;

    ports! {
        struct Given(_s: &()) {
            instruction_i: [Instruction; 2] = packed::<Instruction>().count(2),
            data_i: WarpData = field(WARP_DATA_BITS),
            whole_i: u64 = field(64),
            flags_i: [u8; 3] = field(5).count(3),
        }
    }

    #[test]
    fn every_bit_of_an_input_is_random_under_reset_and_none_beyond_its_width() {
        assert!(!size_of::<Instruction>().is_multiple_of(8) && !Instruction::BITS.is_multiple_of(u32::BITS));
        let mut rng = Rng::new(1, "test");
        let mut ever = vec![0; size_of::<Given>()];
        for _ in 0..100 {
            let mut record = vec![0; ever.len()];
            Given::fields(&()).iter().for_each(|field| randomise(&mut rng, field, &mut record));
            ever.iter_mut().zip(record).for_each(|(ever, byte)| *ever |= byte);
        }
        for field in Given::fields(&()) {
            let ones = |element| field.bytes(&ever, element).iter().map(|byte| byte.count_ones()).sum::<u32>();
            let of = |field: &Field, bit: u32| field.bytes(&ever, 0)[bit as usize / 8] >> (bit % 8) & 1;
            assert!((0..field.count).all(|element| ones(element) == field.bits), "{}", field.name);
            assert_eq!(of(&field, field.bits - 1), 1, "{}: the highest bit", field.name);
        }
    }
}
