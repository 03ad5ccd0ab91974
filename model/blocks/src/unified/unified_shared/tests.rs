use std::cell::RefCell;

use super::*;
use crate::testing::{Driver, UNIFIED_SHAPES, compare};
use crate::{LANES, Ports};

/// A reference model from the page, with lists of lanes.
struct Reference {
    phase: bool,
    read: u32,
    old: WarpData,
    first: Option<(SharedMemoryProbe, u8, bool)>,
    result: SharedMemoryOut,
    wanted: (u32, u32),
}

fn cluster_of(i: &SharedMemoryIn, lane: usize) -> usize {
    (i.addr_i.0[lane] / 16 % 8) as usize
}

fn row_of(i: &SharedMemoryIn, lane: usize) -> u16 {
    (i.addr_i.0[lane] / 128 % 4096) as u16
}

/// The byte of a row of all clusters at which a lane's access begins.
fn place_of(i: &SharedMemoryIn, lane: usize) -> usize {
    (i.addr_i.0[lane] % 128) as usize
}

/// The word place of a lane.
fn word_of(i: &SharedMemoryIn, lane: usize) -> usize {
    (i.addr_i.0[lane] / 4 % 32) as usize
}

fn byte_of(data: &WarpData, place: usize) -> u8 {
    data.0[place / 4].to_le_bytes()[place % 4]
}

impl Reference {
    /// Lanes of the pass.
    fn selected(i: &SharedMemoryIn) -> Vec<usize> {
        let size = [32, 16, 8, 8][usize::from(i.cfg_i) % 4];
        let offered: Vec<usize> = (0..LANES).filter(|lane| i.valid_i == 1 && i.lanes_i >> lane & 1 == 1).collect();
        let window: Vec<usize> = offered.iter().copied().filter(|lane| lane / size == offered[0] / size).collect();
        let conflict = |one: usize, other: usize| {
            let (rows_differ, same_word) = (row_of(i, one) != row_of(i, other), word_of(i, one) == word_of(i, other));
            let same_column = row_of(i, one) % 4 == row_of(i, other) % 4;
            let conflicts =
                if rows_differ { i.cfg_i < 4 || same_word || same_column } else { i.kind_i == 2 && same_word };
            conflicts && cluster_of(i, one) == cluster_of(i, other)
        };
        let mut selected: Vec<usize> = Vec::new();
        for lane in window {
            if !selected.iter().any(|&other| conflict(other, lane)) {
                selected.push(lane);
            }
        }
        selected
    }

    /// What is wanted: word places to read, and to write.
    fn wants(&self, i: &SharedMemoryIn) -> (u32, u32) {
        let words = Self::selected(i).iter().fold(0, |set, &lane| set | 1 << word_of(i, lane));
        match i.kind_i {
            0 if i.room_i == 1 => (words, 0),
            1 => (0, words),
            2 if self.phase => (0, words & self.read),
            2 if i.room_i == 1 => (words, 0),
            _ => (0, 0),
        }
    }

