//! `hrf_buffer`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfBuffer, HrfBufferIn, HrfBufferOut, HrfBufferProbe, HrfShape, MAX_BUFFER};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, lane_mask};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<HrfBuffer, BufferDriver, BufferCover>();

/// Driver of `hrf_buffer`. It keeps the number of entries in use.
pub(crate) struct BufferDriver {
    entries: u8,
    reset: Reset,
    used: u8,
    /// The entry that was written last.
    last: u8,
}

knobs! {
    pub(crate) struct BufferKnobs {
        write: "a result is written" = [100, 950, 1000],
        new: "it takes a new entry, where there is one" = [100, 950, 1000],
        read: "a port reads for an operand" = [100, 500, 900],
        drain: "a drain reads" = [0, 0, 500, 1000],
        empty: "all entries become free" = [0, 2, 10, 200],
        near: "an entry is the one written last" = [0, 300, 700],
        partial: "lanes are not written" = [0, 900],
        reset,
    }
}

impl Driver for BufferDriver {
    type In = HrfBufferIn;
    type Knobs = BufferKnobs;

    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { entries: shape.buffer_entries as u8, reset: Reset::default(), used: 0, last: 0 }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &BufferKnobs, i: &mut HrfBufferIn) {
        i.rst_ni = self.reset.next(rng, knobs.reset);
        let used = self.used;
        i.look_index_i = std::array::from_fn(|_| self.entry(rng, knobs, self.entries));
        (i.read_i, i.drain_read_i) = (0, 0);
        if used != 0 {
            i.read_i = rng.mask(OPERANDS as u32, knobs.read) as u8;
            i.read_index_i = std::array::from_fn(|_| self.entry(rng, knobs, used));
            i.drain_read_i = rng.chance(knobs.drain).into();
            i.drain_index_i = self.entry(rng, knobs, used);
            // Port 0 serves one of them.
            i.read_i &= !i.drain_read_i;
        }
        let new = used < self.entries && (used == 0 || rng.chance(knobs.new));
        i.write_valid_i = rng.chance(knobs.write).into();
        i.write_new_i = new.into();
        if i.write_valid_i == 1 {
            i.write_index_i = if new { used } else { self.entry(rng, knobs, used) };
            i.write_reg_i = rng.below(MAX_BUFFER as u64) as u8;
            i.write_mask_i = lane_mask(rng, knobs.partial);
            rng.fill(&mut i.write_data_i.0);
            self.last = i.write_index_i;
            self.used += u8::from(new);
        }
        i.empty_i = rng.chance(knobs.empty).into();
        if i.empty_i == 1 || i.rst_ni == 0 {
            self.used = 0;
        }
    }
}

impl BufferDriver {
    /// An entry below `end`, often the one that was written last.
    fn entry(&self, rng: &mut Rng, knobs: &BufferKnobs, end: u8) -> u8 {
        let near = self.last < end && rng.chance(knobs.near);
        if near { self.last } else { rng.below(end.into()) as u8 }
    }
}

pub(crate) struct BufferCover {
    entries: u8,
    /// Lanes of each entry, also of entries that are no longer in use.
    lanes: [u32; MAX_BUFFER],
    /// Entry of the write of the previous cycle.
    written: Option<u8>,
}

#[cover]
impl BufferCover {
    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { entries: shape.buffer_entries as u8, lanes: [0; MAX_BUFFER], written: None }
    }

    fn observe(&mut self, i: &HrfBufferIn, _: &HrfBufferOut, p: &HrfBufferProbe, points: &mut Points) {
        let (reset, write, empty) = (i.rst_ni == 0, i.write_valid_i == 1, i.empty_i == 1);
        let (new, full, drain) = (write && i.write_new_i == 1, p.used_q == self.entries, i.drain_read_i == 1);
        let (old, last) = (write && !new, self.entries - 1);
        let index: Vec<u8> = (0..OPERANDS).filter(|k| i.read_i >> k & 1 == 1).map(|k| i.read_index_i[k]).collect();
        let had = self.lanes[usize::from(i.write_index_i)];
        let double = (1..index.len()).any(|k| index[..k].contains(&index[k]));
        point!("the first entry is taken", new && i.write_index_i == 0);
        point!("the last entry is taken", new && i.write_index_i == last);
        point!("a new entry, which had other lanes before", new && had & !i.write_mask_i != 0);
        point!("a new entry without lanes", new && i.write_mask_i == 0);
        point!("an entry gains lanes", old && i.write_mask_i & !had != 0);
        point!("an entry is written in lanes that it has", old && i.write_mask_i & had != 0);
        point!("a result without lanes to an old entry", old && i.write_mask_i == 0);
        point!("all entries are in use", full);
        point!("an old entry is written while all are in use", full && old);
        point!("all three ports read", index.len() == OPERANDS);
        point!("two ports read one entry", double);
        point!("ports read three entries", index.len() == OPERANDS && !double);
        point!("a read of what is written at the same edge", write && index.contains(&i.write_index_i));
        point!("a read of what was written at the edge before", self.written.is_some_and(|w| index.contains(&w)));
        point!("lanes are looked for as they change", write && i.look_index_i.contains(&i.write_index_i));
        point!("the last entry is read", index.contains(&last));
        point!("a drain reads", drain);
        point!("a drain reads beside both other ports", drain && index.len() == OPERANDS - 1);
        point!("a drain reads what is written at the same edge", drain && write && i.drain_index_i == i.write_index_i);
        point!("a drain reads the last entry", drain && i.drain_index_i == last);
        point!("empty: some entries were in use", empty && p.used_q != 0 && !full);
        point!("empty: all entries were in use", empty && full);
        point!("empty: none was in use", empty && p.used_q == 0);
        point!("empty as a new entry is taken", empty && new);
        point!("a result is offered in reset", reset && write);
        point!("a port would read in reset", reset && !index.is_empty());
        point!("reset under load", reset && p.used_q > 1);

        if write && !reset {
            let lanes = &mut self.lanes[usize::from(i.write_index_i)];
            *lanes = if new { i.write_mask_i } else { *lanes | i.write_mask_i };
        }
        self.written = (write && !reset).then_some(i.write_index_i);
    }
}
