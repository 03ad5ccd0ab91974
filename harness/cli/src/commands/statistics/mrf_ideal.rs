//! Counts of the register file without conflicts.

use serde::Serialize;

use super::{Count, Part};

/// How many ports it would have used.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct IdealStats {
    /// Registers read in a cycle, on average.
    pub reads: f64,
    /// Results written in a cycle, on average.
    pub writes: f64,
}

/// The part of a run's statistics.
pub(super) fn part(count: &Count<'_>) -> Part {
    let stats = IdealStats { reads: count.average("read"), writes: count.average("write") };
    Part::new("mrf_ideal", &stats, |row| {
        row("registers read in a cycle, on average", format!("{:.2}", stats.reads), String::new());
        row("results written in a cycle, on average", format!("{:.2}", stats.writes), String::new());
    })
}
