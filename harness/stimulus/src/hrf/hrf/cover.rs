//! Situations of `hrf`.

use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HRF_COUNT_EVENT, HRF_EVENT, HRF_READS_EVENT, HrfIn, HrfOut, HrfProbe, HrfShape, PARITIES};

use crate::cover::part;
use crate::{Points, cover};

pub(crate) struct HrfCover {
    config: Config,
    shape: HrfShape,
    /// Registers that each buffer has, and lanes of each of them.
    entries: [u64; PARITIES],
    lanes: [[u32; 64]; PARITIES],
    /// Registers of each slot's warp that were drained from its buffer to its bank when the warp last had the slot.
    drained: [u64; PARITIES],
    /// The warp that each slot had last; the slot that was open last.
    had: [Option<u8>; PARITIES],
    last: Option<usize>,
    /// Slots that became free in the cycle before, and in the one before that.
    freed: [u8; 2],
    /// Slots that were open in the cycle before.
    open: u8,
    /// Whether a result waited for power in the previous cycle.
    needed: bool,
}

#[cover]
impl HrfCover {
    fn new(shape: &HrfShape, config: &Config) -> Self {
        Self {
            config: *config,
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

    fn observe(&mut self, i: &HrfIn, o: &HrfOut, p: &HrfProbe, points: &mut Points) {
        if i.rst_ni == 0 {
            point!("reset under load", p.nets.busy != 0 && p.nets.results_valid == 1);
            point!("reset in the middle of a drain", p.nets.drain_valid != 0, given = self.shape.buffered());
            *self = Self::new(&self.shape, &self.config);
            return;
        }
        self.instructions(i, o, p, points);
        self.result(i, o, p, points);
        for b in 0..PARITIES {
            self.slot(i, o, p, b, points);
        }
        self.open = i.slot_valid_i & !i.flush_i;
        self.freed = [o.flush_done_o, self.freed[0]];
    }

    /// Whether buffers are full now and then.
    fn small(&self) -> bool {
        self.shape.buffered() && self.shape.buffer_entries <= 24
    }

    /// Whether entries lose their power.
    fn gates(&self) -> bool {
        let hrf = &self.config.hrf;
        self.shape.buffered() && hrf.gating && hrf.powered_entries < self.shape.buffer_entries
    }

    /// Whether a queue is in use now and then: it rarely is if a bank takes a result in each cycle.
    fn queues(&self) -> bool {
        self.config.hrf.write_latency != 1
    }

    /// Whether a buffer is being emptied.
    fn empties(i: &HrfIn, p: &HrfProbe, b: usize) -> bool {
        at(i.flush_i & !i.drop_i, b) && p.nets.buffer_used[b] != 0
    }

    fn instructions(&self, i: &HrfIn, o: &HrfOut, p: &HrfProbe, points: &mut Points) {
        let nets = &p.nets;
        let reads = |name: &str| part(HRF_READS_EVENT, nets.reads_event, name);
        let event = |name: &str| part(HRF_EVENT, o.event_o, name);
        let frozen = nets.frozen == 1;
        let waits = reads("conflict_read_write") != 0;
        point!("an instruction waits for a collector", i.issue_valid_i == 1 && o.issue_ready_o == 0 && !frozen);
        point!("an instruction waits for its unit", o.dispatch_valid_o == 1 && i.dispatch_ready_i == 0);
        point!("a source from the bank", event("hrf_miss") != 0);
        point!("a source waits for its bank", waits && !frozen);
        point!("frozen", frozen, given = !self.shape.buffered() || self.small());
        point!("frozen, an instruction is offered", frozen && i.issue_valid_i == 1, given = !self.shape.buffered());
        point!("a source waits while everything is frozen", waits && frozen, given = !self.shape.buffered());
        point!("a read takes several cycles", p.reads.left_q != 0, given = self.config.hrf.read_latency > 1);
        point!("both banks write", nets.bank_writing == 3);
        #[given(self.shape.buffered())]
        {
            point!("all three sources in the buffer", event("hrf_hit") == 3);
            point!("sources in buffer and bank at once", event("hrf_hit") != 0 && reads("read") == 1);
            point!("a source partly in the buffer", event("hrf_partial") != 0);
        }
        let b = usize::from(nets.reads_bank);
        // No new write begins: the write in progress is the last one of the drain.
        let behind = waits && at(nets.bank_writing, b) && self.drained[b] != 0 && !at(nets.bank_write_valid, b);
        point!(
            "a source waits for the end of its bank's drain",
            behind && at(self.open, b),
            given = self.shape.buffered()
        );
        let bank = nets.grant != 0 && (0..3).any(|k| self.reads_drained(p, b, k));
        point!("what was drained is read in the bank", bank, given = self.shape.buffered());
    }

    /// Whether source k of the instruction that reads is read in the bank, and was drained there.
    fn reads_drained(&self, p: &HrfProbe, b: usize, k: usize) -> bool {
        let nets = &p.nets;
        let c = nets.grant.trailing_zeros() as usize / 3;
        let granted = nets.grant >> (3 * c + k) & 1 == 1;
        granted && !at(nets.reads_buffer, k) && self.drained[b] >> nets.reads_look_reg[k] & 1 == 1
    }

    fn result(&mut self, i: &HrfIn, o: &HrfOut, p: &HrfProbe, points: &mut Points) {
        let nets = &p.nets;
        let done = o.write_done_o == 1;
        let direct = nets.results_direct_valid != 0;
        point!("a result goes straight to its bank", direct && done, given = !self.shape.buffered() || self.small());
        point!("a result waits for its bank", direct && !done, given = !self.shape.buffered() || self.small());
        point!("a result follows another one at once", done && i.write_valid_i == 1);
        point!("a result waits for power", nets.results_need != 0, given = self.gates());
        point!("power is there", self.needed && nets.results_buffer_valid != 0, given = self.gates());
        self.needed = nets.results_need != 0;
        if nets.results_valid == 0 {
            return;
        }
        let (warp, register, mask) = (p.results.warp_q, usize::from(nets.results_reg & 63), nets.results_mask);
        let b = usize::from(warp) % PARITIES;
        let bit = 1u64 << register;
        let full = self.shape.buffered() && usize::from(nets.buffer_used[b]) == self.shape.buffer_entries;
        // A large buffer is rarely full while its bank's queue is in use.
        point!(
            "a result for the full buffer waits for its queue",
            direct && full && at(nets.loads_valid, b),
            given = self.shape.buffered() && self.shape.buffer_entries <= 8 && self.queues()
        );
        if nets.results_buffer_valid != 0 {
            let new = nets.results_new == 1;
            let had = self.lanes[b][register];
            point!("a full buffer gains lanes", !new && full && mask & !had != 0, given = self.small());
            #[given(self.shape.buffered())]
            {
                point!("a result takes an entry", new);
                point!("a result goes into its register's entry", !new);
                point!("that has other lanes", !new && mask & !had != 0);
                point!("what was drained is written again", new && self.drained[b] & bit != 0);
            }
            self.lanes[b][register] = if new { mask } else { had | mask };
            self.entries[b] |= bit;
        }
        let slot = at(i.slot_valid_i, b) && i.slot_warp_i[b] == warp;
        if nets.results_push_valid != 0 {
            let drains = slot && Self::empties(i, p, b);
            point!(
                "a result waits for a place in its queue",
                !done,
                given = self.shape.buffered() && self.shape.loads <= 4
            );
            #[given(self.shape.buffered())]
            {
                point!("a load comes for a register that is still to be drained", drains && self.entries[b] & bit != 0);
                point!(
                    "a load comes for a register that the buffer does not have",
                    drains && self.entries[b] & bit == 0
                );
                point!("a load comes for a warp without a slot", !slot);
                point!("a warp gives up with a load in flight, which comes during the drain", drains);
            }
        } else {
            // All results of short operations have landed before a queue gets a result for the bank.
            point!("a load comes for the active warp", slot && at(nets.loads_valid, b), given = self.shape.buffered());
        }
    }

    fn slot(&mut self, i: &HrfIn, o: &HrfOut, p: &HrfProbe, b: usize, points: &mut Points) {
        let nets = &p.nets;
        let other = 1 - b;
        let used = usize::from(nets.buffer_used[b]);
        let drop = at(i.drop_i, b);
        let count = |name: &str| part(HRF_COUNT_EVENT, o.count_event_o.into(), name);
        let drains = Self::empties(i, p, b);
        let other_drains = Self::empties(i, p, other);
        if at(nets.drain_begin, b) {
            let gives_up = !drop;
            point!(
                "a warp gives up with a full buffer",
                gives_up && used == self.shape.buffer_entries,
                given = self.small()
            );
            #[given(self.shape.buffered())]
            {
                point!("a warp gives up with an empty buffer", gives_up && used == 0);
                point!("a warp gives up with entries", gives_up && used != 0);
                point!("a warp gives up in the middle of the other's drain", gives_up && other_drains);
                point!("a warp gives up, and its queue has results", gives_up && at(nets.loads_valid, b));
            }
            let some = (0..64).any(|r| self.entries[b] >> r & 1 == 1 && ![0, u32::MAX].contains(&self.lanes[b][r]));
            point!(
                "a warp gives up, upper entries are in use",
                gives_up && nets.power_state[b] == 2 && used > 4,
                given = self.gates()
            );
            #[given(self.shape.buffered())]
            {
                point!("a warp gives up in a divergent region", gives_up && some);
                point!("a warp ends with entries", drop && used != 0);
                point!("a warp ends while the other drains", drop && other_drains);
            }
        }
        point!("a warp ends, nothing is written", drop && at(i.flush_i, b));
        let begins = at(i.slot_valid_i & !i.flush_i & !self.open, b);
        if begins {
            let warp = i.slot_warp_i[b];
            let again = self.had[b] == Some(warp);
            #[given(self.shape.buffered())]
            {
                point!("a warp becomes active in the middle of the other's drain", other_drains);
                point!("the warp that has just been drained comes back at once", again && at(self.freed[1], b));
                point!("the next warp is of the same parity", self.last == Some(b));
                point!("a warp becomes active while results of its bank wait", at(nets.loads_valid, b));
            }
            if !again {
                self.drained[b] = 0;
            }
            (self.had[b], self.last) = (Some(warp), Some(b));
        }
        let (waits, old) = (at(nets.loads_valid, b), at(nets.loads_old, b));
        point!(
            "results wait that are older than the drain",
            drains && waits && old,
            given = self.shape.buffered() && self.queues()
        );
        point!(
            "results wait that are younger than the drain",
            drains && waits && !old && !at(nets.drain_begin, b),
            given = self.shape.buffered()
        );
        point!(
            "a drain begins while older results wait",
            at(nets.drain_begin, b) && waits && drains,
            given = self.shape.buffered() && self.queues()
        );
        let taken = at(nets.drain_valid, b) && at(nets.bank_write_ready, b) && nets.write_source[b] == 1;
        point!(
            "a drained entry has some lanes",
            taken && ![0, u32::MAX].contains(&nets.drain_lanes[b]),
            given = self.shape.buffered()
        );
        point!(
            "a queue writes beside the other bank's drain",
            other_drains && waits && nets.write_source[b] == 0,
            given = self.shape.buffered()
        );
        point!("buffers fall asleep", count("hrf_sleeping") != 0, given = self.gates());
        let asleep = nets.power_state[b] == 3 && nets.buffer_used[other] != 0;
        point!("the buffer falls asleep beside the other one's use", asleep, given = self.gates());
        if taken {
            self.drained[b] |= 1 << nets.drain_reg[b];
        }
        if at(nets.drain_empty, b) {
            self.entries[b] = 0;
        }
    }
}

fn at(set: u8, b: usize) -> bool {
    set >> b & 1 == 1
}
