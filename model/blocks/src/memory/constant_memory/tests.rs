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

/// The page, with bytes of one memory.
struct Reference {
    words: Vec<u32>,
    first: Option<(ConstantMemoryProbe, u32)>,
    result: ConstantMemoryOut,
}

impl Reference {
    fn cycle(&mut self, i: &ConstantMemoryIn) -> (ConstantMemoryOut, ConstantMemoryProbe) {
        let mut out = self.result;
        let first = self.first.take();
        self.result = ConstantMemoryOut::zeroed();
        if let Some((first, word)) = first {
            let next = &mut self.result;
            (next.result_valid_o, next.result_warp_o, next.result_mask_o) = (1, first.first_warp_q, first.first_mask_q);
            (next.result_done_o, next.result_reg_valid_o) = (first.first_done_q, first.first_reg_valid_q);
            next.result_reg_o = first.first_reg_q;
            for lane in (0..LANES).filter(|lane| first.first_mask_q >> lane & 1 == 1) {
                let value = word >> (8 * (first.byte_q >> (2 * lane) & 3));
                next.result_data_o.0[lane] = match (first.first_size_q, first.first_signed_q) {
                    (0, 0) => u32::from(value as u8),
                    (0, _) => value as i8 as u32,
                    (1, 0) => u32::from(value as u16),
                    (1, _) => value as i16 as u32,
                    _ => value,
                };
            }
        }
        if i.valid_i == 1 && i.room_i == 1 {
            let offered: Vec<usize> = (0..LANES).filter(|lane| i.lanes_i >> lane & 1 == 1).collect();
            let wanted = i.addr_i.0[offered[0]] / 4;
            let mut first = ConstantMemoryProbe::zeroed();
            for lane in offered.into_iter().filter(|&lane| i.addr_i.0[lane] / 4 == wanted) {
                out.served_o |= 1 << lane;
                first.byte_q |= u64::from(i.addr_i.0[lane] % 4) << (2 * lane);
            }
            (first.first_valid_q, first.first_mask_q, first.first_warp_q) = (1, out.served_o, i.warp_i);
            (first.first_reg_valid_q, first.first_reg_q) = (i.reg_valid_i, i.reg_i);
            (first.first_size_q, first.first_signed_q, first.first_done_q) = (i.size_i, i.signed_i, i.last_i);
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
            },
            |i| reference.cycle(i),
        );
    }
}
