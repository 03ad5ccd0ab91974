//! The gpurf program as its users see it: exit statuses, messages, JSON, files.
//!
//! The runs are those of small blocks, which build in a second or two; one test breaks the arbiter and follows the failure through all steps.

mod common;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use common::{
    BAD_INPUT, FAILED, INTERRUPTED, PASSED, TOOL, check_refused, interrupted_when, read_json, slow_verilator, text,
};
use serde_json::Value;

/// A number of cycles that takes longer than the test.
const ENDLESS: &str = "1_000_000_000_000_000";

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The program, run in the temporary folder, so that nothing depends on the current folder.
fn gpurf(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpurf"));
    command.args(arguments).current_dir(std::env::temp_dir());
    for variable in ["GPURF_HOME", "VERILATOR", "CXX", "DISPLAY", "WAYLAND_DISPLAY"] {
        command.env_remove(variable);
    }
    command
}

fn run(arguments: &[&str]) -> Output {
    gpurf(arguments).output().unwrap()
}

/// Runs the program, and checks the message of a refusal.
#[track_caller]
fn refused(arguments: &[&str], status: i32, words: &[&str]) {
    check_refused(arguments, &run(arguments), status, words);
}

/// Runs the program, and reads the one JSON object on standard output.
#[track_caller]
fn json(arguments: &[&str], status: i32) -> Value {
    read_json(arguments, &run(arguments), status)
}

/// A file that keeps its path from run to run of the tests, so that its builds are reused.
fn stable_file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if fs::read_to_string(&path).is_ok_and(|old| old == text) {
        return path;
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

/// The source of a module with one change.
#[track_caller]
fn changed(module: &str, from: &str, to: &str) -> String {
    let source = fs::read_to_string(checkout().join("rtl/mrf").join(module).with_extension("sv")).unwrap();
    assert_eq!(source.matches(from).count(), 1, "{module} is expected to have this text once: {from}");
    source.replace(from, to)
}

fn replacement(module: &str, file: &Path) -> String {
    format!("{module}={}", file.display())
}

#[test]
fn usage_errors_end_with_2() {
    refused(&["frobnicate"], BAD_INPUT, &["unrecognized subcommand", "frobnicate"]);
    refused(&["cosim", "--frobnicate"], BAD_INPUT, &["unexpected argument", "--frobnicate"]);
    refused(&["cosim", "--cycles", "0"], BAD_INPUT, &["expected at least 1 cycle"]);
    refused(&["cosim", "--cycles", "many"], BAD_INPUT, &["expected a number"]);
    for history in ["0", "255", "1000001", "-1", "long"] {
        refused(&["cosim", "--history", history], BAD_INPUT, &["--history", "expected"]);
    }
    refused(&["cosim", "--seed", "-1"], BAD_INPUT, &["--seed", "-1"]);
    refused(&["cosim", "--jobs", "0"], BAD_INPUT, &["--jobs"]);
    refused(&["cosim", "--seed", "one"], BAD_INPUT, &["--seed", "expected a number"]);
    refused(&["cosim", "--rtl", "mrf"], BAD_INPUT, &["expected MODULE=FILE"]);
    refused(&["cosim", "--preset", "baseline", "--config", "f.toml"], BAD_INPUT, &["cannot be used with"]);
    refused(&["cosim", "--replay", "f.json", "--block", "mrf"], BAD_INPUT, &["cannot be used with"]);
    refused(&["cosim", "--kernel", "k.toml"], BAD_INPUT, &["k.toml: cannot be read"]);
    refused(&["cosim", "--kernel", "k.toml", "--block", "mrf"], BAD_INPUT, &["cannot be used with"]);
    refused(&["completions", "cmd"], BAD_INPUT, &["possible values"]);
    assert_eq!(run(&[]).status.code(), Some(BAD_INPUT));
}

#[test]
fn what_is_not_built_is_absent() {
    for absent in ["cache", "power"] {
        refused(&["report", absent], BAD_INPUT, &[absent, gpurf_report::reports().next().unwrap().name]);
    }
}

#[test]
fn blocks_and_presets_are_listed() {
    let blocks = json(&["blocks", "--json"], PASSED);
    let names: Vec<&str> = blocks["blocks"].as_array().unwrap().iter().map(|b| b["block"].as_str().unwrap()).collect();
    assert!(names.contains(&"mrf") && names.contains(&"mrf_arbiter"), "{names:?}");
    for block in blocks["blocks"].as_array().unwrap() {
        assert!(checkout().join(block["rtl"].as_str().unwrap()).is_file(), "{block}");
    }
    let presets = json(&["presets", "--json"], PASSED);
    assert_eq!(presets["presets"][0]["preset"], "baseline");
    assert_eq!(presets["presets"][0]["config"]["mrf"]["banks"], 16);
    let listed = text(&run(&["blocks"]).stdout);
    assert!(names.iter().all(|name| listed.contains(name)), "{listed}");
    assert!(!listed.contains('\u{1b}'), "colours are for terminals: {listed:?}");
    assert!(text(&run(&["presets"]).stdout).contains("mrf-1r1w"));
}

#[test]
fn completions_exist_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(PASSED));
        assert!(text(&output.stdout).contains("gpurf"), "{shell}");
    }
}

