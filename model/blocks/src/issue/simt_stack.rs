//! `simt_stack`: which lanes of a warp execute, and where the others wait. `docs/blocks/simt_stack.md`.

use crate::instruction::{NO_PC, PC_BITS};
use crate::issue::Kind;
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{is_set, set_bits};
use crate::ram::Words;
use crate::shape::SmShape;
use crate::sizes::{MAX_WARPS, WARP_NUMBERS};
use crate::{Block, Memory, WARP_BITS, field, ports};

/// Places of a warp's stack; 62 is the most that splits of 32 lanes can need.
const STACK_DEPTH: usize = 64;
/// Banks of places: one for even places, one for odd places.
const BANKS: usize = 2;
/// Width of the number of places in use.
const DEPTH_BITS: u32 = STACK_DEPTH.ilog2() + 1;

ports! {
    /// Inputs of [`SimtStack`].
    pub struct SimtStackIn(s: &SmShape) {
        /// Lanes that a warp begins with.
        start_mask_i: u32 = field(32).valid_by("start_valid_i"),
        /// Address of the instruction.
        issue_pc_i: [u32; MAX_PORTS] = field(PC_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Lanes of the group whose guard is true.
        issue_mask_i: [u32; MAX_PORTS] = field(32).count(s.ports()).valid_by("issue_valid_i"),
        /// Target of a branch.
        issue_target_i: [u32; MAX_PORTS] = field(PC_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Reconvergence point of a branch.
        issue_join_i: [u32; MAX_PORTS] = field(PC_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A warp begins.
        start_valid_i: u8 = field(1),
        /// Warp that begins.
        start_warp_i: u8 = field(WARP_BITS).valid_by("start_valid_i"),
        /// An instruction is issued on port p.
        issue_valid_i: u8 = field(s.ports()),
        /// Warp of the instruction issued on port p.
        issue_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Kind of the instruction: 0 other, 1 branch, 2 exit.
        issue_kind_i: [u8; MAX_PORTS] = field(2).count(s.ports()).valid_by("issue_valid_i"),
        /// The fetch waits for the instruction.
        issue_stop_i: u8 = field(s.ports()),
    }
}

ports! {
    /// Outputs of [`SimtStack`].
    pub struct SimtStackOut(s: &SmShape) {
        /// Warps with living lanes.
        alive_o: u64 = field(s.warps).early(),
        /// Lanes of each warp's executing group.
        mask_o: [u32; MAX_WARPS] = field(32).count(s.warps).early().shows("mask_q"),
        /// Lanes of each warp that have not ended.
        live_o: [u32; MAX_WARPS] = field(32).count(s.warps).early().shows("live_q"),
        /// Reconvergence point of each warp's executing group.
        reconvergence_o: [u32; MAX_WARPS] =
            field(PC_BITS).count(s.warps).valid_by("alive_o").early().shows("reconvergence_q"),
        /// Address at which the warp's fetch resumes.
        resume_pc_o: [u32; MAX_PORTS + 1] = field(PC_BITS).count(s.ports() + 1).valid_by("resume_valid_o"),
        /// The fetch of a warp goes on: by the instruction on port p; the last one: with a group that came from the
        /// stack.
        resume_valid_o: u8 = field(s.ports() + 1),
        /// Warp whose fetch resumes.
        resume_warp_o: [u8; MAX_PORTS + 1] = field(WARP_BITS).count(s.ports() + 1).valid_by("resume_valid_o"),
    }
}

ports! {
    /// State of [`SimtStack`] that no output shows.
    pub struct SimtStackProbe(s: &SmShape) {
        /// A group of the warp is to be taken from the stack.
        pop_q: u64 = field(s.warps),
        /// Places in use.
        depth_q: [u8; MAX_WARPS] = field(DEPTH_BITS).count(s.warps),
        /// A place has been read.
        read_valid_q: u8 = field(1),
        /// Warp whose place has been read.
        read_warp_q: u8 = field(WARP_BITS).valid_by("read_valid_q"),
        /// Bank from which the place has been read.
        read_odd_q: u8 = field(1).valid_by("read_valid_q"),
    }
}

/// A group of lanes: its next address, the address at which it gives way, its lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    /// Address of the group's next instruction.
    pub pc: u32,
    /// Reconvergence point: the address at which the group gives way.
    pub reconvergence: u32,
    /// Lanes of the group.
    pub lanes: u32,
}

/// The parts of an issued instruction that the stack needs.
#[derive(Clone, Copy, Debug)]
pub struct Issued {
    /// Address of the instruction.
    pub pc: u32,
    /// Kind of the instruction.
    pub kind: Kind,
    /// The fetch waits for the instruction.
    pub stop: bool,
    /// Lanes of the group whose guard is true.
    pub exec: u32,
    /// Target of a branch.
    pub target: u32,
    /// Reconvergence point of a branch.
    pub join: u32,
}

/// Effect of an instruction on its warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// What happens to the executing group.
    pub then: Then,
    /// Lanes that end.
    pub ended: u32,
}

/// What happens to a group that has issued an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// The fetch has not stopped and continues by itself.
    Fetches,
    /// The group continues at this address.
    Resumes(u32),
    /// The group gives way to the top of the stack.
    GivesWay,
    /// All lanes of the warp have ended.
    Ends,
    /// The group splits.
    Splits {
        /// Groups that wait: the whole group at the join, then the lanes that jump.
        waits: [Option<Group>; 2],
        /// The group that continues.
        group: Group,
    },
}

