//! Ctrl-C and termination signals.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

static STOP: AtomicBool = AtomicBool::new(false);

/// Starts to listen: the first Ctrl-C (or a termination signal) raises [`flag`], so that finished work can be kept; a second one ends the program at
/// once.
///
/// # Errors
/// If the system refuses.
pub fn listen() -> Result<(), Failure> {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    ctrlc::set_handler(handler).map_err(|e| Failure::tool(format!("cannot listen for Ctrl-C: {e}")))
}

/// The flag that is raised when the user wants to stop.
pub fn flag() -> &'static AtomicBool {
    &STOP
}

/// Whether the user wants to stop.
pub fn requested() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// Whether the user wants to stop, for use after a tool has failed (see [`gpurf_regress::is_raised_by_now`]).
pub fn requested_by_now() -> bool {
    gpurf_regress::is_raised_by_now(&STOP)
}
