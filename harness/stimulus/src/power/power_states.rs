//! `power_states`.

use std::collections::VecDeque;

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::{NO_REG, Roles};
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_blocks::mrf::bits::set_bits;
use gpurf_blocks::power::{PowerStates, PowerStatesIn};
use gpurf_blocks::shape::{SmShape, cfg_of_block};
use gpurf_lockstep::Rng;

use super::Registers;
use crate::driver::{Names, Reset, Twin, any_bit, ports};
use crate::{Driver, Unreached};

mod cover;

pub(crate) use cover::PowerStatesCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<PowerStates, PowerStatesDriver, PowerStatesCover>();

/// Driver of `power_states`: warps whose instructions issue, are dispatched in order, and write. A twin tells which heads have all registers ON.
pub(crate) struct PowerStatesDriver {
    shape: SmShape,
    mode: u16,
    reset: Reset,
    twin: Twin<PowerStates>,
    registers: Registers,
    /// Warps that are favoured.
    near: Names,
    warps: Vec<Warp>,
}

/// A warp.
#[derive(Clone, Default)]
struct Warp {
    alive: bool,
    head: Option<Instruction>,
    /// Instructions that have issued and have not been dispatched, the oldest first.
    staged: VecDeque<Instruction>,
    /// Registers of instructions that have been dispatched, which are to be written.
    writes: Vec<u8>,
}

/// An instruction, and the states that it leaves.
#[derive(Clone, Copy)]
struct Instruction {
    roles: Roles,
    states: u8,
}

impl Warp {
    /// Whether the scoreboard lets the head issue.
    fn is_clear(&self) -> bool {
        self.head.is_some_and(|head| {
            let pending = |&r: &u8| r != NO_REG && (head.roles.reads(r) || head.roles.d() == r);
            !self.writes.iter().any(pending) && !self.staged.iter().any(|i| pending(&i.roles.d()))
        })
    }

    fn is_idle(&self) -> bool {
        self.staged.is_empty() && self.writes.is_empty()
    }
}

knobs! {
    pub(crate) struct PowerStatesKnobs {
        wake_sleep: "strap: cycles until a register in SLEEP is ON" = [0, 1, 1, 2, 3, 6, 15],
        wake_off: "strap: cycles until a register that is OFF is ON" = [0, 1, 2, 2, 3, 7, 15],
        fetch: "a warp without a head gets one" = [50, 300, 900],
        issue: "a head that is clear issues" = [200, 700, 1000],
        lanes: "it has lanes, and goes to the operand stage" = [600, 950, 1000],
        dispatch: "an instruction is dispatched" = [100, 500, 1000],
        write: "a register is written" = [100, 500, 1000],
        stray: "a register is written that has nothing to do with that" = [0, 100, 500],
        keep: "another instruction accesses a register" = [0, 200, 800],
        hold: "a head is not clear, whatever its registers" = [0, 0, 100, 600],
        other: "a warp has another head" = [0, 0, 20],
        end: "a warp ends" = [2, 10, 60],
        start: "a warp begins" = [50, 300, 1000],
        launch: "a grid is taken" = [5, 30, 200],
        near: "only few warps do something" = [0, 500, 950],
        few: "the register is one of few" = [100, 700, 950],
        none: "an instruction has no register in a place" = [100, 400, 700],
        on: "an instruction leaves its registers ON" = [100, 500, 950],
        reset,
    }
}

/// Warps that are favoured.
const NEAR: usize = 3;
/// Instructions of a warp between issue and dispatch, at most.
const STAGED: usize = 4;
/// Numbers of registers at the edges of the state's words.
const EDGES: [u8; 10] = [0, 1, 63, 64, 65, 127, 128, 192, 193, 255];

impl Driver for PowerStatesDriver {
    type In = PowerStatesIn;
    type Knobs = PowerStatesKnobs;

