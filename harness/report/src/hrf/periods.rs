//! Lengths of a warp's active and inactive periods, and the number of registers that it writes: hybrid paper 4.1, figure 2; 5.1, figure 7.

use super::{LEAST_SAVED, MOST_SAVED, and_others, command, event, hybrid, kernels, roomy, short};
use crate::estimate::Estimate;
use crate::plot::{Plot, Series, Style};
use crate::row::{Claim, Reason, Row, Unit, geometric_mean, mean};
use crate::sweep::{Measured, Point, Results, SweepPlan};

const DISTANCE: Claim =
    Claim::share("hybrid paper 4.1, figure 2", "about 11000 cycles: 10500-11500", 10_500.0, 11_500.0)
        .in_unit(Unit::Count);
const PERIOD: Claim =
    Claim::share("hybrid paper 4.1", "about 234, an 11000th by 47: 223-245", 223.0, 245.0).in_unit(Unit::Count);
const FEW: Claim = Claim::share("hybrid paper 5 and 5.1, figure 7", "in most cases: 50-100 %", 0.5, 1.0);

const LONGER: Claim =
    Claim::share("hybrid paper 6.4, figure 2", "\"apparently longer than others\": above 1", 1.0001, 1e9)
        .in_unit(Unit::Ratio)
        .sign();
const SHORTER: Claim =
    Claim::share("hybrid paper 6.4, figure 2", "\"small\": below 1", 0.0, 0.9999).in_unit(Unit::Ratio).sign();

/// Entries that stay powered under power gating; most periods use fewer.
const POWERED: u64 = 16;

/// Entries of a buffer.
const ENTRIES: u64 = 64;

/// Ranges of entries that plots distinguish: the name and the upper end of each.
const RANGES: [(&str, u64); 5] =
    [("0 to 3", 3), ("4 to 7", 7), ("8 to 15", 15), ("16 to 31", 31), ("32 to 64", ENTRIES)];

pub fn plan(plan: &mut SweepPlan) {
    plan.point(hybrid());
    plan.experiment(short(hybrid()));
    plan.experiment(roomy(hybrid()));
}

/// Average number of cycles between two active periods of a warp.
fn distance(run: &Measured) -> f64 {
    crate::ratio(run.event(event::PENDING) as f64, run.event(event::ACTIVATE) as f64)
}

/// Average number of cycles of an active period, which ends when only loads of the warp are in progress.
fn period(run: &Measured) -> f64 {
    crate::ratio((run.event(event::ACTIVE) + run.event(event::LANDING)) as f64, run.event(event::ACTIVATE) as f64)
}

/// The fraction of the active periods that use from `least` to `most` entries.
fn part(run: &Measured, least: u64, most: u64) -> f64 {
    let spread = run.spread(event::ENTRIES);
    let some: u64 = spread.range(least..=most).map(|(_, &times)| times).sum();
    crate::ratio(some as f64, spread.values().sum::<u64>() as f64)
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let cycles = |claim: Claim, metric: &str, value: fn(&Measured) -> f64| {
        let values = results.each(&hybrid(), value)?;
        Some(claim.row(metric, Estimate::geometric(values)).because(|_| why(results, value)))
    };
    let few = || {
        let row = FEW.mean(
            "active periods that use fewer than 16 entries of a buffer",
            results.each(&hybrid(), |run| part(run, 0, POWERED - 1))?,
        );
        Some(row.because(|_| Reason::unknown(command(results, "periods"))))
    };
    let named = |claim: Claim, words: &str, names: [&str; 2]| {
        let of = |point: &Point| {
            let [named, others] = and_others(results.each(point, distance)?, names)?;
            Some(crate::ratio(geometric_mean(&named), geometric_mean(&others)))
        };
        let metric = format!("cycles between two active periods, {words}, by those of the others");
        Some(claim.row(metric, Estimate::number(of(&hybrid())?)).because(|_| experiments(results, of)))
    };
    let rows = [
        cycles(DISTANCE, "cycles between two active periods of a warp, geometric mean", distance),
        cycles(PERIOD, "cycles of an active period, geometric mean", period),
        few(),
        named(LONGER, "quasirandomGenerator and sobolQRNG", MOST_SAVED),
        named(SHORTER, "bfs and reduction", LEAST_SAVED),
    ];
    rows.into_iter().flatten().collect()
}

/// Experiments on a geometric mean over kernels.
fn why(results: &Results<'_>, value: fn(&Measured) -> f64) -> Reason {
    experiments(results, |point| results.each(point, value).map(|values| geometric_mean(&values)))
}

/// The experiments: a shorter ALU, and a file with room for 48 warps of every kernel.
fn experiments(results: &Results<'_>, value: impl Fn(&Point) -> Option<f64>) -> Reason {
    let experiments = vec![
        ("with an ALU of 2 cycles (sm.alu_latency=2)".to_owned(), value(&short(hybrid()))),
        ("with room for 48 warps of every kernel (mrf.kilobytes=256)".to_owned(), value(&roomy(hybrid()))),
    ];
    Reason::found(experiments, command(results, "periods"))
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let lengths = || {
        let series = vec![
            ("between active periods", results.each(&hybrid(), distance)?),
            ("active period", results.each(&hybrid(), period)?),
        ];
        Some(kernels("Warp inter-active distance and active period (figure 2)", "cycles", series, Style::Bars, None))
    };
    let ranges = || {
        let mut least = 0;
        let mut series = Vec::new();
        for (name, most) in RANGES {
            series.push((name, results.each(&hybrid(), |run| part(run, least, most))?));
            least = most + 1;
        }
        let title = "Entries of a write buffer that active periods use, each kernel (figure 7)";
        Some(kernels(title, "part of the active periods", series, Style::Stacked, None))
    };
    let spread = || {
        let values = (0..=ENTRIES).map(|n| results.each(&hybrid(), |run| part(run, n, n)).map(|parts| mean(&parts)));
        Some(Plot {
            title: "Entries of a write buffer that active periods use, mean over kernels (figure 7)".into(),
            x: "entries".into(),
            y: "part of the active periods".into(),
            places: (0..=ENTRIES).map(|entries| entries.to_string()).collect(),
            series: vec![Series { name: "active periods".into(), values: values.collect::<Option<_>>()? }],
            style: Style::Bars,
            band: None,
        })
    };
    [lengths(), ranges(), spread()].into_iter().flatten().collect()
}
