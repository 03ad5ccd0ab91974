//! `scoreboard`.

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::{NO_PRED, NO_REG, Roles};
use gpurf_blocks::issue::{Scoreboard, ScoreboardIn, ScoreboardOut, ScoreboardProbe};
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_lockstep::Rng;

use crate::driver::{Reset, ports};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<Scoreboard, ScoreboardDriver, ScoreboardCover>();

/// Driver of `scoreboard`. It keeps track of what is pending and of the number of instructions in flight, as the scoreboard does: a set has to find
/// its bits clear, and only instructions in flight can end.
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

knobs! {
    pub(crate) struct ScoreboardKnobs {
        set: "an instruction goes to the operand stage" = [100, 500, 950],
        clear: "a register, or a predicate, has been written" = [100, 500, 950],
        finish: "an instruction comes to its end" = [0, 0, 100, 700],
        head: "a warp gets another head, or loses it" = [10, 100, 500],
        near: "the warp is one of three" = [0, 500, 1000],
        few: "the register is one of twelve" = [300, 800, 1000],
        stray: "what is cleared need not be pending" = [0, 300],
        reset,
    }
}

/// Most instructions of a warp in flight.
const MOST: u8 = 200;
/// Registers at the edges of the scoreboard's words.
const EDGES: [u8; 12] = [0, 1, 62, 63, 64, 127, 128, 191, 192, 253, 254, NO_REG];

impl Driver for ScoreboardDriver {
    type In = ScoreboardIn;
    type Knobs = ScoreboardKnobs;

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

