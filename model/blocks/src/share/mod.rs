//! Blocks that share registers or scratchpad memory: `docs/sharing.md`, `docs/scratchpad-sharing.md`.

use crate::entry::declare_blocks;

pub(crate) mod config;
mod pairs;

/// Gives a macro the blocks of this folder, leaves first: module, twin, what it does.
#[macro_export]
macro_rules! share_blocks {
    ($callback:ident) => {
        $callback! { share:
            register_places RegisterPlaces "place of a register, handed out one by one",
            share_locks ShareLocks "which warps may access shared registers",
            scratchpad_locks ScratchpadLocks "which block of a pair may access shared scratchpad memory",
            share_throttle ShareThrottle "how often non-owners may use memory",
        }
    };
}

share_blocks!(declare_blocks);

/// Fields of `share_count_event_t`, most significant first: those of `share_event_t`, then those of `share_throttle_event_t`.
pub const SHARE_COUNT_EVENT: &[(&str, u32)] = &{
    const LOCKS: usize = SHARE_EVENT.len();
    let mut all = [("", 0); LOCKS + SHARE_THROTTLE_EVENT.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < LOCKS { SHARE_EVENT[at] } else { SHARE_THROTTLE_EVENT[at - LOCKS] };
        at += 1;
    }
    all
};

/// Makes `share_count_event_t` from its two parts.
#[inline]
pub const fn count_event(locks: u64, throttle: u64) -> u64 {
    locks << THROTTLE_EVENT_BITS | throttle
}

#[cfg(test)]
mod phases;
