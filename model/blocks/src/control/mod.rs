//! Blocks of a grid, barriers, faults: `docs/sm.md`.
