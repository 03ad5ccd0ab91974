//! Code generation for blocks that share a part of their shared memory (sharing thesis, chapter 3; `docs/scratchpad-compiler.md`).
//!
//! | module | what it does |
//! |---|---|
//! | [`provenance`] | which variables of shared memory an access may touch |
//! | [`ranges`] | where a set of variables is accessed: between which instructions, and how many |
//! | [`layout`] | which variables are in the private part |
//! | [`release`] | where threads release the shared part: `RELSSP` |
//!
//! The accesses that are known to be private are found in finished code: [`crate::marks::private`].

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
    /// The order of declaration.
    #[default]
    Declared,
    /// First the variables whose accesses would hold the shared part longest (thesis 3.2.1).
    Minimal,
}

/// Where threads release the shared part of shared memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relssp {
    /// Where the program releases it.
    #[default]
    None,
    /// In the nearest block that all threads reach after their accesses.
    Postdom,
    /// On each path, after the last access (thesis 3.2.3).
    Optimal,
}

/// How code is generated for blocks that share a part of their shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ScratchpadOptions {
    /// Size of the private part of a block's shared memory in bytes, from address 0 on.
    pub private_bytes: u32,
    /// The order of variables.
    pub layout: Layout,
    /// Where threads release the shared part.
    pub relssp: Relssp,
}

impl ScratchpadOptions {
    /// The options for blocks that share nothing.
    pub const NONE: Self = Self { private_bytes: 0, layout: Layout::Declared, relssp: Relssp::None };

    /// Checks that a machine can have these options.
    ///
    /// # Errors
    /// What is wrong, as a sentence.
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
    /// All variables.
    pub const ALL: Self = Self(u64::MAX);
    /// Number of variables that are distinguished. A set that contains any further variable contains all of them.
    pub const NUMBERED: usize = 63;

    /// The set of one variable.
    pub const fn one(number: usize) -> Self {
        if number < Self::NUMBERED { Self(1 << number) } else { Self::ALL }
    }

    /// The variables that are in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether any variable is in both sets.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the set contains a variable.
    pub const fn contains(self, number: usize) -> bool {
        self.meets(Self::one(number))
    }

    /// Whether the set is empty.
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
    /// Its name in the PTX; empty for a word in which `bar.red` counts.
    pub name: String,
    /// Its size; `None` for dynamic memory.
    pub bytes: Option<u32>,
    /// Its alignment.
    pub align: u32,
    /// Its address.
    pub at: u32,
}

impl SharedVariable {
    /// A variable that is not placed yet.
    pub(crate) fn new(name: &str, bytes: Option<u32>, align: u32) -> Self {
        Self { name: name.to_owned(), bytes, align, at: 0 }
    }

    /// Whether all of its bytes are in a private part of this size.
    pub fn is_private(&self, private_bytes: u32) -> bool {
        let begins = broken(Mutation::StraddlingIsPrivate) && self.at < private_bytes;
        self.bytes.is_some_and(|bytes| self.at + bytes <= private_bytes) || begins
    }
}

/// Orders of variables, by the name of the kernel.
pub(crate) type Orders = HashMap<String, Vec<usize>>;

/// Places variables one after the other in an order of their numbers, and dynamic memory after them. Returns the number of bytes before dynamic
/// memory.
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

/// The variables in the shared part, if the private part has this size.
pub(crate) fn in_shared_part(variables: &[SharedVariable], private_bytes: u32) -> Variables {
    variables.iter().enumerate().filter(|(_, v)| !v.is_private(private_bytes)).map(|(number, _)| number).collect()
}

/// The kernels' orders of variables that are better than the declared ones.
pub(crate) fn orders(kernels: &[Lowered], options: &ScratchpadOptions) -> Orders {
    if options.layout == Layout::Declared {
        return Orders::new();
    }
    let better = |kernel: &Lowered| Some((kernel.name.clone(), layout::better(kernel, options.private_bytes)?));
    kernels.iter().filter_map(better).collect()
}

/// The result for a kernel's shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scratchpad {
    /// Its variables, by number.
    pub variables: Vec<SharedVariable>,
    /// The variables in the shared part.
    pub shared: Variables,
    /// Instructions that may touch shared memory, with the variables that each may touch.
    pub accesses: Vec<(u32, Variables)>,
    /// Number of `RELSSP` that the compiler added.
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
