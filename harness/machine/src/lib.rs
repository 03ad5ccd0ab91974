//! Kernels on the SM: everything that surrounds it.
mod memory;
