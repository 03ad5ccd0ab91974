//! `mrf_write_queue`: the latch at the end of a result bus. `docs/blocks/mrf_write_queue.md`.

use crate::mrf::MrfShape;
use crate::{Block, LaneMask, NoProbe, REG_BITS, WARP_BITS, WarpData, field, ports};

ports! {
    /// Inputs of [`MrfWriteQueue`].
    pub struct MrfWriteQueueIn(s: &MrfShape) {
        /// Data of the result.
        push_data_i: WarpData = field(1024).valid_by("push_valid_i"),
        /// Lanes to write.
        push_mask_i: u32 = field(32).valid_by("push_valid_i"),
        /// Entry it goes to.
        push_entry_i: u16 = field(s.entry_w()).valid_by("push_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A result is offered.
        push_valid_i: u8 = field(1),
        /// Bank it goes to.
        push_bank_i: u8 = field(s.bank_w()).valid_by("push_valid_i"),
        /// Warp of the result.
        push_warp_i: u8 = field(WARP_BITS).valid_by("push_valid_i"),
        /// Register name of the result.
        push_reg_i: u8 = field(REG_BITS).valid_by("push_valid_i"),
        /// The head is written at this edge; ignored while the latch is empty.
        pop_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`MrfWriteQueue`].
    pub struct MrfWriteQueueOut(s: &MrfShape) {
        /// Data of the head.
        head_data_o: WarpData = field(1024).valid_by("head_valid_o").early().shows("data_q"),
        /// Lanes the head writes.
        head_mask_o: u32 = field(32).valid_by("head_valid_o").early().shows("mask_q"),
        /// Entry the head goes to.
        head_entry_o: u16 = field(s.entry_w()).valid_by("head_valid_o").early().shows("entry_q"),
        /// The latch is empty, or empties at this edge.
        push_ready_o: u8 = field(1),
        /// A result waits.
        head_valid_o: u8 = field(1).early().shows("valid_q"),
        /// Bank the head goes to.
        head_bank_o: u8 = field(s.bank_w()).valid_by("head_valid_o").early().shows("bank_q"),
        /// Warp of the head.
        head_warp_o: u8 = field(WARP_BITS).valid_by("head_valid_o").early().shows("warp_q"),
        /// Register name of the head.
        head_reg_o: u8 = field(REG_BITS).valid_by("head_valid_o").early().shows("reg_q"),
        /// 4-lane groups the head writes, 0 to 8.
        head_groups_o: u8 = field(4).valid_by("head_valid_o").early(),
    }
}

/// The destination of a result that waits for its bank.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WriteTarget {
    /// Lanes to write.
    pub(crate) mask: LaneMask,
    /// Entry.
    pub(crate) entry: u16,
    /// Bank.
    pub(crate) bank: u8,
    /// Warp.
    pub(crate) warp: u8,
    /// Register name.
    pub(crate) reg: u8,
}

/// Holds one result from the cycle after it arrived until its bank takes it. Each result bus has one.
#[derive(Clone)]
pub struct MrfWriteQueue {
    data_q: WarpData,
    target_q: WriteTarget,
    valid_q: bool,
}

impl MrfWriteQueue {
    /// Destination of the head; valid only while there is a head.
    #[inline]
    pub(crate) fn target(&self) -> &WriteTarget {
        &self.target_q
    }

    /// Data of the head; valid only while there is a head.
    #[inline]
    pub(crate) fn data(&self) -> &WarpData {
        &self.data_q
    }

    /// Whether an offered result is taken at this clock edge.
    #[inline]
    pub(crate) fn ready(&self, pop: bool) -> bool {
        !self.valid_q || pop
    }

    /// The clock edge at which a result is taken.
    #[inline]
    pub(crate) fn push(&mut self, target: WriteTarget, data: &WarpData) {
        self.data_q = *data;
        self.target_q = target;
        self.valid_q = true;
    }

    /// The clock edge at which no result is taken: the head leaves, or an empty latch stays empty.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.valid_q = false;
    }

    /// A clock edge in reset.
    #[inline]
    pub(crate) fn reset(&mut self) {
        self.valid_q = false;
    }
}

