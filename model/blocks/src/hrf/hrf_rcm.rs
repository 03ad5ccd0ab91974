//! `hrf_rcm`: looks up registers in the active warp's buffer. `docs/blocks/hrf_rcm.md`.

use super::shape::{BUFFER_REG_BITS, HrfShape, MAX_BUFFER};
use crate::{Block, Memory, OPERANDS, field, ports};

/// Registers that are looked up in a cycle: those of an instruction's sources, and that of a result.
pub const LOOKS: usize = OPERANDS + 1;

ports! {
    /// Inputs of [`HrfRcm`].
    pub struct HrfRcmIn(s: &HrfShape) {
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// No register is in the buffer from this edge on.
        clear_i: u8 = field(1),
        /// Registers asked for: of the sources, of a result.
        look_reg_i: [u8; LOOKS] = field(BUFFER_REG_BITS).count(LOOKS),
        /// A register has an entry from this edge on.
        set_valid_i: u8 = field(1),
        /// Register that has an entry from this edge on.
        set_reg_i: u8 = field(BUFFER_REG_BITS).valid_by("set_valid_i"),
        /// Entry that the register has from this edge on.
        set_index_i: u8 = field(s.index_w()).valid_by("set_valid_i"),
    }
}

ports! {
    /// Outputs of [`HrfRcm`].
    pub struct HrfRcmOut(s: &HrfShape) {
        /// The register is in the buffer.
        hit_o: u8 = field(LOOKS),
        /// Entry of the register that is looked up.
        index_o: [u8; LOOKS] = field(s.index_w()).count(LOOKS).valid_by("hit_o"),
    }
}

ports! {
    /// State of [`HrfRcm`].
    pub struct HrfRcmProbe(s: &HrfShape) {
        /// Registers that are in the buffer.
        valid_q: u64 = field(MAX_BUFFER),
    }
}

/// The Register Control Module (hybrid paper 4.4): which registers are in the buffer, and in which entries.
#[derive(Clone)]
pub struct HrfRcm {
    index_bits: u32,
    valid_q: u64,
    /// The entry of each register; the harness reads it as a memory.
    index_q: [u32; MAX_BUFFER],
}

impl HrfRcm {
    /// The entry of a register, if the register is in the buffer.
    #[inline]
    pub(crate) fn find(&self, reg: u8) -> Option<u8> {
        let reg = usize::from(reg) % MAX_BUFFER;
        (self.valid_q >> reg & 1 != 0).then(|| self.index_q[reg] as u8)
    }

    /// Whether no register is in the buffer.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.valid_q == 0
    }

    /// The clock edge. `set`: register and entry; the entry is recorded in reset and when all is cleared, too.
    #[inline]
    pub(crate) fn advance(&mut self, running: bool, clear: bool, set: Option<(u8, u8)>) {
        if let Some((reg, index)) = set {
            let reg = usize::from(reg) % MAX_BUFFER;
            self.index_q[reg] = index.into();
            self.valid_q |= 1 << reg;
        }
        if clear || !running {
            self.valid_q = 0;
        }
    }
}

impl Block for HrfRcm {
    const NAME: &'static str = "hrf_rcm";
    const PARAMETERS: &'static [&'static str] = &["BufferEntries"];

    type Shape = HrfShape;
    type In = HrfRcmIn;
    type Out = HrfRcmOut;
    type Probe = HrfRcmProbe;

    fn new(shape: &HrfShape) -> Self {
        Self { index_bits: shape.index_w(), valid_q: 0, index_q: [0; MAX_BUFFER] }
    }

    fn early(&self, _: &mut HrfRcmOut) {}

    fn late(&mut self, inputs: &HrfRcmIn, out: &mut HrfRcmOut) {
        (out.hit_o, out.index_o) = (0, [0; LOOKS]);
        for (k, &reg) in inputs.look_reg_i.iter().enumerate() {
            if let Some(index) = self.find(reg) {
                out.hit_o |= 1 << k;
                out.index_o[k] = index;
            }
        }
    }

    fn clock(&mut self, inputs: &HrfRcmIn, _: &HrfRcmOut) {
        let set = (inputs.set_valid_i != 0).then_some((inputs.set_reg_i, inputs.set_index_i));
        self.advance(inputs.rst_ni != 0, inputs.clear_i != 0, set);
    }

    fn probe(&self, _: &HrfRcmIn, _: &HrfRcmOut, probe: &mut HrfRcmProbe) {
        probe.valid_q = self.valid_q;
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        vec![Memory { path: "index_q".into(), block: Self::NAME, words: &mut self.index_q, bits: self.index_bits }]
    }
}

#[cfg(test)]
mod tests;
