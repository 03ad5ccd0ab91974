//! The equations on graphs, the thesis's tables and figures, random programs under the oracle's judges, and the judges' faults for wrong passes.

mod equations;
mod figures;
mod kernels;
mod mutations;
pub mod random;

use super::*;
use crate::{Compiled, Options, compile};
use gpurf_oracle::scratchpad::{Bytes, Placed, Rule, ScratchpadCounts, ScratchpadFault, ScratchpadJudge, overlaps};
use gpurf_oracle::{Geometry, Launch, Memory, Oracle, Program};
use std::collections::HashMap as Map;

/// A judged run.
#[derive(Debug)]
pub struct Run {
    /// Faults of threads and marks.
    pub faults: Vec<ScratchpadFault>,
    /// A fault in the layout.
    pub overlap: Option<String>,
    /// Why the oracle ended the run.
    pub error: Option<String>,
    pub counts: ScratchpadCounts,
    /// The bytes that the program wrote.
    pub result: Vec<u8>,
    /// Instructions executed, summed over threads.
    pub issued: u64,
}

/// Compiles PTX.
pub fn compiled(source: &str, scratchpad: ScratchpadOptions) -> Compiled {
    let options = Options { scratchpad, registers: 32, ..Options::default() };
    compile(source, "test.ptx", &options).unwrap_or_else(|e| panic!("{e}\n{source}"))
}

/// The places of a kernel's variables, for the judge.
fn placed(scratchpad: &Scratchpad) -> Vec<Placed> {
    let place = |v: &SharedVariable| Placed { at: v.at, bytes: v.bytes, align: v.align };
    scratchpad.variables.iter().map(place).collect()
}

/// The bytes that each instruction may access, for the judge.
fn allowed(scratchpad: &Scratchpad) -> Map<u32, Vec<Bytes>> {
    let bytes = |v: &SharedVariable| {
        let at = u64::from(v.at);
        at..v.bytes.map_or(u64::MAX, |bytes| at + u64::from(bytes))
    };
    let of = |set: &Variables| {
        let all = scratchpad.variables.iter().enumerate();
        all.filter(|(n, _)| set.contains(*n)).map(|(_, v)| bytes(v)).collect()
    };
    scratchpad.accesses.iter().map(|(pc, set)| (*pc, of(set))).collect()
}

/// Number of blocks of a run.
pub const BLOCKS: u32 = 2;

/// Runs the first kernel under the judges, on blocks of `threads` threads. Its parameter is the address of a buffer of `bytes` bytes.
pub fn run(compiled: &Compiled, private: u32, rule: Rule, threads: u32, dynamic: u32, bytes: usize) -> Run {
    let (kernel, scratchpad) = (&compiled.image.kernels[0], &compiled.scratchpad[0]);
    let mut memory = Memory::default();
    let buffer = memory.add("buffer", &vec![0; bytes]).expect("there is room");
    let constant = u64::from(memory.buffer(buffer).address()).to_le_bytes();
    let program = Program::new(kernel, "test.ptx").unwrap_or_else(|e| panic!("{e}"));
    let geometry = Geometry { grid: [BLOCKS, 1, 1], block: [threads, 1, 1], dynamic_shared: dynamic };
    let launch = Launch { program: &program, geometry, constant: &constant };
    let mut judge = ScratchpadJudge::new(private, rule).with_variables(allowed(scratchpad));
    let ran = Oracle::default().run_observed(&launch, &memory, &mut judge);
    let (faults, counts) = judge.finish();
    Run {
        faults,
        overlap: overlaps(&placed(scratchpad), kernel.static_shared),
        issued: ran.as_ref().map_or(0, |ran| ran.counts.thread_instructions),
        error: ran.err().map(|fault| fault.to_string()),
        counts,
        result: memory.read(buffer),
    }
}
