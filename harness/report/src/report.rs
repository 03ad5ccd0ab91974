//! Reports, their parts, and their headlines.

use serde::Serialize;

use crate::code::Code;
use crate::plot::Plot;
use crate::row::{Absent, Band, Known, Row, Summary, Tried, Unit, Verdict};
use crate::sweep::{Point, Results, SAMPLE, Size, SweepPlan};

/// A report, as `--json` prints it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PaperReport {
    /// Its name.
    pub report: &'static str,
    /// Its subject.
    #[serde(skip)]
    pub title: &'static str,
    /// The data size of the runs.
    pub size: Size,
    /// Cycles of a launch after which no new block starts: a launch that takes longer is a sample. `None`: all blocks run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<u64>,
    /// The kernels.
    pub kernels: Vec<String>,
    /// How the kernels are compiled, except in rows that name another instruction order.
    #[serde(flatten)]
    pub code: Code,
    /// Number of rows with each verdict.
    pub summary: Summary,
    /// The rows.
    pub rows: Vec<Row>,
    /// The headlines with each cause of a difference mended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Moved>,
    /// Results of the papers that are not compared.
    pub absent: Vec<Absent>,
    /// Plots, for example curves over sizes and values of kernels.
    pub plots: Vec<Plot>,
}

impl PaperReport {
    /// Counts the verdicts of the rows again.
    pub fn count(&mut self) {
        self.summary = Summary::of(&self.rows);
    }

    /// Records the values of doubtful rows with other settings. `changed` has each setting, and the report's rows with it.
    pub fn take_up(&mut self, changed: &[(&str, Vec<Row>)]) {
        for row in &mut self.rows {
            let tried = |(setting, rows): &(&str, Vec<Row>)| {
                let same = |other: &&Row| (&other.metric, other.source) == (&row.metric, row.source);
                Tried { setting: (*setting).to_owned(), ours: rows.iter().find(same).map(|row| row.ours) }
            };
            let tried = changed.iter().map(tried).collect();
            row.take_up(tried);
        }
    }

    /// The data size of the runs, and whether launches are sampled, in words.
    pub fn data(&self) -> String {
        let size = self.size.words();
        self.sample
            .map_or_else(|| size.to_owned(), |sample| format!("{size}, launches of more than {sample} cycles sampled"))
    }
}

/// A part of a report that can be made alone.
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// Plans its runs.
    pub plan: fn(&mut SweepPlan),
    /// Makes its rows; a row is left out if one of its runs did not complete.
    pub rows: fn(&Results<'_>) -> Vec<Row>,
    /// Makes its plots; a plot is left out if one of its runs did not complete.
    pub plots: fn(&Results<'_>) -> Vec<Plot>,
}

/// The part of a report that repeats some of its rows with the kernels' instructions in other orders.
pub const ORDERS: &str = "orders";

/// The rows that are compared between the orders of instructions.
pub struct Orders {
    /// Plans the runs of the rows.
    pub plan: fn(&mut SweepPlan),
    /// The metrics of the rows.
    pub metrics: &'static [&'static str],
}

/// The part of a report with its headlines, on its paper's machine.
pub const HEADLINES: &str = "headlines";

/// The part of a report that repeats its headlines with each cause of a difference mended.
pub const CAUSES_PART: &str = "causes";

/// Which of its paper's parameters a configuration has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Machine {
    /// Latencies from issue to issue; if false, those of the designs' presets.
    pub latencies: bool,
    /// Bandwidths, collectors, warps, and policies that the paper leaves open; if false, those of the designs' presets.
    pub resources: bool,
}

impl Machine {
    /// All of the paper's parameters.
    pub const PAPER: Self = Self { latencies: true, resources: true };
    /// None of the paper's parameters.
    pub const DESIGN: Self = Self { latencies: false, resources: false };

    /// A point with those of the paper's settings that this machine has.
    pub fn of(self, point: Point, latencies: &[&'static str], resources: &[&'static str]) -> Point {
        let latencies = latencies.iter().filter(|_| self.latencies);
        latencies.chain(resources.iter().filter(|_| self.resources)).fold(point, |point, set| point.with(*set))
    }
}

