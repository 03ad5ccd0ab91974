//! Fetches by the texture unit (`docs/textures.md`, "Unit or sequence").

use std::collections::HashMap;

use super::super::kernel::Kernel;
use super::super::module::Place;
use super::{Geometry, Point};
use crate::Textures;
use crate::mir::Val;
use crate::ptx::ast::{Block, Instruction, Operand, OperandKind, Statement};
use gpurf_isa::modifiers::{Channel, Modifier, TextureAccess};
use gpurf_isa::{MOST_HANDLE, Op};

/// What is known of the registers of a kernel: the parameter of those that are written once, by a load of it; `None` for all others.
#[derive(Default)]
pub struct Parameters<'a>(HashMap<&'a str, Option<Parameter<'a>>>);

/// A place in a kernel's parameters: the name of one, and a number of bytes.
type Parameter<'a> = (&'a str, i64);

impl<'a> Parameters<'a> {
    /// Of the registers of this body.
    pub fn of(body: &'a Block<'a>) -> Self {
        let mut parameters = Self::default();
        parameters.collect(body);
        parameters
    }

    fn collect(&mut self, block: &'a Block<'a>) {
        for statement in &block.statements {
            match statement {
                Statement::Instruction(i) => {
                    if let Some(first) = i.operands.first() {
                        self.write(first, loaded(i), 0);
                    }
                }
                Statement::Block(inner) => self.collect(inner),
                Statement::Label(_) | Statement::BranchTargets(_) => {}
            }
        }
    }

    /// An instruction has `operand` as its first one, which it may write: with the value of a parameter, element `index` of a vector of them.
    fn write(&mut self, operand: &'a Operand<'a>, parameter: Option<Parameter<'a>>, index: i64) {
        match &operand.kind {
            OperandKind::Name { name, .. } => {
                let value = parameter.map(|(of, at)| (of, at + 8 * index));
                self.0.entry(name).and_modify(|known| *known = None).or_insert(value);
            }
            OperandKind::Vector(list) => {
                (0..).zip(list).for_each(|(index, element)| self.write(element, parameter, index));
            }
            OperandKind::List(list) => list.iter().for_each(|element| self.write(element, None, 0)),
            OperandKind::Pair(one, other) => [one, other].into_iter().for_each(|element| self.write(element, None, 0)),
            _ => {}
        }
    }
}

/// The parameter that an instruction loads into a register of 64 bits, or several of them into a vector, whatever lanes execute it.
fn loaded<'a>(i: &'a Instruction<'a>) -> Option<Parameter<'a>> {
    let has = |words: &[&str]| i.modifiers.iter().any(|modifier| words.contains(&modifier.text));
    if i.opcode.text != "ld" || i.guard.is_some() || !has(&["param"]) || !has(&["u64", "s64", "b64"]) {
        return None;
    }
    match i.operands.get(1)?.kind {
        OperandKind::Address(Some(name), offset) => Some((name, offset)),
        _ => None,
    }
}

impl<'a> Kernel<'_, 'a> {
    /// The address of the constant word with the handle of the object in a register, if the unit can fetch from the object.
    pub(super) fn handle_place(&mut self, register: &'a str) -> Option<i32> {
        if self.module.textures == Textures::Sequence || self.code.returns.is_some() {
            return None;
        }
        let body = self.code.body;
        let (parameter, offset) = (*self.parameters.get_or_insert_with(|| Parameters::of(body)).0.get(register)?)?;
        let Some(Place::Constant(base)) = self.place(parameter) else { return None };
        let at = i64::from(*base) + offset;
        (at % 4 == 0 && (0..=MOST_HANDLE.into()).contains(&at)).then_some(at as i32)
    }

    /// The channels of a fetch.
    pub(super) fn fetch_by_unit(&mut self, handle: i32, access: TextureAccess, point: &Point) -> Vec<Val> {
        Channel::all().map(|channel| self.word_by_unit(handle, access, channel, point)).collect()
    }

    /// The four texels of a gather.
    pub(super) fn gather_by_unit(&mut self, handle: i32, layered: bool, channel: Channel, point: &Point) -> Vec<Val> {
        use TextureAccess::*;
        let texels = if layered {
            [A2DGather0, A2DGather1, A2DGather2, A2DGather3]
        } else {
            [D2Gather0, D2Gather1, D2Gather2, D2Gather3]
        };
        texels.map(|access| self.word_by_unit(handle, access, channel, point)).to_vec()
    }

    fn word_by_unit(&mut self, handle: i32, access: TextureAccess, channel: Channel, point: &Point) -> Val {
        use TextureAccess::*;
        let ([x, y, z], layer) = (point.at, point.layer);
        let coordinates = match access {
            A1D | A1DInt => [x, layer, Val::ZERO],
            A2D | A2DInt | A2DGather0 | A2DGather1 | A2DGather2 | A2DGather3 => [x, y, layer],
            // Where there is no y or z it is zero.
            _ => [x, y, z],
        };
        let d = self.b.general();
        let mut inst = self.b.inst(Op::Tex { access, channel }, coordinates);
        (inst.d, inst.offset) = (Some(d), handle);
        self.b.push(inst);
        Val::Reg(d)
    }
}

/// How the unit reads a geometry; `None` if it cannot.
pub(super) fn access(geometry: Geometry, integer: bool) -> Option<TextureAccess> {
    use TextureAccess::*;
    Some(match (geometry.name, integer) {
        ("1d", false) => D1,
        ("1d", true) => D1Int,
        ("2d", false) => D2,
        ("2d", true) => D2Int,
        ("3d", false) => D3,
        ("3d", true) => D3Int,
        ("a1d", false) => A1D,
        ("a1d", true) => A1DInt,
        ("a2d", false) => A2D,
        ("a2d", true) => A2DInt,
        ("cube", false) => Cube,
        _ => return None,
    })
}
