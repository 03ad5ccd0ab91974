//! `share_locks`: which warps may access shared registers. `docs/blocks/share_locks.md`.

use crate::instruction::{NO_REG, Roles, returning_atomic, uses_memory};
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{is_set, pack, set_bits};
use crate::shape::{BLOCK_SLOTS, SLOT_BITS, SmShape};
use crate::share::RegisterLayout;
use crate::share::pairs::{Division, Pairs, Slots};
use crate::sizes::MAX_WARPS;
use crate::{Block, Decode, Ports, WARP_BITS, field, packed, ports};

/// Fields of `share_event_t`, most significant first.
pub const SHARE_EVENT: &[(&str, u32)] = &[
    ("wait_lock", 6),
    ("wait_hold", 6),
    ("wait_throttle", 6),
    ("lock_take", 2),
    ("lock_free", 6),
    ("owners", 6),
    ("non_owners", 6),
    ("non_owner_issue", 2),
];

/// Fields of `share_straps_t`, most significant first.
pub const SHARE_STRAPS: &[(&str, u32)] = &[("owner_first", 1), ("hold", 1), ("first", 1)];

/// Width of `cfg_i`.
const STRAPS_BITS: u32 = 3;

ports! {
    /// Inputs of [`ShareLocks`].
    pub struct ShareLocksIn(s: &SmShape) {
        /// The warp's head may issue as far as its results and predicates go.
        clear_i: u64 = field(s.warps),
        /// Warps with living lanes.
        alive_i: u64 = field(s.warps),
        /// Warps of which nothing is in flight.
        idle_i: u64 = field(s.warps),
        /// Layout of the register file.
        layout_i: u64 = packed::<RegisterLayout>(),
        /// Roles of each warp's head.
        head_roles_i: [u64; MAX_WARPS] = packed::<Roles>().count(s.warps).valid_by("clear_i"),
        /// Operation word of each warp's head.
        head_op_i: [u64; MAX_WARPS] = field(64).count(s.warps).valid_by("clear_i"),
        /// Block slots with a block.
        slot_busy_i: u16 = field(BLOCK_SLOTS),
        /// Block slots whose block is the younger one of its pair.
        slot_young_i: u16 = field(BLOCK_SLOTS),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Straps: who gets a lock, whether atomic operations wait, whether owners are preferred.
        cfg_i: u8 = field(STRAPS_BITS).shown(Decode::Packed(SHARE_STRAPS)),
        /// Memory instructions of non-owners may issue.
        allow_i: u8 = field(1),
        /// Port p issues.
        issue_valid_i: u8 = field(s.ports()),
        /// Warp that port p issues.
        issue_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Warps of all block slots.
        end_warps_i: u8 = field(WARP_BITS + 1),
        /// Block slot of each warp.
        slot_i: [u8; MAX_WARPS] = field(SLOT_BITS).count(s.warps),
    }
}

ports! {
    /// Outputs of [`ShareLocks`].
    pub struct ShareLocksOut(s: &SmShape) {
        /// The warp's head may issue as far as locks go, too.
        clear_o: u64 = field(s.warps),
        /// Warps that the scheduler prefers.
        lead_o: u64 = field(s.warps),
        /// Warps that the scheduler takes last.
        last_o: u64 = field(s.warps),
        /// Locks and who waits for them: `share_event_t`.
        event_o: u64 = field(40).shown(Decode::Packed(SHARE_EVENT)),
    }
}

ports! {
    /// State of [`ShareLocks`].
    pub struct ShareLocksProbe(s: &SmShape) {
        /// Warps that have the lock of their pair.
        lock_q: u64 = field(s.warps),
    }
}

/// The straps: `share_straps_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShareStraps {
    /// A lock is taken by whichever block of a pair comes first; otherwise the older one never waits.
    pub first: bool,
    /// Returning atomic operations of younger blocks wait.
    pub hold: bool,
    /// The scheduler prefers owners.
    pub owner_first: bool,
}