    fn new(shape: &SmShape, config: &Config) -> Self {
        Self {
            shape: *shape,
            mode: cfg_of_block(config, "power_states") as u16 & 3,
            reset: Reset::default(),
            twin: Twin::new(shape),
            registers: Registers::new(),
            near: Names::new(NEAR, shape.warps as u64),
            warps: vec![Warp::default(); shape.warps],
        }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        Unreached::warps(&["set_warp_i", "read_warp_i", "reg_warp_i", "start_warp_i"], shape.warps)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &PowerStatesKnobs, i: &mut PowerStatesIn) {
        self.twin.early();
        self.registers.0.renew(rng);
        self.near.renew(rng);
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.cfg_i = self.mode | (knobs.wake_sleep << 2 | knobs.wake_off << 6) as u16;
        let used = if rng.chance(knobs.near) {
            (0..NEAR as u64).fold(0, |set, n| set | 1 << self.near.nth(n))
        } else {
            self.shape.all_warps()
        };
        self.heads(rng, knobs, i, used);
        self.begin(rng, knobs, i);
        let read = self.reads(rng, knobs, i, used);
        let written = self.writes(rng, knobs, i, used);
        self.twin.late(i);
        let issued = self.sets(rng, knobs, i, used);
        self.twin.clock(i);

        // The clock edge.
        for w in read {
            let d = self.warps[w].staged.pop_front().expect("it is there").roles.d();
            self.warps[w].writes.extend((d != NO_REG).then_some(d));
        }
        for (w, register) in written {
            // A register of an instruction that is dispatched at this edge is written in a later cycle.
            let writes = &mut self.warps[w].writes;
            let at = writes.iter().position(|&r| r == register).expect("it is to be written");
            writes.remove(at);
        }
        for (w, stays) in issued {
            let head = self.warps[w].head.take().expect("it issues");
            self.warps[w].staged.extend(stays.then_some(head));
        }
        if i.start_valid_i == 1 {
            self.warps[usize::from(i.start_warp_i)].alive = true;
        }
        for warp in &mut self.warps {
            if warp.head.is_none() && warp.alive && rng.chance(knobs.end) {
                warp.alive = false;
            }
        }
        if i.rst_ni == 0 {
            self.warps.fill(Warp::default());
        }
    }
}

impl PowerStatesDriver {
    fn instruction(&self, rng: &mut Rng, knobs: &PowerStatesKnobs) -> Instruction {
        let mut states = 0;
        for k in 0..3 {
            let state = if rng.chance(knobs.on) { 0 } else { rng.below(4) as u8 };
            states |= state << (2 * k);
        }
        Instruction { roles: self.registers.roles(rng, knobs.few, knobs.none), states }
    }

    fn heads(&mut self, rng: &mut Rng, knobs: &PowerStatesKnobs, i: &mut PowerStatesIn, used: u64) {
        (i.clear_i, i.alive_i, i.idle_i) = (0, 0, 0);
        for w in 0..self.shape.warps {
            let comes = match self.warps[w].head {
                None => used >> w & 1 == 1 && self.warps[w].alive && rng.chance(knobs.fetch),
                Some(_) => rng.chance(knobs.other),
            };
            if comes {
                self.warps[w].head = Some(self.instruction(rng, knobs));
            }
            let warp = &self.warps[w];
            if let Some(head) = warp.head {
                i.head_roles_i[w] = head.roles.0;
                i.clear_i |= u64::from(warp.is_clear() && !rng.chance(knobs.hold)) << w;
            }
            i.alive_i |= u64::from(warp.alive) << w;
            // An instruction without a register to write may end later.
            i.idle_i |= u64::from(warp.is_idle() && !rng.chance(100)) << w;
        }
    }

    /// A warp that begins, and a grid.
    fn begin(&mut self, rng: &mut Rng, knobs: &PowerStatesKnobs, i: &mut PowerStatesIn) {
        let start = any_bit(rng, !i.alive_i & i.idle_i).filter(|_| rng.chance(knobs.start));
        i.start_valid_i = start.is_some().into();
        i.start_warp_i = start.map_or_else(|| rng.below(64) as u8, |w| w as u8);
        i.launch_valid_i = rng.chance(knobs.launch).into();
        i.launch_registers_i =
            if rng.chance(400) { EDGES[rng.below(EDGES.len() as u64) as usize] } else { rng.next_u64() as u8 };
    }

