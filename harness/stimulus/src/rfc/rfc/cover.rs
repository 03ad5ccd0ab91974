//! Situations of `rfc`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::rfc::RfcShape;
use gpurf_blocks::rfc::{
    PLACES, RFC_COUNT_EVENT, RFC_EVENT, RFC_EXTRA_EVENT, RFC_LRF_EVENT, RFC_TAGS_EVENT, RfcIn, RfcOut, RfcProbe,
};
use gpurf_blocks::shape::cfg_of_block;
use gpurf_blocks::sizes::MAX_WARPS;

use crate::cover::part;
use crate::{Points, cover};

pub(crate) struct RfcCover {
    shape: RfcShape,
    /// Whether last reads count; the entry that was used longest ago is replaced; marked results bypass the cache; results of loads go to the cache.
    live: bool,
    lru: bool,
    marked: bool,
    loads: bool,
    /// Whether evictions and flushes lose no cycle.
    prompt: bool,
    /// Registers of each warp that a long-latency operation, and one with the bypass bit, writes.
    long: Vec<[u64; 4]>,
    bypass: Vec<[u64; 4]>,
    /// Slots that have just become free.
    freed: u64,
    slots: u64,
    /// Registers of each warp that went from the cache to the MRF.
    evicted: Vec<[u64; 4]>,
    /// Warp and register of each place of the rings.
    ring: [[(u8, u8); PLACES]; 2],
}

#[cover]
impl RfcCover {
    fn new(shape: &RfcShape, config: &Config) -> Self {
        let none = vec![[0; 4]; MAX_WARPS.next_power_of_two()];
        let (long, bypass) = (none.clone(), none.clone());
        let strap = |bit: u32| cfg_of_block(config, "rfc") >> (1 + bit) & 1 == 1;
        let (live, lru, marked, loads) = (strap(0), strap(1), strap(2), strap(3));
        let prompt = strap(14);
        Self {
            shape: *shape,
            live,
            lru,
            marked,
            loads,
            prompt,
            long,
            bypass,
            freed: 0,
            slots: 0,
            evicted: none,
            ring: [[(0, 0); PLACES]; 2],
        }
    }

    fn observe(&mut self, i: &RfcIn, o: &RfcOut, p: &RfcProbe, points: &mut Points) {
        if i.rst_ni == 0 {
            let busy = p.evictions.iter().any(|ring| ring.count_q != 0);
            point!("reset under load", busy && p.nets.tag_valid_q != 0 && p.results.valid_q != 0);
            for sets in [&mut self.long, &mut self.bypass, &mut self.evicted] {
                sets.fill([0; 4]);
            }
            (self.freed, self.slots) = (0, 0);
            return;
        }
        self.instructions(i, o, p, points);
        self.results(i, o, p, points);
        self.slots(i, o, p, points);
        if self.shape.lrf {
            self.upper(i, o, p, points);
        }
        if self.shape.reads {
            self.fills(i, o, p, points);
        }
    }

