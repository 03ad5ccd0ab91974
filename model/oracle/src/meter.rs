//! How far a launch has come, for a user who waits for it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The launch in progress of an engine. The engine writes, another thread reads.
#[derive(Debug)]
pub struct Meter {
    launch: Mutex<Option<Began>>,
    done: AtomicU64,
    cycles: AtomicU64,
}

/// The parts of a launch that an engine counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parts {
    /// Blocks that have ended.
    Blocks,
    /// Warps that have begun.
    Warps,
}

#[derive(Debug)]
struct Began {
    kernel: String,
    at: Instant,
    parts: Parts,
    all: u64,
}

/// The progress of a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reading {
    /// Name of the kernel.
    pub kernel: String,
    /// Time since its start.
    pub elapsed: Duration,
    /// What is counted.
    pub parts: Parts,
    /// Parts done so far, of `all`.
    pub done: u64,
    /// Parts of the launch.
    pub all: u64,
    /// Cycles of the launch so far; 0 on an engine that has none.
    pub cycles: u64,
}

impl Meter {
    /// No launch is in progress.
    pub const fn new() -> Self {
        Self { launch: Mutex::new(None), done: AtomicU64::new(0), cycles: AtomicU64::new(0) }
    }

    /// A launch of this kernel with this number of parts begins.
    pub fn begin(&self, kernel: &str, parts: Parts, all: u64) {
        let began = Began { kernel: kernel.to_owned(), at: Instant::now(), parts, all };
        let mut launch = self.launch.lock().unwrap_or_else(PoisonError::into_inner);
        self.set(0, 0);
        *launch = Some(began);
    }

    /// The launch has ended.
    pub fn end(&self) {
        *self.launch.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// One more part is done.
    pub fn add(&self) {
        self.done.fetch_add(1, Relaxed);
    }

    /// Sets the parts done so far, and the cycles of the launch.
    pub fn set(&self, done: u64, cycles: u64) {
        self.done.store(done, Relaxed);
        self.cycles.store(cycles, Relaxed);
    }

    /// The launch in progress.
    pub fn read(&self) -> Option<Reading> {
        let launch = self.launch.lock().unwrap_or_else(PoisonError::into_inner);
        let Began { kernel, at, parts, all } = launch.as_ref()?;
        Some(Reading {
            kernel: kernel.clone(),
            elapsed: at.elapsed(),
            parts: *parts,
            done: self.done.load(Relaxed).min(*all),
            all: *all,
            cycles: self.cycles.load(Relaxed),
        })
    }
}

impl Default for Meter {
    fn default() -> Self {
        Self::new()
    }
}
