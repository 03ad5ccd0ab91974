//! `rfc_results`: routes each result to the cache or to the MRF. `docs/blocks/rfc_results.md`.

use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{is_set, set_bits};
use crate::rfc::RfcShape;
use crate::sizes::MAX_ACTIVE;
use crate::write::{WriteWord, WrittenWord};
use crate::{Block, LANES, Memory, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData, Wide, field, packed, ports};

/// Words of a set of registers of a warp.
const REGISTER_WORDS: usize = 8;

ports! {
    /// Inputs of [`RfcResults`].
    pub struct RfcResultsIn(s: &RfcShape) {
        /// Data of a result.
        write_data_i: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Data of an eviction.
        evict_data_i: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("evict_valid_i"),
        /// Slots that have a warp.
        slot_valid_i: u64 = field(s.active as u32),
        /// Slots that are being emptied.
        flush_i: u64 = field(s.active as u32),
        /// The result on bus b.
        write_i: [WriteWord; MAX_PORTS] = packed::<WriteWord>().count(s.ports()).valid_by("write_valid_i"),
        /// Lanes of an eviction.
        evict_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("evict_valid_i"),
        /// First row of a result's warp.
        write_base_i: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("write_valid_i"),
        /// First row of an eviction's warp.
        evict_base_i: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("evict_valid_i"),
        /// The warp of each slot.
        slot_warp_i: [u8; MAX_ACTIVE] = field(WARP_BITS).count(s.active).valid_by("slot_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A result is offered on bus b.
        write_valid_i: u8 = field(s.ports()),
        /// An instruction leaves T that writes a register.
        note_valid_i: u8 = field(s.ports()),
        /// Slot of the instruction that leaves T.
        note_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("note_valid_i"),
        /// Register that the instruction writes.
        note_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("note_valid_i"),
        /// The result of the instruction goes around the cache.
        note_around_i: u8 = field(s.ports()),
        /// The result of the instruction goes past the LRF.
        note_past_i: u8 = field(s.ports()),
        /// Cache c takes no result in this cycle.
        hold_i: u8 = field(s.ports()),
        /// Cache c performs its operation at this edge.
        op_ready_i: u8 = field(s.ports()),
        /// The register of the result in latch b is on its way from a cache to the MRF.
        match_i: u8 = field(s.ports()),
        /// An eviction of cache b is offered.
        evict_valid_i: u8 = field(s.ports()),
        /// Warp of the eviction of cache b.
        evict_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("evict_valid_i"),
        /// Register of the eviction of cache b.
        evict_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("evict_valid_i"),
        /// The MRF's queue b takes what is offered.
        mrf_ready_i: u8 = field(s.ports()),
        /// The value in the MRF's queue b goes into its bank at this edge.
        mrf_done_i: u8 = field(s.ports()),
    }
}

ports! {
    /// Outputs of [`RfcResults`].
    pub struct RfcResultsOut(s: &RfcShape) {
        /// Data of the operation on cache c.
        op_data_o: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("op_valid_o"),
        /// Data for the MRF's queue b.
        mrf_data_o: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("mrf_valid_o"),
        /// Lanes of the operation on cache c.
        op_mask_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("op_valid_o"),
        /// Lanes for the MRF.
        mrf_mask_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("mrf_valid_o"),
        /// First row of the warp for the MRF.
        mrf_base_o: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("mrf_valid_o"),
        /// The completed write.
        written_o: [WrittenWord; MAX_PORTS] = packed::<WrittenWord>().count(s.ports()).valid_by("write_done_o"),
        /// The result on bus b is taken at this edge if also valid.
        write_ready_o: u8 = field(s.ports()),
        /// The result in latch b is where it goes from this edge on.
        write_done_o: u8 = field(s.ports()),
        /// An operation on cache c.
        op_valid_o: u8 = field(s.ports()),
        /// The operation on cache c takes lanes away; 0 without an operation.
        op_kill_o: u8 = field(s.ports()),
        /// Slot within the cache of the operation on cache c.
        op_slot_o: [u8; MAX_PORTS] = field(s.local_w()).count(s.ports()).valid_by("op_valid_o"),
        /// Register of the operation on cache c.
        op_reg_o: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("op_valid_o"),
        /// The operation on cache c belongs into the LRF; 0 without an operation.
        op_upper_o: u8 = field(s.ports()),
        /// The operation on cache c comes from a private unit; 0 without an operation.
        op_private_o: u8 = field(s.ports()),
        /// A result is in latch b.
        result_valid_o: u8 = field(s.ports()).shows("valid_q").early(),
        /// Warps of the results in the latches.
        result_warp_o: [u8; MAX_PORTS] =
            field(WARP_BITS).count(s.ports()).valid_by("valid_q").shows("warp_q").early(),
        /// Registers of the results in the latches.
        result_reg_o: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("valid_q").shows("reg_q").early(),
        /// A result that has left its latch is in the MRF's queue b.
        queue_valid_o: u8 = field(s.ports()).shows_when(s.release, "queued_q").early(),
        /// Warps of the results in the queues.
        queue_warp_o: [u8; MAX_PORTS] =
            field(WARP_BITS).count(s.ports()).valid_by("queue_valid_o").shows_when(s.release, "queue_warp_q").early(),
        /// Registers of the results in the queues.
        queue_reg_o: [u8; MAX_PORTS] =
            field(REG_BITS).count(s.ports()).valid_by("queue_valid_o").shows_when(s.release, "queue_reg_q").early(),
        /// The eviction of cache b is taken.
        evict_ready_o: u8 = field(s.ports()),
        /// The eviction of cache b goes into its bank.
        evict_done_o: u8 = field(s.ports()),
        /// Something for the MRF's queue b.
        mrf_valid_o: u8 = field(s.ports()),
        /// Warp of the value for the MRF's queue b.
        mrf_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("mrf_valid_o"),
        /// Register of the value for the MRF's queue b.
        mrf_reg_o: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("mrf_valid_o"),
        /// The result in latch b may go to the MRF.
        may_o: u8 = field(s.ports()),
        /// The result in latch b goes into the MRF's queue at this edge.
        around_o: u8 = field(s.ports()),
        /// The result that goes into the MRF's queue is from a private unit; 0 where none goes.
        around_private_o: u8 = field(s.ports()),
        /// The result in latch b waits.
        wait_o: u8 = field(s.ports()),
    }
}

ports! {
    /// State of [`RfcResults`].
    pub struct RfcResultsProbe(s: &RfcShape) {
        /// Data of the result in latch b.
        data_q: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("valid_q"),
        /// Lanes of the result in latch b.
        mask_q: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("valid_q"),
        /// First row of the warp of the result in latch b.
        base_q: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("valid_q"),
        /// A result is in latch b.
        valid_q: u8 = field(s.ports()),
        /// The result in latch b is in the MRF's queue.
        sent_q: u8 = field(s.ports()),
        /// The warp of the result in latch b had no slot once.
        outside_q: u8 = field(s.ports()),
        /// The value in the MRF's queue b is an eviction.
        queue_evict_q: u8 = field(s.ports()),
        /// The bus that goes first at cache c.
        turn_q: u8 = field(s.ports()),
        /// The last result in latch b was one of a private unit.
        private_q: u8 = field(s.ports()),
        /// Registers of each slot whose results bypass the cache, whether the slot is free or not.
        around_q: [Wide<REGISTER_WORDS>; MAX_ACTIVE] = field(1 << REG_BITS).count(s.active),
        /// Registers of each slot whose results bypass the LRF, whether the slot is free or not.
        past_q: [Wide<REGISTER_WORDS>; MAX_ACTIVE] = field(1 << REG_BITS).count(s.active),
    }
}

/// A result on its bus, or in its latch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrival {
    pub(crate) mask: u32,
    pub(crate) base: u16,
    pub(crate) warp: u8,
    pub(crate) reg: u8,
    pub(crate) private: bool,
}

