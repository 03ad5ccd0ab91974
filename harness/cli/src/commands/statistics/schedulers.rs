//! Counts of the two-level and the alternating scheduler, which have slots.

use super::{Count, Part};

/// The part of a run's statistics; `None` for the single-level scheduler.
pub(super) fn part(run: &Count<'_>) -> Option<Part> {
    match run.config.sm_shape().scheduler() {
        "two_level_scheduler" => Some(two_level(run)),
        "alternating_scheduler" => Some(alternating(run)),
        _ => None,
    }
}

/// Average numbers of the two-level scheduler's slots, and the reasons why slots were given up.
fn two_level(run: &Count<'_>) -> Part {
    let of = |name: &str| run.of(name);
    let taken = of("activate");
    let mut part = Part::new("two_level");
    let averages = [
        ("active", run.average("active"), "active slots, on average"),
        // A result is still in flight, although the slot's warp has left.
        ("draining", run.average("drain"), "draining slots, on average"),
        ("flushing", run.average("flush"), "flushing slots, on average"),
        ("ready", run.average("ready"), "warps ready for a slot, on average"),
    ];
    part.averages(2, &averages);
    part.counts(&[
        ("activations", taken, "slots taken", 0),
        ("leave_end", of("leave_end"), "slots given up: end", taken),
        ("leave_barrier", of("leave_barrier"), "slots given up: barrier", taken),
        // The next instruction is marked: it needs the result of a long-latency operation.
        ("leave_mark", of("leave_mark"), "slots given up: long-latency operation", taken),
        // The warp has issued for a long time while others were ready.
        ("leave_patience", of("leave_patience"), "slots given up: patience", taken),
    ]);
    part
}

/// Active periods under the alternating scheduler, and the reasons why they ended. A period lasts until only long-latency operations of the warp are
/// in flight; the distance is the time between two periods of a warp.
fn alternating(run: &Count<'_>) -> Part {
    let of = |name: &str| run.of(name);
    let (periods, cycles) = (of("alternating_activate"), run.statistics.cycles);
    let average = |cycles: u64| if periods == 0 { 0.0 } else { cycles as f64 / periods as f64 };
    let (active, pending) = (run.sum(&["alternating_active", "alternating_drain"]), of("alternating_pending"));
    let mut part = Part::new("alternating");
    let averages = [
        ("active_period", average(active), "active period, cycles on average"),
        ("inter_active_distance", average(pending), "warp inter-active distance, cycles on average"),
    ];
    part.averages(1, &averages);
    part.counts(&[
        ("activations", periods, "active periods", 0),
        ("same_parity", of("alternating_same_parity"), "active periods with the last one's parity", periods),
        ("leave_end", of("alternating_leave_end"), "active periods ended: end", periods),
        ("leave_barrier", of("alternating_leave_barrier"), "active periods ended: barrier", periods),
        ("leave_mark", of("alternating_leave_mark"), "active periods ended: long-latency operation", periods),
        ("leave_patience", of("alternating_leave_patience"), "active periods ended: patience", periods),
        // The buffer of the next warp is not yet empty.
        ("switch_cycles", of("alternating_stall_switch"), "cycles without an active warp: buffer not empty", cycles),
        ("ready_cycles", of("alternating_stall_ready"), "cycles without an active warp: none ready", cycles),
    ]);
    part
}
