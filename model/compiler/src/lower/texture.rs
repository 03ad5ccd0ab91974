//! Textures and surfaces (`docs/textures.md`). What the texture unit does not do becomes a function of the compiler's library
//! (`library/texture.cu`), which reads the object's header.

pub mod unit;

use super::call_graph::{CallGraph, Callable};
use super::kernel::{Kernel, lacks, wrong};
use super::memory::{Address, Source, Target, check_width, parts, vector};
use super::types::{Mods, Result, Ty, names_type};
use super::wide::Pair;
use crate::diagnostic::{Feature, Span};
use crate::mir::{Pred, Term, V, Val};
use crate::ptx::ast::{Instruction, Module, Operand, OperandKind};
use crate::ptx::parse;
use gpurf_isa::machine;
use gpurf_isa::modifiers::*;
use std::sync::LazyLock;

static LIBRARY: LazyLock<Module<'static>> =
    LazyLock::new(|| parse(include_str!("../../library/texture.ptx")).expect("nvcc has written the library"));
static FUNCTIONS: LazyLock<CallGraph<'static>> = LazyLock::new(|| CallGraph::new(&LIBRARY));

/// The boundary modes of an access to a surface.
const BOUNDARIES: [&str; 3] = ["trap", "clamp", "zero"];

/// The queries of an object, and the word of the header with the answer.
const QUERIES: [(&str, u32); 4] = [("width", 3), ("height", 4), ("depth", 5), ("array_size", 5)];

/// The shapes of textures and surfaces.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Geometry {
    name: &'static str,
    /// Number of coordinates, without that of the layer.
    coordinates: usize,
    /// Whether the first operand is a layer.
    layered: bool,
}

const GEOMETRIES: [Geometry; 7] = [
    Geometry { name: "1d", coordinates: 1, layered: false },
    Geometry { name: "2d", coordinates: 2, layered: false },
    Geometry { name: "3d", coordinates: 3, layered: false },
    Geometry { name: "a1d", coordinates: 1, layered: true },
    Geometry { name: "a2d", coordinates: 2, layered: true },
    Geometry { name: "cube", coordinates: 3, layered: false },
    Geometry { name: "acube", coordinates: 3, layered: true },
];

/// The place that an instruction names: an object, and where in it.
struct Point {
    handle: Pair,
    /// The constant word with the handle, if the texture unit can fetch from the object.
    place: Option<i32>,
    /// x, y and z; zero where the geometry has no such coordinate.
    at: [Val; 3],
    layer: Val,
}

/// An error about something of textures or surfaces that is outside of the subset.
fn refuse<T>(i: &Instruction<'_>, span: Span, what: &str) -> Result<T> {
    let feature = if i.opcode.text.starts_with('t') { Feature::Textures } else { Feature::Surfaces };
    lacks(span, feature, format!("{what} outside of the subset"))
}

