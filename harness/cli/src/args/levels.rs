//! Options on the software-managed register hierarchy.

use clap::{Args, ValueEnum};
use gpurf_compiler::Options;
use gpurf_compiler::hierarchy::{self, HierarchyOptions};
use gpurf_isa::{LastResultFile, OrfEntry};

use super::from_to;

/// Levels above the main register file, and how values are assigned to them (docs/hierarchy.md). Omitted options are as in the preset.
#[derive(Debug, Args)]
pub struct Levels {
    /// Entries per thread in the operand register file
    #[arg(long, value_name = "N", value_parser = from_to::<u8>(0..=OrfEntry::COUNT.into()), allow_negative_numbers = true)]
    orf: Option<u8>,
    /// The last result file; it needs an operand register file
    #[arg(long, value_name = "KIND")]
    lrf: Option<Lrf>,
    /// Leave out this step of the allocation to levels (may be repeated)
    #[arg(long, value_name = "STEP")]
    without: Vec<Step>,
    /// Combinations of levels that one instruction may write its result to
    #[arg(long, value_name = "ENCODING")]
    encoding: Option<Encoding>,
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

impl Levels {
    /// The compiler options of a preset, with these options in place of its own.
    ///
    /// # Errors
    /// If an option requires an operand register file, and there is none.
    pub fn over(&self, preset: Options) -> Result<Options, String> {
        Ok(Options { hierarchy: self.over_levels(preset.hierarchy)?, ..preset })
    }

    fn over_levels(&self, preset: HierarchyOptions) -> Result<HierarchyOptions, String> {
        // A preset without levels leaves the number of warps that share them at its default.
        let preset = if preset.is_none() { HierarchyOptions::NONE } else { preset };
        let with = |step, preset: bool| preset && !self.without.contains(&step);
        let options = HierarchyOptions {
            orf_entries: self.orf.unwrap_or(preset.orf_entries),
            lrf: self.lrf.map_or(preset.lrf, |lrf| match lrf {
                Lrf::None => LastResultFile::None,
                Lrf::Unified => LastResultFile::Unified,
                Lrf::Split => LastResultFile::Split,
            }),
            partial_ranges: with(Step::PartialRanges, preset.partial_ranges),
            read_operands: with(Step::ReadOperands, preset.read_operands),
            forward_branches: with(Step::ForwardBranches, preset.forward_branches),
            encoding: self.encoding.map_or(preset.encoding, |encoding| match encoding {
                Encoding::Free => hierarchy::Encoding::Free,
                Encoding::SingleLevel => hierarchy::Encoding::SingleLevel,
                Encoding::LrfMrfOnly => hierarchy::Encoding::LrfMrfOnly,
            }),
            ..preset
        };
        if options.orf_entries > 0 {
            return Ok(options);
        }
        let needs_orf =
            |what: &str| format!("{what} needs an operand register file: add --orf with 1 to {}", OrfEntry::COUNT);
        if options.lrf != LastResultFile::None {
            let given = self.lrf.map_or("the preset's last result file", |_| "--lrf");
            return Err(needs_orf(given));
        }
        let given = [("--without", !self.without.is_empty()), ("--encoding", self.encoding.is_some())];
        given.iter().find(|(_, given)| *given).map_or(Ok(options), |(option, _)| Err(needs_orf(option)))
    }
}
