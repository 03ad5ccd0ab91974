//! Calls of `printf` and `assert`, which write records into buffers that the host reads (`docs/compiler.md`, "printf and assert").

use super::call_graph::{Call, parameter};
use super::kernel::{Kernel, lacks, wrong};
use super::logic::B32;
use super::memory::Address;
use super::module::{Environment, Place};
use super::origins::{Origins, Target};
use super::types::{Result, Ty};
use super::wide::{self, Pair};
use crate::diagnostic::{Feature, Span};
use crate::mir::{Pred, Val};
use crate::ptx::ast::{Block, Instruction, Operand, OperandKind, Statement};
use gpurf_isa::image::Print;
use gpurf_isa::machine::{self, print as layout};
use gpurf_isa::modifiers::*;
use gpurf_isa::{Op, format};
use std::collections::BTreeSet;

/// A call, read from the block that nvcc puts around it.
struct HostCall<'a> {
    /// The instruction.
    span: Span,
    /// The arguments.
    arguments: Vec<&'a Operand<'a>>,
    /// The registers that receive its result.
    results: Vec<&'a Operand<'a>>,
}

/// The number of arguments of `printf` or `assert`, if the instruction calls one of these.
pub fn host_arguments(call: &Instruction<'_>) -> Option<usize> {
    match Call::of(call)?.callee {
        "vprintf" => Some(2),
        "__assertfail" => Some(5),
        _ => None,
    }
}

/// Reads the block of a call with `count` arguments; `None` if it does not have the form that nvcc produces.
fn read<'a>(block: &'a Block<'a>, call: &'a Instruction<'a>, count: usize) -> Option<HostCall<'a>> {
    let parts = Call::of(call)?;
    let passed = parts.parameters;
    let returned = match parts.results {
        [] => None,
        [result, ..] => Some(parameter(result)?),
    };
    let instructions = block.statements.iter().map(|statement| match statement {
        Statement::Instruction(instruction) => Some(instruction),
        _ => None,
    });
    let (mut stored, mut results) = (Vec::new(), Vec::new());
    for instruction in instructions {
        let instruction = instruction?;
        let is_of = |name: &str| instruction.modifiers.iter().any(|modifier| modifier.text == name);
        match (instruction.opcode.text, instruction.operands.as_slice()) {
            _ if instruction.guard.is_some() => return None,
            ("st", [place, value]) if is_of("param") => stored.push((parameter(place)?, value)),
            ("ld", [result, place]) if is_of("param") && parameter(place) == returned && returned.is_some() => {
                results.push(result);
            }
            ("call", _) => {}
            _ => return None,
        }
    }
    let value_of = |operand: &Operand<'a>| {
        let name = parameter(operand)?;
        stored.iter().rev().find(|(stored, _)| *stored == name).map(|(_, value)| *value)
    };
    let arguments: Vec<&Operand<'a>> = passed.iter().map(value_of).collect::<Option<_>>()?;
    (arguments.len() == count).then_some(HostCall { span: call.opcode.span, arguments, results })
}

/// A string that may be the format of a `printf` call.
struct Format {
    print: Print,
    /// The number of its arguments.
    count: u32,
    /// Its address.
    address: Pair,
}

