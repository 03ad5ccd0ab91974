//! The report's plan, and rows made of counts with known answers.

use gpurf_blocks::config::{Config, Gather, MemoryPorts};
use gpurf_blocks::designs::Organisation;
use gpurf_energy::storage::{Core, SmEnergy, Storage};
use gpurf_machine::LaunchDemand;
use gpurf_machine::measures::{
    IN_CONFLICT, IN_CONFLICT_OWN, IN_CONFLICT_OWN_MEMORY, IN_CONFLICT_OWN_REGISTERS, IN_CONFLICT_OWN_SCRATCHPAD,
};
use gpurf_sm::partition::Division;
use gpurf_sm::residency::Room;

use super::energy::{OF_LINE, activity, storage};
use super::*;
use crate::report::PaperReport;
use crate::sweep::{Kernel, Measured};
use crate::testing::{check_rows, kernels, made, row};
use crate::usage::Usage;

/// The benchmarks, with one tile size of needle.
const NAMES: [&str; 6] = ["bfs", "cgemm", "hotspot", "MUM", "needle64", "pcr"];

/// A run of a thousand instructions. The baseline and all larger partitioned designs take 1000 cycles and 10000 bytes. Unified memory of 384 KB or
/// more takes 700 cycles for needle, 950 for the others except hotspot, and 8000 bytes for pcr; 256 KB of it take 990 cycles, and smaller designs
/// 1100. The limited designs take 1040 cycles for needle and 1005 for the others, or 1200 with the small cache. A wide memory saves 100 cycles.
fn run(kernel: &str, point: &Point) -> Measured {
    let config: Config = point.config().unwrap();
    let (needle, hotspot) = (kernel.starts_with("needle"), kernel == "hotspot");
    let large = config.unified.kilobytes >= 384;
    let cycles = match (config.unified.kilobytes, config.cache.kilobytes, config.mrf.kilobytes) {
        (384.., ..) if needle => 700,
        (384.., ..) if hotspot => 1000,
        (384.., ..) => 950,
        (256, ..) => 990,
        (1.., ..) => 1100,
        (0, .., 128) => 1100,
        (0, 16, _) => 1200,
        (0, 48, _) if needle => 1040,
        (0, 48, _) => 1005,
        (0, ..) => 1000,
    };
    // Conflicts of memory with registers cost 10 cycles, clusters that do not gather 20, stores that do not allocate in the cache 30.
    let banks = &config.unified;
    let saved = 10 * u64::from(banks.ports == MemoryPorts::Separate)
        + 20 * u64::from(banks.gather == Gather::Aggressive)
        + 30 * u64::from(config.cache.full_stores);
    let cycles = cycles - saved;
    let fewer = if config.launch.cache_kilobytes.number() == Some(256) { 7 } else { 0 };
    let cycles = cycles + fewer - if config.memory.bandwidth > 8 { 100 } else { 0 };
    let bytes = if large && kernel == "pcr" { 8000 } else { 10_000 };
    // Instructions with a conflict: 100 in the partitioned machine without levels; 150 of needle and 140 of the others in the unified machine without
    // levels, and 20 fewer of needle if clusters gather; 60 in the machine with levels.
    let flat = matches!(Organisation::of(&config), Organisation::Mrf(_));
    let in_conflict = match (flat, config.unified.kilobytes) {
        (true, 0) => 100,
        (true, _) if needle => 150 - if banks.gather == Gather::Aggressive { 20 } else { 0 },
        (true, _) => 140,
        _ => 60,
    };
    let events = [
        (IN_CONFLICT_OWN, in_conflict),
        (IN_CONFLICT_OWN_REGISTERS, in_conflict - 10),
        (IN_CONFLICT_OWN_SCRATCHPAD, 20),
        (IN_CONFLICT_OWN_MEMORY, 5),
        (IN_CONFLICT, in_conflict + if flat { 100 } else { 0 }),
        (event::ISSUE, 1000),
        (event::READ_GROUPS, 6000),
        (event::WRITE_GROUPS, 4000),
        (event::SHARED, 10),
        (event::SHARED_LANES, 160),
        (event::CACHE_HIT, 20),
        (event::CACHE_STORE_HIT, 4),
        (event::CACHE_STORE_FULL, 1),
        (event::CACHE_FILL, 8),
        (event::MEMORY_READ, bytes / 2),
        (event::MEMORY_WRITTEN, bytes / 2),
    ];
    Measured::new(cycles, events)
}

