//! The blocks of the main register file.

pub(crate) mod allocator;
pub(crate) mod arbiter;
pub(crate) mod bank;
pub(crate) mod bank_map;
pub(crate) mod collector;
pub(crate) mod crossbar;
pub(crate) mod file;
pub(crate) mod write_queue;

/// Stimulus of its blocks.
pub(crate) const BLOCKS: &[crate::Entry] = &[
    crate::entry::<bank_map::BankMapDriver, bank_map::BankMapCover>("mrf_bank_map"),
    crate::entry::<write_queue::WriteQueueDriver, write_queue::WriteQueueCover>("mrf_write_queue"),
    crate::entry::<allocator::AllocatorDriver, allocator::AllocatorCover>("mrf_allocator"),
    crate::entry::<collector::CollectorDriver, collector::CollectorCover>("mrf_collector"),
    crate::entry::<arbiter::ArbiterDriver, arbiter::ArbiterCover>("mrf_arbiter"),
    crate::entry::<bank::BankDriver, bank::BankCover>("mrf_bank"),
    crate::entry::<crossbar::CrossbarDriver, crossbar::CrossbarCover>("mrf_crossbar"),
    crate::Entry { directed: crate::directed::MRF, ..crate::entry::<file::MrfDriver, file::MrfCover>("mrf") },
];
