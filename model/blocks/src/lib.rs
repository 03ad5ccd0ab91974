//! The golden reference: a Rust twin of every RTL block that holds state or makes a decision.
//!
//! Path and name of a module identify its twin: `rtl/mrf/mrf_bank.sv` and `mrf/mrf_bank.rs` have the same
//! parameters, the same ports by name and width, and the same behaviour in every clock cycle. Both are written from one page in
//! `docs/blocks`, not from each other: where two independent readings of a specification disagree, one of them is wrong.
//!
//! * [`Block`] is a synchronous machine whose outputs come in two phases, because blocks are composed and paths cross them
//!   within a cycle.
//! * [`ports!`] declares the ports of a block once. The declaration gives the typed structs that the twin works on, and the
//!   [`Field`] tables with which the harness checks the RTL's ports, moves data, compares, and writes reports and waveforms.
//! * [`packed!`] declares a packed struct of the RTL's package once, in the layout that it has there.
//! * [`Twin`] is the same machine with its types erased: bytes in, bytes out, and the tables that describe these bytes.
//! * Each folder lists its blocks once (`rfc_blocks!` and others): twins, stimulus and tests follow from that list, and [`registry`] has them all.
//!
//! This crate does not depend on the RTL's simulator or on the harness.

mod block;
pub mod cache;
pub mod config;
pub mod control;
pub mod design;
pub mod designs;
mod entry;
pub mod execute;
pub mod front;
pub mod instances;
pub mod instruction;
pub mod issue;
pub mod memory;
pub mod mrf;
pub mod operands;
mod packed;
mod ports;
pub mod power;
pub mod ram;
pub mod registry;
pub mod shape;
pub mod share;
pub mod sizes;
#[cfg(test)]
pub(crate) mod testing;
mod twin;
mod types;
pub mod unified;
pub mod write;

macro_rules! modules {
    ($($design:ident)+) => {
        $(pub mod $design;)+
    };
}

each_design!(modules);

pub use block::{Block, Memory, PackedMemory, Shape};
#[doc(hidden)]
pub use packed::{FieldValue, Store, flat, place};
pub use packed::{Layout, Packed, PackedField, extract, packed};
pub use ports::{Decode, Field, FieldType, Net, NoProbe, Ports, Shows, Wide, field, intern, low_bit, places};
#[doc(hidden)]
pub use ports::{present, with_part};
pub use twin::{Declaration, Role, Signal, Stepwise, Twin, ValidRange, erase, view, view_mut};
pub use types::{GROUP_LANES, LANES, LaneMask, OPERANDS, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData};
