//! Progress on standard error.

mod launch;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

pub use launch::{Launches, meter};

/// The interval between redraws.
const TICK: Duration = Duration::from_millis(200);

/// On a terminal, a bar for all jobs and a line for each running job; elsewhere, if wanted, a line for each job that has ended.
pub struct Progress {
    bars: MultiProgress,
    whole: ProgressBar,
    running: Mutex<BTreeMap<usize, ProgressBar>>,
    print_ended: bool,
}

/// Shows a step of unknown length, if standard error is a terminal.
pub fn spinner(message: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg}  {elapsed}").expect("a valid template");
    let bar = ProgressBar::new_spinner().with_style(style).with_message(message);
    bar.enable_steady_tick(TICK);
    bar
}

impl Progress {
    /// Shows the progress of `count` jobs.
    pub fn new(count: usize, print_ended: bool) -> Self {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {elapsed}  {msg}").expect("a valid template");
        let whole = bars.add(ProgressBar::new(count as u64).with_style(style));
        whole.enable_steady_tick(TICK);
        let print_ended = print_ended && bars.is_hidden();
        Self { bars, whole, running: Mutex::default(), print_ended }
    }

    /// A job starts.
    pub fn begin(&self, index: usize, name: &str) {
        let style = ProgressStyle::with_template("  {spinner} {msg}  {elapsed}").expect("a valid template");
        let bar = self.bars.insert_before(&self.whole, ProgressBar::new_spinner().with_style(style));
        bar.set_message(name.to_owned());
        bar.enable_steady_tick(TICK);
        if let Some(old) = self.running.lock().expect("no panic with the lock").insert(index, bar) {
            old.finish_and_clear();
        }
    }

    /// Counts jobs that were done before.
    pub fn skip(&self, count: usize) {
        self.whole.inc(count as u64);
    }

    /// Sets the text after the bar.
    pub fn says(&self, words: &str) {
        self.whole.set_message(words.to_owned());
    }

    /// A started job has ended, but is not counted.
    pub fn close(&self, index: usize) {
        if let Some(bar) = self.running.lock().expect("no panic with the lock").remove(&index) {
            bar.finish_and_clear();
        }
    }

    /// A job has ended; `line` describes its result.
    pub fn end(&self, index: usize, line: &str) {
        self.ended(index);
        self.line(line);
    }

    /// A job has ended, without a line.
    pub fn ended(&self, index: usize) {
        self.close(index);
        self.whole.inc(1);
    }

    /// Prints a line if there is no terminal.
    pub fn line(&self, line: &str) {
        if self.print_ended {
            crate::output::note(line);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.whole.finish_and_clear();
    }
}

/// Estimates the remaining time. A job is expected to take as long as in an earlier run, otherwise as long as ended jobs of its kind, otherwise as
/// long as all ended jobs on average.
#[derive(Default)]
pub struct Remaining {
    jobs: usize,
    /// Number of remaining jobs of each kind without a time from an earlier run.
    unknown: BTreeMap<String, usize>,
    /// Seconds that the other remaining jobs took in the earlier run.
    known: f64,
    /// For each kind, the number of ended jobs and their total seconds.
    ended: BTreeMap<String, (usize, f64)>,
}

impl Remaining {
    /// An estimate for jobs of these kinds, with the seconds that each took in an earlier run, if known; `jobs` of them run at a time.
    pub fn new(jobs: usize, all: impl Iterator<Item = (String, Option<f64>)>) -> Self {
        let mut remaining = Self { jobs, ..Self::default() };
        for (kind, seconds) in all {
            match seconds {
                Some(seconds) => remaining.known += seconds,
                None => *remaining.unknown.entry(kind).or_default() += 1,
            }
        }
        remaining
    }

    /// A job has ended: `expected` is its time in the earlier run, `seconds` the time that it took. Returns the remaining time in words.
    pub fn ended(&mut self, kind: String, expected: Option<f64>, seconds: f64) -> String {
        match expected {
            Some(expected) => self.known -= expected,
            None => *self.unknown.entry(kind.clone()).or_default() -= 1,
        }
        let of_kind = self.ended.entry(kind).or_default();
        *of_kind = (of_kind.0 + 1, of_kind.1 + seconds);
        format!("{} left", duration(self.seconds()))
    }

    /// A job of this kind, without a time from an earlier run, does not have to run.
    pub fn dropped(&mut self, kind: String) {
        *self.unknown.entry(kind).or_default() -= 1;
    }

    fn seconds(&self) -> f64 {
        let mean = |(count, seconds): (usize, f64)| seconds / count.max(1) as f64;
        let all = self.ended.values().fold((0, 0.0), |sum, kind| (sum.0 + kind.0, sum.1 + kind.1));
        let of_kind = |kind: &String| mean(self.ended.get(kind).copied().unwrap_or(all));
        let unknown: f64 = self.unknown.iter().map(|(kind, count)| *count as f64 * of_kind(kind)).sum();
        (self.known.max(0.0) + unknown) / self.jobs.max(1) as f64
    }
}

/// Formats a duration in seconds.
pub fn duration(seconds: f64) -> String {
    match seconds as u64 {
        s @ 0..90 => format!("{s} s"),
        s @ 90..5400 => format!("{} min", s.div_ceil(60)),
        s => format!("{:.1} h", s as f64 / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_estimated_from_what_is_known() {
        let jobs = [("a", Some(10.0)), ("b", None), ("b", None), ("c", None), ("a", Some(30.0))];
        let mut left = Remaining::new(2, jobs.map(|(kind, seconds)| (kind.to_owned(), seconds)).into_iter());
        assert_eq!(left.ended("a".into(), Some(10.0), 12.0), "33 s left");
        assert_eq!(left.ended("b".into(), None, 4.0), "21 s left");
        assert_eq!(left.ended("b".into(), None, 4.0), "18 s left");
        left.dropped("c".into());
        assert_eq!(left.ended("a".into(), Some(30.0), 28.0), "0 s left");
        assert_eq!(duration(3600.0), "60 min");
        assert_eq!(duration(7200.0), "2.0 h");
    }
}
