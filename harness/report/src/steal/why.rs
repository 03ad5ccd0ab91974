//! Why rows lie outside: what the machine does, and what it does at other loads.

use super::{
    REPORT, bank_utilisation, eager, event, gain, operands, penalty, reading, results_written, stealing, straight,
    writing,
};
use crate::row::{PerKernel, Unit, mean};
use crate::shown::percent;
use crate::sweep::{Measured, Point, Results, SweepPlan, mean_of};

/// Shorter latencies and a wider memory: more instructions a cycle, and so more accesses of the banks.
const FAST: [&str; 3] = ["sm.alu_latency=2", "memory.latency=1", "memory.bandwidth=128"];
/// Room for more instructions that wait for operands.
const ROOM: &str = "mrf.collectors=16";

fn fast(point: &Point) -> Point {
    FAST.into_iter().fold(point.clone(), Point::with)
}

fn roomy(point: &Point) -> Point {
    point.clone().with(ROOM)
}

/// The part of the cycles in which a port has a candidate with operands.
fn candidates(run: &Measured) -> f64 {
    run.a_cycle(event::CANDIDATE) / 2.0
}

fn in_words() -> String {
    format!("with {}", FAST.join(", "))
}

/// Banks of a point's file.
fn banks_of(point: &Point) -> u32 {
    let set = point.set.iter().find_map(|setting| setting.strip_prefix("mrf.banks=")?.parse().ok());
    set.unwrap_or(if point.preset == "banks-16" { 16 } else { 8 })
}

/// A point in the words of rows.
pub fn name(point: &Point) -> String {
    let kind = match point.preset {
        "steal-8" => " with stealing",
        "steal-read-8" => " with read stealing",
        "steal-write-8" => " with write stealing",
        _ => "",
    };
    let apart = |setting: &&String| !setting.starts_with("mrf.banks=") && !setting.starts_with("mrf.kilobytes=");
    let settings: Vec<&str> = point.set.iter().filter(apart).map(String::as_str).collect();
    let settings = if settings.is_empty() { String::new() } else { format!(" ({})", settings.join(", ")) };
    format!("{} banks{kind}{settings}", banks_of(point))
}

/// As many straight banks as there can be, and else as in a point: what there is to gain from conflicts.
fn most_banks(point: &Point) -> Point {
    let policies = point.set.iter().filter(|setting| setting.starts_with("sm."));
    policies.fold(straight(32), |most, setting| most.with(setting.as_str()))
}

/// Points, and those that they are explained with.
pub fn plan_gains(plan: &mut SweepPlan, points: impl IntoIterator<Item = Point>) {
    for point in points {
        for explained in [fast(&point), roomy(&point), most_banks(&point), point] {
            plan.point(explained);
        }
    }
}

/// Points, and those that their load is explained with.
pub fn plan_loads(plan: &mut SweepPlan, points: impl IntoIterator<Item = Point>) {
    for point in points {
        plan.point(fast(&point));
        plan.point(point);
    }
}

/// What the waits that stealing saves are explained with.
pub fn plan_saved(plan: &mut SweepPlan) {
    for point in [straight(8), stealing(8), reading(), writing(), eager(reading())] {
        plan.point(fast(&point));
        plan.point(point);
    }
}

/// Accesses of banks in a cycle.
fn accesses(run: &Measured) -> f64 {
    run.a_cycle(event::READ) + run.a_cycle(event::WRITE)
}

/// What a machine does, in words.
pub fn load(results: &Results<'_>, point: &Point) -> Option<String> {
    let mean = |value: &dyn Fn(&Measured) -> f64| mean_of(results, point, value);
    Some(format!(
        "{} issue {:.2} instructions a cycle and serve {:.2} accesses, {} of what they could; an operand waits {:.3} cycles for reads of other instructions and {:.3} for writes, and {} of the issue \
         slots are lost as no collector is free",
        name(point),
        mean(&Measured::ipc)?,
        mean(&accesses)?,
        percent(mean(&|run| bank_utilisation(run, banks_of(point)))?),
        mean(&|run| penalty(run, &[event::INTER]))?,
        mean(&|run| penalty(run, &[event::READ_WRITE]))?,
        percent(mean(&|run| run.a_cycle(event::STALL_COLLECTOR) / 2.0)?),
    ))
}

