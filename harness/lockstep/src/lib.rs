//! Lockstep of RTL and model: both are compared in every clock cycle.
//!
//! In each cycle both sides get the same inputs, settle, are sampled, compared and clocked. "Compared" means every
//! output and every probe that the block's declaration names, bit for bit; the one exception is a payload whose valid is low.
//!
//! Comparison, transport of records and reporting are separate:
//! * `verilated` compares the RTL's variables in place with the model's record, and stops before the edge of a cycle in which bytes differ.
//! * [`Comparator`] has the rules: it finds the signals that differ when bytes do.
//! * [`Lockstep`] runs the two sides, keeps the flight recorder, and returns a [`RunOutcome`]. Inputs come from a [`Stimulus`], or from an [`Environment`] for
//!   each side if the inputs depend on outputs.
//! * [`Capture`] has the cycles around a failure: those of the flight recorder, and a longer history ([`Trail::with_history`]), which is run again.
//! * [`Verdict`] is the result of a run in one word, for every command; [`Verdict::of`] gives it for a run that ended early.
//! * [`blame`] finds the block at fault in the first differing cycle; [`report`] describes the failure as text; [`wave`] writes both sides side by side.
//! * [`golden`] stores in compact form what the model did in each cycle.
//! * [`shrink()`] looks for a shorter run that still fails; [`Reproducer`] is the file in which this run is stored.
//!
//! The model runs ahead, in turns with the RTL or on its own thread ([`RunPlan::threads`]); the RTL follows and is compared. Both sides run on uncompared after a difference, so the waveform shows its consequences.

mod ahead;
mod behind;
pub mod blame;
mod capture;
mod compare;
mod engine;
mod environment;
mod events;
mod failure;
pub mod golden;
mod history;
mod lines;
mod memory;
mod model;
pub mod registers;
mod replay;
pub mod report;
mod rng;
mod run;
mod shell;
mod shrink;
mod stimulus;
mod trail;
mod verdict;
mod view;
mod watch;
pub mod wave;
mod words;

pub use capture::{Capture, Records};
pub use compare::{Comparator, Difference};
pub use engine::{Cause, Divergence, Idle, Lockstep, RunOutcome, RunPlan, Side};
pub use environment::{Environment, LostWord};
pub use events::{EventReader, EventTotals, Events, Spreads};
pub use failure::{FailureContext, WaveFolder, write_failure, write_report};
pub use history::{HISTORY, HistoryTooLong, check_history};
pub use memory::{MemoryDifference, fill_memories, fill_twin, lose_in_twin};
pub use replay::{Reproducer, ReproducerError};
pub use rng::Rng;
pub use run::RESET_CYCLES;
pub use shell::quoted;
pub use shrink::{Shrunk, shrink};
pub use stimulus::{Sequence, Stimulus};
pub use trail::Trail;
pub use verdict::Verdict;
pub use words::WordCounts;
