use super::*;
use crate::Ports;
use crate::memory::access::atomic;
use crate::testing::{Driver, SM_SHAPES, compare};

/// A memory that is offered all lanes of an access with these addresses.
fn offered(kind: u8, address: impl Fn(usize) -> u32) -> Driver<SharedMemory> {
    let mut memory = Driver::<SharedMemory>::new(&SM_SHAPES[0]);
    offer(&mut memory, kind, address);
    memory
}

fn offer(memory: &mut Driver<SharedMemory>, kind: u8, address: impl Fn(usize) -> u32) {
    let inputs = &mut memory.inputs;
    (inputs.valid_i, inputs.room_i, inputs.lanes_i, inputs.kind_i, inputs.size_i) = (1, 1, u32::MAX, kind, 2);
    (inputs.warp_i, inputs.reg_valid_i, inputs.reg_i) = (3, 1, 77);
    inputs.addr_i = WarpData(std::array::from_fn(&address));
    inputs.store_i = WarpData(std::array::from_fn(|lane| 0x0101_0101 * (1 + lane as u32)));
}

/// Passes until all lanes are served; how many there were.
fn passes(memory: &mut Driver<SharedMemory>) -> usize {
    for pass in 1.. {
        let served = memory.cycle().served_o;
        memory.inputs.lanes_i &= !served;
        if memory.inputs.lanes_i == 0 {
            memory.inputs.valid_i = 0;
            return pass;
        }
    }
    unreachable!()
}

/// The word at an address.
fn word(memory: &mut Driver<SharedMemory>, address: u32) -> u32 {
    offer(memory, kind::LOAD, |_| address);
    assert_eq!(passes(memory), 1);
    memory.cycle();
    memory.cycle().result_data_o.0[31]
}

#[test]
fn a_result_comes_two_cycles_after_its_pass() {
    let mut memory = offered(kind::LOAD, |lane| 4 * lane as u32);
    memory.inputs.last_i = 1;
    assert_eq!(memory.cycle().served_o, u32::MAX);
    memory.inputs.valid_i = 0;
    assert_eq!((memory.cycle().result_valid_o, memory.probe().first_valid_q, memory.probe().place_q[31]), (0, 1, 124));
    let out = memory.cycle();
    assert_eq!((out.result_valid_o, out.result_warp_o, out.result_mask_o, out.result_done_o), (1, 3, u32::MAX, 1));
    assert_eq!((out.result_reg_valid_o, out.result_reg_o), (1, 77));
    assert_eq!((memory.cycle().result_valid_o, memory.probe().first_valid_q), (0, 0));
}

#[test]
fn a_bank_serves_one_word_a_pass_to_all_who_want_it() {
    // Stride in words, passes.
    for (stride, expected) in [(0, 1), (1, 1), (2, 2), (8, 8), (32, 32), (33, 1)] {
        let mut memory = offered(kind::LOAD, |lane| 4 * stride * lane as u32);
        assert_eq!(passes(&mut memory), expected, "stride {stride}");
        let mut memory = offered(kind::STORE, |lane| 4 * stride * lane as u32);
        assert_eq!(passes(&mut memory), expected, "stride {stride}");
    }
    // Two rows in one bank: that of the lowest lane.
    let mut memory = offered(kind::LOAD, |lane| [0x80, 0, 4][lane % 3]);
    assert_eq!(memory.cycle().served_o, !0x9249_2492);
}

#[test]
fn less_bandwidth_is_a_window_over_the_lanes() {
    for (strap, first, second) in [(1, 0xfff0, 0xffff_0000), (2, 0xf0, 0xff00)] {
        let mut memory = offered(kind::LOAD, |lane| 4 * lane as u32);
        (memory.inputs.cfg_i, memory.inputs.lanes_i) = (strap, !0xf);
        assert_eq!(memory.cycle().served_o, first);
        memory.inputs.lanes_i &= !first;
        assert_eq!(memory.cycle().served_o, second);
    }
    // Row of the lowest lane of the window, whatever other lanes want.
    let mut memory = offered(kind::LOAD, |lane| if lane < 16 { 0 } else { 0x80 });
    (memory.inputs.cfg_i, memory.inputs.lanes_i) = (1, 0xffff_0000);
    assert_eq!(memory.cycle().served_o, 0xffff_0000);
}

