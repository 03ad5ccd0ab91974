//! Options of `gpurf report`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use gpurf_report::SAMPLE;

use super::{AddressBits, Order, Run, from_to};

/// `gpurf report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each row is a result of a paper: the paper's number, the number measured here on the model and the functional oracle, its 95 % interval over kernels, and a verdict. The verdict is that \
the row agrees, that it disagrees, or that its kernels cannot decide. A row that does not agree lists the experiments and names the command that shows them. \
docs/reports.md says how each row is measured; docs/errata.md lists where the papers contradict themselves (--only errata).")]
pub struct ReportResults {
    /// Reports (default: all)
    #[arg(value_name = "REPORT", value_parser = PossibleValuesParser::new(gpurf_report::reports().map(|report| report.name)))]
    pub name: Vec<String>,
    /// Make only this part of a report (may be repeated)
    #[arg(long, value_name = "PART")]
    pub only: Vec<String>,
    /// Order of instructions in a basic block (default: the order of each paper's code)
    #[arg(long, value_name = "ORDER")]
    pub schedule: Option<Order>,
    /// Bits of a global address that accesses read: 32 or 64 (default: as in each paper's code)
    #[arg(long, value_name = "BITS")]
    pub address_bits: Option<AddressBits>,
    /// Also make the rows with this setting on all of their machines, and say which of the rows that do not agree it brings into their bands (may be repeated: each
    /// setting is tried alone; `usual`: a list of settings, docs/reports.md)
    #[arg(long = "try", value_name = "KEY=VALUE")]
    pub tried: Vec<String>,
    /// Run the project's kernels on little data, for a quick look (default: a thousand blocks, which fill the SM)
    #[arg(long, conflicts_with = "kernel")]
    pub small: bool,
    /// Cycles of a long launch after which no new block starts on the model; its counts then represent the rest of the launch in proportion
    /// (docs/reports.md, "Samples")
    #[arg(long, value_name = "N", default_value_t = SAMPLE, value_parser = from_to::<u64>(1000..=1_000_000_000), allow_negative_numbers = true, conflicts_with_all = ["small", "whole"])]
    pub sample: u64,
    /// Run every launch to its end on the model, not as a sample
    #[arg(long)]
    pub whole: bool,
    /// Run this launch manifest in place of the project's kernels (may be repeated)
    #[arg(long, value_name = "LAUNCH.toml")]
    pub kernel: Vec<PathBuf>,
    /// Also show the kernels with the least and the greatest value of each row
    #[arg(long)]
    pub kernels: bool,
    /// Write the rows as comma-separated values
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write an HTML page with verdicts, plots and tables
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Folder of kept results, which later reports use again (default: target/reports/runs of the checkout)
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    /// Run everything again and ignore kept results
    #[arg(long)]
    pub fresh: bool,
    /// How to run and print
    #[command(flatten)]
    pub run: Run,
}
