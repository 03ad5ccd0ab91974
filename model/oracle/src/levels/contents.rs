//! Contents of a warp's register levels, lane by lane.
//!
//! A value is identified by the write that produced it: an entry holds a register's present value in the lanes in which the register has not been
//! written since the entry received the value. Equal bits are not enough, since they may be equal by chance.

use gpurf_isa::{LrfBank, OrfEntry, Reg, Upper};

use crate::lanes::Mask;

/// An entry of the ORF or a bank of the LRF.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// Lanes in which the strand has written the entry.
    written: Mask,
    /// Registers whose present values it holds, and in which lanes.
    holds: Vec<(Reg, Mask)>,
}

impl Entry {
    fn holds(&self, register: Reg) -> Mask {
        self.holds.iter().find(|(held, _)| *held == register).map_or(0, |(_, lanes)| *lanes)
    }

    /// Drops the entry's value of a register, or of all registers, in these lanes: it is no longer the present value.
    fn forget(&mut self, register: Option<Reg>, lanes: Mask) {
        for (held, mask) in &mut self.holds {
            if register.is_none_or(|register| *held == register) {
                *mask &= !lanes;
            }
        }
        self.holds.retain(|(_, lanes)| *lanes != 0);
    }
}

/// Lanes in which an entry does not have a register's present value, by cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// Lanes in which the strand has not written the entry.
    pub void: Mask,
    /// Lanes in which the entry holds something other than the register's present value.
    pub other: Mask,
}

/// The levels of a warp.
#[derive(Clone, Debug)]
pub struct Contents {
    entries: Vec<Entry>,
    /// For each register the lanes in which the MRF does not have its present value.
    stale: Vec<Mask>,
}

impl Contents {
    /// Contents at the start of a kernel.
    pub fn new() -> Self {
        let entries = usize::from(OrfEntry::COUNT + LrfBank::COUNT);
        Self { entries: vec![Entry::default(); entries], stale: vec![0; usize::from(Reg::ZERO.0)] }
    }

    fn entry(&mut self, level: Upper) -> &mut Entry {
        let index = match level {
            Upper::Orf(entry) => entry.number(),
            Upper::Lrf(bank) => OrfEntry::COUNT + bank.number(),
        };
        &mut self.entries[usize::from(index)]
    }

    /// Empties ORF and LRF.
    pub fn clear(&mut self) {
        for entry in &mut self.entries {
            entry.written = 0;
            entry.holds.clear();
        }
    }

    /// Lanes in which ORF or LRF holds a value.
    pub fn written(&self) -> Mask {
        self.entries.iter().fold(0, |lanes, entry| lanes | entry.written)
    }

    /// Looks up a register in an entry, for these lanes.
    pub fn find(&mut self, level: Upper, register: Reg, lanes: Mask) -> Found {
        let entry = self.entry(level);
        Found { void: lanes & !entry.written, other: lanes & entry.written & !entry.holds(register) }
    }

    /// Lanes in which the MRF does not have a register's present value.
    pub fn stale(&self, register: Reg) -> Mask {
        self.stale[register.index()]
    }

    /// An entry takes a register's present value.
    pub fn put(&mut self, level: Upper, register: Reg, lanes: Mask) {
        let entry = self.entry(level);
        entry.forget(None, lanes);
        entry.written |= lanes;
        match entry.holds.iter_mut().find(|(held, _)| *held == register) {
            Some((_, held)) => *held |= lanes,
            None => entry.holds.push((register, lanes)),
        }
    }

    /// A register receives a new value; `in_mrf` tells whether the MRF receives it too.
    pub fn write(&mut self, register: Reg, lanes: Mask, in_mrf: bool) {
        for entry in &mut self.entries {
            entry.forget(Some(register), lanes);
        }
        let stale = &mut self.stale[register.index()];
        *stale = if in_mrf { *stale & !lanes } else { *stale | lanes };
    }
}
