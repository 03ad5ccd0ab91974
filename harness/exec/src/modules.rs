//! Modules: the PTX of a fat binary, its variables, and its kernels, which are compiled at their first launch.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use gpurf_blocks::config::Config;
use gpurf_compiler::{Module as Source, Options};
use gpurf_isa::Image;
use gpurf_isa::image::{Kernel, Symbol, SymbolSpace};
use gpurf_isa::machine::{CONSTANT_WINDOW, PARAMETER_SPACE};
use gpurf_oracle::Geometry;
use gpurf_oracle::host::{first_bytes, relocate};
use gpurf_regress::{BlockSize, compiled_for_sizes, private_part_follows};

use crate::CudaError;
use crate::fatbin::{self, Ptx};

/// The processor whose PTX is preferred, as `sm_75`: newer PTX may have instructions that the compiler does not know.
const PROCESSOR: u32 = 75;

/// Returns the address of a buffer of the device with this name and size, which the program does not see.
pub type Hidden<'a> = dyn FnMut(&str, u32) -> Result<u32, CudaError> + 'a;

/// What is wrong with a module or a kernel: CUDA's error, and the reason in words.
pub type Problem = (CudaError, String);

/// A module.
#[derive(Debug)]
pub struct Module {
    /// Name for messages, and of its file if launches are recorded.
    pub name: String,
    /// Its PTX.
    pub text: String,
    /// Its variables in constant memory, with their current bytes.
    pub constants: BTreeMap<String, Vec<u8>>,
    /// Addresses of its variables in global memory.
    pub globals: BTreeMap<String, u32>,
    /// Addresses of these variables before the device was reset: the host has mapped managed variables there.
    pub homes: BTreeMap<String, u32>,
    /// Names of the variables in global memory that the host has mapped: the PTX need not say which ones are managed.
    pub managed: BTreeSet<String>,
    /// All its variables, as the PTX declares them.
    pub symbols: Vec<Symbol>,
    kernels: HashMap<(String, Option<BlockSize>), Result<Rc<Code>, Problem>>,
}

/// A kernel that can be launched.
#[derive(Debug)]
pub struct Code {
    /// The kernel, with the addresses of variables in its code.
    pub kernel: Kernel,
    /// Offsets of variables in the constant space.
    constants: Vec<(String, u32)>,
}

/// Of several PTX texts, the one for the newest processor that is not newer than [`PROCESSOR`]; if all are newer, the oldest.
fn choose(all: Vec<Ptx>) -> Option<Ptx> {
    let newest = all.iter().filter(|ptx| ptx.processor <= PROCESSOR).max_by_key(|ptx| ptx.processor).cloned();
    newest.or_else(|| all.into_iter().min_by_key(|ptx| ptx.processor))
}

impl Module {
    /// Reads the PTX of a fat binary. That of a program of `separate` compilation has none: the PTX of its parts is elsewhere.
    ///
    /// # Errors
    /// When there is none, or it cannot be read. Errors inside of kernels are not reported here.
    pub fn read(name: &str, fat: &[u8], separate: bool, config: &Config, registers: u16) -> Result<Self, Problem> {
        let found = fatbin::ptx(fat).map_err(|error| {
            (CudaError::InvalidImage, format!("the program's code for the device cannot be read: {error}"))
        })?;
        let none = if separate {
            "the program was compiled in parts that are linked (`nvcc -rdc=true` or `-dc`), which is not supported: \
             compile it without these options"
        } else {
            "the program has no PTX for its kernels, only code of a processor: compile it with \
             `nvcc -gencode arch=compute_75,code=compute_75`"
        };
        let ptx = choose(found).ok_or_else(|| (CudaError::NoImage, none.to_owned()))?;
        let options = gpurf_regress::compiler_options(config, registers);
        let compiled = Source::parse(&ptx.text, name).and_then(|source| source.compile(&options, &|_| false));
        let symbols = compiled.map_err(|error| (CudaError::InvalidPtx, error.to_string()))?.image.symbols;
        Ok(Self {
            name: name.to_owned(),
            constants: initial_constants(&symbols),
            globals: BTreeMap::new(),
            homes: BTreeMap::new(),
            managed: BTreeSet::new(),
            kernels: HashMap::new(),
            text: ptx.text,
            symbols,
        })
    }

