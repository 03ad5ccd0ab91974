//! Locks of shared registers, where blocks may share them, and the throttle of non-owners: `share_locks`, `share_throttle`.

use gpurf_blocks::Block;
use gpurf_blocks::issue::Classes;
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_blocks::share::{Allowed, Divided, ShareLocks, ShareStraps, ShareThrottle, count_event};

use super::Blocks;
use super::decided::Decided;
use super::events::stalls;
use crate::nets::Outputs;
use crate::ports::SmIn;

/// The blocks, and their decisions in a cycle.
#[derive(Clone)]
pub(super) struct Share {
    pub(super) locks: ShareLocks,
    /// Present where non-owners are throttled.
    pub(super) throttle: Option<ShareThrottle>,
    straps: ShareStraps,
    pub(super) allowed: Allowed,
}

impl Share {
    pub(super) fn new(shape: &SmShape) -> Self {
        Self {
            locks: ShareLocks::new(shape),
            throttle: (shape.throttle != 0).then(|| ShareThrottle::new(shape)),
            straps: ShareStraps::default(),
            allowed: Allowed::default(),
        }
    }

    /// Clock edge in reset.
    pub(super) fn reset(&mut self) {
        self.locks.reset();
        self.throttle.iter_mut().for_each(|throttle| throttle.reset());
    }

    /// Whether non-owners may use memory.
    #[inline]
    fn allows(&self) -> bool {
        self.throttle.as_ref().is_none_or(|throttle| throttle.allows())
    }
}

impl Blocks {
    /// Whether blocks share registers or scratchpad memory.
    #[inline]
    pub(super) fn shares(&self) -> bool {
        self.share.is_some() || self.scratchpad.is_some()
    }

    /// Sets the straps of the cycle that begins. They hardly ever change.
    #[inline(never)]
    pub(super) fn begin_share(&mut self, straps: &Straps) {
        self.begin_scratchpad(straps);
        if let Some(share) = &mut self.share {
            let straps = ShareStraps::of(straps.share);
            if share.straps != straps {
                share.straps = straps;
                self.settle_share();
            }
        }
    }

    /// After the edge: decides which heads may issue in the next cycle as far as locks go, from state alone.
    #[inline(never)]
    pub(super) fn settle_share(&mut self) {
        self.settle_scratchpad();
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
            allow: share.allows(),
        };
        let buffer = &self.instruction_buffer;
        let head = |w: usize| (buffer.roles(w), buffer.head(w).op);
        share.allowed = share.locks.allowed(share.straps, self.powered(), &divided, head);
        self.share = Some(share);
    }

    /// Warps that come before others, and after them.
    #[inline]
    pub(super) fn classes(&self) -> Classes {
        match (&self.share, &self.scratchpad) {
            (Some(share), _) => Classes { lead: share.allowed.lead, last: share.allowed.last },
            (None, Some(scratchpad)) => Classes { lead: scratchpad.claims.lead, last: scratchpad.claims.last },
            (None, None) => Classes::default(),
        }
    }

    /// The event word of locks and throttle.
    #[inline(never)]
    pub(super) fn share_event(&self, decided: &Decided) -> u64 {
        let event = |share: &Share| {
            let throttle = share.throttle.as_ref().map_or(0, |throttle| throttle.event());
            count_event(share.locks.event(&share.allowed, decided.pops), throttle.into())
        };
        self.share.as_deref().map_or_else(|| self.scratchpad_event(decided), event)
    }

    /// Clock edge after a cycle with these events of the SM.
    #[inline(never)]
    pub(super) fn clock_share(&mut self, inputs: &SmIn, decided: &Decided, events: u64, idle: u64) {
        self.clock_scratchpad(decided, idle);
        if let Some(share) = &mut self.share {
            share.locks.advance(&share.allowed, decided.pops);
            if let Some(throttle) = &mut share.throttle {
                let reference = (inputs.throttle_reference_valid_i != 0).then_some(inputs.throttle_reference_i);
                throttle.advance(stalls(events), reference);
            }
        }
    }

    /// Whether no lock changes as long as nothing issues. A throttle draws and counts a number in each cycle: no two cycles are alike.
    pub(super) fn share_is_still(&self) -> bool {
        let (alive, idle) = (self.simt_stack.alive(), self.scoreboard.idle());
        self.share.as_ref().is_none_or(|share| share.throttle.is_none() && share.locks.is_still(alive, idle))
            && self.scratchpad_is_still(alive, idle)
    }

    /// Records the outputs of the blocks. Without them the net at `clear_o` is that of power states, and non-owners may use memory.
    pub(super) fn record_share(&self, o: &mut Outputs) {
        let Classes { lead, last } = self.classes();
        (o.share_locks.clear_o, o.share_locks.lead_o, o.share_locks.last_o) = (self.clear(), lead, last);
        self.record_scratchpad(o);
        o.share_throttle.allow_o = self.share.as_ref().is_none_or(|share| share.allows()).into();
    }
}
