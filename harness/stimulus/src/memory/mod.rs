//! The memory pipeline.
