//! Counts of the schedulers with slots.

use serde::Serialize;

use super::{Count, Part, share};
use crate::output::grouped;

/// Slots of the two-level scheduler, on average, and why they were given up.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TwoLevelStats {
    /// Slots whose warp may issue.
    pub active: f64,
    /// Slots in which something is still under way, although their warp has left.
    pub draining: f64,
    /// Slots that are being emptied.
    pub flushing: f64,
    /// Warps that are ready and wait for a slot.
    pub ready: f64,
    /// Slots taken.
    pub activations: u64,
    /// Slots given up, by cause.
    pub leave_end: u64,
    /// The warp waits at a barrier.
    pub leave_barrier: u64,
    /// Its next instruction is marked: it needs the result of a long-latency operation.
    pub leave_mark: u64,
    /// It has issued for long while others were ready.
    pub leave_patience: u64,
}

/// Active periods under the alternating scheduler, and why they ended.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AlternatingStats {
    /// Cycles of a period, on average: until nothing of the warp is under way but long-latency operations.
    pub active_period: f64,
    /// Cycles between two periods of a warp, on average.
    pub inter_active_distance: f64,
    /// Periods.
    pub activations: u64,
    /// Of these, those of the parity of the one before.
    pub same_parity: u64,
    /// Periods by their ends.
    pub leave_end: u64,
    /// The warp waits at a barrier.
    pub leave_barrier: u64,
    /// Its next instruction is marked: it needs the result of a long-latency operation.
    pub leave_mark: u64,
    /// It has issued for long while others were ready.
    pub leave_patience: u64,
    /// Cycles without an active warp, as the buffer of the next one is not empty.
    pub switch_cycles: u64,
    /// Cycles without an active warp, as none is ready.
    pub ready_cycles: u64,
}

impl TwoLevelStats {
    fn of(run: &Count<'_>) -> Self {
        let count = |name: &str| run.of(name);
        let average = |name: &str| run.average(name);
        Self {
            active: average("active"),
            draining: average("drain"),
            flushing: average("flush"),
            ready: average("ready"),
            activations: count("activate"),
            leave_end: count("leave_end"),
            leave_barrier: count("leave_barrier"),
            leave_mark: count("leave_mark"),
            leave_patience: count("leave_patience"),
        }
    }

    fn rows(&self, row: &mut dyn FnMut(&str, String, String)) {
        let averages = [
            ("active slots, on average", self.active),
            ("draining slots, on average", self.draining),
            ("flushing slots, on average", self.flushing),
            ("warps ready for a slot, on average", self.ready),
        ];
        for (name, average) in averages {
            row(name, format!("{average:.2}"), String::new());
        }
        row("slots taken", grouped(self.activations), String::new());
        let causes = [
            ("slots given up: end", self.leave_end),
            ("slots given up: barrier", self.leave_barrier),
            ("slots given up: long-latency operation", self.leave_mark),
            ("slots given up: patience", self.leave_patience),
        ];
        for (name, number) in causes {
            row(name, grouped(number), share(number, self.activations));
        }
    }
}

impl AlternatingStats {
    fn of(run: &Count<'_>) -> Self {
        let count = |name: &str| run.of(name);
        let activations = count("alternating_activate");
        let average = |cycles: u64| if activations == 0 { 0.0 } else { cycles as f64 / activations as f64 };
        Self {
            active_period: average(count("alternating_active") + count("alternating_drain")),
            inter_active_distance: average(count("alternating_pending")),
            activations,
            same_parity: count("alternating_same_parity"),
            leave_end: count("alternating_leave_end"),
            leave_barrier: count("alternating_leave_barrier"),
            leave_mark: count("alternating_leave_mark"),
            leave_patience: count("alternating_leave_patience"),
            switch_cycles: count("alternating_stall_switch"),
            ready_cycles: count("alternating_stall_ready"),
        }
    }

    fn rows(&self, cycles: u64, row: &mut dyn FnMut(&str, String, String)) {
        row("active period, cycles on average", format!("{:.1}", self.active_period), String::new());
        row(
            "warp inter-active distance, cycles on average",
            format!("{:.1}", self.inter_active_distance),
            String::new(),
        );
        let rows = [
            ("active periods", self.activations, 0),
            ("active periods of the last one's parity", self.same_parity, self.activations),
            ("active periods ended: end", self.leave_end, self.activations),
            ("active periods ended: barrier", self.leave_barrier, self.activations),
            ("active periods ended: long-latency operation", self.leave_mark, self.activations),
            ("active periods ended: patience", self.leave_patience, self.activations),
            ("cycles without an active warp: buffer not empty", self.switch_cycles, cycles),
            ("cycles without an active warp: none ready", self.ready_cycles, cycles),
        ];
        for (name, number, whole) in rows {
            row(name, grouped(number), share(number, whole));
        }
    }
}

/// The part of a run's statistics; the single-level scheduler has none.
pub(super) fn part(count: &Count<'_>) -> Option<Part> {
    match count.config.sm_shape().scheduler() {
        "two_level_scheduler" => {
            let stats = TwoLevelStats::of(count);
            Some(Part::new("two_level", &stats, |row| stats.rows(row)))
        }
        "alternating_scheduler" => {
            let stats = AlternatingStats::of(count);
            Some(Part::new("alternating", &stats, |row| stats.rows(count.statistics.cycles, row)))
        }
        _ => None,
    }
}
