//! A kernel's registers, labels and operands while it is being lowered.

use super::SharedPlaces;
use super::calls::Calls;
use super::float::F32;
use super::module::{Environment, Place};
use super::texture::unit::Parameters;
use super::types::{Result, Ty, refused_type};
use super::wide::{self, Pair};
use crate::diagnostic::{Error, Feature, LineIndex, Span};
use crate::mir::{Address, BlockId, Builder, Pred, V, Val};
use crate::ptx::ast::{Block, Operand, OperandKind, Registers, Word};
use crate::ptx::type_size;
use crate::scratchpad::Variables;
use gpurf_isa::image::Print;
use gpurf_isa::machine;
use gpurf_isa::modifiers::Special;
use std::collections::{HashMap, HashSet};

/// Maximum number of virtual registers of a kernel.
const MAX_VALUES: usize = 1 << 20;

/// A PTX register. Registers of 8 and 16 bits are the low bits of a word whose other bits are arbitrary; instructions
/// that need the number extend them first.
#[derive(Clone, Copy, Debug)]
pub enum Reg {
    /// `.pred`
    Pred(V),
    /// 8, 16 or 32 bits.
    Word(V, u32),
    /// 64 bits: low word, high word.
    Pair([V; 2]),
}

/// The names declared between a pair of braces.
#[derive(Default)]
pub struct Scope<'a> {
    registers: Declared<'a>,
    bound: HashMap<&'a str, Reg>,
    pub labels: HashMap<&'a str, BlockId>,
    pub tables: HashMap<&'a str, &'a [Word<'a>]>,
    pub places: HashMap<&'a str, Place>,
}

/// The registers that are declared between a pair of braces.
#[derive(Default)]
pub struct Declared<'a> {
    ranges: HashMap<&'a str, (u64, &'a str)>,
    single: HashMap<&'a str, &'a str>,
}

impl<'a> Declared<'a> {
    /// Collects these declarations.
    pub fn new(registers: &[Registers<'a>]) -> Self {
        let mut declared = Self::default();
        for r in registers {
            match r.count {
                Some(count) => _ = declared.ranges.insert(r.name.text, (count, r.ty.text)),
                None => _ = declared.single.insert(r.name.text, r.ty.text),
            }
        }
        declared
    }

    /// The type of a register that is declared here.
    pub fn type_of(&self, name: &str) -> Option<&'a str> {
        self.single.get(name).copied().or_else(|| self.in_range(name))
    }

    /// The type of a register that is one of several numbered ones.
    fn in_range(&self, name: &str) -> Option<&'a str> {
        // The trailing digits are the register's number; but the prefix may also end in digits, so each possible split
        // is tried.
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count().min(8);
        (1..=digits).find_map(|n| {
            let (prefix, number) = name.split_at(name.len() - n);
            let &(count, ty) = self.ranges.get(prefix)?;
            let canonical = number == "0" || !number.starts_with('0');
            (canonical && number.parse::<u64>().ok()? < count).then_some(ty)
        })
    }
}

impl<'a> Scope<'a> {
    /// Adds register declarations.
    pub fn declare(&mut self, registers: &[Registers<'a>]) -> Result<()> {
        for r in registers {
            if r.ty.text != "pred" && type_size(r.ty.text).is_none() {
                let Error { feature, .. } = refused_type(r.ty.text, r.ty.span);
                let message = format!("registers of type `.{}` are outside of the subset", r.ty.text);
                return lacks(r.ty.span, feature, message);
            }
        }
        self.registers = Declared::new(registers);
        let mut seen = HashSet::new();
        for Registers { name, count, .. } in registers {
            let is_in_range = count.is_none() && self.registers.in_range(name.text).is_some();
            if !seen.insert((name.text, count.is_some())) || is_in_range {
                return wrong(name.span, format!("`{}` is declared twice", name.text));
            }
        }
        Ok(())
    }
}

/// The body that is being lowered: that of the kernel, or of a function that it calls.
pub struct Code<'a> {
    pub scopes: Vec<Scope<'a>>,
    /// The carry flag of `.cc`.
    pub carry: Option<V>,
    /// The whole body.
    pub body: &'a Block<'a>,
    /// Where `ret` goes in a function; `None` in the kernel itself.
    pub returns: Option<BlockId>,
}

