//! The section of the configuration for the main register file, and its presets; see `docs/blocks/mrf.md`.

use serde::{Deserialize, Serialize};

use crate::config::{ALTERNATING, BANKS_8, BANKS_16, Config, MRF_1R1W, Preset, Selection, TWO_LEVEL, section};

section! {
    /// The main register file.
    pub struct MrfConfig, MrfLayer in mrf {
        /// Shape: number of banks.
        pub banks: usize = 16, "2, 4, 8, 16 or 32" if |n| n.is_power_of_two() && (2..=32).contains(&n);
        /// Shape: ports of a bank.
        pub ports: BankPorts = BankPorts::Shared;
        /// Shape: number of operand collectors.
        pub collectors: usize = 8, "4, 8 or 16" if |n| n.is_power_of_two() && (4..=16).contains(&n);
        /// Shape: instructions accepted, dispatched and written back a cycle.
        pub issue_ports: usize = 1, "1 or 2" if |n| (1..=2).contains(&n);
        /// Shape: capacity. With the number of banks it gives the entries of a bank.
        pub kilobytes: usize = 128,
            "a power of two from 8 to 512" if |n| n.is_power_of_two() && (8..=512).contains(&n);
        /// Shape: width of the tag that travels with an instruction.
        pub tag_bits: usize = 32, "a number from 1 to 64" if |n| (1..=64).contains(&n);
        /// Shape: how registers are handed out.
        pub allocation: Allocation = Allocation::Rows;
        /// Policy: which of the reads that wait for a bank goes first.
        pub read_order: ReadOrder = ReadOrder::Oldest;
    }
}

/// Ports of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BankPorts {
    /// One port: a read or a write a cycle (stealing paper, III-B).
    #[serde(rename = "1rw")]
    Shared,
    /// A read and a write port (RFC paper, 2.1).
    #[serde(rename = "1r1w")]
    Separate,
}

/// How registers are allocated to warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Allocation {
    /// In whole rows of the banks; shared memory is allocated in lines of 128 bytes.
    Rows,
    /// One by one; shared memory is allocated in words.
    Registers,
}

/// Order among the reads of a bank: bit 0 of `cfg_i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadOrder {
    /// The oldest instruction first.
    Oldest,
    /// Round-robin over the collectors.
    RoundRobin,
}

/// The main register file is selected when no other design is.
pub(crate) const SELECTION: Selection = Selection { presets: PRESETS, ..Selection::NONE };

/// The main register file alone, in the papers' machines.
const PRESETS: &[Preset] = &[
    Preset {
        name: "baseline",
        summary: "main register file of 16 single-ported banks, 128 KB, 8 collectors (stealing paper, II-B)",
        config: Config::BASELINE,
    },
    Preset {
        name: "mrf-1r1w",
        summary: "the RFC paper's main register file: 4 logical banks with a read and a write port (RFC paper, 2.1)",
        config: MRF_1R1W,
    },
    Preset { name: "two-level", summary: "mrf-1r1w with 8 active warps (RFC paper, 3.2)", config: TWO_LEVEL },
    Preset { name: "hrf-sram", summary: "the baseline's SRAM file under the scheduler of hrf", config: ALTERNATING },
    Preset {
        name: "banks-16",
        summary: "the stealing paper's baseline: 16 single-ported banks, two schedulers, 48 warps (stealing paper, VI-B)",
        config: BANKS_16,
    },
    Preset { name: "banks-8", summary: "banks-16 with 8 banks (stealing paper, VI-B)", config: BANKS_8 },
];
