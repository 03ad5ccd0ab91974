//! `rfc_lrf`: the last result file above the cache. `docs/blocks/rfc_lrf.md`.

use crate::mrf::bits::{is_set, pack, set_bits};
use crate::rfc::RfcShape;
use crate::rfc::rfc_tags::{Flush, Look};
use crate::sizes::MAX_ACTIVE;
use crate::{Block, Decode, LANES, LaneMask, Memory, OPERANDS, REG_BITS, WARP_DATA_BITS, WarpData, field, ports};

/// Fields of `rfc_lrf_event_t`, most significant first.
pub const RFC_LRF_EVENT: &[(&str, u32)] = &[
    ("read_groups", 4),
    ("write_groups", 4),
    ("spill_groups", 4),
    ("flush_groups", 4),
    ("dead", 1),
    ("same", 1),
    ("past", 1),
    ("marked", 1),
];

ports! {
    /// Inputs of [`RfcLrf`].
    pub struct RfcLrfIn(s: &RfcShape) {
        /// Data of a result.
        op_data_i: WarpData = field(WARP_DATA_BITS).valid_by("op_valid_i"),
        /// Slots that are to be emptied.
        flush_i: u64 = field(s.cache_slots()),
        /// Slots that are emptied without write-back.
        drop_i: u64 = field(s.cache_slots()),
        /// Lanes of the instruction in T.
        look_mask_i: u32 = field(LANES).valid_by("look_valid_i"),
        /// Lanes of the result.
        op_mask_i: u32 = field(LANES).valid_by("op_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Strap: *live*.
        cfg_i: u8 = field(1),
        /// An instruction is in T.
        look_valid_i: u8 = field(1),
        /// The instruction in T leaves T at this edge.
        look_move_i: u8 = field(1),
        /// Slot of the instruction in T.
        look_slot_i: u8 = field(s.local_w()).valid_by("look_valid_i"),
        /// Sources of the instruction in T that are registers.
        look_src_valid_i: u8 = field(OPERANDS).valid_by("look_valid_i"),
        /// Registers of the sources of the instruction in T.
        look_reg_i: [u8; OPERANDS] = field(REG_BITS).count(OPERANDS).valid_by("look_valid_i"),
        /// Last reads of the instruction in T.
        look_last_i: u8 = field(OPERANDS).valid_by("look_valid_i"),
        /// The instruction in T goes to a private unit.
        look_private_i: u8 = field(1).valid_by("look_valid_i"),
        /// A result is offered.
        op_valid_i: u8 = field(1),
        /// The result has gone around the cache.
        op_kill_i: u8 = field(1).valid_by("op_valid_i"),
        /// The result is written to the LRF.
        op_upper_i: u8 = field(1).valid_by("op_valid_i"),
        /// Slot of the result.
        op_slot_i: u8 = field(s.local_w()).valid_by("op_valid_i"),
        /// Register of the result.
        op_reg_i: u8 = field(REG_BITS).valid_by("op_valid_i"),
        /// The cache performs the operation below.
        low_ready_i: u8 = field(1),
        /// An eviction can be taken, and the cache begins none.
        flush_ready_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`RfcLrf`].
    pub struct RfcLrfOut(s: &RfcShape) {
        /// Data of the spill in D.
        spill_data_o: WarpData = field(WARP_DATA_BITS).valid_by("spill_data_valid_o").early(),
        /// Value of the LRF that lands.
        land_data_o: WarpData = field(WARP_DATA_BITS).valid_by("land_hit_o").early().shows("o_data_q"),
        /// Data of a value that goes from the LRF to the MRF.
        flush_data_o: WarpData =
            field(WARP_DATA_BITS).valid_by("flush_data_valid_o").early().shows("o_flush_data_q"),
        /// Slots without a dirty lane.
        clean_o: u64 = field(s.cache_slots()).early(),
        /// Lanes of each source that are in the LRF.
        hit_mask_o: [u32; OPERANDS] = field(LANES).count(OPERANDS),
        /// Lanes of the operation below the LRF.
        low_mask_o: u32 = field(LANES).valid_by("low_valid_o"),
        /// Lanes that go from the LRF to the MRF.
        flush_mask_o: u32 = field(LANES).valid_by("flush_valid_o"),
        /// Lanes of each source that land from the LRF.
        land_hit_o: [u32; OPERANDS] = field(LANES).count(OPERANDS).early().shows("o_hit_q"),
        /// Events: `rfc_lrf_event_t`.
        event_o: u32 = field(20).shown(Decode::Packed(RFC_LRF_EVENT)),
        /// The result is performed at this edge.
        op_ready_o: u8 = field(1),
        /// An operation on the cache below the LRF.
        low_valid_o: u8 = field(1),
        /// The operation below the LRF takes lanes away; 0 without an operation.
        low_kill_o: u8 = field(1),
        /// Slot of the operation below the LRF.
        low_slot_o: u8 = field(s.local_w()).valid_by("low_valid_o"),
        /// Register of the operation below the LRF.
        low_reg_o: u8 = field(REG_BITS).valid_by("low_valid_o"),
        /// The operation below the LRF writes the value that makes room.
        spill_o: u8 = field(1),
        /// The value of a slot that is emptied goes from the LRF to the MRF.
        flush_valid_o: u8 = field(1),
        /// Slot of the value that goes from the LRF to the MRF.
        flush_slot_o: u8 = field(s.local_w()).valid_by("flush_valid_o"),
        /// Register of the value that goes from the LRF to the MRF.
        flush_reg_o: u8 = field(REG_BITS).valid_by("flush_valid_o"),
        /// Data of a spill has come.
        spill_data_valid_o: u8 = field(1).early(),
        /// Data of a value that goes from the LRF to the MRF has come.
        flush_data_valid_o: u8 = field(1).early().shows("o_flush_q"),
    }
}

ports! {
    /// State of [`RfcLrf`].
    pub struct RfcLrfProbe(s: &RfcShape) {
        /// Data of the result in D.
        d_write_data_q: WarpData = field(WARP_DATA_BITS).valid_by("d_write_q"),
        /// Valid lanes of each slot's entry.
        valid_q: [u32; MAX_ACTIVE] = field(LANES).count(s.cache_slots()),
        /// Dirty lanes of each slot's entry.
        dirty_q: [u32; MAX_ACTIVE] = field(LANES).count(s.cache_slots()),
        /// Lanes of each source of the instruction in D.
        d_hit_q: [u32; OPERANDS] = field(LANES).count(OPERANDS).valid_by("d_move_q"),
        /// Lanes of the result in D.
        d_write_mask_q: u32 = field(LANES).valid_by("d_write_q"),
        /// The entry's register.
        tag_q: [u8; MAX_ACTIVE] = field(REG_BITS).count(s.cache_slots()).valid_by("valid_q"),
        /// An instruction is in D.
        d_move_q: u8 = field(1),
        /// A result is in D.
        d_write_q: u8 = field(1),
        /// The result in D makes the entry's value go into the cache.
        d_spill_q: u8 = field(1),
        /// An eviction is in D.
        d_flush_q: u8 = field(1),
        /// Slot of the instruction in D.
        d_slot_q: u8 = field(s.local_w()).valid_by("d_move_q"),
        /// Slot of the result in D.
        d_write_slot_q: u8 = field(s.local_w()).valid_by("d_write_q"),
        /// Slot of the eviction in D.
        d_flush_slot_q: u8 = field(s.local_w()).valid_by("d_flush_q"),
    }
}

/// A result that is written to the LRF, written to the cache, or sent around the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LrfOp {
    pub(crate) mask: u32,
    pub(crate) kill: bool,
    pub(crate) upper: bool,
    pub(crate) slot: u8,
    pub(crate) reg: u8,
}

