//! The utilisation of banks: stealing paper III-C, figure 5; VI-B3.

use super::{NOT_SAID, bank_utilisation, stealing, straight, why};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Row, Unit};
use crate::shown::kernels;
use crate::sweep::{Point, Results, SweepPlan};

const FIGURE: Claim = Claim::share("stealing paper III-C, figure 5; VI-B3", "25 %; 23 %: 22.5-25.5 %", 0.225, 0.255);
const STOLEN: Claim = Claim::share("stealing paper VI-B3", "54 %", 0.535, 0.545);
const FACTOR: Claim =
    Claim::share("stealing paper VI-B3", "54 % against 23 %: 2.28-2.42", 53.5 / 23.5, 54.5 / 22.5).in_unit(Unit::Ratio);
const STRAIGHT: Claim = Claim::none(NOT_SAID);

pub fn plan(plan: &mut SweepPlan) {
    why::plan(plan, [straight(16), straight(8), stealing(8)]);
}

/// The utilisation of the banks of a machine.
fn used(results: &Results<'_>, point: &Point) -> Option<PerKernel> {
    let banks = banks(results, point)?;
    results.each(point, |run| bank_utilisation(run, banks))
}

/// The number of banks of the machine.
fn banks(results: &Results<'_>, point: &Point) -> Option<u32> {
    Some(results.config(point)?.mrf.banks as u32)
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let row = |claim: Claim, metric: &str, point: Point| {
        let row = claim.mean(format!("utilisation of the banks, {metric}"), used(results, &point)?);
        let banks = banks(results, &point)?;
        Some(row.because(|_| why::mean_at(results, "utilisation", &point, &|run| bank_utilisation(run, banks))))
    };
    let factor = || {
        let (eight, sixteen) = (used(results, &stealing(8))?, used(results, &straight(16))?);
        let factor = Estimate::ratio_of_means(&eight, &sixteen);
        let row = FACTOR.row("that of 8 banks with stealing by that of 16", factor);
        Some(row.derived("the two utilisations").because(|_| why::factor(results)))
    };
    let rows = [
        row(FIGURE, "16 banks", straight(16)),
        row(STRAIGHT, "8 banks", straight(8)),
        row(STOLEN, "8 banks with stealing", stealing(8)),
        factor(),
    ];
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let plot = || {
        let series = vec![
            ("16 banks", used(results, &straight(16))?),
            ("8 banks", used(results, &straight(8))?),
            ("8 banks with stealing", used(results, &stealing(8))?),
        ];
        let title = "Utilisation of the banks (figure 5)";
        Some(kernels(title, "part of what they could do", series, Style::Bars, Some([0.225, 0.255])))
    };
    plot().into_iter().collect()
}
