//! Launches of small programs on the model: what goes right, what goes wrong, and what is said about it.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::common::{Program, buffers, settings, words};
use gpurf_blocks::config::Config;
use gpurf_blocks::{Declaration, Memory as TwinMemory, Twin, view_mut};
use gpurf_kernels::Case;
use gpurf_launch::Manifest;
use gpurf_machine::commits::{Difference, First, Kind};
use gpurf_machine::{Foreseen, Judged, LaunchError, Machine, ModelEngine, SampledEngine, Settings};
use gpurf_oracle::host::Session;
use gpurf_oracle::{FaultKind, Memory, Meter};
use gpurf_sm::{SmOut, SmProbe};

fn plain() -> ModelEngine {
    ModelEngine::new(settings(&[]))
}

fn judged() -> ModelEngine {
    ModelEngine::judged(settings(&[]))
}

/// What a run ends with.
#[track_caller]
fn error(program: &Program, mut engine: ModelEngine) -> LaunchError {
    program.run(&mut engine).unwrap_err()
}

#[test]
fn the_sm_stays_as_it_is_from_launch_to_launch() {
    let square = Program::new("IMAD.LO R9, PT, R0, R0, R0, !PT\nST.GLOBAL.B32 [R2:RZ], R9", 4, 64);
    let add = Program::new("LD.GLOBAL.B32 R9, [R2:RZ]\nIADD R9, PT, R9, 5, !PT\nST.GLOBAL.B32 [R2:RZ], R9", 2, 96);
    for mut engine in [plain(), judged()] {
        let mut memory = buffers();
        let mut cycles = Vec::new();
        for program in [&square, &add, &add, &square, &add] {
            program.launch(&mut engine, &mut memory).unwrap();
            cycles.push(engine.statistics().cycles);
        }
        let expected: Vec<u32> = (0..256).map(|i| i * i + i + if i < 192 { 5 } else { 0 }).collect();
        assert_eq!(words(&memory, 0), expected);
        let statistics = engine.statistics();
        assert_eq!(statistics.launches, 5);
        assert!(cycles.is_sorted());
        assert_eq!(statistics.events["warp_start"], 2 * 8 + 3 * 6);
        let issued = 2 * 8 * square.kernel.code.len() + 3 * 6 * add.kernel.code.len();
        assert_eq!(statistics.events["issue"], issued as u64);
        // Another launch of what is there takes as long, without a word written.
        assert!(cycles[2] - cycles[1] < cycles[1] - cycles[0]);
        if let Some(judged) = statistics.judged {
            assert_eq!((judged.equal, judged.undecided), (5, 0));
            assert!(judged.writes > 250);
        }
    }
}

/// A jump over more instructions than 16 bits count.
#[test]
fn a_long_kernel_runs_in_a_large_code_memory() {
    let passed = "NOP\n".repeat(1 << 16);
    let square = "IMAD.LO R9, PT, R0, R0, R0, !PT\nST.GLOBAL.B32 [R2:RZ], R9";
    let program = Program::new(&format!("BRA far, join none\n{passed}far:\n{square}"), 1, 64);
    let mut memory = buffers();
    program.launch(&mut ModelEngine::judged(settings(&["sm.code_words=131072"])), &mut memory).unwrap();
    assert!(words(&memory, 0)[..64].iter().zip(0..).all(|(&word, i)| word == i * i + i));
}

/// A loop of so many passes in each thread of so many blocks of 64; then each adds 5 to its word.
fn passes(passes: u32, blocks: u32) -> Program {
    let count = format!("MOV R5, 0\nagain:\nIADD R5, PT, R5, 1, !PT\nISETP.LT.AND P0, R5, {passes}, PT");
    let add = "LD.GLOBAL.B32 R9, [R2:RZ]\nIADD R9, PT, R9, 5, !PT\nST.GLOBAL.B32 [R2:RZ], R9";
    Program::new(&format!("{count}\n@P0 BRA again, join none\n{add}"), blocks, 64)
}

