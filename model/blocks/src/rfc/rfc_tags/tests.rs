use super::*;
use crate::config::{Config, Start};
use crate::testing::{Driver, event};
use crate::{Ports, Shape};

const LIVE: u8 = 0b01;
const LRU: u8 = 0b10;
const PROMPT: u8 = 0b100;

/// Two slots of three entries.
fn tags() -> Driver<RfcTags> {
    let settings = ["sm.active_warps=2", "rfc.entries=3"];
    let config = Config::load(Start::Preset("rfc"), &settings).expect("a configuration");
    let mut tags = Driver::<RfcTags>::new(&RfcShape::of(&config));
    tags.inputs.evict_room_i = 1;
    tags
}

impl Driver<RfcTags> {
    /// Runs one cycle, then clears all offers.
    fn step(&mut self) -> RfcTagsOut {
        let out = self.cycle();
        let kept = self.inputs;
        self.inputs =
            RfcTagsIn { rst_ni: 1, cfg_i: kept.cfg_i, evict_room_i: kept.evict_room_i, ..RfcTagsIn::zeroed() };
        (self.inputs.flush_i, self.inputs.drop_i) = (kept.flush_i, kept.drop_i);
        out
    }

    fn op(&mut self, kill: bool, slot: u8, reg: u8, mask: u32) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.op_valid_i, inputs.op_kill_i) = (1, kill.into());
        (inputs.op_slot_i, inputs.op_reg_i, inputs.op_mask_i) = (slot, reg, mask);
        self
    }

    fn write(&mut self, slot: u8, reg: u8, mask: u32) -> RfcTagsOut {
        self.op(false, slot, reg, mask).step()
    }

    /// An instruction that reads these registers and leaves T.
    fn look(&mut self, slot: u8, regs: [u8; 3], sources: u8, mask: u32, last: u8) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.look_valid_i, inputs.look_move_i) = (1, 1);
        (inputs.look_slot_i, inputs.look_reg_i, inputs.look_src_valid_i) = (slot, regs, sources);
        (inputs.look_mask_i, inputs.look_last_i) = (mask, last);
        self
    }
}

fn count(out: &RfcTagsOut, name: &str) -> u64 {
    event(RFC_TAGS_EVENT, out.event_o.into(), name)
}

#[test]
fn an_instruction_finds_the_lanes_that_are_here() {
    let mut tags = tags();
    tags.write(1, 5, 0x0f);
    tags.write(1, 6, u32::MAX);
    let out = tags.look(1, [5, 6, 6], 0b111, 0xff, 0).step();
    assert_eq!((out.hit_mask_o, out.hit_index_o), ([0x0f, 0xff, 0xff], [3, 4, 4]));
    assert_eq!((out.hit_port_o, out.read_o), ([0, 1, 1], 0b011));
    assert_eq!((count(&out, "hit"), count(&out, "partial"), count(&out, "miss")), (1, 1, 0));
    assert_eq!(count(&out, "read_groups"), 1 + 2);
    // No hits: another slot, a source that is not a register, lanes that are not valid.
    let out = tags.look(0, [5, 6, 6], 0b111, 0xff, 0).step();
    assert_eq!((out.hit_mask_o, out.read_o, count(&out, "miss")), ([0; 3], 0, 2));
    assert_eq!(tags.look(1, [5, 6, 6], 0b100, 0xff, 0).step().hit_port_o, [0, 0, 2]);
    let out = tags.look(1, [5, 5, 0], 0b011, 0xf0, 0).step();
    assert_eq!((out.hit_mask_o, out.hit_index_o, count(&out, "miss")), ([0; 3], [0; 3], 1));
}

#[test]
fn fifo_evicts_what_came_first_and_writes_dirty_lanes_only() {
    let mut tags = tags();
    for reg in 0..3 {
        let out = tags.write(0, reg, 0xff);
        assert_eq!((out.op_ready_o, out.op_index_o, out.evict_valid_o), (1, reg.into(), 0));
    }
    // A second write to an entry does not make it younger.
    let out = tags.write(0, 0, 0xf00);
    assert_eq!((count(&out, "write_hit"), out.op_index_o), (1, 0));
    let out = tags.write(0, 7, 1);
    assert_eq!((out.evict_valid_o, out.evict_index_o, out.evict_reg_o, out.evict_mask_o), (1, 0, 0, 0xfff));
    assert_eq!((out.op_index_o, count(&out, "allocate"), count(&out, "evict")), (0, 1, 1));
    assert_eq!(tags.write(0, 8, 1).evict_reg_o, 1);
}

