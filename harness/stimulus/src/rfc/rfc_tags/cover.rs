//! Situations of `rfc_tags`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::rfc::RfcShape;
use gpurf_blocks::rfc::{RFC_TAGS_EVENT, RfcTagsIn, RfcTagsOut, RfcTagsProbe};
use gpurf_blocks::shape::cfg_of_block;

use crate::cover::part;
use crate::{Points, cover};

pub(crate) struct TagsCover {
    shape: RfcShape,
    /// Whether last reads count; whether the entry that was read or written longest ago is replaced.
    live: bool,
    lru: bool,
    /// Whether a flush proceeds beside results.
    prompt: bool,
}

#[cover]
impl TagsCover {
    fn new(shape: &RfcShape, config: &Config) -> Self {
        let strap = |bit: u32| cfg_of_block(config, "rfc_tags") >> bit & 1 == 1;
        Self { shape: *shape, live: strap(0), lru: strap(1), prompt: strap(2) }
    }

    fn observe(&mut self, i: &RfcTagsIn, o: &RfcTagsOut, p: &RfcTagsProbe, points: &mut Points) {
        if i.rst_ni == 0 {
            point!(
                "reset under load",
                p.dirty_q.iter().filter(|&&lanes| lanes != 0).count() > 1 || self.shape.words() == 1
            );
            return;
        }
        self.look(i, o, p, points);
        self.write(i, o, p, points);
        self.flush(i, o, p, points);
    }

    fn entries(&self, slot: u8) -> std::ops::Range<usize> {
        let first = usize::from(slot) * self.shape.entries;
        first..first + self.shape.entries
    }

    /// The entry that has a register.
    fn find(&self, p: &RfcTagsProbe, slot: u8, register: u8) -> Option<usize> {
        self.entries(slot).find(|&e| p.valid_q[e] != 0 && p.tag_q[e] == register)
    }

    fn elsewhere(&self, p: &RfcTagsProbe, slot: u8, register: u8) -> bool {
        let slots = self.shape.cache_slots() as u8;
        self.find(p, slot, register).is_none() && (0..slots).any(|s| self.find(p, s, register).is_some())
    }

