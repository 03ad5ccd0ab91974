//! The interpolation tables and the procedure that makes them.
//!
//! | table | rows | interval | function | bits of `t` |
//! |---|---|---|---|---|
//! | [`RECIPROCAL`] | 128 | `m` in 1..2 | `1 / m` | 16 |
//! | [`RECIPROCAL_SQUARE_ROOT`] | 64 + 64 | `m` in 1..2, and 2..4 | `1 / sqrt(m)` | 17 |
//! | [`SQUARE_ROOT`] | 64 + 64 | `m` in 1..2, and 2..4 | `sqrt(m)` | 17 |
//! | [`EXP2`] | 64 | `f` in 0..1 | `2^f` | 19 |
//! | [`LOG2`] | 128 | `m` in 1..2 | `log2(m)` | 16 |
//! | [`SIN`] | 64 | `q` in 0..1 quarter turns | `sin(q pi / 2)` | 19 |
//!
//! Each row is the parabola through the function's values at the start, the middle and the end of its interval, with
//! its coefficients rounded to [`FRACTION_BITS`] binary places. Adjacent rows meet at their common point, and the value
//! at a row's start is right to the last place: powers of two have exact results. (The best parabolas are 0.6 bits more
//! accurate, but have neither property.) The compiler computes the rows in double precision with nothing but the four
//! operations, so that they are the same everywhere.

/// Binary places of the coefficients and of a table's value.
pub const FRACTION_BITS: u32 = 28;

/// A row: the value at a fraction `t` of its interval is `c0 + c1 t + c2 t^2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The value at the interval's start.
    pub c0: i32,
    /// The linear coefficient.
    pub c1: i32,
    /// The quadratic coefficient.
    pub c2: i32,
}

impl Row {
    /// The value at `t / 2^bits`, with [`FRACTION_BITS`] + `bits` binary places. The square keeps `bits` bits.
    pub(super) fn value(self, t: u32, bits: u32) -> i64 {
        let t = i64::from(t);
        let square = (t * t) >> bits;
        (i64::from(self.c0) << bits) + i64::from(self.c1) * t + i64::from(self.c2) * square
    }
}

/// `1 / m`, by the upper 7 bits of the fraction of `m`. Raised by one unit of `c0`, so that the reciprocal of a
/// significand of all ones, just above the middle of two values, is rounded up: otherwise Newton's step stays below the
/// middle.
pub static RECIPROCAL: [Row; 128] = lifted(rows(Curve::Reciprocal));

/// `1 / sqrt(m)`: 64 rows for 1..2, then 64 for 2..4, by the upper 6 bits of the fraction.
pub static RECIPROCAL_SQUARE_ROOT: [Row; 128] =
    joined(rows(Curve::ReciprocalSquareRoot), rows(Curve::ReciprocalSquareRootOfDouble));

/// `sqrt(m)`, as [`RECIPROCAL_SQUARE_ROOT`].
pub static SQUARE_ROOT: [Row; 128] = joined(rows(Curve::SquareRoot), rows(Curve::SquareRootOfDouble));

/// `2^f`, by the upper 6 bits of `f`.
pub static EXP2: [Row; 64] = rows(Curve::Exp2);

/// `log2(m)`, by the upper 7 bits of the fraction of `m`.
pub static LOG2: [Row; 128] = rows(Curve::Log2);

/// `sin(q pi / 2)`, by the upper 6 bits of `q`.
pub static SIN: [Row; 64] = rows(Curve::Sin);

/// The functions of the tables, each of `x` in 0..1.
#[derive(Clone, Copy)]
enum Curve {
    /// `1 / (1 + x)`
    Reciprocal,
    /// `1 / sqrt(1 + x)`
    ReciprocalSquareRoot,
    /// `1 / sqrt(2 + 2 x)`
    ReciprocalSquareRootOfDouble,
    /// `sqrt(1 + x)`
    SquareRoot,
    /// `sqrt(2 + 2 x)`
    SquareRootOfDouble,
    /// `2^x`
    Exp2,
    /// `log2(1 + x)`
    Log2,
    /// `sin(x pi / 2)`
    Sin,
}

impl Curve {
    const fn at(self, x: f64) -> f64 {
        match self {
            Self::Reciprocal => 1.0 / (1.0 + x),
            Self::ReciprocalSquareRoot => 1.0 / square_root(1.0 + x),
            Self::ReciprocalSquareRootOfDouble => 1.0 / square_root(2.0 + 2.0 * x),
            Self::SquareRoot => square_root(1.0 + x),
            Self::SquareRootOfDouble => square_root(2.0 + 2.0 * x),
            Self::Exp2 => exponential(x * std::f64::consts::LN_2),
            Self::Log2 => logarithm(1.0 + x) / std::f64::consts::LN_2,
            Self::Sin => sine(x * std::f64::consts::FRAC_PI_2),
        }
    }
}

/// The rows of a curve, its interval cut into `N` equal parts.
const fn rows<const N: usize>(curve: Curve) -> [Row; N] {
    let mut rows = [Row { c0: 0, c1: 0, c2: 0 }; N];
    let mut i = 0;
    while i < N {
        let start = curve.at(i as f64 / N as f64);
        let middle = curve.at((i as f64 + 0.5) / N as f64);
        let end = curve.at((i + 1) as f64 / N as f64);
        rows[i] = Row {
            c0: fixed(start),
            c1: fixed(4.0 * middle - 3.0 * start - end),
            c2: fixed(2.0 * (start + end) - 4.0 * middle),
        };
        i += 1;
    }
    rows
}

/// The rows with each `c0` one unit higher.
const fn lifted<const N: usize>(mut rows: [Row; N]) -> [Row; N] {
    let mut i = 0;
    while i < N {
        rows[i].c0 += 1;
        i += 1;
    }
    rows
}

const fn joined(first: [Row; 64], second: [Row; 64]) -> [Row; 128] {
    let mut rows = [first[0]; 128];
    let mut i = 0;
    while i < 64 {
        rows[i] = first[i];
        rows[64 + i] = second[i];
        i += 1;
    }
    rows
}

/// `x` rounded to [`FRACTION_BITS`] places.
const fn fixed(x: f64) -> i32 {
    let scaled = x * (1u64 << FRACTION_BITS) as f64;
    (if scaled < 0.0 { scaled - 0.5 } else { scaled + 0.5 }) as i32
}

/// The square root by Newton's iteration, for `x` in 1..4.
const fn square_root(x: f64) -> f64 {
    let mut root = 1.5;
    let mut i = 0;
    while i < 6 {
        root = 0.5 * (root + x / root);
        i += 1;
    }
    root
}

/// `e^x` by the power series, for `x` in 0..1.
const fn exponential(x: f64) -> f64 {
    let mut term = 1.0;
    let mut sum = 1.0;
    let mut i = 1;
    while i <= 20 {
        term *= x / i as f64;
        sum += term;
        i += 1;
    }
    sum
}

/// The natural logarithm by the series of the inverse hyperbolic tangent, for `x` in 1..2.
const fn logarithm(x: f64) -> f64 {
    let ratio = (x - 1.0) / (x + 1.0);
    let mut power = ratio;
    let mut sum = 0.0;
    let mut i = 1;
    while i <= 39 {
        sum += power / i as f64;
        power *= ratio * ratio;
        i += 2;
    }
    2.0 * sum
}

/// The sine by the power series, for `x` in 0..2.
const fn sine(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    let mut i = 2;
    while i <= 26 {
        term *= -x * x / (i * (i + 1)) as f64;
        sum += term;
        i += 2;
    }
    sum
}
