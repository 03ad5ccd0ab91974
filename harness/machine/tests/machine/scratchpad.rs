//! Blocks that share scratchpad memory, on the model: results, who waits for whom, releases and their faults (`docs/scratchpad-sharing.md`).

use crate::common::{Program, buffers, compiled, words};
use gpurf_blocks::config::{Config, Start};
use gpurf_kernels::Case;
use gpurf_launch::{Cause, ExpectedFault};
use gpurf_machine::{LaunchError, Machine, ModelEngine, Settings, Statistics};
use gpurf_oracle::host::Session;

fn load(preset: &str, settings: &[&str]) -> Settings {
    let all: Vec<&str> = ["sm.shared_kilobytes=4"].iter().chain(settings).copied().collect();
    let config = Config::load(Start::Preset(preset), &all).unwrap_or_else(|error| panic!("{error}"));
    Settings { config, ..crate::common::settings(&[]) }
}

/// Eight blocks of a warp of which one fits whole: the others come one by one beside it. Bytes 0 to 219 are private; R6 is four times the thread's
/// number in its block.
fn program(code: &str) -> Program {
    let start = "S2R.TID.X R5\nIMAD.LO R6, PT, R5, 4, RZ, !PT";
    let mut program = Program::new(&format!("{start}\n{code}"), 8, 32);
    program.kernel.static_shared = 2200;
    program
}

/// A launch with and without a judge: what is skipped changes nothing.
fn run(program: &Program, settings: impl Fn() -> Settings, expected: impl Fn(u32) -> u32) -> Statistics {
    let engines = [ModelEngine::new(settings()), ModelEngine::judged(settings())];
    let [alone, judged] = engines.map(|mut engine| {
        let mut memory = buffers();
        program.launch(&mut engine, &mut memory).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(words(&memory, 0), (0..256).map(&expected).collect::<Vec<u32>>());
        engine.statistics()
    });
    assert_eq!((alone.cycles, &alone.events), (judged.cycles, &judged.events));
    assert!(judged.judged.is_some_and(|judged| judged.equal == 1 && judged.counts > 3));
    alone
}

fn events<const N: usize>(run: &Statistics, names: [&str; N]) -> [u64; N] {
    names.map(|name| *run.events.get(name).unwrap_or_else(|| panic!("there is no event {name}")))
}

/// Everything that straps and sizes choose.
const CHOICES: [&[&str]; 7] = [
    &[],
    &["share.lock=first"],
    &["share.owner_first=false"],
    &["share.check=mark"],
    &["share.check=mark", "share.lock=first"],
    &["sm.scheduler=round_robin", "share.hold_atomics=false"],
    &["mrf.issue_ports=1", "share.lock=first", "share.owner_first=false"],
];

/// A private access, then common ones.
const EXCHANGE: &str = "
    ST.SHARED.B32 [R6], R0 {private}
    LD.GLOBAL.B32 R9, [R2:RZ]
    IADD R9, PT, R9, R0, !PT
    ST.SHARED.B32 [R6+0x400], R9
    LD.GLOBAL.B32 R10, [R2:RZ]
    IADD R10, PT, R10, R10, !PT
    LD.SHARED.B32 R11, [R6+0x400]
    LD.SHARED.B32 R12, [R6] {private}
    IADD R11, PT, R11, R12, !PT
    IADD R11, PT, R11, R10, !PT
    ST.GLOBAL.B32 [R2:RZ], R11";

