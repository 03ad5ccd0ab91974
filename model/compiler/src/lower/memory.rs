//! Loads, stores, and conversions of addresses.

use super::kernel::{Kernel, Reg, wrong};
use super::module::Place;
use super::types::{Mods, Result, Ty};
use super::wide::{self, Pair};
use crate::AddressBits;
use crate::diagnostic::Span;
use crate::mir::{Inst, Val};
use crate::ptx::ast::{Instruction, Operand, OperandKind};
use gpurf_isa::modifiers::*;
use gpurf_isa::{Offset, Op, machine};

/// The kind of memory that an access uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    Memory(Space),
    Constant,
    /// A parameter or result of a call, by its number.
    Argument(usize),
}

/// An address and an offset, which fits into the instruction's field.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    pub base: Pair,
    pub offset: i32,
}

/// The operand of a load.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    pub target: Target,
    pub address: Address,
    /// Whether the load bypasses the data cache.
    pub bypass: bool,
    /// The operand's place in the source.
    pub span: Span,
}

impl Address {
    /// The address `bytes` bytes higher, within the same access.
    pub fn behind(self, bytes: u32) -> Self {
        Self { offset: self.offset + bytes as i32, ..self }
    }
}

/// Cache hints with which a load bypasses the data cache, as ordered loads do too: `.cg` caches in the L2 only, `.cv` does not cache.
const BYPASS: [&str; 2] = ["cg", "cv"];

/// Cache hints, which change no result. All but those in [`BYPASS`] are ignored.
const CACHE: [&str; 20] = [
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "nc",
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::evict_normal",
    "L2::evict_first",
    "L2::evict_last",
    "L2::64B",
    "L2::128B",
    "L2::256B",
    "weak",
];

