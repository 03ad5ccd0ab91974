//! What a run keeps: the flight recorder, the positions of both sides, the counts.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::ahead::AHEAD;
use crate::events::EventTotals;
use crate::history::{HISTORY, History};
use crate::lines::Lines;
use crate::{Lockstep, Records};

/// Minimum and maximum number of cycles of a chunk. If both sides take turns, more cycles of the SM would evict the code from the processor's caches.
const SPANS: (usize, usize) = (16, 256);
/// Bytes of a chunk, within these limits: chunks of small blocks have many cycles, so that handing a chunk over costs little for each cycle.
const CHUNK_BYTES: usize = 1 << 16;

/// Consecutive cycles of the model; chunks begin at multiples of the chunk length.
pub(crate) struct Chunk {
    first: u64,
    /// Number of cycles that have been run.
    len: usize,
    records: Records,
    /// For each cycle the lines that differ from the previous cycle, if they are noted.
    changed: Vec<u64>,
    /// There are no further inputs.
    pub ended: bool,
    /// The model panicked in the next cycle.
    pub panic: Option<String>,
    /// After this chunk the model waits for the RTL.
    pub last: bool,
}

impl Chunk {
    fn new(size: usize, span: usize) -> Self {
        let records = Records::zeroed(size, span);
        Self { first: 0, len: 0, records, changed: Vec::new(), ended: false, panic: None, last: false }
    }

    /// The first cycle that has not been run.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.len as u64
    }

    /// Prepares the chunk for cycles from `cycle` on: it continues if this is its next cycle, otherwise its contents are dropped.
    pub(crate) fn begin(&mut self, cycle: u64) {
        if self.end() != cycle {
            (self.first, self.len) = (cycle, 0);
        }
        (self.ended, self.panic, self.last) = (false, None, false);
    }

    /// The first cycle beyond the capacity of the chunk.
    pub(crate) fn limit(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    /// The record of the next cycle, to be filled.
    pub(crate) fn next_mut(&mut self) -> &mut [u8] {
        self.records.get_mut(self.len)
    }

    /// The record of the previous cycle, if the chunk has it, and the record of the next cycle.
    pub(crate) fn pair_mut(&mut self) -> Option<(&[u8], &mut [u8])> {
        self.len.checked_sub(1).map(|before| self.records.pair_mut(before, self.len))
    }

    /// Notes which lines of the next cycle's record differ from the previous cycle, which this chunk has or whose record is `before`. If `before` is `None`,
    /// all lines are noted as changed.
    pub(crate) fn note_changes(&mut self, lines: &Lines, before: Option<&[u8]>) {
        let words = lines.words();
        self.changed.resize(self.records.len() * words, 0);
        let set = &mut self.changed[self.len * words..(self.len + 1) * words];
        let before = before.map(|before| self.len.checked_sub(1).map_or(before, |before| self.records.get(before)));
        match before {
            Some(before) => lines.changed(before, self.records.get(self.len), set),
            None => set.fill(u64::MAX),
        }
    }

    /// The lines that were noted as changed in a cycle.
    fn changed(&self, cycle: u64, lines: &Lines) -> &[u64] {
        let words = lines.words();
        &self.changed[self.place(cycle) * words..][..words]
    }

    /// Marks the next cycle as run.
    pub(crate) fn advance(&mut self) {
        self.len += 1;
    }

    /// The record of the last cycle that has been run.
    pub(crate) fn newest(&self) -> Option<&[u8]> {
        self.len.checked_sub(1).map(|last| self.records.get(last))
    }

    /// The record of a cycle that has been run.
    pub(crate) fn record(&self, cycle: u64) -> &[u8] {
        self.records.get(self.place(cycle))
    }

    fn place(&self, cycle: u64) -> usize {
        (cycle - self.first) as usize
    }
}

/// What a run keeps from one stretch to the next. See [`Lockstep::go_on`].
pub struct Trail {
    /// The model's last chunks, oldest first, without a gap. While the RTL equals the model, its cycles need not be kept.
    kept: VecDeque<Arc<Chunk>>,
    /// Chunks for reuse.
    spare: Vec<Chunk>,
    /// A record of zeros.
    blank: Records,
    /// Cycles of a chunk.
    span: usize,
    /// The first cycle that is compared: the cycle at which the RTL was given the model's state, or 0.
    begins: u64,
    /// The RTL's last cycle: inputs and outputs if it has an environment, the whole record if the sides differ.
    pub(crate) rtl: Records,
    /// The copy of the model's record with which the RTL is compared if the model runs on another thread.
    mirror: Records,
    pub(crate) lines: Arc<Lines>,
    /// `None` while a run uses them.
    pub(crate) totals: Option<EventTotals>,
    /// Cycles found equal since reset; `None` before reset.
    pub(crate) cycles: Option<u64>,
    pub(crate) slow_compares: u64,
    /// A longer history; `None` if the kept chunks are enough.
    pub(crate) history: Option<History>,
}

impl Trail {
    /// A trail before reset.
    pub fn new(lockstep: &Lockstep) -> Self {
        Self::with_history(lockstep, HISTORY)
    }

    /// A trail before reset. After a failure there are records of `cycles` cycles before it; those beyond [`HISTORY`] are then run again.
    pub fn with_history(lockstep: &Lockstep, cycles: u64) -> Self {
        let declaration = lockstep.comparator.declaration();
        let size = declaration.record_bytes;
        let span = (CHUNK_BYTES / size.max(1)).next_power_of_two().clamp(SPANS.0, SPANS.1);
        Self {
            kept: VecDeque::new(),
            spare: Vec::new(),
            blank: Records::zeroed(size, 1),
            span,
            begins: 0,
            rtl: Records::zeroed(size, 1),
            mirror: Records::zeroed(size, 1),
            lines: Arc::new(Lines::new(&lockstep.comparator)),
            totals: Some(EventTotals::new(declaration)),
            cycles: None,
            slow_compares: 0,
            history: (cycles > HISTORY).then(|| History::new(cycles, ((AHEAD + 2) * span) as u64)),
        }
    }

