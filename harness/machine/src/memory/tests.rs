use gpurf_blocks::Ports;

use super::*;

const CONFIG: MemoryConfig = MemoryConfig {
    latency: 40,
    bandwidth: 16,
    granule: 128,
    row_cycles: 0,
    l2_kilobytes: 0,
    l2_latency: 10,
    texture_kilobytes: 2,
};

/// Memory under test: an SM that offers requests and always takes answers, unless the test says otherwise.
struct Bench {
    memory: GlobalMemory,
    inputs: SmIn,
    out: SmOut,
    started: bool,
    cycle: u64,
}

/// A request without lanes: the fields that tests set.
fn request(kind: u8, address: u32) -> SmOut {
    let mut out = SmOut::zeroed();
    out.mem_req_valid_o = 1;
    out.mem_req_kind_o = kind;
    out.mem_req_size_o = 2;
    out.mem_req_answer_o = (kind != kind::STORE).into();
    out.mem_req_line_o = address / LINE;
    out
}

/// The request, with a lane at a byte of its line.
fn lane(mut out: SmOut, lane: usize, offset: u8, data: u32) -> SmOut {
    out.mem_req_mask_o |= 1 << lane;
    out.mem_req_offset_o[lane] = offset;
    out.mem_req_data_o.0[lane] = data;
    out
}

impl Bench {
    /// Memory with one buffer of these words; gives its address.
    fn new(config: MemoryConfig, words: &[u32]) -> (Self, u32) {
        let mut memory = GlobalMemory::new(config);
        let mut buffers = Memory::default();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let index = buffers.add("buffer", &bytes).unwrap();
        let address = buffers.buffer(index).address();
        memory.begin(buffers, [].into());
        (Self { memory, inputs: SmIn::zeroed(), out: SmOut::zeroed(), started: false, cycle: 0 }, address)
    }

    /// A cycle in which the SM shows these outputs; gives its inputs.
    fn cycle(&mut self, out: SmOut) -> &SmIn {
        let previous = self.started.then_some(&self.out);
        self.memory.drive(previous, &mut self.inputs);
        (self.out, self.started) = (out, true);
        self.cycle += 1;
        &self.inputs
    }

    /// Offers a request until it is taken; returns the cycle in which it was taken.
    fn put(&mut self, out: SmOut) -> u64 {
        let out = SmOut { mem_rsp_ready_o: 1, ..out };
        while self.cycle(out).mem_req_ready_i == 0 {}
        self.cycle - 1
    }

    /// Waits for an answer; returns its cycle and its contents.
    fn answer(&mut self) -> (u64, WarpData, bool) {
        let idle = SmOut { mem_rsp_ready_o: 1, ..SmOut::zeroed() };
        while self.cycle(idle).mem_rsp_valid_i == 0 {}
        (self.cycle - 1, self.inputs.mem_rsp_data_i, self.inputs.mem_rsp_fault_i == 1)
    }

    /// Waits until everything is done.
    fn settle(&mut self) {
        for _ in 0..200 {
            self.cycle(SmOut { mem_rsp_ready_o: 1, ..SmOut::zeroed() });
        }
    }

    fn word(&self, index: usize) -> u32 {
        self.memory.buffers().buffers()[0].words()[index].load(Relaxed)
    }
}

fn words(n: u32) -> Vec<u32> {
    (0..n).map(|i| 0x1000 + i).collect()
}

#[test]
fn a_load_gives_its_line_after_the_latency() {
    for latency in [1, 2, 40, 400] {
        let (mut bench, address) = Bench::new(MemoryConfig { latency, ..CONFIG }, &words(64));
        let taken = bench.put(lane(request(kind::LOAD, address + 128), 3, 8, 0));
        let (at, line, fault) = bench.answer();
        assert_eq!((at - taken, fault), (latency as u64, false));
        assert_eq!(line.0, std::array::from_fn(|i| 0x1020 + i as u32), "the whole line, whatever the lanes");
    }
}

