//! The test kernels on registers with power states; their events are counted a third time, and a register that is OFF forgets.

use crate::common::kernels::{commits, skips};
use crate::common::miscounts::{add, every_field_is_counted, is_found, value};
use crate::common::power::every_access_meets_on;
use crate::common::{Program, alone, settings};
use gpurf_blocks::power::{POWER_COUNT_EVENT, POWER_EVENT};
use gpurf_kernels::KERNELS;
use gpurf_machine::{LaunchError, ModelEngine, Settings};

/// Each mode, one port and two, both kinds of banks, slow wake-ups, short and long latencies, slots.
const POWER: [&[&str]; 7] = [
    &["power.present=true", "compiler.power_threshold=3"],
    &["power.present=true", "power.mode=hints", "compiler.power_threshold=1", "mrf.issue_ports=2", "sm.warps=48"],
    &["power.present=true", "power.mode=sleep_always", "mrf.issue_ports=2", "sm.scheduler=round_robin"],
    &[
        "power.present=true",
        "compiler.power_threshold=7",
        "power.wake_sleep=5",
        "power.wake_off=15",
        "power.table_entries=4",
        "mrf.ports=1rw",
        "mrf.issue_ports=2",
    ],
    &["power.present=true", "power.mode=sleep_always", "power.wake_sleep=4", "sm.active_warps=8", "sm.patience=3"],
    &[
        "power.present=true",
        "compiler.power_threshold=2",
        "power.table_entries=1",
        "mrf.banks=4",
        "mrf.collectors=4",
        "sm.warps=8",
        "memory.latency=1",
    ],
    &[
        "power.present=true",
        "power.mode=hints",
        "compiler.power_threshold=31",
        "sm.active_warps=2",
        "sm.alternate=true",
    ],
];

#[test]
fn kernels_commit_what_the_oracle_says() {
    commits(&POWER, &[POWER_EVENT, POWER_COUNT_EVENT], &[]);
}

#[test]
fn skipped_cycles_are_counted_as_if_they_had_been_run() {
    skips(&POWER);
}

#[test]
fn a_count_that_is_off_by_one_is_found_in_every_field() {
    for set in [POWER[0], POWER[2]] {
        every_field_is_counted(set);
    }
}

#[test]
fn a_definition_that_both_sides_misread_is_found() {
    // Registers in SLEEP count as ones that are ON, too.
    is_found(
        POWER[2],
        |out| {
            let asleep = value(POWER_EVENT, out.power_event_o[0], "asleep");
            add(POWER_EVENT, &mut out.power_event_o[0], "on", asleep);
        },
        "on",
    );
}

#[test]
fn always_on_is_the_machine_without_power_states() {
    for kernel in KERNELS {
        for set in [&["mrf.issue_ports=2", "sm.scheduler=round_robin"][..], &["sm.active_warps=8"]] {
            let (plain, buffers, _) = alone(kernel.name, settings(set));
            let with: Vec<&str> = set.iter().copied().chain(["power.present=true", "power.mode=always_on"]).collect();
            let (on, same, _) = alone(kernel.name, settings(&with));
            assert!(plain.cycles == on.cycles && buffers == same, "{} {set:?}", kernel.name);
            for (name, count) in &plain.events {
                assert_eq!(Some(count), on.events.get(name), "{} {set:?}: {name}", kernel.name);
            }
        }
    }
}

/// A register that was in this state, and then is read.
fn reads_after(state: &str) -> Program {
    Program::new(
        &format!("MOV R9, 5 {{power=ON,ON,{state}}}\nIADD R10, PT, R9, R0, !PT\nST.GLOBAL.B32 [R2:RZ], R10"),
        1,
        32,
    )
}

#[test]
fn a_register_that_is_off_forgets() {
    let said = |state: &str, mode: &str| {
        let mode = format!("power.mode={mode}");
        let set = ["power.present=true", "compiler.power_threshold=1", "power.table_entries=4", &mode];
        reads_after(state).run(&mut ModelEngine::judged(settings(&set)))
    };
    for mode in ["hints", "greener"] {
        assert_eq!(said("SLEEP", mode).unwrap()[..3], [5, 6, 7], "{mode}");
    }
    // The next instruction has been decoded when the result is written: the table keeps the register ON.
    assert!(said("OFF", "greener").is_ok());
    let lost = said("OFF", "hints");
    assert!(matches!(lost, Err(LaunchError::Mismatch(_))), "{lost:?}");
    // Modes that do not heed the states lose nothing.
    for mode in ["always_on", "sleep_always"] {
        assert_eq!(said("OFF", mode).unwrap()[..3], [5, 6, 7], "{mode}");
    }
}

/// A machine with hints, and these settings.
fn of_hints(mode: &str, wake: usize) -> Settings {
    let [mode, sleep] = [format!("power.mode={mode}"), format!("power.wake_sleep={wake}")];
    let off = format!("power.wake_off={wake}");
    settings(&["power.present=true", "compiler.power_threshold=3", &mode, &sleep, &off])
}

#[test]
fn a_longer_wake_up_costs_cycles_and_the_table_saves_wake_ups() {
    for name in ["radixSort", "srad", "crc32", "cp"] {
        let of = |mode: &str, wake: usize| {
            let (statistics, ..) = alone(name, of_hints(mode, wake));
            (statistics.cycles, statistics.events["wake_sleep"] + statistics.events["wake_off"], statistics.events)
        };
        let (hints, greener, sleep) = (of("hints", 1), of("greener", 1), of("sleep_always", 1));
        assert!(greener.1 < hints.1 && hints.1 < sleep.1, "{name}: {} {} {}", greener.1, hints.1, sleep.1);
        assert!(of("hints", 12).0 > hints.0, "{name}");
        assert!(of("sleep_always", 12).0 > sleep.0, "{name}");
        assert!(greener.2["kept"] > 0 && hints.2["kept"] == 0 && sleep.2["to_off"] == 0, "{name}");
    }
}

#[test]
fn no_access_meets_a_register_that_is_not_on() {
    every_access_meets_on(&POWER);
}
