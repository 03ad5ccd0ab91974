//! Levels that the compiler manages: the report, and what the compiler is told.

use super::common::sums::{folder, gpurf, row};
use super::common::{BAD_INPUT, PASSED, check_refused, read_json, text};

#[test]
fn levels_of_a_kernel_with_known_answers() {
    let arguments = ["report", "hierarchy", "--only", "values", "--kernel", "sums.toml", "--json"];
    let report = read_json(&arguments, &gpurf(&folder(), &arguments), PASSED);
    // Twelve operands and ten results of ten instructions that do something with registers, and two that do not.
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
