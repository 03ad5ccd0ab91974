//! The effects of layout and of the place of `relssp`, each alone: thesis 3.4.1.4, figure 3.10.

use super::{
    Gain, MINIMAL, NOT_SAID, OPTIMAL, Shared, experiments, gaining, mean_gain, plan_changed, scratchpad_event,
};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Reason, Row};
use crate::shown::kernels;
use crate::sweep::{Point, Results, SweepPlan};

const SOURCE: &str = "sharing thesis 3.4.1.4, figure 3.10";
const PART: &str = "places";
const SOME: Claim = Claim::share(SOURCE, "all but 2 of 14: 78-93 %", 0.78, 0.93);
const LAYOUT: Claim = Claim::share(SOURCE, "\"does not have any noticeable impact\": -1-1 %", -0.01, 0.01);
const FIRST_SET: Claim = Claim::share(SOURCE, "all of 8: 87-100 %", 0.87, 1.0);
const SECOND_SET: Claim = Claim::share(SOURCE, "\"do not show much benefit\": -5-2.5 %", -0.05, 0.025);
const POSTDOM: Claim =
    Claim::share(SOURCE, "backprop and SRAD2, and not \"most of the other\" 12: 64-100 %", 0.64, 1.0);
const MORE: Claim = Claim::none(NOT_SAID);

/// Table 3.3: kernels that can release before their end. All other kernels are the second set.
const RELEASES: [&str; 8] = ["backprop", "DCT1", "DCT2", "DCT3", "DCT4", "NQU", "SRAD1", "SRAD2"];

/// Kernels that are faster in the thesis with `relssp` at the post-dominator.
const FASTER_WITH_POSTDOM: [&str; 2] = ["backprop", "SRAD2"];

fn minimal(of: Shared) -> Point {
    of.sharing().with(MINIMAL)
}

fn optimal(of: Shared) -> Point {
    of.sharing().with(OPTIMAL)
}

fn postdom(of: Shared) -> Point {
    of.sharing().with("compiler.relssp=postdom")
}

/// The machine with nothing shared, in which the additional blocks have all of their scratchpad memory.
fn whole(of: Shared) -> Point {
    of.baseline().with(of.twice().0)
}

fn gain(of: Shared, metric: &str, point: Point, over: Point) -> Gain<'_> {
    Gain { of, metric, part: PART, point, over, own: whole(of) }
}

pub fn plan(of: Shared, plan: &mut SweepPlan) {
    of.plan(plan);
    [whole(of), of.complete()].into_iter().for_each(|point| plan.point(point));
    plan_changed(plan, [of.baseline(), of.in_turn(), of.sharing(), minimal(of), postdom(of), optimal(of)]);
}

/// Experiments on a gain between two versions of the code with the same sharing, each on both sides.
fn why(of: Shared, results: &Results<'_>, (a, b): (Point, Point), value: impl Fn(&PerKernel) -> Option<f64>) -> Reason {
    let all = experiments(|change| value(&of.gains(results, &change(a.clone()), &change(b.clone()))?));
    Reason::found(all, of.command(results, PART))
}

/// The fraction of the released locks that a block releases before its end, of each kernel that takes locks.
fn given_up(results: &Results<'_>, point: &Point) -> Option<PerKernel> {
    let of = |name| results.each(point, |run| run.event(name) as f64);
    let (early, all) = (of(scratchpad_event::LOCK_EARLY)?, of(scratchpad_event::LOCK_FREE)?);
    let taken = all.iter().filter(|(_, all)| **all > 0.0);
    let each: PerKernel = taken.map(|(name, all)| (name.clone(), early[name] / all)).collect();
    (!each.is_empty()).then_some(each)
}

/// 1 for each kernel on which the gain of postdom over optimal has the thesis's sign, 0 for the others. The thesis gives the sign of two kernels, and
/// of most of the others.
fn as_the_thesis(gains: &PerKernel) -> PerKernel {
    let same = |name: &str, gain: f64| FASTER_WITH_POSTDOM.contains(&name) == (gain > 0.0);
    gains.iter().map(|(name, gain)| (name.clone(), f64::from(u8::from(same(name, *gain))))).collect()
}

