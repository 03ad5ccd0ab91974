//! The report on the register file cache and the two-level scheduler: the RFC paper, chapter 5 of the hierarchy thesis, and of chapter 6 the LRF above the cache.

mod cache;
mod combined;
mod energy;
mod levels;
mod reads;
mod two_level;
mod values;

use crate::html::{Plot, Series, Style};
use crate::report::{Definition, Part};
use crate::row::{Absent, PerKernel, mean};
use crate::sweep::{Point, Results};

/// The report.
pub const REPORT: Definition = Definition {
    name: "rfc",
    title: "The register file cache and the two-level scheduler (RFC paper; hierarchy thesis, chapter 5 and 6.5.2)",
    parts: &[
        Part { name: "values", plan: values::plan, rows: values::rows, plots: values::plots },
        Part { name: "cache", plan: cache::plan, rows: cache::rows, plots: cache::plots },
        Part { name: "two-level", plan: two_level::plan, rows: two_level::rows, plots: two_level::plots },
        Part { name: "combined", plan: combined::plan, rows: combined::rows, plots: combined::plots },
        Part { name: "energy", plan: energy::plan, rows: energy::rows, plots: energy::plots },
        Part { name: "levels", plan: levels::plan, rows: levels::rows, plots: levels::plots },
        Part { name: "reads", plan: reads::plan, rows: reads::rows, plots: reads::plots },
    ],
    absent: ABSENT,
};

const NO_SHADERS: &str = "there are no shaders among the kernels";

const ABSENT: &[Absent] = &[
    Absent {
        source: "RFC paper 5.3",
        text: "a replacement that first evicts what is not read before the next long-latency operation",
        why: "not built; the rows on bypassing are without it",
    },
    Absent {
        source: "RFC paper, figure 8; hierarchy thesis, figures 5.6 and 5.11",
        text: "across all shaders at least 35 % of reads and 40 % of writes are avoided",
        why: NO_SHADERS,
    },
    Absent { source: "RFC paper 5.2, figure 9", text: "6 active warps lose 5 % on graphics shaders", why: NO_SHADERS },
    Absent { source: "RFC paper, table 5", text: "the column of shaders", why: NO_SHADERS },
];

/// A preset with the paper's bandwidths (RFC paper, table 4): 32 bytes a cycle to memory, and to shared memory.
fn machine(preset: &'static str) -> Point {
    Point::preset(preset).with("memory.bandwidth=32").with("sm.shared_bandwidth=32")
}

/// Entries that most of the paper's results are for.
const ENTRIES: u32 = 6;

/// Active warps that they are for.
const ACTIVE: u32 = 8;

/// A share in words.
fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The command that makes a part of the report, for one kernel or all of them.
fn part_command(results: &Results<'_>, part: &str, kernel: Option<&str>) -> String {
    let path = |name: &str| results.kernels.iter().find(|k| k.name == name).map_or(name.to_owned(), |k| k.path.clone());
    let kernel = kernel.map_or_else(String::new, |name| format!(" --kernel {}", path(name)));
    format!("gpurf report rfc --only {part}{kernel}")
}

/// The kernel that lies farthest off the middle of a band.
fn farthest(row: &crate::Row) -> Option<(&str, f64)> {
    let middle = (row.paper.low + row.paper.high) / 2.0;
    let off = |value: f64| (value - middle).abs();
    let farthest = row.per_kernel.iter().max_by(|a, b| off(*a.1).total_cmp(&off(*b.1)))?;
    Some((farthest.0, *farthest.1))
}

/// A line of a plot: its name, and its value at a number.
type Line<'a> = (&'a str, &'a dyn Fn(u32) -> Option<f64>);

/// A plot of lines against numbers; nothing if a value is missing.
fn lines(
    title: &str,
    (x, places): (&str, &[u32]),
    y: &str,
    series: &[Line<'_>],
    band: Option<[f64; 2]>,
) -> Option<Plot> {
    let values =
        |value: &dyn Fn(u32) -> Option<f64>| places.iter().map(|&place| value(place)).collect::<Option<Vec<f64>>>();
    let series = series.iter().map(|(name, value)| Some(Series { name: (*name).to_owned(), values: values(value)? }));
    Some(Plot {
        title: title.to_owned(),
        x: x.to_owned(),
        y: y.to_owned(),
        places: places.iter().map(u32::to_string).collect(),
        series: series.collect::<Option<_>>()?,
        style: Style::Lines,
        band,
    })
}

/// A plot with a place for each kernel, in the order of the first series.
fn kernels(title: &str, y: &str, series: Vec<(&str, PerKernel)>, style: Style, band: Option<[f64; 2]>) -> Plot {
    let mut names: Vec<String> = series.first().map(|(_, values)| values.keys().cloned().collect()).unwrap_or_default();
    if let Some((_, first)) = series.first() {
        names.sort_by(|a, b| first[a].total_cmp(&first[b]));
    }
    let of = |values: &PerKernel| names.iter().map(|name| values.get(name).copied().unwrap_or(f64::NAN)).collect();
    Plot {
        title: title.to_owned(),
        x: String::new(),
        y: y.to_owned(),
        series: series.iter().map(|(name, values)| Series { name: (*name).to_owned(), values: of(values) }).collect(),
        places: names,
        style,
        band,
    }
}

/// The mean over kernels of a value at a configuration.
fn mean_of(results: &Results<'_>, point: &Point, value: impl Fn(&crate::Measured) -> f64) -> Option<f64> {
    results.each(point, value).map(|values| mean(&values))
}

#[cfg(test)]
mod tests;
