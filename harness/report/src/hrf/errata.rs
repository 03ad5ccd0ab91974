//! Contradictions inside the hybrid paper: `docs/errata.md`.

use gpurf_energy::hybrid::HybridFile;

use super::{REPORT, area};
use crate::errata::{self, printed};
use crate::row::{Claim, Row, Unit};
use crate::sweep::Results;

/// 28.3 % of the area, against the value that tables 1 and 2 give.
pub const AREA: u32 = 8;
/// The saved power: 76, 75 and 74 %.
pub const SAVED: u32 = 9;
/// 16 banks of 1024 entries, of 128 and of 256 KB.
pub const BANKS: u32 = 10;

const WHOLE: Claim = Claim::share("hybrid paper 6.3 and 6.5", "28.3 %", 0.2825, 0.2835);
const BODY: Claim = Claim::share("hybrid paper 1 and 6.3", "76 %", 0.755, 0.765);
const END: Claim = Claim::share("hybrid paper 7", "74 %", 0.735, 0.745);
const FERMI: Claim = Claim::share("hybrid paper 4.4", "128 KB", 128.0, 128.0).in_unit(Unit::Count);
const KEPLER: Claim = Claim::share("hybrid paper 3.1", "256 KB", 256.0, 256.0).in_unit(Unit::Count);

/// 3.1 and 4.4: "16 banks with 1024 entries in each bank".
const ENTRIES: f64 = 16.0 * 1024.0;
/// 3.1: "an 128-byte width".
const WIDTH: f64 = 128.0;

/// Abstract: "further reduced to 25 % of SRAM counterpart".
const LEFT: f64 = 0.25;

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    errata::rows(
        &REPORT,
        results,
        vec![
            printed(
                AREA,
                WHOLE,
                "area of the hybrid file with power gating by that of SRAM, by tables 1 and 2",
                area::part(HybridFile::stt_ram(64).gated(16)),
            ),
            printed(SAVED, BODY, "register file power saved with gating, by the abstract", 1.0 - LEFT),
            printed(SAVED, END, "the same, as the conclusion prints it", 1.0 - LEFT),
            printed(BANKS, FERMI, "KB of 16 banks of 1024 entries of 128 bytes", ENTRIES * WIDTH / 1024.0),
            printed(BANKS, KEPLER, "KB of 16 banks of 1024 entries, as 4.4 prints them", 128.0),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand_and_on_the_page() {
        let rows = errata::of(&REPORT);
        assert_eq!(rows.len(), 5);
        errata::check(&rows);
        // 19.6 % for STT-RAM, plus two buffers of 64 entries of 38 bits in each of 32 lanes and 448 further bits, all 1.16 times as large, relative
        // to 1 Mbit.
        let buffers = (2.0 * 64.0 * 38.0 * 32.0 + 448.0) * 1.16 / 1_048_576.0;
        assert!((rows[0].ours - (0.038 / 0.194 + buffers)).abs() < 2e-4, "{}", rows[0].ours);
    }
}
