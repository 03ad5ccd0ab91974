//! Drivers and coverage of the hybrid register file.
//!
//! The straps of its parts are knobs: each stretch of a run has other latencies, another threshold. Those of the whole are the configuration's.

pub(crate) mod bank;
pub(crate) mod buffer;
mod core;
pub(crate) mod drain;
pub(crate) mod file;
pub(crate) mod loads;
pub(crate) mod operands;
pub(crate) mod power;
pub(crate) mod rcm;
pub(crate) mod reads;
pub(crate) mod results;

pub(crate) use core::{Core, CoreKnobs, Done, Instruction};

use crate::Unreached;

/// Why the lowest bit of a slot's warp is the slot's number.
const PARITY: &str = "a slot's warps are of its parity";

/// The bits of the slots' warps that follow from it.
fn parities() -> Vec<Unreached> {
    [0, 1].map(|slot| Unreached::bits("slot_warp_i", 0..=0, PARITY).of(slot..=slot)).into()
}

/// It has no rules for inputs of the operand stage.
pub(crate) const STAGE: Option<crate::operands::StageDesign> = None;

/// Stimulus of its blocks.
pub(crate) const BLOCKS: &[crate::Entry] = &[
    crate::entry::<file::HrfDriver, file::HrfCover>("hrf"),
    crate::entry::<bank::BankDriver, bank::BankCover>("hrf_bank"),
    crate::entry::<buffer::BufferDriver, buffer::BufferCover>("hrf_buffer"),
    crate::entry::<rcm::RcmDriver, rcm::RcmCover>("hrf_rcm"),
    crate::entry::<drain::DrainDriver, drain::DrainCover>("hrf_drain"),
    crate::entry::<loads::LoadsDriver, loads::LoadsCover>("hrf_loads"),
    crate::entry::<power::PowerDriver, power::PowerCover>("hrf_power"),
    crate::entry::<results::ResultsDriver, results::ResultsCover>("hrf_results"),
    crate::entry::<reads::ReadsDriver, reads::ReadsCover>("hrf_reads"),
    crate::entry::<operands::OperandsDriver, operands::OperandsCover>("hrf_operands"),
];