#[test]
fn a_block_waits_for_the_end_of_its_partner() {
    for choice in CHOICES {
        let run = run(&program(EXCHANGE), || load("share-scratchpad", choice), |i| 2 * i);
        let [wait, take, free, early] = events(&run, ["wait_lock", "lock_take", "lock_free", "lock_early"]);
        assert!(wait > 100 && take == 8 && free == 8 && early == 0, "{choice:?} {wait} {take} {free} {early}");
        let [probes, common] = events(&run, ["probe", "probe_common"]);
        let marks = choice.contains(&"share.check=mark");
        assert_eq!(probes == 0, marks, "{choice:?}");
        assert!(marks || common > 0);
        let alone: Vec<&str> = choice.iter().copied().filter(|setting| !setting.starts_with("share.")).collect();
        let alone = self::run(&program(EXCHANGE), || load("fermi-16k", &alone), |i| 2 * i);
        assert!(run.cycles < alone.cycles, "{choice:?}: {} cycles, {} without sharing", run.cycles, alone.cycles);
        assert_eq!(events(&run, ["issue"]), events(&alone, ["issue"]), "probes are no instructions");
        assert_eq!(
            events(&run, ["memory"])[0],
            events(&alone, ["memory"])[0] + probes,
            "they go to the memory pipeline"
        );
    }
}

/// A loop of loads of global memory between the last common access and the end.
fn with_a_long_end(between: &str) -> Program {
    let long = "
        MOV R20, 0
        again:
        LD.GLOBAL.B32 R21, [R2:RZ]
        IADD R20, PT, R20, R21, !PT
        IADD R20, PT, R20, 1, !PT
        ISETP.LT.AND P2, R20, 6, PT
        @P2 BRA again, join none
        IADD R11, PT, R11, R20, !PT
        ST.GLOBAL.B32 [R2:RZ], R11";
    let exchange = EXCHANGE.strip_suffix("ST.GLOBAL.B32 [R2:RZ], R11").expect("it ends with the store");
    program(&format!("{exchange}\n{between}\n{long}"))
}

#[test]
fn a_release_hands_the_lock_over_early() {
    for choice in CHOICES {
        let settings = || load("share-scratchpad", choice);
        let late = run(&with_a_long_end("NOP"), settings, |i| 2 * i + 6);
        let early = run(&with_a_long_end("RELSSP"), settings, |i| 2 * i + 6);
        assert!(early.cycles + 1000 < late.cycles, "{choice:?}: {} {}", early.cycles, late.cycles);
        let [released, take, free, before] = events(&early, ["released", "lock_take", "lock_free", "lock_early"]);
        assert_eq!((released, take, free, before), (8, 8, 8, 8), "{choice:?}");
        // The lanes of a warp may release one after the other.
        let halves = "
            ISETP.LT.AND P3, R5, 16, PT
            @P3 RELSSP
            IADD R12, PT, R12, 1, !PT
            @!P3 RELSSP";
        let halves = run(&with_a_long_end(halves), settings, |i| 2 * i + 6);
        assert_eq!(events(&halves, ["released", "lock_early"]), [16, 8], "{choice:?}");
        // One lane does not: the end of the block hands the lock over.
        let but_one = "ISETP.LT.AND P3, R5, 31, PT\n@P3 RELSSP";
        let but_one = run(&with_a_long_end(but_one), settings, |i| 2 * i + 6);
        assert_eq!(events(&but_one, ["released", "lock_early"]), [8, 0], "{choice:?}");
    }
}

#[test]
fn without_sharing_a_release_does_nothing() {
    let settings = || load("fermi-16k", &[]);
    let with = run(&with_a_long_end("RELSSP"), settings, |i| 2 * i + 6);
    let without = run(&with_a_long_end(""), settings, |i| 2 * i + 6);
    assert_eq!(events(&with, ["issue"])[0], events(&without, ["issue"])[0] + 8);
    assert!(with.cycles >= without.cycles);
}

/// Even lanes of one access are in shared memory, at this offset, and odd ones in global memory.
fn mixed(offset: u32) -> Program {
    program(&format!(
        "LOP3.LUT192 R20, R5, 1, RZ
        ISETP.LT.AND P0, R20, 1, PT
        IADD R6, PT, R6, {offset}, !PT
        MOV R7, 1
        @!P0 MOV R6, R2
        @!P0 MOV R7, 0
        ST.GENERIC.B32 [R6:R7], R0
        LD.GLOBAL.B32 R10, [R2:RZ]
        IADD R10, PT, R10, 1, !PT
        LD.GENERIC.B32 R11, [R6:R7]
        ST.GLOBAL.B32 [R2:RZ], R11"
    ))
}