impl Arrival {
    /// The result on a bus, whose warp has its rows from `base` on.
    #[inline]
    pub(crate) fn of(write: WriteWord, base: u16) -> Self {
        let (warp, reg) = write.register();
        Self { mask: write.mask(), base, warp, reg, private: write.from_private() != 0 }
    }
}

/// State of other blocks that the routing of a cycle depends on.
pub(crate) struct Around<'a> {
    pub(crate) slot_valid: u64,
    pub(crate) slot_warp: &'a [u8; MAX_ACTIVE],
    pub(crate) flush: u64,
    /// Caches that accept no result.
    pub(crate) hold: u8,
    /// Results whose registers are on their way from a cache to the MRF.
    pub(crate) matches: u8,
    pub(crate) evict_valid: u8,
    pub(crate) mrf_ready: u8,
    pub(crate) mrf_done: u8,
}

/// The operation on a cache: the bus, the slot of the cache, whether lanes are taken away, and whether the result belongs into the LRF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BusOp {
    pub(crate) bus: u8,
    pub(crate) slot: u8,
    pub(crate) kill: bool,
    pub(crate) upper: bool,
}

/// The routes of the results, as masks of buses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Routes {
    /// Results that belong into a cache.
    cached: u8,
    /// Results that are selected at their cache.
    goes: u8,
    /// The cache of each result.
    cache: [u8; MAX_PORTS],
    /// Caches that both results want.
    contested: u8,
    /// Results whose warps have no slot.
    outside: u8,
    /// The operation on each cache.
    pub(crate) op: [Option<BusOp>; MAX_PORTS],
    /// Results that may go to the MRF.
    pub(crate) may: u8,
    /// Values that are offered to the MRF's queues, and queues that accept.
    pub(crate) mrf_valid: u8,
    mrf_ready: u8,
    /// The offered values that are evictions.
    pub(crate) evict_valid: u8,
    /// Results that are accepted by the MRF's queues.
    pub(crate) around: u8,
    /// Results of these that leave their latches.
    released: u8,
    /// Results in the MRF's queues that are written into their banks.
    landed: u8,
    /// Evictions that are written into their banks.
    pub(crate) evict_done: u8,
    /// Results that leave their latches at the clock edge.
    pub(crate) done: u8,
    /// Results that wait.
    pub(crate) wait: u8,
}

