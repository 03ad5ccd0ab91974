//! `rfc_tags`: contents of the cache, and replacement. `docs/blocks/rfc_tags.md`.

use std::ops::Range;

use crate::mrf::bits::{is_set, pack, set_bits};
use crate::rfc::{MAX_CACHED, MAX_ENTRIES, RfcShape};
use crate::sizes::MAX_ACTIVE;
use crate::{Block, Decode, LANES, LaneMask, OPERANDS, REG_BITS, field, ports};

/// Fields of `rfc_tags_event_t`, most significant first.
pub const RFC_TAGS_EVENT: &[(&str, u32)] = &[
    ("hit", 2),
    ("partial", 2),
    ("miss", 2),
    ("read_groups", 5),
    ("write_hit", 1),
    ("allocate", 1),
    ("write_groups", 4),
    ("evict", 1),
    ("dead", 1),
    ("flush", 1),
    ("evict_groups", 4),
    ("kill", 1),
    ("marked", 2),
    ("wait", 1),
    ("drop", 1),
    ("clean", 1),
    ("look", 1),
];

ports! {
    /// Inputs of [`RfcTags`].
    pub struct RfcTagsIn(s: &RfcShape) {
        /// Slots that are to be emptied.
        flush_i: u64 = field(s.cache_slots() as u32),
        /// Slots that are emptied without write-back.
        drop_i: u64 = field(s.cache_slots() as u32),
        /// Lanes of the instruction in T.
        look_mask_i: u32 = field(LANES).valid_by("look_valid_i"),
        /// Lanes of the result.
        op_mask_i: u32 = field(LANES).valid_by("op_valid_i"),
        /// Lanes that the entry of another register loses.
        take_mask_i: u32 = field(LANES).valid_by("take_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Straps: bit 0 *live*, bit 1 LRU.
        cfg_i: u8 = field(3),
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
        /// A result is offered.
        op_valid_i: u8 = field(1),
        /// The result has gone around the cache.
        op_kill_i: u8 = field(1).valid_by("op_valid_i"),
        /// Slot of the result.
        op_slot_i: u8 = field(s.local_w()).valid_by("op_valid_i"),
        /// Register of the result.
        op_reg_i: u8 = field(REG_BITS).valid_by("op_valid_i"),
        /// The lanes that are written are clean.
        op_clean_i: u8 = field(1),
        /// Lanes of another register of the slot are taken away.
        take_valid_i: u8 = field(1),
        /// Register whose lanes are taken away.
        take_reg_i: u8 = field(REG_BITS).valid_by("take_valid_i"),
        /// An eviction can be taken.
        evict_room_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`RfcTags`].
    pub struct RfcTagsOut(s: &RfcShape) {
        /// Events: `rfc_tags_event_t`.
        event_o: u32 = field(31).shown(Decode::Packed(RFC_TAGS_EVENT)),
        /// Slots without a dirty lane.
        clean_o: u64 = field(s.cache_slots() as u32).early(),
        /// Lanes of each source that are in the cache.
        hit_mask_o: [u32; OPERANDS] = field(LANES).count(OPERANDS),
        /// Lanes to write back.
        evict_mask_o: u32 = field(LANES).valid_by("evict_valid_o"),
        /// Entry that serves each source; 0 where no lane is in the cache.
        hit_index_o: [u16; OPERANDS] = field(s.index_w()).count(OPERANDS),
        /// The entry that the result goes to; 0 where it goes to none.
        op_index_o: u16 = field(s.index_w()),
        /// Entry that is evicted.
        evict_index_o: u16 = field(s.index_w()).valid_by("evict_valid_o"),
        /// Read port that serves each source; 0 where no lane is in the cache.
        hit_port_o: [u8; OPERANDS] = field(2).count(OPERANDS),
        /// Read ports that read.
        read_o: u8 = field(OPERANDS),
        /// The result is performed at this edge.
        op_ready_o: u8 = field(1),
        /// An eviction begins at this edge.
        evict_valid_o: u8 = field(1),
        /// Read port of the eviction.
        evict_port_o: u8 = field(2).valid_by("evict_valid_o"),
        /// Slot of the eviction.
        evict_slot_o: u8 = field(s.local_w()).valid_by("evict_valid_o"),
        /// Register of the eviction.
        evict_reg_o: u8 = field(REG_BITS).valid_by("evict_valid_o"),
    }
}

ports! {
    /// State of [`RfcTags`].
    pub struct RfcTagsProbe(s: &RfcShape) {
        /// Valid lanes of each entry.
        valid_q: [u32; MAX_CACHED] = field(LANES).count(s.words()),
        /// Dirty lanes of each entry.
        dirty_q: [u32; MAX_CACHED] = field(LANES).count(s.words()),
        /// Entries of the same slot that were used before each entry.
        older_q: [u16; MAX_CACHED] = field(s.entries as u32).count(s.words()),
        /// Register of each entry.
        tag_q: [u8; MAX_CACHED] = field(REG_BITS).count(s.words()).valid_by("valid_q"),
        /// The entry that each slot takes next with FIFO.
        next_q: [u8; MAX_ACTIVE] = field(s.entry_number_w()).count(s.cache_slots()),
    }
}

/// The result of the lookup of an instruction in the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Looked {
    /// Lanes of each source that are in the cache.
    pub(crate) hit_mask: [u32; OPERANDS],
    /// The entry that holds these lanes.
    pub(crate) index: [u16; OPERANDS],
    /// The read port that serves each source.
    pub(crate) port: [u8; OPERANDS],
    /// Read ports that perform a read.
    pub(crate) read: u8,
}

