//! Situations of `rfc_lrf`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::rfc::RfcShape;
use gpurf_blocks::rfc::{RFC_LRF_EVENT, RfcLrfIn, RfcLrfOut, RfcLrfProbe};
use gpurf_blocks::shape::cfg_of_block;

use crate::cover::part;
use crate::{Points, cover};

pub(crate) struct LrfCover {
    shape: RfcShape,
    /// Whether last reads count.
    live: bool,
}

#[cover]
impl LrfCover {
    fn new(shape: &RfcShape, config: &Config) -> Self {
        Self { shape: *shape, live: cfg_of_block(config, "rfc_lrf") == 1 }
    }

    fn observe(&mut self, i: &RfcLrfIn, o: &RfcLrfOut, p: &RfcLrfProbe, points: &mut Points) {
        if i.rst_ni == 0 {
            let dirty = p.dirty_q.iter().any(|&lanes| lanes != 0);
            point!("loads in reset", i.look_move_i == 1 && o.op_ready_o == 1);
            point!("reset under load", dirty && p.d_write_q == 1);
            return;
        }
        self.look(i, o, p, points);
        self.write(i, o, p, points);
        self.stages(i, o, p, points);
        self.flush(i, o, p, points);
    }

    /// The slot, if it has lanes of the register.
    fn find(&self, p: &RfcLrfProbe, slot: u8, register: u8) -> Option<usize> {
        let slot = usize::from(slot);
        (slot < self.shape.cache_slots() && p.valid_q[slot] != 0 && p.tag_q[slot] == register).then_some(slot)
    }

    fn look(&self, i: &RfcLrfIn, o: &RfcLrfOut, p: &RfcLrfProbe, points: &mut Points) {
        if i.look_valid_i == 0 {
            return;
        }
        let (live, moves) = (i.cfg_i == 1, i.look_move_i == 1);
        let slot = usize::from(i.look_slot_i);
        point!(
            "an instruction of a slot that does not exist",
            slot >= self.shape.cache_slots(),
            given = self.shape.cache_slots() < 1 << self.shape.local_w()
        );
        let source = |k: usize| i.look_src_valid_i >> k & 1 == 1;
        let here = |k: usize| self.find(p, i.look_slot_i, i.look_reg_i[k]);
        let hits = (0..OPERANDS).filter(|&k| o.hit_mask_o[k] != 0).count();
        point!("two sources are one register that is here", moves && hits == 2);
        point!("all sources are", moves && hits == 3);
        let others = (0..OPERANDS).any(|k| source(k) && here(k).is_none());
        point!("a source beside another one that is not here", moves && hits != 0 && others);
        let none = (0..OPERANDS).any(|k| !source(k) && here(k).is_some_and(|s| p.valid_q[s] & i.look_mask_i != 0));
        point!("a source that is none has the register", moves && none);
        let performed = o.op_ready_o == 1 && i.op_slot_i == i.look_slot_i;
        let upper = performed && i.op_upper_i == 1;
        let mut read = false;
        for k in (0..OPERANDS).filter(|&k| source(k)) {
            let (mask, entry) = (o.hit_mask_o[k], here(k));
            let dirty = entry.map_or(0, |s| p.dirty_q[s]);
            read |= mask != 0;
            point!("a source is here in all lanes", moves && mask != 0 && mask == i.look_mask_i);
            point!("a source is here in some lanes", moves && mask != 0 && mask != i.look_mask_i);
            point!("a source is not here", moves && entry.is_none());
            point!("a source is not here though other lanes are", moves && entry.is_some() && mask == 0);
            point!("a hit that stays in T", !moves && mask != 0);
            point!("a hit without an active lane", moves && entry.is_some() && i.look_mask_i == 0);
            point!(
                "a read misses as its register is written",
                moves && mask == 0 && upper && i.op_reg_i == i.look_reg_i[k]
            );
            point!("a dead value is read again", moves && mask != 0 && dirty == 0, given = self.live);
            let elsewhere = (0..self.shape.cache_slots() as u8).any(|s| self.find(p, s, i.look_reg_i[k]).is_some());
            point!(
                "a register of another slot is not found",
                moves && entry.is_none() && elsewhere,
                given = self.shape.cache_slots() > 1
            );
            let dies = dirty & mask;
            if i.look_last_i >> k & 1 == 1 {
                point!("a last read that does not count", !live && moves && dies != 0, given = !self.live);
                #[given(self.live)]
                {
                    point!("a last read makes a value dead", live && moves && dies != 0 && dirty & !mask == 0);
                    point!("a last read makes some lanes dead", live && moves && dies != 0 && dirty & !mask != 0);
                    point!("a last read of another register", live && moves && entry.is_none());
                    point!("a last read in an instruction that stays in T", live && !moves && dies != 0);
                }
                let same = upper && i.op_reg_i == i.look_reg_i[k];
                point!(
                    "a last read of what a result is written to",
                    live && moves && dies != 0 && same,
                    given = self.live
                );
                point!(
                    "a last read of what makes room in this cycle",
                    live && moves && dies != 0 && upper && o.spill_o == 1,
                    given = self.live
                );
            }
        }
        point!("a spill is read in this cycle", read && moves && upper && o.spill_o == 1);
    }

