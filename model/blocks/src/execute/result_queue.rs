//! `result_queue`: results that wait until their latency is over. `docs/blocks/result_queue.md`.

use crate::execute::result::{RESULT_WORDS, ResultWord, UnitResult, destination};
use crate::issue::PRED_BITS;
use crate::mrf::bits::is_set;
use crate::shape::{SIDE_QUEUE_DEPTH, SIDE_SOURCES, SmShape};
use crate::sizes::width;
use crate::{Block, Memory, Packed, PackedMemory, REG_BITS, WARP_BITS, WarpData, field, packed, ports};

/// Capacity of the twin: the largest number of places.
const MAX_DEPTH: usize = SIDE_QUEUE_DEPTH;
/// Capacity of the twin: the largest number of sources.
const MAX_SOURCES: usize = SIDE_SOURCES;
/// Width of a latency, and of its remaining cycles.
const WAIT_BITS: u32 = 6;

ports! {
    /// Inputs of [`ResultQueue`].
    pub struct ResultQueueIn(s: &SmShape) {
        /// Data of the register.
        push_data_i: [WarpData; MAX_SOURCES] = field(1024).count(s.sources).valid_by("push_reg_valid_i"),
        /// Lanes of source k's result.
        push_mask_i: [u32; MAX_SOURCES] = field(32).count(s.sources).valid_by("push_valid_i"),
        /// Lanes of the predicate.
        push_pred_data_i: [u32; MAX_SOURCES] = field(32).count(s.sources).valid_by("push_pred_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Strap: latency.
        cfg_i: u8 = field(WAIT_BITS),
        /// A result comes from source k.
        push_valid_i: u8 = field(s.sources),
        /// Warp of source k's result.
        push_warp_i: [u8; MAX_SOURCES] = field(WARP_BITS).count(s.sources).valid_by("push_valid_i"),
        /// Source k's result writes a register.
        push_reg_valid_i: u8 = field(s.sources),
        /// Register of source k's result.
        push_reg_i: [u8; MAX_SOURCES] = field(REG_BITS).count(s.sources).valid_by("push_reg_valid_i"),
        /// Source k's result writes a predicate.
        push_pred_valid_i: u8 = field(s.sources),
        /// Predicate of source k's result.
        push_pred_i: [u8; MAX_SOURCES] = field(PRED_BITS).count(s.sources).valid_by("push_pred_valid_i"),
        /// Source k's result is the last of its instruction.
        push_done_i: u8 = field(s.sources),
        /// The head leaves at this edge.
        pop_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`ResultQueue`].
    pub struct ResultQueueOut(s: &SmShape) {
        /// Data of the register.
        head_data_o: WarpData = field(1024).valid_by("head_reg_valid_o"),
        /// The head.
        head_result_o: ResultWord = packed::<ResultWord>().valid_by("head_valid_o"),
        /// The queue has a free place.
        ready_o: u8 = field(1).early(),
        /// The queue has at least three free places.
        room_o: u8 = field(1).early(),
        /// A result is offered.
        head_valid_o: u8 = field(1),
        /// The head writes a register.
        head_reg_valid_o: u8 = field(1),
    }
}

ports! {
    /// State of [`ResultQueue`] besides the data: what every place holds, in use or not.
    pub struct ResultQueueProbe(s: &SmShape) {
        /// Result in each place.
        result_q: [ResultWord; MAX_DEPTH] = packed::<ResultWord>().count(s.queue_depth),
        /// Results that write a register.
        reg_valid_q: u32 = field(s.queue_depth),
        /// Place of the oldest result.
        first_q: u8 = field(width(s.queue_depth)),
        /// Results waiting.
        count_q: u8 = field(width(s.queue_depth + 1)),
        /// Place of the next result.
        place: u8 = field(width(s.queue_depth)).early(),
        /// Cycles that each result remains in its place.
        wait_q: [u8; MAX_DEPTH] = field(WAIT_BITS).count(s.queue_depth),
    }
}

/// Free places that a unit with two stages needs: one for each result in flight, and one for the next.
const ROOM: usize = 3;

/// A ring of results after a unit. Each result is offered a set number of cycles after it arrived, in order.
///
/// A place stores the cycle from which its result is offered, so that nothing has to be counted down.
#[derive(Clone)]
pub struct ResultQueue {
    // Contents of the places, in 32-bit words: the harness sees them as memories.
    data_q: Box<[WarpData]>,
    result_q: Box<[[u32; RESULT_WORDS]]>,
    /// A bit for each place.
    reg_valid_q: [u32; 1],
    /// The cycle from which a place's result is offered.
    due_q: Box<[u64]>,
    /// Cycles since the beginning.
    now: u64,
    first_q: usize,
    count_q: usize,
}

impl ResultQueue {
    /// Whether there is a free place.
    #[inline]
    pub fn ready(&self) -> bool {
        self.count_q < self.data_q.len()
    }

    /// Whether a unit with two stages may begin.
    #[inline]
    pub fn room(&self) -> bool {
        self.count_q + ROOM <= self.data_q.len()
    }

    /// Whether a result that arrives in this cycle is offered in the same cycle, past the ring.
    #[inline]
    pub fn passes(&self, latency: u8) -> bool {
        latency == 0 && self.count_q == 0
    }

    /// Whether a result in the ring is offered.
    #[inline]
    pub fn offers(&self) -> bool {
        self.count_q != 0 && self.due_q[self.first_q] <= self.now
    }

    /// Cycles until a result is offered, counted from this cycle: 0 while one is offered, none without any result.
    #[inline]
    pub fn waits(&self) -> Option<u64> {
        (self.count_q != 0).then(|| self.due_q[self.first_q].saturating_sub(self.now))
    }

    /// Lets that many cycles pass, in which no result arrives or leaves.
    #[inline]
    pub fn pass(&mut self, cycles: u64) {
        self.now += cycles;
    }

    /// The oldest result; meaningful while there is one.
    #[inline]
    pub fn head(&self) -> UnitResult {
        let place = self.first_q;
        UnitResult::of(ResultWord(self.result_q[place]), self.reg_valid_q[0] >> place & 1 == 1)
    }

    /// Data of the oldest result; meaningful where it writes a register.
    #[inline]
    pub fn head_data(&self) -> &WarpData {
        &self.data_q[self.first_q]
    }

    /// The place after the youngest result.
    #[inline]
    fn free_place(&self) -> usize {
        let place = self.first_q + self.count_q;
        if place < self.data_q.len() { place } else { place - self.data_q.len() }
    }

    /// Writes a result into the free place; the result does not count as waiting yet.
    #[inline]
    fn fill(&mut self, result: &UnitResult, data: &WarpData) {
        let place = self.free_place();
        self.result_q[place] = ResultWord::from(result).0;
        self.reg_valid_q[0] = self.reg_valid_q[0] & !(1 << place) | u32::from(result.reg.is_some()) << place;
        if result.reg.is_some() {
            self.data_q[place] = *data;
        }
    }

    /// Shows the offered result on the ports: the result that passes, or that in the ring. Call it after [`early`](Block::early).
    pub fn show(&self, passing: Option<(&UnitResult, &WarpData)>, out: &mut ResultQueueOut) {
        let (head, data) = match passing {
            Some((result, data)) => (*result, data),
            None if self.offers() => (self.head(), self.head_data()),
            None => {
                out.head_result_o = ResultWord::from(&UnitResult::default());
                (out.head_valid_o, out.head_reg_valid_o) = (0, 0);
                return;
            }
        };
        out.head_valid_o = 1;
        (out.head_result_o, out.head_reg_valid_o) = (ResultWord::from(&head), head.reg.is_some().into());
        if head.reg.is_some() {
            out.head_data_o = *data;
        }
    }

    /// At the edge: a result arrives (only with [`ready`](Self::ready)).
    #[inline]
    pub fn push(&mut self, latency: u8, result: &UnitResult, data: &WarpData) {
        self.fill(result, data);
        self.due_q[self.free_place()] = self.now + u64::from(latency.max(1));
        self.count_q += 1;
    }

    /// At the edge: the oldest result leaves (only while it is offered).
    #[inline]
    pub fn pop(&mut self) {
        self.first_q = if self.first_q + 1 < self.data_q.len() { self.first_q + 1 } else { 0 };
        self.count_q -= 1;
    }

    /// Ends every clock edge.
    #[inline]
    pub fn advance(&mut self) {
        self.now += 1;
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        (self.first_q, self.count_q) = (0, 0);
    }

    /// Shows the places and their remaining latencies. Field by field: the struct has room for the longest queue, and is written in each cycle.
    fn show_state(&self, probe: &mut ResultQueueProbe) {
        probe.result_q.iter_mut().zip(&self.result_q).for_each(|(shown, &held)| *shown = ResultWord(held));
        [probe.reg_valid_q] = self.reg_valid_q;
        probe.wait_q = [0; MAX_DEPTH];
        let mut place = self.first_q;
        for _ in 0..self.count_q {
            probe.wait_q[place] = self.due_q[place].saturating_sub(self.now) as u8;
            place = if place + 1 < self.due_q.len() { place + 1 } else { 0 };
        }
        (probe.first_q, probe.count_q) = (self.first_q as u8, self.count_q as u8);
        probe.place = self.free_place() as u8;
    }

    /// What the places hold, for the harness; `at` gives the path of a register inside the module.
    pub(crate) fn contents<'a>(&'a mut self, at: impl Fn(&str) -> String) -> Vec<Memory<'a>> {
        let memory = |path, words, bits| Memory { path: at(path), block: Self::NAME, words, bits };
        let places = self.result_q.len() as u32;
        vec![
            memory("result_q", self.result_q.as_flattened_mut(), ResultWord::BITS),
            Memory::of_warps(at("data_q"), Self::NAME, &mut self.data_q),
            memory("reg_valid_q", &mut self.reg_valid_q, places),
        ]
    }
}