    /// A trail for a run in which the model ran to `cycle` alone and the RTL was given its state ([`Lockstep::meet`]). `before`: the inputs and
    /// outputs of the model's last cycle, as a record.
    pub fn met(lockstep: &Lockstep, history: u64, cycle: u64, before: &[u8]) -> Self {
        let mut trail = Self { begins: cycle, cycles: Some(cycle), ..Self::with_history(lockstep, history) };
        if let Some(history) = &mut trail.history {
            history.begin(cycle);
        }
        if let Some(last) = cycle.checked_sub(1) {
            let mut chunk = trail.spare();
            chunk.begin(last);
            chunk.next_mut().copy_from_slice(before);
            chunk.advance();
            trail.kept.push_back(Arc::new(chunk));
            trail.rtl.get_mut(0).copy_from_slice(before);
        }
        trail
    }

    /// The model's record of the last cycle that was found equal; zeros if there is none.
    pub fn last(&self) -> &[u8] {
        match self.cycles.and_then(|cycles| cycles.checked_sub(1)) {
            Some(cycle) => self.cycle(cycle),
            None => self.blank.get(0),
        }
    }

    /// Bytes of one record.
    pub(crate) fn size(&self) -> usize {
        self.blank.size()
    }

    /// The chunk for cycles from `cycle` on. If a stretch ended in the middle of the last chunk, this chunk is continued.
    pub(crate) fn open(&mut self, cycle: u64) -> Chunk {
        let goes_on = self.kept.back().is_some_and(|chunk| chunk.limit() > cycle);
        let last = if goes_on { self.kept.pop_back() } else { None };
        last.and_then(Arc::into_inner).unwrap_or_else(|| self.spare())
    }

    /// A chunk to fill: a reused one if there is one, otherwise a new one.
    pub(crate) fn spare(&mut self) -> Chunk {
        self.spare.pop().unwrap_or_else(|| Chunk::new(self.size(), self.span))
    }

    /// Keeps a chunk that is to be compared, and drops chunks that are not needed any more.
    pub(crate) fn keep(&mut self, chunk: Chunk) {
        self.kept.push_back(Arc::new(chunk));
        if self.kept.len() > (HISTORY as usize).div_ceil(self.span) + 1 {
            // If a thread still observes the dropped chunk, it cannot be reused.
            self.spare.extend(self.kept.pop_front().and_then(Arc::into_inner));
        }
    }

    /// Keeps a chunk of a model that ran beyond the cycle in which the RTL stopped.
    pub(crate) fn keep_ahead(&mut self, chunk: Chunk) {
        self.kept.push_back(Arc::new(chunk));
    }

    /// Takes unused chunks back. A chunk with cycles that was opened to be continued in front of cycle `next`, and was not continued, is kept.
    pub(crate) fn give_back(&mut self, chunks: impl IntoIterator<Item = Chunk>, next: u64) {
        for chunk in chunks {
            let continues = |kept: &Arc<Chunk>| kept.end() == chunk.first;
            if chunk.len > 0 && chunk.end() == next && self.newest().is_none_or(continues) {
                self.kept.push_back(Arc::new(chunk));
            } else {
                self.spare.push(chunk);
            }
        }
    }

    /// The model's last chunk.
    pub(crate) fn newest(&self) -> Option<&Arc<Chunk>> {
        self.kept.back()
    }

    /// The model's record of a cycle that is kept.
    pub(crate) fn cycle(&self, cycle: u64) -> &[u8] {
        self.kept[self.place(cycle)].record(cycle)
    }

    /// The model's record of the next cycle to compare, and the RTL's. `mirrored`: cycles are requested in order, and the model's thread notes changes.
    pub(crate) fn sides(&mut self, cycle: u64, mirrored: bool) -> (&[u8], &mut [u8]) {
        let chunk = &self.kept[self.place(cycle)];
        let record = chunk.record(cycle);
        if !mirrored {
            return (record, self.rtl.get_mut(0));
        }
        self.lines.copy(chunk.changed(cycle, &self.lines), record, self.mirror.get_mut(0));
        if cycle + 1 < chunk.end() {
            self.lines.prefetch(chunk.changed(cycle + 1, &self.lines), chunk.record(cycle + 1));
        }
        (self.mirror.get(0), self.rtl.get_mut(0))
    }

    /// The model's record of this cycle, which [`Trail::sides`] returned last.
    pub(crate) fn expected(&self, cycle: u64, mirrored: bool) -> &[u8] {
        if mirrored { self.mirror.get(0) } else { self.cycle(cycle) }
    }

    /// The model's records from a cycle on, to the end of its chunk, and the RTL's record.
    pub(crate) fn from(&mut self, cycle: u64) -> (&[u8], &mut [u8]) {
        let chunk = &self.kept[self.place(cycle)];
        (&chunk.records.all()[chunk.place(cycle) * chunk.records.size()..], self.rtl.get_mut(0))
    }

    /// Number of kept cycles before `next`, which is a cycle of the last chunk or the one after it.
    pub(crate) fn history(&self, next: u64) -> u64 {
        let kept = self.kept.front().map_or(next, |chunk| chunk.first.min(next));
        (next - self.begins.max(kept)).min(HISTORY)
    }

    /// Index of the chunk that has a cycle: all chunks but the last one are full.
    fn place(&self, cycle: u64) -> usize {
        (cycle - self.kept[0].first) as usize / self.span
    }
}
