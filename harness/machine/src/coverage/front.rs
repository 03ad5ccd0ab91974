//! From fetch to issue.

use gpurf_blocks::instruction::{NO_PRED, NO_REG, Roles};
use gpurf_blocks::mrf::bits::set_bits;

use super::look::Look;
use super::{Group, Sums, several, situations, sums};

pub(super) static GROUPS: &[Group] = &[
    situations! { "fetch", |_| true, |look| {
            let reads = look.o.fetch.decode_valid_o;
        }
        "no path reads an instruction while warps live": reads == 0 && look.alive != 0;
        "a path reads an instruction": reads != 0;
        "a warp's fetch waits for a branch": look.alive & !look.s.fetch.running_q != 0;
    },
    situations! { "fetch", |c| c.mrf.issue_ports == 2, |look| {}
        "both paths read an instruction": look.o.fetch.decode_valid_o == 3;
    },
    situations! { "instruction_buffer", |_| true, |look| {
            let buffer = &look.o.instruction_buffer;
            let (alive, heads, room) = (look.alive, look.alive & buffer.head_valid_o, look.alive & buffer.room_o);
        }
        "a warp has no instruction": alive & !heads != 0;
        "a warp has one instruction": heads & room != 0;
        "a warp's places are full": alive & !room != 0;
        "no living warp has an instruction": alive != 0 && heads == 0;
        "every living warp's places are full": alive != 0 && room == 0;
    },
    Group { there: |_| true, points: IN_FLIGHT, look: in_flight },
    Group { there: |_| true, points: HAZARDS, look: hazards },
    situations! { "warp_scheduler", |_| true, |look| {
            let ready = look.ready();
        }
        "no living warp is ready": ready == 0 && look.alive != 0;
        "one warp is ready": ready.is_power_of_two();
        "two warps or more are ready": ready & ready.wrapping_sub(1) != 0;
        "every living warp is ready, four at least": ready == look.alive && ready.count_ones() >= 4;
        "a port issues the warp that it issued last": look.issues(|p, w| look.past.issued[p] == Some(w as u8));
        "a port issues another warp": look.issues(|p, w| look.past.issued[p].is_some_and(|last| usize::from(last) != w));
    },
    situations! { "warp_scheduler", |c| c.mrf.issue_ports == 2, |look| {
            let ports = look.o.warp_scheduler.issue_valid_o;
        }
        "both ports issue": ports == 3;
        "port 0 alone issues": ports == 1;
        "port 1 alone issues": ports == 2;
    },
    situations! { "issue_stage", |_| true, |look| {
            let stage = &look.o.issue_stage;
            let live = &look.o.simt_stack.live_o;
            let goes = stage.operand_valid_o;
        }
        "an instruction issues with 32 lanes": look.issues(|p, _| stage.exec_o[p] == u32::MAX);
        "an instruction issues with some of the living lanes":
            look.issues(|p, w| stage.exec_o[p] != 0 && stage.exec_o[p] != live[w]);
        "an instruction issues with one lane": look.issues(|p, _| stage.exec_o[p].is_power_of_two());
        "an instruction issues without a lane": look.issues(|p, _| stage.exec_o[p] == 0);
        "an instruction goes to the operand stage": goes != 0;
        "an instruction ends at issue": look.issues(|p, _| goes >> p & 1 == 0);
        "a barrier issues": stage.hold_valid_o != 0;
        "the fetch waits for an instruction": stage.stop_o != 0;
        "a guarded instruction with a result issues to some lanes of the group": look.issues(|p, w| {
            let roles = stage.instruction_o[p].roles();
            roles.d() != NO_REG && stage.exec_o[p] != 0 && stage.exec_o[p] != look.o.simt_stack.mask_o[w]
        });
    },
    situations! { "simt_stack", |_| true, |look| {
            let (out, state) = (&look.o.simt_stack, &look.s.simt_stack);
            let gives_way = state.pop_q;
            let depth = |w: usize| state.depth_q[w];
        }
        "a warp issues while no group waits": look.issues(|_, w| depth(w) == 0);
        "a warp issues while 1 group waits": look.issues(|_, w| depth(w) == 1);
        "a warp issues while 2 to 7 groups wait": look.issues(|_, w| (2..8).contains(&depth(w)));
        "a warp issues while 8 to 19 groups wait": look.issues(|_, w| (8..20).contains(&depth(w)));
        "a warp issues while 20 groups or more wait": look.issues(|_, w| depth(w) >= 20);
        "a warp takes a group from the stack": gives_way != 0;
        "all lanes of a group have ended":
            state.read_valid_q != 0 && out.resume_valid_o >> look.ports() & 1 == 0;
    },
    situations! { "simt_stack", several, |look| {
            let state = &look.s.simt_stack;
        }
        "a group is taken while another one's data is there": state.pop_q != 0 && state.read_valid_q != 0;
    },
    situations! { "simt_stack", |c| c.mrf.issue_ports == 2, |look| {
            let gives_way = look.s.simt_stack.pop_q;
        }
        "two warps want their stacks in a cycle": gives_way & gives_way.wrapping_sub(1) != 0;
    },
];

