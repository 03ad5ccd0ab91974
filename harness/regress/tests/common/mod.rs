//! Functions that the tests of the lockstep share.

#[allow(dead_code, reason = "not every test that has this module runs jobs")]
pub mod bench;

use gpurf_blocks::{Declaration, Memory, Twin};
use gpurf_lockstep::RunOutcome;

/// Everything that is known of a run except its speed: as text, and the valid bytes of both sides, cycle by cycle.
#[allow(dead_code, reason = "the test of the memory cells has this module for its faults")]
pub fn known(declaration: &Declaration, outcome: &RunOutcome) -> (String, Vec<u8>) {
    let RunOutcome { cycles, cause, capture, events, spreads, slow_compares } = outcome;
    let first = capture.as_ref().map(|capture| capture.first_cycle);
    let capture = capture.iter();
    let sides = capture.flat_map(|c| (0..c.len()).map(|i| c.rtl(i)).chain((0..c.len()).map(|i| c.model(i))));
    let mut bytes = Vec::new();
    for record in sides {
        for (index, signal) in declaration.signals.iter().enumerate() {
            for element in (0..signal.field.count).filter(|&element| declaration.is_valid(record, index, element)) {
                bytes.extend_from_slice(signal.field.bytes(record, element));
            }
        }
    }
    (format!("{cycles} {cause:?} {first:?} {events:?} {spreads:?} {slow_compares}"), bytes)
}

/// Called after each cycle with the twin, the number of cycles it has run (reset counts), and the cycle's compared part.
pub type Fault = fn(&mut dyn Twin, u64, &mut [u8]);

/// A twin with a defect of its own.
pub struct Faulty {
    inner: Box<dyn Twin>,
    cycles: u64,
    fault: Fault,
}

impl Faulty {
    /// Gives a twin a defect.
    pub fn boxed(inner: Box<dyn Twin>, fault: Fault) -> Box<dyn Twin> {
        Box::new(Self { inner, cycles: 0, fault })
    }
}

impl Twin for Faulty {
    fn declaration(&self) -> &Declaration {
        self.inner.declaration()
    }
    fn cycle(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.inner.cycle(inputs, compared);
        self.cycles += 1;
        (self.fault)(&mut *self.inner, self.cycles, compared);
    }
    fn cycle_unprobed(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.inner.cycle_unprobed(inputs, compared);
    }
    fn memories(&mut self) -> Vec<Memory<'_>> {
        self.inner.memories()
    }
    fn duplicate(&self) -> Box<dyn Twin> {
        Box::new(Self { inner: self.inner.duplicate(), ..*self })
    }
}
