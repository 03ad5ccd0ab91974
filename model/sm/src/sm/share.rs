//! Locks of shared registers, where blocks may share some: `share_locks`.

use gpurf_blocks::Block;
use gpurf_blocks::issue::Classes;
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_blocks::share::{Allowed, Divided, ShareLocks, ShareStraps};

use super::Blocks;
use super::decided::Decided;
use crate::nets::Outputs;

/// The block, and what it decides in a cycle.
pub(super) struct Share {
    pub(super) locks: ShareLocks,
    straps: ShareStraps,
    pub(super) allowed: Allowed,
}

impl Share {
    pub(super) fn new(shape: &SmShape) -> Self {
        Self { locks: ShareLocks::new(shape), straps: ShareStraps::default(), allowed: Allowed::default() }
    }

    /// An edge in reset.
    pub(super) fn reset(&mut self) {
        self.locks.reset();
    }
}

impl Blocks {
    /// The straps of the cycle that begins. They hardly ever change.
    #[inline]
    pub(super) fn begin_share(&mut self, straps: &Straps) {
        if let Some(share) = &mut self.share {
            let straps = ShareStraps::of(straps.share);
            if share.straps != straps {
                share.straps = straps;
                self.settle_share();
            }
        }
    }

    /// Behind the edge: whose heads may issue in the next cycle as far as locks go, which follows from state alone.
    #[inline]
    pub(super) fn settle_share(&mut self) {
        let Some(mut share) = self.share.take() else { return };
        let launcher = &self.block_launcher;
        share.locks.place(launcher.slots());
        let divided = Divided {
            alive: self.simt_stack.alive(),
            idle: self.scoreboard.idle(),
            layout: launcher.layout(),
            end_warps: launcher.end_warps(),
            slot_busy: launcher.slot_busy(),
            slot_young: launcher.slot_young(),
        };
        let buffer = &self.instruction_buffer;
        let head = |w: usize| (buffer.roles(w), buffer.head(w).op);
        share.allowed = share.locks.allowed(share.straps, self.powered(), &divided, head);
        self.share = Some(share);
    }

    /// Warps that come before others and behind them.
    #[inline]
    pub(super) fn classes(&self) -> Classes {
        let share = self.share.as_ref();
        share.map_or(Classes::default(), |share| Classes { lead: share.allowed.lead, last: share.allowed.last })
    }

    /// The events.
    #[inline]
    pub(super) fn share_event(&self, decided: &Decided) -> u64 {
        self.share.as_ref().map_or(0, |share| share.locks.event(&share.allowed, decided.pops))
    }

    /// The edge.
    #[inline]
    pub(super) fn clock_share(&mut self, decided: &Decided) {
        if let Some(share) = &mut self.share {
            share.locks.advance(&share.allowed, decided.pops);
        }
    }

    /// Whether no lock changes as long as nothing issues.
    pub(super) fn share_is_still(&self) -> bool {
        let (alive, idle) = (self.simt_stack.alive(), self.scoreboard.idle());
        self.share.as_ref().is_none_or(|share| share.locks.is_still(alive, idle))
    }

    /// The outputs of the block. Without it the net at `clear_o` is that of power states.
    pub(super) fn record_share(&self, o: &mut Outputs) {
        let Classes { lead, last } = self.classes();
        (o.share_locks.clear_o, o.share_locks.lead_o, o.share_locks.last_o) = (self.clear(), lead, last);
    }
}
