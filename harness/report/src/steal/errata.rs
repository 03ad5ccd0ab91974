//! Contradictions inside the stealing paper: `docs/errata.md`.

use super::REPORT;
use crate::errata::{self, Printed};
use crate::row::{Claim, Row};
use crate::sweep::Results;

/// The utilisation of the same banks is printed as 25 and as 23 %.
pub const UTILISATION: u32 = 12;

const FIGURE_5: Claim = Claim::share("stealing paper III-C, figure 5", "25 %", 0.245, 0.255);

/// VI-B3: "against 23 % in the straight" 16 banks.
const LATER: f64 = 0.23;

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let metric = "utilisation of 16 straight banks, as VI-B3 prints it".into();
    errata::rows(&REPORT, results, vec![Printed { number: UTILISATION, claim: FIGURE_5, metric, value: LATER }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::made;

    #[test]
    fn the_page_has_it() {
        let report = made(&REPORT, &["a", "b"], |_, _| None);
        assert_eq!(report.rows.len(), 1);
        errata::check(&report.rows);
    }
}
