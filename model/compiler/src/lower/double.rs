//! Double precision, computed with integer instructions: the sequences of [`gpurf_arith::sequence`].

use super::float::{ROUNDINGS, rounding};
use super::integer::sequence_pair;
use super::kernel::{Kernel, wrong};
use super::types::{Kind, Mods, Result, Ty};
use super::wide::{self, Pair};
use crate::mir::{Builder, Pred, Val};
use crate::ptx::ast::{Instruction, Operand};
use gpurf_arith::float::Relation;
use gpurf_arith::sequence::{self, Machine};
use gpurf_arith::{IntType, Mode, Rounding, SIGN};
use gpurf_isa::modifiers::{Combine, FloatComparison, IntegerComparison};

/// A double.
pub const F64: Ty = Ty { kind: Kind::Float, bits: 64 };

/// The upper words of 1, the smallest normal number, and infinity.
const ONE: u32 = 0x3ff0_0000;
const SMALLEST_NORMAL: u32 = 0x0010_0000;
const INFINITY: u32 = 0x7ff0_0000;

/// Converts a pair of the sequences to the lowering's.
fn words(x: sequence::Pair<Val>) -> Pair {
    [x.low, x.high]
}

impl<'a> Kernel<'_, 'a> {
    /// Lowers an arithmetic instruction whose type is `.f64`. Returns whether it was one.
    pub fn double(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<bool> {
        match i.opcode.text {
            "add" | "sub" | "mul" => {
                let mode = rounding(mods.one_of(&ROUNDINGS).unwrap_or("rn"));
                mods.ty_of(&["f64"])?;
                let [d, a, b] = self.operands(i)?;
                let (x, y) = (self.double_source(a)?, self.double_source(b)?);
                let b = &mut self.b;
                let result = match i.opcode.text {
                    "add" => sequence::double_add(b, x, y, mode),
                    "sub" => {
                        let minus = sequence::Pair { low: y.low, high: b.xor(y.high, Val::Imm(SIGN)) };
                        sequence::double_add(b, x, minus, mode)
                    }
                    _ => sequence::double_multiply(b, x, y, mode),
                };
                self.write(d, F64, words(result))?;
            }
            "fma" | "mad" => {
                let mode = rounding(mods.need("a rounding", &ROUNDINGS)?);
                mods.ty_of(&["f64"])?;
                let [d, a, b, c] = self.operands(i)?;
                let (x, y, z) = (self.double_source(a)?, self.double_source(b)?, self.double_source(c)?);
                let result = sequence::double_fma(&mut self.b, x, y, z, mode);
                self.write(d, F64, words(result))?;
            }
            "div" => {
                let mode = rounding(mods.need("a rounding", &ROUNDINGS)?);
                mods.ty_of(&["f64"])?;
                let [d, a, b] = self.operands(i)?;
                let (x, y) = (self.double_source(a)?, self.double_source(b)?);
                let result = sequence::double_divide(&mut self.b, x, y, mode);
                self.write(d, F64, words(result))?;
            }
            "rcp" | "sqrt" | "rsqrt" => {
                let result = self.reciprocal_or_root(i, mods)?;
                self.write(&i.operands[0], F64, result)?;
            }
            "abs" | "neg" => {
                mods.ty_of(&["f64"])?;
                let [d, a] = self.operands(i)?;
                let x = self.source(a, F64)?;
                let high = if i.opcode.text == "abs" {
                    self.b.and(x[1], Val::Imm(!SIGN))
                } else {
                    self.b.xor(x[1], Val::Imm(SIGN))
                };
                self.write(d, F64, [x[0], high])?;
            }
            "copysign" => {
                mods.ty_of(&["f64"])?;
                let [d, a, b] = self.operands(i)?;
                let (sign, size) = (self.source(a, F64)?, self.source(b, F64)?);
                // The table is (b & c) | (a & !b), with the mask as b.
                let high = Builder::lop3(&mut self.b, size[1], Val::Imm(SIGN), sign[1], 0xb8);
                self.write(d, F64, [size[0], high])?;
            }
            "min" | "max" => {
                mods.ty_of(&["f64"])?;
                let [d, a, b] = self.operands(i)?;
                let (x, y) = (self.double_source(a)?, self.double_source(b)?);
                let result = if i.opcode.text == "min" {
                    sequence::double_minimum(&mut self.b, x, y)
                } else {
                    sequence::double_maximum(&mut self.b, x, y)
                };
                self.write(d, F64, words(result))?;
            }
            "testp" => {
                const TESTS: [&str; 6] = ["finite", "infinite", "number", "notanumber", "normal", "subnormal"];
                let test = mods.need("a property", &TESTS)?;
                mods.ty_of(&["f64"])?;
                let [d, a] = self.operands(i)?;
                let x = self.source(a, F64)?;
                let result = self.has_property(test, x);
                self.write_predicate(d, result)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `rcp`, `sqrt` and `rsqrt`, exact and approximate.
    fn reciprocal_or_root(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<Pair> {
        let exact = mods.one_of(&ROUNDINGS).map(rounding);
        let approximate = exact.is_none() && mods.flag("approx");
        let ftz = mods.flag("ftz");
        mods.ty_of(&["f64"])?;
        let [_, a] = self.operands(i)?;
        let x = self.double_source(a)?;
        let b = &mut self.b;
        let one = sequence::Pair { low: Val::ZERO, high: Val::Imm(ONE) };
        let result = match (i.opcode.text, exact) {
            ("rcp", Some(mode)) if !ftz => sequence::double_divide(b, one, x, mode),
            ("rcp", None) if approximate && ftz => sequence::double_reciprocal_approximate(b, x),
            ("sqrt", Some(mode)) if !ftz => sequence::double_square_root(b, x, mode),
            ("rsqrt", None) if approximate && ftz => sequence::double_reciprocal_root_approximate(b, x),
            ("rsqrt", None) if approximate => {
                let root = sequence::double_square_root(b, x, Rounding::NearestEven);
                sequence::double_divide(b, one, root, Rounding::NearestEven)
            }
            ("rcp", _) => return wrong(mods.span(), "`rcp` of .f64 is .rn, .rz, .rm, .rp or .approx.ftz"),
            ("sqrt", _) => return wrong(mods.span(), "`sqrt` of .f64 is .rn, .rz, .rm or .rp"),
            _ => return wrong(mods.span(), "`rsqrt` of .f64 is .approx or .approx.ftz"),
        };
        Ok(words(result))
    }

    fn has_property(&mut self, test: &str, x: Pair) -> Pred {
        let b = &mut self.b;
        let size = [x[0], b.and(x[1], Val::Imm(!SIGN))];
        let infinity = [Val::ZERO, Val::Imm(INFINITY)];
        match test {
            "finite" => b.compare(IntegerComparison::Lt, false, size[1], Val::Imm(INFINITY)),
            "infinite" => b.compare_wide(IntegerComparison::Eq, false, size, infinity),
            "number" => b.compare_wide(IntegerComparison::Le, false, size, infinity),
            "notanumber" => b.compare_wide(IntegerComparison::Gt, false, size, infinity),
            // Zeros count as normal (PTX ISA, testp).
            "normal" => {
                let above = b.sub(size[1], Val::Imm(SMALLEST_NORMAL));
                let range = Val::Imm(INFINITY - SMALLEST_NORMAL);
                let in_range = b.compare(IntegerComparison::Lt, false, above, range);
                let zero = b.compare_wide(IntegerComparison::Eq, false, size, wide::constant(0));
                b.combine(Combine::Or, in_range, zero)
            }
            _ => {
                let small = b.compare(IntegerComparison::Lt, false, size[1], Val::Imm(SMALLEST_NORMAL));
                let nonzero = b.compare_wide(IntegerComparison::Ne, false, size, wide::constant(0));
                b.combine(Combine::And, small, nonzero)
            }
        }
    }

    /// A source that is a double.
    pub fn double_source(&mut self, operand: &Operand<'a>) -> Result<sequence::Pair<Val>> {
        Ok(sequence_pair(self.source(operand, F64)?))
    }

    /// Compares two doubles.
    pub fn compare_doubles(&mut self, comparison: FloatComparison, a: &Operand<'a>, b: &Operand<'a>) -> Result<Pred> {
        use FloatComparison::*;
        let (x, y) = (self.double_source(a)?, self.double_source(b)?);
        let relation = match comparison {
            Eq => Relation::Equal,
            Ne => Relation::NotEqual,
            Lt => Relation::Less,
            Le => Relation::LessEqual,
            Gt => Relation::Greater,
            Ge => Relation::GreaterEqual,
            Equ => Relation::EqualUnordered,
            Neu => Relation::NotEqualUnordered,
            Ltu => Relation::LessUnordered,
            Leu => Relation::LessEqualUnordered,
            Gtu => Relation::GreaterUnordered,
            Geu => Relation::GreaterEqualUnordered,
            Num => Relation::Ordered,
            Nan => Relation::Unordered,
        };
        Ok(sequence::double_compare(&mut self.b, relation, x, y))
    }

    /// The sum of two doubles, rounded to nearest even.
    pub fn add_doubles(&mut self, x: Pair, y: Pair) -> Pair {
        words(sequence::double_add(&mut self.b, sequence_pair(x), sequence_pair(y), Rounding::NearestEven))
    }

    /// `cvt` from or to a double, or both. The other type is an integer or `.f32`.
    pub fn convert_double(
        &mut self,
        mods: &Mods<'_, 'a>,
        [to, from]: [Ty; 2],
        source: Pair,
        mode: Option<&str>,
        [ftz, saturate]: [bool; 2],
    ) -> Result<Pair> {
        let x = sequence_pair(source);
        let integral = mode.is_some_and(|mode| mode.ends_with('i'));
        let round = rounding(mode.unwrap_or("rn"));
        if ftz && !(to.float() && from.float() && (to.bits == 32 || from.bits == 32)) {
            return wrong(mods.span(), "doubles are not flushed: .ftz belongs to .f32");
        }
        let b = &mut self.b;
        let result = match (from.float(), to.float()) {
            (true, false) if !integral => {
                return wrong(mods.span(), "a float becomes an integer by .rni, .rzi, .rmi or .rpi");
            }
            (true, false) if to.bits == 64 => {
                return Ok(words(sequence::integer_64_from_double(b, x, to.signed(), round)));
            }
            (true, false) => {
                let to = IntType { bits: to.bits as u8, signed: to.signed() };
                return Ok([sequence::integer_from_double(b, x, to, round), Val::ZERO]);
            }
            (true, true) if to.bits == 32 => {
                if integral || mode.is_none() {
                    return wrong(mods.span(), "a double becomes a float by .rn, .rz, .rm or .rp");
                }
                let result = sequence::float_from_double(b, x, Mode::new(round, ftz));
                return Ok([self.flushed_or_clamped(result, false, saturate), Val::ZERO]);
            }
            (true, true) if from.bits == 32 => {
                if mode.is_some() {
                    return wrong(mods.span(), "a float becomes a double without rounding");
                }
                sequence::double_from_float(b, source[0], ftz)
            }
            (true, true) => match mode {
                Some(_) if integral => sequence::double_integral(b, x, round),
                Some(_) => return wrong(mods.span(), "a double becomes a double by .rni, .rzi, .rmi or .rpi"),
                None => x,
            },
            (false, _) => match (from.bits, from.signed()) {
                (64, true) => sequence::double_from_signed_64(b, x, round),
                (64, false) => sequence::double_from_unsigned_64(b, x, round),
                (bits, signed) => {
                    let word = self.extend(source[0], bits, signed);
                    if signed {
                        sequence::double_from_signed(&mut self.b, word)
                    } else {
                        sequence::double_from_unsigned(&mut self.b, word)
                    }
                }
            },
        };
        Ok(words(if saturate { sequence::double_saturated(&mut self.b, result) } else { result }))
    }

    /// A double as a float that is rounded to odd: a later rounding to half precision gives the same result as a single one.
    pub fn float_rounded_to_odd(&mut self, x: Pair) -> Val {
        let b = &mut self.b;
        let result = sequence::float_from_double(b, sequence_pair(x), Mode::new(Rounding::TowardZero, false));
        let back = sequence::double_from_float(b, result, false);
        let inexact = b.compare_wide(IntegerComparison::Ne, false, words(back), x);
        let sticky = Machine::select(b, inexact, Val::Imm(1), Val::ZERO);
        b.or(result, sticky)
    }

    /// A float as a double.
    pub fn double_from_float(&mut self, x: Val, saturate: bool) -> Pair {
        let result = sequence::double_from_float(&mut self.b, x, false);
        words(if saturate { sequence::double_saturated(&mut self.b, result) } else { result })
    }
}
