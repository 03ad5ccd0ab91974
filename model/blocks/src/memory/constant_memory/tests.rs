use super::*;
use crate::testing::{Driver, SM_SHAPES, compare};

/// A memory whose words hold 0x80808000 and their numbers, and which is offered all lanes with these addresses.
fn offered(address: impl Fn(usize) -> u32) -> Driver<ConstantMemory> {
    let mut memory = Driver::<ConstantMemory>::new(&SM_SHAPES[0]);
    for (number, word) in memory.block.memories()[0].words.iter_mut().enumerate() {
        *word = 0x8080_8000 + number as u32;
    }
    let inputs = &mut memory.inputs;
    (inputs.valid_i, inputs.room_i, inputs.lanes_i, inputs.size_i) = (1, 1, u32::MAX, 2);
    (inputs.warp_i, inputs.reg_valid_i, inputs.reg_i) = (3, 1, 77);
    inputs.addr_i = WarpData(std::array::from_fn(address));
    memory
}

#[test]
fn one_word_a_cycle_goes_to_all_lanes_that_want_it() {
    let mut memory = offered(|lane| [40, 44][lane % 2]);
    assert_eq!(memory.cycle().served_o, 0x5555_5555);
    (memory.inputs.lanes_i, memory.inputs.last_i) = (0xaaaa_aaaa, 1);
    assert_eq!(memory.cycle().served_o, 0xaaaa_aaaa);
    memory.inputs.valid_i = 0;
    let out = memory.cycle();
    assert_eq!((out.result_valid_o, out.result_warp_o, out.result_done_o), (1, 3, 0));
    assert_eq!((out.result_reg_valid_o, out.result_reg_o, out.result_mask_o), (1, 77, 0x5555_5555));
    assert_eq!((out.result_data_o.0[0], out.result_data_o.0[1]), (0x8080_800a, 0));
    let out = memory.cycle();
    assert_eq!((out.result_done_o, out.result_data_o.0[0], out.result_data_o.0[1]), (1, 0, 0x8080_800b));
    assert_eq!(memory.cycle().result_valid_o, 0);
}

#[test]
fn without_room_nothing_is_served() {
    let mut memory = offered(|_| 40);
    memory.inputs.room_i = 0;
    assert_eq!(memory.cycle().served_o, 0);
    assert_eq!((memory.cycle().result_valid_o, memory.probe().first_valid_q), (0, 0));
}

#[test]
fn bytes_are_extended_and_a_result_may_have_no_register() {
    let mut memory = offered(|lane| 40 + [0, 1, 2, 3][lane % 4]);
    (memory.inputs.size_i, memory.inputs.signed_i) = (0, 1);
    assert_eq!(memory.cycle().served_o, u32::MAX);
    memory.inputs.reg_valid_i = 0;
    assert_eq!((memory.cycle().served_o, memory.probe().byte_q), (u32::MAX, 0xe4e4_e4e4_e4e4_e4e4));
    let out = memory.cycle();
    assert_eq!(out.result_data_o.0[..4], [0xa, 0xffff_ff80, 0xffff_ff80, 0xffff_ff80]);
    let out = memory.cycle();
    assert_eq!((out.result_valid_o, out.result_reg_valid_o), (1, 0));
}

#[test]
fn a_word_that_the_host_writes_is_read_as_it_was() {
    let mut memory = offered(|_| 40);
    (memory.inputs.const_we_i, memory.inputs.const_addr_i, memory.inputs.const_data_i) = (1, 10, 5);
    memory.cycle();
    // In reset, too.
    (memory.inputs.rst_ni, memory.inputs.const_addr_i) = (0, 11);
    memory.cycle();
    (memory.inputs.rst_ni, memory.inputs.const_we_i) = (1, 0);
    assert_eq!((memory.cycle().result_valid_o, memory.probe().first_valid_q), (0, 0));
    memory.inputs.addr_i.0 = [44; 32];
    memory.cycle();
    assert_eq!(memory.cycle().result_data_o.0[0], 5);
    assert_eq!(memory.cycle().result_data_o.0[0], 5);
}

