//! `gpurf report`: the papers' results beside ours.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use gpurf_compiler::{Options, Schedule};
use gpurf_launch::{Manifest, Source};
use gpurf_lockstep::Verdict;
use gpurf_oracle::host::assembled;
use gpurf_regress::{Project, REGISTERS};
use gpurf_report::{
    Absent, Definition, Kernel, PaperReport, Results, Row, SweepError, SweepPlan, Watcher, html, reports, sweep,
};
use serde::Serialize;

use super::source;
use crate::args::{Order, ReportResults, Run};
use crate::failure::{Failure, Status};
use crate::interrupt;
use crate::output::{self, BAD, Cell, GOOD, HEADING, QUIET, numbers, words};
use crate::progress::Progress;
use crate::result::json;

/// Errors that are told; more of them say the same.
const TOLD: usize = 4;

/// One report for `--json`.
#[derive(Serialize)]
struct One<'a> {
    result: Verdict,
    command: &'static str,
    #[serde(flatten)]
    report: &'a PaperReport,
    wall_s: f64,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    messages: &'a [String],
}

/// Several.
#[derive(Serialize)]
struct Several<'a> {
    result: Verdict,
    command: &'static str,
    reports: &'a [PaperReport],
    wall_s: f64,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    messages: &'a [String],
}

/// Makes reports.
pub fn report(arguments: &ReportResults) -> Result<Status, Failure> {
    let chosen: Vec<&Definition> =
        reports().filter(|r| arguments.name.is_empty() || arguments.name.iter().any(|n| n == r.name)).collect();
    check_parts(&chosen, &arguments.only)?;
    let sets = sets(&chosen, arguments)?;
    if let Some(file) = &arguments.html {
        // Before the work, not after it.
        check_writable(file)?;
    }
    interrupt::listen()?;
    let started = Instant::now();
    let (mut reports, mut errors) = (Vec::new(), Vec::new());
    for set in &sets {
        let mut plan = SweepPlan::default();
        set.definitions.iter().for_each(|definition| plan.join(definition.plan(&arguments.only)));
        let results = run_all(&plan, &set.kernels, &arguments.run);
        reports.extend(set.definitions.iter().map(|definition| definition.report(&arguments.only, &results)));
        errors.extend(results.errors);
        for definition in set.definitions.iter().filter(|_| arguments.schedule.is_none()) {
            let Some(plan) = definition.orders_plan(&arguments.only) else { continue };
            for schedule in Schedule::ALL.into_iter().filter(|schedule| *schedule != set.schedule) {
                let kernels = kernels(set.names, arguments, schedule)?;
                let results = run_all(&plan, &kernels, &arguments.run);
                let report = reports.iter_mut().find(|report| report.report == definition.name);
                report.expect("it was made above").rows.extend(definition.orders_rows(&results));
                errors.extend(results.errors);
            }
        }
    }
    reports.sort_by_key(|report| chosen.iter().position(|definition| definition.name == report.report));
    let (verdict, status) = end(&errors);
    let messages = messages(&errors);
    let wall_s = started.elapsed().as_secs_f64();
    messages.iter().for_each(|message| output::error(message));
    if let Some(file) = &arguments.html {
        source::write(file, html::page(&reports).as_bytes())?;
    }
    if arguments.run.json {
        let (result, command, messages) = (verdict, "report", messages.as_slice());
        let text = match reports.as_slice() {
            [report] => json(&One { result, command, report, wall_s, messages }),
            reports => json(&Several { result, command, reports, wall_s, messages }),
        };
        output::print(&text)?;
        return Ok(status);
    }
    for report in &reports {
        output::print(&text(report))?;
    }
    if let Some(file) = &arguments.html {
        output::print(&format!("{}\n", file.display()))?;
    }
    Ok(status)
}

/// Runs a plan and shows its progress.
fn run_all<'a>(plan: &SweepPlan, kernels: &'a [Kernel], run: &Run) -> Results<'a> {
    let watcher = Shown(Progress::new(plan.runs(kernels.len()), !run.json));
    sweep(plan, kernels, super::threads(run.jobs), interrupt::flag(), &watcher)
}

