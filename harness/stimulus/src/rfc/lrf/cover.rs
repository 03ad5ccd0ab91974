//! Situations of `rfc_lrf`.

use gpurf_blocks::config::Config;
use gpurf_blocks::rfc::RfcShape;
use gpurf_blocks::rfc::{RFC_LRF_EVENT, RfcLrfIn, RfcLrfOut, RfcLrfProbe};
use gpurf_blocks::shape::cfg_of_block;
use gpurf_blocks::{OPERANDS, Shape};

use crate::Cover;
use crate::cover::part;

pub(crate) struct LrfCover {
    slots: usize,
}

/// Points of last reads.
const LIVE: [&str; 9] = [
    "a last read makes a value dead",
    "a last read makes some lanes dead",
    "a last read of another register",
    "a last read in an instruction that stays in T",
    "a last read of what a result is written to",
    "a last read of what makes room in this cycle",
    "a result takes a dead entry",
    "a dead value is read again",
    "a spill of some valid lanes",
];

impl Cover for LrfCover {
    type In = RfcLrfIn;
    type Out = RfcLrfOut;
    type Probe = RfcLrfProbe;

    fn points_of(config: &Config) -> Vec<&'static str> {
        let mut points = Self::points(&RfcShape::of(config));
        if cfg_of_block(config, "rfc_lrf") == 1 {
            points.extend(LIVE);
        } else {
            points.push("a last read that does not count");
        }
        points
    }

    fn points(shape: &RfcShape) -> Vec<&'static str> {
        let mut points = vec![
            "a source is here in all lanes",
            "a source is here in some lanes",
            "a source is not here",
            "a source is not here though other lanes are",
            "two sources are one register that is here",
            "all sources are",
            "a source beside another one that is not here",
            "a source that is none has the register",
            "a hit that stays in T",
            "a hit without an active lane",
            "a result takes an empty entry",
            "a result of the register that is here",
            "a result gains lanes",
            "a result of no lane",
            "a spill",
            "a spill waits",
            "a spill is read in this cycle",
            "a spill follows a spill of the slot",
            "a result below takes lanes away",
            "a result below leaves lanes",
            "a result below of another register",
            "a result around takes lanes away",
            "a result around of another register",
            "a result around in a slot that is flushed",
            "a read misses as its register is written",
            "a read of what is written in D",
            "a read of what another slot's write leaves alone",
            "what is read is spilled in D",
            "the last slot is written",
            "a value is flushed",
            "flush waits for a result",
            "flush waits for room",
            "a flushed value has been written in D",
            "a slot with dirty lanes is dropped",
            "a slot that is empty is flushed",
            "drop without flush",
            "loads in reset",
            "reset under load",
        ];
        if shape.cache_slots() > 1 {
            points.extend([
                "a register of another slot is not found",
                "two slots are flushed, the lower one first",
                "a write as another slot is emptied",
                "flush beside an instruction that leaves T",
                "what lands and what is flushed come at once",
            ]);
        } else {
            points.retain(|&point| point != "a read of what another slot's write leaves alone");
        }
        if shape.cache_slots() < 1 << shape.local_w() {
            points.extend(["a result of a slot that does not exist", "an instruction of a slot that does not exist"]);
        }
        points
    }

    fn new(shape: &RfcShape) -> Self {
        Self { slots: shape.cache_slots() }
    }

    fn observe(&mut self, i: &RfcLrfIn, o: &RfcLrfOut, p: &RfcLrfProbe, hit: &mut dyn FnMut(&'static str)) {
        let mut point = |name: &'static str, now: bool| {
            if now {
                hit(name);
            }
        };
        if i.rst_ni == 0 {
            let dirty = p.dirty_q.iter().any(|&lanes| lanes != 0);
            point("loads in reset", i.look_move_i == 1 && o.op_ready_o == 1);
            point("reset under load", dirty && p.d_write_q == 1);
            return;
        }
        self.look(i, o, p, &mut point);
        self.write(i, o, p, &mut point);
        self.stages(i, o, p, &mut point);
        self.flush(i, o, p, &mut point);
    }
}

