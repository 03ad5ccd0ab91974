//! Situations of `hierarchy_entries`.

use gpurf_blocks::config::Config;
use gpurf_blocks::hierarchy::{
    HierarchyEntriesIn, HierarchyEntriesOut, HierarchyEntriesProbe, HierarchyShape, MAX_LRF_BANKS, MAX_ORF_ENTRIES,
};

use super::super::{element, places};
use crate::{Points, cover};

pub(crate) struct EntriesCover {
    shape: HierarchyShape,
    /// Slots that were flushed at the last clock edge.
    emptied: u64,
    /// Registers of the results that ended at the last clock edge, with their slots.
    ended: Vec<(usize, u8)>,
}

#[cover]
impl EntriesCover {
    fn new(shape: &HierarchyShape, _: &Config) -> Self {
        Self { shape: *shape, emptied: 0, ended: Vec::new() }
    }

    fn observe(
        &mut self,
        i: &HierarchyEntriesIn,
        o: &HierarchyEntriesOut,
        p: &HierarchyEntriesProbe,
        points: &mut Points,
    ) {
        if i.rst_ni == 0 {
            point!("reset under load", i.take_valid_i != 0 && p.wait_q.iter().any(|&lanes| lanes != 0));
            (self.emptied, self.ended) = (0, Vec::new());
            return;
        }
        let count = self.shape.ports();
        for q in 0..count {
            self.instruction(i, o, p, q, points);
            self.result(i, o, p, q, points);
        }
        self.writes(i, p, points);
        #[given(self.shape.ports() == 2)]
        {
            point!("two instructions are taken", i.take_valid_i == 3);
            point!("both ports' ORFs are written", i.orf_valid_i == 3);
            point!("both strands end", i.end_i == 3);
            point!("both results match in one slot", o.look_match_o == 3 && i.look_slot_i[0] == i.look_slot_i[1]);
        }
        for s in 0..self.shape.active {
            let (flushed, done) = (i.flush_i >> s & 1 == 1, o.flush_done_o >> s & 1 == 1);
            let void = o.void_o >> s & 1 == 1;
            point!("a slot is emptied, something is under way", flushed && !done);
            point!("a slot with valid lanes is emptied", done && !void);
            point!("a slot is emptied at once", done && void);
            point!("a slot has no valid lane, something is under way", void && o.wait_o[s] != 0);
            point!("two places of a slot wait", o.wait_o[s].count_ones() >= 2, given = self.shape.places() >= 2);
        }
        self.emptied = o.flush_done_o;
    }

    fn instruction(
        &self,
        i: &HierarchyEntriesIn,
        o: &HierarchyEntriesOut,
        p: &HierarchyEntriesProbe,
        q: usize,
        points: &mut Points,
    ) {
        let (taken, ends) = (i.take_valid_i >> q & 1 == 1, i.end_i >> q & 1 == 1);
        let (slot, mask) = (usize::from(i.take_slot_i[q]), i.take_mask_i[q]);
        let void = o.void_o >> slot & 1 == 1;
        point!("a strand ends without an instruction", ends && !taken);
        point!("a strand ends that has written nothing", ends && void);
        point!("a strand ends, something is under way", ends && !void && o.wait_o[slot] != 0);
        if !taken {
            return;
        }
        let (read, copy, result) = (i.take_read_i[q], i.take_copy_i[q], i.take_result_i[q]);
        let fill = copy | result;
        let both = i.take_both_i >> q & 1 == 1;
        let valid = |place: usize| p.valid_q[element(&self.shape, slot, place)];
        let reads = |place: &usize| read >> place & 1 == 1;
        let count = places(&self.shape).filter(reads).count();
        point!("a place is read", count == 1 && mask != 0);
        point!("two places are read", count >= 2 && mask != 0, given = self.shape.places() >= 2);
        let some = |place: usize| reads(&place) && mask != 0 && valid(place) & !mask != 0;
        point!("some lanes of a place are read", places(&self.shape).any(some));
        point!(
            "a bank is read",
            read >> MAX_ORF_ENTRIES != 0 && mask != 0 && count != 0,
            given = self.shape.lrf_banks > 0
        );
        point!("a copy is to come", copy.count_ones() == 1 && result == 0);
        point!("two copies are to come", copy.count_ones() >= 2, given = self.shape.entries >= 2);
        point!("a result is to come", result != 0 && !both);
        point!("a result is to come to a place and to the MRF", result != 0 && both);
        point!("a copy and a result are to come", copy != 0 && result != 0, given = self.shape.entries >= 2);
        for place in places(&self.shape).filter(|place| fill >> place & 1 == 1) {
            point!("lanes join those that a place has", mask & !valid(place) != 0 && valid(place) != 0);
            point!("a place is filled once more, all its lanes are valid", mask != 0 && mask & !valid(place) == 0);
            let last = place + 1 == self.shape.entries && slot + 1 == self.shape.active;
            point!("the last entry of the last slot is filled", last);
        }
        point!("a fill without lanes", fill != 0 && mask == 0);
        point!("an instruction without places", read | fill == 0);
        point!("an instruction ends its strand and fills a place", ends && fill != 0 && mask != 0);
        let written = (i.orf_valid_i | i.lrf_valid_i) >> q & 1 == 1;
        point!("a place is filled in the cycle in which another one is written", written && fill != 0 && mask != 0);
        point!("a slot that has just been emptied is used", self.emptied >> slot & 1 == 1);
    }

