//! `gpurf golden` as its users see it. The first test is the check itself, of a few kernels on every preset.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{
    BAD_INPUT, FAILED, PASSED, TOOL, check_refused, files_below, read_json, set_read_only, stopped_by_permissions, text,
};
use gpurf_regress::Project;

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
    assert_eq!(text(&output.stdout), format!("baseline {kernel}: new\n1 new, 0 unchanged\n"));
    (folder, file)
}

/// `gpurf golden` with the goldens of a folder, for the baseline.
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
        "-38 (-0.78 %)",
    ] {
        assert!(words.contains(word), "{word:?} is not in: {words}");
    }
    let arguments = ["check", "--kernel", "saxpy", "--json"];
    let json = read_json(&arguments, &golden(folder.path(), &arguments), FAILED);
    assert_eq!((&json["result"], &json["command"]), (&"check_failed".into(), &"golden check".into()));
    let run = &json["runs"][0];
    assert_eq!(run["since"], serde_json::json!({"first": 1024, "last": 1535}));
    assert_eq!(run["changes"][0], serde_json::json!({"what": "cycles", "before": "4900", "now": "4862"}));

    // This program already has the change, so it is not the one before.
    let program = env!("CARGO_BIN_EXE_gpurf");
    let arguments = ["check", "--kernel", "saxpy", "--before", program];
    let output = golden(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(BAD_INPUT));
    let said = text(&output.stdout);
    assert!(said.contains("does not match the golden either") && said.contains("events.line_wait"), "{said}");

    let output = golden(folder.path(), &["bless", "--reason", "52 cycles are right", "--kernel", "saxpy"]);
    assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.contains("events.line_wait") && said.ends_with("\n1 changed, 0 unchanged\n"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), first.replace("it is new", "52 cycles are right"));
    // A golden that has not changed keeps its reason.
    golden(folder.path(), &["bless", "--reason", "again", "--kernel", "saxpy"]);
    assert!(fs::read_to_string(&file).unwrap().contains("52 cycles are right"));
    assert_eq!(golden(folder.path(), &["check", "--kernel", "saxpy"]).status.code(), Some(PASSED));
}

/// The path of the trace of a kernel whose golden is in this folder.
fn trace_of(goldens: &Path, kernel: &str) -> PathBuf {
    let below = goldens.strip_prefix("/").unwrap();
    Project::find().root.join("target/goldens/elsewhere").join(below).join(format!("baseline/{kernel}.trace"))
}

