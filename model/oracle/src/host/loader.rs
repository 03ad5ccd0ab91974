//! Places buffers and variables, and fills their addresses into the code.

use std::collections::HashMap;
use std::path::PathBuf;

use gpurf_isa::image::{Kernel, Symbol, SymbolSpace};
use gpurf_isa::machine::print::PRINTF_BUFFER;
use gpurf_isa::machine::{BLOCK_THREADS, CONSTANT_WINDOW, PARAMETER_LIMIT, SHARED_LIMIT};
use gpurf_isa::{Image, Operand};
use gpurf_launch::{Argument, Buffer, BufferId, Init, Launch, Manifest, ManifestError, Origin};

use super::names::named;
use super::print::Addresses;
use crate::memory::{BufferIndex, Memory, OutOfMemory};

/// Why a manifest and an image do not match.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file that the manifest names is missing or wrong.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A line of the manifest is not an instruction.
    #[error("{}:{line}: {problem}", manifest.display())]
    Assembly {
        /// The manifest.
        manifest: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// Manifest and image contradict each other.
    #[error("{}{}: {problem}", manifest.display(), in_words(*place))]
    Mismatch {
        /// The manifest.
        manifest: PathBuf,
        /// Line and column, from 1, where something in the manifest does not fit.
        place: Option<(usize, usize)>,
        /// What does not fit.
        problem: String,
    },
}

fn in_words(place: Option<(usize, usize)>) -> String {
    place.map_or_else(String::new, |(line, column)| format!(":{line}:{column}"))
}

impl LoadError {
    /// The error for something at a place of a manifest that does not match the image.
    pub fn at(manifest: &Manifest, origin: &Origin, problem: String) -> Self {
        Self::Mismatch { manifest: manifest.path.clone(), place: Some(origin.line_and_column()), problem }
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
    /// The generic addresses of all variables.
    pub addresses: Addresses,
}

/// Places all buffers and variables in memory.
///
/// # Errors
/// When something does not fit, or a file cannot be read.
pub fn load(manifest: &Manifest, image: &Image) -> Result<Loaded, LoadError> {
    let mismatch = |problem: String| LoadError::Mismatch { manifest: manifest.path.clone(), place: None, problem };
    let full = |name: &str, error: &OutOfMemory| mismatch(format!("buffer `{name}`: {error}"));
    let image = &with_printf_buffer(image, manifest.printf_buffer);
    let given = given_values(manifest, image)?;
    let mut memory = Memory::default();
    let mut buffers = vec![None; manifest.buffers.len()];
    let own = |(_, buffer): &(usize, &Buffer)| buffer.symbol.is_none();
    for (number, buffer) in manifest.buffers.iter().enumerate().filter(own) {
        // The size is checked before the bytes are made, which may be more than the host's memory.
        if buffer.size() >= 1 << 32 {
            return Err(full(&buffer.name, &OutOfMemory::Full { bytes: buffer.size() }));
        }
        let bytes = buffer.initial_bytes()?;
        let index = memory.add_at(&buffer.name, &bytes, buffer.address).map_err(|e| full(&buffer.name, &e))?;
        buffers[number] = Some(index);
    }
    let mut addresses = HashMap::new();
    let mut places = HashMap::new();
    for symbol in &image.symbols {
        let address = match symbol.space {
            SymbolSpace::Constant { offset } => u64::from(CONSTANT_WINDOW) << 32 | u64::from(offset),
            SymbolSpace::Global => {
                let zeros = vec![0; symbol.bytes as usize];
                let index = memory.add(&symbol.name, &zeros).map_err(|e| full(&symbol.name, &e))?;
                places.insert(symbol.name.as_str(), index);
                memory.buffer(index).address().into()
            }
        };
        addresses.insert(symbol.name.clone(), address);
    }
    for (name, given) in &given {
        if let Given::Buffer(number) = given {
            buffers[*number] = places.get(name).copied();
        }
    }
    // Each buffer has a place: its own, or that of a variable in global memory.
    let buffers: Vec<BufferIndex> = buffers.into_iter().flatten().collect();
    let begin_of = |id: BufferId| u64::from(memory.buffer(buffers[id.0]).address());
    let mut filled = Vec::new();
    for (number, buffer) in manifest.buffers.iter().enumerate().filter(own) {
        if buffer.has_addresses() {
            let mut bytes = buffer.initial_bytes()?;
            buffer.fill_addresses(&mut bytes, &begin_of);
            filled.push((buffers[number], bytes));
        }
    }
    let address_of = |name: &str| {
        let unknown = || mismatch(format!("the code uses the address of `{name}`, which is no variable of the image"));
        addresses.get(name).copied().ok_or_else(unknown)
    };
    let mut constant = vec![0; image.parameter_space() as usize];
    for symbol in &image.symbols {
        let given = match given.get(symbol.name.as_str()) {
            Some(given) => given.bytes(manifest, &begin_of)?,
            None => None,
        };
        let outside = || mismatch(format!("an address in variable `{}` lies beyond its end", symbol.name));
        let bytes = first_bytes(symbol, given, &address_of)?.ok_or_else(outside)?;
        match symbol.space {
            SymbolSpace::Constant { offset } => {
                let end = offset as usize + bytes.len();
                constant.resize(constant.len().max(end), 0);
                constant[offset as usize..end].copy_from_slice(&bytes);
            }
            SymbolSpace::Global => filled.push((places[symbol.name.as_str()], bytes)),
        }
    }
    for (index, bytes) in filled {
        memory.write(index, &bytes);
    }
    let mut image = image.clone();
    for kernel in &mut image.kernels {
        relocate(kernel, &address_of)?;
    }
    Ok(Loaded { image, memory, buffers, constant, addresses })
}

/// An image whose buffer of `printf`, if it has one, has the size that the manifest asks for.
fn with_printf_buffer(image: &Image, bytes: Option<u32>) -> Image {
    let mut image = image.clone();
    let buffer = image.symbols.iter_mut().find(|symbol| symbol.name == PRINTF_BUFFER);
    if let (Some(buffer), Some(bytes)) = (buffer, bytes) {
        buffer.bytes = bytes;
    }
    image
}

/// What a manifest defines for a variable.
#[derive(Clone, Copy)]
enum Given<'a> {
    /// Its initial value.
    Symbol(&'a gpurf_launch::Symbol),
    /// The buffer that it is, by index.
    Buffer(usize),
}

impl Given<'_> {
    /// The initial bytes of the variable; `None` if those of the source remain.
    fn bytes(&self, manifest: &Manifest, begin_of: &dyn Fn(BufferId) -> u64) -> Result<Option<Vec<u8>>, ManifestError> {
        Ok(match *self {
            Self::Symbol(symbol) => {
                let mut bytes = symbol.initial_bytes()?;
                symbol.fill_addresses(&mut bytes, begin_of);
                Some(bytes)
            }
            Self::Buffer(number) => {
                let buffer = &manifest.buffers[number];
                if buffer.init == Init::Source {
                    return Ok(None);
                }
                let mut bytes = buffer.initial_bytes()?;
                buffer.fill_addresses(&mut bytes, begin_of);
                Some(bytes)
            }
        })
    }
}