/// A kernel under construction.
pub struct Kernel<'m, 'a> {
    pub module: &'m Environment<'a>,
    pub lines: &'m LineIndex,
    /// The errors found in it.
    pub errors: Vec<Error>,
    pub b: Builder,
    pub code: Code<'a>,
    pub calls: Calls<'a>,
    /// Its variables of shared memory, those of the functions that it calls included.
    pub shared: SharedPlaces<'a>,
    /// Bytes of the constant space that exist at each launch, from address 0 on.
    pub constant_bytes: u32,
    /// Bytes of local variables, except those in frames of the stack.
    pub local_bytes: u32,
    /// The values that hold registers of the PTX, with the registers' names.
    pub named: HashMap<V, &'a str>,
    /// Its calls of `printf` lowered so far.
    pub prints: Vec<Print>,
    /// Whether it has assertions.
    pub asserts: bool,
    /// Registers that hold parameters, if they were needed.
    pub parameters: Option<Parameters<'a>>,
}

/// An error about an operand.
pub fn wrong<T>(span: Span, message: impl Into<String>) -> Result<T> {
    Err(Error::new(span, message))
}

/// An error about an operand that needs a feature outside of the subset.
pub fn lacks<T>(span: Span, feature: Feature, message: impl Into<String>) -> Result<T> {
    Err(Error::lacks(span, feature, message))
}

/// Whether an operand is an integer other than zero. PTX does not convert it to a float, and its bits are those of another number.
pub fn is_integer(operand: &Operand<'_>) -> bool {
    matches!(operand.kind, OperandKind::Int(1..))
}

