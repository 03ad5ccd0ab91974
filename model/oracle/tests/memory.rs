//! Memory spaces, their bounds, alignment, and the checks of shared memory.

mod common;

use common::{Setup, THREAD, storing};
use gpurf_oracle::{Access, FaultKind, Memory};

/// Runs code for one thread that leaves a result in R9.
fn result(code: &str) -> u32 {
    Setup::new(&storing(code)).shared(64).local(64).run()[0][0]
}

fn fault(code: &str) -> FaultKind {
    Setup::new(&storing(code)).block([1, 1, 1]).shared(62).local(10).fault_kind()
}

#[test]
fn narrow_accesses_take_and_leave_their_bytes() {
    let store = "MOV R3, 0x8899aabb\nMOV R4, 0x12\nMOV R5, 0x8034\n";
    for (space, base) in [("GLOBAL", "LDC.B32 R6, [RZ]"), ("SHARED", "MOV R6, 0"), ("LOCAL", "MOV R6, 0")] {
        let start = format!("{base}\n{store}ISETP.NE.AND P0, R0, 0, PT\n@P0 EXIT\nST.{space}.B32 [R6+0x8], R3\n");
        let run = |code: &str| result(&format!("{start}{code}"));
        assert_eq!(run(&format!("ST.{space}.B8 [R6+0x9], R4\nLD.{space}.B32 R9, [R6+0x8]")), 0x8899_12bb);
        assert_eq!(run(&format!("ST.{space}.B16 [R6+0xa], R5\nLD.{space}.B32 R9, [R6+0x8]")), 0x8034_aabb);
        assert_eq!(run(&format!("LD.{space}.S8 R9, [R6+0xa]")), 0xffff_ff99);
        assert_eq!(run(&format!("LD.{space}.U8 R9, [R6+0xa]")), 0x99);
        assert_eq!(run(&format!("LD.{space}.S16 R9, [R6+0xa]")), 0xffff_8899);
        assert_eq!(run(&format!("LD.{space}.U16 R9, [R6+0x8]")), 0xaabb);
    }
}

#[test]
fn generic_addresses_reach_all_windows() {
    let code = "
        ISETP.NE.AND P0, R0, 0, PT
        @P0 EXIT
        MOV R3, 111
        MOV R4, 222
        MOV R5, 4
        MOV R6, 1
        MOV R7, 2
        MOV R8, 3
        ST.GENERIC.B32 [R5:R6], R3
        ST.GENERIC.B32 [R5:R7], R4
        LD.SHARED.B32 R9, [R5]
        LD.LOCAL.B32 R10, [R5]
        IMAD.LO R9, PT, R9, 1000, R10, !PT
        LD.GENERIC.B32 R11, [RZ:R8]
        LDC.B32 R12, [RZ]
        ISETP.EQ.AND P1, R11, R12, PT
        @P1 IADD R9, PT, R9, 1, !PT
        ST.GENERIC.B32 [R2:RZ+0x4], R9
    ";
    assert_eq!(Setup::new(&storing(code)).shared(64).local(64).run()[0][1], 111_223);
    assert_eq!(fault("MOV R3, 3\nST.GENERIC.B32 [RZ:R3], R3"), FaultKind::ConstantWrite { access: Access::Store });
    assert_eq!(fault("MOV R3, 2\nATOM.GENERIC.ADD R9, [RZ:R3], R3"), FaultKind::LocalAtomic);
}

