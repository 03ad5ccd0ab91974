//! Accesses to each level of the software-managed hierarchy, counted on the oracle: what the hierarchy thesis did with its simulator of PTX (4.2).
//!
//! Which level an operand is read in or written to stands in the instruction, so that no time is needed, and what a program does is the same whatever the levels.
//! So one run of a kernel counts how often each instruction of each strand is executed ([`Profile`]); the accesses of any number of hierarchies follow from that
//! and from the levels that the compiler gives to the instructions. The compiler's checker proves each of them ([`hierarchy::check()`]).

use std::collections::BTreeMap;

use gpurf_compiler::hierarchy::{self, HierarchyOptions, check::CheckError};
use gpurf_energy::{Energies, Level, PrivateLevel, Traffic};
use gpurf_isa::image::Kernel;
use gpurf_isa::{Instruction, LastResultFile, Op};
use gpurf_oracle::Issue;
use gpurf_oracle::levels::{Accesses, LevelCounts, groups};

/// Which levels a hierarchy has, by a name that does not say which design it belongs to.
pub type LevelOptions = HierarchyOptions;

/// Why the compiler's checker refuses levels.
pub type LevelError = CheckError;

/// A kernel's code with its values at the levels of a hierarchy.
#[derive(Debug)]
pub struct Levelled {
    /// The hierarchy.
    pub options: HierarchyOptions,
    code: Vec<Instruction>,
}

impl Levelled {
    /// The levels of a kernel's values.
    ///
    /// # Errors
    /// A defect of the compiler: a read that on some path does not find its value.
    pub fn new(kernel: &Kernel, options: HierarchyOptions) -> Result<Self, Box<CheckError>> {
        let mut code = kernel.code.clone();
        hierarchy::run(&mut code, &options);
        hierarchy::check(&code, &options)?;
        Ok(Self { options, code })
    }

    /// What decides where strands begin.
    pub fn strands(&self) -> StrandRule {
        let ends = self.code.iter().map(|instruction| instruction.control.strand_end).collect();
        StrandRule { ends, keep_at_barriers: self.options.keep_when_descheduled }
    }

    /// Accesses in each strand, by the instruction that it begins with.
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

/// Where strands end. Most hierarchies agree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StrandRule {
    /// Whether one ends after each instruction.
    ends: Vec<bool>,
    /// A warp that waits at a barrier keeps its contents: only the limit study's ideal machine does that.
    keep_at_barriers: bool,
}

/// How often an instruction was executed in some lane, and in how many groups of four lanes in all.
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
    /// By the instruction that the strand begins with; empty where none does.
    strands: Vec<Vec<Times>>,
    /// The block that runs; blocks run one after the other.
    block: u64,
    /// The strand that each warp of it is in; none after the end of one.
    warps: Vec<Option<u32>>,
}

impl Profile {
    /// Nothing executed yet.
    pub fn new(rule: StrandRule) -> Self {
        Self { strands: vec![Vec::new(); rule.ends.len()], rule, block: 0, warps: Vec::new() }
    }

    /// Another launch begins.
    pub fn begin(&mut self) {
        self.block = 0;
        self.warps.clear();
    }

    /// An instruction of a warp is about to take effect.
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

/// Marks the ends of a kernel's strands. They are in the same places whatever the levels.
pub fn end_strands(kernel: &mut Kernel) {
    hierarchy::run(&mut kernel.code, &HierarchyOptions { orf_entries: 1, ..HierarchyOptions::NONE });
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
    use gpurf_compiler::{Options, compile};
    use gpurf_launch::Manifest;
    use gpurf_oracle::host::{Engine, KernelLaunch, OracleError, Session};
    use gpurf_oracle::levels::{LevelJudge, Levels};
    use gpurf_oracle::{Launch, Memory, Observer, Oracle, Program};

    use super::*;

    /// Strands of a kernel by the judge of `gpurf-oracle`, which sees the levels in each instruction, and by the profile.
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
