//! Contradictions inside the sharing thesis: `docs/errata.md`.

use super::{REGISTERS, Shared};
use crate::errata::{self, printed};
use crate::plot::Plot;
use crate::row::{Claim, Row, Unit};
use crate::sweep::{Results, SweepPlan};

/// Equation 2.4 gives more guest blocks than host blocks.
pub const EQUATION: u32 = 11;

const HOTSPOT: Claim = Claim::share("sharing thesis, table 2.6: hotspot, 90 %", "6", 6.0, 6.0).in_unit(Unit::Count);
const UNSHARED: Claim =
    Claim::share("sharing thesis 2.2.4: a number of blocks", "0 or more", 0.0, 8.0).in_unit(Unit::Count);

/// Example 2.1.1: an SM has 32768 registers, of which a block of hotspot takes 9216.
const REGISTERS_OF_SM: f64 = 32768.0;
const REGISTERS_OF_BLOCK: f64 = 9216.0;
/// The private fraction with 90 % shared.
const PRIVATE: f64 = 0.1;

/// Resident blocks by equation 2.4.
fn blocks(private: f64) -> f64 {
    let fit = REGISTERS_OF_SM / REGISTERS_OF_BLOCK;
    fit.floor() + (fit - fit.floor()) / private
}

pub fn plan(_: Shared, _: &mut SweepPlan) {}

pub fn rows(_: Shared, results: &Results<'_>) -> Vec<Row> {
    // Equations 2.1 and 2.3: S + U blocks fit without sharing, and M = U + 2 S.
    let fit = (REGISTERS_OF_SM / REGISTERS_OF_BLOCK).floor();
    let pairs = blocks(PRIVATE) - fit;
    errata::rows(
        &REGISTERS,
        results,
        vec![
            printed(EQUATION, HOTSPOT, "resident blocks of hotspot with 90 % shared, by equation 2.4", blocks(PRIVATE)),
            printed(EQUATION, UNSHARED, "blocks among them without a partner, by equations 2.1 and 2.4", fit - pairs),
        ],
    )
}

pub fn plots(_: Shared, _: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand_and_on_the_page() {
        let rows = errata::of(&REGISTERS);
        errata::check(&rows);
        // 3 blocks take 27648 registers; the remaining 5120 are 5.6 tenths of a block.
        assert!((blocks(PRIVATE) - (3.0 + 5120.0 / 921.6)).abs() < 1e-9);
        assert_eq!(rows.len(), 2);
        assert!(rows[1].ours < 0.0);
    }
}
