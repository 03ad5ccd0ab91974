//! `gpurf exec`: an application that does by hand what nvcc's host code does (`exec/by_hand.c`), so that no nvcc is needed.

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use common::{BAD_INPUT, INTERRUPTED, PASSED, check_refused, text};
use serde_json::Value;
use tempfile::TempDir;

/// The first kernel multiplies by a constant, and counts in a variable and in another one that the host sees. The second moves words to the previous
/// thread through shared memory; the last thread reads a word that was never written, and does not use it. The third is outside of the subset.
const PTX: &str = "\
.version 9.0
.target sm_75
.address_size 64
.visible .const .align 4 .b8 factor[8] = {0, 0, 0, 0, 3, 0, 0, 0};
.visible .global .align 4 .u32 count = 100;
.visible .global .attribute(.managed) .align 4 .u32 total = 40;
.visible .entry scale(.param .u64 p_x, .param .u32 p_n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [p_x];
    ld.param.u32 %r1, [p_n];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra done;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r3, [%rd4];
    ld.const.u32 %r4, [factor+4];
    mul.lo.s32 %r5, %r3, %r4;
    st.global.u32 [%rd4], %r5;
    red.global.add.u32 [count], 1;
    red.global.add.u32 [total], 1;
done:
    ret;
}
.visible .entry edge(.param .u64 p_x, .param .u32 p_n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<5>;
    .shared .align 4 .b8 tile[256];
    ld.param.u64 %rd1, [p_x];
    ld.param.u32 %r1, [p_n];
    mov.u32 %r2, %tid.x;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd2, %rd3;
    shl.b32 %r3, %r2, 2;
    mov.u32 %r4, tile;
    add.s32 %r5, %r4, %r3;
    ld.global.u32 %r6, [%rd4];
    st.shared.u32 [%r5], %r6;
    bar.sync 0;
    ld.shared.u32 %r7, [%r5+4];
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra done;
    st.global.u32 [%rd4], %r7;
done:
    ret;
}
.visible .entry outside(.param .f64 p)
{
    .reg .f64 %d<3>;
    ld.param.f64 %d1, [p];
    rem.f64 %d2, %d1, %d1;
    ret;
}
";

/// The application linked with each version of the runtime, and its fat binary.
struct Applications(TempDir);

static APPLICATIONS: LazyLock<Applications> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let library = text(&gpurf(&["exec", "--library"]).stdout);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/exec/by_hand.c");
    for version in ["11.0", "12", "13"] {
        let output = Command::new("cc")
            .args(["-Wall", "-Werror", "-pie", "-o"])
            .arg(folder.path().join(format!("by_hand{version}")))
            .arg(&source)
            .args(["-L", library.trim(), &format!("-l:libcudart.so.{version}")])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    fs::write(folder.path().join("fat"), fat(PTX)).unwrap();
    Applications(folder)
});

/// A fat binary with a text that is not compressed.
fn fat(ptx: &str) -> Vec<u8> {
    let mut data = ptx.as_bytes().to_vec();
    data.resize(ptx.len().next_multiple_of(8), 0);
    let mut head = vec![0; 64];
    (head[0], head[4], head[28]) = (1, 64, 75);
    head[8..16].copy_from_slice(&(data.len() as u64).to_le_bytes());
    let size = (64 + data.len() as u64).to_le_bytes();
    [&0xba55_ed50u32.to_le_bytes()[..], &[1, 0, 16, 0], &size, &head, &data].concat()
}

fn gpurf(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gpurf")).args(arguments).output().unwrap()
}

/// `gpurf exec` with these options, on the application in this mode.
fn exec_with(version: &str, options: &[&str], mode: &[&str]) -> Output {
    let folder = APPLICATIONS.0.path();
    let [program, fat] =
        [format!("by_hand{version}"), "fat".to_owned()].map(|name| folder.join(name).display().to_string());
    gpurf(&[&["exec"], options, &["--", &program, &fat], mode].concat())
}

fn exec(options: &[&str], mode: &[&str]) -> Output {
    exec_with("13", options, mode)
}

/// The output of the application for `scale`.
const SCALED: &str = "10 20 30 40 50 6, 105\n70 450, 47\n10 20 40 50, 0x1010101 20, time\n";