#[test]
fn bytes_are_written_and_the_highest_lane_stays() {
    for (size, expected) in [(0, 0x1d1e_1f20), (1, 0x1e1e_2020), (2, 0x2020_2020)] {
        let mut memory = offered(kind::STORE, |lane| (67 - lane as u32 % 4) & !((1 << size) - 1));
        memory.inputs.size_i = size;
        (memory.inputs.room_i, memory.inputs.lanes_i) = (0, !0xf);
        assert_eq!(memory.cycle().served_o, !0xf, "a store needs no room");
        assert_eq!(word(&mut memory, 64), expected);
        // No result.
        offer(&mut memory, kind::STORE, |_| 64);
        memory.cycle();
        memory.inputs.valid_i = 0;
        memory.cycle();
        assert_eq!(memory.cycle().result_valid_o, 0);
    }
}

#[test]
fn bytes_are_read_and_extended() {
    let mut memory = offered(kind::STORE, |_| 8);
    memory.inputs.store_i.0[31] = 0x8070_f0a5;
    memory.cycle();
    for (size, signed, byte, expected) in
        [(0, 1, 0, 0xffff_ffa5), (0, 0, 3, 0x80), (1, 1, 2, 0xffff_8070), (1, 0, 0, 0xf0a5)]
    {
        offer(&mut memory, kind::LOAD, |_| 8 + byte);
        (memory.inputs.size_i, memory.inputs.signed_i, memory.inputs.lanes_i) = (size, signed, !1);
        passes(&mut memory);
        memory.cycle();
        let out = memory.cycle();
        assert_eq!((out.result_data_o.0[0], out.result_data_o.0[5]), (0, expected));
    }
}

#[test]
fn an_atomic_operation_takes_two_cycles_for_each_lane_of_a_word() {
    let mut memory = offered(kind::ATOMIC, |lane| 4 * (lane as u32 % 16));
    memory.inputs.store_i = WarpData([5; 32]);
    memory.inputs.room_i = 0;
    assert_eq!((memory.cycle().served_o, memory.probe().phase_q), (0, 0));
    memory.inputs.room_i = 1;
    assert_eq!((memory.cycle().served_o, memory.probe().phase_q), (0, 0));
    memory.inputs.room_i = 0;
    assert_eq!((memory.cycle().served_o, memory.probe().phase_q), (0xffff, 1), "whatever room there is");
    (memory.inputs.room_i, memory.inputs.lanes_i) = (1, 0xffff_0000);
    assert_eq!((memory.cycle().served_o, memory.probe().phase_q), (0, 0));
    assert_eq!(memory.cycle().result_data_o.0[1], 0, "the old value");
    memory.inputs.valid_i = 0;
    memory.cycle();
    let out = memory.cycle();
    assert_eq!((out.result_mask_o, out.result_data_o.0[1], out.result_data_o.0[17]), (0xffff_0000, 0, 5));
    assert_eq!(word(&mut memory, 60), 10);

    // Without a register nothing comes back.
    offer(&mut memory, kind::ATOMIC, |_| 0);
    (memory.inputs.reg_valid_i, memory.inputs.lanes_i) = (0, 1);
    memory.cycle();
    assert_eq!(memory.cycle().served_o, 1);
    memory.inputs.valid_i = 0;
    assert_eq!((memory.cycle().result_valid_o, memory.probe().first_valid_q), (0, 0));
}

