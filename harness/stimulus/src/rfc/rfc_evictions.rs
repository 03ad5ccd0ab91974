//! `rfc_evictions`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::rfc::RfcShape;
use gpurf_blocks::rfc::{PLACES, RfcEvictions, RfcEvictionsIn, RfcEvictionsOut, RfcEvictionsProbe};
use gpurf_blocks::shape::cfg_of_block;
use gpurf_lockstep::Rng;

use crate::driver::{Reset, lane_mask};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<RfcEvictions, EvictionsDriver, EvictionsCover>();

/// Driver of `rfc_evictions`. It keeps the counts of the ring, and the last few values that went into it, so that lookups find something.
pub(crate) struct EvictionsDriver {
    shape: RfcShape,
    /// The strap *prompt*.
    prompt: u8,
    reset: Reset,
    count: usize,
    arrived: usize,
    sent: usize,
    /// Warp and register of the last values, the newest first.
    known: [(u8, u8); PLACES + 2],
}

knobs! {
    pub(crate) struct EvictionsKnobs {
        push: "an eviction begins where there is room" = [50, 300, 950],
        data: "data comes where it is missing" = [100, 500, 1000],
        ready: "the MRF's queue takes a value" = [50, 400, 1000],
        done: "the value in the MRF's queue goes into its bank" = [50, 400, 1000],
        find: "a look is for one of the last values" = [100, 700],
        again: "a value is of the register of another one" = [0, 100, 500],
        partial: "lanes are not dirty" = [0, 900],
        reset,
    }
}

impl Driver for EvictionsDriver {
    type In = RfcEvictionsIn;
    type Knobs = EvictionsKnobs;

    fn new(shape: &RfcShape, config: &Config) -> Self {
        let prompt = cfg_of_block(config, "rfc_evictions") as u8;
        let (reset, known) = (Reset::default(), [(0, 0); PLACES + 2]);
        Self { shape: *shape, prompt, reset, count: 0, arrived: 0, sent: 0, known }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &EvictionsKnobs, i: &mut RfcEvictionsIn) {
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.cfg_i = self.prompt;
        let sent = self.sent;
        let done = sent == 1 && rng.chance(knobs.done);
        // The MRF's queue holds one value: while it holds one, the next value goes in when that one leaves.
        let ready = rng.chance(knobs.ready) && (sent == 0 || done);
        let data = self.arrived < self.count && rng.chance(knobs.data);
        let offered = self.arrived + usize::from(data && self.prompt == 1) > sent;
        let push = self.count < PLACES && rng.chance(knobs.push);
        (i.done_i, i.offer_ready_i) = (done.into(), ready.into());
        (i.data_valid_i, i.push_valid_i) = (data.into(), push.into());
        if data {
            rng.fill(&mut i.data_i.0);
        }
        if push {
            let value =
                if rng.chance(knobs.again) { self.any(rng) } else { (rng.below(64) as u8, rng.next_u64() as u8) };
            (i.push_warp_i, i.push_reg_i) = value;
            i.push_slot_i = rng.below(self.shape.cache_slots() as u64) as u8;
            i.push_base_i = rng.below(self.shape.mrf.depth as u64) as u16;
            i.push_mask_i = lane_mask(rng, knobs.partial);
        }
        (i.look_warp_i, i.look_reg_i[0]) = self.look(rng, knobs);
        for k in 1..OPERANDS {
            let (warp, register) = self.look(rng, knobs);
            i.look_reg_i[k] = register;
            if rng.chance(100) {
                i.look_warp_i = warp;
            }
        }
        for b in 0..self.shape.ports() {
            (i.result_warp_i[b], i.result_reg_i[b]) = self.look(rng, knobs);
        }

        self.sent = sent + usize::from(offered && ready) - usize::from(done);
        self.count = self.count + usize::from(push) - usize::from(done);
        self.arrived = self.arrived + usize::from(data) - usize::from(done);
        if push {
            self.known.rotate_right(1);
            self.known[0] = (i.push_warp_i, i.push_reg_i);
        }
        if i.rst_ni == 0 {
            (self.count, self.arrived, self.sent) = (0, 0, 0);
        }
    }
}

impl EvictionsDriver {
    fn any(&self, rng: &mut Rng) -> (u8, u8) {
        self.known[rng.below(self.known.len() as u64) as usize]
    }

    /// Warp and register of a value that is, or was, in the ring; or with only its warp, or only its register; or any.
    fn look(&self, rng: &mut Rng, knobs: &EvictionsKnobs) -> (u8, u8) {
        let (warp, register) = self.any(rng);
        if rng.chance(knobs.find) {
            return (warp, register);
        }
        match rng.below(3) {
            0 => (warp, register ^ 1 << rng.below(8)),
            1 => (warp ^ 1 << rng.below(6), register),
            _ => (rng.below(64) as u8, rng.next_u64() as u8),
        }
    }
}

