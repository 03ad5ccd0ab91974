//! Event counts, from the event words that blocks output.

use std::collections::{BTreeMap, BTreeSet};

use gpurf_blocks::designs::DESIGNS;
use gpurf_blocks::{Declaration, Role, Signal, places};

use crate::WordCounts;

/// Counts of events by name.
pub type Events = BTreeMap<&'static str, u64>;

/// How often each value of an event field occurred, by the field's name.
pub type Spreads = BTreeMap<&'static str, BTreeMap<u64, u64>>;

/// Sums of the fields of every event word: the output ports `event_o` and `..._event_o` that are packed structs, or arrays
/// of these.
pub struct EventTotals {
    ports: Vec<Port>,
}

/// Reads a field of an event word from a record.
#[derive(Clone, Copy, Debug)]
pub struct EventReader {
    /// Name of the field.
    pub name: &'static str,
    offset: usize,
    bytes: usize,
    position: u32,
    mask: u64,
}

impl EventReader {
    /// The value of the field in the compared part of a record.
    #[inline]
    pub fn of(&self, compared: &[u8]) -> u64 {
        word(&compared[self.offset..self.offset + self.bytes]) >> self.position & self.mask
    }
}

/// Reads a word from its bytes.
#[inline]
fn word(bytes: &[u8]) -> u64 {
    if let Ok(bytes) = bytes.try_into() {
        return u64::from_le_bytes(bytes);
    }
    bytes.iter().rev().fold(0, |word, &byte| word << u8::BITS | u64::from(byte))
}

/// An event word.
struct Port {
    /// Offset in a record and bytes.
    offset: usize,
    bytes: usize,
    fields: Vec<Total>,
    spreads: Vec<Spread>,
    seen: WordCounts<PLACES>,
}

/// Number of distinct words that are counted whole before they are split into fields.
const PLACES: usize = 256;

struct Total {
    name: &'static str,
    position: u32,
    mask: u64,
    total: u64,
}

/// Values of a field; places in [`Port::fields`].
struct Spread {
    field: usize,
    when: usize,
    times: BTreeMap<u64, u64>,
}

impl EventTotals {
    /// Nothing counted yet.
    ///
    /// # Panics
    /// When two fields have one name: their sums would be mixed up.
    pub fn new(declaration: &Declaration) -> Self {
        let ports: Vec<Port> = declaration.signals.iter().flat_map(Port::of).collect();
        let mut names = BTreeSet::new();
        for field in ports.iter().flat_map(|p| &p.fields) {
            assert!(names.insert(field.name), "{}: two event fields are named {}", declaration.block, field.name);
        }
        Self { ports }
    }

    /// Readers of all fields, for the values of single cycles.
    pub fn readers(declaration: &Declaration) -> Vec<EventReader> {
        let input_bytes = declaration.input_bytes;
        let of_port = |port: Port| {
            let Port { offset, bytes, fields, .. } = port;
            fields.into_iter().map(move |Total { name, position, mask, .. }| EventReader {
                name,
                offset: offset - input_bytes,
                bytes,
                position,
                mask,
            })
        };
        declaration.signals.iter().flat_map(Port::of).flat_map(of_port).collect()
    }

    /// Adds the events of a cycle.
    #[inline]
    pub fn add(&mut self, record: &[u8]) {
        self.add_times(record, 1);
    }

    /// Adds the events of a cycle that occurred this many times.
    #[inline]
    pub fn add_times(&mut self, record: &[u8], times: u64) {
        for port in &mut self.ports {
            port.add(port.word(record), times);
        }
    }

    /// The sums so far.
    pub fn by_name(&self) -> Events {
        let total = |port: &Port, field: &Total| {
            let waiting: u64 = port.seen.waiting().map(|(word, times)| field.of(word) * times).sum();
            (field.name, field.total + waiting)
        };
        self.ports.iter().flat_map(|port| port.fields.iter().map(move |field| total(port, field))).collect()
    }

    /// The sum of one event so far; 0 if there is no event of this name.
    pub fn sum(&self, name: &str) -> u64 {
        let of = |port: &Port, field: &Total| {
            field.total + port.seen.waiting().map(|(word, times)| field.of(word) * times).sum::<u64>()
        };
        let fields = self.ports.iter().flat_map(|port| port.fields.iter().map(move |field| (port, field)));
        fields.filter(|(_, field)| field.name == name).map(|(port, field)| of(port, field)).sum()
    }

    /// The counts of values so far, of those fields whose values are counted separately.
    pub fn spreads(&self) -> Spreads {
        let values = |port: &Port, spread: &Spread| {
            let mut times = spread.times.clone();
            for (word, came) in port.seen.waiting() {
                if let Some(value) = spread.value(&port.fields, word) {
                    *times.entry(value).or_default() += came;
                }
            }
            (port.fields[spread.field].name, times)
        };
        self.ports.iter().flat_map(|port| port.spreads.iter().map(move |spread| values(port, spread))).collect()
    }
}

impl Total {
    /// The value of the field in a word.
    #[inline]
    fn of(&self, word: u64) -> u64 {
        word >> self.position & self.mask
    }
}

impl Spread {
    fn of(fields: &[Total]) -> Vec<Self> {
        let place = |name: &str| fields.iter().position(|field| field.name == name);
        let spread = |&(field, when): &(&str, &str)| {
            Some(Self { field: place(field)?, when: place(when)?, times: BTreeMap::new() })
        };
        DESIGNS.iter().flat_map(|design| design.spreads).filter_map(spread).collect()
    }

    /// The value in a word in which it counts.
    fn value(&self, fields: &[Total], word: u64) -> Option<u64> {
        (fields[self.when].of(word) != 0).then(|| fields[self.field].of(word))
    }
}