#[test]
fn accesses_out_of_bounds_say_what_is_near() {
    let bounds = |code: &str, space: &str, address: u64, words: &str| {
        let kind = fault(code);
        let FaultKind::OutOfBounds { space: found, address: at, ref nearest, .. } = kind else { panic!("{kind}") };
        assert_eq!((found, at), (space, address), "{kind}");
        assert!(nearest.contains(words), "{kind}");
    };
    bounds(
        "LD.GLOBAL.B32 R9, [R2+0x80]",
        "global",
        0x100_0080,
        "byte 128 of the nearest buffer, `buffer0`, which has 128",
    );
    bounds("LD.GLOBAL.U8 R9, [R2-0x1]", "global", 0xff_ffff, "begins 1 bytes further on");
    bounds("MOV R3, 5\nLD.GLOBAL.U8 R9, [R2:R3]", "global", 0x5_0100_0000, "buffer0");
    bounds("LD.GLOBAL.U8 R9, [RZ]", "global", 0, "buffer0");
    bounds("ST.SHARED.B8 [RZ+0x3e], R0", "shared", 62, "62 bytes");
    bounds("MOV R3, -4\nST.SHARED.B32 [R3], R0", "shared", 0xffff_fffc, "62 bytes");
    bounds("LD.LOCAL.U16 R9, [RZ+0xa]", "local", 10, "10 bytes");
    bounds("LDC.B32 R9, [RZ+0x8]", "constant", 8, "0x7");
    bounds("ATOM.GLOBAL.ADD R9, [R2+0x80], R0", "global", 0x100_0080, "buffer0");
    // The launch has no word at 8, so that the handle is zero. The buffer as a header is that of a texture of no size, at address 0.
    bounds("TEX.1D.INT.R R9, RZ, RZ, RZ, c[0x8]", "global", 0, "no header at the texture's handle, 0x0; the nearest");
    bounds("TEX.1D.INT.R R9, RZ, RZ, RZ, c[0x0]", "global", 0, "the header at 0x1000000 says that a texel is there;");
}

#[test]
fn misaligned_accesses_are_faults() {
    let misaligned = |code: &str, align: u32| {
        let kind = fault(code);
        assert!(matches!(kind, FaultKind::Misaligned { align: a, .. } if a == align), "{kind}");
    };
    misaligned("LD.GLOBAL.B32 R9, [R2+0x2]", 4);
    misaligned("LD.GLOBAL.U16 R9, [R2+0x1]", 2);
    misaligned("LD.GLOBAL.B32.ALIGN16 R9, [R2+0x8]", 16);
    misaligned("ST.SHARED.B32.ALIGN8 [RZ+0x4], R0", 8);
    misaligned("LD.LOCAL.U16 R9, [RZ+0x3]", 2);
    misaligned("LDC.B32 R9, [RZ+0x2]", 4);
    misaligned("ATOM.SHARED.ADD R9, [RZ+0x2], R0", 4);
    misaligned("CAS.GLOBAL R9, [R2+0x1], R0, R0", 4);
}

#[test]
fn of_lanes_that_store_to_one_address_the_highest_stays() {
    let code = "S2R.LANEID R0\nLDC.B32 R2, [RZ]\nST.GLOBAL.B32 [R2], R0\nEXIT";
    assert_eq!(Setup::new(code).block([29, 1, 1]).run()[0][0], 28);
}

/// The oracle performs accesses of many lanes at once where it can. Accesses of four lanes at a time, one after the other, have the same results.
#[test]
fn accesses_of_all_lanes_are_those_of_a_few_lanes_after_the_others() {
    let in_fours = |code: &str| -> String {
        (0..8).map(|four| format!("ISETP.EQ.AND P1, R8, {four}, PT\n@P1 {code}\n")).collect()
    };
    // A local address that is the same in all lanes, and patterns with several lanes at one address, in any order.
    let patterns = ["MOV R4, 27", "IMAD.LO R4, PT, R0, 28, RZ, !PT", "IMAD.LO R4, PT, R0, 20, R0, !PT", "MOV R4, R0"];
    for (space, size, base) in [
        ("GLOBAL", 32, "LDC.B32 R3, [RZ+0x8]"),
        ("GENERIC", 32, "LDC.B32 R3, [RZ+0x8]"),
        ("GENERIC", 8, "LDC.B32 R3, [RZ+0x8]"),
        ("GLOBAL", 16, "LDC.B32 R3, [RZ+0x8]"),
        ("SHARED", 32, "MOV R3, 0"),
        ("SHARED", 8, "MOV R3, 0"),
        ("SHARED", 16, "MOV R3, 0"),
        ("LOCAL", 32, "MOV R3, 0"),
        ("LOCAL", 8, "MOV R3, 0"),
    ] {
        for (number, pattern) in patterns.iter().enumerate() {
            // The lanes that take part: all, and eight.
            for guard in ["MOV R7, 0", "LOP3.LUT192 R7, R0, 5, RZ"] {
                let start = format!(
                    "{pattern}\nLOP3.LUT192 R4, R4, {}, RZ\n{base}\nIADD R4, PT, R4, R3, !PT\nIMAD.LO R5, PT, R0, 0x1030507, R4, !PT\n\
                     {guard}\nSHR R8, R0, 2\nMOV R9, -1\nISETP.NE.AND P2, R7, 0, PT\n@P2 BRA over, join over\n",
                    0x7f & !(size / 8 - 1)
                );
                let kind = if size == 32 { "B32".to_owned() } else { format!("U{size}") };
                let (store, load) = (format!("ST.{space}.B{size} [R4], R5"), format!("LD.{space}.{kind} R9, [R4]"));
                let run = |code: String| {
                    let all = Setup::new(&storing(&format!("{start}{code}\nover:")));
                    all.shared(128).local(128).unwritten_shared().buffers(&[vec![0; 32], (0..32).collect()]).run()
                };
                let (together, apart) = (run(format!("{store}\n{load}")), run(in_fours(&store) + &in_fours(&load)));
                assert_eq!(together, apart, "{space}, {size} bits, pattern {number}");
                assert!(together[0].iter().any(|word| *word != u32::MAX && *word != 0), "{space}, {size}");
            }
        }
    }
}

