//! Performance of the other designs of figure 7.7, for which the thesis prints no numbers.

use super::{Design, SAME};
use super::{
    Fixed128, Fixed128With64, Fixed256, Large256, Large512, Limited, NOT_SAID, Unified128, Unified512, gains,
    plan_designs,
};
use crate::plot::{Plot, Style};
use crate::row::{Claim, Row};
use crate::shown::kernels;
use crate::sweep::{Results, SweepPlan};

const MORE: Claim = Claim::none(NOT_SAID);

const DESIGNS: [Design; 7] = [Fixed128, Fixed128With64, Limited, Large256, Large512, Unified128, Unified512];

pub fn plan(plan: &mut SweepPlan) {
    plan_designs(plan, &DESIGNS);
    plan_designs(plan, &[Fixed256]);
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let row = |design: Design| {
        let each = gains(results, [design, Fixed256], SAME)?;
        Some(MORE.mean(format!("performance gained by {}, over 256/64/64 KB", design.name()), each))
    };
    DESIGNS.into_iter().filter_map(row).collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let of = |design: Design| Some((design.name(), gains(results, [design, Fixed256], SAME)?));
    let series: Option<Vec<_>> =
        [Large512, Fixed128, Fixed128With64, Limited, Unified128, Unified512].into_iter().map(of).collect();
    let title = "Performance gained over 256/64/64 KB, other designs (figure 7.7(a))";
    series.map(|series| kernels(title, "share", series, Style::Bars, None)).into_iter().collect()
}