impl<'a> Kernel<'_, 'a> {
    /// Lowers a call of `printf` or `assert`, which has `count` arguments, with its block.
    pub fn host_call(&mut self, block: &'a Block<'a>, call: &'a Instruction<'a>, count: usize) -> Result<()> {
        let Some(found) = read(block, call, count) else {
            let feature = if count == 2 { Feature::Printf } else { Feature::Assert };
            let what = if count == 2 { "printf" } else { "assert" };
            return lacks(call.opcode.span, feature, format!("this call of {what} is not written as nvcc writes it"));
        };
        self.b.line = self.lines.line(call.span.start);
        // The words of a record are written in this order; the first word comes last, since it marks the record as complete.
        self.b.ordered = true;
        if count == 2 {
            let value = self.printf(&found)?;
            for result in &found.results {
                self.write_word(result, B32, value)?;
            }
        } else {
            self.assert_fail(&found)?;
        }
        self.b.ordered = false;
        Ok(())
    }

    fn printf(&mut self, call: &HostCall<'a>) -> Result<Val> {
        let [format, list] = call.arguments[..] else { unreachable!("printf has two arguments") };
        let given = self.argument(format)?;
        let origins = Origins::new(self.code.body);
        let module = self.module;
        let is_variable = |name: &str| self.place(name).is_some();
        let targets = origins.of_operand(format, &is_variable);
        let arguments = match &targets {
            Some(targets) if targets == &[Target::Null] => return Ok(Val::Imm(u32::MAX)),
            Some(targets) => targets.iter().map(|target| module.format(*target)).collect::<Option<Vec<_>>>(),
            None => None,
        };
        let Some(strings) = arguments else {
            let why = "the format of this printf is not known when the kernel is compiled: it says how many arguments there are; \
                       use a string literal, or choose between literals";
            return lacks(call.span, Feature::Printf, why);
        };
        let words: BTreeSet<u32> = strings.iter().flat_map(|string| &string.words).copied().collect();
        let passed = self.passed(&origins, list, words.into_iter().collect());
        let bytes = passed.words.last().map_or(0, |last| last + 4);
        let line = self.b.line;
        let mut formats = Vec::new();
        for string in strings {
            let (place, [low, high]) = self.address_of(string.symbol, string.offset.into(), call.span)?;
            let high = if matches!(place, Place::Constant(_)) { Val::Imm(machine::CONSTANT_WINDOW) } else { high };
            let symbol = string.symbol.to_owned();
            let print = Print { line, symbol, offset: string.offset, arguments: bytes };
            formats.push(Format { print, count: string.count, address: [low, high] });
        }
        let (mut number, mut count) = (Val::ZERO, Val::ZERO);
        for (index, Format { print, count: arguments, address }) in formats.into_iter().enumerate() {
            self.prints.push(print);
            let (this, arguments) = (Val::Imm(self.prints.len() as u32), Val::Imm(arguments));
            if index == 0 {
                (number, count) = (this, arguments);
                continue;
            }
            let low = self.b.compare(IntegerComparison::Eq, false, given[0], address[0]);
            let high = self.b.compare(IntegerComparison::Eq, false, given[1], address[1]);
            let is_this = self.b.combine(Combine::And, low, high);
            number = self.b.select(is_this, this, number);
            count = self.b.select(is_this, arguments, count);
        }
        let buffer = self.global_address(layout::PRINTF_BUFFER, 0);
        let size = self.load_word_of(Space::Global, buffer, layout::RECORD as i32);
        let record = self.record(buffer, size);
        for at in passed.words {
            let word = self.load_word_of(passed.space, passed.address, at as i32);
            record.store(self, layout::IDENTITY + at, word);
        }
        record.store(self, 0, number);
        Ok(count)
    }

    fn assert_fail(&mut self, call: &HostCall<'a>) -> Result<()> {
        let [message, file, line, function, _] = call.arguments[..] else {
            unreachable!("an assertion has five arguments")
        };
        let strings = [message, file, function].map(|operand| self.argument(operand));
        let line = self.word(line, 32)?;
        self.asserts = true;
        let buffer = self.global_address(layout::ASSERT_BUFFER, 0);
        let record = self.record(buffer, Val::Imm(layout::ASSERTION_RECORD));
        record.store(self, layout::IDENTITY, line);
        let mut at = layout::IDENTITY + 4;
        for word in strings {
            for word in word? {
                record.store(self, at, word);
                at += 4;
            }
        }
        record.store(self, 0, Val::Imm(1));
        // The atomic operation returns its result after the preceding stores are done. The trap depends on the result, so it comes later still; the
        // comparison is always true.
        let address = Address { base: buffer, offset: 0 };
        let before = self.atom_word(AtomicSpace::Global, Atomic::Add, address, layout::COMPLETE as i32, Val::Imm(1));
        let done = self.b.compare(IntegerComparison::Ne, false, before, Val::Imm(u32::MAX));
        self.trap(done, machine::trap::ASSERTION);
        Ok(())
    }

    /// Allocates a record in a buffer, and writes the block and the thread into it.
    fn record(&mut self, buffer: Pair, size: Val) -> Record {
        let room = self.load_word_of(Space::Global, buffer, layout::ROOM as i32);
        let address = Address { base: buffer, offset: 0 };
        let index = self.atom_word(AtomicSpace::Global, Atomic::Add, address, layout::CALLS as i32, Val::Imm(1));
        let fits = self.b.compare(IntegerComparison::Lt, false, index, room);
        let low = self.b.mad(index, size, buffer[0]);
        let record = Record { address: [low, buffer[1]], fits };
        let special = |k: &mut Self, source| k.b.special(source);
        let x = special(self, Special::CtaidX);
        record.store(self, 4, x);
        let (y, z) = (special(self, Special::CtaidY), special(self, Special::CtaidZ));
        let y_and_z = self.b.mad(z, Val::Imm(1 << 16), y);
        record.store(self, 8, y_and_z);
        let (x, y) = (special(self, Special::TidX), special(self, Special::TidY));
        let x_and_y = self.b.mad(y, Val::Imm(1 << 10), x);
        let z = special(self, Special::TidZ);
        let thread = self.b.mad(z, Val::Imm(1 << 20), x_and_y);
        record.store(self, 12, thread);
        record
    }

    /// Reads an argument of 64 bits.
    fn argument(&mut self, operand: &Operand<'a>) -> Result<Pair> {
        match operand.kind {
            OperandKind::Name { name, part: None } if self.register(name, operand.span)?.is_none() => {
                wrong(operand.span, format!("`{name}` is not a register"))
            }
            _ => self.pair(operand),
        }
    }

    /// Loads a word.
    pub fn load_word_of(&mut self, space: Space, address: Pair, at: i32) -> Val {
        let high = if space == Space::Local { Val::ZERO } else { address[1] };
        let op = Op::Ld { space, kind: LoadType::B32, align: Alignment::Natural, bypass: false };
        let d = self.b.general();
        let mut inst = self.b.inst(op, [address[0], high, Val::ZERO]);
        (inst.d, inst.offset) = (Some(d), at);
        self.b.push(inst);
        Val::Reg(d)
    }

    /// The address of the arguments, and which of these words of them were written. Bytes between the arguments may never have been written.
    fn passed(&mut self, origins: &Origins<'a>, list: &Operand<'a>, words: Vec<u32>) -> Passed {
        let none = Passed { space: Space::Local, address: wide::constant(0), words: Vec::new() };
        let is_variable = |name: &str| self.place(name).is_some();
        let targets = origins.of_operand(list, &is_variable);
        match targets.as_deref() {
            Some([Target::Variable { symbol, offset }]) => {
                if !matches!(self.place(symbol), Some(Place::Local(_) | Place::Frame(_))) {
                    return none;
                }
                let words = origins.stored(symbol, *offset, &words, &is_variable);
                let Ok((_, address)) = self.address_of(symbol, *offset, Span::default()) else { return none };
                Passed { space: Space::Local, address, words }
            }
            Some(_) => none,
            // The arguments are not where nvcc puts them, so nothing is known about them; all words are read.
            None => match self.pair(list) {
                Ok(address) => Passed { space: Space::Generic, address, words },
                Err(_) => none,
            },
        }
    }
}

