//! The numbers of a run, and the differences between two runs.

use std::collections::BTreeMap;

use gpurf_blocks::config::Config;
use gpurf_machine::Statistics;
use gpurf_report::energies::{ByEvent, EnergyFile, by_event};
use gpurf_report::energy::{Price, prices};
use gpurf_report::{Measured, PerKernel, geometric_mean};
use serde::Serialize;
use serde_json::Value;

use crate::commands::statistics::{Stats, words_of};

/// The numbers of a run that are compared: those of `gpurf run --json`, and energies in pJ.
#[derive(Serialize)]
pub struct Numbers {
    /// Cycles since reset.
    pub cycles: u64,
    /// Counts and ratios.
    pub stats: Stats,
    /// Counts of events.
    pub events: BTreeMap<&'static str, u64>,
    /// Energies by model and part.
    pub energy: BTreeMap<&'static str, BTreeMap<&'static str, f64>>,
    /// Energies by event, if the user names energies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_event: Option<ByEvent>,
}

/// The key of `energy` for the blocks that the papers leave out.
const BLOCKS: &str = "blocks";

/// The key of `energy` for the sum of the register file by the papers and these blocks.
pub const WHOLE: &str = "register_file_and_blocks";

impl Numbers {
    /// The numbers of a run. `reference` is the run of the same kernel on the machine that others are compared with. If the user names energies,
    /// energies by event are included.
    pub fn new(config: &Config, run: &Statistics, reference: &Statistics, energies: Option<&EnergyFile>) -> Self {
        let [measured, by] = [run, reference].map(|run| Measured::from(run.clone()));
        let paper = EnergyFile::paper();
        let models = prices(config, &measured, &by, energies.unwrap_or(&paper));
        let mut energy: BTreeMap<_, BTreeMap<_, _>> =
            models.into_iter().map(|Price { key, parts, .. }| (key, parts.into_iter().collect())).collect();
        let by_event = energies.map(|energies| by_event(config, &measured, energies));
        if let Some(by_event) = by_event.as_ref().filter(|by_event| !by_event.left_out.rows.is_empty()) {
            let mut blocks = BTreeMap::from([("total", by_event.left_out.total)]);
            by_event.left_out.rows.iter().for_each(|row| *blocks.entry(row.of).or_default() += row.energy);
            energy.insert(BLOCKS, blocks);
            energy.extend(by_event.total.map(|total| (WHOLE, BTreeMap::from([("total", total)]))));
        }
        Self { cycles: run.cycles, stats: Stats::timed(config, run), events: run.events.clone(), energy, by_event }
    }

    /// Instructions of warps per cycle.
    pub fn ipc(&self) -> f64 {
        self.stats.timed.as_ref().map_or(0.0, |timed| timed.ipc)
    }

    /// The total energy by a model.
    pub fn energy(&self, model: &str) -> Option<f64> {
        self.energy.get(model)?.get("total").copied()
    }

    /// All numbers, keyed by their path in JSON.
    fn by_path(&self) -> BTreeMap<String, f64> {
        let mut numbers = BTreeMap::new();
        let value = serde_json::to_value(self).expect("numbers are JSON");
        flatten(&value, String::new(), &mut numbers);
        // The number of launches depends on the manifests only, and issue slots follow from cycles.
        numbers.retain(|path, _| !["stats.launches", "stats.issue_slots"].contains(&path.as_str()));
        // The sums of `by_event` are in `energy`.
        numbers.retain(|path, _| !path.starts_with("by_event."));
        numbers
    }
}

fn flatten(value: &Value, path: String, numbers: &mut BTreeMap<String, f64>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                flatten(value, path, numbers);
            }
        }
        Value::Number(number) => {
            numbers.extend(number.as_f64().map(|number| (path, number)));
        }
        _ => {}
    }
}

