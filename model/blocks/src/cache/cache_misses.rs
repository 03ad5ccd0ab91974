//! `cache_misses`: loads and requests that wait for memory. `docs/blocks/cache_misses.md`.

use crate::cache::cache_results::{LoadResult, shows_result};
use crate::cache::row::{ROW_WORDS, RowPort};
use crate::cache::{CacheRow, NARROW_SET, ROW_BITS, SET_WORDS, lowest_free, members, wide};
use crate::execute::{ResultWord, UnitResult};
use crate::memory::LINE_BITS;
use crate::mrf::bits::set_bits;
use crate::shape::SmShape;
use crate::{Block, Memory, Ports, WARP_BITS, WarpData, Wide, field, packed, ports};

/// Bytes of a line.
const LINE_BYTES: u8 = 128;
/// Capacity of the twin: the largest number of misses, and of rows.
const MAX: usize = u128::BITS as usize;

ports! {
    /// Inputs of [`CacheMisses`].
    pub struct CacheMissesIn(s: &SmShape) {
        /// The line, or a word for each lane.
        mem_rsp_data_i: WarpData = field(1024).valid_by("mem_rsp_valid_i"),
        /// The row that comes.
        row_i: RowPort = field(ROW_BITS).valid_by("row_valid_i"),
        /// Line of the request at hand.
        line_i: u32 = field(LINE_BITS),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A miss comes at this edge.
        allocate_i: u8 = field(1),
        /// The miss that comes is open.
        allocate_open_i: u8 = field(1).valid_by("allocate_i"),
        /// The open miss of the line is closed at this edge.
        close_i: u8 = field(1),
        /// A row comes at this edge.
        row_valid_i: u8 = field(1),
        /// Number of the row's load.
        row_load_i: u8 = field(s.row_w()).valid_by("row_valid_i"),
        /// An answer is offered.
        mem_rsp_valid_i: u8 = field(1),
        /// The answer says that there is no such place.
        mem_rsp_fault_i: u8 = field(1).valid_by("mem_rsp_valid_i"),
        /// Bytes of the answer's line that exist.
        mem_rsp_present_i: u8 = field(8).valid_by("mem_rsp_valid_i"),
        /// The fill is taken at this edge.
        fill_ready_i: u8 = field(1).valid_by("fill_valid_o"),
        /// The result is taken at this edge.
        result_pop_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`CacheMisses`].
    pub struct CacheMissesOut(s: &SmShape) {
        /// The answer at hand, of an open miss.
        fill_data_o: WarpData = field(1024).valid_by("fill_valid_o").early().shows("rsp_data_q"),
        /// Lanes of the register.
        result_data_o: WarpData = field(1024).valid_by("result_reg_valid_o").early().shows("result_data_q"),
        /// The result.
        result_o: ResultWord = packed::<ResultWord>().valid_by("result_valid_o").early().shows("result_q"),
        /// Line of the fill; 0 without one.
        fill_line_o: u32 = field(LINE_BITS).early(),
        /// An open miss has the line.
        open_o: u8 = field(1),
        /// The open miss of the line is the first one, and its answer is at hand.
        open_first_o: u8 = field(1),
        /// A miss is free.
        room_o: u8 = field(1).early(),
        /// A row is free.
        row_room_o: u8 = field(1).early(),
        /// No miss is in use.
        empty_o: u8 = field(1).early(),
        /// An answer is taken at this edge if also valid.
        mem_rsp_ready_o: u8 = field(1).early(),
        /// The answer at hand is of an open miss.
        fill_valid_o: u8 = field(1).early(),
        /// All bytes of the fill exist.
        fill_whole_o: u8 = field(1).early(),
        /// A row is served at this edge.
        serve_o: u8 = field(1),
        /// A result is offered.
        result_valid_o: u8 = field(1).early().shows("result_valid_q"),
        /// Number of the result's load.
        result_load_o: u8 = field(s.row_w()).valid_by("result_valid_o").early().shows("result_load_q"),
        /// The result writes a register.
        result_reg_valid_o: u8 = field(1).early().shows_while("result_reg_valid_q", "result_valid_o"),
        /// The row that is the next to be served accesses a place that does not exist.
        fault_valid_o: u8 = field(1).early(),
        /// Warp of the row at fault.
        fault_warp_o: u8 = field(WARP_BITS).valid_by("fault_valid_o").early(),
    }
}

