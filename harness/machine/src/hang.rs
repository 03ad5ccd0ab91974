//! Finds out what the warps of a hanging SM wait for.

use std::fmt;

use gpurf_blocks::instruction::{Roles, returning_atomic};
use gpurf_blocks::shape::{Shared, SmShape};
use gpurf_blocks::share::RegisterLayout;
use gpurf_isa::Instruction;
use gpurf_oracle::host::KernelLaunch;
use gpurf_oracle::lanes_of;
use gpurf_sm::{SmOut, SmProbe};

use crate::fault::{Place, owner};

/// A launch without progress, or one that takes too long.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Hang {
    /// The kernel.
    pub kernel: String,
    /// The first cycle without progress; `None` if the launch has not ended within its limit of cycles.
    pub since: Option<u64>,
    /// The last cycle.
    pub cycle: u64,
    /// What waits for what, one line each; empty if inner signals are not visible.
    pub waits: Vec<String>,
}

impl fmt::Display for Hang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, since, cycle, waits } = self;
        match since {
            Some(since) => write!(f, "hang: kernel {kernel} has made no progress from cycle {since} to {cycle}")?,
            None => write!(
                f,
                "hang: kernel {kernel} has not ended in cycle {cycle}, the last one that --cycle-limit allows"
            )?,
        }
        if waits.is_empty() {
            return f.write_str("; the model and the lockstep can say what each warp waits for");
        }
        waits.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

/// What each warp waits for, and the contents of the units, from a cycle without progress.
pub fn waits(out: &SmOut, probe: &SmProbe, shape: &SmShape, launch: &KernelLaunch<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for warp in 0..shape.warps {
        if let Some(what) = warp_waits(out, probe, shape, warp, launch) {
            let name = owner(probe, &launch.geometry, warp).map_or_else(
                || format!("warp {warp}"),
                |(id, [x, y, z])| format!("warp {warp} (block ({x}, {y}, {z}), warp {})", id.warp),
            );
            lines.push(format!("{name}: {what}"));
        }
    }
    if lines.is_empty() {
        lines.push("no warp is alive or has anything in flight".to_owned());
    }
    lines.extend(units(out, probe));
    lines
}

/// What one warp waits for; `None` if it has ended.
fn warp_waits(out: &SmOut, probe: &SmProbe, shape: &SmShape, warp: usize, launch: &KernelLaunch<'_>) -> Option<String> {
    let (o, states) = (&probe.outputs, &probe.states);
    let bit = |mask: u64| mask >> warp & 1 == 1;
    let in_flight = states.scoreboard.count_q[warp];
    if !bit(o.simt_stack.alive_o) {
        return (in_flight > 0).then(|| format!("ended, with {in_flight} instructions in flight"));
    }
    let flight = if in_flight > 0 { format!("; {in_flight} instructions in flight") } else { String::new() };
    if bit(o.barrier_unit.held_o) {
        let barriers = &states.barrier_unit;
        if !bit(barriers.arrived_q) {
            return Some(format!("held at a barrier, where its BAR has not arrived{flight}"));
        }
        let whom = match barriers.count_q[warp] {
            0 => "all warps of its block".to_owned(),
            count => format!("{count} warps"),
        };
        return Some(format!("at barrier {} for {whom}", barriers.id_q[warp]));
    }
    if !bit(o.instruction_buffer.head_valid_o) {
        let why = if bit(states.fetch.running_q) {
            format!("to be fetched from {}", states.fetch.pc_q[warp])
        } else if bit(states.simt_stack.pop_q) {
            "its next group is to come from the SIMT stack".to_owned()
        } else {
            "its fetch has stopped".to_owned()
        };
        return Some(format!("no instruction: {why}{flight}"));
    }
    let buffer = &o.instruction_buffer;
    let words = [buffer.head_op_o[warp], buffer.head_ctl_o[warp]];
    let place = Place::of(launch.kernel, launch.source, buffer.head_pc_o[warp]);
    let text = Instruction::decode(words).map_or_else(|error| error.to_string(), |ins| ins.to_string());
    let head = format!("instruction {} ({}:{}) {text}", place.pc, place.file, place.line);
    let pending = pending(probe, warp, Roles(buffer.head_roles_o[warp]));
    let why = if !pending.is_empty() {
        format!("waits for {}", pending.join(", "))
    } else if out.fault_o == 1 {
        "stopped by a fault".to_owned()
    } else if let Some(why) = lock_waits(probe, shape, warp, launch) {
        why
    } else if bit(o.scoreboard.operand_o) && o.operand_stage.issue_ready_o >> (warp % shape.ports()) & 1 == 0 {
        "the operand stage is full".to_owned()
    } else {
        "may issue, and does not".to_owned()
    };
    Some(format!("{why}: {head}{flight}"))
}

