//! The report on bank stealing.

use std::fs;

use super::common::sums::{folder, gpurf, row};
use super::common::{PASSED, read_json};

#[test]
fn stealing_on_a_tiny_kernel() {
    let folder = folder();
    let arguments = ["report", "stealing", "--kernel", "sums.toml", "--html", "page.html", "--json"];
    let report = read_json(&arguments, &gpurf(&folder, &arguments), PASSED);
    assert_eq!((&report["result"], &report["report"]), (&"pass".into(), &"stealing".into()));
    assert!(report["rows"].as_array().unwrap().len() > 60 && !report["absent"].as_array().unwrap().is_empty());
    let ours = |metric: &str| row(&report, metric)["ours"].as_f64().unwrap();
    // Four warps, each with 12 operands and 10 results, whatever the file: half as many banks are used twice as much by the cycle.
    let [eight, sixteen] = ["8 banks", "16 banks"].map(|banks| ours(&format!("utilisation of the banks, {banks}")));
    let ipc = ours("IPC gained by 8 banks, over 16");
    assert!((eight / sixteen - 2.0 * (1.0 + ipc)).abs() < 1e-9, "{eight} {sixteen} {ipc}");
    // What is written without stealing, what returns, and what is forced are all there is.
    let parts = [
        "parked values that return in the next cycle",
        "parked values that return later",
        "parked values that are forced back",
    ];
    let parked: f64 = parts.iter().map(|metric| ours(metric)).sum();
    assert!(parked == 0.0 || (parked - 1.0).abs() < 1e-9, "{parked}");
    let written = ours("results written without stealing");
    assert!(written <= 1.0 && (written < 1.0) == (parked > 0.0), "{written} {parked}");
    for row in report["rows"].as_array().unwrap() {
        assert_eq!(row["paper"].is_null(), row["within"].is_null(), "{row}");
        let outside = row["within"] == false;
        assert_eq!((row["why"] == "", row["command"] == ""), (!outside, !outside), "{row}");
    }
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert_eq!(page.matches("<svg").count(), 8);
}
