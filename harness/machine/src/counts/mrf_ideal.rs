//! The register file without conflicts, followed: its accesses are those of the main register file.

use gpurf_blocks::config::Config;

use super::mrf;
use super::seen::Seen;
use super::words::Tally;

/// A file that reads each register of an instruction once and writes each result once.
pub struct Replay(mrf::Replay);

impl Replay {
    /// As a configuration has it.
    pub fn new(_: &Config) -> Self {
        Self(mrf::Replay)
    }
}

impl super::Replay for Replay {
    fn observe(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        super::Replay::observe(&mut self.0, seen, tally);
    }
}
