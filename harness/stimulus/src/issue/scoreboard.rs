//! `scoreboard`.

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::{NO_PRED, NO_REG, Roles};
use gpurf_blocks::issue::{ScoreboardIn, ScoreboardOut, ScoreboardProbe};
use gpurf_blocks::shape::{MAX_WARPS, SmShape};
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, ports};
use crate::{Cover, Driver, Knob, Knobs, Unreached};

/// Keeps what is pending and how many instructions are in flight, as the scoreboard does: a set has to find its bits clear, and only what is in flight can
/// come to its end.
pub(crate) struct ScoreboardDriver {
    shape: SmShape,
    reset: Reset,
    registers: Vec<[u64; 4]>,
    predicates: Vec<u8>,
    counts: Vec<u8>,
    /// The heads, and which warps have one.
    heads: [u64; MAX_WARPS],
    head_valid: u64,
}

const SET: usize = 0;
const CLEAR: usize = 1;
const FINISH: usize = 2;
const HEAD: usize = 3;
const NEAR: usize = 4;
const FEW: usize = 5;
const STRAY: usize = 6;

/// More instructions of a warp are never in flight.
const MOST: u8 = 200;
/// Registers at the edges of the scoreboard's words.
const EDGES: [u8; 12] = [0, 1, 62, 63, 64, 127, 128, 191, 192, 253, 254, NO_REG];

impl Driver for ScoreboardDriver {
    type In = ScoreboardIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "set", doc: "an instruction goes to the operand stage", values: &[100, 500, 950] },
        Knob { name: "clear", doc: "a register, or a predicate, has been written", values: &[100, 500, 950] },
        Knob { name: "finish", doc: "an instruction comes to its end", values: &[0, 0, 100, 700] },
        Knob { name: "head", doc: "a warp gets another head, or loses it", values: &[10, 100, 500] },
        Knob { name: "near", doc: "the warp is one of three", values: &[0, 500, 1000] },
        Knob { name: "few", doc: "the register is one of twelve", values: &[300, 800, 1000] },
        Knob { name: "stray", doc: "what is cleared need not be pending", values: &[0, 300] },
        RESET,
    ];

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self {
            shape: *shape,
            reset: Reset::default(),
            registers: vec![[0; 4]; shape.warps],
            predicates: vec![0; shape.warps],
            counts: vec![0; shape.warps],
            heads: [0; MAX_WARPS],
            head_valid: 0,
        }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        Unreached::warps(&["set_warp_i", "reg_warp_i", "pred_warp_i", "finish_warp_i"], shape.warps)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut ScoreboardIn) {
        inputs.rst_ni = self.reset.next(rng, knobs.get(7));
        self.change_heads(rng, knobs);
        (inputs.head_valid_i, inputs.head_roles_i) = (self.head_valid, self.heads);
        self.clears(rng, knobs, inputs);
        self.sets(rng, knobs, inputs);
        if inputs.rst_ni == 0 {
            self.registers.fill([0; 4]);
            self.predicates.fill(0);
            self.counts.fill(0);
        }
    }
}

impl ScoreboardDriver {
    fn warp(&self, rng: &mut Rng, knobs: &Knobs) -> u8 {
        let warps = self.shape.warps as u64;
        if rng.chance(knobs.get(NEAR)) {
            [0, 0, 0, 0, 0, 0, 1, warps - 1][rng.below(8) as usize] as u8
        } else {
            rng.below(warps) as u8
        }
    }

    fn register(rng: &mut Rng, knobs: &Knobs) -> u8 {
        if rng.chance(knobs.get(FEW)) { EDGES[rng.below(EDGES.len() as u64) as usize] } else { rng.next_u64() as u8 }
    }

    fn change_heads(&mut self, rng: &mut Rng, knobs: &Knobs) {
        for w in 0..self.shape.warps {
            if !rng.chance(knobs.get(HEAD)) {
                continue;
            }
            let bit = 1 << w;
            self.head_valid &= !bit;
            if rng.chance(800) {
                self.head_valid |= bit;
                let registers = std::array::from_fn(|k| {
                    // Few that are something, so that it is one of them that a head waits for.
                    if k < 4 && rng.chance(500) { Self::register(rng, knobs) } else { NO_REG }
                });
                let mut roles = rng.next_u64() & 0xf_ffff << 32 | u64::from(u32::from_le_bytes(registers));
                for low in PREDICATES {
                    if rng.chance(600) {
                        roles |= u64::from(NO_PRED) << low;
                    }
                }
                self.heads[w] = roles;
            }
        }
    }

