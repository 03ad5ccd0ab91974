//! Finds the differences between a run and a golden, and the cycle in which they begin.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{EventChange, Golden, Taken, Trace};

/// A value that has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Its name: `cycles`, `stats.ipc`, `events.issue`, `outputs.y`, `commits`, `state`, `signals`.
    pub what: String,
    /// The value in the golden.
    pub before: String,
    /// The value of the run.
    pub now: String,
}

impl Change {
    pub(super) fn new(what: impl Into<String>, before: impl ToString, now: impl ToString) -> Self {
        Self { what: what.into(), before: before.to_string(), now: now.to_string() }
    }

    /// The amount of the change, if both are numbers.
    pub fn amount(&self) -> Option<String> {
        if self.what == "commits" || self.what == "state" || self.what.starts_with("outputs.") {
            return None;
        }
        let (before, now): (f64, f64) = (self.before.parse().ok()?, self.now.parse().ok()?);
        let digits = if self.before.contains('.') { 6 } else { 0 };
        let share = if before == 0.0 { String::new() } else { format!(" ({:+.2} %)", 100.0 * (now - before) / before) };
        Some(format!("{:+.digits$}{share}", now - before))
    }
}

/// When two runs begin to differ: at the first of these cycles, or between the two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Since {
    /// The first cycle that may differ.
    pub first: u64,
    /// The last cycle that may be the first to differ.
    pub last: u64,
    /// The events of that cycle that differ: name, before, now; present if the cycle is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventChange>,
}

/// The differences between a run and a golden.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The changed values; empty: no difference.
    pub changes: Vec<Change>,
    /// When the state begins to differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Since>,
}

/// Compares a run with a golden. `before` is the trace of the golden's own run, if there is one; the trace of another run is ignored.
pub fn compare(golden: &Golden, taken: &Taken, before: Option<&Trace>) -> Comparison {
    let now = &taken.golden;
    let mut changes = counts(golden, now.cycles, &now.events);
    maps("stats", &golden.stats, &now.stats, "none", &mut changes);
    maps("outputs", &golden.outputs, &now.outputs, "none", &mut changes);
    let mut single = |what: &str, before: &str, now: &str| {
        if before != now {
            changes.push(Change::new(what, before, now));
        }
    };
    single("commits", &golden.commits, &now.commits);
    single("signals", &golden.signals, &now.signals);
    if golden.signals != now.signals {
        // Digests of different signals always differ, which gives no information.
        return Comparison { changes, since: None };
    }
    single("state", &golden.state, &now.state);
    let since = (golden.state != now.state).then(|| since(golden, &taken.trace, before));
    Comparison { changes, since }
}

/// Compares what the RTL shows too: cycles and events.
pub fn counts(golden: &Golden, cycles: u64, events: &BTreeMap<String, u64>) -> Vec<Change> {
    let mut changes = Vec::new();
    if golden.cycles != cycles {
        changes.push(Change::new("cycles", golden.cycles, cycles));
    }
    let events = events.iter().filter(|(_, count)| **count > 0).map(|(name, count)| (name.clone(), *count)).collect();
    maps("events", &golden.events, &events, "0", &mut changes);
    changes
}

/// Compares two maps; a missing entry counts as `absent`.
fn maps<T: ToString + PartialEq>(
    what: &str,
    before: &BTreeMap<String, T>,
    now: &BTreeMap<String, T>,
    absent: &str,
    changes: &mut Vec<Change>,
) {
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let shown = |value: Option<&T>| value.map_or(absent.to_owned(), T::to_string);
    for name in names.into_iter().filter(|name| before.get(*name) != now.get(*name)) {
        changes.push(Change::new(format!("{what}.{name}"), shown(before.get(name)), shown(now.get(name))));
    }
}

fn since(golden: &Golden, now: &Trace, before: Option<&Trace>) -> Since {
    let before = before.filter(|trace| format!("{:016x}", trace.whole) == golden.state);
    if let Some((before, cycle)) = before.and_then(|before| Some((before, before.first_difference(now)?))) {
        return Since { first: cycle, last: cycle, events: now.event_changes(before, cycle) };
    }
    let mut first = 0;
    for (number, mark) in golden.marks.split_ascii_whitespace().enumerate() {
        let end = (number as u64 + 1) * golden.interval - 1;
        let same = now.digest_at(end).is_some_and(|digest| format!("{digest:08x}") == mark);
        if !same {
            return Since { first, last: end.min(now.len()), events: Vec::new() };
        }
        first = end + 1;
    }
    Since { first, last: golden.cycles.min(now.len()).max(first), events: Vec::new() }
}
