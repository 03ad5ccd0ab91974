//! Register sharing.

gpurf_blocks::share_blocks!(stimulus);

mod grid;
