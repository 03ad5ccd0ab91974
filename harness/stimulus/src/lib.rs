//! What goes into a block, and whether it was enough.
//!
//! * A [`Driver`] makes the inputs of one block, at random within what the block's page allows. Its choices are weighted by named
//!   [`Knob`]s, which are rolled anew every few hundred cycles, so that a run has busy and idle stretches, crowded and spread-out ones.
//! * A [`Cover`] counts, from ports and probes alone, how often each situation came up that the block's page speaks of. A run that reaches
//!   one of them too rarely has not shown much, however long it was.
//! * [`directed`] has short sequences that aim at one rule each.
//!
//! Inputs never depend on the RTL. Where a block's rules tie inputs to its state (a collector takes an instruction only while it is free), the
//! driver runs a twin of its own to know the state.

mod control;
mod cover;
pub mod directed;
mod driver;
mod execute;
mod front;
mod issue;
mod memory;
mod mrf;
mod operands;
mod ram;

pub use cover::{Cover, Coverage};
pub use driver::{Driver, Knob, Knobs};

use gpurf_blocks::config::Config;
use gpurf_lockstep::Stimulus;

/// Makes random stimulus for a block.
type MakeStimulus = fn(&Config, u64) -> Box<dyn Stimulus + Send>;
/// Makes coverage counters for a block.
type MakeCoverage = fn(&Config) -> Coverage;

/// What is known of a block.
struct Entry {
    name: &'static str,
    knobs: &'static [Knob],
    stimulus: MakeStimulus,
    coverage: MakeCoverage,
}

const fn entry<D, C>(name: &'static str) -> Entry
where
    D: Driver,
    C: Cover<In = D::In>,
{
    Entry { name, knobs: D::KNOBS, stimulus: driver::boxed::<D>, coverage: Coverage::new::<C> }
}

/// Every block that can be stimulated.
const BLOCKS: &[Entry] = &[
    entry::<ram::Ram1rwDriver, ram::Ram1rwCover>("ram_1rw"),
    entry::<ram::Ram1r1wDriver, ram::Ram1r1wCover>("ram_1r1w"),
    entry::<mrf::bank_map::BankMapDriver, mrf::bank_map::BankMapCover>("mrf_bank_map"),
    entry::<mrf::write_queue::WriteQueueDriver, mrf::write_queue::WriteQueueCover>("mrf_write_queue"),
    entry::<mrf::allocator::AllocatorDriver, mrf::allocator::AllocatorCover>("mrf_allocator"),
    entry::<mrf::collector::CollectorDriver, mrf::collector::CollectorCover>("mrf_collector"),
    entry::<mrf::arbiter::ArbiterDriver, mrf::arbiter::ArbiterCover>("mrf_arbiter"),
    entry::<mrf::bank::BankDriver, mrf::bank::BankCover>("mrf_bank"),
    entry::<mrf::crossbar::CrossbarDriver, mrf::crossbar::CrossbarCover>("mrf_crossbar"),
    entry::<front::fetch::FetchDriver, front::fetch::FetchCover>("fetch"),
    entry::<front::decode::DecodeDriver, front::decode::DecodeCover>("decode"),
    entry::<front::instruction_buffer::InstructionBufferDriver, front::instruction_buffer::InstructionBufferCover>(
        "instruction_buffer",
    ),
    entry::<issue::warp_scheduler::WarpSchedulerDriver, issue::warp_scheduler::WarpSchedulerCover>("warp_scheduler"),
    entry::<issue::simt_stack::SimtStackDriver, issue::simt_stack::SimtStackCover>("simt_stack"),
    entry::<issue::issue_stage::IssueStageDriver, issue::issue_stage::IssueStageCover>("issue_stage"),
    entry::<memory::address_unit::AddressUnitDriver, memory::address_unit::AddressUnitCover>("address_unit"),
    entry::<memory::coalescer::CoalescerDriver, memory::coalescer::CoalescerCover>("coalescer"),
    entry::<memory::line_table::LineTableDriver, memory::line_table::LineTableCover>("line_table"),
    entry::<memory::shared_memory::SharedMemoryDriver, memory::shared_memory::SharedMemoryCover>("shared_memory"),
    entry::<memory::constant_memory::ConstantMemoryDriver, memory::constant_memory::ConstantMemoryCover>(
        "constant_memory",
    ),
    entry::<mrf::file::MrfDriver, mrf::file::MrfCover>("mrf"),
    entry::<execute::dispatcher::DispatcherDriver, execute::dispatcher::DispatcherCover>("dispatcher"),
    entry::<execute::alu::AluDriver, execute::alu::AluCover>("alu"),
    entry::<execute::result_queue::ResultQueueDriver, execute::result_queue::ResultQueueCover>("result_queue"),
    entry::<execute::writeback::WritebackDriver, execute::writeback::WritebackCover>("writeback"),
    entry::<execute::lane_crossbar::LaneCrossbarDriver, execute::lane_crossbar::LaneCrossbarCover>("lane_crossbar"),
    entry::<execute::special_registers::SpecialRegistersDriver, execute::special_registers::SpecialRegistersCover>(
        "special_registers",
    ),
    entry::<issue::scoreboard::ScoreboardDriver, issue::scoreboard::ScoreboardCover>("scoreboard"),
    entry::<issue::predicate_file::PredicateFileDriver, issue::predicate_file::PredicateFileCover>("predicate_file"),
    entry::<operands::operand_stage::OperandStageDriver, operands::operand_stage::OperandStageCover>("operand_stage"),
    entry::<control::barrier_unit::BarrierUnitDriver, control::barrier_unit::BarrierUnitCover>("barrier_unit"),
    entry::<control::block_launcher::BlockLauncherDriver, control::block_launcher::BlockLauncherCover>(
        "block_launcher",
    ),
    entry::<control::fault_unit::FaultUnitDriver, control::fault_unit::FaultUnitCover>("fault_unit"),
];

fn find(block: &str) -> &'static Entry {
    BLOCKS.iter().find(|e| e.name == block).unwrap_or_else(|| panic!("{block}: a block without stimulus"))
}

/// Random inputs for a block in a configuration, for ever.
///
/// # Panics
/// When the block has no stimulus: a mistake in this crate's list.
pub fn random(block: &str, config: &Config, seed: u64) -> Box<dyn Stimulus + Send> {
    (find(block).stimulus)(config, seed)
}

/// The knobs of a block.
///
/// # Panics
/// As [`random`].
pub fn knobs(block: &str) -> &'static [Knob] {
    find(block).knobs
}

/// Coverage counters of a block.
///
/// # Panics
/// As [`random`].
pub fn coverage(block: &str, config: &Config) -> Coverage {
    (find(block).coverage)(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpurf_blocks::registry::BLOCKS as ALL;

    #[test]
    fn every_block_has_stimulus() {
        for block in ALL {
            assert!(!knobs(block.name).is_empty(), "{}", block.name);
        }
    }
}
