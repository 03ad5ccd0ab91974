//! Comparison, minimum and maximum.

use super::{flush, is_nan};
use crate::{NAN, SIGN};

/// A comparison of PTX's `setp` and `set` on single precision. The unordered ones are true if an operand is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Relation {
    /// `eq`
    Equal,
    /// `ne`: false if an operand is NaN.
    NotEqual,
    /// `lt`
    Less,
    /// `le`
    LessEqual,
    /// `gt`
    Greater,
    /// `ge`
    GreaterEqual,
    /// `equ`
    EqualUnordered,
    /// `neu`
    NotEqualUnordered,
    /// `ltu`
    LessUnordered,
    /// `leu`
    LessEqualUnordered,
    /// `gtu`
    GreaterUnordered,
    /// `geu`
    GreaterEqualUnordered,
    /// `num`: neither operand is NaN.
    Ordered,
    /// `nan`: an operand is NaN.
    Unordered,
}

impl Relation {
    /// All of them, in the order of the declaration.
    pub const ALL: [Self; 14] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessEqual,
        Self::Greater,
        Self::GreaterEqual,
        Self::EqualUnordered,
        Self::NotEqualUnordered,
        Self::LessUnordered,
        Self::LessEqualUnordered,
        Self::GreaterUnordered,
        Self::GreaterEqualUnordered,
        Self::Ordered,
        Self::Unordered,
    ];
}

/// Whether the relation holds for `a` and `b`; with `ftz` subnormals count as zero. -0 equals +0.
pub fn compare(relation: Relation, a: u32, b: u32, ftz: bool) -> bool {
    if is_nan(a) || is_nan(b) {
        return matches!(
            relation,
            Relation::EqualUnordered
                | Relation::NotEqualUnordered
                | Relation::LessUnordered
                | Relation::LessEqualUnordered
                | Relation::GreaterUnordered
                | Relation::GreaterEqualUnordered
                | Relation::Unordered
        );
    }
    // Adding one to a negative key makes both zeros equal.
    let key = |x: u32| order(flush(x, ftz)) + i32::from(x & SIGN != 0);
    let (a, b) = (key(a), key(b));
    match relation {
        Relation::Equal | Relation::EqualUnordered => a == b,
        Relation::NotEqual | Relation::NotEqualUnordered => a != b,
        Relation::Less | Relation::LessUnordered => a < b,
        Relation::LessEqual | Relation::LessEqualUnordered => a <= b,
        Relation::Greater | Relation::GreaterUnordered => a > b,
        Relation::GreaterEqual | Relation::GreaterEqualUnordered => a >= b,
        Relation::Ordered => true,
        Relation::Unordered => false,
    }
}

/// The smaller of two values; -0 is smaller than +0. If one operand is NaN the result is the other, or NaN if
/// `nan` (`.NaN`); of two NaN it is NaN. With `ftz` subnormals become zero first.
pub fn min(a: u32, b: u32, ftz: bool, nan: bool) -> u32 {
    select(a, b, ftz, nan, |a, b| order(a) <= order(b))
}

/// The larger of two values; +0 is larger than -0. NaN and `ftz` as in [`min`].
pub fn max(a: u32, b: u32, ftz: bool, nan: bool) -> u32 {
    select(a, b, ftz, nan, |a, b| order(a) >= order(b))
}

fn select(a: u32, b: u32, ftz: bool, nan: bool, first: impl Fn(u32, u32) -> bool) -> u32 {
    let (a, b) = (flush(a, ftz), flush(b, ftz));
    match (is_nan(a), is_nan(b)) {
        (true, true) => NAN,
        (true, false) => {
            if nan {
                NAN
            } else {
                b
            }
        }
        (false, true) => {
            if nan {
                NAN
            } else {
                a
            }
        }
        (false, false) => {
            if first(a, b) {
                a
            } else {
                b
            }
        }
    }
}

/// A key that orders all values that are not NaN as numbers, -0 just below +0.
fn order(a: u32) -> i32 {
    if a & SIGN != 0 { !(a & !SIGN) as i32 } else { a as i32 }
}
