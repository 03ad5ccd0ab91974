//! The page's rules one by one, and the block against a reading of them warp by warp.

use super::*;
use crate::instruction::{NO_REG, RolesFields};
use crate::share::RegisterLayoutFields;
use crate::testing::{Driver, Random, SM_SHAPES, compare, divided, event, set_of};

/// Two ports, 8 warps.
const SHAPE: SmShape = SM_SHAPES[1];
const OLDEST: u8 = 0b0110;
const FIRST: u8 = 0b0111;
const MARK: u8 = 0b1000;
/// LD, ST, ATOM and CAS on shared memory; LD on a generic address; LD on global memory.
const LD: u64 = 0x40 | 1 << 28;
const ST: u64 = 0x41 | 1 << 28;
const ATOM: u64 = 0x43 | 1 << 28;
const CAS: u64 = 0x44 | 1 << 28;
const LD_GENERIC: u64 = 0x40 | 3 << 28;
const LD_GLOBAL: u64 = 0x40;
const RELSSP: u64 = 0x08;
const NOP: u64 = 0x01;
/// The private mark.
const PRIVATE: u64 = 1 << 61;
const NONE: u8 = 0;
const IN_FLIGHT: u8 = 1;
const KNOWN_PRIVATE: u8 = 2;
const COMMON: u8 = 3;

/// Two hosts and two guests of two warps each: slots 0 and 1, 2 and 3; partners are 0 and 4, 1 and 5, ... All live and have heads that need nothing. Guests are
/// younger.
fn locks(straps: u8) -> Driver<ScratchpadLocks> {
    let mut locks = Driver::<ScratchpadLocks>::new(&SHAPE);
    let inputs = &mut locks.inputs;
    (inputs.cfg_i, inputs.clear_i, inputs.idle_i) = (straps, 0xff, 0);
    inputs.layout_i = RegisterLayout::from(RegisterLayoutFields { host_warps: 4, ..RegisterLayout(0).fields() }).0;
    (inputs.end_warps_i, inputs.slot_busy_i, inputs.slot_young_i) = (8, 0b1111, 0b1100);
    for w in 0..8 {
        inputs.slot_i[w] = w as u8 / 2;
        (inputs.head_op_i[w], inputs.live_i[w]) = (NOP, 0xff);
    }
    locks
}

impl Driver<ScratchpadLocks> {
    /// Heads of these warps.
    fn head(&mut self, warps: &[usize], op: u64) {
        warps.iter().for_each(|&w| self.inputs.head_op_i[w] = op);
    }

    /// A cycle in which these warps issue, with lanes; gives `clear_o` and `probe_o`.
    fn issue(&mut self, warps: &[u8]) -> (u64, u64) {
        let out = self.issued(warps, u8::MAX);
        (out.clear_o, out.probe_o)
    }

    fn issued(&mut self, warps: &[u8], with_lanes: u8) -> ScratchpadLocksOut {
        self.inputs.issue_valid_i = (1 << warps.len()) - 1;
        self.inputs.set_valid_i = self.inputs.issue_valid_i & with_lanes;
        self.inputs.issue_warp_i[..warps.len()].copy_from_slice(warps);
        let out = self.cycle();
        (self.inputs.issue_valid_i, self.inputs.answer_valid_i, self.inputs.start_valid_i) = (0, 0, 0);
        out
    }

    /// A probe of the warp is answered in the next cycle.
    fn probed(&mut self, warp: u8, shared: bool) {
        (self.inputs.answer_valid_i, self.inputs.answer_release_i) = (1, 0);
        (self.inputs.answer_warp_i, self.inputs.answer_shared_i) = (warp, shared.into());
    }

    /// A release of the warp is performed in the next cycle.
    fn release(&mut self, warp: u8, mask: u32) {
        (self.inputs.answer_valid_i, self.inputs.answer_release_i, self.inputs.answer_shared_i) = (1, 1, 0);
        (self.inputs.answer_warp_i, self.inputs.answer_mask_i) = (warp, mask);
    }

    /// Releases of all lanes of these warps.
    fn release_all(&mut self, warps: &[u8]) {
        for &warp in warps {
            self.release(warp, 0xff);
            self.issue(&[]);
        }
    }

    /// Who has a lock now, and what is known of heads.
    fn state(&mut self) -> ScratchpadLocksProbe {
        self.issue(&[]);
        *self.probe()
    }
}