fn report(names: &[&str]) -> PaperReport {
    made(&REPORT, names, |kernel, point| Some(run(&kernel.name, point)))
}

#[track_caller]
fn near(ours: f64, expected: f64) {
    assert!((ours - expected).abs() < 1e-9, "{ours}, not {expected}");
}

#[test]
fn designs_are_compared_by_their_fastest_runs() {
    let report = report(&NAMES);
    check_rows(&report);
    for (metric, expected, within) in [
        ("performance gained by 384 KB unified, over 256/64/64 KB: needle", 1000.0 / 700.0 - 1.0, Some(false)),
        ("performance gained by 384 KB unified, over 256/64/64 KB: bfs", 1000.0 / 950.0 - 1.0, Some(true)),
        ("performance gained by 384 KB unified, over 256/64/64 KB: hotspot", 0.0, Some(true)),
        ("benchmarks that gain from 384 KB unified, over 256/64/64 KB", 5.0, Some(true)),
        ("benchmarks that gain from 256 KB unified, over 256/64/64 KB", 6.0, Some(false)),
        ("performance gained by 128/32/32 KB, over 256/64/64 KB", 1000.0 / 1100.0 - 1.0, None),
        ("benchmarks that 256/64 KB limited runs faster than 128/32/32 KB", 1.0, Some(true)),
        ("benchmarks that 256/64 KB limited runs as fast as 256/64/64 KB", 5.0, Some(false)),
        ("performance gained by 256/64 KB limited, over 256/64/64 KB: needle", 1000.0 / 1040.0 - 1.0, Some(true)),
        (
            "greatest difference of performance, 48 KB of cache and 16 of scratchpad memory by 16 and 48",
            1200.0 / 1005.0 - 1.0,
            Some(true),
        ),
        ("benchmarks of which 384 KB unified saves 10 to 25 % of the DRAM bytes", 1.0, Some(false)),
        ("benchmarks whose DRAM bytes stay the same with 384 KB unified", 5.0, Some(false)),
        ("DRAM bytes saved by 384 KB unified: pcr", 0.2, Some(true)),
        ("performance gained by a cache of 512 KB, over 256 KB: pcr", 0.0, Some(false)),
        ("DRAM bytes with a cache of 64 KB, by those without: needle", 1.0, Some(true)),
        (
            "performance lost to arbitration conflicts, mean",
            (10.0 / 700.0 + 10.0 / 1000.0 + 4.0 * 10.0 / 950.0) / 6.0,
            Some(false),
        ),
        (
            "performance gained by gathering from several banks of a cluster, mean",
            (20.0 / 680.0 + 20.0 / 980.0 + 4.0 * 20.0 / 930.0) / 6.0,
            Some(false),
        ),
        (
            "performance gained by stores of whole lines that take a place, mean",
            (30.0 / 670.0 + 30.0 / 970.0 + 4.0 * 30.0 / 920.0) / 6.0,
            None,
        ),
        (
            "instructions with a bank conflict, 384 KB unified without LRF and ORF less 256/64/64 KB without LRF and ORF, mean",
            (0.05 + 5.0 * 0.04) / 6.0,
            Some(true),
        ),
        (
            "instructions with a bank conflict, 384 KB unified less 256/64/64 KB without LRF and ORF, mean",
            -0.04,
            Some(true),
        ),
        ("instructions with two registers of a bank, 256/64/64 KB without LRF and ORF, mean", 0.09, None),
        ("instructions with several passes of scratchpad memory, 384 KB unified, mean", 0.02, None),
        ("instructions with scratchpad memory or cache in a bank of a register, 384 KB unified, mean", 0.005, None),
        ("instructions with a wait for a bank, 256/64/64 KB without LRF and ORF, mean", 0.2, None),
        (
            "performance lost to banks of 16 bytes, mean",
            1.0 - 1000.0 * (2.0 / 940.0 + 1.0 / 990.0 + 1.0 / 690.0 + 2.0 / 1000.0) / 6.0,
            Some(false),
        ),
        ("performance lost to banks of 16 bytes: cgemm", 1.0 - 1000.0 / 940.0, Some(false)),
        ("cycles in which DRAM transfers, 256/64/64 KB, mean", 10_000.0 / 8.0 / 1000.0, None),
        ("KB of tags, a cache of 64 KB", 512.0 * 19.0 / 8192.0, Some(false)),
        ("KB of tags, 384 KB unified with a cache of at most 256 KB", 6.0, Some(false)),
    ] {
        let row = row(&report, metric);
        near(row.ours, expected);
        assert_eq!(row.within, within, "{metric}");
    }
    // The runs of every experiment are planned.
    assert!(report.rows.iter().all(|row| !row.why.contains(") not known")), "an experiment has no runs");
    // The change applies to both sides: 900 by 600 cycles.
    let needle = row(&report, "performance gained by 384 KB unified, over 256/64/64 KB: needle");
    assert!(needle.why.contains("(memory.bandwidth=128, cache.misses=128, sm.line_rows=128) 50.0 %"), "{}", needle.why);
    assert!(!needle.why.contains("2048"), "these kernels have no other data: {}", needle.why);
    assert!(needle.command.starts_with("gpurf report unified --only performance"), "{}", needle.command);
    for (metric, why) in [
        ("KB of tags, a cache of 64 KB", "1.125, in the band"),
        ("KB of tags, 384 KB unified with a cache of at most 256 KB", "both 4.750, in the band"),
    ] {
        assert!(row(&report, metric).why.contains(why), "{metric}");
    }
}

