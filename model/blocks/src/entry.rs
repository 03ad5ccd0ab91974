//! A line of the lists of blocks.

use crate::config::Config;
use crate::{Block, Shape, Twin, erase};

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
    /// The packages that its modules import, besides the one that every module does. Their files come before all modules'.
    pub packages: &'static [&'static str],
    /// Makes its twin.
    pub twin: fn(&Config) -> Box<dyn Twin>,
}

/// A block and the modules inside it that are not its children, such as RAM cells.
pub const fn entry<B: Block>(path: &'static str, summary: &'static str, cells: &'static [&'static str]) -> Entry {
    let twin = |config: &Config| erase::<B>(&B::Shape::of(config));
    let (designs, words_are_registers, packages) = (false, false, &[]);
    Entry { name: B::NAME, path, summary, children: B::CHILDREN, cells, designs, words_are_registers, packages, twin }
}
