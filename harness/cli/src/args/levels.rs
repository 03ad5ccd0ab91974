//! The part of the command line that is about the software-managed register hierarchy.

use clap::{Args, ValueEnum};
use gpurf_compiler::Options;
use gpurf_compiler::hierarchy::{self, HierarchyOptions};
use gpurf_isa::{LastResultFile, OrfEntry};

/// Levels above the main register file, and how values get there (docs/hierarchy.md).
#[derive(Debug, Args)]
pub struct Levels {
    /// Entries per thread in the operand register file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=i64::from(OrfEntry::COUNT)), default_value = "0")]
    orf: u8,
    /// The last result file
    #[arg(long, value_name = "KIND", default_value = "none")]
    lrf: Lrf,
    /// Leave out this step of the allocation to levels (may be repeated)
    #[arg(long, value_name = "STEP")]
    without: Vec<Step>,
    /// Combinations of levels that one instruction may write its result to
    #[arg(long, value_name = "ENCODING", default_value = "free")]
    encoding: Encoding,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Lrf {
    None,
    Unified,
    Split,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Step {
    PartialRanges,
    ReadOperands,
    ForwardBranches,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Encoding {
    Free,
    SingleLevel,
    LrfMrfOnly,
}

impl super::Compile {
    /// The options with the levels that are asked for.
    pub fn levels(&self, options: Options) -> Options {
        Options { hierarchy: self.levels.options(), ..options }
    }
}

impl Levels {
    /// What the compiler is told.
    fn options(&self) -> HierarchyOptions {
        let with = |step| !self.without.contains(&step);
        HierarchyOptions {
            orf_entries: self.orf,
            lrf: match self.lrf {
                Lrf::None => LastResultFile::None,
                Lrf::Unified => LastResultFile::Unified,
                Lrf::Split => LastResultFile::Split,
            },
            partial_ranges: with(Step::PartialRanges),
            read_operands: with(Step::ReadOperands),
            forward_branches: with(Step::ForwardBranches),
            encoding: match self.encoding {
                Encoding::Free => hierarchy::Encoding::Free,
                Encoding::SingleLevel => hierarchy::Encoding::SingleLevel,
                Encoding::LrfMrfOnly => hierarchy::Encoding::LrfMrfOnly,
            },
            ..HierarchyOptions::NONE
        }
    }
}
