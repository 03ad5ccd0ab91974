//! Output of `gpurf run` for an engine with cycles.

use std::collections::BTreeMap;

use gpurf_lockstep::report::DivergenceSummary;
use serde::Serialize;

/// Additional output of an engine with cycles.
#[derive(Debug, Default, Serialize)]
pub struct Cycles {
    /// Parameters of the RTL.
    pub parameters: BTreeMap<&'static str, u64>,
    /// The values of the strap ports `cfg_i` and `design_cfg_i`, by port.
    pub straps: BTreeMap<&'static str, String>,
    /// The seed.
    pub seed: u64,
    /// Cycles since reset; in lockstep, the cycles found equal.
    pub cycles: u64,
    /// The first cycle that was compared, if not all were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared_from: Option<u64>,
    /// Signals compared in each cycle, with each element of an array counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signals_compared: Option<usize>,
    /// Probes that the RTL does not have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes_absent: Option<Vec<String>>,
    /// Seconds that the build took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_s: Option<f64>,
    /// Counts of events.
    pub events: BTreeMap<&'static str, u64>,
    /// The first difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<DivergenceSummary>,
}
