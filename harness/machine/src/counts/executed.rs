//! The instructions of each warp that fetch operands, with their lanes: all replays start from them, and the oracle checks them.

use std::collections::{BTreeMap, HashMap};

use gpurf_oracle::{Commit, Issue, Mask, Observer, WarpId};

use super::uses::Uses;
use crate::commits::{Digest, Observed, Sequences};

/// Instructions of each warp, as hash and length.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Executed(HashMap<WarpId, Digest>);

impl Executed {
    /// Adds the next instruction of a warp.
    pub fn add(&mut self, warp: WarpId, pc: u32, mask: Mask) {
        self.0.entry(warp).or_default().add(u64::from(pc) << 32 | u64::from(mask));
    }

    /// The first warp whose instructions differ, with their number on each side.
    pub fn difference(&self, other: &Self) -> Option<(WarpId, u32, u32)> {
        let warps: BTreeMap<_, _> = self.0.keys().chain(other.0.keys()).map(|&warp| (warp, ())).collect();
        warps.into_keys().find_map(|warp| {
            let [mine, theirs] = [self, other].map(|all| all.0.get(&warp).copied().unwrap_or_default());
            (mine != theirs).then(|| (warp, mine.count(), theirs.count()))
        })
    }
}

/// Records the oracle's commits, and the instructions that it executes.
#[derive(Default)]
pub struct Watched {
    /// The commits.
    pub observed: Observed<Sequences>,
    executed: Executed,
    /// The current instruction of each warp: in a replay the same atomic operation is reported several times.
    at: HashMap<WarpId, u64>,
}

impl Watched {
    /// The commits and the instructions.
    pub fn finish(self) -> (Sequences, Executed) {
        (self.observed.finish(), self.executed)
    }
}

impl Observer for Watched {
    const TRACES: bool = true;

    fn commit(&mut self, commit: &Commit<'_>) {
        self.observed.commit(commit);
    }

    fn issue(&mut self, at: &Issue<'_>) {
        if at.mask == 0 || !Uses::of(at.instruction).operands {
            return;
        }
        if self.at.insert(at.warp, at.number) != Some(at.number) {
            self.executed.add(at.warp, at.pc, at.mask);
        }
    }
}
