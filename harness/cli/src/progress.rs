//! What is going on, on standard error.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often what is shown is drawn again.
const TICK: Duration = Duration::from_millis(200);

/// On a terminal a bar for the whole and a line for each job under way; elsewhere, if wanted, a line for each job that has ended.
pub struct Progress {
    bars: MultiProgress,
    whole: ProgressBar,
    running: Mutex<BTreeMap<usize, ProgressBar>>,
    print_ended: bool,
}

impl Progress {
    /// For `count` jobs.
    pub fn new(count: usize, print_ended: bool) -> Self {
        let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {elapsed}").expect("a valid template");
        let whole = bars.add(ProgressBar::new(count as u64).with_style(style));
        whole.enable_steady_tick(TICK);
        let print_ended = print_ended && bars.is_hidden();
        Self { bars, whole, running: Mutex::default(), print_ended }
    }

    /// A job begins.
    pub fn begin(&self, index: usize, name: &str) {
        let style = ProgressStyle::with_template("  {spinner} {msg}  {elapsed}").expect("a valid template");
        let bar = self.bars.insert_before(&self.whole, ProgressBar::new_spinner().with_style(style));
        bar.set_message(name.to_owned());
        bar.enable_steady_tick(TICK);
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
