//! Options of the hierarchy allocation.

use gpurf_isa::{LastResultFile, OrfEntry, Places};
use serde::{Deserialize, Serialize};

/// The hierarchy that code is compiled for, and the steps of the allocation that are enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HierarchyOptions {
    /// Entries of a thread in the ORF, 0 to 8.
    pub orf_entries: u8,
    /// The kind of LRF.
    pub lrf: LastResultFile,
    /// Values that find no entry lose their last reads (thesis 6.4.2).
    pub partial_ranges: bool,
    /// Registers that a region only reads get an entry too (thesis 6.4.3).
    pub read_operands: bool,
    /// Values may live across forward branches (thesis 6.4.4).
    pub forward_branches: bool,
    /// Levels that a result may go to.
    pub encoding: Encoding,
    /// Number of active warps, which determines the size of the ORF and so its energy.
    pub active_warps: u8,
    /// Number of ORF entries whose energies the allocation uses for its decisions; 0: `orf_entries`. For the limit
    /// study (thesis 6.6.3).
    pub priced_as: u8,
    /// The contents of ORF and LRF survive when a warp is descheduled. For the limit study (thesis 6.6.3): no hardware
    /// runs such code.
    pub keep_when_descheduled: bool,
}

/// Levels that a result may go to (thesis 6.5.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Any level, and the MRF together with a level above it.
    #[default]
    Free,
    /// One level only.
    SingleLevel,
    /// The MRF and the LRF together, but not the MRF and the ORF.
    LrfMrfOnly,
}

impl HierarchyOptions {
    /// Neither ORF nor LRF. All steps are enabled, for use as a base with an ORF or LRF added.
    pub const NONE: Self = Self {
        orf_entries: 0,
        lrf: LastResultFile::None,
        partial_ranges: true,
        read_operands: true,
        forward_branches: true,
        encoding: Encoding::Free,
        active_warps: 8,
        priced_as: 0,
        keep_when_descheduled: false,
    };

    /// The options for a machine with this many entries, this LRF and this many active warps, with all steps enabled.
    pub fn of_machine(orf_entries: usize, lrf: LastResultFile, active_warps: usize) -> Self {
        let number = |n: usize| u8::try_from(n).unwrap_or(u8::MAX);
        let active_warps = number(active_warps.max(1));
        Self { orf_entries: number(orf_entries), lrf, active_warps, ..Self::NONE }
    }

    /// Whether there is neither ORF nor LRF.
    pub const fn is_none(&self) -> bool {
        self.orf_entries == 0 && matches!(self.lrf, LastResultFile::None)
    }

    /// The places above the main register file.
    pub const fn places(&self) -> Places {
        Places { entries: self.orf_entries, lrf: self.lrf }
    }

    /// Checks the options. The error says what is wrong.
    pub fn check(&self) -> Result<(), String> {
        let most = OrfEntry::COUNT;
        for (name, entries) in [("orf_entries", self.orf_entries), ("priced_as", self.priced_as)] {
            if entries > most {
                return Err(format!("{name} is {entries}: an ORF has 0 to {most} entries"));
            }
        }
        if self.active_warps == 0 { Err("active_warps is 0: there is one at least".into()) } else { Ok(()) }
    }
}

impl Default for HierarchyOptions {
    fn default() -> Self {
        Self::NONE
    }
}
