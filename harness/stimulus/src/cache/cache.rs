//! `cache`.

use std::collections::VecDeque;

use gpurf_blocks::cache::{CACHE_EVENT, Cache, CacheIn, CacheOut, CacheProbe};
use gpurf_blocks::config::Config;
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_blocks::unified::COLUMNS;
use gpurf_blocks::{LANES, WarpData};
use gpurf_lockstep::Rng;

use super::cache_access::is_free;
use super::cache_tags::{Lines, no_size, sets_of_size};
use super::row::{LINE_BYTES, Row};
use crate::cover::part;
use crate::driver::{Reset, Twin};
use crate::execute::result_queue::Latency;
use crate::memory::lanes::set_lanes;
use crate::unified::cache_sizes;
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<Cache, CacheDriver, CacheCover>();

const LOAD: u8 = 0;
const STORE: u8 = 1;
const ATOMIC: u8 = 2;
const TEXTURE: u8 = 3;
/// Bits of a line's number.
const LINE_W: u32 = 26;
/// The bits of the straps that are the latency of hits.
const LATENCY: u16 = 0x3f;

/// Bytes of the line that the request writes, if it is a store.
fn written(i: &CacheIn) -> u128 {
    let bytes = u128::MAX >> (128 - (1 << i.req_size_i));
    set_lanes(i.req_mask_i).fold(0, |set, lane| set | bytes << i.req_offset_i[lane])
}

/// A request that comes into the coalescer's request register.
struct Request {
    kind: u8,
    answer: bool,
    bypass: bool,
    line: u32,
    row: Row,
    data: WarpData,
}

/// Driver of `cache`, as coalescer and memory: the coalescer has one request after another, memory answers in order.
pub(crate) struct CacheDriver {
    /// All straps but the latency.
    straps: u16,
    latency: Latency,
    reset: Reset,
    twin: Twin<Cache>,
    lines: Lines,
    /// The request register: whether it is full, and the request that comes in at the clock edge.
    full: bool,
    next: Option<Request>,
    /// Passes of the current instruction so far that have an answer; 0: the next one is its first.
    parts: usize,
    /// Requests that memory has not answered, and whether an answer is offered.
    unanswered: usize,
    answer: bool,
    /// No request is made until the cache is idle.
    drains: bool,
    /// With unified memory: the values that the logarithm of the number of lines may have; the ways; and whether the number may change, because all
    /// lines are invalid and nothing is in progress.
    sizes: Vec<u8>,
    ways: usize,
    empty: bool,
    /// Whether a line was read in the unified banks at the previous clock edge.
    read: bool,
    /// Whether a request waited for the data in the previous cycle.
    stuck: bool,
}

knobs! {
    pub(crate) struct CacheKnobs {
        pass: "the coalescer performs a pass" = [100, 600, 1000, 1000],
        store: "it is of a store" = [0, 200, 600],
        whole: "a store is of all bytes of its line" = [0, 50, 300, 900],
        bypass: "a load is to pass the cache by" = [0, 0, 100, 700],
        stuck: "a request that needs no data follows one that has waited for them" = [0, 150, 500],
        atomic: "it is of an atomic operation" = [0, 100, 500],
        texture: "it is of a texture fetch" = [0, 50, 300],
        wanted: "its old values are wanted" = [200, 800],
        again: "its line is that of the pass before" = [0, 200, 700],
        few: "its line is one of as many as there are sets" = [0, 300, 950, 1000],
        last: "it is the last one of its instruction" = [0, 50, 400, 1000],
        partial: "lanes do not take part" = [0, 500, 900],
        ready: "memory takes a request" = [50, 500, 1000, 1000],
        answer: "memory answers" = [5, 50, 500, 1000],
        fault: "there is no such place" = [0, 0, 100],
        part: "the line does not exist whole" = [0, 0, 300],
        pop: "a result is taken" = [10, 50, 500, 1000, 1000],
        drain: "no request comes until the cache is idle" = [0, 2, 10, 50],
        resize: "the number of lines changes when all are invalid" = [100, 500, 1000],
        read_free: "no register is read in a column" = [200, 800, 1000],
        write_free: "no register is written in a column" = [200, 800, 1000],
        other: "others read in the banks" = [100, 1000],
        // Rarely: sets fill slowly.
        reset = [0, 0, 2, 10],
    }
}