/// The operation on the cache below.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Below {
    pub(crate) mask: u32,
    pub(crate) kill: bool,
    pub(crate) reg: u8,
    /// The operation writes the value that the LRF evicts; the cache also loses the lanes of the result's register.
    pub(crate) spill: bool,
}

/// A value of a flushed slot, on its way to the MRF.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LrfFlush {
    pub(crate) mask: u32,
    pub(crate) slot: u8,
    pub(crate) reg: u8,
}

/// The operations at a clock edge.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LrfEdge<'a> {
    /// The instruction that leaves T, and the lanes of its sources that are in the LRF.
    pub(crate) moved: Option<(&'a Look, &'a [u32; OPERANDS])>,
    /// The result that is performed, the operation on the cache below, and the data of the result.
    pub(crate) op: Option<(&'a LrfOp, Below, &'a WarpData)>,
    pub(crate) flush: Option<LrfFlush>,
    /// Slots that are being flushed.
    pub(crate) slots: Flush,
}

/// One entry for each slot of a cache, in front of its tags and data: the hardware three-level hierarchy (hierarchy thesis 6.5.2). Results of private units are written here;
/// the previous value moves down into the cache: a spill. Only private units read it: the compiler sends what a shared unit may read past it. A lane of a register is here
/// or in the cache, never in both: a write to one of them takes the lane away from the other.
///
/// A direct caller looks up an instruction ([`look`](Self::look)), gets the operation that a result causes in the cache ([`below`](Self::below)) and the value that is flushed
/// ([`flush`](Self::flush)), and passes the operations that are performed at the clock edge.
#[derive(Clone)]
pub struct RfcLrf {
    slots: usize,
    valid_q: [u32; MAX_ACTIVE],
    dirty_q: [u32; MAX_ACTIVE],
    tag_q: [u8; MAX_ACTIVE],
    data_q: Box<[WarpData]>,
    d_move_q: bool,
    d_write_q: bool,
    d_spill_q: bool,
    d_flush_q: bool,
    d_slot_q: u8,
    d_hit_q: [u32; OPERANDS],
    d_write_slot_q: u8,
    d_write_mask_q: u32,
    d_write_data_q: WarpData,
    d_flush_slot_q: u8,
    o_hit_q: [u32; OPERANDS],
    o_flush_q: bool,
    o_data_q: WarpData,
    o_flush_data_q: WarpData,
    /// The decisions of this cycle.
    found: [u32; OPERANDS],
    decided: Below,
    flushed: Option<LrfFlush>,
}

