//! `rfc`: the register file cache in front of the main register file. `docs/blocks/rfc.md`.

mod design;
mod nets;

pub use design::RfcSizes;
pub use nets::{RfcNets, RfcProbe};

use crate::design::{IssueFields, PowerSide, SlotView};
use crate::instruction::NO_REG;
use crate::mrf::bits::{is_set, pack, set_bits};
use crate::mrf::{MAX_PORTS, MRF_EVENT, Mrf, MrfIn, MrfOut};
use crate::operands::FrontOperands;
use crate::power::{POWER_CFG_BITS, POWER_EVENT, POWER_WAIT_EVENT, PowerStraps};
use crate::rfc::rfc_data::{Move, Write};
use crate::rfc::rfc_evictions::Value;
use crate::rfc::rfc_fills::{Fill, Missed};
use crate::rfc::rfc_lrf::{Below, LrfCounts, LrfEdge, LrfFlush, LrfOp};
use crate::rfc::rfc_power::{Around as Words, Asking, Changing, Value as Word};
use crate::rfc::rfc_results::{Around, Arrival, BusOp, Routes};
use crate::rfc::rfc_tags::{Counts, Done, Flush, Look, Looked, Op, Take, distinct};
use crate::rfc::{RfcData, RfcEvictions, RfcFills, RfcLrf, RfcPower, RfcResults, RfcShape, RfcTags};
use crate::sizes::{MAX_ACTIVE, WARP_NUMBERS};
use crate::unified::{ColumnsIn, ColumnsOut};
use crate::write::{WriteWord, WrittenWord};
use crate::{Decode, LANES, LaneMask, OPERANDS, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData, field, packed, ports};

pub(crate) const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;
/// Width of the cache's own straps. The straps of the power states are above them.
pub(crate) const CACHE_CFG_BITS: u32 = 5;
/// Bit of the strap *prompt*, above the straps of the power states.
const PROMPT: u32 = CACHE_CFG_BITS + POWER_CFG_BITS;
const RFC_CFG_BITS: u32 = PROMPT + 1;

/// Fields of `rfc_event_t`, most significant first. Other event words of the SM use the names on the page, so these names begin with the cache's.
pub const RFC_EVENT: &[(&str, u32)] = &[
    ("rfc_tag_check", 2),
    ("rfc_stall_eviction", 2),
    ("rfc_stall_collector", 2),
    ("rfc_hit", 3),
    ("rfc_partial", 3),
    ("rfc_miss", 3),
    ("rfc_read_groups", 6),
    ("rfc_read_shared_groups", 6),
    ("rfc_mrf_shared_groups", 6),
    ("rfc_write_groups", 5),
    ("rfc_write_shared_groups", 5),
    ("rfc_around_groups", 5),
    ("rfc_around_shared_groups", 5),
    ("rfc_evict_groups", 5),
];

/// Fields of `rfc_count_event_t`, most significant first.
pub const RFC_COUNT_EVENT: &[(&str, u32)] = &[
    ("rfc_write_hit", 2),
    ("rfc_allocate", 2),
    ("rfc_evict", 2),
    ("rfc_dead", 2),
    ("rfc_flush", 2),
    ("rfc_kill", 2),
    ("rfc_marked", 3),
    ("rfc_wait", 2),
    ("rfc_stall_result", 2),
    ("rfc_spare", 1),
];

/// Fields of `rfc_extra_event_t`, most significant first.
pub const RFC_EXTRA_EVENT: &[(&str, u32)] = &[
    ("rfc_lrf_read_groups", 5),
    ("rfc_lrf_write_groups", 5),
    ("rfc_lrf_spill_groups", 5),
    ("rfc_lrf_flush_groups", 5),
    ("rfc_lrf_dead", 2),
    ("rfc_lrf_same", 2),
    ("rfc_lrf_past", 2),
    ("rfc_lrf_marked", 2),
    ("rfc_fill_groups", 5),
];

