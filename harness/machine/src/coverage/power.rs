//! Power states of registers.

use gpurf_blocks::config::{Config, PowerMode};

use super::{Group, Sums, situations, sums};

fn states(config: &Config) -> bool {
    config.power.present && config.power.mode != PowerMode::AlwaysOn
}

/// The states follow the heads, not the accesses of a cache in front of the words, which are known later.
fn heads(config: &Config) -> bool {
    states(config) && !config.sm_shape().services().keeps_states
}

/// Registers go OFF while their warp is alive.
fn off(config: &Config) -> bool {
    states(config) && config.power.mode != PowerMode::SleepAlways
}

fn table(config: &Config) -> bool {
    config.power.present && config.power.mode == PowerMode::Greener
}

pub(super) static GROUPS: &[Group] = &[
    situations! { "power_states", heads, |look| {
            let waits = look.o.issue_gate.clear_o & !look.o.power_states.clear_o;
            let waking = look.s.power_states.wake_q.iter().fold(0u32, |count, &left| count + u32::from(left != 0));
        }
        "two heads or more wait for their registers": waits.count_ones() > 1;
        "all heads that are clear otherwise wait for their registers":
            waits != 0 && look.o.power_states.clear_o == 0 && look.alive != 0;
        "a warp ends while registers of it are not OFF":
            !look.o.simt_stack.alive_o & look.o.scoreboard.idle_o & on_or_asleep(look.s) != 0;
        "no wake-up is in progress": waking == 0 && look.alive != 0;
    },
    situations! { "power_states", |c| heads(c) && c.power.wake_sleep.max(c.power.wake_off) > 2, |look| {
            let waking = look.s.power_states.wake_q.iter().filter(|&&left| left != 0).count();
        }
        "two wake-ups or more are in progress": waking > 1;
    },
    situations! { "power_states", |c| heads(c) && off(c), |look| {
            let (out, states) = (&look.o.writeback, &look.s.power_states);
            let partial = |p: usize| {
                let (w, register) = (usize::from(out.write_o[p].warp()), usize::from(out.write_o[p].d()));
                let bit = |words: &[u64]| words[4 * w + register / 64] >> (register % 64) & 1 == 1;
                out.write_valid_o >> p & 1 == 1
                    && out.write_o[p].mask() != u32::MAX
                    && bit(&states.pending_q)
                    && bit(&states.off_q)
            };
        }
        "a result without all lanes comes for a register that it leaves OFF": (0..look.shape.ports()).any(partial);
    },
];

/// Warps with a register that is not OFF.
fn on_or_asleep(states: &gpurf_sm::States) -> u64 {
    let counts = states.power_states.on_count_q.iter().zip(&states.power_states.asleep_count_q);
    counts.enumerate().fold(0, |warps, (w, (on, asleep))| warps | u64::from(on | asleep != 0) << w)
}

pub(super) static SUMS: &[Sums] = &[
    sums! { "power_states", states,
        "wake_sleep": "a register wakes from SLEEP";
        "to_sleep": "a register goes to SLEEP";
        "wait_wake": "a head waits for a wake-up";
    },
    sums! { "power_states", heads,
        "wait_read": "a head waits for a read after which a state changes (read after read, write after read)";
    },
    sums! { "power_states", off,
        "wake_off": "a register that is OFF wakes";
        "to_off": "a register goes OFF";
    },
    sums! { "power_states", table,
        "kept": "a register stays ON as another instruction accesses it";
    },
    sums! { "access_table", |c| c.power.present,
        "used": "an instruction is in the table";
        "full": "an instruction finds no free entry";
    },
];
