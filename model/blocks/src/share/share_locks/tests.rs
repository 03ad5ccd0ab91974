//! The page's rules one by one, and the block against a reading of them warp by warp.

use super::*;
use crate::share::RegisterLayoutFields;
use crate::testing::{Driver, Random, SM_SHAPES, compare, divided, event, set_of};

/// Two ports, 8 warps.
const SHAPE: SmShape = SM_SHAPES[1];
/// Registers 0 and 1 are private.
const PRIVATE: u8 = 2;
const OLDEST: u8 = 0b110;
const FIRST: u8 = 0b111;
/// ATOM on global and on shared memory, CAS on global memory.
const ATOM: u64 = 0x43;
const ATOM_SHARED: u64 = 0x43 | 1 << 28;
const CAS: u64 = 0x44;
/// A texture fetch.
const TEX: u64 = 0x46;
/// LD and ST on global memory.
const LD: u64 = 0x40;
const ST: u64 = 0x41;

fn roles(names: [u8; 4]) -> u64 {
    let [a, b, c, d] = names;
    Roles::from(crate::instruction::RolesFields { a, b, c, d, ..Roles(0).fields() }).0
}

const NONE: [u8; 4] = [NO_REG; 4];

/// Two hosts and two guests of two warps each: slots 0 and 1, 2 and 3; partners are 0 and 4, 1 and 5, ... All live and have heads that name nothing. Guests
/// are younger, and may use memory.
fn locks(straps: u8) -> Driver<ShareLocks> {
    let mut locks = Driver::<ShareLocks>::new(&SHAPE);
    let inputs = &mut locks.inputs;
    (inputs.cfg_i, inputs.clear_i, inputs.alive_i, inputs.idle_i) = (straps, 0xff, 0xff, 0);
    inputs.layout_i = RegisterLayout::from(RegisterLayoutFields {
        guest_base: 40,
        host_warps: 4,
        private_registers: PRIVATE,
        registers: 10,
    })
    .0;
    (inputs.end_warps_i, inputs.slot_busy_i, inputs.slot_young_i, inputs.allow_i) = (8, 0b1111, 0b1100, 1);
    for w in 0..8 {
        inputs.slot_i[w] = w as u8 / 2;
        inputs.head_roles_i[w] = roles(NONE);
    }
    locks
}

impl Driver<ShareLocks> {
    /// Heads that name these registers.
    fn head(&mut self, warps: &[usize], names: [u8; 4]) {
        warps.iter().for_each(|&w| self.inputs.head_roles_i[w] = roles(names));
    }

    /// A cycle in which these warps issue; gives `clear_o`.
    fn issue(&mut self, warps: &[u8]) -> u64 {
        self.inputs.issue_valid_i = (1 << warps.len()) - 1;
        self.inputs.issue_warp_i[..warps.len()].copy_from_slice(warps);
        self.cycle().clear_o
    }

    /// Who has a lock now.
    fn owned(&mut self) -> u64 {
        self.inputs.issue_valid_i = 0;
        self.cycle();
        self.probe().lock_q
    }
}

fn count(out: &ShareLocksOut, name: &str) -> u64 {
    event(SHARE_EVENT, out.event_o, name)
}

#[test]
fn events_fill_their_word() {
    assert_eq!(SHARE_EVENT.iter().map(|field| field.1).sum::<u32>(), 40);
}

#[test]
fn names_that_are_not_private_need_the_lock() {
    for place in 0..4 {
        for (name, needs) in [(0, false), (1, false), (2, true), (9, true), (254, true), (NO_REG, false)] {
            let mut locks = locks(OLDEST);
            let mut names = NONE;
            names[place] = name;
            locks.head(&[4], names);
            assert_eq!(locks.issue(&[]), if needs { 0xef } else { 0xff }, "{place} {name}");
        }
    }
}

#[test]
fn the_older_block_never_waits_and_the_younger_one_until_its_partner_has_ended() {
    let mut locks = locks(OLDEST);
    locks.head(&[0, 1, 4, 5], [7, NO_REG, NO_REG, NO_REG]);
    assert_eq!(locks.issue(&[0]), 0xcf);
    assert_eq!(locks.issue(&[]), 0xcf);
    assert_eq!(locks.probe().lock_q, 0b1);
    locks.inputs.alive_i = 0xfe;
    assert_eq!(locks.issue(&[]), 0xcf, "something of the partner is in flight");
    locks.inputs.idle_i = 0b01;
    assert_eq!(locks.issue(&[4]), 0xdf, "it has ended");
    assert_eq!(locks.owned(), 1 << 4, "and its lock is the partner's");
    locks.inputs.clear_i = 0;
    assert_eq!(locks.issue(&[]), 0);
}

