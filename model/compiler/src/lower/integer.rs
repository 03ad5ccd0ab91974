//! Integer arithmetic.

use super::kernel::{Kernel, wrong};
use super::types::{Kind, Mods, Result, Ty};
use super::wide::{self, Pair};
use crate::mir::{Pred, Val};
use crate::ptx::ast::{Instruction, Operand};
use gpurf_arith::sequence::{self, Division};
use gpurf_isa::Op;
use gpurf_isa::modifiers::*;

const INTEGERS: [&str; 6] = ["u16", "s16", "u32", "s32", "u64", "s64"];
const WORDS: [&str; 2] = ["u32", "s32"];

/// Converts a pair to the type that the sequences use.
pub fn sequence_pair(x: Pair) -> sequence::Pair<Val> {
    sequence::Pair { low: x[0], high: x[1] }
}

/// Whether an instruction that exists for both integers and floats has a float type.
pub fn is_float(i: &Instruction<'_>) -> bool {
    i.modifiers.iter().any(|m| {
        m.text.starts_with('f') && m.text[1..].starts_with(|c: char| c.is_ascii_digit()) || m.text.starts_with("bf")
    })
}

impl<'a> Kernel<'_, 'a> {
    /// Lowers an instruction of this group. Returns whether it was one.
    pub fn integer(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<bool> {
        if is_float(i) && !matches!(i.opcode.text, "mul24" | "mad24") {
            return Ok(false);
        }
        match i.opcode.text {
            "add" | "sub" => self.add_sub(i, mods)?,
            "addc" | "subc" => self.add_sub_carry(i, mods)?,
            "mul" | "mad" | "madc" => self.multiply(i, mods)?,
            "mul24" | "mad24" => self.multiply_24(i, mods)?,
            "sad" => {
                let ty = mods.ty_of(&INTEGERS)?;
                let [d, a, b, c] = self.operands(i)?;
                let (x, y) = (self.full(a, ty)?, self.full(b, ty)?);
                let c = self.source(c, ty)?;
                let less = self.compare(IntegerComparison::Lt, ty, x, y);
                let (forth, back) = (wide::sub(&mut self.b, x, y), wide::sub(&mut self.b, y, x));
                let difference = wide::select(&mut self.b, less, back, forth);
                let sum = wide::add(&mut self.b, difference, c);
                self.write(d, ty, sum)?;
            }
            "div" | "rem" => {
                let ty = mods.ty_of(&INTEGERS)?;
                let [d, a, b] = self.operands(i)?;
                let Division { quotient, remainder } = self.divide(a, b, ty)?;
                self.write(d, ty, if i.opcode.text == "div" { quotient } else { remainder })?;
            }
            "abs" | "neg" => {
                let ty = mods.ty_of(&["s16", "s32", "s64"])?;
                let [d, a] = self.operands(i)?;
                let x = self.full(a, ty)?;
                let negative = wide::negate(&mut self.b, x);
                let result = if i.opcode.text == "neg" {
                    negative
                } else if ty.bits == 64 {
                    let below = self.compare(IntegerComparison::Lt, ty, x, wide::constant(0));
                    wide::select(&mut self.b, below, negative, x)
                } else {
                    let op = Op::Imnmx { which: Extremum::Max, signed: true };
                    [self.b.op(op, [x[0], negative[0], Val::ZERO]), Val::ZERO]
                };
                self.write(d, ty, result)?;
            }
            "min" | "max" => {
                let ty = mods.ty_of(&INTEGERS)?;
                let [d, a, b] = self.operands(i)?;
                let (x, y) = (self.full(a, ty)?, self.full(b, ty)?);
                let min = i.opcode.text == "min";
                let result = if ty.bits == 64 {
                    let less = self.compare(IntegerComparison::Lt, ty, x, y);
                    wide::select(&mut self.b, if min { less } else { less.not() }, x, y)
                } else {
                    let which = if min { Extremum::Min } else { Extremum::Max };
                    let op = Op::Imnmx { which, signed: ty.signed() };
                    [self.b.op(op, [x[0], y[0], Val::ZERO]), Val::ZERO]
                };
                self.write(d, ty, result)?;
            }
            "dp4a" | "dp2a" => {
                let half = if i.opcode.text == "dp2a" {
                    Some(if mods.need("a half", &["lo", "hi"])? == "lo" { Half::Low } else { Half::High })
                } else {
                    None
                };
                let signed_a = mods.ty_of(&WORDS)?.signed();
                let signed_b = mods.ty_of(&WORDS)?.signed();
                let [d, a, b, c] = self.operands(i)?;
                let sources = [self.word(a, 32)?, self.word(b, 32)?, self.word(c, 32)?];
                let op = match half {
                    Some(half) => Op::Dp2a { signed_a, signed_b, half },
                    None => Op::Dp4a { signed_a, signed_b },
                };
                let result = self.b.op(op, sources);
                self.write_word(d, Ty { kind: Kind::Bits, bits: 32 }, result)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// A source as a number: below 32 bits it is extended to 32.
    pub fn full(&mut self, operand: &Operand<'a>, ty: Ty) -> Result<Pair> {
        if ty.bits == 64 { self.pair(operand) } else { Ok([self.number(operand, ty)?, Val::ZERO]) }
    }

    /// Compares two numbers of the type.
    pub fn compare(&mut self, comparison: IntegerComparison, ty: Ty, x: Pair, y: Pair) -> Pred {
        if ty.bits == 64 {
            self.b.compare_wide(comparison, ty.signed(), x, y)
        } else {
            self.b.compare(comparison, ty.signed(), x[0], y[0])
        }
    }

    fn carry_flag(&mut self) -> crate::mir::V {
        if let Some(v) = self.code.carry {
            return v;
        }
        let v = self.b.predicate();
        self.code.carry = Some(v);
        v
    }

    fn add_sub(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let subtract = i.opcode.text == "sub";
        if mods.flag("cc") {
            return self.add_with(i, mods, subtract, Pred::Const(subtract), true);
        }
        let saturate = mods.flag("sat");
        let ty = if saturate { mods.ty_of(&["s32"])? } else { mods.ty_of(&INTEGERS)? };
        let [d, a, b] = self.operands(i)?;
        let (x, y) = (self.source(a, ty)?, self.source(b, ty)?);
        let result = match (ty.bits, subtract) {
            (64, false) => wide::add(&mut self.b, x, y),
            (64, true) => wide::sub(&mut self.b, x, y),
            (_, false) => [self.b.add(x[0], y[0]), Val::ZERO],
            (_, true) => [self.b.sub(x[0], y[0]), Val::ZERO],
        };
        let result = if saturate {
            // Overflow: the operands' signs (that of b inverted for sub) agree and differ from the result's.
            // The table is (a ^ s) & (b ^ s), with b's bits inverted for sub.
            let table = if subtract { 0x18 } else { 0x42 };
            let overflow = self.b.lop3(x[0], y[0], result[0], table);
            let overflow = self.b.compare(IntegerComparison::Lt, true, overflow, Val::ZERO);
            let sign = self.b.shr(true, x[0], Val::Imm(31));
            let limit = self.b.xor(sign, Val::Imm(i32::MAX as u32));
            [self.b.select(overflow, limit, result[0]), Val::ZERO]
        } else {
            result
        };
        self.write(d, ty, result)
    }

    fn add_sub_carry(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let carry_out = mods.flag("cc");
        let subtract = i.opcode.text == "subc";
        let carry = Pred::Reg(self.carry_flag(), false);
        self.add_with(i, mods, subtract, carry, carry_out)
    }

    /// `add.cc`, `addc` and similar instructions. The flag is the carry out of the adder; for a subtraction, it is set
    /// if nothing was borrowed. PTX keeps the borrow instead, but no program can tell the difference as long as
    /// additions and subtractions do not read each other's flag.
    fn add_with(
        &mut self,
        i: &Instruction<'a>,
        mods: &mut Mods<'_, 'a>,
        subtract: bool,
        carry: Pred,
        carry_out: bool,
    ) -> Result<()> {
        let ty = mods.ty_of(&["u32", "s32", "u64", "s64"])?;
        let [d, a, b] = self.operands(i)?;
        let (x, y) = (self.source(a, ty)?, self.source(b, ty)?);
        let mode = if subtract { Addition::Subtract } else { Addition::Add };
        let (low, mut carry) = self.b.add_carry(mode, x[0], y[0], carry);
        let mut result = [low, Val::ZERO];
        if ty.bits == 64 {
            (result[1], carry) = self.b.add_carry(mode, x[1], y[1], carry);
        }
        self.write(d, ty, result)?;
        if carry_out {
            let flag = self.carry_flag();
            self.b.assign_predicate(flag, carry);
        }
        Ok(())
    }

    fn multiply(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let part = mods.need("a part of the product", &["lo", "hi", "wide"])?;
        let carry_out = mods.flag("cc");
        let carry_in = i.opcode.text == "madc";
        if carry_in || carry_out {
            if part == "wide" {
                return wrong(mods.span(), "a product of twice the width has no carry");
            }
            return self.multiply_carry(i, mods, part == "hi", carry_in, carry_out);
        }
        let types = if part == "wide" { &INTEGERS[..4] } else { &INTEGERS[..] };
        let ty = mods.ty_of(types)?;
        let (d, a, b, c) = if i.opcode.text == "mul" {
            let [d, a, b] = self.operands(i)?;
            (d, a, b, None)
        } else {
            let [d, a, b, c] = self.operands(i)?;
            (d, a, b, Some(c))
        };
        let signed = ty.signed();
        let wide_ty = Ty { bits: ty.bits * 2, ..ty };
        let result_ty = if part == "wide" { wide_ty } else { ty };
        let c = match c {
            Some(c) => self.source(c, result_ty)?,
            None => wide::constant(0),
        };
        let result = match (part, ty.bits) {
            ("lo", 64) => {
                let (x, y) = (self.pair(a)?, self.pair(b)?);
                wide::mad_low(&mut self.b, x, y, c)
            }
            ("hi", 64) => {
                let (x, y) = (self.pair(a)?, self.pair(b)?);
                let product = wide::mul_high(&mut self.b, signed, x, y);
                if c == wide::constant(0) { product } else { wide::add(&mut self.b, product, c) }
            }
            ("wide", 32) => {
                let (x, y) = (self.word(a, 32)?, self.word(b, 32)?);
                wide::mad_words(&mut self.b, signed, x, y, c)
            }
            ("hi", 32) => {
                let (x, y) = (self.word(a, 32)?, self.word(b, 32)?);
                [self.b.mad_high(signed, x, y, c[0]), Val::ZERO]
            }
            ("lo", _) => {
                let (x, y) = (self.word(a, ty.bits)?, self.word(b, ty.bits)?);
                [self.b.mad(x, y, c[0]), Val::ZERO]
            }
            ("wide", _) => {
                let (x, y) = (self.number(a, ty)?, self.number(b, ty)?);
                [self.b.mad(x, y, c[0]), Val::ZERO]
            }
            _ => {
                let (x, y) = (self.number(a, ty)?, self.number(b, ty)?);
                let product = self.b.mad(x, y, Val::ZERO);
                let high = self.b.shr(signed, product, Val::Imm(16));
                [self.b.add(high, c[0]), Val::ZERO]
            }
        };
        self.write(d, result_ty, result)
    }

    fn multiply_carry(
        &mut self,
        i: &Instruction<'a>,
        mods: &mut Mods<'_, 'a>,
        high: bool,
        carry_in: bool,
        carry_out: bool,
    ) -> Result<()> {
        let ty = mods.ty_of(&["u32", "s32", "u64", "s64"])?;
        let [d, a, b, c] = self.operands(i)?;
        let (x, y, c) = (self.source(a, ty)?, self.source(b, ty)?, self.source(c, ty)?);
        let product = match (ty.bits, high) {
            (64, false) => wide::mad_low(&mut self.b, x, y, wide::constant(0)),
            (64, true) => wide::mul_high(&mut self.b, ty.signed(), x, y),
            (_, false) => [self.b.mad(x[0], y[0], Val::ZERO), Val::ZERO],
            (_, true) => [self.b.mad_high(ty.signed(), x[0], y[0], Val::ZERO), Val::ZERO],
        };
        let carry = if carry_in { Pred::Reg(self.carry_flag(), false) } else { Pred::FALSE };
        let (low, mut carry) = self.b.add_carry(Addition::Add, product[0], c[0], carry);
        let mut result = [low, Val::ZERO];
        if ty.bits == 64 {
            (result[1], carry) = self.b.add_carry(Addition::Add, product[1], c[1], carry);
        }
        self.write(d, ty, result)?;
        if carry_out {
            let flag = self.carry_flag();
            self.b.assign_predicate(flag, carry);
        }
        Ok(())
    }

    fn multiply_24(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let high = mods.need("a part of the product", &["lo", "hi"])? == "hi";
        let ty = mods.ty_of(&WORDS)?;
        let (d, a, b, c) = if i.opcode.text == "mul24" {
            let [d, a, b] = self.operands(i)?;
            (d, a, b, Val::ZERO)
        } else {
            let [d, a, b, c] = self.operands(i)?;
            (d, a, b, self.word(c, 32)?)
        };
        let (x, y) = (self.word(a, 32)?, self.word(b, 32)?);
        let (x, y) = (self.extend(x, 24, ty.signed()), self.extend(y, 24, ty.signed()));
        let result = if high {
            // Bits 47 to 16 of the product.
            let product = wide::mad_words(&mut self.b, ty.signed(), x, y, wide::constant(0));
            let product = wide::shr(&mut self.b, ty.signed(), product, Val::Imm(16));
            self.b.add(product[0], c)
        } else {
            self.b.mad(x, y, c)
        };
        self.write_word(d, ty, result)
    }

    fn divide(&mut self, a: &Operand<'a>, b: &Operand<'a>, ty: Ty) -> Result<Division<Pair>> {
        if matches!(b.kind, crate::ptx::ast::OperandKind::Int(0)) {
            return wrong(b.span, "division by the constant zero");
        }
        let (x, y) = (self.full(a, ty)?, self.full(b, ty)?);
        let b = &mut self.b;
        if ty.bits == 64 {
            let (x, y) = (sequence_pair(x), sequence_pair(y));
            let Division { quotient, remainder } =
                if ty.signed() { sequence::divide_signed_64(b, x, y) } else { sequence::divide_unsigned_64(b, x, y) };
            let words = |p: sequence::Pair<Val>| [p.low, p.high];
            return Ok(Division { quotient: words(quotient), remainder: words(remainder) });
        }
        let Division { quotient, remainder } =
            if ty.signed() { sequence::divide_signed(b, x[0], y[0]) } else { sequence::divide_unsigned(b, x[0], y[0]) };
        Ok(Division { quotient: [quotient, Val::ZERO], remainder: [remainder, Val::ZERO] })
    }
}