impl Looked {
    /// Sources with lanes in the cache.
    #[inline]
    pub(crate) fn fill(&self) -> u8 {
        (0..OPERANDS).fold(0, |fill, k| fill | u8::from(self.hit_mask[k] != 0) << k)
    }
}

/// The instruction in T.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    pub(crate) mask: u32,
    pub(crate) slot: u8,
    pub(crate) src_valid: u8,
    pub(crate) reg: [u8; OPERANDS],
    pub(crate) last: u8,
}

/// An operation on the cache: it writes a result or a fill, or with `kill` only takes lanes away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) mask: u32,
    pub(crate) kill: bool,
    pub(crate) slot: u8,
    pub(crate) reg: u8,
    /// The value is clean: the MRF has it too.
    pub(crate) clean: bool,
    /// Lanes of another register that the slot loses when this value is written.
    pub(crate) take: Option<Take>,
}

/// Lanes of a register that the cache loses, because they are held elsewhere from now on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Take {
    pub(crate) mask: u32,
    pub(crate) reg: u8,
}

/// An eviction that begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evict {
    pub(crate) mask: u32,
    pub(crate) index: u16,
    pub(crate) port: u8,
    pub(crate) slot: u8,
    pub(crate) reg: u8,
}

/// The operation and the eviction that are performed in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    /// The result is performed.
    pub(crate) ready: bool,
    /// The entry that the operation writes or takes lanes away from.
    pub(crate) entry: Option<u16>,
    /// The entry held the same register before.
    pub(crate) matches: bool,
    /// The value that is evicted to the MRF: the victim's, or one of a flush.
    pub(crate) evict: Option<Evict>,
    /// The eviction belongs to a flush.
    pub(crate) flush: bool,
}

/// Slots to be flushed, and those of them that are emptied without write-back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flush {
    pub(crate) flush: u64,
    pub(crate) drop: u64,
}

/// The fields of the event word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) hit: u8,
    pub(crate) partial: u8,
    pub(crate) miss: u8,
    pub(crate) read_groups: u8,
    pub(crate) write_hit: bool,
    pub(crate) allocate: bool,
    pub(crate) write_groups: u8,
    pub(crate) evict: bool,
    pub(crate) dead: bool,
    pub(crate) flush: bool,
    pub(crate) evict_groups: u8,
    pub(crate) kill: bool,
    pub(crate) marked: u8,
    pub(crate) wait: bool,
    pub(crate) drop: bool,
    pub(crate) clean: bool,
    pub(crate) look: bool,
}