#[test]
fn the_word_is_read_at_the_edge_of_its_pass() {
    let mut memory = offered(|_| 40);
    (memory.inputs.const_we_i, memory.inputs.const_addr_i, memory.inputs.const_data_i) = (1, 10, 5);
    memory.cycle();
    memory.inputs.const_data_i = 6;
    memory.cycle();
    assert_eq!(memory.cycle().result_data_o.0[0], 0x8080_800a);
    assert_eq!(memory.cycle().result_data_o.0[0], 5);
}

#[test]
fn the_constant_unit_goes_first_and_has_its_result_in_the_next_cycle() {
    let mut memory = offered(|_| 40);
    memory.inputs.last_i = 1;
    let direct = |memory: &mut Driver<ConstantMemory>, room: u8| {
        let inputs = &mut memory.inputs;
        (inputs.direct_valid_i, inputs.direct_room_i, inputs.direct_lanes_i) = (1, room, 0b110);
        (inputs.direct_size_i, inputs.direct_signed_i, inputs.direct_warp_i) = (0, 1, 5);
        (inputs.direct_reg_valid_i, inputs.direct_reg_i, inputs.direct_last_i) = (1, 78, 1);
        inputs.direct_addr_i = WarpData([45; LANES]);
    };
    direct(&mut memory, 1);
    let out = memory.cycle();
    assert_eq!((out.direct_served_o, out.served_o), (0b110, 0));
    direct(&mut memory, 0);
    let out = memory.cycle();
    assert_eq!((out.direct_served_o, out.served_o), (0, u32::MAX), "without room for it the other one has the cycle");
    assert_eq!((out.direct_result_valid_o, out.direct_result_warp_o, out.direct_result_mask_o), (1, 5, 0b110));
    assert_eq!((out.direct_result_done_o, out.direct_result_reg_valid_o, out.direct_result_reg_o), (1, 1, 78));
    assert_eq!(out.direct_result_data_o.0[..4], [0, 0xffff_ff80, 0xffff_ff80, 0]);
    assert_eq!((out.result_valid_o, memory.probe().first_direct_q), (0, 1));
    direct(&mut memory, 1);
    let out = memory.cycle();
    assert_eq!((out.direct_result_valid_o, out.result_valid_o), (0, 0), "it was the memory pipeline's");
    let out = memory.cycle();
    assert_eq!((out.direct_result_valid_o, out.result_valid_o, out.result_warp_o), (1, 1, 3), "both at once");
    assert_eq!((out.result_done_o, out.result_data_o.0[9]), (1, 0x8080_800a));
}

/// A reference model from the page, with bytes of one memory.
struct Reference {
    words: Vec<u32>,
    first: Option<(ConstantMemoryProbe, u32)>,
    result: ConstantMemoryOut,
}

impl Reference {
    /// The lanes' bytes of a word.
    fn data(first: &ConstantMemoryProbe, word: u32) -> WarpData {
        let mut data = WarpData::ZERO;
        for lane in (0..LANES).filter(|lane| first.first_mask_q >> lane & 1 == 1) {
            let value = word >> (8 * (first.byte_q >> (2 * lane) & 3));
            data.0[lane] = match (first.first_size_q, first.first_signed_q) {
                (0, 0) => u32::from(value as u8),
                (0, _) => value as i8 as u32,
                (1, 0) => u32::from(value as u16),
                (1, _) => value as i16 as u32,
                _ => value,
            };
        }
        data
    }

