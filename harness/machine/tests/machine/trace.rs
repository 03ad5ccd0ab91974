//! Traces, read back: each instruction is there once, and cycles and waits are those of the statistics.

use crate::common::traces::{Events, Shared, finish, konata, traced};
use crate::common::{Program, alone, compiled, load, settings};
use gpurf_blocks::config::presets;
use gpurf_kernels::Case;
use gpurf_machine::trace::Format;
use gpurf_machine::{LaunchError, Machine, ModelEngine, Settings, Statistics};
use gpurf_oracle::host::Session;

/// Runs a kernel's small manifest on the model and traces it.
fn run(kernel: &str, settings: Settings, format: Format) -> (Statistics, Shared) {
    let case = Case::load(kernel).unwrap();
    let image = compiled(kernel, 64, &settings.config).image;
    let mut session = Session::new(case.manifest(), &image).unwrap();
    let mut engine = ModelEngine::new(settings.clone());
    let out = traced(&mut engine, &settings.config, format, 0..=u64::MAX);
    session.run(&mut engine).unwrap_or_else(|error| panic!("{kernel}: {error}"));
    let (statistics, traced) = (engine.statistics(), finish(&mut engine));
    assert_eq!((traced.cycles, traced.unknown), (statistics.cycles, 0), "{kernel}");
    assert_eq!(traced.instructions, statistics.events["fetch"], "{kernel}");
    (statistics, out)
}

/// The waits of the statistics.
const STALLS: [&str; 7] = [
    "stall_empty",
    "stall_barrier",
    "stall_fetch",
    "stall_scoreboard",
    "stall_inactive",
    "stall_collector",
    "stall_other",
];

/// What the statistics and a trace of all cycles have in common.
fn check(name: &str, statistics: &Statistics, events: &Events) {
    let count = |event: &str| statistics.events[event];
    events.check_rows();
    let instructions: Vec<_> = events.of_category("instruction").collect();
    assert_eq!(instructions.len() as u64, count("issue"), "{name}");
    let lanes = |mask: &str| u32::from_str_radix(mask.trim_start_matches("0x"), 16).unwrap().count_ones();
    let masks = instructions.iter().map(|slice| slice.args["mask"].as_str().unwrap());
    assert_eq!(masks.map(|mask| u64::from(lanes(mask))).sum::<u64>(), count("issue_lanes"), "{name}");
    assert!(instructions.iter().all(|slice| slice.args.get("unfinished").is_none()), "{name}");
    assert!(instructions.iter().all(|slice| slice.end <= statistics.cycles), "{name}");
    let stages = events.cycles("stage");
    let probes = events.of_category("probe").count() as u64;
    assert_eq!(stages["issue"], count("issue") + probes, "{name}");
    assert_eq!((stages["fetch"], stages["decode"]), (count("fetch"), count("fetch")), "{name}");
    let taken: u64 = ["alu", "fp", "sfu", "constants", "memory", "barrier"].map(count).iter().sum();
    assert_eq!(stages["dispatch"], taken, "{name}");
    let stalls = events.cycles("stall");
    for event in STALLS {
        assert_eq!(stalls.get(event).copied().unwrap_or(0), count(event), "{name}: {event}");
    }
    // What memory moves is counted outside the SM.
    for (event, total) in statistics.events.iter().filter(|(event, _)| !event.starts_with("memory_")) {
        assert_eq!(events.sum(event, 0, statistics.cycles), *total, "{name}: {event}");
    }
}

#[test]
fn a_trace_has_each_instruction_and_adds_up_with_the_statistics() {
    for preset in presets() {
        let (statistics, out) = run("saxpy", load(preset.name, &[]), Format::Chrome);
        check(preset.name, &statistics, &Events::of(&out.text()));
        // Nothing else changes, and what is skipped is the same.
        assert_eq!(statistics, alone("saxpy", load(preset.name, &[])).0, "{}", preset.name);
    }
}

/// Barriers, shared memory, shuffles, special functions, atomics, divergence; blocks that share.
#[test]
fn all_ways_through_the_sm_are_followed() {
    for (first, kernel) in ["reduction", "blackScholes", "radixSort", "compact", "needle"].into_iter().enumerate() {
        for preset in presets().skip(first).step_by(9) {
            let name = format!("{kernel} at {}", preset.name);
            let (statistics, out) = run(kernel, load(preset.name, &[]), Format::Chrome);
            check(&name, &statistics, &Events::of(&out.text()));
        }
    }
}

