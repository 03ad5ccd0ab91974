//! The memory pipeline, and the memory outside the SM.

use gpurf_blocks::config::Config;

use super::{Group, Sums, handshakes, several, situations, sums};
use crate::memory::kind::TEXTURE;

/// A data cache takes the place of the line table.
pub(super) fn caches(config: &Config) -> bool {
    config.cache.kilobytes != 0
}

/// Number of the shared space in `address_unit`.
const SHARED_SPACE: u8 = 1;
const CONSTANT_SPACE: u8 = 3;

pub(super) static GROUPS: &[Group] = &[
    situations! { "address_unit", |_| true, |look| {
            let (unit, state) = (&look.o.address_unit, &look.s.address_unit);
            let busy = unit.busy_o != 0;
            let memory = state.shuffle_q == 0;
            let spaces = [state.shared_q, state.constant_q, state.local_q].map(|space| state.lanes_q & space != 0);
            let special = state.lanes_q & (state.shared_q | state.constant_q | state.local_q);
            let two = special != state.lanes_q || spaces.into_iter().filter(|there| *there).count() > 1;
            let offered = unit.global_valid_o | unit.shared_valid_o | unit.constant_valid_o | unit.shuffle_valid_o;
            let waits = busy && offered == 0;
            let quick = unit.lanes_o & (state.shared_q | state.constant_q) != 0;
            let last_quick = matches!(state.space_q, SHARED_SPACE | CONSTANT_SPACE);
        }
        "no instruction is held": !busy && look.alive != 0;
        "an instruction is served in its last pass": busy && unit.last_o != 0;
        "an instruction is followed by another one at once": unit.last_o & look.o.dispatcher.memory_valid_o != 0;
        "lanes of two spaces are left": busy && memory && special != 0 && two;
        "lanes in a slow memory wait for results of a quick one": waits && last_quick && !quick;
        "lanes in a quick memory wait for results of a slow one": waits && !last_quick && quick;
        "the coalescer serves lanes": unit.global_valid_o != 0 && look.o.coalescer.served_o != 0;
        "the coalescer serves none": unit.global_valid_o != 0 && look.o.coalescer.served_o == 0;
        "the coalescer leaves lanes for another pass (replay)":
            look.o.coalescer.served_o != 0 && look.o.coalescer.served_o != unit.lanes_o;
        "shared memory serves lanes": unit.shared_valid_o != 0 && look.o.shared_memory.served_o != 0;
        "shared memory serves none": unit.shared_valid_o != 0 && look.o.shared_memory.served_o == 0;
        "shared memory leaves lanes for another pass (bank conflict)":
            look.o.shared_memory.served_o != 0 && look.o.shared_memory.served_o != unit.lanes_o;
        "constant memory serves lanes": unit.constant_valid_o != 0 && look.o.constant_memory.served_o != 0;
        "the lane crossbar serves lanes": unit.shuffle_valid_o != 0 && look.o.lane_crossbar.served_o != 0;
    },
    situations! { "constant_unit", |_| true, |look| {
            let unit = &look.o.constant_unit;
            let served = look.o.constant_memory.direct_served_o;
        }
        "no instruction is held": unit.busy_o == 0 && look.alive != 0;
        "an instruction is followed by another one at once": unit.last_o & look.o.dispatcher.constant_valid_o != 0;
        "constant memory serves lanes": unit.constant_valid_o != 0 && served != 0;
        "constant memory leaves lanes for another pass": served != 0 && served != unit.lanes_o;
        "the special registers serve lanes": unit.special_valid_o != 0 && look.o.special_registers.served_o != 0;
        "the special registers serve the lower word of the time":
            look.o.special_registers.served_o != 0 && unit.source_o == 21;
        "the special registers serve the upper word of the time":
            look.o.special_registers.served_o != 0 && unit.source_o == 22;
        "a constant while the memory pipeline is busy": served != 0 && look.o.address_unit.busy_o != 0;
        "lanes of the memory pipeline wait for a constant": served != 0 && look.o.address_unit.constant_valid_o != 0;
    },
    // With two ports what these units make has a bus on which it goes first.
    situations! { "address_unit", |c| several(c) && c.mrf.issue_ports == 1, |look| {
            let unit = &look.o.address_unit;
            let offered = unit.constant_valid_o | unit.shuffle_valid_o;
            let served = look.o.constant_memory.served_o | look.o.lane_crossbar.served_o;
        }
        "lanes wait because results have no room": offered != 0 && served == 0;
    },
    situations! { "coalescer", |_| true, |look| {
            let (coalescer, unit) = (&look.o.coalescer, &look.o.address_unit);
            let (fetch, third) = (unit.kind_o == TEXTURE, look.s.coalescer.third_q != 0);
            let served = if fetch { 0 } else { coalescer.served_o };
            let fetched = fetch && coalescer.served_o != 0;
            let waits = look.out.mem_req_valid_o & !look.inputs.mem_req_ready_i != 0;
        }
        "a line of 32 lanes": served == u32::MAX;
        "a line of 2 to 31 lanes": (2..32).contains(&served.count_ones());
        "a line of one lane": served.is_power_of_two();
        "lanes wait because a request waits for memory": unit.global_valid_o != 0 && coalescer.served_o == 0 && waits;
        "a texture fetch in one request": fetched && !third;
        "the second of two requests of a texture fetch": fetched && third;
        "a line of local memory": served != 0 && unit.local_o != 0;
    },
    situations! { "coalescer", |c| !caches(c), |look| {
            let unit = &look.o.address_unit;
        }
        "lanes wait for a row of the line table":
            unit.global_valid_o != 0 && look.o.coalescer.served_o == 0 && look.o.line_table.room_o == 0;
    },
    situations! { "coalescer", |c| several(c) && !caches(c), |look| {
            let (coalescer, full) = (&look.o.coalescer, look.o.line_table.room_o == 0);
        }
        "a store needs no row while none is free": full && coalescer.served_o != 0 && coalescer.row_valid_o == 0;
    },
    handshakes! { "coalescer", |_| true, |look|
        "a request": look.out.mem_req_valid_o, look.inputs.mem_req_ready_i;
    },
    handshakes! { "line_table", |c| !caches(c), |look|
        "an answer": look.inputs.mem_rsp_valid_i, look.out.mem_rsp_ready_o;
    },
    situations! { "line_table", |c| !caches(c), |look| {
            let rows = usize::from(look.s.line_table.count_q);
            let all = look.shape.line_rows;
        }
        "no row is in use": rows == 0 && look.alive != 0;
        "one row is in use": rows == 1;
        "half of the rows are in use or more": rows >= all / 2;
        "every row is in use": look.o.line_table.room_o == 0;
        "a row comes while an answer goes": look.o.coalescer.row_valid_o & look.s.line_table.rsp_valid_q != 0;
    },
    situations! { "shared_memory", |_| true, |look| {
            let (memory, state) = (&look.o.shared_memory, &look.s.shared_memory);
            let served = memory.served_o;
        }
        "32 lanes in a pass": served == u32::MAX;
        "2 to 31 lanes in a pass": (2..32).contains(&served.count_ones());
        "one lane in a pass": served.is_power_of_two();
        "a pass follows another one at once": served != 0 && state.first_valid_q != 0;
        "the second cycle of an atomic operation": state.phase_q != 0;
        "a result": memory.result_valid_o != 0;
    },
    situations! { "lane_crossbar", |_| true, |look| {
            let state = &look.s.lane_crossbar;
        }
        "a shuffle": look.o.lane_crossbar.served_o != 0;
        "a shuffle out of range": state.first_valid_q != 0 && state.first_mask_q & !state.in_range_q != 0;
    },
    situations! { "lane_crossbar", several, |look| {}
        "a shuffle follows another one at once": look.o.lane_crossbar.served_o != 0 && look.s.lane_crossbar.first_valid_q != 0;
    },
];

pub(super) static SUMS: &[Sums] = &[sums! { "sm", |_| true,
    "line_answer": "a line comes from memory";
    "shared_conflict": "words in one bank of shared memory";
    "constant_conflict": "different words of constant memory";
}];
