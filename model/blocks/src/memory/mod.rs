//! The memory pipeline: `docs/sm.md`.
