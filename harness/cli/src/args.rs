//! The command line.

mod bench;
mod compare;
mod exec;
mod golden;
mod levels;
mod regress;
mod report;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use gpurf_blocks::config::DEFAULT_PRESET;
use gpurf_compiler::marks::power::MOST as POWER_THRESHOLD;
use gpurf_compiler::scratchpad::{Layout, Relssp};
use gpurf_compiler::{RegisterOrder, Schedule, Textures, WideAccesses};
use gpurf_isa::machine::STACK_LIMIT;
use gpurf_lockstep::HISTORY;
use gpurf_machine::trace::Format;
use gpurf_regress::regression::Shard;
use verilated::Simulator;

use regress::shard;

pub use bench::Bench;
pub use compare::Compare;
pub use exec::RunProgram;
pub use golden::{BlessGoldens, CheckGoldens, Golden, Goldens, TraceGolden};
pub use levels::Levels;
pub use regress::Regress;
pub use report::ReportResults;

/// Checks register-file RTL against its Rust reference model in every clock cycle.
#[derive(Debug, Parser)]
#[command(name = "gpurf", version, about, after_help = EXIT_STATUS, disable_help_subcommand = true)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_STATUS: &str = "\
Exit status: 0 equal or passed; 1 diverged, or an assertion or a check failed; 2 bad input or usage; \
3 a tool is missing or a build failed; 130 interrupted.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the blocks
    Blocks(Listing),
    /// List the presets
    Presets(Listing),
    /// Run RTL and model in lockstep
    Cosim(Cosim),
    /// Run the kernels of a launch manifest
    Run(RunKernels),
    /// Compare two machines on the same kernels: cycles, stalls, accesses, energy
    Compare(Compare),
    /// Run a CUDA application: its launches run on an engine
    Exec(RunProgram),
    /// Write a random program as a launch manifest
    Program(WriteProgram),
    /// Write SystemVerilog that compares a module of yours with the model, in your own testbench
    Testbench(WriteTestbench),
    /// Compile CUDA or PTX to machine code
    Compile(Compile),
    /// Open a failure's waveform; without a display, print the command that opens it
    Wave(Wave),
    /// Put faults into the RTL and check that lockstep finds them
    Mutate(Mutate),
    /// Flip every bit of the RTL's state and check that lockstep finds each flip
    Audit(Audit),
    /// Compare the model's behaviour with its goldens, or accept new goldens
    #[command(subcommand)]
    Golden(Golden),
    /// Run a test plan of thousands of cases: resumable, failures grouped by cause
    Regress(Regress),
    /// Measure the speed of lockstep, of plain Verilator and of the model
    Bench(Bench),
    /// Compare the papers' results with the model's
    Report(ReportResults),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// `gpurf blocks` and `gpurf presets`.
