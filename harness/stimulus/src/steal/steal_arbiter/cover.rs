//! Situations of `steal_arbiter`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::steal::{STEAL_ARBITER_EVENT, StealArbiterIn, StealArbiterOut, StealArbiterProbe};

use crate::cover::part;
use crate::{Points, cover};

pub(crate) struct ArbiterCover {
    shape: MrfShape,
}

/// With more banks than this, not all of them are busy at once: there are not that many accesses.
const FEW_BANKS: usize = 8;

#[cover]
impl ArbiterCover {
    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(&mut self, i: &StealArbiterIn, o: &StealArbiterOut, p: &StealArbiterProbe, points: &mut Points) {
        let moment = Moment::of(&self.shape, i, o);
        if i.rst_ni == 0 {
            point!("reset with accesses", o.read_valid_o | o.bank_write_valid_o != 0);
            return;
        }
        Self::reads(&moment, points);
        Self::results(&moment, p, points);
        Self::places(&moment, p, points);
        Self::thefts(&moment, points);
        Self::fetches(&moment, points);
    }

    fn reads(m: &Moment, points: &mut Points) {
        let (i, o) = (m.i, m.o);
        let left =
            |reason: &dyn Fn(usize, u8) -> bool| m.slots.iter().any(|&s| !m.granted(s) && reason(s, i.at_bank_i[s]));
        let parked = |s: usize| i.req_parked_i >> s & 1 == 1;
        let loses = |s: usize, own: bool| {
            let rival =
                |r: &usize| m.granted(*r) && i.at_bank_i[*r] == i.at_bank_i[s] && (r / OPERANDS == s / OPERANDS) == own;
            !parked(s) && m.slots.iter().any(rival)
        };
        let place = |s: usize| (i.req_bank_i[s], i.req_entry_i[s]);
        let holds = |s: usize| m.heads(i.write_valid_i).any(|p| (i.write_bank_i[p], i.write_entry_i[p]) == place(s));
        let overtakes = |s: usize| {
            let passed = |r: &usize| !holds(*r) && !parked(*r) && i.at_bank_i[*r] == i.at_bank_i[s];
            m.granted(s) && holds(s) && m.slots.iter().any(passed)
        };
        point!("a read is granted", o.grant_o != 0);
        point!("a read waits for a landing", left(&|s, b| bit(m.lands, b) && !parked(s)));
        point!("a read waits for a forced fetch", left(&|s, b| bit(m.forced, b) && !parked(s)));
        point!("a read waits for a parked value", left(&|s, _| parked(s)));
        point!("a read waits for a result", left(&|s, b| bit(o.bank_write_valid_o & !m.lands, b) && !parked(s)));
        point!("a read waits for another one of its instruction", left(&|s, _| loses(s, true)));
        point!("a read waits for one of another instruction", left(&|s, _| loses(s, false)));
        let moved = |s: usize| i.at_bank_i[s] != i.req_bank_i[s];
        let any = |holds: &dyn Fn(usize) -> bool| m.slots.iter().any(|&s| holds(s));
        point!("a read is redirected", any(&|s| moved(s) && m.granted(s)));
        point!("two reads are redirected to one bank", {
            let all: Vec<u8> = m.slots.iter().filter(|&&s| moved(s)).map(|&s| i.at_bank_i[s]).collect();
            all.iter().enumerate().any(|(k, bank)| all[..k].contains(bank))
        });
        point!("a redirected read waits for a forced fetch", any(&|s| moved(s) && bit(m.forced, i.at_bank_i[s])));
        point!("a redirected read waits for a landing", any(&|s| moved(s) && bit(m.lands, i.at_bank_i[s])));
        point!("a redirected read waits for a result", {
            any(&|s| moved(s) && !m.granted(s) && bit(o.bank_write_valid_o & !m.lands, i.at_bank_i[s]))
        });
        point!("a redirected read waits for another one", any(&|s| moved(s) && (loses(s, true) || loses(s, false))));
        point!("another read waits for a redirected one", {
            let rival = |r: usize, s: usize| moved(r) && m.granted(r) && i.at_bank_i[r] == i.at_bank_i[s];
            any(&|s| !moved(s) && !m.granted(s) && any(&|r| rival(r, s)))
        });
        point!("a redirected blocking read goes first", any(&|s| moved(s) && overtakes(s)));
        point!("a blocking read goes first", m.slots.iter().any(|&s| overtakes(s)));
        let all = u32::MAX >> (32 - m.shape.banks);
        point!(
            "all banks are busy",
            (o.read_valid_o | o.bank_write_valid_o) & all == all,
            given = self.shape.banks <= FEW_BANKS
        );
    }

