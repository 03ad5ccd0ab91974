//! `cache`: the data cache. `docs/blocks/cache.md`.

use std::mem::offset_of;

use crate::cache::cache_access::{Hit, StoreHit, shows_wants};
use crate::cache::cache_misses::MissesEdge;
use crate::cache::cache_results::{Part, shows_result};
use crate::cache::cache_tags::TagsEdge;
use crate::cache::row::{ROW_WORDS, RowPort};
use crate::cache::{
    CACHE_EVENT, CACHE_EVENT_BITS, CacheAccess, CacheAccessOut, CacheAccessProbe, CacheMisses, CacheMissesOut,
    CacheMissesProbe, CacheResults, CacheResultsOut, CacheResultsProbe, CacheRow, CacheTags, CacheTagsOut,
    CacheTagsProbe, LineAnswer, ROW_BITS, inside,
};
use crate::config::Config;
use crate::execute::{ResultWord, UnitResult};
use crate::instances::record;
use crate::memory::access::kind;
use crate::memory::{Header, LINE_BITS, OFFSET_BITS, Request, Row};
use crate::mrf::bits::{is_set, pack};
use crate::ram::LINE_BYTES;
use crate::shape::SmShape;
use crate::unified::{COLUMNS, CacheColumns, CacheWants, LOG_W, LineWrite};
use crate::{Block, Decode, Field, LANES, Memory, Ports, REG_BITS, WARP_BITS, WarpData, Wide, field, packed, ports};

/// Width of the straps: latency of hits, and above it replacement, full stores and hints.
const CFG_BITS: u32 = 9;
/// Bits of the latency.
const LATENCY: u16 = 0x3f;
/// Bit of the straps: replacement is first in, first out.
const FIFO: usize = 6;
/// Bit of the straps: a store of all bytes of a line that misses allocates an entry.
const FULL_STORES: usize = 7;
/// Bit of the straps: loads whose hints say so bypass the cache.
const HINTS: usize = 8;

/// The latency of hits, taken from the straps.
#[inline]
fn latency(cfg: u16) -> u8 {
    (cfg & LATENCY) as u8
}

