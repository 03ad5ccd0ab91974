//! The instructions that still wait for operands.

use std::collections::VecDeque;

use crate::counts::seen::{Seen, Taken};
use crate::counts::words::Tally;

/// An instruction that lacks operands.
struct Lacking {
    collector: usize,
    /// Sources that have not been read, one bit each.
    sources: u64,
}

/// Instructions that lack operands, the oldest first.
pub(super) struct Reads {
    lacking: VecDeque<Lacking>,
    /// Cycles that a bank takes for a read, and the remaining cycles of the read in progress.
    cycles: u64,
    left: u64,
}

impl Reads {
    /// No instruction waits for operands.
    pub fn new(cycles: u64) -> Self {
        Self { lacking: VecDeque::new(), cycles: cycles.max(1), left: 0 }
    }

    /// Runs a cycle: the oldest instruction waits if a source is left, and none of its sources is being read.
    pub fn cycle(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        let nets = &seen.inside.provider.hrf().nets;
        if nets.reads_stt_valid != 0 {
            self.left = self.cycles;
        }
        let (reading, mut granted) = (self.left != 0, nets.grant);
        self.left = self.left.saturating_sub(1);
        if let Some(oldest) = self.lacking.front_mut() {
            let here = granted >> (3 * oldest.collector) & 0b111;
            granted &= !(0b111 << (3 * oldest.collector));
            if here & !oldest.sources != 0 {
                tally.object(|| "an operand is read twice".to_owned());
            }
            oldest.sources &= !here;
            if oldest.sources == 0 {
                self.lacking.pop_front();
            } else if !reading {
                tally.add("hrf_wait_read", 1u64);
            }
        }
        if granted != 0 {
            tally.object(|| "an operand is read before those of an older instruction".to_owned());
        }
    }

    /// Adds an instruction that is taken.
    pub fn take(&mut self, taken: &Taken, seen: &Seen<'_>) {
        let sources = taken.uses.registers().fold(0, |sources, (k, _)| sources | 1 << k);
        let collector = seen.inside.provider.hrf().nets.alloc_valid.trailing_zeros() as usize;
        if sources != 0 {
            self.lacking.push_back(Lacking { collector, sources });
        }
    }
}
