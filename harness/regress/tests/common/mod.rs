//! What the tests of the lockstep share.

use gpurf_blocks::{Declaration, Memory, Twin};

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
}
