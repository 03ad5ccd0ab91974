//! The file whose idle banks are stolen, followed from what happens when: operands that banks read, results that are done, values that are fetched back
//! (`docs/blocks/steal.md`, `docs/blocks/steal_arbiter.md`).
//!
//! Who waits for what, which banks are idle and wanted, whether a result is parked and where, and why a value comes back follow from lists of operands that have
//! not been read, of results in their latches, and of what is parked.

mod decide;
mod table;

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MAX_COLLECTORS, MAX_PORTS};
use gpurf_oracle::levels::groups;
use gpurf_oracle::{Mask, lanes_of};

use super::seen::{Part, Seen, Taken};
use super::words::Tally;
use crate::job::Job;
use decide::{Banks, Chance};
use table::{Map, Parked, Place, Table};

/// Groups of a whole register: of a value that is fetched or comes home.
const ALL_GROUPS: u64 = 8;

/// An instruction in its collector.
#[derive(Clone)]
struct Held {
    taken: Taken,
    /// Where sources are that have not been read, by the slot that names them first.
    wanted: [Option<Place>; 3],
}

/// A result in the latch of its bus.
#[derive(Clone, Copy)]
struct Head {
    part: Part,
    home: Place,
}

/// The operands of the instruction that will probably issue next.
#[derive(Clone, Copy, Default)]
struct Candidate {
    warp: u8,
    operands: [Option<Place>; 3],
}

/// A value that comes home in this cycle.
#[derive(Clone, Copy)]
struct Landing {
    home: Place,
    bus: usize,
}

/// The file.
pub struct Replay {
    read: bool,
    write: bool,
    eager: bool,
    unread: bool,
    redirect: bool,
    drop: bool,
    ports: usize,
    map: Map,
    table: Table,
    held: Vec<Option<Held>>,
    heads: [Option<Head>; MAX_PORTS],
    candidates: [Option<Candidate>; MAX_PORTS],
    landing: Option<Landing>,
    /// The bank at which the search for a place begins.
    turn: usize,
    now: u64,
}

/// Operands of the ports' candidates, one of each register.
type Operands = [[Option<Place>; 3]; MAX_PORTS];

impl super::Replay for Replay {
    fn begin(&mut self, job: &Job) {
        self.map.rows = usize::from(job.registers).div_ceil(self.map.banks);
    }

    fn observe(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        self.now += 1;
        let alive = self.alive();
        let fetched = (seen.inside.provider.steal().fetch_valid != 0)
            .then(|| usize::from(seen.inside.provider.steal().fetch_bank));
        let forced = fetched.filter(|&bank| self.why(bank, alive[bank]).is_some());
        let operands = self.operands_of_candidates(seen);
        let banks = self.banks(forced, &operands);
        let chances = self.chances(&banks, &alive);
        self.count_waits(&banks, &chances, tally);
        self.count_candidates(&operands, tally);
        let written = self.results(&chances, seen, tally);
        let stolen = self.thefts(&banks, &operands, &written, seen, tally);
        self.grants(seen, tally);
        self.count_table(tally);
        let hints = self.hints(&chances, seen, tally);
        self.fetch(fetched, alive.as_slice(), tally);
        self.edge(&alive, &hints, fetched, &chances, seen);
        self.instructions(&stolen, seen, tally);
        self.name_candidates(seen);
    }
}

impl Replay {
    /// As a configuration has it.
    pub fn new(config: &Config) -> Self {
        let rules = config.steal;
        let banks = config.mrf.banks;
        Self {
            read: rules.read,
            write: rules.write,
            eager: rules.eager,
            unread: rules.unread,
            redirect: rules.redirect,
            drop: rules.drop,
            ports: config.mrf.issue_ports,
            map: Map { banks, depth: config.shape().depth, rows: 0 },
            table: Table::new(banks),
            held: vec![None; MAX_COLLECTORS],
            heads: [None; MAX_PORTS],
            candidates: [None; MAX_PORTS],
            landing: None,
            turn: 0,
            now: 0,
        }
    }

