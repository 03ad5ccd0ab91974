//! Contradictions inside the hierarchy thesis, chapter 7: `docs/errata.md`.

use super::REPORT;
use crate::errata::{self, printed};
use crate::row::{Claim, Row, Unit};
use crate::sweep::Results;

/// The printed gains of 120 and 115 %, and the meaning of performance per watt.
pub const EFFICIENCY: u32 = 6;
/// DRAM bytes, and bytes of scratchpad memory per cycle.
pub const BYTES: u32 = 7;

const FIRST: Claim = Claim::share("hierarchy thesis 1.4", "115 %", 1.145, 1.155);
const LATER: Claim = Claim::share("hierarchy thesis 7.5.4", "120 %", 1.195, 1.205);
const DRAM: Claim = Claim::share("hierarchy thesis 7, before 7.1", "10-20 %", 0.095, 0.205);
const BANDWIDTH: Claim =
    Claim::share("hierarchy thesis 4.3, table 4.4", "32 bytes a cycle", 32.0, 32.0).in_unit(Unit::Count);

/// 7.5.1 and 7.5.3: the greatest gain in performance, and the greatest saving of energy.
const FASTER: f64 = 0.756;
const SAVED: f64 = 0.2;

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    errata::rows(
        &REPORT,
        results,
        vec![
            printed(
                EFFICIENCY,
                FIRST,
                "performance by energy gained, by 75.6 and 20 %",
                (1.0 + FASTER) / (1.0 - SAVED) - 1.0,
            ),
            printed(
                EFFICIENCY,
                LATER,
                "performance per watt gained at most: work by energy",
                1.0 / (1.0 - SAVED) - 1.0,
            ),
            printed(BYTES, DRAM, "DRAM accesses saved at most, as 7.5.2 prints it", 0.25),
            printed(BYTES, BANDWIDTH, "bytes a cycle of scratchpad memory and cache, as 7.3.2 prints it", 128.0),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_them() {
        let rows = errata::of(&REPORT);
        assert_eq!(rows.len(), 4);
        errata::check(&rows);
    }
}
