//! Blocks on several host threads, replay of atomic operations, and the sequence of commits.

mod common;

use std::num::NonZeroUsize;

use common::{Setup, THREAD, storing};
use gpurf_oracle::{AccessStep, Commit, Effect, FaultKind, Meter, Options, Oracle, Parts, Recording, WarpId};

/// Blocks and threads of a launch that is large enough to be parallel.
const BLOCKS: u32 = 64;
const THREADS: u32 = 128;

fn large(code: &str, words: u32) -> Setup {
    Setup::new(code)
        .grid([BLOCKS, 1, 1])
        .block([THREADS, 1, 1])
        .buffers(&[vec![0; (BLOCKS * THREADS) as usize], vec![0; words as usize]])
}

/// Runs on one host thread and on four; returns the buffers, which have to be the same, and whether blocks ran at the
/// same time.
fn both(setup: Setup) -> (Vec<Vec<u32>>, bool) {
    let (alone, expected) = setup.try_run();
    let setup = setup.threads(4);
    for _ in 0..5 {
        let (together, buffers) = setup.try_run();
        assert_eq!(buffers, expected);
        assert_eq!(together.as_ref().map(|s| s.counts), alone.as_ref().map(|s| s.counts));
    }
    let parallel = setup.try_run().0.is_ok_and(|s| s.parallel);
    (expected, parallel)
}

#[test]
fn independent_blocks_run_at_the_same_time() {
    let (words, parallel) = both(large(&storing("IMAD.LO R9, PT, R0, R0, R0, !PT"), 1));
    assert!(parallel);
    assert_eq!(words[0], (0..BLOCKS * THREADS).map(|i| i * i + i).collect::<Vec<u32>>());
}

#[test]
fn sums_that_are_not_read_run_at_the_same_time() {
    let code = format!(
        "{THREAD}\nLDC.B32 R3, [RZ+0x8]\nATOM.GLOBAL.ADD RZ, [R3], R0\nATOM.GLOBAL.MAX.U32 RZ, [R3+0x4], R0\nEXIT"
    );
    let (words, parallel) = both(large(&code, 2));
    let n = BLOCKS * THREADS;
    assert!(parallel);
    assert_eq!(words[1], [n * (n - 1) / 2, n - 1]);
}

#[test]
fn results_of_atomic_operations_keep_blocks_in_order() {
    let (words, parallel) = both(large(&storing("LDC.B32 R3, [RZ+0x8]\nMOV R4, 1\nATOM.GLOBAL.ADD R9, [R3], R4"), 1));
    assert!(!parallel);
    assert_eq!(words[0], (0..BLOCKS * THREADS).collect::<Vec<u32>>());
}

#[test]
fn a_meter_counts_each_block_once() {
    static METER: Meter = Meter::new();
    let independent = large(&storing("IMAD.LO R9, PT, R0, R0, R0, !PT"), 1);
    // The blocks begin at the same time; when they are seen to depend on each other, all of them run again.
    let dependent = large(&storing("LDC.B32 R3, [RZ+0x8]\nMOV R4, 1\nATOM.GLOBAL.ADD R9, [R3], R4"), 1);
    let chain = large(&storing("LDC.B32 R3, [RZ+0x8]\nLD.GLOBAL.B32 R9, [R3]\nST.GLOBAL.B32 [R3], R0"), 1);
    for (setup, threads) in [(&independent, 1), (&independent, 4), (&dependent, 4), (&chain, 4)] {
        METER.begin("test", Parts::Blocks, 1000);
        let options =
            Options { threads: NonZeroUsize::new(threads).unwrap(), meter: Some(&METER), ..Options::default() };
        setup.with(|_, launch, memory| Oracle::new(options).run(launch, memory).unwrap());
        assert_eq!(METER.read().unwrap().done, BLOCKS.into());
        setup.with(|_, launch, memory| Oracle::new(options).run_checked(launch, memory).unwrap());
        assert_eq!(METER.read().unwrap().done, (2 * BLOCKS).into());
        METER.end();
        assert_eq!(METER.read(), None);
    }
}

