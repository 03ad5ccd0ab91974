use std::collections::{HashMap, VecDeque};

use super::*;
use crate::testing::{CACHE_SHAPES, Driver, Random, UNIFIED_SHAPES, event};

/// A pass of the coalescer: what becomes a request.
#[derive(Clone, Copy, Debug)]
struct Pass {
    kind: u8,
    line: u32,
    mask: u32,
    size: u8,
    offset: [u8; LANES],
    data: WarpData,
    answer: bool,
    bypass: bool,
    warp: u8,
    reg: u8,
    first: bool,
    last: bool,
}

/// Lane 0 loads the word at this place of a line.
fn load(line: u32, place: u8, warp: u8) -> Pass {
    let mut offset = [0; LANES];
    offset[0] = place;
    let data = WarpData::ZERO;
    let (kind, answer) = (kind::LOAD, true);
    let (mask, size, bypass, reg, first, last) = (1, 2, false, warp, true, true);
    Pass { kind, line, mask, size, offset, data, answer, bypass, warp, reg, first, last }
}

fn store(line: u32, place: u8, value: u32) -> Pass {
    let mut data = WarpData::ZERO;
    data.0[0] = value;
    Pass { kind: kind::STORE, data, answer: false, ..load(line, place, 0) }
}

/// The same, past the cache.
fn bypass(line: u32, place: u8, warp: u8) -> Pass {
    Pass { bypass: true, ..load(line, place, warp) }
}

/// Lane l stores to word l.
fn full_store(line: u32, value: u32) -> Pass {
    let (offset, mask) = (std::array::from_fn(|lane| 4 * lane as u8), u32::MAX);
    Pass { mask, offset, data: WarpData([value; LANES]), ..store(line, 0, 0) }
}

/// Adds one.
fn atomic(line: u32, place: u8, warp: u8, answer: bool) -> Pass {
    Pass { kind: kind::ATOMIC, answer, ..load(line, place, warp) }
}

/// Bits of the straps.
const FULL: u16 = 1 << FULL_STORES;
const HINTED: u16 = 1 << HINTS;

/// A result: warp, register, lanes, values, whether it is the last one.
type Seen = (u8, u8, u32, WarpData, bool);

/// A cache between a coalescer and a memory that answers in order.
struct Bench {
    cache: Driver<Cache>,
    /// The coalescer's request register.
    held: Option<Pass>,
    memory: HashMap<u32, WarpData>,
    /// Lines from here on exist in part: their first 64 bytes.
    end: u32,
    answers: VecDeque<(u64, WarpData, bool, u8)>,
    latency: u64,
    now: u64,
    /// What the request that has left in the last cycle has found in memory.
    found: Option<(Pass, WarpData)>,
    seen: Option<Seen>,
    banks: Option<Banks>,
}

/// The unified banks, whose columns are often in use.
struct Banks {
    lines: Vec<WarpData>,
    output: WarpData,
    random: Random,
    /// Cycles of a hundred in which a column is free.
    free: usize,
}

impl Banks {
    fn show(&mut self, inputs: &mut CacheIn) {
        let mut columns = || (0..COLUMNS).fold(0, |set, b| set | u8::from(self.random.chance(self.free)) << b);
        (inputs.read_ready_i, inputs.write_ready_i) = (columns(), columns());
        inputs.data_i = self.output;
    }

    /// Memory reads what it wants where that is free. Of what it has not read the banks show anything.
    fn access(&mut self, inputs: &CacheIn, out: &CacheOut) {
        let is_free = |ready: u8, entry: u16| ready >> (entry % 4) & 1 == 1;
        self.output = WarpData(std::array::from_fn(|_| self.random.next() as u32));
        if out.ram_read_o == 1 && is_free(inputs.read_ready_i, out.ram_read_entry_o) {
            self.output = self.lines[usize::from(out.ram_read_entry_o)];
        }
        if out.ram_write_o == 1 && is_free(inputs.write_ready_i, out.ram_write_entry_o) {
            let line = &mut self.lines[usize::from(out.ram_write_entry_o)];
            for byte in (0..128).filter(|byte| out.ram_write_bytes_o.to_u128() >> byte & 1 == 1) {
                let select = 0xff << (byte % 4 * 8);
                let (old, new) = (&mut line.0[byte / 4], out.ram_write_data_o.0[byte / 4]);
                *old = *old & !select | new & select;
            }
        }
    }
}