    fn look(&self, i: &RfcTagsIn, o: &RfcTagsOut, p: &RfcTagsProbe, points: &mut Points) {
        if i.look_valid_i == 0 {
            return;
        }
        let (live, lru) = (i.cfg_i & 1 == 1, i.cfg_i >> 1 & 1 == 1);
        let moves = i.look_move_i == 1;
        let source = |k: usize| i.look_src_valid_i >> k & 1 == 1;
        let written = (i.op_valid_i == 1 && i.op_kill_i == 0 && o.op_ready_o == 1).then_some(usize::from(o.op_index_o));
        let evicted = (o.evict_valid_o == 1).then_some(usize::from(o.evict_index_o));
        point!("no lane active", moves && i.look_mask_i == 0);
        let same =
            |a: usize, b: usize| source(a) && source(b) && i.look_reg_i[a] == i.look_reg_i[b] && o.hit_mask_o[a] != 0;
        let equal = u8::from(same(0, 1)) + u8::from(same(0, 2)) + u8::from(same(1, 2));
        point!("one register in two sources", moves && equal == 1);
        point!("one register in all sources", moves && equal == 3);
        point!("two registers hit", moves && o.read_o.count_ones() == 2, given = self.shape.entries > 1);
        point!("three registers hit", moves && o.read_o == 7, given = self.shape.entries > 2);
        for k in (0..OPERANDS).filter(|&k| source(k)) {
            let (mask, entry) = (o.hit_mask_o[k], self.find(p, i.look_slot_i, i.look_reg_i[k]));
            let last = i.look_last_i >> k & 1 == 1;
            let dirty = entry.map_or(0, |e| p.dirty_q[e]);
            point!("a source hits in all lanes", moves && mask != 0 && mask == i.look_mask_i);
            point!("a source hits in some lanes", moves && mask != 0 && mask != i.look_mask_i);
            point!("a source misses", moves && entry.is_none());
            point!("a source misses though its entry has other lanes", moves && entry.is_some() && mask == 0);
            point!("a hit that stays in T", !moves && mask != 0);
            point!(
                "a register of another slot does not hit",
                moves && self.elsewhere(p, i.look_slot_i, i.look_reg_i[k]),
                given = self.shape.cache_slots() > 1
            );
            let missed = moves && mask == 0 && i.op_slot_i == i.look_slot_i && i.op_reg_i == i.look_reg_i[k];
            point!("a read misses as its register is written", missed && written.is_some());
            point!("a last read that does not count", !live && moves && last && dirty & mask != 0, given = !self.live);
            if live && last {
                let dies = moves && dirty & mask != 0;
                point!(
                    "a last read of what is evicted in this cycle",
                    dies && entry == evicted,
                    given = self.live && self.shape.entries != 1
                );
                #[given(self.live)]
                {
                    point!("a last read makes a value dead", dies && dirty & !mask == 0);
                    point!("a last read makes some lanes dead", dies && dirty & !mask != 0);
                    point!("a last read finds nothing", moves && mask == 0);
                    point!("a last read of what a result is written to", dies && entry == written);
                    point!("a last read in an instruction that stays in T", !moves && dirty & mask != 0);
                }
            }
            point!("a dead value is read again", moves && mask != 0 && dirty == 0, given = self.live);
            let clean = entry.map_or(0, |e| p.valid_q[e] & !dirty);
            point!("a clean value is read", moves && mask & clean != 0);
            if let Some(e) = entry.filter(|_| lru && moves && mask != 0) {
                let youngest = p.older_q[e].count_ones() as usize == self.shape.entries - 1;
                point!("LRU: a read entry becomes the youngest", !youngest, given = self.shape.entries > 1 && self.lru);
                point!(
                    "LRU: an entry is read and written at once",
                    written.is_some(),
                    given = self.shape.entries > 1 && self.lru
                );
            }
        }
        let beside = o.read_o != 0 && moves && i.op_slot_i == i.look_slot_i;
        point!(
            "an entry is taken beside one that is read",
            beside && part(RFC_TAGS_EVENT, o.event_o.into(), "allocate") == 1,
            given = self.shape.entries > 1
        );
    }

