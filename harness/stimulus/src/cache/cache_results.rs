//! `cache_results`.

use std::collections::VecDeque;

use gpurf_blocks::LANES;
use gpurf_blocks::cache::{CacheResults, CacheResultsIn, CacheResultsOut, CacheResultsProbe};
use gpurf_blocks::config::Config;
use gpurf_blocks::execute::{ResultFields, ResultWord};
use gpurf_blocks::shape::{SmShape, cfg_of_block};
use gpurf_lockstep::Rng;

use super::row::{register, warp};
use crate::driver::{Reset, Twin, lane_mask};
use crate::execute::result_queue::Latency;
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<CacheResults, CacheResultsDriver, CacheResultsCover>();

/// Most hits that wait.
const HIT_QUEUE_DEPTH: usize = 32;

/// Loads in flight, derived from the block's ports.
struct Loads {
    /// For each number of a load: its parts in flight, and whether it is closed.
    parts: Vec<u8>,
    closed: Vec<bool>,
    current: usize,
    /// Numbers of the hits that wait, oldest first.
    hits: VecDeque<u8>,
}

impl Loads {
    fn new(shape: &SmShape) -> Self {
        let rows = shape.line_rows;
        Self { parts: vec![0; rows], closed: vec![false; rows], current: 0, hits: VecDeque::new() }
    }

    /// Whether a part belongs to the load before it.
    fn continues(&self, first: bool) -> bool {
        !first && self.parts[self.current] != 0 && !self.closed[self.current]
    }

    /// The number of the result that is offered.
    fn offered(&self, i: &CacheResultsIn) -> usize {
        usize::from(if i.miss_valid_i == 1 {
            i.miss_load_i
        } else {
            self.hits.front().copied().unwrap_or(i.push_load_i)
        })
    }

    fn step(&mut self, i: &CacheResultsIn, o: &CacheResultsOut) {
        let going = self.offered(i);
        if i.push_valid_i == 1 && o.push_ready_o == 1 {
            self.hits.push_back(i.push_load_i);
        }
        if i.row_valid_i == 1 {
            self.current = usize::from(o.row_load_o);
            self.parts[self.current] += 1;
            self.closed[self.current] = i.row_last_i == 1;
        }
        if i.pop_i == 1 {
            self.parts[going] -= 1;
            if i.miss_valid_i == 0 {
                self.hits.pop_front();
            }
        }
        if i.rst_ni == 0 {
            self.parts.fill(0);
            self.hits.clear();
        }
    }
}

/// Driver of `cache_results`. It knows which parts of loads are pending.
pub(crate) struct CacheResultsDriver {
    latency: Latency,
    reset: Reset,
    twin: Twin<CacheResults>,
    loads: Loads,
    /// For each part for which neither a hit nor an answer of memory has come: the number of its load.
    away: Vec<u8>,
    /// Whether a hit and an answer are offered; they are until they are taken.
    hit: bool,
    answer: bool,
    /// Parts of the current instruction so far.
    parts: usize,
}

knobs! {
    pub(crate) struct CacheResultsKnobs {
        row: "a part of a load is made" = [100, 600, 1000],
        first: "it is the first one of its instruction" = [0, 0, 50, 300, 900],
        last: "it is the last one" = [0, 100, 400, 900],
        hit: "a hit comes" = [0, 20, 300, 1000],
        miss: "an answer comes" = [0, 20, 300, 1000],
        pop: "a result that is offered is taken" = [20, 300, 1000, 1000],
        soon: "a hit or an answer is of the newest part" = [0, 500, 1000],
        partial: "lanes are inactive" = [0, 900],
        reset,
    }
}

impl Driver for CacheResultsDriver {
    type In = CacheResultsIn;
    type Knobs = CacheResultsKnobs;

    fn new(shape: &SmShape, config: &Config) -> Self {
        Self {
            latency: Latency::new(cfg_of_block(config, "cache_results") as u8),
            reset: Reset::default(),
            twin: Twin::new(shape),
            loads: Loads::new(shape),
            away: Vec::new(),
            hit: false,
            answer: false,
            parts: 0,
        }
    }