/// Causes of a difference from a paper, and which of them one column of the table mends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cause {
    /// Name of the column.
    pub name: &'static str,
    /// Instructions are in the order of the paper's code, not in that of the PTX.
    pub order: bool,
    /// Addresses have as many bits as in the paper's code, not 64.
    pub addresses: bool,
    /// The launches are large.
    pub size: bool,
    /// The parameters of the paper's machine.
    pub machine: Machine,
}

impl Cause {
    const NONE: Self = Self { name: "none", order: false, addresses: false, size: false, machine: Machine::DESIGN };

    /// The compiler choices: those of the paper if they are mended, otherwise those of the PTX.
    pub fn code(self, paper: Code) -> Code {
        Code {
            schedule: if self.order { paper.schedule } else { Code::PTX.schedule },
            address_bits: if self.addresses { paper.address_bits } else { Code::PTX.address_bits },
        }
    }

    /// No cause mended, each cause alone, and all causes together.
    pub const ALL: [Self; 7] = [
        Self::NONE,
        Self { name: "order", order: true, ..Self::NONE },
        Self { name: "addresses", addresses: true, ..Self::NONE },
        Self { name: "size", size: true, ..Self::NONE },
        Self { name: "latencies", machine: Machine { latencies: true, ..Machine::DESIGN }, ..Self::NONE },
        Self { name: "resources", machine: Machine { resources: true, ..Machine::DESIGN }, ..Self::NONE },
        Self { name: "all", order: true, addresses: true, size: true, machine: Machine::PAPER },
    ];
}

/// The headlines of a report.
pub struct Headlines {
    /// Plans their runs on a machine.
    pub plan: fn(&mut SweepPlan, Machine),
    /// Makes their rows.
    pub rows: fn(&Results<'_>, Machine) -> Vec<Row>,
}

/// A headline, and its value with each cause mended.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Moved {
    /// The place in the paper.
    pub source: &'static str,
    /// The metric.
    pub metric: String,
    /// The paper's own words.
    pub text: &'static str,
    /// The values that agree with the paper.
    pub paper: Option<Band>,
    /// The unit of the numbers.
    pub unit: Unit,
    /// Our values, column by column.
    pub columns: Vec<Column>,
}

/// A headline with some causes mended.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Column {
    /// Name of the mended cause.
    pub mended: &'static str,
    /// The measured value; `None` if one of its runs did not complete.
    pub ours: Option<f64>,
    /// Whether the value lies in the paper's band.
    pub within: Option<bool>,
    /// The verdict on the value.
    pub verdict: Option<Verdict>,
}

impl Moved {
    /// Collects the headlines from columns: each cause, and the rows with it mended.
    pub fn of(columns: &[(Cause, Vec<Row>)]) -> Vec<Self> {
        let mut moved: Vec<Self> = Vec::new();
        for row in columns.iter().flat_map(|(_, rows)| rows) {
            if moved.iter().any(|moved| moved.metric == row.metric) {
                continue;
            }
            let column = |(cause, rows): &(Cause, Vec<Row>)| {
                let same = rows.iter().find(|other| other.metric == row.metric);
                Column {
                    mended: cause.name,
                    ours: same.map(|row| row.ours),
                    within: same.and_then(|row| row.within),
                    verdict: same.and_then(|row| row.verdict),
                }
            };
            let Row { source, text, paper, unit, .. } = *row;
            let columns = columns.iter().map(column).collect();
            moved.push(Self { source, metric: row.metric.clone(), text, paper, unit, columns });
        }
        moved
    }
}

/// A report that can be made.
pub struct Definition {
    /// Its name.
    pub name: &'static str,
    /// Its subject.
    pub title: &'static str,
    /// The test kernels, by name, that it runs if the command line names none.
    pub kernels: &'static [&'static str],
    /// The compiler choices of the paper.
    pub code: Code,
    /// Rows that are repeated with other instruction orders, if there are any.
    pub orders: Option<Orders>,
    /// Its headlines.
    pub headlines: Headlines,
    /// Settings of its design that `--try usual` tries in addition to those of all machines.
    pub settings: &'static [&'static str],
    /// Its other parts.
    pub parts: &'static [Part],
    /// Results of the papers that are not compared.
    pub absent: &'static [Absent],
}

