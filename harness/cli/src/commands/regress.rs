//! `gpurf regress`: runs a test plan of thousands of cases.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use gpurf_lockstep::Verdict;
use gpurf_regress::regression::journal::{EARLIER, RESULTS};
use gpurf_regress::regression::{
    Bucket, Overrides, Regression, RegressionPlan, RegressionReport, Shard, Told, Trend, Worker, html, junit,
    make_folder, merge, run, sources,
};
use gpurf_regress::{Project, files};

use super::golden::statistics;
use crate::args::Regress;
use crate::failure::{Failure, Status};
use crate::files::{InputFiles, check_outputs};
use crate::output::{self, BAD, GOOD, grouped, numbers, words};
use crate::own_rtl::OwnRtl;
use crate::progress::{Progress, Remaining};
use crate::{interrupt, plan};

/// The number of lines of a failure's message that are printed.
const SHOWN_LINES: usize = 12;
/// The number of buckets that are printed with their messages; the report has all.
const SHOWN_BUCKETS: usize = 10;

/// The page in the folder of a regression.
const PAGE: &str = "report.html";
/// Files in the folder of a regression, besides junit.xml.
const OWN_FILES: [(&str, &str); 5] = [
    ("the journal of the regression", "journal.jsonl"),
    ("the journal of the earlier run", "journal.before.jsonl"),
    ("the results of the regression", RESULTS),
    ("the results of the earlier run", EARLIER),
    ("the page of the regression", PAGE),
];

/// Runs a plan, merges shards, or runs the cases that a regression gives to its worker.
pub fn regress(arguments: &Regress) -> Result<Status, Failure> {
    if arguments.worker {
        // First of all: Ctrl-C must end the case, not the worker.
        interrupt::listen()?;
    }
    let project = super::project()?;
    let own = OwnRtl::new(&project, &arguments.rtl)?;
    if arguments.worker {
        return serve(project, &own);
    }
    let file = arguments.plan.clone().unwrap_or_else(|| project.root.join("tests/regress.toml"));
    let overrides = Overrides { cycles: arguments.cycles, seed: arguments.seed };
    let plan = RegressionPlan::load(&project, &file, &arguments.tier, overrides)?;
    check_absent(&own, &plan)?;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let out = folder(&project, arguments, shard);
    if let Some(junit) = &arguments.junit {
        check_junit(arguments, junit, &file, &out)?;
    }
    let trend = earlier(arguments, &out)?;
    let trend = trend.as_ref();
    let report = if arguments.merge.is_empty() {
        run_plan(arguments, &project, &own, &plan, shard, &out, trend)?
    } else {
        let rtl = sources(&project, &own.sources)?.rtl;
        merge(&plan, &arguments.merge, &out, &rtl, &own.sources.options)?
    };
    write(arguments, &out, &report, trend)?;
    if arguments.run.json {
        output::print(&report.json())?;
    } else {
        show(&report, &out, trend)?;
    }
    if interrupt::requested() {
        output::note("interrupted: --resume continues the run");
        return Ok(Status::Interrupted);
    }
    Ok(match report.status() {
        0 if report.not_run.is_empty() => Status::Pass,
        // Merged shards may leave out cases: nothing failed, but the result is not a pass.
        0 => {
            output::note(&format!("{} cases have not been run: --resume runs them", report.not_run.len()));
            Status::Interrupted
        }
        1 => Status::Failed,
        2 => Status::BadInput,
        _ => Status::Tool,
    })
}

