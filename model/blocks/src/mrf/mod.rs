//! The banked main register file: `docs/blocks/mrf.md`.

pub mod bits;
pub(crate) mod config;
#[expect(clippy::module_inception, reason = "a twin has the path of its RTL module")]
mod mrf;
pub(crate) mod mrf_allocator;
pub(crate) mod mrf_arbiter;
mod mrf_bank;
mod mrf_bank_map;
pub(crate) mod mrf_collector;
mod mrf_crossbar;
pub(crate) mod mrf_write_queue;
#[cfg(test)]
pub(crate) use mrf::tests;
#[cfg(test)]
pub(crate) mod phases;
mod shape;
pub(crate) mod slots;
pub(crate) mod storage;

pub(crate) use mrf::nets;
pub use mrf::*;
pub use mrf_allocator::*;
pub use mrf_arbiter::*;
pub use mrf_bank::*;
pub use mrf_bank_map::*;
pub use mrf_collector::*;
pub use mrf_crossbar::*;
pub use mrf_write_queue::*;
pub use shape::*;

use crate::entry::{Entry, entry};

/// Its blocks, leaves first.
pub const BLOCKS: &[Entry] = &[
    entry::<MrfBankMap>("mrf/mrf_bank_map", "bank and entry of a register", &[]),
    entry::<MrfWriteQueue>("mrf/mrf_write_queue", "result that waits for its bank", &[]),
    entry::<MrfAllocator>("mrf/mrf_allocator", "collectors for issue, age, dispatch", &[]),
    entry::<MrfCollector>("mrf/mrf_collector", "one operand collector", &[]),
    entry::<MrfArbiter>("mrf/mrf_arbiter", "bank arbitration", &[]),
    entry::<MrfBank>("mrf/mrf_bank", "one bank", &["ram_1rw", "ram_1r1w"]),
    entry::<MrfCrossbar>("mrf/mrf_crossbar", "banks to operand latches to dispatch", &[]),
    entry::<Mrf>("mrf/mrf", "banked main register file", &[]),
];
