//! A register file whose idle banks are stolen: `docs/blocks/steal.md`.

pub(crate) mod config;
#[expect(clippy::module_inception, reason = "a twin has the path of its RTL module")]
mod steal;
mod steal_arbiter;
mod steal_candidates;
mod steal_collector;
mod steal_dependence;
mod steal_return;
mod steal_table;

#[cfg(test)]
mod phases;

pub use steal::*;
pub use steal_arbiter::*;
pub use steal_candidates::*;
pub use steal_collector::*;
pub use steal_dependence::*;
pub use steal_return::*;
pub use steal_table::*;

use crate::entry::{Entry, entry};

/// Its blocks, leaves first.
pub const BLOCKS: &[Entry] = &[
    entry::<StealCandidates>("steal/steal_candidates", "operands that will be wanted next", &[]),
    entry::<StealCollector>("steal/steal_collector", "operand collector of which operands may be on their way", &[]),
    entry::<StealTable>("steal/steal_table", "free entries, parked values", &[]),
    entry::<StealDependence>("steal/steal_dependence", "who needs a parked value", &[]),
    entry::<StealArbiter>("steal/steal_arbiter", "who gets a bank, who steals one", &[]),
    entry::<StealReturn>("steal/steal_return", "parked values on their way back", &[]),
    entry::<Steal>("steal/steal", "register file whose idle banks are stolen", &[]),
];

use crate::OPERANDS;
use crate::mrf::MAX_PORTS;

/// Capacity of the twins: operands that arrive in a cycle.
const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;

/// Shapes that differ in every size.
#[cfg(test)]
fn shapes() -> [crate::mrf::MrfShape; 4] {
    crate::testing::SHAPES.map(|shape| crate::mrf::MrfShape { dual_port: false, ..shape })
}
