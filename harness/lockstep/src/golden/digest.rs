//! A running digest of everything that lockstep compares in a cycle.

use std::collections::BTreeMap;
use std::ops::Range;

use gpurf_blocks::Declaration;
use twox_hash::XxHash3_64;

/// The condition under which a payload is valid: some byte of a range is not zero, masked if the valid is a vector of bits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Valid {
    offset: usize,
    bytes: usize,
    mask: u64,
}

impl Valid {
    fn holds(&self, record: &[u8]) -> bool {
        let bytes = &record[self.offset..self.offset + self.bytes];
        if self.mask == u64::MAX {
            return bytes.iter().any(|&byte| byte != 0);
        }
        let word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        word & self.mask != 0
    }
}

/// The digest of all cycles so far: of every signal of a declaration, inputs included, and of payloads while they are valid. The values that the model leaves in a
/// payload that is not valid do not affect the digest.
pub struct StateDigest {
    always: Vec<Range<usize>>,
    payloads: Vec<(Valid, Vec<Range<usize>>)>,
    gathered: Vec<u8>,
    value: u64,
}

impl StateDigest {
    /// The digest of no cycles.
    pub fn new(declaration: &Declaration) -> Self {
        let mut always = Vec::new();
        let mut payloads: BTreeMap<Valid, Vec<Range<usize>>> = BTreeMap::new();
        for (index, signal) in declaration.signals.iter().enumerate() {
            let field = &signal.field;
            for element in 0..field.count {
                let start = field.offset + element * field.elem_bytes;
                let bytes = start..start + field.elem_bytes;
                match declaration.valid_range(index, element) {
                    None => always.push(bytes),
                    Some(range) => {
                        let by = &declaration.signals[range.signal].field;
                        let valid = if by.array {
                            let (offset, bytes) = (by.offset + range.first * by.elem_bytes, range.len * by.elem_bytes);
                            Valid { offset, bytes, mask: u64::MAX }
                        } else {
                            let bits = u64::MAX >> (u64::BITS as usize - range.len.min(64));
                            Valid { offset: by.offset, bytes: by.elem_bytes.min(8), mask: bits << range.first }
                        };
                        payloads.entry(valid).or_default().push(bytes);
                    }
                }
            }
        }
        let payloads = payloads.into_iter().map(|(valid, ranges)| (valid, merged(ranges))).collect();
        Self { always: merged(always), payloads, gathered: Vec::with_capacity(declaration.record_bytes), value: 0 }
    }

    /// Adds a cycle.
    pub fn cycle(&mut self, record: &[u8]) {
        self.gathered.clear();
        for range in &self.always {
            self.gathered.extend_from_slice(&record[range.clone()]);
        }
        for (_, ranges) in self.payloads.iter().filter(|(valid, _)| valid.holds(record)) {
            for range in ranges {
                self.gathered.extend_from_slice(&record[range.clone()]);
            }
        }
        self.value = XxHash3_64::oneshot_with_seed(self.value, &self.gathered);
    }

    /// The digest of all cycles so far.
    pub fn value(&self) -> u64 {
        self.value
    }
}

/// Merges ranges that touch each other.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => merged.push(range),
        }
    }
    merged
}

/// A short description of the digested signals: their number, and a digest of their names and widths. Digests of different signals cannot be compared.
pub fn signals(declaration: &Declaration) -> String {
    let mut names: Vec<String> = Vec::new();
    for signal in &declaration.signals {
        let (field, valid) = (&signal.field, signal.valid.map_or("", |valid| declaration.signals[valid].field.name));
        names.push(format!("{} {} {} {:?} {valid}", field.name, field.bits, field.count, signal.role));
    }
    // Positions in the record do not affect the digest, but the order in which signals are digested does.
    let text = names.join("\n");
    format!("{} ({:08x})", names.len(), XxHash3_64::oneshot(text.as_bytes()) as u32)
}

/// A digest of bytes, in the form that goldens use.
pub fn of_bytes(bytes: &[u8]) -> String {
    format!("{:016x}", XxHash3_64::oneshot(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Records;
    use gpurf_blocks::config::Config;

    /// The register file: it has payloads of single valids, of bits of a valid, and of elements.
    fn declaration() -> Declaration {
        gpurf_blocks::registry::find("mrf").map(|entry| (entry.twin)(&Config::default()).declaration().clone()).unwrap()
    }

    #[test]
    fn what_is_digested_is_what_is_compared() {
        let declaration = declaration();
        let digest = |record: &[u8]| {
            let mut digest = StateDigest::new(&declaration);
            digest.cycle(record);
            digest.value()
        };
        let mut payloads = [0, 0];
        for all_valid in [false, true] {
            let mut plain = Records::zeroed(declaration.record_bytes, 1);
            for signal in declaration.signals.iter().filter(|signal| signal.valid.is_none() && all_valid) {
                let field = &signal.field;
                plain.get_mut(0)[field.offset..field.offset + field.count * field.elem_bytes].fill(0xff);
            }
            let expected = digest(plain.get(0));
            for (index, signal) in declaration.signals.iter().enumerate() {
                for element in 0..signal.field.count {
                    let valid = declaration.is_valid(plain.get(0), index, element);
                    payloads[usize::from(valid)] += usize::from(signal.valid.is_some());
                    let mut other = plain.clone();
                    other.get_mut(0)[signal.field.offset + element * signal.field.elem_bytes] ^= 1;
                    assert_eq!(digest(other.get(0)) != expected, valid, "{} {element}", signal.field.name);
                }
            }
        }
        assert!(payloads.iter().all(|&count| count > 10), "{payloads:?}");
    }

    #[test]
    fn the_order_of_cycles_matters() {
        let declaration = declaration();
        let mut records = Records::zeroed(declaration.record_bytes, 2);
        records.get_mut(1)[declaration.signal("rst_ni").unwrap().field.offset] = 1;
        let digest = |order: [usize; 2]| {
            let mut digest = StateDigest::new(&declaration);
            order.into_iter().for_each(|index| digest.cycle(records.get(index)));
            digest.value()
        };
        assert_ne!(digest([0, 1]), digest([1, 0]));
    }
}
