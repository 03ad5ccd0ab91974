//! The compiler's marks for a register file cache: which of its levels a result bypasses.

use crate::control::Control;
use crate::encoding::Bits;

/// Levels of the cache that a result bypasses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct CacheMarks {
    /// Bypasses the hardware LRF above the cache, because a shared unit will read the result (hierarchy thesis 6.5.2).
    pub lrf: bool,
    /// Bypasses the cache, because no instruction reads the result before the warp is descheduled (RFC paper 5.3).
    pub cache: bool,
}

/// Marks: name in errors, name in text, place in the control word, field.
type Mark = (&'static str, &'static str, Bits, fn(&mut Control) -> &mut bool);
pub(crate) const MARKS: [Mark; 2] = [
    ("LRF bypass", "lrf_bypass", Bits(25, 1), |control| &mut control.bypass.lrf),
    ("RFC bypass", "rfc_bypass", Bits(26, 1), |control| &mut control.bypass.cache),
];

impl CacheMarks {
    /// No marks.
    pub const NONE: Self = Self { lrf: false, cache: false };

    pub(crate) fn encode(self, word: &mut u64) {
        let mut control = Control { bypass: self, ..Control::default() };
        MARKS.into_iter().for_each(|(.., bits, mark)| bits.set(word, (*mark(&mut control)).into()));
    }

    pub(crate) fn decode(word: u64) -> Self {
        let mut control = Control::default();
        MARKS.into_iter().for_each(|(.., bits, mark)| *mark(&mut control) = bits.get(word) == 1);
        control.bypass
    }

    /// The marks that either of the two has.
    pub fn union(self, other: Self) -> Self {
        Self { lrf: self.lrf || other.lrf, cache: self.cache || other.cache }
    }
}
