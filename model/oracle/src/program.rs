//! A kernel made ready to run: operands resolved once, before any thread runs.

use std::collections::HashMap;

use gpurf_isa::image::Purpose;
use gpurf_isa::modifiers::{AtomicSpace, LoadType, Scope, Space, StoreType};
use gpurf_isa::{DecodeError, Instruction, Op, Operand, PredicateSource, Reg, Slots};

use crate::lanes::Lanes;

/// Why the code of a kernel is not a valid program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CodeError {
    /// An instruction has fields that are not valid for it.
    #[error("kernel {kernel}, instruction {pc}: {error}")]
    Instruction {
        /// The kernel.
        kernel: String,
        /// The instruction.
        pc: usize,
        /// What is wrong.
        error: DecodeError,
    },
    /// An instruction names a register that the kernel does not have.
    #[error("kernel {kernel}, instruction {pc} names {register}, but the kernel has {registers} registers")]
    Register {
        /// The kernel.
        kernel: String,
        /// The instruction.
        pc: usize,
        /// The register.
        register: Reg,
        /// Registers of the kernel.
        registers: u16,
    },
    /// A branch leads out of the kernel.
    #[error("kernel {kernel}, instruction {pc} leads to instruction {target} of {length}")]
    Target {
        /// The kernel.
        kernel: String,
        /// The instruction.
        pc: usize,
        /// Where it leads.
        target: u32,
        /// Instructions of the kernel.
        length: usize,
    },
}

/// Where source b is found.
#[derive(Clone, Copy, Debug)]
pub enum SourceB {
    /// A row of the warp's registers.
    Row(u16),
    /// A row of the program's constants.
    Constant(u32),
}

/// A predicate source: its row, and the mask that it is exclusive-ored with.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    pub row: u8,
    pub invert: u32,
}

/// No reconvergence point: no program counter has this number.
pub const NEVER: u32 = u32::MAX;

/// An instruction with its operands resolved.
#[derive(Clone, Copy, Debug)]
pub struct Decoded {
    pub op: Op,
    pub guard: Condition,
    pub d: u16,
    pub p: u8,
    pub a: u16,
    pub b: SourceB,
    pub c: u16,
    pub s: Condition,
    pub t: Condition,
    /// The offset that a memory access adds to its address, sign-extended to 64 bits.
    pub offset: i64,
    /// The target of a branch.
    pub target: u32,
    /// Where the lanes of a branch reconverge, or [`NEVER`].
    pub reconvergence: u32,
    /// Whether the result of an atomic is not used.
    pub unused: bool,
}

/// A kernel made ready to run.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) code: Vec<Decoded>,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) lines: Vec<u32>,
    /// File and line of the CUDA source of traps.
    pub(crate) sources: HashMap<u32, String>,
    /// Instructions that the compiler added.
    pub(crate) added: HashMap<u32, Purpose>,
    pub(crate) constants: Vec<Lanes>,
    pub(crate) registers: u16,
    pub(crate) static_shared: u32,
    pub(crate) local_bytes: u32,
    /// Whether shared memory is accessed in less than words.
    pub(crate) narrow_shared: bool,
    /// Whether warps of a block may synchronise by shared memory: it orders accesses for the block other than by barriers.
    pub(crate) fenced: bool,
    /// Whether the kernel reads the time.
    pub(crate) timed: bool,
    /// Whether its blocks have to run one after the other: an atomic operation on global memory gives a result that is used, or does not
    /// commute; or the time is read.
    pub(crate) ordered: bool,
}

/// Row that receives writes to PT; row 7 is PT as a source.
pub const PREDICATE_SINK: u8 = 8;
/// Rows of predicates: P0 to P6, PT, and the one that receives writes to PT.
pub const PREDICATE_ROWS: usize = PREDICATE_SINK as usize + 1;

impl Program {
    /// Makes a kernel ready to run. Its relocations have to be resolved; `source` is the PTX file that faults name.
    ///
    /// # Errors
    /// When its code is not a valid program.
    pub fn new(kernel: &gpurf_isa::image::Kernel, source: &str) -> Result<Self, CodeError> {
        let mut constants = Constants::default();
        let mut code = Vec::with_capacity(kernel.code.len());
        for (pc, instruction) in kernel.code.iter().enumerate() {
            instruction.check().map_err(|error| CodeError::Instruction { kernel: kernel.name.clone(), pc, error })?;
            check(kernel, pc, instruction)?;
            code.push(decode(kernel.registers, instruction, &mut constants));
        }
        let any = |f: fn(&Instruction) -> bool| kernel.code.iter().any(f);
        let timed = any(Instruction::reads_time);
        Ok(Self {
            name: kernel.name.clone(),
            source: source.into(),
            code,
            instructions: kernel.code.clone(),
            lines: kernel.lines.clone(),
            sources: kernel
                .sources
                .iter()
                .filter_map(|source| Some((source.instruction, kernel.source_of(source.instruction)?)))
                .collect(),
            added: kernel.added.iter().map(|added| (added.instruction, added.purpose.clone())).collect(),
            constants: constants.rows,
            registers: kernel.registers,
            static_shared: kernel.static_shared,
            local_bytes: kernel.local_bytes,
            narrow_shared: any(is_narrow_shared),
            fenced: any(|instruction| matches!(instruction.op, Op::Membar { scope: Scope::Block })),
            timed,
            ordered: timed || any(is_ordered),
        })
    }

