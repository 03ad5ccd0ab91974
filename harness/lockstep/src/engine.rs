//! Runs the two sides.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use gpurf_blocks::{Memory, Role, Twin};
use verilated::{Failure, Instance};

use crate::blame::{self, Blame};
use crate::events::EventTotals;
use crate::{Capture, Comparator, Difference, Events, Records, Rng, Stimulus};

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

/// How long to run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Fills memories and the state that reset does not set.
    pub seed: u64,
    /// Cycles to compare at most; a stimulus may end earlier.
    pub cycles: u64,
    /// Compare memories whole every so many cycles, besides at the end.
    pub memory_every: u64,
}

/// A memory word in which the two sides differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryDifference {
    /// Path of the memory.
    pub path: String,
    /// Word.
    pub word: usize,
    /// Width of a word.
    pub bits: u32,
    /// The model's value, lowest bits first.
    pub model: Vec<u32>,
    /// The RTL's value.
    pub rtl: Vec<u32>,
}

/// A difference between the two sides.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// First cycle in which they differ (for memories: in which it was noticed).
    pub cycle: u64,
    /// Signals, in the order of declaration; empty when only memories differ.
    pub differences: Vec<Difference>,
    /// First differing word of each memory that differs; looked at only when signals agree.
    pub memories: Vec<MemoryDifference>,
    /// The block at fault.
    pub blame: Blame,
}

/// Why a run ended early.
#[derive(Clone, Debug)]
pub enum Cause {
    /// The two sides differ.
    Diverged(Divergence),
    /// The RTL failed an assertion or stopped.
    Assertion {
        /// In this cycle.
        cycle: u64,
        /// What it said.
        failure: Failure,
    },
    /// The model panicked: a defect of gpurf.
    Panicked {
        /// In this cycle.
        cycle: u64,
        /// The panic's message.
        message: String,
    },
    /// Asked to stop.
    Interrupted,
}

/// How a run ended.
pub struct Outcome {
    /// Cycles compared and found equal.
    pub cycles: u64,
    /// `None`: equal to the end.
    pub cause: Option<Cause>,
    /// The cycles around a failure.
    pub capture: Option<Capture>,
    /// The model's events over the cycles compared.
    pub events: Events,
    /// Cycles that bytes alone did not decide (a measure of speed, not of correctness).
    pub slow_compares: u64,
}

/// The two sides of one block.
pub struct Lockstep {
    /// The model.
    pub twin: Box<dyn Twin>,
    /// The RTL.
    pub rtl: Instance,
    /// The rules.
    pub comparator: Comparator,
}

/// Fills every memory of both sides with the same random words.
///
/// # Panics
/// When the two do not have the same memories: the RTL was built for another twin.
pub fn fill_memories(twin: &mut dyn Twin, rtl: &mut Instance, seed: u64) {
    let mut memories = twin.memories();
    for (index, memory) in memories.iter_mut().enumerate() {
        let mut rng = Rng::new(seed, &memory.path);
        let other = if rtl.memory_count() == 0 { None } else { Some(rtl.memory(index)) };
        memory.fill_words(|word| rng.fill(word));
        if let Some(other) = other.filter(|o| !o.is_empty()) {
            assert_eq!(other.len(), memory.words.len(), "{}: equal sizes", memory.path);
            other.copy_from_slice(memory.words);
        }
    }
}

impl Lockstep {
    /// Both sides, before anything has run.
    pub fn new(twin: Box<dyn Twin>, rtl: Instance, absent: &[usize]) -> Self {
        let comparator = Comparator::new(twin.declaration(), absent);
        Self { twin, rtl, comparator }
    }

    /// Runs a stimulus from reset. `observe` sees the inputs and the model's compared part of every cycle that was found equal.
    /// `stop` is looked at between chunks.
    pub fn run(
        &mut self,
        stimulus: &mut dyn Stimulus,
        plan: &Plan,
        observe: &mut dyn FnMut(&[u8], &[u8]),
        stop: &AtomicBool,
    ) -> Outcome {
        let size = self.comparator.declaration().record_bytes;
        let mut run = Run {
            ring: Records::zeroed(size, RING),
            model: Records::zeroed(size, 1),
            totals: EventTotals::new(self.comparator.declaration()),
            outcome: Outcome { cycles: 0, cause: None, capture: None, events: Events::new(), slow_compares: 0 },
            side: self,
        };
        if let Err(failure) = run.reset(plan.seed) {
            run.outcome.cause = Some(Cause::Assertion { cycle: 0, failure });
        } else {
            run.compare(stimulus, plan, observe, stop);
        }
        run.outcome.events = run.totals.by_name();
        run.outcome
    }
}

