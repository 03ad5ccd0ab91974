//! `coalescer`.

use gpurf_blocks::config::Config;
use gpurf_blocks::memory::{Coalescer, CoalescerIn, CoalescerOut};
use gpurf_blocks::shape::{MAX_WARPS, SmShape};
use gpurf_blocks::{Block, LANES, NoProbe, Ports};
use gpurf_lockstep::Rng;

use super::lanes::{Pending, RESET, addresses, set_lanes};
use crate::driver::Reset;
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct CoalescerDriver {
    reset: Reset,
    pending: Pending,
    /// The access at hand.
    access: Box<CoalescerIn>,
    /// Says which lanes are served.
    twin: Coalescer,
    out: Box<CoalescerOut>,
}

const OFFER: usize = 0;
const READY: usize = 1;
const ROOM: usize = 2;
const LOCAL: usize = 3;
const NEAR: usize = 4;
const PARTIAL: usize = 5;
const WITHDRAW: usize = 6;

impl Driver for CoalescerDriver {
    type In = CoalescerIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "offer", doc: "an access begins", values: &[200, 800, 1000] },
        Knob { name: "ready", doc: "a request is taken", values: &[200, 700, 1000] },
        Knob { name: "room", doc: "the line table has room", values: &[200, 900, 1000] },
        Knob { name: "local", doc: "an access is to local memory", values: &[0, 300, 1000] },
        Knob { name: "near", doc: "addresses are among the first few", values: &[0, 500, 1000] },
        Knob { name: "partial", doc: "lanes do not take part", values: &[0, 500, 900] },
        Knob { name: "withdraw", doc: "an offer is withdrawn for a cycle", values: &[0, 50] },
        RESET,
    ];

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self {
            reset: Reset::default(),
            pending: Pending::default(),
            access: Box::new(CoalescerIn::zeroed()),
            twin: Coalescer::new(shape),
            out: Box::new(CoalescerOut::zeroed()),
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut CoalescerIn) {
        if self.pending.left == 0 && rng.chance(knobs.get(OFFER)) {
            self.begin(rng, knobs);
        }
        let access = &mut *self.access;
        access.rst_ni = self.reset.next(rng, knobs.get(7));
        access.valid_i = (self.pending.left != 0 && !rng.chance(knobs.get(WITHDRAW))).into();
        access.lanes_i = self.pending.left;
        access.mem_req_ready_i = rng.chance(knobs.get(READY)).into();
        access.row_room_i = rng.chance(knobs.get(ROOM)).into();
        access.last_i = 0;
        self.twin.early(&mut self.out);
        self.twin.late(access, &mut self.out);
        access.last_i = self.pending.last(self.out.served_o).into();
        self.twin.late(access, &mut self.out);
        self.twin.clock(access, &self.out);
        self.pending.serve(self.out.served_o, access.rst_ni == 0);
        *inputs = *access;
    }
}