#[test]
fn lru_evicts_what_was_used_longest_ago() {
    let mut tags = tags();
    tags.inputs.cfg_i = LRU;
    for reg in 0..3 {
        assert_eq!(tags.write(0, reg, 1).op_index_o, reg.into());
    }
    tags.look(0, [0, 0, 0], 0b001, 1, 0).step();
    tags.write(0, 1, 2);
    assert_eq!(tags.write(0, 7, 1).evict_reg_o, 2);
    // Sources in order, then the result of the same edge.
    tags.look(0, [7, 0, 0], 0b011, 1, 0).op(false, 0, 1, 1).step();
    assert_eq!(tags.probe().next_q[0], 0);
    assert_eq!(tags.write(0, 8, 1).evict_reg_o, 7);
    assert_eq!(tags.write(0, 9, 1).evict_reg_o, 0);
}

#[test]
fn a_result_waits_for_an_evictions_place_and_port() {
    let mut tags = tags();
    for reg in 0..3 {
        tags.write(0, reg, 1);
    }
    tags.inputs.evict_room_i = 0;
    let out = tags.write(0, 7, 1);
    assert_eq!((out.op_ready_o, out.evict_valid_o, count(&out, "wait")), (0, 0, 1));
    // Operands have priority: all read ports are in use, then one is left.
    tags.inputs.evict_room_i = 1;
    let out = tags.look(0, [0, 1, 2], 0b111, 1, 0).op(false, 0, 7, 1).step();
    assert_eq!((out.read_o, out.op_ready_o), (0b111, 0));
    let out = tags.look(0, [0, 0, 2], 0b111, 1, 0).op(false, 0, 7, 1).step();
    assert_eq!((out.read_o, out.op_ready_o, out.evict_port_o), (0b101, 1, 1));
    // An instruction that stays in T uses no read port.
    tags.look(0, [7, 1, 2], 0b111, 1, 0).op(false, 0, 8, 1);
    tags.inputs.look_move_i = 0;
    assert_eq!(tags.step().evict_port_o, 0);
}

#[test]
fn a_result_around_takes_its_lanes_away_and_the_others_survive() {
    let mut tags = tags();
    tags.write(0, 5, 0xff);
    let out = tags.op(true, 0, 5, 0x0f).step();
    assert_eq!((out.op_ready_o, out.op_index_o, count(&out, "kill")), (1, 0, 1));
    tags.step();
    assert_eq!((tags.probe().valid_q[0], tags.probe().dirty_q[0]), (0xf0, 0xf0));
    let out = tags.op(true, 0, 9, 0x0f).step();
    assert_eq!((out.op_ready_o, count(&out, "kill")), (1, 0));
    tags.op(true, 0, 5, 0xf0).step();
    assert_eq!(tags.look(0, [5; 3], 1, 0xff, 0).step().hit_mask_o, [0; 3]);
}

#[test]
fn a_last_read_makes_dead_the_lanes_that_execute_it() {
    let mut tags = tags();
    tags.write(0, 5, 0xff);
    tags.look(0, [5, 5, 0], 0b011, 0x0f, 0b011).step();
    tags.step();
    assert_eq!(tags.probe().dirty_q[0], 0xff, "only with the strap");
    tags.inputs.cfg_i = LIVE;
    let out = tags.look(0, [5, 5, 0], 0b011, 0x0f, 0b011).step();
    assert_eq!(count(&out, "marked"), 1);
    tags.step();
    assert_eq!((tags.probe().valid_q[0], tags.probe().dirty_q[0]), (0xff, 0xf0));
    // A dead entry is replaced without a write-back; lanes that die in the same cycle are still written back.
    tags.look(0, [5; 3], 1, 0xf0, 1).step();
    tags.write(0, 6, 1);
    tags.write(0, 7, 1);
    let out = tags.write(0, 8, 1);
    assert_eq!((out.evict_valid_o, count(&out, "dead")), (0, 1));
    let out = tags.look(0, [6; 3], 1, 1, 1).op(false, 0, 9, 1).step();
    assert_eq!((out.evict_valid_o, out.evict_mask_o), (1, 1));
}

