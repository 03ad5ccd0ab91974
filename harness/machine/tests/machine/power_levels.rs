//! Power states of the main register file's words, below levels above it that the compiler manages.

use crate::common::kernels::{commits, skips};
use crate::common::miscounts::every_field_is_counted;
use crate::common::power::every_access_meets_on;
use crate::common::{Program, alone, settings};
use gpurf_blocks::power::{POWER_COUNT_EVENT, POWER_EVENT};
use gpurf_machine::{LaunchError, ModelEngine};

/// Modes, ports, entries, with and without last result files.
const BELOW: [&[&str]; 3] = [
    &[
        "power.present=true",
        "compiler.power_threshold=2",
        "mrf.issue_ports=2",
        "sm.active_warps=8",
        "orf.entries=3",
        "lrf.banks=split",
    ],
    &[
        "power.present=true",
        "power.mode=hints",
        "compiler.power_threshold=1",
        "power.wake_sleep=3",
        "power.wake_off=7",
        "mrf.banks=4",
        "mrf.issue_ports=2",
        "sm.active_warps=4",
        "sm.patience=3",
        "orf.entries=8",
        "lrf.banks=unified",
    ],
    &[
        "power.present=true",
        "power.mode=sleep_always",
        "sm.active_warps=8",
        "sm.alu_latency=2",
        "orf.entries=1",
        "memory.latency=1",
    ],
];

#[test]
fn kernels_commit_what_the_oracle_says() {
    commits(&BELOW, &[POWER_EVENT, POWER_COUNT_EVENT], &[]);
}

#[test]
fn skipped_cycles_are_counted_as_if_they_had_been_run() {
    skips(&BELOW);
}

#[test]
fn a_count_that_is_off_by_one_is_found_in_every_field() {
    every_field_is_counted(BELOW[0]);
}

/// R9 with this level and state, then a read of it at this level; what the program stores.
fn below_the_orf(result: &str, state: &str, source: &str, set: &[&str]) -> Result<Vec<u32>, LaunchError> {
    let code = format!(
        "MOV R9, 5 {{d={result} power=ON,ON,{state}}}\nNOP\nNOP\nNOP\nIADD R10, PT, R9, R0, !PT {{a={source}}}\n\
         ST.GLOBAL.B32 [R2:RZ], R10"
    );
    let hints = ["power.present=true", "power.mode=hints", "compiler.power_threshold=1", "sm.active_warps=8"];
    let set: Vec<&str> = hints.iter().chain(set).copied().collect();
    Program::new(&code, 1, 32).run(&mut ModelEngine::judged(settings(&set)))
}

#[test]
fn the_word_of_a_register_forgets_and_the_orf_does_not() {
    let orf = ["orf.entries=3", "lrf.banks=split"];
    let value = |result: &str, state: &str, source: &str| below_the_orf(result, state, source, &orf);
    for (result, state, source) in [
        ("MRF+ORF1", "OFF", "ORF1"),
        ("MRF+LRF0", "OFF", "LRF0"),
        ("MRF+ORF1", "SLEEP", "MRF"),
        ("MRF", "SLEEP", "MRF>ORF0"),
        // The field of a result that is above alone means nothing.
        ("ORF2", "OFF", "ORF2"),
        // Levels that name no place are the main register file.
        ("ORF7", "SLEEP", "ORF7"),
    ] {
        assert_eq!(value(result, state, source).unwrap()[..3], [5, 6, 7], "{result} {state} {source}");
    }
    for (result, source) in [("MRF+ORF1", "MRF"), ("MRF+ORF1", "MRF>ORF1"), ("ORF7", "ORF7"), ("MRF", "LRF0")] {
        // A place that the machine does not have is the main register file, which has lost the value.
        let set = if source == "LRF0" { &orf[..1] } else { &orf[..] };
        let lost = below_the_orf(result, "OFF", source, set);
        assert!(matches!(lost, Err(LaunchError::Mismatch(_))), "{result} {source}: {lost:?}");
    }
}

#[test]
fn levels_above_save_wake_ups_of_the_main_register_file() {
    let below = ["power.present=true", "compiler.power_threshold=3", "sm.active_warps=8"];
    let with: Vec<&str> = below.iter().copied().chain(["orf.entries=3", "lrf.banks=split"]).collect();
    for name in ["blackScholes", "mandelbrot", "sobolQRNG", "srad"] {
        let wakes = |set: &[&str]| {
            let events = alone(name, settings(set)).0.events;
            (events["wake_sleep"] + events["wake_off"], events["on"])
        };
        let (plain, levels) = (wakes(&below), wakes(&with));
        assert!(levels.0 < plain.0 && levels.1 < plain.1, "{name}: {levels:?} {plain:?}");
    }
}

#[test]
fn no_access_meets_a_register_that_is_not_on() {
    every_access_meets_on(&BELOW);
}
