//! `cache_results`: hits and answers on their way to the result bus. `docs/blocks/cache_results.md`.

use std::mem::offset_of;

use crate::cache::{NARROW_SET, SET_WORDS, lowest_free, wide};
use crate::execute::{ResultQueue, ResultQueueOut, ResultQueueProbe, ResultWord, UnitResult};
use crate::instances::record;
use crate::shape::{HIT_QUEUE_DEPTH, SmShape};
use crate::sizes::width;
use crate::{Block, Field, LANES, Memory, Ports, REG_BITS, WARP_BITS, WarpData, Wide, field, packed, ports};

/// Width of a count of parts: each of 32 lanes may be a part of its own.
const COUNT_BITS: u32 = 6;

ports! {
    /// Inputs of [`CacheResults`].
    pub struct CacheResultsIn(s: &SmShape) {
        /// Data of the hit's register.
        push_data_i: WarpData = field(1024).valid_by("push_reg_valid_i"),
        /// Data of the answer's register.
        miss_data_i: WarpData = field(1024).valid_by("miss_reg_valid_i"),
        /// The answer.
        miss_i: ResultWord = packed::<ResultWord>().valid_by("miss_valid_i"),
        /// Lanes of the hit.
        push_mask_i: u32 = field(LANES).valid_by("push_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Strap: latency of hits.
        cfg_i: u8 = field(6),
        /// A part of a load is made at this edge.
        row_valid_i: u8 = field(1),
        /// The part is the first one of its instruction in this pipeline.
        row_first_i: u8 = field(1).valid_by("row_valid_i"),
        /// No lane of the instruction is left after the part.
        row_last_i: u8 = field(1).valid_by("row_valid_i"),
        /// A hit comes.
        push_valid_i: u8 = field(1),
        /// Warp of the hit.
        push_warp_i: u8 = field(WARP_BITS).valid_by("push_valid_i"),
        /// The hit writes a register.
        push_reg_valid_i: u8 = field(1),
        /// Register of the hit.
        push_reg_i: u8 = field(REG_BITS).valid_by("push_reg_valid_i"),
        /// Number of the hit's load.
        push_load_i: u8 = field(s.row_w()).valid_by("push_valid_i"),
        /// An answer is offered.
        miss_valid_i: u8 = field(1),
        /// Number of the answer's load.
        miss_load_i: u8 = field(s.row_w()).valid_by("miss_valid_i"),
        /// The answer writes a register.
        miss_reg_valid_i: u8 = field(1),
        /// The result is taken at this edge.
        pop_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`CacheResults`].
    pub struct CacheResultsOut(s: &SmShape) {
        /// Lanes of the register.
        result_data_o: WarpData = field(1024).valid_by("result_reg_valid_o"),
        /// The result.
        result_o: ResultWord = packed::<ResultWord>().valid_by("result_valid_o"),
        /// Number of the part's load; 0 without a part.
        row_load_o: u8 = field(s.row_w()),
        /// A number is free.
        room_o: u8 = field(1).early(),
        /// A hit is taken at this edge.
        push_ready_o: u8 = field(1).early(),
        /// The answer is taken at this edge.
        miss_pop_o: u8 = field(1),
        /// A result is offered.
        result_valid_o: u8 = field(1),
        /// The result writes a register.
        result_reg_valid_o: u8 = field(1),
    }
}

ports! {
    /// Registers of [`CacheResults`].
    pub struct CacheResultsState(s: &SmShape) {
        /// Numbers in use.
        used_q: u64 = field(s.line_rows.min(NARROW_SET)).when(s.line_rows <= NARROW_SET),
        /// Numbers that get no further part.
        closed_q: u64 = field(s.line_rows.min(NARROW_SET)).when(s.line_rows <= NARROW_SET),
        /// Numbers in use, where there are more than 64 numbers.
        used_wide_q: Wide<SET_WORDS> = field(MAX).at("used_q").when(s.line_rows > NARROW_SET),
        /// Numbers that get no further part, where there are more than 64 numbers.
        closed_wide_q: Wide<SET_WORDS> = field(MAX).at("closed_q").when(s.line_rows > NARROW_SET),
        /// Parts of every number that have not gone, in use or not.
        count_q: [u8; MAX] = field(COUNT_BITS).count(s.line_rows),
        /// Number of every place of the ring, in use or not.
        number_q: [u8; HIT_QUEUE_DEPTH] = field(s.row_w()).count(HIT_QUEUE_DEPTH),
        /// Number taken last.
        current_q: u8 = field(s.row_w()),
        /// Place of the oldest hit's number.
        number_first_q: u8 = field(width(HIT_QUEUE_DEPTH)),
        /// Hits that wait.
        number_count_q: u8 = field(width(HIT_QUEUE_DEPTH + 1)),
    }
}

/// Outputs that show a result.
macro_rules! shows_result {
    ($outputs:ty) => {
        impl $outputs {
            /// Shows the result that is offered, and the data of its register.
            pub fn show(&mut self, offered: Option<(UnitResult, &WarpData)>) {
                (self.result_valid_o, self.result_reg_valid_o) = (offered.is_some().into(), 0);
                (self.result_o, self.result_data_o) = (ResultWord::default(), WarpData::ZERO);
                if let Some((result, data)) = offered {
                    self.result_o = ResultWord::from(&result);
                    if result.reg.is_some() {
                        (self.result_reg_valid_o, self.result_data_o) = (1, *data);
                    }
                }
            }
        }
    };
}
pub(super) use shows_result;

shows_result!(CacheResultsOut);

/// What lockstep compares inside [`CacheResults`].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CacheResultsProbe {
    /// Registers of the block.
    pub state: CacheResultsState,
    /// Outputs of the queue.
    pub hits: ResultQueueOut,
    /// Registers of the queue.
    pub queue: ResultQueueProbe,
}