shows_result!(CacheMissesOut);

ports! {
    /// State of [`CacheMisses`] that no output shows.
    pub struct CacheMissesProbe(s: &SmShape) {
        /// Data of the answer at hand.
        rsp_data_q: WarpData = field(1024).valid_by("rsp_valid_q"),
        /// Misses that are open.
        open_q: u64 = field(s.misses().min(NARROW_SET)).when(s.misses() <= NARROW_SET),
        /// Rows in use.
        row_used_q: u64 = field(s.line_rows.min(NARROW_SET)).when(s.line_rows <= NARROW_SET),
        /// Misses that are open, where there are more than 64 misses.
        open_wide_q: Wide<SET_WORDS> = field(MAX).at("open_q").when(s.misses() > NARROW_SET),
        /// Rows in use, where there are more than 64 rows.
        row_used_wide_q: Wide<SET_WORDS> = field(MAX).at("row_used_q").when(s.line_rows > NARROW_SET),
        /// Line of every miss, in use or not.
        line_q: [u32; MAX] = field(LINE_BITS).count(s.misses()),
        /// Oldest miss.
        first_q: u8 = field(s.miss_w()),
        /// Misses in use.
        count_q: u8 = field(s.miss_w() + 1),
        /// An answer is at hand.
        rsp_valid_q: u8 = field(1),
        /// The answer at hand says that there is no such place.
        rsp_fault_q: u8 = field(1).valid_by("rsp_valid_q"),
        /// Bytes of the line at hand that exist.
        rsp_present_q: u8 = field(8).valid_by("rsp_valid_q"),
        /// Miss of every row, in use or not.
        row_miss_q: [u8; MAX] = field(s.miss_w()).count(s.line_rows),
        /// Number of the load of every row, in use or not.
        row_load_q: [u8; MAX] = field(s.row_w()).count(s.line_rows),
    }
}

/// An answer of memory.
#[derive(Clone, Copy, Debug)]
pub struct LineAnswer<'a> {
    /// The line, or a word for each lane.
    pub data: &'a WarpData,
    /// The place does not exist.
    pub fault: bool,
    /// Bytes of the line that exist.
    pub present: u8,
}

/// Inputs of [`CacheMisses`] at a clock edge.
#[derive(Clone, Copy, Default)]
pub(crate) struct MissesEdge<'a> {
    /// Line of the current request.
    pub(crate) line: u32,
    /// A miss is allocated; whether it is open.
    pub(crate) allocate: Option<bool>,
    pub(crate) close: bool,
    /// A row, and the number of the row's load.
    pub(crate) row: Option<(&'a CacheRow, u8)>,
    pub(crate) answer: Option<LineAnswer<'a>>,
    pub(crate) fill_ready: bool,
    pub(crate) pop: bool,
}

/// Requests whose answers are outstanding, in a ring, and rows of the loads that wait for them. Several rows may wait for one answer.
#[derive(Clone)]
pub struct CacheMisses {
    misses: usize,
    rows: usize,
    miss_w: u32,
    row_w: u32,
    first_q: usize,
    count_q: usize,
    open_q: u128,
    line_q: Box<[u32]>,
    row_used_q: u128,
    row_miss_q: Box<[u32]>,
    row_load_q: Box<[u32]>,
    row_q: Box<[[u32; ROW_WORDS]]>,
    /// The rows of each miss: rows in use whose `row_miss_q` is the miss.
    waiting: Box<[u128]>,
    rsp_valid_q: bool,
    rsp_fault_q: bool,
    rsp_present_q: u8,
    rsp_data_q: WarpData,
    result_valid_q: bool,
    result_q: UnitResult,
    result_load_q: u8,
    result_data_q: WarpData,
}

impl CacheMisses {
    /// The open miss of a line.
    #[inline]
    pub(crate) fn find(&self, line: u32) -> Option<usize> {
        members(self.open_q).find(|&miss| self.line_q[miss] == line)
    }

