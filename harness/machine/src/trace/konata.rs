//! Konata's text format, version 4 of its log. Lines have to be in the order of cycles.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};

use super::flight::Flight;
use super::sink::Sink;

/// Writer of this format.
pub struct Konata {
    out: BufWriter<Box<dyn Write + Send>>,
    /// Lines of the last cycles: they are delayed, because an instruction is seen only in the cycle after its fetch.
    waiting: BTreeMap<u64, String>,
    /// The cycle of the last line.
    at: Option<u64>,
    /// Numbers of the instructions in flight in the file: they ascend from 0 without a gap.
    numbers: HashMap<u64, u64>,
    next: u64,
    ended: u64,
}

impl Konata {
    /// Starts a trace.
    pub fn new(out: Box<dyn Write + Send>) -> io::Result<Self> {
        let mut out = BufWriter::new(out);
        writeln!(out, "Kanata\t0004")?;
        let (waiting, numbers) = (BTreeMap::new(), HashMap::new());
        Ok(Self { out, waiting, at: None, numbers, next: 0, ended: 0 })
    }

    fn line(&mut self, cycle: u64, line: std::fmt::Arguments<'_>) {
        let lines = self.waiting.entry(cycle).or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{line}");
    }

    /// Writes all lines before a cycle.
    fn advance(&mut self, until: u64) -> io::Result<()> {
        while let Some(first) = self.waiting.first_entry() {
            let cycle = *first.key();
            if cycle >= until {
                break;
            }
            match self.at {
                None => writeln!(self.out, "C=\t{cycle}")?,
                Some(at) if at < cycle => writeln!(self.out, "C\t{}", cycle - at)?,
                Some(_) => {}
            }
            self.at = Some(cycle);
            self.out.write_all(first.remove().as_bytes())?;
        }
        Ok(())
    }

    fn add(&mut self, cycle: u64, thread: u64, label: &str, details: &str) -> u64 {
        let number = self.next;
        self.next += 1;
        self.line(cycle, format_args!("I\t{number}\t{number}\t{thread}"));
        self.line(cycle, format_args!("L\t{number}\t0\t{}", plain(label)));
        self.line(cycle, format_args!("L\t{number}\t1\t{}", plain(details)));
        number
    }
}

/// The text on one line, without tabs.
fn plain(text: &str) -> String {
    text.replace(['\t', '\n', '\r'], " ")
}

impl Sink for Konata {
    fn enter(&mut self, flight: &Flight, step: usize) -> io::Result<()> {
        let Some(step_seen) = flight.steps.get(step) else { return Ok(()) };
        let (cycle, stage) = (step_seen.from, step_seen.stage);
        self.advance(cycle.saturating_sub(1))?;
        let number = match self.numbers.get(&flight.id) {
            Some(&number) => number,
            None => {
                let label = format!("w{:02} {:4}: {}", flight.slot, flight.pc, flight.text.instruction);
                let facts = flight.facts(true).into_iter().filter(|(name, _)| *name != "mask");
                let details: Vec<String> = facts.map(|(name, value)| format!("{name} {value}")).collect();
                let number = self.add(cycle, flight.slot.into(), &label, &details.join(", "));
                self.numbers.insert(flight.id, number);
                number
            }
        };
        self.line(cycle, format_args!("S\t{number}\t0\t{}", stage.short()));
        if let Some(detail) = &step_seen.detail {
            self.line(cycle, format_args!("L\t{number}\t1\t, waits for {}", plain(detail)));
        }
        Ok(())
    }

    fn leave(&mut self, flight: &Flight, end: u64, finished: bool) -> io::Result<()> {
        let (Some(number), Some(last)) = (self.numbers.remove(&flight.id), flight.steps.last()) else { return Ok(()) };
        if let Some(mask) = flight.mask {
            self.line(end, format_args!("L\t{number}\t1\t, mask {mask:#010x}"));
        }
        self.line(end, format_args!("E\t{number}\t0\t{}", last.stage.short()));
        let (order, flushed) = (self.ended, u8::from(!finished));
        self.ended += 1;
        self.line(end, format_args!("R\t{number}\t{order}\t{flushed}"));
        Ok(())
    }

    fn launch(&mut self, _kernel: &str, _from: u64, _end: u64) -> io::Result<()> {
        Ok(())
    }

    fn mark(&mut self, cycle: u64, text: &str, details: &[(&'static str, String)]) -> io::Result<()> {
        let details: Vec<String> = details.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let cycle = self.at.map_or(cycle, |at| at.max(cycle));
        let number = self.add(cycle, 0, text, &details.join(", "));
        self.line(cycle, format_args!("S\t{number}\t0\t!"));
        self.line(cycle + 1, format_args!("E\t{number}\t0\t!"));
        let order = self.ended;
        self.ended += 1;
        self.line(cycle + 1, format_args!("R\t{number}\t{order}\t0"));
        Ok(())
    }

    fn finish(&mut self, _end: u64) -> io::Result<()> {
        self.advance(u64::MAX)?;
        self.out.flush()
    }
}