impl Block for MrfWriteQueue {
    const NAME: &'static str = "mrf_write_queue";
    const PARAMETERS: &'static [&'static str] = &["Banks", "Depth"];

    type Shape = MrfShape;
    type In = MrfWriteQueueIn;
    type Out = MrfWriteQueueOut;
    type Probe = NoProbe<MrfShape>;

    fn new(_: &MrfShape) -> Self {
        Self { data_q: WarpData::ZERO, target_q: WriteTarget::default(), valid_q: false }
    }

    fn early(&self, out: &mut MrfWriteQueueOut) {
        let head = if self.valid_q { self.target_q } else { WriteTarget::default() };
        if self.valid_q {
            out.head_data_o = self.data_q;
        }
        out.head_valid_o = self.valid_q.into();
        out.head_mask_o = head.mask.0;
        out.head_entry_o = head.entry;
        out.head_bank_o = head.bank;
        out.head_warp_o = head.warp;
        out.head_reg_o = head.reg;
        out.head_groups_o = head.mask.groups();
    }

    fn late(&mut self, inputs: &MrfWriteQueueIn, out: &mut MrfWriteQueueOut) {
        out.push_ready_o = self.ready(inputs.pop_i != 0).into();
    }

    fn clock(&mut self, inputs: &MrfWriteQueueIn, out: &MrfWriteQueueOut) {
        if inputs.rst_ni == 0 {
            self.reset();
        } else if inputs.push_valid_i != 0 && out.push_ready_o != 0 {
            let target = WriteTarget {
                mask: LaneMask(inputs.push_mask_i),
                entry: inputs.push_entry_i,
                bank: inputs.push_bank_i,
                warp: inputs.push_warp_i,
                reg: inputs.push_reg_i,
            };
            self.push(target, &inputs.push_data_i);
        } else if inputs.pop_i != 0 {
            self.pop();
        }
    }

    fn probe(&self, _: &MrfWriteQueueIn, _: &MrfWriteQueueOut, _: &mut NoProbe<MrfShape>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driver;

    fn queue() -> Driver<MrfWriteQueue> {
        Driver::new(&MrfShape::BASELINE)
    }

    #[test]
    fn a_result_waits_until_its_bank_takes_it() {
        let mut queue = queue();
        queue.inputs.push_data_i = WarpData([3; 32]);
        queue.inputs.push_mask_i = 0x8000_0013;
        queue.inputs.push_entry_i = 12;
        queue.inputs.push_bank_i = 5;
        queue.inputs.push_warp_i = 47;
        queue.inputs.push_reg_i = 200;
        queue.inputs.push_valid_i = 1;
        let out = queue.cycle();
        assert_eq!((out.push_ready_o, out.head_valid_o), (1, 0));

        queue.inputs.push_data_i = WarpData([4; 32]);
        queue.inputs.push_entry_i = 13;
        for _ in 0..3 {
            let out = queue.cycle();
            assert_eq!((out.push_ready_o, out.head_valid_o, out.head_data_o), (0, 1, WarpData([3; 32])));
            assert_eq!((out.head_mask_o, out.head_groups_o, out.head_entry_o), (0x8000_0013, 3, 12));
            assert_eq!((out.head_bank_o, out.head_warp_o, out.head_reg_o), (5, 47, 200));
        }
        // The latch empties and takes the next result at the same edge.
        queue.inputs.pop_i = 1;
        assert_eq!(queue.cycle().push_ready_o, 1);
        queue.inputs.push_valid_i = 0;
        let out = queue.cycle();
        assert_eq!((out.head_valid_o, out.head_entry_o, out.head_data_o), (1, 13, WarpData([4; 32])));
        assert_eq!(queue.cycle().head_valid_o, 0);
    }

    #[test]
    fn a_pop_of_an_empty_latch_is_ignored() {
        let mut queue = queue();
        queue.inputs.pop_i = 1;
        queue.cycle();
        queue.inputs.push_valid_i = 1;
        queue.cycle();
        queue.inputs.pop_i = 0;
        let out = queue.cycle();
        assert_eq!((out.head_valid_o, out.head_groups_o), (1, 0), "an empty mask is a result like any other");
    }

    #[test]
    fn reset_wins_over_a_push() {
        let mut queue = queue();
        queue.inputs.push_valid_i = 1;
        queue.inputs.rst_ni = 0;
        queue.cycle();
        queue.inputs.rst_ni = 1;
        assert_eq!(queue.cycle().head_valid_o, 0);
    }
}
