//! Random levels of operands.

use gpurf_isa::{LrfBank, OrfEntry, ResultLevel, SourceLevel, Upper};

use super::Generator;

impl Generator<'_> {
    pub(super) fn source_level(&mut self) -> SourceLevel {
        match self.rng.below(4) {
            0 => SourceLevel::MrfCopied(self.orf_entry()),
            1 => SourceLevel::Upper(self.upper()),
            _ => SourceLevel::Mrf,
        }
    }

    pub(super) fn result_level(&mut self) -> ResultLevel {
        match self.rng.below(4) {
            0 => ResultLevel::Upper(self.upper()),
            1 => ResultLevel::Both(self.upper()),
            _ => ResultLevel::Mrf,
        }
    }

    fn orf_entry(&mut self) -> OrfEntry {
        OrfEntry::new(self.rng.below(8) as u8).expect("there are eight")
    }

    fn upper(&mut self) -> Upper {
        if self.rng.chance(600) {
            Upper::Orf(self.orf_entry())
        } else {
            Upper::Lrf(LrfBank::new(self.rng.below(3) as u8).expect("there are three"))
        }
    }
}
