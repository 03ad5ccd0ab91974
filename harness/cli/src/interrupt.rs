//! Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::failure::Failure;

/// How long a thread may take to hear of a signal.
const MOMENT: Duration = Duration::from_millis(400);
/// How often is looked meanwhile.
const LOOKS: u32 = 20;

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

/// The same, asked because a tool has failed. Ctrl-C ends compilers too, and this may be seen before the thread that listens has run: it gets a moment.
pub fn requested_by_now() -> bool {
    let heard = |_| {
        std::thread::sleep(MOMENT / LOOKS);
        requested()
    };
    requested() || (0..LOOKS).any(heard)
}
