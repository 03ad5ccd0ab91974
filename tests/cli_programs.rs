//! Random programs as their users see them: `gpurf program`, `--programs`, `--weights`, programs for `--replay`.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{BAD_INPUT, PASSED, check_refused, read_json, text};
use serde_json::Value;

fn run(arguments: &[&str]) -> Output {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpurf"));
    command.args(arguments).current_dir(std::env::temp_dir()).env("GPURF_HOME", checkout).output().unwrap()
}

#[track_caller]
fn refused(arguments: &[&str], words: &[&str]) {
    check_refused(arguments, &run(arguments), BAD_INPUT, words);
}

#[track_caller]
fn json(arguments: &[&str], status: i32) -> Value {
    read_json(arguments, &run(arguments), status)
}

/// A folder with a program.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path: PathBuf = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

/// The program of a seed and a theme.
fn program(seed: &str, theme: &str) -> String {
    let output = run(&["program", "--seed", seed, "--weights", theme]);
    assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn a_program_is_a_manifest_that_runs() {
    let folder = Folder::new();
    for theme in ["mixed", "barriers", "atomics"] {
        let written = program("11", theme);
        assert_eq!(written, program("11", theme), "the same every time");
        assert_ne!(written, program("12", theme));
        let file = folder.file("program.toml", &written);
        for engine in ["functional", "model"] {
            let result = json(&["run", &file, "--engine", engine, "--json"], PASSED);
            assert_eq!(result["result"], "pass", "{theme}: {result}");
            assert!(result["stats"]["thread_instructions"].as_u64().unwrap() > 10_000, "{theme}: {result}");
        }
    }
    let to = folder.0.path().join("named.toml");
    let output = run(&["program", "--seed", "11", "-o", to.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(PASSED));
    assert_eq!(fs::read_to_string(to).unwrap(), program("11", "mixed"));
}

#[test]
fn weights_that_cannot_be_are_refused() {
    let folder = Folder::new();
    let refuse = |text: &str, words: &[&str]| {
        let file = folder.file("weights.toml", text);
        refused(&["program", "--weights", &file], words);
        refused(&["cosim", "--programs", "1", "--weights", &file], words);
    };
    refused(&["program", "--weights", "speed"], &["there is no theme speed", "mixed, dependences, divergence"]);
    refused(&["cosim", "--weights", "mixed"], &["--programs"]);
    refused(&["cosim", "--programs", "0"], &["--programs", "a number from 1 to 1000000"]);
    refused(&["cosim", "--programs", "1", "--block", "mrf"], &["cannot be used with"]);
    refused(&["cosim", "--train"], &["--train", "name --kernel or --programs"]);
    refused(&["cosim", "--train", "--block", "mrf"], &["cannot be used with"]);
    refused(&["cosim", "--train", "--programs", "1", "--simulator", "cxxrtl"], &["--train", "leave out --simulator"]);
    refuse("[mix]\nintegers = 3\n", &["weights.toml:2:1", "unknown field `integers`", "`integer`"]);
    refuse("[mix]\ninteger = -3\n", &["weights.toml:2:11", "invalid value"]);
    refuse("theme = \"speed\"\n", &["weights.toml: there is no theme speed"]);
    refuse("[chances]\nraw = 1001\n", &["weights.toml: chances.raw = 1001: it is at most 1000"]);
    refuse("[sizes]\nwarps = [4, 2]\n", &["weights.toml: sizes.warps = [4, 2]: both are from 1 to 32"]);
    for (memory, allowed) in [
        ("latency = 99999999999", "a number from 1 to 10000"),
        ("latency = 0", "a number from 1 to 10000"),
        ("bandwidth = 3", "a power of two from 1 to 128"),
    ] {
        let words = format!("weights.toml: memory.{memory}: it has to be {allowed}");
        refuse(&format!("theme = \"latency\"\n[memory]\n{memory}\n"), &[&words]);
    }
    refuse("[quotas]\nspeed = 3\n", &["weights.toml: quotas: there is no point `speed`"]);
    refuse("[mix", &["weights.toml:1:5"]);
    // Generating takes seconds before it gives up.
    let far = folder.file("far.toml", "[quotas]\nBREV = 1000000000\n");
    refused(&["program", "--weights", &far], &["stays below its quotas: BREV"]);
}

#[test]
fn weights_change_programs() {
    let folder = Folder::new();
    let with = |weight: u32| {
        let mix = format!("[mix]\naccess = {weight}\nbarrier = {weight}\nmeeting = {weight}");
        program("1", &folder.file("weights.toml", &format!("theme = \"arithmetic\"\n{mix}\n[quotas]\nBREV = 30\n")))
    };
    let (without, many) = (with(0), with(300));
    for (word, kind) in [(".SHARED", "accesses to shared memory"), ("BAR.ID", "barriers")] {
        assert!(!without.contains(word), "their weight is 0, and the program has {kind}:\n{without}");
        assert!(many.contains(word), "their weight is 300, and the program has no {kind}:\n{many}");
    }
    assert!(without.contains("BREV") && many.contains("BREV"), "a quota is filled");
}

#[test]
fn programs_that_cannot_be_are_refused() {
    let folder = Folder::new();
    let file = folder.file("mm.toml", "theme = \"mixed\"\n");
    let words = ["--output ", "mm.toml is the file of weights: choose another place"];
    refused(&["program", "--weights", &file, "-o", &file], &words);
    let file = folder.file("mm.toml", "mrf.banks = 8\n");
    refused(&["program", "--config", &file, "-o", &file], &["mm.toml is the configuration"]);
    refused(&["program", "-o", "/no/such/p.toml"], &["--output /no/such/p.toml: its folder does not exist"]);
    let good = program("3", "mixed");
    let refuse = |text: &str, words: &[&str]| {
        let file = folder.file("program.toml", text);
        refused(&["cosim", "--replay", &file], words);
    };
    refused(&["cosim", "--replay", "/nonexistent.toml"], &["/nonexistent.toml: cannot be read"]);
    refuse(&good, &["program.toml: it has no [replay]"]);
    let with = |replay: &str| format!("{good}\n[replay]\n{replay}\n");
    refuse(&with(""), &["program.toml:", "needs the key `seed`"]);
    refuse(&with("seed = -1"), &["program.toml:", "seed must be from 0"]);
    refuse(&with("seed = 1\nsettings = [\"mrf.banks=3\"]"), &["program.toml", "mrf.banks = 3 is not allowed"]);
    refuse(&with("seed = 1\nsettings = 3"), &["program.toml:", "expected an array of texts"]);
    refuse(&with("seed = 1\nrtl = [\"alu=/nonexistent.sv\"]"), &["program.toml", "/nonexistent.sv"]);
    refuse(&with("seed = 1\nspeed = 1"), &["program.toml:", "unknown key `speed` in `[replay]`"]);

    // Errors in the instructions are reported by all commands that take manifests, with the line of the file.
    let replayable = with("seed = 1");
    let line = |text: &str, words: &str| 1 + text.lines().position(|line| line.contains(words)).unwrap();
    let broken = replayable.replacen("S2R.LANEID", "S2R.LANE", 1);
    let place = format!("program.toml:{}: `S2R.LANE` is no operation", line(&broken, "S2R.LANE R"));
    refuse(&broken, &[&place]);
    let file = folder.file("program.toml", &broken);
    refused(&["run", &file], &[&place]);
    let registers = replayable.lines().find(|line| line.starts_with("registers = ")).unwrap();
    refuse(&replayable.replace(registers, "registers = 3"), &["but the kernel has 3 registers"]);
    refuse(&replayable.replace(registers, "registers = 256"), &["registers must be from 1 to 255"]);
    refuse(&replayable.replace(registers, ""), &["`[assembly]` needs the key `registers`"]);
    refuse(&replayable.replace("[assembly]", "source = \"x.cu\"\n[assembly]"), &["program.toml:"]);
    refuse(&replayable.replace("name = \"program\"", "name = \"other\""), &["there is no kernel `program`"]);
}

#[test]
fn what_a_program_does_wrong_names_its_line() {
    let folder = Folder::new();
    let good = program("3", "mixed");
    let text = good.replacen("code = '''\n", "code = '''\n    TRAP 7\n", 1);
    let file = folder.file("program.toml", &text);
    let output = run(&["run", &file]);
    let line = 1 + text.lines().position(|line| line.contains("TRAP 7")).unwrap();
    let message = common::text(&output.stderr);
    assert!(message.contains(&format!("program.toml:{line}: kernel program")), "{message}");
}

/// Six programs of each of two themes, as a run through all themes has them, fill the SM and its result queues. The chance that none of them has a full launch
/// is 1 in 4,096; these seeds have some.
#[test]
fn a_few_programs_reach_situations_of_full_queues() {
    let mut counts = serde_json::Map::new();
    for theme in ["latency", "arithmetic"] {
        let arguments =
            ["cosim", "--preset", "baseline", "--programs", "6", "--seed", "1", "--weights", theme, "--json"];
        let mut printed = json(&arguments, PASSED);
        let Value::Object(reached) = printed["programs"][0]["coverage"].take() else { panic!("{printed}") };
        for (point, count) in reached {
            let sum = counts.get(&point).and_then(Value::as_u64).unwrap_or(0) + count.as_u64().unwrap_or(0);
            counts.insert(point, sum.into());
        }
    }
    for point in [
        "block_launcher: every warp lives",
        "result_queue: a single precision unit's has eight results or more",
        "result_queue: the memory pipeline's has no room for three",
        "address_unit: lanes wait because results have no room",
    ] {
        assert!(counts[point].as_u64() >= Some(20), "{point}: {}", counts[point]);
    }
}