impl Bench {
    fn new(shape: &SmShape, latency: u64) -> Self {
        let mut cache = Driver::<Cache>::new(shape);
        (cache.inputs.mem_req_ready_i, cache.inputs.pop_i, cache.inputs.cfg_i) = (1, 1, 4);
        let (held, memory, end) = (None, HashMap::new(), u32::MAX);
        let answers = VecDeque::new();
        Self { cache, held, memory, end, answers, latency, now: 0, found: None, seen: None, banks: None }
    }

    /// Whose lines are in the unified banks: as many as the logarithm says.
    fn unified(shape: &SmShape, latency: u64, log: u8, free: usize) -> Self {
        let mut bench = Self::new(shape, latency);
        bench.cache.inputs.log_i = log;
        let lines = vec![WarpData::ZERO; if log == 0 { 0 } else { 1 << log }];
        bench.banks = Some(Banks { lines, output: WarpData::ZERO, random: Random(7), free });
        bench
    }

    fn line(&self, line: u32) -> WarpData {
        let fresh = WarpData(std::array::from_fn(|word| line << 8 | word as u32));
        self.memory.get(&line).copied().unwrap_or(fresh)
    }

    /// A cycle in which a pass is offered; gives whether it is performed.
    fn cycle(&mut self, pass: Option<&Pass>) -> bool {
        let inputs = &mut self.cache.inputs;
        self.banks.iter_mut().for_each(|banks| banks.show(inputs));
        inputs.req_valid_i = self.held.is_some().into();
        if let Some(held) = &self.held {
            (inputs.req_kind_i, inputs.req_size_i, inputs.req_answer_i) = (held.kind, held.size, held.answer.into());
            inputs.req_bypass_i = held.bypass.into();
            (inputs.req_line_i, inputs.req_mask_i) = (held.line, held.mask);
            (inputs.req_offset_i, inputs.req_data_i) = (held.offset, held.data);
        }
        inputs.mem_rsp_valid_i = 0;
        if let Some(&(due, data, fault, present)) = self.answers.front()
            && due <= self.now
        {
            (inputs.mem_rsp_valid_i, inputs.mem_rsp_data_i) = (1, data);
            (inputs.mem_rsp_fault_i, inputs.mem_rsp_present_i) = (fault.into(), present);
        }
        // Neither what a request does nor what is offered to the buses depends on the coalescer's pass.
        let mut out = self.cache.out;
        self.cache.block.late(&self.cache.inputs, &mut out);
        self.cache.block.early(&mut out);
        let wanted = self.cache.inputs.pop_i;
        self.cache.inputs.pop_i &= out.result_valid_o;
        let performed = pass.filter(|pass| out.req_ready_o == 1 && (!pass.answer || out.room_o == 1));
        let inputs = &mut self.cache.inputs;
        (inputs.pass_valid_i, inputs.row_valid_i) = (performed.is_some().into(), 0);
        if let Some(pass) = performed {
            (inputs.pass_line_i, inputs.row_valid_i) = (pass.line, pass.answer.into());
            (inputs.row_first_i, inputs.row_done_i) = (pass.first.into(), pass.last.into());
            (inputs.row_warp_i, inputs.row_mask_i, inputs.row_size_i) = (pass.warp, pass.mask, pass.size);
            (inputs.row_reg_valid_i, inputs.row_reg_i, inputs.row_offset_i) = (1, pass.reg, pass.offset);
            inputs.row_lanewise_i = (pass.kind == kind::ATOMIC).into();
        }
        let out = self.cache.cycle();
        self.banks.iter_mut().for_each(|banks| banks.access(&self.cache.inputs, &out));
        self.seen = (self.cache.inputs.pop_i == 1).then(|| {
            let result = out.result_o;
            (result.warp(), result.d(), result.mask(), out.result_data_o, result.done() == 1)
        });
        self.cache.inputs.pop_i = wanted;
        if self.cache.inputs.mem_rsp_valid_i & out.mem_rsp_ready_o == 1 {
            self.answers.pop_front();
        }
        self.found = None;
        if out.req_ready_o == 1
            && let Some(held) = self.held.take()
        {
            self.leave(&held, &out);
        }
        if let Some(pass) = performed {
            self.held = Some(*pass);
        }
        self.now += 1;
        performed.is_some()
    }

