//! Counts of bank stealing.

use serde::Serialize;

use super::{Count, Part, share};
use crate::output::grouped;

/// What became of reads and results where idle banks are stolen.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StealStats {
    /// Operands read before their instruction issued.
    pub stolen: u64,
    /// Times that a port's candidate was stolen for.
    pub steals: u64,
    /// Those of them that nobody has used.
    pub wasted: u64,
    /// Results written into their own bank, opposed by nobody.
    pub write_normal: u64,
    /// Written although others want the bank, since there was no place to park them.
    pub write_forced: u64,
    /// Of these those that do not have all lanes, and are never parked.
    pub write_partial: u64,
    /// Results parked.
    pub write_parked: u64,
    /// Parked values that were fetched in the cycle right after.
    pub return_next: u64,
    /// Fetched later, when their bank and a bus were free.
    pub return_later: u64,
    /// Fetched because a read, a write or a new value of the free entry waited for it.
    pub return_forced: u64,
    /// Cycles that reads waited for a parked value.
    pub wait_parked: u64,
    /// Cycles that other reads waited, as a forced fetch or a landing value had their bank.
    pub wait_return: u64,
    /// Banks that hold a parked value, on average.
    pub parked: f64,
    /// Banks with a free entry that is empty, on average.
    pub places: f64,
    /// The compiler's hints that were taken.
    pub hints: u64,
    /// Those that were not.
    pub hints_ignored: u64,
}

impl StealStats {
    fn of(run: &Count<'_>) -> Self {
        let count = |name: &str| run.of(name);
        let average = |name: &str| run.average(name);
        Self {
            stolen: count("stolen"),
            steals: count("steal"),
            wasted: count("wasted"),
            write_normal: count("write_normal"),
            write_forced: count("write_forced"),
            write_partial: count("write_partial"),
            write_parked: count("write_parked"),
            return_next: count("return_next"),
            return_later: count("return_later"),
            return_forced: count("return_forced"),
            wait_parked: count("wait_parked"),
            wait_return: count("wait_return"),
            parked: average("parked"),
            places: average("places"),
            hints: count("hint"),
            hints_ignored: count("hint_ignored"),
        }
    }

    fn rows(&self, reads: u64, row: &mut dyn FnMut(&str, String, String)) {
        let results = self.write_normal + self.write_forced + self.write_parked;
        let rows = [
            ("operands stolen", self.stolen, reads),
            ("warps issued by theft", self.steals, 0),
            ("thefts for nothing", self.wasted, self.steals),
            ("results written without stealing", self.write_normal, results),
            ("results forced", self.write_forced, results),
            ("results forced: not all lanes", self.write_partial, results),
            ("results parked", self.write_parked, results),
            ("parked values returned in the next cycle", self.return_next, self.write_parked),
            ("parked values returned later", self.return_later, self.write_parked),
            ("parked values forced back", self.return_forced, self.write_parked),
            ("reads waiting: for a parked value", self.wait_parked, reads),
            ("reads waiting: for a return", self.wait_return, reads),
            ("hints taken", self.hints, self.hints + self.hints_ignored),
        ];
        for (name, number, whole) in rows {
            row(name, grouped(number), share(number, whole));
        }
        for (name, average) in
            [("parked values, on average", self.parked), ("places to park in, on average", self.places)]
        {
            row(name, format!("{average:.2}"), String::new());
        }
    }
}

/// The part of a run's statistics.
pub(super) fn part(count: &Count<'_>) -> Part {
    let stats = StealStats::of(count);
    Part::new("steal", &stats, |row| stats.rows(count.of("read"), row))
}
