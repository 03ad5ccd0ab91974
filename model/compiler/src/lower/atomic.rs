//! Atomic operations and fences.

use super::count_mentions;
use super::kernel::{Kernel, wrong};
use super::logic::B32;
use super::memory::{Address, Target};
use super::single::may_be_single;
use super::types::{Kind, Mods, Result, Ty};
use super::wide::{self, Pair};
use crate::WideAccesses;
use crate::mir::{Inst, Pred, Term, V, Val};
use crate::ptx::ast::{Block, Instruction, Module, Operand, OperandKind, Statement};
use gpurf_isa::modifiers::*;
use gpurf_isa::{Op, machine};
use std::collections::HashMap;

/// Name of the variable that holds the locks of 64-bit operations. No program variable can have this name.
pub const LOCKS: &str = "atomic locks";
/// Its size in bytes, a power of two: a word for each of 1024 locks.
pub const LOCK_BYTES: u32 = 4096;

/// What happens if an address is not a multiple of 8, before its lock is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Misaligned {
    /// The program traps.
    Trap,
    /// Nothing: the code under the lock detects it.
    Unchecked,
}

const B64: Ty = Ty { kind: Kind::Bits, bits: 64 };

impl<'a> Kernel<'_, 'a> {
    /// Lowers an atomic operation or a fence. Returns whether the instruction was one.
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
        let ty = mods.ty_of(&["u32", "s32", "b32", "f32", "u64", "s64", "b64", "f64"])?;
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
            let old = self.atom_64(i, name, ty, space, address, sources)?;
            // An operation that is done as two of 32 bits has no old value; then the program does not read it.
            if let (Some(d), Some(old)) = (result, old) {
                self.write(d, B64, old)?;
            }
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
                let c = self.source(&sources[0], ty)?[0];
                self.atom_word(space, operation, address, 0, c)
            };
            if let Some(d) = result {
                self.write_word(d, B32, value)?;
            }
        }
        self.fence(fences[1]);
        Ok(())
    }

    /// An atomic operation on a word. Returns the old value.
    pub fn atom_word(&mut self, space: AtomicSpace, operation: Atomic, address: Address, at: i32, c: Val) -> Val {
        let d = self.b.general();
        let high = if space == AtomicSpace::Shared { Val::ZERO } else { address.base[1] };
        let inst = self.b.inst(Op::Atom { space, operation }, [address.base[0], high, c]);
        self.b.push(Inst { d: Some(d), offset: address.offset + at, ..inst });
        Val::Reg(d)
    }

    /// Compare and swap of a word. Returns the old value. The machine's instruction has a field for the low word of the address only, so the high
    /// word is tested first.
    pub fn compare_and_swap(&mut self, space: AtomicSpace, address: Address, compare: Val, swap: Val) -> Val {
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
                // Both instructions are guarded: without an unguarded write before them, the register would be live from the kernel's start.
                self.b.assign(d, Val::ZERO);
                cas(self, AtomicSpace::Shared, shared);
                cas(self, AtomicSpace::Global, global);
            }
        }
        Val::Reg(d)
    }

    /// An operation on 64 bits as two on 32 bits, if the program does not read the old value. Every carry out of the low word is added to the high
    /// word, so the sum is right when all additions are done. The words of logic operations are independent.
    fn atom_of_words(&mut self, operation: Atomic, space: AtomicSpace, address: Address, [low, high]: Pair) {
        let mut high = high;
        let old = self.atom_word(space, operation, address, 0, low);
        if operation == Atomic::Add {
            let (_, carry) = self.b.add_carry(Addition::Add, old, low, Pred::FALSE);
            high = self.b.op_s(Op::Iadd { mode: Addition::Add }, [high, Val::ZERO, Val::ZERO], carry);
        }
        self.atom_word(space, operation, address, 4, high);
    }

    /// An operation on 64 bits under the lock of its address. Returns the old value.
    fn atom_under_lock(
        &mut self,
        space: AtomicSpace,
        address: Address,
        new: impl FnOnce(&mut Self, Pair) -> Pair,
    ) -> Pair {
        let old = [self.b.general(), self.b.general()];
        self.under_lock(address, Misaligned::Trap, old, |k| {
            // The accesses are atomic operations, so that they do not race with other code's atomic operations on the same words.
            for (at, word) in [(0, old[0]), (4, old[1])] {
                let found = k.atom_word(space, Atomic::Or, address, at, Val::ZERO);
                k.b.assign(word, found);
            }
            for (at, word) in [0, 4].into_iter().zip(new(k, old.map(Val::Reg))) {
                k.atom_word(space, Atomic::Exch, address, at, word);
            }
            Ok(())
        })
        .expect("nothing in it can fail");
        old.map(Val::Reg)
    }

    /// Traps if the address, of which this is the low word, is not a multiple of 8.
    fn trap_misaligned(&mut self, low: Val) {
        let rest = self.b.and(low, Val::Imm(7));
        let misaligned = self.b.compare(IntegerComparison::Ne, false, rest, Val::ZERO);
        self.trap(misaligned, machine::trap::MISALIGNED);
    }

    /// Runs code while the lane holds the lock that the address selects. `results` are the registers that the code writes. A lane that finds the lock
    /// taken tries again after all lanes have tried; by then the lane that held the lock has released it.
    pub fn under_lock<const N: usize>(
        &mut self,
        address: Address,
        misaligned: Misaligned,
        results: [V; N],
        critical: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        // Only some of the attempts write them.
        for word in results {
            self.b.assign(word, Val::ZERO);
        }
        let locks = self.global_address(LOCKS, 0);
        let low = self.b.add(address.base[0], Val::Imm(address.offset as u32));
        if misaligned == Misaligned::Trap {
            self.trap_misaligned(low);
        }
        let half = self.b.shr(false, low, Val::Imm(1));
        let place = self.b.and(half, Val::Imm(LOCK_BYTES - 4));
        let lock = Address { base: [self.b.add(locks[0], place), locks[1]], offset: 0 };
        let [head, inside, tried, after] = [(); 4].map(|()| self.b.block());
        self.b.end(Term::Jump(head), head);
        let taken = self.atom_word(AtomicSpace::Global, Atomic::Exch, lock, 0, Val::Imm(1));
        let mine = self.b.compare(IntegerComparison::Eq, false, taken, Val::ZERO);
        self.b.end(Term::Branch { when: mine, then: inside, otherwise: tried }, inside);
        self.fence(Some(Scope::Device));
        critical(self)?;
        self.fence(Some(Scope::Device));
        self.atom_word(AtomicSpace::Global, Atomic::Exch, lock, 0, Val::ZERO);
        self.b.end(Term::Jump(tried), tried);
        self.b.end(Term::Branch { when: mine, then: after, otherwise: head }, after);
        Ok(())
    }

    /// Lowers an operation on 64 bits. Returns the old value, or `None` if the operation is done as two of 32 bits.
    fn atom_64(
        &mut self,
        i: &Instruction<'a>,
        name: &str,
        ty: Ty,
        space: AtomicSpace,
        address: Address,
        sources: &[Operand<'a>],
    ) -> Result<Option<Pair>> {
        if !is_operation_64(name, ty) {
            return wrong(i.span, format!("there is no .{name} of this type"));
        }
        let given = self.source(&sources[0], ty)?;
        if let (false, Some(operation)) = (self.module.locks, operation_of_words(name)) {
            self.atom_of_words(operation, space, address, given);
            return Ok(None);
        }
        let swap = sources.get(1).map(|operand| self.pair(operand)).transpose()?;
        let old = self.atom_under_lock(space, address, |k, old| match (name, swap) {
            ("add", _) if ty.float() => k.add_doubles(old, given),
            ("add", _) => wide::add(&mut k.b, old, given),
            ("and", _) => [k.b.and(old[0], given[0]), k.b.and(old[1], given[1])],
            ("or", _) => [k.b.or(old[0], given[0]), k.b.or(old[1], given[1])],
            ("xor", _) => [k.b.xor(old[0], given[0]), k.b.xor(old[1], given[1])],
            ("min" | "max", _) => {
                let comparison = if name == "min" { IntegerComparison::Lt } else { IntegerComparison::Gt };
                let keep = k.b.compare_wide(comparison, ty.signed(), old, given);
                wide::select(&mut k.b, keep, old, given)
            }
            ("cas", Some(swap)) => {
                let equal = k.b.compare_wide(IntegerComparison::Eq, false, old, given);
                wide::select(&mut k.b, equal, swap, old)
            }
            _ => given,
        });
        Ok(Some(old))
    }
}

