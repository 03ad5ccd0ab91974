//! The oracle's commits.

use std::collections::HashMap;

use gpurf_oracle::{Commit, Effect, Mask, Observer, WarpId, lanes_of};

use super::sequences::{Key, Kind, Sink, Write};

/// An atomic operation whose lanes come in several steps.
#[derive(Clone)]
struct Steps {
    /// Number of the instruction in its warp.
    number: u64,
    register: Option<u8>,
    mask: Mask,
    addresses: [u64; 32],
    values: [u32; 32],
}

/// Passes the oracle's reports on to a sink. In a replay an atomic operation comes in several steps, which together are one write.
#[derive(Default)]
pub struct Observed<S> {
    sink: S,
    /// The atomic operation that each warp is performing.
    steps: HashMap<WarpId, Steps>,
}

impl<S: Sink> Observed<S> {
    /// An observer before the launch.
    pub fn new(sink: S) -> Self {
        Self { sink, steps: HashMap::new() }
    }

    /// Returns the sink after the launch.
    pub fn finish(mut self) -> S {
        let mut rest: Vec<_> = std::mem::take(&mut self.steps).into_iter().collect();
        rest.sort_by_key(|(warp, _)| *warp);
        rest.iter().for_each(|(warp, steps)| self.whole(*warp, steps));
        self.sink
    }

    /// Passes on an atomic operation that is complete.
    fn whole(&mut self, warp: WarpId, steps: &Steps) {
        let memory = Key { warp, kind: Kind::Memory };
        self.sink.write(memory, &Write::atomic(steps.mask, &steps.addresses));
        if let Some(register) = steps.register {
            let key = Key { warp, kind: Kind::Register(register) };
            self.sink.write(key, &Write::register(steps.mask, &steps.values));
        }
    }
}

impl<S: Sink> Observer for Observed<S> {
    fn commit(&mut self, commit: &Commit<'_>) {
        let (warp, mask, number) = (commit.warp, commit.mask, commit.number);
        let under_way = self.steps.get(&warp).map(|steps| steps.number);
        if under_way.is_some_and(|at| at != number)
            && let Some(steps) = self.steps.remove(&warp)
        {
            self.whole(warp, &steps);
        }
        let key = |kind| Key { warp, kind };
        match commit.effect {
            Effect::Atomic { addresses, .. } => {
                let new = Steps { number, register: None, mask: 0, addresses: [0; 32], values: [0; 32] };
                let steps = self.steps.entry(warp).or_insert(new);
                steps.mask |= mask;
                lanes_of(mask).for_each(|lane| steps.addresses[lane] = addresses[lane]);
            }
            Effect::Register { register, values } => match self.steps.get_mut(&warp) {
                // The result of an atomic operation.
                Some(steps) => {
                    steps.register = Some(register);
                    lanes_of(mask).for_each(|lane| steps.values[lane] = values.0[lane]);
                }
                None => self.sink.write(key(Kind::Register(register)), &Write::register(mask, &values.0)),
            },
            Effect::Predicate { predicate, values } => {
                self.sink.write(key(Kind::Predicate(predicate)), &Write::predicate(mask, values));
            }
            Effect::Store { addresses, values, bytes } => {
                self.sink.write(key(Kind::Memory), &Write::store(mask, addresses, &values.0, bytes));
            }
        }
    }
}
