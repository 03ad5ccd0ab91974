//! Values of a warp: one word a lane, and masks of lanes.

use gpurf_isa::machine::LANES;

/// Lanes of a warp, as a size.
pub const WIDTH: usize = LANES as usize;

/// A mask of lanes, lane 0 in bit 0.
pub type Mask = u32;

/// One word for each lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(64))]
pub struct Lanes(pub [u32; WIDTH]);

impl Lanes {
    /// All zero.
    pub const ZERO: Self = Self::splat(0);

    /// The same word in all lanes.
    pub const fn splat(value: u32) -> Self {
        Self([value; WIDTH])
    }

    /// A function of the lane number.
    #[inline]
    pub fn number(f: impl Fn(u32) -> u32) -> Self {
        Self(each(|lane| f(lane as u32)))
    }

    /// Copies the lanes of `mask` from `new`.
    #[inline]
    pub fn merge(&mut self, new: &Self, mask: Mask) {
        if mask == Mask::MAX {
            *self = *new;
            return;
        }
        for (lane, (mine, new)) in self.0.iter_mut().zip(&new.0).enumerate() {
            // Branch-free, so that the loop becomes a vector blend.
            let select = 0u32.wrapping_sub(mask >> lane & 1);
            *mine = *mine & !select | *new & select;
        }
    }
}

/// A value for each lane. A plain loop: the compiler does not always inline `std::array::from_fn`.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "the lane is the argument")]
pub fn each<T: Copy + Default>(f: impl Fn(usize) -> T) -> [T; WIDTH] {
    let mut all = [T::default(); WIDTH];
    for lane in 0..WIDTH {
        all[lane] = f(lane);
    }
    all
}

/// A function of one word, in every lane.
#[inline(always)]
pub fn map1(a: &Lanes, f: impl Fn(u32) -> u32) -> Lanes {
    Lanes(each(|lane| f(a.0[lane])))
}

/// A function of two words, in every lane.
#[inline(always)]
pub fn map2(a: &Lanes, b: &Lanes, f: impl Fn(u32, u32) -> u32) -> Lanes {
    Lanes(each(|lane| f(a.0[lane], b.0[lane])))
}

/// A function of three words, in every lane.
#[inline(always)]
pub fn map3(a: &Lanes, b: &Lanes, c: &Lanes, f: impl Fn(u32, u32, u32) -> u32) -> Lanes {
    Lanes(each(|lane| f(a.0[lane], b.0[lane], c.0[lane])))
}

/// A predicate of two words, in every lane.
#[inline(always)]
pub fn test2(a: &Lanes, b: &Lanes, f: impl Fn(u32, u32) -> bool) -> Mask {
    let mut mask = 0;
    for lane in 0..WIDTH {
        mask |= u32::from(f(a.0[lane], b.0[lane])) << lane;
    }
    mask
}

/// The lanes of a mask, in ascending order.
#[inline]
pub fn lanes_of(mask: Mask) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < WIDTH).then_some(lane)
    })
}
