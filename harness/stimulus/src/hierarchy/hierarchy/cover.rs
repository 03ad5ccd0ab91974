//! Situations of `hierarchy`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::hierarchy::{
    HIERARCHY_COUNT_EVENT, HierarchyIn, HierarchyOut, HierarchyProbe, HierarchyShape, MAX_ORF_ENTRIES,
};

use super::super::element;
use crate::cover::part;
use crate::{Points, cover};

pub(crate) struct HierarchyCover {
    shape: HierarchyShape,
    /// Slots that have been flushed and not been taken since.
    emptied: u64,
    /// Slots that were valid in the cycle before.
    valid: u64,
}

#[cover]
impl HierarchyCover {
    fn new(shape: &HierarchyShape, _: &Config) -> Self {
        Self { shape: *shape, emptied: 0, valid: 0 }
    }

    fn observe(&mut self, i: &HierarchyIn, o: &HierarchyOut, p: &HierarchyProbe, points: &mut Points) {
        if i.rst_ni == 0 {
            point!("reset under load", p.results.valid_q != 0 && p.entries.wait_q.iter().any(|&lanes| lanes != 0));
            (self.emptied, self.valid) = (0, 0);
            return;
        }
        for q in 0..self.shape.ports() {
            self.instruction(i, o, p, q, points);
            self.result(i, o, p, q, points);
        }
        self.arrays(o, p, points);
        let taken = i.slot_valid_i & !self.valid;
        point!("a slot is taken that has just been emptied", taken & self.emptied != 0);
        for s in (0..self.shape.active).filter(|s| i.flush_i >> s & 1 == 1) {
            let done = o.flush_done_o >> s & 1 == 1;
            // A single copy is written in the cycle in which it waits.
            point!(
                "a slot is emptied, copies are in their latches",
                !done && p.copies.left_q != 0,
                given = self.shape.entries > 1 || self.shape.ports() > 1
            );
            point!("a slot with valid lanes is emptied", done && o.void_o >> s & 1 == 0);
        }
        self.emptied = self.emptied & !i.slot_valid_i | o.flush_done_o;
        self.valid = i.slot_valid_i;
    }

    fn instruction(&self, i: &HierarchyIn, o: &HierarchyOut, p: &HierarchyProbe, q: usize, points: &mut Points) {
        let nets = &p.nets;
        let at = |set: u8| set >> q & 1 == 1;
        let three = |set: u8| set >> (OPERANDS * q) & 7;
        let slot = usize::from(i.issue_slot_i[q]);
        let ends = at(i.issue_end_i);
        point!("a strand ends, results are under way", ends && o.wait_o[slot] != 0);
        point!("a strand ends and throws lanes away", ends && o.void_o >> slot & 1 == 0);
        point!("a strand ends without an instruction", ends && !at(i.issue_valid_i));
        point!("an instruction waits for a collector", at(i.issue_valid_i & !o.issue_ready_o));
        point!(
            "an instruction waits for the copy latches",
            at(nets.copies_hold),
            given = self.shape.entries > 1 || self.shape.ports() > 1
        );
        if !at(nets.take) {
            return;
        }
        let sources = three(i.issue_src_valid_i);
        let (orf, lrf, mrf) = (three(nets.levels_orf), three(nets.levels_lrf), three(nets.levels_mrf));
        point!("all sources from the ORF", orf == 7);
        point!("all sources from the MRF", mrf == 7);
        point!("sources from ORF and MRF", orf != 0 && mrf != 0);
        point!("no register source", sources == 0);
        point!("a source from the LRF", lrf != 0, given = self.shape.lrf_banks > 0);
        point!("sources from ORF and LRF", lrf != 0 && orf != 0, given = self.shape.lrf_banks > 0);
        point!("two banks are read", lrf.count_ones() == 2, given = self.shape.lrf_banks == 3);
        point!("one entry for two sources", three(nets.levels_orf_read).count_ones() < orf.count_ones());
        let (read, copy, result) = (nets.levels_read_place[q], nets.levels_copy_place[q], nets.levels_result_place[q]);
        let to_orf = result & ((1 << MAX_ORF_ENTRIES) - 1) != 0;
        point!("an instruction reads an entry that its result goes to", to_orf && read & result != 0);
        point!("an instruction reads and copies", read != 0 && copy != 0);
        point!(
            "an instruction copies, its result goes to a place",
            copy != 0 && result != 0,
            given = self.shape.places() > 1
        );
        let filled = copy | result;
        let again = (0..self.shape.entries).any(|place| {
            filled >> place & 1 == 1 && p.entries.valid_q[element(&self.shape, slot, place)] & i.issue_mask_i[q] != 0
        });
        point!("a place is filled again, its strand's old value has been read", again);
    }

