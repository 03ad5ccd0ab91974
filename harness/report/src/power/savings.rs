//! Leakage saved: thesis 4.3.1, 4.3.3, 4.3.4, 4.3.7, figures 4.6, 4.8, 4.9, 4.12.

use gpurf_energy::leakage::{Leakage, ROUTING, TransitionOf};

use super::{NOT_SAID, Of, REPORT, baseline, fitted, fitted_as, greener, hints, left, plan_fit, saved, sleeping};
use crate::estimate::{Estimate, Statistic};
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Reason, Row, Unit};
use crate::shown::kernels;
use crate::sweep::{Point, Results, SweepPlan};

const COMPILER: Claim = Claim::share("sharing thesis 4.3.4, figure 4.9", "47.14 %: 42-52 %", 0.42, 0.52);
const GREENER_POWER: Claim = Claim::share("sharing thesis 4.3.1, figure 4.6", "47.24 %: 42-52 %", 0.42, 0.52);
const SLEEP_POWER: Claim = Claim::share("sharing thesis 4.3.1, figure 4.6", "41.86 %: 37-46 %", 0.37, 0.46);
const MOST: Claim = Claim::share("sharing thesis 1.2.3, 4.1.2", "a maximum of 57.57 %: 52-63 %", 0.52, 0.63);
const TABLE: Claim = Claim::share(
    "sharing thesis 4.3.4",
    "47.14 % without the table, 46.96 % with it: 0.2 points less, -0.7-0.3 points",
    -0.007,
    0.003,
);
const NOTHING: Claim =
    Claim::share("sharing thesis 4.3.4, figure 4.9", "41.0 % in all, and SLEEP saves a part of it: 0-41 %", 0.0, 0.41);
const FITTED: Claim = Claim::none("follows from the two numbers that are fitted");
const ROUTED: Claim = Claim::none("follows from the routing's part, which follows from 20.76 and 17.4 %");
const MORE: Claim = Claim::none(NOT_SAID);

pub fn plan(plan: &mut SweepPlan) {
    plan_fit(plan);
    plan.point(hints());
}

/// The row on the saving relative to the machine whose registers are all ON.
pub fn row(
    results: &Results<'_>,
    (claim, metric, part): (Claim, &str, &str),
    leakage: &Leakage,
    (point, all_on): (&Point, &Point),
    of: Of,
) -> Option<Row> {
    let row = claim.row(metric, saved(left(results, leakage, point, all_on, of)?));
    Some(row.because(|_| Reason::unknown(REPORT.command(results, part))))
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let Some(leakage) = fitted(results) else { return Vec::new() };
    let saving = |claim, metric, leakage: &Leakage, point: &Point, of| {
        row(results, (claim, metric, "savings"), leakage, (point, &baseline()), of)
    };
    let energy = |point: &Point| left(results, &leakage, point, &baseline(), Of::Energy);
    let routed = Leakage { routing: ROUTING, ..leakage };
    let least = Leakage { sleep: 1.0, off: 0.0, ..leakage };
    let number = |metric, value| Some(FITTED.in_unit(Unit::Ratio).row(metric, Estimate::number(value)));
    let most = || {
        let each = saved(energy(&greener())?).per_kernel;
        let most = each.values().copied().fold(0.0, f64::max);
        Some(
            MOST.row("leakage energy saved by GREENER, most of any kernel", Estimate::extreme(most, each))
                .because(|_| Reason::unknown(REPORT.command(results, "savings"))),
        )
    };
    let over = || {
        let (a, b) = (energy(&greener())?, energy(&sleeping())?);
        let ratio = a.iter().map(|(name, left)| (name.clone(), left / b[name])).collect();
        Some(FITTED.row("leakage energy saved by GREENER, over Sleep-Reg", Estimate::geometric(ratio).one_less()))
    };
    let table = || {
        let (a, b) = (energy(&greener())?, energy(&hints())?);
        let each: PerKernel = a.iter().map(|(name, left)| (name.clone(), b[name] - left)).collect();
        let [log_a, log_b] = [&a, &b].map(|left| crate::estimate::each(left, f64::ln));
        let more = Estimate::of_means(Statistic::FunctionOfMeans, &[&log_a, &log_b], each, |means| {
            means[1].exp() - means[0].exp()
        });
        let row = TABLE.row("leakage energy saved more with the lookup table than without", more);
        Some(row.because(|_| Reason::unknown(REPORT.command(results, "savings"))))
    };
    // GREENER is fitted, and the row on the table has what it saves more than the compiler's states alone.
    let compiler = || {
        let row =
            saving(COMPILER, "leakage energy saved by the compiler's states alone", &leakage, &hints(), Of::Energy)?;
        Some(row.derived("the fitted energy of GREENER, less the row on the lookup table"))
    };
    let power = |claim, metric, point: &Point| {
        let row = saving(claim, metric, &leakage, point, Of::Power)?;
        Some(row.derived("the fitted energy and the cycles row"))
    };
    let reading = |metric, of| {
        let other = fitted_as(results, of)?;
        saving(MORE, metric, &other, &hints(), Of::Energy)
    };
    let rows = [
        number("leakage of a register in SLEEP by one that is ON: fitted", leakage.sleep),
        number("leakage of a register that is OFF by one that is ON: fitted", leakage.off),
        saving(FITTED, "leakage energy saved by Sleep-Reg: fitted to 41.0 %", &leakage, &sleeping(), Of::Energy),
        saving(FITTED, "leakage energy saved by GREENER: fitted to 46.96 %", &leakage, &greener(), Of::Energy),
        saving(
            NOTHING,
            "leakage energy saved by Sleep-Reg if SLEEP saves nothing and OFF all",
            &least,
            &sleeping(),
            Of::Energy,
        ),
        compiler(),
        table(),
        over(),
        most(),
        power(GREENER_POWER, "leakage power saved by GREENER", &greener()),
        power(SLEEP_POWER, "leakage power saved by Sleep-Reg", &sleeping()),
        saving(ROUTED, "leakage energy saved by GREENER, routing included", &routed, &greener(), Of::Energy),
        saving(ROUTED, "leakage energy saved by Sleep-Reg, routing included", &routed, &sleeping(), Of::Energy),
        reading(
            "leakage energy saved by the compiler's states alone, if table 4.4 is of the whole file",
            TransitionOf::File,
        ),
        reading(
            "leakage energy saved by the compiler's states alone, if table 4.4 is of one register",
            TransitionOf::Register,
        ),
    ];
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let plot = || {
        let leakage = fitted(results)?;
        let of = |point: &Point| Some(saved(left(results, &leakage, point, &baseline(), Of::Energy)?).per_kernel);
        let series = vec![("Sleep-Reg", of(&sleeping())?), ("hints", of(&hints())?), ("GREENER", of(&greener())?)];
        Some(kernels("Leakage energy saved (figures 4.8, 4.9)", "share", series, Style::Lines, Some([0.42, 0.52])))
    };
    plot().into_iter().collect()
}
