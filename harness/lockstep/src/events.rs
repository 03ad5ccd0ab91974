//! Counts of what happened, from the event words that blocks put out.

use std::collections::{BTreeMap, BTreeSet};

use gpurf_blocks::{Declaration, Decode, Role, Signal};

/// Counts of events by name.
pub type Events = BTreeMap<&'static str, u64>;

/// Sums of the fields of every event word: the output ports `event_o` and `..._event_o` that are packed structs.
pub struct EventTotals {
    ports: Vec<Port>,
}

struct Port {
    /// Offset in a record and bytes.
    offset: usize,
    bytes: usize,
    fields: Vec<Total>,
}

struct Total {
    name: &'static str,
    position: u32,
    mask: u64,
    total: u64,
}

impl EventTotals {
    /// Nothing counted yet.
    ///
    /// # Panics
    /// When two fields have one name: their sums would be mixed up.
    pub fn new(declaration: &Declaration) -> Self {
        let ports: Vec<Port> = declaration.signals.iter().filter_map(Port::of).collect();
        let mut names = BTreeSet::new();
        for field in ports.iter().flat_map(|p| &p.fields) {
            assert!(names.insert(field.name), "{}: two event fields are named {}", declaration.block, field.name);
        }
        Self { ports }
    }

    /// Adds the events of a cycle.
    #[inline]
    pub fn add(&mut self, record: &[u8]) {
        for port in &mut self.ports {
            let mut word = [0; 8];
            word[..port.bytes].copy_from_slice(&record[port.offset..port.offset + port.bytes]);
            let word = u64::from_le_bytes(word);
            if word == 0 {
                continue;
            }
            for field in &mut port.fields {
                field.total += word >> field.position & field.mask;
            }
        }
    }

    /// The sums so far.
    pub fn by_name(&self) -> Events {
        self.ports.iter().flat_map(|p| &p.fields).map(|f| (f.name, f.total)).collect()
    }
}

impl Port {
    fn of(signal: &Signal) -> Option<Self> {
        let field = &signal.field;
        let Decode::Packed(layout) = field.decode else { return None };
        if signal.role != Role::Output || !field.name.ends_with("event_o") {
            return None;
        }
        assert!(!field.array && field.elem_bytes <= 8, "{}: an event word has at most 64 bits", field.name);
        let mut position = field.bits;
        let total = |&(name, bits): &(&'static str, u32)| {
            position -= bits;
            Total { name, position, mask: u64::MAX >> (64 - bits), total: 0 }
        };
        Some(Self { offset: field.offset, bytes: field.elem_bytes, fields: layout.iter().map(total).collect() })
    }
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::config::Config;
    use gpurf_blocks::{Block, NoProbe, Shape, erase, field, ports, view_mut};

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
    }

    #[test]
    #[should_panic(expected = "counter: two event fields are named reads")]
    fn one_name_for_two_fields_is_refused() {
        EventTotals::new(&declaration(Names(&[("reads", 36), ("waits", 4)])));
    }
}
