//! Verilator models as Rust values.
//!
//! The central idea is the *record*: the block's declaration (`gpurf-blocks`) fixes where every port, net and register stands in
//! a run of bytes, and this crate generates the C++ that moves a whole record between Rust and Verilator's variables, or compares the two, in one call for
//! many cycles. The record has the same layout on both sides of a lockstep, so that comparing is comparing bytes.
//!
//! * [`Toolchain`] finds Verilator and a C++ compiler, or says how to get them.
//! * [`Request`] says what to build: a top module, its sources, parameters and options. [`Toolchain::build`] gives a [`Library`],
//!   from the cache when the same has been built before.
//! * [`Instance`] is one model: inputs in, edge, compared signals out. Instances are independent, also across threads.
//!
//! What the RTL has is read from the header that Verilator generates in that very run, never assumed: a port that is missing,
//! superfluous or of another width is an error that names it; a probe that does not exist is counted and left out.
//!
//! The published crate of this name does not build against Verilator 5; this one takes its place.

mod cache;
mod compile;
mod cxxrtl;
mod elaborated;
mod equal;
mod error;
mod facts;
mod header;
mod instance;
mod names;
mod packages;
mod prefetch;
mod registers;
mod request;
mod settle_once;
mod shim;
mod simulator;
mod tool;
mod toolchain;
mod units;
mod wiring;
mod words;

pub use compile::{absolute, included};
pub use error::{Error, PortError, Result};
pub use instance::{Compared, Followed, Instance, Library, RtlFailure, StateElement};
pub use packages::{PACKAGE, packages};
pub use prefetch::prefetch;
pub use request::{MemoryRequest, Options, Request};
pub use simulator::Simulator;
pub use tool::tool;
pub use toolchain::Toolchain;
pub use wiring::{Net, Part, Wiring};
pub use words::Words;