/// Whether any body of a module has a 64-bit atomic operation that two of 32 bits cannot implement, or a 64-bit access that must be single. Then all
/// of these operations take a lock, because an access without the lock could be lost or see only half of a change.
pub fn need_locks(module: &Module<'_>, wide: WideAccesses) -> bool {
    module.functions.iter().filter_map(|function| function.body.as_ref()).any(|body| {
        let mut mentions = HashMap::new();
        count_mentions(body, &mut mentions);
        needs_lock(body, &mentions, wide)
    })
}

fn needs_lock<'a>(block: &Block<'a>, mentions: &HashMap<&'a str, u32>, wide: WideAccesses) -> bool {
    block.statements.iter().any(|statement| match statement {
        Statement::Block(inner) => needs_lock(inner, mentions, wide),
        Statement::Instruction(i) if matches!(i.opcode.text, "atom" | "red") => {
            let has = |names: &[&str]| i.modifiers.iter().any(|modifier| names.contains(&modifier.text));
            let of_words = i.modifiers.iter().any(|modifier| operation_of_words(modifier.text).is_some());
            let one_by_one = of_words && (i.opcode.text == "red" || drops_old(i, mentions));
            has(&["f64"]) || has(&["u64", "s64", "b64"]) && !one_by_one
        }
        Statement::Instruction(i) => may_be_single(i, wide),
        _ => false,
    })
}

/// Whether the program does not read the old value that an `atom` returns.
fn drops_old<'a>(i: &Instruction<'a>, mentions: &HashMap<&'a str, u32>) -> bool {
    match i.operands.first().map(|operand| &operand.kind) {
        Some(OperandKind::Name { name, .. }) => *name == "_" || mentions.get(name) == Some(&1),
        _ => false,
    }
}

/// The operation on 32 bits that implements one on 64 bits word by word.
fn operation_of_words(name: &str) -> Option<Atomic> {
    Some(match name {
        "add" => Atomic::Add,
        "and" => Atomic::And,
        "or" => Atomic::Or,
        "xor" => Atomic::Xor,
        _ => return None,
    })
}

/// Whether this operation exists for a 64-bit type.
fn is_operation_64(name: &str, ty: Ty) -> bool {
    match name {
        "add" => ty.kind != Kind::Bits,
        "min" | "max" => matches!(ty.kind, Kind::Unsigned | Kind::Signed),
        "and" | "or" | "xor" | "exch" | "cas" => ty.kind == Kind::Bits,
        _ => false,
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
