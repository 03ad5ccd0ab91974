//! The test kernels: sources, launches, and a reference of each in plain Rust.