#[test]
fn a_withdrawn_atomic_operation_begins_anew() {
    let mut memory = offered(kind::ATOMIC, |_| 0);
    memory.cycle();
    memory.inputs.valid_i = 0;
    memory.cycle();
    memory.inputs.valid_i = 1;
    assert_eq!((memory.cycle().served_o, memory.probe().phase_q), (0, 0));
    // A load in between as well.
    memory.inputs.kind_i = kind::LOAD;
    memory.cycle();
    memory.inputs.kind_i = kind::ATOMIC;
    assert_eq!((memory.cycle().served_o, memory.probe().phase_q), (0, 0));
}

#[test]
fn atomic_operations_replace_the_word() {
    let (minus, top) = (u32::MAX, i32::MAX as u32);
    for (operation, old, operand, new) in [
        (atomic::ADD, minus, 2, 1),
        (atomic::MIN_UNSIGNED, minus, 2, 2),
        (atomic::MIN_SIGNED, minus, 2, minus),
        (atomic::MAX_UNSIGNED, minus, 2, minus),
        (atomic::MAX_SIGNED, minus, 2, 2),
        (atomic::INC, 1, 2, 2),
        (atomic::INC, 2, 2, 0),
        (atomic::INC, 3, 2, 0),
        (atomic::INC, minus, minus, 0),
        (atomic::DEC, 2, 2, 1),
        (atomic::DEC, 0, 2, 2),
        (atomic::DEC, 3, 2, 2),
        (atomic::AND, 6, 3, 2),
        (atomic::OR, 6, 3, 7),
        (atomic::XOR, 6, 3, 5),
        (atomic::EXCH, 6, 3, 3),
        (atomic::CAS, 6, 3, 6),
        (atomic::CAS, top, 3, 3),
        (atomic::ADD_FLOAT, 0x3f80_0000, 0x4000_0000, 0x4040_0000),
        // To nearest even; subnormals are kept; there is one NaN.
        (atomic::ADD_FLOAT, 0x4b80_0000, 0x3f80_0000, 0x4b80_0000),
        (atomic::ADD_FLOAT, 6, 3, 9),
        (atomic::ADD_FLOAT, 0x7f80_0001, 3, 0x7fff_ffff),
        (13, 6, 3, 6),
    ] {
        assert_eq!(replaced(operation, old, operand, top), new, "operation {operation} of {old} and {operand}");
    }
}

#[test]
fn in_reset_banks_are_written_and_stages_emptied() {
    let mut memory = offered(kind::LOAD, |_| 4);
    memory.cycle();
    memory.cycle();
    offer(&mut memory, kind::STORE, |_| 4);
    memory.inputs.rst_ni = 0;
    assert_eq!(memory.cycle().served_o, u32::MAX);
    (memory.inputs.rst_ni, memory.inputs.valid_i) = (1, 0);
    assert_eq!((memory.cycle().result_valid_o, memory.probe().first_valid_q), (0, 0));
    assert_eq!(word(&mut memory, 4), 0x2020_2020);
}

#[test]
fn every_bank_has_its_words_and_its_output() {
    let mut memory = offered(kind::STORE, |lane| 0x80 + 4 * lane as u32);
    memory.cycle();
    word(&mut memory, 0x84);
    let memories = memory.block.memories();
    assert_eq!(memories.len(), 64);
    assert_eq!((memories[2].path.as_str(), memories[2].len()), ("gen_bank[1].u_ram.mem_q", 512));
    assert_eq!((memories[3].path.as_str(), memories[3].len()), ("gen_bank[1].u_ram.rdata_q", 1));
    assert_eq!(
        (memories[2].words[1], memories[3].words[0], memories[4].words[1]),
        (0x0202_0202, 0x0202_0202, 0x0303_0303)
    );
}

/// A reference model from the page, with bytes of one memory.
struct Reference {
    bytes: Vec<u8>,
    outputs: [u32; SHARED_BANKS],
    phase: bool,
    first: Option<(SharedMemoryProbe, u8)>,
    result: SharedMemoryOut,
}

