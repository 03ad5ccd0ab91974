//! `gpurf report` as its users see it: rows, bands, files, messages, statuses.

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

use common::{BAD_INPUT, FAILED, INTERRUPTED, PASSED, check_refused, read_json, text};
use serde_json::Value;

/// Threads that add their number to a word.
const MANIFEST: &str = r#"
kernel = "sums"
grid = [2, 1, 1]
block = [64, 1, 1]

[assembly]
name = "sums"
registers = 6
code = '''
    S2R.TID.X R0
    S2R.CTAID.X R1
    LDC.B32 R2, [RZ]
    SHL R1, R1, 6 {last=a}
    IADD R3, PT, R0, R1, !PT {last=b}
    SHL R3, R3, 2 {last=a}
    IADD R2, PT, R2, R3, !PT {last=ab}
    LD.GLOBAL.B32 R4, [R2]
    IADD R5, PT, R4, R0, !PT {last=ab deschedule}
    IADD R5, PT, R5, 1, !PT {last=a}
    ST.GLOBAL.B32 [R2], R5 {last=ac}
    EXIT
'''

[[arg]]
buffer = { name = "data", type = "u32", len = 128, init = "iota", output = true }
"#;

/// The program, in a folder with these files.
fn gpurf(folder: &tempfile::TempDir, arguments: &[&str]) -> Output {
    let nowhere = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_gpurf"))
        .args(arguments)
        .current_dir(folder.path())
        .env("PATH", "")
        .env("GPURF_HOME", nowhere.path())
        .output()
        .unwrap()
}

/// A folder with a manifest.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("sums.toml"), MANIFEST).unwrap();
    folder
}

#[track_caller]
fn refused(arguments: &[&str], status: i32, words: &[&str]) {
    check_refused(arguments, &gpurf(&folder(), arguments), status, words);
}

/// The row of a metric.
#[track_caller]
fn row<'a>(report: &'a Value, metric: &str) -> &'a Value {
    let rows = report["rows"].as_array().unwrap();
    rows.iter().find(|row| row["metric"] == metric).unwrap_or_else(|| panic!("there is no row {metric}"))
}

#[test]
fn value_usage_of_a_kernel_with_known_answers() {
    let arguments = ["report", "rfc", "--only", "values", "--kernel", "sums.toml", "--json"];
    let report = read_json(&arguments, &gpurf(&folder(), &arguments), PASSED);
    assert_eq!((&report["result"], &report["report"]), (&"pass".into(), &"rfc".into()));
    assert_eq!(report["kernels"], serde_json::json!(["sums"]));
    // Ten values: eight of them are read once, six by the next instruction, one by the one behind it, one 4 later; two are read twice.
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
        // A row outside has an experiment, and only such a row.
        for field in ["why", "command"] {
            assert_eq!(row[field].as_str().unwrap().is_empty(), within, "{metric}: {field}");
        }
        assert!(row["paper"].as_array().unwrap().len() == 2 && row["source"].is_string(), "{metric}");
    }
}

#[test]
fn levels_of_a_kernel_with_known_answers() {
    let arguments = ["report", "hierarchy", "--only", "values", "--kernel", "sums.toml", "--json"];
    let report = read_json(&arguments, &gpurf(&folder(), &arguments), PASSED);
    // Twelve operands and ten results of ten instructions that do something with registers, and two that do not.
    for (metric, ours) in [
        ("values read more than once", 0.2),
        ("values read once, by the next instruction", 0.6),
        ("register operands that an instruction reads", 1.0),
        ("register operands read for each that is written", 1.2),
    ] {
        let found = row(&report, metric)["ours"].as_f64().unwrap();
        assert!((found - ours).abs() < 1e-9, "{metric}: {found}");
    }
}

#[test]
fn every_row_of_a_tiny_kernel() {
    let folder = folder();
    let arguments = ["report", "rfc", "--kernel", "sums.toml", "--html", "page.html", "--json"];
    let report = read_json(&arguments, &gpurf(&folder, &arguments), PASSED);
    assert_eq!(report["result"], "pass");
    assert!(report["rows"].as_array().unwrap().len() > 60 && !report["absent"].as_array().unwrap().is_empty());
    // Twelve operands of a warp; all but those of registers that have left the cache come from it.
    let part = |metric: &str| row(&report, metric)["ours"].as_f64().unwrap();
    let order = "in program order, without time: MRF reads avoided, 6 entries";
    assert_eq!((part(order), part("MRF reads avoided, 6 entries")), (1.0, 1.0));
    // Six registers: nothing is ever written back, and both warps end without a flush.
    assert_eq!(part("MRF writes avoided, 6 entries"), 1.0);
    let ipc = part("IPC of 8 active warps, greedy, by that of all 32");
    assert!((0.9..1.1).contains(&ipc), "{ipc}");
    let combined = part("MRF reads avoided, 6 entries, 8 active warps");
    assert!((0.5..1.0).contains(&combined), "{combined}");
    for row in report["rows"].as_array().unwrap() {
        let within = row["within"].as_bool().unwrap();
        assert_eq!(row["why"].as_str().unwrap().is_empty(), within, "{row}");
        assert_eq!(row["command"].as_str().unwrap().is_empty(), within, "{row}");
    }
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert_eq!(page.matches("<svg").count(), 13);
}

