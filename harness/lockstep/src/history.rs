//! A history that is longer than the flight recorder: the cycles before a failure are run again.
//!
//! In the cycles before a failure both sides are equal in all that is compared, so the model's cycles are those of both sides, and the RTL need not run again.
//! While a run goes on, a copy of the model is taken every so many cycles, and the inputs of each cycle since the last two copies are kept. When it
//! fails, the copy is given the same inputs, and its records are kept. A run that passes pays for the inputs and for the copies, not for whole records.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use gpurf_blocks::{Declaration, Twin};

use crate::memory::lose_in_twin;
use crate::run::panic_message;
use crate::{LostWord, Records};

/// Cycles that the flight recorder keeps before a failure, at no cost: the shortest history.
pub const HISTORY: u64 = 256;
/// Copies of the model are at least so many cycles apart: those of a small block take as long as a hundred of its cycles.
const APART: u64 = 4096;
/// Memory that a history may take.
const MEMORY: u64 = 8 << 30;
/// While the model is run again, the user's wish to stop is looked at every so many cycles.
const LISTEN: u64 = 1024;

/// A history that takes too much memory.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "--history {cycles}: {block} has records of {record} bytes, so a history of so many cycles takes {} MB of memory; \
     at most {most} cycles fit into the {} MB that a history may take",
    .needed >> 20,
    MEMORY >> 20
)]
pub struct HistoryTooLong {
    cycles: u64,
    block: &'static str,
    record: usize,
    needed: u64,
    most: u64,
}

/// Checks that a history of so many cycles of a block fits into memory.
///
/// # Errors
/// When it does not.
pub fn check_history(declaration: &Declaration, cycles: u64) -> Result<(), HistoryTooLong> {
    let (block, record) = (declaration.block, declaration.record_bytes);
    // The records of a failure, and inputs since the last copy but one.
    let each = (record + 2 * declaration.input_bytes).max(1) as u64;
    let needed = cycles.saturating_mul(each);
    if cycles <= HISTORY || needed <= MEMORY {
        return Ok(());
    }
    Err(HistoryTooLong { cycles, block, record, needed, most: MEMORY / each })
}

/// What the cycles before a failure are run again from.
pub(crate) struct History {
    /// Cycles before a failure that are wanted.
    cycles: u64,
    /// Cycles that the model may be ahead of the RTL: a failure may be so many cycles in the past.
    ahead: u64,
    /// Copies, oldest first: two at most.
    copies: VecDeque<Checkpoint>,
}

/// The model in front of a cycle, and what it got from that cycle on.
struct Checkpoint {
    first: u64,
    model: Box<dyn Twin>,
    inputs: Records,
    /// Words that lost their values after a cycle.
    lost: Vec<(u64, LostWord)>,
}

impl Checkpoint {
    fn end(&self) -> u64 {
        self.first + self.inputs.len() as u64
    }
}

fn missing() -> String {
    "the inputs of a cycle were not kept: a defect of gpurf".to_owned()
}

impl History {
    /// Of a run whose model may be so many cycles ahead.
    pub(crate) fn new(cycles: u64, ahead: u64) -> Self {
        Self { cycles, ahead, copies: VecDeque::new() }
    }

    /// Cycles before a failure that are wanted.
    pub(crate) fn cycles(&self) -> u64 {
        self.cycles
    }

    /// The model stands in front of a cycle. It is copied if the last copy is far enough away.
    pub(crate) fn reach(&mut self, cycle: u64, model: &dyn Twin) {
        // So far apart that a failure that is not known yet never needs a third copy.
        let apart = (self.cycles + self.ahead).max(APART);
        match self.copies.back() {
            Some(last) if last.end() == cycle && cycle < last.first + apart => return,
            Some(last) if last.end() == cycle => drop(self.copies.drain(..self.copies.len() - 1)),
            // Something has run without its inputs: what is before it cannot be run again.
            _ => self.copies.clear(),
        }
        let inputs = Records::with_capacity(model.declaration().input_bytes, apart as usize);
        self.copies.push_back(Checkpoint { first: cycle, model: model.duplicate(), inputs, lost: Vec::new() });
    }

    /// What a cycle of the model got: its inputs, and the words that lose their values after it.
    pub(crate) fn record(&mut self, inputs: &[u8], lost: &[LostWord]) {
        let Some(copy) = self.copies.back_mut() else { return };
        let cycle = copy.end();
        copy.inputs.push(inputs);
        copy.lost.extend(lost.iter().map(|&word| (cycle, word)));
    }

    /// Runs the cycles before `end` again. Gives the first one of those that are wanted, and their records.
    ///
    /// # Errors
    /// Why they cannot be run again.
    pub(crate) fn replay(mut self, end: u64, stop: &AtomicBool) -> Result<(u64, Records), String> {
        let wanted = end.saturating_sub(self.cycles);
        let from = self.copies.iter().rposition(|copy| copy.first <= wanted).ok_or_else(missing)?;
        self.copies.drain(..from);
        let replayed = catch_unwind(AssertUnwindSafe(|| self.run(wanted, end, stop)));
        let records = replayed.unwrap_or_else(|panic| {
            Err(format!("the copy of the model panicked: {}: a defect of gpurf", panic_message(&*panic)))
        })?;
        Ok((wanted, records))
    }

    /// The records of these cycles.
    fn run(&mut self, first: u64, end: u64, stop: &AtomicBool) -> Result<Records, String> {
        let mut copies = self.copies.iter_mut();
        let Some(Checkpoint { first: start, model, inputs, lost }) = copies.next() else { return Err(missing()) };
        let declaration = model.declaration();
        let (size, input_bytes) = (declaration.record_bytes, declaration.input_bytes);
        let mut kept = Records::with_capacity(size, end.saturating_sub(first) as usize);
        let mut scratch = Records::zeroed(size, 1);
        let (mut start, mut inputs, mut lost) = (*start, &*inputs, &*lost);
        let mut losses = lost.iter().peekable();
        for cycle in start..end {
            if cycle.is_multiple_of(LISTEN) && stop.load(Ordering::Relaxed) {
                return Err("the user stopped".to_owned());
            }
            if cycle == start + inputs.len() as u64 {
                let next = copies.next().filter(|next| next.first == cycle).ok_or_else(missing)?;
                (start, inputs, lost) = (next.first, &next.inputs, &next.lost);
                losses = lost.iter().peekable();
            }
            let (given, compared) = scratch.get_mut(0).split_at_mut(input_bytes);
            given.copy_from_slice(inputs.get((cycle - start) as usize));
            model.cycle(given, compared);
            while let Some((_, word)) = losses.next_if(|(after, _)| *after == cycle) {
                lose_in_twin(&mut **model, &[*word]);
            }
            if cycle >= first {
                kept.push(scratch.get(0));
            }
        }
        Ok(kept)
    }
}