impl<'a> Kernel<'_, 'a> {
    /// Lowers an instruction of this group. Returns whether it was one.
    pub fn memory(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<bool> {
        match i.opcode.text {
            "ld" | "ldu" => self.load(i, mods)?,
            "st" => self.store(i, mods)?,
            "cvta" => self.convert_address(i, mods)?,
            "isspacep" => {
                let space = mods.need("a space", &["global", "shared", "shared::cta", "local", "const"])?;
                let [d, a] = self.operands(i)?;
                let [_, window] = self.pair(a)?;
                let result = match space {
                    "global" => {
                        let below = self.b.sub(window, Val::Imm(machine::SHARED_WINDOW));
                        let windows = machine::CONSTANT_WINDOW - machine::SHARED_WINDOW;
                        self.b.compare(IntegerComparison::Gt, false, below, Val::Imm(windows))
                    }
                    _ => self.b.compare(IntegerComparison::Eq, false, window, Val::Imm(window_of(space))),
                };
                self.write_predicate(d, result)?;
            }
            "prefetch" | "prefetchu" => {
                // A prefetch affects only speed, so no code is generated.
                let [a] = self.operands(i)?;
                let space = mods.one_of(&["global", "local"]);
                while mods.one_of(&["L1", "L2", "L2::evict_last", "L2::evict_normal"]).is_some() {}
                self.address(a, space)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Takes the ordering modifiers of an `ld`, `st` or `atom`. Returns the fences that they imply before and after the access.
    pub fn order(&mut self, mods: &mut Mods<'_, 'a>) -> Result<[Option<Scope>; 2]> {
        // `.mmio` is only valid with `.relaxed`.
        let mmio = mods.flag("mmio");
        let order = mods.one_of(&["volatile", "relaxed", "acquire", "release", "acq_rel"]);
        if mmio && order != Some("relaxed") {
            return wrong(mods.span(), ".mmio needs .relaxed");
        }
        self.b.ordered = order.is_some();
        let scope = match mods.one_of(&["cta", "gpu", "sys"]) {
            Some("cta") => Scope::Block,
            Some("gpu") => Scope::Device,
            _ => Scope::System,
        };
        Ok(match order {
            Some("acquire") => [None, Some(scope)],
            Some("release") => [Some(scope), None],
            Some("acq_rel") => [Some(scope), Some(scope)],
            _ => [None, None],
        })
    }

    /// Emits a fence, if there is one.
    pub fn fence(&mut self, scope: Option<Scope>) {
        if let Some(scope) = scope {
            let inst = self.b.inst(Op::Membar { scope }, [Val::ZERO; 3]);
            self.b.push(inst);
        }
    }

    /// The space that an access names; `None` means the generic space.
    pub fn space(&self, mods: &mut Mods<'_, 'a>) -> Option<&'a str> {
        let names = ["global", "shared", "shared::cta", "local", "const", "param", "param::entry"];
        mods.one_of(&names).map(|name| name.split("::").next().unwrap_or(name))
    }

    /// The target and address of a memory operand.
    pub fn address(&mut self, operand: &Operand<'a>, space: Option<&str>) -> Result<(Target, Address)> {
        let OperandKind::Address(base, offset) = operand.kind else {
            return wrong(operand.span, "expected an address in brackets");
        };
        let span = operand.span;
        let mut target = match space {
            None => Target::Memory(Space::Generic),
            Some("global") => Target::Memory(Space::Global),
            Some("shared") => Target::Memory(Space::Shared),
            Some("local") => Target::Memory(Space::Local),
            _ => Target::Constant,
        };
        let (base, offset) = match base {
            None => (wide::constant(offset as u64), 0),
            Some(name) => match self.register(name, span)? {
                Some(Reg::Pair(v)) => (v.map(Val::Reg), offset),
                // Addresses of shared, local and constant memory fit into 32 bits, so a word may hold them.
                Some(Reg::Word(v, 32)) if !matches!(target, Target::Memory(Space::Generic | Space::Global)) => {
                    ([Val::Reg(v), Val::ZERO], offset)
                }
                Some(_) => return wrong(span, format!("`{name}` is no address: 64 bits are needed")),
                None => {
                    let (place, pair) = match self.place(name) {
                        // An argument is in registers and has no address in memory, but its bytes can be accessed by offset.
                        Some(&Place::Argument(number)) => (Place::Argument(number), wide::constant(offset as u64)),
                        _ => self.address_of(name, offset, span)?,
                    };
                    let own = match place {
                        Place::Shared(..) => Target::Memory(Space::Shared),
                        Place::Local(_) | Place::Frame(_) => Target::Memory(Space::Local),
                        Place::Global => Target::Memory(Space::Global),
                        Place::Constant(_) | Place::Refused(..) | Place::Function(_) => Target::Constant,
                        Place::Argument(number) => Target::Argument(number),
                    };
                    let is_parameter = space == Some("param") && matches!(own, Target::Argument(_));
                    if target == Target::Memory(Space::Generic) || is_parameter {
                        target = own;
                    }
                    if target != own {
                        return wrong(span, format!("`{name}` does not lie in .{}", space.unwrap_or("global")));
                    }
                    (pair, 0)
                }
            },
        };
        if let Target::Argument(_) = target {
            // Its offset is a constant, in the base. One that no argument reaches is refused where the argument is accessed.
            let at = base[0].constant().filter(|_| base[1].constant() == Some(0));
            let offset = at.and_then(|at| i32::try_from(at).ok()).filter(|&at| at < i32::MAX - 16).unwrap_or(-1024);
            return Ok((target, Address { base: wide::constant(0), offset }));
        }
        let mut address = self.reachable(target, base, offset);
        if self.module.address_bits == AddressBits::Narrow && target == Target::Memory(Space::Global) {
            // The instructions that compute the upper word become dead, unless the program also reads the address as a number.
            address.base[1] = Val::ZERO;
        }
        Ok((target, address))
    }

    /// Adds to the base the part of the offset that does not fit into the instruction's field. The field must also hold the offsets of the access's
    /// other words, up to 16 bytes higher.
    fn reachable(&mut self, target: Target, base: Pair, offset: i64) -> Address {
        let is_wide = matches!(target, Target::Memory(Space::Global | Space::Generic));
        if let (false, Some(low)) = (is_wide, base[0].constant()) {
            // A constant address goes into the offset field if it fits, so that no register is needed.
            let sum = low.wrapping_add(offset as u32);
            return if sum < Offset::MAX as u32 - 16 {
                Address { base: wide::constant(0), offset: sum as i32 }
            } else {
                Address { base: [Val::Imm(sum), Val::ZERO], offset: 0 }
            };
        }
        match i32::try_from(offset) {
            Ok(n) if (Offset::MIN..=Offset::MAX - 16).contains(&n) => Address { base, offset: n },
            _ if is_wide => Address { base: wide::add(&mut self.b, base, wide::constant(offset as u64)), offset: 0 },
            _ => Address { base: [self.b.add(base[0], Val::Imm(offset as u32)), Val::ZERO], offset: 0 },
        }
    }

    /// A load of at most 32 bits.
    pub fn load_word(&mut self, source: Source, at: u32, kind: LoadType, align: Alignment) -> Result<Val> {
        let Source { target, address, bypass, span } = source;
        let op = match target {
            Target::Argument(number) => return self.load_argument(number, address.offset + at as i32, kind, span),
            Target::Memory(space) => {
                // Accesses other than global ones do not use the data cache; local ones (spills) do, but there it never has to be bypassed.
                let bypass = bypass && matches!(space, Space::Global | Space::Generic);
                Op::Ld { space, kind, align, bypass }
            }
            Target::Constant => Op::Ldc { kind, align },
        };
        let high =
            if matches!(target, Target::Memory(Space::Global | Space::Generic)) { address.base[1] } else { Val::ZERO };
        let d = self.b.general();
        let mut inst = self.b.inst(op, [address.base[0], high, Val::ZERO]);
        inst.d = Some(d);
        inst.offset = address.offset + at as i32;
        self.b.push(inst);
        Ok(Val::Reg(d))
    }

    fn load(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let fences = self.order(mods)?;
        let space = self.space(mods);
        let mut bypass = self.b.ordered;
        while let Some(hint) = mods.one_of(&CACHE) {
            bypass |= BYPASS.contains(&hint);
        }
        let width = vector(mods);
        let ty = mods.ty()?;
        let [d, a] = self.operands(i)?;
        let parts = parts(d, width)?;
        self.fence(fences[0]);
        let (target, address) = self.address(a, space)?;
        let source = Source { target, address, bypass, span: a.span };
        let align = alignment(check_width(ty, width, d.span)?);
        let mut values: Vec<Pair> = Vec::new();
        if self.is_single(i, ty, target) {
            for n in 0..width {
                let align = if n == 0 { align } else { Alignment::Natural };
                values.push(self.load_single(source, n * 8, align)?);
            }
        } else {
            values = self.load_elements(source, ty, width)?;
        }
        self.fence(fences[1]);
        if width == 1 && ty.bits < 32 {
            // The load itself has extended the value to 32 bits.
            return match self.destination(d)? {
                Some(Reg::Word(_, bits @ (8 | 16))) => self.write(d, Ty { bits, ..ty }, values[0]),
                _ => self.write_extended(d, Ty { bits: 32, ..ty }, values[0]),
            };
        }
        for (operand, value) in parts.iter().zip(values) {
            self.write_extended(operand, ty, value)?;
        }
        Ok(())
    }

    /// Loads elements word by word. Those of less than 32 bits are extended to 32.
    pub fn load_elements(&mut self, source: Source, ty: Ty, width: u32) -> Result<Vec<Pair>> {
        let total = ty.bytes() * width;
        let kind = match (total, ty.signed()) {
            (1, false) => LoadType::U8,
            (1, true) => LoadType::S8,
            (2, signed) if signed && width == 1 => LoadType::S16,
            (2, _) => LoadType::U16,
            _ => LoadType::B32,
        };
        let words: Vec<Val> = (0..total.div_ceil(4))
            .map(|n| {
                let align = if n == 0 { alignment(total) } else { Alignment::Natural };
                self.load_word(source, n * 4, kind, align)
            })
            .collect::<Result<_>>()?;
        Ok(match ty.bits {
            64 => words.chunks(2).map(|w| [w[0], w[1]]).collect(),
            bits if bits == 32 || width == 1 => words.iter().map(|&w| [w, Val::ZERO]).collect(),
            // Several small elements are loaded as words, and then extracted.
            bits => (0..width)
                .map(|n| {
                    let word = words[(n * bits / 32) as usize];
                    [self.b.field(ty.signed(), word, n * bits % 32, bits), Val::ZERO]
                })
                .collect(),
        })
    }

    /// A store of at most 32 bits.
    pub fn store_word(
        &mut self,
        space: Space,
        address: Address,
        at: u32,
        kind: StoreType,
        align: Alignment,
        value: Val,
    ) {
        let high = if matches!(space, Space::Global | Space::Generic) { address.base[1] } else { Val::ZERO };
        let op = Op::St { space, kind, align };
        let inst = self.b.inst(op, [address.base[0], high, value]);
        self.b.push(Inst { offset: address.offset + at as i32, ..inst });
    }

    fn store(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let fences = self.order(mods)?;
        let space = self.space(mods);
        while mods.one_of(&CACHE).is_some() {}
        let width = vector(mods);
        let ty = mods.ty()?;
        let [a, value] = self.operands(i)?;
        let parts = parts(value, width)?;
        self.fence(fences[0]);
        let (target, address) = self.address(a, space)?;
        let align = alignment(check_width(ty, width, value.span)?);
        let mut values = Vec::new();
        for part in parts {
            values.push(self.low_part(part, ty)?);
        }
        if let (true, Target::Memory(space)) = (self.is_single(i, ty, target), target) {
            for (n, value) in (0..).zip(values) {
                let align = if n == 0 { align } else { Alignment::Natural };
                self.store_single(space, address, n * 8, align, value)?;
            }
            self.fence(fences[1]);
            return Ok(());
        }
        self.store_elements(target, address, ty, &values, a.span)?;
        self.fence(fences[1]);
        Ok(())
    }

    /// Stores elements word by word.
    pub fn store_elements(
        &mut self,
        target: Target,
        address: Address,
        ty: Ty,
        values: &[Pair],
        span: Span,
    ) -> Result<()> {
        let (width, total) = (values.len(), ty.bytes() * values.len() as u32);
        let words: Vec<Val> = match ty.bits {
            64 => values.iter().flatten().copied().collect(),
            32 => values.iter().map(|v| v[0]).collect(),
            16 if width > 1 => values.chunks(2).map(|h| self.pack_halves(h[0][0], h[1][0])).collect(),
            8 if width == 4 => {
                // Combines two bytes into a half, and two halves into a word.
                let halves: Vec<Val> =
                    values.chunks(2).map(|h| self.b.op(Op::Prmt {}, [h[0][0], Val::Imm(0x4440), h[1][0]])).collect();
                vec![self.pack_halves(halves[0], halves[1])]
            }
            8 if width == 2 => vec![self.b.op(Op::Prmt {}, [values[0][0], Val::Imm(0x4440), values[1][0]])],
            _ => vec![values[0][0]],
        };
        let kind = match total {
            1 => StoreType::B8,
            2 => StoreType::B16,
            _ => StoreType::B32,
        };
        for (n, word) in words.into_iter().enumerate() {
            let align = if n == 0 { alignment(total) } else { Alignment::Natural };
            let at = n as u32 * 4;
            match target {
                Target::Memory(space) => self.store_word(space, address, at, kind, align, word),
                Target::Argument(number) => {
                    self.store_argument(number, address.offset + at as i32, kind, word, span)?;
                }
                Target::Constant => return wrong(span, "the constant space is only read"),
            }
        }
        Ok(())
    }

    /// The low bits of a register, which may be wider than the type; or a constant.
    pub fn low_part(&mut self, operand: &Operand<'a>, ty: Ty) -> Result<Pair> {
        if let OperandKind::Name { name, part: None } = operand.kind
            && let Some(reg) = self.register(name, operand.span)?
        {
            match reg {
                Reg::Word(v, width) if width >= ty.bits => return Ok([Val::Reg(v), Val::ZERO]),
                Reg::Pair(v) => return Ok(v.map(Val::Reg)),
                _ => {}
            }
        }
        self.source(operand, ty)
    }

    fn convert_address(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let to_space = mods.flag("to");
        let Some(space) = self.space(mods) else {
            return wrong(mods.span(), "`cvta` needs a space");
        };
        let ty = mods.ty_of(&["u64"])?;
        let [d, a] = self.operands(i)?;
        let variable = match a.kind {
            OperandKind::Name { name, part: None } if self.register(name, a.span)?.is_none() => Some((name, 0)),
            OperandKind::Sum(name, offset) => Some((name, offset)),
            _ => None,
        };
        let value = match variable {
            None => self.pair(a)?,
            Some((name, offset)) => {
                let (place, address) = self.address_of(name, offset, a.span)?;
                let is_there = match place {
                    Place::Global | Place::Function(_) => space == "global",
                    Place::Shared(..) => space == "shared",
                    Place::Local(_) | Place::Frame(_) => space == "local",
                    Place::Constant(_) => matches!(space, "const" | "param"),
                    Place::Argument(_) | Place::Refused(..) => false,
                };
                if !is_there {
                    return wrong(a.span, format!("`{name}` does not lie in .{space}"));
                }
                if to_space {
                    return wrong(a.span, format!("`{name}` is a variable, and `cvta.to` takes a generic address"));
                }
                address
            }
        };
        let result = match (space, to_space) {
            ("global", _) => value,
            (_, true) => [value[0], Val::ZERO],
            (space, false) => [value[0], Val::Imm(window_of(space))],
        };
        self.write(d, ty, result)
    }
}

/// The upper word of the generic addresses of a space other than the global one.
fn window_of(space: &str) -> u32 {
    match space {
        "shared" | "shared::cta" => machine::SHARED_WINDOW,
        "local" => machine::LOCAL_WINDOW,
        // Parameters are in the constant space.
        _ => machine::CONSTANT_WINDOW,
    }
}

/// Number of elements of an access.
pub fn vector(mods: &mut Mods<'_, '_>) -> u32 {
    match mods.one_of(&["v2", "v4"]) {
        Some("v2") => 2,
        Some(_) => 4,
        None => 1,
    }
}

/// The operands of an access with `width` elements.
pub fn parts<'i, 'a>(operand: &'i Operand<'a>, width: u32) -> Result<&'i [Operand<'a>]> {
    match &operand.kind {
        OperandKind::Vector(list) if list.len() == width as usize => Ok(list),
        _ if width == 1 => Ok(std::slice::from_ref(operand)),
        _ => wrong(operand.span, format!("expected {width} registers in braces")),
    }
}

/// Size of an access in bytes.
pub fn check_width(ty: Ty, width: u32, span: Span) -> Result<u32> {
    let total = ty.bytes() * width;
    if total > 16 { wrong(span, "an access of more than 16 bytes is outside of the subset") } else { Ok(total) }
}

/// The alignment that the first instruction of an access must check; it may exceed the instruction's own size.
fn alignment(total: u32) -> Alignment {
    match total {
        16 => Alignment::Bytes16,
        8 => Alignment::Bytes8,
        _ => Alignment::Natural,
    }
}
