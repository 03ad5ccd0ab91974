//! Clocks: each read stays where the PTX has it, and no read is added or removed.

use crate::common::compiled_with;
use gpurf_compiler::{Options, Schedule};
use gpurf_isa::Op;
use gpurf_isa::modifiers::Special;
use gpurf_oracle::{Geometry, Launch, Memory, Oracle, Program, Recording, Unobserved, WarpId};

fn kernel(body: &str) -> String {
    format!(
        ".version 9.5\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p0)\n{{\n\
         .reg .pred %p<4>; .reg .b32 %r<64>; .reg .b64 %l<64>;\nld.param.u64 %l60, [p0];\n{body}\nret;\n}}\n"
    )
}

/// The code of a kernel, for each order of instructions, with few registers and with many.
fn all_codes(body: &str) -> impl Iterator<Item = (String, Vec<gpurf_isa::Instruction>, gpurf_isa::Image)> {
    let source = kernel(body);
    let options = [Schedule::None, Schedule::Tree, Schedule::Latency]
        .into_iter()
        .flat_map(|schedule| [16, 64].map(|registers| Options { registers, schedule, ..Options::default() }));
    options.map(move |options| {
        let image = compiled_with(&source, &options).image;
        (
            format!("{} with {} registers", options.schedule.name(), options.registers),
            image.kernels[0].code.clone(),
            image,
        )
    })
}

