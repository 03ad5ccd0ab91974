//! PTX to annotated machine code.
//!
//! The central idea: each PTX instruction is lowered directly to machine operations over virtual registers, with 64-bit values as pairs of words.
//! Everything after that works on one small intermediate form ([`mir`]), in which each operation reads and writes exactly what the machine's
//! instruction does. The price is that the optimiser does not recognise 64-bit arithmetic as such; nvcc has already optimised most of it.
//!
//! [`ptx`] reads the text, `lower` checks and translates it, `passes` simplify, `allocate` finds registers, `names` numbers them, `emit` writes the
//! image, and [`marks`] and [`hierarchy`] fill in the control fields that register-file organisations use. The page `docs/compiler.md` describes the
//! subset, the instruction sequences and the decisions; `docs/hierarchy.md` describes the levels of values.

mod allocate;
pub mod diagnostic;
mod emit;
pub mod hierarchy;
mod listing;
mod lower;
pub mod marks;
mod mir;
mod names;
mod passes;
pub mod ptx;
pub mod scratchpad;
mod source_lines;

pub use diagnostic::{Diagnostic, Diagnostics};
pub use listing::annotate;
pub use names::{RegisterOrder, name_registers};
pub use passes::schedule::Schedule;
pub use passes::schedule::finished::reorder;

use allocate::{Allocation, AllocationError};
pub use diagnostic::Feature;
use diagnostic::{Error, Span};
use gpurf_isa::{Image, Instruction, Predicate, machine};
pub use hierarchy::Explanation;
use hierarchy::{HierarchyOptions, check::CheckError};
use lower::Lowered;
use mir::Function;
use names::Names;
use scratchpad::Orders;
pub use scratchpad::{Scratchpad, ScratchpadOptions};
use serde::{Deserialize, Serialize};

/// Options of the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Maximum number of general registers of a thread, [`Options::FEWEST`] to [`Options::MOST`].
    pub registers: u16,
    /// The order of the instructions in a basic block.
    #[serde(default)]
    pub schedule: Schedule,
    /// The order in which registers are named.
    #[serde(default)]
    pub register_order: RegisterOrder,
    /// The register hierarchy whose levels values are placed in.
    #[serde(default)]
    pub hierarchy: HierarchyOptions,
    /// Maximum distance, in instructions, to the next access for which a register stays ON, 1 to [`marks::power::MOST`]; 0: no power states are
    /// marked.
    #[serde(default)]
    pub power_threshold: u8,
    /// Local memory of a thread for nested calls of recursive functions, in bytes: for their local variables and the values that they save.
    #[serde(default = "default_stack_bytes")]
    pub stack_bytes: u32,
    /// Which 64-bit loads and stores of memory shared between threads are single operations.
    #[serde(default)]
    pub wide_accesses: WideAccesses,
    /// Number of address bits that accesses to global memory read.
    #[serde(default)]
    pub address_bits: AddressBits,
    /// What fetches from textures become.
    #[serde(default)]
    pub textures: Textures,
    /// How code is generated for blocks that share a part of their shared memory.
    #[serde(default)]
    pub scratchpad: ScratchpadOptions,
}

const fn default_stack_bytes() -> u32 {
    machine::STACK_BYTES
}

/// Which 64-bit loads and stores of memory shared between threads are single operations, which no other access can split. The rest are two operations
/// of 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WideAccesses {
    /// Accesses that the PTX memory model calls strong: `.volatile`, `.relaxed`, `.acquire`, `.release`, `.mmio`.
    #[default]
    Strong,
    /// All accesses to global memory, also where the program has a data race.
    All,
}

/// What fetches from textures become (`docs/textures.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Textures {
    /// Instructions of the texture unit, where it can perform them.
    #[default]
    Unit,
    /// Sequences of ordinary instructions.
    Sequence,
}

/// Number of address bits that accesses to global memory read. Serialised as that number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum AddressBits {
    /// 32: the low word only, as on a machine with 32-bit addresses.
    Narrow,
    /// 64: both words.
    #[default]
    Wide,
}

impl AddressBits {
    /// Both variants.
    pub const ALL: [Self; 2] = [Self::Narrow, Self::Wide];

    /// The number of bits.
    pub const fn number(self) -> u8 {
        match self {
            Self::Narrow => 32,
            Self::Wide => 64,
        }
    }
}

impl From<AddressBits> for u8 {
    fn from(bits: AddressBits) -> Self {
        bits.number()
    }
}

impl TryFrom<u8> for AddressBits {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        let bits = Self::ALL.into_iter().find(|bits| bits.number() == number);
        bits.ok_or_else(|| format!("addresses have 32 or 64 bits, not {number}"))
    }
}