impl<'a> Kernel<'_, 'a> {
    /// Lowers an instruction of this group. Returns whether it was one.
    pub fn texture(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<bool> {
        match i.opcode.text {
            "tex" => self.fetch(i, mods)?,
            "tld4" => self.gather(i, mods)?,
            "txq" | "suq" => self.query(i, mods)?,
            "suld" | "sust" => self.access_surface(i, mods)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn fetch(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        // An object has one level, so that the operands which choose one are only checked.
        let levels = match mods.one_of(&["level", "grad"]) {
            None => 0,
            Some("level") => 1,
            Some(_) => 2,
        };
        mods.flag("base");
        let geometry = self.geometry(i, mods, &GEOMETRIES)?;
        let ty = self.fetched(i, mods)?;
        let integer = !self.coordinate_type(i, mods)?.float();
        let [d, from, rest @ ..] = i.operands.as_slice() else {
            return wrong(i.span, "`tex` needs registers for its results, and a texture with coordinates");
        };
        if rest.len() > levels {
            return refuse(i, rest[levels].span, "offsets of texels and comparisons with a depth are");
        }
        if rest.len() < levels {
            return wrong(i.span, format!("`tex` has {} operands here, not {}", 2 + levels, i.operands.len()));
        }
        let name = match geometry.name {
            "1d" | "a1d" => "texture_1d",
            "2d" | "a2d" => "texture_2d",
            "3d" => "texture_3d",
            _ => "texture_cube",
        };
        if integer && name == "texture_cube" {
            return refuse(i, mods.span(), "cube maps with integer coordinates are");
        }
        let point = self.point(i, from, geometry, if integer { Self::integer_at } else { Self::float_at })?;
        let Point { handle: [low, high], at: [x, y, z], layer, place } = point;
        let texel = if let (Some(handle), Some(access)) = (place, unit::access(geometry, integer)) {
            self.fetch_by_unit(handle, access, &point)
        } else if integer {
            let volume = Val::Imm((name == "texture_3d").into());
            self.library("texture_texel", &[low, high, x, y, z, layer, volume])?
        } else {
            match name {
                "texture_1d" => self.library(name, &[low, high, x, layer])?,
                "texture_2d" => self.library(name, &[low, high, x, y, layer])?,
                "texture_3d" => self.library(name, &[low, high, x, y, z])?,
                _ => self.library(name, &[low, high, x, y, z, layer])?,
            }
        };
        self.write_texel(i, d, ty, &texel)
    }

    fn gather(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let channel = match mods.need("a channel", &["r", "g", "b", "a"])? {
            "r" => Channel::R,
            "g" => Channel::G,
            "b" => Channel::B,
            _ => Channel::A,
        };
        let geometry = self.geometry(i, mods, &GEOMETRIES)?;
        if geometry.coordinates != 2 {
            return refuse(i, mods.span(), "`tld4` of cube maps is");
        }
        let ty = self.fetched(i, mods)?;
        if !self.coordinate_type(i, mods)?.float() {
            return wrong(mods.span(), "the coordinates of `tld4` are floats");
        }
        let [d, from] = match i.operands.as_slice() {
            [d, from] => [d, from],
            [_, _, other, ..] => return refuse(i, other.span, "offsets of texels and comparisons with a depth are"),
            _ => return wrong(i.span, "`tld4` needs registers for its results, and a texture with coordinates"),
        };
        let point = self.point(i, from, geometry, Self::float_at)?;
        let Point { handle: [low, high], at: [x, y, _], layer, place } = point;
        let texel = match place {
            Some(handle) => self.gather_by_unit(handle, geometry.layered, channel, &point),
            None => self.library("texture_gather", &[low, high, x, y, layer, Val::Imm(channel.bits())])?,
        };
        self.write_texel(i, d, ty, &texel)
    }

    fn query(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let names = QUERIES.map(|(name, _)| name);
        let Some(name) = mods.one_of(&names) else {
            return refuse(i, mods.span(), "queries other than those of width, height, depth and array_size are");
        };
        let word = QUERIES[names.iter().position(|n| *n == name).expect("it is one of them")].1;
        let ty = mods.ty_of(&["b32"])?;
        let [d, a] = self.operands(i)?;
        let handle = match a.kind {
            OperandKind::Address(Some(name), 0) => self.object(i, name, a.span)?,
            _ => return wrong(a.span, "expected a register with a texture or surface object, in brackets"),
        };
        let source = Source {
            target: Target::Memory(Space::Global),
            address: Address { base: handle, offset: 0 },
            bypass: false,
            span: a.span,
        };
        let value = self.load_word(source, 4 * word, LoadType::B32, Alignment::Natural)?;
        self.write_word(d, ty, value)
    }

    fn access_surface(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        if mods.flag("p") {
            return refuse(i, mods.span(), "formatted stores (`sust.p`) are");
        }
        mods.need("`.b`", &["b"])?;
        let geometry = self.geometry(i, mods, &GEOMETRIES[..5])?;
        mods.one_of(&["ca", "cg", "cs", "cv", "wb", "wt"]);
        let width = vector(mods);
        let ty = mods.ty_of(&["b8", "b16", "b32", "b64"])?;
        let boundary = mods.one_of(&BOUNDARIES).unwrap_or("trap");
        let [first, second] = self.operands(i)?;
        let (place, registers) = if i.opcode.text == "suld" { (second, first) } else { (first, second) };
        let elements = parts(registers, width)?;
        let total = check_width(ty, width, registers.span)?;
        let Point { handle: [low, high], at: [x, y, z], layer, .. } =
            self.point(i, place, geometry, Self::integer_at)?;
        let clamp = Val::Imm((boundary == "clamp").into());
        let found = self.library("surface", &[low, high, x, y, z, layer, Val::Imm(total), clamp])?;
        let address = Address { base: [found[0], found[1]], offset: 0 };
        // Nothing lies at address 0.
        let outside = self.b.compare(IntegerComparison::Eq, false, found[0], Val::ZERO);
        let zero = boundary == "zero";
        if i.opcode.text == "sust" {
            let values = elements.iter().map(|element| self.low_part(element, ty)).collect::<Result<Vec<Pair>>>()?;
            return self.unless(outside, zero, |k| {
                k.store_elements(Target::Memory(Space::Global), address, ty, &values, place.span)
            });
        }
        let loaded: Vec<[V; 2]> = elements.iter().map(|_| [self.b.general(), self.b.general()]).collect();
        if zero {
            loaded.iter().flatten().for_each(|word| self.b.assign(*word, Val::ZERO));
        }
        self.unless(outside, zero, |k| {
            let target = Target::Memory(Space::Global);
            let source = Source { target, address, bypass: false, span: place.span };
            for (words, value) in loaded.iter().zip(k.load_elements(source, ty, width)?) {
                words.iter().zip(value).for_each(|(word, value)| k.b.assign(*word, value));
            }
            Ok(())
        })?;
        for (element, words) in elements.iter().zip(loaded) {
            self.write_extended(element, ty, words.map(Val::Reg))?;
        }
        Ok(())
    }

    /// Lowers an access that lanes outside of the surface skip, if `skip` is set; otherwise they end the kernel.
    fn unless(&mut self, outside: Pred, skip: bool, access: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if !skip {
            self.trap(outside, machine::trap::SURFACE);
            return access(self);
        }
        let (inside, after) = (self.b.block(), self.b.block());
        self.b.end(Term::Branch { when: outside, then: after, otherwise: inside }, inside);
        access(self)?;
        self.b.end(Term::Jump(after), after);
        Ok(())
    }

    /// Takes the geometry, which must be one of `known`.
    fn geometry(&self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>, known: &[Geometry]) -> Result<Geometry> {
        let names: Vec<&str> = known.iter().map(|geometry| geometry.name).collect();
        match mods.one_of(&names) {
            Some(name) => Ok(*known.iter().find(|geometry| geometry.name == name).expect("it is one of them")),
            None => refuse(i, mods.span(), &format!("geometries other than .{} are", names.join(" ."))),
        }
    }

    /// Takes the type of the four results.
    fn fetched(&self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<Ty> {
        let first = i.modifiers.iter().find(|m| names_type(m.text));
        if let Some(word) = first.filter(|word| !matches!(word.text, "u32" | "s32" | "f32")) {
            return refuse(i, word.span, "results of another type than .u32, .s32 and .f32 are");
        }
        mods.need("four results", &["v4"])?;
        mods.ty()
    }

    fn coordinate_type(&self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<Ty> {
        let ty = mods.ty()?;
        if ty.bits == 32 && (ty.float() || ty.signed()) {
            return Ok(ty);
        }
        wrong(mods.span(), format!("the coordinates of `{}` have the type .s32 or .f32", i.opcode.text))
    }

    /// The object that a register holds.
    fn object(&mut self, i: &Instruction<'a>, name: &'a str, span: Span) -> Result<Pair> {
        if !self.is_register(name) {
            return refuse(i, span, "references to textures and surfaces, in place of objects, are");
        }
        let kind = OperandKind::Name { name, part: None };
        self.pair(&Operand { kind, span })
    }

    /// The operand `[object, {layer, x, y, z}]`. Instructions with three operands in the braces have a fourth one that is not used.
    fn point(
        &mut self,
        i: &Instruction<'a>,
        operand: &Operand<'a>,
        geometry: Geometry,
        coordinate: fn(&mut Self, &Operand<'a>) -> Result<Val>,
    ) -> Result<Point> {
        let OperandKind::List(list) = &operand.kind else {
            return wrong(operand.span, "expected a texture or surface with its coordinates, in brackets");
        };
        let (object, coordinates) = match list.as_slice() {
            [object, coordinates] => (object, coordinates),
            [_, sampler, _] => return refuse(i, sampler.span, "samplers apart from the texture are"),
            _ => return wrong(operand.span, "expected an object and its coordinates"),
        };
        let OperandKind::Address(Some(name), 0) = object.kind else {
            return wrong(object.span, "expected a register that holds an object");
        };
        let (handle, place) = (self.object(i, name, object.span)?, self.handle_place(name));
        let needed = geometry.coordinates + usize::from(geometry.layered);
        let given = match &coordinates.kind {
            OperandKind::Vector(given) => given.as_slice(),
            _ => std::slice::from_ref(coordinates),
        };
        if given.len() != needed && !(needed == 3 && given.len() == 4) {
            return wrong(coordinates.span, format!("the geometry .{} has {needed} coordinates", geometry.name));
        }
        let (layer, rest) = match given {
            [layer, rest @ ..] if geometry.layered => (self.word(layer, 32)?, rest),
            rest => (Val::ZERO, rest),
        };
        let mut at = [Val::ZERO; 3];
        for (to, from) in at.iter_mut().zip(&rest[..geometry.coordinates]) {
            *to = coordinate(self, from)?;
        }
        Ok(Point { handle, place, at, layer })
    }

    fn integer_at(&mut self, operand: &Operand<'a>) -> Result<Val> {
        self.word(operand, 32)
    }

    fn float_at(&mut self, operand: &Operand<'a>) -> Result<Val> {
        self.float_source(operand)
    }

    fn write_texel(&mut self, i: &Instruction<'a>, d: &Operand<'a>, ty: Ty, texel: &[Val]) -> Result<()> {
        if let OperandKind::Pair(_, residency) = &d.kind {
            return refuse(i, residency.span, "the predicate of residency is");
        }
        for (to, value) in parts(d, 4)?.iter().zip(texel) {
            self.write_word(to, ty, *value)?;
        }
        Ok(())
    }

    /// Lowers a function of the library in place of the current instruction.
    fn library(&mut self, name: &str, parameters: &[Val]) -> Result<Vec<Val>> {
        let function: &Callable<'a> = FUNCTIONS.get(name).expect("the library has it");
        self.call_library(function, parameters)
    }
}
