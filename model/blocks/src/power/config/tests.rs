//! Power states in the configuration.

use std::collections::BTreeSet;

use crate::config::{Config, PowerMode, Preset, Scheduler, Start, presets};
use crate::designs::DESIGNS;
use crate::power::{PowerStraps, mode};
use crate::shape::{SmShape, cfg_of_block};
use crate::testing::{config, refuses, set};

#[test]
fn presets_are_the_thesis_s_machine_without_states_and_with_each_use_of_them() {
    let kepler = config("kepler", &[]);
    assert_eq!((kepler.mrf.kilobytes, kepler.mrf.banks, kepler.shape().depth), (128, 16, 64));
    assert_eq!((kepler.sm.warps, kepler.mrf.issue_ports, kepler.sm.scheduler), (32, 2, Scheduler::RoundRobin));
    assert_eq!((kepler.power.present, kepler.sm_shape().power_entries), (false, 0));
    let found = ["sleep-reg", "greener-static", "greener"].map(|preset| {
        let config = config(preset, &[]);
        let as_kepler = Config { power: kepler.power, compiler: kepler.compiler, ..config };
        assert_eq!(as_kepler, kepler, "{preset}");
        assert!(config.power.present && config.sm_shape().power_entries == 2, "{preset}");
        assert_eq!((config.power.wake_sleep, config.power.wake_off), (1, 2), "{preset}");
        (config.power.mode, config.compiler.power_threshold)
    });
    assert_eq!(found, [(PowerMode::SleepAlways, 0), (PowerMode::Hints, 3), (PowerMode::Greener, 3)]);
}

#[test]
fn numbers_outside_their_bounds_are_refused() {
    refuses(&[
        ("power.wake_sleep", &["0", "16"][..], "a number from 1 to 15 (cycles)"),
        ("power.wake_off", &["0", "16"], "a number from 1 to 15 (cycles)"),
        ("power.table_entries", &["0", "5"], "a number from 1 to 4"),
    ]);
}

#[test]
fn register_files_whose_accesses_are_not_known_at_issue_have_no_power_states() {
    let excluded = |config: &Config| config.power.present || config.share.present || config.unified.is_present();
    let others = presets().filter(|preset| !excluded(&preset.config));
    let load = |preset: &Preset| {
        Config::load(Start::Preset(preset.name), &["power.present=true", "power.mode=always_on"])
            .map_err(|e| e.to_string())
    };
    let (mut with, mut without) = (BTreeSet::new(), BTreeSet::new());
    for preset in others {
        let SmShape { organisation, .. } = preset.config.sm_shape();
        let key = organisation.design().selection.key;
        if organisation.design().services.main_roles.is_some() {
            match load(preset) {
                Ok(config) => {
                    with.insert(key);
                    assert_eq!(config.sm_shape().power_entries, 2, "{}", preset.name);
                }
                // A key of the design that does not go with power states.
                Err(message) => assert!(message.contains("where power.present is true"), "{message}"),
            }
        } else {
            without.insert(key);
            let message = format!(
                "--set: power.present = true is not allowed: it has to be false: {key} selects a register file in \
                 which it is not known at issue when the main register file's registers are accessed, or which has none"
            );
            assert_eq!(load(preset), Err(message), "{}", preset.name);
        }
    }
    assert_eq!(with.len(), 3, "{with:?}");
    assert_eq!(without.len(), DESIGNS.len() - 3);
}

#[test]
fn modes_that_need_marks_say_how_to_get_them() {
    let message = |origin: &str, mode: &str| {
        format!(
            "{origin}: power.mode = {mode} is not allowed: it has to be always_on or sleep_always where \
             compiler.power_threshold is 0: the code has no states then (compiler.power_threshold=3 marks them)"
        )
    };
    assert_eq!(set(&["power.present=true"]), Err(message("preset baseline", "greener")));
    assert_eq!(set(&["power.present=true", "power.mode=hints"]), Err(message("--set", "hints")));
    for mode in ["always_on", "sleep_always"] {
        assert!(set(&["power.present=true", &format!("power.mode={mode}")]).is_ok());
    }
    for mode in ["hints", "greener"] {
        let settings = ["power.present=true", &format!("power.mode={mode}"), "compiler.power_threshold=1"];
        assert!(set(&settings).is_ok());
    }
    // Without states the mode has no effect.
    assert!(set(&["power.mode=hints"]).is_ok());
}

#[test]
fn straps_are_those_of_the_page() {
    let straps = |settings: &[&str]| cfg_of_block(&config("greener", settings), "power_states");
    assert_eq!(straps(&[]), 3 | 1 << 2 | 2 << 6);
    assert_eq!(straps(&["power.mode=always_on"]), 1 << 2 | 2 << 6);
    assert_eq!(straps(&["power.mode=sleep_always", "power.wake_sleep=15"]), 1 | 15 << 2 | 2 << 6);
    assert_eq!(straps(&["power.mode=hints", "power.wake_off=9"]), 2 | 1 << 2 | 9 << 6);
    let known = PowerStraps { mode: mode::HINTS, wake_sleep: 5, wake_off: 12 };
    assert_eq!(PowerStraps::of(known.word()), known);
}
