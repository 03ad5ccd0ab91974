//! Distributes the cases of a plan and keeps their results.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gpurf_lockstep::Verdict;

use super::case::{Case, Work};
use super::journal::{Header, Journal, Line, Reproducer, VERSION};
use super::outcome::{CaseOutcome, Signature};
use super::plan::{RegressionPlan, Shard};
use super::report::{RegressionReport, buckets};
use super::slot::{Slot, Start};
use super::sources::Sources;
use crate::{JobError, threads_of_each};

/// Failures that leave a folder when the case is run again.
const KEPT: [Verdict; 4] = [Verdict::Diverged, Verdict::Assertion, Verdict::Hang, Verdict::OracleMismatch];

/// Minimum number of runs of one SM for which it is compiled with a profile: some hundred runs save what the build takes longer.
const TRAINED_FROM: usize = 200;

/// A regression to run.
pub struct Regression<'a> {
    /// The cases of the regression.
    pub plan: &'a RegressionPlan,
    /// The part of the plan to run.
    pub shard: Shard,
    /// Folder for the journal and failure folders; an absolute path.
    pub out: &'a Path,
    /// Number of cases that run at the same time.
    pub jobs: usize,
    /// Whether to resume the existing journal.
    pub resume: bool,
    /// Digests of everything besides the plan on which results depend.
    pub sources: Sources,
    /// Options that name RTL to replace the project's.
    pub options: &'a [String],
    /// Starts a worker.
    pub start: Start<'a>,
    /// Set to end early.
    pub stop: &'a AtomicBool,
}

/// Progress messages.
pub enum Told<'a> {
    /// The regression begins: all its cases, and the outcomes of those that have been run before.
    Begins(&'a [&'a Case], &'a BTreeMap<String, CaseOutcome>),
    /// A case begins.
    Case(usize, &'a Case),
    /// A case has ended.
    Ended(usize, &'a Case, &'a CaseOutcome),
    /// A bucket gets its reproducer.
    Shrinks(usize, &'a Case),
    /// The reproducer of a bucket is ready, or there is none.
    Shrunk(usize),
}

/// The path of the journal in a regression's folder.
pub fn journal_in(out: &Path) -> PathBuf {
    out.join("journal.jsonl")
}

/// Creates the folder of a regression.
///
/// # Errors
/// When it cannot be made.
pub fn make_folder(out: &Path) -> Result<(), JobError> {
    std::fs::create_dir_all(out).map_err(|e| match out.ancestors().find(|path| path.exists()) {
        Some(file) if !file.is_dir() => {
            JobError::Input(format!("--out {}: {} is a file, not a folder", out.display(), file.display()))
        }
        _ => JobError::Build(format!("cannot make the folder {}: {e}", out.display())),
    })
}

/// What has been done.
struct Done {
    journal: Journal,
    outcomes: BTreeMap<String, CaseOutcome>,
    reproducers: Vec<Reproducer>,
    /// Why no more results can be kept.
    failure: Option<JobError>,
}

/// Runs the cases that have not been run yet, and reports on all cases.
///
/// # Errors
/// When the journal cannot be resumed or written, or no worker can be started.
pub fn run(regression: &Regression<'_>, told: &(dyn Fn(Told<'_>) + Sync)) -> Result<RegressionReport, JobError> {
    let Regression { plan, shard, out, .. } = *regression;
    let Sources { rtl, kernels, program } = regression.sources.clone();
    let header =
        Header { gpurf_journal: VERSION, tier: plan.tier.clone(), plan: plan.digest(), rtl, kernels, program, shard };
    make_folder(out)?;
    let path = journal_in(out);
    let (journal, lines) = if regression.resume {
        Journal::resume(&path, &header)?
    } else {
        (Journal::create(&path, &header)?, Vec::new())
    };
    let (mut outcomes, reproducers) = sorted(lines);
    outcomes.retain(|_, outcome| outcome.is_final());
    let done = Mutex::new(Done { journal, outcomes, reproducers, failure: None });

    let mine: Vec<&Case> =
        plan.cases.iter().enumerate().filter(|(place, _)| shard.has(*place)).map(|(_, case)| case).collect();
    let todo: Vec<&Case> = {
        let done = lock(&done);
        told(Told::Begins(&mine, &done.outcomes));
        mine.iter().filter(|case| !done.outcomes.contains_key(&case.id)).copied().collect()
    };
    let trained = Trained::of(&mine);
    regression.each(&todo, &done, |slot, index, case| {
        told(Told::Case(index, case));
        let (outcome, _) = slot.run(case, trained.has(case), None)?;
        if outcome.result != Verdict::Interrupted {
            keep(&done, &Line::Outcome(Box::new(outcome.clone())));
        }
        told(Told::Ended(index, case, &outcome));
        Ok(())
    });

    let firsts = regression.without_reproducer(&mine, &lock(&done));
    let cases: Vec<&Case> = firsts.iter().map(|(_, case)| *case).collect();
    regression.each(&cases, &done, |slot, index, case| {
        told(Told::Shrinks(index, case));
        let signature = firsts[index].0.clone();
        let folder = out.join("failures").join(signature.folder());
        // Files that a killed run has left there are not in the journal.
        let _ = std::fs::remove_dir_all(&folder);
        let (outcome, kept) = slot.run(case, trained.has(case), Some(folder))?;
        if outcome.result != Verdict::Interrupted {
            if outcome.status > 1 {
                return Err(JobError::Build(outcome.message));
            }
            let folder = kept.map(|folder| folder.strip_prefix(out).map_or(folder.clone(), Path::to_owned));
            keep(&done, &Line::Reproducer(Reproducer { signature, case: case.id.clone(), folder }));
        }
        told(Told::Shrunk(index));
        Ok(())
    });

    let done = done.into_inner().expect("no thread panics with the lock");
    if let Some(failure) = done.failure {
        return Err(failure);
    }
    Ok(RegressionReport::new(plan, shard, &done.outcomes, &done.reproducers, regression.options))
}