#[test]
fn blocks_interfere_where_one_writes_what_another_reads_or_writes() {
    let interfere = |setup: Setup| {
        let (interfere, after) = setup.with(|oracle, launch, memory| oracle.blocks_interfere(launch, memory).unwrap());
        assert_eq!(after, setup.run(), "it runs the launch");
        interfere
    };
    let own = storing("LD.GLOBAL.B32 R9, [R2]\nIADD R9, PT, R9, R0, !PT");
    assert!(!interfere(large(&own, 1)));
    let common = format!("{THREAD}\nLDC.B32 R3, [RZ+0x8]\nST.GLOBAL.B32 [R3], R1\nEXIT");
    assert!(interfere(large(&common, 1)));
    // The order of tickets and sums is left to a replay.
    let ticket = storing("LDC.B32 R3, [RZ+0x8]\nMOV R4, 1\nATOM.GLOBAL.ADD R9, [R3], R4");
    assert!(!interfere(large(&ticket, 1)));
    let sum = format!("{THREAD}\nLDC.B32 R3, [RZ+0x8]\nATOM.GLOBAL.ADD RZ, [R3], R0\nEXIT");
    assert!(!interfere(large(&sum, 1)));
}

#[test]
fn blocks_that_depend_on_each_other_run_in_order() {
    // All blocks store their number to the same word: that of the last block remains.
    let (words, parallel) = both(large(&format!("{THREAD}\nLDC.B32 R3, [RZ+0x8]\nST.GLOBAL.B32 [R3], R1\nEXIT"), 1));
    assert!(!parallel);
    assert_eq!(words[1], [BLOCKS - 1]);
    // Each block reads what the one before it has written.
    let chain = storing(
        "LDC.B32 R3, [RZ+0x8]\nSHL R4, R1, 2\nIADD R3, PT, R3, R4, !PT\nLD.GLOBAL.B32 R9, [R3]\nIADD R9, PT, R9, 1, !PT\nST.GLOBAL.B32 [R3+0x4], R9",
    );
    let (words, parallel) = both(large(&chain, BLOCKS + 1));
    assert!(!parallel);
    assert_eq!(words[1], (0..=BLOCKS).collect::<Vec<u32>>());
    // Sums that are read.
    let read = storing("LDC.B32 R3, [RZ+0x8]\nMOV R4, 1\nATOM.GLOBAL.ADD RZ, [R3], R4\nLD.GLOBAL.B32 R9, [R3]");
    assert!(!both(large(&read, 1)).1);
    // Different bytes of one word count as one place, and are right.
    let bytes = format!("{THREAD}\nLDC.B32 R3, [RZ+0x8]\nIADD R3, PT, R3, R1, !PT\nST.GLOBAL.B8 [R3], R1\nEXIT");
    let (words, _) = both(large(&bytes, BLOCKS / 4));
    assert_eq!(
        words[1].iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>(),
        (0..BLOCKS as u8).collect::<Vec<_>>()
    );
}

#[test]
fn a_fault_is_that_of_the_first_block_whatever_the_threads() {
    let code =
        format!("{THREAD}\nISETP.GE.AND P0, R0, 1000, PT\n@P0 LD.GLOBAL.B32 R9, [RZ]\nST.GLOBAL.B32 [R2], R0\nEXIT");
    let (words, _) = both(large(&code, 1));
    assert_eq!(words[0][895], 895);
    // Block 7 holds threads 896 to 1023; its warps run in turn, and thread 1000 is in its last one.
    assert_eq!((words[0][896], words[0][991], words[0][992], words[0][1024]), (896, 991, 0, 0));
    let fault = large(&code, 1).threads(4).fault();
    assert_eq!((fault.block, fault.thread), ([7, 0, 0], [104, 0, 0]));
}

