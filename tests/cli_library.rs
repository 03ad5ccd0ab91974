//! `gpurf testbench`: checkers and drivers of all blocks.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{BAD_INPUT, PASSED, check_refused, text};
// Cargo builds the shared library because this program uses its crate.
use gpurf::bench::Bench;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn gpurf(arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_gpurf"));
    program.args(arguments).current_dir(std::env::temp_dir()).env("GPURF_HOME", root()).output().unwrap()
}

/// Checkers and drivers of all blocks, read by Verilator with all its lints.
#[test]
fn what_is_written_for_each_block_is_systemverilog() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().to_str().unwrap();
    let mut files = Vec::new();
    for block in gpurf_sm::all() {
        let output = gpurf(&["testbench", block.name, "--out", folder]);
        assert_eq!(output.status.code(), Some(PASSED), "{}: {}", block.name, text(&output.stderr));
        let written: Vec<PathBuf> = text(&output.stdout).lines().map(PathBuf::from).collect();
        assert_eq!(written.len(), if block.name == gpurf_sm::ENTRY.name { 1 } else { 2 }, "{}", block.name);
        files.extend(written);
    }
    let mut verilator = Command::new(std::env::var_os("VERILATOR").unwrap_or_else(|| "verilator".into()));
    verilator.args(["--lint-only", "-Wall", "--timing", "--assert", "-Wno-MULTITOP"]);
    let output = verilator.arg(root().join("harness/library/include/gpurf_dpi.sv")).args(&files).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
}

/// The widths in a checker are those of the library in the same configuration, and an output that is left out is no port.
#[test]
fn a_checker_is_that_of_its_configuration() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().to_str().unwrap();
    let arguments =
        ["testbench", "mrf_arbiter", "--preset", "banks-16", "--set", "mrf.banks=4", "--without", "event_o"];
    let output = gpurf(&[&arguments[..], &["--out", folder]].concat());
    assert_eq!(output.status.code(), Some(PASSED), "{}", text(&output.stderr));
    let checker = fs::read_to_string(out.path().join("gpurf_check_mrf_arbiter.sv")).unwrap();
    let bench = Bench::new("mrf_arbiter", "banks-16", "mrf.banks=4").unwrap();
    let widths = format!(
        "gpurf_input_bits(model) != {} || gpurf_output_bits(model) != {}",
        bench.inputs().bits(),
        bench.outputs().bits()
    );
    for words in [
        widths.as_str(),
        "Banks = 4",
        "mrf.banks=4",
        "gpurf_ignore(model, \"event_o\")",
        "input logic [3:0] read_valid_o",
    ] {
        assert!(checker.contains(words), "{words}: {checker}");
    }
    assert!(!checker.contains("input logic [43:0] event_o") && checker.contains("wire logic ["), "{checker}");
}

#[test]
fn what_is_asked_wrongly_is_refused() {
    let refused = |arguments: &[&str], status, words: &[&str]| {
        check_refused(arguments, &gpurf(arguments), status, words);
    };
    refused(&["testbench", "mrf_arbitr"], BAD_INPUT, &["there is no block mrf_arbitr", "mrf_arbiter"]);
    refused(&["testbench", "mrf_arbiter", "--without", "older_i"], BAD_INPUT, &["no output older_i", "grant_o"]);
    let none = ["testbench", "ram_1rw", "--without", "rdata_o"];
    refused(&none, BAD_INPUT, &["--without", "ram_1rw has no other output"]);
    let file = tempfile::NamedTempFile::new().unwrap();
    let out = file.path().to_str().unwrap();
    refused(&["testbench", "mrf_arbiter", "--out", out], BAD_INPUT, &[out, "is a file, not a folder"]);
}