#[test]
fn the_waits_of_a_lonely_warp_are_the_stalls_of_its_port() {
    let program =
        Program::new("LD.GLOBAL.B32 R9, [R2:RZ]\nIADD R9, PT, R9, 1, !PT\nMUFU.RCP R9, R9\nFADD R9, R9, R9", 1, 32);
    let mut engine = ModelEngine::new(settings(&[]));
    let out = traced(&mut engine, &settings(&[]).config, Format::Chrome, 0..=u64::MAX);
    program.run(&mut engine).unwrap();
    assert_eq!(finish(&mut engine).unknown, 0);
    let (events, statistics) = (Events::of(&out.text()), engine.statistics());
    let waits = events.cycles("wait");
    let pairs = [
        ("wait: scoreboard", "stall_scoreboard"),
        ("wait: not active", "stall_inactive"),
        ("wait: collectors full", "stall_collector"),
        ("wait: other", "stall_other"),
        // There is no other one.
        ("wait: another warp issues", "line_wait"),
    ];
    for (wait, event) in pairs {
        assert_eq!(waits.get(wait).copied().unwrap_or(0), statistics.events[event], "{wait}");
    }
    assert!(waits["wait: scoreboard"] > 400, "{waits:?}");
    // Who gives the value is said, and where the instruction is in the source.
    let wait =
        events.of_category("wait").find(|slice| slice.name == "wait: scoreboard" && slice.end - slice.from > 300);
    assert_eq!(wait.unwrap().args["for"], "R9 of 6: LD.GLOBAL.B32 R9, [R2]");
    let add = events.of_category("instruction").find(|slice| slice.args["pc"] == 7).unwrap();
    assert_eq!((&add.args["ptx"], &add.args["block"]), (&"test.ptx:107".into(), &"(0, 0, 0)".into()));
    assert_eq!(add.name, "IADD R9, PT, R9, 0x1, !PT");
    let load = events.of_category("instruction").find(|slice| slice.args["pc"] == 6).unwrap();
    let memory = events.of_category("wait").find(|slice| slice.name == "wait: memory").unwrap();
    assert!(load.from < memory.from && memory.end - memory.from > 390 && memory.end < load.end);
}

#[test]
fn konata_and_perfetto_have_what_the_events_have() {
    for kernel in ["saxpy", "reduction"] {
        let (_, events) = run(kernel, settings(&[]), Format::Chrome);
        let (statistics, log) = run(kernel, settings(&[]), Format::Konata);
        let (events, log) = (Events::of(&events.text()), konata(&log.text()));
        assert_eq!(log.len() as u64, statistics.events["issue"], "{kernel}");
        // The same instructions, from and to the same cycles.
        let of_event = |slice: &crate::common::traces::Slice| {
            let (slot, pc) = (&slice.args["slot"], slice.args["pc"].as_u64().unwrap());
            (format!("w{:02} {pc:4}: {}", slot.as_u64().unwrap(), slice.name), slice.from, slice.end)
        };
        let mut expected: Vec<_> = events.of_category("instruction").map(of_event).collect();
        let mut found: Vec<_> =
            log.iter().map(|logged| (logged.label.clone(), logged.stages[0].1, logged.end.unwrap().0)).collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{kernel}");
        assert!(log.iter().all(|logged| logged.end.unwrap().1.eq(&false) && logged.details.contains("mask 0x")));
        let stages: usize = log.iter().map(|logged| logged.stages.len()).sum();
        let slices = events.of_category("stage").chain(events.of_category("wait")).count();
        assert_eq!(stages, slices, "{kernel}");
    }
}

#[test]
fn a_window_has_what_is_in_flight_in_it() {
    let (_, whole) = run("saxpy", settings(&[]), Format::Chrome);
    let whole = Events::of(&whole.text());
    let case = Case::load("saxpy").unwrap();
    let image = compiled("saxpy", 64, &settings(&[]).config).image;
    let windowed = |format, cycles| {
        let mut session = Session::new(case.manifest(), &image).unwrap();
        let mut engine = ModelEngine::new(settings(&[]));
        let out = traced(&mut engine, &settings(&[]).config, format, cycles);
        session.run(&mut engine).unwrap();
        (finish(&mut engine), out)
    };
    let (from, to) = (700, 900);
    let (traced, out) = windowed(Format::Chrome, from..=to);
    let events = Events::of(&out.text());
    events.check_rows();
    assert_eq!(traced.cycles, to - from + 1);
    let inside = |slice: &&crate::common::traces::Slice| slice.end > from && slice.from <= to;
    let key = |slice: &crate::common::traces::Slice| (slice.from, slice.end.min(to + 1), slice.name.clone());
    let mut expected: Vec<_> = whole.of_category("instruction").filter(inside).map(key).collect();
    let mut found: Vec<_> = events.of_category("instruction").map(key).collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    assert!(events.of_category("instruction").any(|slice| slice.args["unfinished"] == "true"));
    let port: u64 = events.cycles("stall").values().sum();
    assert!(port > 0 && events.of_category("stall").all(|slice| slice.from >= from && slice.end <= to + 1));
    assert!(events.counters.values().flatten().all(|&(cycle, _)| (from..=to + 1).contains(&cycle)));
    let log = konata(&windowed(Format::Konata, from..=to).1.text());
    assert_eq!(log.len(), expected.len());
    // After the end of the run there is nothing.
    assert_eq!(windowed(Format::Chrome, 1_000_000..=u64::MAX).0.cycles, 0);
}

