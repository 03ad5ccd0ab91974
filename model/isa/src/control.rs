//! The control word's fields: what the register-file organisations need to know of an instruction.
//!
//! None of them changes what a program computes. A machine that has no use for a field ignores it.

use crate::cache_marks::CacheMarks;
use crate::levels::{ResultLevel, SourceLevel};
use crate::registers::{Reg, Slot};

/// The power state of a register after the instruction (sharing thesis 4.2.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum PowerState {
    /// Ready to be read.
    #[default]
    On,
    /// At a voltage that keeps its value.
    Sleep,
    /// Without power: its value is lost.
    Off,
}

/// The control fields of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Control {
    /// For sources a, b, c: no lane that executes this instruction reads the register's value again (RFC paper 3.1).
    pub last_read: [bool; 3],
    /// Whether it reads or overwrites the result of a long-latency operation: the warp gives up its active slot before the instruction issues,
    /// whatever its guard (RFC paper 3.2).
    pub deschedule: bool,
    /// Whether it is the last instruction of its strand (hierarchy thesis 6.5.5): ORF and LRF are void afterwards.
    pub strand_end: bool,
    /// Where sources a, b, c are read.
    pub source_levels: [SourceLevel; 3],
    /// Where the result is written.
    pub result_level: ResultLevel,
    /// Levels of a register file cache that the result bypasses.
    pub bypass: CacheMarks,
    /// Power states of the first two registers that the instruction reads (see [`crate::Instruction::power_sources`]). A third one sleeps.
    pub source_power: [PowerState; 2],
    /// Power state of the destination.
    pub result_power: PowerState,
    /// A register that is dead after this instruction, where write stealing may park a value (stealing paper IV-C).
    pub free_register: Option<Reg>,
    /// Whether it is an access to shared memory in which no lane touches the part that two blocks share (sharing thesis 2.2.2).
    pub private: bool,
}

impl Control {
    /// Whether the executing lanes read a source's register for the last time.
    pub const fn is_last_read(&self, slot: Slot) -> bool {
        self.last_read[slot.index()]
    }

    /// Where a source is read.
    pub const fn source_level(&self, slot: Slot) -> SourceLevel {
        self.source_levels[slot.index()]
    }
}
