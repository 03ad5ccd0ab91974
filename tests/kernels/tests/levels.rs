//! Strands and levels of every kernel: proved by the compiler's checker, and judged by what each lane does in the small run.

mod common;

use common::{build, build_in, observed, percent};
use gpurf_compiler::Schedule;
use gpurf_compiler::hierarchy::{Encoding, HierarchyOptions, check, run};
use gpurf_isa::{Image, LastResultFile};
use gpurf_kernels::{KERNELS, Kernel};
use gpurf_oracle::levels::{LevelCounts, LevelJudge, Levels};

const LRFS: [LastResultFile; 3] = [LastResultFile::None, LastResultFile::Unified, LastResultFile::Split];

/// A kernel with levels, which the checker accepts.
fn levelled(kernel: &Kernel, marked: &Image, options: &HierarchyOptions) -> Image {
    let mut image = marked.clone();
    for code in image.kernels.iter_mut().map(|kernel| &mut kernel.code) {
        run(code, options);
        check(code, options).unwrap_or_else(|error| panic!("{}, {options:?}: {error}", kernel.name));
    }
    image
}

/// Runs the kernel; the judge has to accept everything that it does.
fn judged(kernel: &Kernel, image: &Image, options: &HierarchyOptions) -> LevelCounts {
    let HierarchyOptions { orf_entries, lrf, keep_when_descheduled, .. } = *options;
    let levels = Levels { orf_entries, lrf, keep_when_descheduled };
    let mut all = LevelCounts::default();
    for judge in observed(kernel, image, |_| LevelJudge::new(levels)) {
        let (faults, counts) = judge.finish();
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert!(faults.is_empty(), "{}, {options:?}:\n{}", kernel.name, faults.join("\n"));
        all += counts;
    }
    all
}

/// A hierarchy with all steps.
fn full(orf_entries: u8, lrf: LastResultFile) -> HierarchyOptions {
    HierarchyOptions { orf_entries, lrf, ..HierarchyOptions::NONE }
}

/// 1, 3 and 8 entries, each LRF, each with all steps, with each step left out, and with the restricted encodings.
fn all_options() -> Vec<HierarchyOptions> {
    let mut all = Vec::new();
    for lrf in LRFS {
        for full in [1, 3, 8].map(|entries| full(entries, lrf)) {
            all.extend([
                full,
                HierarchyOptions { partial_ranges: false, ..full },
                HierarchyOptions { read_operands: false, ..full },
                HierarchyOptions { forward_branches: false, ..full },
                HierarchyOptions { partial_ranges: false, read_operands: false, forward_branches: false, ..full },
                HierarchyOptions { encoding: Encoding::SingleLevel, ..full },
                HierarchyOptions { encoding: Encoding::LrfMrfOnly, ..full },
            ]);
        }
    }
    all
}

#[test]
fn every_kernel_finds_its_values() {
    let all = all_options();
    for registers in [16, 64] {
        for (number, kernel) in KERNELS.iter().enumerate() {
            let marked = build(kernel, registers);
            for (option, options) in all.iter().enumerate() {
                let image = levelled(kernel, &marked, options);
                // The checker's proof is about all runs. Of the runs, each kernel and each set of options has some.
                if (option + number) % 16 == 0 {
                    judged(kernel, &image, options);
                }
            }
        }
    }
}

#[test]
fn every_kernel_finds_its_values_in_every_order_of_instructions() {
    let options = full(3, LastResultFile::Split);
    for schedule in [Schedule::Tree, Schedule::Latency] {
        let mut all = LevelCounts::default();
        for kernel in KERNELS {
            all += judged(kernel, &levelled(kernel, &build_in(schedule, kernel, 32), &options), &options);
        }
        let reads = all.mrf.reads() + all.orf.reads() + all.lrf.reads();
        println!("{}: LRF {:.1} % of reads", schedule.name(), percent(all.lrf.reads(), reads));
    }
}

#[test]
#[ignore = "takes a minute"]
fn every_kernel_finds_its_values_with_all_options() {
    for kernel in KERNELS {
        let marked = build(kernel, 64);
        for options in all_options() {
            judged(kernel, &levelled(kernel, &marked, &options), &options);
        }
    }
}

/// With `--nocapture` it prints how reads and writes are distributed.
#[test]
fn levels_above_the_mrf_serve_most_reads() {
    for lrf in LRFS {
        let options = full(3, lrf);
        let mut all = LevelCounts::default();
        for kernel in KERNELS {
            let counts = judged(kernel, &levelled(kernel, &build(kernel, 64), &options), &options);
            all += counts;
            let reads = counts.mrf.reads() + counts.orf.reads() + counts.lrf.reads();
            println!(
                "{:22} {lrf:?}: of {reads} reads MRF {:4.1} %, ORF {:4.1} %, LRF {:4.1} %; {:.2} reads of the MRF an instruction",
                kernel.name,
                percent(counts.mrf.reads(), reads),
                percent(counts.orf.reads(), reads),
                percent(counts.lrf.reads(), reads),
                counts.mrf_reads_per_instruction(),
            );
        }
        let reads = all.mrf.reads() + all.orf.reads() + all.lrf.reads();
        println!(
            "all, {lrf:?}: MRF {:.1} %, ORF {:.1} %, LRF {:.1} %",
            percent(all.mrf.reads(), reads),
            percent(all.orf.reads(), reads),
            percent(all.lrf.reads(), reads),
        );
        assert!(all.mrf.reads() < reads / 2, "{all:?}");
        assert_eq!(all.lrf.reads() > reads / 10, lrf != LastResultFile::None, "{all:?}");
    }
}