#[test]
fn wrong_names_are_answered_with_the_right_ones() {
    refused(&["cosim", "--block", "sharing"], BAD_INPUT, &["there is no block sharing", "mrf_arbiter"]);
    refused(&["cosim", "--preset", "stael-8"], BAD_INPUT, &["there is no preset stael-8", "baseline, mrf-1r1w"]);
    refused(&["cosim", "--set", "mrf.banks=3"], BAD_INPUT, &["mrf.banks = 3", "2, 4, 8, 16 or 32"]);
    refused(&["cosim", "--set", "mrf.bank=8"], BAD_INPUT, &["unknown field `bank`", "`banks`"]);
    refused(&["cosim", "--set", "banks"], BAD_INPUT, &["expected key=value"]);
    refused(&["cosim", "--config", "/nonexistent.toml"], BAD_INPUT, &["/nonexistent.toml", "No such file"]);
}

#[test]
fn a_broken_configuration_is_answered_with_its_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.toml");
    let file = file.to_str().unwrap();
    fs::write(file, "base = \"mrf-1r1w\"\n[mrf]\nbanks = 7\n").unwrap();
    refused(&["cosim", "--config", file], BAD_INPUT, &["c.toml:3:9: mrf.banks = 7 is not allowed"]);
    fs::write(file, "[mrf]\nbanks = [\n").unwrap();
    refused(&["cosim", "--config", file], BAD_INPUT, &["c.toml:"]);
}

#[test]
fn a_row_that_the_bench_does_not_have_is_answered_with_those_it_has() {
    let none = ["bench", "--only", "nosuchthing"];
    refused(&none, BAD_INPUT, &["--only nosuchthing", "\n  mrf, 16 banks", "\n  sm, baseline, crc32\n"]);
    let names = text(&run(&none).stderr);
    assert_eq!(names.matches("\n  mrf, 16 banks, 8 collectors, idle\n").count(), 1, "{names}");
    let none = ["bench", "--sizes", "--only", "nosuchthing"];
    refused(&none, BAD_INPUT, &["--only nosuchthing", "\n  baseline with sm.warps = 8\n"]);
}

#[test]
fn errors_are_json_too() {
    let error = json(&["cosim", "--json", "--block", "sharing"], BAD_INPUT);
    assert_eq!((error["result"].as_str(), error["command"].as_str()), (Some("error"), Some("cosim")));
    assert!(error["message"].as_str().unwrap().contains("there is no block sharing"));
}

#[test]
fn one_run_is_one_object_with_the_documented_fields() {
    let run = json(&["cosim", "--json", "--block", "mrf_write_queue", "--cycles", "5000", "--seed", "0x2a"], PASSED);
    let expected: [(&str, Value); 7] = [
        ("result", "pass".into()),
        ("command", "cosim".into()),
        ("block", "mrf_write_queue".into()),
        ("preset", "baseline".into()),
        ("seed", 42.into()),
        ("cycles", 5000.into()),
        ("probes_absent", Value::Array(Vec::new())),
    ];
    for (field, value) in expected {
        assert_eq!(run[field], value, "{field} of {run}");
    }
    assert!(run["signals_compared"].as_u64().unwrap() > 5, "{run}");
    assert!(run["wall_s"].as_f64().unwrap() > 0.0);
    for field in ["divergence", "artifacts", "checks", "message"] {
        assert!(run.get(field).is_none(), "{field} does not apply: {run}");
    }
}

