//! Fetch, decode and issue.

use gpurf_blocks::designs::IssueGate;
use gpurf_blocks::front::{Decoded, Fetched, roles};
use gpurf_blocks::instruction::{InstructionFields, Issued, long_latency, marked, unit};
use gpurf_blocks::issue as stack;
use gpurf_blocks::issue::{
    AlternatingScheduler, Chosen, Happened, Heads, Kind, Leaving, Outer, Past, Set, Step, Turn, Warps, fault,
    first_source, goes_to_operands, join, target,
};
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_blocks::mrf::bits::{is_set, set_bits};
use gpurf_blocks::shape::Straps;

use super::decided::{Decided, Issue};
use super::{Blocks, slots};

/// With a single level every warp is active.
pub(super) const ALL_ACTIVE: Outer = Outer {
    leaving: Leaving { end: 0, barrier: 0, mark: 0, patience: 0 },
    active: u64::MAX,
    ready: 0,
    taking: [None; MAX_PORTS],
    handover: false,
};

impl Blocks {
    /// Decides what is decoded, and which warps fetch.
    #[inline]
    pub(super) fn decide_front(&self, decided: &mut Decided) {
        for p in 0..self.ports {
            decided.decoded[p] = self.fetch.fetched(p).map(|fetched| {
                let Fetched { op, ctl, pc, warp } = fetched;
                (warp, Decoded { op, ctl, roles: roles(op, ctl), pc })
            });
            decided.fetching[p] = self.fetching(p);
        }
    }

    /// The warp that path `p` fetches for.
    #[inline]
    pub(super) fn fetching(&self, p: usize) -> Option<usize> {
        self.fetch.chosen(p, self.instruction_buffer.room(), self.barrier_unit.held())
    }

    /// Shows the slots to the operand stage.
    #[inline]
    pub(super) fn show_slots(&mut self, straps: &Straps) {
        // A slot may outlive the grid of its warp; the number of rows remains valid.
        let (rows, layout) = (self.block_launcher.rows(), self.block_launcher.layout());
        let slots = slots(self.two_level.as_deref(), self.alternating.as_deref());
        self.operand_stage.see(straps.design, &slots, rows, layout);
    }

    /// Decides which slots are given up, and which are taken.
    #[inline]
    pub(super) fn outer(&self, straps: &Straps) -> Outer {
        match &self.two_level {
            Some(scheduler) => scheduler.outer(straps.two_level(), &self.warps()),
            None => ALL_ACTIVE,
        }
    }

    /// Decides which warp gives up and which one is next, with the alternating scheduler.
    #[inline]
    pub(super) fn turn(&self, straps: &Straps) -> Turn {
        let scheduler = self.alternating.as_ref();
        scheduler.map_or(Turn::default(), |scheduler| scheduler.turn(straps.patience, &self.warps()))
    }

    /// The state of the warps for schedulers with slots.
    #[inline]
    fn warps(&self) -> Warps {
        Warps {
            head_valid: self.instruction_buffer.head_valid(),
            mark: self.marked,
            alive: self.simt_stack.alive(),
            held: self.barrier_unit.held(),
            void: self.operand_stage.void(),
        }
    }

    /// Warps whose heads may issue as far as registers, places, power states and locks go.
    #[inline]
    pub(super) fn clear(&self) -> u64 {
        match (&self.share, &self.scratchpad) {
            (Some(share), _) => share.allowed.clear,
            (None, Some(scratchpad)) => scratchpad.claims.clear,
            (None, None) => self.powered(),
        }
    }

    /// Warps whose heads may issue, locks aside.
    #[inline]
    pub(super) fn powered(&self) -> u64 {
        match &self.power {
            None => self.gated(),
            Some(power) => power.clear(self.gated()),
        }
    }

    /// Warps whose heads may issue, locks and power states aside: those that pass the issue gate, where there is one (`hierarchy_scoreboard`).
    #[inline]
    pub(super) fn gated(&self) -> u64 {
        let clear = self.scoreboard.clear();
        let (waits, waiting) = self.operand_stage.waits();
        let Some(scheduler) = self.two_level.as_ref().filter(|_| waiting != 0) else { return clear };
        let warps = scheduler.slot_warp();
        let held =
            set_bits(waiting & scheduler.slot_valid()).filter(|&s| waits[s] & self.named[usize::from(warps[s])] != 0);
        held.fold(clear, |clear, s| clear & !(1 << warps[s]))
    }

