//! `hrf_loads`: results for warps that are not active. `docs/blocks/hrf_loads.md`.

use super::shape::{HrfShape, MAX_LOADS};
use crate::sizes::width;
use crate::{Block, LANES, Memory, WARP_DATA_BITS, WarpData, field, ports};

ports! {
    /// Inputs of [`HrfLoads`].
    pub struct HrfLoadsIn(s: &HrfShape) {
        /// Data of the result that comes.
        push_data_i: WarpData = field(WARP_DATA_BITS).valid_by("push_valid_i"),
        /// Lanes of the result that comes.
        push_mask_i: u32 = field(LANES).valid_by("push_valid_i"),
        /// Entry in the bank of the result that comes.
        push_entry_i: u16 = field(s.entry_w()).valid_by("push_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A result comes.
        push_valid_i: u8 = field(1),
        /// The bank takes the oldest result at this edge.
        pop_i: u8 = field(1),
        /// A drain begins.
        mark_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`HrfLoads`].
    pub struct HrfLoadsOut(s: &HrfShape) {
        /// Data of the oldest result.
        head_data_o: WarpData = field(WARP_DATA_BITS).valid_by("head_valid_o").early(),
        /// Lanes of the oldest result.
        head_mask_o: u32 = field(LANES).valid_by("head_valid_o").early(),
        /// Entry in the bank of the oldest result.
        head_entry_o: u16 = field(s.entry_w()).valid_by("head_valid_o").early(),
        /// The queue has room.
        room_o: u8 = field(1).early(),
        /// A result waits in the queue.
        head_valid_o: u8 = field(1).early(),
        /// The oldest result is older than the drain.
        old_o: u8 = field(1).early(),
    }
}

ports! {
    /// State of [`HrfLoads`].
    pub struct HrfLoadsProbe(s: &HrfShape) {
        /// Place of the oldest result.
        first_q: u8 = field(width(s.loads)),
        /// Results in the queue.
        count_q: u8 = field(width(s.loads + 1)),
        /// Results in the queue that are older than the drain.
        before_q: u8 = field(width(s.loads + 1)),
    }
}

/// A write to a bank, without its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BankWrite {
    /// Lanes.
    pub(crate) mask: u32,
    /// Entry of the bank.
    pub(crate) entry: u16,
}

/// A queue in front of a bank: load results for warps that have given up their slots, in order of arrival (hazard 6).
#[derive(Clone)]
pub struct HrfLoads {
    places: u8,
    entry_w: u32,
    first_q: u8,
    count_q: u8,
    before_q: u8,
    entry_q: [u32; MAX_LOADS],
    mask_q: [u32; MAX_LOADS],
    data_q: [WarpData; MAX_LOADS],
}

impl HrfLoads {
    /// Whether there is room for another result.
    #[inline]
    pub(crate) fn room(&self) -> bool {
        self.count_q != self.places
    }

    /// The oldest result.
    #[inline]
    pub(crate) fn head(&self) -> Option<BankWrite> {
        let place = usize::from(self.first_q);
        (self.count_q != 0).then(|| BankWrite { mask: self.mask_q[place], entry: self.entry_q[place] as u16 })
    }

    /// Data of the oldest result.
    #[inline]
    pub(crate) fn head_data(&self) -> &WarpData {
        &self.data_q[usize::from(self.first_q)]
    }

    /// Whether the oldest result is older than the drain.
    #[inline]
    pub(crate) fn old(&self) -> bool {
        self.before_q != 0
    }

    /// The clock edge. A push without room is ignored; the payload of a push is written in reset too.
    #[inline]
    pub(crate) fn advance(&mut self, running: bool, push: Option<(BankWrite, &WarpData)>, pop: bool, mark: bool) {
        let push = push.filter(|_| self.room());
        if let Some((write, data)) = push {
            let place = usize::from(self.wrap(self.first_q.wrapping_add(self.count_q)));
            (self.entry_q[place], self.mask_q[place], self.data_q[place]) = (write.entry.into(), write.mask, *data);
        }
        if !running {
            (self.first_q, self.count_q, self.before_q) = (0, 0, 0);
            return;
        }
        let popped = u8::from(pop);
        self.before_q = if mark {
            self.count_q.wrapping_sub(popped) & self.count_bits()
        } else {
            self.before_q.saturating_sub(popped)
        };
        self.first_q = self.wrap(self.first_q + popped);
        self.count_q = self.count_q.wrapping_add(push.is_some().into()).wrapping_sub(popped) & self.count_bits();
    }

    /// The bits of a count: it goes up to the number of places.
    #[inline]
    fn count_bits(&self) -> u8 {
        2 * self.places - 1
    }

    /// A place: there is a power of two of them.
    #[inline]
    fn wrap(&self, place: u8) -> u8 {
        place & (self.places - 1)
    }
}

impl Block for HrfLoads {
    const NAME: &'static str = "hrf_loads";
    const PARAMETERS: &'static [&'static str] = &["Depth", "Loads"];

    type Shape = HrfShape;
    type In = HrfLoadsIn;
    type Out = HrfLoadsOut;
    type Probe = HrfLoadsProbe;

    fn new(shape: &HrfShape) -> Self {
        Self {
            places: shape.loads as u8,
            entry_w: shape.entry_w(),
            first_q: 0,
            count_q: 0,
            before_q: 0,
            entry_q: [0; MAX_LOADS],
            mask_q: [0; MAX_LOADS],
            data_q: [WarpData::ZERO; MAX_LOADS],
        }
    }

    fn early(&self, out: &mut HrfLoadsOut) {
        (out.room_o, out.old_o) = (self.room().into(), self.old().into());
        let head = self.head();
        out.head_valid_o = head.is_some().into();
        let BankWrite { mask, entry } = head.unwrap_or_default();
        (out.head_mask_o, out.head_entry_o) = (mask, entry);
        if head.is_some() {
            out.head_data_o = *self.head_data();
        }
    }

    fn late(&mut self, _: &HrfLoadsIn, _: &mut HrfLoadsOut) {}

    fn clock(&mut self, inputs: &HrfLoadsIn, _: &HrfLoadsOut) {
        let write = BankWrite { mask: inputs.push_mask_i, entry: inputs.push_entry_i };
        let push = (inputs.push_valid_i != 0).then_some((write, &inputs.push_data_i));
        self.advance(inputs.rst_ni != 0, push, inputs.pop_i != 0, inputs.mark_i != 0);
    }

    fn probe(&self, _: &HrfLoadsIn, _: &HrfLoadsOut, probe: &mut HrfLoadsProbe) {
        (probe.first_q, probe.count_q, probe.before_q) = (self.first_q, self.count_q, self.before_q);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let (places, block) = (usize::from(self.places), Self::NAME);
        let words = |path: &str, words, bits| Memory { path: path.into(), block, words, bits };
        vec![
            words("entry_q", &mut self.entry_q[..places], self.entry_w),
            words("mask_q", &mut self.mask_q[..places], LANES as u32),
            Memory::of_warps("data_q", block, &mut self.data_q[..places]),
        ]
    }
}

#[cfg(test)]
mod tests;
