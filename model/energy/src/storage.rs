//! Energy of an SM whose registers, scratchpad memory and data cache are in 32 SRAM banks each, or in 32 banks together: hierarchy thesis, chapter 7.
//!
//! Unlike for the register file alone, leakage, DRAM and the rest of the SM count, so that energy is a function of counts and of time. Values that
//! the thesis does not print are taken from its model of a chip, and are parameters ([`Core`]).

use crate::chip::Chip;
use crate::tables::Access;

/// Energy of an access to 16 bytes, in pJ, by the size of a bank in kilobytes, at 32 nm (table 4.7).
pub const BANKS: [(f64, Access); 6] = [
    (1.0, Access { read: 3.2, write: 3.9 }),
    (2.0, Access { read: 3.9, write: 5.1 }),
    (4.0, Access { read: 5.1, write: 7.3 }),
    (8.0, Access { read: 9.8, write: 11.8 }),
    (12.0, Access { read: 11.0, write: 13.5 }),
    (16.0, Access { read: 12.2, write: 15.2 }),
];

/// Banks of each of the three storages, and of unified memory (2.4, 7.3.1).
pub const BANK_COUNT: f64 = 32.0;

/// The additional cost of an access to cache or scratchpad memory in unified banks: multiplexer, crossbar, tags (4.4).
pub const UNIFIED_OVERHEAD: f64 = 0.1;

/// Leakage of a kilobyte of SRAM, in W (4.4).
pub const SRAM_LEAKAGE: f64 = 2.37e-3;

/// Energy of reading or writing a byte of DRAM, in pJ: 40 pJ a bit (4.4).
pub const DRAM_BYTE: f64 = 40.0 * 8.0;

/// Cycles a second (table 4.6).
pub const CLOCK: f64 = 1e9;

const PJ: f64 = 1e12;

/// Energy of an access to 16 bytes of a bank of this many kilobytes: interpolated linearly between two sizes of the table, and outside the table that
/// of the smallest or largest size.
pub fn bank_access(kilobytes: f64) -> Access {
    let (first, last) = (BANKS[0], BANKS[BANKS.len() - 1]);
    if kilobytes <= first.0 {
        return first.1;
    }
    let Some(above) = BANKS.iter().position(|(size, _)| *size >= kilobytes) else { return last.1 };
    let ((low, a), (high, b)) = (BANKS[above - 1], BANKS[above]);
    let part = (kilobytes - low) / (high - low);
    let between = |a: f64, b: f64| a + part * (b - a);
    Access { read: between(a.read, b.read), write: between(a.write, b.write) }
}

/// The storage of an SM, in kilobytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Storage {
    /// Separate banks for each.
    Partitioned {
        /// Size of the registers.
        registers: f64,
        /// Size of scratchpad memory.
        scratchpad: f64,
        /// Size of the data cache.
        cache: f64,
    },
    /// One set of banks for all.
    Unified(f64),
}

impl Storage {
    /// The total size.
    pub fn kilobytes(&self) -> f64 {
        match *self {
            Self::Partitioned { registers, scratchpad, cache } => registers + scratchpad + cache,
            Self::Unified(all) => all,
        }
    }

    /// The leakage, in W. Tags are not counted.
    pub fn leakage(&self) -> f64 {
        SRAM_LEAKAGE * self.kilobytes()
    }

    /// Energies of accesses to registers, scratchpad memory and cache.
    fn accesses(&self) -> [Access; 3] {
        match *self {
            Self::Partitioned { registers, scratchpad, cache } => {
                [registers, scratchpad, cache].map(|kilobytes| bank_access(kilobytes / BANK_COUNT))
            }
            Self::Unified(all) => {
                let access = bank_access(all / BANK_COUNT);
                let factor = 1.0 + UNIFIED_OVERHEAD;
                let dearer = Access { read: access.read * factor, write: access.write * factor };
                [access, dearer, dearer]
            }
        }
    }
}

/// The rest of an SM, for which the thesis prints no numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Core {
    /// Energy of an instruction of a warp, in pJ.
    pub instruction: f64,
    /// Leakage, in W.
    pub leakage: f64,
}

impl Core {
    /// The values of the thesis's chip with 32 SMs (4.4.1, 7.4): an SM takes its dynamic power in a run of this many cycles and instructions on the
    /// partitioned machine of 384 KB, whose SRAM causes a part of the leakage.
    pub fn thesis(cycles: u64, instructions: u64) -> Self {
        let chip = Chip { sm_count: 32.0, ..Chip::PAPERS };
        let instruction =
            if instructions == 0 { 0.0 } else { chip.sm() * PJ / CLOCK * cycles as f64 / instructions as f64 };
        let leakage = chip.watts * chip.leakage / chip.sm_count - Storage::Unified(384.0).leakage();
        Self { instruction, leakage }
    }

    /// Both values multiplied by a factor.
    pub fn scaled(self, factor: f64) -> Self {
        Self { instruction: factor * self.instruction, leakage: factor * self.leakage }
    }
}