fn count(out: &ScratchpadLocksOut, name: &str) -> u64 {
    event(SCRATCHPAD_EVENT, out.event_o, name)
}

#[test]
fn events_fill_their_word() {
    assert_eq!(SCRATCHPAD_EVENT.iter().map(|field| field.1).sum::<u32>(), 45);
    for word in 0..16 {
        assert_eq!(ScratchpadStraps::of(word).word(), word);
    }
}

#[test]
fn unmarked_accesses_in_shared_and_generic_space_are_probed() {
    let generic = |op: u64| op | 3 << 28;
    let global = |op: u64| op & !(3 << 28);
    for (op, probed) in [
        (LD, true),
        (ST, true),
        (ATOM, true),
        (CAS, true),
        (LD_GENERIC, true),
        (generic(ST), true),
        (generic(ATOM), true),
        (generic(CAS), false),
        (LD_GLOBAL, false),
        (global(ATOM), false),
        (LD ^ 3 << 28, false),
        (RELSSP | 1 << 28, false),
        (0x42 | 1 << 28, false),
    ] {
        for (ctl, probed) in [(0, probed), (!PRIVATE, probed), (PRIVATE, false)] {
            let mut locks = locks(OLDEST & !0b10);
            locks.head(&[4], op);
            locks.inputs.head_ctl_i[4] = ctl;
            assert_eq!(locks.issue(&[]), (0xff, u64::from(probed) << 4), "{op:#x} {ctl:#x}");
        }
    }
}

#[test]
fn a_probe_finds_out_and_a_private_access_issues_without_the_lock() {
    let mut locks = locks(OLDEST);
    locks.head(&[4], LD);
    assert_eq!(locks.issue(&[4]), (0xff, 0x10));
    assert_eq!(locks.issue(&[]), (0xef, 0), "in flight");
    locks.probed(4, false);
    assert_eq!(locks.issue(&[]), (0xef, 0));
    assert_eq!(locks.probe().check_q[4], IN_FLIGHT);
    assert_eq!(locks.issue(&[]), (0xff, 0), "it may issue");
    assert_eq!(locks.probe().check_q[4], KNOWN_PRIVATE);
    assert_eq!(locks.issue(&[4]), (0xff, 0));
    let state = locks.state();
    assert_eq!((state.lock_q, state.check_q[4]), (0, NONE), "the next head is probed again");
    assert_eq!(locks.issue(&[]), (0xff, 0x10));
}

#[test]
fn an_access_in_the_common_area_waits_for_the_older_block() {
    let mut locks = locks(OLDEST);
    locks.head(&[4], LD);
    locks.issue(&[4]);
    locks.probed(4, true);
    locks.issue(&[]);
    assert_eq!(locks.issue(&[]), (0xef, 0));
    assert_eq!(locks.probe().check_q[4], COMMON);
    // The older block ends.
    locks.inputs.slot_busy_i = 0b1110;
    assert_eq!(locks.issue(&[4]), (0xff, 0));
    let state = locks.state();
    assert_eq!((state.lock_q, state.check_q[4]), (0b100, NONE));
    // With the lock nothing is probed, for no warp of the block.
    locks.head(&[5], LD);
    locks.inputs.slot_busy_i = 0b1111;
    assert_eq!(locks.issue(&[]), (0xff, 0));
    locks.inputs.slot_busy_i = 0b1011;
    locks.issue(&[]);
    assert_eq!(locks.state().lock_q, 0, "its end takes it away");
}

#[test]
fn the_older_block_takes_the_lock_without_a_probe() {
    let mut locks = locks(OLDEST);
    locks.head(&[0, 1], LD);
    let out = locks.issued(&[0, 1], 0);
    assert_eq!(
        (out.clear_o, out.probe_o, count(&out, "lock_take")),
        (0xff, 0, 1),
        "both for the same lock, without lanes"
    );
    assert_eq!(locks.state().lock_q, 1);
}

#[test]
fn a_probe_without_lanes_is_private() {
    let mut locks = locks(OLDEST);
    locks.head(&[4], LD);
    let out = locks.issued(&[4], 0);
    assert_eq!((out.probe_o, count(&out, "probe")), (0x10, 0));
    let state = locks.state();
    assert_eq!((state.check_q[4], state.lock_q), (KNOWN_PRIVATE, 0));
}

