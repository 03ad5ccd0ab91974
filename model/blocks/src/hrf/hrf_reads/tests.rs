use super::*;
use crate::testing::{Driver, event};

/// Instruction 0 is warp 5's and reads registers 10, 11, 12 with eight lanes; both banks are free.
fn reads(latency: u8) -> Driver<HrfReads> {
    let mut reads = Driver::<HrfReads>::new(&HrfShape::preset(&[]));
    let inputs = &mut reads.inputs;
    (inputs.cfg_i, inputs.read_ready_i) = (latency - 1, 0b11);
    (inputs.req_valid_i, inputs.src_valid_i) = (0b111, 0b111);
    inputs.req_reg_i[..3].copy_from_slice(&[10, 11, 12]);
    (inputs.col_warp_i[0], inputs.col_base_i[0], inputs.col_mask_i[0]) = (5, 500, 0xff);
    reads
}

impl Driver<HrfReads> {
    /// Runs one cycle, then removes the requests that were granted.
    fn step(&mut self) -> HrfReadsOut {
        let out = self.cycle();
        self.inputs.req_valid_i &= !out.grant_o;
        out
    }
}

fn count(out: &HrfReadsOut, name: &str) -> u64 {
    event(HRF_READS_EVENT, out.event_o, name)
}

#[test]
fn the_oldest_reads_from_its_bank_one_a_cycle() {
    let mut reads = reads(1);
    let inputs = &mut reads.inputs;
    inputs.req_valid_i |= 1 << 3;
    inputs.src_valid_i |= 1 << 3;
    // Collector 1 is the older one, of an even warp.
    inputs.older_i[0] = 0b10;
    (inputs.req_reg_i[3], inputs.col_warp_i[1], inputs.col_mask_i[1]) = (255, 4, 1);
    let out = reads.step();
    assert_eq!((out.bank_o, out.grant_o, out.stt_valid_o, out.stt_entry_o), (0, 1 << 3, 0b01, 255));
    assert_eq!((out.look_reg_o, count(&out, "conflict_inter"), count(&out, "read_groups")), ([63, 0, 0], 3, 1));
    for k in 0..3 {
        let out = reads.step();
        assert_eq!((out.bank_o, out.grant_o, out.stt_valid_o), (1, 1 << k, 0b10));
        assert_eq!((out.stt_entry_o, out.buffer_o, out.take_o), ((510 + k) & 511, 0, [0; 3]));
        assert_eq!((count(&out, "miss"), count(&out, "conflict_intra")), (1, 2 - u64::from(k)));
    }
    let out = reads.step();
    assert_eq!((out.bank_o, out.grant_o, out.event_o, out.port_o), (0, 0, 0, [0; 3]));
}

#[test]
fn what_is_wholly_in_the_buffer_is_read_beside_it() {
    let mut reads = reads(1);
    (reads.inputs.hit_i, reads.inputs.lanes_i) = (0b111, [0xfff, 0x0f, 0xff00]);
    let out = reads.step();
    assert_eq!((out.grant_o, out.buffer_o, out.stt_valid_o, out.stt_entry_o), (0b011, 0b011, 0b10, 511));
    assert_eq!(out.take_o, [u32::MAX, 0x0f, 0]);
    assert_eq!((count(&out, "hit"), count(&out, "partial"), count(&out, "miss")), (1, 1, 0));
    assert_eq!((count(&out, "buffer_groups"), count(&out, "read_groups")), (2 + 1, 2));
    let out = reads.step();
    assert_eq!((out.grant_o, out.buffer_o, out.take_o, count(&out, "miss")), (0b100, 0, [0; 3], 1));
    // An operand that is whole in the buffer is not read from the bank.
    let mut reads = self::reads(1);
    reads.inputs.read_ready_i = 0;
    (reads.inputs.hit_i, reads.inputs.lanes_i) = (0b010, [0; 3]);
    reads.inputs.lanes_i[1] = 0xff;
    let out = reads.step();
    assert_eq!((out.grant_o, count(&out, "conflict_read_write"), count(&out, "conflict_intra")), (0b010, 2, 0));
}

#[test]
fn nothing_begins_while_frozen_or_while_a_write_is_offered() {
    let mut reads = reads(1);
    reads.inputs.write_valid_i = 0b10;
    let out = reads.step();
    assert_eq!((out.grant_o, out.stt_valid_o, count(&out, "conflict_read_write")), (0, 0, 3));
    (reads.inputs.write_valid_i, reads.inputs.frozen_i) = (0b01, 1);
    reads.inputs.hit_i = 0b001;
    reads.inputs.lanes_i[0] = 0xff;
    assert_eq!(reads.step().grant_o, 0);
    reads.inputs.frozen_i = 0;
    assert_eq!(reads.step().grant_o, 0b011);
}

#[test]
fn a_longer_read_is_granted_when_its_data_comes() {
    let mut reads = reads(3);
    (reads.inputs.hit_i, reads.inputs.lanes_i[1]) = (0b010, 0xff);
    let out = reads.step();
    assert_eq!((out.grant_o, out.stt_valid_o, out.stt_entry_o), (0b010, 0b10, 510));
    reads.inputs.frozen_i = 1;
    let out = reads.step();
    assert_eq!((out.grant_o, out.stt_valid_o, reads.probe().left_q), (0, 0, 2));
    let out = reads.step();
    assert_eq!((out.grant_o, out.stt_valid_o, reads.probe().source_q), (0b001, 0, 0));
    assert_eq!((count(&out, "conflict_intra"), count(&out, "read")), (1, 0));
}

#[test]
fn sources_with_the_same_register_are_served_together() {
    let mut reads = reads(1);
    reads.inputs.req_reg_i[..3].copy_from_slice(&[10, 11, 10]);
    reads.inputs.req_valid_i = 0b011;
    assert_eq!(reads.step().port_o, [0, 1, 0]);
    reads.inputs.src_valid_i = 0b110;
    assert_eq!(reads.step().port_o, [0, 1, 2]);
}