impl Port {
    /// Its word in a record.
    #[inline]
    fn word(&self, record: &[u8]) -> u64 {
        word(&record[self.offset..self.offset + self.bytes])
    }

    #[inline]
    fn add(&mut self, word: u64, times: u64) {
        let Some((old, times)) = self.seen.add(word, times) else { return };
        for field in &mut self.fields {
            field.total += field.of(old) * times;
        }
        for spread in &mut self.spreads {
            if let Some(value) = spread.value(&self.fields, old) {
                *spread.times.entry(value).or_default() += times;
            }
        }
    }

    /// The event words that a signal has.
    fn of(signal: &Signal) -> impl Iterator<Item = Self> {
        let field = &signal.field;
        let counts = signal.role == Role::Output && field.name.ends_with("event_o");
        let elements = if counts { field.count } else { 0 };
        (0..elements).filter_map(|element| {
            // A word without fields counts nothing, so it is left out and never read.
            let layout = field.decode.layout(element).filter(|layout| !layout.is_empty())?;
            assert!(field.elem_bytes <= 8, "{}: an event word has at most 64 bits", field.name);
            let total = |(name, position, bits)| Total { name, position, mask: u64::MAX >> (64 - bits), total: 0 };
            let fields: Vec<Total> = places(layout).map(total).collect();
            Some(Self {
                offset: field.offset + element * field.elem_bytes,
                bytes: field.elem_bytes,
                spreads: Spread::of(&fields),
                fields,
                seen: WordCounts::default(),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::config::Config;
    use gpurf_blocks::designs::DESIGNS;
    use gpurf_blocks::{Block, Decode, NoProbe, Shape, erase, field, ports, view_mut};

    use super::*;

    /// The names of the fields of the second event word.
    #[derive(Clone, Debug)]
    struct Names(&'static [(&'static str, u32)]);

    impl Shape for Names {
        fn of(_: &Config) -> Self {
            Self(&[])
        }
        fn parameter(&self, _: &str) -> u64 {
            0
        }
    }

    ports! {
        struct In(_s: &Names) {
            /// Not an output.
            other_event_o: u8 = field(3).shown(Decode::Packed(&[("input", 3)])),
        }
    }

    ports! {
        struct Out(s: &Names) {
            /// The block's own events.
            event_o: u16 = field(9).shown(Decode::Packed(&[("reads", 4), ("writes", 5)])),
            /// Those of a block inside.
            mrf_event_o: u64 = field(40).shown(Decode::Packed(s.0)),
            /// Not counted: nothing is known of its fields.
            plain_event_o: u8 = field(8),
        }
    }

    #[derive(Clone)]
    struct Counter;

    impl Block for Counter {
        const NAME: &'static str = "counter";
        const PARAMETERS: &'static [&'static str] = &[];
        type Shape = Names;
        type In = In;
        type Out = Out;
        type Probe = NoProbe<Names>;
        fn new(_: &Names) -> Self {
            Self
        }
        fn early(&self, _: &mut Out) {}
        fn late(&mut self, _: &In, _: &mut Out) {}
        fn clock(&mut self, _: &In, _: &Out) {}
        fn probe(&self, _: &In, _: &Out, _: &mut NoProbe<Names>) {}
    }

    fn declaration(names: Names) -> Declaration {
        erase::<Counter>(&names).declaration().clone()
    }

    #[test]
    fn every_packed_event_word_is_counted() {
        let declaration = declaration(Names(&[("grants", 36), ("waits", 4)]));
        let mut totals = EventTotals::new(&declaration);
        let mut record = crate::Records::zeroed(declaration.record_bytes, 1);
        let (inputs, out) = record.get_mut(0).split_at_mut(declaration.input_bytes);
        view_mut::<In>(inputs).other_event_o = 7;
        let out: &mut Out = view_mut(out);
        (out.event_o, out.mrf_event_o, out.plain_event_o) = (3 << 5 | 31, 0x8_0000_0001 << 4 | 9, 255);
        totals.add(record.get(0));
        totals.add(record.get(0));
        let expected = [("grants", 0x10_0000_0002), ("reads", 6), ("waits", 18), ("writes", 62)];
        assert_eq!(totals.by_name(), expected.into());
        assert_eq!((totals.sum("writes"), totals.sum("grants"), totals.sum("input")), (62, 0x10_0000_0002, 0));
    }

    #[test]
    fn values_of_a_field_are_counted_in_the_cycles_that_another_one_names() {
        let &(values, cycles) = DESIGNS.iter().flat_map(|design| design.spreads).next().expect("a design has spreads");
        let names = vec![("grants", 18), (cycles, 2), (values, 16), ("waits", 4)];
        let declaration = declaration(Names(names.leak()));
        let mut totals = EventTotals::new(&declaration);
        let mut record = crate::Records::zeroed(declaration.record_bytes, 1);
        // More words than have a place, so that some are taken apart early and some at the end; entry numbers 0 to 999 twice, and once while nothing ends.
        for period in 0..3 {
            for entries in 0..1000u64 {
                view_mut::<Out>(&mut record.get_mut(0)[declaration.input_bytes..]).mrf_event_o =
                    period << 20 | entries << 4 | 3;
                totals.add(record.get(0));
            }
        }
        let expected = (0..1000).map(|entries| (entries, 2)).collect();
        assert_eq!(totals.spreads(), [(values, expected)].into());
    }

    #[test]
    #[should_panic(expected = "counter: two event fields are named reads")]
    fn one_name_for_two_fields_is_refused() {
        EventTotals::new(&declaration(Names(&[("reads", 36), ("waits", 4)])));
    }
}
