//! Units and result buses: `docs/sm.md`.