impl Definition {
    /// Plans the runs of all parts, or of the parts in `only`.
    pub fn plan(&self, only: &[String]) -> SweepPlan {
        let mut plan = SweepPlan::default();
        self.chosen(only).for_each(|part| (part.plan)(&mut plan));
        if chosen(only, HEADLINES) {
            (self.headlines.plan)(&mut plan, Machine::PAPER);
        }
        plan
    }

    /// Makes the report, with all parts or with those in `only`.
    pub fn report(&self, only: &[String], results: &Results<'_>) -> PaperReport {
        let mut report = PaperReport {
            report: self.name,
            title: self.title,
            size: results.size(),
            sample: results.sample(),
            kernels: results
                .kernels
                .iter()
                .filter(|kernel| kernel.data.is_none())
                .map(|kernel| kernel.name.clone())
                .collect(),
            code: results.code(),
            summary: Summary::default(),
            rows: self.rows(only, results),
            causes: Vec::new(),
            absent: if only.is_empty() { self.absent.to_vec() } else { Vec::new() },
            plots: self.chosen(only).flat_map(|part| (part.plots)(results)).collect(),
        };
        report.absent.extend(results.lacking());
        report.count();
        report
    }

    /// Makes the rows of all parts, or of the parts in `only`.
    pub fn rows(&self, only: &[String], results: &Results<'_>) -> Vec<Row> {
        let mut headlines = Vec::new();
        if chosen(only, HEADLINES) {
            let rows = (self.headlines.rows)(results, Machine::PAPER).into_iter();
            headlines.extend(rows.map(|row| Row { metric: format!("the paper's machine: {}", row.metric), ..row }));
        }
        let mut others: Vec<Row> = self.chosen(only).flat_map(|part| (part.rows)(results)).collect();
        // A claim that is also a headline counts only once.
        for row in others.iter_mut().filter(|row| row.derived_from.is_none()) {
            let same = headlines.iter().find(|headline| (headline.source, headline.text) == (row.source, row.text));
            row.derived_from = same.map(|headline| format!("the same claim: {}", headline.metric));
        }
        headlines.extend(others);
        headlines
    }

    /// The names of its parts.
    pub fn part_names(&self) -> impl Iterator<Item = &'static str> + use<'_> {
        let parts = self.parts.iter().map(|part| part.name).chain(self.orders.is_some().then_some(ORDERS));
        parts.chain([HEADLINES, CAUSES_PART])
    }

    /// Plans the runs of the headlines with a cause mended, if that part is chosen.
    pub fn causes_plan(&self, only: &[String], cause: Cause) -> Option<SweepPlan> {
        chosen(only, CAUSES_PART).then(|| {
            let mut plan = SweepPlan::default();
            (self.headlines.plan)(&mut plan, cause.machine);
            plan
        })
    }

    /// Makes the rows of the headlines with a cause mended.
    pub fn causes_rows(&self, results: &Results<'_>, cause: Cause) -> Vec<Row> {
        (self.headlines.rows)(results, cause.machine)
    }

    /// Plans the runs of the rows on instruction order, if that part is chosen.
    pub fn orders_plan(&self, only: &[String]) -> Option<SweepPlan> {
        let orders = self.orders.as_ref().filter(|_| chosen(only, ORDERS))?;
        let mut plan = SweepPlan::default();
        (orders.plan)(&mut plan);
        Some(plan)
    }

    /// Makes the rows on instruction order, from runs in one order.
    pub fn orders_rows(&self, results: &Results<'_>) -> Vec<Row> {
        let order = results.code().schedule.name();
        let again = |row: Row| Row {
            metric: format!("with instructions in order `{order}`: {}", row.metric),
            derived_from: Some(format!("the same row in the order `{}`, the paper's", self.code.schedule.name())),
            cause: row.doubtful().then_some(Known::NotKnown),
            why: if row.doubtful() {
                format!("the paper's code is in order `{}`", self.code.schedule.name())
            } else {
                String::new()
            },
            command: if row.doubtful() { self.command(results, ORDERS) } else { String::new() },
            ..row
        };
        let metrics = self.orders.as_ref().map_or(&[][..], |orders| orders.metrics);
        let rows = self.parts.iter().flat_map(|part| (part.rows)(results));
        rows.filter(|row| metrics.contains(&row.metric.as_str())).map(again).collect()
    }

