//! What PTX's integer instructions compute beyond Rust's own operators, on 32 bits.
//!
//! Plain addition, multiplication and logic are Rust's `wrapping_add` and so on, and are not repeated here.

/// `a + b + carry_in` and its carry out.
#[inline]
pub fn add_carry(a: u32, b: u32, carry_in: bool) -> (u32, bool) {
    let sum = u64::from(a) + u64::from(b) + u64::from(carry_in);
    (sum as u32, sum >> 32 != 0)
}

/// The upper 32 bits of the unsigned product.
#[inline]
pub fn mul_hi_unsigned(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

/// The upper 32 bits of the signed product.
#[inline]
pub fn mul_hi_signed(a: u32, b: u32) -> u32 {
    ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32
}

/// The lower 32 bits of the product of the lower 24 bits of each operand (`mul24.lo`).
#[inline]
pub fn mul24_lo(a: u32, b: u32, signed: bool) -> u32 {
    mul24(a, b, signed) as u32
}

/// Bits 47 to 16 of the product of the lower 24 bits of each operand (`mul24.hi`).
#[inline]
pub fn mul24_hi(a: u32, b: u32, signed: bool) -> u32 {
    (mul24(a, b, signed) >> 16) as u32
}

fn mul24(a: u32, b: u32, signed: bool) -> i64 {
    let low = |x: u32| if signed { i64::from((x << 8) as i32 >> 8) } else { i64::from(x & 0x00ff_ffff) };
    low(a) * low(b)
}

/// `|a - b| + c` (`sad`).
#[inline]
pub fn sad(a: u32, b: u32, c: u32, signed: bool) -> u32 {
    let difference = if signed { (a as i32).abs_diff(b as i32) } else { a.abs_diff(b) };
    difference.wrapping_add(c)
}

/// Signed addition that stays within the type (`add.sat.s32`).
#[inline]
pub fn add_saturating(a: u32, b: u32) -> u32 {
    (a as i32).saturating_add(b as i32) as u32
}

/// Signed subtraction that stays within the type (`sub.sat.s32`).
#[inline]
pub fn sub_saturating(a: u32, b: u32) -> u32 {
    (a as i32).saturating_sub(b as i32) as u32
}

/// The upper half of the signed product plus `c`, within the type (`mad.hi.sat.s32`).
#[inline]
pub fn mad_hi_saturating(a: u32, b: u32, c: u32) -> u32 {
    (mul_hi_signed(a, b) as i32).saturating_add(c as i32) as u32
}

/// `a << amount`; amounts of 32 and more give 0 (`shl.b32`).
#[inline]
pub fn shift_left(a: u32, amount: u32) -> u32 {
    a.checked_shl(amount).unwrap_or(0)
}

/// `a >> amount`; amounts of 32 and more give 0, or copies of the sign bit if `signed` (`shr.u32`, `shr.s32`).
#[inline]
pub fn shift_right(a: u32, amount: u32, signed: bool) -> u32 {
    if signed { (a as i32 >> amount.min(31)) as u32 } else { a.checked_shr(amount).unwrap_or(0) }
}

/// What a funnel shift does with amounts of 32 and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunnelMode {
    /// They count as 32.
    Clamp,
    /// Only their low five bits count.
    Wrap,
}

impl FunnelMode {
    fn amount(self, amount: u32) -> u32 {
        match self {
            Self::Clamp => amount.min(32),
            Self::Wrap => amount & 31,
        }
    }
}

/// The upper word of `high:low` shifted left (`shf.l.b32 d, low, high, amount`).
#[inline]
pub fn funnel_left(low: u32, high: u32, amount: u32, mode: FunnelMode) -> u32 {
    ((joined(low, high) << mode.amount(amount)) >> 32) as u32
}

/// The lower word of `high:low` shifted right (`shf.r.b32 d, low, high, amount`).
#[inline]
pub fn funnel_right(low: u32, high: u32, amount: u32, mode: FunnelMode) -> u32 {
    (joined(low, high) >> mode.amount(amount)) as u32
}

