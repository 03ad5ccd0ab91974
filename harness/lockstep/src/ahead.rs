//! Chunks on their way from the model's thread to the RTL's, and back.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};

use crate::trail::Chunk;
use crate::watch::{Equal, Watch};

/// Chunks that the model may be ahead.
pub(crate) const AHEAD: usize = 8;

/// Whoever waits is woken when it has so many chunks to work on: a thread that is woken for each one of them spends its time on that.
const WAKE: usize = AHEAD / 2;

/// Chunks that may wait to be observed: a thread observes them while it would wait for the other one, but the model's thread lets no more pile up.
const UNOBSERVED: usize = AHEAD;

/// Between the two threads.
pub(crate) struct Queue<'a> {
    state: Mutex<State>,
    /// What sees the cycles that were found equal: either thread calls it. Locked before the state where both are.
    watch: Mutex<Watch<'a>>,
    /// The RTL's thread waits here.
    filled: Condvar,
    /// The model's thread waits here.
    freed: Condvar,
}

#[derive(Default)]
struct State {
    full: VecDeque<Chunk>,
    free: VecDeque<Chunk>,
    /// Cycles that wait to be observed, in their order.
    equal: VecDeque<Equal>,
    /// One of the two has ended: the other one need not wait for anything.
    over: bool,
    rtl_waits: bool,
    model_waits: bool,
}

/// Ends the other side's waiting when it is dropped, whatever the reason.
pub(crate) struct End<'q, 'a>(&'q Queue<'a>);

impl Drop for End<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.filled.notify_one();
        self.0.freed.notify_one();
    }
}

impl<'a> Queue<'a> {
    /// With chunks to fill, the first one first.
    pub(crate) fn new(free: VecDeque<Chunk>, watch: Watch<'a>) -> Self {
        let state = Mutex::new(State { free, ..State::default() });
        Self { state, watch: Mutex::new(watch), filled: Condvar::new(), freed: Condvar::new() }
    }

    /// The side that holds this ends with it.
    pub(crate) fn end_with_this(&self) -> End<'_, 'a> {
        End(self)
    }

    /// A chunk to fill. `None`: the RTL does not follow any more.
    pub(crate) fn free(&self) -> Option<Chunk> {
        while self.lock().equal.len() >= UNOBSERVED && self.observe() {}
        let mut state = self.wait(&self.freed, |state| &mut state.model_waits, |state| !state.free.is_empty());
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
        let mut state = self.wait(&self.filled, |state| &mut state.rtl_waits, |state| !state.full.is_empty());
        state.full.pop_front()
    }

    /// Waits until there is something to do for a thread, or one of the two has ended. Meanwhile it observes cycles.
    fn wait(
        &self,
        woken: &Condvar,
        waits: fn(&mut State) -> &mut bool,
        has_work: fn(&State) -> bool,
    ) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        let mut may_observe = true;
        while !has_work(&state) && !state.over {
            if may_observe && !state.equal.is_empty() {
                drop(state);
                may_observe = self.observe();
                state = self.lock();
            } else {
                *waits(&mut state) = true;
                state = woken.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
                *waits(&mut state) = false;
                may_observe = true;
            }
        }
        state
    }

    /// Observes the cycles of a chunk, unless none wait or the other thread does it. Whether it did.
    fn observe(&self) -> bool {
        let Ok(mut watch) = self.watch.try_lock() else { return false };
        let Some(equal) = self.lock().equal.pop_front() else { return false };
        watch.see(&equal);
        if watch.panicked.is_some() {
            self.lock().over = true;
        }
        true
    }

    /// Gives a chunk to be filled, and cycles to be observed.
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

    /// What is left when both sides have ended: filled chunks, free ones, and what has seen all cycles that were found equal.
    pub(crate) fn end(self) -> (VecDeque<Chunk>, VecDeque<Chunk>, Watch<'a>) {
        let State { full, free, equal, .. } = self.state.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut watch = self.watch.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        equal.iter().for_each(|equal| watch.see(equal));
        (full, free, watch)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing is left half done with the lock.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
