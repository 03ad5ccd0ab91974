//! `gpurf report`: the papers' results beside those measured here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use gpurf_compiler::Schedule;
use gpurf_launch::{Manifest, Source};
use gpurf_lockstep::Verdict;
use gpurf_oracle::host::assembled;
use gpurf_regress::{Project, REGISTERS, regression};
use gpurf_report::{
    Absent, Cause, Code, Definition, Ended, Kept, Kernel, Moved, PaperReport, Ptx, Row, RunName, Size, Summary,
    SweepError, SweepPlan, Verdict as Finding, Watcher, html, manifest, other_data, reports, settings::usual, sweep,
    table,
};
use serde::Serialize;

use super::source;
use crate::args::{AddressBits, Order, ReportResults};
use crate::failure::{Failure, Status};
use crate::files::{InputFiles, check_outputs};
use crate::interrupt;
use crate::output::{self, BAD, Cell, DOUBTFUL, GOOD, HEADING, QUIET, numbers, words};
use crate::progress::{Progress, Remaining, duration};
use crate::result::json;

/// The maximum number of errors that are printed; further ones rarely say more.
const TOLD: usize = 4;
/// The word that stands for a list of settings.
const USUAL: &str = "usual";
/// Minimum time between two lines of progress without a terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

/// The output of `--json` for one report.
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

/// The output of `--json` for several reports.
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
    let sweeps = sweeps(&chosen, arguments)?;
    // Checked before the work, not after it.
    let kernels = sweeps.iter().flat_map(|sweep| &sweep.kernels);
    let inputs = kernels.fold(InputFiles::default(), |inputs, kernel| inputs.with_manifest(&kernel.manifest));
    check_outputs(&files(arguments).collect::<Vec<_>>(), &inputs)?;
    let project = Project::find();
    let runs = arguments.runs.clone().unwrap_or_else(|| project.report_runs());
    if arguments.runs.is_some() {
        source::make_folder(&runs)?;
    }
    let kept = Kept::new(runs, regression::program()?, arguments.fresh);
    interrupt::listen()?;
    let started = Instant::now();
    let jobs = super::threads(arguments.run.jobs);
    let watch = Watch::new(&sweeps, jobs);
    let (mut reports, mut orders, mut causes, mut errors) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut changed: Vec<(&str, &str, Vec<Row>)> = Vec::new();
    for Sweep { plan, kernels, reports: whole, orders: again, causes: mended, tried, .. } in &sweeps {
        let results = sweep(plan, kernels, jobs, interrupt::flag(), &kept, &watch);
        reports.extend(whole.iter().map(|definition| definition.report(&arguments.only, &results)));
        orders.extend(
            again.iter().map(|definition| (definition.name, results.code().schedule, definition.orders_rows(&results))),
        );
        causes.extend(
            mended
                .iter()
                .map(|(definition, cause)| (definition.name, *cause, definition.causes_rows(&results, *cause))),
        );
        changed.extend(tried.iter().map(|(definition, setting)| {
            let rows = match results.code().with_setting(setting) {
                Some(_) => definition.rows(&arguments.only, &results),
                None => {
                    let results = results.with_setting(&definition.plan(&arguments.only), setting);
                    definition.rows(&arguments.only, &results)
                }
            };
            (definition.name, *setting, rows)
        }));
        errors.extend(results.errors);
    }
    watch.end(&kept);
    for schedule in Schedule::ALL {
        for (name, _, rows) in orders.iter_mut().filter(|(_, order, _)| *order == schedule) {
            let report = reports.iter_mut().find(|report| report.report == *name);
            report.expect("a report with orders is made").rows.append(rows);
        }
    }
    for report in &mut reports {
        let of_it = changed.extract_if(.., |(name, ..)| *name == report.report);
        report.take_up(&of_it.map(|(_, setting, rows)| (setting, rows)).collect::<Vec<_>>());
        let mine = |cause| {
            let column = causes.iter().find(|(name, other, _)| *name == report.report && *other == cause)?;
            Some((cause, column.2.clone()))
        };
        report.causes = Moved::of(&Cause::ALL.into_iter().filter_map(mine).collect::<Vec<_>>());
    }
    reports.iter_mut().for_each(PaperReport::count);
    reports.sort_by_key(|report| chosen.iter().position(|definition| definition.name == report.report));
    let (verdict, status) = end(&errors);
    let messages = messages(&errors);
    let wall_s = started.elapsed().as_secs_f64();
    messages.iter().for_each(|message| output::error(message));
    if let Some(file) = &arguments.html {
        source::write(file, html::page(&reports).as_bytes())?;
    }
    if let Some(file) = &arguments.csv {
        source::write(file, table::csv(&reports).as_bytes())?;
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
        output::print(&text(report, arguments.kernels))?;
    }
    if reports.len() > 1 {
        output::print(&summaries(&reports))?;
    }
    for (_, file) in files(arguments) {
        output::print(&format!("{}\n", file.display()))?;
    }
    Ok(status)
}

