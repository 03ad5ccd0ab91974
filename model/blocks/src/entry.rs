//! A line of the lists of blocks.

use crate::config::Config;
use crate::{Block, PackedMemory, Stepwise, Twin, erase};

/// A block of the list.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Module name; the RTL is `rtl/<path>.sv`, the twin `model/blocks/src/<path>.rs`.
    pub name: &'static str,
    /// Path in both trees, without the ending.
    pub path: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Modules of the blocks inside it ([`Block::CHILDREN`]).
    pub children: &'static [&'static str],
    /// Further modules inside it.
    pub cells: &'static [&'static str],
    /// It contains the design of the register file: any of them.
    pub designs: bool,
    /// Its words are registers, not a RAM cell.
    pub words_are_registers: bool,
    /// Its memories whose words are packed structs ([`Block::PACKED_MEMORIES`]).
    pub packed_memories: &'static [PackedMemory],
    /// Makes its twin.
    pub twin: fn(&Config) -> Box<dyn Twin>,
    /// Makes its twin for a caller that takes the cycle in two steps.
    pub stepwise: fn(&Config) -> Box<dyn Stepwise>,
}

/// A block, with its path in both trees and one line on what it does.
pub const fn entry<B: Block>(path: &'static str, summary: &'static str) -> Entry {
    Entry {
        name: B::NAME,
        path,
        summary,
        children: B::CHILDREN,
        cells: B::CELLS,
        designs: B::DESIGNS,
        words_are_registers: B::WORDS_ARE_REGISTERS,
        packed_memories: B::PACKED_MEMORIES,
        twin: |config| erase::<B>(&B::shape_alone(config)),
        stepwise: |config| erase::<B>(&B::shape_alone(config)),
    }
}

/// Declares the twins of a folder's blocks and lists them: what the folder's list of blocks calls.
macro_rules! declare_blocks {
    ($folder:ident: $($module:ident $twin:ident $summary:literal,)+) => {
        $(
            pub(crate) mod $module;
            pub use $module::*;
        )+

        /// Its blocks, leaves first.
        pub const BLOCKS: &[crate::entry::Entry] = &[
            $(crate::entry::entry::<$twin>(concat!(stringify!($folder), "/", stringify!($module)), $summary),)+
        ];
    };
}
pub(crate) use declare_blocks;