#[test]
fn a_release_of_all_lanes_of_all_warps_hands_the_lock_over() {
    let mut locks = locks(OLDEST);
    locks.head(&[0, 4], LD);
    locks.issue(&[0]);
    assert_eq!(locks.state().lock_q, 1);
    locks.head(&[0, 1], RELSSP);
    locks.issue(&[0, 1]);
    assert_eq!(locks.issue(&[]), (0xfc, 0x10), "nothing of a warp issues until its release is performed");
    locks.release(0, 0x7f);
    locks.issue(&[]);
    let state = locks.state();
    assert_eq!((state.check_q[0], state.released_q[0], state.through_q), (NONE, 0x7f, 0));
    locks.release(1, 0xff);
    let out = locks.issued(&[], 0);
    assert_eq!(count(&out, "released"), 1);
    assert_eq!((locks.state().through_q, locks.state().lock_q), (0b10, 1));
    locks.release(0, 0x80);
    locks.issue(&[]);
    assert_eq!(locks.issue(&[]), (0xff, 0), "through: the younger one needs no probe, the lock is free");
    let state = locks.state();
    assert_eq!((state.through_q, state.lock_q), (0b11, 0));
    // The younger one takes it; the older one does not ask any more.
    locks.head(&[1], LD);
    let out = locks.issued(&[4, 1], u8::MAX);
    assert_eq!((out.probe_o, count(&out, "lock_take")), (0, 1));
    assert_eq!(locks.state().lock_q, 0b100);
}

#[test]
fn a_block_that_is_through_may_not_access_the_common_area() {
    let mut locks = locks(OLDEST);
    let released = |locks: &mut Driver<ScratchpadLocks>| {
        std::array::from_fn(|w| {
            locks.inputs.place_warp_i = w as u8;
            locks.issued(&[], 0).place_released_o
        })
    };
    assert_eq!(released(&mut locks), [0; 8]);
    locks.release_all(&[0, 1, 2, 3, 6, 7]);
    assert_eq!(released(&mut locks), [1, 1, 1, 1, 0, 0, 1, 1]);
    locks.inputs.end_warps_i = 6;
    assert_eq!(released(&mut locks), [1, 1, 0, 0, 0, 0, 1, 1], "slot 1 has no partner");
    locks.inputs.slot_busy_i = 0b1110;
    assert_eq!(released(&mut locks), [0, 0, 0, 0, 0, 0, 1, 1]);
}

#[test]
fn lanes_that_have_ended_count_once_nothing_of_the_warp_is_in_flight() {
    let mut locks = locks(OLDEST);
    locks.release(0, 0xf);
    locks.issue(&[]);
    locks.inputs.live_i[0] = 0xf;
    assert_eq!(locks.state().through_q, 0, "an access of those that have ended may be in flight");
    locks.inputs.idle_i = 1;
    locks.issue(&[]);
    assert_eq!(locks.state().through_q, 1);
    // Of another warp all lanes end.
    locks.inputs.live_i[1] = 0;
    assert_eq!(locks.state().through_q, 1);
    locks.inputs.idle_i = 0b10;
    locks.issue(&[]);
    assert_eq!(locks.state().through_q, 0b11);
}

#[test]
fn a_warp_that_begins_has_released_nothing() {
    let mut locks = locks(OLDEST);
    locks.release_all(&[0, 1]);
    locks.head(&[4], LD);
    assert_eq!(locks.issue(&[]).1, 0, "the older block is through");
    (locks.inputs.start_valid_i, locks.inputs.start_warp_i) = (1, 1);
    assert_eq!(locks.issue(&[]).1, 0x10, "it is not while it begins");
    let state = locks.state();
    assert_eq!((state.through_q, state.released_q[0], state.released_q[1]), (0b01, 0xff, 0));
    // Its beginning wins over a release and an end.
    locks.release(0, 0xff);
    (locks.inputs.start_valid_i, locks.inputs.start_warp_i, locks.inputs.idle_i) = (1, 0, 0xff);
    locks.issue(&[]);
    locks.inputs.idle_i = 0;
    let state = locks.state();
    assert_eq!((state.through_q, state.released_q[0], state.check_q[0]), (0, 0, NONE));
}

