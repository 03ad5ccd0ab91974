//! The device of a process: its memory, modules, streams and events, and what each request does to them.

mod memory;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::rc::Rc;
use std::time::Instant;

use gpurf_blocks::config::Config;
use gpurf_isa::image::SymbolSpace;
use gpurf_isa::machine::print::{PRINTF_BUFFER, PRINTF_BYTES};
use gpurf_isa::machine::{SHARED_LIMIT, STACK_LIMIT};
use gpurf_launch::PRINTF_SIZES;
use gpurf_lockstep::Verdict;
use gpurf_machine::demand;
use gpurf_oracle::Geometry;
use gpurf_oracle::host::{KernelLaunch, PrintBuffers, Printed, check_sizes, in_source};
use gpurf_sm::residency::{Room, Sharing};

use crate::calls::{Answer, Call, PROTOCOL, Request};
use crate::modules::{Code, Module, Problem};
use crate::properties::{CYCLES_PER_MILLISECOND, GLOBAL_BYTES, Properties};
use crate::record::{Recorder, Taken};
use crate::{CudaError, Runner, Stopped};
use memory::{DeviceMemory, Kind};

/// Handles of the default streams, which need not be created: 0 and 1 are the legacy stream, 2 is the stream of each thread.
const DEFAULT_STREAMS: [u64; 3] = [0, 1, 2];

/// Attribute of a kernel: its maximum dynamic shared memory (`cudaFuncAttributeMaxDynamicSharedMemorySize`).
const DYNAMIC_SHARED: u64 = 8;

/// Maximum number of bytes of printed text in one answer (`cudart.c`).
const MOST_TEXT: usize = 1 << 16;

/// Bytes of a thread's stack until the application changes them, as in CUDA.
const FIRST_STACK: u64 = 1024;

/// CUDA's numbers for three limits: the stack of a thread, the buffer of `printf`, and the heap of `malloc` in kernels.
const LIMIT_OF_STACK: u64 = 0;
const LIMIT_OF_PRINTF: u64 = 1;
const LIMIT_OF_HEAP: u64 = 2;
/// Version of a fat binary whose parts were compiled separately and linked.
const SEPARATE: u64 = 2;
/// Flag of an event that holds no time (`cudaEventDisableTiming`).
const DISABLE_TIMING: u64 = 2;
/// Limits of CUDA on the dimensions of grid and block.
const MOST: [[u64; 3]; 2] = [[(1 << 31) - 1, 65535, 65535], [1024, 1024, 64]];

/// Settings of the device.
pub struct Setup {
    /// The machine, for which kernels are compiled.
    pub config: Config,
    /// Name of its preset, which applications see.
    pub preset: String,
    /// Maximum number of registers of a thread.
    pub registers: u16,
    /// Whether a line is printed for the user after each launch.
    pub verbose: bool,
}

/// Totals over the launches of a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KernelCount {
    /// Launches that completed.
    pub launches: u64,
    /// Launches that were refused: the kernel did not run, and the application got an error.
    pub refused: u64,
    /// Their cycles; `None` for an engine that has none.
    pub cycles: Option<u64>,
}

/// Results of all processes so far.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Launches by kernel, as the CUDA source names it.
    pub kernels: BTreeMap<String, KernelCount>,
    /// The verdict on the first launch that failed without a fault of the application, and the reason.
    pub failed: Option<(Verdict, String)>,
    /// Launches that ended with a fault of the program.
    pub faults: u64,
    /// Calls of functions that are not supported, by name.
    pub refused: BTreeMap<String, u64>,
    /// Messages about a module or a kernel that have been shown.
    shown: HashSet<String>,
}

/// The time of an event: in cycles of the machine, and on the host's clock for engines without cycles.
#[derive(Clone, Copy, Debug)]
struct Moment {
    cycles: Option<u64>,
    clock: Instant,
}

/// An event.
#[derive(Clone, Copy, Debug)]
struct Event {
    /// Whether times between events may be asked of it.
    is_timed: bool,
    /// When it was last recorded.
    moment: Option<Moment>,
}