#[derive(Debug, Args)]
pub struct Listing {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Selects sizes and policies.
#[derive(Debug, Default, Args)]
pub struct Selection {
    /// Start from this preset
    #[arg(long, value_name = "NAME", conflicts_with = "config")]
    pub preset: Option<String>,
    /// Start from this TOML file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Override one value, e.g. mrf.banks=8
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl Selection {
    /// Whether nothing is selected.
    pub fn is_default(&self) -> bool {
        self.preset.is_none() && self.config.is_none() && self.set.is_empty()
    }
}

/// `gpurf cosim`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --block, --programs, --preset, --config or --set it runs the default suite: the SM of each design on kernels and random programs, every block in one variant, \
the register file in four shapes. --whole runs more kernels and programs of each SM, every block in each variant that changes its behaviour, and the register file at \
a selection of sizes in which every pair of values occurs. With --rtl or --rtl-list it runs all jobs of \
the whole suite that contain a replaced module or package, in every shape and under every policy that the suite has, and prints their number; with --block too, those of \
that block. --preset, --config and --set select one configuration in place of the suite's.")]
pub struct Cosim {
    /// Run this block (may be repeated)
    #[arg(long, value_name = "NAME")]
    pub block: Vec<String>,
    /// Sizes and policies
    #[command(flatten)]
    pub selection: Selection,
    /// Run the SM on the kernels of this launch manifest (may be repeated)
    #[arg(long, value_name = "LAUNCH.toml", conflicts_with_all = ["block", "all_shapes"])]
    pub kernel: Vec<PathBuf>,
    /// Keep a knob of the blocks' random inputs at a value, e.g. only=0x32 (may be repeated; `gpurf blocks --json` lists them)
    #[arg(long, value_name = "NAME=VALUE", value_parser = knob, requires = "block", conflicts_with = "kernel")]
    pub knob: Vec<(String, u32)>,
    /// Run the SM on N random programs
    #[arg(long, value_name = "N", value_parser = from_to::<u64>(1..=1_000_000), allow_negative_numbers = true, conflicts_with_all = ["block", "kernel", "all_shapes"])]
    pub programs: Option<u64>,
    /// Content of the random programs: a theme, or a TOML file (default: all themes in turn)
    #[arg(long, value_name = "THEME|FILE", requires = "programs")]
    pub weights: Option<String>,
    /// Cycles of each run of a block
    #[arg(long, value_name = "N", value_parser = cycles, allow_negative_numbers = true, conflicts_with_all = ["kernel", "programs"])]
    pub cycles: Option<u64>,
    /// Optimise the RTL's build for a long run: the build takes longer, the run two thirds of the time
    #[arg(long)]
    pub optimise: bool,
    /// Compile the SM's RTL with profile-guided optimisation, for runs of minutes: faster than with --optimise, and the build takes twice as long
    #[arg(long, conflicts_with_all = ["block", "all_shapes", "whole", "replay"])]
    pub train: bool,
    /// Seed of stimulus, memories and unreset state
    #[arg(long, value_name = "S", value_parser = number, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Run a reproducer: the inputs of a block (.json), or a program (.toml)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["block", "kernel", "programs", "preset", "config", "set", "knob", "cycles", "seed", "all_shapes", "whole"])]
    pub replay: Option<PathBuf>,
    /// RTL in place of the project's
    #[command(flatten)]
    pub rtl: Replacements,
    /// Run the whole suite: every variant of every block, whole runs
    #[arg(long, conflicts_with_all = ["preset", "config", "set", "block", "kernel", "programs", "all_shapes"])]
    pub whole: bool,
    /// Run the register file at every size it has
    #[arg(long, conflicts_with_all = ["preset", "config", "set"])]
    pub all_shapes: bool,
    /// Write failure folders into this folder (default: failures/ of the checkout)
    #[arg(long, value_name = "DIR")]
    pub failures: Option<PathBuf>,
    /// Keep the N cycles before a failure: the waveform begins with them, and a block's reproducer is searched for among them. They are run again
    /// when a run fails (docs/lockstep.md)
    #[arg(long, value_name = "N", value_parser = history, default_value_t = HISTORY, allow_negative_numbers = true)]
    pub history: u64,
    /// Print a row for each run, however many there are
    #[arg(long)]
    pub verbose: bool,
    /// Simulator of the RTL: cxxrtl (slang and Yosys) is slow, and is a check on Verilator
    #[arg(long, value_enum, default_value = "verilator")]
    pub simulator: SimulatorName,
    /// How to run and print
    #[command(flatten)]
    pub run: Run,
}

/// The simulators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SimulatorName {
    /// Verilator
    Verilator,
    /// CXXRTL
    Cxxrtl,
}

impl From<SimulatorName> for Simulator {
    fn from(name: SimulatorName) -> Self {
        match name {
            SimulatorName::Verilator => Self::Verilator,
            SimulatorName::Cxxrtl => Self::Cxxrtl,
        }
    }
}

/// RTL in place of the project's.
#[derive(Debug, Default, Args)]
pub struct Replacements {
    /// Put a file in place of a module's or a package's source (may be repeated)
    #[arg(long = "rtl", value_name = "MODULE=FILE", value_parser = replacement)]
    pub files: Vec<(String, PathBuf)>,
    /// Take modules and packages from a file list with +incdir+ and +define+
    #[arg(long = "rtl-list", value_name = "FILE")]
    pub list: Option<PathBuf>,
    /// Accept that this RTL lacks a register or net that lockstep compares (may be repeated)
    #[arg(long, value_name = "NAME")]
    pub allow_absent: Vec<String>,
}

/// Options of everything that runs jobs.
#[derive(Debug, Args)]
pub struct Run {
    /// Jobs that run in parallel (default: one for each processor); where there are at most half as many, each run in lockstep uses two threads
    #[arg(long, value_name = "N", value_parser = from_to::<u16>(1..=u16::MAX.into()), allow_negative_numbers = true)]
    pub jobs: Option<u16>,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub json: bool,
}

/// `gpurf run`.
#[derive(Debug, Args)]
#[command(after_help = "\
The functional engine computes results and checks the program: accesses out of bounds, races in shared memory, divergent barriers, hangs. It models no \
time and no register file, so sizes and policies do not change its results. The other engines run the SM cycle by cycle: its model, its RTL under \
Verilator, or both, compared in every cycle; the functional engine checks what each warp writes. A .cu file uses the .ptx file beside it, \
unless the .ptx file is older: then nvcc compiles the .cu file.")]
pub struct RunKernels {
    /// The launch manifest
    #[arg(value_name = "LAUNCH.toml")]
    pub manifest: PathBuf,
    /// Engine and options of the run
    #[command(flatten)]
    pub execution: Execution,
    /// Fail if a thread reads a register or local memory that it has not written (functional engine only)
    #[arg(long)]
    pub check_undefined: bool,
    /// Write each output buffer to DIR/BUFFER.bin, little-endian
    #[arg(long, value_name = "DIR")]
    pub dump: Option<PathBuf>,
    /// Record these cycles as a waveform
    #[arg(long, value_name = "FROM:TO", value_parser = window)]
    pub wave: Option<RangeInclusive<u64>>,
    /// Compare these cycles only: the model runs to the first of them alone, and the run ends after the last one; lockstep engine only
    /// (docs/lockstep.md)
    #[arg(long, value_name = "FROM:TO", value_parser = window, conflicts_with_all = ["part", "file", "dump", "accelwattch"])]
    pub compare: Option<RangeInclusive<u64>>,
    /// Compare part I of N of the run's cycles only, so that N machines share a long kernel; lockstep engine only
    #[arg(long, value_name = "I/N", value_parser = shard, conflicts_with_all = ["file", "dump", "accelwattch"])]
    pub part: Option<Shard>,
    /// Trace of every instruction
    #[command(flatten)]
    pub trace: TraceOptions,
    /// Show the energy of the run by event: paper, rtl (the project's RTL), or a TOML file of pJ by event (docs/energy.md)
    #[arg(long, value_name = "paper|rtl|FILE")]
    pub energy: Option<String>,
    /// Write the counts as AccelWattch reads those of hardware, hw_perf.csv (docs/energy.md)
    #[arg(long, value_name = "FILE.csv")]
    pub accelwattch: Option<PathBuf>,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub json: bool,
}

/// A trace of a run: every instruction from fetch to write (docs/trace.md).
#[derive(Debug, Args)]
pub struct TraceOptions {
    /// Trace each instruction from fetch to write: FILE.json or FILE.pftrace for Perfetto, FILE.kanata for Konata
    #[arg(long = "trace", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Format of the trace (default: from the file's extension)
    #[arg(long = "trace-format", value_name = "FORMAT", requires = "file")]
    pub format: Option<TraceFormat>,
    /// Trace these cycles only
    #[arg(long = "trace-cycles", value_name = "FROM:TO", value_parser = window, requires = "file")]
    pub cycles: Option<RangeInclusive<u64>>,
}

/// Formats of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// Chrome's trace events, which Perfetto opens (.json)
    Json,
    /// Perfetto's own (.pftrace)
    Perfetto,
    /// Konata's (.kanata)
    Konata,
}

