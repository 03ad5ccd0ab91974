//! The interface of trace writers.

use std::io;

use super::flight::Flight;

/// Writes a trace. Cycles are numbered from reset on; a span is given by its first cycle and the one after its last.
pub trait Sink: Send {
    /// An instruction has entered another stage, its last one so far. Cycles do not decrease by more than one.
    ///
    /// # Errors
    /// When it cannot be written.
    fn enter(&mut self, _flight: &Flight, _step: usize) -> io::Result<()> {
        Ok(())
    }

    /// An instruction has ended; `finished` is false if the trace ends before it does.
    ///
    /// # Errors
    /// When it cannot be written.
    fn leave(&mut self, flight: &Flight, end: u64, finished: bool) -> io::Result<()>;

    /// An issue port issued nothing; `event` is the name under which the statistics count such cycles.
    ///
    /// # Errors
    /// When it cannot be written.
    fn stall(&mut self, _port: usize, _event: &'static str, _from: u64, _end: u64) -> io::Result<()> {
        Ok(())
    }

    /// A launch has ended.
    ///
    /// # Errors
    /// When it cannot be written.
    fn launch(&mut self, kernel: &str, from: u64, end: u64) -> io::Result<()>;

    /// The value of a counter from a cycle on.
    ///
    /// # Errors
    /// When it cannot be written.
    fn counter(&mut self, _name: &'static str, _cycle: u64, _value: f64) -> io::Result<()> {
        Ok(())
    }

    /// A failure in a cycle.
    ///
    /// # Errors
    /// When it cannot be written.
    fn mark(&mut self, cycle: u64, text: &str, details: &[(&'static str, String)]) -> io::Result<()>;

    /// The trace ends before this cycle.
    ///
    /// # Errors
    /// When it cannot be written.
    fn finish(&mut self, end: u64) -> io::Result<()>;
}
