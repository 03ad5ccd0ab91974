//! Counts of bank stealing: what became of reads and results where idle banks are stolen.

use super::{Count, Part};

/// The part of a run's statistics.
pub(super) fn part(run: &Count<'_>) -> Part {
    let of = |name: &str| run.of(name);
    let (reads, steals, parked) = (of("read"), of("steal"), of("write_parked"));
    let results = run.sum(&["write_normal", "write_forced", "write_parked"]);
    let hints = run.sum(&["hint", "hint_ignored"]);
    let mut part = Part::new("steal");
    part.counts(&[
        // Read before their instruction issued; times that a port's candidate was stolen for; those that no instruction has used.
        ("stolen", of("stolen"), "operands stolen", reads),
        ("steals", steals, "warps issued by theft", 0),
        ("wasted", of("wasted"), "thefts without effect", steals),
        ("write_normal", of("write_normal"), "results written without stealing", results),
        // Written although others want the bank, since there was no place to park them; those without all lanes are never parked, and those
        // that are read next only without `steal.unread`.
        ("write_forced", of("write_forced"), "results forced", results),
        ("write_partial", of("write_partial"), "results forced: not all lanes", results),
        ("write_next", of("write_next"), "results forced: read next", results),
        ("write_parked", parked, "results parked", results),
        // Fetched when their bank and a bus were free, or because a read, a write or a new value of the free entry waited.
        ("return_next", of("return_next"), "parked values returned in the next cycle", parked),
        ("return_later", of("return_later"), "parked values returned later", parked),
        ("return_forced", of("return_forced"), "parked values forced back", parked),
        // With `steal.drop`, because another result has overwritten their register.
        ("dropped", of("dropped"), "parked values dropped", parked),
        // With `steal.redirect`.
        ("redirected", of("redirected"), "operands read in their parking place", reads),
        // Cycles. In the second case a forced fetch or a landing value had their bank.
        ("wait_parked", of("wait_parked"), "reads waiting: for a parked value", reads),
        ("wait_return", of("wait_return"), "reads waiting: for a return", reads),
        // The compiler's.
        ("hints", of("hint"), "hints taken", hints),
    ]);
    part.member("hints_ignored", of("hint_ignored"));
    let averages = [
        ("parked", run.average("parked"), "parked values, on average"),
        // Banks with a free entry that is empty.
        ("places", run.average("places"), "places to park in, on average"),
    ];
    part.averages(2, &averages);
    part
}
