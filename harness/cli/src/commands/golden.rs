//! `gpurf golden`: the model's behaviour, recorded and compared.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use gpurf_blocks::config::{self, Config, Preset, presets};
use gpurf_launch::Manifest;
use gpurf_lockstep::Verdict;
use gpurf_machine::Statistics;
use gpurf_regress::golden::{self, Change, Comparison, NotTaken, Since, Store, Taken, Trace};
use gpurf_regress::{KernelInputs, Project, run_all};
use serde::Serialize;

use super::source;
use super::statistics::Stats;
use crate::args::{BlessGoldens, CheckGoldens, Golden, Goldens, TraceGolden};
use crate::failure::{Failure, Status};
use crate::files::{InputFiles, check_outputs};
use crate::output::{self, BAD, Cell, GOOD, HEADING, grouped, numbers, words};
use crate::progress::Progress;
use crate::result::json;
use crate::{interrupt, plan};

/// The number of changes that are printed for a golden; `--json` has all.
const SHOWN: usize = 12;

/// A golden that was compared.
#[derive(Debug, Serialize)]
struct Row {
    result: Verdict,
    command: &'static str,
    preset: String,
    kernel: String,
    cycles: u64,
    #[serde(flatten)]
    comparison: Comparison,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip)]
    status: Status,
    /// Whether there was no golden before.
    #[serde(skip)]
    is_new: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    result: Verdict,
    command: &'static str,
    runs: &'a [Row],
}

/// Checks or accepts goldens, or writes a trace.
pub fn golden(action: &Golden) -> Result<Status, Failure> {
    match action {
        Golden::Check(arguments) => check(arguments),
        Golden::Bless(arguments) => bless(arguments),
        Golden::Trace(arguments) => trace(arguments),
    }
}

/// Statistics by name, as goldens record them.
pub fn statistics(config: &Config, statistics: &Statistics) -> BTreeMap<String, String> {
    let stats = serde_json::to_value(Stats::timed(config, statistics)).expect("numbers with names are JSON");
    let mut all = BTreeMap::new();
    flatten("", &stats, &mut all);
    all
}

/// Collects the numbers of an object and of the objects in it; numbers that are not integers have six decimals.
fn flatten(name: &str, value: &serde_json::Value, all: &mut BTreeMap<String, String>) {
    match value {
        serde_json::Value::Object(members) => {
            let dot = if name.is_empty() { "" } else { "." };
            members.iter().for_each(|(member, value)| flatten(&format!("{name}{dot}{member}"), value, all));
        }
        serde_json::Value::Number(number) => {
            let text =
                number.as_u64().map_or_else(|| format!("{:.6}", number.as_f64().unwrap_or(0.0)), |n| n.to_string());
            all.insert(name.to_owned(), text);
        }
        other => _ = all.insert(name.to_owned(), other.to_string()),
    }
}

/// The cases of a command: each kernel on each preset.
struct Cases {
    project: Project,
    store: Store,
    cases: Vec<(&'static Preset, KernelInputs)>,
}

impl Cases {
    fn new(which: &Goldens) -> Result<Self, Failure> {
        let project = super::project()?;
        let presets: Vec<&Preset> = match &which.preset[..] {
            [] => presets().collect(),
            names => names.iter().map(|name| config::preset(name)).collect::<Result<_, _>>()?,
        };
        let kernels = match &which.kernel[..] {
            [] => golden::test_kernels(&project)?.iter().map(|name| KernelInputs::of_project(&project, name)).collect(),
            files => files.iter().map(|file| kernel(&project, file)).collect::<Result<Vec<_>, _>>()?,
        };
        let mut names = BTreeSet::new();
        if let Some(kernel) = kernels.iter().find(|kernel| !names.insert(kernel.name())) {
            return Err(Failure::bad_input(format!(
                "--kernel {}: there is another kernel of that name: a golden is called like its kernel, so rename one of the manifests",
                kernel.manifest.display()
            )));
        }
        let store = match &which.goldens {
            None => Store::of_project(&project),
            Some(folder) => Store::at(&project, verilated::absolute(folder)),
        };
        Store::tidy(&project);
        let on = |preset: &&'static Preset| kernels.iter().map(|kernel| (*preset, kernel.clone())).collect::<Vec<_>>();
        let cases = presets.iter().flat_map(on).collect();
        interrupt::listen()?;
        Ok(Self { project, store, cases })
    }