/// What the manifest defines for variables, by their names in the PTX.
fn given_values<'a>(manifest: &'a Manifest, image: &'a Image) -> Result<HashMap<&'a str, Given<'a>>, LoadError> {
    let mut all = HashMap::new();
    let find = |name: &str, origin: &Origin| {
        let found = named("variable", name, &image.symbols, |s: &Symbol| &s.name);
        found.map_err(|problem| LoadError::at(manifest, origin, problem))
    };
    let mut give = |symbol: &'a Symbol, given: Given<'a>, origin: &Origin| match all.insert(symbol.name.as_str(), given)
    {
        None => Ok(()),
        Some(_) => Err(LoadError::at(manifest, origin, format!("variable `{}` is defined twice", symbol.name))),
    };
    for given in &manifest.symbols {
        let mismatch = |problem| LoadError::at(manifest, &given.origin, problem);
        let symbol = find(&given.name, &given.origin)?;
        if given.size() > symbol.bytes.into() {
            return Err(mismatch(format!(
                "symbol `{}` has {} bytes, but the variable has {}",
                given.name,
                given.size(),
                symbol.bytes
            )));
        }
        give(symbol, Given::Symbol(given), &given.origin)?;
    }
    for (number, buffer) in manifest.buffers.iter().enumerate() {
        let Some(name) = &buffer.symbol else { continue };
        let mismatch = |problem| LoadError::at(manifest, &buffer.origin, problem);
        let symbol = find(name, &buffer.origin)?;
        if let SymbolSpace::Constant { .. } = symbol.space {
            return Err(mismatch(format!(
                "buffer `{}` is variable `{name}` in constant memory, which no kernel writes: a `[[symbol]]` gives its value",
                buffer.name
            )));
        }
        if buffer.size() != symbol.bytes.into() {
            return Err(mismatch(format!(
                "buffer `{}` has {} bytes, but its variable `{name}` has {}",
                buffer.name,
                buffer.size(),
                symbol.bytes
            )));
        }
        give(symbol, Given::Buffer(number), &buffer.origin)?;
    }
    Ok(all)
}

/// The initial bytes of a variable, including addresses of other variables. `given` replaces the source's bytes and addresses; it is padded with
/// zeros. `None` if an address does not lie in the variable.
///
/// # Errors
/// Those of `address_of`.
pub fn first_bytes<E>(
    symbol: &Symbol,
    given: Option<Vec<u8>>,
    address_of: &impl Fn(&str) -> Result<u64, E>,
) -> Result<Option<Vec<u8>>, E> {
    let is_given = given.is_some();
    let mut bytes = given.unwrap_or_else(|| symbol.initial.clone());
    bytes.resize(symbol.bytes as usize, 0);
    for relocation in symbol.relocations.iter().filter(|_| !is_given) {
        let value = address_of(&relocation.symbol)?.wrapping_add_signed(relocation.addend);
        let at = relocation.at as usize;
        match bytes.get_mut(at..at.saturating_add(8)) {
            Some(place) => place.copy_from_slice(&value.to_le_bytes()),
            None => return Ok(None),
        }
    }
    Ok(Some(bytes))
}

