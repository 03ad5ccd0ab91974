//! `rfc_evictions`: values on their way from the cache to the MRF. `docs/blocks/rfc_evictions.md`.

use crate::mrf::MAX_PORTS;
use crate::rfc::RfcShape;
use crate::{Block, LANES, Memory, OPERANDS, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData, field, ports};

/// Number of values that the block can hold.
pub const PLACES: usize = 4;

ports! {
    /// Inputs of [`RfcEvictions`].
    pub struct RfcEvictionsIn(s: &RfcShape) {
        /// Data of the oldest eviction that has none yet.
        data_i: WarpData = field(WARP_DATA_BITS).valid_by("data_valid_i"),
        /// Lanes of the eviction that begins.
        push_mask_i: u32 = field(LANES).valid_by("push_valid_i"),
        /// First row of the warp of the eviction that begins.
        push_base_i: u16 = field(s.mrf.entry_w()).valid_by("push_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Strap *prompt*: data is offered as it comes, and what goes into its bank is waited for no longer.
        cfg_i: u8 = field(1),
        /// An eviction begins.
        push_valid_i: u8 = field(1),
        /// Slot of the eviction that begins.
        push_slot_i: u8 = field(s.local_w()).valid_by("push_valid_i"),
        /// Warp of the eviction that begins.
        push_warp_i: u8 = field(WARP_BITS).valid_by("push_valid_i"),
        /// Register of the eviction that begins.
        push_reg_i: u8 = field(REG_BITS).valid_by("push_valid_i"),
        /// Data comes.
        data_valid_i: u8 = field(1),
        /// The value offered is taken at this edge.
        offer_ready_i: u8 = field(1),
        /// The oldest value goes into its bank at this edge.
        done_i: u8 = field(1),
        /// Warp of the instruction in T.
        look_warp_i: u8 = field(WARP_BITS),
        /// Registers of the sources of the instruction in T.
        look_reg_i: [u8; OPERANDS] = field(REG_BITS).count(OPERANDS),
        /// Warps of the results in the latches.
        result_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()),
        /// Registers of the results in the latches.
        result_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()),
    }
}

ports! {
    /// Outputs of [`RfcEvictions`].
    pub struct RfcEvictionsOut(s: &RfcShape) {
        /// Data of the value offered to the MRF's queue.
        offer_data_o: WarpData = field(WARP_DATA_BITS).valid_by("offer_valid_o"),
        /// Slots of which a value is on its way to the MRF.
        busy_o: u64 = field(s.cache_slots() as u32).early(),
        /// Lanes of the value offered to the MRF's queue.
        offer_mask_o: u32 = field(LANES).valid_by("offer_valid_o"),
        /// First row of the warp of the value offered to the MRF's queue.
        offer_base_o: u16 = field(s.mrf.entry_w()).valid_by("offer_valid_o"),
        /// There is room for an eviction.
        room_o: u8 = field(1).early(),
        /// A value is offered to the MRF's queue.
        offer_valid_o: u8 = field(1),
        /// Warp of the value offered to the MRF's queue.
        offer_warp_o: u8 = field(WARP_BITS).valid_by("offer_valid_o"),
        /// Register of the value offered to the MRF's queue.
        offer_reg_o: u8 = field(REG_BITS).valid_by("offer_valid_o"),
        /// Sources of the instruction in T that are on their way to the MRF.
        look_match_o: u8 = field(OPERANDS),
        /// Results whose registers are on their way to the MRF.
        result_match_o: u8 = field(s.ports()),
    }
}

ports! {
    /// State of [`RfcEvictions`].
    pub struct RfcEvictionsProbe(s: &RfcShape) {
        /// Data of the value in each place.
        data_q: [WarpData; PLACES] = field(WARP_DATA_BITS).count(PLACES),
        /// Place of the oldest value.
        first_q: u8 = field(2),
        /// Number of values.
        count_q: u8 = field(3),
        /// Values that have their data.
        arrived_q: u8 = field(3),
        /// The oldest is in the MRF's queue.
        sent_q: u8 = field(1),
        /// Place of the next eviction.
        push_place: u8 = field(2).early(),
        /// Place of the next data.
        data_place: u8 = field(2).early(),
        /// Slot of every place, in use or not.
        slot_q: [u8; PLACES] = field(s.local_w()).count(PLACES),
        /// Warp of every place, in use or not.
        warp_q: [u8; PLACES] = field(WARP_BITS).count(PLACES),
        /// Register of every place, in use or not.
        reg_q: [u8; PLACES] = field(REG_BITS).count(PLACES),
        /// First row of the warp of every place, in use or not.
        base_q: [u16; PLACES] = field(s.mrf.entry_w()).count(PLACES),
        /// Lanes of the value of every place, in use or not.
        mask_q: [u32; PLACES] = field(LANES).count(PLACES),
    }
}