impl ShareStraps {
    /// Decodes the straps on `cfg_i`.
    #[inline]
    pub fn of(word: u8) -> Self {
        Self { first: word & 1 != 0, hold: word & 2 != 0, owner_first: word & 4 != 0 }
    }

    /// The straps in the form of `cfg_i`.
    pub fn word(self) -> u8 {
        u8::from(self.first) | u8::from(self.hold) << 1 | u8::from(self.owner_first) << 2
    }
}

/// How the SM is divided, and the state of its warps: the inputs of locks besides heads.
#[derive(Clone, Copy, Debug)]
pub struct Divided {
    /// Warps with living lanes.
    pub alive: u64,
    /// Warps of which nothing is in flight.
    pub idle: u64,
    /// How the register file is divided.
    pub layout: RegisterLayout,
    /// Warps of all block slots.
    pub end_warps: u8,
    /// Block slots with a block.
    pub slot_busy: u16,
    /// Block slots whose block is the younger one of its pair.
    pub slot_young: u16,
    /// Memory instructions of non-owners may issue.
    pub allow: bool,
}

impl Divided {
    #[inline]
    fn division(&self) -> Division {
        let Self { alive, end_warps, slot_busy, slot_young, .. } = *self;
        Division { alive, host_warps: self.layout.host_warps(), end_warps, slot_busy, slot_young }
    }
}

/// Decisions of one cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Heads that may issue as far as locks allow.
    pub clear: u64,
    /// Warps that the scheduler prefers.
    pub lead: u64,
    /// Warps that the scheduler takes last.
    pub last: u64,
    /// Warps that ask for their lock: they take it if they issue.
    asks: u64,
    /// Warps that ask for their lock and may not take it.
    waits: u64,
    /// Heads that are held.
    held: u64,
    /// Heads that are throttled.
    throttled: u64,
    /// Warps of owners, and of non-owners.
    owners: u64,
    non_owners: u64,
    /// Warps that have ended.
    ended: u64,
}

/// Keeps the locks of pairs of warps, and decides whose heads wait for a lock (sharing thesis 2.2.1 to 2.2.3).
///
/// A direct caller reports when the slots of warps change ([`place`](Self::place)), asks ([`allowed`](Self::allowed), [`event`](Self::event)) and
/// ends the cycle with [`advance`](Self::advance).
#[derive(Clone)]
pub struct ShareLocks {
    lock_q: u64,
    slots: Slots,
    /// Used only when the block runs alone: the decisions of the cycle, for its edge.
    decided: Allowed,
}

impl ShareLocks {
    /// Sets the block slot of each warp.
    #[inline]
    pub fn place(&mut self, slot: &[u8; MAX_WARPS]) {
        self.slots.place(slot);
    }

    /// Decides which heads of `clear` may issue; `head` gives their roles and operation word.
    #[inline]
    pub fn allowed(
        &self,
        straps: ShareStraps,
        clear: u64,
        at: &Divided,
        head: impl Fn(usize) -> (Roles, u64),
    ) -> Allowed {
        let pairs = Pairs::of(&at.division(), &self.slots);
        let (paired, young) = (pairs.paired, pairs.young);
        let ended = !at.alive & at.idle;

        let (mut wants, mut atomic, mut memory) = (0, 0, 0);
        for w in set_bits(clear & paired) {
            let (roles, op) = head(w);
            wants |= u64::from(is_shared(roles, at.layout.private_registers())) << w;
            atomic |= u64::from(returning_atomic(op, roles.d())) << w;
            memory |= u64::from(uses_memory(op)) << w;
        }
        let asks = wants & !self.lock_q;
        let may =
            if straps.first { self.may_take_first(asks, &pairs) } else { asks & (!young | pairs.partners(ended)) };
        let (owners, non_owners) = (pairs.owners(), pairs.non_owners());
        let held = if straps.hold && !straps.first { atomic & non_owners } else { 0 };
        let waits = asks & !may;
        let throttled = if at.allow { 0 } else { memory & non_owners };
        let (lead, last) = if straps.owner_first { (owners, non_owners) } else { (0, 0) };
        let clear = clear & !waits & !held & !throttled;
        Allowed { clear, lead, last, asks, waits, held, throttled, owners, non_owners, ended }
    }