#[track_caller]
fn check_scaled(output: &Output, version: u32, preset: &str) {
    assert_eq!(text(&output.stdout), format!("{version}000 gpurf {preset}\n{SCALED}"), "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(PASSED));
}

#[test]
fn an_application_gets_its_results_with_each_version_of_the_runtime() {
    for (name, version) in [("11.0", 11), ("12", 12), ("13", 13)] {
        let output = exec_with(name, &[], &["scale"]);
        check_scaled(&output, version, "baseline");
        // The loader has no complaint about versions of symbols.
        let message = text(&output.stderr);
        assert!(message.contains("scale") && !message.contains("version"), "{message}");
    }
}

/// Memory in planes and rows, of which parts are copied and filled.
#[test]
fn boxes_of_memory_are_copied_and_filled() {
    for version in ["11.0", "13"] {
        let output = exec_with(version, &[], &["box"]);
        let printed = text(&output.stdout);
        // Two words of each of three rows, 5 words apart, of plane 1 from 25 on, and of plane 2, whose first row is multiplied by 3.
        let expected = "512 20 4\n25 26 30 31 35 36 135 138 50 51 55 56 0x1010101 21\n";
        assert!(printed.ends_with(expected), "{printed}{}", text(&output.stderr));
        assert_eq!(output.status.code(), Some(PASSED), "{printed}");
    }
}

/// A read of shared memory that nothing has written is no fault where its value is not used.
#[test]
fn what_nothing_has_written_may_be_read_from_shared_memory() {
    let output = exec(&[], &["edge"]);
    let printed = text(&output.stdout);
    assert!(printed.ends_with("2 3 4 5 6 7 8 8\n"), "{printed}{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(PASSED), "{printed}");
}

#[test]
fn the_model_counts_cycles() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let json = file.path().display().to_string();
    let output = exec(&["--engine", "model", "--preset", "mrf-1r1w", "--verbose", "--json", &json], &["scale"]);
    check_scaled(&output, 13, "mrf-1r1w");
    assert!(text(&output.stderr).contains("scale <<<(1, 1, 1), (32, 1, 1)>>>: model, "), "{}", text(&output.stderr));
    let summary: Value = serde_json::from_slice(&fs::read(file.path()).unwrap()).unwrap();
    assert_eq!((summary["result"].as_str(), summary["exit_status"].as_i64()), (Some("pass"), Some(0)));
    assert_eq!(summary["kernels"][0]["launches"], 2);
    assert!(summary["kernels"][0]["cycles"].as_u64().unwrap() > 100);
    // One of two launches has cycles.
    exec(&["--engine", "model", "--sample", "1", "--json", &json], &["scale"]);
    let sampled: Value = serde_json::from_slice(&fs::read(file.path()).unwrap()).unwrap();
    assert_eq!(sampled["kernels"][0]["launches"], 2);
    assert!(sampled["kernels"][0]["cycles"].as_u64() < summary["kernels"][0]["cycles"].as_u64());
}

/// Launches run on model and RTL in lockstep; each is recorded, and run again from its record.
#[test]
fn launches_run_in_lockstep_and_again_from_their_records() {
    let records = tempfile::tempdir().unwrap();
    let folder = records.path().display().to_string();
    let output = exec(&["--engine", "lockstep", "--record", &folder], &["scale"]);
    check_scaled(&output, 13, "baseline");
    assert!(text(&output.stderr).contains("2 launches are recorded"), "{}", text(&output.stderr));
    for number in ["0001", "0002"] {
        let manifest = records.path().join(format!("{number}.toml"));
        let text_of = fs::read_to_string(&manifest).unwrap();
        assert!(text_of.matches("[[check]]").count() >= 3, "{text_of}");
        let again = gpurf(&["run", manifest.to_str().unwrap(), "--engine", "model"]);
        assert_eq!(again.status.code(), Some(PASSED), "{}{}", text(&again.stdout), text(&again.stderr));
        // The check can fail.
        let expected = fs::read_dir(records.path()).unwrap().map(|file| file.unwrap().path());
        let is_expected = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(number) && name.ends_with("count-expected.bin")
        };
        fs::write(expected.into_iter().find(is_expected).unwrap(), 9u32.to_le_bytes()).unwrap();
        let again = gpurf(&["run", manifest.to_str().unwrap()]);
        assert_eq!(again.status.code(), Some(common::FAILED), "{}", text(&again.stdout));
    }
}

