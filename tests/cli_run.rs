//! `gpurf run` and `gpurf compile` as their users see them: results, exit statuses, messages, JSON, files.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{BAD_INPUT, FAILED, INTERRUPTED, PASSED, TOOL, check_refused, read_json, text};
use serde_json::Value;

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels").canonicalize().unwrap()
}

/// The program, run in the temporary folder, without nvcc.
fn gpurf(arguments: &[&str]) -> Output {
    let nowhere = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_gpurf"))
        .args(arguments)
        .current_dir(std::env::temp_dir())
        .env("PATH", "")
        .env("GPURF_HOME", nowhere.path())
        .output()
        .unwrap()
}

/// Runs the program, and checks the message of a refusal.
#[track_caller]
fn refused(arguments: &[&str], status: i32, words: &[&str]) {
    check_refused(arguments, &gpurf(arguments), status, words);
}

/// Runs the program, and reads the one JSON object on standard output.
#[track_caller]
fn json(arguments: &[&str], status: i32) -> Value {
    read_json(arguments, &gpurf(arguments), status)
}

/// A folder with a kernel that doubles an array and a manifest for it.
struct Folder(tempfile::TempDir);

const DOUBLE: &str = "
.version 9.0
.target sm_75
.address_size 64
.visible .entry _Z6doublePji(.param .u64 data, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra $L1;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r6, [%rd4];
    add.s32 %r7, %r6, %r6;
    st.global.u32 [%rd4], %r7;
$L1:
    ret;
}
";

const MANIFEST: &str = r#"
source = "double.ptx"
kernel = "double"
grid = [2, 1, 1]
block = [64, 1, 1]

[[arg]]
buffer = { name = "data", type = "u32", len = 100, init = "iota", output = true }
[[arg]]
scalar = { type = "s32", value = 100 }
"#;

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.put("double.ptx", DOUBLE);
        folder.put("double.toml", MANIFEST);
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn put(&self, name: &str, contents: &str) -> String {
        fs::write(self.path(name), contents).unwrap();
        self.path(name)
    }

    /// The manifest with one text replaced.
    #[track_caller]
    fn manifest(&self, from: &str, to: &str) -> String {
        assert!(MANIFEST.contains(from));
        self.put("changed.toml", &MANIFEST.replace(from, to))
    }
}

#[test]
fn a_manifest_runs_and_its_outputs_are_written() {
    let folder = Folder::new();
    let dump = folder.path("out/deep");
    let object =
        json(&["run", &folder.path("double.toml"), "--engine", "functional", "--dump", &dump, "--json"], PASSED);
    assert_eq!(
        (&object["result"], &object["command"], &object["engine"]),
        (&"pass".into(), &"run".into(), &"functional".into())
    );
    assert_eq!(object["stats"]["launches"], 1);
    assert!(object["stats"]["thread_instructions"].as_u64().unwrap() > 1000);
    assert!(object.get("divergence").is_none() && object.get("message").is_none());
    let expected: Vec<u8> = (0..100u32).flat_map(|i| (2 * i).to_le_bytes()).collect();
    assert_eq!(fs::read(folder.path("out/deep/data.bin")).unwrap(), expected);
    assert_eq!(fs::read_dir(&dump).unwrap().count(), 1);
    // Without an expectation the output says that nothing was checked.
    let unchecked = gpurf(&["run", &folder.path("double.toml")]);
    assert!(text(&unchecked.stderr).contains("no result was checked"), "{}", text(&unchecked.stderr));
    // Again, with the result as the expectation, and in words.
    fs::write(folder.path("expected.bin"), &expected).unwrap();
    let manifest =
        folder.put("checked.toml", &format!("{MANIFEST}\n[[check]]\nbuffer = \"data\"\nexpected = \"expected.bin\"\n"));
    let output = gpurf(&["run", &manifest]);
    assert_eq!(output.status.code(), Some(PASSED));
    assert!(text(&output.stdout).contains("data"), "{}", text(&output.stdout));
    assert!(!text(&output.stderr).contains("no result was checked"), "{}", text(&output.stderr));
    fs::write(folder.path("expected.bin"), vec![7; 400]).unwrap();
    let object = json(&["run", &manifest, "--json"], FAILED);
    assert_eq!((&object["result"], &object["checks"][0]["ok"]), (&"check_failed".into(), &false.into()));
    fs::write(folder.path("expected.bin"), vec![7; 399]).unwrap();
    refused(&["run", &manifest], BAD_INPUT, &["expected.bin", "399", "400"]);
}

#[test]
fn outputs_are_compared_before_they_are_written_and_never_on_top_of_what_is_expected() {
    let folder = Folder::new();
    let expected = |file: &str, contents: &[u8]| {
        fs::create_dir_all(folder.path("dd")).unwrap();
        fs::write(folder.path(file), contents).unwrap();
        folder.put("ex.toml", &format!("{MANIFEST}\n[[check]]\nbuffer = \"data\"\nexpected = \"{file}\"\n"))
    };
    // The file that would be written is the one that is expected.
    let zeros = [0; 400];
    let wrong = expected("dd/data.bin", &zeros);
    let words = ["--dump ", "dd/data.bin is the expected contents of data: choose another place"];
    refused(&["run", &wrong, "--dump", &folder.path("dd")], BAD_INPUT, &words);
    assert_eq!(fs::read(folder.path("dd/data.bin")).unwrap(), zeros);
    assert_eq!(gpurf(&["run", &wrong, "--dump", &folder.path("out")]).status.code(), Some(FAILED));
    assert_eq!(fs::read(folder.path("dd/data.bin")).unwrap(), zeros);
    assert_ne!(fs::read(folder.path("out/data.bin")).unwrap(), zeros);
    // An expected file that does not exist is not created by the output.
    let absent = expected("dd/other.bin", &zeros);
    fs::remove_file(folder.path("dd/other.bin")).unwrap();
    refused(&["run", &absent, "--dump", &folder.path("out")], BAD_INPUT, &["other.bin"]);
    let init = folder.manifest("init = \"iota\"", "init = { file = \"dd/data.bin\" }");
    let words = ["dd/data.bin is the initial contents of data"];
    refused(&["run", &init, "--dump", &folder.path("dd")], BAD_INPUT, &words);
    assert_eq!(fs::read(folder.path("dd/data.bin")).unwrap(), zeros);
}