    fn cycle(&mut self, inputs: &UnifiedSharedIn) -> (UnifiedSharedOut, UnifiedSharedProbe) {
        let i = &inputs.shared;
        let mut out = UnifiedSharedOut { shared: self.result, ..UnifiedSharedOut::zeroed() };
        let mut probe = UnifiedSharedProbe::zeroed();
        let first = self.first.take();
        if let Some((state, _, atomic)) = first {
            (probe.shared, probe.first_atomic_q) = (state, atomic.into());
        }
        probe.shared.phase_q = self.phase.into();
        (probe.read_q, probe.old_q) = (if self.phase { self.read } else { 0 }, self.old);

        let selected = Self::selected(i);
        (out.read_o, out.write_o) = self.wants(i);
        let wanted = out.read_o | out.write_o;
        for &lane in selected.iter().filter(|&&lane| wanted >> word_of(i, lane) & 1 == 1) {
            out.row_o[word_of(i, lane)] = row_of(i, lane);
        }
        let mut bytes = [None; 128];
        for &lane in selected.iter().filter(|&&lane| out.write_o >> word_of(i, lane) & 1 == 1) {
            let place = place_of(i, lane);
            let value = if i.kind_i == 1 {
                i.store_i.0[lane]
            } else {
                // Addition, exchange, and compare and swap stand for all.
                let (m, c) = (inputs.data_i.0[place / 4], i.store_i.0[lane]);
                match i.atomic_i {
                    0 => m.wrapping_add(c),
                    10 => c,
                    _ => [m, c][usize::from(m == i.compare_i.0[lane])],
                }
            };
            for byte in 0..1 << i.size_i {
                bytes[place + byte] = Some(value.to_le_bytes()[byte]);
            }
        }
        for (place, value) in bytes.into_iter().enumerate().filter_map(|(place, value)| Some((place, value?))) {
            out.bytes_o[place / 4] |= 1 << (place % 4);
            out.data_o.0[place / 4] |= u32::from(value) << (8 * (place % 4));
        }
        let ready = inputs.read_ready_i | inputs.write_ready_i;
        let served: Vec<usize> = selected
            .iter()
            .copied()
            .filter(|&lane| ready >> word_of(i, lane) & 1 == 1 && (i.kind_i != 2 || self.phase))
            .collect();
        out.shared.served_o = served.iter().fold(0, |mask, lane| mask | 1 << lane);

        // The second stage.
        self.result = SharedMemoryOut::zeroed();
        if let Some((state, reg, atomic)) = first {
            let next = &mut self.result;
            (next.result_valid_o, next.result_warp_o, next.result_mask_o) = (1, state.first_warp_q, state.first_mask_q);
            (next.result_done_o, next.result_reg_valid_o) = (state.first_done_q, state.first_reg_valid_q);
            next.result_reg_o = reg;
            let words = if atomic { self.old } else { inputs.data_i };
            for lane in (0..LANES).filter(|lane| state.first_mask_q >> lane & 1 == 1) {
                let place = usize::from(state.place_q[lane]);
                let taken: Vec<u8> = (0..1 << state.first_size_q).map(|byte| byte_of(&words, place + byte)).collect();
                let fill = if state.first_signed_q == 1 && taken[taken.len() - 1] >= 0x80 { 0xff } else { 0 };
                next.result_data_o.0[lane] =
                    u32::from_le_bytes(std::array::from_fn(|byte| *taken.get(byte).unwrap_or(&fill)));
            }
        }
        let starts = i.valid_i == 1 && i.kind_i == 2 && !self.phase && inputs.read_ready_i != 0;
        if self.phase && i.valid_i == 1 && i.kind_i == 2 && i.reg_valid_i == 1 {
            self.old = inputs.data_i;
        }
        self.phase = starts;
        if starts {
            self.read = inputs.read_ready_i;
        }
        if !served.is_empty() && (i.kind_i == 0 || i.kind_i == 2 && i.reg_valid_i == 1) {
            let mut state = SharedMemoryProbe::zeroed();
            (state.first_valid_q, state.first_mask_q, state.first_warp_q) = (1, out.shared.served_o, i.warp_i);
            (state.first_reg_valid_q, state.first_reg_q) = (i.reg_valid_i, i.reg_i);
            (state.first_size_q, state.first_signed_q, state.first_done_q) = (i.size_i, i.signed_i, i.last_i);
            for &lane in &served {
                state.place_q[lane] = place_of(i, lane) as u8;
            }
            self.first = Some((state, i.reg_i, i.kind_i == 2));
        }
        if i.rst_ni == 0 {
            (self.phase, self.first, self.result) = (false, None, SharedMemoryOut::zeroed());
        }
        self.wanted = (out.read_o, out.write_o);
        (out, probe)
    }
}