impl RfcLrf {
    /// Slots without a dirty lane.
    #[inline]
    pub(crate) fn clean(&self) -> u64 {
        (0..self.slots).fold(0, |clean, j| clean | u64::from(self.dirty_q[j] == 0) << j)
    }

    /// The entry of the slot, if it has lanes of the register.
    #[inline]
    fn find(&self, slot: u8, reg: u8) -> Option<usize> {
        let j = usize::from(slot);
        (j < self.slots && self.tag_q[j] == reg && self.valid_q[j] != 0).then_some(j)
    }

    /// The lanes of each source that are in the LRF.
    #[inline]
    pub(crate) fn look(&self, look: &Look) -> [u32; OPERANDS] {
        std::array::from_fn(|k| {
            let found = self.find(look.slot, look.reg[k]).filter(|_| is_set(look.src_valid, k));
            found.map_or(0, |j| self.valid_q[j] & look.mask)
        })
    }

    /// The operation that a result causes in the cache below.
    #[inline]
    pub(crate) fn below(&self, op: &LrfOp) -> Below {
        let j = usize::from(op.slot);
        let as_it_is = Below { mask: op.mask, kill: op.kill, reg: op.reg, spill: false };
        if !op.upper {
            as_it_is
        } else if !op.kill && j < self.slots && self.dirty_q[j] != 0 && self.find(op.slot, op.reg).is_none() {
            Below { mask: self.dirty_q[j], kill: false, reg: self.tag_q[j], spill: true }
        } else {
            Below { kill: true, ..as_it_is }
        }
    }

    /// The value that is flushed in a cycle without a result.
    #[inline]
    pub(crate) fn flush(&self, slots: Flush) -> Option<LrfFlush> {
        let wanted = slots.flush & !slots.drop & !self.clean();
        let j = set_bits(wanted).next()?;
        Some(LrfFlush { mask: self.dirty_q[j], slot: j as u8, reg: self.tag_q[j] })
    }

    /// Data of the spill that is in D.
    #[inline]
    pub(crate) fn spill_data(&self) -> Option<&WarpData> {
        const NONE: &WarpData = &WarpData::ZERO;
        self.d_spill_q.then(|| self.data_q.get(usize::from(self.d_write_slot_q)).unwrap_or(NONE))
    }

