//! The two-level scheduler without a cache: RFC paper 5.2, figures 9 and 10.

use super::{kernels, machine, unknown};
use crate::estimate::Estimate;
use crate::plot::{Plot, Series, Style};
use crate::row::{Claim, Reason, Row, Unit, mean};
use crate::sweep::{Measured, Point, Results, SweepPlan};

/// Numbers of active warps in figure 10.
const ACTIVE: [u32; 3] = [8, 6, 4];

pub const EIGHT: Claim =
    Claim::share("RFC paper 5.2, figure 9", "nearly identical: 0.99-1.01", 0.99, 1.01).in_unit(Unit::Ratio);
const SIX: Claim = Claim::share("RFC paper 5.2, figure 9", "1 % less: 0.985-0.995", 0.985, 0.995).in_unit(Unit::Ratio);
const FOUR: Claim =
    Claim::share("RFC paper 5.2, figure 10", "significantly less: below 0.985", 0.0, 0.985).in_unit(Unit::Ratio);
const ROUND_ROBIN: Claim =
    Claim::share("RFC paper 5.2", "worse with many warps: below 1", 0.0, 1.0).in_unit(Unit::Ratio).sign();
const SOME_FASTER: Claim = Claim::share(
    "RFC paper 5.2; hierarchy thesis 2.5.3",
    "some traces see higher performance with fewer active warps: above 0",
    0.001,
    0.999,
)
.sign();
const FAST_FOUR: Claim = Claim::share("RFC paper 5.5", "5 %", 0.045, 0.055);
const FAST: Claim = Claim::share("RFC paper 5.5", "less than 5 %", 0.0, 0.045);

/// The greedy scheduler with `warps` active warps. With all 32 there is a single level: no warp ever gives up its slot.
pub fn active(warps: u32) -> Point {
    let point = machine("two-level").with(format!("sm.active_warps={warps}"));
    if warps == 32 { point.with("sm.stay=true") } else { point }
}

/// The same number of active warps, with the round-robin scheduler.
fn round_robin(warps: u32) -> Point {
    active(warps).with("sm.scheduler=round_robin")
}

/// The greedy scheduler with another latency of the ALU: five cycles less than from issue to issue.
fn alu(warps: u32, latency: u32) -> Point {
    active(warps).with(format!("sm.alu_latency={latency}"))
}

/// The greedy scheduler with an ALU that is 4 cycles shorter, like the paper's of 4 cycles in place of 8. The paper's 4 cycles cannot be had: the shortest
/// ALU has 7 from issue to issue.
fn fast(warps: u32) -> Point {
    alu(warps, 4)
}

/// The experiment: latencies of which one is half of the other, as in the paper, 7 and 14 cycles from issue to issue.
const HALVED: [u32; 2] = [2, 9];

/// The experiments: one latency shorter, in words and as a setting. The ALU has 8 cycles from the issue of an instruction to that of a dependent one
/// (table 4).
const SHORTER: [(&str, &str); 2] = [
    ("with an ALU of 3 cycles (sm.alu_latency=3), as in rfc-paper,", "sm.alu_latency=3"),
    ("with a memory latency of 1 (memory.latency=1)", "memory.latency=1"),
];

pub fn plan(plan: &mut SweepPlan) {
    for warps in [32, 8, 6, 4] {
        [active(warps), round_robin(warps)].into_iter().for_each(|point| plan.point(point));
        SHORTER.into_iter().for_each(|(_, setting)| plan.experiment(active(warps).with(setting)));
    }
    SHORTER.into_iter().for_each(|(_, setting)| plan.experiment(round_robin(32).with(setting)));
    for warps in ACTIVE {
        plan.point(fast(warps));
        HALVED.into_iter().for_each(|latency| plan.experiment(alu(warps, latency)));
    }
}

