//! Situations of `hierarchy_results`.

use gpurf_blocks::config::Config;
use gpurf_blocks::hierarchy::{
    HierarchyResultsIn, HierarchyResultsOut, HierarchyResultsProbe, HierarchyShape, MAX_ORF_ENTRIES,
};

use crate::{Points, cover};

pub(crate) struct ResultsCover {
    shape: HierarchyShape,
    /// Buses whose result is in the MRF's queue.
    queued: u8,
    /// Buses whose result goes both to a place and to the MRF, and has not ended.
    both: u8,
}

#[cover]
impl ResultsCover {
    fn new(shape: &HierarchyShape, _: &Config) -> Self {
        Self { shape: *shape, queued: 0, both: 0 }
    }

    fn observe(
        &mut self,
        i: &HierarchyResultsIn,
        o: &HierarchyResultsOut,
        p: &HierarchyResultsProbe,
        points: &mut Points,
    ) {
        let taken = i.write_valid_i & o.write_ready_o;
        point!("loads in reset", i.rst_ni == 0 && taken & i.look_match_i != 0);
        point!("reset under load", i.rst_ni == 0 && p.valid_q != 0 && i.copy_valid_i != 0);
        if i.rst_ni == 0 {
            (self.queued, self.both) = (0, 0);
            return;
        }
        let count = self.shape.ports();
        let up = i.look_match_i;
        let go = p.valid_q & !o.wait_o;
        for b in 0..count {
            let at = |set: u8| set >> b & 1 == 1;
            let takes = at(taken);
            point!("a result goes to a place only", takes && at(up) && !at(i.look_both_i));
            point!("a result goes to a place and to the MRF", takes && at(up & i.look_both_i));
            point!("a result goes to the MRF only, no place waits", takes && at(o.look_valid_o & !up));
            point!("a result goes to the MRF only, its warp has no slot", takes && !at(o.look_valid_o));
            point!("a result waits for its bus' latch", at(i.write_valid_i) && at(o.wait_o & i.mrf_ready_i));
            point!("a result waits for the MRF's queue", at(i.write_valid_i & !i.mrf_ready_i & !o.wait_o));
            point!("a result follows the one that is written", takes && at(go));
            point!("a result to the MRF only follows one to a place", takes && at(go) && !at(up));
            point!("a result to a place follows one to the MRF", takes && at(i.mrf_done_i & up) && !at(p.valid_q));
            let slot = usize::from(p.slot_q[b]);
            let other = at(p.valid_q) && i.slot_valid_i >> slot & 1 == 0;
            point!("its slot has become another one's", other);
            point!("a private result is written", at(go & p.private_q));
            if at(self.both) {
                let (place, bank) = (at(go), at(i.mrf_done_i));
                let (place_left, bank_left) = (at(p.valid_q), at(self.queued));
                point!("of a result for both the place is written first", place && bank_left && !bank);
                point!("of a result for both the bank is written first", bank && place_left && !place);
                point!("of a result for both the parts are written at once", place && bank);
            }
        }
        self.arrays(i, o, p, points);
        self.queued = self.queued & !i.mrf_done_i | o.mrf_valid_o & i.mrf_ready_i;
        self.both = self.both & !o.write_done_o | taken & up & i.look_both_i;
    }

    fn arrays(&self, i: &HierarchyResultsIn, o: &HierarchyResultsOut, p: &HierarchyResultsProbe, points: &mut Points) {
        let count = self.shape.ports();
        let array = |slot: u8| usize::from(slot) % count;
        let copy = |q: usize| (i.copy_valid_i >> q & 1 == 1).then(|| array(i.copy_slot_i[q]));
        let result = |b: usize| (p.valid_q >> b & 1 == 1).then(|| array(p.slot_q[b]));
        let in_lrf = |b: usize| usize::from(p.place_q[b]) >= MAX_ORF_ENTRIES;
        for c in 0..count {
            let at = |set: u8| set >> c & 1 == 1;
            let copies = (0..count).filter(|&q| copy(q) == Some(c)).count();
            let wanting = |lrf: bool| (0..count).filter(|&b| result(b) == Some(c) && in_lrf(b) == lrf).count();
            let (orf, lrf) = (wanting(false), wanting(true));
            point!("an entry is written", at(o.orf_valid_o & !o.orf_copy_o));
            point!("a bank is written", at(o.lrf_valid_o));
            point!("a copy is written", copies > 0);
            point!("a private copy is written", at(o.orf_copy_o & o.orf_private_o));
            point!("a result waits for a copy", copies > 0 && orf == 1);
            point!("a copy and a bank are written", copies > 0 && lrf > 0);
            let turn = at(p.turn_q);
            #[given(self.shape.ports() == 2)]
            {
                point!("both copies are for one array: port 0 goes", copies == 2 && !at(p.copy_turn_q));
                point!("both copies are for one array: port 1 goes", copies == 2 && at(p.copy_turn_q));
                point!("both results are for one ORF: bus 0 goes", orf == 2 && copies == 0 && !turn);
                point!("both results are for one ORF: bus 1 goes", orf == 2 && copies == 0 && turn);
                point!("both results are for one ORF, a copy goes", orf == 2 && copies > 0);
                point!("both results are for one LRF: bus 0 goes", lrf == 2 && !turn);
                point!("both results are for one LRF: bus 1 goes", lrf == 2 && turn);
                point!("both results are for one LRF, a copy goes", lrf == 2 && copies > 0);
                point!("one result for the ORF, one for the LRF of an array", orf == 1 && lrf == 1 && copies == 0);
                point!("one of them waits for a copy", orf == 1 && lrf == 1 && copies > 0);
            }
        }
        if count == 2 {
            let both =
                |of: &dyn Fn(usize) -> Option<usize>, first: usize| of(0) == Some(first) && of(1) == Some(1 - first);
            #[given(self.shape.ports() == 2)]
            {
                point!("copies for both arrays", both(&copy, 0));
                point!("copies cross", both(&copy, 1));
                point!("results for both arrays", both(&result, 0));
                point!("results cross", both(&result, 1));
                point!("both turns are of bus 1", p.turn_q == 3);
            }
        }
    }
}