#[test]
fn a_sample_stands_for_the_whole_launch() {
    // Many blocks; blocks that the SM holds all at once, with as many instructions; few instructions.
    let programs = [passes(100, 400), passes(9000, 4), passes(3, 4)];
    let mut whole = plain();
    let mut all = SampledEngine::new(settings(&[]), u64::MAX);
    let mut part = SampledEngine::new(settings(&[]), 80_000);
    let memory = || {
        let mut memory = Memory::default();
        memory.add("words", &[0; 400 * 64 * 4]).unwrap();
        memory.add("more", &[0; 4]).unwrap();
        memory
    };
    let [mut a, mut b, mut c] = [memory(), memory(), memory()];
    let mut warps = None;
    for (number, program) in programs.iter().enumerate() {
        program.launch(&mut whole, &mut a).unwrap();
        program.launch(&mut all, &mut b).unwrap();
        program.launch(&mut part, &mut c).unwrap();
        assert!(words(&b, 0) == words(&a, 0) && words(&c, 0) == words(&a, 0));
        let (whole, all, part) = (whole.statistics(), all.statistics(), part.statistics());
        assert_eq!(whole, all);
        assert_eq!((part.launches, part.events["issue"]), (number as u64 + 1, whole.events["issue"]));
        // Only the first is sampled, and nothing that happens while the SM fills counts for more than it is.
        assert_ne!(part.cycles, whole.cycles);
        let apart = part.events["warp_start"].abs_diff(whole.events["warp_start"]);
        assert_eq!(*warps.get_or_insert(apart), apart);
        for (what, part, whole) in [
            ("cycles", part.cycles, whole.cycles),
            ("warps", part.events["warp_start"], whole.events["warp_start"]),
            ("reads", part.events["read"], whole.events["read"]),
        ] {
            let apart = part.abs_diff(whole) as f64 / whole as f64;
            assert!(apart < 0.02, "launch {number}, {what}: {whole}, {part} of the sample");
        }
    }
    assert_eq!(words(&a, 0)[..256], [15; 256]);
    // A launch with a fault is the model's.
    let wrong = Program::new("IADD R2, PT, R2, 2, !PT\nLD.GLOBAL.B32 R9, [R2:RZ]", 1, 32);
    let error = wrong.run(&mut SampledEngine::new(settings(&[]), 1)).unwrap_err();
    assert!(error.to_string().contains("misaligned address"), "{error}");
}

#[test]
fn a_sample_has_the_end_of_the_launch() {
    // Blocks of 600 to 1623 passes: as they end, the SM is less and less full.
    let count = "IMAD.LO R6, PT, R1, 613, RZ, !PT\nLOP3.LUT192 R6, R6, 1023, RZ\nIADD R6, PT, R6, 600, !PT\nMOV R5, 0\n\
        again:\nIADD R5, PT, R5, 1, !PT\nISETP.LT.AND P0, R5, R6, PT\n@P0 BRA again, join none";
    let program = Program::new(count, 160, 64);
    let (mut whole, mut part) = (plain(), SampledEngine::new(settings(&[]), 20_000));
    program.run(&mut whole).unwrap();
    program.run(&mut part).unwrap();
    let [whole, part] = [whole.statistics(), part.statistics()];
    assert_ne!(part, whole);
    let apart = part.cycles as f64 / whole.cycles as f64 - 1.0;
    assert!(apart.abs() < 0.01, "{} of the sample, {} whole", part.cycles, whole.cycles);
}