/// Checks that the additional report can be written, and replaces no file that the regression reads or writes.
fn check_junit(arguments: &Regress, junit: &Path, plan: &Path, out: &Path) -> Result<(), Failure> {
    let inputs = InputFiles::default()
        .with("the test plan", plan)
        .with_optional("the earlier run", arguments.against.as_ref())
        .with_replacements(&arguments.rtl);
    let folders = arguments.merge.iter().map(PathBuf::as_path).chain([out]);
    let own = folders.flat_map(|folder| OWN_FILES.iter().map(move |(what, name)| (what, folder.join(name))));
    let inputs = own.fold(inputs, |inputs, (what, file)| inputs.with(*what, file));
    // That of OUT is written anew.
    let shards = arguments.merge.iter().map(|folder| folder.join("junit.xml"));
    let inputs = shards.fold(inputs, |inputs, file| inputs.with("the results of a shard", file));
    if verilated::absolute(junit).parent() == Some(out) {
        make_folder(out)?;
    }
    check_outputs(&[("--junit", junit)], &inputs)
}

/// Checks that each name that may be absent is a probe of some case.
fn check_absent(own: &OwnRtl, plan: &RegressionPlan) -> Result<(), Failure> {
    if own.sources.allow_absent.is_empty() {
        return Ok(());
    }
    let mut seen = BTreeSet::new();
    let mut declarations = Vec::new();
    for case in &plan.cases {
        let block = plan::find(case.block())?;
        if own.touches(block) && seen.insert((block.name, case.label())) {
            declarations.push((block.twin)(&case.config()?).declaration().clone());
        }
    }
    own.check_absent(declarations.iter())
}

fn folder(project: &Project, arguments: &Regress, shard: Shard) -> PathBuf {
    let name = match shard {
        Shard::WHOLE => arguments.tier.clone(),
        Shard { index, count } => format!("{}-{index}-of-{count}", arguments.tier),
    };
    let given = arguments.out.as_deref().map(verilated::absolute);
    given.unwrap_or_else(|| project.root.join("target/regress").join(name))
}

/// The run with which this one is compared: the requested one, otherwise the last one in the folder. A new run finds that run's results in place; a
/// resumed run has already moved them to `EARLIER`.
fn earlier(arguments: &Regress, out: &Path) -> Result<Option<Trend>, Failure> {
    if let Some(file) = &arguments.against {
        let wrong = || Failure::bad_input(format!("--against {}: this is no results.json", file.display()));
        return Trend::read(file).ok_or_else(wrong).map(Some);
    }
    let last = out.join(RESULTS);
    let began_before = arguments.resume || !last.exists();
    Ok(Trend::read(&if began_before { out.join(EARLIER) } else { last }))
}

/// Runs cases as the worker of a regression.
fn serve(project: Project, own: &OwnRtl) -> Result<Status, Failure> {
    let tools = super::toolchain(&project)?;
    let worker = Worker {
        project,
        tools: &tools,
        rtl: &own.sources,
        numbers: &statistics,
        answers: output::claim()?,
        stop: interrupt::flag(),
        broken: HashMap::new(),
    };
    // If this fails, the parent has ended, and no process can receive a message.
    let _ = worker.serve();
    Ok(Status::Pass)
}

fn run_plan(
    arguments: &Regress,
    project: &Project,
    own: &OwnRtl,
    plan: &RegressionPlan,
    shard: Shard,
    out: &Path,
    trend: Option<&Trend>,
) -> Result<RegressionReport, Failure> {
    // A missing tool is reported once, not by every case.
    super::toolchain(project)?;
    let sources = sources(project, &own.sources)?;
    interrupt::listen()?;
    let program =
        std::env::current_exe().map_err(|e| Failure::tool(format!("cannot find the path of this program: {e}")))?;
    let start = || {
        let mut command = Command::new(&program);
        command.args(["regress", "--worker"]).env("GPURF_HOME", &project.root);
        for (module, file) in &arguments.rtl.files {
            command.arg("--rtl").arg(format!("{module}={}", file.display()));
        }
        if let Some(list) = &arguments.rtl.list {
            command.arg("--rtl-list").arg(list);
        }
        arguments.rtl.allow_absent.iter().for_each(|name| {
            command.arg("--allow-absent").arg(name);
        });
        command
    };
    let jobs = super::threads(arguments.run.jobs);
    let regression = Regression {
        plan,
        shard,
        out,
        jobs,
        resume: arguments.resume,
        sources,
        options: &own.sources.options,
        start: &start,
        stop: interrupt::flag(),
    };
    let watch = Watch::new(jobs, trend, arguments.run.json);
    let report = run(&regression, &|told| watch.told(told))?;
    watch.end();
    Ok(report)
}

