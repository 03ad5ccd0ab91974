//! `gpurf compare` as its users see it: the numbers are those of separate runs.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{BAD_INPUT, FAILED, PASSED, check_refused, read_json, text};
use gpurf_blocks::config::{DEFAULT_PRESET, presets};
use gpurf_blocks::designs::DESIGNS;
use serde_json::Value;

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels").canonicalize().unwrap()
}

fn gpurf(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gpurf"))
        .args(arguments)
        .current_dir(std::env::temp_dir())
        .env("GPURF_HOME", kernels().join("../.."))
        .output()
        .unwrap()
}

#[track_caller]
fn json(arguments: &[&str], status: i32) -> Value {
    read_json(arguments, &gpurf(arguments), status)
}

#[track_caller]
fn refused(arguments: &[&str], status: i32, words: &[&str]) {
    check_refused(arguments, &gpurf(arguments), status, words);
}

/// The main preset of the last design but one: a register file that is not the baseline's.
fn other() -> &'static str {
    DESIGNS.iter().rev().nth(1).unwrap().main_preset
}

const THREE: [&str; 3] = ["saxpy", "reduction", "scan"];

#[test]
fn the_numbers_are_those_of_separate_runs() {
    let named: Vec<&str> = THREE.iter().flat_map(|name| ["--kernel", name]).collect();
    let sides = [DEFAULT_PRESET, other()];
    let compared = json(&[&["compare", sides[0], sides[1], "--json"], &named[..]].concat(), PASSED);
    assert_eq!((&compared["result"], &compared["engine"]), (&"pass".into(), &"model".into()));
    let rows = compared["kernels"].as_array().unwrap();
    assert_eq!(rows.len(), THREE.len());
    let mut cycles = [0, 0];
    for (row, kernel) in rows.iter().zip(THREE) {
        assert_eq!(row["kernel"], kernel);
        let manifest = kernels().join(format!("{kernel}.toml"));
        for (index, (side, preset)) in ["a", "b"].into_iter().zip(sides).enumerate() {
            let alone =
                json(&["run", manifest.to_str().unwrap(), "--engine", "model", "--preset", preset, "--json"], PASSED);
            for part in ["cycles", "stats", "events"] {
                assert_eq!(row[side][part], alone[part], "{kernel} on {preset}: {part}");
            }
            cycles[index] += alone["cycles"].as_u64().unwrap();
        }
        // The energy of the register file is that of its accesses.
        let energy = &row["a"]["energy"]["register_file"];
        let part = |name: &str| energy[name].as_f64().unwrap();
        assert!(part("total") > 0.0 && (part("total") - part("mrf")).abs() < 1e-6 && part("lrf") == 0.0, "{energy}");
    }
    let total = &compared["total"];
    assert_eq!((total["a"]["cycles"].as_u64(), total["b"]["cycles"].as_u64()), (Some(cycles[0]), Some(cycles[1])));
    let ipc = total["a"]["stats"]["ipc"].as_f64().unwrap();
    let instructions = total["a"]["stats"]["instructions"].as_f64().unwrap();
    assert!((ipc - instructions / cycles[0] as f64).abs() < 1e-12);
    // The largest change comes first; each change is that of the named number.
    let differences = compared["differences"].as_array().unwrap();
    let mut last = f64::INFINITY;
    for difference in differences {
        let (a, b) = (difference["a"].as_f64(), difference["b"].as_f64());
        assert_ne!(a, b, "{difference}");
        let at = |side: &str| {
            let path = format!("/{side}/{}", difference["number"].as_str().unwrap().replace('.', "/"));
            total.pointer(&path).and_then(Value::as_f64)
        };
        assert_eq!((at("a"), at("b")), (a, b), "{difference}");
        if let (Some(change), Some(a), Some(b)) = (difference["change"].as_f64(), a, b) {
            assert!((change - (b / a - 1.0)).abs() < 1e-12 && change.abs() <= last, "{difference}");
            last = change.abs();
        }
    }
    assert!(differences.iter().any(|difference| difference["number"] == "cycles"));
    let mean = compared["means"].as_array().unwrap().iter().find(|mean| mean["number"] == "cycles").unwrap();
    let ratio = |row: &Value| row["b"]["cycles"].as_f64().unwrap() / row["a"]["cycles"].as_f64().unwrap();
    let expected = rows.iter().map(|row| ratio(row).ln()).sum::<f64>() / 3.0;
    assert!((mean["change"].as_f64().unwrap() - (expected.exp() - 1.0)).abs() < 1e-9);
}

#[test]
fn every_preset_can_be_compared_within_100_columns() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    for preset in presets().filter(|preset| preset.name != DEFAULT_PRESET) {
        let page = page.to_str().unwrap();
        let arguments = ["compare", DEFAULT_PRESET, preset.name, "--kernel", "saxpy", "--html", page, "--jobs", "2"];
        let output = gpurf(&arguments);
        let shown = text(&output.stdout);
        assert_eq!(output.status.code(), Some(PASSED), "{}: {}", preset.name, text(&output.stderr));
        for line in shown.lines().filter(|line| !line.contains(page)) {
            assert!(line.chars().count() <= 100, "{}: {line}", preset.name);
        }
        assert!(shown.contains(&format!("B  {}", preset.name)) && shown.contains("saxpy"), "{shown}");
        let page = fs::read_to_string(page).unwrap();
        assert!(page.contains(&format!("{DEFAULT_PRESET} and {}", preset.name)) && page.contains("events.issue"));
        assert!(!page.contains("http") && !page.contains("<script"));
    }
}