/// One of the two halves of all stacks.
#[derive(Clone)]
struct Bank {
    where_ram: Words,
    mask_ram: Words,
}

/// Keeps which group of lanes of each warp executes and which ones wait (`docs/isa.md`, "Control flow"). The executing
/// group is in registers, the waiting groups are in RAMs: two, because a branch may push two groups at once.
#[derive(Clone)]
pub struct SimtStack {
    mask_q: [u32; WARP_NUMBERS],
    live_q: [u32; WARP_NUMBERS],
    reconvergence_q: [u32; WARP_NUMBERS],
    depth_q: [u8; WARP_NUMBERS],
    pop_q: u64,
    /// The warps with a living lane, derived from `live_q`.
    alive: u64,
    read_valid_q: bool,
    read_warp_q: u8,
    read_odd_q: u8,
    banks: [Bank; BANKS],
    ports: usize,
}

impl SimtStack {
    /// Lanes of a warp's executing group.
    #[inline]
    pub fn mask(&self, warp: usize) -> u32 {
        self.mask_q[warp]
    }

    /// Lanes of a warp that have not ended.
    #[inline]
    pub fn live(&self, warp: usize) -> u32 {
        self.live_q[warp]
    }

    /// Reconvergence point of a warp's executing group; meaningful while the warp is alive.
    #[inline]
    pub fn reconvergence(&self, warp: usize) -> u32 {
        self.reconvergence_q[warp]
    }

    /// Warps with living lanes.
    #[inline]
    pub fn alive(&self) -> u64 {
        self.alive
    }

    /// The effect of an issued instruction on its warp.
    #[inline]
    pub fn step(&self, warp: usize, issued: &Issued) -> Step {
        let &Issued { pc, kind, stop, exec, target, join } = issued;
        let (mask, reconvergence) = (self.mask_q[warp], self.reconvergence_q[warp]);
        let next = (pc + 1) & NO_PC;
        let go_to = |x| if x == reconvergence { Then::GivesWay } else { Then::Resumes(x) };
        let then = match kind {
            Kind::Exit if self.live_q[warp] & !exec == 0 => Then::Ends,
            Kind::Exit if mask & !exec == 0 => Then::GivesWay,
            Kind::Branch if exec != 0 => {
                let falling = mask & !exec;
                if falling == 0 || next == target && next == join {
                    go_to(target)
                } else {
                    split(Group { pc: next, reconvergence, lanes: mask }, exec, target, join)
                }
            }
            Kind::Other if next != reconvergence && !stop => Then::Fetches,
            Kind::Exit | Kind::Branch | Kind::Other => go_to(next),
        };
        Step { then, ended: if kind == Kind::Exit { exec } else { 0 } }
    }

    /// The group that returns from the stack in this cycle, and its warp; none if none of its lanes lives.
    #[inline]
    pub fn returning(&self) -> Option<(usize, Group)> {
        let (warp, group) = self.read()?;
        (group.lanes != 0).then_some((warp, group))
    }

    /// The group that has been read, with its living lanes, and its warp.
    #[inline]
    fn read(&self) -> Option<(usize, Group)> {
        self.read_valid_q.then(|| {
            let (bank, warp) = (&self.banks[usize::from(self.read_odd_q)], usize::from(self.read_warp_q));
            let place = bank.where_ram.rdata();
            let (pc, reconvergence) = ((place >> PC_BITS) as u32, place as u32 & NO_PC);
            (warp, Group { pc, reconvergence, lanes: bank.mask_ram.rdata() as u32 & self.live_q[warp] })
        })
    }

    /// Whether no group is being taken from the stack.
    #[inline]
    pub fn idle(&self) -> bool {
        !self.read_valid_q && self.pop_q == 0
    }

