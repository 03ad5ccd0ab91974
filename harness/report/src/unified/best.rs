//! The best run of a benchmark on a design: the thesis compares each application's best partition, tile and number of threads (7.3.5, table 7.2).

use gpurf_blocks::config::Config;

use super::{Change, Design};
use crate::sweep::{Kernel, Measured, Point, Results};

/// A benchmark: kernels that compute the same result.
pub struct Case<'a> {
    /// Its name in rows.
    pub name: String,
    /// Its kernels.
    pub kernels: Vec<&'a Kernel>,
}

/// The benchmark whose kernels differ in the size of their tiles.
const TILED: &str = "needle";

/// Runs that differ by less than this fraction count as equal: the first is taken, which has the most threads ("maximize SM thread occupancy",
/// 7.3.5).
const ALIKE: f64 = 0.001;

/// The benchmark to which a kernel belongs. Runs of its own for this study, and those on other data, have longer names.
fn benchmark(kernel: &str) -> &str {
    let kernel = kernel.split_once("-unified").map_or(kernel, |(kernel, _)| kernel);
    match kernel.strip_prefix(TILED) {
        Some(tile) if !tile.is_empty() && tile.bytes().all(|letter| letter.is_ascii_digit()) => TILED,
        _ => kernel,
    }
}

/// The benchmarks of the report's kernels, in their order.
pub fn cases<'a>(results: &Results<'a>) -> Vec<Case<'a>> {
    let mut all: Vec<Case<'a>> = Vec::new();
    for kernel in results.kernels {
        let name = benchmark(&kernel.name);
        match all.iter_mut().find(|case| case.name == name) {
            Some(case) => case.kernels.push(kernel),
            None => all.push(Case { name: name.to_owned(), kernels: vec![kernel] }),
        }
    }
    all
}

/// A run, with its kernel and configuration.
#[derive(Clone, Debug)]
pub struct Best<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The configuration of the machine.
    pub config: Config,
    /// Its counts.
    pub run: &'a Measured,
}

/// The fastest run of a benchmark on a design: `Some(None)` if no kernel fits, `None` if a run is missing.
pub fn best<'a>(results: &'a Results<'_>, case: &Case<'a>, design: Design, change: Change) -> Option<Option<Best<'a>>> {
    let points: Vec<Point> = design.points().into_iter().map(change).collect();
    best_of(results, &case.kernels, &points)
}

/// The fastest run of some kernels in some configurations, with the same return values.
pub fn best_of<'a>(results: &'a Results<'_>, kernels: &[&'a Kernel], points: &[Point]) -> Option<Option<Best<'a>>> {
    let all = runs(results, kernels, points)?;
    let Some(least) = all.iter().map(|best| best.run.cycles).min() else { return Some(None) };
    Some(all.into_iter().find(|best| best.run.cycles as f64 <= least as f64 * (1.0 + ALIKE)))
}

/// The speedup of run `a` over run `b`: cycles of `b` by those of `a`.
pub fn faster(a: &Best<'_>, b: &Best<'_>) -> f64 {
    crate::ratio(b.run.cycles as f64, a.run.cycles as f64)
}

/// The runs of kernels in the configurations that are run with them; `None` if one is missing. Kernels that do not have a point's data run on their
/// usual data.
pub fn runs<'a>(results: &'a Results<'_>, kernels: &[&'a Kernel], points: &[Point]) -> Option<Vec<Best<'a>>> {
    let mut all = Vec::new();
    for point in points {
        let has = kernels.iter().any(|kernel| kernel.data.as_deref() == point.data);
        let point = &if has { point.clone() } else { Point { data: None, ..point.clone() } };
        let config = results.config(point)?;
        for &kernel in kernels.iter().filter(|kernel| results.runs(point, kernel)) {
            all.push(Best { kernel, config, run: results.run(&kernel.name, point)? });
        }
    }
    Some(all)
}