#[test]
fn atomic_operations_do_what_ptx_says() {
    let atomic = |operation: &str, start: u32, operand: u32| {
        let code = format!(
            "S2R.LANEID R0\nLDC.B32 R2, [RZ]\nMOV R3, {operand}\nATOM.GLOBAL.{operation} R9, [R2], R3\nST.GLOBAL.B32 [R2+0x4], R9\nEXIT"
        );
        let words = Setup::new(&code).block([1, 1, 1]).buffers(&[vec![start, 0]]).run().remove(0);
        assert_eq!(words[1], start);
        words[0]
    };
    let minus = |n: u32| n.wrapping_neg();
    let cases = [
        ("ADD", 7, minus(9), minus(2)),
        ("MIN.U32", 7, minus(9), 7),
        ("MIN.S32", 7, minus(9), minus(9)),
        ("MAX.U32", 7, minus(9), minus(9)),
        ("MAX.S32", 7, minus(9), 7),
        ("INC", 7, 7, 0),
        ("INC", 6, 7, 7),
        ("DEC", 0, 5, 5),
        ("DEC", 6, 5, 5),
        ("DEC", 5, 5, 4),
        ("AND", 12, 10, 8),
        ("OR", 12, 10, 14),
        ("XOR", 12, 10, 6),
        ("EXCH", 12, 10, 10),
        ("ADD.F32", 1.5f32.to_bits(), 2.25f32.to_bits(), 3.75f32.to_bits()),
        // Subnormals: flushed in global memory.
        ("ADD.F32", 1, 1, 0),
    ];
    for (operation, start, operand, expected) in cases {
        assert_eq!(atomic(operation, start, operand), expected, "{operation} {start} {operand}");
    }
    let shared = "MOV R3, 1\nST.SHARED.B32 [RZ], R3\nATOM.SHARED.ADD.F32 RZ, [RZ], R3\nLD.SHARED.B32 R9, [RZ]";
    assert_eq!(Setup::new(&storing(shared)).block([1, 1, 1]).shared(4).run()[0][0], 2);
}

#[test]
fn lanes_perform_an_atomic_operation_in_ascending_order() {
    let code = storing("LDC.B32 R3, [RZ+0x8]\nMOV R4, 10\nATOM.GLOBAL.ADD R9, [R3], R4");
    let words = Setup::new(&code).buffers(&[vec![0; 32], vec![5]]).run();
    assert_eq!(words[0], (0..32).map(|i| 5 + 10 * i).collect::<Vec<u32>>());
    assert_eq!(words[1], [325]);
    // Compare and swap: lane i swaps i for i + 1.
    let code = storing("LDC.B32 R3, [RZ+0x8]\nIADD R4, PT, R0, 1, !PT\nCAS.GLOBAL R9, [R3], R0, R4");
    let words = Setup::new(&code).buffers(&[vec![0; 32], vec![0]]).run();
    assert_eq!((words[0].clone(), words[1][0]), ((0..32).collect(), 32));
}