#[test]
fn a_flush_writes_back_entry_by_entry_and_a_drop_nothing() {
    let mut tags = tags();
    for reg in 0..2 {
        tags.write(0, reg, 0xf);
        tags.write(1, reg, 0xf);
    }
    (tags.inputs.flush_i, tags.inputs.drop_i) = (0b11, 0b10);
    let out = tags.step();
    assert_eq!((out.clean_o, out.evict_valid_o, out.evict_index_o, count(&out, "drop")), (0, 1, 0, 1));
    // A result of another slot has priority.
    (tags.inputs.flush_i, tags.inputs.drop_i) = (0b01, 0);
    let out = tags.write(1, 3, 1);
    assert_eq!((out.clean_o, out.evict_valid_o, out.op_index_o), (0b10, 0, 3));
    let out = tags.step();
    assert_eq!((out.evict_index_o, out.evict_slot_o, count(&out, "flush")), (1, 0, 1));
    let out = tags.step();
    assert_eq!((out.clean_o, out.evict_valid_o), (0b01, 0));
    tags.inputs.flush_i = 0;
    tags.step();
    assert_eq!((tags.probe().next_q[0], tags.probe().next_q[1]), (0, 1));
    assert_eq!(tags.probe().valid_q[..3], [0; 3]);
}

#[test]
fn what_the_mrf_has_too_is_clean() {
    let mut tags = tags();
    tags.inputs.op_clean_i = 1;
    tags.write(0, 5, 0xff);
    tags.step();
    assert_eq!((tags.probe().valid_q[0], tags.probe().dirty_q[0]), (0xff, 0));
    tags.write(0, 6, 0x0f);
    tags.inputs.op_clean_i = 1;
    let out = tags.write(0, 6, 0xf0);
    assert_eq!((count(&out, "write_hit"), out.op_index_o), (1, 1));
    tags.step();
    assert_eq!((tags.probe().valid_q[1], tags.probe().dirty_q[1]), (0xff, 0x0f));
}

#[test]
fn a_write_takes_lanes_of_another_register_away() {
    let mut tags = tags();
    let take = |tags: &mut Driver<RfcTags>, reg: u8, mask: u32| {
        (tags.inputs.take_valid_i, tags.inputs.take_reg_i, tags.inputs.take_mask_i) = (1, reg, mask);
    };
    tags.write(0, 5, 0xff);
    tags.write(1, 5, 0xff);
    take(&mut tags, 5, 0x0f);
    tags.write(0, 6, 0x3);
    tags.step();
    assert_eq!((tags.probe().valid_q[0], tags.probe().dirty_q[0]), (0xf0, 0xf0));
    assert_eq!((tags.probe().valid_q[1], tags.probe().valid_q[3]), (0x3, 0xff));
    // The entry that is written keeps what it gets: as its own register's, or as the one that makes room.
    take(&mut tags, 6, 0xf);
    tags.write(0, 6, 0xff);
    tags.step();
    assert_eq!(tags.probe().valid_q[1], 0xff);
    tags.write(0, 7, 1);
    take(&mut tags, 5, u32::MAX);
    let out = tags.write(0, 8, 0xf);
    assert_eq!((out.op_index_o, out.evict_reg_o, out.evict_mask_o), (0, 5, 0xf0));
    tags.step();
    assert_eq!((tags.probe().tag_q[0], tags.probe().valid_q[0]), (8, 0xf));
    // No lane changes as long as the write waits.
    tags.inputs.evict_room_i = 0;
    take(&mut tags, 7, 1);
    assert_eq!(tags.write(0, 9, 1).op_ready_o, 0);
    tags.step();
    assert_eq!(tags.probe().valid_q[2], 1);
}

#[test]
fn prompt_flushes_beside_results_that_evict_nothing() {
    for (prompt, flushed) in [(0, 0), (PROMPT, 1)] {
        let mut tags = tags();
        tags.inputs.cfg_i = prompt;
        for reg in 0..3 {
            tags.write(0, reg, 1);
            tags.write(1, reg, 1);
        }
        tags.inputs.flush_i = 0b01;
        // The entry of the register is there: no eviction.
        let out = tags.write(1, 1, 2);
        assert_eq!((count(&out, "write_hit"), count(&out, "flush"), out.evict_valid_o), (1, flushed, flushed as u8));
        assert_eq!((out.evict_slot_o, out.op_index_o), (0, 4));
        // A result that evicts has priority over a flush, and so does a result that goes around.
        let out = tags.write(1, 7, 1);
        assert_eq!((count(&out, "evict"), count(&out, "flush"), out.evict_slot_o), (1, 0, 1));
        let out = tags.op(true, 1, 1, 1).step();
        assert_eq!((count(&out, "kill"), count(&out, "flush"), out.evict_valid_o), (1, 0, 0));
        // What was flushed is not there any more: two entries are left, or all three.
        let left = (0..4).filter(|_| tags.step().evict_valid_o == 1).count();
        assert_eq!(left, 3 - flushed as usize);
    }
}
