//! The cost of bits in the instruction (hierarchy thesis 4.4.2).

/// Instructions, and the energy of fetching and decoding them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Encoding {
    /// Bits of an instruction.
    pub bits: u32,
    /// Fetch and decode as a part of the chip's dynamic energy; grows in proportion to the bits.
    pub fetch_and_decode: f64,
}

impl Encoding {
    /// The thesis: fetch, decode and schedule take 15 %, each a third; instructions of 32 bits.
    pub const THESIS: Self = Self { bits: 32, fetch_and_decode: 0.10 };
    /// The same with the instructions of this project's machine.
    pub const MACHINE: Self = Self { bits: 128, ..Self::THESIS };

    /// The cost of additional bits, as a part of the chip's dynamic energy: an upper bound.
    pub fn overhead(&self, additional: u32) -> f64 {
        self.fetch_and_decode * f64::from(additional) / f64::from(self.bits)
    }
}
