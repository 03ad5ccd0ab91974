//! A report as a whole.

use gpurf_compiler::Schedule;
use serde::Serialize;

use crate::plot::Plot;
use crate::row::{Absent, Row};
use crate::sweep::{Results, Size, SweepPlan};

/// A report, as `--json` prints it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PaperReport {
    /// Its name.
    pub report: &'static str,
    /// What it is about.
    #[serde(skip)]
    pub title: &'static str,
    /// What they run on.
    pub size: Size,
    /// The kernels.
    pub kernels: Vec<String>,
    /// The order of their instructions, but in rows that name another one.
    pub schedule: Schedule,
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

/// The part of a report that has some of its rows again, with the kernels' instructions in the other orders.
pub const ORDERS: &str = "orders";

/// What is compared between the orders of instructions.
pub struct Orders {
    /// What the rows need to have run.
    pub plan: fn(&mut SweepPlan),
    /// What the rows are about.
    pub metrics: &'static [&'static str],
}

/// A report that can be made.
pub struct Definition {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// The kernels that it runs where the command line names none: test kernels, by name.
    pub kernels: &'static [&'static str],
    /// The order of instructions that the paper's code has.
    pub schedule: Schedule,
    /// Rows that are made in the other orders too, where there are some.
    pub orders: Option<Orders>,
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
            size: results.size(),
            kernels: results.kernels.iter().map(|kernel| kernel.name.clone()).collect(),
            schedule: results.schedule(),
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

    /// The names of its parts.
    pub fn part_names(&self) -> impl Iterator<Item = &'static str> + use<'_> {
        self.parts.iter().map(|part| part.name).chain(self.orders.is_some().then_some(ORDERS))
    }

    /// What the rows about the order of instructions have to run, if they are to be made.
    pub fn orders_plan(&self, only: &[String]) -> Option<SweepPlan> {
        let orders = self.orders.as_ref().filter(|_| only.is_empty() || only.iter().any(|name| name == ORDERS))?;
        let mut plan = SweepPlan::default();
        (orders.plan)(&mut plan);
        Some(plan)
    }

    /// The rows about the order of instructions, from runs in one order.
    pub fn orders_rows(&self, results: &Results<'_>) -> Vec<Row> {
        let order = results.schedule().name();
        let again = |row: Row| Row {
            metric: format!("with instructions in order `{order}`: {}", row.metric),
            why: if row.outside() {
                format!("the paper's code is in order `{}`", self.schedule.name())
            } else {
                String::new()
            },
            command: if row.outside() { self.command(results, ORDERS) } else { String::new() },
            ..row
        };
        let metrics = self.orders.as_ref().map_or(&[][..], |orders| orders.metrics);
        let rows = self.parts.iter().flat_map(|part| (part.rows)(results));
        rows.filter(|row| metrics.contains(&row.metric.as_str())).map(again).collect()
    }

    /// The command that makes a part again, on all kernels: for reasons that are about all of them.
    pub fn command(&self, results: &Results<'_>, part: &str) -> String {
        let kernels = match results.size() {
            Size::Large => String::new(),
            Size::Small => " --small".to_owned(),
            Size::Own => results.kernels.iter().map(|kernel| format!(" --kernel {}", kernel.path)).collect(),
        };
        let schedule = results.schedule();
        let order = match part {
            ORDERS => String::new(),
            _ if schedule == self.schedule => String::new(),
            _ => format!(" --schedule {}", schedule.name()),
        };
        results.part_command(self.name, part, None) + &kernels + &order
    }

    fn chosen<'a>(&self, only: &'a [String]) -> impl Iterator<Item = &'static Part> + use<'a> {
        self.parts.iter().filter(move |part| only.is_empty() || only.iter().any(|name| name == part.name))
    }
}
