//! Situations of `rfc_results`.

use gpurf_blocks::config::Config;
use gpurf_blocks::rfc::RfcShape;
use gpurf_blocks::rfc::{RfcResultsIn, RfcResultsOut, RfcResultsProbe};

use crate::{Points, cover};

pub(crate) struct ResultsCover {
    shape: RfcShape,
    /// Registers of each slot whose results bypass the cache.
    around: Vec<[u64; 4]>,
    /// Registers of each slot whose results bypass the LRF.
    past: Vec<[u64; 4]>,
    /// Buses whose result was in its latch in the previous cycle and has not ended.
    stayed: u8,
    /// Those of them whose result belonged to the cache.
    was_cached: u8,
}

#[cover]
impl ResultsCover {
    fn new(shape: &RfcShape, _: &Config) -> Self {
        let none = vec![[0; 4]; shape.active];
        Self { shape: *shape, around: none.clone(), past: none, stayed: 0, was_cached: 0 }
    }

    fn observe(&mut self, i: &RfcResultsIn, o: &RfcResultsOut, p: &RfcResultsProbe, points: &mut Points) {
        let count = self.shape.ports();
        point!("loads in reset", i.rst_ni == 0 && i.write_valid_i & o.write_ready_o != 0);
        point!("reset under load", i.rst_ni == 0 && p.valid_q & (p.sent_q | o.queue_valid_o) != 0);
        if i.rst_ni == 0 {
            (self.stayed, self.was_cached) = (0, 0);
            self.note(i, points);
            return;
        }
        let bit = |set: u8, b: usize| set >> b & 1 == 1;
        let (mut wants, mut kills, mut cached) = ([None; 2], 0u8, 0u8);
        for b in 0..count {
            let (warp, register) = (o.result_warp_o[b], o.result_reg_o[b]);
            let there = |s: &usize| i.slot_valid_i >> s & 1 == 1 && i.slot_warp_i[*s] == warp;
            let slot = (0..self.shape.active).find(there);
            let flushed = slot.is_some_and(|s| i.flush_i >> s & 1 == 1);
            let noted = slot.is_some_and(|s| self.around[s][usize::from(register / 64)] >> (register % 64) & 1 == 1);
            let (valid, sent, ends) = (bit(p.valid_q, b), bit(p.sent_q, b), bit(o.write_done_o, b));
            let outside = bit(p.outside_q, b);
            let to_cache = valid && slot.is_some() && !outside && !flushed && !noted;
            let (evicts, matches) = (bit(i.evict_valid_i, b), bit(i.match_i, b));
            let may = valid && !to_cache && !sent && !matches && !evicts;
            cached |= u8::from(to_cache) << b;
            let held = slot.is_some_and(|s| bit(i.hold_i, s % count));
            let (private, upper) = (bit(p.private_q, b), slot.is_some_and(|s| bit(o.op_upper_o, s % count)));
            let past = slot.is_some_and(|s| self.past[s][usize::from(register / 64)] >> (register % 64) & 1 == 1);
            point!("a result belongs into the LRF", to_cache && ends && private && !past && upper);
            point!("a result of a private unit goes past the LRF", to_cache && ends && private && past);
            point!("a result of a private unit goes around", bit(o.around_o, b) && private && !past);
            point!("a result of a shared unit", to_cache && ends && !private && !past);
            point!("a result that belongs into the LRF waits", to_cache && !ends && private && !past && !held);
            point!("a result waits for a fill of its cache", to_cache && held);
            let around = may && slot.is_some() && bit(i.mrf_ready_i, b);
            point!("a result that goes around waits for a fill of its cache", around && held);
            let all = i.hold_i.count_ones() as usize == count;
            point!("a result without a slot as all caches are filled", bit(o.around_o, b) && slot.is_none() && all);
            if !held && (to_cache || may && slot.is_some() && bit(i.mrf_ready_i, b)) {
                wants[b] = slot.map(|s| s % count);
                kills |= u8::from(!to_cache) << b;
            }
            let goes = bit(o.around_o, b);
            point!("a result goes to its cache", to_cache && ends);
            point!("a result waits for its cache", to_cache && !ends);
            point!("a result follows another one at once", ends && bit(i.write_valid_i, b));
            point!("the latch is empty", !valid);
            point!("a result of a warp without a slot goes around", goes && slot.is_none());
            point!("a result goes around and takes its lanes away", goes && slot.is_some());
            point!("a result goes around whose warp has got a slot", goes && slot.is_some() && outside && !noted);
            point!("a result for a slot that is flushed goes around", goes && flushed && !noted);
            let waits = valid && !to_cache && !sent;
            point!("a result waits for an older value of its register", waits && matches && !evicts);
            point!("a result waits for an eviction", waits && evicts && !matches);
            point!("a result waits for the MRF's queue", may && !bit(i.mrf_ready_i, b));
            let queued = bit(o.queue_valid_o, b);
            let in_bank = (sent || queued) && bit(i.mrf_done_i, b);
            point!("a result waits for its bank", (sent || queued) && !bit(i.mrf_done_i, b));
            point!("a result goes into its bank", in_bank);
            #[given(self.shape.release)]
            {
                point!("a result leaves its latch for the queue, the next one comes", goes && bit(i.write_valid_i, b));
                point!("a result follows one that goes into its bank", in_bank && goes);
                point!("a result ends in its cache beside one that goes into its bank", in_bank && to_cache && ends);
                point!("a result waits for the queue, where a result is", queued && may && !bit(i.mrf_ready_i, b));
                let same = valid && (o.queue_warp_o[b], o.queue_reg_o[b]) == (warp, register);
                point!("latch and queue have results of one register", queued && same);
            }
            point!("a result stays in its latch until it is in its bank", sent && ends, given = !self.shape.release);
            let (taken, evicted) = (evicts && bit(i.mrf_ready_i, b), bit(o.evict_done_o, b));
            point!("a result ends, an eviction follows it into the queue", in_bank && taken);
            point!("an eviction ends, a result follows it into the queue", evicted && goes);
            point!("an eviction ends, an eviction follows it into the queue", evicted && taken);
            point!("an eviction waits for the queue", evicts && !taken);
            point!("an eviction goes into its bank, a result waits", evicted && waits && !goes);
            let other = (0..self.shape.active)
                .any(|s| Some(s) != slot && self.around[s][usize::from(register / 64)] >> (register % 64) & 1 == 1);
            point!("the same register goes to the cache for another slot", to_cache && ends && other);
            let noted_now = (0..count).any(|q| {
                bit(i.note_valid_i, q) && Some(usize::from(i.note_slot_i[q])) == slot && i.note_reg_i[q] == register
            });
            point!("a note of the register that is in the latch", valid && noted_now);
            let lost = bit(self.stayed & self.was_cached, b) && !to_cache;
            point!("the slot of a waiting result becomes another one's", lost && slot.is_none());
            point!("the slot of a waiting result begins to be flushed", lost && flushed);
            point!("private results", ends && bit(o.op_private_o | o.around_private_o, b));
            point!("bus 0 to cache 1", b == 0 && wants[0] == Some(1), given = self.shape.ports() == 2);
            point!("bus 1 to cache 0", b == 1 && wants[1] == Some(0), given = self.shape.ports() == 2);
        }
        let both = count == 2 && wants[0].is_some() && wants[0] == wants[1];
        if let (true, Some(cache)) = (both, wants[0]) {
            let (ready, turn) = (bit(i.op_ready_i, cache), bit(p.turn_q, cache));
            #[given(self.shape.ports() == 2)]
            {
                point!("both buses want one cache: bus 0 goes", ready && !turn);
                point!("both buses want one cache: bus 1 goes", ready && turn);
                point!("both buses want one cache, which is not ready", !ready);
                point!("both want one cache, one to take lanes away", kills.count_ones() == 1);
                point!("both want one cache to take lanes away", kills == 3);
            }
        }
        point!("nothing is taken", p.valid_q != 0 && o.wait_o == p.valid_q);
        #[given(self.shape.ports() == 2)]
        {
            point!("buses cross", wants == [Some(1), Some(0)]);
            point!("both results go around", o.around_o == 3);
            point!("one ends, the other waits", o.write_done_o.count_ones() == 1 && o.wait_o & !o.write_done_o != 0);
        }
        self.note(i, points);
        (self.stayed, self.was_cached) = (p.valid_q & !o.write_done_o, cached);
    }