/// The destination of an eviction that begins.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Value {
    pub(crate) mask: u32,
    pub(crate) base: u16,
    pub(crate) slot: u8,
    pub(crate) warp: u8,
    pub(crate) reg: u8,
}

/// A ring of values that the cache has evicted and that are not in their banks yet. An instruction that needs one of them waits (hazard 8).
#[derive(Clone)]
pub struct RfcEvictions {
    ports: usize,
    slots: u32,
    first_q: u8,
    count_q: u8,
    arrived_q: u8,
    sent_q: u8,
    local_w: u32,
    entry_w: u32,
    // The destinations of the values, one 32-bit word each: the form in which the harness reads them.
    slot_q: [u32; PLACES],
    warp_q: [u32; PLACES],
    base_q: [u32; PLACES],
    reg_q: [u32; PLACES],
    mask_q: [u32; PLACES],
    data_q: [WarpData; PLACES],
}

impl RfcEvictions {
    /// Whether there is room for another value.
    #[inline]
    pub(crate) fn room(&self) -> bool {
        usize::from(self.count_q) < PLACES
    }

    /// Whether the ring is empty.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count_q == 0
    }

    #[inline]
    fn place(&self, from_first: u8) -> usize {
        usize::from(self.first_q.wrapping_add(from_first)) % PLACES
    }

    /// The places that hold a value.
    #[inline]
    fn used(&self) -> impl Iterator<Item = usize> {
        (0..self.count_q.min(PLACES as u8)).map(|i| self.place(i))
    }

    /// Whether a value is offered. `comes`: data arrives in this cycle, and is offered at once if its value is next.
    #[inline]
    fn offers(&self, comes: bool) -> bool {
        self.arrived_q + u8::from(comes) > self.sent_q
    }

    /// The value that is offered; `comes` as above.
    #[inline]
    pub(crate) fn offer(&self, comes: bool) -> Option<Value> {
        let place = self.place(self.sent_q);
        self.offers(comes).then(|| Value {
            mask: self.mask_q[place],
            base: self.base_q[place] as u16,
            slot: self.slot_q[place] as u8,
            warp: self.warp_q[place] as u8,
            reg: self.reg_q[place] as u8,
        })
    }

    /// Data of the offered value. `comes`: data that arrives in this cycle and may be offered at once.
    #[inline]
    pub(crate) fn offer_data<'a>(&'a self, comes: Option<&'a WarpData>) -> &'a WarpData {
        comes.filter(|_| self.arrived_q == self.sent_q).unwrap_or(&self.data_q[self.place(self.sent_q)])
    }

    /// Whether the ring holds a value of this register of this warp.
    #[inline]
    pub(crate) fn has(&self, warp: u8, reg: u8) -> bool {
        self.is_on_its_way(warp, reg, false)
    }

    /// The same question. With `lands`, the oldest value is left out, because it is written into its bank in this cycle.
    #[inline]
    pub(crate) fn is_on_its_way(&self, warp: u8, reg: u8, lands: bool) -> bool {
        let is_it = |place: usize| self.warp_q[place] == warp.into() && self.reg_q[place] == reg.into();
        self.used().skip(lands.into()).any(is_it)
    }

    /// Slots with a value in the ring.
    #[inline]
    pub(crate) fn busy(&self) -> u64 {
        self.used()
            .map(|place| self.slot_q[place])
            .filter(|&slot| slot < self.slots)
            .fold(0, |slots, slot| slots | 1 << slot)
    }

    /// The clock edge; payload is taken in reset too. `ready`: the offered value is taken; `done`: the oldest value goes into its bank.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        running: bool,
        prompt: bool,
        push: Option<&Value>,
        data: Option<&WarpData>,
        ready: bool,
        done: bool,
    ) {
        let taken = u8::from(ready && self.offers(prompt && data.is_some()));
        if let Some(value) = push {
            let place = self.place(self.count_q);
            (self.slot_q[place], self.warp_q[place]) = (value.slot.into(), value.warp.into());
            (self.base_q[place], self.reg_q[place]) = (value.base.into(), value.reg.into());
            self.mask_q[place] = value.mask;
        }
        if let Some(data) = data {
            self.data_q[self.place(self.arrived_q)] = *data;
        }
        let count = |n: u8, more: bool| n.wrapping_add(more.into()).wrapping_sub(done.into()) & 0b111;
        (self.count_q, self.arrived_q) = (count(self.count_q, push.is_some()), count(self.arrived_q, data.is_some()));
        self.sent_q = self.sent_q.wrapping_add(taken).wrapping_sub(done.into()) & 1;
        self.first_q = self.first_q.wrapping_add(done.into()) & 0b11;
        if !running {
            self.reset();
        }
    }

    fn reset(&mut self) {
        (self.first_q, self.count_q, self.arrived_q, self.sent_q) = (0, 0, 0, 0);
    }
}

