//! Blocks of threads and barriers.

use gpurf_blocks::config::Config;
use gpurf_blocks::control::BarrierUnitProbe;
use gpurf_blocks::mrf::bits::set_bits;

use super::look::Look;
use super::{Group, Sums, situations, sums};

/// Whether the register file has room for all warps if each has as many registers as the smallest random programs.
fn room_for_all(config: &Config) -> bool {
    const REGISTERS: usize = 32;
    let shape = config.sm_shape();
    shape.warps * REGISTERS.div_ceil(shape.mrf.banks) <= shape.mrf.depth
}

/// What the launcher does: `state_q`.
mod state {
    pub(super) const RUN: u8 = 3;
}

pub(super) static GROUPS: &[Group] = &[
    situations! { "block_launcher", |_| true, |look| {
            let (out, launcher) = (&look.o.block_launcher, &look.s.block_launcher);
            let busy = out.slot_busy_o;
            let all = busy.count_ones() == u32::from(launcher.slots_q);
            let run = launcher.state_q == state::RUN;
            let ends = look.past.slots & !busy != 0;
            let settled = launcher.starting_q == 0;
            let fewer = look.alive.count_ones() < busy.count_ones() * u32::from(launcher.warps_q);
        }
        "no block is there": run && busy == 0;
        "one block is there": run && busy.is_power_of_two();
        "every slot has a block, two at least": run && all && launcher.slots_q > 1;
        "a slot is free and no block is left": run && !all && launcher.starting_q == 0;
        "a warp begins": out.start_valid_o != 0;
        "a warp begins while another block's run": out.start_valid_o != 0 && busy & busy.wrapping_sub(1) != 0;
        "a block begins where another one has just ended": busy & !look.past.slots & look.past.freed != 0;
        "a block ends while others go on": ends && busy != 0;
        "a block of one warp": run && launcher.warps_q == 1;
        "a block of eight warps or more": run && launcher.warps_q >= 8;
        "one warp lives": look.alive.is_power_of_two();
        "warps have ended while others of their block live": run && settled && fewer;
        "a warp has ended with results under way": !look.alive & !look.o.scoreboard.idle_o & look.shape.all_warps() != 0;
    },
    situations! { "block_launcher", room_for_all, |look| {}
        "every warp lives": look.alive == look.shape.all_warps();
    },
    situations! { "barrier_unit", |_| true, |look| {
            let (held, arrived) = (look.o.barrier_unit.held_o, look.s.barrier_unit.arrived_q);
            let open = look.o.barrier_unit.open_o;
        }
        "no warp waits": held == 0 && look.alive != 0;
        "one warp waits": held.is_power_of_two();
        "every living warp waits": held != 0 && held == look.alive;
        "a warp is held that has not arrived": held & !arrived != 0;
        "a barrier opens for one warp": open.is_power_of_two();
        "a barrier opens for two warps or more": open & open.wrapping_sub(1) != 0;
        "a barrier opens while warps wait at another one": open != 0 && arrived & !open != 0;
        "a barrier opens for some warps of a block": open != 0 && some_of_block(look, open);
    },
    Group { there: |_| true, points: MISSING, look: missing },
];

pub(super) static SUMS: &[Sums] = &[sums! { "sm", |_| true,
    "barrier_open": "a barrier opens";
    "warp_start": "a warp begins";
}];

/// The living warps in the same block slot as this one.
fn block_of(look: &Look<'_>, warp: usize) -> u64 {
    let slot = &look.o.block_launcher.slot_o;
    set_bits(look.alive).filter(|&w| slot[w] == slot[warp]).fold(0, |block, w| block | 1 << w)
}

/// Whether the block of the first warp in a set has living warps outside the set.
fn some_of_block(look: &Look<'_>, set: u64) -> bool {
    block_of(look, set.trailing_zeros() as usize) & !set != 0
}

const MISSING: &[&str] = &[
    "barrier_unit: the first warp of a block arrives",
    "barrier_unit: all but one warp of a block have arrived",
    "barrier_unit: every warp of a block has arrived",
    "barrier_unit: a warp arrives at a barrier of some warps",
    "barrier_unit: two barriers of a block have warps",
];

/// The number of missing warps when a warp arrives.
fn missing(look: &Look<'_>) -> u64 {
    let &BarrierUnitProbe { arrived_q, id_q, count_q, .. } = &look.s.barrier_unit;
    set_bits(arrived_q & !look.past.arrived).fold(0, |hits, w| {
        let block = block_of(look, w);
        let there = block & arrived_q;
        let here = set_bits(there).filter(|&v| id_q[v] == id_q[w]).count();
        let left = block.count_ones() as usize - here;
        hits | super::packed([
            here == 1 && left > 0,
            left == 1,
            left == 0,
            count_q[w] != 0,
            there.count_ones() as usize > here,
        ])
    })
}
