//! `hierarchy_scoreboard`: heads that use a place that waits for a value. `docs/blocks/hierarchy_scoreboard.md`.

use super::hierarchy_levels::place;
use super::shape::{LEVEL_BITS, PLACE_SET_BITS};
use crate::hierarchy::HierarchyShape;
use crate::instruction::marked;
use crate::mrf::bits::set_bits;
use crate::sizes::{MAX_ACTIVE, MAX_WARPS};
use crate::{Block, NoProbe, WARP_BITS, field, ports};

ports! {
    /// Inputs of [`HierarchyScoreboard`].
    pub struct HierarchyScoreboardIn(s: &HierarchyShape) {
        /// The warp's head may issue as far as registers go.
        clear_i: u64 = field(s.warps),
        /// Control words of the heads.
        head_ctl_i: [u64; MAX_WARPS] = field(u64::BITS).count(s.warps).valid_by("clear_i"),
        /// Slots that have a warp.
        slot_valid_i: u64 = field(s.active),
        /// Places of each slot that wait.
        wait_i: [u16; MAX_ACTIVE] = field(PLACE_SET_BITS).count(s.active),
        /// The warp of each slot.
        slot_warp_i: [u8; MAX_ACTIVE] = field(WARP_BITS).count(s.active).valid_by("slot_valid_i"),
    }
}

ports! {
    /// Outputs of [`HierarchyScoreboard`].
    pub struct HierarchyScoreboardOut(s: &HierarchyShape) {
        /// The warp's head may issue.
        clear_o: u64 = field(s.warps),
    }
}

/// Lowest bits of the four level fields of a control word: sources a, b, c, and the result.
const LEVELS: [u32; 4] = [
    marked::SOURCE_LEVEL,
    marked::SOURCE_LEVEL + LEVEL_BITS,
    marked::SOURCE_LEVEL + 2 * LEVEL_BITS,
    marked::RESULT_LEVEL,
];

/// Finds the heads of warps that use a place that waits for a value: an instruction that reads, copies to, or writes an ORF entry or LRF bank for which a result or
/// a copy is still to come does not issue (hazard 7).
///
/// A direct caller keeps [`Self::named_places`] of each head, and checks them for the slots in which a place waits.
#[derive(Clone)]
pub struct HierarchyScoreboard {
    warps: usize,
}

impl HierarchyScoreboard {
    /// Set of the places that an instruction's levels name.
    #[inline]
    pub fn named_places(ctl: u64) -> u16 {
        LEVELS.into_iter().filter_map(|low| place((ctl >> low) as u8)).fold(0, |places, place| places | 1 << place)
    }
}

impl Block for HierarchyScoreboard {
    const NAME: &'static str = "hierarchy_scoreboard";
    const PARAMETERS: &'static [&'static str] = &["Warps", "Active"];
    const CLOCKED: bool = false;

    type Shape = HierarchyShape;
    type In = HierarchyScoreboardIn;
    type Out = HierarchyScoreboardOut;
    type Probe = NoProbe<HierarchyShape>;

    fn new(shape: &HierarchyShape) -> Self {
        Self { warps: shape.warps }
    }

    fn early(&self, _: &mut HierarchyScoreboardOut) {}

    fn late(&mut self, inputs: &HierarchyScoreboardIn, out: &mut HierarchyScoreboardOut) {
        out.clear_o = inputs.clear_i;
        for s in set_bits(inputs.slot_valid_i) {
            let w = usize::from(inputs.slot_warp_i[s]);
            if w < self.warps && Self::named_places(inputs.head_ctl_i[w]) & inputs.wait_i[s] != 0 {
                out.clear_o &= !(1 << w);
            }
        }
    }

    fn clock(&mut self, _: &HierarchyScoreboardIn, _: &HierarchyScoreboardOut) {}

    fn probe(&self, _: &HierarchyScoreboardIn, _: &HierarchyScoreboardOut, _: &mut NoProbe<HierarchyShape>) {}
}

#[cfg(test)]
mod tests;
