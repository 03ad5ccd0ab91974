//! Why rows lie outside: what the machine does, and what it does at other loads.

use super::{REPORT, event, gain, operands, penalty, results_written, stealing, straight, utilisation};
use crate::row::{PerKernel, mean};
use crate::shown::percent;
use crate::sweep::{Measured, Plan, Point, Results, mean_of};

/// Where nothing is waited for longer than it has to be: more instructions a cycle, and more accesses of the banks.
fn fast(point: Point) -> Point {
    ["sm.alu_latency=2", "memory.latency=1", "memory.bandwidth=128"].into_iter().fold(point, Point::with)
}

/// With more collectors.
fn collectors(point: Point) -> Point {
    point.with("mrf.collectors=16")
}

fn banks_of(point: &Point) -> u32 {
    let set = point.set.iter().find_map(|setting| setting.strip_prefix("mrf.banks=")?.parse().ok());
    set.unwrap_or(if point.preset == "banks-16" { 16 } else { 8 })
}

/// What the load of the banks is shown with.
pub fn plan_load(plan: &mut Plan) {
    for point in [straight(8), straight(16), stealing(8)] {
        plan.point(fast(point.clone()));
        plan.point(point);
    }
}

/// What gains are explained with.
pub fn plan_gain(plan: &mut Plan) {
    plan_load(plan);
    for point in [straight(8), straight(16), straight(32), stealing(8)] {
        plan.point(collectors(point.clone()));
        plan.point(point);
    }
}

/// What a machine does, in words.
fn load(results: &Results<'_>, point: &Point) -> Option<String> {
    let mean = |value: &dyn Fn(&Measured) -> f64| mean_of(results, point, value);
    Some(format!(
        "{} issues {:.2} instructions a cycle, and its banks serve {:.2} accesses, {} of what they could; an operand waits {:.3} cycles for other instructions' reads, {:.3} for writes; {} of the \
         places to issue in are lost as no collector is free",
        point.options(),
        mean(&Measured::ipc)?,
        mean(&|run| run.a_cycle(event::READ) + run.a_cycle(event::WRITE))?,
        percent(mean(&|run| utilisation(run, banks_of(point)))?),
        mean(&|run| penalty(run, &[event::INTER]))?,
        mean(&|run| penalty(run, &[event::READ_WRITE]))?,
        percent(mean(&|run| run.a_cycle(event::STALL_COLLECTOR) / 2.0)?),
    ))
}

fn reason(results: &Results<'_>, part: &str, why: Option<String>) -> (String, String) {
    why.map_or_else(Default::default, |why| (why, REPORT.command(results, part)))
}

/// Why operands wait so long.
pub fn latency(results: &Results<'_>, point: &Point) -> (String, String) {
    reason(results, "conflicts", load(results, point))
}

pub fn doubled(results: &Results<'_>) -> (String, String) {
    reason(results, "conflicts", load(results, &straight(8)))
}

pub fn reads_saved(results: &Results<'_>) -> (String, String) {
    reason(results, "conflicts", load(results, &stealing(8)))
}

pub fn writes_saved(results: &Results<'_>) -> (String, String) {
    reason(results, "conflicts", load(results, &stealing(8)))
}

pub fn used(results: &Results<'_>, point: &Point, _banks: u32) -> (String, String) {
    reason(results, "utilisation", load(results, point))
}

pub fn factor(results: &Results<'_>) -> (String, String) {
    reason(results, "utilisation", load(results, &stealing(8)))
}

pub fn gain_of(results: &Results<'_>, point: &Point, _baseline: &Point) -> (String, String) {
    reason(results, "banks", load(results, point))
}

pub fn becomes(results: &Results<'_>, point: &Point) -> (String, String) {
    reason(results, "writes", load(results, point))
}