    /// The variable of this name.
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|symbol| symbol.name == name)
    }

    /// The generic address of a variable.
    fn address(&self, name: &str) -> Option<u64> {
        let constant = |symbol: &Symbol| match symbol.space {
            SymbolSpace::Constant { offset } => Some(u64::from(CONSTANT_WINDOW) << 32 | u64::from(offset)),
            SymbolSpace::Global => None,
        };
        self.globals.get(name).map(|&at| at.into()).or_else(|| self.symbol(name).and_then(constant))
    }

    /// The initial bytes of a variable. The addresses of other variables among them have to be known.
    ///
    /// # Errors
    /// When one of these addresses belongs to no variable of the module.
    pub fn first_bytes(&self, symbol: &Symbol) -> Result<Vec<u8>, CudaError> {
        let address_of = |name: &str| self.address(name).ok_or(CudaError::InvalidSymbol);
        first_bytes(symbol, None, &address_of)?.ok_or(CudaError::InvalidSymbol)
    }

    /// Writes the addresses of variables, which have to be known, into variables in constant memory.
    ///
    /// # Errors
    /// As [`Module::first_bytes`].
    pub fn link(&mut self) -> Result<(), CudaError> {
        let linked = self
            .symbols
            .iter()
            .filter(|symbol| !symbol.relocations.is_empty() && self.constants.contains_key(&symbol.name))
            .map(|symbol| Ok((symbol.name.clone(), self.first_bytes(symbol)?)))
            .collect::<Result<Vec<_>, CudaError>>()?;
        self.constants.extend(linked);
        Ok(())
    }

    /// A kernel, compiled for a launch unless it has been before. One compilation serves all launches, unless the code depends on their sizes.
    ///
    /// # Errors
    /// When the module has no such kernel, or the compiler refuses it.
    pub fn kernel(
        &mut self,
        name: &str,
        geometry: &Geometry,
        (config, registers): (&Config, u16),
        hidden: &mut Hidden<'_>,
    ) -> Result<Rc<Code>, Problem> {
        let size = private_part_follows(config).then(|| BlockSize {
            kernel: name.to_owned(),
            block: geometry.block,
            shared: geometry.dynamic_shared,
        });
        let key = (name.to_owned(), size);
        if let Some(ready) = self.kernels.get(&key) {
            return ready.clone();
        }
        let ready = self.compile(name, geometry, (config, registers), hidden).map(Rc::new);
        // There may be room for its buffers later.
        if !matches!(ready, Err((CudaError::OutOfMemory, _))) {
            self.kernels.insert(key, ready.clone());
        }
        ready
    }

    /// Removes the addresses of variables and the compiled kernels that contain them, and gives variables in constant memory their initial bytes,
    /// without the addresses of other variables.
    pub fn unlink(&mut self) {
        self.homes.append(&mut self.globals);
        self.constants = initial_constants(&self.symbols);
        self.forget_kernels();
    }

    /// Removes the compiled kernels: they are compiled again at their next launch.
    pub fn forget_kernels(&mut self) {
        self.kernels.clear();
    }

    /// The generic addresses of all variables.
    pub fn addresses(&self) -> HashMap<String, u64> {
        let address = |symbol: &Symbol| Some((symbol.name.clone(), self.address(&symbol.name)?));
        self.symbols.iter().filter_map(address).collect()
    }

    fn compile(
        &self,
        name: &str,
        geometry: &Geometry,
        (config, registers): (&Config, u16),
        hidden: &mut Hidden<'_>,
    ) -> Result<Code, Problem> {
        let wrong = |text: String| (CudaError::NoImage, text);
        let source = Source::parse(&self.text, &self.name).map_err(|error| wrong(error.to_string()))?;
        let compile = |options: &Options| {
            let compiled = source.compile(options, &|kernel| kernel == name).map_err(|error| error.to_string())?;
            compiled.complaints().map_or(Ok(compiled), |complaints| Err(complaints.to_string()))
        };
        let launches =
            |image: &Image| image.kernel(name).map(|kernel| BlockSize::of(kernel, geometry)).into_iter().collect();
        let image = compiled_for_sizes(config, registers, compile, launches).map_err(wrong)?.image;
        let missing = || (CudaError::InvalidFunction, format!("{}: there is no kernel `{name}` in the PTX", self.name));
        let mut kernel = image.kernel(name).ok_or_else(missing)?.clone();
        let mut own = HashMap::new();
        // Buffers into which kernels print are no variables of the program: they come with the kernels that need them.
        for symbol in image.symbols.iter().filter(|symbol| self.symbol(&symbol.name).is_none()) {
            let full = |error| (error, format!("kernel `{name}`: there is no room for its {}", symbol.name));
            own.insert(symbol.name.as_str(), u64::from(hidden(&symbol.name, symbol.bytes).map_err(full)?));
        }
        let address_of = |symbol: &str| {
            let missing = || wrong(format!("kernel `{name}` uses `{symbol}`, which is no variable of its module"));
            own.get(symbol).copied().or_else(|| self.address(symbol)).ok_or_else(missing)
        };
        relocate(&mut kernel, &address_of)?;
        let constants = image.symbols.iter().filter_map(|symbol| match symbol.space {
            SymbolSpace::Constant { offset } => Some((symbol.name.clone(), offset)),
            SymbolSpace::Global => None,
        });
        Ok(Code { constants: constants.collect(), kernel })
    }

    /// The constant space of a launch: its parameters, and the variables after them.
    pub fn constant_space(&self, code: &Code, parameters: &[u8]) -> Vec<u8> {
        let mut space = parameters.to_vec();
        for (name, offset) in &code.constants {
            let bytes = self.constants.get(name).map_or(&[][..], Vec::as_slice);
            let (begin, end) = (*offset as usize, *offset as usize + bytes.len());
            space.resize(space.len().max(end).max(PARAMETER_SPACE as usize), 0);
            space[begin..end].copy_from_slice(bytes);
        }
        space
    }
}

/// The variables in constant memory, by name, with their initial bytes.
fn initial_constants(symbols: &[Symbol]) -> BTreeMap<String, Vec<u8>> {
    let constants = symbols.iter().filter(|symbol| matches!(symbol.space, SymbolSpace::Constant { .. }));
    constants.map(|symbol| (symbol.name.clone(), initial(symbol))).collect()
}

/// The bytes of a variable as the PTX has them.
fn initial(symbol: &Symbol) -> Vec<u8> {
    let mut bytes = symbol.initial.clone();
    bytes.resize(symbol.bytes as usize, 0);
    bytes
}
