//! Compiles PTX and runs it in the oracle.

use gpurf_compiler::{AddressBits, Compiled, Options as CompilerOptions, Schedule, compile};
use gpurf_oracle::host::relocate;
use gpurf_oracle::marks::{MarkJudge, Scope};
use gpurf_oracle::power::PowerJudge;
use gpurf_oracle::{BufferIndex, Geometry, Issue, Launch, Memory, Observer, Options, Oracle, Program};
use std::collections::HashMap;

/// An oracle whose registers do not begin as zero: their initial contents must make no difference.
const DIRTY: Options = Options {
    threads: std::num::NonZeroUsize::MIN,
    step_limit: 1_000_000_000,
    stop: None,
    meter: None,
    first_value: 0xdead_beef,
    unwritten_shared: false,
};

/// Compiles, or panics with the compiler's message.
pub fn compiled(source: &str, registers: u16) -> Compiled {
    compiled_with(source, &CompilerOptions { registers, ..Default::default() })
}

/// Compiles with these options.
pub fn compiled_with(source: &str, options: &CompilerOptions) -> Compiled {
    compile(source, "test.ptx", options).unwrap_or_else(|e| panic!("{e}\n{source}"))
}

/// Runs the first kernel with one block of `threads` threads, and judges the marks of its code. Its parameters are the addresses of the inputs and of
/// a result of `bytes` bytes. Returns the result; asserts that it is the same for each order of instructions, and with addresses of 32 bits.
pub fn run(source: &str, registers: u16, inputs: &[Vec<u8>], bytes: usize, threads: u32) -> Vec<u8> {
    run_on(source, registers, threads, |memory| {
        let mut parameters = Vec::new();
        let mut result = None;
        for data in inputs.iter().chain([&vec![0; bytes]]) {
            let buffer = memory.add("buffer", data).expect("there is room");
            parameters.push(memory.buffer(buffer).address().into());
            result = Some(buffer);
        }
        (parameters, result.expect("there is a result"))
    })
}

/// Runs the first kernel as [`run`] does, on buffers that `fill` puts into memory. It returns the parameters and the buffer that has the result.
pub fn run_on(
    source: &str,
    registers: u16,
    threads: u32,
    fill: impl Fn(&mut Memory) -> (Vec<u64>, BufferIndex),
) -> Vec<u8> {
    let result = |options| run_with(options, source, &fill, threads);
    let options = CompilerOptions { registers, power_threshold: POWER_THRESHOLD, ..Default::default() };
    let plain = result(options);
    for schedule in [Schedule::Tree, Schedule::Latency] {
        let ordered = CompilerOptions { schedule, ..options };
        assert_eq!(result(ordered), plain, "{} with {registers} registers\n{source}", schedule.name());
    }
    let narrow = CompilerOptions { address_bits: AddressBits::Narrow, ..options };
    assert_eq!(result(narrow), plain, "addresses of 32 bits with {registers} registers\n{source}");
    plain
}

/// Observes marks and power states.
struct Judges(MarkJudge, PowerJudge);

impl Observer for Judges {
    const TRACES: bool = true;

    fn issue(&mut self, at: &Issue<'_>) {
        self.0.issue(at);
        self.1.issue(at);
    }
}

/// A small threshold, so that registers stay ON only briefly and many change to another state.
const POWER_THRESHOLD: u8 = 2;

fn run_with(
    options: CompilerOptions,
    source: &str,
    fill: &impl Fn(&mut Memory) -> (Vec<u64>, BufferIndex),
    threads: u32,
) -> Vec<u8> {
    let image = compiled_with(source, &options).image;
    let mut kernel = image.kernels[0].clone();
    let mut memory = Memory::default();
    let (parameters, result) = fill(&mut memory);
    let constant: Vec<u8> = parameters.iter().flat_map(|parameter| parameter.to_le_bytes()).collect();
    let variables: HashMap<&str, u64> = image
        .symbols
        .iter()
        .map(|symbol| {
            let variable = memory.add(&symbol.name, &vec![0; symbol.bytes as usize]).expect("there is room");
            (symbol.name.as_str(), memory.buffer(variable).address().into())
        })
        .collect();
    relocate(&mut kernel, &|name: &str| variables.get(name).copied().ok_or(())).expect("they are in global memory");
    let program = Program::new(&kernel, "test.ptx").unwrap_or_else(|e| panic!("{e}\n{source}"));
    let geometry = Geometry { grid: [1, 1, 1], block: [threads, 1, 1], dynamic_shared: 0 };
    let launch = Launch { program: &program, geometry, constant: &constant };
    let mut judges = Judges(MarkJudge::new(Scope::Lanes), PowerJudge::new(kernel.registers));
    Oracle::new(DIRTY).run_observed(&launch, &memory, &mut judges).unwrap_or_else(|e| panic!("{e}\n{source}"));
    assert_eq!(judges.0.finish().0, [], "marks\n{source}");
    assert_eq!(judges.1.finish().0, [], "power states\n{source}");
    memory.read(result)
}

/// Runs one thread of a kernel without parameters. Returns the text of its fault.
pub fn fault(source: &str, options: &CompilerOptions) -> String {
    let image = compiled_with(source, options).image;
    let program = Program::new(&image.kernels[0], "test.ptx").unwrap_or_else(|e| panic!("{e}"));
    let geometry = Geometry { grid: [1; 3], block: [1, 1, 1], dynamic_shared: 0 };
    let launch = Launch { program: &program, geometry, constant: &[] };
    Oracle::new(Options::default()).run(&launch, &Memory::default()).expect_err("it faults").to_string()
}

/// A small random generator (xorshift) with the same results on all machines.
pub struct Random(pub u64);

impl Random {
    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 11) as usize % n
    }

    /// A random word; often an edge case.
    pub fn word(&mut self) -> u32 {
        const EDGES: [u32; 16] =
            [0, 1, 2, 3, 7, 31, 32, 33, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x7fff_ffff, 0x8000_0000, u32::MAX];
        match self.below(4) {
            0 => EDGES[self.below(EDGES.len())],
            1 => (self.bits() >> 40) as u32 & 0xff,
            _ => (self.bits() >> 20) as u32,
        }
    }
}

/// Words as bytes.
pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Bytes as words.
pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().expect("four bytes"))).collect()
}
