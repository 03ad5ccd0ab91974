//! Constants of a machine, and the energy of its traffic.

use crate::tables::{Access, LRF, MRF, Table, WIRE};
use crate::traffic::{Level, Traffic};

/// The distance of a level from the units that use it, in mm.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Distance {
    /// From the private datapath.
    pub private: f64,
    /// From the shared units.
    pub shared: f64,
}

impl Distance {
    /// The distance from the units that an access is for.
    pub const fn to(&self, private: bool) -> f64 {
        if private { self.private } else { self.shared }
    }
}

/// The energies of accesses and wires.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Energies {
    /// Accesses to the MRF.
    pub mrf: Access,
    /// Accesses to the RFC or ORF.
    pub upper: Access,
    /// Accesses to the LRF.
    pub lrf: Access,
    /// Energy of 32 bits over one millimetre, in pJ.
    pub wire: f64,
    /// Distance to the MRF.
    pub mrf_distance: Distance,
    /// Distance to the RFC or ORF.
    pub upper_distance: Distance,
    /// Distance from the LRF to the private datapath, in mm.
    pub lrf_distance: f64,
}

impl Energies {
    /// Words of 32 bits in an access.
    const WORDS: f64 = 4.0;

    /// The RFC paper's machine (tables 2 and 3, 5.4): the MRF at 1 mm, the RFC at 0.2 mm. The paper has one distance for all units, and no LRF.
    pub fn rfc_paper(entries: u32, active_warps: u32) -> Self {
        Self {
            upper: Table::RfcPaper.access(entries, active_warps),
            upper_distance: Distance { private: 0.2, shared: 0.2 },
            ..Self::thesis(entries, active_warps)
        }
    }

    /// The hierarchy thesis's machine (tables 4.5 and 4.6).
    pub fn thesis(entries: u32, active_warps: u32) -> Self {
        Self {
            mrf: MRF,
            upper: Table::Thesis.access(entries, active_warps),
            lrf: LRF,
            wire: WIRE,
            mrf_distance: Distance { private: 1.0, shared: 1.0 },
            upper_distance: Distance { private: 0.2, shared: 0.4 },
            lrf_distance: 0.05,
        }
    }

    /// A read of the MRF, for the private datapath or a shared unit, with its wire.
    pub fn mrf_read(&self, private: bool) -> f64 {
        self.mrf.read + self.wire(1, self.mrf_distance.to(private))
    }

    /// A write of the MRF, with its wire.
    pub fn mrf_write(&self, private: bool) -> f64 {
        self.mrf.write + self.wire(1, self.mrf_distance.to(private))
    }

    /// A read of the RFC or ORF, with its wire.
    pub fn upper_read(&self, private: bool) -> f64 {
        self.upper.read + self.wire(1, self.upper_distance.to(private))
    }

    /// A write of the RFC or ORF, with its wire.
    pub fn upper_write(&self, private: bool) -> f64 {
        self.upper.write + self.wire(1, self.upper_distance.to(private))
    }

    /// A read of the LRF, with its wire.
    pub fn lrf_read(&self) -> f64 {
        self.lrf.read + self.wire(1, self.lrf_distance)
    }

    /// A write of the LRF, with its wire.
    pub fn lrf_write(&self) -> f64 {
        self.lrf.write + self.wire(1, self.lrf_distance)
    }

    /// The energy of accesses. Values that move between levels cost their accesses and no wire, as in the papers.
    pub fn of(&self, traffic: &Traffic) -> Energy {
        let lrf = &traffic.lrf;
        let accesses = |cost: Access, reads: u64, writes: u64| cost.read * reads as f64 + cost.write * writes as f64;
        let level = |cost, level: &Level, way: Distance| Part {
            access: accesses(cost, level.reads(), level.writes()),
            wire: self.wire(level.private_reads + level.private_writes, way.private)
                + self.wire(level.shared_reads + level.shared_writes, way.shared),
        };
        Energy {
            mrf: level(self.mrf, &traffic.mrf, self.mrf_distance),
            upper: level(self.upper, &traffic.upper, self.upper_distance),
            lrf: Part {
                access: accesses(self.lrf, lrf.reads + lrf.moving_reads, lrf.writes),
                wire: self.wire(lrf.reads + lrf.writes, self.lrf_distance),
            },
        }
    }

    /// The energy of the wires for this many accesses over this distance in mm.
    pub fn wire(&self, accesses: u64, millimetres: f64) -> f64 {
        accesses as f64 * Self::WORDS * self.wire * millimetres
    }
}

/// Energy of one level, in pJ.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Part {
    /// In its arrays.
    pub access: f64,
    /// In the wires to the units that use it.
    pub wire: f64,
}

/// Energy of a register file, in pJ.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Energy {
    /// Of the MRF.
    pub mrf: Part,
    /// Of the RFC or ORF.
    pub upper: Part,
    /// Of the LRF.
    pub lrf: Part,
}

impl Energy {
    /// In all arrays.
    pub fn access(&self) -> f64 {
        self.mrf.access + self.upper.access + self.lrf.access
    }

    /// In all wires.
    pub fn wire(&self) -> f64 {
        self.mrf.wire + self.upper.wire + self.lrf.wire
    }

    /// The total energy.
    pub fn total(&self) -> f64 {
        self.access() + self.wire()
    }
}
