//! PTX to annotated machine code.
//!
//! The central idea: a PTX instruction is lowered at once to operations of the machine over virtual registers, with
//! 64-bit values as pairs of words; everything behind that works on one small intermediate form ([`mir`]), in which each
//! operation reads and writes just what the machine's instruction does. The price is that 64-bit arithmetic is not
//! understood as such by the optimiser; nvcc has done most of that work before.
//!
//! [`ptx`] reads the text, `lower` checks and translates it, `passes` simplify, `allocate` finds registers, `names` says which
//! of them is R0, `emit` writes the image, [`marks`] and [`hierarchy`] fill in what register-file organisations want to know. The page `docs/compiler.md` has the subset, the sequences
//! and the decisions, `docs/hierarchy.md` the levels of values.

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

pub use diagnostic::{Diagnostic, Diagnostics};
pub use listing::annotate;
pub use names::{RegisterOrder, name_registers};
pub use passes::schedule::Schedule;
pub use passes::schedule::finished::reorder;

use allocate::{Allocation, AllocationError};
use diagnostic::{Error, Span};
use gpurf_isa::{Image, Instruction, Predicate};
pub use hierarchy::Explanation;
use hierarchy::{HierarchyOptions, check::CheckError};
use mir::Function;
use names::Names;
use scratchpad::Orders;
pub use scratchpad::{Scratchpad, ScratchpadOptions};
use serde::{Deserialize, Serialize};

/// What the compiler may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// General registers of a thread at most, [`Options::FEWEST`] to [`Options::MOST`].
    pub registers: u16,
    /// The order of the instructions in a basic block.
    #[serde(default)]
    pub schedule: Schedule,
    /// The order in which registers are named.
    #[serde(default)]
    pub register_order: RegisterOrder,
    /// The register hierarchy that values are distributed over.
    #[serde(default)]
    pub hierarchy: HierarchyOptions,
    /// Instructions up to the next access within which a register stays ON, 1 to [`marks::power::MOST`]; 0: no power states are
    /// marked.
    #[serde(default)]
    pub power_threshold: u8,
    /// How code is made for blocks that share a part of their shared memory.
    #[serde(default)]
    pub scratchpad: ScratchpadOptions,
}

impl Options {
    /// Fewest registers that every kernel of the subset fits into.
    pub const FEWEST: u16 = 16;
    /// Registers that an instruction can name.
    pub const MOST: u16 = 255;

    /// The default, with values distributed over three entries of an ORF and the banks of a split LRF.
    #[cfg(test)]
    pub(crate) fn with_levels() -> Self {
        let places = HierarchyOptions::of_machine(3, gpurf_isa::LastResultFile::Split, 8);
        Self { hierarchy: places, ..Self::default() }
    }

    /// Whether values are distributed over levels above the main register file.
    pub const fn have_levels(&self) -> bool {
        !self.hierarchy.is_none()
    }

    /// The places above the main register file that code is made for.
    pub const fn places(&self) -> gpurf_isa::Places {
        self.hierarchy.places()
    }
}

impl Default for Options {
    /// 64 registers: what a warp has with half of the warps that fit at 32.
    fn default() -> Self {
        Self {
            registers: 64,
            schedule: Schedule::None,
            register_order: RegisterOrder::Allocated,
            hierarchy: HierarchyOptions::NONE,
            power_threshold: 0,
            scratchpad: ScratchpadOptions::NONE,
        }
    }
}

/// What became of a kernel.
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
    /// Values that live in local memory for want of a register.
    pub spilled: u32,
    /// Values that are computed again at each use for want of a register: constants, special registers, parameters.
    pub recomputed: u32,
    /// Predicates that live in general registers for want of a predicate.
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

/// What became of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileReport {
    /// Its kernels, in their order.
    pub kernels: Vec<KernelReport>,
}

/// A compiled module.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The program.
    pub image: Image,
    /// What it cost.
    pub report: CompileReport,
    /// For each kernel why its values are at their levels; none without ORF and LRF.
    pub levels: Vec<Explanation>,
    /// For each kernel its variables of shared memory and who may access them.
    pub scratchpad: Vec<Scratchpad>,
}

/// Compiles PTX. `file_name` is for messages and the image.
///
/// # Errors
/// What is no PTX, or outside of the subset: each with line, column, text and reason. Registers out of their range.
pub fn compile(source: &str, file_name: &str, options: &Options) -> Result<Compiled, Diagnostics> {
    compile_module(source, file_name, options).map_err(|errors| Diagnostics::new(file_name, source, errors))
}