#[test]
fn a_launch_that_is_like_one_before_counts_as_that_one_does() {
    let other_grid = Program::new("MOV R9, 7\nST.GLOBAL.B32 [R2:RZ], R9", 1, 32);
    let (mut engine, mut whole) = (SampledEngine::new(settings(&[]), u64::MAX), plain());
    let [mut memory, mut expected] = [buffers(), buffers()];
    let mut cycles = vec![0];
    // The third has 1 % more instructions than the first, the fourth 10 %.
    for program in [passes(200, 3), passes(200, 3), passes(202, 3), passes(220, 3), other_grid] {
        program.launch(&mut engine, &mut memory).unwrap();
        program.launch(&mut whole, &mut expected).unwrap();
        cycles.push(engine.statistics().cycles);
        assert_eq!(words(&memory, 0), words(&expected, 0));
        let [sample, whole] = [engine.statistics(), whole.statistics()];
        assert_eq!((sample.launches, sample.events["issue"]), (whole.launches, whole.events["issue"]));
    }
    let [first, second, third, fourth, _] = std::array::from_fn(|launch| cycles[launch + 1] - cycles[launch]);
    assert_eq!(second, first);
    assert!(third > first && third < fourth, "{cycles:?}");
    // Had it run, the second would not have waited for its code, as the SM has it from the first.
    assert!(engine.statistics().cycles > whole.statistics().cycles);
    assert_eq!(engine.statistics().events["warp_start"], 4 * 6 + 1);
}

/// Engines that share what the oracle said of a launch do what they do alone, also where the launch is another one: here memory has the number of passes.
#[test]
fn what_the_oracle_said_is_shared_by_equal_launches_alone() {
    let code = "LD.GLOBAL.B32 R6, [R2:RZ]\nMOV R5, 0\nagain:\nIADD R5, PT, R5, 1, !PT\nISETP.LT.AND P0, R5, R6, PT\n\
        @P0 BRA again, join none\nST.GLOBAL.B32 [R2:RZ], R5";
    let shared = Arc::new(Foreseen::default());
    let mut cycles = BTreeSet::new();
    for passes in [3000, 40, 3000, 1500, 40] {
        for blocks in [4, 2] {
            for set in [&[][..], &["mrf.banks=2"]] {
                let run = |mut engine: SampledEngine| {
                    let mut memory = Memory::default();
                    memory.add("passes", &[passes; 256].map(u32::to_le_bytes).concat()).unwrap();
                    memory.add("more", &[0; 4]).unwrap();
                    // The second launch finds what the first has left.
                    for _ in 0..2 {
                        Program::new(code, blocks, 64).launch(&mut engine, &mut memory).unwrap();
                    }
                    (engine.statistics(), words(&memory, 0))
                };
                let alone = run(SampledEngine::new(settings(set), 2000));
                assert_eq!(run(SampledEngine::sharing(settings(set), 2000, shared.clone())), alone, "{passes} {set:?}");
                cycles.insert(alone.0.cycles);
            }
        }
    }
    assert!(cycles.len() >= 6, "{cycles:?}");
}

#[test]
fn what_the_sm_finds_wrong_is_said_in_words() {
    let cases = [
        ("IADD R2, PT, R2, 2, !PT\nLD.GLOBAL.B32 R9, [R2:RZ]", 32, "misaligned address, address 0x1000002"),
        ("MOV R3, 7\nLD.GLOBAL.B32 R9, [R2:R3]", 32, "global address with an upper word, address 0x1000000"),
        ("LD.SHARED.B32 R9, [RZ+0x100]", 32, "out of bounds, address 0x100"),
        ("LD.GLOBAL.B32 R9, [R2:RZ+0x400]", 32, "lane 0: load of 4 bytes at global address 0x1000400 is out of bounds"),
        (
            "ST.GLOBAL.B32 [R2:RZ+0x3fc], R9",
            32,
            "lane 1: store of 4 bytes at global address 0x1000400 is out of bounds",
        ),
        ("ATOM.GLOBAL.ADD RZ, [RZ:RZ], R9", 32, "lane 0: atomic operation of 4 bytes at global address 0x0 is out of"),
        ("TRAP 2", 32, "trap 2: the address of an atomicCAS lies above 4 GiB"),
        ("BAR.ID3 R0", 64, "a barrier has the thread count"),
    ];
    for (code, threads, words) in cases {
        let program = Program::new(code, 1, threads);
        let LaunchError::Fault(fault) = error(&program, plain()) else { panic!("{code}: no fault") };
        let message = fault.to_string();
        assert!(message.contains("kernel test, block (0, 0, 0), warp 0 (warp 0 of the SM): "), "{message}");
        assert!(message.contains(words), "{code}: {message}");
    }
    // The second block's second warp.
    let code = "IADD R3, PT, R0, -96, !PT\nISETP.GE.SIGNED.AND P0, R3, 0, PT\n@P0 TRAP 9";
    let LaunchError::Fault(fault) = error(&Program::new(code, 2, 64), plain()) else { panic!("no fault") };
    assert!(fault.to_string().contains("block (1, 0, 0), warp 1 (warp 3 of the SM): trap 9"), "{fault}");
    // The oracle is asked first, and says more.
    let LaunchError::Oracle(fault) = error(&Program::new(cases[0].0, 1, 32), judged()) else { panic!("no fault") };
    assert!(matches!(fault.kind, FaultKind::Misaligned { .. }));
}

