//! A separate process that runs cases: if RTL crashes or hangs, this ends the worker, but not the regression.
//!
//! It reads one [`Request`] per line from standard input, and writes [`Answer`]s to standard output: first that the build is done, then the result of the case. It ends when its
//! input ends, so that it does not outlive its parent process.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use gpurf_launch::Manifest;
use gpurf_lockstep::Verdict;
use gpurf_oracle::host::Session;
use serde::{Deserialize, Serialize};
use verilated::{Options, Toolchain};

use super::case::{Case, Work};
use super::outcome::CaseOutcome;
use crate::golden::{self, Golden, NotTaken, Numbers, Store};
use crate::kernels::{image, input};
use crate::{JobError, JobResult, KernelInputs, Project, RtlSources, build_sm, is_package, is_raised_by_now, run_job};

/// A case to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The case.
    pub case: Case,
    /// Where its failure folder is written, if the failure is to be shrunk and kept.
    pub keep: Option<PathBuf>,
    /// Threads that it may use.
    pub threads: usize,
    /// Whether the SM is compiled with a profile.
    pub train: bool,
}

/// An answer of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Everything that the case needs is built: its time limit starts now.
    Built,
    /// The outcome of the case, and the failure folder.
    Done(Box<CaseOutcome>, Option<PathBuf>),
}

/// What a worker needs to run cases.
pub struct Worker<'a> {
    /// The checkout.
    pub project: Project,
    /// Verilator and a C++ compiler.
    pub tools: &'a Toolchain,
    /// RTL in place of the project's.
    pub rtl: &'a RtlSources,
    /// Computes the numbers of goldens.
    pub numbers: Numbers<'a>,
    /// Where answers are written. What the RTL writes to standard output must not come between them.
    pub answers: &'a File,
    /// Set to end early.
    pub stop: &'static AtomicBool,
    /// Builds that failed, with their errors; they are not tried again.
    pub broken: HashMap<(String, Vec<String>), JobError>,
}

