//! A reference model, written from the page sentence by sentence.

use super::super::*;
use crate::{OPERANDS, Ports};

pub(super) struct Reference {
    shape: MrfShape,
    rr: [usize; MAX_BANKS],
    turn: usize,
    park_turn: usize,
}

fn bit(mask: impl Into<u64>, i: usize) -> bool {
    mask.into() >> i & 1 == 1
}

/// The results of the first five steps.
struct Claims<'a> {
    i: &'a StealArbiterIn,
    shape: MrfShape,
    reads: Vec<usize>,
}

impl Claims<'_> {
    fn banks(&self) -> std::ops::Range<usize> {
        0..self.shape.banks
    }

    fn ports(&self) -> std::ops::Range<usize> {
        0..self.shape.issue_ports
    }

    fn lands(&self, b: usize) -> bool {
        self.i.land_valid_i == 1 && usize::from(self.i.land_bank_i) == b
    }

    fn closed(&self, b: usize) -> bool {
        self.lands(b) || self.i.force_valid_i == 1 && usize::from(self.i.force_bank_i) == b
    }

    fn active(&self, slot: usize) -> bool {
        self.reads.contains(&slot) && !bit(self.i.req_parked_i, slot)
    }

    fn of_bank(&self, b: usize) -> Vec<usize> {
        self.reads.iter().copied().filter(|&s| usize::from(self.i.at_bank_i[s]) == b).collect()
    }

    fn requested(&self, b: usize) -> bool {
        self.of_bank(b).into_iter().any(|s| self.active(s))
    }

    fn writes(&self, p: usize) -> bool {
        bit(self.i.write_valid_i, p)
    }

    fn home(&self, p: usize) -> usize {
        self.i.write_bank_i[p].into()
    }

    fn meets(&self, slot: usize, p: usize) -> bool {
        let i = self.i;
        self.writes(p) && (i.req_bank_i[slot], i.req_entry_i[slot]) == (i.write_bank_i[p], i.write_entry_i[p])
    }

    fn held(&self, p: usize) -> bool {
        self.reads.iter().any(|&slot| self.meets(slot, p))
    }

    fn blocking(&self, slot: usize) -> bool {
        self.active(slot) && self.ports().any(|p| self.meets(slot, p))
    }

    fn blocked(&self, b: usize) -> bool {
        self.of_bank(b).into_iter().any(|slot| self.blocking(slot))
    }

    /// Operands that may be stolen and want a bank.
    fn wanting(&self, b: usize) -> Vec<usize> {
        let all = 0..OPERANDS * self.shape.issue_ports;
        let may = |&k: &usize| bit(self.i.want_valid_i, k) && !bit(self.i.want_parked_i, k);
        all.filter(may).filter(|&k| usize::from(self.i.want_bank_i[k]) == b).collect()
    }

    fn coveted(&self, b: usize) -> bool {
        let least = if bit(self.i.cfg_i, 3) { 1 } else { 2 };
        bit(self.i.cfg_i, 1) && !self.closed(b) && !self.requested(b) && self.wanting(b).len() >= least
    }

    fn has_bus(&self, p: usize) -> bool {
        self.i.land_valid_i == 0 || usize::from(self.i.land_port_i) != p
    }

    fn able(&self, p: usize) -> bool {
        self.writes(p) && !self.held(p) && !bit(self.i.write_parked_i, p) && self.has_bus(p)
    }

    fn opposed(&self, p: usize) -> bool {
        let b = self.home(p);
        self.closed(b) || self.requested(b) || self.coveted(b)
    }

    fn place(&self, b: usize) -> bool {
        let i = self.i;
        bit(i.free_valid_i, b)
            && !bit(i.parked_i, b)
            && !bit(i.alive_i, b)
            && !self.closed(b)
            && !self.requested(b)
            && !self.coveted(b)
            && !self.ports().any(|p| self.able(p) && self.home(p) == b)
    }
}

impl Reference {
    pub(super) fn new(shape: MrfShape) -> Self {
        Self { shape, rr: [0; MAX_BANKS], turn: 0, park_turn: 0 }
    }

