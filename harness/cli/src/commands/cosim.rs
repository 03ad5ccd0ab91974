//! `gpurf cosim`: RTL and model in lockstep.

mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gpurf_lockstep::Verdict;
use gpurf_regress::suite::judged_from;
use gpurf_regress::{Inputs, JobResult, LockstepJob, Project, run_grouped, run_job, threads_of_each};
use verilated::{Options, Simulator, Toolchain};

use super::program;
use crate::args::Cosim;
use crate::failure::{Failure, Status};
use crate::output::{self, BAD, DOUBTFUL, GOOD, HEADING};
use crate::own_rtl::OwnRtl;
use crate::plan::{self, CosimPlan, Part, parameters};
use crate::progress::{Progress, Remaining};
use crate::result::{Details, Run, Runs, json};
use crate::{interrupt, shape};

/// The number of failures of one command that are shrunk, kept in a folder and printed in full; further failures are only rows of the table.
const KEPT: usize = 4;

/// The outcome of a job.
enum Ended {
    /// It ran.
    Ran(Box<JobResult>),
    /// It could not be run.
    Refused(Failure),
    /// The user stopped the command before its turn.
    Skipped,
}

/// Counts of ended runs, and an estimate of the remaining time.
struct Tally {
    remaining: Remaining,
    equal: usize,
    other: usize,
}

/// Runs the jobs that the command line selects.
pub fn cosim(arguments: &Cosim) -> Result<Status, Failure> {
    let mut project = super::project()?;
    if let Some(folder) = &arguments.failures {
        project.failures = verilated::absolute(folder);
    }
    let simulator = Simulator::from(arguments.simulator);
    check_train(arguments, simulator)?;
    let CosimPlan { jobs, mut own, single, part } = plan::plan(&project, arguments)?;
    if simulator != Simulator::default() {
        own.sources.options.push(format!("--simulator {simulator}"));
    }
    let tools = super::toolchain(&project)?;
    interrupt::listen()?;
    if let (Some(part), false) = (part, arguments.run.json) {
        output::note(&part_of_suite(part, &own, &arguments.block));
    }
    let ended = run(&project, &tools, &jobs, &own, arguments);
    let coverages = program::coverages(&jobs, |index| match &ended[index] {
        Ended::Ran(result) => Some(result),
        Ended::Refused(_) | Ended::Skipped => None,
    });
    let missed = coverages.iter().any(|coverage| !coverage.missed.is_empty());
    let status = worst(&ended).max(if missed { Status::Failed } else { Status::Pass });
    let rows: Vec<Run> = jobs.iter().zip(&ended).map(|(job, ended)| row(job, ended, simulator)).collect();
    if arguments.run.json {
        let text = match &rows[..] {
            [row] if single && !missed => json(row),
            _ => {
                let result = match verdict_of(&ended) {
                    Verdict::Pass if missed => Verdict::CoverageMissed,
                    verdict => verdict,
                };
                json(&Runs { result, command: "cosim", suite: part, runs: &rows, programs: &coverages })
            }
        };
        output::print(&text)?;
        failures(&jobs, &ended, &own).iter().for_each(|text| output::note(text));
    } else if !ended.iter().all(|e| matches!(e, Ended::Refused(_))) {
        let runs: Vec<_> = jobs.iter().zip(&ended).collect();
        let text =
            if arguments.verbose || runs.len() <= table::FEW { table::each(&runs) } else { table::grouped(&runs) };
        output::print(&text)?;
        for words in coverages.iter().filter_map(program::words) {
            output::print(&format!("\n{words}"))?;
        }
        for text in failures(&jobs, &ended, &own) {
            output::print(&format!("\n{text}"))?;
        }
        output::print(&allowed_absent(&ended))?;
        output::print(&too_short(&ended))?;
        let part = part.map_or(String::new(), |part| format!("; {}", part_of_suite(part, &own, &arguments.block)));
        let on = if simulator == Simulator::default() { String::new() } else { format!(", on {simulator}") };
        output::print(&format!("\n{}{on}{part}\n", summary(&ended)))?;
    }
    refusals(&jobs, &ended).iter().for_each(|text| output::error(text));
    Ok(status)
}