    fn results(m: &Moment, p: &StealArbiterProbe, points: &mut Points) {
        let (i, o) = (m.i, m.o);
        let event = |name: &str| part(STEAL_ARBITER_EVENT, o.steal_event_o, name);
        point!("a result waits for a parked value", event("write_wait_parked") != 0);
        point!("a result waits for the bus of a landing", event("write_wait_bus") != 0);
        for q in m.heads(i.write_valid_i) {
            let b = i.write_bank_i[q];
            let place = (b, i.write_entry_i[q]);
            let holders = || m.slots.iter().filter(|&&s| (i.req_bank_i[s], i.req_entry_i[s]) == place);
            point!("a result is held by a read", m.held(q));
            point!(
                "a result is held by a read whose register is parked",
                m.held(q) && holders().all(|s| i.req_parked_i >> s & 1 == 1)
            );
            if !m.able(q) {
                continue;
            }
            let (steals, full, done, parks) = (m.write_stealing(), i.write_full_i >> q & 1 == 1, m.done(q), m.parks(q));
            let (unread, next) = (i.cfg_i >> 4 & 1 == 1, i.write_next_i >> q & 1 == 1);
            let no_place = steals && full && !parks && !(unread && next);
            let (closed, blocked) = (bit(m.lands | m.forced, b), m.blocked(b));
            let (asked, coveted) = (bit(m.requested & !(m.lands | m.forced), b), bit(m.coveted, b));
            // This needs a result on one bus and a landing on the other one, as do some points below.
            point!(
                "a result waits for a landing, no place",
                no_place && !done && bit(m.lands, b),
                given = self.shape.issue_ports == 2
            );
            point!("a result waits for a forced fetch, no place", no_place && !done && bit(m.forced, b));
            point!(
                "a result waits for a blocking read, no place",
                no_place && !done && blocked && !closed,
                given = self.shape.issue_ports == 2
            );
            let written = done && !parks;
            point!("a result into an idle bank", written && !m.opposed(q));
            point!("a result goes before reads, no place", no_place && written && asked);
            point!("a result goes before thefts, no place", no_place && written && coveted);
            point!("a result without all lanes goes before reads", steals && !full && written && asked);
            point!("a result without all lanes goes before thefts", steals && !full && written && coveted);
            point!("a result goes before reads, write stealing is off", !steals && written && asked);
            point!("a result goes before thefts, write stealing is off", !steals && written && coveted);
            point!("a result that is read next is parked", !unread && next && parks);
            point!("a result that is not read next is parked, and others are not", unread && !next && parks);
            point!(
                "a result that is read next goes before reads, though there is a place",
                steals && unread && next && full && written && asked && m.has_place()
            );
            let drops = i.drop_valid_i >> q & 1 == 1;
            point!("a result is written, and what it overwrites dropped", drops && written);
            point!("a result is parked, and what it overwrites dropped", drops && parks);
            point!(
                "a result that overwrites a parked value waits",
                drops && !done,
                given = self.shape.issue_ports == 2
            );
            point!("parked, a read wants its bank", parks && asked);
            point!("parked, a theft wants its bank", parks && coveted);
            point!("parked, a value lands in its bank", parks && bit(m.lands, b), given = self.shape.issue_ports == 2);
            point!("parked, a value is forced out of its bank", parks && bit(m.forced, b));
            point!(
                "a landing beside a result that is written",
                i.land_valid_i == 1 && written,
                given = self.shape.issue_ports == 2
            );
            let other_waits = i.land_valid_i == 1 && usize::from(i.land_port_i) == 1 - q;
            let other = i.write_valid_i >> (1 - q) & 1 == 1;
            point!(
                "a result parks, the other one waits for a landing's bus",
                parks && other_waits && other,
                given = self.shape.issue_ports == 2
            );
        }
        point!("two results are parked", o.park_valid_o == 3, given = self.shape.issue_ports == 2);
        point!("only port 1's result is parked", o.park_valid_o == 2, given = self.shape.issue_ports == 2);
        let both = m.shape.issue_ports == 2 && m.able(0) && m.able(1);
        if !both {
            return;
        }
        let one_bank = i.write_bank_i[0] == i.write_bank_i[1];
        let opposed = m.opposed(0) && m.opposed(1) && i.write_full_i == 3 && m.write_stealing();
        let written = o.write_done_o & !o.park_valid_o;
        #[given(self.shape.issue_ports == 2)]
        {
            point!("two results, one place", opposed && !one_bank && o.park_valid_o == 1);
            point!("two results of one bank, both parked", one_bank && o.park_valid_o == 3);
            point!(
                "two results of one bank, one parked and one written",
                one_bank && o.park_valid_o.count_ones() == 1 && written != 0
            );
            point!("two results of one bank, both opposed, one place", one_bank && opposed && o.park_valid_o == 1);
            point!("two results are written", written == 3);
        }
        let meet = one_bank && o.park_valid_o == 0;
        point!(
            "two results of one bank, the first goes",
            meet && written == 1 && p.turn_q == 0,
            given = self.shape.issue_ports == 2
        );
        point!(
            "two results of one bank, the second's turn",
            meet && written == 2 && p.turn_q == 1,
            given = self.shape.issue_ports == 2
        );
    }

