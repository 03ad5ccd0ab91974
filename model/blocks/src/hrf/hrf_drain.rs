//! `hrf_drain`: writes a buffer to its bank. `docs/blocks/hrf_drain.md`.

use super::shape::{BUFFER_REG_BITS, HrfShape};
use crate::{Block, LANES, field, ports};

ports! {
    /// Inputs of [`HrfDrain`].
    pub struct HrfDrainIn(s: &HrfShape) {
        /// Lanes of the entry that is read.
        lanes_i: u32 = field(LANES).valid_by("read_o"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// The buffer is to be emptied.
        flush_i: u8 = field(1),
        /// The buffer is emptied without anything being written.
        drop_i: u8 = field(1),
        /// Entries in use.
        used_i: u8 = field(s.used_w()),
        /// Register of the entry that is read.
        reg_i: u8 = field(BUFFER_REG_BITS).valid_by("read_o"),
        /// The bank takes the entry offered at this edge.
        taken_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`HrfDrain`].
    pub struct HrfDrainOut(s: &HrfShape) {
        /// Lanes of the entry offered.
        lanes_o: u32 = field(LANES).valid_by("valid_o").early(),
        /// The buffer reads at this edge.
        read_o: u8 = field(1),
        /// Entry that the buffer reads.
        index_o: u8 = field(s.index_w()),
        /// An entry is offered.
        valid_o: u8 = field(1).early(),
        /// Register of the entry offered.
        reg_o: u8 = field(BUFFER_REG_BITS).valid_by("valid_o").early(),
        /// The flush begins.
        begin_o: u8 = field(1),
        /// The buffer is empty from this edge on.
        empty_o: u8 = field(1),
        /// Nothing of the buffer is left to be written.
        done_o: u8 = field(1),
    }
}

ports! {
    /// State of [`HrfDrain`].
    pub struct HrfDrainProbe(s: &HrfShape) {
        /// Lanes of the entry offered.
        lanes_q: u32 = field(LANES).valid_by("loaded_q"),
        /// Entries read so far.
        next_q: u8 = field(s.used_w()),
        /// An entry is offered.
        loaded_q: u8 = field(1),
        /// Register of the entry offered.
        reg_q: u8 = field(BUFFER_REG_BITS).valid_by("loaded_q"),
        /// A flush is under way.
        busy_q: u8 = field(1),
    }
}

/// The request to a drain in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flush {
    /// The buffer is to be emptied.
    pub(crate) flush: bool,
    /// The flush drops the values, without writing them to the bank.
    pub(crate) drop: bool,
    /// Entries in use.
    pub(crate) used: u8,
}

/// Reads a buffer's entries in ascending order and offers them to the bank (hybrid paper 4.3): the warp has given up.
#[derive(Clone)]
pub struct HrfDrain {
    used_bits: u8,
    index_bits: u8,
    next_q: u8,
    loaded_q: bool,
    busy_q: bool,
    reg_q: u8,
    lanes_q: u32,
}

impl HrfDrain {
    /// Register and lanes of the offered entry.
    #[inline]
    pub(crate) fn offer(&self) -> Option<(u8, u32)> {
        self.loaded_q.then_some((self.reg_q, self.lanes_q))
    }

    /// Whether the flush begins.
    #[inline]
    pub(crate) fn begins(&self, flush: bool) -> bool {
        flush && !self.busy_q
    }

    /// The entry that is read at this clock edge.
    #[inline]
    pub(crate) fn reads(&self, at: Flush, taken: bool) -> Option<u8> {
        let reads = at.flush && !at.drop && self.next_q != at.used && (!self.loaded_q || taken);
        reads.then_some(self.next_q & self.index_bits)
    }

    /// Whether the buffer is empty from this clock edge on.
    #[inline]
    pub(crate) fn empties(&self, at: Flush, taken: bool) -> bool {
        (at.flush && at.drop) || (self.loaded_q && taken && self.next_q == at.used)
    }

    /// Whether a flush has nothing left to do.
    #[inline]
    pub(crate) fn done(at: Flush) -> bool {
        at.flush && (at.drop || at.used == 0)
    }

    /// The clock edge. `entry`: register and lanes of the entry that is read.
    #[inline]
    pub(crate) fn advance(&mut self, running: bool, at: Flush, taken: bool, entry: impl FnOnce(u8) -> (u8, u32)) {
        let empties = self.empties(at, taken);
        match self.reads(at, taken) {
            Some(index) => {
                (self.reg_q, self.lanes_q) = entry(index);
                self.next_q = self.next_q.wrapping_add(1) & self.used_bits;
                self.loaded_q = true;
            }
            None => self.loaded_q &= !taken,
        }
        self.busy_q = running && at.flush && !Self::done(at);
        if empties || !running {
            (self.next_q, self.loaded_q) = (0, false);
        }
    }
}

impl Block for HrfDrain {
    const NAME: &'static str = "hrf_drain";
    const PARAMETERS: &'static [&'static str] = &["BufferEntries"];

    type Shape = HrfShape;
    type In = HrfDrainIn;
    type Out = HrfDrainOut;
    type Probe = HrfDrainProbe;

    fn new(shape: &HrfShape) -> Self {
        let bits = |width: u32| u8::MAX >> (u8::BITS - width);
        Self {
            used_bits: bits(shape.used_w()),
            index_bits: bits(shape.index_w()),
            next_q: 0,
            loaded_q: false,
            busy_q: false,
            reg_q: 0,
            lanes_q: 0,
        }
    }

    fn early(&self, out: &mut HrfDrainOut) {
        out.valid_o = self.loaded_q.into();
        (out.reg_o, out.lanes_o) = self.offer().unwrap_or_default();
    }

    fn late(&mut self, inputs: &HrfDrainIn, out: &mut HrfDrainOut) {
        let (at, taken) = (inputs.at(), inputs.taken_i != 0);
        let reads = self.reads(at, taken);
        (out.read_o, out.index_o) = (reads.is_some().into(), reads.unwrap_or_default());
        out.begin_o = self.begins(at.flush).into();
        out.empty_o = self.empties(at, taken).into();
        out.done_o = Self::done(at).into();
    }

    fn clock(&mut self, inputs: &HrfDrainIn, _: &HrfDrainOut) {
        let entry = |_| (inputs.reg_i, inputs.lanes_i);
        self.advance(inputs.rst_ni != 0, inputs.at(), inputs.taken_i != 0, entry);
    }

    fn probe(&self, _: &HrfDrainIn, _: &HrfDrainOut, probe: &mut HrfDrainProbe) {
        (probe.next_q, probe.loaded_q, probe.busy_q) = (self.next_q, self.loaded_q.into(), self.busy_q.into());
        (probe.reg_q, probe.lanes_q) = self.offer().unwrap_or_default();
    }
}

impl HrfDrainIn {
    fn at(&self) -> Flush {
        Flush { flush: self.flush_i != 0, drop: self.drop_i != 0, used: self.used_i }
    }
}

#[cfg(test)]
mod tests;
