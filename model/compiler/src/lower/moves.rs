//! Moves of registers, constants and addresses, and between a value and its parts.

use super::kernel::{Kernel, Reg, wrong};
use super::logic::{B32, NUMBER_NAMES};
use super::types::{Kind, Mods, Result, Ty};
use super::wide::Pair;
use crate::mir::Val;
use crate::ptx::ast::{Instruction, Operand, OperandKind};
use gpurf_isa::Op;

impl<'a> Kernel<'_, 'a> {
    /// Lowers `mov`.
    pub fn mov(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let [d, a] = self.operands(i)?;
        if mods.flag("pred") {
            let p = self.predicate(a)?;
            return self.write_predicate(d, p);
        }
        let ty = mods.ty_of(&NUMBER_NAMES)?;
        if let OperandKind::Vector(parts) = &a.kind {
            let value = self.pack(parts, ty, a)?;
            return self.write(d, ty, value);
        }
        if let OperandKind::Vector(parts) = &d.kind {
            let value = self.source(a, ty)?;
            return self.unpack(parts, ty, value, d);
        }
        let symbol = match a.kind {
            OperandKind::Sum(name, offset) => Some((name, offset)),
            OperandKind::Name { name, part: None } if self.place(name).is_some() => Some((name, 0)),
            _ => None,
        };
        let value = match symbol {
            // A register with the same name hides the variable.
            Some((name, offset)) if self.register(name, a.span)?.is_none() => {
                let (place, pair) = self.address_of(name, offset, a.span)?;
                if ty.bits == 16 || (ty.bits == 32 && matches!(place, super::module::Place::Global)) {
                    return wrong(a.span, format!("the address of `{name}` has 64 bits"));
                }
                pair
            }
            Some((name, _)) if matches!(a.kind, OperandKind::Sum(..)) => {
                return wrong(a.span, format!("`{name}` is a register; an offset belongs to a variable"));
            }
            _ => self.source(a, ty)?,
        };
        self.write(d, ty, value)
    }

    /// Packs `{a, b}` into one value, the first part in the lowest bits.
    fn pack(&mut self, parts: &[Operand<'a>], ty: Ty, all: &Operand<'a>) -> Result<Pair> {
        match (parts, ty.bits) {
            ([a, b], 64) => Ok([self.word(a, 32)?, self.word(b, 32)?]),
            ([a, b], 32) => {
                let (a, b) = (self.word(a, 16)?, self.word(b, 16)?);
                Ok([self.pack_halves(a, b), Val::ZERO])
            }
            ([a, b, c, d], 64) => {
                let (a, b) = (self.word(a, 16)?, self.word(b, 16)?);
                let (c, d) = (self.word(c, 16)?, self.word(d, 16)?);
                Ok([self.pack_halves(a, b), self.pack_halves(c, d)])
            }
            _ => wrong(all.span, format!("{} parts of a .{} are outside of the subset", parts.len(), ty.bits)),
        }
    }

    /// Packs the low halves of two words into one word.
    pub fn pack_halves(&mut self, low: Val, high: Val) -> Val {
        self.b.op(Op::Prmt {}, [low, Val::Imm(0x5410), high])
    }

    fn unpack(&mut self, parts: &[Operand<'a>], ty: Ty, value: Pair, all: &Operand<'a>) -> Result<()> {
        let half = Ty { kind: Kind::Bits, bits: 16 };
        // All parts are extracted before the first one is written: the source may be one of the destinations.
        let (part, values) = match (parts.len(), ty.bits) {
            (2, 64) => (B32, vec![value[0], value[1]]),
            (2, 32) => (half, vec![value[0], self.b.shr(false, value[0], Val::Imm(16))]),
            (4, 64) => {
                let high = value.map(|word| self.b.shr(false, word, Val::Imm(16)));
                (half, vec![value[0], high[0], value[1], high[1]])
            }
            (n, bits) => return wrong(all.span, format!("{n} parts of a .{bits} are outside of the subset")),
        };
        // The values are copied, so that writing one part cannot change a part that is not yet read.
        let values: Vec<Val> = values
            .into_iter()
            .map(|v| {
                let copy = self.b.general();
                self.b.assign(copy, v);
                Val::Reg(copy)
            })
            .collect();
        for (operand, value) in parts.iter().zip(values) {
            if let Some(Reg::Pred(_)) = self.destination(operand)? {
                return wrong(operand.span, "a predicate is no part of a number");
            }
            self.write_word(operand, part, value)?;
        }
        Ok(())
    }
}
