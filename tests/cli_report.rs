//! `gpurf report` as its users see it: rows, bands, files, messages, statuses.

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use common::sums::{MANIFEST, folder, gpurf};
use common::{BAD_INPUT, FAILED, INTERRUPTED, PASSED, check_refused, read_json, text};

/// A report that has a part on values.
fn report() -> &'static str {
    let has_values = |report: &&gpurf_report::Definition| report.parts.iter().any(|part| part.name == "values");
    gpurf_report::reports().find(has_values).unwrap().name
}

#[track_caller]
fn refused(arguments: &[&str], status: i32, words: &[&str]) {
    check_refused(arguments, &gpurf(&folder(), arguments), status, words);
}

#[test]
fn a_page_stands_alone_and_the_table_says_what_is_outside() {
    let folder = folder();
    let output =
        gpurf(&folder, &["report", report(), "--only", "values", "--kernel", "sums.toml", "--html", "page.html"]);
    assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    let command = format!("gpurf report {} --only values --kernel sums.toml", report());
    for words in ["values read once", "OUTSIDE", &command, "page.html"] {
        assert!(table.contains(words), "{words:?} is not in: {table}");
    }
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("sums") && !page.contains("http"), "{page}");
}

#[test]
fn what_cannot_be_reported_is_said() {
    refused(&["report", "prices"], BAD_INPUT, &["prices", "possible values"]);
    refused(&["report", report(), "--only", "vlaues"], BAD_INPUT, &["--only vlaues", "values, cache"]);
    refused(&["report", report(), "--kernel", "none.toml"], BAD_INPUT, &["none.toml"]);
    refused(&["report", report()], BAD_INPUT, &["tests/kernels", "GPURF_HOME", "--kernel"]);
    let twice = ["report", report(), "--kernel", "sums.toml", "--kernel", "./sums.toml"];
    refused(&twice, BAD_INPUT, &["./sums.toml", "another kernel of that name"]);
    let nowhere = ["report", report(), "--kernel", "sums.toml", "--html", "none/page.html"];
    refused(&nowhere, BAD_INPUT, &["--html none/page.html", "no such folder"]);
}

#[test]
fn a_kernel_that_goes_wrong_leaves_its_rows_out() {
    let folder = folder();
    let wrong = format!("{MANIFEST}\n[[check]]\nbuffer = \"data\"\nexpected = \"data.bin\"\n");
    fs::write(folder.path().join("wrong.toml"), wrong).unwrap();
    fs::write(folder.path().join("data.bin"), [0; 512]).unwrap();
    let arguments =
        ["report", report(), "--only", "values", "--kernel", "sums.toml", "--kernel", "wrong.toml", "--json"];
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
        report(),
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
