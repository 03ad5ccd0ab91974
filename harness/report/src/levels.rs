//! Accesses to each level of the software-managed hierarchy, counted on the oracle. The hierarchy thesis counted them on its simulator of PTX (4.2).
//!
//! An instruction names the level of each operand and result. So the counts need no timing, and the execution of a program does not depend on the
//! levels. One run of a kernel therefore counts how often each instruction of each strand is executed ([`Profile`]). The accesses of any number of
//! hierarchies follow from these counts and from the levels that the compiler assigns. The compiler's checker verifies each assignment
//! ([`hierarchy::check()`]).

use std::collections::BTreeMap;

use gpurf_compiler::hierarchy::{self, HierarchyOptions, check::CheckError};
use gpurf_energy::{Energies, Level, PrivateLevel, Traffic};
use gpurf_isa::image::Kernel;
use gpurf_isa::{Instruction, LastResultFile, Op};
use gpurf_oracle::Issue;
use gpurf_oracle::levels::{Accesses, LevelCounts, groups};

/// Options of a hierarchy, under a name that does not depend on the design.
pub type LevelOptions = HierarchyOptions;

/// The reason why the compiler's checker refuses an assignment of levels.
pub type LevelError = CheckError;

/// A kernel's code, with its values assigned to the levels of a hierarchy.
#[derive(Debug)]
pub struct Levelled {
    /// The hierarchy.
    pub options: HierarchyOptions,
    code: Vec<Instruction>,
}

impl Levelled {
    /// Assigns the values of a kernel to levels.
    ///
    /// # Errors
    /// If the compiler has a defect: on some path, a read does not find its value.
    pub fn new(kernel: &Kernel, options: HierarchyOptions) -> Result<Self, Box<CheckError>> {
        let mut code = kernel.code.clone();
        hierarchy::run(&mut code, &options);
        hierarchy::check(&code, &options)?;
        Ok(Self { options, code })
    }

    /// The rule that decides where strands end, and so where they begin.
    pub fn strands(&self) -> StrandRule {
        let ends = self.code.iter().map(|instruction| instruction.control.strand_end).collect();
        StrandRule { ends, keep_at_barriers: self.options.keep_when_descheduled }
    }

    /// Accesses in each strand, with the index of the strand's first instruction.
    pub fn counts<'a>(&'a self, profile: &'a Profile) -> impl Iterator<Item = (u32, LevelCounts)> + 'a {
        (0..).zip(&profile.strands).filter(|(_, times)| !times.is_empty()).map(|(first, times)| {
            let mut counts = LevelCounts::default();
            for (instruction, times) in self.code.iter().zip(times).filter(|(_, times)| times.executions > 0) {
                counts.add(instruction, times.executions, times.groups);
            }
            (first, counts)
        })
    }
}

/// Where strands end. Most hierarchies have the same rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StrandRule {
    /// Whether a strand ends after each instruction.
    ends: Vec<bool>,
    /// Whether a warp that waits at a barrier keeps its contents, as only the limit study's ideal machine does.
    keep_at_barriers: bool,
}

/// How often an instruction was executed in at least one lane, and in how many groups of four lanes in total.
#[derive(Clone, Copy, Default, Debug)]
struct Times {
    executions: u64,
    groups: u64,
}

/// How often each instruction of each strand of a kernel is executed.
#[derive(Debug)]
pub struct Profile {
    /// Where strands end.
    pub rule: StrandRule,
    /// Counts of each strand, at the index of its first instruction; empty at other indices.
    strands: Vec<Vec<Times>>,
    /// The block that runs; blocks run one after the other.
    block: u64,
    /// The first instruction of each warp's current strand; `None` between strands.
    warps: Vec<Option<u32>>,
}

impl Profile {
    /// A profile that has counted nothing.
    pub fn new(rule: StrandRule) -> Self {
        Self { strands: vec![Vec::new(); rule.ends.len()], rule, block: 0, warps: Vec::new() }
    }

    /// Another launch begins.
    pub fn begin(&mut self) {
        self.block = 0;
        self.warps.clear();
    }

    /// Counts an instruction that a warp issues.
    pub fn issue(&mut self, at: &Issue<'_>) {
        if at.warp.block != self.block {
            self.block = at.warp.block;
            self.warps.clear();
        }
        let warp = at.warp.warp as usize;
        if self.warps.len() <= warp {
            self.warps.resize(warp + 1, None);
        }
        let pc = at.pc as usize;
        if at.mask != 0 {
            let strand = *self.warps[warp].get_or_insert(at.pc);
            let times = &mut self.strands[strand as usize];
            if times.is_empty() {
                times.resize(self.rule.ends.len(), Times::default());
            }
            times[pc].executions += 1;
            times[pc].groups += groups(at.mask);
        }
        let waits = matches!(at.instruction.op, Op::Bar { .. }) && !self.rule.keep_at_barriers;
        if self.rule.ends[pc] || waits {
            self.warps[warp] = None;
        }
    }
}

/// Marks the ends of a kernel's strands. Their places do not depend on the levels.
pub fn end_strands(kernel: &mut Kernel) {
    hierarchy::run(&mut kernel.code, &HierarchyOptions { orf_entries: 1, ..HierarchyOptions::NONE });
}