    /// A request leaves T. Whether it has gone to memory, the cache has said.
    fn leave(&mut self, held: &Pass, out: &CacheOut) {
        let mut line = self.line(held.line);
        let to_memory = out.mem_req_valid_o == 1;
        let has_lines = self.banks.is_none() || self.cache.inputs.log_i != 0;
        let bypasses = held.bypass && self.cache.inputs.cfg_i & HINTED != 0;
        assert_eq!(out.mem_req_whole_o == 1, to_memory && held.kind == kind::LOAD && has_lines && !bypasses);
        assert!(to_memory || !bypasses);
        let exists = |byte: u32| held.line < self.end || byte < 64;
        let fault = crate::mrf::bits::set_bits(held.mask).any(|lane| !exists(held.offset[lane].into()));
        let present = if held.line < self.end { 128 } else { 64 };
        let mut found = WarpData::ZERO;
        for lane in crate::mrf::bits::set_bits(held.mask) {
            let (word, shift) = (usize::from(held.offset[lane] / 4), held.offset[lane] % 4 * 8);
            let all = u32::MAX >> (32 - (8 << held.size));
            found.0[lane] = line.0[word] >> shift & all;
            let value = match held.kind {
                kind::STORE => held.data.0[lane],
                kind::ATOMIC => line.0[word] + 1,
                _ => continue,
            };
            line.0[word] = line.0[word] & !(all << shift) | (value & all) << shift;
        }
        self.found = Some((*held, found));
        if held.kind != kind::LOAD {
            assert!(to_memory);
            self.memory.insert(held.line, line);
        }
        if to_memory && held.answer {
            let data = if held.kind == kind::LOAD { line } else { found };
            self.answers.push_back((self.now + self.latency, data, fault, present));
        }
    }

    /// Performs a pass and lets its request leave; gives the events of the cycle in which it has left.
    fn perform(&mut self, pass: &Pass) -> u32 {
        while !self.cycle(Some(pass)) {}
        while self.held.is_some() {
            self.cycle(None);
        }
        self.cache.out.event_o
    }

    /// The next result.
    fn result(&mut self) -> Seen {
        for _ in 0..200 {
            self.cycle(None);
            if let Some(seen) = self.seen {
                return seen;
            }
        }
        panic!("no result comes");
    }

    fn idle(&mut self) {
        while self.cache.out.idle_o == 0 {
            self.cycle(None);
        }
    }
}

fn has(word: u32, name: &str) -> bool {
    event(CACHE_EVENT, word.into(), &format!("cache_{name}")) == 1
}

/// Two sets of two ways.
fn small() -> Bench {
    Bench::new(&CACHE_SHAPES[1], 20)
}

#[test]
fn a_line_that_was_loaded_is_hit() {
    let mut bench = small();
    assert!(has(bench.perform(&load(6, 4, 1)), "miss"));
    assert_eq!(bench.result(), (1, 1, 1, found(6 << 8 | 1), true));
    bench.idle();
    let asked = bench.answers.len();
    assert!(has(bench.perform(&load(6, 8, 2)), "hit"));
    let left = bench.now;
    assert_eq!(bench.result(), (2, 2, 1, found(6 << 8 | 2), true));
    // C, D, and four cycles in the queue.
    assert_eq!((bench.now - left, asked), (6, 0));
}

/// What lane 0 alone has found.
fn found(value: u32) -> WarpData {
    let mut data = WarpData::ZERO;
    data.0[0] = value;
    data
}

#[test]
fn loads_join_a_line_on_its_way_until_a_store_closes_it() {
    let mut bench = small();
    assert!(has(bench.perform(&load(6, 4, 1)), "miss"));
    assert!(has(bench.perform(&load(6, 8, 2)), "merge"));
    assert_eq!(bench.answers.len(), 1);
    let events = bench.perform(&store(6, 8, 77));
    assert!(has(events, "store") && has(events, "close") && !has(events, "store_hit"));
    assert!(has(bench.perform(&load(6, 8, 3)), "miss"), "the line comes from memory again");
    assert_eq!(bench.answers.len(), 2);
    let results = [bench.result(), bench.result(), bench.result()].map(|seen| (seen.0, seen.3.0[0]));
    assert_eq!(results, [(1, 6 << 8 | 1), (2, 6 << 8 | 2), (3, 77)]);
    assert!(has(bench.perform(&load(6, 8, 4)), "hit"), "only the second answer was installed");
    assert_eq!(bench.result().3.0[0], 77);
}

