//! The warp that each warp slot runs.

use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_oracle::{Geometry, WarpId};

use crate::cycle::Cycle;

/// Derives the owner of each slot from the launcher's starts: blocks start in order, and so do their warps.
pub struct Owners {
    geometry: Geometry,
    owners: [Option<WarpId>; MAX_WARPS],
    blocks: u64,
}

impl Owners {
    /// No slot has a warp yet.
    pub fn new(geometry: Geometry) -> Self {
        Self { geometry, owners: [None; MAX_WARPS], blocks: 0 }
    }

    /// Observes a cycle; returns the warp slot in which a warp starts.
    pub fn observe(&mut self, cycle: &Cycle<'_>) -> Option<usize> {
        let launcher = &cycle.probe.outputs.block_launcher;
        if launcher.start_valid_o == 0 {
            return None;
        }
        let slot = u32::from(launcher.start_warp_o);
        let warp = slot % self.geometry.warps();
        if warp == 0 {
            self.blocks += 1;
        }
        let slot = slot as usize;
        self.owners[slot] = self.blocks.checked_sub(1).map(|block| WarpId { block, warp });
        Some(slot)
    }

    /// The warp of a slot; `None` if no warp has started in it.
    pub fn of(&self, slot: u8) -> Option<WarpId> {
        self.owners.get(usize::from(slot)).copied().flatten()
    }
}