/// Checks that `--train` applies: only Verilator builds of the SM can be trained.
fn check_train(arguments: &Cosim, simulator: Simulator) -> Result<(), Failure> {
    let why = match arguments.train {
        true if simulator != Simulator::default() => {
            format!("{simulator} builds have no profile: leave out --simulator")
        }
        true if arguments.kernel.is_empty() && arguments.programs.is_none() => {
            "only the SM is built by a profile: name --kernel or --programs".to_owned()
        }
        _ => return Ok(()),
    };
    Err(Failure::bad_input(format!("--train: {why}")))
}

/// Whether builds that take longer are worth it: two million cycles of a block take as long as its build.
fn is_long(arguments: &Cosim) -> bool {
    let (cycles, programs) = (arguments.cycles.unwrap_or(0), arguments.programs.unwrap_or(0));
    arguments.all_shapes || arguments.whole || cycles >= 2_000_000 || programs >= 100
}

fn run(project: &Project, tools: &Toolchain, jobs: &[LockstepJob], own: &OwnRtl, arguments: &Cosim) -> Vec<Ended> {
    let progress = Progress::new(jobs.len(), !arguments.run.json);
    let kept = AtomicUsize::new(0);
    let optimise = arguments.optimise || is_long(arguments);
    let options =
        Options { simulator: arguments.simulator.into(), optimise, profile: arguments.train, ..Options::default() };
    let threads = super::threads(arguments.run.jobs);
    let work = |index: &usize| {
        if interrupt::requested() {
            return Ended::Skipped;
        }
        let mut job = jobs[*index].clone();
        progress.begin(*index, &name(&job));
        job.threads = threads_of_each(jobs.len(), threads);
        job.history = arguments.history;
        job.keep_failure &= kept.load(Ordering::Relaxed) < KEPT;
        let run = || run_job(project, tools, &job, &own.sources, &options, interrupt::flag());
        // A panic in one run must not lose the results of the others.
        let Ok(outcome) = catch_unwind(AssertUnwindSafe(run)) else {
            return Ended::Refused(Failure::tool(
                "this run broke gpurf: a defect; please report it with the lines above",
            ));
        };
        match outcome {
            Ok(result) => {
                kept.fetch_add(usize::from(result.failure_folder.is_some()), Ordering::Relaxed);
                Ended::Ran(Box::new(result))
            }
            // Ctrl-C also reaches the compilers: the failure of a build is then meaningless.
            Err(_) if interrupt::requested_by_now() => Ended::Skipped,
            Err(error) => Ended::Refused(error.into()),
        }
    };
    // Times are estimated by block, as a run of the SM takes longer than one of a block.
    let all = jobs.iter().map(|job| (job.block.clone(), None));
    let tally = Mutex::new(Tally { remaining: Remaining::new(threads, all), equal: 0, other: 0 });
    let done = |index: usize, ended: &Ended| {
        let seconds = match ended {
            Ended::Ran(result) => result.build_s + result.wall_s,
            Ended::Refused(_) | Ended::Skipped => 0.0,
        };
        let mut tally = tally.lock().expect("no panic with the lock");
        let passed = verdict(ended) == Some(Verdict::Pass);
        tally.equal += usize::from(passed);
        tally.other += usize::from(!passed);
        let left = tally.remaining.ended(jobs[index].block.clone(), None, seconds);
        let other = if tally.other > 0 { format!(", {} not", tally.other) } else { String::new() };
        progress.says(&format!("{} equal{other}, about {left}", tally.equal));
        progress
            .end(index, &format!("{:<12} {}", verdict(ended).map_or("skipped", Verdict::label), name(&jobs[index])));
    };
    let order: Vec<usize> = (0..jobs.len()).collect();
    let builds: Vec<_> = jobs.iter().map(|job| (&job.block, parameters(&job.block, &job.config))).collect();
    run_grouped(&order, &builds, threads, work, done)
}

fn name(job: &LockstepJob) -> String {
    format!("{} {}", block(job), shape::words(&parameters(&job.block, &job.config)))
}

/// The block of a run; for the SM, also its kernel or the theme of its program.
fn block(job: &LockstepJob) -> String {
    match &job.inputs {
        Inputs::Kernel(kernel) => format!("{} {}", job.block, kernel.name()),
        Inputs::Program(program) => format!("{} program {}", job.block, program.name),
        _ => job.block.clone(),
    }
}

