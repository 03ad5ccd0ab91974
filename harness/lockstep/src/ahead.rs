//! Chunks on their way from the model's thread to the RTL's, and back.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};

use crate::trail::Chunk;
use crate::watch::Equal;

/// Chunks that the model may be ahead.
pub(crate) const AHEAD: usize = 8;

/// Whoever waits is woken when it has so many chunks to work on: a thread that is woken for each one of them spends its time on that.
const WAKE: usize = AHEAD / 2;

/// Between the two threads.
pub(crate) struct Queue {
    state: Mutex<State>,
    /// The RTL's thread waits here.
    filled: Condvar,
    /// The model's thread waits here.
    freed: Condvar,
}

#[derive(Default)]
struct State {
    full: VecDeque<Chunk>,
    free: VecDeque<Chunk>,
    /// Cycles that the model's thread has to observe.
    equal: Vec<Equal>,
    /// One of the two has ended: the other one need not wait for anything.
    over: bool,
    rtl_waits: bool,
    model_waits: bool,
}

/// Ends the other side's waiting when it is dropped, whatever the reason.
pub(crate) struct End<'a>(&'a Queue);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.filled.notify_one();
        self.0.freed.notify_one();
    }
}

impl Queue {
    /// With chunks to fill, the first one first.
    pub(crate) fn new(free: VecDeque<Chunk>) -> Self {
        let state = Mutex::new(State { free, ..State::default() });
        Self { state, filled: Condvar::new(), freed: Condvar::new() }
    }

    /// The side that holds this ends with it.
    pub(crate) fn end_with_this(&self) -> End<'_> {
        End(self)
    }

    /// A chunk to fill. `None`: the RTL does not follow any more.
    pub(crate) fn free(&self) -> Option<Chunk> {
        let mut state = self.lock();
        while state.free.is_empty() && !state.over {
            state.model_waits = true;
            state = self.freed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        state.model_waits = false;
        if state.over { None } else { state.free.pop_front() }
    }

    /// Hands a filled chunk over.
    pub(crate) fn put(&self, chunk: Chunk) {
        let mut state = self.lock();
        let last = chunk.last;
        state.full.push_back(chunk);
        if state.rtl_waits && (last || state.full.len() >= WAKE) {
            state.rtl_waits = false;
            drop(state);
            self.filled.notify_one();
        }
    }

    /// The next filled chunk. `None`: there is none any more.
    pub(crate) fn take(&self) -> Option<Chunk> {
        let mut state = self.lock();
        while state.full.is_empty() && !state.over {
            state.rtl_waits = true;
            state = self.filled.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        state.rtl_waits = false;
        state.full.pop_front()
    }

    /// Gives a chunk to be filled, and cycles to be observed before.
    pub(crate) fn give(&self, chunk: Chunk, equal: Option<Equal>) {
        let mut state = self.lock();
        state.free.push_back(chunk);
        state.equal.extend(equal);
        if state.model_waits && state.free.len() >= WAKE {
            state.model_waits = false;
            drop(state);
            self.freed.notify_one();
        }
    }

    /// The cycles that wait to be observed.
    pub(crate) fn equal(&self) -> Vec<Equal> {
        std::mem::take(&mut self.lock().equal)
    }

    /// What is left when both sides have ended: filled chunks, and free ones.
    pub(crate) fn into_chunks(self) -> (VecDeque<Chunk>, VecDeque<Chunk>) {
        let State { full, free, .. } = self.state.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        (full, free)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing is left half done with the lock.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
