//! A replay of scratchpad sharing: which blocks share, which hold the lock, request it and have released, from the sentences of the thesis (2.2.2, 3.2.2)
//! and of `docs/scratchpad-sharing.md`, block by block. Addresses of lanes follow from their operands.

use std::collections::BTreeSet;

use gpurf_blocks::config::{CheckRule, Config, LockRule, SharedResource};
use gpurf_blocks::instruction::{PROBE, opcode};
use gpurf_blocks::mrf::bits::set_bits;
use gpurf_blocks::share::SCRATCHPAD_EVENT;
use gpurf_isa::image::Kernel;
use gpurf_isa::machine::SHARED_WINDOW;
use gpurf_isa::modifiers::{AtomicSpace, Space};
use gpurf_isa::{Instruction, Op};

use super::pairs::Pairs;
use super::seen::Seen;
use super::words::{Place, Tally, Word};
use crate::job::Job;

/// The event word that is counted, with all fields.
pub const WORDS: &[Word] = &[Word { fields: SCRATCHPAD_EVENT, at: Place::Share, only: &[] }];

/// The scratchpad memory that an instruction may access.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Never,
    All,
    Windows,
}

/// What sharing has to know of an instruction.
struct Needs {
    reach: Reach,
    /// The compiler has marked the access as private.
    marked: bool,
    offset: i32,
    /// An atomic operation outside scratchpad memory whose result is used: it may wait for other blocks.
    atomic: bool,
    releases: bool,
}

impl Needs {
    fn of(instruction: &Instruction) -> Self {
        let (reach, elsewhere) = match instruction.op {
            Op::Ld { space: Space::Shared, .. } | Op::St { space: Space::Shared, .. } => (Reach::All, false),
            Op::Ld { space: Space::Generic, .. } | Op::St { space: Space::Generic, .. } => (Reach::Windows, false),
            Op::Atom { space: AtomicSpace::Shared, .. } | Op::Cas { space: AtomicSpace::Shared, .. } => {
                (Reach::All, false)
            }
            Op::Atom { space: AtomicSpace::Generic, .. } => (Reach::Windows, true),
            Op::Atom { .. } | Op::Cas { .. } => (Reach::Never, true),
            _ => (Reach::Never, false),
        };
        Self {
            reach,
            marked: instruction.control.private,
            offset: instruction.offset.bytes(),
            atomic: elsewhere && instruction.destination().is_some(),
            releases: matches!(instruction.op, Op::Relssp {}),
        }
    }

    /// Whether it needs the lock according to its encoding, whatever its addresses are.
    fn may_need(&self) -> bool {
        self.reach != Reach::Never && !self.marked
    }

    /// The scratchpad address of a lane with these operands; `None` if the address is elsewhere.
    fn address(&self, [low, upper]: [u32; 2]) -> Option<u32> {
        let all = (u64::from(upper) << 32 | u64::from(low)).wrapping_add_signed(self.offset.into());
        match self.reach {
            Reach::Never => None,
            Reach::All => Some(all as u32),
            Reach::Windows => (all >> 32 == u64::from(SHARED_WINDOW)).then_some(all as u32),
        }
    }
}

/// Knowledge about the access of a head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    Nothing,
    /// It is being determined, or a release is in progress.
    Soon,
    Private,
    Common,
}

/// A warp.
#[derive(Clone, Copy)]
struct Warp {
    known: Known,
    released: u32,
    through: bool,
}

const FRESH: Warp = Warp { known: Known::Nothing, released: 0, through: false };

/// What the memory pipeline finds out about an instruction, in the cycle after the one in which it takes it.
#[derive(Clone, Copy)]
enum Answer {
    Release { warp: usize, lanes: u32 },
    Probe { warp: usize, common: bool },
}

/// The replay of an SM's scratchpad sharing.
pub struct Replay {
    config: Config,
    program: Vec<Needs>,
    /// Bytes of shared memory of a block.
    bytes: u32,
    /// The pairs of the current launch.
    pairs: Option<Pairs>,
    warps: Vec<Warp>,
    /// Slots whose block holds the lock of its pair.
    locks: BTreeSet<usize>,
    /// Slots whose block has accessed the common area.
    inside: BTreeSet<usize>,
    answer: Option<Answer>,
}