#[test]
fn lines_share_the_data_path_in_order() {
    let (mut bench, address) = Bench::new(CONFIG, &words(32 * 4));
    let taken: Vec<u64> = (0..4).map(|i| bench.put(lane(request(kind::LOAD, address + 128 * i), 0, 0, 0))).collect();
    assert_eq!(taken, [0, 1, 2, 3]);
    for i in 0..4 {
        let (at, line, _) = bench.answer();
        assert_eq!((at, line.0[0]), (40 + 8 * i, 0x1000 + 32 * i as u32), "128 bytes take 8 cycles");
    }
    // One that comes when the path is free again waits for nothing.
    let taken = bench.put(lane(request(kind::LOAD, address), 0, 0, 0));
    assert_eq!(bench.answer().0, taken + 40);
    // A store takes the path as well.
    let taken = bench.put(lane(request(kind::STORE, address), 0, 0, 7));
    bench.put(lane(request(kind::LOAD, address), 0, 0, 0));
    let (at, line, _) = bench.answer();
    assert_eq!((at - taken, line.0[0]), (48, 7));
}

#[test]
fn another_row_of_a_bank_is_opened_first() {
    // Rows of 2 KB, of which every sixteenth is in the same bank.
    let (row, again) = (2048, 16 * 2048);
    let config = MemoryConfig { row_cycles: 20, ..CONFIG };
    let (mut bench, address) = Bench::new(config, &words((again + 2 * row) / 4));
    let first = address.next_multiple_of(row);
    let lines = [first, first + 128, first + again, first + row, first + row + 128, first + again + 256];
    let taken = lines.map(|line| bench.put(lane(request(kind::LOAD, line), 0, 0, 0)));
    assert_eq!(taken, [0, 1, 2, 3, 4, 5]);
    // The first row is opened from cycle 0 on. The third line's is opened when its bank is free, in cycle 36; the fourth line's while the others are moved.
    let starts = [20, 28, 56, 64, 72, 80];
    assert_eq!(lines.map(|_| bench.answer().0), starts.map(|start| start + 40));
    // The row stays open.
    let taken = bench.put(lane(request(kind::STORE, first + again), 0, 0, 7));
    bench.put(lane(request(kind::LOAD, first + again + 128), 0, 0, 0));
    assert_eq!(bench.answer().0, taken + 48);
}

#[test]
fn a_line_of_the_l2_cache_does_not_take_the_data_path() {
    // One set of eight lines.
    let (mut bench, address) = Bench::new(MemoryConfig { l2_kilobytes: 1, ..CONFIG }, &words(32 * 16));
    let mut put = |kind, line: u32| bench.put(lane(request(kind, address + 128 * line), 0, 0, 7));
    let taken = [put(kind::LOAD, 0), put(kind::LOAD, 0), put(kind::LOAD, 1)];
    assert_eq!(taken, [0, 1, 2]);
    let answered = [0; 3].map(|_| bench.answer().0);
    assert_eq!(answered, [40, 41, 48], "the second one is there in cycle 11, and waits for its turn");
    // Alone, a hit is answered after its own latency, an atomic operation too.
    for kind in [kind::LOAD, kind::ATOMIC] {
        let taken = bench.put(lane(request(kind, address), 0, 0, 0));
        assert_eq!(bench.answer().0, taken + 10);
    }
    assert_eq!(bench.memory.moved(), Moved { read: 256, written: 0 });
    // Stores allocate lines and move nothing; the first that replaces a dirty line, line 0, moves 128 bytes.
    for line in 2..8 {
        bench.put(lane(request(kind::STORE, address + 128 * line), 0, 0, 7));
    }
    assert_eq!(bench.memory.moved(), Moved { read: 256, written: 0 });
    bench.put(lane(request(kind::LOAD, address + 128 * 8), 0, 0, 0));
    bench.put(lane(request(kind::LOAD, address + 128 * 9), 0, 0, 0));
    let (first, _, _) = bench.answer();
    let (second, _, _) = bench.answer();
    assert_eq!(second - first, 16, "line 1 is clean and goes first, then line 0 is written before line 9 is read");
    assert_eq!(bench.memory.moved(), Moved { read: 512, written: 128 });
    assert_eq!(bench.word(32 * 2), 7);
}