/// A latch at the end of each result bus, and the choice between cache and MRF.
///
/// A direct caller lets the block choose routes from the state around it ([`choose`](Self::choose)), reports which caches perform their operations
/// ([`conclude`](Self::conclude)), and at the clock edge passes the arriving results.
#[derive(Clone)]
pub struct RfcResults {
    ports: usize,
    slots: usize,
    buses: u8,
    /// A result that goes around the cache leaves its latch when the MRF's queue takes it.
    release: bool,
    valid_q: u8,
    sent_q: u8,
    outside_q: u8,
    queue_evict_q: u8,
    queued_q: u8,
    turn_q: u8,
    /// Warp and register of the last result that left its latch for the MRF's queue.
    queue_q: [(u8, u8); MAX_PORTS],
    latch_q: [Arrival; MAX_PORTS],
    data_q: [WarpData; MAX_PORTS],
    /// Registers of each slot whose results go around the cache.
    around_q: Box<[[u32; REGISTER_WORDS]]>,
    /// Registers of each slot whose results go past the LRF.
    past_q: Box<[[u32; REGISTER_WORDS]]>,
    /// The decisions of this cycle.
    routes: Routes,
}

impl RfcResults {
    /// Latches with a result.
    #[inline]
    pub(crate) fn valid(&self) -> u8 {
        self.valid_q
    }

    /// Queues of the MRF that hold a result that has left its latch.
    #[inline]
    pub(crate) fn queued(&self) -> u8 {
        self.queued_q
    }

    /// Queues of the MRF that hold an eviction, if they hold anything.
    #[inline]
    pub(crate) fn queued_evictions(&self) -> u8 {
        self.queue_evict_q
    }

    /// Warp and register of the last result that left latch `b` for the MRF's queue.
    #[inline]
    pub(crate) fn queue(&self, b: usize) -> (u8, u8) {
        self.queue_q[b]
    }

    /// The result in a latch.
    #[inline]
    pub(crate) fn latch(&self, b: usize) -> &Arrival {
        &self.latch_q[b]
    }

    /// Data of the result in a latch.
    #[inline]
    pub(crate) fn data(&self, b: usize) -> &WarpData {
        &self.data_q[b]
    }

    /// Buses that can take a result, if the latches in `done` become empty.
    #[inline]
    pub(crate) fn ready(&self, done: u8) -> u8 {
        (!self.valid_q | done) & self.buses
    }

