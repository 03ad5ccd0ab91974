//! `rfc_fills`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::operands::MAX_TAGS;
use gpurf_blocks::rfc::RfcShape;
use gpurf_blocks::rfc::{RfcFills, RfcFillsIn, RfcFillsOut, RfcFillsProbe};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, Twin, lane_mask, ports};
use crate::{Driver, Points, Unaliased, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<RfcFills, FillsDriver, FillsCover>();

/// Driver of `rfc_fills`. It keeps which tags have an instruction; a twin tells when a latch is free.
pub(crate) struct FillsDriver {
    shape: RfcShape,
    reset: Reset,
    twin: Twin<RfcFills>,
    /// Tags whose instruction has left T and waits to be dispatched.
    moved: [bool; MAX_TAGS],
    flush: u64,
}

knobs! {
    pub(crate) struct FillsKnobs {
        r#move: "an instruction leaves T" = [200, 900],
        miss: "a source has lanes that come from the MRF" = [0, 300, 700, 1000],
        take: "an instruction is dispatched" = [200, 600, 1000],
        ready: "a cache performs its fill" = [100, 600, 1000],
        flush: "a slot begins, or ends, to be emptied" = [0, 20, 200],
        one: "the slot is the port's first" = [0, 500, 1000],
        stray: "a tag does not exist" = [0, 0, 100],
        partial: "some lanes come from the cache" = [0, 500, 1000],
        reset,
    }
}

impl Driver for FillsDriver {
    type In = RfcFillsIn;
    type Knobs = FillsKnobs;

    fn new(shape: &RfcShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), twin: Twin::new(shape), moved: [false; MAX_TAGS], flush: 0 }
    }

    fn unreached(shape: &RfcShape, _: &Config) -> Vec<Unreached> {
        Unreached::parity(&["move_slot_i"], shape.ports())
    }

    fn unaliased(_: &RfcShape, _: &Config) -> Vec<Unaliased> {
        Unaliased::ports(&["32'(slot_q[(i-1)/Operands]) % IssuePorts == c"])
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &FillsKnobs, i: &mut RfcFillsIn) {
        let count = self.shape.ports();
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.reset);
        self.flush ^= (0..self.shape.active).fold(0, |set, s| set | u64::from(rng.chance(knobs.flush)) << s);
        i.flush_i = self.flush;
        i.fill_ready_i = ports(rng, count, knobs.ready);
        (i.take_valid_i, i.move_valid_i) = (0, 0);
        let before = self.moved;
        for p in 0..count {
            self.dispatch(rng, knobs, i, p);
        }
        for p in 0..count {
            self.leave_t(rng, knobs, i, p, &before);
        }
        self.twin.late(i);
        self.twin.clock(i);
    }
}

impl FillsDriver {
    /// A tag for which `wanted` holds, searched from a random one on.
    fn find(&self, rng: &mut Rng, wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let tags = self.shape.tags();
        let first = rng.below(tags as u64) as usize;
        (first..first + tags).map(|tag| tag % tags).find(|&tag| wanted(tag))
    }

    /// A tag that does not exist, if there are such.
    fn stray(&self, rng: &mut Rng, knobs: &FillsKnobs) -> Option<u8> {
        let (tags, names) = (self.shape.tags() as u64, 1u64 << self.shape.tag_w());
        (tags < names && rng.chance(knobs.stray)).then(|| (tags + rng.below(names - tags)) as u8)
    }

    /// Drives the dispatch of an instruction. Nothing is dispatched while a latch is full.
    fn dispatch(&mut self, rng: &mut Rng, knobs: &FillsKnobs, i: &mut RfcFillsIn, p: usize) {
        if self.twin.out.busy_o == 1 || !rng.chance(knobs.take) {
            return;
        }
        let there = |tag: usize| self.moved[tag];
        let (stray, tag) = (self.stray(rng, knobs), self.find(rng, there));
        let Some(tag) = stray.or(tag.map(|tag| tag as u8)) else { return };
        if stray.is_none() {
            self.moved[usize::from(tag)] = false;
        }
        i.take_valid_i |= 1 << p;
        i.take_tag_i[p] = tag;
        for k in 0..OPERANDS {
            rng.fill(&mut i.take_data_i[OPERANDS * p + k].0);
        }
    }

    fn leave_t(&mut self, rng: &mut Rng, knobs: &FillsKnobs, i: &mut RfcFillsIn, p: usize, before: &[bool; MAX_TAGS]) {
        if !rng.chance(knobs.r#move) {
            return;
        }
        let stray = self.stray(rng, knobs);
        let tag = self.find(rng, |tag| !before[tag] && !self.moved[tag]);
        let Some(tag) = stray.or(tag.map(|tag| tag as u8)) else { return };
        if stray.is_none() {
            self.moved[usize::from(tag)] = true;
        }
        let (count, few) = (self.shape.ports(), rng.chance(knobs.one));
        let local = rng.below(if few { 1 } else { self.shape.cache_slots() } as u64) as usize;
        i.move_valid_i |= 1 << p;
        (i.move_tag_i[p], i.move_slot_i[p]) = (tag, (local * count + p) as u8);
        for k in 0..OPERANDS {
            let mask = lane_mask(rng, knobs.partial);
            i.move_miss_i[OPERANDS * p + k] = if rng.chance(knobs.miss) { mask } else { 0 };
            i.move_reg_i[OPERANDS * p + k] = rng.below(256) as u8;
        }
    }
}