impl From<TraceFormat> for Format {
    fn from(format: TraceFormat) -> Self {
        match format {
            TraceFormat::Json => Self::Chrome,
            TraceFormat::Perfetto => Self::Perfetto,
            TraceFormat::Konata => Self::Konata,
        }
    }
}

/// The engine of `gpurf run` and `gpurf exec`, and its options.
#[derive(Debug, Args)]
pub struct Execution {
    /// Sizes and policies
    #[command(flatten)]
    pub selection: Selection,
    /// Engine that executes the kernels
    #[arg(long, value_enum, default_value = "functional")]
    pub engine: EngineKind,
    /// Maximum number of registers per thread; values without a register are spilled to local memory
    #[arg(long, value_name = "N", value_parser = from_to::<u16>(16..=255), allow_negative_numbers = true)]
    pub registers: Option<u16>,
    /// Optimise the RTL's build for a long run: the build takes longer, the run two thirds of the time
    #[arg(long)]
    pub optimise: bool,
    /// Compile the RTL with profile-guided optimisation, for runs of minutes: faster than with --optimise, and the build takes twice as long
    #[arg(long)]
    pub train: bool,
    /// Cycles in a row without progress after which a launch counts as hung
    #[arg(long, value_name = "N", value_parser = cycles, default_value_t = Self::IDLE_LIMIT, allow_negative_numbers = true)]
    pub idle_limit: u64,
    /// Cycles after which a launch that has not ended counts as hung (default: no limit)
    #[arg(long, value_name = "N", value_parser = cycles, allow_negative_numbers = true)]
    pub cycle_limit: Option<u64>,
    /// Seed of memories and unreset state
    #[arg(long, value_name = "S", value_parser = number, default_value_t = Self::SEED, allow_negative_numbers = true)]
    pub seed: u64,
    /// Threads of a run in lockstep: with two or more the model runs on a thread of its own; results are the same (default: one for each processor)
    #[arg(long, value_name = "N", value_parser = from_to::<u16>(1..=u16::MAX.into()), allow_negative_numbers = true)]
    pub threads: Option<u16>,
    /// Keep the N cycles before a failure: the waveform begins with them. They are run again when the run fails; lockstep engine only
    /// (docs/lockstep.md)
    #[arg(long, value_name = "N", value_parser = history, default_value_t = HISTORY, allow_negative_numbers = true)]
    pub history: u64,
    /// Write failure folders and waveforms into this folder (default: failures/ of the checkout)
    #[arg(long, value_name = "DIR")]
    pub failures: Option<PathBuf>,
}