/// IPC of one configuration relative to that of another: of each kernel, and of the arithmetic means.
pub fn relative(results: &Results<'_>, a: &Point, b: &Point) -> Option<Estimate> {
    Some(Estimate::ratio_of_means(&results.each(a, Measured::ipc)?, &results.each(b, Measured::ipc)?))
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let row = |claim: Claim, metric: &str, a: Point, b: Point| {
        let row = claim.row(metric, relative(results, &a, &b)?);
        Some(row.because(|_| why(results, &a, &b, |ratio| ratio)))
    };
    let faster = |claim: Claim, warps: u32| {
        let gain = relative(results, &fast(warps), &active(warps))?.less_one();
        let metric =
            format!("more IPC with an ALU of 9 cycles from issue to issue than with one of 13, {warps} active warps");
        Some(claim.row(metric, gain).because(|_| why_faster(results, warps)))
    };
    let some_faster = || {
        let faster = results.both(&active(8), &active(32), |a, b| f64::from(u8::from(a.ipc() > b.ipc())))?;
        let row = SOME_FASTER.mean("kernels that are faster with 8 active warps than with all 32", faster);
        Some(row.because(|_| unknown(results, "two-level")))
    };
    let rows = [
        row(EIGHT, "IPC of 8 active warps, greedy, by that of all 32", active(8), active(32)),
        row(SIX, "IPC of 6 active warps, greedy, by that of all 32", active(6), active(32)),
        row(FOUR, "IPC of 4 active warps, greedy, by that of all 32", active(4), active(32)),
        row(ROUND_ROBIN, "IPC of all 32 warps, round-robin by greedy", round_robin(32), active(32)),
        faster(FAST_FOUR, 4),
        faster(FAST, 6),
        faster(FAST, 8),
        some_faster(),
    ];
    rows.into_iter().flatten().collect()
}

/// Experiments: a shorter latency of the ALU or of memory, on both sides.
fn why(results: &Results<'_>, a: &Point, b: &Point, of: fn(f64) -> f64) -> Reason {
    let value = |settings: &str| {
        let with = |point: &Point| point.clone().with(settings);
        relative(results, &with(a), &with(b)).map(|ratio| of(ratio.value))
    };
    let experiments = SHORTER.map(|(words, setting)| (words.to_owned(), value(setting)));
    Reason::found(experiments.into(), super::part_command(results, "two-level"))
}

/// The experiment: the latency of the ALU halved, from 14 to 7 cycles from issue to issue.
fn why_faster(results: &Results<'_>, warps: u32) -> Reason {
    let [short, long] = HALVED.map(|latency| alu(warps, latency));
    let gain = relative(results, &short, &long).map(|ratio| ratio.less_one().value);
    let words = "with an ALU of 7 cycles from issue to issue by one of 14 (sm.alu_latency=2 and 9)".to_owned();
    Reason::found(vec![(words, gain)], super::part_command(results, "two-level"))
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let ipc = |point: Point| results.each(&point, Measured::ipc);
    let figure_9 = || {
        let warps = [4, 6, 8, 32];
        let of = |point: fn(u32) -> Point| {
            warps.iter().map(|&warps| ipc(point(warps)).map(|values| mean(&values))).collect::<Option<Vec<f64>>>()
        };
        let deviation = |warps: u32| {
            let values = ipc(active(warps))?;
            let mean = mean(&values);
            let squares: f64 = values.values().map(|value| (value - mean).powi(2)).sum();
            Some(crate::ratio(squares, values.len() as f64).sqrt())
        };
        let series = vec![
            Series { name: "greedy".into(), values: of(active)? },
            Series { name: "round-robin".into(), values: of(round_robin)? },
            Series {
                name: "greedy: standard deviation".into(),
                values: warps.iter().map(|&w| deviation(w)).collect::<Option<_>>()?,
            },
        ];
        Some(Plot {
            title: "IPC against active warps (figure 9)".into(),
            x: "active warps".into(),
            y: "IPC, mean".into(),
            places: warps.iter().map(u32::to_string).collect(),
            series,
            style: Style::Bars,
            band: None,
        })
    };
    let figure_10 = || {
        let series = vec![
            ("all 32 active", ipc(active(32))?),
            ("8 active", ipc(active(8))?),
            ("6 active", ipc(active(6))?),
            ("4 active", ipc(active(4))?),
        ];
        Some(kernels("IPC of each kernel, greedy (figure 10)", "IPC", series, Style::Lines, None))
    };
    [figure_9(), figure_10()].into_iter().flatten().collect()
}
