//! A launch: a kernel, its sizes, its constants.

use crate::context::Geometry;
use crate::program::Program;

/// A launch of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The kernel.
    pub program: &'a Program,
    /// Sizes of the grid and of a block, all at least 1, and of dynamic shared memory.
    pub geometry: Geometry,
    /// The constant space: parameters, and `__constant__` variables after them.
    pub constant: &'a [u8],
}
