//! The contents of a manifest, checked.

use std::ops::Range;
use std::path::PathBuf;

use crate::{
    Argument, Buffer, BufferId, Check, CheckRow, ExpectedFault, Expression, ManifestError, Origin, Scalar, Symbol,
};

/// A launch manifest, fully checked.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The file it was read from.
    pub path: PathBuf,
    /// Where the kernels come from.
    pub source: Source,
    /// The buffers in order of declaration; their names are distinct.
    pub buffers: Vec<Buffer>,
    /// Initial values of `__constant__` and `__device__` variables.
    pub symbols: Vec<Symbol>,
    /// The launches in order; at least one.
    pub launches: Vec<Launch>,
    /// How often they run: each launch is in one of these, in order.
    pub loops: Vec<Loop>,
    /// The expected results.
    pub checks: Vec<Check>,
    /// The fault that the last launch ends with; `None` if all launches run to completion.
    pub fault: Option<ExpectedFault>,
    /// The machine on which a program failed.
    pub replay: Option<Replay>,
    /// Bytes of the buffer of `printf`; `None` for CUDA's default.
    pub printf_buffer: Option<u32>,
}

/// Where kernels come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file, `.cu` or `.ptx`; relative paths are resolved against the manifest's folder.
    File(PathBuf),
    /// The machine's own instructions, in the manifest.
    Assembly(Assembly),
}

/// A kernel in the machine's own instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembly {
    /// Its name.
    pub name: String,
    /// The instructions as text.
    pub code: String,
    /// The line of the manifest in which the text begins.
    pub line: usize,
    /// General registers of a thread.
    pub registers: u16,
    /// Bytes of static shared memory of a block.
    pub shared: u32,
    /// Bytes of local memory of a thread.
    pub local: u32,
}

/// The machine on which `gpurf cosim --replay` runs a manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// Seed of memories and of state that reset does not set.
    pub seed: u64,
    /// The configuration: settings that differ from the default preset, in the form that `--set` takes.
    pub settings: Vec<String>,
    /// The RTL files that replaced the project's own: `MODULE=FILE`.
    pub rtl: Vec<String>,
}

/// One launch of a kernel.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Name of the kernel: as in the CUDA source, with namespaces and template arguments where they are needed, or mangled as in the PTX.
    pub kernel: String,
    /// Thread blocks in x, y, z, in the first pass; each at least 1.
    pub grid: [u32; 3],
    /// Expressions of the extents that are computed from the pass number; within the limits of a grid in every pass.
    pub computed_grid: [Option<Expression>; 3],
    /// Threads of a block in x, y, z; each at least 1, at most 1024 together.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory a block.
    pub dynamic_shared: u32,
    /// The arguments in order.
    pub args: Vec<Argument>,
    /// Where the manifest names the kernel.
    pub origin: Origin,
    /// Where the manifest has its arguments.
    pub arg_origins: Vec<Origin>,
}

impl Launch {
    /// Thread blocks in x, y, z in a pass.
    pub fn grid_in(&self, pass: u32) -> [u32; 3] {
        std::array::from_fn(|axis| match &self.computed_grid[axis] {
            // All passes were checked when the manifest was read.
            Some(extent) => extent.value(pass).unwrap_or(1) as u32,
            None => self.grid[axis],
        })
    }
}

/// Launches that run together, in order, a number of times: usually a single launch that runs once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The indices of the launches in the manifest; at least one.
    pub launches: Range<usize>,
    /// How often they run.
    pub repetition: Repetition,
}

/// How often launches run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// A fixed number of passes, by default 1; at least 1.
    Times(u32),
    /// Before each pass every element of `buffer` is set to `reset`; the next pass follows if an element is not zero
    /// afterwards. An element that is still not zero after `max` passes is an error of the run.
    WhileNonzero {
        /// The buffer that is tested.
        buffer: BufferId,
        /// The value that its elements are set to before each pass.
        reset: Scalar,
        /// Greatest number of passes; at least 1.
        max: u32,
    },
}

impl Manifest {
    /// Checks that the files of expected bytes are there and have the right sizes: to be called before a run. A manifest can be loaded without them,
    /// since a run may create them.
    ///
    /// # Errors
    /// The first file that is missing or has another size than its buffer.
    pub fn verify_checks(&self) -> Result<(), ManifestError> {
        let verify = |check: &Check| check.verify(self.buffer(check.buffer)).map_err(|error| self.at(check, &error));
        self.checks.iter().try_for_each(verify)
    }

    /// How often a launch runs.
    pub fn repetition_of(&self, launch: usize) -> Repetition {
        let around = self.loops.iter().find(|loops| loops.launches.contains(&launch));
        around.map_or(Repetition::Times(1), |loops| loops.repetition)
    }

    /// The buffer with this index.
    pub fn buffer(&self, id: BufferId) -> &Buffer {
        &self.buffers[id.0]
    }

    /// Runs every check against the final bytes of the buffers, which `bytes_of` gives.
    ///
    /// # Errors
    /// When a file of expected bytes cannot be read.
    pub fn evaluate<'a>(&self, bytes_of: impl Fn(BufferId) -> &'a [u8]) -> Result<Vec<CheckRow>, ManifestError> {
        let evaluate = |check: &Check| {
            let row = check.evaluate(self.buffer(check.buffer), bytes_of(check.buffer));
            row.map_err(|error| self.at(check, &error))
        };
        self.checks.iter().map(evaluate).collect()
    }

    /// An error of a check's file, at the place where the manifest names the file.
    fn at(&self, check: &Check, error: &ManifestError) -> ManifestError {
        let (line, column) = check.origin.line_and_column();
        ManifestError::Invalid { path: self.path.clone(), line, column, message: format!("expected: {error}") }
    }
}