    /// Warps that ask and may take their lock with the rule *first*: no warp of the partner's block has one. If the own block is younger and has none,
    /// no warp of the partner's block asks either.
    #[inline]
    fn may_take_first(&self, asks: u64, pairs: &Pairs) -> u64 {
        let may = |&w: &usize| {
            let block = self.slots.warps(self.slots.of(pairs.partner(w)));
            let goes_on = self.lock_q & self.slots.warps(self.slots.of(w)) != 0;
            self.lock_q & block == 0 && (!is_set(pairs.young, w) || goes_on || asks & block == 0)
        };
        set_bits(asks).filter(may).fold(0, |all, w| all | 1 << w)
    }

    /// `share_event_t` of a cycle in which a set of warps issues.
    #[inline]
    pub fn event(&self, allowed: &Allowed, issued: u64) -> u64 {
        let sets = [
            allowed.waits,
            allowed.held,
            allowed.throttled,
            issued & allowed.asks,
            self.lock_q & allowed.ended,
            allowed.owners,
            allowed.non_owners,
            issued & allowed.non_owners,
        ];
        pack(SHARE_EVENT, sets.map(u64::count_ones))
    }

    /// Clock edge at which a set of warps issues.
    #[inline]
    pub fn advance(&mut self, allowed: &Allowed, issued: u64) {
        self.lock_q = (self.lock_q | issued & allowed.asks) & !allowed.ended;
    }

    /// Whether no lock changes as long as no warp issues.
    pub fn is_still(&self, alive: u64, idle: u64) -> bool {
        self.lock_q & !alive & idle == 0
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        self.lock_q = 0;
    }
}

/// Whether an instruction names a register that is not private.
#[inline]
fn is_shared(roles: Roles, private: u8) -> bool {
    let [a, b, c] = roles.sources();
    [a, b, c, roles.d()].into_iter().any(|reg| reg != NO_REG && reg >= private)
}

/// The set of warps that issue.
fn issued(inputs: &ShareLocksIn) -> u64 {
    set_bits(inputs.issue_valid_i).fold(0, |warps, p| warps | 1 << inputs.issue_warp_i[p])
}

impl Block for ShareLocks {
    const NAME: &'static str = "share_locks";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts"];

    type Shape = SmShape;
    type In = ShareLocksIn;
    type Out = ShareLocksOut;
    type Probe = ShareLocksProbe;

    fn new(shape: &SmShape) -> Self {
        Self { lock_q: 0, slots: Slots::new(shape), decided: Allowed::default() }
    }

    fn early(&self, _: &mut ShareLocksOut) {}

    fn late(&mut self, inputs: &ShareLocksIn, out: &mut ShareLocksOut) {
        self.place(&inputs.slot_i);
        let divided = Divided {
            alive: inputs.alive_i,
            idle: inputs.idle_i,
            layout: RegisterLayout(inputs.layout_i),
            end_warps: inputs.end_warps_i,
            slot_busy: inputs.slot_busy_i,
            slot_young: inputs.slot_young_i,
            allow: inputs.allow_i != 0,
        };
        let head = |w: usize| (Roles(inputs.head_roles_i[w]), inputs.head_op_i[w]);
        self.decided = self.allowed(ShareStraps::of(inputs.cfg_i), inputs.clear_i, &divided, head);
        (out.clear_o, out.lead_o, out.last_o) = (self.decided.clear, self.decided.lead, self.decided.last);
        out.event_o = self.event(&self.decided, issued(inputs));
    }

    fn clock(&mut self, inputs: &ShareLocksIn, _: &ShareLocksOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        let decided = self.decided;
        self.advance(&decided, issued(inputs));
    }

    fn probe(&self, _: &ShareLocksIn, _: &ShareLocksOut, probe: &mut ShareLocksProbe) {
        *probe = Ports::zeroed();
        probe.lock_q = self.lock_q;
    }
}

#[cfg(test)]
mod tests;