    /// Whether this open miss is the first one, and its answer is at hand.
    #[inline]
    pub(crate) fn is_first(&self, miss: usize) -> bool {
        self.rsp_valid_q && miss == self.first_q
    }

    /// Whether a miss is free.
    #[inline]
    pub(crate) fn room(&self) -> bool {
        self.count_q < self.misses
    }

    /// Whether a row is free.
    #[inline]
    pub(crate) fn row_room(&self) -> bool {
        self.row_used_q != u128::MAX >> (MAX - self.rows)
    }

    /// Whether no miss is in use.
    #[inline]
    pub(crate) fn empty(&self) -> bool {
        self.count_q == 0
    }

    /// Whether an answer is taken at this edge.
    #[inline]
    pub(crate) fn ready(&self) -> bool {
        !self.rsp_valid_q
    }

    /// Whether no answer and no result is at hand; rows may wait for their answers.
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        !self.rsp_valid_q && !self.result_valid_q
    }

    /// The line of the answer at hand, if the answer belongs to an open miss, and whether the line is whole.
    #[inline]
    pub(crate) fn fill(&self) -> Option<(u32, bool)> {
        let offered = self.rsp_valid_q && self.open_q >> self.first_q & 1 == 1;
        offered.then(|| (self.line_q[self.first_q], !self.rsp_fault_q && self.rsp_present_q == LINE_BYTES))
    }

    /// The answer at hand.
    #[inline]
    pub(crate) fn fill_data(&self) -> &WarpData {
        &self.rsp_data_q
    }

    /// The result.
    #[inline]
    pub(crate) fn result(&self) -> Option<LoadResult<'_>> {
        let (result, data, load) = (self.result_q, &self.result_data_q, self.result_load_q);
        self.result_valid_q.then_some(LoadResult { result, data, load })
    }

    /// The next row to be served.
    #[inline]
    fn next_row(&self) -> Option<usize> {
        let waiting = if self.rsp_valid_q { self.waiting[self.first_q] } else { 0 };
        (waiting != 0).then(|| waiting.trailing_zeros() as usize)
    }

    /// The row that is served at this edge.
    #[inline]
    fn served(&self, pop: bool) -> Option<usize> {
        if self.result_valid_q && !pop { None } else { self.next_row() }
    }

    /// Whether a row is served at this edge.
    #[inline]
    pub(crate) fn serves(&self, pop: bool) -> bool {
        self.served(pop).is_some()
    }

    /// The warp of the next row to be served, if the row accesses a place that does not exist.
    #[inline]
    pub(crate) fn fault(&self) -> Option<u8> {
        let row = CacheRow(self.row_q[self.next_row()?]);
        let missing = if row.lanewise() { self.rsp_fault_q } else { self.is_beyond(&row) };
        missing.then(|| row.header().warp)
    }

    /// Whether a lane of a row accesses a byte of the line that does not exist.
    fn is_beyond(&self, row: &CacheRow) -> bool {
        let (offset, bytes, present) = (row.offset(), 1 << row.size(), u32::from(self.rsp_present_q));
        set_bits(row.header().mask).any(|lane| u32::from(offset[lane]) + bytes > present)
    }

    /// The place of the next miss.
    #[inline]
    fn place(&self) -> usize {
        (self.first_q + self.count_q) & (self.misses - 1)
    }

    /// Performs the clock edge.
    #[inline]
    pub(crate) fn advance(&mut self, edge: &MissesEdge<'_>) {
        let (found, place) = (self.touched(edge), self.place());
        let (first, served) = (self.first_q, self.served(edge.pop));
        let open = self.open_q >> first & 1 == 1;
        // The place of a row that is served at this edge is not free until the next cycle.
        let free = lowest_free(self.row_used_q, self.rows);
        self.result_valid_q &= !edge.pop;
        if let Some(row) = served {
            self.serve(row);
        }
        if !self.rsp_valid_q {
            if let Some(answer) = edge.answer {
                (self.rsp_valid_q, self.rsp_fault_q, self.rsp_present_q) = (true, answer.fault, answer.present);
                self.rsp_data_q = *answer.data;
            }
        } else if open {
            self.open_q &= !(u128::from(edge.fill_ready) << first);
        } else if self.waiting[first] == 0 {
            self.rsp_valid_q = false;
            self.first_q = (first + 1) & (self.misses - 1);
            self.count_q = self.counted(-1);
        }
        if let Some(miss) = found.filter(|_| edge.close) {
            self.open_q &= !(1 << miss);
        }
        if let Some(open) = edge.allocate {
            self.line_q[place] = edge.line;
            self.open_q = self.open_q & !(1 << place) | u128::from(open) << place;
            self.count_q = self.counted(1);
        }
        if let (Some((row, load)), Some(free)) = (edge.row, free) {
            let miss = self.write_row(free, row, load, edge, found, place);
            self.row_used_q |= 1 << free;
            self.waiting[miss] |= 1 << free;
        }
    }

    /// The open miss for the current line, where the edge needs it.
    #[inline]
    fn touched(&self, edge: &MissesEdge<'_>) -> Option<usize> {
        if edge.close || edge.row.is_some() && edge.allocate.is_none() { self.find(edge.line) } else { None }
    }

    /// Writes a row into a place. Returns the miss for which the row waits.
    fn write_row(
        &mut self,
        place: usize,
        row: &CacheRow,
        load: u8,
        edge: &MissesEdge<'_>,
        found: Option<usize>,
        new: usize,
    ) -> usize {
        let miss = if edge.allocate.is_some() { new } else { found.unwrap_or_default() };
        (self.row_q[place], self.row_miss_q[place], self.row_load_q[place]) = (row.0, miss as u32, load.into());
        miss
    }

    /// Makes a result of a row and the answer.
    fn serve(&mut self, row: usize) {
        let bits = CacheRow(self.row_q[row]);
        self.result_q = bits.header().into();
        self.result_load_q = self.row_load_q[row] as u8;
        if self.result_q.reg.is_some() {
            self.result_data_q = bits.values(&self.rsp_data_q);
        }
        self.result_valid_q = true;
        self.row_used_q &= !(1 << row);
        self.waiting[self.first_q] &= !(1 << row);
    }

    /// The count changed by `step`, in its width.
    fn counted(&self, step: isize) -> usize {
        self.count_q.wrapping_add_signed(step) & (2 * self.misses - 1)
    }

    /// Clock edge in reset: memories are written like the words of a RAM.
    pub(crate) fn reset(&mut self, edge: &MissesEdge<'_>) {
        let (found, place) = (self.touched(edge), self.place());
        if edge.allocate.is_some() {
            self.line_q[place] = edge.line;
        }
        if let (Some((row, load)), Some(free)) = (edge.row, lowest_free(self.row_used_q, self.rows)) {
            self.write_row(free, row, load, edge, found, place);
        }
        (self.first_q, self.count_q, self.open_q, self.row_used_q) = (0, 0, 0, 0);
        (self.rsp_valid_q, self.result_valid_q) = (false, false);
        self.waiting.fill(0);
    }
}

