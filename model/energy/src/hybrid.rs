//! The hybrid file's power and area: hybrid paper, tables 1 and 2.
//!
//! Unlike in the other papers, leakage counts, so that power is a function of counts and of time. What the tables do not give costs what the SRAM of
//! table 1 costs for each bit (a buffer's own energies), or nothing (the power of parts that are neither array nor gate). With
//! [`HybridFile::small_buffers`] a buffer's access costs less, as that of a small array of the hierarchy thesis does.

use crate::storage::bank_access;
use crate::tables::Access;

/// A memory of 128 KB at 32 nm and 700 MHz: a column of table 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Memory {
    /// Square millimetres.
    pub area: f64,
    /// Energy of reading a bit, in pJ.
    pub read: f64,
    /// Energy of writing a bit, in pJ.
    pub write: f64,
    /// Leakage in mW.
    pub leakage: f64,
}

/// SRAM (table 1).
pub const SRAM: Memory = Memory { area: 0.194, read: 0.203, write: 0.191, leakage: 248.7 };

/// STT-RAM (table 1).
pub const STT_RAM: Memory = Memory { area: 0.038, read: 0.239, write: 0.300, leakage: 16.2 };

/// Size of the memories of table 1.
pub const KILOBYTES: usize = 128;

/// Bits of a memory of table 1.
pub const MEMORY_BITS: f64 = KILOBYTES as f64 * 1024.0 * 8.0;

/// Cycles a second (table 1).
pub const CLOCK: f64 = 700e6;

/// The effect of power gating on a buffer, relative to a buffer without it (table 2).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gating {
    /// The part of its entries that is gated.
    pub part: f64,
    /// Energy of an access.
    pub dynamic: f64,
    /// Leakage while the part has no power.
    pub leakage: f64,
    /// Area.
    pub area: f64,
}

/// Power gating (table 2).
pub const GATING: Gating = Gating { part: 0.75, dynamic: 1.04, leakage: 0.3, area: 1.16 };

/// Lanes of a register file.
const LANES: f64 = 32.0;

/// Data bits of a lane.
const DATA_BITS: f64 = 32.0;

/// Bits of a lane's entry of a write buffer: data and the register's number (4.4).
const ENTRY_BITS: f64 = DATA_BITS + 6.0;

/// Bits of the register control module: a valid bit and an index for each of 64 registers (4.4).
const RCM_ENTRY_BITS: f64 = 7.0;
const RCM_BITS: f64 = 64.0 * RCM_ENTRY_BITS;

/// Bits of a 4-lane group.
const GROUP_BITS: f64 = 4.0 * DATA_BITS;

/// Accesses of a run. A group is one register in four lanes, as elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HybridTraffic {
    /// Cycles.
    pub cycles: u64,
    /// Groups read from the main register file.
    pub bank_reads: u64,
    /// Groups written to it.
    pub bank_writes: u64,
    /// Groups read from buffers as operands.
    pub buffer_reads: u64,
    /// Groups of results written to buffers.
    pub buffer_writes: u64,
    /// Groups read from buffers to be written to the main register file.
    pub drains: u64,
    /// Lookups in the register control module.
    pub lookups: u64,
    /// Buffers whose gated part has no power, summed over cycles: at most two in each cycle.
    pub gated: u64,
}

impl HybridTraffic {
    /// The same traffic if every operand is read from the main register file, whether it is in a buffer or not: "our HRF will access WB and STT-RAM
    /// at the same time" (4.4). `operands` are the groups of all operands, as a file without buffers reads them. They are not the sum of both
    /// kinds of reads: of an operand that is partly in a buffer the bank reads all groups, and the buffer some of them again.
    pub const fn read_at_once(self, operands: u64) -> Self {
        Self { bank_reads: operands, ..self }
    }
}

/// Power by part, in mW.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct HybridPower {
    /// Leakage of the main register file.
    pub bank_leakage: f64,
    /// Power of its accesses.
    pub bank_dynamic: f64,
    /// Leakage of the buffers and the register control module.
    pub buffer_leakage: f64,
    /// Power of their accesses.
    pub buffer_dynamic: f64,
}

impl HybridPower {
    /// The total power.
    pub fn total(&self) -> f64 {
        self.leakage() + self.dynamic()
    }

    /// The leakage.
    pub fn leakage(&self) -> f64 {
        self.bank_leakage + self.buffer_leakage
    }

    /// The power of accesses.
    pub fn dynamic(&self) -> f64 {
        self.bank_dynamic + self.buffer_dynamic
    }
}

/// Energy of a register file including leakage, in pJ.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LeakingEnergy {
    /// Energy of accesses.
    pub dynamic: f64,
    /// Energy of leakage.
    pub leakage: f64,
}

impl HybridPower {
    /// The energy in this many cycles.
    pub fn energy(&self, cycles: u64) -> LeakingEnergy {
        let picojoules = |milliwatts: f64| milliwatts * 1e9 * cycles as f64 / CLOCK;
        LeakingEnergy { dynamic: picojoules(self.dynamic()), leakage: picojoules(self.leakage()) }
    }
}

