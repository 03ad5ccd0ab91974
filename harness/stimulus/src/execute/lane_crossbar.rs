//! `lane_crossbar`.

use gpurf_blocks::LANES;
use gpurf_blocks::config::Config;
use gpurf_blocks::execute::{LaneCrossbar, LaneCrossbarIn, LaneCrossbarOut, LaneCrossbarProbe};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use crate::driver::{Reset, lane_mask};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<LaneCrossbar, LaneCrossbarDriver, LaneCrossbarCover>();

pub(crate) struct LaneCrossbarDriver {
    reset: Reset,
}

knobs! {
    pub(crate) struct LaneCrossbarKnobs {
        shuffle: "a shuffle is offered" = [100, 500, 1000],
        room: "the side queue has room" = [200, 900, 1000],
        usual: "clamp and segment are those of a width" = [200, 900],
        alike: "all lanes have the same choice, a small one" = [200, 900],
        reg: "it writes a register" = [500, 1000],
        pred: "it writes a predicate" = [200, 800],
        partial: "lanes are inactive" = [0, 300, 900],
        reset,
    }
}

const UP: u16 = 0;
const DOWN: u16 = 1;
const BUTTERFLY: u16 = 2;
const INDEX: u16 = 3;

impl Driver for LaneCrossbarDriver {
    type In = LaneCrossbarIn;
    type Knobs = LaneCrossbarKnobs;

    fn new(_: &SmShape, _: &Config) -> Self {
        Self { reset: Reset::default() }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &LaneCrossbarKnobs, inputs: &mut LaneCrossbarIn) {
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        inputs.valid_i = rng.chance(knobs.shuffle).into();
        inputs.room_i = rng.chance(knobs.room).into();
        inputs.warp_i = rng.below(64) as u8;
        inputs.lanes_i = lane_mask(rng, knobs.partial);
        inputs.reg_valid_i = rng.chance(knobs.reg).into();
        inputs.reg_i = rng.next_u64() as u8;
        inputs.pred_valid_i = rng.chance(knobs.pred).into();
        inputs.pred_i = rng.below(8) as u8;
        let mode = rng.below(4) as u16;
        let (clamp, segment) = if rng.chance(knobs.usual) {
            // As a compiler computes them from a width, which is a power of two up to 32.
            let segment = 0x1f & 0x1f << rng.below(6) as u16;
            (if mode == UP { 0 } else { 0x1f }, segment)
        } else {
            (rng.below(32) as u16, rng.below(32) as u16)
        };
        inputs.modifiers_i = rng.below(8) as u16 | mode << 3 | clamp << 5 | segment << 10 | (rng.below(2) as u16) << 15;
        rng.fill(&mut inputs.value_i.0);
        if rng.chance(knobs.alike) {
            inputs.choice_i.0 = [rng.below(34) as u32; LANES];
        } else {
            rng.fill(&mut inputs.choice_i.0);
        }
    }
}

pub(crate) struct LaneCrossbarCover;

#[cover]
impl LaneCrossbarCover {
    fn new(_: &SmShape, _: &Config) -> Self {
        Self
    }

    fn observe(&mut self, i: &LaneCrossbarIn, o: &LaneCrossbarOut, p: &LaneCrossbarProbe, points: &mut Points) {
        let performed = i.valid_i & i.room_i == 1;
        let (mode, segment) = (i.modifiers_i >> 3 & 3, u32::from(i.modifiers_i >> 10 & 31));
        let clamp = u32::from(i.modifiers_i >> 5 & 31);
        // The lane that a lane requests, a number that may lie outside of 0 to 31, and whether it is in range.
        let asked = |l: u32| {
            let n = (i.choice_i.0[l as usize] & 31) as i32;
            let (l, low) = (l as i32, (l & segment) as i32);
            let limit = low | (clamp & !segment) as i32;
            match mode {
                UP => (l - n, l - n >= limit),
                DOWN => (l + n, l + n <= limit),
                BUTTERFLY => (l ^ n, l ^ n <= limit),
                _ => (low | n & !segment as i32, (low | n & !segment as i32) <= limit),
            }
        };
        let active = |l: i32| (0..32).contains(&l) && i.lanes_i >> l & 1 == 1;
        let any = |holds: &dyn Fn(u32, i32, bool) -> bool| {
            performed && (0..LANES as u32).any(|l| active(l as i32) && holds(l, asked(l).0, asked(l).1))
        };
        let within = |of: u16| mode == of && any(&|_, _, in_range| in_range);
        let beyond = |of: u16| mode == of && any(&|_, _, in_range| !in_range);
        let result = o.result_valid_o == 1;
        let (reg, pred) = (o.result_reg_valid_o == 1, o.result_pred_valid_o == 1);
        point!("up: in range", within(UP));
        point!("up: out of range", beyond(UP));
        point!("up: below lane 0", mode == UP && any(&|_, j, _| j < 0));
        point!("down: in range", within(DOWN));
        point!("down: out of range", beyond(DOWN));
        point!("down: above lane 31", mode == DOWN && any(&|_, j, _| j > 31));
        point!("butterfly: in range", within(BUTTERFLY));
        point!("butterfly: out of range", beyond(BUTTERFLY));
        point!("index: in range", within(INDEX));
        point!("index: out of range", beyond(INDEX));
        point!("in range, but that lane is not active", any(&|_, j, in_range| in_range && !active(j)));
        point!(
            "a lane outside the segment is asked for",
            mode != INDEX && any(&|l, j, _| segment != 0 && (l ^ j as u32) & segment != 0)
        );
        point!("several segments", performed && segment != 0);
        point!("only five bits of the choice count", performed && i.choice_i.0.iter().any(|&n| n > 31));
        point!(
            "all lanes read one",
            performed && i.lanes_i == u32::MAX && (1..32).all(|l| asked(l).1 && asked(l).0 == asked(0).0)
        );
        point!("no active lane", performed && i.lanes_i == 0);
        point!("some active lanes", performed && !matches!(i.lanes_i, 0 | u32::MAX));
        point!("no room", i.valid_i == 1 && i.room_i == 0);
        point!("a shuffle directly after another", performed && p.first_valid_q == 1);
        point!("neither register nor predicate", result && !reg && !pred);
        point!("register without predicate", result && reg && !pred);
        point!("predicate without register", result && !reg && pred);
        point!("reset with a shuffle in the first stage", i.rst_ni == 0 && p.first_valid_q == 1);
        point!("reset with a result", i.rst_ni == 0 && result);
        point!("shuffle in reset", i.rst_ni == 0 && performed);
    }
}
