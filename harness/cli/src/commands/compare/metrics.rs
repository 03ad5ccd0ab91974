//! The numbers of a run, and what differs between two.

use std::collections::BTreeMap;

use gpurf_blocks::config::Config;
use gpurf_machine::Statistics;
use gpurf_report::energies::{ByEvent, EnergyFile, by_event};
use gpurf_report::energy::{Price, prices};
use gpurf_report::{Measured, PerKernel, geometric_mean};
use serde::Serialize;
use serde_json::Value;

use crate::commands::statistics::{Stats, words_of};

/// What is compared of a run: what `gpurf run --json` says, and energies in pJ.
#[derive(Serialize)]
pub struct Numbers {
    /// Cycles since reset.
    pub cycles: u64,
    /// Counts and ratios.
    pub stats: Stats,
    /// Counts of events.
    pub events: BTreeMap<&'static str, u64>,
    /// By model and part.
    pub energy: BTreeMap<&'static str, BTreeMap<&'static str, f64>>,
    /// The same by event, where the user names energies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_event: Option<ByEvent>,
}

/// The blocks that the papers leave out, in `energy`.
const BLOCKS: &str = "blocks";

/// The register file by the papers and these blocks together.
pub const WHOLE: &str = "register_file_and_blocks";

impl Numbers {
    /// Of a run; `reference` is that of the same kernel on the machine that others are compared with. With energies the user names, the energy is given by
    /// event too.
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

    /// Instructions of warps a cycle.
    pub fn ipc(&self) -> f64 {
        self.stats.timed.as_ref().map_or(0.0, |timed| timed.ipc)
    }

    /// The energy of a model.
    pub fn energy(&self, model: &str) -> Option<f64> {
        self.energy.get(model)?.get("total").copied()
    }

    /// All numbers by the path to them in JSON.
    fn by_path(&self) -> BTreeMap<String, f64> {
        let mut numbers = BTreeMap::new();
        let value = serde_json::to_value(self).expect("numbers are JSON");
        flatten(&value, String::new(), &mut numbers);
        // The number of launches is the manifests', and issue slots follow from cycles.
        numbers.retain(|path, _| !["stats.launches", "stats.issue_slots"].contains(&path.as_str()));
        // Its sums are those of `energy`.
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

/// A number of two runs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Change {
    /// The path to it in JSON.
    pub number: String,
    /// Of A; nothing where that machine does not have it.
    pub a: Option<f64>,
    /// Of B.
    pub b: Option<f64>,
    /// B by A, less 1; nothing where A's is 0, or one of them is not there.
    pub change: Option<f64>,
}

impl Change {
    fn new(number: &str, a: Option<f64>, b: Option<f64>) -> Self {
        let change = a.zip(b).filter(|(a, _)| *a != 0.0).map(|(a, b)| b / a - 1.0);
        Self { number: number.to_owned(), a, b, change }
    }

    /// Equal, but for what rounding leaves of sums of energies.
    pub fn is_equal(&self) -> bool {
        const ROUNDING: f64 = 1e-12;
        self.a == self.b || self.change.is_some_and(|change| change.abs() < ROUNDING)
    }

    /// How far it is from no change: from 0 is farther than any ratio; what only one machine has comes last.
    fn distance(&self) -> f64 {
        match (self.a, self.b) {
            (Some(_), Some(_)) => self.change.map_or(f64::INFINITY, f64::abs),
            _ => -1.0,
        }
    }

    /// What the table calls it; nothing where it only is in JSON and on the page.
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

/// What a model of energy is of.
pub fn model_words(model: &str) -> &'static str {
    match model {
        "register_file" => "register file (pJ)",
        "leaking_file" => "register file with leakage (pJ)",
        BLOCKS => "other blocks (pJ)",
        WHOLE => "register file and blocks (pJ)",
        _ => "SM and DRAM (pJ)",
    }
}

/// The numbers that differ, the largest change first, and how many are equal.
pub fn changes(a: &Numbers, b: &Numbers) -> (Vec<Change>, usize) {
    let [a, b] = [a, b].map(Numbers::by_path);
    let mut names: Vec<&String> = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name))).collect();
    names.sort();
    let all = names.into_iter().map(|name| Change::new(name, a.get(name).copied(), b.get(name).copied()));
    // What one machine does not have, and the other one does not do, is no difference.
    let none = |value: Option<f64>| value.is_none_or(|value| value == 0.0);
    let (mut different, equal): (Vec<_>, Vec<_>) = all.partition(|c| !(c.is_equal() || none(c.a) && none(c.b)));
    different.sort_by(|x, y| y.distance().total_cmp(&x.distance()).then_with(|| x.number.cmp(&y.number)));
    (different, equal.len())
}

/// All numbers of two runs in the order of their names.
pub fn all(a: &Numbers, b: &Numbers) -> Vec<Change> {
    let (mut different, _) = changes(a, b);
    let [a, b] = [a, b].map(Numbers::by_path);
    let both = a.iter().filter_map(|(name, value)| Some(Change::new(name, Some(*value), Some(*b.get(name)?))));
    different.extend(both.filter(Change::is_equal));
    different
}

/// A geometric mean over kernels of B by A.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Mean {
    /// Of what.
    pub number: &'static str,
    /// B by A, less 1.
    pub change: f64,
}

/// A number of a run, where its machine has it.
type Of = fn(&Numbers) -> Option<f64>;

/// Of cycles, instructions a cycle, and energy by each model that both machines have.
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
        // The event that is equal, the one that is nowhere, and instructions of both kinds.
        assert_eq!(equal, 4);
        assert_eq!(all(&a, &b).len(), different.len() + 3);
    }

    #[test]
    fn means_are_geometric_and_need_both_sides() {
        let runs = [(100, 50), (100, 200)].map(|(a, b)| (numbers(a, &[]), numbers(b, &[])));
        let kernels: Vec<_> = runs.iter().zip(["x", "y"]).map(|((a, b), name)| (name, a, b)).collect();
        let means = means(&kernels);
        let names: Vec<_> = means.iter().map(|mean| mean.number).collect();
        // No instructions, no ratio of them.
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
