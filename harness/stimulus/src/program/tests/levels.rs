//! Programs whose values are distributed over ORF and LRF.

use gpurf_blocks::config::{Config, Start};
use gpurf_compiler::Options;
use gpurf_compiler::hierarchy::{Encoding, HierarchyOptions, check};
use gpurf_isa::{LastResultFile, SourceLevel};
use gpurf_oracle::levels::{LevelCounts, LevelJudge, Levels};

use super::random;
use crate::program::{Limits, Program, Weights, themes};

/// Hierarchies of all sizes and kinds, with all steps and with one left out.
fn hierarchies() -> Vec<HierarchyOptions> {
    let mut all = Vec::new();
    for lrf in [LastResultFile::None, LastResultFile::Unified, LastResultFile::Split] {
        for orf_entries in [1, 3, 8] {
            let full = HierarchyOptions { orf_entries, lrf, ..HierarchyOptions::NONE };
            all.extend([
                full,
                HierarchyOptions { partial_ranges: false, ..full },
                HierarchyOptions { read_operands: false, ..full },
                HierarchyOptions { forward_branches: false, ..full },
                HierarchyOptions { encoding: Encoding::SingleLevel, ..full },
                HierarchyOptions { encoding: Encoding::LrfMrfOnly, ..full },
            ]);
        }
    }
    all
}

#[test]
fn values_are_where_programs_look_for_them() {
    let hierarchies = hierarchies();
    let (mut programs, mut counts) = (0, LevelCounts::default());
    for (number, theme) in themes::THEMES.iter().enumerate() {
        for seed in 0..6 {
            let program = random(theme.name, 200 + seed);
            for hierarchy in hierarchies.iter().skip((number + seed as usize) % 9).step_by(9) {
                let HierarchyOptions { orf_entries, lrf, keep_when_descheduled, .. } = *hierarchy;
                let program =
                    Program { compiler: Options { hierarchy: *hierarchy, ..program.compiler }, ..program.clone() };
                let name = format!("{} {seed}, {hierarchy:?}", theme.name);
                check(&program.lower().code, hierarchy).unwrap_or_else(|error| panic!("{name}: {error}"));
                let judge = LevelJudge::new(Levels { orf_entries, lrf, keep_when_descheduled });
                let judge = program.observed(judge).unwrap_or_else(|problem| panic!("{name}: {problem}"));
                let (faults, new) = judge.finish();
                let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
                assert!(faults.is_empty(), "{name}:\n{}", faults.join("\n"));
                counts += new;
                programs += 1;
            }
        }
    }
    assert!(programs >= 300, "{programs}");
    let shares = [counts.orf.reads(), counts.orf.copies, counts.lrf.reads()];
    assert!(shares.iter().all(|share| *share > counts.flat.reads() / 100), "{counts:?}");
}

#[test]
fn programs_are_allocated_as_the_configuration_says() {
    let copies = |settings: &[&str]| {
        let config = Config::load(Start::Preset("lrf-orf"), settings).unwrap();
        let program = Program::random(3, &Weights::default(), &Limits::of(&config)).unwrap();
        let code = program.lower().code;
        let copied = |level: &SourceLevel| matches!(level, SourceLevel::MrfCopied(_));
        code.iter().filter(|instruction| instruction.control.source_levels.iter().any(copied)).count()
    };
    assert!(copies(&[]) > 0);
    assert_eq!(copies(&["orf.read_operands=false"]), 0);
}