/// The tiles of one benchmark are choices for a design; a kernel that does not fit is not.
#[test]
fn a_design_has_the_tile_that_is_fastest_and_fits() {
    let tiles = ["needle16", "needle64"];
    let cycles = |name: &str, point: &Point| {
        let run = run(name, point);
        let cycles = if name == "needle16" { 900 } else { run.cycles };
        Measured { cycles, ..run }
    };
    let gain = "performance gained by 384 KB unified, over 256/64/64 KB: needle";
    let report = made(&REPORT, &tiles, |kernel, point| Some(cycles(&kernel.name, point)));
    near(row(&report, gain).ours, 900.0 / 700.0 - 1.0);
    // A block with 48 KB does not fit the limited design's 16 KB.
    let mut kernels = kernels(&tiles);
    let launch = &mut kernels[1].manifest.launches[0];
    let code = gpurf_isa::image::Kernel { name: launch.kernel.clone(), static_shared: 48 << 10, ..Default::default() };
    kernels[1].image.kernels = vec![code];
    let fits = |kernel: &Kernel, design: Design| kernel.fits(&design.points()[0].config().unwrap());
    assert!(fits(&kernels[0], Limited48) && fits(&kernels[1], Limited16) && !fits(&kernels[1], Limited48));
    let results = Results::made(
        &kernels,
        &REPORT.plan(&[]),
        |kernel, point| kernel.fits(&point.config().unwrap()).then(|| cycles(&kernel.name, point)),
        &Usage::default(),
        |_, _| None,
    );
    let [case] = &cases(&results)[..] else { panic!("one benchmark") };
    assert_eq!((case.name.as_str(), case.kernels.len()), ("needle", 2));
    let fastest = |design| best(&results, case, design, SAME).unwrap().unwrap().kernel.name.clone();
    assert_eq!((fastest(Limited48), fastest(Unified384)), ("needle16".to_owned(), "needle64".to_owned()));
    // A missing run is not treated as one that does not fit.
    let missing = Results::made(
        &kernels,
        &REPORT.plan(&[]),
        |kernel, point| (kernel.name == "needle16").then(|| cycles(&kernel.name, point)),
        &Usage::default(),
        |_, _| None,
    );
    assert!(best(&missing, &cases(&missing)[0], Unified384, SAME).is_none());
}

/// Only measured runs count conflicts by instruction.
#[test]
fn conflicts_are_counted_in_measured_runs_and_nothing_else_is() {
    let of = |part: &str| {
        let plan = REPORT.plan(&[part.to_owned()]);
        (plan.points().filter(|point| point.measured).count(), plan.points().count())
    };
    // The baseline twice, and both partitions of each unified machine three times.
    assert_eq!((of("conflicts"), of("banks").0), ((14, 14), 0));
}

