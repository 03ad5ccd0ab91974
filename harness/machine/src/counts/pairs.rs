//! Pairs of blocks that share something: how many there are (sharing thesis 2.2.4), and which blocks are on the SM.

use std::collections::BTreeMap;

use gpurf_blocks::config::{Config, SharedResource};

use super::seen::Seen;
use crate::job::Job;

/// A block that is on the SM.
#[derive(Clone, Copy)]
pub struct Resident {
    /// Number of the block, in the order in which blocks begin.
    number: u64,
    /// Number of its warps that have begun.
    begun: usize,
}

/// The private part of a guest block.
#[derive(Clone, Copy)]
pub struct Private {
    /// Private registers of a thread.
    pub registers: usize,
    /// Private bytes of shared memory.
    pub bytes: usize,
}

impl Private {
    /// The private part by the configured tenths for what is shared; all of what is not shared.
    fn of(config: &Config, job: &Job) -> Self {
        let (registers, bytes) = (usize::from(job.registers), job.shared as usize);
        let part = |whole: usize| (whole * config.share.private).div_ceil(10);
        match config.share.resource {
            SharedResource::Registers => Self { registers: part(registers), bytes },
            SharedResource::Scratchpad => Self { registers, bytes: part(bytes).next_multiple_of(4) },
        }
    }
}

/// The blocks on an SM, and their partners.
pub struct Pairs {
    /// Warps of a block.
    pub warps: usize,
    /// The private part of each guest.
    pub private: Private,
    /// Number of blocks that have all that they need; `guests`: number of blocks that share.
    pub hosts: usize,
    guests: usize,
    resident: BTreeMap<usize, Resident>,
    begun: u64,
}

impl Pairs {
    /// An SM without blocks, with the number of blocks that it may hold (thesis 2.2.4).
    pub fn begin(config: &Config, job: &Job) -> Self {
        let sm = &config.sm;
        let file = config.mrf.kilobytes * 1024 / 128;
        let (registers, bytes) = (usize::from(job.registers), (job.shared as usize).next_multiple_of(4));
        let private = Private::of(config, job);
        let warps = job.geometry.warps() as usize;
        let fits = |hosts: usize, guests: usize| {
            let own_bytes = private.bytes.next_multiple_of(4);
            hosts + guests <= sm.blocks
                && (hosts + guests) * warps <= sm.warps
                && hosts * bytes + guests * own_bytes <= sm.shared_kilobytes * 1024
                && (hosts * registers + guests * private.registers) * warps <= file
        };
        let hosts = (1..).take_while(|&hosts| fits(hosts, 0)).last().unwrap_or(0);
        let guests = (1..=hosts).take_while(|&guests| fits(hosts, guests)).last().unwrap_or(0);
        Self { warps, private, hosts, guests, resident: BTreeMap::new(), begun: 0 }
    }

    /// The slot whose block shares with the block of this slot.
    pub fn partner(&self, slot: usize) -> Option<usize> {
        match slot.checked_sub(self.hosts) {
            Some(host) => Some(host),
            None => Some(slot + self.hosts).filter(|_| slot < self.guests),
        }
    }

    /// The warp slots of a block slot.
    pub fn of(&self, slot: usize) -> std::ops::Range<usize> {
        slot * self.warps..(slot + 1) * self.warps
    }

    /// Whether a slot has a block.
    pub fn is_there(&self, slot: usize) -> bool {
        self.resident.contains_key(&slot)
    }

    /// Whether the block of `slot` is older than that of `other`, and whether it is younger; both false if either slot has no block.
    pub fn age(&self, slot: usize, other: usize) -> (bool, bool) {
        let number = |slot| self.resident.get(&slot).map(|block| block.number);
        number(slot).zip(number(other)).map_or((false, false), |(own, other)| (own < other, own > other))
    }

    /// Called first in a cycle; returns the warp that begins in it.
    pub fn start(&mut self, seen: &Seen<'_>) -> Option<usize> {
        let launcher = &seen.cycle.probe.outputs.block_launcher;
        let w = (launcher.start_valid_o != 0).then(|| usize::from(launcher.start_warp_o))?;
        if w % self.warps == 0 {
            self.resident.insert(w / self.warps, Resident { number: self.begun, begun: 0 });
            self.begun += 1;
        }
        Some(w)
    }

    /// Called last in a cycle. `started`: the warp that began in it; `ended`: whether a warp has no living lanes and nothing in flight.
    pub fn end(&mut self, started: Option<usize>, ended: impl Fn(usize) -> bool) {
        if let Some(block) = started.and_then(|w| self.resident.get_mut(&(w / self.warps))) {
            block.begun += 1;
        }
        let warps = self.warps;
        let gone = |slot: usize, block: &Resident| {
            let starting = started.is_some_and(|w| w / warps == slot);
            block.begun == warps && !starting && (slot * warps..(slot + 1) * warps).all(&ended)
        };
        self.resident.retain(|&slot, block| !gone(slot, block));
    }
}