/// Two warps; `first` is warp 0's code, `second` warp 1's; R3 is 0 in warp 0 and 4 in warp 1, R1 is 0.
fn two_warps(first: &str, second: &str) -> Setup {
    let code = format!(
        "MOV R1, 0\nS2R.WARPID R3\nISETP.EQ.AND P0, R3, 0, PT\nSHL R3, R3, 2\n@!P0 BRA second, join end\n{first}\nBRA end, join none\n\
         second:\n{second}\nend:\nEXIT"
    );
    Setup::new(&code).block([64, 1, 1]).shared(256)
}

#[test]
fn races_between_warps_name_both_accesses() {
    let race = |first: &str, second: &str| match two_warps(first, second).fault_kind() {
        FaultKind::SharedRace { access, other, other_warp, other_line, .. } => (access, other, other_warp, other_line),
        kind => panic!("{kind}"),
    };
    let write = "ST.SHARED.B32 [R1], R3";
    let (load, store) = (Access::Load, Access::Store);
    assert_eq!(race(write, "LD.SHARED.B32 R4, [R1]"), (load, store, 0, 105));
    assert_eq!(race(write, write), (store, store, 0, 105));
    assert_eq!(
        race("ST.SHARED.B32 [R1], R3\nBAR.ID0 RZ\nLD.SHARED.B32 R4, [R1]", "BAR.ID0 RZ\nST.SHARED.B32 [R1], R3"),
        (store, load, 0, 107)
    );
    assert_eq!(race("ST.SHARED.B16 [R1], R3", "LD.SHARED.U8 R4, [R1+0x1]").0, load);
}

#[test]
fn what_is_no_race_passes() {
    let write = "ST.SHARED.B32 [R1], R3";
    // A barrier between them; the same value; different bytes of a word; atomic operations; the same warp.
    two_warps(&format!("{write}\nBAR.ID0 RZ"), "BAR.ID0 RZ\nLD.SHARED.B32 R4, [R1]").run();
    two_warps("ST.SHARED.B32 [R1], R1", "ST.SHARED.B32 [R1], R1").run();
    two_warps("ST.SHARED.B8 [R1+0x1], R3", "ST.SHARED.B8 [R1+0x2], R3").run();
    let atomic = "BAR.ID0 RZ\nATOM.SHARED.ADD RZ, [R1], R3";
    two_warps(&format!("{write}\n{atomic}"), atomic).run();
    two_warps(&format!("{write}\nLD.SHARED.B32 R4, [R1]\n{write}"), "NOP").run();
    // But a later store of another value by the other warp is one.
    let both = "ST.SHARED.B32 [R1], R1";
    assert!(matches!(two_warps(both, &format!("{both}\n{write}")).fault_kind(), FaultKind::SharedRace { .. }));
}

#[test]
fn warps_that_synchronise_by_memory_do_not_race() {
    // Warp 0 writes a word and then raises a flag; warp 1 waits for the flag and reads the word.
    let run = |fence: &str| {
        let first = format!("MOV R3, 1\nST.SHARED.B32 [RZ+0x4], R0\n{fence}\nATOM.SHARED.EXCH RZ, [RZ], R3");
        let second = format!(
            "again:\nATOM.SHARED.ADD R4, [RZ], RZ\nISETP.EQ.AND P1, R4, 0, PT\n@P1 BRA again, join over\nover:\n{fence}\nLD.SHARED.B32 R9, [RZ+0x4]"
        );
        two_warps(&first, &second).unwritten_shared().try_run().0.map(|_| ()).map_err(|fault| fault.kind)
    };
    assert!(matches!(run(""), Err(FaultKind::SharedRace { .. })));
    assert_eq!(run("MEMBAR.CTA"), Ok(()));
}