#[test]
fn of_first_who_is_known_to_need_it_gets_the_lock() {
    let mut locks = locks(FIRST);
    locks.head(&[0, 4], LD);
    assert_eq!(locks.issue(&[0, 4]), (0xff, 0x11), "both are probed");
    locks.probed(4, true);
    locks.issue(&[]);
    assert_eq!(locks.issue(&[]).0, 0xfe, "the older one does not ask yet");
    locks.probed(0, true);
    locks.issue(&[]);
    assert_eq!(locks.issue(&[]), (0xef, 0), "of two that ask the older one");
    locks.issue(&[0]);
    assert_eq!(locks.state().lock_q, 1);
    assert_eq!(locks.issue(&[]).0, 0xef);
    locks.release_all(&[0, 1]);
    assert_eq!(locks.issue(&[]).0, 0xef, "the lock is taken away at the edge");
    assert_eq!(locks.issue(&[4]).0, 0xff);
    assert_eq!(locks.state().lock_q, 0b100);
}

#[test]
fn with_marks_alone_nothing_is_probed() {
    let mut locks = locks(OLDEST | MARK);
    locks.head(&[0, 4, 5], LD);
    locks.inputs.head_ctl_i[5] = PRIVATE;
    assert_eq!(locks.issue(&[0]), (0xef, 0));
    assert_eq!(locks.state().lock_q, 1);
    locks.inputs.slot_busy_i = 0b1110;
    assert_eq!(locks.issue(&[4]), (0xff, 0));
    assert_eq!(locks.state().lock_q, 0b100);
}

#[test]
fn returning_atomic_operations_of_younger_blocks_are_held() {
    let atomic: u64 = 0x43;
    let roles = |d: u8| Roles::from(RolesFields { d, ..Roles(0).fields() }).0;
    for (straps, op, d, held) in [
        (OLDEST, atomic, 7, true),
        (OLDEST, 0x44, 7, true),
        (OLDEST, atomic, NO_REG, false),
        (OLDEST, 0x40, 7, false),
        (OLDEST & !0b10, atomic, 7, false),
        (FIRST, atomic, 7, false),
    ] {
        let mut locks = locks(straps);
        locks.head(&[0, 4], op);
        (locks.inputs.head_roles_i[0], locks.inputs.head_roles_i[4]) = (roles(d), roles(d));
        assert_eq!(locks.issue(&[]).0, if held { 0xef } else { 0xff }, "{straps} {op:#x} {d}");
        assert_eq!(count(&locks.cycle(), "wait_hold"), held.into());
        locks.release_all(&[0, 1]);
        assert_eq!(locks.issue(&[]).0, 0xff, "the older block is through");
    }
}

#[test]
fn warps_without_a_partner_need_nothing() {
    let mut locks = locks(OLDEST);
    (locks.inputs.slot_young_i, locks.inputs.end_warps_i) = (0b1111, 6);
    locks.head(&[0, 1, 2, 3, 4, 5], LD);
    assert_eq!(locks.issue(&[]).1, 0b11_0011);
    locks.issue(&[2]);
    assert_eq!(locks.state().lock_q, 0);
    // Their releases are waited for all the same.
    locks.head(&[2], RELSSP);
    locks.issue(&[2]);
    assert_eq!(locks.issue(&[]).0, 0xfb);
}

#[test]
fn classes_are_those_of_pairs_whose_slots_both_have_blocks() {
    for (straps, expected) in [(OLDEST, (0x0f, 0xf0)), (OLDEST & !0b100, (0, 0))] {
        let mut locks = locks(straps);
        let out = locks.cycle();
        assert_eq!((out.lead_o, out.last_o), expected);
        locks.inputs.slot_busy_i = 0b0111;
        let out = locks.issued(&[4], u8::MAX);
        // Without a block in slot 3 the warps of slot 1 have no partner; those of slot 3 count as they live.
        assert_eq!((out.lead_o, out.last_o), (expected.0 & 0x03, expected.1));
        assert_eq!(["owners", "non_owners", "non_owner_issue"].map(|name| count(&out, name)), [2, 4, 1]);
    }
}

/// A reference model from the page, warp by warp.
struct Reference {
    lock: [bool; BLOCK_SLOTS],
    check: [u8; MAX_WARPS],
    released: [u32; MAX_WARPS],
    through: [bool; MAX_WARPS],
}