#[test]
fn a_second_simulator_compares_the_same() {
    let queue = ["cosim", "--json", "--block", "mrf_write_queue", "--cycles", "2000"];
    let on_cxxrtl = |arguments: &[&'static str]| [arguments, &["--simulator", "cxxrtl"]].concat();
    let (first, second) = (json(&queue, PASSED), json(&on_cxxrtl(&queue), PASSED));
    assert_eq!((first.get("simulator"), &second["simulator"]), (None, &"cxxrtl".into()));
    for field in ["result", "cycles", "signals_compared", "events", "coverage"] {
        assert_eq!(first[field], second[field], "{field}");
    }
    let table = run(&on_cxxrtl(&["cosim", "--block", "mrf_write_queue", "--cycles", "2000"]));
    assert!(text(&table.stdout).contains("1 of 1 equal, on cxxrtl"), "{}", text(&table.stdout));

    // RTL that differs, and RTL that it cannot read.
    let folder = tempfile::tempdir().unwrap();
    let failures = folder.path().join("failures");
    let broken = changed("mrf_bank_map", "assign bank_o  =", "assign bank_o  = ~");
    let file = replacement("mrf_bank_map", &stable_file("second/mrf_bank_map.sv", &broken));
    let map = ["cosim", "--block", "mrf_bank_map", "--preset", "baseline", "--simulator", "cxxrtl", "--rtl"];
    let output = run(&[&map[..], &[&file, "--failures", failures.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(FAILED), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("reproducer.json --simulator cxxrtl"), "{}", text(&output.stdout));
    let broken = changed("mrf_bank_map", "assign bank_o  =", "assign bank_o ==");
    let file = replacement("mrf_bank_map", &stable_file("syntax/mrf_bank_map.sv", &broken));
    refused(&[&map[..], &[&file]].concat(), TOOL, &["Yosys failed on mrf_bank_map", "mrf_bank_map.sv:"]);
}

#[test]
fn several_runs_are_a_list() {
    let blocks = ["cosim", "--json", "--block", "mrf_bank_map", "--block", "mrf_write_queue", "--cycles", "2000"];
    let all = json(&blocks, PASSED);
    assert_eq!(all["result"], "pass");
    let names: Vec<_> = all["runs"].as_array().unwrap().iter().map(|r| r["block"].as_str().unwrap()).collect();
    assert_eq!(names, ["mrf_bank_map", "mrf_write_queue"]);
}

#[test]
fn the_same_seed_gives_the_same_run_with_any_number_of_jobs() {
    let arguments = |seed: &'static str, jobs: &'static str| {
        let all = ["cosim", "--json", "--block", "mrf_bank_map", "--block", "mrf_write_queue", "--cycles", "3000"];
        let mut result = json(&[&all[..], &["--seed", seed, "--jobs", jobs]].concat(), PASSED);
        for run in result["runs"].as_array_mut().unwrap() {
            let run = run.as_object_mut().unwrap();
            run.remove("wall_s");
            run.remove("build_s");
        }
        result
    };
    let first = arguments("5", "1");
    assert_eq!(first, arguments("5", "2"));
    assert_ne!(first, arguments("6", "2"));
}

#[test]
fn a_table_ends_a_run() {
    let output = run(&["cosim", "--block", "mrf_bank_map", "--cycles", "2000", "--set", "mrf.banks=8"]);
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stderr));
    for word in ["block", "cycles", "mrf_bank_map", "8b", "2 000", "equal", "1 of 1 equal"] {
        assert!(table.contains(word), "{word:?} is not in: {table}");
    }
    assert!(!table.contains('\u{1b}'), "colours are for terminals: {table:?}");
}

#[test]
fn a_run_that_is_too_short_says_so() {
    let short = ["cosim", "--block", "mrf_write_queue", "--cycles", "5"];
    let note = "1 of 1 runs did not reach every situation";
    let printed = text(&run(&short).stdout);
    assert!(printed.contains(note) && printed.contains("500 000 cycles or more"), "{printed}");
    let enough = ["cosim", "--block", "mrf_write_queue", "--cycles", "5000"];
    assert!(!text(&run(&enough).stdout).contains("did not reach every situation"));
}

#[test]
fn replacements_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.sv");
    fs::write(&other, "// module mrf_bank_map\nmodule other; endmodule\n").unwrap();
    let refuse = |module: &str, file: &Path, words: &[&str]| {
        refused(&["cosim", "--rtl", &replacement(module, file)], BAD_INPUT, words);
    };
    refuse("mrf_bank_map", Path::new("/nonexistent.sv"), &["cannot read /nonexistent.sv"]);
    refuse("mrf_bank_mop", &other, &["there is no module mrf_bank_mop", "mrf_bank_map, mrf_write_queue"]);
    refuse("mrf_bank_map", &other, &["does not define a module mrf_bank_map"]);
    let own = checkout().join("rtl/mrf/mrf_bank_map.sv");
    let own = replacement("mrf_bank_map", &own);
    refused(&["cosim", "--rtl", &own, "--rtl", &own], BAD_INPUT, &["mrf_bank_map is replaced twice"]);
    refused(&["cosim", "--block", "mrf_arbiter", "--rtl", &own], BAD_INPUT, &["mrf_arbiter does not contain it"]);
}

#[test]
fn a_replacement_is_run_in_every_shape_of_the_suite() {
    // Correct in banks with one port; banks with two drop the lowest lane.
    let source = fs::read_to_string(checkout().join("rtl/mrf/mrf_bank.sv")).unwrap();
    let (one, two) = source.split_once("end else begin : gen_1r1w").expect("the bank with two ports");
    let broken =
        format!("{one}end else begin : gen_1r1w{}", two.replacen("(write_mask_i)", "(write_mask_i & ~32'd1)", 1));
    assert_ne!(broken, source);
    let broken = replacement("mrf_bank", &stable_file("second/mrf_bank.sv", &broken));
    let failures = tempfile::tempdir().unwrap();
    let arguments = ["cosim", "--block", "mrf_bank", "--rtl", &broken, "--cycles", "2000", "--failures"];
    let arguments = [&arguments[..], &[failures.path().to_str().unwrap()]].concat();
    let result = json(&[&arguments[..], &["--json"]].concat(), FAILED);
    let runs: Vec<&str> = result["runs"].as_array().unwrap().iter().map(|r| r["result"].as_str().unwrap()).collect();
    assert_eq!((runs, &result["suite"]["jobs"]), (vec!["pass", "diverged"], &2.into()));
    let of = result["suite"]["of"].as_u64().unwrap();
    assert!(of > 200, "{result}");
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(FAILED));
    for stream in [&output.stdout, &output.stderr] {
        let words = text(stream);
        assert!(
            words.contains(&format!("2 of the whole suite's {of} jobs")) && words.contains("that contain mrf_bank"),
            "{words}"
        );
    }
}

