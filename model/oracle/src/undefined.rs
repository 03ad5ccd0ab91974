//! Finds reads of registers, predicates and local memory that the thread has not written.
//!
//! The zeros that the compiler writes at the entry of a kernel do not count as writes of the program. An undefined value may be copied (by MOV, by
//! PLOP of one predicate, as the value that SEL selects) and spilled; any other read of it is reported. A value that the compiler computes ahead for
//! a guarded instruction, also in lanes that will not execute it, is undefined if a source is.

use std::collections::HashMap;

use gpurf_isa::image::Purpose;
use gpurf_isa::modifiers::{Combine, Space};
use gpurf_isa::{Op, Predicate, PredicateSource, Reg};

use crate::commit::{Issue, Observer};
use crate::context::Geometry;
use crate::execute::{Target, load_bytes, store_bytes};
use crate::fault::{Fault, FaultKind};
use crate::lanes::{Mask, WIDTH, lanes_of};
use crate::launch::Launch;
use crate::program::Program;

/// Watches a launch, block after block.
pub struct Undefined<'a> {
    program: &'a Program,
    geometry: Geometry,
    block: u64,
    /// The warps of the present block, by warp number.
    warps: HashMap<u32, Shadow>,
    /// The first read of an undefined value.
    found: Option<Box<Fault>>,
}

/// What is known of a value, lane by lane.
#[derive(Clone, Copy)]
struct Value {
    /// The lanes that have not written it.
    undefined: Mask,
    /// The compiler's instruction that wrote zero to it at the kernel's entry.
    zeroed_by: Option<u32>,
}

/// What is known of a word of local memory.
#[derive(Clone, Copy)]
struct Word {
    /// For each byte the lanes that have not written it.
    undefined: [Mask; 4],
    zeroed_by: Option<u32>,
}

struct Shadow {
    registers: Vec<Value>,
    predicates: [Value; Predicate::COUNT],
    local: Vec<Word>,
}

impl Value {
    const START: Self = Self { undefined: Mask::MAX, zeroed_by: None };

    /// The lanes of `mask` take another value.
    fn take(&mut self, new: Self, mask: Mask) {
        self.undefined = self.undefined & !mask | new.undefined & mask;
        self.zeroed_by = new.zeroed_by.or(self.zeroed_by);
    }

    /// The lanes of `mask` are written.
    fn define(&mut self, mask: Mask) {
        self.undefined &= !mask;
    }
}

impl Shadow {
    fn new(program: &Program) -> Self {
        let word = Word { undefined: [Mask::MAX; 4], zeroed_by: None };
        Self {
            registers: vec![Value::START; usize::from(Reg::ZERO.0)],
            predicates: [Value::START; Predicate::COUNT],
            local: vec![word; program.local_bytes.div_ceil(4) as usize],
        }
    }

    fn register(&self, register: Option<Reg>) -> Value {
        let defined = Value { undefined: 0, zeroed_by: None };
        register.filter(|r| !r.is_zero()).map_or(defined, |r| self.registers[r.index()])
    }

    fn predicate(&self, source: PredicateSource) -> Value {
        let defined = Value { undefined: 0, zeroed_by: None };
        if source.predicate.is_true() { defined } else { self.predicates[usize::from(source.predicate.number())] }
    }

    fn write(&mut self, at: &Issue<'_>, new: Value) {
        if let Some(d) = at.instruction.destination() {
            self.registers[d.index()].take(new, at.mask);
        }
        if let Some(p) = at.instruction.predicate_destination() {
            self.predicates[usize::from(p.number())].take(new, at.mask);
        }
    }

    /// The value of the destinations after an instruction that only copies, moves a spilled value or was added by the compiler; `None` for others.
    fn copied(&self, at: &Issue<'_>, purpose: Option<&Purpose>) -> Option<Value> {
        let i = at.instruction;
        match i.op {
            _ if matches!(purpose, Some(Purpose::Zero { .. })) => {
                Some(Value { undefined: Mask::MAX, zeroed_by: Some(at.pc) })
            }
            Op::Mov {} => Some(self.register(i.b.register())),
            Op::Plop { combine: Combine::And } if i.t == PredicateSource::TRUE => Some(self.predicate(i.s)),
            _ if purpose == Some(&Purpose::Ahead) => {
                let registers = i.sources().map(|(_, register)| self.registers[register.index()]);
                let predicates = i.predicate_sources().map(|p| self.predicates[usize::from(p.number())]);
                let sources = registers.chain(predicates);
                Some(sources.fold(Value { undefined: 0, zeroed_by: None }, |all, one| Value {
                    undefined: all.undefined | one.undefined,
                    zeroed_by: all.zeroed_by.or(one.zeroed_by.filter(|_| one.undefined != 0)),
                }))
            }
            // SEL turns a spilled predicate into a word, ISETP turns the word back into a predicate.
            Op::Sel {} if purpose.is_some() => Some(self.predicate(i.s)),
            Op::Isetp { .. } if purpose.is_some() => Some(self.register(Some(i.a))),
            Op::Sel {} => {
                let (a, b) = (self.register(Some(i.a)), self.register(i.b.register()));
                let undefined = a.undefined & at.s | b.undefined & !at.s;
                Some(Value { undefined, zeroed_by: a.zeroed_by.or(b.zeroed_by) })
            }
            Op::Ld { space: Space::Local, .. } if purpose.is_some() => {
                let word = self.local.get(i.offset.bytes() as usize / 4)?;
                let undefined = word.undefined.into_iter().fold(0, |a, b| a | b);
                Some(Value { undefined, zeroed_by: word.zeroed_by })
            }
            _ => None,
        }
    }

