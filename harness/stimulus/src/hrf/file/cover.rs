//! Situations of `hrf`.

use gpurf_blocks::Shape;
use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HRF_COUNT_EVENT, HRF_EVENT, HRF_READS_EVENT, HrfIn, HrfOut, HrfProbe, HrfShape, PARITIES};

use crate::Cover;
use crate::cover::part;

pub(crate) struct HrfCover {
    shape: HrfShape,
    /// Registers that each buffer has, and lanes of each of them.
    entries: [u64; PARITIES],
    lanes: [[u32; 64]; PARITIES],
    /// Registers of each slot's warp that went from its buffer to its bank when it had it last.
    drained: [u64; PARITIES],
    /// The warp that each slot had last; the slot that was open last.
    had: [Option<u8>; PARITIES],
    last: Option<usize>,
    /// Slots that became free in the cycle before, and in the one before that.
    freed: [u8; 2],
    /// Slots that were open in the cycle before.
    open: u8,
    /// A result waited for power in the cycle before.
    needed: bool,
}

/// Points for which a queue has to be in use just then: rare where a bank takes a result in each cycle.
const QUEUED: [&str; 3] = [
    "results wait that are older than the drain",
    "a drain begins behind older results",
    "a result for the full buffer waits behind its queue",
];

impl Cover for HrfCover {
    type In = HrfIn;
    type Out = HrfOut;
    type Probe = HrfProbe;

    fn points_of(config: &Config) -> Vec<&'static str> {
        let (shape, hrf) = (HrfShape::of(config), config.hrf);
        let mut points = Self::points(&shape);
        if shape.buffered() && hrf.gating && hrf.powered_entries < shape.buffer_entries {
            points.extend([
                "a result waits for power",
                "power is there",
                "buffers fall asleep",
                "the buffer falls asleep beside the other one's use",
                "a warp gives up, upper entries are in use",
            ]);
        }
        if hrf.read_latency > 1 {
            points.push("a read takes several cycles");
        }
        if hrf.write_latency == 1 {
            points.retain(|point| !QUEUED.contains(point));
        }
        points
    }

    fn points(shape: &HrfShape) -> Vec<&'static str> {
        let mut points = vec![
            "an instruction waits for a collector",
            "a source waits for its bank",
            "a source from the bank",
            "an instruction waits for its unit",
            "a result follows another one at once",
            "both banks write",
            "a warp ends, nothing is written",
            "reset under load",
        ];
        if !shape.buffered() {
            points.extend([
                "a result goes straight to its bank",
                "a result waits for its bank",
                "frozen",
                "frozen, an instruction is offered",
                "a source waits while everything is frozen",
            ]);
            return points;
        }
        points.extend([
            "all three sources in the buffer",
            "sources in buffer and bank at once",
            "a source partly in the buffer",
            "a result takes an entry",
            "a result goes into its register's entry",
            "that has other lanes",
            "what was drained is read in the bank",
            "what was drained is written again",
            "a warp gives up with an empty buffer",
            "a warp gives up with entries",
            "a warp gives up in the middle of the other's drain",
            "a warp gives up, and its queue has results",
            "a warp gives up in a divergent region",
            "a warp gives up with a load in flight, which comes during the drain",
            "a warp becomes active in the middle of the other's drain",
            "the warp that has just been drained comes back at once",
            "the next warp is of the same parity",
            "a warp becomes active while results of its bank wait",
            "a warp ends with entries",
            "a warp ends while the other drains",
            "a load comes for a register that is still to be drained",
            "a load comes for a register that the buffer does not have",
            "a load comes for the active warp",
            "a load comes for a warp without a slot",
            "results wait that are older than the drain",
            "results wait that are younger than the drain",
            "a drain begins behind older results",
            "a drained entry has some lanes",
            "a source waits for the end of its bank's drain",
            "a queue writes beside the other bank's drain",
            "reset in the middle of a drain",
        ]);
        if shape.loads <= 4 {
            points.push("a result waits for a place in its queue");
        }
        if shape.buffer_entries <= 24 {
            points.extend([
                "a warp gives up with a full buffer",
                "a full buffer gains lanes",
                "a result goes straight to its bank",
                "a result waits for its bank",
                "frozen",
            ]);
        }
        // A large buffer is full too seldom when its bank's queue is in use.
        if shape.buffer_entries <= 8 {
            points.push("a result for the full buffer waits behind its queue");
        }
        points
    }

    fn new(shape: &HrfShape) -> Self {
        Self {
            shape: *shape,
            entries: [0; PARITIES],
            lanes: [[0; 64]; PARITIES],
            drained: [0; PARITIES],
            had: [None; PARITIES],
            last: None,
            freed: [0; 2],
            open: 0,
            needed: false,
        }
    }

    fn observe(&mut self, i: &HrfIn, o: &HrfOut, p: &HrfProbe, hit: &mut dyn FnMut(&'static str)) {
        if i.rst_ni == 0 {
            if p.nets.busy != 0 && p.nets.results_valid == 1 {
                hit("reset under load");
            }
            if p.nets.drain_valid != 0 {
                hit("reset in the middle of a drain");
            }
            *self = Self::new(&self.shape);
            return;
        }
        let mut point = |name: &'static str, now: bool| {
            if now {
                hit(name);
            }
        };
        self.instructions(i, o, p, &mut point);
        self.result(i, o, p, &mut point);
        for b in 0..PARITIES {
            self.slot(i, o, p, b, &mut point);
        }
        self.open = i.slot_valid_i & !i.flush_i;
        self.freed = [o.flush_done_o, self.freed[0]];
    }
}

