//! `coalescer`.

use gpurf_blocks::config::Config;
use gpurf_blocks::memory::{Coalescer, CoalescerIn, CoalescerOut, CoalescerProbe};
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_blocks::{LANES, Ports};
use gpurf_lockstep::Rng;

use super::lanes::{Pending, addresses, set_lanes};
use crate::driver::{Reset, Twin};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<Coalescer, CoalescerDriver, CoalescerCover>();

pub(crate) struct CoalescerDriver {
    reset: Reset,
    pending: Pending,
    /// The access that is being offered.
    access: Box<CoalescerIn>,
    /// Tells which lanes are served.
    twin: Twin<Coalescer>,
}

knobs! {
    pub(crate) struct CoalescerKnobs {
        offer: "an access begins" = [200, 800, 1000],
        ready: "a request is taken" = [200, 700, 1000],
        room: "the line table has room" = [200, 900, 1000],
        local: "an access is to local memory" = [0, 300, 1000],
        near: "addresses are among the first few" = [0, 500, 1000],
        partial: "lanes do not take part" = [0, 500, 900],
        withdraw: "an offer is withdrawn for a cycle" = [0, 50],
        // More often than in other blocks, since the states that a reset has to hit are short.
        reset = [0, 5, 20, 60],
    }
}

impl Driver for CoalescerDriver {
    type In = CoalescerIn;
    type Knobs = CoalescerKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self {
            reset: Reset::default(),
            pending: Pending::default(),
            access: Box::new(CoalescerIn::zeroed()),
            twin: Twin::new(shape),
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &CoalescerKnobs, inputs: &mut CoalescerIn) {
        if self.pending.left == 0 && rng.chance(knobs.offer) {
            self.begin(rng, knobs);
        }
        let access = &mut *self.access;
        access.rst_ni = self.reset.next(rng, knobs.reset);
        access.valid_i = (self.pending.left != 0 && !rng.chance(knobs.withdraw)).into();
        access.lanes_i = self.pending.left;
        access.mem_req_ready_i = rng.chance(knobs.ready).into();
        access.row_room_i = rng.chance(knobs.room).into();
        access.last_i = 0;
        self.twin.early();
        self.twin.late(access);
        access.last_i = self.pending.last(self.twin.out.served_o).into();
        self.twin.late(access);
        self.twin.clock(access);
        self.pending.serve(self.twin.out.served_o, access.rst_ni == 0);
        *inputs = *access;
    }
}

impl CoalescerDriver {
    fn begin(&mut self, rng: &mut Rng, knobs: &CoalescerKnobs) {
        self.pending.begin(rng, knobs.partial);
        let access = &mut *self.access;
        access.kind_i = rng.below(4) as u8;
        let (atomic, fetch) = (access.kind_i == 2, access.kind_i == 3);
        access.atomic_i = if !atomic {
            0
        } else if rng.chance(300) {
            12
        } else {
            rng.below(12) as u8
        };
        // There are no atomic operations on local memory, and no textures.
        access.local_i = (!atomic && !fetch && rng.chance(knobs.local)).into();
        access.texture_i = rng.below(1 << 26) as u32;
        access.size_i = if atomic || fetch { 2 } else { rng.below(3) as u8 };
        // Bits without a meaning are random.
        access.bypass_i = rng.chance(400).into();
        access.signed_i = (access.kind_i == 0 && access.size_i < 2 && rng.chance(500)).into();
        access.warp_i = rng.below(MAX_WARPS as u64) as u8;
        (access.reg_valid_i, access.reg_i) = (rng.chance(700).into(), rng.below(256) as u8);
        access.local_words_i = if rng.chance(500) { 1 + rng.below(40) } else { 1 + rng.below(65535) } as u16;
        let bytes = if access.local_i == 1 { 4 * u64::from(access.local_words_i) } else { 1 << 32 };
        access.addr_i = addresses(rng, bytes, access.size_i, knobs.near);
        if access.size_i == 0 && rng.chance(300) {
            // The last byte of a line, or of a word.
            let lane = rng.below(LANES as u64) as usize;
            access.addr_i.0[lane] |= if access.local_i == 1 { 3 } else { 127 };
        }
        rng.fill(&mut access.store_i.0);
        rng.fill(&mut access.compare_i.0);
        for lane in self.pending.blank(rng) {
            (access.addr_i.0[lane], access.store_i.0[lane], access.compare_i.0[lane]) = (0, 0, 0);
        }
    }
}

pub(crate) struct CoalescerCover {
    /// Whether an access was offered in the previous cycle, and no lane of it was served.
    waiting: bool,
}

#[cover]
impl CoalescerCover {
    fn new(_: &SmShape, _: &Config) -> Self {
        Self { waiting: false }
    }

    fn observe(&mut self, i: &CoalescerIn, o: &CoalescerOut, p: &CoalescerProbe, points: &mut Points) {
        self.situations(i, o, points);
        self.fetches(i, o, p.third_q == 1, points);
        self.waiting = i.valid_i == 1 && o.served_o == 0 && i.rst_ni == 1;
    }