ports! {
    /// Inputs of [`Cache`].
    pub struct CacheIn(s: &SmShape) {
        /// Values of the request, 0 for loads.
        req_data_i: WarpData = field(1024).valid_by("req_valid_i"),
        /// The line, or a word for each lane.
        mem_rsp_data_i: WarpData = field(1024).valid_by("mem_rsp_valid_i"),
        /// Line that was read in the banks at the last edge.
        data_i: WarpData = field(1024).when(s.unified()),
        /// Line of the pass.
        pass_line_i: u32 = field(LINE_BITS).valid_by("pass_valid_i"),
        /// Lanes of the row.
        row_mask_i: u32 = field(LANES).valid_by("row_valid_i"),
        /// Line of the request.
        req_line_i: u32 = field(LINE_BITS).valid_by("req_valid_i"),
        /// Lanes of the request.
        req_mask_i: u32 = field(LANES).valid_by("req_valid_i"),
        /// Straps: bits 5:0 the latency of hits, bit 6: first in, first out, bit 7: full stores, bit 8: hints.
        cfg_i: u16 = field(CFG_BITS),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// All lines become invalid at this edge.
        flush_i: u8 = field(1),
        /// The coalescer performs a pass at this edge.
        pass_valid_i: u8 = field(1),
        /// The pass has an answer.
        row_valid_i: u8 = field(1),
        /// The pass is the first one of its instruction that the coalescer serves.
        row_first_i: u8 = field(1).valid_by("row_valid_i"),
        /// Warp of the row.
        row_warp_i: u8 = field(WARP_BITS).valid_by("row_valid_i"),
        /// The row writes a register.
        row_reg_valid_i: u8 = field(1).valid_by("row_valid_i"),
        /// Register of the row.
        row_reg_i: u8 = field(REG_BITS).valid_by("row_reg_valid_i"),
        /// Bytes of the row as a power of two.
        row_size_i: u8 = field(2).valid_by("row_valid_i"),
        /// Sign extension.
        row_signed_i: u8 = field(1).valid_by("row_valid_i"),
        /// The answer has a word for each lane instead of a line.
        row_lanewise_i: u8 = field(1).valid_by("row_valid_i"),
        /// The row is the last one of its instruction.
        row_done_i: u8 = field(1).valid_by("row_valid_i"),
        /// Place of each lane's first byte in the line of the row.
        row_offset_i: [u8; LANES] = field(OFFSET_BITS).count(LANES).valid_by("row_valid_i"),
        /// There is a request.
        req_valid_i: u8 = field(1),
        /// Kind of access: 0 load, 1 store, 2 atomic operation.
        req_kind_i: u8 = field(2).valid_by("req_valid_i"),
        /// Bytes of the request as a power of two.
        req_size_i: u8 = field(2).valid_by("req_valid_i"),
        /// An answer is expected.
        req_answer_i: u8 = field(1).valid_by("req_valid_i"),
        /// The request is a load that is to pass the cache by.
        req_bypass_i: u8 = field(1).valid_by("req_valid_i"),
        /// Place of each lane's first byte in the line of the request.
        req_offset_i: [u8; LANES] = field(OFFSET_BITS).count(LANES).valid_by("req_valid_i"),
        /// Memory takes the request at this edge.
        mem_req_ready_i: u8 = field(1),
        /// An answer is offered.
        mem_rsp_valid_i: u8 = field(1),
        /// The answer says that there is no such place.
        mem_rsp_fault_i: u8 = field(1).valid_by("mem_rsp_valid_i"),
        /// Bytes of the answer's line that exist.
        mem_rsp_present_i: u8 = field(8).valid_by("mem_rsp_valid_i"),
        /// The result is taken at this edge.
        pop_i: u8 = field(1),
        /// Logarithm of the number of lines; 0: no cache.
        log_i: u8 = field(LOG_W).when(s.unified()),
        /// Column b is free for a read.
        read_ready_i: u8 = field(COLUMNS).when(s.unified()),
        /// Column b is free for a write.
        write_ready_i: u8 = field(COLUMNS).when(s.unified()),
    }
}

/// Inputs that are read with unified memory only.
const UNIFIED_INPUTS: &[&str] = &["data_i", "log_i", "read_ready_i", "write_ready_i"];

ports! {
    /// Outputs of [`Cache`].
    pub struct CacheOut(s: &SmShape) {
        /// Lanes of the register.
        result_data_o: WarpData = field(1024).valid_by("result_reg_valid_o"),
        /// Bytes that are to be written to the banks.
        ram_write_data_o: WarpData = field(1024).valid_by("ram_write_o"),
        /// Places of the bytes that are to be written to the banks.
        ram_write_bytes_o: Wide<4> = field(LINE_BYTES).valid_by("ram_write_o"),
        /// Entry that is to be read in the banks; 0 without one.
        ram_read_entry_o: u16 = field(s.line_entry_w()).valid_by("ram_read_o").early(),
        /// Entry that is to be written in the banks; 0 without one.
        ram_write_entry_o: u16 = field(s.line_entry_w()).valid_by("ram_write_o"),
        /// The result.
        result_o: ResultWord = packed::<ResultWord>().valid_by("result_valid_o"),
        /// Events: `cache_event_t`.
        event_o: u32 = field(CACHE_EVENT_BITS).shown(Decode::Packed(CACHE_EVENT)),
        /// A row may come.
        room_o: u8 = field(1).early(),
        /// The request leaves at this edge, if there is one.
        req_ready_o: u8 = field(1),
        /// The request is offered to memory.
        mem_req_valid_o: u8 = field(1),
        /// The whole line is wanted.
        mem_req_whole_o: u8 = field(1).valid_by("mem_req_valid_o"),
        /// An answer is taken at this edge if also valid.
        mem_rsp_ready_o: u8 = field(1).early(),
        /// A result is offered.
        result_valid_o: u8 = field(1),
        /// The result writes a register.
        result_reg_valid_o: u8 = field(1),
        /// A row accesses a place that does not exist.
        fault_valid_o: u8 = field(1).early(),
        /// Warp of the row at fault.
        fault_warp_o: u8 = field(WARP_BITS).valid_by("fault_valid_o").early(),
        /// There is no request, no hit that reads or writes, no miss.
        idle_o: u8 = field(1),
        /// A line is to be read in the banks.
        ram_read_o: u8 = field(1).early(),
        /// Bytes of a line are to be written in the banks.
        ram_write_o: u8 = field(1),
    }
}

