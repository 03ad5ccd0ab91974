//! A slot in which one case runs at a time, in a worker process that is restarted if it crashes.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use gpurf_lockstep::Verdict;

use super::case::Case;
use super::outcome::CaseOutcome;
use super::worker::{Answer, Request};
use crate::{JobError, is_raised_by_now};

/// Time limit of a build.
const BUILD_LIMIT: Duration = Duration::from_secs(3600);
/// Interval at which the worker's owner checks whether it has to stop.
const LISTEN: Duration = Duration::from_millis(200);
/// Additional time for a case that is shrunk.
const SHRINK_ALLOWANCE: Duration = Duration::from_secs(300);

/// Makes the command that starts a worker.
pub type Start<'a> = &'a (dyn Fn() -> Command + Sync);

/// A worker process and its output.
struct Process {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<Answer>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // The worker may be in the middle of a case whose result is not needed any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A place for one case at a time.
pub struct Slot<'a> {
    start: Start<'a>,
    stop: &'a AtomicBool,
    process: Option<Process>,
    /// Number of threads that a case may use.
    threads: usize,
}

impl<'a> Slot<'a> {
    /// A slot without a worker: the first case starts one. `stop` is set to end early.
    pub fn new(start: Start<'a>, stop: &'a AtomicBool, threads: usize) -> Self {
        Self { start, stop, process: None, threads }
    }

    /// Runs a case, with `train` on an SM that is compiled with a profile. If `keep` names a folder, a failure is shrunk and kept there. Returns its
    /// failure folder.
    ///
    /// # Errors
    /// When no worker can be started.
    pub fn run(
        &mut self,
        case: &Case,
        train: bool,
        keep: Option<PathBuf>,
    ) -> Result<(CaseOutcome, Option<PathBuf>), JobError> {
        let allowance = if keep.is_some() { SHRINK_ALLOWANCE } else { Duration::ZERO };
        let limit = Duration::from_secs(case.limit_s);
        let request = Request { case: case.clone(), keep, threads: self.threads, train };
        let mut line = serde_json::to_string(&request).expect("words are JSON");
        line.push('\n');
        // A worker that ended between two cases is replaced once.
        for _ in 0..2 {
            if self.process.is_none() {
                self.process = Some(self.begin()?);
            }
            let Some(process) = &mut self.process else { continue };
            if process.requests.write_all(line.as_bytes()).and_then(|()| process.requests.flush()).is_ok() {
                break;
            }
            self.process = None;
        }
        let Some(process) = &mut self.process else {
            return Err(JobError::Build("worker processes end as soon as they are started".into()));
        };
        let (mut started, mut left) = (Instant::now(), BUILD_LIMIT);
        let mut built = false;
        loop {
            let rest = left.saturating_sub(started.elapsed());
            match process.answers.recv_timeout(rest.min(LISTEN)) {
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => {
                    self.process = None;
                    return Ok((CaseOutcome::new(case, Verdict::Interrupted, ""), None));
                }
                Err(RecvTimeoutError::Timeout) if rest > LISTEN => {}
                Ok(Answer::Built) => (built, started, left) = (true, Instant::now(), limit + allowance),
                Ok(Answer::Done(outcome, folder)) => return Ok((*outcome, folder)),
                Err(RecvTimeoutError::Timeout) => {
                    self.process = None;
                    let (what, s) = if built {
                        ("no end", (limit + allowance).as_secs())
                    } else {
                        ("not built", BUILD_LIMIT.as_secs())
                    };
                    let message = format!("{what} within {s} s");
                    return Ok((CaseOutcome::new(case, Verdict::TimeLimit, message), None));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = process.child.wait();
                    self.process = None;
                    if is_raised_by_now(self.stop) {
                        return Ok((CaseOutcome::new(case, Verdict::Interrupted, ""), None));
                    }
                    let how = status.map_or_else(|e| e.to_string(), |status| status.to_string());
                    let message = format!("the process that ran it ended ({how})");
                    return Ok((CaseOutcome::new(case, Verdict::Crashed, message), None));
                }
            }
        }
    }

    fn begin(&self) -> Result<Process, JobError> {
        let mut command = (self.start)();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let cannot = |e: std::io::Error| JobError::Build(format!("cannot start a worker process: {e}"));
        let mut child = command.spawn().map_err(cannot)?;
        let (Some(requests), Some(out)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(JobError::Build("a worker process has no pipes".into()));
        };
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                // Other lines are no answers and are ignored.
                if let Ok(answer) = serde_json::from_str(&line)
                    && sender.send(answer).is_err()
                {
                    return;
                }
            }
        });
        Ok(Process { child, requests, answers })
    }
}

#[cfg(test)]
mod tests {
    use std::thread::{scope, sleep};

    use gpurf_blocks::config::Config;

    use super::super::case::Work;
    use super::*;

    #[test]
    fn a_worker_that_ctrl_c_ends_before_it_listens_has_not_crashed() {
        let case = Case::new(&Config::default(), 1, Work::Block { block: "mrf".into(), cycles: 9 }, 5);
        let start = || {
            let mut command = Command::new("sh");
            command.args(["-c", "read request; exit 2"]);
            command
        };
        let ended = |interrupted: bool| {
            let stop = AtomicBool::new(false);
            scope(|scope| {
                scope.spawn(|| {
                    sleep(Duration::from_millis(10));
                    stop.store(interrupted, Ordering::Relaxed);
                });
                Slot::new(&start, &stop, 1).run(&case, false, None).unwrap().0.result
            })
        };
        assert_eq!([true, false].map(ended), [Verdict::Interrupted, Verdict::Crashed]);
    }
}