/// A kernel on the data of this study, compiled as a report compiles it.
fn compiled(run: &str) -> Kernel {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels");
    let manifest = gpurf_launch::Manifest::load(format!("{folder}/{run}.toml").as_ref()).unwrap();
    let gpurf_launch::Source::File(source) = &manifest.source else { panic!("it has a source") };
    let text = std::fs::read_to_string(source.with_extension("ptx")).unwrap();
    let options = gpurf_compiler::Options { registers: gpurf_regress::REGISTERS, ..Default::default() };
    let image = gpurf_compiler::compile(&text, run, &options).unwrap().image;
    let [kernel] = <[Kernel; 1]>::try_from(kernels(&[run])).unwrap();
    Kernel { manifest, image, ..kernel }
}

/// Threads of a kernel on a machine, in the launch with the fewest.
fn threads(kernel: &Kernel, point: &Point) -> u32 {
    let config: Config = point.config().unwrap();
    let of = |LaunchDemand { demand, threads, .. }: LaunchDemand<'_>| {
        Room::of_launch(&config, threads).residency(&demand, None).hosts * threads
    };
    kernel.demands().map(of).min().unwrap()
}

#[test]
fn fewer_threads_are_a_choice_where_there_are_more() {
    let all: Vec<Kernel> = UNIFIED_MEMORY.iter().map(|run| compiled(run)).collect();
    let designs = [
        Fixed128,
        Fixed128With64,
        Fixed256,
        Large256,
        Large512,
        Limited16,
        Limited48,
        Unified128,
        Unified256,
        Unified384,
        Unified512,
    ];
    for (design, kernel) in designs.iter().flat_map(|design| all.iter().map(move |kernel| (design, kernel))) {
        let points = design.points();
        let [usual, of_it] = [true, false].map(|all| {
            let of = points.iter().filter(|point| point.only.is_none() == all && point.runs(kernel));
            of.map(|point| threads(kernel, point)).collect::<Vec<u32>>()
        });
        let name = &kernel.name;
        match (&usual[..], name.as_str()) {
            ([], _) => assert_eq!(of_it, [0; 0], "{design:?} {name} does not fit"),
            ([most, ..], "needle64-unified") if *most > 576 => assert_eq!(of_it, [576], "{design:?} {name}"),
            ([most, ..], _) if *most > 768 => assert_eq!(of_it, [768], "{design:?} {name}"),
            _ => assert_eq!(of_it, [0; 0], "{design:?} {name}"),
        }
    }
}

/// The machines that show what the width of banks costs differ in nothing else that memory has.
#[test]
fn machines_with_banks_of_4_and_16_bytes_hold_the_same() {
    for [wide, narrow] in banks::widths() {
        let name = wide.only.unwrap();
        let kernel = compiled(&format!("{name}-unified"));
        let of_unified: Config = wide.config().unwrap();
        let division = |LaunchDemand { demand, threads, .. }: LaunchDemand<'_>| {
            let division = Division::of(&of_unified, &demand, threads);
            (division.slots * threads, division.cache_rows() * gpurf_blocks::unified::ROW_BYTES / 1024)
        };
        let (held, cache) = kernel.demands().map(division).min().unwrap();
        assert_eq!(held, threads(&kernel, &narrow), "{name}");
        assert_eq!(cache as usize, narrow.config().unwrap().cache.kilobytes, "{name}");
    }
}

/// Other data of a benchmark change its number alone.
#[test]
fn rows_have_experiments_with_other_data() {
    let names = ["bfs", "MUM", "MUM-unified-small"];
    let report = made(&REPORT, &names, |kernel, point| {
        let run = run(&kernel.name, point);
        let cycles = if kernel.data.is_some() { run.cycles - 400 } else { run.cycles };
        point.runs(kernel).then_some(Measured { cycles, ..run })
    });
    assert_eq!(report.kernels, ["bfs", "MUM"]);
    let gain = |name: &str| row(&report, &format!("performance gained by 384 KB unified, over 256/64/64 KB: {name}"));
    near(gain("MUM").ours, 1000.0 / 950.0 - 1.0);
    let gaining = row(&report, "benchmarks that gain from 384 KB unified, over 256/64/64 KB");
    near(gaining.ours, 2.0);
    assert!(gaining.why.contains("(MUM-unified-small.toml) 2.0"), "{}", gaining.why);
    assert!(!gaining.why.contains("needle"), "{}", gaining.why);
    let saved = row(&report, "energy saved by 384 KB unified, most of any benchmark");
    assert!(saved.why.contains("(MUM-unified-small.toml)"), "{}", saved.why);
}

