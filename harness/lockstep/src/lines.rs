//! Which cache lines of a record change from one cycle to the next.
//!
//! If the model runs on its own thread, its records move from one processor's cache to the other's, line by line, and most lines are the same as in
//! the previous cycle. So the model's thread notes which lines changed, and the RTL's thread keeps a copy of the record and fetches only these lines.

use std::ops::Range;

use verilated::prefetch;

use crate::Comparator;
use crate::capture::LINE;

/// The lines of a record that contain inputs or compared signals. A set of lines is a bit mask in words of 64 bits.
pub(crate) struct Lines {
    /// Numbers of the lines, ascending.
    used: Vec<usize>,
}

impl Lines {
    pub(crate) fn new(comparator: &Comparator) -> Self {
        let signals = comparator.declaration().signals.iter().enumerate();
        let needed = signals.filter(|(index, _)| comparator.is_input(*index) || comparator.is_compared(*index));
        let bytes = needed
            .map(|(_, signal)| &signal.field)
            .map(|field| field.offset..field.offset + field.count * field.elem_bytes);
        let mut used: Vec<usize> = bytes
            .filter(|bytes| !bytes.is_empty())
            .flat_map(|bytes| bytes.start / LINE..bytes.end.div_ceil(LINE))
            .collect();
        used.sort_unstable();
        used.dedup();
        Self { used }
    }

    /// Number of words of a set.
    pub(crate) fn words(&self) -> usize {
        self.used.len().div_ceil(64)
    }

    /// Stores in `set` the lines in which two records differ.
    pub(crate) fn changed(&self, before: &[u8], now: &[u8], set: &mut [u64]) {
        for (word, lines) in set.iter_mut().zip(self.used.chunks(64)) {
            *word = 0;
            for (bit, &line) in lines.iter().enumerate() {
                *word |= u64::from(differ(at(before, line), at(now, line))) << bit;
            }
        }
    }

    /// Copies the lines of a set from one record to another.
    pub(crate) fn copy(&self, set: &[u64], from: &[u8], to: &mut [u8]) {
        self.each(set, |bytes| to[bytes.clone()].copy_from_slice(&from[bytes]));
    }

    /// Prefetches lines that will be copied soon.
    pub(crate) fn prefetch(&self, set: &[u64], from: &[u8]) {
        self.each(set, |bytes| prefetch(&from[bytes]));
    }

    /// Calls `line` with the byte range of each line in a set.
    fn each(&self, set: &[u64], mut line: impl FnMut(Range<usize>)) {
        for (&word, lines) in set.iter().zip(self.used.chunks(64)) {
            // A set may have all bits at 1, beyond the number of lines: the surplus bits are masked off.
            let mut rest = word & u64::MAX >> (64 - lines.len());
            while rest != 0 {
                let first = lines[rest.trailing_zeros() as usize] * LINE;
                line(first..first + LINE);
                rest &= rest - 1;
            }
        }
    }
}

/// The bytes of a line.
fn at(record: &[u8], line: usize) -> &[u8; LINE] {
    record[line * LINE..].first_chunk().expect("records are whole cache lines")
}

/// Whether two lines differ; computed without a branch for each part.
fn differ(a: &[u8; LINE], b: &[u8; LINE]) -> bool {
    a.iter().zip(b).fold(0, |found, (a, b)| found | (a ^ b)) != 0
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::config::Config;
    use gpurf_blocks::registry;

    use super::*;
    use crate::Records;

    #[test]
    fn changed_lines_make_one_record_of_another() {
        let twin = (registry::find("mrf").unwrap().twin)(&Config::default());
        let declaration = twin.declaration();
        let lines = Lines::new(&Comparator::new(declaration, None));
        let mut records = Records::zeroed(declaration.record_bytes, 2);
        let mut set = vec![u64::MAX; lines.words()];
        lines.changed(records.get(0), records.get(1), &mut set);
        assert!(set.iter().all(|&word| word == 0));
        for (index, signal) in declaration.signals.iter().enumerate().filter(|(_, s)| s.field.count > 0) {
            let (first, bytes) = (signal.field.offset, signal.field.count * signal.field.elem_bytes);
            records.get_mut(1)[first..first + bytes].fill(index as u8 | 1);
        }
        lines.changed(records.get(0), records.get(1), &mut set);
        let mut copy = Records::zeroed(declaration.record_bytes, 1);
        lines.copy(&set, records.get(1), copy.get_mut(0));
        assert!(copy.get(0) == records.get(1));
        let mut whole = Records::zeroed(declaration.record_bytes, 1);
        lines.copy(&vec![u64::MAX; lines.words()], records.get(1), whole.get_mut(0));
        assert!(whole.get(0) == records.get(1));
        // A change of one byte changes one line.
        let byte = lines.used[lines.used.len() / 2] * LINE + 5;
        copy.get_mut(0)[byte] ^= 1;
        lines.changed(records.get(1), copy.get(0), &mut set);
        assert_eq!(set.iter().map(|word| word.count_ones()).sum::<u32>(), 1);
    }
}
