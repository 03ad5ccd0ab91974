//! `hierarchy_scoreboard`: heads that use a place to which something is under way. `docs/blocks/hierarchy_scoreboard.md`.

use super::shape::PLACE_SET_BITS;
use crate::hierarchy::HierarchyShape;
use crate::shape::{MAX_ACTIVE, MAX_WARPS};
use crate::{WARP_BITS, field, ports};

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
