//! `result_queue`.

use gpurf_blocks::config::Config;
use gpurf_blocks::execute::{ResultQueue, ResultQueueIn, ResultQueueOut, ResultQueueProbe};
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_blocks::{Block, Ports};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, lane_mask, ports};
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct ResultQueueDriver {
    sources: usize,
    /// The configuration's latency, and today's.
    configured: u8,
    latency: u8,
    reset: Reset,
    /// Follows the inputs, to know when there is a free place and when a result is offered.
    twin: ResultQueue,
    out: ResultQueueOut,
    probe: ResultQueueProbe,
}

const PUSH: usize = 0;
const POP: usize = 1;
const REG: usize = 2;
const PRED: usize = 3;
const DONE: usize = 4;
const PARTIAL: usize = 5;
const FOLLOW: usize = 6;

impl Driver for ResultQueueDriver {
    type In = ResultQueueIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "push", doc: "a result comes where there is a place", values: &[20, 300, 900, 1000] },
        Knob { name: "pop", doc: "a result that is offered is taken", values: &[20, 300, 900, 1000] },
        Knob { name: "reg", doc: "a result has a register", values: &[200, 900] },
        Knob { name: "pred", doc: "a result has a predicate", values: &[100, 800] },
        Knob { name: "done", doc: "a result is the last of its instruction", values: &[200, 900] },
        Knob { name: "partial", doc: "lanes are inactive", values: &[0, 900] },
        Knob { name: "follow", doc: "a result comes as the only one is taken", values: &[0, 900] },
        RESET,
    ];

    fn new(shape: &SmShape, config: &Config) -> Self {
        Self {
            sources: shape.sources,
            configured: Straps::of(config).side_latency,
            latency: Straps::of(config).side_latency,
            reset: Reset::default(),
            twin: ResultQueue::new(shape),
            out: ResultQueueOut::zeroed(),
            probe: ResultQueueProbe::zeroed(),
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut ResultQueueIn) {
        self.twin.early(&mut self.out);
        self.twin.probe(inputs, &self.out, &mut self.probe);
        inputs.rst_ni = self.reset.next(rng, knobs.get(7));
        // The configuration's latency, and others: of another queue, or as long as the strap can say.
        if inputs.rst_ni == 0 {
            self.latency = if rng.chance(500) { self.configured } else { 1 + rng.below(63) as u8 };
        }
        inputs.cfg_i = self.latency;
        let pop = self.out.head_valid_o == 1 && rng.chance(knobs.get(POP));
        let follow = pop && self.probe.count_q == 1 && rng.chance(knobs.get(FOLLOW));
        let push = self.out.ready_o == 1 && (follow || rng.chance(knobs.get(PUSH)));
        let source = rng.below(self.sources as u64) as usize;
        inputs.push_valid_i = u8::from(push) << source;
        inputs.push_reg_valid_i = ports(rng, self.sources, knobs.get(REG));
        inputs.push_pred_valid_i = ports(rng, self.sources, knobs.get(PRED));
        inputs.push_done_i = ports(rng, self.sources, knobs.get(DONE));
        for k in 0..self.sources {
            inputs.push_warp_i[k] = rng.below(64) as u8;
            inputs.push_mask_i[k] = lane_mask(rng, knobs.get(PARTIAL));
            inputs.push_reg_i[k] = rng.next_u64() as u8;
            inputs.push_pred_i[k] = rng.below(8) as u8;
            inputs.push_pred_data_i[k] = rng.next_u64() as u32;
        }
        if push {
            rng.fill(&mut inputs.push_data_i[source].0);
        }
        inputs.pop_i = pop.into();
        self.twin.clock(inputs, &self.out);
    }
}

pub(crate) struct ResultQueueCover {
    depth: usize,
    sources: usize,
    /// A result was offered in the cycle before.
    offered: bool,
}

/// A name for each source.
const SOURCES: [&str; 4] =
    ["result from source 0", "result from source 1", "result from source 2", "result from source 3"];

impl Cover for ResultQueueCover {
    type In = ResultQueueIn;
    type Out = ResultQueueOut;
    type Probe = ResultQueueProbe;

    fn points(shape: &SmShape) -> Vec<&'static str> {
        let mut points = vec![
            "empty",
            "full",
            "one free place",
            "two free places",
            "three free places",
            "results, none of them due (if the latency is not 1)",
            "the head becomes due",
            "the second is due while the head waits to be taken",
            "taken at once",
            "offered and not taken",
            "next head is due",
            "push and pop at once",
            "push and pop of the only result at once",
            "push into the first place behind the last",
            "pop of the last place",
            "register only",
            "predicate only",
            "register and predicate",
            "neither register nor predicate",
            "not the last of its instruction",
            "no lane",
            "push in reset",
            "reset with results",
        ];
        points.extend(&SOURCES[..shape.sources]);
        points
    }

    fn new(shape: &SmShape) -> Self {
        Self { depth: shape.queue_depth, sources: shape.sources, offered: false }
    }

    fn observe(
        &mut self,
        i: &ResultQueueIn,
        o: &ResultQueueOut,
        p: &ResultQueueProbe,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let (first, count) = (usize::from(p.first_q), usize::from(p.count_q));
        let (push, pop, offered) = (i.push_valid_i != 0, i.pop_i == 1, o.head_valid_o == 1);
        let next_is_due = count > 1 && p.wait_q[(first + 1) % self.depth] == 0;
        let due_before = std::mem::replace(&mut self.offered, offered);
        let (reg, pred) = (o.head_reg_valid_o == 1, o.head_pred_valid_o == 1);
        let free = self.depth - count;
        let points = [
            ("empty", count == 0),
            ("full", free == 0),
            ("one free place", free == 1),
            ("two free places", free == 2),
            ("three free places", free == 3),
            ("results, none of them due (if the latency is not 1)", count != 0 && (!offered || i.cfg_i == 1)),
            ("the head becomes due", offered && !due_before),
            ("the second is due while the head waits to be taken", offered && next_is_due && !pop),
            ("taken at once", offered && !due_before && pop),
            ("offered and not taken", offered && !pop),
            ("next head is due", pop && next_is_due),
            ("push and pop at once", push && pop),
            ("push and pop of the only result at once", push && pop && count == 1),
            ("push into the first place behind the last", push && first + count == self.depth),
            ("pop of the last place", pop && first + 1 == self.depth),
            ("register only", pop && reg && !pred),
            ("predicate only", pop && !reg && pred),
            ("register and predicate", pop && reg && pred),
            ("neither register nor predicate", pop && !reg && !pred),
            ("not the last of its instruction", pop && o.head_done_o == 0),
            ("no lane", pop && o.head_mask_o == 0),
            ("push in reset", push && i.rst_ni == 0),
            ("reset with results", count != 0 && i.rst_ni == 0),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
        (0..self.sources).filter(|k| i.push_valid_i >> k & 1 == 1).for_each(|k| hit(SOURCES[k]));
    }
}
