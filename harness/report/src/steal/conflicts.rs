//! Conflicts by kind, and their cost: stealing paper III-B, figure 4; VI-B3, figure 13.

use super::{NOT_SAID, event, penalty, stealing, straight, why};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Row, Unit};
use crate::shown::kernels;
use crate::sweep::{Point, Results, SweepPlan};

const LATENCY: Claim =
    Claim::share("stealing paper III-B, figure 4", "0.1 to 0.6 cycles", 0.1, 0.6).in_unit(Unit::Ratio);
const DOUBLED: Claim = Claim::share("stealing paper VI-B3", "nearly doubles: 1.5-2", 1.5, 2.0).in_unit(Unit::Ratio);
const READS_SAVED: Claim = Claim::share("stealing paper VI-B3, figure 13", "around 58 %: 53-63 %", 0.53, 0.63);
const MORE_WRITES: Claim =
    Claim::share("stealing paper VI-B3", "write stealing \"is more effective\": above 0", 1e-4, 1.0).sign();
const WRITES_SAVED: Claim = Claim::share("stealing paper VI-B3, figure 13", "around 88 %: 83-93 %", 0.83, 0.93);
const CYCLES: Claim = Claim::none(NOT_SAID).in_unit(Unit::Ratio);

/// What an operand can wait for, in the paper's words, and the event that counts it.
const KINDS: [(&str, &str); 3] = [
    ("reads of other instructions", event::INTER),
    ("writes", event::READ_WRITE),
    ("reads of its own instruction", event::INTRA),
];

/// The two kinds that the paper's figures show.
const SHOWN: [&str; 2] = [event::INTER, event::READ_WRITE];

pub fn plan(plan: &mut SweepPlan) {
    why::plan(plan, [straight(16), straight(8), stealing(8)]);
}

/// Average number of cycles that an operand waits because of these conflicts.
fn waits(results: &Results<'_>, point: &Point, conflicts: &[&str]) -> Option<PerKernel> {
    results.each(point, |run| penalty(run, conflicts))
}

/// Waits for parked values and for their return, which the file counts among the waits for writes.
const PARKED: [&str; 2] = [event::WAIT_PARKED, event::WAIT_RETURN];

/// The fraction of a penalty that stealing saves, not counting the events in `without`: of the means, and of each kernel that had any.
fn saved(results: &Results<'_>, kind: &str, without: &[&str]) -> Option<Estimate> {
    let before = waits(results, &straight(8), &[kind])?;
    let after = results.each(&stealing(8), |run| penalty(run, &[kind]) - penalty(run, without))?;
    let mut saved = Estimate::ratio_of_means(&after, &before).one_less();
    saved.per_kernel.retain(|name, _| before[name] > 0.0);
    Some(saved)
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let latency = |point: &Point| waits(results, point, &SHOWN);
    let mut rows = Vec::new();
    for (name, point) in [("16 banks", straight(16)), ("8 banks", straight(8)), ("8 banks with stealing", stealing(8))]
    {
        let whole = latency(&point).map(|each| {
            let metric = format!("cycles that an operand waits for other reads and for writes, {name}");
            let claim = if point == straight(16) { LATENCY } else { CYCLES };
            claim
                .mean(metric, each)
                .because(|_| why::mean_at(results, "conflicts", &point, &|run| penalty(run, &SHOWN)))
        });
        rows.push(whole);
        for (kind, event) in KINDS {
            let metric = format!("cycles that an operand waits for {kind}, {name}");
            rows.push(waits(results, &point, &[event]).map(|each| CYCLES.mean(metric, each)));
        }
    }
    let doubled = || {
        let (eight, sixteen) = (latency(&straight(8))?, latency(&straight(16))?);
        let ratio = Estimate::ratio_of_means(&eight, &sixteen);
        let row = DOUBLED.row("these waits with 8 banks by those with 16", ratio);
        Some(row.because(|_| why::doubled(results, &SHOWN)))
    };
    rows.push(doubled());
    let row = |claim: Claim, metric: &str, kind, without: &'static [&'static str]| {
        let row = claim.row(metric, saved(results, kind, without)?);
        Some(row.because(|_| why::saved(results, kind, without)))
    };
    let (reads, writes) = (event::INTER, event::READ_WRITE);
    rows.push(row(READS_SAVED, "waits for reads of other instructions that stealing saves, 8 banks", reads, &[]));
    let all = "waits for writes, parked values and their return that stealing saves, 8 banks";
    rows.push(row(WRITES_SAVED, all, writes, &[]));
    let results_alone = row(WRITES_SAVED, "waits for results alone that stealing saves, 8 banks", writes, &PARKED);
    rows.push(results_alone.map(|row| row.derived(format!("the same claim: {all}"))));
    let more = || {
        let part = |kind| saved(results, kind, &[]).map(|saved| saved.value);
        let more = Estimate::number(part(writes)? - part(reads)?);
        let row =
            MORE_WRITES.row("part of the waits for writes that stealing saves, less that of the waits for reads", more);
        Some(row.because(|_| why::more(results, writes, reads)))
    };
    rows.push(more());
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let kinds = |title: &str, point: Point, band: Option<[f64; 2]>| {
        let series = KINDS.iter().map(|(name, event)| Some((*name, waits(results, &point, &[event])?)));
        Some(kernels(title, "cycles an operand", series.collect::<Option<_>>()?, Style::Stacked, band))
    };
    let plots = [
        kinds("What operands wait for, 16 banks (figure 4)", straight(16), Some([0.1, 0.6])),
        kinds("What operands wait for, 8 banks (figure 13, left bars)", straight(8), None),
        kinds("What operands wait for, 8 banks with stealing (figure 13, right bars)", stealing(8), None),
    ];
    plots.into_iter().flatten().collect()
}