impl Reference {
    fn cycle(&mut self, i: &ScratchpadLocksIn, warps: usize) -> (ScratchpadLocksOut, ScratchpadLocksProbe) {
        let mut probe = ScratchpadLocksProbe::zeroed();
        probe.lock_q = (0..BLOCK_SLOTS).fold(0, |set, k| set | u16::from(self.lock[k]) << k);
        (probe.check_q, probe.released_q) = (self.check, self.released);
        probe.through_q = set_of(|w| self.through[w], warps);
        let hosts = usize::from(RegisterLayout(i.layout_i).host_warps());
        let end = usize::from(i.end_warps_i);
        let slot = |w: usize| usize::from(i.slot_i[w]);
        let has_partner = |w: usize| w >= hosts || w + hosts < end;
        let partner = |w: usize| if w < hosts { w + hosts } else { w - hosts };
        let paired = |w: usize| has_partner(w) && i.live_i[w] != 0;
        let young = |w: usize| is_set(i.slot_young_i, slot(w));
        let busy = |k: usize| is_set(i.slot_busy_i, k);
        let through: [bool; BLOCK_SLOTS] = std::array::from_fn(|k| {
            let begins = i.start_valid_i == 1 && slot(i.start_warp_i.into()) == k;
            busy(k) && !begins && (0..warps.min(end)).all(|w| slot(w) != k || self.through[w])
        });
        let access = |w: usize| {
            let (op, space) = (i.head_op_i[w] & 0x7f, i.head_op_i[w] >> 28 & 3);
            let shared = match op {
                0x40 | 0x41 | 0x43 => space == 1 || space == 3,
                0x44 => space == 1,
                _ => false,
            };
            shared && i.head_ctl_i[w] & PRIVATE == 0
        };
        let wants =
            |w: usize| paired(w) && is_set(i.clear_i, w) && access(w) && !self.lock[slot(w)] && !through[slot(w)];
        let (first, hold, marks) = (i.cfg_i & 1 != 0, i.cfg_i & 2 != 0, i.cfg_i & 8 != 0);
        let asks = |w: usize| wants(w) && (marks || self.check[w] == COMMON);
        let may = |w: usize| {
            let q = slot(partner(w));
            if first {
                !(self.lock[q] || young(w) && (0..warps).any(|v| slot(v) == q && asks(v)))
            } else {
                !young(w) || !busy(q) || through[q]
            }
        };
        let probes = |w: usize| wants(w) && !marks && self.check[w] == NONE && (first || !may(w));
        let waits = |w: usize| asks(w) && !may(w);
        let held = |w: usize| {
            let (op, q) = (i.head_op_i[w], || slot(partner(w)));
            let atomic = matches!(op & 0x7f, 0x43 | 0x44) && op >> 28 & 3 != 1 && Roles(i.head_roles_i[w]).d() != 255;
            is_set(i.clear_i, w) && hold && !first && paired(w) && young(w) && busy(q()) && !through[q()] && atomic
        };
        let port = |w: usize| set_bits(i.issue_valid_i).find(|&p| usize::from(i.issue_warp_i[p]) == w);
        let mut out = ScratchpadLocksOut::zeroed();
        let clear = |w: usize| is_set(i.clear_i, w) && self.check[w] != IN_FLIGHT && !waits(w) && !held(w);
        (out.clear_o, out.probe_o) = (set_of(clear, warps), set_of(probes, warps));
        let owner = |w: usize| paired(w) && busy(slot(partner(w)));
        let (owners, others) = (set_of(|w| owner(w) && !young(w), warps), set_of(|w| owner(w) && young(w), warps));
        if i.cfg_i & 0b100 != 0 {
            (out.lead_o, out.last_o) = (owners, others);
        }
        let place = usize::from(i.place_warp_i);
        out.place_released_o = (place < warps && has_partner(place) && through[slot(place)]).into();
        let takes: [bool; BLOCK_SLOTS] = std::array::from_fn(|k| {
            let takes = |w: usize| wants(w) && !probes(w) && self.check[w] != KNOWN_PRIVATE && port(w).is_some();
            (0..warps).any(|w| slot(w) == k && takes(w))
        });
        let frees: [bool; BLOCK_SLOTS] = std::array::from_fn(|k| self.lock[k] && (through[k] || !busy(k)));
        let counted = |is: &dyn Fn(usize) -> bool| (0..BLOCK_SLOTS).filter(|&k| is(k)).count() as u32;
        let sets = |is: &dyn Fn(usize) -> bool| set_of(is, warps).count_ones();
        let answered = |release: u8| i.answer_valid_i == 1 && i.answer_release_i == release;
        let counts = [
            sets(&waits),
            sets(&held),
            sets(&|w| probes(w) && port(w).is_some_and(|p| is_set(i.set_valid_i, p))),
            (answered(0) && i.answer_shared_i == 1).into(),
            answered(1).into(),
            counted(&|k| takes[k]),
            counted(&|k| frees[k]),
            counted(&|k| frees[k] && busy(k)),
            owners.count_ones(),
            others.count_ones(),
            sets(&|w| is_set(others, w) && port(w).is_some()),
        ];
        for (&(_, bits), count) in SCRATCHPAD_EVENT.iter().zip(counts) {
            out.event_o = out.event_o << bits | u64::from(count);
        }
        let mut next =
            Self { lock: [false; BLOCK_SLOTS], check: self.check, released: self.released, through: self.through };
        for k in 0..BLOCK_SLOTS {
            next.lock[k] = (self.lock[k] || takes[k]) && !frees[k];
        }
        for w in 0..warps {
            let set = port(w).map(|p| is_set(i.set_valid_i, p));
            let answer = i.answer_valid_i == 1 && usize::from(i.answer_warp_i) == w;
            let releases = answer && i.answer_release_i == 1;
            match set {
                Some(set) if probes(w) => next.check[w] = if set { IN_FLIGHT } else { KNOWN_PRIVATE },
                Some(set) => next.check[w] = if set && i.head_op_i[w] & 0x7f == 8 { IN_FLIGHT } else { NONE },
                None => {}
            }
            if releases {
                next.check[w] = NONE;
                next.released[w] |= i.answer_mask_i;
            } else if answer {
                next.check[w] = if i.answer_shared_i == 1 { COMMON } else { KNOWN_PRIVATE };
            }
            let outside = i.live_i[w] & !next.released[w];
            next.through[w] |= outside == 0 && (releases || is_set(i.idle_i, w));
            if i.start_valid_i == 1 && usize::from(i.start_warp_i) == w {
                (next.check[w], next.released[w], next.through[w]) = (NONE, 0, false);
            }
        }
        *self = if i.rst_ni == 0 { Self::new() } else { next };
        (out, probe)
    }