#[test]
fn a_full_queue_takes_nothing() {
    let (mut bench, address) = Bench::new(CONFIG, &words(32));
    let load = lane(request(kind::LOAD, address), 0, 0, 0);
    let taken: Vec<u64> = (0..20).map(|_| bench.put(load)).collect();
    // The first one takes the path at once; eight wait; then there is room whenever one begins.
    let expected: Vec<u64> = (0..20u64).map(|i| i.max(8 * i.saturating_sub(8))).collect();
    assert_eq!(taken, expected);
}

#[test]
fn an_answer_stays_until_it_is_taken() {
    let (mut bench, address) = Bench::new(CONFIG, &words(64));
    let busy = |out: SmOut| SmOut { mem_rsp_ready_o: 0, ..out };
    bench.cycle(busy(lane(request(kind::LOAD, address), 0, 0, 0)));
    bench.cycle(busy(lane(request(kind::LOAD, address + 128), 0, 0, 0)));
    for _ in 0..100 {
        bench.cycle(busy(SmOut::zeroed()));
    }
    assert_eq!((bench.inputs.mem_rsp_valid_i, bench.inputs.mem_rsp_data_i.0[0]), (1, 0x1000));
    let (first, line, _) = bench.answer();
    assert_eq!(line.0[0], 0x1000);
    let (second, line, _) = bench.answer();
    assert_eq!((second - first, line.0[0]), (1, 0x1020), "one answer a cycle");
}

#[test]
fn what_is_asked_later_sees_what_was_stored_before() {
    let (mut bench, address) = Bench::new(CONFIG, &words(32));
    bench.put(lane(request(kind::LOAD, address), 0, 0, 0));
    bench.put(lane(request(kind::STORE, address), 0, 0, 1));
    bench.put(lane(request(kind::LOAD, address), 0, 0, 0));
    assert_eq!(bench.answer().1.0[0], 0x1000);
    assert_eq!(bench.answer().1.0[0], 1);
}

#[test]
fn a_request_moves_the_pieces_that_its_lanes_touch() {
    // Lanes, and the bytes that are moved in pieces of 16.
    let cases: [(&[u8], u64); 4] =
        [(&[0, 4, 12], 16), (&[12, 16], 32), (&[0, 124], 32), (&[0, 16, 32, 48, 64, 80, 96, 112], 128)];
    for (offsets, bytes) in cases {
        let (mut bench, address) = Bench::new(MemoryConfig { granule: 16, ..CONFIG }, &words(64));
        let load = offsets.iter().enumerate().fold(request(kind::LOAD, address), |out, (l, &at)| lane(out, l, at, 0));
        let taken = bench.put(load);
        bench.put(SmOut { mem_req_whole_o: 1, ..lane(request(kind::LOAD, address), 0, 0, 0) });
        let (_, second) = (bench.answer(), bench.answer());
        assert_eq!(second.0 - taken, 40 + bytes / 16, "the second one begins when the first one's pieces are through");
        bench.put(lane(request(kind::STORE, address), 0, 20, 7));
        bench.put(lane(request(kind::ATOMIC, address), 0, 20, 7));
        let moved = Moved { read: bytes + 128, written: 32 };
        bench.settle();
        assert_eq!(bench.memory.moved(), moved);
    }
}