#[test]
fn who_is_young_is_said_by_the_slot() {
    let mut locks = locks(OLDEST);
    locks.inputs.slot_young_i = 0b0110;
    locks.head(&[0, 2, 4, 6], [NO_REG, 7, NO_REG, NO_REG]);
    assert_eq!(locks.issue(&[]), 0b1110_1011, "slots 1 and 2");
    locks.inputs.slot_young_i = 0b0011;
    assert_eq!(locks.issue(&[]), 0b1111_1010);
}

#[test]
fn the_first_that_asks_keeps_the_partner_block_out() {
    let mut locks = locks(FIRST);
    locks.head(&[4, 5], [7, NO_REG, NO_REG, NO_REG]);
    assert_eq!(locks.issue(&[4]), 0xff, "the partner's block does not ask");
    locks.head(&[0, 1, 2], [7, NO_REG, NO_REG, NO_REG]);
    assert_eq!(locks.issue(&[5, 2]), 0xfc, "its own block may go on, and another pair");
    assert_eq!(locks.owned(), 0b0011_0100);
    // Warps 4 and 5 end: the other block may go.
    (locks.inputs.alive_i, locks.inputs.idle_i) = (0xcf, 0b10_0000);
    assert_eq!(locks.issue(&[]), 0xfc);
    locks.inputs.idle_i = 0b11_0000;
    assert_eq!(locks.issue(&[]), 0xfc, "one cycle more: the edge takes the lock away");
    assert_eq!(locks.issue(&[0]), 0xff);
}

#[test]
fn of_two_blocks_that_ask_at_once_the_older_one_goes_first() {
    let mut locks = locks(FIRST);
    locks.head(&[1, 4], [7, NO_REG, NO_REG, NO_REG]);
    assert_eq!(locks.issue(&[]), 0xef);
    locks.inputs.slot_young_i = 0b0001;
    assert_eq!(locks.issue(&[]), 0xfd);
}

#[test]
fn warps_without_a_partner_need_no_lock() {
    let mut locks = locks(OLDEST);
    locks.inputs.slot_young_i = 0b1111;
    locks.head(&[0, 1, 2, 3, 4, 5], [7, NO_REG, NO_REG, NO_REG]);
    assert_eq!(locks.issue(&[]), 0b1100_0000);
    // One guest block only: the second host has none.
    locks.inputs.end_warps_i = 6;
    assert_eq!(locks.issue(&[2]), 0b1100_1100);
    assert_eq!(locks.owned(), 0, "nor do they take one");
    locks.inputs.end_warps_i = 4;
    assert_eq!(locks.issue(&[]) & 0xf, 0xf);
    // Without guests all are hosts.
    locks.inputs.layout_i = RegisterLayout::from(RegisterLayoutFields {
        host_warps: 8,
        private_registers: PRIVATE,
        ..RegisterLayout(0).fields()
    })
    .0;
    locks.inputs.end_warps_i = 8;
    assert_eq!(locks.issue(&[]), 0xff);
}

#[test]
fn returning_atomic_operations_of_the_younger_block_are_held() {
    let held = |straps: u8, op: u64, d: u8, busy: u16| {
        let mut locks = locks(straps);
        locks.inputs.slot_busy_i = busy;
        for w in [0, 4] {
            locks.inputs.head_op_i[w] = op;
            locks.inputs.head_roles_i[w] = roles([0, 0, 0, d]);
        }
        let out = locks.cycle();
        assert_eq!(out.clear_o | 1 << 4, 0xff, "the older one is not");
        assert_eq!(count(&out, "wait_hold"), u64::from(out.clear_o != 0xff));
        out.clear_o != 0xff
    };
    assert_eq!(
        [ATOM, CAS, ATOM_SHARED, 0x40, 0x41].map(|op| held(OLDEST, op, 1, 0xf)),
        [true, true, false, false, false]
    );
    assert!(!held(OLDEST, ATOM, NO_REG, 0xf), "it returns nothing");
    assert!(!held(OLDEST, ATOM, 1, 0b1110), "there is no partner block");
    assert!(held(OLDEST, ATOM, 1, 0b0001), "its own slot is not asked");
    assert!(!held(0b100, ATOM, 1, 0xf), "they are not to be held");
    assert!(!held(FIRST, ATOM, 1, 0xf), "first come, first served");
}

