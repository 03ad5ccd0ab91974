//! Tests of programs of `scripts/` that need no build.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use gpurf_regress::Project;

/// Tools evaluate the operand of a size cast differently, so a sum must not be widened by one.
#[test]
fn a_cast_that_widens_a_sum_is_refused() {
    let (project, folder) = (Project::find(), tempfile::tempdir().unwrap());
    let file = folder.path().join("casts.sv");
    let lint = |sum: &str| {
        let text = format!(
            "module casts (\n  input logic [31:0] a_i, b_i,\n  output logic [32:0] sum_o\n);\n  assign sum_o = {sum};\nendmodule\n"
        );
        fs::write(&file, text).unwrap();
        let script = project.root.join("scripts/lint_casts.py");
        let output = Command::new(project.root.join("target/venv/bin/python")).arg(script).arg(&file).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for sum in ["33'(a_i + b_i)", "33'((a_i - b_i))", "33'(a_i == b_i ? a_i << 1 : b_i)", "(32 + 1)'(~a_i)"] {
        let (status, text) = lint(sum);
        assert!(status == Some(1) && text.contains("casts.sv:5: the cast widens"), "{sum}: {text}");
    }
    for sum in
        ["33'(a_i) + 33'(b_i)", "33'(a_i & b_i)", "33'({1'b0, a_i} + b_i)", "33'(a_i[4+:8])", "33'(5'(a_i + b_i))"]
    {
        assert_eq!(lint(sum).0, Some(0), "{sum}");
    }
}

/// Writes an executable script.
fn program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn two_checkouts_run_in_alternation_and_have_to_do_the_same_work() {
    let (project, folder) = (Project::find(), tempfile::tempdir().unwrap());
    let at = |name: &str| folder.path().join(name);
    // Each one records that it has run, and counts for a while; the faster one counts a third as far.
    let checkout = |name: &str, slots: usize, steps: usize| {
        let text = format!(
            "echo {name} >> {0}; echo \"$*\" > {0}.last; i=0; while [ $i -lt {steps} ]; do i=$((i+1)); done; echo '{{\"stats\":{{\"issue_slots\":{slots}}}}}'",
            at("runs").display()
        );
        program(&at(name).join("target/release/gpurf"), &text);
        fs::write(at(name).join("Cargo.toml"), "").unwrap();
    };
    checkout("before", 100, 300_000);
    checkout("after", 100, 100_000);
    checkout("another", 101, 1);
    program(&at("bin/cargo"), "exit 0");
    let pair = |old: &str, new: &str, engine: &str| {
        let path = format!("{}:{}", at("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("python3");
        command.arg(project.root.join("scripts/bench_pair.py")).arg(at(old)).arg(at(new));
        command.args(["--rounds", "2", "--engine", engine, "--preset", "kepler", "--kernel", "scan"]).env("PATH", path);
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };

    let (status, table, errors) = pair("before", "after", "model");
    assert_eq!(status, Some(0), "{errors}");
    let row = table.lines().last().unwrap();
    assert!(row.starts_with("model     kepler         scan"), "{table}");
    let runs = fs::read_to_string(at("runs")).unwrap();
    assert_eq!(runs.split_whitespace().collect::<Vec<_>>(), ["before", "after", "after", "before", "before", "after"]);

    // The model of a run in lockstep would have a thread of its own.
    let last = || fs::read_to_string(at("runs.last")).unwrap();
    assert!(!last().contains("--threads"));
    let (status, _, errors) = pair("before", "after", "lockstep");
    assert!(status == Some(0) && last().contains("--threads 1"), "{errors}");

    let (status, _, errors) = pair("before", "another", "model");
    assert!(status == Some(2) && errors.contains("100 issue slots before, 101 now"), "{errors}");
    let (status, _, errors) = pair("before", "bin", "model");
    assert!(status == Some(2) && errors.contains("is no checkout of the project"), "{errors}");
}

/// Runs a script of `scripts/` in a folder, with variables.
fn script(name: &str, folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut command = Command::new(Project::find().root.join("scripts").join(name));
    let output = command.args(arguments).envs(variables.iter().copied()).current_dir(folder).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn files_of_scripts_are_named_from_the_callers_folder() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    program(&at("bin/gpurf"), "echo \"$0 $*\"");
    fs::write(at("a.ptx"), "").unwrap();
    let gpurf = ("GPURF", "bin/gpurf");
    let (status, text) = script("acceptance.sh", folder.path(), &["a.ptx"], &[gpurf, ("JSON", "a b.json")]);
    assert!(status == Some(0) && text.contains("compile --summary"), "{text}");
    assert!(fs::read_to_string(at("a b.json")).unwrap().contains("compile --summary --json"));
    let (status, text) = script("artifact.sh", folder.path(), &[], &[gpurf, ("OUT", "out/archive.tar.gz")]);
    assert!(status == Some(0) && at("out/archive.tar.gz").is_file(), "{text}");
    // The testbench is written, and then there is no Verilator.
    let variables = [gpurf, ("LIBGPURF", "bin/gpurf"), ("OUT", "built"), ("VERILATOR", "/none/verilator")];
    let (status, text) = script("testbench.sh", folder.path(), &["dpi"], &variables);
    assert!(status == Some(3) && at("built/dpi.log").is_file(), "{text}");
}

#[test]
fn a_test_program_that_cannot_be_run_has_failed() {
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone");
    let artifact = format!(
        "{{\"reason\": \"compiler-artifact\", \"executable\": \"/bin/true\", \"manifest_path\": \"{}/Cargo.toml\", \
         \"target\": {{\"name\": \"a_test\", \"kind\": [\"test\"]}}, \"profile\": {{\"test\": true}}}}",
        gone.display()
    );
    program(&folder.path().join("bin/cargo"), &format!("[ \"$3\" = --doc ] || echo '{artifact}'"));
    program(&folder.path().join("bin/rustc"), "echo /none");
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("python3");
    command.arg(Project::find().root.join("scripts/run_tests.py")).env("PATH", path).current_dir(folder.path());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("failed: gone a_test: ") && text.contains("gone'"), "{text}");
    assert_eq!(output.status.code(), Some(1), "{text}");
}
