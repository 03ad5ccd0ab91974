//! Units and result buses.
