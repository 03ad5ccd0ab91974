//! The banked main register file: `docs/blocks/mrf.md`.

pub mod bits;
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
pub(crate) mod phases;
mod shape;
pub(crate) mod slots;

pub use mrf::*;
pub use mrf_allocator::*;
pub use mrf_arbiter::*;
pub use mrf_bank::*;
pub use mrf_bank_map::*;
pub use mrf_collector::*;
pub use mrf_crossbar::*;
pub use mrf_write_queue::*;
pub use shape::*;