    fn cycle(&mut self, i: &ConstantMemoryIn) -> (ConstantMemoryOut, ConstantMemoryProbe) {
        let mut out = self.result;
        let first = self.first.take();
        self.result = ConstantMemoryOut::zeroed();
        if let Some((first, word)) = first {
            let data = Self::data(&first, word);
            if first.first_direct_q == 1 {
                (out.direct_result_valid_o, out.direct_result_data_o) = (1, data);
                (out.direct_result_warp_o, out.direct_result_mask_o) = (first.first_warp_q, first.first_mask_q);
                (out.direct_result_done_o, out.direct_result_reg_o) = (first.first_done_q, first.first_reg_q);
                out.direct_result_reg_valid_o = first.first_reg_valid_q;
            } else {
                let next = &mut self.result;
                (next.result_valid_o, next.result_data_o) = (1, data);
                (next.result_warp_o, next.result_mask_o) = (first.first_warp_q, first.first_mask_q);
                (next.result_done_o, next.result_reg_o) = (first.first_done_q, first.first_reg_q);
                next.result_reg_valid_o = first.first_reg_valid_q;
            }
        }
        let direct = i.direct_valid_i == 1 && i.direct_room_i == 1;
        if direct || i.valid_i == 1 && i.room_i == 1 {
            let (lanes, addr) = if direct { (i.direct_lanes_i, &i.direct_addr_i) } else { (i.lanes_i, &i.addr_i) };
            let offered: Vec<usize> = (0..LANES).filter(|lane| lanes >> lane & 1 == 1).collect();
            let wanted = addr.0[offered[0]] / 4;
            let mut first = ConstantMemoryProbe::zeroed();
            let mut served = 0;
            for lane in offered.into_iter().filter(|&lane| addr.0[lane] / 4 == wanted) {
                served |= 1 << lane;
                first.byte_q |= u64::from(addr.0[lane] % 4) << (2 * lane);
            }
            (first.first_valid_q, first.first_mask_q, first.first_direct_q) = (1, served, direct.into());
            if direct {
                out.direct_served_o = served;
                (first.first_warp_q, first.first_size_q) = (i.direct_warp_i, i.direct_size_i);
                (first.first_reg_valid_q, first.first_reg_q) = (i.direct_reg_valid_i, i.direct_reg_i);
                (first.first_signed_q, first.first_done_q) = (i.direct_signed_i, i.direct_last_i);
            } else {
                out.served_o = served;
                (first.first_warp_q, first.first_size_q) = (i.warp_i, i.size_i);
                (first.first_reg_valid_q, first.first_reg_q) = (i.reg_valid_i, i.reg_i);
                (first.first_signed_q, first.first_done_q) = (i.signed_i, i.last_i);
            }
            self.first = Some((first, self.words[wanted as usize]));
        }
        if i.const_we_i == 1 {
            self.words[usize::from(i.const_addr_i)] = i.const_data_i;
        }
        if i.rst_ni == 0 {
            (self.first, self.result) = (None, ConstantMemoryOut::zeroed());
        }
        (out, first.map_or(ConstantMemoryProbe::zeroed(), |first| first.0))
    }
}

#[test]
fn it_does_what_the_page_says_pass_by_pass() {
    for shape in SM_SHAPES {
        let words = shape.const_words;
        let mut reference = Reference { words: vec![0; words], first: None, result: ConstantMemoryOut::zeroed() };
        compare::<ConstantMemory>(
            &shape,
            10_000,
            |random, i| {
                i.rst_ni = (!random.chance(2)).into();
                i.lanes_i = i.lanes_i.max(1);
                i.size_i = random.below(3) as u8;
                let near = random.chance(50);
                i.const_addr_i = random.below(if near { 8 } else { words }) as u16;
                let limit = [1, 8, words][random.below(3)];
                for address in &mut i.addr_i.0 {
                    *address = (4 * random.below(limit) as u32 + *address % 4) & !0 << i.size_i;
                }
                (i.direct_lanes_i, i.direct_size_i) = (i.direct_lanes_i.max(1), random.below(3) as u8);
                for address in &mut i.direct_addr_i.0 {
                    *address = (4 * random.below(limit) as u32 + *address % 4) & !0 << i.direct_size_i;
                }
            },
            |i| reference.cycle(i),
        );
    }
}
