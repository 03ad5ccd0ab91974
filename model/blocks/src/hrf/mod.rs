//! The hybrid register file: `docs/blocks/hrf.md`.

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