    /// The warp that each port issues, and its candidate.
    #[inline]
    pub(super) fn chosen(&self, straps: &Straps, active: u64) -> Chosen {
        let scoreboard = &self.scoreboard;
        let (clear, operand, branch) = (self.clear(), scoreboard.operand(), scoreboard.branch());
        let heads = Heads { clear, operand, branch, classes: self.classes() };
        let (greedy, ready) = (straps.scheduler != 0, self.operand_stage.issue_ready());
        let ahead = self.operand_stage.candidate_issue();
        match &self.two_level {
            Some(scheduler) => scheduler.choose(greedy, &heads, active, ready, ahead),
            None if self.alternating.is_some() => {
                let warp = AlternatingScheduler::choose(heads.clear, heads.operand, active, ready != 0);
                Chosen { warp: [warp, None], ..Chosen::default() }
            }
            None => self.warp_scheduler.choose(greedy, &heads, ready, ahead),
        }
    }

    /// Whether no port has named a candidate in the cycle before.
    pub(super) fn has_no_candidate(&self) -> bool {
        self.two_level.as_ref().is_none_or(|scheduler| scheduler.has_no_candidate())
            && self.warp_scheduler.has_no_candidate()
    }

    /// Decides how the slots change.
    #[inline(never)]
    fn decide_slots(&self, straps: &Straps, decided: &mut Decided) {
        if self.two_level.is_some() {
            decided.outer = self.outer(straps);
        } else {
            decided.turn = self.turn(straps);
            (decided.outer.active, decided.outer.ready) = (decided.turn.active, decided.turn.ready);
        }
    }

    /// Decides what issues, and offers it to the operand stage.
    #[inline]
    pub(super) fn decide_issue(&mut self, straps: &Straps, decided: &mut Decided) {
        (decided.issuing, decided.pops) = (0, 0);
        decided.chosen = Chosen::default();
        if self.has_slots() {
            self.decide_slots(straps, decided);
        }
        if self.scoreboard.clear() == 0 || self.fault_unit.fault().is_some() {
            return;
        }
        decided.chosen = self.chosen(straps, decided.outer.active);
        for p in 0..self.ports {
            if let Some(w) = decided.chosen.warp[p % MAX_PORTS] {
                decided.issuing |= 1 << p;
                decided.pops |= 1 << w;
                self.issue(p, w, &mut decided.issue[p]);
            }
            if let Some(w) = decided.chosen.candidate[p % MAX_PORTS] {
                self.operand_stage.name(p, w as u8, self.instruction_buffer.roles(w));
            }
        }
    }

    /// The head of warp `w`, which issues on port `p`.
    #[inline]
    fn issue(&mut self, p: usize, w: usize, issue: &mut Issue) {
        let warp = w as u8;
        issue.head = self.instruction_buffer.head(w);
        let Decoded { op, ctl, roles, pc } = issue.head;
        let (live, exec) =
            (self.simt_stack.live(w), self.simt_stack.mask(w) & self.predicate_file.read(warp, roles.guard()));
        let fault = fault(op, ctl, roles, exec, live);
        issue.probe = is_set(self.probes(), w);
        issue.slot = match &self.two_level {
            Some(scheduler) => scheduler.slot_of(w),
            None if self.alternating.is_some() => AlternatingScheduler::slot_of(w),
            None => 0,
        };
        let operands = fault.is_none() && goes_to_operands(roles, exec);
        if operands {
            let s = first_source(op, self.predicate_file.read(warp, roles.s()), live);
            let t = self.predicate_file.read(warp, roles.t());
            let (op, roles) = issue.goes();
            let instruction = InstructionFields { pc, roles, t, s, ctl, op }.into();
            self.operand_stage.issue(p, &Issued { instruction, mask: exec, warp }, issue.slot);
        }
        if is_set(ctl, marked::STRAND_END as usize) {
            self.operand_stage.end_strand(p, issue.slot);
        }
        let kind = Kind::of(op);
        let issued = stack::Issued { pc, kind, stop: roles.stop() != 0, exec, target: target(op), join: join(ctl) };
        // The stack ignores a probe: the head stays.
        issue.step = if issue.probe { Step::NOTHING } else { self.simt_stack.step(w, &issued) };
        (issue.warp, issue.kind, issue.exec, issue.operands, issue.fault) = (warp, kind, exec, operands, fault);
    }