shows_result!(CacheOut);
shows_wants!(CacheOut);

ports! {
    /// Registers of [`Cache`].
    pub struct CacheState(s: &SmShape) {
        /// Row of the last request with an answer.
        row_q: RowPort = field(ROW_BITS),
        /// Number of that request's load.
        load_q: u8 = field(s.row_w()),
    }
}

/// What lockstep compares inside [`Cache`]: its registers, and outputs and registers of its blocks.
#[derive(Clone, Copy)]
#[repr(C)]
#[allow(missing_docs, reason = "each field is that of the block of its name")]
pub struct CacheProbe {
    pub state: CacheState,
    pub tags: CacheTagsOut,
    pub tags_state: CacheTagsProbe,
    pub misses: CacheMissesOut,
    pub misses_state: CacheMissesProbe,
    pub access: CacheAccessOut,
    pub access_state: CacheAccessProbe,
    pub results: CacheResultsOut,
    pub results_state: CacheResultsProbe,
}

/// Nets about the request: they have no meaning without one.
const OF_REQUEST: &[&str] = &["cache_tags_hit", "cache_tags_entry", "cache_misses_open", "cache_misses_open_first"];

// SAFETY: `repr(C)`, made of structs of ports.
unsafe impl Ports for CacheProbe {
    type Shape = SmShape;

    fn fields(s: &SmShape) -> Vec<Field> {
        let mut fields = CacheState::fields(s);
        let at = [offset_of!(Self, tags), offset_of!(Self, tags_state)];
        inside::<CacheTags>("cache_tags", "u_cache_tags", s, at, &mut fields);
        let at = [offset_of!(Self, misses), offset_of!(Self, misses_state)];
        inside::<CacheMisses>("cache_misses", "u_cache_misses", s, at, &mut fields);
        let at = [offset_of!(Self, access), offset_of!(Self, access_state)];
        inside::<CacheAccess>("cache_access", "u_cache_access", s, at, &mut fields);
        let at = [offset_of!(Self, results), offset_of!(Self, results_state)];
        inside::<CacheResults>("cache_results", "u_cache_results", s, at, &mut fields);
        for field in fields.iter_mut().filter(|field| OF_REQUEST.contains(&field.name)) {
            field.valid_by = Some("req_valid_i");
        }
        fields
    }
}

/// The outcome of the request's look-up, and what the request waits for.
#[derive(Clone, Copy, Debug)]
struct Look {
    /// Entry that holds the request's line.
    hit: Option<u16>,
    /// Open miss for the request's line.
    open: Option<usize>,
    /// The request bypasses the cache.
    bypass: bool,
    /// The request is a store of all bytes of a line that misses, and the data stages of the cache can take it.
    full: bool,
    /// The request has to go to memory.
    memory: bool,
    /// The request waits for the data stages of the cache.
    access: bool,
    /// The request waits for a row or a miss.
    row: bool,
}

impl Look {
    /// Whether the request is offered to memory.
    #[inline]
    fn is_offered(&self) -> bool {
        self.memory && !self.access && !self.row
    }

    /// Whether the request leaves, if `ready` says that memory takes it.
    #[inline]
    fn leaves(&self, ready: bool) -> bool {
        !self.access && !self.row && (!self.memory || ready)
    }
}

/// Decisions of one cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct CachePass {
    look: Option<Look>,
    leaves: bool,
    /// Entry allocated for the line that a full store brings, when the store leaves.
    full: Option<u16>,
    /// The fill that is taken: its line, whether the line is whole, and the entry allocated for it.
    fill: Option<(u32, bool, Option<u16>)>,
    /// A fill is offered and not taken.
    fill_waits: bool,
}

impl CachePass {
    /// Whether the request leaves, if there is one.
    #[inline]
    pub fn ready(&self) -> bool {
        self.look.is_none() || self.leaves
    }

