//! Power of the register file: hybrid paper 5, 6.3, figures 6 and 10.

use gpurf_energy::hybrid::{HybridFile, HybridPower, HybridTraffic, KILOBYTES};

use super::{NOT_SAID, command, event, file, gated, hybrid, kernels, lost, original, sram, traffic};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, PerKernel, Reason, Row, Unit};
use crate::sweep::{Measured, Point, Results, SweepPlan};

const LEAKING: Claim = Claim::share("hybrid paper 5.1, figure 6", "about 39 %: 38.5-39.5 %", 0.385, 0.395);
pub const SAVED: Claim = Claim::share("hybrid paper, abstract, 6.3, figure 10", "66 %", 0.655, 0.665);
pub const LEFT: Claim =
    Claim::share("hybrid paper, abstract, 6.3, 7, figure 10", "25 %, or 76 or 74 % saved: 23.5-26.5 %", 0.235, 0.265);
const GAUSSIAN: Claim = Claim::share("hybrid paper 6.4", "88 %, gaussian", 0.875, 0.885);
const MOST: Claim =
    Claim::share("hybrid paper 6.4", "\"the most among all selected benchmarks\": 0 save more", 0.0, 0.0)
        .in_unit(Unit::Count)
        .sign();
const POWERED: Claim = Claim::none(NOT_SAID);
const ENERGY: Claim = Claim::none(NOT_SAID).in_unit(Unit::Ratio);

/// Which accesses consume power.
#[derive(Clone, Copy, PartialEq)]
pub enum Charged {
    /// Every operand is read from the STT-RAM, and also from a buffer if it is there, as in the paper.
    AtOnce,
    /// Operands that are in a buffer are not read from the STT-RAM, as in the hardware here.
    Needed,
    /// As [`Charged::AtOnce`], but an access to a buffer costs what one to a small array does in the hierarchy thesis.
    SmallBuffers,
    /// As [`Charged::AtOnce`], but accesses to buffers cost nothing.
    FreeBuffers,
}

/// The experiments on a row: other accesses that consume power, and other energies of buffers.
pub const OTHERS: [(&str, Charged); 4] = [
    ("with operands read from both at once", Charged::AtOnce),
    ("with the STT-RAM read where needed", Charged::Needed),
    ("with the energies of small arrays for accesses to buffers (hierarchy thesis, table 4.7)", Charged::SmallBuffers),
    ("with accesses to buffers at no cost", Charged::FreeBuffers),
];

impl Charged {
    /// Power of a run. `sram` is the same work on a machine without buffers, which reads every operand from its main register file.
    pub fn power(self, file: &HybridFile, run: &Measured, sram: &Measured) -> HybridPower {
        let needed = traffic(run);
        let at_once = needed.read_at_once(sram.event(event::READ));
        match self {
            Self::Needed => file.power(&needed),
            Self::AtOnce => file.power(&at_once),
            Self::SmallBuffers => file.small_buffers().power(&at_once),
            Self::FreeBuffers => {
                let free = HybridTraffic { buffer_reads: 0, buffer_writes: 0, drains: 0, lookups: 0, ..at_once };
                file.power(&free)
            }
        }
    }
}

pub fn plan(plan: &mut SweepPlan) {
    [hybrid(), gated(), sram(), original()].into_iter().for_each(|point| plan.point(point));
}

/// Power of SRAM.
fn of_sram(run: &Measured) -> f64 {
    HybridFile::SRAM.power(&traffic(run)).total()
}

/// The storage of a machine's register file; `None` if the table does not have its size.
fn file_of(results: &Results<'_>, point: &Point) -> Option<HybridFile> {
    results.config(point).filter(|config| config.mrf.kilobytes == KILOBYTES).map(|config| file(&config))
}

/// Power of each kernel on a machine, relative to that of an SRAM file.
pub fn relative(results: &Results<'_>, point: &Point, baseline: &Point, charged: Charged) -> Option<PerKernel> {
    let file = file_of(results, point)?;
    results.both(point, baseline, |a, b| crate::ratio(charged.power(&file, a, b).total(), of_sram(b)))
}

/// The fraction of the power that is leakage of the buffers.
fn leaking(results: &Results<'_>, charged: Charged) -> Option<PerKernel> {
    let file = file_of(results, &hybrid())?;
    results.both(&hybrid(), &sram(), |run, sram| {
        let power = charged.power(&file, run, sram);
        crate::ratio(power.buffer_leakage, power.total())
    })
}

