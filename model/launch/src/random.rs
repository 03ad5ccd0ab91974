//! The random generator of `init = { random = .. }`.
