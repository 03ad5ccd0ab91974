//! The register file without conflicts: the report on bank stealing has it as a bound.

use crate::Definition;

/// It has no report of its own.
pub const REPORTS: &[Definition] = &[];
