//! Sharing in the configuration.

use super::*;
use crate::config::{Start, presets};
use crate::shape::cfg_of_block;
use crate::testing::{config, refuses, set};

#[test]
fn presets_are_the_thesis_s_machine_without_sharing_and_with_it() {
    let fermi = config("fermi", &[]);
    assert_eq!((fermi.mrf.kilobytes, fermi.mrf.banks, fermi.mrf.issue_ports), (128, 16, 2));
    assert_eq!((fermi.sm.warps, fermi.sm.blocks, fermi.sm.scheduler), (48, 8, Scheduler::RoundRobin));
    let shape = fermi.sm_shape();
    assert!(shape.places() && shape.mrf.places && !shape.shares());
    let parameters = |shape: &crate::shape::SmShape| {
        ["Places", "Share", "Classes", "Sizes", "Throttle"].map(|name| crate::Shape::parameter(shape, name))
    };
    assert_eq!(parameters(&shape), [1, 0, 0, 1, 0]);
    let shared = config("share-registers", &[]);
    assert_eq!(shared.sm.scheduler, Scheduler::GreedyThenOldest);
    let sm = SmConfig { scheduler: fermi.sm.scheduler, ..shared.sm };
    assert_eq!(Config { sm, share: fermi.share, ..shared }, fermi);
    assert_eq!(parameters(&shared.sm_shape()), [1, 1, 1, 1, 0]);
    assert_eq!(parameters(&config("share-registers", &["share.throttle=50"]).sm_shape()), [1, 1, 1, 1, 50]);
    assert_eq!(parameters(&config("baseline", &[]).sm_shape()), [0; 5]);
    let ShareConfig { private, lock, hold_atomics, owner_first, throttle, reference, .. } = shared.share;
    assert_eq!((private, lock, hold_atomics, owner_first, throttle), (1, LockRule::Oldest, true, true, 0));
    assert_eq!(reference, Reference::Sampled);
}

#[test]
fn scratchpad_memory_is_shared_in_a_machine_with_16_kilobytes() {
    let [small, fermi] = ["fermi-16k", "fermi"].map(|preset| config(preset, &[]));
    let sm = SmConfig { shared_kilobytes: 64, ..small.sm };
    assert_eq!((small.sm.shared_kilobytes, Config { sm, ..small }), (16, fermi));
    let shared = config("share-scratchpad", &[]);
    let sm = SmConfig { scheduler: small.sm.scheduler, ..shared.sm };
    assert_eq!(Config { sm, share: small.share, ..shared }, small);
    let registers = config("share-registers", &[]);
    let share = ShareConfig { resource: SharedResource::Scratchpad, ..registers.share };
    assert_eq!((shared.share, shared.sm.scheduler), (share, registers.sm.scheduler));
    let parameters = |preset: &str, settings: &[&str]| {
        let shape = config(preset, settings).sm_shape();
        ["Share", "Shares", "Classes", "Places", "Throttle"].map(|name| crate::Shape::parameter(&shape, name))
    };
    assert_eq!(parameters("share-scratchpad", &[]), [2, 1, 1, 1, 0]);
    assert_eq!(parameters("share-registers", &[]), [1, 0, 1, 1, 0]);
    assert_eq!(parameters("share-registers", &["share.resource=scratchpad"]), [2, 1, 1, 1, 0]);
    assert_eq!(parameters("fermi-16k", &["share.resource=scratchpad"]), [0, 0, 0, 1, 0]);
}

/// With p = b * t, rounded up to words, where scratchpad memory is shared; all of what is not shared.
#[test]
fn private_parts_are_of_what_is_shared() {
    let config = |resource, private| ShareConfig { present: true, resource, private, ..ShareConfig::DEFAULT };
    for (tenths, bytes, expected) in
        [(1, 2180, 220), (1, 2200, 220), (9, 9, 12), (4, 9, 4), (5, 0, 0), (3, 65536, 19664)]
    {
        let scratchpad = config(SharedResource::Scratchpad, tenths);
        assert_eq!(scratchpad.private_shared(bytes), expected, "{tenths} {bytes}");
        assert_eq!(scratchpad.private_registers(36), 36);
        let registers = config(SharedResource::Registers, tenths);
        assert_eq!(registers.private_shared(bytes), bytes);
        assert_eq!(ShareConfig { present: false, ..scratchpad }.private_shared(bytes), bytes);
    }
}

#[test]
fn only_registers_are_shared_with_a_throttle() {
    let message = "--set: share.throttle = 5 is not allowed: it has to be 0 where share.resource is scratchpad: non-owners are throttled where \
                   blocks share registers (share.resource=registers)";
    let load = |settings: &[&str]| Config::load(Start::Preset("share-scratchpad"), settings).map_err(|e| e.to_string());
    assert_eq!(load(&["share.throttle=5"]), Err(message.to_owned()));
    assert!(load(&["share.throttle=5", "share.resource=registers"]).is_ok());
    assert!(load(&["share.lock=first", "share.check=mark"]).is_ok());
}

#[test]
fn numbers_outside_their_bounds_are_refused() {
    refuses(&[
        ("share.private", &["0", "10"][..], "a number from 1 to 9 (tenths of what is shared)"),
        ("share.throttle", &["65536"], "a number from 0 to 65535 (cycles of a period; 0: none)"),
        ("sm.blocks", &["0", "17"], "a number from 1 to 16"),
    ]);
}

