//! A launch: a kernel, its sizes, its constants.

use crate::context::Geometry;
use crate::program::Program;

/// A launch of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The kernel.
    pub program: &'a Program,
    /// Its sizes; all at least 1.
    pub geometry: Geometry,
    /// The constant space: parameters, and `__constant__` variables after them.
    pub constant: &'a [u8],
}