    /// The entry of the request's line, if the request leaves and does not bypass the cache.
    #[inline]
    fn hit(&self) -> Option<u16> {
        self.look.filter(|look| self.leaves && !look.bypass).and_then(|look| look.hit)
    }

    /// The entry of the line that is installed: by a full store, or by a fill.
    #[inline]
    fn kept(&self) -> Option<u16> {
        self.full.or_else(|| self.fill.and_then(|(.., entry)| entry))
    }
}

/// Inputs of the cache in a cycle.
#[derive(Clone, Copy)]
pub struct CacheCycle<'a> {
    /// Straps, as on `cfg_i`.
    pub cfg: u16,
    /// All lines are invalidated.
    pub flush: bool,
    /// The request at hand.
    pub request: Option<&'a Request>,
    /// The result of [`decide`](Cache::decide).
    pub pass: &'a CachePass,
    /// Line of the coalescer's pass.
    pub line: Option<u32>,
    /// Row of the coalescer's pass, and whether it is the first one of its instruction.
    pub row: Option<(Row<'a>, bool)>,
    /// An answer of memory.
    pub answer: Option<LineAnswer<'a>>,
    /// The result is taken.
    pub pop: bool,
}

impl CacheCycle<'_> {
    #[inline]
    fn latency(&self) -> u8 {
        latency(self.cfg)
    }

    #[inline]
    fn part(&self) -> Option<Part> {
        self.row.map(|(row, first)| Part { first, last: row.header.done })
    }
}

/// Looks up requests and decides how they proceed. The coalescer's request register is its first stage.
///
/// A direct caller asks for the decisions on the current request ([`decide`](Self::decide)) and for the result on the result bus ([`result`](Self::result)), and
/// ends the cycle with [`advance`](Self::advance).
#[derive(Clone)]
pub struct Cache {
    row_w: u32,
    unified: bool,
    tags: CacheTags,
    misses: CacheMisses,
    access: CacheAccess,
    results: CacheResults,
    // The harness sees these as memories of one word.
    row_q: [u32; ROW_WORDS],
    load_q: [u32; 1],
}

impl Cache {
    /// Whether a row is accepted.
    #[inline]
    pub fn room(&self) -> bool {
        self.results.room()
    }

    /// Whether an answer is taken at this edge.
    #[inline]
    pub fn ready(&self) -> bool {
        self.misses.ready()
    }

    /// The warp of the next row to be served, if the row accesses a place that does not exist.
    #[inline]
    pub fn fault(&self) -> Option<u8> {
        self.misses.fault()
    }

    /// Whether nothing but results is in flight.
    #[inline]
    pub fn idle(&self, request: Option<&Request>) -> bool {
        request.is_none() && self.access.empty() && self.misses.empty()
    }

    /// Whether cycles without input change nothing but counts of time: no answer is at hand, and no hit except those that wait for their latency. Misses may
    /// wait for their answers, and a request may wait for a miss.
    #[inline]
    pub fn is_still(&self) -> bool {
        self.access.empty() && self.misses.waits() && self.tags.is_still()
    }

    /// Cycles until a hit is offered, counted from this cycle: 0 while one is offered, none without any hit.
    #[inline]
    pub fn hit_waits(&self) -> Option<u64> {
        self.results.waits()
    }

    /// Lets that many cycles pass, in which nothing arrives or leaves.
    #[inline]
    pub fn pass_time(&mut self, cycles: u64) {
        self.results.pass(cycles);
    }

    /// The look-up of a request; depends on state alone. `cfg`: the straps.
    #[inline]
    fn look(&self, cfg: u16, request: &Request) -> Look {
        let (hit, open) = (self.tags.look(request.line), self.misses.find(request.line));
        let access_ready = self.access.ready(self.results.ready());
        let bypass = request.kind == kind::LOAD && request.bypass && is_set(cfg, HINTS);
        let full = request.kind == kind::STORE
            && is_set(cfg, FULL_STORES)
            && hit.is_none()
            && access_ready
            && StoreHit::of(request).writes_whole_line();
        let (access, row, miss, memory) = match request.kind {
            kind::LOAD if bypass => (false, true, true, true),
            kind::LOAD if hit.is_some() => (true, false, false, false),
            kind::LOAD => (false, true, open.is_none(), open.is_none()),
            kind::STORE => (hit.is_some(), false, false, true),
            _ => (false, request.answer, request.answer, true),
        };
        Look {
            hit,
            open,
            bypass,
            full,
            memory,
            access: access && !access_ready,
            row: row && !self.misses.row_room() || miss && !self.misses.room(),
        }
    }