#[test]
fn an_answer_says_how_much_of_its_line_exists() {
    let (mut bench, address) = Bench::new(CONFIG, &words(40));
    for (line, present) in [(0, 128), (1, 32), (2, 0)] {
        bench.put(request(kind::LOAD, address + 128 * line));
        bench.answer();
        assert_eq!(bench.inputs.mem_rsp_present_i, present);
    }
    bench.put(SmOut { mem_req_line_o: LOCAL, ..request(kind::LOAD, 0) });
    bench.answer();
    assert_eq!(bench.inputs.mem_rsp_present_i, 128, "local memory");
}

#[test]
fn stores_of_parts_of_a_word() {
    let (mut bench, address) = Bench::new(CONFIG, &[0x1122_3344; 32]);
    // Bytes, all lanes into one word and its neighbour; of several that meet the highest lane's stays.
    let bytes = SmOut { mem_req_size_o: 0, ..request(kind::STORE, address) };
    let bytes = lane(lane(lane(bytes, 9, 2, 0xffff_ff09), 2, 2, 0xffff_ff02), 5, 7, 0x1234_5605);
    bench.put(bytes);
    let halves = SmOut { mem_req_size_o: 1, ..request(kind::STORE, address) };
    bench.put(lane(lane(halves, 31, 8, 0xabcd_0031), 30, 8, 0xabcd_0030));
    bench.put(lane(lane(request(kind::STORE, address), 4, 124, 4), 1, 124, 1));
    bench.settle();
    assert_eq!(bench.word(0), 0x1109_3344);
    assert_eq!(bench.word(1), 0x0522_3344);
    assert_eq!(bench.word(2), 0x1122_0031);
    assert_eq!(bench.word(31), 4);
    assert_eq!(bench.word(3), 0x1122_3344);
}

/// An atomic operation of one lane.
fn atomic(operation: u8, old: u32, operand: u32, compared: u32) -> (u32, u32) {
    let (mut bench, address) = Bench::new(CONFIG, &[old; 32]);
    let mut out = lane(request(kind::ATOMIC, address), 7, 12, operand);
    out.mem_req_atomic_o = operation;
    out.mem_req_compare_o.0[7] = compared;
    bench.put(out);
    let (_, answer, fault) = bench.answer();
    assert!(!fault);
    assert!(answer.0.iter().enumerate().all(|(i, &word)| i == 7 || word == 0));
    assert_eq!((bench.word(2), bench.word(4)), (old, old));
    (answer.0[7], bench.word(3))
}

#[test]
fn every_atomic_operation() {
    const MINUS: u32 = -5i32 as u32;
    let cases = [
        (0, 7, 5, 12),
        (0, u32::MAX, 2, 1),
        (1, MINUS, 3, 3),
        (2, MINUS, 3, MINUS),
        (3, MINUS, 3, MINUS),
        (4, MINUS, 3, 3),
        (5, 7, 9, 8),
        (5, 9, 9, 0),
        (5, 10, 9, 0),
        (6, 7, 9, 6),
        (6, 0, 9, 9),
        (6, 10, 9, 9),
        (6, 9, 9, 8),
        (7, 0b1100, 0b1010, 0b1000),
        (8, 0b1100, 0b1010, 0b1110),
        (9, 0b1100, 0b1010, 0b0110),
        (10, 7, 5, 5),
        (11, 1.5f32.to_bits(), 2.25f32.to_bits(), 3.75f32.to_bits()),
        // Subnormal operands and results are zeros.
        (11, 1, 1.0f32.to_bits(), 1.0f32.to_bits()),
        (11, 0x0080_0001, 0x8080_0000, 0),
    ];
    for (operation, old, operand, new) in cases {
        assert_eq!(
            atomic(operation, old, operand, 99),
            (old, new),
            "operation {operation} of {old:#x} and {operand:#x}"
        );
    }
    assert_eq!(atomic(12, 7, 5, 7), (7, 5));
    assert_eq!(atomic(12, 7, 5, 8), (7, 7));
}