#[test]
fn uninitialised_shared_memory_is_noticed_by_the_byte() {
    let run = |code: &str| Setup::new(&storing(code)).block([1, 1, 1]).shared(16).try_run().0;
    run("ST.SHARED.B8 [RZ+0x5], R0\nLD.SHARED.U8 R9, [RZ+0x5]").unwrap();
    let fault = run("ST.SHARED.B8 [RZ+0x5], R0\nLD.SHARED.U16 R9, [RZ+0x4]").unwrap_err();
    assert_eq!(fault.kind, FaultKind::UninitialisedShared { address: 4 });
    let fault = run("ATOM.SHARED.ADD R9, [RZ], R0").unwrap_err();
    assert_eq!(fault.kind, FaultKind::UninitialisedShared { address: 0 });
    // The next block starts with nothing written again.
    let code =
        format!("{THREAD}\nISETP.NE.AND P0, R1, 0, PT\n@!P0 ST.SHARED.B32 [RZ], R0\nLD.SHARED.B32 R9, [RZ]\nEXIT");
    let fault = Setup::new(&code).grid([2, 1, 1]).block([1, 1, 1]).shared(16).fault();
    assert_eq!((fault.block, fault.kind), ([1, 0, 0], FaultKind::UninitialisedShared { address: 0 }));
}

/// Where it is allowed, a read of shared memory that nothing has written gives zero, in every block.
#[test]
fn shared_memory_that_nothing_has_written_may_be_read() {
    let code =
        "ST.SHARED.B8 [RZ+0x5], R0\nLD.SHARED.B32 R8, [RZ+0x4]\nATOM.SHARED.ADD R9, [RZ], R0\nIADD R9, PT, R9, R8, !PT";
    let setup = Setup::new(&storing(&format!("MOV R0, 7\n{code}"))).block([1, 1, 1]).shared(16).unwritten_shared();
    let (result, buffers) = setup.try_run();
    result.unwrap();
    assert_eq!(buffers[0][0], 0x700);
    let code =
        format!("{THREAD}\nISETP.NE.AND P0, R1, 0, PT\n@!P0 ST.SHARED.B32 [RZ], R0\nLD.SHARED.B32 R9, [RZ]\nEXIT");
    Setup::new(&code).grid([2, 1, 1]).block([1, 1, 1]).shared(16).unwritten_shared().try_run().0.unwrap();
}

#[test]
fn buffers_lie_where_they_are_told_in_ascending_order() {
    let mut memory = Memory::default();
    let own = memory.add_at("own", &[0; 512], Some(0x7FFF_FF00)).unwrap();
    let next = memory.add("next", &[0; 4]).unwrap();
    let [own, next] = [own, next].map(|index| memory.buffer(index).address());
    assert_eq!((own, next), (0x7FFF_FF00, 0x8001_0100));
    let taken = memory.add_at("below", &[0; 4], Some(0x8001_0200)).unwrap_err();
    assert_eq!(
        taken.to_string(),
        "its address is 0x80010200, but after the buffers before it the next free address is 0x80020200"
    );
    assert!(memory.add_at("last", &[0; 256], Some(0xFFFE_FF00)).is_ok());
    let full = memory.add("none", &[0; 4]).unwrap_err();
    assert_eq!(full.to_string(), "a buffer of 4 bytes does not fit: all buffers have to end 64 KiB below 4 GiB");
}

#[test]
fn buffers_are_found_by_address_and_copied() {
    use std::sync::atomic::Ordering::Relaxed;
    let mut memory = Memory::default();
    memory.add("one", &[1, 2, 3, 4, 5]).unwrap();
    memory.add("two", &[0; 256]).unwrap();
    let [one, two] = memory.buffers() else { panic!("two buffers") };
    let name = |address: u32| memory.buffer_below(address).map(|buffer| buffer.name().to_owned());
    assert_eq!(name(one.address() - 1), None);
    assert_eq!(name(one.address()).as_deref(), Some("one"));
    assert_eq!(name(two.address() - 1).as_deref(), Some("one"), "behind its end");
    assert_eq!(name(u32::MAX).as_deref(), Some("two"));
    assert_eq!(one.words().iter().map(|word| word.load(Relaxed)).collect::<Vec<_>>(), [0x0403_0201, 5]);
    let copy = memory.clone();
    two.words()[3].store(7, Relaxed);
    assert_eq!((copy.buffers()[1].words()[3].load(Relaxed), copy.buffers()[0].words()[1].load(Relaxed)), (0, 5));
    assert_eq!((copy.buffers()[1].address(), copy.buffers()[1].size()), (two.address(), 256));
}
