//! `access_table`.

use std::collections::VecDeque;

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::{NO_PRED, NO_REG, PC_BITS, Roles};
use gpurf_blocks::mrf::bits::set_bits;
use gpurf_blocks::power::{AccessTable, AccessTableIn, AccessTableOut, AccessTableProbe};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use super::Registers;
use crate::driver::{Names, Reset, ports};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<AccessTable, AccessTableDriver, AccessTableCover>();

/// Driver of `access_table`: warps whose instructions are decoded, issue, are dispatched, and write. Now and then an input has nothing to do with the
/// instructions in flight: the block finds entries by addresses and registers, whatever they are.
pub(crate) struct AccessTableDriver {
    shape: SmShape,
    reset: Reset,
    registers: Registers,
    /// Addresses that are favoured.
    addresses: Names,
    predicates: Names,
    /// Warps that are favoured.
    near: Names,
    warps: Vec<Warp>,
}

/// A warp.
#[derive(Clone, Default)]
struct Warp {
    /// Instructions that have been decoded, the oldest first.
    buffer: VecDeque<Instruction>,
    /// Instructions that have issued, the oldest first.
    staged: VecDeque<Instruction>,
    /// Registers and predicates that are to be written.
    registers: Vec<u8>,
    predicates: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Instruction {
    pc: u32,
    roles: Roles,
}

knobs! {
    pub(crate) struct AccessTableKnobs {
        push: "an instruction is decoded" = [100, 500, 950],
        issue: "an instruction issues" = [100, 500, 950],
        stays: "it goes to the operand stage" = [500, 900, 1000],
        dispatch: "an instruction is dispatched" = [100, 500, 950],
        write: "a register, or a predicate, is written" = [100, 500, 950],
        stray: "what happens has nothing to do with what is there" = [0, 50, 300],
        near: "the warp is one of few" = [0, 700, 1000],
        few: "a register or an address is one of few" = [300, 800, 1000],
        none: "an instruction has no register in a place" = [100, 400, 800],
        reset,
    }
}

/// Warps that are favoured.
const NEAR: usize = 3;
/// Addresses that are favoured.
const ADDRESSES: usize = 6;
/// Most instructions of a warp in the buffer, and most between issue and dispatch.
const PLACES: usize = 3;
/// Most results of a warp that are pending.
const RESULTS: usize = 6;

impl Driver for AccessTableDriver {
    type In = AccessTableIn;
    type Knobs = AccessTableKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self {
            shape: *shape,
            reset: Reset::default(),
            registers: Registers::new(),
            addresses: Names::new(ADDRESSES, 1 << PC_BITS),
            predicates: Names::new(3, 8),
            near: Names::new(NEAR, shape.warps as u64),
            warps: vec![Warp::default(); shape.warps],
        }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        let warps = ["push_warp_i", "issue_warp_i", "read_warp_i", "reg_warp_i", "pred_warp_i"];
        Unreached::warps(&warps, shape.warps)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &AccessTableKnobs, i: &mut AccessTableIn) {
        i.rst_ni = self.reset.next(rng, knobs.reset);
        self.registers.0.renew(rng);
        self.addresses.renew(rng);
        self.predicates.renew(rng);
        self.near.renew(rng);
        // The last stage comes first, so that an instruction does not pass two stages in one cycle.
        self.written(rng, knobs, i);
        self.dispatched(rng, knobs, i);
        self.issued(rng, knobs, i);
        self.decoded(rng, knobs, i);
        if i.rst_ni == 0 {
            self.warps.fill(Warp::default());
        }
    }
}

impl AccessTableDriver {
    fn warp(&self, rng: &mut Rng, knobs: &AccessTableKnobs) -> usize {
        if rng.chance(knobs.near) { self.near.draw(rng) as usize } else { rng.below(self.shape.warps as u64) as usize }
    }

    fn pc(&self, rng: &mut Rng, knobs: &AccessTableKnobs) -> u32 {
        if rng.chance(knobs.few) { self.addresses.draw(rng) as u32 } else { rng.below(1 << PC_BITS) as u32 }
    }

    fn instruction(&self, rng: &mut Rng, knobs: &AccessTableKnobs) -> Instruction {
        let mut roles = self.registers.roles(rng, knobs.few, knobs.none).fields();
        roles.p = if rng.chance(600) { NO_PRED } else { self.predicates.draw(rng) as u8 };
        if rng.chance(300) {
            roles.d = NO_REG;
        }
        Instruction { pc: self.pc(rng, knobs), roles: roles.into() }
    }

