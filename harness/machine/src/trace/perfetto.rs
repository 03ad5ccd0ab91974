//! Perfetto's own format: protobuf packets; each name is written only once. One microsecond of the trace is one cycle.
//!
//! The messages have only those fields of `perfetto_trace.proto` that are used here, with their numbers.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};

use super::flight::{Fact, Flight};
use super::lanes::Lanes;
use super::sink::Sink;

/// Messages of `perfetto_trace.proto`.
pub(super) mod proto {
    use prost::Message;

    /// `Trace`: the whole file.
    #[cfg(test)]
    #[derive(Clone, PartialEq, Message)]
    pub struct Trace {
        /// Its packets.
        #[prost(message, repeated, tag = "1")]
        pub packet: Vec<TracePacket>,
    }

    /// `TracePacket`.
    #[derive(Clone, PartialEq, Message)]
    pub struct TracePacket {
        /// Nanoseconds.
        #[prost(uint64, optional, tag = "8")]
        pub timestamp: Option<u64>,
        /// The sequence that names belong to.
        #[prost(uint32, tag = "10")]
        pub trusted_packet_sequence_id: u32,
        /// An event.
        #[prost(message, optional, tag = "11")]
        pub track_event: Option<TrackEvent>,
        /// New names.
        #[prost(message, optional, tag = "12")]
        pub interned_data: Option<InternedData>,
        /// 1: names begin anew; 2: names are used.
        #[prost(uint32, tag = "13")]
        pub sequence_flags: u32,
        /// A track.
        #[prost(message, optional, tag = "60")]
        pub track_descriptor: Option<TrackDescriptor>,
    }

    /// `TrackEvent`.
    #[derive(Clone, PartialEq, Message)]
    pub struct TrackEvent {
        /// Number of its category.
        #[prost(uint64, repeated, packed = "false", tag = "3")]
        pub category_iids: Vec<u64>,
        /// Arguments.
        #[prost(message, repeated, tag = "4")]
        pub debug_annotations: Vec<DebugAnnotation>,
        /// 1: a slice begins; 2: it ends; 3: an instant; 4: a counter.
        #[prost(int32, tag = "9")]
        pub r#type: i32,
        /// Number of its name.
        #[prost(uint64, optional, tag = "10")]
        pub name_iid: Option<u64>,
        /// Its track.
        #[prost(uint64, tag = "11")]
        pub track_uuid: u64,
        /// Of a counter.
        #[prost(double, optional, tag = "44")]
        pub double_counter_value: Option<f64>,
    }

    /// `DebugAnnotation`.
    #[derive(Clone, PartialEq, Message)]
    pub struct DebugAnnotation {
        /// Number of its name.
        #[prost(uint64, tag = "1")]
        pub name_iid: u64,
        /// Its value: a number.
        #[prost(uint64, optional, tag = "3")]
        pub uint_value: Option<u64>,
        /// A text.
        #[prost(string, optional, tag = "6")]
        pub string_value: Option<String>,
        /// The number of a text.
        #[prost(uint64, optional, tag = "17")]
        pub string_value_iid: Option<u64>,
    }

    /// `InternedData`.
    #[derive(Clone, PartialEq, Message)]
    pub struct InternedData {
        /// Categories.
        #[prost(message, repeated, tag = "1")]
        pub event_categories: Vec<Name>,
        /// Names of events.
        #[prost(message, repeated, tag = "2")]
        pub event_names: Vec<Name>,
        /// Names of arguments.
        #[prost(message, repeated, tag = "3")]
        pub debug_annotation_names: Vec<Name>,
        /// Texts of arguments.
        #[prost(message, repeated, tag = "29")]
        pub debug_annotation_string_values: Vec<Name>,
    }

    /// `EventCategory`, `EventName`, `DebugAnnotationName`, `InternedString`.
    #[derive(Clone, PartialEq, Message)]
    pub struct Name {
        /// Its number, from 1.
        #[prost(uint64, tag = "1")]
        pub iid: u64,
        /// The name.
        #[prost(string, tag = "2")]
        pub name: String,
    }