/// A device.
pub struct Device<'a> {
    setup: &'a Setup,
    /// The configuration for which kernels are compiled: that of the setup, with the stack size that the application has set.
    config: Config,
    /// The stack of a thread, as the application sees it.
    stack: u64,
    /// Bytes of the buffer of `printf`.
    printf_bytes: u32,
    properties: Properties,
    runner: &'a mut dyn Runner,
    recorder: Option<&'a mut Recorder>,
    log: &'a mut Log,
    memory: DeviceMemory,
    modules: Vec<Module>,
    /// Module and name of the kernel of each stub.
    functions: HashMap<u64, (usize, String)>,
    /// Module and name of the variable of each shadow.
    variables: HashMap<u64, (usize, String)>,
    streams: HashSet<u64>,
    events: HashMap<u64, Event>,
    next_handle: u64,
    /// The error that ended the device.
    broken: Option<CudaError>,
    /// Addresses of buffers that the program does not see, by name: kernels print into them.
    hidden: HashMap<String, u32>,
    /// Text that kernels have printed and that the application has not received yet.
    printed: Vec<u8>,
}

/// The words of a request, which have to be `N`.
fn words<const N: usize>(request: &Request) -> Result<[u64; N], CudaError> {
    request.words.as_slice().try_into().map_err(|_| CudaError::InvalidValue)
}

impl<'a> Device<'a> {
    /// A device in its initial state. `shared` is the file of the memory that it shares with the host.
    pub fn new(
        setup: &'a Setup,
        runner: &'a mut dyn Runner,
        recorder: Option<&'a mut Recorder>,
        log: &'a mut Log,
        shared: File,
    ) -> Self {
        Self {
            properties: Properties::new(&setup.config, &setup.preset),
            setup,
            config: setup.config,
            stack: FIRST_STACK,
            printf_bytes: PRINTF_BYTES,
            runner,
            recorder,
            log,
            memory: DeviceMemory::new(shared),
            modules: Vec::new(),
            functions: HashMap::new(),
            variables: HashMap::new(),
            streams: HashSet::new(),
            events: HashMap::new(),
            next_handle: 16,
            broken: None,
            hidden: HashMap::new(),
            printed: Vec::new(),
        }
    }

    /// Handles a request.
    ///
    /// # Errors
    /// The error that the application receives.
    pub fn answer(&mut self, request: &Request) -> Result<Answer, CudaError> {
        let call = request.call.ok_or(CudaError::NotSupported)?;
        // The text that a launch has printed before its fault is delivered after it.
        let is_always_answered = matches!(
            call,
            Call::Hello
                | Call::Module
                | Call::Function
                | Call::Variable
                | Call::ManagedVariable
                | Call::Printed
                | Call::Reset
        );
        match self.broken.filter(|_| !is_always_answered) {
            Some(error) => Err(error),
            None => {
                let answered = self.answer_call(call, request);
                // A launch asks for the kernel's parameters first.
                if answered.is_err() && matches!(call, Call::Parameters | Call::Launch | Call::Cooperative) {
                    self.count_refused(request);
                }
                answered
            }
        }
    }

    /// Counts a launch that did not begin, if its kernel is known.
    fn count_refused(&mut self, request: &Request) {
        let kernel = request.words.first().and_then(|stub| self.functions.get(stub));
        if let Some((_, name)) = kernel {
            self.log.kernels.entry(in_source(name)).or_default().refused += 1;
        }
    }

