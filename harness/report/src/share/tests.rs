//! The report's plan, and rows made of counts with known answers.

use gpurf_blocks::config::{Config, LockRule, Reference, RegisterOrder, Scheduler};
use gpurf_isa::image::Kernel as Code;
use gpurf_oracle::Geometry;
use gpurf_sm::residency::Residency;

use super::residency::residency;
use super::*;
use crate::report::PaperReport;
use crate::row::Unit;
use crate::sweep::Kernel;
use crate::testing::{check_rows, kernels, made, row};
use crate::usage::Usage;

/// A run of a thousand instructions. Round-robin takes 1100 cycles, scheduling by age 1000. Blocks share if less than half of their registers is
/// private and the file is not larger. Sharing saves 20 cycles, owners first 10 more, the thesis's rule for locks 5 more, registers by first use 4
/// more, a throttle 3 more, and 3 again if its reference is another SM. Whole blocks save 50, and a wide memory 100.
fn run(point: &Point, shares: bool) -> Measured {
    let config: Config = point.config().unwrap();
    let in_turn = config.sm.scheduler == Scheduler::RoundRobin;
    let whole = config.mrf.kilobytes > 128;
    let pairs = shares && config.share.present && !whole && config.share.private < 5;
    let saved = [
        (pairs, 20),
        (pairs && config.share.owner_first, 10),
        (pairs && config.share.lock == LockRule::First, 5),
        (pairs && config.compiler.register_order == RegisterOrder::FirstUse, 4),
        (pairs && config.share.throttle == 1000, 3),
        (pairs && config.share.throttle == 1000 && config.share.reference == Reference::External, 3),
        (shares && whole, 50),
        (config.memory.bandwidth > 16, 100),
    ];
    let saved: u64 = saved.into_iter().filter(|(holds, _)| *holds).map(|(_, cycles)| cycles).sum();
    let cycles = if in_turn { 1100 } else { 1000 } - saved;
    let warps = if pairs { 8 } else { 0 };
    let events = [
        (event::ISSUE, 1000),
        (event::SCOREBOARD, 2 * cycles - 1000 - 100),
        (event::COLLECTOR, 60 + u64::from(in_turn)),
        (event::OTHER, 40),
        (event::OWNERS, warps * cycles),
        (event::NON_OWNERS, warps * cycles),
        (event::WAIT_LOCK, warps * cycles / 2),
        (event::NON_OWNER_ISSUE, 10 * warps),
    ];
    Measured::new(cycles, events)
}

fn report(names: &[&str], run: impl Fn(&Kernel, &Point) -> Option<Measured>) -> PaperReport {
    made(&REGISTERS, names, run)
}

/// The report on kernels whose launches all ran whole, not as samples.
fn whole(names: &[&str], run: impl Fn(&Kernel, &Point) -> Option<Measured>) -> PaperReport {
    let mut kernels = kernels(names);
    kernels.iter_mut().for_each(|kernel| kernel.sample = None);
    let results = Results::made(&kernels, &REGISTERS.plan(&[]), run, &Usage::default(), |_, _| None);
    REGISTERS.report(&[], &results)
}

