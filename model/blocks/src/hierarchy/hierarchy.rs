//! `hierarchy`: the software-managed register hierarchy. `docs/blocks/hierarchy.md`.

mod design;
mod nets;

pub use design::HierarchySizes;
pub use nets::{HierarchyNets, HierarchyProbe};

use super::hierarchy_copies::Note;
use super::hierarchy_data::{Move, Write};
use super::hierarchy_entries::{Landing, Match, Take};
use super::hierarchy_levels::{Asked, Levels};
use super::hierarchy_results::{Arrival, Entering, Routes, Sender, slot_of};
use super::shape::{LEVEL_BITS, MAX_ORF_ENTRIES, PLACE_SET_BITS};
use crate::design::{IssueFields, SlotView};
use crate::hierarchy::{
    HierarchyCopies, HierarchyData, HierarchyEntries, HierarchyLevels, HierarchyResults, HierarchyShape,
};
use crate::mrf::bits::{is_set, set_bits};
use crate::mrf::{MAX_PORTS, MRF_EVENT, Mrf, MrfIn, MrfOut};
use crate::operands::FrontOperands;
use crate::sizes::MAX_ACTIVE;
use crate::unified::{ColumnsIn, ColumnsOut};
use crate::write::{WriteWord, WrittenWord};
use crate::{Decode, LANES, OPERANDS, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData, field, packed, ports};

pub(crate) const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;

/// Fields of `hierarchy_event_t`, most significant first. Other fields of the SM's event words have the names on the page, so these names begin with the hierarchy's.
pub const HIERARCHY_EVENT: &[(&str, u32)] = &[
    ("hierarchy_orf_read_groups", 6),
    ("hierarchy_orf_read_shared_groups", 6),
    ("hierarchy_lrf_a_read_groups", 5),
    ("hierarchy_lrf_b_read_groups", 5),
    ("hierarchy_lrf_c_read_groups", 5),
    ("hierarchy_mrf_shared_groups", 6),
    ("hierarchy_mrf_write_shared_groups", 5),
    ("hierarchy_orf_write_groups", 5),
    ("hierarchy_orf_write_shared_groups", 5),
    ("hierarchy_copy_groups", 5),
    ("hierarchy_copy_shared_groups", 5),
    ("hierarchy_lrf_write_groups", 5),
];

/// Fields of `hierarchy_count_event_t`, most significant first.
pub const HIERARCHY_COUNT_EVENT: &[(&str, u32)] = &[
    ("hierarchy_mrf_none", 2),
    ("hierarchy_mrf_one", 2),
    ("hierarchy_mrf_two", 2),
    ("hierarchy_mrf_three", 2),
    ("hierarchy_orf_read", 3),
    ("hierarchy_lrf_read", 3),
    ("hierarchy_orf_write", 2),
    ("hierarchy_lrf_write", 2),
    ("hierarchy_copy", 2),
    ("hierarchy_both", 2),
    ("hierarchy_mrf_only", 2),
    ("hierarchy_strand_end", 2),
    ("hierarchy_strand_void", 2),
    ("hierarchy_result_wait", 2),
    ("hierarchy_copy_wait", 2),
    ("hierarchy_dispatch_hold", 2),
    ("hierarchy_unwritten", 2),
];

