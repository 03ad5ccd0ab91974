//! Blocks of a grid, barriers, faults.

gpurf_blocks::control_blocks!(stimulus);