/// The verdict of a job; `None` if it did not run.
fn verdict(ended: &Ended) -> Option<Verdict> {
    match ended {
        Ended::Ran(result) => Some(result.result),
        Ended::Refused(_) => Some(Verdict::Error),
        Ended::Skipped => None,
    }
}

/// The status of each job; the program ends with the worst.
fn status(ended: &Ended) -> Status {
    match ended {
        Ended::Ran(result) => result.result.into(),
        Ended::Refused(failure) => failure.status,
        Ended::Skipped => Status::Interrupted,
    }
}

fn worst(ended: &[Ended]) -> Status {
    ended.iter().map(status).max().unwrap_or(Status::Pass)
}

/// The verdict on all runs: that of the worst.
fn verdict_of(ended: &[Ended]) -> Verdict {
    let worst = worst(ended);
    let first = ended.iter().find(|e| status(e) == worst).and_then(verdict);
    first.unwrap_or(if worst == Status::Interrupted { Verdict::Interrupted } else { Verdict::Pass })
}

/// The row of a run for `--json`.
fn row(job: &LockstepJob, ended: &Ended, simulator: Simulator) -> Run {
    let mut run = Run {
        result: verdict(ended).unwrap_or(Verdict::Interrupted),
        command: "cosim",
        block: job.block.clone(),
        kernel: match &job.inputs {
            Inputs::Kernel(kernel) => Some(kernel.manifest.clone()),
            _ => None,
        },
        weights: match &job.inputs {
            Inputs::Program(program) => Some(program.name.clone()),
            _ => None,
        },
        preset: job.preset(),
        parameters: parameters(&job.block, &job.config).into_iter().collect(),
        straps: (!is_replay(job)).then(|| plan::straps(&job.block, &job.config)),
        simulator: (simulator != Simulator::default()).then(|| simulator.name()),
        seed: job.seed,
        cycles: 0,
        details: None,
        message: None,
    };
    match ended {
        Ended::Ran(result) => {
            run.cycles = result.cycles;
            run.message = (!result.report.is_empty()).then(|| result.report.clone());
            run.details = Some(Details {
                signals_compared: result.signals_compared,
                probes_absent: result.probes_absent.clone(),
                build_s: result.build_s,
                wall_s: result.wall_s,
                events: result.events.clone(),
                coverage: result.coverage.iter().copied().collect(),
                toggles: result.toggles,
                comparisons: result.comparisons,
                divergence: result.divergence.clone(),
                artifacts: result.failure_folder.iter().cloned().collect(),
            });
        }
        Ended::Refused(failure) => run.message = Some(failure.message.clone()),
        Ended::Skipped => {}
    }
    run
}

/// Texts of the first failures.
fn failures(jobs: &[LockstepJob], ended: &[Ended], own: &OwnRtl) -> Vec<String> {
    let (mut texts, mut lacking) = (Vec::new(), BTreeSet::new());
    for (job, ended) in jobs.iter().zip(ended) {
        let Ended::Ran(result) = ended else { continue };
        let folder = result.failure_folder.as_deref();
        if status(ended) != Status::Failed || folder.is_none() && texts.len() >= KEPT {
            continue;
        }
        // A block lacks the same probes in each of its shapes, so this is reported once.
        if result.result == Verdict::ProbesAbsent && !lacking.insert((&job.block, &result.probes_absent)) {
            continue;
        }
        let mut text = format!("{HEADING}{} {}{HEADING:#}\n", name(job), result.result.label());
        text.push_str(result.report.trim_end());
        text.push('\n');
        if let Some(folder) = folder {
            text.push_str(&format!("  {:<9} {}\n", "folder", folder.display()));
        }
        if !is_replay(job) {
            text.push_str(&format!("  {:<9} {}\n", "again", job.command(job.cycles, &own.sources.options)));
        }
        texts.push(from_here(&text));
    }
    texts
}

/// Texts of the jobs that could not be run. One mistake in the RTL stops every run that contains it, so each message is reported once.
fn refusals(jobs: &[LockstepJob], ended: &[Ended]) -> Vec<String> {
    let mut told: Vec<&str> = Vec::new();
    let mut texts = Vec::new();
    for (job, ended) in jobs.iter().zip(ended) {
        let Ended::Refused(failure) = ended else { continue };
        if !told.contains(&failure.message.as_str()) && told.len() < KEPT {
            told.push(&failure.message);
            texts.push(format!("{}: {}", job.block, failure.message.trim_end()));
        }
    }
    texts
}

