//! `hrf_drain`.

use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfDrain, HrfDrainIn, HrfDrainOut, HrfDrainProbe, HrfShape, MAX_BUFFER};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, Twin, lane_mask};
use crate::{Cover, Driver, Knob, Knobs};

/// Keeps a buffer that fills and is flushed, and a twin, to know what is offered.
pub(crate) struct DrainDriver {
    entries: u8,
    reset: Reset,
    twin: Twin<HrfDrain>,
    used: u8,
    flush: bool,
    drop: bool,
}

const FILL: usize = 0;
const FLUSH: usize = 1;
const DROP: usize = 2;
const TAKE: usize = 3;
const JUMP: usize = 4;
const PARTIAL: usize = 5;

impl Driver for DrainDriver {
    type In = HrfDrainIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "fill", doc: "an entry is taken", values: &[50, 500, 1000] },
        Knob { name: "flush", doc: "the warp gives up", values: &[10, 100, 1000] },
        Knob { name: "drop", doc: "as it has ended", values: &[0, 200, 800] },
        Knob { name: "take", doc: "the bank takes what is offered", values: &[50, 250, 1000] },
        Knob { name: "jump", doc: "any number of entries is taken at once", values: &[0, 300, 700] },
        Knob { name: "partial", doc: "an entry has not all lanes", values: &[0, 900] },
        Knob { values: &[0, 20, 80], ..RESET },
    ];

    fn new(shape: &HrfShape, _: &Config) -> Self {
        let entries = shape.buffer_entries as u8;
        Self { entries, reset: Reset::default(), twin: Twin::new(shape), used: 0, flush: false, drop: false }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut HrfDrainIn) {
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.get(6));
        if !self.flush && rng.chance(knobs.get(FLUSH)) {
            (self.flush, self.drop) = (true, rng.chance(knobs.get(DROP)));
        }
        (i.flush_i, i.drop_i, i.used_i) = (self.flush.into(), self.drop.into(), self.used);
        i.taken_i = (self.twin.out.valid_o == 1 && rng.chance(knobs.get(TAKE))).into();
        i.reg_i = rng.below(MAX_BUFFER as u64) as u8;
        i.lanes_i = lane_mask(rng, knobs.get(PARTIAL));
        self.twin.late(i);
        self.twin.clock(i);

        let out = &self.twin.out;
        if out.done_o == 1 {
            (self.flush, self.drop) = (false, false);
        }
        if out.empty_o == 1 || i.rst_ni == 0 {
            self.used = 0;
        } else if i.flush_i == 0 && rng.chance(knobs.get(FILL)) {
            let room = self.entries - self.used;
            let many = rng.chance(knobs.get(JUMP));
            self.used += match () {
                () if !many => room.min(1),
                () if rng.chance(500) => room,
                () => rng.below(u64::from(room) + 1) as u8,
            };
        }
        if i.rst_ni == 0 {
            (self.flush, self.drop) = (false, false);
        }
    }
}

pub(crate) struct DrainCover {
    entries: u8,
    /// In the cycle before a flush was done; the last entry was taken.
    done: bool,
    ended: bool,
    /// Cycles for which the entry offered has waited.
    waited: u32,
}

impl Cover for DrainCover {
    type In = HrfDrainIn;
    type Out = HrfDrainOut;
    type Probe = HrfDrainProbe;

    fn points(_: &HrfShape) -> Vec<&'static str> {
        vec![
            "a flush begins",
            "an empty buffer is flushed",
            "a buffer of one entry is flushed",
            "a full buffer is flushed",
            "a buffer is dropped",
            "an empty buffer is dropped",
            "a full buffer is dropped",
            "a flush begins behind another one at once",
            "the next entry is read as one is taken",
            "entries without a gap, the last one",
            "an entry waits for the bank",
            "an entry waits for four cycles",
            "the last entry waits for the bank",
            "the last entry is taken",
            "the last of all entries is taken",
            "a flush is done when the last entry has been taken",
            "an entry without lanes",
            "an entry of the last register",
            "the warp has nothing to flush yet",
            "an entry is read in reset",
            "reset in the middle of a drain",
        ]
    }

    fn new(shape: &HrfShape) -> Self {
        Self { entries: shape.buffer_entries as u8, done: false, ended: false, waited: 0 }
    }

    fn observe(&mut self, i: &HrfDrainIn, o: &HrfDrainOut, p: &HrfDrainProbe, hit: &mut dyn FnMut(&'static str)) {
        let (reset, flush, drop, begins) = (i.rst_ni == 0, i.flush_i == 1, i.drop_i == 1, o.begin_o == 1);
        let (offered, taken, reads) = (o.valid_o == 1, i.taken_i == 1, o.read_o == 1);
        let (full, empty) = (i.used_i == self.entries, i.used_i == 0);
        let last = offered && p.next_q == i.used_i;
        let waits = offered && !taken;
        let points = [
            ("a flush begins", begins && !drop && !empty),
            ("an empty buffer is flushed", begins && !drop && empty),
            ("a buffer of one entry is flushed", begins && !drop && i.used_i == 1),
            ("a full buffer is flushed", begins && !drop && full),
            ("a buffer is dropped", begins && drop && !empty),
            ("an empty buffer is dropped", begins && drop && empty),
            ("a full buffer is dropped", begins && drop && full),
            ("a flush begins behind another one at once", begins && self.done),
            ("the next entry is read as one is taken", reads && taken),
            ("entries without a gap, the last one", last && taken && self.waited == 0),
            ("an entry waits for the bank", waits),
            ("an entry waits for four cycles", offered && self.waited == 4),
            ("the last entry waits for the bank", last && waits),
            ("the last entry is taken", last && taken),
            ("the last of all entries is taken", last && taken && full),
            ("a flush is done when the last entry has been taken", o.done_o == 1 && self.ended),
            ("an entry without lanes", offered && p.lanes_q == 0),
            ("an entry of the last register", offered && usize::from(p.reg_q) + 1 == MAX_BUFFER),
            ("the warp has nothing to flush yet", !flush && empty),
            ("an entry is read in reset", reset && reads),
            ("reset in the middle of a drain", reset && offered && !last),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
        (self.done, self.ended) = (o.done_o == 1 && !reset, last && taken && !reset);
        self.waited = if waits { self.waited + 1 } else { 0 };
    }
}