#[test]
fn lanes_perform_atomic_operations_in_ascending_order() {
    let (mut bench, address) = Bench::new(CONFIG, &[0; 32]);
    let mut out = request(kind::ATOMIC, address);
    for i in [31, 0, 4] {
        out = lane(out, i, 4, 10 + i as u32);
    }
    // Exchange: each lane finds what the one before it has left.
    out.mem_req_atomic_o = 10;
    bench.put(out);
    let (_, old, _) = bench.answer();
    assert_eq!((old.0[0], old.0[4], old.0[31], bench.word(1)), (0, 10, 14, 41));
    // No instruction wants the result: nothing is answered.
    out.mem_req_answer_o = 0;
    bench.put(out);
    bench.put(lane(request(kind::LOAD, address), 0, 0, 0));
    assert_eq!(bench.answer().1.0[1], 41);
}

#[test]
fn local_memory_is_zero_and_apart_from_global_memory() {
    let (mut bench, _) = Bench::new(CONFIG, &words(32));
    let local = |kind: u8, line: u32| SmOut { mem_req_line_o: LOCAL | line, ..request(kind, 0) };
    bench.put(lane(local(kind::LOAD, 3), 0, 0, 0));
    assert_eq!(bench.answer().1, WarpData::ZERO);
    bench.put(lane(lane(local(kind::STORE, 3), 31, 124, 5), 0, 0, 6));
    bench.put(lane(local(kind::LOAD, 3), 0, 0, 0));
    bench.put(lane(local(kind::LOAD, 2), 0, 0, 0));
    let (_, line, _) = bench.answer();
    assert_eq!((line.0[0], line.0[1], line.0[31]), (6, 0, 5));
    assert_eq!(bench.answer().1, WarpData::ZERO);
    // The next launch finds zeros again.
    let buffers = bench.memory.take_buffers();
    bench.memory.begin(buffers, [].into());
    bench.put(lane(local(kind::LOAD, 3), 0, 0, 0));
    assert_eq!(bench.answer().1, WarpData::ZERO);
}

#[test]
fn what_belongs_to_no_buffer_is_a_fault() {
    // 33 words: the second line has one word of the buffer.
    let (mut bench, address) = Bench::new(CONFIG, &words(33));
    bench.put(lane(request(kind::LOAD, address + 128), 4, 0, 0));
    let (_, line, fault) = bench.answer();
    assert_eq!((line.0[0], line.0[1], fault), (0x1020, 0, false));
    let beyond = lane(lane(request(kind::LOAD, address + 128), 4, 0, 0), 6, 4, 0);
    for out in [beyond, SmOut { mem_req_kind_o: kind::ATOMIC, ..beyond }, lane(request(kind::LOAD, 128), 0, 0, 0)] {
        bench.put(out);
        assert!(bench.answer().2);
    }
    assert_eq!(bench.memory.fault(), None);
    let outside = Outside { warp: 0, lane: 6, access: Access::Load, address: address + 132, bytes: 4 };
    assert_eq!(bench.memory.answered_outside(), Some(outside));
    // What is not answered ends the run, and nothing of it is performed.
    let store = SmOut { mem_req_warp_o: 9, mem_req_answer_o: 0, mem_req_kind_o: kind::STORE, ..beyond };
    bench.put(store);
    bench.settle();
    let outside = Outside { warp: 9, access: Access::Store, ..outside };
    assert_eq!((bench.memory.fault(), bench.word(32)), (Some(MemoryFault::Outside(outside)), 0x1020));
    // A buffer of bytes ends within a word.
    let (mut bench, _) = Bench::new(CONFIG, &[]);
    let mut buffers = Memory::default();
    let index = buffers.add("bytes", &[1, 2, 3, 4, 5]).unwrap();
    let address = buffers.buffer(index).address();
    bench.memory.begin(buffers, [].into());
    for (offset, size, fault) in [(4, 0, false), (5, 0, true), (4, 1, true), (0, 2, false)] {
        let load = SmOut { mem_req_size_o: size, ..request(kind::LOAD, address) };
        bench.put(lane(load, 0, offset, 0));
        assert_eq!(bench.answer().2, fault, "{} bytes at {offset}", 1 << size);
    }
}