/// Fills in the addresses of variables in a kernel's code.
///
/// # Errors
/// Those of `address_of`. The code has then been changed in part.
pub fn relocate<E>(kernel: &mut Kernel, address_of: &impl Fn(&str) -> Result<u64, E>) -> Result<(), E> {
    for relocation in std::mem::take(&mut kernel.relocations) {
        let value = address_of(&relocation.symbol)?.wrapping_add_signed(relocation.addend);
        let word = if relocation.upper { value >> 32 } else { value } as u32;
        if let Some(instruction) = kernel.code.get_mut(relocation.instruction as usize) {
            instruction.b = Operand::Imm(word);
        }
    }
    Ok(())
}

/// Checks whether a kernel can be launched with these arguments and sizes.
///
/// # Errors
/// The first problem, with its place in the manifest.
pub fn check(launch: &Launch, kernel: &Kernel) -> Result<(), (Origin, String)> {
    check_arguments(launch, kernel)?;
    check_sizes(kernel, launch.block, launch.dynamic_shared)
        .map_err(|problem| (launch.origin.clone(), problem.to_string()))
}

fn check_arguments(launch: &Launch, kernel: &Kernel) -> Result<(), (Origin, String)> {
    let name = &launch.kernel;
    if launch.args.len() != kernel.parameters.len() {
        let (given, wanted) = (launch.args.len(), kernel.parameters.len());
        let problem = format!("kernel `{name}` has {wanted} parameters, but {given} arguments are given");
        return Err((launch.origin.clone(), problem));
    }
    for (number, (argument, parameter)) in launch.args.iter().zip(&kernel.parameters).enumerate() {
        let wrong = |problem| Err((launch.arg_origins[number].clone(), problem));
        let (number, what, bytes) = (number + 1, argument.describe(), argument.size());
        if bytes != parameter.bytes.into() {
            return wrong(format!(
                "argument {number} of kernel `{name}` is {what} of {bytes} bytes, but the parameter has {}",
                parameter.bytes
            ));
        }
        if matches!(argument, Argument::Struct(_)) && argument.align() != parameter.align.into() {
            return wrong(format!(
                "argument {number} of kernel `{name}` is {what} aligned to {} bytes, but the parameter is aligned to {}: see `align`",
                argument.align(),
                parameter.align
            ));
        }
    }
    Ok(())
}

/// Sizes with which a kernel cannot be launched.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SizeError {
    /// Too many threads.
    #[error("a block of kernel `{kernel}` has {threads} threads, but it can have {most}")]
    Threads {
        /// The kernel.
        kernel: String,
        /// Threads of a block.
        threads: u64,
        /// The most that it can have.
        most: u32,
    },
    /// Other dimensions than those that the kernel requires.
    #[error("a block of kernel `{kernel}` must have {x} x {y} x {z} threads")]
    Required {
        /// The kernel.
        kernel: String,
        /// Threads in x that it requires.
        x: u32,
        /// Threads in y that it requires.
        y: u32,
        /// Threads in z that it requires.
        z: u32,
    },
    /// Too much shared memory.
    #[error("a block of kernel `{kernel}` has {bytes} bytes of shared memory, but it can have {SHARED_LIMIT}")]
    Shared {
        /// The kernel.
        kernel: String,
        /// Static and dynamic shared memory.
        bytes: u64,
    },
    /// Too many parameters.
    #[error("the parameters of kernel `{kernel}` have more than {PARAMETER_LIMIT} bytes")]
    Parameters {
        /// The kernel.
        kernel: String,
    },
}

/// Checks whether a kernel can be launched with blocks of these sizes.
///
/// # Errors
/// The first size that is not allowed.
pub fn check_sizes(kernel: &Kernel, block: [u32; 3], dynamic_shared: u32) -> Result<(), SizeError> {
    let name = || kernel.name.clone();
    let threads = block.iter().fold(1u64, |n, &d| n.saturating_mul(d.into()));
    let most = kernel.max_threads.unwrap_or(BLOCK_THREADS).min(BLOCK_THREADS);
    if threads > most.into() {
        return Err(SizeError::Threads { kernel: name(), threads, most });
    }
    if let Some([x, y, z]) = kernel.required_threads.filter(|required| *required != block) {
        return Err(SizeError::Required { kernel: name(), x, y, z });
    }
    let bytes = u64::from(kernel.static_shared) + u64::from(dynamic_shared);
    if bytes > SHARED_LIMIT.into() {
        return Err(SizeError::Shared { kernel: name(), bytes });
    }
    if kernel.parameter_bytes() > PARAMETER_LIMIT {
        return Err(SizeError::Parameters { kernel: name() });
    }
    Ok(())
}