fn is_replay(job: &LockstepJob) -> bool {
    matches!(job.inputs, Inputs::Replay(_))
}

/// A text in which paths in the current folder are relative to it, as a user would type them.
fn from_here(text: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let prefix = format!("{}/", here.display());
    [" ", "=", " '", "='"]
        .iter()
        .fold(text.to_owned(), |text, before| text.replace(&format!("{before}{prefix}"), before))
}

/// Describes the part of the whole suite that is run.
fn part_of_suite(part: Part, own: &OwnRtl, blocks: &[String]) -> String {
    let blocks = if blocks.is_empty() { String::new() } else { format!(" of {}", blocks.join(" and ")) };
    let Part { jobs, of } = part;
    format!("{jobs} of the whole suite's {of} jobs: all{blocks} that contain {}", own.modules().join(" or "))
}

/// A note on the number of runs that passed without reaching every situation, and are too short to fail because of that.
fn too_short(ended: &[Ended]) -> String {
    // The number of cycles from which such a run fails.
    let missed = |ended: &Ended| {
        let Ended::Ran(result) = ended else { return None };
        let job = &result.job;
        let from = judged_from(&job.block);
        let random = matches!(job.inputs, Inputs::Random) && job.cycles < from;
        let lacks = random && result.result == Verdict::Pass && result.coverage.iter().any(|&(_, count)| count == 0);
        lacks.then_some(from)
    };
    let too_short: Vec<u64> = ended.iter().filter_map(missed).collect();
    let Some(longest) = too_short.iter().max() else { return String::new() };
    let text = format!(
        "{DOUBTFUL}note:{DOUBTFUL:#} {} of {} runs did not reach every situation that the block's page describes, so that a \
         fault there would not be found. A run of {} cycles or more has to reach all of them.",
        too_short.len(),
        ended.len(),
        output::grouped(*longest)
    );
    format!("\n{}\n", output::wrapped(&text))
}

/// For each block, the names that were not compared, as --allow-absent permits.
fn allowed_absent(ended: &[Ended]) -> String {
    let mut blocks: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for ended in ended {
        if let Ended::Ran(result) = ended
            && result.result != Verdict::ProbesAbsent
        {
            let names = result.probes_absent.iter().map(String::as_str);
            blocks.entry(&result.job.block).or_default().extend(names);
        }
    }
    let with_any = blocks.into_iter().filter(|(_, names)| !names.is_empty());
    let line = |(block, names): (&str, BTreeSet<&str>)| {
        let names: Vec<&str> = names.into_iter().collect();
        format!("\n{BAD}not compared{BAD:#} in {block}, as --allow-absent says: {}\n", names.join(", "))
    };
    with_any.map(line).collect()
}

fn summary(ended: &[Ended]) -> String {
    let count = |status_wanted: Status| ended.iter().filter(|e| status(e) == status_wanted).count();
    let (passed, failed) = (count(Status::Pass), count(Status::Failed));
    let refused = count(Status::BadInput) + count(Status::Tool);
    let mut parts = vec![format!("{passed} of {} equal", ended.len())];
    let mut add = |number: usize, what: &str| {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    };
    add(failed, "failed");
    add(refused, "could not be run");
    add(count(Status::Interrupted), "interrupted or not run");
    let style = if passed == ended.len() { GOOD } else { BAD };
    format!("{style}{}{style:#}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::config::Config;
    use gpurf_regress::suite;

    use super::*;

    #[test]
    fn a_run_that_is_too_short_names_the_length_from_which_its_block_is_judged() {
        let note = |block: &str| {
            too_short(&[Ended::Ran(Box::new(JobResult {
                job: suite::random(block, Config::default(), 1, 9),
                result: Verdict::Pass,
                cycles: 9,
                signals_compared: 1,
                probes_absent: Vec::new(),
                build_s: 0.0,
                wall_s: 0.0,
                events: Default::default(),
                coverage: vec![("full", 0)],
                toggles: None,
                comparisons: None,
                divergence: None,
                failing_cycle: None,
                report: String::new(),
                failure_folder: None,
            }))])
        };
        for (block, cycles) in [("mrf_arbiter", "A run of 500 000 cycles"), ("cache", "A run of 4 000 000 cycles")] {
            let words = note(block).split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("1 of 1 runs") && words.contains(cycles), "{words}");
        }
    }
}