/// A number of two runs, and its change.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Change {
    /// Its path in JSON.
    pub number: String,
    /// The value of A; `None` if that machine does not have the number.
    pub a: Option<f64>,
    /// The value of B; `None` if that machine does not have the number.
    pub b: Option<f64>,
    /// B by A, less 1; `None` if A's value is 0, or one value is missing.
    pub change: Option<f64>,
}

impl Change {
    fn new(number: &str, a: Option<f64>, b: Option<f64>) -> Self {
        let change = a.zip(b).filter(|(a, _)| *a != 0.0).map(|(a, b)| b / a - 1.0);
        Self { number: number.to_owned(), a, b, change }
    }

    /// Whether both values are equal, except for rounding errors in sums of energies.
    pub fn is_equal(&self) -> bool {
        const ROUNDING: f64 = 1e-12;
        self.a == self.b || self.change.is_some_and(|change| change.abs() < ROUNDING)
    }

    /// Sort key: the size of the change. A change from 0 counts as larger than any ratio; numbers that only one machine has come last.
    fn distance(&self) -> f64 {
        match (self.a, self.b) {
            (Some(_), Some(_)) => self.change.map_or(f64::INFINITY, f64::abs),
            _ => -1.0,
        }
    }

    /// The name in the table; `None` if the number is only in JSON and on the page.
    pub fn words(&self) -> Option<String> {
        let words = match self.number.split_once('.') {
            None => self.number.clone(),
            Some(("events", event)) => words_of(event)?.to_owned(),
            Some(("energy", of)) => {
                let (model, part) = of.split_once('.')?;
                let model = model_words(model);
                if part == "total" { format!("energy, {model}") } else { format!("energy, {model}: {part}") }
            }
            Some((_, of)) => match of.split_once('.') {
                Some((part, name)) => format!("{part}: {}", name.replace(['_', '.'], " ")),
                None => match of {
                    "ipc" => "instructions a cycle".to_owned(),
                    "simd_efficiency" => "SIMD efficiency".to_owned(),
                    name => name.replace('_', " "),
                },
            },
        };
        Some(words)
    }
}

/// Describes what a model's energy covers.
pub fn model_words(model: &str) -> &'static str {
    match model {
        "register_file" => "register file (pJ)",
        "leaking_file" => "register file with leakage (pJ)",
        BLOCKS => "other blocks (pJ)",
        WHOLE => "register file and blocks (pJ)",
        _ => "SM and DRAM (pJ)",
    }
}

/// The numbers that differ, the largest change first, and the number of equal ones.
pub fn changes(a: &Numbers, b: &Numbers) -> (Vec<Change>, usize) {
    let [a, b] = [a, b].map(Numbers::by_path);
    let mut names: Vec<&String> = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name))).collect();
    names.sort();
    let all = names.into_iter().map(|name| Change::new(name, a.get(name).copied(), b.get(name).copied()));
    // A number that one machine does not have, and that is 0 on the other one, is no difference.
    let none = |value: Option<f64>| value.is_none_or(|value| value == 0.0);
    let (mut different, equal): (Vec<_>, Vec<_>) = all.partition(|c| !(c.is_equal() || none(c.a) && none(c.b)));
    different.sort_by(|x, y| y.distance().total_cmp(&x.distance()).then_with(|| x.number.cmp(&y.number)));
    (different, equal.len())
}

/// All numbers of two runs: first those that differ, the largest change first, then the equal ones by name.
pub fn all(a: &Numbers, b: &Numbers) -> Vec<Change> {
    let (mut different, _) = changes(a, b);
    let [a, b] = [a, b].map(Numbers::by_path);
    let both = a.iter().filter_map(|(name, value)| Some(Change::new(name, Some(*value), Some(*b.get(name)?))));
    different.extend(both.filter(Change::is_equal));
    different
}

/// A geometric mean over kernels of a number of B by that of A.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Mean {
    /// Path of the number.
    pub number: &'static str,
    /// B by A, less 1.
    pub change: f64,
}

/// A number of a run; `None` if its machine does not have it.
type Of = fn(&Numbers) -> Option<f64>;

