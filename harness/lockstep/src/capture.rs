//! Stored records: the contents of the flight recorder.

use std::alloc::Layout;

use crate::history::Past;

/// Records of equal size in one buffer, each aligned to 64 bytes.
pub struct Records {
    bytes: Vec<Line>,
    size: usize,
    len: usize,
}

/// A cache line: gives a `Vec` the alignment that records need.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

impl Records {
    /// An empty list of records of `size` bytes each, a multiple of 64.
    ///
    /// # Panics
    /// When `size` is not a multiple of 64.
    pub fn new(size: usize) -> Self {
        assert!(size.is_multiple_of(LINE) && Layout::new::<Line>().align() == LINE, "records are whole cache lines");
        Self { bytes: Vec::new(), size, len: 0 }
    }

    /// An empty list of records of `size` bytes each, with capacity for `len` records.
    ///
    /// # Panics
    /// When `size` is not a multiple of 64.
    pub fn with_capacity(size: usize, len: usize) -> Self {
        Self { bytes: Vec::with_capacity(len * size / LINE), ..Self::new(size) }
    }

    /// `len` records of zeros.
    pub fn zeroed(size: usize, len: usize) -> Self {
        let mut records = Self::new(size);
        records.resize(len);
        records
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of a record.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Truncates to the first `len` records, or appends records of zeros.
    pub fn resize(&mut self, len: usize) {
        self.bytes.resize(len * self.size / LINE, Line([0; LINE]));
        self.len = len;
    }

    /// Adds a copy of `record`.
    pub fn push(&mut self, record: &[u8]) {
        assert_eq!(record.len(), self.size, "a record of this size");
        let (lines, _) = record.as_chunks::<LINE>();
        self.bytes.extend(lines.iter().map(|&line| Line(line)));
        self.len += 1;
    }

    /// Record `index`.
    #[inline]
    pub fn get(&self, index: usize) -> &[u8] {
        &self.all()[index * self.size..(index + 1) * self.size]
    }

    /// Record `index`.
    #[inline]
    pub fn get_mut(&mut self, index: usize) -> &mut [u8] {
        let size = self.size;
        &mut self.all_mut()[index * size..(index + 1) * size]
    }

    /// Record `one` for reading, and record `other` for writing.
    ///
    /// # Panics
    /// When both indices are the same.
    pub fn pair_mut(&mut self, one: usize, other: usize) -> (&[u8], &mut [u8]) {
        assert_ne!(one, other, "two records");
        let size = self.size;
        let (low, high) = self.all_mut().split_at_mut(one.max(other) * size);
        let low = &mut low[one.min(other) * size..][..size];
        let high = &mut high[..size];
        if one < other { (low, high) } else { (high, low) }
    }

    /// All bytes, record after record.
    pub fn all(&self) -> &[u8] {
        // SAFETY: `Line` is 64 plain bytes without padding.
        unsafe { std::slice::from_raw_parts(self.bytes.as_ptr().cast(), self.bytes.len() * LINE) }
    }

    /// All bytes, record after record.
    pub fn all_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `all`.
        unsafe { std::slice::from_raw_parts_mut(self.bytes.as_mut_ptr().cast(), self.bytes.len() * LINE) }
    }

    /// A copy with only those records for whose index `keep` holds.
    pub fn filtered(&self, mut keep: impl FnMut(usize) -> bool) -> Self {
        let mut kept = Self::new(self.size);
        (0..self.len).filter(|&i| keep(i)).for_each(|i| kept.push(self.get(i)));
        kept
    }
}

impl Clone for Records {
    fn clone(&self) -> Self {
        Self { bytes: self.bytes.clone(), size: self.size, len: self.len }
    }
}

/// Records of both sides over a range of cycles: before a failure, where all that is compared is equal, and from the failure on.
pub struct Capture {
    /// Number of the first cycle whose records are kept.
    pub first_cycle: u64,
    /// Cycles before the failure, in which both sides are equal: one record of each cycle serves both.
    pub(crate) before: Records,
    /// The RTL's records from the failure on.
    pub(crate) rtl: Records,
    /// The model's records from the failure on, as many as the RTL's.
    pub(crate) model: Records,
    /// The cycles of a longer history, up to the last cycle of `before`.
    pub(crate) past: Option<Past>,
    /// Why there is no longer history although one was requested.
    pub shorter: Option<String>,
}

impl Capture {
    /// Number of cycles whose records are kept.
    pub fn len(&self) -> usize {
        self.before.len() + self.rtl.len()
    }

    /// Whether no records are kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of cycles before the failure whose records are kept.
    pub fn before(&self) -> usize {
        self.before.len()
    }

    /// The RTL's record of a cycle, counted from the first one that is kept.
    pub fn rtl(&self, index: usize) -> &[u8] {
        self.side(&self.rtl, index)
    }

    /// The model's record of a cycle, counted from the first one that is kept.
    pub fn model(&self, index: usize) -> &[u8] {
        self.side(&self.model, index)
    }

    fn side<'a>(&'a self, after: &'a Records, index: usize) -> &'a [u8] {
        match index.checked_sub(self.before.len()) {
            None => self.before.get(index),
            Some(index) => after.get(index),
        }
    }

    /// Number of the first cycle shown: with a longer history it is before the first cycle that is kept.
    pub fn begin(&self) -> u64 {
        self.past.as_ref().map_or(self.first_cycle, |past| past.first)
    }

    /// Calls `show` for all cycles with the model's record and the RTL's: first the cycles of a longer history, which the model runs again, then the kept
    /// ones. Ends early with an error of `show`.
    ///
    /// # Errors
    /// The error of `show`.
    pub fn each<E>(&self, mut show: impl FnMut(u64, &[u8], &[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut kept = 0;
        if let Some(past) = &self.past {
            past.each(|cycle, record| show(cycle, record, record))?;
            kept = self.before();
        }
        (kept..self.len()).try_for_each(|i| show(self.first_cycle + i as u64, self.model(i), self.rtl(i)))
    }
}
