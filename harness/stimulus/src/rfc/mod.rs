//! Drivers and coverage of the register file cache.

pub(crate) mod cache;
mod core;
pub(crate) mod data;
pub(crate) mod evictions;
pub(crate) mod fills;
pub(crate) mod lrf;
pub(crate) mod operands;
pub(crate) mod results;
pub(crate) mod tags;

pub(crate) use core::{Core, CoreKnobs, Done, Instruction};
