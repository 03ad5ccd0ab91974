//! The memory pipeline.

pub(crate) mod address_unit;
pub(crate) mod coalescer;
pub(crate) mod constant_memory;
mod lanes;
pub(crate) mod line_table;
pub(crate) mod shared_memory;

/// Stimulus of its blocks.
pub(crate) const BLOCKS: &[crate::Entry] = &[
    crate::entry::<address_unit::AddressUnitDriver, address_unit::AddressUnitCover>("address_unit"),
    crate::entry::<coalescer::CoalescerDriver, coalescer::CoalescerCover>("coalescer"),
    crate::entry::<line_table::LineTableDriver, line_table::LineTableCover>("line_table"),
    crate::entry::<shared_memory::SharedMemoryDriver, shared_memory::SharedMemoryCover>("shared_memory"),
    crate::entry::<constant_memory::ConstantMemoryDriver, constant_memory::ConstantMemoryCover>("constant_memory"),
];
