//! `scratchpad_locks`: which block of a pair may access shared scratchpad memory. `docs/blocks/scratchpad_locks.md`.

use crate::instruction::{Roles, is_release, returning_atomic, scratchpad_access};
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{is_set, pack, set_bits};
use crate::shape::{BLOCK_SLOTS, SLOT_BITS, SmShape};
use crate::share::RegisterLayout;
use crate::share::pairs::{Division, Pairs, Slots, below};
use crate::sizes::MAX_WARPS;
use crate::{Block, Decode, LANES, Ports, WARP_BITS, field, packed, ports};

/// Fields of `scratchpad_event_t`, most significant first.
pub const SCRATCHPAD_EVENT: &[(&str, u32)] = &[
    ("wait_lock", 6),
    ("wait_hold", 6),
    ("probe", 2),
    ("probe_common", 1),
    ("released", 1),
    ("lock_take", 5),
    ("lock_free", 5),
    ("lock_early", 5),
    ("owners", 6),
    ("non_owners", 6),
    ("non_owner_issue", 2),
];

/// Fields of `scratchpad_straps_t`, most significant first.
pub const SCRATCHPAD_STRAPS: &[(&str, u32)] = &[("mark", 1), ("owner_first", 1), ("hold", 1), ("first", 1)];

/// Width of `cfg_i`.
const STRAPS_BITS: u32 = 4;

ports! {
    /// Inputs of [`ScratchpadLocks`].
    pub struct ScratchpadLocksIn(s: &SmShape) {
        /// The warp's head may issue as far as its results and predicates go.
        clear_i: u64 = field(s.warps),
        /// Warps of which nothing is in flight.
        idle_i: u64 = field(s.warps),
        /// Layout of the register file.
        layout_i: u64 = packed::<RegisterLayout>(),
        /// Operation word of each warp's head.
        head_op_i: [u64; MAX_WARPS] = field(64).count(s.warps).valid_by("clear_i"),
        /// Control word of each warp's head.
        head_ctl_i: [u64; MAX_WARPS] = field(64).count(s.warps).valid_by("clear_i"),
        /// Roles of each warp's head.
        head_roles_i: [u64; MAX_WARPS] = packed::<Roles>().count(s.warps).valid_by("clear_i"),
        /// Lanes of each warp that have not ended.
        live_i: [u32; MAX_WARPS] = field(LANES).count(s.warps),
        /// Of a release: its lanes.
        answer_mask_i: u32 = field(LANES).valid_by("answer_valid_i"),
        /// Block slots with a block.
        slot_busy_i: u16 = field(BLOCK_SLOTS),
        /// Block slots whose block is the younger one of its pair.
        slot_young_i: u16 = field(BLOCK_SLOTS),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Straps: who gets a lock, whether atomic operations wait, whether owners are preferred, whether heads are probed.
        cfg_i: u8 = field(STRAPS_BITS).shown(Decode::Packed(SCRATCHPAD_STRAPS)),
        /// Port p issues.
        issue_valid_i: u8 = field(s.ports()),
        /// Warp that port p issues.
        issue_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// The instruction of port p goes to the operand stage.
        set_valid_i: u8 = field(s.ports()),
        /// The address unit answers a probe or performs a release.
        answer_valid_i: u8 = field(1),
        /// The answer is that of a release, not of a probe.
        answer_release_i: u8 = field(1).valid_by("answer_valid_i"),
        /// Warp of the answer.
        answer_warp_i: u8 = field(WARP_BITS).valid_by("answer_valid_i"),
        /// Of a probe: a lane lies in the common area.
        answer_shared_i: u8 = field(1).valid_by("answer_valid_i"),
        /// A warp begins.
        start_valid_i: u8 = field(1),
        /// Warp that begins.
        start_warp_i: u8 = field(WARP_BITS).valid_by("start_valid_i"),
        /// Warps of all block slots.
        end_warps_i: u8 = field(WARP_BITS + 1),
        /// Warp whose memory instruction the address unit takes.
        place_warp_i: u8 = field(WARP_BITS),
        /// Block slot of each warp.
        slot_i: [u8; MAX_WARPS] = field(SLOT_BITS).count(s.warps),
    }
}