impl CacheMissesIn {
    fn edge<'a>(&'a self, row: &'a CacheRow) -> MissesEdge<'a> {
        let answer = LineAnswer {
            data: &self.mem_rsp_data_i,
            fault: self.mem_rsp_fault_i != 0,
            present: self.mem_rsp_present_i,
        };
        MissesEdge {
            line: self.line_i,
            allocate: (self.allocate_i != 0).then_some(self.allocate_open_i != 0),
            close: self.close_i != 0,
            row: (self.row_valid_i != 0).then_some((row, self.row_load_i)),
            answer: (self.mem_rsp_valid_i != 0).then_some(answer),
            fill_ready: self.fill_ready_i != 0,
            pop: self.result_pop_i != 0,
        }
    }
}

impl Block for CacheMisses {
    const NAME: &'static str = "cache_misses";
    const PARAMETERS: &'static [&'static str] = &["Misses", "Rows"];

    type Shape = SmShape;
    type In = CacheMissesIn;
    type Out = CacheMissesOut;
    type Probe = CacheMissesProbe;

    fn new(shape: &SmShape) -> Self {
        let (misses, rows) = (shape.misses(), shape.line_rows);
        Self {
            misses,
            rows,
            miss_w: shape.miss_w(),
            row_w: shape.row_w(),
            first_q: 0,
            count_q: 0,
            open_q: 0,
            line_q: vec![0; misses].into(),
            row_used_q: 0,
            row_miss_q: vec![0; rows].into(),
            row_load_q: vec![0; rows].into(),
            row_q: vec![[0; ROW_WORDS]; rows].into(),
            waiting: vec![0; misses].into(),
            rsp_valid_q: false,
            rsp_fault_q: false,
            rsp_present_q: 0,
            rsp_data_q: WarpData::ZERO,
            result_valid_q: false,
            result_q: UnitResult::default(),
            result_load_q: 0,
            result_data_q: WarpData::ZERO,
        }
    }

    fn early(&self, out: &mut CacheMissesOut) {
        *out = CacheMissesOut::zeroed();
        (out.room_o, out.row_room_o) = (self.room().into(), self.row_room().into());
        (out.empty_o, out.mem_rsp_ready_o) = (self.empty().into(), self.ready().into());
        if let Some((line, whole)) = self.fill() {
            (out.fill_valid_o, out.fill_line_o, out.fill_whole_o) = (1, line, whole.into());
            out.fill_data_o = self.rsp_data_q;
        }
        let offered = self.result();
        out.show(offered.map(|offered| (offered.result, offered.data)));
        out.result_load_o = offered.map_or(0, |offered| offered.load);
        let fault = self.fault();
        (out.fault_valid_o, out.fault_warp_o) = (fault.is_some().into(), fault.unwrap_or_default());
    }

    fn late(&mut self, inputs: &CacheMissesIn, out: &mut CacheMissesOut) {
        let found = self.find(inputs.line_i);
        out.open_o = found.is_some().into();
        out.open_first_o = found.is_some_and(|miss| self.is_first(miss)).into();
        out.serve_o = self.serves(inputs.result_pop_i != 0).into();
    }

    fn clock(&mut self, inputs: &CacheMissesIn, _: &CacheMissesOut) {
        let row = CacheRow(inputs.row_i.0);
        let edge = inputs.edge(&row);
        if inputs.rst_ni == 0 { self.reset(&edge) } else { self.advance(&edge) }
    }

    fn probe(&self, _: &CacheMissesIn, _: &CacheMissesOut, probe: &mut CacheMissesProbe) {
        *probe = CacheMissesProbe::zeroed();
        (probe.first_q, probe.count_q) = (self.first_q as u8, self.count_q as u8);
        if self.misses <= NARROW_SET {
            probe.open_q = self.open_q as u64;
        } else {
            probe.open_wide_q = wide(self.open_q);
        }
        if self.rows <= NARROW_SET {
            probe.row_used_q = self.row_used_q as u64;
        } else {
            probe.row_used_wide_q = wide(self.row_used_q);
        }
        probe.line_q[..self.misses].copy_from_slice(&self.line_q);
        for row in 0..self.rows {
            (probe.row_miss_q[row], probe.row_load_q[row]) = (self.row_miss_q[row] as u8, self.row_load_q[row] as u8);
        }
        if self.rsp_valid_q {
            (probe.rsp_valid_q, probe.rsp_fault_q) = (1, self.rsp_fault_q.into());
            (probe.rsp_present_q, probe.rsp_data_q) = (self.rsp_present_q, self.rsp_data_q);
        }
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let (miss_w, row_w) = (self.miss_w, self.row_w);
        let memory = |path: &str, words, bits| Memory { path: path.into(), block: Self::NAME, words, bits };
        vec![
            memory("line_q", &mut self.line_q, LINE_BITS),
            memory("row_miss_q", &mut self.row_miss_q, miss_w),
            memory("row_load_q", &mut self.row_load_q, row_w),
            memory("row_q", self.row_q.as_flattened_mut(), ROW_BITS),
        ]
    }
}

#[cfg(test)]
mod tests;
