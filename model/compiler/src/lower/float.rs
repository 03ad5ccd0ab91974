//! Single precision arithmetic.

use super::kernel::Kernel;
use super::types::{Kind, Mods, Result, Ty};
use crate::mir::Val;
use crate::ptx::ast::Instruction;
use gpurf_arith::{Mode, SIGN, sequence};
use gpurf_isa::Op;
use gpurf_isa::modifiers::*;

pub const F32: Ty = Ty { kind: Kind::Float, bits: 32 };

/// The rounding that a modifier names.
pub fn rounding(name: &str) -> gpurf_arith::Rounding {
    match name {
        "rz" | "rzi" => gpurf_arith::Rounding::TowardZero,
        "rm" | "rmi" => gpurf_arith::Rounding::Down,
        "rp" | "rpi" => gpurf_arith::Rounding::Up,
        _ => gpurf_arith::Rounding::NearestEven,
    }
}

/// The names of the roundings.
pub const ROUNDINGS: [&str; 4] = ["rn", "rz", "rm", "rp"];

impl<'a> Kernel<'_, 'a> {
    /// Lowers an instruction of this group. Returns whether it was one.
    pub fn float(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<bool> {
        let opcode = i.opcode.text;
        if i.modifiers.last().is_some_and(|m| m.text == "f64") && self.double(i, mods)? {
            return Ok(true);
        }
        match opcode {
            "add" | "sub" | "mul" => {
                let mode = self.mode(mods);
                mods.ty_of(&["f32"])?;
                let [d, a, b] = self.operands(i)?;
                let (x, y) = (self.float_source(a)?, self.float_source(b)?);
                let (rounding, Mode { ftz, sat, .. }) = (super::machine::rounding(mode.rounding), mode);
                let op = if opcode == "mul" {
                    Op::Fmul { rounding, ftz, sat, neg: false }
                } else {
                    Op::Fadd { rounding, ftz, sat, neg_a: false, neg_b: opcode == "sub" }
                };
                let result = self.b.op(op, [x, y, Val::ZERO]);
                self.write_word(d, F32, result)?;
            }
            "fma" | "mad" => {
                let mode = self.mode(mods);
                mods.ty_of(&["f32"])?;
                let [d, a, b, c] = self.operands(i)?;
                let (x, y, z) = (self.float_source(a)?, self.float_source(b)?, self.float_source(c)?);
                let result = sequence::Machine::ffma(&mut self.b, x, y, z, mode);
                self.write_word(d, F32, result)?;
            }
            "div" => {
                let kind = mods.need("an accuracy", &["rn", "rz", "rm", "rp", "approx", "full"])?;
                let ftz = mods.flag("ftz");
                mods.ty_of(&["f32"])?;
                let [d, a, b] = self.operands(i)?;
                let (x, y) = (self.float_source(a)?, self.float_source(b)?);
                let result = match kind {
                    "approx" => sequence::divide_approximate(&mut self.b, x, y, ftz),
                    "full" => sequence::divide_full(&mut self.b, x, y, ftz),
                    _ => sequence::divide(&mut self.b, x, y, Mode::new(rounding(kind), ftz)),
                };
                self.write_word(d, F32, result)?;
            }
            "rcp" | "sqrt" => {
                let kind = mods.need("an accuracy", &["rn", "rz", "rm", "rp", "approx"])?;
                let ftz = mods.flag("ftz");
                mods.ty_of(&["f32"])?;
                let [d, a] = self.operands(i)?;
                let x = self.float_source(a)?;
                let mode = Mode::new(rounding(kind), ftz);
                let result = match (opcode, kind) {
                    ("rcp", "approx") => self.function(Function::Rcp, ftz, x),
                    ("sqrt", "approx") => self.function(Function::Sqrt, ftz, x),
                    ("rcp", _) => sequence::reciprocal(&mut self.b, x, mode),
                    _ => sequence::square_root(&mut self.b, x, mode),
                };
                self.write_word(d, F32, result)?;
            }
            "rsqrt" | "sin" | "cos" | "lg2" | "ex2" => {
                mods.need("an accuracy", &["approx"])?;
                let ftz = mods.flag("ftz");
                mods.ty_of(&["f32"])?;
                let [d, a] = self.operands(i)?;
                let x = self.float_source(a)?;
                let function = match opcode {
                    "rsqrt" => Function::Rsq,
                    "sin" => Function::Sin,
                    "cos" => Function::Cos,
                    "lg2" => Function::Lg2,
                    _ => Function::Ex2,
                };
                let result = self.function(function, ftz, x);
                self.write_word(d, F32, result)?;
            }
            "tanh" => {
                mods.need("an accuracy", &["approx"])?;
                mods.ty_of(&["f32"])?;
                let [d, a] = self.operands(i)?;
                let x = self.float_source(a)?;
                let result = self.tanh(x);
                self.write_word(d, F32, result)?;
            }
            "abs" | "neg" => {
                let ftz = mods.flag("ftz");
                mods.ty_of(&["f32"])?;
                let [d, a] = self.operands(i)?;
                let x = self.float_source(a)?;
                let signed =
                    if opcode == "abs" { self.b.and(x, Val::Imm(!SIGN)) } else { self.b.xor(x, Val::Imm(SIGN)) };
                // Adding -0 changes no number, but flushes subnormals.
                let result = if ftz { self.plus_zero(signed, Mode::FTZ) } else { signed };
                self.write_word(d, F32, result)?;
            }
            "min" | "max" => {
                let ftz = mods.flag("ftz");
                let nan = mods.flag("NaN");
                mods.ty_of(&["f32"])?;
                let [d, a, b] = self.operands(i)?;
                let (x, y) = (self.float_source(a)?, self.float_source(b)?);
                let which = if opcode == "min" { Extremum::Min } else { Extremum::Max };
                let result = self.b.op(Op::Fmnmx { which, ftz, nan }, [x, y, Val::ZERO]);
                self.write_word(d, F32, result)?;
            }
            "copysign" => {
                mods.ty_of(&["f32"])?;
                let [d, a, b] = self.operands(i)?;
                let (sign, size) = (self.float_source(a)?, self.float_source(b)?);
                // The table is (b & c) | (a & !b), with the mask as b.
                let result = self.b.lop3(size, Val::Imm(SIGN), sign, 0xb8);
                self.write_word(d, F32, result)?;
            }
            "testp" => {
                const TESTS: [&str; 6] = ["finite", "infinite", "number", "notanumber", "normal", "subnormal"];
                let test = mods.need("a property", &TESTS)?;
                mods.ty_of(&["f32"])?;
                let [d, a] = self.operands(i)?;
                let x = self.float_source(a)?;
                let size = self.b.and(x, Val::Imm(!SIGN));
                let infinity = gpurf_arith::INFINITY;
                let smallest_normal = 0x0080_0000;
                let result = match test {
                    "finite" => self.b.compare(IntegerComparison::Lt, false, size, Val::Imm(infinity)),
                    "infinite" => self.b.compare(IntegerComparison::Eq, false, size, Val::Imm(infinity)),
                    "number" => self.b.compare(IntegerComparison::Le, false, size, Val::Imm(infinity)),
                    "notanumber" => self.b.compare(IntegerComparison::Gt, false, size, Val::Imm(infinity)),
                    // A range check is one unsigned comparison of the distance from its lower bound. Zeros count as normal (PTX ISA, testp).
                    "normal" => {
                        let above = self.b.sub(size, Val::Imm(smallest_normal));
                        let in_range =
                            self.b.compare(IntegerComparison::Lt, false, above, Val::Imm(infinity - smallest_normal));
                        let zero = self.b.compare(IntegerComparison::Eq, false, size, Val::ZERO);
                        self.b.combine(Combine::Or, in_range, zero)
                    }
                    _ => {
                        let above = self.b.sub(size, Val::Imm(1));
                        self.b.compare(IntegerComparison::Lt, false, above, Val::Imm(smallest_normal - 1))
                    }
                };
                self.write_predicate(d, result)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn mode(&self, mods: &mut Mods<'_, 'a>) -> Mode {
        let name = mods.one_of(&ROUNDINGS).unwrap_or("rn");
        Mode { rounding: rounding(name), ftz: mods.flag("ftz"), sat: mods.flag("sat") }
    }

    pub fn function(&mut self, function: Function, ftz: bool, x: Val) -> Val {
        self.b.op(Op::Mufu { function, ftz }, [x, Val::ZERO, Val::ZERO])
    }

    /// `tanh.approx.f32`: 1 - 2 / (e^2x + 1); near zero, where that loses digits, the Taylor series to the fifth power. The PTX ISA requires a
    /// relative error of at most 2^-11; at the boundary between the two, 0.25, the series has 2^-15.
    pub fn tanh(&mut self, x: Val) -> Val {
        use sequence::Machine;
        let b = &mut self.b;
        let number = |x: f32| Val::Imm(x.to_bits());
        let size = b.absolute(x);
        let doubled = b.fmul(size, number(2.0 * std::f32::consts::LOG2_E), Mode::FTZ);
        let power = b.op(Op::Mufu { function: Function::Ex2, ftz: true }, [doubled, Val::ZERO, Val::ZERO]);
        let sum = b.fadd(power, number(1.0), Mode::FTZ);
        let part = b.op(Op::Mufu { function: Function::Rcp, ftz: true }, [sum, Val::ZERO, Val::ZERO]);
        let far = b.ffma(part, number(-2.0), number(1.0), Mode::FTZ);
        let square = b.fmul(size, size, Mode::IEEE);
        let series = b.ffma(square, number(2.0 / 15.0), number(-1.0 / 3.0), Mode::IEEE);
        let series = b.fmul(series, square, Mode::IEEE);
        let near = b.ffma(series, size, size, Mode::IEEE);
        let is_near = b.fset(gpurf_arith::float::Relation::Less, size, number(0.25), false);
        let result = b.select(is_near, near, far);
        b.lop3(result, Val::Imm(SIGN), x, 0xb8)
    }

    /// `x + -0`: `x`, except for the flushing, clamping or rounding that the mode asks for.
    pub fn plus_zero(&mut self, x: Val, mode: Mode) -> Val {
        sequence::Machine::fadd(&mut self.b, x, Val::Imm(SIGN), mode)
    }

    /// `x` clamped to 0 ..= 1; NaN becomes 0.
    pub fn clamp_unit(&mut self, x: Val, ftz: bool) -> Val {
        self.plus_zero(x, Mode { sat: true, ..Mode::new(gpurf_arith::Rounding::NearestEven, ftz) })
    }
}