impl ResultQueueIn {
    /// The result that arrives, and its source; of several results that of the highest-numbered source.
    fn result(&self) -> Option<(UnitResult, usize)> {
        let source = self.push_valid_i.checked_ilog2()? as usize;
        let has = |mask: u8| is_set(mask, source);
        let pred = destination(has(self.push_pred_valid_i), self.push_pred_i[source]);
        let result = UnitResult {
            mask: self.push_mask_i[source],
            pred_data: if pred.is_some() { self.push_pred_data_i[source] } else { 0 },
            warp: self.push_warp_i[source],
            reg: destination(has(self.push_reg_valid_i), self.push_reg_i[source]),
            pred,
            done: has(self.push_done_i),
        };
        Some((result, source))
    }
}

impl Block for ResultQueue {
    const NAME: &'static str = "result_queue";
    const PARAMETERS: &'static [&'static str] = &["QueueDepth", "Sources"];
    const PACKED_MEMORIES: &'static [PackedMemory] = &[("result_q", ResultWord::layout)];

    type Shape = SmShape;
    type In = ResultQueueIn;
    type Out = ResultQueueOut;
    type Probe = ResultQueueProbe;

    fn new(shape: &SmShape) -> Self {
        let depth = shape.queue_depth;
        Self {
            data_q: vec![WarpData::ZERO; depth].into(),
            result_q: vec![[0; RESULT_WORDS]; depth].into(),
            reg_valid_q: [0],
            due_q: vec![0; depth].into(),
            now: 0,
            first_q: 0,
            count_q: 0,
        }
    }

    fn early(&self, out: &mut ResultQueueOut) {
        (out.ready_o, out.room_o) = (self.ready().into(), self.room().into());
    }

    fn late(&mut self, inputs: &ResultQueueIn, out: &mut ResultQueueOut) {
        let result = inputs.result();
        let passing = result.as_ref().filter(|_| self.passes(inputs.cfg_i));
        self.show(passing.map(|(result, source)| (result, &inputs.push_data_i[*source])), out);
    }

    fn clock(&mut self, inputs: &ResultQueueIn, out: &ResultQueueOut) {
        if out.ready_o != 0
            && let Some((result, source)) = inputs.result()
        {
            self.push(inputs.cfg_i, &result, &inputs.push_data_i[source]);
        }
        if inputs.pop_i != 0 && out.head_valid_o != 0 {
            self.pop();
        }
        if inputs.rst_ni == 0 {
            self.reset();
        }
        self.advance();
    }

    fn probe(&self, _: &ResultQueueIn, _: &ResultQueueOut, probe: &mut ResultQueueProbe) {
        self.show_state(probe);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        self.contents(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::result::ResultFields;
    use crate::shape::ALU_QUEUE_DEPTH;
    use crate::testing::{Driver, SM_SHAPES};

    fn queue(latency: u8) -> Driver<ResultQueue> {
        let mut queue = Driver::<ResultQueue>::new(&SM_SHAPES[0]);
        queue.inputs.cfg_i = latency;
        queue
    }

    /// Pushes a result of warp `warp` from source `source`.
    fn push(queue: &mut Driver<ResultQueue>, source: usize, warp: u8) {
        queue.inputs.push_valid_i = 1 << source;
        queue.inputs.push_warp_i[source] = warp;
        queue.cycle();
        queue.inputs.push_valid_i = 0;
    }

    #[test]
    fn a_result_is_offered_after_the_latency() {
        for (latency, cycles) in [(1, 1), (2, 2), (17, 17), (63, 63)] {
            let mut queue = queue(latency);
            push(&mut queue, 0, 9);
            for cycle in 1..cycles {
                assert_eq!(queue.cycle().head_valid_o, 0, "cycle {cycle} of {cycles}");
                assert_eq!(u64::from(queue.probe().wait_q[0]), cycles - cycle);
            }
            let out = queue.cycle();
            assert_eq!((out.head_valid_o, out.head_result_o.warp()), (1, 9));
            // It stays until it is taken.
            queue.inputs.pop_i = 1;
            assert_eq!(queue.cycle().head_valid_o, 1);
            queue.inputs.pop_i = 0;
            assert_eq!((queue.cycle().head_valid_o, queue.probe().count_q), (0, 0));
        }
    }

    #[test]
    fn without_a_latency_a_result_passes_an_empty_queue() {
        let mut queue = queue(0);
        let mut come = |warp: u8, push: u8, pop: u8| {
            (queue.inputs.push_valid_i, queue.inputs.push_warp_i[0], queue.inputs.pop_i) = (push, warp, pop);
            let out = queue.cycle();
            (out.head_valid_o, out.head_result_o.warp(), queue.probe().count_q)
        };
        assert_eq!(come(1, 1, 1), (1, 1, 0), "taken as it comes");
        assert_eq!(come(2, 0, 0), (0, 0, 0), "nothing has stayed");
        assert_eq!(come(3, 1, 0), (1, 3, 0), "offered as it comes");
        assert_eq!(come(4, 1, 1), (1, 3, 1), "it waits, and no other result passes it");
        assert_eq!(come(5, 1, 0), (1, 4, 1), "offered from the next cycle on");
        assert_eq!(come(6, 0, 1), (1, 4, 2));
        assert_eq!(come(7, 0, 1), (1, 5, 1));
        assert_eq!(come(8, 0, 0), (0, 0, 0));
    }

    #[test]
    fn results_come_out_whole_and_in_order() {
        for shape in [SM_SHAPES[0], SM_SHAPES[0].with_queue(ALU_QUEUE_DEPTH, 1), SM_SHAPES[0].with_queue(9, 2)] {
            let mut queue = Driver::<ResultQueue>::new(&shape);
            let mut expected = std::collections::VecDeque::new();
            let mut random = crate::testing::Random(5);
            for cycle in 0..6_000 {
                // The page does not forbid that it changes, if nothing waits.
                if expected.is_empty() {
                    queue.inputs.cfg_i = if cycle < 3_000 { 3 } else { 0 };
                }
                let source = random.below(shape.sources);
                let inputs = &mut queue.inputs;
                // Full and empty stretches.
                let ready = expected.len() < shape.queue_depth;
                inputs.push_valid_i = u8::from(ready && random.chance(70)) << source;
                inputs.push_reg_valid_i = random.next() as u8;
                inputs.push_pred_valid_i = random.next() as u8;
                inputs.push_done_i = random.next() as u8;
                for k in 0..shape.sources {
                    inputs.push_data_i[k].0.fill_with(|| random.next() as u32);
                    (inputs.push_mask_i[k], inputs.push_pred_data_i[k]) = (random.next() as u32, random.next() as u32);
                    (inputs.push_warp_i[k], inputs.push_reg_i[k]) = (random.below(64) as u8, random.next() as u8);
                    inputs.push_pred_i[k] = random.below(8) as u8;
                }
                let waiting = expected.len();
                let passing = inputs.cfg_i == 0 && waiting == 0 && inputs.push_valid_i != 0;
                inputs.pop_i = u8::from((passing || queue.block.offers()) && random.chance(60));
                if inputs.push_valid_i != 0 {
                    expected.push_back((*inputs, source));
                }
                let out = queue.cycle();
                assert_eq!(usize::from(queue.probe().count_q), waiting);
                assert_eq!(out.ready_o == 1, waiting < shape.queue_depth);
                assert_eq!(out.room_o == 1, waiting + 3 <= shape.queue_depth);
                assert!(out.head_valid_o == 1 || !passing);
                if out.head_valid_o == 1 {
                    let (i, k): &(ResultQueueIn, usize) = &expected[0];
                    let (i, k) = (i, *k);
                    let (reg, pred) = (i.push_reg_valid_i >> k & 1, i.push_pred_valid_i >> k & 1);
                    let whole = ResultFields {
                        done: i.push_done_i >> k & 1,
                        pred_valid: pred,
                        pred: pred * i.push_pred_i[k],
                        d: reg * i.push_reg_i[k],
                        warp: i.push_warp_i[k],
                        pred_data: u32::from(pred) * i.push_pred_data_i[k],
                        mask: i.push_mask_i[k],
                    };
                    assert_eq!((out.head_result_o.fields(), out.head_reg_valid_o), (whole, reg));
                    if reg == 1 {
                        assert_eq!(out.head_data_o, i.push_data_i[k]);
                    }
                }
                if queue.inputs.pop_i == 1 {
                    expected.pop_front();
                }
            }
        }
    }

    #[test]
    fn places_without_a_result_do_not_wait() {
        let mut queue = queue(10);
        for warp in 0..3 {
            push(&mut queue, 2, warp);
        }
        queue.cycle();
        assert_eq!(queue.probe().wait_q[..4], [7, 8, 9, 0]);
        assert_eq!((queue.probe().first_q, queue.probe().count_q), (0, 3));
        queue.inputs.rst_ni = 0;
        queue.cycle();
        queue.inputs.rst_ni = 1;
        queue.cycle();
        assert_eq!((queue.probe().count_q, queue.probe().wait_q), (0, [0; MAX_DEPTH]));
    }

    #[test]
    fn what_a_result_does_not_have_is_zero_and_leaves_the_data_as_it_is() {
        let mut queue = queue(1);
        for memory in queue.block.memories() {
            memory.words.fill(5);
        }
        let inputs = &mut queue.inputs;
        (inputs.push_reg_i[0], inputs.push_pred_i[0], inputs.push_pred_data_i[0]) = (9, 6, u32::MAX);
        push(&mut queue, 0, 0);
        let memories = queue.block.memories();
        assert_eq!(memories[0].words[..RESULT_WORDS], [0; RESULT_WORDS], "the result");
        assert_eq!((memories[1].words[0], memories[2].words[0]), (5, 4), "data; which have a register: not place 0");
    }

    #[test]
    fn results_are_taken_into_their_places_in_reset_too() {
        let mut queue = queue(1);
        queue.inputs.rst_ni = 0;
        queue.inputs.push_mask_i = [5, 6, 7];
        queue.inputs.push_valid_i = 0b0110;
        queue.cycle();
        assert_eq!(queue.block.memories()[0].words[0], 7, "of several the highest");
        queue.inputs.push_valid_i = 0;
        queue.inputs.rst_ni = 1;
        queue.cycle();
        assert_eq!(queue.probe().count_q, 0);
    }
}