#[test]
fn configurations_are_compared_too_and_equal_numbers_are_shown_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("slow.toml");
    fs::write(&config, format!("base = \"{DEFAULT_PRESET}\"\n[memory]\nlatency = 800\n")).unwrap();
    let arguments = ["compare", DEFAULT_PRESET, config.to_str().unwrap(), "--kernel", "saxpy"];
    let compared = json(&[&arguments[..], &["--json"]].concat(), PASSED);
    assert!(compared["means"][0]["change"].as_f64().unwrap() > 0.05, "{}", compared["means"]);
    let numbers: Vec<_> = compared["differences"].as_array().unwrap().iter().map(|d| &d["number"]).collect();
    assert!(!numbers.contains(&&"stats.instructions".into()), "{numbers:?}");
    let [short, long] = [&[][..], &["--all"]].map(|more| text(&gpurf(&[&arguments[..], more].concat()).stdout));
    assert!(!short.contains("\nSIMD efficiency ") && long.contains("\nSIMD efficiency "), "{long}");
}

#[test]
fn energies_of_a_file_are_compared_beside_the_papers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.toml");
    let file = file.to_str().unwrap();
    let arguments = ["compare", DEFAULT_PRESET, "banks-8", "--kernel", "saxpy"];
    let with = |more: &[&str]| {
        let mut found = json(&[&arguments[..], &["--json"], more].concat(), PASSED);
        found["wall_s"] = Value::Null;
        found
    };
    let plain = with(&[]);
    // The papers' energies are the default, and by event they are the same.
    let mut paper = with(&["--energy", "paper"]);
    assert_eq!(
        paper["total"]["a"]["by_event"]["papers"]["total"],
        plain["total"]["a"]["energy"]["register_file"]["total"]
    );
    for row in ["/kernels/0", "/total"] {
        for side in ["a", "b"] {
            let numbers = paper.pointer_mut(&format!("{row}/{side}")).unwrap().as_object_mut().unwrap();
            assert!(numbers.remove("by_event").is_some());
        }
    }
    assert_eq!(paper, plain);
    let of = |read: u32| {
        fs::write(file, format!("unit = \"pJ\"\n[blocks.mrf_arbiter]\nread = {read}\n")).unwrap();
        with(&["--energy", file])
    };
    let [once, twice] = [of(2), of(4)];
    for side in ["a", "b"] {
        let number = |found: &Value, path: &str| found["total"][side].pointer(path).and_then(Value::as_f64).unwrap();
        let reads = number(&once, "/events/read");
        assert_eq!(number(&once, "/energy/blocks/mrf_arbiter"), 2.0 * reads);
        assert_eq!(number(&twice, "/energy/blocks/total"), 4.0 * reads);
        let papers = number(&once, "/energy/register_file/total");
        assert_eq!(papers, number(&plain, "/energy/register_file/total"));
        let whole = number(&once, "/energy/register_file_and_blocks/total");
        assert!(reads > 0.0 && (whole - papers - 2.0 * reads).abs() < 1e-6);
        assert_eq!(once["total"][side]["by_event"]["energies"], file);
    }
    let page = folder.path().join("page.html");
    let shown = gpurf(&[&arguments[..], &["--energy", "rtl", "--html", page.to_str().unwrap()]].concat());
    assert!(fs::read_to_string(&page).unwrap().contains("Energies: rtl"));
    let shown = text(&shown.stdout);
    for words in ["energies: rtl", "geometric middle", "register file and blocks", "what they leave out"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let lines = shown.lines().filter(|line| !line.contains("page.html"));
    assert!(lines.clone().all(|line| line.chars().count() <= 100), "{shown}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    refused(&["compare", DEFAULT_PRESET, "nonsense"], BAD_INPUT, &["nonsense", DEFAULT_PRESET]);
    refused(&["compare", DEFAULT_PRESET, DEFAULT_PRESET], BAD_INPUT, &["the same machine", "nothing to compare"]);
    refused(&["compare", DEFAULT_PRESET, "/no/such.toml"], BAD_INPUT, &["/no/such.toml"]);
    refused(&["compare", DEFAULT_PRESET], BAD_INPUT, &["<B>"]);
    let with = |more: &[&'static str]| [&["compare", DEFAULT_PRESET, other()][..], more].concat();
    refused(&with(&["--kernel", "nonsense"]), BAD_INPUT, &["nonsense", "no test kernel of this name"]);
    refused(&with(&["--kernel", "/no/such.toml"]), BAD_INPUT, &["/no/such.toml"]);
    refused(&with(&["--kernel", "saxpy", "--kernel", "saxpy"]), BAD_INPUT, &["another kernel of that name"]);
    refused(&with(&["--html", "/no/such/page.html"]), BAD_INPUT, &["/no/such/page.html"]);
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("b.toml").display().to_string();
    std::fs::write(&config, "mrf.banks = 8\n").unwrap();
    let itself = ["compare", DEFAULT_PRESET, &config, "--kernel", "saxpy", "--html", &config];
    refused(&itself, BAD_INPUT, &["--html ", "b.toml is the configuration of B: choose another place"]);
    refused(
        &with(&["--energy", "/no/such.toml"]),
        BAD_INPUT,
        &["--energy /no/such.toml", "expected paper, rtl, or a TOML file"],
    );
    refused(&with(&["--set", "sm.warps=7"]), BAD_INPUT, &["sm.warps"]);
    refused(&with(&["--set", "mrf.kilobytes=8", "--kernel", "saxpy"]), BAD_INPUT, &["saxpy on", "registers"]);
    let slow = ["--set", "memory.latency=900", "--idle-limit", "200", "--kernel", "saxpy"];
    refused(&with(&slow), FAILED, &["saxpy on", "no progress"]);
    refused(&with(&["--rtl", "nonsense=a.sv"]), BAD_INPUT, &["there is no module nonsense"]);
}
