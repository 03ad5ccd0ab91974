//! Every block, from the lists of the folders and of the designs.

use crate::config::Config;
use crate::designs::DESIGNS;
use crate::{Block, PackedMemory, Shape, Twin, control, erase, execute, front, issue, memory, operands, ram};

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
    /// Its memories whose words are packed structs ([`Block::PACKED_MEMORIES`]).
    pub packed_memories: &'static [PackedMemory],
    /// Makes its twin.
    pub twin: fn(&Config) -> Box<dyn Twin>,
}

impl Entry {
    /// Names of the modules that it is made of, at any depth, itself first; each one once.
    pub fn modules(&self) -> Vec<&'static str> {
        let mut modules = vec![self.name];
        let designs = if self.designs { DESIGNS } else { &[] };
        let inside = self.children.iter().chain(self.cells).copied().chain(designs.iter().map(|design| design.name));
        for block in inside.filter_map(find) {
            let inner = block.modules();
            modules.extend(inner.into_iter().filter(|module| !modules.contains(module)).collect::<Vec<_>>());
        }
        modules
    }

    /// Paths of these modules: its RTL sources.
    pub fn sources(&self) -> Vec<&'static str> {
        let path = |module: &'static str| if module == self.name { Some(self.path) } else { Some(find(module)?.path) };
        self.modules().into_iter().filter_map(path).collect()
    }

    /// Whether a module is one of them.
    pub fn contains(&self, module: &str) -> bool {
        self.modules().contains(&module)
    }
}

/// A block and the modules inside it that are not its children, such as RAM cells.
pub const fn entry<B: Block>(path: &'static str, summary: &'static str, cells: &'static [&'static str]) -> Entry {
    let twin = |config: &Config| erase::<B>(&B::Shape::of(config));
    let (designs, words_are_registers, packages) = (false, false, &[]);
    Entry {
        name: B::NAME,
        path,
        summary,
        children: B::CHILDREN,
        cells,
        designs,
        words_are_registers,
        packages,
        packed_memories: B::PACKED_MEMORIES,
        twin,
    }
}

/// Every block but the SM: leaves first, then what is made of them.
pub fn blocks() -> impl Iterator<Item = &'static Entry> {
    let designs = DESIGNS.iter().flat_map(|design| design.blocks);
    let folders = [front::BLOCKS, issue::BLOCKS, memory::BLOCKS, execute::BLOCKS, operands::BLOCKS, control::BLOCKS];
    ram::BLOCKS.iter().chain(designs).chain(folders.into_iter().flatten())
}

/// The block of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    blocks().find(|b| b.name == name)
}