#[test]
fn the_first_cycle_comes_from_the_last_run_that_was_as_the_golden_says() {
    let folder = tempfile::tempdir().unwrap();
    let (goldens, manifest, old) =
        (folder.path().join("goldens"), folder.path().join("mine.toml"), folder.path().join("old/mine.toml"));
    let kernels = Project::find().root.join("tests/kernels");
    let text_of = |values: u64| {
        let ptx = kernels.join("saxpy.ptx");
        format!(
            "source = {ptx:?}\nkernel = \"saxpy\"\ngrid = [4]\nblock = [64]\n\
             [[arg]]\nscalar = {{ type = \"s32\", value = 200 }}\n[[arg]]\nscalar = {{ type = \"f32\", value = 2.5 }}\n\
             [[arg]]\nbuffer = {{ name = \"x\", type = \"f32\", len = 256, init = {{ random = {{ seed = {values}, min = -1.0, max = 1.0 }} }} }}\n\
             [[arg]]\nbuffer = {{ name = \"y\", type = \"f32\", len = 256, init = {{ random = {{ seed = 2, min = -1.0, max = 1.0 }} }}, output = true }}\n"
        )
    };
    fs::create_dir(folder.path().join("old")).unwrap();
    fs::write(&old, text_of(1)).unwrap();
    fs::write(&manifest, text_of(1)).unwrap();
    let mine = manifest.to_str().unwrap();
    let bless = golden(&goldens, &["bless", "--reason", "new", "--kernel", mine]);
    assert_eq!(bless.status.code(), Some(PASSED), "{}{}", text(&bless.stdout), text(&bless.stderr));

    // Memory returns other values: the runs differ from the cycle on in which the first of them arrives.
    fs::write(&manifest, text_of(3)).unwrap();
    let since = |arguments: &[&str]| {
        let arguments = [&["check", "--kernel", mine, "--json"], arguments].concat();
        read_json(&arguments, &golden(&goldens, &arguments), FAILED)["runs"][0]["since"].clone()
    };
    let exact = since(&[]);
    assert_eq!(exact["first"], exact["last"]);
    assert!(exact["first"].as_u64().unwrap() > 400, "{exact}");
    let words = text(&golden(&goldens, &["check", "--kernel", mine]).stdout);
    assert!(words.contains("  differs since cycle ") && words.contains("outputs.y"), "{words}");

    // Without the trace of that run only the interval is known, unless a program with the earlier behaviour is named.
    let kept = trace_of(&goldens, "mine");
    fs::remove_file(&kept).unwrap();
    let interval = since(&[]);
    let bound = |of: &str| interval[of].as_u64().unwrap();
    assert!(bound("first") < bound("last"), "{interval}");
    assert!((bound("first")..=bound("last")).contains(&exact["first"].as_u64().unwrap()), "{interval} {exact}");
    let before = folder.path().join("before.sh");
    let script = format!(
        "#!/bin/sh\n[ \"$3 $5\" = '--preset --kernel' ] && exec '{}' golden trace --preset \"$4\" --kernel '{}' -o \"$8\"\n",
        env!("CARGO_BIN_EXE_gpurf"),
        old.display()
    );
    fs::write(&before, script).unwrap();
    fs::set_permissions(&before, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(since(&["--before", before.to_str().unwrap()]), exact);
    assert!(!kept.exists(), "what differs is no golden's run");
}

#[test]
fn traces_are_kept_as_long_as_their_goldens_are() {
    let (folder, file) = blessed("saxpy");
    let (other, _other_file) = blessed("vectorAdd");
    let [mine, others] = [(&folder, "saxpy"), (&other, "vectorAdd")].map(|(of, name)| trace_of(of.path(), name));
    // A trace of a preset that no longer exists, and one of a golden that exists.
    let traces = Project::find().root.join("target/goldens");
    let (gone, kept) = (traces.join("no-such-preset/saxpy.trace"), traces.join("baseline/vectorAdd.trace"));
    let ours = ["golden", "check", "--preset", "baseline", "--kernel", "vectorAdd"];
    assert_eq!(run(&ours).status.code(), Some(PASSED));
    fs::create_dir_all(gone.parent().unwrap()).unwrap();
    fs::write(&gone, "a trace").unwrap();
    assert!([&mine, &others, &gone, &kept].into_iter().all(|trace| trace.exists()));

    fs::remove_file(&file).unwrap();
    assert_eq!(run(&ours).status.code(), Some(PASSED));
    assert!(!mine.exists() && !gone.parent().unwrap().exists(), "what has no golden stays");
    assert!(others.exists() && kept.exists(), "what has a golden is gone");
    drop(other);
    assert_eq!(run(&ours).status.code(), Some(PASSED));
    assert!(!others.parent().unwrap().exists(), "what has no folder of goldens stays");
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
    // A golden whose kernel no longer exists.
    edit(&file, "cycles", "4952");
    edit(&file, "kernel", "\"tests/kernels/gone.toml\"");
    said(&["check", "--kernel", "vectorAdd"], FAILED, "saxpy.toml: its preset or launch manifest no longer exists");
    said(&["check", "--kernel", "vectorAdd"], FAILED, "\nbaseline saxpy: /");
}

#[test]
fn a_golden_belongs_to_its_place() {
    let (folder, file) = blessed("saxpy");
    let first = fs::read_to_string(&file).unwrap();
    for (key, value, words) in [
        ("preset", "\"two-level\"", "its preset is two-level, but this is the place of baseline"),
        (
            "kernel",
            "\"tests/kernels/scan.toml\"",
            "its kernel is tests/kernels/scan.toml, but this is the place of saxpy",
        ),
    ] {
        edit(&file, key, value);
        let output = golden(folder.path(), &["check", "--kernel", "saxpy"]);
        assert_eq!(output.status.code(), Some(BAD_INPUT));
        assert!(text(&output.stdout).contains(words), "{}", text(&output.stdout));
        // The message names this remedy.
        let output = golden(folder.path(), &["bless", "--reason", "it is new", "--kernel", "saxpy"]);
        assert!(text(&output.stdout).ends_with("1 new, 0 unchanged\n"), "{}", text(&output.stdout));
        assert_eq!(fs::read_to_string(&file).unwrap(), first);
    }
}

#[test]
fn two_kernels_of_one_name_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = Project::find().root.join("tests/kernels/saxpy.toml");
    let other = folder.path().join("saxpy.toml");
    let ptx = format!("{:?}", kernel.with_extension("ptx"));
    fs::write(&other, fs::read_to_string(&kernel).unwrap().replace("\"saxpy.cu\"", &ptx)).unwrap();
    let [kernel, other] = [&kernel, &other].map(|file| file.to_str().unwrap());
    for action in [&["check"][..], &["bless", "--reason", "x"]] {
        let arguments = [action, &["--kernel", kernel, "--kernel", other]].concat();
        let words = format!("--kernel {other}: there is another kernel of that name");
        check_refused(&arguments, &golden(folder.path(), &arguments), BAD_INPUT, &[&words]);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_differs_is_shown_without_the_program_before_too() {
    let (folder, file) = blessed("saxpy");
    edit(&file, "state", "\"0123456789abcdef\"");
    let program = folder.path().join("gpurf-old");
    fs::write(&program, "#!/bin/sh\nexit 3\n").unwrap();
    let check = |before: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpurf"));
        command.args(["golden", "check", "--preset", "baseline", "--kernel", "saxpy", "--goldens", "."]);
        command.args(["--before", before]).current_dir(folder.path()).env_remove("GPURF_HOME").output().unwrap()
    };
    let refused = |before: &str, words: &str| {
        check_refused(&["--before", before], &check(before), BAD_INPUT, &[&format!("--before {before}: {words}")]);
    };
    refused("nope", "there is no such file in the current folder, and no program of this name on PATH");
    refused("./nope", "there is no such file");
    refused("baseline", "it is a folder");
    refused("gpurf-old", "the file is not executable");
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = check("gpurf-old");
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(BAD_INPUT), "{said}{}", text(&output.stderr));
    for words in ["gpurf-old golden trace does not give a trace (exit status: 3)\n", "  differs since ", "  state "] {
        assert!(said.contains(words), "{words:?} is not in: {said}");
    }
}

