//! Which block gets a lock: the rule of the thesis (2.2.3), and ours. The thesis has no numbers on it. With both rules the scheduler's classes go by
//! the age of the blocks, so with the thesis's rule a block may have locks while its warps are in the last class
//! (`docs/blocks/share_locks.md`, "Decisions where the thesis is silent").

use super::{Gain, NOT_SAID, Shared, event};
use crate::plot::{Plot, Style};
use crate::row::{Claim, Row, Unit};
use crate::shown::kernels;
use crate::sweep::{Measured, Point, Results, SweepPlan};

const MORE: Claim = Claim::none(NOT_SAID);

/// The machine with the thesis's rule.
fn first(of: Shared) -> Point {
    of.sharing().with("share.lock=first")
}

fn over(of: Shared) -> Gain<'static> {
    Gain {
        of,
        metric: "IPC gained by locks for whichever block comes first, over the oldest",
        part: "lock",
        point: first(of),
        over: of.sharing(),
        own: of.own(),
    }
}

pub fn plan(of: Shared, plan: &mut SweepPlan) {
    of.plan(plan);
    plan.point(first(of));
}

pub fn rows(of: Shared, results: &Results<'_>) -> Vec<Row> {
    let mut rows: Vec<Row> = over(of).mean(results, MORE).into_iter().collect();
    for (name, point) in [("the oldest", of.sharing()), ("whichever comes first", first(of))] {
        let waits = |run: &Measured| run.a_cycle(event::WAIT_LOCK);
        let waits = results.each(&point, waits).and_then(|each| of.of_sharing(results, each));
        let metric = format!("warps that wait for a lock, locks for {name}");
        rows.extend(waits.map(|each| MORE.in_unit(Unit::Count).mean(metric, each)));
    }
    rows
}

pub fn plots(of: Shared, results: &Results<'_>) -> Vec<Plot> {
    let plot = || {
        let series = vec![("first over oldest", of.gains(results, &first(of), &of.sharing())?)];
        Some(kernels("IPC gained by the thesis's rule for locks", "share", series, Style::Lines, None))
    };
    plot().into_iter().collect()
}
