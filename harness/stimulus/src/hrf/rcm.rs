//! `hrf_rcm`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::hrf::{HrfRcmIn, HrfRcmOut, HrfRcmProbe, HrfShape, LOOKS, MAX_BUFFER};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset};
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct RcmDriver {
    entries: u64,
    reset: Reset,
    /// Registers that were named last.
    near: [u8; 4],
}

const SET: usize = 0;
const CLEAR: usize = 1;
const NEAR: usize = 2;
const FEW: usize = 3;

impl Driver for RcmDriver {
    type In = HrfRcmIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "set", doc: "a register gets an entry", values: &[50, 400, 950] },
        Knob { name: "clear", doc: "no register is in the buffer any more", values: &[0, 0, 10, 100] },
        Knob { name: "near", doc: "a register is one of those named last", values: &[0, 300, 800] },
        Knob { name: "few", doc: "a register is one of the first eight", values: &[0, 0, 500] },
        RESET,
    ];

    fn new(shape: &HrfShape, _: &Config) -> Self {
        Self { entries: shape.buffer_entries as u64, reset: Reset::default(), near: [0; 4] }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut HrfRcmIn) {
        i.rst_ni = self.reset.next(rng, knobs.get(4));
        let chance = if i.rst_ni == 0 { 500 } else { knobs.get(CLEAR) };
        i.clear_i = rng.chance(chance).into();
        for k in 0..LOOKS {
            i.look_reg_i[k] = self.register(rng, knobs);
        }
        let set = rng.chance(knobs.get(SET));
        // Outside reset nothing gets an entry while all is cleared.
        i.set_valid_i = (set && (i.clear_i == 0 || i.rst_ni == 0)).into();
        i.set_reg_i = self.register(rng, knobs);
        i.set_index_i = rng.below(self.entries) as u8;
    }
}

impl RcmDriver {
    fn register(&mut self, rng: &mut Rng, knobs: &Knobs) -> u8 {
        let place = rng.below(self.near.len() as u64) as usize;
        if !rng.chance(knobs.get(NEAR)) {
            let few = rng.chance(knobs.get(FEW));
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

impl Cover for RcmCover {
    type In = HrfRcmIn;
    type Out = HrfRcmOut;
    type Probe = HrfRcmProbe;

    fn points(_: &HrfShape) -> Vec<&'static str> {
        vec![
            "all sources hit",
            "all sources miss",
            "some sources hit",
            "the result hits, the sources miss",
            "the result misses, the sources hit",
            "two sources ask for one register",
            "a register that had an entry before all was cleared",
            "it has one again",
            "asked for as it gets its first entry",
            "asked for as it gets another entry",
            "the first register",
            "the last register",
            "the last entry",
            "every register has an entry",
            "none has",
            "all is cleared, many had one",
            "all is cleared, the register is asked for",
            "a register gets an entry in reset",
            "a register gets one as all is cleared in reset",
            "reset under load",
        ]
    }

    fn new(shape: &HrfShape) -> Self {
        Self { entries: shape.buffer_entries as u8, cleared: 0, index: [0; MAX_BUFFER] }
    }

    fn observe(&mut self, i: &HrfRcmIn, o: &HrfRcmOut, p: &HrfRcmProbe, hit: &mut dyn FnMut(&'static str)) {
        let (reset, clear, set) = (i.rst_ni == 0, i.clear_i == 1, i.set_valid_i == 1);
        let sources = o.hit_o & 7;
        let result = o.hit_o >> OPERANDS & 1 == 1;
        let looks = |of: &dyn Fn(usize) -> bool| (0..LOOKS).any(of);
        let hits = |k: usize| o.hit_o >> k & 1 == 1;
        let asked = |k: usize| i.look_reg_i[k] == i.set_reg_i;
        let bit = |set: u64, k: usize| set >> i.look_reg_i[k] & 1 == 1;
        let other = self.index[usize::from(i.set_reg_i)] != i.set_index_i;
        let same = (1..OPERANDS).any(|k| i.look_reg_i[..k].contains(&i.look_reg_i[k]));
        let points = [
            ("all sources hit", sources == 7),
            ("all sources miss", sources == 0),
            ("some sources hit", ![0, 7].contains(&sources)),
            ("the result hits, the sources miss", result && sources == 0),
            ("the result misses, the sources hit", !result && sources == 7),
            ("two sources ask for one register", same),
            ("a register that had an entry before all was cleared", looks(&|k| !hits(k) && bit(self.cleared, k))),
            ("it has one again", looks(&|k| hits(k) && bit(self.cleared, k))),
            ("asked for as it gets its first entry", set && looks(&|k| asked(k) && !hits(k))),
            ("asked for as it gets another entry", set && other && looks(&|k| asked(k) && hits(k))),
            ("the first register", looks(&|k| hits(k) && i.look_reg_i[k] == 0)),
            ("the last register", looks(&|k| hits(k) && usize::from(i.look_reg_i[k]) + 1 == MAX_BUFFER)),
            ("the last entry", looks(&|k| hits(k) && o.index_o[k] + 1 == self.entries)),
            ("every register has an entry", p.valid_q == u64::MAX),
            ("none has", p.valid_q == 0),
            ("all is cleared, many had one", clear && p.valid_q.count_ones() > 8),
            ("all is cleared, the register is asked for", clear && looks(&hits)),
            ("a register gets an entry in reset", reset && set),
            ("a register gets one as all is cleared in reset", reset && set && clear),
            ("reset under load", reset && p.valid_q.count_ones() > 8),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
        if set {
            self.index[usize::from(i.set_reg_i)] = i.set_index_i;
        }
        if clear || reset {
            self.cleared |= p.valid_q;
        }
    }
}
