//! Sums of event words by name, and the counts of a replay under the same names.

use std::collections::BTreeMap;

use gpurf_blocks::places;
use gpurf_sm::SmOut;

/// Names and widths of an event word's fields, most significant first.
pub type Fields = &'static [(&'static str, u32)];

/// An event word: its fields, its location in the SM, and the fields that replays count too.
#[derive(Clone, Copy)]
pub struct Word {
    /// Names and widths of its fields.
    pub fields: Fields,
    /// The port or element where the SM has it.
    pub at: Place,
    /// The fields that replays count; empty: all fields.
    pub only: &'static [&'static str],
}

/// Location of an event word in the SM.
#[derive(Clone, Copy)]
pub enum Place {
    /// `mrf_event_o`.
    MainFile,
    /// The element of `design_event_o` with this index.
    Design(usize),
    /// The element of `power_event_o` with this index.
    Power(usize),
    /// `share_event_o`.
    Share,
    /// `cache_event_o`.
    Cache,
}

impl Place {
    fn of(self, out: &SmOut) -> u64 {
        match self {
            Self::MainFile => out.mrf_event_o,
            Self::Design(index) => out.design_event_o[index],
            Self::Power(index) => out.power_event_o[index],
            Self::Share => out.share_event_o,
            Self::Cache => out.cache_event_o,
        }
    }
}

impl Word {
    /// The fields that replays count, with position and mask.
    fn counted(self) -> impl Iterator<Item = (&'static str, u32, u64)> {
        places(self.fields).filter_map(move |(name, low, bits)| {
            let counted = self.only.is_empty() || self.only.contains(&name);
            counted.then_some((name, low, u64::MAX >> (u64::BITS - bits)))
        })
    }
}

/// A field of an event word, and its sum.
struct Field {
    name: &'static str,
    low: u32,
    mask: u64,
    sum: u64,
}

/// Sums of the SM's event words.
pub struct Sums {
    words: Vec<(Word, Vec<Field>)>,
}

impl Sums {
    /// Sums of these words, all 0.
    pub fn new(words: &[Word]) -> Self {
        let fields = |word: Word| word.counted().map(|(name, low, mask)| Field { name, low, mask, sum: 0 }).collect();
        Self { words: words.iter().map(|&word| (word, fields(word))).collect() }
    }

    /// Adds a cycle.
    pub fn add(&mut self, out: &SmOut) {
        for (word, fields) in &mut self.words {
            let value = word.at.of(out);
            if value != 0 {
                fields.iter_mut().for_each(|field| field.sum += value >> field.low & field.mask);
            }
        }
    }

    /// Names and sums, in the order of the words.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.words.iter().flat_map(|(_, fields)| fields).map(|field| (field.name, field.sum))
    }
}

/// The counts of a replay, by the name of the event. A name that was never counted is 0.
#[derive(Default)]
pub struct Tally {
    counts: BTreeMap<&'static str, u64>,
    /// The first thing that the SM did and the replay does not allow.
    pub objection: Option<String>,
}

impl Tally {
    /// Adds to a count.
    pub fn add(&mut self, event: &'static str, more: impl Into<u64>) {
        let more = more.into();
        if more != 0 {
            *self.counts.entry(event).or_default() += more;
        }
    }

    /// The count of an event.
    pub fn of(&self, event: &str) -> u64 {
        self.counts.get(event).copied().unwrap_or(0)
    }

    /// Notes that the SM did something that is not allowed.
    pub fn object(&mut self, what: impl FnOnce() -> String) {
        if self.objection.is_none() {
            self.objection = Some(what());
        }
    }
}
