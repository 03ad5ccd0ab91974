//! Counters of a trace: the events that the SM declares, and values derived from them, in intervals of cycles.
//!
//! This module knows no design: the event words are those of the SM's ports, with the names that blocks and designs declare.

use std::io;

use gpurf_blocks::Declaration;
use gpurf_blocks::config::{BankPorts, Config};
use gpurf_lockstep::{EventReader, EventTotals};

use super::INTERVAL;
use super::sink::Sink;

/// Maximum number of accesses that the banks of the register file can make in a cycle.
pub fn bank_accesses(config: &Config) -> u64 {
    let ports = if config.mrf.ports == BankPorts::Separate { 2 } else { 1 };
    config.mrf.banks as u64 * ports
}

/// Warps with living lanes.
pub const ALIVE: &str = "warps alive";
/// Warps that may issue.
pub const READY: &str = "warps ready";
/// Accesses of the register file's banks, in percent of the maximum.
pub const UTILISATION: &str = "bank utilisation (%)";

/// A counter.
struct Counter {
    name: &'static str,
    /// Value in the last cycle.
    value: u64,
    /// Sum of the interval so far.
    sum: u64,
    /// The value that was written last.
    shown: Option<f64>,
}

impl Counter {
    fn new(name: &'static str) -> Self {
        Self { name, value: 0, sum: 0, shown: None }
    }
}

/// Sums of an interval.
pub struct Counters {
    readers: Vec<EventReader>,
    /// The counters of the readers, then warps alive and ready.
    counters: Vec<Counter>,
    bank_accesses: u64,
    utilisation: Option<f64>,
    /// Number of cycles of the interval so far.
    cycles: u64,
}

impl Counters {
    /// Of an SM.
    pub fn new(config: &Config, declaration: &Declaration) -> Self {
        let readers = EventTotals::readers(declaration);
        let names = readers.iter().map(|reader| reader.name).chain([ALIVE, READY]);
        let counters = names.map(Counter::new).collect();
        Self { readers, counters, bank_accesses: bank_accesses(config), utilisation: None, cycles: 0 }
    }

    /// Stores the counts of a cycle; `alive` and `ready` are sets of warps.
    pub fn add(&mut self, compared: &[u8], alive: u64, ready: u64) {
        let sets = [alive, ready].map(|set| u64::from(set.count_ones()));
        let values = self.readers.iter().map(|reader| reader.of(compared)).chain(sets);
        self.counters.iter_mut().zip(values).for_each(|(counter, value)| counter.value = value);
    }

    /// Adds this many cycles that equal the last one, up to the one before `end`.
    pub fn pass(&mut self, cycles: u64, end: u64, sink: &mut dyn Sink) -> io::Result<()> {
        let mut left = cycles;
        while left > 0 {
            let part = left.min(INTERVAL - self.cycles);
            self.counters.iter_mut().for_each(|counter| counter.sum += counter.value * part);
            self.cycles += part;
            left -= part;
            if self.cycles == INTERVAL {
                self.show(end - left, sink)?;
            }
        }
        Ok(())
    }

    /// Ends the interval before cycle `end`.
    fn show(&mut self, end: u64, sink: &mut dyn Sink) -> io::Result<()> {
        let cycles = std::mem::take(&mut self.cycles);
        let from = end - cycles;
        let mut accesses = 0;
        for counter in &mut self.counters {
            let sum = std::mem::take(&mut counter.sum);
            if ["read", "write"].contains(&counter.name) {
                accesses += sum;
            }
            let value = sum as f64 / cycles as f64;
            if counter.shown.unwrap_or(0.0) != value {
                sink.counter(counter.name, from, value)?;
                counter.shown = Some(value);
            }
        }
        let value = 100.0 * accesses as f64 / (cycles * self.bank_accesses) as f64;
        if self.utilisation != Some(value) {
            sink.counter(UTILISATION, from, value)?;
            self.utilisation = Some(value);
        }
        Ok(())
    }

    /// Ends the last interval before cycle `end`; from there on all counters are 0.
    pub fn finish(&mut self, end: u64, sink: &mut dyn Sink) -> io::Result<()> {
        if self.cycles > 0 {
            self.show(end, sink)?;
        }
        for counter in self.counters.iter().filter(|counter| counter.shown.is_some_and(|value| value != 0.0)) {
            sink.counter(counter.name, end, 0.0)?;
        }
        if self.utilisation.is_some_and(|value| value != 0.0) {
            sink.counter(UTILISATION, end, 0.0)?;
        }
        Ok(())
    }
}