#[test]
fn wrong_input_is_refused() {
    let refused = |arguments: &[&str], words: &[&str]| check_refused(arguments, &run(arguments), BAD_INPUT, words);
    refused(&["golden", "check", "--preset", "none"], &["there is no preset none; there are: baseline"]);
    refused(&["golden", "check", "--kernel", "none"], &["--kernel none: no such file, and no test kernel", "saxpy"]);
    refused(&["golden", "bless"], &["--reason <TEXT>"]);
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().to_str().unwrap();
    let trace = ["golden", "trace", "--preset", "baseline", "--kernel", "saxpy", "-o", to];
    refused(&trace, &["--output", to, "it is a folder"]);
    let kernel = folder.path().join("s6.toml").display().to_string();
    let saxpy = Project::find().root.join("tests/kernels/saxpy.ptx").display().to_string();
    let text = "kernel = \"saxpy\"\ngrid = [1]\nblock = [32]\n";
    fs::write(&kernel, format!("source = \"{saxpy}\"\n{text}")).unwrap();
    let itself = ["golden", "trace", "--preset", "baseline", "--kernel", &kernel, "-o", &kernel];
    refused(&itself, &["--output ", "s6.toml is the launch manifest: choose another place"]);
}

#[test]
fn what_cannot_be_written_is_said_and_damages_nothing() {
    let (folder, file) = blessed("saxpy");
    edit(&file, "cycles", "4900");
    let before = fs::read(&file).unwrap();
    // A disk that is full: files cannot grow.
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
    // A folder that is read-only.
    let preset = file.parent().unwrap();
    set_read_only(preset, true);
    let output = stopped_by_permissions(env!("CARGO_BIN_EXE_gpurf"))
        .args(["golden", "bless", "--reason", "x", "--preset", "baseline", "--kernel", "saxpy", "--goldens"])
        .arg(folder.path())
        .output()
        .unwrap();
    set_read_only(preset, false);
    assert_eq!(output.status.code(), Some(TOOL), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("Permission denied"), "{}", text(&output.stdout));
    assert_eq!(files_below(preset).into_iter().collect::<Vec<_>>(), [(file.clone(), before.clone())]);
    // A file in the place of the folder.
    let output = golden(&file, &["bless", "--reason", "x", "--kernel", "saxpy"]);
    assert_eq!(output.status.code(), Some(TOOL), "{}", text(&output.stdout));
    assert_eq!(fs::read(&file).unwrap(), before);
}