impl Driver for CacheDriver {
    type In = CacheIn;
    type Knobs = CacheKnobs;

    fn new(shape: &SmShape, config: &Config) -> Self {
        Self {
            straps: Straps::of(config).cache() & !LATENCY,
            latency: Latency::new(Straps::of(config).side_latency.saturating_sub(1)),
            reset: Reset::default(),
            twin: Twin::new(shape),
            lines: Lines::new(shape.sets(), shape.ways()),
            full: false,
            next: None,
            parts: 0,
            unanswered: 0,
            answer: false,
            drains: false,
            sizes: if shape.unified() { cache_sizes(shape.ways(), shape.lines()) } else { Vec::new() },
            ways: shape.ways(),
            empty: true,
            read: false,
            stuck: false,
        }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        if shape.unified() { no_size(shape) } else { Vec::new() }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &CacheKnobs, i: &mut CacheIn) {
        self.twin.early();
        self.lines.renew(rng);
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.cfg_i = self.straps | u16::from(self.latency.next(rng, i.rst_ni == 0));
        if !self.sizes.is_empty() {
            self.banks(rng, knobs, i);
        }
        self.request(i);
        self.memory(rng, knobs, i);
        (i.pass_valid_i, i.row_valid_i, i.flush_i, i.pop_i) = (0, 0, 0, 0);
        self.twin.late(i);
        let out = &self.twin.out;
        let (leaves, idle) = (out.req_ready_o == 1, out.idle_o == 1);
        i.pop_i = out.result_valid_o & u8::from(rng.chance(knobs.pop));
        self.drains |= rng.chance(knobs.drain);
        if self.drains && idle {
            self.drains = false;
            i.flush_i = rng.chance(700).into();
        }
        if (!self.full || leaves) && !self.drains && rng.chance(knobs.pass) {
            self.pass(rng, knobs, i);
        }
        self.twin.late(i);
        let out = &self.twin.out;
        let asked = out.mem_req_valid_o & i.mem_req_ready_i & i.req_answer_i == 1;
        let answered = i.mem_rsp_valid_i & out.mem_rsp_ready_o == 1;
        self.unanswered = self.unanswered + usize::from(asked) - usize::from(answered);
        self.answer &= !answered;
        self.full = self.next.is_some() || self.full && !leaves;
        self.stuck = part(CACHE_EVENT, out.event_o.into(), "cache_wait_access") == 1;
        self.read = out.ram_read_o == 1 && is_free(i.read_ready_i, out.ram_read_entry_o);
        self.twin.clock(i);
        if i.rst_ni == 0 {
            (self.full, self.next, self.parts) = (false, None, 0);
            (self.unanswered, self.answer, self.drains) = (0, false, false);
        }
        self.empty = (i.flush_i == 1 || i.rst_ni == 0) && !self.full;
    }
}

impl CacheDriver {
    /// Drives the number of lines, the columns that registers leave free, and the data that the banks return.
    fn banks(&mut self, rng: &mut Rng, knobs: &CacheKnobs, i: &mut CacheIn) {
        if self.empty && rng.chance(knobs.resize) {
            // Rarely without a cache: most situations do not come up then.
            let cached = usize::from(rng.chance(600));
            i.log_i = self.sizes[cached + rng.below((self.sizes.len() - cached) as u64) as usize];
            self.lines.resize(rng, sets_of_size(self.ways, i.log_i), self.ways);
        }
        i.read_ready_i = rng.mask(COLUMNS as u32, knobs.read_free) as u8;
        i.write_ready_i = rng.mask(COLUMNS as u32, knobs.write_free) as u8;
        if self.read || rng.chance(knobs.other) {
            rng.fill(&mut i.data_i.0);
        }
    }