    /// The lanes of each source that arrive from the LRF, and their value.
    #[inline]
    pub(crate) fn land(&self) -> (&[u32; OPERANDS], &WarpData) {
        (&self.o_hit_q, &self.o_data_q)
    }

    /// Data of a flush, if it is in O.
    #[inline]
    pub(crate) fn flush_data(&self) -> Option<&WarpData> {
        self.o_flush_q.then_some(&self.o_flush_data_q)
    }

    /// Whether no operation is in D or O.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        !(self.d_move_q | self.d_write_q | self.d_flush_q | self.o_flush_q) && self.o_hit_q == [0; OPERANDS]
    }

    /// The clock edge. Data also moves in reset.
    #[inline]
    pub(crate) fn advance(&mut self, running: bool, live: bool, edge: &LrfEdge<'_>) {
        self.advance_data(running, edge);
        if running {
            self.advance_lanes(live, edge);
        } else {
            (self.valid_q, self.dirty_q) = ([0; MAX_ACTIVE], [0; MAX_ACTIVE]);
        }
    }

    /// Moves data from T to D to O. All reads return the value before the clock edge.
    fn advance_data(&mut self, running: bool, edge: &LrfEdge<'_>) {
        let word = |slot: u8| self.data_q.get(usize::from(slot)).copied().unwrap_or(WarpData::ZERO);
        if self.d_move_q && self.d_hit_q != [0; OPERANDS] {
            self.o_data_q = word(self.d_slot_q);
        }
        if self.d_flush_q {
            self.o_flush_data_q = word(self.d_flush_slot_q);
        }
        self.o_hit_q = if running && self.d_move_q { self.d_hit_q } else { [0; OPERANDS] };
        self.o_flush_q = running && self.d_flush_q;
        if self.d_write_q
            && let Some(word) = self.data_q.get_mut(usize::from(self.d_write_slot_q))
        {
            word.merge(&self.d_write_data_q, LaneMask(self.d_write_mask_q));
        }
        if let Some((look, hit)) = edge.moved {
            (self.d_slot_q, self.d_hit_q) = (look.slot, *hit);
        }
        let written = edge.op.filter(|(op, ..)| op.upper);
        if let Some((op, _, data)) = written {
            (self.d_write_slot_q, self.d_write_mask_q, self.d_write_data_q) = (op.slot, op.mask, *data);
        }
        if let Some(flush) = edge.flush {
            self.d_flush_slot_q = flush.slot;
        }
        (self.d_move_q, self.d_flush_q) = (running && edge.moved.is_some(), running && edge.flush.is_some());
        self.d_write_q = running && written.is_some();
        self.d_spill_q = running && edge.op.is_some_and(|(_, below, _)| below.spill);
    }

    /// Updates the lanes: first last reads, then a result or a flush, then slots that become empty.
    fn advance_lanes(&mut self, live: bool, edge: &LrfEdge<'_>) {
        let emptied = edge.slots.flush & (edge.slots.drop | self.clean());
        if let Some((look, hit)) = edge.moved
            && live
            && last_read(look, hit)
        {
            self.dirty_q[usize::from(look.slot)] &= !look.mask;
        }
        if let Some((op, ..)) = edge.op {
            self.perform(op);
        } else if let Some(flush) = edge.flush {
            let j = usize::from(flush.slot);
            (self.valid_q[j], self.dirty_q[j]) = (0, 0);
        }
        for j in set_bits(emptied) {
            (self.valid_q[j], self.dirty_q[j]) = (0, 0);
        }
    }

    #[inline]
    fn perform(&mut self, op: &LrfOp) {
        let found = self.find(op.slot, op.reg);
        match (op.upper, found) {
            (true, Some(j)) => {
                self.valid_q[j] |= op.mask;
                self.dirty_q[j] |= op.mask;
            }
            (true, None) => {
                let j = usize::from(op.slot);
                if j < self.slots {
                    (self.tag_q[j], self.valid_q[j], self.dirty_q[j]) = (op.reg, op.mask, op.mask);
                }
            }
            (false, Some(j)) => {
                self.valid_q[j] &= !op.mask;
                self.dirty_q[j] &= !op.mask;
            }
            (false, None) => {}
        }
    }

    /// The events of a cycle. `op`: the result that is performed.
    #[inline]
    pub(crate) fn counts(
        &self,
        live: bool,
        moved: Option<(&Look, &[u32; OPERANDS])>,
        op: Option<(&LrfOp, Below)>,
        flush: Option<LrfFlush>,
    ) -> LrfCounts {
        let groups = |mask: u32| LaneMask(mask).groups();
        let mut counts =
            LrfCounts { flush_groups: flush.map_or(0, |flush| groups(flush.mask)), ..LrfCounts::default() };
        if let Some((look, hit)) = moved {
            counts.read_groups = groups(hit[0] | hit[1] | hit[2]);
            let dirty = self.dirty_q.get(usize::from(look.slot)).map_or(0, |dirty| dirty & look.mask);
            counts.marked = live && dirty != 0 && last_read(look, hit);
        }
        if let Some((op, below)) = op {
            let (j, found) = (usize::from(op.slot), self.find(op.slot, op.reg));
            let valid = if j < self.slots { self.valid_q[j] } else { 0 };
            if op.upper {
                counts.write_groups = groups(op.mask);
                counts.spill_groups = if below.spill { groups(below.mask) } else { 0 };
                counts.same = found.is_some();
                counts.dead = found.is_none() && valid != 0 && self.dirty_q[j] == 0;
            } else {
                counts.past = found.is_some() && valid & op.mask != 0;
            }
        }
        counts
    }
}