    fn write(&self, i: &RfcLrfIn, o: &RfcLrfOut, p: &RfcLrfProbe, points: &mut Points) {
        if i.op_valid_i == 0 {
            return;
        }
        let (performed, slot) = (o.op_ready_o == 1, usize::from(i.op_slot_i));
        point!(
            "a result of a slot that does not exist",
            slot >= self.shape.cache_slots(),
            given = self.shape.cache_slots() < 1 << self.shape.local_w()
        );
        if slot >= self.shape.cache_slots() {
            return;
        }
        let found = self.find(p, i.op_slot_i, i.op_reg_i).is_some();
        let (valid, dirty) = (p.valid_q[slot], p.dirty_q[slot]);
        let taken = if found { valid & i.op_mask_i } else { 0 };
        if i.op_upper_i == 1 {
            point!("a result takes an empty entry", performed && valid == 0);
            point!("a result of the register that is here", performed && found);
            point!("a result gains lanes", performed && found && i.op_mask_i & !valid != 0);
            point!("a result of no lane", performed && i.op_mask_i == 0);
            point!("a spill", performed && o.spill_o == 1);
            point!("a spill of some valid lanes", performed && o.spill_o == 1 && dirty != valid, given = self.live);
            point!("a spill waits", !performed && o.spill_o == 1);
            let again = p.d_spill_q == 1 && p.d_write_slot_q == i.op_slot_i;
            point!("a spill follows a spill of the slot", performed && o.spill_o == 1 && again);
            point!(
                "a result takes a dead entry",
                performed && part(RFC_LRF_EVENT, o.event_o.into(), "dead") == 1,
                given = self.live
            );
            point!("the last slot is written", performed && slot + 1 == self.shape.cache_slots());
            let emptied = i.flush_i & (i.drop_i | o.clean_o) & !(1 << slot);
            point!(
                "a write as another slot is emptied",
                performed && emptied != 0,
                given = self.shape.cache_slots() > 1
            );
        } else if i.op_kill_i == 1 {
            point!("a result around takes lanes away", performed && taken != 0);
            point!("a result around of another register", performed && !found && valid != 0);
            point!("a result around in a slot that is flushed", taken != 0 && i.flush_i >> slot & 1 == 1);
        } else {
            point!("a result below takes lanes away", performed && taken != 0);
            point!("a result below leaves lanes", performed && taken != 0 && valid & !i.op_mask_i != 0);
            point!("a result below of another register", performed && !found && valid != 0);
        }
    }

    /// Points of stages D and O.
    fn stages(&self, i: &RfcLrfIn, o: &RfcLrfOut, p: &RfcLrfProbe, points: &mut Points) {
        let reads = p.d_move_q == 1 && p.d_hit_q != [0; OPERANDS];
        let writes = p.d_write_q == 1 && p.d_write_mask_q != 0;
        let same = p.d_slot_q == p.d_write_slot_q;
        point!("a read of what is written in D", reads && writes && same);
        point!(
            "a read of what another slot's write leaves alone",
            reads && writes && !same,
            given = self.shape.cache_slots() > 1
        );
        point!("what is read is spilled in D", reads && p.d_spill_q == 1 && same);
        let landed = o.land_hit_o != [0; OPERANDS];
        point!(
            "what lands and what is flushed come at once",
            landed && o.flush_data_valid_o == 1,
            given = self.shape.cache_slots() > 1
        );
        let flushed = o.flush_valid_o == 1 && p.d_write_q == 1 && p.d_write_slot_q == o.flush_slot_o;
        point!("a flushed value has been written in D", flushed);
        point!("drop without flush", i.drop_i & !i.flush_i & !o.clean_o != 0);
    }

    fn flush(&self, i: &RfcLrfIn, o: &RfcLrfOut, p: &RfcLrfProbe, points: &mut Points) {
        let wanted = i.flush_i & !i.drop_i & !o.clean_o;
        point!("a value is flushed", o.flush_valid_o == 1);
        point!("flush waits for a result", wanted != 0 && i.op_valid_i == 1 && i.flush_ready_i == 1);
        point!("flush waits for room", wanted != 0 && i.op_valid_i == 0 && i.flush_ready_i == 0);
        point!(
            "flush beside an instruction that leaves T",
            o.flush_valid_o == 1 && i.look_move_i == 1,
            given = self.shape.cache_slots() > 1
        );
        point!(
            "two slots are flushed, the lower one first",
            o.flush_valid_o == 1 && wanted.count_ones() > 1,
            given = self.shape.cache_slots() > 1
        );
        for slot in (0..self.shape.cache_slots()).filter(|s| i.flush_i >> s & 1 == 1) {
            point!("a slot with dirty lanes is dropped", i.drop_i >> slot & 1 == 1 && p.dirty_q[slot] != 0);
            point!("a slot that is empty is flushed", p.valid_q[slot] == 0);
        }
    }
}