    /// Drives the request register.
    fn request(&mut self, i: &mut CacheIn) {
        i.req_valid_i = self.full.into();
        if let Some(Request { kind, answer, bypass, line, row, data }) = self.next.take() {
            (i.req_kind_i, i.req_answer_i, i.req_line_i) = (kind, answer.into(), line);
            (i.req_size_i, i.req_mask_i, i.req_offset_i, i.req_data_i) = (row.size, row.mask, row.offset, data);
            i.req_bypass_i = bypass.into();
        }
    }

    fn memory(&mut self, rng: &mut Rng, knobs: &CacheKnobs, i: &mut CacheIn) {
        i.mem_req_ready_i = rng.chance(knobs.ready).into();
        if !self.answer && self.unanswered > 0 && rng.chance(knobs.answer) {
            self.answer = true;
            rng.fill(&mut i.mem_rsp_data_i.0);
            i.mem_rsp_fault_i = rng.chance(knobs.fault).into();
            let part = rng.chance(knobs.part);
            i.mem_rsp_present_i = if part { rng.below(u64::from(LINE_BYTES) + 1) as u8 } else { LINE_BYTES };
        }
        i.mem_rsp_valid_i = self.answer.into();
    }

    /// A pass of the coalescer, if there is room for its row.
    fn pass(&mut self, rng: &mut Rng, knobs: &CacheKnobs, i: &mut CacheIn) {
        let passes = self.stuck && rng.chance(knobs.stuck);
        let kind = match () {
            () if passes => [LOAD, STORE][rng.below(2) as usize],
            () if rng.chance(knobs.store) => STORE,
            () if rng.chance(knobs.atomic) => ATOMIC,
            () if rng.chance(knobs.texture) => TEXTURE,
            () => LOAD,
        };
        let answer = kind == LOAD || kind != STORE && rng.chance(knobs.wanted);
        if answer && self.twin.out.room_o == 0 {
            return;
        }
        let row = match kind {
            STORE if passes || rng.chance(knobs.whole) => whole_line(rng),
            ATOMIC | TEXTURE => Row::of_atomic(rng, knobs.partial),
            _ => Row::of_line(rng, knobs.partial, None),
        };
        let bypass = kind == LOAD && (passes || rng.chance(knobs.bypass));
        // After a request that waited: a load has the line of that request, which is present; a store has a line that hardly is.
        let line = match () {
            () if passes && kind == LOAD => i.pass_line_i,
            () if passes => rng.below(1 << LINE_W) as u32,
            () if rng.chance(knobs.again) => i.pass_line_i,
            () if rng.chance(knobs.few) => self.lines.alone(rng),
            () => self.lines.draw(rng),
        };
        // The first of two requests of a fetch is no pass.
        if kind != TEXTURE || answer {
            (i.pass_valid_i, i.pass_line_i) = (1, line);
        }
        let mut data = WarpData::ZERO;
        if kind != LOAD {
            set_lanes(row.mask).for_each(|lane| data.0[lane] = rng.next_u64() as u32);
        }
        if answer {
            self.row(rng, knobs, &row, i);
        }
        self.next = Some(Request { kind, answer, bypass, line, row, data });
    }

    fn row(&mut self, rng: &mut Rng, knobs: &CacheKnobs, row: &Row, i: &mut CacheIn) {
        i.row_valid_i = 1;
        i.row_first_i = (self.parts == 0).into();
        let last = self.parts + 1 == LANES || rng.chance(knobs.last);
        // If the lanes of an instruction lie in several memories, its last part may come from another memory.
        i.row_done_i = (last && !rng.chance(100)).into();
        self.parts = if last { 0 } else { self.parts + 1 };
        (i.row_warp_i, i.row_mask_i) = (row.warp, row.mask);
        (i.row_reg_valid_i, i.row_reg_i) = (row.reg.is_some().into(), row.reg.unwrap_or_default());
        (i.row_size_i, i.row_signed_i, i.row_lanewise_i) = (row.size, row.signed.into(), row.lanewise.into());
        i.row_offset_i = row.offset;
    }
}

