//! Situations of `hierarchy_entries`.

use gpurf_blocks::hierarchy::{
    HierarchyEntriesIn, HierarchyEntriesOut, HierarchyEntriesProbe, HierarchyShape, MAX_LRF_BANKS, MAX_ORF_ENTRIES,
};

use super::super::{element, places};
use crate::Cover;

pub(crate) struct EntriesCover {
    shape: HierarchyShape,
    /// Slots that were emptied at the last edge.
    emptied: u64,
    /// Registers of the results that ended at the last edge, with their slots.
    ended: Vec<(usize, u8)>,
}

impl Cover for EntriesCover {
    type In = HierarchyEntriesIn;
    type Out = HierarchyEntriesOut;
    type Probe = HierarchyEntriesProbe;

    fn points(shape: &HierarchyShape) -> Vec<&'static str> {
        let mut points = vec![
            "a place is read",
            "some lanes of a place are read",
            "a copy is to come",
            "a result is to come",
            "a result is to come to a place and to the MRF",
            "lanes join those that a place has",
            "a place is filled once more, all its lanes are valid",
            "a fill without lanes",
            "an instruction without places",
            "an instruction ends its strand and fills a place",
            "a strand ends without an instruction",
            "a strand ends that has written nothing",
            "a strand ends, something is under way",
            "all that was to come is written",
            "a part of what is to come is written",
            "nothing of what is to come is written",
            "the last entry of the last slot is filled",
            "a result matches an entry",
            "a result matches, and goes to the MRF too",
            "a result matches in the cycle in which its last lanes are written",
            "no match: a copy is to come to a place with that register",
            "no match: another slot waits for that register",
            "no match: that register has been written in the cycle before",
            "a place is filled in the cycle in which another one is written",
            "a slot is emptied, something is under way",
            "a slot with valid lanes is emptied",
            "a slot is emptied at once",
            "a slot that has just been emptied is used",
            "a slot has no valid lane, something is under way",
            "reset under load",
        ];
        if shape.places() >= 2 {
            points.extend(["two places are read", "two places of a slot wait"]);
        }
        if shape.entries >= 2 {
            points.extend(["two copies are to come", "a copy and a result are to come"]);
        }
        if shape.entries < MAX_ORF_ENTRIES {
            points.push("an entry is written that is not there");
        }
        if shape.lrf_banks > 0 {
            points.extend(["a bank is read", "a result matches a bank", "ORF and LRF of a port are written"]);
        }
        if shape.lrf_banks < MAX_LRF_BANKS {
            points.push("a bank is written that is not there");
        }
        if shape.ports() == 2 {
            points.extend([
                "two instructions are taken",
                "both ports' ORFs are written",
                "both results match in one slot",
                "bus 0 brings a result for port 1",
                "bus 1 brings a result for port 0",
                "both strands end",
            ]);
        }
        points
    }

    fn new(shape: &HierarchyShape) -> Self {
        Self { shape: *shape, emptied: 0, ended: Vec::new() }
    }

    fn observe(
        &mut self,
        i: &HierarchyEntriesIn,
        o: &HierarchyEntriesOut,
        p: &HierarchyEntriesProbe,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let mut point = |name: &'static str, now: bool| {
            if now {
                hit(name);
            }
        };
        if i.rst_ni == 0 {
            point("reset under load", i.take_valid_i != 0 && p.wait_q.iter().any(|&lanes| lanes != 0));
            (self.emptied, self.ended) = (0, Vec::new());
            return;
        }
        let count = self.shape.ports();
        for q in 0..count {
            self.instruction(i, o, p, q, &mut point);
            self.result(i, o, p, q, &mut point);
        }
        self.writes(i, p, &mut point);
        point("two instructions are taken", i.take_valid_i == 3);
        point("both ports' ORFs are written", i.orf_valid_i == 3);
        point("both strands end", i.end_i == 3);
        point("both results match in one slot", o.look_match_o == 3 && i.look_slot_i[0] == i.look_slot_i[1]);
        for s in 0..self.shape.active {
            let (flushed, done) = (i.flush_i >> s & 1 == 1, o.flush_done_o >> s & 1 == 1);
            let void = o.void_o >> s & 1 == 1;
            point("a slot is emptied, something is under way", flushed && !done);
            point("a slot with valid lanes is emptied", done && !void);
            point("a slot is emptied at once", done && void);
            point("a slot has no valid lane, something is under way", void && o.wait_o[s] != 0);
            point("two places of a slot wait", o.wait_o[s].count_ones() >= 2);
        }
        self.emptied = o.flush_done_o;
    }
}

type Point<'a> = dyn FnMut(&'static str, bool) + 'a;