    /// Whether a request is offered to memory, and whether its whole line is wanted; depends on state alone. `cfg`: the straps.
    #[inline]
    pub fn offers(&self, cfg: u16, request: &Request) -> (bool, bool) {
        let look = self.look(cfg, request);
        (look.is_offered(), self.wants_whole(request, &look))
    }

    /// Whether the whole line of a request is wanted, given the look-up.
    #[inline]
    fn wants_whole(&self, request: &Request, look: &Look) -> bool {
        look.is_offered() && request.kind == kind::LOAD && !look.bypass && self.tags.has_lines()
    }

    /// Decides what happens to the current request and to the answer. `cfg`: the straps; `ready`: memory takes a request.
    #[inline]
    pub fn decide(&self, cfg: u16, request: Option<&Request>, ready: bool) -> CachePass {
        let look = request.map(|request| self.look(cfg, request));
        let leaves = look.is_some_and(|look| look.leaves(ready));
        let mut pass = CachePass { look, leaves, full: None, fill: None, fill_waits: false };
        let full = request.filter(|_| leaves && look.is_some_and(|look| look.full));
        if let Some(request) = full {
            pass.full = self.tags.place(request.line, [self.access.pin(), None]);
        }
        let Some((line, whole)) = self.misses.fill() else { return pass };
        // A store to the line of the answer, or an atomic operation that leaves.
        let changes = |request: &Request| request.kind == kind::STORE || leaves && request.kind == kind::ATOMIC;
        let closes = request.is_some_and(changes)
            && look.and_then(|look| look.open).is_some_and(|miss| self.misses.is_first(miss));
        // The tags look up one line in a cycle.
        if full.is_some() || closes || self.access.writes() || !self.access.has_column(line) {
            pass.fill_waits = true;
            return pass;
        }
        let touched = pass.hit().filter(|_| request.is_some_and(|request| request.kind <= kind::STORE));
        let entry = if whole { self.tags.place(line, [self.access.pin(), touched]) } else { None };
        pass.fill = Some((line, whole, entry));
        pass
    }

    /// Sets the view of the unified banks in a cycle, with unified memory: the logarithm of the number of lines (0: there are none), the free columns, and the
    /// data read at the last edge.
    #[inline]
    pub fn see(&mut self, log: u8, columns: CacheColumns, data: &WarpData) {
        self.tags.divide(log);
        self.access.see(columns, data);
    }

