//! The sizes of the register file cache.

use crate::Shape;
use crate::config::Config;
use crate::mrf::MrfShape;
use crate::operands::{FrontShape, front_places};
use crate::sizes::{MAX_ACTIVE, width};

/// Capacity of the twins: entries of the register file cache for each slot.
pub const MAX_ENTRIES: usize = 16;
/// Capacity of the twins: entries of a cache.
pub const MAX_CACHED: usize = MAX_ACTIVE * MAX_ENTRIES;

/// Sizes of the register file cache and of the main register file below it; see `docs/blocks/rfc.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RfcShape {
    /// The main register file; its tags are those of the cache.
    pub mrf: MrfShape,
    /// Resident warps.
    pub warps: usize,
    /// Slots: a multiple of the issue ports.
    pub active: usize,
    /// Entries of the cache for each slot: 1 to 16.
    pub entries: usize,
    /// An LRF above the cache.
    pub lrf: bool,
    /// Reads allocate in the cache.
    pub reads: bool,
    /// A result that goes around the cache leaves its latch when the main register file's queue takes it.
    pub release: bool,
    /// The words of the main register file have power states.
    pub power: bool,
}

impl RfcShape {
    /// Whether there are further blocks between the blocks: an LRF, or the fills of reads that allocate.
    pub fn is_extended(&self) -> bool {
        self.lrf || self.reads
    }

    /// Number of issue ports, of caches and of result buses.
    pub fn ports(&self) -> usize {
        self.mrf.issue_ports
    }

    /// Number of slots of a cache.
    pub fn cache_slots(&self) -> usize {
        (self.active / self.ports()).max(1)
    }

    /// Number of entries of a cache.
    pub fn words(&self) -> usize {
        self.cache_slots() * self.entries
    }

    /// Maximum number of instructions in the operand stage.
    pub fn tags(&self) -> usize {
        self.mrf.collectors + front_places(self.ports())
    }

    /// The sizes of the latches in which operands are merged.
    pub fn front(&self) -> FrontShape {
        FrontShape { mrf: self.mrf, tags: self.tags() }
    }

    /// Width of a slot's number.
    pub fn slot_w(&self) -> u32 {
        width(self.active).max(1)
    }

    /// Width of the number of a slot within its cache.
    pub fn local_w(&self) -> u32 {
        width(self.cache_slots()).max(1)
    }

    /// Width of the number of an entry of a cache.
    pub fn index_w(&self) -> u32 {
        width(self.words()).max(1)
    }

    /// Width of the number of an entry of a slot.
    pub fn entry_number_w(&self) -> u32 {
        width(self.entries).max(1)
    }

    /// Width of the tag of an instruction.
    pub fn tag_w(&self) -> u32 {
        width(self.tags())
    }
}

impl Shape for RfcShape {
    /// Without slots or a cache in the configuration, the sizes of the preset `rfc`: a block can run alone in any configuration.
    fn of(config: &Config) -> Self {
        let or = |chosen: usize, preset: usize| if chosen == 0 { preset } else { chosen };
        let mut shape = Self {
            mrf: MrfShape { places: false, ..config.shape() },
            warps: config.sm.warps,
            active: or(config.sm.active_warps, 8),
            entries: or(config.rfc.entries, 6),
            lrf: config.rfc.lrf,
            reads: config.rfc.reads,
            release: config.rfc.release,
            power: config.power.present,
        };
        shape.mrf.tag_w = shape.tag_w();
        shape
    }

    fn parameter(&self, name: &str) -> u64 {
        match name {
            "Warps" => self.warps as u64,
            "Active" => self.active as u64,
            "Entries" => self.entries as u64,
            "Lrf" => self.lrf.into(),
            "Reads" => self.reads.into(),
            "Release" => self.release.into(),
            "Power" => {
                if self.power {
                    self.warps as u64
                } else {
                    0
                }
            }
            "Slots" => self.cache_slots() as u64,
            "Tags" => self.tags() as u64,
            _ => self.mrf.parameter(name),
        }
    }
}

/// Sizes of caches that differ in every parameter.
#[cfg(test)]
pub(crate) const RFC_SHAPES: [RfcShape; 3] = [
    RfcShape {
        mrf: MrfShape { tag_w: 4, ..MrfShape::BASELINE },
        warps: 32,
        active: 8,
        entries: 6,
        lrf: false,
        reads: false,
        release: false,
        power: false,
    },
    RfcShape {
        mrf: MrfShape {
            banks: 4,
            dual_port: true,
            collectors: 4,
            issue_ports: 2,
            depth: 32,
            tag_w: 3,
            places: false,
            unified: false,
            separate: false,
        },
        warps: 8,
        active: 6,
        entries: 1,
        lrf: false,
        reads: false,
        release: true,
        power: false,
    },
    RfcShape {
        mrf: MrfShape {
            banks: 4,
            dual_port: false,
            collectors: 4,
            issue_ports: 2,
            depth: 32,
            tag_w: 3,
            places: false,
            unified: false,
            separate: false,
        },
        warps: 8,
        active: 6,
        entries: 3,
        lrf: true,
        reads: true,
        release: false,
        power: true,
    },
];
