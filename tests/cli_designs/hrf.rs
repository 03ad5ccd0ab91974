//! The hybrid register file: its report, and its statistics and those of its scheduler.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::common::sums::{folder, gpurf, row, whole_report};
use super::common::{PASSED, read_json, text};

#[test]
fn the_hybrid_file_on_a_tiny_kernel() {
    let report = whole_report("hybrid", 40, 12);
    // A warp writes ten results. Four registers are drained before it waits for its load, which is written too; the last one is dropped at the warp's
    // end.
    for (metric, ours) in [
        ("writes of the STT-RAM that the buffers save", 0.5),
        ("writes of the STT-RAM that buffers of 4 entries save", 0.5),
        ("active periods that use fewer than 16 entries of a buffer", 1.0),
        ("time in which a buffer's upper 48 entries have power", 0.0),
        ("IPC lost by power gating, against the hybrid file without", 0.0),
        ("area of the hybrid file with power gating, by that of SRAM", 0.3685),
    ] {
        let found = row(&report, metric)["ours"].as_f64().unwrap();
        assert!((found - ours).abs() < 1e-4, "{metric}: {found}");
    }
    let pure =
        row(&report, "IPC lost by pure STT-RAM, against SRAM under the same scheduler")["ours"].as_f64().unwrap();
    assert!((0.05..0.5).contains(&pure), "{pure}");
}

#[test]
fn the_hybrid_file_and_its_scheduler_have_statistics_of_their_own() {
    let folder = folder();
    let stats = |preset: &str| {
        let arguments = ["run", "sums.toml", "--engine", "model", "--preset", preset, "--json"];
        read_json(&arguments, &gpurf(&folder, &arguments), PASSED)["stats"].clone()
    };
    let object = stats("hrf-pg");
    let (periods, hybrid) = (&object["alternating"], &object["hybrid"]);
    let count = |part: &Value, name: &str| part[name].as_u64().unwrap();
    let activations = count(periods, "activations");
    let ends = ["leave_end", "leave_barrier", "leave_mark", "leave_patience"].map(|end| count(periods, end));
    assert_eq!((ends.iter().sum::<u64>(), ends[1]), (activations, 0));
    assert!(ends[0] > 0 && ends[2] > 0 && periods["active_period"].as_f64().unwrap() > 1.0);
    let entries = hybrid["period_entries"].as_object().unwrap();
    assert_eq!(entries.values().map(|times| times.as_u64().unwrap()).sum::<u64>(), activations);
    // Writes of the STT-RAM come out of buffers, or are loads that returned while the warp was not active.
    let (drains, loads) = (count(hybrid, "drain_groups"), count(hybrid, "load_groups"));
    assert!(drains > 0 && loads > 0 && count(hybrid, "direct_groups") == 0);
    assert_eq!(drains + loads, count(hybrid, "stt_ram_write_groups"));
    assert!(count(hybrid, "hits") > 0 && count(hybrid, "misses") > 0);
    // With few registers, the upper entries never need power.
    assert_eq!(hybrid["gated"], 1.0);
    assert!(stats("hrf")["hybrid"].get("gated").is_none());
    let pure = &stats("stt-only")["hybrid"];
    assert_eq!((count(pure, "hits"), count(pure, "direct_groups")), (0, count(pure, "stt_ram_write_groups")));
    assert!(count(pure, "frozen_cycles") > 0);
    let sram = stats("hrf-sram");
    assert!(sram.get("alternating").is_some() && sram.get("hybrid").is_none());
    let output = gpurf(&folder, &["run", "sums.toml", "--engine", "model", "--preset", "hrf-pg"]);
    for word in ["warp inter-active distance", "registers read: in the buffer", "groups drained", "time without power"]
    {
        assert!(text(&output.stdout).contains(word), "{word:?} is not in: {}", text(&output.stdout));
    }
}

/// After reset, the slot of `alternating_scheduler` names any of 64 warps. With 48 warps it may name one that does not exist: no instruction issues
/// then.
#[test]
fn a_slot_without_a_warp_issues_nothing() {
    let arguments =
        ["cosim", "--preset", "hybrid-paper", "--programs", "1", "--weights", "atomics", "--seed", "8", "--json"];
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output =
        Command::new(env!("CARGO_BIN_EXE_gpurf")).args(arguments).env("GPURF_HOME", checkout).output().unwrap();
    let result = read_json(&arguments, &output, PASSED);
    assert_eq!(result["result"], "pass", "{result}");
}