#[test]
fn it_does_what_the_page_says_pass_by_pass() {
    for (strap, free) in [(0, 100), (0, 50), (1, 70), (2, 90), (4, 100), (4, 50), (5, 70), (6, 90)] {
        let reference = RefCell::new(Reference {
            phase: false,
            read: 0,
            old: WarpData::ZERO,
            first: None,
            result: SharedMemoryOut::zeroed(),
            wanted: (0, 0),
        });
        let mut held: Option<SharedMemoryIn> = None;
        compare::<UnifiedShared>(
            &UNIFIED_SHAPES[1],
            10_000,
            |random, inputs| {
                let i = &mut inputs.shared;
                // An atomic operation is offered until it is served.
                if let Some(held) = held.take().filter(|_| random.chance(98)) {
                    (i.addr_i, i.store_i, i.compare_i) = (held.addr_i, held.store_i, held.compare_i);
                    (i.lanes_i, i.kind_i, i.atomic_i, i.valid_i) = (held.lanes_i, 2, held.atomic_i, 1);
                } else {
                    i.lanes_i = if random.chance(50) { u32::MAX } else { i.lanes_i.max(1) };
                    i.kind_i = random.below(3) as u8;
                    i.atomic_i = [0, 10, 12][random.below(3)];
                    let spread = [0x7f, 0x1ff, 0x7_ffff][random.below(3)];
                    for lane in 0..LANES {
                        i.addr_i.0[lane] &= spread;
                        i.compare_i.0[lane] = if random.chance(50) { 0x0101_0101 } else { i.compare_i.0[lane] };
                    }
                }
                i.rst_ni = (!random.chance(2)).into();
                i.room_i |= u8::from(random.chance(50));
                i.size_i = if i.kind_i == 2 { 2 } else { random.below(3) as u8 };
                i.signed_i &= u8::from(i.kind_i != 2);
                i.cfg_i = strap;
                i.addr_i.0.iter_mut().for_each(|address| *address &= !0 << i.size_i);
                held = (i.kind_i == 2 && i.valid_i == 1).then_some(*i);
                inputs.data_i.0.iter_mut().for_each(|word| *word = if random.chance(50) { 0x0101_0101 } else { *word });
                let (read, write) = reference.borrow().wants(&inputs.shared);
                let free = (0..32).fold(0, |set, w| set | u32::from(random.chance(free)) << w);
                (inputs.read_ready_i, inputs.write_ready_i) = (read & free, write & free);
            },
            |inputs| reference.borrow_mut().cycle(inputs),
        );
    }
}

/// Each lane a word, 32 words of one row; clusters 2 and 5 are not free at first.
#[test]
fn lanes_of_clusters_that_are_not_free_are_left() {
    let mut shared = Driver::<UnifiedShared>::new(&UNIFIED_SHAPES[0]);
    let inputs = &mut shared.inputs;
    inputs.shared.rst_ni = 1;
    (inputs.shared.valid_i, inputs.shared.room_i, inputs.shared.lanes_i, inputs.shared.size_i) = (1, 1, u32::MAX, 2);
    (inputs.shared.reg_valid_i, inputs.shared.reg_i) = (1, 9);
    inputs.shared.addr_i = WarpData(std::array::from_fn(|lane| 0x300 + 4 * lane as u32));
    inputs.read_ready_i = 0xff0f_f0ff;
    let out = shared.cycle();
    assert_eq!((out.read_o, out.write_o, out.row_o), (u32::MAX, 0, [6; WORDS]));
    assert_eq!(out.shared.served_o, 0xff0f_f0ff);
    (shared.inputs.shared.lanes_i, shared.inputs.read_ready_i) = (0x00f0_0f00, 0x00f0_0f00);
    shared.inputs.data_i = WarpData([1; LANES]);
    let out = shared.cycle();
    assert_eq!((out.read_o, out.row_o[4], out.shared.served_o), (0x00f0_0f00, 0, 0x00f0_0f00));
    (shared.inputs.shared.valid_i, shared.inputs.read_ready_i) = (0, 0);
    shared.inputs.data_i = WarpData([2; LANES]);
    let results = [shared.cycle(), shared.cycle()].map(|out| (out.shared.result_mask_o, out.shared.result_data_o.0[8]));
    assert_eq!(results, [(0xff0f_f0ff, 0), (0x00f0_0f00, 2)]);
}