    fn take(&self, (preset, kernel): &(&'static Preset, KernelInputs)) -> Result<Taken, NotTaken> {
        golden::take(&self.project, preset.name, &preset.config, kernel, &statistics, interrupt::flag())
    }

    /// Runs `work` for each case, on several threads.
    fn each(
        &self,
        which: &Goldens,
        work: impl Fn(&(&'static Preset, KernelInputs)) -> Result<Row, Failure> + Sync,
    ) -> Vec<Row> {
        let progress = Progress::new(self.cases.len(), false);
        let whole = |case: &(&'static Preset, KernelInputs)| {
            work(case).unwrap_or_else(|failure| {
                let verdict = if failure.status == Status::Interrupted { Verdict::Interrupted } else { Verdict::Error };
                Row { message: Some(failure.message), status: failure.status, ..row(case, verdict) }
            })
        };
        run_all(&self.cases, super::threads(which.run.jobs), whole, |index, _| progress.end(index, ""))
    }
}

/// A launch manifest, or a test kernel by its name.
fn kernel(project: &Project, file: &Path) -> Result<KernelInputs, Failure> {
    if file.is_file() {
        return plan::kernel_inputs(file);
    }
    let name = file.to_string_lossy();
    let known = golden::test_kernels(project)?;
    if known.iter().any(|kernel| *kernel == name) {
        return Ok(KernelInputs::of_project(project, &name));
    }
    Err(Failure::bad_input(format!(
        "--kernel {name}: no such file, and no test kernel; those are: {}",
        known.join(", ")
    )))
}

fn row((preset, kernel): &(&'static Preset, KernelInputs), result: Verdict) -> Row {
    let status = result.into();
    let (preset, kernel, comparison) = (preset.name.to_owned(), kernel.name(), Comparison::default());
    Row { result, command: "golden", preset, kernel, cycles: 0, comparison, message: None, status, is_new: false }
}

/// The golden of a case. A file for another preset or kernel is in the wrong place, or was edited.
fn read(file: &Path, (preset, kernel): &(&'static Preset, KernelInputs)) -> Result<golden::Golden, Failure> {
    let golden = golden::Golden::read(file)?;
    let kernel_name = Path::new(&golden.kernel).file_stem().unwrap_or_default().to_string_lossy();
    let (what, found, place) = if golden.preset != preset.name {
        ("preset", &golden.preset, preset.name.to_owned())
    } else if kernel_name != kernel.name() {
        ("kernel", &golden.kernel, kernel.name())
    } else {
        return Ok(golden);
    };
    let file = file.display();
    Err(Failure::bad_input(format!(
        "{file}: its {what} is {found}, but this is the place of {place}; `gpurf golden bless` writes it anew"
    )))
}

/// The failure of a case that could not be run.
fn not_taken(error: NotTaken) -> Failure {
    match error {
        NotTaken::Misfit(message) | NotTaken::Failed(message) => Failure { status: Status::Failed, message },
        NotTaken::Interrupted => Failure { status: Status::Interrupted, message: "interrupted".into() },
        NotTaken::Job(error) => error.into(),
    }
}

fn check(arguments: &CheckGoldens) -> Result<Status, Failure> {
    let which = &arguments.which;
    let before = arguments.before.as_deref().map(before).transpose()?;
    let cases = Cases::new(which)?;
    let mut rows = cases.each(which, |case| check_one(&cases, case, before.as_deref()));
    rows.extend(orphans(&cases));
    show(which, "golden check", &rows)
}

/// The program of `--before`, looked up before the runs: a file, or a bare name that is in the current folder or on PATH.
fn before(program: &Path) -> Result<PathBuf, Failure> {
    let refused = |why: &str| Err(Failure::bad_input(format!("--before {}: {why}", program.display())));
    let is_bare = program.parent() == Some(Path::new(""));
    let on_path = || {
        let path = std::env::var_os("PATH").filter(|_| is_bare)?;
        std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
    };
    let here = Some(verilated::absolute(program)).filter(|file| file.is_file());
    let Some(file) = here.or_else(on_path) else {
        return refused(match (program.is_dir(), is_bare) {
            (true, _) => "it is a folder: name a gpurf program",
            (false, true) => "there is no such file in the current folder, and no program of this name on PATH",
            (false, false) => "there is no such file",
        });
    };
    // The file has to be executable for some user; whether this user may execute it is known when it is started.
    if file.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 == 0) {
        return refused("the file is not executable: name a gpurf program");
    }
    Ok(file)
}

fn check_one(cases: &Cases, case: &(&'static Preset, KernelInputs), before: Option<&Path>) -> Result<Row, Failure> {
    let (file, kept) = (cases.store.golden(case.0.name, &case.1), cases.store.trace(case.0.name, &case.1));
    let failed = |message: String| Row { message: Some(message), ..row(case, Verdict::CheckFailed) };
    let taken = match cases.take(case) {
        // A kernel that does not fit the machine has no golden.
        Err(NotTaken::Misfit(why)) if !file.exists() => {
            return Ok(Row { message: Some(why), ..row(case, Verdict::Pass) });
        }
        Err(NotTaken::Failed(why) | NotTaken::Misfit(why)) => return Ok(failed(why)),
        taken => taken.map_err(not_taken)?,
    };
    if !file.exists() {
        return Ok(failed(format!("there is no golden {}: `gpurf golden bless` makes it", file.display())));
    }
    let golden = read(&file, case)?;
    let mut trace = golden::read_trace(&kept).filter(|trace| format!("{:016x}", trace.whole) == golden.state);
    let mut comparison = golden::compare(&golden, &taken, trace.as_ref());
    let mut problem = None;
    if comparison.since.is_some()
        && trace.is_none()
        && let Some(program) = before
    {
        match trace_of(program, case, &golden) {
            Ok(before) => {
                comparison = golden::compare(&golden, &taken, Some(&before));
                trace = Some(before);
            }
            // The difference is shown even without the trace.
            Err(failure) => problem = Some(failure),
        }
    }
    if comparison.changes.is_empty() && trace.is_none() {
        // Errors are ignored: a missing trace is reported when it is needed.
        let _ = golden::write_trace(&kept, &taken.trace);
    }
    let verdict = if comparison.changes.is_empty() { Verdict::Pass } else { Verdict::CheckFailed };
    let compared = Row { cycles: taken.golden.cycles, comparison, ..row(case, verdict) };
    Ok(match problem {
        None => compared,
        Some(Failure { status, message }) => Row { result: Verdict::Error, message: Some(message), status, ..compared },
    })
}

/// The trace that another gpurf program makes.
fn trace_of(
    program: &Path,
    (preset, kernel): &(&'static Preset, KernelInputs),
    golden: &golden::Golden,
) -> Result<Trace, Failure> {
    let folder = tempfile::tempdir().map_err(|e| Failure::tool(format!("cannot make a temporary folder: {e}")))?;
    let file = folder.path().join("before.trace");
    let mut command = Command::new(program);
    command.args(["golden", "trace", "--preset", preset.name, "--kernel"]).arg(&kernel.manifest).arg("-o").arg(&file);
    let shown = program.display();
    let ran = command.output().map_err(|e| Failure::tool(format!("--before: {shown} cannot be started: {e}")))?;
    let trace = golden::read_trace(&file).filter(|_| ran.status.success()).ok_or_else(|| {
        let words = String::from_utf8_lossy(&ran.stderr);
        let words = if words.trim().is_empty() { String::new() } else { format!(":\n{}", words.trim_end()) };
        let status = ran.status;
        Failure::bad_input(format!("--before: {shown} golden trace does not give a trace ({status}){words}"))
    })?;
    if format!("{:016x}", trace.whole) != golden.state {
        return Err(Failure::bad_input(format!("--before: {shown} does not match the golden either")));
    }
    Ok(trace)
}

/// Goldens whose preset or launch manifest no longer exists.
fn orphans(cases: &Cases) -> Vec<Row> {
    let gone = |(preset, kernel): &(String, String)| {
        let file = cases.store.goldens.join(preset).join(format!("{kernel}.toml"));
        // A golden that cannot be read is reported by its own case.
        let manifest = golden::Golden::read(&file).ok().map(|golden| cases.project.root.join(golden.kernel));
        config::preset(preset).is_err() || manifest.is_some_and(|manifest| !manifest.exists())
    };
    let orphan = |(preset, kernel): (String, String)| {
        let file = cases.store.goldens.join(&preset).join(format!("{kernel}.toml"));
        let message = format!("{}: its preset or launch manifest no longer exists: remove it", file.display());
        Row { message: Some(message), kernel, preset, ..row(&cases.cases[0], Verdict::CheckFailed) }
    };
    cases.store.all().into_iter().filter(gone).map(orphan).collect()
}

fn bless(arguments: &BlessGoldens) -> Result<Status, Failure> {
    let which = &arguments.which;
    let cases = Cases::new(which)?;
    let rows = cases.each(which, |case| {
        let file = cases.store.golden(case.0.name, &case.1);
        let taken = match cases.take(case) {
            Err(NotTaken::Misfit(why)) if !file.exists() => {
                return Ok(Row { message: Some(why), ..row(case, Verdict::Pass) });
            }
            taken => taken.map_err(not_taken)?,
        };
        let mut blessed = Row { cycles: taken.golden.cycles, ..row(case, Verdict::Pass) };
        // A golden that cannot be read is replaced.
        match file.exists().then(|| read(&file, case)) {
            Some(Ok(old)) => blessed.comparison = golden::compare(&old, &taken, None),
            Some(Err(_)) | None => (blessed.is_new, blessed.message) = (true, Some("new".into())),
        }
        // An unchanged golden keeps its reason.
        if blessed.is_new || !blessed.comparison.changes.is_empty() {
            golden::Golden { reason: arguments.reason.clone(), ..taken.golden }.write(&file)?;
        }
        let _ = golden::write_trace(&cases.store.trace(case.0.name, &case.1), &taken.trace);
        Ok(blessed)
    });
    show(which, "golden bless", &rows)
}

fn trace(arguments: &TraceGolden) -> Result<Status, Failure> {
    let project = super::project()?;
    let (preset, kernel) = (config::preset(&arguments.preset)?, kernel(&project, &arguments.kernel)?);
    let file = &arguments.output;
    // Checked before the run, not after it.
    source::make_folder(file.parent().unwrap_or(Path::new("")))?;
    let inputs = InputFiles::default().with_manifest(&Manifest::load(&kernel.manifest)?);
    check_outputs(&[("--output", file)], &inputs)?;
    let taken = golden::take(&project, preset.name, &preset.config, &kernel, &statistics, interrupt::flag());
    let written = golden::write_trace(file, &taken.map_err(not_taken)?.trace);
    written.map_err(|e| Failure::tool(format!("cannot write {}: {e}", file.display())))?;
    Ok(Status::Pass)
}

fn show(which: &Goldens, command: &'static str, rows: &[Row]) -> Result<Status, Failure> {
    let worst = rows.iter().map(|row| row.status).max().unwrap_or(Status::Pass);
    if which.run.json {
        let result = rows.iter().find(|row| row.status == worst).map_or(Verdict::Pass, |row| row.result);
        output::print(&json(&Report { result, command, runs: rows }))?;
        return Ok(worst);
    }
    for row in rows.iter().filter(|row| row.message.is_some() || !row.comparison.changes.is_empty()) {
        let style = if row.status == Status::Pass { HEADING } else { BAD };
        let mut text = format!("{style}{} {}{style:#}", row.preset, row.kernel);
        if let Some(message) = &row.message {
            text.push_str(&format!(": {message}"));
        }
        text.push('\n');
        if let Some(since) = &row.comparison.since {
            text.push_str(&format!("  {}\n", in_words(since, command)));
        }
        text.push_str(&changes(&row.comparison.changes));
        output::print(&text)?;
    }
    let style = if worst == Status::Pass { GOOD } else { BAD };
    let summary = if command == "golden bless" { blessed(rows) } else { checked(rows) };
    output::print(&format!("{style}{summary}{style:#}\n"))?;
    Ok(worst)
}

/// The summary of a check.
fn checked(rows: &[Row]) -> String {
    let alike = rows.iter().filter(|row| row.comparison.changes.is_empty() && row.status == Status::Pass).count();
    format!("{alike} of {} goldens unchanged", rows.len())
}

/// The summary of blessed goldens.
fn blessed(rows: &[Row]) -> String {
    let what = |row: &Row| match row {
        row if row.status != Status::Pass => "failed",
        row if row.is_new => "new",
        row if !row.comparison.changes.is_empty() => "changed",
        _ => "unchanged",
    };
    let counts = ["new", "changed", "unchanged", "failed"]
        .map(|word| (word, rows.iter().filter(|row| what(row) == word).count()));
    let shown = counts.into_iter().filter(|&(word, count)| count > 0 || word == "unchanged");
    shown.map(|(word, count)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

fn in_words(since: &Since, command: &str) -> String {
    let cycle = grouped(since.first);
    if since.first != since.last {
        let help = match command {
            "golden check" => "; --before with a gpurf that was built before the change names the cycle",
            _ => "",
        };
        return format!("differs since one of the cycles {cycle} to {}{help}", grouped(since.last));
    }
    let event = |(name, before, now): &(String, u64, u64)| format!("{name} {before} -> {now}");
    let events: Vec<String> = since.events.iter().map(event).collect();
    let events = if events.is_empty() { "no event differs in it".to_owned() } else { events.join(", ") };
    format!("differs since cycle {cycle}: {events}")
}

fn changes(changes: &[Change]) -> String {
    let cells = |change: &Change| -> Vec<Cell> {
        let [what, before, now] = [&change.what, &change.before, &change.now].map(|text| Cell::from(text.as_str()));
        vec![what, before, now, change.amount().unwrap_or_default().into()]
    };
    if changes.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<Cell>> = changes.iter().take(SHOWN).map(cells).collect();
    let columns = [words("what"), numbers("golden"), numbers("now"), numbers("change")];
    let table = output::table(&columns, &rows);
    let mut text: String = table.lines().map(|line| format!("  {line}\n")).collect();
    if changes.len() > SHOWN {
        text.push_str(&format!("  and {} more: --json has them\n", changes.len() - SHOWN));
    }
    text
}