    /// The accesses to the unified banks that the cache wants.
    #[inline]
    pub fn wants(&self, pass: &CachePass) -> CacheWants<'_> {
        self.access.wants(self.fill(pass), self.results.ready())
    }

    /// The line that is installed, and its entry.
    #[inline]
    fn fill(&self, pass: &CachePass) -> Option<(u16, &WarpData)> {
        pass.fill.and_then(|(.., entry)| Some((entry?, self.misses.fill_data())))
    }

    /// The result that is offered to the result bus, and its data, meaningful where the result writes a register. `cfg`: the straps.
    #[inline]
    pub fn result(&self, cfg: u16) -> Option<(UnitResult, &WarpData)> {
        let offered = self.results.offer(latency(cfg), self.access.push(), self.misses.result());
        offered.map(|offered| (offered.result, offered.data))
    }

    /// `cache_event_t`.
    #[inline]
    pub fn event(&self, cycle: &CacheCycle<'_>) -> u32 {
        let pass = cycle.pass;
        let serves = self.misses.serves(self.pops_miss(cycle));
        if pass.look.is_none() && pass.fill.is_none() && !pass.fill_waits && !serves {
            return 0;
        }
        let of = |wanted: u8| pass.leaves && cycle.request.is_some_and(|request| request.kind == wanted);
        let (load, store, atomic) = (of(kind::LOAD), of(kind::STORE), of(kind::ATOMIC));
        let found = |is: fn(&Look) -> bool| pass.look.as_ref().is_some_and(is);
        let (hit, open) = (found(|look| look.hit.is_some()), found(|look| look.open.is_some()));
        let bypass = found(|look| look.bypass);
        let access = found(|look| look.access);
        let row = !access && found(|look| look.row);
        let whole = pass.fill.is_some_and(|(_, whole, _)| whole);
        let kept = pass.fill.is_some_and(|(.., entry)| entry.is_some());
        let events = [
            load && hit && !bypass,
            load && !hit && open && !bypass,
            load && (!hit && !open || bypass),
            store,
            store && hit,
            pass.full.is_some(),
            atomic,
            atomic && hit,
            (store || atomic) && open,
            kept,
            whole && !kept,
            pass.fill.is_some() && !whole,
            serves,
            access,
            row,
            found(Look::is_offered) && !pass.leaves,
            pass.fill_waits,
        ];
        pack(CACHE_EVENT, events.map(u32::from)) as u32
    }

    /// Whether the result that is taken is an answer of memory.
    #[inline]
    fn pops_miss(&self, cycle: &CacheCycle<'_>) -> bool {
        cycle.pop && self.misses.result().is_some()
    }

    /// Performs the clock edge. In reset, writes only the state that has no reset.
    #[inline]
    pub fn advance(&mut self, cycle: &CacheCycle<'_>, running: bool) {
        let pops_miss = self.pops_miss(cycle);
        let (latency, push_ready) = (cycle.latency(), self.results.ready());
        let load = cycle.row.map(|(_, first)| self.results.number(first).0);
        let goes = self.results.offer(latency, self.access.push(), self.misses.result()).map(|offered| offered.load);
        let goes = goes.filter(|_| cycle.pop).map(|load| (load, pops_miss));
        self.results.advance(latency, cycle.part(), self.access.push(), goes);
        self.clock_tags(cycle);
        self.clock_access(cycle, push_ready);
        self.clock_misses(cycle, pops_miss, running);
        if !running {
            self.results.reset();
            self.tags.reset();
            self.access.reset();
        }
        if let Some(((row, _), load)) = cycle.row.zip(load) {
            (self.row_q, self.load_q) = (CacheRow::from(&row).0, [load.into()]);
        }
    }

    fn clock_tags(&mut self, cycle: &CacheCycle<'_>) {
        let stays = cycle.request.filter(|_| !cycle.pass.leaves).map(|request| request.line);
        let hit = cycle.pass.hit();
        let kind = cycle.request.map(|request| request.kind);
        self.tags.advance(&TagsEdge {
            fifo: is_set(cycle.cfg, FIFO),
            flush: cycle.flush,
            read: cycle.line.or(stays),
            touch: hit.filter(|_| matches!(kind, Some(kind::LOAD | kind::STORE))),
            invalidate: hit.filter(|_| kind == Some(kind::ATOMIC)),
            fill: match (cycle.pass.full, cycle.request) {
                (Some(entry), Some(request)) => Some((request.line, entry)),
                _ => cycle.pass.fill.and_then(|(line, _, entry)| Some((line, entry?))),
            },
        });
    }

    fn clock_access(&mut self, cycle: &CacheCycle<'_>, push_ready: bool) {
        let row = CacheRow(self.row_q);
        let load = self.load_q[0] as u8;
        let entry = cycle.pass.full.or_else(|| cycle.pass.hit());
        let hit = entry.zip(cycle.request).and_then(|(entry, request)| match request.kind {
            kind::LOAD => Some((entry, Hit::Load(&row, load))),
            kind::STORE => Some((entry, Hit::Store(StoreHit::of(request)))),
            _ => None,
        });
        let fill = cycle.pass.fill.and_then(|(.., entry)| Some((entry?, self.misses.fill_data())));
        self.access.advance(hit, fill, push_ready);
    }

    fn clock_misses(&mut self, cycle: &CacheCycle<'_>, pop: bool, running: bool) {
        let row = CacheRow(self.row_q);
        let mut edge = MissesEdge {
            line: cycle.request.map_or(0, |request| request.line),
            answer: cycle.answer,
            fill_ready: cycle.pass.fill.is_some(),
            pop,
            ..MissesEdge::default()
        };
        if let (Some(request), Some(look)) = (cycle.request, cycle.pass.look.filter(|_| cycle.pass.leaves)) {
            let load = request.kind == kind::LOAD;
            let waits =
                if load { look.hit.is_none() || look.bypass } else { request.kind > kind::STORE && request.answer };
            edge.row = waits.then_some((&row, self.load_q[0] as u8));
            edge.allocate = (waits && look.memory).then_some(self.wants_whole(request, &look));
            edge.close = matches!(request.kind, kind::STORE | kind::ATOMIC);
        }
        if running { self.misses.advance(&edge) } else { self.misses.reset(&edge) }
    }

    /// Records the signals that are compared inside the cache.
    pub fn record(&self, cycle: &CacheCycle<'_>, probe: &mut CacheProbe) {
        let pass = cycle.pass;
        (probe.state.row_q, probe.state.load_q) = (Wide(self.row_q), self.load_q[0] as u8);
        let look = pass.look.as_ref();
        let (hit, open) = (look.and_then(|look| look.hit), look.and_then(|look| look.open));
        let kept = pass.kept();
        probe.tags = CacheTagsOut {
            entry_o: hit.unwrap_or_default(),
            fill_entry_o: kept.unwrap_or_default(),
            hit_o: hit.is_some().into(),
            fill_keep_o: kept.is_some().into(),
        };
        record(&self.tags, &mut probe.tags_state);
        self.misses.early(&mut probe.misses);
        probe.misses.open_o = open.is_some().into();
        probe.misses.open_first_o = open.is_some_and(|miss| self.misses.is_first(miss)).into();
        probe.misses.serve_o = self.misses.serves(self.pops_miss(cycle)).into();
        record(&self.misses, &mut probe.misses_state);
        self.access.early(&mut probe.access);
        if self.unified {
            self.access.show_data(&mut probe.access);
            probe.access.show_wants(&self.wants(pass));
        }
        probe.access.in_ready_o = self.access.ready(self.results.ready()).into();
        record(&self.access, &mut probe.access_state);
        self.results.early(&mut probe.results);
        probe.results.row_load_o = cycle.row.map_or(0, |(_, first)| self.results.number(first).0);
        probe.results.miss_pop_o = self.pops_miss(cycle).into();
        probe.results.show(self.result(cycle.cfg));
        self.results.record(cycle.latency(), self.access.push(), &mut probe.results_state);
    }
}

