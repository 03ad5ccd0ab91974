//! Blocks of a grid, barriers, faults.
