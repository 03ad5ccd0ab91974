//! Pairs of warps whose blocks share something, and the warps of each block slot.

use crate::mrf::bits::set_bits;
use crate::shape::{BLOCK_SLOTS, SmShape};
use crate::sizes::MAX_WARPS;

/// The block slot of each warp, and the warps of each slot.
#[derive(Clone)]
pub(super) struct Slots {
    warps: usize,
    slot: [u8; MAX_WARPS],
    of_slot: [u64; BLOCK_SLOTS],
}

impl Slots {
    /// Initially all warps are in slot 0.
    pub(super) fn new(shape: &SmShape) -> Self {
        let mut of_slot = [0; BLOCK_SLOTS];
        of_slot[0] = shape.all_warps();
        Self { warps: shape.warps, slot: [0; MAX_WARPS], of_slot }
    }

    /// Sets the block slot of each warp.
    #[inline]
    pub(super) fn place(&mut self, slot: &[u8; MAX_WARPS]) {
        if self.slot != *slot {
            self.slot = *slot;
            self.of_slot = [0; BLOCK_SLOTS];
            for (w, &slot) in slot[..self.warps].iter().enumerate() {
                self.of_slot[usize::from(slot)] |= 1 << w;
            }
        }
    }

    /// The slot of a warp; 0 for a warp that does not exist.
    #[inline]
    pub(super) fn of(&self, warp: usize) -> usize {
        self.slot.get(warp).copied().unwrap_or_default().into()
    }

    /// The warps of a slot.
    #[inline]
    pub(super) fn warps(&self, slot: usize) -> u64 {
        self.of_slot[slot]
    }

    /// The warps of these slots.
    #[inline]
    pub(super) fn warps_of(&self, slots: u16) -> u64 {
        set_bits(slots).fold(0, |warps, slot| warps | self.of_slot[slot])
    }

    /// The slots of these warps.
    #[inline]
    pub(super) fn slots_of(&self, warps: u64) -> u16 {
        set_bits(warps).fold(0, |slots, w| slots | 1 << self.slot[w])
    }
}

/// How the SM is divided, and which of its slots have blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division {
    /// Warps with living lanes.
    pub(super) alive: u64,
    /// Number of warps of hosts; the other warps belong to guests.
    pub(super) host_warps: u8,
    /// Warps of all block slots.
    pub(super) end_warps: u8,
    /// Block slots with a block.
    pub(super) slot_busy: u16,
    /// Block slots whose block is the younger one of its pair.
    pub(super) slot_young: u16,
}

/// Warps that have a partner, and the state of the partner's block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pairs {
    hosts: usize,
    /// Warps with a place for a partner.
    pub(super) with_partner: u64,
    /// Warps of `with_partner` that live.
    pub(super) paired: u64,
    /// Warps of `paired` whose block is the younger one of its pair.
    pub(super) young: u64,
    /// Warps of `paired` whose partner's slot has a block.
    pub(super) beside_busy: u64,
}

/// The set of warps with numbers below `warps`.
#[inline]
pub(super) fn below(warps: usize) -> u64 {
    if warps < 64 { (1 << warps) - 1 } else { u64::MAX }
}

impl Pairs {
    #[inline]
    pub(super) fn of(at: &Division, slots: &Slots) -> Self {
        let hosts = usize::from(at.host_warps);
        let with_guest = below(usize::from(at.end_warps).saturating_sub(hosts)) & below(hosts);
        let mut pairs = Self { hosts, with_partner: with_guest | !below(hosts), paired: 0, young: 0, beside_busy: 0 };
        pairs.paired = at.alive & pairs.with_partner;
        pairs.young = pairs.paired & slots.warps_of(at.slot_young);
        pairs.beside_busy = pairs.paired & pairs.partners(slots.warps_of(at.slot_busy));
        pairs
    }

    /// The partners of these warps.
    #[inline]
    pub(super) fn partners(&self, warps: u64) -> u64 {
        let of_hosts = below(self.hosts);
        let (down, up) = (warps.checked_shr(self.hosts as u32), warps.checked_shl(self.hosts as u32));
        down.unwrap_or(0) & of_hosts | up.unwrap_or(0) & !of_hosts
    }

    /// The partner of a warp.
    #[inline]
    pub(super) fn partner(&self, warp: usize) -> usize {
        if warp < self.hosts { warp + self.hosts } else { warp - self.hosts }
    }

    /// Warps of owners: of the older blocks of pairs.
    #[inline]
    pub(super) fn owners(&self) -> u64 {
        self.beside_busy & !self.young
    }

    /// Warps of non-owners.
    #[inline]
    pub(super) fn non_owners(&self) -> u64 {
        self.beside_busy & self.young
    }
}
