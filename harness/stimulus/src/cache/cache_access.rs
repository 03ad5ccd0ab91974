//! `cache_access`.

use gpurf_blocks::cache::{CacheAccess, CacheAccessIn, CacheAccessOut, CacheAccessProbe};
use gpurf_blocks::config::Config;
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use super::row::{LINE_BYTES, Row};
use crate::driver::{Names, Reset, Twin};
use crate::memory::lanes::set_lanes;
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<CacheAccess, CacheAccessDriver, CacheAccessCover>();

/// Knows by a twin what C is about to do.
pub(crate) struct CacheAccessDriver {
    reset: Reset,
    twin: Twin<CacheAccess>,
    entries: Names,
    loads: u64,
}

knobs! {
    pub(crate) struct CacheAccessKnobs {
        hit: "a hit is offered" = [100, 700, 1000, 1000],
        store: "it is a store" = [0, 300, 700, 1000],
        fill: "a line comes" = [0, 100, 700],
        ready: "a result is taken" = [50, 500, 1000, 1000],
        partial: "lanes do not take part" = [0, 500, 900],
        reset,
    }
}

impl Driver for CacheAccessDriver {
    type In = CacheAccessIn;
    type Knobs = CacheAccessKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self {
            reset: Reset::default(),
            twin: Twin::new(shape),
            entries: Names::new(4, shape.lines() as u64),
            loads: shape.line_rows as u64,
        }
    }

    fn unreached(_: &SmShape, _: &Config) -> Vec<Unreached> {
        vec![Unreached::bits("in_row_i", 0..=0, "atomic operations are not performed here")]
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &CacheAccessKnobs, i: &mut CacheAccessIn) {
        self.twin.early();
        self.entries.renew(rng);
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.in_valid_i = rng.chance(knobs.hit).into();
        if i.in_valid_i == 1 {
            i.in_store_i = rng.chance(knobs.store).into();
            i.in_entry_i = self.entries.draw(rng) as u16;
            let row = Row::of_line(rng, knobs.partial, None);
            if i.in_store_i == 1 {
                (i.in_mask_i, i.in_size_i, i.in_offset_i) = (row.mask, row.size, row.offset);
                rng.fill(&mut i.in_data_i.0);
            } else {
                (i.in_row_i.0, i.in_load_i) = (row.words(), rng.below(self.loads) as u8);
            }
        }
        let out = &self.twin.out;
        i.fill_entry_i = self.entries.draw(rng) as u16;
        let elsewhere = out.pin_valid_o == 0 || out.pin_entry_o != i.fill_entry_i;
        i.fill_valid_i = (out.write_o == 0 && elsewhere && rng.chance(knobs.fill)).into();
        if i.fill_valid_i == 1 {
            rng.fill(&mut i.fill_data_i.0);
        }
        i.push_ready_i = rng.chance(knobs.ready).into();
        self.twin.late(i);
        self.twin.clock(i);
    }
}

/// What wrote a word last.
#[derive(Clone, Copy, PartialEq)]
enum Writer {
    Nothing,
    Fill,
    Store,
}

pub(crate) struct CacheAccessCover {
    /// What wrote each entry last, and at the edge before.
    writer: Vec<Writer>,
    latest: Option<(Writer, u16)>,
    /// The hit in C, and in D.
    access: Option<CacheAccessIn>,
    line: Option<CacheAccessIn>,
}

