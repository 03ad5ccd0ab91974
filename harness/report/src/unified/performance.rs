//! Performance of the unified design with the baseline's total size: hierarchy thesis 7.5.1, figures 7.7(a) and 7.12.

use super::{Change, Fixed256, SAME, Unified256, Unified384};
use super::{
    compared_at, count, gain, gains, of_case, on_data, plan_changed, plan_compared, row, row_compared, row_with,
};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Row, Unit};
use crate::shown::kernels;
use crate::sweep::{Point, Results, SweepPlan};

const PART: &str = "performance";
const SOURCE: &str = "hierarchy thesis 7.5.1, figure 7.7(a)";
pub const NEEDLE: Claim = Claim::share(SOURCE, "75.6 %: 70.5-80.5 %", 0.705, 0.805);
const OTHERS: Claim = Claim::share(SOURCE, "3.0 to 8.9 %", 0.0295, 0.0895);
const HOTSPOT: Claim = Claim::share(SOURCE, "within 0.2 %", -0.0025, 0.0025);
const GAIN: Claim = Claim::share(SOURCE, "5 of 6", 5.0, 5.0).in_unit(Unit::Count);
const SMALL_GAIN: Claim = Claim::share(SOURCE, "4 of 6", 4.0, 4.0).in_unit(Unit::Count);
const SMALL_CGEMM: Claim = Claim::share(SOURCE, "slight loss: -5-0 %", -0.05, -1e-6);
const SMALL_HOTSPOT: Claim = Claim::share(SOURCE, "no noticeable change: -1-1 %", -0.01, 0.01);

/// The smallest gain that counts: the thesis calls 0.2 % no gain.
pub const GAINED: f64 = 0.0025;

/// The benchmark of the headline.
pub const HEADLINE: &str = "needle";

/// A machine with as many blocks of needle's largest tile as 384 KB unified has, but with separate scratchpad memory in banks of 4 bytes.
fn apart() -> Point {
    let point = Point::preset("fixed-256").with("sm.shared_kilobytes=512").with("sm.blocks=10");
    point.fitting().only(HEADLINE)
}

/// Plans the runs of the headline.
pub fn plan_headline(plan: &mut SweepPlan) {
    plan_compared(plan);
    plan.point(apart());
}

pub fn plan(plan: &mut SweepPlan) {
    plan_headline(plan);
    plan_changed(plan, &[Unified256]);
}

/// The gain of the unified design over the baseline.
pub fn gained(results: &Results<'_>, change: Change) -> Option<PerKernel> {
    gains(results, [Unified384, Fixed256], change)
}

/// The row of the headline.
pub fn headline(results: &Results<'_>, part: &str) -> Option<Row> {
    let metric = "performance gained by 384 KB unified, over 256/64/64 KB: needle";
    let gained = |change| of_case(gained(results, change), HEADLINE);
    row_with(results, part, NEEDLE, metric, &gained, || {
        let words = "with as many blocks, but scratchpad memory apart and in banks of 4 bytes (fixed-256, sm.shared_kilobytes=512, sm.blocks=10)";
        let gains = compared_at(results, [vec![apart()], Fixed256.points()], gain);
        let apart = (words.to_owned(), of_case(gains, HEADLINE).map(|gain| gain.value));
        [vec![apart], on_data(results, Some(HEADLINE), &gained)].concat()
    })
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let same = |change| gained(results, change);
    let small = |change| gains(results, [Unified256, Fixed256], change);
    let mut rows = vec![headline(results, PART)];
    for name in ["bfs", "cgemm", "MUM", "pcr"] {
        let metric = format!("performance gained by 384 KB unified, over 256/64/64 KB: {name}");
        rows.push(row_compared(results, PART, OTHERS, &metric, Some(name), &|change| of_case(same(change), name)));
    }
    let metric = "performance gained by 384 KB unified, over 256/64/64 KB: hotspot";
    rows.push(row(results, PART, HOTSPOT, metric, &|change| of_case(same(change), "hotspot")));
    let gaining = |each: Option<PerKernel>| {
        let each = each?;
        Some(Estimate::extreme(count(&each, |gain| gain > GAINED), each))
    };
    let metric = "benchmarks that gain from 384 KB unified, over 256/64/64 KB";
    rows.push(row_compared(results, PART, GAIN, metric, None, &|change| gaining(same(change))));
    let metric = "benchmarks that gain from 256 KB unified, over 256/64/64 KB";
    rows.push(row(results, PART, SMALL_GAIN, metric, &|change| gaining(small(change))));
    for (claim, name) in [(SMALL_CGEMM, "cgemm"), (SMALL_HOTSPOT, "hotspot")] {
        let metric = format!("performance gained by 256 KB unified, over 256/64/64 KB: {name}");
        rows.push(row(results, PART, claim, &metric, &|change| of_case(small(change), name)));
    }
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let plot = || {
        let series = vec![
            ("384 KB unified", gained(results, SAME)?),
            ("256 KB unified", gains(results, [Unified256, Fixed256], SAME)?),
        ];
        Some(kernels("Performance gained over 256/64/64 KB (figure 7.7(a))", "share", series, Style::Bars, None))
    };
    plot().into_iter().collect()
}