    fn instructions(&mut self, i: &RfcIn, o: &RfcOut, p: &RfcProbe, points: &mut Points) {
        let nets = &p.nets;
        let event = |name: &str| part(RFC_EVENT, o.event_o, name);
        point!("an instruction waits for an eviction (hazard 8)", event("rfc_stall_eviction") > 0);
        point!("an instruction waits for a collector", event("rfc_stall_collector") > 0);
        let waits = part(RFC_COUNT_EVENT, o.count_event_o.into(), "rfc_stall_result") > 0;
        point!(
            "an instruction waits for a result (hazard 17)",
            waits,
            given = self.shape.ports() == 2 || self.marked || !self.loads
        );
        point!("a source from both", event("rfc_partial") > 0);
        point!("the MRF offers before the cache has given", nets.mrf_dispatch_valid & !o.dispatch_valid_o != 0);
        #[given(self.shape.ports() == 2)]
        {
            point!("two instructions leave T", nets.leave == 3);
            point!("one leaves T, the other waits", nets.tag_valid_q == 3 && nets.leave.count_ones() == 1);
            point!("port 1 alone is offered one", i.issue_valid_i == 2);
        }
        for q in 0..self.shape.ports() {
            let at = |set: u8| set >> q & 1 == 1;
            let (valid, leaves) = (at(nets.tag_valid_q), at(nets.leave));
            let sources = nets.src_valid_q[q];
            let missing = nets.mrf_issue_src_valid >> (OPERANDS * q) & 7;
            let hits = (0..OPERANDS).fold(0, |set, k| set | u8::from(nets.tags_hit_mask[OPERANDS * q + k] != 0) << k);
            point!("all sources from the cache", leaves && hits == 7 && missing == 0);
            point!("no source from the cache", leaves && sources != 0 && hits == 0);
            point!("sources from the cache and from the MRF", leaves && hits & !missing != 0 && missing & !hits != 0);
            point!("no register source", leaves && sources == 0);
            point!("a hit that does not leave T", valid && !leaves && hits != 0);
            let behind = |of: &dyn Fn(usize, u8) -> bool| {
                let in_latch = |b: &usize| nets.results_result_valid >> b & 1 == 1;
                (0..self.shape.ports()).filter(in_latch).any(|b| {
                    valid && nets.results_result_warp[b] == nets.warp_q[q] && of(b, nets.results_result_reg[b])
                })
            };
            let read = |register| {
                (0..OPERANDS).find(|&k| sources >> k & 1 == 1 && nets.src_reg_q[OPERANDS * q + k] == register)
            };
            let written = |register| nets.dst_q[q] == register;
            let reads = |_: usize, r: u8| read(r).is_some() && !written(r);
            let full = |k: usize| hits >> k & 1 == 1 && missing >> k & 1 == 0;
            let older = behind(&|_, r| read(r).is_some_and(full));
            point!("the cache has the register's older value", older, given = self.shape.ports() == 2);
            let sent = |b: usize, _: u8| p.results.sent_q >> b & 1 == 1 && at(nets.behind);
            point!(
                "the result that is waited for goes around",
                behind(&sent),
                given = (self.marked || !self.loads) && !self.shape.release
            );
            let queued = |of: &dyn Fn(u8) -> bool| {
                let in_queue = |b: &usize| nets.results_queue_valid >> b & 1 == 1;
                (0..self.shape.ports())
                    .filter(in_queue)
                    .any(|b| valid && nets.results_queue_warp[b] == nets.warp_q[q] && of(nets.results_queue_reg[b]))
            };
            let writes = |r: u8| written(r) && read(r).is_none();
            #[given((self.marked || !self.loads) && self.shape.release)]
            {
                point!("it reads the register of a result in the MRF's queue alone", queued(&|r| reads(0, r)));
                point!("it writes the register of a result in the MRF's queue alone", queued(&writes));
            }
            // With one port, a result that goes to the cache rarely waits.
            #[given(self.shape.ports() == 2 || self.marked || !self.loads)]
            {
                point!("it reads the result's register alone", behind(&reads));
                // With release, a result that bypasses the cache rarely waits either.
                point!(
                    "it writes the result's register alone",
                    behind(&|_, r| writes(r)),
                    given = self.shape.ports() == 2 || !self.shape.release
                );
            }
            point!("a result of the same warp and another register", at(nets.leave) && behind(&|_, _| true));
            let busy = nets.evictions_busy[q] >> nets.slot_q[q] & 1 == 1;
            point!("an instruction of a warp whose evictions are under way", leaves && busy);
            let data = &p.data[q];
            let read = |entry: u16| {
                data.d_move_q == 1 && (0..OPERANDS).any(|k| data.d_read_q >> k & 1 == 1 && data.d_index_q[k] == entry)
            };
            let written = data.d_write_q == 1 && read(data.d_write_index_q);
            point!(
                "an entry is read as another result takes it (hazard 7)",
                written,
                given = !self.lru || self.shape.entries <= 8
            );
            let taken = at(nets.tags_evict_valid) && read(nets.tags_evict_index[q]);
            // With LRU, an entry that has just been read is the last one to be replaced.
            point!("what is evicted is read in the cycle before", taken, given = !self.lru);
            let warp = nets.warp_q[q];
            let from_mrf =
                |k: usize| (missing & !hits) >> k & 1 == 1 && is(&self.evicted, warp, nets.src_reg_q[OPERANDS * q + k]);
            point!("a value that was evicted is read in the MRF", leaves && (0..OPERANDS).any(from_mrf));
            if at(i.issue_valid_i & o.issue_ready_o) && i.issue_dst_i[q] != NO_REG {
                let (warp, register) = (i.issue_warp_i[q], i.issue_dst_i[q]);
                set(&mut self.long, warp, register, at(i.issue_long_i));
                set(&mut self.bypass, warp, register, at(i.issue_bypass_i));
            }
        }
    }

