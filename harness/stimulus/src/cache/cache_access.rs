//! `cache_access`.

use gpurf_blocks::WarpData;
use gpurf_blocks::cache::{CacheAccess, CacheAccessIn, CacheAccessOut, CacheAccessProbe};
use gpurf_blocks::config::Config;
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::unified::COLUMNS;
use gpurf_lockstep::Rng;

use super::row::{LINE_BYTES, Row};
use crate::driver::{Names, Reset, Twin};
use crate::memory::lanes::set_lanes;
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<CacheAccess, CacheAccessDriver, CacheAccessCover>();

/// Driver of `cache_access`. A twin tells what stage C is about to do.
pub(crate) struct CacheAccessDriver {
    reset: Reset,
    twin: Twin<CacheAccess>,
    entries: Names,
    loads: u64,
    unified: bool,
    /// Whether a line was read in the unified banks at the previous clock edge.
    read: bool,
}

knobs! {
    pub(crate) struct CacheAccessKnobs {
        hit: "a hit is offered" = [100, 700, 1000, 1000],
        store: "it is a store" = [0, 300, 700, 1000],
        fill: "a line comes" = [0, 100, 700],
        ready: "a result is taken" = [50, 500, 1000, 1000],
        partial: "lanes do not take part" = [0, 500, 900],
        read_free: "no register is read in a column" = [50, 500, 1000],
        write_free: "no register is written in a column" = [50, 500, 1000],
        other: "others read in the banks" = [100, 1000],
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
            unified: shape.unified(),
            read: false,
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
        if self.unified {
            self.columns(rng, knobs, i);
        }
        let out = &self.twin.out;
        i.fill_entry_i = self.entries.draw(rng) as u16;
        let elsewhere = out.pin_valid_o == 0 || out.pin_entry_o != i.fill_entry_i;
        // A line comes only if its column is free.
        let free = !self.unified || is_free(i.write_ready_i, i.fill_entry_i);
        i.fill_valid_i = (out.write_o == 0 && elsewhere && free && rng.chance(knobs.fill)).into();
        if i.fill_valid_i == 1 {
            rng.fill(&mut i.fill_data_i.0);
        }
        i.push_ready_i = rng.chance(knobs.ready).into();
        self.twin.late(i);
        self.read =
            self.unified && self.twin.out.ram_read_o == 1 && is_free(i.read_ready_i, self.twin.out.ram_read_entry_o);
        self.twin.clock(i);
    }
}

impl CacheAccessDriver {
    /// Drives the columns that registers leave free, and the data that the banks return: a line after a read, then the data of other reads.
    fn columns(&self, rng: &mut Rng, knobs: &CacheAccessKnobs, i: &mut CacheAccessIn) {
        i.read_ready_i = rng.mask(COLUMNS as u32, knobs.read_free) as u8;
        i.write_ready_i = rng.mask(COLUMNS as u32, knobs.write_free) as u8;
        if self.read || rng.chance(knobs.other) {
            rng.fill(&mut i.data_i.0);
        }
    }
}

/// Whether the column of an entry is free.
pub(super) fn is_free(ready: u8, entry: u16) -> bool {
    ready >> (usize::from(entry) % COLUMNS) & 1 == 1
}

/// What wrote a word last.
#[derive(Clone, Copy, PartialEq)]
enum Writer {
    Nothing,
    Fill,
    Store,
}

pub(crate) struct CacheAccessCover {
    /// What wrote each entry last, and the write at the previous clock edge.
    writer: Vec<Writer>,
    latest: Option<(Writer, u16)>,
    /// The hit in stage C, and the hit in stage D.
    access: Option<CacheAccessIn>,
    line: Option<CacheAccessIn>,
    unified: bool,
    /// With unified memory: the data that the banks returned for the line in D; whether it was read at the previous clock edge; and whether the hit
    /// in C has waited for its column.
    shown: Option<WarpData>,
    fresh: bool,
    waited: bool,
}

