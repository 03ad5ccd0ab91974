//! A history that is longer than the flight recorder: after a failure the model runs the cycles before it again.
//!
//! In the cycles before a failure both sides are equal in all that is compared, so the model's records serve for both sides, and the RTL need not run again.
//! During a run, the model is copied at intervals, and the inputs of each cycle since the second to last copy are kept: a few hundred
//! bytes of a record that may have tens of thousands. At a failure a copy and its inputs are kept. Readers of the history run the cycles from this copy.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use gpurf_blocks::{Declaration, Twin};

use crate::memory::lose_in_twin;
use crate::run::panic_message;
use crate::{LostWord, Records};

/// Cycles before a failure that the flight recorder keeps at no cost: the shortest history.
pub const HISTORY: u64 = 256;
/// Minimum number of cycles between two copies of the model: copying a small block takes as long as running a hundred of its cycles.
const APART: u64 = 4096;
/// Maximum number of copies that are kept.
const COPIES: usize = 2;
/// Maximum number of bytes that a history may take.
const MEMORY: u64 = 2 << 30;
/// While the model is run again, the user's request to stop is checked once in this many cycles.
const LISTEN: u64 = 1024;

/// The error for a history that would take too much memory.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "--history {cycles}: {block} has {inputs} bytes of inputs in each cycle, so that the history takes {} MB of memory; \
     at most {most} cycles fit into the {} MB that it may take",
    .needed >> 20,
    MEMORY >> 20
)]
pub struct HistoryTooLong {
    cycles: u64,
    block: &'static str,
    inputs: usize,
    needed: u64,
    most: u64,
}

/// Checks that a history of this many cycles of a block fits into memory.
///
/// # Errors
/// When it does not.
pub fn check_history(declaration: &Declaration, cycles: u64) -> Result<(), HistoryTooLong> {
    let (block, inputs) = (declaration.block, declaration.input_bytes);
    let each = (COPIES * inputs).max(1) as u64;
    let needed = cycles.saturating_mul(each);
    if cycles <= HISTORY || needed <= MEMORY {
        return Ok(());
    }
    Err(HistoryTooLong { cycles, block, inputs, needed, most: MEMORY / each })
}

/// Copies of the model and kept inputs, from which the cycles before a failure can be run again.
pub(crate) struct History {
    /// Requested number of cycles before a failure.
    cycles: u64,
    /// The first cycle of the run.
    begins: u64,
    /// Maximum number of cycles by which the model is ahead of the RTL: when a failure is found, the model may be this far beyond it.
    ahead: u64,
    /// Copies, oldest first.
    copies: VecDeque<Checkpoint>,
}

/// A copy of the model in front of a cycle, and all that the model was given from that cycle on.
struct Checkpoint {
    first: u64,
    model: Box<dyn Twin>,
    inputs: Records,
    /// Words that lost their values, each with the cycle after which it lost them.
    lost: Vec<(u64, LostWord)>,
}

impl Checkpoint {
    fn end(&self) -> u64 {
        self.first + self.inputs.len() as u64
    }
}

impl History {
    /// A history of `cycles` cycles, for a run in which the model is at most `ahead` cycles ahead.
    pub(crate) fn new(cycles: u64, ahead: u64) -> Self {
        Self { cycles, begins: 0, ahead, copies: VecDeque::new() }
    }

    /// Sets the first cycle of the run: there are no cycles before it.
    pub(crate) fn begin(&mut self, cycle: u64) {
        self.begins = cycle;
    }

    /// Requested number of cycles before a failure.
    pub(crate) fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Called when the model is in front of a cycle. Copies the model if the last copy is old enough.
    pub(crate) fn reach(&mut self, cycle: u64, model: &dyn Twin) {
        // Copies are so far apart that a failure not yet found never needs a copy older than the second to last one.
        let apart = (self.cycles + self.ahead).max(APART);
        match self.copies.back() {
            Some(last) if last.end() != cycle => {
                // Cycles were run whose inputs were not recorded: cycles before this one cannot be run again.
                self.copies.clear();
            }
            Some(last) if cycle < last.first + apart => return,
            _ => {}
        }
        // The buffers of the oldest copy are reused, so that the system need not provide new pages.
        let oldest = if self.copies.len() == COPIES { self.copies.pop_front() } else { None };
        let (mut inputs, mut lost) = match oldest {
            Some(oldest) => (oldest.inputs, oldest.lost),
            None => {
                (Records::with_capacity(model.declaration().input_bytes, (apart + self.ahead) as usize), Vec::new())
            }
        };
        inputs.resize(0);
        lost.clear();
        self.copies.push_back(Checkpoint { first: cycle, model: model.duplicate(), inputs, lost });
    }