pub(crate) struct FillsCover {
    shape: RfcShape,
    /// The port from whose T the instruction of each tag came, and its slot.
    port: [usize; MAX_TAGS],
    slot: [u8; MAX_TAGS],
    /// Whether the last fill was performed at the previous clock edge.
    ended: bool,
}

#[cover]
impl FillsCover {
    fn new(shape: &RfcShape, _: &Config) -> Self {
        Self { shape: *shape, port: [0; MAX_TAGS], slot: [0; MAX_TAGS], ended: false }
    }

    fn observe(&mut self, i: &RfcFillsIn, o: &RfcFillsOut, p: &RfcFillsProbe, points: &mut Points) {
        let (count, tags, running) = (self.shape.ports(), self.shape.tags(), i.rst_ni == 1);
        let pending = &p.pending_q;
        let done = o.fill_valid_o & i.fill_ready_i;
        let flushed = |latch: usize| i.flush_i >> p.slot_q[latch] & 1 == 1;
        let cache = |latch: usize| usize::from(p.slot_q[latch]) % count;
        let full: Vec<usize> = (0..count).filter(|&latch| pending[latch] != 0).collect();
        let both = full.len() == 2;
        let left: u32 = pending.iter().map(|set| set.count_ones()).sum();
        point!("loads in reset", !running && i.move_valid_i != 0 && i.take_valid_i != 0);
        point!("reset under load", !running && o.busy_o == 1);
        if running {
            point!("a fill waits", o.fill_valid_o & !i.fill_ready_i != 0);
            point!(
                "a fill is performed, others of its latch wait",
                done != 0 && pending.iter().any(|set| set.count_ones() > 1)
            );
            point!("the last fill is performed", left == 1 && done != 0);
            point!("a slot that is emptied gets nothing", full.iter().any(|&latch| flushed(latch)));
            point!("another slot is being emptied", done != 0 && i.flush_i != 0);
            point!("the last slot", full.iter().any(|&latch| usize::from(p.slot_q[latch]) + 1 == self.shape.active));
            point!("an instruction is dispatched in the cycle after the last fill", self.ended && i.take_valid_i != 0);
            #[given(self.shape.ports() == 2)]
            {
                point!("two leave T", i.move_valid_i == 3);
                point!("two are dispatched", i.take_valid_i == 3);
                point!("both latches are for one cache", both && cache(0) == cache(1));
                point!(
                    "both are for one cache, the first one's slot is emptied",
                    both && cache(0) == cache(1) && flushed(0) && !flushed(1)
                );
                point!("both caches are offered a fill", o.fill_valid_o == 3);
                point!("latch 0 fills cache 1, latch 1 cache 0", both && cache(0) == 1 && cache(1) == 0);
                point!(
                    "one cache performs its fill, the other one waits",
                    o.fill_valid_o == 3 && done.count_ones() == 1
                );
                point!("one latch is empty, the other one is not", full.len() == 1);
            }
        }
        for q in 0..count {
            let at = |set: u8| set >> q & 1 == 1;
            let (moved, taken) = (usize::from(i.move_tag_i[q]), usize::from(i.take_tag_i[q]));
            let miss: [u32; OPERANDS] = std::array::from_fn(|k| i.move_miss_i[OPERANDS * q + k]);
            let missing = miss.map(|mask| mask != 0);
            let (leaves, goes) = (at(i.move_valid_i), at(i.take_valid_i));
            let emptied = goes && taken < tags && i.flush_i >> self.slot[taken] & 1 == 1;
            let other = goes && taken < tags && !emptied && flushed(q);
            if running {
                point!("nothing was missing", leaves && missing == [false; 3]);
                point!("the first source alone", leaves && missing == [true, false, false]);
                point!("the second source alone", leaves && missing == [false, true, false]);
                point!("the third source alone", leaves && missing == [false, false, true]);
                point!("all three sources", leaves && missing == [true; 3]);
                point!("some lanes of a source", leaves && miss.iter().any(|mask| ![0, u32::MAX].contains(mask)));
                point!(
                    "a tag that does not exist leaves T",
                    leaves && moved >= tags,
                    given = self.shape.tags() < 1 << self.shape.tag_w()
                );
                point!("one is dispatched", goes && taken >= tags, given = self.shape.tags() < 1 << self.shape.tag_w());
                point!("the last tag", goes && taken + 1 == tags);
                point!(
                    "an instruction is dispatched on the other port",
                    goes && taken < tags && self.port[taken] != q,
                    given = self.shape.ports() == 2
                );
                point!("a slot that is being emptied as its instruction is dispatched", emptied);
                point!(
                    "the slot that the latch had is being emptied as another one's instruction is dispatched",
                    other
                );
            }
            if leaves && moved < tags {
                (self.port[moved], self.slot[moved]) = (q, i.move_slot_i[q]);
            }
        }
        self.ended = left == 1 && done != 0;
    }
}