#[test]
fn a_fault_that_the_oracle_does_not_know_names_the_instruction() {
    // The first warp waits for memory, so that the second one is the first to count; to the oracle, which runs one warp after the other, it is not.
    // Whoever is the first and not the first warp goes wrong.
    let code = "
        ISETP.LT.AND P0, R0, 32, PT
        MOV R8, 0
        @P0 LD.GLOBAL.B32 R8, [R2:RZ]
        LDC.B32 R4, [RZ+0x8]
        IADD R4, PT, R4, R8, !PT
        MOV R6, 1
        ATOM.GLOBAL.ADD R5, [R4:RZ], R6
        ISETP.EQ.AND P1, R5, 0, !P0
        @P1 LD.GLOBAL.B32 R9, [R2:RZ+0x2]";
    let LaunchError::Mismatch(mismatch) = error(&Program::new(code, 1, 64), judged()) else { panic!("no mismatch") };
    let Difference::Fault(fault) = &mismatch.difference else { panic!("{mismatch}") };
    let start = "test.ptx:114: kernel test, block (0, 0, 0), warp 1 (warp 1 of the SM): misaligned address";
    assert!(fault.starts_with(start), "{fault}");
    assert!(fault.contains("; instruction 14: @P1 LD.GLOBAL.B32"), "{fault}");
}

#[test]
fn a_launch_that_takes_too_long_counts_as_hung_and_the_meter_has_its_cycles() {
    static METER: Meter = Meter::new();
    // Warps that never end, and make progress all the time.
    let endless = Program::new("IADD R9, PT, R9, 1, !PT\nBRA 6, join none", 3, 64);
    for skip in [false, true] {
        let limited = Settings { cycle_limit: Some(10_000), skip, meter: Some(&METER), ..settings(&[]) };
        let LaunchError::Hung(hang) = error(&endless, ModelEngine::new(limited)) else { panic!("no hang") };
        assert_eq!((hang.since, hang.cycle), (None, 9_999), "{hang}");
        assert!(hang.to_string().contains("has not ended in cycle 9999, the last one that --cycle-limit allows"));
        assert!(METER.read().is_none(), "the launch has ended");
    }
    // The limit is that of each launch: it is reached in the cycle after the last one, not in the last one.
    let short = Program::new("IADD R9, PT, R9, 1, !PT", 3, 64);
    let mut free = ModelEngine::new(settings(&[]));
    short.run(&mut free).unwrap();
    let cycles = free.statistics().cycles;
    for (limit, ends) in [(cycles, true), (cycles - 1, false)] {
        let mut engine = ModelEngine::new(Settings { cycle_limit: Some(limit), ..settings(&[]) });
        assert_eq!(short.run(&mut engine).is_ok(), ends, "{limit} of {cycles} cycles");
    }
}