    fn answer_call(&mut self, call: Call, request: &Request) -> Result<Answer, CudaError> {
        let nothing = |()| Answer::default();
        match call {
            Call::Hello => {
                let [protocol, _version] = words(request)?;
                if protocol == PROTOCOL { Ok(Answer::default()) } else { Err(CudaError::NotSupported) }
            }
            Call::Module => {
                let [version] = words(request)?;
                self.module(&request.bytes, version == SEPARATE)
            }
            Call::Function => {
                let [module, stub] = words(request)?;
                let module = self.module_of(module)?;
                self.functions.insert(stub, (module, name(&request.bytes)?));
                Ok(Answer::default())
            }
            Call::Variable => {
                let [module, shadow, size] = words(request)?;
                self.variable(module, shadow, size, &name(&request.bytes)?).map(nothing)
            }
            Call::ManagedVariable => {
                let [module, shadow, size] = words(request)?;
                let name = name(&request.bytes)?;
                self.variable(module, shadow, size, &name)?;
                let module = self.module_of(module)?;
                let address = *self.modules[module].globals.get(&name).ok_or(CudaError::InvalidSymbol)?;
                self.memory.share(address)?;
                self.modules[module].managed.insert(name);
                Ok(Answer::words([u64::from(address)]))
            }
            Call::Parameters => self.parameters(words::<1>(request)?[0]),
            Call::Launch => self.launch(words(request)?, &request.bytes),
            Call::Printed => Ok(Answer::bytes(self.some_text())),
            Call::Attributes => self.attributes(words::<1>(request)?[0]),
            Call::SetAttribute => {
                let [stub, attribute, value] = words(request)?;
                self.known_function(stub)?;
                let fits = attribute != DYNAMIC_SHARED || value <= SHARED_LIMIT.into();
                if fits { Ok(Answer::default()) } else { Err(CudaError::InvalidValue) }
            }
            Call::Occupancy => {
                let [stub, threads, shared] = words(request)?;
                let sharing = Sharing::of(&self.setup.config);
                Ok(Answer::words([self.resident(stub, threads, shared, sharing)?]))
            }
            Call::Cooperative => self.cooperative(words(request)?),
            Call::Allocate => {
                let [size] = words(request)?;
                self.memory.allocate(size).map(|address| Answer::words([address]))
            }
            Call::AllocateShared => {
                let [size] = words(request)?;
                self.memory.allocate_shared(size, Kind::Managed).map(|address| Answer::words([address]))
            }
            Call::AllocateHost => {
                let [size] = words(request)?;
                self.memory.allocate_shared(size, Kind::Host).map(|address| Answer::words([address]))
            }
            Call::Free => {
                let [address] = words(request)?;
                self.memory.free(address, &[Kind::Device, Kind::Managed]).map(|unmapped| Answer::words([unmapped]))
            }
            Call::FreeHost => {
                let [address] = words(request)?;
                self.memory.free(address, &[Kind::Host]).map(|unmapped| Answer::words([unmapped]))
            }
            Call::Write => {
                let [address] = words(request)?;
                self.memory.write(address, &request.bytes).map(nothing)
            }
            Call::Read => {
                let [address, size] = words(request)?;
                self.memory.read(address, size).map(Answer::bytes)
            }
            Call::Copy => {
                let [to, from, size] = words(request)?;
                let bytes = self.memory.read(from, size)?;
                self.memory.write(to, &bytes).map(nothing)
            }
            Call::Fill => self.fill(words(request)?).map(nothing),
            Call::Symbol => {
                let [shadow] = words(request)?;
                let (module, name) = self.variable_of(shadow)?;
                let module = &self.modules[module];
                let size = module.symbol(&name).map_or(0, |symbol| symbol.bytes);
                let address = module.globals.get(&name).map_or(0, |&at| at.into());
                Ok(Answer::words([address, size.into()]))
            }
            Call::WriteSymbol => {
                let [shadow, offset] = words(request)?;
                self.write_symbol(shadow, offset, &request.bytes).map(nothing)
            }
            Call::ReadSymbol => {
                let [shadow, offset, size] = words(request)?;
                self.read_symbol(shadow, offset, size).map(Answer::bytes)
            }
            Call::Memory => {
                let taken = self.memory.taken();
                Ok(Answer::words([GLOBAL_BYTES.saturating_sub(taken), GLOBAL_BYTES]))
            }
            Call::Pointer => Ok(Answer::words(self.memory.pointer(words::<1>(request)?[0]))),
            Call::CreateStream => {
                let handle = self.handle();
                self.streams.insert(handle);
                Ok(Answer::words([handle]))
            }
            Call::DestroyStream => {
                let [stream] = words(request)?;
                if self.streams.remove(&stream) { Ok(Answer::default()) } else { Err(CudaError::InvalidHandle) }
            }
            Call::Stream => self.stream(words::<1>(request)?[0]).map(nothing),
            Call::CreateEvent => {
                let [flags] = words(request)?;
                let handle = self.handle();
                self.events.insert(handle, Event { is_timed: flags & DISABLE_TIMING == 0, moment: None });
                Ok(Answer::words([handle]))
            }
            Call::DestroyEvent => {
                let [event] = words(request)?;
                self.events.remove(&event).map(|_| Answer::default()).ok_or(CudaError::InvalidHandle)
            }
            Call::Event => {
                let [event] = words(request)?;
                self.events.get(&event).map(|_| Answer::default()).ok_or(CudaError::InvalidHandle)
            }
            Call::RecordEvent => {
                let [event, stream] = words(request)?;
                self.stream(stream)?;
                let now = Moment { cycles: self.runner.cycles(), clock: Instant::now() };
                self.events.get_mut(&event).ok_or(CudaError::InvalidHandle)?.moment = Some(now);
                Ok(Answer::default())
            }
            Call::Elapsed => self.elapsed(words(request)?),
            Call::Limit => match words::<1>(request)?[0] {
                LIMIT_OF_STACK => Ok(Answer::words([self.stack])),
                LIMIT_OF_PRINTF => Ok(Answer::words([self.printf_bytes.into()])),
                _ => Err(CudaError::UnsupportedLimit),
            },
            Call::SetLimit => self.set_limit(words(request)?),
            Call::DeviceAttribute => Ok(Answer::words([self.properties.attribute(words::<1>(request)?[0])])),
            Call::Properties => {
                let [version] = words(request)?;
                self.properties.structure(version).map(Answer::bytes).ok_or(CudaError::InvalidValue)
            }
            Call::Reset => {
                self.memory.clear();
                (self.config, self.stack, self.printf_bytes) = (self.setup.config, FIRST_STACK, PRINTF_BYTES);
                (self.streams, self.events, self.hidden) = (HashSet::new(), HashMap::new(), HashMap::new());
                self.printed.clear();
                self.broken = None;
                self.place_variables()?;
                Ok(Answer::default())
            }
            Call::Refused => {
                let function = name(&request.bytes)?;
                let times = self.log.refused.entry(function.clone()).or_default();
                *times += 1;
                if *times == 1 {
                    tell(&format!("{function} is not supported; the program is told so (cudaErrorNotSupported)"));
                }
                Ok(Answer::default())
            }
        }
    }

