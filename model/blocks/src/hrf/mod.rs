//! The hybrid register file: `docs/blocks/hrf.md`.

pub(crate) mod config;
#[expect(clippy::module_inception, reason = "a twin has the path of its RTL module")]
mod hrf;
mod hrf_bank;
mod hrf_buffer;
mod hrf_drain;
mod hrf_loads;
mod hrf_operands;
mod hrf_power;
mod hrf_rcm;
mod hrf_reads;
mod hrf_results;
mod shape;

#[cfg(test)]
mod phases;

pub use hrf::*;
pub use hrf_bank::*;
pub use hrf_buffer::*;
pub use hrf_drain::*;
pub use hrf_loads::*;
pub use hrf_operands::*;
pub use hrf_power::*;
pub use hrf_rcm::*;
pub use hrf_reads::*;
pub use hrf_results::*;
pub use shape::*;

use crate::entry::{Entry, entry};

/// Its blocks, leaves first.
pub const BLOCKS: &[Entry] = &[
    entry::<HrfBank>("hrf/hrf_bank", "bank of STT-RAM", &["ram_1rw"]),
    entry::<HrfBuffer>("hrf/hrf_buffer", "write buffer", &["ram_1r1w"]),
    entry::<HrfRcm>("hrf/hrf_rcm", "which registers are in the buffer", &[]),
    entry::<HrfDrain>("hrf/hrf_drain", "buffer to bank", &[]),
    entry::<HrfLoads>("hrf/hrf_loads", "results for warps that are not active", &[]),
    entry::<HrfPower>("hrf/hrf_power", "power gating of a buffer", &[]),
    entry::<HrfResults>("hrf/hrf_results", "results to buffer, queue or bank", &[]),
    entry::<HrfReads>("hrf/hrf_reads", "which operands are read", &[]),
    entry::<HrfOperands>("hrf/hrf_operands", "lanes from buffer or bank, operand latches", &[]),
    entry::<Hrf>("hrf/hrf", "hybrid register file", &[]),
];
