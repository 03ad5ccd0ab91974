//! The model's side of a run. It does not depend on the RTL's side, so it can run ahead on its own thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use gpurf_blocks::Twin;

use crate::ahead::Queue;
use crate::history::History;
use crate::lines::Lines;
use crate::memory::lose_in_twin;
use crate::run::panic_message;
use crate::trail::Chunk;
use crate::{Environment, Records, RunPlan, Stimulus};

/// Where the model's inputs come from.
pub(crate) enum Feed<'a> {
    /// A stimulus, whose inputs the RTL gets too.
    Recorded(&'a mut (dyn Stimulus + Send)),
    /// The model's own environment.
    Reactive(&'a mut (dyn Environment + Send)),
}

/// The model and the source of its inputs.
pub(crate) struct Model<'a> {
    pub twin: &'a mut dyn Twin,
    feed: Feed<'a>,
    /// The next cycle to run.
    next: u64,
    /// The record of the previous cycle: inputs and outputs; if changed lines are noted, all that is compared.
    before: Records,
    /// The model has not run a cycle of this run yet, so `before` is not the complete record of the previous cycle.
    is_new: bool,
    input_bytes: usize,
    output_bytes: usize,
    plan: RunPlan,
    /// The lines of a record; present if the model notes which of them change.
    lines: Option<Arc<Lines>>,
    /// Keeps what is needed to run the model again.
    pub history: Option<History>,
}

impl<'a> Model<'a> {
    /// The model in front of cycle `next`. `before`: the record of the previous cycle.
    pub(crate) fn new(
        twin: &'a mut dyn Twin,
        feed: Feed<'a>,
        plan: RunPlan,
        next: u64,
        before: &[u8],
        lines: Option<Arc<Lines>>,
        history: Option<History>,
    ) -> Self {
        let declaration = twin.declaration();
        let (input_bytes, output_bytes) = (declaration.input_bytes, declaration.output_bytes);
        let mut record = Records::new(declaration.record_bytes);
        record.push(before);
        Self { twin, feed, next, before: record, is_new: true, input_bytes, output_bytes, plan, lines, history }
    }

    /// Fills chunks while the queue has free ones, up to a cycle before which the model has to wait for the RTL.
    pub(crate) fn run_ahead(&mut self, queue: &Queue<'_>) {
        let _end = queue.end_with_this();
        while let Some(mut chunk) = queue.free() {
            self.fill(&mut chunk);
            let last = chunk.last;
            queue.put(chunk);
            if last {
                return;
            }
        }
    }

    /// Fills a chunk, at most up to the next comparison of whole memories.
    pub(crate) fn fill(&mut self, chunk: &mut Chunk) {
        chunk.begin(self.next);
        if let Some(history) = &mut self.history {
            history.reach(self.next, self.twin);
        }
        let memory_every = self.plan.memory_every;
        let memories = (self.next / memory_every + 1).saturating_mul(memory_every);
        let end = chunk.limit().min(memories).min(self.plan.cycles);
        // A panic of the model must not end the harness: it is in this case that the waveform is needed most.
        let run = catch_unwind(AssertUnwindSafe(|| {
            while self.next < end && !chunk.ended {
                if self.step(chunk) {
                    if let Some(lines) = &self.lines {
                        chunk.note_changes(lines, (!self.is_new).then(|| self.before.get(0)));
                        self.is_new = false;
                    }
                    chunk.advance();
                    self.next += 1;
                } else {
                    chunk.ended = true;
                }
            }
        }));
        chunk.panic = run.err().map(|panic| panic_message(&*panic));
        if let Some(record) = chunk.newest() {
            let (bytes, before) = (self.input_bytes + self.output_bytes, self.before.get_mut(0));
            before[..bytes].copy_from_slice(&record[..bytes]);
            if let Some(lines) = &self.lines {
                lines.copy(&vec![u64::MAX; lines.words()], record, before);
            }
        }
        let stops = chunk.ended || chunk.panic.is_some();
        chunk.last = stops || self.next == memories || self.next == self.plan.cycles;
    }

    /// Runs one cycle into a chunk; returns false if there are no further inputs.
    fn step(&mut self, chunk: &mut Chunk) -> bool {
        let input_bytes = self.input_bytes;
        let given = match &mut self.feed {
            Feed::Recorded(stimulus) => stimulus.next(&mut chunk.next_mut()[..input_bytes]),
            Feed::Reactive(environment) => {
                let (before, now) = match chunk.pair_mut() {
                    Some(pair) => pair,
                    None => (self.before.get(0), chunk.next_mut()),
                };
                let (inputs, compared) = before.split_at(input_bytes);
                now[..input_bytes].copy_from_slice(inputs);
                let outputs = &compared[..self.output_bytes];
                environment.drive((self.next > 0).then_some(outputs), &mut now[..input_bytes])
            }
        };
        if given {
            self.cycle(chunk.next_mut());
        }
        given
    }

    /// Runs the cycle after the one in `record` and overwrites the record; returns false if there are no more inputs.
    pub(crate) fn step_after(&mut self, record: &mut [u8]) -> bool {
        let (inputs, compared) = record.split_at_mut(self.input_bytes);
        let given = match &mut self.feed {
            Feed::Recorded(stimulus) => stimulus.next(inputs),
            Feed::Reactive(environment) => environment.drive(Some(&compared[..self.output_bytes]), inputs),
        };
        if given {
            self.cycle(record);
        }
        given
    }

    /// Runs the cycle whose inputs are in the record.
    fn cycle(&mut self, record: &mut [u8]) {
        let (inputs, compared) = record.split_at_mut(self.input_bytes);
        self.twin.cycle(inputs, compared);
        let lost = match &mut self.feed {
            Feed::Recorded(_) => &[],
            Feed::Reactive(environment) => environment.lost(compared),
        };
        lose_in_twin(self.twin, lost);
        if let Some(history) = &mut self.history {
            history.record(inputs, lost);
        }
    }
}