    fn results(&mut self, i: &RfcIn, o: &RfcOut, p: &RfcProbe, points: &mut Points) {
        let (nets, count) = (&p.nets, self.shape.ports());
        let event = |name: &str| part(RFC_COUNT_EVENT, o.count_event_o.into(), name);
        point!("a result updates an entry", event("rfc_write_hit") > 0);
        point!("a result takes an entry", event("rfc_allocate") > 0);
        point!("a value is written back for a result", event("rfc_evict") > 0);
        let allocate = event("rfc_allocate") > event("rfc_evict");
        point!("a result takes a dead entry's or an empty one's place", allocate);
        point!("a value is dropped", event("rfc_dead") > 0, given = self.live);
        point!("a result around takes lanes away", event("rfc_kill") > 0, given = self.marked || !self.loads);
        point!("an entry is flushed", event("rfc_flush") > 0);
        point!("a last read counts", event("rfc_marked") > 0, given = self.live);
        point!("a result waits in its latch", event("rfc_wait") > 0);
        let beside = |c: usize| {
            let event = |name: &str| part(RFC_TAGS_EVENT, nets.tags_event[c].into(), name) == 1;
            event("flush") && (event("write_hit") || event("allocate"))
        };
        point!("a slot is flushed beside a result", (0..count).any(beside), given = self.prompt);
        let through = |c: &usize| {
            let ring = &p.evictions[*c];
            nets.evictions_offer_valid >> c & 1 == 1 && ring.arrived_q == ring.sent_q
        };
        point!("data goes through a ring", (0..count).filter(through).count() > 0, given = self.prompt);
        point!("both caches evict", nets.tags_evict_valid == 3, given = self.shape.ports() == 2);
        let slot_of =
            |warp: u8| (0..self.shape.active).find(|&s| i.slot_valid_i >> s & 1 == 1 && i.slot_warp_i[s] == warp);
        let place = |c: usize, n: usize| (usize::from(p.evictions[c].first_q) + n) % PLACES;
        let mut caches = [None; 2];
        for (b, cache) in caches.iter_mut().enumerate().take(count) {
            let at = |set: u8| set >> b & 1 == 1;
            let (warp, register) = (nets.results_result_warp[b], nets.results_result_reg[b]);
            let slot = slot_of(warp);
            let (valid, around) = (at(p.results.valid_q), at(nets.results_around));
            let (long, bypass) = (is(&self.long, warp, register), is(&self.bypass, warp, register));
            let emptied = valid && !at(p.results.sent_q) && slot.is_some_and(|s| i.flush_i >> s & 1 == 1);
            point!(
                "a short result waits as its slot is emptied",
                emptied && !long,
                given = self.shape.entries <= 8 && (self.shape.ports() == 2 || !self.shape.release)
            );
            let waits = valid && !around && !at(p.results.sent_q) && !at(o.write_done_o);
            if valid && !at(p.results.sent_q) {
                *cache = slot.map(|s| s % count);
            }
            let ends_in_cache = at(o.write_done_o) && !at(p.results.sent_q) && !around;
            point!("a load goes to the cache", long && ends_in_cache, given = self.loads);
            point!("a load goes around, its warp has a slot", long && around && slot.is_some(), given = !self.loads);
            point!("a load of a warp without a slot goes around", long && around && slot.is_none());
            point!("a result with the bypass bit goes around", bypass && !long && around, given = self.marked);
            point!("the bypass bit does not count", bypass && !long && ends_in_cache, given = !self.marked);
            let offered = at(nets.evictions_offer_valid);
            let older = (0..count).any(|c| {
                (0..usize::from(p.evictions[c].count_q)).any(|n| self.ring[c][place(c, n)] == (warp, register))
            });
            // With many entries few are written back.
            point!(
                "a result around waits for its older value (hazard 8)",
                waits && older && long && !offered,
                given = self.shape.entries <= 8
            );
            point!(
                "a result goes around beside an eviction of another register",
                around && p.evictions[b].count_q != 0
            );
            point!(
                "an eviction waits for the MRF's queue",
                offered && !at(nets.mrf_write_ready),
                given = self.shape.ports() == 2 || !self.shape.mrf.dual_port
            );
            point!(
                "a value that was evicted is written again",
                at(o.write_done_o) && is(&self.evicted, warp, register)
            );
            if at(o.write_done_o) {
                set(&mut self.evicted, warp, register, false);
            }
        }
        let both = caches[0].is_some() && caches[0] == caches[1];
        point!("both results for one cache", count == 2 && both, given = self.shape.ports() == 2);
        point!("results cross", caches == [Some(1), Some(0)], given = self.shape.ports() == 2);
        for c in 0..count {
            let at = |set: u8| set >> c & 1 == 1;
            let full = !at(nets.evictions_room);
            // With `prompt` a value leaves the ring in three cycles, so the ring is full only if a write is held back. The lockstep runs of the ring
            // itself have it full.
            point!("a ring is full", full, given = !self.prompt || self.shape.ports() == 2);
            let waits = at(nets.results_op_valid) && !at(nets.results_op_kill) && !at(nets.tags_op_ready);
            // With many entries few are written back.
            point!(
                "a result waits for a place in the ring",
                full && waits,
                given = self.shape.entries <= 8 && !self.prompt
            );
            if at(nets.tags_evict_valid) {
                let slot = usize::from(nets.tags_evict_slot[c]) * count + c;
                let (warp, register) = (i.slot_warp_i[slot], nets.tags_evict_reg[c]);
                set(&mut self.evicted, warp, register, true);
                self.ring[c][place(c, p.evictions[c].count_q.into())] = (warp, register);
            }
        }
    }

