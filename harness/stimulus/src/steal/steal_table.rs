//! `steal_table`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MAX_PORTS, MrfShape};
use gpurf_blocks::steal::{StealTable, StealTableIn, StealTableOut};
use gpurf_lockstep::Rng;

use super::pick;
use crate::driver::{Names, Reset, Twin, ports};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<StealTable, TableDriver, TableCover>();

/// Driver of `steal_table`. A twin tells which entries are free and which values are parked; the driver parks and fetches accordingly.
pub(crate) struct TableDriver {
    shape: MrfShape,
    reset: Reset,
    twin: Twin<StealTable>,
    /// Banks that are used in this stretch: few, so that each is met again soon.
    used: u64,
    entries: Names,
}

knobs! {
    pub(crate) struct TableKnobs {
        hint: "a register is said to be dead" = [50, 300, 900],
        write: "a result waits" = [200, 700, 1000],
        park: "it is parked, where there is a place" = [100, 500, 1000],
        fetch: "a parked value is fetched" = [20, 200, 700],
        drop: "a result overwrites a parked value whole" = [0, 50, 400],
        clear: "a grid is about to begin" = [0, 5, 60],
        spare: "the last row belongs to no warp" = [100, 900],
        meet: "a hint is of a register that something else is going on with" = [0, 300, 700],
        alive: "a result is for a free entry" = [0, 100, 600],
        reset,
    }
}

/// Entries that are used: few, so that they are met again.
const ENTRIES: usize = 8;

impl Driver for TableDriver {
    type In = StealTableIn;
    type Knobs = TableKnobs;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        let (used, entries) = (shape.banks as u64, Names::new(ENTRIES, shape.depth as u64));
        Self { shape: *shape, reset: Reset::default(), twin: Twin::new(shape), used, entries }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &TableKnobs, i: &mut StealTableIn) {
        let shape = self.shape;
        self.twin.early();
        if rng.chance(5) {
            self.used = if rng.chance(500) { 1 + rng.below(4.min(shape.banks as u64)) } else { shape.banks as u64 };
        }
        self.entries.renew(rng);
        let (used, entries) = (self.used, &self.entries);
        let any = |rng: &mut Rng| (rng.below(used) as u8, entries.draw(rng) as u16);
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.clear_i = rng.chance(knobs.clear).into();
        i.spare_i = rng.chance(knobs.spare).into();

        let out = &self.twin.out;
        i.write_valid_i = ports(rng, shape.issue_ports, knobs.write);
        for p in 0..shape.issue_ports {
            (i.write_bank_i[p], i.write_entry_i[p]) = any(rng);
            if rng.chance(knobs.alive) {
                i.write_entry_i[p] = out.free_entry_o[usize::from(i.write_bank_i[p])];
            }
        }
        // Where no entry is free, this input has no meaning.
        i.alive_i = !out.free_valid_o & rng.mask(shape.banks as u32, 300) as u32;
        for p in (0..shape.issue_ports).filter(|p| i.write_valid_i >> p & 1 == 1) {
            let b = usize::from(i.write_bank_i[p]);
            if out.free_valid_o >> b & 1 == 1 && i.write_entry_i[p] == out.free_entry_o[b] {
                i.alive_i |= 1 << b;
            }
        }
        let mut places = out.free_valid_o & !out.parked_o & !i.alive_i;
        (i.park_valid_i, i.park_bank_i) = (0, [0; MAX_PORTS]);
        for p in 0..shape.issue_ports {
            let own = 1 << i.write_bank_i[p];
            let head = i.write_valid_i >> p & 1 == 1;
            if let Some(b) = pick(rng, places & !own).filter(|_| head && rng.chance(knobs.park)) {
                i.park_valid_i |= 1 << p;
                i.park_bank_i[p] = b;
                places &= !(1 << b);
            }
        }
        let fetched = pick(rng, out.parked_o).filter(|_| rng.chance(knobs.fetch));
        i.fetch_valid_i = fetched.is_some().into();
        i.fetch_bank_i = fetched.unwrap_or_else(|| rng.below(shape.banks as u64) as u8);

        let mut left = out.parked_o & !fetched.map_or(0, |b| 1 << b);
        (i.drop_valid_i, i.drop_bank_i) = (0, [0; MAX_PORTS]);
        for p in (0..shape.issue_ports).filter(|p| i.write_valid_i >> p & 1 == 1) {
            if let Some(b) = pick(rng, left).filter(|_| rng.chance(knobs.drop)) {
                i.drop_valid_i |= 1 << p;
                i.drop_bank_i[p] = b;
                left &= !(1 << b);
            }
        }

        i.hint_valid_i = ports(rng, shape.issue_ports, knobs.hint);
        for p in 0..shape.issue_ports {
            (i.hint_bank_i[p], i.hint_entry_i[p]) = if rng.chance(knobs.meet) { self.met(rng, i) } else { any(rng) };
            if p > 0 && rng.chance(200) {
                i.hint_bank_i[p] = i.hint_bank_i[0];
            }
        }
        self.twin.late(i);
        self.twin.clock(i);
    }
}