/// What a head waits for because its block shares something with another block; `None` if it does not wait for this.
fn lock_waits(probe: &SmProbe, shape: &SmShape, warp: usize, launch: &KernelLaunch<'_>) -> Option<String> {
    let o = &probe.outputs;
    let is = |mask: u64| mask >> warp & 1 == 1;
    if !shape.shares() || is(o.share_locks.clear_o) || !is(o.scoreboard.clear_o) {
        return None;
    }
    let hosts = usize::from(RegisterLayout(o.block_launcher.layout_o).host_warps());
    let partner = if warp < hosts { warp + hosts } else { warp.wrapping_sub(hosts) };
    let block = |warp: usize| {
        owner(probe, &launch.geometry, warp)
            .map_or_else(|| "another block".to_owned(), |(_, [x, y, z])| format!("block ({x}, {y}, {z})"))
    };
    let buffer = &o.instruction_buffer;
    let op = buffer.head_op_o[warp];
    let atomic = returning_atomic(op, Roles(buffer.head_roles_o[warp]).d());
    Some(match shape.share {
        Shared::Scratchpad => {
            let locks = &probe.states.scratchpad_locks;
            match locks.check_q[warp] {
                // State of `check_q`: in flight.
                1 => "waits for the answer to its probe or release".to_owned(),
                _ if atomic => format!("an atomic operation that waits until {} is through", block(partner)),
                _ => format!("waits for the lock of shared memory in common with {}", block(partner)),
            }
        }
        _ if atomic => format!(
            "an atomic operation that waits for the end of {}, or for a register in common with it",
            block(partner)
        ),
        _ => format!("waits for registers in common with warp {partner} ({})", block(partner)),
    })
}

/// Registers and predicates of an instruction that have not been written yet.
pub fn pending(probe: &SmProbe, warp: usize, roles: Roles) -> Vec<String> {
    let scoreboard = &probe.states.scoreboard;
    let register = |r: u8| scoreboard.reg_q[4 * warp + usize::from(r) / 64] >> (r % 64) & 1 == 1;
    let predicate = |p: u8| scoreboard.pred_q[warp] >> (p & 7) & 1 == 1;
    let mut names = Vec::new();
    for r in [roles.a(), roles.b(), roles.c(), roles.d()] {
        if register(r) {
            names.push(format!("R{r}"));
        }
    }
    for p in [roles.guard(), roles.s(), roles.t(), roles.p()] {
        if predicate(p) {
            names.push(format!("P{}", p & 7));
        }
    }
    names.dedup();
    names
}

/// The contents of the units.
fn units(out: &SmOut, probe: &SmProbe) -> Vec<String> {
    let (o, states) = (&probe.outputs, &probe.states);
    let mut lines = Vec::new();
    let unit = &o.address_unit;
    if unit.busy_o == 1 {
        let to = match (unit.global_valid_o, unit.shared_valid_o, unit.constant_valid_o, unit.shuffle_valid_o) {
            (1, ..) => "the coalescer",
            (_, 1, ..) => "shared memory",
            (_, _, 1, _) => "constant memory",
            (_, _, _, 1) => "the lane crossbar",
            _ => "results of its lanes in another memory",
        };
        lines.push(format!("address unit: lanes {:#010x} of warp {} wait for {to}", unit.lanes_o, unit.warp_o));
    }
    if out.mem_req_valid_o == 1 {
        lines.push(format!("memory: a request of warp {} is not taken", out.mem_req_warp_o));
    }
    let lines_in_flight = states.line_table.count_q;
    if lines_in_flight > 0 {
        lines.push(format!("line table: {lines_in_flight} lines in flight"));
    }
    let queues = lanes_of(o.operand_stage.dispatch_valid_o.into()).map(|port| {
        format!("operand stage: port {port} offers an instruction of warp {}", o.operand_stage.dispatch_warp_o[port])
    });
    lines.extend(queues);
    if out.busy_o == 1 {
        let (busy, slots) = (o.block_launcher.slot_busy_o, states.block_launcher.slots_q);
        lines.push(format!("launcher: {} of {slots} block slots are taken", busy.count_ones()));
    }
    lines
}