    fn result(&self, i: &HierarchyIn, o: &HierarchyOut, p: &HierarchyProbe, b: usize, points: &mut Points) {
        let nets = &p.nets;
        let at = |set: u8| set >> b & 1 == 1;
        if !at(i.write_valid_i & o.write_ready_o) {
            return;
        }
        let (looks, matches) = (at(nets.results_look_valid), at(nets.entries_look_match));
        point!("a result goes to a place and to the MRF", matches && at(nets.entries_look_both));
        let to_mrf = looks && !matches && i.write_i[b].from_private() == 0;
        point!("a result that takes long goes to the MRF, its warp has a slot", to_mrf);
        point!("a result of a warp without a slot", !looks);
        if !matches {
            return;
        }
        let slot = usize::from(nets.results_look_slot[b]);
        let place = element(&self.shape, slot, nets.entries_look_place[b].into());
        let (wait, valid) = (p.entries.wait_q[place], p.entries.valid_q[place]);
        point!("a part of a result is written, more is to come", wait & !i.write_i[b].mask() != 0);
        point!("results of the last strand land in this one", wait & valid == 0);
    }

    fn arrays(&self, o: &HierarchyOut, p: &HierarchyProbe, points: &mut Points) {
        let (nets, count) = (&p.nets, self.shape.ports());
        let event = |name: &str| part(HIERARCHY_COUNT_EVENT, o.count_event_o, name);
        point!("a copy is written", event("hierarchy_copy") > 0);
        point!("a result waits for the write port", event("hierarchy_result_wait") > 0);
        point!("a result is written to the ORF", event("hierarchy_orf_write") > 0);
        point!("a result is written to the LRF", event("hierarchy_lrf_write") > 0, given = self.shape.lrf_banks > 0);
        point!(
            "copies of several ports or sources wait",
            p.copies.left_q.count_ones() > 1,
            given = self.shape.entries > 1 || self.shape.ports() > 1
        );
        point!("the MRF offers before the ORF has given", nets.mrf_dispatch_valid & !nets.operands_dispatch_valid != 0);
        point!(
            "ORF and LRF of a port are written",
            nets.results_orf_valid & nets.results_lrf_valid != 0,
            given = self.shape.lrf_banks > 0
        );
        point!("two instructions are taken", nets.take == 3, given = self.shape.ports() == 2);
        point!("both ports have copies", nets.copies_copy_valid == 3, given = self.shape.ports() == 2);
        let port = |slot: u8| usize::from(slot) % count;
        for q in 0..count {
            let copies = nets.copies_copy_valid >> q & 1 == 1;
            let other = copies && port(nets.copies_copy_slot[q]) != q;
            point!("a copy of port 0 for the ORF of port 1", q == 0 && other, given = self.shape.ports() == 2);
            point!("a copy of port 1 for the ORF of port 0", q == 1 && other, given = self.shape.ports() == 2);
        }
        if p.results.valid_q == 3 {
            let (first, second) = (port(p.results.slot_q[0]), port(p.results.slot_q[1]));
            let lrf = |b: usize| usize::from(p.results.place_q[b]) >= MAX_ORF_ENTRIES;
            point!(
                "both results wait for one array",
                first == second && lrf(0) == lrf(1),
                given = self.shape.ports() == 2
            );
            point!("results cross", (first, second) == (1, 0), given = self.shape.ports() == 2);
        }
    }
}
