//! The values that travel between blocks.

/// Lanes of a warp.
pub const LANES: usize = 32;
/// Lanes of a group: the papers charge energy for four lanes at a time (RFC paper, table 3: 128-bit banks).
pub const GROUP_LANES: usize = 4;
/// Register operands of an instruction.
pub const OPERANDS: usize = 3;
/// Width of a warp number: up to 48 warps.
pub const WARP_BITS: u32 = 6;
/// Width of a register name.
pub const REG_BITS: u32 = 8;
/// Width of a warp register.
pub const WARP_DATA_BITS: u32 = LANES as u32 * u32::BITS;

/// A warp register: 32 lanes of 32 bits, lane 0 first, which is also how Verilator lays out a 1024-bit port.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct WarpData(pub [u32; LANES]);

impl WarpData {
    /// All lanes zero.
    pub const ZERO: Self = Self([0; LANES]);

    /// Views warp registers as their lanes, one after another.
    pub fn as_lanes_mut(words: &mut [Self]) -> &mut [u32] {
        const { assert!(size_of::<WarpData>() == LANES * size_of::<u32>()) }
        let len = words.len() * LANES;
        // SAFETY: a `WarpData` is `LANES` integers and nothing else (asserted above), with at least their alignment.
        unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), len) }
    }

    /// Replaces the lanes of `mask` by those of `data`, group by group: no lane is worth a branch that cannot be predicted.
    #[inline]
    pub fn merge(&mut self, data: &Self, mask: LaneMask) {
        let groups = self.0.as_chunks_mut::<GROUP_LANES>().0.iter_mut().zip(data.0.as_chunks::<GROUP_LANES>().0);
        for (group, (old, new)) in groups.enumerate() {
            let select = &SELECT[(mask.0 >> (GROUP_LANES * group)) as usize % SELECT.len()];
            let (before, new) = (*old, *new);
            *old = std::array::from_fn(|lane| before[lane] & !select[lane] | new[lane] & select[lane]);
        }
    }
}

/// All ones in the lanes of a 4-lane group that a mask of four bits has.
const SELECT: [[u32; GROUP_LANES]; 1 << GROUP_LANES] = {
    let mut select = [[0; GROUP_LANES]; 1 << GROUP_LANES];
    let mut entry = 0;
    while entry < select.len() * GROUP_LANES {
        let (mask, lane) = (entry / GROUP_LANES, entry % GROUP_LANES);
        select[mask][lane] = if mask >> lane & 1 == 1 { u32::MAX } else { 0 };
        entry += 1;
    }
    select
};

impl Default for WarpData {
    fn default() -> Self {
        Self::ZERO
    }
}

impl std::fmt::Debug for WarpData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:08x?}", self.0)
    }
}

/// The active lanes of an access, lane 0 in bit 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(transparent)]
pub struct LaneMask(pub u32);

impl LaneMask {
    /// Every lane.
    pub const ALL: Self = Self(u32::MAX);

    /// Number of 4-lane groups with an active lane, 0 to 8: what an access is charged for.
    #[inline]
    pub fn groups(self) -> u8 {
        let pairs = self.0 | self.0 >> 1;
        ((pairs | pairs >> 2) & 0x1111_1111).count_ones() as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_count_every_group_once() {
        for lane in 0..32 {
            assert_eq!(LaneMask(1 << lane).groups(), 1);
        }
        assert_eq!(LaneMask(0).groups(), 0);
        assert_eq!(LaneMask::ALL.groups(), 8);
        assert_eq!(LaneMask(0x8000_0011).groups(), 3);
    }

    #[test]
    fn lanes_of_words_lie_one_after_another() {
        let mut words = [WarpData([1; 32]), WarpData([2; 32]), WarpData([3; 32])];
        let lanes = WarpData::as_lanes_mut(&mut words);
        assert_eq!((lanes.len(), lanes[31], lanes[32], lanes[95]), (96, 1, 2, 3));
        lanes[64] = 9;
        assert_eq!((words[2].0[0], words[2].0[1]), (9, 3));
        assert!(WarpData::as_lanes_mut(&mut []).is_empty());
    }

    #[test]
    fn merge_keeps_the_lanes_outside_the_mask() {
        let mut word = WarpData([7; 32]);
        word.merge(&WarpData([9; 32]), LaneMask(0x8000_0001));
        assert_eq!((word.0[0], word.0[1], word.0[31]), (9, 7, 9));
        word.merge(&WarpData([3; 32]), LaneMask::ALL);
        assert_eq!(word.0, [3; 32]);
    }
}
