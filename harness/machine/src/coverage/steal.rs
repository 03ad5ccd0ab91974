//! Bank stealing.

use gpurf_blocks::config::Config;

use super::unreached::Exception;
use super::{Group, Sums, situations, sums};

fn reads(config: &Config) -> bool {
    config.steal.present && config.steal.read
}

fn writes(config: &Config) -> bool {
    config.steal.present && config.steal.write
}

pub(super) const EXCEPTIONS: &[Exception] = &[];

pub(super) static GROUPS: &[Group] = &[
    situations! { "steal_table", writes, |look| {
            let &gpurf_blocks::steal::StealProbe { free_valid, parked, .. } = look.s.operand_stage.provider.steal();
            let banks = look.shape.mrf.banks as u32;
        }
        "half of the banks or fewer have a free entry": free_valid.count_ones() <= banks / 2 && look.alive != 0;
        "every bank has a free entry": free_valid.count_ones() == banks;
        "no value is parked": parked == 0 && look.alive != 0;
        "one value is parked": parked.is_power_of_two();
        "two values or more are parked": parked & parked.wrapping_sub(1) != 0;
        "values are parked while a warp begins": parked != 0 && look.o.block_launcher.start_valid_o != 0;
    },
    // With four collectors few results meet reads.
    situations! { "steal_table", |c| writes(c) && (c.mrf.collectors > 4 || c.mrf.banks <= 4), |look| {
            let &gpurf_blocks::steal::StealProbe { free_valid, parked, .. } = look.s.operand_stage.provider.steal();
        }
        "every free entry has a value": parked != 0 && parked == free_valid;
    },
    situations! { "steal_candidates", reads, |look| {
            let steal = look.s.operand_stage.provider.steal();
        }
        "a candidate is there": steal.candidates_valid_q != 0;
        "a candidate has operands to read": steal.want_valid != 0;
        "a candidate issues with what was read for it": steal.stolen_taken != 0;
    },
    situations! { "steal_return", writes, |look| {
            let steal = look.s.operand_stage.provider.steal();
        }
        "a value lands while another one is fetched": steal.land_valid & steal.fetch_valid != 0;
        "no bus is free": steal.bus_free == 0;
        "a value was parked in the cycle before": steal.fresh != 0;
    },
];

// Of more banks few are busy for so long that a second result finds the first one still parked.
pub(super) static SUMS: &[Sums] = &[
    sums! { "steal_arbiter", reads,
        "candidate": "a candidate has an operand to read";
        "stolen": "an operand is read from an idle bank";
        "steal": "a candidate issues as its operand is read";
    },
    sums! { "steal_arbiter", writes,
        "write_normal": "a result is written to its bank";
        "write_forced": "a result is forced into its bank";
        "write_partial": "a result of some lanes is not parked (hazard 5)";
        "write_parked": "a result is parked";
        "write_wait_bus": "a result waits for a value that lands";
        "return_next": "a parked value goes back in the next cycle";
        "return_later": "a parked value goes back later";
        "return_forced": "a parked value is forced back";
        "land": "a parked value lands in its register";
        "wait_return": "an operand waits for a value that goes back";
    },
    sums! { "steal_arbiter", |c| writes(c) && c.steal.redirect,
        "redirected": "an operand is read where it is parked (hazard 11)";
    },
    sums! { "steal_arbiter", |c| writes(c) && c.steal.drop && c.mrf.banks <= 4,
        "dropped": "a parked value is dropped as its register is overwritten (hazard 11)";
    },
    sums! { "steal_arbiter", |c| writes(c) && c.steal.unread,
        "write_next": "a result that is read next is not parked";
    },
    sums! { "steal_dependence", |c| writes(c) && !c.steal.redirect,
        "force_read": "a read needs a parked value (hazard 11)";
        "wait_parked": "an operand waits for a parked value (hazard 11)";
    },
    sums! { "steal_dependence", |c| writes(c) && c.mrf.banks <= 4,
        "force_write": "a write needs a parked value's place (hazard 11)";
        "force_alive": "the free entry of a parked value is alive again (hazard 11)";
        "write_wait_parked": "a result waits for a parked value of its register (hazard 11)";
    },
    sums! { "steal_table", writes,
        "hint": "a register is dead";
        "hint_ignored": "a hint is ignored (hazard 11)";
    },
];
