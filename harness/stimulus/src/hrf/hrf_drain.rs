//! `hrf_drain`.

use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfDrain, HrfDrainIn, HrfDrainOut, HrfDrainProbe, HrfShape, MAX_BUFFER};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, Twin, lane_mask};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<HrfDrain, DrainDriver, DrainCover>();

/// Driver of `hrf_drain`: a buffer that fills and is flushed. A twin tells what is offered.
pub(crate) struct DrainDriver {
    entries: u8,
    reset: Reset,
    twin: Twin<HrfDrain>,
    used: u8,
    flush: bool,
    drop: bool,
}

knobs! {
    pub(crate) struct DrainKnobs {
        fill: "an entry is taken" = [50, 500, 1000],
        flush: "the warp gives up" = [10, 100, 1000],
        drop: "as it has ended" = [0, 200, 800],
        take: "the bank takes what is offered" = [50, 250, 1000],
        jump: "any number of entries is taken at once" = [0, 300, 700],
        partial: "an entry has not all lanes" = [0, 900],
        reset = [0, 20, 80],
    }
}

impl Driver for DrainDriver {
    type In = HrfDrainIn;
    type Knobs = DrainKnobs;

    fn new(shape: &HrfShape, _: &Config) -> Self {
        let entries = shape.buffer_entries as u8;
        Self { entries, reset: Reset::default(), twin: Twin::new(shape), used: 0, flush: false, drop: false }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &DrainKnobs, i: &mut HrfDrainIn) {
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.reset);
        if !self.flush && rng.chance(knobs.flush) {
            (self.flush, self.drop) = (true, rng.chance(knobs.drop));
        }
        (i.flush_i, i.drop_i, i.used_i) = (self.flush.into(), self.drop.into(), self.used);
        i.taken_i = (self.twin.out.valid_o == 1 && rng.chance(knobs.take)).into();
        i.reg_i = rng.below(MAX_BUFFER as u64) as u8;
        i.lanes_i = lane_mask(rng, knobs.partial);
        self.twin.late(i);
        self.twin.clock(i);

        let out = &self.twin.out;
        if out.done_o == 1 {
            (self.flush, self.drop) = (false, false);
        }
        if out.empty_o == 1 || i.rst_ni == 0 {
            self.used = 0;
        } else if i.flush_i == 0 && rng.chance(knobs.fill) {
            let room = self.entries - self.used;
            let many = rng.chance(knobs.jump);
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
    /// Whether a flush was done in the previous cycle, and whether the last entry was taken in it.
    done: bool,
    ended: bool,
    /// Cycles for which the entry offered has waited.
    waited: u32,
}

#[cover]
impl DrainCover {
    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { entries: shape.buffer_entries as u8, done: false, ended: false, waited: 0 }
    }

    fn observe(&mut self, i: &HrfDrainIn, o: &HrfDrainOut, p: &HrfDrainProbe, points: &mut Points) {
        let (reset, flush, drop, begins) = (i.rst_ni == 0, i.flush_i == 1, i.drop_i == 1, o.begin_o == 1);
        let (offered, taken, reads) = (o.valid_o == 1, i.taken_i == 1, o.read_o == 1);
        let (full, empty) = (i.used_i == self.entries, i.used_i == 0);
        let last = offered && p.next_q == i.used_i;
        let waits = offered && !taken;
        point!("a flush begins", begins && !drop && !empty);
        point!("an empty buffer is flushed", begins && !drop && empty);
        point!("a buffer of one entry is flushed", begins && !drop && i.used_i == 1);
        point!("a full buffer is flushed", begins && !drop && full);
        point!("a buffer is dropped", begins && drop && !empty);
        point!("an empty buffer is dropped", begins && drop && empty);
        point!("a full buffer is dropped", begins && drop && full);
        point!("a flush begins directly after another one", begins && self.done);
        point!("the next entry is read as one is taken", reads && taken);
        point!("entries without a gap, the last one", last && taken && self.waited == 0);
        point!("an entry waits for the bank", waits);
        point!("an entry waits for four cycles", offered && self.waited == 4);
        point!("the last entry waits for the bank", last && waits);
        point!("the last entry is taken", last && taken);
        point!("the last of all entries is taken", last && taken && full);
        point!("a flush is done when the last entry has been taken", o.done_o == 1 && self.ended);
        point!("an entry without lanes", offered && p.lanes_q == 0);
        point!("an entry of the last register", offered && usize::from(p.reg_q) + 1 == MAX_BUFFER);
        point!("the warp has nothing to flush yet", !flush && empty);
        point!("an entry is read in reset", reset && reads);
        point!("reset in the middle of a drain", reset && offered && !last);

        (self.done, self.ended) = (o.done_o == 1 && !reset, last && taken && !reset);
        self.waited = if waits { self.waited + 1 } else { 0 };
    }
}