impl Reference {
    fn word(&self, address: u32) -> u32 {
        let place = (address & !3) as usize % self.bytes.len();
        u32::from_le_bytes(self.bytes[place..][..4].try_into().unwrap())
    }

    fn cycle(&mut self, i: &SharedMemoryIn) -> (SharedMemoryOut, SharedMemoryProbe) {
        let mut out = self.result;
        let (mut probe, destination) = self.first.take().unwrap_or((SharedMemoryProbe::zeroed(), 0));
        probe.phase_q = self.phase.into();
        let probe = probe;

        // The lanes of the pass.
        let size = [32, 16, 8][usize::from(i.cfg_i)];
        let offered: Vec<usize> = (0..LANES).filter(|lane| i.valid_i == 1 && i.lanes_i >> lane & 1 == 1).collect();
        let window: Vec<usize> = offered.iter().copied().filter(|lane| lane / size == offered[0] / size).collect();
        let bank_of = |lane: usize| (i.addr_i.0[lane] / 4 % 32) as usize;
        let row_of = |lane: usize| i.addr_i.0[lane] as usize % self.bytes.len() / 128;
        let first_in_bank = |lane: usize| *window.iter().find(|&&other| bank_of(other) == bank_of(lane)).unwrap();
        let selected: Vec<usize> = window
            .iter()
            .copied()
            .filter(|&lane| {
                let first = first_in_bank(lane);
                if i.kind_i == 2 { first == lane } else { row_of(first) == row_of(lane) }
            })
            .collect();
        let served = match i.kind_i {
            0 => i.room_i == 1,
            1 => true,
            _ => self.phase,
        };
        out.served_o = if served { selected.iter().fold(0, |mask, lane| mask | 1 << lane) } else { 0 };

        // The second stage, from the outputs as they are.
        self.result = SharedMemoryOut::zeroed();
        if probe.first_valid_q == 1 {
            let next = &mut self.result;
            (next.result_valid_o, next.result_warp_o, next.result_mask_o) = (1, probe.first_warp_q, probe.first_mask_q);
            (next.result_done_o, next.result_reg_valid_o) = (probe.first_done_q, probe.first_reg_valid_q);
            next.result_reg_o = destination;
            for lane in (0..LANES).filter(|lane| probe.first_mask_q >> lane & 1 == 1) {
                let place = usize::from(probe.place_q[lane]);
                let bytes = self.outputs[place / 4].to_le_bytes();
                let taken = &bytes[place % 4..][..1 << probe.first_size_q];
                let fill = if probe.first_signed_q == 1 && taken[taken.len() - 1] >= 0x80 { 0xff } else { 0 };
                next.result_data_o.0[lane] =
                    u32::from_le_bytes(std::array::from_fn(|byte| *taken.get(byte).unwrap_or(&fill)));
            }
        }

        // The banks.
        let starts = !selected.is_empty() && i.kind_i == 2 && !self.phase && i.room_i == 1;
        if i.kind_i == 0 && served || starts {
            for &lane in &selected {
                self.outputs[bank_of(lane)] = self.word(i.addr_i.0[lane]);
            }
        } else if i.kind_i == 1 {
            for &lane in &selected {
                for byte in 0..1 << i.size_i {
                    let place = (i.addr_i.0[lane] as usize + byte) % self.bytes.len();
                    self.bytes[place] = i.store_i.0[lane].to_le_bytes()[byte];
                }
            }
        } else if i.kind_i == 2 && self.phase {
            for &lane in &selected {
                let (m, c) = (self.outputs[bank_of(lane)], i.store_i.0[lane]);
                let signed = |value: u32| i64::from(value as i32);
                let new = match i.atomic_i {
                    0 => (u64::from(m) + u64::from(c)) as u32,
                    1 => {
                        if m < c {
                            m
                        } else {
                            c
                        }
                    }
                    2 => {
                        if signed(m) < signed(c) {
                            m
                        } else {
                            c
                        }
                    }
                    3 => {
                        if m > c {
                            m
                        } else {
                            c
                        }
                    }
                    4 => {
                        if signed(m) > signed(c) {
                            m
                        } else {
                            c
                        }
                    }
                    5 => {
                        if m >= c {
                            0
                        } else {
                            m + 1
                        }
                    }
                    6 => {
                        if m == 0 || m > c {
                            c
                        } else {
                            m - 1
                        }
                    }
                    7 => m & c,
                    8 => m | c,
                    9 => m ^ c,
                    10 => c,
                    _ => {
                        if m == i.compare_i.0[lane] {
                            c
                        } else {
                            m
                        }
                    }
                };
                let place = (i.addr_i.0[lane] & !3) as usize % self.bytes.len();
                self.bytes[place..][..4].copy_from_slice(&new.to_le_bytes());
            }
        }
        self.phase = starts;
        if out.served_o != 0 && (i.kind_i == 0 || i.kind_i == 2 && i.reg_valid_i == 1) {
            let mut first = SharedMemoryProbe::zeroed();
            (first.first_valid_q, first.first_mask_q, first.first_warp_q) = (1, out.served_o, i.warp_i);
            (first.first_reg_valid_q, first.first_reg_q) = (i.reg_valid_i, i.reg_i);
            (first.first_size_q, first.first_signed_q, first.first_done_q) = (i.size_i, i.signed_i, i.last_i);
            for lane in (0..LANES).filter(|lane| out.served_o >> lane & 1 == 1) {
                first.place_q[lane] = (i.addr_i.0[lane] % 128) as u8;
            }
            self.first = Some((first, i.reg_i));
        }
        if i.rst_ni == 0 {
            (self.phase, self.first, self.result) = (false, None, SharedMemoryOut::zeroed());
        }
        (out, probe)
    }
}

