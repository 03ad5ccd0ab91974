//! Performance with and without each technique: stealing paper VI-B1, VI-B2, figure 12.

use super::{NOT_SAID, gain, machine, papers, reading, stealing, straight, strict, why, writing};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Row, Unit, mean};
use crate::shown::kernels;
use crate::sweep::{Point, Results, SweepPlan};

pub const READ: Claim = Claim::share("stealing paper VI-B1, figure 12", "around 7 %: 5-9 %", 0.05, 0.09);
pub const READ_16: Claim = Claim::share("stealing paper VI-B1, figure 12", "2 %", 0.015, 0.025);
const POLICIES: Claim = Claim::share(
    "stealing paper VI-B1",
    "\"The conclusion stays the same\", \"not sensitive\" to the policy: -2 to 2 points",
    -0.02,
    0.02,
);
pub const BOTH_16: Claim =
    Claim::share("stealing paper VI-A, VI-B2, figures 11(a), 12", "around 7 %, 7.2 %: 5-9 %", 0.05, 0.09);
const READ_BETTER: Claim =
    Claim::share("stealing paper VI-B1, figure 12", "all but one of 14: 89-97 %", 12.5 / 14.0, 13.5 / 14.0);
const LEAST: Claim = Claim::share("stealing paper VI-B1, figure 12", "all \"except for M.Car\": 0 gain less", 0.0, 0.0)
    .in_unit(Unit::Count)
    .sign();
const ALL_BETTER: Claim = Claim::share("stealing paper VI-B2, figure 12", "all: 100 %", 1.0, 1.0);
pub const MORE: Claim = Claim::none(NOT_SAID);

/// Other scheduling policies: the words of rows, and the setting.
const OTHERS: [(&str, &str); 2] =
    [("round-robin", "sm.scheduler=round_robin"), ("two-level, 8 active warps", "sm.active_warps=8")];

/// The machine with eight banks and a file without conflicts, an upper bound on the gain of stealing.
fn ideal() -> Point {
    papers(machine("mrf-ideal"))
}

pub fn plan(plan: &mut SweepPlan) {
    why::plan(plan, [straight(8), straight(16), reading(), stealing(8)]);
    for (_, setting) in OTHERS {
        why::plan(plan, [straight(8), reading()].map(|point| point.with(setting)));
        plan.point(stealing(8).with(setting));
    }
    for point in [writing(), strict(reading()), strict(stealing(8)), ideal()].into_iter().chain(small()) {
        plan.point(point);
    }
}

/// Eight and sixteen banks, and eight with stealing, in 128 KB: as many warps as their rows have room for.
fn small() -> [Point; 3] {
    ["banks-8", "banks-16", "steal-8"].map(|preset| papers(Point::preset(preset)))
}

/// What read stealing gains with a policy less what it gains with that of the paper, greedy-then-oldest, on changed machines.
fn moved(results: &Results<'_>, change: fn(Point) -> Point, setting: &str) -> Option<PerKernel> {
    let gain = |with: fn(Point, &str) -> Point| {
        gain(results, &change(with(reading(), setting)), &change(with(straight(8), setting)))
    };
    let (other, own) = (gain(|point, setting| point.with(setting))?, gain(|point, _| point)?);
    let less = |(name, gain): (String, f64)| own.get(&name).map(|own| (name, gain - own));
    Some(other.into_iter().filter_map(less).collect())
}

