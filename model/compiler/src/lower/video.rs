//! Video instructions of two halves or four bytes (PTX ISA, "SIMD Video Instructions"): `vadd4`, `vabsdiff2` and so on, lane by lane.

use super::kernel::{Kernel, lacks};
use super::logic::B32;
use super::types::{Mods, Result};
use crate::diagnostic::Feature;
use crate::mir::Val;
use crate::ptx::ast::{Instruction, Operand, OperandKind};
use gpurf_isa::Op;
use gpurf_isa::modifiers::*;

/// The instructions, without the number of lanes.
const NAMES: [&str; 7] = ["vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"];

impl<'a> Kernel<'_, 'a> {
    /// Lowers an instruction of this group. Returns whether it was one.
    pub fn video(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<bool> {
        let name = i.opcode.text.trim_end_matches(['2', '4']);
        let lanes = match i.opcode.text.strip_prefix(name) {
            Some("2") if NAMES.contains(&name) => 2,
            Some("4") if NAMES.contains(&name) => 4,
            _ => return Ok(false),
        };
        let width = 32 / lanes;
        let signed = |mods: &mut Mods<'_, 'a>| mods.ty_of(&["u32", "s32"]).map(|ty| ty.signed());
        // Results of comparisons are 0 and 1.
        let signed_d = name != "vset" && signed(mods)?;
        let (signed_a, signed_b) = (signed(mods)?, signed(mods)?);
        let comparison = if name == "vset" {
            let names = ["eq", "ne", "lt", "le", "gt", "ge"];
            let comparison = match mods.need("a comparison", &names)? {
                "eq" => IntegerComparison::Eq,
                "ne" => IntegerComparison::Ne,
                "lt" => IntegerComparison::Lt,
                "le" => IntegerComparison::Le,
                "gt" => IntegerComparison::Gt,
                _ => IntegerComparison::Ge,
            };
            Some(comparison)
        } else {
            None
        };
        let (saturate, add) = (name != "vset" && mods.flag("sat"), mods.flag("add"));
        let [d, a, b, c] = self.operands(i)?;
        for operand in [d, a, b] {
            if let OperandKind::Name { part: Some(_), .. } = operand.kind {
                return lacks(operand.span, Feature::Video, "a choice of lanes is outside of the subset");
            }
        }
        let words: [Val; 3] = self.three([a, b, c])?;
        let mut result = words[2];
        for lane in 0..lanes {
            let x = self.b.field(signed_a, words[0], lane * width, width);
            let y = self.b.field(signed_b, words[1], lane * width, width);
            let value = match comparison {
                Some(comparison) => {
                    let holds = self.b.compare(comparison, true, x, y);
                    self.b.select(holds, Val::Imm(1), Val::ZERO)
                }
                None => self.video_lane(name, x, y),
            };
            let value = if saturate { self.nearest_in_lane(value, signed_d, width) } else { value };
            result = if add {
                self.b.add(result, value)
            } else {
                // The first bit and the number of bits.
                let place = Val::Imm((width << 8) | (lane * width));
                self.b.op(Op::Bfi {}, [value, place, result])
            };
        }
        self.write_word(d, B32, result)?;
        Ok(true)
    }

    fn three(&mut self, operands: [&Operand<'a>; 3]) -> Result<[Val; 3]> {
        let [a, b, c] = operands;
        Ok([self.word(a, 32)?, self.word(b, 32)?, self.word(c, 32)?])
    }

    /// The result of a lane, from numbers of 32 bits that hold at most 16.
    fn video_lane(&mut self, name: &str, x: Val, y: Val) -> Val {
        let extremum = |which| Op::Imnmx { which, signed: true };
        match name {
            "vadd" => self.b.add(x, y),
            "vsub" => self.b.sub(x, y),
            // Half of the sum, rounded away from zero.
            "vavrg" => {
                let sum = self.b.add(x, y);
                let negative = self.b.shr(true, sum, Val::Imm(31));
                let more = self.b.add(sum, Val::Imm(1));
                let rounded = self.b.add(more, negative);
                self.b.shr(true, rounded, Val::Imm(1))
            }
            "vmin" => self.b.op(extremum(Extremum::Min), [x, y, Val::ZERO]),
            "vmax" => self.b.op(extremum(Extremum::Max), [x, y, Val::ZERO]),
            _ => {
                let difference = self.b.sub(x, y);
                let negative = self.b.sub(Val::ZERO, difference);
                self.b.op(extremum(Extremum::Max), [difference, negative, Val::ZERO])
            }
        }
    }

    /// The nearest number that fits into a lane.
    fn nearest_in_lane(&mut self, value: Val, signed: bool, width: u32) -> Val {
        let [least, most] = if signed { [-(1 << (width - 1)), (1 << (width - 1)) - 1] } else { [0, (1 << width) - 1] };
        let extremum = |which| Op::Imnmx { which, signed: true };
        let value = self.b.op(extremum(Extremum::Max), [value, Val::Imm(least as u32), Val::ZERO]);
        self.b.op(extremum(Extremum::Min), [value, Val::Imm(most as u32), Val::ZERO])
    }
}