#[test]
fn memory_instructions_of_non_owners_are_throttled() {
    let throttled = |straps: u8, allow: u8, op: u64, busy: u16| {
        let mut locks = locks(straps);
        (locks.inputs.slot_busy_i, locks.inputs.allow_i) = (busy, allow);
        for w in [0, 4] {
            locks.inputs.head_op_i[w] = op;
        }
        let out = locks.cycle();
        assert_eq!(out.clear_o | 1 << 4, 0xff, "the older one is not");
        assert_eq!(count(&out, "wait_throttle"), u64::from(out.clear_o != 0xff));
        assert_eq!(count(&out, "wait_hold"), 0, "they return nothing");
        out.clear_o != 0xff
    };
    for straps in 0..8 {
        for op in [LD, ST, ATOM, CAS] {
            let of_space = |space: u64| throttled(straps, 0, op | space << 28, 0xf);
            assert_eq!([0, 1, 2, 3].map(of_space), [true, false, true, true], "all spaces but the shared one");
        }
        assert!(!throttled(straps, 0, 0x42, 0xf), "constants are no memory");
        // A fetch has no space: these bits belong to its access.
        assert!(throttled(straps, 0, TEX | 1 << 28, 0xf), "texture fetches are");
        assert!(!throttled(straps, 0, 0x10, 0xf), "nor is arithmetic");
        assert!(!throttled(straps, 1, LD, 0xf), "they may");
        assert!(!throttled(straps, 0, LD, 0b1110), "there is no partner block, and so no owner");
        assert!(throttled(straps, 0, LD, 0b0001), "its own slot is not asked");
    }
    let mut locks = locks(OLDEST);
    (locks.inputs.allow_i, locks.inputs.clear_i) = (0, 0xef);
    locks.inputs.head_op_i[4..6].fill(ST);
    let out = locks.cycle();
    assert_eq!((out.clear_o, count(&out, "wait_throttle")), (0xcf, 1), "a head that is not clear does not count");
}

#[test]
fn owners_are_preferred_and_non_owners_last_while_both_blocks_are_there() {
    let mut locks = locks(OLDEST);
    let classes = |locks: &mut Driver<ShareLocks>| {
        let out = locks.cycle();
        (out.lead_o, out.last_o, count(&out, "owners"), count(&out, "non_owners"))
    };
    assert_eq!(classes(&mut locks), (0x0f, 0xf0, 4, 4));
    locks.inputs.slot_young_i = 0b0110;
    assert_eq!(classes(&mut locks), (0b1100_0011, 0b0011_1100, 4, 4));
    locks.inputs.alive_i = 0b1111_1101;
    assert_eq!(classes(&mut locks), (0b1100_0001, 0b0011_1100, 3, 4), "a dead warp is in neither");
    locks.inputs.slot_busy_i = 0b0111;
    assert_eq!(classes(&mut locks), (0b1100_0001, 0b0011_0000, 3, 2), "the partner's slot of slot 1 is empty");
    locks.inputs.cfg_i = 0b010;
    assert_eq!(classes(&mut locks), (0, 0, 3, 2));
}

#[test]
fn events_count_locks() {
    let mut locks = locks(OLDEST);
    locks.head(&[0, 1, 4, 5, 6], [NO_REG, NO_REG, 7, NO_REG]);
    (locks.inputs.issue_valid_i, locks.inputs.issue_warp_i) = (0b11, [0, 7]);
    let out = locks.cycle();
    let all = ["wait_lock", "lock_take", "lock_free", "non_owner_issue"];
    assert_eq!(all.map(|name| count(&out, name)), [3, 1, 0, 1]);
    (locks.inputs.issue_valid_i, locks.inputs.alive_i, locks.inputs.idle_i) = (0, 0xfe, 0x0f);
    let out = locks.cycle();
    assert_eq!(all.map(|name| count(&out, name)), [2, 0, 1, 0]);
    assert_eq!(count(&locks.cycle(), "lock_free"), 0);
}

#[test]
fn reset_frees_all_locks() {
    let mut locks = locks(OLDEST);
    locks.head(&[0, 1], [7, NO_REG, NO_REG, NO_REG]);
    locks.issue(&[0]);
    locks.inputs.rst_ni = 0;
    locks.issue(&[1]);
    locks.inputs.rst_ni = 1;
    assert_eq!(locks.owned(), 0);
}

/// A reference model from the page, warp by warp.
struct Reference {
    lock: [bool; MAX_WARPS],
}