#[test]
fn nonsense_ends_the_run_and_does_not_panic() {
    let cases = [
        (SmOut { mem_req_kind_o: 4, ..request(kind::LOAD, 0) }, Nonsense::Kind(4)),
        // An access that does not exist; bits that mean nothing; the last request without the first one; no lane.
        (lane(fetch(6, 0), 0, 0, 0), Nonsense::Fetch(6)),
        (lane(fetch(1 << 7, 0), 0, 0, 0), Nonsense::Fetch(1 << 7)),
        (lane(fetch(16, 0), 0, 0, 0), Nonsense::Fetch(16)),
        (fetch(0, 0), Nonsense::Fetch(0)),
        (SmOut { mem_req_answer_o: 0, ..lane(fetch(0, 0), 0, 0, 0) }, Nonsense::Fetch(0)),
        (SmOut { mem_req_size_o: 3, ..request(kind::LOAD, 0) }, Nonsense::Place { size: 3, offset: 0 }),
        (SmOut { mem_req_size_o: 1, ..request(kind::ATOMIC, 0) }, Nonsense::Place { size: 1, offset: 0 }),
        (lane(request(kind::LOAD, 0), 0, 3, 0), Nonsense::Place { size: 2, offset: 3 }),
        (SmOut { mem_req_atomic_o: 13, ..lane(request(kind::ATOMIC, 1 << 24), 0, 0, 0) }, Nonsense::Operation(13)),
    ];
    for (out, expected) in cases {
        let (mut bench, _) = Bench::new(CONFIG, &words(32));
        bench.put(out);
        bench.settle();
        assert_eq!(bench.memory.fault(), Some(MemoryFault::Nonsense(expected)));
    }
}

#[test]
fn the_same_outputs_give_the_same_inputs() {
    let drive = || {
        let (mut bench, address) = Bench::new(CONFIG, &words(4096));
        let mut x = 12345u32;
        let mut seen = Vec::new();
        for _ in 0..20_000 {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let kind = (x >> 8) as u8 % 3;
            let mut out =
                lane(request(kind, address + (x >> 16) % 4096 * 4), (x >> 3) as usize % 32, (x >> 5) as u8 & 124, x);
            out.mem_req_valid_o = (x >> 28 != 0).into();
            out.mem_rsp_ready_o = (x >> 29 != 0).into();
            let inputs = bench.cycle(out);
            seen.push((inputs.mem_req_ready_i, inputs.mem_rsp_valid_i, inputs.mem_rsp_data_i));
        }
        seen
    };
    assert!(drive() == drive());
}

/// A texture request without lanes, whose handle is in constant word `constant`: channel and access, then the number of the word.
fn fetch(access: u32, constant: u32) -> SmOut {
    SmOut { mem_req_line_o: constant << 10 | access, ..request(kind::TEXTURE, 0) }
}

/// Accesses with integer coordinates.
const D2_INT: u32 = 4;
const D3_INT: u32 = 19;

/// Memory with a texture: 32 x 8 x 2 words, as many as 16 lines, of which each holds its number. Constant word 5 has its handle.
fn with_texture(config: MemoryConfig) -> (Bench, u32) {
    let (mut bench, address) = Bench::new(config, &words(32 + 512));
    let mut buffers = bench.memory.take_buffers();
    // The format: words, unsigned; the modes: border.
    let header = [address + 128, 0, 2 | 0x3f << 10, 32, 8, 2, 128, 1024, 77];
    let bytes: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    buffers.write_at(address, &bytes).unwrap();
    bench.memory.begin(buffers, [0, 0, 0, 0, 0, address].into());
    (bench, address)
}

