//! `lane_crossbar`.

use gpurf_blocks::LANES;
use gpurf_blocks::config::Config;
use gpurf_blocks::execute::{LaneCrossbarIn, LaneCrossbarOut, LaneCrossbarProbe};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, lane_mask};
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct LaneCrossbarDriver {
    reset: Reset,
}

const SHUFFLE: usize = 0;
const ROOM: usize = 1;
const USUAL: usize = 2;
const ALIKE: usize = 3;
const REG: usize = 4;
const PRED: usize = 5;
const PARTIAL: usize = 6;

const UP: u16 = 0;
const DOWN: u16 = 1;
const BUTTERFLY: u16 = 2;
const INDEX: u16 = 3;

impl Driver for LaneCrossbarDriver {
    type In = LaneCrossbarIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "shuffle", doc: "a shuffle is offered", values: &[100, 500, 1000] },
        Knob { name: "room", doc: "the side queue has room", values: &[200, 900, 1000] },
        Knob { name: "usual", doc: "clamp and segment are those of a width", values: &[200, 900] },
        Knob { name: "alike", doc: "all lanes have the same choice, a small one", values: &[200, 900] },
        Knob { name: "reg", doc: "it writes a register", values: &[500, 1000] },
        Knob { name: "pred", doc: "it writes a predicate", values: &[200, 800] },
        Knob { name: "partial", doc: "lanes are inactive", values: &[0, 300, 900] },
        RESET,
    ];

    fn new(_: &SmShape, _: &Config) -> Self {
        Self { reset: Reset::default() }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut LaneCrossbarIn) {
        inputs.rst_ni = self.reset.next(rng, knobs.get(7));
        inputs.valid_i = rng.chance(knobs.get(SHUFFLE)).into();
        inputs.room_i = rng.chance(knobs.get(ROOM)).into();
        inputs.warp_i = rng.below(64) as u8;
        inputs.lanes_i = lane_mask(rng, knobs.get(PARTIAL));
        inputs.reg_valid_i = rng.chance(knobs.get(REG)).into();
        inputs.reg_i = rng.next_u64() as u8;
        inputs.pred_valid_i = rng.chance(knobs.get(PRED)).into();
        inputs.pred_i = rng.below(8) as u8;
        let mode = rng.below(4) as u16;
        let (clamp, segment) = if rng.chance(knobs.get(USUAL)) {
            // As a compiler makes them of a width: a power of two up to 32.
            let segment = 0x1f & 0x1f << rng.below(6) as u16;
            (if mode == UP { 0 } else { 0x1f }, segment)
        } else {
            (rng.below(32) as u16, rng.below(32) as u16)
        };
        inputs.modifiers_i = rng.below(8) as u16 | mode << 3 | clamp << 5 | segment << 10 | (rng.below(2) as u16) << 15;
        rng.fill(&mut inputs.value_i.0);
        if rng.chance(knobs.get(ALIKE)) {
            inputs.choice_i.0 = [rng.below(34) as u32; LANES];
        } else {
            rng.fill(&mut inputs.choice_i.0);
        }
    }
}

pub(crate) struct LaneCrossbarCover;

impl Cover for LaneCrossbarCover {
    type In = LaneCrossbarIn;
    type Out = LaneCrossbarOut;
    type Probe = LaneCrossbarProbe;

    fn points(_: &SmShape) -> Vec<&'static str> {
        vec![
            "up: in range",
            "up: out of range",
            "up: below lane 0",
            "down: in range",
            "down: out of range",
            "down: above lane 31",
            "butterfly: in range",
            "butterfly: out of range",
            "index: in range",
            "index: out of range",
            "in range, but that lane is not active",
            "a lane outside the segment is asked for",
            "several segments",
            "only five bits of the choice count",
            "all lanes read one",
            "no active lane",
            "some active lanes",
            "no room",
            "one shuffle behind the other",
            "neither register nor predicate",
            "register without predicate",
            "predicate without register",
            "reset with a shuffle in the first stage",
            "reset with a result",
            "shuffle in reset",
        ]
    }

    fn new(_: &SmShape) -> Self {
        Self
    }

    fn observe(
        &mut self,
        i: &LaneCrossbarIn,
        o: &LaneCrossbarOut,
        p: &LaneCrossbarProbe,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let performed = i.valid_i & i.room_i == 1;
        let (mode, segment) = (i.modifiers_i >> 3 & 3, u32::from(i.modifiers_i >> 10 & 31));
        let clamp = u32::from(i.modifiers_i >> 5 & 31);
        // The range and the lane asked for, as numbers that may lie outside of 0 to 31.
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
        let points = [
            ("up: in range", within(UP)),
            ("up: out of range", beyond(UP)),
            ("up: below lane 0", mode == UP && any(&|_, j, _| j < 0)),
            ("down: in range", within(DOWN)),
            ("down: out of range", beyond(DOWN)),
            ("down: above lane 31", mode == DOWN && any(&|_, j, _| j > 31)),
            ("butterfly: in range", within(BUTTERFLY)),
            ("butterfly: out of range", beyond(BUTTERFLY)),
            ("index: in range", within(INDEX)),
            ("index: out of range", beyond(INDEX)),
            ("in range, but that lane is not active", any(&|_, j, in_range| in_range && !active(j))),
            (
                "a lane outside the segment is asked for",
                mode != INDEX && any(&|l, j, _| segment != 0 && (l ^ j as u32) & segment != 0),
            ),
            ("several segments", performed && segment != 0),
            ("only five bits of the choice count", performed && i.choice_i.0.iter().any(|&n| n > 31)),
            (
                "all lanes read one",
                performed && i.lanes_i == u32::MAX && (1..32).all(|l| asked(l).1 && asked(l).0 == asked(0).0),
            ),
            ("no active lane", performed && i.lanes_i == 0),
            ("some active lanes", performed && !matches!(i.lanes_i, 0 | u32::MAX)),
            ("no room", i.valid_i == 1 && i.room_i == 0),
            ("one shuffle behind the other", performed && p.first_valid_q == 1),
            ("neither register nor predicate", result && !reg && !pred),
            ("register without predicate", result && reg && !pred),
            ("predicate without register", result && !reg && pred),
            ("reset with a shuffle in the first stage", i.rst_ni == 0 && p.first_valid_q == 1),
            ("reset with a result", i.rst_ni == 0 && result),
            ("shuffle in reset", i.rst_ni == 0 && performed),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
