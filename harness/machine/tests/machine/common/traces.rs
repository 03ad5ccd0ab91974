//! Traces, read back with other parsers than what wrote them.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use gpurf_blocks::config::Config;
use gpurf_machine::Machine;
use gpurf_machine::trace::{Format, INTERVAL, Trace, Traced};
use serde_json::Value;

/// A file in memory.
#[derive(Clone, Default)]
pub struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }
}

/// Lets an engine write a trace of these cycles.
pub fn traced(engine: &mut impl Machine, config: &Config, format: Format, cycles: RangeInclusive<u64>) -> Shared {
    let out = Shared::default();
    let declaration = (gpurf_sm::ENTRY.twin)(config).declaration().clone();
    let trace = Trace::new(config, &declaration, format, cycles, "SM", Box::new(out.clone())).unwrap();
    engine.trace(trace);
    out
}

/// Ends it.
pub fn finish(engine: &mut impl Machine) -> Traced {
    engine.take_trace().unwrap().finish().unwrap()
}

/// A slice.
#[derive(Clone, PartialEq, Debug)]
pub struct Slice {
    pub category: String,
    pub name: String,
    pub from: u64,
    pub end: u64,
    pub args: Value,
}

/// Chrome's trace events, as `serde_json` reads them.
pub struct Events {
    /// Slices by row, in the order of the file.
    pub rows: BTreeMap<String, Vec<Slice>>,
    /// Values of counters with their first cycles.
    pub counters: BTreeMap<String, Vec<(u64, f64)>>,
    /// Cycle, name and arguments of each instant.
    pub marks: Vec<(u64, String, Value)>,
}

impl Events {
    pub fn of(text: &str) -> Self {
        let object: Value = serde_json::from_str(text).unwrap();
        let mut names = BTreeMap::new();
        let mut events = Self { rows: BTreeMap::new(), counters: BTreeMap::new(), marks: Vec::new() };
        for event in object["traceEvents"].as_array().unwrap() {
            let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
            let number = |key: &str| event[key].as_u64().unwrap_or_else(|| panic!("{key} of {event}"));
            match event["ph"].as_str().unwrap() {
                "M" if text("name") == "thread_name" => {
                    names.insert(number("tid"), event["args"]["name"].as_str().unwrap().to_owned());
                }
                "M" => {}
                "X" => {
                    let (from, end) = (number("ts"), number("ts") + number("dur"));
                    let args = event["args"].clone();
                    let slice = Slice { category: text("cat"), name: text("name"), from, end, args };
                    events.rows.entry(names[&number("tid")].clone()).or_default().push(slice);
                }
                "C" => {
                    let value = event["args"]["value"].as_f64().unwrap();
                    events.counters.entry(text("name")).or_default().push((number("ts"), value));
                }
                "i" => events.marks.push((number("ts"), text("name"), event["args"].clone())),
                kind => panic!("an event of kind {kind}"),
            }
        }
        events
    }

    /// All slices of a category.
    pub fn of_category<'a>(&'a self, category: &'a str) -> impl Iterator<Item = &'a Slice> {
        self.rows.values().flatten().filter(move |slice| slice.category == category)
    }

    /// Cycles of the slices of a category by name.
    pub fn cycles(&self, category: &str) -> BTreeMap<String, u64> {
        let mut cycles = BTreeMap::new();
        for slice in self.of_category(category) {
            *cycles.entry(slice.name.clone()).or_default() += slice.end - slice.from;
        }
        cycles
    }

    /// The sum over all cycles up to `end` of what a counter counts; intervals begin at `from`.
    pub fn sum(&self, counter: &str, from: u64, end: u64) -> u64 {
        let Some(values) = self.counters.get(counter) else { return 0 };
        let next = |index: usize| values.get(index + 1).map_or(end, |&(cycle, _)| cycle);
        let parts = values.iter().enumerate().map(|(index, &(cycle, value))| {
            assert!((cycle - from).is_multiple_of(INTERVAL) || cycle == end, "{counter} in cycle {cycle}");
            value * (next(index) - cycle) as f64
        });
        parts.sum::<f64>().round() as u64
    }

    /// Slices of a row are in order, each inside the one before it or after it; the stages of an instruction fill it.
    pub fn check_rows(&self) {
        for (row, slices) in &self.rows {
            let mut free = 0;
            let mut stages = slices.iter().peekable();
            while let Some(slice) = stages.next() {
                assert!(slice.from < slice.end, "{row}: {slice:?}");
                assert!(slice.from >= free, "{row}: {slice:?} begins before {free}");
                free = slice.end;
                let mut inside = slice.from;
                while let Some(stage) = stages.next_if(|next| ["stage", "wait"].contains(&next.category.as_str())) {
                    assert_eq!(stage.from, inside, "{row}: {slice:?}, {stage:?}");
                    assert!(stage.from < stage.end, "{row}: {stage:?}");
                    inside = stage.end;
                }
                if ["instruction", "probe"].contains(&slice.category.as_str()) {
                    assert_eq!(inside, slice.end, "{row}: {slice:?}");
                }
            }
        }
    }
}

/// An instruction of Konata's log.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Logged {
    pub label: String,
    pub details: String,
    /// Stages with their first cycles.
    pub stages: Vec<(String, u64)>,
    /// The cycle in front of which it ends, and whether it was cut.
    pub end: Option<(u64, bool)>,
}

/// Konata's log, read as its page says.
pub fn konata(text: &str) -> Vec<Logged> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("Kanata\t0004"));
    let (mut cycle, mut all) = (None, Vec::<Logged>::new());
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |index: usize| fields[index].parse::<u64>().unwrap_or_else(|_| panic!("{line}"));
        match fields[0] {
            "C=" => cycle = Some(number(1)),
            "C" => cycle = cycle.map(|cycle| cycle + number(1)),
            "I" => {
                assert_eq!(number(1), all.len() as u64, "{line}");
                all.push(Logged::default());
            }
            "L" if fields[2] == "0" => all[number(1) as usize].label += fields[3],
            "L" => all[number(1) as usize].details += fields[3],
            "S" => all[number(1) as usize].stages.push((fields[3].to_owned(), cycle.unwrap())),
            "E" => assert_eq!(all[number(1) as usize].stages.last().unwrap().0, fields[3], "{line}"),
            "R" => all[number(1) as usize].end = Some((cycle.unwrap(), fields[3] == "1")),
            kind => panic!("a line of kind {kind}"),
        }
    }
    all
}
