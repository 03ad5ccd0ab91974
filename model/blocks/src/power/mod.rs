//! Power states of the main register file's registers: `docs/power.md`.

use crate::entry::declare_blocks;
use crate::instruction::{NO_REG, Roles, marked};

pub(crate) mod config;
pub(crate) mod words;

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

/// The power states that a control word says of the registers that an instruction accesses in the main register file: `main_states` of
/// `gpurf_pkg`. A source's field goes by its place among all sources that are registers; a third one has SLEEP.
#[inline]
pub fn main_states(roles: Roles, main: Roles, ctl: u64) -> u8 {
    let states = (ctl >> marked::POWER_STATES) as u8 & ((1 << STATES_BITS) - 1);
    if roles == main {
        return states;
    }
    const SLEEP: u8 = 1;
    let mut fields = [states & 3, states >> 2 & 3, SLEEP].into_iter();
    let mut moved = states & 0b11 << 4;
    let mut to = 0;
    for (name, kept) in roles.sources().into_iter().zip(main.sources()).filter(|&(name, _)| name != NO_REG) {
        let field = fields.next().unwrap_or(SLEEP);
        // The third one that is left has its place after both fields.
        if kept != NO_REG && to < 2 {
            moved |= field << (2 * to);
        }
        to += u8::from(kept != NO_REG);
        debug_assert!(kept == NO_REG || kept == name);
    }
    moved
}

/// The power states that a control word says of the sources of an instruction, one after another: `sources_left` of `gpurf_pkg`. A source
/// that is the result too has the result's.
#[inline]
pub(crate) fn sources_left(roles: Roles, ctl: u64) -> [u8; 3] {
    const SLEEP: u8 = 1;
    let field = |number: u32| (ctl >> (marked::POWER_STATES + 2 * number)) as u8 & 3;
    let mut fields = [field(0), field(1), SLEEP].into_iter();
    roles.sources().map(|name| {
        if name == NO_REG {
            return 0;
        }
        let own = fields.next().unwrap_or(SLEEP);
        if name == roles.d() { field(2) } else { own }
    })
}

#[cfg(test)]
mod phases;

#[cfg(test)]
mod tests {
    use super::main_states;
    use crate::instruction::{Roles, RolesFields, marked};

    #[test]
    fn fields_move_up_to_the_sources_that_are_left() {
        let of = |names: [u8; 3]| {
            Roles::from(RolesFields { a: names[0], b: names[1], c: names[2], d: 9, ..RolesFields::default() })
        };
        // First source OFF, second ON, result SLEEP.
        let states = |names: [u8; 3], left: u8| {
            main_states(of(names), of(names).without(!left & 7), 0b01_00_10 << marked::POWER_STATES | 0xff)
        };
        assert_eq!(states([1, 2, 3], 0b111), 0b01_00_10);
        assert_eq!(states([1, 2, 3], 0b110), 0b01_01_00, "the second is first, the third sleeps");
        assert_eq!(states([1, 2, 3], 0b101), 0b01_01_10);
        assert_eq!(states([1, 2, 3], 0b100), 0b01_00_01);
        assert_eq!(states([1, 2, 3], 0), 0b01_00_00);
        assert_eq!(states([255, 2, 3], 0b110), 0b01_00_10);
        assert_eq!(states([255, 2, 3], 0b100), 0b01_00_00);
        assert_eq!(states([1, 255, 3], 0b001), 0b01_00_10);
    }
}