impl Execution {
    /// Default of `--idle-limit`.
    pub const IDLE_LIMIT: u64 = 20_000;
    /// Default of `--seed`.
    pub const SEED: u64 = 1;
}

/// The engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineKind {
    /// The functional oracle: results without timing
    Functional,
    /// The model of the SM
    Model,
    /// The RTL of the SM
    Rtl,
    /// Model and RTL, compared in every cycle and checked by the functional engine
    Lockstep,
}

impl EngineKind {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Functional => "functional",
            Self::Model => "model",
            Self::Rtl => "rtl",
            Self::Lockstep => "lockstep",
        }
    }
}

/// `gpurf testbench`.
#[derive(Debug, Args)]
#[command(
    after_help = "It writes gpurf_check_BLOCK.sv, which compares all outputs in every cycle, and gpurf_drive_BLOCK.sv, which drives random inputs. \
Both use libgpurf (make library) through DPI-C; docs/library.md describes them."
)]
pub struct WriteTestbench {
    /// The block
    #[arg(value_name = "BLOCK")]
    pub block: String,
    /// Sizes and policies
    #[command(flatten)]
    pub selection: Selection,
    /// Do not compare this output, which the checker then does not have as a port (may be repeated)
    #[arg(long, value_name = "PORT")]
    pub without: Vec<String>,
    /// Write into this folder
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub out: PathBuf,
}

