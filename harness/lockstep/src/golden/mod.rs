//! What a golden keeps of each cycle of a model: a running digest of all that a lockstep compares, and the events.
//!
//! It stands beside the comparison, as it follows the same rule (a payload counts while it is valid) and runs in every cycle.

mod digest;
mod trace;

pub use digest::{of_bytes, signals};
pub use trace::{EventChange, Recorder, Trace};