/// The values of the kernels of one of the thesis's sets; `None` if none of them shares.
fn of_set(first: bool, values: &PerKernel) -> Option<PerKernel> {
    let values = values.iter().filter(|(name, _)| RELEASES.contains(&name.as_str()) == first);
    let values: PerKernel = values.map(|(name, value)| (name.clone(), *value)).collect();
    (!values.is_empty()).then_some(values)
}

pub fn rows(of: Shared, results: &Results<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let turn = gain(of, "IPC gained by sharing alone with LRR, over LRR", of.in_turn(), of.baseline());
    rows.extend(turn.mean(results, MORE));
    if let Some(gains) = of.gains(results, &turn.point, &turn.over) {
        let row = SOME.mean("kernels that gain from sharing alone with LRR", gaining(&gains));
        rows.push(row.because(|_| {
            let count = |a: &Point, b: &Point| Some(crate::mean(&gaining(&of.gains(results, a, b)?)));
            let mut all = vec![(of.own_words(), count(&whole(of), &of.baseline()))];
            all.extend(experiments(|change| count(&change(of.in_turn()), &change(of.baseline()))));
            Reason::found(all, of.command(results, PART))
        }));
    }
    rows.extend(gain(of, "IPC gained by sharing alone, over LRR", of.sharing(), of.baseline()).mean(results, MORE));
    if let Some(gains) = of.gains(results, &minimal(of), &of.sharing()) {
        let row = LAYOUT.row("IPC gained by layout alone, over sharing alone", Estimate::gain(&gains));
        rows.push(row.because(|_| why(of, results, (minimal(of), of.sharing()), |gains| Some(mean_gain(gains)))));
    }
    for (name, point) in [("postdom", postdom(of)), ("optimal", optimal(of))] {
        let Some(gains) = of.gains(results, &point, &of.sharing()) else { continue };
        let both = || (point.clone(), of.sharing());
        let metric = format!("IPC gained by relssp {name}, over sharing alone");
        rows.push(MORE.row(metric.clone(), Estimate::gain(&gains)));
        let gaining_of_first = |gains: &PerKernel| Some(crate::mean(&gaining(&of_set(true, gains)?)));
        if let Some(first) = of_set(true, &gains) {
            let metric = format!("kernels of set 1 that gain from relssp {name}");
            let row = FIRST_SET.row(metric, Estimate::mean(gaining(&first)).alone());
            rows.push(row.because(|_| why(of, results, both(), gaining_of_first)));
        }
        let mean_of_second = |gains: &PerKernel| Some(mean_gain(&of_set(false, gains)?));
        if let Some(second) = of_set(false, &gains) {
            let row = SECOND_SET.row(format!("{metric}, kernels of set 2"), Estimate::gain(&second).alone());
            rows.push(row.because(|_| why(of, results, both(), mean_of_second)));
        }
    }
    if let Some(gains) = of.gains(results, &postdom(of), &optimal(of)) {
        let metric = "kernels with the thesis's answer to whether postdom is faster than optimal";
        let row = POSTDOM.mean(metric, as_the_thesis(&gains));
        rows.push(row.because(|_| {
            why(of, results, (postdom(of), optimal(of)), |gains| Some(crate::mean(&as_the_thesis(gains))))
        }));
        rows.push(MORE.row("IPC gained by postdom, over optimal", Estimate::gain(&gains)));
    }
    for (name, point) in [("no relssp", of.sharing()), ("postdom", postdom(of)), ("optimal", optimal(of))] {
        let early = given_up(results, &point).and_then(|each| of.of_sharing(results, each));
        rows.extend(early.map(|each| MORE.mean(format!("locks given up before the block ends, {name}"), each)));
    }
    rows
}

pub fn plots(of: Shared, results: &Results<'_>) -> Vec<Plot> {
    let plot = || {
        let gains = |point: Point| of.gains(results, &point, &of.baseline());
        let series = vec![
            ("sharing with LRR", gains(of.in_turn())?),
            ("owners first", gains(of.sharing())?),
            ("postdom", gains(postdom(of))?),
            ("optimal", gains(optimal(of))?),
        ];
        Some(kernels("IPC gained over LRR (figure 3.10)", "share", series, Style::Lines, None))
    };
    plot().into_iter().collect()
}