/// Random calls, correct and wrong: the program continues, and its results at the end are correct.
#[test]
fn wrong_calls_are_errors_and_the_device_goes_on() {
    for seed in ["1", "2", "3"] {
        let version = ["11.0", "12", "13"][seed.parse::<usize>().unwrap() - 1];
        let output = exec_with(version, &[], &["random", seed]);
        let (printed, said) = (text(&output.stdout), text(&output.stderr));
        assert!(printed.ends_with(&format!("good and wrong\n{SCALED}")), "seed {seed}: {printed}{said}");
        assert_eq!(output.status.code(), Some(PASSED), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}

/// Fat binaries with changed bytes: the application gets errors, gpurf reports the reason, and ends.
#[test]
fn damaged_fat_binaries_are_said() {
    let (whole, folder) = (fat(PTX), tempfile::tempdir().unwrap());
    let program = APPLICATIONS.0.path().join("by_hand13").display().to_string();
    let damages: [(usize, u8, &str); 7] = [
        (0, 0, "cannot be read"),
        (8, 0xff, "cannot be read"),
        (16, 2, "no PTX"),
        (24, 0xff, "cannot be read"),
        (57, 0x20, "cannot be read"),
        // In the text: no version, and no kernel of this name.
        (81, b'w', "module1.ptx:1:"),
        (whole.iter().position(|byte| *byte == b'p').unwrap(), 0xff, "cannot be read"),
    ];
    for (at, value, expected) in damages {
        let mut bytes = whole.clone();
        bytes[at] = value;
        // The application reads 64 KiB; what lies after the file is zero.
        let path = folder.path().join("fat").display().to_string();
        fs::write(&path, bytes).unwrap();
        let output = gpurf(&["exec", "--", &program, &path, "scale"]);
        let said = text(&output.stderr);
        assert!(said.contains(expected) && !said.contains("panicked"), "byte {at}: {said}");
        // Its first wrong call ends the application.
        assert_eq!(output.status.code(), Some(9), "byte {at}: {said}");
        if expected == "no PTX" {
            let said = text(&gpurf(&["exec", "--", &program, &path, "separate"]).stderr);
            assert!(said.contains("-rdc=true") && !said.contains("no PTX"), "{said}");
        }
    }
}

#[test]
fn errors_are_those_of_cuda() {
    let output = exec(&[], &["wrong"]);
    assert_eq!(output.status.code(), Some(PASSED), "{}{}", text(&output.stdout), text(&output.stderr));
    // The compiler's message about a kernel is printed once.
    assert_eq!(text(&output.stderr).matches("double precision").count(), 1, "{}", text(&output.stderr));
    let output = exec(&[], &["fault"]);
    let printed = text(&output.stdout);
    assert!(printed.contains("cudaErrorIllegalAddress: an illegal memory access was encountered"), "{printed}");
    assert_eq!(output.status.code(), Some(PASSED), "{}{printed}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("kernel scale, block (0, 0, 0), thread (0, 0, 0): load of 4 bytes"),
        "{}",
        text(&output.stderr)
    );
    let output = exec(&[], &["refused"]);
    assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stdout));
    for refused in
        ["cudaUserObjectCreate is not", "that cudaHostRegister has registered is not", "kernels have no heap"]
    {
        assert_eq!(text(&output.stderr).matches(refused).count(), 1, "{refused}: {}", text(&output.stderr));
    }
}

#[test]
fn a_launch_may_have_attributes() {
    let output = exec(&[], &["extended"]);
    let (printed, said) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.code() == Some(PASSED) && printed.ends_with("\n45\n"), "{printed}{said}");
    for refused in [
        "all blocks of a cooperative launch are on the SM",
        "a launch of clusters",
        "this attribute of cudaLaunchKernelEx is",
    ] {
        assert_eq!(said.matches(refused).count(), 1, "{refused}: {said}");
    }
}

#[test]
fn one_process_has_the_device() {
    let output = exec(&[], &["busy"]);
    assert!(text(&output.stdout).ends_with("cudaErrorDevicesUnavailable\n"), "{}", text(&output.stdout));
    // One after the other, in a script: each process gets a new device.
    let folder = APPLICATIONS.0.path();
    let script = format!("cd {}; ./by_hand13 fat scale; ./by_hand12 fat scale", folder.display());
    let output = gpurf(&["exec", "--", "sh", "-c", &script]);
    assert_eq!(text(&output.stdout), format!("13000 gpurf baseline\n{SCALED}12000 gpurf baseline\n{SCALED}"));
}

#[test]
fn the_status_is_that_of_the_application() {
    assert_eq!(exec(&[], &["loop", "37"]).status.code(), Some(37));
    assert_eq!(gpurf(&["exec", "--", "sh", "-c", "kill -9 $$"]).status.code(), Some(137));
}

/// Sends a signal to a process; returns whether the process exists.
fn signal(name: &str, process: &str) -> bool {
    let kill = Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).stderr(Stdio::null()).status();
    kill.unwrap().success()
}

/// Starts an application whose last line is the number of its process, sends a signal to gpurf alone when that line is there, and checks that both end.
/// Returns what the application prints after that line. The applications never end on their own.
#[track_caller]
fn ends_after(name: &str, lines: usize, program: &[&str]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpurf"));
    command.args(["exec", "--"]).args(program).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut printed = BufReader::new(child.stdout.take().unwrap()).lines();
    let process = printed.nth(lines - 1).unwrap().unwrap();
    assert!(signal(name, &child.id().to_string()));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(INTERRUPTED), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "interrupted: the application was told to end\n");
    assert!(!signal("0", &process), "the application runs on");
    printed.map(|line| line.unwrap()).collect()
}

