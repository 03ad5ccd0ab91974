//! `hrf_results`: routes each result to a buffer, a queue or a bank. `docs/blocks/hrf_results.md`.

use super::shape::{BUFFER_REG_BITS, HrfShape, PARITIES};
use crate::mrf::bits::is_set;
use crate::write::{WriteWord, WrittenWord};
use crate::{Block, LANES, REG_BITS, WARP_BITS, WARP_DATA_BITS, WarpData, field, packed, ports};

ports! {
    /// Inputs of [`HrfResults`].
    pub struct HrfResultsIn(s: &HrfShape) {
        /// Data of a result.
        write_data_i: WarpData = field(WARP_DATA_BITS).valid_by("write_valid_i"),
        /// The offered result.
        write_i: WriteWord = packed::<WriteWord>().valid_by("write_valid_i"),
        /// First entry of the warp of the offered result.
        write_base_i: u16 = field(s.entry_w()).valid_by("write_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A result is offered.
        write_valid_i: u8 = field(1),
        /// Slots that are open.
        open_i: u8 = field(PARITIES),
        /// Warp of each slot.
        slot_warp_i: [u8; PARITIES] = field(WARP_BITS).count(PARITIES).valid_by("open_i"),
        /// The register of the result in the latch has an entry.
        hit_i: u8 = field(1),
        /// Entry of the register of the result in the latch.
        index_i: u8 = field(s.index_w()).valid_by("hit_i"),
        /// Entries in use of each buffer.
        used_i: [u8; PARITIES] = field(s.used_w()).count(PARITIES),
        /// Buffers whose next entry has no power.
        closed_i: u8 = field(PARITIES),
        /// Queues with room.
        push_room_i: u8 = field(PARITIES),
        /// Banks that take the result at this edge.
        direct_taken_i: u8 = field(PARITIES),
    }
}

ports! {
    /// Outputs of [`HrfResults`].
    pub struct HrfResultsOut(s: &HrfShape) {
        /// Data of the result in the latch.
        data_o: WarpData = field(WARP_DATA_BITS).valid_by("valid_o").early(),
        /// Lanes of the result in the latch.
        mask_o: u32 = field(LANES).valid_by("valid_o").early(),
        /// Entry of the bank of the result in the latch.
        entry_o: u16 = field(s.entry_w()).valid_by("valid_o").early(),
        /// The completed write.
        written_o: WrittenWord = packed::<WrittenWord>().valid_by("write_done_o"),
        /// A result is taken at this edge if also valid.
        write_ready_o: u8 = field(1),
        /// The result in the latch goes at this edge.
        write_done_o: u8 = field(1),
        /// The result in the latch waits for power.
        need_o: u8 = field(PARITIES),
        /// The result in the latch is written to a buffer at this edge.
        buffer_valid_o: u8 = field(PARITIES),
        /// The result in the latch takes a new entry.
        new_o: u8 = field(1),
        /// Entry of the buffer that the result in the latch goes to.
        index_o: u8 = field(s.index_w()),
        /// The result in the latch is offered to a queue.
        push_valid_o: u8 = field(PARITIES),
        /// The result in the latch is offered to a bank.
        direct_valid_o: u8 = field(PARITIES),
        /// The latch holds a result.
        valid_o: u8 = field(1).early(),
        /// Register of the result in the latch.
        reg_o: u8 = field(REG_BITS).valid_by("valid_o").early(),
    }
}

ports! {
    /// State of [`HrfResults`].
    pub struct HrfResultsProbe(s: &HrfShape) {
        /// Data of the result in the latch.
        data_q: WarpData = field(WARP_DATA_BITS).valid_by("valid_q"),
        /// Lanes of the result in the latch.
        mask_q: u32 = field(LANES).valid_by("valid_q"),
        /// Entry of the bank of the result in the latch.
        entry_q: u16 = field(s.entry_w()).valid_by("valid_q"),
        /// The latch holds a result.
        valid_q: u8 = field(1),
        /// Warp of the result in the latch.
        warp_q: u8 = field(WARP_BITS).valid_by("valid_q"),
        /// Register of the result in the latch.
        reg_q: u8 = field(REG_BITS).valid_by("valid_q"),
    }
}

/// A result, without its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Latched {
    /// Lanes.
    pub(crate) mask: u32,
    /// Entry of the bank.
    pub(crate) entry: u16,
    /// Warp.
    pub(crate) warp: u8,
    /// Register.
    pub(crate) reg: u8,
}

/// State of other blocks that the routing of the result depends on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Around {
    /// Slots that are open, and their warps.
    pub(crate) open: u8,
    pub(crate) slot_warp: [u8; PARITIES],
    /// The buffer entry that holds the result's register.
    pub(crate) hit: Option<u8>,
    /// Number of entries in use in each buffer.
    pub(crate) used: [u8; PARITIES],
    /// Buffers whose next entry has no power.
    pub(crate) closed: u8,
}

/// The destination of the result in the latch, in the parity of its warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The write buffer.
    Buffer {
        /// The write takes a new entry.
        new: bool,
        /// The number of the entry.
        index: u8,
    },
    /// None yet: the result waits until the next entry has power.
    Need,
    /// The bank itself.
    Direct,
    /// The queue of the bank.
    Queue,
}

/// The latch at the end of the result bus (hybrid paper 4.4). Destinations: the open warp's buffer, the queue of a bank, or a bank.
#[derive(Clone)]
pub struct HrfResults {
    entries: u8,
    entry_bits: u16,
    valid_q: bool,
    latched: Latched,
    data_q: WarpData,
}