    fn write(&self, i: &RfcTagsIn, o: &RfcTagsOut, p: &RfcTagsProbe, points: &mut Points) {
        let possible = i.evict_room_i == 1 && (i.look_move_i == 0 || o.read_o != 7);
        let evicts = |port: u8| o.evict_valid_o == 1 && o.evict_port_o == port;
        point!("an eviction on port 0", evicts(0));
        point!("an eviction on port 1", evicts(1));
        point!("an eviction on port 2", evicts(2), given = self.shape.entries > 1);
        if i.op_valid_i == 0 {
            return;
        }
        let found = self.find(p, i.op_slot_i, i.op_reg_i);
        let lanes = found.map_or((0, 0), |e| (p.valid_q[e], p.dirty_q[e]));
        if i.op_kill_i == 1 {
            let taken = lanes.0 & i.op_mask_i;
            point!("a kill misses", found.is_none());
            point!("a kill takes all lanes", taken != 0 && taken == lanes.0);
            point!("a kill takes some lanes", taken != 0 && taken != lanes.0);
            point!("a kill leaves dirty lanes", taken != 0 && lanes.1 & !i.op_mask_i != 0);
            point!("a kill takes lanes that are not dirty", taken & !lanes.1 != 0, given = self.live);
            point!(
                "a kill of a register of another slot only",
                self.elsewhere(p, i.op_slot_i, i.op_reg_i),
                given = self.shape.cache_slots() > 1
            );
            point!("a kill in a slot that is flushed", taken != 0 && i.flush_i >> i.op_slot_i & 1 == 1);
            return;
        }
        let clean = i.op_clean_i == 1;
        self.take(i, o, p, points);
        if found.is_some() {
            point!("a clean write hits", clean);
            point!("a clean write hits an entry with dirty lanes", clean && lanes.1 != 0);
            point!("a write hits", true);
            point!("a write hits and gains lanes", i.op_mask_i & !lanes.0 != 0);
            point!("a write hits though no eviction is possible", !possible);
            return;
        }
        let of_slot = self.entries(i.op_slot_i);
        let fifo = of_slot.start + usize::from(p.next_q[usize::from(i.op_slot_i)]);
        let oldest = of_slot.clone().find(|&e| p.older_q[e] == 0).unwrap_or(of_slot.start);
        let lru = i.cfg_i >> 1 & 1 == 1;
        let victim = if lru { oldest } else { fifo };
        let (valid, dirty) = (p.valid_q[victim], p.dirty_q[victim]);
        let (performed, dead) = (o.op_ready_o == 1, |e: usize| p.valid_q[e] != 0 && p.dirty_q[e] == 0);
        point!("a clean write takes an entry", performed && clean);
        point!("a clean write with an eviction", performed && clean && dirty != 0);
        point!("a write takes an empty entry", valid == 0);
        point!("a result takes a dead entry", performed && dead(victim), given = self.live);
        point!(
            "dead entries wait their turn",
            performed && dirty != 0 && of_slot.clone().any(dead),
            given = self.shape.entries > 1 && self.live
        );
        point!("a write with an eviction", performed && dirty != 0);
        point!("a write of no lane takes an entry", performed && i.op_mask_i == 0 && valid != 0);
        point!(
            "an entry with dirty lanes and others is evicted",
            performed && dirty != 0 && dirty != valid,
            given = self.live
        );
        point!(
            "the victim is not the first entry",
            performed && victim > of_slot.start,
            given = self.shape.entries > 1
        );
        point!("the last entry is the victim", performed && victim + 1 == of_slot.end, given = self.shape.entries > 1);
        point!(
            "FIFO: LRU would take another one",
            performed && !lru && oldest != fifo,
            given = self.shape.entries > 1 && !self.lru
        );
        point!(
            "LRU: FIFO would take another one",
            performed && lru && oldest != fifo,
            given = self.shape.entries > 1 && self.lru
        );
        let waits = i.look_move_i == 1 && o.read_o == 7;
        point!(
            "no port is left for an eviction",
            dirty != 0 && i.evict_room_i == 1 && waits,
            given = self.shape.entries > 2
        );
        point!(
            "ports would be left if the instruction left T",
            performed && dirty != 0 && i.look_move_i == 0 && o.read_o != 0
        );
        point!("no room for an eviction", dirty != 0 && i.evict_room_i == 0);
        point!("a write waits", !performed);
        let emptied = i.flush_i & (i.drop_i | o.clean_o) & !(1 << i.op_slot_i);
        point!("a write as another slot is emptied", performed && emptied != 0, given = self.shape.cache_slots() > 1);
    }

    fn take(&self, i: &RfcTagsIn, o: &RfcTagsOut, p: &RfcTagsProbe, points: &mut Points) {
        if i.take_valid_i == 0 {
            return;
        }
        let (performed, written) = (o.op_ready_o == 1, usize::from(o.op_index_o));
        let taken = self.find(p, i.op_slot_i, i.take_reg_i);
        let lost = taken.filter(|&e| performed && e != written).map(|e| (p.valid_q[e], i.take_mask_i));
        point!(
            "a write takes all lanes of another register",
            lost.is_some_and(|(lanes, mask)| lanes & !mask == 0),
            given = self.shape.entries > 1
        );
        let some = |(lanes, mask): (u32, u32)| lanes & mask != 0 && lanes & !mask != 0;
        point!(
            "a write takes lanes of another register, others stay",
            lost.is_some_and(some),
            given = self.shape.entries > 1
        );
        // Then entries of the other slot are written too, and must not lose the lanes that this slot's entries lose.
        let marked = (0..OPERANDS).any(|k| i.look_last_i >> k & 1 == 1 && o.hit_mask_o[k] != 0);
        let last_read = i.cfg_i & 1 == 1 && i.look_move_i == 1 && i.look_slot_i != i.op_slot_i && marked;
        let beside = |e: usize| {
            let entries = self.shape.entries;
            p.valid_q[usize::from(i.look_slot_i) * entries + e % entries] & i.take_mask_i != 0
        };
        let other = last_read && lost.is_some() && taken.is_some_and(beside);
        point!(
            "a take beside a last read in another slot, whose entry has the lanes",
            other,
            given = self.shape.entries > 1 && self.live && self.shape.cache_slots() > 1
        );
        point!("a take finds nothing", performed && taken.is_none());
        let same = performed && taken == Some(written);
        point!("a take of the register that is written", same && i.take_reg_i == i.op_reg_i);
        point!("a take of what is evicted", same && o.evict_valid_o == 1 && i.take_mask_i != 0);
        point!(
            "a take of a register of another slot only",
            performed && self.elsewhere(p, i.op_slot_i, i.take_reg_i),
            given = self.shape.cache_slots() > 1
        );
        point!("a write with a take waits", !performed && taken.is_some());
    }

