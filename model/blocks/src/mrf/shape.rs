//! The sizes of the register file, shared by all blocks of the family.

use crate::config::{Allocation, BankPorts, Config, MemoryPorts, MrfConfig, REGISTERS_PER_KILOBYTE};
use crate::sizes::width;
use crate::{LANES, OPERANDS, Shape};

/// Capacity of the twins: the largest number of banks.
pub const MAX_BANKS: usize = 32;
/// Capacity of the twins: the largest number of collectors.
pub const MAX_COLLECTORS: usize = 16;
/// Capacity of the twins: the largest number of operand slots.
pub const MAX_SLOTS: usize = OPERANDS * MAX_COLLECTORS;
/// Capacity of the twins: the largest number of issue ports, dispatch ports and result buses.
pub const MAX_PORTS: usize = 2;

/// Sizes of the main register file; see `docs/blocks/mrf.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MrfShape {
    /// Number of banks: 2, 4, 8, 16 or 32.
    pub banks: usize,
    /// One read and one write port a bank (1R1W) instead of a single port.
    pub dual_port: bool,
    /// Number of operand collectors: 4, 8 or 16.
    pub collectors: usize,
    /// Issue ports, dispatch ports and result buses: 1 or 2.
    pub issue_ports: usize,
    /// Entries of a bank: a power of two, at least 2; with unified memory any number from 2 to 1024.
    pub depth: usize,
    /// Width of the instruction tag, 1 to 64 bits.
    pub tag_w: u32,
    /// Registers are allocated one by one: `register_places` locates them.
    pub places: bool,
    /// The banks serve memory too.
    pub unified: bool,
    /// With unified memory: registers and memory have ports of their own.
    pub separate: bool,
}

impl MrfShape {
    /// The baseline: 16 single-ported banks of 64 entries (128 KB), 8 collectors, one issue port.
    pub const BASELINE: Self = Self {
        banks: 16,
        dual_port: false,
        collectors: 8,
        issue_ports: 1,
        depth: 64,
        tag_w: 32,
        places: false,
        unified: false,
        separate: false,
    };

    /// Width of a bank number.
    pub fn bank_w(&self) -> u32 {
        self.banks.ilog2()
    }

    /// Width of an entry number.
    pub fn entry_w(&self) -> u32 {
        width(self.depth)
    }

    /// All bits of an entry number.
    pub(crate) fn entry_mask(&self) -> u16 {
        (self.depth.next_power_of_two() - 1) as u16
    }

    /// Width of a collector number.
    pub fn col_w(&self) -> u32 {
        self.collectors.ilog2()
    }

    /// Number of operand slots.
    pub fn slots(&self) -> usize {
        OPERANDS * self.collectors
    }

    /// Number of source operands at all issue ports, or dispatch ports, in a cycle.
    pub fn sources(&self) -> usize {
        OPERANDS * self.issue_ports
    }
}

impl Config {
    /// The shape of the main register file.
    pub fn shape(&self) -> MrfShape {
        let MrfConfig { banks, ports, collectors, issue_ports, kilobytes, tag_bits, allocation, read_order: _ } =
            self.mrf;
        let unified = self.unified.is_present();
        MrfShape {
            banks,
            dual_port: ports == BankPorts::Separate,
            collectors,
            issue_ports,
            depth: if unified { self.unified.rows() } else { kilobytes * REGISTERS_PER_KILOBYTE / banks },
            tag_w: tag_bits as u32,
            places: allocation == Allocation::Registers,
            unified,
            separate: unified && self.unified.ports == MemoryPorts::Separate,
        }
    }
}

impl Shape for MrfShape {
    fn of(config: &Config) -> Self {
        config.shape()
    }

    fn parameter(&self, name: &str) -> u64 {
        match name {
            "Banks" => self.banks as u64,
            "DualPort" => self.dual_port.into(),
            "Collectors" => self.collectors as u64,
            "IssuePorts" => self.issue_ports as u64,
            "Depth" => self.depth as u64,
            "TagW" => self.tag_w.into(),
            "Places" => self.places.into(),
            "Unified" => u64::from(self.unified) + u64::from(self.separate),
            "Separate" => self.separate.into(),
            // RAM cells: a word is a warp register, with one write enable for each lane.
            "Parts" | "PartW" => LANES as u64,
            _ => panic!("the register file has no parameter {name}"),
        }
    }
}
