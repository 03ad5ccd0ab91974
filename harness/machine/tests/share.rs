//! Blocks that share registers, on the model: results, who waits for whom, and that it is worth it (`docs/sharing.md`).

mod common;

use common::{Program, buffers, words};
use gpurf_blocks::config::{Config, Start};
use gpurf_machine::{Machine, ModelEngine, Settings};

fn load(preset: &str, settings: &[&str]) -> Settings {
    let config = Config::load(Start::Preset(preset), settings).unwrap_or_else(|error| panic!("{error}"));
    Settings { config, ..common::settings(&[]) }
}

/// Registers from 18 on are shared where a thread has 180, of which a tenth is private.
const REGISTERS: u16 = 180;

/// A few private registers load, then shared ones count.
const LOADS: &str = "
    LD.GLOBAL.B32 R9, [R2:RZ]
    IADD R9, PT, R9, R0, !PT
    LD.GLOBAL.B32 R10, [R2:RZ]
    IADD R9, PT, R9, R10, !PT
    IADD R100, PT, R9, 3, !PT
    IADD R101, PT, R100, R0, !PT
    IADD R102, PT, R101, R100, !PT
    ST.GLOBAL.B32 [R2:RZ], R102";

/// The cycles of a launch of a program that uses shared registers, with and without a judge: what is skipped changes nothing.
fn cycles(program: &Program, settings: impl Fn() -> Settings, expected: impl Fn(u32) -> u32) -> u64 {
    let engines = [ModelEngine::new(settings()), ModelEngine::judged(settings())];
    let [alone, judged] = engines.map(|mut engine| {
        let mut memory = buffers();
        program.launch(&mut engine, &mut memory).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(words(&memory, 0), (0..256).map(&expected).collect::<Vec<u32>>());
        engine.statistics().cycles
    });
    assert_eq!(alone, judged);
    alone
}

/// Everything that straps and sizes choose.
const CHOICES: [&[&str]; 6] = [
    &[],
    &["share.lock=first"],
    &["share.owner_first=false"],
    &["sm.scheduler=greedy_then_oldest", "share.hold_atomics=false"],
    &["mrf.issue_ports=1", "share.lock=first", "share.owner_first=false"],
    &["mrf.banks=4", "mrf.ports=1r1w", "share.private=2"],
];

#[test]
fn guests_compute_what_hosts_compute_and_hide_latencies() {
    let mut program = Program::new(LOADS, 8, 32);
    program.kernel.registers = REGISTERS;
    // Five blocks are hosts, the other three guests.
    for choice in CHOICES {
        let shared = cycles(&program, || load("share-registers", choice), |i| 3 * i + 6);
        let alone: Vec<&str> = choice.iter().copied().filter(|setting| !setting.starts_with("share.")).collect();
        let alone = cycles(&program, || load("fermi", &alone), |i| 3 * i + 6);
        assert!(shared + 100 < alone, "{choice:?}: {shared} cycles, {alone} without sharing");
    }
}

#[test]
fn where_nothing_is_left_over_it_is_the_machine_without_sharing() {
    let mut program = Program::new(LOADS, 8, 32);
    program.kernel.registers = 104;
    let expected = |i| 3 * i + 6;
    let shared = cycles(&program, || load("share-registers", &[]), expected);
    let alone = cycles(&program, || load("fermi", &["sm.scheduler=greedy_then_oldest"]), expected);
    assert_eq!(shared, alone);
}

/// The second warp of a guest asks for its lock while its first one has one and waits for it at a barrier, and the host asks, too.
#[test]
fn a_block_that_has_locks_goes_on() {
    let code = "
        ISETP.LT.AND P0, R1, 2, PT
        MOV R5, 0
        MOV R6, 600
        @P0 MOV R6, 300
        S2R.TID.X R7
        ISETP.LT.AND P1, R7, 32, !P0
        @P1 MOV R6, 1
        again:
        IADD R5, PT, R5, 1, !PT
        ISETP.LT.AND P2, R5, R6, PT
        @P2 BRA again, join none
        IADD R100, PT, R0, 7, !PT
        BAR.ID0 RZ
        IADD R101, PT, R100, R0, !PT
        ST.GLOBAL.B32 [R2:RZ], R101";
    let mut program = Program::new(code, 4, 64);
    program.kernel.registers = REGISTERS;
    for choice in CHOICES {
        cycles(&program, || load("share-registers", choice), |i| 2 * i + 7);
    }
}

/// A returning atomic operation of a younger block waits for the older one's end, and all get their tickets.
#[test]
fn atomic_operations_of_younger_blocks_are_held() {
    let code = "
        LDC.B32 R4, [RZ+0x8]
        MOV R6, 1
        ATOM.GLOBAL.ADD R7, [R4:RZ], R6
        IADD R100, PT, R0, 1, !PT
        ST.GLOBAL.B32 [R2:RZ], R100";
    let mut program = Program::new(code, 8, 32);
    program.kernel.registers = REGISTERS;
    for hold in ["share.hold_atomics=true", "share.hold_atomics=false"] {
        cycles(&program, || load("share-registers", &[hold]), |i| i + 1);
    }
}
