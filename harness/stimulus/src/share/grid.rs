//! A grid with hosts and guests, as the launcher presents it to the locks.

use gpurf_blocks::shape::{BLOCK_SLOTS, SmShape};
use gpurf_blocks::share::{RegisterLayout, RegisterLayoutFields};
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_lockstep::Rng;

/// Most cycles of a grid.
const LONGEST: u64 = 400;

/// The grid, and which slots have a block.
#[derive(Clone)]
pub(super) struct Grid {
    pub(super) layout: RegisterLayoutFields,
    /// Warps of a block.
    warps: usize,
    hosts: usize,
    slots: usize,
    busy: u16,
    young: u16,
    /// The slot whose warps are being started, and the number of the next warp in its block.
    starting: Option<(usize, usize)>,
    /// Cycles until no further block is started.
    left: u64,
}

/// The outputs of the launcher in a cycle.
pub(super) struct Division {
    pub(super) layout: u64,
    pub(super) end_warps: u8,
    pub(super) slot: [u8; MAX_WARPS],
    pub(super) busy: u16,
    pub(super) young: u16,
}

/// The outputs of the launcher in a cycle. If there is no grid, one begins, and straps are chosen for it: a bit for each chance, lowest first.
pub(super) fn launched(
    grid: &mut Option<Grid>,
    shape: &SmShape,
    rng: &mut Rng,
    guests: u32,
    straps: (&mut u8, &[u32]),
) -> Division {
    if grid.as_ref().is_some_and(Grid::is_over) {
        *grid = None;
    } else if grid.is_none() {
        *grid = Some(Grid::divided(shape, rng, guests));
        let (word, chances) = straps;
        *word = chances.iter().enumerate().fold(0, |word, (bit, &chance)| word | u8::from(rng.chance(chance)) << bit);
    }
    match grid {
        None => Grid::nothing(shape, rng),
        Some(grid) => {
            grid.left = grid.left.saturating_sub(1);
            grid.division(shape)
        }
    }
}

impl Grid {
    /// A grid that divides the SM at random. A block that could be a guest is one with the chance `guests`.
    fn divided(shape: &SmShape, rng: &mut Rng, guests: u32) -> Self {
        let all = shape.warps;
        let widest = if rng.chance(600) { 4 } else { 24 };
        let warps = 1 + rng.below(widest.min(all as u64 / 2)) as usize;
        let most = (all / warps).min(BLOCK_SLOTS);
        // If half of the slots are hosts, every slot can be in a pair, the last ones too.
        let hosts = if rng.chance(300) { most.div_ceil(2) } else { 1 + rng.below(most as u64) as usize };
        let mut slots = hosts;
        while slots < most && slots - hosts < hosts && rng.chance(guests) {
            slots += 1;
        }
        let registers = 1 + rng.below(255) as u8;
        let private_registers = 1 + rng.below(registers.into()) as u8;
        let host_warps = if rng.chance(100) && slots == hosts { all } else { hosts * warps } as u8;
        let layout = RegisterLayoutFields {
            guest_base: rng.next_u64() as u16 & 0xfff,
            host_warps,
            private_registers,
            registers,
        };
        let hosts = if slots > hosts || usize::from(host_warps) != all { hosts } else { slots };
        Self { layout, warps, hosts, slots, busy: 0, young: 0, starting: None, left: 1 + rng.below(LONGEST) }
    }

    /// The outputs of the launcher between grids: they have no meaning, since no warp is alive.
    fn nothing(shape: &SmShape, rng: &mut Rng) -> Division {
        let layout = rng.next_u64() >> (64 - 35);
        let end_warps = rng.next_u64() as u8 & 127;
        let (busy, young) = (rng.next_u64() as u16, rng.next_u64() as u16);
        let mut slot = [0; MAX_WARPS];
        for slot in &mut slot[..shape.warps] {
            *slot = rng.below(BLOCK_SLOTS as u64) as u8;
        }
        Division { layout, end_warps, slot, busy, young }
    }

    /// The outputs of the launcher for this grid.
    fn division(&self, shape: &SmShape) -> Division {
        let mut slot = [0; MAX_WARPS];
        for (w, slot) in slot[..shape.warps].iter_mut().enumerate() {
            *slot = if w / self.warps < self.slots { (w / self.warps) as u8 } else { 0 };
        }
        let layout = RegisterLayout::from(self.layout).0;
        let end_warps = (self.slots * self.warps) as u8;
        Division { layout, end_warps, slot, busy: self.busy, young: self.young }
    }

    /// Whether no further block is put into a slot.
    pub(super) fn winds_up(&self) -> bool {
        self.left == 0
    }

    /// Whether the last block of the grid has ended.
    fn is_over(&self) -> bool {
        self.left == 0 && self.busy == 0 && self.starting.is_none()
    }

    /// The warp that begins at the next edge.
    pub(super) fn begins(&self) -> Option<usize> {
        self.starting.map(|(slot, number)| slot * self.warps + number)
    }

    /// The clock edge of a cycle in which these warps have ended: blocks leave their slots, and a free slot gets a block with the chance `place`.
    pub(super) fn edge(&mut self, rng: &mut Rng, place: u32, ended: u64) {
        let busy = self.busy;
        for slot in 0..self.slots {
            let starts = self.starting.is_some_and(|(starting, _)| starting == slot);
            let warps = ((1u64 << self.warps) - 1) << (slot * self.warps);
            if !starts && ended & warps == warps {
                self.busy &= !(1 << slot);
            }
        }
        match &mut self.starting {
            Some((_, number)) => {
                *number += 1;
                if *number == self.warps {
                    self.starting = None;
                }
            }
            None => {
                let free = (0..self.slots).find(|slot| busy >> slot & 1 == 0);
                if let Some(slot) = free.filter(|_| self.left > 0 && rng.chance(place)) {
                    self.busy |= 1 << slot;
                    self.young &= !(1 << slot);
                    if let Some(partner) = self.partner(slot) {
                        self.young = self.young & !(1 << partner) | 1 << slot;
                    }
                    self.starting = Some((slot, 0));
                }
            }
        }
    }

    /// The other slot of a slot's pair.
    fn partner(&self, slot: usize) -> Option<usize> {
        if slot >= self.hosts { Some(slot - self.hosts) } else { Some(slot + self.hosts).filter(|&s| s < self.slots) }
    }
}
