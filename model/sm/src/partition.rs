//! How the driver divides unified memory at a launch: `docs/unified.md`, "The driver".

use gpurf_blocks::config::{CacheConfig, Config, LINES_PER_ROW, least_lines};
use gpurf_blocks::unified::{Partition, ROW_BYTES};

use crate::residency::{Demand, Room};

/// The division of unified memory at a launch: registers, scratchpad and cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Division {
    /// Block slots.
    pub slots: u32,
    /// Rows of registers.
    pub register_rows: u32,
    /// Rows of scratchpad memory.
    pub shared_rows: u32,
    /// Lines of the cache; 0: no cache.
    pub cache_lines: u32,
}

impl Division {
    /// The division if not one block fits: the launcher then finds no room either.
    pub const NOTHING: Self = Self { slots: 0, register_rows: 0, shared_rows: 0, cache_lines: 0 };

    /// The division for a launch of blocks of so many threads. `NOTHING` without unified memory, or if no block fits.
    pub fn of(config: &Config, demand: &Demand, threads: u32) -> Self {
        let room = Room::of_launch(config, threads);
        let Some(pool) = room.pool else { return Self::NOTHING };
        let slots = room.residency(demand, None).hosts;
        if slots == 0 {
            return Self::NOTHING;
        }
        let (register_rows, shared_rows) = (room.register_rows(demand, slots), room.shared_rows(demand, slots));
        let left = config.sm_shape().mrf.depth as u32 - register_rows - shared_rows;
        let cache_lines = match config.launch.cache_kilobytes.number() {
            Some(_) => pool.cache_rows * LINES_PER_ROW as u32,
            None => largest_cache(config, left),
        };
        Self { slots, register_rows, shared_rows, cache_lines }
    }

    /// Rows of the cache.
    pub const fn cache_rows(self) -> u32 {
        self.cache_lines / LINES_PER_ROW as u32
    }

    /// The division in the form that a launch uses.
    pub fn partition(self) -> Partition {
        let cache_log = self.cache_lines.checked_ilog2().unwrap_or(0) as u8;
        Partition { register_rows: self.register_rows as u16, cache_log }
    }
}

/// The largest cache, in lines, that fits into this number of rows; 0: not even the smallest cache fits.
fn largest_cache(config: &Config, rows: u32) -> u32 {
    let (least, most) = (least_lines(config.cache.ways) as u32, config.cache.lines() as u32);
    let room = (rows * LINES_PER_ROW as u32).min(most);
    let largest = room.checked_ilog2().map_or(0, |log| 1 << log);
    if largest < least { 0 } else { largest }
}

/// Rows that registers and scratchpad memory have together, and rows that are reserved for the cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pool {
    /// Rows of registers and scratchpad memory together.
    pub rows: u32,
    /// Rows that the cache has in any case.
    pub cache_rows: u32,
}

impl Pool {
    /// The pool of a configuration; none without unified memory.
    pub fn of(config: &Config) -> Option<Self> {
        let kilobytes = config.launch.cache_kilobytes.number().unwrap_or(0);
        let cache_rows = (CacheConfig { kilobytes, ..config.cache }.lines() / LINES_PER_ROW) as u32;
        let rows = config.unified.rows() as u32;
        config.unified.is_present().then_some(Self { rows: rows - cache_rows, cache_rows })
    }
}

impl Room {
    /// The room for a launch of blocks of `threads` threads.
    pub fn of_launch(config: &Config, threads: u32) -> Self {
        let room = Self::of(config);
        let most = config.launch.threads.number().map_or(room.blocks, |most| most as u32 / threads.max(1));
        Self { blocks: room.blocks.min(most), ..room }
    }

    /// Rows of the registers of `blocks` blocks.
    pub fn register_rows(&self, demand: &Demand, blocks: u32) -> u32 {
        blocks * demand.warps * demand.registers.div_ceil(self.register_step)
    }

    /// Rows of the scratchpad memory of `blocks` blocks.
    pub fn shared_rows(&self, demand: &Demand, blocks: u32) -> u32 {
        (blocks * demand.scratchpad.next_multiple_of(self.scratchpad_step)).div_ceil(ROW_BYTES)
    }

    /// The largest number of blocks, at most `most`, for which registers and scratchpad memory together have room.
    pub(crate) fn in_pool(&self, demand: &Demand, most: u32) -> u32 {
        let Some(pool) = self.pool else { return most };
        let fits = |blocks: &u32| self.register_rows(demand, *blocks) + self.shared_rows(demand, *blocks) <= pool.rows;
        (1..=most).rev().find(fits).unwrap_or(0)
    }
}