/// A store of all bytes of a line, its words in any order; sometimes one byte or word is left out.
fn whole_line(rng: &mut Rng) -> Row {
    let mut row = Row::of_line(rng, 0, None);
    let (from, step) = (rng.below(LANES as u64) as u8, [1, 1, 31, 5][rng.below(4) as usize]);
    (row.mask, row.size) = (u32::MAX, 2);
    row.offset = std::array::from_fn(|lane| from.wrapping_add((lane as u8).wrapping_mul(step)) % LANES as u8 * 4);
    let lane = rng.below(LANES as u64) as usize;
    match rng.below(8) {
        0 => {
            row.mask &= !(1 << lane);
            row.offset[lane] = 0;
        }
        1 => row.offset[lane] = row.offset[(lane + 1) % LANES],
        2 => {
            row.size = rng.below(2) as u8;
        }
        _ => {}
    }
    row
}

/// What the cache has done in a cycle.
#[derive(Clone, Copy, Default)]
struct Did {
    wait_access: bool,
    wait_row: bool,
    wait_memory: bool,
    fill: bool,
    fill_wait: bool,
    kept: bool,
    hit: bool,
    store_hit: bool,
    store_full: bool,
    invalidate: bool,
    line: u32,
}

pub(crate) struct CacheCover {
    ways: usize,
    rows: usize,
    misses: usize,
    /// Whether stores of all bytes allocate a line, and whether hints are obeyed.
    full: bool,
    hints: bool,
    /// Whether the line to be replaced is often one that has just been used, since there is no other way.
    pins: bool,
    /// Events of the previous cycle.
    before: Did,
    /// For each request that memory has not answered: whether it is of a load.
    asked: VecDeque<bool>,
    /// Whether the cache was flushed at the previous clock edge.
    flushed: bool,
    /// With unified memory: the values that the logarithm of the number of lines may have, and its value in the previous cycle.
    sizes: Vec<u8>,
    log: u8,
    /// The line of the last miss, if there was no cache.
    missed: Option<u32>,
}

#[cover]
impl CacheCover {
    fn new(shape: &SmShape, config: &Config) -> Self {
        let Straps { cache_full_stores: full, cache_hints: hints, .. } = Straps::of(config);
        let (ways, rows, misses) = (shape.ways(), shape.line_rows, shape.misses());
        let sizes = if shape.unified() { cache_sizes(shape.ways(), shape.lines()) } else { Vec::new() };
        let pins = ways == 1;
        let (before, asked) = (Did::default(), VecDeque::new());
        Self { ways, rows, misses, full, hints, pins, before, asked, flushed: false, sizes, log: 0, missed: None }
    }

    fn observe(&mut self, i: &CacheIn, o: &CacheOut, p: &CacheProbe, points: &mut Points) {
        let event = |name: &str| part(CACHE_EVENT, o.event_o.into(), name) == 1;
        self.requests(i, o, points);
        self.answers(i, o, points);
        self.full_stores(i, o, p, points);
        self.bypasses(i, o, p, points);
        if !self.sizes.is_empty() {
            self.unified(i, o, points);
            let lost = i.rst_ni == 0 || i.log_i != 0 || self.asked.is_empty();
            self.missed =
                if event("cache_miss") && i.log_i == 0 { Some(i.req_line_i) } else { self.missed.filter(|_| !lost) };
            self.log = i.log_i;
        }
        if i.mem_rsp_valid_i == 1 && o.mem_rsp_ready_o == 1 {
            self.asked.pop_front();
        }
        if o.mem_req_valid_o == 1 && i.mem_req_ready_i == 1 && i.req_answer_i == 1 {
            self.asked.push_back(i.req_kind_i == LOAD);
        }
        if i.rst_ni == 0 {
            self.asked.clear();
        }
        self.flushed = i.flush_i == 1;
        self.before = Did {
            wait_access: event("cache_wait_access"),
            wait_row: event("cache_wait_row"),
            wait_memory: event("cache_wait_memory"),
            fill: event("cache_fill") || event("cache_drop") || event("cache_part"),
            fill_wait: event("cache_fill_wait"),
            kept: event("cache_fill"),
            hit: event("cache_hit"),
            store_hit: event("cache_store_hit"),
            store_full: event("cache_store_full"),
            invalidate: event("cache_invalidate"),
            line: i.req_line_i,
        };
    }

