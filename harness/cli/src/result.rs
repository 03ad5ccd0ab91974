//! What `--json` prints.
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
    /// How it ended.
    pub result: Verdict,
    /// The command.
    pub command: &'static str,
    /// The block.
    pub block: String,
    /// The launch manifest that the SM runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<PathBuf>,
    /// What the random program that the SM runs is made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// The preset, where shape and policies are those of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<&'static str>,
    /// Parameters of the RTL.
    pub parameters: BTreeMap<&'static str, u64>,
    /// What `cfg_i` and `design_cfg_i` are tied to, by port; a reproducer drives them cycle by cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub straps: Option<BTreeMap<&'static str, String>>,
    /// What ran the RTL, if that was not Verilator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulator: Option<&'static str>,
    /// The seed.
    pub seed: u64,
    /// Cycles compared and found equal.
    pub cycles: u64,
    /// What was measured and found, where the run took place.
    #[serde(flatten)]
    pub details: Option<Details>,
    /// What went wrong, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What a run that took place has to say.
#[derive(Debug, Serialize)]
pub struct Details {
    /// Signals compared in each cycle, elements of arrays counted one by one.
    pub signals_compared: usize,
    /// Probes that a user's own RTL does not have.
    pub probes_absent: Vec<String>,
    /// Seconds of building.
    pub build_s: f64,
    /// Seconds of running.
    pub wall_s: f64,
    /// Counts of events.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub events: BTreeMap<&'static str, u64>,
    /// How often the stimulus reached each point.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub coverage: BTreeMap<&'static str, u64>,
    /// Bits of inputs, and how many of them were 0 and 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toggles: Option<gpurf_regress::ToggleCounts>,
    /// Comparisons of the RTL, and how many of their bits have been the only ones to differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparisons: Option<gpurf_regress::ComparisonCounts>,
    /// The first difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<DivergenceSummary>,
    /// Folders that were written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<PathBuf>,
}

/// Several runs.
#[derive(Debug, Serialize)]
pub struct Runs<'a> {
    /// All in one word: the worst.
    pub result: Verdict,
    /// The command.
    pub command: &'static str,
    /// Where the runs are a part of the whole suite, the part that contains what is replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite: Option<Part>,
    /// Each.
    pub runs: &'a [Run],
    /// What random programs have reached together, for each configuration.
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
    /// What went wrong, in words.
    pub message: &'a str,
}

impl<'a> Refusal<'a> {
    /// Of a command that ends with this status.
    pub fn new(command: &'static str, status: Status, message: &'a str) -> Self {
        let result = if status == Status::Interrupted { Verdict::Interrupted } else { Verdict::Error };
        Self { result, command, message }
    }
}

/// As one line of JSON.
pub fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string(value).expect("numbers, words and maps of words are JSON");
    text.push('\n');
    text
}