// SAFETY: `repr(C)`, made of structs of ports.
unsafe impl Ports for CacheResultsProbe {
    type Shape = SmShape;

    fn fields(shape: &SmShape) -> Vec<Field> {
        let queue = hit_queue(shape);
        let mut fields = CacheResultsState::fields(shape);
        super::inside::<ResultQueue>(
            "hits",
            "u_hits",
            &queue,
            [offset_of!(Self, hits), offset_of!(Self, queue)],
            &mut fields,
        );
        fields
    }
}

/// Capacity of the twin: the largest number of loads.
const MAX: usize = u128::BITS as usize;

/// The shape of the queue for hits.
fn hit_queue(shape: &SmShape) -> SmShape {
    shape.with_queue(HIT_QUEUE_DEPTH, 1)
}

/// A part of a load that is being made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The part is the first one of its instruction.
    pub(crate) first: bool,
    /// No lane of the instruction remains after the part.
    pub(crate) last: bool,
}

/// A hit or an answer, with its register's data and the number of the load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadResult<'a> {
    pub(crate) result: UnitResult,
    pub(crate) data: &'a WarpData,
    pub(crate) load: u8,
}

/// Hits that wait for their latency, and answers of memory, on their way to one port. Parts of a load come in any order: they are counted, and the last one to
/// leave ends the load.
#[derive(Clone)]
pub struct CacheResults {
    loads: usize,
    row_w: u32,
    used_q: u128,
    // Memories of one word for the harness, and registers that are compared only while they are in use.
    closed_q: [u32; SET_WORDS],
    current_q: [u32; 1],
    count_q: Box<[u32]>,
    number_q: [u32; HIT_QUEUE_DEPTH],
    number_first_q: usize,
    number_count_q: usize,
    hits: ResultQueue,
}

impl CacheResults {
    /// Whether a number is free.
    #[inline]
    pub(crate) fn room(&self) -> bool {
        lowest_free(self.used_q, self.loads).is_some()
    }

    /// Whether a hit is taken at this edge.
    #[inline]
    pub(crate) fn ready(&self) -> bool {
        self.hits.ready()
    }

    /// The cycles until a hit is offered, as [`ResultQueue::waits`].
    #[inline]
    pub(crate) fn waits(&self) -> Option<u64> {
        self.hits.waits()
    }

    /// Lets that many cycles pass, in which nothing arrives or leaves.
    #[inline]
    pub(crate) fn pass(&mut self, cycles: u64) {
        self.hits.pass(cycles);
    }

    #[inline]
    fn is_used(&self, number: u8) -> bool {
        self.used_q >> number & 1 == 1
    }

    #[inline]
    fn is_closed(&self, number: u8) -> bool {
        self.closed_q[usize::from(number) / 32] >> (number % 32) & 1 == 1
    }

