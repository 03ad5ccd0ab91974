//! What is going on, on standard error.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar for the whole and a line for each job under way; on a terminal only.
pub struct Progress {
    lines: MultiProgress,
    whole: ProgressBar,
    running: Mutex<BTreeMap<usize, ProgressBar>>,
    shown: bool,
}

impl Progress {
    /// For `count` jobs. Without a terminal, `verbose` prints a line for each finished job instead.
    pub fn new(count: usize, verbose: bool) -> Self {
        let lines = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {elapsed}").expect("a valid template");
        let whole = lines.add(ProgressBar::new(count as u64).with_style(style));
        whole.enable_steady_tick(Duration::from_millis(200));
        let shown = verbose && !whole.is_hidden();
        if !shown {
            lines.set_draw_target(ProgressDrawTarget::hidden());
        }
        Self { lines, whole, running: Mutex::default(), shown: shown || !verbose }
    }

    /// A job begins.
    pub fn begin(&self, index: usize, name: &str) {
        let style = ProgressStyle::with_template("  {spinner} {msg}  {elapsed}").expect("a valid template");
        let bar = self.lines.insert_before(&self.whole, ProgressBar::new_spinner().with_style(style));
        bar.set_message(name.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        if let Some(old) = self.running.lock().expect("no panic with the lock").insert(index, bar) {
            old.finish_and_clear();
        }
    }

    /// A job has ended; `line` says how.
    pub fn end(&self, index: usize, line: &str) {
        if let Some(bar) = self.running.lock().expect("no panic with the lock").remove(&index) {
            bar.finish_and_clear();
        }
        self.whole.inc(1);
        if !self.shown {
            crate::output::note(line);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.whole.finish_and_clear();
    }
}
