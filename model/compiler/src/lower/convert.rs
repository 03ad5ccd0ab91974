//! Conversions between types.

use super::double::F64;
use super::float::rounding;
use super::integer::sequence_pair;
use super::kernel::{Kernel, wrong};
use super::types::{Kind, Mods, Result, Ty};
use super::wide::{self, Pair};
use crate::mir::Val;
use crate::ptx::ast::Instruction;
use gpurf_arith::{IntType, Mode, sequence};
use gpurf_isa::Op;
use gpurf_isa::modifiers::*;

impl<'a> Kernel<'_, 'a> {
    /// Lowers a conversion. Returns whether the instruction was one.
    pub fn conversion(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<bool> {
        if i.opcode.text != "cvt" {
            return Ok(false);
        }
        let mode = mods.one_of(&["rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"]);
        let ftz = mods.flag("ftz");
        let saturate = mods.flag("sat");
        let to = mods.ty()?;
        let from = mods.ty()?;
        if let Some(message) = wrong_modifiers(to, from, mode, ftz) {
            return wrong(mods.span(), message);
        }
        let [d, a] = self.operands(i)?;
        let integral = mode.is_some_and(|m| m.ends_with('i'));
        let round = rounding(mode.unwrap_or("rn"));
        // A source register may be wider than the type: its low bits are used.
        let source = self.low_part(a, from)?;
        let value = match (from.float(), to.float()) {
            _ if to == F64 || from == F64 => self.convert_double(mods, [to, from], source, mode, [ftz, saturate])?,
            (false, false) => self.integer_to_integer(source, from, to, saturate),
            (false, true) => {
                let result = self.integer_to_float(source, from, round);
                [if saturate { self.clamp_unit(result, false) } else { result }, Val::ZERO]
            }
            (true, false) => {
                if !integral {
                    return wrong(mods.span(), "a float becomes an integer by .rni, .rzi, .rmi or .rpi");
                }
                self.float_to_integer(source[0], to, round, ftz)
            }
            (true, true) => {
                let result = if integral {
                    let op = Op::Frnd { rounding: super::machine::rounding(round), ftz, sat: saturate };
                    self.b.op(op, [source[0], Val::ZERO, Val::ZERO])
                } else {
                    self.flushed_or_clamped(source[0], ftz, saturate)
                };
                [result, Val::ZERO]
            }
        };
        self.write_extended(d, to, value)?;
        Ok(true)
    }

    /// Flushes subnormal values to zero if `ftz` is set, and clamps to 0 ..= 1 if `sat` is set.
    pub fn flushed_or_clamped(&mut self, x: Val, ftz: bool, sat: bool) -> Val {
        if !ftz && !sat {
            return x;
        }
        self.plus_zero(x, Mode { sat, ..Mode::new(gpurf_arith::Rounding::NearestEven, ftz) })
    }

    fn integer_to_integer(&mut self, source: Pair, from: Ty, to: Ty, saturate: bool) -> Pair {
        if saturate {
            return self.saturate(source, from, to);
        }
        if to.bits == 64 && from.bits < 64 {
            let low = self.extend(source[0], from.bits, from.signed());
            return wide::extend(&mut self.b, from.signed(), low);
        }
        if to.bits > from.bits {
            return [self.extend(source[0], from.bits, from.signed()), Val::ZERO];
        }
        source
    }

    /// The value of the destination type that is nearest to the source.
    fn saturate(&mut self, source: Pair, from: Ty, to: Ty) -> Pair {
        let int = |ty: Ty| IntType { bits: ty.bits as u8, signed: ty.signed() };
        let mut x = if from.bits == 64 {
            source
        } else {
            let low = self.extend(source[0], from.bits, from.signed());
            wide::extend(&mut self.b, from.signed(), low)
        };
        let (from_int, to_int) = (int(from), int(to));
        let at_64 = Ty { bits: 64, ..from };
        for (bound, comparison, needed) in [
            (to_int.max(), IntegerComparison::Gt, from_int.max() > to_int.max()),
            (to_int.min(), IntegerComparison::Lt, from_int.min() < to_int.min()),
        ] {
            if needed {
                let bound = wide::constant(bound as u64);
                let outside = self.compare(comparison, at_64, x, bound);
                x = wide::select(&mut self.b, outside, bound, x);
            }
        }
        x
    }

    /// Converts an integer to a float, with this rounding.
    pub fn integer_to_float(&mut self, source: Pair, from: Ty, round: gpurf_arith::Rounding) -> Val {
        match (from.bits, from.signed()) {
            (64, true) => sequence::float_from_signed_64(&mut self.b, sequence_pair(source), round),
            (64, false) => sequence::float_from_unsigned_64(&mut self.b, sequence_pair(source), round),
            (bits, signed) => {
                let x = self.extend(source[0], bits, signed);
                let op = Op::I2f { rounding: super::machine::rounding(round), signed };
                self.b.op(op, [x, Val::ZERO, Val::ZERO])
            }
        }
    }

    /// Converts a float to an integer. A value out of range gives the nearest value of the type. NaN gives zero, or `1
    /// << 63` for a result of 64 bits (PTX ISA, cvt).
    pub fn float_to_integer(&mut self, x: Val, to: Ty, round: gpurf_arith::Rounding, ftz: bool) -> Pair {
        if to.bits == 64 {
            let pair = if to.signed() {
                sequence::signed_64_from_float(&mut self.b, x, round, ftz)
            } else {
                sequence::unsigned_64_from_float(&mut self.b, x, round, ftz)
            };
            return [pair.low, pair.high];
        }
        let signed = to.signed();
        let op = Op::F2i { rounding: super::machine::rounding(round), ftz, signed };
        let mut value = self.b.op(op, [x, Val::ZERO, Val::ZERO]);
        if to.bits < 32 {
            let int = IntType { bits: to.bits as u8, signed };
            value =
                self.b.op(Op::Imnmx { which: Extremum::Min, signed }, [value, Val::Imm(int.max() as u32), Val::ZERO]);
            if signed {
                let low = Val::Imm(int.min() as u32);
                value = self.b.op(Op::Imnmx { which: Extremum::Max, signed }, [value, low, Val::ZERO]);
            }
        }
        [value, Val::ZERO]
    }
}

/// What is wrong with the types and modifiers of a conversion, if anything is, as far as integers are concerned.
pub fn wrong_modifiers(to: Ty, from: Ty, rounding: Option<&str>, ftz: bool) -> Option<&'static str> {
    if to.kind == Kind::Bits || from.kind == Kind::Bits {
        return Some("`cvt` converts numbers: a type of bits is none");
    }
    match (from.float(), to.float()) {
        (false, false) if rounding.is_some() || ftz => Some("an integer becomes another one without rounding and .ftz"),
        (false, true) if !matches!(rounding, Some("rn" | "rz" | "rm" | "rp")) => {
            Some("an integer becomes a float by .rn, .rz, .rm or .rp")
        }
        _ => None,
    }
}