    /// Operands that have not been read.
    fn wanted(&self) -> impl Iterator<Item = Place> {
        self.held.iter().flatten().flat_map(|held| held.wanted).flatten()
    }

    /// Who waits for what.
    fn count_waits(&self, banks: &Banks, chances: &[Chance; MAX_PORTS], tally: &mut Tally) {
        let (parked, free): (Vec<Place>, Vec<Place>) = self.wanted().partition(|&place| self.waits(place));
        tally.add("wait_parked", parked.len() as u64);
        tally.add("wait_return", free.iter().filter(|&&place| banks.closed[self.at(place).bank]).count() as u64);
        for chance in chances {
            tally.add("write_wait_parked", u64::from(!chance.held && !chance.waits_bus && chance.waits_parked));
            tally.add("write_wait_bus", u64::from(chance.waits_bus));
        }
    }

    /// Operands that may be stolen, and those of them that meet at a bank.
    fn count_candidates(&self, operands: &Operands, tally: &mut Tally) {
        tally.add("candidate", operands.iter().filter(|of| of.iter().any(Option::is_some)).count() as u64);
        let may = self.may(operands);
        let meets = |place: &Place| may.iter().filter(|other| other.bank == place.bank).count() > 1;
        tally.add("sharing", may.iter().filter(|&place| meets(place)).count() as u64);
    }

    /// Results that are done: parked, or in their own bank. Gives the banks that take one.
    fn results(&self, chances: &[Chance; MAX_PORTS], seen: &Seen<'_>, tally: &mut Tally) -> Vec<usize> {
        let mut written = Vec::new();
        for bus in lanes_of(seen.done.into()) {
            let Some(Head { part, home }) = self.heads[bus] else {
                tally.object(|| format!("bus {bus} is done with a result that was not sent"));
                continue;
            };
            if !chances[bus].able {
                tally.object(|| format!("R{} of warp slot {} does not wait", part.register, part.warp));
            }
            tally.add("write", 1u64);
            tally.add("write_groups", groups(part.mask));
            tally.add("dropped", u64::from(self.drops(&Head { part, home }).is_some()));
            if chances[bus].parks.is_some() {
                tally.add("write_parked", 1u64);
                continue;
            }
            written.push(home.bank);
            if self.write && chances[bus].opposed {
                tally.add("write_forced", 1u64);
                tally.add("write_partial", u64::from(part.mask != Mask::MAX));
                tally.add("write_next", u64::from(part.mask == Mask::MAX && self.unread && part.is_read_next));
            } else {
                tally.add("write_normal", 1u64);
            }
        }
        for bus in (0..self.ports).filter(|&bus| chances[bus].parks.is_some() && seen.done >> bus & 1 == 0) {
            tally.object(|| format!("the result on bus {bus} is not parked, though there is a place"));
        }
        written
    }

    /// Operands that are read before their instruction issues, of each port: at each bank that is idle, and where they meet, the first of the highest port.
    fn thefts(
        &self,
        banks: &Banks,
        operands: &Operands,
        written: &[usize],
        seen: &Seen<'_>,
        tally: &mut Tally,
    ) -> [Vec<Place>; MAX_PORTS] {
        let mut stolen: [Vec<Place>; MAX_PORTS] = Default::default();
        for bank in (0..self.map.banks).filter(|bank| banks.coveted[*bank] && !written.contains(bank)) {
            let is_it = |place: &&Place| place.bank == bank && self.table.find(**place).is_none();
            let of = |p: usize| operands[p].iter().flatten().find(is_it).map(|&place| (p, place));
            if let Some((p, place)) = (0..self.ports).rev().find_map(of) {
                stolen[p].push(place);
            }
        }
        for (p, stolen) in stolen.iter_mut().enumerate().filter(|(_, stolen)| !stolen.is_empty()) {
            tally.add("steal", 1u64);
            tally.add("stolen", stolen.len() as u64);
            let issues = seen.taken[p].map(|taken| taken.warp) == self.candidates[p].map(|candidate| candidate.warp);
            if !issues {
                tally.add("wasted", 1u64);
                // Its data belong to no lane: no groups.
                tally.add("read", stolen.len() as u64);
                stolen.clear();
            }
        }
        stolen
    }

