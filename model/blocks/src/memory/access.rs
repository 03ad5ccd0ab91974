//! Common parts of the units after the address unit: the access that is offered to them, and results on their way back.

use crate::execute::UnitResult;
use crate::{LANES, LaneMask, WarpData};

/// Kinds of an access.
pub(crate) mod kind {
    /// Reads.
    pub(crate) const LOAD: u8 = 0;
    /// Writes.
    pub(crate) const STORE: u8 = 1;
    /// Reads and writes.
    pub(crate) const ATOMIC: u8 = 2;
    /// Fetches from a texture.
    pub(crate) const TEXTURE: u8 = 3;
}

/// Atomic operations.
pub(crate) mod atomic {
    /// Sum.
    pub(crate) const ADD: u8 = 0;
    /// Minimum, unsigned.
    pub(crate) const MIN_UNSIGNED: u8 = 1;
    /// Minimum, signed.
    pub(crate) const MIN_SIGNED: u8 = 2;
    /// Maximum, unsigned.
    pub(crate) const MAX_UNSIGNED: u8 = 3;
    /// Maximum, signed.
    pub(crate) const MAX_SIGNED: u8 = 4;
    /// Counts up to the operand, then begins again.
    pub(crate) const INC: u8 = 5;
    /// Counts down to zero, then begins again.
    pub(crate) const DEC: u8 = 6;
    /// Bitwise AND.
    pub(crate) const AND: u8 = 7;
    /// Bitwise OR.
    pub(crate) const OR: u8 = 8;
    /// Bitwise exclusive OR.
    pub(crate) const XOR: u8 = 9;
    /// Exchange.
    pub(crate) const EXCH: u8 = 10;
    /// Sum of floats.
    pub(crate) const ADD_FLOAT: u8 = 11;
    /// Compare and swap.
    pub(crate) const CAS: u8 = 12;
}

/// Size code of a word, the largest size.
pub(crate) const WORD: u8 = 2;

/// The access that is offered in a pass.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// Lanes that are offered.
    pub lanes: u32,
    /// Warp.
    pub warp: u8,
    /// Kind of access: see [`kind`].
    pub kind: u8,
    /// Bytes as a power of two.
    pub size: u8,
    /// Sign extension.
    pub signed: bool,
    /// Atomic operation: see [`atomic`].
    pub atomic: u8,
    /// Destination register.
    pub reg: Option<u8>,
    /// Address of each lane.
    pub addr: &'a WarpData,
    /// Source c of each lane.
    pub store: &'a WarpData,
    /// Source b of each lane.
    pub compare: &'a WarpData,
    /// The access is a load that bypasses the data cache.
    pub bypass: bool,
    /// What a texture fetch says of the texture (`docs/machine.md`, "Texture unit"); 0 for other accesses.
    pub texture: u32,
}

/// Bit of [`Access::texture`]: the fetch has a third coordinate.
const THIRD: u32 = 1 << 4;

impl Access<'_> {
    /// Whether the access returns something to the warp.
    #[inline]
    pub fn answers(&self) -> bool {
        matches!(self.kind, kind::LOAD | kind::TEXTURE) || self.kind == kind::ATOMIC && self.reg.is_some()
    }

    /// Whether it is a texture fetch with a third coordinate.
    #[inline]
    pub fn has_third(&self) -> bool {
        self.kind == kind::TEXTURE && self.texture & THIRD != 0
    }
}

/// A result that returns to a warp, without its data.
#[derive(Clone, Copy, Debug, Default)]
pub struct Header {
    /// Lanes.
    pub mask: u32,
    /// Warp.
    pub warp: u8,
    /// Destination register.
    pub reg: Option<u8>,
    /// The result is the last of its instruction.
    pub done: bool,
}

impl From<Header> for UnitResult {
    #[inline]
    fn from(header: Header) -> Self {
        let Header { mask, warp, reg, done } = header;
        Self { mask, pred_data: 0, warp, reg, pred: None, done }
    }
}

/// A result at the end of its unit.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Header of the result.
    pub header: Header,
    /// The lanes of the destination register, zero outside the mask. Meaningful only with a destination register.
    pub data: WarpData,
}

impl Answer {
    /// Value before the first result.
    pub const NOTHING: Self =
        Self { header: Header { mask: 0, warp: 0, reg: None, done: false }, data: WarpData::ZERO };
}

/// A request to a RAM: the first of two stages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    /// Header of the result.
    pub(crate) header: Header,
    /// Bytes as a power of two.
    pub(crate) size: u8,
    /// Sign extension.
    pub(crate) signed: bool,
}

impl Asked {
    /// The request for the `served` lanes of an access.
    #[inline]
    pub(crate) fn of(access: &Access<'_>, served: u32, done: bool) -> Self {
        let header = Header { mask: served, warp: access.warp, reg: access.reg, done };
        Self { header, size: access.size, signed: access.signed }
    }
}

/// The bytes of a word from `byte` on, as many as the size says, extended to 32 bits.
#[inline]
pub(crate) fn extract(word: u32, byte: u32, size: u8, signed: bool) -> u32 {
    let value = word >> (u8::BITS * (byte & 3));
    let unused = match size {
        0 => 24,
        1 => 16,
        _ => 0,
    };
    if signed { ((value << unused).cast_signed() >> unused).cast_unsigned() } else { value << unused >> unused }
}

/// The bit of each lane.
const BIT: [u32; LANES] = {
    let mut bit = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        bit[lane] = 1 << lane;
        lane += 1;
    }
    bit
};

/// The lanes for which a condition holds. A plain loop without shifts, which the compiler vectorizes.
#[inline]
pub(crate) fn lanes_where(holds: impl Fn(usize) -> bool) -> u32 {
    let mut lanes = 0;
    for (lane, bit) in BIT.iter().enumerate() {
        lanes |= u32::from(holds(lane)).wrapping_neg() & bit;
    }
    lanes
}

/// The data in the lanes of a mask, zero elsewhere.
#[inline]
pub(crate) fn masked(data: &WarpData, mask: u32) -> WarpData {
    if mask == u32::MAX {
        return *data;
    }
    let mut kept = WarpData::ZERO;
    kept.merge(data, LaneMask(mask));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_word_are_extended() {
        let word = 0x8070_f0a5;
        let unsigned: Vec<_> = (0..4).map(|byte| extract(word, byte, 0, false)).collect();
        assert_eq!(unsigned, [0xa5, 0xf0, 0x70, 0x80]);
        let signed: Vec<_> = (0..4).map(|byte| extract(word, byte, 0, true)).collect();
        assert_eq!(signed, [0xffff_ffa5, 0xffff_fff0, 0x70, 0xffff_ff80]);
        assert_eq!((extract(word, 0, 1, false), extract(word, 2, 1, false)), (0xf0a5, 0x8070));
        assert_eq!((extract(word, 0, 1, true), extract(word, 2, 1, true)), (0xffff_f0a5, 0xffff_8070));
        assert_eq!((extract(word, 0, WORD, false), extract(word, 0, WORD, true)), (word, word));
    }

    #[test]
    fn lanes_outside_a_mask_are_zero() {
        let data = WarpData([7; 32]);
        assert_eq!(masked(&data, u32::MAX), data);
        assert_eq!(lanes_where(|lane| lane % 5 == 1), 0x8421_0842);
        for mask in [0, 1, 0x8000_0000, 0x0f0f_1234] {
            let expected = std::array::from_fn(|lane| if mask >> lane & 1 == 1 { 7 } else { 0 });
            assert_eq!(masked(&data, mask).0, expected);
        }
    }
}