    /// `TrackDescriptor`.
    #[derive(Clone, PartialEq, Message)]
    pub struct TrackDescriptor {
        /// Its number.
        #[prost(uint64, tag = "1")]
        pub uuid: u64,
        /// Its name.
        #[prost(string, tag = "2")]
        pub name: String,
        /// It is a process.
        #[prost(message, optional, tag = "3")]
        pub process: Option<ProcessDescriptor>,
        /// The track above it.
        #[prost(uint64, optional, tag = "5")]
        pub parent_uuid: Option<u64>,
        /// It is a counter.
        #[prost(message, optional, tag = "8")]
        pub counter: Option<CounterDescriptor>,
        /// The order of those below it; 3: by rank.
        #[prost(int32, optional, tag = "11")]
        pub child_ordering: Option<i32>,
        /// Its rank among those of one parent.
        #[prost(int32, optional, tag = "12")]
        pub sibling_order_rank: Option<i32>,
    }

    /// `ProcessDescriptor`.
    #[derive(Clone, PartialEq, Message)]
    pub struct ProcessDescriptor {
        /// Its number.
        #[prost(int32, tag = "1")]
        pub pid: i32,
        /// Its name.
        #[prost(string, tag = "6")]
        pub process_name: String,
    }

    /// `CounterDescriptor`.
    #[derive(Clone, PartialEq, Message)]
    pub struct CounterDescriptor {}
}

use proto::{
    CounterDescriptor, DebugAnnotation, InternedData, Name, ProcessDescriptor, TracePacket, TrackDescriptor, TrackEvent,
};

/// Nanoseconds of a cycle.
const CYCLE: u64 = 1000;
/// The one sequence.
const SEQUENCE: u32 = 1;
/// Tracks.
const PROCESS: u64 = 1;
const LAUNCHES: u64 = 2;
const COUNTERS: u64 = 3;
const PORTS: u64 = 10;
const FIRST_COUNTER: u64 = 100;
const WARPS: u64 = 1 << 16;
/// Rows of a warp slot at most.
const ROWS: u64 = 1 << 10;

/// `TrackEvent.Type`.
const BEGIN: i32 = 1;
const END: i32 = 2;
const INSTANT: i32 = 3;
const COUNTER: i32 = 4;
/// `ChildTracksOrdering`: by rank.
const EXPLICIT: i32 = 3;

/// Names that have been written.
#[derive(Default)]
struct Names(HashMap<String, u64>);

impl Names {
    /// The number of a name; a new name is added to `new`, to be written with the packet.
    fn number(&mut self, name: &str, new: &mut Vec<Name>) -> u64 {
        if let Some(&number) = self.0.get(name) {
            return number;
        }
        let iid = self.0.len() as u64 + 1;
        self.0.insert(name.to_owned(), iid);
        new.push(Name { iid, name: name.to_owned() });
        iid
    }
}