    /// Whether a register of a slot is in a set.
    #[inline]
    fn is_in(sets: &[[u32; REGISTER_WORDS]], slot: usize, reg: u8) -> bool {
        let set = sets.get(slot).map_or(0, |set| set[usize::from(reg) / 32]);
        set >> (reg % 32) & 1 == 1
    }

    /// Chooses the destination of each result, and the result that is selected at each cache.
    #[inline]
    pub(crate) fn choose(&self, around: &Around<'_>) -> Routes {
        let mut routes = Routes {
            mrf_valid: around.evict_valid,
            evict_valid: around.evict_valid,
            mrf_ready: around.mrf_ready,
            evict_done: around.mrf_done & self.queue_evict_q,
            landed: around.mrf_done & !self.queue_evict_q,
            ..Routes::default()
        };
        if self.valid_q == 0 {
            return routes;
        }
        let (mut may, mut outside, mut upper) = (0, 0, 0);
        let mut wants = [0u8; MAX_PORTS];
        let mut local = [0; MAX_PORTS];
        for b in set_bits(self.valid_q) {
            let (bit, latch) = (1 << b, &self.latch_q[b]);
            let slot = set_bits(around.slot_valid).find(|&s| around.slot_warp[s] == latch.warp);
            let cached = (self.sent_q | self.outside_q) & bit == 0
                && slot.is_some_and(|s| !is_set(around.flush, s) && !Self::is_in(&self.around_q, s, latch.reg));
            let held = self.sent_q | around.matches | around.evict_valid;
            if !cached && held & bit == 0 {
                may |= bit;
            }
            let Some(s) = slot else {
                outside |= bit;
                continue;
            };
            let c = s % self.ports;
            (routes.cache[b], local[b]) = (c as u8, (s / self.ports) as u8);
            routes.cached |= u8::from(cached) << b;
            if !is_set(around.hold, c) && (cached || may & around.mrf_ready & bit != 0) {
                wants[c] |= bit;
            }
            upper |= u8::from(cached && latch.private && !Self::is_in(&self.past_q, s, latch.reg)) << b;
        }
        for (c, wants) in wants.into_iter().enumerate() {
            if wants == 0 {
                continue;
            }
            let contested = wants == 0b11;
            routes.contested |= u8::from(contested) << c;
            // If both results want the cache, the turn decides.
            let bus = if contested { self.turn_q >> c & 1 } else { wants.trailing_zeros() as u8 };
            routes.goes |= 1 << bus;
            let kill = !is_set(routes.cached, bus.into());
            let upper = is_set(upper, bus.into());
            routes.op[c] = Some(BusOp { bus, slot: local[usize::from(bus)], kill, upper });
        }
        (routes.outside, routes.may) = (outside, may);
        let offered = may & (outside | routes.goes);
        routes.mrf_valid |= offered;
        routes.around = offered & around.mrf_ready;
        routes.released = if self.release { routes.around } else { 0 };
        routes.done = self.sent_q & self.valid_q & routes.landed | routes.released;
        routes
    }

    /// Completes the choice: the caches in `op_ready` perform their operations.
    #[inline]
    pub(crate) fn conclude(&self, routes: &mut Routes, op_ready: u8) {
        for b in set_bits(routes.cached & routes.goes) {
            routes.done |= u8::from(is_set(op_ready, routes.cache[b].into())) << b;
        }
        routes.wait = self.valid_q & !self.sent_q & !routes.done & !routes.around;
    }

    /// The clock edge, without arriving results. `op_ready`: caches that perform their operations.
    #[inline]
    pub(crate) fn advance(&mut self, routes: &Routes, op_ready: u8) {
        let queued = routes.mrf_valid & routes.mrf_ready;
        self.queue_evict_q = self.queue_evict_q & !queued | routes.evict_valid & queued;
        for c in set_bits(routes.contested & op_ready) {
            self.turn_q ^= 1 << c;
        }
        self.queued_q = self.queued_q & !routes.landed | routes.released;
        for b in set_bits(routes.released) {
            self.queue_q[b] = (self.latch_q[b].warp, self.latch_q[b].reg);
        }
        self.valid_q &= !routes.done;
        self.sent_q = (self.sent_q | routes.around) & !routes.done;
        self.outside_q = (self.outside_q | routes.outside) & !routes.done;
    }

