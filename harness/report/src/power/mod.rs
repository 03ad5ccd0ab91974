//! The report on GREENER: leakage of the register file (sharing thesis, chapter 4).

mod cached;
mod cycles;
mod errata;
mod headlines;
mod idle;
mod levels;
mod savings;
mod schedulers;
mod threshold;
mod wake;

use std::cell::RefCell;

use gpurf_energy::leakage::{Leakage, Mean, REGISTER_LEAKAGE, StateCounts, TransitionOf};

use crate::code::Code;
use crate::estimate::Estimate;
use crate::kernels::SHARING_THESIS_POWER;
use crate::report::{Definition, Headlines, Part};
use crate::row::{Absent, PerKernel};
use crate::sweep::{Measured, Point, Results, SweepPlan};

/// The reports of this technique.
pub const REPORTS: &[Definition] = &[REPORT];

/// The report.
const REPORT: Definition = Definition {
    name: "greener",
    title: "GREENER: registers that sleep (sharing thesis, chapter 4)",
    kernels: SHARING_THESIS_POWER,
    code: Code::PTX,
    orders: None,
    headlines: Headlines { plan: headlines::plan, rows: headlines::rows },
    settings: &["power.wake_sleep=2", "power.wake_off=4", "power.table_entries=1", "power.table_entries=4"],
    parts: &[
        Part { name: "savings", plan: savings::plan, rows: savings::rows, plots: savings::plots },
        Part { name: "cycles", plan: cycles::plan, rows: cycles::rows, plots: cycles::plots },
        Part { name: "wake", plan: wake::plan, rows: wake::rows, plots: wake::plots },
        Part { name: "threshold", plan: threshold::plan, rows: threshold::rows, plots: threshold::plots },
        Part { name: "schedulers", plan: schedulers::plan, rows: schedulers::rows, plots: schedulers::plots },
        Part { name: "idle", plan: idle::plan, rows: idle::rows, plots: idle::plots },
        Part { name: "levels", plan: levels::plan, rows: levels::rows, plots: levels::plots },
        Part { name: "errata", plan: |_| (), rows: errata::rows, plots: |_| Vec::new() },
    ],
    absent: ABSENT,
};

const ABSENT: &[Absent] = &[
    Absent {
        source: "sharing thesis, figure 4.15",
        text: "leakage energy at 45, 32 and 22 nm",
        why: "the thesis prints no leakage of a register at any of them",
    },
    Absent {
        source: "sharing thesis, table 4.4",
        text: "area and latency of the sleep transistors",
        why: "they come from CACTI-P; the latencies that the thesis simulates, 1 and 2 cycles, are keys of the machine",
    },
    Absent {
        source: "sharing thesis 4.3.5",
        text: "wider instructions: less than 0.0001 % of the area, 0.005 % of the leakage of an SM",
        why: "there is no model of an instruction buffer's leakage",
    },
    Absent {
        source: "sharing thesis, table 4.3",
        text: "the second kernel of bfs alone",
        why: "a program's launches are counted together",
    },
    Absent {
        source: "sharing thesis 4.3.2, 4.3.6",
        text: "kernels that gain from other misses of the L1 and L2 caches",
        why: "the machine of this report, the preset `kepler`, has no data cache",
    },
];

/// The source of rows with results that the thesis does not have.
const NOT_SAID: &str = "not in the thesis";

/// The thesis's machine without power states: all registers leak.
fn baseline() -> Point {
    Point::preset("kepler")
}

/// The thesis's *Sleep-Reg*.
fn sleeping() -> Point {
    Point::preset("sleep-reg")
}

/// The thesis's *Comp-OPT*.
fn hints() -> Point {
    Point::preset("greener-static")
}

/// The thesis's *GREENER*.
fn greener() -> Point {
    Point::preset("greener")
}

/// Bytes of a warp register.
const REGISTER_BYTES: u64 = 128;

/// Warp registers of a machine's file.
fn registers(results: &Results<'_>, point: &Point) -> u64 {
    results.config(point).map_or(0, |config| config.mrf.kilobytes as u64 * 1024 / REGISTER_BYTES)
}

/// State counts of a run with power states. After its warps have ended, all registers are OFF again, so there are as many transitions to OFF as from
/// OFF.
fn counts(run: &Measured, registers: u64) -> StateCounts {
    let (on, sleep) = (run.event(event::ON), run.event(event::ASLEEP));
    let from_off = run.event(event::WAKE_OFF);
    StateCounts {
        cycles: run.cycles,
        registers,
        on,
        sleep,
        off: (registers * run.cycles).saturating_sub(on + sleep),
        to_sleep: run.event(event::TO_SLEEP),
        to_off: from_off,
        from_sleep: run.event(event::WAKE_SLEEP),
        from_off,
    }
}