/// The configurations whose SM is compiled with a profile: those with many runs of it.
struct Trained<'a>(BTreeSet<&'a [String]>);

impl<'a> Trained<'a> {
    fn of(cases: &[&'a Case]) -> Self {
        let mut runs: BTreeMap<&[String], usize> = BTreeMap::new();
        for case in cases.iter().filter(|case| is_of_sm(case)) {
            *runs.entry(&case.settings).or_default() += 1;
        }
        Self(runs.into_iter().filter(|(_, runs)| *runs >= TRAINED_FROM).map(|(settings, _)| settings).collect())
    }

    /// Whether a case runs on an SM with a profile.
    fn has(&self, case: &Case) -> bool {
        is_of_sm(case) && self.0.contains(&case.settings[..])
    }
}

/// Whether a case runs the SM in lockstep.
fn is_of_sm(case: &Case) -> bool {
    matches!(case.work, Work::Kernel { .. } | Work::Program { .. })
}

/// Sorts the lines of a journal by their kind.
pub(super) fn sorted(lines: Vec<Line>) -> (BTreeMap<String, CaseOutcome>, Vec<Reproducer>) {
    let (mut outcomes, mut reproducers) = (BTreeMap::new(), Vec::new());
    for line in lines {
        match line {
            Line::Outcome(outcome) => _ = outcomes.insert(outcome.case.clone(), *outcome),
            Line::Reproducer(reproducer) => reproducers.push(reproducer),
        }
    }
    (outcomes, reproducers)
}

fn lock(done: &Mutex<Done>) -> std::sync::MutexGuard<'_, Done> {
    done.lock().expect("no thread panics with the lock")
}

/// Appends a line to the journal.
fn keep(done: &Mutex<Done>, line: &Line) {
    let mut done = lock(done);
    if done.failure.is_some() {
        return;
    }
    match done.journal.append(line) {
        Err(error) => done.failure = Some(error),
        Ok(()) => match line {
            Line::Outcome(outcome) => _ = done.outcomes.insert(outcome.case.clone(), (**outcome).clone()),
            Line::Reproducer(reproducer) => done.reproducers.push(reproducer.clone()),
        },
    }
}