    /// Registers and predicates that have been written, and instructions that end.
    fn clears(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut ScoreboardIn) {
        let count = self.shape.ports();
        (inputs.reg_valid_i, inputs.pred_valid_i) = (0, 0);
        for p in 0..count {
            let stray = rng.chance(knobs.get(STRAY));
            let (warp, register) = (self.warp(rng, knobs), Self::register(rng, knobs));
            let words = &mut self.registers[usize::from(warp)];
            let found = if stray { Some(register) } else { any_set(rng, words) };
            if let Some(register) = found.filter(|_| rng.chance(knobs.get(CLEAR))) {
                inputs.reg_valid_i |= 1 << p;
                (inputs.reg_warp_i[p], inputs.reg_i[p]) = (warp, register);
            }
            let warp = self.warp(rng, knobs);
            let pending = self.predicates[usize::from(warp)];
            let number = rng.below(8) as u8;
            if rng.chance(knobs.get(CLEAR)) && (stray || pending >> number & 1 == 1) {
                inputs.pred_valid_i |= 1 << p;
                (inputs.pred_warp_i[p], inputs.pred_i[p]) = (warp, number);
            }
        }
        inputs.finish_valid_i = 0;
        let mut left = self.counts.clone();
        for k in 0..2 * count + 2 {
            let warp = self.warp(rng, knobs);
            let left = &mut left[usize::from(warp)];
            if *left > 0 && rng.chance(knobs.get(FINISH)) {
                *left -= 1;
                inputs.finish_valid_i |= 1 << k;
                inputs.finish_warp_i[k] = warp;
            }
        }
    }

    fn sets(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut ScoreboardIn) {
        let (registers, predicates) = (self.registers.clone(), self.predicates.clone());
        let ports_of = |mask: u8| (0..2 * self.shape.ports() + 2).filter(move |p| mask >> p & 1 == 1);
        for p in ports_of(inputs.reg_valid_i) {
            let register = inputs.reg_i[p];
            self.registers[usize::from(inputs.reg_warp_i[p])][usize::from(register / 64)] &= !(1 << (register % 64));
        }
        for p in ports_of(inputs.pred_valid_i) {
            self.predicates[usize::from(inputs.pred_warp_i[p])] &= !(1 << inputs.pred_i[p]);
        }
        let offered = ports(rng, self.shape.ports(), knobs.get(SET));
        inputs.set_valid_i = 0;
        // Where nothing is set they mean nothing.
        inputs.set_warp_i.fill_with(|| rng.below(64) as u8);
        for p in ports_of(offered) {
            // What is cleared at this edge without being pending may be set at the same time.
            let (warp, register) = if inputs.reg_valid_i & 1 == 1 && rng.chance(200) {
                (inputs.reg_warp_i[0], inputs.reg_i[0])
            } else {
                (self.warp(rng, knobs), if rng.chance(300) { NO_REG } else { Self::register(rng, knobs) })
            };
            let number = if rng.chance(500) { NO_PRED } else { rng.below(7) as u8 };
            let w = usize::from(warp);
            let word = usize::from(register / 64);
            let before = |words: &[u64; 4]| words[word] >> (register % 64) & 1 == 1;
            let pending = before(&registers[w]) || before(&self.registers[w]);
            let number_pending = (predicates[w] | self.predicates[w]) >> number & 1 == 1;
            if pending || number_pending || self.counts[w] >= MOST {
                continue;
            }
            inputs.set_valid_i |= 1 << p;
            (inputs.set_warp_i[p], inputs.set_d_i[p], inputs.set_p_i[p]) = (warp, register, number);
            self.counts[w] += 1;
            if register != NO_REG {
                self.registers[w][word] |= 1 << (register % 64);
            }
            if number != NO_PRED {
                self.predicates[w] |= 1 << number;
            }
        }
        for k in ports_of(inputs.finish_valid_i) {
            self.counts[usize::from(inputs.finish_warp_i[k])] -= 1;
        }
    }
}

/// Lowest bits of the roles that name predicates: guard, s, t, p.
const PREDICATES: [u32; 4] = [33, 37, 41, 45];

/// A register that is pending.
fn any_set(rng: &mut Rng, words: &[u64; 4]) -> Option<u8> {
    let first = rng.below(256) as usize;
    let at = (first..first + 256).map(|r| r % 256).find(|r| words[r / 64] >> (r % 64) & 1 == 1);
    at.map(|r| r as u8)
}

pub(crate) struct ScoreboardCover {
    shape: SmShape,
    /// Heads that were not clear in the cycle before, and the heads.
    waited: u64,
    roles: [u64; MAX_WARPS],
}

/// What a head waits for, if it is one thing.
const WAITS: [&str; 8] = [
    "a head waits for a",
    "a head waits for b",
    "a head waits for c",
    "a head waits for d",
    "a head waits for its guard",
    "a head waits for s",
    "a head waits for t",
    "a head waits for p",
];

impl Cover for ScoreboardCover {
    type In = ScoreboardIn;
    type Out = ScoreboardOut;
    type Probe = ScoreboardProbe;