    fn places(m: &Moment, p: &StealArbiterProbe, points: &mut Points) {
        let (i, o) = (m.i, m.o);
        let Some(first) = m.heads(o.park_valid_o).next() else { return };
        let (from, taken) = (usize::from(p.park_turn_q), usize::from(o.park_bank_o[first]));
        let able = m.sought();
        let (busy, places) = (m.busy(), m.places());
        let place = |b: usize| bit(places, b as u32);
        let banks = m.shape.banks;
        let passed = || (0..banks).map(|n| (from + n) % banks).take_while(|&b| b != taken);
        // Whether a place is passed over for this reason alone.
        let for_one = |reason: u32| {
            let others = (i.parked_i | i.alive_i | busy) & !reason;
            let only = |b: usize| bit(i.free_valid_i & reason & !others, b as u32);
            passed().any(only)
        };
        point!("a place is passed over: a value is parked there", for_one(i.parked_i));
        point!(
            "a place is passed over: its entry comes alive",
            {
                // A result for the entry wants the bank too, unless it is held or waits.
                let reason = i.alive_i & !able;
                for_one(reason)
            },
            given = self.shape.issue_ports == 2
        );
        point!(
            "a place is passed over: a result wants the bank",
            for_one(able & !i.alive_i),
            given = self.shape.issue_ports == 2
        );
        point!("a place is passed over: the bank is coveted", for_one(m.coveted));
        point!("the first place is not the lowest", (0..taken).any(place));
        point!("the turn of places begins anew", taken < from);
    }

    fn thefts(m: &Moment, points: &mut Points) {
        let (i, o) = (m.i, m.o);
        let read = i.cfg_i >> 1 & 1 == 1;
        let eager = i.cfg_i >> 3 & 1 == 1;
        let stolen: Vec<usize> = (0..m.shape.sources()).filter(|k| o.stolen_o >> k & 1 == 1).collect();
        let rivals =
            |k: usize| m.operands.iter().copied().filter(move |&r| r != k && i.want_bank_i[r] == i.want_bank_i[k]);
        let port = |k: usize| k / OPERANDS;
        let any = |holds: &dyn Fn(usize) -> bool| stolen.iter().any(|&k| holds(k));
        point!("a theft of two operands of one candidate", any(&|k| rivals(k).any(|r| port(r) == port(k))));
        point!("the lowest source is stolen", any(&|k| rivals(k).any(|r| port(r) == port(k) && r > k)));
        point!("a theft of a bank that no other request wants", any(&|k| rivals(k).next().is_none()));
        point!("several thefts", stolen.len() > 1);
        point!("a theft and a parked result in one cycle", !stolen.is_empty() && o.park_valid_o != 0);
        point!(
            "the higher port's operand is stolen",
            any(&|k| port(k) == 1 && rivals(k).any(|r| port(r) == 0)),
            given = self.shape.issue_ports == 2
        );
        point!(
            "a theft of operands of both candidates",
            any(&|k| port(k) == 0) && any(&|k| port(k) == 1),
            given = self.shape.issue_ports == 2
        );
        let closed = m.lands | m.forced;
        let idle = !(closed | m.requested);
        point!(
            "no other request wants it, and it is not stolen",
            read && !eager && m.wanted & !m.contested & idle != 0
        );
        point!("two want it, reads do not steal", !read && m.contested & idle != 0);
        point!("no theft: a read wants the bank", read && m.contested & m.requested & !closed != 0);
        point!("no theft: the bank is closed", read && m.contested & closed & !m.requested != 0);
        point!("no theft: a result goes there", m.coveted & o.bank_write_valid_o != 0);
        let parked_rival = |k: usize| {
            let of_bank = |r: usize| i.want_bank_i[r] == i.want_bank_i[k];
            let parked = (0..m.shape.sources()).any(|r| (i.want_valid_i & i.want_parked_i) >> r & 1 == 1 && of_bank(r));
            parked && bit(idle & !m.contested, i.want_bank_i[k])
        };
        point!("no theft: one of the two is parked", read && !eager && m.operands.iter().any(|&k| parked_rival(k)));
    }

