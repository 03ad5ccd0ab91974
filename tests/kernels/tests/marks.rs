//! The compiler's marks on every kernel, judged by what each lane does in the small run: no value is read after its last read, no result of a
//! long-latency operation before the warp was descheduled, no value that bypassed the RFC too soon, no value of the LRF by a shared unit, no register
//! that was marked as free for the whole warp.

mod common;

use common::{build, build_in, observed, percent};
use gpurf_compiler::Schedule;
use gpurf_compiler::marks::liveness;
use gpurf_isa::{Image, Slot};
use gpurf_kernels::{KERNELS, Kernel};
use gpurf_oracle::marks::{MarkCounts, MarkFault, MarkJudge, Scope};

/// The judge's faults and counts for a kernel.
fn judged(kernel: &Kernel, image: &Image, scope: Scope) -> (Vec<MarkFault>, MarkCounts) {
    let (mut all_faults, mut all_counts) = (Vec::new(), MarkCounts::default());
    for judge in observed(kernel, image, |_| MarkJudge::new(scope)) {
        let (faults, counts) = judge.finish();
        all_faults.extend(faults);
        all_counts.add(&counts);
    }
    (all_faults, all_counts)
}

fn line(name: &str, c: &MarkCounts) {
    println!(
        "{name:22} {:9} instructions; last {:5.1} % of reads, {:5.1} % of the values that were read; deschedule {:4.1} %, idle {:4.1} % of \
         them, waits for other lanes {}; past RFC {:4.1} %, past LRF {:4.1} %; a free register with {:4.1} %",
        c.instructions,
        percent(c.last_reads, c.reads),
        percent(c.lane_last_reads, c.lane_values),
        percent(c.deschedules, c.instructions),
        percent(c.idle_deschedules, c.deschedules),
        c.waits_for_other_lanes,
        percent(c.past_cache, c.results),
        percent(c.past_lrf, c.private_results),
        percent(c.free_registers, c.instructions),
    );
}

/// With `--nocapture` it prints statistics of the marks.
#[test]
fn marks_of_every_kernel_hold() {
    for registers in [16, 64] {
        let mut all = MarkCounts::default();
        for kernel in KERNELS {
            let (faults, counts) = judged(kernel, &build(kernel, registers), Scope::Lanes);
            assert_eq!(faults, [], "{} with {registers} registers", kernel.name);
            line(kernel.name, &counts);
            all.add(&counts);
        }
        line(&format!("all, {registers} registers"), &all);
    }
}

#[test]
fn marks_hold_in_every_order_of_instructions() {
    for schedule in [Schedule::Tree, Schedule::Latency] {
        let mut all = MarkCounts::default();
        for kernel in KERNELS {
            let (faults, counts) = judged(kernel, &build_in(schedule, kernel, 32), Scope::Lanes);
            assert_eq!(faults, [], "{}, {}", kernel.name, schedule.name());
            all.add(&counts);
        }
        line(&format!("all, {}", schedule.name()), &all);
    }
}

/// Dead for the whole warp is another thing than dead for a lane: judged as if such registers were switched off.
#[test]
fn registers_that_are_dead_for_a_warp_are_read_by_no_lane() {
    let mut all = MarkCounts::default();
    for kernel in KERNELS {
        let mut image = build(kernel, 64);
        for code in image.kernels.iter_mut().map(|kernel| &mut kernel.code) {
            let live = liveness::of_warp(code);
            for (instruction, live) in code.iter_mut().zip(live) {
                let dead = |slot| instruction.source(slot).is_some_and(|register| !live.contains(register));
                instruction.control.last_read = Slot::ALL.map(dead);
            }
        }
        let (faults, counts) = judged(kernel, &image, Scope::Warp);
        assert_eq!(faults, [], "{}", kernel.name);
        all.add(&counts);
    }
    line("all, whole warps", &all);
}
