//! Situations of `alternating_scheduler`.

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::issue::{
    ALTERNATING_EVENT, AlternatingSchedulerIn, AlternatingSchedulerOut, AlternatingSchedulerProbe,
};
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_blocks::sizes::MAX_WARPS;

use crate::cover::part;
use crate::{Points, cover};

/// Even warps.
const EVEN: u64 = 0x5555_5555_5555_5555;

const NONE: u8 = 0;
const ACTIVE: u8 = 1;
const DRAINING: u8 = 2;

pub(crate) struct AlternatingSchedulerCover {
    shape: SmShape,
    /// Instructions after which a warp gives up; 0 for no limit.
    patience: u16,
    /// Registers of the active warp that are pending results of long operations.
    long: [u64; 4],
    /// Slots that have just become free.
    flushed: u8,
    /// The warp that each slot had last.
    had: [Option<usize>; 2],
}

#[cover]
impl AlternatingSchedulerCover {
    fn new(shape: &SmShape, config: &Config) -> Self {
        Self { shape: *shape, patience: Straps::of(config).patience, long: [0; 4], flushed: 0, had: [None; 2] }
    }

    fn observe(
        &mut self,
        i: &AlternatingSchedulerIn,
        o: &AlternatingSchedulerOut,
        p: &AlternatingSchedulerProbe,
        points: &mut Points,
    ) {
        let taken = part(ALTERNATING_EVENT, o.event_o.into(), "alternating_activate") == 1;
        if i.rst_ni == 0 {
            if o.slot_valid_o != 0 && p.long_count_q != [0; MAX_WARPS] {
                point!("reset under load", true);
            }
            point!("reset while a warp is taken", taken);
            (self.flushed, self.had, self.long) = (0, [None; 2], [0; 4]);
            return;
        }
        self.turns(i, o, p, taken, points);
        self.active(i, o, p, points);
        self.slots(i, o, p, points);
        self.counts(i, o, p, points);
        self.flushed = o.flush_o & i.flush_done_i;
    }

    /// Warps that are ready.
    fn ready(&self, i: &AlternatingSchedulerIn, o: &AlternatingSchedulerOut, p: &AlternatingSchedulerProbe) -> u64 {
        let in_slot = (0..2).filter(|b| o.slot_valid_o >> b & 1 == 1).fold(0, |set, b| set | 1u64 << o.slot_warp_o[b]);
        let waits = (0..self.shape.warps).filter(|&w| p.long_count_q[w] != 0).fold(0, |set, w| set | 1u64 << w);
        i.alive_i & !i.held_i & !in_slot & !waits
    }

    fn turns(
        &mut self,
        i: &AlternatingSchedulerIn,
        o: &AlternatingSchedulerOut,
        p: &AlternatingSchedulerProbe,
        taken: bool,
        points: &mut Points,
    ) {
        let ready = self.ready(i, o, p);
        let none = p.state_q == NONE;
        let (last, other) = (usize::from(p.current_q), usize::from(1 - p.current_q));
        let of = |b: usize| ready & if b == 0 { EVEN } else { !EVEN };
        let flushes = |b: usize| o.flush_o >> b & 1 == 1;
        let (parity, own) = if of(other) != 0 { (other, of(other)) } else { (last, of(last)) };
        point!("no warp is ready", none && ready == 0 && i.alive_i != 0);
        point!("no warp is alive", none && i.alive_i == 0);
        let stalls = none && own != 0 && flushes(parity);
        point!("waits for the slot of the other parity", stalls && parity == other && flushes(last));
        let free = of(last) != 0 && !flushes(last);
        point!(
            "waits for the slot of the other parity, that of the same one is free",
            stalls && parity == other && free
        );
        point!("waits for the slot of the same parity", stalls && parity == last);
        point!("both slots flush", o.flush_o == 3);
        point!("a ready warp waits at nothing but its turn", !none && ready != 0);
        point!("a pending warp could issue", i.alive_i & i.clear_i & !o.active_o & ready != 0);
        if !taken {
            return;
        }
        let from = usize::from(p.outer_q[parity]);
        let warps = self.shape.warps;
        let warp = (0..warps).map(|n| (from + n) % warps).find(|&w| own >> w & 1 == 1).unwrap_or(0);
        point!("a warp of the other parity is taken", parity == other);
        point!("a warp of the same parity is taken, as there is no other", parity == last);
        point!("a ready warp of the same parity is passed over", parity == other && of(last) != 0);
        point!("a warp is taken while the other slot flushes", flushes(1 - parity));
        point!("a warp is taken whose slot has just become free", self.flushed >> parity & 1 == 1);
        point!("the warp that had the slot last is taken again", self.had[parity] == Some(warp));
        point!("first ready one from the turn is not the lowest", own.trailing_zeros() as usize != warp);
        point!("the turn wraps", warp < from);
        (self.had[parity], self.long) = (Some(warp), [0; 4]);
    }

