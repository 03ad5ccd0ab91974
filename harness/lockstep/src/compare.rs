//! The rules of comparison.

use std::ops::Range;

use gpurf_blocks::{Declaration, Field, Role};

/// A signal, or an element of an array, in which the two sides differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Index of the signal in the declaration.
    pub signal: usize,
    /// Element.
    pub element: usize,
}

/// Decides whether two records are equal in everything that is compared.
///
/// Most cycles are decided by comparing runs of bytes: the RTL's record has zeros in narrow payloads that are not valid, and
/// a twin usually leaves zeros there too. Where these bytes differ the rules are applied signal by signal within the run, so what is decided does
/// not depend on what either side leaves in a payload that is not valid.
pub struct Comparator {
    declaration: Declaration,
    /// Signals that are compared: outputs and probes that the RTL has.
    compared: Vec<usize>,
    /// Runs of narrow signals.
    spans: Vec<Span>,
    /// Wide elements.
    wide: Vec<Wide>,
}

/// A run of bytes, and the signals in it.
struct Span {
    bytes: Range<usize>,
    signals: Vec<usize>,
}

impl Span {
    #[inline]
    fn is_equal(&self, model: &[u8], rtl: &[u8]) -> bool {
        model[self.bytes.clone()] == rtl[self.bytes.clone()]
    }
}

/// A signal of 1024-bit elements.
struct Wide {
    signal: usize,
    offset: usize,
    count: usize,
    /// Offset and width in bytes of a mask with one bit for each element, if that is how it is validated.
    mask: Option<(usize, usize)>,
}

const WIDE_BYTES: usize = 128;

/// Unused bytes that a run of bytes may contain: one long comparison costs less than several short ones. Should they ever differ, the signals decide.
const GAP: usize = 64;

/// Bytes of a run: long enough for a fast comparison, short enough to have few signals where it fails.
const SPAN: usize = 1024;

impl Comparator {
    /// Compares everything in the declaration but inputs and the signals in `absent`.
    pub fn new(declaration: &Declaration, absent: &[usize]) -> Self {
        let signals = &declaration.signals;
        let is_compared = |i: &usize| signals[*i].role != Role::Input && !absent.contains(i);
        let compared: Vec<usize> = (0..signals.len()).filter(is_compared).collect();
        let mut wide = Vec::new();
        let mut narrow = Vec::new();
        for &index in &compared {
            let field = &signals[index].field;
            if field.elem_bytes == WIDE_BYTES {
                let by = signals[index].valid.map(|v| &signals[v].field);
                let mask = by.filter(|b| !b.array && b.bits as usize == field.count).map(|b| (b.offset, b.elem_bytes));
                wide.push(Wide { signal: index, offset: field.offset, count: field.count, mask });
            } else {
                narrow.push(index);
            }
        }
        narrow.sort_by_key(|&index| signals[index].field.offset);
        let mut spans: Vec<Span> = Vec::new();
        for index in narrow {
            let bytes = extent(&signals[index].field);
            match spans.last_mut() {
                Some(Span { bytes: last, signals })
                    if last.end <= bytes.start && bytes.start - last.end <= GAP && bytes.end - last.start <= SPAN =>
                {
                    last.end = bytes.end;
                    signals.push(index);
                }
                _ => spans.push(Span { bytes, signals: vec![index] }),
            }
        }
        Self { declaration: declaration.clone(), compared, spans, wide }
    }

    /// The declaration.
    pub fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    /// Number of signals compared, array elements counted one by one.
    pub fn signals_compared(&self) -> usize {
        self.compared.iter().map(|&i| self.declaration.signals[i].field.count).sum()
    }

    /// Whether the records are certainly equal, by bytes alone. False says nothing.
    #[inline]
    pub fn surely_equal(&self, model: &[u8], rtl: &[u8]) -> bool {
        self.spans.iter().all(|span| span.is_equal(model, rtl))
            && self.wide.iter().all(|w| self.wide_equal(w, model, rtl))
    }

    #[inline]
    fn wide_equal(&self, wide: &Wide, model: &[u8], rtl: &[u8]) -> bool {
        let equal = |element: usize| {
            let at = wide.offset + element * WIDE_BYTES;
            model[at..at + WIDE_BYTES] == rtl[at..at + WIDE_BYTES]
        };
        let Some((offset, bytes)) = wide.mask else {
            return (0..wide.count).all(|e| !self.declaration.is_valid(rtl, wide.signal, e) || equal(e));
        };
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(&rtl[offset..offset + bytes]);
        let mut mask = u64::from_le_bytes(word);
        while mask != 0 {
            if !equal(mask.trailing_zeros() as usize) {
                return false;
            }
            mask &= mask - 1;
        }
        true
    }

    /// Everything in which the records differ, in the order of declaration. A payload is compared where both sides call it
    /// valid; where they disagree about that, their valids differ.
    pub fn differences(&self, model: &[u8], rtl: &[u8]) -> Vec<Difference> {
        let narrow = self.spans.iter().filter(|span| !span.is_equal(model, rtl)).flat_map(|span| &span.signals);
        let wide = self.wide.iter().filter(|wide| !self.wide_equal(wide, model, rtl)).map(|wide| &wide.signal);
        let mut found = self.differing(narrow.chain(wide).copied(), model, rtl);
        found.sort_by_key(|difference| (difference.signal, difference.element));
        found
    }

    /// The same of the inputs, which the two sides may get from environments of their own.
    pub fn input_differences(&self, model: &[u8], rtl: &[u8]) -> Vec<Difference> {
        self.differing((0..self.declaration.signals.len()).filter(|&s| self.is_input(s)), model, rtl)
    }

    fn differing(&self, signals: impl Iterator<Item = usize>, model: &[u8], rtl: &[u8]) -> Vec<Difference> {
        let mut found = Vec::new();
        for signal in signals {
            let field = &self.declaration.signals[signal].field;
            if model[extent(field)] == rtl[extent(field)] {
                continue;
            }
            for element in 0..field.count {
                if field.bytes(model, element) != field.bytes(rtl, element)
                    && self.declaration.is_valid(model, signal, element)
                    && self.declaration.is_valid(rtl, signal, element)
                {
                    found.push(Difference { signal, element });
                }
            }
        }
        found
    }

    /// Whether a signal is an input.
    pub fn is_input(&self, signal: usize) -> bool {
        self.declaration.signals[signal].role == Role::Input
    }

    /// Whether a signal is compared at all.
    pub fn is_compared(&self, signal: usize) -> bool {
        self.compared.binary_search(&signal).is_ok()
    }
}

/// The bytes of all elements of a field.
fn extent(field: &Field) -> Range<usize> {
    field.offset..field.offset + field.count * field.elem_bytes
}
