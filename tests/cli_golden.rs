//! `gpurf golden` as its users see it. The first test is the check itself, of a few kernels on every preset.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{BAD_INPUT, FAILED, PASSED, TOOL, check_refused, read_json, text};

/// Kernels that together have divergence, barriers, shared memory, atomic operations, floating point and several launches, in few cycles.
const QUICK: [&str; 5] = ["countBytes", "dwtHaar1D", "reduction", "saxpy", "scan"];

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gpurf"))
        .args(arguments)
        .current_dir(std::env::temp_dir())
        .env_remove("GPURF_HOME")
        .output()
        .unwrap()
}

/// A folder with the golden of a kernel at the baseline.
fn blessed(kernel: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("baseline/{kernel}.toml"));
    let output = golden(folder.path(), &["bless", "--reason", "it is new", "--kernel", kernel]);
    assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), format!("baseline {kernel}: new\n1 of 1 goldens as they were\n"));
    (folder, file)
}

/// `gpurf golden` with the goldens of a folder, of the baseline.
fn golden(folder: &Path, arguments: &[&str]) -> Output {
    let folder = folder.to_str().unwrap();
    run(&[&["golden"], arguments, &["--goldens", folder, "--preset", "baseline"]].concat())
}

/// Replaces the value of a key in a file.
fn edit(file: &Path, key: &str, value: &str) {
    let edited = fs::read_to_string(file).unwrap();
    let line = |line: &str| match line.split_once(" = ") {
        Some((name, _)) if name == key => format!("{key} = {value}\n"),
        _ => format!("{line}\n"),
    };
    fs::write(file, edited.lines().map(line).collect::<String>()).unwrap();
}

#[test]
fn the_model_does_what_the_goldens_say() {
    let mut arguments = vec!["golden", "check"];
    QUICK.iter().for_each(|kernel| arguments.extend(["--kernel", kernel]));
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(PASSED), "\n{}{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn a_change_is_said_and_blessed_with_a_reason() {
    let (folder, file) = blessed("saxpy");
    let first = fs::read_to_string(&file).unwrap();
    assert!(first.contains("reason = \"it is new\""), "{first}");
    let marks: Vec<&str> = first.lines().find_map(|l| l.strip_prefix("marks = \"")).unwrap().split(' ').collect();
    edit(&file, "cycles", "4900");
    edit(&file, "line_wait", "1");
    edit(&file, "state", "\"0123456789abcdef\"");
    edit(&file, "marks", &format!("\"{} {} 00000000\"", marks[0], marks[1]));

    let output = golden(folder.path(), &["check", "--kernel", "saxpy"]);
    assert_eq!(output.status.code(), Some(FAILED));
    let words = text(&output.stdout);
    for word in [
        "baseline saxpy\n",
        "differs since one of the cycles 1 024 to 1 535; --before",
        "events.line_wait",
        "4900",
        "+52 (+1.06 %)",
    ] {
        assert!(words.contains(word), "{word:?} is not in: {words}");
    }
    let arguments = ["check", "--kernel", "saxpy", "--json"];
    let json = read_json(&arguments, &golden(folder.path(), &arguments), FAILED);
    assert_eq!((&json["result"], &json["command"]), (&"check_failed".into(), &"golden check".into()));
    let run = &json["runs"][0];
    assert_eq!(run["since"], serde_json::json!({"first": 1024, "last": 1535}));
    assert_eq!(run["changes"][0], serde_json::json!({"what": "cycles", "before": "4900", "now": "4952"}));

    // This program has the change already.
    let program = env!("CARGO_BIN_EXE_gpurf");
    let arguments = ["check", "--kernel", "saxpy", "--before", program];
    let output = golden(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(BAD_INPUT));
    assert!(text(&output.stdout).contains("does not do what the golden says either"), "{}", text(&output.stdout));

    let output = golden(folder.path(), &["bless", "--reason", "52 cycles are right", "--kernel", "saxpy"]);
    assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("events.line_wait"), "{}", text(&output.stdout));
    assert_eq!(fs::read_to_string(&file).unwrap(), first.replace("it is new", "52 cycles are right"));
    // What has not changed keeps its reason.
    golden(folder.path(), &["bless", "--reason", "again", "--kernel", "saxpy"]);
    assert!(fs::read_to_string(&file).unwrap().contains("52 cycles are right"));
    assert_eq!(golden(folder.path(), &["check", "--kernel", "saxpy"]).status.code(), Some(PASSED));
}

#[test]
fn goldens_that_are_missing_or_none_are_said() {
    let (folder, file) = blessed("saxpy");
    let said = |arguments: &[&str], status: i32, word: &str| {
        let output = golden(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(status), "{}", text(&output.stdout));
        assert!(text(&output.stdout).contains(word), "{word:?} is not in: {}", text(&output.stdout));
    };
    said(&["check", "--kernel", "vectorAdd"], FAILED, "there is no golden");
    edit(&file, "cycles", "\"many\"");
    said(&["check", "--kernel", "saxpy"], BAD_INPUT, "saxpy.toml:5: this is no golden");
    // A golden whose kernel is no more.
    edit(&file, "cycles", "4952");
    edit(&file, "kernel", "\"tests/kernels/gone.toml\"");
    said(&["check", "--kernel", "vectorAdd"], FAILED, "saxpy.toml: its preset or launch manifest is no more");
}

#[test]
fn wrong_input_is_refused() {
    let refused = |arguments: &[&str], words: &[&str]| check_refused(arguments, &run(arguments), BAD_INPUT, words);
    refused(&["golden", "check", "--preset", "none"], &["there is no preset none; there are: baseline"]);
    refused(&["golden", "check", "--kernel", "none"], &["--kernel none: no such file, and no test kernel", "saxpy"]);
    refused(&["golden", "bless"], &["--reason <TEXT>"]);
}

#[test]
fn what_cannot_be_written_is_said_and_damages_nothing() {
    let (folder, file) = blessed("saxpy");
    edit(&file, "cycles", "4900");
    let before = fs::read(&file).unwrap();
    // A disk that is full behind the first kilobyte.
    let command = format!(
        "trap '' XFSZ; ulimit -f 0; exec '{}' golden bless --reason x --preset baseline --kernel saxpy --goldens '{}'",
        env!("CARGO_BIN_EXE_gpurf"),
        folder.path().display()
    );
    let output = Command::new("bash").args(["-c", &command]).output().unwrap();
    assert_eq!(output.status.code(), Some(TOOL), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("cannot write"), "{}", text(&output.stdout));
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    // A folder that is none.
    let output = golden(&file, &["bless", "--reason", "x", "--kernel", "saxpy"]);
    assert_eq!(output.status.code(), Some(TOOL), "{}", text(&output.stdout));
    assert_eq!(fs::read(&file).unwrap(), before);
}
