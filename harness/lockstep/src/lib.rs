//! RTL and model, clock by clock.
//!
//! In each cycle both sides get the same inputs, settle, are sampled, compared and clocked. "Compared" means every
//! output and every probe that the block's declaration names, bit for bit; the one exception is a payload whose valid is low.
//!
//! What is compared, how it travels and what is reported are kept apart:
//! * `verilated` compares the RTL, where it stands, with the model's record, and stops in front of the edge of a cycle in which bytes differ.
//! * [`Comparator`] knows the rules: which signals differ, when bytes do.
//! * [`Lockstep`] runs the two sides, keeps the flight recorder, and gives a [`RunOutcome`]. Inputs come from a [`Stimulus`], or from an [`Environment`] for
//!   each side where they follow from outputs.
//! * [`Capture`] has the cycles around a failure: those that the flight recorder keeps, and a longer history ([`Trail::with_history`]), which is run again.
//! * [`Verdict`] is the result of a run in one word, for every command; [`Verdict::of`] gives it for a run that ended early.
//! * [`blame`] finds the block at fault in the first differing cycle; [`report`] puts it in words; [`wave`] writes both sides side by side.
//! * [`golden`] keeps in short what the model did in each cycle.
//! * [`shrink()`] looks for a shorter run that still fails; [`Reproducer`] is the file it is kept in.
//!
//! The model goes ahead, in turns with the RTL or on a thread of its own ([`RunPlan::threads`]), the RTL follows and is compared. Both sides run on alone after a difference, so that the waveform shows what came of it.

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
pub use shrink::{Shrunk, shrink};
pub use stimulus::{Sequence, Stimulus};
pub use trail::Trail;
pub use verdict::Verdict;
pub use words::WordCounts;