ports! {
    /// Inputs of [`Rfc`].
    pub struct RfcIn(s: &RfcShape) {
        /// Data of a result.
        write_data_i: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Slots that have a warp.
        slot_valid_i: u64 = field(s.active),
        /// Slots that are to be emptied.
        flush_i: u64 = field(s.active),
        /// Slots that are emptied without write-back.
        drop_i: u64 = field(s.active),
        /// Warps that have ended.
        over_i: u64 = field(WARP_NUMBERS as u32),
        /// The offered result.
        write_i: [WriteWord; MAX_PORTS] = packed::<WriteWord>().count(s.ports()).valid_by("write_valid_i"),
        /// Active lanes.
        issue_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("issue_valid_i"),
        /// Straps: bit 0 order among the reads of a bank, 1 *live*, 2 LRU, 3 *bypass*, 4 *loads*; above them those of the power states, then *prompt*.
        cfg_i: u16 = field(RFC_CFG_BITS),
        /// First row of each slot's warp.
        slot_base_i: [u16; MAX_ACTIVE] = field(s.mrf.entry_w()).count(s.active).valid_by("slot_valid_i"),
        /// First row of the warp's registers.
        issue_base_i: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("issue_valid_i"),
        /// First row of the warp's registers.
        write_base_i: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("write_valid_i"),
        /// The warp of each slot.
        slot_warp_i: [u8; MAX_ACTIVE] = field(WARP_BITS).count(s.active).valid_by("slot_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction is offered on port p.
        issue_valid_i: u8 = field(s.ports()),
        /// Opaque, comes out at dispatch.
        issue_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("issue_valid_i"),
        /// Warp of the offered instruction.
        issue_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Slot of the warp.
        issue_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("issue_valid_i"),
        /// Bit 3p+k: source k of port p is a register.
        issue_src_valid_i: u8 = field(s.mrf.sources()),
        /// Register name of each source.
        issue_src_reg_i: [u8; MAX_SOURCES] = field(REG_BITS).count(s.mrf.sources()).valid_by("issue_src_valid_i"),
        /// Bit 3p+k: the read of source k of port p is the register's last one.
        issue_last_i: u8 = field(s.mrf.sources()),
        /// Register written; 255: none.
        issue_dst_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Long-latency operation.
        issue_long_i: u8 = field(s.ports()),
        /// The result goes around the cache, says the compiler.
        issue_bypass_i: u8 = field(s.ports()),
        /// The result goes past the LRF, says the compiler.
        issue_past_i: u8 = field(s.ports()),
        /// The offered instruction goes to a private unit.
        issue_private_i: u8 = field(s.ports()),
        /// The power state in which source k of port p is left.
        issue_left_i: [u8; MAX_SOURCES] = field(2).count(s.mrf.sources()).valid_by("issue_src_valid_i"),
        /// Bit 3p+k: another instruction accesses source k of what is dispatched on port p.
        dispatch_keep_i: u8 = field(s.mrf.sources()),
        /// A result is offered on bus p.
        write_valid_i: u8 = field(s.ports()),
        /// The instruction offered on dispatch port p is taken at this edge if also valid.
        dispatch_ready_i: u8 = field(s.ports()),
    } +
    /// What memory asks of the columns.
    columns: ColumnsIn as &s.mrf
}

ports! {
    /// Outputs of [`Rfc`].
    pub struct RfcOut(s: &RfcShape) {
        /// Operands of the offered instruction.
        dispatch_data_o: [WarpData; MAX_SOURCES] =
            field(WARP_DATA_BITS).count(s.mrf.sources()).valid_by("dispatch_src_valid_o").early(),
        /// Events: `rfc_event_t`.
        event_o: u64 = field(58).shown(Decode::Packed(RFC_EVENT)),
        /// Events: `rfc_extra_event_t`.
        extra_event_o: u64 = field(33).shown(Decode::Packed(RFC_EXTRA_EVENT)),
        /// Events of the MRF: `mrf_event_t`.
        mrf_event_o: u64 = field(50).shown(Decode::Packed(MRF_EVENT)),
        /// Nothing is left of slot s.
        flush_done_o: u64 = field(s.active),
        /// Events of the power states: `power_event_t`; 0 without.
        power_event_o: u64 = field(56).shown(Decode::Packed(POWER_EVENT)),
        /// Events of the power states: `power_wait_event_t`; 0 without.
        power_wait_event_o: u16 = field(12).shown(Decode::Packed(POWER_WAIT_EVENT)),
        /// Events: `rfc_count_event_t`.
        count_event_o: u32 = field(20).shown(Decode::Packed(RFC_COUNT_EVENT)),
        /// Active lanes as issued.
        dispatch_mask_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("dispatch_valid_o").early(),
        /// The completed write.
        written_o: [WrittenWord; MAX_PORTS] = packed::<WrittenWord>().count(s.ports()).valid_by("write_done_o"),
        /// The instruction on port p is taken at this edge if also valid.
        issue_ready_o: u8 = field(s.ports()).early(),
        /// The result on bus p is taken at this edge if also valid.
        write_ready_o: u8 = field(s.ports()),
        /// The result in latch p is where it goes from this edge on.
        write_done_o: u8 = field(s.ports()),
        /// An instruction with all its operands is offered.
        dispatch_valid_o: u8 = field(s.ports()).early(),
        /// Tag as issued.
        dispatch_tag_o: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("dispatch_valid_o").early(),
        /// Warp as issued.
        dispatch_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("dispatch_valid_o").early(),
        /// Bit 3p+k: `dispatch_valid_o[p]` and source k came from a register.
        dispatch_src_valid_o: u8 = field(s.mrf.sources()).early(),
    } +
    /// What the columns say to memory.
    columns: ColumnsOut as &s.mrf
}

/// The instruction in T.
#[derive(Clone, Copy, Default)]
struct Stage {
    look: Look,
    base: u16,
    warp: u8,
    tag: u8,
    private: bool,
    /// Register written; 255: none. Then two flags: the result goes around the cache; the result goes past the LRF.
    dst: u8,
    around: bool,
    past: bool,
    /// The power state in which the instruction leaves each source.
    left: [u8; OPERANDS],
}

/// The decisions of a cycle that follow from state and slots.
#[derive(Clone, Copy, Default)]
struct Decided {
    routes: Routes,
    /// The result at each LRF and the operation that it causes in the cache below; the value that each LRF flushes.
    upper: [Option<(LrfOp, Below)>; MAX_PORTS],
    lrf_flush: [Option<LrfFlush>; MAX_PORTS],
    /// The fill of each cache.
    fill: [Option<Fill>; MAX_PORTS],
    /// The operation on each cache, and the outcome of that operation or of a flush.
    op: [Option<Op>; MAX_PORTS],
    done: [Done; MAX_PORTS],
    flush: [Flush; MAX_PORTS],
    /// The eviction that begins in each cache.
    push: [Option<Value>; MAX_PORTS],
    /// Caches that perform their operations.
    op_ready: u8,
    /// Values that wait at the MRF's write ports, and write ports whose words are ON.
    write_valid: u8,
    write_on: u8,
    /// Results that are offered to the MRF, whether their words are ON or not.
    offered: u8,
    /// The accesses to the words of the MRF, and the changes of their power states.
    words: Words,
    changing: Changing,
    /// Ports whose unit takes the offered instruction.
    dispatch_ready: u8,
    /// Slots that are being flushed, and flushed slots with no value left.
    flushing: u64,
    flush_done: u64,
}

/// Each active slot has entries of one warp register: results are written there, operands are looked up there first (RFC paper 3.1, 3.3; hierarchy thesis 5.2, 5.3).
///
/// An operand stage calls it directly, like the MRF: [`see`](Self::see) presents the slots, then follow the functions that have the same names as the MRF's.
#[derive(Clone)]
pub struct Rfc {
    ports: usize,
    tag_valid_q: u8,
    stage: [Stage; MAX_PORTS],
    tags: Vec<RfcTags>,
    data: Vec<RfcData>,
    evictions: Vec<RfcEvictions>,
    results: RfcResults,
    operands: FrontOperands,
    /// One LRF above each cache, or none.
    lrf: Vec<RfcLrf>,
    /// Present if reads allocate.
    fills: Option<Box<RfcFills>>,
    /// Present if the words of the MRF have power states.
    power: Option<Box<RfcPower>>,
    mrf: Mrf,
    /// The inputs of the MRF in this cycle, and its outputs (but for 1024-bit data).
    given: MrfIn,
    shown: MrfOut,
    /// Nets that are computed right after the clock edge.
    looked: [Looked; MAX_PORTS],
    /// Lanes of each source that are in the LRF, and lanes that are in the LRF or in the cache.
    upper_hit: [[u32; OPERANDS]; MAX_PORTS],
    hit: [[u32; OPERANDS]; MAX_PORTS],
    missing: [u8; MAX_PORTS],
    stall: u8,
    behind: u8,
    /// The strap *prompt*.
    prompt: bool,
    /// Instructions in T that wait only for their words and a collector, and the ports where all these words are ON.
    asking: [Option<Asking>; MAX_PORTS],
    look_on: u8,
    leave: u8,
    /// Ports that offer an instruction with all its operands.
    offered: u8,
    /// Merged operands of the instruction that a port offers, if some lanes came from the cache, and its tag.
    merged_tag: [Option<u8>; MAX_PORTS],
    merged: Box<[[WarpData; OPERANDS]; MAX_PORTS]>,
    /// Nets that are computed when the slots are presented.
    decided: Decided,
    /// The inputs of the MRF in a block that runs alone.
    outside: MrfIn,
}

impl Rfc {
    /// Fills the outputs that depend on state alone, without the operands. Fields without a meaning keep their values.
    #[inline]
    pub(crate) fn show(&self, out: &mut MrfOut) {
        out.issue_ready_o = (!self.tag_valid_q | self.leave) & u8::MAX >> (u8::BITS as usize - self.ports);
        out.dispatch_valid_o = self.offered;
        out.dispatch_src_valid_o = 0;
        for p in set_bits(self.offered) {
            let tag = self.shown.dispatch_tag_o[p];
            (out.dispatch_tag_o[p], out.dispatch_mask_o[p]) = (tag, self.shown.dispatch_mask_o[p]);
            out.dispatch_warp_o[p] = self.shown.dispatch_warp_o[p];
            let sources = self.shown.dispatch_src_valid_o >> (OPERANDS * p) & 0b111;
            out.dispatch_src_valid_o |= (sources | self.operands.cached(tag as u8)) << (OPERANDS * p);
        }
    }

    /// Operands of the instruction that is offered on dispatch port `p`.
    #[inline]
    pub(crate) fn operands(&self, p: usize) -> &[WarpData; OPERANDS] {
        if self.merged_tag[p].is_some() { &self.merged[p] } else { self.mrf.operands(p) }
    }

    /// Whether nothing is in motion: instructions in T may wait for a collector, and offered instructions for their units.
    pub(crate) fn is_still(&self) -> bool {
        self.mrf.is_still() && self.nothing_moves()
    }

    #[inline]
    fn nothing_moves(&self) -> bool {
        self.leave | self.stall | self.results.valid() | self.results.queued() | self.waits_for_words() == 0
            && self.data.iter().all(RfcData::is_idle)
            && self.lrf.iter().all(RfcLrf::is_idle)
            && !self.fills_are_busy()
            && self.evictions.iter().all(RfcEvictions::is_empty)
    }

    /// Ports whose instruction in T waits for its words to wake up; not 0 while any wake-up is in progress.
    #[inline]
    fn waits_for_words(&self) -> u8 {
        let Some(power) = &self.power else { return 0 };
        u8::from(!power.is_idle()) | self.tag_valid_q & !self.look_on
    }

    /// Whether operands wait to be filled into the cache; no instruction is dispatched meanwhile.
    #[inline]
    fn fills_are_busy(&self) -> bool {
        self.fills.as_ref().is_some_and(|fills| fills.busy())
    }

    /// Whether a clock edge changes nothing, except in reset.
    #[inline]
    pub(crate) fn is_quiet(&self, given: &MrfIn, over: u64) -> bool {
        self.decided.flushing == 0
            && self.words_are_still(over)
            && self.nothing_moves()
            && given.write_valid_i == 0
            && given.issue_valid_i & !self.tag_valid_q == 0
            && self.mrf.is_quiet(&self.given)
    }

    /// Whether ended warps change the power state of no word.
    #[inline]
    pub(crate) fn words_are_still(&self, over: u64) -> bool {
        self.power.as_ref().is_none_or(|power| power.is_still(over))
    }

    /// Flushed slots with no value left.
    #[inline]
    pub(crate) fn flush_done(&self) -> u64 {
        self.decided.flush_done
    }

    /// Computes all nets that follow from state alone.
    #[inline]
    fn settle(&mut self) {
        (self.given.issue_valid_i, self.given.issue_src_valid_i) = (0, 0);
        (self.stall, self.behind) = (0, 0);
        (self.asking, self.look_on) = ([None; MAX_PORTS], u8::MAX >> (u8::BITS as usize - self.ports));
        for p in set_bits(self.tag_valid_q) {
            let stage = &self.stage[p];
            let looked = self.tags[p].look(&stage.look);
            let mut hit = looked.hit_mask;
            if let Some(lrf) = self.lrf.get(p) {
                self.upper_hit[p] = lrf.look(&stage.look);
                hit = std::array::from_fn(|k| hit[k] | self.upper_hit[p][k]);
            }
            let lacks = |k: &usize| hit[*k] & stage.look.mask != stage.look.mask;
            let missing = set_bits(stage.look.src_valid).filter(lacks).fold(0, |sources, k| sources | 1 << k);
            (self.looked[p], self.hit[p], self.missing[p]) = (looked, hit, missing);
            let evictions = &self.evictions[p];
            // A value that is written into its bank in this cycle is there when a collector reads it.
            let lands = self.lands(p);
            let waits = |k| evictions.is_on_its_way(stage.warp, stage.look.reg[k], lands);
            if !evictions.is_empty() && set_bits(missing).any(waits) {
                self.stall |= 1 << p;
            }
            if (self.results.valid() | self.results.queued()) != 0 && self.waits_for_result(stage) {
                self.behind |= 1 << p;
            }
            if is_set(self.stall | self.behind, p) {
                continue;
            }
            if let Some(power) = &self.power {
                let asked = distinct(&Look { src_valid: missing, ..stage.look }).fold(0, |set, k| set | 1 << k);
                let (src, reg, left) = (stage.look.src_valid, stage.look.reg, stage.left);
                let asking = Asking { warp: stage.warp, tag: stage.tag, src, asked, reg, left };
                self.asking[p] = Some(asking);
                if !power.look_on(&asking) {
                    self.look_on &= !(1 << p);
                    continue;
                }
            }
            let given = &mut self.given;
            given.issue_valid_i |= 1 << p;
            given.issue_src_valid_i |= missing << (OPERANDS * p);
            given.issue_src_reg_i[OPERANDS * p..][..OPERANDS].copy_from_slice(&stage.look.reg);
            (given.issue_warp_i[p], given.issue_base_i[p]) = (stage.warp, stage.base);
            (given.issue_mask_i[p], given.issue_tag_i[p]) = (stage.look.mask, stage.tag.into());
        }
        self.leave = self.given.issue_valid_i & self.shown.issue_ready_o;
        self.offered = 0;
        for p in 0..self.ports {
            if !is_set(self.shown.dispatch_valid_o, p) {
                // An instruction that was offered here may leave by the other port, and its tag may be used again.
                self.merged_tag[p] = None;
                continue;
            }
            let tag = self.shown.dispatch_tag_o[p] as u8;
            if self.operands.got(tag) {
                self.offered |= 1 << p;
                self.gather(p, tag);
            } else {
                self.merged_tag[p] = None;
            }
        }
        if self.fills_are_busy() {
            self.offered = 0;
        }
    }

    /// Whether an instruction in T reads or writes the register of a result that is in a latch, or has left its latch for the MRF's queue.
    #[inline]
    fn waits_for_result(&self, stage: &Stage) -> bool {
        let Stage { look, warp, dst, .. } = stage;
        let latches =
            set_bits(self.results.valid()).map(|b| self.results.latch(b)).map(|latch| (latch.warp, latch.reg));
        let queues = set_bits(self.results.queued()).map(|b| self.results.queue(b));
        latches
            .chain(queues)
            .any(|(owner, reg)| owner == *warp && (reg == *dst || set_bits(look.src_valid).any(|k| look.reg[k] == reg)))
    }

    /// Merges the operands of an offered instruction, once.
    #[inline]
    fn gather(&mut self, p: usize, tag: u8) {
        if self.merged_tag[p] == Some(tag) {
            return;
        }
        self.merged_tag[p] = None;
        if self.operands.cached(tag) != 0 {
            self.merged[p] = *self.mrf.operands(p);
            let from_mrf = self.shown.dispatch_src_valid_o >> (OPERANDS * p) & 0b111;
            self.operands.merge(tag, from_mrf, &mut self.merged[p]);
            self.merged_tag[p] = Some(tag);
        }
    }

    /// The slots of cache `c` in a set of all slots, numbered within the cache.
    #[inline]
    fn of_cache(&self, set: u64, c: usize) -> u64 {
        if self.ports == 1 {
            return set;
        }
        set_bits(set).filter(|s| s % MAX_PORTS == c).fold(0, |own, s| own | 1 << (s / MAX_PORTS))
    }

    /// Computes all nets that follow from state and slots, and fills the outputs. `base`: the first row of a slot's warp.
    #[inline]
    pub(crate) fn see(&mut self, straps: u16, slots: &SlotView<'_>, base: impl Fn(usize) -> u16, out: &mut MrfOut) {
        if let Some(power) = &mut self.power {
            power.begin(PowerStraps::of(straps >> CACHE_CFG_BITS));
        }
        let straps = cache_straps(straps);
        self.prompt = is_prompt(straps);
        let (mut offers, mut matches) = (0, 0);
        for (c, evictions) in self.evictions.iter().enumerate() {
            if evictions.is_empty() {
                continue;
            }
            offers |= u8::from(evictions.offer(self.comes(c).is_some()).is_some()) << c;
            for b in set_bits(self.results.valid()) {
                let latch = self.results.latch(b);
                matches |= u8::from(evictions.has(latch.warp, latch.reg)) << b;
            }
        }
        let write_on = self.words_on(offers);
        let decided = &mut self.decided;
        decided.fill = self.fills.as_ref().map_or([None; MAX_PORTS], |fills| fills.offer(slots.flush));
        let hold = (0..self.ports).fold(0, |hold, c| hold | u8::from(decided.fill[c].is_some()) << c);
        decided.routes = self.results.choose(&Around {
            slot_valid: slots.valid,
            slot_warp: slots.warp,
            flush: slots.flush,
            hold,
            matches,
            evict_valid: offers,
            mrf_ready: self.shown.write_ready_o & write_on,
            mrf_done: self.shown.write_done_o,
        });
        decided.write_valid = offers | decided.routes.may;
        decided.write_on = write_on | !decided.write_valid & u8::MAX >> (u8::BITS as usize - self.ports);
        decided.offered = decided.routes.mrf_valid;
        decided.routes.mrf_valid &= write_on;
        (decided.op_ready, decided.flushing, decided.flush_done) = (0, slots.flush, 0);
        for c in 0..self.ports {
            let upper = self.decided.routes.op[c].and_then(|op| self.at_lrf(c, op));
            let op = self.operation(c, upper.as_ref());
            let flush = match slots.flush {
                0 => Flush::default(),
                _ => Flush { flush: self.of_cache(slots.flush, c), drop: self.of_cache(slots.drop, c) },
            };
            let done = if op.is_none() && flush.flush == 0 {
                Done::default()
            } else {
                let reading = if is_set(self.leave, c) { self.looked[c].read } else { 0 };
                self.tags[c].decide(tags_straps(straps), reading, self.evictions[c].room(), op.as_ref(), flush)
            };
            let lrf_flush = self.lrf.get(c).and_then(|lrf| {
                let ready = flush.flush != 0 && upper.is_none() && self.evictions[c].room() && done.evict.is_none();
                if ready { lrf.flush(flush) } else { None }
            });
            let left_cache = done.evict.map(|evict| (evict.mask, evict.slot, evict.reg));
            let left = left_cache.or(lrf_flush.map(|flush| (flush.mask, flush.slot, flush.reg)));
            let decided = &mut self.decided;
            decided.push[c] = left.map(|(mask, slot, reg)| {
                let s = self.ports * usize::from(slot) + c;
                let (warp, base) = (slots.warp.get(s).copied().unwrap_or_default(), base(s));
                Value { mask, base, slot, warp, reg }
            });
            decided.op_ready |= u8::from(done.ready) << c;
            (decided.upper[c], decided.lrf_flush[c]) = (upper, lrf_flush);
            (decided.op[c], decided.done[c], decided.flush[c]) = (op, done, flush);
            if flush.flush != 0 {
                let clean = self.lrf.get(c).map_or(u64::MAX, RfcLrf::clean) & self.tags[c].clean();
                let left = flush.flush & (flush.drop | clean) & !self.evictions[c].busy();
                decided.flush_done |= set_bits(left).fold(0, |all, j| all | 1 << (self.ports * j + c));
            }
        }
        self.results.conclude(&mut self.decided.routes, self.decided.op_ready);
        let done = self.decided.routes.done;
        (out.write_ready_o, out.write_done_o) = (self.results.ready(done), done);
        for b in set_bits(done) {
            out.written_o[b] = WrittenWord::new(self.results.latch(b).warp, self.results.latch(b).reg);
        }
    }

    /// Data of an eviction of cache `c` that arrives in this cycle and may be offered at once.
    #[inline]
    fn comes(&self, c: usize) -> Option<&WarpData> {
        coming(&self.data[c], self.lrf.get(c)).filter(|_| self.prompt)
    }

    /// Whether the value that port `p` writes into its bank belongs to an eviction, and no instruction has to wait for it any longer.
    #[inline]
    fn lands(&self, p: usize) -> bool {
        self.prompt && is_set(self.shown.write_done_o & self.results.queued_evictions(), p)
    }

    /// Write ports where the word of the offered value, or else of the result in the latch, is ON.
    #[inline]
    fn words_on(&self, offers: u8) -> u8 {
        let all = u8::MAX >> (u8::BITS as usize - self.ports);
        let Some(power) = &self.power else { return all };
        let on = |b: &usize| self.word(offers, *b).is_none_or(|word| power.write_on(word.warp, word.reg));
        set_bits(all).filter(on).fold(0, |set, b| set | 1 << b)
    }

    /// The word that the value at a write port is to be written to.
    #[inline]
    fn word(&self, offers: u8, b: usize) -> Option<Word> {
        if is_set(offers, b) {
            return self.evictions[b].offer(self.comes(b).is_some()).map(|value| Word {
                warp: value.warp,
                reg: value.reg,
                evict: true,
            });
        }
        let latch = self.results.latch(b);
        is_set(self.results.valid(), b).then_some(Word { warp: latch.warp, reg: latch.reg, evict: false })
    }

    /// Determines how the words of the MRF change state.
    #[inline]
    fn decide_words(&mut self, side: &PowerSide) {
        let Some(power) = &self.power else { return };
        let decided = &self.decided;
        let offers = decided.routes.evict_valid;
        let dispatched = self.given.dispatch_ready_i;
        let words = Words {
            look: self.asking,
            moved: self.leave,
            write: std::array::from_fn(|b| self.word(offers, b).filter(|_| is_set(decided.write_valid, b))),
            taken: self.given.write_valid_i & self.shown.write_ready_o,
            done: self.shown.write_done_o,
            read: std::array::from_fn(|p| is_set(dispatched, p).then(|| self.shown.dispatch_tag_o[p] as u8)),
            keep: side.keep,
            over: side.over,
        };
        let changing = power.changing(&words);
        (self.decided.words, self.decided.changing) = (words, changing);
    }

    /// The event words of the power states.
    #[inline]
    pub(crate) fn power_events(&self) -> (u64, u16) {
        (self.decided.changing.event, self.decided.changing.wait_event)
    }

    /// The result that cache `c` accepts, if it has an LRF above, and the operation that it causes in the cache.
    #[inline]
    fn at_lrf(&self, c: usize, BusOp { bus, slot, kill, upper }: BusOp) -> Option<(LrfOp, Below)> {
        let (lrf, latch) = (self.lrf.get(c)?, self.results.latch(bus.into()));
        let op = LrfOp { mask: latch.mask, kill, upper, slot, reg: latch.reg };
        Some((op, lrf.below(&op)))
    }

    /// The operation on a cache: a fill, or the operation that a result causes.
    #[inline]
    fn operation(&self, c: usize, upper: Option<&(LrfOp, Below)>) -> Option<Op> {
        if let Some(Fill { mask, slot, reg, .. }) = self.decided.fill[c] {
            return Some(Op { mask, kill: false, slot, reg, clean: true, take: None });
        }
        if let Some((op, below)) = upper {
            let take = below.spill.then_some(Take { mask: op.mask, reg: op.reg });
            return Some(Op { mask: below.mask, kill: below.kill, slot: op.slot, reg: below.reg, clean: false, take });
        }
        self.decided.routes.op[c].map(|BusOp { bus, slot, kill, .. }| {
            let latch = self.results.latch(bus.into());
            Op { mask: latch.mask, kill, slot, reg: latch.reg, clean: false, take: None }
        })
    }

    /// Settles the cycle. Returns the events of the MRF.
    #[inline]
    pub(crate) fn late(&mut self, given: &MrfIn, straps: u16, side: &PowerSide) -> u64 {
        let offers: [Option<Value>; MAX_PORTS] = std::array::from_fn(|b| {
            let offered = is_set(self.decided.routes.evict_valid, b);
            if offered { self.evictions[b].offer(self.comes(b).is_some()) } else { None }
        });
        let own = &mut self.given;
        (own.rst_ni, own.cfg_i, own.dispatch_ready_i) =
            (given.rst_ni, straps as u8 & 1, given.dispatch_ready_i & self.offered);
        self.decided.dispatch_ready = given.dispatch_ready_i;
        let routes = &self.decided.routes;
        own.write_valid_i = routes.mrf_valid;
        for b in set_bits(routes.mrf_valid) {
            if is_set(routes.evict_valid, b) {
                let value = offers[b].unwrap_or_default();
                own.write_i[b] = WriteWord::new(value.warp, value.reg, value.mask);
                own.write_base_i[b] = value.base;
            } else {
                let latch = self.results.latch(b);
                own.write_i[b] = WriteWord::new(latch.warp, latch.reg, latch.mask);
                own.write_base_i[b] = latch.base;
            }
        }
        self.mrf.decide(&self.given, &mut self.shown);
        self.decide_words(side);
        self.shown.event_o
    }

    /// The clock edge. `write_data`: the data of a bus's result. Each block's data is read before that block advances.
    #[inline]
    pub(crate) fn edge<'a>(
        &mut self,
        given: &MrfIn,
        extra: &IssueFields,
        straps: u16,
        write_data: impl Fn(usize) -> &'a WarpData,
    ) {
        let (running, straps) = (given.rst_ni != 0, cache_straps(straps));
        self.given.rst_ni = given.rst_ni;
        let Decided { routes, upper, lrf_flush, fill, op, done, flush, push, op_ready, write_on, .. } = self.decided;
        if let Some(power) = &mut self.power {
            power.advance(&self.decided.words, &self.decided.changing);
        }
        self.fill(op_ready);
        let (results, evictions) = (&self.results, &self.evictions);
        let evicted = routes.evict_valid;
        let (data, lrf, prompt) = (&self.data, &self.lrf, self.prompt);
        let comes = |b: usize| coming(&data[b], lrf.get(b)).filter(|_| prompt);
        let written = |b: usize| if is_set(evicted, b) { evictions[b].offer_data(comes(b)) } else { results.data(b) };
        self.mrf.edge(&self.given, written);
        for p in set_bits(self.offered & self.given.dispatch_ready_i) {
            self.merged_tag[p] = None;
        }
        for p in 0..self.ports {
            let leaves = is_set(self.leave, p);
            if leaves {
                self.operands.moved(self.stage[p].tag, &self.hit[p]);
            }
            self.land(p);
            let (stage, looked, hit) = (&self.stage[p], &self.looked[p], &self.hit[p]);
            let (data, lrf) = (&mut self.data[p], self.lrf.get_mut(p));
            let (ready, taken) = (is_set(self.shown.write_ready_o & write_on, p), is_set(routes.evict_done, p));
            let (push, evictions) = (push[p].as_ref(), &mut self.evictions[p]);
            if push.is_some() || !evictions.is_empty() || !running {
                evictions.advance(running, prompt, push, coming(data, lrf.as_deref()), ready, taken);
            }
            let moved = leaves.then(|| Move {
                tag: stage.tag,
                fill: present(hit),
                port: looked.port,
                read: looked.read,
                index: looked.index,
            });
            let bus_data = routes.op[p].map(|op| self.results.data(op.bus.into()));
            let fill_data = fill[p].as_ref().zip(self.fills.as_ref()).map(|(fill, fills)| fills.data(fill));
            let written = op[p].filter(|op| !op.kill && done[p].ready);
            // The data of a spill comes a cycle later; the data on the bus belongs to the LRF.
            let write = written.zip(fill_data.or(bus_data)).map(|(Op { mask, .. }, data)| {
                let index = done[p].entry.unwrap_or_default();
                (Write { mask, index }, data)
            });
            let evict = done[p].evict.map(|evict| (evict.port, evict.index));
            data.advance(running, moved.as_ref(), evict, write, lrf.as_ref().and_then(|lrf| lrf.spill_data()));
            if let Some(lrf) = lrf {
                let performed = upper[p].as_ref().filter(|_| done[p].ready);
                let edge = LrfEdge {
                    moved: leaves.then_some((&stage.look, &self.upper_hit[p])),
                    op: performed.zip(bus_data).map(|((op, below), data)| (op, *below, data)),
                    flush: lrf_flush[p],
                    slots: flush[p],
                };
                lrf.advance(running, is_set(straps, 1), &edge);
            }
            let moved = leaves.then_some((&stage.look, looked));
            if moved.is_some() || op[p].is_some() || flush[p].flush != 0 {
                self.tags[p].advance(tags_straps(straps), moved, op[p].as_ref(), &done[p], flush[p]);
            }
        }
        self.results.advance(&routes, op_ready);
        self.note_results();
        self.take_results(given, self.results.ready(0), write_data);
        self.take_instructions(given, extra, straps);
        if !running {
            self.reset();
        }
        self.mrf.show(&mut self.shown);
        self.settle();
    }

    /// The clock edge of the fills. It precedes the clock edge of the operands, because some operands go into the fills.
    #[inline]
    fn fill(&mut self, op_ready: u8) {
        let Some(mut fills) = self.fills.take() else { return };
        fills.advance(&self.decided.fill, op_ready, self.decided.flushing);
        for p in set_bits(self.given.dispatch_ready_i) {
            let operands = self.operands(p);
            fills.take(p, self.shown.dispatch_tag_o[p] as u8, |k| &operands[k]);
        }
        for p in set_bits(self.leave) {
            let (stage, hit) = (&self.stage[p], &self.hit[p]);
            let mut missed = Missed { reg: stage.look.reg, ..Missed::default() };
            missed.slot = stage.look.slot * self.ports as u8 + p as u8;
            for k in distinct(&stage.look) {
                missed.mask[k] = stage.look.mask & !hit[k];
            }
            fills.note(stage.tag, &missed);
        }
        self.fills = Some(fills);
    }

    /// Data of the operation on cache `p`: the data of a fill, or of the result.
    fn written(&self, p: usize) -> Option<&WarpData> {
        let Decided { routes, fill, .. } = &self.decided;
        match (&fill[p], &self.fills) {
            (Some(fill), Some(fills)) => Some(fills.data(fill)),
            _ => routes.op[p].map(|op| self.results.data(op.bus.into())),
        }
    }

    /// Puts the operands that come from cache `p`, and from the LRF above it, into the operand latches.
    #[inline]
    fn land(&mut self, p: usize) {
        let data = &self.data[p];
        let Some((tag, fill)) = data.land() else { return };
        match self.lrf.get(p).map(RfcLrf::land) {
            Some((hit, value)) if *hit != [0; OPERANDS] => {
                let merged = merged(data, fill, hit, value);
                self.operands.landed(tag, fill, |k| &merged[k]);
            }
            _ => self.operands.landed(tag, fill, |k| data.land_data(k)),
        }
    }

    /// Records for instructions that leave T where their results are to go.
    #[inline]
    fn note_results(&mut self) {
        for p in set_bits(self.leave) {
            let Stage { look, dst, around, past, .. } = &self.stage[p];
            if *dst != NO_REG {
                self.results.note(look.slot * self.ports as u8 + p as u8, *dst, *around, *past);
            }
        }
    }

    #[inline]
    fn take_results<'a>(&mut self, given: &MrfIn, ready: u8, write_data: impl Fn(usize) -> &'a WarpData) {
        for b in set_bits(given.write_valid_i & ready) {
            self.results.take(b, &Arrival::of(given.write_i[b], given.write_base_i[b]), write_data(b));
        }
    }

    #[inline]
    fn take_instructions(&mut self, given: &MrfIn, extra: &IssueFields, straps: u8) {
        self.tag_valid_q &= !self.leave;
        for p in set_bits(given.issue_valid_i & !self.tag_valid_q) {
            let sources = given.issue_src_reg_i.as_chunks().0[p];
            let look = Look {
                mask: given.issue_mask_i[p],
                slot: extra.slot[p] / self.ports as u8,
                src_valid: given.issue_src_valid_i >> (OPERANDS * p) & 0b111,
                reg: sources,
                last: extra.last >> (OPERANDS * p) & 0b111,
            };
            let long = is_set(extra.long, p) && !is_set(straps, 4);
            self.stage[p] = Stage {
                look,
                base: given.issue_base_i[p],
                warp: given.issue_warp_i[p],
                tag: given.issue_tag_i[p] as u8,
                private: is_set(extra.private, p),
                dst: extra.dst[p],
                around: long || is_set(extra.bypass, p) && is_set(straps, 3),
                past: is_set(extra.past, p),
                left: extra.left.as_chunks().0[p],
            };
            self.tag_valid_q |= 1 << p;
        }
    }

    /// The effect of a clock edge in reset on the control state.
    fn reset(&mut self) {
        self.tag_valid_q = 0;
        for stage in &mut self.stage {
            (stage.private, stage.around, stage.past) = (false, false, false);
        }
        self.tags.iter_mut().for_each(RfcTags::reset);
        self.results.reset();
        self.operands.reset();
        if let Some(fills) = &mut self.fills {
            fills.reset();
        }
        if let Some(power) = &mut self.power {
            power.reset();
        }
        self.merged_tag = [None; MAX_PORTS];
    }

    /// The three event words.
    #[inline]
    pub(crate) fn events(&self, straps: u16) -> (u64, u32, u64) {
        let straps = cache_straps(straps);
        let routes = &self.decided.routes;
        let nothing = self.tag_valid_q | self.results.valid() == 0 && self.decided.flushing == 0;
        if nothing && !self.fills_are_busy() {
            return (0, 0, 0);
        }
        let mut sums = Sums {
            tag_check: self.leave.count_ones(),
            stall_eviction: (self.stall & !self.behind).count_ones(),
            stall_collector: (self.given.issue_valid_i & !self.leave).count_ones(),
            stall_result: self.behind.count_ones(),
            wait: routes.wait.count_ones(),
            ..Sums::default()
        };
        for p in 0..self.ports {
            let counts = self.counts(straps, p);
            let (leaves, stage) = (is_set(self.leave, p), &self.stage[p]);
            sums.add(&counts, leaves && !stage.private, self.origin(p));
            if let Some(lrf) = self.lrf.get(p) {
                sums.add_lrf(&self.lrf_counts(lrf, straps, p));
            }
            if leaves && !stage.private {
                let asked = distinct(&Look { src_valid: self.missing[p], ..stage.look }).count() as u32;
                sums.mrf_shared_groups += asked * u32::from(LaneMask(stage.look.mask).groups());
            }
        }
        for b in set_bits(routes.around) {
            let latch = self.results.latch(b);
            let groups = LaneMask(latch.mask).groups().into();
            sums.around_groups += groups;
            sums.around_shared_groups += if latch.private { 0 } else { groups };
        }
        sums.words()
    }

    /// The events of a cache's tags.
    #[inline]
    fn counts(&self, straps: u8, p: usize) -> Counts {
        let look = is_set(self.tag_valid_q, p).then_some(&self.stage[p].look);
        let moved = is_set(self.leave, p).then_some(&self.looked[p]);
        let Decided { op, done, flush, .. } = &self.decided;
        self.tags[p].counts(tags_straps(straps), look, moved, op[p].as_ref(), &done[p], flush[p])
    }

    /// The events of the LRF above a cache.
    #[inline]
    fn lrf_counts(&self, lrf: &RfcLrf, straps: u8, p: usize) -> LrfCounts {
        let Decided { upper, lrf_flush, done, .. } = &self.decided;
        let moved = is_set(self.leave, p).then_some((&self.stage[p].look, &self.upper_hit[p]));
        let performed = upper[p].as_ref().filter(|_| done[p].ready).map(|(op, below)| (op, *below));
        lrf.counts(is_set(straps, 1), moved, performed, lrf_flush[p])
    }

    /// The origin of the operation on a cache.
    #[inline]
    fn origin(&self, c: usize) -> Origin {
        let Decided { fill, upper, routes, .. } = &self.decided;
        if fill[c].is_some() {
            Origin::Fill
        } else if upper[c].is_some_and(|(op, _)| op.upper) {
            Origin::Lrf
        } else if routes.op[c].is_some_and(|op| !self.results.latch(op.bus.into()).private) {
            Origin::Shared
        } else {
            Origin::Private
        }
    }
}

