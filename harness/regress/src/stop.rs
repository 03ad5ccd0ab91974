//! The flag that Ctrl-C raises.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// Maximum time until a signal reaches the thread that listens for it.
const MOMENT: Duration = Duration::from_millis(400);
/// Number of checks during that time.
const LOOKS: u32 = 20;

/// Whether the user wants to stop, for use after another process has failed. Ctrl-C ends that process too, possibly before the flag is raised, so this
/// waits a moment for it.
pub fn is_raised_by_now(stop: &AtomicBool) -> bool {
    let heard = |_| {
        sleep(MOMENT / LOOKS);
        stop.load(Ordering::Relaxed)
    };
    stop.load(Ordering::Relaxed) || (0..LOOKS).any(heard)
}
