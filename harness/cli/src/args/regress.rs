//! The command line of `gpurf regress`.

use std::path::PathBuf;

use clap::Args;
use gpurf_regress::regression::Shard;

use super::{Replacements, Run, cycles, number};

/// `gpurf regress`.
#[derive(Debug, Args)]
#[command(after_help = "\
The folder of a regression has its journal, results.json, report.html, junit.xml, and for each kind of failure a failure folder with the shortest run that still fails. --resume \
continues an interrupted or killed run. --merge merges shards into a folder of their own.")]
pub struct Regress {
    /// Tier of the plan
    #[arg(long, value_name = "TIER", default_value = "smoke")]
    pub tier: String,
    /// The plan (default: tests/regress.toml of the checkout)
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// The folder of the regression (default: target/regress/TIER, with the shard's number)
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Run the Ith of N equal parts of the plan
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
    /// Continue an interrupted run
    #[arg(long)]
    pub resume: bool,
    /// Run nothing: merge the regressions of these folders (may be repeated)
    #[arg(long, value_name = "DIR", conflicts_with_all = ["shard", "resume"], requires = "out")]
    pub merge: Vec<PathBuf>,
    /// Also write JUnit XML to this file
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Show changes since the run of this results.json (default: the last one in the folder)
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Cycles of each run of a block, in place of the plan's
    #[arg(long, value_name = "N", value_parser = cycles, allow_negative_numbers = true)]
    pub cycles: Option<u64>,
    /// Add this to every seed of the plan
    #[arg(long, value_name = "S", value_parser = number, default_value = "0", allow_negative_numbers = true)]
    pub seed: u64,
    /// RTL in place of the project's
    #[command(flatten)]
    pub rtl: Replacements,
    /// Run the cases that arrive on standard input; a regression starts its workers with this option
    #[arg(long, hide = true)]
    pub worker: bool,
    /// How to run and print
    #[command(flatten)]
    pub run: Run,
}

pub(super) fn shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match parts {
        Some((index, count)) if (1..=count).contains(&index) => Ok(Shard { index, count }),
        _ => Err("expected I/N with I from 1 to N, for instance 2/3".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_one_of_several() {
        assert_eq!(shard("2/3"), Ok(Shard { index: 2, count: 3 }));
        for text in ["0/3", "4/3", "1", "1/", "/3", "a/b", "1/0"] {
            assert!(shard(text).is_err(), "{text}");
        }
    }
}
