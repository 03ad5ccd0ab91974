//! What a cycle's accesses compete for: which banks are idle, which operands meet there, what may become of a result.

use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_oracle::Mask;

use super::table::Place;
use super::{Head, Operands, Replay};
use crate::counts::seen::Seen;

/// What stands at each bank in a cycle, before anything happens.
pub(super) struct Banks {
    /// The bank whose value is forced back.
    pub forced: Option<usize>,
    /// Something of its own: a value comes home, or one is forced back.
    pub closed: Vec<bool>,
    /// An operand that is not parked is wanted there.
    pub requested: Vec<bool>,
    /// Idle, and operands that will be wanted next meet there.
    pub coveted: Vec<bool>,
}

/// What may become of a result in a cycle.
#[derive(Clone, Copy, Default)]
pub(super) struct Chance {
    /// A read of its register is left: it waits.
    pub held: bool,
    /// It waits for a parked value.
    pub waits_parked: bool,
    /// A value comes home on its bus.
    pub waits_bus: bool,
    /// None of these.
    pub able: bool,
    /// Another request wants its bank.
    pub opposed: bool,
    /// Where it is parked.
    pub parks: Option<usize>,
}

impl Replay {
    /// Banks for whose free entry a result has come.
    pub(super) fn alive(&self) -> Vec<bool> {
        let is_for = |bank: usize, head: &Head| head.home.bank == bank && self.table.is_free(head.home);
        (0..self.map.banks).map(|bank| self.heads.iter().flatten().any(|head| is_for(bank, head))).collect()
    }

    /// Where an operand is read: with *redirect* where its value is parked.
    pub(super) fn at(&self, place: Place) -> Place {
        let bank = self.table.find(place).filter(|_| self.redirect);
        let entry = bank.and_then(|bank| self.table.free[bank]);
        bank.zip(entry).map_or(place, |(bank, entry)| Place { bank, entry })
    }

    /// Whether an operand waits for a parked value.
    pub(super) fn waits(&self, place: Place) -> bool {
        !self.redirect && self.table.find(place).is_some()
    }

    /// The bank whose value a result makes worthless: with *drop*, if it has all lanes.
    pub(super) fn drops(&self, head: &Head) -> Option<usize> {
        self.table.find(head.home).filter(|_| self.drop && head.part.mask == Mask::MAX)
    }

    /// Why the value in a bank has to come back, if it has to.
    pub(super) fn why(&self, bank: usize, alive: bool) -> Option<&'static str> {
        let home = self.table.parked[bank]?.home;
        if self.wanted().any(|place| place == home && self.waits(place)) {
            Some("force_read")
        } else if self.heads.iter().flatten().any(|head| head.home == home && self.drops(head).is_none()) {
            Some("force_write")
        } else {
            alive.then_some("force_alive")
        }
    }

    /// The operands of the candidates of the cycle before, on ports on which an instruction can be taken.
    pub(super) fn operands_of_candidates(&self, seen: &Seen<'_>) -> Operands {
        let ready = seen.cycle.probe.outputs.operand_stage.issue_ready_o;
        std::array::from_fn(|p| match self.candidates[p] {
            Some(candidate) if ready >> p & 1 == 1 => candidate.operands,
            _ => [None; 3],
        })
    }

    /// Operands of candidates that may be stolen: a parked one may not.
    pub(super) fn may(&self, operands: &Operands) -> Vec<Place> {
        operands.iter().flatten().flatten().copied().filter(|&place| self.table.find(place).is_none()).collect()
    }

    pub(super) fn banks(&self, forced: Option<usize>, operands: &Operands) -> Banks {
        let mut closed = vec![false; self.map.banks];
        forced.iter().for_each(|&bank| closed[bank] = true);
        self.landing.iter().for_each(|landing| closed[landing.home.bank] = true);
        let mut requested = vec![false; self.map.banks];
        let go = self.wanted().filter(|&place| !self.waits(place)).map(|place| self.at(place));
        go.for_each(|place| requested[place.bank] = true);
        let may = self.may(operands);
        let needed = if self.eager { 1 } else { 2 };
        let meet = |bank: usize| may.iter().filter(|place| place.bank == bank).count() >= needed;
        let coveted =
            (0..self.map.banks).map(|bank| self.read && !closed[bank] && !requested[bank] && meet(bank)).collect();
        Banks { forced, closed, requested, coveted }
    }

    /// What may become of each result; those that are parked take their places in turn.
    pub(super) fn chances(&self, banks: &Banks, alive: &[bool]) -> [Chance; MAX_PORTS] {
        let wants = |bank: usize| banks.closed[bank] || banks.requested[bank] || banks.coveted[bank];
        let mut chances: [Chance; MAX_PORTS] = std::array::from_fn(|bus| {
            let Some(head) = self.heads[bus] else { return Chance::default() };
            let home = head.home;
            let held = self.wanted().any(|place| place == home);
            let is_place = self.table.is_free(home) && self.table.parked[home.bank].is_some();
            let in_the_way = match self.drops(&head) {
                Some(bank) => banks.forced == Some(bank),
                None => self.table.find(home).is_some(),
            };
            let waits_parked = in_the_way || is_place;
            let waits_bus = self.landing.is_some_and(|landing| landing.bus == bus);
            let able = !held && !waits_parked && !waits_bus;
            Chance { held, waits_parked, waits_bus, able, opposed: able && wants(home.bank), parks: None }
        });
        let able: Vec<usize> = (0..self.ports)
            .filter(|&bus| chances[bus].able)
            .filter_map(|bus| Some(self.heads[bus]?.home.bank))
            .collect();
        let is_place = |bank: usize| {
            let empty = self.table.free[bank].is_some() && self.table.parked[bank].is_none() && !alive[bank];
            empty && !wants(bank) && !able.contains(&bank)
        };
        let in_turn = (0..self.map.banks).map(|step| (self.turn + step) % self.map.banks);
        let mut places = in_turn.filter(|&bank| is_place(bank));
        for (chance, head) in std::iter::zip(&mut chances, &self.heads) {
            let may = |head: Head| head.part.mask == Mask::MAX && !(self.unread && head.part.is_read_next);
            if self.write && chance.opposed && head.is_some_and(may) {
                chance.parks = places.next();
            }
        }
        chances
    }
}