#[test]
fn a_register_with_another_name_is_an_error_unless_it_is_allowed() {
    let source = fs::read_to_string(checkout().join("rtl/issue/two_level_scheduler.sv")).unwrap();
    let counts = source.replace("issued_q[s] + 1'b1", "issued_q[s] + 2'd3");
    assert_ne!(counts, source);
    let file = stable_file("renamed/two_level_scheduler.sv", &counts.replace("issued_q", "spent_q"));
    let own = replacement("two_level_scheduler", &file);
    let run = |more: &[&str]| {
        let block = ["cosim", "--block", "two_level_scheduler", "--preset", "two-level", "--cycles", "500"];
        [&block[..], &["--rtl", &own], more].concat().iter().map(|&word| word.to_owned()).collect::<Vec<_>>()
    };
    let words = |arguments: &[String], status: i32| {
        let output = gpurf(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap();
        let text = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{text}");
        text
    };
    let refused_run = words(&run(&[]), FAILED);
    for word in ["PROBES ABSENT", "issued_q (8 elements of 12 bits)", "--allow-absent issued_q", "0 of 1 equal"] {
        assert!(refused_run.contains(word), "{word:?} is not in: {refused_run}");
    }
    let allowed = words(&run(&["--allow-absent", "issued_q"]), PASSED);
    assert!(allowed.contains("in two_level_scheduler, as --allow-absent says: issued_q"), "{allowed}");
    let object = words(&run(&["--allow-absent", "issued_q", "--json"]), PASSED);
    assert!(object.contains(r#""probes_absent":["issued_q"]"#), "{object}");
    let unknown = words(&run(&["--allow-absent", "isued_q"]), BAD_INPUT);
    assert!(unknown.contains("no register or net isued_q to compare; there are: ") && unknown.contains("issued_q"));
    refused(&["cosim", "--block", "alu", "--allow-absent", "x"], BAD_INPUT, &["the project's own RTL has all probes"]);
}

#[test]
fn a_package_can_be_replaced_too() {
    let source = fs::read_to_string(checkout().join("rtl/execute/sfu_tables_pkg.sv")).unwrap();
    let row = "29'h10000001, 29'h0fe03f82,";
    assert_eq!(source.matches(row).count(), 1, "the first two rows of the reciprocal");
    let wrong = stable_file("tables/sfu_tables_pkg.sv", &source.replace(row, "29'h10000001, 29'h0fe03f92,"));
    let list = stable_file("tables/own.f", "sfu_tables_pkg.sv\n");
    let given = replacement("sfu_tables_pkg", &wrong);
    let failures = tempfile::tempdir().unwrap();
    let failures = failures.path().to_str().unwrap();
    for options in [["--rtl", given.as_str()], ["--rtl-list", list.to_str().unwrap()]] {
        let arguments = ["cosim", "--json", "--block", "sfu", "--cycles", "20000", "--failures", failures];
        let result = json(&[&arguments[..], &options].concat(), FAILED);
        assert_eq!((&result["result"], &result["divergence"]["block"]), (&"diverged".into(), &"sfu".into()));
    }
    let other = stable_file("tables/other.sv", "package other; endpackage\n");
    let other = replacement("sfu_tables_pkg", &other);
    refused(&["cosim", "--rtl", &other], BAD_INPUT, &["does not define a package sfu_tables_pkg"]);
}

#[test]
fn other_ports_are_named() {
    let wider = changed("mrf_bank_map", "output logic [BankW-1:0]  bank_o", "output logic [BankW:0] bank_o");
    let wider = replacement("mrf_bank_map", &stable_file("wider/mrf_bank_map.sv", &wider));
    refused(&["cosim", "--block", "mrf_bank_map", "--rtl", &wider], BAD_INPUT, &["mrf_bank_map", "bank_o", "expected"]);
    let missing = changed("mrf_bank_map", "input  logic [RegW-1:0]   reg_i,", "input  logic [RegW-1:0]   register_i,");
    let missing = missing.replace("(reg_i ", "(register_i ").replace("(reg_i)", "(register_i)");
    let missing = replacement("mrf_bank_map", &stable_file("missing/mrf_bank_map.sv", &missing));
    let words = ["port reg_i is missing", "register_i"];
    refused(&["cosim", "--block", "mrf_bank_map", "--rtl", &missing], BAD_INPUT, &words);
}

#[test]
fn a_syntax_error_is_shown_as_verilator_puts_it() {
    let broken = changed("mrf_bank_map", "assign bank_o  =", "assign bank_o ==");
    let file = stable_file("syntax/mrf_bank_map.sv", &broken);
    let words = ["syntax error", "mrf_bank_map.sv:"];
    refused(&["cosim", "--block", "mrf_bank_map", "--rtl", &replacement("mrf_bank_map", &file)], TOOL, &words);
}

#[test]
fn a_run_that_could_not_take_place_is_an_error_in_json() {
    let broken = changed("mrf_bank_map", "assign bank_o  =", "assign bank_o ==");
    let file = replacement("mrf_bank_map", &stable_file("syntax/mrf_bank_map.sv", &broken));
    let result = json(&["cosim", "--json", "--block", "mrf_bank_map", "--rtl", &file], TOOL);
    assert_eq!(result["result"], "error");
    assert!(result["message"].as_str().unwrap().contains("syntax error"), "{result}");
}

#[test]
fn missing_tools_are_named_with_the_way_to_get_them() {
    for (variable, tool, package) in [("VERILATOR", "Verilator", "verilator"), ("CXX", "C++ compiler", "g++")] {
        let output = gpurf(&["cosim", "--block", "mrf_bank_map"]).env(variable, "/nonexistent/tool").output().unwrap();
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(TOOL), "{message}");
        assert!(message.contains(tool) && message.contains(&format!("apt-get install -y {package}")), "{message}");
    }
}

#[test]
fn a_home_without_rtl_is_refused() {
    let output = gpurf(&["cosim"]).env("GPURF_HOME", "/nonexistent").output().unwrap();
    assert_eq!(output.status.code(), Some(BAD_INPUT));
    assert!(text(&output.stderr).contains("GPURF_HOME"), "{}", text(&output.stderr));
}

#[test]
fn a_reader_who_leaves_and_a_full_disk_are_no_panics() {
    let mut child = gpurf(&["completions", "zsh"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(PASSED), String::new()));
    if let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") {
        let output = gpurf(&["blocks"]).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(TOOL));
        assert!(text(&output.stderr).contains("cannot write to standard output"), "{}", text(&output.stderr));
    }
}

