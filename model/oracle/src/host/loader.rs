//! Buffers and variables get addresses, and the code gets them.

use std::collections::HashMap;
use std::path::PathBuf;

use gpurf_isa::image::{Kernel, Symbol, SymbolSpace};
use gpurf_isa::machine::{BLOCK_THREADS, CONSTANT_WINDOW, PARAMETER_SPACE, SHARED_LIMIT};
use gpurf_isa::{Image, Operand};
use gpurf_launch::{Argument, Launch, Manifest, ManifestError};

use crate::memory::{BufferIndex, Memory, OutOfMemory};

/// Why a manifest and an image do not go together.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file that the manifest names is at fault.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A line of the manifest is no instruction.
    #[error("{}:{line}: {problem}", manifest.display())]
    Assembly {
        /// The manifest.
        manifest: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// They contradict each other.
    #[error("{}: {problem}", manifest.display())]
    Mismatch {
        /// The manifest.
        manifest: PathBuf,
        /// What does not fit.
        problem: String,
    },
}

/// Of several things with names as they are in the PTX, the one that a manifest means: by that name, or by the name of a C++ function or variable
/// outside namespaces.
///
/// # Errors
/// When there is none, or more than one; the text says so.
pub fn named<'a, T>(what: &str, name: &str, all: &'a [T], name_of: fn(&T) -> &str) -> Result<&'a T, String> {
    if let Some(found) = all.iter().find(|thing| name_of(thing) == name) {
        return Ok(found);
    }
    let length = name.len();
    let is_mangled = |thing: &&T| {
        // The parameters' types follow without a separator, or templates' arguments.
        ["_Z", "_ZL"].iter().any(|prefix| name_of(thing).starts_with(&format!("{prefix}{length}{name}")))
    };
    let mut found = all.iter().filter(is_mangled);
    let list =
        |things: &[&T]| things.iter().map(|thing| format!("`{}`", name_of(thing))).collect::<Vec<_>>().join(", ");
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (Some(first), Some(second)) => {
            let rest: Vec<&T> = [first, second].into_iter().chain(found).collect();
            Err(format!("`{name}` is the name of more than one {what}: say which of {}", list(&rest)))
        }
        (None, _) if all.is_empty() => Err(format!("there is no {what} `{name}`: the source has none")),
        (None, _) => Err(format!("there is no {what} `{name}`; there are {}", list(&all.iter().collect::<Vec<_>>()))),
    }
}

/// Memory with all buffers and variables, and the image with their addresses filled in.
#[derive(Debug)]
pub struct Loaded {
    pub image: Image,
    pub memory: Memory,
    /// The buffers of the manifest.
    pub buffers: Vec<BufferIndex>,
    /// The constant space with its variables; the parameters are zero.
    pub constant: Vec<u8>,
}

/// Places everything.
///
/// # Errors
/// When something does not fit, or a file cannot be read.
pub fn load(manifest: &Manifest, image: &Image) -> Result<Loaded, LoadError> {
    let mismatch = |problem: String| LoadError::Mismatch { manifest: manifest.path.clone(), problem };
    let full = |name: &str, error: &OutOfMemory| mismatch(format!("buffer `{name}`: {error}"));
    let mut memory = Memory::default();
    let mut buffers = Vec::new();
    for buffer in &manifest.buffers {
        // Before its bytes are made: they may be more than the machine has.
        if buffer.size() >= 1 << 32 {
            return Err(full(&buffer.name, &OutOfMemory::Full { bytes: buffer.size() }));
        }
        let bytes = buffer.initial_bytes()?;
        buffers.push(memory.add_at(&buffer.name, &bytes, buffer.address).map_err(|e| full(&buffer.name, &e))?);
    }
    let mut values = initial_values(manifest, image, &mismatch)?;
    let mut addresses = HashMap::new();
    for symbol in &image.symbols {
        let address = match symbol.space {
            SymbolSpace::Constant { offset } => u64::from(CONSTANT_WINDOW) << 32 | u64::from(offset),
            SymbolSpace::Global => {
                let zeros = vec![0; symbol.bytes as usize];
                let index = memory.add(&symbol.name, &zeros).map_err(|e| full(&symbol.name, &e))?;
                memory.buffer(index).address().into()
            }
        };
        addresses.insert(symbol.name.as_str(), address);
    }
    let address_of = |name: &str| {
        let unknown = || mismatch(format!("the code uses the address of `{name}`, which is no variable of the image"));
        addresses.get(name).copied().ok_or_else(unknown)
    };
    let mut constant = vec![0; PARAMETER_SPACE as usize];
    let mut global = manifest.buffers.len();
    for symbol in &image.symbols {
        let bytes = values.entry(symbol.name.as_str()).or_default();
        bytes.resize(symbol.bytes as usize, 0);
        for relocation in &symbol.relocations {
            let value = address_of(&relocation.symbol)?.wrapping_add_signed(relocation.addend);
            let at = relocation.at as usize;
            let place = bytes.get_mut(at..at.saturating_add(8));
            let outside = || mismatch(format!("an address in variable `{}` lies behind its end", symbol.name));
            place.ok_or_else(outside)?.copy_from_slice(&value.to_le_bytes());
        }
        match symbol.space {
            SymbolSpace::Constant { offset } => {
                let end = offset as usize + bytes.len();
                constant.resize(constant.len().max(end), 0);
                constant[offset as usize..end].copy_from_slice(bytes);
            }
            SymbolSpace::Global => {
                memory.write(BufferIndex(global), bytes);
                global += 1;
            }
        }
    }
    let mut image = image.clone();
    for kernel in &mut image.kernels {
        relocate(kernel, &address_of)?;
    }
    Ok(Loaded { image, memory, buffers, constant })
}