impl EntriesCover {
    fn instruction(
        &self,
        i: &HierarchyEntriesIn,
        o: &HierarchyEntriesOut,
        p: &HierarchyEntriesProbe,
        q: usize,
        point: &mut Point,
    ) {
        let (taken, ends) = (i.take_valid_i >> q & 1 == 1, i.end_i >> q & 1 == 1);
        let (slot, mask) = (usize::from(i.take_slot_i[q]), i.take_mask_i[q]);
        let void = o.void_o >> slot & 1 == 1;
        point("a strand ends without an instruction", ends && !taken);
        point("a strand ends that has written nothing", ends && void);
        point("a strand ends, something is under way", ends && !void && o.wait_o[slot] != 0);
        if !taken {
            return;
        }
        let (read, copy, result) = (i.take_read_i[q], i.take_copy_i[q], i.take_result_i[q]);
        let fill = copy | result;
        let both = i.take_both_i >> q & 1 == 1;
        let valid = |place: usize| p.valid_q[element(&self.shape, slot, place)];
        let reads = |place: &usize| read >> place & 1 == 1;
        let count = places(&self.shape).filter(reads).count();
        point("a place is read", count == 1 && mask != 0);
        point("two places are read", count >= 2 && mask != 0);
        let some = |place: usize| reads(&place) && mask != 0 && valid(place) & !mask != 0;
        point("some lanes of a place are read", places(&self.shape).any(some));
        point("a bank is read", read >> MAX_ORF_ENTRIES != 0 && mask != 0 && count != 0);
        point("a copy is to come", copy.count_ones() == 1 && result == 0);
        point("two copies are to come", copy.count_ones() >= 2);
        point("a result is to come", result != 0 && !both);
        point("a result is to come to a place and to the MRF", result != 0 && both);
        point("a copy and a result are to come", copy != 0 && result != 0);
        for place in places(&self.shape).filter(|place| fill >> place & 1 == 1) {
            point("lanes join those that a place has", mask & !valid(place) != 0 && valid(place) != 0);
            point("a place is filled once more, all its lanes are valid", mask != 0 && mask & !valid(place) == 0);
            let last = place + 1 == self.shape.entries && slot + 1 == self.shape.active;
            point("the last entry of the last slot is filled", last);
        }
        point("a fill without lanes", fill != 0 && mask == 0);
        point("an instruction without places", read | fill == 0);
        point("an instruction ends its strand and fills a place", ends && fill != 0 && mask != 0);
        let written = (i.orf_valid_i | i.lrf_valid_i) >> q & 1 == 1;
        point("a place is filled in the cycle in which another one is written", written && fill != 0 && mask != 0);
        point("a slot that has just been emptied is used", self.emptied >> slot & 1 == 1);
    }

    fn result(
        &self,
        i: &HierarchyEntriesIn,
        o: &HierarchyEntriesOut,
        p: &HierarchyEntriesProbe,
        b: usize,
        point: &mut Point,
    ) {
        if i.look_valid_i >> b & 1 == 0 {
            return;
        }
        let (slot, register) = (usize::from(i.look_slot_i[b]), i.look_reg_i[b]);
        let port = slot % self.shape.ports();
        let matches = o.look_match_o >> b & 1 == 1;
        point("bus 0 brings a result for port 1", matches && b == 0 && port == 1);
        point("bus 1 brings a result for port 0", matches && b == 1 && port == 0);
        let place = usize::from(o.look_place_o[b]);
        if matches {
            point("a result matches an entry", place < MAX_ORF_ENTRIES);
            point("a result matches a bank", place >= MAX_ORF_ENTRIES);
            point("a result matches, and goes to the MRF too", o.look_both_o >> b & 1 == 1);
            let ends = |(written, wait): (Option<(usize, u32)>, u32)| {
                written == Some((element(&self.shape, slot, place), wait))
            };
            let wait = p.wait_q[element(&self.shape, slot, place)];
            let now = self.written(i, port).into_iter().any(|written| ends((written, wait)));
            point("a result matches in the cycle in which its last lanes are written", now);
            return;
        }
        let has = |s: usize, result: bool| {
            places(&self.shape).any(|place| {
                let at = element(&self.shape, s, place);
                let is_result = p.result_q[s] >> (at - element(&self.shape, s, 0)) & 1 == 1;
                p.wait_q[at] != 0 && p.reg_q[at] == register && is_result == result
            })
        };
        point("no match: a copy is to come to a place with that register", has(slot, false));
        let other = (0..self.shape.active).any(|s| s != slot && has(s, true));
        point("no match: another slot waits for that register", other);
        let before = self.ended.contains(&(slot, register));
        point("no match: that register has been written in the cycle before", before);
    }

    /// What is written of a port's ORF and LRF: elements and lanes.
    fn written(&self, i: &HierarchyEntriesIn, c: usize) -> [Option<(usize, u32)>; 2] {
        let at = |local: u8, place: usize| element(&self.shape, usize::from(local) * self.shape.ports() + c, place);
        let (entry, bank) = (usize::from(i.orf_entry_i[c]), usize::from(i.lrf_bank_i[c]));
        let orf = i.orf_valid_i >> c & 1 == 1 && entry < self.shape.entries;
        let lrf = i.lrf_valid_i >> c & 1 == 1 && bank < self.shape.lrf_banks;
        [
            orf.then(|| (at(i.orf_slot_i[c], entry), i.orf_mask_i[c])),
            lrf.then(|| (at(i.lrf_slot_i[c], MAX_ORF_ENTRIES + bank), i.lrf_mask_i[c])),
        ]
    }

    fn writes(&mut self, i: &HierarchyEntriesIn, p: &HierarchyEntriesProbe, point: &mut Point) {
        self.ended.clear();
        for c in 0..self.shape.ports() {
            let written = self.written(i, c);
            point("ORF and LRF of a port are written", written.iter().all(Option::is_some));
            let (orf, lrf) = (i.orf_valid_i >> c & 1 == 1, i.lrf_valid_i >> c & 1 == 1);
            point("an entry is written that is not there", orf && written[0].is_none());
            point("a bank is written that is not there", lrf && written[1].is_none());
            for (at, lanes) in written.into_iter().flatten() {
                let wait = p.wait_q[at];
                point("all that was to come is written", lanes != 0 && lanes == wait);
                point("a part of what is to come is written", lanes != 0 && lanes != wait);
                point("nothing of what is to come is written", lanes == 0 && wait != 0);
                if lanes == wait {
                    self.ended.push((at / self.shape.places(), p.reg_q[at]));
                }
            }
        }
    }
}
