//! Programs in assembly, kernels by name, and machines for them.

pub mod kernels;
pub mod miscounts;
pub mod power;
pub mod traces;

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;

use gpurf_blocks::config::{Config, Start};
use gpurf_blocks::instruction::cause;
use gpurf_compiler::{Compiled, compile};
use gpurf_isa::image::Kernel;
use gpurf_kernels::Case;
use gpurf_launch::{BufferId, ExpectedFault};
use gpurf_machine::{Cycle, LaunchError, Machine, ModelEngine, Settings, Statistics};
use gpurf_oracle::host::{Engine, KernelLaunch, Session};
use gpurf_oracle::{Geometry, Memory};
use gpurf_stimulus::program::compiler_options;

/// Kernels without floating point.
pub const INTEGERS: [&str; 13] = [
    "collatz",
    "compact",
    "countBytes",
    "crc32",
    "gameOfLife",
    "mergeSort",
    "needle",
    "pathfinder",
    "radixSort",
    "sad",
    "scan",
    "sortingNetworks",
    "transpose",
];

/// Kernels with floating point: divisions, roots, exponentials, comparisons, sums in shared memory.
pub const FLOATS: [&str; 5] = ["blackScholes", "cp", "kmeans", "reduction", "srad"];

/// The baseline with these settings.
pub fn settings(set: &[&str]) -> Settings {
    Settings::new(Config::load(Start::Preset("baseline"), set).unwrap())
}

/// A preset with these settings.
pub fn load(preset: &str, set: &[&str]) -> Settings {
    let config = Config::load(Start::Preset(preset), set).unwrap_or_else(|error| panic!("{error}"));
    Settings { config, ..settings(&[]) }
}

/// Runs a kernel's small manifest, judged by the oracle.
pub fn judged(name: &str, settings: Settings, registers: u16) -> Statistics {
    let case = Case::load(name).unwrap();
    let image = compiled(name, registers, &settings.config).image;
    let mut session = Session::new(case.manifest(), &image).unwrap();
    let mut engine = ModelEngine::judged(settings);
    session.run(&mut engine).unwrap_or_else(|error| panic!("{name}: {error}"));
    for row in session.checks().unwrap() {
        assert!(row.ok, "{name}: {row:?}");
    }
    engine.statistics()
}

/// A test kernel, compiled for a machine.
pub fn compiled(name: &str, registers: u16, config: &Config) -> Compiled {
    let path = gpurf_kernels::folder().join(format!("{name}.ptx"));
    let text = std::fs::read_to_string(&path).unwrap();
    compile(&text, &path.display().to_string(), &compiler_options(config, registers)).unwrap()
}

/// Runs a kernel's small manifest.
pub fn run(kernel: &gpurf_kernels::Kernel, set: &[&str], registers: u16) -> Statistics {
    let case = Case::load(kernel.name).unwrap();
    let settings = settings(set);
    let image = compiled(kernel.name, registers, &settings.config).image;
    let mut session = Session::new(case.manifest(), &image).unwrap();
    let mut engine = ModelEngine::judged(settings);
    session.run(&mut engine).unwrap_or_else(|error| panic!("{} {set:?}: {error}", kernel.name));
    for row in session.checks().unwrap() {
        assert!(row.ok, "{} {set:?}: {row:?}", kernel.name);
    }
    engine.statistics()
}

/// What a kernel leaves on the model alone, and how many cycles of it were skipped.
pub fn alone(name: &str, settings: Settings) -> (Statistics, Vec<Vec<u8>>, u64) {
    let case = Case::load(name).unwrap();
    let manifest = case.manifest();
    let mut session = Session::new(manifest, &compiled(name, 64, &settings.config).image).unwrap();
    let mut engine = ModelEngine::new(settings);
    session.run(&mut engine).unwrap_or_else(|error| panic!("{name}: {error}"));
    let buffers = (0..manifest.buffers.len()).map(|index| session.bytes(BufferId(index)).to_vec()).collect();
    (engine.statistics(), buffers, engine.skipped())
}

