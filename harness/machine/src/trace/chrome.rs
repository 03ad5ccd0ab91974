//! Chrome's trace events: one JSON object, which Perfetto opens and scripts read. One microsecond stands for one cycle.

use std::io::{self, BufWriter, Write};

use serde_json::{Map, Value, json};

use super::flight::{Fact, Flight};
use super::lanes::Lanes;
use super::sink::Sink;

/// Number of the only process.
const PID: u32 = 1;
/// Row of the launches; the rows of issue ports follow.
const LAUNCHES: u32 = 10;
/// First row of warp slot 0, and maximum number of rows of a warp.
const WARPS: u32 = 1000;

/// Writer of this format.
pub struct Chrome {
    out: BufWriter<Box<dyn Write + Send>>,
    lanes: Lanes,
    ports: Vec<bool>,
    any: bool,
}

impl Chrome {
    /// Starts a trace of a run with this name.
    pub fn new(run: &str, out: Box<dyn Write + Send>) -> io::Result<Self> {
        let mut chrome = Self { out: BufWriter::new(out), lanes: Lanes::default(), ports: Vec::new(), any: false };
        let other = json!({ "run": run, "unit": "1 us is a cycle" });
        write!(chrome.out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{other},\"traceEvents\":[")?;
        chrome.event(&json!({ "ph": "M", "name": "process_name", "pid": PID, "args": { "name": run } }))?;
        chrome.row(LAUNCHES, "launches")?;
        Ok(chrome)
    }

    fn event(&mut self, event: &Value) -> io::Result<()> {
        let before = if std::mem::replace(&mut self.any, true) { ",\n" } else { "\n" };
        self.out.write_all(before.as_bytes())?;
        serde_json::to_writer(&mut self.out, event).map_err(Into::into)
    }

    fn row(&mut self, tid: u32, name: &str) -> io::Result<()> {
        let meta = |kind: &str, args: Value| json!({ "ph": "M", "name": kind, "pid": PID, "tid": tid, "args": args });
        self.event(&meta("thread_name", json!({ "name": name })))?;
        self.event(&meta("thread_sort_index", json!({ "sort_index": tid })))
    }

    fn slice(
        &mut self,
        tid: u32,
        category: &str,
        name: &str,
        span: [u64; 2],
        args: Map<String, Value>,
    ) -> io::Result<()> {
        let [from, end] = span;
        let mut event = json!({
            "ph": "X", "pid": PID, "tid": tid, "cat": category, "name": name, "ts": from, "dur": end - from,
        });
        if !args.is_empty() {
            event["args"] = args.into();
        }
        self.event(&event)
    }
}

fn value(fact: Fact) -> Value {
    match fact {
        Fact::Number(number) => number.into(),
        Fact::Text(text) => text.into(),
    }
}

impl Sink for Chrome {
    fn leave(&mut self, flight: &Flight, end: u64, finished: bool) -> io::Result<()> {
        let Some(first) = flight.steps.first() else { return Ok(()) };
        let (lane, is_new) = self.lanes.place(flight, end);
        let tid = WARPS * (1 + u32::from(flight.slot)) + lane as u32;
        if is_new {
            let more = if lane == 0 { String::new() } else { format!(" ({})", lane + 1) };
            self.row(tid, &format!("warp {:02}{more}", flight.slot))?;
        }
        let args = flight.facts(finished).into_iter().map(|(name, fact)| (name.to_owned(), value(fact))).collect();
        self.slice(tid, flight.category(), &flight.text.instruction, [first.from, end], args)?;
        for (step, until) in flight.spans(end) {
            let detail = step.detail.iter().map(|detail| ("for".to_owned(), detail.as_str().into())).collect();
            self.slice(tid, step.stage.category(), step.stage.name(), [step.from, until], detail)?;
        }
        Ok(())
    }

    fn stall(&mut self, port: usize, event: &'static str, from: u64, end: u64) -> io::Result<()> {
        let tid = LAUNCHES + 1 + port as u32;
        if self.ports.len() <= port {
            self.ports.resize(port + 1, false);
        }
        if !std::mem::replace(&mut self.ports[port], true) {
            self.row(tid, &format!("issue port {port}"))?;
        }
        self.slice(tid, "stall", event, [from, end], Map::new())
    }

    fn launch(&mut self, kernel: &str, from: u64, end: u64) -> io::Result<()> {
        self.slice(LAUNCHES, "launch", kernel, [from, end], Map::new())
    }

    fn counter(&mut self, name: &'static str, cycle: u64, value: f64) -> io::Result<()> {
        self.event(&json!({ "ph": "C", "pid": PID, "name": name, "ts": cycle, "args": { "value": value } }))
    }

    fn mark(&mut self, cycle: u64, text: &str, details: &[(&'static str, String)]) -> io::Result<()> {
        let args: Map<String, Value> =
            details.iter().map(|(name, value)| ((*name).into(), value.as_str().into())).collect();
        self.event(&json!({
            "ph": "i", "s": "g", "pid": PID, "tid": LAUNCHES, "cat": "failure", "name": text, "ts": cycle, "args": args,
        }))
    }

    fn finish(&mut self, _end: u64) -> io::Result<()> {
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }
}