impl Block for RfcEvictions {
    const NAME: &'static str = "rfc_evictions";
    const PARAMETERS: &'static [&'static str] = &["Slots", "IssuePorts", "Depth"];

    type Shape = RfcShape;
    type In = RfcEvictionsIn;
    type Out = RfcEvictionsOut;
    type Probe = RfcEvictionsProbe;

    fn new(shape: &RfcShape) -> Self {
        Self {
            ports: shape.ports(),
            slots: shape.cache_slots() as u32,
            first_q: 0,
            count_q: 0,
            arrived_q: 0,
            sent_q: 0,
            local_w: shape.local_w(),
            entry_w: shape.mrf.entry_w(),
            slot_q: [0; PLACES],
            warp_q: [0; PLACES],
            base_q: [0; PLACES],
            reg_q: [0; PLACES],
            mask_q: [0; PLACES],
            data_q: [WarpData::ZERO; PLACES],
        }
    }

    fn early(&self, out: &mut RfcEvictionsOut) {
        (out.room_o, out.busy_o) = (self.room().into(), self.busy());
    }

    fn late(&mut self, inputs: &RfcEvictionsIn, out: &mut RfcEvictionsOut) {
        let prompt = inputs.cfg_i != 0;
        let comes = (prompt && inputs.data_valid_i != 0).then_some(&inputs.data_i);
        let offer = self.offer(comes.is_some());
        out.offer_valid_o = offer.is_some().into();
        let Value { mask, base, warp, reg, .. } = offer.unwrap_or_default();
        (out.offer_mask_o, out.offer_base_o, out.offer_warp_o, out.offer_reg_o) = (mask, base, warp, reg);
        if offer.is_some() {
            out.offer_data_o = *self.offer_data(comes);
        }
        let bit = |here: bool, k: usize| u8::from(here) << k;
        let lands = prompt && inputs.done_i != 0;
        let looked = |k: usize| self.is_on_its_way(inputs.look_warp_i, inputs.look_reg_i[k], lands);
        out.look_match_o = (0..OPERANDS).fold(0, |found, k| found | bit(looked(k), k));
        out.result_match_o = (0..self.ports)
            .fold(0, |found, b| found | bit(self.has(inputs.result_warp_i[b], inputs.result_reg_i[b]), b));
    }

    fn clock(&mut self, inputs: &RfcEvictionsIn, _: &RfcEvictionsOut) {
        let push = (inputs.push_valid_i != 0).then_some(Value {
            mask: inputs.push_mask_i,
            base: inputs.push_base_i,
            slot: inputs.push_slot_i,
            warp: inputs.push_warp_i,
            reg: inputs.push_reg_i,
        });
        let data = (inputs.data_valid_i != 0).then_some(&inputs.data_i);
        let (ready, done) = (inputs.offer_ready_i != 0, inputs.done_i != 0);
        self.advance(inputs.rst_ni != 0, inputs.cfg_i != 0, push.as_ref(), data, ready, done);
    }

    fn probe(&self, _: &RfcEvictionsIn, _: &RfcEvictionsOut, probe: &mut RfcEvictionsProbe) {
        let Self { first_q, count_q, arrived_q, sent_q, mask_q, data_q, .. } = *self;
        let narrow = |words: [u32; PLACES]| words.map(|word| word as u8);
        *probe = RfcEvictionsProbe {
            data_q,
            first_q,
            count_q,
            arrived_q,
            sent_q,
            push_place: self.place(count_q) as u8,
            data_place: self.place(arrived_q) as u8,
            slot_q: narrow(self.slot_q),
            warp_q: narrow(self.warp_q),
            reg_q: narrow(self.reg_q),
            base_q: self.base_q.map(|base| base as u16),
            mask_q,
        };
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let memory = |path: &str, words, bits| Memory { path: path.into(), block: Self::NAME, words, bits };
        vec![
            memory("mask_q", &mut self.mask_q, LANES as u32),
            Memory::of_warps("data_q", Self::NAME, &mut self.data_q),
            memory("slot_q", &mut self.slot_q, self.local_w),
            memory("warp_q", &mut self.warp_q, WARP_BITS),
            memory("base_q", &mut self.base_q, self.entry_w),
            memory("reg_q", &mut self.reg_q, REG_BITS),
        ]
    }
}

#[cfg(test)]
mod tests;
