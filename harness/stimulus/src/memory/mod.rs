//! The memory pipeline.

gpurf_blocks::memory_blocks!(stimulus);

pub(crate) mod lanes;
pub(crate) mod scratchpad;
