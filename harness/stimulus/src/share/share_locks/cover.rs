//! Coverage of `share_locks`.

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::{NO_REG, Roles};
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::share::{RegisterLayout, RegisterLayoutFields, ShareLocksIn, ShareLocksOut, ShareLocksProbe};

use crate::{Points, cover};

pub(crate) struct ShareLocksCover {
    shape: SmShape,
    /// The locks of the previous cycle, and the warps whose block was young in it.
    before: (u64, u64),
}

/// A warp that shares registers.
struct Pair {
    partner: usize,
    /// Whether its block began after that of its partner.
    young: bool,
    /// Whether its partner's slot has a block.
    busy: bool,
}

fn pair(i: &ShareLocksIn, layout: &RegisterLayoutFields, w: usize) -> Option<Pair> {
    let hosts = usize::from(layout.host_warps);
    let partner = if w < hosts { w + hosts } else { w - hosts };
    let paired = i.alive_i >> w & 1 == 1 && (w >= hosts || partner < usize::from(i.end_warps_i));
    paired.then(|| {
        let bit = |set: u16, warp: usize| set >> i.slot_i[warp] & 1 == 1;
        Pair { partner, young: bit(i.slot_young_i, w), busy: bit(i.slot_busy_i, partner) }
    })
}

/// Bits of the straps.
const FIRST: u8 = 1;
const HOLD: u8 = 2;
const OWNER_FIRST: u8 = 4;