    /// Points of the LRF above each cache.
    fn upper(&mut self, i: &RfcIn, o: &RfcOut, p: &RfcProbe, points: &mut Points) {
        let (nets, count) = (&p.nets, self.shape.ports());
        let extra = |name: &str| part(RFC_EXTRA_EVENT, o.extra_event_o, name);
        #[given(self.shape.lrf)]
        {
            point!("a result is written to the LRF", extra("rfc_lrf_write_groups") > 0);
            point!("a value goes down into the cache", extra("rfc_lrf_spill_groups") > 0);
            point!("a value goes from the LRF to its bank", extra("rfc_lrf_flush_groups") > 0);
        }
        for c in 0..count {
            let at = |set: u8| set >> c & 1 == 1;
            let masks = |of: &[u32]| [0, 1, 2].map(|k| of[OPERANDS * c + k]);
            let (above, below) = (masks(&nets.lrf_hit_mask), masks(&nets.tags_hit_mask));
            let missing = |k: usize| nets.mrf_issue_src_valid >> (OPERANDS * c + k) & 1 == 1;
            let (leaves, spill) = (at(nets.leave), at(nets.lrf_spill));
            let any = |holds: &dyn Fn(usize) -> bool| leaves && (0..OPERANDS).any(holds);
            point!(
                "a source of the LRF beside one that is missing",
                any(&|k| above[k] != 0) && any(&|k| above[k] == 0 && missing(k)),
                given = self.shape.lrf && self.shape.reads
            );
            #[given(self.shape.lrf)]
            {
                point!("all sources from the LRF", leaves && above.iter().all(|&mask| mask != 0));
                point!(
                    "a source from the LRF, another one from the cache",
                    any(&|k| above[k] != 0) && any(&|k| above[k] == 0 && below[k] != 0)
                );
                point!("a source from the LRF and from the cache", any(&|k| above[k] != 0 && below[k] != 0));
                point!("a source from the LRF and from the MRF", any(&|k| above[k] != 0 && missing(k)));
            }
            let slot = nets.slot_q[c] == nets.lrf_low_slot[c];
            point!(
                "a source is in the LRF as its value goes down",
                any(&|k| above[k] != 0) && spill && slot,
                given = self.shape.lrf
            );
            let op = at(nets.results_op_valid) && !at(nets.results_op_kill);
            let (private, upper) = (at(nets.results_op_private), at(nets.results_op_upper));
            let performed = at(nets.results_op_ready);
            point!(
                "a result of a private unit goes past the LRF",
                op && private && !upper && performed,
                given = self.shape.lrf
            );
            point!("a result of a shared unit goes below", op && !private && performed, given = self.shape.lrf);
            let evicts = at(nets.tags_evict_valid);
            let event = |name: &str| part(RFC_TAGS_EVENT, nets.tags_event[c].into(), name);
            #[given(self.shape.lrf)]
            {
                point!("a value that goes down updates an entry", spill && event("write_hit") == 1);
                point!("a value that goes down takes an entry whose value is evicted", spill && evicts);
                point!("a value that goes down waits", spill && !performed, given = !self.prompt);
            }
            let own = spill && evicts && nets.tags_evict_reg[c] == nets.results_op_reg[c];
            point!(
                "a value that goes down makes room for itself: lanes of the register that comes are evicted",
                own,
                given = self.shape.lrf
            );
            point!(
                "a result takes its lanes away in the cache below",
                upper && event("kill") == 1,
                given = self.shape.lrf
            );
            let past = at(nets.results_op_kill) && part(RFC_LRF_EVENT, nets.lrf_event[c].into(), "past") == 1;
            point!(
                "a result around takes lanes of the LRF away",
                past,
                given = self.shape.lrf && (self.marked || !self.loads)
            );
            let own = |set: u64| (0..self.shape.cache_slots()).filter(move |j| set >> (count * j + c) & 1 == 1);
            for j in own(i.flush_i) {
                let dropped = i.drop_i >> (count * j + c) & 1 == 1;
                let clean = |of: &[u64]| of[c] >> j & 1 == 1;
                let left = !dropped && !clean(&nets.lrf_clean);
                point!(
                    "a slot is clean in the cache and not in the LRF",
                    left && clean(&nets.tags_clean),
                    given = self.shape.lrf
                );
                let evicts = evicts && !at(nets.results_op_valid);
                point!(
                    "the LRF's value waits until the cache begins no eviction",
                    left && evicts,
                    given = self.shape.lrf
                );
                point!(
                    "a slot is dropped with a value in the LRF",
                    dropped && !clean(&nets.lrf_clean),
                    given = self.shape.lrf
                );
            }
        }
        point!(
            "a value of the LRF is flushed beside a fill",
            nets.lrf_flush_valid & nets.fills_fill_valid != 0,
            given = self.shape.lrf && self.shape.reads
        );
    }