    fn points(shape: &SmShape) -> Vec<&'static str> {
        let mut points = WAITS.to_vec();
        points.extend([
            "a head waits for several things",
            "a head goes on waiting",
            "a head has become clear",
            "a clear head has nothing that its neighbours have",
            "a head for the operand stage",
            "a branch",
            "a head that is neither",
            "a set without a register",
            "a set without a predicate",
            "a set of register 254",
            "a set wins over a clear",
            "as many sets as finishes of one warp",
            "the last instruction ends",
            "two finishes of one warp",
            "a count of 128 or more",
            "reset under load",
        ]);
        if shape.ports() == 2 {
            points.extend(["two sets of one warp", "two registers of one warp written", "port 1 sets alone"]);
        }
        points
    }

    fn new(shape: &SmShape) -> Self {
        Self { shape: *shape, waited: 0, roles: [0; MAX_WARPS] }
    }

    fn observe(&mut self, i: &ScoreboardIn, o: &ScoreboardOut, p: &ScoreboardProbe, hit: &mut dyn FnMut(&'static str)) {
        let warps = self.shape.warps;
        let pending = |w: usize, r: u8| p.reg_q[4 * w + usize::from(r / 64)] >> (r % 64) & 1 == 1;
        let mut near = false;
        for w in (0..warps).filter(|w| i.head_valid_i >> w & 1 == 1) {
            let roles = Roles(i.head_roles_i[w]);
            let registers = [roles.a(), roles.b(), roles.c(), roles.d()];
            near |= o.clear_o >> w & 1 == 1 && registers.iter().any(|&r| r != NO_REG && pending(w ^ 1, r));
            if o.clear_o >> w & 1 == 1 {
                continue;
            }
            let predicates = [roles.guard(), roles.s(), roles.t(), roles.p()];
            let mut waits = 0u8;
            for (k, &r) in registers.iter().enumerate() {
                waits |= u8::from(pending(w, r)) << k;
            }
            for (k, &n) in predicates.iter().enumerate() {
                waits |= (p.pred_q[w] >> (n % 8) & 1) << (4 + k);
            }
            if waits.count_ones() == 1 {
                hit(WAITS[waits.trailing_zeros() as usize]);
            } else {
                hit("a head waits for several things");
            }
        }
        let same = (0..warps).filter(|&w| i.head_roles_i[w] == self.roles[w]).fold(0u64, |set, w| set | 1 << w);
        let waiting = i.head_valid_i & !o.clear_o;
        let sets: Vec<usize> = (0..self.shape.ports()).filter(|q| i.set_valid_i >> q & 1 == 1).collect();
        let ends: Vec<u8> = (0..6).filter(|k| i.finish_valid_i >> k & 1 == 1).map(|k| i.finish_warp_i[k]).collect();
        let begun = |warp: u8| sets.iter().filter(|&&q| i.set_warp_i[q] == warp).count();
        let ended = |warp: u8| ends.iter().filter(|&&w| w == warp).count();
        let wins = sets.iter().any(|&q| {
            (0..self.shape.ports()).any(|c| {
                i.reg_valid_i >> c & 1 == 1
                    && (i.reg_warp_i[c], i.reg_i[c]) == (i.set_warp_i[q], i.set_d_i[q])
                    && i.reg_i[c] != NO_REG
            })
        });
        let points = [
            ("a head goes on waiting", waiting & self.waited & same != 0),
            ("a head has become clear", o.clear_o & self.waited & same != 0),
            ("a clear head has nothing that its neighbours have", near),
            ("a head for the operand stage", o.operand_o != 0),
            ("a branch", o.branch_o != 0),
            ("a head that is neither", i.head_valid_i & !(o.operand_o | o.branch_o) != 0),
            ("a set without a register", sets.iter().any(|&q| i.set_d_i[q] == NO_REG)),
            ("a set without a predicate", sets.iter().any(|&q| i.set_p_i[q] == NO_PRED)),
            ("a set of register 254", sets.iter().any(|&q| i.set_d_i[q] == 254)),
            ("a set wins over a clear", wins),
            (
                "as many sets as finishes of one warp",
                sets.iter().any(|&q| begun(i.set_warp_i[q]) == ended(i.set_warp_i[q])),
            ),
            (
                "the last instruction ends",
                ends.iter().any(|&w| usize::from(p.count_q[usize::from(w)]) == ended(w) && begun(w) == 0),
            ),
            ("two finishes of one warp", ends.iter().any(|&w| ended(w) > 1)),
            ("a count of 128 or more", p.count_q[..warps].iter().any(|&count| count >= 128)),
            ("reset under load", i.rst_ni == 0 && p.count_q != [0; MAX_WARPS]),
            ("two sets of one warp", sets.len() == 2 && i.set_warp_i[0] == i.set_warp_i[1]),
            ("two registers of one warp written", i.reg_valid_i == 0b11 && i.reg_warp_i[0] == i.reg_warp_i[1]),
            ("port 1 sets alone", i.set_valid_i == 0b10),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
        (self.waited, self.roles) = (waiting, i.head_roles_i);
    }
}