/// What stealing does there, in words; nothing without.
pub fn thefts(results: &Results<'_>, point: &Point) -> Option<String> {
    let mean = |value: &dyn Fn(&Measured) -> f64| mean_of(results, point, value).map(percent);
    let of_operands = |name: &'static str| move |run: &Measured| crate::ratio(run.event(name) as f64, operands(run));
    let mut words = Vec::new();
    if matches!(point.preset, "steal-8" | "steal-read-8") {
        let candidates = results.each(point, candidates)?;
        // A port's candidate is the better one of the half of its warps in which the one that issues is not.
        let never = candidates.values().filter(|&&candidates| candidates == 0.0).count();
        words.push(format!(
            "a port has a candidate with operands in {} of the cycles, in {never} of {} kernels never: it takes clear warps in both halves of the selection tree; operands that want the bank of another one \
             of the next cycle are {} of all, those that are stolen {}",
            percent(crate::row::mean(&candidates)),
            candidates.len(),
            mean(&of_operands(event::SHARING))?,
            mean(&of_operands(event::STOLEN))?,
        ));
    }
    if matches!(point.preset, "steal-8" | "steal-write-8") {
        let of_results =
            |name: &'static str| move |run: &Measured| crate::ratio(run.event(name) as f64, results_written(run));
        words.push(format!(
            "{} of the results are parked, each for another read and another write, and {} are forced back, while their bank and that of the parking place serve nobody else",
            mean(&of_results(event::PARK))?,
            mean(&of_results(event::RETURN_FORCED))?,
        ));
    }
    Some(words.join("; "))
}

/// The mean gain of the quarter of the kernels whose banks have most to do at the baseline, and what they have to do.
fn busiest(results: &Results<'_>, gains: &PerKernel, baseline: &Point) -> Option<(f64, f64)> {
    let served = results.each(baseline, accesses)?;
    let mut names: Vec<&String> = served.keys().collect();
    names.sort_by(|a, b| served[*b].total_cmp(&served[*a]));
    let quarter = &names[..names.len().div_ceil(4)];
    let of = |values: &PerKernel| {
        mean(&quarter.iter().map(|&name| (name.clone(), values.get(name).copied().unwrap_or(0.0))).collect())
    };
    Some((of(&served), of(gains)))
}

fn reason(results: &Results<'_>, part: &str, why: Option<String>) -> (String, String) {
    why.map_or_else(Default::default, |why| (why, REPORT.command(results, part)))
}

