//! Kernels on the SM: everything that surrounds it, and the engines that run launches of `gpurf_oracle::host` on its model, on its RTL, or on both in
//! lockstep.
//!
//! * [`GlobalMemory`] and [`Host`] stand outside the SM; [`Surroundings`] are both of them, an environment of `gpurf-lockstep`. Each side has its own.
//! * A launch becomes a [`Job`], or a [`Refusal`] that says what does not fit.
//! * [`ModelEngine`], [`RtlEngine`], [`LockstepEngine`] are the engines; the SM stays as it is from launch to launch. [`SampledEngine`] is the model, which runs
//!   long launches only in part.
//! * [`coverage`] counts what the SM's blocks meet in a run.
//! * [`measures`] are times of single results, which no event word counts.
//! * [`trace`] writes the way of every instruction through the SM.
//! * [`commits`] compares what warps commit with the oracle. It looks at compared nets only.
//!
//! `docs/machine.md` says what each of them does and why.

pub mod commits;
pub mod counts;
pub mod coverage;
mod cycle;
mod engines;
mod fault;
mod hang;
mod host;
mod job;
mod lost;
pub mod measures;
mod memory;
mod reference;
mod surroundings;
pub mod trace;
mod whereabouts;

pub use cycle::{Cycle, progress};
pub use engines::{
    Broken, EngineError, Foreseen, IDLE_LIMIT, Judged, LaunchError, LockstepEngine, Machine, ModelEngine, RtlEngine,
    SampledEngine, Settings, Statistics, Watch, request, verdict,
};
pub use fault::{MachineFault, Place};
pub use hang::Hang;
pub use host::{Ended, Host};
pub use job::{Job, LaunchDemand, Misfit, Refusal, demand, demands};
pub use memory::{GlobalMemory, MemoryFault, Nonsense, Outside};
pub use surroundings::{End, Surroundings};