/// The signal of a terminal reaches the application too; this one reaches only gpurf.
#[test]
fn the_application_ends_when_gpurf_is_told_to() {
    for name in ["TERM", "INT", "HUP"] {
        assert!(ends_after(name, 1, &["sh", "-c", "echo $$; exec sleep infinity"]).is_empty());
    }
    // An application that is connected, and does nothing.
    let [program, fat] = ["by_hand13", "fat"].map(|name| APPLICATIONS.0.path().join(name).display().to_string());
    assert!(ends_after("TERM", 2, &[&program, &fat, "wait"]).is_empty());
    // An application that ignores the signal has time to end before it is killed: it prints a line after the signal.
    let deaf = ["sh", "-c", "trap 'echo asked' TERM; echo $$; while :; do sleep 0.2; done"];
    assert_eq!(ends_after("TERM", 1, &deaf), ["asked"]);
}

/// gpurf does not wait for a process that an ended script has left behind: this one never ends on its own.
#[test]
fn what_an_ended_script_has_started_loses_its_device() {
    let script = format!("cd {}; ./by_hand13 fat wait; echo", APPLICATIONS.0.path().display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpurf"));
    let mut child = command.args(["exec", "--", "sh", "-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut printed = BufReader::new(child.stdout.take().unwrap()).lines();
    let process = printed.nth(1).unwrap().unwrap();
    assert!(signal("TERM", &child.id().to_string()));
    assert_eq!(child.wait().unwrap().code(), Some(INTERRUPTED));
    signal("KILL", &process);
}

#[test]
fn what_cannot_be_written_is_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["exec", "--json", folder.path().to_str().unwrap(), "--", "echo", "run"];
    check_refused(&arguments, &gpurf(&arguments), BAD_INPUT, &["--json", "it is a folder"]);
    let home = folder.path().join("none");
    for arguments in [&["exec", "--library"][..], &["exec", "--", "echo", "run"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_gpurf")).args(arguments).env("GPURF_HOME", &home).output();
        check_refused(arguments, &output.unwrap(), BAD_INPUT, &["there is no folder", "set GPURF_HOME"]);
    }
    assert!(!home.exists());
}

#[test]
fn what_cannot_be_run_is_said() {
    let output = gpurf(&["exec", "--", "/no/such/program"]);
    assert_eq!(output.status.code(), Some(BAD_INPUT));
    assert!(text(&output.stderr).contains("cannot start /no/such/program"), "{}", text(&output.stderr));
    let output = gpurf(&["exec", "--", "true"]);
    assert_eq!(output.status.code(), Some(PASSED));
    assert!(text(&output.stderr).contains("-cudart shared"), "{}", text(&output.stderr));
    // A program that could not be loaded says so itself.
    let output = gpurf(&["exec", "--", "sh", "-c", "exit 127"]);
    assert_eq!((output.status.code(), text(&output.stderr).contains("-cudart shared")), (Some(127), false));
    assert_eq!(gpurf(&["exec"]).status.code(), Some(BAD_INPUT));
    for option in [&["--train"][..], &["--optimise"], &["--threads", "2"]] {
        let arguments = [&["exec", "--engine", "model"], option, &["--", "true"]].concat();
        check_refused(&arguments, &gpurf(&arguments), BAD_INPUT, &[option[0], "model", "lockstep"]);
    }
    // A block does not fit: the program gets an error, and other launches run.
    let file = tempfile::NamedTempFile::new().unwrap();
    let json = file.path().display().to_string();
    let output = exec(&["--engine", "model", "--set", "sm.warps=8", "--json", &json], &["large"]);
    assert!(text(&output.stdout).ends_with("\n15\n"), "{}", text(&output.stdout));
    let said = text(&output.stderr);
    assert!(said.contains("a block has 32 warps, the SM has 8"), "{said}");
    // The program may ignore the error: the table has the launch.
    let row: Vec<&str> = said.lines().last().unwrap().split_whitespace().collect();
    assert!(said.contains("launches  refused") && row[..3] == ["scale", "1", "1"], "{said}");
    let summary: Value = serde_json::from_slice(&fs::read(file.path()).unwrap()).unwrap();
    assert_eq!((&summary["kernels"][0]["launches"], &summary["kernels"][0]["refused"]), (&1.into(), &1.into()));
    // Without gpurf the runtime prints a message.
    let folder = APPLICATIONS.0.path();
    let library = text(&gpurf(&["exec", "--library"]).stdout);
    let output =
        Command::new(folder.join("by_hand13")).arg(folder.join("fat")).env("LD_LIBRARY_PATH", library.trim()).output();
    let message = text(&output.unwrap().stderr);
    assert!(message.contains("only in a program that `gpurf exec -- PROGRAM` has started"), "{message}");
}
