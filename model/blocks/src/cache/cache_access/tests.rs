use super::*;
use crate::memory::{Header, Row};
use crate::mrf::bits::set_bits;
use crate::testing::{CACHE_SHAPES, Driver, Random, UNIFIED_SHAPES};

fn access() -> Driver<CacheAccess> {
    let mut access = Driver::<CacheAccess>::new(&CACHE_SHAPES[0]);
    access.inputs.push_ready_i = 1;
    access
}

/// A row of these lanes, each with the word of its number.
fn row(mask: u32, reg: Option<u8>) -> RowPort {
    let offset = std::array::from_fn(|lane| if mask >> lane & 1 == 1 { 4 * lane as u8 } else { 0 });
    let header = Header { mask, warp: 5, reg, done: false };
    Wide(CacheRow::from(&Row { header, offset: &offset, size: 2, signed: false, lanewise: false }).0)
}

fn fill(access: &mut Driver<CacheAccess>, entry: u16, line: WarpData) {
    (access.inputs.fill_valid_i, access.inputs.fill_entry_i, access.inputs.fill_data_i) = (1, entry, line);
    access.cycle();
    access.inputs.fill_valid_i = 0;
}

#[test]
fn a_load_takes_its_lanes_two_cycles_later() {
    let mut access = access();
    fill(&mut access, 300, WarpData(std::array::from_fn(|word| 100 + word as u32)));
    let inputs = &mut access.inputs;
    (inputs.in_valid_i, inputs.in_entry_i, inputs.in_load_i, inputs.in_row_i) = (1, 300, 9, row(0b101, Some(77)));
    assert_eq!(access.cycle().in_ready_o, 1);
    access.inputs.in_valid_i = 0;
    let out = access.cycle();
    assert_eq!((out.pin_valid_o, out.pin_entry_o, out.push_valid_o, out.write_o), (1, 300, 0, 0));
    let out = access.cycle();
    assert_eq!((out.pin_valid_o, out.pin_entry_o), (0, 0));
    assert_eq!((out.push_valid_o, out.push_load_o, out.push_warp_o, out.push_mask_o), (1, 9, 5, 0b101));
    assert_eq!((out.push_reg_valid_o, out.push_reg_o), (1, 77));
    assert_eq!(out.push_data_o.0[..4], [100, 0, 102, 0]);
    assert_eq!(access.cycle().push_valid_o, 0);
}

#[test]
fn loads_wait_for_each_other() {
    let mut access = access();
    access.inputs.push_ready_i = 0;
    (access.inputs.in_valid_i, access.inputs.in_row_i) = (1, row(1, None));
    let mut ready = Vec::new();
    for load in 0..4 {
        access.inputs.in_load_i = load;
        ready.push(access.cycle().in_ready_o);
    }
    // One in C, one in D.
    assert_eq!(ready, [1, 1, 0, 0]);
    access.inputs.push_ready_i = 1;
    let out = access.cycle();
    assert_eq!((out.in_ready_o, out.push_load_o, out.push_reg_valid_o), (1, 0, 0));
    access.inputs.in_valid_i = 0;
    assert_eq!([access.cycle().push_load_o, access.cycle().push_load_o], [1, 3]);
    assert_eq!(access.cycle().push_valid_o, 0);
}

#[test]
fn a_store_writes_its_bytes_and_the_highest_lane_wins() {
    let mut access = access();
    fill(&mut access, 2, WarpData([0x1111_1111; 32]));
    let inputs = &mut access.inputs;
    (inputs.in_valid_i, inputs.in_store_i, inputs.in_entry_i, inputs.in_size_i) = (1, 1, 2, 1);
    inputs.in_mask_i = 0b1011;
    inputs.in_data_i = WarpData(std::array::from_fn(|lane| 0xffff_0000 | (0xa0b0 + lane as u32)));
    (inputs.in_offset_i[0], inputs.in_offset_i[1], inputs.in_offset_i[3]) = (6, 126, 6);
    inputs.push_ready_i = 0;
    access.cycle();
    access.inputs.in_valid_i = 0;
    let out = access.cycle();
    assert_eq!((out.write_o, out.in_ready_o, out.pin_entry_o), (1, 1, 2));
    let probe = access.probe();
    assert_eq!(probe.bytes_q.to_u128(), 0b11 << 6 | 0b11 << 126);
    assert_eq!((probe.data_q.0[1], probe.data_q.0[31], probe.data_q.0[0]), (0xa0b3_0000, 0xa0b1_0000, 0));
    assert_eq!(access.cycle().write_o, 0);
    let words = &access.block.memories()[2].words[2 * LANES..3 * LANES];
    assert_eq!((words[1], words[31], words[0]), (0xa0b3_1111, 0xa0b1_1111, 0x1111_1111));
}