    /// The next part of the printed text, of at most the size that the application takes at once.
    fn some_text(&mut self) -> Vec<u8> {
        let length = self.printed.len().min(MOST_TEXT);
        self.printed.drain(..length).collect()
    }

    fn handle(&mut self) -> u64 {
        self.next_handle += 16;
        self.next_handle
    }

    fn stream(&self, stream: u64) -> Result<(), CudaError> {
        let known = DEFAULT_STREAMS.contains(&stream) || self.streams.contains(&stream);
        if known { Ok(()) } else { Err(CudaError::InvalidHandle) }
    }

    /// Tells the user what is wrong with a module or a kernel, once.
    fn show(&mut self, (error, message): Problem) -> CudaError {
        if self.log.shown.insert(message.clone()) {
            tell(&message);
        }
        error
    }

    // --------------------------------------------------------------------------------------------- modules and variables

    fn module(&mut self, fat: &[u8], separate: bool) -> Result<Answer, CudaError> {
        let name = format!("module{}.ptx", self.modules.len() + 1);
        let module = Module::read(&name, fat, separate, &self.setup.config, self.setup.registers);
        let module = module.map_err(|problem| self.show(problem))?;
        self.modules.push(module);
        Ok(Answer::words([self.modules.len() as u64]))
    }

    /// The index of a module; its handle is one more.
    fn module_of(&self, handle: u64) -> Result<usize, CudaError> {
        let index = usize::try_from(handle).ok().and_then(|handle| handle.checked_sub(1));
        index.filter(|index| *index < self.modules.len()).ok_or(CudaError::InvalidImage)
    }

    /// Registers the variable of a shadow. All variables of a module in global memory get their addresses together.
    fn variable(&mut self, module: u64, shadow: u64, size: u64, name: &str) -> Result<(), CudaError> {
        let module = self.module_of(module)?;
        let symbol = self.modules[module].symbol(name).ok_or(CudaError::InvalidSymbol)?;
        if u64::from(symbol.bytes) != size {
            return Err(CudaError::InvalidSymbol);
        }
        self.place(module)?;
        self.variables.insert(shadow, (module, name.to_owned()));
        Ok(())
    }