#[test]
fn what_sharing_gains_is_told_from_what_its_scheduler_gains() {
    let report = report(&["hotspot", "sgemm"], |_, point| Some(run(point, true)));
    check_rows(&report);
    let gained = |a: f64, b: f64| b / a - 1.0;
    let expected = [
        ("IPC gained by sharing, over LRR", gained(960.0, 1100.0)),
        ("IPC gained by sharing, over LRR: hotspot", gained(960.0, 1100.0)),
        ("IPC gained by the scheduler, nothing shared, over LRR", gained(1000.0, 1100.0)),
        ("IPC gained by sharing, over owners first without pairs", gained(960.0, 1000.0)),
        ("the paper's machine: IPC gained by sharing, over owners first without pairs", gained(960.0, 1000.0)),
        ("IPC gained by sharing with LRR, over LRR", gained(1080.0, 1100.0)),
        ("IPC gained by sharing with LRR, registers by first use, over LRR", gained(1076.0, 1100.0)),
        ("IPC gained by sharing with LRR, registers by first use, over LRR: hotspot", gained(1076.0, 1100.0)),
        ("IPC gained by sharing with LRR, registers by first use, throttled, over LRR", gained(1070.0, 1100.0)),
        ("IPC gained by sharing with LRR, registers by first use, throttled, over LRR: sgemm", gained(1070.0, 1100.0)),
        ("IPC gained by registers by first use, over sharing with LRR", gained(1076.0, 1080.0)),
        ("IPC gained by throttling, over the same without", gained(1070.0, 1076.0)),
        ("IPC gained by throttling with a sampled reference, over the same without", gained(1073.0, 1076.0)),
        ("IPC gained by owners first, over the same throttled with LRR", gained(960.0, 1070.0)),
        ("IPC gained by sharing with GTO, over GTO", gained(980.0, 1000.0)),
        ("IPC gained by owners first, over sharing with GTO", gained(970.0, 980.0)),
        ("IPC gained by locks for whichever block comes first, over the oldest", gained(965.0, 970.0)),
        ("IPC gained by sharing, over LRR with twice the registers", gained(960.0, 1050.0)),
        ("IPC gained with 90 % shared, over owners first without pairs", gained(960.0, 1000.0)),
        ("IPC gained with 50 % shared, over owners first without pairs", 0.0),
        ("kernels that are fastest with 90 % shared", 1.0),
        ("idle issue slots that sharing saves, over LRR, most of any kernel", 1.0 - 820.0 / 1100.0),
        ("cycles in which warps of non-owners do not wait for a lock", 0.5),
        ("warps of non-owners, a cycle", 8.0),
    ];
    for (metric, expected) in expected {
        let ours = row(&report, metric).ours;
        assert!((ours - expected).abs() < 1e-9, "{metric}: {ours}, not {expected}");
    }
    assert_eq!(row(&report, "IPC gained by sharing, over LRR").within, Some(true));
    let hotspot = row(&report, "IPC gained by sharing, over LRR: hotspot");
    assert_eq!(hotspot.within, Some(false));
    let [own, wide] = [(950.0, 1100.0), (860.0, 1000.0)].map(|(a, b)| Unit::Share.words(gained(a, b)));
    assert!(hotspot.why.contains(&own) && hotspot.why.contains(&wide), "{}", hotspot.why);
    assert!(hotspot.command.starts_with("gpurf report sharing --only registers"), "{}", hotspot.command);
    assert!(report.rows.iter().all(|row| !row.metric.contains("share nothing")), "both share");
}

#[test]
fn an_experiment_changes_one_thing() {
    // Each experiment starts from the report's machine, and changes one thing.
    let config = |change: Change| change(Registers.sharing()).config().unwrap();
    let same = config(SAME);
    assert_eq!((same.cache.kilobytes, same.cache.ways, same.cache.misses, same.memory.granule), (16, 4, 32, 32));
    let [uncached, wide, slow] = CHANGES.map(|(_, change)| config(change));
    assert_eq!(Config { memory: same.memory, ..wide }, same);
    assert_eq!(Config { sm: same.sm, ..slow }, same);
    assert_eq!(Config { cache: same.cache, ..uncached }, same);
    assert_eq!((wide.memory.bandwidth, slow.sm.alu_latency, uncached.cache.kilobytes), (32, 16, 0));
}

