//! The two sides of a block, the length of a run, and the ways in which a run ends.

use gpurf_blocks::Twin;
use verilated::{Instance, RtlFailure};

use crate::blame::Blame;
use crate::{Capture, Comparator, Difference, Events, MemoryDifference, Spreads};

/// How long to run.
#[derive(Clone, Copy, Debug)]
pub struct RunPlan {
    /// Seed for the contents of memories and for the state that reset does not set.
    pub seed: u64,
    /// Maximum number of cycles to compare, counted from reset; a stimulus or an environment may end the run earlier.
    pub cycles: u64,
    /// Memories are compared whole after every this many cycles, and at the end.
    pub memory_every: u64,
    /// When a run without progress ends ([`Lockstep::run_reactive`] only).
    pub idle: Option<Idle>,
    /// Number of threads: with one, model and RTL take turns; with two or more, the model runs ahead on its own thread. Results do not depend on it.
    pub threads: usize,
}

/// The limit of a run without progress.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// The run ends after this many consecutive cycles without progress.
    pub limit: u64,
    /// Whether a cycle with these inputs (first argument) and this compared part (second) makes progress.
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
    /// First cycle in which they differ; for memories, the cycle in which the difference was noticed.
    pub cycle: u64,
    /// Differing signals, in the order of declaration (inputs first: they differ only if the environments do). Empty if only
    /// memories differ, or if one side has ended.
    pub differences: Vec<Difference>,
    /// First differing word of each differing memory; memories are compared only if all signals agree.
    pub memories: Vec<MemoryDifference>,
    /// The side whose environment ended the run in this cycle, while the environment of the other side continued.
    pub ended: Option<Side>,
    /// The block at fault.
    pub blame: Blame,
}

/// Why a run ended early.
#[derive(Clone, Debug)]
pub enum Cause {
    /// The two sides differ.
    Diverged(Divergence),
    /// The RTL failed an assertion or stopped the simulation.
    Assertion {
        /// The cycle.
        cycle: u64,
        /// The message of the RTL.
        failure: RtlFailure,
    },
    /// The model panicked: a defect of gpurf.
    Panicked {
        /// The cycle.
        cycle: u64,
        /// The panic's message.
        message: String,
    },
    /// No progress for as many cycles as the plan allows. The two sides are equal.
    Hung {
        /// The last cycle without progress.
        cycle: u64,
        /// The first cycle without progress.
        since: u64,
    },
    /// The user stopped the run.
    Interrupted,
}

impl Cause {
    /// The cycle of the failure. `None`: the user stopped the run.
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
    /// Why the run ended early. `None`: both sides were equal to the end.
    pub cause: Option<Cause>,
    /// The cycles around a failure.
    pub capture: Option<Capture>,
    /// The model's events over these cycles.
    pub events: Events,
    /// How often each value occurred, for those event fields of the model whose values are counted separately.
    pub spreads: Spreads,
    /// Cycles in which bytes differed, so that the rules had to decide (a measure of speed, not of correctness).
    pub slow_compares: u64,
}

/// The two sides of one block.
pub struct Lockstep {
    /// The model.
    pub twin: Box<dyn Twin>,
    /// The RTL.
    pub rtl: Instance,
    /// The rules of comparison.
    pub comparator: Comparator,
}

impl Lockstep {
    /// Makes a lockstep of two sides that have not run yet.
    pub fn new(twin: Box<dyn Twin>, rtl: Instance) -> Self {
        let comparator = Comparator::new(twin.declaration(), Some(rtl.library()));
        Self { twin, rtl, comparator }
    }
}
