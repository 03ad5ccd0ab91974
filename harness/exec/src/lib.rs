//! Runs unchanged CUDA applications: a CUDA runtime whose launches run on the engines of gpurf.
//!
//! An application that was linked with `nvcc -cudart shared` loads the library `cudart/cudart.c` in place of NVIDIA's ([`Library`]). Each call
//! becomes a request ([`calls`]) to a [`Device`], which has memory, modules, streams and events, compiles kernels at their first launch, and runs
//! them on a [`Runner`]: the oracle, the SM's model, its RTL, or both in lockstep. A [`Recorder`] writes each launch as a manifest. `docs/exec.md`
//! describes all of this.

pub mod calls;
mod device;
mod errors;
pub mod fatbin;
mod library;
mod modules;
mod properties;
mod record;
mod refused;
mod runner;
mod server;

pub use device::{Device, KernelCount, Log, Setup};
pub use errors::CudaError;
pub use library::{Library, LibraryError};
pub use record::Recorder;
pub use runner::{Functional, OnMachine, Runner, Sampled, Stopped};
pub use server::{ServeError, Served, serve};