/// Reports the progress of a run.
struct Watch<'a> {
    trend: Option<&'a Trend>,
    jobs: usize,
    quiet: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    progress: Option<Progress>,
    remaining: Remaining,
    began: Option<Instant>,
    ended: usize,
    failed: usize,
}

impl<'a> Watch<'a> {
    fn new(jobs: usize, trend: Option<&'a Trend>, quiet: bool) -> Self {
        Self { trend, jobs, quiet, state: Mutex::default() }
    }

    fn told(&self, told: Told<'_>) {
        let mut state = self.state.lock().expect("no panic with the lock");
        let State { progress, remaining, began, ended, failed } = &mut *state;
        match told {
            Told::Begins(cases, done) => {
                let open = cases.iter().filter(|case| !done.contains_key(&case.id));
                *remaining = Remaining::new(
                    self.jobs,
                    open.map(|case| (kind(&case.id), self.trend.and_then(|trend| trend.seconds(&case.id)))),
                );
                if !done.is_empty() {
                    output::note(&format!("{} of {} cases have been run before", done.len(), cases.len()));
                }
                let bar = Progress::new(cases.len(), !self.quiet);
                bar.skip(done.len());
                (*progress, *began) = (Some(bar), Some(Instant::now()));
            }
            Told::Case(index, case) => {
                if let Some(progress) = progress {
                    progress.begin(index, &case.id);
                }
            }
            Told::Ended(index, case, outcome) => {
                *ended += 1;
                *failed += usize::from(!outcome.result.good());
                let seconds = outcome.wall_s;
                let expected = self.trend.and_then(|trend| trend.seconds(&case.id));
                let left = remaining.ended(kind(&case.id), expected, seconds);
                let left = if *failed > 0 { format!("{left}, {failed} failed") } else { left };
                if let Some(progress) = progress {
                    progress.says(&left);
                    progress.end(index, &format!("{:<16} {} ({left})", outcome.result.word(), case.id));
                }
            }
            Told::Shrinks(index, case) => {
                if let Some(progress) = progress {
                    progress.begin(index, &format!("shrinking {}", case.id));
                }
            }
            Told::Shrunk(index) => {
                if let Some(progress) = progress {
                    progress.close(index);
                }
            }
        }
    }

    fn end(&self) {
        let mut state = self.state.lock().expect("no panic with the lock");
        state.progress = None;
        let seconds = state.began.map_or(0.0, |began| began.elapsed().as_secs_f64());
        if state.ended > 0 && !self.quiet {
            let rate = state.ended as f64 * 60.0 / seconds.max(1e-3);
            output::note(&format!("{} cases in {seconds:.0} s: {rate:.0} a minute", state.ended));
        }
    }
}

/// The kind of a case: cases with the same kind and name take about the same time, whatever their configuration.
fn kind(id: &str) -> String {
    id.split('/').skip(1).take(2).collect::<Vec<_>>().join("/")
}

fn write(arguments: &Regress, out: &Path, report: &RegressionReport, trend: Option<&Trend>) -> Result<(), Failure> {
    let put = |path: &Path, text: &str| {
        files::write(path, text.as_bytes()).map_err(|e| {
            let path = path.display();
            Failure::tool(format!(
                "cannot write {path}: {e}; the journal is complete: --resume writes the reports again"
            ))
        })
    };
    put(&out.join(PAGE), &html(report, trend))?;
    put(&out.join(RESULTS), &report.json())?;
    put(&out.join("junit.xml"), &junit(report))?;
    arguments.junit.as_ref().map_or(Ok(()), |file| put(file, &junit(report)))
}

