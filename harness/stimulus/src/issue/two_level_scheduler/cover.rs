//! Situations of `two_level_scheduler`.

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::issue::{TwoLevelSchedulerIn, TwoLevelSchedulerOut, TwoLevelSchedulerProbe};
use gpurf_blocks::shape::{ActiveShape, Straps};
use gpurf_blocks::sizes::MAX_WARPS;

use crate::{Points, cover};

const ACTIVE: u8 = 1;
const DRAINING: u8 = 2;
const FLUSHING: u8 = 3;

pub(crate) struct TwoLevelSchedulerCover {
    shape: ActiveShape,
    straps: Straps,
    /// Registers of each slot that are pending results of long operations.
    long: Vec<[u64; 4]>,
    /// Slots that have just become free.
    freed: u64,
    /// The slot that each warp had last.
    had: [Option<usize>; MAX_WARPS],
}

#[cover]
impl TwoLevelSchedulerCover {
    fn new(shape: &ActiveShape, config: &Config) -> Self {
        Self {
            shape: *shape,
            straps: Straps::of(config),
            long: vec![[0; 4]; shape.active],
            freed: 0,
            had: [None; MAX_WARPS],
        }
    }

    fn observe(
        &mut self,
        i: &TwoLevelSchedulerIn,
        o: &TwoLevelSchedulerOut,
        p: &TwoLevelSchedulerProbe,
        points: &mut Points,
    ) {
        if i.rst_ni == 0 {
            let taken = self.taken(i, p).iter().any(Option::is_some);
            point!("reset under load", o.slot_valid_o != 0 && p.long_count_q != [0; MAX_WARPS]);
            point!("reset while a slot is taken", taken);
            (self.freed, self.had) = (0, [None; MAX_WARPS]);
            self.long.fill([0; 4]);
            return;
        }
        self.outer(i, o, p, points);
        self.issue(i, o, p, points);
        if self.shape.candidates {
            self.candidates(i, o, p, points);
        }
        self.going(i, o, p, points);
        self.counts(i, o, p, points);
        let leaves = |s: &usize| p.state_q[*s] == ACTIVE && o.active_o >> p.warp_q[*s] & 1 == 0;
        self.freed = if self.straps.handover {
            (0..self.shape.active).filter(leaves).fold(0, |set, s| set | 1 << s)
        } else {
            o.flush_o & i.flush_done_i
        };
    }

