//! Strands and allocations of hand-written and random code, proved by the checker and judged lane by lane by the oracle.

mod corruptions;
mod figures;
mod random;
mod strands;

use super::{Encoding, HierarchyOptions, check, run};
use crate::marks;
use crate::marks::tests::{START, execute};
use gpurf_isa::{Instruction, LastResultFile, assemble};
use gpurf_oracle::levels::{LevelCounts, LevelFault, LevelJudge, Levels};

/// An ORF of this many entries, with all steps enabled.
fn orf(entries: u8) -> HierarchyOptions {
    HierarchyOptions { orf_entries: entries, ..HierarchyOptions::NONE }
}

/// The same with an LRF.
fn with_lrf(entries: u8, lrf: LastResultFile) -> HierarchyOptions {
    HierarchyOptions { lrf, ..orf(entries) }
}

/// Compiles code after [`START`] with marks and levels.
fn compiled(text: &str, options: &HierarchyOptions) -> Vec<Instruction> {
    let mut code = assemble(&format!("{START}{text}")).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    marks::run(&mut code);
    run(&mut code, options);
    code
}

/// The machine that code is compiled for.
fn machine(options: &HierarchyOptions) -> Levels {
    let HierarchyOptions { orf_entries, lrf, keep_when_descheduled, .. } = *options;
    Levels { orf_entries, lrf, keep_when_descheduled }
}

/// Runs code on one warp under a judge.
fn judge(code: &[Instruction], options: &HierarchyOptions) -> (Vec<LevelFault>, LevelCounts) {
    execute(code, LevelJudge::new(machine(options))).finish()
}

/// Asserts that checker and judge accept code.
fn accept(code: &[Instruction], options: &HierarchyOptions) -> LevelCounts {
    check(code, options).unwrap_or_else(|error| panic!("{error}\n{}", listing(code)));
    let (faults, counts) = judge(code, options);
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(faults.is_empty(), "{}\n{}", faults.join("\n"), listing(code));
    counts
}

fn listing(code: &[Instruction]) -> String {
    code.iter().enumerate().map(|(pc, instruction)| format!("{pc:4} {instruction}\n")).collect()
}

/// The levels and strand ends of an instruction as text.
fn levels(instruction: &Instruction) -> String {
    let mut control = gpurf_isa::Control { source_levels: instruction.control.source_levels, ..Default::default() };
    control.strand_end = instruction.control.strand_end;
    control.result_level = instruction.control.result_level;
    control.to_string()
}

/// Asserts that the last instructions of the code after [`START`] have these levels, and that checker and judge accept the code.
fn expect(text: &str, options: &HierarchyOptions, want: &[&str]) {
    let code = compiled(text, options);
    let start = code.len() - want.len();
    let got: Vec<String> = code[start..].iter().map(levels).collect();
    assert_eq!(got, want, "\n{}", listing(&code));
    accept(&code, options);
}

/// Hierarchies of all sizes and kinds, each with all steps and with one step left out, and the restricted encodings.
fn all_options() -> Vec<HierarchyOptions> {
    let mut all = Vec::new();
    for lrf in [LastResultFile::None, LastResultFile::Unified, LastResultFile::Split] {
        for entries in [0, 1, 3, 8] {
            let full = with_lrf(entries, lrf);
            all.extend([
                full,
                HierarchyOptions { partial_ranges: false, ..full },
                HierarchyOptions { read_operands: false, ..full },
                HierarchyOptions { forward_branches: false, ..full },
                HierarchyOptions { partial_ranges: false, read_operands: false, forward_branches: false, ..full },
                HierarchyOptions { encoding: Encoding::SingleLevel, ..full },
                HierarchyOptions { encoding: Encoding::LrfMrfOnly, ..full },
            ]);
        }
    }
    all.retain(|options| !options.is_none());
    all
}
