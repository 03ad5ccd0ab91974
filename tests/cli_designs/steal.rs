//! The report on bank stealing.

use super::common::sums::{row, whole_report};

#[test]
fn stealing_on_a_tiny_kernel() {
    let report = whole_report("stealing", 60, 9);
    let ours = |metric: &str| row(&report, metric)["ours"].as_f64().unwrap();
    // Four warps, each with 12 operands and 10 results, on any file: half as many banks are used twice as much per cycle.
    let [eight, sixteen] = ["8 banks", "16 banks"].map(|banks| ours(&format!("utilisation of the banks, {banks}")));
    let ipc = ours("IPC gained by 8 banks, over 16");
    assert!((eight / sixteen - 2.0 * (1.0 + ipc)).abs() < 1e-9, "{eight} {sixteen} {ipc}");
    // A parked value returns in the next cycle, returns later, or is forced back.
    let parts = [
        "parked values that return in the next cycle",
        "parked values that return later",
        "parked values that are forced back",
    ];
    let parked: f64 = parts.iter().map(|metric| ours(metric)).sum();
    assert!(parked == 0.0 || (parked - 1.0).abs() < 1e-9, "{parked}");
    // A result that is not written normally is parked, or finds no place and is forced.
    let [normal, stalls] =
        ["results written normally, without stealing", "results that stall others: without a place, or forced back"]
            .map(ours);
    assert!(normal <= 1.0 && (normal < 1.0) == (parked > 0.0 || stalls > 0.0), "{normal} {parked} {stalls}");
}