/// Sharing misses twice as often as the machines without it, and owners first three times as often.
#[test]
fn misses_are_those_of_whole_launches() {
    let run = |point: &Point| {
        let config = point.config().unwrap();
        let misses = match (config.share.present, config.share.owner_first) {
            (false, _) => 100,
            (true, false) => 200,
            (true, true) => 300,
        };
        let events = [(cache_event::MISS, misses), (cache_event::HIT, 80), (cache_event::MERGE, 20)];
        let mut run = run(point, true);
        run.events.extend(events.map(|(name, count)| (name.into(), count)));
        run
    };
    let report = report(&["mri-q", "MUM", "sgemm"], |kernel, point| {
        Some(if kernel.name == "sgemm" { self::run(point, false) } else { run(point) })
    });
    for (metric, expected) in [
        ("L1 misses, of the requests of loads, LRR", 0.5),
        ("L1 misses, of the requests of loads, sharing", 0.75),
        ("L1 misses more by sharing, than with LRR: mri-q", 2.0),
        ("L1 misses more by sharing with LRR, than with LRR: MUM", 1.0),
    ] {
        let row = row(&report, metric);
        assert!((row.ours - expected).abs() < 1e-9, "{metric}: {}", row.ours);
        assert_ne!(row.within, Some(false), "{metric}");
    }
}

#[test]
fn what_cannot_share_keeps_its_cycles() {
    let share = |kernel: &Kernel| kernel.name == "a";
    let same = whole(&["a", "b"], |kernel, point| Some(run(point, share(kernel))));
    let over = row(&same, "IPC gained by sharing, over LRR");
    assert_eq!(over.per_kernel.keys().collect::<Vec<_>>(), ["a"]);
    for scheduler in ["LRR", "GTO"] {
        let same = row(&same, &format!("kernels that share nothing in which an event differs, {scheduler}, of 1"));
        assert_eq!((same.ours, same.within), (0.0, Some(true)));
    }
    // The launcher takes two more slots before the first block; in the second case, another event differs instead.
    let later = |name: &'static str| {
        whole(&["a", "b"], move |kernel, point| {
            let mut run = run(point, share(kernel));
            let more = 2 * u64::from(*point == Registers.in_turn());
            *run.events.entry(name.into()).or_default() += more;
            Some(Measured { cycles: run.cycles + more / 2, ..run })
        })
    };
    let metric = "kernels that share nothing in which an event differs, LRR, of 1";
    let (launch, scheduled) = (later(event::EMPTY), later(event::SCOREBOARD));
    assert_eq!((row(&launch, metric).ours, row(&launch, metric).within), (0.0, Some(true)));
    assert!((row(&launch, "cycles more, kernels that share nothing, LRR").ours - 1.0 / 1100.0).abs() < 1e-9);
    let differs = row(&scheduled, metric);
    assert_eq!((differs.ours, differs.within), (1.0, Some(false)));
    assert_eq!((&differs.why[..], differs.per_kernel["b"] > 0.0), ("the cause is not known", true));
    let sampled = report(&["a", "b"], |kernel, point| Some(run(point, share(kernel))));
    assert!(sampled.rows.iter().all(|row| row.metric != metric));
    let more = row(&sampled, "cycles more, kernels that share nothing, LRR");
    assert_eq!((more.ours, more.within), (0.0, Some(true)));
}

#[test]
fn without_kernels_that_share_no_gain_is_made_up() {
    let report = whole(&["hotspot", "b"], |_, point| Some(run(point, false)));
    let metrics = report.rows.iter().map(|row| row.metric.as_str());
    let metrics: Vec<&str> = metrics.filter(|metric| !metric.starts_with("erratum")).collect();
    let expected = [
        "cells of table 2.6 that come out with the thesis's registers and threads",
        "kernels that share nothing in which an event differs, LRR, of 2",
        "kernels that share nothing in which an event differs, GTO, of 2",
        "cycles more, kernels that share nothing, LRR",
        "cycles more, kernels that share nothing, GTO",
        "IPC gained by owners first over GTO, kernels that share nothing",
    ];
    assert_eq!(metrics, expected);
}