#[test]
fn a_hang_says_what_each_warp_waits_for() {
    // The first warp waits at barrier 1, the second at barrier 2.
    let code = "S2R.TID.X R5\nISETP.LT.AND P0, R5, 32, PT\n@P0 BRA 11, join none\nBAR.ID2 RZ\nEXIT\nBAR.ID1 RZ";
    let program = Program::new(code, 2, 64);
    let engine = ModelEngine::new(Settings { idle_limit: 500, ..settings(&[]) });
    let LaunchError::Hung(hang) = error(&program, engine) else { panic!("no hang") };
    assert_eq!(hang.since, Some(hang.cycle - 499));
    let expected = [
        "warp 0 (block (0, 0, 0), warp 0): at barrier 1 for all warps of its block",
        "warp 1 (block (0, 0, 0), warp 1): at barrier 2 for all warps of its block",
        "warp 2 (block (1, 0, 0), warp 0): at barrier 1 for all warps of its block",
        "warp 3 (block (1, 0, 0), warp 1): at barrier 2 for all warps of its block",
        "launcher: 2 of 16 block slots are taken",
    ];
    assert_eq!(hang.waits, expected);
    // Memory that does not answer within the limit.
    let load = Program::new("LD.GLOBAL.B32 R9, [R2:RZ]\nIADD R9, PT, R9, 1, !PT\n", 1, 32);
    let slow = settings(&["memory.latency=5000"]);
    let LaunchError::Hung(hang) = error(&load, ModelEngine::new(Settings { idle_limit: 1000, ..slow })) else {
        panic!("no hang")
    };
    let text = hang.to_string();
    assert!(text.contains("waits for R9: instruction 7 (test.ptx:107) IADD R9, PT, R9, 0x1, !PT"), "{text}");
    assert!(text.contains("line table: 1 lines in flight"), "{text}");
    // The oracle knows better what is wrong with a program.
    let LaunchError::Oracle(fault) = error(&program, judged()) else { panic!("no deadlock") };
    assert!(matches!(fault.kind, FaultKind::BarrierDeadlock { .. }));
}

#[test]
fn results_of_atomic_operations_are_replayed() {
    // Each thread takes a ticket, of its block in shared memory and of the grid, and leaves both. The first block comes last: it waits for memory.
    let code = "
        MOV R5, 1
        S2R.TID.X R6
        ISETP.EQ.AND P0, R6, 0, PT
        @P0 ST.SHARED.B32 [RZ], RZ
        ISETP.EQ.AND P0, R1, 0, PT
        @P0 LD.GLOBAL.B32 R7, [R2:RZ]
        @P0 IADD R5, PT, R7, 1, !PT
        BAR.ID0 RZ
        ATOM.SHARED.ADD R7, [RZ], R5
        LDC.B32 R8, [RZ+0x8]
        ATOM.GLOBAL.ADD R9, [R8:RZ], R5
        IMAD.LO R9, PT, R7, 0x10000, R9, !PT
        ST.GLOBAL.B32 [R2:RZ], R9";
    let program = Program::new(code, 4, 64);
    let mut engine = judged();
    let words = program.run(&mut engine).unwrap();
    assert_eq!(engine.statistics().judged.unwrap().equal, 1);
    let mut tickets: Vec<u32> = words.iter().map(|word| word & 0xffff).collect();
    assert!(
        tickets[..64].iter().all(|&ticket| ticket >= 192),
        "in the oracle the first block comes first: {tickets:?}"
    );
    tickets.sort_unstable();
    assert_eq!(tickets, (0..256).collect::<Vec<_>>());
}

#[test]
fn blocks_that_see_each_others_stores_are_not_judged() {
    // Each block adds 1 to what the one before it has left: the oracle runs them in order, the SM at the same time.
    let chain = "
        SHL R4, R1, 2
        LDC.B32 R3, [RZ+0x8]
        IADD R3, PT, R3, R4, !PT
        LD.GLOBAL.B32 R9, [R3:RZ]
        IADD R9, PT, R9, 1, !PT
        ST.GLOBAL.B32 [R3:RZ+0x4], R9";
    let mut engine = judged();
    Program::new(chain, 4, 32).run(&mut engine).unwrap();
    let judged = engine.statistics().judged.unwrap();
    assert_eq!((judged.equal, judged.undecided), (0, 1));
}