/// Whether the strap *prompt* is set, with which evictions and flushes lose no cycle. Argument: the cache's straps.
#[inline]
fn is_prompt(straps: u8) -> bool {
    is_set(straps, CACHE_CFG_BITS as usize)
}

/// `cfg_i` of `rfc_tags`, from the cache's straps: *live*, LRU, *prompt*.
#[inline]
fn tags_straps(straps: u8) -> u8 {
    straps >> 1 & 0b11 | u8::from(is_prompt(straps)) << 2
}

/// The straps without those of the power states. *prompt* moves down to the bit above the others.
#[inline]
fn cache_straps(straps: u16) -> u8 {
    straps as u8 & ((1 << CACHE_CFG_BITS) - 1) | ((straps >> PROMPT & 1) as u8) << CACHE_CFG_BITS
}

/// Data of an eviction, or of a flush of the LRF, if it arrives in this cycle.
#[inline]
fn coming<'a>(data: &'a RfcData, lrf: Option<&'a RfcLrf>) -> Option<&'a WarpData> {
    data.evict_data().or_else(|| lrf.and_then(RfcLrf::flush_data))
}

/// Sources with at least one lane.
#[inline]
fn present(hit: &[u32; OPERANDS]) -> u8 {
    (0..OPERANDS).fold(0, |sources, k| sources | u8::from(hit[k] != 0) << k)
}

