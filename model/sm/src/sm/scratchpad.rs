//! Locks of shared scratchpad memory, where blocks may share it: `scratchpad_locks`.

use gpurf_blocks::Block;
use gpurf_blocks::instruction::is_release;
use gpurf_blocks::memory::Common;
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_blocks::share::{Claims, Progress, ScratchpadAnswer, ScratchpadLocks, ScratchpadStraps, Sharers};

use super::Blocks;
use super::decided::Decided;
use crate::nets::Outputs;

/// The block, and its decisions in a cycle.
#[derive(Clone)]
pub(super) struct Scratchpad {
    pub(super) locks: ScratchpadLocks,
    straps: ScratchpadStraps,
    pub(super) claims: Claims,
}

impl Scratchpad {
    pub(super) fn new(shape: &SmShape) -> Self {
        Self { locks: ScratchpadLocks::new(shape), straps: ScratchpadStraps::default(), claims: Claims::default() }
    }

    /// Clock edge in reset.
    pub(super) fn reset(&mut self) {
        self.locks.reset();
    }
}

impl Blocks {
    /// Sets the straps of the cycle that begins.
    #[inline]
    pub(super) fn begin_scratchpad(&mut self, straps: &Straps) {
        if let Some(scratchpad) = &mut self.scratchpad {
            let straps = ScratchpadStraps::of(straps.scratchpad());
            if scratchpad.straps != straps {
                scratchpad.straps = straps;
                self.settle_scratchpad();
            }
        }
    }

    /// How the SM is divided, and which warp begins.
    fn sharers(&self) -> Sharers {
        let launcher = &self.block_launcher;
        Sharers {
            alive: self.simt_stack.alive(),
            host_warps: launcher.layout().host_warps(),
            end_warps: launcher.end_warps(),
            slot_busy: launcher.slot_busy(),
            slot_young: launcher.slot_young(),
            start: launcher.start().map(|(warp, _)| warp),
        }
    }

    /// After the edge: decides which heads may issue in the next cycle, and which as probes.
    #[inline]
    pub(super) fn settle_scratchpad(&mut self) {
        let Some(mut scratchpad) = self.scratchpad.take() else { return };
        scratchpad.locks.place(self.block_launcher.slots());
        let buffer = &self.instruction_buffer;
        let head = |w: usize| {
            let head = buffer.head(w);
            (head.op, head.ctl, head.roles)
        };
        scratchpad.claims = scratchpad.locks.claims(scratchpad.straps, self.powered(), &self.sharers(), head);
        self.scratchpad = Some(scratchpad);
    }

    /// Heads that, if they issue, issue as probes.
    #[inline]
    pub(super) fn probes(&self) -> u64 {
        self.scratchpad.as_ref().map_or(0, |scratchpad| scratchpad.claims.probe)
    }

    /// Inputs of the address unit about the area that a warp's block has in common with another one.
    #[inline]
    pub(super) fn common_area(&self, warp: u8) -> Option<Common> {
        self.scratchpad.as_ref().map(|scratchpad| Common {
            private_bytes: self.block_launcher.private_bytes(),
            base: self.block_launcher.place_common(warp),
            released: scratchpad.claims.is_released(warp),
        })
    }

    /// Events of a cycle on which the locks act.
    fn progress(&self, decided: &Decided) -> Progress {
        let mut progress = Progress {
            issued: decided.pops,
            answer: self.address_unit.answer().map(|answer| ScratchpadAnswer {
                warp: answer.warp,
                release: answer.release,
                shared: answer.shared,
                mask: answer.mask,
            }),
            ..Progress::default()
        };
        for (_, issue) in decided.issues() {
            progress.set |= u64::from(issue.operands) << issue.warp;
            progress.releases |= u64::from(is_release(issue.head.op)) << issue.warp;
        }
        progress
    }

    /// The event word of the locks.
    #[inline]
    pub(super) fn scratchpad_event(&self, decided: &Decided) -> u64 {
        let event = |scratchpad: &Scratchpad| scratchpad.locks.event(&scratchpad.claims, &self.progress(decided));
        self.scratchpad.as_deref().map_or(0, event)
    }

    /// Clock edge, before the edges of the blocks whose state it reads.
    #[inline]
    pub(super) fn clock_scratchpad(&mut self, decided: &Decided, idle: u64) {
        let Some(mut scratchpad) = self.scratchpad.take() else { return };
        let (progress, sharers) = (self.progress(decided), self.sharers());
        let live = |w: usize| self.simt_stack.live(w);
        scratchpad.locks.advance(&scratchpad.claims, &progress, &sharers, idle, live);
        self.scratchpad = Some(scratchpad);
    }

    /// Whether no lock changes as long as nothing issues and nothing is answered.
    pub(super) fn scratchpad_is_still(&self, alive: u64, idle: u64) -> bool {
        let live = |w: usize| self.simt_stack.live(w);
        self.scratchpad.as_ref().is_none_or(|scratchpad| {
            self.address_unit.answer().is_none() && scratchpad.locks.is_still(&scratchpad.claims, alive, idle, live)
        })
    }

    /// Records the outputs of the block; outputs that `share_locks` has, too, are at the nets of `share_locks`.
    pub(super) fn record_scratchpad(&self, o: &mut Outputs) {
        o.scratchpad_locks.probe_o = self.probes();
    }

    /// The same of what the address unit asks.
    pub(super) fn record_released(&self, o: &mut Outputs) {
        let released = self
            .scratchpad
            .as_ref()
            .is_some_and(|scratchpad| scratchpad.claims.is_released(o.address_unit.place_warp_o));
        o.scratchpad_locks.place_released_o = released.into();
    }
}
