//! Verilator models as Rust values.
//!
//! The central idea is the *record*: the block's declaration (`gpurf-blocks`) fixes the offset of every port, net and register in
//! a sequence of bytes. This crate generates the C++ that copies a whole record between Rust and Verilator's variables, or compares both, in one call for
//! many cycles. The record has the same layout on both sides of a lockstep, so a comparison is a comparison of bytes.
//!
//! * [`Toolchain`] finds Verilator and a C++ compiler, or reports how to install them.
//! * [`Request`] says what to build: a top module, its sources, parameters and options. [`Toolchain::build`] returns a [`Library`],
//!   from the cache if the same has been built before.
//! * [`Instance`] is one model: set inputs, take the edge, read compared signals. Instances are independent, also across threads.
//!
//! The ports and variables of the RTL are read from the header that Verilator generates in the same run, never assumed. A port that is missing,
//! superfluous or of another width is an error that names the port; a probe that does not exist is reported as absent and left out.
//!
//! The published crate with this name does not build against Verilator 5; this one replaces it.

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
pub use packages::{PACKAGE, names_package, packages};
pub use prefetch::prefetch;
pub use request::{MemoryRequest, Options, Request};
pub use simulator::Simulator;
pub use tool::tool;
pub use toolchain::Toolchain;
pub use wiring::{Net, Part, Wiring};
pub use words::Words;
