//! Counts of bank stealing: outcomes of reads and results when idle banks are stolen.

use super::{Count, Part};

/// The part of a run's statistics.
pub(super) fn part(run: &Count<'_>) -> Part {
    let of = |name: &str| run.of(name);
    let (reads, steals, parked) = (of("read"), of("steal"), of("write_parked"));
    let results = run.sum(&["write_normal", "write_forced", "write_parked"]);
    let hints = run.sum(&["hint", "hint_ignored"]);
    let mut part = Part::new("steal");
    part.counts(&[
        // Operands read before their instruction issued; instructions that a port stole for; those of these steals that no instruction used.
        ("stolen", of("stolen"), "operands stolen", reads),
        ("steals", steals, "warps issued by theft", 0),
        ("wasted", of("wasted"), "thefts without effect", steals),
        ("write_normal", of("write_normal"), "results written without stealing", results),
        // Written although other accesses want the bank, because there was no place to park them. Results without all lanes are never parked; results
        // that are read next are parked only with `steal.unread`.
        ("write_forced", of("write_forced"), "results forced", results),
        ("write_partial", of("write_partial"), "results forced: not all lanes", results),
        ("write_next", of("write_next"), "results forced: read next", results),
        ("write_parked", parked, "results parked", results),
        // Fetched because their bank and a bus were free, or forced by a waiting read, a waiting write or a new value of the free entry.
        ("return_next", of("return_next"), "parked values returned in the next cycle", parked),
        ("return_later", of("return_later"), "parked values returned later", parked),
        ("return_forced", of("return_forced"), "parked values forced back", parked),
        // With `steal.drop`, dropped because another result has overwritten their register.
        ("dropped", of("dropped"), "parked values dropped", parked),
        // Only with `steal.redirect`.
        ("redirected", of("redirected"), "operands read in their parking place", reads),
        // In cycles. In the second case, a forced fetch or a landing value occupied their bank.
        ("wait_parked", of("wait_parked"), "reads waiting: for a parked value", reads),
        ("wait_return", of("wait_return"), "reads waiting: for a return", reads),
        // Hints of the compiler.
        ("hints", of("hint"), "hints taken", hints),
    ]);
    part.member("hints_ignored", of("hint_ignored"));
    let averages = [
        ("parked", run.average("parked"), "parked values, on average"),
        // Banks with a free entry that holds no value.
        ("places", run.average("places"), "places to park in, on average"),
    ];
    part.averages(2, &averages);
    part
}
