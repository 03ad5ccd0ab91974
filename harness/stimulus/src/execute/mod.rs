//! Units and result buses.

pub(crate) mod alu;
pub(crate) mod dispatcher;
pub(crate) mod fp_unit;
pub(crate) mod lane_crossbar;
pub(crate) mod result_queue;
pub(crate) mod sfu;
pub(crate) mod special_registers;
pub(crate) mod writeback;

use gpurf_blocks::instruction::Instruction;

use crate::Unreached;

/// The unit in an instruction's roles.
fn own_unit() -> Unreached {
    let why = "only instructions for this unit come here";
    Unreached::field::<Instruction>("instruction_i", "roles.unit", 0..=2, why)
}

/// Stimulus of its blocks.
pub(crate) const BLOCKS: &[crate::Entry] = &[
    crate::entry::<dispatcher::DispatcherDriver, dispatcher::DispatcherCover>("dispatcher"),
    crate::entry::<alu::AluDriver, alu::AluCover>("alu"),
    crate::entry::<fp_unit::FpUnitDriver, fp_unit::FpUnitCover>("fp_unit"),
    crate::entry::<sfu::SfuDriver, sfu::SfuCover>("sfu"),
    crate::entry::<result_queue::ResultQueueDriver, result_queue::ResultQueueCover>("result_queue"),
    crate::entry::<writeback::WritebackDriver, writeback::WritebackCover>("writeback"),
    crate::entry::<lane_crossbar::LaneCrossbarDriver, lane_crossbar::LaneCrossbarCover>("lane_crossbar"),
    crate::entry::<special_registers::SpecialRegistersDriver, special_registers::SpecialRegistersCover>(
        "special_registers",
    ),
];
