//! The report on the register file cache.

mod testbench;

use super::common::sums::{folder, gpurf, row, whole_report};
use super::common::{PASSED, read_json};

#[test]
fn value_usage_of_a_kernel_with_known_answers() {
    let arguments = ["report", "rfc", "--only", "values", "--kernel", "sums.toml", "--json"];
    let report = read_json(&arguments, &gpurf(&folder(), &arguments), PASSED);
    assert_eq!((&report["result"], &report["report"]), (&"pass".into(), &"rfc".into()));
    assert_eq!(report["kernels"], serde_json::json!(["sums"]));
    // Ten values: eight of them are read once, six by the next instruction, one by the one after it, one 4 later; two are read twice.
    let expected = [
        ("values read once", 0.8, false),
        ("values read more than twice", 0.0, true),
        ("values read once, within 3 instructions", 0.7, false),
        ("in program order, without time: MRF reads avoided, 6 entries", 1.0, false),
    ];
    for (metric, ours, within) in expected {
        let row = row(&report, metric);
        assert_eq!((&row["ours"], &row["within"]), (&ours.into(), &within.into()), "{metric}");
        assert_eq!(row["per_kernel"], serde_json::json!({ "sums": ours }), "{metric}");
        // Only a row outside of its band has a reason and a command.
        for field in ["why", "command"] {
            assert_eq!(row[field].as_str().unwrap().is_empty(), within, "{metric}: {field}");
        }
        assert!(row["paper"].as_array().unwrap().len() == 2 && row["source"].is_string(), "{metric}");
    }
}

#[test]
fn every_row_of_a_tiny_kernel() {
    let report = whole_report("rfc", 60, 13);
    // A warp has twelve operands; all but those of registers that have left the cache come from it.
    let part = |metric: &str| row(&report, metric)["ours"].as_f64().unwrap();
    let order = "in program order, without time: MRF reads avoided, 6 entries";
    assert_eq!((part(order), part("MRF reads avoided, 6 entries")), (1.0, 1.0));
    // Six registers: nothing is ever written back, and both warps end without a flush.
    assert_eq!(part("MRF writes avoided, 6 entries"), 1.0);
    let ipc = part("IPC of 8 active warps, greedy, by that of all 32");
    assert!((0.9..1.1).contains(&ipc), "{ipc}");
    let combined = part("MRF reads avoided, 6 entries, 8 active warps");
    assert!((0.5..1.0).contains(&combined), "{combined}");
}

#[test]
fn headlines_are_made_again_with_instructions_in_the_other_orders() {
    let arguments = ["report", "rfc", "--only", "orders", "--kernel", "sums.toml", "--json"];
    let report = read_json(&arguments, &gpurf(&folder(), &arguments), PASSED);
    assert_eq!(report["schedule"], "latency");
    let rows = report["rows"].as_array().unwrap();
    for order in ["none", "tree"] {
        let begin = format!("with instructions in order `{order}`: ");
        let of_order = rows.iter().filter(|row| row["metric"].as_str().unwrap().starts_with(&begin)).count();
        assert_eq!(of_order, 10, "{order}");
    }
    // An order that the user chooses is that of all rows.
    let arguments = ["report", "rfc", "--only", "values", "--schedule", "tree", "--kernel", "sums.toml", "--json"];
    let report = read_json(&arguments, &gpurf(&folder(), &arguments), PASSED);
    assert_eq!(report["schedule"], "tree");
    let command = row(&report, "values read once")["command"].as_str().unwrap();
    assert!(command.ends_with("--only values --kernel sums.toml --schedule tree"), "{command}");
}