type Point<'a> = dyn FnMut(&'static str, bool) + 'a;

fn at(set: u8, b: usize) -> bool {
    set >> b & 1 == 1
}

impl HrfCover {
    /// Whether a buffer is being emptied.
    fn empties(i: &HrfIn, p: &HrfProbe, b: usize) -> bool {
        at(i.flush_i & !i.drop_i, b) && p.nets.buffer_used[b] != 0
    }

    fn instructions(&self, i: &HrfIn, o: &HrfOut, p: &HrfProbe, point: &mut Point) {
        let nets = &p.nets;
        let reads = |name: &str| part(HRF_READS_EVENT, nets.reads_event, name);
        let event = |name: &str| part(HRF_EVENT, o.event_o, name);
        let frozen = nets.frozen == 1;
        let waits = reads("conflict_read_write") != 0;
        point("an instruction waits for a collector", i.issue_valid_i == 1 && o.issue_ready_o == 0 && !frozen);
        point("an instruction waits for its unit", o.dispatch_valid_o == 1 && i.dispatch_ready_i == 0);
        point("all three sources in the buffer", event("hrf_hit") == 3);
        point("sources in buffer and bank at once", event("hrf_hit") != 0 && reads("read") == 1);
        point("a source partly in the buffer", event("hrf_partial") != 0);
        point("a source from the bank", event("hrf_miss") != 0);
        point("a source waits for its bank", waits && !frozen);
        point("frozen", frozen);
        point("frozen, an instruction is offered", frozen && i.issue_valid_i == 1);
        point("a source waits while everything is frozen", waits && frozen);
        point("a read takes several cycles", p.reads.left_q != 0);
        point("both banks write", nets.bank_writing == 3);
        let b = usize::from(nets.reads_bank);
        // Nothing new has been written: what is under way is the last of the drain.
        let behind = waits && at(nets.bank_writing, b) && self.drained[b] != 0 && !at(nets.bank_write_valid, b);
        point("a source waits for the end of its bank's drain", behind && at(self.open, b));
        let bank = nets.grant != 0 && (0..3).any(|k| self.reads_drained(p, b, k));
        point("what was drained is read in the bank", bank);
    }

    /// Whether source k of the instruction that reads is read in the bank, and was drained there.
    fn reads_drained(&self, p: &HrfProbe, b: usize, k: usize) -> bool {
        let nets = &p.nets;
        let c = nets.grant.trailing_zeros() as usize / 3;
        let granted = nets.grant >> (3 * c + k) & 1 == 1;
        granted && !at(nets.reads_buffer, k) && self.drained[b] >> nets.reads_look_reg[k] & 1 == 1
    }