    /// Stores of all bytes of a line.
    fn full_stores(&self, i: &CacheIn, o: &CacheOut, p: &CacheProbe, points: &mut Points) {
        let event = |name: &str| part(CACHE_EVENT, o.event_o.into(), name) == 1;
        let (store, full, hit) = (event("cache_store"), event("cache_store_full"), event("cache_store_hit"));
        let whole = written(i) == u128::MAX;
        let absent = store && whole && !hit;
        let ready = p.access.in_ready_o == 1;
        let cached = self.sizes.is_empty() || i.log_i != 0;
        point!("a store of all bytes of a line that is not there", absent);
        point!("a store of all bytes of a line that is there", store && whole && hit);
        #[given(self.full)]
        {
            point!("a store takes a place", full);
            point!("a store takes a place, and closes a miss", full && event("cache_close"));
            point!("a store takes a place as an answer is at hand", full && event("cache_fill_wait"));
            point!(
                "a store takes a place as an answer is at hand, and closes its miss",
                full && event("cache_fill_wait") && p.misses.open_first_o == 1
            );
            point!("a store takes a place after it has waited for memory", full && self.before.wait_memory);
            point!("a store that would take a place waits for memory", event("cache_wait_memory") && whole && ready);
            point!("a store takes a place after another one", full && self.before.store_full);
            point!(
                "a store takes a place as a hit leaves the data of the cache",
                full && p.access.pin_valid_o == 1,
                given = self.ways > 1
            );
            // The cache's own data RAM is occupied only while the queue of hits is full; unified banks are occupied whenever registers are accessed.
            point!(
                "a store of all bytes finds the data of the cache occupied",
                absent && !ready && i.mem_req_ready_i == 1 && cached,
                given = !self.sizes.is_empty()
            );
            point!("a store of all bytes finds its way pinned", absent && ready && !full && cached, given = self.pins);
            point!(
                "an answer waits for a store that takes no place",
                absent && ready && !full && event("cache_fill_wait"),
                given = self.pins
            );
            point!("a store of all bytes but a few", store && !hit && !full && written(i).count_zeros() == 4);
            point!(
                "a load hits what the store before it has brought",
                event("cache_hit") && self.before.store_full && self.before.line == i.req_line_i
            );
            point!(
                "a store hits what the store before it has brought",
                hit && self.before.store_full && self.before.line == i.req_line_i
            );
            point!(
                "an atomic operation makes invalid what the store before it has brought",
                event("cache_invalidate") && self.before.store_full && self.before.line == i.req_line_i
            );
            point!(
                "an answer waits for a store that has taken a place",
                event("cache_fill_wait") && self.before.store_full
            );
            point!("no cache: a store of all bytes", absent && !cached && ready, given = !self.sizes.is_empty());
            point!(
                "a store takes a place in the largest cache",
                full && Some(&i.log_i) == self.sizes.last(),
                given = !self.sizes.is_empty()
            );
        }
    }

