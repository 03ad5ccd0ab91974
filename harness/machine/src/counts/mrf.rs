//! A replay of the main register file: the registers that an instruction reads and those that a result writes.

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MRF_EVENT;
use gpurf_oracle::levels::groups;

use super::seen::Seen;
use super::words::{Place, Tally, Word};

/// Accesses of the main register file.
pub const ACCESSES: Word =
    Word { fields: MRF_EVENT, at: Place::MainFile, only: &["read", "read_groups", "write", "write_groups"] };

/// A file that reads each register of an instruction once and writes each result once.
pub struct Replay;

impl Replay {
    /// The replay does not depend on the configuration.
    pub fn new(_: &Config) -> Self {
        Self
    }
}

impl super::Replay for Replay {
    fn observe(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        for taken in seen.taken.iter().flatten() {
            let reads = taken.uses.sources.iter().flatten().count() as u64;
            tally.add("read", reads);
            tally.add("read_groups", reads * groups(taken.mask));
        }
        for part in seen.results.iter().flatten() {
            tally.add("write", 1u64);
            tally.add("write_groups", groups(part.mask));
        }
    }
}