#[test]
fn file_lists_bring_sources_include_folders_and_macros() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("list");
    let module =
        changed("mrf_bank_map", "BankW'(reg_i + RegW'(warp_i))", "BankW'(`SUM(reg_i, RegW'(warp_i)) + `NOTHING)");
    stable_file("list/my_map.sv", &format!("`include \"sum.svh\"\n{module}"));
    stable_file("list/inc/sum.svh", "`define SUM(A, B) ((A) + (B))\n");
    let list = stable_file("list/own.f", "// my own map\n+incdir+inc +define+NOTHING=8'h0\nmy_map.sv\n");
    let list = list.to_str().unwrap();
    let result = json(&["cosim", "--json", "--block", "mrf_bank_map", "--rtl-list", list, "--cycles", "2000"], PASSED);
    assert_eq!(result["result"], "pass");

    let empty = stable_file("list/empty.f", "");
    refused(&["cosim", "--rtl-list", empty.to_str().unwrap()], BAD_INPUT, &["no file in it defines"]);
    let wrong = stable_file("list/wrong.f", "my_map.sv\n-v lib.sv\n");
    refused(&["cosim", "--rtl-list", wrong.to_str().unwrap()], BAD_INPUT, &["wrong.f:2: -v is not understood"]);
    let missing = folder.join("missing.f");
    refused(&["cosim", "--rtl-list", missing.to_str().unwrap()], BAD_INPUT, &["missing.f", "No such file"]);
    refused(&["cosim", "--rtl-list", "/dev/zero"], BAD_INPUT, &["/dev/zero", "a text has at most"]);
    refused(&["regress", "--plan", "/dev/zero"], BAD_INPUT, &["/dev/zero", "a text has at most"]);
}