    /// Loads with the hint to bypass the cache.
    fn bypasses(&self, i: &CacheIn, o: &CacheOut, p: &CacheProbe, points: &mut Points) {
        let event = |name: &str| part(CACHE_EVENT, o.event_o.into(), name) == 1;
        let marked = i.req_valid_i == 1 && i.req_bypass_i == 1;
        let (hit, open) = (p.tags.hit_o == 1, p.misses.open_o == 1);
        let leaves = marked && o.req_ready_o == 1;
        #[given(!self.hints)]
        {
            point!("a load with a mark that is not heeded hits", marked && event("cache_hit"));
            point!("a load with a mark that is not heeded joins", marked && event("cache_merge"));
        }
        #[given(self.hints)]
        {
            let waits = event("cache_wait_row");
            point!("a load passes a line by that is there", leaves && hit);
            point!(
                "a load passes a line by that is there, another one is installed",
                leaves && hit && event("cache_fill")
            );
            point!("a load passes an open miss by", leaves && open);
            point!("a load passes an open miss by whose answer is at hand", leaves && p.misses.open_first_o == 1);
            point!("a load passes the cache by, its line is not there", leaves && !hit && !open);
            point!("a load that passes by waits for a row or a miss, its line is there", marked && hit && waits);
            point!(
                "a load that passes by waits for memory, its line is there",
                marked && hit && event("cache_wait_memory")
            );
            point!(
                "a load passes by as the data of the cache is occupied",
                leaves && hit && p.access.in_ready_o == 0,
                given = !self.sizes.is_empty()
            );
            point!("a load without a mark hits", !marked && event("cache_hit"));
            point!("a load without a mark misses", !marked && event("cache_miss") && i.req_valid_i == 1);
            point!(
                "a load passes the cache by in the smallest cache",
                leaves && Some(&i.log_i) == self.sizes.get(1),
                given = !self.sizes.is_empty()
            );
            point!("no cache: a load that would pass by", leaves && i.log_i == 0, given = !self.sizes.is_empty());
        }
    }

    /// Points that unified memory adds.
    #[given(!self.sizes.is_empty())]
    fn unified(&self, i: &CacheIn, o: &CacheOut, points: &mut Points) {
        let event = |name: &str| part(CACHE_EVENT, o.event_o.into(), name) == 1;
        let (log, before) = (i.log_i, self.log);
        let resized = log != before;
        let is = |kind: u8| i.req_valid_i == 1 && i.req_kind_i == kind;
        let (hit, miss, store) = (event("cache_hit"), event("cache_miss"), event("cache_store"));
        let (fill, part_of, wait) = (event("cache_fill"), event("cache_part"), event("cache_fill_wait"));
        let none = log == 0;
        point!("the cache becomes larger", resized && before != 0 && log > before);
        point!("the cache becomes smaller", resized && log != 0 && log < before);
        point!("there is no cache any more", resized && none);
        point!("hit in the smallest cache", hit && log == self.sizes[1]);
        point!("hit in the largest cache", hit && Some(&log) == self.sizes.last());
        point!("no cache: a load goes to memory for its lanes only", none && miss && o.mem_req_whole_o == 0);
        point!("a load goes to memory for the whole line", miss && o.mem_req_whole_o == 1);
        point!(
            "no cache: a load does not join one of its line that waits",
            none && miss && self.missed == Some(i.req_line_i)
        );
        point!("no cache: a load waits for a row or a miss", none && is(LOAD) && event("cache_wait_row"));
        point!("no cache: a store", none && store);
        point!("no cache: an atomic operation", none && event("cache_atomic"));
        point!("no cache: a row takes its lanes", none && event("cache_serve"));
        point!("no cache: an answer is not whole", none && event("cache_serve") && o.fault_valid_o == 1);
        let read_free = is_free(i.read_ready_i, o.ram_read_entry_o);
        let write_free = is_free(i.write_ready_i, o.ram_write_entry_o);
        let (reads, writes) = (o.ram_read_o == 1, o.ram_write_o == 1);
        point!("a load is read", reads && read_free);
        point!("a load waits for its column", reads && !read_free);
        point!(
            "a request waits for the data, a load waits for its column",
            reads && !read_free && event("cache_wait_access")
        );
        point!("bytes are written", writes && write_free);
        point!("a store waits for its column", writes && !write_free);
        point!(
            "a request waits for the data, a store waits for its column",
            writes && !write_free && event("cache_wait_access")
        );
        point!(
            "a hit waits as no register is read or written",
            event("cache_wait_access") && i.read_ready_i & i.write_ready_i == 0xf
        );
        point!("a line waits for registers", wait && !writes && i.req_valid_i == 0);
        point!(
            "a line that waits for registers, all columns but one are free",
            wait && !writes && i.req_valid_i == 0 && i.write_ready_i.count_ones() == 3
        );
        point!("a line is installed, its column alone is free", fill && i.write_ready_i.is_power_of_two());
        point!("a line is installed as a load waits for its column", fill && reads && !read_free);
        point!("a line is installed as a load is read", fill && reads && read_free);
        point!(
            "a line that is not whole waits for registers",
            wait && !writes && i.req_valid_i == 0 && i.write_ready_i == 0
        );
        point!("a line that is not whole comes as some columns are not free", part_of && i.write_ready_i != 0xf);
        point!("a store hits as its column is not free", event("cache_store_hit") && i.write_ready_i == 0);
    }

