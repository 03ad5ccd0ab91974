//! What a run keeps: the flight recorder, where both sides stand, the counts.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::ahead::AHEAD;
use crate::events::EventTotals;
use crate::history::{HISTORY, History};
use crate::lines::Lines;
use crate::{Lockstep, Records};

/// Cycles of a chunk, at least and at most. Where both sides take turns, more of the SM's cycles would push the code out of the processor's caches.
const SPANS: (usize, usize) = (16, 256);
/// Bytes of a chunk, as far as these limits allow: chunks of small blocks are long, so that handing one over costs little for each cycle.
const CHUNK_BYTES: usize = 1 << 16;

/// Cycles of the model, one after another, from a multiple of a chunk's cycles on.
pub(crate) struct Chunk {
    first: u64,
    /// Cycles done.
    len: usize,
    records: Records,
    /// For each cycle the lines that are not as in the cycle before, if that is noted.
    changed: Vec<u64>,
    /// There are no further inputs.
    pub ended: bool,
    /// The model panicked in the next cycle.
    pub panic: Option<String>,
    /// The model waits for the RTL after it.
    pub last: bool,
}

impl Chunk {
    fn new(size: usize, span: usize) -> Self {
        let records = Records::zeroed(size, span);
        Self { first: 0, len: 0, records, changed: Vec::new(), ended: false, panic: None, last: false }
    }

    /// The first cycle that is not done.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.len as u64
    }

    /// Makes it ready for cycles from this one on: it continues if that is its next one, else it forgets what it has.
    pub(crate) fn begin(&mut self, cycle: u64) {
        if self.end() != cycle {
            (self.first, self.len) = (cycle, 0);
        }
        (self.ended, self.panic, self.last) = (false, None, false);
    }

    /// The first cycle that has no place in it.
    pub(crate) fn limit(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    /// The record of the next cycle, to be filled.
    pub(crate) fn next_mut(&mut self) -> &mut [u8] {
        self.records.get_mut(self.len)
    }

    /// The record of the cycle before the next one, if it has that, and the next one's.
    pub(crate) fn pair_mut(&mut self) -> Option<(&[u8], &mut [u8])> {
        self.len.checked_sub(1).map(|before| self.records.pair_mut(before, self.len))
    }

    /// Notes which lines of the next cycle's record are not as in the cycle before, which this chunk has or whose record is `before`. Nothing: all of
    /// them count as such.
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

    /// The next cycle is done.
    pub(crate) fn advance(&mut self) {
        self.len += 1;
    }

    /// The last cycle that is done.
    pub(crate) fn newest(&self) -> Option<&[u8]> {
        self.len.checked_sub(1).map(|last| self.records.get(last))
    }

    /// The record of a cycle that is done.
    pub(crate) fn record(&self, cycle: u64) -> &[u8] {
        self.records.get(self.place(cycle))
    }

    fn place(&self, cycle: u64) -> usize {
        (cycle - self.first) as usize
    }
}

/// What a run keeps from one stretch to the next. See [`Lockstep::go_on`].
pub struct Trail {
    /// The model's last chunks, oldest first, without a gap. While the RTL is equal to them there is no need to keep its cycles too.
    kept: VecDeque<Arc<Chunk>>,
    /// Chunks to be used.
    spare: Vec<Chunk>,
    /// A record of zeros.
    blank: Records,
    /// Cycles of a chunk.
    span: usize,
    /// The first cycle that is compared: the RTL has got the model's state in front of it, or 0.
    begins: u64,
    /// The RTL's last cycle: inputs and outputs where it has an environment, all of it where the sides differ.
    pub(crate) rtl: Records,
    /// The model's record of the cycle that the RTL is compared with, where the model runs on another thread.
    mirror: Records,
    pub(crate) lines: Arc<Lines>,
    /// Nothing while a run has them.
    pub(crate) totals: Option<EventTotals>,
    /// Cycles found equal since reset; `None` before it.
    pub(crate) cycles: Option<u64>,
    pub(crate) slow_compares: u64,
    /// What a longer history is run again from; nothing where the chunks that are kept are enough.
    pub(crate) history: Option<History>,
}

impl Trail {
    /// Before reset.
    pub fn new(lockstep: &Lockstep) -> Self {
        Self::with_history(lockstep, HISTORY)
    }

    /// Before reset; a failure has the records of so many cycles before it. Those beyond [`HISTORY`] are run again when it fails.
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

    /// The same for a run in which the model has come to a cycle alone, and the RTL has got its state ([`Lockstep::meet`]). `before`: the inputs and
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

    /// Bytes of a record.
    pub(crate) fn size(&self) -> usize {
        self.blank.size()
    }

    /// The chunk for the cycles from this one on. A stretch may have ended in the middle of the last one: then that is continued.
    pub(crate) fn open(&mut self, cycle: u64) -> Chunk {
        let goes_on = self.kept.back().is_some_and(|chunk| chunk.limit() > cycle);
        let last = if goes_on { self.kept.pop_back() } else { None };
        last.and_then(Arc::into_inner).unwrap_or_else(|| self.spare())
    }

    /// A chunk to be used.
    pub(crate) fn spare(&mut self) -> Chunk {
        self.spare.pop().unwrap_or_else(|| Chunk::new(self.size(), self.span))
    }

    /// Keeps a chunk that is to be compared, and forgets what is not needed any more.
    pub(crate) fn keep(&mut self, chunk: Chunk) {
        self.kept.push_back(Arc::new(chunk));
        if self.kept.len() > (HISTORY as usize).div_ceil(self.span) + 1 {
            // One that is still observed is left to the model's thread.
            self.spare.extend(self.kept.pop_front().and_then(Arc::into_inner));
        }
    }

    /// Keeps a chunk of a model that has gone further than the RTL, which does not follow any more.
    pub(crate) fn keep_ahead(&mut self, chunk: Chunk) {
        self.kept.push_back(Arc::new(chunk));
    }

    /// Takes chunks back. One that was opened to be continued in front of cycle `next`, and was not, is kept.
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

    /// The model's record of the next cycle to compare, and the RTL's. `mirrored`: cycles come one after another, and the model's thread notes what changes.
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

    /// The model's record that [`Trail::sides`] gave last, for this cycle.
    pub(crate) fn expected(&self, cycle: u64, mirrored: bool) -> &[u8] {
        if mirrored { self.mirror.get(0) } else { self.cycle(cycle) }
    }

    /// The model's records from a cycle on, those of its chunk one after another, and the RTL's.
    pub(crate) fn from(&mut self, cycle: u64) -> (&[u8], &mut [u8]) {
        let chunk = &self.kept[self.place(cycle)];
        (&chunk.records.all()[chunk.place(cycle) * chunk.records.size()..], self.rtl.get_mut(0))
    }

    /// How many of the cycles before `next`, a cycle of the last chunk or the one after it, are kept.
    pub(crate) fn history(&self, next: u64) -> u64 {
        let kept = self.kept.front().map_or(next, |chunk| chunk.first.min(next));
        (next - self.begins.max(kept)).min(HISTORY)
    }

    /// The place of a cycle's chunk: all but the last one are full.
    fn place(&self, cycle: u64) -> usize {
        (cycle - self.kept[0].first) as usize / self.span
    }
}
