//! Replacement in the register file cache (`rfc_tags`).

use gpurf_blocks::Shape;
use gpurf_blocks::config::{Config, Replacement};
use gpurf_blocks::rfc::RfcShape;
use gpurf_blocks::rfc::RfcTags;

use crate::run::{Checker, Cycle, Decided, config, count, expect, has, passes, refuses};

/// "We explore using FIFO and LRU replacement in the RFC" "to determine which value to evict" (hierarchy thesis,
/// 5.2.4); "our baseline RFC design uses a FIFO replacement policy" "when writing a new value into the RFC" (RFC
/// paper, 3.1).
///
/// First in, first out: the entry that was allocated longest ago is replaced; in an empty slot, entries are allocated
/// from the first one on. Least recently used: the entry whose last use, a read or a write, is longest ago is replaced.
struct MakesRoom {
    shape: RfcShape,
    policy: Replacement,
    /// Entries of each slot; the one that is replaced next comes first.
    order: Vec<Vec<usize>>,
}

impl MakesRoom {
    fn new(config: &Config, policy: Replacement) -> Self {
        let shape = RfcShape::of(config);
        let order = vec![(0..shape.entries).collect(); shape.cache_slots()];
        Self { shape, policy, order }
    }

    fn youngest(&mut self, slot: usize, entry: usize) {
        self.order[slot].retain(|&other| other != entry);
        self.order[slot].push(entry);
    }
}

impl Checker<RfcTags> for MakesRoom {
    fn judge(&mut self, cycle: &Cycle<RfcTags>, decided: &mut Decided) -> Result<(), String> {
        let (i, o, p, entries) = (&cycle.inputs, &cycle.out, &cycle.probe, self.shape.entries);
        let slot = usize::from(i.op_slot_i);
        let write = i.op_valid_i == 1 && i.op_kill_i == 0;
        let places = slot * entries..(slot + 1) * entries;
        let new = write && !places.clone().any(|e| p.valid_q[e] != 0 && p.tag_q[e] == i.op_reg_i);
        if new {
            let goes = slot * entries + self.order[slot][0];
            expect("entry for a new value", usize::from(o.op_index_o), goes)?;
            if o.op_ready_o == 1 && o.evict_valid_o == 1 {
                expect("entry evicted", (usize::from(o.evict_index_o), o.evict_reg_o), (goes, p.tag_q[goes]))?;
            }
            count(decided, "full", o.op_ready_o == 1 && places.clone().all(|e| p.valid_q[e] != 0));
        }
        if i.rst_ni == 0 {
            self.order.iter_mut().for_each(|order| order.sort_unstable());
            return Ok(());
        }
        if self.policy == Replacement::Lru && i.look_move_i == 1 {
            for k in (0..3).filter(|&k| o.hit_mask_o[k] != 0) {
                self.youngest(i.look_slot_i.into(), usize::from(o.hit_index_o[k]) % entries);
            }
        }
        if write && o.op_ready_o == 1 && (new || self.policy == Replacement::Lru) {
            self.youngest(slot, usize::from(o.op_index_o) % entries);
        }
        for slot in 0..self.shape.cache_slots() {
            let emptied = has(i.flush_i & (i.drop_i | o.clean_o), slot);
            if emptied && self.policy == Replacement::Fifo {
                self.order[slot].sort_unstable();
            }
        }
        Ok(())
    }
}

fn configs(policy: Replacement) -> Vec<Config> {
    let mut configs = ["rfc", "rfc-live", "rfc-hw3"].map(config).to_vec();
    configs.iter_mut().for_each(|config| config.rfc.replacement = policy);
    configs
}

#[test]
fn the_first_in_is_the_first_out() {
    for config in configs(Replacement::Fifo) {
        passes(&config, &[], MakesRoom::new(&config, Replacement::Fifo), &["full"]);
    }
}

#[test]
fn the_least_recently_used_makes_room() {
    for config in configs(Replacement::Lru) {
        passes(&config, &[], MakesRoom::new(&config, Replacement::Lru), &["full"]);
    }
}

#[test]
fn another_policy_is_refused() {
    for (done, checked) in [(Replacement::Fifo, Replacement::Lru), (Replacement::Lru, Replacement::Fifo)] {
        for config in configs(done) {
            refuses(&config, &[], MakesRoom::new(&config, checked), "entry for a new value", |_, _| {});
        }
    }
}

#[test]
fn one_wrong_victim_is_refused() {
    for policy in [Replacement::Fifo, Replacement::Lru] {
        for config in configs(policy) {
            let (mut done, entries) = (false, config.rfc.entries as u16);
            refuses(&config, &[], MakesRoom::new(&config, policy), "entry evicted", |number, cycle| {
                let (i, o) = (&cycle.inputs, &mut cycle.out);
                let evicts = i.op_valid_i == 1 && i.op_kill_i == 0 && o.op_ready_o == 1 && o.evict_valid_o == 1;
                if number > 1_000 && evicts && !done {
                    done = true;
                    o.evict_index_o = o.evict_index_o / entries * entries + (o.evict_index_o + 1) % entries;
                }
            });
        }
    }
}