    fn note(&mut self, i: &RfcResultsIn, points: &mut Points) {
        let running = i.rst_ni == 1;
        let notes: Vec<usize> = (0..self.shape.ports()).filter(|p| i.note_valid_i >> p & 1 == 1).collect();
        point!("two notes", running && notes.len() == 2, given = self.shape.ports() == 2);
        let one = i.note_slot_i[0] == i.note_slot_i[1] && i.note_reg_i[0] == i.note_reg_i[1];
        point!("both notes are of one register", running && notes.len() == 2 && one, given = self.shape.ports() == 2);
        for p in notes {
            let (register, around) = (i.note_reg_i[p], i.note_around_i >> p & 1);
            let word = &mut self.around[usize::from(i.note_slot_i[p])][usize::from(register / 64)];
            point!("a note says: around", running && around == 1);
            point!("a note says: not around any more", running && around == 0 && *word >> (register % 64) & 1 == 1);
            *word = *word & !(1 << (register % 64)) | u64::from(around) << (register % 64);
            let past = i.note_past_i >> p & 1;
            let word = &mut self.past[usize::from(i.note_slot_i[p])][usize::from(register / 64)];
            point!("a note says: past the LRF", running && past == 1);
            point!("a note says: not past it any more", running && past == 0 && *word >> (register % 64) & 1 == 1);
            *word = *word & !(1 << (register % 64)) | u64::from(past) << (register % 64);
        }
    }
}