#[test]
fn a_store_writes_a_line_that_is_there_and_an_atomic_operation_makes_it_invalid() {
    let mut bench = small();
    bench.perform(&load(6, 4, 1));
    bench.idle();
    let events = bench.perform(&store(6, 4, 88));
    assert!(has(events, "store_hit") && !has(events, "close"));
    assert!(has(bench.perform(&load(6, 4, 2)), "hit"));
    while bench.result().0 != 2 {}
    let events = bench.perform(&atomic(6, 4, 3, true));
    assert!(has(events, "atomic") && has(events, "invalidate"));
    assert!(has(bench.perform(&load(6, 4, 4)), "miss"), "the miss of the atomic operation is closed");
    assert_eq!([bench.result(), bench.result()].map(|seen| (seen.0, seen.3.0[0])), [(3, 88), (4, 89)]);
    let events = bench.perform(&atomic(6, 4, 0, false));
    assert!(has(events, "invalidate"));
    bench.idle();
    assert_eq!(bench.answers.len(), 0);
    assert!(has(bench.perform(&load(6, 4, 5)), "miss"));
}

#[test]
fn an_atomic_operation_closes_the_miss_of_its_line() {
    let mut bench = small();
    bench.perform(&load(6, 4, 1));
    assert!(has(bench.perform(&atomic(6, 4, 2, false)), "close"));
    assert!(has(bench.perform(&load(6, 4, 3)), "miss"));
    assert_eq!([bench.result(), bench.result()].map(|seen| seen.3.0[0]), [6 << 8 | 1, (6 << 8 | 1) + 1]);
}

#[test]
fn a_store_of_all_bytes_brings_its_line() {
    let mut bench = small();
    let events = bench.perform(&full_store(6, 5));
    assert!(has(events, "store") && !has(events, "store_full"), "not without the strap");
    bench.cache.inputs.cfg_i |= FULL;
    assert!(
        !has(bench.perform(&Pass { mask: u32::MAX >> 1, ..full_store(6, 5) }), "store_full"),
        "not with a word less"
    );
    let mut other = full_store(6, 5);
    other.offset[3] = other.offset[4];
    assert!(!has(bench.perform(&other), "store_full"), "two lanes have one word");
    bench.perform(&load(6, 4, 1));
    let events = bench.perform(&full_store(6, 7));
    assert!(has(events, "store") && has(events, "store_full") && has(events, "close") && !has(events, "store_hit"));
    assert!(has(bench.perform(&load(6, 8, 2)), "hit"));
    // The answer that was on its way is not installed.
    let results = [bench.result(), bench.result()].map(|seen| (seen.0, seen.3.0[0]));
    assert!(results.contains(&(1, 5)) && results.contains(&(2, 7)), "{results:?}");
    bench.idle();
    assert!(has(bench.perform(&full_store(6, 8)), "store_hit"));
    assert!(!has(bench.cache.out.event_o, "store_full"));
    assert!(has(bench.perform(&load(6, 12, 3)), "hit"));
    assert_eq!(bench.result().3.0[0], 8);
}

#[test]
fn a_store_of_all_bytes_that_cannot_be_kept_at_once_goes_to_memory_alone() {
    // One way, so that there is no other: lines 8, 16, 24 have one set.
    let mut bench = Bench::new(&CACHE_SHAPES[2], 20);
    bench.cache.inputs.cfg_i |= FULL;
    assert!(has(bench.perform(&full_store(8, 1)), "store_full"));
    // The next one finds the first one in C, where its way is pinned.
    assert!(bench.cycle(Some(&full_store(16, 2))));
    bench.cycle(Some(&full_store(24, 3)));
    let first = bench.cache.out.event_o;
    bench.cycle(None);
    assert!(has(first, "store_full"), "C was free");
    let second = bench.cache.out.event_o;
    assert!(has(second, "store") && !has(second, "store_full") && !has(second, "wait_access"));
    bench.idle();
    assert!(has(bench.perform(&load(16, 0, 1)), "hit"));
    assert_eq!(bench.result().3.0[0], 2);
}