    /// The command that repeats a part on all kernels, for reasons that are about all of them.
    pub fn command(&self, results: &Results<'_>, part: &str) -> String {
        let kernels = match results.size() {
            Size::Large => String::new(),
            Size::Small => " --small".to_owned(),
            Size::Own => results.kernels.iter().map(|kernel| format!(" --kernel {}", kernel.path)).collect(),
        };
        let code = if part == ORDERS { String::new() } else { results.code().options(Some(self.code)) };
        let sample = match results.sample() {
            Some(SAMPLE) => String::new(),
            Some(sample) => format!(" --sample {sample}"),
            None if results.size() == Size::Small => String::new(),
            None => " --whole".to_owned(),
        };
        results.part_command(self.name, part, None) + &kernels + &code + &sample
    }

    fn chosen<'a>(&self, only: &'a [String]) -> impl Iterator<Item = &'static Part> + use<'a> {
        self.parts.iter().filter(move |part| chosen(only, part.name))
    }
}

/// Whether a part is chosen.
fn chosen(only: &[String], part: &str) -> bool {
    only.is_empty() || only.iter().any(|name| name == part)
}

#[cfg(test)]
mod tests {
    use gpurf_compiler::{AddressBits, Schedule};

    use super::*;

    #[test]
    fn causes_are_mended_one_by_one_and_together() {
        let mended = |cause: &Cause| {
            let Cause { order, addresses, size, machine: Machine { latencies, resources }, .. } = *cause;
            [order, addresses, size, latencies, resources].map(usize::from)
        };
        let all = Cause::ALL.each_ref().map(mended);
        assert_eq!(all.each_ref().map(|mended| mended.iter().sum::<usize>()), [0, 1, 1, 1, 1, 1, 5]);
        // Each cause is mended alone exactly once.
        assert_eq!(
            (0..5).map(|cause| all[1..6].iter().map(|mended| mended[cause]).sum()).collect::<Vec<usize>>(),
            [1; 5]
        );
        // Compiler choices that are not mended are those of the PTX.
        let paper = Code { schedule: Schedule::Tree, address_bits: AddressBits::Narrow };
        let codes = [Cause::ALL[0], Cause::ALL[1], Cause::ALL[2], Cause::ALL[6]].map(|cause| cause.code(paper));
        let [order, addresses] =
            [Code { schedule: Schedule::Tree, ..Code::PTX }, Code { address_bits: AddressBits::Narrow, ..Code::PTX }];
        assert_eq!(codes, [Code::PTX, order, addresses, paper]);
    }

    #[test]
    fn a_machine_has_the_settings_of_what_it_has() {
        let of = |latencies, resources| {
            let machine = Machine { latencies, resources };
            machine.of(Point::preset("baseline"), &["sm.alu_latency=2"], &["mrf.collectors=4"]).set
        };
        assert_eq!(of(false, false), [""; 0]);
        assert_eq!(of(true, false), ["sm.alu_latency=2"]);
        assert_eq!(of(false, true), ["mrf.collectors=4"]);
        assert_eq!(of(true, true), ["sm.alu_latency=2", "mrf.collectors=4"]);
    }

    #[test]
    fn a_column_without_a_row_is_empty() {
        let claim = crate::Claim::share("table 1", "40 %", 0.35, 0.45);
        let row = |ours: f64| claim.mean("saved", [("a".to_owned(), ours)].into());
        let moved =
            Moved::of(&[(Cause::ALL[0], vec![row(0.5)]), (Cause::ALL[1], vec![]), (Cause::ALL[6], vec![row(0.4)])]);
        let column = |mended, ours, within: Option<bool>| {
            let verdict = within.map(|within| if within { Verdict::Agrees } else { Verdict::Disagrees });
            Column { mended, ours, within, verdict }
        };
        let columns =
            [column("none", Some(0.5), Some(false)), column("order", None, None), column("all", Some(0.4), Some(true))];
        assert_eq!((moved.len(), &moved[0].metric[..], &moved[0].columns[..]), (1, "saved", &columns[..]));
    }
}
