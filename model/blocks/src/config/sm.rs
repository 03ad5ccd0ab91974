//! The sections of the configuration that are about the SM and the memory outside it; see `docs/sm.md`.

use serde::{Deserialize, Serialize};

use super::{Config, Rule, section};
use crate::designs::selected;

section! {
    /// The streaming multiprocessor: table 4.4 of the hierarchy thesis.
    pub struct SmConfig, SmLayer in sm {
        /// Shape: resident warps.
        pub warps: usize = 32,
            "an even number from 8 to 48" if |n| n.is_multiple_of(2) && (8..=48).contains(&n);
        /// Policy: resident blocks at most.
        pub blocks: usize = 16, "a number from 1 to 16" if |n| (1..=16).contains(&n);
        /// Shape: instructions of the code memory.
        pub code_words: usize = 4096,
            "a power of two from 64 to 1048576" if |n| n.is_power_of_two() && (64..=1 << 20).contains(&n);
        /// Shape: capacity of the constant memory.
        pub const_kilobytes: usize = 68, "a number from 4 to 68" if |n| (4..=68).contains(&n);
        /// Shape: capacity of shared memory.
        pub shared_kilobytes: usize = 64,
            "48, or a power of two from 4 to 512" if |n| n == 48 || n.is_power_of_two() && (4..=512).contains(&n);
        /// Shape: lines in flight.
        pub line_rows: usize = 64, "a power of two from 4 to 128" if |n| n.is_power_of_two() && (4..=128).contains(&n);
        /// Policy: which warp issues.
        pub scheduler: Scheduler = Scheduler::GreedyThenOldest;
        /// Policy: cycles from dispatch until the ALU's result is offered, or, from 3 on, the single precision unit's
        /// (hierarchy thesis, table 4.4).
        pub alu_latency: usize = 8, "a number from 2 to 16" if |n| (2..=16).contains(&n);
        /// Policy: the same for shared memory, constants and shuffles.
        pub shared_latency: usize = 20, "a number from 4 to 32" if |n| (4..=32).contains(&n);
        /// Policy: the same for special functions.
        pub sfu_latency: usize = 20, "a number from 8 to 32" if |n| (8..=32).contains(&n);
        /// Policy: bytes a cycle of shared memory (128: hierarchy thesis 2.4.2; 32: its table 4.4).
        pub shared_bandwidth: usize = 128, "32, 64 or 128 (bytes a cycle)" if |n| matches!(n, 32 | 64 | 128);
        /// Shape: slots of the two-level scheduler; 0: a single level.
        pub active_warps: usize = 0;
        /// Shape: one warp is active at a time, and even and odd ones take turns.
        pub alternate: bool = false;
        /// Policy: with two levels, a warp leaves its slot at its end only.
        pub stay: bool = false;
        /// Policy: with two levels, instructions that an active warp may issue while a pending one is ready; 0: no limit.
        pub patience: usize = 2048, "a number from 0 to 4095 (instructions)" if |n| n <= 4095;
        /// Policy: with two levels, a slot is free as soon as its warp has left it.
        pub handover: bool = false;
        /// Testbench: the machine's time in the first cycle after reset.
        pub start_time: usize = 0;
    }
}

/// Which warp issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheduler {
    /// Loose round-robin.
    RoundRobin,
    /// Greedy, then oldest.
    GreedyThenOldest,
}

section! {
    /// Global memory, a part of the testbench.
    pub struct MemoryConfig, MemoryLayer in memory {
        /// Cycles from a request to its answer, when no other request is in front of it.
        pub latency: usize = 400, "a number from 1 to 10000 (cycles)" if |n| (1..=10000).contains(&n);
        /// Bytes a cycle.
        pub bandwidth: usize = 16,
            "a power of two from 1 to 128 (bytes a cycle)" if |n| n.is_power_of_two() && (1..=128).contains(&n);
        /// Bytes that are moved at once: a request moves those pieces of its line that it touches.
        pub granule: usize = 128, "16, 32, 64 or 128 (bytes)" if |n| matches!(n, 16 | 32 | 64 | 128);
        /// Cycles that it takes to open another row of a bank of DRAM; 0: there are no rows.
        pub row_cycles: usize = 0, "a number from 0 to 1000 (cycles)" if |n| (0..=1000).contains(&n);
        /// Size of the L2 cache in front of the data path; 0: there is none.
        pub l2_kilobytes: usize = 0, "a number from 0 to 16384 (KB)" if |n| (0..=16384).contains(&n);
        /// Testbench: size of the texture unit's cache, for timing alone; 0: none.
        pub texture_kilobytes: usize = 12, "a number from 0 to 64 (KB)" if |n| (0..=64).contains(&n);
        /// Cycles from a request to its answer if its line is in the L2 cache.
        pub l2_latency: usize = 200, "a number from 1 to 10000 (cycles)" if |n| (1..=10000).contains(&n);
    }
}

/// Whether the register file that a configuration selects keeps nothing for a slot.
fn keeps_no_slots(config: &Config) -> bool {
    selected(config).all(|design| !design.services.keeps_slots)
}

/// Rules of the schedulers.
pub(super) const RULES: &[Rule] = &[
    Rule {
        key: "sm.active_warps",
        allowed: "0, or an even number from 2 to sm.warps",
        holds: |c| c.sm.active_warps.is_multiple_of(2) && c.sm.active_warps <= c.sm.warps,
    },
    Rule {
        key: "sm.active_warps",
        allowed: "2 where sm.alternate is true: a slot for even and one for odd warps",
        holds: |c| !c.sm.alternate || c.sm.active_warps == 2,
    },
    Rule {
        key: "sm.handover",
        allowed: "false without slots (sm.active_warps), and where the warps take turns (sm.alternate)",
        holds: |c| !c.sm.handover || c.sm.active_warps != 0 && !c.sm.alternate,
    },
    Rule {
        key: "sm.handover",
        allowed: "false with a register file that keeps values of a slot's warp: it has to empty the slot first",
        holds: |c| !c.sm.handover || keeps_no_slots(c),
    },
    Rule {
        key: "mrf.issue_ports",
        allowed: "1 where sm.alternate is true: one warp is active at a time",
        holds: |c| c.mrf.issue_ports == 1 || !c.sm.alternate,
    },
    Rule {
        key: "sm.active_warps",
        allowed: "with sm.stay false where sm.alternate is true: warps take turns",
        holds: |c| !(c.sm.alternate && c.sm.stay),
    },
];