impl Counts {
    pub(crate) fn word(&self) -> u32 {
        let values = [
            self.hit.into(),
            self.partial.into(),
            self.miss.into(),
            self.read_groups.into(),
            self.write_hit.into(),
            self.allocate.into(),
            self.write_groups.into(),
            self.evict.into(),
            self.dead.into(),
            self.flush.into(),
            self.evict_groups.into(),
            self.kill.into(),
            self.marked.into(),
            self.wait.into(),
            self.drop.into(),
            self.clean.into(),
            self.look.into(),
        ];
        pack(RFC_TAGS_EVENT, values) as u32
    }
}

/// Tags, valid lanes and dirty lanes of one cache, replacement and flush (RFC paper 3.1; hierarchy thesis 5.2).
///
/// A direct caller looks up an instruction ([`look`](Self::look)), lets the block decide about a result or a flush ([`decide`](Self::decide)),
/// and passes these decisions at the clock edge.
#[derive(Clone)]
pub struct RfcTags {
    slots: usize,
    entries: usize,
    valid_q: Box<[u32]>,
    dirty_q: Box<[u32]>,
    older_q: Box<[u16]>,
    tag_q: Box<[u8]>,
    next_q: [u8; MAX_ACTIVE],
    /// Slots with a valid lane, and slots with a dirty lane, derived from the lanes.
    full: u64,
    unclean: u64,
    /// The decisions of this cycle.
    looked: Looked,
    done: Done,
}

impl RfcTags {
    /// Slots without a dirty lane.
    #[inline]
    pub(crate) fn clean(&self) -> u64 {
        !self.unclean & u64::MAX >> (u64::BITS as usize - self.slots)
    }

    /// The entries of a slot, which must exist.
    #[inline]
    fn of(&self, slot: u8) -> Range<usize> {
        let first = usize::from(slot) * self.entries;
        first..first + self.entries
    }

    #[inline]
    fn is_there(&self, slot: u8) -> bool {
        usize::from(slot) < self.slots
    }

    /// The entry of a slot that holds lanes of a register.
    #[inline]
    fn find(&self, slot: u8, reg: u8) -> Option<usize> {
        if !is_set(self.full, slot.into()) {
            return None;
        }
        self.of(slot).find(|&i| self.tag_q[i] == reg && self.valid_q[i] != 0)
    }

    /// Looks up the sources of an instruction.
    #[inline]
    pub(crate) fn look(&self, look: &Look) -> Looked {
        let mut looked = Looked::default();
        for k in set_bits(look.src_valid) {
            let reg = look.reg[k];
            // The lowest source with a register performs the read for later sources with the same register.
            if let Some(first) = (0..k).find(|&l| is_set(looked.read, l) && look.reg[l] == reg) {
                looked.hit_mask[k] = looked.hit_mask[first];
                (looked.index[k], looked.port[k]) = (looked.index[first], first as u8);
            } else if let Some(i) = self.find(look.slot, reg)
                && self.valid_q[i] & look.mask != 0
            {
                looked.hit_mask[k] = self.valid_q[i] & look.mask;
                (looked.index[k], looked.port[k]) = (i as u16, k as u8);
                looked.read |= 1 << k;
            }
        }
        looked
    }