/// Two lanes add to a word each, in clusters 0 and 1. Cluster 1 may not be written in the second cycle: its lane reads again.
#[test]
fn an_atomic_operation_that_may_not_write_reads_again() {
    let mut shared = Driver::<UnifiedShared>::new(&UNIFIED_SHAPES[0]);
    let inputs = &mut shared.inputs;
    inputs.shared.rst_ni = 1;
    (inputs.shared.valid_i, inputs.shared.room_i, inputs.shared.lanes_i) = (1, 1, 0b11);
    (inputs.shared.kind_i, inputs.shared.size_i, inputs.shared.reg_valid_i) = (2, 2, 1);
    (inputs.shared.addr_i.0[0], inputs.shared.addr_i.0[1]) = (0, 16);
    inputs.shared.store_i = WarpData([5; LANES]);
    inputs.read_ready_i = 0b1_0001;
    let out = shared.cycle();
    assert_eq!((out.read_o, out.write_o, out.shared.served_o), (0b1_0001, 0, 0));
    let inputs = &mut shared.inputs;
    (inputs.read_ready_i, inputs.write_ready_i, inputs.shared.room_i) = (0, 0b01, 0);
    (inputs.data_i.0[0], inputs.data_i.0[4]) = (100, 200);
    let out = shared.cycle();
    assert_eq!((out.read_o, out.write_o, out.shared.served_o), (0, 0b1_0001, 0b01));
    assert_eq!((out.bytes_o[..5].to_vec(), out.data_o.0[0], out.data_o.0[4]), (vec![0xf, 0, 0, 0, 0xf], 105, 205));
    let inputs = &mut shared.inputs;
    (inputs.shared.lanes_i, inputs.shared.room_i, inputs.read_ready_i, inputs.write_ready_i) = (0b10, 1, 0b1_0000, 0);
    inputs.data_i = WarpData([9; LANES]);
    assert_eq!((shared.cycle().read_o, shared.probe().shared.phase_q), (0b1_0000, 0));
    let inputs = &mut shared.inputs;
    (inputs.read_ready_i, inputs.write_ready_i) = (0, 0b1_0000);
    inputs.data_i.0[4] = 300;
    let out = shared.cycle();
    assert_eq!((out.data_o.0[4], out.shared.served_o, out.shared.result_valid_o), (305, 0b10, 1));
    assert_eq!(out.shared.result_data_o.0[0], 100, "the word as it was read, whatever the banks show now");
    shared.inputs.shared.valid_i = 0;
    shared.cycle();
    let out = shared.cycle();
    assert_eq!((out.shared.result_mask_o, out.shared.result_data_o.0[1]), (0b10, 300));
}

/// Eight lanes of cluster 1: which of them a pass serves, by the rule.
#[test]
fn a_cluster_combines_words_of_several_banks() {
    // Word, row.
    let wanted = [(0, 4), (1, 5), (0, 5), (1, 5), (2, 8), (2, 6), (3, 6), (3, 4)];
    let selected = |cfg: u8, kind: u8| {
        let mut shared = Driver::<UnifiedShared>::new(&UNIFIED_SHAPES[0]);
        let inputs = &mut shared.inputs;
        (inputs.shared.rst_ni, inputs.shared.cfg_i, inputs.shared.kind_i) = (1, cfg, kind);
        (inputs.shared.valid_i, inputs.shared.room_i, inputs.shared.lanes_i, inputs.shared.size_i) = (1, 1, 0xff, 2);
        for (lane, (word, row)) in wanted.into_iter().enumerate() {
            inputs.shared.addr_i.0[lane] = 128 * row + 16 + 4 * word;
        }
        (inputs.read_ready_i, inputs.write_ready_i) =
            (if kind == 1 { 0 } else { 0xf0 }, if kind == 1 { 0xf0 } else { 0 });
        let first = shared.cycle();
        if kind != 2 {
            return first.shared.served_o;
        }
        (shared.inputs.read_ready_i, shared.inputs.write_ready_i) = (0, first.read_o);
        shared.cycle().shared.served_o
    };
    // Rows of lane 0: lanes 0 and 7. Of other words of place 0 lane 2; of another row of column 0 lane 4.
    assert_eq!([selected(0, 0), selected(0, 1), selected(0, 2)], [0b1000_0001; 3]);
    // Lane 7 comes too late: word place 3 has another word.
    assert_eq!([selected(4, 0), selected(4, 1)], [0b0110_1011; 2]);
    assert_eq!(selected(4, 2), 0b0110_0011, "two lanes that change one word");
}
