//! A contradiction inside chapter 4 of the sharing thesis: `docs/errata.md`.

use super::REPORT;
use crate::errata::{self, printed};
use crate::row::{Claim, Row, Unit};
use crate::sweep::Results;

/// The distance of the next access of r8, in figure 4.3 and its text.
pub const DISTANCE: u32 = 14;

const PRINTED: Claim = Claim::share("sharing thesis, example 4.2.1", "a distance of 8", 8.0, 8.0).in_unit(Unit::Count);

/// Lines of the listing in figure 4.3(a): the access of r8, and the next one along B5 and B6.
const ACCESS: f64 = 1.0;
const NEXT: f64 = 13.0;

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let metric = "instructions from the access of r8 in line 1 of figure 4.3 to the next one";
    errata::rows(&REPORT, results, vec![printed(DISTANCE, PRINTED, metric, NEXT - ACCESS)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand_and_on_the_page() {
        let rows = errata::of(&REPORT);
        errata::check(&rows);
        // The example counts the same way from line 1 to line 3: a distance of 2.
        assert_eq!(rows.iter().map(|row| row.ours).collect::<Vec<_>>(), [12.0]);
    }
}
