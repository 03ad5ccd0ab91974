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
/// 4 KB, as two banks of 256 entries.
pub const BANKS: u32 = 10;

const WHOLE: Claim = Claim::share("hybrid paper 6.3 and 6.5", "28.3 %", 0.2825, 0.2835);
const BODY: Claim = Claim::share("hybrid paper 1 and 6.3", "76 %", 0.755, 0.765);
const END: Claim = Claim::share("hybrid paper 7", "74 %", 0.735, 0.745);
const KILOBYTES: Claim = Claim::share("hybrid paper 4.4", "4 KB", 4.0, 4.0).in_unit(Unit::Ratio);

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
            printed(BANKS, KILOBYTES, "KB of two banks of 256 registers of 32 bits", 2.0 * 256.0 * 4.0 / 1024.0),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand_and_on_the_page() {
        let rows = errata::of(&REPORT);
        assert_eq!(rows.len(), 4);
        errata::check(&rows);
        // 19.6 % for STT-RAM, plus two buffers of 64 entries of 38 bits in each of 32 lanes and 448 further bits, all 1.16 times as large, relative
        // to 1 Mbit.
        let buffers = (2.0 * 64.0 * 38.0 * 32.0 + 448.0) * 1.16 / 1_048_576.0;
        assert!((rows[0].ours - (0.038 / 0.194 + buffers)).abs() < 2e-4, "{}", rows[0].ours);
    }
}