impl TableDriver {
    /// A register that is related to a result, a place or a parked value.
    fn met(&self, rng: &mut Rng, i: &StealTableIn) -> (u8, u16) {
        let out = &self.twin.out;
        let p = rng.below(self.shape.issue_ports as u64) as usize;
        let entry = self.entries.draw(rng) as u16;
        let of = |b: Option<u8>| b.map(usize::from);
        match rng.below(5) {
            0 => (i.write_bank_i[p], i.write_entry_i[p]),
            1 => match of(pick(rng, out.parked_o)) {
                Some(b) => (out.parked_bank_o[b], out.parked_entry_o[b]),
                None => (0, entry),
            },
            2 => (pick(rng, out.parked_o).unwrap_or(0), entry),
            3 if i.park_valid_i >> p & 1 == 1 => (i.park_bank_i[p], entry),
            _ => (pick(rng, i.alive_i & out.free_valid_o).unwrap_or(0), entry),
        }
    }
}

pub(crate) struct TableCover {
    shape: MrfShape,
    /// Banks in which a value has been parked since an entry of theirs became free.
    again: u32,
}

#[cover]
impl TableCover {
    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, again: 0 }
    }

    fn observe(&mut self, i: &StealTableIn, o: &StealTableOut, _: &NoProbe<MrfShape>, points: &mut Points) {
        let (ports, banks) = (self.shape.issue_ports, self.shape.banks);
        let (running, clear) = (i.rst_ni == 1, i.clear_i == 1);
        let runs = running && !clear;
        let bit = |set: u32, b: u8| set >> b & 1 == 1;
        let of = |mask: u8| (0..ports).filter(move |p| mask >> p & 1 == 1);
        let hints: Vec<usize> = of(i.hint_valid_i).collect();
        let taken = |p: usize| o.hint_taken_o >> p & 1 == 1;
        let at = |p: usize| (i.hint_bank_i[p], i.hint_entry_i[p]);
        let to = |b: usize| (o.parked_bank_o[b], o.parked_entry_o[b]);
        let parks = of(i.park_valid_i).fold(0u32, |set, p| set | 1 << i.park_bank_i[p]);
        let queued = |p: usize| of(i.write_valid_i).any(|q| (i.write_bank_i[q], i.write_entry_i[q]) == at(p));
        let queued_bank = |p: usize| of(i.write_valid_i).any(|q| i.write_bank_i[q] == at(p).0);
        let elsewhere = |p: usize| (0..banks).find(|&b| bit(o.parked_o, b as u8) && to(b) == at(p));
        let stale = |p: usize| (0..banks).any(|b| !bit(o.parked_o, b as u8) && to(b) == at(p));
        let fetched = |b: u8| i.fetch_valid_i == 1 && i.fetch_bank_i == b;
        let free_entry = |b: u8| bit(o.free_valid_o, b).then(|| o.free_entry_o[usize::from(b)]);
        // Reasons to refuse a hint, and whether it is refused for one of them alone.
        let reasons = |p: usize| {
            let in_bank = bit(o.parked_o | parks, at(p).0);
            [in_bank, elsewhere(p).is_some(), queued(p)]
        };
        let only = |p: usize, reason: usize| {
            runs && !taken(p) && reasons(p).iter().enumerate().all(|(r, &holds)| holds == (r == reason))
        };
        let any = |holds: &dyn Fn(usize) -> bool| hints.iter().any(|&p| holds(p));
        let alive = i.alive_i & o.free_valid_o;
        let comes = alive & !o.parked_o;
        let given = of(o.hint_taken_o).fold(0u32, |set, p| set | 1 << at(p).0);
        let dead = of(i.write_valid_i).any(|p| {
            let b = i.write_bank_i[p];
            !bit(o.free_valid_o, b) && i.write_entry_i[p] == o.free_entry_o[usize::from(b)]
        });
        point!("a hint is taken", running && any(&taken));
        point!(
            "a hint takes the place of another free entry",
            running && any(&|p| taken(p) && free_entry(at(p).0).is_some_and(|e| e != at(p).1))
        );
        point!(
            "a hint for the entry that is free already",
            running && any(&|p| taken(p) && free_entry(at(p).0) == Some(at(p).1))
        );
        point!(
            "a hint is refused: a value is parked in its bank",
            any(&|p| only(p, 0) && bit(o.parked_o, at(p).0) && !fetched(at(p).0))
        );
        point!("a hint is refused: a value is being parked in its bank", any(&|p| only(p, 0) && bit(parks, at(p).0)));
        point!("a hint is refused: a value is being fetched from its bank", any(&|p| only(p, 0) && fetched(at(p).0)));
        point!(
            "a hint is refused: its register's value is parked",
            any(&|p| only(p, 1) && elsewhere(p).is_some_and(|b| !fetched(b as u8)))
        );
        point!(
            "a hint is refused: its register's value is being fetched",
            any(&|p| only(p, 1) && elsewhere(p).is_some_and(|b| fetched(b as u8)))
        );
        point!("a hint is refused: its register's value is in a queue", any(&|p| only(p, 2)));
        point!("a hint is refused: a grid begins", running && clear && any(&|p| !reasons(p).contains(&true)));
        point!("a hint is taken, its register had been parked somewhere", running && any(&|p| taken(p) && stale(p)));
        point!("a hint is taken, a result for its bank waits", running && any(&|p| taken(p) && queued_bank(p)));
        point!("an entry comes alive", runs && comes != 0);
        point!("an entry comes alive where a value is parked", runs && alive & o.parked_o != 0);
        point!("an entry comes alive, and a hint gives another one", runs && comes & given != 0);
        point!("a result for an entry that is not free any more", runs && dead);
        point!("a value is parked", runs && parks != 0);
        point!("a value is parked where one has been before", runs && parks & self.again != 0);
        point!("a value is parked, and one is fetched", runs && parks != 0 && i.fetch_valid_i == 1);
        point!("a value is fetched", runs && i.fetch_valid_i == 1);
        let dropped = of(i.drop_valid_i).fold(0u32, |set, p| set | 1 << i.drop_bank_i[p]);
        point!("a value is dropped", runs && dropped != 0);
        point!("a value is dropped, and one is fetched", runs && dropped != 0 && i.fetch_valid_i == 1);
        point!("a value is dropped, and one is parked", runs && dropped != 0 && parks != 0);
        point!("a value is dropped whose entry comes alive", runs && dropped & alive != 0);
        point!("a hint for a bank whose value is dropped", runs && any(&|p| bit(dropped, at(p).0)));
        point!("a grid begins, a value is being dropped", running && clear && dropped != 0);
        point!("all banks that have a free entry have a value", o.free_valid_o != 0 && o.free_valid_o == o.parked_o);
        point!("a grid begins, the last row is free", running && clear && i.spare_i == 1);
        point!("a grid begins, no row is left", running && clear && i.spare_i == 0);
        point!("a grid begins, values are parked", running && clear && o.parked_o != 0);
        point!("a grid begins, a value is being parked", running && clear && parks != 0);
        point!("a grid begins, an entry comes alive", running && clear && comes != 0 && i.spare_i == 1);
        point!("reset under load", !running && o.parked_o != 0);
        point!("a hint in reset", !running && any(&taken));
        point!("a value is parked in reset", !running && parks != 0);
        #[given(self.shape.issue_ports == 2)]
        {
            point!("two hints are taken", running && o.hint_taken_o == 3 && at(0).0 != at(1).0);
            point!("two hints for one bank are taken", running && o.hint_taken_o == 3 && at(0).0 == at(1).0);
            point!(
                "one hint is taken, the other one is not",
                runs && hints.len() == 2 && o.hint_taken_o.count_ones() == 1
            );
            point!("a value of port 1 is parked alone", runs && i.park_valid_i == 2);
            point!("two values are parked", runs && i.park_valid_i == 3);
            point!("two values are dropped", runs && i.drop_valid_i == 3);
            point!("both results are for free entries", runs && comes.count_ones() == 2);
        }

        self.again = if runs { (self.again | parks) & !given } else { 0 };
    }
}