    fn new() -> Self {
        let (check, released, through) = ([0; MAX_WARPS], [0; MAX_WARPS], [false; MAX_WARPS]);
        Self { lock: [false; BLOCK_SLOTS], check, released, through }
    }
}

/// A division of the SM as the launcher makes it, whose blocks may live anywhere, and heads many of which access scratchpad memory.
fn drive(random: &mut Random, inputs: &mut ScratchpadLocksIn, warps: usize) {
    let (host_warps, end_warps) = divided(random, warps, &mut inputs.slot_i);
    let layout = RegisterLayoutFields { host_warps, ..RegisterLayout(inputs.layout_i).fields() };
    inputs.layout_i = RegisterLayout::from(layout).0;
    inputs.end_warps_i = end_warps;
    let released = random.chance(50);
    for w in 0..warps {
        inputs.head_op_i[w] =
            [LD, ST, ATOM, CAS, LD_GENERIC, LD_GENERIC | 3, LD_GLOBAL, 0x43, RELSSP, NOP][random.below(10)];
        inputs.head_ctl_i[w] = if random.chance(80) { 0 } else { PRIVATE };
        inputs.live_i[w] = [0, 0x1, 0xff][random.below(3)];
    }
    if released {
        inputs.answer_mask_i |= 0xff;
    }
    inputs.rst_ni = u8::from(!random.chance(1));
    let first = random.below(warps);
    inputs.issue_warp_i = [first as u8, ((first + 1 + random.below(warps - 1)) % warps) as u8];
    (inputs.answer_warp_i, inputs.start_warp_i) = (random.below(warps) as u8, random.below(warps) as u8);
    inputs.place_warp_i = random.below(warps) as u8;
}

#[test]
fn the_block_does_what_the_page_says_of_each_warp() {
    for shape in [SHAPE, SmShape { warps: 48, ..SM_SHAPES[0] }] {
        let mut reference = Reference::new();
        let warps = shape.warps;
        compare::<ScratchpadLocks>(
            &shape,
            20000,
            |random, inputs| drive(random, inputs, warps),
            |inputs| reference.cycle(inputs, warps),
        );
    }
}
