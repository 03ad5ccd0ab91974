//! What a run keeps: the flight recorder, where both sides stand, the counts.

use crate::events::EventTotals;
use crate::{Lockstep, Records};

/// Cycles kept before a difference.
pub(crate) const HISTORY: usize = 256;
/// Cycles that the model runs before the RTL follows: each side's code stays in the processor's caches. More of them would not fit there themselves.
pub(crate) const CHUNK: usize = 16;
/// Records in the flight recorder: the history, and a chunk in front of it.
const RING: usize = HISTORY.next_multiple_of(CHUNK) + CHUNK;

/// What a run keeps from one stretch to the next. See [`Lockstep::go_on`].
pub struct Trail {
    /// Cycle `c` of the model is in record `c % RING`. While the RTL is equal to it there is no need to keep the RTL's cycles too.
    ring: Records,
    /// The RTL's last cycle: inputs and outputs where it has an environment, all of it where the sides differ.
    pub(crate) rtl: Records,
    pub(crate) totals: EventTotals,
    /// Cycles found equal since reset; `None` before it.
    pub(crate) cycles: Option<u64>,
    pub(crate) slow_compares: u64,
}

impl Trail {
    /// Before reset.
    pub fn new(lockstep: &Lockstep) -> Self {
        let declaration = lockstep.comparator.declaration();
        let size = declaration.record_bytes;
        Self {
            ring: Records::zeroed(size, RING),
            rtl: Records::zeroed(size, 1),
            totals: EventTotals::new(declaration),
            cycles: None,
            slow_compares: 0,
        }
    }

    /// The model's record of the last cycle that was found equal; zeros if there is none.
    pub fn last(&self) -> &[u8] {
        self.cycle(self.cycles.unwrap_or(0).wrapping_add(RING as u64 - 1))
    }

    /// Bytes of a record.
    pub(crate) fn size(&self) -> usize {
        self.ring.size()
    }

    /// The model's record of a cycle.
    pub(crate) fn cycle(&self, cycle: u64) -> &[u8] {
        self.ring.get(place(cycle))
    }

    /// The model's record of a cycle, to be filled.
    pub(crate) fn cycle_mut(&mut self, cycle: u64) -> &mut [u8] {
        self.ring.get_mut(place(cycle))
    }

    /// The model's records of two cycles, of which the second is to be filled.
    pub(crate) fn pair_mut(&mut self, cycle: u64, other: u64) -> (&[u8], &mut [u8]) {
        self.ring.pair_mut(place(cycle), place(other))
    }

    /// Adds the events of a cycle.
    pub(crate) fn add_events(&mut self, cycle: u64) {
        self.totals.add(self.ring.get(place(cycle)));
    }

    /// The model's records from a cycle on, as far as they lie one after another, and the RTL's.
    pub(crate) fn from(&mut self, cycle: u64) -> (&[u8], &mut [u8]) {
        let start = place(cycle) * self.ring.size();
        (&self.ring.all()[start..], self.rtl.get_mut(0))
    }

    /// Cycles from this one on that lie one after another.
    pub(crate) fn until_turn(cycle: u64) -> u64 {
        (RING - place(cycle)) as u64
    }

    /// How many of the cycles before `next` are still there when the model has run a chunk from there on.
    pub(crate) fn history(next: u64) -> u64 {
        next.min(HISTORY as u64)
    }
}

/// The record of a cycle.
fn place(cycle: u64) -> usize {
    (cycle % RING as u64) as usize
}