/// A run in progress. Cycle `c` is in record `c % RING` of the ring.
struct Run<'a> {
    side: &'a mut Lockstep,
    ring: Records,
    model: Records,
    totals: EventTotals,
    outcome: Outcome,
}

impl Run<'_> {
    /// Random inputs under reset, on both sides; the comparison begins behind it. Memories are filled before the last of these
    /// cycles: until reset has been clocked in, registers of any value may write them.
    fn reset(&mut self, seed: u64) -> Result<(), Failure> {
        let declaration = self.side.comparator.declaration().clone();
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
            let (inputs, compared) = self.model.get_mut(0).split_at_mut(declaration.input_bytes);
            inputs.copy_from_slice(&record.get(0)[..declaration.input_bytes]);
            self.side.twin.cycle(inputs, compared);
        }
        Ok(())
    }

    fn compare(
        &mut self,
        stimulus: &mut dyn Stimulus,
        plan: &Plan,
        observe: &mut dyn FnMut(&[u8], &[u8]),
        stop: &AtomicBool,
    ) {
        let mut cycle = 0u64;
        loop {
            if stop.load(Ordering::Relaxed) {
                self.outcome.cause = Some(Cause::Interrupted);
                self.capture(cycle, cycle as usize % RING, 0, &mut Records::new(self.ring.size()));
                return;
            }
            let start = cycle as usize % RING;
            let wanted = (plan.cycles - cycle).min(CHUNK as u64) as usize;
            let given = self.fill_inputs(stimulus, start, wanted);
            if given > 0 && !self.chunk(cycle, start, given, observe, stimulus) {
                return;
            }
            let before = cycle;
            cycle += given as u64;
            let ended = given < CHUNK || cycle == plan.cycles;
            if (ended || before / plan.memory_every != cycle / plan.memory_every) && !self.compare_memories(cycle) {
                return;
            }
            if ended {
                return;
            }
        }
    }

    /// Inputs of up to `wanted` cycles from record `start`.
    fn fill_inputs(&mut self, stimulus: &mut dyn Stimulus, start: usize, wanted: usize) -> usize {
        let (input_bytes, size) = (self.side.comparator.declaration().input_bytes, self.ring.size());
        let records = &mut self.ring.all_mut()[start * size..(start + wanted) * size];
        let mut given = 0;
        for record in records.chunks_exact_mut(size) {
            if !stimulus.next(&mut record[..input_bytes]) {
                break;
            }
            given += 1;
        }
        given
    }

    /// Runs a chunk on both sides. Returns whether they are equal and may go on.
    fn chunk(
        &mut self,
        cycle: u64,
        start: usize,
        count: usize,
        observe: &mut dyn FnMut(&[u8], &[u8]),
        stimulus: &mut dyn Stimulus,
    ) -> bool {
        let size = self.ring.size();
        let input_bytes = self.side.comparator.declaration().input_bytes;
        let (sampled, result) = self.side.rtl.cycles(&mut self.ring.all_mut()[start * size..], count);
        let fatal = result.as_ref().is_err_and(|f| f.fatal);
        let mut at = 0;
        let mut differences = Vec::new();
        // The model must not take the harness down with it: the waveform is wanted most when it panics.
        let followed = catch_unwind(AssertUnwindSafe(|| {
            while at < sampled {
                let rtl = self.ring.get(start + at);
                let model = self.model.get_mut(0);
                let (inputs, compared) = model.split_at_mut(input_bytes);
                inputs.copy_from_slice(&rtl[..input_bytes]);
                self.side.twin.cycle(inputs, compared);
                if !self.side.comparator.surely_equal(model, rtl) {
                    self.outcome.slow_compares += 1;
                    differences = self.side.comparator.differences(model, rtl);
                    if !differences.is_empty() {
                        return;
                    }
                }
                let (inputs, compared) = model.split_at(input_bytes);
                self.totals.add(model);
                observe(inputs, compared);
                at += 1;
            }
        }));
        self.outcome.cycles += at as u64;
        let failing = cycle + at as u64;
        let mut model = Records::new(size);
        if let Err(panic) = followed {
            let message = panic_message(&*panic);
            self.outcome.cause = Some(Cause::Panicked { cycle: failing, message });
            self.capture(failing, start + at, 0, &mut model);
            return false;
        }
        if !differences.is_empty() {
            model.push(self.model.get(0));
            let blame = blame::find(&self.side.comparator, self.model.get(0), self.ring.get(start + at));
            self.outcome.cause =
                Some(Cause::Diverged(Divergence { cycle: failing, differences, memories: Vec::new(), blame }));
            self.run_on(start + at, start + sampled, if fatal { 0 } else { RUN_ON }, stimulus, &mut model);
            return false;
        }
        let Err(failure) = result else { return true };
        // The cycle whose edge failed was sampled and equal.
        let cycle = failing.saturating_sub(1);
        self.outcome.cause = Some(Cause::Assertion { cycle, failure });
        self.run_on(start + at, start + sampled, if fatal { 0 } else { RUN_ON }, stimulus, &mut model);
        false
    }

    /// After a failure: both sides go on alone for `run_on` cycles behind it. `first` is the first record that `model` holds the model's side of, `end`
    /// the first record the RTL has not filled.
    fn run_on(&mut self, first: usize, end: usize, run_on: usize, stimulus: &mut dyn Stimulus, model: &mut Records) {
        let input_bytes = self.side.comparator.declaration().input_bytes;
        let size = self.ring.size();
        let mut end = end;
        // The ring is a circle; a chunk never crosses its end, but the run-on may.
        while end < first + 1 + run_on {
            let place = end % RING;
            if !stimulus.next(&mut self.ring.get_mut(place)[..input_bytes]) {
                break;
            }
            let (sampled, result) = self.side.rtl.cycles(&mut self.ring.all_mut()[place * size..(place + 1) * size], 1);
            end += sampled;
            if sampled == 0 || result.is_err_and(|f| f.fatal) {
                break;
            }
        }
        let twin = &mut self.side.twin;
        for place in first + model.len()..end.min(first + 1 + run_on) {
            let record = self.model.get_mut(0);
            let (inputs, compared) = record.split_at_mut(input_bytes);
            inputs.copy_from_slice(&self.ring.get(place % RING)[..input_bytes]);
            if catch_unwind(AssertUnwindSafe(|| twin.cycle(inputs, compared))).is_err() {
                break;
            }
            model.push(record);
        }
        let failing = self.outcome.cycles;
        let behind = model.len();
        self.capture(failing, first, behind, model);
    }

    /// Keeps the history before record `first` (cycle `cycle`), in which both sides are equal, and the `behind` records from it on.
    fn capture(&mut self, cycle: u64, first: usize, behind: usize, model: &mut Records) {
        let history = (HISTORY as u64).min(cycle).min((RING - behind.max(1)) as u64) as usize;
        let mut rtl = Records::new(self.ring.size());
        for back in (1..=history).rev() {
            rtl.push(self.ring.get((first + RING - back) % RING));
        }
        let mut both = rtl.clone();
        for place in first..first + behind {
            rtl.push(self.ring.get(place % RING));
            both.push(model.get(place - first));
        }
        self.outcome.capture = Some(Capture { first_cycle: cycle - history as u64, rtl, model: both });
    }

    /// Compares all memories whole. Returns whether they are equal.
    fn compare_memories(&mut self, cycle: u64) -> bool {
        let mut found = Vec::new();
        let mut block = "";
        if self.side.rtl.memory_count() == 0 {
            return true;
        }
        for (index, memory) in self.side.twin.memories().into_iter().enumerate() {
            if let Some(difference) = first_difference(&memory, self.side.rtl.memory(index)) {
                if block.is_empty() {
                    block = memory.block;
                }
                found.push(difference);
            }
        }
        if found.is_empty() {
            return true;
        }
        let blame = Blame { block: block.into(), instance: None, signals: Vec::new() };
        self.outcome.cause =
            Some(Cause::Diverged(Divergence { cycle, differences: Vec::new(), memories: found, blame }));
        self.capture(cycle, cycle as usize % RING, 0, &mut Records::new(self.ring.size()));
        false
    }
}

/// The first word in which a memory differs from the RTL's, which may be missing.
fn first_difference(memory: &Memory<'_>, rtl: &[u32]) -> Option<MemoryDifference> {
    let stride = memory.stride();
    let mut words = memory.words.chunks_exact(stride).zip(rtl.chunks_exact(stride)).enumerate();
    let (word, (model, rtl)) = words.find(|(_, (model, rtl))| model != rtl)?;
    Some(MemoryDifference {
        path: memory.path.clone(),
        word,
        bits: memory.bits,
        model: model.to_vec(),
        rtl: rtl.to_vec(),
    })
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
