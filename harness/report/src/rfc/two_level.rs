//! The two-level scheduler without a cache: RFC paper 5.2, figures 9 and 10.

use super::{kernels, machine, percent};
use crate::plot::{Plot, Series, Style};
use crate::row::{Claim, PerKernel, Row, Unit, mean, mean_over};
use crate::sweep::{Measured, Point, Results, SweepPlan};

/// Active warps of figure 10.
const ACTIVE: [u32; 3] = [8, 6, 4];

const EIGHT: Claim =
    Claim::share("RFC paper 5.2, figure 9", "nearly identical: 0.99-1.01", 0.99, 1.01).in_unit(Unit::Ratio);
const SIX: Claim = Claim::share("RFC paper 5.2, figure 9", "1 % less: 0.985-0.995", 0.985, 0.995).in_unit(Unit::Ratio);
const FOUR: Claim =
    Claim::share("RFC paper 5.2, figure 10", "significantly less: below 0.985", 0.0, 0.985).in_unit(Unit::Ratio);
const ROUND_ROBIN: Claim =
    Claim::share("RFC paper 5.2", "worse with many warps: below 1", 0.0, 1.0).in_unit(Unit::Ratio);
const FAST_FOUR: Claim = Claim::share("RFC paper 5.5", "5 %", 0.045, 0.055);
const FAST: Claim = Claim::share("RFC paper 5.5", "less than 5 %", 0.0, 0.045);

/// Events of lost issue slots that are told.
pub const STALLS: &[&str] = &["stall_empty", "stall_barrier", "stall_fetch", "stall_scoreboard", "stall_inactive"];

/// So many active warps, greedy. All 32 are a single level: none ever gives its slot up.
pub fn active(warps: u32) -> Point {
    let point = machine("two-level").with(format!("sm.active_warps={warps}"));
    if warps == 32 { point.with("sm.stay=true") } else { point }
}

/// The same, round-robin.
fn round_robin(warps: u32) -> Point {
    active(warps).with("sm.scheduler=round_robin")
}

/// The same with an ALU of 4 cycles.
fn fast(warps: u32) -> Point {
    active(warps).with("sm.alu_latency=4")
}

/// The same with the ALU of `rfc-paper`: 8 cycles from the issue of an instruction to that of one that depends on it (table 4).
fn short(warps: u32) -> Point {
    active(warps).with("sm.alu_latency=3")
}

/// The same with memory that answers at once.
fn near(warps: u32) -> Point {
    active(warps).with("memory.latency=1")
}

pub fn plan(plan: &mut SweepPlan) {
    for warps in [32, 8, 6, 4] {
        [active(warps), round_robin(warps), near(warps), short(warps)].into_iter().for_each(|point| plan.point(point));
    }
    ACTIVE.into_iter().chain([32]).for_each(|warps| plan.point(fast(warps)));
}

/// IPC of one configuration by that of another: each kernel's, and that of the arithmetic means.
pub fn relative(results: &Results<'_>, a: &Point, b: &Point) -> Option<(f64, PerKernel)> {
    let [means_a, means_b] = [results.each(a, Measured::ipc)?, results.each(b, Measured::ipc)?].map(|ipc| mean(&ipc));
    let each = results.both(a, b, |a, b| crate::ratio(a.ipc(), b.ipc()))?;
    Some((crate::ratio(means_a, means_b), each))
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let row = |claim: Claim, metric: &str, a: Point, b: Point| {
        let (ours, each) = relative(results, &a, &b)?;
        Some(claim.row(metric, ours, each).because(|row| why(results, row, &a, &b)))
    };
    let faster = |claim: Claim, warps: u32| {
        let (ours, each) = relative(results, &fast(warps), &active(warps))?;
        let each = each.into_iter().map(|(name, ratio)| (name, ratio - 1.0)).collect();
        let row = claim.row(format!("more IPC with an ALU of 4 cycles, {warps} active warps"), ours - 1.0, each);
        Some(row.because(|row| why(results, row, &fast(warps), &active(warps))))
    };
    let rows = [
        row(EIGHT, "IPC of 8 active warps, greedy, by that of all 32", active(8), active(32)),
        row(SIX, "IPC of 6 active warps, greedy, by that of all 32", active(6), active(32)),
        row(FOUR, "IPC of 4 active warps, greedy, by that of all 32", active(4), active(32)),
        row(ROUND_ROBIN, "IPC of all 32 warps, round-robin by greedy", round_robin(32), active(32)),
        faster(FAST_FOUR, 4),
        faster(FAST, 6),
        faster(FAST, 8),
    ];
    rows.into_iter().flatten().collect()
}

/// Where issue slots go, and how much of the difference is there without the latencies of ALU and memory.
fn why(results: &Results<'_>, row: &Row, a: &Point, b: &Point) -> (String, String) {
    let lost = |point: &Point, event: &'static str| {
        results.each(point, |run| crate::ratio(run.event(event) as f64, run.cycles as f64)).map(|values| mean(&values))
    };
    let mut list = Vec::new();
    for cause in STALLS {
        let (Some(a), Some(b)) = (lost(a, cause), lost(b, cause)) else { return Default::default() };
        list.push(format!("{} {} against {}", cause.trim_start_matches("stall_"), percent(a), percent(b)));
    }
    let active_warps = [8, 6, 4].into_iter().find(|&warps| *a == active(warps));
    let with = |point: fn(u32) -> Point| {
        active_warps
            .and_then(|warps| relative(results, &point(warps), &point(32)))
            .map(|(ratio, _)| format!("{ratio:.3}"))
    };
    let gain = |a: &Point, b: &Point| relative(results, a, b).map(|(ratio, _)| percent(ratio - 1.0));
    let faster = ACTIVE.into_iter().find(|&warps| *a == fast(warps));
    let faster = faster.and_then(|warps| Some((gain(&fast(32), &active(32))?, gain(&short(warps), &fast(warps))?)));
    let without = match (with(short), with(near), faster) {
        (Some(short), Some(near), _) => {
            format!(". With an ALU of 3 cycles instead of 8 the ratio is {short}, with a memory latency of 1 {near}")
        }
        (_, _, Some((all, more))) => format!(
            ". With all 32 warps active the same ALU gains {all}: that much even all of them do not hide, and the rest is what fewer active ones do not. An ALU of 3 cycles gains {more} on top"
        ),
        _ => String::new(),
    };
    let warps = results.each(b, |run| run.event("warp_start") as f64).unwrap_or_default();
    let few = warps.values().filter(|&&warps| warps <= f64::from(ACTIVE[0])).count();
    let many: Vec<&str> = warps.iter().filter(|(_, warps)| **warps >= 32.0).map(|(name, _)| name.as_str()).collect();
    let sizes = format!(
        ". {few} kernels have 8 warps or fewer; the {} with 32 or more have a mean of {}",
        many.len(),
        row.unit.words(mean_over(&row.per_kernel, many.iter().copied()))
    );
    (format!("issue slots lost, mean: {}{without}{sizes}", list.join(", ")), super::part_command(results, "two-level"))
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