    fn result(&mut self, i: &HrfIn, o: &HrfOut, p: &HrfProbe, point: &mut Point) {
        let nets = &p.nets;
        let done = o.write_done_o == 1;
        let direct = nets.results_direct_valid != 0;
        point("a result goes straight to its bank", direct && done);
        point("a result waits for its bank", direct && !done);
        point("a result follows another one at once", done && i.write_valid_i == 1);
        point("a result waits for power", nets.results_need != 0);
        point("power is there", self.needed && nets.results_buffer_valid != 0);
        self.needed = nets.results_need != 0;
        if nets.results_valid == 0 {
            return;
        }
        let (warp, register, mask) = (p.results.warp_q, usize::from(nets.results_reg & 63), nets.results_mask);
        let b = usize::from(warp) % PARITIES;
        let bit = 1u64 << register;
        let full = self.shape.buffered() && usize::from(nets.buffer_used[b]) == self.shape.buffer_entries;
        point("a result for the full buffer waits behind its queue", direct && full && at(nets.loads_valid, b));
        if nets.results_buffer_valid != 0 {
            let new = nets.results_new == 1;
            let had = self.lanes[b][register];
            point("a result takes an entry", new);
            point("a result goes into its register's entry", !new);
            point("that has other lanes", !new && mask & !had != 0);
            point("a full buffer gains lanes", !new && full && mask & !had != 0);
            point("what was drained is written again", new && self.drained[b] & bit != 0);
            self.lanes[b][register] = if new { mask } else { had | mask };
            self.entries[b] |= bit;
        }
        let slot = at(i.slot_valid_i, b) && i.slot_warp_i[b] == warp;
        if nets.results_push_valid != 0 {
            let drains = slot && Self::empties(i, p, b);
            point("a load comes for a register that is still to be drained", drains && self.entries[b] & bit != 0);
            point("a load comes for a register that the buffer does not have", drains && self.entries[b] & bit == 0);
            point("a load comes for a warp without a slot", !slot);
            point("a warp gives up with a load in flight, which comes during the drain", drains);
            point("a result waits for a place in its queue", !done);
        } else {
            // All that is short has landed before a queue gets anything of the bank's.
            point("a load comes for the active warp", slot && at(nets.loads_valid, b));
        }
    }

    fn slot(&mut self, i: &HrfIn, o: &HrfOut, p: &HrfProbe, b: usize, point: &mut Point) {
        let nets = &p.nets;
        let other = 1 - b;
        let used = usize::from(nets.buffer_used[b]);
        let drop = at(i.drop_i, b);
        let count = |name: &str| part(HRF_COUNT_EVENT, o.count_event_o.into(), name);
        let drains = Self::empties(i, p, b);
        let other_drains = Self::empties(i, p, other);
        if at(nets.drain_begin, b) {
            let gives_up = !drop;
            point("a warp gives up with an empty buffer", gives_up && used == 0);
            point("a warp gives up with entries", gives_up && used != 0);
            point("a warp gives up with a full buffer", gives_up && used == self.shape.buffer_entries);
            point("a warp gives up in the middle of the other's drain", gives_up && other_drains);
            point("a warp gives up, and its queue has results", gives_up && at(nets.loads_valid, b));
            let some = (0..64).any(|r| self.entries[b] >> r & 1 == 1 && ![0, u32::MAX].contains(&self.lanes[b][r]));
            point("a warp gives up in a divergent region", gives_up && some);
            point("a warp gives up, upper entries are in use", gives_up && nets.power_state[b] == 2 && used > 4);
            point("a warp ends with entries", drop && used != 0);
            point("a warp ends while the other drains", drop && other_drains);
        }
        point("a warp ends, nothing is written", drop && at(i.flush_i, b));
        let begins = at(i.slot_valid_i & !i.flush_i & !self.open, b);
        if begins {
            let warp = i.slot_warp_i[b];
            let again = self.had[b] == Some(warp);
            point("a warp becomes active in the middle of the other's drain", other_drains);
            point("the warp that has just been drained comes back at once", again && at(self.freed[1], b));
            point("the next warp is of the same parity", self.last == Some(b));
            point("a warp becomes active while results of its bank wait", at(nets.loads_valid, b));
            if !again {
                self.drained[b] = 0;
            }
            (self.had[b], self.last) = (Some(warp), Some(b));
        }
        let (waits, old) = (at(nets.loads_valid, b), at(nets.loads_old, b));
        point("results wait that are older than the drain", drains && waits && old);
        point("results wait that are younger than the drain", drains && waits && !old && !at(nets.drain_begin, b));
        point("a drain begins behind older results", at(nets.drain_begin, b) && waits && drains);
        let taken = at(nets.drain_valid, b) && at(nets.bank_write_ready, b) && nets.write_source[b] == 1;
        point("a drained entry has some lanes", taken && ![0, u32::MAX].contains(&nets.drain_lanes[b]));
        point("a queue writes beside the other bank's drain", other_drains && waits && nets.write_source[b] == 0);
        point("buffers fall asleep", count("hrf_sleeping") != 0);
        let asleep = nets.power_state[b] == 3 && nets.buffer_used[other] != 0;
        point("the buffer falls asleep beside the other one's use", asleep);
        if taken {
            self.drained[b] |= 1 << nets.drain_reg[b];
        }
        if at(nets.drain_empty, b) {
            self.entries[b] = 0;
        }
    }
}
