//! A history that is longer than the flight recorder: the cycles before a failure are run again.
//!
//! In the cycles before a failure both sides are equal in all that is compared, so the model's cycles are those of both sides, and the RTL need not run again.
//! During a run, a copy of the model is taken every so many cycles, and the inputs of each cycle since the last two copies are kept: a few hundred
//! bytes of a record that may have tens of thousands. A failure keeps a copy with its inputs, and whoever wants to see the cycles runs them from there.

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
/// Copies that are kept at most.
const COPIES: usize = 2;
/// Memory that a history may take.
const MEMORY: u64 = 2 << 30;
/// While the model is run again, the user's wish to stop is looked at every so many cycles.
const LISTEN: u64 = 1024;

/// A history that takes too much memory.
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

/// Checks that a history of so many cycles of a block fits into memory.
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

/// What the cycles before a failure are run again from.
pub(crate) struct History {
    /// Cycles before a failure that are wanted.
    cycles: u64,
    /// The first cycle that there is.
    begins: u64,
    /// Cycles that the model may be ahead of the RTL: a failure may be so many cycles in the past.
    ahead: u64,
    /// Copies, oldest first.
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

impl History {
    /// Of a run whose model may be so many cycles ahead.
    pub(crate) fn new(cycles: u64, ahead: u64) -> Self {
        Self { cycles, begins: 0, ahead, copies: VecDeque::new() }
    }

    /// There are no cycles before this one.
    pub(crate) fn begin(&mut self, cycle: u64) {
        self.begins = cycle;
    }

    /// Cycles before a failure that are wanted.
    pub(crate) fn cycles(&self) -> u64 {
        self.cycles
    }

    /// The model stands in front of a cycle. It is copied if the last copy is far enough away.
    pub(crate) fn reach(&mut self, cycle: u64, model: &dyn Twin) {
        // So far apart that a failure that is not known yet never needs the copy before the last one.
        let apart = (self.cycles + self.ahead).max(APART);
        match self.copies.back() {
            Some(last) if last.end() != cycle => {
                // Something has run without its inputs: what is before it cannot be run again.
                self.copies.clear();
            }
            Some(last) if cycle < last.first + apart => return,
            _ => {}
        }
        // Pages that the oldest copy has are not asked of the system once more.
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

    /// What a cycle of the model got: its inputs, and the words that lose their values after it.
    pub(crate) fn record(&mut self, inputs: &[u8], lost: &[LostWord]) {
        let Some(copy) = self.copies.back_mut() else { return };
        let cycle = copy.end();
        copy.inputs.push(inputs);
        copy.lost.extend(lost.iter().map(|&word| (cycle, word)));
    }

    /// The wanted ones of the cycles before a failing one, to be run again, up to one before `end`.
    ///
    /// # Errors
    /// When they cannot be.
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
    /// The first one that is wanted.
    pub first: u64,
    /// The one after the last one.
    end: u64,
    /// A copy that is not after the first one, and further ones for their inputs: without a gap.
    copies: VecDeque<Checkpoint>,
}

impl Past {
    /// Runs the cycles, and shows each with its record. Ends early with an error of `show`.
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

    /// Runs the cycles, and checks each with its record: `differs` says whether it is known to be another one.
    ///
    /// # Errors
    /// Why they are not to be trusted, in words.
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