#[test]
fn private_registers_are_rounded_up() {
    let private = |tenths| ShareConfig { private: tenths, ..ShareConfig::DEFAULT };
    for (tenths, registers, expected) in
        [(1, 36, 4), (1, 30, 3), (1, 1, 1), (1, 0, 1), (9, 36, 33), (9, 1, 1), (5, 255, 128), (9, 255, 230)]
    {
        assert_eq!(private(tenths).private_registers(registers), expected, "{tenths} {registers}");
    }
}

#[test]
fn sharing_needs_registers_one_by_one_a_single_level_and_no_power_states() {
    let message =
        |why: &str| Err(format!("--set: share.present = true is not allowed: it has to be false where {why}"));
    let rows = "mrf.allocation is rows: a guest's private registers are few, and rows of the banks are handed out whole \
                (mrf.allocation=registers)";
    assert_eq!(set(&["share.present=true"]), message(rows));
    let with = |setting: &str| set(&["share.present=true", "mrf.allocation=registers", setting]);
    assert!(with("sm.blocks=3").is_ok());
    let levels = "sm.active_warps is not 0: the scheduler that prefers owners has a single level (sm.active_warps=0)";
    assert_eq!(with("sm.active_warps=8"), message(levels));
    let power = "power.present is true: power states are of registers that one warp has (power.present=false)";
    let settings = ["share.present=true", "mrf.allocation=registers", "power.present=true", "power.mode=sleep_always"];
    assert_eq!(set(&settings), message(power));
}

#[test]
fn a_throttle_needs_an_older_block_that_never_waits() {
    let with = |settings: &[&str]| Config::load(Start::Preset("share-registers"), settings).map_err(|e| e.to_string());
    assert!(with(&["share.throttle=65535"]).is_ok() && with(&["share.lock=first"]).is_ok());
    let message = "--set: share.throttle = 1 is not allowed: it has to be 0 where share.lock is first: the older block may wait for \
                   the younger one there, which may be kept from memory for ever (share.lock=oldest)";
    assert_eq!(with(&["share.throttle=1", "share.lock=first"]), Err(message.to_owned()));
}

/// The ports of an external reference are there only with a throttle that reads them; the RTL has them always.
#[test]
fn a_reference_from_outside_has_ports_only_where_it_is_read() {
    let shape = |preset: &str, settings: &[&str]| config(preset, settings).sm_shape();
    for (name, number) in [("sampled", 0), ("external", 1), ("held", 2)] {
        let reference = format!("share.reference={name}");
        let with = shape("share-registers", &["share.throttle=1000", &reference]);
        assert_eq!(crate::Shape::parameter(&with, "Reference"), number);
        assert_eq!(with.has_external_reference(), name == "external");
        assert!(!shape("share-registers", &[&reference]).has_external_reference(), "there is no throttle");
        assert!(!shape("fermi", &["share.throttle=1000", &reference]).has_external_reference(), "nothing is shared");
    }
}

/// The SM has a throttle only where blocks share registers; the block alone has a period in any configuration.
#[test]
fn a_period_is_that_of_the_key_or_a_short_one() {
    let parameters = |preset: &str, settings: &[&str]| {
        let shape = config(preset, settings).sm_shape();
        ["Throttle", "Period"].map(|name| crate::Shape::parameter(&shape, name))
    };
    assert_eq!(parameters("baseline", &[]), [0, 16]);
    assert_eq!(parameters("baseline", &["share.throttle=7"]), [0, 16]);
    assert_eq!(parameters("share-registers", &["share.throttle=1000"]), [1000, 1000]);
}

#[test]
fn only_the_main_register_file_hands_registers_out_one_by_one() {
    let (mut with, mut without) = (0, 0);
    for preset in presets().filter(|preset| !preset.config.unified.is_present()) {
        let key = preset.config.sm_shape().organisation.design().selection.key;
        let loaded = Config::load(Start::Preset(preset.name), &["mrf.allocation=registers"]);
        if key.is_empty() {
            with += 1;
            assert!(loaded.unwrap().sm_shape().places(), "{}", preset.name);
        } else {
            without += 1;
            let message = format!(
                "--set: mrf.allocation = registers is not allowed: it has to be rows: {key} selects another register file. \
                 Registers are handed out one by one in the main register file alone"
            );
            assert_eq!(loaded.map_err(|e| e.to_string()), Err(message), "{}", preset.name);
        }
    }
    assert!(with > 5 && without > 10, "{with} {without}");
}

#[test]
fn straps_are_those_of_the_page() {
    let straps = |settings: &[&str]| cfg_of_block(&config("share-registers", settings), "share_locks");
    assert_eq!(straps(&[]), 0b110);
    assert_eq!(straps(&["share.lock=first"]), 0b111);
    assert_eq!(straps(&["share.hold_atomics=false"]), 0b100);
    assert_eq!(straps(&["share.owner_first=false"]), 0b010);
    for word in 0..8 {
        assert_eq!(ShareStraps::of(word).word(), word);
    }
    let straps = |settings: &[&str]| cfg_of_block(&config("share-scratchpad", settings), "scratchpad_locks");
    assert_eq!([straps(&[]), straps(&["share.check=mark"]), straps(&["share.lock=first"])], [0b0110, 0b1110, 0b0111]);
    assert_eq!(cfg_of_block(&config("share-registers", &[]), "block_launcher"), 8);
    assert_eq!(cfg_of_block(&config("baseline", &[]), "block_launcher"), 16);
}