/// While a warp waits for memory cycles are skipped, and a window may begin among them.
#[test]
fn a_window_that_begins_in_skipped_cycles_has_their_counters_and_stalls() {
    let program = Program::new("LD.GLOBAL.B32 R9, [R2:RZ]\nIADD R9, PT, R9, 1, !PT", 1, 32);
    let windowed = |cycles: std::ops::RangeInclusive<u64>| {
        let mut engine = ModelEngine::new(settings(&[]));
        let out = traced(&mut engine, &settings(&[]).config, Format::Chrome, cycles);
        program.run(&mut engine).unwrap();
        finish(&mut engine);
        Events::of(&out.text())
    };
    let whole = windowed(0..=u64::MAX);
    let wait = whole.of_category("stall").find(|slice| slice.end - slice.from > 300).unwrap();
    // The counters of the first cycles of an interval are those of the rest of it.
    let (from, to) = (wait.from + 100, wait.from + 100 + 63);
    let window = windowed(from..=to);
    let stalls: Vec<_> =
        window.of_category("stall").map(|slice| (slice.name.as_str(), slice.from, slice.end)).collect();
    assert!(stalls.contains(&(wait.name.as_str(), from, to + 1)), "{stalls:?}");
    let ports = whole.of_category("stall").filter(|slice| slice.from <= from && slice.end > to).count();
    assert_eq!(stalls.len(), ports);
    assert_eq!(window.sum("warps alive", from, to + 1), 64);
    assert_eq!(window.sum(&wait.name, from, to + 1), 64);
}

#[test]
fn what_goes_wrong_is_marked_and_what_was_in_flight_is_there() {
    let program = Program::new("LD.GLOBAL.B32 R9, [R2:RZ]\nIADD R9, PT, R9, 1, !PT", 1, 32);
    let slow = || Settings { idle_limit: 100, ..settings(&[]) };
    let mut engine = ModelEngine::new(slow());
    let out = traced(&mut engine, &slow().config, Format::Chrome, 0..=u64::MAX);
    let LaunchError::Hung(hang) = program.run(&mut engine).unwrap_err() else { panic!("no hang") };
    finish(&mut engine);
    let events = Events::of(&out.text());
    assert_eq!(events.marks[0].0, hang.cycle);
    assert_eq!(events.marks[0].1, "hang");
    let cut: Vec<_> = events.of_category("instruction").filter(|slice| slice.args["unfinished"] == "true").collect();
    assert!(cut.iter().any(|slice| slice.name.starts_with("LD.GLOBAL")), "{cut:?}");
}

/// A file that takes no bytes.
struct Full;

impl std::io::Write for Full {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::StorageFull.into())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_trace_that_cannot_be_written_is_an_error_and_the_run_goes_on() {
    let case = Case::load("saxpy").unwrap();
    let image = compiled("saxpy", 64, &settings(&[]).config).image;
    let declaration = (gpurf_sm::ENTRY.twin)(&settings(&[]).config).declaration().clone();
    for format in Format::ALL {
        let mut session = Session::new(case.manifest(), &image).unwrap();
        let mut engine = ModelEngine::new(settings(&[]));
        let config = settings(&[]).config;
        let trace = gpurf_machine::trace::Trace::new(&config, &declaration, format, 0..=u64::MAX, "SM", Box::new(Full));
        engine.trace(trace.unwrap());
        session.run(&mut engine).unwrap();
        let error = engine.take_trace().unwrap().finish().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{format:?}");
        assert_eq!(engine.statistics(), alone("saxpy", settings(&[])).0);
    }
}
