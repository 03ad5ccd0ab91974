//! `rfc`: the register file cache in front of the main register file. `docs/blocks/rfc.md`.

mod nets;

pub use nets::{RfcNets, RfcProbe};

use crate::instruction::NO_REG;
use crate::mrf::bits::{is_set, pack, set_bits};
use crate::mrf::{MAX_PORTS, MRF_EVENT, Mrf, MrfIn, MrfOut};
use crate::rfc::rfc_data::{Move, Write};
use crate::rfc::rfc_evictions::Value;
use crate::rfc::rfc_results::{Around, Arrival, BusOp, Routes};
use crate::rfc::rfc_tags::{Counts, Done, Flush, Look, Looked, Op, distinct};
use crate::rfc::{RfcData, RfcEvictions, RfcOperands, RfcResults, RfcTags};
use crate::shape::{ActiveShape, MAX_ACTIVE};
use crate::{Block, Decode, LANES, LaneMask, OPERANDS, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData, field, ports};

pub(crate) const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;

/// Fields of `rfc_event_t`, most significant first. Others of the SM's event words have the page's names, so these begin with the cache's.
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
    ("rfc_spare", 3),
];

ports! {
    /// Inputs of [`Rfc`].
    pub struct RfcIn(s: &ActiveShape) {
        /// Data of a result.
        write_data_i: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Slots that have a warp.
        slot_valid_i: u64 = field(s.active),
        /// Slots that are to be emptied.
        flush_i: u64 = field(s.active),
        /// Without write-back.
        drop_i: u64 = field(s.active),
        /// Active lanes.
        issue_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("issue_valid_i"),
        /// Lanes to write.
        write_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("write_valid_i"),
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
        /// Straps: bit 0 order among the reads of a bank, 1 *live*, 2 LRU, 3 *bypass*, 4 *loads*.
        cfg_i: u8 = field(5),
        /// An instruction is offered on port p.
        issue_valid_i: u8 = field(s.ports()),
        /// Opaque, comes out at dispatch.
        issue_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("issue_valid_i"),
        /// Warp.
        issue_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Slot of the warp.
        issue_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()).valid_by("issue_valid_i"),
        /// Bit 3p+k: source k of port p is a register.
        issue_src_valid_i: u8 = field(s.mrf.sources()),
        /// Register name.
        issue_src_reg_i: [u8; MAX_SOURCES] = field(REG_BITS).count(s.mrf.sources()).valid_by("issue_src_valid_i"),
        /// Bit 3p+k: it is the register's last read.
        issue_last_i: u8 = field(s.mrf.sources()),
        /// Register written; 255: none.
        issue_dst_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Long-latency operation.
        issue_long_i: u8 = field(s.ports()),
        /// The result goes around the cache, says the compiler.
        issue_bypass_i: u8 = field(s.ports()),
        /// It goes to a private unit.
        issue_private_i: u8 = field(s.ports()),
        /// A result is offered on bus p.
        write_valid_i: u8 = field(s.ports()),
        /// Warp of the result.
        write_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Register name of the result.
        write_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// It comes from a private unit.
        write_private_i: u8 = field(s.ports()),
        /// The instruction offered on dispatch port p is taken at this edge if also valid.
        dispatch_ready_i: u8 = field(s.ports()),
    }
}

ports! {
    /// Outputs of [`Rfc`].
    pub struct RfcOut(s: &ActiveShape) {
        /// Operands.
        dispatch_data_o: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS)
            .count(s.mrf.sources()).valid_by("dispatch_src_valid_o").early().from(RfcOperands::NAME),
        /// Events: `rfc_event_t`.
        event_o: u64 = field(58).shown(Decode::Packed(RFC_EVENT)),
        /// Events of the MRF: `mrf_event_t`.
        mrf_event_o: u64 = field(50).from(Mrf::NAME).shown(Decode::Packed(MRF_EVENT)),
        /// Nothing is left of slot s.
        flush_done_o: u64 = field(s.active),
        /// Events: `rfc_count_event_t`.
        count_event_o: u32 = field(20).shown(Decode::Packed(RFC_COUNT_EVENT)),
        /// Active lanes as issued.
        dispatch_mask_o: [u32; MAX_PORTS] =
            field(LANES).count(s.ports()).valid_by("dispatch_valid_o").early().from(Mrf::NAME),
        /// The instruction on port p is taken at this edge if also valid.
        issue_ready_o: u8 = field(s.ports()).early(),
        /// The result on bus p is taken at this edge if also valid.
        write_ready_o: u8 = field(s.ports()).from(RfcResults::NAME),
        /// The result in latch p is where it goes from this edge on.
        write_done_o: u8 = field(s.ports()).from(RfcResults::NAME),
        /// Its warp.
        write_done_warp_o: [u8; MAX_PORTS] =
            field(WARP_BITS).count(s.ports()).valid_by("write_done_o").from(RfcResults::NAME),
        /// Its register name.
        write_done_reg_o: [u8; MAX_PORTS] =
            field(REG_BITS).count(s.ports()).valid_by("write_done_o").from(RfcResults::NAME),
        /// An instruction with all its operands is offered.
        dispatch_valid_o: u8 = field(s.ports()).early().from(RfcOperands::NAME),
        /// Tag as issued.
        dispatch_tag_o: [u8; MAX_PORTS] =
            field(s.tag_w()).count(s.ports()).valid_by("dispatch_valid_o").early().from(Mrf::NAME),
        /// Warp as issued.
        dispatch_warp_o: [u8; MAX_PORTS] =
            field(WARP_BITS).count(s.ports()).valid_by("dispatch_valid_o").early().from(Mrf::NAME),
        /// Bit 3p+k: `dispatch_valid_o[p]` and source k came from a register.
        dispatch_src_valid_o: u8 = field(s.mrf.sources()).early().from(RfcOperands::NAME),
    }
}