/// Whether a source that is in the LRF is marked as the last read of its register.
#[inline]
fn last_read(look: &Look, hit: &[u32; OPERANDS]) -> bool {
    (0..OPERANDS).any(|k| is_set(look.last, k) && hit[k] != 0)
}

/// The fields of the event word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LrfCounts {
    pub(crate) read_groups: u8,
    pub(crate) write_groups: u8,
    pub(crate) spill_groups: u8,
    pub(crate) flush_groups: u8,
    pub(crate) dead: bool,
    pub(crate) same: bool,
    pub(crate) past: bool,
    pub(crate) marked: bool,
}

impl LrfCounts {
    pub(crate) fn word(&self) -> u32 {
        let values = [
            self.read_groups.into(),
            self.write_groups.into(),
            self.spill_groups.into(),
            self.flush_groups.into(),
            self.dead.into(),
            self.same.into(),
            self.past.into(),
            self.marked.into(),
        ];
        pack(RFC_LRF_EVENT, values) as u32
    }
}

fn look_of(inputs: &RfcLrfIn) -> Option<Look> {
    (inputs.look_valid_i != 0).then_some(Look {
        mask: inputs.look_mask_i,
        slot: inputs.look_slot_i,
        src_valid: inputs.look_src_valid_i,
        reg: inputs.look_reg_i,
        last: inputs.look_last_i,
    })
}

fn op_of(inputs: &RfcLrfIn) -> Option<LrfOp> {
    (inputs.op_valid_i != 0).then_some(LrfOp {
        mask: inputs.op_mask_i,
        kill: inputs.op_kill_i != 0,
        upper: inputs.op_upper_i != 0,
        slot: inputs.op_slot_i,
        reg: inputs.op_reg_i,
    })
}