type Point<'a> = dyn FnMut(&'static str, bool) + 'a;

impl LrfCover {
    /// The slot, if it has lanes of the register.
    fn find(&self, p: &RfcLrfProbe, slot: u8, register: u8) -> Option<usize> {
        let slot = usize::from(slot);
        (slot < self.slots && p.valid_q[slot] != 0 && p.tag_q[slot] == register).then_some(slot)
    }

    fn look(&self, i: &RfcLrfIn, o: &RfcLrfOut, p: &RfcLrfProbe, point: &mut Point) {
        if i.look_valid_i == 0 {
            return;
        }
        let (live, moves) = (i.cfg_i == 1, i.look_move_i == 1);
        let slot = usize::from(i.look_slot_i);
        point("an instruction of a slot that does not exist", slot >= self.slots);
        let source = |k: usize| i.look_src_valid_i >> k & 1 == 1;
        let here = |k: usize| self.find(p, i.look_slot_i, i.look_reg_i[k]);
        let hits = (0..OPERANDS).filter(|&k| o.hit_mask_o[k] != 0).count();
        point("two sources are one register that is here", moves && hits == 2);
        point("all sources are", moves && hits == 3);
        let others = (0..OPERANDS).any(|k| source(k) && here(k).is_none());
        point("a source beside another one that is not here", moves && hits != 0 && others);
        let none = (0..OPERANDS).any(|k| !source(k) && here(k).is_some_and(|s| p.valid_q[s] & i.look_mask_i != 0));
        point("a source that is none has the register", moves && none);
        let performed = o.op_ready_o == 1 && i.op_slot_i == i.look_slot_i;
        let upper = performed && i.op_upper_i == 1;
        let mut read = false;
        for k in (0..OPERANDS).filter(|&k| source(k)) {
            let (mask, entry) = (o.hit_mask_o[k], here(k));
            let dirty = entry.map_or(0, |s| p.dirty_q[s]);
            read |= mask != 0;
            point("a source is here in all lanes", moves && mask != 0 && mask == i.look_mask_i);
            point("a source is here in some lanes", moves && mask != 0 && mask != i.look_mask_i);
            point("a source is not here", moves && entry.is_none());
            point("a source is not here though other lanes are", moves && entry.is_some() && mask == 0);
            point("a hit that stays in T", !moves && mask != 0);
            point("a hit without an active lane", moves && entry.is_some() && i.look_mask_i == 0);
            point(
                "a read misses as its register is written",
                moves && mask == 0 && upper && i.op_reg_i == i.look_reg_i[k],
            );
            point("a dead value is read again", moves && mask != 0 && dirty == 0);
            let elsewhere = (0..self.slots as u8).any(|s| self.find(p, s, i.look_reg_i[k]).is_some());
            point("a register of another slot is not found", moves && entry.is_none() && elsewhere);
            let dies = dirty & mask;
            if i.look_last_i >> k & 1 == 1 {
                point("a last read that does not count", !live && moves && dies != 0);
                point("a last read makes a value dead", live && moves && dies != 0 && dirty & !mask == 0);
                point("a last read makes some lanes dead", live && moves && dies != 0 && dirty & !mask != 0);
                point("a last read of another register", live && moves && entry.is_none());
                point("a last read in an instruction that stays in T", live && !moves && dies != 0);
                let same = upper && i.op_reg_i == i.look_reg_i[k];
                point("a last read of what a result is written to", live && moves && dies != 0 && same);
                point(
                    "a last read of what makes room in this cycle",
                    live && moves && dies != 0 && upper && o.spill_o == 1,
                );
            }
        }
        point("a spill is read in this cycle", read && moves && upper && o.spill_o == 1);
    }