/// The first bytes of each variable: the manifest's, else the image's.
fn initial_values<'a>(
    manifest: &Manifest,
    image: &'a Image,
    mismatch: &impl Fn(String) -> LoadError,
) -> Result<HashMap<&'a str, Vec<u8>>, LoadError> {
    let mut values: HashMap<&str, Vec<u8>> =
        image.symbols.iter().map(|symbol| (symbol.name.as_str(), symbol.initial.clone())).collect();
    for given in &manifest.symbols {
        let symbol = named("variable", &given.name, &image.symbols, |s: &Symbol| &s.name).map_err(mismatch)?;
        if given.size() > symbol.bytes.into() {
            return Err(mismatch(format!(
                "symbol `{}` has {} bytes, but the variable has {}",
                given.name,
                given.size(),
                symbol.bytes
            )));
        }
        values.insert(&symbol.name, given.initial_bytes()?);
    }
    Ok(values)
}

fn relocate(kernel: &mut Kernel, address_of: &impl Fn(&str) -> Result<u64, LoadError>) -> Result<(), LoadError> {
    for relocation in std::mem::take(&mut kernel.relocations) {
        let value = address_of(&relocation.symbol)?.wrapping_add_signed(relocation.addend);
        let word = if relocation.upper { value >> 32 } else { value } as u32;
        if let Some(instruction) = kernel.code.get_mut(relocation.instruction as usize) {
            instruction.b = Operand::Imm(word);
        }
    }
    Ok(())
}

/// Whether a kernel can be launched like this.
///
/// # Errors
/// What is in the way.
pub fn check(launch: &Launch, kernel: &Kernel) -> Result<(), String> {
    let name = &launch.kernel;
    if launch.args.len() != kernel.parameters.len() {
        let (given, wanted) = (launch.args.len(), kernel.parameters.len());
        return Err(format!("kernel `{name}` has {wanted} parameters, but {given} arguments are given"));
    }
    for (number, (argument, parameter)) in launch.args.iter().zip(&kernel.parameters).enumerate() {
        let (what, bytes) = match argument {
            Argument::Buffer(_) => ("a buffer's address".to_owned(), 8),
            Argument::Scalar(scalar) => (scalar.ty.name().to_owned(), scalar.ty.size()),
            Argument::PassNumber(ty) => (ty.name().to_owned(), ty.size()),
        };
        if bytes != parameter.bytes as usize {
            return Err(format!(
                "argument {} of kernel `{name}` is {what} of {bytes} bytes, but the parameter has {}",
                number + 1,
                parameter.bytes
            ));
        }
    }
    let threads = launch.block.iter().fold(1u64, |n, &d| n.saturating_mul(d.into()));
    let most = kernel.max_threads.unwrap_or(BLOCK_THREADS).min(BLOCK_THREADS);
    if threads > most.into() {
        return Err(format!("a block of kernel `{name}` has {threads} threads, but it can have {most}"));
    }
    if let Some([x, y, z]) = kernel.required_threads.filter(|required| *required != launch.block) {
        return Err(format!("a block of kernel `{name}` must have {x} x {y} x {z} threads"));
    }
    let shared = u64::from(kernel.static_shared) + u64::from(launch.dynamic_shared);
    if shared > SHARED_LIMIT.into() {
        return Err(format!(
            "a block of kernel `{name}` has {shared} bytes of shared memory, but it can have {SHARED_LIMIT}"
        ));
    }
    if kernel.parameter_bytes() > PARAMETER_SPACE {
        return Err(format!("the parameters of kernel `{name}` have more than {PARAMETER_SPACE} bytes"));
    }
    Ok(())
}
