//! Contradictions inside chapter 2 of the sharing thesis: `docs/errata.md`.

use super::{SCRATCHPAD, Shared};
use crate::errata::{self, printed};
use crate::plot::Plot;
use crate::row::{Claim, Row, Unit};
use crate::sweep::{Results, SweepPlan};

/// Equation 2.4 gives more guest blocks than host blocks.
pub const EQUATION: u32 = 11;
/// The kernel that is fastest with 50 % shared.
pub const FASTEST: u32 = 13;

const SRAD1: Claim = Claim::share("sharing thesis, table 2.8: SRAD1, 90 %", "4", 4.0, 4.0).in_unit(Unit::Count);
const UNSHARED: Claim =
    Claim::share("sharing thesis 2.2.4: a number of blocks", "0 or more", 0.0, 8.0).in_unit(Unit::Count);
const AT_HALF: Claim =
    Claim::share("sharing thesis 2.5.1.8", "SRAD2 \"performs better at 50%\": above 1", 1.0, 10.0).in_unit(Unit::Ratio);

/// Tables 2.2 and 2.3: an SM has 16384 bytes, of which a block of SRAD1 takes 6144; and 1536 threads, of which it takes 256.
const BYTES_OF_SM: f64 = 16384.0;
const BYTES_OF_BLOCK: f64 = 6144.0;
const THREADS_OF_SM: f64 = 1536.0;
const THREADS_OF_BLOCK: f64 = 256.0;
const MOST_BLOCKS: f64 = 8.0;
/// The private fraction with 90 % shared.
const PRIVATE: f64 = 0.1;

/// IPC of SRAD2 in table 2.7, with 50 and 90 % shared.
const SRAD2_IPC: [f64; 2] = [63.52, 68.29];

/// M of equation 2.4.
fn equation(amount: f64, of_block: f64, private: f64) -> f64 {
    let fit = amount / of_block;
    fit.floor() + (fit - fit.floor()) / private
}

/// Resident blocks: "the minimum of values obtained using the factors (a), (b), and the value M".
fn blocks(amount: f64, of_block: f64, private: f64, threads: f64) -> f64 {
    let rounding = 1e-9;
    (equation(amount, of_block, private).min(THREADS_OF_SM / threads).min(MOST_BLOCKS) + rounding).floor()
}

pub fn plan(_: Shared, _: &mut SweepPlan) {}

pub fn rows(_: Shared, results: &Results<'_>) -> Vec<Row> {
    let blocks = blocks(BYTES_OF_SM, BYTES_OF_BLOCK, PRIVATE, THREADS_OF_BLOCK);
    // Equations 2.1 and 2.3: S + U blocks fit without sharing, and M = U + 2 S.
    let fit = (BYTES_OF_SM / BYTES_OF_BLOCK).floor();
    let pairs = blocks - fit;
    let [half, most] = SRAD2_IPC;
    errata::rows(
        &SCRATCHPAD,
        results,
        vec![
            printed(EQUATION, SRAD1, "resident blocks of SRAD1 with 90 % shared, by 2.2.4", blocks),
            printed(EQUATION, UNSHARED, "blocks among them without a partner, by equations 2.1 and 2.3", fit - pairs),
            printed(FASTEST, AT_HALF, "IPC of SRAD2 with 50 % shared by that with 90 %, by table 2.7", half / most),
        ],
    )
}

pub fn plots(_: Shared, _: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share::{Registers, Scratchpad, residency};

    #[test]
    fn by_hand_and_on_the_page() {
        let rows = errata::of(&SCRATCHPAD);
        errata::check(&rows);
        // 2 blocks take 12288 bytes; the remaining 4096 are 6.7 tenths of a block.
        let by_hand = 2.0 + 4096.0 / 614.4;
        assert!((equation(BYTES_OF_SM, BYTES_OF_BLOCK, PRIVATE) - by_hand).abs() < 1e-9);
        assert_eq!(rows.iter().map(|row| row.ours).collect::<Vec<_>>(), [6.0, -2.0, 63.52 / 68.29]);
    }

    /// The bound that the equations lack matters in one cell of the two tables.
    #[test]
    fn the_equations_give_all_other_cells() {
        let other = |of: Shared, amount: f64| {
            let cells = residency::cells_of(of).into_iter();
            let wrong = cells.filter(move |cell| {
                let threads = f64::from(cell.threads);
                let of_block = f64::from(cell.amount) * if of == Registers { threads } else { 1.0 };
                // Without sharing the fraction of a block that is left over is of no use.
                let private = cell.private.map_or(f64::INFINITY, |tenths| f64::from(tenths) / 10.0);
                blocks(amount, of_block, private, threads) != f64::from(cell.blocks)
            });
            wrong.map(|cell| (cell.kernel, cell.private, cell.blocks)).collect::<Vec<_>>()
        };
        assert_eq!(other(Registers, 32768.0), Vec::new());
        assert_eq!(other(Scratchpad, BYTES_OF_SM), [("SRAD1", Some(1), 4)]);
    }
}