fn show(report: &RegressionReport, out: &Path, trend: Option<&Trend>) -> Result<(), Failure> {
    let mut kinds: BTreeMap<(&str, &str), [usize; 3]> = BTreeMap::new();
    for run in &report.runs {
        let counts = kinds.entry((run.preset.as_str(), run.kind)).or_default();
        counts[0] += 1;
        counts[1] += usize::from(run.outcome.result == Verdict::Pass);
        counts[2] += usize::from(!run.outcome.result.good());
    }
    let rows = kinds.iter().map(|((preset, kind), [all, passed, failed])| {
        let style = if *failed == 0 { GOOD } else { BAD };
        vec![(*preset).into(), (*kind).into(), (*all).into(), (*passed).into(), output::Cell::styled(failed, style)]
    });
    let columns = [words("configuration"), words("kind"), numbers("cases"), numbers("passed"), numbers("failed")];
    output::print(&output::table(&columns, &rows.collect::<Vec<_>>()))?;
    for bucket in report.buckets.iter().take(SHOWN_BUCKETS) {
        output::print(&format!("\n{}", in_words(bucket, out)))?;
    }
    let never: usize = report.never.values().map(Vec::len).sum();
    let points: usize = report.coverage.values().map(|counts| counts.len()).sum();
    let failed = report.runs.iter().filter(|run| !run.outcome.result.good()).count();
    let (runs, buckets) = (grouped(report.runs.len() as u64), report.buckets.len());
    let style = if report.status() == 0 && report.not_run.is_empty() { GOOD } else { BAD };
    let mut text = format!("\n{style}{runs} cases, {failed} failed, in {buckets} buckets{style:#}");
    if let Some(changes) = trend.map(|trend| trend.changes(report)).filter(|changes| !changes.results.is_empty()) {
        text.push_str(&format!(", {} results differ from the earlier run", changes.results.len()));
    }
    if !report.not_run.is_empty() {
        text.push_str(&format!(", {} not run", report.not_run.len()));
    }
    text.push_str(&format!("; {never} of {points} coverage points never reached; {}\n", out.join(PAGE).display()));
    output::print(&text)
}

fn in_words(bucket: &Bucket, out: &Path) -> String {
    let signature = &bucket.signature;
    let cases = if bucket.count == 1 { "case" } else { "cases" };
    let (kind, block, port) = (signature.kind.word(), &signature.block, &signature.port);
    let mut text = format!("{BAD}{kind}{BAD:#} {block} {port} ({} {cases})\n", bucket.count);
    bucket.message.lines().take(SHOWN_LINES).for_each(|line| text.push_str(&format!("  {line}\n")));
    text.push_str(&format!("  {:<9} {}\n", "again", bucket.command));
    if let Some(folder) = &bucket.artifact {
        text.push_str(&format!("  {:<9} {}\n", "folder", out.join(folder).display()));
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    #[test]
    fn the_additional_report_replaces_no_file_of_a_regression() {
        let folder = tempfile::tempdir().unwrap();
        let [out, shard, plan] = ["new", "shard", "plan.toml"].map(|name| folder.path().join(name));
        std::fs::create_dir(&shard).unwrap();
        let check = |junit: PathBuf| {
            let words = ["gpurf", "regress", "--out"].map(PathBuf::from).into_iter();
            let words = words.chain([out.clone(), "--merge".into(), shard.clone()]);
            let Command::Regress(arguments) = Cli::parse_from(words).command else { panic!("gpurf regress") };
            check_junit(&arguments, &junit, &plan, &out).map_err(|failure| failure.message)
        };
        // The folder of the regression is new.
        assert_eq!(check(out.join("j.xml")), Ok(()));
        assert_eq!(check(out.join("junit.xml")), Ok(()));
        for (folder, (what, name)) in [&out, &shard].into_iter().flat_map(|f| OWN_FILES.map(|own| (f, own))) {
            let file = folder.join(name);
            let message = format!("--junit {} is {what}: choose another place", file.display());
            assert_eq!(check(file), Err(message));
        }
        assert!(check(folder.path().join("none/j.xml")).unwrap_err().ends_with("its folder does not exist"));
    }
}