impl Replay {
    /// `None`: blocks share no scratchpad memory.
    pub fn new(config: &Config) -> Option<Self> {
        let shares = config.share.present && config.share.resource == SharedResource::Scratchpad;
        shares.then(|| Self {
            config: *config,
            program: Vec::new(),
            bytes: 0,
            pairs: None,
            warps: vec![FRESH; config.sm.warps],
            locks: BTreeSet::new(),
            inside: BTreeSet::new(),
            answer: None,
        })
    }

    /// Called when a launch begins.
    pub fn begin(&mut self, kernel: &Kernel, job: &Job) {
        self.program = kernel.code.iter().map(Needs::of).collect();
        self.bytes = job.shared;
        self.pairs = Some(Pairs::begin(&self.config, job));
        (self.locks, self.inside, self.answer) = (BTreeSet::new(), BTreeSet::new(), None);
    }

    /// Whether the block of a slot has finished with the common area: none of its threads accesses it again.
    fn is_through(&self, pairs: &Pairs, slot: usize, starts: Option<usize>) -> bool {
        let begins = starts.is_some_and(|w| w / pairs.warps == slot);
        pairs.is_there(slot) && !begins && self.warps[pairs.of(slot)].iter().all(|warp| warp.through)
    }

    /// Observes a cycle.
    pub fn observe(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        let Some(mut pairs) = self.pairs.take() else { return };
        let starts = pairs.start(seen);
        self.follow(&pairs, starts, seen, tally);
        let o = &seen.cycle.probe.outputs;
        let (alive, idle) = (o.simt_stack.alive_o, o.scoreboard.idle_o);
        pairs.end(starts, |w| alive >> w & 1 == 0 && idle >> w & 1 == 1);
        self.inside.retain(|&slot| pairs.is_there(slot));
        self.pairs = Some(pairs);
    }

    fn follow(&mut self, pairs: &Pairs, starts: Option<usize>, seen: &Seen<'_>, tally: &mut Tally) {
        let o = &seen.cycle.probe.outputs;
        let is = |set: u64, w: usize| set >> w & 1 == 1;
        let through: Vec<usize> =
            (0..self.warps.len() / pairs.warps).filter(|&slot| self.is_through(pairs, slot, starts)).collect();
        let head = |w: usize| self.program.get(o.instruction_buffer.head_pc_o[w] as usize);
        let clear = |w: usize| is(o.scoreboard.clear_o, w) && is(o.simt_stack.alive_o, w);
        let share = &self.config.share;
        let (first, marks) = (share.lock == LockRule::First, share.check == CheckRule::Mark);
        let wants = |w: usize| {
            let slot = w / pairs.warps;
            let free = !self.locks.contains(&slot) && !through.contains(&slot);
            clear(w) && pairs.partner(slot).is_some() && free && head(w).is_some_and(Needs::may_need)
        };
        let asks = |w: usize| wants(w) && (marks || self.warps[w].known == Known::Common);
        let may = |slot: usize, other: usize| {
            let (_, younger) = pairs.age(slot, other);
            if first {
                !(self.locks.contains(&other) || younger && pairs.of(other).any(asks))
            } else {
                !younger || through.contains(&other)
            }
        };
        let mut issued = vec![None; self.warps.len()];
        for p in set_bits(o.warp_scheduler.issue_valid_o) {
            let probes = opcode(o.issue_stage.instruction_o[p].op()) == PROBE;
            issued[usize::from(o.warp_scheduler.issue_warp_o[p])] =
                Some((is(o.issue_stage.operand_valid_o.into(), p), probes));
        }
        let (mut taken, mut next) = (BTreeSet::new(), self.warps.clone());
        for w in (0..self.warps.len()).filter(|&w| is(o.simt_stack.alive_o, w)) {
            let slot = w / pairs.warps;
            let (mut wanting, mut waiting, mut held, mut probing) = (false, false, false, false);
            if let Some(other) = pairs.partner(slot) {
                if !pairs.is_there(slot) {
                    tally.object(|| format!("warp slot {w} lives, and its block has not begun"));
                    continue;
                }
                let (older, younger) = pairs.age(slot, other);
                tally.add("owners", u64::from(older));
                tally.add("non_owners", u64::from(younger));
                tally.add("non_owner_issue", u64::from(younger && issued[w].is_some()));
                let may = may(slot, other);
                wanting = wants(w);
                waiting = asks(w) && !may;
                probing = wanting && !marks && self.warps[w].known == Known::Nothing && (first || !may);
                let holds = !first && share.hold_atomics && younger && !through.contains(&other);
                held = holds && clear(w) && head(w).is_some_and(|needs| needs.atomic);
            }
            tally.add("wait_lock", u64::from(waiting));
            tally.add("wait_hold", u64::from(held));
            let Some((with_lanes, probes)) = issued[w] else { continue };
            if waiting || held || self.warps[w].known == Known::Soon || probes != probing {
                let known = self.warps[w].known;
                tally.object(|| {
                    format!("warp slot {w} issues a head of which {known:?} is known (waits {waiting}, held {held}, probe {probes}, {probing})")
                });
            }
            tally.add("probe", u64::from(probes && with_lanes));
            next[w].known = match probes {
                true if with_lanes => Known::Soon,
                true => Known::Private,
                false if with_lanes && head(w).is_some_and(|needs| needs.releases) => Known::Soon,
                false => Known::Nothing,
            };
            if wanting && !probes && self.warps[w].known != Known::Private {
                taken.insert(slot);
            }
        }
        tally.add("lock_take", taken.len() as u64);
        let lost: Vec<usize> =
            self.locks.iter().copied().filter(|slot| through.contains(slot) || !pairs.is_there(*slot)).collect();
        tally.add("lock_free", lost.len() as u64);
        tally.add("lock_early", lost.iter().filter(|&&slot| pairs.is_there(slot)).count() as u64);
        let released = match self.answer.take() {
            Some(Answer::Probe { warp, common }) => {
                tally.add("probe_common", u64::from(common));
                next[warp].known = if common { Known::Common } else { Known::Private };
                None
            }
            Some(Answer::Release { warp, lanes }) => {
                tally.add("released", 1u64);
                next[warp].known = Known::Nothing;
                next[warp].released |= lanes;
                Some(warp)
            }
            None => None,
        };
        for (w, warp) in next.iter_mut().enumerate() {
            let all = o.simt_stack.live_o[w] & !warp.released == 0;
            warp.through |= all && (released == Some(w) || is(o.scoreboard.idle_o, w));
        }
        if let Some(w) = starts {
            next[w] = FRESH;
        }
        self.answer = self.memory(pairs, &through, seen, tally);
        self.warps = next;
        self.locks.extend(taken);
        lost.iter().for_each(|slot| _ = self.locks.remove(slot));
    }