/// Means of cycles, instructions per cycle, and energy by each model that both machines have.
pub fn means(kernels: &[(&str, &Numbers, &Numbers)]) -> Vec<Mean> {
    let numbers: [(&'static str, Of); 7] = [
        ("cycles", |numbers| Some(numbers.cycles as f64)),
        ("stats.ipc", |numbers| Some(numbers.ipc())),
        ("energy.register_file.total", |numbers| numbers.energy("register_file")),
        ("energy.sm.total", |numbers| numbers.energy("sm")),
        ("energy.leaking_file.total", |numbers| numbers.energy("leaking_file")),
        ("energy.blocks.total", |numbers| numbers.energy(BLOCKS)),
        ("energy.register_file_and_blocks.total", |numbers| numbers.energy(WHOLE)),
    ];
    let mean = |(number, of): (&'static str, Of)| {
        let ratio = |&(kernel, a, b): &(&str, &Numbers, &Numbers)| {
            let (a, b) = (of(a)?, of(b)?);
            (a != 0.0).then(|| (kernel.to_owned(), b / a))
        };
        let ratios: Option<PerKernel> = kernels.iter().map(ratio).collect();
        Some(Mean { number, change: geometric_mean(&ratios?) - 1.0 })
    };
    numbers.into_iter().filter_map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(cycles: u64, events: &[(&'static str, u64)]) -> Numbers {
        let events = events.iter().copied().collect();
        let energy = [("sm", [("total", cycles as f64)].into())].into();
        Numbers { cycles, stats: Stats::default(), events, energy, by_event: None }
    }

    #[test]
    fn the_largest_change_comes_first_and_what_one_side_lacks_last() {
        let a = numbers(100, &[("read", 10), ("write", 5), ("same", 3), ("fresh", 0), ("only_a", 4), ("idle", 0)]);
        let b = numbers(110, &[("read", 5), ("write", 6), ("same", 3), ("fresh", 1), ("only_b", 9)]);
        let (different, equal) = changes(&a, &b);
        let names: Vec<_> = different.iter().map(|change| change.number.as_str()).collect();
        let expected = [
            "events.fresh",
            "events.read",
            "events.write",
            "cycles",
            "energy.sm.total",
            "events.only_a",
            "events.only_b",
        ];
        assert_eq!(names, expected);
        assert_eq!((different[0].change, different[1].change), (None, Some(-0.5)));
        assert_eq!((different[5].a, different[5].b, different[5].change), (Some(4.0), None, None));
        // Equal: one event, an event that neither machine has with a count above 0, and both counts of instructions.
        assert_eq!(equal, 4);
        assert_eq!(all(&a, &b).len(), different.len() + 3);
    }

    #[test]
    fn means_are_geometric_and_need_both_sides() {
        let runs = [(100, 50), (100, 200)].map(|(a, b)| (numbers(a, &[]), numbers(b, &[])));
        let kernels: Vec<_> = runs.iter().zip(["x", "y"]).map(|((a, b), name)| (name, a, b)).collect();
        let means = means(&kernels);
        let names: Vec<_> = means.iter().map(|mean| mean.number).collect();
        // Without instructions there is no ratio of them.
        assert_eq!(names, ["cycles", "energy.sm.total"]);
        assert!(means.iter().all(|mean| mean.change.abs() < 1e-12), "{means:?}");
    }

    #[test]
    fn numbers_have_words_where_the_table_shows_them() {
        let words = |number: &str| Change::new(number, Some(1.0), Some(2.0)).words();
        assert_eq!(words("cycles").as_deref(), Some("cycles"));
        assert_eq!(words("events.stall_fetch").as_deref(), Some("issue slots lost: nothing fetched"));
        assert_eq!(words("events.fetch"), None);
        assert_eq!(words("energy.register_file.mrf").as_deref(), Some("energy, register file (pJ): mrf"));
        assert_eq!(words("stats.part.read_groups").as_deref(), Some("part: read groups"));
    }
}