ports! {
    /// Outputs of [`ScratchpadLocks`].
    pub struct ScratchpadLocksOut(s: &SmShape) {
        /// The warp's head may issue as far as the lock goes, itself or as a probe.
        clear_o: u64 = field(s.warps),
        /// If the head issues, it is as a probe.
        probe_o: u64 = field(s.warps),
        /// Warps that the scheduler prefers.
        lead_o: u64 = field(s.warps),
        /// Warps that the scheduler takes last.
        last_o: u64 = field(s.warps),
        /// Locks and who waits for them: `scratchpad_event_t`.
        event_o: u64 = field(45).shown(Decode::Packed(SCRATCHPAD_EVENT)),
        /// The block of `place_warp_i` may not access the common area any more.
        place_released_o: u8 = field(1),
    }
}

ports! {
    /// State of [`ScratchpadLocks`].
    pub struct ScratchpadLocksProbe(s: &SmShape) {
        /// Warps none of whose lanes accesses the common area again.
        through_q: u64 = field(s.warps),
        /// Lanes of each warp that have released.
        released_q: [u32; MAX_WARPS] = field(LANES).count(s.warps),
        /// Slots whose block has the lock of its pair.
        lock_q: u16 = field(BLOCK_SLOTS),
        /// State of the check of each warp's head.
        check_q: [u8; MAX_WARPS] =
            field(2).count(s.warps).shown(Decode::Enum(&["none", "in_flight", "private", "common"])),
    }
}

/// The straps: `scratchpad_straps_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScratchpadStraps {
    /// A lock is taken by whichever block of a pair comes first; otherwise the older one never waits.
    pub first: bool,
    /// Returning atomic operations of younger blocks wait.
    pub hold: bool,
    /// The scheduler prefers owners.
    pub owner_first: bool,
    /// Nothing is probed: an access without a mark needs the lock.
    pub mark: bool,
}

impl ScratchpadStraps {
    /// Decodes the straps on `cfg_i`.
    #[inline]
    pub fn of(word: u8) -> Self {
        Self { first: word & 1 != 0, hold: word & 2 != 0, owner_first: word & 4 != 0, mark: word & 8 != 0 }
    }

    /// The straps in the form of `cfg_i`.
    pub fn word(self) -> u8 {
        let Self { first, hold, owner_first, mark } = self;
        u8::from(first) | u8::from(hold) << 1 | u8::from(owner_first) << 2 | u8::from(mark) << 3
    }
}

/// How the SM is divided, and which warp begins: what locks depend on besides heads.
#[derive(Clone, Copy, Debug)]
pub struct Sharers {
    /// Warps with living lanes.
    pub alive: u64,
    /// Warps of hosts.
    pub host_warps: u8,
    /// Warps of all block slots.
    pub end_warps: u8,
    /// Block slots with a block.
    pub slot_busy: u16,
    /// Block slots whose block is the younger one of its pair.
    pub slot_young: u16,
    /// The warp that begins.
    pub start: Option<u8>,
}

/// An instruction to which the address unit has responded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScratchpadAnswer {
    /// Warp of the instruction.
    pub warp: u8,
    /// The instruction is RELSSP; otherwise a probe.
    pub release: bool,
    /// For a probe: a lane lies in the common area.
    pub shared: bool,
    /// Lanes of the instruction.
    pub mask: u32,
}

/// Events of a cycle on which the edge acts, besides the decisions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Warps that issue.
    pub issued: u64,
    /// Issuing warps whose instruction goes to the operand stage.
    pub set: u64,
    /// Issuing warps whose head is RELSSP.
    pub releases: u64,
    /// What the address unit answers.
    pub answer: Option<ScratchpadAnswer>,
}

/// Decisions of one cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// Heads that may issue as far as the lock goes.
    pub clear: u64,
    /// Heads that, if they issue, issue as probes.
    pub probe: u64,
    /// Warps that the scheduler prefers.
    pub lead: u64,
    /// Warps that the scheduler takes last.
    pub last: u64,
    /// Heads that want the lock.
    wants: u64,
    /// Heads that wait for the lock, and heads that are held.
    waits: u64,
    held: u64,
    /// Warps of owners, and of non-owners.
    owners: u64,
    non_owners: u64,
    /// Slots whose blocks are through, and slots whose lock is released.
    through: u16,
    frees: u16,
    /// Warps whose slot has a partner, and whose block is through.
    released: u64,
}