fn joined(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Any function of three bits, bit by bit: bit `4 a + 2 b + c` of `table` is the result (`lop3.b32`).
#[inline]
pub fn lop3(a: u32, b: u32, c: u32, table: u8) -> u32 {
    // A tree of multiplexers: c picks within the four pairs of table bits, then b, then a.
    let bit = |place: u32| (u32::from(table) >> place & 1).wrapping_neg();
    let pick = |select: u32, set: u32, clear: u32| clear ^ select & (set ^ clear);
    let pair = |place: u32| pick(c, bit(place + 1), bit(place));
    let half = |place: u32| pick(b, pair(place + 2), pair(place));
    pick(a, half(4), half(0))
}

/// `length` bits of `a` from bit `position` up (`bfe`). Only the low 8 bits of both count. Bits of the result above the
/// field, or taken from beyond bit 31 of `a`, are 0, or copies of the field's top bit (at most bit 31) if `signed`.
#[inline]
pub fn bit_field_extract(a: u32, position: u32, length: u32, signed: bool) -> u32 {
    let (position, length) = (position & 0xff, length & 0xff);
    if length == 0 {
        return 0;
    }
    let top = (position + length - 1).min(31);
    let fill = if signed && a >> top & 1 != 0 { u32::MAX } else { 0 };
    let mask = low_mask(length.min(32u32.saturating_sub(position)));
    shift_right(a, position, false) & mask | fill & !mask
}

/// `base` with `length` bits from bit `position` up replaced by the low bits of `insert` (`bfi insert, base`). Only the
/// low 8 bits of position and length count; bits beyond bit 31 are dropped.
#[inline]
pub fn bit_field_insert(insert: u32, base: u32, position: u32, length: u32) -> u32 {
    let mask = shift_left(low_mask(length & 0xff), position & 0xff);
    shift_left(insert, position & 0xff) & mask | base & !mask
}

fn low_mask(length: u32) -> u32 {
    if length >= 32 { u32::MAX } else { (1 << length) - 1 }
}

/// The position of the highest set bit, or if `signed` of the highest bit that differs from the sign (`bfind`);
/// 0xffff_ffff if there is none.
#[inline]
pub fn find_leading_one(a: u32, signed: bool) -> u32 {
    let a = if signed && (a as i32) < 0 { !a } else { a };
    31u32.wrapping_sub(a.leading_zeros())
}

/// How `prmt` reads its selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PermuteMode {
    /// Each result byte has its own four bits of the selector: a byte number and, at the top, "copy its sign bit".
    Index,
    /// `f4e`: four bytes up from the selected one.
    Forward4,
    /// `b4e`: four bytes down from the selected one.
    Backward4,
    /// `rc8`: the selected byte of `a`, four times.
    Replicate8,
    /// `ecl`: edge clamp left.
    EdgeClampLeft,
    /// `ecr`: edge clamp right.
    EdgeClampRight,
    /// `rc16`: the selected half of `a`, twice.
    Replicate16,
}

impl PermuteMode {
    /// All of them, in the order of the declaration.
    pub const ALL: [Self; 7] = [
        Self::Index,
        Self::Forward4,
        Self::Backward4,
        Self::Replicate8,
        Self::EdgeClampLeft,
        Self::EdgeClampRight,
        Self::Replicate16,
    ];
}

/// Four bytes picked out of the eight of `b:a`, byte 0 being the lowest of `a` (`prmt.b32`).
#[inline]
pub fn permute(a: u32, b: u32, selector: u32, mode: PermuteMode) -> u32 {
    let bytes = joined(a, b).to_le_bytes();
    if mode == PermuteMode::Index {
        return u32::from_le_bytes(std::array::from_fn(|i| {
            let pick = selector >> (4 * i);
            let byte = bytes[(pick & 7) as usize];
            if pick & 8 != 0 { (byte as i8 >> 7) as u8 } else { byte }
        }));
    }
    let s = (selector & 3) as usize;
    u32::from_le_bytes(std::array::from_fn(|i| {
        bytes[match mode {
            PermuteMode::Index | PermuteMode::Forward4 => s + i,
            PermuteMode::Backward4 => (s + 8 - i) % 8,
            PermuteMode::Replicate8 => s,
            PermuteMode::EdgeClampLeft => i.max(s),
            PermuteMode::EdgeClampRight => i.min(s),
            PermuteMode::Replicate16 => (s & 1) * 2 + (i & 1),
        }]
    }))
}

/// `c` plus the sum of the four products of the bytes of `a` and `b`, each signed or not (`dp4a`).
#[inline]
pub fn dot_product_4(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    (0..4).fold(c, |sum, i| sum.wrapping_add(byte(a, i, a_signed).wrapping_mul(byte(b, i, b_signed))))
}

/// `c` plus the products of the two halves of `a` with the two lower (or, if `high`, upper) bytes of `b` (`dp2a`).
#[inline]
pub fn dot_product_2(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool, high: bool) -> u32 {
    (0..2).fold(c, |sum, i| {
        let half = a >> (16 * i) & 0xffff;
        let half = if a_signed { half as u16 as i16 as u32 } else { half };
        sum.wrapping_add(half.wrapping_mul(byte(b, i + 2 * u32::from(high), b_signed)))
    })
}

fn byte(word: u32, index: u32, signed: bool) -> u32 {
    let byte = (word >> (8 * index)) as u8;
    if signed { byte as i8 as u32 } else { u32::from(byte) }
}
