//! The register file without bank conflicts, which the report on bank stealing uses as a bound.

use crate::Definition;
use crate::energy::Prices;

/// It has no report of its own.
pub const REPORTS: &[Definition] = &[];

/// All of its accesses are to banks.
pub const PRICES: Prices = Prices::BANKS;
