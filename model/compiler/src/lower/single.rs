//! 64-bit loads and stores that are single operations: an access of another thread to the same 64 bits happens before or after them, never between
//! their two words (`docs/compiler.md`, "64-bit accesses").

use super::atomic::Misaligned;
use super::kernel::Kernel;
use super::memory::{Source, Target};
use super::types::{Result, Ty};
use super::wide::Pair;
use crate::WideAccesses;
use crate::mir::Val;
use crate::ptx::ast::Instruction;
use gpurf_isa::modifiers::*;

/// Modifiers of accesses that the PTX memory model calls strong.
const STRONG: [&str; 5] = ["volatile", "relaxed", "acquire", "release", "mmio"];

/// Whether an instruction may be an access that has to be single, as far as its modifiers show: its address may still turn out to be in the thread's
/// own memory.
pub fn may_be_single(i: &Instruction<'_>, wide: WideAccesses) -> bool {
    let has = |names: &[&str]| i.modifiers.iter().any(|modifier| names.contains(&modifier.text));
    let own = has(&["local", "const", "param", "param::entry", "param::func"]);
    let is_access = matches!(i.opcode.text, "ld" | "st") && has(&["b64", "u64", "s64", "f64"]) && !own;
    is_access && (is_strong(i) || wide == WideAccesses::All && !has(&["shared", "shared::cta", "nc"]))
}

fn is_strong(i: &Instruction<'_>) -> bool {
    i.modifiers.iter().any(|modifier| STRONG.contains(&modifier.text))
}

impl<'a> Kernel<'_, 'a> {
    /// Whether an access to this target is single.
    pub fn is_single(&self, i: &Instruction<'a>, ty: Ty, target: Target) -> bool {
        let others = match target {
            Target::Memory(Space::Global | Space::Generic) => true,
            Target::Memory(Space::Shared) => is_strong(i),
            _ => false,
        };
        ty.bits == 64 && others && may_be_single(i, self.module.wide)
    }

    /// Loads the 64 bits of an element, `at` bytes after the address.
    pub fn load_single(&mut self, source: Source, at: u32, align: Alignment) -> Result<Pair> {
        let words = [self.b.general(), self.b.general()];
        self.under_lock(source.address.behind(at), Misaligned::Unchecked, words, |k| {
            for (word, n) in words.into_iter().zip([0, 4]) {
                let align = if n == 0 { align } else { Alignment::Natural };
                let found = k.load_word(source, at + n, LoadType::B32, align)?;
                k.b.assign(word, found);
            }
            Ok(())
        })?;
        Ok(words.map(Val::Reg))
    }

    /// Stores the 64 bits of an element, `at` bytes after the address.
    pub fn store_single(
        &mut self,
        space: Space,
        address: super::memory::Address,
        at: u32,
        align: Alignment,
        value: Pair,
    ) -> Result<()> {
        self.under_lock(address.behind(at), Misaligned::Unchecked, [], |k| {
            for (word, n) in value.into_iter().zip([0, 4]) {
                let align = if n == 0 { align } else { Alignment::Natural };
                k.store_word(space, address, at + n, StoreType::B32, align, word);
            }
            Ok(())
        })
    }
}
