//! The memory pipeline.

pub(crate) mod address_unit;
pub(crate) mod coalescer;
pub(crate) mod constant_memory;
mod lanes;
pub(crate) mod line_table;
pub(crate) mod shared_memory;