impl Options {
    /// The smallest number of registers that every kernel of the subset fits into.
    pub const FEWEST: u16 = 16;
    /// The number of registers that an instruction can name.
    pub const MOST: u16 = 255;

    /// The default options, with values placed in three ORF entries and the banks of a split LRF.
    #[cfg(test)]
    pub(crate) fn with_levels() -> Self {
        let places = HierarchyOptions::of_machine(3, gpurf_isa::LastResultFile::Split, 8);
        Self { hierarchy: places, ..Self::default() }
    }

    /// Whether values are placed in levels above the main register file.
    pub const fn have_levels(&self) -> bool {
        !self.hierarchy.is_none()
    }

    /// The places above the main register file that code is made for.
    pub const fn places(&self) -> gpurf_isa::Places {
        self.hierarchy.places()
    }
}

impl Default for Options {
    /// 64 registers: half as many warps fit as with 32 registers.
    fn default() -> Self {
        Self {
            registers: 64,
            schedule: Schedule::None,
            register_order: RegisterOrder::Allocated,
            hierarchy: HierarchyOptions::NONE,
            power_threshold: 0,
            stack_bytes: default_stack_bytes(),
            wide_accesses: WideAccesses::Strong,
            address_bits: AddressBits::Wide,
            textures: Textures::Unit,
            scratchpad: ScratchpadOptions::NONE,
        }
    }
}

/// The result for a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelReport {
    /// Its name.
    pub name: String,
    /// Instructions.
    pub instructions: u32,
    /// General registers of a thread.
    pub registers: u16,
    /// Predicates of a thread, of 7.
    pub predicates: u16,
    /// Values kept in local memory because no register was free.
    pub spilled: u32,
    /// Values recomputed at each use because no register was free: constants, special registers, parameters.
    pub recomputed: u32,
    /// Predicates kept in general registers because no predicate register was free.
    pub spilled_predicates: u32,
    /// Loads of spilled values in the code.
    pub spill_loads: u32,
    /// Stores of spilled values in the code.
    pub spill_stores: u32,
    /// Local memory of a thread in bytes, spilled values included.
    pub local_bytes: u32,
    /// Static shared memory of a block in bytes.
    pub static_shared: u32,
}

/// The results for a module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileReport {
    /// Its kernels, in the order of the image.
    pub kernels: Vec<KernelReport>,
}

/// A compiled module.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The program.
    pub image: Image,
    /// What each kernel needs: instructions, registers and memory.
    pub report: CompileReport,
    /// For each kernel, the reasons for the levels of its values; empty if there is neither ORF nor LRF.
    pub levels: Vec<Explanation>,
    /// For each kernel, its variables of shared memory and the instructions that may access them.
    pub scratchpad: Vec<Scratchpad>,
    /// The wanted kernels that cannot be compiled. The fields above contain only the others.
    pub refused: Vec<Refused>,
}

impl Compiled {
    /// The errors of the wanted kernels; `None` if all of them were compiled.
    pub fn complaints(&self) -> Option<Diagnostics> {
        Diagnostics::merged(self.refused.iter().map(|kernel| &kernel.diagnostics))
    }
}

/// A kernel that cannot be compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Its name.
    pub name: String,
    /// The errors.
    pub diagnostics: Diagnostics,
}

/// A PTX file that has been read.
#[derive(Clone, Debug)]
pub struct Module<'a> {
    source: &'a str,
    file_name: &'a str,
    tree: ptx::ast::Module<'a>,
}

impl<'a> Module<'a> {
    /// Parses PTX. `file_name` is for messages and the image.
    ///
    /// # Errors
    /// Text that is not PTX. Invalid text inside the braces of a kernel is an error of that kernel alone.
    pub fn parse(source: &'a str, file_name: &'a str) -> Result<Self, Diagnostics> {
        let tree = ptx::parse(source).map_err(|e| Diagnostics::new(file_name, source, vec![e]))?;
        Ok(Self { source, file_name, tree })
    }

    /// The names of the kernels that the module defines, in source order, with the text of each.
    pub fn kernels(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let defined = self.tree.functions.iter().filter(|function| function.defines_kernel());
        defined.map(|function| {
            let text = &self.source[function.span.start as usize..function.span.end as usize];
            (function.name.text, text)
        })
    }

    /// Compiles the kernels whose names are wanted. A kernel that cannot be compiled does not prevent the others from being compiled.
    ///
    /// # Errors
    /// Errors of the module as a whole, or options out of range.
    pub fn compile(&self, options: &Options, wanted: &dyn Fn(&str) -> bool) -> Result<Compiled, Diagnostics> {
        self.compile_wanted(options, wanted).map(|(compiled, _)| compiled)
    }