    /// The number of a part's load, and whether the number is newly allocated.
    #[inline]
    pub(crate) fn number(&self, first: bool) -> (u8, bool) {
        let current = self.current_q[0] as u8;
        if !first && self.is_used(current) && !self.is_closed(current) {
            (current, false)
        } else {
            // Without a free number no part is made.
            (lowest_free(self.used_q, self.loads).unwrap_or_default() as u8, true)
        }
    }

    /// The result that is offered: the answer, or a hit that has waited or that passes the queue.
    #[inline]
    pub(crate) fn offer<'a>(
        &'a self,
        latency: u8,
        push: Option<LoadResult<'a>>,
        miss: Option<LoadResult<'a>>,
    ) -> Option<LoadResult<'a>> {
        let hit = || {
            if self.hits.offers() {
                let load = self.number_q[self.number_first_q] as u8;
                Some(LoadResult { result: self.hits.head(), data: self.hits.head_data(), load })
            } else {
                push.filter(|_| self.hits.passes(latency))
            }
        };
        let offered = miss.or_else(hit)?;
        Some(LoadResult { result: UnitResult { done: self.ends(offered.load), ..offered.result }, ..offered })
    }

    /// Whether the next result of a load is its last one.
    #[inline]
    fn ends(&self, load: u8) -> bool {
        self.is_closed(load) && self.count_q[usize::from(load)] == 1
    }

    /// Clock edge: a part, a hit that arrives, the number of the load whose result leaves, and whether that result is an answer.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        latency: u8,
        part: Option<Part>,
        push: Option<LoadResult<'_>>,
        goes: Option<(u8, bool)>,
    ) {
        let part = part.map(|part| (part, self.number(part.first)));
        if let Some((load, _)) = goes {
            let count = &mut self.count_q[usize::from(load)];
            if *count == 1 && part.is_none_or(|(_, (number, _))| number != load) {
                self.used_q &= !(1 << load);
            }
            *count = count.wrapping_sub(1) & ((1 << COUNT_BITS) - 1);
        }
        if let Some((Part { last, .. }, (number, is_new))) = part {
            self.add(number, is_new, last);
        }
        if let Some(push) = push.filter(|_| self.hits.ready()) {
            self.hits.push(latency, &push.result, push.data);
            let place = (self.number_first_q + self.number_count_q) % HIT_QUEUE_DEPTH;
            self.number_q[place] = push.load.into();
            self.number_count_q += 1;
        }
        if let Some((_, false)) = goes {
            self.hits.pop();
            self.number_first_q = (self.number_first_q + 1) % HIT_QUEUE_DEPTH;
            self.number_count_q -= 1;
        }
        self.hits.advance();
    }

    /// Adds a part to a load.
    fn add(&mut self, number: u8, is_new: bool, last: bool) {
        let (word, bit) = (&mut self.closed_q[usize::from(number) / 32], 1 << (number % 32));
        let count = &mut self.count_q[usize::from(number)];
        if is_new {
            (*count, *word) = (0, *word & !bit);
            self.used_q |= 1 << number;
            self.current_q[0] = number.into();
        }
        *count = (*count + 1) & ((1 << COUNT_BITS) - 1);
        *word |= if last { bit } else { 0 };
    }

    /// Clock edge in reset, after everything else.
    pub(crate) fn reset(&mut self) {
        (self.used_q, self.number_first_q, self.number_count_q) = (0, 0, 0);
        self.hits.reset();
    }

    /// Shows the outputs of the queue; see [`ResultQueue::show`].
    fn show_hits(&self, latency: u8, push: Option<LoadResult<'_>>, out: &mut ResultQueueOut) {
        self.hits.early(out);
        let passing = push.as_ref().filter(|_| self.hits.passes(latency));
        self.hits.show(passing.map(|push| (&push.result, push.data)), out);
    }

    /// Records the signals that are compared, with the hit that arrives in this cycle.
    pub(crate) fn record(&self, latency: u8, push: Option<LoadResult<'_>>, probe: &mut CacheResultsProbe) {
        self.show_hits(latency, push, &mut probe.hits);
        record(&self.hits, &mut probe.queue);
        let state = &mut probe.state;
        *state = CacheResultsState::zeroed();
        let closed = Wide(self.closed_q).to_u128();
        if self.loads <= NARROW_SET {
            (state.used_q, state.closed_q) = (self.used_q as u64, closed as u64);
        } else {
            (state.used_wide_q, state.closed_wide_q) = (wide(self.used_q), wide(closed));
        }
        state.count_q.iter_mut().zip(&self.count_q).for_each(|(shown, &count)| *shown = count as u8);
        state.number_q = self.number_q.map(|number| number as u8);
        state.current_q = self.current_q[0] as u8;
        (state.number_first_q, state.number_count_q) = (self.number_first_q as u8, self.number_count_q as u8);
    }
}

