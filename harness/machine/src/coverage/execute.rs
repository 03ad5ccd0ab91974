//! From dispatch to write-back.

use gpurf_blocks::execute::{ResultQueueOut, ResultQueueProbe};
use gpurf_blocks::instruction::unit;

use super::look::Look;
use super::{Group, Sums, handshakes, several, situations, sums};

/// Whether a test holds for a unit's queue of any port.
fn any(look: &Look<'_>, test: impl Fn(usize) -> bool) -> bool {
    (0..look.ports()).any(test)
}

/// A mask of the ports, from a value for each.
fn ports(look: &Look<'_>, test: impl Fn(usize) -> u8) -> u8 {
    (0..look.ports()).fold(0, |mask, p| mask | test(p) << p)
}

/// Whether both ports offer an instruction to this unit.
fn both_want(look: &Look<'_>, unit: u8) -> bool {
    let stage = &look.o.operand_stage;
    stage.dispatch_valid_o == 3 && stage.dispatch_instruction_o.iter().all(|i| i.roles().unit() == unit)
}

/// Number of kinds of units with a result: ALU, single precision, special function and constant unit, memory pipeline, line table.
fn units_with_results(look: &Look<'_>) -> u32 {
    let o = look.o;
    u32::from(any(look, |p| o.alu_queue[p].head_valid_o != 0))
        + u32::from(any(look, |p| o.fp_queue[p].head_valid_o != 0))
        + u32::from(o.sfu_queue.head_valid_o + o.constant_queue.head_valid_o)
        + u32::from(o.side_queue.head_valid_o + o.line_table.result_valid_o + o.cache.result_valid_o)
}

/// A result that still waits for the end of its latency.
fn serves_time(out: &ResultQueueOut, state: &ResultQueueProbe) -> bool {
    state.count_q != 0 && out.head_valid_o == 0
}