/// What an instruction has besides what the MRF is asked with, and a result: ports as masks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extra {
    /// Slot of the warp.
    pub(crate) slot: [u8; MAX_PORTS],
    /// Register written; 255: none.
    pub(crate) dst: [u8; MAX_PORTS],
    /// Last reads: three bits a port.
    pub(crate) last: u8,
    pub(crate) long: u8,
    pub(crate) bypass: u8,
    pub(crate) private: u8,
    /// Levels of sources and result; instructions that end their strands, here or elsewhere.
    pub(crate) src_level: [u8; MAX_SOURCES],
    pub(crate) dst_level: [u8; MAX_PORTS],
    pub(crate) end: u8,
    /// Results that come from private units.
    pub(crate) write_private: u8,
}

/// The slots of the two-level scheduler, in a cycle.
#[derive(Clone, Copy)]
pub struct SlotView<'a> {
    /// Slots that have a warp.
    pub valid: u64,
    /// Slots that are to be emptied.
    pub flush: u64,
    /// Without write-back.
    pub drop: u64,
    /// The warp of each.
    pub warp: &'a [u8; MAX_ACTIVE],
}

/// The instruction in T.
#[derive(Clone, Copy, Default)]
struct Stage {
    look: Look,
    base: u16,
    warp: u8,
    tag: u8,
    private: bool,
}

/// What has been decided in a cycle from state and slots.
#[derive(Clone, Copy, Default)]
struct Decided {
    routes: Routes,
    /// The operation on each cache, and what it or a flush does.
    op: [Option<Op>; MAX_PORTS],
    done: [Done; MAX_PORTS],
    flush: [Flush; MAX_PORTS],
    /// Evictions that begin.
    push: [Option<Value>; MAX_PORTS],
    /// Caches that perform their operations.
    op_ready: u8,
    flush_done: u64,
}

/// Each active slot has entries of one warp register: results go there, operands are looked for there first (RFC paper 3.1, 3.3; hierarchy thesis 5.2, 5.3).
///
/// Like the MRF it is asked and told directly where it stands in an operand stage: [`see`](Self::see) the slots, then what the MRF's functions of the same names do.
pub struct Rfc {
    ports: usize,
    tag_valid_q: u8,
    stage: [Stage; MAX_PORTS],
    tags: Vec<RfcTags>,
    data: Vec<RfcData>,
    evictions: Vec<RfcEvictions>,
    results: RfcResults,
    operands: RfcOperands,
    mrf: Mrf,
    /// What the MRF is given in this cycle, and what it shows (but for 1024-bit data).
    given: MrfIn,
    shown: MrfOut,
    /// Nets that are settled after the edge.
    looked: [Looked; MAX_PORTS],
    missing: [u8; MAX_PORTS],
    stall: u8,
    leave: u8,
    /// Ports that offer an instruction with all its operands.
    offered: u8,
    /// Operands of what a port offers, where some came from the cache: of which tag.
    merged_tag: [Option<u8>; MAX_PORTS],
    merged: Box<[[WarpData; OPERANDS]; MAX_PORTS]>,
    /// Nets that are settled when the slots are seen.
    decided: Decided,
    /// What the block is given, where it is looked at alone.
    outside: MrfIn,
}

impl Rfc {
    /// What depends on state alone, but for the operands. What means nothing stays as it was.
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