/// The quantity of leakage that is compared.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    Power,
    Energy,
}

/// The thesis's parameters; the leakage of a register in SLEEP is not yet fitted.
fn parameters(transition_of: TransitionOf) -> Leakage {
    Leakage::thesis(1.0, transition_of, REGISTER_LEAKAGE)
}

/// Plans the runs that the fit needs.
fn plan_fit(plan: &mut SweepPlan) {
    [baseline(), sleeping(), greener()].into_iter().for_each(|point| plan.point(point));
}

/// Leakage energy that Sleep-Reg and GREENER save (thesis 4.3.3, 4.3.4).
const SLEEP_REG_SAVES: f64 = 0.41;
const GREENER_SAVES: f64 = 0.4696;

/// The parameters with the two fitted numbers, by our reading of table 4.4.
fn fitted(results: &Results<'_>) -> Option<Leakage> {
    let fitted = fitted_as(results, TransitionOf::default());
    let has_run = |point| results.each(point, |_| 0.0).is_some();
    if fitted.is_none() && [baseline(), sleeping(), greener()].iter().all(has_run) {
        results.lacks(NO_FIT);
    }
    fitted
}

/// Rows on leakage, if the two numbers cannot be fitted.
const NO_FIT: Absent = Absent {
    source: "sharing thesis 4.3",
    text: "all rows on leakage",
    why: "with these kernels no leakage in SLEEP and OFF gives the savings of the thesis that both are fitted to",
};

/// Fits two numbers: the leakage in SLEEP with which Sleep-Reg saves what the thesis says, and the least leakage in OFF with which GREENER saves no
/// more than the thesis says. All other numbers on leakage are predictions.
///
/// The thesis takes the leakage in OFF as zero, and prints neither number. With zero, the registers that our kernels leave OFF would save more than
/// the thesis says, whatever the leakage in SLEEP: CACTI-P evidently counts some leakage for a row without power.
fn fitted_as(results: &Results<'_>, transition_of: TransitionOf) -> Option<Leakage> {
    let registers = registers(results, &sleeping());
    let runs = RefCell::new(Vec::new());
    results.both(&sleeping(), &baseline(), |a, b| {
        runs.borrow_mut().push((counts(a, registers), StateCounts::always_on(registers, b.cycles)));
        0.0
    })?;
    let (runs, parameters) = (runs.into_inner(), parameters(transition_of));
    let with = |off| Leakage { off, ..parameters }.with_sleep_fitted(&runs, Mean::Geometric, SLEEP_REG_SAVES).ok();
    let fits = |off| {
        let leakage = with(off)?;
        let saved = saved(left(results, &leakage, &greener(), &baseline(), Of::Energy)?);
        (saved.value <= GREENER_SAVES).then_some(leakage)
    };
    if let Some(leakage) = fits(0.0) {
        return Some(leakage);
    }
    let (mut low, mut high) = (0.0, 1.0 - SLEEP_REG_SAVES);
    fits(high)?;
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if fits(middle).is_some() { high = middle } else { low = middle }
    }
    with(high)
}

/// Leakage of each kernel on a machine, relative to that of a machine whose registers are all ON.
fn left(results: &Results<'_>, leakage: &Leakage, point: &Point, all_on: &Point, of: Of) -> Option<PerKernel> {
    let registers = registers(results, point);
    results.both(point, all_on, |run, base| {
        let base = StateCounts::always_on(registers, base.cycles);
        leakage.relative(&counts(run, registers), &base).map_or(f64::NAN, |relative| match of {
            Of::Power => relative.power,
            Of::Energy => relative.energy,
        })
    })
}

/// The saving of each kernel, and over all kernels by the geometric mean of what is left, the thesis's kind of mean (4.3.1).
fn saved(left: PerKernel) -> Estimate {
    Estimate::geometric(left).one_less()
}

/// Names of events: docs/blocks/power_states.md, docs/blocks/access_table.md, docs/blocks/mrf.md.
mod event {
    events! {
        ON = "on",
        ASLEEP = "asleep",
        WAKE_SLEEP = "wake_sleep",
        WAKE_OFF = "wake_off",
        TO_SLEEP = "to_sleep",
        USED = "used",
        FULL = "full",
        FETCH = "fetch",
        READ = "read",
        WRITE = "write",
    }
}

#[cfg(test)]
mod tests;