impl Reference {
    fn cycle(&mut self, i: &ShareLocksIn, warps: usize) -> (ShareLocksOut, ShareLocksProbe) {
        let mut probe = ShareLocksProbe::zeroed();
        probe.lock_q = set_of(|w| self.lock[w], warps);
        let layout = RegisterLayout(i.layout_i);
        let hosts = usize::from(layout.host_warps());
        let partner = |w: usize| if w < hosts { w + hosts } else { w - hosts };
        let slot = |w: usize| usize::from(i.slot_i[w]);
        let paired = |w: usize| is_set(i.alive_i, w) && (w >= hosts || w + hosts < usize::from(i.end_warps_i));
        let young = |w: usize| is_set(i.slot_young_i, slot(w));
        let ended = |w: usize| !is_set(i.alive_i, w) && is_set(i.idle_i, w);
        let names = |w: usize| {
            let roles = Roles(i.head_roles_i[w]);
            [roles.a(), roles.b(), roles.c(), roles.d()]
        };
        let wants = |w: usize| {
            paired(w) && is_set(i.clear_i, w) && names(w).iter().any(|&r| r != 255 && r >= layout.private_registers())
        };
        let asks = |w: usize| wants(w) && !self.lock[w];
        let block = |w: usize| (0..warps).filter(move |&v| slot(v) == slot(partner(w)));
        let may = |w: usize| match i.cfg_i & 1 {
            0 => !young(w) || ended(partner(w)),
            _ => {
                let goes_on = (0..warps).any(|v| slot(v) == slot(w) && self.lock[v]);
                !block(w).any(|v| self.lock[v]) && (!young(w) || goes_on || !block(w).any(asks))
            }
        };
        let held = |w: usize| {
            let (op, [.., d]) = (i.head_op_i[w], names(w));
            let atomic = matches!(op & 0x7f, 0x43 | 0x44) && op >> 28 & 3 != 1 && d != 255;
            let busy = |w: usize| is_set(i.slot_busy_i, slot(partner(w)));
            i.cfg_i & 0b11 == 0b10 && is_set(i.clear_i, w) && paired(w) && young(w) && busy(w) && atomic
        };
        let owner = |w: usize| paired(w) && is_set(i.slot_busy_i, slot(partner(w)));
        let throttled = |w: usize| {
            let op = i.head_op_i[w];
            let memory = op & 0x7f == TEX || [LD, ST, ATOM, CAS].contains(&(op & 0x7f)) && op >> 28 & 3 != 1;
            i.allow_i == 0 && is_set(i.clear_i, w) && owner(w) && young(w) && memory
        };
        let issues = |w: usize| set_bits(i.issue_valid_i).any(|p| usize::from(i.issue_warp_i[p]) == w);
        let mut out = ShareLocksOut::zeroed();
        let clear = |w: usize| is_set(i.clear_i, w) && (!asks(w) || may(w)) && !held(w) && !throttled(w);
        out.clear_o = set_of(clear, warps);
        let (owners, others) = (set_of(|w| owner(w) && !young(w), warps), set_of(|w| owner(w) && young(w), warps));
        if i.cfg_i & 0b100 != 0 {
            (out.lead_o, out.last_o) = (owners, others);
        }
        let issued = set_of(issues, warps);
        let sets = [
            set_of(|w| asks(w) && !may(w), warps),
            set_of(held, warps),
            set_of(throttled, warps),
            set_of(asks, warps) & issued,
            set_of(|w| self.lock[w] && ended(w), warps),
            owners,
            others,
            others & issued,
        ];
        for (&(_, bits), set) in SHARE_EVENT.iter().zip(sets) {
            out.event_o = out.event_o << bits | u64::from(set.count_ones());
        }
        let next =
            std::array::from_fn(|w| w < warps && i.rst_ni != 0 && (self.lock[w] || asks(w) && issues(w)) && !ended(w));
        self.lock = next;
        (out, probe)
    }
}

/// A division of the SM as the launcher makes it, and heads of which many name shared registers.
fn drive(random: &mut Random, inputs: &mut ShareLocksIn, warps: usize) {
    let (host_warps, end_warps) = divided(random, warps, &mut inputs.slot_i);
    inputs.layout_i = RegisterLayout::from(RegisterLayoutFields {
        host_warps,
        private_registers: 3,
        ..RegisterLayout(inputs.layout_i).fields()
    })
    .0;
    inputs.end_warps_i = end_warps;
    for w in 0..warps {
        let name = |random: &mut Random| if random.chance(70) { NO_REG } else { random.below(5) as u8 };
        inputs.head_roles_i[w] = roles(std::array::from_fn(|_| name(random)));
        if random.chance(40) {
            inputs.head_op_i[w] = [ATOM, CAS, ATOM_SHARED, LD, ST][random.below(5)];
        }
    }
    if random.chance(20) {
        inputs.alive_i = u64::MAX >> (64 - warps);
    }
    inputs.rst_ni = u8::from(!random.chance(1));
    let first = random.below(warps);
    inputs.issue_warp_i = [first as u8, ((first + 1 + random.below(warps - 1)) % warps) as u8];
}

#[test]
fn the_block_does_what_the_page_says_of_each_warp() {
    for shape in [SHAPE, SmShape { warps: 48, ..SM_SHAPES[0] }] {
        let mut reference = Reference { lock: [false; MAX_WARPS] };
        let warps = shape.warps;
        compare::<ShareLocks>(
            &shape,
            20000,
            |random, inputs| drive(random, inputs, warps),
            |inputs| reference.cycle(inputs, warps),
        );
    }
}
