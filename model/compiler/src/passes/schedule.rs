//! The order of the instructions in a basic block.
//!
//! PTX has the instruction order of a front end: consumers directly after producers. Production compilers move them apart, so that a warp has other
//! instructions to issue while a result is pending; the RFC paper's traces are code of that kind (RFC paper 5.1). The hierarchy thesis ran PTX as it
//! is (6.1). Both kinds are available:
//!
//! - [`Schedule::Latency`]: list scheduling. Of the instructions whose operands have arrived, the one with the longest path to the block's end is
//!   next ([`list`]). If values are about to need more registers than there are, the instruction that ends most of them is next.
//! - [`Schedule::Tree`]: each result is computed directly before its first reader, operands from left to right ([`tree`]).
//!
//! Both preserve the dependences of the thread ([`dependences`]).

mod dependences;
pub mod finished;
mod list;
mod tree;

use super::liveness::Liveness;
use crate::mir::{BlockId, Class, Function};
use dependences::Dependences;
use serde::{Deserialize, Serialize};

/// The order of the instructions in a basic block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// The order of the PTX.
    #[default]
    None,
    /// Each result before its first reader. The PTX is not simplified, except that dead code is removed.
    Tree,
    /// By latency and register pressure.
    Latency,
}

impl Schedule {
    /// All orders.
    pub const ALL: [Self; 3] = [Self::None, Self::Tree, Self::Latency];

    /// The name in options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Tree => "tree",
            Self::Latency => "latency",
        }
    }
}

/// The number of values of each class that may be live before list scheduling prefers to end values over hiding latency.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Limit for registers.
    pub general: usize,
    /// Limit for predicates.
    pub predicates: usize,
}

/// Puts each block in expression-tree order.
pub fn tree(f: &mut Function) {
    let live = [Class::General, Class::Predicate].map(|class| Liveness::new(f, class));
    for b in f.block_ids() {
        let block = &f.blocks[b.index()];
        let wanted: Vec<bool> = block
            .insts
            .iter()
            .map(|inst| inst.has_effect() || inst.defs().any(|v| live.iter().any(|l| l.out[b.index()].contains(v))))
            .collect();
        let order = tree::order(&Dependences::new(block), &wanted);
        reorder(f, b, &order);
    }
}

/// Schedules each block by latency. The number of live values stays within these limits, if the block's dependences allow it.
pub fn latency(f: &mut Function, limits: Limits) {
    let live = [Class::General, Class::Predicate].map(|class| Liveness::new(f, class));
    for b in f.block_ids() {
        let order = list::order(f, b, &live, limits);
        reorder(f, b, &order);
    }
}

fn reorder(f: &mut Function, b: BlockId, order: &[usize]) {
    let insts = &mut f.blocks[b.index()].insts;
    debug_assert_eq!(order.len(), insts.len());
    let mut old: Vec<_> = std::mem::take(insts).into_iter().map(Some).collect();
    insts.extend(order.iter().map(|&i| old[i].take().expect("each instruction stands in the order once")));
}

#[cfg(test)]
mod tests;
