//! Energies other than the papers': a file of pJ by event (`docs/energy.md`, "Other energies"), and the energy of a run by event.
//!
//! The papers price accesses and wires of register files, and leave out the energy of the other blocks. A file may replace their numbers and add
//! energies of blocks. Both parts of a run's energy are kept separate: the first can be compared with the papers, the second cannot.

mod by_event;
mod file;
mod machine;

pub use by_event::{ByEvent, EventEnergy, Group, by_event};
pub use file::{BlockEnergies, EnergyFile};
pub use machine::{known_events, modules};

#[cfg(test)]
mod tests;
