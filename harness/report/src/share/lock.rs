//! Who gets a lock: the rule of the thesis (2.2.3), and ours. The thesis has no numbers of it.

use super::{Gain, NOT_SAID, WHOLE, aged, event, gains, of_sharing, plan_shares, sharing};
use crate::plot::{Plot, Style};
use crate::row::{Claim, Row, Unit};
use crate::shown::kernels;
use crate::sweep::{Measured, Point, Results, SweepPlan};

const MORE: Claim = Claim::none(NOT_SAID);

/// The thesis's rule.
fn first() -> Point {
    sharing().with("share.lock=first")
}

fn over() -> Gain<'static> {
    Gain {
        metric: "IPC gained by locks for whichever block comes first, over the oldest",
        part: "lock",
        point: first(),
        over: sharing(),
        own: aged().with(WHOLE),
    }
}

pub fn plan(plan: &mut SweepPlan) {
    plan_shares(plan);
    plan.point(first());
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let mut rows: Vec<Row> = over().mean(results, MORE).into_iter().collect();
    for (name, point) in [("the oldest", sharing()), ("whichever comes first", first())] {
        let waits = |run: &Measured| run.a_cycle(event::WAIT_LOCK);
        let waits = results.each(&point, waits).and_then(|each| of_sharing(results, &sharing(), each));
        let metric = format!("warps that wait for a lock, locks for {name}");
        rows.extend(waits.map(|each| MORE.in_unit(Unit::Count).mean(metric, each)));
    }
    rows
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let plot = || {
        let series = vec![("first over oldest", gains(results, &first(), &sharing())?)];
        Some(kernels("IPC gained by the thesis's rule for locks", "share", series, Style::Lines, None))
    };
    plot().into_iter().collect()
}