    /// Rows of a warp's registers: the registers, zero, and the one that receives writes to `RZ`.
    pub(crate) fn rows(&self) -> usize {
        usize::from(self.registers) + 2
    }

    pub(crate) fn line(&self, pc: u32) -> u32 {
        self.lines.get(pc as usize).copied().unwrap_or(0)
    }
}

fn check(kernel: &gpurf_isa::image::Kernel, pc: usize, instruction: &Instruction) -> Result<(), CodeError> {
    let registers = instruction.sources().map(|(_, register)| register).chain(instruction.destination());
    for register in registers {
        if u16::from(register.0) >= kernel.registers {
            let registers = kernel.registers;
            return Err(CodeError::Register { kernel: kernel.name.clone(), pc, register, registers });
        }
    }
    let length = kernel.code.len();
    for target in [instruction.target(), instruction.reconvergence].into_iter().flatten() {
        if target.index() >= length {
            return Err(CodeError::Target { kernel: kernel.name.clone(), pc, target: target.number(), length });
        }
    }
    Ok(())
}

fn decode(registers: u16, instruction: &Instruction, constants: &mut Constants) -> Decoded {
    let (zero, sink) = (registers, registers + 1);
    let source = |register: Reg| if register.is_zero() { zero } else { register.0.into() };
    let slots = instruction.op.slots();
    Decoded {
        op: instruction.op,
        guard: condition(instruction.guard),
        d: instruction.destination().map_or(sink, |register| register.0.into()),
        p: instruction.predicate_destination().map_or(PREDICATE_SINK, |p| p.number()),
        a: source(instruction.a),
        b: match instruction.b {
            Operand::Reg(register) => SourceB::Row(source(register)),
            Operand::Imm(value) => SourceB::Constant(constants.row(value)),
        },
        c: source(instruction.c),
        s: condition(instruction.s),
        t: condition(instruction.t),
        offset: instruction.offset.bytes().into(),
        target: instruction.target().map_or(0, |pc| pc.number()),
        reconvergence: instruction.reconvergence.map_or(NEVER, |pc| pc.number()),
        unused: slots.has(Slots::D) && instruction.destination().is_none(),
    }
}

fn condition(source: PredicateSource) -> Condition {
    Condition { row: source.predicate.number(), invert: if source.negated { u32::MAX } else { 0 } }
}

/// The rows of the constants in the code, each value once.
#[derive(Default)]
struct Constants {
    rows: Vec<Lanes>,
    known: HashMap<u32, u32>,
}

impl Constants {
    fn row(&mut self, value: u32) -> u32 {
        *self.known.entry(value).or_insert_with(|| {
            self.rows.push(Lanes::splat(value));
            self.rows.len() as u32 - 1
        })
    }
}

fn is_narrow_shared(instruction: &Instruction) -> bool {
    match instruction.op {
        Op::Ld { space: Space::Shared | Space::Generic, kind, .. } => kind != LoadType::B32,
        Op::St { space: Space::Shared | Space::Generic, kind, .. } => kind != StoreType::B32,
        _ => false,
    }
}

/// Whether an atomic operation, performed in another order, may leave other values in registers or in memory.
fn is_ordered(instruction: &Instruction) -> bool {
    match instruction.op {
        Op::Atom { space, operation } => {
            space != AtomicSpace::Shared && (instruction.destination().is_some() || !commutes(operation))
        }
        Op::Cas { space } => space != AtomicSpace::Shared,
        _ => false,
    }
}

/// Whether several operations of this kind leave the same word in any order.
pub fn commutes(operation: gpurf_isa::modifiers::Atomic) -> bool {
    use gpurf_isa::modifiers::Atomic;
    match operation {
        Atomic::Add | Atomic::MinU32 | Atomic::MinS32 | Atomic::MaxU32 | Atomic::MaxS32 => true,
        Atomic::And | Atomic::Or | Atomic::Xor => true,
        Atomic::Inc | Atomic::Dec | Atomic::Exch | Atomic::AddF32 => false,
    }
}
