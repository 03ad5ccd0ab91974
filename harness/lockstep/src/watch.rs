//! The observers of cycles that were found equal: event counts, and the caller's observer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::EventTotals;
use crate::run::panic_message;
use crate::trail::Chunk;

/// The caller's observer: gets the inputs and the model's compared part of a cycle that was found equal.
pub(crate) type Observe<'a> = dyn FnMut(&[u8], &[u8]) + Send + 'a;

/// Cycles of one chunk that were found equal.
pub(crate) struct Equal {
    pub chunk: Arc<Chunk>,
    /// The first of these cycles; `to` is the one after the last.
    pub from: u64,
    pub to: u64,
}

/// Counts events and calls the observer, in the order of cycles: at once if the sides take turns, otherwise later on either thread.
pub(crate) struct Watch<'a> {
    observe: &'a mut Observe<'a>,
    pub totals: EventTotals,
    input_bytes: usize,
    /// The next cycle to observe.
    pub next: u64,
    /// Message of a panic of the observer in cycle `next`; it is not called any more.
    pub panicked: Option<String>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(observe: &'a mut Observe<'a>, totals: EventTotals, input_bytes: usize, next: u64) -> Self {
        Self { observe, totals, input_bytes, next, panicked: None }
    }

    /// Observes cycles.
    pub(crate) fn see(&mut self, equal: &Equal) {
        if self.panicked.is_some() {
            return;
        }
        // The observer is not part of the RTL: it may panic, like the model.
        let seen = catch_unwind(AssertUnwindSafe(|| {
            for cycle in equal.from..equal.to {
                let record = equal.chunk.record(cycle);
                let (inputs, compared) = record.split_at(self.input_bytes);
                (self.observe)(inputs, compared);
                self.totals.add(record);
                self.next = cycle + 1;
            }
        }));
        self.panicked = seen.err().map(|panic| panic_message(&*panic));
    }
}