    /// Texture fetches; `third`: the request with the third coordinate has been made.
    fn fetches(&self, i: &CoalescerIn, o: &CoalescerOut, third: bool, points: &mut Points) {
        let offered = i.valid_i == 1 && i.kind_i == 3;
        let (full, ready, room) = (o.mem_req_valid_o == 1, i.mem_req_ready_i == 1, i.row_room_i == 1);
        let (deep, free, passes) = (i.texture_i >> 4 & 1 == 1, !full || ready, o.served_o != 0);
        let texture = full && o.mem_req_kind_o == 3;
        point!("fetch with two coordinates", offered && passes && !deep);
        point!("fetch with a third coordinate", offered && passes && deep);
        point!("the bit of a third coordinate in an access that is no fetch", passes && i.kind_i != 3 && deep);
        point!("fetch without a register", offered && passes && i.reg_valid_i == 0);
        point!("fetch of some lanes", offered && passes && i.lanes_i != u32::MAX);
        point!("the first request of a fetch", offered && deep && !third && free);
        point!("the first request of a fetch although there is no row", offered && deep && !third && free && !room);
        point!("the first request of a fetch waits", offered && deep && !third && !free);
        point!("the last request of a fetch waits for a row alone", offered && third && free && !room);
        point!("the last request of a fetch waits for the register alone", offered && third && !free && room);
        point!("the last request of a fetch follows the first one at once", offered && third && passes && full);
        point!("withdrawn between its requests", third && i.valid_i == 0);
        point!("the first request of a fetch waits for memory", texture && o.mem_req_answer_o == 0 && !ready);
        point!("the last request of a fetch waits for memory", texture && o.mem_req_answer_o == 1 && !ready);
        point!("reset between the requests of a fetch", third && i.rst_ni == 0);
        point!("reset while the first request of a fetch is made", offered && deep && !third && free && i.rst_ni == 0);
        point!("a fetch with a third coordinate follows another one", offered && deep && !third && texture && ready);
    }

    fn situations(&self, i: &CoalescerIn, o: &CoalescerOut, points: &mut Points) {
        let (valid, full) = (i.valid_i == 1, o.mem_req_valid_o == 1);
        let (ready, room) = (i.mem_req_ready_i == 1, i.row_room_i == 1);
        let passes = o.served_o != 0;
        let (load, store, atomic) = (passes && i.kind_i == 0, passes && i.kind_i == 1, passes && i.kind_i == 2);
        let (register, local) = (i.reg_valid_i == 1, i.local_i == 1);
        let left = i.lanes_i & !o.served_o;
        let answers = matches!(i.kind_i, 0 | 3) || i.kind_i == 2 && register;
        let free = !full || ready;
        let offset =
            |wanted: u8| set_lanes(o.served_o).any(|lane| o.row_valid_o == 1 && o.row_offset_o[lane] == wanted);
        let first = set_lanes(o.served_o).next().unwrap_or(0);
        let same = set_lanes(o.served_o).filter(|&lane| i.addr_i.0[lane] == i.addr_i.0[first]).count();
        point!("load with a register", load && register);
        point!("load without a register", load && !register);
        point!("store", store);
        let bypass = i.bypass_i == 1;
        point!("load past the cache", load && bypass);
        point!("load that is not to pass the cache by", load && !bypass);
        point!("load past the cache of several lines", load && bypass && left != 0);
        point!("store with the bit of loads past the cache", store && bypass);
        point!("atomic operation with the bit of loads past the cache", atomic && bypass);
        point!("a load past the cache follows one that is not", load && bypass && full && o.bypass_o == 0);
        point!("a load that is not to pass the cache by follows one", load && !bypass && full && o.bypass_o == 1);
        point!("a load past the cache waits", full && o.bypass_o == 1 && !ready);
        point!("atomic operation with a register", atomic && register);
        point!("atomic operation without a register", atomic && !register);
        point!("compare and swap", atomic && i.atomic_i == 12);
        point!("load from local memory", load && local);
        point!("store to local memory", store && local);
        point!("bytes of local memory", passes && local && i.size_i == 0);
        point!("local words of several lines", passes && local && left != 0);
        point!("bytes", load && i.size_i == 0);
        point!("bytes with a sign", load && i.size_i == 0 && i.signed_i == 1);
        point!("two bytes", load && i.size_i == 1);
        point!("two bytes with a sign", load && i.size_i == 1 && i.signed_i == 1);
        point!("words", load && i.size_i == 2);
        point!("all lanes in one line", o.served_o == u32::MAX);
        point!("all lanes at one address", passes && same == LANES);
        point!("one lane alone", o.served_o.is_power_of_two() && left != 0);
        point!("several lanes, others left", o.served_o.count_ones() > 1 && left != 0);
        point!("lanes of two lines take turns", o.served_o & left << 1 != 0 && left & o.served_o << 1 != 0);
        point!("lanes in descending order", passes && i.addr_i.0[0] > i.addr_i.0[31] && i.lanes_i == u32::MAX);
        point!("the last byte of a line", offset(127));
        point!("the last line", passes && !local && i.addr_i.0[first] >> 7 == u32::MAX >> 7);
        point!("waits for a row alone", valid && answers && free && !room);
        point!("waits for the register alone", valid && !free && room);
        point!("waits for both", valid && answers && !free && !room);
        point!("passes although there is no row", passes && !room);
        point!("request replaced", passes && full);
        point!("request taken, none follows", full && ready && !passes);
        point!("request waits", full && !ready);
        point!("last pass", o.row_valid_o == 1 && o.row_done_o == 1);
        point!("not the last pass", o.row_valid_o == 1 && left != 0);
        point!("last here, lanes left elsewhere", o.row_valid_o == 1 && left == 0 && o.row_done_o == 0);
        point!("served after waiting", passes && self.waiting);
        point!("withdrawn", self.waiting && !valid);
        point!("reset with a request", full && i.rst_ni == 0);
        point!("reset while a pass is performed", passes && i.rst_ni == 0);
    }
}
