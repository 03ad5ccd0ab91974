//! The register file without conflicts: its statistics.

use super::common::sums::{folder, gpurf};
use super::common::{PASSED, read_json};

#[test]
fn every_register_is_read_and_every_result_written() {
    let folder = folder();
    let arguments = ["run", "sums.toml", "--engine", "model", "--preset", "mrf-ideal", "--json"];
    let object = read_json(&arguments, &gpurf(&folder, &arguments), PASSED);
    // Four warps, each with 12 operands and 10 results.
    let cycles = object["cycles"].as_f64().unwrap();
    for (metric, count) in [("reads", 4.0 * 12.0), ("writes", 4.0 * 10.0)] {
        assert!((object["stats"]["mrf_ideal"][metric].as_f64().unwrap() * cycles - count).abs() < 1e-6, "{object}");
    }
}