    /// Points of operands that go into the caches.
    #[given(self.shape.reads)]
    fn fills(&mut self, i: &RfcIn, o: &RfcOut, p: &RfcProbe, points: &mut Points) {
        let (nets, count) = (&p.nets, self.shape.ports());
        let held = nets.mrf_dispatch_valid != 0 && nets.fills_busy == 1;
        point!("operands that wait keep an instruction from dispatch", held && i.dispatch_ready_i != 0);
        point!(
            "both caches are filled",
            nets.fills_fill_valid & nets.tags_op_ready == 3,
            given = self.shape.ports() == 2
        );
        let crossed = (nets.results_op_valid & nets.tags_op_ready & !nets.fills_fill_valid, nets.fills_fill_valid);
        point!(
            "a result of one cache beside a fill of the other one",
            crossed.0 != 0 && crossed.1 != 0,
            given = self.shape.ports() == 2
        );
        let wide = p.fills.pending_q[..count].contains(&7);
        point!(
            "operands of three registers are put into the cache",
            wide && part(RFC_EXTRA_EVENT, o.extra_event_o, "rfc_fill_groups") > 0
        );
        let waits = p.results.valid_q & !p.results.sent_q & !o.write_done_o & !nets.results_around;
        for c in (0..count).filter(|c| nets.fills_fill_valid >> c & 1 == 1) {
            let at = |set: u8| set >> c & 1 == 1;
            let event = |name: &str| part(RFC_TAGS_EVENT, nets.tags_event[c].into(), name) == 1;
            point!("an operand takes an entry", event("allocate"));
            point!("an operand gains an entry lanes", event("write_hit"));
            point!("an operand evicts a value", event("evict"));
            point!("an operand waits for an eviction's place", !at(nets.tags_op_ready));
            point!("some lanes of an operand are missing", ![0, u32::MAX].contains(&nets.fills_fill_mask[c]));
            let slot = |b: usize| {
                let warp = nets.results_result_warp[b];
                (0..self.shape.active).find(|&s| i.slot_valid_i >> s & 1 == 1 && i.slot_warp_i[s] == warp)
            };
            let own = (0..count).any(|b| waits >> b & 1 == 1 && slot(b).is_some_and(|s| s % count == c));
            point!("a result waits for operands", own);
        }
        for c in 0..count {
            let (tags, words) = (&p.tags[c], self.shape.words());
            let clean = |e: usize| e < words && tags.valid_q[e] & !tags.dirty_q[e] != 0;
            let read =
                |k: usize| nets.tags_read[c] >> k & 1 == 1 && clean(nets.tags_hit_index[OPERANDS * c + k].into());
            point!("an operand is read again in the cache", nets.leave >> c & 1 == 1 && (0..OPERANDS).any(read));
            let dead = part(RFC_TAGS_EVENT, nets.tags_event[c].into(), "dead") == 1;
            point!("an operand in the cache makes room", dead);
        }
    }

