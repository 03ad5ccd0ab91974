//! The hybrid register file.

use gpurf_blocks::config::Config;
use gpurf_blocks::designs::Organisation;
use gpurf_blocks::hrf::HrfSizes;

use super::look::Look;
use super::unreached::Exception;
use super::{Group, Sums, handshakes, situations, sums};

fn hybrid(config: &Config) -> bool {
    config.hrf.stt_ram
}

fn buffered(config: &Config) -> bool {
    hybrid(config) && config.hrf.buffer_entries != 0
}

/// Whether programs fill a buffer.
fn small(config: &Config) -> bool {
    buffered(config) && config.hrf.buffer_entries <= 32
}

fn gated(config: &Config) -> bool {
    buffered(config) && config.hrf.gating
}

/// Sizes of the buffers and queues.
fn sizes(look: &Look<'_>) -> Option<HrfSizes> {
    match look.shape.organisation {
        Organisation::Hrf(sizes) => Some(sizes),
        _ => None,
    }
}

/// States of a buffer's power.
mod power {
    pub(super) const STATES: u8 = 4;
}

pub(super) const EXCEPTIONS: &[Exception] = &[];

pub(super) static GROUPS: &[Group] = &[
    // Without write buffers a slot is emptied as soon as its warp leaves it.
    situations! { "alternating_scheduler", buffered, |look| {
            let out = &look.o.warp_scheduler;
        }
        "both slots have a warp": out.slot_valid_o == 3;
        "both slots are emptied": out.flush_o == 3;
        "a slot is emptied while the other one's warp is active": out.flush_o.is_power_of_two() && out.active_o != 0;
    },
    handshakes! { "hrf_bank", hybrid, |look|
        "a write": look.s.operand_stage.provider.hrf().nets.bank_write_valid, look.s.operand_stage.provider.hrf().nets.bank_write_ready;
    },
    situations! { "hrf_bank", hybrid, |look| {
            let nets = &look.s.operand_stage.provider.hrf().nets;
        }
        "no bank writes": nets.bank_writing == 0 && look.alive != 0;
        "a bank writes": nets.bank_writing != 0;
        "both banks write": nets.bank_writing == 3;
        "a bank begins a read": nets.reads_stt_valid != 0;
        "a bank cannot begin a read": nets.bank_read_ready != 3;
    },
    situations! { "hrf_results", hybrid, |look| {
            let nets = &look.s.operand_stage.provider.hrf().nets;
            let done = look.o.operand_stage.write_done_o != 0;
        }
        "no result is in the latch": nets.results_valid == 0 && look.alive != 0;
        "a result goes": done;
        "a result waits in the latch": nets.results_valid != 0 && !done;
    },
    situations! { "hrf", |c| hybrid(c) && !buffered(c), |look| {
            let nets = &look.s.operand_stage.provider.hrf().nets;
        }
        "a result is offered to a bank": nets.results_direct_valid != 0;
        "the pipeline stands still while a result is written": nets.frozen != 0;
    },
    situations! { "hrf_buffer", buffered, |look| {
            let used = &look.s.operand_stage.provider.hrf().nets.buffer_used;
            let all = sizes(look).map_or(0, |sizes| sizes.buffer_entries as u8);
        }
        "a buffer is empty": used.contains(&0) && look.alive != 0;
        "a buffer has one entry": used.contains(&1);
        "half of a buffer's entries are in use or more": used.iter().any(|&used| used >= all / 2);
        "both buffers have entries": used.iter().all(|&used| used != 0);
        "a result takes a new entry": look.s.operand_stage.provider.hrf().nets.results_buffer_valid != 0 && look.s.operand_stage.provider.hrf().nets.results_new != 0;
        "a result goes to the entry of its register": look.s.operand_stage.provider.hrf().nets.results_buffer_valid != 0 && look.s.operand_stage.provider.hrf().nets.results_new == 0;
    },
    // A larger one holds every register that a thread may have, or nearly so.
    situations! { "hrf_buffer", small, |look| {
            let all = sizes(look).map_or(0, |sizes| sizes.buffer_entries as u8);
        }
        "a buffer is full": look.s.operand_stage.provider.hrf().nets.buffer_used.contains(&all);
    },
    situations! { "hrf_loads", buffered, |look| {
            let (nets, loads) = (&look.s.operand_stage.provider.hrf().nets, &look.s.operand_stage.provider.hrf().loads);
            let all = sizes(look).map_or(0, |sizes| sizes.loads as u8);
        }
        "a queue is empty": loads.iter().any(|queue| queue.count_q == 0) && look.alive != 0;
        "a queue has one load": loads.iter().any(|queue| queue.count_q == 1);
        "a queue has two loads or more": loads.iter().any(|queue| queue.count_q >= 2);
        "a queue is full": loads.iter().any(|queue| queue.count_q == all);
        "a load is taken": nets.results_push_valid & nets.loads_room != 0;
        "a load finds no room": nets.results_push_valid & !nets.loads_room != 0;
        "a load is older than the drain (hazard 6)": nets.loads_valid & nets.loads_old != 0;
    },
    situations! { "hrf_drain", buffered, |look| {
            let nets = &look.s.operand_stage.provider.hrf().nets;
            let drains = &look.s.operand_stage.provider.hrf().drain;
        }
        "a drain begins": nets.drain_begin != 0;
        "an entry is offered to its bank": nets.drain_valid != 0;
        "both buffers drain": drains.iter().all(|drain| drain.busy_q != 0);
        "a warp is active in the other buffer while one drains":
            drains.iter().any(|drain| drain.busy_q != 0) && look.o.warp_scheduler.active_o != 0;
    },
    situations! { "hrf_power", gated, |look| {
            let states = &look.s.operand_stage.provider.hrf().nets.power_state;
        }
        "state 0 of a buffer": states.contains(&0);
        "state 1 of a buffer": states.contains(&1);
        "state 2 of a buffer": states.contains(&2);
        "state 3 of a buffer": states.contains(&(power::STATES - 1));
    },
];

pub(super) static SUMS: &[Sums] = &[
    sums! { "hrf_reads", buffered,
        "hrf_hit": "all lanes of a source are in the buffer";
        "hrf_partial": "some lanes of a source are in the buffer (hazard 1)";
        "hrf_miss": "no lane of a source is in the buffer";
    },
    sums! { "hrf_results", buffered,
        "hrf_write": "a result goes into a buffer";
        "hrf_coalesced": "a result overwrites an entry";
        "hrf_load": "a load goes around the buffers";
        "hrf_wait_load": "a result waits for a place in the queue";
    },
    sums! { "hrf_results", small,
        "hrf_wait_full": "a result waits for an entry";
    },
    sums! { "hrf_drain", buffered,
        "hrf_drain": "an entry is drained";
    },
    sums! { "hrf", |c| hybrid(c) && !buffered(c),
        "hrf_direct": "a result goes to its bank";
    },
    sums! { "hrf_reads", hybrid,
        "hrf_wait_read": "a read waits for a bank that writes";
    },
    sums! { "hrf_power", gated,
        "hrf_wake": "a buffer wakes";
        "hrf_sleep": "a buffer goes to sleep";
        "hrf_wait_wake": "a result waits for power";
    },
];