    /// Allocates the variables of a module that have no address yet, and writes their initial values. Each begins at a page boundary, because managed
    /// variables are shared with the host, and the PTX need not say which ones are managed. Variables in constant memory hold addresses only of these.
    fn place(&mut self, module: usize) -> Result<(), CudaError> {
        let module = &mut self.modules[module];
        let open = |module: &Module| {
            let is_open = |symbol: &&gpurf_isa::image::Symbol| {
                symbol.space == SymbolSpace::Global && !module.globals.contains_key(&symbol.name)
            };
            module.symbols.iter().filter(is_open).map(|s| (s.name.clone(), s.bytes)).collect::<Vec<_>>()
        };
        let open = open(module);
        if open.is_empty() {
            return Ok(());
        }
        for (name, bytes) in &open {
            let (home, is_managed) = (module.homes.get(name).copied(), module.managed.contains(name));
            let address = self.memory.allocate_variable(name, (*bytes).into(), home, is_managed)?;
            module.globals.insert(name.clone(), address as u32);
        }
        for (name, _) in &open {
            let first = module.first_bytes(module.symbol(name).ok_or(CudaError::InvalidSymbol)?)?;
            self.memory.write(module.globals[name].into(), &first)?;
        }
        module.link()
    }

    /// After a reset, with empty memory: variables that had an address get the same address again.
    fn place_variables(&mut self) -> Result<(), CudaError> {
        for index in 0..self.modules.len() {
            let had_addresses = !self.modules[index].globals.is_empty();
            self.modules[index].unlink();
            if had_addresses {
                self.place(index)?;
            }
        }
        Ok(())
    }

    fn variable_of(&self, shadow: u64) -> Result<(usize, String), CudaError> {
        self.variables.get(&shadow).cloned().ok_or(CudaError::InvalidSymbol)
    }

