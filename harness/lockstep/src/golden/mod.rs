//! What a golden stores for each cycle of a model: a running digest of all that a lockstep compares, and the events.
//!
//! It is placed beside the comparison: it follows the same rule (a payload counts while it is valid), in every cycle.

mod digest;
mod trace;

pub use digest::{of_bytes, signals};
pub use trace::{EventChange, Recorder, Trace};