    /// Operands that banks read for instructions in collectors.
    fn grants(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        for index in 0..3 * self.held.len() {
            if seen.inside.provider.steal().grant >> index & 1 == 0 {
                continue;
            }
            let wanted = self.held[index / 3].as_mut().and_then(|held| held.wanted[index % 3].take());
            let Some(place) = wanted else {
                tally.object(|| "an operand is read that no collector wants, or twice".to_owned());
                continue;
            };
            tally.add("redirected", u64::from(self.redirect && self.table.find(place).is_some()));
            tally.add("blocking_read", u64::from(self.heads.iter().flatten().any(|head| head.home == place)));
        }
    }

    /// Free entries, and what is parked.
    fn count_table(&self, tally: &mut Tally) {
        let parked = self.table.parked.iter().flatten().count();
        let free = std::iter::zip(&self.table.free, &self.table.parked);
        tally.add("parked", parked as u64);
        tally.add("places", free.filter(|(free, parked)| free.is_some() && parked.is_none()).count() as u64);
    }

    /// Registers that dispatched instructions say are dead; gives those whose entries become free.
    fn hints(&mut self, chances: &[Chance; MAX_PORTS], seen: &Seen<'_>, tally: &mut Tally) -> Vec<Place> {
        let clear = seen.cycle.probe.outputs.block_launcher.fresh_o != 0;
        let mut taken = Vec::new();
        for p in 0..self.ports {
            if seen.dispatched[p].is_none() {
                continue;
            }
            let collector = usize::from(seen.inside.provider.steal().dispatch_col[p]);
            let Some(held) = self.held[collector].take() else {
                tally.object(|| format!("collector {collector} dispatches nothing"));
                continue;
            };
            if held.wanted.iter().any(Option::is_some) {
                tally.object(|| format!("warp slot {} is dispatched without an operand", held.taken.warp));
            }
            let Some(register) = held.taken.uses.free.filter(|&register| self.map.has(register)) else { continue };
            let home = self.map.place(held.taken.warp, register);
            let parks_there = chances.iter().any(|chance| chance.parks == Some(home.bank));
            let comes = self.heads.iter().flatten().any(|head| head.home == home);
            let busy = self.table.parked[home.bank].is_some() || parks_there || comes;
            if clear || busy || self.table.find(home).is_some() {
                tally.add("hint_ignored", 1u64);
            } else {
                tally.add("hint", 1u64);
                taken.push(home);
            }
        }
        taken
    }

    /// The value that is fetched.
    fn fetch(&self, fetched: Option<usize>, alive: &[bool], tally: &mut Tally) {
        tally.add("land", u64::from(self.landing.is_some()));
        tally.add("write", u64::from(self.landing.is_some()));
        tally.add("write_groups", if self.landing.is_some() { ALL_GROUPS } else { 0 });
        let Some(bank) = fetched else { return };
        let Some(parked) = self.table.parked[bank] else {
            return tally.object(|| format!("bank {bank} gives back a value that is not there"));
        };
        tally.add("read", 1u64);
        tally.add("read_groups", ALL_GROUPS);
        match self.why(bank, alive[bank]) {
            Some(cause) => {
                tally.add("return_forced", 1u64);
                tally.add(cause, 1u64);
            }
            None if parked.since + 1 == self.now => tally.add("return_next", 1u64),
            None => tally.add("return_later", 1u64),
        }
    }