#[test]
fn energy_is_that_of_counts_and_cycles() {
    let report = report(&NAMES);
    let (fixed, unified) = (Point::preset("fixed-256"), Point::preset("unified-384"));
    let of = |point: &Point, kernel: &str| {
        let storage = storage(&point.config().unwrap());
        SmEnergy::of(storage, Core::thesis(1000, 1000), &activity(&run(kernel, point), storage, OF_LINE))
    };
    let [before, after] = [of(&fixed, "needle64"), of(&unified, "needle64")];
    let efficiency = 1000.0 / 700.0 * before.total() / after.total() - 1.0;
    near(row(&report, "performance by energy gained by 384 KB unified, over 256/64/64 KB: needle").ours, efficiency);
    let saved = row(&report, "energy saved by 384 KB unified");
    near(saved.per_kernel["needle"], 1.0 - after.total() / before.total());
    let registers = row(&report, "energy of bank accesses of registers, of all, 384 KB unified: most of any benchmark");
    near(registers.per_kernel["needle"], after.registers / after.total());
    let memory =
        "energy of bank accesses of scratchpad memory and cache, of all, 384 KB unified: most of any benchmark";
    let memory = row(&report, memory);
    near(memory.per_kernel["needle"], (after.scratchpad + after.cache) / after.total());
    assert!(memory.why.contains("charged for one bank"), "{}", memory.why);
    near(after.registers, 6000.0 * 11.0 + 4000.0 * 13.5);
    near(after.cache, 1.1 * (160.0 * 11.0 + 13.0 * 8.0 * 13.5));
    near(after.scratchpad, 1.1 * 80.0 * 13.5);
    near(before.scratchpad, 40.0 * 5.1);
    let parts = ["core, dynamic", "core, leakage", "SRAM leakage", "bank accesses", "DRAM"];
    let all: f64 = parts.iter().map(|part| row(&report, &format!("energy of 384 KB unified: {part}")).ours).sum();
    near(all, 1.0);
    // Four times the SRAM leaks four times as much.
    let large = row(&report, "energy that 512/512/512 KB takes more than 256/64/64 KB");
    assert_eq!(large.within, Some(true));
    assert_eq!(storage(&Large512.points()[0].config().unwrap()).kilobytes(), 1536.0);
    assert_eq!(storage(&Unified256.points()[0].config().unwrap()), Storage::Unified(256.0));
}

#[test]
fn experiments_change_one_thing_of_the_machine() {
    let config = |change: Change| change(Unified384.points()[0].clone()).config().unwrap();
    let same = config(SAME);
    let [wide, timed, narrow] = CHANGES.map(|(_, change)| config(change));
    assert_eq!(Config { memory: same.memory, cache: same.cache, sm: same.sm, ..wide }, same);
    assert_eq!((wide.memory.bandwidth, wide.cache.misses, wide.sm.line_rows), (128, 128, 128));
    assert_eq!(Config { sm: same.sm, ..narrow }, same);
    assert_eq!(narrow.sm.shared_bandwidth, 32);
    // The latencies are those of the machine of the thesis's other chapters.
    assert_eq!(Config { sm: same.sm, ..timed }, same);
    assert_eq!((timed.sm.alu_latency, timed.sm.sfu_latency, timed.sm.shared_latency), (3, 15, 15));
}

#[test]
fn every_event_is_one_of_the_sm() {
    let config = Unified384.points()[0].config().unwrap();
    let totals = gpurf_lockstep::EventTotals::new((gpurf_sm::ENTRY.twin)(&config).declaration());
    let memory = [event::MEMORY_READ, event::MEMORY_WRITTEN];
    for name in event::ALL.iter().filter(|name| !memory.contains(name)) {
        assert!(totals.by_name().contains_key(name), "{name} is not among {:?}", totals.by_name().keys());
    }
}
