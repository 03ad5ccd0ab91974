//! A report as a whole.

use serde::Serialize;

use crate::plot::Plot;
use crate::row::{Absent, Row};
use crate::sweep::{Results, SweepPlan};

/// A report, as `--json` prints it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PaperReport {
    /// Its name.
    pub report: &'static str,
    /// What it is about.
    #[serde(skip)]
    pub title: &'static str,
    /// The kernels.
    pub kernels: Vec<String>,
    /// The results.
    pub rows: Vec<Row>,
    /// Results of the papers that are not compared.
    pub absent: Vec<Absent>,
    /// Plots: curves over sizes, values of kernels.
    pub plots: Vec<Plot>,
}

/// A part of a report that can be made alone.
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// What it has to run.
    pub plan: fn(&mut SweepPlan),
    /// Its rows; those are left out whose runs did not all end.
    pub rows: fn(&Results<'_>) -> Vec<Row>,
    /// Its plots, likewise.
    pub plots: fn(&Results<'_>) -> Vec<Plot>,
}

/// A report that can be made.
pub struct Definition {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// The kernels that it runs unless told otherwise: test kernels, by name.
    pub kernels: &'static [&'static str],
    /// Its parts.
    pub parts: &'static [Part],
    /// Results of the papers that are not compared.
    pub absent: &'static [Absent],
}

impl Definition {
    /// What it has to run: all parts, or those of these names.
    pub fn plan(&self, only: &[String]) -> SweepPlan {
        let mut plan = SweepPlan::default();
        self.chosen(only).for_each(|part| (part.plan)(&mut plan));
        plan
    }

    /// The report.
    pub fn report(&self, only: &[String], results: &Results<'_>) -> PaperReport {
        let mut report = PaperReport {
            report: self.name,
            title: self.title,
            kernels: results.kernels.iter().map(|kernel| kernel.name.clone()).collect(),
            rows: Vec::new(),
            absent: if only.is_empty() { self.absent.to_vec() } else { Vec::new() },
            plots: Vec::new(),
        };
        for part in self.chosen(only) {
            report.rows.extend((part.rows)(results));
            report.plots.extend((part.plots)(results));
        }
        report
    }

    /// The command that makes a part again, on all kernels: for reasons that are about all of them.
    pub fn command(&self, results: &Results<'_>, part: &str) -> String {
        let own = results.kernels.iter().map(|kernel| kernel.name.as_str()).ne(self.kernels.iter().copied());
        let kernels = results.kernels.iter().filter(|_| own).map(|kernel| format!(" --kernel {}", kernel.path));
        results.part_command(self.name, part, None) + &kernels.collect::<String>()
    }

    fn chosen<'a>(&self, only: &'a [String]) -> impl Iterator<Item = &'static Part> + use<'a> {
        self.parts.iter().filter(move |part| only.is_empty() || only.iter().any(|name| name == part.name))
    }
}
