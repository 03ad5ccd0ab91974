//! `rfc_fills`: reads allocate. `docs/blocks/rfc_fills.md`.

use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{is_set, set_bits};
use crate::operands::MAX_TAGS;
use crate::rfc::RfcShape;
use crate::{Block, LANES, Memory, OPERANDS, REG_BITS, WARP_DATA_BITS, WarpData, field, ports};

const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;

ports! {
    /// Inputs of [`RfcFills`].
    pub struct RfcFillsIn(s: &RfcShape) {
        /// Operands of what is dispatched.
        take_data_i: [WarpData; MAX_SOURCES] =
            field(WARP_DATA_BITS).count(s.mrf.sources()).valid_by("take_valid_i"),
        /// Slots that are being emptied.
        flush_i: u64 = field(s.active),
        /// Lanes of each source that come from the MRF.
        move_miss_i: [u32; MAX_SOURCES] = field(LANES).count(s.mrf.sources()).valid_by("move_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction leaves T of port p.
        move_valid_i: u8 = field(s.ports()),
        /// Tag of the instruction that leaves T.
        move_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("move_valid_i"),
        /// Slot of the instruction that leaves T.
        move_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("move_valid_i"),
        /// Registers of the sources of the instruction that leaves T.
        move_reg_i: [u8; MAX_SOURCES] = field(REG_BITS).count(s.mrf.sources()).valid_by("move_valid_i"),
        /// An instruction is dispatched on port p.
        take_valid_i: u8 = field(s.ports()),
        /// Tag of the instruction that is dispatched.
        take_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("take_valid_i"),
        /// Cache c performs its fill at this edge.
        fill_ready_i: u8 = field(s.ports()),
    }
}

ports! {
    /// Outputs of [`RfcFills`].
    pub struct RfcFillsOut(s: &RfcShape) {
        /// Data of the fill.
        fill_data_o: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()),
        /// Lanes of the fill; 0 without one.
        fill_mask_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()),
        /// A fill is offered to cache c.
        fill_valid_o: u8 = field(s.ports()),
        /// Slot of the fill within the cache; 0 without one.
        fill_slot_o: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()),
        /// Register of the fill; 0 without one.
        fill_reg_o: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()),
        /// A latch of `rfc_fills` holds a fill.
        busy_o: u8 = field(1).early(),
    }
}

ports! {
    /// State of [`RfcFills`].
    pub struct RfcFillsProbe(s: &RfcShape) {
        /// Operand of every source of the latches, pending or not.
        data_q: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS).count(s.mrf.sources()),
        /// Lanes of every source of the latches, pending or not.
        mask_q: [u32; MAX_SOURCES] = field(LANES).count(s.mrf.sources()),
        /// Register of every source of the latches, pending or not.
        reg_q: [u8; MAX_SOURCES] = field(REG_BITS).count(s.mrf.sources()),
        /// Sources of latch p that are to be put into the cache.
        pending_q: [u8; MAX_PORTS] = field(OPERANDS).count(s.ports()),
        /// Slot of the sources of latch p.
        slot_q: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("pending_q"),
    }
}

/// A fill that is offered to a cache: the lanes, the register, and the latch and source that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fill {
    pub(crate) mask: u32,
    /// Slot within the cache.
    pub(crate) slot: u8,
    pub(crate) reg: u8,
    latch: u8,
    source: u8,
}

/// The operands of an instruction that are filled into the cache.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Missed {
    pub(crate) slot: u8,
    pub(crate) reg: [u8; OPERANDS],
    /// Lanes of each register that come from the MRF.
    pub(crate) mask: [u32; OPERANDS],
}