    /// The clock edge at which a result is taken, called after [`advance`](Self::advance).
    #[inline]
    pub(crate) fn take(&mut self, b: usize, arrival: &Arrival, data: &WarpData) {
        (self.latch_q[b], self.data_q[b]) = (*arrival, *data);
        self.valid_q |= 1 << b;
        self.sent_q &= !(1 << b);
        self.outside_q &= !(1 << b);
    }

    /// The clock edge at which an instruction leaves T: records whether its result goes around the cache, and whether it goes past the LRF.
    #[inline]
    pub(crate) fn note(&mut self, slot: u8, reg: u8, around: bool, past: bool) {
        for (sets, bit) in [(&mut self.around_q, around), (&mut self.past_q, past)] {
            if let Some(set) = sets.get_mut(usize::from(slot)) {
                let word = &mut set[usize::from(reg) / 32];
                *word = *word & !(1 << (reg % 32)) | u32::from(bit) << (reg % 32);
            }
        }
    }

    /// A clock edge in reset; called after everything else.
    pub(crate) fn reset(&mut self) {
        (self.valid_q, self.sent_q, self.outside_q) = (0, 0, 0);
        (self.queue_evict_q, self.queued_q, self.turn_q) = (0, 0, 0);
        self.latch_q.iter_mut().for_each(|latch| latch.private = false);
    }
}

