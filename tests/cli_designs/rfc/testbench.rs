//! The example of a user's own module: `examples/testbench` compares it with the model through `libgpurf`.

use std::path::Path;
use std::process::Command;

// Cargo builds the shared library because this program uses its crate.
use gpurf as _;

use super::super::common::{FAILED, PASSED, text};

/// Runs the example; returns what it prints.
fn example(kind: &str, out: &Path, broken: bool, status: i32) -> String {
    let library = std::env::current_exe().unwrap().with_file_name("libgpurf.so");
    let mut script = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/testbench.sh"));
    script.arg(kind).env("GPURF", env!("CARGO_BIN_EXE_gpurf")).env("LIBGPURF", library).env("OUT", out);
    script.env("BROKEN", if broken { "1" } else { "" }).env_remove("BENCH").env_remove("CYCLES");
    let output = script.output().unwrap();
    let printed = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{kind}, broken {broken}: {printed}");
    printed
}

/// The module of the example equals the model; with its fault both testbenches name cycle, block and port.
#[track_caller]
fn check_example(kind: &str, equal: &str) {
    let out = tempfile::tempdir().unwrap();
    let printed = example(kind, out.path(), false, PASSED);
    assert!(printed.contains(equal), "{printed}");
    let printed = example(kind, out.path(), true, FAILED);
    let named = |line: &str| {
        let line = line.trim_start().strip_prefix("cycle ")?;
        let (cycle, rest) = line.split_once(' ')?;
        Some(cycle.parse::<u64>().is_ok() && rest.starts_with("rfc_tags.hit_mask_o[0]: model 0x0, rtl 0x"))
    };
    assert!(printed.lines().any(|line| named(line) == Some(true)), "{printed}");
    assert!(!printed.contains(equal), "{printed}");
}

#[test]
fn the_example_in_systemverilog_compares_and_finds_the_fault() {
    check_example("dpi", "gpurf: rfc_tags: 100000 cycles, equal");
}

#[test]
fn the_example_in_cocotb_compares_and_finds_the_fault() {
    check_example("cocotb", "2000 cycles, equal");
}
