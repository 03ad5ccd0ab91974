//! Atomic operations and fences.

use super::kernel::{Kernel, lacks, wrong};
use super::logic::B32;
use super::memory::{Address, Target};
use super::types::{Mods, Result, Ty};
use crate::diagnostic::Feature;
use crate::mir::{Inst, Pred, Val};
use crate::ptx::ast::{Instruction, Operand, OperandKind};
use gpurf_isa::modifiers::*;
use gpurf_isa::{Op, machine};

impl<'a> Kernel<'_, 'a> {
    /// Lowers an instruction of this group; says whether it was one.
    pub fn atomic(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<bool> {
        match i.opcode.text {
            "atom" | "red" => self.atom(i, mods)?,
            "membar" | "fence" => {
                mods.one_of(&["sc", "acq_rel", "acquire", "release"]);
                let scope = match mods.need("a scope", &["cta", "gl", "gpu", "sys"])? {
                    "cta" => Scope::Block,
                    "gl" | "gpu" => Scope::Device,
                    _ => Scope::System,
                };
                let [] = self.operands(i)?;
                self.fence(Some(scope));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn atom(&mut self, i: &Instruction<'a>, mods: &mut Mods<'_, 'a>) -> Result<()> {
        let fences = self.order(mods)?;
        let space = self.space(mods);
        if let Some(name) = mods.one_of(&["noftz", "v2", "v4", "v8"]) {
            return wrong(mods.span(), format!("`{}` with .{name} is outside of the subset", i.opcode.text));
        }
        const NAMES: [&str; 10] = ["add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"];
        let name = mods.need("an operation", &NAMES)?;
        let ty = mods.ty_of(&["u32", "s32", "b32", "f32", "u64", "s64", "b64"])?;
        let result = if i.opcode.text == "atom" { i.operands.first() } else { None };
        let (a, sources) = match &i.operands[usize::from(result.is_some()).min(i.operands.len())..] {
            [a, sources @ ..] if sources.len() == if name == "cas" { 2 } else { 1 } => (a, sources),
            _ => return wrong(i.span, format!("`{}` has not the operands that .{name} needs", i.opcode.text)),
        };
        let (target, address) = self.address(a, space)?;
        let Target::Memory(space) = target else {
            return wrong(a.span, "the constant space is only read");
        };
        let space = match space {
            Space::Global => AtomicSpace::Global,
            Space::Shared => AtomicSpace::Shared,
            Space::Generic => AtomicSpace::Generic,
            Space::Local => return wrong(a.span, "atomic operations are for global and shared memory"),
        };
        self.fence(fences[0]);
        if ty.bits == 64 {
            self.atom_64(i, name, space, address, result, &sources[0])?;
        } else {
            let value = if name == "cas" {
                let (compare, swap) = (self.word(&sources[0], 32)?, self.word(&sources[1], 32)?);
                if !matches!(ty.kind, super::types::Kind::Bits) {
                    return wrong(mods.span(), "cas takes a type of bits");
                }
                self.compare_and_swap(space, address, compare, swap)
            } else {
                let operation = operation(name, ty).ok_or_else(|| {
                    crate::diagnostic::Error::new(mods.span(), format!("there is no .{name} of this type"))
                })?;
                let c = self.word(&sources[0], 32)?;
                self.atom_word(space, operation, address, 0, c)
            };
            if let Some(d) = result {
                self.write_word(d, B32, value)?;
            }
        }
        self.fence(fences[1]);
        Ok(())
    }

    /// An atomic operation on a word; gives the old value.
    pub fn atom_word(&mut self, space: AtomicSpace, operation: Atomic, address: Address, at: i32, c: Val) -> Val {
        let d = self.b.general();
        let high = if space == AtomicSpace::Shared { Val::ZERO } else { address.base[1] };
        let inst = self.b.inst(Op::Atom { space, operation }, [address.base[0], high, c]);
        self.b.push(Inst { d: Some(d), offset: address.offset + at, ..inst });
        Val::Reg(d)
    }

    /// The machine's instruction has room for the low word of the address only.
    fn compare_and_swap(&mut self, space: AtomicSpace, address: Address, compare: Val, swap: Val) -> Val {
        let d = self.b.general();
        let [low, high] = address.base;
        let cas = |k: &mut Self, space: AtomicSpace, guard: Pred| {
            let inst = k.b.inst(Op::Cas { space }, [low, compare, swap]);
            k.b.push(Inst { d: Some(d), offset: address.offset, guard, ..inst });
        };
        match space {
            AtomicSpace::Shared => cas(self, space, Pred::TRUE),
            AtomicSpace::Global => {
                if high != Val::ZERO {
                    let above = self.b.compare(IntegerComparison::Ne, false, high, Val::ZERO);
                    self.trap(above, machine::trap::WIDE_ADDRESS);
                }
                cas(self, space, Pred::TRUE);
            }
            AtomicSpace::Generic => {
                let shared = self.b.compare(IntegerComparison::Eq, false, high, Val::Imm(machine::SHARED_WINDOW));
                let global = self.b.compare(IntegerComparison::Eq, false, high, Val::ZERO);
                let neither = self.b.combine(Combine::And, shared.not(), global.not());
                self.trap(neither, machine::trap::WIDE_ADDRESS);
                // Both are guarded: without a write in front, the register would be live from the kernel's start.
                self.b.assign(d, Val::ZERO);
                cas(self, AtomicSpace::Shared, shared);
                cas(self, AtomicSpace::Global, global);
            }
        }
        Val::Reg(d)
    }

    /// 64 bits as two words, where nobody reads the old value: every carry out of the low word is added to the high
    /// one, so the sum is right when all are done; and the words of logic operations are independent.
    fn atom_64(
        &mut self,
        i: &Instruction<'a>,
        name: &str,
        space: AtomicSpace,
        address: Address,
        result: Option<&Operand<'a>>,
        source: &Operand<'a>,
    ) -> Result<()> {
        let unused = match result.map(|r| &r.kind) {
            None => true,
            Some(OperandKind::Name { name, .. }) => *name == "_" || self.mentions.get(name) == Some(&1),
            Some(_) => false,
        };
        let operation = match name {
            "add" => Atomic::Add,
            "and" => Atomic::And,
            "or" => Atomic::Or,
            "xor" => Atomic::Xor,
            _ => {
                let message = format!("a 64-bit atomic .{name} is outside of the subset: the machine's have 32 bits");
                return lacks(i.span, Feature::WideAtomics, message);
            }
        };
        if !unused {
            let message = "a 64-bit atomic operation whose old value is read is outside of the subset: \
                           the machine does it as two of 32 bits";
            return lacks(i.span, Feature::WideAtomics, message);
        }
        let [low, high] = self.pair(source)?;
        let mut high = high;
        let old = self.atom_word(space, operation, address, 0, low);
        if operation == Atomic::Add {
            let (_, carry) = self.b.add_carry(Addition::Add, old, low, Pred::FALSE);
            high = self.b.op_s(Op::Iadd { mode: Addition::Add }, [high, Val::ZERO, Val::ZERO], carry);
        }
        self.atom_word(space, operation, address, 4, high);
        Ok(())
    }
}

fn operation(name: &str, ty: Ty) -> Option<Atomic> {
    use super::types::Kind::*;
    Some(match (name, ty.kind) {
        ("add", Unsigned | Signed) => Atomic::Add,
        ("add", Float) => Atomic::AddF32,
        ("min", Unsigned) => Atomic::MinU32,
        ("min", Signed) => Atomic::MinS32,
        ("max", Unsigned) => Atomic::MaxU32,
        ("max", Signed) => Atomic::MaxS32,
        ("inc", Unsigned) => Atomic::Inc,
        ("dec", Unsigned) => Atomic::Dec,
        ("and", Bits) => Atomic::And,
        ("or", Bits) => Atomic::Or,
        ("xor", Bits) => Atomic::Xor,
        ("exch", Bits) => Atomic::Exch,
        _ => return None,
    })
}