/// `gpurf program`.
#[derive(Debug, Args)]
#[command(after_help = "\
`gpurf cosim --programs` runs the same program for the same seed, weights and sizes. The program is a launch manifest with the machine's own instructions: \
`gpurf run` and `gpurf cosim --kernel` take it.")]
pub struct WriteProgram {
    /// Seed of the program
    #[arg(long, value_name = "S", value_parser = number, default_value = "1", allow_negative_numbers = true)]
    pub seed: u64,
    /// Content of the program: a theme, or a TOML file
    #[arg(long, value_name = "THEME|FILE", default_value = "mixed")]
    pub weights: String,
    /// Sizes of the machine, which limit the program's sizes
    #[command(flatten)]
    pub selection: Selection,
    /// Write to this file in place of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `gpurf compile`.
#[derive(Debug, Args)]
#[command(after_help = "\
Machine code is JSON: kernels with their instructions as pairs of 64-bit words, and variables. A .cu file uses the .ptx file beside it, unless the .ptx file is \
older: then nvcc compiles the .cu file. A kernel that cannot be compiled is listed with the reason, and the other kernels are compiled. The exit status is 2 if a \
requested kernel is refused: one named by --kernel, or without --kernel any kernel of the file. With --summary the exit status is 0 even if kernels are refused.")]
pub struct Compile {
    /// The CUDA or PTX file; with --summary any number of files and folders
    #[arg(value_name = "FILE.cu|FILE.ptx", required = true)]
    pub files: Vec<PathBuf>,
    /// Compile this kernel: its name in the source, such as scale or app::scale<float, 3>, or in the PTX. May be repeated
    #[arg(long = "kernel", value_name = "NAME")]
    pub kernels: Vec<String>,
    /// Count the kernels that compile and can be launched, and the reasons why others do not; write no code
    #[arg(long, conflicts_with_all = ["kernels", "output", "annotate"])]
    pub summary: bool,
    /// With --summary: print one JSON object on standard output
    #[arg(long, requires = "summary")]
    pub json: bool,
    /// Compile for the register-file organisation of this preset; the options below override its choices
    #[arg(long, value_name = "NAME", default_value = DEFAULT_PRESET)]
    pub preset: String,
    /// Maximum number of registers per thread; values without a register are spilled to local memory
    #[arg(long, value_name = "N", value_parser = from_to::<u16>(16..=255), allow_negative_numbers = true)]
    pub registers: Option<u16>,
    /// Order of the instructions in a basic block
    #[arg(long, value_name = "ORDER")]
    pub schedule: Option<Order>,
    /// Order in which registers are named
    #[arg(long, value_name = "ORDER")]
    pub register_order: Option<Naming>,
    /// Levels above the main register file
    #[command(flatten)]
    pub levels: Levels,
    /// Mark power states: a register stays ON if its next access is at most W instructions away (docs/power.md)
    #[arg(long, value_name = "W", value_parser = from_to::<u8>(1..=POWER_THRESHOLD.into()), allow_negative_numbers = true)]
    pub power_threshold: Option<u8>,
    /// Local memory per thread for the frames of recursive functions, in bytes
    #[arg(long, value_name = "BYTES", value_parser = from_to::<u32>(0..=STACK_LIMIT.into()), allow_negative_numbers = true)]
    pub stack_bytes: Option<u32>,
    /// Which 64-bit loads and stores of shared and global memory are single operations
    #[arg(long, value_name = "WHICH")]
    pub wide_accesses: Option<Wide>,
    /// Bits of a global address that accesses read: 32 or 64
    #[arg(long, value_name = "BITS")]
    pub address_bits: Option<AddressBits>,
    /// What fetches from textures become (docs/textures.md)
    #[arg(long, value_name = "HOW")]
    pub textures: Option<Fetches>,
    /// Private bytes of a block's shared memory; accesses to them are marked (docs/scratchpad-compiler.md)
    #[arg(long, value_name = "BYTES")]
    pub private_shared: Option<u32>,
    /// Order of a kernel's shared variables
    #[arg(long, value_name = "ORDER")]
    pub share_layout: Option<SharedOrder>,
    /// Where threads release the shared part of shared memory
    #[arg(long, value_name = "PLACES")]
    pub relssp: Option<Releases>,
    /// Write to this file in place of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print the PTX with the instructions and their control fields beside it, in place of machine code
    #[arg(long)]
    pub annotate: bool,
}

/// The order of the instructions in a basic block (docs/compiler.md).
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Order {
    /// The order of the PTX
    None,
    /// Each result before its first reader, as in an expression tree; nothing is simplified
    Tree,
    /// By latency and register pressure, as production compilers do
    Latency,
}

impl Order {
    /// The compiler's value.
    pub const fn schedule(self) -> Schedule {
        match self {
            Self::None => Schedule::None,
            Self::Tree => Schedule::Tree,
            Self::Latency => Schedule::Latency,
        }
    }
}

/// Which 64-bit loads and stores are single operations (docs/compiler.md).
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Wide {
    /// Those that PTX marks .volatile, .relaxed, .acquire, .release or .mmio
    Strong,
    /// All accesses to global memory: for programs that race with plain accesses
    All,
}

impl Wide {
    /// The compiler's value.
    pub const fn accesses(self) -> WideAccesses {
        match self {
            Self::Strong => WideAccesses::Strong,
            Self::All => WideAccesses::All,
        }
    }
}

/// What fetches from textures become (docs/textures.md).
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Fetches {
    /// Instructions of the texture unit, where it can perform them
    Unit,
    /// Sequences of ordinary instructions
    Sequence,
}

impl Fetches {
    /// The compiler's value.
    pub const fn textures(self) -> Textures {
        match self {
            Self::Unit => Textures::Unit,
            Self::Sequence => Textures::Sequence,
        }
    }
}

/// Bits of a global address that accesses read (docs/compiler.md).
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum AddressBits {
    /// The low word alone
    #[value(name = "32")]
    Narrow,
    /// Both words
    #[value(name = "64")]
    Wide,
}

impl AddressBits {
    /// The compiler's value.
    pub const fn bits(self) -> gpurf_compiler::AddressBits {
        match self {
            Self::Narrow => gpurf_compiler::AddressBits::Narrow,
            Self::Wide => gpurf_compiler::AddressBits::Wide,
        }
    }
}

/// The order in which registers are named (docs/compiler.md).
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Naming {
    /// As the allocator names them
    Allocated,
    /// In the order of their first use in the code
    FirstUse,
}

impl Naming {
    /// The compiler's value.
    pub const fn order(self) -> RegisterOrder {
        match self {
            Self::Allocated => RegisterOrder::Allocated,
            Self::FirstUse => RegisterOrder::FirstUse,
        }
    }
}

/// The order of a kernel's variables of shared memory (docs/scratchpad-compiler.md).
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SharedOrder {
    /// In the order of their declarations
    Declared,
    /// In an order that accesses the shared part for the fewest instructions
    Minimal,
}

impl SharedOrder {
    /// The compiler's value.
    pub const fn layout(self) -> Layout {
        match self {
            Self::Declared => Layout::Declared,
            Self::Minimal => Layout::Minimal,
        }
    }
}

/// Where threads release the shared part of shared memory (docs/scratchpad-compiler.md).
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Releases {
    /// Where the program releases it
    None,
    /// In the nearest block that all threads reach after their accesses
    Postdom,
    /// On each path, after the last access
    Optimal,
}

impl Releases {
    /// The compiler's value.
    pub const fn places(self) -> Relssp {
        match self {
            Self::None => Relssp::None,
            Self::Postdom => Relssp::Postdom,
            Self::Optimal => Relssp::Optimal,
        }
    }
}

/// `gpurf wave`.
#[derive(Debug, Args)]
pub struct Wave {
    /// The failure's folder (default: the latest one in failures/)
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

/// `gpurf mutate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Hand-written mutants are in tests/mutants. Yosys makes the generated ones; scripts/bootstrap.sh --mutants installs it. Each mutant must be \
caught by lockstep or proven equivalent to the original.")]
pub struct Mutate {
    /// Mutate this module (may be repeated; default: all)
    #[arg(long, value_name = "NAME")]
    pub block: Vec<String>,
    /// Run N hand-written mutants of each module in the whole SM and check that the report names the module
    #[arg(long, value_name = "N", value_parser = from_to::<u16>(1..=u16::MAX.into()), allow_negative_numbers = true, conflicts_with = "count")]
    pub in_sm: Option<u16>,
    /// Total number of netlist mutants; 0: none (Yosys is not needed)
    #[arg(long, value_name = "N", default_value = "200", value_parser = from_to::<usize>(0..=1_000_000), allow_negative_numbers = true)]
    pub count: usize,
    /// Number of designers' mistakes in the source of each module; 0: none (pyslang is not needed)
    #[arg(long, value_name = "N", default_value = "20", value_parser = from_to::<usize>(0..=1_000_000), allow_negative_numbers = true)]
    pub mistakes: usize,
    /// Leave out the hand-written mutants
    #[arg(long, conflicts_with = "in_sm")]
    pub only_generated: bool,
    /// Seed of the choice of mutants and of the stimulus
    #[arg(long, value_name = "S", default_value = "1", value_parser = number, allow_negative_numbers = true)]
    pub seed: u64,
    /// Simulator of the RTL
    #[arg(long, value_enum, default_value = "verilator")]
    pub simulator: SimulatorName,
    /// How to run and print
    #[command(flatten)]
    pub run: Run,
}

/// `gpurf audit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --preset, --config or --set each block runs in a configuration that uses all its registers.")]
pub struct Audit {
    /// Audit this block (may be repeated; default: all)
    #[arg(long, value_name = "NAME")]
    pub block: Vec<String>,
    /// Sizes
    #[command(flatten)]
    pub selection: Selection,
    /// Seed of the stimulus
    #[arg(long, value_name = "S", default_value = "1", value_parser = number, allow_negative_numbers = true)]
    pub seed: u64,
    /// How to run and print
    #[command(flatten)]
    pub run: Run,
}

/// Parses a decimal or hexadecimal number; underscores may group its digits.
fn number(text: &str) -> Result<u64, String> {
    let digits = text.replace('_', "");
    let parsed = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    parsed.map_err(|_| "expected a number from 0 to 2^64-1, such as 1000000, 1_000_000 or 0xff".into())
}

/// Parses a number in a range.
fn from_to<T: TryFrom<u64>>(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let value = number(text).ok().filter(|value| range.contains(value)).and_then(|value| T::try_from(value).ok());
        value.ok_or_else(|| format!("expected a number from {} to {}", range.start(), range.end()))
    }
}

fn knob(text: &str) -> Result<(String, u32), String> {
    let value = text.split_once('=').and_then(|(name, value)| Some((name, number(value).ok()?.try_into().ok()?)));
    match value {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value)),
        _ => Err("expected NAME=VALUE, for instance offer=1000".into()),
    }
}

