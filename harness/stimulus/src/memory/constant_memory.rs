//! `constant_memory`.

use gpurf_blocks::config::Config;
use gpurf_blocks::memory::{ConstantMemory, ConstantMemoryIn, ConstantMemoryOut, ConstantMemoryProbe};
use gpurf_blocks::shape::{MAX_WARPS, SmShape};
use gpurf_blocks::{LANES, Ports};
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
    /// The access at hand.
    access: Box<ConstantMemoryIn>,
    /// Says which lanes are served.
    twin: Twin<ConstantMemory>,
}

knobs! {
    pub(crate) struct ConstantMemoryKnobs {
        offer: "an access begins" = [100, 600, 1000],
        room: "the side queue has room" = [200, 900, 1000],
        near: "addresses are among the first few" = [0, 500, 1000],
        partial: "lanes do not take part" = [0, 500, 900],
        write: "the host writes a word" = [0, 300, 1000],
        withdraw: "an offer is withdrawn for a cycle" = [0, 50],
        // More often than in others: what has to be caught in it is short.
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
            access: Box::new(ConstantMemoryIn::zeroed()),
            twin: Twin::new(shape),
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &ConstantMemoryKnobs, inputs: &mut ConstantMemoryIn) {
        if self.pending.left == 0 && rng.chance(knobs.offer) {
            self.begin(rng, knobs);
        }
        let access = &mut *self.access;
        access.rst_ni = self.reset.next(rng, knobs.reset);
        access.valid_i = (self.pending.left != 0 && !rng.chance(knobs.withdraw)).into();
        access.lanes_i = self.pending.left;
        access.room_i = rng.chance(knobs.room).into();
        access.const_we_i = rng.chance(knobs.write).into();
        // Often a word that is wanted now.
        let lane = rng.below(LANES as u64) as usize;
        let wanted = access.addr_i.0[lane] / 4 % (self.words as u32).next_power_of_two();
        access.const_addr_i = if rng.chance(500) { wanted as u16 } else { rng.below(self.words) as u16 };
        access.const_data_i = rng.next_u64() as u32;
        access.last_i = 0;
        self.twin.early();
        self.twin.late(access);
        access.last_i = self.pending.last(self.twin.out.served_o).into();
        self.twin.clock(access);
        self.pending.serve(self.twin.out.served_o, access.rst_ni == 0);
        *inputs = *access;
    }
}

impl ConstantMemoryDriver {
    fn begin(&mut self, rng: &mut Rng, knobs: &ConstantMemoryKnobs) {
        self.pending.begin(rng, knobs.partial);
        let access = &mut *self.access;
        access.size_i = rng.below(3) as u8;
        access.signed_i = (access.size_i < 2 && rng.chance(500)).into();
        access.warp_i = rng.below(MAX_WARPS as u64) as u8;
        (access.reg_valid_i, access.reg_i) = (rng.chance(800).into(), rng.below(256) as u8);
        access.addr_i = addresses(rng, 4 * self.words, access.size_i, knobs.near);
        for lane in self.pending.blank(rng) {
            access.addr_i.0[lane] = 0;
        }
        // Bits of which the memory has none tell words apart all the same.
        if rng.chance(200) {
            let memory = (4 * self.words).next_power_of_two().ilog2();
            let bit = memory + rng.below(u64::from(u32::BITS - memory)) as u32;
            let others = rng.next_u64() as u32;
            set_lanes(others).for_each(|lane| access.addr_i.0[lane] ^= 1 << bit);
        }
    }
}

pub(crate) struct ConstantMemoryCover {
    words: u32,
    /// The access of the cycle before was not served at all.
    waiting: bool,
    /// What the host wrote in the cycle before.
    written: Option<u32>,
}

#[cover]
impl ConstantMemoryCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { words: shape.const_words as u32, waiting: false, written: None }
    }

    fn observe(&mut self, i: &ConstantMemoryIn, o: &ConstantMemoryOut, p: &ConstantMemoryProbe, points: &mut Points) {
        self.situations(i, o, p, points);
        self.waiting = i.valid_i == 1 && o.served_o == 0 && i.rst_ni == 1;
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
        point!("a lane behind others of other words is served", passes && o.served_o & left << 1 != 0);
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
        point!("reset with both stages full", reset && p.first_valid_q == 1 && o.result_valid_o == 1);
        point!("pass under reset", reset && passes);
        point!("written under reset", reset && writes);
    }
}
