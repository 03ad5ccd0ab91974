//! Blocks that share registers, on the model: results, who waits for whom, and that it is worth it (`docs/sharing.md`).

use std::sync::{Arc, Mutex};

use crate::common::{Program, buffers, load, words};
use gpurf_blocks::config::Reference;
use gpurf_blocks::places;
use gpurf_machine::{Cycle, Machine, ModelEngine, Settings};
use gpurf_sm::SM_EVENT;

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

/// Non-owners load from many lines before they need their locks.
const STREAMS: &str = "
    MOV R5, 0
    MOV R6, 40
    again:
    LD.GLOBAL.B32 R9, [R2:RZ]
    LD.GLOBAL.B32 R10, [R2:RZ]
    IADD R5, PT, R5, 1, !PT
    ISETP.LT.AND P2, R5, R6, PT
    @P2 BRA again, join none
    IADD R9, PT, R9, R10, !PT
    IADD R100, PT, R9, R0, !PT
    ST.GLOBAL.B32 [R2:RZ], R100";

fn streams() -> Program {
    let mut program = Program::new(STREAMS, 8, 32);
    program.kernel.registers = REGISTERS;
    program
}

/// A machine whose memory is so slow that units are busy, throttled in periods of 50 cycles.
fn throttled(reference: &str) -> Settings {
    let set = ["share.throttle=50", "memory.latency=100", "memory.bandwidth=16", reference];
    load("share-registers", &set)
}

#[test]
fn throttled_blocks_compute_the_same_whatever_the_reference_is() {
    let program = streams();
    let all = ["sampled", "external", "held"].map(|name| {
        let reference = format!("share.reference={name}");
        // The judge counts all events of the throttle a third time.
        cycles(&program, || throttled(&reference), |i| i)
    });
    assert!(all[0] != all[1] && all[1] != all[2], "{all:?}");
}

/// What is seen in the last cycle of each period: stalls of the period, and the reference.
type Seen = Arc<Mutex<Vec<(u32, Option<u32>)>>>;

/// Two launches on one SM, watched; gives what is seen in each.
fn periods(settings: Settings) -> [Vec<(u32, Option<u32>)>; 2] {
    let seen = Seen::default();
    let stalls: Vec<(u32, u32)> = places(SM_EVENT)
        .filter(|(name, _, _)| ["stall_collector", "stall_other"].contains(name))
        .map(|(_, low, bits)| (low, bits))
        .collect();
    let input_bytes = (gpurf_sm::ENTRY.twin)(&settings.config).declaration().input_bytes;
    let external = settings.config.share.reference == Reference::External;
    let watch = {
        let seen = seen.clone();
        move |record: &[u8]| {
            let (inputs, compared) = record.split_at(input_bytes);
            let cycle = Cycle::of(inputs, compared);
            if cycle.out.share_event_o >> 2 & 1 == 1 {
                let now = stalls.iter().map(|(low, bits)| (cycle.out.event_o >> low) as u32 & ((1 << bits) - 1));
                let total = cycle.probe.states.share_throttle.count_q + now.sum::<u32>();
                let valid = external && cycle.inputs.throttle_reference_valid_i == 1;
                let reference = valid.then_some(cycle.inputs.throttle_reference_i);
                seen.lock().unwrap().push((total, reference));
            }
        }
    };
    let mut engine = ModelEngine::watched(settings, Box::new(watch));
    let program = streams();
    [(); 2].map(|()| {
        program.launch(&mut engine, &mut buffers()).unwrap_or_else(|error| panic!("{error}"));
        std::mem::take(&mut *seen.lock().unwrap())
    })
}

/// The reference is what an SM has seen whose non-owners never use memory: launch by launch, period by period, as far as it goes.
#[test]
fn a_reference_is_recorded_and_replayed() {
    let held = periods(throttled("share.reference=held"));
    let external = periods(throttled("share.reference=external"));
    for (held, external) in held.iter().zip(&external) {
        assert!(held.len() > 5 && held.iter().all(|(_, reference)| reference.is_none()));
        for (n, (_, reference)) in external.iter().enumerate() {
            assert_eq!(*reference, held.get(n).map(|(stalls, _)| *stalls), "period {n}");
        }
    }
    let stalls = |seen: &[(u32, Option<u32>)]| seen.iter().map(|(stalls, _)| *stalls).collect::<Vec<u32>>();
    assert_ne!(stalls(&held[0]), stalls(&external[0]), "the same run says nothing");
    assert!(held.iter().any(|held| stalls(held).iter().any(|&stalls| stalls > 0)));
}

/// The level follows the reference: with more stalls than there it falls, and all of it is in the events.
#[test]
fn more_stalls_than_the_reference_throttle_non_owners() {
    let engine = |reference: &str| {
        let mut engine = ModelEngine::new(throttled(reference));
        streams().launch(&mut engine, &mut buffers()).unwrap_or_else(|error| panic!("{error}"));
        engine.statistics()
    };
    let external = engine("share.reference=external");
    let of = |name: &str| external.events[name];
    assert!(of("throttle_level") < 10 * external.cycles && of("wait_throttle") > 0, "{:?}", external.events);
    assert_eq!(of("throttle_reference"), 0);
    let held = engine("share.reference=held");
    assert_eq!((held.events["throttle_allow"], held.events["throttle_reference"]), (0, held.cycles));
}