/// Each thread adds 1 to one of two words, by compare and swap of what it has loaded plainly, until it has done so; R9 is what is loaded.
const PLAIN_THEN_CAS: &str = "
        LDC.B32 R3, [RZ+0x8]
        LOP3.LUT192 R4, R0, 1, RZ
        IMAD.LO R3, PT, R4, 4, R3, !PT
        MOV R6, 0
    again:
        LD.GLOBAL.B32 R9, [R3:RZ]
        IADD R5, PT, R9, 1, !PT
        CAS.GLOBAL R7, [R3], R9, R5
        IADD R6, PT, R6, 1, !PT
        ISETP.NE.AND P0, R7, R9, PT
        @P0 BRA again, join done
        done:
        ST.GLOBAL.B32 [R2], R7";

#[test]
fn loads_that_race_with_atomic_operations_are_replayed() {
    for set in [&[][..], &["cache.kilobytes=2", "cache.ways=2"]] {
        let mut engine = ModelEngine::judged(settings(set));
        let program = Program::new(PLAIN_THEN_CAS, 4, 64);
        let mut memory = buffers();
        program.launch(&mut engine, &mut memory).unwrap_or_else(|error| panic!("{set:?}: {error}"));
        let judged = engine.statistics().judged.unwrap();
        assert_eq!((judged.equal, judged.undecided), (1, 0), "{set:?}");
        // What is in the words at first is their number.
        let first = words(&buffers(), 1);
        assert_eq!(words(&memory, 1)[..2], [first[0] + 128, first[1] + 128]);
        let mut before = words(&memory, 0)[..256].to_vec();
        before.sort_unstable();
        let mut expected: Vec<u32> = (0..128).flat_map(|n| [first[0] + n, first[1] + n]).collect();
        expected.sort_unstable();
        assert_eq!(before, expected);
    }
}

#[test]
fn a_wrong_value_of_a_racing_load_is_found() {
    let faulty =
        |config: &Config| -> Box<dyn Twin> { Box::new(Faulty { inner: (gpurf_sm::ENTRY.twin)(config), writes: 0 }) };
    let engine = ModelEngine::judged(Settings { model: faulty, ..settings(&[]) });
    let error = error(&Program::new(PLAIN_THEN_CAS, 4, 64), engine);
    let LaunchError::Mismatch(mismatch) = error else { panic!("no mismatch") };
    let Difference::Writes { key, sm, oracle, .. } = &mismatch.difference else { panic!("{mismatch}") };
    assert_eq!((key.warp.block, key.warp.warp, key.kind), (0, 1, Kind::Register(9)));
    assert_eq!(sm, oracle);
}

/// Ranks the nodes of a list with plain accesses of 64 bits, which race; gives whether the result is right.
fn ranks(set: &[&str]) -> (bool, Judged) {
    let case = Case::load("launch/ranking").unwrap();
    let text = std::fs::read_to_string(&case.manifest().path).unwrap().replace("rank_strong", "rank_weak");
    let manifest = Manifest::parse(&case.manifest().path, &text).unwrap();
    let settings = settings(set);
    let image = crate::common::compiled("launch/ranking", 64, &settings.config).image;
    let mut session = Session::new(&manifest, &image).unwrap();
    let mut engine = ModelEngine::judged(settings);
    session.run(&mut engine).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    let right = session.checks().unwrap().iter().all(|row| row.ok);
    (right, engine.statistics().judged.unwrap())
}