pub(super) static SUMS: &[Sums] = &[
    sums! { "sm", |_| true,
        "stall_empty": "a port issues nothing: it has no warps";
        "stall_barrier": "a port issues nothing: its warps wait at barriers";
        "stall_fetch": "a port issues nothing: no instruction has been fetched";
        "stall_scoreboard": "a port issues nothing: every head waits for a result";
    },
    sums! { "sm", several,
        "stall_collector": "a port issues nothing: the operand stage takes nothing";
    },
    sums! { "sm", |c| c.sm.active_warps != 0 && c.sm.active_warps < c.sm.warps,
        "stall_inactive": "a port issues nothing: what is ready is not active";
    },
    sums! { "sm", |c| c.mrf.issue_ports == 2,
        "stall_other": "a port issues nothing: the other port has a branch";
    },
];

const IN_FLIGHT: &[&str] = &[
    "scoreboard: an instruction goes while 0 of its warp are in flight",
    "scoreboard: an instruction goes while 1 of its warp is in flight",
    "scoreboard: an instruction goes while 2 of its warp are in flight",
    "scoreboard: an instruction goes while 3 of its warp are in flight",
    "scoreboard: an instruction goes while 4 of its warp are in flight",
    "scoreboard: an instruction goes while 5 of its warp are in flight",
    "scoreboard: an instruction goes while 6 of its warp are in flight",
    "scoreboard: an instruction goes while 7 of its warp are in flight",
    "scoreboard: an instruction goes while 8 of its warp are in flight",
    "scoreboard: an instruction goes while 9 to 12 of its warp are in flight",
    "scoreboard: an instruction goes while 13 of its warp or more are in flight",
];

/// Number of instructions of the same warp in flight when one is sent to the operand stage.
fn in_flight(look: &Look<'_>) -> u64 {
    set_bits(look.o.issue_stage.operand_valid_o).fold(0, |hits, p| {
        let warp = usize::from(look.o.issue_stage.warp_o[p]);
        let place = match look.s.scoreboard.count_q[warp] {
            count @ 0..=8 => count,
            9..=12 => 9,
            13.. => 10,
        };
        hits | 1 << place
    })
}

const HAZARDS: &[&str] = &[
    "scoreboard: a head waits for a source (read after write)",
    "scoreboard: a head waits for two sources or more",
    "scoreboard: a head waits for its destination (write after write)",
    "scoreboard: a head waits for source and destination",
    "scoreboard: a head waits for its guard",
    "scoreboard: a head waits for a predicate that it reads",
    "scoreboard: a head waits for the predicate that it writes",
];

/// Reasons for which heads start to wait.
fn hazards(look: &Look<'_>) -> u64 {
    let begin = look.blocked & !look.past.blocked;
    set_bits(begin).fold(0, |hits, w| {
        let roles = Roles(look.o.instruction_buffer.head_roles_o[w]);
        let registers = &look.s.scoreboard.reg_q[4 * w..][..4];
        let predicates = look.s.scoreboard.pred_q[w];
        let register = |r: u8| r != NO_REG && registers[usize::from(r / 64)] >> (r % 64) & 1 != 0;
        let predicate = |n: u8| n & 7 != NO_PRED && predicates >> (n & 7) & 1 != 0;
        let sources = roles.sources().into_iter().filter(|&r| register(r)).count();
        let destination = register(roles.d());
        hits | super::packed([
            sources != 0,
            sources > 1,
            destination,
            sources != 0 && destination,
            predicate(roles.guard()),
            predicate(roles.s()) || predicate(roles.t()),
            predicate(roles.p()),
        ])
    })
}
