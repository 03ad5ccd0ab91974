//! Single precision division, reciprocal and square root.

use super::Machine;
use crate::{Mode, Rounding};

/// `a / b`, correctly rounded (`div.rn.f32` and the other roundings).
pub fn divide<M: Machine>(m: &mut M, a: M::Value, b: M::Value, mode: Mode) -> M::Value {
    let _ = (m, a, b, mode);
    todo!()
}

/// `1 / a`, correctly rounded (`rcp.rn.f32` and the other roundings).
pub fn reciprocal<M: Machine>(m: &mut M, a: M::Value, mode: Mode) -> M::Value {
    let _ = (m, a, mode);
    todo!()
}

/// `sqrt(a)`, correctly rounded (`sqrt.rn.f32` and the other roundings).
pub fn square_root<M: Machine>(m: &mut M, a: M::Value, mode: Mode) -> M::Value {
    let _ = (m, a, mode);
    todo!()
}

/// `a / b` within 2 units in the last place over the full range (`div.full.f32`).
pub fn divide_full<M: Machine>(m: &mut M, a: M::Value, b: M::Value, ftz: bool) -> M::Value {
    let _ = (m, a, b, ftz, Rounding::NearestEven);
    todo!()
}

/// `a * (1 / b)` (`div.approx.f32`): within 2 units in the last place for `|b|` from 2^-126 to 2^126.
pub fn divide_approximate<M: Machine>(m: &mut M, a: M::Value, b: M::Value, ftz: bool) -> M::Value {
    let _ = (m, a, b, ftz);
    todo!()
}
