//! The control word's fields: what the register-file organisations need to know of an instruction.
//!
//! None of them changes what a program computes. A machine that has no use for a field ignores it.

use serde::{Deserialize, Serialize};

use crate::registers::{Reg, Slot};

/// An entry of a warp's part of the operand register file, 0 to 7.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OrfEntry(u8);

impl OrfEntry {
    /// Most entries of an active warp (hierarchy thesis, figure 6.10).
    pub const COUNT: u8 = 8;

    /// The entry of this number.
    pub const fn new(number: u8) -> Option<Self> {
        if number < Self::COUNT { Some(Self(number)) } else { None }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// A bank of the last result file: one for each operand slot when it is split (hierarchy thesis 6.2.2), else only bank 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LrfBank(u8);

impl LrfBank {
    /// Banks of a split LRF.
    pub const COUNT: u8 = 3;

    /// The bank of this number.
    pub const fn new(number: u8) -> Option<Self> {
        if number < Self::COUNT { Some(Self(number)) } else { None }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// How the last result file of a machine is made (hierarchy thesis 6.2.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastResultFile {
    /// There is none.
    #[default]
    None,
    /// One entry, which any source may read: bank 0.
    Unified,
    /// A bank of one entry for each source: a reads bank 0, b bank 1, c bank 2.
    Split,
}

impl LastResultFile {
    /// Number of banks.
    pub const fn banks(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Unified => 1,
            Self::Split => LrfBank::COUNT,
        }
    }

    /// Whether a source can be read in a bank.
    pub const fn serves(self, slot: Slot, bank: LrfBank) -> bool {
        match self {
            Self::None => false,
            Self::Unified => bank.0 == 0,
            Self::Split => bank.0 as usize == slot.index(),
        }
    }
}

/// A level above the MRF.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Upper {
    /// The operand register file.
    Orf(OrfEntry),
    /// The last result file.
    Lrf(LrfBank),
}

/// Where a source is read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum SourceLevel {
    /// In the main register file.
    #[default]
    Mrf,
    /// In the main register file, and what was read also goes to an ORF entry: read operand allocation (hierarchy thesis 6.4.3).
    MrfCopied(OrfEntry),
    /// In a level above.
    Upper(Upper),
}

/// Where the result is written: at most two levels, one of them the MRF (hierarchy thesis 6.4.5).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum ResultLevel {
    /// To the main register file.
    #[default]
    Mrf,
    /// To a level above only.
    Upper(Upper),
    /// To the main register file and a level above.
    Both(Upper),
}

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
    /// Reads or overwrites the result of a long-latency operation: the warp gives up its active slot before it issues, whatever its guard
    /// (RFC paper 3.2).
    pub deschedule: bool,
    /// The last instruction of its strand (hierarchy thesis 6.5.5): afterwards ORF and LRF are void.
    pub strand_end: bool,
    /// Where sources a, b, c are read.
    pub source_levels: [SourceLevel; 3],
    /// Where the result is written.
    pub result_level: ResultLevel,
    /// The result goes past the hardware LRF, as a shared unit will read it (hierarchy thesis 6.5.2).
    pub lrf_bypass: bool,
    /// The result goes past the RFC, as nothing reads it before the warp is descheduled (RFC paper 5.3).
    pub rfc_bypass: bool,
    /// Power states of the first two registers that the instruction reads (see [`crate::Instruction::power_sources`]). A third one sleeps.
    pub source_power: [PowerState; 2],
    /// Power state of the destination.
    pub result_power: PowerState,
    /// A register that is dead behind this instruction, where write stealing may park a value (stealing paper IV-C).
    pub free_register: Option<Reg>,
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