    /// Applies a load or store at the lanes' local addresses. Returns the lane and the address of the first byte that a load reads and the lane has
    /// not written.
    fn access(&mut self, at: &Issue<'_>, space: Space, bytes: u32, is_load: bool) -> Option<(usize, u32)> {
        let offset = i64::from(at.instruction.offset.bytes());
        for lane in lanes_of(at.mask) {
            let low = at.sources[0].0[lane];
            let address = match space {
                Space::Global | Space::Generic => {
                    (u64::from(at.sources[1].0[lane]) << 32 | u64::from(low)).wrapping_add_signed(offset)
                }
                Space::Shared | Space::Local => low.wrapping_add(offset as u32).into(),
            };
            let Target::Local(address) = Target::of(space, address) else { continue };
            for byte in address..address.saturating_add(bytes) {
                // An address out of bounds is reported as a different fault.
                let Some(word) = self.local.get_mut(byte as usize / 4) else { continue };
                let undefined = &mut word.undefined[byte as usize % 4];
                if !is_load {
                    *undefined &= !(1 << lane);
                } else if *undefined >> lane & 1 != 0 {
                    return Some((lane, byte));
                }
            }
        }
        None
    }
}

impl<'a> Undefined<'a> {
    /// A check of a launch.
    pub fn new(launch: &Launch<'a>) -> Self {
        let Launch { program, geometry, .. } = *launch;
        Self { program, geometry, block: 0, warps: HashMap::new(), found: None }
    }

    /// The first read of something undefined.
    pub fn finish(self) -> Option<Box<Fault>> {
        self.found
    }

    fn report(&mut self, at: &Issue<'_>, lane: usize, kind: FaultKind) {
        let program = self.program;
        self.found.get_or_insert_with(|| {
            Box::new(Fault {
                kernel: program.name.clone(),
                block: self.geometry.block_at(at.warp.block),
                warp: at.warp.warp,
                thread: self.geometry.thread_at(at.warp.warp * WIDTH as u32 + lane as u32),
                pc: at.pc,
                instruction: at.instruction.to_string(),
                file: program.source.clone(),
                line: program.line(at.pc),
                cuda: None,
                kind,
            })
        });
    }

    /// Reports a value that lanes of `mask` have not written.
    fn read(&mut self, at: &Issue<'_>, name: impl ToString, value: Value, mask: Mask) {
        let lanes = value.undefined & mask;
        if lanes == 0 || self.found.is_some() {
            return;
        }
        let of = value.zeroed_by.and_then(|pc| self.program.added.get(&pc));
        let text = match of {
            Some(Purpose::Zero { of: Some(register) }) => format!("`{register}` (here {})", name.to_string()),
            _ => name.to_string(),
        };
        self.report(at, lanes.trailing_zeros() as usize, FaultKind::UndefinedRegister(text));
    }

    fn execute(&mut self, at: &Issue<'_>, shadow: &mut Shadow) {
        let i = at.instruction;
        let program = self.program;
        let purpose = program.added.get(&at.pc);
        if i.is_guarded() {
            self.read(at, i.guard.predicate, shadow.predicate(i.guard), at.active);
        }
        if at.mask == 0 {
            return;
        }
        if let Some(value) = shadow.copied(at, purpose) {
            if matches!(i.op, Op::Sel {}) && purpose.is_none() {
                self.read(at, i.s.predicate, shadow.predicate(i.s), at.mask);
            }
            shadow.write(at, value);
            return;
        }
        if purpose.is_some() {
            // The store of a spilled value, always a whole word.
            let value = shadow.register(Some(i.c));
            if let Some(word) = shadow.local.get_mut(i.offset.bytes() as usize / 4) {
                word.undefined.iter_mut().for_each(|u| *u = *u & !at.mask | value.undefined & at.mask);
                word.zeroed_by = value.zeroed_by.or(word.zeroed_by);
            }
            return;
        }
        for (_, register) in i.sources() {
            self.read(at, register, shadow.register(Some(register)), at.mask);
        }
        for predicate in i.predicate_sources().skip(usize::from(!i.guard.predicate.is_true())) {
            self.read(at, predicate, shadow.predicates[usize::from(predicate.number())], at.mask);
        }
        let missing = match i.op {
            Op::Ld { space, kind, .. } => shadow.access(at, space, load_bytes(kind), true),
            Op::St { space, kind, .. } => shadow.access(at, space, store_bytes(kind), false),
            _ => None,
        };
        if let Some((lane, address)) = missing {
            self.report(at, lane, FaultKind::UndefinedLocal { address });
        }
        if let Some(d) = i.destination() {
            shadow.registers[d.index()].define(at.mask);
        }
        if let Some(p) = i.predicate_destination() {
            shadow.predicates[usize::from(p.number())].define(at.mask);
        }
    }
}

impl Observer for Undefined<'_> {
    const TRACES: bool = true;

    fn issue(&mut self, at: &Issue<'_>) {
        if self.block != at.warp.block {
            // Blocks run one after the other.
            self.block = at.warp.block;
            self.warps.clear();
        }
        let mut shadow = self.warps.remove(&at.warp.warp).unwrap_or_else(|| Shadow::new(self.program));
        self.execute(at, &mut shadow);
        self.warps.insert(at.warp.warp, shadow);
    }
}