#[test]
fn the_hybrid_file_on_a_tiny_kernel() {
    let folder = folder();
    let arguments = ["report", "hybrid", "--kernel", "sums.toml", "--html", "page.html", "--json"];
    let report = read_json(&arguments, &gpurf(&folder, &arguments), PASSED);
    assert_eq!((&report["result"], &report["report"]), (&"pass".into(), &"hybrid".into()));
    assert!(report["rows"].as_array().unwrap().len() > 40 && !report["absent"].as_array().unwrap().is_empty());
    // A warp writes ten results. Four registers are drained before it waits for its load, which is written too; the last one dies with it.
    for (metric, ours) in [
        ("writes of the STT-RAM that the buffers save", 0.5),
        ("writes of the STT-RAM that buffers of 4 entries save", 0.5),
        ("active periods that use fewer than 16 entries of a buffer", 1.0),
        ("time in which a buffer's upper 48 entries have power", 0.0),
        ("IPC lost by power gating, against the hybrid file without", 0.0),
        ("area of the hybrid file with power gating, by that of SRAM", 0.3685),
    ] {
        let found = row(&report, metric)["ours"].as_f64().unwrap();
        assert!((found - ours).abs() < 1e-4, "{metric}: {found}");
    }
    let pure =
        row(&report, "IPC lost by pure STT-RAM, against SRAM behind the same scheduler")["ours"].as_f64().unwrap();
    assert!((0.05..0.5).contains(&pure), "{pure}");
    for row in report["rows"].as_array().unwrap() {
        // Only what the paper says can be met or not, and only what is not met has a reason.
        assert_eq!(row["paper"].is_null(), row["within"].is_null(), "{row}");
        let outside = row["within"] == false;
        assert_eq!((row["why"] == "", row["command"] == ""), (!outside, !outside), "{row}");
    }
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert_eq!(page.matches("<svg").count(), 12);
}

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

#[test]
fn a_page_stands_alone_and_the_table_says_what_is_outside() {
    let folder = folder();
    let output = gpurf(&folder, &["report", "rfc", "--only", "values", "--kernel", "sums.toml", "--html", "page.html"]);
    assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    for words in ["values read once", "OUTSIDE", "gpurf report rfc --only values --kernel sums.toml", "page.html"] {
        assert!(table.contains(words), "{words:?} is not in: {table}");
    }
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("sums") && !page.contains("http"), "{page}");
}

#[test]
fn what_cannot_be_reported_is_said() {
    refused(&["report", "orf"], BAD_INPUT, &["orf", "possible values"]);
    refused(&["report", "rfc", "--only", "vlaues"], BAD_INPUT, &["--only vlaues", "values, cache"]);
    refused(&["report", "rfc", "--kernel", "none.toml"], BAD_INPUT, &["none.toml"]);
    refused(&["report", "rfc"], BAD_INPUT, &["tests/kernels", "GPURF_HOME", "--kernel"]);
    let twice = ["report", "rfc", "--kernel", "sums.toml", "--kernel", "./sums.toml"];
    refused(&twice, BAD_INPUT, &["./sums.toml", "another kernel of that name"]);
    let nowhere = ["report", "rfc", "--kernel", "sums.toml", "--html", "none/page.html"];
    refused(&nowhere, BAD_INPUT, &["--html none/page.html", "no such folder"]);
}

#[test]
fn a_kernel_that_goes_wrong_leaves_its_rows_out() {
    let folder = folder();
    let wrong = format!("{MANIFEST}\n[[check]]\nbuffer = \"data\"\nexpected = \"data.bin\"\n");
    fs::write(folder.path().join("wrong.toml"), wrong).unwrap();
    fs::write(folder.path().join("data.bin"), [0; 512]).unwrap();
    let arguments = ["report", "rfc", "--only", "values", "--kernel", "sums.toml", "--kernel", "wrong.toml", "--json"];
    let report = read_json(&arguments, &gpurf(&folder, &arguments), FAILED);
    assert_eq!((&report["result"], &report["rows"]), (&"check_failed".into(), &serde_json::json!([])));
    let message = report["messages"][0].as_str().unwrap();
    assert!(message.contains("wrong: buffer data is wrong") && message.contains("gpurf run wrong.toml"), "{message}");
}

#[cfg(unix)]
#[test]
fn the_first_ctrl_c_ends_the_runs_and_what_is_there_is_shown() {
    let folder = folder();
    // It would count to 2^32.
    let endless = MANIFEST
        .replace("    LD.GLOBAL", "again:\n    IADD R5, P0, R5, 1, !PT\n    @!P0 BRA again, join none\n    LD.GLOBAL");
    fs::write(folder.path().join("endless.toml"), endless).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpurf"));
    command.args([
        "report",
        "rfc",
        "--only",
        "values",
        "--jobs",
        "1",
        "--kernel",
        "sums.toml",
        "--kernel",
        "endless.toml",
    ]);
    command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut told = String::new();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    while !told.contains("ran ") {
        assert!(errors.read_line(&mut told).unwrap() > 0, "{told}");
    }
    assert!(Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(INTERRUPTED));
    assert!(text(&output.stdout).contains("0 of 0 rows"), "{}", text(&output.stdout));
}