#[test]
fn nothing_is_written_over_what_is_read() {
    let folder = Folder::new();
    let (manifest, ptx) = (folder.path("double.toml"), folder.path("double.ptx"));
    let config = folder.put("config.toml", "mrf.banks = 8\n");
    let energies = folder.put("energies.toml", "unit = \"pJ\"\n");
    let before = common::files_below(folder.0.path());
    let model = ["run", manifest.as_str(), "--engine", "model"];
    let run = |more: &[&str], words: &[&str]| refused(&[&model[..], more].concat(), BAD_INPUT, words);
    let as_json = |file: &'static str| -> Vec<String> {
        ["--trace", &folder.path(file), "--trace-format", "json"].map(str::to_owned).to_vec()
    };
    for (file, what) in [
        ("double.toml", "the launch manifest"),
        ("double.ptx", "the kernel's source"),
        ("config.toml", "the configuration"),
        ("energies.toml", "the file of energies"),
    ] {
        let mut arguments = as_json(file);
        arguments.extend(["--config", &config, "--energy", &energies].map(str::to_owned));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        run(&arguments, &[&format!("{file} is {what}: choose another place"), "--trace "]);
    }
    run(&["--accelwattch", &manifest], &["--accelwattch ", "double.toml is the launch manifest"]);
    let new = folder.path("x.json");
    run(&["--trace", &new, "--accelwattch", &new], &["x.json and --accelwattch ", "are the same file"]);
    refused(&["compile", &ptx, "-o", &ptx], BAD_INPUT, &["--output ", "double.ptx is the kernel's source"]);
    let cuda = folder.put("old.cu", "");
    let words = ["old.ptx is the PTX of the kernel's source"];
    refused(&["compile", &cuda, "-o", &folder.path("old.ptx")], BAD_INPUT, &words);
    fs::remove_file(cuda).unwrap();
    assert_eq!(common::files_below(folder.0.path()), before);
}

#[test]
fn the_kernel_of_the_examples_runs_on_their_machine() {
    let own = kernels().join("../../examples/own").canonicalize().unwrap();
    let [manifest, machine, source] = ["rowmax.toml", "machine.toml", "rowmax.cu"].map(|name| own.join(name));
    let [manifest, machine, source] = [&manifest, &machine, &source].map(|path| path.to_str().unwrap());
    let object = json(&["run", manifest, "--engine", "model", "--config", machine, "--json"], PASSED);
    assert_eq!(object["checks"][0]["ok"], true);
    assert_eq!((&object["parameters"]["Banks"], &object["parameters"]["Collectors"]), (&8.into(), &16.into()));
    let output = gpurf(&["compile", source, "--annotate"]);
    assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("SHFL"), "{}", text(&output.stdout));
    let output = gpurf(&["compare", "baseline", machine, "--kernel", manifest, "--json"]);
    assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stderr));
}

