//! A result between its bus and the register file (`docs/blocks/operand_stage.md`).

use crate::{LANES, REG_BITS, WARP_BITS, packed};

packed! {
    /// A result on its bus, from `writeback` into the register file: `write_t`. Its data goes beside it.
    pub struct WriteWord(u64), WriteFields = "write_t" {
        /// It comes from a private unit: an ALU or a single precision unit.
        from_private: u8 = 1,
        /// Register written.
        d: u8 = REG_BITS,
        /// Warp.
        warp: u8 = WARP_BITS,
        /// Lanes.
        mask: u32 = LANES as u32,
    }
}

packed! {
    /// A result that is in the register file: `written_t`.
    pub struct WrittenWord(u16), WrittenFields = "written_t" {
        /// Register written.
        d: u8 = REG_BITS,
        /// Warp.
        warp: u8 = WARP_BITS,
    }
}

impl WriteWord {
    /// Lanes of a register of a warp, from a unit that the ports share.
    #[inline]
    pub fn new(warp: u8, d: u8, mask: u32) -> Self {
        WriteFields { from_private: 0, d, warp, mask }.into()
    }

    /// The warp and its register.
    #[inline]
    pub fn register(self) -> (u8, u8) {
        (self.warp(), self.d())
    }
}

impl WrittenWord {
    /// A register of a warp.
    #[inline]
    pub fn new(warp: u8, d: u8) -> Self {
        WrittenFields { d, warp }.into()
    }

    /// The warp and its register.
    #[inline]
    pub fn register(self) -> (u8, u8) {
        (self.warp(), self.d())
    }
}