impl Block for RfcResults {
    const NAME: &'static str = "rfc_results";
    const PARAMETERS: &'static [&'static str] = &["IssuePorts", "Active", "Depth", "Release"];

    type Shape = RfcShape;
    type In = RfcResultsIn;
    type Out = RfcResultsOut;
    type Probe = RfcResultsProbe;

    fn new(shape: &RfcShape) -> Self {
        Self {
            ports: shape.ports(),
            slots: shape.active,
            buses: u8::MAX >> (u8::BITS as usize - shape.ports()),
            release: shape.release,
            valid_q: 0,
            sent_q: 0,
            outside_q: 0,
            queue_evict_q: 0,
            queued_q: 0,
            turn_q: 0,
            queue_q: [(0, 0); MAX_PORTS],
            latch_q: [Arrival::default(); MAX_PORTS],
            data_q: [WarpData::ZERO; MAX_PORTS],
            around_q: vec![[0; REGISTER_WORDS]; shape.active].into(),
            past_q: vec![[0; REGISTER_WORDS]; shape.active].into(),
            routes: Routes::default(),
        }
    }

    fn early(&self, out: &mut RfcResultsOut) {
        out.result_valid_o = self.valid_q;
        (out.result_warp_o, out.result_reg_o, out.queue_warp_o, out.queue_reg_o) = Default::default();
        out.queue_valid_o = self.queued_q;
        for b in 0..self.ports {
            (out.result_warp_o[b], out.result_reg_o[b]) = (self.latch_q[b].warp, self.latch_q[b].reg);
            if is_set(self.queued_q, b) {
                (out.queue_warp_o[b], out.queue_reg_o[b]) = self.queue_q[b];
            }
        }
    }

    fn late(&mut self, inputs: &RfcResultsIn, out: &mut RfcResultsOut) {
        let mut routes = self.choose(&Around {
            slot_valid: inputs.slot_valid_i,
            slot_warp: &inputs.slot_warp_i,
            flush: inputs.flush_i,
            hold: inputs.hold_i,
            matches: inputs.match_i,
            evict_valid: inputs.evict_valid_i,
            mrf_ready: inputs.mrf_ready_i,
            mrf_done: inputs.mrf_done_i,
        });
        self.conclude(&mut routes, inputs.op_ready_i);
        self.routes = routes;
        (out.op_valid_o, out.op_kill_o, out.op_private_o, out.around_private_o) = (0, 0, 0, 0);
        out.op_upper_o = 0;
        out.written_o = Default::default();
        (out.op_mask_o, out.op_slot_o, out.op_reg_o) = Default::default();
        (out.mrf_mask_o, out.mrf_base_o, out.mrf_warp_o, out.mrf_reg_o) = Default::default();
        (out.write_ready_o, out.write_done_o, out.wait_o) = (self.ready(routes.done), routes.done, routes.wait);
        (out.evict_ready_o, out.evict_done_o) = (inputs.mrf_ready_i, routes.evict_done);
        (out.mrf_valid_o, out.may_o, out.around_o) = (routes.mrf_valid, routes.may, routes.around);
        for (c, op) in routes.op.iter().enumerate() {
            let Some(BusOp { bus, slot, kill, upper }) = *op else { continue };
            let b = usize::from(bus);
            let latch = &self.latch_q[b];
            out.op_valid_o |= 1 << c;
            out.op_kill_o |= u8::from(kill) << c;
            out.op_upper_o |= u8::from(upper) << c;
            out.op_private_o |= u8::from(latch.private) << c;
            (out.op_slot_o[c], out.op_reg_o[c], out.op_mask_o[c]) = (slot, latch.reg, latch.mask);
            out.op_data_o[c] = self.data_q[b];
        }
        for b in 0..self.ports {
            let (bit, latch) = (1 << b, &self.latch_q[b]);
            if routes.done & bit != 0 {
                out.written_o[b] = WrittenWord::new(latch.warp, latch.reg);
            }
            out.around_private_o |= u8::from(latch.private) << b & routes.around;
            if routes.evict_valid & bit != 0 {
                (out.mrf_mask_o[b], out.mrf_base_o[b]) = (inputs.evict_mask_i[b], inputs.evict_base_i[b]);
                (out.mrf_warp_o[b], out.mrf_reg_o[b]) = (inputs.evict_warp_i[b], inputs.evict_reg_i[b]);
                out.mrf_data_o[b] = inputs.evict_data_i[b];
            } else if routes.mrf_valid & bit != 0 {
                (out.mrf_mask_o[b], out.mrf_base_o[b]) = (latch.mask, latch.base);
                (out.mrf_warp_o[b], out.mrf_reg_o[b]) = (latch.warp, latch.reg);
                out.mrf_data_o[b] = self.data_q[b];
            }
        }
    }

    fn clock(&mut self, inputs: &RfcResultsIn, out: &RfcResultsOut) {
        let routes = self.routes;
        self.advance(&routes, inputs.op_ready_i);
        for b in set_bits(inputs.write_valid_i & out.write_ready_o) {
            self.take(b, &Arrival::of(inputs.write_i[b], inputs.write_base_i[b]), &inputs.write_data_i[b]);
        }
        for p in set_bits(inputs.note_valid_i) {
            let (around, past) = (is_set(inputs.note_around_i, p), is_set(inputs.note_past_i, p));
            self.note(inputs.note_slot_i[p], inputs.note_reg_i[p], around, past);
        }
        if inputs.rst_ni == 0 {
            self.reset();
        }
    }

    fn probe(&self, _: &RfcResultsIn, _: &RfcResultsOut, probe: &mut RfcResultsProbe) {
        (probe.valid_q, probe.sent_q, probe.outside_q) = (self.valid_q, self.sent_q, self.outside_q);
        (probe.queue_evict_q, probe.turn_q) = (self.queue_evict_q, self.turn_q);
        probe.private_q = (0..self.ports).fold(0, |set, b| set | u8::from(self.latch_q[b].private) << b);
        probe.around_q.iter_mut().zip(&self.around_q).for_each(|(shown, held)| *shown = Wide(*held));
        probe.past_q.iter_mut().zip(&self.past_q).for_each(|(shown, held)| *shown = Wide(*held));
        (probe.mask_q, probe.base_q) = Default::default();
        for b in set_bits(self.valid_q) {
            (probe.mask_q[b], probe.base_q[b]) = (self.latch_q[b].mask, self.latch_q[b].base);
            probe.data_q[b] = self.data_q[b];
        }
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let (block, bits) = (Self::NAME, 1 << REG_BITS);
        let around = self.around_q[..self.slots].as_flattened_mut();
        let past = self.past_q[..self.slots].as_flattened_mut();
        vec![
            Memory { path: "around_q".into(), block, words: around, bits },
            Memory { path: "past_q".into(), block, words: past, bits },
        ]
    }
}

#[cfg(test)]
mod tests;
