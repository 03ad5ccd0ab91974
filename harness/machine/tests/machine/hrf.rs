//! The test kernels on the hybrid register file; its events are counted a third time.

use crate::common::kernels::{commits, skips};
use crate::common::miscounts::{add, every_field_is_counted, is_found, value};
use gpurf_blocks::hrf::{HRF_COUNT_EVENT, HRF_EVENT};

/// The hybrid file's presets: with buffers, with power gating, without buffers, SRAM under the same scheduler; and shapes and policies in which every hazard comes often.
const HYBRID: [&[&str]; 7] = [
    &["mrf.banks=2", "sm.active_warps=2", "sm.alternate=true", "hrf.stt_ram=true"],
    &["mrf.banks=2", "sm.active_warps=2", "sm.alternate=true", "hrf.stt_ram=true", "hrf.gating=true"],
    &["mrf.banks=2", "sm.active_warps=2", "sm.alternate=true", "hrf.stt_ram=true", "hrf.buffer_entries=0"],
    &["sm.active_warps=2", "sm.alternate=true"],
    &[
        "mrf.banks=2",
        "mrf.collectors=4",
        "sm.warps=8",
        "sm.active_warps=2",
        "sm.alternate=true",
        "sm.patience=3",
        "hrf.stt_ram=true",
        "hrf.buffer_entries=4",
        "hrf.load_entries=2",
        "hrf.write_latency=9",
        "hrf.read_latency=3",
    ],
    &[
        "mrf.banks=2",
        "sm.warps=48",
        "sm.active_warps=2",
        "sm.alternate=true",
        "sm.patience=20",
        "hrf.stt_ram=true",
        "hrf.buffer_entries=11",
        "hrf.gating=true",
        "hrf.powered_entries=4",
        "hrf.wake_cycles=15",
        "hrf.sleep_cycles=7",
        "hrf.write_latency=1",
        "memory.latency=1",
    ],
    &[
        "mrf.banks=2",
        "sm.scheduler=round_robin",
        "hrf.stt_ram=true",
        "hrf.buffer_entries=0",
        "hrf.write_latency=15",
        "hrf.read_latency=4",
    ],
];

/// All that the design has, on few slots and entries so that everything happens soon.
const HRF: &[&str] = &[
    "mrf.banks=2",
    "mrf.collectors=4",
    "sm.warps=8",
    "sm.active_warps=2",
    "sm.alternate=true",
    "sm.patience=20",
    "hrf.stt_ram=true",
    "hrf.buffer_entries=5",
    "hrf.load_entries=2",
    "hrf.write_latency=9",
    "hrf.gating=true",
    "hrf.powered_entries=4",
    "memory.latency=40",
    "memory.bandwidth=128",
];

#[test]
fn kernels_commit_what_the_oracle_says() {
    commits(&HYBRID, &[HRF_EVENT, HRF_COUNT_EVENT], &[]);
}

#[test]
fn skipped_cycles_are_counted_as_if_they_had_been_run() {
    skips(&HYBRID);
}

#[test]
fn a_count_that_is_off_by_one_is_found_in_every_field() {
    every_field_is_counted(HRF);
}

#[test]
fn a_definition_that_both_sides_misread_is_found() {
    // A result for an entry that is there is no write of the buffer.
    is_found(
        HRF,
        |out| {
            let less = value(HRF_EVENT, out.design_event_o[0], "hrf_coalesced");
            add(HRF_EVENT, &mut out.design_event_o[0], "hrf_write", 0u64.wrapping_sub(less));
        },
        "hrf_write",
    );
}
