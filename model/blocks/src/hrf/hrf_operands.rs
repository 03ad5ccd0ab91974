//! `hrf_operands`: the multiplexer, and the operand latches. `docs/blocks/hrf_operands.md`.

use super::shape::{HrfShape, PARITIES};
use crate::mrf::MAX_COLLECTORS;
use crate::mrf::bits::set_bits;
use crate::{Block, LANES, Memory, OPERANDS, Ports, WARP_DATA_BITS, WarpData, field, ports};

/// Outputs of buffers: three read ports for each buffer.
const OUTPUTS: usize = OPERANDS * PARITIES;

ports! {
    /// Inputs of [`HrfOperands`].
    pub struct HrfOperandsIn(s: &HrfShape) {
        /// Outputs of the buffers: element 3b+k is read port k of buffer b.
        buffer_data_i: [WarpData; OUTPUTS] = field(WARP_DATA_BITS).count(OUTPUTS),
        /// Outputs of the banks.
        stt_data_i: [WarpData; PARITIES] = field(WARP_DATA_BITS).count(PARITIES).valid_by("stt_data_valid_i"),
        /// Slot i is served by a read that is performed at this edge.
        fill_i: u64 = field(s.mrf.slots()),
        /// Lanes of each source's reads that come from the buffer.
        take_i: [u32; OPERANDS] = field(LANES).count(OPERANDS),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Buffer and bank of the reads.
        bank_i: u8 = field(1),
        /// Source whose reads serve each source.
        port_i: [u8; OPERANDS] = field(2).count(OPERANDS),
        /// Banks with data.
        stt_data_valid_i: u8 = field(PARITIES),
        /// Collector whose operands are handed on.
        dispatch_col_i: u8 = field(s.mrf.col_w()),
    }
}

ports! {
    /// Outputs of [`HrfOperands`].
    pub struct HrfOperandsOut(s: &HrfShape) {
        /// Operands of the collector.
        dispatch_data_o: [WarpData; OPERANDS] = field(WARP_DATA_BITS).count(OPERANDS),
    }
}

ports! {
    /// State of [`HrfOperands`].
    pub struct HrfOperandsProbe(s: &HrfShape) {
        /// Slots that take their data in this cycle.
        fill_q: u64 = field(s.mrf.slots()),
        /// Lanes that come from the buffer.
        take_q: [u32; OPERANDS] = field(LANES).count(OPERANDS).valid_by("fill_q"),
        /// Buffer and bank of the reads.
        bank_q: u8 = field(1).valid_by("fill_q"),
        /// Source whose reads serve each source.
        port_q: [u8; OPERANDS] = field(2).count(OPERANDS).valid_by("fill_q"),
    }
}

/// The reads that are performed at a clock edge, for one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fill {
    /// Slots that are filled: bit `3c + k`.
    pub(crate) slots: u64,
    /// The number of the buffer and bank that fill them.
    pub(crate) bank: u8,
    /// The source whose read serves each source.
    pub(crate) port: [u8; OPERANDS],
    /// Lanes of each source that come from the buffer.
    pub(crate) take: [u32; OPERANDS],
}

/// Selects each lane of an operand from buffer or bank (hybrid paper, figure 5), and holds it until its instruction dispatches.
#[derive(Clone)]
pub struct HrfOperands {
    collectors: usize,
    fill: Fill,
    operand_q: Box<[WarpData]>,
}

impl HrfOperands {
    /// Operands of a collector.
    #[inline]
    pub(crate) fn operands(&self, collector: usize) -> &[WarpData; OPERANDS] {
        &self.operand_q.as_chunks().0[collector]
    }

    /// Whether no latch takes data at this clock edge.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.fill.slots == 0
    }

    /// The clock edge. `buffer` and `stt` return the outputs of buffers (by bank and port) and of banks.
    #[inline]
    pub(crate) fn advance<'a>(
        &mut self,
        running: bool,
        fill: &Fill,
        buffer: impl Fn(usize, usize) -> &'a WarpData,
        stt: impl Fn(usize) -> &'a WarpData,
    ) {
        let held = self.fill;
        let bank = usize::from(held.bank);
        for slot in set_bits(held.slots) {
            let j = usize::from(held.port[slot % OPERANDS]);
            if j < OPERANDS {
                let (from_buffer, from_bank, take) = (buffer(bank, j), stt(bank), held.take[j]);
                for (lane, word) in self.operand_q[slot].0.iter_mut().enumerate() {
                    let from = if take >> lane & 1 != 0 { from_buffer } else { from_bank };
                    *word = from.0[lane];
                }
            }
        }
        if fill.slots != 0 {
            self.fill = *fill;
        }
        self.fill.slots = if running { fill.slots } else { 0 };
    }
}

impl Block for HrfOperands {
    const NAME: &'static str = "hrf_operands";
    const PARAMETERS: &'static [&'static str] = &["Collectors"];

    type Shape = HrfShape;
    type In = HrfOperandsIn;
    type Out = HrfOperandsOut;
    type Probe = HrfOperandsProbe;

    fn new(shape: &HrfShape) -> Self {
        Self {
            collectors: shape.mrf.collectors,
            fill: Fill::default(),
            operand_q: vec![WarpData::ZERO; OPERANDS * MAX_COLLECTORS].into(),
        }
    }

    fn early(&self, _: &mut HrfOperandsOut) {}

    fn late(&mut self, inputs: &HrfOperandsIn, out: &mut HrfOperandsOut) {
        out.dispatch_data_o = *self.operands(inputs.dispatch_col_i.into());
    }

    fn clock(&mut self, inputs: &HrfOperandsIn, _: &HrfOperandsOut) {
        let fill = Fill { slots: inputs.fill_i, bank: inputs.bank_i, port: inputs.port_i, take: inputs.take_i };
        self.advance(
            inputs.rst_ni != 0,
            &fill,
            |bank, port| &inputs.buffer_data_i[OPERANDS * bank + port],
            |bank| &inputs.stt_data_i[bank],
        );
    }

    fn probe(&self, _: &HrfOperandsIn, _: &HrfOperandsOut, probe: &mut HrfOperandsProbe) {
        *probe = HrfOperandsProbe::zeroed();
        if self.fill.slots != 0 {
            let Fill { slots, bank, port, take } = self.fill;
            (probe.fill_q, probe.bank_q, probe.port_q, probe.take_q) = (slots, bank, port, take);
        }
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let slots = OPERANDS * self.collectors;
        vec![Memory::of_warps("operand_q", Self::NAME, &mut self.operand_q[..slots])]
    }
}

#[cfg(test)]
mod tests;
