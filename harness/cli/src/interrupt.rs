//! Ctrl-C and termination signals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::failure::Failure;

/// Maximum time until a signal reaches the listening thread.
const MOMENT: Duration = Duration::from_millis(400);
/// Number of checks during that time.
const LOOKS: u32 = 20;

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

/// Whether the user wants to stop, for use after a tool has failed. Ctrl-C also ends compilers, possibly before the listening thread has run, so this
/// waits a moment for it.
pub fn requested_by_now() -> bool {
    let heard = |_| {
        std::thread::sleep(MOMENT / LOOKS);
        requested()
    };
    requested() || (0..LOOKS).any(heard)
}