    fn slots(&mut self, i: &RfcIn, o: &RfcOut, p: &RfcProbe, points: &mut Points) {
        let count = self.shape.ports();
        let bits = |sets: &[u64], s: usize| sets[s % count] >> (s / count) & 1 == 1;
        for s in (0..self.shape.active).filter(|s| i.flush_i >> s & 1 == 1) {
            let (clean, busy) = (bits(&p.nets.tags_clean, s), bits(&p.nets.evictions_busy, s));
            let (dropped, done) = (i.drop_i >> s & 1 == 1, o.flush_done_o >> s & 1 == 1);
            point!("a slot waits for its values to be in their banks", clean && busy && !dropped);
            point!("a dropped slot waits for its values to be in their banks", busy && dropped);
            point!("a slot is dropped", dropped && !clean);
            point!("a slot is empty at once", done && self.slots >> s & 1 == 0);
        }
        let taken = i.slot_valid_i & self.freed;
        point!("a slot is taken that has just become free", taken != 0);
        // A slot is free for at least one cycle.
        self.freed = !i.slot_valid_i & (self.freed | o.flush_done_o) | o.flush_done_o;
        self.freed &= !taken | o.flush_done_o;
        self.slots = i.flush_i;
    }
}

fn is(sets: &[[u64; 4]], warp: u8, register: u8) -> bool {
    sets[usize::from(warp)][usize::from(register / 64)] >> (register % 64) & 1 == 1
}

fn set(sets: &mut [[u64; 4]], warp: u8, register: u8, value: bool) {
    let word = &mut sets[usize::from(warp)][usize::from(register / 64)];
    *word = *word & !(1 << (register % 64)) | u64::from(value) << (register % 64);
}