/// A lane of a fetch in two dimensions.
fn at(mut out: SmOut, number: usize, x: u32, y: u32) -> SmOut {
    out.mem_req_compare_o.0[number] = y;
    lane(out, number, 0, x)
}

#[test]
fn a_fetch_gives_a_word_for_each_lane() {
    let (mut bench, _) = with_texture(CONFIG);
    let out = at(at(at(fetch(D2_INT, 5), 0, 3, 1), 4, 31, 7), 31, 32, 0);
    let taken = bench.put(out);
    let (cycle, line, fault) = bench.answer();
    assert_eq!((line.0[0], line.0[4], line.0[31], fault), (0x1000 + 32 + 35, 0x1000 + 32 + 255, 77, false));
    assert_eq!(line.0.iter().filter(|word| **word != 0).count(), 3, "lanes outside are zero");
    // Two lines, of which the second begins to move 8 cycles after the first.
    assert_eq!(cycle - taken, 48);
    assert_eq!(bench.memory.moved(), Moved { read: 256, written: 0 });
    // They are in the cache now.
    let taken = bench.put(out);
    assert_eq!(bench.answer().0 - taken, 40);
    assert_eq!(bench.memory.moved().read, 256);
    // A handle that is not there is zero, and there is no header.
    bench.put(at(fetch(D2_INT, 6), 7, 0, 0));
    assert!(bench.answer().2);
    let outside = Outside { warp: 0, lane: 7, access: Access::Load, address: 0, bytes: 4 };
    assert_eq!(bench.memory.answered_outside(), Some(outside));
}

#[test]
fn the_third_coordinate_comes_first() {
    let (mut bench, _) = with_texture(CONFIG);
    let third = SmOut { mem_req_answer_o: 0, ..lane(fetch(D3_INT, 5), 2, 0, 1) };
    bench.put(third);
    bench.put(at(fetch(D3_INT, 5), 2, 3, 1));
    assert_eq!(bench.answer().1.0[2], 0x1000 + 32 + 256 + 35);
    // It is used once.
    bench.put(at(fetch(D3_INT, 5), 2, 3, 1));
    bench.settle();
    assert_eq!(bench.memory.fault(), Some(MemoryFault::Nonsense(Nonsense::Fetch(5 << 10 | D3_INT))));
}

#[test]
fn the_texture_unit_takes_four_lanes_a_cycle() {
    let (mut bench, _) = with_texture(CONFIG);
    let all = (0..32).fold(fetch(D2_INT, 5), |out, lane| at(out, lane, lane as u32, 0));
    bench.put(all);
    bench.answer();
    let taken: Vec<u64> = (0..11).map(|_| bench.put(all)).collect();
    assert_eq!(taken[8] - taken[0], 8, "eight fetches wait, while the first is performed");
    assert_eq!(taken[9] - taken[0], 9);
    assert_eq!(taken[10] - taken[0], 16, "there is room when the second begins");
    let cycles: Vec<u64> = (0..11).map(|_| bench.answer().0).collect();
    assert!(cycles.iter().zip(0..).all(|(cycle, i)| *cycle == taken[0] + 40 + 8 * i), "{cycles:?} from {taken:?}");
    // Without a cache each fetch moves its line.
    let (mut bench, _) = with_texture(MemoryConfig { texture_kilobytes: 0, ..CONFIG });
    (0..3).for_each(|_| _ = bench.put(all));
    bench.settle();
    assert_eq!(bench.memory.moved().read, 3 * 128);
    // Lines that miss go through the L2 cache: it has them after the first fetch, and the answer comes no later for that.
    let (mut bench, _) = with_texture(MemoryConfig { texture_kilobytes: 0, l2_kilobytes: 4, ..CONFIG });
    (0..3).for_each(|_| _ = bench.put(all));
    bench.settle();
    assert_eq!(bench.memory.moved().read, 128);
}
