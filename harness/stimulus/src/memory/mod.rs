//! The memory pipeline.

gpurf_blocks::memory_blocks!(stimulus);

mod lanes;