impl CacheIn {
    fn request(&self) -> Option<Request> {
        (self.req_valid_i != 0).then(|| Request {
            data: self.req_data_i,
            line: self.req_line_i,
            mask: self.req_mask_i,
            offset: self.req_offset_i,
            kind: self.req_kind_i,
            size: self.req_size_i,
            answer: self.req_answer_i != 0,
            bypass: self.req_bypass_i != 0,
            ..Request::default()
        })
    }

    fn row(&self) -> Option<(Row<'_>, bool)> {
        let row = || Row {
            header: Header {
                mask: self.row_mask_i,
                warp: self.row_warp_i,
                reg: (self.row_reg_valid_i != 0).then_some(self.row_reg_i),
                done: self.row_done_i != 0,
            },
            offset: &self.row_offset_i,
            size: self.row_size_i,
            signed: self.row_signed_i != 0,
            lanewise: self.row_lanewise_i != 0,
        };
        (self.row_valid_i != 0).then(|| (row(), self.row_first_i != 0))
    }

    fn cycle<'a>(&'a self, request: Option<&'a Request>, pass: &'a CachePass) -> CacheCycle<'a> {
        let answer = LineAnswer {
            data: &self.mem_rsp_data_i,
            fault: self.mem_rsp_fault_i != 0,
            present: self.mem_rsp_present_i,
        };
        CacheCycle {
            cfg: self.cfg_i,
            flush: self.flush_i != 0,
            request,
            pass,
            line: (self.pass_valid_i != 0).then_some(self.pass_line_i),
            row: self.row(),
            answer: (self.mem_rsp_valid_i != 0).then_some(answer),
            pop: self.pop_i != 0,
        }
    }
}