#[test]
fn a_load_behind_a_store_reads_what_it_has_written() {
    let mut access = access();
    let mut random = Random(9);
    let mut lines = vec![WarpData::ZERO; 8];
    let mut expected = std::collections::VecDeque::new();
    let mut seen = 0;
    for _ in 0..4000 {
        let entry = random.below(8);
        let inputs = &mut access.inputs;
        inputs.push_ready_i = random.chance(70).into();
        (inputs.in_valid_i, inputs.in_store_i) = (random.chance(70).into(), random.chance(50).into());
        (inputs.in_entry_i, inputs.in_mask_i, inputs.in_size_i) = (entry as u16, random.next() as u32, 2);
        inputs.in_row_i = row(inputs.in_mask_i, Some(1));
        for lane in 0..LANES {
            (inputs.in_data_i.0[lane], inputs.in_offset_i[lane]) = (random.next() as u32, 4 * random.below(32) as u8);
        }
        let out = access.cycle();
        if out.push_valid_o & access.inputs.push_ready_i != 0 {
            let data: WarpData = expected.pop_front().expect("a load");
            assert_eq!(out.push_data_o, data);
            seen += 1;
        }
        let inputs = &access.inputs;
        if out.in_ready_o & inputs.in_valid_i == 0 {
            continue;
        }
        if inputs.in_store_i == 1 {
            for lane in set_bits(inputs.in_mask_i) {
                lines[entry].0[usize::from(inputs.in_offset_i[lane] / 4)] = inputs.in_data_i.0[lane];
            }
        } else {
            let lane = |lane: usize| if inputs.in_mask_i >> lane & 1 == 1 { lines[entry].0[lane] } else { 0 };
            expected.push_back(WarpData(std::array::from_fn(lane)));
        }
    }
    assert!(seen > 500, "{seen}");
}

#[test]
fn with_unified_memory_accesses_wait_for_their_column_and_a_line_is_kept() {
    let mut access = Driver::<CacheAccess>::new(&UNIFIED_SHAPES[0]);
    let inputs = &mut access.inputs;
    (inputs.in_valid_i, inputs.in_entry_i, inputs.in_row_i) = (1, 6, row(0b101, Some(77)));
    (inputs.read_ready_i, inputs.write_ready_i) = (0b1011, 0b1111);
    assert_eq!(access.cycle().in_ready_o, 1);
    let out = access.cycle();
    assert_eq!((out.in_ready_o, out.ram_read_o, out.ram_read_entry_o, out.ram_write_o), (0, 1, 6, 0));
    access.inputs.read_ready_i = 0b0100;
    assert_eq!(access.cycle().in_ready_o, 1, "the column is free");
    // In D, and not taken: the banks show the line for one cycle.
    access.inputs.in_valid_i = 0;
    access.inputs.data_i = WarpData([5; LANES]);
    let out = access.cycle();
    assert_eq!((out.push_valid_o, out.push_reg_valid_o, out.push_data_o.0[..3].to_vec()), (1, 1, vec![5, 0, 5]));
    assert_eq!((out.ram_read_o, access.probe().fresh_q), (0, 1), "the next one waits for D");
    access.inputs.data_i = WarpData([9; LANES]);
    assert_eq!((access.cycle().push_data_o.0[..3].to_vec(), access.probe().kept_q.0[9]), (vec![5, 0, 5], 5));
    access.inputs.push_ready_i = 1;
    let out = access.cycle();
    assert_eq!((out.ram_read_o, out.push_data_o.0[0], access.probe().fresh_q), (1, 5, 0));
    assert_eq!(access.cycle().push_data_o.0[..3], [9, 0, 9]);

    // A store in front of a fill.
    let inputs = &mut access.inputs;
    (inputs.in_valid_i, inputs.in_store_i, inputs.in_entry_i) = (1, 1, 3);
    (inputs.in_mask_i, inputs.in_size_i, inputs.in_offset_i[0], inputs.in_data_i) =
        (1, 1, 6, WarpData([0xabcd; LANES]));
    inputs.write_ready_i = 0b0111;
    assert_eq!(access.cycle().in_ready_o, 1);
    access.inputs.in_valid_i = 0;
    for (ready, free) in [(0b0111, 0), (0b1000, 1)] {
        access.inputs.write_ready_i = ready;
        let out = access.cycle();
        assert_eq!((out.write_o, out.ram_write_o, out.ram_write_entry_o, out.in_ready_o), (1, 1, 3, free));
        assert_eq!((out.ram_write_bytes_o.to_u128(), out.ram_write_data_o.0[1]), (0b11 << 6, 0xabcd_0000));
    }
    fill(&mut access, 4, WarpData([1; LANES]));
    let out = &access.out;
    assert_eq!((out.write_o, out.ram_write_o, out.ram_write_entry_o), (0, 1, 4));
    assert_eq!((out.ram_write_bytes_o.to_u128(), out.ram_write_data_o.0), (u128::MAX, [1; LANES]));
}