/// Counts of each strand, by kernel and first instruction. Where strands lie does not depend on the levels.
pub type Strands = BTreeMap<(String, u32), LevelCounts>;

/// Serializes strands as a list, because their keys are not strings, as JSON requires.
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

/// The traffic from which energy is computed. A copy writes an operand that comes from the MRF to the ORF.
pub fn traffic(counts: &LevelCounts) -> Traffic {
    let lrf = PrivateLevel { reads: counts.lrf.reads(), moving_reads: 0, writes: counts.lrf.writes() };
    Traffic { mrf: level(&counts.mrf), upper: level(&counts.orf), lrf }
}

/// The traffic of the same operands and results with an MRF alone. A result that is written to two levels counts once.
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

/// Describes a hierarchy in words.
pub fn name(options: &HierarchyOptions) -> String {
    let entries = options.orf_entries;
    let lrf = match options.lrf {
        LastResultFile::None => "",
        LastResultFile::Unified => ", unified LRF",
        LastResultFile::Split => ", split LRF",
    };
    format!("ORF of {entries}{lrf}")
}

/// Energy relative to that of an MRF alone.
pub fn energy(counts: &LevelCounts, options: &HierarchyOptions) -> f64 {
    let entries = if options.priced_as == 0 { options.orf_entries } else { options.priced_as };
    let energies = Energies::thesis(entries.into(), options.active_warps.into());
    crate::ratio(energies.of(&traffic(counts)).total(), energies.of(&flat(counts)).total())
}

#[cfg(test)]
impl crate::SweepPlan {
    /// Requests accesses to the levels of a hierarchy with three entries, for tests that need only different options.
    pub(crate) fn some_levels(&mut self, partial_ranges: bool) {
        self.levels(HierarchyOptions { orf_entries: 3, partial_ranges, ..HierarchyOptions::NONE });
    }
}

#[cfg(test)]
mod tests {
    use gpurf_compiler::{Options, compile};
    use gpurf_launch::Manifest;
    use gpurf_oracle::host::{Engine, KernelLaunch, OracleError, Session};
    use gpurf_oracle::levels::{LevelJudge, Levels};
    use gpurf_oracle::{Launch, Memory, Observer, Oracle, Program};

    use super::*;

    /// Counts of a kernel's strands by the judge of `gpurf-oracle`, which reads the levels of each instruction, and by the profile.
    fn both(name: &str, options: HierarchyOptions) -> [BTreeMap<u32, LevelCounts>; 2] {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels");
        let manifest = Manifest::load(format!("{folder}/{name}.toml").as_ref()).unwrap();
        let text = std::fs::read_to_string(format!("{folder}/{name}.ptx")).unwrap();
        let image = compile(&text, name, &Options { registers: 64, ..Options::default() }).unwrap().image;
        let mut session = Session::new(&manifest, &image).unwrap();
        let mut engine = Both { options, judged: BTreeMap::new(), profiled: BTreeMap::new() };
        session.run(&mut engine).unwrap();
        [engine.judged, engine.profiled]
    }

    struct Both {
        options: HierarchyOptions,
        judged: BTreeMap<u32, LevelCounts>,
        profiled: BTreeMap<u32, LevelCounts>,
    }

    impl Engine for Both {
        type Error = OracleError;

        fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), OracleError> {
            let HierarchyOptions { orf_entries, lrf, keep_when_descheduled, .. } = self.options;
            let levelled = Levelled::new(launch.kernel, self.options).unwrap();
            let code = levelled.code.clone();
            let program = Program::new(&Kernel { code, ..launch.kernel.clone() }, launch.source)?;
            let launch = Launch { program: &program, geometry: launch.geometry, constant: launch.constant };
            let judge = LevelJudge::new(Levels { orf_entries, lrf, keep_when_descheduled });
            let mut watched = Watched(judge, Profile::new(levelled.strands()));
            Oracle::default().run_observed(&launch, memory, &mut watched).unwrap();
            let Watched(judge, profile) = watched;
            let (faults, strands) = judge.finish_by_strand();
            assert!(faults.is_empty(), "{}", faults[0]);
            strands.into_iter().for_each(|(first, counts)| *self.judged.entry(first).or_default() += counts);
            levelled.counts(&profile).for_each(|(first, counts)| *self.profiled.entry(first).or_default() += counts);
            Ok(())
        }
    }

    struct Watched(LevelJudge, Profile);

    impl Observer for Watched {
        const TRACES: bool = true;

        fn issue(&mut self, at: &Issue<'_>) {
            self.0.issue(at);
            self.1.issue(at);
        }
    }

    #[test]
    fn a_profile_counts_what_the_judge_counts() {
        let split = HierarchyOptions { orf_entries: 3, lrf: LastResultFile::Split, ..HierarchyOptions::NONE };
        // Loops, barriers, divergence, long-latency operations.
        for name in ["hotspot", "bfs", "needle", "reduction"] {
            for options in [
                split,
                HierarchyOptions { keep_when_descheduled: true, ..split },
                HierarchyOptions { orf_entries: 8, lrf: LastResultFile::None, partial_ranges: false, ..split },
            ] {
                let [judged, profiled] = both(name, options);
                assert!(judged.values().map(|counts| counts.instructions).sum::<u64>() > 1000, "{name}");
                assert_eq!(judged, profiled, "{name} {options:?}");
            }
        }
    }

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
