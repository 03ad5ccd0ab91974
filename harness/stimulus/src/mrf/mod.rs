//! The blocks of the main register file.

gpurf_blocks::mrf_blocks!(stimulus);
