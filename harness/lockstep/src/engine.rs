//! The two sides of a block, how long they run, and how a run ends.

use gpurf_blocks::Twin;
use verilated::{Instance, RtlFailure};

use crate::blame::Blame;
use crate::{Capture, Comparator, Difference, Events, MemoryDifference, Spreads};

/// How long to run.
#[derive(Clone, Copy, Debug)]
pub struct RunPlan {
    /// Fills memories and the state that reset does not set.
    pub seed: u64,
    /// Cycles since reset to compare at most; a stimulus or an environment may end earlier.
    pub cycles: u64,
    /// Compare memories whole every so many cycles, besides at the end.
    pub memory_every: u64,
    /// When to give up ([`Lockstep::run_reactive`] only).
    pub idle: Option<Idle>,
    /// Threads to use: with one, model and RTL take turns; with two or more the model runs ahead on a thread of its own. Nothing but time depends on it.
    pub threads: usize,
}

/// How long a run may go on without progress.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// The run ends with the last of so many cycles in a row without progress.
    pub limit: u64,
    /// Whether a cycle with these inputs and this compared part makes progress.
    pub progress: fn(&[u8], &[u8]) -> bool,
}

/// One of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The model.
    Model,
    /// The RTL.
    Rtl,
}

/// A difference between the two sides.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// First cycle in which they differ (for memories: in which it was noticed).
    pub cycle: u64,
    /// Signals, in the order of declaration (inputs first: they differ only where environments do not do the same); empty when only
    /// memories differ, or one side has ended.
    pub differences: Vec<Difference>,
    /// First differing word of each memory that differs; looked at only when signals agree.
    pub memories: Vec<MemoryDifference>,
    /// The side whose environment ended the run in this cycle, while the other's goes on.
    pub ended: Option<Side>,
    /// The block at fault.
    pub blame: Blame,
}

/// Why a run ended early.
#[derive(Clone, Debug)]
pub enum Cause {
    /// The two sides differ.
    Diverged(Divergence),
    /// The RTL failed an assertion or stopped.
    Assertion {
        /// In this cycle.
        cycle: u64,
        /// What it said.
        failure: RtlFailure,
    },
    /// The model panicked: a defect of gpurf.
    Panicked {
        /// In this cycle.
        cycle: u64,
        /// The panic's message.
        message: String,
    },
    /// No progress for as many cycles as the plan allows. The two sides are equal.
    Hung {
        /// The last of these cycles.
        cycle: u64,
        /// The first of them.
        since: u64,
    },
    /// Asked to stop.
    Interrupted,
}

impl Cause {
    /// The cycle of the failure. `None`: the user has ended the run.
    pub fn cycle(&self) -> Option<u64> {
        match self {
            Self::Diverged(divergence) => Some(divergence.cycle),
            Self::Assertion { cycle, .. } | Self::Panicked { cycle, .. } | Self::Hung { cycle, .. } => Some(*cycle),
            Self::Interrupted => None,
        }
    }
}

/// How a run ended.
pub struct RunOutcome {
    /// Cycles compared and found equal, since reset.
    pub cycles: u64,
    /// `None`: equal to the end.
    pub cause: Option<Cause>,
    /// The cycles around a failure.
    pub capture: Option<Capture>,
    /// The model's events over these cycles.
    pub events: Events,
    /// The model's values of fields whose values are counted one by one.
    pub spreads: Spreads,
    /// Cycles in which bytes differed and the rules were asked (a measure of speed, not of correctness).
    pub slow_compares: u64,
}

/// The two sides of one block.
pub struct Lockstep {
    /// The model.
    pub twin: Box<dyn Twin>,
    /// The RTL.
    pub rtl: Instance,
    /// The rules.
    pub comparator: Comparator,
}

impl Lockstep {
    /// Both sides, before anything has run.
    pub fn new(twin: Box<dyn Twin>, rtl: Instance) -> Self {
        let comparator = Comparator::new(twin.declaration(), Some(rtl.library()));
        Self { twin, rtl, comparator }
    }
}