/// Marks finished code for the machine that the options name: the marks of all machines, then levels, power states, private accesses.
/// Marks that the code has are replaced. Says why values are at their levels.
pub fn mark(code: &mut [Instruction], options: &Options) -> Option<Explanation> {
    marks::run(code);
    let explanation = distribute(code, options);
    mark_power(code, options);
    mark_private(code, options, marks::private::Threads::ANY);
    explanation
}

/// Distributes the values of finished code over the machine's levels, and says why. Does nothing where there is one level.
pub fn distribute(code: &mut [Instruction], options: &Options) -> Option<Explanation> {
    hierarchy::run(code, &options.hierarchy)
}

/// Marks the power states of finished code's registers, in the main register file of the machine whose levels the options name. Does
/// nothing where no threshold is given.
pub fn mark_power(code: &mut [Instruction], options: &Options) {
    marks::power::mark(code, options.power_threshold, options.hierarchy.places());
}

/// Marks accesses of finished code that lie in the private part of shared memory. Does nothing where there is none.
pub fn mark_private(code: &mut [Instruction], options: &Options, threads: marks::private::Threads) {
    marks::private::mark(code, options.scratchpad.private_bytes, threads);
}

/// Registers of a thread with which a warp has its place on a machine of 32 warps and 128 KB (RFC paper, table 4). Schedules
/// take more only where the PTX's own order does.
const FULL_SM: u16 = 32;

/// Orders the instructions and finds registers for their values.
///
/// Scheduling by latency lengthens the lives of values. Where registers do not suffice for its order, it tries again with
/// less room for values; what fits at last is the PTX's own order.
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
/// The first instruction at which it does not.
pub fn check_levels(code: &[Instruction], options: &Options) -> Result<(), Box<CheckError>> {
    hierarchy::check(code, &options.hierarchy)
}

fn compile_module(source: &str, file_name: &str, options: &Options) -> Result<Compiled, Vec<Error>> {
    if !(Options::FEWEST..=Options::MOST).contains(&options.registers) {
        let (fewest, most) = (Options::FEWEST, Options::MOST);
        let message = format!("{} registers: a thread can have {fewest} to {most}", options.registers);
        return Err(vec![Error::new(Span::default(), message)]);
    }
    if let Err(message) = options.hierarchy.check() {
        return Err(vec![Error::new(Span::default(), message)]);
    }
    if options.power_threshold > marks::power::MOST {
        let message = format!("power_threshold is {}: it is 0 to {}", options.power_threshold, marks::power::MOST);
        return Err(vec![Error::new(Span::default(), message)]);
    }
    if let Err(message) = options.scratchpad.check() {
        return Err(vec![Error::new(Span::default(), message)]);
    }
    let module = ptx::parse(source).map_err(|e| vec![e])?;
    let (mut kernels, mut symbols) = lower::lower(source, &module, &Orders::new())?;
    let orders = scratchpad::orders(&kernels, &options.scratchpad);
    if !orders.is_empty() {
        (kernels, symbols) = lower::lower(source, &module, &orders)?;
    }
    let mut image = Image { source: file_name.to_owned(), kernels: Vec::new(), symbols };
    let (mut report, mut levels) = (CompileReport::default(), Vec::new());
    let mut scratchpads = Vec::new();
    for mut lowered in kernels {
        let span = lowered.span;
        let error = |message: String| vec![Error::new(span, message)];
        let f = &mut lowered.function;
        passes::cleanup::run(f);
        match options.schedule {
            Schedule::Tree => passes::simplify::only_dead(f),
            Schedule::None | Schedule::Latency => passes::simplify::run(f),
        }
        passes::entry::run(f);
        passes::legalise::run(f);
        let mut allocation = schedule_and_allocate(f, options, lowered.local_bytes)
            .map_err(|e| error(format!("`{}` {e}", lowered.name)))?;
        let mut meets = mir::cfg::reconvergence(&lowered.function);
        let placed = scratchpad::release::run(&mut lowered.function, &mut meets, &lowered.shared, &options.scratchpad);
        let releases = placed.map_err(|reason| error(format!("`{}` {reason}", lowered.name)))?;
        let emitted = |allocation: &Allocation| {
            let too_long = |_| error(format!("`{}` has more instructions than the machine can address", lowered.name));
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
        levels.extend(mark(&mut kernel.code, options));
        let threads = marks::private::Threads::of(&kernel);
        mark_private(&mut kernel.code, options, threads);
        if cfg!(debug_assertions)
            && options.have_levels()
            && let Err(wrong) = check_levels(&kernel.code, options)
        {
            panic!("levels of `{}`: {wrong}", lowered.name);
        }
        report.kernels.push(KernelReport {
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
        scratchpads.push(Scratchpad::new(lowered.shared, accesses, releases, &options.scratchpad));
        image.kernels.push(kernel);
    }
    Ok(Compiled { image, report, levels, scratchpad: scratchpads })
}
