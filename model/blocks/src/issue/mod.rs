//! Which instruction issues, with which lanes and predicates: `docs/sm.md`.
