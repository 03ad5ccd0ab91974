//! Measures the speed of the oracle in million thread-instructions a second, on programs that each do one kind of work.

use std::num::NonZeroUsize;
use std::time::Instant;

use gpurf_isa::image::Kernel;
use gpurf_oracle::{Geometry, Launch, Memory, Options, Oracle, Program};

/// Loop bodies; R0 is the thread's number, R2 the address of its word.
const BODIES: [(&str, &str); 6] = [
    (
        "integers",
        "IADD R4, PT, R4, R5, !PT\nLOP3.LUT150 R5, R4, R6, R0\nIMAD.LO R6, PT, R5, 3, R4, !PT\nSHF.L.WRAP R7, R6, 7, R6",
    ),
    ("fused multiply-add", "FFMA R4, R5, R6, R4\nFFMA R5, R6, R7, R5\nFFMA R6, R4, R5, R6\nFADD R7, R4, R6"),
    ("rounding toward zero", "FFMA.RZ R4, R5, R6, R4\nFADD.RZ R5, R4, R5\nFMUL.RZ R6, R4, R5\nFFMA.RZ R7, R4, R5, R6"),
    ("approximate functions", "MUFU.EX2 R4, R5\nMUFU.RCP R5, R4\nMUFU.SIN R6, R5\nMUFU.LG2 R7, R4"),
    (
        "global memory",
        "LD.GLOBAL.B32 R4, [R2]\nIADD R4, PT, R4, 1, !PT\nST.GLOBAL.B32 [R2], R4\nLD.GLOBAL.B32 R5, [R2]",
    ),
    (
        "shared memory",
        "LD.SHARED.B32 R4, [R3]\nIADD R4, PT, R4, 1, !PT\nST.SHARED.B32 [R3], R4\nLD.SHARED.B32 R5, [R3]",
    ),
];

const BLOCKS: u32 = 64;
const THREADS: u32 = 256;

fn kernel(body: &str) -> Kernel {
    let text = format!(
        "S2R.TID.X R0\nS2R.CTAID.X R1\nSHL R3, R0, 2\nST.SHARED.B32 [R3], R0\nIMAD.LO R0, PT, R1, {THREADS}, R0, !PT\nLDC.B32 R2, [RZ]\n\
         IMAD.LO R2, PT, R0, 4, R2, !PT\nI2F R5, R0\nMOV R6, 0x3f7fff00\nMOV R7, R6\nMOV R8, 500\n\
         loop:\n{body}\n{body}\n{body}\n{body}\nIADD R8, PT, R8, -1, !PT\nISETP.NE.AND P0, R8, 0, PT\n@P0 BRA loop, join out\nout:\n\
         ST.GLOBAL.B32 [R2], R7\nEXIT"
    );
    let code = gpurf_isa::assemble(&text).expect("the programs above are written in the assembler's syntax");
    let static_shared = 4 * THREADS;
    Kernel { name: "speed".into(), lines: vec![0; code.len()], code, registers: 16, static_shared, ..Kernel::default() }
}

fn measure(kernel: &Kernel, threads: NonZeroUsize) -> f64 {
    let program = Program::new(kernel, "speed").expect("registers and targets are in range");
    let mut memory = Memory::default();
    let buffer = memory.add("words", &vec![0; (4 * BLOCKS * THREADS) as usize]).expect("a small buffer fits");
    let constant = u64::from(memory.buffer(buffer).address()).to_le_bytes();
    let geometry = Geometry { grid: [BLOCKS, 1, 1], block: [THREADS, 1, 1], dynamic_shared: 0 };
    let launch = Launch { program: &program, geometry, constant: &constant };
    let mut oracle = Oracle::new(Options { threads, ..Options::default() });
    let start = Instant::now();
    let mut done = 0;
    while start.elapsed().as_secs_f64() < 1.0 {
        done += oracle.run(&launch, &memory).expect("the programs are right").counts.thread_instructions;
    }
    done as f64 / start.elapsed().as_secs_f64() / 1e6
}

fn main() {
    let all = Options::default().threads;
    println!("million thread-instructions a second   1 thread   {all} threads");
    for (name, body) in BODIES {
        let kernel = kernel(body);
        println!("{name:37}{:10.0}{:12.0}", measure(&kernel, NonZeroUsize::MIN), measure(&kernel, all));
    }
}