    fn unreached(_: &SmShape, _: &Config) -> Vec<Unreached> {
        let none = |name: &str, width: u32| {
            Unreached::field::<ResultWord>("miss_i", name, 0..=width - 1, "loads have no predicate")
        };
        vec![
            Unreached::field::<ResultWord>("miss_i", "done", 0..=0, "what the last part is, this block knows"),
            none("pred_valid", 1),
            none("pred", 3),
            none("pred_data", LANES as u32),
        ]
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &CacheResultsKnobs, i: &mut CacheResultsIn) {
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.cfg_i = self.latency.next(rng, i.rst_ni == 0);
        self.part(rng, knobs, i);
        self.hit(rng, knobs, i);
        self.answer(rng, knobs, i);
        i.pop_i = 0;
        self.twin.late(i);
        i.pop_i = self.twin.out.result_valid_o & u8::from(rng.chance(knobs.pop));
        self.twin.late(i);
        self.twin.clock(i);
        let out = &self.twin.out;
        self.loads.step(i, out);
        self.hit &= out.push_ready_o == 0;
        self.answer &= out.miss_pop_o == 0;
        if i.row_valid_i == 1 {
            self.away.push(out.row_load_o);
        }
        if i.rst_ni == 0 {
            (self.hit, self.answer, self.parts) = (false, false, 0);
            self.away.clear();
        }
    }
}

impl CacheResultsDriver {
    fn part(&mut self, rng: &mut Rng, knobs: &CacheResultsKnobs, i: &mut CacheResultsIn) {
        // An instruction has a part for each lane, at most.
        i.row_first_i = (self.parts == LANES || rng.chance(knobs.first)).into();
        i.row_last_i = rng.chance(knobs.last).into();
        let continues = self.loads.continues(i.row_first_i == 1);
        i.row_valid_i = ((continues || self.twin.out.room_o == 1) && rng.chance(knobs.row)).into();
        if i.row_valid_i == 1 {
            self.parts = if continues { self.parts + 1 } else { 1 };
        }
    }

    /// Takes a pending part whose data come now; returns the number of its load.
    fn comes(&mut self, rng: &mut Rng, soon: u32) -> u8 {
        let newest = self.away.len() - 1;
        let which = if rng.chance(soon) { newest } else { rng.below(self.away.len() as u64) as usize };
        self.away.swap_remove(which)
    }

    fn hit(&mut self, rng: &mut Rng, knobs: &CacheResultsKnobs, i: &mut CacheResultsIn) {
        if !self.hit && !self.away.is_empty() && rng.chance(knobs.hit) {
            self.hit = true;
            i.push_load_i = self.comes(rng, knobs.soon);
            (i.push_warp_i, i.push_mask_i) = (warp(rng), lane_mask(rng, knobs.partial));
            let reg = register(rng);
            (i.push_reg_valid_i, i.push_reg_i) = (reg.is_some().into(), reg.unwrap_or_default());
            rng.fill(&mut i.push_data_i.0);
        }
        i.push_valid_i = self.hit.into();
        i.push_reg_valid_i &= i.push_valid_i;
    }

    fn answer(&mut self, rng: &mut Rng, knobs: &CacheResultsKnobs, i: &mut CacheResultsIn) {
        if !self.answer && !self.away.is_empty() && rng.chance(knobs.miss) {
            self.answer = true;
            i.miss_load_i = self.comes(rng, knobs.soon);
            let reg = register(rng);
            i.miss_i = ResultWord::from(ResultFields {
                done: 0,
                pred_valid: 0,
                pred: 0,
                d: reg.unwrap_or_default(),
                warp: warp(rng),
                pred_data: 0,
                mask: lane_mask(rng, knobs.partial),
            });
            i.miss_reg_valid_i = reg.is_some().into();
            rng.fill(&mut i.miss_data_i.0);
        }
        i.miss_valid_i = self.answer.into();
        i.miss_reg_valid_i &= i.miss_valid_i;
    }
}

pub(crate) struct CacheResultsCover {
    rows: usize,
    loads: Loads,
}