    fn write(&self, i: &RfcLrfIn, o: &RfcLrfOut, p: &RfcLrfProbe, point: &mut Point) {
        if i.op_valid_i == 0 {
            return;
        }
        let (performed, slot) = (o.op_ready_o == 1, usize::from(i.op_slot_i));
        point("a result of a slot that does not exist", slot >= self.slots);
        if slot >= self.slots {
            return;
        }
        let found = self.find(p, i.op_slot_i, i.op_reg_i).is_some();
        let (valid, dirty) = (p.valid_q[slot], p.dirty_q[slot]);
        let taken = if found { valid & i.op_mask_i } else { 0 };
        if i.op_upper_i == 1 {
            point("a result takes an empty entry", performed && valid == 0);
            point("a result of the register that is here", performed && found);
            point("a result gains lanes", performed && found && i.op_mask_i & !valid != 0);
            point("a result of no lane", performed && i.op_mask_i == 0);
            point("a spill", performed && o.spill_o == 1);
            point("a spill of some valid lanes", performed && o.spill_o == 1 && dirty != valid);
            point("a spill waits", !performed && o.spill_o == 1);
            let again = p.d_spill_q == 1 && p.d_write_slot_q == i.op_slot_i;
            point("a spill follows a spill of the slot", performed && o.spill_o == 1 && again);
            point("a result takes a dead entry", performed && part(RFC_LRF_EVENT, o.event_o.into(), "dead") == 1);
            point("the last slot is written", performed && slot + 1 == self.slots);
            let emptied = i.flush_i & (i.drop_i | o.clean_o) & !(1 << slot);
            point("a write as another slot is emptied", performed && emptied != 0);
        } else if i.op_kill_i == 1 {
            point("a result around takes lanes away", performed && taken != 0);
            point("a result around of another register", performed && !found && valid != 0);
            point("a result around in a slot that is flushed", taken != 0 && i.flush_i >> slot & 1 == 1);
        } else {
            point("a result below takes lanes away", performed && taken != 0);
            point("a result below leaves lanes", performed && taken != 0 && valid & !i.op_mask_i != 0);
            point("a result below of another register", performed && !found && valid != 0);
        }
    }

    /// What is in D and O.
    fn stages(&self, i: &RfcLrfIn, o: &RfcLrfOut, p: &RfcLrfProbe, point: &mut Point) {
        let reads = p.d_move_q == 1 && p.d_hit_q != [0; OPERANDS];
        let writes = p.d_write_q == 1 && p.d_write_mask_q != 0;
        let same = p.d_slot_q == p.d_write_slot_q;
        point("a read of what is written in D", reads && writes && same);
        point("a read of what another slot's write leaves alone", reads && writes && !same);
        point("what is read is spilled in D", reads && p.d_spill_q == 1 && same);
        let landed = o.land_hit_o != [0; OPERANDS];
        point("what lands and what is flushed come at once", landed && o.flush_data_valid_o == 1);
        let flushed = o.flush_valid_o == 1 && p.d_write_q == 1 && p.d_write_slot_q == o.flush_slot_o;
        point("a flushed value has been written in D", flushed);
        point("drop without flush", i.drop_i & !i.flush_i & !o.clean_o != 0);
    }

    fn flush(&self, i: &RfcLrfIn, o: &RfcLrfOut, p: &RfcLrfProbe, point: &mut Point) {
        let wanted = i.flush_i & !i.drop_i & !o.clean_o;
        point("a value is flushed", o.flush_valid_o == 1);
        point("flush waits for a result", wanted != 0 && i.op_valid_i == 1 && i.flush_ready_i == 1);
        point("flush waits for room", wanted != 0 && i.op_valid_i == 0 && i.flush_ready_i == 0);
        point("flush beside an instruction that leaves T", o.flush_valid_o == 1 && i.look_move_i == 1);
        point("two slots are flushed, the lower one first", o.flush_valid_o == 1 && wanted.count_ones() > 1);
        for slot in (0..self.slots).filter(|s| i.flush_i >> s & 1 == 1) {
            point("a slot with dirty lanes is dropped", i.drop_i >> slot & 1 == 1 && p.dirty_q[slot] != 0);
            point("a slot that is empty is flushed", p.valid_q[slot] == 0);
        }
    }
}
