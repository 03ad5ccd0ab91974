//! A replay of register sharing: which blocks share, which hold a lock and which wait, from the sentences of the thesis (2.2, 2.3) and of
//! `docs/sharing.md`, block by block.

use std::cmp::Ordering;
use std::collections::VecDeque;

use gpurf_blocks::config::{Config, LockRule, Reference, SharedResource};
use gpurf_blocks::share::SHARE_COUNT_EVENT;
use gpurf_isa::image::Kernel;
use gpurf_isa::modifiers::{AtomicSpace, Space};
use gpurf_isa::{Instruction, Op};

use super::pairs::Pairs;
use super::seen::Seen;
use super::words::{Place, Tally, Word};
use crate::job::Job;

/// The event word that is counted, with all fields.
pub const WORDS: &[Word] = &[Word { fields: SHARE_COUNT_EVENT, at: Place::Share, only: &[] }];

/// What sharing has to know of an instruction.
struct Needs {
    /// The highest register number that it accesses.
    highest: Option<u8>,
    /// It may wait for other blocks, and uses the result.
    atomic: bool,
    /// It accesses memory that other blocks use, or memory with the same latency.
    memory: bool,
}

impl Needs {
    fn of(instruction: &Instruction) -> Self {
        let sources = instruction.sources().map(|(_, register)| register.0);
        let elsewhere = |space| space != AtomicSpace::Shared;
        let atomic = match instruction.op {
            Op::Atom { space, .. } | Op::Cas { space, .. } => elsewhere(space),
            _ => false,
        };
        let memory = match instruction.op {
            Op::Ld { space, .. } => space != Space::Shared,
            Op::St { space, .. } => space != Space::Shared,
            Op::Atom { space, .. } | Op::Cas { space, .. } => elsewhere(space),
            Op::Tex { .. } => true,
            _ => false,
        };
        Self {
            memory,
            highest: sources.chain(instruction.destination().map(|register| register.0)).max(),
            atomic: atomic && instruction.destination().is_some(),
        }
    }
}

/// The thesis's dynamic warp execution (2.3.3) on one SM: the stalls since reset and those of the reference decide whether non-owners may use memory.
struct Throttle {
    /// Cycles of a period; `cycles` counts from reset.
    period: u64,
    cycles: u64,
    /// Where the reference comes from.
    from: Reference,
    /// Stalls of this period; `reference` has those of the last period that is the reference.
    stalls: u64,
    reference: u64,
    /// The probability with which non-owners may use memory, in tenths; the thesis's p is its step, one tenth.
    p: u64,
    /// The last 16 random bits, the newest one last.
    drawn: VecDeque<bool>,
}

impl Throttle {
    /// Number of periods of which one is the reference.
    const ROUND: u64 = 14;

    fn new(period: usize, from: Reference) -> Self {
        let drawn = (0..16).map(|bit| bit == 15).collect();
        Self { period: period as u64, cycles: 0, from, stalls: 0, reference: 0, p: 10, drawn }
    }

    fn is_reference(&self) -> bool {
        match self.from {
            Reference::Sampled => (self.cycles / self.period).is_multiple_of(Self::ROUND),
            Reference::External => false,
            Reference::Held => true,
        }
    }

    /// Whether non-owners may use memory in this cycle.
    fn allows(&self) -> bool {
        let number = self.drawn.iter().fold(0, |number, &bit| 2 * number + u64::from(bit));
        !self.is_reference() && number % 10 < self.p
    }

    /// Ends a cycle out of reset, with this many stalls of this SM; `outside`: stalls in the current period of an external reference.
    fn pass(&mut self, stalls: u64, outside: Option<u64>) {
        let sum = [0, 2, 3, 5].iter().filter(|&&at| self.drawn[at]).count();
        self.drawn.pop_front();
        self.drawn.push_back(sum % 2 == 1);
        self.stalls += stalls;
        let is_reference = self.is_reference();
        self.cycles += 1;
        if self.cycles.is_multiple_of(self.period) {
            let stalls = std::mem::take(&mut self.stalls);
            if is_reference {
                self.reference = stalls;
                return;
            }
            let reference = if self.from == Reference::External { outside } else { Some(self.reference) };
            match reference.map(|reference| stalls.cmp(&reference)) {
                Some(Ordering::Greater) => self.p = self.p.saturating_sub(1),
                Some(Ordering::Less) => self.p = (self.p + 1).min(10),
                Some(Ordering::Equal) | None => {}
            }
        }
    }
}

/// The throttle of an SM that has just been reset.
fn throttle_of(config: &Config) -> Option<Throttle> {
    let period = config.share.throttle;
    (period != 0).then(|| Throttle::new(period, config.share.reference))
}

/// The replay of an SM's register sharing.
pub struct Replay {
    config: Config,
    program: Vec<Needs>,
    /// The pairs of the current launch.
    pairs: Option<Pairs>,
    locks: Vec<bool>,
    /// Present if non-owners are throttled. A launch starts with the state that the previous one left.
    throttle: Option<Throttle>,
}

impl Replay {
    /// `None`: blocks share no registers.
    pub fn new(config: &Config) -> Option<Self> {
        let shares = config.share.present && config.share.resource == SharedResource::Registers;
        shares.then(|| Self {
            config: *config,
            program: Vec::new(),
            pairs: None,
            locks: vec![false; config.sm.warps],
            throttle: throttle_of(config),
        })
    }

