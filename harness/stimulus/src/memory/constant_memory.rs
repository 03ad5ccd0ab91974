//! `constant_memory`.

use gpurf_blocks::config::Config;
use gpurf_blocks::memory::{ConstantMemory, ConstantMemoryIn, ConstantMemoryOut, ConstantMemoryProbe};
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_blocks::{LANES, Ports, WarpData};
use gpurf_lockstep::Rng;

use super::lanes::{Pending, addresses, set_lanes};
use crate::driver::{Reset, Twin};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<ConstantMemory, ConstantMemoryDriver, ConstantMemoryCover>();

pub(crate) struct ConstantMemoryDriver {
    words: u64,
    reset: Reset,
    pending: Pending,
    /// The constant unit's access.
    direct: Pending,
    /// The accesses that are being offered.
    access: Box<ConstantMemoryIn>,
    /// Tells which lanes are served.
    twin: Twin<ConstantMemory>,
}

knobs! {
    pub(crate) struct ConstantMemoryKnobs {
        offer: "an access begins" = [100, 600, 1000],
        direct: "one of the constant unit begins" = [50, 400, 900],
        room: "a result queue has room" = [200, 900, 1000],
        near: "addresses are among the first few" = [0, 500, 1000],
        partial: "lanes do not take part" = [0, 500, 900],
        write: "the host writes a word" = [0, 300, 1000],
        withdraw: "an offer is withdrawn for a cycle" = [0, 50],
        // More often than in other blocks, since the states that a reset has to hit are short.
        reset = [0, 5, 20, 60],
    }
}

impl Driver for ConstantMemoryDriver {
    type In = ConstantMemoryIn;
    type Knobs = ConstantMemoryKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self {
            words: shape.const_words as u64,
            reset: Reset::default(),
            pending: Pending::default(),
            direct: Pending::default(),
            access: Box::new(ConstantMemoryIn::zeroed()),
            twin: Twin::new(shape),
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &ConstantMemoryKnobs, inputs: &mut ConstantMemoryIn) {
        if self.pending.left == 0 && rng.chance(knobs.offer) {
            self.pending.begin(rng, knobs.partial);
            let size = rng.below(3) as u8;
            let access = &mut *self.access;
            access.size_i = size;
            access.signed_i = (size < 2 && rng.chance(500)).into();
            access.warp_i = rng.below(MAX_WARPS as u64) as u8;
            (access.reg_valid_i, access.reg_i) = (rng.chance(800).into(), rng.below(256) as u8);
            access.addr_i = place(rng, knobs.near, self.words, size, &self.pending);
        }
        if self.direct.left == 0 && rng.chance(knobs.direct) {
            self.direct.begin(rng, knobs.partial);
            let size = rng.below(3) as u8;
            let access = &mut *self.access;
            access.direct_size_i = size;
            access.direct_signed_i = (size < 2 && rng.chance(500)).into();
            access.direct_warp_i = rng.below(MAX_WARPS as u64) as u8;
            (access.direct_reg_valid_i, access.direct_reg_i) = (rng.chance(800).into(), rng.below(256) as u8);
            access.direct_addr_i = place(rng, knobs.near, self.words, size, &self.direct);
        }
        let access = &mut *self.access;
        access.rst_ni = self.reset.next(rng, knobs.reset);
        access.valid_i = (self.pending.left != 0 && !rng.chance(knobs.withdraw)).into();
        access.lanes_i = self.pending.left;
        access.room_i = rng.chance(knobs.room).into();
        access.direct_valid_i = (self.direct.left != 0 && !rng.chance(knobs.withdraw)).into();
        access.direct_lanes_i = self.direct.left;
        access.direct_room_i = rng.chance(knobs.room).into();
        access.const_we_i = rng.chance(knobs.write).into();
        // Often a word that an offered access reads.
        let lane = rng.below(LANES as u64) as usize;
        let addresses = if access.direct_valid_i == 1 { &access.direct_addr_i } else { &access.addr_i };
        let wanted = addresses.0[lane] / 4 % (self.words as u32).next_power_of_two();
        access.const_addr_i = if rng.chance(500) { wanted as u16 } else { rng.below(self.words) as u16 };
        access.const_data_i = rng.next_u64() as u32;
        (access.last_i, access.direct_last_i) = (0, 0);
        self.twin.early();
        self.twin.late(access);
        access.last_i = self.pending.last(self.twin.out.served_o).into();
        access.direct_last_i = self.direct.last(self.twin.out.direct_served_o).into();
        self.twin.clock(access);
        self.pending.serve(self.twin.out.served_o, access.rst_ni == 0);
        self.direct.serve(self.twin.out.direct_served_o, access.rst_ni == 0);
        *inputs = *access;
    }
}

