//! Coverage of `scratchpad_locks`.

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::{NO_REG, Roles};
use gpurf_blocks::shape::{BLOCK_SLOTS, SmShape};
use gpurf_blocks::share::{RegisterLayout, ScratchpadLocksIn, ScratchpadLocksOut, ScratchpadLocksProbe};

use super::{ATOM, CAS, GENERIC, LD, MARK, RELSSP, SHARED, ST};
use crate::{Points, cover};

pub(crate) struct ScratchpadLocksCover {
    shape: SmShape,
    /// Slots whose block was young, in the cycle before.
    young: u16,
}

/// Bits of the straps.
const FIRST: u8 = 1;
const HOLD: u8 = 2;
const OWNER_FIRST: u8 = 4;
const MARKS: u8 = 8;
/// What the block knows about a head (`check_q`): nothing, its probe is in flight, it is private, or common.
const NONE: u8 = 0;
const FLIGHT: u8 = 1;
const PRIVATE: u8 = 2;
const COMMON: u8 = 3;

/// The partner of a warp, if there is one.
fn partner(i: &ScratchpadLocksIn, w: usize) -> Option<usize> {
    let hosts = usize::from(RegisterLayout(i.layout_i).host_warps());
    if w >= hosts { Some(w - hosts) } else { Some(w + hosts).filter(|&v| v < usize::from(i.end_warps_i)) }
}

/// Slots whose block does not access the common area again.
fn through(i: &ScratchpadLocksIn, p: &ScratchpadLocksProbe, warps: usize) -> u16 {
    let mut slots = i.slot_busy_i;
    for w in 0..warps.min(i.end_warps_i.into()) {
        if p.through_q >> w & 1 == 0 {
            slots &= !(1 << i.slot_i[w]);
        }
    }
    if i.start_valid_i == 1 {
        slots &= !(1 << i.slot_i[usize::from(i.start_warp_i)]);
    }
    slots
}