    fn drive(&mut self, rng: &mut Rng, knobs: &ScoreboardKnobs, inputs: &mut ScoreboardIn) {
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
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
    fn warp(&self, rng: &mut Rng, knobs: &ScoreboardKnobs) -> u8 {
        let warps = self.shape.warps as u64;
        if rng.chance(knobs.near) {
            [0, 0, 0, 0, 0, 0, 1, warps - 1][rng.below(8) as usize] as u8
        } else {
            rng.below(warps) as u8
        }
    }

    fn register(rng: &mut Rng, knobs: &ScoreboardKnobs) -> u8 {
        if rng.chance(knobs.few) { EDGES[rng.below(EDGES.len() as u64) as usize] } else { rng.next_u64() as u8 }
    }

    fn change_heads(&mut self, rng: &mut Rng, knobs: &ScoreboardKnobs) {
        for w in 0..self.shape.warps {
            if !rng.chance(knobs.head) {
                continue;
            }
            let bit = 1 << w;
            self.head_valid &= !bit;
            if rng.chance(800) {
                self.head_valid |= bit;
                let registers = std::array::from_fn(|k| {
                    // Few are a register, so that a head often waits for only one.
                    if k < 4 && rng.chance(500) { Self::register(rng, knobs) } else { NO_REG }
                });
                // Only one unit has a number from 8 to 15, so these numbers come less often.
                let fields = if rng.chance(200) { 0x1f_ffff } else { 0xf_ffff };
                let mut roles = rng.next_u64() & fields << 32 | u64::from(u32::from_le_bytes(registers));
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
    fn clears(&mut self, rng: &mut Rng, knobs: &ScoreboardKnobs, inputs: &mut ScoreboardIn) {
        let count = self.shape.ports();
        (inputs.reg_valid_i, inputs.pred_valid_i) = (0, 0);
        for p in 0..count {
            let stray = rng.chance(knobs.stray);
            let (warp, register) = (self.warp(rng, knobs), Self::register(rng, knobs));
            let words = &mut self.registers[usize::from(warp)];
            let found = if stray { Some(register) } else { any_set(rng, words) };
            if let Some(register) = found.filter(|_| rng.chance(knobs.clear)) {
                inputs.reg_valid_i |= 1 << p;
                (inputs.reg_warp_i[p], inputs.reg_i[p]) = (warp, register);
            }
            let warp = self.warp(rng, knobs);
            let pending = self.predicates[usize::from(warp)];
            let number = rng.below(8) as u8;
            if rng.chance(knobs.clear) && (stray || pending >> number & 1 == 1) {
                inputs.pred_valid_i |= 1 << p;
                (inputs.pred_warp_i[p], inputs.pred_i[p]) = (warp, number);
            }
        }
        inputs.finish_valid_i = 0;
        let mut left = self.counts.clone();
        for k in 0..2 * count + 2 {
            let warp = self.warp(rng, knobs);
            let left = &mut left[usize::from(warp)];
            if *left > 0 && rng.chance(knobs.finish) {
                *left -= 1;
                inputs.finish_valid_i |= 1 << k;
                inputs.finish_warp_i[k] = warp;
            }
        }
    }

    fn sets(&mut self, rng: &mut Rng, knobs: &ScoreboardKnobs, inputs: &mut ScoreboardIn) {
        let (registers, predicates) = (self.registers.clone(), self.predicates.clone());
        let ports_of = |mask: u8| (0..2 * self.shape.ports() + 2).filter(move |p| mask >> p & 1 == 1);
        for p in ports_of(inputs.reg_valid_i) {
            let register = inputs.reg_i[p];
            self.registers[usize::from(inputs.reg_warp_i[p])][usize::from(register / 64)] &= !(1 << (register % 64));
        }
        for p in ports_of(inputs.pred_valid_i) {
            self.predicates[usize::from(inputs.pred_warp_i[p])] &= !(1 << inputs.pred_i[p]);
        }
        let offered = ports(rng, self.shape.ports(), knobs.set);
        inputs.set_valid_i = 0;
        // They have no meaning where nothing is set.
        inputs.set_warp_i.fill_with(|| rng.below(64) as u8);
        for p in ports_of(offered) {
            // A register that is cleared at this edge without being pending may be set at the same time.
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

#[cover]
impl ScoreboardCover {
    /// What a head waits for.
    const WAITS: [&str; 8] = ["a", "b", "c", "d", "its guard", "s", "t", "p"];

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape, waited: 0, roles: [0; MAX_WARPS] }
    }

    fn observe(&mut self, i: &ScoreboardIn, o: &ScoreboardOut, p: &ScoreboardProbe, points: &mut Points) {
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
            let one = waits.count_ones() == 1;
            point!("a head waits for {WAITS[waits.trailing_zeros() as usize]}", one);
            point!("a head waits for several things", !one);
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
        point!("a head goes on waiting", waiting & self.waited & same != 0);
        point!("a head has become clear", o.clear_o & self.waited & same != 0);
        point!("a clear head has nothing that its neighbours have", near);
        point!("a head for the operand stage", o.operand_o != 0);
        point!("a branch", o.branch_o != 0);
        point!("a head that is neither", i.head_valid_i & !(o.operand_o | o.branch_o) != 0);
        point!("a set without a register", sets.iter().any(|&q| i.set_d_i[q] == NO_REG));
        point!("a set without a predicate", sets.iter().any(|&q| i.set_p_i[q] == NO_PRED));
        point!("a set of register 254", sets.iter().any(|&q| i.set_d_i[q] == 254));
        point!("a set wins over a clear", wins);
        point!(
            "as many sets as finishes of one warp",
            sets.iter().any(|&q| begun(i.set_warp_i[q]) == ended(i.set_warp_i[q]))
        );
        point!(
            "the last instruction ends",
            ends.iter().any(|&w| usize::from(p.count_q[usize::from(w)]) == ended(w) && begun(w) == 0)
        );
        point!("two finishes of one warp", ends.iter().any(|&w| ended(w) > 1));
        point!("a count of 128 or more", p.count_q[..warps].iter().any(|&count| count >= 128));
        point!("reset under load", i.rst_ni == 0 && p.count_q != [0; MAX_WARPS]);
        #[given(self.shape.ports() == 2)]
        {
            point!("two sets of one warp", sets.len() == 2 && i.set_warp_i[0] == i.set_warp_i[1]);
            point!("two registers of one warp written", i.reg_valid_i == 0b11 && i.reg_warp_i[0] == i.reg_warp_i[1]);
            point!("port 1 sets alone", i.set_valid_i == 0b10);
        }

        (self.waited, self.roles) = (waiting, i.head_roles_i);
    }
}