impl Block for RfcLrf {
    const NAME: &'static str = "rfc_lrf";
    const PARAMETERS: &'static [&'static str] = &["Slots"];
    const WORDS_ARE_REGISTERS: bool = true;

    type Shape = RfcShape;
    type In = RfcLrfIn;
    type Out = RfcLrfOut;
    type Probe = RfcLrfProbe;

    fn new(shape: &RfcShape) -> Self {
        Self {
            slots: shape.cache_slots(),
            valid_q: [0; MAX_ACTIVE],
            dirty_q: [0; MAX_ACTIVE],
            tag_q: [0; MAX_ACTIVE],
            data_q: vec![WarpData::ZERO; shape.cache_slots()].into(),
            d_move_q: false,
            d_write_q: false,
            d_spill_q: false,
            d_flush_q: false,
            d_slot_q: 0,
            d_hit_q: [0; OPERANDS],
            d_write_slot_q: 0,
            d_write_mask_q: 0,
            d_write_data_q: WarpData::ZERO,
            d_flush_slot_q: 0,
            o_hit_q: [0; OPERANDS],
            o_flush_q: false,
            o_data_q: WarpData::ZERO,
            o_flush_data_q: WarpData::ZERO,
            found: [0; OPERANDS],
            decided: Below::default(),
            flushed: None,
        }
    }

    fn early(&self, out: &mut RfcLrfOut) {
        out.clean_o = self.clean();
        out.spill_data_valid_o = self.d_spill_q.into();
        if let Some(data) = self.spill_data() {
            out.spill_data_o = *data;
        }
        out.land_hit_o = self.o_hit_q;
        if self.o_hit_q != [0; OPERANDS] {
            out.land_data_o = self.o_data_q;
        }
        out.flush_data_valid_o = self.o_flush_q.into();
        if let Some(data) = self.flush_data() {
            out.flush_data_o = *data;
        }
    }

    fn late(&mut self, inputs: &RfcLrfIn, out: &mut RfcLrfOut) {
        let (look, op) = (look_of(inputs), op_of(inputs));
        let slots = Flush { flush: inputs.flush_i, drop: inputs.drop_i };
        self.found = look.as_ref().map_or([0; OPERANDS], |look| self.look(look));
        self.decided = op.as_ref().map_or_else(Below::default, |op| self.below(op));
        self.flushed = if op.is_none() && inputs.flush_ready_i != 0 { self.flush(slots) } else { None };
        let ready = op.is_some() && inputs.low_ready_i != 0;
        let Below { mask, kill, reg, spill } = self.decided;
        out.hit_mask_o = self.found;
        (out.op_ready_o, out.low_valid_o, out.low_kill_o) = (ready.into(), op.is_some().into(), kill.into());
        (out.low_mask_o, out.low_reg_o, out.spill_o) = (mask, reg, spill.into());
        out.low_slot_o = op.map_or(0, |op| op.slot);
        out.flush_valid_o = self.flushed.is_some().into();
        let flush = self.flushed.unwrap_or(LrfFlush { mask: 0, slot: 0, reg: 0 });
        (out.flush_mask_o, out.flush_slot_o, out.flush_reg_o) = (flush.mask, flush.slot, flush.reg);
        let moved = look.as_ref().filter(|_| inputs.look_move_i != 0).map(|look| (look, &self.found));
        let performed = op.as_ref().filter(|_| ready).map(|op| (op, self.decided));
        out.event_o = self.counts(inputs.cfg_i != 0, moved, performed, self.flushed).word();
    }

    fn clock(&mut self, inputs: &RfcLrfIn, _: &RfcLrfOut) {
        let (look, op, found) = (look_of(inputs), op_of(inputs), self.found);
        let performed = op.as_ref().filter(|_| inputs.low_ready_i != 0);
        let edge = LrfEdge {
            moved: look.as_ref().filter(|_| inputs.look_move_i != 0).map(|look| (look, &found)),
            op: performed.map(|op| (op, self.decided, &inputs.op_data_i)),
            flush: self.flushed,
            slots: Flush { flush: inputs.flush_i, drop: inputs.drop_i },
        };
        self.advance(inputs.rst_ni != 0, inputs.cfg_i != 0, &edge);
    }

    fn probe(&self, _: &RfcLrfIn, _: &RfcLrfOut, probe: &mut RfcLrfProbe) {
        (probe.valid_q, probe.dirty_q, probe.tag_q) = (self.valid_q, self.dirty_q, self.tag_q);
        (probe.d_move_q, probe.d_write_q) = (self.d_move_q.into(), self.d_write_q.into());
        (probe.d_spill_q, probe.d_flush_q) = (self.d_spill_q.into(), self.d_flush_q.into());
        (probe.d_slot_q, probe.d_hit_q) = (self.d_slot_q, self.d_hit_q);
        (probe.d_write_slot_q, probe.d_write_mask_q) = (self.d_write_slot_q, self.d_write_mask_q);
        probe.d_flush_slot_q = self.d_flush_slot_q;
        if self.d_write_q {
            probe.d_write_data_q = self.d_write_data_q;
        }
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        vec![Memory::of_warps("data_q", Self::NAME, &mut self.data_q)]
    }
}

#[cfg(test)]
mod tests;