    fn fetches(m: &Moment, points: &mut Points) {
        let (i, o) = (m.i, m.o);
        let banks = m.shape.banks;
        let (fetch, forced) = (o.fetch_valid_o == 1, o.fetch_forced_o == 1);
        let unforced = fetch && !forced;
        let bank = usize::from(o.fetch_bank_o);
        let fresh = bit(i.fresh_i, bank as u32);
        point!("a fetch directly after the parking", unforced && fresh);
        point!("a fetch later", unforced && !fresh);
        point!("no fetch, no bus is free", !fetch && i.parked_i != 0 && i.bus_free_i == 0);
        let waits = !fetch && i.bus_free_i == 1;
        point!("no fetch, a read waits for its value", waits && i.req_parked_i != 0 && i.write_parked_i == 0);
        point!(
            "no fetch, a result waits for a value",
            waits && i.write_parked_i != 0 && i.req_parked_i == 0,
            given = self.shape.issue_ports == 2
        );
        if unforced {
            let turn = usize::from(i.turn_i);
            let passed = || {
                (0..banks).map(|n| (turn + n) % banks).take_while(|&b| b != bank).filter(|&b| bit(i.parked_i, b as u32))
            };
            let reads = |b: usize| bit(o.read_valid_o, b as u32);
            let writes = |b: usize| bit(o.bank_write_valid_o, b as u32);
            let left = |b: usize| m.slots.iter().any(|&s| i.at_bank_i[s] == i.parked_bank_i[b] && !m.granted(s));
            point!("a fetch passes over a bank that reads", passed().any(reads));
            point!("a fetch passes over a bank that writes", passed().any(writes));
            point!(
                "a fetch passes over a value whose bank has a read left",
                passed().any(|b| !reads(b) && !writes(b) && left(b))
            );
            let doomed = |b: usize| m.heads(i.drop_valid_i).any(|q| usize::from(i.drop_bank_i[q]) == b);
            point!(
                "a fetch passes over a value that a result overwrites",
                passed().any(|b| !reads(b) && !writes(b) && !left(b) && doomed(b)),
                given = self.shape.issue_ports == 2
            );
            let able = |b: usize| bit(i.parked_i, b as u32) && !reads(b) && !writes(b) && !left(b) && !doomed(b);
            point!("the first fetched one is not the lowest", (0..turn).any(able) && bank >= turn);
            point!("the turn of fetches begins anew", bank < turn);
        }
        let asks = i.force_valid_i == 1;
        point!("forced by a read", asks && i.force_read_i == 1);
        point!("forced by a result", asks && i.force_write_i == 1);
        point!("forced by the entry", asks && i.force_alive_i == 1);
        point!("forced, though reads want the bank", m.forced & m.requested != 0);
        let lands = i.land_valid_i == 1;
        point!("a landing and a fetch in one cycle", lands && unforced);
        point!("a landing and a forced fetch in one cycle", lands && asks);
        point!("a landing on bus 1", lands && i.land_port_i == 1, given = self.shape.issue_ports == 2);
    }
}

/// A cycle, with sets and conditions that are derived from it.
struct Moment<'a> {
    i: &'a StealArbiterIn,
    o: &'a StealArbiterOut,
    shape: MrfShape,
    /// Sets of banks.
    lands: u32,
    forced: u32,
    requested: u32,
    /// Banks that at least two operands want which may be stolen; then those that at least one wants.
    contested: u32,
    wanted: u32,
    coveted: u32,
    /// Valid reads; then operands that may be stolen.
    slots: Vec<usize>,
    operands: Vec<usize>,
}