/// The value of a row, of each kernel and over all kernels, for a set of accesses that consume power and a baseline.
type Value<'a> = &'a dyn Fn(Charged, &Point) -> Option<Estimate>;

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |claim: Claim, metric: &str, charged: Charged, baseline: Point, value: Value<'_>| {
        let how = match charged {
            Charged::Needed => "STT-RAM read where needed",
            _ => "STT-RAM and buffer read at once",
        };
        let Some(estimate) = value(charged, &baseline) else { return };
        let row = claim.row(format!("{metric}, {how}"), estimate);
        // "our HRF will access WB and STT-RAM at the same time" (4.4).
        let row = if charged == Charged::Needed { row.derived("the same claim: both read at once") } else { row };
        rows.push(row.because(|_| why(results, charged, &baseline, value)));
    };
    let share: Value<'_> = &|charged, _| leaking(results, charged).map(Estimate::mean);
    let saved: Value<'_> = &|charged, baseline| relative(results, &hybrid(), baseline, charged).map(lost);
    let with_gating: Value<'_> =
        &|charged, baseline| relative(results, &gated(), baseline, charged).map(Estimate::geometric);
    let saved_by_each =
        |charged, baseline: &Point| Some(lost(relative(results, &gated(), baseline, charged)?).per_kernel);
    let of_gaussian: Value<'_> =
        &|charged, baseline| saved_by_each(charged, baseline)?.get("gaussian").map(|&saved| Estimate::number(saved));
    let more: Value<'_> = &|charged, baseline| {
        let each = saved_by_each(charged, baseline)?;
        let gaussian = *each.get("gaussian")?;
        let more = each.values().filter(|&&saved| saved > gaussian).count();
        Some(Estimate::extreme(more as f64, PerKernel::new()))
    };
    for charged in [Charged::AtOnce, Charged::Needed] {
        row(LEAKING, "power that leaks out of the buffers of the hybrid file", charged, sram(), share);
        for (baseline, than) in
            [(sram(), "SRAM under the same scheduler"), (original(), "SRAM of 16 banks, round-robin")]
        {
            row(SAVED, &format!("power saved by the hybrid file, against {than}"), charged, baseline.clone(), saved);
            let metric = format!("power of the hybrid file with power gating, by that of {than}");
            row(LEFT, &metric, charged, baseline, with_gating);
        }
        let metric =
            "power saved by the hybrid file with power gating, gaussian, against SRAM under the same scheduler";
        row(GAUSSIAN, metric, charged, sram(), of_gaussian);
        let metric = "kernels of which power gating and the hybrid file save more of the power than of gaussian";
        row(MOST, metric, charged, sram(), more);
    }
    rows.extend(beyond(results));
    rows
}

/// Results that the paper does not have: how long the gated entries have power, and energy, as slower designs take longer.
fn beyond(results: &Results<'_>) -> Vec<Row> {
    let powered = results.each(&gated(), |run| 1.0 - run.a_cycle(event::GATED) / 2.0);
    let powered = powered.map(|each| POWERED.mean("time in which a buffer's upper 48 entries have power", each));
    let energy = |baseline: Point, than: &str| {
        let energy = |power: f64, run: &Measured| power * run.cycles as f64;
        let file = file_of(results, &gated())?;
        let each = results.both(&gated(), &baseline, |a, b| {
            crate::ratio(energy(Charged::AtOnce.power(&file, a, b).total(), a), energy(of_sram(b), b))
        })?;
        let metric = format!("energy of the hybrid file with power gating for the same work, by that of {than}");
        Some(ENERGY.row(metric, Estimate::geometric(each)))
    };
    let rows =
        [powered, energy(sram(), "SRAM under the same scheduler"), energy(original(), "SRAM of 16 banks, round-robin")];
    rows.into_iter().flatten().collect()
}

/// The same metric with other accesses charged, or another baseline.
fn why(results: &Results<'_>, charged: Charged, baseline: &Point, value: Value<'_>) -> Reason {
    let of = |charged, baseline: &Point| value(charged, baseline).map(|other| other.value);
    let others = OTHERS.into_iter().filter(|(_, other)| *other != charged);
    let mut experiments: Vec<_> = others.map(|(words, other)| (words.to_owned(), of(other, baseline))).collect();
    if *baseline == original() {
        experiments.push(("by the power of SRAM under the same scheduler".to_owned(), of(charged, &sram())));
    }
    Reason::found(experiments, command(results, "power"))
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let components = |point: Point, title: &str| {
        let file = file_of(results, &point)?;
        let of = |part: fn(&HybridPower) -> f64| {
            results.both(&point, &sram(), |run, sram| {
                let power = Charged::AtOnce.power(&file, run, sram);
                crate::ratio(part(&power), power.total())
            })
        };
        let series = vec![
            ("buffers, leakage", of(|power| power.buffer_leakage)?),
            ("STT-RAM, leakage", of(|power| power.bank_leakage)?),
            ("buffers, accesses", of(|power| power.buffer_dynamic)?),
            ("STT-RAM, accesses", of(|power| power.bank_dynamic)?),
        ];
        Some(kernels(title, "part of the power", series, Style::Stacked, None))
    };
    let figure_10 = || {
        let series = vec![
            ("hybrid file", relative(results, &hybrid(), &sram(), Charged::AtOnce)?),
            ("with power gating", relative(results, &gated(), &sram(), Charged::AtOnce)?),
            ("hybrid file, STT-RAM read where needed", relative(results, &hybrid(), &sram(), Charged::Needed)?),
            ("with power gating, STT-RAM read where needed", relative(results, &gated(), &sram(), Charged::Needed)?),
        ];
        let title = "Power of the register file by that of SRAM under the same scheduler (figure 10)";
        Some(kernels(title, "ratio", series, Style::Lines, Some([0.235, 0.345])))
    };
    let plots = [
        components(hybrid(), "What the power of the hybrid file goes to (figure 6)"),
        components(gated(), "What it goes to with power gating"),
        figure_10(),
    ];
    plots.into_iter().flatten().collect()
}