    /// Decides the operation of a result, and the entry that is flushed. `reading`: read ports that are in use.
    #[inline]
    pub(crate) fn decide(&self, straps: u8, reading: u8, room: bool, op: Option<&Op>, flush: Flush) -> Done {
        let (lru, prompt) = (is_set(straps, 1), is_set(straps, 2));
        let port = (!reading).trailing_zeros() as u8;
        let possible = room && usize::from(port) < OPERANDS;
        let evict =
            |i: usize, slot: u8| Evict { mask: self.dirty_q[i], index: i as u16, port, slot, reg: self.tag_q[i] };
        let flushed = || {
            let wanted = flush.flush & !flush.drop & self.unclean;
            if wanted == 0 || !possible {
                return None;
            }
            let slot = wanted.trailing_zeros() as u8;
            self.of(slot).find(|&i| self.dirty_q[i] != 0).map(|i| evict(i, slot))
        };
        let Some(op) = op else {
            let evict = flushed();
            return Done { flush: evict.is_some(), evict, ..Done::default() };
        };
        let found = if self.is_there(op.slot) { self.find(op.slot, op.reg) } else { None };
        let entry = if op.kill || !self.is_there(op.slot) { found } else { found.or(Some(self.victim(op.slot, lru))) };
        let done = Done { ready: true, entry: entry.map(|i| i as u16), matches: found.is_some(), ..Done::default() };
        match entry.filter(|&i| found.is_none() && self.dirty_q[i] != 0) {
            Some(i) if possible => Done { evict: Some(evict(i, op.slot)), ..done },
            // The operation waits; its entry is known all the same.
            Some(_) => Done { ready: false, ..done },
            // The operation needs no eviction, so an eviction of a flush may take place beside it.
            None => {
                let evict = if prompt && !op.kill { flushed() } else { None };
                Done { flush: evict.is_some(), evict, ..done }
            }
        }
    }

    /// The entry that is replaced.
    #[inline]
    fn victim(&self, slot: u8, lru: bool) -> usize {
        let range = self.of(slot);
        if lru {
            range.clone().find(|&i| self.older_q[i] == 0).unwrap_or(range.start)
        } else {
            range.start + usize::from(self.next_q[usize::from(slot)])
        }
    }