#[test]
fn blocks_are_hosts_and_guests_and_the_table_comes_out() {
    let table = report(&["a"], |_, _| None);
    let cells = row(&table, "cells of table 2.6 that come out with the thesis's registers and threads");
    assert_eq!((cells.ours, cells.within), (1.0, Some(true)));
    // 1024 warp registers: 3 blocks of 8 warps with 36 each leave 160 for guest warps with 4 each.
    let (code, geometry) =
        (Code { registers: 36, ..Code::default() }, Geometry { grid: [9; 3], block: [16, 16, 1], dynamic_shared: 0 });
    let of = |point: Point, geometry| residency(&point.config().unwrap(), &code, geometry);
    assert_eq!(of(Registers.baseline(), geometry), Some(Residency { hosts: 3, guests: 0, private: 0 }));
    assert_eq!(of(Registers.sharing(), geometry), Some(Residency { hosts: 3, guests: 3, private: 4 }));
    assert_eq!(of(Registers.sharing(), Geometry { block: [1024, 1, 1], ..geometry }), None, "not one has room");
    assert_eq!(
        of(Registers.sharing(), Geometry { block: [32, 1, 1], ..geometry }),
        Some(Residency { hosts: 8, guests: 0, private: 4 })
    );
}

#[test]
fn a_kernel_with_other_registers_has_other_blocks_and_the_row_says_so() {
    let mut kernels = kernels(&["stencil"]);
    let launch = &mut kernels[0].manifest.launches[0];
    launch.block = [128, 1, 1];
    let code = Code { name: launch.kernel.clone(), registers: 39, ..Code::default() };
    kernels[0].image.kernels = vec![code];
    let results = Results::made(
        &kernels,
        &REGISTERS.plan(&[]),
        |_, point| Some(run(point, true)),
        &Usage::default(),
        |_, _| None,
    );
    let report = REGISTERS.report(&[], &results);
    check_rows(&report);
    let [without, with] = ["without", "with"].map(|with| row(&report, &format!("blocks {with} sharing: stencil")));
    assert_eq!((without.ours, without.within, with.ours, with.within), (6.0, Some(false), 8.0, Some(false)));
    assert!(
        with.why.contains("with the thesis's 512 threads of 28 registers") && with.why.contains(" 3.0, in the band"),
        "{}",
        with.why
    );
    assert!((row(&report, "blocks with sharing, by those without").ours - 8.0 / 6.0).abs() < 1e-9);
}

/// A run of a thousand instructions with scratchpad sharing, and 16 more in code with releases. Sharing saves 20 cycles of 1000 or 1100, owners first
/// 10 more, marks 2 more, releases at the post-dominator 30 and at optimal places 40; with releases, half of the locks are released early. Twice the
/// scratchpad memory saves 50.
fn scratchpad_run(point: &Point, shares: bool) -> Measured {
    use gpurf_blocks::config::{CheckRule, Relssp};
    let config: Config = point.config().unwrap();
    let pairs = shares && config.share.present && config.share.private < 5;
    let released = config.compiler.relssp;
    let saved = [
        (pairs, 20),
        (pairs && config.share.owner_first, 10),
        (pairs && config.share.check == CheckRule::Mark, 2),
        (pairs && released == Relssp::Postdom, 30),
        (pairs && released == Relssp::Optimal, 40),
        (shares && config.sm.shared_kilobytes == 32, 50),
    ];
    let saved: u64 = saved.into_iter().filter(|(holds, _)| *holds).map(|(_, cycles)| cycles).sum();
    let cycles = if config.sm.scheduler == Scheduler::RoundRobin { 1100 } else { 1000 } - saved;
    let issued = if released == Relssp::None { 1000 } else { 1016 };
    let (warps, early) = (8 * u64::from(pairs), if released == Relssp::None { 0 } else { 5 });
    let events = [
        (event::ISSUE, issued),
        (event::SCOREBOARD, 500),
        (event::OWNERS, warps * cycles),
        (event::NON_OWNERS, warps * cycles),
        (event::WAIT_LOCK, warps * cycles / 4),
        (scratchpad_event::PROBE, 10 * warps),
        (scratchpad_event::PROBE_COMMON, 5 * warps),
        (scratchpad_event::LOCK_FREE, 10),
        (scratchpad_event::LOCK_EARLY, early),
    ];
    Measured::new(cycles, events)
}