    fn result(
        &self,
        i: &HierarchyEntriesIn,
        o: &HierarchyEntriesOut,
        p: &HierarchyEntriesProbe,
        b: usize,
        points: &mut Points,
    ) {
        if i.look_valid_i >> b & 1 == 0 {
            return;
        }
        let (slot, register) = (usize::from(i.look_slot_i[b]), i.look_reg_i[b]);
        let port = slot % self.shape.ports();
        let matches = o.look_match_o >> b & 1 == 1;
        point!("bus 0 brings a result for port 1", matches && b == 0 && port == 1, given = self.shape.ports() == 2);
        point!("bus 1 brings a result for port 0", matches && b == 1 && port == 0, given = self.shape.ports() == 2);
        let place = usize::from(o.look_place_o[b]);
        if matches {
            point!("a result matches an entry", place < MAX_ORF_ENTRIES);
            point!("a result matches a bank", place >= MAX_ORF_ENTRIES, given = self.shape.lrf_banks > 0);
            point!("a result matches, and goes to the MRF too", o.look_both_o >> b & 1 == 1);
            let ends = |(written, wait): (Option<(usize, u32)>, u32)| {
                written == Some((element(&self.shape, slot, place), wait))
            };
            let wait = p.wait_q[element(&self.shape, slot, place)];
            let now = self.written(i, port).into_iter().any(|written| ends((written, wait)));
            point!("a result matches in the cycle in which its last lanes are written", now);
            return;
        }
        let has = |s: usize, result: bool| {
            places(&self.shape).any(|place| {
                let at = element(&self.shape, s, place);
                let is_result = p.result_q[s] >> (at - element(&self.shape, s, 0)) & 1 == 1;
                p.wait_q[at] != 0 && p.reg_q[at] == register && is_result == result
            })
        };
        point!("no match: a copy is to come to a place with that register", has(slot, false));
        let other = (0..self.shape.active).any(|s| s != slot && has(s, true));
        point!("no match: another slot waits for that register", other);
        let before = self.ended.contains(&(slot, register));
        point!("no match: that register has been written in the cycle before", before);
    }

    /// The writes to a port's ORF and LRF: indices of elements, and lanes.
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

    fn writes(&mut self, i: &HierarchyEntriesIn, p: &HierarchyEntriesProbe, points: &mut Points) {
        self.ended.clear();
        for c in 0..self.shape.ports() {
            let written = self.written(i, c);
            point!(
                "ORF and LRF of a port are written",
                written.iter().all(Option::is_some),
                given = self.shape.lrf_banks > 0
            );
            let (orf, lrf) = (i.orf_valid_i >> c & 1 == 1, i.lrf_valid_i >> c & 1 == 1);
            point!(
                "an entry is written that is not there",
                orf && written[0].is_none(),
                given = self.shape.entries < MAX_ORF_ENTRIES
            );
            point!(
                "a bank is written that is not there",
                lrf && written[1].is_none(),
                given = self.shape.lrf_banks < MAX_LRF_BANKS
            );
            for (at, lanes) in written.into_iter().flatten() {
                let wait = p.wait_q[at];
                point!("all that was to come is written", lanes != 0 && lanes == wait);
                point!("a part of what is to come is written", lanes != 0 && lanes != wait);
                point!("nothing of what is to come is written", lanes == 0 && wait != 0);
                if lanes == wait {
                    self.ended.push((at / self.shape.places(), p.reg_q[at]));
                }
            }
        }
    }
}