/// Operands that missed the cache are filled into it when their instruction is dispatched (hierarchy thesis 5.2, figure 5.8). They are clean: the MRF has the same value.
/// Each dispatch port has a latch; while a latch holds a fill, no instruction is dispatched, so that no younger instruction's result of the same warp can come first.
///
/// A direct caller gets the offered fills ([`offer`](Self::offer)), and at the clock edge reports the fills that the caches perform ([`advance`](Self::advance)), the
/// instructions that are dispatched ([`take`](Self::take)) and then those that leave T ([`note`](Self::note)).
#[derive(Clone)]
pub struct RfcFills {
    ports: usize,
    tags: usize,
    slot_w: u32,
    pending_q: [u8; MAX_PORTS],
    slot_q: [u8; MAX_PORTS],
    // For each source of the latches, then for each tag, one 32-bit word: the form in which the harness reads them.
    reg_q: [u32; MAX_SOURCES],
    mask_q: [u32; MAX_SOURCES],
    data_q: [WarpData; MAX_SOURCES],
    note_slot_q: [u32; MAX_TAGS],
    note_reg_q: [u32; OPERANDS * MAX_TAGS],
    note_miss_q: [u32; OPERANDS * MAX_TAGS],
    /// The decisions of this cycle.
    offered: [Option<Fill>; MAX_PORTS],
}

impl RfcFills {
    /// Whether a latch holds a fill.
    #[inline]
    pub(crate) fn busy(&self) -> bool {
        self.pending_q != [0; MAX_PORTS]
    }

    /// The fill that is offered to each cache.
    #[inline]
    pub(crate) fn offer(&self, flush: u64) -> [Option<Fill>; MAX_PORTS] {
        let mut offered = [None; MAX_PORTS];
        for (p, (&pending, &latched)) in self.pending_q.iter().zip(&self.slot_q).enumerate() {
            let (cache, slot) = (usize::from(latched) % self.ports, latched / self.ports as u8);
            if pending == 0 || is_set(flush, latched.into()) || offered[cache].is_some() {
                continue;
            }
            let k = pending.trailing_zeros() as usize;
            let (mask, reg) = (self.mask_q[OPERANDS * p + k], self.reg_q[OPERANDS * p + k] as u8);
            offered[cache] = Some(Fill { mask, slot, reg, latch: p as u8, source: k as u8 });
        }
        offered
    }

    /// Data of a fill.
    #[inline]
    pub(crate) fn data(&self, fill: &Fill) -> &WarpData {
        &self.data_q[OPERANDS * usize::from(fill.latch) + usize::from(fill.source)]
    }

    /// The clock edge, without new fills. `ready`: caches that perform the fill that is offered to them.
    #[inline]
    pub(crate) fn advance(&mut self, offered: &[Option<Fill>; MAX_PORTS], ready: u8, flush: u64) {
        for fill in set_bits(ready).filter_map(|c| offered[c]) {
            self.pending_q[usize::from(fill.latch)] &= !(1 << fill.source);
        }
        for (pending, &slot) in self.pending_q.iter_mut().zip(&self.slot_q) {
            if is_set(flush, slot.into()) {
                *pending = 0;
            }
        }
    }

    /// The clock edge at which an instruction is dispatched on port `p`, called after [`advance`](Self::advance).
    #[inline]
    pub(crate) fn take<'a>(&mut self, p: usize, tag: u8, data: impl Fn(usize) -> &'a WarpData) {
        let tag = usize::from(tag);
        if tag >= self.tags {
            self.pending_q[p] = 0;
            return;
        }
        self.slot_q[p] = self.note_slot_q[tag] as u8;
        self.pending_q[p] = 0;
        for k in 0..OPERANDS {
            let (note, source) = (OPERANDS * tag + k, OPERANDS * p + k);
            if self.note_miss_q[note] != 0 {
                self.pending_q[p] |= 1 << k;
                (self.reg_q[source], self.mask_q[source]) = (self.note_reg_q[note], self.note_miss_q[note]);
                self.data_q[source] = *data(k);
            }
        }
    }

    /// The clock edge at which an instruction leaves T, called after [`take`](Self::take).
    #[inline]
    pub(crate) fn note(&mut self, tag: u8, missed: &Missed) {
        let tag = usize::from(tag);
        if tag < self.tags {
            self.note_slot_q[tag] = missed.slot.into();
            self.note_reg_q[OPERANDS * tag..][..OPERANDS].copy_from_slice(&missed.reg.map(u32::from));
            self.note_miss_q[OPERANDS * tag..][..OPERANDS].copy_from_slice(&missed.mask);
        }
    }

    /// A clock edge in reset; called after everything else.
    pub(crate) fn reset(&mut self) {
        self.pending_q = [0; MAX_PORTS];
    }
}

