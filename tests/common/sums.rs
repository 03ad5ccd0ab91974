//! A tiny kernel, and the program in a folder with it.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

use super::{PASSED, read_json};

/// Threads that add their number to a word.
pub const MANIFEST: &str = r#"
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

/// Runs the program in a folder.
pub fn gpurf(folder: &tempfile::TempDir, arguments: &[&str]) -> Output {
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
pub fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("sums.toml"), MANIFEST).unwrap();
    folder
}

/// The row of a metric.
#[track_caller]
pub fn row<'a>(report: &'a Value, metric: &str) -> &'a Value {
    let rows = report["rows"].as_array().unwrap();
    rows.iter().find(|row| row["metric"] == metric).unwrap_or_else(|| panic!("there is no row {metric}"))
}

/// A report with all its parts, which has more than `rows` rows, and a page with `plots` plots.
#[track_caller]
pub fn whole_report(name: &str, rows: usize, plots: usize) -> Value {
    let folder = folder();
    let arguments = ["report", name, "--kernel", "sums.toml", "--html", "page.html", "--json"];
    let report = read_json(&arguments, &gpurf(&folder, &arguments), PASSED);
    assert_eq!((&report["result"], &report["report"]), (&"pass".into(), &name.into()));
    assert!(report["rows"].as_array().unwrap().len() > rows && !report["absent"].as_array().unwrap().is_empty());
    for row in report["rows"].as_array().unwrap() {
        // Only a row with a value of the paper can agree or not, and only a row that does not agree has a reason.
        assert_eq!(row["paper"].is_null(), row["within"].is_null(), "{row}");
        let agrees = row["verdict"].is_null() || row["verdict"] == "agrees";
        assert_eq!((row["why"] == "", row["command"] == ""), (agrees, agrees), "{row}");
    }
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert_eq!(page.matches("<figure").count(), plots);
    report
}
