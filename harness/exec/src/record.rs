//! Writes launches as manifests, with memory before and after each launch.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::PathBuf;

use gpurf_isa::image::{Kernel, Parameter, SymbolSpace};
use gpurf_isa::machine::print::{ASSERT_BUFFER, PRINTF_BUFFER, PRINTF_BYTES};
use gpurf_oracle::{Buffer, Geometry, Memory};

use crate::modules::Module;

/// A launch that is about to begin.
pub(crate) struct Taken<'a> {
    pub module: &'a Module,
    pub kernel: &'a Kernel,
    pub geometry: Geometry,
    pub parameters: &'a [u8],
    pub memory: &'a Memory,
    /// `compiler.stack_bytes`, if the application has changed it.
    pub stack: Option<usize>,
}

/// A launch in progress: its manifest so far, and its buffers.
pub(crate) struct Begun {
    number: u64,
    text: String,
    buffers: Vec<Found>,
    /// Whether the kernel reads clocks.
    timed: bool,
}

/// A buffer before the launch.
struct Found {
    name: String,
    address: u32,
    bytes: Vec<u8>,
}

/// Writes launches into a folder.
pub struct Recorder {
    folder: PathBuf,
    launches: u64,
    modules: HashSet<String>,
}

impl Recorder {
    /// Writes into this folder, which has to exist. Manifests are numbered in the order of the launches.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, launches: 0, modules: HashSet::new() }
    }

    /// Number of manifests written.
    pub fn launches(&self) -> u64 {
        self.launches
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let file = self.folder.join(name);
        std::fs::write(&file, bytes).map_err(|error| format!("cannot write {}: {error}", file.display()))
    }

    /// Keeps the state before a launch.
    pub(crate) fn before(&mut self, taken: &Taken<'_>) -> Result<Begun, String> {
        let number = self.launches + 1;
        let Taken { module, kernel, geometry, parameters, memory, stack } = taken;
        // A later process may have another module of that name.
        let source = format!("{:016x}-{}", twox_hash::XxHash3_64::oneshot(module.text.as_bytes()), module.name);
        if self.modules.insert(source.clone()) {
            self.write(&source, module.text.as_bytes())?;
        }
        let Geometry { grid, block, dynamic_shared } = geometry;
        let mut text = String::from("# Recorded by gpurf exec.\n");
        if let Some(bytes) = stack {
            // A manifest has no key for it: the size of the stack is a setting of the compiler.
            let _ = writeln!(
                text,
                "# The application has enlarged the stack: run this with --set compiler.stack_bytes={bytes}"
            );
        }
        let _ = writeln!(text, "source = \"{source}\"");
        let printf = memory.buffers().iter().rfind(|buffer| buffer.name() == PRINTF_BUFFER).map(Buffer::size);
        if let Some(bytes) = printf.filter(|&bytes| bytes != PRINTF_BYTES && !kernel.prints.is_empty()) {
            let _ = writeln!(text, "printf_buffer = {bytes}");
        }
        let _ = write!(text, "\n[[launch]]\nkernel = \"{}\"\n", kernel.name);
        let _ = write!(text, "grid = {grid:?}\nblock = {block:?}\ndynamic_shared = {dynamic_shared}\nargs = [\n");
        for parameter in &kernel.parameters {
            let _ = writeln!(text, "    {},", argument(parameter, parameters));
        }
        text.push_str("]\n");
        let mut buffers = Vec::new();
        let variable =
            |address: u32| module.globals.iter().find(|(_, at)| **at == address).map(|(name, _)| name.as_str());
        let hidden = |name: &str| name == PRINTF_BUFFER || name == ASSERT_BUFFER;
        for buffer in memory.buffers().iter().filter(|buffer| !hidden(buffer.name())) {
            let (address, size) = (buffer.address(), buffer.size());
            let bytes = memory.bytes_at(address, size).unwrap_or_default();
            let name = variable(address).map_or_else(|| format!("m{address:08x}"), str::to_owned);
            let place = match variable(address) {
                Some(name) => format!("symbol = \"{name}\""),
                None => format!("address = {address:#x}"),
            };
            let first = if bytes.iter().all(|&byte| byte == 0) {
                "\"zero\"".to_owned()
            } else {
                let file = format!("{number:04}-{name}.bin");
                self.write(&file, &bytes)?;
                format!("{{ file = \"{file}\" }}")
            };
            let _ = write!(
                text,
                "\n[[buffer]]\nname = \"{name}\"\n{place}\ntype = \"u8\"\nlen = {size}\ninit = {first}\noutput = true\n"
            );
            buffers.push(Found { name, address, bytes });
        }
        for symbol in &module.symbols {
            if let (SymbolSpace::Constant { .. }, Some(bytes)) = (symbol.space, module.constants.get(&symbol.name)) {
                let file = format!("{number:04}-{}.bin", symbol.name);
                self.write(&file, bytes)?;
                let (name, size) = (&symbol.name, bytes.len());
                let _ = write!(
                    text,
                    "\n[[symbol]]\nname = \"{name}\"\ntype = \"u8\"\nlen = {size}\ninit = {{ file = \"{file}\" }}\n"
                );
            }
        }
        let timed = kernel.code.iter().any(gpurf_isa::Instruction::reads_time);
        Ok(Begun { number, text, buffers, timed })
    }

    /// Writes the manifest of a launch that has completed. Its checks expect the buffers that the launch has changed.
    pub(crate) fn after(&mut self, begun: Begun, memory: &Memory) -> Result<(), String> {
        let Begun { number, mut text, buffers, timed } = begun;
        if timed {
            text.push_str("\n# Without checks: the kernel reads clocks, and another run has other times.\n");
        }
        for Found { name, address, bytes } in &buffers {
            let left = memory.bytes_at(*address, bytes.len() as u32).unwrap_or_default();
            if left != *bytes && !timed {
                let file = format!("{number:04}-{name}-expected.bin");
                self.write(&file, &left)?;
                let _ = write!(text, "\n[[check]]\nbuffer = \"{name}\"\nexpected = \"{file}\"\n");
            }
        }
        self.write(&format!("{number:04}.toml"), text.as_bytes())?;
        self.launches = number;
        Ok(())
    }
}

/// A parameter's bytes as an argument of a manifest.
fn argument(parameter: &Parameter, parameters: &[u8]) -> String {
    let Parameter { offset, bytes, align, .. } = parameter;
    let own = &parameters[*offset as usize..][..*bytes as usize];
    if matches!(own.len(), 1 | 2 | 4 | 8) {
        let mut word = [0; 8];
        word[..own.len()].copy_from_slice(own);
        return format!("{{ type = \"u{}\", value = {:#x} }}", 8 * own.len(), u64::from_le_bytes(word));
    }
    format!("{{ struct = [{{ type = \"u8\", array = {own:?}, align = {align} }}] }}")
}
