//! A register file where accesses steal idle banks: `docs/blocks/steal.md`.

use crate::entry::declare_blocks;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! steal_blocks {
    ($callback:ident) => {
        $callback! { steal:
            steal_candidates StealCandidates "operands that will be wanted next",
            steal_collector StealCollector "operand collector of which operands may be on their way",
            steal_table StealTable "free entries, parked values",
            steal_dependence StealDependence "which parked values are needed",
            steal_arbiter StealArbiter "which access gets a bank, which one steals",
            steal_return StealReturn "parked values on their way back",
            steal Steal "register file whose idle banks are stolen",
        }
    };
}

steal_blocks!(declare_blocks);

pub(crate) mod config;

#[cfg(test)]
mod phases;

use crate::OPERANDS;
use crate::mrf::MAX_PORTS;

/// Capacity of the twins: the largest number of operands that arrive in a cycle.
const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;

/// Shapes that differ in every size.
#[cfg(test)]
fn shapes() -> [crate::mrf::MrfShape; 4] {
    crate::testing::SHAPES.map(|shape| crate::mrf::MrfShape { dual_port: false, ..shape })
}