    fn compile_wanted(
        &self,
        options: &Options,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<(Compiled, Vec<Error>), Diagnostics> {
        let diagnostics = |errors| Diagnostics::new(self.file_name, self.source, errors);
        let (mut compiled, refused, wrong) = compile_module(self, options, wanted).map_err(diagnostics)?;
        let all = refused.iter().flat_map(|kernel| &kernel.errors).chain(&wrong).cloned().collect();
        let refused = refused.into_iter().map(|lower::Refused { name, errors }| {
            let diagnostics = diagnostics(errors);
            Refused { name, diagnostics }
        });
        compiled.refused = refused.collect();
        Ok((compiled, all))
    }
}

/// Compiles all of a PTX text. `file_name` is for messages and the image.
///
/// # Errors
/// Text that is not PTX or outside of the subset, each error with line, column, text and reason; options out of range.
pub fn compile(source: &str, file_name: &str, options: &Options) -> Result<Compiled, Diagnostics> {
    let (compiled, errors) = Module::parse(source, file_name)?.compile_wanted(options, &|_| true)?;
    if errors.is_empty() { Ok(compiled) } else { Err(Diagnostics::new(file_name, source, errors)) }
}

/// Marks finished code for the machine that the options describe: the marks of all machines, then levels, power states, private accesses. Existing
/// marks are replaced. Returns the reasons for the levels of values.
pub fn mark(code: &mut [Instruction], options: &Options) -> Option<Explanation> {
    marks::run(code);
    let explanation = distribute(code, options);
    mark_power(code, options);
    mark_private(code, options, marks::private::Threads::ANY);
    explanation
}

/// Places the values of finished code in the machine's levels, and returns the reasons. Does nothing if there is only the main register file.
pub fn distribute(code: &mut [Instruction], options: &Options) -> Option<Explanation> {
    hierarchy::run(code, &options.hierarchy)
}

/// Marks the power states of finished code's registers, for a main register file below the levels that the options describe. Does nothing if the
/// threshold is 0.
pub fn mark_power(code: &mut [Instruction], options: &Options) {
    marks::power::mark(code, options.power_threshold, options.hierarchy.places());
}

/// Marks accesses of finished code that lie in the private part of shared memory. Does nothing if there is no private part.
pub fn mark_private(code: &mut [Instruction], options: &Options, threads: marks::private::Threads) {
    marks::private::mark(code, options.scratchpad.private_bytes, threads);
}

/// Registers of a thread with which all 32 warps fit into a register file of 128 KB (RFC paper, table 4). A schedule uses more only if the PTX's own
/// order does.
const FULL_SM: u16 = 32;

/// Orders the instructions and allocates registers.
///
/// Scheduling by latency lengthens the lives of values. If registers do not suffice for the latency order, the scheduler tries again with a lower
/// limit on live values. If no limit succeeds, the PTX's own order is kept.
fn schedule_and_allocate(f: &mut Function, options: &Options, local_bytes: u32) -> Result<Allocation, AllocationError> {
    use passes::schedule;
    let allocated = |mut ordered: Function| {
        let allocation = allocate::run(&mut ordered, options.registers, local_bytes)?;
        Ok((ordered, allocation))
    };
    if options.schedule == Schedule::Tree {
        schedule::tree(f);
    }
    let mut best = allocated(f.clone())?;
    if options.schedule == Schedule::Latency {
        let most = best.1.registers.max(FULL_SM).min(options.registers);
        let rooms = [8, 7, 6, 5, 4].map(|eighths| usize::from(most) * eighths / 8);
        for general in rooms {
            let mut ordered = f.clone();
            schedule::latency(&mut ordered, schedule::Limits { general, predicates: Predicate::COUNT - 1 });
            if let Ok(found) = allocated(ordered)
                && found.1.registers <= most
                && found.1.memory_cost() <= best.1.memory_cost()
            {
                best = found;
                break;
            }
        }
    }
    let (ordered, allocation) = best;
    *f = ordered;
    Ok(allocation)
}

/// Proves that every read of finished code finds its value at its level.
///
/// # Errors
/// The first instruction that does not.
pub fn check_levels(code: &[Instruction], options: &Options) -> Result<(), Box<CheckError>> {
    hierarchy::check(code, &options.hierarchy)
}

fn check_options(options: &Options) -> Result<(), String> {
    if !(Options::FEWEST..=Options::MOST).contains(&options.registers) {
        let (fewest, most) = (Options::FEWEST, Options::MOST);
        return Err(format!("{} registers: a thread can have {fewest} to {most}", options.registers));
    }
    options.hierarchy.check()?;
    if options.power_threshold > marks::power::MOST {
        return Err(format!("power_threshold is {}: it is 0 to {}", options.power_threshold, marks::power::MOST));
    }
    options.scratchpad.check()
}

/// The compiled kernels, the wanted kernels that cannot be compiled, and the errors in variables.
type Parts = (Compiled, Vec<lower::Refused>, Vec<Error>);

fn compile_module(module: &Module, options: &Options, wanted: &dyn Fn(&str) -> bool) -> Result<Parts, Vec<Error>> {
    check_options(options).map_err(|message| vec![Error::new(Span::default(), message)])?;
    let Module { source, file_name, tree } = module;
    let mut lowered = lower::lower(source, tree, &Orders::new(), options, wanted)?;
    let orders = scratchpad::orders(&lowered.kernels, &options.scratchpad);
    if !orders.is_empty() {
        lowered = lower::lower(source, tree, &orders, options, wanted)?;
    }
    let lower::Module { kernels, mut refused, symbols, refused_variables } = lowered;
    let image = Image { source: (*file_name).to_owned(), kernels: Vec::new(), symbols };
    let (report, levels, scratchpad) = (CompileReport::default(), Vec::new(), Vec::new());
    let mut compiled = Compiled { image, report, levels, scratchpad, refused: Vec::new() };
    for lowered in kernels {
        let (name, span) = (lowered.name.clone(), lowered.span);
        if let Err(message) = finish(lowered, source, options, &mut compiled) {
            let error = Error::lacks(span, Feature::Room, format!("`{name}` {message}")).in_kernel(&name);
            refused.push(lower::Refused { name, errors: vec![error] });
        }
    }
    Ok((compiled, refused, refused_variables))
}

/// Generates machine code for a lowered kernel and adds it to the others.
///
/// # Errors
/// Why this fails, as the rest of a sentence that begins with the kernel's name.
fn finish(mut lowered: Lowered, source: &str, options: &Options, compiled: &mut Compiled) -> Result<(), String> {
    let f = &mut lowered.function;
    passes::cleanup::run(f);
    match options.schedule {
        Schedule::Tree => passes::simplify::only_dead(f),
        Schedule::None | Schedule::Latency => passes::simplify::run(f),
    }
    passes::entry::run(f);
    passes::legalise::run(f);
    let mut allocation = schedule_and_allocate(f, options, lowered.local_bytes).map_err(|e| e.to_string())?;
    let mut meets = mir::cfg::reconvergence(&lowered.function);
    let releases = scratchpad::release::run(&mut lowered.function, &mut meets, &lowered.shared, &options.scratchpad)?;
    let emitted = |allocation: &Allocation| {
        let too_long = |_| "has more instructions than the machine can address".to_owned();
        emit::kernel(&lowered, allocation, &meets).map_err(too_long)
    };
    let (mut kernel, mut accesses) = emitted(&allocation)?;
    if options.register_order == RegisterOrder::FirstUse {
        Names::by_first_use(&kernel.code).rename_allocation(&lowered.function, &mut allocation);
        (kernel, accesses) = emitted(&allocation)?;
    }
    if cfg!(debug_assertions)
        && let Err(wrong) = allocate::check::check(&lowered.function, &allocation)
    {
        panic!("registers of `{}`: {wrong}", lowered.name);
    }
    kernel.sources = source_lines::of_traps(&kernel, source, lowered.span);
    compiled.levels.extend(mark(&mut kernel.code, options));
    let threads = marks::private::Threads::of(&kernel);
    mark_private(&mut kernel.code, options, threads);
    if cfg!(debug_assertions)
        && options.have_levels()
        && let Err(wrong) = check_levels(&kernel.code, options)
    {
        panic!("levels of `{}`: {wrong}", lowered.name);
    }
    compiled.report.kernels.push(KernelReport {
        name: kernel.name.clone(),
        instructions: kernel.code.len() as u32,
        registers: kernel.registers,
        predicates: allocation.predicates,
        spilled: allocation.spilled,
        recomputed: allocation.recomputed,
        spilled_predicates: allocation.spilled_predicates,
        spill_loads: allocation.loads,
        spill_stores: allocation.stores,
        local_bytes: kernel.local_bytes,
        static_shared: kernel.static_shared,
    });
    compiled.scratchpad.push(Scratchpad::new(lowered.shared, accesses, releases, &options.scratchpad));
    compiled.image.kernels.push(kernel);
    Ok(())
}
