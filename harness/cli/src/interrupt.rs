//! Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

static STOP: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C (or a termination signal) raises [`flag`], so that what was done so far can be kept; a second one ends the
/// program at once.
///
/// # Errors
/// When the system refuses.
pub fn listen() -> Result<(), Failure> {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(handler).map_err(|e| Failure::tool(format!("cannot listen for Ctrl-C: {e}")))
}

/// Raised when the user wants to stop.
pub fn flag() -> &'static AtomicBool {
    &STOP
}

/// Whether the user wants to stop.
pub fn requested() -> bool {
    STOP.load(Ordering::Relaxed)
}