#[cover]
impl CacheAccessCover {
    const COLUMN: [&str; COLUMNS] = ["0", "1", "2", "3"];

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self {
            writer: vec![Writer::Nothing; shape.lines()],
            latest: None,
            access: None,
            line: None,
            unified: shape.unified(),
            shown: None,
            fresh: false,
            waited: false,
        }
    }

    fn observe(&mut self, i: &CacheAccessIn, o: &CacheAccessOut, _: &CacheAccessProbe, points: &mut Points) {
        self.offered(i, o, points);
        self.performed(i, o, points);
        self.lanes(points);
        if self.unified {
            self.columns(i, o, points);
            if self.fresh {
                self.shown = Some(i.data_i);
            }
            let waits = o.pin_valid_o == 1 && !self.column_is_free(i, o);
            self.waited = i.rst_ni == 1 && o.in_ready_o == 0 && (waits || self.waited);
        }
        let pushed = o.push_valid_o == 1 && i.push_ready_i == 1;
        let reads = self.reads(i, o);
        self.latest = None;
        if let Some(store) = self.access.as_ref().filter(|_| self.writes(i, o)) {
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
        self.fresh = reads && i.rst_ni == 1;
    }

    /// Whether the column of the hit in C is free.
    fn column_is_free(&self, i: &CacheAccessIn, o: &CacheAccessOut) -> bool {
        let ready = if o.write_o == 1 { i.write_ready_i } else { i.read_ready_i };
        !self.unified || is_free(ready, o.pin_entry_o)
    }

    /// Whether the load in C goes to D.
    fn reads(&self, i: &CacheAccessIn, o: &CacheAccessOut) -> bool {
        let free = o.push_valid_o == 0 || i.push_ready_i == 1;
        o.pin_valid_o == 1 && o.write_o == 0 && free && self.column_is_free(i, o)
    }

    /// Whether the store in C writes.
    fn writes(&self, i: &CacheAccessIn, o: &CacheAccessOut) -> bool {
        o.write_o == 1 && self.column_is_free(i, o)
    }

    #[given(self.unified)]
    fn columns(&self, i: &CacheAccessIn, o: &CacheAccessOut, points: &mut Points) {
        let (store, load) = (o.write_o == 1, o.pin_valid_o == 1 && o.write_o == 0);
        let column = usize::from(o.pin_entry_o) % COLUMNS;
        let others = |ready: u8| ready | 1 << column == 0xf;
        let free = self.column_is_free(i, o);
        let place = o.push_valid_o == 0 || i.push_ready_i == 1;
        let (offered, taken) = (i.in_valid_i == 1, i.in_valid_i == 1 && o.in_ready_o == 1);
        let (pushed, reset) = (o.push_valid_o == 1 && i.push_ready_i == 1, i.rst_ni == 0);
        let held = o.push_valid_o == 1 && !self.fresh;
        let register = o.push_reg_valid_o == 1;
        let changed = held && register && self.shown.is_some_and(|line| line.0 != i.data_i.0);
        let fills = i.fill_valid_i == 1;
        point!("a load waits for its column", load && place && !free);
        point!(
            "a load waits for its column, and all others are free",
            load && place && others(i.read_ready_i) && !free
        );
        point!("a load waits for D, its column is free", load && !place && free);
        point!("a load waits for D and for its column", load && !place && !free);
        point!(
            "a load waits for a column that is free for a write",
            load && place && !free && is_free(i.write_ready_i, o.pin_entry_o)
        );
        point!(
            "a load reads in a column that is not free for a write",
            load && place && free && !is_free(i.write_ready_i, o.pin_entry_o)
        );
        point!("a load has waited for its column", self.waited && self.reads(i, o));
        point!("a store waits for its column", store && !free);
        point!("a store waits for its column, and all others are free", store && !free && others(i.write_ready_i));
        point!(
            "a store waits for a column that is free for a read",
            store && !free && is_free(i.read_ready_i, o.pin_entry_o)
        );
        point!(
            "a store writes in a column that is not free for a read",
            store && free && !is_free(i.read_ready_i, o.pin_entry_o)
        );
        point!("a store has waited for its column", self.waited && self.writes(i, o));
        point!("a hit is not taken, a load waits for its column", offered && !taken && load && place);
        point!("a hit is not taken, a store waits for its column", offered && !taken && store);
        point!("a hit takes the place of a load that has waited", taken && self.waited && self.reads(i, o));
        point!("a hit takes the place of a store that has waited", taken && self.waited && store);
        point!("D becomes empty as a load waits for its column", pushed && load && !free);
        point!("a line comes as a load waits for its column", fills && load && place && !free);
        point!(
            "a line comes in the column in which a load reads",
            fills && self.reads(i, o) && i.fill_entry_i % 4 == o.pin_entry_o % 4
        );
        point!(
            "a line comes in another column than a load reads",
            fills && self.reads(i, o) && i.fill_entry_i % 4 != o.pin_entry_o % 4
        );
        point!("a result is taken as the banks show its line", pushed && register && self.fresh);
        point!("a result is taken, the banks show something else", pushed && changed);
        point!("a result is taken, the banks still show its line", pushed && register && held && !changed);
        point!("a result waits, the banks show its line", !pushed && register && self.fresh);
        point!("a result waits, the banks show something else", !pushed && changed);
        point!("a line that is kept is replaced", pushed && held && self.reads(i, o));
        point!("a line that the banks show is replaced", pushed && self.fresh && self.reads(i, o));
        point!("reset as the banks show the line", reset && self.fresh);
        point!("reset as a hit waits for its column", reset && o.pin_valid_o == 1 && !free);
        point!(
            "column {COLUMN[column]} is read, the only one that is free",
            self.reads(i, o) && i.read_ready_i == 1 << column
        );
        point!(
            "column {COLUMN[column]} is written, the only one that is free",
            self.writes(i, o) && i.write_ready_i == 1 << column
        );
    }

    fn offered(&self, i: &CacheAccessIn, o: &CacheAccessOut, points: &mut Points) {
        let (offered, taken) = (i.in_valid_i == 1, i.in_valid_i == 1 && o.in_ready_o == 1);
        let (store, load) = (i.in_store_i == 1, i.in_store_i == 0);
        let full = o.pin_valid_o == 1;
        let same = full && o.pin_entry_o == i.in_entry_i;
        let fills = i.fill_valid_i == 1;
        point!("a load into an empty stage", taken && load && !full);
        point!("a store into an empty stage", taken && store && !full);
        point!("a load after a store of its line", taken && load && o.write_o == 1 && same);
        point!("a load after a store of another line", taken && load && o.write_o == 1 && !same);
        point!("a store after a load of its line", taken && store && full && o.write_o == 0 && same);
        point!("a store after a store of its line", taken && store && o.write_o == 1 && same);
        point!("a load after a load", taken && load && full && o.write_o == 0);
        point!("a hit is not taken", offered && !taken);
        point!("a hit as its line comes", taken && fills && i.in_entry_i == i.fill_entry_i);
        point!("a line comes to an empty stage", fills && !full);
        point!("a line comes as a load reads", fills && self.reads(i, o));
        point!("a line comes as a load waits", fills && full && !self.reads(i, o));
        point!(
            "a line comes to the entry that is in D",
            fills && self.line.as_ref().is_some_and(|line| line.in_entry_i == i.fill_entry_i)
        );
        let waits = o.push_valid_o == 1 && i.push_ready_i == 0;
        point!("a load waits for D", full && o.write_o == 0 && waits);
        point!("a store writes while D waits", self.writes(i, o) && o.push_valid_o == 1 && i.push_ready_i == 0);
        point!(
            "a store to the line that waits in D",
            self.writes(i, o)
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
        point!("a store writes under reset", reset && self.writes(i, o));
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
