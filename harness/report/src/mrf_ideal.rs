//! The register file without conflicts: the report on bank stealing has it as a bound.

use crate::Definition;
use crate::energy::Prices;

/// It has no report of its own.
pub const REPORTS: &[Definition] = &[];

/// Its accesses are those of banks.
pub const PRICES: Prices = Prices::BANKS;