impl CoalescerDriver {
    fn begin(&mut self, rng: &mut Rng, knobs: &Knobs) {
        self.pending.begin(rng, knobs.get(PARTIAL));
        let access = &mut *self.access;
        access.kind_i = rng.below(3) as u8;
        let atomic = access.kind_i == 2;
        access.atomic_i = if !atomic {
            0
        } else if rng.chance(300) {
            12
        } else {
            rng.below(12) as u8
        };
        // There are no atomic operations on local memory.
        access.local_i = (!atomic && rng.chance(knobs.get(LOCAL))).into();
        access.size_i = if atomic { 2 } else { rng.below(3) as u8 };
        access.signed_i = (access.kind_i == 0 && access.size_i < 2 && rng.chance(500)).into();
        access.warp_i = rng.below(MAX_WARPS as u64) as u8;
        (access.reg_valid_i, access.reg_i) = (rng.chance(700).into(), rng.below(256) as u8);
        access.local_words_i = if rng.chance(500) { 1 + rng.below(40) } else { 1 + rng.below(65535) } as u16;
        let bytes = if access.local_i == 1 { 4 * u64::from(access.local_words_i) } else { 1 << 32 };
        access.addr_i = addresses(rng, bytes, access.size_i, knobs.get(NEAR));
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
    /// An access was offered in the cycle before and not served at all.
    waiting: bool,
}

impl CoalescerCover {
    fn situations(&self, i: &CoalescerIn, o: &CoalescerOut) -> Vec<(&'static str, bool)> {
        let (valid, full) = (i.valid_i == 1, o.mem_req_valid_o == 1);
        let (ready, room) = (i.mem_req_ready_i == 1, i.row_room_i == 1);
        let passes = o.served_o != 0;
        let (load, store, atomic) = (passes && i.kind_i == 0, passes && i.kind_i == 1, passes && i.kind_i == 2);
        let (register, local) = (i.reg_valid_i == 1, i.local_i == 1);
        let left = i.lanes_i & !o.served_o;
        let answers = i.kind_i == 0 || i.kind_i == 2 && register;
        let free = !full || ready;
        let offset =
            |wanted: u8| set_lanes(o.served_o).any(|lane| o.row_valid_o == 1 && o.row_offset_o[lane] == wanted);
        let first = set_lanes(o.served_o).next().unwrap_or(0);
        let same = set_lanes(o.served_o).filter(|&lane| i.addr_i.0[lane] == i.addr_i.0[first]).count();
        vec![
            ("load with a register", load && register),
            ("load without a register", load && !register),
            ("store", store),
            ("atomic operation with a register", atomic && register),
            ("atomic operation without a register", atomic && !register),
            ("compare and swap", atomic && i.atomic_i == 12),
            ("load from local memory", load && local),
            ("store to local memory", store && local),
            ("bytes of local memory", passes && local && i.size_i == 0),
            ("local words of several lines", passes && local && left != 0),
            ("bytes", load && i.size_i == 0),
            ("bytes with a sign", load && i.size_i == 0 && i.signed_i == 1),
            ("two bytes", load && i.size_i == 1),
            ("two bytes with a sign", load && i.size_i == 1 && i.signed_i == 1),
            ("words", load && i.size_i == 2),
            ("all lanes in one line", o.served_o == u32::MAX),
            ("all lanes at one address", passes && same == LANES),
            ("one lane alone", o.served_o.is_power_of_two() && left != 0),
            ("several lanes, others left", o.served_o.count_ones() > 1 && left != 0),
            ("lanes of two lines take turns", o.served_o & left << 1 != 0 && left & o.served_o << 1 != 0),
            ("lanes in descending order", passes && i.addr_i.0[0] > i.addr_i.0[31] && i.lanes_i == u32::MAX),
            ("the last byte of a line", offset(127)),
            ("the last line", passes && !local && i.addr_i.0[first] >> 7 == u32::MAX >> 7),
            ("waits for a row alone", valid && answers && free && !room),
            ("waits for the register alone", valid && !free && room),
            ("waits for both", valid && answers && !free && !room),
            ("passes although there is no row", passes && !room),
            ("request replaced", passes && full),
            ("request taken, none follows", full && ready && !passes),
            ("request waits", full && !ready),
            ("last pass", o.row_valid_o == 1 && o.row_done_o == 1),
            ("not the last pass", o.row_valid_o == 1 && left != 0),
            ("last here, lanes left elsewhere", o.row_valid_o == 1 && left == 0 && o.row_done_o == 0),
            ("served after waiting", passes && self.waiting),
            ("withdrawn", self.waiting && !valid),
            ("reset with a request", full && i.rst_ni == 0),
            ("reset while a pass is performed", passes && i.rst_ni == 0),
        ]
    }
}

impl Cover for CoalescerCover {
    type In = CoalescerIn;
    type Out = CoalescerOut;
    type Probe = NoProbe<SmShape>;

    fn points(shape: &SmShape) -> Vec<&'static str> {
        let situations = Self::new(shape).situations(&CoalescerIn::zeroed(), &CoalescerOut::zeroed());
        situations.into_iter().map(|s| s.0).collect()
    }

    fn new(_: &SmShape) -> Self {
        Self { waiting: false }
    }

    fn observe(&mut self, i: &CoalescerIn, o: &CoalescerOut, _: &NoProbe<SmShape>, hit: &mut dyn FnMut(&'static str)) {
        self.situations(i, o).into_iter().filter(|s| s.1).for_each(|s| hit(s.0));
        self.waiting = i.valid_i == 1 && o.served_o == 0 && i.rst_ni == 1;
    }
}