/// Code that leaves the flat thread number in R0, the block's in R1, the address of the thread's word of the first buffer in R2.
const THREAD: &str = "
    S2R.TID.X R0
    S2R.CTAID.X R1
    S2R.NTID.X R2
    IMAD.LO R0, PT, R1, R2, R0, !PT
    LDC.B32 R2, [RZ]
    IMAD.LO R2, PT, R0, 4, R2, !PT
";

/// A program, and how it is launched.
pub struct Program {
    pub kernel: Kernel,
    geometry: Geometry,
    /// The fault that it is expected to end with.
    pub fault: Option<ExpectedFault>,
}

impl Program {
    /// After [`THREAD`]. Its lines are numbered from 100.
    pub fn new(code: &str, blocks: u32, threads: u32) -> Self {
        let code = gpurf_isa::assemble(&format!("{THREAD}\n{code}\nEXIT")).unwrap();
        let kernel = Kernel {
            name: "test".into(),
            lines: (0..code.len() as u32).map(|pc| 100 + pc).collect(),
            code,
            registers: 32,
            static_shared: 256,
            local_bytes: 16,
            ..Kernel::default()
        };
        let geometry = Geometry { grid: [blocks, 1, 1], block: [threads, 1, 1], dynamic_shared: 0 };
        Self { kernel, geometry, fault: None }
    }

    /// Launches it; the buffers' addresses are its parameters.
    pub fn launch<E: Engine<Error = LaunchError>>(
        &self,
        engine: &mut E,
        memory: &mut Memory,
    ) -> Result<(), LaunchError> {
        let constant: Vec<u8> = memory.buffers().iter().flat_map(|b| u64::from(b.address()).to_le_bytes()).collect();
        let (kernel, geometry, fault) = (&self.kernel, self.geometry, self.fault);
        engine.launch(&KernelLaunch { kernel, source: "test.ptx", geometry, constant: &constant, fault }, memory)
    }

    /// Launches it on memory of two buffers of 256 words; gives the first one.
    pub fn run<E: Engine<Error = LaunchError>>(&self, engine: &mut E) -> Result<Vec<u32>, LaunchError> {
        let mut memory = buffers();
        self.launch(engine, &mut memory)?;
        Ok(words(&memory, 0))
    }
}

/// The sources of `fault_unit` that report a fault in this cycle, and their causes.
pub fn first_faults(cycle: &Cycle<'_>) -> BTreeSet<(String, u8)> {
    let o = &cycle.probe.outputs;
    let mut found = BTreeSet::new();
    for port in 0..2 {
        if o.issue_stage.fault_valid_o >> port & 1 == 1 {
            found.insert((format!("issue_stage {port}"), o.issue_stage.fault_cause_o[port]));
        }
        if o.alu[port].fault_valid_o == 1 {
            found.insert((format!("alu {port}"), cause::WARP_DIVERGENCE));
        }
    }
    if o.address_unit.fault_valid_o == 1 {
        found.insert(("address_unit".to_owned(), o.address_unit.fault_cause_o));
    }
    let others = [
        ("line_table", o.line_table.fault_valid_o, cause::NO_SUCH_PLACE),
        ("cache", o.cache.fault_valid_o, cause::NO_SUCH_PLACE),
        ("barrier_unit", o.barrier_unit.fault_valid_o, cause::BARRIER_COUNT),
        ("block_launcher", o.block_launcher.fault_valid_o, cause::DOES_NOT_FIT),
    ];
    found.extend(others.into_iter().filter(|other| other.1 == 1).map(|(name, _, cause)| (name.to_owned(), cause)));
    found
}

/// Two buffers of 256 words.
pub fn buffers() -> Memory {
    let mut memory = Memory::default();
    for name in ["first", "second"] {
        memory.add(name, &[0; 1024]).unwrap();
    }
    memory
}

/// The words of a buffer.
pub fn words(memory: &Memory, buffer: usize) -> Vec<u32> {
    memory.buffers()[buffer].words().iter().map(|word| word.load(Relaxed)).collect()
}