/// The words of 64 bits that a kernel of one thread stores at p0, when its reads of the time return these times.
fn stored(image: &gpurf_isa::Image, times: &[u64], words: usize) -> Vec<u64> {
    let mut memory = Memory::default();
    let buffer = memory.add("buffer", &vec![0; 8 * words]).unwrap();
    let constant = u64::from(memory.buffer(buffer).address()).to_le_bytes();
    let program = Program::new(&image.kernels[0], "test.ptx").unwrap();
    let geometry = Geometry { grid: [1; 3], block: [1; 3], dynamic_shared: 0 };
    let launch = Launch { program: &program, geometry, constant: &constant };
    let warp = WarpId { block: 0, warp: 0 };
    let recording = Recording { times: [(warp, times.to_vec())].into_iter().collect(), ..Recording::default() };
    Oracle::default().replay(&launch, &memory, &recording, &mut Unobserved).unwrap_or_else(|e| panic!("{e}"));
    memory.read(buffer).chunks(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

#[test]
fn each_name_is_its_word_of_the_time() {
    const TIME: u64 = 0x1234_5678_9abc_def0;
    let (low, high) = (TIME & 0xffff_ffff, TIME >> 32);
    for (name, bits, expected, reads) in [
        ("%clock", 32, low, 1),
        ("%clock_hi", 32, high, 1),
        ("%clock64", 64, TIME, 3),
        ("%globaltimer", 64, TIME, 3),
        ("%globaltimer_lo", 32, low, 1),
        ("%globaltimer_hi", 32, high, 1),
    ] {
        let register = if bits == 32 { "%r1" } else { "%l1" };
        let body = format!("mov.u{bits} {register}, {name}; st.global.u{bits} [%l60], {register};");
        for (what, _, image) in all_codes(&body) {
            assert_eq!(stored(&image, &vec![TIME; reads], 1), [expected], "{name}, {what}");
        }
    }
}

/// The upper word changes while the 64-bit time is read.
#[test]
fn the_whole_time_lies_between_its_first_read_and_its_last() {
    const UP: u64 = 1 << 32;
    for times in [
        [UP - 3, UP - 2, UP - 1],
        [UP - 2, UP - 1, UP],
        [UP - 1, UP, UP + 1],
        [UP, UP + 1, UP + 2],
        [5 * UP - 700, 5 * UP - 350, 5 * UP + 20],
        [u64::MAX - 2, u64::MAX - 1, u64::MAX],
    ] {
        for (what, _, image) in all_codes("mov.u64 %l1, %clock64; st.global.u64 [%l60], %l1;") {
            let [time] = stored(&image, &times, 1)[..] else { panic!("one word") };
            assert!((times[0]..=times[2]).contains(&time), "{time:#x} of {times:x?}, {what}");
            // If the upper word does not change, the time is that of the read in the middle.
            if times[0] >> 32 == times[2] >> 32 {
                assert_eq!(time, times[1], "{what}");
            }
        }
    }
}

fn reads_time(op: Op) -> bool {
    matches!(op, Op::S2r { source: Special::TimeLow | Special::TimeHigh })
}

#[test]
fn reads_are_neither_merged_nor_dropped() {
    let body = "mov.u32 %r1, %clock; mov.u32 %r2, %clock; sub.u32 %r3, %r2, %r1; st.global.u32 [%l60], %r3;
                mov.u32 %r4, %clock_hi; mov.u64 %l1, %clock64;";
    for (what, code, image) in all_codes(body) {
        assert_eq!(code.iter().filter(|i| reads_time(i.op)).count(), 2 + 1 + 3, "{what}");
        assert_eq!(stored(&image, &[100, 130, 0, 0, 0, 0], 1), [30], "{what}");
    }
}

/// Two reads around independent instructions. Instructions before and after the reads could be moved between them, too.
#[test]
fn nothing_passes_a_read() {
    let body = "ld.global.u32 %r1, [%l60]; ld.global.u32 %r2, [%l60+4];
                mul.lo.u32 %r3, %r1, 3;
                mov.u32 %r10, %clock;
                xor.b32 %r4, %r1, 5; xor.b32 %r5, %r2, 6; ld.global.u32 %r6, [%l60+8];
                mov.u32 %r11, %clock;
                mul.lo.u32 %r7, %r2, 7; add.u32 %r8, %r4, %r5; add.u32 %r8, %r8, %r6; add.u32 %r8, %r8, %r7;
                add.u32 %r8, %r8, %r3; sub.u32 %r9, %r11, %r10; add.u32 %r8, %r8, %r9; st.global.u32 [%l60+12], %r8;";
    for (what, code, _) in all_codes(body) {
        let clocks: Vec<usize> = (0..code.len()).filter(|&i| reads_time(code[i].op)).collect();
        let [first, second] = clocks[..] else { panic!("{what}: {clocks:?}") };
        let count = |part: &[gpurf_isa::Instruction], is: fn(Op) -> bool| part.iter().filter(|i| is(i.op)).count();
        let [before, between, behind] = [&code[..first], &code[first + 1..second], &code[second + 1..]];
        let kinds: [fn(Op) -> bool; 3] = [
            |op| matches!(op, Op::Ld { space: gpurf_isa::modifiers::Space::Global, .. }),
            |op| matches!(op, Op::Imad { .. }),
            |op| matches!(op, Op::Lop3 { .. }),
        ];
        let counts = [before, between, behind].map(|part| kinds.map(|is| count(part, is)));
        assert_eq!(counts, [[2, 1, 0], [1, 0, 2], [0, 1, 0]], "{what}");
    }
}

/// With more times than registers, some are spilled; none of them is read again.
#[test]
fn a_time_is_not_read_again_where_registers_are_short() {
    const TIMES: usize = 24;
    let reads: String = (0..TIMES).map(|n| format!("mov.u32 %r{n}, %clock;\n")).collect();
    let stores: String = (0..TIMES).map(|n| format!("st.global.u32 [%l60+{}], %r{n};\n", 8 * n)).collect();
    let times: Vec<u64> = (0..TIMES as u64).map(|n| 1000 + n * n).collect();
    for (what, code, image) in all_codes(&format!("{reads}{stores}")) {
        assert_eq!(code.iter().filter(|i| reads_time(i.op)).count(), TIMES, "{what}");
        assert_eq!(stored(&image, &times, TIMES), times, "{what}");
    }
}

/// A guarded read of the 64-bit time changes the register only in the lanes whose guard is true.
#[test]
fn a_read_may_have_a_guard() {
    let body = "mov.u64 %l1, 7; ld.global.u32 %r1, [%l60]; setp.ne.u32 %p1, %r1, 0; @%p1 mov.u64 %l1, %clock64;
                @!%p1 mov.u64 %l2, %clock64; @%p1 mov.u64 %l2, 9; st.global.u64 [%l60], %l1; st.global.u64 [%l60+8], %l2;";
    for (what, _, image) in all_codes(body) {
        assert_eq!(stored(&image, &[5, 5, 5], 2), [7, 5], "{what}");
    }
}