impl Regression<'_> {
    /// Calls a function for each case, on as many threads as there are jobs, each with its own worker.
    fn each(
        &self,
        cases: &[&Case],
        done: &Mutex<Done>,
        work: impl Fn(&mut Slot<'_>, usize, &Case) -> Result<(), JobError> + Sync,
    ) {
        let next = AtomicUsize::new(0);
        let threads = threads_of_each(cases.len(), self.jobs);
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.clamp(1, cases.len().max(1)) {
                scope.spawn(|| {
                    let mut slot = Slot::new(self.start, self.stop, threads);
                    while !self.stop.load(Ordering::Relaxed) && lock(done).failure.is_none() {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(case) = cases.get(index) else { return };
                        if let Err(error) = work(&mut slot, index, case) {
                            lock(done).failure.get_or_insert(error);
                        }
                    }
                });
            }
        });
    }

    /// The first case of each bucket that has no reproducer yet but could have one. The buckets are known only when all cases have been run.
    fn without_reproducer<'a>(&self, cases: &[&'a Case], done: &Done) -> Vec<(Signature, &'a Case)> {
        if cases.iter().any(|case| !done.outcomes.contains_key(&case.id)) {
            return Vec::new();
        }
        let runs = || cases.iter().map(|case| (*case, &done.outcomes[&case.id]));
        let missing = |(signature, found): (Signature, Vec<&'a Case>)| {
            let has = done.reproducers.iter().any(|reproducer| reproducer.signature == signature);
            let can = KEPT.contains(&signature.kind) && !matches!(found[0].work, Work::Golden { .. });
            (!has && can).then(|| (signature, found[0]))
        };
        buckets(runs()).into_iter().filter_map(missing).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::plan::Overrides;
    use super::super::worker::Answer;
    use super::*;
    use crate::Project;

    /// A tool that failed yesterday may work today.
    #[test]
    fn a_case_without_a_result_runs_again_when_the_run_is_resumed() {
        let plan = RegressionPlan::of_saxpy();
        let folder = tempfile::tempdir().unwrap();
        let sources = Sources { rtl: "r".into(), kernels: "k".into(), program: "p".into() };
        let header = Header {
            gpurf_journal: VERSION,
            tier: plan.tier.clone(),
            plan: plan.digest(),
            rtl: sources.rtl.clone(),
            kernels: sources.kernels.clone(),
            program: sources.program.clone(),
            shard: Shard::WHOLE,
        };
        let mut journal = Journal::create(&journal_in(folder.path()), &header).unwrap();
        let (first, others) = plan.cases.split_first().unwrap();
        let full = CaseOutcome::refused(first, &JobError::Build("the disk is full".into()));
        let passed = |case| CaseOutcome::new(case, Verdict::Pass, "");
        for outcome in std::iter::once(full).chain(others.iter().map(passed)) {
            journal.append(&Line::Outcome(Box::new(outcome))).unwrap();
        }
        drop(journal);
        // A worker with one answer.
        let answer = folder.path().join("answer");
        let done = Answer::Done(Box::new(passed(first)), None);
        std::fs::write(&answer, serde_json::to_string(&done).unwrap() + "\n").unwrap();
        let start = || {
            let mut command = Command::new("sh");
            command.args(["-c", "read request; cat \"$0\"; read end"]).arg(&answer);
            command
        };
        let stop = AtomicBool::new(false);
        let regression = Regression {
            plan: &plan,
            shard: Shard::WHOLE,
            out: folder.path(),
            jobs: 1,
            resume: true,
            sources,
            options: &[],
            start: &start,
            stop: &stop,
        };
        let ran = Mutex::new(Vec::new());
        let report = run(&regression, &|told| {
            if let Told::Case(_, case) = told {
                ran.lock().unwrap().push(case.id.clone());
            }
        });
        assert_eq!(report.unwrap().result, Verdict::Pass);
        assert_eq!(ran.into_inner().unwrap(), std::slice::from_ref(&first.id));
    }

    #[test]
    fn an_sm_with_many_runs_is_trained() {
        let programs = |preset: &str, count: usize| {
            format!("[[smoke]]\nrun = \"programs\"\npresets = [\"{preset}\"]\ncount = {count}\nlimit_s = 5\n")
        };
        // Goldens run on the model alone, so they do not count. Blocks of a configuration are not its SM.
        let others = ["run = \"goldens\"", "run = \"register_file\"\npresets = [\"banks-8\"]\ncycles = 7"];
        let others = others.map(|entry| format!("[[smoke]]\n{entry}\nlimit_s = 5\n")).concat();
        let text = [others, programs("banks-8", TRAINED_FROM), programs("banks-16", TRAINED_FROM - 1)].concat();
        let plan = RegressionPlan::parse(&Project::find(), &text, "plan.toml", "smoke", Overrides::default()).unwrap();
        let cases: Vec<&Case> = plan.cases.iter().collect();
        assert!(cases.iter().any(|case| case.label() == "banks-8" && matches!(case.work, Work::Block { .. })));
        let trained = Trained::of(&cases);
        let ids: Vec<&str> = cases.iter().filter(|case| trained.has(case)).map(|case| &case.id[..]).collect();
        assert_eq!(ids.len(), TRAINED_FROM);
        assert!(ids.iter().all(|id| id.starts_with("banks-8/program/")), "{ids:?}");
    }
}
