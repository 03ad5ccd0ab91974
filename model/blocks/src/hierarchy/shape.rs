//! Sizes of the register hierarchy that software manages, and the numbers of its places.

use crate::Shape;
pub use crate::design::PLACE_SET_BITS;
pub use crate::instruction::marked::LEVEL_BITS;
use gpurf_isa::LastResultFile;

use crate::config::Config;
use crate::mrf::MrfShape;
use crate::operands::FrontShape;
use crate::sizes::{MAX_ACTIVE, width};

/// Largest number of entries of an ORF: places 0 to 7.
pub const MAX_ORF_ENTRIES: usize = 8;
/// Largest number of banks of an LRF: places from 8 on.
pub const MAX_LRF_BANKS: usize = 3;
/// Number of places.
pub const PLACES: usize = MAX_ORF_ENTRIES + MAX_LRF_BANKS;
/// Capacity of the twins: places of all slots.
pub const MAX_PLACES: usize = MAX_ACTIVE * PLACES;
const _: () = assert!(PLACES == PLACE_SET_BITS as usize, "a set of places has a bit for each");
/// Width of the number of a place.
pub const PLACE_BITS: u32 = 4;
/// Width of an entry's number, and of a bank's.
pub const ENTRY_BITS: u32 = 3;
/// Width of a bank's number.
pub const BANK_BITS: u32 = 2;

/// Sizes of ORF and LRF, and of the register file behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HierarchyShape {
    /// The main register file; its tag is the number of an instruction's place in the operand stage.
    pub mrf: MrfShape,
    /// Resident warps.
    pub warps: usize,
    /// Slots of the two-level scheduler: a multiple of the issue ports.
    pub active: usize,
    /// Entries of the ORF for each slot: 1 to 8.
    pub entries: usize,
    /// Banks of the LRF, each with an entry for each slot: 0, 1 (unified), 3 (split).
    pub lrf_banks: usize,
}

impl HierarchyShape {
    /// Issue ports; as many sets of arrays and result buses.
    pub fn ports(&self) -> usize {
        self.mrf.issue_ports
    }

    /// Slots of a port.
    pub fn port_slots(&self) -> usize {
        (self.active / self.ports()).max(1)
    }

    /// Places that a slot has.
    pub fn places(&self) -> usize {
        self.entries + self.lrf_banks
    }

    /// Words of the ORF of a port.
    pub fn words(&self) -> usize {
        self.port_slots() * self.entries
    }

    /// Largest number of instructions in the operand stage.
    pub fn tags(&self) -> usize {
        self.mrf.collectors
    }

    /// Width of the tag of an instruction.
    pub fn tag_w(&self) -> u32 {
        width(self.tags())
    }

    /// Width of a slot's number.
    pub fn slot_w(&self) -> u32 {
        width(self.active).max(1)
    }

    /// Width of the number of a slot within its port.
    pub fn local_w(&self) -> u32 {
        width(self.port_slots()).max(1)
    }

    /// Width of the number of a word of the ORF.
    pub fn index_w(&self) -> u32 {
        width(self.words()).max(1)
    }

    /// The array element for a place of a slot, if both exist.
    #[inline]
    pub(crate) fn element(&self, slot: usize, place: usize) -> Option<usize> {
        let within = match place {
            0..MAX_ORF_ENTRIES => (place < self.entries).then_some(place),
            _ => (place - MAX_ORF_ENTRIES < self.lrf_banks).then_some(place - MAX_ORF_ENTRIES + self.entries),
        };
        within.filter(|_| slot < self.active).map(|within| self.places() * slot + within)
    }

    /// The sizes of the latches that collect operands.
    pub fn front(&self) -> FrontShape {
        FrontShape { mrf: self.mrf, tags: self.tags() }
    }
}

impl Shape for HierarchyShape {
    /// Where the configuration has no slots or no ORF, the sizes of the preset `lrf-orf-split`: the block can be run alone in any configuration.
    fn of(config: &Config) -> Self {
        let (entries, banks) =
            if config.orf.entries == 0 { (3, LastResultFile::Split) } else { (config.orf.entries, config.lrf.banks) };
        let mut shape = Self {
            mrf: MrfShape { places: false, ..config.shape() },
            warps: config.sm.warps,
            active: if config.sm.active_warps == 0 { 8 } else { config.sm.active_warps },
            entries,
            lrf_banks: banks.banks().into(),
        };
        shape.mrf.tag_w = shape.tag_w();
        shape
    }

    fn parameter(&self, name: &str) -> u64 {
        match name {
            "Warps" => self.warps as u64,
            "Active" => self.active as u64,
            "Entries" => self.entries as u64,
            "LrfBanks" => self.lrf_banks as u64,
            "Slots" => self.port_slots() as u64,
            "Tags" => self.tags() as u64,
            _ => self.mrf.parameter(name),
        }
    }
}

/// Sizes of ORF and LRF that differ in every field.
#[cfg(test)]
pub(crate) const HIERARCHY_SHAPES: [HierarchyShape; 3] = [
    HierarchyShape { mrf: MrfShape { tag_w: 3, ..MrfShape::BASELINE }, warps: 32, active: 8, entries: 3, lrf_banks: 3 },
    HierarchyShape {
        mrf: MrfShape {
            banks: 4,
            dual_port: true,
            collectors: 4,
            issue_ports: 2,
            depth: 32,
            tag_w: 2,
            places: false,
            unified: false,
            separate: false,
        },
        warps: 8,
        active: 6,
        entries: 1,
        lrf_banks: 1,
    },
    HierarchyShape {
        mrf: MrfShape {
            banks: 4,
            dual_port: false,
            collectors: 16,
            issue_ports: 2,
            depth: 32,
            tag_w: 4,
            places: false,
            unified: false,
            separate: false,
        },
        warps: 48,
        active: 48,
        entries: 8,
        lrf_banks: 0,
    },
];