    /// The memory pipeline takes an instruction: finds its lanes' addresses and the pipeline's answer. A block in the common area excludes its partner.
    fn memory(&mut self, pairs: &Pairs, through: &[usize], seen: &Seen<'_>, tally: &mut Tally) -> Option<Answer> {
        let o = &seen.cycle.probe.outputs;
        if o.dispatcher.memory_valid_o & o.address_unit.in_ready_o == 0 {
            return None;
        }
        let (stage, port) = (&o.operand_stage, usize::from(o.dispatcher.memory_port_o));
        let (warp, lanes) = (usize::from(stage.dispatch_warp_o[port]), stage.dispatch_mask_o[port]);
        let instruction = &stage.dispatch_instruction_o[port];
        let needs = self.program.get(instruction.pc() as usize)?;
        if needs.releases {
            return Some(Answer::Release { warp, lanes });
        }
        let operand = |k: usize, lane: usize| {
            let place = 3 * port + k;
            if stage.dispatch_src_valid_o >> place & 1 == 1 { stage.dispatch_data_o[place].0[lane] } else { 0 }
        };
        let area = pairs.private.bytes as u32..self.bytes;
        let is_common = |lane: usize| {
            needs.address([operand(0, lane), operand(1, lane)]).is_some_and(|address| area.contains(&address))
        };
        let common = set_bits(lanes).any(is_common);
        if opcode(instruction.op()) == PROBE {
            return Some(Answer::Probe { warp, common });
        }
        let slot = warp / pairs.warps;
        if let (true, Some(other)) = (common, pairs.partner(slot)) {
            // For a block that has finished with the area the access is a fault, and the launch ends.
            if self.inside.contains(&other) && !through.contains(&other) && !through.contains(&slot) {
                tally.object(|| format!("warp slot {warp} is in the common area, where block slot {other} is"));
            }
            self.inside.insert(slot);
        }
        None
    }
}