    /// The table, the buses and the latches at the end of the cycle.
    fn edge(
        &mut self,
        alive: &[bool],
        hints: &[Place],
        fetched: Option<usize>,
        chances: &[Chance; MAX_PORTS],
        seen: &Seen<'_>,
    ) {
        // A value goes home on the first bus that has no result, or at least none that has just come home.
        let lands_on = |bus: &usize| self.landing.is_some_and(|landing| landing.bus == *bus);
        let bus = (0..self.ports).find(|&bus| self.heads[bus].is_none());
        let bus = bus.or_else(|| (0..self.ports).find(|bus| !lands_on(bus))).unwrap_or_default();
        let home = fetched.and_then(|bank| self.table.parked[bank]).map(|parked| parked.home);
        self.landing = home.map(|home| Landing { home, bus });
        let launcher = &seen.cycle.probe.outputs.block_launcher;
        for (bank, alive) in alive.iter().enumerate() {
            if *alive && self.table.parked[bank].is_none() {
                self.table.free[bank] = None;
            }
        }
        hints.iter().for_each(|hint| self.table.free[hint.bank] = Some(hint.entry));
        fetched.iter().for_each(|&bank| self.table.parked[bank] = None);
        for (bus, chance) in chances.iter().enumerate() {
            if seen.done >> bus & 1 == 1 {
                let head = self.heads[bus].take();
                if let Some(bank) = head.and_then(|head| self.drops(&head)) {
                    self.table.parked[bank] = None;
                }
                if let (Some(bank), Some(head)) = (chance.parks, head) {
                    self.table.parked[bank] = Some(Parked { home: head.home, since: self.now });
                    self.turn = (bank + 1) % self.map.banks;
                }
            }
        }
        if launcher.fresh_o != 0 {
            self.table.clear((launcher.spare_o != 0).then_some(self.map.depth - 1));
        }
    }

    /// What comes: results, and instructions, of whose operands some are on their way already.
    fn instructions(&mut self, stolen: &[Vec<Place>; MAX_PORTS], seen: &Seen<'_>, tally: &mut Tally) {
        for (bus, part) in seen.results.iter().enumerate() {
            if let Some(part) = *part {
                let home = self.map.place(part.warp, part.register);
                if self.heads[bus].replace(Head { part, home }).is_some() {
                    tally.object(|| format!("bus {bus} takes a result before the last one has gone"));
                }
            }
        }
        let nets = seen.inside.provider.steal();
        let map = self.map;
        for (p, taken) in seen.taken.iter().enumerate() {
            let Some(taken) = *taken else { continue };
            let mut wanted = [None; 3];
            for (k, source) in taken.uses.registers() {
                let place = map.place(taken.warp, source.register);
                wanted[k] = (!stolen[p].contains(&place)).then_some(place);
                tally.add("read", 1u64);
                tally.add("read_groups", groups(taken.mask));
            }
            let of = if p == 0 { nets.alloc_valid & !nets.alloc_port } else { nets.alloc_valid & nets.alloc_port };
            self.held[of.trailing_zeros() as usize % MAX_COLLECTORS] = Some(Held { taken, wanted });
        }
    }

    /// The candidates that the scheduler names, for the cycle that comes.
    fn name_candidates(&mut self, seen: &Seen<'_>) {
        let named = &seen.cycle.probe.outputs.warp_scheduler;
        for p in 0..self.ports {
            let warp = named.candidate_warp_o[p];
            let mut operands: [Option<Place>; 3] = [None; 3];
            for k in 0..3 {
                let place = self.map.place(warp, seen.inside.nets.candidate_src_reg[3 * p + k]);
                let reads = seen.inside.nets.candidate_src_valid >> (3 * p + k) & 1 == 1;
                operands[k] = (reads && !operands.contains(&Some(place))).then_some(place);
            }
            self.candidates[p] = (named.candidate_valid_o >> p & 1 == 1).then_some(Candidate { warp, operands });
        }
    }
}