    /// The clock edge. `moved`: the instruction that leaves T, and the result of its lookup.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        straps: u8,
        moved: Option<(&Look, &Looked)>,
        op: Option<&Op>,
        done: &Done,
        flush: Flush,
    ) {
        let (live, lru) = (is_set(straps, 0), is_set(straps, 1));
        // Computed from the lanes before the clock edge.
        let emptied = self.emptied(flush);
        if let Some((look, looked)) = moved {
            for k in set_bits(looked.fill()) {
                let i = usize::from(looked.index[k]);
                if live && is_set(look.last, k) {
                    self.dirty_q[i] &= !look.mask;
                    self.settle(look.slot);
                }
                if lru {
                    self.used(look.slot, i);
                }
            }
        }
        if let Some(op) = op {
            self.perform(op, done, lru);
        }
        if let Some(evict) = done.evict.as_ref().filter(|_| done.flush) {
            let i = usize::from(evict.index);
            (self.valid_q[i], self.dirty_q[i]) = (0, 0);
            self.settle(evict.slot);
        }
        for slot in set_bits(emptied) {
            self.empty(slot as u8);
        }
    }

    fn perform(&mut self, op: &Op, done: &Done, lru: bool) {
        let Some(i) = done.entry.filter(|_| done.ready).map(usize::from) else { return };
        if op.kill {
            self.valid_q[i] &= !op.mask;
            self.dirty_q[i] &= !op.mask;
        } else {
            let dirty = if op.clean { 0 } else { op.mask };
            if let Some(take) = &op.take
                && let Some(taken) = self.find(op.slot, take.reg).filter(|&taken| taken != i)
            {
                self.valid_q[taken] &= !take.mask;
                self.dirty_q[taken] &= !take.mask;
            }
            if done.matches {
                self.valid_q[i] |= op.mask;
                self.dirty_q[i] |= dirty;
            } else {
                (self.tag_q[i], self.valid_q[i], self.dirty_q[i]) = (op.reg, op.mask, dirty);
                if !lru {
                    let next = &mut self.next_q[usize::from(op.slot)];
                    *next = if usize::from(*next) + 1 == self.entries { 0 } else { *next + 1 };
                }
            }
            if lru {
                self.used(op.slot, i);
            }
        }
        self.settle(op.slot);
    }

    /// Slots that become empty at this clock edge. This includes empty slots: their next entry need not be the first.
    #[inline]
    fn emptied(&self, Flush { flush, drop }: Flush) -> u64 {
        flush & (drop | self.clean())
    }

    fn empty(&mut self, slot: u8) {
        if is_set(self.full, slot.into()) {
            let range = self.of(slot);
            self.valid_q[range.clone()].fill(0);
            self.dirty_q[range].fill(0);
            self.full &= !(1 << slot);
            self.unclean &= !(1 << slot);
        }
        self.next_q[usize::from(slot)] = 0;
    }

    /// Makes a used entry the youngest of its slot.
    fn used(&mut self, slot: u8, i: usize) {
        let range = self.of(slot);
        let own = 1 << (i - range.start);
        for older in &mut self.older_q[range] {
            *older &= !own;
        }
        self.older_q[i] = u16::MAX >> (MAX_ENTRIES - self.entries) & !own;
    }

    /// Updates the sets that are derived from the lanes of a slot.
    #[inline]
    fn settle(&mut self, slot: u8) {
        let range = self.of(slot);
        let any = |lanes: &[u32]| u64::from(lanes.iter().any(|&lanes| lanes != 0)) << slot;
        self.full = self.full & !(1 << slot) | any(&self.valid_q[range.clone()]);
        self.unclean = self.unclean & !(1 << slot) | any(&self.dirty_q[range]);
    }

    /// A clock edge in reset.
    pub(crate) fn reset(&mut self) {
        self.valid_q.fill(0);
        self.dirty_q.fill(0);
        self.next_q = [0; MAX_ACTIVE];
        for older in self.older_q.chunks_mut(self.entries) {
            older.iter_mut().enumerate().for_each(|(e, older)| *older = (1u16 << e) - 1);
        }
        (self.full, self.unclean) = (0, 0);
    }

    /// The events of a cycle.
    #[inline]
    pub(crate) fn counts(
        &self,
        straps: u8,
        look: Option<&Look>,
        moved: Option<&Looked>,
        op: Option<&Op>,
        done: &Done,
        flush: Flush,
    ) -> Counts {
        let mut counts = Counts { look: look.is_some(), ..Counts::default() };
        if let (Some(look), Some(looked)) = (look, moved) {
            for k in distinct(look) {
                match looked.hit_mask[k] {
                    mask if mask == look.mask => counts.hit += 1,
                    0 => counts.miss += 1,
                    _ => counts.partial += 1,
                }
                counts.marked += u8::from(is_set(straps & 1, 0) && looked.hit_mask[k] != 0 && is_set(look.last, k));
            }
            counts.read_groups = set_bits(looked.read).map(|k| LaneMask(looked.hit_mask[k]).groups()).sum();
        }
        if let Some(evict) = &done.evict {
            (counts.evict, counts.flush) = (!done.flush, done.flush);
            counts.evict_groups = LaneMask(evict.mask).groups();
        }
        if let Some(op) = op {
            counts.wait = !done.ready;
            let lanes = done.entry.map_or(0, |i| self.valid_q[usize::from(i)]);
            if op.kill {
                counts.kill = lanes & op.mask != 0;
            } else if done.ready {
                (counts.write_hit, counts.allocate) = (done.matches, !done.matches);
                counts.dead = !done.matches && (done.evict.is_none() || done.flush) && lanes != 0;
                counts.write_groups = LaneMask(op.mask).groups();
            }
        }
        let emptied = self.emptied(flush) & self.full;
        counts.drop = emptied & flush.drop != 0;
        counts.clean = emptied & !flush.drop != 0;
        counts
    }
}

/// The lowest source with each register that an instruction reads.
#[inline]
pub(crate) fn distinct(look: &Look) -> impl Iterator<Item = usize> {
    set_bits(look.src_valid).filter(|&k| !(0..k).any(|l| is_set(look.src_valid, l) && look.reg[l] == look.reg[k]))
}

fn look_of(inputs: &RfcTagsIn) -> Option<Look> {
    (inputs.look_valid_i != 0).then_some(Look {
        mask: inputs.look_mask_i,
        slot: inputs.look_slot_i,
        src_valid: inputs.look_src_valid_i,
        reg: inputs.look_reg_i,
        last: inputs.look_last_i,
    })
}