ports! {
    /// Inputs of [`Hierarchy`].
    pub struct HierarchyIn(s: &HierarchyShape) {
        /// Data of a result.
        write_data_i: [WarpData; MAX_PORTS] = field(WARP_DATA_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Slots that have a warp.
        slot_valid_i: u64 = field(s.active),
        /// Slots that are to be emptied.
        flush_i: u64 = field(s.active),
        /// The offered result.
        write_i: [WriteWord; MAX_PORTS] = packed::<WriteWord>().count(s.ports()).valid_by("write_valid_i"),
        /// Active lanes.
        issue_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("issue_valid_i"),
        /// First row of the warp's registers.
        issue_base_i: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("issue_valid_i"),
        /// First row of the warp's registers.
        write_base_i: [u16; MAX_PORTS] = field(s.mrf.entry_w()).count(s.ports()).valid_by("write_valid_i"),
        /// The warp of each slot.
        slot_warp_i: [u8; MAX_ACTIVE] = field(WARP_BITS).count(s.active).valid_by("slot_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Strap: order among the reads of a bank.
        cfg_i: u8 = field(1),
        /// An instruction is offered on port p.
        issue_valid_i: u8 = field(s.ports()),
        /// Place of the offered instruction in the operand stage.
        issue_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("issue_valid_i"),
        /// Warp of the offered instruction.
        issue_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Slot of the warp; also where an instruction ends its strand that does not come here.
        issue_slot_i: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()),
        /// Bit 3p+k: source k of port p is a register.
        issue_src_valid_i: u8 = field(s.mrf.sources()),
        /// Register name of each source.
        issue_src_reg_i: [u8; MAX_SOURCES] = field(REG_BITS).count(s.mrf.sources()).valid_by("issue_src_valid_i"),
        /// Level of the source.
        issue_src_level_i: [u8; MAX_SOURCES] =
            field(LEVEL_BITS).count(s.mrf.sources()).valid_by("issue_src_valid_i"),
        /// Register written; 255: none.
        issue_dst_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Level of the result.
        issue_dst_level_i: [u8; MAX_PORTS] = field(LEVEL_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Long-latency operation.
        issue_long_i: u8 = field(s.ports()),
        /// The offered instruction goes to a private unit.
        issue_private_i: u8 = field(s.ports()),
        /// The instruction that issues on port p ends its strand.
        issue_end_i: u8 = field(s.ports()),
        /// A result is offered on bus p.
        write_valid_i: u8 = field(s.ports()),
        /// The instruction offered on dispatch port p is taken at this edge if also valid.
        dispatch_ready_i: u8 = field(s.ports()),
    } +
    /// What memory asks of the columns.
    columns: ColumnsIn as &s.mrf
}

ports! {
    /// Outputs of [`Hierarchy`].
    pub struct HierarchyOut(s: &HierarchyShape) {
        /// Operands of the offered instruction.
        dispatch_data_o: [WarpData; MAX_SOURCES] =
            field(WARP_DATA_BITS).count(s.mrf.sources()).valid_by("dispatch_src_valid_o").early(),
        /// Events: `hierarchy_event_t`.
        event_o: u64 = field(63).shown(Decode::Packed(HIERARCHY_EVENT)),
        /// Events: `hierarchy_count_event_t`.
        count_event_o: u64 = field(36).shown(Decode::Packed(HIERARCHY_COUNT_EVENT)),
        /// Events of the MRF: `mrf_event_t`.
        mrf_event_o: u64 = field(50).shown(Decode::Packed(MRF_EVENT)),
        /// Nothing is under way to slot s, which is to be emptied.
        flush_done_o: u64 = field(s.active),
        /// No lane of slot s holds what its strand may still read.
        void_o: u64 = field(s.active).early(),
        /// Active lanes as issued.
        dispatch_mask_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("dispatch_valid_o").early(),
        /// Places of slot s to which something is under way.
        wait_o: [u16; MAX_ACTIVE] = field(PLACE_SET_BITS).count(s.active).early(),
        /// The completed write.
        written_o: [WrittenWord; MAX_PORTS] =
            packed::<WrittenWord>().count(s.ports()).valid_by("write_done_o").early(),
        /// The instruction on port p is taken at this edge if also valid.
        issue_ready_o: u8 = field(s.ports()).early(),
        /// The result on bus p is taken at this edge if also valid.
        write_ready_o: u8 = field(s.ports()).early(),
        /// The result that was taken last on bus p is where it goes from this edge on.
        write_done_o: u8 = field(s.ports()).early(),
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

/// Findings of a cycle about instructions and results that arrive; ports and buses are masks.
#[derive(Clone, Copy, Default)]
struct Found {
    /// Where the operands of the instructions are.
    levels: [Levels; MAX_PORTS],
    /// Ports whose instruction is taken.
    take: u8,
    /// Slots of the results' warps, and the places that wait for the results.
    slot: [Option<u8>; MAX_PORTS],
    place: [Option<Match>; MAX_PORTS],
    /// Results that go into the MRF's queues.
    mrf_valid: u8,
}

/// Each active slot has an ORF and an LRF, and the instruction says where each source is read and where its result goes (hierarchy thesis 6.2 to 6.4). There are no tags and
/// no write-backs: the compiler has already written to the MRF what is needed after a strand's end.
///
/// Inside an operand stage it is called directly, like the MRF: [`see`](Self::see) the slots, then the functions with the names of the MRF's.
#[derive(Clone)]
pub struct Hierarchy {
    ports: usize,
    levels: HierarchyLevels,
    entries: HierarchyEntries,
    data: Vec<HierarchyData>,
    results: HierarchyResults,
    copies: HierarchyCopies,
    operands: FrontOperands,
    mrf: Mrf,
    /// Inputs of the MRF in this cycle, and its outputs (except 1024-bit data).
    given: MrfIn,
    shown: MrfOut,
    /// Nets settled after the edge: who writes the arrays, ports with an instruction that has all its operands, and ports that hold it for want of room for its copies.
    routes: Routes,
    complete: u8,
    held: u8,
    /// Tag of the instruction that a port offers, if some of its operands came from above the MRF; the operands.
    merged_tag: [Option<u8>; MAX_PORTS],
    merged: Box<[[WarpData; OPERANDS]; MAX_PORTS]>,
    /// The slots, as last seen.
    slot_valid: u64,
    slot_warp: [u8; MAX_ACTIVE],
    flush_done: u64,
    found: Found,
    /// Inputs of the block, where it runs alone.
    outside: MrfIn,
}

impl Hierarchy {
    /// Shows the outputs that depend on state alone, except the operands. Outputs without meaning keep their value.
    #[inline]
    pub(crate) fn show(&self, out: &mut MrfOut) {
        out.issue_ready_o = self.shown.issue_ready_o;
        (out.write_ready_o, out.write_done_o) = (self.routes.ready, self.routes.done);
        for b in set_bits(self.routes.done) {
            out.written_o[b] = self.results.last(b);
        }
        out.dispatch_valid_o = self.offered();
        out.dispatch_src_valid_o = 0;
        for p in set_bits(self.offered()) {
            let tag = self.shown.dispatch_tag_o[p];
            (out.dispatch_tag_o[p], out.dispatch_mask_o[p]) = (tag, self.shown.dispatch_mask_o[p]);
            out.dispatch_warp_o[p] = self.shown.dispatch_warp_o[p];
            out.dispatch_src_valid_o |= self.sources(p) << (OPERANDS * p);
        }
    }

    /// Ports that offer an instruction.
    #[inline]
    fn offered(&self) -> u8 {
        self.complete & !self.held
    }

    /// Sources that came from registers, of an instruction with all its operands.
    #[inline]
    fn sources(&self, p: usize) -> u8 {
        let from_mrf = self.shown.dispatch_src_valid_o >> (OPERANDS * p) & 0b111;
        from_mrf | self.operands.cached(self.shown.dispatch_tag_o[p] as u8)
    }

    /// Operands of the instruction that dispatch port `p` offers.
    #[inline]
    pub(crate) fn operands(&self, p: usize) -> &[WarpData; OPERANDS] {
        if self.merged_tag[p].is_some() { &self.merged[p] } else { self.mrf.operands(p) }
    }

    /// Slots of which no lane holds a value that a strand may still read.
    #[inline]
    pub(crate) fn void(&self) -> u64 {
        self.entries.void()
    }

    /// Places of each slot that wait for a value, and the slots with such a place.
    #[inline]
    pub(crate) fn waits(&self) -> (&[u16; MAX_ACTIVE], u64) {
        (self.entries.waits(), self.entries.waiting())
    }

    /// Slots to be emptied in which no place waits.
    #[inline]
    pub(crate) fn flush_done(&self) -> u64 {
        self.flush_done
    }

    /// Whether nothing is in flight: offers may wait for their units.
    pub(crate) fn is_still(&self) -> bool {
        self.mrf.is_still() && self.nothing_moves()
    }

    #[inline]
    fn nothing_moves(&self) -> bool {
        self.results.valid() == 0 && self.copies.is_empty() && self.data.iter().all(HierarchyData::is_idle)
    }

    /// Whether an edge changes nothing (except in reset).
    #[inline]
    pub(crate) fn is_quiet(&self, given: &MrfIn, extra: &IssueFields) -> bool {
        extra.end == 0
            && self.flush_done == 0
            && given.write_valid_i & self.routes.ready == 0
            && self.nothing_moves()
            && self.mrf.is_quiet(&self.given)
    }

    /// Computes what follows from state alone.
    #[inline]
    fn settle(&mut self) {
        self.routes = self.results.choose(&self.copies.waiting(), self.shown.write_ready_o, self.shown.write_done_o);
        (self.complete, self.held) = (0, 0);
        for p in 0..self.ports {
            let tag = self.shown.dispatch_tag_o[p] as u8;
            if !is_set(self.shown.dispatch_valid_o, p) || !self.operands.got(tag) {
                // Another instruction with the same tag may be offered here later.
                self.merged_tag[p] = None;
                continue;
            }
            self.complete |= 1 << p;
            self.held |= u8::from(self.copies.holds(p, tag, is_set(self.routes.copy_ready, p))) << p;
            self.gather(p, tag);
        }
    }

    /// Puts the operands of an instruction together, once for each instruction.
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

    /// Reads the state of the slots.
    #[inline]
    pub(crate) fn see(&mut self, slots: &SlotView<'_>) {
        (self.slot_valid, self.slot_warp) = (slots.valid, *slots.warp);
        self.flush_done = slots.flush & !self.entries.waiting();
    }

    /// Settles the cycle. Returns the events of the MRF.
    #[inline]
    pub(crate) fn late(&mut self, given: &MrfIn, extra: &IssueFields, straps: u8) -> u64 {
        let own = &mut self.given;
        (own.rst_ni, own.cfg_i) = (given.rst_ni, straps & 1);
        own.dispatch_ready_i = given.dispatch_ready_i & self.complete & !self.held;
        (own.issue_valid_i, own.issue_src_valid_i) = (given.issue_valid_i, 0);
        self.found = Found { take: given.issue_valid_i & self.shown.issue_ready_o, ..Found::default() };
        for p in set_bits(given.issue_valid_i) {
            self.ask(p, given, extra);
        }
        let ready = given.write_valid_i & self.routes.ready;
        for b in set_bits(given.write_valid_i) {
            let (warp, reg) = given.write_i[b].register();
            let slot = slot_of(warp, self.slot_valid, &self.slot_warp);
            let place = slot.and_then(|slot| self.entries.look(slot, reg));
            (self.found.slot[b], self.found.place[b]) = (slot, place);
            self.found.mrf_valid |= (u8::from(place.is_none_or(|place| place.both)) << b) & ready;
            let own = &mut self.given;
            (own.write_i[b], own.write_base_i[b]) = (given.write_i[b], given.write_base_i[b]);
        }
        self.given.write_valid_i = self.found.mrf_valid;
        self.mrf.decide(&self.given, &mut self.shown);
        self.shown.event_o
    }

    /// Finds where the operands of the instruction on port `p` are, and requests from the MRF those that it has.
    #[inline]
    fn ask(&mut self, p: usize, given: &MrfIn, extra: &IssueFields) {
        let levels = self.levels.levels(&Asked {
            src_valid: given.issue_src_valid_i >> (OPERANDS * p) & 0b111,
            src_level: extra.src_level.as_chunks().0[p],
            dst: extra.dst[p],
            dst_level: extra.dst_level[p],
            long: is_set(extra.long, p),
        });
        self.found.levels[p] = levels;
        let own = &mut self.given;
        own.issue_src_valid_i |= levels.mrf << (OPERANDS * p);
        own.issue_src_reg_i[OPERANDS * p..][..OPERANDS]
            .copy_from_slice(&given.issue_src_reg_i[OPERANDS * p..][..OPERANDS]);
        (own.issue_warp_i[p], own.issue_base_i[p]) = (given.issue_warp_i[p], given.issue_base_i[p]);
        (own.issue_mask_i[p], own.issue_tag_i[p]) = (given.issue_mask_i[p], given.issue_tag_i[p]);
    }

    /// Performs the clock edge. `write_data`: the data of a bus's result. Data is read from each block before the data moves.
    #[inline]
    pub(crate) fn edge<'a>(&mut self, given: &MrfIn, extra: &IssueFields, write_data: impl Fn(usize) -> &'a WarpData) {
        let running = given.rst_ni != 0;
        self.given.rst_ni = given.rst_ni;
        self.clock_data(running, extra);
        self.clock_entries(extra);
        self.clock_copies(extra);
        self.results.advance(&self.routes);
        for b in set_bits(given.write_valid_i & self.routes.ready) {
            let place = self.found.place[b].map(|place| place.place);
            let arrival = Arrival { write: given.write_i[b], up: self.found.slot[b].zip(place) };
            self.results.take(b, &arrival, || write_data(b));
        }
        self.mrf.edge(&self.given, write_data);
        if !running {
            self.entries.reset();
            self.results.reset();
            self.copies.reset();
            self.operands.reset();
            self.merged_tag = [None; MAX_PORTS];
        }
        self.mrf.show(&mut self.shown);
        self.settle();
    }

    /// Reads ORF and LRF, then writes them.
    #[inline]
    fn clock_data(&mut self, running: bool, extra: &IssueFields) {
        for (p, data) in self.data.iter_mut().enumerate() {
            let taken = is_set(self.found.take, p);
            let (levels, tag) = (&self.found.levels[p], self.given.issue_tag_i[p] as u8);
            if taken {
                let hit = |k: usize| if is_set(levels.above(), k) { u32::MAX } else { 0 };
                self.operands.moved(tag, &[hit(0), hit(1), hit(2)]);
            }
            if let Some((tag, fill)) = data.land() {
                self.operands.landed(tag, fill, |k| data.land_data(k));
            }
            let moved = taken.then(|| Move {
                tag,
                slot: extra.slot[p] / self.ports as u8,
                orf: levels.orf,
                lrf: levels.lrf,
                port: levels.port,
                entry: levels.entry,
                orf_read: levels.orf_read,
                lrf_read: levels.lrf_read,
            });
            data.advance(running, moved.as_ref());
            let sent = |sender: &Sender| match *sender {
                Sender::Copy(p) => self.copies.data(p),
                Sender::Latch(b) => self.results.data(b),
            };
            if let Some(Entering { sender, write, .. }) = &self.routes.orf[p] {
                data.write_orf(write, sent(sender));
            }
            if let Some(Entering { sender, write, .. }) = &self.routes.lrf[p] {
                data.write_lrf(write, sent(sender));
            }
        }
    }

    /// Updates the places: what is written, what is taken, which strands end, which slots are empty.
    #[inline]
    fn clock_entries(&mut self, extra: &IssueFields) {
        for c in 0..self.ports {
            let landing = |write: &Write, first: usize| Landing {
                mask: write.mask,
                slot: write.slot * self.ports as u8 + c as u8,
                place: write.within + first as u8,
            };
            if let Some(Entering { write, .. }) = &self.routes.orf[c] {
                self.entries.landed(&landing(write, 0));
            }
            if let Some(Entering { write, .. }) = &self.routes.lrf[c] {
                self.entries.landed(&landing(write, MAX_ORF_ENTRIES));
            }
        }
        for p in set_bits(self.found.take) {
            self.entries.taken(&self.taken(p, extra));
        }
        for p in set_bits(extra.end) {
            self.entries.voided(extra.slot[p]);
        }
        for s in set_bits(self.flush_done) {
            self.entries.voided(s as u8);
        }
    }

    /// The instruction that is taken on port `p`, as the entries see it.
    #[inline]
    fn taken(&self, p: usize, extra: &IssueFields) -> Take {
        let levels = &self.found.levels[p];
        Take {
            mask: self.given.issue_mask_i[p],
            read: levels.read_place,
            copy: levels.copy_place,
            result: levels.result_place,
            slot: extra.slot[p],
            reg: extra.dst[p],
            both: levels.both,
        }
    }

    #[inline]
    fn clock_copies(&mut self, extra: &IssueFields) {
        for p in set_bits(self.routes.copy_ready) {
            self.copies.written(p);
        }
        for p in set_bits(self.given.dispatch_ready_i) {
            let (tag, mask) = (self.shown.dispatch_tag_o[p] as u8, self.shown.dispatch_mask_o[p]);
            let operands = self.mrf.operands(p);
            self.copies.dispatched(p, tag, mask, |k| &operands[k]);
            self.merged_tag[p] = None;
        }
        for p in set_bits(self.found.take) {
            let levels = &self.found.levels[p];
            let note =
                Note { copy: levels.copy, entry: levels.entry, slot: extra.slot[p], private: is_set(extra.private, p) };
            self.copies.noted_at(self.given.issue_tag_i[p] as u8, &note);
        }
    }
}

mod block;
mod events;

#[cfg(test)]
mod tests;
