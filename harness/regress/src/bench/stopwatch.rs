//! Processor time of a thread.

use std::time::{Duration, Instant};

/// Measures the processor time of the thread that started it: this is what other programs on the machine disturb least. If the system does not report
/// it, wall time is measured.
pub struct Stopwatch {
    thread: Option<Duration>,
    wall: Instant,
}

impl Stopwatch {
    pub fn start() -> Self {
        Self { thread: of_thread(), wall: Instant::now() }
    }

    pub fn elapsed(&self) -> Duration {
        match (self.thread, of_thread()) {
            (Some(start), Some(now)) => now.saturating_sub(start),
            _ => self.wall.elapsed(),
        }
    }
}

/// Time that this thread has run, by Linux's scheduler.
fn of_thread() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_takes_no_time() {
        if of_thread().is_some() {
            let watch = Stopwatch::start();
            std::thread::sleep(Duration::from_millis(50));
            assert!(watch.elapsed() < Duration::from_millis(40));
        }
    }
}