/// Parts have to be those of a report that is made.
fn check_parts(chosen: &[&Definition], only: &[String]) -> Result<(), Failure> {
    let mut parts: Vec<&str> = Vec::new();
    for part in chosen.iter().flat_map(|definition| definition.part_names()) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    match only.iter().find(|name| !parts.contains(&name.as_str())) {
        Some(name) => {
            Err(Failure::bad_input(format!("--only {name}: there is no such part; there are: {}", parts.join(", "))))
        }
        None => Ok(()),
    }
}

/// Kernels, and the reports that run them.
struct Set<'a> {
    /// Names of the project's kernels, where the command line names no others.
    names: &'static [&'static str],
    schedule: Schedule,
    kernels: Vec<Kernel>,
    definitions: Vec<&'a Definition>,
}

/// The kernels of the command line, or for each report the project's that are its own; in the order of instructions of the command
/// line, or of each report.
fn sets<'a>(chosen: &[&'a Definition], arguments: &ReportResults) -> Result<Vec<Set<'a>>, Failure> {
    let mut sets: Vec<Set<'a>> = Vec::new();
    for &definition in chosen {
        let names = if arguments.kernel.is_empty() { definition.kernels } else { &[] };
        let schedule = arguments.schedule.map_or(definition.schedule, Order::schedule);
        match sets.iter_mut().find(|set| set.names == names && set.schedule == schedule) {
            Some(set) => set.definitions.push(definition),
            None => {
                let kernels = kernels(names, arguments, schedule)?;
                sets.push(Set { names, schedule, kernels, definitions: vec![definition] });
            }
        }
    }
    Ok(sets)
}

/// The kernels of the command line's manifests, or the project's of these names.
fn kernels(names: &[&str], arguments: &ReportResults, schedule: Schedule) -> Result<Vec<Kernel>, Failure> {
    let files = &arguments.kernel;
    let kernels: Vec<Kernel> = if files.is_empty() {
        let project = Project::find();
        let folder = project.root.join("tests/kernels");
        if !folder.is_dir() {
            return Err(Failure::bad_input(format!(
                "there is no folder {}: set GPURF_HOME to the folder of a gpurf checkout, or name kernels with --kernel",
                folder.display()
            )));
        }
        let size = if arguments.large { "-large" } else { "" };
        let own = |name: &&str| {
            let file = folder.join(format!("{name}{size}.toml"));
            let kernel = kernel(&file, Some(&folder.join(format!("{name}.ptx"))), schedule)?;
            Ok(Kernel { name: (*name).to_owned(), ..kernel })
        };
        names.iter().map(own).collect::<Result<_, Failure>>()?
    } else {
        files.iter().map(|file| kernel(file, None, schedule)).collect::<Result<_, _>>()?
    };
    let mut names = BTreeSet::new();
    match kernels.iter().find(|kernel| !names.insert(kernel.name.as_str())) {
        Some(kernel) => Err(Failure::bad_input(format!(
            "--kernel {}: there is another kernel of that name: rows need a name for each, so rename one of the manifests",
            kernel.path
        ))),
        None => Ok(kernels),
    }
}

/// A launch manifest with its machine code, from the PTX that the checkout has for its own kernels.
fn kernel(file: &Path, ptx: Option<&Path>, schedule: Schedule) -> Result<Kernel, Failure> {
    let wrong = |e: &dyn std::fmt::Display| Failure::bad_input(e.to_string());
    let manifest = Manifest::load(file).map_err(|e| wrong(&e))?;
    manifest.verify_checks().map_err(|e| wrong(&e))?;
    let image = match &manifest.source {
        Source::File(file) => {
            let ptx = source::ptx(ptx.unwrap_or(file))?;
            source::compile(&ptx, &Options { schedule, ..source::options(Some(REGISTERS)) })?.image
        }
        Source::Assembly(assembly) => assembled(&manifest, assembly).map_err(|e| wrong(&e))?,
    };
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let here = std::env::current_dir().unwrap_or_default();
    let path = file.strip_prefix(&here).unwrap_or(file).display().to_string();
    Ok(Kernel { name, path, manifest, image, schedule })
}

