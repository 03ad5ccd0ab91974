//! Kernels on the SM: its surroundings, and the engines that run launches of `gpurf_oracle::host` on its model, on its RTL, or on both in
//! lockstep.
//!
//! * [`GlobalMemory`] and [`Host`] are outside the SM; [`Surroundings`] combine both into an environment of `gpurf-lockstep`. Each side has its own.
//! * A launch becomes a [`Job`], or a [`Refusal`] that reports what does not fit.
//! * [`ModelEngine`], [`RtlEngine`], [`LockstepEngine`] are the engines; the SM keeps its state between launches. [`SampledEngine`] is the model, which runs
//!   only a part of long launches.
//! * [`coverage`] counts the situations that the SM's blocks meet in a run.
//! * [`measures`] are times of single results, which event words do not count.
//! * [`trace`] writes the path of every instruction through the SM.
//! * [`commits`] compares the commits of warps with those of the oracle. It reads only compared nets.
//!
//! `docs/machine.md` describes each of them, with the reasons.

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