impl Worker<'_> {
    /// Runs cases until standard input ends.
    ///
    /// # Errors
    /// When the parent has ended.
    pub fn serve(mut self) -> io::Result<()> {
        let (sender, requests) = mpsc::channel();
        std::thread::spawn(move || {
            for line in io::stdin().lock().lines() {
                let Some(request) = line.ok().and_then(|line| serde_json::from_str(&line).ok()) else { break };
                if sender.send(request).is_err() {
                    break;
                }
            }
            // The process that sent the cases has ended.
            std::process::exit(0);
        });
        for request in requests {
            let (outcome, folder) = self.run(&request).unwrap_or_else(|e| {
                // Ctrl-C can make a tool fail, not an input.
                let is_build = matches!(e, JobError::Build(_));
                let stopped = if is_build { is_raised_by_now(self.stop) } else { self.stop.load(Ordering::Relaxed) };
                (not_run(&request.case, &e, stopped), None)
            });
            self.say(&Answer::Done(Box::new(outcome), folder))?;
        }
        Ok(())
    }

    fn say(&self, answer: &Answer) -> io::Result<()> {
        let mut text = serde_json::to_string(answer).expect("words, numbers and maps of them are JSON");
        text.push('\n');
        let mut answers = self.answers;
        answers.write_all(text.as_bytes())
    }

    fn run(&mut self, request: &Request) -> Result<(CaseOutcome, Option<PathBuf>), JobError> {
        let Request { case, keep, threads, train } = request;
        let Some(mut job) = case.job(&self.project)? else {
            self.say(&Answer::Built).map_err(|e| input(&e))?;
            return Ok((self.golden(case)?, None));
        };
        if let Work::Kernel { kernel } = &case.work
            && let Some(misfit) = self.misfit(case, kernel)?
        {
            return Ok((CaseOutcome::new(case, Verdict::Skipped, misfit), None));
        }
        let started = Instant::now();
        let key = (job.block.clone(), case.settings.clone());
        if let Some(error) = self.broken.get(&key) {
            // No tool has run now.
            return Ok((not_run(case, error, self.stop.load(Ordering::Relaxed)), None));
        }
        // Replaced modules that the block does not contain are left out, also of its reproducer. Files of the user's own may import any package.
        let mut rtl = self.rtl.clone();
        rtl.overrides.retain(|(module, _)| case.contains(module) || is_package(module));
        let options = Options { profile: *train, ..Options::default() };
        let wanted = crate::request(&self.project, &job.block, &job.config, &rtl, options.clone())?;
        if let Err(error) = build_sm(self.tools, &wanted, &job.config) {
            self.broken.insert(key, error.clone());
            return Err(error);
        }
        let build_s = started.elapsed().as_secs_f64();
        self.say(&Answer::Built).map_err(|e| input(&e))?;
        (job.keep_failure, job.threads) = (keep.is_some(), *threads);
        let project = Project { failures: keep.clone().unwrap_or_default(), ..self.project.clone() };
        let result = run_job(&project, self.tools, &job, &rtl, &options, self.stop)?;
        let outcome = CaseOutcome { build_s, ..CaseOutcome::of(case, &result, &rtl.overrides) };
        let folder = result.failure_folder.clone();
        Ok((self.with_golden(case, &result, outcome)?, folder))
    }

    /// Why a kernel does not fit the configuration, if it does not.
    fn misfit(&self, case: &Case, kernel: &str) -> Result<Option<String>, JobError> {
        let inputs = KernelInputs::of_project(&self.project, kernel);
        let manifest = Manifest::load(&inputs.manifest).map_err(|e| input(&e))?;
        let config = case.config()?;
        let image = image(&manifest, &inputs, &config)?;
        let session = Session::new(&manifest, &image).map_err(|e| input(&e))?;
        let refusal = session.launches().find_map(|launch| gpurf_machine::Job::new(&config, &launch).err());
        Ok(refusal.map(|refusal| refusal.to_string()))
    }

    fn golden_file(&self, case: &Case, kernel: &str) -> PathBuf {
        Store::of_project(&self.project).golden(case.label(), &KernelInputs::of_project(&self.project, kernel))
    }

    /// Runs a kernel on the model alone.
    fn golden(&self, case: &Case) -> Result<CaseOutcome, JobError> {
        let Work::Golden { kernel } = &case.work else { return Err(input(&"this is no golden")) };
        let file = self.golden_file(case, kernel);
        let inputs = KernelInputs::of_project(&self.project, kernel);
        let started = Instant::now();
        let taken = golden::take(&self.project, case.label(), &case.config()?, &inputs, self.numbers, self.stop);
        let changed = |message: String| CaseOutcome::new(case, Verdict::GoldenChanged, message);
        let outcome = match taken {
            Err(NotTaken::Misfit(why)) if !file.exists() => CaseOutcome::new(case, Verdict::Skipped, why),
            Err(NotTaken::Interrupted) => CaseOutcome::new(case, Verdict::Interrupted, ""),
            Err(NotTaken::Job(error)) => return Err(error),
            Err(NotTaken::Misfit(why) | NotTaken::Failed(why)) => CaseOutcome::new(case, Verdict::CheckFailed, why),
            Ok(_) if !file.exists() => changed(format!("there is no golden of {}: gpurf golden bless", case.label())),
            Ok(taken) => {
                let found = golden::compare(&Golden::read(&file)?, &taken, None);
                let outcome = match in_words(&found.changes) {
                    None => CaseOutcome::new(case, Verdict::Pass, ""),
                    Some(words) => changed(words),
                };
                CaseOutcome { cycles: taken.golden.cycles, events: taken.golden.events, ..outcome }
            }
        };
        Ok(CaseOutcome { wall_s: started.elapsed().as_secs_f64(), ..outcome })
    }

    /// Checks a kernel in lockstep against the cycles and events of its golden.
    fn with_golden(&self, case: &Case, result: &JobResult, outcome: CaseOutcome) -> Result<CaseOutcome, JobError> {
        let Work::Kernel { kernel } = &case.work else { return Ok(outcome) };
        let file = self.golden_file(case, kernel);
        if result.result != Verdict::Pass || !file.exists() {
            return Ok(outcome);
        }
        match in_words(&golden::counts(&Golden::read(&file)?, outcome.cycles, &outcome.events)) {
            None => Ok(outcome),
            Some(message) => Ok(CaseOutcome { result: Verdict::GoldenChanged, status: 1, message, ..outcome }),
        }
    }
}

/// The outcome of a case that could not run. Ctrl-C ends compilers too: their failure is then not a result.
fn not_run(case: &Case, error: &JobError, stopped: bool) -> CaseOutcome {
    match stopped {
        true => CaseOutcome::new(case, Verdict::Interrupted, ""),
        false => CaseOutcome::refused(case, error),
    }
}

/// Changes as one sentence.
fn in_words(changes: &[golden::Change]) -> Option<String> {
    let words = changes.iter().map(|change| format!("{} {} -> {}", change.what, change.before, change.now));
    (!changes.is_empty()).then(|| format!("not what the golden says: {}", words.collect::<Vec<_>>().join(", ")))
}