/// Accesses to banks, of 16 bytes each.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct BankAccesses {
    /// Reads.
    pub reads: f64,
    /// Writes.
    pub writes: f64,
}

/// Counts of a run.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Activity {
    /// Cycles.
    pub cycles: u64,
    /// Instructions of warps.
    pub instructions: u64,
    /// Accesses to banks of the main register file.
    pub registers: BankAccesses,
    /// Accesses to banks of scratchpad memory.
    pub scratchpad: BankAccesses,
    /// Accesses to banks of the data cache.
    pub cache: BankAccesses,
    /// Bytes that DRAM reads and writes.
    pub dram_bytes: u64,
}

/// Energy by part, in pJ: the parts of figure 7.9.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SmEnergy {
    /// Instructions.
    pub core_dynamic: f64,
    /// Leakage without SRAM.
    pub core_leakage: f64,
    /// Leakage of SRAM.
    pub sram_leakage: f64,
    /// Accesses to banks of the main register file.
    pub registers: f64,
    /// Accesses to banks of scratchpad memory.
    pub scratchpad: f64,
    /// Accesses to banks of the data cache.
    pub cache: f64,
    /// DRAM.
    pub dram: f64,
}

impl SmEnergy {
    /// The energy of a run on an SM with this storage.
    pub fn of(storage: Storage, core: Core, activity: &Activity) -> Self {
        let [registers, scratchpad, cache] = storage.accesses();
        let banks = |access: Access, count: BankAccesses| access.read * count.reads + access.write * count.writes;
        let leaks = |watts: f64| watts * PJ / CLOCK * activity.cycles as f64;
        Self {
            core_dynamic: core.instruction * activity.instructions as f64,
            core_leakage: leaks(core.leakage),
            sram_leakage: leaks(storage.leakage()),
            registers: banks(registers, activity.registers),
            scratchpad: banks(scratchpad, activity.scratchpad),
            cache: banks(cache, activity.cache),
            dram: DRAM_BYTE * activity.dram_bytes as f64,
        }
    }

    /// The total energy.
    pub fn total(&self) -> f64 {
        self.core_dynamic + self.core_leakage + self.sram_leakage + self.banks() + self.dram
    }

    /// Accesses to all banks.
    pub fn banks(&self) -> f64 {
        self.registers + self.scratchpad + self.cache
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIXED: Storage = Storage::Partitioned { registers: 256.0, scratchpad: 64.0, cache: 64.0 };

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a}, not {b}");
    }

    #[test]
    fn banks_of_the_table_cost_what_it_says_and_others_lie_between() {
        for (kilobytes, access) in BANKS {
            assert_eq!(bank_access(kilobytes), access);
        }
        assert_eq!((bank_access(0.5), bank_access(20.0)), (BANKS[0].1, BANKS[5].1));
        near(bank_access(1.5).read, 3.55);
        near(bank_access(10.0).write, 12.65);
    }

    /// "384KB: 0.91 W", and the same for the machine that it is compared with.
    #[test]
    fn equal_capacities_leak_alike() {
        near(FIXED.leakage(), 0.91008);
        near(Storage::Unified(384.0).leakage(), FIXED.leakage());
        near(Storage::Partitioned { registers: 512.0, scratchpad: 512.0, cache: 512.0 }.kilobytes(), 1536.0);
    }

    /// 130 W, a third of which leaks; 70 % of the rest in 32 SMs.
    #[test]
    fn an_sm_takes_its_part_of_the_chip() {
        let core = Core::thesis(2000, 1000);
        near(core.instruction, 2.0 * 130.0 * 2.0 / 3.0 * 0.7 / 32.0 * 1000.0);
        near(core.leakage, 130.0 / 3.0 / 32.0 - 0.91008);
        assert_eq!(Core::thesis(5, 0).instruction, 0.0);
        near(core.scaled(0.5).leakage, core.leakage / 2.0);
    }

    #[test]
    fn each_part_is_its_own_counts() {
        let one = BankAccesses { reads: 1.0, writes: 10.0 };
        let activity =
            Activity { cycles: 1000, instructions: 100, registers: one, scratchpad: one, cache: one, dram_bytes: 16 };
        let core = Core { instruction: 3.0, leakage: 0.5 };
        let fixed = SmEnergy::of(FIXED, core, &activity);
        let unified = SmEnergy::of(Storage::Unified(384.0), core, &activity);
        near(fixed.core_dynamic, 300.0);
        near(fixed.core_leakage, 0.5 * 1000.0 * 1000.0);
        near(fixed.sram_leakage, 910.08 * 1000.0);
        near(fixed.dram, 5120.0);
        near(fixed.registers, 9.8 + 118.0);
        near(fixed.cache, 3.9 + 51.0);
        near(fixed.scratchpad, fixed.cache);
        near(unified.registers, 11.0 + 135.0);
        near(unified.cache, 1.1 * (11.0 + 135.0));
        near(unified.total() - fixed.total(), unified.banks() - fixed.banks());
        near(fixed.total(), 300.0 + 500e3 + 910.08e3 + 5120.0 + 127.8 + 2.0 * 54.9);
    }
}