#[test]
fn no_answer_is_installed_while_a_store_takes_a_place() {
    let mut met = 0;
    for wait in 0..40 {
        let mut bench = Bench::new(&CACHE_SHAPES[0], 20);
        bench.cache.inputs.cfg_i |= FULL;
        bench.perform(&load(8, 0, 1));
        for _ in 0..wait {
            bench.cycle(None);
        }
        let events = bench.perform(&full_store(9, 4));
        assert!(has(events, "store_full") && !has(events, "fill"));
        met += u32::from(has(events, "fill_wait"));
        bench.idle();
        assert!(has(bench.perform(&load(8, 4, 2)), "hit") && has(bench.perform(&load(9, 4, 3)), "hit"));
    }
    assert_eq!(met, 1);
}

#[test]
fn loads_past_the_cache_neither_use_it_nor_bring_their_line() {
    let mut bench = small();
    assert!(has(bench.perform(&bypass(6, 4, 1)), "miss"));
    bench.idle();
    assert!(has(bench.perform(&bypass(6, 4, 2)), "hit"), "hints are not read");
    bench.idle();
    bench.cache.inputs.cfg_i |= HINTED;
    let events = bench.perform(&bypass(6, 8, 3));
    assert!(has(events, "miss") && !has(events, "hit"));
    assert!(has(bench.perform(&load(6, 12, 4)), "hit"), "it is still there");
    bench.idle();
    // No later load joins it, and it joins none.
    assert!(has(bench.perform(&bypass(4, 0, 1)), "miss"));
    let events = bench.perform(&load(4, 4, 2));
    assert!(has(events, "miss") && !has(events, "merge"));
    let events = bench.perform(&bypass(4, 8, 3));
    assert!(has(events, "miss") && !has(events, "merge"));
    assert_eq!(bench.answers.len(), 3);
    let mut fills = 0;
    while bench.cache.out.idle_o == 0 {
        bench.cycle(None);
        fills += u32::from(has(bench.cache.out.event_o, "fill"));
    }
    assert_eq!(fills, 1);
}

#[test]
fn a_flush_forgets_every_line() {
    let mut bench = small();
    for line in [4, 5, 6] {
        bench.perform(&load(line, 0, 1));
    }
    bench.idle();
    bench.cache.inputs.flush_i = 1;
    bench.cycle(None);
    bench.cache.inputs.flush_i = 0;
    for line in [4, 5, 6] {
        assert!(has(bench.perform(&load(line, 0, 1)), "miss"));
    }
}

#[test]
fn a_line_that_does_not_exist_whole_is_not_installed_and_only_the_lanes_beyond_are_at_fault() {
    let mut bench = small();
    bench.end = 6;
    bench.perform(&load(6, 4, 1));
    bench.perform(&load(6, 64, 2));
    let mut faults = Vec::new();
    let mut parts = 0;
    while bench.seen.is_none_or(|seen| seen.0 != 2) {
        bench.cycle(None);
        parts += u32::from(has(bench.cache.out.event_o, "part"));
        if bench.cache.out.fault_valid_o == 1 {
            faults.push(bench.cache.out.fault_warp_o);
        }
    }
    assert_eq!((faults, parts), (vec![2], 1));
    assert!(has(bench.perform(&load(6, 4, 3)), "miss"));
}

#[test]
fn an_answer_whose_way_is_about_to_be_read_is_dropped() {
    // One way, so that there is no other.
    let mut dropped = 0;
    for wait in 0..40 {
        let mut bench = Bench::new(&CACHE_SHAPES[2], 20);
        bench.perform(&load(8, 0, 1));
        bench.idle();
        // One of these cycles is that in which the answer is installed or dropped.
        let mut seen = HashMap::new();
        let mut passes = VecDeque::from([(0, load(16, 0, 2)), (wait, load(8, 4, 3))]);
        let mut passed = 0;
        while seen.len() < 2 {
            let pass = passes.front().filter(|(at, _)| *at <= passed).map(|(_, pass)| *pass);
            if bench.cycle(pass.as_ref()) {
                passes.pop_front();
            }
            passed += 1;
            dropped += u32::from(has(bench.cache.out.event_o, "drop"));
            if let Some((warp, .., data, _)) = bench.seen.filter(|seen| seen.0 != 1) {
                seen.insert(warp, data.0[0]);
            }
        }
        assert_eq!((seen[&2], seen[&3]), (16 << 8, 8 << 8 | 1), "after {wait} cycles");
    }
    // In T, and in C.
    assert_eq!(dropped, 2);
}

