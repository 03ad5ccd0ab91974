//! Sharing of registers and of scratchpad memory.

use gpurf_blocks::config::{CheckRule, Config, LockRule, Reference, SharedResource};
use gpurf_blocks::share::RegisterLayout;

use super::{Group, Sums, situations, sums};

fn shares(config: &Config) -> bool {
    config.share.present && config.share.resource == SharedResource::Registers
}

fn shares_scratchpad(config: &Config) -> bool {
    config.share.present && config.share.resource == SharedResource::Scratchpad
}

fn probes(config: &Config) -> bool {
    shares_scratchpad(config) && config.share.check == CheckRule::Probe
}

fn holds_scratchpad(config: &Config) -> bool {
    shares_scratchpad(config) && config.share.lock == LockRule::Oldest && config.share.hold_atomics
}

fn holds(config: &Config) -> bool {
    shares(config) && config.share.lock == LockRule::Oldest && config.share.hold_atomics
}

fn throttles(config: &Config) -> bool {
    shares(config) && config.share.throttle != 0
}

fn samples(config: &Config) -> bool {
    throttles(config) && config.share.reference == Reference::Sampled
}

fn compares_outside(config: &Config) -> bool {
    throttles(config) && config.share.reference == Reference::External
}

/// The throttle is not itself the reference of another SM.
fn changes(config: &Config) -> bool {
    samples(config) || compares_outside(config)
}

pub(super) static GROUPS: &[Group] = &[
    situations! { "share_locks", shares, |look| {
            let ended = !look.o.simt_stack.alive_o & look.o.scoreboard.idle_o;
            let lock = look.s.share_locks.lock_q;
            let waits = look.o.power_states.clear_o & !look.o.share_locks.clear_o;
            let young = look.o.block_launcher.slot_young_o;
            let hosts = (1u64 << RegisterLayout(look.o.block_launcher.layout_o).host_warps()) - 1;
        }
        "a warp with a lock has ended in all lanes, with something in flight":
            lock & !look.o.simt_stack.alive_o & !ended != 0;
        "two heads or more wait for locks": waits.count_ones() > 1;
        "all heads that are clear otherwise wait for locks":
            waits != 0 && look.o.share_locks.clear_o == 0;
        "a host is younger than its guest": young != 0 && young.trailing_zeros() < host_slots(look);
        "a guest is younger than its host": young.checked_shr(host_slots(look)).unwrap_or(0) != 0;
        "hosts and guests have locks": lock & hosts != 0 && lock & !hosts != 0;
    },
    situations! { "scratchpad_locks", shares_scratchpad, |look| {
            let s = &look.s.scratchpad_locks;
            let waits = look.o.power_states.clear_o & !look.o.share_locks.clear_o;
            let young = look.o.block_launcher.slot_young_o;
            let alive = look.o.simt_stack.alive_o;
            let answers = look.o.address_unit.answer_valid_o == 1;
        }
        "two heads or more wait": waits.count_ones() > 1;
        "all heads that are clear otherwise wait": waits != 0 && look.o.share_locks.clear_o == 0;
        "a host is younger than its guest": young != 0 && young.trailing_zeros() < host_slots(look);
        "a guest is younger than its host": young.checked_shr(host_slots(look)).unwrap_or(0) != 0;
        "two pairs have locks": s.lock_q.count_ones() > 1;
        "a guest has the lock": s.lock_q.checked_shr(host_slots(look)).unwrap_or(0) != 0;
        "a probe is answered, and no lane lies in the common area":
            answers && look.o.address_unit.answer_release_o == 0 && look.o.address_unit.answer_shared_o == 0;
        "a warp lives and is through": alive & s.through_q != 0;
    },
    situations! { "share_throttle", changes, |look| {
            let level = look.s.share_throttle.level_q;
        }
        "the level is below 10": level < 10;
    },
    situations! { "share_throttle", samples, |look| {
            let count = look.s.share_throttle.count_q;
            let (closed, reference) = (look.o.share_throttle.allow_o == 0, look.s.share_throttle.number_q == 0);
        }
        "non-owners may not use memory in another period than the reference": closed && !reference;
        "a reference period with stalls": reference && count != 0;
    },
    situations! { "share_throttle", compares_outside, |look| {
            let (valid, reference) = (look.inputs.throttle_reference_valid_i == 1, look.inputs.throttle_reference_i);
        }
        "non-owners may not use memory without a reference period": look.o.share_throttle.allow_o == 0;
        "the other SM has stalls in the period": valid && reference != 0;
        "the other SM has ended": !valid;
    },
];

/// The block slots of hosts.
fn host_slots(look: &super::look::Look<'_>) -> u32 {
    look.s.block_launcher.hosts_q.into()
}

pub(super) static SUMS: &[Sums] = &[
    sums! { "share_locks", shares,
        "wait_lock": "a head waits for its lock";
        "lock_take": "a warp takes its lock";
        "lock_free": "a lock is free again";
        "owners": "a warp of an owner";
        "non_owners": "a warp of a non-owner";
        "non_owner_issue": "a warp of a non-owner issues";
    },
    sums! { "share_locks", holds,
        "wait_hold": "an atomic operation waits for the end of the older block";
    },
    sums! { "share_locks", throttles,
        "wait_throttle": "a memory instruction is throttled";
    },
    sums! { "scratchpad_locks", shares_scratchpad,
        "wait_lock": "a head waits for its block's lock";
        "released": "a release is performed";
        "lock_take": "a block takes its lock";
        "lock_free": "a lock is free again";
        "lock_early": "a lock is free before its block's end";
        "owners": "a warp of an owner";
        "non_owners": "a warp of a non-owner";
        "non_owner_issue": "a warp of a non-owner issues";
    },
    sums! { "scratchpad_locks", probes,
        "probe": "a probe issues";
        "probe_common": "a probe is answered, and a lane lies in the common area";
    },
    sums! { "scratchpad_locks", holds_scratchpad,
        "wait_hold": "an atomic operation waits until the older block is through";
    },
    sums! { "share_throttle", throttles,
        "throttle_period": "a period ends";
    },
    sums! { "share_throttle", changes,
        "throttle_allow": "non-owners may use memory";
    },
];