    pub(super) fn cycle(&mut self, i: &StealArbiterIn) -> (StealArbiterOut, StealArbiterProbe) {
        let MrfShape { banks, collectors, issue_ports, .. } = self.shape;
        let mut probe = StealArbiterProbe::zeroed();
        (probe.rr_q, probe.turn_q) = (self.rr.map(|c| c as u8), self.turn as u8);
        probe.park_turn_q = self.park_turn as u8;
        let mut out = StealArbiterOut::zeroed();
        let reads = (0..OPERANDS * collectors).filter(|&s| bit(i.req_valid_i, s)).collect();
        let c = Claims { i, shape: self.shape, reads };
        let (mut rr, mut turn, mut park_turn) = (self.rr, self.turn, self.park_turn);

        // Stealing writes.
        let mut parked: Vec<(usize, usize)> = Vec::new();
        let soon = |p: usize| bit(i.cfg_i, 4) && bit(i.write_next_i, p);
        let may = |p: usize| c.able(p) && c.opposed(p) && bit(i.write_full_i, p) && !soon(p);
        for p in c.ports().filter(|&p| bit(i.cfg_i, 2) && may(p)) {
            let mut from = (0..banks).map(|k| (self.park_turn + k) % banks);
            let place = from.find(|&b| c.place(b) && parked.iter().all(|&(_, other)| other != b));
            if let Some(b) = place {
                parked.push((p, b));
                park_turn = (b + 1) % banks;
            }
        }
        let is_parked = |p: usize| parked.iter().any(|&(q, _)| q == p);

        // Writes.
        let may = |p: usize| c.able(p) && !is_parked(p) && !c.closed(c.home(p)) && !c.blocked(c.home(p));
        let mut going: Vec<usize> = c.ports().filter(|&p| may(p)).collect();
        if going.len() == 2 && c.home(0) == c.home(1) {
            going = vec![self.turn];
            turn = 1 - self.turn;
        }
        let takes = |b: usize| going.iter().any(|&p| c.home(p) == b);

        // Accesses.
        let mut normal = [None; MAX_BANKS];
        let mut write = |b: usize, port: usize, entry: u16| {
            out.bank_write_valid_o |= 1 << b;
            out.bank_write_port_o |= (port as u32) << b;
            out.bank_write_entry_o[b] = entry;
        };
        if i.land_valid_i == 1 {
            write(i.land_bank_i.into(), i.land_port_i.into(), i.land_entry_i);
        }
        for &p in &going {
            write(c.home(p), p, i.write_entry_i[p]);
            out.write_done_o |= 1 << p;
        }
        for &(p, b) in &parked {
            write(b, p, i.free_entry_i[b]);
            out.write_done_o |= 1 << p;
            out.park_valid_o |= 1 << p;
            out.park_bank_o[p] = b as u8;
        }
        for b in c.banks() {
            if !c.closed(b) && !takes(b) {
                let mut candidates: Vec<usize> = c.of_bank(b).into_iter().filter(|&s| c.active(s)).collect();
                if c.blocked(b) {
                    candidates.retain(|&s| c.blocking(s));
                }
                let has = |n: usize| candidates.iter().any(|s| s / OPERANDS == n);
                let oldest = |&n: &usize| has(n) && !(0..collectors).any(|d| has(d) && bit(i.older_i[n], d));
                let reader = match bit(i.cfg_i, 0) {
                    false => (0..collectors).find(oldest),
                    true => (0..collectors).map(|k| (self.rr[b] + k) % collectors).find(|&n| has(n)),
                };
                if let Some(n) = reader {
                    let slot = candidates.into_iter().find(|s| s / OPERANDS == n).unwrap();
                    out.grant_o |= 1 << slot;
                    out.read_valid_o |= 1 << b;
                    out.read_entry_o[b] = i.at_entry_i[slot];
                    normal[b] = Some(slot);
                    if bit(i.cfg_i, 0) {
                        rr[b] = (n + 1) % collectors;
                    }
                }
            }
            if c.coveted(b) && !takes(b) {
                let port = c.wanting(b).into_iter().map(|k| k / OPERANDS).max().unwrap();
                let source = c.wanting(b).into_iter().find(|k| k / OPERANDS == port).unwrap();
                out.stolen_o |= 1 << source;
                out.read_valid_o |= 1 << b;
                out.read_entry_o[b] = i.want_entry_i[source];
            }
        }
        let waiting: Vec<usize> = c.reads.iter().copied().filter(|&s| !bit(out.grant_o, s)).collect();
        let fetched = if i.force_valid_i == 1 {
            Some(usize::from(i.force_bank_i))
        } else if i.bus_free_i == 1 && i.req_parked_i == 0 && i.write_parked_i == 0 {
            (0..banks).map(|k| (usize::from(i.turn_i) + k) % banks).find(|&b| {
                let home = i.parked_bank_i[b];
                bit(i.parked_i, b)
                    && !c.closed(b)
                    && !bit(out.read_valid_o, b)
                    && !bit(out.bank_write_valid_o, b)
                    && !c.ports().any(|p| bit(i.drop_valid_i, p) && usize::from(i.drop_bank_i[p]) == b)
                    && !waiting.iter().any(|&s| i.at_bank_i[s] == home)
            })
        } else {
            None
        };
        if let Some(b) = fetched {
            (out.fetch_valid_o, out.fetch_bank_o, out.fetch_forced_o) = (1, b as u8, i.force_valid_i);
            out.read_valid_o |= 1 << b;
            out.read_entry_o[b] = i.free_entry_i[b];
        }

        // Events.
        let normals = normal.iter().flatten();
        let done = c.ports().filter(|&p| bit(out.write_done_o, p));
        let shut = |&&s: &&usize| {
            let b = usize::from(i.at_bank_i[s]);
            !c.active(s) || c.closed(b) || takes(b)
        };
        let intra = |&&s: &&usize| normal[usize::from(i.at_bank_i[s])].is_some_and(|n| n / OPERANDS == s / OPERANDS);
        let read_write = waiting.iter().filter(shut).count();
        let intra = waiting.iter().filter(|s| !shut(s)).filter(intra).count();
        let counts = [
            normals.clone().count() + out.stolen_o.count_ones() as usize + usize::from(fetched.is_some()),
            normals.map(|s| usize::from(i.req_groups_i[s / OPERANDS])).sum::<usize>()
                + if fetched.is_some() { 8 } else { 0 },
            done.clone().count() + usize::from(i.land_valid_i),
            done.map(|p| usize::from(i.write_groups_i[p])).sum::<usize>() + 8 * usize::from(i.land_valid_i),
            intra,
            waiting.len() - intra - read_write,
            read_write,
            c.ports().filter(|&p| c.writes(p) && !c.held(p) && !bit(out.write_done_o, p)).count(),
            c.ports().filter(|&p| c.held(p)).count(),
        ];
        out.event_o = word(MRF_ARBITER_EVENT, &counts);
        let count_ports = |is: &dyn Fn(usize) -> bool| (0..issue_ports).filter(|&p| is(p)).count();
        let sources = |mask: u8, p: usize| mask >> (OPERANDS * p) & 0b111 != 0;
        let forced = |p: usize| going.contains(&p) && c.opposed(p) && bit(i.cfg_i, 2);
        let next = fetched.is_some_and(|b| i.force_valid_i == 0 && bit(i.fresh_i, b));
        let sharing = c.banks().map(|b| c.wanting(b).len()).filter(|&wanting| wanting >= 2).sum();
        let of_closed = |&&s: &&usize| c.active(s) && c.closed(i.at_bank_i[s].into());
        let counts = [
            count_ports(&|p| sources(i.want_valid_i, p)),
            sharing,
            out.stolen_o.count_ones() as usize,
            count_ports(&|p| sources(out.stolen_o, p)),
            normal.iter().flatten().filter(|&&s| c.blocking(s)).count(),
            count_ports(&|p| going.contains(&p) && !forced(p)),
            count_ports(&forced),
            count_ports(&|p| forced(p) && !bit(i.write_full_i, p)),
            count_ports(&|p| forced(p) && bit(i.write_full_i, p) && soon(p)),
            parked.len(),
            count_ports(&|p| c.writes(p) && !c.held(p) && c.has_bus(p) && bit(i.write_parked_i, p)),
            count_ports(&|p| c.writes(p) && !c.has_bus(p)),
            next.into(),
            (fetched.is_some() && i.force_valid_i == 0 && !next).into(),
            i.force_valid_i.into(),
            (i.force_valid_i & i.force_read_i).into(),
            (i.force_valid_i & i.force_write_i).into(),
            (i.force_valid_i & i.force_alive_i).into(),
            i.land_valid_i.into(),
            c.reads.iter().filter(|&&s| !c.active(s)).count(),
            c.reads.iter().filter(of_closed).count(),
            c.banks().filter(|&b| bit(i.parked_i, b)).count(),
            c.banks().filter(|&b| bit(i.free_valid_i, b) && !bit(i.parked_i, b)).count(),
        ];
        out.steal_event_o = word(STEAL_ARBITER_EVENT, &counts);
        out.drop_o = out.write_done_o & i.drop_valid_i;
        let elsewhere = normal.iter().flatten().filter(|&&s| i.at_bank_i[s] != i.req_bank_i[s]).count();
        out.place_event_o = word(STEAL_PLACE_EVENT, &[elsewhere, out.drop_o.count_ones() as usize]);
        (self.rr, self.turn, self.park_turn) = (rr, turn, park_turn);
        if i.rst_ni == 0 {
            *self = Self::new(self.shape);
        }
        (out, probe)
    }
}

/// An event word.
fn word(layout: &[(&str, u32)], counts: &[usize]) -> u64 {
    assert_eq!(layout.len(), counts.len());
    layout.iter().zip(counts).fold(0, |word, (&(_, bits), &count)| word << bits | count as u64)
}
