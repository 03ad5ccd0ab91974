//! Power states of every kernel, judged by what each lane does in the small run: no register that went OFF had a value that a lane still read.

mod common;

use common::{build, observed, percent};
use gpurf_compiler::hierarchy::HierarchyOptions;
use gpurf_compiler::marks::flow::Registers;
use gpurf_compiler::marks::{liveness, power};
use gpurf_compiler::{Options, compile};
use gpurf_isa::{Image, Instruction, LastResultFile, Places, PowerState};
use gpurf_kernels::{KERNELS, Kernel};
use gpurf_oracle::power::{PowerCounts, PowerJudge};

/// The judge's faults and counts for a kernel whose code `mark` has marked, on a machine with these places.
fn judged(
    kernel: &Kernel,
    image: &Image,
    places: Places,
    mark: impl Fn(&mut [Instruction]),
) -> (Vec<String>, PowerCounts) {
    let mut image = image.clone();
    image.kernels.iter_mut().for_each(|kernel| mark(&mut kernel.code));
    let (mut all_faults, mut all_counts) = (Vec::new(), PowerCounts::default());
    for judge in observed(kernel, &image, |kernel| PowerJudge::above(kernel.registers, places)) {
        let (faults, counts) = judge.finish();
        all_faults.extend(faults.iter().map(ToString::to_string));
        all_counts += counts;
    }
    (all_faults, all_counts)
}

fn line(name: &str, c: &PowerCounts) {
    let (left, registers) = (c.left.total(), c.registers.total());
    println!(
        "{name}: accesses leave ON {:4.1} %, SLEEP {:4.1} %, OFF {:4.1} %; registers are ON {:4.1} %, SLEEP {:4.1} %, OFF {:4.1} % of the \
         time in instructions; {:.3} wake-ups from SLEEP and {:.3} from OFF an instruction",
        percent(c.left.on, left),
        percent(c.left.sleep, left),
        percent(c.left.off, left),
        percent(c.registers.on, registers),
        percent(c.registers.sleep, registers),
        percent(c.registers.off, registers),
        c.found.sleep as f64 / c.instructions as f64,
        c.found.off as f64 / c.instructions as f64,
    );
}

/// With `--nocapture` it prints statistics of the states.
#[test]
fn no_kernel_loses_a_value() {
    for registers in [16, 64] {
        let images: Vec<Image> = KERNELS.iter().map(|kernel| build(kernel, registers)).collect();
        let mut asleep = Vec::new();
        for threshold in [1, 3, 7, 21] {
            let mut all = PowerCounts::default();
            for (kernel, image) in KERNELS.iter().zip(&images) {
                let (faults, counts) =
                    judged(kernel, image, Places::NONE, |code| power::mark(code, threshold, Places::NONE));
                assert!(faults.is_empty(), "{}, W = {threshold}:\n{}", kernel.name, faults.join("\n"));
                all += counts;
            }
            line(&format!("{registers} registers, W = {threshold}"), &all);
            assert!([all.left.on, all.left.sleep, all.left.off].iter().all(|&n| n > 10_000), "{all:?}");
            asleep.push(all.left.sleep + all.left.off);
        }
        assert!(asleep.is_sorted_by(|a, b| a > b), "a larger threshold keeps more registers ON: {asleep:?}");
    }
}

/// The same with ORF and LRF above the main register file: its words lose no value that is read from them.
#[test]
fn no_kernel_loses_a_word_below_orf_and_lrf() {
    for (orf_entries, lrf) in [(3, LastResultFile::Split), (8, LastResultFile::Unified), (1, LastResultFile::None)] {
        let hierarchy = HierarchyOptions { orf_entries, lrf, ..HierarchyOptions::NONE };
        let places = hierarchy.places();
        let [mut with, mut without] = [PowerCounts::default(); 2];
        for kernel in KERNELS {
            let mut image = build(kernel, 64);
            image
                .kernels
                .iter_mut()
                .for_each(|kernel| drop(gpurf_compiler::hierarchy::run(&mut kernel.code, &hierarchy)));
            let judge = |places: Places| judged(kernel, &image, places, |code| power::mark(code, 3, places));
            let (faults, counts) = judge(places);
            assert!(faults.is_empty(), "{}, {hierarchy:?}:\n{}", kernel.name, faults.join("\n"));
            with += counts;
            without += judge(Places::NONE).1;
        }
        line(&format!("ORF of {orf_entries}, LRF {lrf:?}"), &with);
        line("the same code, the main register file alone", &without);
        assert!(with.registers.off > without.registers.off && with.registers.on < without.registers.on, "{with:?}");
    }
}

/// Liveness of a thread, which the thesis names, is not enough: the judge finds lost values in real kernels.
#[test]
fn liveness_of_a_thread_loses_values() {
    let threads = |code: &mut [Instruction]| {
        let live: Vec<Registers> = liveness::of_lane(code);
        let main = code.to_vec();
        power::mark_live(code, &main, &live, 3);
    };
    let loses = |kernel: &&Kernel| !judged(kernel, &build(kernel, 64), Places::NONE, threads).0.is_empty();
    let losing: Vec<&str> = KERNELS.iter().filter(loses).map(|kernel| kernel.name).collect();
    println!("{} of {} kernels: {losing:?}", losing.len(), KERNELS.len());
    assert!(losing.contains(&"srad"), "{losing:?}");
}

/// For a threshold the compiler sets the same marks as the pass, and nothing else changes.
#[test]
fn the_compiler_marks_where_it_is_told_to() {
    for kernel in KERNELS {
        let path = gpurf_kernels::folder().join(format!("{}.ptx", kernel.name));
        let text = std::fs::read_to_string(&path).expect("PTX lies beside the source");
        let options = Options { registers: 32, power_threshold: 3, ..Options::default() };
        let name = path.display().to_string();
        let image = compile(&text, &name, &options).unwrap_or_else(|error| panic!("{error}")).image;
        let mut plain = build(kernel, 32);
        let unmarked = |code: &[Instruction]| {
            let fields =
                |i: &Instruction| [i.control.source_power[0], i.control.source_power[1], i.control.result_power];
            code.iter().all(|instruction| fields(instruction) == [PowerState::On; 3])
        };
        assert!(plain.kernels.iter().all(|kernel| unmarked(&kernel.code)), "{}", kernel.name);
        plain.kernels.iter_mut().for_each(|kernel| power::mark(&mut kernel.code, 3, Places::NONE));
        assert_eq!(image, plain, "{}", kernel.name);
        assert!(!image.kernels.iter().all(|kernel| unmarked(&kernel.code)), "{}", kernel.name);
    }
}
