//! Assigns rows to the instructions of a warp, so that those of one row do not overlap.

use std::collections::BTreeMap;

use super::flight::Flight;

/// The rows of each warp slot.
#[derive(Default)]
pub struct Lanes {
    /// For each slot, the cycle from which on each row is free.
    free: BTreeMap<u8, Vec<u64>>,
}

impl Lanes {
    /// The row of an instruction that ends before cycle `end`, and whether the row is new. Instructions come in the order of their ends.
    pub fn place(&mut self, flight: &Flight, end: u64) -> (usize, bool) {
        let from = flight.steps.first().map_or(end, |step| step.from);
        let rows = self.free.entry(flight.slot).or_default();
        match rows.iter().position(|&free| free <= from) {
            Some(row) => {
                rows[row] = end;
                (row, false)
            }
            None => {
                rows.push(end);
                (rows.len() - 1, true)
            }
        }
    }
}