    fn written(&mut self, rng: &mut Rng, knobs: &AccessTableKnobs, i: &mut AccessTableIn) {
        let count = self.shape.ports();
        i.reg_valid_i = ports(rng, count, knobs.write);
        i.pred_valid_i = ports(rng, count, knobs.write);
        for p in 0..count {
            let (w, v) = (self.warp(rng, knobs), self.warp(rng, knobs));
            (i.reg_warp_i[p], i.pred_warp_i[p]) = (w as u8, v as u8);
            // A register has a name below 255.
            i.reg_i[p] = self.registers.any(rng, knobs.few).min(NO_REG - 1);
            i.pred_i[p] = rng.below(7) as u8;
            if !rng.chance(knobs.stray) {
                match take(rng, &mut self.warps[w].registers, i.reg_valid_i >> p & 1 == 1) {
                    Some(register) => i.reg_i[p] = register,
                    None => i.reg_valid_i &= !(1 << p),
                }
                match take(rng, &mut self.warps[v].predicates, i.pred_valid_i >> p & 1 == 1) {
                    Some(predicate) => i.pred_i[p] = predicate,
                    None => i.pred_valid_i &= !(1 << p),
                }
            }
        }
    }

    fn dispatched(&mut self, rng: &mut Rng, knobs: &AccessTableKnobs, i: &mut AccessTableIn) {
        i.read_valid_i = 0;
        for p in 0..self.shape.ports() {
            if !rng.chance(knobs.dispatch) {
                continue;
            }
            let w = self.warp(rng, knobs);
            let mut instruction = self.instruction(rng, knobs);
            if !rng.chance(knobs.stray) {
                let warp = &mut self.warps[w];
                if warp.registers.len() + warp.predicates.len() >= RESULTS {
                    continue;
                }
                let Some(oldest) = warp.staged.pop_front() else { continue };
                instruction = oldest;
                let roles = oldest.roles;
                warp.registers.extend((roles.d() != NO_REG).then_some(roles.d()));
                warp.predicates.extend((roles.p() != NO_PRED).then_some(roles.p()));
            }
            i.read_valid_i |= 1 << p;
            (i.read_warp_i[p], i.read_pc_i[p], i.read_roles_i[p]) = (w as u8, instruction.pc, instruction.roles.0);
        }
    }

    fn issued(&mut self, rng: &mut Rng, knobs: &AccessTableKnobs, i: &mut AccessTableIn) {
        i.issue_valid_i = 0;
        i.issue_stays_i = ports(rng, self.shape.ports(), knobs.stays);
        for p in 0..self.shape.ports() {
            let w = self.warp(rng, knobs);
            // Two that issue together are of different warps.
            if p > 0 && i.issue_valid_i & 1 == 1 && usize::from(i.issue_warp_i[0]) == w || !rng.chance(knobs.issue) {
                continue;
            }
            let stays = i.issue_stays_i >> p & 1 == 1;
            let mut pc = self.pc(rng, knobs);
            if !rng.chance(knobs.stray) {
                let warp = &mut self.warps[w];
                if warp.staged.len() >= PLACES {
                    continue;
                }
                let Some(oldest) = warp.buffer.pop_front() else { continue };
                warp.staged.extend(stays.then_some(oldest));
                pc = oldest.pc;
            }
            i.issue_valid_i |= 1 << p;
            (i.issue_warp_i[p], i.issue_pc_i[p]) = (w as u8, pc);
        }
    }

    fn decoded(&mut self, rng: &mut Rng, knobs: &AccessTableKnobs, i: &mut AccessTableIn) {
        i.push_valid_i = 0;
        for p in 0..self.shape.ports() {
            let w = self.warp(rng, knobs);
            // Two that come together are of different warps.
            if p > 0 && i.push_valid_i & 1 == 1 && usize::from(i.push_warp_i[0]) == w
                || self.warps[w].buffer.len() >= PLACES
                || !rng.chance(knobs.push)
            {
                continue;
            }
            // A loop has the same instruction again.
            let again = self.warps[w].staged.back().copied().filter(|_| rng.chance(200));
            let instruction = again.unwrap_or_else(|| self.instruction(rng, knobs));
            i.push_valid_i |= 1 << p;
            (i.push_warp_i[p], i.push_pc_i[p], i.push_roles_i[p]) = (w as u8, instruction.pc, instruction.roles.0);
            self.warps[w].buffer.push_back(instruction);
        }
    }
}

