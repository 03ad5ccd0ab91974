//! Pairs of blocks that share something, followed: how many there are (sharing thesis 2.2.4), and which blocks are on the SM.

use std::collections::BTreeMap;

use gpurf_blocks::config::{Config, SharedResource};

use super::seen::Seen;
use crate::job::Job;

/// A block that is on the SM.
#[derive(Clone, Copy)]
pub struct Resident {
    /// In the order in which they begin.
    number: u64,
    /// Warps of it that have begun.
    begun: usize,
}

/// What a block has for itself if it is a guest.
#[derive(Clone, Copy)]
pub struct Private {
    /// Registers of a thread.
    pub registers: usize,
    /// Bytes of shared memory.
    pub bytes: usize,
}

impl Private {
    /// With the tenths of what is shared, and all of the other.
    fn of(config: &Config, job: &Job) -> Self {
        let (registers, bytes) = (usize::from(job.registers), job.shared as usize);
        let part = |whole: usize| (whole * config.share.private).div_ceil(10);
        match config.share.resource {
            SharedResource::Registers => Self { registers: part(registers), bytes },
            SharedResource::Scratchpad => Self { registers, bytes: part(bytes).next_multiple_of(4) },
        }
    }
}

/// The blocks on an SM, and who shares with whom.
pub struct Pairs {
    /// Warps of a block.
    pub warps: usize,
    /// What guests have for themselves.
    pub private: Private,
    /// Blocks that have all that they take, and blocks that share.
    pub hosts: usize,
    guests: usize,
    resident: BTreeMap<usize, Resident>,
    begun: u64,
}

impl Pairs {
    /// Nothing is on the SM, and how many blocks there may be (thesis 2.2.4).
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

    /// The slot whose blocks share with those of a slot.
    pub fn partner(&self, slot: usize) -> Option<usize> {
        match slot.checked_sub(self.hosts) {
            Some(host) => Some(host),
            None => Some(slot + self.hosts).filter(|_| slot < self.guests),
        }
    }

    /// The warps of a slot.
    pub fn of(&self, slot: usize) -> std::ops::Range<usize> {
        slot * self.warps..(slot + 1) * self.warps
    }

    /// The block of a slot is there.
    pub fn is_there(&self, slot: usize) -> bool {
        self.resident.contains_key(&slot)
    }

    /// Whether the block of a slot is older, and whether it is younger, than that of another one: neither if one is not there.
    pub fn age(&self, slot: usize, other: usize) -> (bool, bool) {
        let number = |slot| self.resident.get(&slot).map(|block| block.number);
        number(slot).zip(number(other)).map_or((false, false), |(own, other)| (own < other, own > other))
    }

    /// Before all else of a cycle; gives the warp that begins in it.
    pub fn start(&mut self, seen: &Seen<'_>) -> Option<usize> {
        let launcher = &seen.cycle.probe.outputs.block_launcher;
        let w = (launcher.start_valid_o != 0).then(|| usize::from(launcher.start_warp_o))?;
        if w % self.warps == 0 {
            self.resident.insert(w / self.warps, Resident { number: self.begun, begun: 0 });
            self.begun += 1;
        }
        Some(w)
    }

    /// After all else of a cycle. `started`: the warp that began in it; `ended`: a warp has no living lanes, and nothing of it is in flight.
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
