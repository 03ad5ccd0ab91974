//! Schedulers with slots for active warps.

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::bits::set_bits;

use super::look::Look;
use super::{Group, Sums, situations, sums};

fn two_level(config: &Config) -> bool {
    config.sm.active_warps != 0 && !config.sm.alternate
}

/// Whether a warp of a random program issues so many instructions without a reason of its own to leave its slot: at the default patience only long kernels do.
fn impatient(config: &Config) -> bool {
    (1..=64).contains(&config.sm.patience)
}

/// Whether slots are drained and emptied before another warp takes them.
fn drains(config: &Config) -> bool {
    two_level(config) && !config.sm.handover
}

/// States of a slot.
mod state {
    pub(super) const ACTIVE: u8 = 1;
    pub(super) const DRAINING: u8 = 2;
}

/// The slots in a state.
fn in_state(look: &Look<'_>, state: u8) -> u64 {
    let states = &look.s.warp_scheduler.state_q[..look.shape.active];
    states.iter().enumerate().fold(0, |slots, (s, &it)| slots | u64::from(it == state) << s)
}

/// The warps in a set of slots.
fn warps_of(look: &Look<'_>, slots: u64) -> u64 {
    set_bits(slots).fold(0, |warps, s| warps | 1 << look.o.warp_scheduler.slot_warp_o[s])
}

pub(super) static GROUPS: &[Group] = &[
    situations! { "two_level_scheduler", two_level, |look| {
            let (out, scheduler) = (&look.o.warp_scheduler, &look.s.warp_scheduler);
            let active = in_state(look, state::ACTIVE);
            let taken = out.slot_valid_o;
            let all = u64::MAX >> (u64::BITS as usize - look.shape.active);
            let ready = look.ready();
        }
        "one slot has a warp": taken.is_power_of_two();
        "every slot has a warp": taken == all;
        "every slot is active": active == all;
        "a slot is free and no warp is ready for it": taken != all && ready & !out.active_o == 0 && look.alive != 0;
        "a warp in a slot waits at a barrier (hazard 13)": warps_of(look, active) & look.o.barrier_unit.held_o != 0;
        "a warp issues for the first time in its slot":
            look.issues(|p, _| scheduler.fresh_q >> out.issue_slot_o[p] & 1 != 0);
    },
    situations! { "two_level_scheduler", drains, |look| {
            let (out, scheduler) = (&look.o.warp_scheduler, &look.s.warp_scheduler);
            let draining = in_state(look, state::DRAINING);
        }
        "a slot drains": draining != 0;
        "a slot drains while instructions of it are in the operand stage":
            set_bits(draining).any(|s| scheduler.resident_q[s] != 0);
        "a slot is emptied while long results of its warp are under way":
            set_bits(out.flush_o).any(|s| scheduler.long_count_q[usize::from(out.slot_warp_o[s])] != 0);
        "what a slot holds is thrown away (hazard 16)": out.drop_o != 0;
    },
    situations! { "two_level_scheduler", |c| two_level(c) && c.sm.handover && !c.sm.stay, |look| {
            let (out, scheduler) = (&look.o.warp_scheduler, &look.s.warp_scheduler);
            let stays = |s: &usize| out.active_o >> scheduler.warp_q[*s] & 1 != 0;
            let handed = || set_bits(in_state(look, state::ACTIVE)).filter(|s| !stays(s));
        }
        "a slot is handed over while short results are in flight": handed().any(|s| scheduler.short_q[s] != 0);
        "a slot is handed over while long results are in flight":
            handed().any(|s| scheduler.long_count_q[usize::from(scheduler.warp_q[s])] != 0);
        "two slots are handed over": handed().count() > 1;
    },
    situations! { "two_level_scheduler", |c| two_level(c) && !c.sm.stay, |look| {
        }
        "no slot is active": in_state(look, state::ACTIVE) == 0 && look.alive != 0;
    },
    situations! { "two_level_scheduler", |c| drains(c) && !c.sm.stay, |look| {
            let (out, scheduler) = (&look.o.warp_scheduler, &look.s.warp_scheduler);
            let draining = in_state(look, state::DRAINING);
            let leaving = warps_of(look, draining | out.flush_o);
        }
        "two slots drain": draining & draining.wrapping_sub(1) != 0;
        "a slot drains while short results of it are under way (hazard 10)":
            set_bits(draining).any(|s| scheduler.short_q[s] != 0);
        "a warp is ready while its old slot empties (hazard 12)": look.ready() & leaving != 0;
    },
    situations! { "two_level_scheduler", |c| two_level(c) && c.sm.active_warps < c.sm.warps, |look| {
            let taken = look.o.warp_scheduler.slot_valid_o;
            let all = u64::MAX >> (u64::BITS as usize - look.shape.active);
        }
        "a ready warp waits for a slot": taken == all && look.ready() & !warps_of(look, taken) != 0;
    },
    situations! { "alternating_scheduler", |c| c.sm.alternate, |look| {
            let (out, scheduler) = (&look.o.warp_scheduler, &look.s.alternating);
            let ready = look.ready();
        }
        "no slot has a warp": out.slot_valid_o == 0 && look.alive != 0;
        "one slot has a warp": out.slot_valid_o.is_power_of_two();
        "what a slot holds is thrown away (hazard 16)": out.drop_o != 0;
        "a warp is ready while its old slot empties (hazard 12)": ready & warps_of(look, out.flush_o) != 0;
        "long results of a warp without slot are under way":
            set_bits(look.alive & !warps_of(look, out.slot_valid_o)).any(|w| scheduler.long_count_q[w] != 0);
        "every ready warp is even": ready != 0 && ready & EVEN == ready;
        "every ready warp is odd": ready != 0 && ready & EVEN == 0;
    },
];

/// The warps with even numbers.
const EVEN: u64 = 0x5555_5555_5555_5555;

pub(super) static SUMS: &[Sums] = &[
    sums! { "two_level_scheduler", two_level,
        "activate": "a warp takes a slot";
        "leave_end": "a warp leaves its slot at its end";
        "ready": "ready warps without a slot";
    },
    sums! { "two_level_scheduler", drains,
        "drain": "slots that drain";
        "flush": "slots that are emptied";
    },
    sums! { "two_level_scheduler", |c| two_level(c) && !c.sm.stay,
        "leave_barrier": "a warp leaves its slot at a barrier (hazard 13)";
        "leave_mark": "a warp leaves its slot where it needs a long result";
    },
    sums! { "two_level_scheduler", |c| two_level(c) && !c.sm.stay && impatient(c),
        "leave_patience": "a warp leaves its slot after many instructions (hazard 14)";
    },
    sums! { "alternating_scheduler", |c| c.sm.alternate,
        "alternating_activate": "a warp takes a slot";
        "alternating_same_parity": "a warp takes the slot of its own parity again";
        "alternating_leave_end": "a warp leaves its slot at its end";
        "alternating_leave_barrier": "a warp leaves its slot at a barrier (hazard 13)";
        "alternating_leave_mark": "a warp leaves its slot where it needs a long result";
        "alternating_drain": "a slot drains";
        "alternating_flush": "a slot is emptied";
        "alternating_stall_switch": "nothing issues between two warps";
        "alternating_stall_ready": "nothing issues though a warp is ready";
    },
    sums! { "alternating_scheduler", |c| c.sm.alternate && impatient(c),
        "alternating_leave_patience": "a warp leaves its slot after many instructions (hazard 14)";
    },
];