#[test]
fn generic_lanes_in_the_common_area_need_the_lock_and_others_do_not() {
    for choice in [&[][..], &["share.lock=first"]] {
        let common = run(&mixed(0x400), || load("share-scratchpad", choice), |i| i);
        let [wait, found, probes] = events(&common, ["wait_lock", "probe_common", "probe"]);
        assert!(wait > 0 && found > 0 && probes >= found, "{choice:?} {wait} {found} {probes}");
        let private = run(&mixed(0), || load("share-scratchpad", choice), |i| i);
        let [wait, found, probes] = events(&private, ["wait_lock", "probe_common", "probe"]);
        assert!(wait == 0 && found == 0 && probes > 0, "{choice:?} {wait} {found} {probes}");
    }
}

#[test]
fn a_guard_that_is_false_in_all_lanes_needs_no_lock() {
    let code = "
        ISETP.LT.AND P0, R5, 0, PT
        @P0 ST.SHARED.B32 [R6+0x400], R0
        IADD R9, PT, R0, 1, !PT
        @P0 LD.SHARED.B32 R9, [R6+0x400]
        ST.GLOBAL.B32 [R2:RZ], R9";
    for choice in [&[][..], &["share.lock=first"]] {
        let run = run(&program(code), || load("share-scratchpad", choice), |i| i + 1);
        assert_eq!(events(&run, ["wait_lock", "probe", "probe_common"]), [0, 0, 0], "{choice:?}");
        let [take] = events(&run, ["lock_take"]);
        // Names of a head that is not probed count, not lanes: as with registers.
        assert_eq!(take == 0, choice == ["share.lock=first"], "{choice:?} {take}");
    }
}

#[test]
fn with_marks_alone_an_access_that_is_not_marked_needs_the_lock() {
    let code = |mark: &str| {
        program(&format!(
            "ST.SHARED.B32 [R6], R0 {mark}
            LD.GLOBAL.B32 R10, [R2:RZ]
            IADD R10, PT, R10, 1, !PT
            LD.SHARED.B32 R11, [R6] {mark}
            ST.GLOBAL.B32 [R2:RZ], R11"
        ))
    };
    let wait = |mark: &str, check: &str| {
        let run = run(&code(mark), || load("share-scratchpad", &[check]), |i| i);
        events(&run, ["wait_lock", "probe"])
    };
    let [by_mark, by_probe] = ["share.check=mark", "share.check=probe"];
    assert!(wait("", by_mark)[0] > 0 && wait("", by_mark)[1] == 0);
    assert_eq!(wait("{private}", by_mark), [0, 0]);
    assert_eq!(wait("{private}", by_probe), [0, 0]);
    let [waits, probes] = wait("", by_probe);
    assert!(waits == 0 && probes > 0, "{waits} {probes}");
}

#[test]
fn an_access_behind_the_release_is_a_fault() {
    let released = "RELSSP\nLD.SHARED.B32 R9, [R6+0x400]\nST.GLOBAL.B32 [R2:RZ], R9";
    let expected = ExpectedFault {
        cause: Cause::Released,
        value: Some(0x400),
        block: Some([0, 0, 0]),
        warp: Some(0),
        instruction: None,
        oracle: None,
    };
    for choice in [&[][..], &["share.lock=first"], &["share.check=mark"]] {
        let mut program = program(&format!("ST.SHARED.B32 [R6+0x400], R0\n{released}"));
        let error = program.run(&mut ModelEngine::new(load("share-scratchpad", choice))).unwrap_err();
        let text = error.to_string();
        let words = "address 0x400 of shared memory is in common with another block, and all threads of this one have released it (RELSSP)";
        assert!(text.contains(words), "{text}");
        assert!(error.reported().is_some_and(|fault| fault.is_expected(&expected)), "{text}");
        // The oracle does not know it: it is a mismatch unless it is expected.
        let judged =
            |program: &crate::common::Program| program.run(&mut ModelEngine::judged(load("share-scratchpad", choice)));
        assert!(matches!(judged(&program), Err(LaunchError::Mismatch(_))));
        program.fault = Some(expected);
        assert!(judged(&program).unwrap_err().reported().is_some_and(|fault| fault.is_expected(&expected)));
    }
    // In the private part, and without a partner slot, it is none.
    let private = "ST.SHARED.B32 [R6], R0\nRELSSP\nLD.SHARED.B32 R9, [R6]\nST.GLOBAL.B32 [R2:RZ], R9";
    run(&program(private), || load("share-scratchpad", &[]), |i| i);
    let mut alone = program(&format!("ST.SHARED.B32 [R6+0x400], R0\n{released}"));
    alone.kernel.static_shared = 4096;
    run(&alone, || load("share-scratchpad", &["sm.blocks=1"]), |i| i);
}

