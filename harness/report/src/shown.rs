//! Plots that several reports use: lines, and values of kernels.

use crate::plot::{Plot, Series, Style};
use crate::row::PerKernel;

/// A line of a plot: its name, and its value at a place on the x axis.
pub type Line<'a> = (&'a str, &'a dyn Fn(u32) -> Option<f64>);

/// A plot of lines over numbers; `None` if a value is missing.
pub fn lines(
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

/// A plot with a place for each kernel, in ascending order of the first series.
pub fn kernels(title: &str, y: &str, series: Vec<(&str, PerKernel)>, style: Style, band: Option<[f64; 2]>) -> Plot {
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
