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
    /// Runs a stimulus from reset. `observe` is called with the inputs and the model's compared part of every cycle that was found equal.
    /// `stop` is checked between chunks.
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

    /// As [`Lockstep::run`], in stretches: the first one begins at reset, each further one where the previous one ended. No stretch may follow a failure.
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

    /// Runs each side in its own environment, from reset until both environments end the run. `observe` is called with the inputs and the model's
    /// compared part of every cycle that was found equal. `stop` is checked between chunks.
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

    /// As [`Lockstep::run_reactive`], in stretches: the first one begins at reset, each further one where the previous one ended, without a cycle
    /// between them. No stretch may follow a failure.
    ///
    /// After a failure the model's environment may be ahead of the RTL's, which ran only as far as the cycles of the failure are kept.
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
    /// Copies the state of the model, at whatever cycle it is, to an RTL that has not run yet. The run continues with a trail of [`Trail::met`].
    /// The RTL has to be built with [`verilated::Options::state`].
    ///
    /// # Errors
    /// Registers that no signal of the model shows; a failure of the RTL.
    pub fn meet(&mut self) -> Result<(), CopyError> {
        let declaration = self.comparator.declaration();
        let mut record = Records::zeroed(declaration.record_bytes, 1);
        // Initial actions of the RTL take place in reset.
        for _ in 0..RESET_CYCLES {
            self.rtl.cycles(record.all_mut(), 1).1.map_err(CopyError::Rtl)?;
        }
        copy_state(&*self.twin, &mut self.rtl, &self.comparator)
    }
}

/// A run in progress: the model runs ahead, the RTL follows.
pub(crate) struct Run<'a> {
    pub model: Model<'a>,
    pub rtl: Follower<'a>,
    /// `None` while two threads run: then the queue has it.
    watch: Option<Watch<'a>>,
}

/// The RTL's side, and the state of the run. The next cycle to compare is `outcome.cycles`, the number of cycles found equal.
pub(crate) struct Follower<'a> {
    pub rtl: &'a mut Instance,
    pub comparator: &'a Comparator,
    /// The RTL's environment. `None`: the RTL gets the model's inputs.
    pub environment: Option<&'a mut dyn Environment>,
    plan: RunPlan,
    /// The RTL is compared with a copy of the model's record.
    mirrored: bool,
    pub trail: &'a mut Trail,
    pub input_bytes: usize,
    pub output_bytes: usize,
    /// Consecutive cycles without progress.
    idle: u64,
    /// Set when the user stops the run.
    pub stop: &'a AtomicBool,
    pub outcome: RunOutcome,
}

/// Why the RTL does not follow any further.
pub(crate) enum Stop {
    /// The sides differ. The RTL has settled in this cycle and is in front of its edge; the trail has its record.
    Differ(Vec<Difference>),
    /// The environment of this side ended the run, that of the other side did not.
    Ended(Side),
    /// The RTL failed.
    Failed(RtlFailure),
    /// The model, an environment or an observer panicked.
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

    /// Runs from reset, or from the end of the trail, to the end of the run.
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

    /// Runs both sides under reset with random inputs; the comparison begins after it. Memories are filled before the last of these
    /// cycles: before reset has taken effect, registers with random values may write to the memories.
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
            // Runs up to a cycle before which both sides wait.
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

    /// The model runs a chunk, then the RTL follows, and so on.
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

    /// The model runs ahead on its own thread.
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

    /// Ends the run if an observer panicked.
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
                // In the cycle whose edge failed, the sides were sampled and found equal.
                self.end(Cause::Assertion { cycle: cycle.saturating_sub(1), failure }, behind);
            }
        }
    }

    /// Ends a run without progress, if the two sides are equal otherwise. The model may be ahead, and its memories are those before the cycle that it
    /// has reached, so the RTL first follows up to that cycle.
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
    /// Returns an error if the user stopped the run.
    fn check(&self) -> Result<(), Stop> {
        if self.stop.load(Ordering::Relaxed) { Err(Stop::Interrupted) } else { Ok(()) }
    }

    /// Whether there are no more cycles to compare.
    fn is_over(&self) -> bool {
        self.outcome.cycles == self.plan.cycles || self.trail.newest().is_some_and(|chunk| chunk.ended)
    }

    /// Whether memories are compared before this cycle.
    fn is_due(&self) -> bool {
        self.outcome.cycles.is_multiple_of(self.plan.memory_every)
    }

    /// Follows the model's thread up to the chunk after which the model waits.
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

    /// Lets the RTL follow the newest chunk to its end. Returns the cycles found equal, and the reason if it stopped earlier.
    fn follow(&mut self) -> (Option<Equal>, Result<(), Stop>) {
        let Some(chunk) = self.trail.newest().cloned() else { return (None, Ok(())) };
        let (from, end) = (self.outcome.cycles, chunk.end());
        // An environment is not part of the RTL: it may panic, like the model. The panic is reported for the cycle that was reached.
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

    /// Whether this equal cycle reaches the limit of consecutive cycles without progress.
    fn is_hung(&mut self, cycle: u64) -> bool {
        let Some(idle) = self.plan.idle else { return false };
        let (inputs, compared) = self.trail.expected(cycle, self.mirrored).split_at(self.input_bytes);
        self.idle = if (idle.progress)(inputs, compared) { 0 } else { self.idle + 1 };
        self.idle >= idle.limit.max(1)
    }

    /// Runs the RTL with the model's inputs, up to `end`. Returns the cycle up to which it is equal, and the reason if it stopped earlier.
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

    /// Runs the RTL in its own environment, up to `end`. `ended`: the model's environment ends the run there.
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
                    // The environments differ, so a failure of the RTL on these inputs does not count.
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
            // The model's record serves here: wherever it is valid, the RTL's is equal.
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

    /// Gets the RTL's inputs of a cycle from its environment; false if there are none.
    fn drive(&mut self, cycle: u64) -> bool {
        let Some(environment) = &mut self.environment else { return false };
        let (inputs, compared) = self.trail.rtl.get_mut(0).split_at_mut(self.input_bytes);
        environment.drive((cycle > 0).then_some(&compared[..self.output_bytes]), inputs)
    }

    /// The differences between the two sides in a cycle; the RTL's full record is in the trail.
    fn differences(&mut self, cycle: u64) -> Vec<Difference> {
        self.outcome.slow_compares += 1;
        self.comparator.differences(self.trail.cycle(cycle), self.trail.rtl.get(0))
    }
}

/// Words that lose their values by decision of the environment, after a cycle with this compared part.
pub(crate) fn lost<'e>(environment: &'e mut Option<&mut dyn Environment>, compared: &[u8]) -> &'e [LostWord] {
    environment.as_mut().map_or(&[], |environment| environment.lost(compared))
}

/// Fills every element of an input with random bits, within its width.
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
