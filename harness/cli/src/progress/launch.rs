//! The launch in progress, for a user who waits for it.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use gpurf_oracle::host::in_source;
use gpurf_oracle::{Meter, Parts, Reading};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::{TICK, duration};
use crate::output::{cut, grouped, note};

static METER: Meter = Meter::new();

/// A line on a terminal appears once a launch has taken this long.
const VISIBLE_AFTER: Duration = Duration::from_secs(1);

/// The first line elsewhere is printed once a launch has taken this long; each further one after twice the time.
const FIRST_LINE: Duration = Duration::from_secs(30);

/// Interval at which the meter is read where lines are printed.
const READ_EVERY: Duration = Duration::from_millis(500);

/// Columns of a kernel's name.
const LONGEST_NAME: usize = 40;

/// The meter of the launches of this program.
pub fn meter() -> &'static Meter {
    &METER
}

/// Shows the launch in progress until it is dropped.
pub enum Launches {
    /// One line of a terminal, which is drawn again and again, and removed at the end.
    Bar(ProgressBar),
    /// Lines that a thread prints.
    Lines { end: Arc<AtomicBool>, thread: Option<JoinHandle<()>> },
}

impl Launches {
    /// A line that changes, if standard error is a terminal; lines otherwise.
    pub fn show() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::lines();
        }
        let line = |_: &ProgressState, out: &mut dyn Write| {
            if let Some(reading) = METER.read().filter(|reading| reading.elapsed >= VISIBLE_AFTER) {
                let _ = out.write_str(&words(&reading));
            }
        };
        let style = ProgressStyle::with_template("{launch}").expect("a valid template").with_key("launch", line);
        let bar = ProgressBar::new_spinner().with_style(style);
        bar.enable_steady_tick(TICK);
        Self::Bar(bar)
    }

    /// Lines, also on a terminal: for a terminal on which another program writes.
    pub fn lines() -> Self {
        let end = Arc::new(AtomicBool::new(false));
        let ends = end.clone();
        let print = move || {
            let mut due = Due::default();
            while !ends.load(Ordering::Relaxed) {
                if let Some(reading) = METER.read()
                    && due.is_reached(reading.elapsed)
                {
                    note(&words(&reading));
                }
                std::thread::park_timeout(READ_EVERY);
            }
        };
        // Without a thread there are no lines; the run is the same.
        let thread = std::thread::Builder::new().name("progress".into()).spawn(print).ok();
        Self::Lines { end, thread }
    }
}

impl Drop for Launches {
    fn drop(&mut self) {
        match self {
            Self::Bar(bar) => bar.finish_and_clear(),
            Self::Lines { end, thread } => {
                end.store(true, Ordering::Relaxed);
                if let Some(thread) = thread.take() {
                    thread.thread().unpark();
                    let _ = thread.join();
                }
            }
        }
    }
}

/// When the next line of a launch is due.
struct Due {
    next: Duration,
    /// Time of the launch at the last reading: a later launch has taken less.
    before: Duration,
}

impl Default for Due {
    fn default() -> Self {
        Self { next: FIRST_LINE, before: Duration::ZERO }
    }
}

impl Due {
    /// Whether a line is due after this time of a launch.
    fn is_reached(&mut self, elapsed: Duration) -> bool {
        if elapsed < self.before {
            *self = Self::default();
        }
        self.before = elapsed;
        let reached = elapsed >= self.next;
        while elapsed >= self.next {
            self.next *= 2;
        }
        reached
    }
}

/// The progress of a launch in words.
fn words(reading: &Reading) -> String {
    let Reading { kernel, elapsed, parts, done, all, cycles } = reading;
    let name = in_source(kernel);
    let (kernel, done, all) = (cut(&name, LONGEST_NAME), grouped(*done), grouped(*all));
    let elapsed = duration(elapsed.as_secs_f64());
    match parts {
        Parts::Blocks => format!("{kernel}: {done} of {all} blocks have ended, {elapsed}"),
        Parts::Warps => format!("{kernel}: cycle {}, {done} of {all} warps have begun, {elapsed}", grouped(*cycles)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_after_twice_the_time_and_anew_with_each_launch() {
        let mut due = Due::default();
        let reached: Vec<u64> = (0..300).filter(|&s| due.is_reached(Duration::from_secs(s))).collect();
        assert_eq!(reached, [30, 60, 120, 240]);
        assert!(!due.is_reached(Duration::from_secs(5)));
        assert!(due.is_reached(Duration::from_secs(100)), "a first line that comes late");
        assert!(!due.is_reached(Duration::from_secs(119)));
        assert!(due.is_reached(Duration::from_secs(120)));
    }

    #[test]
    fn a_line_has_the_name_of_the_source_and_what_is_counted() {
        let kernel = "_Z5saxpyifPKfPf".to_owned();
        let elapsed = Duration::from_secs(95);
        let reading = Reading { kernel, elapsed, parts: Parts::Warps, done: 12, all: 4096, cycles: 1_234_567 };
        let text = words(&reading);
        assert!(text.ends_with(": cycle 1 234 567, 12 of 4 096 warps have begun, 2 min"), "{text}");
        assert!(text.starts_with("saxpy(int, float, float const*"), "{text}");
        let blocks = Reading { parts: Parts::Blocks, elapsed: Duration::from_secs(9), ..reading };
        assert!(words(&blocks).ends_with(": 12 of 4 096 blocks have ended, 9 s"), "{}", words(&blocks));
    }
}
