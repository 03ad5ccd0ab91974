//! The data cache.

gpurf_blocks::cache_blocks!(stimulus);

mod row;