#[cover]
impl ShareLocksCover {
    const PLACES: [&str; 4] = ["a", "b", "c", "d"];
    const MEMORY: [&str; 4] = ["LD", "ST", "ATOM", "CAS"];

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape, before: (0, 0) }
    }

    fn observe(&mut self, i: &ShareLocksIn, o: &ShareLocksOut, p: &ShareLocksProbe, points: &mut Points) {
        let layout = RegisterLayout(i.layout_i).fields();
        let first = i.cfg_i & FIRST != 0;
        let ended = !i.alive_i & i.idle_i;
        let lock = p.lock_q;
        let mut issues = 0u64;
        for port in (0..self.shape.ports()).filter(|port| i.issue_valid_i >> port & 1 == 1) {
            issues |= 1 << i.issue_warp_i[port];
        }
        let needs = |w: usize| {
            let roles = Roles(i.head_roles_i[w]);
            let names = [roles.a(), roles.b(), roles.c(), roles.d()];
            names.iter().any(|&name| name != NO_REG && name >= layout.private_registers)
        };
        let asking = (0..self.shape.warps)
            .filter(|&w| i.clear_i & !lock & 1 << w != 0 && needs(w) && pair(i, &layout, w).is_some())
            .fold(0u64, |set, w| set | 1 << w);
        let mut young_now = 0;
        for w in 0..self.shape.warps {
            let bit = 1 << w;
            let (alive, clear) = (i.alive_i & bit != 0, i.clear_i & bit != 0);
            let roles = Roles(i.head_roles_i[w]);
            let names = [roles.a(), roles.b(), roles.c(), roles.d()];
            let shared = names.map(|name| name != NO_REG && name >= layout.private_registers);
            let Some(Pair { partner, young, busy }) = pair(i, &layout, w) else {
                let free = alive && clear && shared.contains(&true) && o.clear_o & bit != 0;
                point!("a warp without a partner has a name above the private ones", free);
                continue;
            };
            young_now |= u64::from(young) << w;
            let other = 1 << partner;
            let goes = o.clear_o & bit != 0;
            let op = i.head_op_i[w];
            let in_shared = op >> 28 & 3 == 1;
            let memory = [0x40, 0x41, 0x43, 0x44].iter().position(|&opcode| op & 0x7f == opcode);
            let outside = clear && memory.is_some() && !in_shared;
            let throttled = outside && i.allow_i == 0 && young && busy;
            // It waits for another reason than the throttle.
            let waits = !goes && !throttled;
            let asks = clear && shared.contains(&true) && lock & bit == 0;
            for place in 0..4 {
                let alone = shared.iter().enumerate().all(|(k, &s)| s == (k == place));
                point!("{PLACES[place]} alone asks for the lock", asks && alone);
            }
            let border = names.iter().any(|&n| n != NO_REG && n + 1 == layout.private_registers);
            point!("the last private name does not ask", clear && border && !shared.contains(&true) && goes);
            point!("no register asks for nothing", clear && names == [NO_REG; 4] && lock & bit == 0);
            point!("the first shared name asks", asks && names.contains(&layout.private_registers));
            point!("a warp that has the lock may issue", clear && shared.contains(&true) && lock & bit != 0 && goes);
            point!("a lock is taken", asks && issues & bit != 0);
            point!("a lock could be taken, and the head does not issue", asks && goes && issues & bit == 0);
            point!("a warp that is not clear would ask", !clear && shared.contains(&true) && alive);
            // The rule `oldest`.
            let partner_ended = ended & other != 0;
            point!("oldest: the older one takes it", !first && asks && !young && goes);
            point!("oldest: the younger one waits", !first && asks && young && waits && busy);
            point!(
                "oldest: the younger one takes it, as its partner has ended while others of that block go on",
                !first && asks && young && goes && busy && partner_ended
            );
            let dead = i.alive_i & other == 0 && i.idle_i & other == 0;
            point!("oldest: the partner is dead, with something in flight", !first && asks && young && dead);
            point!("oldest: the younger one takes it, as there is no partner", !first && asks && young && !busy);
            // The rule `first`.
            let of_block = |warp: usize| {
                let slot = i.slot_i[warp];
                (0..self.shape.warps)
                    .filter(move |&v| i.slot_i[v] == slot && v < usize::from(i.end_warps_i))
                    .fold(0u64, |set, v| set | 1 << v)
            };
            let theirs = lock & of_block(partner);
            point!("first: the partner itself has it", first && asks && theirs & other != 0 && waits);
            point!("first: another warp of its block has one", first && asks && theirs != 0 && theirs & other == 0);
            point!("first: the younger one takes it", first && asks && young && goes && busy);
            point!("first: the older one waits", first && asks && !young && !goes);
            let own = lock & of_block(w);
            let both = first && asks && young && own != 0 && asking & of_block(partner) != 0;
            point!("first: a younger block that has locks may issue, though the older one asks", both && goes);
            point!("first: the older block asks in the same cycle", first && asks && young && waits && theirs == 0);
            // Atomic operations.
            let atomic = matches!(op & 0x7f, 0x43 | 0x44);
            let result = roles.d() != NO_REG;
            let holds = i.cfg_i & HOLD != 0 && !first && young && busy && clear;
            point!("an atomic operation is held", holds && atomic && !in_shared && result && !goes);
            point!("ATOM is held", holds && op & 0x7f == 0x43 && !in_shared && result);
            point!("CAS is held", holds && op & 0x7f == 0x44 && !in_shared && result);
            point!("one without a result is not", holds && atomic && !in_shared && !result);
            point!("one of shared memory is not", holds && atomic && in_shared && result);
            let elsewhere = clear && atomic && !in_shared && result;
            point!("one of the older block is not", elsewhere && !young && busy && i.cfg_i & HOLD != 0 && !first);
            point!("one is not, without the strap", elsewhere && young && busy && i.cfg_i & HOLD == 0 && !first);
            point!("one is not, with the other rule", elsewhere && young && busy && i.cfg_i & HOLD != 0 && first);
            point!("one is not, as the older block has ended", elsewhere && young && !busy && i.cfg_i & HOLD != 0);
            // The throttle.
            for k in 0..4 {
                point!("{MEMORY[k]} is throttled", throttled && memory == Some(k) && !goes);
            }
            let closed = i.allow_i == 0 && clear && busy;
            point!(
                "an access of shared memory is not throttled",
                closed && young && memory.is_some() && in_shared && goes
            );
            point!("an instruction that accesses no memory is not", closed && young && memory.is_none() && goes);
            point!("one of an owner is not", closed && outside && !young && goes);
            point!("one is not, as there is no owner", i.allow_i == 0 && outside && young && !busy && goes);
            point!("one of a non-owner is allowed", i.allow_i == 1 && outside && young && busy && goes);
            point!("one is throttled, with the other rule", throttled && first);
            point!("one is throttled that would have its lock", throttled && shared.contains(&true) && lock & bit != 0);
            point!("one is throttled, and asks for its lock", throttled && asks);
            point!("one is throttled and held", throttled && holds && atomic && result);
            point!("a warp of an owner is preferred", o.lead_o & bit != 0);
            point!("a warp of a non-owner is taken last", o.last_o & bit != 0);
            point!("a non-owner issues", young && busy && issues & bit != 0);
            point!("no warp is preferred without the strap", busy && i.cfg_i & OWNER_FIRST == 0);
            point!("a paired warp whose partner's slot is empty", !busy && i.cfg_i & OWNER_FIRST != 0);
        }
        let two = (self.shape.ports() == 2 && issues.count_ones() == 2 && issues & lock == 0) && {
            let takes = |w: usize| pair(i, &layout, w).is_some() && issues >> w & 1 == 1;
            (0..self.shape.warps).filter(|&w| takes(w)).count() == 2
        };
        point!("two warps of pairs issue without locks", two, given = self.shape.ports() == 2);
        point!("a lock is taken from a warp that has ended", lock & ended != 0);
        point!("a lock is kept, as something is in flight", lock & !i.alive_i & !ended != 0);
        point!("a block that was younger is the older one", self.before.1 & !young_now & i.alive_i != 0);
        point!("two locks at once", lock.count_ones() > 1);
        point!("a warp keeps its lock from the cycle before", lock & self.before.0 != 0);
        self.before = (lock, young_now);
    }
}
