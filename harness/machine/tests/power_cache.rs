//! Power states of the main register file's words, below a register file cache.

mod common;

use common::kernels::{commits, skips};
use common::miscounts::every_field_is_counted;
use common::{Program, alone, settings};
use gpurf_blocks::power::{POWER_COUNT_EVENT, POWER_EVENT};
use gpurf_machine::{LaunchError, ModelEngine};

/// Modes, ports, entries, with and without last result files and reads that allocate.
const BELOW: [&[&str]; 3] = [
    &[
        "power.present=true",
        "compiler.power_threshold=2",
        "mrf.issue_ports=2",
        "sm.active_warps=8",
        "rfc.entries=6",
        "rfc.live=true",
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
        "rfc.entries=2",
        "rfc.lrf=true",
        "rfc.reads=true",
        "rfc.live=true",
        "rfc.loads=true",
    ],
    &[
        "power.present=true",
        "compiler.power_threshold=9",
        "sm.active_warps=8",
        "sm.alu_latency=2",
        "rfc.entries=1",
        "memory.latency=1",
    ],
];

#[test]
fn kernels_commit_what_the_oracle_says() {
    commits(&BELOW, &[POWER_EVENT, POWER_COUNT_EVENT], &["wait_read"]);
}

#[test]
fn skipped_cycles_are_counted_as_if_they_had_been_run() {
    skips(&BELOW);
}

#[test]
fn a_count_that_is_off_by_one_is_found_in_every_field() {
    every_field_is_counted(BELOW[0]);
}

/// R9 is written, perhaps evicted, and read twice: the first time with this state. What the program stores.
fn lost(state: &str, entries: &str) -> Result<Vec<u32>, LaunchError> {
    // The value leaves a cache of one entry as R8 is written.
    let code = format!(
        "MOV R9, 5\nNOP\nMOV R8, 7\nNOP\nNOP\nNOP\nNOP\nNOP\nIADD R10, PT, R9, R0, !PT {{power={state},ON,ON}}\nNOP\nNOP\nNOP\nNOP\n\
         NOP\nNOP\nIADD R10, PT, R9, R0, !PT\nST.GLOBAL.B32 [R2:RZ], R10"
    );
    let set = ["power.present=true", "power.mode=hints", "compiler.power_threshold=1", "sm.active_warps=8", entries];
    Program::new(&code, 1, 32).run(&mut ModelEngine::judged(settings(&set)))
}

#[test]
fn the_word_of_a_register_forgets_and_the_cache_does_not() {
    for state in ["ON", "SLEEP"] {
        assert_eq!(lost(state, "rfc.entries=1").unwrap()[..3], [5, 6, 7], "{state}");
    }
    // It is in the cache, and its word has nothing to lose.
    assert_eq!(lost("OFF", "rfc.entries=8").unwrap()[..3], [5, 6, 7]);
    let lost = lost("OFF", "rfc.entries=1");
    assert!(matches!(lost, Err(LaunchError::Mismatch(_))), "{lost:?}");
}

#[test]
fn a_cache_above_saves_wake_ups_of_the_main_register_file() {
    let below = ["power.present=true", "compiler.power_threshold=3", "sm.active_warps=8"];
    let with: Vec<&str> = below.iter().copied().chain(["rfc.entries=6", "rfc.live=true"]).collect();
    for name in ["blackScholes", "mandelbrot", "sobolQRNG", "srad"] {
        let wakes = |set: &[&str]| {
            let statistics = alone(name, settings(set)).0;
            let events = &statistics.events;
            let leaks = ["on", "asleep"].map(|event| events[event] as f64 / statistics.cycles as f64);
            println!("{name}: {} cycles, ON, in SLEEP {leaks:.0?}, to OFF {}", statistics.cycles, events["to_off"]);
            events["wake_sleep"] + events["wake_off"]
        };
        let (plain, cached) = (wakes(&below), wakes(&with));
        assert!(cached < plain, "{name}: {cached} {plain}");
    }
}