    /// Drives the instructions that are dispatched. Returns their warps.
    fn reads(&mut self, rng: &mut Rng, knobs: &PowerStatesKnobs, i: &mut PowerStatesIn, used: u64) -> Vec<usize> {
        let mut read: Vec<usize> = Vec::new();
        i.read_valid_i = 0;
        i.read_keep_i = rng.mask(3 * self.shape.ports() as u32, knobs.keep) as u8;
        for p in 0..self.shape.ports() {
            let left = |w: &usize| self.warps[*w].staged.len() > read.iter().filter(|r| *r == w).count();
            let ready = set_bits(used).filter(left).fold(0_u64, |set, w| set | 1 << w);
            if let Some(w) = any_bit(rng, ready).filter(|_| rng.chance(knobs.dispatch)) {
                let instruction = self.warps[w].staged[read.iter().filter(|r| **r == w).count()];
                i.read_valid_i |= 1 << p;
                (i.read_warp_i[p], i.read_roles_i[p], i.read_states_i[p]) =
                    (w as u8, instruction.roles.0, instruction.states);
                read.push(w);
            }
        }
        read
    }

    /// Drives the registers that are written. Returns those that were to be written.
    fn writes(
        &mut self,
        rng: &mut Rng,
        knobs: &PowerStatesKnobs,
        i: &mut PowerStatesIn,
        used: u64,
    ) -> Vec<(usize, u8)> {
        let probe = self.twin.probe(i);
        let mut written: Vec<(usize, u8)> = Vec::new();
        i.reg_valid_i = 0;
        i.reg_keep_i = rng.mask(self.shape.ports() as u32, knobs.keep) as u8;
        for p in 0..self.shape.ports() {
            let open = |w: usize| self.warps[w].writes.iter().find(|&&r| !written.contains(&(w, r))).copied();
            let ready = set_bits(used).filter(|&w| open(w).is_some()).fold(0_u64, |set, w| set | 1 << w);
            if rng.chance(knobs.stray) {
                let w = rng.below(self.shape.warps as u64) as usize;
                // It may be a register to which an access begins at this edge.
                let head = self.warps[w].head.filter(|_| rng.chance(500));
                let register = head.map_or_else(|| self.registers.any(rng, knobs.few), |head| head.roles.0 as u8);
                let pending = probe.pending_q[4 * w + usize::from(register / 64)] >> (register % 64) & 1 == 1;
                // A register that is to be written is written only once.
                if !pending && !self.warps[w].writes.contains(&register) {
                    i.reg_valid_i |= 1 << p;
                    (i.reg_warp_i[p], i.reg_i[p]) = (w as u8, register);
                }
            } else if let Some(w) = any_bit(rng, ready).filter(|_| rng.chance(knobs.write)) {
                let register = open(w).expect("there is one");
                i.reg_valid_i |= 1 << p;
                (i.reg_warp_i[p], i.reg_i[p]) = (w as u8, register);
                written.push((w, register));
            }
        }
        written
    }

    /// Drives the heads that issue. Returns their warps, and whether they go to the operand stage.
    fn sets(
        &mut self,
        rng: &mut Rng,
        knobs: &PowerStatesKnobs,
        i: &mut PowerStatesIn,
        used: u64,
    ) -> Vec<(usize, bool)> {
        let mut ready = self.twin.out.clear_o & used;
        let mut issued = Vec::new();
        let offered = ports(rng, self.shape.ports(), knobs.issue);
        i.set_valid_i = 0;
        for p in (0..self.shape.ports().min(MAX_PORTS)).filter(|p| offered >> p & 1 == 1) {
            let Some(w) = any_bit(rng, ready) else { break };
            ready &= !(1 << w);
            let warp = &self.warps[w];
            let head = warp.head.expect("it is clear");
            let stays = rng.chance(knobs.lanes);
            if stays && warp.staged.len() >= STAGED {
                continue;
            }
            if stays {
                i.set_valid_i |= 1 << p;
                (i.set_warp_i[p], i.set_roles_i[p], i.set_states_i[p]) = (w as u8, head.roles.0, head.states);
            }
            issued.push((w, stays));
        }
        issued
    }
}