/// A page that cannot be written is known before the work.
fn check_writable(file: &Path) -> Result<(), Failure> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let why = if file.is_dir() {
        "it is a folder"
    } else if !folder.is_dir() {
        "there is no such folder to put it in"
    } else {
        return Ok(());
    };
    Err(Failure::bad_input(format!("--html {}: {why}", file.display())))
}

/// How all of it ended: the worst of its runs.
fn end(errors: &[SweepError]) -> (Verdict, Status) {
    let end = |error: &SweepError| match error {
        SweepError::Failed(_) => (Verdict::CheckFailed, Status::Failed),
        SweepError::Input(_) => (Verdict::Error, Status::BadInput),
        SweepError::Interrupted => (Verdict::Interrupted, Status::Interrupted),
    };
    errors.iter().map(end).max_by_key(|&(_, status)| status).unwrap_or((Verdict::Pass, Status::Pass))
}

/// What went wrong, each thing once. Where it was interrupted, rows that are not there were not run.
fn messages(errors: &[SweepError]) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for message in errors.iter().map(ToString::to_string) {
        if !messages.contains(&message) && messages.len() < TOLD {
            messages.push(message);
        }
    }
    let left_out = errors.iter().any(|error| !matches!(error, SweepError::Interrupted));
    if left_out {
        messages.push("rows that need these runs are left out: no kernel is dropped from a mean".to_owned());
    }
    messages
}

/// Progress, told by the sweep.
struct Shown(Progress);

impl Watcher for Shown {
    fn begin(&self, index: usize, name: &str) {
        self.0.begin(index, name);
    }

    fn end(&self, index: usize, name: &str, error: Option<&SweepError>) {
        let word = match error {
            None => "ran",
            Some(SweepError::Interrupted) => "skipped",
            Some(_) => "FAILED",
        };
        self.0.end(index, &format!("{word:<8} {name}"));
    }
}

/// A report as text: its rows, then why some of them lie outside, then what is not compared.
fn text(report: &PaperReport) -> String {
    let columns = [
        words("result"),
        words("source"),
        numbers("paper"),
        numbers("ours"),
        numbers("least kernel"),
        numbers("greatest kernel"),
        words(""),
    ];
    let cells: Vec<_> = report.rows.iter().enumerate().map(|(index, row)| cells(index + 1, row)).collect();
    let mut text = format!("{HEADING}{}{HEADING:#}\n{}\n", report.title, output::table(&columns, &cells));
    let outside: Vec<(usize, &Row)> = report.rows.iter().enumerate().filter(|(_, row)| row.outside()).collect();
    for (index, row) in &outside {
        text.push_str(&format!("{:>3} {}: {}\n    {}\n", index + 1, row.metric, row.why, row.command));
    }
    for Absent { source, text: claim, why } in &report.absent {
        text.push_str(&format!("not compared: {claim} ({source}): {why}\n"));
    }
    let (all, kernels) = (report.rows.iter().filter(|row| row.paper.is_some()).count(), report.kernels.len());
    text.push_str(&format!("{} of {all} rows lie where the paper's do; {kernels} kernels\n", all - outside.len()));
    text
}

fn cells(number: usize, row: &Row) -> Vec<Cell> {
    let extreme = |index: usize| {
        let extremes = row.extremes();
        extremes.map_or_else(String::new, |e| format!("{} {}", e[index].0, row.unit.words(e[index].1)))
    };
    let (word, style) = match row.within {
        Some(true) => ("within", GOOD),
        Some(false) => ("OUTSIDE", BAD),
        None => ("", QUIET),
    };
    vec![
        format!("{number:>3} {}", row.metric).into(),
        Cell::styled(row.source, QUIET),
        row.text.into(),
        row.unit.words(row.ours).into(),
        Cell::styled(extreme(0), QUIET),
        Cell::styled(extreme(1), QUIET),
        Cell::styled(word, style),
    ]
}