/// Removes one of the numbers and returns it, if one is wanted.
fn take(rng: &mut Rng, from: &mut Vec<u8>, wanted: bool) -> Option<u8> {
    (wanted && !from.is_empty()).then(|| from.swap_remove(rng.below(from.len() as u64) as usize))
}

pub(crate) struct AccessTableCover {
    shape: SmShape,
    entries: usize,
}

/// An entry in use.
struct Entry {
    issued: bool,
    pc: u32,
    /// The registers a, b, c, d.
    names: [u8; 4],
    p: u8,
}

impl Entry {
    fn accesses(&self, register: u8) -> bool {
        register != NO_REG && self.names.contains(&register)
    }

    fn writes(&self, register: u8) -> bool {
        self.issued && self.names[3] == register
    }
}

#[cover]
impl AccessTableCover {
    const PLACES: [&str; 4] = ["a", "b", "c", "d"];
    const SOURCES: [&str; 3] = ["a", "b", "c"];

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape, entries: shape.power_entries.max(1) }
    }

    fn observe(&mut self, i: &AccessTableIn, o: &AccessTableOut, p: &AccessTableProbe, points: &mut Points) {
        self.come(i, p, points);
        self.go(i, p, points);
        self.reads(i, o, p, points);
        self.writes(i, o, p, points);
        let used = o.event_o >> 2;
        point!("the table is empty", used == 0 && i.rst_ni == 1);
        point!("the table has many entries in use", usize::from(used) >= self.shape.warps);
        point!("reset under load", i.rst_ni == 0 && used > 0);
    }

    /// Instructions that are decoded.
    fn come(&mut self, i: &AccessTableIn, p: &AccessTableProbe, points: &mut Points) {
        for q in set_bits(i.push_valid_i) {
            let w = i.push_warp_i[q];
            let places = self.places(w);
            let free = places.clone().position(|e| p.valid_q[e] == 0);
            let behind = |e: usize| places.clone().skip(e + 1).any(|later| p.valid_q[later] == 1);
            point!(
                "an instruction takes an entry with a later one in use",
                free.is_some_and(behind),
                given = self.entries > 1
            );
            point!("an instruction takes the first entry", free == Some(0));
            point!("an instruction takes the last entry", free == Some(self.entries - 1));
            point!("an instruction finds no free entry", free.is_none());
            let written = set_bits(i.reg_valid_i)
                .any(|r| i.reg_warp_i[r] == w && self.table(p, w).iter().any(|entry| entry.writes(i.reg_i[r])));
            point!("an instruction finds none, though one becomes free", free.is_none() && written);
        }
        point!("two instructions are decoded", i.push_valid_i == 3, given = self.shape.ports() == 2);
        point!("the second port decodes alone", i.push_valid_i == 2, given = self.shape.ports() == 2);
    }

    /// Instructions that issue, and entries that become free.
    fn go(&mut self, i: &AccessTableIn, p: &AccessTableProbe, points: &mut Points) {
        for q in set_bits(i.issue_valid_i) {
            let table = self.table(p, i.issue_warp_i[q]);
            let found = table.iter().filter(|entry| !entry.issued && entry.pc == i.issue_pc_i[q]).count();
            let stays = i.issue_stays_i >> q & 1 == 1;
            point!("an instruction issues and stays", found == 1 && stays);
            point!("an instruction issues and leaves", found == 1 && !stays);
            point!("an instruction issues that has no entry", found == 0);
            point!("an instruction issues that is there twice", found > 1, given = self.entries > 1);
            let again = table.iter().any(|entry| entry.issued && entry.pc == i.issue_pc_i[q]);
            point!("an instruction issues that has issued before", found > 0 && again, given = self.entries > 1);
        }
        for q in set_bits(i.read_valid_i) {
            let roles = Roles(i.read_roles_i[q]);
            let nothing = roles.d() == NO_REG && roles.p() == NO_PRED;
            let table = self.table(p, i.read_warp_i[q]);
            let own = |entry: &&Entry| entry.pc == i.read_pc_i[q] && entry.writes(NO_REG) && entry.p == NO_PRED;
            let found = table.iter().filter(own).count();
            point!("an instruction that writes nothing is dispatched", nothing && found == 1);
            point!("an instruction that writes nothing has no entry", nothing && found == 0);
            point!("an instruction that writes nothing is there twice", nothing && found > 1, given = self.entries > 1);
            point!("an instruction that writes a register is dispatched", roles.d() != NO_REG && roles.p() == NO_PRED);
            point!("an instruction that writes a predicate is dispatched", roles.d() == NO_REG && roles.p() != NO_PRED);
        }
        for q in set_bits(i.pred_valid_i) {
            let table = self.table(p, i.pred_warp_i[q]);
            let has = |entry: &&Entry| entry.issued && entry.p == i.pred_i[q];
            let found = table.iter().filter(has).filter(|entry| entry.names[3] == NO_REG).count();
            point!("a predicate is written, and an entry becomes free", found == 1);
            point!("a predicate is written, and two entries become free", found > 1, given = self.entries > 1);
            let both = table.iter().filter(has).any(|entry| entry.names[3] != NO_REG);
            point!("a predicate is written whose instruction writes a register too", both);
            let waits = table.iter().any(|entry| !entry.issued && entry.p == i.pred_i[q] && entry.names[3] == NO_REG);
            point!("a predicate is written whose writer has not issued", waits);
        }
    }

    /// Sources of instructions that are dispatched.
    fn reads(&mut self, i: &AccessTableIn, o: &AccessTableOut, p: &AccessTableProbe, points: &mut Points) {
        for q in set_bits(i.read_valid_i) {
            let w = i.read_warp_i[q];
            let table = self.table(p, w);
            let neighbour = self.table(p, w ^ 1);
            for (s, &r) in Roles(i.read_roles_i[q]).sources().iter().enumerate() {
                let keep = o.read_keep_o >> (3 * q + s) & 1 == 1;
                let others: Vec<&Entry> =
                    table.iter().filter(|entry| entry.pc != i.read_pc_i[q] && entry.accesses(r)).collect();
                let same = table.iter().any(|entry| entry.pc == i.read_pc_i[q] && entry.accesses(r));
                point!("source {SOURCES[s]} is accessed by another instruction", keep);
                point!("a source that only instructions at its address access", same && others.is_empty());
                point!("a source that another warp accesses", !keep && neighbour.iter().any(|entry| entry.accesses(r)));
                point!(
                    "an entry without a register meets a source that is none",
                    r == NO_REG && table.iter().any(|entry| entry.names.contains(&NO_REG))
                );
                if let [other] = others[..] {
                    point!("the other instruction has issued", other.issued);
                    point!("the other instruction has not issued", !other.issued);
                    let place = other.names.iter().position(|&name| name == r).unwrap_or(0);
                    point!("the other instruction has the register as {PLACES[place]}", true);
                }
            }
        }
    }

    /// Registers that have been written.
    fn writes(&mut self, i: &AccessTableIn, o: &AccessTableOut, p: &AccessTableProbe, points: &mut Points) {
        for q in set_bits(i.reg_valid_i) {
            let (r, keep) = (i.reg_i[q], o.reg_keep_o >> q & 1 == 1);
            let table = self.table(p, i.reg_warp_i[q]);
            let writers: Vec<u32> = table.iter().filter(|entry| entry.writes(r)).map(|entry| entry.pc).collect();
            let accessed = table.iter().any(|entry| entry.accesses(r));
            point!(
                "a result has an entry, and another instruction accesses it",
                writers.len() == 1 && keep,
                given = self.entries > 1
            );
            point!("a result has an entry, and no other instruction accesses it", writers.len() == 1 && !keep);
            point!("a result has no entry, and an instruction accesses it", writers.is_empty() && keep);
            point!("a result has no entry, and no instruction accesses it", writers.is_empty() && !accessed);
            let two = writers.len() > 1;
            point!(
                "a result has two entries at one address",
                two && writers[1..].iter().all(|&pc| pc == writers[0]),
                given = self.entries > 1
            );
            point!(
                "a result has two entries at two addresses",
                two && writers[1] != writers[0],
                given = self.entries > 1
            );
            let again = writers.first().is_some_and(|&pc| {
                table.iter().any(|entry| !entry.issued && entry.pc == pc && entry.accesses(r)) && !keep
            });
            point!("a result has an entry, and the same instruction comes again", again, given = self.entries > 1);
        }
    }
}

impl AccessTableCover {
    /// The places of a warp's entries.
    fn places(&self, warp: u8) -> std::ops::Range<usize> {
        let first = self.entries * usize::from(warp);
        first..first + self.entries
    }

    /// A warp's entries that are in use.
    fn table(&self, p: &AccessTableProbe, warp: u8) -> Vec<Entry> {
        let used = self.places(warp).filter(|&e| p.valid_q[e] == 1);
        used.map(|e| Entry {
            issued: p.issued_q[e] == 1,
            pc: p.pc_q[e],
            names: [p.a_q[e], p.b_q[e], p.c_q[e], p.d_q[e]],
            p: p.p_q[e],
        })
        .collect()
    }
}