/// Why no more, or less, IPC is gained: what there is to gain, what stealing does, and what is gained at other loads.
pub fn gain_of(results: &Results<'_>, part: &str, point: &Point, baseline: &Point) -> (String, String) {
    let why = || {
        let gains = gain(results, point, baseline)?;
        let mean_gain = |a: &Point, b: &Point| gain(results, a, b).map(|gains| percent(mean(&gains)));
        let mut words = vec![load(results, baseline)?];
        let most = most_banks(baseline);
        if most != *baseline && most != *point {
            let waits = mean_of(results, &most, |run| penalty(run, &[event::INTER, event::READ_WRITE]))?;
            let to_gain = mean_gain(&most, baseline)?;
            words.push(format!(
                "32 banks without stealing, where it waits {waits:.3} in all, gain {to_gain}: so much is in conflicts"
            ));
        }
        let thefts = thefts(results, point)?;
        if !thefts.is_empty() {
            words.push(format!("With {}: {thefts}", name(point)));
        }
        let (served, gained) = busiest(results, &gains, baseline)?;
        words.push(format!(
            "The quarter of the kernels that access banks most, {served:.2} times a cycle, gains {}",
            percent(gained)
        ));
        words.push(format!(
            "{}, where the baseline issues {:.2} instructions a cycle, {} are gained; {} with {ROOM}",
            capital(&in_words()),
            mean_of(results, &fast(baseline), Measured::ipc)?,
            mean_gain(&fast(point), &fast(baseline))?,
            mean_gain(&roomy(point), &roomy(baseline))?,
        ));
        Some(words.join(". "))
    };
    reason(results, part, why())
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Why operands wait so long, or so little.
pub fn latency(results: &Results<'_>, point: &Point, kinds: &[&str]) -> (String, String) {
    let why = || {
        let waits = |point: &Point| mean_of(results, point, |run| penalty(run, kinds));
        Some(format!(
            "{}. {}, where {} are issued, it waits {:.3} in all",
            load(results, point)?,
            capital(&in_words()),
            mean_of(results, &fast(point), Measured::ipc).map(|ipc| format!("{ipc:.2}"))?,
            waits(&fast(point))?,
        ))
    };
    reason(results, "conflicts", why())
}

/// Why the waits of half as many banks are so much longer.
pub fn doubled(results: &Results<'_>, kinds: &[&str]) -> (String, String) {
    let why = || {
        let factor = |of: &dyn Fn(&Point) -> Point, kinds: &[&str]| {
            let waits = |point: Point| mean_of(results, &of(&point), |run| penalty(run, kinds));
            Some(format!("{:.2}", crate::ratio(waits(straight(8))?, waits(straight(16))?)))
        };
        let same = |point: &Point| point.clone();
        let used = |banks: u32| mean_of(results, &straight(banks), |run| bank_utilisation(run, banks)).map(percent);
        Some(format!(
            "the load of a bank goes from {} to {}, the waits for reads of other instructions become {} times as long, those for writes {} times; {} both {} times",
            used(16)?,
            used(8)?,
            factor(&same, &[event::INTER])?,
            factor(&same, &[event::READ_WRITE])?,
            in_words(),
            factor(&fast, kinds)?,
        ))
    };
    reason(results, "conflicts", why())
}

/// The part of a penalty of eight banks that a technique saves, of the means; a machine, and events that are left out of what is left.
fn saved(
    results: &Results<'_>,
    of: fn(&Point) -> Point,
    point: &Point,
    kind: &str,
    without: &[&str],
) -> Option<String> {
    let waits = |point: &Point, without: &[&str]| {
        mean_of(results, &of(point), |run| penalty(run, &[kind]) - penalty(run, without))
    };
    Some(percent(1.0 - crate::ratio(waits(point, without)?, waits(&straight(8), &[])?)))
}

/// Why no more waits for reads are saved.
pub fn reads_saved(results: &Results<'_>) -> (String, String) {
    let why = || {
        let saved = |point: &Point| saved(results, Point::clone, point, event::INTER, &[]);
        Some(format!(
            "read stealing alone saves {}, eagerly (steal.eager=true) {}; write stealing alone {}, as reads wait less for writes. {}: {}; an operand \
             waits {:.3} cycles for reads that are there already",
            saved(&reading())?,
            saved(&eager(reading()))?,
            saved(&writing())?,
            capital(&name(&reading())),
            thefts(results, &reading())?,
            mean_of(results, &reading(), |run| penalty(run, &[event::INTER]))?,
        ))
    };
    reason(results, "conflicts", why())
}

/// Why no more waits for writes are saved.
pub fn writes_saved(results: &Results<'_>, without: &[&str]) -> (String, String) {
    let why = || {
        let of = |names: &'static [&'static str]| mean_of(results, &stealing(8), |run| penalty(run, names));
        let (all, parked, returns) =
            (of(&[event::READ_WRITE])?, of(&[event::WAIT_PARKED])?, of(&[event::WAIT_RETURN])?);
        Some(format!(
            "of {all:.3} cycles that an operand still waits, {parked:.3} are for a parked value that it needs itself and {returns:.3} for banks that a forced fetch or a landing value has; {:.3} for \
             results, of {:.3} without stealing. {}. {} {} are saved",
            all - parked - returns,
            mean_of(results, &straight(8), |run| penalty(run, &[event::READ_WRITE]))?,
            capital(&thefts(results, &writing())?),
            capital(&in_words()),
            saved(results, fast, &stealing(8), event::READ_WRITE, without)?,
        ))
    };
    reason(results, "conflicts", why())
}