/// Files that are written, with their options.
fn files(arguments: &ReportResults) -> impl Iterator<Item = (&'static str, &PathBuf)> {
    let files = [("--html", arguments.html.as_ref()), ("--csv", arguments.csv.as_ref())];
    files.into_iter().filter_map(|(option, file)| Some((option, file?)))
}

/// Checks that each part in `only` belongs to a chosen report.
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

/// Kernels compiled in one way for one data size, their planned runs, and the reports that need them.
struct Sweep<'a> {
    /// Names of the project's kernels; empty if the command line names kernels.
    names: &'static [&'static str],
    code: Code,
    /// The data on which the kernels run.
    size: Size,
    kernels: Vec<Kernel>,
    plan: SweepPlan,
    /// Reports made from these runs.
    reports: Vec<&'a Definition>,
    /// Reports that repeat some of their rows with this code.
    orders: Vec<&'a Definition>,
    /// Reports that repeat their headlines with this code and data size, and the cause that this mends.
    causes: Vec<(&'a Definition, Cause)>,
    /// Reports whose rows are also made with a setting, each setting alone.
    tried: Vec<(&'a Definition, &'a str)>,
}

/// The sweeps of all chosen reports. The kernels are those of the command line, or else each report's; they are compiled as the command line says, or
/// else as each report does. Rows on instruction order, headlines with causes mended and settings to try add further sweeps.
fn sweeps<'a>(chosen: &[&'a Definition], arguments: &'a ReportResults) -> Result<Vec<Sweep<'a>>, Failure> {
    let mut sweeps: Vec<Sweep<'a>> = Vec::new();
    let size = size(arguments);
    // If the command line chooses the code, it applies to all rows.
    let is_chosen = arguments.schedule.is_some() || arguments.address_bits.is_some();
    for &definition in chosen {
        let sweep = sweep_of(&mut sweeps, definition, code_of(definition, arguments), size, arguments)?;
        sweep.plan.join(definition.plan(&arguments.only));
        sweep.reports.push(definition);
    }
    for &definition in chosen.iter().filter(|_| !is_chosen) {
        let Some(plan) = definition.orders_plan(&arguments.only) else { continue };
        for schedule in Schedule::ALL.into_iter().filter(|schedule| *schedule != definition.code.schedule) {
            let code = Code { schedule, ..definition.code };
            let sweep = sweep_of(&mut sweeps, definition, code, size, arguments)?;
            sweep.plan.join(plan.clone());
            sweep.orders.push(definition);
        }
    }
    for &definition in chosen.iter().filter(|_| !is_chosen) {
        // Small data and the user's kernels have no other data size.
        for cause in Cause::ALL.into_iter().filter(|cause| size == Size::Large || cause.name != "size") {
            let Some(plan) = definition.causes_plan(&arguments.only, cause) else { continue };
            let data = if size == Size::Large && !cause.size { Size::Small } else { size };
            let sweep = sweep_of(&mut sweeps, definition, cause.code(definition.code), data, arguments)?;
            sweep.plan.join(plan);
            sweep.causes.push((definition, cause));
        }
    }
    for &definition in chosen {
        let own = code_of(definition, arguments);
        let plan = definition.plan(&arguments.only);
        for setting in tried(arguments, definition) {
            let code = own.with_setting(setting);
            let plan = match code {
                Some(code) => (code != own).then(|| plan.clone().without_experiments()),
                None => match plan.with_setting(setting) {
                    Ok(changed) => changed,
                    Err(_) if !arguments.tried.iter().any(|given| given == setting) => None,
                    Err(error) => {
                        let name = definition.name;
                        let why = format!("--try {setting}: no machine of the report {name} takes it: {error}");
                        return Err(Failure::bad_input(why));
                    }
                },
            };
            let Some(plan) = plan else { continue };
            let sweep = sweep_of(&mut sweeps, definition, code.unwrap_or(own), size, arguments)?;
            sweep.plan.join(plan);
            sweep.tried.push((definition, setting));
        }
    }
    Ok(sweeps)
}

