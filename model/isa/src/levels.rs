//! Levels of operands in a register hierarchy of ORF, LRF and MRF: types, bits, text.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::registers::Slot;

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

    /// The number of the entry.
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

    /// The number of the bank.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// The organisation of a machine's last result file (hierarchy thesis 6.2.2).
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

    /// Whether a source can be read from a bank.
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
    /// In the main register file; the value is also copied to an ORF entry: read operand allocation (hierarchy thesis 6.4.3).
    MrfCopied(OrfEntry),
    /// In a level above the MRF.
    Upper(Upper),
}

/// Where the result is written: at most two levels, one of them the MRF (hierarchy thesis 6.4.5).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum ResultLevel {
    /// To the main register file.
    #[default]
    Mrf,
    /// To a level above the MRF only.
    Upper(Upper),
    /// To the main register file and a level above.
    Both(Upper),
}

/// The places above the MRF that a machine has. On that machine a level that names another place means the MRF.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Places {
    /// Entries of the ORF.
    pub entries: u8,
    /// The LRF.
    pub lrf: LastResultFile,
}

impl Places {
    /// The places of a machine that has only the MRF: none.
    pub const NONE: Self = Self { entries: 0, lrf: LastResultFile::None };

    /// Whether the machine has a place.
    pub const fn has(self, place: Upper) -> bool {
        match place {
            Upper::Orf(entry) => entry.0 < self.entries,
            Upper::Lrf(bank) => bank.0 < self.lrf.banks(),
        }
    }
}

/// The bit for the MRF in addition to a level above it.
const ALSO_MRF: u32 = 1 << 4;

/// The bits of a level above the MRF: 1 to 8 for ORF entries, 9 to 11 for LRF banks.
fn upper_bits(upper: Upper) -> u32 {
    match upper {
        Upper::Orf(entry) => 1 + u32::from(entry.number()),
        Upper::Lrf(bank) => 1 + u32::from(OrfEntry::COUNT) + u32::from(bank.number()),
    }
}

fn upper(bits: u32) -> Option<Upper> {
    let number = (bits & (ALSO_MRF - 1)).checked_sub(1)? as u8;
    match OrfEntry::new(number) {
        Some(entry) => Some(Upper::Orf(entry)),
        None => LrfBank::new(number - OrfEntry::COUNT).map(Upper::Lrf),
    }
}

/// A source's level in the control word.
pub(crate) fn source_level_bits(level: SourceLevel) -> u32 {
    match level {
        SourceLevel::Mrf => 0,
        SourceLevel::Upper(level) => upper_bits(level),
        SourceLevel::MrfCopied(entry) => ALSO_MRF | upper_bits(Upper::Orf(entry)),
    }
}

/// The level that these bits encode.
pub(crate) fn source_level(bits: u32) -> Option<SourceLevel> {
    match (bits, upper(bits)) {
        (0, _) => Some(SourceLevel::Mrf),
        (_, Some(Upper::Orf(entry))) if bits & ALSO_MRF != 0 => Some(SourceLevel::MrfCopied(entry)),
        (_, Some(level)) if bits & ALSO_MRF == 0 => Some(SourceLevel::Upper(level)),
        _ => None,
    }
}

/// The result's level in the control word.
pub(crate) fn result_level_bits(level: ResultLevel) -> u32 {
    match level {
        ResultLevel::Mrf => 0,
        ResultLevel::Upper(level) => upper_bits(level),
        ResultLevel::Both(level) => ALSO_MRF | upper_bits(level),
    }
}

/// The level that these bits encode.
pub(crate) fn result_level(bits: u32) -> Option<ResultLevel> {
    match (bits, upper(bits)) {
        (0, _) => Some(ResultLevel::Mrf),
        (_, Some(level)) if bits & ALSO_MRF != 0 => Some(ResultLevel::Both(level)),
        (_, Some(level)) => Some(ResultLevel::Upper(level)),
        _ => None,
    }
}

impl fmt::Display for Upper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Orf(entry) => write!(f, "ORF{}", entry.number()),
            Self::Lrf(bank) => write!(f, "LRF{}", bank.number()),
        }
    }
}

impl fmt::Display for SourceLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mrf => f.write_str("MRF"),
            Self::MrfCopied(entry) => write!(f, "MRF>{}", Upper::Orf(*entry)),
            Self::Upper(level) => write!(f, "{level}"),
        }
    }
}

impl fmt::Display for ResultLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mrf => f.write_str("MRF"),
            Self::Upper(level) => write!(f, "{level}"),
            Self::Both(level) => write!(f, "MRF+{level}"),
        }
    }
}

fn read_upper(text: &str) -> Option<Upper> {
    match text.split_at_checked(3)? {
        ("ORF", number) => number.parse().ok().and_then(OrfEntry::new).map(Upper::Orf),
        ("LRF", number) => number.parse().ok().and_then(LrfBank::new).map(Upper::Lrf),
        _ => None,
    }
}

/// Reads what `Display` writes.
pub(crate) fn read_source_level(text: &str) -> Option<SourceLevel> {
    match (text, text.strip_prefix("MRF>")) {
        ("MRF", _) => Some(SourceLevel::Mrf),
        (_, Some(copy)) => match read_upper(copy)? {
            Upper::Orf(entry) => Some(SourceLevel::MrfCopied(entry)),
            Upper::Lrf(_) => None,
        },
        (level, None) => read_upper(level).map(SourceLevel::Upper),
    }
}

/// Reads what `Display` writes.
pub(crate) fn read_result_level(text: &str) -> Option<ResultLevel> {
    match (text, text.strip_prefix("MRF+")) {
        ("MRF", _) => Some(ResultLevel::Mrf),
        (_, Some(level)) => read_upper(level).map(ResultLevel::Both),
        (level, None) => read_upper(level).map(ResultLevel::Upper),
    }
}