/// A returning atomic operation of a younger block waits until the older one is through.
#[test]
fn atomic_operations_of_younger_blocks_are_held() {
    let code = |release: &str| {
        program(&format!(
            "LDC.B32 R4, [RZ+0x8]
            MOV R8, 1
            ST.SHARED.B32 [R6+0x400], R0
            ATOM.GLOBAL.ADD R7, [R4:RZ], R8
            IADD R9, PT, R0, 1, !PT
            {release}
            LD.GLOBAL.B32 R10, [R2:RZ]
            IADD R9, PT, R9, R10, !PT
            ST.GLOBAL.B32 [R2:RZ], R9"
        ))
    };
    let held = |hold: &str, release: &str| {
        let run = run(&code(release), || load("share-scratchpad", &[hold]), |i| i + 1);
        events(&run, ["wait_hold"])[0]
    };
    assert_eq!(held("share.hold_atomics=false", ""), 0);
    let (late, early) = (held("share.hold_atomics=true", ""), held("share.hold_atomics=true", "RELSSP"));
    // A younger block that holds its lock is at its operation only when the older one is through.
    assert_eq!((late, early), (0, 0));
    let first = "
        LDC.B32 R4, [RZ+0x8]
        MOV R8, 1
        ATOM.GLOBAL.ADD R7, [R4:RZ], R8
        ST.SHARED.B32 [R6+0x400], R0
        LD.SHARED.B32 R9, [R6+0x400]
        ST.GLOBAL.B32 [R2:RZ], R9";
    let run = run(&program(first), || load("share-scratchpad", &[]), |i| i);
    assert!(events(&run, ["wait_hold"])[0] > 0);
}

/// Kernels whose blocks do not fit whole into so little memory, with the oracle's verdict.
#[test]
fn kernels_agree_with_the_oracle() {
    let mut with_guests = 0;
    for (name, kilobytes) in [
        ("binomialOptions", 4),
        ("convolutionSeparable", 4),
        ("laplace3d", 4),
        ("needle", 8),
        ("reduction", 4),
        ("transpose", 8),
    ] {
        for choice in [&[][..], &["share.lock=first", "mrf.issue_ports=1"], &["share.check=mark", "share.private=5"]] {
            let kilobytes = format!("sm.shared_kilobytes={kilobytes}");
            let all: Vec<&str> = [kilobytes.as_str()].iter().chain(choice).copied().collect();
            let settings = load("share-scratchpad", &all);
            let case = Case::load(name).unwrap();
            let image = compiled(name, 64, &settings.config).image;
            let mut session = Session::new(case.manifest(), &image).unwrap();
            let mut engine = ModelEngine::judged(settings);
            session.run(&mut engine).unwrap_or_else(|error| panic!("{name} {choice:?}: {error}"));
            for row in session.checks().unwrap() {
                assert!(row.ok, "{name} {choice:?}: {row:?}");
            }
            with_guests += usize::from(events(&engine.statistics(), ["non_owners"])[0] > 0);
        }
    }
    assert!(with_guests >= 9, "{with_guests}");
}