impl Block for Cache {
    const NAME: &'static str = "cache";
    const PARAMETERS: &'static [&'static str] = &["Lines", "Ways", "Misses", "Rows", "HitQueueDepth", "Unified"];
    const CHILDREN: &'static [&'static str] =
        &[CacheTags::NAME, CacheMisses::NAME, CacheAccess::NAME, CacheResults::NAME];

    type Shape = SmShape;
    type In = CacheIn;
    type Out = CacheOut;
    type Probe = CacheProbe;

    fn shape_alone(config: &Config) -> SmShape {
        config.sm_shape().with_shared_ports()
    }

    fn unused(shape: &SmShape) -> Vec<&'static str> {
        if shape.unified() { Vec::new() } else { UNIFIED_INPUTS.to_vec() }
    }

    fn new(shape: &SmShape) -> Self {
        Self {
            row_w: shape.row_w(),
            unified: shape.unified(),
            tags: CacheTags::new(shape),
            misses: CacheMisses::new(shape),
            access: CacheAccess::new(shape),
            results: CacheResults::new(shape),
            row_q: [0; ROW_WORDS],
            load_q: [0],
        }
    }

    fn early(&self, out: &mut CacheOut) {
        (out.room_o, out.mem_rsp_ready_o) = (self.room().into(), self.ready().into());
        let fault = self.fault();
        (out.fault_valid_o, out.fault_warp_o) = (fault.is_some().into(), fault.unwrap_or_default());
        let read = self.access.wanted(self.results.ready());
        (out.ram_read_o, out.ram_read_entry_o) = (read.is_some().into(), read.unwrap_or_default());
    }

    fn late(&mut self, inputs: &CacheIn, out: &mut CacheOut) {
        if self.unified {
            let columns = CacheColumns { read: inputs.read_ready_i, write: inputs.write_ready_i };
            self.see(inputs.log_i, columns, &inputs.data_i);
        }
        let request = inputs.request();
        let pass = self.decide(inputs.cfg_i, request.as_ref(), inputs.mem_req_ready_i != 0);
        if self.unified {
            out.show_wants(&self.wants(&pass));
        }
        let offered = pass.look.is_some_and(|look| look.is_offered());
        (out.req_ready_o, out.mem_req_valid_o) = (pass.ready().into(), offered.into());
        let whole = |request| pass.look.is_some_and(|look| self.wants_whole(request, &look));
        out.mem_req_whole_o = request.as_ref().is_some_and(whole).into();
        out.idle_o = self.idle(request.as_ref()).into();
        out.show(self.result(inputs.cfg_i));
        out.event_o = self.event(&inputs.cycle(request.as_ref(), &pass));
    }

    fn clock(&mut self, inputs: &CacheIn, _: &CacheOut) {
        let request = inputs.request();
        let pass = self.decide(inputs.cfg_i, request.as_ref(), inputs.mem_req_ready_i != 0);
        self.advance(&inputs.cycle(request.as_ref(), &pass), inputs.rst_ni != 0);
    }

    fn probe(&self, inputs: &CacheIn, _: &CacheOut, probe: &mut CacheProbe) {
        let request = inputs.request();
        let pass = self.decide(inputs.cfg_i, request.as_ref(), inputs.mem_req_ready_i != 0);
        self.record(&inputs.cycle(request.as_ref(), &pass), probe);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let memory = |path: &str, words, bits| Memory { path: path.into(), block: Self::NAME, words, bits };
        let mut all = vec![memory("row_q", &mut self.row_q, ROW_BITS), memory("load_q", &mut self.load_q, self.row_w)];
        all.extend(Memory::inside("u_cache_tags", self.tags.memories()));
        all.extend(Memory::inside("u_cache_misses", self.misses.memories()));
        all.extend(Memory::inside("u_cache_access", self.access.memories()));
        all.extend(Memory::inside("u_cache_results", self.results.memories()));
        all
    }
}

#[cfg(test)]
mod tests;