/// Why banks are used so little: what instructions would have to be issued.
pub fn used(results: &Results<'_>, point: &Point, paper: f64) -> (String, String) {
    let why = || {
        let mean = |point: &Point, value: &dyn Fn(&Measured) -> f64| mean_of(results, point, value);
        let each = mean(point, &|run| crate::ratio(accesses(run), run.ipc()))?;
        Some(format!(
            "{}. An instruction makes {each:.2} accesses, so {} would take {:.2} instructions a cycle. {}, where {:.2} are issued, it is {}",
            load(results, point)?,
            percent(paper),
            crate::ratio(paper * f64::from(banks_of(point)), each),
            capital(&in_words()),
            mean(&fast(point), &Measured::ipc)?,
            percent(mean(&fast(point), &|run| bank_utilisation(run, banks_of(point)))?),
        ))
    };
    reason(results, "utilisation", why())
}

/// What times are where more is issued.
pub fn times(results: &Results<'_>, point: &Point, unit: Unit, value: &dyn Fn(&Measured) -> f64) -> (String, String) {
    let why = || {
        let mean = |point: &Point, value: &dyn Fn(&Measured) -> f64| mean_of(results, point, value);
        let each = results.each(point, value)?;
        let order = |a: &(&String, &f64), b: &(&String, &f64)| a.1.total_cmp(b.1);
        let ends = [each.iter().min_by(order)?, each.iter().max_by(order)?].map(|(name, of)| (name, unit.words(*of)));
        Some(format!(
            "{}. Kernels differ: {} in {}, {} in {}. {}, where {:.2} are issued, it is {}",
            load(results, point)?,
            ends[0].1,
            ends[0].0,
            ends[1].1,
            ends[1].0,
            capital(&in_words()),
            mean(&fast(point), &Measured::ipc)?,
            unit.words(mean(&fast(point), value)?),
        ))
    };
    reason(results, "times", why())
}

/// What the two utilisations differ by.
pub fn factor(results: &Results<'_>) -> (String, String) {
    let why = || {
        let by = |value: &dyn Fn(&Measured) -> f64| {
            Some(crate::ratio(mean_of(results, &stealing(8), value)?, mean_of(results, &straight(16), value)?))
        };
        Some(format!(
            "half as many banks are a factor of 2; {:.3} times as many instructions a cycle, and {:.3} times as many accesses for each, as parked values are written and read once more",
            by(&Measured::ipc)?,
            by(&|run| crate::ratio(accesses(run), run.ipc()))?,
        ))
    };
    reason(results, "utilisation", why())
}

/// What results meet, and why they go back when they do.
pub fn becomes(results: &Results<'_>, value: &dyn Fn(&Measured) -> f64) -> (String, String) {
    let why = || {
        let mean = |value: &dyn Fn(&Measured) -> f64| mean_of(results, &stealing(8), value);
        let of_parked = |name: &'static str| {
            mean(&|run| crate::ratio(run.event(name) as f64, run.event(event::PARK) as f64)).map(percent)
        };
        Some(format!(
            "banks are used {}, and {:.1} of 8 have a place to park in. A value is parked for {:.1} cycles; {} are forced back, as a read of the register comes ({}) or a write of it ({}). Not all lanes, so \
             never parked: {} of the results. {} the row is {}",
            percent(mean(&|run| bank_utilisation(run, 8))?),
            mean(&|run| run.a_cycle(event::PLACES))?,
            mean(&|run| crate::ratio(run.event(event::PARKED) as f64, run.event(event::PARK) as f64))?,
            of_parked(event::RETURN_FORCED)?,
            of_parked(event::FORCE_READ)?,
            of_parked(event::FORCE_WRITE)?,
            percent(mean(&|run| crate::ratio(run.event(event::PARTIAL) as f64, results_written(run)))?),
            capital(&in_words()),
            percent(mean_of(results, &fast(&stealing(8)), value)?),
        ))
    };
    reason(results, "writes", why())
}
