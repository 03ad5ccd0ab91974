//! The approximate functions: table and quadratic interpolation in fixed point.

/// One of the functions of the special function unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Function {
    /// `1 / a` (`rcp.approx`)
    Reciprocal,
    /// `1 / sqrt(a)` (`rsqrt.approx`)
    ReciprocalSquareRoot,
    /// `sqrt(a)` (`sqrt.approx`)
    SquareRoot,
    /// `2^a` (`ex2.approx`)
    Exp2,
    /// `log2(a)` (`lg2.approx`)
    Log2,
    /// `sin(a)`, `a` in radians (`sin.approx`)
    Sin,
    /// `cos(a)`, `a` in radians (`cos.approx`)
    Cos,
}

impl Function {
    /// All seven, in the order of the declaration.
    pub const ALL: [Self; 7] =
        [Self::Reciprocal, Self::ReciprocalSquareRoot, Self::SquareRoot, Self::Exp2, Self::Log2, Self::Sin, Self::Cos];
}

/// The function's value at `a`; with `ftz` subnormal inputs and results become zero, their sign kept.
pub fn approximate(function: Function, a: u32, ftz: bool) -> u32 {
    let _ = (function, a, ftz);
    todo!()
}