/// 1 for each kernel that is faster than on the baseline, 0 for the others; the mean is the fraction of these kernels.
fn better(results: &Results<'_>, point: &Point, baseline: &Point) -> Option<PerKernel> {
    results.both(point, baseline, |a, b| f64::from(u8::from(a.ipc() > b.ipc())))
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let row = |claim: Claim, metric: &str, point: Point, baseline: Point| {
        let row = claim.mean(format!("IPC gained {metric}"), gain(results, &point, &baseline)?);
        Some(row.because(|_| why::gain_of(results, "techniques", &point, &baseline)))
    };
    let part = |claim: Claim, metric: &str, point: Point| {
        let row = claim.mean(metric, better(results, &point, &straight(16))?);
        Some(row.because(|_| {
            why::tried(results, "techniques", &point, |change| {
                better(results, &change(point.clone()), &change(straight(16))).map(|better| mean(&better))
            })
        }))
    };
    let least = || {
        let less = |change: fn(Point) -> Point| {
            let each = gain(results, &change(reading()), &change(straight(16)))?;
            let own = *each.get("monteCarlo")?;
            Some(each.values().filter(|&&gain| gain < own).count() as f64)
        };
        let metric = "kernels that gain less than monteCarlo by read stealing, 8 banks, over 16";
        let row = LEAST.row(metric, Estimate::extreme(less(|point| point)?, PerKernel::new()));
        Some(row.because(|_| why::tried(results, "techniques", &reading(), less)))
    };
    let (read, both) = ("by read stealing, 8 banks", "by read and write stealing, 8 banks");
    let mut rows = vec![
        row(READ, read, reading(), straight(8)),
        row(READ_16, &format!("{read}, over 16"), reading(), straight(16)),
        row(MORE, "by write stealing, 8 banks", writing(), straight(8)),
        row(BOTH_16, &format!("{both}, over 16"), stealing(8), straight(16)),
        part(READ_BETTER, "kernels that are faster with read stealing on 8 banks than on 16", reading()),
        part(ALL_BETTER, "kernels that are faster with both on 8 banks than on 16", stealing(8)),
        least(),
    ];
    for (name, setting) in OTHERS {
        let with = |point: Point| point.with(setting);
        rows.push(row(MORE, &format!("{read}, {name}"), with(reading()), with(straight(8))));
        let metric = format!("IPC gained {read}, {name}, less that with greedy-then-oldest");
        let moved = |change: fn(Point) -> Point| moved(results, change, setting);
        rows.push(moved(|point| point).map(|each| {
            let why =
                |_: &Row| why::tried(results, "techniques", &reading(), |change| moved(change).map(|each| mean(&each)));
            POLICIES.mean(metric, each).because(why)
        }));
        rows.push(row(MORE, &format!("{both}, {name}"), with(stealing(8)), with(straight(8))));
    }
    let strictly = "thefts only where they remove a conflict";
    rows.push(row(MORE, &format!("{read}, {strictly}"), strict(reading()), straight(8)));
    rows.push(row(MORE, &format!("{both}, {strictly}"), strict(stealing(8)), straight(8)));
    // The upper bound: no conflicts, with the same number of rows, collectors and warps.
    for (banks, metric) in [(8, "over 8 banks"), (16, "over 16 banks")] {
        let gained = gain(results, &ideal(), &straight(banks));
        rows.push(gained.map(|gained| MORE.mean(format!("IPC gained without conflicts (ideal), {metric}"), gained)));
    }
    let [eight, sixteen, both] = small();
    rows.push(row(MORE, "by 8 banks, over 16, in 128 KB with the warps that fit", eight, sixteen.clone()));
    rows.push(row(MORE, "by 8 banks with stealing, over 16, in 128 KB with the warps that fit", both, sixteen));
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let plot = || {
        let of = |point: Point| {
            let gain = gain(results, &point, &straight(16))?;
            Some(gain.into_iter().map(|(name, gain)| (name, 1.0 + gain)).collect::<PerKernel>())
        };
        let series = vec![
            ("8 banks", of(straight(8))?),
            ("read stealing", of(reading())?),
            ("write stealing", of(writing())?),
            ("both", of(stealing(8))?),
            ("ideal", of(ideal())?),
        ];
        Some(kernels("IPC by that of 16 banks (figure 12)", "ratio", series, Style::Lines, Some([1.05, 1.09])))
    };
    plot().into_iter().collect()
}