impl Block for RfcFills {
    const NAME: &'static str = "rfc_fills";
    const PARAMETERS: &'static [&'static str] = &["IssuePorts", "Active", "Tags"];

    type Shape = RfcShape;
    type In = RfcFillsIn;
    type Out = RfcFillsOut;
    type Probe = RfcFillsProbe;

    fn new(shape: &RfcShape) -> Self {
        Self {
            ports: shape.ports(),
            tags: shape.tags(),
            slot_w: shape.slot_w(),
            pending_q: [0; MAX_PORTS],
            slot_q: [0; MAX_PORTS],
            reg_q: [0; MAX_SOURCES],
            mask_q: [0; MAX_SOURCES],
            data_q: [WarpData::ZERO; MAX_SOURCES],
            note_slot_q: [0; MAX_TAGS],
            note_reg_q: [0; OPERANDS * MAX_TAGS],
            note_miss_q: [0; OPERANDS * MAX_TAGS],
            offered: [None; MAX_PORTS],
        }
    }

    fn early(&self, out: &mut RfcFillsOut) {
        out.busy_o = self.busy().into();
    }

    fn late(&mut self, inputs: &RfcFillsIn, out: &mut RfcFillsOut) {
        self.offered = self.offer(inputs.flush_i);
        out.fill_valid_o = 0;
        for c in 0..self.ports {
            let fill = self.offered[c];
            out.fill_valid_o |= u8::from(fill.is_some()) << c;
            out.fill_data_o[c] = fill.map_or(WarpData::ZERO, |fill| *self.data(&fill));
            let of = |value: fn(&Fill) -> u8| fill.as_ref().map_or(0, value);
            (out.fill_slot_o[c], out.fill_reg_o[c]) = (of(|fill| fill.slot), of(|fill| fill.reg));
            out.fill_mask_o[c] = fill.map_or(0, |fill| fill.mask);
        }
    }

    fn clock(&mut self, inputs: &RfcFillsIn, _: &RfcFillsOut) {
        let offered = self.offered;
        self.advance(&offered, inputs.fill_ready_i, inputs.flush_i);
        for p in set_bits(inputs.take_valid_i) {
            self.take(p, inputs.take_tag_i[p], |k| &inputs.take_data_i[OPERANDS * p + k]);
        }
        for p in set_bits(inputs.move_valid_i) {
            let reg = inputs.move_reg_i.as_chunks().0[p];
            let mask = inputs.move_miss_i.as_chunks().0[p];
            self.note(inputs.move_tag_i[p], &Missed { slot: inputs.move_slot_i[p], reg, mask });
        }
        if inputs.rst_ni == 0 {
            self.reset();
        }
    }

    fn probe(&self, _: &RfcFillsIn, _: &RfcFillsOut, probe: &mut RfcFillsProbe) {
        (probe.pending_q, probe.slot_q) = (self.pending_q, self.slot_q);
        (probe.data_q, probe.mask_q, probe.reg_q) = (self.data_q, self.mask_q, self.reg_q.map(|reg| reg as u8));
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let (tags, sources, block) = (self.tags, OPERANDS * self.ports, Self::NAME);
        let memory = |path: &str, words, bits| Memory { path: path.into(), block, words, bits };
        vec![
            memory("note_slot_q", &mut self.note_slot_q[..tags], self.slot_w),
            memory("note_reg_q", &mut self.note_reg_q[..OPERANDS * tags], REG_BITS),
            memory("note_miss_q", &mut self.note_miss_q[..OPERANDS * tags], LANES as u32),
            memory("reg_q", &mut self.reg_q[..sources], REG_BITS),
            memory("mask_q", &mut self.mask_q[..sources], LANES as u32),
            Memory::of_warps("data_q", block, &mut self.data_q[..sources]),
        ]
    }
}

#[cfg(test)]
mod tests;
