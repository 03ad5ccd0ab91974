//! `mrf_bank_map`: the bank and the entry of a register. `docs/blocks/mrf_bank_map.md`.

use crate::mrf::MrfShape;
use crate::{Block, NoProbe, REG_BITS, WARP_BITS, field, ports};

ports! {
    /// Inputs of [`MrfBankMap`].
    pub struct MrfBankMapIn(s: &MrfShape) {
        /// First row of the warp's registers.
        base_i: u16 = field(s.entry_w()),
        /// Warp of the register.
        warp_i: u8 = field(WARP_BITS),
        /// Name of the register.
        reg_i: u8 = field(REG_BITS),
    }
}

ports! {
    /// Outputs of [`MrfBankMap`].
    pub struct MrfBankMapOut(s: &MrfShape) {
        /// Entry in the bank.
        entry_o: u16 = field(s.entry_w()),
        /// Bank of the register.
        bank_o: u8 = field(s.bank_w()),
    }
}

/// Spreads the registers of a warp, and the same register of different warps, over the banks (stealing paper, II-B).
/// Stateless. A block of its own because every other organisation has to locate registers as well.
#[derive(Clone, Copy, Debug)]
pub struct MrfBankMap {
    bank_w: u32,
    bank_mask: u8,
    entry_mask: u16,
}

impl MrfBankMap {
    /// Bank and entry of register `reg` of a warp whose rows begin at `base`.
    #[inline]
    pub(crate) fn map(&self, warp: u8, base: u16, reg: u8) -> (u8, u16) {
        let bank = reg.wrapping_add(warp) & self.bank_mask;
        let entry = base.wrapping_add(u16::from(reg) >> self.bank_w) & self.entry_mask;
        (bank, entry)
    }
}

impl Block for MrfBankMap {
    const NAME: &'static str = "mrf_bank_map";
    const PARAMETERS: &'static [&'static str] = &["Banks", "Depth"];
    const CLOCKED: bool = false;

    type Shape = MrfShape;
    type In = MrfBankMapIn;
    type Out = MrfBankMapOut;
    type Probe = NoProbe<MrfShape>;

    fn new(shape: &MrfShape) -> Self {
        Self { bank_w: shape.bank_w(), bank_mask: (shape.banks - 1) as u8, entry_mask: shape.entry_mask() }
    }

    #[inline]
    fn early(&self, _: &mut MrfBankMapOut) {}

    #[inline]
    fn late(&mut self, inputs: &MrfBankMapIn, out: &mut MrfBankMapOut) {
        (out.bank_o, out.entry_o) = self.map(inputs.warp_i, inputs.base_i, inputs.reg_i);
    }

    #[inline]
    fn clock(&mut self, _: &MrfBankMapIn, _: &MrfBankMapOut) {}

    fn probe(&self, _: &MrfBankMapIn, _: &MrfBankMapOut, _: &mut NoProbe<MrfShape>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bank_and_entry_follow_the_formulas() {
        for banks in [2, 4, 8, 16, 32] {
            for depth in [2, 64, 512] {
                let map = MrfBankMap::new(&MrfShape { banks, depth, ..MrfShape::BASELINE });
                for (warp, base) in [(0, 0), (1, 1), (47, 33), (63, depth - 1)] {
                    for reg in 0..=u8::MAX {
                        let expected = ((usize::from(reg) + warp) % banks, (base + usize::from(reg) / banks) % depth);
                        let (bank, entry) = map.map(warp as u8, base as u16, reg);
                        assert_eq!((usize::from(bank), usize::from(entry)), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn no_two_registers_of_a_warp_share_an_entry() {
        let map = MrfBankMap::new(&MrfShape { banks: 16, depth: 16, ..MrfShape::BASELINE });
        let places: std::collections::HashSet<_> = (0..=u8::MAX).map(|reg| map.map(5, 3, reg)).collect();
        assert_eq!(places.len(), 256);
    }
}