pub(super) static GROUPS: &[Group] = &[
    handshakes! { "dispatcher", several, |look|
        "an instruction for an ALU": look.o.dispatcher.alu_valid_o, ports(look, |p| look.o.alu[p].ready_o);
        "an instruction for the special function unit": look.o.dispatcher.sfu_valid_o, look.o.sfu.ready_o;
    },
    handshakes! { "dispatcher", |_| true, |look|
        "an instruction for the memory pipeline": look.o.dispatcher.memory_valid_o, look.o.address_unit.in_ready_o;
    },
    situations! { "dispatcher", |_| true, |look| {}
        "the constant unit takes an instruction": look.o.dispatcher.constant_valid_o & look.o.constant_unit.ready_o != 0;
        "the constant unit is busy": look.o.dispatcher.constant_valid_o & !look.o.constant_unit.ready_o & 1 != 0;
        "a barrier arrives": look.o.dispatcher.barrier_valid_o != 0;
        "a single precision unit could take an instruction and has none":
            ports(look, |p| look.o.fp_unit[p].ready_o) & !look.o.dispatcher.fp_valid_o != 0;
    },
    situations! { "dispatcher", |c| c.mrf.issue_ports == 2, |look| {}
        "both ports have an instruction for the memory pipeline": both_want(look, unit::MEMORY);
        "both ports have an instruction for the special function unit": both_want(look, unit::SFU);
        "both ports have an instruction for the constant unit": both_want(look, unit::CONSTANT);
        "both ports have a barrier": both_want(look, unit::BARRIER);
        "both ports' instructions are taken": look.o.operand_stage.dispatch_valid_o & look.o.dispatcher.dispatch_ready_o == 3;
    },
    situations! { "result_queue", |_| true, |look| {
            let (out, state) = (&look.o.alu_queue, &look.s.alu_queue);
        }
        "an ALU's is empty": any(look, |p| state[p].count_q == 0) && look.alive != 0;
        "an ALU's has one result": any(look, |p| state[p].count_q == 1);
        "an ALU's has two to seven results": any(look, |p| (2..8).contains(&state[p].count_q));
        "an ALU's oldest serves its time": any(look, |p| serves_time(&out[p], &state[p]));
        "an ALU's oldest is taken": look.o.writeback.alu_pop_o != 0;
        "an ALU's oldest waits": ports(look, |p| out[p].head_valid_o) & !look.o.writeback.alu_pop_o != 0;
    },
    situations! { "result_queue", several, |look| {}
        "an ALU's has eight results or more": any(look, |p| look.s.alu_queue[p].count_q >= 8);
        "an ALU's is full": any(look, |p| look.o.alu_queue[p].ready_o == 0);
        "the special function unit's has four results or more": look.s.sfu_queue.count_q >= 4;
    },
    situations! { "result_queue", |_| true, |look| {
            let (out, state) = (&look.o.fp_queue, &look.s.fp_queue);
        }
        "a single precision unit's is empty": any(look, |p| state[p].count_q == 0) && look.alive != 0;
        "a single precision unit's has one result": any(look, |p| state[p].count_q == 1);
        "a single precision unit's has two results or more": any(look, |p| state[p].count_q >= 2);
        "a single precision unit's oldest serves its time": any(look, |p| serves_time(&out[p], &state[p]));
        "a single precision unit's oldest is taken": look.o.writeback.fp_pop_o != 0;
        "a single precision unit's oldest waits": ports(look, |p| out[p].head_valid_o) & !look.o.writeback.fp_pop_o != 0;
    },
    situations! { "result_queue", |_| true, |look| {
            let (out, state) = (&look.o.sfu_queue, &look.s.sfu_queue);
            let pop = look.o.writeback.sfu_pop_o;
        }
        "the special function unit's is empty": state.count_q == 0 && look.alive != 0;
        "the special function unit's has one result": state.count_q == 1;
        "the special function unit's has two results or more": state.count_q >= 2;
        "the special function unit's oldest serves its time": serves_time(out, state);
        "the special function unit's oldest is taken": pop != 0;
        "the special function unit's oldest waits": out.head_valid_o & !pop != 0;
    },
    situations! { "result_queue", |_| true, |look| {
            let (out, state) = (&look.o.constant_queue, &look.s.constant_queue);
            let pop = look.o.writeback.constant_pop_o;
        }
        "the constant unit's is empty": state.count_q == 0 && look.alive != 0;
        "the constant unit's has one result": state.count_q == 1;
        "the constant unit's has two results or more": state.count_q >= 2;
        "the constant unit's oldest is taken": pop != 0;
        "the constant unit's oldest waits": out.head_valid_o & !pop != 0;
    },
    situations! { "result_queue", |c| c.sm.alu_latency > 2, |look| {
            let (out, state) = (&look.o.constant_queue, &look.s.constant_queue);
        }
        "the constant unit's oldest serves its time": serves_time(out, state);
    },
    situations! { "result_queue", |c| c.sm.alu_latency == 2, |look| {
            let writeback = &look.o.writeback;
        }
        "a result of the constant unit passes": look.s.constant_queue.count_q == 0 && writeback.constant_pop_o != 0;
        "a result of a single precision unit passes":
            any(look, |p| look.s.fp_queue[p].count_q == 0 && writeback.fp_pop_o >> p & 1 != 0);
    },
    situations! { "result_queue", |_| true, |look| {
            let (out, state) = (&look.o.side_queue, &look.s.side_queue);
            let pop = look.o.writeback.side_pop_o;
        }
        "the memory pipeline's is empty": state.count_q == 0 && look.alive != 0;
        "the memory pipeline's has one result": state.count_q == 1;
        "the memory pipeline's has two to fifteen results": (2..16).contains(&state.count_q);
        "the memory pipeline's has sixteen results or more": state.count_q >= 16;
        "the memory pipeline's oldest serves its time": serves_time(out, state);
        "the memory pipeline's oldest is taken": pop != 0;
        "the memory pipeline's oldest waits": out.head_valid_o & !pop != 0;
    },
    // With two ports the memory pipeline's has a bus on which it goes first, and a unit gets half of the instructions.
    situations! { "result_queue", |c| several(c) && c.mrf.issue_ports == 1, |look| {}
        "a single precision unit's has eight results or more": look.s.fp_queue[0].count_q >= 8;
        "the memory pipeline's has no room for three": look.o.side_queue.room_o == 0;
    },
    situations! { "writeback", |_| true, |look| {
            let units = units_with_results(look);
        }
        "no unit has a result": units == 0 && look.alive != 0;
        "one kind of unit has a result": units == 1;
        "two kinds of units have a result": units == 2;
        "three kinds of units or more have a result": units >= 3;
        "a register is complete": look.o.writeback.reg_valid_o != 0;
        "a predicate is written": look.o.writeback.pred_valid_o != 0;
        "a result of the line table or of the cache waits":
            (look.o.line_table.result_valid_o | look.o.cache.result_valid_o) & !look.o.writeback.memory_pop_o != 0;
    },
    situations! { "writeback", |c| c.mrf.issue_ports == 2, |look| {
            let writeback = &look.o.writeback;
        }
        "results on both buses": writeback.write_valid_o == 3;
        "both buses have a result of one warp":
            writeback.write_valid_o == 3 && writeback.write_o[0].warp() == writeback.write_o[1].warp();
        "two registers are complete": writeback.reg_valid_o == 3;
    },
];

pub(super) static SUMS: &[Sums] = &[sums! { "sm", |_| true,
    "alu": "an instruction goes to an ALU";
    "fp": "an instruction goes to a single precision unit";
    "sfu": "an instruction goes to the special function unit";
    "constants": "an instruction goes to the constant unit";
    "memory": "an instruction goes to the memory pipeline";
    "barrier": "an instruction goes to the barrier unit";
    "result_wait": "a result waits for its bus";
}];
