//! The sources of a job's inputs.

use std::path::PathBuf;
use std::sync::Arc;

use gpurf_lockstep::Reproducer;
use gpurf_stimulus::program::Weights;

use crate::Project;

/// Where inputs come from.
#[derive(Clone, Debug)]
pub enum Inputs {
    /// Constrained random, from the job's seed.
    Random,
    /// The same with these knobs fixed (`gpurf_stimulus::knobs`): such a run need not reach everything.
    Pinned(Vec<(String, u32)>),
    /// A reproducer.
    Replay(Reproducer),
    /// A directed sequence by name (`gpurf_stimulus::directed`).
    Directed(String),
    /// Only for the SM: a kernel, with its host and memory.
    Kernel(KernelInputs),
    /// Only for the SM: a random program, from the job's seed.
    Program(ProgramInputs),
}

/// Registers that a thread of a test kernel may have.
pub const REGISTERS: u16 = 64;

/// A kernel to run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelInputs {
    /// The launch manifest.
    pub manifest: PathBuf,
    /// The PTX file of its source; not read if the manifest has the machine's own instructions.
    pub ptx: PathBuf,
    /// The text of the manifest, if it has been read or made already.
    pub text: Option<String>,
    /// Registers that a thread may have.
    pub registers: u16,
}

impl KernelInputs {
    /// A test kernel of the project, in its small run.
    pub fn of_project(project: &Project, name: &str) -> Self {
        let file = |ending: &str| project.root.join("tests/kernels").join(format!("{name}.{ending}"));
        Self { manifest: file("toml"), ptx: file("ptx"), text: None, registers: REGISTERS }
    }

    /// Its name in tables: the manifest's name.
    pub fn name(&self) -> String {
        self.manifest.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// A random program to run; its seed is the job's.
#[derive(Clone, Debug)]
pub struct ProgramInputs {
    /// Name of its weights: a theme, or a file.
    pub name: String,
    /// The weights of instructions and other properties.
    pub weights: Arc<Weights>,
    /// Whether it belongs to a run through all themes, which has to reach every coverage point.
    pub all_themes: bool,
}