    fn flush(&self, i: &RfcTagsIn, o: &RfcTagsOut, p: &RfcTagsProbe, points: &mut Points) {
        let slots = self.shape.cache_slots();
        let wanted = i.flush_i & !i.drop_i & !o.clean_o;
        let flushes = o.evict_valid_o == 1 && i.op_valid_i == 0;
        let flushed = part(RFC_TAGS_EVENT, o.event_o.into(), "flush");
        point!("an entry is flushed", flushes);
        let several = self.entries(o.evict_slot_o).filter(|&e| p.dirty_q[e] != 0).count() > 1;
        point!("a lower entry is flushed first", flushes && several, given = self.shape.entries > 1);
        point!("flush waits for a result", wanted != 0 && i.op_valid_i == 1 && flushed == 0);
        #[given(self.prompt && self.shape.cache_slots() > 1)]
        {
            let event = |name: &str| part(RFC_TAGS_EVENT, o.event_o.into(), name) == 1;
            point!("a flush beside a write that hits", flushed == 1 && event("write_hit"));
            point!("a flush beside a write that takes an entry", flushed == 1 && event("allocate"));
            point!(
                "a flush beside a write of another slot's register",
                flushed == 1 && i.op_valid_i == 1 && i.op_reg_i == o.evict_reg_o
            );
            let evicts = wanted != 0 && event("evict");
            point!("a flush waits for a write's eviction", evicts);
            point!(
                "a flush waits for a kill",
                wanted != 0 && i.op_valid_i == 1 && i.op_kill_i == 1 && i.evict_room_i == 1
            );
            point!("a flush beside a result has no room", wanted != 0 && i.op_valid_i == 1 && i.evict_room_i == 0);
        }
        point!("flush waits for room", wanted != 0 && i.op_valid_i == 0 && i.evict_room_i == 0);
        let used = i.look_move_i == 1 && o.read_o == 7;
        point!(
            "flush waits for a port",
            wanted != 0 && i.op_valid_i == 0 && i.evict_room_i == 1 && used,
            given = self.shape.entries > 2 && self.shape.cache_slots() > 1
        );
        point!(
            "flush beside an instruction that leaves T",
            flushes && i.look_move_i == 1,
            given = self.shape.cache_slots() > 1
        );
        point!(
            "two slots are flushed, the lower one first",
            flushes && wanted.count_ones() > 1,
            given = self.shape.cache_slots() > 1
        );
        point!("drop without flush", i.drop_i & !i.flush_i & !o.clean_o != 0);
        for slot in (0..slots).filter(|s| i.flush_i >> s & 1 == 1) {
            let entries = || self.entries(slot as u8);
            let (valid, dirty) = (entries().any(|e| p.valid_q[e] != 0), entries().any(|e| p.dirty_q[e] != 0));
            let dropped = i.drop_i >> slot & 1 == 1;
            point!("a slot is emptied that is clean", valid && !dirty && !dropped, given = self.live);
            point!("a slot with dirty lanes is dropped", dirty && dropped);
            point!("a slot that is empty is flushed", !valid);
            point!(
                "a slot is dropped while another one is flushed",
                valid && dropped && flushes,
                given = self.shape.cache_slots() > 1
            );
        }
    }
}