    fn slots_of(&self, port: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.shape.active).filter({
            let count = self.shape.ports();
            move |s| s % count == port
        })
    }

    fn ready(i: &TwoLevelSchedulerIn, p: &TwoLevelSchedulerProbe, slots: usize, warps: usize) -> u64 {
        i.alive_i & !i.held_i & !in_slot(p, slots) & !waits(p, warps)
    }

    /// The warps of a port among these warps.
    fn own(&self, port: usize, warps: u64) -> u64 {
        let count = self.shape.ports();
        (0..self.shape.warps).filter(|w| w % count == port).fold(0, |set, w| set | warps & 1 << w)
    }

    /// The slot that each port gives away, and the warp that gets it.
    fn taken(&self, i: &TwoLevelSchedulerIn, p: &TwoLevelSchedulerProbe) -> Vec<Option<(usize, usize)>> {
        let warps = self.shape.warps;
        let ready = Self::ready(i, p, self.shape.active, warps);
        let of_port = |port: usize| {
            let own = self.own(port, ready);
            let free = self.slots_of(port).find(|&s| p.state_q[s] == 0)?;
            let from = usize::from(p.outer_q[port]);
            let warp = (0..warps).map(|n| (from + n) % warps).find(|&w| own >> w & 1 == 1)?;
            Some((free, warp))
        };
        (0..self.shape.ports()).map(of_port).collect()
    }

    fn outer(
        &mut self,
        i: &TwoLevelSchedulerIn,
        o: &TwoLevelSchedulerOut,
        p: &TwoLevelSchedulerProbe,
        points: &mut Points,
    ) {
        let ready = Self::ready(i, p, self.shape.active, self.shape.warps);
        let taken = self.taken(i, p);
        for (port, taken) in taken.iter().enumerate() {
            let own = self.own(port, ready);
            let free = self.slots_of(port).any(|s| p.state_q[s] == 0);
            point!("ready warps, no free slot", own != 0 && !free);
            point!("a free slot, no warp ready", own == 0 && free);
            let Some((slot, warp)) = *taken else { continue };
            point!("a slot is taken", true);
            point!("a slot above busy ones is taken", self.slots_of(port).any(|s| s < slot && p.state_q[s] != 0));
            point!("a slot below busy ones is taken", self.slots_of(port).any(|s| s > slot && p.state_q[s] != 0));
            point!("first ready one from the turn is not the lowest", own.trailing_zeros() as usize != warp);
            point!("turn of the warps wraps", warp < usize::from(p.outer_q[port]));
            point!("a slot is taken that has just become free", self.freed >> slot & 1 == 1);
            point!("a warp comes back into the slot that it had", self.had[warp] == Some(slot));
            point!("a warp comes back into another slot", self.had[warp].is_some_and(|s| s != slot));
            self.had[warp] = Some(slot);
            self.long[slot] = [0; 4];
        }
        point!("two slots are taken", taken.iter().all(Option::is_some), given = self.shape.ports() == 2);
        let ready_any: Vec<bool> = (0..self.shape.ports()).map(|port| self.own(port, ready) != 0).collect();
        point!(
            "one port has ready ones, the other has not",
            ready_any.contains(&true) && ready_any.contains(&false),
            given = self.shape.ports() == 2
        );
        let states: u8 = (0..self.shape.active).fold(0, |set, s| set | 1 << p.state_q[s]);
        point!("slots in all states", states == 0b1111, given = !self.straps.handover);
        let pending = i.alive_i & i.clear_i & !o.active_o;
        point!("a pending warp could issue", pending & ready != 0);
        let (long, in_slot) = (waits(p, self.shape.warps), in_slot(p, self.shape.active));
        point!("a warp has long ones outstanding and no slot", long & !in_slot != 0, given = !self.straps.stay);
        point!("a warp with long ones outstanding waits alive", long & i.alive_i & !i.held_i & !o.active_o != 0);
    }

    fn issue(
        &self,
        i: &TwoLevelSchedulerIn,
        o: &TwoLevelSchedulerOut,
        p: &TwoLevelSchedulerProbe,
        points: &mut Points,
    ) {
        let count = self.shape.ports();
        let may = i.clear_i & o.active_o;
        point!("nothing to issue", o.active_o != 0 && may == 0);
        point!("stopped", may != 0 && i.stop_i == 1);
        point!("two issue", o.issue_valid_o == 3, given = self.shape.ports() == 2);
        point!("port 1 alone", o.issue_valid_o == 2, given = self.shape.ports() == 2);
        let may = if i.stop_i == 1 { 0 } else { may };
        let mut kept = 0;
        for port in 0..count {
            let own: Vec<usize> = self.slots_of(port).collect();
            let in_set = |s: usize, set: u64| p.state_q[s] == ACTIVE && set >> p.warp_q[s] & 1 == 1;
            let takes = if i.ready_i >> port & 1 == 1 { may } else { may & !i.operand_i };
            let any = |set: u64| own.iter().any(|&s| in_set(s, set));
            point!("not ready", any(may) && !any(takes));
            point!("not ready, another one needs no operands", any(may & !takes) && any(takes));
            point!("branch on port 1 kept back", any(takes & kept), given = self.shape.ports() == 2);
            let candidates = takes & !kept;
            point!(
                "branch kept back, another one goes",
                any(takes & kept) && any(candidates),
                given = self.shape.ports() == 2
            );
            if o.issue_valid_o >> port & 1 == 0 {
                continue;
            }
            let slot = usize::from(o.issue_slot_o[port]);
            let places: Vec<bool> = own.iter().map(|&s| in_set(s, candidates)).collect();
            let (place, last) = (slot / count, usize::from(p.last_q[port]));
            point!("issues", true);
            if (i.candidate_issue_i & p.candidate_valid_q) >> port & 1 == 1
                && p.candidate_q[port] == o.issue_warp_o[port]
            {
                // This is not the policy's choice, even if it is the same warp.
                let branch = i.branch_i >> o.issue_warp_o[port] & 1 == 1;
                kept = if port == 0 && branch { i.branch_i } else { 0 };
                continue;
            }
            let first = places.iter().position(|&c| c);
            let others = places.iter().filter(|&&c| c).count() > 1;
            let again = places.get(last) == Some(&true);
            point!("first slot from the turn is not the lowest", !again && first != Some(place));
            point!("turn of the slots wraps", place < last);
            point!(
                "the last one again, though others could issue",
                again && others && place == last,
                given = self.straps.scheduler == 1
            );
            point!(
                "the next one, though the last one could issue again",
                again && place != last,
                given = self.straps.scheduler != 1
            );
            point!("the last one may not issue again", !again, given = self.straps.scheduler == 1);
            let branch = i.branch_i >> o.issue_warp_o[port] & 1 == 1;
            point!("branch on port 1", port == 1 && branch, given = self.shape.ports() == 2);
            kept = if port == 0 && branch { i.branch_i } else { 0 };
            point!("an issue that does not go to the operand stage", i.set_valid_i >> port & 1 == 0);
        }
    }

    /// Candidates for stealing.
    #[given(self.shape.candidates)]
    fn candidates(
        &self,
        i: &TwoLevelSchedulerIn,
        o: &TwoLevelSchedulerOut,
        p: &TwoLevelSchedulerProbe,
        points: &mut Points,
    ) {
        let mut both = 0;
        for port in 0..self.shape.ports() {
            let at = |set: u8| set >> port & 1 == 1;
            let (asked, had, named) = (at(i.candidate_issue_i), at(p.candidate_valid_q), at(o.candidate_valid_o));
            let one = p.candidate_q[port];
            let active = o.active_o >> one & 1 == 1;
            let goes = asked && had && active && i.stop_i == 0;
            both |= u8::from(goes) << port;
            let even = |s: usize| (s / self.shape.ports()).is_multiple_of(2);
            let slot = self.slots_of(port).find(|&s| p.state_q[s] == ACTIVE && p.warp_q[s] == o.candidate_warp_o[port]);
            point!("a candidate of the even half", named && slot.is_some_and(even));
            point!("a candidate of the odd half", named && slot.is_some_and(|s| !even(s)));
            let issues = at(o.issue_valid_o);
            point!("no candidate beside the one that issues", issues && !goes && !named);
            point!("a stolen warp issues", goes);
            point!("a stolen warp issues, and another one is named", goes && named);
            point!("a stolen warp issues, and no warp is named", goes && !named);
            point!("a stolen warp issues, its port is not ready", goes && !at(i.ready_i));
            let over = had && asked && !active && i.stop_i == 0;
            point!("a warp that was named leaves, and another one issues", over && issues);
            point!("a warp that was named leaves, and no warp issues", over && !issues);
            point!("stolen, but stopped", asked && had && i.stop_i == 1);
            point!("stolen, and no candidate was there", asked && !had);
            let place = usize::from(p.candidate_slot_q[port]) / self.shape.ports();
            point!("a stolen warp issues, its slot is not the turn's", goes && place != usize::from(p.last_q[port]));
        }
        point!("both ports issue stolen warps", both == 3, given = self.shape.ports() == 2);
    }

    fn going(
        &self,
        i: &TwoLevelSchedulerIn,
        o: &TwoLevelSchedulerOut,
        p: &TwoLevelSchedulerProbe,
        points: &mut Points,
    ) {
        let straps =
            Straps { stay: i.cfg_i >> 1 & 1 == 1, patience: i.cfg_i >> 2 & 0xfff, ..Straps::of(&Config::default()) };
        let ready = Self::ready(i, p, self.shape.active, self.shape.warps);
        let mut left = 0u8;
        for s in 0..self.shape.active {
            let w = usize::from(p.warp_q[s]);
            let of_warp = |set: u64| p.state_q[s] != 0 && set >> w & 1 == 1;
            let (resident, short) = (p.resident_q[s] != 0, p.short_q[s] != 0);
            let done = i.flush_done_i >> s & 1 == 1;
            let (long, alive) = (p.state_q[s] != 0 && p.long_count_q[w] != 0, of_warp(i.alive_i));
            point!("flush is done of a slot that does not flush", p.state_q[s] != FLUSHING && done);
            match p.state_q[s] {
                ACTIVE => {
                    let fresh = p.issued_q[s] == 0;
                    let marked = of_warp(i.head_valid_i & i.mark_i);
                    let over = straps.patience != 0 && p.issued_q[s] >= straps.patience;
                    let wanted = self.own(s % self.shape.ports(), ready) != 0;
                    let void = i.void_i >> s & 1 == 1;
                    let (barrier, mark, patience) = (of_warp(i.held_i), marked && !fresh, over && wanted && void);
                    let leaves = !of_warp(o.active_o);
                    left |= u8::from(leaves) << (s % self.shape.ports());
                    let causes = [!alive, barrier, mark, patience].into_iter().filter(|&c| c).count();
                    point!("leaves at its end", !alive);
                    point!("a barrier does not end a stay", !leaves && barrier, given = self.straps.stay);
                    point!("a mark does not end a stay", !leaves && mark, given = self.straps.stay);
                    point!(
                        "patience without a limit",
                        !leaves && wanted && p.issued_q[s] > 64,
                        given = !self.straps.stay && self.straps.patience == 0
                    );
                    point!(
                        "a count of 4095 stays",
                        p.issued_q[s] == 4095 && of_warp(o.pop_o),
                        given = !self.straps.stay && self.straps.patience == 0
                    );
                    #[given(!self.straps.stay)]
                    {
                        point!("leaves at a barrier", leaves && alive && barrier);
                        point!("leaves at a mark", leaves && alive && !barrier && mark);
                        point!(
                            "leaves at a mark, nothing outstanding",
                            leaves && mark && causes == 1 && !long && !short
                        );
                        point!("leaves at a mark, long ones outstanding", leaves && mark && causes == 1 && long);
                        point!("a marked head is the first in a slot, and stays", marked && fresh && !leaves);
                        point!("several causes at once", leaves && causes > 1);
                        point!("a warp that leaves could issue", leaves && of_warp(i.clear_i));
                    }
                    #[given(self.straps.handover)]
                    {
                        let ends = self.complete(i, w);
                        point!("handed over, nothing outstanding", leaves && !short && !long);
                        point!("handed over, short ones outstanding", leaves && short && !long);
                        point!("handed over, both outstanding", leaves && short && long);
                        point!("handed over as one of its results comes", leaves && short && ends == 1);
                        point!(
                            "handed over as two of its results come",
                            leaves && short && ends == 2,
                            given = self.shape.ports() == 2
                        );
                        point!(
                            "handed over as its last result comes",
                            leaves && short && usize::from(p.short_q[s]) + usize::from(p.long_count_q[w]) == ends
                        );
                    }
                    #[given(!self.straps.stay && self.straps.patience != 0)]
                    {
                        point!("leaves when patience is over", leaves && patience && causes == 1);
                        point!("patience is over, and no warp is ready", !leaves && over && !wanted);
                        point!("patience is over in the middle of a strand", !leaves && over && wanted && !void);
                    }
                }
                DRAINING => {
                    #[given(!self.straps.handover)]
                    {
                        point!("drains: instructions in the operand stage only", resident && !short);
                        point!("drains: short ones only", !resident && short);
                        point!("drains: both", resident && short);
                        point!("becomes flushing", !resident && !short);
                        point!("drains while long ones are outstanding", long && (resident || short));
                        point!("ended while draining, and is dropped", !resident && !short && !alive);
                        let gone = self.dispatched(i, w);
                        point!(
                            "the last instruction dispatched while draining",
                            gone > 0 && usize::from(p.resident_q[s]) == gone
                        );
                        point!("drains at once", !resident && !short && long);
                    }
                }
                FLUSHING => {
                    #[given(!self.straps.handover)]
                    {
                        let dropped = o.drop_o >> s & 1 == 1;
                        point!("flushes for several cycles", !done);
                        point!("flushed at once", done);
                        point!("is dropped", dropped);
                        point!("flushes without drop", !dropped);
                        let ends = (0..self.shape.ports())
                            .any(|b| i.reg_valid_i >> b & 1 == 1 && usize::from(i.reg_warp_i[b]) == w);
                        point!("a long one ends while its old slot flushes", ends);
                    }
                }
                _ => {}
            }
        }
        point!("slots of both ports leave", left == 0b11, given = self.shape.ports() == 2);
    }

    /// Instructions of a warp that leave the operand stage.
    fn dispatched(&self, i: &TwoLevelSchedulerIn, w: usize) -> usize {
        let of_warp = |p: &usize| i.dispatch_valid_i >> p & 1 == 1 && usize::from(i.dispatch_warp_i[*p]) == w;
        (0..self.shape.ports()).filter(of_warp).count()
    }

    /// Registers of a warp that are complete.
    fn complete(&self, i: &TwoLevelSchedulerIn, w: usize) -> usize {
        let of_warp = |p: &usize| i.reg_valid_i >> p & 1 == 1 && usize::from(i.reg_warp_i[*p]) == w;
        (0..self.shape.ports()).filter(of_warp).count()
    }

    fn counts(
        &mut self,
        i: &TwoLevelSchedulerIn,
        o: &TwoLevelSchedulerOut,
        p: &TwoLevelSchedulerProbe,
        points: &mut Points,
    ) {
        let count = self.shape.ports();
        // Slot, warp, register and kind of the results that are complete.
        let slot_of = |w: u8| (0..self.shape.active).find(|&s| p.state_q[s] != 0 && p.warp_q[s] == w);
        let mut ends = Vec::new();
        for b in (0..count).filter(|b| i.reg_valid_i >> b & 1 == 1) {
            let (w, r) = (i.reg_warp_i[b], i.reg_i[b]);
            let slot = slot_of(w);
            let long = slot.is_none_or(|s| self.long[s][usize::from(r / 64)] >> (r % 64) & 1 == 1);
            ends.push((slot, w, r, long));
            let left = p.long_count_q[usize::from(w)];
            point!("a short one ends, long ones outstanding", !long && left > 0);
            point!("a long one ends in its slot", long && slot.is_some());
            point!(
                "one of several long ones of a warp without a slot ends",
                slot.is_none() && left > 1,
                given = !self.straps.stay
            );
        }
        if let [first, second] = ends[..] {
            let one = first.1 == second.1;
            point!("two registers of one slot complete", one && !first.3 && !second.3, given = self.shape.ports() == 2);
            point!("two long ones of one warp end", one && first.3 && second.3, given = self.shape.ports() == 2);
        }
        for port in 0..count {
            let s = usize::from(o.issue_slot_o[port]);
            if (o.issue_valid_o & i.set_valid_i) >> port & 1 == 0 {
                continue;
            }
            let w = usize::from(o.issue_warp_o[port]);
            let (d, long) = (i.set_d_i[port], i.set_long_i >> port & 1 == 1);
            let gone = self.dispatched(i, w);
            point!("issue and dispatch of one slot", gone == 1);
            point!("an instruction without a register", d == NO_REG);
            point!("a long one without a register", d == NO_REG && long);
            if d == NO_REG {
                continue;
            }
            let bits = &mut self.long[s][usize::from(d / 64)];
            point!("a short one to a register that was long", !long && *bits >> (d % 64) & 1 == 1);
            let end = |kind: bool| ends.iter().any(|e| e.0 == Some(s) && e.3 == kind);
            point!("a short one and the end of another", !long && end(false));
            point!("a long one and the end of another", long && end(true));
            point!("a register complete and set again at once", ends.iter().any(|e| e.0 == Some(s) && e.2 == d));
            *bits = *bits & !(1 << (d % 64)) | u64::from(long) << (d % 64);
        }
        let one = i.dispatch_valid_i == 3 && i.dispatch_warp_i[0] == i.dispatch_warp_i[1];
        point!("two dispatched of one slot", one, given = self.shape.ports() == 2);
    }
}

/// Warps that have a slot, in any state.
fn in_slot(p: &TwoLevelSchedulerProbe, slots: usize) -> u64 {
    (0..slots).filter(|&s| p.state_q[s] != 0).fold(0, |set, s| set | 1 << p.warp_q[s])
}

/// Warps with pending results of long operations.
fn waits(p: &TwoLevelSchedulerProbe, warps: usize) -> u64 {
    (0..warps).filter(|&w| p.long_count_q[w] != 0).fold(0, |set, w| set | 1 << w)
}
