//! Half precision, computed in single precision: the sequences of [`gpurf_arith::sequence`].

use super::convert::wrong_modifiers;
use super::double::F64;
use super::float::rounding;
use super::kernel::{Kernel, is_integer, wrong};
use super::logic::B32;
use super::memory::{Address, Target};
use super::types::{Kind, Mods, Result, Ty, names_type};
use crate::mir::{Builder, Term, Val};
use crate::ptx::ast::{Instruction, Operand};
use gpurf_arith::{Rounding, sequence};
use gpurf_isa::Op;
use gpurf_isa::modifiers::*;

/// The type of a half precision value: 16 bits.
pub const B16: Ty = Ty { kind: Kind::Bits, bits: 16 };
const HALF_SIGN: u32 = 0x8000;
const HALF_ONE: u32 = 0x3c00;

/// A single value, or two in a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    One,
    Two,
}

impl Width {
    fn ty(self) -> Ty {
        if self == Self::One { B16 } else { B32 }
    }
}

impl<'a> Kernel<'_, 'a> {
    /// Lowers an instruction of this group. Returns whether it was one.
    pub fn half(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<bool> {
        let has = |name| i.modifiers.iter().any(|m| m.text == name);
        let width = match (has("f16"), has("f16x2")) {
            (false, false) => return Ok(false),
            (_, two) => {
                if two {
                    Width::Two
                } else {
                    Width::One
                }
            }
        };
        match i.opcode.text {
            "cvt" => self.convert_half(i, mods)?,
            "setp" | "set" => self.compare_halves(i, mods, width)?,
            "atom" | "red" => self.add_half_in_memory(i, mods, width)?,
            _ => return self.half_arithmetic(i, mods, width),
        }
        Ok(true)
    }

    fn half_arithmetic(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>, width: Width) -> Result<bool> {
        let opcode = i.opcode.text;
        // The number of sources, and the modifiers that the instruction may have.
        let (operands, allowed): (usize, &[&str]) = match opcode {
            "add" | "sub" | "mul" => (2, &["rn", "ftz", "sat"]),
            "fma" => (3, &["rn", "ftz", "sat"]),
            "min" | "max" => (2, &["ftz", "NaN"]),
            "neg" | "abs" => (1, &["ftz"]),
            "ex2" | "tanh" => {
                mods.need("an accuracy", &["approx"])?;
                (1, &[])
            }
            _ => return Ok(false),
        };
        let mut takes = |name| allowed.contains(&name) && mods.flag(name);
        takes("rn");
        let (ftz, sat, nan) = (takes("ftz"), takes("sat"), takes("NaN"));
        mods.one_of(&["f16", "f16x2"]);
        let [d, sources @ ..] = i.operands.as_slice() else {
            return wrong(i.span, format!("`{opcode}` has {} operands here", operands + 1));
        };
        if sources.len() != operands {
            return wrong(i.span, format!("`{opcode}` has {} operands here, not {}", operands + 1, i.operands.len()));
        }
        let mut values = Vec::new();
        for source in sources {
            values.push(self.half_source(source, width)?);
        }
        let result = self.each_half(width, &values, |k, x| {
            let b = &mut k.b;
            let flushed: Vec<Val> = x.iter().map(|&x| if ftz { sequence::half_flushed(b, x) } else { x }).collect();
            let result = match (opcode, flushed[..].as_ref()) {
                ("add", &[x, y]) => sequence::half_add(b, x, y),
                ("sub", &[x, y]) => {
                    let minus = b.xor(y, Val::Imm(HALF_SIGN));
                    sequence::half_add(b, x, minus)
                }
                ("mul", &[x, y]) => sequence::half_multiply(b, x, y),
                ("fma", &[x, y, z]) => sequence::half_fma(b, x, y, z),
                ("neg", &[x]) => b.xor(x, Val::Imm(HALF_SIGN)),
                ("abs", &[x]) => b.and(x, Val::Imm(HALF_SIGN - 1)),
                ("min" | "max", &[x, y]) => {
                    let which = if opcode == "min" { Extremum::Min } else { Extremum::Max };
                    let (x, y) = (sequence::float_from_half(b, x), sequence::float_from_half(b, y));
                    let extreme = b.op(Op::Fmnmx { which, ftz: false, nan }, [x, y, Val::ZERO]);
                    sequence::half_from_float(b, extreme, Rounding::NearestEven)
                }
                (_, &[x]) => {
                    let wide = sequence::float_from_half(b, x);
                    let wide = if opcode == "tanh" { k.tanh(wide) } else { k.function(Function::Ex2, false, wide) };
                    sequence::half_from_float(&mut k.b, wide, Rounding::NearestEven)
                }
                _ => unreachable!("the operands are counted above"),
            };
            let b = &mut k.b;
            let result = if sat { sequence::half_saturated(b, result) } else { result };
            if ftz { sequence::half_flushed(b, result) } else { result }
        });
        self.write_word(d, width.ty(), result)?;
        Ok(true)
    }

    /// A source of one or two values. The type has no constants, so an integer other than zero is refused: its bits are those of another number.
    fn half_source(&mut self, operand: &Operand<'a>, width: Width) -> Result<Val> {
        if is_integer(operand) {
            let message = "this is an integer, and a half is needed: move its bits to a register first";
            return wrong(operand.span, message);
        }
        self.word(operand, width.ty().bits)
    }

    /// Applies `f` to one value, or to each half of a word.
    fn each_half(&mut self, width: Width, values: &[Val], mut f: impl FnMut(&mut Self, &[Val]) -> Val) -> Val {
        let low = f(self, values);
        if width == Width::One {
            return low;
        }
        let upper: Vec<Val> = values.iter().map(|&x| upper(&mut self.b, x)).collect();
        let high = f(self, &upper);
        self.pack_halves(low, high)
    }

    /// `cvt` to or from half precision.
    fn convert_half(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let types: Vec<&str> = i.modifiers.iter().map(|m| m.text).filter(|text| names_type(text)).collect();
        let &[to, from] = &types[..] else { return wrong(mods.span(), "`cvt` has two types") };
        let mode = mods.one_of(&["rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"]);
        let integral = mode.is_some_and(|mode| mode.ends_with('i'));
        let round = rounding(mode.unwrap_or("rn"));
        let ftz = mods.flag("ftz");
        let sat = mods.flag("sat");
        let mut known =
            |name: &'static str, text: &str| if text == name { mods.one_of(&[name]).map(|_| B16) } else { None };
        let (to_half, from_half) = (known("f16", to), known("f16", from));
        let (to, from) = match (to_half, from_half) {
            (Some(to), Some(from)) => (to, from),
            (Some(to), None) => (to, mods.ty()?),
            (None, from) => (mods.ty()?, from.unwrap_or(B16)),
        };
        let [d, a] = self.operands(i)?;
        let types = [(to, to_half), (from, from_half)];
        let [to_type, from_type] =
            types.map(|(ty, half)| if half.is_some() { Ty { kind: Kind::Float, ..ty } } else { ty });
        if let Some(message) = wrong_modifiers(to_type, from_type, mode, ftz) {
            return wrong(mods.span(), message);
        }
        if to_half.is_some() && from.float() && mode.is_none() {
            return wrong(mods.span(), "a float becomes a half by .rn, .rz, .rm or .rp");
        }
        let source = self.low_part(a, from)?;
        let wide = match from_half {
            Some(_) => sequence::float_from_half(&mut self.b, source[0]),
            None if from == F64 => self.float_rounded_to_odd(source),
            None if from.float() => source[0],
            None => self.integer_to_float(source, from, round),
        };
        if to_half.is_none() && !to.float() {
            if !integral {
                return wrong(mods.span(), "a float becomes an integer by .rni, .rzi, .rmi or .rpi");
            }
            let value = self.float_to_integer(wide, to, round, false);
            return self.write_extended(d, to, value);
        }
        if to == F64 || from == F64 {
            if integral || ftz || (to == F64 && mode.is_some()) {
                return wrong(
                    mods.span(),
                    "a half becomes a double without rounding, and a double a half by .rn, .rz, .rm or .rp",
                );
            }
            if to == F64 {
                let value = self.double_from_float(wide, sat);
                return self.write(d, F64, value);
            }
        }
        let wide = if integral {
            self.b.op(Op::Frnd { rounding: super::machine::rounding(round), ftz, sat }, [wide, Val::ZERO, Val::ZERO])
        } else {
            self.flushed_or_clamped(wide, ftz, sat)
        };
        match to_half {
            // A value that was a half, or is integral, is representable, so any rounding serves; otherwise the rounding
            // is that of the conversion.
            Some(_) => {
                let result =
                    sequence::half_from_float(&mut self.b, wide, if integral { Rounding::NearestEven } else { round });
                self.write_word(d, B16, result)
            }
            None => self.write_extended(d, to, [wide, Val::ZERO]),
        }
    }

    /// `setp` and `set`.
    fn compare_halves(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>, width: Width) -> Result<()> {
        let sets = i.opcode.text == "set";
        let result = if sets {
            Some(mods.need(
                "the result's type",
                if width == Width::One {
                    &["u32", "s32", "f32", "u16", "s16", "f16"]
                } else {
                    &["f16x2", "u32", "s32"]
                },
            )?)
        } else {
            None
        };
        // The second type; for `set`, the first type was the result's.
        mods.one_of(&["f16", "f16x2"]);
        let ftz = mods.flag("ftz");
        let compare = |k: &mut Self, comparison, x: Val, y: Val| {
            let [x, y] = [x, y].map(|x| if ftz { sequence::half_flushed(&mut k.b, x) } else { x });
            let (x, y) = (sequence::float_from_half(&mut k.b, x), sequence::float_from_half(&mut k.b, y));
            k.compare_floats(comparison, false, x, y)
        };
        let both = self.compared(i, mods, |k, mods, name, a, b| {
            let comparison = super::logic::float_comparison(mods, name)?;
            let (x, y) = (k.half_source(a, width)?, k.half_source(b, width)?);
            if width == Width::One {
                let p = compare(k, comparison, x, y);
                return Ok([p, p.not()]);
            }
            let (upper_x, upper_y) = (upper(&mut k.b, x), upper(&mut k.b, y));
            let high = compare(k, comparison, upper_x, upper_y);
            Ok([compare(k, comparison, x, y), high])
        })?;
        let d = &i.operands[0];
        let Some(result) = result else { return self.write_predicates(d, both) };
        let [p, second] = both;
        let high = (width == Width::Two).then_some(second);
        let one = match (result, width) {
            ("f16" | "f16x2", _) => HALF_ONE,
            ("f32", _) => 1f32.to_bits(),
            ("u16" | "s16", _) | (_, Width::Two) => 0xffff,
            _ => u32::MAX,
        };
        let low = self.b.select(p, Val::Imm(one), Val::ZERO);
        match (result, high) {
            // A comparison of pairs has a result in each half, also as .u32.
            (_, Some(high)) => {
                let high = self.b.select(high, Val::Imm(one), Val::ZERO);
                let both = self.pack_halves(low, high);
                self.write_word(d, B32, both)
            }
            ("f16" | "u16" | "s16", None) => self.write_word(d, B16, low),
            (_, None) => self.write_word(d, B32, low),
        }
    }

    /// `atom.add.noftz.f16` and `.f16x2`: a loop reads the word, and replaces it if it has not changed since.
    fn add_half_in_memory(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>, width: Width) -> Result<()> {
        let fences = self.order(mods)?;
        let space = self.space(mods);
        mods.need("what PTX asks for", &["noftz"])?;
        mods.need("an operation", &["add"])?;
        mods.one_of(&["f16", "f16x2"]);
        let (d, a, source) = match (i.opcode.text, i.operands.as_slice()) {
            ("atom", [d, a, source]) => (Some(d), a, source),
            ("red", [a, source]) => (None, a, source),
            _ => return wrong(i.span, format!("`{}` has not the operands that .add needs", i.opcode.text)),
        };
        let (target, address) = self.address(a, space)?;
        let atomic = match target {
            Target::Memory(Space::Global) => AtomicSpace::Global,
            Target::Memory(Space::Shared) => AtomicSpace::Shared,
            Target::Memory(Space::Generic) => AtomicSpace::Generic,
            _ => return wrong(a.span, "atomic operations are for global and shared memory"),
        };
        let given = self.half_source(source, width)?;
        self.fence(fences[0]);
        // The word that contains the half, and the half's first bit in it.
        let low = self.b.add(address.base[0], Val::Imm(address.offset as u32));
        let (low, bit) = match width {
            Width::Two => (low, Val::ZERO),
            Width::One => {
                let eight_times = self.b.shl(low, Val::Imm(3));
                // Bit 0 stays: at an odd address the operations on the word are a fault.
                (self.b.and(low, Val::Imm(!2)), self.b.and(eight_times, Val::Imm(16)))
            }
        };
        let high = if atomic == AtomicSpace::Shared {
            Val::ZERO
        } else {
            // The offset may carry into the upper word.
            let whole =
                super::wide::add(&mut self.b, address.base, super::wide::constant(i64::from(address.offset) as u64));
            whole[1]
        };
        let word = Address { base: [low, high], offset: 0 };
        let old = self.b.general();
        // The read is an atomic operation, because it races with those of other threads: the number of loop iterations
        // depends on their order.
        let first = self.atom_word(atomic, Atomic::Or, word, 0, Val::ZERO);
        self.b.assign(old, first);
        let (again, after) = (self.b.block(), self.b.block());
        self.b.end(Term::Jump(again), again);
        let new = match width {
            Width::Two => {
                self.each_half(Width::Two, &[Val::Reg(old), given], |k, x| sequence::half_add(&mut k.b, x[0], x[1]))
            }
            Width::One => {
                let half = self.b.shr(false, Val::Reg(old), bit);
                let sum = sequence::half_add(&mut self.b, half, given);
                let field = self.b.or(bit, Val::Imm(16 << 8));
                self.b.op(Op::Bfi {}, [sum, field, Val::Reg(old)])
            }
        };
        let seen = self.compare_and_swap(atomic, word, Val::Reg(old), new);
        let done = self.b.compare(IntegerComparison::Eq, false, seen, Val::Reg(old));
        // When the loop ends both are equal, so `old` holds the result then, too.
        self.b.assign(old, seen);
        self.b.end(Term::Branch { when: done, then: after, otherwise: again }, after);
        self.fence(fences[1]);
        let Some(d) = d else { return Ok(()) };
        let result = if width == Width::One { self.b.shr(false, Val::Reg(old), bit) } else { Val::Reg(old) };
        self.write_word(d, width.ty(), result)
    }
}

fn upper(b: &mut Builder, x: Val) -> Val {
    b.shr(false, x, Val::Imm(16))
}
