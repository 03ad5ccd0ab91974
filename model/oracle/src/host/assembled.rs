//! Builds an image from a manifest with the machine's own instructions.

use gpurf_isa::image::{Kernel, Parameter};
use gpurf_isa::{Image, assemble_lines};
use gpurf_launch::{Argument, Assembly, Manifest};

use super::LoadError;
use super::names::named;
use crate::program::Program;

/// Assembles the kernel of a manifest. Its parameters are the arguments of its launch, one after the other, each aligned to its size, structs to
/// their alignment. The lines of its instructions are those of the manifest.
///
/// # Errors
/// A line that is not an instruction, or a kernel that is not a valid program.
pub fn assembled(manifest: &Manifest, assembly: &Assembly) -> Result<Image, LoadError> {
    let path = &manifest.path;
    let lines = assemble_lines(&assembly.code).map_err(|error| LoadError::Assembly {
        manifest: path.clone(),
        line: assembly.line + error.line - 1,
        problem: error.problem,
    })?;
    let kernel = Kernel {
        name: assembly.name.clone(),
        lines: lines.iter().map(|(line, _)| (assembly.line + line - 1) as u32).collect(),
        code: lines.into_iter().map(|(_, instruction)| instruction).collect(),
        registers: assembly.registers,
        parameters: parameters(manifest, &assembly.name),
        static_shared: assembly.shared,
        local_bytes: assembly.local,
        ..Kernel::default()
    };
    let source = path.display().to_string();
    Program::new(&kernel, &source).map_err(|error| LoadError::Mismatch {
        manifest: path.clone(),
        place: None,
        problem: error.to_string(),
    })?;
    Ok(Image { source, kernels: vec![kernel], symbols: Vec::new() })
}

fn parameters(manifest: &Manifest, kernel: &str) -> Vec<Parameter> {
    let launch =
        manifest.launches.iter().find(|launch| named("kernel", &launch.kernel, &[kernel], |name| name).is_ok());
    let arguments = launch.map_or(&[][..], |launch| &launch.args);
    let mut end = 0u32;
    let place = |(number, argument): (usize, &Argument)| {
        let (bytes, align) = (argument.size() as u32, argument.align() as u32);
        let offset = end.next_multiple_of(align);
        end = offset.saturating_add(bytes);
        Parameter { name: format!("p{number}"), offset, bytes, align }
    };
    arguments.iter().enumerate().map(place).collect()
}
