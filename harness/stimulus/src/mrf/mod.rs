//! The blocks of the main register file.

pub(crate) mod allocator;
pub(crate) mod arbiter;
pub(crate) mod bank;
pub(crate) mod bank_map;
pub(crate) mod collector;
pub(crate) mod crossbar;
pub(crate) mod file;
pub(crate) mod write_queue;