pub(crate) struct EvictionsCover {
    /// Warp and register of each place.
    held: [(u8, u8); PLACES],
    shape: RfcShape,
    /// The strap *prompt*.
    prompt: bool,
}

#[cover]
impl EvictionsCover {
    fn new(shape: &RfcShape, config: &Config) -> Self {
        Self { held: [(0, 0); PLACES], shape: *shape, prompt: cfg_of_block(config, "rfc_evictions") == 1 }
    }

    fn observe(&mut self, i: &RfcEvictionsIn, o: &RfcEvictionsOut, p: &RfcEvictionsProbe, points: &mut Points) {
        let (count, arrived) = (usize::from(p.count_q), usize::from(p.arrived_q));
        let place = |n: usize| (usize::from(p.first_q) + n) % PLACES;
        let running = i.rst_ni == 1;
        let (push, data, done) = (i.push_valid_i == 1, i.data_valid_i == 1, i.done_i == 1);
        let taken = o.offer_valid_o == 1 && i.offer_ready_i == 1;
        let is = |n: usize, register: u8| self.held[place(n)] == (i.look_warp_i, register);
        let found = |n: usize| n < count && i.look_reg_i.iter().any(|&r| is(n, r));
        let twice = i.look_reg_i.iter().any(|&r| (0..count).filter(|&n| is(n, r)).count() > 1);
        let other_warp = (0..count).any(|n| i.look_reg_i[0] == self.held[place(n)].1) && o.look_match_o & 1 == 0;
        let gone = count < PLACES && is(PLACES - 1, i.look_reg_i[0]) && o.look_match_o & 1 == 0;
        if running {
            point!("an eviction begins", push);
            point!("one begins in the last place", push && count == PLACES - 1);
            point!("one begins as another one ends", push && done);
            point!("one begins, data comes, one ends", push && data && done);
            point!("places begin anew", push && usize::from(p.first_q) + count >= PLACES);
            point!("full", count == PLACES);
            point!("full, and one goes into its bank", count == PLACES && done);
            point!("data comes for the oldest", data && arrived == 0);
            point!("data comes for a younger one", data && arrived > 0);
            point!("several wait for their data", count - arrived > 1);
            point!("a value waits for its turn at the queue", o.offer_valid_o == 1 && p.sent_q == 0 && !taken);
            point!("offered and taken, nothing in the queue", taken && p.sent_q == 0);
            point!("the next one is taken as one goes into its bank", taken && done);
            point!("nothing is offered after the one in the queue", p.sent_q == 1 && count > 1 && o.offer_valid_o == 0);
            point!("the next one is offered after the one in the queue", p.sent_q == 1 && o.offer_valid_o == 1);
            point!("the last one goes into its bank", done && count == 1);
            point!("looked for and found", o.look_match_o != 0);
            point!("all sources found", o.look_match_o == 7);
            point!("found: the oldest", count > 1 && found(0));
            point!("found: the youngest", count > 1 && found(count - 1));
            let oldest = done && found(0);
            let others = i.look_reg_i.iter().any(|&r| is(0, r) && (1..count).all(|n| !is(n, r)));
            point!("found while it goes into its bank", oldest && o.look_match_o != 0);
            #[given(self.prompt)]
            {
                let through = taken && arrived == usize::from(p.sent_q);
                point!("data goes through the ring", through && p.sent_q == 0);
                point!("data goes through as the one before it goes into its bank", through && done);
                point!("data comes as its value waits for the queue", data && o.offer_valid_o == 1 && !taken);
                point!("not found: it goes into its bank", oldest && others && o.look_match_o != 7);
                point!("a result finds what goes into its bank", done && o.result_match_o != 0 && count == 1);
            }
            point!("found before its data has come", (arrived..count).any(found));
            point!("found twice", twice);
            point!("not found: the register of another warp", other_warp);
            point!("not found: has gone into its bank", gone);
            point!("a result's register is found", o.result_match_o != 0);
            point!("registers of both results are found", o.result_match_o == 3, given = self.shape.ports() == 2);
            point!("a slot with several values", count > 1 && o.busy_o.count_ones() == 1);
            point!("values of several slots", o.busy_o.count_ones() > 1, given = self.shape.cache_slots() > 1);
        }
        point!("reset under load", !running && count > 1 && p.sent_q == 1);
        if push {
            self.held[place(count)] = (i.push_warp_i, i.push_reg_i);
        }
    }
}
