//! The register file without conflicts: its accesses are those of the main register file.

pub use super::mrf::Replay;