/// Addresses of an access.
fn place(rng: &mut Rng, near: u32, words: u64, size: u8, pending: &Pending) -> WarpData {
    let mut addr = addresses(rng, 4 * words, size, near);
    for lane in pending.blank(rng) {
        addr.0[lane] = 0;
    }
    // Address bits above the memory's size are compared too, when words are distinguished.
    if rng.chance(200) {
        let memory = (4 * words).next_power_of_two().ilog2();
        let bit = memory + rng.below(u64::from(u32::BITS - memory)) as u32;
        let others = rng.next_u64() as u32;
        set_lanes(others).for_each(|lane| addr.0[lane] ^= 1 << bit);
    }
    addr
}

pub(crate) struct ConstantMemoryCover {
    words: u32,
    /// Whether no lane of the memory pipeline's access of the previous cycle was served; then the same for the constant unit.
    waiting: bool,
    direct_waiting: bool,
    /// The word that the host wrote in the previous cycle.
    written: Option<u32>,
}

#[cover]
impl ConstantMemoryCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { words: shape.const_words as u32, waiting: false, direct_waiting: false, written: None }
    }

    fn observe(&mut self, i: &ConstantMemoryIn, o: &ConstantMemoryOut, p: &ConstantMemoryProbe, points: &mut Points) {
        self.situations(i, o, p, points);
        self.direct(i, o, p, points);
        self.waiting = i.valid_i == 1 && o.served_o == 0 && i.rst_ni == 1;
        self.direct_waiting = i.direct_valid_i == 1 && o.direct_served_o == 0 && i.rst_ni == 1;
        self.written = (i.const_we_i == 1).then_some(i.const_addr_i.into());
    }

    fn situations(&self, i: &ConstantMemoryIn, o: &ConstantMemoryOut, p: &ConstantMemoryProbe, points: &mut Points) {
        let (valid, passes, reset) = (i.valid_i == 1, o.served_o != 0, i.rst_ni == 0);
        let left = i.lanes_i & !o.served_o;
        let lowest = set_lanes(o.served_o).next().unwrap_or(0);
        let word = i.addr_i.0[lowest] / 4;
        let wants = |lane: usize| i.addr_i.0[lane] / 4;
        let writes = i.const_we_i == 1;
        let (size, signed) = (i.size_i, i.signed_i == 1);
        let bytes = |wanted: u32| set_lanes(o.served_o).any(|lane| i.addr_i.0[lane] % 4 == wanted);
        let result = o.result_valid_o == 1 && o.result_reg_valid_o == 1;
        let extended = |top: u32| result && o.result_data_o.0.iter().any(|&value| value >> 8 == top);
        point!("one word for all lanes", o.served_o == u32::MAX);
        point!("one lane alone", o.served_o.is_power_of_two() && left != 0);
        point!("several lanes, others left", o.served_o.count_ones() > 1 && left != 0);
        point!("a lane after others of other words is served", passes && o.served_o & left << 1 != 0);
        point!("an inactive lane wants the word", passes && set_lanes(!i.lanes_i).any(|lane| wants(lane) == word));
        point!("no room", valid && i.room_i == 0);
        point!("served after waiting", passes && self.waiting);
        point!("withdrawn", self.waiting && !valid);
        point!("bytes", passes && size == 0 && !signed);
        point!("bytes with a sign", passes && size == 0 && signed);
        point!("two bytes", passes && size == 1 && !signed);
        point!("two bytes with a sign", passes && size == 1 && signed);
        point!("words", passes && size == 2);
        point!("four bytes of a word in one pass", (0..4).all(bytes));
        point!("a byte that is negative", extended(0xff_ffff));
        point!("no register", passes && i.reg_valid_i == 0);
        point!("last pass", passes && i.last_i == 1);
        point!("last here, lanes left elsewhere", passes && left == 0 && i.last_i == 0);
        point!("passes one after the other", passes && p.first_valid_q == 1 && o.result_valid_o == 1);
        point!("the word is written as it is read", passes && writes && u32::from(i.const_addr_i) == word);
        point!("another word is written", passes && writes && u32::from(i.const_addr_i) != word);
        point!("the word was written in the cycle before", passes && self.written == Some(word));
        point!("the first word", passes && word == 0);
        point!("the last word", passes && word == self.words - 1);
        point!("the constant unit goes first", valid && i.room_i == 1 && !passes && o.direct_served_o != 0);
        point!("the constant unit has no room, a pass of the memory pipeline", passes && i.direct_valid_i == 1);
        point!("results for both at once", o.result_valid_o == 1 && o.direct_result_valid_o == 1);
        point!("reset with both stages full", reset && p.first_valid_q == 1 && o.result_valid_o == 1);
        point!("pass under reset", reset && passes);
        point!("written under reset", reset && writes);
    }

    /// Points of the constant unit's accesses.
    fn direct(&self, i: &ConstantMemoryIn, o: &ConstantMemoryOut, p: &ConstantMemoryProbe, points: &mut Points) {
        let (valid, passes) = (i.direct_valid_i == 1, o.direct_served_o != 0);
        let left = i.direct_lanes_i & !o.direct_served_o;
        let word = i.direct_addr_i.0[set_lanes(o.direct_served_o).next().unwrap_or(0)] / 4;
        let (size, signed) = (i.direct_size_i, i.direct_signed_i == 1);
        let result = o.direct_result_valid_o == 1;
        let negative = |value: &u32| value >> 8 == 0xff_ffff;
        point!("constant unit: one word for all lanes", o.direct_served_o == u32::MAX);
        point!("constant unit: several lanes, others left", o.direct_served_o.count_ones() > 1 && left != 0);
        point!("constant unit: a lane after others is served", passes && o.direct_served_o & left << 1 != 0);
        point!("constant unit: no room", valid && i.direct_room_i == 0);
        point!("constant unit: served after waiting", passes && self.direct_waiting);
        point!("constant unit: bytes", passes && size == 0 && !signed);
        point!("constant unit: bytes with a sign", passes && size == 0 && signed);
        point!("constant unit: two bytes", passes && size == 1 && !signed);
        point!("constant unit: two bytes with a sign", passes && size == 1 && signed);
        point!("constant unit: words", passes && size == 2);
        point!("constant unit: a negative byte", result && o.direct_result_data_o.0.iter().any(negative));
        point!("constant unit: no register", result && o.direct_result_reg_valid_o == 0);
        point!("constant unit: last pass", passes && i.direct_last_i == 1);
        point!("constant unit: a result that is not the last", result && o.direct_result_done_o == 0);
        point!("constant unit: passes one after the other", passes && p.first_valid_q == 1 && p.first_direct_q == 1);
        point!(
            "constant unit: after a pass of the memory pipeline",
            passes && p.first_valid_q & !p.first_direct_q == 1
        );
        point!(
            "constant unit: the word is written as it is read",
            passes && i.const_we_i == 1 && u32::from(i.const_addr_i) == word
        );
        point!("constant unit: the last word", passes && word == self.words - 1);
        point!("constant unit: pass under reset", passes && i.rst_ni == 0);
        point!("constant unit: reset with a result", result && i.rst_ni == 0);
    }
}