fn check_values(report: &PaperReport, expected: &[(&str, f64)]) {
    check_rows(report);
    for (metric, expected) in expected {
        let ours = row(report, metric).ours;
        assert!((ours - expected).abs() < 1e-9, "{metric}: {ours}, not {expected}");
    }
}

#[test]
fn scratchpad_sharing_has_the_rows_of_register_sharing_and_its_own() {
    let report = made(&SCRATCHPAD, &["lavaMD", "CONV1"], |_, point| Some(scratchpad_run(point, true)));
    let gained = |a: f64, b: f64| b / a - 1.0;
    check_values(
        &report,
        &[
            ("cells of table 2.8 that come out with the thesis's bytes and threads", 1.0),
            ("IPC gained by sharing, over LRR", gained(970.0, 1100.0)),
            ("IPC gained by sharing, over LRR: lavaMD", gained(970.0, 1100.0)),
            ("IPC gained by the scheduler, nothing shared, over LRR", gained(1000.0, 1100.0)),
            ("IPC gained by sharing, over owners first without pairs", gained(970.0, 1000.0)),
            ("IPC gained by sharing with LRR, over LRR: CONV1", gained(1080.0, 1100.0)),
            ("IPC gained by owners first, over sharing with LRR", gained(970.0, 1080.0)),
            ("IPC gained with 90 % shared, over owners first without pairs", gained(970.0, 1000.0)),
            ("IPC gained by sharing, over LRR with twice the scratchpad memory", gained(970.0, 1050.0)),
            ("IPC gained by the compiler's marks alone, over probes", gained(968.0, 970.0)),
            ("cycles in which warps of non-owners do not wait for a lock: lavaMD", 0.75),
            ("idle issue slots that sharing saves, over LRR: lavaMD", 0.0),
            ("probes, by instruction", 0.08),
            ("probes that find the common area, of all", 0.5),
        ],
    );
    let outside = row(&report, "IPC gained by sharing, over LRR: lavaMD");
    assert!(outside.why.contains("scratchpad memory (32 KB) for the further blocks, 15.8 %"), "{}", outside.why);
    assert!(outside.command.starts_with("gpurf report scratchpad --only scratchpad"), "{}", outside.command);
    // Kernels that share nothing have rows of their own.
    let report =
        made(&SCRATCHPAD, &["lavaMD", "bfs"], |kernel, point| Some(scratchpad_run(point, kernel.name != "bfs")));
    for (metric, kernel) in
        [("IPC gained by sharing, over LRR", "lavaMD"), ("cycles more, kernels that share nothing, LRR", "bfs")]
    {
        assert_eq!(row(&report, metric).per_kernel.keys().collect::<Vec<_>>(), [kernel]);
    }
}

