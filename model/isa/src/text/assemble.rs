//! A small assembler, for tests and directed programs.

use std::collections::HashMap;

use super::{control, register};
use crate::encoding::DecodeError;
use crate::instruction::Instruction;
use crate::operations::{Op, Slots};
use crate::registers::{Offset, Operand, Pc, Predicate, PredicateSource, Reg};

/// Why a text is not a program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct AssembleError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

/// Reads a program: an instruction a line, in the form of the disassembly. `//` begins a comment, `name:` on a line of its own is a label, and
/// a branch may name labels in place of numbers. Constants are decimal, hexadecimal (`0x2a`), negative (`-1`) or floats (`1.5f`).
///
/// # Errors
/// The first line that cannot be read, and why.
pub fn assemble(text: &str) -> Result<Vec<Instruction>, AssembleError> {
    let lines = assemble_lines(text)?;
    Ok(lines.into_iter().map(|(_, instruction)| instruction).collect())
}

/// Like [`assemble`], with the line of each instruction, from 1.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_lines(text: &str) -> Result<Vec<(usize, Instruction)>, AssembleError> {
    let mut labels = HashMap::new();
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let code = line.split_once("//").map_or(line, |(code, _)| code).trim();
        if let Some(label) = code.strip_suffix(':') {
            let at = lines.len() as u32;
            if labels.insert(label.trim(), at).is_some() {
                return Err(AssembleError { line: index + 1, problem: format!("label `{label}` is there twice") });
            }
        } else if !code.is_empty() {
            lines.push((index + 1, code));
        }
    }
    let instruction = |&(line, code): &(usize, &str)| match read(code, &labels) {
        Ok(instruction) => Ok((line, instruction)),
        Err(problem) => Err(AssembleError { line, problem }),
    };
    lines.iter().map(instruction).collect()
}

/// Reads one instruction, without labels and comments.
///
/// # Errors
/// When it cannot be read.
pub fn assemble_line(text: &str) -> Result<Instruction, AssembleError> {
    read(text.trim(), &HashMap::new()).map_err(|problem| AssembleError { line: 1, problem })
}

fn read(text: &str, labels: &HashMap<&str, u32>) -> Result<Instruction, String> {
    let (code, fields) = match text.split_once('{') {
        Some((code, fields)) => {
            (code.trim(), fields.strip_suffix('}').ok_or("there is no `}` at the end of the control fields")?)
        }
        None => (text, ""),
    };
    let (guard, code) = match code.strip_prefix('@') {
        Some(rest) => {
            let (guard, rest) = rest.split_once(char::is_whitespace).ok_or("there is no operation after the guard")?;
            (predicate_source(guard).ok_or_else(|| format!("`{guard}` is no predicate"))?, rest.trim())
        }
        None => (PredicateSource::TRUE, code),
    };
    let (operation, operands) = code.split_once(char::is_whitespace).unwrap_or((code, ""));
    let op = Op::from_text(operation).ok_or_else(|| format!("`{operation}` is no operation"))?;
    let mut operands =
        Operands { rest: operands.split(',').map(str::trim).filter(|o| !o.is_empty()).collect(), labels };
    operands.rest.reverse();
    let mut instruction = Instruction::new(op).guarded(guard);
    operands.fill(&mut instruction)?;
    instruction.control = control::read(fields)?;
    instruction.check().map_err(|error: DecodeError| error.to_string())?;
    Ok(instruction)
}

/// The operands that remain to be read, the next one last.
struct Operands<'a> {
    rest: Vec<&'a str>,
    labels: &'a HashMap<&'a str, u32>,
}

