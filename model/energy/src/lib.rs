//! The papers' energy models: from counted accesses to picojoules, and from a share of register-file energy to watts of a chip.
//!
//! The central idea: energy is a function of events and of nothing else. Model and RTL count the same events, so a comparison of energies is a
//! comparison of counts; no activity of wires or cells is simulated. As in the papers, each kind of access has one energy, whatever the data.
//!
//! * [`Traffic`] counts how often each level was accessed, and for which units; [`Energies`] are the constants of a machine; together they give
//!   [`Energy`].
//! * [`RFC_PAPER`] and [`THESIS`] are the published tables. They differ where both have an entry, and are kept apart.
//! * [`hybrid`] has the tables of the hybrid paper, which counts leakage and area too: power, from counts and time.
//! * [`leakage`] is the leakage of a register file whose registers are ON, in SLEEP or OFF (sharing thesis), relative to that of a file whose
//!   registers are all ON.
//! * [`storage`] is an SM with registers, scratchpad memory and data cache, separate or in one set of banks (hierarchy thesis, chapter 7), with
//!   leakage and DRAM.
//! * [`Chip`] relates a saving to a chip; [`Encoding`] is the cost of bits in the instruction.
//!
//! Tag checks, operand collectors and multiplexers cost nothing here: the papers give no numbers for them. `docs/energy.md` has sources and units.

mod chip;
mod encoding;
mod energies;
pub mod hybrid;
pub mod leakage;
pub mod storage;
mod tables;
mod traffic;

pub use chip::{Chip, Saving};
pub use encoding::Encoding;
pub use energies::{Distance, Energies, Energy, Part};
pub use hybrid::{KILOBYTES as LEAKING_KILOBYTES, LeakingEnergy, sram_energy};
pub use tables::{Access, BANK_AREA, LRF, MRF, Point, RFC_PAPER, THESIS, Table, UpperRow, WIRE, wire_energy};
pub use traffic::{Level, PrivateLevel, Traffic};
