//! The oracle's results of launches, shared by engines of several machines that run the same launches.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};

use gpurf_oracle::Memory;
use gpurf_oracle::host::KernelLaunch;

/// Maximum number of bytes of all memories that are kept.
const ROOM: u64 = 32 << 20;

/// Results of launches on the oracle, shared by the engines of a kernel ([`SampledEngine::sharing`](super::SampledEngine::sharing)).
#[derive(Default, Debug)]
pub struct Foreseen(Mutex<Found>);

#[derive(Default, Debug)]
struct Found {
    /// Results by a digest of everything that determines them.
    outcomes: HashMap<u64, Outcome>,
    /// Bytes of their memories.
    bytes: u64,
}

/// The result of a launch.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Instructions of warps.
    pub instructions: u64,
    /// Memory after the launch.
    pub after: Arc<Memory>,
}

impl Foreseen {
    pub(super) fn get(&self, launch: u64) -> Option<Outcome> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).outcomes.get(&launch).cloned()
    }

    /// Keeps a result if there is room for its memory.
    pub(super) fn keep(&self, launch: u64, outcome: &Outcome) {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: u64 = outcome.after.buffers().iter().map(|buffer| u64::from(buffer.size())).sum();
        if found.bytes + bytes <= ROOM && !found.outcomes.contains_key(&launch) {
            found.bytes += bytes;
            found.outcomes.insert(launch, outcome.clone());
        }
    }
}

/// A digest of everything that determines the result of a launch: code, sizes, constants, and all of memory.
pub(super) fn digest(launch: &KernelLaunch<'_>, memory: &Memory) -> u64 {
    let mut digest = DefaultHasher::new();
    let (kernel, geometry) = (launch.kernel, launch.geometry);
    (&kernel.name, &kernel.code, kernel.registers, kernel.static_shared, kernel.local_bytes).hash(&mut digest);
    (geometry.grid, geometry.block, geometry.dynamic_shared, launch.constant).hash(&mut digest);
    for buffer in memory.buffers() {
        (buffer.address(), buffer.size()).hash(&mut digest);
        buffer.words().iter().for_each(|word| digest.write_u32(word.load(Relaxed)));
    }
    digest.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(bytes: usize) -> Outcome {
        let mut memory = Memory::default();
        memory.add("buffer", &vec![0; bytes]).unwrap();
        Outcome { instructions: 7, after: Arc::new(memory) }
    }

    #[test]
    fn outcomes_are_kept_once_while_there_is_room_for_their_memory() {
        let foreseen = Foreseen::default();
        assert!(foreseen.get(1).is_none());
        let half = ROOM as usize / 2;
        for (launch, bytes) in [(1, half), (1, half), (2, half + 4), (3, half), (4, 4)] {
            foreseen.keep(launch, &outcome(bytes));
        }
        let kept = [1, 2, 3, 4].map(|launch| foreseen.get(launch).map(|found| found.instructions));
        assert_eq!(kept, [Some(7), None, Some(7), None]);
    }
}
