//! `register_places`: the place of a register, with registers allocated one by one. `docs/blocks/register_places.md`.

use crate::mrf::MrfShape;
use crate::{Block, NoProbe, REG_BITS, WARP_BITS, field, packed, ports};

/// Width of a place's number: all arithmetic on places is modulo 2 to the power of this width.
pub(crate) const PLACE_BITS: u32 = 12;

packed! {
    /// How the register file is divided: `register_layout_t`.
    pub struct RegisterLayout(u64), RegisterLayoutFields = "register_layout_t" {
        /// First place of the guests' private parts.
        guest_base: u16 = PLACE_BITS,
        /// Warps of hosts: a warp is a guest's if its number is not below.
        host_warps: u8 = 7,
        /// Registers of a thread that are private to a guest: the names below.
        private_registers: u8 = REG_BITS,
        /// Registers of a thread.
        registers: u8 = REG_BITS,
    }
}

ports! {
    /// Inputs of [`RegisterPlaces`].
    pub struct RegisterPlacesIn(s: &MrfShape) {
        /// Layout of the register file.
        layout_i: u64 = packed::<RegisterLayout>(),
        /// Warp of the register.
        warp_i: u8 = field(WARP_BITS),
        /// Name of the register.
        reg_i: u8 = field(REG_BITS),
    }
}

ports! {
    /// Outputs of [`RegisterPlaces`].
    pub struct RegisterPlacesOut(s: &MrfShape) {
        /// Entry in the bank.
        entry_o: u16 = field(s.entry_w()),
        /// Bank of the register.
        bank_o: u8 = field(s.bank_w()),
    }
}

/// Finds the place of a register in a file whose registers are allocated one by one, and whose blocks may share a part of them (sharing thesis 2.2.1, figure 2.5).
/// Stateless.
#[derive(Clone, Copy, Debug)]
pub struct RegisterPlaces {
    bank_w: u32,
    bank_mask: u16,
    entry_mask: u16,
}

impl RegisterPlaces {
    /// Bank and entry of register `reg` of a warp.
    #[inline]
    pub fn map(&self, layout: RegisterLayout, warp: u8, reg: u8) -> (u8, u16) {
        let place = place(layout, warp, reg);
        let row = place >> self.bank_w & self.entry_mask;
        let bank = place.wrapping_add(row) & self.bank_mask;
        (bank as u8, row)
    }
}

/// The place of register `reg` of a warp.
#[inline]
fn place(layout: RegisterLayout, warp: u8, reg: u8) -> u16 {
    let (registers, private) = (u16::from(layout.registers()), u16::from(layout.private_registers()));
    let own = |warp: u8, names: u16| u16::from(warp) * names + u16::from(reg);
    let place = match warp.checked_sub(layout.host_warps()) {
        None => own(warp, registers),
        Some(guest) if u16::from(reg) < private => layout.guest_base() + own(guest, private),
        // The place of the register in the host's warp.
        Some(guest) => own(guest, registers),
    };
    place & ((1 << PLACE_BITS) - 1)
}

impl Block for RegisterPlaces {
    const NAME: &'static str = "register_places";
    const PARAMETERS: &'static [&'static str] = &["Banks", "Depth"];
    const CLOCKED: bool = false;

    type Shape = MrfShape;
    type In = RegisterPlacesIn;
    type Out = RegisterPlacesOut;
    type Probe = NoProbe<MrfShape>;

    fn new(shape: &MrfShape) -> Self {
        Self { bank_w: shape.bank_w(), bank_mask: (shape.banks - 1) as u16, entry_mask: shape.entry_mask() }
    }

    #[inline]
    fn early(&self, _: &mut RegisterPlacesOut) {}

    #[inline]
    fn late(&mut self, inputs: &RegisterPlacesIn, out: &mut RegisterPlacesOut) {
        (out.bank_o, out.entry_o) = self.map(RegisterLayout(inputs.layout_i), inputs.warp_i, inputs.reg_i);
    }

    #[inline]
    fn clock(&mut self, _: &RegisterPlacesIn, _: &RegisterPlacesOut) {}

    fn probe(&self, _: &RegisterPlacesIn, _: &RegisterPlacesOut, _: &mut NoProbe<MrfShape>) {}
}

#[cfg(test)]
mod tests;