#[cover]
impl CacheResultsCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { rows: shape.line_rows, loads: Loads::new(shape) }
    }

    fn observe(&mut self, i: &CacheResultsIn, o: &CacheResultsOut, _: &CacheResultsProbe, points: &mut Points) {
        self.part(i, o, points);
        self.result(i, o, points);
        self.loads.step(i, o);
    }

    fn part(&self, i: &CacheResultsIn, o: &CacheResultsOut, points: &mut Points) {
        let loads = &self.loads;
        let used = loads.parts.iter().filter(|&&parts| parts != 0).count();
        let (first, last) = (i.row_first_i == 1, i.row_last_i == 1);
        let (parts, closed) = (loads.parts[loads.current], loads.closed[loads.current]);
        let part = i.row_valid_i == 1;
        let continues = part && loads.continues(first);
        let new = part && !continues;
        let going = loads.offered(i);
        let goes = i.pop_i == 1 && going == loads.current;
        let below = loads
            .parts
            .iter()
            .position(|&parts| parts == 0)
            .is_some_and(|free| loads.parts[free..].iter().any(|&parts| parts != 0));
        point!("the first part of an instruction, the load before is closed", new && first && (closed || parts == 0));
        point!("the first part of an instruction, the load before is open", new && first && parts != 0 && !closed);
        point!("a part and the load before is closed", new && !first && parts != 0 && closed);
        point!("a part and the load before is gone, not closed", new && !first && parts == 0 && !closed);
        point!("a load of one part", new && last);
        point!("a load that stays open", new && !last);
        point!("the last part of several", continues && last);
        point!("a part in the middle", continues && !last);
        point!("a part as the only part of its load goes", continues && goes && parts == 1);
        point!("the last part as the only part of its load goes", continues && last && goes && parts == 1);
        point!("a part as another part of its load goes", continues && goes && parts > 1);
        point!("a part as one of another load goes", continues && i.pop_i == 1 && !goes);
        point!("a new load as the only part of another one goes", new && i.pop_i == 1 && loads.parts[going] == 1);
        point!("a new load below others", new && below);
        point!("the last free number", new && used == self.rows - 1);
        point!("no number is free", used == self.rows && o.room_o == 0);
        point!("no number is free, and a part continues", continues && used == self.rows);
        point!("more than half as many parts as lanes", parts > 16);
        point!("a part for each lane", usize::from(parts) == LANES);
        point!("part under reset", part && i.rst_ni == 0);
    }

    fn result(&self, i: &CacheResultsIn, o: &CacheResultsOut, points: &mut Points) {
        let loads = &self.loads;
        let (pop, answer, hit) = (i.pop_i == 1, i.miss_valid_i == 1, i.push_valid_i == 1);
        let (offered, done) = (o.result_valid_o == 1, o.result_valid_o == 1 && o.result_o.done() == 1);
        let (going, waiting) = (loads.offered(i), loads.hits.len());
        let (parts, closed) = if offered { (loads.parts[going], loads.closed[going]) } else { (0, false) };
        let none = i.cfg_i == 0;
        let taken = hit && o.push_ready_o == 1;
        point!("the last part goes, a hit", pop && done && !answer);
        point!("the last part goes, an answer", pop && done && answer);
        point!("a part goes, others are to come", pop && closed && parts > 1);
        point!("a part goes, the load is not closed", pop && !closed && parts > 1);
        point!("the first one of a part for each lane goes", pop && usize::from(parts) == LANES);
        point!("the only part goes, the load is not closed", pop && !closed && parts == 1);
        point!("a part that is not the last one is offered, then it is", offered && !done && !pop && parts > 1);
        point!("an answer goes, a hit waits", pop && answer && waiting != 0);
        point!("an answer goes, a hit that has no latency comes", pop && answer && none && waiting == 0 && taken);
        point!("an answer waits", answer && !pop);
        point!("a hit waits to be taken", offered && !answer && !pop);
        point!("hits wait for their latency", !offered && waiting != 0);
        point!("a hit passes", pop && !answer && waiting == 0 && taken);
        point!("a hit does not pass, it has a latency", taken && waiting == 0 && !none && !answer && !offered);
        point!("without a latency, and others wait", taken && none && waiting != 0 && pop && !answer);
        point!("a hit comes as another one goes", taken && pop && !answer && waiting != 0);
        point!("hits of two loads wait", loads.hits.iter().any(|&load| Some(&load) != loads.hits.front()));
        point!("hits are full", waiting == HIT_QUEUE_DEPTH);
        point!("a hit has no room", hit && !taken);
        point!("a result with a register", pop && o.result_reg_valid_o == 1);
        point!("a hit without a register", pop && !answer && o.result_reg_valid_o == 0);
        point!("an answer without a register", pop && answer && o.result_reg_valid_o == 0);
        point!("reset with hits and an answer", i.rst_ni == 0 && waiting != 0 && answer);
        point!("hit under reset", i.rst_ni == 0 && hit);
    }
}