#[test]
fn racing_accesses_of_64_bits_are_single_where_all_are_to_be() {
    let (right, judged) = ranks(&[]);
    assert!(!right, "no thread has seen half of a word");
    assert_eq!((judged.equal, judged.undecided), (1, 1));
    for set in [&[][..], &["mrf.issue_ports=2"], &["memory.latency=900"], &["cache.kilobytes=2", "cache.ways=2"]] {
        let (right, judged) = ranks(&[&["compiler.wide_accesses=all"], set].concat());
        assert!(right, "{set:?}");
        assert_eq!((judged.equal, judged.undecided), (2, 0), "{set:?}");
    }
}

/// A model that shows a wrong value: the fifth write to R9 in lane 3 has a bit too many. What it keeps itself is right.
struct Faulty {
    inner: Box<dyn Twin>,
    writes: u32,
}

impl Twin for Faulty {
    fn declaration(&self) -> &Declaration {
        self.inner.declaration()
    }
    fn cycle(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.inner.cycle(inputs, compared);
        let (_, probe) = compared.split_at_mut(size_of::<SmOut>().next_multiple_of(64));
        let back = &mut view_mut::<SmProbe>(probe).outputs.writeback;
        if back.write_valid_o & 1 == 1 && back.write_o[0].register() == (1, 9) {
            self.writes += 1;
            back.write_data_o[0].0[3] ^= if self.writes == 5 { 0x40 } else { 0 };
        }
    }
    fn cycle_unprobed(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.inner.cycle_unprobed(inputs, compared);
    }
    fn memories(&mut self) -> Vec<TwinMemory<'_>> {
        self.inner.memories()
    }
    fn duplicate(&self) -> Box<dyn Twin> {
        Box::new(Self { inner: self.inner.duplicate(), writes: self.writes })
    }
}

#[test]
fn a_wrong_value_is_named() {
    let code = "MOV R9, 0\nIADD R9, PT, R9, 1, !PT\n".to_owned() + &"IADD R9, PT, R9, R0, !PT\n".repeat(6);
    let faulty =
        |config: &Config| -> Box<dyn Twin> { Box::new(Faulty { inner: (gpurf_sm::ENTRY.twin)(config), writes: 0 }) };
    let engine = ModelEngine::judged(Settings { model: faulty, ..settings(&[]) });
    let LaunchError::Mismatch(mismatch) = error(&Program::new(&code, 2, 64), engine) else { panic!("no mismatch") };
    let Difference::Writes { key, block, sm, oracle, first } = &mismatch.difference else { panic!("{mismatch}") };
    assert_eq!((key.warp.block, key.warp.warp, key.kind), (0, 1, Kind::Register(9)));
    assert_eq!((*block, *sm, *oracle), ([0; 3], 8, 8));
    // Lane 3 of the second warp: 1 + 3 * 35.
    let values = First { index: 4, lane: Some(3), sm: "0x0000002a".into(), oracle: "0x0000006a".into() };
    assert_eq!(*first, Some(values));
    let text = "block (0, 0, 0), warp 1, R9: write 4, lane 3: SM 0x0000002a, oracle 0x0000006a";
    assert!(mismatch.to_string().ends_with(text), "{mismatch}");
}

#[test]
fn chosen_cycles_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::new("ST.GLOBAL.B32 [R2:RZ], R0", 1, 64);
    let wave = Some((10..=19, folder.path().to_owned()));
    let mut engine = ModelEngine::new(Settings { wave, ..settings(&[]) });
    program.run(&mut engine).unwrap();
    let written = engine.finish_wave().unwrap().unwrap();
    let text = std::fs::read_to_string(written.join("wave.vcd")).unwrap();
    assert!(
        text.contains("\n#20\n") && text.contains("\n#38\n") && !text.contains("\n#18\n") && !text.contains("\n#42\n")
    );
    assert!(text.contains("block_launcher_busy") || text.contains("busy_o"));
    assert!(engine.finish_wave().unwrap().is_none());
    // A stretch after the end.
    let wave = Some((1_000_000..=1_000_001, folder.path().to_owned()));
    let mut engine = ModelEngine::new(Settings { wave, ..settings(&[]) });
    program.run(&mut engine).unwrap();
    assert!(engine.finish_wave().unwrap().is_none());
}