impl HrfResults {
    /// The result in the latch.
    #[inline]
    pub(crate) fn latched(&self) -> Option<Latched> {
        self.valid_q.then_some(self.latched)
    }

    /// The register that RCM looks up: that of the result in the latch, or that of the last result.
    #[inline]
    pub(crate) fn look(&self) -> u8 {
        self.latched.reg & ((1 << BUFFER_REG_BITS) - 1)
    }

    /// Data of the result in the latch.
    #[inline]
    pub(crate) fn data(&self) -> &WarpData {
        &self.data_q
    }

    /// Parity of the warp of the result in the latch, and the destination.
    #[inline]
    pub(crate) fn way(&self, around: &Around) -> Option<(usize, Way)> {
        if !self.valid_q {
            return None;
        }
        let b = usize::from(self.latched.warp) % PARITIES;
        let own = self.entries != 0 && is_set(around.open, b) && around.slot_warp[b] == self.latched.warp;
        let used = around.used[b];
        let way = match around.hit {
            _ if self.entries == 0 => Way::Direct,
            _ if !own => Way::Queue,
            Some(index) => Way::Buffer { new: false, index },
            None if used == self.entries => Way::Direct,
            None if is_set(around.closed, b) => Way::Need,
            None => Way::Buffer { new: true, index: used },
        };
        Some((b, way))
    }

    /// Whether the result leaves the latch. `room`: queues with room; `taken`: banks that take its write.
    #[inline]
    pub(crate) fn goes(&self, around: &Around, room: u8, taken: u8) -> bool {
        match self.way(around) {
            None | Some((_, Way::Need)) => false,
            Some((_, Way::Buffer { .. })) => true,
            Some((b, Way::Direct)) => is_set(taken, b),
            Some((b, Way::Queue)) => is_set(room, b),
        }
    }

    /// The clock edge. `result`: the offered result, with the first entry of its warp as its entry, and its data. Payload is taken in reset too.
    #[inline]
    pub(crate) fn advance(&mut self, running: bool, goes: bool, result: Option<(Latched, &WarpData)>) {
        let ready = !self.valid_q || goes;
        let taken = result.filter(|_| ready);
        if let Some((result, data)) = taken {
            let entry = result.entry.wrapping_add(result.reg.into()) & self.entry_bits;
            (self.latched, self.data_q) = (Latched { entry, ..result }, *data);
        }
        self.valid_q = running && (taken.is_some() || (self.valid_q && !goes));
    }
}

impl Block for HrfResults {
    const NAME: &'static str = "hrf_results";
    const PARAMETERS: &'static [&'static str] = &["Depth", "BufferEntries"];

    type Shape = HrfShape;
    type In = HrfResultsIn;
    type Out = HrfResultsOut;
    type Probe = HrfResultsProbe;

    fn new(shape: &HrfShape) -> Self {
        Self {
            entries: shape.buffer_entries as u8,
            entry_bits: shape.entry_bits(),
            valid_q: false,
            latched: Latched::default(),
            data_q: WarpData::ZERO,
        }
    }

    fn early(&self, out: &mut HrfResultsOut) {
        let Latched { mask, entry, reg, .. } = self.latched().unwrap_or_default();
        (out.valid_o, out.mask_o, out.entry_o, out.reg_o) = (self.valid_q.into(), mask, entry, reg);
        if self.valid_q {
            out.data_o = self.data_q;
        }
    }

    fn late(&mut self, inputs: &HrfResultsIn, out: &mut HrfResultsOut) {
        let around = inputs.around();
        let goes = self.goes(&around, inputs.push_room_i, inputs.direct_taken_i);
        out.write_done_o = goes.into();
        out.write_ready_o = (!self.valid_q || goes).into();
        out.written_o =
            if goes { WrittenWord::new(self.latched.warp, self.latched.reg) } else { WrittenWord::default() };
        (out.need_o, out.buffer_valid_o, out.push_valid_o, out.direct_valid_o) = (0, 0, 0, 0);
        (out.new_o, out.index_o) = (0, 0);
        if let Some((b, way)) = self.way(&around) {
            let bit = 1 << b;
            match way {
                Way::Buffer { new, index } => {
                    (out.buffer_valid_o, out.new_o, out.index_o) = (bit, new.into(), index);
                }
                Way::Need => out.need_o = bit,
                Way::Direct => out.direct_valid_o = bit,
                Way::Queue => out.push_valid_o = bit,
            }
        }
    }

    fn clock(&mut self, inputs: &HrfResultsIn, out: &HrfResultsOut) {
        let result = Latched {
            mask: inputs.write_i.mask(),
            entry: inputs.write_base_i,
            warp: inputs.write_i.warp(),
            reg: inputs.write_i.d(),
        };
        let result = (inputs.write_valid_i != 0).then_some((result, &inputs.write_data_i));
        self.advance(inputs.rst_ni != 0, out.write_done_o != 0, result);
    }

    fn probe(&self, _: &HrfResultsIn, _: &HrfResultsOut, probe: &mut HrfResultsProbe) {
        probe.valid_q = self.valid_q.into();
        // RCM looks up the register of the last result, too.
        let Latched { mask, entry, warp, reg } = self.latched;
        (probe.mask_q, probe.entry_q, probe.warp_q, probe.reg_q) = (mask, entry, warp, reg);
        if self.valid_q {
            probe.data_q = self.data_q;
        }
    }
}

impl HrfResultsIn {
    fn around(&self) -> Around {
        Around {
            open: self.open_i,
            slot_warp: self.slot_warp_i,
            hit: (self.hit_i != 0).then_some(self.index_i),
            used: self.used_i,
            closed: self.closed_i,
        }
    }
}

#[cfg(test)]
mod tests;
