//! How often each level of the hierarchy is accessed.

use std::ops::AddAssign;

use gpurf_isa::{Instruction, SourceLevel, Upper};
use serde::{Deserialize, Serialize};

use super::{distinct, levels_of};
use crate::lanes::Mask;

/// Lanes of a group: the cost of an access is the number of groups that have an active lane.
const GROUP: u32 = 4;

/// Number of groups of four lanes with at least one active lane.
pub fn groups(mask: Mask) -> u64 {
    (0..Mask::BITS / GROUP).filter(|group| mask >> (group * GROUP) & ((1 << GROUP) - 1) != 0).count() as u64
}

/// Accesses of a level, by the unit that makes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Accesses {
    /// Operands read for the private datapath.
    pub private_reads: u64,
    /// Operands read for shared units.
    pub shared_reads: u64,
    /// Results of the private datapath.
    pub private_writes: u64,
    /// Results of shared units.
    pub shared_writes: u64,
    /// Operands read in the MRF that are copied to this level.
    pub copies: u64,
}

impl Accesses {
    /// Counts an operand that is read.
    fn read(&mut self, private: bool, groups: u64) {
        *(if private { &mut self.private_reads } else { &mut self.shared_reads }) += groups;
    }

    /// Counts a result that is written.
    fn write(&mut self, private: bool, groups: u64) {
        *(if private { &mut self.private_writes } else { &mut self.shared_writes }) += groups;
    }

    /// Operands read.
    pub fn reads(&self) -> u64 {
        self.private_reads + self.shared_reads
    }

    /// Results written, without copies.
    pub fn writes(&self) -> u64 {
        self.private_writes + self.shared_writes
    }
}

impl AddAssign for Accesses {
    fn add_assign(&mut self, other: Self) {
        self.private_reads += other.private_reads;
        self.shared_reads += other.shared_reads;
        self.private_writes += other.private_writes;
        self.shared_writes += other.shared_writes;
        self.copies += other.copies;
    }
}

/// Accesses of all levels, counted in groups of four lanes with at least one active lane. A register in two slots of an instruction counts as one
/// read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LevelCounts {
    /// Instructions that warps executed in at least one lane.
    pub instructions: u64,
    /// Those of them that end a strand.
    pub strand_ends: u64,
    /// Accesses of the MRF.
    pub mrf: Accesses,
    /// Accesses of the ORF.
    pub orf: Accesses,
    /// Accesses of the LRF.
    pub lrf: Accesses,
    /// Accesses that the same operands and results make with an MRF alone.
    pub flat: Accesses,
    /// Instructions by the number of registers that they read.
    pub by_reads: [u64; 4],
    /// Instructions by the number of registers that they read in the MRF.
    pub by_mrf_reads: [u64; 4],
}

impl LevelCounts {
    /// Adds an instruction that warps executed `executions` times, in `groups` groups of four lanes in total.
    pub fn add(&mut self, instruction: &Instruction, executions: u64, groups: u64) {
        let private = instruction.unit().is_private();
        self.instructions += executions;
        self.strand_ends += if instruction.control.strand_end { executions } else { 0 };
        let (mut reads, mut mrf_reads) = (0, 0);
        for (slot, _) in distinct(instruction) {
            let (level, in_mrf) = match instruction.control.source_level(slot) {
                SourceLevel::Mrf => (&mut self.mrf, true),
                SourceLevel::MrfCopied(_) => {
                    self.orf.copies += groups;
                    (&mut self.mrf, true)
                }
                SourceLevel::Upper(Upper::Orf(_)) => (&mut self.orf, false),
                SourceLevel::Upper(Upper::Lrf(_)) => (&mut self.lrf, false),
            };
            level.read(private, groups);
            self.flat.read(private, groups);
            reads += 1;
            mrf_reads += usize::from(in_mrf);
        }
        self.by_reads[reads] += executions;
        self.by_mrf_reads[mrf_reads] += executions;
        if instruction.destination().is_some() {
            self.flat.write(private, groups);
            let (above, in_mrf) = levels_of(instruction.control.result_level);
            if in_mrf {
                self.mrf.write(private, groups);
            }
            match above {
                None => {}
                Some(Upper::Orf(_)) => self.orf.write(private, groups),
                Some(Upper::Lrf(_)) => self.lrf.write(private, groups),
            }
        }
    }

    /// Registers that an instruction reads in the MRF, on average.
    pub fn mrf_reads_per_instruction(&self) -> f64 {
        let reads: u64 = (0..).zip(self.by_mrf_reads).map(|(reads, instructions)| reads * instructions).sum();
        if self.instructions == 0 { 0.0 } else { reads as f64 / self.instructions as f64 }
    }
}

impl AddAssign for LevelCounts {
    fn add_assign(&mut self, other: Self) {
        let add = |a: &mut [u64; 4], b: [u64; 4]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        self.instructions += other.instructions;
        self.strand_ends += other.strand_ends;
        self.mrf += other.mrf;
        self.orf += other.orf;
        self.lrf += other.lrf;
        self.flat += other.flat;
        add(&mut self.by_reads, other.by_reads);
        add(&mut self.by_mrf_reads, other.by_mrf_reads);
    }
}