    /// Records what the model was given in a cycle: the inputs, and the words that lose their values after it.
    pub(crate) fn record(&mut self, inputs: &[u8], lost: &[LostWord]) {
        let Some(copy) = self.copies.back_mut() else { return };
        let cycle = copy.end();
        copy.inputs.push(inputs);
        copy.lost.extend(lost.iter().map(|&word| (cycle, word)));
    }

    /// The requested cycles before the failing one, ready to be run again, up to the last cycle before `end`.
    ///
    /// # Errors
    /// When the cycles cannot be run again.
    pub(crate) fn before(mut self, failing: u64, end: u64) -> Result<Past, String> {
        let first = failing.saturating_sub(self.cycles).max(self.begins);
        let from = self.copies.iter().rposition(|copy| copy.first <= first).ok_or_else(missing)?;
        self.copies.drain(..from);
        let mut next = self.copies[0].first;
        for copy in &self.copies {
            if copy.first != next {
                return Err(missing());
            }
            next = copy.end();
        }
        if next < end { Err(missing()) } else { Ok(Past { first, end, copies: self.copies }) }
    }
}

fn missing() -> String {
    "the inputs of its cycles were not kept: a defect of gpurf".to_owned()
}

/// Cycles of a run that can be run again, as often as wanted.
pub(crate) struct Past {
    /// The first requested cycle.
    pub first: u64,
    /// The cycle after the last one.
    end: u64,
    /// A copy at or before the first requested cycle, and the later copies, for their inputs; together they cover all cycles without a gap.
    copies: VecDeque<Checkpoint>,
}

impl Past {
    /// Runs the cycles and calls `show` with the record of each. Ends early with an error of `show`.
    pub(crate) fn each<E>(&self, mut show: impl FnMut(u64, &[u8]) -> Result<(), E>) -> Result<(), E> {
        let Some(oldest) = self.copies.front() else { return Ok(()) };
        let mut model = oldest.model.duplicate();
        let (size, input_bytes) = (model.declaration().record_bytes, model.declaration().input_bytes);
        let mut record = Records::zeroed(size, 1);
        for copy in &self.copies {
            let mut lost = copy.lost.iter().peekable();
            for cycle in copy.first..copy.end().min(self.end) {
                let (inputs, compared) = record.get_mut(0).split_at_mut(input_bytes);
                inputs.copy_from_slice(copy.inputs.get((cycle - copy.first) as usize));
                model.cycle(inputs, compared);
                while let Some((_, word)) = lost.next_if(|(after, _)| *after == cycle) {
                    lose_in_twin(&mut *model, &[*word]);
                }
                if cycle >= self.first {
                    show(cycle, record.get(0))?;
                }
            }
        }
        Ok(())
    }

    /// Runs the cycles and checks each record: `differs` says whether a record differs from the one known for its cycle.
    ///
    /// # Errors
    /// Why the cycles cannot be trusted, as text.
    pub(crate) fn verify(&self, stop: &AtomicBool, differs: impl Fn(u64, &[u8]) -> bool) -> Result<(), String> {
        let check = |cycle: u64, record: &[u8]| {
            if cycle.is_multiple_of(LISTEN) && stop.load(Ordering::Relaxed) {
                return Err("the user stopped".to_owned());
            }
            match differs(cycle, record) {
                true => Err(format!("run again, the model differs in cycle {cycle}: a defect of gpurf")),
                false => Ok(()),
            }
        };
        catch_unwind(AssertUnwindSafe(|| self.each(check))).unwrap_or_else(|panic| {
            Err(format!("run again, the model panicked: {}: a defect of gpurf", panic_message(&*panic)))
        })
    }
}
