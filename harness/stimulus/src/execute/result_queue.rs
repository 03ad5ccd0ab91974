//! `result_queue`.

use gpurf_blocks::config::Config;
use gpurf_blocks::execute::{ResultQueue, ResultQueueIn, ResultQueueOut, ResultQueueProbe};
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_blocks::{Block, Ports};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, lane_mask, ports};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<ResultQueue, ResultQueueDriver, ResultQueueCover>();

/// Latencies of a queue: that of the configuration, none, or any that the strap can express. A run has each of them, from one reset to the next.
pub(crate) struct Latency {
    configured: u8,
    now: u8,
}

impl Latency {
    /// The first latency is that of the configuration.
    pub(crate) fn new(configured: u8) -> Self {
        Self { configured, now: configured }
    }

    /// The latency of this cycle.
    pub(crate) fn next(&mut self, rng: &mut Rng, reset: bool) -> u8 {
        if reset {
            self.now = match rng.below(4) {
                0 | 1 => self.configured,
                2 => 0,
                _ => rng.below(64) as u8,
            };
        }
        self.now
    }
}

pub(crate) struct ResultQueueDriver {
    sources: usize,
    latency: Latency,
    reset: Reset,
    /// Follows the inputs, to know when there is a free place and when a result is offered.
    twin: ResultQueue,
    out: ResultQueueOut,
    probe: ResultQueueProbe,
}

knobs! {
    pub(crate) struct ResultQueueKnobs {
        push: "a result comes where there is a place" = [20, 300, 900, 1000],
        pop: "a result that is offered is taken" = [20, 300, 900, 1000],
        reg: "a result has a register" = [200, 900],
        pred: "a result has a predicate" = [100, 800],
        done: "a result is the last of its instruction" = [200, 900],
        partial: "lanes are inactive" = [0, 900],
        follow: "a result comes as the only one is taken" = [0, 900],
        reset,
    }
}

impl Driver for ResultQueueDriver {
    type In = ResultQueueIn;
    type Knobs = ResultQueueKnobs;

    fn new(shape: &SmShape, config: &Config) -> Self {
        Self {
            sources: shape.sources,
            latency: Latency::new(Straps::of(config).side_latency),
            reset: Reset::default(),
            twin: ResultQueue::new(shape),
            out: ResultQueueOut::zeroed(),
            probe: ResultQueueProbe::zeroed(),
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &ResultQueueKnobs, inputs: &mut ResultQueueIn) {
        self.twin.early(&mut self.out);
        self.twin.probe(inputs, &self.out, &mut self.probe);
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        let latency = self.latency.next(rng, inputs.rst_ni == 0);
        inputs.cfg_i = latency;
        let mut pop = self.twin.offers() && rng.chance(knobs.pop);
        let follow = pop && self.probe.count_q == 1 && rng.chance(knobs.follow);
        let push = self.out.ready_o == 1 && (follow || rng.chance(knobs.push));
        let source = rng.below(self.sources as u64) as usize;
        inputs.push_valid_i = u8::from(push) << source;
        inputs.push_reg_valid_i = ports(rng, self.sources, knobs.reg);
        inputs.push_pred_valid_i = ports(rng, self.sources, knobs.pred);
        inputs.push_done_i = ports(rng, self.sources, knobs.done);
        for k in 0..self.sources {
            inputs.push_warp_i[k] = rng.below(64) as u8;
            inputs.push_mask_i[k] = lane_mask(rng, knobs.partial);
            inputs.push_reg_i[k] = rng.next_u64() as u8;
            inputs.push_pred_i[k] = rng.below(8) as u8;
            inputs.push_pred_data_i[k] = rng.next_u64() as u32;
        }
        if push {
            rng.fill(&mut inputs.push_data_i[source].0);
        }
        pop |= push && self.twin.passes(latency) && rng.chance(knobs.pop);
        inputs.pop_i = pop.into();
        self.twin.late(inputs, &mut self.out);
        self.twin.clock(inputs, &self.out);
    }
}

pub(crate) struct ResultQueueCover {
    depth: usize,
    sources: usize,
    /// A result was offered in the cycle before.
    offered: bool,
}

#[cover]
impl ResultQueueCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { depth: shape.queue_depth, sources: shape.sources, offered: false }
    }

    fn observe(&mut self, i: &ResultQueueIn, o: &ResultQueueOut, p: &ResultQueueProbe, points: &mut Points) {
        let (first, count) = (usize::from(p.first_q), usize::from(p.count_q));
        let (push, pop, offered) = (i.push_valid_i != 0, i.pop_i == 1, o.head_valid_o == 1);
        let next_is_due = count > 1 && p.wait_q[(first + 1) % self.depth] == 0;
        let due_before = std::mem::replace(&mut self.offered, offered);
        let (reg, pred) = (o.head_reg_valid_o == 1, offered && o.head_result_o.pred_valid() == 1);
        let free = self.depth - count;
        point!("empty", count == 0);
        point!("full", free == 0);
        point!("one free place", free == 1);
        point!("two free places", free == 2);
        point!("three free places", free == 3);
        let passes = i.cfg_i == 0 && count == 0 && push;
        point!("results, none of them due (if the latency is not 1)", count != 0 && (!offered || i.cfg_i == 1));
        point!("passes and is taken", passes && pop);
        point!("passes and is not taken", passes && !pop);
        point!("without a latency, and others wait", i.cfg_i == 0 && count != 0 && push);
        point!("the empty queue of a latency does not let pass", i.cfg_i != 0 && count == 0 && push);
        point!("the head becomes due", offered && !due_before);
        point!("the second is due while the head waits to be taken", offered && next_is_due && !pop);
        point!("taken at once", offered && !due_before && pop);
        point!("offered and not taken", offered && !pop);
        point!("next head is due", pop && next_is_due);
        point!("push and pop at once", push && pop);
        point!("push and pop of the only result at once", push && pop && count == 1);
        point!("push into the first place after the last", push && first + count == self.depth);
        point!("pop of the last place", pop && first + 1 == self.depth);
        point!("register only", pop && reg && !pred);
        point!("predicate only", pop && !reg && pred);
        point!("register and predicate", pop && reg && pred);
        point!("neither register nor predicate", pop && !reg && !pred);
        point!("not the last of its instruction", pop && o.head_result_o.done() == 0);
        point!("no lane", pop && o.head_result_o.mask() == 0);
        point!("push in reset", push && i.rst_ni == 0);
        point!("reset with results", count != 0 && i.rst_ni == 0);

        for source in (0..self.sources).filter(|k| i.push_valid_i >> k & 1 == 1) {
            point!("result from source 0", source == 0);
            point!("result from source 1", source == 1, given = self.sources > 1);
            point!("result from source 2", source == 2, given = self.sources > 2);
            point!("result from source 3", source == 3, given = self.sources > 3);
        }
    }
}