/// The longest run: blocks with rare situations run a few times as long, and this product has to be a number.
const LONGEST_RUN: u64 = 1_000_000_000_000_000;

fn cycles(text: &str) -> Result<u64, String> {
    match number(text)? {
        0 => Err("expected at least 1 cycle".into()),
        cycles @ 1..=LONGEST_RUN => Ok(cycles),
        _ => Err(format!("expected at most {LONGEST_RUN} cycles")),
    }
}

/// The longest history: a waveform of a million cycles of the SM takes gigabytes.
const LONGEST_HISTORY: u64 = 1_000_000;

fn history(text: &str) -> Result<u64, String> {
    let cycles = number(text)?;
    if (HISTORY..=LONGEST_HISTORY).contains(&cycles) {
        return Ok(cycles);
    }
    Err(format!("expected {HISTORY} to {LONGEST_HISTORY} cycles"))
}

fn window(text: &str) -> Result<RangeInclusive<u64>, String> {
    let wrong = || "expected FROM:TO, two cycles with FROM at most TO, such as 1000:1200".to_owned();
    let (from, to) = text.split_once(':').ok_or_else(wrong)?;
    let (from, to) = (number(from).map_err(|_| wrong())?, number(to).map_err(|_| wrong())?);
    if from <= to { Ok(from..=to) } else { Err(wrong()) }
}

fn replacement(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((module, file)) if !module.is_empty() && !file.is_empty() => Ok((module.into(), file.into())),
        _ => Err("expected MODULE=FILE, for instance mrf_arbiter=my_arbiter.sv".into()),
    }
}

#[cfg(test)]
mod tests;
