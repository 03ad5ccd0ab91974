//! Counts of the register file without conflicts: the number of ports that it would need.

use super::{Count, Part};

/// The part of a run's statistics.
pub(super) fn part(run: &Count<'_>) -> Part {
    let mut part = Part::new("mrf_ideal");
    let averages = [
        ("reads", run.average("read"), "registers read in a cycle, on average"),
        ("writes", run.average("write"), "results written in a cycle, on average"),
    ];
    part.averages(2, &averages);
    part
}