#[test]
fn releases_are_compared_with_sharing_alone_and_with_each_other() {
    let report = made(&RELEASE, &["backprop", "heartwall"], |_, point| Some(scratchpad_run(point, true)));
    // IPC includes the instructions that the compiler adds.
    let gained = |a: f64, b: f64| 1.016 * b / a - 1.0;
    check_values(
        &report,
        &[
            ("blocks of 3.4.1.1 that come out", 1.0),
            ("IPC gained by sharing, over LRR", gained(930.0, 1100.0)),
            ("IPC gained by sharing, over LRR: heartwall", gained(930.0, 1100.0)),
            ("cycles fewer by sharing, than with LRR", 1.0 - 930.0 / 1100.0),
            ("IPC gained by sharing alone with LRR, over LRR", 1100.0 / 1080.0 - 1.0),
            ("kernels that gain from sharing alone with LRR", 1.0),
            ("IPC gained by layout alone, over sharing alone", 0.0),
            ("IPC gained by relssp postdom, over sharing alone", gained(940.0, 970.0)),
            ("IPC gained by relssp optimal, over sharing alone", gained(930.0, 970.0)),
            ("IPC gained by relssp optimal, over sharing alone, kernels of set 2", gained(930.0, 970.0)),
            ("kernels of set 1 that gain from relssp postdom", 1.0),
            ("kernels with the thesis's answer to whether postdom is faster than optimal", 0.5),
            ("locks given up before the block ends, no relssp", 0.0),
            ("locks given up before the block ends, optimal", 0.5),
            ("IPC gained by sharing, over GTO", gained(930.0, 1000.0)),
        ],
    );
    let places = row(&report, "kernels with the thesis's answer to whether postdom is faster than optimal");
    assert!(places.why.contains("with twice the memory's bandwidth (memory.bandwidth=32) 50.0 %"), "{}", places.why);
    // Chapter 3's machine has more registers and blocks.
    let config = Release.sharing().config().unwrap();
    assert_eq!((config.mrf.kilobytes, config.sm.blocks), (256, 16));
}

/// A row that another row gives by arithmetic, or by construction, does not count.
#[test]
fn rows_that_follow_from_others_are_derived() {
    let of = |report: &'static crate::Definition| {
        let names = ["hotspot", "lavaMD", "heartwall", "a", "b"];
        let mut kernels = kernels(&names);
        kernels.iter_mut().for_each(|kernel| kernel.sample = None);
        let run = |kernel: &Kernel, point: &Point| Some(scratchpad_run(point, kernel.name.len() > 1));
        let results = Results::made(&kernels, &report.plan(&[]), run, &Usage::default(), |_, _| None);
        report.report(&[], &results)
    };
    let similar = "IPC gained by owners first over GTO, kernels that share nothing";
    for report in [of(&REGISTERS), of(&SCRATCHPAD)] {
        for metric in [
            similar,
            "IPC gained by the scheduler, nothing shared, over LRR",
            "IPC gained by sharing, over owners first without pairs",
            "IPC gained with 90 % shared, over owners first without pairs",
        ] {
            assert!(row(&report, metric).derived_from.is_some(), "{}: {metric}", report.report);
        }
        let metric = "IPC gained with 50 % shared, over owners first without pairs";
        assert!(row(&report, metric).independent(), "{}", report.report);
    }
    let release = of(&RELEASE);
    for metric in [similar, "IPC gained by sharing, over LRR, most of any kernel"] {
        assert!(row(&release, metric).derived_from.is_some(), "{metric}");
    }
    assert!(row(&release, "IPC gained by the scheduler, nothing shared, over LRR").derived_from.is_none());
}

#[test]
fn of_single_kernels_the_thesis_gives_the_sign() {
    let report = made(&RELEASE, &["FDTD3d", "histogram"], |_, point| Some(scratchpad_run(point, true)));
    for (kernel, within) in [("FDTD3d", false), ("histogram", true)] {
        let row = row(&report, &format!("IPC gained by sharing, over two levels, 8 active warps: {kernel}"));
        assert_eq!((row.sign_only, row.within), (true, Some(within)), "{kernel}");
    }
    assert!(RELEASE.kernels.iter().all(|name| !name.starts_with("MC2")), "it is not in figures 3.8 to 3.14");
}

#[test]
fn every_event_is_one_of_the_sm() {
    let of = |point: Point, names: &[&[&str]]| {
        let config = point.config().unwrap();
        let totals = gpurf_lockstep::EventTotals::new((gpurf_sm::ENTRY.twin)(&config).declaration());
        for name in names.concat() {
            assert!(totals.by_name().contains_key(name), "{name} is not among {:?}", totals.by_name().keys());
        }
    };
    of(Registers.sharing(), &[event::ALL, cache_event::ALL]);
    of(Scratchpad.sharing(), &[event::ALL, scratchpad_event::ALL]);
}
