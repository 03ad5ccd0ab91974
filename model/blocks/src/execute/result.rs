//! A result on its way from a unit to a bus, and masks of lanes.

use crate::issue::PRED_BITS;
use crate::{LANES, Packed, REG_BITS, WARP_BITS, packed};

/// A result without its data: data is not moved where it is not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitResult {
    /// Lanes.
    pub mask: u32,
    /// The predicate's lanes; zero without a predicate.
    pub pred_data: u32,
    /// Warp.
    pub warp: u8,
    /// Register written.
    pub reg: Option<u8>,
    /// Predicate written.
    pub pred: Option<u8>,
    /// The result is the last of its instruction.
    pub done: bool,
}

packed! {
    /// A result on its way from a unit to its bus: `result_t`. Its register's data goes beside it, as does the bit that says
    /// whether there is a register. What it does not write is 0.
    pub struct ResultWord([u32; 3]), ResultFields = "result_t" {
        /// It is the last of its instruction.
        done: u8 = 1,
        /// It writes a predicate.
        pred_valid: u8 = 1,
        /// Predicate written.
        pred: u8 = PRED_BITS,
        /// Register written.
        d: u8 = REG_BITS,
        /// Warp.
        warp: u8 = WARP_BITS,
        /// Value of each lane of the predicate.
        pred_data: u32 = LANES as u32,
        /// Lanes.
        mask: u32 = LANES as u32,
    }
}

/// Words of 32 bits of a [`ResultWord`].
pub(crate) const RESULT_WORDS: usize = ResultWord::BITS.div_ceil(u32::BITS) as usize;

impl UnitResult {
    /// The result that a word and the valid bit of its register describe.
    #[inline]
    pub(crate) fn of(word: ResultWord, reg_valid: bool) -> Self {
        let pred = destination(word.pred_valid() != 0, word.pred());
        Self {
            mask: word.mask(),
            pred_data: if pred.is_some() { word.pred_data() } else { 0 },
            warp: word.warp(),
            reg: destination(reg_valid, word.d()),
            pred,
            done: word.done() != 0,
        }
    }
}

impl From<&UnitResult> for ResultWord {
    #[inline]
    fn from(result: &UnitResult) -> Self {
        Self::from(ResultFields {
            done: result.done.into(),
            pred_valid: result.pred.is_some().into(),
            pred: result.pred.unwrap_or_default(),
            d: result.reg.unwrap_or_default(),
            warp: result.warp,
            pred_data: if result.pred.is_some() { result.pred_data } else { 0 },
            mask: result.mask,
        })
    }
}

/// A destination from its port and its valid.
#[inline]
pub(crate) fn destination(valid: bool, number: u8) -> Option<u8> {
    valid.then_some(number)
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

/// A value for each lane. A plain loop, which the compiler vectorizes where the function allows it.
#[inline]
pub(crate) fn each_lane(value: impl Fn(usize) -> u32) -> [u32; LANES] {
    let mut values = [0; LANES];
    for (lane, slot) in values.iter_mut().enumerate() {
        *slot = value(lane);
    }
    values
}

/// The lanes for which a condition holds.
#[inline]
pub(crate) fn lanes_where(holds: impl Fn(usize) -> bool) -> u32 {
    let mut mask = 0;
    for (lane, bit) in BIT.iter().enumerate() {
        mask |= u32::from(holds(lane)).wrapping_neg() & bit;
    }
    mask
}

/// All ones in the lanes of a mask, zero in the others.
#[inline]
pub(crate) fn select(mask: u32) -> [u32; LANES] {
    each_lane(|lane| u32::from(mask & BIT[lane] != 0).wrapping_neg())
}

/// One in the lanes of a mask, zero in the others.
#[inline]
pub(crate) fn ones(mask: u32) -> [u32; LANES] {
    each_lane(|lane| u32::from(mask & BIT[lane] != 0))
}

/// Clears the lanes outside a mask.
#[inline]
pub(crate) fn keep(values: &mut [u32; LANES], mask: u32) {
    if mask != u32::MAX {
        let select = select(mask);
        for (value, select) in values.iter_mut().zip(select) {
            *value &= select;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_and_lanes_are_the_same() {
        for mask in [0, 1, 0x8000_0001, 0x1234_5678, u32::MAX] {
            assert_eq!(lanes_where(|lane| mask >> lane & 1 == 1), mask);
            let lanes: [u32; LANES] = std::array::from_fn(|lane| mask >> lane & 1);
            assert_eq!(ones(mask), lanes);
            assert_eq!(select(mask), lanes.map(u32::wrapping_neg));
            let mut kept = [7; LANES];
            keep(&mut kept, mask);
            assert_eq!(kept, lanes.map(|lane| 7 * lane));
        }
    }
}