/// The energy of the paper's SRAM in a run, by groups of four lanes that it reads and writes.
pub fn sram_energy(cycles: u64, bank_reads: u64, bank_writes: u64) -> LeakingEnergy {
    let traffic = HybridTraffic { cycles, bank_reads, bank_writes, ..HybridTraffic::default() };
    HybridFile::SRAM.power(&traffic).energy(cycles)
}

/// Kilobytes of a write buffer's data in four lanes: 64 entries of 16 bytes (4.4).
const BUFFER_KILOBYTES: f64 = 1.0;

/// Kilobytes of a bank, if 128 KB are in 32 banks of 16 bytes, as in the hierarchy thesis (4.4).
const BANK_KILOBYTES: f64 = 4.0;

/// Energy of an access to a small array, relative to that of an access to a bank of 128 KB: hierarchy thesis, table 4.7, 1 KB by 4 KB.
fn small_array() -> Access {
    let (small, large) = (bank_access(BUFFER_KILOBYTES), bank_access(BANK_KILOBYTES));
    Access { read: small.read / large.read, write: small.write / large.write }
}

/// A register file of 128 KB: its main memory, and its two write buffers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HybridFile {
    /// The main register file.
    pub memory: Memory,
    /// Entries of each buffer; 0: there are none, and no register control module.
    pub entries: u32,
    /// With power gating: entries that always have power.
    pub powered: Option<u32>,
    /// An access to a buffer or to the register control module costs what it does in a small array; otherwise what it does in 128 KB.
    pub small: bool,
}

impl HybridFile {
    /// The paper's baseline.
    pub const SRAM: Self = Self { memory: SRAM, entries: 0, powered: None, small: false };

    /// STT-RAM with two buffers before it; with no entries, the paper's pure STT-RAM.
    pub const fn stt_ram(entries: u32) -> Self {
        Self { memory: STT_RAM, entries, powered: None, small: false }
    }

    /// The same file with power gating of the entries from `powered` on.
    pub const fn gated(self, powered: u32) -> Self {
        Self { powered: Some(powered), ..self }
    }

    /// The same file, with the energies of a small array for accesses to its buffers and its register control module.
    pub const fn small_buffers(self) -> Self {
        Self { small: true, ..self }
    }

    /// The size of the two buffers relative to a memory of table 1.
    fn buffers(&self) -> f64 {
        2.0 * f64::from(self.entries) * LANES * ENTRY_BITS / MEMORY_BITS
    }

    /// The size of the register control module relative to a memory of table 1.
    fn rcm(&self) -> f64 {
        if self.entries == 0 { 0.0 } else { RCM_BITS / MEMORY_BITS }
    }

    /// The part of a buffer's leakage that is saved while its upper entries have no power: table 2 for its three quarters, and in proportion for other parts.
    fn saved_when_gated(&self) -> f64 {
        let Some(powered) = self.powered else { return 0.0 };
        let part = f64::from(self.entries.saturating_sub(powered)) / f64::from(self.entries.max(1));
        (1.0 - GATING.leakage) * part / GATING.part
    }

    /// Square millimetres: buffers and register control module cost what SRAM does for each bit.
    pub fn area(&self) -> f64 {
        let gating = if self.powered.is_some() { GATING.area } else { 1.0 };
        self.memory.area + SRAM.area * (self.buffers() * gating + self.rcm())
    }

    /// The power of a run, in mW.
    pub fn power(&self, traffic: &HybridTraffic) -> HybridPower {
        let &HybridTraffic { cycles, .. } = traffic;
        let gated = if cycles == 0 { 0.0 } else { traffic.gated as f64 / (2.0 * cycles as f64) };
        let dynamic = |pj: f64| if cycles == 0 { 0.0 } else { pj * 1e-9 * CLOCK / cycles as f64 };
        let bits = |groups: u64| groups as f64 * GROUP_BITS;
        // A buffer's entry is written, and drained, with its register's number.
        let numbered = |groups: u64| bits(groups) * ENTRY_BITS / DATA_BITS;
        let part = if self.small { small_array() } else { Access { read: 1.0, write: 1.0 } };
        let (read, write) = (part.read * SRAM.read, part.write * SRAM.write);
        let buffers = bits(traffic.buffer_reads) * read
            + numbered(traffic.buffer_writes) * write
            + numbered(traffic.drains) * read;
        let gating = if self.powered.is_some() { GATING.dynamic } else { 1.0 };
        HybridPower {
            bank_leakage: self.memory.leakage,
            bank_dynamic: dynamic(
                bits(traffic.bank_reads) * self.memory.read + bits(traffic.bank_writes) * self.memory.write,
            ),
            buffer_leakage: SRAM.leakage * (self.buffers() * (1.0 - self.saved_when_gated() * gated) + self.rcm()),
            buffer_dynamic: dynamic(buffers * gating + traffic.lookups as f64 * RCM_ENTRY_BITS * read),
        }
    }
}