    /// Called when a launch begins.
    pub fn begin(&mut self, kernel: &Kernel, job: &Job) {
        self.program = kernel.code.iter().map(Needs::of).collect();
        self.pairs = Some(Pairs::begin(&self.config, job));
        self.locks.fill(false);
    }

    /// Runs a cycle of the throttle; returns whether non-owners may use memory in it.
    fn observe_throttle(&mut self, seen: &Seen<'_>, tally: &mut Tally) -> bool {
        let Some(throttle) = &mut self.throttle else { return true };
        let allows = throttle.allows();
        tally.add("throttle_level", throttle.p);
        tally.add("throttle_period", u64::from((throttle.cycles + 1).is_multiple_of(throttle.period)));
        tally.add("throttle_reference", u64::from(throttle.is_reference()));
        tally.add("throttle_allow", u64::from(allows));
        if seen.cycle.inputs.rst_ni == 0 {
            self.throttle = throttle_of(&self.config);
            return allows;
        }
        // A port stalls if it issues nothing although it has a warp that waits for nothing but units.
        let o = &seen.cycle.probe.outputs;
        let ports = self.config.mrf.issue_ports;
        let can = |w: usize| {
            o.share_locks.clear_o
                & o.simt_stack.alive_o
                & !o.barrier_unit.held_o
                & o.instruction_buffer.head_valid_o
                & 1 << w
                != 0
        };
        let stalls = (0..ports).filter(|&p| {
            let issues = o.warp_scheduler.issue_valid_o >> p & 1 == 1;
            !issues && (p..self.locks.len()).step_by(ports).any(can)
        });
        let inputs = seen.cycle.inputs;
        let outside = (inputs.throttle_reference_valid_i == 1).then_some(inputs.throttle_reference_i.into());
        throttle.pass(stalls.count() as u64, outside);
        allows
    }

    /// Observes a cycle.
    pub fn observe(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        let allows = self.observe_throttle(seen, tally);
        let Some(mut pairs) = self.pairs.take() else { return };
        let o = &seen.cycle.probe.outputs;
        let (alive, idle) = (o.simt_stack.alive_o, o.scoreboard.idle_o);
        let is = |set: u64, w: usize| set >> w & 1 == 1;
        let ended = |w: usize| !is(alive, w) && is(idle, w);
        let starts = pairs.start(seen);
        let mut issues = vec![false; self.locks.len()];
        for p in (0..seen.issued.len()).filter(|p| o.warp_scheduler.issue_valid_o >> p & 1 == 1) {
            issues[usize::from(o.warp_scheduler.issue_warp_o[p])] = true;
        }
        let asking: Vec<bool> = (0..self.locks.len())
            .map(|w| {
                let shares = is(alive, w) && pairs.partner(w / pairs.warps).is_some() && !self.locks[w];
                let head = &self.program.get(o.instruction_buffer.head_pc_o[w] as usize);
                let shared = head.is_some_and(|needs| {
                    needs.highest.is_some_and(|name| usize::from(name) >= pairs.private.registers)
                });
                shares && is(o.scoreboard.clear_o, w) && shared
            })
            .collect();
        let mut taken = Vec::new();
        for w in (0..self.locks.len()).filter(|&w| is(alive, w)) {
            let (slot, index) = (w / pairs.warps, w % pairs.warps);
            let Some(other) = pairs.partner(slot) else { continue };
            if !pairs.is_there(slot) {
                tally.object(|| format!("warp slot {w} lives, and its block has not begun"));
                continue;
            }
            let (older, younger) = pairs.age(slot, other);
            tally.add("owners", u64::from(older));
            tally.add("non_owners", u64::from(younger));
            tally.add("non_owner_issue", u64::from(younger && issues[w]));
            let of_other = pairs.of(other);
            let may = match self.config.share.lock {
                LockRule::Oldest => !younger || ended(of_other.start + index),
                LockRule::First => {
                    let own = pairs.of(slot);
                    let has_locks = |mut warps: std::ops::Range<usize>| warps.any(|v| self.locks[v]);
                    let asked_first = younger && !has_locks(own) && of_other.clone().any(|v| asking[v]);
                    !has_locks(of_other.clone()) && !asked_first
                }
            };
            if asking[w] && !may {
                tally.add("wait_lock", 1u64);
            }
            if asking[w] && issues[w] {
                if !may {
                    tally.object(|| format!("warp slot {w} issues without the lock that it needs"));
                }
                taken.push(w);
            }
            if younger && !allows && is(o.scoreboard.clear_o, w) {
                let head = self.program.get(o.instruction_buffer.head_pc_o[w] as usize);
                let throttled = head.is_some_and(|needs| needs.memory);
                tally.add("wait_throttle", u64::from(throttled));
                if throttled && issues[w] {
                    tally.object(|| format!("warp slot {w} issues although it is throttled"));
                }
            }
            let holds = self.config.share.lock == LockRule::Oldest && self.config.share.hold_atomics;
            if holds && younger && is(o.scoreboard.clear_o, w) {
                let head = self.program.get(o.instruction_buffer.head_pc_o[w] as usize);
                tally.add("wait_hold", u64::from(head.is_some_and(|needs| needs.atomic)));
            }
        }
        tally.add("lock_take", taken.len() as u64);
        let free: Vec<usize> = (0..self.locks.len()).filter(|&w| self.locks[w] && ended(w)).collect();
        tally.add("lock_free", free.len() as u64);
        taken.into_iter().for_each(|w| self.locks[w] = true);
        free.into_iter().for_each(|w| self.locks[w] = false);
        pairs.end(starts, ended);
        self.pairs = Some(pairs);
    }
}