/// The arguments of a call, as words in memory.
struct Passed {
    space: Space,
    address: Pair,
    words: Vec<u32>,
}

/// A record that is being written.
struct Record {
    /// The record's address; its words follow after the buffer's header.
    address: Pair,
    /// Whether the buffer has room for it.
    fits: Pred,
}

impl Record {
    fn store(&self, kernel: &mut Kernel<'_, '_>, at: u32, value: Val) {
        let op = Op::St { space: Space::Global, kind: StoreType::B32, align: Alignment::Natural };
        let mut inst = kernel.b.inst(op, [self.address[0], self.address[1], value]);
        (inst.offset, inst.guard) = ((layout::HEADER + at) as i32, self.fits);
        kernel.b.push(inst);
    }
}

/// A string of the module that is used as a format.
struct FormatString<'a> {
    symbol: &'a str,
    offset: u32,
    /// Number of arguments that it takes.
    count: u32,
    /// The byte offsets of the arguments' words.
    words: Vec<u32>,
}

impl<'a> Environment<'a> {
    /// The format at this target; `None` if the variable does not hold known text, or cannot be used.
    fn format(&self, target: Target<'a>) -> Option<FormatString<'a>> {
        let Target::Variable { symbol, offset } = target else { return None };
        if !matches!(self.places.get(symbol), Some(Place::Global | Place::Constant(_))) {
            return None;
        }
        let variable = self.variables.get(symbol)?;
        if Ty::of(variable.ty.text).is_none_or(|ty| ty.bits != 8) {
            return None;
        }
        let offset = u32::try_from(offset).ok().filter(|offset| u64::from(*offset) < variable.elements.unwrap_or(0))?;
        let text = variable.text(offset.into());
        let (count, words) = format::arguments(&text);
        Some(FormatString { symbol, offset, count, words })
    }
}