impl CacheResultsIn {
    fn part(&self) -> Option<Part> {
        (self.row_valid_i != 0).then_some(Part { first: self.row_first_i != 0, last: self.row_last_i != 0 })
    }

    fn push(&self) -> Option<LoadResult<'_>> {
        let result = UnitResult {
            mask: self.push_mask_i,
            warp: self.push_warp_i,
            reg: (self.push_reg_valid_i != 0).then_some(self.push_reg_i),
            ..UnitResult::default()
        };
        (self.push_valid_i != 0).then_some(LoadResult { result, data: &self.push_data_i, load: self.push_load_i })
    }

    fn miss(&self) -> Option<LoadResult<'_>> {
        let result = UnitResult::of(self.miss_i, self.miss_reg_valid_i != 0);
        (self.miss_valid_i != 0).then_some(LoadResult { result, data: &self.miss_data_i, load: self.miss_load_i })
    }
}

impl Block for CacheResults {
    const NAME: &'static str = "cache_results";
    const PARAMETERS: &'static [&'static str] = &["Rows", "HitQueueDepth"];
    const CHILDREN: &'static [&'static str] = &[ResultQueue::NAME];

    type Shape = SmShape;
    type In = CacheResultsIn;
    type Out = CacheResultsOut;
    type Probe = CacheResultsProbe;

    fn new(shape: &SmShape) -> Self {
        Self {
            loads: shape.line_rows,
            row_w: shape.row_w(),
            used_q: 0,
            closed_q: [0; SET_WORDS],
            current_q: [0],
            count_q: vec![0; shape.line_rows].into(),
            number_q: [0; HIT_QUEUE_DEPTH],
            number_first_q: 0,
            number_count_q: 0,
            hits: ResultQueue::new(&hit_queue(shape)),
        }
    }

    fn early(&self, out: &mut CacheResultsOut) {
        (out.room_o, out.push_ready_o) = (self.room().into(), self.ready().into());
    }

    fn late(&mut self, inputs: &CacheResultsIn, out: &mut CacheResultsOut) {
        let pops = inputs.pop_i != 0;
        out.row_load_o = inputs.part().map_or(0, |part| self.number(part.first).0);
        out.miss_pop_o = (inputs.miss_valid_i != 0 && pops).into();
        let offered = self.offer(inputs.cfg_i, inputs.push(), inputs.miss());
        out.show(offered.map(|offered| (offered.result, offered.data)));
    }

    fn clock(&mut self, inputs: &CacheResultsIn, _: &CacheResultsOut) {
        let (push, miss) = (inputs.push(), inputs.miss());
        let offered = self.offer(inputs.cfg_i, push, miss).map(|offered| offered.load);
        let goes = offered.filter(|_| inputs.pop_i != 0).map(|load| (load, miss.is_some()));
        self.advance(inputs.cfg_i, inputs.part(), push, goes);
        if inputs.rst_ni == 0 {
            self.reset();
        }
    }

    fn probe(&self, inputs: &CacheResultsIn, _: &CacheResultsOut, probe: &mut CacheResultsProbe) {
        self.record(inputs.cfg_i, inputs.push(), probe);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let (loads, row_w) = (self.loads as u32, self.row_w);
        let memory = |path: &str, words, bits| Memory { path: path.into(), block: Self::NAME, words, bits };
        let closed = &mut self.closed_q[..loads.div_ceil(u32::BITS) as usize];
        let mut all = vec![
            memory("closed_q", closed, loads),
            memory("current_q", &mut self.current_q, row_w),
            memory("count_q", &mut self.count_q, COUNT_BITS),
            memory("number_q", &mut self.number_q, row_w),
        ];
        all.extend(Memory::inside("u_hits", self.hits.contents(str::to_owned)));
        all
    }
}

#[cfg(test)]
mod tests;
