//! Over other schedulers: thesis 2.5.1.4, figures 2.16 and 2.17; 3.4.1.7, figure 3.13.

use super::gained::over_aged;
use super::{Gain, NOT_SAID, Registers, Release, Scratchpad, Shared};
use crate::plot::Plot;
use crate::row::{Claim, Row};
use crate::sweep::{Results, SweepPlan};

const GTO: Claim = Claim::share("sharing thesis 2.5.1.4, figure 2.16(a)", "up to 3.9 %: 0-3.95 %", 0.0, 0.0395);
const LEVELS: Claim = Claim::share("sharing thesis 2.5.1.4, figure 2.17(a)", "up to 27.22 %: 0-27.25 %", 0.0, 0.2725);
const GTO_B: Claim = Claim::share("sharing thesis 2.5.1.4, figure 2.16(b)", "up to 30 %: 0-35 %", 0.0, 0.35);
const NEEDLE: Claim =
    Claim::share("sharing thesis 2.5.1.4, figure 2.16(b)", "NW1 and NW2 \"degrade\": below 0", -1.0, 0.0).sign();
const LEVELS_B: Claim = Claim::share("sharing thesis 2.5.1.4, figure 2.17(b)", "up to 27.08 %: 0-27.1 %", 0.0, 0.271);
const OVER_3: &str = "sharing thesis 3.4.1.7, figure 3.13";
const GTO_3: Claim = Claim::share(OVER_3, "17.73 %: 15-20 %", 0.15, 0.20);
const LEVELS_3: Claim = Claim::share(OVER_3, "18.08 %: 13-23 %", 0.13, 0.23);
const SLOWER: Claim = Claim::share(OVER_3, "FDTD3d and histogram \"degrade\": below 0", -1.0, 0.0).sign();
const BELOW: Claim = Claim::share(OVER_3, "FDTD3d \"degrade\": below 0", -1.0, 0.0).sign();
const ABOVE: Claim = Claim::share(OVER_3, "histogram \"performs better\": above 0", 0.0, 10.0).sign();
const MORE: Claim = Claim::none(NOT_SAID);

fn gto(of: Shared) -> Gain<'static> {
    Gain { metric: "IPC gained by sharing, over GTO", ..over_aged(of, "gto") }
}

/// The thesis does not say how many warps of its two-level scheduler are active; this takes as many as its chapter 4 has.
fn two_level(of: Shared) -> Gain<'static> {
    Gain {
        of,
        metric: "IPC gained by sharing, over two levels, 8 active warps",
        part: "gto",
        point: of.complete(),
        over: of.baseline().with("sm.active_warps=8"),
        own: of.own(),
    }
}

pub fn plan(of: Shared, plan: &mut SweepPlan) {
    [gto(of), two_level(of)].iter().for_each(|gain| gain.plan(plan));
}

pub fn rows(of: Shared, results: &Results<'_>) -> Vec<Row> {
    let most = |gain: Gain<'_>, claim| gain.most(results, claim, &format!("{}, most of any kernel", gain.metric));
    let mut rows = Vec::new();
    match of {
        Registers => {
            rows.extend(most(gto(of), GTO));
            rows.extend(most(two_level(of), LEVELS));
            rows.extend(two_level(of).mean(results, MORE));
        }
        Scratchpad => {
            rows.extend(most(gto(of), GTO_B));
            rows.extend(gto(of).each(results, &[("needle", NEEDLE)]));
            rows.extend(most(two_level(of), LEVELS_B));
            rows.extend(two_level(of).mean(results, MORE));
        }
        Release => {
            rows.extend(gto(of).mean(results, GTO_3));
            rows.extend(gto(of).each(results, &[("FDTD3d", SLOWER), ("histogram", SLOWER)]));
            rows.extend(two_level(of).mean(results, LEVELS_3));
            rows.extend(two_level(of).each(results, &[("FDTD3d", BELOW), ("histogram", ABOVE)]));
        }
    }
    rows
}

pub fn plots(_: Shared, _: &Results<'_>) -> Vec<Plot> {
    Vec::new()
}