#[test]
fn reproducers_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("r.json");
    let refuse = |text: &str, words: &[&str]| {
        fs::write(&file, text).unwrap();
        refused(&["cosim", "--replay", file.to_str().unwrap()], BAD_INPUT, words);
    };
    refused(&["cosim", "--replay", "/nonexistent.json"], BAD_INPUT, &["cannot read /nonexistent.json"]);
    refuse("{\n  not json", &["r.json:2:3", "not a reproducer"]);
    let other = checkout().join("Cargo.toml");
    refused(&["cosim", "--replay", other.to_str().unwrap()], BAD_INPUT, &["Cargo.toml is neither a reproducer"]);
    let with = |block: &str, settings: &str, cycles: &str| {
        format!(
            r#"{{"gpurf_reproducer": 2, "block": "{block}", "settings": {settings}, "seed": 1, "cycles": {cycles}}}"#
        )
    };
    refuse(&with("sharing", "[]", "[{}]"), &["there is no block sharing"]);
    refuse(&with("mrf_bank_map", r#"["mrf.banks=3"]"#, "[{}]"), &["r.json", "mrf.banks = 3 is not allowed"]);
    refuse(&with("mrf_bank_map", r#"["mrf.banks"]"#, "[{}]"), &["r.json", "expected key=value"]);
    let good = r#"["mrf.banks=16"]"#;
    refuse(&with("mrf_bank_map", good, "[]"), &["r.json has no cycles"]);
    refuse(&with("mrf_bank_map", good, r#"[{"wrap_i": "0x1"}]"#), &["cycle 0", "no input wrap_i"]);
    refuse(&with("mrf_bank_map", good, r#"[{}, {"warp_i": "0x40"}]"#), &["cycle 1", "warp_i", "6 bits"]);
}

#[test]
fn a_broken_arbiter_is_found_located_kept_and_replayed() {
    // A bank must not read while it is written: one condition dropped.
    let broken = changed("mrf_arbiter", "(DualPort != 0) ? '1 : ~bank_write_valid_o", "'1");
    let broken = replacement("mrf_arbiter", &stable_file("broken/mrf_arbiter.sv", &broken));
    let failures = tempfile::tempdir().unwrap();
    let failures = failures.path().to_str().unwrap();
    let arguments = ["cosim", "--json", "--block", "mrf_arbiter", "--preset", "baseline", "--cycles", "20000"];
    let arguments = [&arguments[..], &["--failures", failures]].concat();
    let result = json(&[&arguments[..], &["--rtl", &broken]].concat(), FAILED);
    let kind = result["result"].as_str().unwrap();
    assert!(kind == "diverged" || kind == "assertion", "{result}");
    if kind == "diverged" {
        assert_eq!(result["divergence"]["block"], "mrf_arbiter");
        for field in ["cycle", "port", "model", "rtl"] {
            assert!(result["divergence"].get(field).is_some(), "{field} is missing: {result}");
        }
    }

    let folder = PathBuf::from(result["artifacts"][0].as_str().unwrap());
    assert!(folder.starts_with(failures), "{}", folder.display());
    for file in ["wave.vcd", "wave.gtkw", "report.txt", "reproducer.json"] {
        assert!(fs::metadata(folder.join(file)).unwrap().len() > 0, "{file}");
    }
    let waveform = fs::read_to_string(folder.join("wave.vcd")).unwrap();
    for scope in ["model", "rtl", "diff"] {
        assert!(waveform.contains(&format!("$scope module {scope} $end")), "{scope}");
    }

    // The reproducer fails with the file it was made with, and passes with the project's own.
    let reproducer = folder.join("reproducer.json");
    let reproducer = reproducer.to_str().unwrap();
    let again = json(&["cosim", "--json", "--replay", reproducer, "--failures", failures], FAILED);
    assert_eq!(again["result"], kind);
    let own = replacement("mrf_arbiter", &checkout().join("rtl/mrf/mrf_arbiter.sv"));
    let fixed = json(&["cosim", "--json", "--replay", reproducer, "--rtl", &own], PASSED);
    assert_eq!(fixed["result"], "pass");

    // Without --json the output says the same, and names the next command.
    let words = run(&["cosim", "--replay", reproducer, "--failures", failures]);
    assert_eq!(words.status.code(), Some(FAILED));
    let words = text(&words.stdout);
    for word in ["cycle", "mrf_arbiter", "gpurf wave", "--replay", "0 of 1 equal, 1 failed"] {
        assert!(words.contains(word), "{word:?} is not in: {words}");
    }

    opens_the_waveform(&folder);
}

#[test]
fn a_longer_history_begins_earlier() {
    let count = "logic [11:0] n_q = 0;\n  always_ff @(posedge clk_i) if (n_q != 3000) n_q <= n_q + 1'b1;\n";
    let ready = "assign push_ready_o  = (~valid_q | pop_i) & (n_q != 3000);";
    let broken = changed("mrf_write_queue", "assign push_ready_o  = ~valid_q | pop_i;", &format!("{count}  {ready}"));
    let broken = replacement("mrf_write_queue", &stable_file("late/mrf_write_queue.sv", &broken));
    let failures = tempfile::tempdir().unwrap();
    let options = ["--rtl", &broken, "--cycles", "5000", "--failures", failures.path().to_str().unwrap()];
    let block = ["cosim", "--json", "--block", "mrf_write_queue", "--preset", "baseline"];
    let run = |history: &[&str]| json(&[&block[..], &options[..], history].concat(), FAILED);
    let (short, long) = (run(&[]), run(&["--history", "2000"]));
    assert_eq!((&long["divergence"], &long["cycles"]), (&short["divergence"], &short["cycles"]));
    for (result, before) in [(&short, 256), (&long, 2000)] {
        let folder = PathBuf::from(result["artifacts"][0].as_str().unwrap());
        let waveform = fs::read_to_string(folder.join("wave.vcd")).unwrap();
        let first = waveform.lines().find(|line| line.starts_with('#')).unwrap();
        let cycle = result["cycles"].as_u64().unwrap() - before;
        assert_eq!(first, format!("#{}", 2 * cycle));
        let line = format!("  history   from cycle {cycle} on\n");
        assert_eq!(result["message"].as_str().unwrap().contains(&line), before == 2000, "{result}");
    }
}

/// The lines of a page's code block that shows this report, from its heading on.
fn report_on(page: &str, heading: &str) -> Vec<String> {
    let text = fs::read_to_string(checkout().join(page)).unwrap();
    let lines = text.lines().skip_while(|line| *line != heading).take_while(|line| *line != "```");
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    assert!(lines.len() > 5, "{page} has no report on {heading}");
    lines
}

#[test]
fn pages_show_the_failure_that_the_program_prints() {
    let broken = changed("mrf_arbiter", "(blocking[i] || !blocked[req_bank_i[i]])", "1'b1");
    let file = stable_file("tutorial/my_arbiter.sv", &broken);
    let folder = file.parent().unwrap();
    let _ = fs::remove_dir_all(folder.join("failures"));
    let arguments = ["cosim", "--block", "mrf_arbiter", "--preset", "baseline", "--rtl", "mrf_arbiter=my_arbiter.sv"];
    let mut command = gpurf(&[&arguments[..], &["--failures", "failures"]].concat());
    let output = command.current_dir(folder).output().unwrap();
    assert_eq!(output.status.code(), Some(FAILED), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    for page in ["README.md", "docs/tutorial.md", "docs/gallery.md"] {
        let mut rest = printed.lines();
        for line in report_on(page, "mrf_arbiter 16b 1rw 8c 1i 64e DIVERGED") {
            assert!(rest.any(|other| other == line), "{page}: {line:?} is not in, or not in this order:\n{printed}");
        }
    }
    // The tutorial's reproducer is the one that was written.
    let reproducer = fs::read_to_string(folder.join("failures/mrf_arbiter-1/reproducer.json")).unwrap();
    let tutorial = fs::read_to_string(checkout().join("docs/tutorial.md")).unwrap();
    let cycles = tutorial.split("  \"cycles\": [\n").nth(1).and_then(|rest| rest.split("  ]\n").next()).unwrap();
    assert!(reproducer.contains(cycles), "the tutorial shows\n{cycles}\nand not\n{reproducer}");
}

#[test]
fn the_arbiter_of_the_examples_is_equal_and_breaks_as_their_page_shows() {
    let own = checkout().join("examples/own/my_arbiter.sv");
    let rtl = replacement("mrf_arbiter", &own);
    let result = json(&["cosim", "--json", "--block", "mrf_arbiter", "--cycles", "20000", "--rtl", &rtl], PASSED);
    assert!(result["runs"].as_array().unwrap().len() > 1, "{result}");
    // The page breaks it with sed.
    let source = fs::read_to_string(&own).unwrap();
    let rule = "candidates = (mine[b] & blocking) != '0 ? mine[b] & blocking : mine[b];";
    assert_eq!(source.matches(rule).count(), 1, "{}", own.display());
    let file = stable_file("examples/broken.sv", &source.replace(rule, "candidates = mine[b];"));
    let folder = file.parent().unwrap();
    let _ = fs::remove_dir_all(folder.join("failures"));
    let arguments = ["cosim", "--block", "mrf_arbiter", "--preset", "baseline", "--rtl", "mrf_arbiter=broken.sv"];
    let mut command = gpurf(&[&arguments[..], &["--failures", "failures"]].concat());
    let output = command.current_dir(folder).output().unwrap();
    assert_eq!(output.status.code(), Some(FAILED), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    let mut rest = printed.lines();
    for line in report_on("examples/README.md", "mrf_arbiter 16b 1rw 8c 1i 64e DIVERGED") {
        assert!(rest.any(|other| other == line), "{line:?} is not in, or not in this order:\n{printed}");
    }
}

/// `gpurf wave` on a real failure: without a display it names the files, with one it starts the viewer.
fn opens_the_waveform(folder: &Path) {
    let shown = folder.to_str().unwrap();
    let output = run(&["wave", shown]);
    assert_eq!(output.status.code(), Some(PASSED));
    let named = text(&output.stdout);
    assert!(named.contains("wave.vcd") && named.contains("wave.gtkw") && named.contains("gtkwave"), "{named}");

    let bin = tempfile::tempdir().unwrap();
    let viewer = bin.path().join("gtkwave");
    fs::write(&viewer, "#!/bin/sh\npwd > \"$0.log\"\necho \"$@\" >> \"$0.log\"\n").unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&viewer).status().unwrap().success());
    let path = format!("{}:{}", bin.path().display(), std::env::var("PATH").unwrap());
    let output = gpurf(&["wave", shown]).env("PATH", path).env("DISPLAY", ":99").output().unwrap();
    assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stderr));
    let log = fs::read_to_string(bin.path().join("gtkwave.log")).unwrap();
    assert_eq!(log, format!("{}\nwave.vcd wave.gtkw\n", folder.canonicalize().unwrap().display()));
}

#[test]
fn a_folder_without_a_waveform_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    refused(&["wave", folder.path().to_str().unwrap()], BAD_INPUT, &["has no wave.vcd"]);
    refused(&["wave", "/nonexistent"], BAD_INPUT, &["/nonexistent does not exist"]);
    refused(&["wave", "/etc/passwd"], BAD_INPUT, &["/etc/passwd is a file: give a failure's folder"]);
    fs::create_dir(folder.path().join("rtl")).unwrap();
    let output = gpurf(&["wave"]).env("GPURF_HOME", folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(BAD_INPUT));
    assert!(text(&output.stderr).contains("there is no failure with a waveform"), "{}", text(&output.stderr));
}

#[test]
fn a_divergence_is_reported_without_its_folder_too() {
    let inverted = changed("mrf_bank_map", "BankW'(reg_i + RegW'(warp_i))", "~BankW'(reg_i + RegW'(warp_i))");
    let inverted = replacement("mrf_bank_map", &stable_file("inverted/mrf_bank_map.sv", &inverted));
    let arguments =
        ["cosim", "--json", "--block", "mrf_bank_map", "--rtl", &inverted, "--failures", "/dev/null/failures"];
    let result = json(&arguments, FAILED);
    assert_eq!((&result["result"], &result["divergence"]["port"]), (&"diverged".into(), &"bank_o".into()));
    assert!(result["message"].as_str().unwrap().contains("/dev/null/failures"), "{result}");
    let output = run(&[&["cosim"], &arguments[2..]].concat());
    assert_eq!(output.status.code(), Some(FAILED));
    let said = text(&output.stdout);
    assert!(said.contains("  port      bank_o") && said.contains("cannot write a failure folder"), "{said}");
}

#[test]
fn faults_and_flipped_bits_are_found() {
    refused(&["mutate", "--block", "sharing"], BAD_INPUT, &["there is no block sharing"]);
    let none = ["mutate", "--only-generated", "--count", "0", "--mistakes", "0"];
    refused(&none, BAD_INPUT, &["all kinds of mutants are switched off"]);
    refused(&["audit", "--block", "sharing"], BAD_INPUT, &["there is no block sharing"]);
    refused(&["audit", "--block", "sm"], BAD_INPUT, &["--block sm", "memory and host"]);
    let result = json(&["audit", "--json", "--block", "mrf_write_queue"], PASSED);
    let audit = &result["audits"][0];
    assert!(audit["bits"].as_u64().unwrap() > 1000 && audit["bits"] == audit["reported"], "{result}");
    let result = json(&["mutate", "--json", "--block", "mrf_bank_map", "--count", "0"], PASSED);
    assert!(result["mutants"].as_u64().unwrap() > 0 && result["mutants"] == result["caught"], "{result}");
    assert_eq!((&result["result"], &result["survived"]), (&Value::from("pass"), &Value::from(0)));
}

/// Sends the signal of Ctrl-C.
fn interrupt(child: &Child) {
    // The shell has its own kill; a small system may have no other.
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

#[test]
fn ctrl_c_keeps_what_was_done() {
    let short = ["cosim", "--block", "mrf_bank_map", "--block", "mrf_write_queue", "--cycles", "100"];
    assert_eq!(run(&short).status.code(), Some(PASSED));
    let failures = tempfile::tempdir().unwrap();
    let failures = failures.path().to_str().unwrap();
    let blocks = ["cosim", "--json", "--jobs", "1", "--block", "mrf_bank_map", "--block", "mrf_write_queue"];
    let arguments = [&blocks[..], &["--cycles", ENDLESS, "--failures", failures]].concat();
    // The run has to have begun when the signal comes; on a busy machine that takes a while.
    let under_way = [1, 4, 16, 60].into_iter().any(|seconds| {
        let result = interrupted(&arguments, Duration::from_secs(seconds));
        assert_eq!(result["result"], "interrupted");
        let (first, second) = (&result["runs"][0], &result["runs"][1]);
        assert_eq!((&first["result"], &second["result"]), (&Value::from("interrupted"), &Value::from("interrupted")));
        assert_eq!(second["cycles"], 0, "{result}");
        first["cycles"] != 0
    });
    assert!(under_way, "the cycles done before the signal are not in the result");
}

#[test]
fn ctrl_c_during_a_build_is_an_interruption() {
    let folder = tempfile::tempdir().unwrap();
    let (verilator, begun) = slow_verilator(folder.path());
    let kernel = checkout().join("tests/kernels/saxpy.toml");
    // A size that no other test builds.
    let size = ["--set", "mrf.tag_bits=51", "--set", "sm.warps=12"];
    let arguments = [&["run", kernel.to_str().unwrap(), "--engine", "lockstep"], &size[..]].concat();
    let mut command = gpurf(&arguments);
    command.env("VERILATOR", &verilator);
    let output = interrupted_when(command, &begun);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(INTERRUPTED), "{said}");
    assert!(said.contains("interrupted") && !said.contains("defect"), "{said}");
}

#[test]
fn the_last_failure_is_no_interrupted_run() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("rtl")).unwrap();
    for (name, report) in [("mrf-1", "mrf DIVERGED\n"), ("mrf-2", "interrupted\n")] {
        let folder = home.path().join("failures").join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("report.txt"), report).unwrap();
        fs::write(folder.join("wave.vcd"), "").unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = gpurf(&["wave"]).env("GPURF_HOME", home.path()).env_remove("DISPLAY").output().unwrap();
    let said = text(&output.stdout);
    assert!(said.contains("mrf DIVERGED") && said.contains("failures/mrf-1/wave.vcd"), "{said}");
    // If no run has failed, the interrupted one is shown.
    fs::remove_dir_all(home.path().join("failures/mrf-1")).unwrap();
    let output = gpurf(&["wave"]).env("GPURF_HOME", home.path()).env_remove("DISPLAY").output().unwrap();
    assert!(text(&output.stdout).contains("failures/mrf-2/wave.vcd"), "{}", text(&output.stdout));
}

/// Starts a run, interrupts it after a while, and reads its JSON object.
fn interrupted(arguments: &[&str], after: Duration) -> Value {
    let mut child = gpurf(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(after);
    interrupt(&child);
    let mut output = String::new();
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(INTERRUPTED));
    serde_json::from_str(&output).unwrap()
}
