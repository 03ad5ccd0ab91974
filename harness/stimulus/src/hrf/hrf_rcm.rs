//! `hrf_rcm`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfRcm, HrfRcmIn, HrfRcmOut, HrfRcmProbe, HrfShape, LOOKS, MAX_BUFFER};
use gpurf_lockstep::Rng;

use crate::driver::Reset;
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<HrfRcm, RcmDriver, RcmCover>();

pub(crate) struct RcmDriver {
    entries: u64,
    reset: Reset,
    /// Registers that were named last.
    near: [u8; 4],
}

knobs! {
    pub(crate) struct RcmKnobs {
        set: "a register gets an entry" = [50, 400, 950],
        clear: "no register is in the buffer any more" = [0, 0, 10, 100],
        near: "a register is one of those named last" = [0, 300, 800],
        few: "a register is one of the first eight" = [0, 0, 500],
        reset,
    }
}

impl Driver for RcmDriver {
    type In = HrfRcmIn;
    type Knobs = RcmKnobs;

    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { entries: shape.buffer_entries as u64, reset: Reset::default(), near: [0; 4] }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &RcmKnobs, i: &mut HrfRcmIn) {
        i.rst_ni = self.reset.next(rng, knobs.reset);
        let chance = if i.rst_ni == 0 { 500 } else { knobs.clear };
        i.clear_i = rng.chance(chance).into();
        for k in 0..LOOKS {
            i.look_reg_i[k] = self.register(rng, knobs);
        }
        let set = rng.chance(knobs.set);
        // Outside reset nothing gets an entry while all is cleared.
        i.set_valid_i = (set && (i.clear_i == 0 || i.rst_ni == 0)).into();
        i.set_reg_i = self.register(rng, knobs);
        i.set_index_i = rng.below(self.entries) as u8;
    }
}

impl RcmDriver {
    fn register(&mut self, rng: &mut Rng, knobs: &RcmKnobs) -> u8 {
        let place = rng.below(self.near.len() as u64) as usize;
        if !rng.chance(knobs.near) {
            let few = rng.chance(knobs.few);
            self.near[place] = rng.below(if few { 8 } else { MAX_BUFFER as u64 }) as u8;
        }
        self.near[place]
    }
}

pub(crate) struct RcmCover {
    entries: u8,
    /// Registers that had an entry before all was cleared.
    cleared: u64,
    index: [u8; MAX_BUFFER],
}

#[cover]
impl RcmCover {
    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { entries: shape.buffer_entries as u8, cleared: 0, index: [0; MAX_BUFFER] }
    }

    fn observe(&mut self, i: &HrfRcmIn, o: &HrfRcmOut, p: &HrfRcmProbe, points: &mut Points) {
        let (reset, clear, set) = (i.rst_ni == 0, i.clear_i == 1, i.set_valid_i == 1);
        let sources = o.hit_o & 7;
        let result = o.hit_o >> OPERANDS & 1 == 1;
        let looks = |of: &dyn Fn(usize) -> bool| (0..LOOKS).any(of);
        let hits = |k: usize| o.hit_o >> k & 1 == 1;
        let asked = |k: usize| i.look_reg_i[k] == i.set_reg_i;
        let bit = |set: u64, k: usize| set >> i.look_reg_i[k] & 1 == 1;
        let other = self.index[usize::from(i.set_reg_i)] != i.set_index_i;
        let same = (1..OPERANDS).any(|k| i.look_reg_i[..k].contains(&i.look_reg_i[k]));
        point!("all sources hit", sources == 7);
        point!("all sources miss", sources == 0);
        point!("some sources hit", ![0, 7].contains(&sources));
        point!("the result hits, the sources miss", result && sources == 0);
        point!("the result misses, the sources hit", !result && sources == 7);
        point!("two sources ask for one register", same);
        point!("a register that had an entry before all was cleared", looks(&|k| !hits(k) && bit(self.cleared, k)));
        point!("it has one again", looks(&|k| hits(k) && bit(self.cleared, k)));
        point!("asked for as it gets its first entry", set && looks(&|k| asked(k) && !hits(k)));
        point!("asked for as it gets another entry", set && other && looks(&|k| asked(k) && hits(k)));
        point!("the first register", looks(&|k| hits(k) && i.look_reg_i[k] == 0));
        point!("the last register", looks(&|k| hits(k) && usize::from(i.look_reg_i[k]) + 1 == MAX_BUFFER));
        point!("the last entry", looks(&|k| hits(k) && o.index_o[k] + 1 == self.entries));
        point!("every register has an entry", p.valid_q == u64::MAX);
        point!("none has", p.valid_q == 0);
        point!("all is cleared, many had one", clear && p.valid_q.count_ones() > 8);
        point!("all is cleared, the register is asked for", clear && looks(&hits));
        point!("a register gets an entry in reset", reset && set);
        point!("a register gets one as all is cleared in reset", reset && set && clear);
        point!("reset under load", reset && p.valid_q.count_ones() > 8);

        if set {
            self.index[usize::from(i.set_reg_i)] = i.set_index_i;
        }
        if clear || reset {
            self.cleared |= p.valid_q;
        }
    }
}
