//! Programs in assembly, and launches of them.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::num::NonZeroUsize;

use gpurf_isa::image::Kernel;
use gpurf_oracle::{Fault, FaultKind, Geometry, Launch, Memory, Options, Oracle, Program, Statistics};

/// A launch of an assembled program; its buffers' addresses are its parameters, 8 bytes each from address 0 on.
pub struct Setup {
    pub code: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub local: u32,
    pub buffers: Vec<Vec<u32>>,
    pub threads: usize,
    pub step_limit: u64,
    pub unwritten_shared: bool,
}

impl Setup {
    pub fn new(code: &str) -> Self {
        Self {
            code: code.into(),
            grid: [1; 3],
            block: [32, 1, 1],
            shared: 0,
            local: 0,
            buffers: vec![vec![0; 32]],
            threads: 1,
            step_limit: 100_000_000,
            unwritten_shared: false,
        }
    }

    pub fn grid(mut self, grid: [u32; 3]) -> Self {
        self.grid = grid;
        self
    }

    pub fn block(mut self, block: [u32; 3]) -> Self {
        self.block = block;
        self
    }

    pub fn shared(mut self, bytes: u32) -> Self {
        self.shared = bytes;
        self
    }

    pub fn local(mut self, bytes: u32) -> Self {
        self.local = bytes;
        self
    }

    pub fn buffers(mut self, buffers: &[Vec<u32>]) -> Self {
        self.buffers = buffers.to_vec();
        self
    }

    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    pub fn unwritten_shared(mut self) -> Self {
        self.unwritten_shared = true;
        self
    }

    pub fn step_limit(mut self, limit: u64) -> Self {
        self.step_limit = limit;
        self
    }

    pub fn kernel(&self) -> Kernel {
        let code = gpurf_isa::assemble(&self.code).unwrap();
        Kernel {
            name: "test".into(),
            lines: (0..code.len() as u32).map(|pc| 100 + pc).collect(),
            code,
            registers: 32,
            static_shared: self.shared,
            local_bytes: self.local,
            ..Kernel::default()
        }
    }

    /// Calls `f` with the launch, its memory and an oracle; returns the result of `f`, and the buffers afterwards.
    pub fn with<T>(&self, f: impl FnOnce(&mut Oracle, &Launch<'_>, &Memory) -> T) -> (T, Vec<Vec<u32>>) {
        let program = Program::new(&self.kernel(), "test.ptx").unwrap();
        let mut memory = Memory::default();
        let mut constant = Vec::new();
        let indices: Vec<_> = self
            .buffers
            .iter()
            .enumerate()
            .map(|(i, words)| {
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                let index = memory.add(&format!("buffer{i}"), &bytes).unwrap();
                constant.extend(u64::from(memory.buffer(index).address()).to_le_bytes());
                index
            })
            .collect();
        let geometry = Geometry { grid: self.grid, block: self.block, dynamic_shared: 0 };
        let launch = Launch { program: &program, geometry, constant: &constant };
        let threads = NonZeroUsize::new(self.threads).unwrap();
        let options = Options {
            threads,
            step_limit: self.step_limit,
            unwritten_shared: self.unwritten_shared,
            ..Options::default()
        };
        let result = f(&mut Oracle::new(options), &launch, &memory);
        let words = |index| memory.read(index).chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect();
        (result, indices.into_iter().map(words).collect())
    }

    pub fn try_run(&self) -> (Result<Statistics, Box<Fault>>, Vec<Vec<u32>>) {
        self.with(|oracle, launch, memory| oracle.run(launch, memory))
    }

    /// Runs with the check for undefined reads. The fault is the first read of a value that the thread has not written, or another one.
    pub fn checked(&self) -> Result<Statistics, Box<Fault>> {
        self.with(|oracle, launch, memory| oracle.run_checked(launch, memory)).0
    }

    /// The buffers after a run without fault.
    pub fn run(&self) -> Vec<Vec<u32>> {
        let (result, buffers) = self.try_run();
        result.unwrap();
        buffers
    }

    /// The fault of a run.
    pub fn fault(&self) -> Fault {
        *self.try_run().0.unwrap_err()
    }

    pub fn fault_kind(&self) -> FaultKind {
        self.fault().kind
    }
}

/// Code that leaves the flat thread number in R0, the address of the thread's word of the first buffer in R2, over all blocks of a grid in x.
pub const THREAD: &str = "
    S2R.TID.X R0
    S2R.CTAID.X R1
    S2R.NTID.X R2
    IMAD.LO R0, PT, R1, R2, R0, !PT
    LDC.B32 R2, [RZ]
    IMAD.LO R2, PT, R0, 4, R2, !PT
";

/// [`THREAD`], then `code`, then a store of R9 to the thread's word.
pub fn storing(code: &str) -> String {
    format!("{THREAD}\n{code}\nST.GLOBAL.B32 [R2], R9\nEXIT")
}