impl Operands<'_> {
    fn fill(mut self, to: &mut Instruction) -> Result<(), String> {
        let slots = to.op.slots();
        if slots.has(Slots::D) {
            to.d = self.take("register d", register)?;
        }
        if slots.has(Slots::P) {
            to.p = self.take("predicate p", predicate)?;
        }
        if slots.has(Slots::OFFSET) && !slots.has(Slots::TEXTURE) {
            let (a, b, offset) = self.take("an address such as [R2:R3+0x10]", address)?;
            (to.a, to.offset) = (a, offset);
            if slots.has(Slots::PAIR) {
                to.b = b.into();
            } else if !b.is_zero() {
                return Err("its address is one register".into());
            }
        } else if slots.has(Slots::A) {
            to.a = self.take("register a", register)?;
        }
        if slots.has(Slots::JOIN) {
            let labels = self.labels;
            to.b = Operand::Imm(self.take("a target", |text| pc(text, labels))?.number());
        } else if slots.has(Slots::B) && !slots.has(Slots::PAIR) {
            to.b = self.take("source b", operand)?;
        }
        if slots.has(Slots::C) {
            to.c = self.take("register c", register)?;
        }
        if slots.has(Slots::TEXTURE) {
            to.offset = self.take("the constant word with the texture, such as c[0x10]", constant_word)?;
        }
        if slots.has(Slots::S) {
            to.s = self.take("predicate s", predicate_source)?;
        }
        if slots.has(Slots::T) {
            to.t = self.take("predicate t", predicate_source)?;
        }
        if slots.has(Slots::JOIN) {
            let labels = self.labels;
            to.reconvergence = self.take("`join` and an instruction or `none`", |text| {
                let at = text.strip_prefix("join")?.trim();
                if at == "none" { Some(None) } else { pc(at, labels).map(Some) }
            })?;
        }
        match self.rest.pop() {
            Some(more) => Err(format!("`{more}` is one operand too many")),
            None => Ok(()),
        }
    }

    fn take<T>(&mut self, what: &str, read: impl FnOnce(&str) -> Option<T>) -> Result<T, String> {
        let text = self.rest.pop().ok_or_else(|| format!("{what} is missing"))?;
        read(text).ok_or_else(|| format!("expected {what}, found `{text}`"))
    }
}

fn predicate(text: &str) -> Option<Predicate> {
    if text == "PT" {
        return Some(Predicate::TRUE);
    }
    text.strip_prefix('P')?.parse().ok().and_then(Predicate::new).filter(|p| !p.is_true())
}

fn predicate_source(text: &str) -> Option<PredicateSource> {
    match text.strip_prefix('!') {
        Some(text) => predicate(text).map(PredicateSource::not),
        None => predicate(text).map(PredicateSource::of),
    }
}

fn operand(text: &str) -> Option<Operand> {
    register(text).map(Operand::Reg).or_else(|| constant(text).map(Operand::Imm))
}

/// A number below 2^32, or a negative one down to -2^31 in two's complement, or a float.
fn constant(text: &str) -> Option<u32> {
    if let Some(float) = text.strip_suffix('f').filter(|_| !text.starts_with("0x")) {
        return float.parse::<f32>().ok().map(f32::to_bits);
    }
    match text.strip_prefix('-') {
        Some(magnitude) => number(magnitude).filter(|&n| n <= 1 << 31).map(u32::wrapping_neg),
        None => number(text),
    }
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn pc(text: &str, labels: &HashMap<&str, u32>) -> Option<Pc> {
    labels.get(text).copied().or_else(|| number(text)).and_then(Pc::new)
}

/// Reads the place of a constant word, `c[address]`.
fn constant_word(text: &str) -> Option<Offset> {
    let address = number(text.strip_prefix("c[")?.strip_suffix(']')?)?;
    i32::try_from(address).ok().and_then(Offset::new)
}

/// Reads an address, `[a:b+offset]`.
fn address(text: &str) -> Option<(Reg, Reg, Offset)> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let (registers, offset) = match inner.find(['+', '-']) {
        Some(at) => {
            let magnitude = i32::try_from(number(&inner[at + 1..])?).ok()?;
            (&inner[..at], if inner.as_bytes()[at] == b'-' { -magnitude } else { magnitude })
        }
        None => (inner, 0),
    };
    let (a, b) = registers.split_once(':').unwrap_or((registers, "RZ"));
    Some((register(a)?, register(b)?, Offset::new(offset)?))
}