    /// A clock edge; [`issued`](Self::issued) and [`start`](Self::start) follow. A group that was read executes or
    /// the next one is requested, and one of the requested groups is read.
    #[inline]
    pub fn advance(&mut self) {
        if !self.idle() {
            self.take_group();
        }
    }

    fn take_group(&mut self) {
        let read = self.read();
        self.read_valid_q = self.pop_q != 0;
        if self.read_valid_q {
            let warp = self.pop_q.trailing_zeros() as usize;
            self.pop_q &= self.pop_q - 1;
            let place = self.depth_q[warp].wrapping_sub(1) & PLACE_MASK;
            self.depth_q[warp] = self.depth_q[warp].wrapping_sub(1) & DEPTH_MASK;
            (self.read_warp_q, self.read_odd_q) = (warp as u8, place % BANKS as u8);
            let (bank, word) = self.place(warp, place);
            bank.where_ram.read(word);
            bank.mask_ram.read(word);
        }
        match read {
            Some((warp, group)) if group.lanes != 0 => {
                self.mask_q[warp] = group.lanes;
                self.reconvergence_q[warp] = group.reconvergence;
            }
            Some((warp, _)) => self.pop_q |= 1 << warp,
            None => {}
        }
    }

    /// Clock edge at which an instruction of a warp issues.
    #[inline]
    pub fn issued(&mut self, warp: usize, step: &Step) {
        if step.ended != 0 {
            self.mask_q[warp] &= !step.ended;
            self.live_q[warp] &= !step.ended;
        }
        match step.then {
            Then::Fetches | Then::Resumes(_) => {}
            Then::GivesWay => self.pop_q |= 1 << warp,
            Then::Ends => self.alive &= !(1 << warp),
            Then::Splits { waits, group } => {
                for waiting in waits.into_iter().flatten() {
                    self.push(warp, waiting);
                }
                self.mask_q[warp] = group.lanes;
                self.reconvergence_q[warp] = group.reconvergence;
            }
        }
    }

    /// Clock edge at which a warp begins with these lanes.
    #[inline]
    pub fn start(&mut self, warp: usize, lanes: u32) {
        (self.live_q[warp], self.mask_q[warp]) = (lanes, lanes);
        (self.reconvergence_q[warp], self.depth_q[warp]) = (NO_PC, 0);
        self.alive = self.alive & !(1 << warp) | u64::from(lanes != 0) << warp;
    }

    /// The part of an edge that reset adds, after all else: payload registers and RAMs have no reset.
    pub fn reset(&mut self) {
        (self.mask_q, self.live_q, self.depth_q) = ([0; WARP_NUMBERS], [0; WARP_NUMBERS], [0; WARP_NUMBERS]);
        (self.pop_q, self.alive, self.read_valid_q) = (0, 0, false);
    }

    fn push(&mut self, warp: usize, group: Group) {
        let depth = self.depth_q[warp];
        self.depth_q[warp] = (depth + 1) & DEPTH_MASK;
        let (bank, word) = self.place(warp, depth & PLACE_MASK);
        bank.where_ram.write(word, u64::from(group.pc) << PC_BITS | u64::from(group.reconvergence), u64::MAX);
        bank.mask_ram.write(word, group.lanes.into(), u64::MAX);
    }

    /// Bank and word of a place.
    #[inline]
    fn place(&mut self, warp: usize, place: u8) -> (&mut Bank, usize) {
        let place = usize::from(place);
        (&mut self.banks[place % BANKS], STACK_DEPTH / BANKS * warp + place / BANKS)
    }
}

const PLACE_MASK: u8 = STACK_DEPTH as u8 - 1;
const DEPTH_MASK: u8 = (1 << DEPTH_BITS) - 1;

/// Splits a group at a branch that some lanes take: what waits, and what continues. `group` is the group at the
/// instruction after the branch.
fn split(group: Group, taken: u32, target: u32, join: u32) -> Then {
    let whole = (join != NO_PC && join != group.reconvergence).then_some(Group { pc: join, ..group });
    let jumps = Group { pc: target, reconvergence: join, lanes: taken };
    let falls = Group { reconvergence: join, lanes: group.lanes & !taken, ..group };
    // A side that would begin at the join is part of the entry that waits there.
    if group.pc == join {
        Then::Splits { waits: [whole, None], group: jumps }
    } else {
        Then::Splits { waits: [whole, (target != join).then_some(jumps)], group: falls }
    }
}

impl Step {
    /// The warp continues as if nothing had issued.
    pub const NOTHING: Self = Self { then: Then::Fetches, ended: 0 };

    /// The address at which the fetch resumes, if the stack determines it.
    #[inline]
    pub fn resume(&self) -> Option<u32> {
        match self.then {
            Then::Resumes(pc) => Some(pc),
            Then::Splits { group, .. } => Some(group.pc),
            Then::Fetches | Then::GivesWay | Then::Ends => None,
        }
    }
}