    /// Operands of the instruction that dispatch port `p` offers.
    #[inline]
    pub(crate) fn operands(&self, p: usize) -> &[WarpData; OPERANDS] {
        if self.merged_tag[p].is_some() { &self.merged[p] } else { self.mrf.operands(p) }
    }

    /// Whether nothing is on its way: an instruction in T may wait for a collector, and offers for their units.
    pub(crate) fn is_still(&self) -> bool {
        self.mrf.is_still() && self.nothing_moves()
    }

    #[inline]
    fn nothing_moves(&self) -> bool {
        self.leave | self.stall | self.results.valid() == 0
            && self.data.iter().all(RfcData::is_idle)
            && self.evictions.iter().all(RfcEvictions::is_empty)
    }

    /// Whether an edge changes nothing (but in reset).
    #[inline]
    pub(crate) fn is_quiet(&self, given: &MrfIn) -> bool {
        let flush = self.decided.flush.iter().fold(0, |all, flush| all | flush.flush);
        flush == 0
            && self.nothing_moves()
            && given.write_valid_i == 0
            && given.issue_valid_i & !self.tag_valid_q == 0
            && self.mrf.is_quiet(&self.given)
    }

    /// Slots of which nothing is left.
    #[inline]
    pub(crate) fn flush_done(&self) -> u64 {
        self.decided.flush_done
    }