#[test]
fn every_load_gets_what_memory_had_when_its_request_left() {
    for (seed, shape) in CACHE_SHAPES.iter().enumerate() {
        for latency in [0, 3, 30] {
            random(Bench::new(shape, latency), shape, latency, 1 + seed as u64);
        }
    }
}

#[test]
fn lines_in_the_unified_banks_are_what_a_cache_of_their_number_has() {
    for (shape, logs) in UNIFIED_SHAPES.iter().zip([[3, 4], [4, 11]]) {
        for log in logs {
            for (latency, free) in [(0, 100), (3, 70), (30, 40)] {
                random(Bench::unified(shape, latency, log, free), shape, latency, log.into());
            }
        }
    }
}

#[test]
fn without_lines_nothing_hits_and_no_load_joins_another() {
    for (shape, free) in UNIFIED_SHAPES.iter().zip([100, 50]) {
        random(Bench::unified(shape, 20, 0, free), shape, 20, 5);
        let mut bench = Bench::unified(shape, 20, 0, free);
        for warp in 0..4 {
            assert!(has(bench.perform(&load(6, 4, warp)), "miss"));
        }
        assert!(has(bench.perform(&store(6, 4, 9)), "store"));
        assert!(!has(bench.cache.out.event_o, "close") && !has(bench.cache.out.event_o, "store_hit"));
        assert_eq!(bench.answers.len(), 4);
        let results: Vec<_> = (0..4).map(|_| bench.result()).map(|seen| (seen.0, seen.3.0[0])).collect();
        assert_eq!(results, [0, 1, 2, 3].map(|warp| (warp, 6 << 8 | 1)));
        bench.idle();
        assert!(has(bench.perform(&load(6, 4, 1)), "miss"));
    }
}

#[test]
fn an_answer_waits_until_the_column_of_its_line_is_free() {
    let mut bench = Bench::unified(&UNIFIED_SHAPES[0], 5, 4, 100);
    bench.perform(&load(6, 4, 1));
    // Line 6 goes to column 2.
    bench.banks = None;
    bench.cache.inputs.write_ready_i = 0b1011;
    let mut waits = 0;
    for _ in 0..20 {
        bench.cycle(None);
        waits += u32::from(has(bench.cache.out.event_o, "fill_wait"));
        assert_eq!((bench.cache.out.ram_write_o, bench.cache.out.idle_o), (0, 0));
    }
    assert!(waits > 10, "{waits}");
    bench.cache.inputs.write_ready_i = 0b0100;
    bench.cycle(None);
    let out = &bench.cache.out;
    assert!(has(out.event_o, "fill"));
    // Eight sets of two ways: set 6 of way 0.
    assert_eq!((out.ram_write_o, out.ram_write_entry_o, out.ram_write_bytes_o.to_u128()), (1, 6, u128::MAX));
    assert_eq!(out.ram_write_data_o.0[..2], [6 << 8, 6 << 8 | 1]);
    bench.idle();
}

/// An instruction whose parts are on their way.
#[derive(Default)]
struct Load {
    parts: HashMap<u32, Option<WarpData>>,
    closed: bool,
}