    fn requests(&self, i: &CacheIn, o: &CacheOut, points: &mut Points) {
        let event = |name: &str| part(CACHE_EVENT, o.event_o.into(), name) == 1;
        let (hit, merge, miss) = (event("cache_hit"), event("cache_merge"), event("cache_miss"));
        let (store, store_hit) = (event("cache_store"), event("cache_store_hit"));
        let (atomic, invalidate, close) = (event("cache_atomic"), event("cache_invalidate"), event("cache_close"));
        let (access, row, memory) = (event("cache_wait_access"), event("cache_wait_row"), event("cache_wait_memory"));
        let wanted = i.req_answer_i == 1;
        let Self { before, .. } = self;
        let again = before.line == i.req_line_i;
        let valid = i.req_valid_i == 1;
        let is = |kind: u8| valid && i.req_kind_i == kind;
        let leaves = valid && o.req_ready_o == 1;
        point!("a load hits", hit);
        point!("a load joins a miss", merge);
        point!("a load misses", miss);
        point!("a store misses", store && !store_hit && !close);
        point!("a store hits", store_hit);
        point!("a store closes a miss", store && close);
        point!("an atomic operation, its line is not there", atomic && !invalidate && !close);
        point!("an atomic operation makes its line invalid", invalidate && !wanted);
        point!("an atomic operation with an answer makes its line invalid", invalidate && wanted);
        point!("an atomic operation closes a miss", atomic && close && !wanted);
        point!("an atomic operation with an answer closes a miss", atomic && close && wanted);
        point!("a load hits what the store before it has changed", hit && before.store_hit && again);
        point!("a store hits what the load before it reads", store_hit && before.hit && again);
        point!("a store hits what the store before it has changed", store_hit && before.store_hit && again);
        point!(
            "a load misses what the atomic operation before it has made invalid",
            miss && before.invalidate && again
        );
        point!("a load hits what was installed at the edge of its pass", hit && before.kept);
        point!("a load waits for the data", access && is(LOAD));
        point!("a store waits for the data", access && is(STORE), given = self.rows > 4);
        point!(
            "a store waits for the data, memory would take it",
            access && is(STORE) && i.mem_req_ready_i == 1,
            given = self.rows > 4
        );
        point!("a load waits for a row or a miss", row && is(LOAD));
        point!("an atomic operation waits for a row or a miss", row && is(ATOMIC));
        point!("a load waits for memory", memory && is(LOAD));
        point!("a store waits for memory", memory && is(STORE));
        point!("an atomic operation waits for memory", memory && is(ATOMIC));
        point!("the first request of a texture fetch", leaves && is(TEXTURE) && !wanted);
        point!("the last request of a texture fetch", leaves && is(TEXTURE) && wanted);
        point!("a texture fetch waits for a row or a miss", row && is(TEXTURE));
        point!("a texture fetch waits for memory", memory && is(TEXTURE));
        point!("memory waits for a request", i.mem_req_ready_i == 1 && o.mem_req_valid_o == 0);
        point!("a load has waited for a row, and joins", merge && before.wait_row, given = self.rows <= 16);
        point!(
            "a load has waited for a row, and its line has come",
            hit && before.wait_row,
            given = self.rows <= 16 && !self.hints
        );
        point!("a load has waited for a row, and misses", miss && before.wait_row);
        point!("a store has waited for memory", store && before.wait_memory);
        point!("a load that has waited for the data", hit && before.wait_access);
        point!("a request replaces another one", leaves && i.pass_valid_i == 1);
        point!("a request leaves, none follows", leaves && i.pass_valid_i == 0);
        point!("a request comes into an empty register", !valid && i.pass_valid_i == 1);
        point!("a request stays", valid && !leaves);
        point!("a request stays as its line is installed", valid && !leaves && event("cache_fill"));
        point!("no number of a load is free", o.room_o == 0, given = self.rows <= 16);
        point!(
            "as many answers are to come as there are misses",
            self.asked.len() == self.misses,
            given = self.misses <= self.rows
        );
        point!("the first load after a flush", miss && self.flushed);
        point!("flush", i.flush_i == 1);
        point!("flush as a request comes", i.flush_i == 1 && i.pass_valid_i == 1);
        point!("a request, nothing else", valid && self.asked.is_empty() && o.idle_o == 0);
        point!("idle", o.idle_o == 1);
        point!("reset under load", i.rst_ni == 0 && valid && self.asked.len() > 1);
        point!("a pass under reset", i.rst_ni == 0 && i.row_valid_i == 1);
    }