/// The operands that arrive for the sources in `fill`: lanes of the LRF's value override those of the cache.
fn merged(data: &RfcData, fill: u8, hit: &[u32; OPERANDS], value: &WarpData) -> [WarpData; OPERANDS] {
    let mut merged = [WarpData::ZERO; OPERANDS];
    for k in set_bits(fill) {
        merged[k] = *data.land_data(k);
        merged[k].merge(value, LaneMask(hit[k]));
    }
    merged
}

/// The origin of an operation on a cache.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// A result of a private unit, or none.
    Private,
    /// A result of a shared unit.
    Shared,
    /// The operation that a result in the LRF causes in the cache below.
    Lrf,
    /// An operand that the cache did not have.
    Fill,
}

/// Sums over all caches for the event words.
#[derive(Default)]
struct Sums {
    tag_check: u32,
    stall_eviction: u32,
    stall_collector: u32,
    stall_result: u32,
    hit: u32,
    partial: u32,
    miss: u32,
    read_groups: u32,
    read_shared_groups: u32,
    mrf_shared_groups: u32,
    write_groups: u32,
    write_shared_groups: u32,
    around_groups: u32,
    around_shared_groups: u32,
    evict_groups: u32,
    write_hit: u32,
    allocate: u32,
    evict: u32,
    dead: u32,
    flush: u32,
    kill: u32,
    marked: u32,
    wait: u32,
    lrf_read_groups: u32,
    lrf_write_groups: u32,
    lrf_spill_groups: u32,
    lrf_flush_groups: u32,
    lrf_dead: u32,
    lrf_same: u32,
    lrf_past: u32,
    lrf_marked: u32,
    fill_groups: u32,
}