impl<'a> Kernel<'_, 'a> {
    /// Whether a name is that of a register.
    pub fn is_register(&self, name: &str) -> bool {
        self.code.scopes.iter().any(|scope| scope.registers.type_of(name).is_some())
    }

    /// The register with this name, if there is one.
    pub fn register(&mut self, name: &'a str, span: Span) -> Result<Option<Reg>> {
        for i in (0..self.code.scopes.len()).rev() {
            if let Some(&reg) = self.code.scopes[i].bound.get(name) {
                return Ok(Some(reg));
            }
            if let Some(ty) = self.code.scopes[i].registers.type_of(name) {
                if self.b.function.classes.len() > MAX_VALUES {
                    return lacks(span, Feature::Room, format!("the kernel has more than {MAX_VALUES} values"));
                }
                let reg = match type_size(ty) {
                    None => Reg::Pred(self.b.predicate()),
                    Some(8) => Reg::Pair([self.b.general(), self.b.general()]),
                    Some(bytes) => Reg::Word(self.b.general(), bytes as u32 * 8),
                };
                match reg {
                    Reg::Pred(v) | Reg::Word(v, _) => _ = self.named.insert(v, name),
                    Reg::Pair(v) => self.named.extend(v.map(|v| (v, name))),
                }
                self.code.scopes[i].bound.insert(name, reg);
                return Ok(Some(reg));
            }
        }
        Ok(None)
    }

    /// The register with this name; an error if there is none.
    pub fn known_register(&mut self, name: &'a str, span: Span) -> Result<Reg> {
        match self.register(name, span)? {
            Some(reg) => Ok(reg),
            None if name.starts_with('%') => wrong(span, format!("there is no register `{name}`")),
            None => wrong(span, format!("`{name}` is not a register")),
        }
    }

    /// The place of a variable.
    pub fn place(&self, name: &str) -> Option<&Place> {
        let scopes = self.code.scopes.iter().rev().find_map(|s| s.places.get(name));
        scopes.or_else(|| self.shared.module.get(name)).or_else(|| self.module.places.get(name))
    }

    /// A special register's value.
    fn special(&mut self, name: &str, part: Option<&str>, span: Span) -> Result<Option<Pair>> {
        use Special::*;
        let by_part = |xyz: [Special; 3]| match part {
            Some("x") => Some(xyz[0]),
            Some("y") => Some(xyz[1]),
            Some("z") => Some(xyz[2]),
            _ => None,
        };
        let source = match name {
            "%tid" => by_part([TidX, TidY, TidZ]),
            "%ntid" => by_part([NtidX, NtidY, NtidZ]),
            "%ctaid" => by_part([CtaidX, CtaidY, CtaidZ]),
            "%nctaid" => by_part([NctaidX, NctaidY, NctaidZ]),
            "%laneid" => Some(LaneId),
            "%warpid" => Some(WarpId),
            "%lanemask_eq" => Some(LaneMaskEq),
            "%lanemask_lt" => Some(LaneMaskLt),
            "%lanemask_le" => Some(LaneMaskLe),
            "%lanemask_gt" => Some(LaneMaskGt),
            "%lanemask_ge" => Some(LaneMaskGe),
            "%dynamic_smem_size" => Some(DynamicSharedSize),
            "WARP_SZ" => return Ok(Some(wide::constant(u64::from(machine::LANES)))),
            // The machine's clock is 1 GHz, so a cycle is a nanosecond.
            "%clock" | "%globaltimer_lo" => Some(TimeLow),
            "%clock_hi" | "%globaltimer_hi" => Some(TimeHigh),
            "%clock64" | "%globaltimer" => return Ok(Some(self.b.time())),
            "%nwarpid"
            | "%smid"
            | "%nsmid"
            | "%gridid"
            | "%total_smem_size"
            | "%aggr_smem_size"
            | "%reserved_smem_offset_begin" => {
                let message = format!("`{name}` is outside of the subset: it identifies the machine");
                return lacks(span, Feature::MachineRegisters, message);
            }
            // The upper and the lower word of the address of the grid's barrier.
            "%envreg1" | "%envreg2" => {
                let [low, high] = self.global_address(machine::GRID_BARRIER, 0);
                return Ok(Some([if name == "%envreg1" { high } else { low }, Val::ZERO]));
            }
            _ if name.starts_with("%pm") || name.starts_with("%envreg") || name.contains("cluster") => {
                return lacks(span, Feature::MachineRegisters, format!("`{name}` is outside of the subset"));
            }
            _ => return Ok(None),
        };
        match source {
            Some(source) => Ok(Some([self.b.special(source), Val::ZERO])),
            // The w component is always zero.
            None if part == Some("w") => Ok(Some(wide::constant(0))),
            None => wrong(span, format!("`{name}` is read by its part .x, .y or .z")),
        }
    }

    /// A source of 8, 16 or 32 bits.
    pub fn word(&mut self, operand: &Operand<'a>, bits: u32) -> Result<Val> {
        let span = operand.span;
        match operand.kind {
            OperandKind::Int(value) => {
                let (low, high) = (value as u32, (value >> 32) as u32);
                if high == 0 || (high == u32::MAX && low >> 31 == 1) {
                    Ok(Val::Imm(low))
                } else {
                    wrong(span, "this number does not fit into 32 bits")
                }
            }
            OperandKind::F32(value) if bits == 32 => Ok(Val::Imm(value)),
            OperandKind::F64(value) if bits == 32 => Ok(Val::Imm((f64::from_bits(value) as f32).to_bits())),
            OperandKind::Name { name: name @ ("%clock64" | "%globaltimer"), .. } => {
                wrong(span, format!("`{name}` has 64 bits, and {bits} bits are needed here"))
            }
            OperandKind::Name { name, part } => {
                if let Some([low, _]) = self.special(name, part, span)? {
                    return Ok(low);
                }
                match self.known_register(name, span)? {
                    Reg::Word(v, width) if width == bits && part.is_none() => Ok(Val::Reg(v)),
                    reg => self.mismatch(name, reg, bits, span),
                }
            }
            _ => wrong(span, format!("expected a register or a number of {bits} bits")),
        }
    }

    /// A source of 8 or 16 bits, extended to 32 bits; a source of 32 bits is unchanged.
    pub fn number(&mut self, operand: &Operand<'a>, ty: Ty) -> Result<Val> {
        let value = self.word(operand, ty.bits)?;
        Ok(self.extend(value, ty.bits, ty.signed()))
    }

    /// Extends the low `bits` of a word to a number of 32 bits.
    pub fn extend(&mut self, value: Val, bits: u32, signed: bool) -> Val {
        match (value, bits) {
            (_, 32..) => value,
            (Val::Imm(v), _) => {
                let unused = 32 - bits;
                Val::Imm(if signed { ((v << unused) as i32 >> unused) as u32 } else { v << unused >> unused })
            }
            (_, _) if signed => self.b.field(true, value, 0, bits),
            _ => self.b.and(value, Val::Imm((1 << bits) - 1)),
        }
    }

    /// A source of 64 bits.
    pub fn pair(&mut self, operand: &Operand<'a>) -> Result<Pair> {
        let span = operand.span;
        match operand.kind {
            OperandKind::Int(value) | OperandKind::F64(value) => Ok(wide::constant(value)),
            OperandKind::Name { name, part } => {
                if let Some(value) = self.special(name, part, span)? {
                    return Ok(value);
                }
                match self.known_register(name, span)? {
                    Reg::Pair(v) if part.is_none() => Ok(v.map(Val::Reg)),
                    reg => self.mismatch(name, reg, 64, span),
                }
            }
            _ => wrong(span, "expected a register or a number of 64 bits"),
        }
    }

    /// A source of the type's width. The high word is zero for less than 64 bits; sources of 8 and 16 bits are not
    /// extended.
    pub fn source(&mut self, operand: &Operand<'a>, ty: Ty) -> Result<Pair> {
        if ty.float() && is_integer(operand) {
            return wrong(operand.span, "this is an integer, and a float is needed: 1 is written 1.0 or 0f3F800000");
        }
        if ty.bits == 64 { self.pair(operand) } else { Ok([self.word(operand, ty.bits)?, Val::ZERO]) }
    }

    /// A source that is a float of 32 bits.
    pub fn float_source(&mut self, operand: &Operand<'a>) -> Result<Val> {
        Ok(self.source(operand, F32)?[0])
    }

    /// A predicate source.
    pub fn predicate(&mut self, operand: &Operand<'a>) -> Result<Pred> {
        match &operand.kind {
            OperandKind::Not(inner) => Ok(self.predicate(inner)?.not()),
            OperandKind::Name { name, part: None } => match self.known_register(name, operand.span)? {
                Reg::Pred(p) => Ok(Pred::Reg(p, false)),
                _ => wrong(operand.span, format!("`{name}` is not a predicate")),
            },
            OperandKind::Int(value) => Ok(Pred::Const(*value != 0)),
            _ => wrong(operand.span, "expected a predicate"),
        }
    }

    fn mismatch<T>(&self, name: &str, reg: Reg, bits: u32, span: Span) -> Result<T> {
        let what = match reg {
            Reg::Pred(_) => "is a predicate".to_owned(),
            Reg::Word(_, width) => format!("has {width} bits"),
            Reg::Pair(_) => "has 64 bits".to_owned(),
        };
        wrong(span, format!("`{name}` {what}, and {bits} bits are needed here"))
    }

    /// The destination register; `None` for `_`.
    pub fn destination(&mut self, operand: &Operand<'a>) -> Result<Option<Reg>> {
        match operand.kind {
            OperandKind::Name { name: "_", part: None } => Ok(None),
            OperandKind::Name { name, part: None } => self.known_register(name, operand.span).map(Some),
            _ => wrong(operand.span, "expected a register to write to"),
        }
    }

    /// Writes a value of the type to a register of the same width.
    pub fn write(&mut self, operand: &Operand<'a>, ty: Ty, value: Pair) -> Result<()> {
        let reg = self.destination(operand)?;
        match reg {
            None => {}
            Some(Reg::Pair(d)) if ty.bits == 64 => {
                self.b.assign(d[0], value[0]);
                self.b.assign(d[1], value[1]);
            }
            Some(Reg::Word(d, width)) if width == ty.bits => self.b.assign(d, value[0]),
            Some(reg) => {
                let OperandKind::Name { name, .. } = operand.kind else { unreachable!("destinations are names") };
                return self.mismatch(name, reg, ty.bits, operand.span);
            }
        }
        Ok(())
    }

    /// Writes a word; the register has the type's width, at most 32 bits.
    pub fn write_word(&mut self, operand: &Operand<'a>, ty: Ty, value: Val) -> Result<()> {
        self.write(operand, ty, [value, Val::ZERO])
    }

    /// Writes a value of the type to a register that may be wider; the value is sign- or zero-extended (loads and
    /// conversions).
    pub fn write_extended(&mut self, operand: &Operand<'a>, ty: Ty, value: Pair) -> Result<()> {
        let Some(reg) = self.destination(operand)? else { return Ok(()) };
        match reg {
            Reg::Word(_, width) if width >= ty.bits => {
                let low = if width > ty.bits { self.extend(value[0], ty.bits, ty.signed()) } else { value[0] };
                self.write(operand, Ty { bits: width, ..ty }, [low, Val::ZERO])
            }
            Reg::Pair(_) if ty.bits < 64 => {
                let low = self.extend(value[0], ty.bits, ty.signed());
                let pair = wide::extend(&mut self.b, ty.signed(), low);
                self.write(operand, Ty { bits: 64, ..ty }, pair)
            }
            _ => self.write(operand, ty, value),
        }
    }

    /// Writes a predicate; the name `_` discards it.
    pub fn write_predicate(&mut self, operand: &Operand<'a>, value: Pred) -> Result<()> {
        match self.destination(operand)? {
            None => Ok(()),
            Some(Reg::Pred(p)) => {
                self.b.assign_predicate(p, value);
                Ok(())
            }
            Some(_) => wrong(operand.span, "expected a predicate to write to"),
        }
    }

    /// The address of a variable in its own space.
    pub fn address_of(&mut self, name: &str, addend: i64, span: Span) -> Result<(Place, Pair)> {
        let Some(place) = self.place(name).cloned() else {
            return wrong(span, format!("there is no variable `{name}`"));
        };
        let pair = match &place {
            Place::Refused(feature, reason) => return lacks(span, *feature, reason.clone()),
            Place::Global => self.global_address(name, addend),
            Place::Function(address) => wide::constant(address.wrapping_add(addend as u64)),
            Place::Frame(at) => [self.frame_address((*at).wrapping_add(addend as u32)), Val::ZERO],
            Place::Argument(_) => {
                let message = format!("the address of `{name}`, a parameter of a function, is outside of the subset");
                return lacks(span, Feature::Calls, message);
            }
            Place::Constant(at) | Place::Shared(at, _) | Place::Local(at) => {
                if let Place::Shared(_, variable) = place {
                    self.b.variables = Variables::one(variable);
                }
                wide::constant(i64::from(*at).wrapping_add(addend) as u64)
            }
        };
        Ok((place, pair))
    }

    /// The address of a variable in global memory, which the loader fills in.
    pub fn global_address(&mut self, name: &str, addend: i64) -> Pair {
        [false, true].map(|upper| {
            let word = Address { symbol: name.to_owned(), addend, upper };
            let words = &mut self.b.function.addresses;
            let index = words.iter().position(|w| *w == word).unwrap_or_else(|| {
                words.push(word);
                words.len() - 1
            });
            let d = self.b.general();
            self.b.assign(d, Val::Address(index as u32));
            Val::Reg(d)
        })
    }

    /// The block of a label.
    pub fn label(&self, word: Word<'a>) -> Result<BlockId> {
        match self.code.scopes.iter().rev().find_map(|s| s.labels.get(word.text)) {
            Some(&block) => Ok(block),
            None => wrong(word.span, format!("there is no label `{}`", word.text)),
        }
    }
}
