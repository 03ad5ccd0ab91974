//! Every block, from the lists of the folders and of the designs.

use crate::designs::DESIGNS;
pub use crate::entry::{Entry, entry};
use crate::{cache, control, execute, front, issue, memory, operands, power, ram, share, unified};

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

/// Every block but the SM: leaves first, then what is made of them.
pub fn blocks() -> impl Iterator<Item = &'static Entry> {
    let designs = DESIGNS.iter().flat_map(|design| design.blocks);
    let before = [front::BLOCKS, issue::BLOCKS, power::BLOCKS, memory::BLOCKS];
    // The cache has a result queue in it.
    let behind = [execute::BLOCKS, cache::BLOCKS, operands::BLOCKS, control::BLOCKS];
    let banks = [share::BLOCKS, unified::BLOCKS].into_iter().flatten();
    ram::BLOCKS.iter().chain(banks).chain(designs).chain(before.into_iter().chain(behind).flatten())
}

/// The block of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    blocks().find(|b| b.name == name)
}
