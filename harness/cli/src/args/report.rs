//! The part of the command line that is about reports.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::{Order, Run};

/// `gpurf report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each row is a result of a paper: what it says, what is measured here on the model and the functional oracle, its 95 % interval over kernels, and a verdict. A row \
agrees, or disagrees, or its kernels cannot tell. Where it does not agree, the row says which experiments were tried and names the command that shows them. \
docs/reports.md says how each row is measured, docs/errata.md where the papers contradict themselves (--only errata).")]
pub struct ReportResults {
    /// Reports (default: all)
    #[arg(value_name = "REPORT", value_parser = PossibleValuesParser::new(gpurf_report::reports().map(|report| report.name)))]
    pub name: Vec<String>,
    /// Make only this part of a report (may be repeated)
    #[arg(long, value_name = "PART")]
    pub only: Vec<String>,
    /// The order of instructions in a basic block, in place of the one that each paper's code has
    #[arg(long, value_name = "ORDER")]
    pub schedule: Option<Order>,
    /// Run the project's kernels on little data: a quick look. Without it they run on large data, a thousand blocks, which fill the SM
    #[arg(long, conflicts_with = "kernel")]
    pub small: bool,
    /// Run every launch to its end on the model. Without it one of more than 300,000 instructions of warps ends early, when the SM has long been full, and what was counted stands for the rest
    #[arg(long)]
    pub whole: bool,
    /// Run this launch manifest in place of the project's kernels (may be repeated)
    #[arg(long, value_name = "LAUNCH.toml")]
    pub kernel: Vec<PathBuf>,
    /// Show the kernels with the least and the greatest value of each row too
    #[arg(long)]
    pub kernels: bool,
    /// Write the rows as a table of comma-separated values
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write a page with verdicts, plots and tables
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Keep the results of runs in this folder, and take from it what is there (default: target/reports/runs of the checkout)
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    /// Make all runs again, whatever results are there
    #[arg(long)]
    pub fresh: bool,
    /// How to run and print
    #[command(flatten)]
    pub run: Run,
}
