//! `shared_memory`.

use gpurf_blocks::config::Config;
use gpurf_blocks::memory::{SharedMemory, SharedMemoryIn};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use super::scratchpad::{AccessKnobs, Accesses, ScratchpadCover};
use crate::driver::Twin;
use crate::{Driver, Unreached};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<SharedMemory, SharedMemoryDriver, ScratchpadCover>();

pub(crate) struct SharedMemoryDriver {
    accesses: Accesses,
    /// Tells which lanes are served.
    twin: Twin<SharedMemory>,
}

impl Driver for SharedMemoryDriver {
    type In = SharedMemoryIn;
    type Knobs = AccessKnobs;

    fn new(shape: &SmShape, config: &Config) -> Self {
        Self { accesses: Accesses::new(4, shape, config), twin: Twin::new(shape) }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        Accesses::unreached(shape)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &AccessKnobs, inputs: &mut SharedMemoryIn) {
        let offered = self.accesses.offer(rng, knobs);
        self.twin.early();
        self.twin.late(offered);
        *inputs = *self.accesses.serve(self.twin.out.served_o);
        self.twin.clock(inputs);
    }
}
