//! Code for blocks that share a part of their shared memory (sharing thesis, chapter 3; `docs/scratchpad-compiler.md`).
//!
//! | module | what it does |
//! |---|---|
//! | [`provenance`] | which variables of shared memory an access may touch |
//! | [`ranges`] | where a set of variables is accessed: between which instructions, and how many |
//! | [`layout`] | which variables lie in the private part |
//! | [`release`] | where threads release the shared part: `RELSSP` |
//!
//! Which accesses are known to be private follows from finished code: [`crate::marks::private`].

mod layout;
mod loops;
pub(crate) mod mutation;
pub(crate) mod provenance;
mod ranges;
pub(crate) mod release;
#[cfg(test)]
mod tests;

use crate::lower::Lowered;
use gpurf_isa::machine;
use mutation::{Mutation, broken};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The order of a kernel's variables of shared memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// As they are declared.
    #[default]
    Declared,
    /// Those first whose accesses would hold the shared part for long (thesis 3.2.1).
    Minimal,
}

/// Where threads release the shared part of shared memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relssp {
    /// Where the program does.
    #[default]
    None,
    /// In the nearest block that all threads come to after their accesses.
    Postdom,
    /// On each way after the last access (thesis 3.2.3).
    Optimal,
}

/// How code is made for blocks that share a part of their shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ScratchpadOptions {
    /// Bytes of a block's shared memory, from address 0 on, that it has for itself.
    pub private_bytes: u32,
    /// The order of variables.
    pub layout: Layout,
    /// Where threads release the rest.
    pub relssp: Relssp,
}

impl ScratchpadOptions {
    /// Code for blocks that share nothing.
    pub const NONE: Self = Self { private_bytes: 0, layout: Layout::Declared, relssp: Relssp::None };

    /// Whether there can be a machine like that.
    ///
    /// # Errors
    /// In words.
    pub fn check(&self) -> Result<(), String> {
        let bytes = self.private_bytes;
        if bytes > machine::SHARED_LIMIT || !bytes.is_multiple_of(4) {
            return Err(format!("private_shared is {bytes}: it is a multiple of 4, 0 to {}", machine::SHARED_LIMIT));
        }
        Ok(())
    }
}

/// A set of a kernel's variables of shared memory, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Variables(u64);

impl Variables {
    /// No variable.
    pub const NONE: Self = Self(0);
    /// All of them.
    pub const ALL: Self = Self(u64::MAX);
    /// Variables that are distinguished. A set that has another one has all.
    pub const NUMBERED: usize = 63;

    /// One variable.
    pub const fn one(number: usize) -> Self {
        if number < Self::NUMBERED { Self(1 << number) } else { Self::ALL }
    }

    /// The variables of either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a variable is in both.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether a variable is in.
    pub const fn contains(self, number: usize) -> bool {
        self.meets(Self::one(number))
    }

    /// Whether it has none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<usize> for Variables {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Self {
        numbers.into_iter().map(Self::one).fold(Self::NONE, Self::union)
    }
}

/// A variable of shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedVariable {
    /// Its name in the PTX; the word in which `bar.red` counts has none.
    pub name: String,
    /// Its size; dynamic memory has none.
    pub bytes: Option<u32>,
    /// Its alignment.
    pub align: u32,
    /// Its address.
    pub at: u32,
}

impl SharedVariable {
    /// A variable that has no place yet.
    pub(crate) fn new(name: &str, bytes: Option<u32>, align: u32) -> Self {
        Self { name: name.to_owned(), bytes, align, at: 0 }
    }

    /// Whether all of its bytes lie in a private part of this size.
    pub fn is_private(&self, private_bytes: u32) -> bool {
        let begins = broken(Mutation::StraddlingIsPrivate) && self.at < private_bytes;
        self.bytes.is_some_and(|bytes| self.at + bytes <= private_bytes) || begins
    }
}

/// Orders of variables, by kernel.
pub(crate) type Orders = HashMap<String, Vec<usize>>;

/// Places variables one after the other in an order of their numbers, and dynamic memory after them. Gives the bytes in front of
/// dynamic memory.
pub(crate) fn place(variables: &mut [SharedVariable], order: &[usize]) -> u32 {
    let mut at: u32 = 0;
    for &number in order {
        let SharedVariable { bytes: Some(bytes), align, .. } = variables[number] else { continue };
        if !broken(Mutation::Misaligned) {
            at = at.next_multiple_of(align);
        }
        variables[number].at = at;
        at += bytes;
        if broken(Mutation::Overlapping) {
            at -= bytes.min(4);
        }
    }
    let dynamic = variables.iter().filter(|v| v.bytes.is_none());
    let end = at.next_multiple_of(dynamic.map(|v| v.align).max().unwrap_or(1));
    let start = if broken(Mutation::DynamicFirst) { 0 } else { end };
    variables.iter_mut().filter(|v| v.bytes.is_none()).for_each(|v| v.at = start);
    end
}

/// Which of the variables lie in the shared part, if the private one has this size.
pub(crate) fn in_shared_part(variables: &[SharedVariable], private_bytes: u32) -> Variables {
    variables.iter().enumerate().filter(|(_, v)| !v.is_private(private_bytes)).map(|(number, _)| number).collect()
}

/// The orders of variables that are better than the declared ones.
pub(crate) fn orders(kernels: &[Lowered], options: &ScratchpadOptions) -> Orders {
    if options.layout == Layout::Declared {
        return Orders::new();
    }
    let better = |kernel: &Lowered| Some((kernel.name.clone(), layout::better(kernel, options.private_bytes)?));
    kernels.iter().filter_map(better).collect()
}

/// What became of a kernel's shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scratchpad {
    /// Its variables, by number.
    pub variables: Vec<SharedVariable>,
    /// Those that lie in the shared part.
    pub shared: Variables,
    /// Instructions that may touch shared memory, with the variables that each may touch.
    pub accesses: Vec<(u32, Variables)>,
    /// `RELSSP` that the compiler put in.
    pub releases: usize,
}

impl Scratchpad {
    pub(crate) fn new(
        variables: Vec<SharedVariable>,
        accesses: Vec<(u32, Variables)>,
        releases: usize,
        options: &ScratchpadOptions,
    ) -> Self {
        let shared = in_shared_part(&variables, options.private_bytes);
        Self { variables, shared, accesses, releases }
    }
}
