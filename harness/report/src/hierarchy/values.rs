//! Value usage of the kernels: hierarchy thesis 6.1 and 6.2.2, figure 6.1; operands and results per instruction, 6.5.1.

use gpurf_oracle::levels::{Accesses, LevelCounts};

use super::{errata, kernels, two, unknown};
use crate::estimate::Estimate;
use crate::plot::{Plot, Style};
use crate::row::{Claim, Reason, Row, Unit};
use crate::sweep::{Results, SweepPlan};
use crate::usage::Usage;
use crate::values::Count;

const AGAIN: Claim = Claim::share("hierarchy thesis 6.1, figure 6.1", "at most 20 %: 0-25 %", 0.0, 0.25);
const NEXT: Claim = Claim::share("hierarchy thesis 6.1, figure 6.1", "roughly 40 %", 0.35, 0.45);
const SHARED: Claim = Claim::share("hierarchy thesis 6.2.2", "only 7 %", 0.0, 0.075);
const OF_PRIVATE: Claim = Claim::share("hierarchy thesis 6.2.2", "70 %", 0.65, 0.75);
const READS: Claim = Claim::share("hierarchy thesis 6.5.1", "1.6", 1.55, 1.65).in_unit(Unit::Ratio);
const WRITES: Claim = Claim::share("hierarchy thesis 6.5.1", "0.8", 0.75, 0.85).in_unit(Unit::Ratio);
const A_WRITE: Claim =
    Claim::share("hierarchy thesis 6.5.1", "1.6 and 0.8, so 2: 1.8-2.2", 1.8, 2.2).in_unit(Unit::Ratio);

/// Entries of the ORF, for counts that are the same in every hierarchy.
const ANY: u32 = 1;

pub fn plan(plan: &mut SweepPlan) {
    plan.usage();
    plan.levels(two(ANY));
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let kind = |claim: Claim, metric: &str, count: Count| {
        let row = claim.mean(metric, results.usage(|usage| count.part(usage))?);
        Some(row.because(|_| unknown(results, "values")))
    };
    let unit = |claim: Claim, metric: &str, value: fn(&Usage) -> f64| {
        let row = claim.mean(metric, results.usage(value)?);
        Some(row.because(|_| unknown(results, "values")))
    };
    let operands = |claim: Claim, metric: &str, words: fn(&LevelCounts) -> f64| {
        let row = claim.mean(metric, results.levels(&two(ANY), words)?);
        Some(row.because(|_| Reason { erratum: Some(errata::READS), ..unknown(results, "values") }))
    };
    // "On average, each instruction reads 1.6 and writes 0.8": two means, of which this is the ratio.
    let a_write = || {
        let [reads, writes] = [Accesses::reads as fn(&Accesses) -> u64, Accesses::writes].map(|accesses| {
            let of = |counts: &LevelCounts| crate::ratio(accesses(&counts.flat) as f64, counts.instructions as f64);
            results.levels(&two(ANY), of)
        });
        let row =
            A_WRITE.row("register operands read for each that is written", Estimate::ratio_of_means(&reads?, &writes?));
        Some(row.because(|_| Reason { erratum: Some(errata::READS), ..unknown(results, "values") }))
    };
    let rows = [
        kind(AGAIN, "values read more than once", Count::Again),
        kind(NEXT, "values read once, by the next instruction", Count::Next),
        unit(SHARED, "values that shared units read", |usage| usage.part(usage.shared)),
        unit(OF_PRIVATE, "those of them that the private datapath wrote", |usage| {
            crate::ratio(usage.shared_of_private as f64, usage.shared as f64)
        }),
        operands(READS, "register operands that an instruction reads", |counts| {
            let reads: u64 = (0..).zip(counts.by_reads).map(|(reads, instructions)| reads * instructions).sum();
            crate::ratio(reads as f64, counts.instructions as f64)
        }),
        unit(WRITES, "register operands that an instruction writes", |usage| {
            crate::ratio(usage.all() as f64, usage.instructions as f64)
        }),
        a_write(),
    ];
    rows.into_iter().flatten().collect()
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let usage = |value: &dyn Fn(&Usage) -> f64| results.usage(value).unwrap_or_default();
    if results.usage(|_| 0.0).is_none() {
        return Vec::new();
    }
    let series = vec![
        ("once, next instruction", usage(&|u| u.part(u.lifetimes[0]))),
        ("once, 2 or 3 later", usage(&|u| u.part(u.lifetimes[1] + u.lifetimes[2]))),
        ("once, later", usage(&|u| u.part(u.lifetimes[3]))),
        ("more often", usage(&|u| u.part(u.values[2] + u.values[3]))),
        ("never", usage(&|u| u.part(u.values[0]))),
    ];
    vec![kernels("Reads of each value (figure 6.1)", "part of all values", series, Style::Stacked, None)]
}