    fn write_symbol(&mut self, shadow: u64, offset: u64, bytes: &[u8]) -> Result<(), CudaError> {
        let (module, name) = self.variable_of(shadow)?;
        let module = &mut self.modules[module];
        let size = module.symbol(&name).map_or(0, |symbol| symbol.bytes);
        if offset.checked_add(bytes.len() as u64).is_none_or(|end| end > size.into()) {
            return Err(CudaError::InvalidValue);
        }
        if let Some(address) = module.globals.get(&name) {
            return self.memory.write(u64::from(*address) + offset, bytes);
        }
        let variable = module.constants.get_mut(&name).ok_or(CudaError::InvalidSymbol)?;
        variable[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn read_symbol(&self, shadow: u64, offset: u64, size: u64) -> Result<Vec<u8>, CudaError> {
        let (module, name) = self.variable_of(shadow)?;
        let module = &self.modules[module];
        let whole = module.symbol(&name).map_or(0, |symbol| symbol.bytes);
        if offset.checked_add(size).is_none_or(|end| end > whole.into()) {
            return Err(CudaError::InvalidValue);
        }
        if let Some(address) = module.globals.get(&name) {
            return self.memory.read(u64::from(*address) + offset, size);
        }
        let variable = module.constants.get(&name).ok_or(CudaError::InvalidSymbol)?;
        Ok(variable[offset as usize..][..size as usize].to_vec())
    }

    fn fill(&mut self, [address, pitch, width, height, value]: [u64; 5]) -> Result<(), CudaError> {
        // If rows could overlap, their number would have no bound.
        if height > 1 && pitch < width.max(1) {
            return Err(CudaError::InvalidPitch);
        }
        // The whole range is checked before a part of it changes.
        let last = height.checked_sub(1).and_then(|rows| rows.checked_mul(pitch)).ok_or(CudaError::InvalidValue)?;
        let size = last.checked_add(width).ok_or(CudaError::InvalidValue)?;
        self.memory.check(address, size)?;
        let row = vec![value as u8; width as usize];
        (0..height).try_for_each(|number| self.memory.write(address + number * pitch, &row))
    }

    // ------------------------------------------------------------------------------------------------------------ kernels

    /// The stack of a thread may grow. The size of the buffer of `printf` is brought into its range, as CUDA may do.
    fn set_limit(&mut self, [limit, value]: [u64; 2]) -> Result<Answer, CudaError> {
        match limit {
            LIMIT_OF_STACK if value <= STACK_LIMIT.into() => {
                self.stack = value;
                let bytes = (value as usize).next_multiple_of(16).max(self.setup.config.compiler.stack_bytes);
                if std::mem::replace(&mut self.config.compiler.stack_bytes, bytes) != bytes {
                    self.modules.iter_mut().for_each(Module::forget_kernels);
                }
            }
            LIMIT_OF_STACK => return Err(CudaError::InvalidValue),
            LIMIT_OF_PRINTF => {
                self.printf_bytes = value
                    .clamp((*PRINTF_SIZES.start()).into(), (*PRINTF_SIZES.end()).into())
                    .next_multiple_of(4) as u32;
                // The next kernel that prints gets a new buffer, whose address is in its code.
                if let Some(address) = self.hidden.remove(PRINTF_BUFFER) {
                    self.memory.free(address.into(), &[Kind::Hidden])?;
                    self.modules.iter_mut().for_each(Module::forget_kernels);
                }
            }
            LIMIT_OF_HEAP => {
                let text =
                    "cudaLimitMallocHeapSize: kernels have no heap, as `malloc` and `new` in kernels are not supported";
                return Err(self.show((CudaError::UnsupportedLimit, text.to_owned())));
            }
            _ => return Err(CudaError::UnsupportedLimit),
        }
        Ok(Answer::default())
    }

    fn known_function(&self, stub: u64) -> Result<(usize, String), CudaError> {
        self.functions.get(&stub).cloned().ok_or(CudaError::InvalidFunction)
    }

    /// The kernel of a stub, compiled for a launch.
    fn code(&mut self, stub: u64, geometry: &Geometry) -> Result<(usize, Rc<Code>), CudaError> {
        let (module, name) = self.known_function(stub)?;
        self.place(module)?;
        let (config, registers) = (&self.config, self.setup.registers);
        let (memory, known, printf_bytes) = (&mut self.memory, &mut self.hidden, self.printf_bytes);
        let mut hidden = |name: &str, bytes: u32| match known.get(name) {
            Some(address) => Ok(*address),
            None => {
                let bytes = if name == PRINTF_BUFFER { printf_bytes } else { bytes };
                let address = memory.allocate_hidden(name, bytes.into())? as u32;
                known.insert(name.to_owned(), address);
                Ok(address)
            }
        };
        let code = self.modules[module].kernel(&name, geometry, (config, registers), &mut hidden);
        code.map(|code| (module, code)).map_err(|problem| self.show(problem))
    }

    /// As `code`, if the sizes of a launch are not known yet: any sizes will do.
    fn some_code(&mut self, stub: u64) -> Result<Rc<Code>, CudaError> {
        let any = Geometry { grid: [1; 3], block: [32, 1, 1], dynamic_shared: 0 };
        self.code(stub, &any).map(|(_, code)| code)
    }

    fn parameters(&mut self, stub: u64) -> Result<Answer, CudaError> {
        let code = self.some_code(stub)?;
        let places = code.kernel.parameters.iter().flat_map(|p| [p.offset.to_ne_bytes(), p.bytes.to_ne_bytes()]);
        Ok(Answer::bytes(places.flatten().collect()))
    }

    fn attributes(&mut self, stub: u64) -> Result<Answer, CudaError> {
        let code = self.some_code(stub)?;
        let kernel = &code.kernel;
        let (module, _) = self.known_function(stub)?;
        let constant = self.modules[module].constants.values().map(Vec::len).sum::<usize>();
        let threads = kernel.max_threads.map_or(self.properties.attribute(1), u64::from);
        let dynamic = SHARED_LIMIT.saturating_sub(kernel.static_shared);
        let (shared, local) = (kernel.static_shared.into(), kernel.local_bytes.into());
        Ok(Answer::words([shared, constant as u64, local, threads, kernel.registers.into(), dynamic.into()]))
    }

    /// The blocks of a kernel that are on the SM at the same time. 0 if it cannot have one.
    fn resident(&mut self, stub: u64, threads: u64, shared: u64, sharing: Option<Sharing>) -> Result<u64, CudaError> {
        let code = self.some_code(stub)?;
        let small = |value: u64| u32::try_from(value).map_err(|_| CudaError::InvalidValue);
        let geometry = Geometry { grid: [1; 3], block: [small(threads)?, 1, 1], dynamic_shared: small(shared)? };
        let most = self.properties.attribute(1);
        let bound = code.kernel.max_threads.map_or(most, u64::from);
        if threads == 0 || threads > most.min(bound) || shared > SHARED_LIMIT.into() {
            return Ok(0);
        }
        let room = Room::of(&self.setup.config);
        Ok(room.residency(&demand(&code.kernel, &geometry), sharing).blocks().into())
    }

    /// Checks that the blocks of a cooperative launch can wait for each other. Blocks that share registers or scratchpad with another one do not count:
    /// such a block may have to wait until the other one ends.
    fn cooperative(&mut self, [stub, gx, gy, gz, bx, by, bz, shared]: [u64; 8]) -> Result<Answer, CudaError> {
        let product = |size: [u64; 3]| size.iter().try_fold(1u64, |product, &n| product.checked_mul(n));
        let sizes = [[gx, gy, gz], [bx, by, bz]];
        // The launch itself refuses impossible sizes.
        let (Some(blocks), Some(threads)) = (product(sizes[0]), product(sizes[1])) else {
            return Ok(Answer::default());
        };
        let room = self.resident(stub, threads, shared, None)?;
        if room > 0 && blocks > room {
            let why =
                format!("all blocks of a cooperative launch are on the SM at the same time, which has room for {room}");
            return Err(self.impossible(stub, sizes, (CudaError::CooperativeTooLarge, &why)));
        }
        Ok(Answer::default())
    }

    fn launch(&mut self, words: [u64; 9], parameters: &[u8]) -> Result<Answer, CudaError> {
        let [stub, gx, gy, gz, bx, by, bz, shared, stream] = words;
        self.stream(stream)?;
        let sizes = [[gx, gy, gz], [bx, by, bz]];
        let fits =
            |size: &[u64; 3], most: [u64; 3]| size.iter().zip(most).all(|(&size, most)| size > 0 && size <= most);
        let all = |size: [u64; 3]| size.iter().product::<u64>();
        if !sizes.iter().zip(MOST).all(|(size, most)| fits(size, most))
            || all(sizes[1]) > 1024
            || all(sizes[0]) >> 32 > 0
        {
            let why = "sizes are 1 or more, and a block has at most 1,024 threads";
            return Err(self.impossible(stub, sizes, (CudaError::InvalidConfiguration, why)));
        }
        if shared > SHARED_LIMIT.into() {
            let why = format!("a block has at most {SHARED_LIMIT} bytes of shared memory");
            return Err(self.impossible(stub, sizes, (CudaError::InvalidValue, &why)));
        }
        let [grid, block] = sizes.map(|size| size.map(|size| size as u32));
        let geometry = Geometry { grid, block, dynamic_shared: shared as u32 };
        let (module, code) = self.code(stub, &geometry)?;
        let kernel = &code.kernel;
        if parameters.len() != kernel.parameter_bytes() as usize {
            return Err(CudaError::InvalidValue);
        }
        if let Err(why) = check_sizes(kernel, block, geometry.dynamic_shared) {
            return Err(self.impossible(stub, sizes, (CudaError::OutOfResources, &why.to_string())));
        }
        let module = &self.modules[module];
        let constant = module.constant_space(&code, parameters);
        let launch = KernelLaunch { kernel, source: &module.name, geometry, constant: &constant, fault: None };
        self.memory.sync_from_host()?;
        let stack = self.config.compiler.stack_bytes;
        let stack = (stack != self.setup.config.compiler.stack_bytes).then_some(stack);
        let before = self.recorder.as_mut().map(|recorder| {
            recorder.before(&Taken { module, kernel, geometry, parameters, memory: self.memory.all(), stack })
        });
        let (engine, cycles) = (self.runner.name(), self.runner.cycles());
        let prints = !kernel.prints.is_empty() || kernel.asserts;
        let buffers = if prints { PrintBuffers::of(self.memory.all()) } else { PrintBuffers::default() };
        buffers.prepare(kernel, self.memory.all_mut());
        let mut ended = self.runner.launch(&launch, self.memory.all_mut());
        if prints {
            let mut printed = Printed::default();
            let addresses = module.addresses();
            buffers.print(kernel, &geometry, (self.memory.all(), &constant), &addresses, &mut printed);
            self.printed.extend(printed.text.into_bytes());
            printed.assertions.iter().for_each(|message| tell(message));
            if printed.dropped > 0 {
                tell(&format!("{}: {} calls of printf found no room in its buffer", kernel.name, printed.dropped));
            }
            if let (Err(stopped), false) = (&mut ended, printed.assertions.is_empty()) {
                stopped.error = CudaError::Assert;
            }
        }
        let cycles = self.runner.cycles().zip(cycles).map(|(after, before)| after - before);
        let name = in_source(&kernel.name);
        match ended {
            Ok(()) => {
                self.memory.sync_to_host()?;
                if let (Some(recorder), Some(before)) = (self.recorder.as_mut(), before) {
                    let problem = before.and_then(|before| recorder.after(before, self.memory.all())).err();
                    problem.into_iter().for_each(|problem| tell(&problem));
                }
                if self.setup.verbose {
                    let time = cycles.map_or_else(String::new, |cycles| format!(", {cycles} cycles"));
                    tell(&format!("{name} {}: {engine}{time}", in_words(sizes)));
                }
                let count = self.log.kernels.entry(name).or_default();
                count.launches += 1;
                count.cycles = cycles.map(|cycles| cycles + count.cycles.unwrap_or(0)).or(count.cycles);
                Ok(Answer { words: vec![0], bytes: self.some_text() })
            }
            Err(stopped) => self.ended_early(&format!("{name} {}", in_words(sizes)), stopped),
        }
    }

    /// Says why the sizes of a launch are impossible.
    fn impossible(&mut self, stub: u64, sizes: [[u64; 3]; 2], (error, why): (CudaError, &str)) -> CudaError {
        let name = self.functions.get(&stub).map_or_else(String::new, |(_, name)| in_source(name));
        self.show((error, format!("{name} {}: {why}: {error}", in_words(sizes))))
    }

    /// Handles a launch that was refused, or that ended the device.
    fn ended_early(&mut self, launch: &str, stopped: Stopped) -> Result<Answer, CudaError> {
        let Stopped { error, message, verdict, refused } = stopped;
        tell(&format!("{launch}: {message}"));
        if refused {
            return Err(error);
        }
        match verdict {
            Some(verdict) => {
                self.log.failed.get_or_insert((verdict, message));
            }
            None => self.log.faults += 1,
        }
        self.broken = Some(error);
        // As on a real device, the calls after the launch return the error.
        Ok(Answer { words: vec![error.code() as u64], bytes: self.some_text() })
    }

    fn elapsed(&self, events: [u64; 2]) -> Result<Answer, CudaError> {
        let moment = |event| {
            let timed = self.events.get(&event).filter(|event| event.is_timed);
            timed.and_then(|event| event.moment).ok_or(CudaError::InvalidHandle)
        };
        let [from, to] = [moment(events[0])?, moment(events[1])?];
        let milliseconds = match (from.cycles, to.cycles) {
            (Some(from), Some(to)) => (to as f64 - from as f64) / CYCLES_PER_MILLISECOND,
            _ => to.clock.saturating_duration_since(from.clock).as_secs_f64() * 1e3,
        };
        Ok(Answer::words([milliseconds.to_bits()]))
    }
}

/// The sizes of grid and block, as CUDA writes them.
fn in_words([[gx, gy, gz], [bx, by, bz]]: [[u64; 3]; 2]) -> String {
    format!("<<<({gx}, {gy}, {gz}), ({bx}, {by}, {bz})>>>")
}

fn name(bytes: &[u8]) -> Result<String, CudaError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| CudaError::InvalidValue)
}

/// Prints a line for the user.
pub(crate) fn tell(text: &str) {
    eprintln!("gpurf exec: {text}");
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