impl Claims {
    /// Whether a warp's block may not access the common area of its pair any more.
    #[inline]
    pub fn is_released(&self, warp: u8) -> bool {
        self.released >> warp & 1 == 1
    }
}

/// State of a head's check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Check {
    None,
    InFlight,
    Private,
    Common,
}

/// Keeps the lock of each pair of blocks and the lanes that have released, and decides which heads wait and which issue as probes
/// (sharing thesis 2.2.2, 3.2.2).
///
/// A direct caller reports when the slots of warps change ([`place`](Self::place)), asks ([`claims`](Self::claims), [`event`](Self::event)) and
/// ends the cycle with [`advance`](Self::advance).
#[derive(Clone)]
pub struct ScratchpadLocks {
    warps: usize,
    lock_q: u16,
    check_q: [Check; MAX_WARPS],
    released_q: [u32; MAX_WARPS],
    through_q: u64,
    slots: Slots,
    /// Warps by the state of their heads' checks: in flight, private, common. Derived from `check_q`.
    in_flight: u64,
    private: u64,
    common: u64,
    /// Warps with lanes that have released.
    releasing: u64,
    /// Used only when the block runs alone: the decisions of the cycle, for its edge.
    decided: Claims,
}

impl ScratchpadLocks {
    /// Sets the block slot of each warp.
    #[inline]
    pub fn place(&mut self, slot: &[u8; MAX_WARPS]) {
        self.slots.place(slot);
    }

    /// Slots whose blocks are through: none of their lanes accesses the common area again.
    #[inline]
    fn through(&self, at: &Sharers) -> u16 {
        let starting = at.start.map_or(0, |warp| 1 << self.slots.of(warp.into()));
        let not_through = below(at.end_warps.into()) & !self.through_q;
        set_bits(at.slot_busy & !starting)
            .filter(|&slot| self.slots.warps(slot) & not_through == 0)
            .fold(0, |slots, slot| slots | 1 << slot)
    }

    /// Decides which heads of `clear` may issue; `head` gives their words and roles.
    #[inline]
    pub fn claims(
        &self,
        straps: ScratchpadStraps,
        clear: u64,
        at: &Sharers,
        head: impl Fn(usize) -> (u64, u64, Roles),
    ) -> Claims {
        let Sharers { alive, host_warps, end_warps, slot_busy, slot_young, .. } = *at;
        let pairs = Pairs::of(&Division { alive, host_warps, end_warps, slot_busy, slot_young }, &self.slots);
        let (paired, young) = (pairs.paired, pairs.young);
        let through = self.through(at);
        let of_through = self.slots.warps_of(through);
        let (mut accesses, mut atomic) = (0, 0);
        for w in set_bits(clear & paired) {
            let (op, ctl, roles) = head(w);
            accesses |= u64::from(scratchpad_access(op, ctl)) << w;
            atomic |= u64::from(returning_atomic(op, roles.d())) << w;
        }
        let of_locks = self.slots.warps_of(self.lock_q);
        let wants = accesses & !of_locks & !of_through;
        let asks = if straps.mark { wants } else { wants & self.common };
        let beside_through = pairs.partners(of_through);
        let may = if straps.first {
            let beside_asking = pairs.partners(self.slots.warps_of(self.slots.slots_of(asks)));
            !pairs.partners(of_locks) & !(young & beside_asking)
        } else {
            !young | !pairs.beside_busy | beside_through
        };
        let unknown = !(self.in_flight | self.private | self.common);
        let probe = if straps.mark {
            0
        } else if straps.first {
            wants & unknown
        } else {
            wants & unknown & !may
        };
        let waits = asks & !may;
        let (owners, non_owners) = (pairs.owners(), pairs.non_owners());
        let held = if straps.hold && !straps.first { atomic & non_owners & !beside_through } else { 0 };
        let (lead, last) = if straps.owner_first { (owners, non_owners) } else { (0, 0) };
        Claims {
            clear: clear & !self.in_flight & !waits & !held,
            probe,
            lead,
            last,
            wants,
            waits,
            held,
            owners,
            non_owners,
            through,
            frees: self.lock_q & (through | !slot_busy),
            released: of_through & pairs.with_partner,
        }
    }

