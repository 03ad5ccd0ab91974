//! Finds the variables that the registers of a kernel may point to, as far as the PTX shows. `printf` needs this for its format and its arguments.

use crate::ptx::ast::{Block, Instruction, Operand, OperandKind, Statement};
use crate::ptx::type_size;
use std::collections::HashMap;

/// Maximum number of instructions that are followed for one register.
const MOST_STEPS: usize = 1000;
/// Maximum number of variables that a register may point to.
const MOST_TARGETS: usize = 64;

/// What a register may point to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target<'a> {
    /// A byte of a variable.
    Variable {
        /// The variable.
        symbol: &'a str,
        /// The byte.
        offset: i64,
    },
    /// The null pointer.
    Null,
}

/// The instructions of a kernel, by the registers that they write; and its stores.
pub struct Origins<'a> {
    writers: HashMap<&'a str, Vec<&'a Instruction<'a>>>,
    stores: Vec<&'a Instruction<'a>>,
}

/// A search from a register backward to the variables that it may point to.
struct Search<'o, 'a> {
    origins: &'o Origins<'a>,
    is_variable: &'o dyn Fn(&str) -> bool,
    found: Vec<Target<'a>>,
    /// The registers on the current path, to detect cycles.
    way: Vec<&'a str>,
    steps: usize,
}

impl<'a> Origins<'a> {
    /// Collects the instructions of a kernel.
    pub fn new(body: &'a Block<'a>) -> Self {
        let mut new = Self { writers: HashMap::new(), stores: Vec::new() };
        new.add(body);
        new
    }

    fn add(&mut self, block: &'a Block<'a>) {
        for statement in &block.statements {
            match statement {
                Statement::Block(inner) => self.add(inner),
                Statement::Instruction(instruction) if instruction.opcode.text == "st" => self.stores.push(instruction),
                Statement::Instruction(instruction) => {
                    let first = instruction.operands.first().map(std::slice::from_ref).unwrap_or_default();
                    self.note(first, instruction);
                }
                Statement::Label(_) | Statement::BranchTargets(_) => {}
            }
        }
    }

    fn note(&mut self, written: &'a [Operand<'a>], by: &'a Instruction<'a>) {
        for operand in written {
            match &operand.kind {
                OperandKind::Name { name, part: None } => self.writers.entry(name).or_default().push(by),
                OperandKind::Vector(parts) | OperandKind::List(parts) => self.note(parts, by),
                OperandKind::Pair(a, b) => {
                    self.note(std::slice::from_ref(a), by);
                    self.note(std::slice::from_ref(b), by);
                }
                _ => {}
            }
        }
    }

    /// All targets that an operand may point to, without repetition; `None` if they are not known.
    pub fn of_operand(&self, operand: &Operand<'a>, is_variable: &dyn Fn(&str) -> bool) -> Option<Vec<Target<'a>>> {
        let mut search = Search { origins: self, is_variable, found: Vec::new(), way: Vec::new(), steps: 0 };
        search.operand(operand, 0)?;
        Some(search.found)
    }

    /// The leading words, given by their offsets from a byte of a local variable, that the kernel stores. The list ends before the first word that it
    /// does not store.
    pub fn stored(&self, symbol: &str, from: i64, words: &[u32], is_variable: &dyn Fn(&str) -> bool) -> Vec<u32> {
        let ranges: Vec<(i64, i64)> =
            self.stores.iter().filter_map(|store| self.stored_by(store, symbol, is_variable)).collect();
        let is_stored = |word: &&u32| {
            let at = from.saturating_add(i64::from(**word));
            ranges.iter().any(|(start, end)| *start <= at && at.saturating_add(4) <= *end)
        };
        words.iter().take_while(is_stored).copied().collect()
    }

    /// The range of bytes of a variable that an instruction stores.
    fn stored_by(
        &self,
        store: &'a Instruction<'a>,
        symbol: &str,
        is_variable: &dyn Fn(&str) -> bool,
    ) -> Option<(i64, i64)> {
        let OperandKind::Address(Some(base), offset) = store.operands.first()?.kind else { return None };
        let kind = OperandKind::Name { name: base, part: None };
        let base = Operand { kind, span: store.span };
        let targets = self.of_operand(&base, is_variable)?;
        let [Target::Variable { symbol: found, offset: at }] = targets[..] else { return None };
        let width = store.modifiers.iter().find_map(|modifier| type_size(modifier.text))?;
        let parts = match &store.operands.get(1)?.kind {
            OperandKind::Vector(parts) => parts.len() as u64,
            _ => 1,
        };
        let start = at.checked_add(offset)?;
        (found == symbol).then(|| (start, start.saturating_add((width * parts) as i64)))
    }
}

impl<'a> Search<'_, 'a> {
    fn add(&mut self, target: Target<'a>) -> Option<()> {
        if !self.found.contains(&target) {
            self.found.push(target);
        }
        (self.found.len() <= MOST_TARGETS).then_some(())
    }

    /// Follows an operand, with `added` added to its value. `None` if its origin is not known.
    fn operand(&mut self, operand: &Operand<'a>, added: i64) -> Option<()> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return None;
        }
        match operand.kind {
            OperandKind::Int(0) if added == 0 => self.add(Target::Null),
            OperandKind::Sum(name, offset) => self.name(name, added.checked_add(offset)?),
            OperandKind::Name { name, part: None } => self.name(name, added),
            _ => None,
        }
    }

    fn name(&mut self, name: &'a str, added: i64) -> Option<()> {
        let Some(writers) = self.origins.writers.get(name) else {
            return if (self.is_variable)(name) {
                self.add(Target::Variable { symbol: name, offset: added })
            } else {
                None
            };
        };
        if self.way.contains(&name) {
            return None;
        }
        self.way.push(name);
        for writer in writers {
            match (writer.opcode.text, writer.operands.as_slice()) {
                ("mov" | "cvta", [_, source]) => self.operand(source, added)?,
                ("add", [_, source, Operand { kind: OperandKind::Int(number), .. }]) => {
                    self.operand(source, added.checked_add(*number as i64)?)?;
                }
                ("selp", [_, one, other, _]) => {
                    self.operand(one, added)?;
                    self.operand(other, added)?;
                }
                _ => return None,
            }
        }
        self.way.pop();
        Some(())
    }
}