/// The value of an argument.
#[derive(Clone, Copy)]
enum Argument<'a> {
    Number(u64),
    /// A text that is written in place.
    Once(&'a str),
    /// A text that is written only once and then referred to.
    Often(&'a str),
}

/// Writer of this format.
pub struct Perfetto {
    out: BufWriter<Box<dyn Write + Send>>,
    lanes: Lanes,
    events: Names,
    categories: Names,
    arguments: Names,
    texts: Names,
    counters: HashMap<&'static str, u64>,
    ports: u64,
    begun: bool,
    bytes: Vec<u8>,
}

impl Perfetto {
    /// Starts a trace of a run with this name.
    pub fn new(run: &str, out: Box<dyn Write + Send>) -> io::Result<Self> {
        let mut perfetto = Self {
            out: BufWriter::new(out),
            lanes: Lanes::default(),
            events: Names::default(),
            categories: Names::default(),
            arguments: Names::default(),
            texts: Names::default(),
            counters: HashMap::new(),
            ports: 0,
            begun: false,
            bytes: Vec::new(),
        };
        let process = Some(ProcessDescriptor { pid: 1, process_name: run.to_owned() });
        let (uuid, name, child_ordering) = (PROCESS, run.to_owned(), Some(EXPLICIT));
        perfetto.describe(TrackDescriptor { uuid, name, process, child_ordering, ..TrackDescriptor::default() })?;
        perfetto.track(LAUNCHES, "launches", 0)?;
        perfetto.track(COUNTERS, "counters", 1 << 20)?;
        Ok(perfetto)
    }

    fn packet(&mut self, packet: TracePacket) -> io::Result<()> {
        let sequence_flags = if std::mem::replace(&mut self.begun, true) { 2 } else { 3 };
        let packet = TracePacket { trusted_packet_sequence_id: SEQUENCE, sequence_flags, ..packet };
        self.bytes.clear();
        // The file is one message, and each packet is a field of it.
        prost::encoding::message::encode(1, &packet, &mut self.bytes);
        self.out.write_all(&self.bytes)
    }

    fn describe(&mut self, track: TrackDescriptor) -> io::Result<()> {
        self.packet(TracePacket { track_descriptor: Some(track), ..TracePacket::default() })
    }

    /// A track of slices below the process.
    fn track(&mut self, uuid: u64, name: &str, rank: i32) -> io::Result<()> {
        let (name, parent_uuid) = (name.to_owned(), Some(PROCESS));
        let sibling_order_rank = Some(rank);
        self.describe(TrackDescriptor { uuid, name, parent_uuid, sibling_order_rank, ..TrackDescriptor::default() })
    }

    fn event(
        &mut self,
        cycle: u64,
        kind: i32,
        track_uuid: u64,
        named: Option<(&str, &str)>,
        arguments: &[(&str, Argument<'_>)],
    ) -> io::Result<()> {
        let mut new = InternedData::default();
        let mut event = TrackEvent { r#type: kind, track_uuid, ..TrackEvent::default() };
        if let Some((category, name)) = named {
            event.category_iids.push(self.categories.number(category, &mut new.event_categories));
            event.name_iid = Some(self.events.number(name, &mut new.event_names));
        }
        for (name, value) in arguments {
            let name_iid = self.arguments.number(name, &mut new.debug_annotation_names);
            let mut argument = DebugAnnotation { name_iid, ..DebugAnnotation::default() };
            match *value {
                Argument::Number(number) => argument.uint_value = Some(number),
                Argument::Once(text) => argument.string_value = Some(text.to_owned()),
                Argument::Often(text) => {
                    let number = self.texts.number(text, &mut new.debug_annotation_string_values);
                    argument.string_value_iid = Some(number);
                }
            }
            event.debug_annotations.push(argument);
        }
        let interned_data = (new != InternedData::default()).then_some(new);
        let (timestamp, track_event) = (Some(cycle * CYCLE), Some(event));
        self.packet(TracePacket { timestamp, track_event, interned_data, ..TracePacket::default() })
    }

    fn slice(&mut self, track: u64, category: &str, name: &str, [from, end]: [u64; 2]) -> io::Result<()> {
        self.event(from, BEGIN, track, Some((category, name)), &[])?;
        self.event(end, END, track, None, &[])
    }
}

impl Sink for Perfetto {
    fn leave(&mut self, flight: &Flight, end: u64, finished: bool) -> io::Result<()> {
        let Some(first) = flight.steps.first() else { return Ok(()) };
        let (lane, is_new) = self.lanes.place(flight, end);
        let track = WARPS + u64::from(flight.slot) * ROWS + lane as u64 % ROWS;
        if is_new {
            // The viewer shows tracks with the same name as rows of one track.
            self.track(track, &format!("warp {:02}", flight.slot), 16 + i32::from(flight.slot))?;
        }
        let facts = flight.facts(finished);
        let argument = |fact| match fact {
            &Fact::Number(number) => Argument::Number(number),
            Fact::Text(text) => Argument::Often(text),
        };
        let facts: Vec<_> = facts.iter().map(|(name, fact)| (*name, argument(fact))).collect();
        let name = (flight.category(), flight.text.instruction.as_str());
        self.event(first.from, BEGIN, track, Some(name), &facts)?;
        for (step, until) in flight.spans(end) {
            let detail: Vec<_> = step.detail.iter().map(|detail| ("for", Argument::Often(detail))).collect();
            let name = (step.stage.category(), step.stage.name());
            self.event(step.from, BEGIN, track, Some(name), &detail)?;
            self.event(until, END, track, None, &[])?;
        }
        self.event(end, END, track, None, &[])
    }

    fn stall(&mut self, port: usize, event: &'static str, from: u64, end: u64) -> io::Result<()> {
        let track = PORTS + port as u64;
        if self.ports >> port & 1 == 0 {
            self.ports |= 1 << port;
            self.track(track, &format!("issue port {port}"), 1 + port as i32)?;
        }
        self.slice(track, "stall", event, [from, end])
    }

    fn launch(&mut self, kernel: &str, from: u64, end: u64) -> io::Result<()> {
        self.slice(LAUNCHES, "launch", kernel, [from, end])
    }

    fn counter(&mut self, name: &'static str, cycle: u64, value: f64) -> io::Result<()> {
        let track_uuid = match self.counters.get(name) {
            Some(&uuid) => uuid,
            None => {
                let uuid = FIRST_COUNTER + self.counters.len() as u64;
                self.counters.insert(name, uuid);
                let (name, counter) = (name.to_owned(), Some(CounterDescriptor {}));
                let parent_uuid = Some(COUNTERS);
                self.describe(TrackDescriptor { uuid, name, parent_uuid, counter, ..TrackDescriptor::default() })?;
                uuid
            }
        };
        let double_counter_value = Some(value);
        let event = TrackEvent { r#type: COUNTER, track_uuid, double_counter_value, ..TrackEvent::default() };
        let (timestamp, track_event) = (Some(cycle * CYCLE), Some(event));
        self.packet(TracePacket { timestamp, track_event, ..TracePacket::default() })
    }

    fn mark(&mut self, cycle: u64, text: &str, details: &[(&'static str, String)]) -> io::Result<()> {
        let details: Vec<_> = details.iter().map(|(name, value)| (*name, Argument::Once(value))).collect();
        self.event(cycle, INSTANT, LAUNCHES, Some(("failure", text)), &details)
    }

    fn finish(&mut self, _end: u64) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use prost::Message;

    use super::super::flight::{Stage, Step, Text};
    use super::*;

    #[derive(Clone, Default)]
    struct Bytes(Arc<Mutex<Vec<u8>>>);

    impl Write for Bytes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn flight(slot: u8, steps: &[(Stage, u64)]) -> Flight {
        let steps = steps.iter().map(|&(stage, from)| Step { stage, from, detail: None }).collect();
        let text = Arc::new(Text { instruction: "NOP".into(), kernel: "k".into(), ..Text::default() });
        Flight { slot, steps, text, mask: Some(3), ..Flight::default() }
    }

    #[test]
    fn names_are_written_once_and_slices_nest() {
        let out = Bytes::default();
        let mut sink = Perfetto::new("SM", Box::new(out.clone())).unwrap();
        let steps = [(Stage::Fetch, 5), (Stage::Decode, 6), (Stage::Scoreboard, 7)];
        sink.leave(&flight(2, &steps), 9, true).unwrap();
        sink.leave(&flight(2, &[(Stage::Fetch, 8), (Stage::Decode, 9)]), 12, false).unwrap();
        sink.counter("issue", 0, 0.5).unwrap();
        sink.mark(9, "diverged", &[("block", "alu".to_owned())]).unwrap();
        sink.finish(12).unwrap();
        let trace = proto::Trace::decode(&out.0.lock().unwrap()[..]).unwrap();
        assert_eq!(trace.packet[0].sequence_flags, 3);
        assert!(trace.packet[1..].iter().all(|packet| packet.sequence_flags == 2));
        let names: Vec<_> = trace
            .packet
            .iter()
            .flat_map(|packet| &packet.interned_data)
            .flat_map(|data| &data.event_names)
            .map(|name| (name.iid, name.name.as_str()))
            .collect();
        let expected = ["NOP", "fetch", "decode", "wait: scoreboard", "diverged"];
        assert_eq!(names, (1..).zip(expected).collect::<Vec<_>>());
        let events = trace.packet.iter().filter_map(|packet| Some((packet.timestamp?, packet.track_event.as_ref()?)));
        let of_row = |row: u64| {
            let events = events.clone().filter(move |(_, event)| event.track_uuid == WARPS + 2 * ROWS + row);
            events.map(|(at, event)| (at / CYCLE, event.r#type, event.name_iid.unwrap_or(0))).collect::<Vec<_>>()
        };
        let first = [(5, 1, 1), (5, 1, 2), (6, 2, 0), (6, 1, 3), (7, 2, 0), (7, 1, 4), (9, 2, 0), (9, 2, 0)];
        assert_eq!(of_row(0), first);
        // It overlaps another one, so it has a row of its own.
        assert_eq!(of_row(1), [(8, 1, 1), (8, 1, 2), (9, 2, 0), (9, 1, 3), (12, 2, 0), (12, 2, 0)]);
    }
}
