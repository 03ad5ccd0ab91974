//! Which instructions each warp sends for operands, and with which lanes: what all counts begin with, and what the oracle judges.

use std::collections::{BTreeMap, HashMap};

use gpurf_oracle::{Commit, Issue, Mask, Observer, WarpId};

use super::uses::Uses;
use crate::commits::{Digest, Observed, Sequences};

/// Instructions of each warp, in short.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Executed(HashMap<WarpId, Digest>);

impl Executed {
    /// The next one of a warp.
    pub fn add(&mut self, warp: WarpId, pc: u32, mask: Mask) {
        self.0.entry(warp).or_default().add(u64::from(pc) << 32 | u64::from(mask));
    }

    /// The first warp whose instructions are not those of the other one, with the number of them in each.
    pub fn difference(&self, other: &Self) -> Option<(WarpId, u32, u32)> {
        let warps: BTreeMap<_, _> = self.0.keys().chain(other.0.keys()).map(|&warp| (warp, ())).collect();
        warps.into_keys().find_map(|warp| {
            let [mine, theirs] = [self, other].map(|all| all.0.get(&warp).copied().unwrap_or_default());
            (mine != theirs).then(|| (warp, mine.count(), theirs.count()))
        })
    }
}

/// Commits of the oracle, and the instructions that it executes.
#[derive(Default)]
pub struct Watched {
    /// What it commits.
    pub observed: Observed<Sequences>,
    executed: Executed,
    /// Which instruction each warp was at: a replay comes by an atomic operation several times.
    at: HashMap<WarpId, u64>,
}

impl Watched {
    /// Commits and instructions.
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