#[cover]
impl ScratchpadLocksCover {
    const KINDS: [&str; 4] = ["LD", "ST", "ATOM", "CAS"];

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape, young: 0 }
    }

    fn observe(
        &mut self,
        i: &ScratchpadLocksIn,
        o: &ScratchpadLocksOut,
        p: &ScratchpadLocksProbe,
        points: &mut Points,
    ) {
        let through = through(i, p, self.shape.warps);
        let mut issues = 0u64;
        let mut sets = 0u64;
        for port in (0..self.shape.ports()).filter(|port| i.issue_valid_i >> port & 1 == 1) {
            issues |= 1 << i.issue_warp_i[port];
            sets |= u64::from(i.set_valid_i >> port & 1) << i.issue_warp_i[port];
        }
        let is = |slots: u16, w: usize| slots >> i.slot_i[w] & 1 == 1;
        let wants = |w: usize| {
            let (op, ctl) = (i.head_op_i[w], i.head_ctl_i[w]);
            let scratchpad = match (op & 0x7f, op >> 28 & 3) {
                (LD | ST | ATOM, SHARED | GENERIC) | (CAS, SHARED) => ctl >> MARK & 1 == 0,
                _ => false,
            };
            let paired = partner(i, w).is_some() && i.live_i[w] != 0;
            paired && i.clear_i >> w & 1 == 1 && scratchpad && !is(p.lock_q, w) && !is(through, w)
        };
        let asks = |w: usize| wants(w) && (i.cfg_i & MARKS != 0 || p.check_q[w] == COMMON);
        self.heads(i, o, p, through, issues, sets, &wants, &asks, points);
        self.warps(i, p, through, points);
        self.blocks(i, o, p, through, points);
        let takes = (0..self.shape.warps)
            .filter(|&w| issues >> w & 1 == 1 && wants(w) && o.probe_o >> w & 1 == 0 && p.check_q[w] != PRIVATE);
        let slots: Vec<u8> = takes.map(|w| i.slot_i[w]).collect();
        #[given(self.shape.ports() == 2)]
        {
            point!("two warps of a block take the lock at once", slots.len() == 2 && slots[0] == slots[1]);
            point!("two blocks take their locks at once", slots.len() == 2 && slots[0] != slots[1]);
            point!("two probes issue at once", (issues & sets & o.probe_o).count_ones() == 2);
        }
        self.young = i.slot_young_i;
    }

    #[allow(clippy::too_many_arguments, reason = "what a cycle has been found to be")]
    fn heads(
        &self,
        i: &ScratchpadLocksIn,
        o: &ScratchpadLocksOut,
        p: &ScratchpadLocksProbe,
        through: u16,
        issues: u64,
        sets: u64,
        wants: &dyn Fn(usize) -> bool,
        asks: &dyn Fn(usize) -> bool,
        points: &mut Points,
    ) {
        let is = |slots: u16, w: usize| slots >> i.slot_i[w] & 1 == 1;
        let (first, marks) = (i.cfg_i & FIRST != 0, i.cfg_i & MARKS != 0);
        for w in 0..self.shape.warps {
            let bit = 1u64 << w;
            let (op, ctl) = (i.head_op_i[w], i.head_ctl_i[w]);
            let (opcode, space, mark) = (op & 0x7f, op >> 28 & 3, ctl >> MARK & 1 == 1);
            let clear = i.clear_i & bit != 0;
            let (goes, probe, issued) = (o.clear_o & bit != 0, o.probe_o & bit != 0, issues & bit != 0);
            let check = p.check_q[w];
            let access = matches!((opcode, space), (LD | ST | ATOM, SHARED | GENERIC) | (CAS, SHARED));
            let Some(partner) = partner(i, w).filter(|_| i.live_i[w] != 0) else {
                point!(
                    "a warp without a partner accesses scratchpad memory",
                    clear && access && !mark && goes && !probe
                );
                point!("it releases", i.live_i[w] != 0 && issued && opcode == RELSSP && sets & bit != 0);
                continue;
            };
            let young = is(i.slot_young_i, w);
            let (busy, other_through) = (is(i.slot_busy_i, partner), is(through, partner));
            let (own, theirs) = (is(p.lock_q, w), is(p.lock_q, partner));
            let wanted = wants(w);
            for (kind, opcode_of_kind) in [LD, ST, ATOM, CAS].into_iter().enumerate() {
                let this = wanted && opcode == opcode_of_kind;
                point!("{KINDS[kind]} in shared space wants the lock", this && space == SHARED);
                point!(
                    "{KINDS[kind]} that is marked does not",
                    clear && access && mark && opcode == opcode_of_kind && !own && !probe && goes
                );
            }
            point!("an access in generic space wants the lock", wanted && space == GENERIC);
            let other = clear && !mark && check != FLIGHT && !access;
            point!("CAS in generic space does not", other && opcode == CAS && space == GENERIC && !probe);
            point!("an access of other memory does not", other && opcode == LD && !probe && goes);
            point!("an instruction that accesses no memory does not", other && opcode < 0x40 && !probe && goes);
            point!("a block that has the lock does not", clear && access && !mark && own && !probe && goes);
            point!("a block that is through does not", clear && access && !mark && is(through, w) && !probe);
            // Probes.
            point!("a probe issues", probe && issued && sets & bit != 0);
            point!("a probe without lanes", probe && issued && sets & bit == 0);
            point!("a probe could issue, and does not", probe && goes && !issued);
            point!("a probe could issue in a cycle in which its head is held", probe && clear && !goes);
            point!("a head waits for its probe", clear && check == FLIGHT && !goes);
            point!("a private head issues without the lock", wanted && check == PRIVATE && issued);
            point!("a private head would have to wait for the lock", wanted && check == PRIVATE && goes && !issued);
            point!("a head is not probed, as marks decide", wanted && marks && check == NONE && !probe);
            // Which block gets the lock.
            let asked = asks(w);
            point!(
                "oldest: the older block takes the lock unprobed",
                !first && wanted && !young && check == NONE && goes
            );
            point!("oldest: the younger one waits", !first && asked && young && busy && !goes && !marks);
            point!("oldest: the younger one is probed", !first && wanted && young && probe);
            point!(
                "oldest: the younger one takes it, as the older one is through",
                !first && wanted && young && busy && other_through && goes && !probe
            );
            point!(
                "oldest: a head that has waited takes it",
                !first && asked && young && other_through && issued && !marks
            );
            point!(
                "oldest: the younger one takes it, as the older one has gone",
                !first && wanted && young && !busy && goes
            );
            point!("oldest: an unmarked access waits", !first && asked && young && marks && !goes);
            point!("first: the older block is probed", first && wanted && !young && probe);
            point!("first: the other block has the lock", first && asked && theirs && !goes);
            point!("first: the older block waits", first && asked && !young && theirs && !goes);
            let older_asks = (0..self.shape.warps).any(|v| i.slot_i[v] == i.slot_i[partner] && asks(v));
            point!("first: both ask in one cycle", first && asked && young && !theirs && older_asks && !goes);
            point!("first: the younger block takes it", first && asked && young && busy && issued);
            point!("first: the older block takes it", first && asked && !young && busy && issued);
            point!("first: there is no other block", first && asked && !busy && issued);
            // Atomic operations.
            let result = Roles(i.head_roles_i[w]).d() != NO_REG;
            let atomic = matches!(opcode, ATOM | CAS) && clear && check != FLIGHT;
            let hold = i.cfg_i & HOLD != 0;
            let held = hold && !first && atomic && young && busy && !other_through;
            point!("ATOM is held", held && opcode == ATOM && space != SHARED && result && !goes);
            point!("CAS is held", held && opcode == CAS && space != SHARED && result && !goes);
            point!("one without a result is not", held && space != SHARED && space != GENERIC && !result && goes);
            point!("one of shared memory is not", held && space == SHARED && result && check == PRIVATE && goes);
            let elsewhere = atomic && !matches!(space, SHARED | GENERIC) && result && goes;
            point!("one of the older block is not", hold && !first && elsewhere && !young && busy);
            point!("one is not, as the older block is through", hold && !first && elsewhere && young && other_through);
            point!("one is not, as the older block has gone", hold && !first && elsewhere && young && !busy);
            point!("one is not, with the other rule", hold && first && elsewhere && young && busy);
            point!("one is not, without the strap", !hold && !first && elsewhere && young && busy && !other_through);
            // Classes of warps for the scheduler.
            point!("a warp of an owner is preferred", o.lead_o & bit != 0);
            point!("a warp of a non-owner is taken last", o.last_o & bit != 0);
            point!("no warp is preferred without the strap", busy && i.cfg_i & OWNER_FIRST == 0);
            point!("the partner's slot is empty", !busy && i.cfg_i & OWNER_FIRST != 0);
            point!("a non-owner issues", young && busy && issued);
            let release = clear && opcode == RELSSP;
            point!("a release issues", release && issued && sets & bit != 0);
            point!("a release without lanes issues", release && issued && sets & bit == 0);
            point!("a release of a block that has the lock", release && issued && own);
        }
    }

    /// Points of releases and of warps that end.
    fn warps(&self, i: &ScratchpadLocksIn, p: &ScratchpadLocksProbe, through: u16, points: &mut Points) {
        if i.answer_valid_i == 1 {
            let w = usize::from(i.answer_warp_i);
            let (release, common) = (i.answer_release_i == 1, i.answer_shared_i == 1);
            point!("a probe is answered: common", !release && common);
            point!("a probe is answered: private", !release && !common);
            let before = p.released_q[w];
            let left = i.live_i[w] & !(before | i.answer_mask_i);
            point!("a release of all lanes", release && left == 0 && before == 0);
            point!("a release of some lanes", release && left != 0);
            point!("a release of the last lanes", release && left == 0 && before & i.live_i[w] != 0);
            point!("a release of lanes that have released", release && before & i.answer_mask_i != 0);
            let ended = before & !i.live_i[w] != 0;
            point!("a release of the last lanes, others have released and ended", release && left == 0 && ended);
        }
        for w in 0..self.shape.warps.min(i.end_warps_i.into()) {
            let (live, released) = (i.live_i[w], p.released_q[w]);
            let (idle, done) = (i.idle_i >> w & 1 == 1, p.through_q >> w & 1 == 1);
            let busy = i.slot_busy_i >> i.slot_i[w] & 1 == 1;
            let answered = i.answer_valid_i == 1 && i.answer_release_i == 1 && usize::from(i.answer_warp_i) == w;
            let left = live & !released == 0;
            point!("no lane is left, and something is in flight", busy && left && !idle && !answered && !done);
            point!("no living lane is left, and nothing is in flight", busy && left && live != 0 && idle && !done);
            point!("a warp that is through continues", done && live != 0);
            let begins = i.start_valid_i == 1 && usize::from(i.start_warp_i) == w;
            point!("a warp begins in the place of one that has released", begins && released != 0);
            point!("a warp is through, others of its block are not", busy && done && through >> i.slot_i[w] & 1 == 0);
        }
    }

    /// Points of slots.
    fn blocks(
        &self,
        i: &ScratchpadLocksIn,
        o: &ScratchpadLocksOut,
        p: &ScratchpadLocksProbe,
        through: u16,
        points: &mut Points,
    ) {
        for slot in 0..BLOCK_SLOTS {
            let is = |slots: u16| slots >> slot & 1 == 1;
            point!("a lock is given up early", is(p.lock_q) && is(through));
            point!("a lock is given up, as the block has gone", is(p.lock_q) && !is(i.slot_busy_i));
            point!("a block is through that never had the lock", is(through) && !is(p.lock_q) && is(i.slot_busy_i));
            let begins = i.start_valid_i == 1 && usize::from(i.slot_i[usize::from(i.start_warp_i)]) == slot;
            let looks = (0..self.shape.warps.min(i.end_warps_i.into()))
                .filter(|&w| usize::from(i.slot_i[w]) == slot)
                .all(|w| p.through_q >> w & 1 == 1);
            point!("a block begins whose warps look through", begins && looks);
            point!(
                "a block that was younger is the older one",
                is(self.young) && !is(i.slot_young_i) && is(i.slot_busy_i)
            );
        }
        let asked = usize::from(i.place_warp_i);
        let (refused, is_through) = (o.place_released_o == 1, through >> i.slot_i[asked] & 1 == 1);
        let host = asked < usize::from(RegisterLayout(i.layout_i).host_warps());
        point!("a host's block has released", refused && host);
        point!("a guest's block has released", refused && !host);
        point!("a block without a partner has released", !refused && is_through);
        point!("a block has not released, its warp has", !refused && p.through_q >> asked & 1 == 1 && !is_through);
    }
}