    fn active(
        &self,
        i: &AlternatingSchedulerIn,
        o: &AlternatingSchedulerOut,
        p: &AlternatingSchedulerProbe,
        points: &mut Points,
    ) {
        let w = usize::from(o.slot_warp_o[usize::from(p.current_q)]);
        let of_warp = |set: u64| set >> w & 1 == 1;
        let (alive, long) = (of_warp(i.alive_i), p.long_count_q[w] != 0);
        let (resident, short) = (p.resident_q != 0, p.short_q != 0);
        if p.state_q == DRAINING {
            point!("drains: instructions in the operand stage only", resident && !short);
            point!("drains: short ones only", !resident && short);
            point!("drains: both", resident && short);
            point!("drains while long ones are outstanding", long && (resident || short));
            point!("drains at once, long ones outstanding", long && !resident && !short);
            point!("begins to flush", !resident && !short && alive);
            point!("begins to flush as its warp has ended", !resident && !short && !alive);
            point!("ends while it drains", (resident || short) && !alive);
            point!("the last instruction is dispatched while it drains", p.resident_q == 1 && i.dispatch_valid_i == 1);
            let ends = i.reg_valid_i == 1 && usize::from(i.reg_warp_i) == w && !self.is_long(i.reg_i);
            point!("the last short one ends while it drains", p.short_q == 1 && ends);
        }
        if p.state_q != ACTIVE {
            return;
        }
        let ready = self.ready(i, o, p);
        let (marked, fresh) = (of_warp(i.head_valid_i & i.mark_i), p.fresh_q == 1);
        let over = i.cfg_i != 0 && p.issued_q >= i.cfg_i;
        let (barrier, mark, patience) = (of_warp(i.held_i), marked && !fresh, over && ready != 0);
        let (leaves, may) = (!of_warp(o.active_o), of_warp(i.clear_i));
        let causes = [!alive, barrier, mark, patience].into_iter().filter(|&c| c).count();
        point!("gives up at its end", !alive);
        point!("gives up at a barrier", alive && barrier);
        point!("gives up at a mark", alive && !barrier && mark);
        point!("gives up at a mark, long ones outstanding", mark && causes == 1 && long);
        point!("gives up at a mark, nothing outstanding", mark && causes == 1 && !long && !short);
        point!("gives up as patience is over", patience && causes == 1, given = self.patience != 0);
        point!("patience is over, and no warp is ready", !leaves && over, given = self.patience != 0);
        point!(
            "patience without a limit",
            i.cfg_i == 0 && !leaves && ready != 0 && p.issued_q > 64,
            given = self.patience == 0
        );
        point!("a count of 4095 stays", p.issued_q == 4095 && of_warp(o.pop_o), given = self.patience == 0);
        point!("a marked head is the first, and stays", marked && fresh && !leaves);
        point!("several causes at once", causes > 1);
        point!("the warp that gives up could issue", leaves && may);
        if leaves {
            return;
        }
        let operand = of_warp(i.operand_i);
        point!("issues", o.issue_valid_o == 1);
        point!("nothing to issue", !may);
        point!("stopped", may && i.stop_i == 1);
        point!("the operand stage is not ready", may && operand && i.ready_i == 0);
        point!("not ready, but the head needs no operands", o.issue_valid_o == 1 && !operand && i.ready_i == 0);
    }

    fn slots(
        &self,
        i: &AlternatingSchedulerIn,
        o: &AlternatingSchedulerOut,
        p: &AlternatingSchedulerProbe,
        points: &mut Points,
    ) {
        let done = i.flush_done_i;
        point!("flush is done of a slot that does not flush", done & !o.flush_o != 0);
        point!("flush of both slots is done at once", done & o.flush_o == 3);
        for b in (0..2).filter(|b| o.flush_o >> b & 1 == 1) {
            let w = o.slot_warp_o[b];
            point!("flushed at once", done >> b & 1 == 1);
            point!("flushes for several cycles", done >> b & 1 == 0);
            let ended = i.alive_i >> w & 1 == 0;
            point!("ends while it flushes, and is not dropped", ended && p.drop_q >> b & 1 == 0);
            point!("a long one ends of a warp that flushes", i.reg_valid_i == 1 && i.reg_warp_i == w);
        }
    }

    fn is_long(&self, register: u8) -> bool {
        self.long[usize::from(register / 64)] >> (register % 64) & 1 == 1
    }

    fn counts(
        &mut self,
        i: &AlternatingSchedulerIn,
        o: &AlternatingSchedulerOut,
        p: &AlternatingSchedulerProbe,
        points: &mut Points,
    ) {
        let current = (p.state_q != NONE).then(|| o.slot_warp_o[usize::from(p.current_q)]);
        let (mut short_ends, mut long_ends) = (false, false);
        if i.reg_valid_i == 1 {
            let w = i.reg_warp_i;
            let own = current == Some(w);
            let in_slot = (0..2).any(|b| o.slot_valid_o >> b & 1 == 1 && o.slot_warp_o[b] == w);
            (short_ends, long_ends) = (own && !self.is_long(i.reg_i), own && self.is_long(i.reg_i));
            let left = p.long_count_q[usize::from(w)];
            point!("a long one ends of a warp without a slot", !in_slot);
            point!("one of several long ones ends", !short_ends && left > 1);
            point!("a long one of the active warp ends", long_ends);
            point!("a short one ends, long ones outstanding", short_ends && left > 0);
        }
        let issues = o.issue_valid_o == 1;
        point!("an issue that does not go to the operand stage", issues && i.set_valid_i == 0);
        if !issues || i.set_valid_i == 0 {
            return;
        }
        let (d, long) = (i.set_d_i, i.set_long_i == 1);
        point!("issue and dispatch at once", i.dispatch_valid_i == 1);
        point!("an instruction without a register", d == NO_REG && !long);
        point!("a long one without a register", d == NO_REG && long);
        if d == NO_REG {
            return;
        }
        point!("a short one to a register that was long", !long && self.is_long(d));
        point!("a short one and the end of another", !long && short_ends);
        point!("a long one and the end of another", long && long_ends);
        point!("a register complete and set again at once", (short_ends || long_ends) && i.reg_i == d);
        let bits = &mut self.long[usize::from(d / 64)];
        *bits = *bits & !(1 << (d % 64)) | u64::from(long) << (d % 64);
    }
}