#[test]
fn it_does_what_the_page_says_pass_by_pass() {
    for (shape, strap) in [(SM_SHAPES[0], 0), (SM_SHAPES[1], 0), (SM_SHAPES[1], 1), (SM_SHAPES[1], 2)] {
        let mut reference = Reference {
            bytes: vec![0; 4 * shape.shared_words],
            outputs: [0; SHARED_BANKS],
            phase: false,
            first: None,
            result: SharedMemoryOut::zeroed(),
        };
        let mut held: Option<SharedMemoryIn> = None;
        compare::<SharedMemory>(
            &shape,
            10_000,
            |random, i| {
                // An atomic operation is offered until it is served.
                if let Some(held) = held.take().filter(|_| random.chance(98)) {
                    (i.addr_i, i.store_i, i.compare_i) = (held.addr_i, held.store_i, held.compare_i);
                    (i.lanes_i, i.kind_i, i.atomic_i, i.valid_i) = (held.lanes_i, 2, held.atomic_i, 1);
                } else {
                    i.lanes_i = if random.chance(50) { u32::MAX } else { i.lanes_i.max(1) };
                    i.kind_i = random.below(3) as u8;
                    i.atomic_i = [random.below(11), 12][usize::from(random.chance(20))] as u8;
                    let spread = [0x7f, 0x1ff, 0x1fff][random.below(3)];
                    for lane in 0..LANES {
                        i.addr_i.0[lane] &= spread;
                        i.store_i.0[lane] &= 0xffff_0003;
                        i.compare_i.0[lane] &= 0xffff_0003;
                    }
                }
                i.rst_ni = (!random.chance(2)).into();
                i.room_i |= u8::from(random.chance(50));
                i.size_i = if i.kind_i == 2 { 2 } else { random.below(3) as u8 };
                i.signed_i &= u8::from(i.kind_i != 2);
                i.cfg_i = strap;
                i.addr_i.0.iter_mut().for_each(|address| *address &= !0 << i.size_i);
                held = (i.kind_i == 2 && i.valid_i == 1).then_some(*i);
            },
            |i| reference.cycle(i),
        );
    }
}
