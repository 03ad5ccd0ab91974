//! `hrf_buffer`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfBufferIn, HrfBufferOut, HrfBufferProbe, HrfShape, MAX_BUFFER};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, lane_mask};
use crate::{Cover, Driver, Knob, Knobs};

/// Keeps how many entries are in use.
pub(crate) struct BufferDriver {
    entries: u8,
    reset: Reset,
    used: u8,
    /// The entry that was written last.
    last: u8,
}

const WRITE: usize = 0;
const NEW: usize = 1;
const READ: usize = 2;
const DRAIN: usize = 3;
const EMPTY: usize = 4;
const NEAR: usize = 5;
const PARTIAL: usize = 6;

impl Driver for BufferDriver {
    type In = HrfBufferIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "write", doc: "a result is written", values: &[100, 950, 1000] },
        Knob { name: "new", doc: "it takes a new entry, where there is one", values: &[100, 950, 1000] },
        Knob { name: "read", doc: "a port reads for an operand", values: &[100, 500, 900] },
        Knob { name: "drain", doc: "a drain reads", values: &[0, 0, 500, 1000] },
        Knob { name: "empty", doc: "all entries become free", values: &[0, 2, 10, 200] },
        Knob { name: "near", doc: "an entry is the one written last", values: &[0, 300, 700] },
        Knob { name: "partial", doc: "lanes are not written", values: &[0, 900] },
        RESET,
    ];

    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { entries: shape.buffer_entries as u8, reset: Reset::default(), used: 0, last: 0 }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut HrfBufferIn) {
        i.rst_ni = self.reset.next(rng, knobs.get(7));
        let used = self.used;
        i.look_index_i = std::array::from_fn(|_| self.entry(rng, knobs, self.entries));
        (i.read_i, i.drain_read_i) = (0, 0);
        if used != 0 {
            i.read_i = rng.mask(OPERANDS as u32, knobs.get(READ)) as u8;
            i.read_index_i = std::array::from_fn(|_| self.entry(rng, knobs, used));
            i.drain_read_i = rng.chance(knobs.get(DRAIN)).into();
            i.drain_index_i = self.entry(rng, knobs, used);
            // Port 0 serves one of them.
            i.read_i &= !i.drain_read_i;
        }
        let new = used < self.entries && (used == 0 || rng.chance(knobs.get(NEW)));
        i.write_valid_i = rng.chance(knobs.get(WRITE)).into();
        i.write_new_i = new.into();
        if i.write_valid_i == 1 {
            i.write_index_i = if new { used } else { self.entry(rng, knobs, used) };
            i.write_reg_i = rng.below(MAX_BUFFER as u64) as u8;
            i.write_mask_i = lane_mask(rng, knobs.get(PARTIAL));
            rng.fill(&mut i.write_data_i.0);
            self.last = i.write_index_i;
            self.used += u8::from(new);
        }
        i.empty_i = rng.chance(knobs.get(EMPTY)).into();
        if i.empty_i == 1 || i.rst_ni == 0 {
            self.used = 0;
        }
    }
}

impl BufferDriver {
    /// An entry below `end`, often the one that was written last.
    fn entry(&self, rng: &mut Rng, knobs: &Knobs, end: u8) -> u8 {
        let near = self.last < end && rng.chance(knobs.get(NEAR));
        if near { self.last } else { rng.below(end.into()) as u8 }
    }
}

pub(crate) struct BufferCover {
    entries: u8,
    /// Lanes of each entry, of those too that are not in use any more.
    lanes: [u32; MAX_BUFFER],
    /// The write of the cycle before: its entry.
    written: Option<u8>,
}

impl Cover for BufferCover {
    type In = HrfBufferIn;
    type Out = HrfBufferOut;
    type Probe = HrfBufferProbe;

    fn points(_: &HrfShape) -> Vec<&'static str> {
        vec![
            "the first entry is taken",
            "the last entry is taken",
            "a new entry, which had other lanes before",
            "a new entry without lanes",
            "an entry gains lanes",
            "an entry is written in lanes that it has",
            "a result without lanes to an old entry",
            "all entries are in use",
            "an old entry is written while all are in use",
            "all three ports read",
            "two ports read one entry",
            "ports read three entries",
            "a read of what is written at the same edge",
            "a read of what was written at the edge before",
            "lanes are looked for as they change",
            "the last entry is read",
            "a drain reads",
            "a drain reads beside both other ports",
            "a drain reads what is written at the same edge",
            "a drain reads the last entry",
            "empty: some entries were in use",
            "empty: all entries were in use",
            "empty: none was in use",
            "empty as a new entry is taken",
            "a result is offered in reset",
            "a port would read in reset",
            "reset under load",
        ]
    }

    fn new(shape: &HrfShape) -> Self {
        Self { entries: shape.buffer_entries as u8, lanes: [0; MAX_BUFFER], written: None }
    }

    fn observe(&mut self, i: &HrfBufferIn, _: &HrfBufferOut, p: &HrfBufferProbe, hit: &mut dyn FnMut(&'static str)) {
        let (reset, write, empty) = (i.rst_ni == 0, i.write_valid_i == 1, i.empty_i == 1);
        let (new, full, drain) = (write && i.write_new_i == 1, p.used_q == self.entries, i.drain_read_i == 1);
        let (old, last) = (write && !new, self.entries - 1);
        let index: Vec<u8> = (0..OPERANDS).filter(|k| i.read_i >> k & 1 == 1).map(|k| i.read_index_i[k]).collect();
        let had = self.lanes[usize::from(i.write_index_i)];
        let double = (1..index.len()).any(|k| index[..k].contains(&index[k]));
        let points = [
            ("the first entry is taken", new && i.write_index_i == 0),
            ("the last entry is taken", new && i.write_index_i == last),
            ("a new entry, which had other lanes before", new && had & !i.write_mask_i != 0),
            ("a new entry without lanes", new && i.write_mask_i == 0),
            ("an entry gains lanes", old && i.write_mask_i & !had != 0),
            ("an entry is written in lanes that it has", old && i.write_mask_i & had != 0),
            ("a result without lanes to an old entry", old && i.write_mask_i == 0),
            ("all entries are in use", full),
            ("an old entry is written while all are in use", full && old),
            ("all three ports read", index.len() == OPERANDS),
            ("two ports read one entry", double),
            ("ports read three entries", index.len() == OPERANDS && !double),
            ("a read of what is written at the same edge", write && index.contains(&i.write_index_i)),
            ("a read of what was written at the edge before", self.written.is_some_and(|w| index.contains(&w))),
            ("lanes are looked for as they change", write && i.look_index_i.contains(&i.write_index_i)),
            ("the last entry is read", index.contains(&last)),
            ("a drain reads", drain),
            ("a drain reads beside both other ports", drain && index.len() == OPERANDS - 1),
            ("a drain reads what is written at the same edge", drain && write && i.drain_index_i == i.write_index_i),
            ("a drain reads the last entry", drain && i.drain_index_i == last),
            ("empty: some entries were in use", empty && p.used_q != 0 && !full),
            ("empty: all entries were in use", empty && full),
            ("empty: none was in use", empty && p.used_q == 0),
            ("empty as a new entry is taken", empty && new),
            ("a result is offered in reset", reset && write),
            ("a port would read in reset", reset && !index.is_empty()),
            ("reset under load", reset && p.used_q > 1),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
        if write && !reset {
            let lanes = &mut self.lanes[usize::from(i.write_index_i)];
            *lanes = if new { i.write_mask_i } else { *lanes | i.write_mask_i };
        }
        self.written = (write && !reset).then_some(i.write_index_i);
    }
}
