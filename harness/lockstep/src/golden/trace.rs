//! A compact trace of every cycle of a run, used to find the first cycle that differs.

use std::collections::HashMap;

use gpurf_blocks::{Declaration, Role, places};

use super::digest::StateDigest;

/// For each cycle the digest of all cycles up to it, and its events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The digest of the whole run.
    pub whole: u64,
    /// The names of the events.
    names: Vec<String>,
    /// Distinct sets of events that occurred in a cycle.
    sets: Vec<Events>,
    /// For each cycle the low half of its digest, and its events as an index into the sets.
    cycles: Vec<(u32, u32)>,
}

/// The nonzero events of a cycle, each with the index of its name: usually a small part of all events.
type Events = Vec<(u32, u32)>;

/// Location of an event in a record.
struct Place {
    offset: usize,
    bytes: usize,
    position: u32,
    mask: u64,
}

/// Builds a trace cycle by cycle.
pub struct Recorder {
    digest: StateDigest,
    places: Vec<Place>,
    /// Index of each set of events that has occurred.
    known: HashMap<Events, u32>,
    trace: Trace,
}

impl Recorder {
    /// A recorder before the first cycle.
    pub fn new(declaration: &Declaration) -> Self {
        let (mut names, mut event_places) = (Vec::new(), Vec::new());
        for signal in declaration.signals.iter().filter(|signal| signal.role == Role::Output) {
            let field = &signal.field;
            let elements = if field.name.ends_with("event_o") { field.count } else { 0 };
            for element in 0..elements {
                let offset = field.offset + element * field.elem_bytes;
                for (name, position, bits) in field.decode.layout(element).into_iter().flat_map(places) {
                    debug_assert!(bits <= u32::BITS, "{name}");
                    let mask = u64::MAX >> (u64::BITS - bits);
                    event_places.push(Place { offset, bytes: field.elem_bytes, position, mask });
                    names.push(name.to_owned());
                }
            }
        }
        let trace = Trace { names, ..Trace::default() };
        Self { digest: StateDigest::new(declaration), places: event_places, known: HashMap::new(), trace }
    }

    /// Adds a cycle.
    pub fn cycle(&mut self, record: &[u8]) {
        self.digest.cycle(record);
        let event = |place: &Place| {
            let bytes = &record[place.offset..place.offset + place.bytes];
            let word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
            (word >> place.position & place.mask) as u32
        };
        let events: Events = (0..).zip(self.places.iter().map(event)).filter(|(_, value)| *value > 0).collect();
        let set = match self.known.get(&events) {
            Some(&set) => set,
            None => {
                let set = self.trace.sets.len() as u32;
                self.trace.sets.push(events.clone());
                self.known.insert(events, set);
                set
            }
        };
        self.trace.whole = self.digest.value();
        self.trace.cycles.push((self.digest.value() as u32, set));
    }

    /// The trace of all cycles.
    pub fn finish(self) -> Trace {
        self.trace
    }
}

/// An event whose count in a cycle has changed: name, earlier value, new value.
pub type EventChange = (String, u64, u64);

impl Trace {
    /// Number of cycles.
    pub fn len(&self) -> u64 {
        self.cycles.len() as u64
    }

    /// Whether there are no cycles.
    pub fn is_empty(&self) -> bool {
        self.cycles.is_empty()
    }

    /// The low half of the digest of all cycles up to this one.
    pub fn digest_at(&self, cycle: u64) -> Option<u32> {
        self.cycles.get(usize::try_from(cycle).ok()?).map(|(digest, _)| *digest)
    }

    /// The first cycle in which the two runs differ; `None` if they are equal.
    pub fn first_difference(&self, other: &Self) -> Option<u64> {
        let (mine, theirs) = (&self.cycles, &other.cycles);
        let differs = |cycle: &usize| mine.get(*cycle).map(|c| c.0) != theirs.get(*cycle).map(|c| c.0);
        (0..mine.len().max(theirs.len())).find(differs).map(|cycle| cycle as u64)
    }

    /// The nonzero events of a cycle, by name.
    fn events(&self, cycle: u64) -> HashMap<&str, u64> {
        let set = usize::try_from(cycle).ok().and_then(|cycle| self.cycles.get(cycle));
        let events = set.and_then(|(_, set)| self.sets.get(*set as usize)).into_iter().flatten();
        events.filter_map(|&(name, value)| Some((self.names.get(name as usize)?.as_str(), value.into()))).collect()
    }

    /// The events of a cycle that differ from those of an earlier run.
    pub fn event_changes(&self, before: &Self, cycle: u64) -> Vec<EventChange> {
        let (now, before) = (self.events(cycle), before.events(cycle));
        let value = |events: &HashMap<&str, u64>, name: &str| events.get(name).copied().unwrap_or(0);
        let names = self.names.iter().filter(|name| value(&now, name) != value(&before, name));
        names.map(|name| (name.clone(), value(&before, name), value(&now, name))).collect()
    }

    /// The trace as the bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64 + 8 * self.cycles.len());
        let mut words = |values: &[u64]| values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        let names = self.names.join(" ");
        words(&[MAGIC, self.whole, names.len() as u64, self.sets.len() as u64, self.cycles.len() as u64]);
        let mut pair = |&(high, low): &(u32, u32)| words(&[u64::from(high) << 32 | u64::from(low)]);
        self.sets.iter().for_each(|set| {
            pair(&(0, set.len() as u32));
            set.iter().for_each(&mut pair);
        });
        self.cycles.iter().for_each(pair);
        bytes.extend(names.as_bytes());
        bytes
    }

    /// Reads the bytes that [`to_bytes`](Self::to_bytes) has written; `None` for any other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut words = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        if words.next()? != MAGIC {
            return None;
        }
        let whole = words.next()?;
        let mut length = || words.next().and_then(|word| usize::try_from(word).ok());
        let (text, sets, cycles) = (length()?, length()?, length()?);
        let names = std::str::from_utf8(bytes.get(bytes.len().checked_sub(text)?..)?).ok()?;
        let names: Vec<String> = names.split(' ').map(str::to_owned).collect();
        let mut pairs = words.map(|word| ((word >> 32) as u32, word as u32));
        let mut set = || {
            let (_, length) = pairs.next()?;
            (0..length).map(|_| pairs.next()).collect::<Option<Events>>()
        };
        let sets = (0..sets).map(|_| set()).collect::<Option<Vec<_>>>()?;
        let cycles = (0..cycles).map(|_| pairs.next()).collect::<Option<Vec<_>>>()?;
        let words = sets.iter().map(|set| 1 + set.len()).sum::<usize>() + cycles.len() + 5;
        if bytes.len() != 8 * words + text {
            return None;
        }
        Some(Self { whole, names, sets, cycles })
    }
}

/// First bytes of a trace file.
const MAGIC: u64 = u64::from_le_bytes(*b"gpurfTr2");