fn bit(set: u32, b: impl Into<u32>) -> bool {
    set >> b.into() & 1 == 1
}

impl<'a> Moment<'a> {
    fn of(shape: &MrfShape, i: &'a StealArbiterIn, o: &'a StealArbiterOut) -> Self {
        let slots: Vec<usize> = (0..shape.slots()).filter(|s| i.req_valid_i >> s & 1 == 1).collect();
        let operands: Vec<usize> =
            (0..shape.sources()).filter(|k| (i.want_valid_i & !i.want_parked_i) >> k & 1 == 1).collect();
        let lands = u32::from(i.land_valid_i) << i.land_bank_i;
        let forced = u32::from(i.force_valid_i) << i.force_bank_i;
        let requested =
            slots.iter().filter(|&s| i.req_parked_i >> s & 1 == 0).fold(0u32, |set, &s| set | 1 << i.at_bank_i[s]);
        let (mut wanted, mut contested) = (0u32, 0u32);
        for &k in &operands {
            let bank = 1 << i.want_bank_i[k];
            contested |= wanted & bank;
            wanted |= bank;
        }
        let (read, eager) = (i.cfg_i >> 1 & 1 == 1, i.cfg_i >> 3 & 1 == 1);
        let coveted = if eager { wanted } else { contested } & !(lands | forced | requested);
        let coveted = if read { coveted } else { 0 };
        Self { i, o, shape: *shape, lands, forced, requested, contested, wanted, coveted, slots, operands }
    }

    fn write_stealing(&self) -> bool {
        self.i.cfg_i >> 2 & 1 == 1
    }

    /// Banks of the results that may be written or parked.
    fn sought(&self) -> u32 {
        let able = self.heads(self.i.write_valid_i).filter(|&q| self.able(q));
        able.fold(0, |set, q| set | 1 << self.i.write_bank_i[q])
    }

    /// Banks that others want or use.
    fn busy(&self) -> u32 {
        self.lands | self.forced | self.requested | self.coveted | self.sought()
    }

    /// Banks in which a result can be parked.
    fn places(&self) -> u32 {
        self.i.free_valid_i & !self.i.parked_i & !self.i.alive_i & !self.busy()
    }

    /// Whether a place is left besides those of the results that are parked.
    fn has_place(&self) -> bool {
        self.places().count_ones() > self.o.park_valid_o.count_ones()
    }

    fn granted(&self, s: usize) -> bool {
        self.o.grant_o >> s & 1 == 1
    }

    fn heads(&self, set: u8) -> impl Iterator<Item = usize> {
        (0..self.shape.issue_ports).filter(move |p| set >> p & 1 == 1)
    }

    fn held(&self, p: usize) -> bool {
        let place = (self.i.write_bank_i[p], self.i.write_entry_i[p]);
        self.slots.iter().any(|&s| (self.i.req_bank_i[s], self.i.req_entry_i[s]) == place)
    }

    /// Whether result p may be written or parked.
    fn able(&self, p: usize) -> bool {
        let i = self.i;
        let bus = i.land_valid_i == 1 && usize::from(i.land_port_i) == p;
        (i.write_valid_i & !i.write_parked_i) >> p & 1 == 1 && !self.held(p) && !bus
    }

    fn opposed(&self, p: usize) -> bool {
        bit(self.lands | self.forced | self.requested | self.coveted, self.i.write_bank_i[p])
    }

    /// Whether an active read at this bank holds back a result.
    fn blocked(&self, b: u8) -> bool {
        let i = self.i;
        let holds = |s: usize| {
            let place = (i.req_bank_i[s], i.req_entry_i[s]);
            self.heads(i.write_valid_i).any(|p| (i.write_bank_i[p], i.write_entry_i[p]) == place)
        };
        self.slots.iter().any(|&s| i.at_bank_i[s] == b && i.req_parked_i >> s & 1 == 0 && holds(s))
    }

    fn done(&self, p: usize) -> bool {
        self.o.write_done_o >> p & 1 == 1
    }

    fn parks(&self, p: usize) -> bool {
        self.o.park_valid_o >> p & 1 == 1
    }
}
