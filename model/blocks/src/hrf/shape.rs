//! The sizes of the hybrid register file.

use crate::config::{Config, REGISTERS_PER_KILOBYTE};
use crate::mrf::MrfShape;
pub use crate::sizes::PARITIES;
use crate::sizes::width;
use crate::{REG_BITS, Shape};

/// Capacity of the twins: the largest number of entries of a write buffer, and of registers of a thread.
pub const MAX_BUFFER: usize = 64;
/// Capacity of the twins: the largest number of places of a bank's queue.
pub const MAX_LOADS: usize = 16;
/// Bits of a register number: a thread has at most 64 registers.
pub const BUFFER_REG_BITS: u32 = 6;

/// Sizes of the hybrid register file; see `docs/blocks/hrf.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HrfShape {
    /// Collectors, entries of a bank, the width of the tag. Two banks, one port, one issue port.
    pub mrf: MrfShape,
    /// Entries of a write buffer: 4 to 64; 0: no buffers.
    pub buffer_entries: usize,
    /// Places of a bank's queue: a power of two, 2 to 16.
    pub loads: usize,
}

impl HrfShape {
    /// Whether there are buffers.
    pub fn buffered(&self) -> bool {
        self.buffer_entries != 0
    }

    /// Width of the number of a buffer's entry.
    pub fn index_w(&self) -> u32 {
        if self.buffered() { width(self.buffer_entries) } else { 1 }
    }

    /// Width of the number of entries in use.
    pub fn used_w(&self) -> u32 {
        if self.buffered() { width(self.buffer_entries + 1) } else { 1 }
    }

    /// Width of the number of an entry of a bank.
    pub fn entry_w(&self) -> u32 {
        self.mrf.entry_w()
    }

    /// The shape of the collectors. A source is a register number, its bank a parity; a tag has the warp's first entry above it.
    pub(crate) fn collector(&self) -> MrfShape {
        MrfShape { depth: 1 << REG_BITS, tag_w: self.mrf.tag_w + self.entry_w(), ..self.mrf }
    }

    /// The bits of the number of an entry of a bank.
    pub(crate) fn entry_bits(&self) -> u16 {
        (self.mrf.depth - 1) as u16
    }
}

#[cfg(test)]
impl HrfShape {
    /// The shape of the preset, with these settings.
    pub(crate) fn preset(settings: &[&str]) -> Self {
        use crate::config::Start;
        Self::of(&Config::load(Start::Preset("hrf"), settings).expect("a configuration"))
    }
}

impl Shape for HrfShape {
    /// The sizes in sections `mrf` and `hrf`, even without a selected hybrid file: a block can run alone in any configuration.
    fn of(config: &Config) -> Self {
        let mut mrf = MrfShape { banks: PARITIES, dual_port: false, issue_ports: 1, ..config.shape() };
        mrf.depth = config.mrf.kilobytes * REGISTERS_PER_KILOBYTE / PARITIES;
        mrf.tag_w = width(mrf.collectors);
        Self { mrf, buffer_entries: config.hrf.buffer_entries, loads: config.hrf.load_entries }
    }

    fn parameter(&self, name: &str) -> u64 {
        match name {
            "BufferEntries" => self.buffer_entries as u64,
            "Loads" => self.loads as u64,
            _ => self.mrf.parameter(name),
        }
    }
}
