//! Logic, shifts, bit fields, comparisons, selections and moves.

use super::kernel::{Kernel, wrong};
use super::types::{Kind, Mods, Result, Ty};
use super::wide::{self, Pair};
use crate::mir::{Builder, Pred, Val};
use crate::ptx::ast::{Instruction, Operand, OperandKind};
use gpurf_isa::Op;
use gpurf_isa::modifiers::*;

/// The type of a word of bits.
pub const B32: Ty = Ty { kind: Kind::Bits, bits: 32 };

/// The types of values that may be moved, selected or compared.
pub const NUMBER_NAMES: [&str; 11] = ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"];

/// An operation on one word.
fn on_word(b: &mut Builder, op: Op, x: Val) -> Val {
    b.op(op, [x, Val::ZERO, Val::ZERO])
}

impl<'a> Kernel<'_, 'a> {
    /// Lowers an instruction of this group. Returns whether it was one.
    pub fn logic(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<bool> {
        match i.opcode.text {
            "and" | "or" | "xor" => self.binary_logic(i, mods)?,
            "not" | "cnot" => self.inverse(i, mods)?,
            "lop3" => {
                mods.ty_of(&["b32"])?;
                let [d, a, b, c, table] = self.operands(i)?;
                let OperandKind::Int(lut @ 0..256) = table.kind else {
                    return wrong(table.span, "the table of lop3 is a number from 0 to 255");
                };
                let (a, b, c) = (self.word(a, 32)?, self.word(b, 32)?, self.word(c, 32)?);
                let result = self.b.lop3(a, b, c, lut as u8);
                self.write_word(d, B32, result)?;
            }
            "shl" | "shr" => self.shift(i, mods)?,
            "shf" => {
                let direction =
                    if mods.need("a direction", &["l", "r"])? == "l" { Direction::Left } else { Direction::Right };
                let range = mods.need("a mode", &["wrap", "clamp"])?;
                let range = if range == "wrap" { ShiftRange::Wrap } else { ShiftRange::Clamp };
                mods.ty_of(&["b32"])?;
                let [d, a, b, c] = self.operands(i)?;
                let (low, high, amount) = (self.word(a, 32)?, self.word(b, 32)?, self.word(c, 32)?);
                let result = self.b.funnel(direction, range, low, high, amount);
                self.write_word(d, B32, result)?;
            }
            "prmt" => {
                mods.ty_of(&["b32"])?;
                if let Some(mode) = mods.one_of(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]) {
                    return wrong(mods.span(), format!("`prmt` in mode .{mode} is outside of the subset"));
                }
                let [d, a, b, c] = self.operands(i)?;
                let (a, b, selector) = (self.word(a, 32)?, self.word(b, 32)?, self.word(c, 32)?);
                let result = self.b.op(Op::Prmt {}, [a, selector, b]);
                self.write_word(d, B32, result)?;
            }
            "bfe" => self.extract(i, mods)?,
            "bfi" => self.insert(i, mods)?,
            "bmsk" => self.bit_mask(i, mods)?,
            "popc" | "clz" | "brev" | "bfind" => self.count_bits(i, mods)?,
            "fns" => self.nth_set_bit(i, mods)?,
            "setp" => self.set_predicate(i, mods)?,
            "set" => self.set(i, mods)?,
            "selp" => {
                let ty = mods.ty_of(&NUMBER_NAMES)?;
                let [d, a, b, p] = self.operands(i)?;
                let (x, y, p) = (self.source(a, ty)?, self.source(b, ty)?, self.predicate(p)?);
                let result = self.select(ty, p, x, y);
                self.write(d, ty, result)?;
            }
            "slct" => {
                let ftz = mods.flag("ftz");
                let ty = mods.ty_of(&NUMBER_NAMES)?;
                let by = mods.ty_of(&["s32", "f32"])?;
                let [d, a, b, c] = self.operands(i)?;
                let (x, y, c) = (self.source(a, ty)?, self.source(b, ty)?, self.source(c, by)?[0]);
                let p = if by.float() {
                    let op = Op::Fsetp { comparison: FloatComparison::Ge, ftz, combine: Combine::And };
                    self.b.op_p(op, [c, Val::ZERO, Val::ZERO], Pred::TRUE, Pred::TRUE)
                } else {
                    self.b.compare(IntegerComparison::Ge, true, c, Val::ZERO)
                };
                let result = self.select(ty, p, x, y);
                self.write(d, ty, result)?;
            }
            "mov" => self.mov(i, mods)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn select(&mut self, ty: Ty, p: Pred, x: Pair, y: Pair) -> Pair {
        let high = if ty.bits == 64 { self.b.select(p, x[1], y[1]) } else { Val::ZERO };
        [self.b.select(p, x[0], y[0]), high]
    }

    fn binary_logic(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let [d, a, b] = self.operands(i)?;
        if mods.flag("pred") {
            let combine = match i.opcode.text {
                "and" => Combine::And,
                "or" => Combine::Or,
                _ => Combine::Xor,
            };
            let (p, q) = (self.predicate(a)?, self.predicate(b)?);
            let result = self.b.combine(combine, p, q);
            return self.write_predicate(d, result);
        }
        let ty = mods.ty_of(&["b16", "b32", "b64"])?;
        let (x, y) = (self.source(a, ty)?, self.source(b, ty)?);
        let table = match i.opcode.text {
            "and" => 0xc0,
            "or" => 0xfc,
            _ => 0x3c,
        };
        let low = self.b.lop3(x[0], y[0], Val::ZERO, table);
        let high = if ty.bits == 64 { self.b.lop3(x[1], y[1], Val::ZERO, table) } else { Val::ZERO };
        self.write(d, ty, [low, high])
    }

    fn inverse(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let [d, a] = self.operands(i)?;
        if i.opcode.text == "not" && mods.flag("pred") {
            let p = self.predicate(a)?;
            return self.write_predicate(d, p.not());
        }
        let ty = mods.ty_of(&["b16", "b32", "b64"])?;
        if i.opcode.text == "cnot" {
            let x = self.full(a, ty)?;
            let zero = self.compare(IntegerComparison::Eq, ty, x, wide::constant(0));
            let result = self.b.select(zero, Val::Imm(1), Val::ZERO);
            return self.write(d, ty, [result, Val::ZERO]);
        }
        let x = self.source(a, ty)?;
        let high = if ty.bits == 64 { self.b.not(x[1]) } else { Val::ZERO };
        let low = self.b.not(x[0]);
        self.write(d, ty, [low, high])
    }

    fn shift(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let left = i.opcode.text == "shl";
        let types: &[&str] = if left { &["b16", "b32", "b64"] } else { &NUMBER_NAMES[..9] };
        let ty = mods.ty_of(types)?;
        let [d, a, b] = self.operands(i)?;
        let amount = self.word(b, 32)?;
        let result = match (ty.bits, left) {
            (64, true) => {
                let x = self.pair(a)?;
                wide::shl(&mut self.b, x, amount)
            }
            (64, false) => {
                let x = self.pair(a)?;
                wide::shr(&mut self.b, ty.signed(), x, amount)
            }
            // A shift by 16 or more leaves zero in the low half, as PTX requires for 16 bits.
            (_, true) => {
                let x = self.word(a, ty.bits)?;
                [self.b.shl(x, amount), Val::ZERO]
            }
            (_, false) => {
                let x = self.number(a, ty)?;
                [self.b.shr(ty.signed(), x, amount), Val::ZERO]
            }
        };
        self.write(d, ty, result)
    }

    /// Position and length of a field as the machine's operand: the low byte of each.
    fn field(&mut self, position: Val, length: Val) -> Val {
        match (position, length) {
            (Val::Imm(p), Val::Imm(l)) => Val::Imm(p & 0xff | (l & 0xff) << 8),
            // Byte 0 of the position, then byte 0 of the length; the upper bytes do not matter.
            _ => self.b.op(Op::Prmt {}, [position, Val::Imm(0x4440), length]),
        }
    }

    fn extract(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let ty = mods.ty_of(&["u32", "s32", "u64", "s64"])?;
        let [d, a, b, c] = self.operands(i)?;
        let (position, length) = (self.word(b, 32)?, self.word(c, 32)?);
        if ty.bits == 32 {
            let a = self.word(a, 32)?;
            let field = self.field(position, length);
            let result = self.b.op(Op::Bfe { signed: ty.signed() }, [a, field, Val::ZERO]);
            return self.write_word(d, ty, result);
        }
        let x = self.pair(a)?;
        let (position, length) = (self.b.and(position, Val::Imm(0xff)), self.b.and(length, Val::Imm(0xff)));
        let b = &mut self.b;
        let shifted = wide::shr(b, ty.signed(), x, position);
        // Moves the field to the top and back down, so that zeros or its sign fill the upper bits. The sign of a field
        // that reaches beyond bit 63 is bit 63, which the first shift has replicated.
        let wide_enough = b.compare(IntegerComparison::Ge, false, length, Val::Imm(64));
        let unused = b.sub(Val::Imm(64), length);
        let unused = b.select(wide_enough, Val::ZERO, unused);
        let top = wide::shl(b, shifted, unused);
        let result = wide::shr(b, ty.signed(), top, unused);
        let empty = b.compare(IntegerComparison::Eq, false, length, Val::ZERO);
        let result = wide::select(b, empty, wide::constant(0), result);
        self.write(d, ty, result)
    }

    fn insert(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let ty = mods.ty_of(&["b32", "b64"])?;
        let [d, a, b, c, e] = self.operands(i)?;
        let (position, length) = (self.word(c, 32)?, self.word(e, 32)?);
        if ty.bits == 32 {
            let (a, b) = (self.word(a, 32)?, self.word(b, 32)?);
            let field = self.field(position, length);
            let result = self.b.op(Op::Bfi {}, [a, field, b]);
            return self.write_word(d, ty, result);
        }
        let (x, y) = (self.pair(a)?, self.pair(b)?);
        let (position, length) = (self.b.and(position, Val::Imm(0xff)), self.b.and(length, Val::Imm(0xff)));
        let b = &mut self.b;
        // mask = ~(~0 << length) << position
        let above = wide::shl(b, wide::constant(u64::MAX), length);
        let ones = above.map(|word| b.not(word));
        let mask = wide::shl(b, ones, position);
        let moved = wide::shl(b, x, position);
        // mask ? moved : y
        let result = [0, 1].map(|n| b.lop3(mask[n], moved[n], y[n], 0xca));
        self.write(d, ty, result)
    }

    /// A mask of `b` ones from bit `a` on, cut off at bit 31.
    fn bit_mask(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let wraps = mods.one_of(&["clamp", "wrap"]) == Some("wrap");
        mods.ty_of(&["b32"])?;
        let [d, a, b] = self.operands(i)?;
        let (position, length) = (self.word(a, 32)?, self.word(b, 32)?);
        let b = &mut self.b;
        // Shifts by 32 or more give 0, as clamping requires.
        let amount = |b: &mut Builder, n| if wraps { b.and(n, Val::Imm(31)) } else { n };
        let (position, length) = (amount(b, position), amount(b, length));
        let above = b.shl(Val::Imm(u32::MAX), length);
        let ones = b.not(above);
        let result = b.shl(ones, position);
        self.write_word(d, B32, result)
    }

    fn count_bits(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let opcode = i.opcode.text;
        let shift_amount = opcode == "bfind" && mods.flag("shiftamt");
        let types: &[&str] = if opcode == "bfind" { &["u32", "s32", "u64", "s64"] } else { &["b32", "b64"] };
        let ty = mods.ty_of(types)?;
        let [d, a] = self.operands(i)?;
        let x = self.source(a, ty)?;
        let is_wide = ty.bits == 64;
        let b = &mut self.b;
        let result = match opcode {
            "brev" => {
                let low = on_word(b, Op::Brev {}, x[0]);
                let result = if is_wide { [on_word(b, Op::Brev {}, x[1]), low] } else { [low, Val::ZERO] };
                return self.write(d, ty, result);
            }
            "popc" => {
                let low = on_word(b, Op::Popc {}, x[0]);
                if is_wide {
                    let high = on_word(b, Op::Popc {}, x[1]);
                    b.add(low, high)
                } else {
                    low
                }
            }
            _ => {
                // A signed bfind searches for the highest bit that differs from the sign.
                let x = if ty.signed() {
                    let sign = b.shr(true, x[usize::from(is_wide)], Val::Imm(31));
                    x.map(|word| b.xor(word, sign))
                } else {
                    x
                };
                let low = on_word(b, Op::Clz {}, x[0]);
                let zeros = if is_wide {
                    let high = on_word(b, Op::Clz {}, x[1]);
                    let more = b.add(low, Val::Imm(32));
                    let none = b.compare(IntegerComparison::Eq, false, x[1], Val::ZERO);
                    b.select(none, more, high)
                } else {
                    low
                };
                if opcode == "clz" {
                    zeros
                } else {
                    let none = b.compare(IntegerComparison::Eq, false, zeros, Val::Imm(ty.bits));
                    let found = if shift_amount { zeros } else { b.sub(Val::Imm(ty.bits - 1), zeros) };
                    b.select(none, Val::Imm(u32::MAX), found)
                }
            }
        };
        self.write_word(d, B32, result)
    }

    /// `fns`: the position of the n-th set bit from `base` on, upwards, or downwards if n is negative; bit `base` itself if n is 0.
    fn nth_set_bit(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        mods.ty_of(&["b32"])?;
        let [d, mask, base, offset] = self.operands(i)?;
        let (mask, base, offset) = (self.word(mask, 32)?, self.word(base, 32)?, self.word(offset, 32)?);
        let b = &mut self.b;
        // Downwards is upwards in the reversed mask.
        let down = b.compare(IntegerComparison::Lt, true, offset, Val::ZERO);
        let reversed = on_word(b, Op::Brev {}, mask);
        let from_above = b.sub(Val::Imm(31), base);
        let minus = b.sub(Val::ZERO, offset);
        let (mask, base) = (b.select(down, reversed, mask), b.select(down, from_above, base));
        let itself = b.compare(IntegerComparison::Eq, false, offset, Val::ZERO);
        let candidates = b.select(itself, Val::Imm(1), Val::Imm(u32::MAX));
        let magnitude = b.select(down, minus, offset);
        let mut rank = b.select(itself, Val::Imm(1), magnitude);
        // A shift by 32 or more leaves no candidate.
        let candidates = b.shl(candidates, base);
        let mut rest = b.and(mask, candidates);
        let mut position = Val::ZERO;
        // Is the bit in the lower half of the rest, or in the upper one?
        for half in [16, 8, 4, 2, 1] {
            let low = b.and(rest, Val::Imm((1 << half) - 1));
            let count = on_word(b, Op::Popc {}, low);
            let above = b.compare(IntegerComparison::Gt, false, rank, count);
            let (less, upper, further) =
                (b.sub(rank, count), b.shr(false, rest, Val::Imm(half)), b.add(position, Val::Imm(half)));
            rank = b.select(above, less, rank);
            rest = b.select(above, upper, rest);
            position = b.select(above, further, position);
        }
        // The rank is 1 or more, so it equals the last bit only if that is the one.
        let last = b.and(rest, Val::Imm(1));
        let found = b.compare(IntegerComparison::Eq, false, last, rank);
        let from_above = b.sub(Val::Imm(31), position);
        let position = b.select(down, from_above, position);
        let result = b.select(found, position, Val::Imm(u32::MAX));
        self.write_word(d, B32, result)
    }

    /// Compares two operands of a type, and returns the result and its inverse; for floats it takes the modifier `.ftz`.
    fn comparison(
        &mut self,
        mods: &mut Mods<'_, 'a>,
        name: &str,
        ty: Ty,
        a: &Operand<'a>,
        b: &Operand<'a>,
    ) -> Result<[Pred; 2]> {
        let both = |p: Pred| [p, p.not()];
        if !ty.float() {
            use IntegerComparison::*;
            let comparison = match (name, ty.kind) {
                ("eq", _) => Eq,
                ("ne", _) => Ne,
                ("lt" | "le" | "gt" | "ge" | "lo" | "ls" | "hi" | "hs", Kind::Bits) => {
                    return wrong(mods.span(), format!("bits are compared by .eq and .ne, not by .{name}"));
                }
                ("lo" | "ls" | "hi" | "hs", Kind::Signed) => {
                    return wrong(mods.span(), format!("signed integers are not compared by .{name}"));
                }
                ("lt" | "lo", _) => Lt,
                ("le" | "ls", _) => Le,
                ("gt" | "hi", _) => Gt,
                ("ge" | "hs", _) => Ge,
                _ => return wrong(mods.span(), format!("integers are not compared by .{name}")),
            };
            let (x, y) = (self.full(a, ty)?, self.full(b, ty)?);
            return Ok(both(self.compare(comparison, ty, x, y)));
        }
        if ty.bits == 64 {
            return Ok(both(self.compare_doubles(float_comparison(mods, name)?, a, b)?));
        }
        let ftz = mods.flag("ftz");
        let (x, y) = (self.float_source(a)?, self.float_source(b)?);
        Ok(both(self.compare_floats(float_comparison(mods, name)?, ftz, x, y)))
    }

    /// Compares two floats.
    pub fn compare_floats(&mut self, comparison: FloatComparison, ftz: bool, x: Val, y: Val) -> Pred {
        let op = Op::Fsetp { comparison, ftz, combine: Combine::And };
        self.b.op_p(op, [x, y, Val::ZERO], Pred::TRUE, Pred::TRUE)
    }

    /// The two results of a `setp` or `set`, each combined with the third source if there is one. `compare` gets the comparison's name and the two
    /// operands, and returns the results before that.
    pub fn compared(
        &mut self,
        i: &Instruction<'a>,
        mods: &mut Mods<'_, 'a>,
        compare: impl FnOnce(&mut Self, &mut Mods<'_, 'a>, &str, &Operand<'a>, &Operand<'a>) -> Result<[Pred; 2]>,
    ) -> Result<[Pred; 2]> {
        const NAMES: [&str; 18] = [
            "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu",
            "num", "nan",
        ];
        let name = mods.need("a comparison", &NAMES)?;
        let combine = mods.one_of(&["and", "or", "xor"]);
        let (a, b, c) = match (combine, i.operands.as_slice()) {
            (None, [_, a, b]) => (a, b, None),
            (Some(_), [_, a, b, c]) => (a, b, Some(c)),
            _ => return wrong(i.span, format!("`{}` has three operands, or four with .and, .or, .xor", i.opcode.text)),
        };
        let mut both = compare(self, mods, name, a, b)?;
        if let (Some(combine), Some(c)) = (combine, c) {
            let combine = match combine {
                "and" => Combine::And,
                "or" => Combine::Or,
                _ => Combine::Xor,
            };
            let c = self.predicate(c)?;
            both = both.map(|p| self.b.combine(combine, p, c));
        }
        Ok(both)
    }

    fn set_predicate(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let ty = mods.ty_of(&NUMBER_NAMES)?;
        let both = self.compared(i, mods, |k, mods, name, a, b| k.comparison(mods, name, ty, a, b))?;
        self.write_predicates(&i.operands[0], both)
    }

    /// Writes the first of two predicates to `p`, or both of them to `p|q`.
    pub fn write_predicates(&mut self, d: &Operand<'a>, both: [Pred; 2]) -> Result<()> {
        match &d.kind {
            OperandKind::Pair(p, q) => {
                self.write_predicate(p, both[0])?;
                self.write_predicate(q, both[1])
            }
            _ => self.write_predicate(d, both[0]),
        }
    }

    fn set(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let result = mods.ty_of(&["u32", "s32", "f32"])?;
        let ty = mods.ty_of(&NUMBER_NAMES)?;
        let [p, _] = self.compared(i, mods, |k, mods, name, a, b| k.comparison(mods, name, ty, a, b))?;
        let one = if result.float() { 1f32.to_bits() } else { u32::MAX };
        let value = self.b.select(p, Val::Imm(one), Val::ZERO);
        self.write_word(&i.operands[0], result, value)
    }
}

/// The float comparison with this name.
pub fn float_comparison(mods: &Mods<'_, '_>, name: &str) -> Result<FloatComparison> {
    use FloatComparison::*;
    Ok(match name {
        "eq" => Eq,
        "ne" => Ne,
        "lt" => Lt,
        "le" => Le,
        "gt" => Gt,
        "ge" => Ge,
        "equ" => Equ,
        "neu" => Neu,
        "ltu" => Ltu,
        "leu" => Leu,
        "gtu" => Gtu,
        "geu" => Geu,
        "num" => Num,
        "nan" => Nan,
        _ => return wrong(mods.span(), format!("floats are not compared by .{name}")),
    })
}