/// The settings that are tried in a report, without duplicates.
fn tried<'a>(arguments: &'a ReportResults, report: &Definition) -> Vec<&'a str> {
    let mut settings: Vec<&'a str> = Vec::new();
    for given in &arguments.tried {
        let list = if given == USUAL { usual(report).collect() } else { vec![given.as_str()] };
        for setting in list {
            if !settings.contains(&setting) {
                settings.push(setting);
            }
        }
    }
    settings
}

/// How a report's kernels are compiled: as its paper's code, except for options of the command line.
fn code_of(definition: &Definition, arguments: &ReportResults) -> Code {
    let Code { schedule, address_bits } = definition.code;
    Code {
        schedule: arguments.schedule.map_or(schedule, Order::schedule),
        address_bits: arguments.address_bits.map_or(address_bits, AddressBits::bits),
    }
}

/// The data size of the reports.
fn size(arguments: &ReportResults) -> Size {
    match (arguments.kernel.is_empty(), arguments.small) {
        (false, _) => Size::Own,
        (true, true) => Size::Small,
        (true, false) => Size::Large,
    }
}

/// The sweep with a report's kernels, this code and this data size; a new one if there is none yet.
fn sweep_of<'a, 'b>(
    sweeps: &'b mut Vec<Sweep<'a>>,
    definition: &Definition,
    code: Code,
    size: Size,
    arguments: &ReportResults,
) -> Result<&'b mut Sweep<'a>, Failure> {
    let names = if arguments.kernel.is_empty() { definition.kernels } else { &[] };
    let same = |sweep: &Sweep<'a>| sweep.names == names && sweep.code == code && sweep.size == size;
    let place = sweeps.iter().position(same);
    if place.is_none() {
        let kernels = kernels(names, arguments, code, size)?;
        let (plan, reports, orders, causes, tried) =
            (SweepPlan::default(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        sweeps.push(Sweep { names, code, size, kernels, plan, reports, orders, causes, tried });
    }
    let place = place.unwrap_or(sweeps.len() - 1);
    Ok(&mut sweeps[place])
}

/// The kernels of the command line's manifests, or the project's kernels with these names.
fn kernels(names: &[&str], arguments: &ReportResults, code: Code, size: Size) -> Result<Vec<Kernel>, Failure> {
    let files = &arguments.kernel;
    let sample = (!arguments.whole && size != Size::Small).then_some(arguments.sample);
    let kernels: Vec<Kernel> = if files.is_empty() {
        let project = Project::find();
        let folder = project.root.join("tests/kernels");
        if !folder.is_dir() {
            return Err(Failure::bad_input(format!(
                "there is no folder {}: set GPURF_HOME to the folder of a gpurf checkout, or name kernels with --kernel",
                folder.display()
            )));
        }
        let own = |run: &&str| {
            let (manifest, name) = manifest(run, size);
            let file = folder.join(manifest);
            if size == Size::Large && !file.exists() {
                let file = file.display();
                return Err(Failure::bad_input(format!("there is no {file}: --small runs the kernels on little data")));
            }
            let kernel = kernel(&file, code, size, sample)?;
            Ok(Kernel { name: name.to_owned(), data: other_data(run).map(str::to_owned), ..kernel })
        };
        let run = names.iter().filter(|name| size == Size::Large || other_data(name).is_none());
        run.map(own).collect::<Result<_, Failure>>()?
    } else {
        files.iter().map(|file| kernel(file, code, Size::Own, sample)).collect::<Result<_, _>>()?
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

/// A launch manifest with its machine code; the project's own kernels are compiled from the PTX in the checkout.
fn kernel(file: &Path, code: Code, size: Size, sample: Option<u64>) -> Result<Kernel, Failure> {
    let manifest = Manifest::load(file)?;
    manifest.verify_checks()?;
    let (image, ptx) = match &manifest.source {
        Source::File(file) => {
            let beside = file.with_extension("ptx");
            let ptx = source::ptx(if size == Size::Own { file } else { &beside })?;
            let options = code.compiler_options(source::options(Some(REGISTERS)));
            (source::compile(&ptx, &options, &manifest)?.image, Some(Ptx { name: ptx.name, text: ptx.text }))
        }
        Source::Assembly(assembly) => {
            (assembled(&manifest, assembly).map_err(|e| Failure::bad_input(e.to_string()))?, None)
        }
    };
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let here = std::env::current_dir().unwrap_or_default();
    let path = file.strip_prefix(&here).unwrap_or(file).display().to_string();
    Ok(Kernel { name, path, manifest, image, ptx, code, size, data: None, sample })
}

/// The verdict and status of all runs: the worst.
fn end(errors: &[SweepError]) -> (Verdict, Status) {
    let end = |error: &SweepError| match error {
        SweepError::Failed(_) => (Verdict::CheckFailed, Status::Failed),
        SweepError::Input(_) => (Verdict::Error, Status::BadInput),
        SweepError::Interrupted => (Verdict::Interrupted, Status::Interrupted),
    };
    errors.iter().map(end).max_by_key(|&(_, status)| status).unwrap_or((Verdict::Pass, Status::Pass))
}

/// The messages of all errors, without duplicates. If runs failed, a message says that rows are missing.
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

/// Reports the progress of the runs.
struct Watch {
    progress: Progress,
    planned: usize,
    began: Instant,
    state: Mutex<State>,
}

struct State {
    remaining: Remaining,
    /// Number of results that were on disk.
    kept: usize,
    /// Number of runs made.
    ran: usize,
    /// Number of runs without a result, except interrupted ones.
    failed: usize,
    /// Start time of each running run.
    running: BTreeMap<usize, Instant>,
    /// Time of the last line.
    told: Option<Instant>,
}

impl Watch {
    fn new(sweeps: &[Sweep<'_>], jobs: usize) -> Self {
        let names: Vec<RunName> = sweeps.iter().flat_map(|sweep| sweep.plan.names(&sweep.kernels)).collect();
        let remaining = Remaining::new(jobs, names.iter().map(|name| (kind(name), None)));
        let state = State { remaining, kept: 0, ran: 0, failed: 0, running: BTreeMap::new(), told: None };
        let progress = Progress::new(names.len(), true);
        Self { progress, planned: names.len(), began: Instant::now(), state: Mutex::new(state) }
    }

    /// Prints a summary of the runs on standard error.
    fn end(self, kept: &Kept) {
        let Self { progress, planned, began, state } = self;
        drop(progress);
        let State { kept: there, ran, failed, .. } = state.into_inner().expect("no panic with the lock");
        let (seconds, folder) = (duration(began.elapsed().as_secs_f64()), kept.folder().display());
        let mut words = format!("{planned} runs: {there} taken from disk, {ran} made in {seconds}");
        if failed > 0 {
            words.push_str(&format!(", {failed} failed"));
        }
        let left = planned - there - ran - failed;
        if left > 0 {
            words.push_str(&format!(", {left} not made: a later report makes them"));
        }
        output::note(&format!("{words}; results are kept in {folder}"));
        if let Some(why) = kept.unwritten() {
            output::note(&format!("not every result is kept: {why}; --runs DIR chooses another folder"));
        }
    }
}

impl Watcher for Watch {
    fn begin(&self, index: usize, name: &RunName) {
        self.state.lock().expect("no panic with the lock").running.insert(index, Instant::now());
        self.progress.begin(index, &name.to_string());
    }

    fn end(&self, index: usize, name: &RunName, how: Ended<'_>) {
        let mut state = self.state.lock().expect("no panic with the lock");
        let seconds = state.running.remove(&index).map_or(0.0, |began| began.elapsed().as_secs_f64());
        let mut left = None;
        match how {
            Ended::Failed(SweepError::Interrupted) => return self.progress.ended(index),
            Ended::Kept => {
                state.kept += 1;
                state.remaining.dropped(kind(name));
            }
            Ended::Ran => {
                state.ran += 1;
                left = Some(state.remaining.ended(kind(name), None, seconds));
            }
            Ended::Failed(_) => {
                state.failed += 1;
                left = Some(state.remaining.ended(kind(name), None, seconds));
                self.progress.line(&format!("FAILED {name}"));
            }
        }
        self.progress.ended(index);
        let Some(left) = left else { return };
        let kept = if state.kept > 0 { format!(", {} taken from disk", state.kept) } else { String::new() };
        self.progress.says(&format!("{left}{kept}"));
        if state.told.is_none_or(|told| told.elapsed() >= BETWEEN_LINES) {
            state.told = Some(Instant::now());
            let (done, planned) = (state.kept + state.ran + state.failed, self.planned);
            let elapsed = duration(self.began.elapsed().as_secs_f64());
            self.progress.line(&format!("{done} of {planned} runs{kept}; {elapsed}, {left}"));
        }
    }
}

/// The kind of a run: runs of one kernel on one engine take about the same time.
fn kind(name: &RunName) -> String {
    format!("{} {}", name.kernel, name.engine)
}

/// Maximum width of a report in columns.
const WIDTH: usize = 116;
/// Maximum widths of a row's metric and of the paper's words.
const METRIC: usize = 44;
const PAPER: usize = 28;

/// A report as text: its rows, the reasons of those that do not agree, and the results that are not compared.
fn text(report: &PaperReport, kernels: bool) -> String {
    let columns =
        [numbers("#"), words("result"), words("paper"), numbers("ours"), numbers("95 % interval"), words("verdict")];
    let cells: Vec<_> = report.rows.iter().enumerate().map(|(index, row)| cells(index + 1, row, kernels)).collect();
    let title = textwrap::fill(&format!("{} ({})", report.title, report.data()), WIDTH);
    let mut text = format!("{HEADING}{title}{HEADING:#}\n{}\n", output::table(&columns, &cells));
    // Consecutive rows often have the same command: it is printed below the first of them only.
    let mut command = "";
    for (index, row) in report.rows.iter().enumerate().filter(|(_, row)| row.doubtful()) {
        text.push_str(&indented(&format!("{:>3} ", index + 1), &format!("{}: {}", row.metric, row.why)));
        if row.command != command {
            text.push_str(&format!("    {}\n", row.command));
            command = &row.command;
        }
    }
    text.push_str(&moved(&report.causes));
    for Absent { source, text: claim, why } in &report.absent {
        text.push_str(&indented("not compared: ", &format!("{claim} ({source}): {why}")));
    }
    let Summary { dependent, silent, .. } = report.summary;
    let others = format!(
        "{dependent} rows follow from others or say only which way it goes; of {silent} the paper says nothing; {} kernels",
        report.kernels.len()
    );
    text.push_str(&format!(
        "{HEADING}{}: {}{HEADING:#}\n{}",
        report.report,
        report.summary.words(),
        indented("", &others)
    ));
    text
}

/// Wraps words to the width of a report; all lines but the first are indented.
fn indented(first: &str, words: &str) -> String {
    let options = textwrap::Options::new(WIDTH).initial_indent(first).subsequent_indent("    ");
    textwrap::fill(words, options) + "\n"
}

/// The verdicts of several reports, as a table.
fn summaries(reports: &[PaperReport]) -> String {
    let mut columns = vec![words("report"), numbers("independent rows")];
    columns.extend(Finding::ALL.map(|verdict| numbers(verdict.words())));
    let line = |report: &PaperReport| {
        let counts = Finding::ALL.map(|verdict| report.summary.count(verdict).into());
        [report.report.into(), report.summary.independent.into()].into_iter().chain(counts).collect::<Vec<Cell>>()
    };
    output::table(&columns, &reports.iter().map(line).collect::<Vec<_>>())
}

/// The style of a verdict.
fn style(verdict: Option<Finding>) -> anstyle::Style {
    match verdict {
        Some(Finding::Agrees) => GOOD,
        Some(Finding::CannotTell) => DOUBTFUL,
        Some(Finding::Disagrees) => BAD,
        None => QUIET,
    }
}

/// A table of the headlines with nothing mended, one cause alone, all together.
fn moved(causes: &[Moved]) -> String {
    let Some(first) = causes.first() else { return String::new() };
    let mut columns = vec![words("headline, with what is mended"), numbers("paper")];
    columns.extend(first.columns.iter().map(|column| numbers(column.mended)));
    let line = |moved: &Moved| {
        let values = moved.columns.iter().map(|column| {
            let style = if column.verdict == Some(Finding::Agrees) { GOOD } else { QUIET };
            Cell::styled(column.ours.map_or_else(String::new, |ours| moved.unit.words(ours)), style)
        });
        [Cell::from(moved.metric.clone()).wrapped(30), Cell::from(moved.text).wrapped(18)]
            .into_iter()
            .chain(values)
            .collect::<Vec<Cell>>()
    };
    output::table(&columns, &causes.iter().map(line).collect::<Vec<_>>())
}

fn cells(number: usize, row: &Row, kernels: bool) -> Vec<Cell> {
    let mut about = format!("{} ({})", row.metric, row.source);
    if let Some([least, most]) = row.extremes().filter(|_| kernels) {
        let [least, most] = [least, most].map(|(name, value)| format!("{name} {}", row.unit.words(value)));
        about.push_str(&format!("; {least} to {most}"));
    }
    let mark = match (&row.verdict, row.sign_only, &row.derived_from) {
        (None, ..) | (_, false, None) => "",
        (_, true, _) => ", sign only",
        (_, false, Some(_)) => ", derived",
    };
    let verdict = row.verdict.map_or_else(String::new, |verdict| format!("{}{mark}", verdict.words()));
    vec![
        number.into(),
        Cell::from(about).wrapped(METRIC),
        Cell::from(row.text).wrapped(PAPER),
        row.unit.words(row.ours).into(),
        Cell::styled(row.interval.map_or_else(String::new, |interval| row.unit.interval(interval)), QUIET),
        Cell::styled(verdict, style(row.verdict)).wrapped(12),
    ]
}
