//! Power states of the main register file's registers: `docs/power.md`.

use crate::entry::declare_blocks;

pub(crate) mod config;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! power_blocks {
    ($callback:ident) => {
        $callback! { power:
            power_states PowerStates "registers that are ON, in SLEEP or OFF",
            access_table AccessTable "registers of the instructions in progress",
        }
    };
}

power_blocks!(declare_blocks);

/// Fields of `power_count_event_t`, most significant first: those of `power_wait_event_t`, then those of `access_table_event_t`.
pub const POWER_COUNT_EVENT: &[(&str, u32)] =
    &[POWER_WAIT_EVENT[0], POWER_WAIT_EVENT[1], ACCESS_TABLE_EVENT[0], ACCESS_TABLE_EVENT[1]];

/// `power_count_event_t`, from its two parts.
#[inline]
pub const fn count_event(wait: u64, table: u64) -> u64 {
    let mut bits = 0;
    let mut at = 0;
    while at < ACCESS_TABLE_EVENT.len() {
        bits += ACCESS_TABLE_EVENT[at].1;
        at += 1;
    }
    wait << bits | table
}

#[cfg(test)]
mod phases;