    /// Clock edge of everything before the operand stage. `start`: the warp that begins, with its lanes. The scoreboard has already
    /// received the instructions that end.
    #[inline]
    pub(super) fn clock_front(&mut self, decided: &Decided, start: Option<(u8, u32)>, alive: u64) {
        for p in 0..self.ports {
            let decoded = decided.decoded[p].as_ref();
            let stop = decoded.is_some_and(|(_, decoded)| decoded.roles.stop() != 0);
            let reconvergence = decoded.map_or(0, |&(warp, _)| self.simt_stack.reconvergence(warp.into()));
            self.fetch.advance(p, decided.fetching[p], stop, reconvergence);
        }
        let returning = self.simt_stack.returning();
        self.simt_stack.advance();
        for (p, issue) in decided.issues() {
            let w = usize::from(issue.warp);
            if let Some(pc) = issue.step.resume() {
                self.fetch.resume(issue.warp, pc);
            }
            self.simt_stack.issued(w, &issue.step);
            if !self.has_slots() && !is_set(decided.chosen.against, p) {
                self.warp_scheduler.issued(p, w);
            }
            if issue.operands {
                let (_, roles) = issue.goes();
                self.scoreboard.set(w, roles.d(), roles.p());
                if roles.unit() == unit::BARRIER {
                    self.barrier_unit.hold(w);
                }
            }
        }
        if !self.has_slots() {
            self.warp_scheduler.name(&decided.chosen.candidate);
        }
        if let Some((warp, group)) = returning {
            self.fetch.resume(warp as u8, group.pc);
        }
        if let Some((warp, lanes)) = start {
            self.fetch.start(warp);
            self.simt_stack.start(warp.into(), lanes);
            if !self.has_slots() {
                self.warp_scheduler.start(warp, alive);
            }
            self.barrier_unit.start(warp.into());
        }
        self.clock_buffer(decided);
    }

    /// Clock edge of the instruction buffer; the scoreboard learns of new heads.
    #[inline]
    fn clock_buffer(&mut self, decided: &Decided) {
        let mut push = 0;
        let has_slots = self.has_slots();
        let buffer = &mut self.instruction_buffer;
        for (warp, decoded) in decided.decoded.iter().flatten() {
            buffer.write(*warp, decoded);
            push |= 1 << warp;
        }
        // A head changes where one leaves, and where there was none.
        let pops =
            decided.issues().filter(|(_, issue)| !issue.probe).fold(0, |pops, (_, issue)| pops | 1 << issue.warp);
        let changed = pops | push & !buffer.head_valid();
        buffer.count(push, pops);
        for w in set_bits(changed) {
            let head = is_set(buffer.head_valid(), w).then(|| buffer.roles(w));
            self.scoreboard.head(w, head);
            if let (Some(power), Some(roles)) = (&mut self.power, head) {
                let Decoded { op, ctl, .. } = buffer.head(w);
                let roles = power.main(roles, op, ctl);
                power.states.head(w, roles);
            }
            if has_slots {
                let ctl = head.map_or(0, |_| buffer.head(w).ctl);
                let mark = is_set(ctl, marked::DESCHEDULE as usize);
                self.named[w] = IssueGate::named_places(ctl);
                self.marked = self.marked & !(1 << w) | u64::from(mark) << w;
            }
        }
    }

    /// Whether the scheduler has slots, that is, is not the single-level one.
    #[inline]
    pub(super) fn has_slots(&self) -> bool {
        self.two_level.is_some() || self.alternating.is_some()
    }

    /// Clock edge of a scheduler with slots, before the edges of the blocks whose state it reads.
    #[inline(never)]
    pub(super) fn clock_slots(&mut self, decided: &Decided, alive: u64) {
        if let Some(scheduler) = &mut self.alternating {
            let stage = &self.operand_stage;
            let issue = decided.issues().next().map(|(_, issue)| issue);
            let set = |issue: &Issue| {
                let d = issue.head.roles.d();
                Set { d, long: long_latency(issue.head.op, d) }
            };
            let dispatched = decided.dispatch.ready & stage.dispatch_valid() != 0;
            let past = Past {
                issued: issue.is_some(),
                set: issue.filter(|issue| issue.operands).map(set),
                dispatched: dispatched.then(|| stage.dispatched(0).issued.warp),
                complete: decided.reports[0],
                flush_done: stage.flush_done() as u8,
            };
            scheduler.advance(&decided.turn, alive, &past);
        }
        let Some(scheduler) = &mut self.two_level else { return };
        let stage = &self.operand_stage;
        let Chosen { against, candidate, .. } = decided.chosen;
        let mut happened = Happened { flush_done: stage.flush_done(), against, candidate, ..Happened::default() };
        for (p, issue) in decided.issues() {
            happened.issued[p] = Some(issue.warp);
            let d = issue.head.roles.d();
            happened.set[p] = issue.operands.then(|| Set { d, long: long_latency(issue.head.op, d) });
        }
        for p in set_bits(decided.dispatch.ready & stage.dispatch_valid()) {
            happened.dispatched[p] = Some(stage.dispatched(p).issued.warp);
        }
        happened.complete = decided.reports;
        scheduler.advance(&decided.outer, alive, &happened);
    }
}
