//! The output of `--json`.
//!
//! One object for one run, `{"runs": [...], "result": ...}` for several. Fields that do not apply are absent.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gpurf_lockstep::Verdict;
use gpurf_lockstep::report::DivergenceSummary;
use serde::Serialize;

use crate::commands::program::Coverage;
use crate::failure::Status;
use crate::plan::Part;

/// One run.
#[derive(Debug, Serialize)]
pub struct Run {
    /// The verdict.
    pub result: Verdict,
    /// The command.
    pub command: &'static str,
    /// The block.
    pub block: String,
    /// The launch manifest that the SM runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<PathBuf>,
    /// The theme or the file of weights of the random program that the SM runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// The preset, if shape and policies are those of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<&'static str>,
    /// Parameters of the RTL.
    pub parameters: BTreeMap<&'static str, u64>,
    /// The values of the strap ports `cfg_i` and `design_cfg_i`, by port; absent for a reproducer, which drives them cycle by cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub straps: Option<BTreeMap<&'static str, String>>,
    /// The simulator of the RTL, if it was not Verilator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulator: Option<&'static str>,
    /// The seed.
    pub seed: u64,
    /// Cycles compared and found equal.
    pub cycles: u64,
    /// Measurements and findings, if the run took place.
    #[serde(flatten)]
    pub details: Option<Details>,
    /// The error, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Measurements and findings of a run.
#[derive(Debug, Serialize)]
pub struct Details {
    /// Signals compared in each cycle, with each element of an array counted.
    pub signals_compared: usize,
    /// Probes that the user's own RTL lacks.
    pub probes_absent: Vec<String>,
    /// Seconds that the build took.
    pub build_s: f64,
    /// Seconds that the run took.
    pub wall_s: f64,
    /// Counts of events.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub events: BTreeMap<&'static str, u64>,
    /// How often the stimulus reached each point.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub coverage: BTreeMap<&'static str, u64>,
    /// Number of input bits, and of those that were both 0 and 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toggles: Option<gpurf_regress::ToggleCounts>,
    /// Comparisons of the RTL, and the number of their bits that have been the only one to differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparisons: Option<gpurf_regress::ComparisonCounts>,
    /// The first difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<DivergenceSummary>,
    /// Folders written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<PathBuf>,
}

/// Several runs.
#[derive(Debug, Serialize)]
pub struct Runs<'a> {
    /// The worst result of all runs.
    pub result: Verdict,
    /// The command.
    pub command: &'static str,
    /// The size of the part, if the runs are the part of the whole suite that contains replaced RTL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite: Option<Part>,
    /// The runs.
    pub runs: &'a [Run],
    /// The combined coverage of random programs, for each configuration.
    #[serde(skip_serializing_if = "<[Coverage]>::is_empty")]
    pub programs: &'a [Coverage],
}

/// An error that ended a command before it ran anything.
#[derive(Debug, Serialize)]
pub struct Refusal<'a> {
    /// [`Verdict::Error`] or [`Verdict::Interrupted`].
    pub result: Verdict,
    /// The command.
    pub command: &'static str,
    /// The error, in words.
    pub message: &'a str,
}

impl<'a> Refusal<'a> {
    /// The error of a command that ends with this status.
    pub fn new(command: &'static str, status: Status, message: &'a str) -> Self {
        let result = if status == Status::Interrupted { Verdict::Interrupted } else { Verdict::Error };
        Self { result, command, message }
    }
}

/// Serializes a value as one line of JSON.
pub fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string(value).expect("numbers, words and maps of words are JSON");
    text.push('\n');
    text
}
