//! Counted accesses, in groups of four lanes: an access of a warp register counts as the number of groups that have an active lane.

use serde::{Deserialize, Serialize};

/// Accesses to a level that every unit reaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Level {
    /// Operands read for the private datapath, the ALUs.
    pub private_reads: u64,
    /// Operands read for shared units: SFU, memory.
    pub shared_reads: u64,
    /// Reads that move a value to another level: evictions, flushes, write-backs.
    pub moving_reads: u64,
    /// Results of the private datapath written.
    pub private_writes: u64,
    /// Results of shared units written.
    pub shared_writes: u64,
    /// Writes of values that come from another level.
    pub moving_writes: u64,
}

impl Level {
    /// All reads.
    pub fn reads(&self) -> u64 {
        self.private_reads + self.shared_reads + self.moving_reads
    }

    /// All writes.
    pub fn writes(&self) -> u64 {
        self.private_writes + self.shared_writes + self.moving_writes
    }
}

/// Accesses to a level that only the private datapath reaches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PrivateLevel {
    /// Operands read.
    pub reads: u64,
    /// Reads that move a value to another level.
    pub moving_reads: u64,
    /// Results written.
    pub writes: u64,
}

/// Accesses to a register file and its upper levels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// The main register file.
    pub mrf: Level,
    /// The level above: RFC or ORF.
    pub upper: Level,
    /// The last result file.
    pub lrf: PrivateLevel,
}

impl Traffic {
    /// The same operands and results with no level above the MRF: the baseline that the papers normalise to. Nothing is moved there.
    pub fn flat(&self) -> Self {
        let (mrf, upper, lrf) = (&self.mrf, &self.upper, &self.lrf);
        let flat = Level {
            private_reads: mrf.private_reads + upper.private_reads + lrf.reads,
            shared_reads: mrf.shared_reads + upper.shared_reads,
            moving_reads: 0,
            private_writes: mrf.private_writes + upper.private_writes + lrf.writes,
            shared_writes: mrf.shared_writes + upper.shared_writes,
            moving_writes: 0,
        };
        Self { mrf: flat, ..Self::default() }
    }
}