    /// Slots that take their locks at this edge.
    #[inline]
    fn takes(&self, claims: &Claims, issued: u64) -> u16 {
        self.slots.slots_of(issued & claims.wants & !claims.probe & !self.private)
    }

    /// `scratchpad_event_t` of a cycle.
    #[inline]
    pub fn event(&self, claims: &Claims, progress: &Progress) -> u64 {
        let is = |release: bool| progress.answer.filter(|answer| answer.release == release);
        let counts = [
            claims.waits.count_ones(),
            claims.held.count_ones(),
            (progress.issued & progress.set & claims.probe).count_ones(),
            is(false).is_some_and(|answer| answer.shared).into(),
            is(true).is_some().into(),
            self.takes(claims, progress.issued).count_ones(),
            claims.frees.count_ones(),
            (claims.frees & claims.through).count_ones(),
            claims.owners.count_ones(),
            claims.non_owners.count_ones(),
            (progress.issued & claims.non_owners).count_ones(),
        ];
        pack(SCRATCHPAD_EVENT, counts)
    }

    /// Performs the clock edge. `live`: lanes of each warp that have not ended; a warp has some exactly if
    /// [`claims`](Self::claims) got it as alive.
    #[inline]
    pub fn advance(
        &mut self,
        claims: &Claims,
        progress: &Progress,
        at: &Sharers,
        idle: u64,
        live: impl Fn(usize) -> u32,
    ) {
        self.lock_q = (self.lock_q | self.takes(claims, progress.issued)) & !claims.frees;
        let is_there = |warp: &u8| usize::from(*warp) < self.warps;
        let (answer, start) = (progress.answer.filter(|answer| is_there(&answer.warp)), at.start.filter(is_there));
        for w in set_bits(progress.issued & below(self.warps)) {
            let set = is_set(progress.set, w);
            let check = match is_set(claims.probe, w) {
                true if set => Check::InFlight,
                true => Check::Private,
                false if set && is_set(progress.releases, w) => Check::InFlight,
                false => Check::None,
            };
            self.check(w, check);
        }
        // A warp without living lanes counts as through.
        self.through_q |= idle & !at.alive & below(self.warps);
        for w in set_bits(idle & at.alive & self.releasing) {
            self.pass_through(w, live(w));
        }
        if let Some(ScratchpadAnswer { warp, release, shared, mask }) = answer {
            let w = usize::from(warp);
            if release {
                self.check(w, Check::None);
                self.released_q[w] |= mask;
                self.releasing |= u64::from(self.released_q[w] != 0) << w;
                self.pass_through(w, live(w));
            } else {
                self.check(w, if shared { Check::Common } else { Check::Private });
            }
        }
        if let Some(warp) = start {
            let w = usize::from(warp);
            self.check(w, Check::None);
            self.released_q[w] = 0;
            self.through_q &= !(1 << w);
            self.releasing &= !(1 << w);
        }
    }

    #[inline]
    fn check(&mut self, w: usize, check: Check) {
        self.check_q[w] = check;
        let of = |which: Check| u64::from(check == which) << w;
        self.in_flight = self.in_flight & !(1 << w) | of(Check::InFlight);
        self.private = self.private & !(1 << w) | of(Check::Private);
        self.common = self.common & !(1 << w) | of(Check::Common);
    }

    /// Marks a warp as through if all its living lanes have released.
    #[inline]
    fn pass_through(&mut self, w: usize, live: u32) {
        self.through_q |= u64::from(live & !self.released_q[w] == 0) << w;
    }

