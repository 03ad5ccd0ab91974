//! Counters: the events that the SM declares, and what follows from them, in intervals of cycles.
//!
//! Nothing here knows a design: the event words are those of the SM's ports, with the names that blocks and designs declare.

use std::io;

use gpurf_blocks::Declaration;
use gpurf_blocks::config::{BankPorts, Config};
use gpurf_lockstep::{EventReader, EventTotals};

use super::INTERVAL;
use super::sink::Sink;

/// Accesses that the banks of the register file could make in a cycle.
pub fn bank_accesses(config: &Config) -> u64 {
    let ports = if config.mrf.ports == BankPorts::Separate { 2 } else { 1 };
    config.mrf.banks as u64 * ports
}

/// Warps with living lanes.
pub const ALIVE: &str = "warps alive";
/// Those that may issue.
pub const READY: &str = "warps ready";
/// Accesses of the register file's banks, of those they could make, in percent.
pub const UTILISATION: &str = "bank utilisation (%)";

/// A counter.
struct Counter {
    name: &'static str,
    /// In the last cycle.
    value: u64,
    /// In the interval so far.
    sum: u64,
    /// What the sink has seen.
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
    /// Those of the readers, then warps alive and ready.
    counters: Vec<Counter>,
    bank_accesses: u64,
    utilisation: Option<f64>,
    /// Cycles of the interval so far.
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

    /// What a cycle counts; `alive` and `ready` are sets of warps.
    pub fn add(&mut self, compared: &[u8], alive: u64, ready: u64) {
        let sets = [alive, ready].map(|set| u64::from(set.count_ones()));
        let values = self.readers.iter().map(|reader| reader.of(compared)).chain(sets);
        self.counters.iter_mut().zip(values).for_each(|(counter, value)| counter.value = value);
    }

    /// So many cycles like the last one pass, up to the one in front of `end`.
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

    /// The interval ends in front of a cycle.
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

    /// The last interval ends in front of a cycle, and all counters are 0 from there on.
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
