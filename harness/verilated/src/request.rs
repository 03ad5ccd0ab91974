//! Describes what to build.

use std::path::{Path, PathBuf};

use gpurf_blocks::{Declaration, Memory};

use crate::{PACKAGE, Simulator, packages};

/// A module to build.
#[derive(Clone, Debug)]
pub struct Request {
    /// The declaration that the module has to match: its name, parameters, ports and probes.
    pub declaration: Declaration,
    /// The memories inside it.
    pub memories: Vec<MemoryRequest>,
    /// Source files in compilation order: packages first.
    pub sources: Vec<PathBuf>,
    /// Folders that `` `include `` searches.
    pub include_dirs: Vec<PathBuf>,
    /// Macros, `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// How to build it.
    pub options: Options,
    /// Modules whose sources [`Request::replace`] has replaced, and the files that replace them.
    pub replaced: Vec<(String, PathBuf)>,
}

/// A memory that the RTL must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryRequest {
    /// Path of the array or register inside the module.
    pub path: String,
    /// Number of words.
    pub words: usize,
    /// Width of a word in bits.
    pub bits: u32,
}

impl From<&Memory<'_>> for MemoryRequest {
    fn from(memory: &Memory<'_>) -> Self {
        Self { path: memory.path.clone(), words: memory.len(), bits: memory.bits }
    }
}

/// How to build a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The simulator that runs the module.
    pub simulator: Simulator,
    /// Evaluate the RTL's assertions.
    pub assertions: bool,
    /// Make probes and memories readable. Without them a model is the plain Verilator model of the same module.
    pub probes: bool,
    /// Make every register (see [`Toolchain::registers`](crate::Toolchain::registers)) writable, for audits.
    pub state: bool,
    /// Make these variables (of any module) writable by name, e.g. the select of generated mutants.
    pub knobs: Vec<String>,
    /// A module is a netlist: memories that it lacks are left out instead of being an error, and Verilator may report loops where single bits
    /// of a vector depend on each other.
    pub netlist: bool,
    /// Number of comparisons that have a witness in the sources: a call of the imported function `gpurf_witness(number, bits, difference)`.
    /// Calls in front of a model's first clock edge do not count.
    pub comparisons: usize,
    /// Collect line and toggle coverage.
    pub coverage: bool,
    /// C++ optimisation: `-O2` measures best for long runs. Without this it is `-O1`: a build takes six tenths of the time, and a run 1.5 times as long.
    pub optimise: bool,
    /// Compile with a profile of the module itself: see [`Toolchain::build_trained`](crate::Toolchain::build_trained).
    pub profile: bool,
    /// Settle inputs once in a cycle, and not again at the edge: faster, but not what Verilator does by default.
    pub settle_once: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            simulator: Simulator::default(),
            assertions: true,
            probes: true,
            state: false,
            knobs: Vec::new(),
            netlist: false,
            comparisons: 0,
            coverage: false,
            optimise: true,
            profile: false,
            settle_once: true,
        }
    }
}

impl Request {
    /// A module from the RTL tree at `rtl`. Its sources are the packages that the modules import, then `modules` in the given order (paths without
    /// ending).
    pub fn from_tree(declaration: Declaration, memories: Vec<MemoryRequest>, rtl: &Path, modules: &[&str]) -> Self {
        let imported = packages(rtl, modules);
        let paths = [PACKAGE].into_iter().chain(imported.iter().map(String::as_str)).chain(modules.iter().copied());
        let sources = paths.map(|path| rtl.join(path).with_extension("sv")).collect();
        Self {
            declaration,
            memories,
            sources,
            include_dirs: vec![rtl.to_owned()],
            defines: Vec::new(),
            options: Options::default(),
            replaced: Vec::new(),
        }
    }

    /// The source of `module`: the file that replaced it, whatever its name, or the source with the module's name.
    pub fn source_of(&self, module: &str) -> Option<&Path> {
        self.place_of(module).map(|place| self.sources[place].as_path())
    }

    fn place_of(&self, module: &str) -> Option<usize> {
        let replacing = |path: &PathBuf| self.replaced.iter().find(|(_, file)| file == path).map(|(name, _)| name);
        let named = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == module);
        self.sources.iter().position(|path| replacing(path).map_or_else(|| named(path), |name| name == module))
    }

    /// Replaces the source of `module` by `file`. Returns whether there was such a source.
    pub fn replace(&mut self, module: &str, file: &Path) -> bool {
        let Some(place) = self.place_of(module) else { return false };
        self.replaced.retain(|(name, _)| name != module);
        self.replaced.push((module.to_owned(), file.to_owned()));
        self.sources[place] = file.to_owned();
        true
    }
}