    /// Computes what follows from state alone.
    #[inline]
    fn settle(&mut self) {
        (self.given.issue_valid_i, self.given.issue_src_valid_i, self.stall) = (0, 0, 0);
        for p in set_bits(self.tag_valid_q) {
            let stage = &self.stage[p];
            let looked = self.tags[p].look(&stage.look);
            let lacks = |k: &usize| looked.hit_mask[*k] & stage.look.mask != stage.look.mask;
            let missing = set_bits(stage.look.src_valid).filter(lacks).fold(0, |sources, k| sources | 1 << k);
            (self.looked[p], self.missing[p]) = (looked, missing);
            let evictions = &self.evictions[p];
            if !evictions.is_empty() && set_bits(missing).any(|k| evictions.has(stage.warp, stage.look.reg[k])) {
                self.stall |= 1 << p;
                continue;
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
                // What was offered here may go on elsewhere, and its tag come again.
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
    }

    /// Puts the operands of an instruction together, once.
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

    /// The slots of a cache among all slots.
    #[inline]
    fn of_cache(&self, set: u64, c: usize) -> u64 {
        if self.ports == 1 {
            return set;
        }
        set_bits(set).filter(|s| s % MAX_PORTS == c).fold(0, |own, s| own | 1 << (s / MAX_PORTS))
    }

    /// Computes what follows from state and slots, and shows it. `base`: the first row of a slot's warp.
    #[inline]
    pub(crate) fn see(&mut self, straps: u8, slots: &SlotView<'_>, base: impl Fn(usize) -> u16, out: &mut MrfOut) {
        let (mut offers, mut matches) = (0, 0);
        for (c, evictions) in self.evictions.iter().enumerate() {
            if evictions.is_empty() {
                continue;
            }
            offers |= u8::from(evictions.offer().is_some()) << c;
            for b in set_bits(self.results.valid()) {
                let latch = self.results.latch(b);
                matches |= u8::from(evictions.has(latch.warp, latch.reg)) << b;
            }
        }
        let decided = &mut self.decided;
        decided.routes = self.results.choose(&Around {
            slot_valid: slots.valid,
            slot_warp: slots.warp,
            flush: slots.flush,
            matches,
            evict_valid: offers,
            mrf_ready: self.shown.write_ready_o,
            mrf_done: self.shown.write_done_o,
        });
        (decided.op_ready, decided.flush_done) = (0, 0);
        for c in 0..self.ports {
            let op = self.decided.routes.op[c].map(|BusOp { bus, slot, kill }| {
                let latch = self.results.latch(bus.into());
                Op { mask: latch.mask, kill, slot, reg: latch.reg }
            });
            let flush = match slots.flush {
                0 => Flush::default(),
                _ => Flush { flush: self.of_cache(slots.flush, c), drop: self.of_cache(slots.drop, c) },
            };
            let done = if op.is_none() && flush.flush == 0 {
                Done::default()
            } else {
                let reading = if is_set(self.leave, c) { self.looked[c].read } else { 0 };
                self.tags[c].decide(is_set(straps, 2), reading, self.evictions[c].room(), op.as_ref(), flush)
            };
            let decided = &mut self.decided;
            decided.push[c] = done.evict.map(|evict| {
                let s = self.ports * usize::from(evict.slot) + c;
                let (warp, base) = (slots.warp.get(s).copied().unwrap_or_default(), base(s));
                Value { mask: evict.mask, base, slot: evict.slot, warp, reg: evict.reg }
            });
            decided.op_ready |= u8::from(done.ready) << c;
            (decided.op[c], decided.done[c], decided.flush[c]) = (op, done, flush);
            if flush.flush != 0 {
                let left = flush.flush & (flush.drop | self.tags[c].clean()) & !self.evictions[c].busy();
                decided.flush_done |= set_bits(left).fold(0, |all, j| all | 1 << (self.ports * j + c));
            }
        }
        self.results.conclude(&mut self.decided.routes, self.decided.op_ready);
        let done = self.decided.routes.done;
        (out.write_ready_o, out.write_done_o) = (self.results.ready(done), done);
        for b in set_bits(done) {
            (out.write_done_warp_o[b], out.write_done_reg_o[b]) =
                (self.results.latch(b).warp, self.results.latch(b).reg);
        }
    }

    /// Settles the cycle. Gives the events of the MRF.
    #[inline]
    pub(crate) fn late(&mut self, given: &MrfIn, straps: u8) -> u64 {
        let own = &mut self.given;
        (own.rst_ni, own.cfg_i, own.dispatch_ready_i) =
            (given.rst_ni, straps & 1, given.dispatch_ready_i & self.offered);
        let routes = &self.decided.routes;
        own.write_valid_i = routes.mrf_valid;
        for b in set_bits(routes.mrf_valid) {
            if is_set(routes.evict_valid, b) {
                let value = self.evictions[b].offer().unwrap_or_default();
                (own.write_warp_i[b], own.write_base_i[b]) = (value.warp, value.base);
                (own.write_reg_i[b], own.write_mask_i[b]) = (value.reg, value.mask);
            } else {
                let latch = self.results.latch(b);
                (own.write_warp_i[b], own.write_base_i[b]) = (latch.warp, latch.base);
                (own.write_reg_i[b], own.write_mask_i[b]) = (latch.reg, latch.mask);
            }
        }
        self.mrf.late(&self.given, &mut self.shown);
        self.shown.event_o
    }

    /// The edge. `write_data`: the data of a bus's result. Whoever is asked for data is asked before it moves.
    #[inline]
    pub(crate) fn edge<'a>(
        &mut self,
        given: &MrfIn,
        extra: &Extra,
        straps: u8,
        write_data: impl Fn(usize) -> &'a WarpData,
    ) {
        let running = given.rst_ni != 0;
        self.given.rst_ni = given.rst_ni;
        let Decided { routes, op, done, flush, push, op_ready, .. } = self.decided;
        let (results, evictions) = (&self.results, &self.evictions);
        let evicted = routes.evict_valid;
        self.mrf.edge(&self.given, |b| if is_set(evicted, b) { evictions[b].offer_data() } else { results.data(b) });
        for p in set_bits(self.offered & self.given.dispatch_ready_i) {
            self.merged_tag[p] = None;
        }
        for p in 0..self.ports {
            let leaves = is_set(self.leave, p);
            let (stage, looked) = (&self.stage[p], &self.looked[p]);
            if leaves {
                self.operands.moved(stage.tag, &looked.hit_mask);
            }
            let data = &mut self.data[p];
            if let Some((tag, fill)) = data.land() {
                self.operands.landed(tag, fill, |k| data.land_data(k));
            }
            let (ready, taken) = (is_set(self.shown.write_ready_o, p), is_set(routes.evict_done, p));
            let (push, evictions) = (push[p].as_ref(), &mut self.evictions[p]);
            if push.is_some() || !evictions.is_empty() || !running {
                evictions.advance(running, push, data.evict_data(), ready, taken);
            }
            let moved = leaves.then(|| Move {
                tag: stage.tag,
                fill: looked.fill(),
                port: looked.port,
                read: looked.read,
                index: looked.index,
            });
            let write = routes.op[p].filter(|op| !op.kill && done[p].ready).map(|BusOp { bus, .. }| {
                let (mask, index) = (op[p].map_or(0, |op| op.mask), done[p].entry.unwrap_or_default());
                (Write { mask, index }, self.results.data(bus.into()))
            });
            let evict = done[p].evict.map(|evict| (evict.port, evict.index));
            data.advance(running, moved.as_ref(), evict, write);
            let moved = leaves.then_some((&stage.look, looked));
            if moved.is_some() || op[p].is_some() || flush[p].flush != 0 {
                self.tags[p].advance(straps >> 1, moved, op[p].as_ref(), &done[p], flush[p]);
            }
        }
        self.results.advance(&routes, op_ready);
        self.take_results(given, extra, self.results.ready(0), write_data);
        self.take_instructions(given, extra, straps);
        if !running {
            self.reset();
        }
        self.mrf.show(&mut self.shown);
        self.settle();
    }

    #[inline]
    fn take_results<'a>(
        &mut self,
        given: &MrfIn,
        extra: &Extra,
        ready: u8,
        write_data: impl Fn(usize) -> &'a WarpData,
    ) {
        for b in set_bits(given.write_valid_i & ready) {
            let arrival = Arrival {
                mask: given.write_mask_i[b],
                base: given.write_base_i[b],
                warp: given.write_warp_i[b],
                reg: given.write_reg_i[b],
                private: is_set(extra.write_private, b),
            };
            self.results.take(b, &arrival, write_data(b));
        }
    }