    fn answers(&self, i: &CacheIn, o: &CacheOut, points: &mut Points) {
        let event = |name: &str| part(CACHE_EVENT, o.event_o.into(), name) == 1;
        let (fill, drop, part_of, wait) =
            (event("cache_fill"), event("cache_drop"), event("cache_part"), event("cache_fill_wait"));
        let (merge, close, serve) = (event("cache_merge"), event("cache_close"), event("cache_serve"));
        let (result, pop) = (o.result_valid_o == 1, i.pop_i == 1);
        let taken = i.mem_rsp_valid_i == 1 && o.mem_rsp_ready_o == 1;
        point!("a line is installed", fill);
        point!("a line is not installed, its way is pinned", drop, given = self.ways < 8);
        point!("a line that is not whole comes", part_of);
        point!("a line waits", wait);
        point!("a line waits for a store", wait && !close);
        point!("a line waits, its miss is closed", wait && close);
        point!("a line has waited and is installed", fill && self.before.fill_wait);
        point!("a line is installed as another one is read", fill && event("cache_hit"));
        point!("a line is installed as a load joins", fill && merge);
        point!("a line is installed as a miss is closed", fill && close);
        point!("a line is installed as another one becomes invalid", fill && event("cache_invalidate"));
        point!("a line is installed as a load misses", fill && event("cache_miss"));
        point!("a line is not installed as a load joins", (drop || part_of) && merge);
        point!("a row takes its lanes", serve);
        point!("a row takes its lanes as the line is installed", serve && fill);
        point!("rows of one answer follow each other", serve && self.before.fill);
        point!("an answer of an atomic operation", taken && self.asked.front() == Some(&false));
        point!("an answer of a load", taken && self.asked.front() == Some(&true));
        point!("an answer is refused", i.mem_rsp_valid_i == 1 && !taken);
        point!("there is no such place", o.fault_valid_o == 1 && serve);
        point!("there is no such place, the row waits", o.fault_valid_o == 1 && !serve);
        point!("a result goes", pop && o.result_o.done() == 0);
        point!("the last result of a load goes", pop && o.result_o.done() == 1);
        point!("a result waits", result && !pop);
        point!("a result without a register", pop && o.result_reg_valid_o == 0);
        point!("a hit without a latency", i.cfg_i & 0x3f == 0 && event("cache_hit"));
        point!("a hit with a latency", i.cfg_i & 0x3f > 8 && event("cache_hit"));
    }
}
