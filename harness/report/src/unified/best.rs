//! What a design makes of a benchmark at its best: the thesis compares each application's best partition, tile and number of threads (7.3.5, table 7.2).

use super::{Change, Design};
use crate::sweep::{Kernel, Measured, Point, Results};

/// A benchmark: kernels that compute the same.
pub struct Case<'a> {
    /// What rows call it.
    pub name: String,
    /// Its kernels.
    pub kernels: Vec<&'a Kernel>,
}

/// A kernel with tiles of several sizes.
const TILED: &str = "needle";

/// Runs that differ by less than this are alike: the first of them is taken, which has the most threads ("maximize SM thread occupancy", 7.3.5).
const ALIKE: f64 = 0.001;

/// The benchmark of a kernel.
fn benchmark(kernel: &str) -> &str {
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

/// A run, and what was run.
#[derive(Clone, Debug)]
pub struct Best<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The configuration.
    pub point: Point,
    /// What it counted.
    pub run: &'a Measured,
}

/// The fastest run of a benchmark on a design; nothing in it where no kernel fits, nothing where a run is missing.
pub fn best<'a>(results: &'a Results<'_>, case: &Case<'a>, design: Design, change: Change) -> Option<Option<Best<'a>>> {
    let points: Vec<Point> = design.points().into_iter().map(change).collect();
    best_of(results, &case.kernels, &points)
}

/// The same of some kernels at some configurations.
pub fn best_of<'a>(results: &'a Results<'_>, kernels: &[&'a Kernel], points: &[Point]) -> Option<Option<Best<'a>>> {
    let all = runs(results, kernels, points)?;
    let Some(least) = all.iter().map(|best| best.run.cycles).min() else { return Some(None) };
    Some(all.into_iter().find(|best| best.run.cycles as f64 <= least as f64 * (1.0 + ALIKE)))
}

/// Cycles of the second run by those of the first.
pub fn faster(a: &Best<'_>, b: &Best<'_>) -> f64 {
    crate::ratio(b.run.cycles as f64, a.run.cycles as f64)
}

/// The runs of kernels at the configurations that are run with them; nothing where one is missing.
pub fn runs<'a>(results: &'a Results<'_>, kernels: &[&'a Kernel], points: &[Point]) -> Option<Vec<Best<'a>>> {
    let mut all = Vec::new();
    for point in points {
        for &kernel in kernels.iter().filter(|kernel| point.runs(kernel)) {
            all.push(Best { kernel, point: point.clone(), run: results.run(&kernel.name, point)? });
        }
    }
    Some(all)
}