    #[inline]
    fn take_instructions(&mut self, given: &MrfIn, extra: &Extra, straps: u8) {
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
            self.stage[p] = Stage {
                look,
                base: given.issue_base_i[p],
                warp: given.issue_warp_i[p],
                tag: given.issue_tag_i[p] as u8,
                private: is_set(extra.private, p),
            };
            self.tag_valid_q |= 1 << p;
            if extra.dst[p] != NO_REG {
                let long = is_set(extra.long, p) && !is_set(straps, 4);
                let around = long || is_set(extra.bypass, p) && is_set(straps, 3);
                self.results.note(extra.slot[p], extra.dst[p], around);
            }
        }
    }

    /// What an edge in reset does to the control.
    fn reset(&mut self) {
        self.tag_valid_q = 0;
        self.stage.iter_mut().for_each(|stage| stage.private = false);
        self.tags.iter_mut().for_each(RfcTags::reset);
        self.results.reset();
        self.operands.reset();
        self.merged_tag = [None; MAX_PORTS];
    }

    /// The two event words.
    #[inline]
    pub(crate) fn events(&self, straps: u8) -> (u64, u32) {
        let routes = &self.decided.routes;
        let flush = self.decided.flush.iter().fold(0, |all, flush| all | flush.flush);
        if self.tag_valid_q | self.results.valid() == 0 && flush == 0 {
            return (0, 0);
        }
        let mut sums = Sums {
            tag_check: self.leave.count_ones(),
            stall_eviction: self.stall.count_ones(),
            stall_collector: (self.tag_valid_q & !self.stall & !self.leave).count_ones(),
            wait: routes.wait.count_ones(),
            ..Sums::default()
        };
        for p in 0..self.ports {
            let counts = self.counts(straps, p);
            let (leaves, stage) = (is_set(self.leave, p), &self.stage[p]);
            sums.add(&counts, leaves && !stage.private, self.op_is_shared(p));
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
        self.tags[p].counts(straps >> 1, look, moved, op[p].as_ref(), &done[p], flush[p])
    }

    #[inline]
    fn op_is_shared(&self, c: usize) -> bool {
        self.decided.routes.op[c].is_some_and(|op| !self.results.latch(op.bus.into()).private)
    }
}

/// The sums over the caches that make the event words.
#[derive(Default)]
struct Sums {
    tag_check: u32,
    stall_eviction: u32,
    stall_collector: u32,
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
}

impl Sums {
    /// The events of a cache's tags; whether its instruction and its result are not of private units.
    fn add(&mut self, counts: &Counts, shared_read: bool, shared_write: bool) {
        let (read, written) = (u32::from(counts.read_groups), u32::from(counts.write_groups));
        self.hit += u32::from(counts.hit);
        self.partial += u32::from(counts.partial);
        self.miss += u32::from(counts.miss);
        self.read_groups += read;
        self.read_shared_groups += if shared_read { read } else { 0 };
        self.write_groups += written;
        self.write_shared_groups += if shared_write { written } else { 0 };
        self.evict_groups += u32::from(counts.evict_groups);
        self.write_hit += u32::from(counts.write_hit);
        self.allocate += u32::from(counts.allocate);
        self.evict += u32::from(counts.evict);
        self.dead += u32::from(counts.dead);
        self.flush += u32::from(counts.flush);
        self.kill += u32::from(counts.kill);
        self.marked += u32::from(counts.marked);
    }

    fn words(&self) -> (u64, u32) {
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
        let count =
            [self.write_hit, self.allocate, self.evict, self.dead, self.flush, self.kill, self.marked, self.wait, 0];
        (pack(RFC_EVENT, event), pack(RFC_COUNT_EVENT, count) as u32)
    }
}

mod block;

#[cfg(test)]
mod tests;