impl Sums {
    /// Adds the events of a cache's tags. `shared_read`: its instruction is not of a private unit; `origin`: the origin of its operation.
    fn add(&mut self, counts: &Counts, shared_read: bool, origin: Origin) {
        let (read, written) = (u32::from(counts.read_groups), u32::from(counts.write_groups));
        self.hit += u32::from(counts.hit);
        self.partial += u32::from(counts.partial);
        self.miss += u32::from(counts.miss);
        self.read_groups += read;
        self.read_shared_groups += if shared_read { read } else { 0 };
        if origin == Origin::Fill {
            self.fill_groups += written;
        } else {
            self.write_groups += written;
            self.write_hit += u32::from(counts.write_hit);
            self.allocate += u32::from(counts.allocate);
        }
        self.write_shared_groups += if origin == Origin::Shared { written } else { 0 };
        self.evict_groups += u32::from(counts.evict_groups);
        self.evict += u32::from(counts.evict);
        self.dead += u32::from(counts.dead);
        self.flush += u32::from(counts.flush);
        // A result that goes into the LRF also takes lanes away from the cache, but does not leave the cache hierarchy.
        self.kill += u32::from(counts.kill && origin != Origin::Lrf);
        self.marked += u32::from(counts.marked);
    }

    /// The events of an LRF.
    fn add_lrf(&mut self, counts: &LrfCounts) {
        self.lrf_read_groups += u32::from(counts.read_groups);
        self.lrf_write_groups += u32::from(counts.write_groups);
        self.lrf_spill_groups += u32::from(counts.spill_groups);
        self.lrf_flush_groups += u32::from(counts.flush_groups);
        self.lrf_dead += u32::from(counts.dead);
        self.lrf_same += u32::from(counts.same);
        self.lrf_past += u32::from(counts.past);
        self.lrf_marked += u32::from(counts.marked);
    }

    fn words(&self) -> (u64, u32, u64) {
        let event = [
            self.tag_check,
            self.stall_eviction,
            self.stall_collector,
            self.hit,
            self.partial,
            self.miss,
            self.read_groups,
            self.read_shared_groups,
            self.mrf_shared_groups,
            self.write_groups,
            self.write_shared_groups,
            self.around_groups,
            self.around_shared_groups,
            self.evict_groups,
        ];
        let count = [
            self.write_hit,
            self.allocate,
            self.evict,
            self.dead,
            self.flush,
            self.kill,
            self.marked,
            self.wait,
            self.stall_result,
            0,
        ];
        let extra = [
            self.lrf_read_groups,
            self.lrf_write_groups,
            self.lrf_spill_groups,
            self.lrf_flush_groups,
            self.lrf_dead,
            self.lrf_same,
            self.lrf_past,
            self.lrf_marked,
            self.fill_groups,
        ];
        (pack(RFC_EVENT, event), pack(RFC_COUNT_EVENT, count) as u32, pack(RFC_EXTRA_EVENT, extra))
    }
}

mod block;

#[cfg(test)]
mod tests;