#[cover]
impl CacheAccessCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { writer: vec![Writer::Nothing; shape.lines()], latest: None, access: None, line: None }
    }

    fn observe(&mut self, i: &CacheAccessIn, o: &CacheAccessOut, _: &CacheAccessProbe, points: &mut Points) {
        self.offered(i, o, points);
        self.performed(i, o, points);
        self.lanes(points);
        let pushed = o.push_valid_o == 1 && i.push_ready_i == 1;
        let reads = self.reads(i, o);
        self.latest = None;
        if let Some(store) = self.access.as_ref().filter(|_| o.write_o == 1) {
            self.latest = Some((Writer::Store, store.in_entry_i));
        } else if i.fill_valid_i == 1 {
            self.latest = Some((Writer::Fill, i.fill_entry_i));
        }
        if let Some((writer, entry)) = self.latest {
            self.writer[usize::from(entry)] = writer;
        }
        if reads {
            self.line = self.access;
        } else if pushed {
            self.line = None;
        }
        if o.in_ready_o == 1 {
            self.access = (i.in_valid_i == 1).then_some(*i);
        }
        if i.rst_ni == 0 {
            (self.access, self.line) = (None, None);
        }
    }

    /// The load in C goes to D.
    fn reads(&self, i: &CacheAccessIn, o: &CacheAccessOut) -> bool {
        o.pin_valid_o == 1 && o.write_o == 0 && (o.push_valid_o == 0 || i.push_ready_i == 1)
    }

    fn offered(&self, i: &CacheAccessIn, o: &CacheAccessOut, points: &mut Points) {
        let (offered, taken) = (i.in_valid_i == 1, i.in_valid_i == 1 && o.in_ready_o == 1);
        let (store, load) = (i.in_store_i == 1, i.in_store_i == 0);
        let full = o.pin_valid_o == 1;
        let same = full && o.pin_entry_o == i.in_entry_i;
        let fills = i.fill_valid_i == 1;
        point!("a load into an empty stage", taken && load && !full);
        point!("a store into an empty stage", taken && store && !full);
        point!("a load behind a store of its line", taken && load && o.write_o == 1 && same);
        point!("a load behind a store of another line", taken && load && o.write_o == 1 && !same);
        point!("a store behind a load of its line", taken && store && full && o.write_o == 0 && same);
        point!("a store behind a store of its line", taken && store && o.write_o == 1 && same);
        point!("a load behind a load", taken && load && full && o.write_o == 0);
        point!("a hit is not taken", offered && !taken);
        point!("a hit as its line comes", taken && fills && i.in_entry_i == i.fill_entry_i);
        point!("a line comes to an empty stage", fills && !full);
        point!("a line comes as a load reads", fills && self.reads(i, o));
        point!("a line comes as a load waits", fills && full && !self.reads(i, o));
        point!(
            "a line comes to the entry that is in D",
            fills && self.line.as_ref().is_some_and(|line| line.in_entry_i == i.fill_entry_i)
        );
        point!("a load waits for D", full && o.write_o == 0 && !self.reads(i, o));
        point!("a store writes while D waits", o.write_o == 1 && o.push_valid_o == 1 && i.push_ready_i == 0);
        point!(
            "a store to the line that waits in D",
            o.write_o == 1
                && i.push_ready_i == 0
                && self.line.as_ref().is_some_and(|line| line.in_entry_i == o.pin_entry_o)
        );
        point!("D is full for the first time", self.reads(i, o) && o.push_valid_o == 0);
        point!("the line in D is replaced", self.reads(i, o) && o.push_valid_o == 1);
        point!("a result is taken, none follows", o.push_valid_o == 1 && i.push_ready_i == 1 && !self.reads(i, o));
        point!("a result waits", o.push_valid_o == 1 && i.push_ready_i == 0);
        point!("ready without a result", o.push_valid_o == 0 && i.push_ready_i == 1);
        let reset = i.rst_ni == 0;
        point!("reset with C and D full", reset && full && o.push_valid_o == 1);
        point!("a store writes under reset", reset && o.write_o == 1);
        point!("a line comes under reset", reset && fills);
        point!("a hit is offered under reset", reset && offered);
    }

    fn performed(&self, i: &CacheAccessIn, o: &CacheAccessOut, points: &mut Points) {
        let Some(entry) = self.reads(i, o).then_some(o.pin_entry_o) else { return };
        let writer = self.writer[usize::from(entry)];
        point!("a line is read that has come", writer == Writer::Fill);
        point!("a line is read that a store has changed", writer == Writer::Store);
        point!("a line is read that came at the edge before", self.latest == Some((Writer::Fill, entry)));
        point!("a line is read that changed at the edge before", self.latest == Some((Writer::Store, entry)));
        point!("a line is read as another one comes", i.fill_valid_i == 1);
    }

    fn lanes(&self, points: &mut Points) {
        if let Some(store) = self.access.as_ref().filter(|access| access.in_store_i == 1) {
            let (size, offset) = (store.in_size_i, &store.in_offset_i);
            let lanes = || set_lanes(store.in_mask_i);
            let differ = |a: usize, b: usize| (store.in_data_i.0[a] ^ store.in_data_i.0[b]) & 0xff != 0;
            let meets = |a: usize, b: usize| offset[a] == offset[b] && differ(a, b);
            let several = lanes().zip(lanes().skip(1)).any(|(a, b)| meets(a, b));
            let neighbours =
                lanes().zip(lanes().skip(1)).any(|(a, b)| offset[a] / 4 == offset[b] / 4 && offset[a] != offset[b]);
            point!("a store of bytes", size == 0);
            point!("a store of halves", size == 1);
            point!("a store of words", size == 2);
            point!("a store of the last byte", lanes().any(|lane| offset[lane] + (1 << size) == LINE_BYTES));
            point!("a store of the first byte", lanes().any(|lane| offset[lane] == 0));
            point!("a store of an odd byte", size == 0 && lanes().any(|lane| offset[lane] % 2 == 1));
            point!("a store of an upper half", size == 1 && lanes().any(|lane| offset[lane] % 4 == 2));
            point!("several lanes store to one place", several);
            point!("several lanes store to parts of a word", neighbours);
            point!("one lane stores", store.in_mask_i.is_power_of_two());
            point!("all lanes store", store.in_mask_i == u32::MAX);
        }
        if let Some(line) = &self.line {
            let row = Row::of_words(&line.in_row_i.0);
            let reg = row.reg.is_some();
            point!("a load of bytes, zero above", reg && row.size == 0 && !row.signed);
            point!("a load of bytes, with sign", reg && row.size == 0 && row.signed);
            point!("a load of halves, zero above", reg && row.size == 1 && !row.signed);
            point!("a load of halves, with sign", reg && row.size == 1 && row.signed);
            point!("a load of words", reg && row.size == 2);
            point!("a load of the last byte", reg && row.end() == LINE_BYTES);
            point!("a load of some lanes", reg && row.mask != u32::MAX);
            point!("a load without a register", !reg);
        }
    }
}
