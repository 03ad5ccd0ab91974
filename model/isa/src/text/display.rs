//! The disassembly.

use std::fmt;

use crate::instruction::Instruction;
use crate::operations::Slots;
use crate::registers::{Operand, PredicateSource, Reg};

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.guard != PredicateSource::TRUE {
            write!(f, "@{} ", self.guard)?;
        }
        f.write_str(self.op.mnemonic())?;
        for suffix in self.op.suffixes().iter().filter(|suffix| !suffix.is_empty()) {
            write!(f, ".{suffix}")?;
        }
        let mut separator = " ";
        for operand in self.operands() {
            write!(f, "{separator}{operand}")?;
            separator = ", ";
        }
        let control = self.control.to_string();
        if control.is_empty() { Ok(()) } else { write!(f, " {{{control}}}") }
    }
}

impl fmt::Debug for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Instruction {
    fn operands(&self) -> Vec<String> {
        let slots = self.op.slots();
        let mut operands = Vec::new();
        if slots.has(Slots::D) {
            operands.push(self.d.to_string());
        }
        if slots.has(Slots::P) {
            operands.push(self.p.to_string());
        }
        if slots.has(Slots::OFFSET) && !slots.has(Slots::TEXTURE) {
            operands.push(self.address());
        } else if slots.has(Slots::A) {
            operands.push(self.a.to_string());
        }
        if slots.has(Slots::JOIN) {
            let target = self.b.immediate().unwrap_or_default();
            operands.push(target.to_string());
        } else if slots.has(Slots::B) && !slots.has(Slots::PAIR) {
            operands.push(self.b.to_string());
        }
        if slots.has(Slots::C) {
            operands.push(self.c.to_string());
        }
        if slots.has(Slots::TEXTURE) {
            operands.push(format!("c[{:#x}]", self.offset.bytes()));
        }
        if slots.has(Slots::S) {
            operands.push(self.s.to_string());
        }
        if slots.has(Slots::T) {
            operands.push(self.t.to_string());
        }
        if slots.has(Slots::JOIN) {
            operands.push(self.reconvergence.map_or("join none".into(), |pc| format!("join {pc}")));
        }
        operands
    }

    fn address(&self) -> String {
        let upper = match self.b {
            Operand::Reg(upper) if self.op.slots().has(Slots::PAIR) && upper != Reg::ZERO => format!(":{upper}"),
            _ => String::new(),
        };
        let offset = match self.offset.bytes() {
            0 => String::new(),
            bytes => format!("{}{:#x}", if bytes < 0 { '-' } else { '+' }, bytes.unsigned_abs()),
        };
        format!("[{}{upper}{offset}]", self.a)
    }
}
