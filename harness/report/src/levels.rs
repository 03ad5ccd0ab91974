//! Accesses to each level of the software-managed hierarchy, counted on the oracle: what the hierarchy thesis did with its simulator of PTX (4.2).
//!
//! Which level an operand is read in or written to stands in the instruction, so that no time is needed. The same machine code serves all hierarchies: levels are put
//! into it here.

use std::collections::{BTreeMap, HashMap};

use gpurf_compiler::hierarchy::{self, HierarchyOptions};
use gpurf_energy::{Energies, Level, PrivateLevel, Traffic};
use gpurf_isa::LastResultFile;
use gpurf_isa::image::Kernel;
use gpurf_oracle::host::{Engine, KernelLaunch, OracleError};
use gpurf_oracle::levels::{Accesses, LevelCounts, LevelFault, LevelJudge, Levels};
use gpurf_oracle::{Launch, Memory, Oracle, Program};

/// Runs launches on the oracle, with their values at the levels of a hierarchy, and counts accesses.
#[derive(Debug)]
pub struct LevelEngine {
    oracle: Oracle,
    options: HierarchyOptions,
    /// Kernels by name, with levels.
    kernels: HashMap<String, Kernel>,
    /// What was counted so far, for each strand.
    pub strands: Strands,
}

/// Counts of each strand, by the kernel and the instruction that it begins with. Strands are where they are, whatever the levels.
pub type Strands = BTreeMap<(String, u32), LevelCounts>;

/// Strands as a list: their names are no keys of JSON.
pub(crate) mod list {
    use gpurf_oracle::levels::LevelCounts;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Strands;

    pub fn serialize<S: Serializer>(strands: &Strands, to: S) -> Result<S::Ok, S::Error> {
        strands.iter().collect::<Vec<_>>().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Strands, D::Error> {
        Ok(Vec::<((String, u32), LevelCounts)>::deserialize(from)?.into_iter().collect())
    }
}

/// Why a launch gave no counts.
#[derive(Debug, thiserror::Error)]
pub enum LevelError {
    /// The program is wrong.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// A level is: a defect of the compiler.
    #[error("a defect of the compiler: {0}")]
    Level(LevelFault),
}

/// Marks the ends of a kernel's strands. They are in the same places whatever the levels.
pub fn end_strands(kernel: &mut Kernel) {
    hierarchy::run(&mut kernel.code, &HierarchyOptions { orf_entries: 1, ..HierarchyOptions::NONE });
}

impl LevelEngine {
    /// For this hierarchy, with this oracle.
    pub fn new(oracle: Oracle, options: HierarchyOptions) -> Self {
        Self { oracle, options, kernels: HashMap::new(), strands: Strands::new() }
    }
}

impl Engine for LevelEngine {
    type Error = LevelError;

    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), LevelError> {
        let HierarchyOptions { orf_entries, lrf, keep_when_descheduled, .. } = self.options;
        let kernel = self.kernels.entry(launch.kernel.name.clone()).or_insert_with(|| {
            let mut kernel = launch.kernel.clone();
            hierarchy::run(&mut kernel.code, &self.options);
            kernel
        });
        let program = Program::new(kernel, launch.source).map_err(OracleError::from)?;
        let launch = Launch { program: &program, geometry: launch.geometry, constant: launch.constant };
        let mut judge = LevelJudge::new(Levels { orf_entries, lrf, keep_when_descheduled });
        self.oracle.run_observed(&launch, memory, &mut judge).map_err(OracleError::Fault)?;
        let name = &kernel.name;
        let (faults, strands) = judge.finish_by_strand();
        for (first, counts) in strands {
            *self.strands.entry((name.clone(), first)).or_default() += counts;
        }
        faults.first().map_or(Ok(()), |fault| Err(LevelError::Level(*fault)))
    }
}

/// The traffic that energy is a function of. A copy is a write of the ORF for an operand that comes from the MRF.
pub fn traffic(counts: &LevelCounts) -> Traffic {
    let lrf = PrivateLevel { reads: counts.lrf.reads(), moving_reads: 0, writes: counts.lrf.writes() };
    Traffic { mrf: level(&counts.mrf), upper: level(&counts.orf), lrf }
}

/// The same operands and results with an MRF alone. A result that goes to two levels is one there.
pub fn flat(counts: &LevelCounts) -> Traffic {
    Traffic { mrf: level(&counts.flat), ..Traffic::default() }
}

fn level(accesses: &Accesses) -> Level {
    Level {
        private_reads: accesses.private_reads,
        shared_reads: accesses.shared_reads,
        moving_reads: 0,
        private_writes: accesses.private_writes,
        shared_writes: accesses.shared_writes,
        moving_writes: accesses.copies,
    }
}

/// A hierarchy in words.
pub fn name(options: &HierarchyOptions) -> String {
    let entries = options.orf_entries;
    let lrf = match options.lrf {
        LastResultFile::None => "",
        LastResultFile::Unified => ", unified LRF",
        LastResultFile::Split => ", split LRF",
    };
    format!("ORF of {entries}{lrf}")
}

/// Energy, with an MRF alone as 1.
pub fn energy(counts: &LevelCounts, options: &HierarchyOptions) -> f64 {
    let entries = if options.priced_as == 0 { options.orf_entries } else { options.priced_as };
    let energies = Energies::thesis(entries.into(), options.active_warps.into());
    crate::ratio(energies.of(&traffic(counts)).total(), energies.of(&flat(counts)).total())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_in_two_levels_is_one_in_the_mrf() {
        let mrf = Accesses { private_reads: 5, private_writes: 4, ..Accesses::default() };
        let orf = Accesses { private_reads: 3, shared_reads: 2, private_writes: 2, copies: 1, ..Accesses::default() };
        let lrf = Accesses { private_reads: 1, private_writes: 1, ..Accesses::default() };
        let all = Accesses { private_reads: 9, shared_reads: 2, private_writes: 5, ..Accesses::default() };
        let counts = LevelCounts { mrf, orf, lrf, flat: all, ..LevelCounts::default() };
        let traffic = traffic(&counts);
        assert_eq!((traffic.mrf.reads(), traffic.mrf.writes()), (5, 4));
        assert_eq!((traffic.upper.reads(), traffic.upper.writes(), traffic.upper.moving_writes), (5, 3, 1));
        assert_eq!((traffic.lrf.reads, traffic.lrf.writes), (1, 1));
        assert_eq!((flat(&counts).mrf.reads(), flat(&counts).mrf.writes()), (11, 5));
        let options = HierarchyOptions { orf_entries: 3, ..HierarchyOptions::NONE };
        // Thesis, tables 4.5 and 4.6: 15.6 and 18.6 pJ at the MRF, 2.72 (shared 4.24) and 5.92 at the ORF, a copy 4.4, 1.08 and 2.38 at the LRF.
        let ours = 5.0 * 15.6 + 4.0 * 18.6 + 3.0 * 2.72 + 2.0 * 4.24 + 2.0 * 5.92 + 4.4 + 1.08 + 2.38;
        assert!((energy(&counts, &options) - ours / (11.0 * 15.6 + 5.0 * 18.6)).abs() < 1e-12);
    }
}