/// The instruction on port p.
fn issued(inputs: &SimtStackIn, p: usize) -> Issued {
    Issued {
        pc: inputs.issue_pc_i[p],
        kind: Kind::from_bits(inputs.issue_kind_i[p]),
        stop: is_set(inputs.issue_stop_i, p),
        exec: inputs.issue_mask_i[p],
        target: inputs.issue_target_i[p],
        join: inputs.issue_join_i[p],
    }
}

impl Block for SimtStack {
    const NAME: &'static str = "simt_stack";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts"];
    const CELLS: &'static [&'static str] = &["ram_1r1w"];

    type Shape = SmShape;
    type In = SimtStackIn;
    type Out = SimtStackOut;
    type Probe = SimtStackProbe;

    fn new(shape: &SmShape) -> Self {
        let words = STACK_DEPTH / BANKS * shape.warps;
        let bank = |_| Bank { where_ram: Words::new(words, 2 * PC_BITS), mask_ram: Words::new(words, u32::BITS) };
        Self {
            mask_q: [0; WARP_NUMBERS],
            live_q: [0; WARP_NUMBERS],
            reconvergence_q: [0; WARP_NUMBERS],
            depth_q: [0; WARP_NUMBERS],
            pop_q: 0,
            alive: 0,
            read_valid_q: false,
            read_warp_q: 0,
            read_odd_q: 0,
            banks: std::array::from_fn(bank),
            ports: shape.ports(),
        }
    }

    fn early(&self, out: &mut SimtStackOut) {
        out.alive_o = self.alive();
        out.mask_o.copy_from_slice(&self.mask_q[..MAX_WARPS]);
        out.live_o.copy_from_slice(&self.live_q[..MAX_WARPS]);
        // All warps are copied: most of them are alive.
        out.reconvergence_o.copy_from_slice(&self.reconvergence_q[..MAX_WARPS]);
        for w in set_bits(!self.alive()).take_while(|&w| w < MAX_WARPS) {
            out.reconvergence_o[w] = 0;
        }
    }

    fn late(&mut self, inputs: &SimtStackIn, out: &mut SimtStackOut) {
        (out.resume_valid_o, out.resume_warp_o, out.resume_pc_o) = (0, [0; MAX_PORTS + 1], [0; MAX_PORTS + 1]);
        for p in set_bits(inputs.issue_valid_i) {
            let warp = inputs.issue_warp_i[p];
            if let Some(pc) = self.step(warp.into(), &issued(inputs, p)).resume() {
                out.resume_valid_o |= 1 << p;
                (out.resume_warp_o[p], out.resume_pc_o[p]) = (warp, pc);
            }
        }
        if let Some((warp, group)) = self.returning() {
            let last = self.ports;
            out.resume_valid_o |= 1 << last;
            (out.resume_warp_o[last], out.resume_pc_o[last]) = (warp as u8, group.pc);
        }
    }

    fn clock(&mut self, inputs: &SimtStackIn, _: &SimtStackOut) {
        // The instructions that issue see the groups as they are before the edge.
        let warp = |p: usize| usize::from(inputs.issue_warp_i[p]);
        let steps: [Option<Step>; MAX_PORTS] =
            std::array::from_fn(|p| is_set(inputs.issue_valid_i, p).then(|| self.step(warp(p), &issued(inputs, p))));
        self.advance();
        for (p, step) in steps.iter().enumerate() {
            if let Some(step) = step {
                self.issued(warp(p), step);
            }
        }
        if inputs.start_valid_i != 0 {
            self.start(inputs.start_warp_i.into(), inputs.start_mask_i);
        }
        if inputs.rst_ni == 0 {
            self.reset();
        }
    }

    fn probe(&self, _: &SimtStackIn, _: &SimtStackOut, probe: &mut SimtStackProbe) {
        probe.pop_q = self.pop_q;
        probe.depth_q.copy_from_slice(&self.depth_q[..MAX_WARPS]);
        probe.read_valid_q = self.read_valid_q.into();
        (probe.read_warp_q, probe.read_odd_q) =
            if self.read_valid_q { (self.read_warp_q, self.read_odd_q) } else { (0, 0) };
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let mut memories = Vec::new();
        for (b, bank) in self.banks.iter_mut().enumerate() {
            memories.extend(bank.where_ram.memories(&format!("gen_bank[{b}].u_where_ram"), Self::NAME));
            memories.extend(bank.mask_ram.memories(&format!("gen_bank[{b}].u_mask_ram"), Self::NAME));
        }
        memories
    }
}

#[cfg(test)]
mod tests;
