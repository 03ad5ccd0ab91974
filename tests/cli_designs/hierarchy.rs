//! Levels that the compiler manages: the report, and the options of the compiler.

use super::common::sums::{folder, gpurf, row};
use super::common::{BAD_INPUT, PASSED, check_refused, read_json, text};

#[test]
fn levels_of_a_kernel_with_known_answers() {
    let arguments = ["report", "hierarchy", "--only", "values", "--kernel", "sums.toml", "--json"];
    let report = read_json(&arguments, &gpurf(&folder(), &arguments), PASSED);
    // Twelve instructions, of which ten have a result, read twelve operands.
    for (metric, ours) in [
        ("values read more than once", 0.2),
        ("values read once, by the next instruction", 0.6),
        ("register operands that an instruction reads", 1.0),
        ("register operands read for each that is written", 1.2),
    ] {
        let found = row(&report, metric)["ours"].as_f64().unwrap();
        assert!((found - ours).abs() < 1e-9, "{metric}: {found}");
    }
}

#[test]
fn levels_and_strands_stand_beside_the_ptx() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels/saxpy.ptx");
    let levels = text(&gpurf(&folder(), &["compile", source, "--annotate", "--orf", "3", "--lrf", "split"]).stdout);
    for words in [
        "| strand 2",
        "the strand ends: a result of long latency is needed next",
        "(a result of long latency)",
        "d=ORF0",
    ] {
        assert!(levels.contains(words), "{words}: {levels}");
    }
    let arguments = ["compile", source, "--orf", "9"];
    check_refused(&arguments, &gpurf(&folder(), &arguments), BAD_INPUT, &["--orf", "9"]);
}

#[test]
fn code_for_a_preset_is_what_runs_on_it() {
    let saxpy = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels/saxpy.ptx");
    let code = |more: &[&str]| {
        let arguments = [&["compile", saxpy], more].concat();
        let output = gpurf(&folder(), &arguments);
        assert_eq!(output.status.code(), Some(PASSED), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let plain = code(&[]);
    assert_eq!(code(&["--preset", "baseline"]), plain);
    let split = code(&["--preset", "lrf-orf-split"]);
    assert_ne!(split, plain);
    assert_eq!(code(&["--orf", "3", "--lrf", "split"]), split);
    // An option takes precedence over the preset's value.
    assert_eq!(code(&["--preset", "lrf-orf-split", "--lrf", "none"]), code(&["--preset", "orf"]));
    assert_eq!(code(&["--preset", "lrf-orf-split", "--orf", "0", "--lrf", "none"]), plain);
    assert_eq!(code(&["--preset", "greener", "--power-threshold", "7"]), code(&["--power-threshold", "7"]));
    assert_ne!(code(&["--preset", "greener"]), plain);
    for (more, what) in [
        (&["--lrf", "split"][..], "--lrf needs an operand register file: add --orf"),
        (&["--preset", "lrf-orf", "--orf", "0"], "the preset's last result file needs"),
        (&["--without", "partial-ranges"], "--without needs an operand register file"),
        (&["--encoding", "single-level"], "--encoding needs an operand register file"),
    ] {
        let arguments = [&["compile", saxpy], more].concat();
        check_refused(&arguments, &gpurf(&folder(), &arguments), BAD_INPUT, &[what]);
    }
}
