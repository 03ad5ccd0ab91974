//! Kernels that cannot share: thesis 2.5.2, figure 2.22; 3.4.2, figure 3.17.

use super::{Shared, event, shares};
use crate::estimate::Estimate;
use crate::plot::Plot;
use crate::row::{Claim, PerKernel, Reason, Row, Unit};
use crate::sweep::{Measured, Point, Results, SweepPlan, by};

const SOURCE: &str = "sharing thesis 2.5.2, figure 2.22; 3.4.2, figure 3.17";
const EXACT: Claim = Claim::share(SOURCE, "exactly the same: 0", 0.0, 0.0).in_unit(Unit::Count);
/// The additional cycles of each launch are those in which the launcher looks for guests.
const LAUNCH: Claim = Claim::none(super::NOT_SAID);
/// Samples cannot show a smaller difference.
const SAMPLES: Claim = Claim::share(SOURCE, "exactly the same; of samples: -0.01-0.01 %", -1e-4, 1e-4);
const SIMILAR: Claim = Claim::share(SOURCE, "similar to GTO: -1-1 %", -0.01, 0.01);

/// Each scheduler, with and without sharing.
fn pairs(of: Shared) -> [(&'static str, Point, Point); 2] {
    [("LRR", of.in_turn(), of.baseline()), ("GTO", of.by_age(), of.aged())]
}

pub fn plan(of: Shared, plan: &mut SweepPlan) {
    of.plan(plan);
    pairs(of)
        .into_iter()
        .for_each(|(_, with, without)| [with, without].into_iter().for_each(|point| plan.point(point)));
}

/// The values of the kernels that do not share; `None` if all do.
fn of_others(of: Shared, results: &Results<'_>, values: PerKernel) -> Option<PerKernel> {
    let share = shares(results, &of.sharing())?;
    let values: PerKernel = values.into_iter().filter(|(name, _)| !share.contains(name)).collect();
    (!values.is_empty()).then_some(values)
}

/// The number of events whose counts differ between the machines with and without sharing. Issue slots in which no warp is alive do not count: the
/// launcher looks for guests before the first block starts.
fn differing(with: &Measured, without: &Measured) -> f64 {
    let same = |name: &str, count: u64| name == event::EMPTY || count == with.event(name);
    without.events.iter().filter(|(name, count)| !same(name, **count)).count() as f64
}

pub fn rows(of: Shared, results: &Results<'_>) -> Vec<Row> {
    let unknown = || Reason::unknown(of.command(results, "others"));
    // If a launch starts a cycle later, a sample does not end at the same instruction.
    let exact = |(name, with, without): &(&str, Point, Point)| {
        if results.sample().is_some() {
            return None;
        }
        let differ = of_others(of, results, results.both(with, without, differing)?)?;
        let metric = format!("kernels that share nothing in which an event differs, {name}, of {}", differ.len());
        let number = differ.values().filter(|&&events| events > 0.0).count();
        let row = EXACT.row(metric, Estimate::extreme(number as f64, differ));
        Some(row.because(|_| unknown()))
    };
    let longer = |(name, with, without): &(&str, Point, Point)| {
        let more = results.both(with, without, |a, b| crate::ratio(a.cycles as f64, b.cycles as f64) - 1.0)?;
        let claim = if results.sample().is_some() { SAMPLES } else { LAUNCH };
        let row = claim.mean(format!("cycles more, kernels that share nothing, {name}"), of_others(of, results, more)?);
        Some(row.because(|_| unknown()))
    };
    let similar = || {
        let gains = super::gained(of_others(of, results, by(results, &of.sharing(), &of.aged(), Measured::ipc)?)?);
        let metric = "IPC gained by owners first over GTO, kernels that share nothing";
        let row = SIMILAR.row(metric, Estimate::gain(&gains));
        // Without pairs no warp is in a class, and inside a class the scheduler is greedy then oldest.
        Some(row.derived("the same scheduler, by construction").because(|_| unknown()))
    };
    let pairs = pairs(of);
    pairs.iter().map(exact).chain(pairs.iter().map(longer)).chain([similar()]).flatten().collect()
}

pub fn plots(_: Shared, _: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}