fn op_of(inputs: &RfcTagsIn) -> Option<Op> {
    (inputs.op_valid_i != 0).then_some(Op {
        mask: inputs.op_mask_i,
        kill: inputs.op_kill_i != 0,
        slot: inputs.op_slot_i,
        reg: inputs.op_reg_i,
        clean: inputs.op_clean_i != 0,
        take: (inputs.take_valid_i != 0).then_some(Take { mask: inputs.take_mask_i, reg: inputs.take_reg_i }),
    })
}

impl Block for RfcTags {
    const NAME: &'static str = "rfc_tags";
    const PARAMETERS: &'static [&'static str] = &["Slots", "Entries"];

    type Shape = RfcShape;
    type In = RfcTagsIn;
    type Out = RfcTagsOut;
    type Probe = RfcTagsProbe;

    fn new(shape: &RfcShape) -> Self {
        let words = shape.words();
        let mut tags = Self {
            slots: shape.cache_slots(),
            entries: shape.entries,
            valid_q: vec![0; words].into(),
            dirty_q: vec![0; words].into(),
            older_q: vec![0; words].into(),
            tag_q: vec![0; words].into(),
            next_q: [0; MAX_ACTIVE],
            full: 0,
            unclean: 0,
            looked: Looked::default(),
            done: Done::default(),
        };
        tags.reset();
        tags
    }

    fn early(&self, out: &mut RfcTagsOut) {
        out.clean_o = self.clean();
    }

    fn late(&mut self, inputs: &RfcTagsIn, out: &mut RfcTagsOut) {
        let (look, op) = (look_of(inputs), op_of(inputs));
        let flush = Flush { flush: inputs.flush_i, drop: inputs.drop_i };
        self.looked = look.as_ref().map_or_else(Looked::default, |look| self.look(look));
        let moves = inputs.look_move_i != 0;
        let reading = if moves { self.looked.read } else { 0 };
        self.done = self.decide(inputs.cfg_i, reading, inputs.evict_room_i != 0, op.as_ref(), flush);
        let (looked, done) = (&self.looked, &self.done);
        (out.hit_mask_o, out.hit_index_o, out.hit_port_o) = (looked.hit_mask, looked.index, looked.port);
        out.read_o = looked.read;
        out.op_ready_o = done.ready.into();
        out.op_index_o = done.entry.filter(|_| inputs.op_kill_i == 0).unwrap_or_default();
        out.evict_valid_o = done.evict.is_some().into();
        let Evict { mask, index, port, slot, reg } =
            done.evict.unwrap_or(Evict { mask: 0, index: 0, port: 0, slot: 0, reg: 0 });
        (out.evict_mask_o, out.evict_index_o, out.evict_port_o) = (mask, index, port);
        (out.evict_slot_o, out.evict_reg_o) = (slot, reg);
        out.event_o =
            self.counts(inputs.cfg_i, look.as_ref(), moves.then_some(looked), op.as_ref(), done, flush).word();
    }

    fn clock(&mut self, inputs: &RfcTagsIn, _: &RfcTagsOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        let (look, op, looked, done) = (look_of(inputs), op_of(inputs), self.looked, self.done);
        let moved = look.as_ref().filter(|_| inputs.look_move_i != 0).map(|look| (look, &looked));
        let flush = Flush { flush: inputs.flush_i, drop: inputs.drop_i };
        self.advance(inputs.cfg_i, moved, op.as_ref(), &done, flush);
    }

    fn probe(&self, _: &RfcTagsIn, _: &RfcTagsOut, probe: &mut RfcTagsProbe) {
        let words = self.valid_q.len();
        probe.valid_q[..words].copy_from_slice(&self.valid_q);
        probe.dirty_q[..words].copy_from_slice(&self.dirty_q);
        probe.older_q[..words].copy_from_slice(&self.older_q);
        probe.tag_q[..words].copy_from_slice(&self.tag_q);
        probe.next_q = self.next_q;
    }
}

#[cfg(test)]
mod tests;