#[test]
fn a_later_launch_starts_with_clean_notes() {
    let setup = large(&storing("LD.GLOBAL.B32 R9, [R2]\nIADD R9, PT, R9, R0, !PT"), 1).threads(4);
    let (parallel, words) =
        setup.with(|oracle, launch, memory| (0..10).all(|_| oracle.run(launch, memory).unwrap().parallel));
    assert!(parallel);
    assert_eq!(words[0], (0..BLOCKS * THREADS).map(|i| 10 * i).collect::<Vec<u32>>());
}

/// Two blocks of two warps take tickets, each warp one for each lane.
fn tickets() -> Setup {
    let code = storing("LDC.B32 R3, [RZ+0x8]\nMOV R4, 1\nATOM.GLOBAL.ADD R9, [R3], R4");
    Setup::new(&code).grid([2, 1, 1]).block([64, 1, 1]).buffers(&[vec![0; 128], vec![0]])
}

/// The first access of a warp.
fn entry(block: u64, warp: u32, lanes: u32) -> AccessStep {
    AccessStep { warp: WarpId { block, warp }, occurrence: 0, lanes }
}

/// The second access of a warp.
fn second(block: u64, warp: u32, lanes: u32) -> AccessStep {
    AccessStep { occurrence: 1, ..entry(block, warp, lanes) }
}

fn replay(setup: &Setup, order: &[AccessStep]) -> (Result<(), FaultKind>, Vec<Vec<u32>>) {
    replay_recording(setup, &Recording { accesses: Some(order.to_vec()), ..Recording::default() })
}

fn replay_recording(setup: &Setup, recording: &Recording) -> (Result<(), FaultKind>, Vec<Vec<u32>>) {
    setup.with(|oracle, launch, memory| {
        let result = oracle.replay(launch, memory, recording, &mut gpurf_oracle::Unobserved);
        result.map(|_| ()).map_err(|fault| fault.kind)
    })
}

#[test]
fn atomic_operations_are_performed_in_the_order_given() {
    let order = [entry(1, 1, 0xffff_ff00), entry(0, 1, !0), entry(1, 0, !0), entry(1, 1, 0xff), entry(0, 0, !0)];
    let stores = [second(0, 0, !0), second(1, 1, !0), second(0, 1, !0), second(1, 0, !0)];
    let (result, words) = replay(&tickets(), &[&order[..], &stores].concat());
    result.unwrap();
    let mut expected = vec![0; 128];
    let mut ticket = 0;
    for step in order {
        for lane in gpurf_oracle::lanes_of(step.lanes) {
            expected[step.warp.block as usize * 64 + step.warp.warp as usize * 32 + lane] = ticket;
            ticket += 1;
        }
    }
    assert_eq!(words[0], expected);
    assert_eq!(words[1], [128]);
}

#[test]
fn an_order_that_does_not_fit_is_refused() {
    let wrong = |order: &[AccessStep]| match replay(&tickets(), order).0.unwrap_err() {
        FaultKind::Replay(problem) => problem,
        kind => panic!("{kind}"),
    };
    let all = [entry(0, 0, !0), entry(0, 1, !0), entry(1, 0, !0)];
    assert!(wrong(&all).contains("ends before"));
    assert!(wrong(&[entry(2, 0, !0)]).contains("no warp"));
    assert!(wrong(&[entry(0, 2, !0)]).contains("no warp"));
    assert!(wrong(&[entry(0, 0, 2), entry(0, 0, 3)]).contains("lanes 0x00000002"));
    assert!(wrong(&[second(0, 0, !0)]).contains("access 1 of warp 0 is due, but the warp is at its number 0"));
    let first = [entry(0, 0, !0), second(0, 0, !0)];
    let third = AccessStep { occurrence: 2, ..entry(0, 0, !0) };
    assert!(wrong(&[&first[..], &[third]].concat()).contains("has performed all"));
}

/// Thread 0 of the first block loads a word, which the second block exchanges for 7, atomically or by a store.
fn racing(write: &str) -> Setup {
    let code = format!(
        "LDC.B32 R3, [RZ+0x8]\nMOV R4, 7\nISETP.EQ.AND P0, R1, 0, PT\n@P0 LD.GLOBAL.B32 R9, [R3]\n@!P0 {write}"
    );
    Setup::new(&storing(&code)).grid([2, 1, 1]).block([1, 1, 1]).buffers(&[vec![0; 2], vec![3]])
}

