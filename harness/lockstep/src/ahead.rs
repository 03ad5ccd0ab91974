//! Queue of chunks between the model's thread and the RTL's thread.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};

use crate::trail::Chunk;
use crate::watch::{Equal, Watch};

/// Chunks by which the model may be ahead of the RTL.
pub(crate) const AHEAD: usize = 8;

/// Chunks that wake a waiting thread: it is woken when it has this many to work on, because waking it for every single chunk costs too much time.
const WAKE: usize = AHEAD / 2;

/// Limit of chunks that wait to be observed. A waiting thread observes chunks; at this limit the model's thread observes before it continues.
const UNOBSERVED: usize = AHEAD;

/// The queue that both threads share.
pub(crate) struct Queue<'a> {
    state: Mutex<State>,
    /// The observers of the cycles that were found equal; either thread calls them. A thread that needs both locks takes this one before `state`.
    watch: Mutex<Watch<'a>>,
    /// The RTL's thread waits here for filled chunks.
    filled: Condvar,
    /// The model's thread waits here for free chunks.
    freed: Condvar,
}

#[derive(Default)]
struct State {
    full: VecDeque<Chunk>,
    free: VecDeque<Chunk>,
    /// Cycles that wait to be observed, in their order.
    equal: VecDeque<Equal>,
    /// One of the two threads has ended: the other one must not wait any more.
    over: bool,
    rtl_waits: bool,
    model_waits: bool,
}

/// Ends the waiting of both threads when it is dropped, whatever the reason.
pub(crate) struct End<'q, 'a>(&'q Queue<'a>);

impl Drop for End<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.filled.notify_one();
        self.0.freed.notify_one();
    }
}

impl<'a> Queue<'a> {
    /// Makes a queue with these chunks to fill, the first one first.
    pub(crate) fn new(free: VecDeque<Chunk>, watch: Watch<'a>) -> Self {
        let state = Mutex::new(State { free, ..State::default() });
        Self { state, watch: Mutex::new(watch), filled: Condvar::new(), freed: Condvar::new() }
    }

    /// Gives a guard: when the thread that holds it drops it, the other thread stops waiting.
    pub(crate) fn end_with_this(&self) -> End<'_, 'a> {
        End(self)
    }

    /// Takes a chunk to fill. `None`: the RTL does not follow any more.
    pub(crate) fn free(&self) -> Option<Chunk> {
        while self.lock().equal.len() >= UNOBSERVED && self.observe() {}
        let mut state = self.wait(&self.freed, |state| &mut state.model_waits, |state| !state.free.is_empty());
        if state.over { None } else { state.free.pop_front() }
    }

    /// Hands over a filled chunk to the RTL's thread.
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

    /// Takes the next filled chunk. `None`: there are no more.
    pub(crate) fn take(&self) -> Option<Chunk> {
        let mut state = self.wait(&self.filled, |state| &mut state.rtl_waits, |state| !state.full.is_empty());
        state.full.pop_front()
    }

    /// Waits until the thread has work or one of the two threads has ended. Meanwhile the thread observes cycles.
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

    /// Observes the cycles of one chunk, unless no chunk waits or the other thread is observing. Returns whether a chunk was observed.
    fn observe(&self) -> bool {
        let Ok(mut watch) = self.watch.try_lock() else { return false };
        let Some(equal) = self.lock().equal.pop_front() else { return false };
        watch.see(&equal);
        if watch.panicked.is_some() {
            self.lock().over = true;
        }
        true
    }

    /// Returns a chunk to be filled, and adds cycles to be observed.
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

    /// What remains when both threads have ended: filled chunks, free chunks, and the observers, which have seen all cycles found equal.
    pub(crate) fn end(self) -> (VecDeque<Chunk>, VecDeque<Chunk>, Watch<'a>) {
        let State { full, free, equal, .. } = self.state.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut watch = self.watch.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        equal.iter().for_each(|equal| watch.see(equal));
        (full, free, watch)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A poisoned lock can be used: no change of the state is interrupted halfway.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