#[test]
fn a_kernel_of_the_repository_gives_the_same_with_few_registers() {
    let manifest = kernels().join("matrixMul.toml");
    for registers in ["16", "24", "64"] {
        let object = json(&["run", manifest.to_str().unwrap(), "--registers", registers, "--json"], PASSED);
        assert_eq!(object["checks"][0]["ok"], true);
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let folder = Folder::new();
    let run = |manifest: &str, words: &[&str]| refused(&["run", manifest], BAD_INPUT, words);
    run(&folder.path("missing.toml"), &["missing.toml"]);
    run(&folder.manifest("block = [64", "blok = [64"), &["changed.toml:", "blok"]);
    run(&folder.manifest("kernel = \"double\"", "kernel = \"triple\""), &["triple", "_Z6doublePji"]);
    run(&folder.manifest("type = \"s32\"", "type = \"s64\""), &["argument 2", "8 bytes", "has 4"]);
    run(&folder.manifest("[[arg]]\nscalar = { type = \"s32\", value = 100 }", ""), &["2 parameters", "1 argument"]);
    run(&folder.manifest("double.ptx", "none.ptx"), &["none.ptx"]);
    run(&folder.manifest("double.ptx", "double.c"), &["changed.toml:2:", ".ptx"]);
    folder.put("double.ptx", &DOUBLE.replace("add.s32 %r7, %r6, %r6", "sin.approx.f64 %r7, %r6"));
    run(&folder.path("double.toml"), &["double.ptx:22:"]);
    let object = json(&["run", &folder.path("double.toml"), "--json"], BAD_INPUT);
    assert_eq!((&object["result"], &object["command"]), (&"error".into(), &"run".into()));
}

#[test]
fn wrong_options_say_so() {
    let folder = Folder::new();
    let manifest = folder.path("double.toml");
    refused(&["run", &manifest, "--engine", "magic"], BAD_INPUT, &["functional"]);
    refused(&["run", &manifest, "--preset", "nothing"], BAD_INPUT, &["nothing", "baseline"]);
    refused(&["run", &manifest, "--registers", "8"], BAD_INPUT, &["16"]);
    refused(&["run", &manifest, "--dump", &folder.path("double.ptx")], BAD_INPUT, &["double.ptx"]);
    refused(&["run", &manifest, "--wave", "20:10", "--engine", "model"], BAD_INPUT, &["20:10", "1000:1200"]);
    refused(&["run", &manifest, "--wave", "10:20"], BAD_INPUT, &["functional", "--engine model"]);
    for engine in ["functional", "model", "rtl"] {
        let words = ["--history", engine, "--engine lockstep"];
        refused(&["run", &manifest, "--engine", engine, "--history", "1000"], BAD_INPUT, &words);
    }
    refused(
        &["run", &manifest, "--engine", "lockstep", "--history", "255"],
        BAD_INPUT,
        &["--history", "256 to 1000000"],
    );
    for (option, value) in [("--compare", "10:20"), ("--part", "1/2")] {
        let words = [option, "model", "--engine lockstep"];
        refused(&["run", &manifest, "--engine", "model", option, value], BAD_INPUT, &words);
    }
    let builds = "--engine rtl or lockstep";
    for (option, engines) in
        [(&["--threads", "3"][..], "--engine lockstep"), (&["--optimise"], builds), (&["--train"], builds)]
    {
        for engine in ["functional", "model"] {
            let arguments = [&["run", &manifest, "--engine", engine], option].concat();
            refused(&arguments, BAD_INPUT, &[option[0], engine, engines]);
        }
    }
    refused(&["run", &manifest, "--engine", "lockstep", "--part", "3/2"], BAD_INPUT, &["--part", "2/3"]);
    let both = ["run", &manifest, "--engine", "lockstep", "--part", "1/2", "--compare", "10:20"];
    refused(&both, BAD_INPUT, &["--part", "--compare"]);
    let words = ["--check-undefined", "--engine functional"];
    refused(&["run", &manifest, "--check-undefined", "--engine", "model"], BAD_INPUT, &words);
    // There is no checkout here, so there is no RTL.
    for engine in ["rtl", "lockstep"] {
        refused(&["run", &manifest, "--engine", engine], BAD_INPUT, &["GPURF_HOME"]);
    }
    let large = folder.manifest("block = [64", "block = [288");
    let words = ["_Z6doublePji", "9 warps", "sm.warps"];
    refused(&["run", &large, "--engine", "model", "--set", "sm.warps=8"], BAD_INPUT, &words);
}

#[test]
fn the_model_counts_cycles_and_events() {
    let folder = Folder::new();
    let manifest = folder.path("double.toml");
    let dump = folder.path("out");
    let run = |options: &[&str]| json(&[&["run", &manifest, "--engine", "model", "--json"], options].concat(), PASSED);
    let object = run(&["--dump", &dump]);
    assert_eq!((&object["result"], &object["engine"]), (&"pass".into(), &"model".into()));
    let expected: Vec<u8> = (0..100u32).flat_map(|i| (2 * i).to_le_bytes()).collect();
    assert_eq!(fs::read(folder.path("out/data.bin")).unwrap(), expected);
    let number = |object: &Value, part: &str, name: &str| object[part][name].as_f64().unwrap();
    let cycles = object["cycles"].as_f64().unwrap();
    assert!(cycles > 400.0, "memory alone takes that long");
    assert_eq!(number(&object, "stats", "instructions"), number(&object, "events", "issue"));
    assert_eq!(number(&object, "stats", "ipc"), number(&object, "events", "issue") / cycles);
    assert_eq!(object["parameters"]["Warps"], 32);
    assert!(object.get("signals_compared").is_none() && object.get("build_s").is_none());
    // Settings have an effect on the model.
    let fast = run(&["--set", "memory.latency=20"]);
    assert!(fast["cycles"].as_f64().unwrap() < cycles - 300.0);
    // The output as text.
    let output = gpurf(&["run", &manifest, "--engine", "model"]);
    let table = text(&output.stdout);
    for word in ["cycles", "SIMD efficiency", "operands pending", "bank utilisation", "lanes a line"] {
        assert!(table.contains(word), "{word:?} is not in: {table}");
    }
    // A waveform of some cycles.
    let object = run(&["--wave", "10:20", "--failures", &folder.path("waves")]);
    let written = object["artifacts"][0].as_str().unwrap();
    assert!(Path::new(written).join("wave.vcd").is_file() && written.starts_with(&folder.path("waves")));
}

#[test]
fn what_blocks_share_is_counted() {
    let hotspot = kernels().join("hotspot.toml");
    let stats = |preset: &str| {
        let arguments = ["run", hotspot.to_str().unwrap(), "--engine", "model", "--preset", preset, "--json"];
        json(&arguments, PASSED)["stats"]["share"].clone()
    };
    let share = stats("share-registers");
    let count = |name: &str| share[name].as_u64().unwrap();
    // A warp gives up its lock when it ends.
    assert!(count("locks_taken") > 0 && count("locks_taken") == count("locks_given_up"), "{share}");
    assert!(count("wait_lock") > 0 && count("non_owner_instructions") > 0 && count("wait_hold") == 0, "{share}");
    assert!(share["owners"].as_f64() > Some(0.0) && share["non_owners"].as_f64() > Some(0.0), "{share}");
    assert!(stats("fermi").is_null());
    let output = gpurf(&["run", hotspot.to_str().unwrap(), "--engine", "model", "--preset", "share-registers"]);
    assert!(text(&output.stdout).contains("warps waiting: for a lock"), "{}", text(&output.stdout));
    assert!(share["wait_throttle"].is_null() && !text(&output.stdout).contains("throttle"), "there is none");
}

/// Four blocks of 8 warps fit, with 8 rows of registers a warp and 3 KB of scratchpad memory a block; the cache gets the largest power of two in the
/// rest.
#[test]
fn the_partition_of_unified_memory_is_shown() {
    let hotspot = kernels().join("hotspot.toml");
    let arguments = ["run", hotspot.to_str().unwrap(), "--engine", "model", "--preset"];
    let object = |more: &[&str]| {
        let all = [&arguments[..], more, &["--json"]].concat();
        read_json(&all, &gpurf(&all), PASSED)
    };
    let divided = object(&["unified-384"]);
    let sizes = |object: &Value| {
        let launch = &object["partition"][0];
        let sizes = ["slots", "threads", "registers_kb", "shared_kb", "cache_kb", "unused_kb"];
        sizes.map(|name| launch[name].as_f64().unwrap())
    };
    assert_eq!(sizes(&divided), [4.0, 1024.0, 128.0, 12.0, 128.0, 116.0]);
    let with = object(&["unified-384", "--set", "launch.cache_kilobytes=256"]);
    assert_eq!(sizes(&with), [3.0, 768.0, 96.0, 9.0, 256.0, 23.0]);
    assert!(object(&["fixed-256"])["partition"].is_null());
    let table = text(&gpurf(&[&arguments[..], &["unified-384"]].concat()).stdout);
    assert!(table.contains("unified memory, KB") && table.contains("116"), "{table}");
}

#[test]
fn what_the_throttle_does_is_counted() {
    let kernel = kernels().join("bPlusTree.toml");
    let run = |reference: &str, json: bool| {
        let mut arguments = vec!["run", kernel.to_str().unwrap(), "--engine", "model", "--preset", "share-registers"];
        for setting in ["mrf.kilobytes=32", "share.throttle=50", reference] {
            arguments.extend(["--set", setting]);
        }
        arguments.extend(json.then_some("--json"));
        gpurf(&arguments)
    };
    let [sampled, external, held] = ["sampled", "external", "held"].map(|name| {
        let output = run(&format!("share.reference={name}"), true);
        let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(object["result"], "pass", "{object}");
        let count = |field: &str| object["stats"]["share"][field].as_u64().unwrap();
        let cycles = object["cycles"].as_u64().unwrap();
        assert_eq!(count("throttle_periods"), cycles / 50, "{object}");
        let of = ["throttle_reference", "throttle_allow", "wait_throttle"].map(count);
        (cycles, of, object["stats"]["share"]["throttle_level"].as_f64().unwrap())
    });
    // Reference periods: every fourteenth one, none, all of them.
    assert!(sampled.1[0].abs_diff(sampled.0 / 14) <= 50, "{sampled:?}");
    assert!(external.1[0] == 0 && external.1[1] > 0 && external.2 <= 10.0, "{external:?}");
    assert!(held.1[0] == held.0 && held.1[1] == 0 && held.1[2] > 0, "{held:?}");
    let table = text(&run("share.reference=held", false).stdout);
    for words in
        ["warps waiting: throttled memory instruction", "periods of the throttle", "cycles of reference periods"]
    {
        assert!(table.contains(words), "{words:?} is not in: {table}");
    }
}

#[test]
fn what_goes_wrong_on_the_model_is_said_in_words() {
    let folder = Folder::new();
    let manifest = folder.manifest("value = 100", "value = 128");
    let arguments = ["run", &manifest, "--engine", "model", "--json"];
    let output = gpurf(&arguments);
    let object = read_json(&arguments, &output, FAILED);
    assert_eq!(object["result"], "check_failed");
    let message = object["message"].as_str().unwrap();
    for word in ["_Z6doublePji", "block (1, 0, 0), warp 1", "out of bounds", "`data`", "400 bytes"] {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
    let slow = ["run", &folder.path("double.toml"), "--engine", "model", "--json", "--set", "memory.latency=5000"];
    json(&slow, PASSED);
    let object = json(&[&slow[..], &["--idle-limit", "1000"]].concat(), FAILED);
    assert_eq!(object["result"], "hang");
    assert!(object["message"].as_str().unwrap().contains("waits for R"), "{object}");
    // A launch that makes progress may take a certain time.
    json(&[&slow[..], &["--cycle-limit", "1000000"]].concat(), PASSED);
    let object = json(&[&slow[..], &["--cycle-limit", "1000"]].concat(), FAILED);
    assert_eq!((&object["result"], &object["cycles"]), (&"hang".into(), &1000.into()));
    assert!(object["message"].as_str().unwrap().contains("has not ended in cycle 999"), "{object}");
}

#[test]
fn the_energy_of_a_run_is_shown_by_event_on_request() {
    let folder = Folder::new();
    let manifest = folder.path("double.toml");
    let run = ["run", manifest.as_str(), "--engine", "model", "--json"];
    let plain = json(&run, PASSED);
    assert_eq!(plain.get("energy"), None);
    let paper = &json(&[&run[..], &["--energy", "paper"]].concat(), PASSED)["energy"];
    let sum = |group: &Value| {
        group["rows"].as_array().unwrap().iter().map(|row| row["energy"].as_f64().unwrap()).sum::<f64>()
    };
    assert_eq!((&paper["energies"], &paper["left_out"]["total"]), (&"paper".into(), &0.0.into()));
    assert!(sum(&paper["papers"]) > 0.0 && (sum(&paper["papers"]) - paper["total"].as_f64().unwrap()).abs() < 1e-6);
    let file = folder.path("my.toml");
    let of = |write: u32| {
        let begin = "unit = \"pJ\"\nnote = \"by hand\"\nlevels.mrf.read = 9\n";
        folder.put("my.toml", &format!("{begin}[blocks.mrf_arbiter]\nwrite = {write}\n"));
        json(&[&run[..], &["--energy", &file]].concat(), PASSED)["energy"].clone()
    };
    let [once, twice] = [of(3), of(6)];
    let events = plain["events"]["write"].as_u64().unwrap();
    let row = &once["left_out"]["rows"][0];
    assert_eq!(
        (&row["of"], &row["event"], row["events"].as_u64()),
        (&"mrf_arbiter".into(), &"write".into(), Some(events))
    );
    assert_eq!((sum(&once["left_out"]), sum(&twice["left_out"])), (3.0 * events as f64, 6.0 * events as f64));
    assert!(events > 0 && twice["left_out"]["rows"][0]["share"].as_f64() > row["share"].as_f64());
    // A read of the main register file costs 9 pJ in place of 8.
    let reads = plain["events"]["read_groups"].as_f64().unwrap();
    assert!((sum(&once["papers"]) - sum(&paper["papers"]) - reads).abs() < 1e-6);
    assert_eq!((&once["note"], &once["energies"]), (&"by hand".into(), &file.as_str().into()));
    let shown = text(&gpurf(&[&run[..4], &["--energy", &file]].concat()).stdout);
    for words in ["by hand", "what the papers price", "what they leave out", "blocks without an energy: "] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    assert!(
        json(&[&run[..], &["--energy", "rtl"]].concat(), PASSED)["energy"]["left_out"]["total"].as_f64() > Some(0.0)
    );
}

#[test]
fn energies_that_cannot_be_used_are_refused_before_anything_runs() {
    let folder = Folder::new();
    let manifest = folder.path("double.toml");
    let file = folder.path("my.toml");
    let run = |engine: &'static str| ["run", manifest.as_str(), "--engine", engine, "--energy", file.as_str()];
    refused(&run("model"), BAD_INPUT, &["--energy", &file, "expected paper, rtl, or a TOML file"]);
    folder.put("my.toml", "unit = \"pJ\"\n[blocks.mrf_arbiter]\nreads = 1\n");
    refused(&run("model"), BAD_INPUT, &["my.toml:3:1", "no machine counts an event `reads`", "read"]);
    folder.put("my.toml", "[blocks.mrf_arbiter]\nread = 1\n");
    refused(&run("model"), BAD_INPUT, &["my.toml:1:1", "needs the key `unit`"]);
    refused(&run("functional"), BAD_INPUT, &["--energy", "--engine model"]);
}

#[test]
fn counts_are_written_as_accelwattch_reads_them() {
    let folder = Folder::new();
    let manifest = folder.path("double.toml");
    let file = folder.path("hw_perf.csv");
    let run =
        |engine: &'static str| ["run", manifest.as_str(), "--engine", engine, "--accelwattch", file.as_str(), "--json"];
    let ran = json(&run("model"), PASSED);
    assert_eq!(ran["artifacts"][0], file.as_str());
    let said = text(&gpurf(&run("model")).stderr);
    assert!(said.contains("does not count it: L1_RH") && said.contains("NOC") && !said.contains("CC_ACC"), "{said}");
    let written = fs::read_to_string(&file).unwrap();
    let lines: Vec<Vec<&str>> = written.lines().map(|line| line.split(',').collect()).collect();
    let [heading, row] = &lines[..] else { panic!("{written}") };
    assert_eq!((heading.len(), row.len()), (19, 19), "{written}");
    let value = |name: &str| row[heading.iter().position(|column| *column == name).unwrap()];
    assert_eq!((row[0], row[1]), ("double", "_Z6doublePji"));
    let number = |name: &str| value(name).parse::<f64>().unwrap();
    assert_eq!(number("Elapsed_Cycles"), ran["cycles"].as_f64().unwrap() / ran["stats"]["launches"].as_f64().unwrap());
    assert_eq!(number("DRAM_Rd"), ran["events"]["memory_read_bytes"].as_f64().unwrap() / 32.0);
    assert!(number("DRAM_Rd") > 0.0 && row[2..].iter().all(|value| value.parse::<f64>().is_ok()), "{written}");
    fs::remove_file(&file).unwrap();
    refused(&run("functional")[..6], BAD_INPUT, &["--accelwattch", "--engine model"]);
    let split = folder.put("a,b.toml", MANIFEST);
    let arguments = ["run", split.as_str(), "--engine", "model", "--accelwattch", file.as_str()];
    refused(&arguments, BAD_INPUT, &["comma", "a,b.toml"]);
    let nowhere = ["run", manifest.as_str(), "--engine", "model", "--accelwattch", "/no/such/hw_perf.csv"];
    refused(&nowhere, BAD_INPUT, &["--accelwattch", "its folder does not exist"]);
    assert!(!Path::new(&file).exists());
}

#[test]
fn a_trace_is_written_whole_or_not_at_all() {
    let folder = Folder::new();
    let manifest = folder.path("double.toml");
    let run = |more: &[&str]| json(&[&["run", &manifest, "--engine", "model", "--json"], more].concat(), PASSED);
    let (events, perfetto, log) = (folder.path("t.json"), folder.path("t.pftrace"), folder.path("t.kanata"));
    for file in [&events, &perfetto, &log] {
        let object = run(&["--trace", file]);
        assert_eq!(object["artifacts"], serde_json::json!([file]));
        let plain = run(&[]);
        assert_eq!((&object["cycles"], &object["events"]), (&plain["cycles"], &plain["events"]));
        let trace: Vec<u8> = fs::read(file).unwrap();
        if file == &events {
            let trace: Value = serde_json::from_slice(&trace).unwrap();
            let all = trace["traceEvents"].as_array().unwrap().iter();
            let instructions = all.filter(|event| event["cat"] == "instruction").count() as u64;
            assert_eq!(instructions, plain["stats"]["instructions"].as_u64().unwrap());
        } else if file == &log {
            assert!(trace.starts_with(b"Kanata\t0004\n"));
        } else {
            // The first field of the message: a packet.
            assert_eq!(trace[0], 0x0a);
        }
    }
    // If the format is given, the name of the file does not matter.
    let other = folder.path("other");
    run(&["--trace", &other, "--trace-format", "konata"]);
    assert_eq!(fs::read(&other).unwrap(), fs::read(&log).unwrap());
    // A window has a part of the trace; a window after the end of the run has none.
    run(&["--trace", &other, "--trace-format", "konata", "--trace-cycles", "200:260"]);
    let size = |file: &str| fs::metadata(file).unwrap().len();
    assert!((1..size(&log)).contains(&size(&other)));
    let object = run(&["--trace", &folder.path("late.json"), "--trace-cycles", "1000000:1000001"]);
    assert!(object.get("artifacts").is_none() && !Path::new(&folder.path("late.json")).exists());
    // A run that fails is traced up to the failure.
    let hung = folder.path("hung.json");
    let slow = ["run", &manifest, "--engine", "model", "--json", "--idle-limit", "100", "--trace", &hung];
    assert_eq!(json(&slow, FAILED)["artifacts"], serde_json::json!([hung]));
    assert!(fs::read_to_string(&hung).unwrap().contains("\"name\":\"hang\""));
}

#[test]
fn a_trace_that_cannot_be_is_refused_before_anything_runs() {
    let folder = Folder::new();
    let manifest = folder.path("double.toml");
    let model = ["run", &manifest, "--engine", "model", "--trace"];
    let with = |more: &[&'static str]| -> Vec<String> {
        model.iter().map(|word| (*word).to_owned()).chain(more.iter().map(|word| (*word).to_owned())).collect()
    };
    let refused_with = |arguments: Vec<String>, status, words: &[&str]| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        refused(&arguments, status, words);
    };
    refused_with(with(&["trace.txt"]), BAD_INPUT, &["trace.txt", ".json, .pftrace, .kanata", "--trace-format"]);
    refused_with(with(&["trace"]), BAD_INPUT, &["its ending names no format"]);
    refused_with(
        with(&["/no/such/folder/t.json"]),
        BAD_INPUT,
        &["/no/such/folder/t.json", "its folder does not exist"],
    );
    refused_with(with(&["t.json", "--trace-cycles", "9:8"]), BAD_INPUT, &["9:8", "such as 1000:1200"]);
    let taken = folder.path("folder.json");
    fs::create_dir(&taken).unwrap();
    refused(&[&model[..], &[&taken]].concat(), BAD_INPUT, &["folder.json", "it is a folder"]);
    refused(&["run", &manifest, "--trace", "t.json"], BAD_INPUT, &["--engine model, rtl or lockstep"]);
    refused(&["run", &manifest, "--trace-cycles", "1:2"], BAD_INPUT, &["--trace <FILE>"]);
    // If the kernel does not fit, no file is left.
    let (file, trace) = (folder.manifest("block = [64, 1, 1]", "block = [1024, 1, 1]"), folder.path("u.json"));
    let names = || fs::read_dir(folder.0.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    let before = names();
    refused(&["run", &file, "--engine", "model", "--set", "sm.warps=8", "--trace", &trace], BAD_INPUT, &["warps"]);
    assert_eq!(names(), before);
}

/// Uses the real RTL: Verilator has to be installed.
#[test]
fn a_kernel_in_lockstep() {
    let manifest = kernels().join("pathfinder.toml");
    let failures = tempfile::tempdir().unwrap();
    let failures = failures.path().to_str().unwrap();
    let options = ["--set", "sm.warps=16", "--failures", failures, "--json", "--wave", "0:9"];
    let run = |engine: &str| {
        let history: &[&str] = if engine == "lockstep" { &["--history", "20000"] } else { &[] };
        let arguments = [&["run", manifest.to_str().unwrap(), "--engine", engine], &options[..], history].concat();
        let output = Command::new(env!("CARGO_BIN_EXE_gpurf")).args(&arguments).output().unwrap();
        read_json(&arguments, &output, PASSED)
    };
    let object = run("lockstep");
    assert_eq!((&object["result"], &object["probes_absent"]), (&"pass".into(), &Value::Array(Vec::new())));
    assert!(object["signals_compared"].as_u64().unwrap() > 1000);
    assert_eq!((&object["stats"]["oracle"]["equal"], &object["stats"]["oracle"]["undecided"]), (&2.into(), &0.into()));
    assert!(object["checks"].as_array().unwrap().iter().all(|row| row["ok"] == true));
    let model = run("model");
    assert_eq!((&model["cycles"], &model["events"]), (&object["cycles"], &object["events"]));
}

/// The RTL is that of the SM's tests, which have every register in every part.
#[test]
fn a_kernel_in_parts() {
    let manifest = kernels().join("pathfinder.toml");
    let failures = tempfile::tempdir().unwrap();
    let given = ["run", manifest.to_str().unwrap(), "--set", "mrf.issue_ports=2", "--set", "sm.warps=16", "--failures"];
    let given = [&given[..], &[failures.path().to_str().unwrap()]].concat();
    let run = |options: &[&str]| Command::new(env!("CARGO_BIN_EXE_gpurf")).args(&given).args(options).output().unwrap();
    let read = |options: &[&str]| read_json(options, &run(options), PASSED);
    let whole = read(&["--engine", "model", "--json"]);
    let (mut cycles, mut issued) = (0, 0);
    for part in ["1/3", "2/3", "3/3"] {
        let object = read(&["--engine", "lockstep", "--part", part, "--json"]);
        assert_eq!((&object["result"], object["compared_from"].as_u64()), (&"pass".into(), Some(cycles)), "{part}");
        // The kernels' results exist only at the end, and the oracle does not judge parts.
        assert_eq!(object.get("checks").is_some(), part == "3/3", "{part}");
        assert!(object["stats"].get("oracle").is_none(), "{part}");
        cycles += object["cycles"].as_u64().unwrap();
        issued += object["events"]["issue"].as_u64().unwrap();
    }
    assert_eq!((Some(cycles), Some(issued)), (whole["cycles"].as_u64(), whole["events"]["issue"].as_u64()));
    let words = text(&run(&["--engine", "lockstep", "--compare", "1000:1019"]).stdout);
    assert!(words.contains("compared and equal: cycles 1 000 to 1 019"), "{words}");
    // The run ends before there is anything to compare.
    let after = ["--engine", "lockstep", "--compare", "90000000:90000001"];
    check_refused(&after, &run(&after), BAD_INPUT, &["--compare", "before cycle 90000000", "--engine model"]);
    let many = ["--engine", "lockstep", "--part", "1/90000000"];
    check_refused(&many, &run(&many), BAD_INPUT, &["--part", "90000000 parts", &cycles.to_string()]);
}

#[test]
fn a_program_that_goes_wrong_names_thread_and_line() {
    let folder = Folder::new();
    let manifest = folder.manifest("value = 100", "value = 128");
    let output = gpurf(&["run", &manifest, "--dump", &folder.path("out")]);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(FAILED));
    for word in [
        "double.ptx:21",
        "_Z6doublePji",
        "block (1, 0, 0)",
        "thread (36, 0, 0)",
        "out of bounds",
        "`data`",
        "400 bytes",
    ] {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
    assert_eq!(fs::read_dir(folder.path("out")).unwrap().count(), 0);
    assert_eq!(json(&["run", &manifest, "--json"], FAILED)["result"], "check_failed");
    folder.put("double.ptx", &DOUBLE.replace("mov.u32 %r4, %tid.x;", "mov.u32 %r4, %tid.x;\n$L2:\nbra.uni $L2;"));
    let object = json(&["run", &folder.path("double.toml"), "--json"], FAILED);
    assert_eq!(object["result"], "hang");
}

#[cfg(unix)]
#[test]
fn a_read_of_an_unwritten_register_is_found_on_request() {
    let manifest = kernels().join("unwritten/census.toml").display().to_string();
    assert_eq!(gpurf(&["run", &manifest]).status.code(), Some(PASSED));
    let output = gpurf(&["run", &manifest, "--check-undefined"]);
    assert_eq!(output.status.code(), Some(FAILED), "{}", text(&output.stderr));
    let message = text(&output.stderr);
    for part in ["census.ptx:", "block (1, 0, 0), thread (18, 0, 0)", "reads `%f9` (here R", "has not written", "FSETP"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
    let result = json(&["run", &manifest, "--check-undefined", "--json"], FAILED);
    assert_eq!(result["result"], "check_failed");
    let written = kernels().join("saxpy.toml").display().to_string();
    assert_eq!(gpurf(&["run", &written, "--check-undefined"]).status.code(), Some(PASSED));
}

#[test]
fn the_first_ctrl_c_ends_a_run() {
    let folder = Folder::new();
    // It would count to 2^32.
    let counting = "mov.u32 %r4, %tid.x;\n$L2:\nadd.s32 %r7, %r7, 1;\nsetp.ne.s32 %p1, %r7, 0;\n@%p1 bra $L2;";
    folder.put("double.ptx", &DOUBLE.replace("mov.u32 %r4, %tid.x;", &format!("mov.u32 %r7, 1;\n{counting}")));
    let dump = folder.path("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpurf"));
    command.args(["run", &folder.path("double.toml"), "--json", "--dump", &dump]);
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap();
    while !Path::new(&dump).is_dir() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    // The shell has its own kill; a small system may have no other.
    assert!(Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(INTERRUPTED));
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap()["result"], "interrupted");
    assert_eq!(fs::read_dir(dump).unwrap().count(), 0);
}

#[test]
fn cuda_needs_nvcc_or_the_ptx_beside_it() {
    let folder = Folder::new();
    folder.put("double.cu", "// compiled before");
    let manifest = folder.manifest("double.ptx", "double.cu");
    let set_time = |name: &str, seconds: u64| {
        let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        fs::File::options().append(true).open(folder.path(name)).unwrap().set_modified(time).unwrap();
    };
    set_time("double.cu", 1000);
    set_time("double.ptx", 2000);
    json(&["run", &manifest, "--json"], PASSED);
    set_time("double.cu", 3000);
    // Old PTX is better than none, but there is a warning.
    let old = gpurf(&["run", &manifest]);
    assert_eq!(old.status.code(), Some(PASSED));
    assert!(String::from_utf8_lossy(&old.stderr).contains("double.ptx is older than"), "{old:?}");
    fs::remove_file(folder.path("double.ptx")).unwrap();
    refused(&["run", &manifest], TOOL, &["nvcc", "make kernels", "double.ptx"]);
    refused(&["compile", &folder.path("double.cu")], TOOL, &["nvcc"]);
    refused(&["compile", &folder.path("nothing.cu")], BAD_INPUT, &["nothing.cu"]);
}

/// A kernel with an instruction that does not exist in double precision, one with that and a reference to a texture, and one in a namespace, which is within the subset.
const OTHERS: &str = "
.visible .entry _Z6halvesPd(.param .u64 p) { .reg .f64 %d<4>; rem.f64 %d1, %d2, %d3; ret; }
.visible .entry _Z6lookupPd(.param .u64 p) { .reg .f64 %d<4>; .reg .f32 %f<5>; .reg .b64 %l<2>; .reg .b32 %r<2>;
    rem.f64 %d1, %d2, %d3; tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [picture, {%r1}]; ret; }
.visible .entry _ZN3app5emptyEv() { ret; }
";

#[test]
fn a_kernel_that_is_refused_leaves_the_others_of_its_file_alone() {
    let folder = Folder::new();
    folder.put("double.ptx", &format!("{DOUBLE}{OTHERS}"));
    json(&["run", &folder.path("double.toml"), "--json"], PASSED);
    let launched = folder.manifest("kernel = \"double\"", "kernel = \"halves\"");
    refused(&["run", &launched], BAD_INPUT, &["kernel `_Z6halvesPd`: ", "double precision", "double.ptx:28:"]);
    let unknown = folder.manifest("kernel = \"double\"", "kernel = \"third\"");
    refused(&["run", &unknown], BAD_INPUT, &["no kernel `third`", "`halves(double*)`", "`app::empty()`"]);

    let (source, code) = (folder.path("double.ptx"), folder.path("code.json"));
    let names = || {
        let image: Value = serde_json::from_slice(&fs::read(&code).unwrap()).unwrap();
        let kernels = image["kernels"].as_array().unwrap().iter();
        kernels.map(|kernel| kernel["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // The whole file is compiled: accepted kernels are written, and refused ones are reported.
    let output = gpurf(&["compile", &source, "-o", &code]);
    assert_eq!(output.status.code(), Some(BAD_INPUT));
    assert_eq!(names(), ["_Z6doublePji", "_ZN3app5emptyEv"]);
    let said = text(&output.stderr);
    for line in [
        "_Z6halvesPd  double precision",
        "_Z6lookupPd  double precision, textures",
        "double precision        2              1",
        "textures                1              0",
        "error: kernel `_Z6halvesPd`: ",
        "error: kernel `_Z6lookupPd`: references to textures",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    assert!(!said.contains("error: error:"), "{said}");
    // Kernels by name, of the source or of the PTX.
    for (kernels, expected) in [
        (&["double"][..], &["_Z6doublePji"][..]),
        (&["app::empty", "_Z6doublePji"], &["_Z6doublePji", "_ZN3app5emptyEv"]),
    ] {
        let named: Vec<&str> = kernels.iter().flat_map(|kernel| ["--kernel", kernel]).collect();
        let output = gpurf(&[&["compile", &source, "-o", &code], &named[..]].concat());
        assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stderr));
        assert_eq!(names(), expected);
        assert!(!text(&output.stderr).contains("double precision"));
    }
    fs::remove_file(&code).unwrap();
    refused(&["compile", &source, "--kernel", "halves", "-o", &code], BAD_INPUT, &["kernel `_Z6halvesPd`: "]);
    assert!(!Path::new(&code).exists());
    refused(&["compile", &source, "--kernel", "none"], BAD_INPUT, &["double.ptx: there is no kernel `none`"]);
    refused(&["compile", &source, &source], BAD_INPUT, &["one file", "--summary"]);
    refused(&["compile", &source, "--summary", "--kernel", "double"], BAD_INPUT, &["--summary"]);
}

#[test]
fn a_summary_counts_what_is_accepted() {
    let folder = Folder::new();
    let by_value = ".visible .entry _Z4takeILi3EEv4Pairs(.param .align 16 .b8 p[96]) { ret; }\n\
        .visible .entry _Z4room3Big(.param .align 4 .b8 p[33000]) { ret; }\n";
    folder.put("double.ptx", &format!("{DOUBLE}{OTHERS}{by_value}"));
    // The same kernels again, one of them changed; a file that is no PTX; and a file of another kind.
    fs::create_dir(folder.path("more")).unwrap();
    folder.put("more/double.ptx", &format!("{DOUBLE}{}", OTHERS.replace("%d1, %d2, %d3; ret", "%d1, %d2, %d1; ret")));
    folder.put("more/broken.ptx", "no PTX\nat all");
    folder.put("more/readme.txt", "no PTX");
    // nvcc is not needed: the PTX next to the source is newer.
    folder.put("more/double.cu", "// compiled before");
    let newer = fs::File::options().append(true).open(folder.path("more/double.ptx")).unwrap();
    newer.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(60)).unwrap();
    let all = folder.0.path().to_str().unwrap();
    let object = json(&["compile", "--summary", "--json", all], PASSED);
    let count = |key: &str| object[key].as_u64().unwrap();
    assert_eq!([count("files"), count("files_with_kernels"), count("files_with_accepted")], [3, 2, 2]);
    assert_eq!(count("files_accepted"), 0);
    // double, halves, lookup, empty, take, room; halves with another text.
    assert_eq!([count("kernels"), count("accepted"), count("launchable")], [7, 3, 3]);
    assert!(object["files_refused"][folder.path("more/broken.ptx")].as_str().unwrap().contains(".version"));
    let of = |name: &str| {
        let entries = object["each"].as_array().unwrap();
        entries.iter().find(|entry| entry["ptx"] == name).unwrap_or_else(|| panic!("{name}: {object}")).clone()
    };
    assert_eq!(of("_Z6lookupPd")["lacks"], serde_json::json!(["double precision", "textures"]));
    assert_eq!(of("_Z4room3Big")["lacks"], serde_json::json!(["room"]));
    assert_eq!(of("_ZN3app5emptyEv")["kernel"], "app::empty()");
    let words = text(&gpurf(&["compile", "--summary", all]).stdout);
    for line in ["distinct kernels", "42.9 %", "double precision        3              2"] {
        assert!(words.contains(line), "{line}\n{words}");
    }
    refused(&["compile", "--summary", &folder.path("nothing")], BAD_INPUT, &["nothing"]);
    fs::create_dir(folder.path("empty")).unwrap();
    refused(&["compile", "--summary", &folder.path("empty")], BAD_INPUT, &["no .cu and no .ptx"]);
}

#[test]
fn machine_code_and_annotated_ptx() {
    let folder = Folder::new();
    let (source, image) = (folder.path("double.ptx"), folder.path("double.json"));
    let output = gpurf(&["compile", &source, "-o", &image, "--preset", "baseline"]);
    assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stderr));
    assert!(output.stdout.is_empty() && text(&output.stderr).contains("_Z6doublePji"));
    let image: Value = serde_json::from_slice(&fs::read(image).unwrap()).unwrap();
    assert_eq!(image["kernels"][0]["parameters"][1]["offset"], 8);
    let direct = gpurf(&["compile", &source]);
    assert_eq!(serde_json::from_slice::<Value>(&direct.stdout).unwrap(), image);
    let annotated = text(&gpurf(&["compile", &source, "--annotate"]).stdout);
    assert!(annotated.contains("ld.global.u32 %r6, [%rd4];") && annotated.contains("LD.GLOBAL.B32"), "{annotated}");
    let orders = ["none", "latency", "tree"].map(|order| gpurf(&["compile", &source, "--schedule", order]).stdout);
    assert!(orders[0] == direct.stdout && orders[1] != orders[0] && orders[2] != orders[0]);
    let names = ["allocated", "first-use"].map(|order| gpurf(&["compile", &source, "--register-order", order]).stdout);
    assert!(names[0] == direct.stdout && names[1] != names[0]);
    refused(&["compile", &source, "--register-order", "declared"], BAD_INPUT, &["allocated", "first-use"]);
    let powered = gpurf(&["compile", &source, "--annotate", "--power-threshold", "3"]);
    let (marked, table) = (text(&powered.stdout), text(&powered.stderr));
    assert!(marked.contains("power=") && !annotated.contains("power="), "{marked}");
    assert!(table.contains("left ON") && table.contains("SLEEP") && table.contains("OFF"), "{table}");
    refused(&["compile", &source, "--power-threshold", "32"], BAD_INPUT, &["1 to 31"]);
    let ranking = kernels().join("launch/ranking.ptx").display().to_string();
    let weak = |wide: &[&str]| {
        let output = gpurf(&[&["compile", &ranking, "--kernel", "rank_weak", "--annotate"], wide].concat());
        text(&output.stdout).matches("ATOM.GLOBAL.EXCH").count()
    };
    // Three accesses, each of which takes a lock and frees it.
    assert_eq!((weak(&[]), weak(&["--wide-accesses", "strong"]), weak(&["--wide-accesses", "all"])), (0, 0, 6));
    let addresses = |bits| {
        let code = text(&gpurf(&["compile", &source, "--annotate", "--address-bits", bits]).stdout);
        code.lines().find(|line| line.contains("LD.GLOBAL.B32")).expect("it loads").trim().to_owned()
    };
    let (narrow, wide) = (addresses("32"), addresses("64"));
    assert!(annotated.contains(&wide) && wide.contains(":R") && !narrow.contains(':'), "{wide}\n{narrow}");
    refused(&["compile", &source, "--address-bits", "48"], BAD_INPUT, &["32", "64"]);
    std::os::unix::fs::symlink("/dev/zero", folder.path("dz.ptx")).unwrap();
    refused(&["compile", &folder.path("dz.ptx")], BAD_INPUT, &["dz.ptx: cannot be read: a text has at most"]);
    refused(&["compile", &source, "--wide-accesses", "weak"], BAD_INPUT, &["strong", "all"]);
    refused(&["compile", &source, "--stack-bytes", "196609"], BAD_INPUT, &["0 to 196608"]);
    let words = ["--output ", "folder.json: its folder does not exist"];
    refused(&["compile", &source, "-o", &folder.path("no/such/folder.json")], BAD_INPUT, &words);
    folder.put("broken.ptx", ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() { wgmma; ret; }");
    refused(&["compile", &folder.path("broken.ptx"), "-o", &folder.path("x.json")], BAD_INPUT, &["broken.ptx:4:"]);
    assert!(!Path::new(&folder.path("x.json")).exists());
}

#[test]
fn what_kernels_print_is_on_standard_output_or_in_the_json() {
    let file = |name: &str| kernels().join("launch").join(name).display().to_string();
    let expected = fs::read_to_string(file("report.txt")).unwrap();
    let manifest = file("report.toml");
    for engine in ["functional", "model"] {
        let output = gpurf(&["run", &manifest, "--engine", engine]);
        assert_eq!(output.status.code(), Some(PASSED));
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        // The printed text comes before the table.
        let rest = out.strip_prefix(&expected).unwrap_or_else(|| panic!("{engine}: {out}"));
        assert!(rest.starts_with("buffer "), "{rest}");
        assert_eq!(err, "", "{engine}");
        let json = json(&["run", &manifest, "--engine", engine, "--json"], PASSED);
        assert_eq!(json["printed"], expected.as_str(), "{engine}");
        assert!(json.get("printf_dropped").is_none() && json.get("assertions").is_none(), "{json}");
    }
    // Without printed text there is no such field.
    let quiet = json(&["run", &kernels().join("saxpy.toml").display().to_string(), "--json"], PASSED);
    assert!(quiet.get("printed").is_none(), "{quiet}");
    // With a small buffer.
    let folder = tempfile::tempdir().unwrap();
    for name in ["report.ptx", "report.returned.bin"] {
        fs::copy(file(name), folder.path().join(name)).unwrap();
    }
    let small = folder.path().join("small.toml");
    let manifest = fs::read_to_string(&manifest).unwrap().replace("report.cu", "report.ptx");
    fs::write(&small, format!("printf_buffer = 1024\n{manifest}")).unwrap();
    let small = small.display().to_string();
    let json = json(&["run", &small, "--engine", "functional", "--json"], PASSED);
    let kept = json["printed"].as_str().unwrap().lines().count();
    assert_eq!(json["printf_dropped"], expected.lines().count() - kept);
    let output = gpurf(&["run", &small, "--engine", "functional"]);
    let words = format!("printf: {} calls did not fit into the buffer", expected.lines().count() - kept);
    assert!(text(&output.stderr).contains(&words), "{}", text(&output.stderr));
}

#[test]
fn a_failed_assertion_ends_a_run_with_cudas_message() {
    let file = |name: &str| kernels().join("launch").join(name);
    let expected = fs::read_to_string(file("asserts.txt")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in ["asserts.ptx", "asserts.x.bin"] {
        fs::copy(file(name), folder.path().join(name)).unwrap();
    }
    let manifest = fs::read_to_string(file("asserts.toml")).unwrap().replace("asserts.cu", "asserts.ptx");
    let path = folder.path().join("asserts.toml");
    // Without the fault that the manifest expects.
    fs::write(&path, manifest.split("[fault]").next().unwrap()).unwrap();
    let path = path.display().to_string();
    for engine in ["functional", "model"] {
        let output = gpurf(&["run", &path, "--engine", engine]);
        assert_eq!(output.status.code(), Some(FAILED), "{engine}");
        let err = text(&output.stderr);
        let rest = err.strip_prefix(&expected).unwrap_or_else(|| panic!("{engine}: {err}"));
        assert!(rest.starts_with("error: ") && rest.contains("trap 5: an assertion failed"), "{engine}: {rest}");
        let json = json(&["run", &path, "--engine", engine, "--json"], FAILED);
        let lines: Vec<&str> = expected.lines().collect();
        assert_eq!(json["assertions"], serde_json::json!(lines), "{engine}");
    }
    let expected =
        json(&["run", &file("asserts.toml").display().to_string(), "--engine", "functional", "--json"], PASSED);
    assert_eq!(expected["assertions"].as_array().unwrap().len(), 2);
}