#[test]
fn a_load_reads_what_the_order_has_in_front_of_it() {
    for write in ["ATOM.GLOBAL.EXCH RZ, [R3], R4", "ST.GLOBAL.B32 [R3], R4"] {
        let (load, change) = (entry(0, 0, 1), entry(1, 0, 1));
        let stores = [second(0, 0, 1), second(1, 0, 1)];
        for (order, loaded) in [([load, change], 3), ([change, load], 7)] {
            let (result, words) = replay(&racing(write), &[&order[..], &stores].concat());
            result.unwrap();
            assert_eq!((words[0][0], words[1][0]), (loaded, 7), "{write}");
        }
        // Without an order the blocks run one after the other.
        let (result, words) = replay_recording(&racing(write), &Recording::default());
        result.unwrap();
        assert_eq!(words[0][0], 3);
    }
}

#[test]
fn lanes_of_an_access_may_come_in_any_order() {
    // All lanes store to the first word; each loads its own into the register that had the address.
    let code = "LDC.B32 R3, [RZ]\nST.GLOBAL.B32 [R3], R0\nMOV R9, R2\nLD.GLOBAL.B32 R9, [R9]";
    let setup = Setup::new(&storing(code)).block([8, 1, 1]).buffers(&[(100..108).collect()]);
    let steps = [[0, 0xc0], [0, 0x0f], [0, 0x30], [1, 0xf0], [1, 0x0f], [2, 0xff]];
    let order = steps.map(|[occurrence, lanes]| AccessStep { occurrence: occurrence.into(), ..entry(0, 0, lanes) });
    let (result, words) = replay(&setup, &order);
    result.unwrap();
    // Where several lanes store to the same address, the value of the highest lane remains.
    assert_eq!(words[0], [7, 101, 102, 103, 104, 105, 106, 107]);
}