    /// Whether an edge changes nothing if no warp issues or begins and the address unit gives no answer.
    pub fn is_still(&self, claims: &Claims, alive: u64, idle: u64, live: impl Fn(usize) -> u32) -> bool {
        let waiting = idle & !self.through_q & below(self.warps);
        claims.frees == 0
            && waiting & !alive == 0
            && set_bits(waiting & self.releasing).all(|w| live(w) & !self.released_q[w] != 0)
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        (self.lock_q, self.through_q) = (0, 0);
        (self.check_q, self.released_q) = ([Check::None; MAX_WARPS], [0; MAX_WARPS]);
        (self.in_flight, self.private, self.common, self.releasing) = (0, 0, 0, 0);
    }
}

/// The warps that issue on the ports of a set.
fn issuing(inputs: &ScratchpadLocksIn, ports: u8) -> u64 {
    set_bits(inputs.issue_valid_i & ports).fold(0, |warps, p| warps | 1 << inputs.issue_warp_i[p])
}

impl ScratchpadLocksIn {
    fn sharers(&self) -> Sharers {
        Sharers {
            alive: (0..MAX_WARPS).fold(0, |alive, w| alive | u64::from(self.live_i[w] != 0) << w),
            host_warps: RegisterLayout(self.layout_i).host_warps(),
            end_warps: self.end_warps_i,
            slot_busy: self.slot_busy_i,
            slot_young: self.slot_young_i,
            start: (self.start_valid_i != 0).then_some(self.start_warp_i),
        }
    }

    fn progress(&self) -> Progress {
        let issued = issuing(self, u8::MAX);
        Progress {
            issued,
            set: issuing(self, self.set_valid_i),
            releases: set_bits(issued)
                .filter(|&w| w < MAX_WARPS && is_release(self.head_op_i[w]))
                .fold(0, |releases, w| releases | 1 << w),
            answer: (self.answer_valid_i != 0).then_some(ScratchpadAnswer {
                warp: self.answer_warp_i,
                release: self.answer_release_i != 0,
                shared: self.answer_shared_i != 0,
                mask: self.answer_mask_i,
            }),
        }
    }
}

impl Block for ScratchpadLocks {
    const NAME: &'static str = "scratchpad_locks";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts"];

    type Shape = SmShape;
    type In = ScratchpadLocksIn;
    type Out = ScratchpadLocksOut;
    type Probe = ScratchpadLocksProbe;

    fn new(shape: &SmShape) -> Self {
        Self {
            warps: shape.warps,
            lock_q: 0,
            check_q: [Check::None; MAX_WARPS],
            released_q: [0; MAX_WARPS],
            through_q: 0,
            slots: Slots::new(shape),
            in_flight: 0,
            private: 0,
            common: 0,
            releasing: 0,
            decided: Claims::default(),
        }
    }

    fn early(&self, _: &mut ScratchpadLocksOut) {}

    fn late(&mut self, inputs: &ScratchpadLocksIn, out: &mut ScratchpadLocksOut) {
        self.place(&inputs.slot_i);
        let head = |w: usize| (inputs.head_op_i[w], inputs.head_ctl_i[w], Roles(inputs.head_roles_i[w]));
        let straps = ScratchpadStraps::of(inputs.cfg_i);
        self.decided = self.claims(straps, inputs.clear_i, &inputs.sharers(), head);
        let Claims { clear, probe, lead, last, .. } = self.decided;
        (out.clear_o, out.probe_o, out.lead_o, out.last_o) = (clear, probe, lead, last);
        out.event_o = self.event(&self.decided, &inputs.progress());
        out.place_released_o = self.decided.is_released(inputs.place_warp_i).into();
    }

    fn clock(&mut self, inputs: &ScratchpadLocksIn, _: &ScratchpadLocksOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        let decided = self.decided;
        self.advance(&decided, &inputs.progress(), &inputs.sharers(), inputs.idle_i, |w| inputs.live_i[w]);
    }

    fn probe(&self, _: &ScratchpadLocksIn, _: &ScratchpadLocksOut, probe: &mut ScratchpadLocksProbe) {
        *probe = Ports::zeroed();
        (probe.lock_q, probe.through_q, probe.released_q) = (self.lock_q, self.through_q, self.released_q);
        probe.check_q = self.check_q.map(|check| check as u8);
    }
}

#[cfg(test)]
mod tests;