fn random(mut bench: Bench, shape: &SmShape, latency: u64, seed: u64) {
    let has_lines = bench.banks.is_none() || bench.cache.inputs.log_i != 0;
    let mut random = Random(seed);
    let mut loads: HashMap<(u8, u8), Load> = HashMap::new();
    let mut next: VecDeque<Pass> = VecDeque::new();
    let (mut count, mut results) = (0u32, 0);
    let mut events = [0u32; CACHE_EVENT.len()];
    bench.cache.inputs.cfg_i =
        random.below(512) as u16 & (0x47 | FULL) | if seed.is_multiple_of(2) { HINTED } else { 0 };
    for cycle in 0..30_000 {
        let busy = cycle / 500 % 3;
        if next.is_empty() {
            instruction(&mut random, shape, count, &mut next);
            count += 1;
        }
        let inputs = &mut bench.cache.inputs;
        inputs.mem_req_ready_i = random.chance([100, 30, 80][busy]).into();
        inputs.pop_i = random.chance([100, 80, 40][busy]).into();
        let pass = if random.chance(80) { next.front().copied() } else { None };
        let performed = bench.cycle(pass.as_ref());
        if let Some((warp, reg, mask, data, done)) = bench.seen {
            let load = loads.get_mut(&(warp, reg)).expect("a load");
            assert_eq!(done, load.closed && load.parts.len() == 1, "cycle {cycle}");
            let expected = load.parts.remove(&mask).expect("a part of it").expect("its request has left");
            assert_eq!(data, expected, "cycle {cycle}, warp {warp}, lanes {mask:x}");
            results += 1;
        }
        if let Some((pass, found)) = bench.found
            && pass.answer
        {
            loads.get_mut(&(pass.warp, pass.reg)).expect("a load").parts.insert(pass.mask, Some(found));
        }
        if performed {
            let pass = next.pop_front().expect("it was offered");
            if pass.answer {
                let load = loads.entry((pass.warp, pass.reg)).or_default();
                load.parts.insert(pass.mask, None);
                load.closed = pass.last;
            }
        }
        let word = bench.cache.out.event_o;
        for (bit, sum) in events.iter_mut().rev().enumerate() {
            *sum += word >> bit & 1;
        }
        loads.retain(|_, load| !load.parts.is_empty() || !load.closed);
    }
    assert!(results > 1000, "{results}");
    // The large caches do not evict what is in use.
    let full = bench.cache.inputs.cfg_i & FULL != 0;
    assert!(full || events[CACHE_EVENT.iter().position(|(name, _)| *name == "cache_store_full").unwrap()] == 0);
    let rare = ["cache_part", "cache_drop", "cache_wait_row", "cache_wait_access", "cache_fill_wait", "cache_merge"];
    for ((name, _), sum) in CACHE_EVENT.iter().zip(events) {
        assert!(
            sum != 0 || rare.contains(name) || latency == 0 || !has_lines || *name == "cache_store_full" && !full,
            "{name} does not occur: {shape:?} {latency}"
        );
    }
}

/// An instruction of one to three passes of few lines.
fn instruction(random: &mut Random, shape: &SmShape, count: u32, next: &mut VecDeque<Pass>) {
    let kind = [kind::LOAD, kind::LOAD, kind::LOAD, kind::STORE, kind::ATOMIC][random.below(5)];
    let answer = kind == kind::LOAD || kind == kind::ATOMIC && random.chance(50);
    let whole = kind == kind::STORE && random.chance(40);
    let size = if kind == kind::ATOMIC || whole { 2 } else { random.below(3) as u8 };
    let parts = if whole { 1 } else { 1 + random.below(3) };
    let bypass = kind == kind::LOAD && random.chance(30);
    // Its number, which does not come again soon.
    let (warp, reg) = ((count % 48) as u8, (count / 48) as u8);
    let (lines, closes) = (2 * shape.lines().min(16), random.chance(90));
    for part in 0..parts {
        let mut offset = [0; LANES];
        let turn = random.below(LANES);
        let mask = if whole { u32::MAX } else { (random.next() as u32 & 0x3ff | 1) << (10 * part) };
        for lane in crate::mrf::bits::set_bits(mask) {
            let place = if whole { 4 * (lane + turn) % 128 } else { random.below(128) };
            offset[lane] = (place >> size << size) as u8;
        }
        let mut data = WarpData::ZERO;
        data.0.fill_with(|| random.next() as u32);
        let line = (random.below(lines) * if shape.lines() > 64 { 1 } else { 3 }) as u32;
        let (first, last) = (part == 0, part + 1 == parts && closes);
        next.push_back(Pass { kind, line, mask, size, offset, data, answer, bypass, warp, reg, first, last });
    }
}