#[test]
fn lanes_have_local_memories_of_their_own() {
    let code = "ST.LOCAL.B32 [RZ], R0\nLD.LOCAL.B32 R9, [RZ]";
    let setup = Setup::new(&storing(code)).local(4).block([8, 1, 1]).buffers(&[vec![0; 8]]);
    let steps = [[0, 0xf0], [0, 0x0f], [1, 0xff], [2, 0xff]];
    let order = steps.map(|[occurrence, lanes]| AccessStep { occurrence: occurrence.into(), ..entry(0, 0, lanes) });
    let (result, words) = replay(&setup, &order);
    result.unwrap();
    assert_eq!(words[0], [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_replay_counts_all_instructions() {
    let (load, change) = (entry(0, 0, 1), entry(1, 0, 1));
    let order = vec![change, load, second(0, 0, 1), second(1, 0, 1)];
    let setup = racing("ATOM.GLOBAL.EXCH RZ, [R3], R4");
    let (counts, _) = setup.with(|oracle, launch, memory| {
        let recording = Recording { accesses: Some(order.clone()), ..Recording::default() };
        let replayed = oracle.replay(launch, memory, &recording, &mut gpurf_oracle::Unobserved).unwrap();
        (replayed.counts, oracle.run(launch, memory).unwrap().counts)
    });
    assert_eq!(counts.0, counts.1);
}

/// Each thread stores the difference of two reads of the lower word of the time.
fn timed() -> Setup {
    let code = storing("S2R.TIME_LO R3\nNOP\nNOP\nS2R.TIME_LO R4\nIADD.SUB R9, PT, R4, R3, PT");
    Setup::new(&code).grid([2, 1, 1]).block([64, 1, 1]).buffers(&[vec![0; 128]])
}

#[test]
fn the_time_is_the_number_of_instructions() {
    assert_eq!(timed().run()[0], [3; 128]);
    // It continues from warp to warp, from block to block, from launch to launch, whatever the number of host threads.
    let setup = Setup::new(&storing("S2R.TIME_LO R9")).grid([BLOCKS, 1, 1]).block([THREADS, 1, 1]).threads(4);
    let setup = setup.buffers(&[vec![0; (BLOCKS * THREADS) as usize]]);
    let (passes, second) = setup.with(|oracle, launch, memory| {
        [(); 2].map(|()| {
            let statistics = oracle.run(launch, memory).unwrap();
            assert!(!statistics.parallel);
            (
                statistics.counts.instructions as u32,
                memory.buffers()[0].words()[0].load(std::sync::atomic::Ordering::Relaxed),
            )
        })
    });
    let warps = BLOCKS * THREADS / 32;
    let [(instructions, first), (_, again)] = passes;
    assert_eq!(again, first + instructions);
    let of_warp = |warp: u32| second[0][32 * warp as usize];
    assert_eq!(
        (0..warps).map(of_warp).collect::<Vec<_>>(),
        (0..warps).map(|w| again + w * instructions / warps).collect::<Vec<_>>()
    );
}

#[test]
fn a_replay_reads_the_times_that_were_recorded() {
    let warps = (0..4).map(|w| WarpId { block: w / 2, warp: w as u32 % 2 });
    let recorded = |warp: WarpId| vec![u64::from(u32::MAX), (1 << 32) + 10 * warp.block + u64::from(warp.warp)];
    let recording = |count: usize| Recording {
        times: warps.clone().map(|warp| (warp, recorded(warp).into_iter().cycle().take(count).collect())).collect(),
        ..Recording::default()
    };
    let (result, words) = replay_recording(&timed(), &recording(2));
    result.unwrap();
    assert_eq!(words[0], (0..128).map(|i| 1 + [0, 1, 10, 11][i / 32]).collect::<Vec<u32>>());
    let wrong = |count| match replay_recording(&timed(), &recording(count)).0.unwrap_err() {
        FaultKind::Replay(problem) => problem,
        kind => panic!("{kind}"),
    };
    assert!(wrong(1).contains("more often than 1 times"));
    assert!(wrong(3).contains("reads the time 2 times, not 3"));
}

#[test]
fn each_warp_commits_in_program_order() {
    let code = "
        S2R.TID.X R0
        LDC.B32 R2, [RZ]
        ISETP.LT.AND P2, R0, 40, PT
        @P2 IADD R3, P1, R0, 5, !PT
        IMAD.LO R2, PT, R0, 4, R2, !PT
        @P2 ST.GLOBAL.B16 [R2], R3
        MOV R4, 1
        ATOM.GLOBAL.ADD RZ, [R2], R4
        EXIT
    ";
    let setup = Setup::new(code).block([48, 1, 1]).buffers(&[vec![0; 48]]);
    let mut seen = Vec::new();
    setup.with(|oracle, launch, memory| {
        let mut observer = |commit: &Commit<'_>| {
            let effect = match commit.effect {
                Effect::Register { register, values } => format!("R{register}={:x}", values.0[1]),
                Effect::Predicate { predicate, values } => format!("P{predicate}={:x}", values & commit.mask),
                Effect::Store { addresses, values, bytes } => format!("[{:x}]={:x}:{bytes}", addresses[1], values.0[1]),
                Effect::Atomic { addresses, occurrence } => format!("atomic {occurrence} [{:x}]", addresses[1]),
            };
            if commit.warp.warp == 1 {
                seen.push(format!("{} {} {:x} {effect}", commit.number, commit.pc, commit.mask));
            }
        };
        oracle.run_observed(launch, memory, &mut observer).unwrap();
    });
    let expected = [
        "0 0 ffff R0=21",
        "1 1 ffff R2=1000000",
        "2 2 ffff P2=ff",
        "3 3 ff P1=0",
        "3 3 ff R3=26",
        "4 4 ffff R2=1000084",
        "5 5 ff [1000084]=26:2",
        "6 6 ffff R4=1",
        "7 7 ffff atomic 0 [1000084]",
    ];
    assert_eq!(seen, expected);
}
